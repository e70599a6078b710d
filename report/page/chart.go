package page

import (
	"math"
	"strconv"
	"strings"
)

// Series is one of the quantities that stand on each other; Class is that of its colour.
type Series struct{ Name, Class string }

// Step is one column of a chart: a value for each series, from the bottom up.
type Step struct {
	Values []int64
	Title  string // what a reader is told who points at it
	Href   string
}

// Mark is something that happened between two steps.
type Mark struct {
	At    float64 // in steps from the left
	Class string
	Title string
	Href  string
}

// Lane is a row of marks below the chart.
type Lane struct {
	Label string
	Marks []Mark
}

// Stacked says what a chart of stacked quantities shows.
type Stacked struct {
	ID          string // of the page, for its labels
	Title, Desc string
	Series      []Series
	Steps       []Step
	Gap         bool // between the columns
	// Limit is a line across, such as a window; 0 for none. It is left out where it
	// would flatten the rest.
	Limit      int64
	LimitLabel string
	Rules      []Mark // lines from top to bottom
	Lanes      []Lane
	// First, Last and Middle name the steps at the ends, and one between.
	First, Middle, Last string
	Label               func(int64) string // of a tick
}

// Chart is a chart as it is drawn. Widths are in steps and per cent, so that it takes any
// width and its letters keep their size; heights are in pixels.
type Chart struct {
	ID, Title, Desc string
	N, Top, Plot    int
	Bottom, Height  int
	Areas           []area
	Hits            []hit
	Ticks           []level
	Limit           *level
	Rules           []dot
	Lanes           []lane
	XLabels         []xlabel
	Many            bool // so many marks that they must be small
}

type (
	area struct{ Class, Path string }
	hit  struct {
		X           int
		Title, Href string
	}
	level struct {
		Y     int
		Label string
	}
	dot struct {
		X                  string
		Class, Title, Href string
	}
	lane struct {
		Label string
		Y     int
		Marks []dot
	}
	xlabel struct {
		X      string
		Y      int
		Anchor string
		Label  string
	}
)

// The measures of a chart, in pixels.
const (
	plotTop    = 26
	plotHeight = 230
	manyMarks  = 60 // of a row
	laneHeight = 20
	axisHeight = 20
)

// LimitShown reports whether the line of the limit is within the chart.
func (c *Chart) LimitShown() bool { return c.Limit != nil }

// New draws a chart; nil where there is nothing to draw.
func (s *Stacked) New() *Chart {
	n := len(s.Steps)
	if n == 0 {
		return nil
	}
	c := &Chart{ID: s.ID, Title: s.Title, Desc: s.Desc, N: n, Top: plotTop, Plot: plotHeight, Bottom: plotTop + plotHeight}
	var peak int64
	sums := make([]int64, n)
	for i := range s.Steps {
		for _, v := range s.Steps[i].Values {
			sums[i] += bounded(v)
		}
		peak = max(peak, sums[i])
	}
	limited := s.Limit > 0 && peak*2 >= s.Limit
	top := peak
	if limited {
		top = max(peak, s.Limit)
	}
	step := tick(top)
	top = max((top+step-1)/step*step, 1)
	y := func(v int64) int { return c.Bottom - int(math.Round(float64(v)/float64(top)*plotHeight)) }
	for v := int64(0); v <= top; v += step {
		c.Ticks = append(c.Ticks, level{y(v), s.Label(v)})
	}
	if limited {
		c.Limit = &level{y(s.Limit), s.LimitLabel}
	}
	below := make([]int64, n)
	for k, series := range s.Series {
		above := make([]int64, n)
		drawn := false
		for i := range s.Steps {
			v := bounded(s.Steps[i].Values[k])
			above[i] = below[i] + v
			drawn = drawn || v > 0
		}
		if drawn {
			c.Areas = append(c.Areas, area{series.Class, outline(below, above, top, s.Gap)})
		}
		below = above
	}
	for i := range s.Steps {
		c.Hits = append(c.Hits, hit{i, s.Steps[i].Title, s.Steps[i].Href})
	}
	place := func(at float64) string { return percent(at, float64(n)) }
	dots := func(marks []Mark) []dot {
		out := make([]dot, 0, len(marks))
		for _, m := range marks {
			out = append(out, dot{place(m.At), m.Class, m.Title, m.Href})
		}
		return out
	}
	c.Rules = dots(s.Rules)
	at := c.Bottom
	at += axisHeight
	for _, l := range []xlabel{{"0", at - 5, "start", s.First}, {"50", at - 5, "middle", s.Middle}, {"100", at - 5, "end", s.Last}} {
		if l.Label != "" {
			c.XLabels = append(c.XLabels, l)
		}
	}
	for _, l := range s.Lanes {
		c.Many = c.Many || len(l.Marks) > manyMarks
		c.Lanes = append(c.Lanes, lane{l.Label, at + laneHeight/2, dots(l.Marks)})
		at += laneHeight
	}
	c.Height = at + 2
	return c
}

// bounded is a value that can be drawn, and added to others without overflow.
func bounded(v int64) int64 { return min(max(v, 0), 1<<52) }

// outline goes along the tops of the steps and back along their bottoms. A thousandth of
// the height is the unit: finer is not seen.
func outline(below, above []int64, top int64, gap bool) string {
	y := func(v int64) string { return strconv.Itoa(1000 - int(math.Round(float64(v)/float64(top)*1000))) }
	var b strings.Builder
	if gap {
		for i := range above {
			if above[i] > below[i] {
				x := strconv.Itoa(i)
				b.WriteString("M" + x + ".1 " + y(above[i]) + "H" + x + ".9V" + y(below[i]) + "H" + x + ".1Z")
			}
		}
		return b.String()
	}
	last := ""
	for i := range above {
		at := y(above[i])
		switch {
		case i == 0:
			b.WriteString("M0 " + at)
		case at != last:
			b.WriteString("H" + strconv.Itoa(i) + "V" + at)
		}
		last = at
	}
	n := len(above)
	b.WriteString("H" + strconv.Itoa(n))
	for i := n - 1; i >= 0; i-- {
		if at := y(below[i]); i == n-1 || at != last {
			if i < n-1 {
				b.WriteString("H" + strconv.Itoa(i+1))
			}
			b.WriteString("V" + at)
			last = at
		}
	}
	b.WriteString("H0Z")
	return b.String()
}

// tick is a round step by which an axis up to top has about four ticks.
func tick(top int64) int64 {
	unit := int64(1)
	for top/unit > 40 {
		unit *= 10
	}
	for _, k := range []int64{1, 2, 5, 10} {
		if top <= unit*k*4 {
			return unit * k
		}
	}
	return unit * 10
}

// percent writes a part of a whole for an attribute, with as many decimals as a wide
// screen has pixels.
func percent(part, whole float64) string {
	if whole <= 0 {
		return "0"
	}
	return strconv.FormatFloat(math.Round(part/whole*1e5)/1e3, 'f', -1, 64)
}

// Piece is a part of a bar.
type Piece struct {
	Value        int64
	Class, Title string
}

// Bar is a line of parts beside a limit.
type Bar struct {
	Label string
	Parts []barPart
	Limit string // per cent; "" for none
}

type barPart struct{ X, Width, Class, Title string }

// NewBar draws parts of a whole, which is their sum, or the limit where that is more.
func NewBar(label string, limit int64, pieces ...Piece) *Bar {
	b := &Bar{Label: label}
	var sum int64
	for _, p := range pieces {
		sum += bounded(p.Value)
	}
	whole := float64(max(sum, limit))
	at := int64(0)
	for _, p := range pieces {
		if v := bounded(p.Value); v > 0 {
			b.Parts = append(b.Parts, barPart{percent(float64(at), whole), percent(float64(v), whole), p.Class, p.Title})
			at += v
		}
	}
	if limit > 0 {
		b.Limit = percent(float64(limit), whole)
	}
	return b
}
