package rules

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

var overlays = []struct{ name, text, err string }{
	{"one", "- since: 2.1.340\n  key: entry.cap\n  value: 2048\n", ""},
	{"all kinds", `- {since: 2.1.340, key: entry.clean, value: false, summary: none, evidence: "mine: seen"}
- {since: 2.1.340, key: listing.overflow, value: cut}
- {since: 2.1.341, key: listing.overflow, value: greedy}
- {since: v2.1.340, key: call.input_key, value: command}
- {since: 2.1.340, key: budget.million_models, value: [claude-a, claude-b]}
- {since: 2.1.340, key: models.effort, value: []}
`, ""},
	{"none", "[]\n", ""},
	{"empty", "", "f.yaml:1: want a list of rules, the file is empty"},
	{"a map", "since: 2.1.340\n", "f.yaml:1: want a list of rules, each with since, key and value"},
	{"null", "~\n", "f.yaml:1: want a list of rules, each with since, key and value"},
	{"entry is a text", "\n- x\n", "f.yaml:2: want a map with since, key and value"},
	{"unknown field", "- since: 2.1.1\n  key: entry.cap\n  valeu: 3\n", `f.yaml:3: unknown field "valeu": want since, key, value, summary or evidence`},
	{"field twice", "- since: 2.1.1\n  since: 2.1.2\n", "f.yaml:2: since stands twice"},
	{"no since", "- key: entry.cap\n  value: 3\n", "f.yaml:1: since is missing"},
	{"no key", "- since: 2.1.1\n  value: 3\n", "f.yaml:1: key is missing"},
	{"no value", "- since: 2.1.1\n  key: entry.cap\n", "f.yaml:1: value is missing"},
	{"null key", "- since: 2.1.1\n  key: ~\n  value: 3\n", "f.yaml:2: key: want a text"},
	{"list as since", "- since: [2]\n  key: entry.cap\n  value: 3\n", "f.yaml:1: since: want a text"},
	{"no version", "- since: 2.1\n  key: entry.cap\n  value: 3\n", `f.yaml:1: since: "2.1" is not a version: want three numbers, such as 2.1.140`},
	{"no such rule", "- since: 2.1.1\n  key: words.colour\n  value: 3\n", `f.yaml:2: no rule is called "words.colour": this group has words.blanks, words.bash, words.first_plain, words.keep_backslashes, words.escape_bang, words.bracket_word, words.backticks, words.backslash_blank, words.trailing_empty_dropped`},
	{"no such group", "- since: 2.1.1\n  key: colour\n  value: 3\n", `f.yaml:2: no rule is called "colour"`},
	{"text for a number", "- since: 2.1.1\n  key: entry.cap\n  value: \"3\"\n", "f.yaml:3: entry.cap: want a number from 0 to 10000000"},
	{"negative", "- since: 2.1.1\n  key: entry.cap\n  value: -3\n", "f.yaml:3: entry.cap: -3 is out of range: want 0 to 10000000"},
	{"too large", "- since: 2.1.1\n  key: entry.cap\n  value: 99999999999999999999\n", "f.yaml:3: entry.cap: want a number from 0 to 10000000"},
	{"word for a flag", "- since: 2.1.1\n  key: entry.clean\n  value: \"true\"\n", "f.yaml:3: entry.clean: want true or false"},
	{"no such choice", "- since: 2.1.1\n  key: listing.overflow\n  value: wrap\n", `f.yaml:3: listing.overflow: "wrap" is none of cut, uniform, greedy, strip`},
	{"list for a text", "- since: 2.1.1\n  key: listing.overflow\n  value: [cut]\n", "f.yaml:3: listing.overflow: want one of cut, uniform, greedy, strip"},
	{"text for a list", "- since: 2.1.1\n  key: models.effort\n  value: x\n", "f.yaml:3: models.effort: want a list of texts"},
	{"numbers in a list", "- since: 2.1.1\n  key: models.effort\n  value: [1]\n", "f.yaml:3: models.effort: want a list of texts"},
	{"alias", "- &a {since: 2.1.1, key: entry.cap, value: 3}\n- *a\n", "f.yaml:2: want a map with since, key and value"},
	{"given twice", "- {since: 2.1.1, key: entry.cap, value: 3}\n- {since: v2.1.1, key: entry.cap, value: 4}\n", "f.yaml:2: entry.cap has a value for 2.1.1 already, on line 1"},
	{"not YAML", "- since: [\n", "f.yaml:1: not YAML: did not find expected node content"},
	{"two documents", "[]\n---\n[]\n", "f.yaml:2: a second document: want one list"},
	{"two errors", "- x\n- y\n", "f.yaml:1: want a map with since, key and value\nf.yaml:2: want a map with since, key and value"},
	{"long name", "- since: 2.1.1\n  key: " + strings.Repeat("k", 900) + "\n  value: 3\n", `f.yaml:2: no rule is called "` + strings.Repeat("k", 60) + `…"`},
	{"long text", "- since: 2.1.1\n  key: entry.cap\n  summary: " + strings.Repeat("k", 2000) + "\n  value: 3\n", "f.yaml:3: summary: longer than 1000 bytes"},
}

func TestReadOverlay(t *testing.T) {
	for _, c := range overlays {
		changes, err := ReadOverlay("f.yaml", strings.NewReader(c.text))
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.err != "" && (err == nil || err.Error() != c.err):
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.err)
		case err == nil:
			if _, err := table(t).With(changes); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	changes, err := ReadOverlay("f", strings.NewReader(overlays[0].text))
	want := []Change{{Since: "2.1.340", Key: "entry.cap", Value: 2048, Confidence: Given}}
	if err != nil || !reflect.DeepEqual(changes, want) {
		t.Errorf("%+v, %v", changes, err)
	}
}

func TestReadOverlayBounds(t *testing.T) {
	if _, err := ReadOverlay("f", bytes.NewReader(make([]byte, maxOverlayBytes+1))); err == nil || err.Error() != "f: larger than 1048576 bytes" {
		t.Errorf("%v", err)
	}
	if _, err := ReadOverlay("f", strings.NewReader(strings.Repeat("- x\n", maxOverlayChanges+1))); err == nil || err.Error() != "f:1: more than 1000 rules" {
		t.Errorf("%v", err)
	}
	_, err := ReadOverlay("f", strings.NewReader(strings.Repeat("- x\n", maxOverlayChanges)))
	if n := strings.Count(err.Error(), "\n") + 1; n != maxOverlayErrors {
		t.Errorf("%d errors", n)
	}
	broken := errors.New("broken disk")
	if _, err := ReadOverlay("f", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func FuzzReadOverlay(f *testing.F) {
	for _, c := range overlays {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		changes, err := ReadOverlay("f", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error without place: %v", err)
			}
			return
		}
		u, err := table(t).With(changes)
		if err != nil {
			t.Fatalf("read, but not laid over: %v", err)
		}
		for _, c := range changes {
			if _, err := u.At(c.Since); err != nil {
				var old *TooOldError
				if !errors.As(err, &old) {
					t.Errorf("%s: %v", c.Since, err)
				}
			}
		}
	})
}

var update = flag.Bool("update", false, "rewrite docs/rules.md")

// TestDialects compares the checked-in page on the clients that are only described
// with their tables.
func TestDialects(t *testing.T) {
	var got bytes.Buffer
	if err := Dialects(&got); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "docs", "dialects.md")
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run go test ./replay/rules -run TestDialects -update", err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("docs/dialects.md is not what the tables say: run go test ./replay/rules -run TestDialects -update")
	}
	// Every rule of every client stands there, and every point that is described.
	chapters := strings.Split(got.String(), "\n## ")[1:]
	n := 0
	for _, client := range Clients() {
		tab, err := For(client)
		if err != nil {
			t.Fatal(err)
		}
		if tab.Described == nil {
			continue
		}
		if n >= len(chapters) || !strings.HasPrefix(chapters[n], client+"\n") {
			t.Fatalf("no chapter on %s", client)
		}
		own, err := tab.Effective("")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range own {
			if strings.Count(chapters[n], "`"+r.Key+"`") != 1 {
				t.Errorf("%s: %s stands %d times", client, r.Key, strings.Count(chapters[n], "`"+r.Key+"`"))
			}
			if r.Confidence == Documented && !strings.Contains(chapters[n], cell(r.Summary)) {
				t.Errorf("%s: %q is missing", client, r.Summary)
			}
		}
		n++
	}
}

// TestReference compares the checked-in reference with the table.
func TestReference(t *testing.T) {
	var got bytes.Buffer
	if err := table(t).Markdown(&got); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "docs", "rules.md")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run go test ./replay/rules -run TestReference -update", err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("docs/rules.md is not what the table says: run go test ./replay/rules -run TestReference -update")
	}
	for _, k := range Keys() {
		if !strings.Contains(got.String(), "`"+k.Name+"`") {
			t.Errorf("%s is missing", k.Name)
		}
	}
	for i, line := range strings.Split(got.String(), "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") - 1
		if cells != 3 && cells != 6 {
			t.Errorf("line %d has %d cells: %s", i+1, cells, line)
		}
	}
}

func TestMarkdownWriteError(t *testing.T) {
	broken := errors.New("broken pipe")
	if err := table(t).Markdown(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func BenchmarkAt(b *testing.B) {
	tab := table(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tab.At("2.1.140"); err != nil {
			b.Fatal(err)
		}
	}
}
