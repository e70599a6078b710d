package budget

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"
)

// fitLines are lines with texts of these lengths; below 0 for the client's own, 0 for a
// bare name.
func fitLines(lengths ...int) []Line {
	var out []Line
	for i, n := range lengths {
		name := fmt.Sprintf("s%d", i)
		l := Line{Label: name, Name: name, Bare: "- " + name, Exempt: n < 0}
		l.Text = strings.Repeat("x", max(n, -n))
		l.Full = l.Bare
		if l.Text != "" {
			l.Full += ": " + l.Text
		}
		out = append(out, l)
	}
	return out
}

func cutWords(list []Cut) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%d:%d>%d", c.Line, c.Had, c.Now))
	}
	return strings.Join(out, " ")
}

func TestFit(t *testing.T) {
	greedy, cut := Size{Unit: UnitUTF16, Overflow: OverflowGreedy, ExemptBundled: true}, Size{Unit: UnitUTF16, Overflow: OverflowCut}
	// Each line of fitLines takes 6 beside its text, or 4 without one, and the breaks.
	for _, c := range []struct {
		lengths         []int
		budget          int
		size            Size
		over, names     int
		longest, evenly string
	}{
		{[]int{10, 10}, 33, greedy, 0, 0, "", ""},
		{[]int{10, 10}, 32, greedy, 1, 0, "1:10>9", "0:10>9"},
		{[]int{100, 10, 40}, 150, greedy, 20, 0, "0:100>80", "0:100>86 1:10>9 2:40>35"},
		{[]int{100, 10, 40}, 70, greedy, 100, 0, "0:100>20 2:40>20", "0:100>33 1:10>4 2:40>13"},
		{[]int{100, 10, 40}, 69, greedy, 101, 0, "0:100>20 2:40>19", "0:100>32 1:10>4 2:40>13"},
		{[]int{100, 10, 40}, 30, greedy, 140, 0, "0:100>4 1:10>3 2:40>3", "0:100>6 1:10>1 2:40>3"},
		{[]int{100, 10, 40}, 23, greedy, 147, 0, "0:100>1 1:10>1 2:40>1", "0:100>1 1:10>1 2:40>1"},
		{[]int{100, 10, 40}, 22, greedy, 148, 1, "", ""},
		{[]int{-100, 0, 40}, 130, greedy, 28, 0, "2:40>12", "2:40>12"},
		{[]int{10, 10}, 34, cut, 0, 0, "", ""},
		{[]int{10, 10}, 33, cut, 1, 0, "1:10>9", "0:10>9"},
	} {
		lines := fitLines(c.lengths...)
		f := NewFit(lines, c.budget, c.size)
		longest, evenly := f.Longest(lines, c.size), f.Evenly(lines, c.size)
		if f.Over != c.over || f.Names != c.names || cutWords(longest) != c.longest || cutWords(evenly) != c.evenly {
			t.Errorf("%v in %d: over %d, %d beyond the names, longest %q, evenly %q\nwant over %d, %d, %q, %q", c.lengths, c.budget,
				f.Over, f.Names, cutWords(longest), cutWords(evenly), c.over, c.names, c.longest, c.evenly)
		}
		if Whole(lines, c.budget, c.size) != (c.over == 0) {
			t.Errorf("%v in %d: whole %v", c.lengths, c.budget, c.over != 0)
		}
	}
}

// What a fit proposes is enough, is what it says, and by all methods one character less
// is not enough, whichever texts it is taken from.
func FuzzFit(f *testing.F) {
	f.Add(uint64(0x0a64_2805), uint16(90), uint8(0))
	f.Add(uint64(0xff01_7f30_11ff), uint16(300), uint8(1))
	f.Add(uint64(0x30ff_0102_0304), uint16(120), uint8(2))
	f.Add(uint64(1), uint16(3), uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, room uint16, how uint8) {
		var lengths []int
		for ; seed != 0; seed >>= 8 {
			n := int(seed & 0xff)
			if bits.OnesCount64(seed)%7 == 0 {
				n = -n
			}
			lengths = append(lengths, n)
		}
		size := Size{Unit: UnitUTF16, ExemptBundled: true, Overflow: []Overflow{OverflowCut, OverflowUniform, OverflowGreedy, OverflowStrip}[how%4]}
		size.LineBreaks = size.Overflow == OverflowStrip && how&4 != 0
		lines, budget := fitLines(lengths...), int(room)
		fit := NewFit(lines, budget, size)
		if fit.Over == 0 {
			if !Whole(lines, budget, size) {
				t.Fatalf("%v in %d by %s: nothing to cut, and not whole", lengths, budget, size.Overflow)
			}
			return
		}
		if fit.Names > 0 {
			return
		}
		for _, list := range [][]Cut{fit.Longest(lines, size), fit.Evenly(lines, size)} {
			shorter, n := Apply(lines, list, size)
			if n != fit.Over || !Whole(shorter, budget, size) {
				t.Fatalf("%v in %d by %s: cut %d of %d by %s, whole %v", lengths, budget, size.Overflow, n, fit.Over, cutWords(list), Whole(shorter, budget, size))
			}
			list[0].Now++
			if less, n := Apply(lines, list, size); Whole(less, budget, size) && n < fit.Over {
				t.Fatalf("%v in %d by %s: %d is enough", lengths, budget, size.Overflow, n)
			}
		}
	})
}

// Wide characters go as a whole, and the last one of a text stays.
func TestFitWide(t *testing.T) {
	size := Size{Unit: UnitGrapheme, Overflow: OverflowUniform}
	for _, c := range []struct {
		texts           []string
		budget          int
		longest, evenly string
		cut             int // of the longest
	}{
		{[]string{"漢字漢字漢字", "abc"}, 23, "0:12>7", "0:12>8 1:3>2", 6},
		{[]string{"漢字漢字漢字", "abc"}, 18, "0:12>3 1:3>2", "0:12>4 1:3>1", 11},
		{[]string{"漢字漢字漢字", "abc"}, 17, "0:12>2 1:3>2", "0:12>3 1:3>1", 11},
		{[]string{"漢字漢字漢字", "abc"}, 16, "0:12>2 1:3>1", "0:12>2 1:3>1", 12},
		{[]string{"漢字漢字漢字", "abc"}, 15, "", "", 0},
	} {
		lines := fitLines(1, 1)
		for i := range lines {
			lines[i].Text, lines[i].Full = c.texts[i], lines[i].Bare+": "+c.texts[i]
		}
		f := NewFit(lines, c.budget, size)
		longest, evenly := f.Longest(lines, size), f.Evenly(lines, size)
		shorter, n := Apply(lines, longest, size)
		if cutWords(longest) != c.longest || cutWords(evenly) != c.evenly || n != c.cut || c.longest != "" && !Whole(shorter, c.budget, size) {
			t.Errorf("%d: over %d, %q cut %d, %q; want %q cut %d, %q", c.budget, f.Over, cutWords(longest), n, cutWords(evenly), c.longest, c.cut, c.evenly)
		}
	}
}

func TestShorter(t *testing.T) {
	for _, c := range []struct {
		l     Line
		width int
		want  string
	}{
		{Line{Full: "- com: com", Bare: "- com", Text: "com"}, 2, "- com: co"},
		{Line{Full: "- a: Writes.", Bare: "- a", Text: "Writes."}, 0, "- a"},
		{Line{Full: "<d>\nWrites. (user)\n</d>", Bare: "- a", Text: "Writes."}, 5, "<d>\nWrites. (user)\n</"},
	} {
		if got := Shorter(c.l, UnitUTF16, c.width).Full; got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.l.Full, c.width, got, c.want)
		}
	}
}
