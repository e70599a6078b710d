package body

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// A vector of testdata/words.jsonl gives the words of an argument text at some
// client versions; 2.1.80 stands for all that split before commands were parsed.
// Words that are empty at the end are left out before 2.1.211, where they could
// not be told from missing ones.
type vector struct {
	Versions []string `json:"versions"`
	Args     string   `json:"args"`
	Words    []string `json:"words"`
}

func readVectors(t testing.TB, name string) []vector {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []vector
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v: %s", name, err, lines.Bytes())
		}
		all = append(all, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSplitWords(t *testing.T) {
	options := map[string]Words{}
	for _, v := range readVectors(t, "testdata/words.jsonl") {
		for _, version := range v.Versions {
			w, ok := options[version]
			if !ok {
				w = optionsAt(version).Words
				options[version] = w
			}
			if got := SplitWords(v.Args, w); !slices.Equal(got, v.Words) {
				t.Errorf("%s: %q\n got %q\nwant %q", version, v.Args, got, v.Words)
			}
		}
	}
}

// A lone backslash leaves no command, so the text is split at white space.
func TestSplitWordsLoneBackslash(t *testing.T) {
	for args, want := range map[string][]string{`\`: {`\`}, `k=v \`: {"k=v", `\`}, "": nil, " \t\n": nil} {
		if got := SplitWords(args, optionsAt("2.1.332").Words); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
}

// Splitting must stay linear in texts that open much and close nothing.
func BenchmarkSplitWordsHostile(b *testing.B) {
	for _, unit := range []string{"(", "${", "$(", "\"$(", "f()", "a ", "[ ", "if ", "'\"", "`", "[x ", "{ "} {
		args := strings.Repeat(unit, 1<<18/len(unit))
		b.Run(unit, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(args)))
			for b.Loop() {
				SplitWords(args, optionsAt("2.1.129").Words)
				SplitWords(args, optionsAt("2.1.332").Words)
				SplitWords(args, Words{})
			}
		})
	}
}

func FuzzSplitWords(f *testing.F) {
	for i, v := range readVectors(f, "testdata/words.jsonl") {
		f.Add(v.Args, uint8(i))
	}
	f.Fuzz(func(t *testing.T, args string, bits uint8) {
		w := Words{
			Bash: bits&1 != 0, FirstPlain: bits&2 != 0, KeepBackslashes: bits&4 != 0, EscapeBang: bits&8 != 0,
			BracketWord: bits&16 != 0, Backticks: bits&32 != 0, BackslashBlank: bits&64 != 0, TrailingEmptyDropped: bits&128 != 0,
		}
		size := 0
		for _, word := range SplitWords(args, w) {
			size += len(word)
			if w.EscapeBang && strings.HasPrefix(word, "!") {
				t.Errorf("word %q keeps its !", word)
			}
		}
		if size > 2*len(args) {
			t.Errorf("%d bytes of words from %d bytes", size, len(args))
		}
	})
}

// Asked of the client at 2.1.117 and 2.1.332.
func TestEscapeBang(t *testing.T) {
	for _, tt := range []struct{ args, words, all string }{
		{"a!b c", "a!b|c", "a!b c"},
		{"x!`echo m` y", "x! `echo m`|y", "x! `echo m` y"},
		{`"p !q" r !s`, `p \!q|r|\!s`, `"p \!q" r \!s`},
		{"! alone", "alone", `\! alone`},
		{"!! two", `\!!|two`, `\!! two`},
		{"a\n!b", "a", "a\n\\!b"},
		{"(!`echo r`) z", "\\! `echo r`", "(! `echo r`) z"},
		{"'!`echo a` b' c", "\\! `echo a` b|c", "'! `echo a` b' c"},
		{"t\t!x", `t|\!x`, "t\t\\!x"},
		{`"!q" '!z'`, `\!q|\!z`, `"!q" '!z'`},
		{"$!x !$y", `$!x|\!$y`, `$!x \!$y`},
		{"-!a [!b {!c", "-!a|[!b|{!c", "-!a [!b {!c"},
		{"w !`echo q` !`echo s`", "w", "w \\! `echo q` \\! `echo s`"},
		{`\!x !`, `\!x|\!`, `\!x \!`},
		{"a!`b", "a! `b", "a! `b"},
		{"x!!`y z", "x!! `y z", "x!! `y z"},
	} {
		if got := escapeBang(tt.args); got != tt.all {
			t.Errorf("%q: %q, want %q", tt.args, got, tt.all)
		}
		if got := strings.Join(SplitWords(tt.args, optionsAt("2.1.332").Words), "|"); got != tt.words {
			t.Errorf("words of %q: %q, want %q", tt.args, got, tt.words)
		}
	}
}

// Names as long as each other stand in their order: asked of the client at 2.1.138,
// 2.1.139, 2.1.203 and 2.1.232.
func TestNamedLongest(t *testing.T) {
	render := func(version, names, body, args string) string {
		got, _ := Render(Source{Text: body, Names: strings.Fields(names)}, Call{Args: args}, testVars, optionsAt(version)).Text()
		return strings.TrimSpace(got)
	}
	for version, want := range map[string]string{"2.1.138": "a [x] c [x]", "2.1.139": "a [$second] c [x]", "2.1.232": "a [$second] c [x]"} {
		if got := render(version, "first second firsts", "a [$first] c [$second]", "$second $firstly x"); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
	for version, want := range map[string]string{"2.1.138": "p [one] q [one]", "2.1.232": "p [one] q [one]", "2.1.233": "p [$b] q [one]"} {
		if got := render(version, "a b", "p [$a] q [$b]", "'$b' one"); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
}
