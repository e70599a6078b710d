package skills

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseListing(t *testing.T) {
	for _, c := range []struct {
		content, names, want string // names joined by commas; want: name=alias=text, "-" for a bare one
	}{
		{"- a: text\n- b\n- plug:c: text", "", "a==text|b==-|plug:c==text"},
		{"- a: text\n- b\n- plug:c: text", "a,b,plug:c", "a==text|b==-|plug:c==text"},
		{"- f (alias): t: u", "", "f=alias=t: u"},
		{"- p:f (p:g.h)", "p:f", "p:f=p:g.h=-"},
		{"- a: x\nmore\n\n- b: y", "", "a==x\nmore\n|b==y"},
		{"- a: x\n- and a point\n- b: y", "", "a==x\n- and a point|b==y"},
		{"- a: x\n- fake: z\n- b: y", "a,b", "a==x\n- fake: z|b==y"},
		{"- a: x\n- fake: z\n- b: y", "a,c", "a==x|fake==z|b==y"},
		{"- xx: x\n- xxx-x: y", "ab,loo-p", "ab==x|loo-p==y"},
		{"- two words: x\n- b c", "", "two words==x|b c==-"},
		{"- two words: x\n- b", "two words,b", "two words==x|b==-"},
		{"- a:b:c: x", "", "a:b:c==x"},
		{"- a: x\n<!-- Showing 1 of 2 skills due to token limits -->", "", "a==x|==-"},
		{"- a: x\n<!-- Showing 1 of 2 skills due to token limits -->", "a", "a==x|==-"},
		{"Available skills:\n- a: x", "", "==-|a==x"},
		{"Available skills:\n- a: x", "a", "==-|a==x"},
		{"- a: ", "", "a=="},
		{"- n:\nm", "", "n==\nm"},
		{"- n\nm: k", "", "n==\nm: k"},
		{"no entries", "", "==-"},
	} {
		var names []string
		if c.names != "" {
			names = strings.Split(c.names, ",")
		}
		lines := ParseListing(c.content, names)
		var got []string
		for _, l := range lines {
			text := l.Text
			if l.Bare || l.Name == "" {
				text = "-"
			}
			got = append(got, fmt.Sprintf("%s=%s=%s", l.Name, l.Alias, text))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q with %q:\n got %q\nwant %q", c.content, names, strings.Join(got, "|"), c.want)
		}
		if JoinListing(lines) != c.content {
			t.Errorf("%q: joined %q", c.content, JoinListing(lines))
		}
	}
	if ParseListing("", nil) != nil {
		t.Error("an empty listing has no entries")
	}
}

// TestParseBlankNames: names with blanks are found where they are known, and only there.
func TestParseBlankNames(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"- a: x\n- two words: y\n- b: z", "a=x|two words=y|b=z"},
		{"- two words: y\n- a: x", "two words=y|a=x"},
		{"- a: x\n- two words", "a=x|two words="},
		{"- a: x\n- two words and more: y", "a=x|two words and more=y"},
		{"- a: x\n- two wordsmiths: y", "a=x\n- two wordsmiths: y"},
		{"- a: x\n- xxx xxxxx: xx", "a=x|two words=xx"},
	} {
		lines := ParseListing(c.content, nil, "two words", "two words and more")
		var got []string
		for _, l := range lines {
			got = append(got, l.Name+"="+l.Text)
		}
		if strings.Join(got, "|") != c.want || JoinListing(lines) != c.content {
			t.Errorf("%q: got %q, want %q", c.content, strings.Join(got, "|"), c.want)
		}
	}
}

func FuzzParseListing(f *testing.F) {
	for _, s := range []string{
		"- a: text\n- b\n- plug:c: text", "- f (alias): t: u\n\n- x", "<skill>\n<name>\na\n</name>\n<description>\nd\n</description>\n<location>\nuser\n</location>\n</skill>\n", "- \n- a:\n", "\n- a", "<skill>\n<name>\n</skill>",
	} {
		f.Add(s, "a,b")
		f.Add(s, "")
	}
	f.Fuzz(func(t *testing.T, content, names string) {
		lines := ParseListing(content, strings.Split(names, ","))
		if got := JoinListing(lines); got != content {
			t.Fatalf("%q became %q", content, got)
		}
		Duplicates(lines)
		if got := JoinListing(ParseListing(content, nil, strings.Split(names, ",")...)); got != content {
			t.Fatalf("%q became %q", content, got)
		}
	})
}

func TestDuplicates(t *testing.T) {
	parse := func(s string) []ListedLine { return ParseListing(s, nil) }
	lines := parse(strings.Join([]string{
		"- x: same", "- plug:y: yes", "- p1:z: text", "- k:k: command", "- m: use it, not for n/m", "- x: same", "- y: yes",
		"- p2:z: text", "- k:k: skill", "- n: not for m, use n/m",
	}, "\n"))
	got := Duplicates(lines)
	var kinds []string
	for _, d := range got {
		kinds = append(kinds, fmt.Sprint(d.Kind, d.Entries, d.SameText))
	}
	want := "exact[0 5] true|alias[1 6] true|two-prefixes[2 7] true|command-and-skill[3 8] false"
	if strings.Join(kinds, "|") != want {
		t.Errorf("got %s\nwant %s", strings.Join(kinds, "|"), want)
	}
	if Redundant(got) != 4 {
		t.Errorf("%d redundant", Redundant(got))
	}
	if d := Duplicates(parse("- a: 1\n- a: 2\n- p:b\n- q:b\n- p:c: 1\n- q:c: 2")); len(d) != 1 || d[0].Kind != DuplicateName {
		t.Errorf("%+v", d)
	}
	// An alias says nothing new only where its text is the same.
	for _, tt := range []struct{ listing, want string }{
		{"- plug:y: one\n- y: another", ""},
		{"- plug:y: one\n- y: another\n- more:y: another", "[alias [1 2]]"},
		{"- plug:y: one\n- y: another\n- more:y: one", "[two-prefixes [0 2]]"},
		{"- plug:y\n- y: text", ""},
	} {
		got := ""
		for _, d := range Duplicates(parse(tt.listing)) {
			got += fmt.Sprint([]any{d.Kind, d.Entries})
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.listing, got, tt.want)
		}
	}
}

func BenchmarkParseListing(b *testing.B) {
	var content strings.Builder
	var names []string
	for i := range 400 {
		fmt.Fprintf(&content, "- skill-%03d: %s\n", i, strings.Repeat("words ", 20))
		names = append(names, fmt.Sprintf("skill-%03d", i))
	}
	b.SetBytes(int64(content.Len()))
	b.ReportAllocs()
	for b.Loop() {
		ParseListing(content.String(), names)
	}
}
