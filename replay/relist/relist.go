// Package relist makes the listings of a recorded session anew, as they would have
// been had the skills been others.
//
//	log or prediction ── Sheet ──> entries before they were trimmed
//	Sheet + Edits ── Make ──> the listing as it would have gone out
//
// When a listing was sent, what else stood in it and how large it may be is taken from
// the session; only entries that are edited change, and the budget is then kept by the
// rules of the session's client. Two kinds of sheets are told apart. One that follows
// from skill files, and whose prediction is what the log holds, knows all. One from the
// log alone does not know what was cut off, nor the ranks by which it was: what rests on
// that is marked.
package relist

import (
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// Known is what is known of a session's listings beside its log.
type Known struct {
	// Texts are the whole texts of entries, by name, under the cap of one entry.
	Texts map[string]string
	// Given are the client's own entries.
	Given map[string]bool
	// Complete: the skill files at hand are all that the session had, so that an entry
	// without a file is the client's own. Otherwise its name tells.
	Complete bool
	// Budget is that of the listing, in its client's unit, and Window the context
	// window in tokens; 0 if they are not known.
	Budget, Window int
	// Usage are the client's usage counts, nil if they are not known.
	Usage *replay.Usage
	// Held: Budget is to hold whatever the session's was. Otherwise what a listing took
	// shows that there was room for it.
	Held bool
}

// exempt reports whether an entry is the client's own, and shown as it is. Where no file
// tells, its name does.
func (k *Known) exempt(name string) bool {
	if k != nil && k.Given != nil {
		if given, ok := k.Given[name]; ok {
			return given
		}
	}
	return skills.OwnName(name) && skills.PlaceOf(name, skills.Discovery{}) != skills.PlaceBuiltin
}

// Line is an entry before it is trimmed.
type Line struct {
	budget.Line
	// At is the place among the lines of the recorded listing, -1 where none is recorded;
	// Sent is the line as it stands there.
	At   int
	Sent string
	// Was is how it was shown.
	Was replay.Shown
	// Hidden: its whole text is not known, only what was shown of it.
	Hidden bool
	// Capped: its text lost its end to the limit of one entry.
	Capped bool
}

// Sheet is a listing before it is fitted into its budget.
type Sheet struct {
	Event  int // among the agent's events
	Where  replay.Where
	Whole  bool // all skills, not only what is new
	Lines  []Line
	Size   budget.Size
	Budget int    // in the unit of Size.Unit
	Source string // where the budget comes from, in words
	// Narrowed is the budget that was assumed and that the log disproves; 0 if it does not.
	Narrowed int
	// ByFiles: the entries follow from skill files, and so does the log.
	ByFiles bool
	// Counted: the ranks rest on the client's usage counts, or matter to no entry.
	Counted bool
	// free is what the recorded listing left of its budget, and width what each text of
	// it was cut to; width is 0 if none was cut.
	free, width int
}

// FromLog is the sheet of a recorded listing: whole texts as far as it shows them, or k
// knows them; k may be nil. It has neither a budget nor ranks: those that were shown
// whole rank before those that were not.
func FromLog(lines []skills.ListedLine, size budget.Size, k *Known) *Sheet {
	s := &Sheet{Size: size}
	for i, l := range lines {
		if l.Name == "" || !strings.HasPrefix(l.Raw, "- ") {
			continue
		}
		bare := l.Raw
		if !l.Bare {
			bare = strings.TrimSuffix(l.Raw, ": "+l.Text)
		}
		line := Line{At: i, Sent: l.Raw, Was: replay.ShownFull, Line: budget.Line{Full: l.Raw, Bare: bare, Label: strings.TrimPrefix(bare, "- "), Text: l.Text, Name: l.Name, Score: 1}}
		line.Exempt = k.exempt(l.Name)
		alone := bare == l.Raw
		if cut := line.cut(&size); alone || cut {
			line.Was, line.Score = replay.ShownNameOnly, 0
			if cut {
				line.Was = replay.ShownShortened
			}
			text, ok := "", false
			if k != nil {
				text, ok = k.Texts[l.Name]
			}
			switch {
			case ok && text == "" && alone:
			case ok && text != "" && (alone || strings.HasPrefix(text, strings.TrimSuffix(l.Text, "…"))):
				line.Text, line.Full = text, bare+": "+text
			default:
				line.Hidden = true
			}
		}
		s.Lines = append(s.Lines, line)
	}
	return s
}

// cut reports whether an entry of a log shows the beginning of its text, cut to a width.
// What came with the client is never cut.
func (l *Line) cut(size *budget.Size) bool {
	return size.Overflow == budget.OverflowUniform && strings.HasSuffix(l.Text, "…") && !(l.Exempt && size.ExemptBundled)
}

// plain are the lines as budget trims them.
func (s *Sheet) plain() []budget.Line {
	out := make([]budget.Line, len(s.Lines))
	for i := range s.Lines {
		out[i] = s.Lines[i].Line
	}
	return out
}

// Trim fits the sheet into a budget.
func (s *Sheet) Trim(limit int) budget.Trimmed { return budget.Trim(s.plain(), limit, s.Size) }

// Hidden is the number of entries whose whole text is not known.
func (s *Sheet) Hidden() int {
	n := 0
	for i := range s.Lines {
		if s.Lines[i].Hidden {
			n++
		}
	}
	return n
}

// Makes reports whether the sheet, fitted into a budget, makes the recorded lines: then
// all is known that the client knew.
func (s *Sheet) Makes(limit int, lines []skills.ListedLine) bool {
	if s.Hidden() > 0 {
		return false
	}
	for i, t := range s.Trim(limit).Lines {
		if t.Text != lines[s.Lines[i].At].Raw {
			return false
		}
	}
	return true
}

// KeepHidden makes what was not shown whole stay as it was.
func (s *Sheet) KeepHidden(lines []skills.ListedLine) {
	for i := range s.Lines {
		if l := &s.Lines[i]; l.Was != replay.ShownFull && l.At >= 0 {
			l.Full, l.Bare = lines[l.At].Raw, lines[l.At].Raw
		}
	}
}

// Edit is what becomes of an entry.
type Edit struct {
	Name string // by which the session calls it
	// Gone: it is not listed.
	Gone bool
	// New: the session never listed it. It stands behind the entry After, or before the
	// entry Before, the first of these that there is, else by its name.
	New           bool
	After, Before string
	// Old is the text that is replaced, where it is known.
	Old string
	// Line is the entry as it is now, in the form of the client, and Capped that the limit
	// of one entry cut its text. Its rank counts if the entry is new.
	Line   budget.Line
	Capped bool
}

// Form is how an entry goes out.
type Form struct {
	Name  string
	Shown replay.Shown
	Text  string // of the line; "" if absent
	// Description is the text of the entry as it is shown.
	Description string
	// Size is that of Text, and Whole that of the entry with its whole description as far
	// as it is known, both in the client's unit.
	Size, Whole int
	Rank        int // by use, from 1; 0 for an entry that does not compete
	Need        int // what would have to go for it to be shown whole, in the client's unit
	// Open: how it is shown depends on a text that is not known.
	Open bool
}

// Listing is a listing as it goes out.
type Listing struct {
	Forms               []Form
	Text                string
	Used, Total, Budget int // in the client's unit
	Width               int // that each description is cut to, 0 if none is
}

// Over reports whether the entries do not fit.
func (l *Listing) Over() bool { return l.Total > l.Budget }

// Of is the form of an entry, nil if it does not stand there. Of several with the name,
// the one that shows most.
func (l *Listing) Of(name string) *Form {
	var best *Form
	for i := range l.Forms {
		if f := &l.Forms[i]; f.Name == name && (best == nil || better(f.Shown, best.Shown)) {
			best = f
		}
	}
	return best
}

// Best are the forms of all entries by name, as Of gives them.
func (l *Listing) Best() map[string]*Form {
	out := make(map[string]*Form, len(l.Forms))
	for i := range l.Forms {
		f := &l.Forms[i]
		if best := out[f.Name]; best == nil || better(f.Shown, best.Shown) {
			out[f.Name] = f
		}
	}
	return out
}

// order are the forms from the most to the least.
var order = []replay.Shown{replay.ShownFull, replay.ShownShortened, replay.ShownNameOnly, replay.ShownAbsent}

// better reports whether a shows more than b.
func better(a, b replay.Shown) bool { return slices.Index(order, a) < slices.Index(order, b) }

// Better reports whether one form shows more of an entry than another.
func Better(a, b replay.Shown) bool { return better(a, b) }

// Make makes the listing with some entries edited. The sheet stays as it is.
func (s *Sheet) Make(edits []Edit) *Listing {
	d := make(draft, len(s.Lines))
	for i := range s.Lines {
		d[i] = &s.Lines[i]
	}
	for i := range edits {
		d = d.apply(&edits[i])
	}
	now := *s
	now.Lines = make([]Line, len(d))
	for i := range d {
		now.Lines[i] = *d[i]
	}
	t := now.Trim(s.Budget)
	out := &Listing{Text: t.Text, Used: t.Used, Total: t.Total, Budget: s.Budget, Width: t.TextWidth, Forms: make([]Form, len(d))}
	for i := range now.Lines {
		out.Forms[i] = now.form(i, &t)
	}
	return out
}

// draft are the lines of a sheet while they are edited. What the pointers lead to stays as
// it is.
type draft []*Line

func (d draft) apply(e *Edit) draft {
	if e.New {
		if e.Gone {
			return d
		}
		return slices.Insert(d, d.place(e), &Line{At: -1, Was: replay.ShownAbsent, Capped: e.Capped, Line: e.Line})
	}
	if e.Gone {
		return slices.DeleteFunc(d, func(l *Line) bool { return l.Name == e.Name })
	}
	i := edited(len(d), func(i int) *Line { return d[i] }, e)
	if i < 0 {
		return d
	}
	now := *d[i]
	score := now.Score
	now.Line, now.Hidden, now.Capped = e.Line, false, e.Capped
	now.Score = score
	d[i] = &now
	return d
}

// edited is which of n lines an edit means, -1 if none. Of several with the name, the one
// with the text that is replaced, else the last: projects stand behind users.
func edited(n int, line func(int) *Line, e *Edit) int {
	at := -1
	for i := range n {
		if l := line(i); l.Name == e.Name && !l.Exempt {
			if at = i; e.Old != "" && l.Text == e.Old {
				return i
			}
		}
	}
	return at
}

// Changes reports whether an edit makes another entry of one that stands.
func (s *Sheet) Changes(e *Edit) bool {
	i := edited(len(s.Lines), func(i int) *Line { return &s.Lines[i] }, e)
	return i >= 0 && (s.Lines[i].Hidden || s.Lines[i].Text != e.Line.Text)
}

// place is where a new entry stands.
func (d draft) place(e *Edit) int {
	find := func(name string) int {
		return slices.IndexFunc(d, func(l *Line) bool { return l.Name == name })
	}
	if e.After != "" {
		if i := find(e.After); i >= 0 {
			return i + 1
		}
	}
	if e.Before != "" {
		if i := find(e.Before); i >= 0 {
			return i
		}
	}
	// By its name among those that bear no prefix, which come first since 2.1.129.
	last := 0
	for i := range d {
		if n := d[i].Name; !d[i].Exempt && !skills.OwnName(n) && !strings.Contains(n, ":") {
			if last = i + 1; n > e.Name {
				return i
			}
		}
	}
	return last
}

// form is how an entry of a trimmed sheet goes out.
func (s *Sheet) form(i int, t *budget.Trimmed) Form {
	l, r := &s.Lines[i], &t.Lines[i]
	f := Form{Name: l.Name, Shown: replay.Shown(r.Shown), Text: r.Text, Size: budget.Width(s.Size.Unit, r.Text), Whole: r.Size, Rank: r.Rank, Need: r.Need}
	if f.Shown == replay.ShownFull {
		switch {
		case l.Full == l.Bare:
			f.Shown = replay.ShownNameOnly
		case l.Capped:
			f.Shown = replay.ShownShortened
		}
	}
	if len(r.Text) > len(l.Bare) && strings.HasPrefix(r.Text, l.Bare) {
		f.Description = strings.TrimPrefix(r.Text[len(l.Bare):], ": ")
	}
	if !l.Hidden || f.Shown == replay.ShownAbsent {
		return f
	}
	// Of a text that is not known more may be shown than was, if there is more room.
	f.Shown = l.Was
	switch {
	case t.TextWidth > 0:
		f.Shown = replay.ShownShortened
		f.Open = t.TextWidth > s.width
	case s.Size.Overflow == budget.OverflowUniform:
		f.Open = !t.Over()
		if t.Over() {
			f.Shown = replay.ShownNameOnly
		}
	default:
		f.Open = t.Budget-t.Used > s.free
	}
	return f
}
