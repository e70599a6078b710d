package local

import (
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// Demand is what the first listing of a session asks for before anything is trimmed,
// as the client counts.
type Demand struct {
	Size int
	// Files: it follows from the skill files read now. Else the log shows it, as
	// nothing was trimmed.
	Files bool
	// AtLeast: of some entries of the client's own only the name is known.
	AtLeast bool
}

// Demand is the demand of the main loop's first listing. It reports false where neither
// the log nor the files tell it: a listing that was trimmed does not show what was cut.
func (f *Found) Demand(r *replay.Result) (Demand, bool) {
	if len(r.Agents) == 0 {
		return Demand{}, false
	}
	a := &r.Agents[0]
	size := f.Inputs.Rules(firstListed(a.Agent, f.Inputs.Version)).Size
	var lines []skills.ListedLine
	for i := range a.Agent.Events {
		if e := &a.Agent.Events[i]; e.Kind == replay.Listing {
			if lines = skills.ParseListing(e.Listing.Content, e.Listing.Names, a.BlankNames()...); f.ListingSize > 0 && !trimmed(lines, size.Overflow) {
				return Demand{Size: f.ListingSize}, true
			}
			break
		}
	}
	for i := range a.Predicted {
		p := &a.Predicted[i]
		if p.Kind != replay.Listing || !p.Initial {
			continue
		}
		if p.Demand == 0 || lines != nil && !sameEntries(lines, p.Entries) {
			break
		}
		d := Demand{Size: p.Demand, Files: true}
		for _, g := range f.Inputs.Given {
			d.AtLeast = d.AtLeast || g.Text == "" || size.Overflow == budget.OverflowUniform && strings.HasSuffix(g.Text, "…")
		}
		return d, true
	}
	return Demand{}, false
}

// firstListed is the client version of the first listing, or that of the first record
// that names one.
func firstListed(a *replay.Agent, otherwise string) string {
	version := ""
	for i := range a.Events {
		e := &a.Events[i]
		if version == "" {
			version = e.Version
		}
		if e.Kind == replay.Listing && e.Version != "" {
			return e.Version
		}
	}
	if version == "" {
		return otherwise
	}
	return version
}

// trimmed reports whether a listing may have lost something to its budget.
func trimmed(lines []skills.ListedLine, how budget.Overflow) bool {
	for _, l := range lines {
		switch {
		case l.Bare || l.Name == "":
			return true
		case how == budget.OverflowUniform && strings.HasSuffix(l.Text, "…"):
			return true
		}
	}
	return len(lines) == 0
}

// sameEntries reports whether a listing holds the names of the predicted entries, and
// no others.
func sameEntries(lines []skills.ListedLine, entries []replay.ListedEntry) bool {
	n := map[string]int{}
	for _, l := range lines {
		n[l.Name]++
	}
	for _, e := range entries {
		n[e.Name]--
	}
	for _, k := range n {
		if k != 0 {
			return false
		}
	}
	return true
}
