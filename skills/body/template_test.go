package body

import (
	"slices"
	"strings"
	"testing"
)

// template reads a text in which <command> is a hole.
func template(s string) Template {
	var t Template
	for s != "" {
		before, rest, _ := strings.Cut(s, "<")
		if before != "" {
			t.Parts = append(t.Parts, Part{Text: before})
		}
		command, behind, ok := strings.Cut(rest, ">")
		if ok {
			t.Parts = append(t.Parts, Part{Hole: true, Command: command})
		}
		s = behind
	}
	return t
}

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		template, recorded string
		want               []string // nil: no match
	}{
		{"plain", "plain", []string{}},
		{"plain", "plain ", nil},
		{"", "", []string{}},
		{"a <x> b", "a 1 b", []string{"1"}},
		{"a <x> b", "a  b", []string{""}},
		{"a <x> b", "a b", nil},
		{"a <x> b", "a 1 c", nil},
		{"<x>", "all\nof it", []string{"all\nof it"}},
		{"<x> and <y>", "1 and 2 and 3", []string{"1", "2 and 3"}},
		{"<x> and <y>.", "1 and 2", nil},
		{"<x><y>", "12", []string{"", "12"}},
		{"<x>,<y>,<z>", "1,2,3,4", []string{"1", "2", "3,4"}},
		{"<x>,<y>,<z>", "1,2", nil},
		// Equal commands get equal outputs, where that can be.
		{"<d>-<d>", "2025-01-2025-01", []string{"2025-01", "2025-01"}},
		{"<d>-<d>", "1-2-3", []string{"1", "2-3"}},
		{"<d>-<e>-<d>", "a-b-x-a-b", []string{"a-b", "x", "a-b"}},
		{"<d>-<e>-<d>!", "a-b-x-a-b!", []string{"a-b", "x", "a-b"}},
		{"<d><d>", "abab", []string{"ab", "ab"}},
		{"<d>\n<e>\n<d>\n<e>", "a\nb\nc\na\nb\nc", []string{"a", "b\nc", "a", "b\nc"}},
	} {
		got, ok := template(test.template).Match(test.recorded)
		if ok != (test.want != nil) {
			t.Errorf("%q: %q: match %t", test.template, test.recorded, ok)
			continue
		}
		if !ok {
			continue
		}
		if text, err := template(test.template).Fill(got); err != nil || text != test.recorded {
			t.Errorf("%q: outputs %q give %q, not %q (%v)", test.template, got, text, test.recorded, err)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q: %q\n got %q\nwant %q", test.template, test.recorded, got, test.want)
		}
	}
}

func TestFill(t *testing.T) {
	x := template("a <x> b <y>")
	if _, err := x.Fill([]string{"1"}); err == nil {
		t.Error("one output for two holes")
	}
	if _, ok := x.Text(); ok {
		t.Error("text in spite of holes")
	}
	if got, err := x.Fill([]string{"$&", ""}); err != nil || got != "a $& b " {
		t.Errorf("got %q, %v", got, err)
	}
	if got, want := x.Placeholder(), "a ‹output of `x`› b ‹output of `y`›"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("a <x> b <y>,<x>", "1|2|1")
	f.Add("<x><x><y>", "|a|")
	f.Fuzz(func(t *testing.T, text, outputs string) {
		x := template(text)
		filling := strings.Split(outputs, "|")
		for len(filling) < x.Holes() {
			filling = append(filling, filling[0])
		}
		recorded, err := x.Fill(filling[:x.Holes()])
		if err != nil {
			t.Fatal(err)
		}
		got, ok := x.Match(recorded)
		if !ok {
			t.Fatalf("%q does not match %q", recorded, text)
		}
		if again, err := x.Fill(got); err != nil || again != recorded {
			t.Fatalf("outputs %q give %q, not %q", got, again, recorded)
		}
		x.Match(outputs)
	})
}

// A body full of what could be the text between two holes, with equal commands
// that never agree, is the worst case of the search.
func BenchmarkMatchHostile(b *testing.B) {
	x := template(strings.Repeat("<d> <e> ", 400) + "<d>!")
	recorded := strings.Repeat("a ", 15<<10) + "b!"
	b.ReportAllocs()
	b.SetBytes(int64(len(recorded)))
	for b.Loop() {
		x.Match(recorded)
	}
}
