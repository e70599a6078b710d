package budget

import (
	"strings"
	"testing"
)

var limited = Reattachment{Limited: true, SkillTokens: 5000, TotalTokens: 25000}

func TestRoughTokens(t *testing.T) {
	for _, c := range []struct{ units, want int }{{0, 0}, {1, 0}, {2, 1}, {5, 1}, {6, 2}, {1001, 250}, {1002, 251}, {20001, 5000}, {20002, 5001}} {
		if got := RoughTokens(strings.Repeat("x", c.units)); got != c.want {
			t.Errorf("RoughTokens of %d units = %d, want %d", c.units, got, c.want)
		}
	}
}

func TestReattach(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	got := Reattach([]string{x(20001), x(20002), x(20000), x(20000), x(16000), x(8000), x(4002), x(4001), x(2)}, limited)
	want := []Reattached{
		{Index: 0, Content: x(20001), Kept: true, Tokens: 5000},
		{Index: 1, Content: x(20000-Len16(ReattachMarker)) + ReattachMarker, Cut: true, Kept: true, Tokens: 5000},
		{Index: 2, Content: x(20000), Kept: true, Tokens: 5000},
		{Index: 3, Content: x(20000), Kept: true, Tokens: 5000},
		{Index: 4, Content: x(16000), Kept: true, Tokens: 4000},
		{Index: 5, Content: x(8000), Tokens: 2000, Over: 1000},
		{Index: 6, Content: x(4002), Tokens: 1001, Over: 1},
		{Index: 7, Content: x(4001), Kept: true, Tokens: 1000}, // a smaller one still fits
		{Index: 8, Content: x(2), Tokens: 1, Over: 1},
	}
	for i := range want {
		if got[i] != want[i] {
			g, w := got[i], want[i]
			g.Content, w.Content = "", ""
			t.Errorf("%d: got %+v, want %+v (contents equal: %t)", i, g, w, got[i].Content == want[i].Content)
		}
	}
}

func TestReattachWithoutLimits(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, e := range Reattach([]string{long, long}, Reattachment{}) {
		if !e.Kept || e.Cut || e.Content != long {
			t.Errorf("kept %t, cut %t", e.Kept, e.Cut)
		}
	}
}

// TestReattachPair: the cut may split a pair, and leaves its first half.
func TestReattachPair(t *testing.T) {
	n := 20000 - Len16(ReattachMarker) - 1
	got := Reattach([]string{strings.Repeat("x", n) + strings.Repeat("😀", 2000)}, limited)[0]
	if want := strings.Repeat("x", n) + "\xed\xa0\xbd" + ReattachMarker; got.Content != want || Len16(got.Content) != 20000 {
		t.Errorf("%d units, ends in %+q", Len16(got.Content), got.Content[len(got.Content)-110:])
	}
}

func FuzzReattach(f *testing.F) {
	f.Add(uint64(1), "x")
	f.Add(uint64(2), "倉😀")
	f.Add(uint64(3), "\xed\xa0\xbd\xff")
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		if text == "" || len(text) > 100 {
			return
		}
		d := &dice{seed}
		var contents []string
		for range d.n(12) {
			contents = append(contents, strings.Repeat(text, d.n(30000)/len(text)))
		}
		total := 0
		for i, e := range Reattach(contents, limited) {
			if e.Index != i || e.Cut != (RoughTokens(contents[i]) > limited.SkillTokens) {
				t.Fatalf("%d: %+v", i, e.Index)
			}
			if e.Tokens != RoughTokens(e.Content) || e.Tokens > limited.SkillTokens {
				t.Fatalf("%d tokens", e.Tokens)
			}
			if e.Kept {
				total += e.Tokens
			} else if total+e.Tokens <= limited.TotalTokens {
				t.Fatalf("%d was dropped and would have fitted", i)
			}
		}
		if total > limited.TotalTokens {
			t.Fatalf("%d tokens in total", total)
		}
	})
}
