package budget

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// Shorter is a line whose text has at most another width, as if its author had cut it.
func Shorter(l Line, u Unit, width int) Line {
	text := CutWidth(u, l.Text, max(width, 0))
	head, ok := strings.CutSuffix(l.Full, l.Text)
	switch {
	case text == "" && ok:
		l.Full = l.Bare
	case ok:
		l.Full = head + text
	default:
		// The text stands within a form of its own, whose size is all that counts.
		l.Full = CutWidth(u, l.Full, Width(u, l.Full)-(Width(u, l.Text)-Width(u, text)))
	}
	l.Text = text
	return l
}

// Fit is what has to be cut from the texts of a listing for all of them to be shown whole.
type Fit struct {
	// Over is how much the listing asks for beyond its budget: no less than that can be
	// cut. 0 if all of it fits.
	Over int
	// Names is what would still be asked for beyond the budget if every text that can be
	// cut went down to one character; above 0 nothing that is cut is enough.
	Names int
}

// Cut is what one text gives up.
type Cut struct {
	Line     int // index among the lines
	Had, Now int // widths of the text
	least    int // the width of its first character
}

// NewFit measures a listing. In all methods but one it is shown whole if its lines and
// the breaks between them fit; OverflowCut counts a break behind each line.
func NewFit(lines []Line, budget int, s Size) Fit {
	t := Trim(lines, budget, s)
	f := Fit{Over: t.Total - budget}
	if s.Overflow == OverflowCut {
		f.Over = len(lines) - budget
		for i := range t.Lines {
			f.Over += t.Lines[i].Size
		}
	}
	f.Over = max(f.Over, 0)
	f.Names = f.Over
	for i := range lines {
		f.Names -= spare(&lines[i], s)
	}
	f.Names = max(f.Names, 0)
	return f
}

// spare is how much a line's text can lose and still be a text.
func spare(l *Line, s Size) int {
	if l.Exempt || l.Text == "" {
		return 0
	}
	return max(Width(s.Unit, l.Text)-least(l, s), 0)
}

// least is the width of a text's first character.
func least(l *Line, s Size) int {
	const wide = 2
	if CutWidth(s.Unit, l.Text, wide-1) == "" {
		return wide
	}
	return wide - 1
}

// Longest cuts always from the longest text, so that the fewest texts lose anything. It
// is nil where nothing needs to be cut, or cutting is not enough.
func (f Fit) Longest(lines []Line, s Size) []Cut {
	order := f.cuttable(lines, s)
	if order == nil {
		return nil
	}
	slices.SortStableFunc(order, func(a, b Cut) int { return cmp.Compare(b.Had, a.Had) })
	cutTo := func(level int) int {
		sum := 0
		for _, c := range order {
			sum += max(c.Had-max(level, c.least), 0)
		}
		return sum
	}
	level := sort.Search(order[0].Had, func(n int) bool { return cutTo(n+1) < f.Over })
	left := cutTo(level) - f.Over // fewer than the texts that come down to the level
	for i := range order {
		c := &order[i]
		if c.Now = min(c.Had, max(level, c.least)); c.Now == level && c.Had > level && left > 0 {
			c.Now++
			left--
		}
	}
	return cuts(order)
}

// Evenly cuts from every text the same share of what it can lose. It is nil as for
// Longest.
func (f Fit) Evenly(lines []Line, s Size) []Cut {
	order := f.cuttable(lines, s)
	if order == nil {
		return nil
	}
	weights := make([]float64, len(order))
	for i, c := range order {
		weights[i] = float64(c.Had - c.least)
	}
	for i, n := range Apportion(int64(f.Over), weights) {
		order[i].Now = max(order[i].Had-int(n), order[i].least)
	}
	return cuts(order)
}

// cuttable are the texts that can be cut, whole.
func (f Fit) cuttable(lines []Line, s Size) []Cut {
	if f.Over <= 0 || f.Names > 0 {
		return nil
	}
	var out []Cut
	for i := range lines {
		if n := spare(&lines[i], s); n > 0 {
			least := least(&lines[i], s)
			out = append(out, Cut{Line: i, Had: n + least, Now: n + least, least: least})
		}
	}
	return out
}

// cuts are those that take anything, in listing order.
func cuts(list []Cut) []Cut {
	list = slices.DeleteFunc(list, func(c Cut) bool { return c.Now >= c.Had })
	slices.SortFunc(list, func(a, b Cut) int { return a.Line - b.Line })
	return list
}

// Apply is the listing with texts cut, and what was cut in all: a wide character that
// does not fit into its width goes as a whole.
func Apply(lines []Line, list []Cut, s Size) (shorter []Line, cut int) {
	shorter = slices.Clone(lines)
	for _, c := range list {
		l := Shorter(lines[c.Line], s.Unit, c.Now)
		cut += c.Had - Width(s.Unit, l.Text)
		shorter[c.Line] = l
	}
	return shorter, cut
}

// Whole reports whether a listing is shown with all its texts.
func Whole(lines []Line, budget int, s Size) bool {
	return !slices.ContainsFunc(Trim(lines, budget, s).Lines, func(l TrimmedLine) bool { return l.Shown != ShownFull })
}
