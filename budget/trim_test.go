package budget

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func line(name, text string) Line {
	l := Line{Full: "- " + name, Bare: "- " + name, Label: name, Text: text}
	if text != "" {
		l.Full += ": " + text
	}
	return l
}

func scored(l Line, score float64) Line { l.Score = score; return l }

func bundled(l Line) Line { l.Exempt = true; return l }

func show(t Trimmed) string {
	var b strings.Builder
	for _, r := range t.Lines {
		fmt.Fprintf(&b, "%s/%d/%d ", r.Shown, r.Rank, r.Need)
	}
	return strings.TrimSpace(b.String())
}

func TestTrim(t *testing.T) {
	x30, x60 := strings.Repeat("x", 30), strings.Repeat("y", 60)
	greedy := Size{Overflow: OverflowGreedy, Unit: UnitUTF16, ExemptBundled: true}
	uniform := Size{Overflow: OverflowUniform, Unit: UnitUTF16, ExemptBundled: true}
	cut := Size{Overflow: OverflowCut, Unit: UnitUTF16}
	for _, c := range []struct {
		name   string
		size   Size
		budget int
		lines  []Line
		text   string
		shown  string
	}{
		{"nothing", greedy, 10, nil, "", ""},
		{"nothing, cut", cut, 0, nil, "", ""},
		{"fits exactly", greedy, 15, []Line{line("a", "12"), line("b", "34")}, "- a: 12\n- b: 34", "full/1/0 full/2/0"},
		{"one too many: first in order wins a tie", greedy, 14, []Line{line("a", "12"), line("b", "34")}, "- a: 12\n- b", "full/1/0 name_only/2/1"},
		{"higher score wins", greedy, 14, []Line{line("a", "12"), scored(line("b", "34"), 1)}, "- a\n- b: 34", "name_only/2/1 full/1/0"},
		{"a large one is skipped, a small one still fits", greedy, 20,
			[]Line{scored(line("a", x30), 2), scored(line("b", "34"), 1)}, "- a\n- b: 34", "name_only/1/19 full/2/0"},
		{"bundled stays", greedy, 20, []Line{bundled(line("b", x30)), line("a", "12")}, "- b: " + x30 + "\n- a", "full/0/0 name_only/1/23"},
		{"bundled counts as any other where the rule says so", Size{Overflow: OverflowGreedy}, 20,
			[]Line{bundled(line("b", x30)), line("a", "12")}, "- b\n- a: 12", "name_only/1/19 full/2/0"},
		{"names alone exceed", greedy, 3, []Line{line("aa", "12"), line("bb", "")}, "- aa\n- bb", "name_only/1/10 full/2/0"},
		{"uniform fits", uniform, 35, []Line{line("a", x30)}, "- a: " + x30, "full/1/0"},
		// room 100-1-5-5 = 89, width 44
		{"uniform", uniform, 100, []Line{line("a", x60), line("b", x30)}, "- a: " + x60[:43] + "…\n- b: " + x30, "shortened/1/16 full/2/0"},
		// 80-1-5-35 = 39 for one text
		{"uniform with bundled", uniform, 80, []Line{bundled(line("b", x30)), line("a", x60)}, "- b: " + x30 + "\n- a: " + x60[:38] + "…", "full/0/0 shortened/1/21"},
		// 51-1-10 = 40: width 20
		{"uniform, 20 is enough", uniform, 51, []Line{line("a", x60), line("b", x60)}, "- a: " + x60[:19] + "…\n- b: " + x60[:19] + "…", "shortened/1/40 shortened/2/40"},
		{"uniform, below 20 only names", uniform, 50, []Line{line("a", x60), line("b", x30)}, "- a\n- b", "name_only/1/41 name_only/2/11"},
		{"uniform, negative room", uniform, 1, []Line{line("a", x60), line("b", "")}, "- a\n- b", "name_only/1/60 full/2/0"},
		{"uniform, short texts go too", uniform, 20, []Line{line("a", x60), line("b", "z")}, "- a\n- b", "name_only/1/56 name_only/2/1"},
		{"uniform, only bundled", uniform, 1, []Line{bundled(line("a", x30))}, "- a: " + x30, "full/0/0"},
		// each entry weighs one more than its length
		{"cut fits", cut, 16, []Line{line("a", "12"), line("b", "34")}, "- a: 12\n- b: 34", "full/1/0 full/2/0"},
		{"cut", cut, 15, []Line{line("a", "12"), line("b", "34")}, "- a: 12\n<!-- Showing 1 of 2 skills due to token limits -->", "full/1/0 absent/2/1"},
		{"cut, nothing after the first that fails", cut, 20, []Line{line("a", "12"), line("b", x30), line("c", "")},
			"- a: 12\n<!-- Showing 1 of 3 skills due to token limits -->", "full/1/0 absent/2/24 absent/3/28"},
		{"cut, none", cut, 2, []Line{line("a", "12")}, "<!-- Showing 0 of 1 skills due to token limits -->", "absent/1/6"},
	} {
		got := Trim(c.lines, c.budget, c.size)
		if got.Text != c.text || show(got) != c.shown {
			t.Errorf("%s:\n got %q %s\nwant %q %s", c.name, got.Text, show(got), c.text, c.shown)
		}
	}
}

// checkTrim holds what every trimmed listing keeps to.
func checkTrim(t *testing.T, lines []Line, budget int, s Size) {
	t.Helper()
	got := Trim(lines, budget, s)
	total, bare := max(len(lines)-1, 0), max(len(lines)-1, 0)
	for _, l := range lines {
		total += Width(s.Unit, l.Full)
		if l.Exempt && s.ExemptBundled {
			bare += Width(s.Unit, l.Full)
		} else {
			bare += Width(s.Unit, l.Bare)
		}
	}
	if got.Total != total || got.Budget != budget || got.Over() != (total > budget) {
		t.Fatalf("total %d, budget %d", got.Total, got.Budget)
	}
	if s.Overflow != OverflowCut && got.Used > budget && got.Used > bare {
		t.Fatalf("%s: used %d of %d, names alone %d", s.Overflow, got.Used, budget, bare)
	}
	var texts []string
	for i, r := range got.Lines {
		if (r.Shown == ShownFull) != (r.Need == 0) {
			t.Fatalf("%s: line %d is %s and needs %d", s.Overflow, i, r.Shown, r.Need)
		}
		if r.Shown == ShownFull && r.Text != lines[i].Full {
			t.Fatalf("line %d is not whole", i)
		}
		if r.Shown != ShownAbsent {
			texts = append(texts, r.Text)
		}
		if s.Overflow != OverflowCut && total <= budget && r.Shown != ShownFull {
			t.Fatalf("line %d is %s, and all would fit", i, r.Shown)
		}
	}
	if joined := strings.Join(texts, "\n"); !strings.HasPrefix(got.Text, joined) {
		t.Fatalf("%q does not begin with %q", got.Text, joined)
	}
	if again := Trim(lines, budget, s); again.Text != got.Text {
		t.Fatal("not deterministic")
	}
}

func FuzzTrim(f *testing.F) {
	f.Add(uint64(1), 100, uint8(0), "abc 倉庫")
	f.Add(uint64(2), 10, uint8(4), "a😀b")
	f.Add(uint64(3), -50, uint8(8), "\xed\xa0\xbd…")
	f.Fuzz(func(t *testing.T, seed uint64, budget int, how uint8, text string) {
		if budget > 1<<40 || budget < -1<<40 {
			return
		}
		r := &dice{seed}
		s := Size{
			Overflow:      []Overflow{OverflowCut, OverflowUniform, OverflowGreedy}[how%3],
			Unit:          []Unit{UnitUTF16, UnitGrapheme, UnitBun}[how/3%3],
			ExemptBundled: how&0x40 == 0,
		}
		checkTrim(t, randomLines(r, 1+r.n(12), text), budget, s)
	})
}

// dice are numbers that look random and are the same in every run.
type dice struct{ state uint64 }

// n is a number from 0 to below limit.
func (d *dice) n(limit int) int {
	d.state = d.state*6364136223846793005 + 1442695040888963407
	x := d.state ^ d.state>>29
	return int((x >> 33) % uint64(limit))
}

func randomLines(r *dice, n int, text string) []Line {
	lines := make([]Line, n)
	for i := range lines {
		words := strings.Repeat(text, r.n(8))
		lines[i] = line(fmt.Sprintf("skill-%02d", i), words)
		lines[i].Exempt = r.n(4) == 0
		lines[i].Score = float64(r.n(3))
	}
	return lines
}

func TestTrimProperties(t *testing.T) {
	r := &dice{7}
	for range 2000 {
		for _, o := range []Overflow{OverflowCut, OverflowUniform, OverflowGreedy} {
			for _, u := range []Unit{UnitUTF16, UnitGrapheme, UnitBun} {
				checkTrim(t, randomLines(r, r.n(8), "ab 倉😀 "), r.n(200)-20, Size{Overflow: o, Unit: u, ExemptBundled: true})
			}
		}
	}
}

// TestGreedyKeepsRank: a skill with a better rank and no larger text is never
// worse off than one behind it.
func TestGreedyKeepsRank(t *testing.T) {
	r := &dice{9}
	for range 500 {
		lines := randomLines(r, 10, "abc ")
		got := Trim(lines, r.n(300), Size{Overflow: OverflowGreedy})
		order := make([]int, len(lines))
		for i, l := range got.Lines {
			order[l.Rank-1] = i
		}
		if !slices.IsSortedFunc(order, func(a, b int) int { return int(lines[b].Score - lines[a].Score) }) {
			t.Fatalf("ranks %v", order)
		}
		for k, i := range order {
			for _, j := range order[k+1:] {
				if got.Lines[i].Shown == ShownNameOnly && got.Lines[j].Shown == ShownFull && lines[j].Text != "" &&
					got.Lines[i].Size-got.Lines[i].BareSize <= got.Lines[j].Size-got.Lines[j].BareSize {
					t.Fatalf("%d lost to %d", i, j)
				}
			}
		}
	}
}

func BenchmarkTrim10000(b *testing.B) {
	for _, u := range []Unit{UnitUTF16, UnitBun} {
		for _, o := range []Overflow{OverflowCut, OverflowUniform, OverflowGreedy} {
			b.Run(string(o)+"/"+string(u), func(b *testing.B) {
				lines := make([]Line, 10_000)
				for i := range lines {
					lines[i] = line(fmt.Sprintf("skill-%05d", i), strings.Repeat("checks the ledger ", i%20+1))
					lines[i].Score = float64(i * 7919 % 1000)
				}
				b.ReportAllocs()
				for b.Loop() {
					Trim(lines, 1_000_000, Size{Overflow: o, Unit: u})
				}
			})
		}
	}
}
