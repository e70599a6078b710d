package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// complete asks for the completion of a command line, whose last word is not whole.
func complete(t testing.TB, home string, args ...string) (words []string, directive string) {
	t.Helper()
	var out, errs bytes.Buffer
	getenv := func(key string) string { return map[string]string{"HOME": home}[key] }
	if status := Main(append([]string{"__complete"}, args...), &out, &errs, getenv); status != statusOK {
		t.Errorf("%q: status %d, %s", args, status, &errs)
	}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, ":") {
			return words, line
		}
		words = append(words, line)
	}
	t.Errorf("%q: no directive: %q", args, out.String())
	return nil, ""
}

func TestComplete(t *testing.T) {
	home := exampleHome(t)
	t.Chdir(filepath.Join(home, "shop"))
	const id = "5274deb5-0000-4000-8000-000000000001"
	const (
		files   = ":0"
		noFiles = ":4"
		noSpace = ":6"
		ordered = ":36" // without names of files
		paths   = ":32" // names of files where nothing fits
	)
	for _, tt := range []struct {
		line      string // the last word is what was typed of it
		want      []string
		no        string // what must not be offered
		directive string
	}{
		{"replay ", []string{"latest\tthe newest session", id + "\t"}, "", paths},
		{"replay 52", []string{id + "\t"}, "latest", paths},
		{"replay x", nil, id, paths},
		{"replay ./", nil, id, files},
		{"replay " + id + " ", nil, id, paths},
		{"timeline --session 5", []string{id + "\t"}, "", paths},
		{"test init 5", []string{id}, "", paths},
		{"why ", []string{"commit\ta skill in ", "deploy\ta skill in "}, "", noFiles},
		{"why de", []string{"deploy\t"}, "commit", noFiles},
		{"why deploy 5", []string{id}, "deploy", paths},
		{"why --all 5", []string{id}, "deploy", paths},
		{"timeline --skill c", []string{"commit"}, "deploy", noFiles},
		{"replay --client ", []string{"claude-code@2.1.332\tthe newest recorded", "mini-cc"}, "", ordered},
		{"rules --diff 2.1", []string{"2.1.332", "2.1.105"}, "claude-code@", ordered},
		{"rules ", []string{"2.1.332", "mini-cc"}, "", ordered},
		{"cost --by sk", []string{"layer", "skill"}, "", noSpace},
		{"cost --by skill,", []string{"skill,layer"}, "skill,skill", noSpace},
		{"cost --what-if ", []string{"remove=\t", "model=\t"}, "", ":38"},
		{"cost --what-if remove=", []string{"remove=deploy\t"}, "", noSpace},
		{"cost --what-if remove=commit,d", []string{"remove=commit,deploy\t"}, "remove=commit,commit", noSpace},
		{"cost --what-if model=", []string{"model=claude-sonnet-4-5"}, "", noFiles},
		{"test --scorer ", []string{"visible", "live"}, "", noSpace},
		{"test --baseline ", []string{"log", "git:"}, "", noFiles},
		{"timeline --kind ", []string{"input", "skill_call"}, "", noSpace},
		{"cost --format ", []string{"table", "json", "csv"}, "", noFiles},
		{"cost --top ", nil, "", noFiles},
		{"cost --since ", nil, "", noFiles},
		{"cost --output ", nil, "", files},
		{"replay --skills ", nil, "", ":16"},
		{"replay --rules ", []string{"yaml"}, "", ":8"},
		{"test ", []string{"yaml"}, "", ":8"},
		{"conform ", nil, "", ":16"},
		{"version ", nil, "", noFiles},
		{"config co", []string{"cost\tWhat sessions cost"}, "", noFiles},
		{"--no", []string{"--no-config\t"}, "", noFiles},
		{"co", []string{"cost\t", "config\t", "completion\t"}, "why", noFiles},
	} {
		words, directive := complete(t, home, strings.Split(tt.line, " ")...)
		for _, want := range tt.want {
			if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, want) }) {
				t.Errorf("%q: %q is not offered, but %q", tt.line, want, words)
			}
		}
		if tt.no != "" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, tt.no) }) {
			t.Errorf("%q: %q is offered", tt.line, tt.no)
		}
		if tt.directive != directive {
			t.Errorf("%q: directive %s, want %s", tt.line, directive, tt.directive)
		}
	}
	if words, _ := complete(t, home, "replay", "52"); len(words) != 1 || !strings.HasSuffix(words[0], filepath.Join(home, "shop")) {
		t.Errorf("not described by its project: %q", words)
	}
}

// What is broken, hostile or missing ends no completion and says nothing.
func TestCompleteQuietly(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	if words, _ := complete(t, home, "replay", "x"); len(words) > 0 {
		t.Errorf("offered %q", words)
	}
	project := filepath.Join(home, ".claude", "projects", "p")
	for name, text := range map[string]string{
		"5274deb5-0000-4000-8000-000000000001.jsonl": `{"type":"user","sessionId":"5274deb5-0000-4000-8000-000000000001","uuid":"u","timestamp":"2026-11-28T09:00:00Z","cwd":"/a\tb\n\u001b[31mc","message":{"role":"user","content":"x"}}` + "\n",
		"\x1b[31mred.jsonl":                          "{}",
		"binary.jsonl":                               "\x00\x01\x02",
		"empty.jsonl":                                "",
	} {
		path := filepath.Join(project, name)
		if err := os.MkdirAll(project, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, configName), []byte("nonsense: [\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	words, _ := complete(t, home, "replay", "")
	if len(words) != 5 {
		t.Errorf("offered %q", words)
	}
	for _, w := range words {
		if strings.Contains(w, "\x1b") || strings.Count(w, "\t") != 1 {
			t.Errorf("acts on a terminal, or has two descriptions: %q", w)
		}
	}
	complete(t, home, "why", "")
	complete(t, home, "cost", "--what-if", "remove=")
	complete(t, home, "replay", "--nonsense", "")
	complete(t, home, "nonsense", "")
}

// Of many sessions the newest are offered.
func TestCompleteNewest(t *testing.T) {
	home := manySessions(t, 200)
	words, _ := complete(t, home, "replay", "a0")
	if len(words) > completeSessions+1 || len(words) < completeSessions || !strings.HasPrefix(words[0], "a0000199") {
		t.Errorf("%d offered, first %q", len(words), words[:min(1, len(words))])
	}
}

// manySessions is a home with n sessions, each newer than the one before.
func manySessions(t testing.TB, n int) string {
	t.Helper()
	home := t.TempDir()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		id := fmt.Sprintf("a%07d-0000-4000-8000-000000000000", i)
		path := filepath.Join(home, ".claude", "projects", fmt.Sprintf("p%d", i%50), id+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf(`{"type":"user","sessionId":%q,"uuid":"u","timestamp":"2026-11-28T09:00:00Z","version":"2.1.332","cwd":"/home/dev/p%d","message":{"role":"user","content":"x"}}`+"\n", id, i%50)
		if err := os.WriteFile(path, []byte(strings.Repeat(line, 20)), 0o644); err != nil {
			t.Fatal(err)
		}
		at := start.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func BenchmarkComplete(b *testing.B) {
	home := manySessions(b, 5000)
	for _, line := range []string{"replay ", "why "} {
		b.Run(strings.TrimSpace(line), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				complete(b, home, strings.Split(line, " ")...)
			}
		})
	}
}
