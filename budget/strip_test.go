package budget

import (
	"strings"
	"testing"
)

// TestStrip pins the overflow of a described client: texts go from the least used
// upward, of equal ones by name, until it fits; every line counts one for its break.
func TestStrip(t *testing.T) {
	size := Size{Unit: UnitUTF16, Overflow: OverflowStrip, LineBreaks: true, Rank: RankCount}
	line := func(name, text string, score float64) Line {
		l := Line{Name: name, Label: name, Text: text, Bare: "- " + name, Full: "- " + name, Score: score}
		if text != "" {
			l.Full += ": " + text
		}
		return l
	}
	// Each described line is 3+2+4 = 9, with its break 10; bare 4.
	lines := []Line{line("a", "1234", 1), line("b", "1234", 0), line("c", "1234", 0), line("d", "", 0), line("e", "1234", 7)}
	for _, c := range []struct {
		budget int
		want   string
	}{
		{44, "a b c d e"}, {43, "a - c d e"}, {38, "a - c d e"}, {37, "a - - d e"}, {32, "a - - d e"}, {31, "- - - d e"},
		{26, "- - - d e"}, {25, "- - - d -"}, {20, "- - - d -"}, {0, "- - - d -"}, {-5, "- - - d -"},
	} {
		got := Trim(lines, c.budget, size)
		var words []string
		for i, l := range got.Lines {
			word := lines[i].Name
			if l.Shown == ShownNameOnly {
				word = "-"
				if l.Need <= 0 || l.Text != lines[i].Bare {
					t.Errorf("%d: %+v", c.budget, l)
				}
			}
			words = append(words, word)
		}
		if s := strings.Join(words, " "); s != c.want {
			t.Errorf("%d: %s, want %s", c.budget, s, c.want)
		}
		if got.Total != 44 || got.Used > max(c.budget, 20) || got.Used != len(got.Text)+1 {
			t.Errorf("%d: total %d, used %d, text of %d", c.budget, got.Total, got.Used, len(got.Text))
		}
	}
	if ranks := Trim(lines, 44, size).Lines; ranks[4].Rank != 1 || ranks[0].Rank != 2 || ranks[1].Rank != 5 {
		t.Errorf("%+v", ranks)
	}
}

func TestReattachLimits(t *testing.T) {
	body := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		name     string
		r        Reattachment
		contents []int
		want     []int // lengths of what comes back, -1 for none
	}{
		{"characters", Reattachment{Limited: true, SkillChars: 100, BareCut: true}, []int{99, 100, 101, 5000}, []int{99, 100, 100, 100}},
		{"skip", Reattachment{Limited: true, SkillTokens: 5000, TotalTokens: 30}, []int{80, 60, 8}, []int{80, -1, 8}},
		{"stop", Reattachment{Limited: true, SkillTokens: 5000, TotalTokens: 30, Stop: true}, []int{80, 60, 8}, []int{80, -1, -1}},
		{"nothing allowed", Reattachment{Limited: true}, []int{4}, []int{-1}},
		{"no limit", Reattachment{}, []int{4, 400_000}, []int{4, 400_000}},
	} {
		var contents []string
		for _, n := range c.contents {
			contents = append(contents, body(n))
		}
		for i, r := range Reattach(contents, c.r) {
			got := len(r.Content)
			if !r.Kept {
				got = -1
			}
			if got != c.want[i] {
				t.Errorf("%s: %d is %d, want %d", c.name, i, got, c.want[i])
			}
		}
	}
}
