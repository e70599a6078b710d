package listing

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// Span is a range of client versions that would show the same.
type Span struct {
	// Since is its first version, and Until its last one as far as that was recorded: ""
	// where it is only known to lie before Before. The last span has neither.
	Since, Until, Before string
	*Listing
	// Losses are the skills of the listing swept that would not be shown whole.
	Losses []Loss
}

// Loss is a skill that is not shown whole.
type Loss struct {
	Name  string
	Shown replay.Shown
	Cut   int // of its text, by cap and budget
	// Words say why it is not listed at all, "" where its text gave way.
	Words string
}

// matters are the rules on which a listing depends.
type matters struct {
	discovery, front, entry, size, place, bare, source any
}

func mattersOf(r *rules.Rules) matters {
	return matters{r.Discovery, r.Front, r.Entry, r.Size, r.Catalogue.Place == rules.PlaceToolXML, r.Catalogue.XMLBare, r.Catalogue.UserSource}
}

// Sweep works out the listing of each recorded version, from the same inputs, and what
// of now's would be lost. Versions in a row that show the same are one span; a client
// without versions has one.
func Sweep(t *rules.Table, starts *replay.Starts, at time.Time, now *Listing) ([]Span, error) {
	if t.Described != nil {
		return []Span{{Listing: now, Losses: lossesOf(now, now)}}, nil
	}
	var out []Span
	var last matters
	for _, v := range versionsOf(t) {
		r, err := t.At(v.since)
		if err != nil {
			return nil, err
		}
		m := mattersOf(&r)
		if len(out) > 0 && reflect.DeepEqual(m, last) {
			continue
		}
		last = m
		l := Make(starts, v.since, at)
		if len(out) > 0 {
			before := &out[len(out)-1]
			if same(before.Listing, l) {
				continue
			}
			before.Until, before.Before = v.from, v.since
		}
		out = append(out, Span{Since: v.since, Listing: l, Losses: lossesOf(l, now)})
	}
	return out, nil
}

// changed is a version at which rules change, with the last one before it, "" where that
// was not recorded.
type changed struct{ since, from string }

func versionsOf(t *rules.Table) []changed {
	var out []changed
	for _, c := range t.Changes() {
		if n := len(out); n == 0 || out[n-1].since != c.Since {
			out = append(out, changed{since: c.Since})
		}
		if c.Confidence == rules.Exactly {
			out[len(out)-1].from = c.From
		}
	}
	return out
}

// same reports whether two listings show as much of each skill in the same room. The order
// of the entries does not matter, nor how a line is written.
func same(a, b *Listing) bool {
	return a.Budget == b.Budget && a.Demand == b.Demand && slices.Equal(outcome(a), outcome(b))
}

// shownAs is what becomes of an entry.
type shownAs struct {
	name  string
	shown replay.Shown
	cut   int
}

func outcome(l *Listing) []shownAs {
	out := make([]shownAs, len(l.Entries))
	for i := range l.Entries {
		e := &l.Entries[i]
		out[i] = shownAs{e.Name, e.Shown, e.CapCut + e.BudgetCut}
	}
	slices.SortFunc(out, func(x, y shownAs) int {
		return cmp.Or(strings.Compare(x.name, y.name), strings.Compare(string(x.shown), string(y.shown)), cmp.Compare(x.cut, y.cut))
	})
	return out
}

// lossesOf are the skills of one listing, in its order, that another does not show whole.
func lossesOf(l, of *Listing) []Loss {
	best := map[string]*Entry{}
	for i := range l.Entries {
		e := &l.Entries[i]
		if best[e.Name] == nil || e.Shown == replay.ShownFull {
			best[e.Name] = e
		}
	}
	var out []Loss
	seen := map[string]bool{}
	for i := range of.Entries {
		name := of.Entries[i].Name
		if seen[name] {
			continue
		}
		seen[name] = true
		switch e := best[name]; {
		case e == nil:
			words := l.offWords(name)
			if words == "" {
				words = "this version does not find it"
			}
			out = append(out, Loss{Name: name, Shown: replay.ShownAbsent, Words: words})
		case e.Shown != replay.ShownFull && (e.CapCut+e.BudgetCut > 0 || e.Shown == replay.ShownAbsent):
			out = append(out, Loss{Name: name, Shown: e.Shown, Cut: e.CapCut + e.BudgetCut})
		}
	}
	return out
}
