package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Line is one entry of a listing before it is trimmed. How it is rendered is the
// caller's business: a line of text, or the XML of the oldest clients.
type Line struct {
	// Full is the entry with its whole text, after the cap.
	Full string
	// Bare is the entry without its text.
	Bare string
	// Label and Text are the parts of Full: the name as shown, and the text.
	// Only OverflowUniform looks at them, which renders "- Label: Text".
	Label, Text string
	// Exempt: the entry came with the client; see Size.ExemptBundled.
	Exempt bool
	// Score decides the rank in OverflowGreedy and OverflowStrip; see Score.
	Score float64
	// Name breaks ties of the score in OverflowStrip.
	Name string
}

// Shown is how much of an entry stands in the listing.
type Shown string

// How much of an entry stands in the listing.
const (
	ShownFull      Shown = "full"
	ShownShortened Shown = "shortened" // its text is cut to a width
	ShownNameOnly  Shown = "name_only"
	ShownAbsent    Shown = "absent"
)

// Trimmed is a listing as it goes out.
type Trimmed struct {
	// Text is the listing, without header.
	Text string
	// Lines are the results in listing order, one for each line given.
	Lines []TrimmedLine
	// Total is the size of the whole listing, Used that of Text, Budget the
	// limit; all in the unit of Size.Unit.
	Total, Used, Budget int
	// TextWidth is the width that OverflowUniform left to each text; 0 when it
	// had nothing to do or left only names.
	TextWidth int
}

// TrimmedLine is the result for one line.
type TrimmedLine struct {
	Shown Shown
	// Text is the entry as shown; empty if absent.
	Text string
	// Size is the size of the full entry, BareSize of the bare one.
	Size, BareSize int
	// Rank counts from 1 among the lines that compete for room: by score where
	// OverflowGreedy ranks them, else in listing order; 0 for an exempt line.
	Rank int
	// Need is how much would have to go from this line, or from those before it
	// in rank, for it to be shown whole; 0 if it is.
	Need int
}

// Over reports whether the listing did not fit.
func (t Trimmed) Over() bool { return t.Total > t.Budget }

// Trim fits a listing into budget. The whole listing fits if the sizes of its
// lines and the newlines between them come to no more than budget (recorded:
// exact at budgets from two below to two above, on 14 versions); then all methods
// but OverflowCut show it whole. Names alone may exceed the budget.
func Trim(lines []Line, budget int, s Size) Trimmed {
	t := Trimmed{Lines: make([]TrimmedLine, len(lines)), Budget: budget}
	rank := 0
	for i, l := range lines {
		r := &t.Lines[i]
		*r = TrimmedLine{Shown: ShownFull, Text: l.Full, Size: Width(s.Unit, l.Full), BareSize: Width(s.Unit, l.Bare)}
		t.Total += r.Size
		if !exempt(l, s) {
			rank++
			r.Rank = rank
		}
	}
	t.Total += breaks(len(lines), s)
	tail := ""
	switch {
	case s.Overflow == OverflowCut:
		tail = t.cut(lines)
	case t.Total <= budget:
		switch s.Overflow {
		case OverflowGreedy:
			t.rankByScore(lines)
		case OverflowStrip:
			t.rankForStrip(lines)
		}
	case s.Overflow == OverflowUniform:
		t.uniform(lines, s)
	case s.Overflow == OverflowStrip:
		t.strip(lines)
	default:
		t.greedy(lines)
	}
	t.join(tail, s)
	return t
}

// breaks is what the line breaks of a listing count.
func breaks(lines int, s Size) int {
	if s.LineBreaks {
		return lines
	}
	return max(lines-1, 0)
}

func exempt(l Line, s Size) bool {
	return l.Exempt && s.ExemptBundled && s.Overflow != OverflowCut
}

// cut shows lines in order while they fit, each with a newline after it, and
// returns the comment that stands for the rest (recorded: 2.0.30 to 2.1.18).
func (t *Trimmed) cut(lines []Line) string {
	used, shown := 0, len(lines)
	for i := range lines {
		r := &t.Lines[i]
		used += r.Size + 1
		if used <= t.Budget {
			continue
		}
		shown = min(shown, i)
		r.Shown, r.Text, r.Need = ShownAbsent, "", used-t.Budget
	}
	if shown == len(lines) {
		return ""
	}
	return fmt.Sprintf("<!-- Showing %d of %d skills due to token limits -->", shown, len(lines))
}

// uniformMin is the text width below which OverflowUniform shows names only.
const uniformMin = 20

// uniform cuts every text to one width (recorded: 2.1.19 to 2.1.128). The room
// that short texts leave is not shared out.
func (t *Trimmed) uniform(lines []Line, s Size) {
	room, rest := t.Budget-(len(lines)-1), 0
	for i, l := range lines {
		if exempt(l, s) {
			room -= t.Lines[i].Size
			continue
		}
		room -= Width(s.Unit, l.Label) + len("- : ")
		rest++
	}
	if rest == 0 {
		return
	}
	width := floorDiv(room, rest)
	if width >= uniformMin {
		t.TextWidth = width
	}
	for i, l := range lines {
		r := &t.Lines[i]
		if exempt(l, s) || l.Text == "" {
			continue
		}
		textWidth := Width(s.Unit, l.Text)
		switch {
		case t.TextWidth == 0:
			r.Shown, r.Text = ShownNameOnly, l.Bare
			r.Need = max(textWidth-max(width, 0), 1)
		case textWidth > width:
			r.Shown = ShownShortened
			r.Text = "- " + l.Label + ": " + CutWidth(s.Unit, l.Text, width-1) + "…"
			r.Need = textWidth - width
		}
	}
}

// floorDiv is a/b rounded down, for b > 0.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// greedy starts from names and shows whole texts by rank while they fit
// (recorded: from 2.1.129). One that does not fit is skipped, and a later,
// smaller one may still fit.
func (t *Trimmed) greedy(lines []Line) {
	order := t.rankByScore(lines)
	used := len(lines) - 1
	for _, r := range t.Lines {
		if r.Rank == 0 {
			used += r.Size
		} else {
			used += r.BareSize
		}
	}
	for _, i := range order {
		r := &t.Lines[i]
		more := r.Size - r.BareSize
		if used+more <= t.Budget {
			used += more
			continue
		}
		if lines[i].Full == lines[i].Bare {
			continue
		}
		r.Shown, r.Text, r.Need = ShownNameOnly, lines[i].Bare, used+more-t.Budget
	}
}

// rankByScore orders the lines that compete by score, descending, ties in listing
// order, and returns their indexes.
func (t *Trimmed) rankByScore(lines []Line) []int {
	order := make([]int, 0, len(lines))
	for i, r := range t.Lines {
		if r.Rank > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lines[b].Score, lines[a].Score) })
	for rank, i := range order {
		t.Lines[i].Rank = rank + 1
	}
	return order
}

// strip takes texts away from the least used line upward until the rest fits; of
// lines used as often, the one whose name comes first loses its text first.
func (t *Trimmed) strip(lines []Line) {
	over := t.Total - t.Budget
	for _, i := range slices.Backward(t.rankForStrip(lines)) {
		if over <= 0 {
			return
		}
		if r := &t.Lines[i]; lines[i].Full != lines[i].Bare {
			r.Shown, r.Text, r.Need = ShownNameOnly, lines[i].Bare, over
			over -= r.Size - r.BareSize
		}
	}
}

// rankForStrip ranks the lines that compete, the last to lose its text first, and
// returns their indexes.
func (t *Trimmed) rankForStrip(lines []Line) []int {
	var order []int
	for i, r := range t.Lines {
		if r.Rank > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(lines[b].Score, lines[a].Score), strings.Compare(lines[b].Name, lines[a].Name))
	})
	for rank, i := range order {
		t.Lines[i].Rank = rank + 1
	}
	return order
}

// join puts the shown lines and the tail together.
func (t *Trimmed) join(tail string, s Size) {
	u := s.Unit
	size := len(tail)
	for _, r := range t.Lines {
		size += len(r.Text) + 1
	}
	var b strings.Builder
	b.Grow(size)
	n := 0
	add := func(s string) {
		if n > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
		n++
	}
	for _, r := range t.Lines {
		if r.Shown == ShownAbsent {
			continue
		}
		add(r.Text)
		switch r.Shown {
		case ShownFull:
			t.Used += r.Size
		case ShownNameOnly:
			t.Used += r.BareSize
		default:
			t.Used += Width(u, r.Text)
		}
	}
	if tail != "" {
		add(tail)
		t.Used += Width(u, tail)
	}
	t.Used += breaks(n, s)
	t.Text = b.String()
}
