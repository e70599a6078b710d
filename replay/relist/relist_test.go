package relist

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

var (
	greedy  = budget.Size{Overflow: budget.OverflowGreedy, Unit: budget.UnitUTF16, ExemptBundled: true}
	uniform = budget.Size{Overflow: budget.OverflowUniform, Unit: budget.UnitUTF16, ExemptBundled: true}
	cut     = budget.Size{Overflow: budget.OverflowCut, Unit: budget.UnitUTF16}
)

// from is the sheet of a listing, fitted into limit.
func from(text string, size budget.Size, limit int, k *Known) *Sheet {
	s := FromLog(skills.ParseListing(text, nil), size, k)
	s.Budget = max(limit, budget.Width(size.Unit, text))
	s.settle(budget.Width(size.Unit, text))
	return s
}

func entry(name, text string) budget.Line {
	l := budget.Line{Full: "- " + name, Bare: "- " + name, Label: name, Text: text, Name: name}
	if text != "" {
		l.Full += ": " + text
	}
	return l
}

// show is how each entry stands: full, hidden ones with a question mark where open.
func show(l *Listing) string {
	var out []string
	for _, f := range l.Forms {
		word := f.Name + "=" + string(f.Shown)
		if f.Open {
			word += "?"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func TestFromLog(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		size       budget.Size
		known      *Known
		want       string // name, form, H for hidden, E for exempt, and the text
	}{
		{"whole and by name", "- a: One.\n- b", greedy, nil, `a full "One."; b name_only H ""`},
		{"by name, and known", "- a: One.\n- b", greedy, &Known{Texts: map[string]string{"b": "Two."}}, `a full "One."; b name_only "Two."`},
		{"by name, and known to have no text", "- a: One.\n- b", greedy, &Known{Texts: map[string]string{"b": ""}}, `a full "One."; b name_only ""`},
		{"cut to a width", "- a: One an…\n- b: Two.", uniform, nil, `a shortened H "One an…"; b full "Two."`},
		{"cut to a width, and known", "- a: One an…\n- b: Two.", uniform, &Known{Texts: map[string]string{"a": "One and more."}}, `a shortened "One and more."; b full "Two."`},
		{"another text is known than was cut", "- a: One an…", uniform, &Known{Texts: map[string]string{"a": "Else."}}, `a shortened H "One an…"`},
		{"an ellipsis is a text where nothing is cut to a width", "- a: One an…", greedy, nil, `a full "One an…"`},
		{"an entry of several lines", "- a: One\nand more\n- b: Two.", greedy, nil, `a full "One\nand more"; b full "Two."`},
		{"what is no entry", "Skills:\n- a: One.", greedy, nil, `a full "One."`},
		{"the client's own, by its file", "- a: One.\n- b: Two.", greedy, &Known{Given: map[string]bool{"a": true}}, `a full E "One."; b full "Two."`},
		{"the client's own is cut nowhere", "- a: One an…\n- b: Two.", budget.Size{Overflow: budget.OverflowUniform, Unit: budget.UnitUTF16, ExemptBundled: true}, &Known{Given: map[string]bool{"a": true}}, `a full E "One an…"; b full "Two."`},
		{"nothing", "", greedy, nil, ""},
	} {
		s := FromLog(skills.ParseListing(tt.text, nil), tt.size, tt.known)
		var got []string
		for _, l := range s.Lines {
			word := l.Name + " " + string(l.Was)
			if l.Hidden {
				word += " H"
			}
			if l.Exempt {
				word += " E"
			}
			got = append(got, fmt.Sprintf("%s %q", word, l.Text))
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, text, tt.want)
		}
	}
}

func TestMake(t *testing.T) {
	x40 := strings.Repeat("x", 40)
	edit := func(name, text string) Edit { return Edit{Name: name, Line: entry(name, text)} }
	add := func(name, text, after, before string) Edit {
		return Edit{Name: name, New: true, After: after, Before: before, Line: entry(name, text)}
	}
	for _, tt := range []struct {
		name  string
		sheet *Sheet
		edits []Edit
		text  string
		shown string
	}{
		{"no edit", from("- a: One.\n- b", greedy, 14, nil), nil, "- a: One.\n- b", "a=full b=name_only"},
		{"edited", from("- a: One.\n- b: Two.", greedy, 100, nil), []Edit{edit("b", "Second.")}, "- a: One.\n- b: Second.", "a=full b=full"},
		{"edited, and pushes the last out", from("- a: One.\n- b: Two.\n- c: Three.", greedy, 38, nil), []Edit{edit("a", strings.Repeat("o", 20))}, "- a: " + strings.Repeat("o", 20) + "\n- b\n- c", "a=full b=name_only c=name_only"},
		{"gone", from("- a: One.\n- b: Two.", greedy, 100, nil), []Edit{{Name: "a", Gone: true}}, "- b: Two.", "b=full"},
		{"gone, and was not there", from("- a: One.", greedy, 100, nil), []Edit{{Name: "z", Gone: true}}, "- a: One.", "a=full"},
		{"new behind its neighbour", from("- a: One.\n- c: Three.", greedy, 100, nil), []Edit{add("b", "Two.", "a", "c")}, "- a: One.\n- b: Two.\n- c: Three.", "a=full b=full c=full"},
		{"new before its neighbour", from("- a: One.\n- c: Three.", greedy, 100, nil), []Edit{add("b", "Two.", "", "c")}, "- a: One.\n- b: Two.\n- c: Three.", "a=full b=full c=full"},
		{"new by its name", from("- a: One.\n- c: Three.\n- p:z: Plugin.", greedy, 100, nil), []Edit{add("b", "Two.", "gone", "")}, "- a: One.\n- b: Two.\n- c: Three.\n- p:z: Plugin.", "a=full b=full c=full p:z=full"},
		{"new behind all that bear no prefix", from("- a: One.\n- p:z: Plugin.", greedy, 100, nil), []Edit{add("b", "Two.", "", "")}, "- a: One.\n- b: Two.\n- p:z: Plugin.", "a=full b=full p:z=full"},
		{"new and gone", from("- a: One.", greedy, 100, nil), []Edit{{Name: "b", New: true, Gone: true}}, "- a: One.", "a=full"},
		{"of two with a name, the one that is replaced", from("- a: One.\n- a: Two.", greedy, 100, nil), []Edit{{Name: "a", Old: "One.", Line: entry("a", "Now.")}}, "- a: Now.\n- a: Two.", "a=full a=full"},
		{"of two with a name, else the last", from("- a: One.\n- a: Two.", greedy, 100, nil), []Edit{edit("a", "Now.")}, "- a: One.\n- a: Now.", "a=full a=full"},
		{"the client's own is not edited", from("- a: One.", greedy, 100, &Known{Given: map[string]bool{"a": true}}), []Edit{edit("a", "Now.")}, "- a: One.", "a=full"},
		{"capped", from("- a: One.", greedy, 100, nil), []Edit{{Name: "a", Capped: true, Line: entry("a", "Cut…")}}, "- a: Cut…", "a=shortened"},
		{"without a text", from("- a: One.", greedy, 100, nil), []Edit{edit("a", "")}, "- a", "a=name_only"},

		{"hidden, and no more room", from("- a: "+x40+"\n- b", greedy, 10, nil), []Edit{edit("a", x40)}, "- a: " + x40 + "\n- b", "a=full b=name_only"},
		{"hidden, and more room", from("- a: "+x40+"\n- b", greedy, 10, nil), []Edit{edit("a", "One.")}, "- a: One.\n- b", "a=full b=name_only?"},
		{"known, and more room", from("- a: "+x40+"\n- b", greedy, 10, &Known{Texts: map[string]string{"b": "Two."}}), []Edit{edit("a", "One.")}, "- a: One.\n- b: Two.", "a=full b=full"},
		{"hidden, and replaced", from("- a: One.\n- b", greedy, 100, nil), []Edit{edit("b", "Two.")}, "- a: One.\n- b: Two.", "a=full b=full"},

		// 71 - 1 - 2*len("- a: ") = 60: 30 for each.
		{"to one width", from("- a: One.\n- b: Two.", uniform, 71, nil), []Edit{edit("a", x40), edit("b", x40)}, "- a: " + x40[:29] + "…\n- b: " + x40[:29] + "…", "a=shortened b=shortened"},
		{"to no width", from("- a: One.\n- b: Two.", uniform, 30, nil), []Edit{edit("a", x40)}, "- a\n- b", "a=name_only b=name_only"},
		{"cut by width, hidden, and it fits now", from("- a: "+x40[:20]+"…\n- b: Two.", uniform, 40, nil), []Edit{edit("b", "T")}, "- a: " + x40[:20] + "…\n- b: T", "a=shortened? b=full"},

		{"the tail is cut", from("- a: One.\n- b: Two.", cut, 20, nil), []Edit{edit("a", "First of")}, "- a: First of\n<!-- Showing 1 of 2 skills due to token limits -->", "a=full b=absent"},
	} {
		before := fmt.Sprintf("%+v", *tt.sheet)
		l := tt.sheet.Make(tt.edits)
		if l.Text != tt.text || show(l) != tt.shown {
			t.Errorf("%s:\n got %q %s\nwant %q %s", tt.name, l.Text, show(l), tt.text, tt.shown)
		}
		if after := fmt.Sprintf("%+v", *tt.sheet); after != before {
			t.Errorf("%s: the sheet is another:\n%s\n%s", tt.name, before, after)
		}
		for name, f := range l.Best() {
			if f != l.Of(name) {
				t.Errorf("%s: %s: %p is not %p", tt.name, name, f, l.Of(name))
			}
		}
	}
}

// FuzzMake: a listing of a log without an edit stays as it is recorded, and so it does if
// entries are edited to what they are; two runs make the same bytes, and no budget is
// passed but by names.
func FuzzMake(f *testing.F) {
	f.Add("- a: One.\n- b\n- c: Three and more.", uint8(0), 20, "a", "Two.")
	f.Add("- a: One an…\n- b: Two.\n- a: Three", uint8(1), 30, "b", strings.Repeat("y", 60))
	f.Add("- p:a: One.\n- 你好: 技能。\n- x", uint8(2), 3, "new", "\xed\xa0\xbd")
	f.Fuzz(func(t *testing.T, text string, method uint8, limit int, name, now string) {
		if len(text) > 2000 || len(now) > 2000 || strings.ContainsAny(name, "\n") {
			return
		}
		size := []budget.Size{greedy, uniform, cut, {Overflow: budget.OverflowStrip, Unit: budget.UnitUTF16}}[method%4]
		lines := skills.ParseListing(text, nil)
		s := from(text, size, min(max(limit, 0), 1<<20), nil)
		s.rank(nil, s.Where.Time)
		none := s.Make(nil)
		same := make([]Edit, 0, len(s.Lines))
		twice := map[string]int{}
		for i := range s.Lines {
			twice[s.Lines[i].Name]++
		}
		for i := range s.Lines {
			if l := &s.Lines[i]; !l.Hidden && twice[l.Name] == 1 {
				e := Edit{Name: l.Name, Line: l.Line, Capped: l.Capped}
				if s.Changes(&e) {
					t.Fatalf("%s: %q is no change", l.Name, l.Text)
				}
				same = append(same, e)
			}
		}
		if again := s.Make(same); again.Text != none.Text || show(again) != show(none) {
			t.Fatalf("edited to what it was: %q %s, not %q %s", again.Text, show(again), none.Text, show(none))
		}
		if !none.Over() && size.Overflow != budget.OverflowCut {
			for i, f := range none.Forms {
				if raw := lines[s.Lines[i].At].Raw; f.Text != raw || f.Shown != s.Lines[i].Was {
					t.Fatalf("%q became %q, %s not %s", raw, f.Text, f.Shown, s.Lines[i].Was)
				}
			}
		}
		edits := []Edit{{Name: name, Line: entry(name, now)}, {Name: name, New: true, Line: entry(name, now)}, {Name: name, Gone: true}}
		for i := range edits {
			l, again := s.Make(edits[i:i+1]), s.Make(edits[i:i+1])
			if l.Text != again.Text || show(l) != show(again) {
				t.Fatal("two runs differ")
			}
			if edits[i].Gone && l.Of(name) != nil {
				t.Fatalf("%s is gone and stands as %s", name, l.Of(name).Shown)
			}
			if edits[i].New && l.Of(name) == nil {
				t.Fatalf("%s is new and stands nowhere", name)
			}
			bare := max(len(l.Forms)-1, 0)
			for j := range l.Forms {
				if f := &l.Forms[j]; (f.Shown == replay.ShownAbsent) != (f.Text == "") {
					t.Fatalf("%s is %s as %q", f.Name, f.Shown, f.Text)
				} else if f.Shown != replay.ShownAbsent {
					bare += max(budget.Width(size.Unit, "- "+f.Name), f.Size)
				}
			}
			if l.Used > l.Budget && size.Overflow != budget.OverflowCut && l.Used > bare {
				t.Fatalf("%d of %d used", l.Used, l.Budget)
			}
		}
	})
}

func TestRoom(t *testing.T) {
	texts := &Known{Texts: map[string]string{"b": "Two and more.", "c": "Three and more.", "d": "Four and more."}}
	for _, tt := range []struct {
		name, text string
		size       budget.Size
		limit      int
		want       int // 0: the limit
	}{
		{"room for none", "- a: One.\n- b\n- c\n- d", greedy, 28, 0},
		{"room for one, which may have been longer", "- a: One.\n- b: Two and more.\n- c\n- d", greedy, 50, 0},
		{"room for all that were left out", "- a: One.\n- b\n- c\n- d", greedy, 100, 21},
		{"all in", "- a: One.\n- b: Two and more.", greedy, 100, 0},
	} {
		s := from(tt.text, tt.size, tt.limit, texts)
		if tt.want == 0 {
			tt.want = tt.limit
		}
		if got := s.room(budget.Width(tt.size.Unit, tt.text)); got != tt.want {
			t.Errorf("%s: %d of %d (%d), want %d", tt.name, got, tt.limit, budget.Width(tt.size.Unit, tt.text), tt.want)
		}
	}
	// A width tells its budget.
	long := &Known{Texts: map[string]string{}}
	var whole []string
	for _, name := range []string{"a", "b", "c"} {
		long.Texts[name] = strings.Repeat(name, 300)
		whole = append(whole, "- "+name+": "+long.Texts[name])
	}
	sent := from(strings.Join(whole, "\n"), uniform, 0, nil).Trim(400).Text
	s := from(sent, uniform, 800, long)
	if s.Budget = s.room(budget.Width(uniform.Unit, sent)); s.Budget >= 800 || s.Make(nil).Text != sent {
		t.Errorf("%d: %s\nwant %s", s.Budget, s.Make(nil).Text, sent)
	}
}
