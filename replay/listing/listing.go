// Package listing works out what the model would be shown of skills by a client that is
// started now, without a session: the listing that goes with the first prompt.
//
//	inputs of now, rules ── Make ──> Listing: each entry's form, cost and what was cut
//	                                  │ Fit     what to cut so that all of it fits
//	two Listings ───────── Compare    │ Sweep   the same under each past version
//
// What is found, listed and trimmed is decided by package replay, as for a session.
package listing

import (
	"slices"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/relist"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// Why says what made an entry less than full.
type Why string

// The reasons.
const (
	WhyNothing     Why = ""
	WhyBudget      Why = "budget"      // the listing is over its budget
	WhyCap         Why = "cap"         // its text is longer than the limit of one entry
	WhyOverride    Why = "override"    // skillOverrides asks for the name only
	WhyUndescribed Why = "undescribed" // it has no text
	WhyUnknown     Why = "unknown"     // it is the client's own, and no log shows its text
)

// Entry is one entry, in listing order.
type Entry struct {
	Name, Label string
	// Given: it is the client's own; else it comes from the file Path.
	Given  bool
	Path   string
	Source skills.Source
	Shown  replay.Shown
	Why    Why
	// Line is the entry as it is sent, "" if it is absent; Text is its whole text.
	Line, Text string
	// Size is what Line takes, and Whole what the entry with its whole text under the cap
	// of one entry would, both in the client's unit; Tokens estimates Line.
	Size, Whole, Tokens int
	// CapCut is what the cap of one entry took from the text, in UTF-16 code units, and
	// BudgetCut what the budget took of the rest, in the client's unit.
	CapCut, BudgetCut int
	// Rank is by use, from 1; 0 for an entry that does not compete. Uses is the client's
	// count.
	Rank, Uses int
}

// Off is a skill that is not listed, or a file that looks like one and is none.
type Off struct {
	Name, Path string
	Kind       string // a skills.Reason or skills.ProblemKind
	Words      string
}

// Listing is what the model would be shown.
type Listing struct {
	Rules   *rules.Rules
	Entries []Entry
	Off     []Off
	// Budget, Used and Demand (with all texts whole) are in the client's unit; Source says
	// where Budget comes from, and Missing the input without which it is a guess, "" if
	// none is missing.
	Budget, Used, Demand int
	Source, Missing      string
	// Width is that which each text is cut to, 0 if none is.
	Width  int
	Tokens int    // estimated
	Text   string // as it is sent, without the header
	// Ranked: usage counts are known. ByUse: they decide who gives way.
	Ranked, ByUse bool
	// Guessed: some entries stand in an order that no input tells.
	Guessed bool
	// Doubles are groups of entries that stand for the same, by their indexes.
	Doubles []skills.Duplicate

	lines   []budget.Line
	process *replay.Process
	limit   int // of one entry's text, in UTF-16 code units; 0 for none
}

// Over is how much of the demand does not fit, in the client's unit.
func (l *Listing) Over() int { return max(l.Demand-l.Budget, 0) }

// Count is the number of entries in a form.
func (l *Listing) Count(s replay.Shown) int {
	n := 0
	for i := range l.Entries {
		if l.Entries[i].Shown == s {
			n++
		}
	}
	return n
}

// Make works out the listing of a client version that starts at a moment.
func Make(starts *replay.Starts, version string, at time.Time) *Listing {
	m, u := starts.At(version, at)
	l := &Listing{Rules: m.Rules(), Budget: u.Budget, Source: u.Source, Missing: u.Missing, Ranked: u.Uses != nil, Guessed: m.Guessed(),
		lines: u.Lines, process: m.Process()}
	l.ByUse = u.Size.Overflow == budget.OverflowGreedy || u.Size.Overflow == budget.OverflowStrip
	entries := m.Entries()
	sheet := &relist.Sheet{Whole: true, Size: u.Size, Budget: u.Budget, Source: u.Source, ByFiles: true, Counted: true}
	for i := range entries {
		e := &entries[i]
		sheet.Lines = append(sheet.Lines, relist.Line{Line: u.Lines[i], At: -1, Capped: e.Text != "" && e.Text != e.Full})
	}
	made := sheet.Make(nil)
	l.Text, l.Used, l.Demand, l.Width = made.Text, made.Used, made.Total, made.Width
	l.Tokens = tokens(made.Text)
	l.limit = l.Rules.Entry.Cap
	if p := l.process; p != nil && l.Rules.Entry.CapSetting && p.Settings.MaxDesc > 0 {
		l.limit = p.Settings.MaxDesc
	}
	status := map[*skills.Skill]*skills.Status{}
	list := m.Skills()
	for i := range list {
		status[list[i].Skill] = &list[i]
	}
	for i := range entries {
		l.Entries = append(l.Entries, entryOf(&entries[i], &made.Forms[i], u, status[entries[i].Skill]))
	}
	for i := range list {
		if st := &list[i]; st.Reason != skills.Listed {
			l.Off = append(l.Off, Off{Name: st.Skill.Name, Path: st.Skill.Path, Kind: string(st.Reason), Words: st.Words()})
		}
	}
	problems := m.Problems()
	for i := range problems {
		p := &problems[i]
		words := p.Words()
		if p.Kind == skills.Unreadable && p.Detail != "" {
			words += ": " + p.Detail
		}
		l.Off = append(l.Off, Off{Name: p.Name, Path: p.Path, Kind: string(p.Kind), Words: words})
	}
	l.Doubles = skills.Duplicates(listed(l.Entries))
	return l
}

// entryOf describes an entry of a made listing.
func entryOf(e *skills.Entry, f *relist.Form, u *replay.Untrimmed, st *skills.Status) Entry {
	out := Entry{Name: e.Name, Label: e.Label, Given: e.Skill == nil, Shown: f.Shown, Line: f.Text, Text: e.Full, Size: f.Size, Whole: f.Whole, Tokens: tokens(f.Text),
		Rank: f.Rank, Uses: u.Uses[e.Name].Count}
	if e.Skill != nil {
		out.Path, out.Source = e.Skill.Path, e.Skill.Source
	}
	if e.Text != "" && e.Text != e.Full {
		out.CapCut = budget.Len16(e.Full) - budget.Len16(strings.TrimSuffix(e.Text, "…"))
	}
	unit := u.Size.Unit
	switch text := budget.Width(unit, e.Text); {
	case f.Text == "":
		out.BudgetCut = text
	case f.Description != "" && f.Description != e.Text && u.Size.Overflow == budget.OverflowUniform:
		out.BudgetCut = text - budget.Width(unit, strings.TrimSuffix(f.Description, "…"))
	case f.Shown == replay.ShownNameOnly:
		out.BudgetCut = text
	}
	switch {
	case out.BudgetCut > 0 || f.Shown == replay.ShownAbsent:
		out.Why = WhyBudget
	case out.CapCut > 0:
		out.Why = WhyCap
	case e.Text == "" && e.Skill == nil:
		out.Why = WhyUnknown
	case e.Text == "" && st != nil && st.NameOnly:
		out.Why = WhyOverride
	case e.Text == "":
		out.Why = WhyUndescribed
	}
	return out
}

// listed are the entries as lines of a listing that lost nothing.
func listed(entries []Entry) []skills.ListedLine {
	out := make([]skills.ListedLine, len(entries))
	for i := range entries {
		e := &entries[i]
		out[i] = skills.ListedLine{Raw: "- " + e.Label + ": " + e.Text, Name: e.Name, Text: e.Text, Bare: e.Text == ""}
	}
	return out
}

// tokens estimates the tokens of a text.
func tokens(text string) int { return int(replay.EstimateTokens(jsonl.Measure(text)) + 0.5) }

// Fit is what has to be cut for all descriptions to be shown whole.
type Fit struct {
	// Cap are texts that are longer than one entry may be, each with what it is over, in
	// UTF-16 code units.
	Cap []Cut
	// Over is how much the listing is then over its budget, in the client's unit.
	Over int
	// Fewest is the least that has to be cut in all.
	Fewest int
	// Longest cuts the longest texts only, Evenly all by the same share. Both are of
	// Over, and nil where nothing needs to be cut or cutting is not enough.
	Longest, Evenly []Cut
	// Short is what would be lacking with every text at one character; above 0 skills
	// have to go.
	Short int
	// Room is the budget that would be enough as the texts are; Fraction the setting that
	// gives it, 0 where the client does not know or heed it.
	Room     int
	Fraction float64
}

// Cut is what one entry's text gives up.
type Cut struct {
	Entry    int // index
	Had, Now int // sizes of its text
}

// Fit works out what has to be cut. What it proposes was tried.
func (l *Listing) Fit() Fit {
	var f Fit
	for i := range l.Entries {
		if e := &l.Entries[i]; e.CapCut > 0 && !e.Given {
			n := budget.Len16(e.Text)
			f.Cap = append(f.Cap, Cut{i, n, l.limit})
			f.Fewest += n - l.limit
		}
	}
	size := l.Rules.Size
	fit := budget.NewFit(l.lines, l.Budget, size)
	f.Over, f.Short, f.Room = fit.Over, fit.Names, l.Budget+fit.Over
	f.Fewest += f.Over
	f.Longest, f.Evenly = l.tried(fit.Longest(l.lines, size)), l.tried(fit.Evenly(l.lines, size))
	if p := l.process; f.Over > 0 && p != nil && size.FractionSetting && p.Env[budget.EnvCharBudget] == "" && l.Budget > 0 {
		f.Fraction = budget.FractionFor(size, p.Settings.Fraction, l.Budget, f.Room)
	}
	return f
}

// tried are cuts with which the listing is shown whole, with the sizes that are left.
func (l *Listing) tried(cuts []budget.Cut) []Cut {
	shorter, _ := budget.Apply(l.lines, cuts, l.Rules.Size)
	if cuts == nil || !budget.Whole(shorter, l.Budget, l.Rules.Size) {
		return nil
	}
	var out []Cut
	for _, c := range cuts {
		out = append(out, Cut{c.Line, c.Had, budget.Width(l.Rules.Size.Unit, shorter[c.Line].Text)})
	}
	return out
}

// Change is an entry that differs between two listings.
type Change struct {
	Name string
	// Before and After are nil where the entry stands in one listing only.
	Before, After *Entry
	// Reason says why a skill is not listed any more, "" if that is not known.
	Reason string
}

// Own reports whether the entry's own text changed, and not only what is shown of it.
func (c *Change) Own() bool {
	return c.Before == nil || c.After == nil || c.Before.Text != c.After.Text || c.Before.Label != c.After.Label
}

// Compare are the entries that differ: those of the later listing in its order, then
// those that are gone.
func Compare(before, after *Listing) []Change {
	type key struct {
		name string
		n    int
	}
	index := func(l *Listing) (map[key]*Entry, []key) {
		seen, out := map[string]int{}, map[key]*Entry{}
		var order []key
		for i := range l.Entries {
			k := key{l.Entries[i].Name, seen[l.Entries[i].Name]}
			seen[k.name]++
			out[k] = &l.Entries[i]
			order = append(order, k)
		}
		return out, order
	}
	old, gone := index(before)
	now, order := index(after)
	var out []Change
	for _, k := range order {
		a, b := old[k], now[k]
		if a == nil || a.Shown != b.Shown || a.Line != b.Line || a.Text != b.Text {
			out = append(out, Change{Name: k.name, Before: a, After: b})
		}
	}
	for _, k := range gone {
		if now[k] == nil {
			out = append(out, Change{Name: k.name, Before: old[k], Reason: after.offWords(k.name)})
		}
	}
	return out
}

// offWords say why a skill is not listed, "" where nothing tells.
func (l *Listing) offWords(name string) string {
	if i := slices.IndexFunc(l.Off, func(o Off) bool { return o.Name == name }); i >= 0 {
		return l.Off[i].Words
	}
	return ""
}
