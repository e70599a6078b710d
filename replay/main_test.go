package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/fixtures"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// source is a log in memory.
func source(name, text string) replay.Source {
	return replay.Source{Name: name, Records: jsonl.Read(name, strings.NewReader(text), jsonl.Options{Sizes: true})}
}

// lines is a log of rows.
func lines(rows ...string) string { return strings.Join(rows, "\n") + "\n" }

// observe reads a log of rows.
func observe(t testing.TB, rows ...string) *replay.Session {
	t.Helper()
	s, err := replay.Observe(source("log.jsonl", lines(rows...)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fixture reads a log of ../fixtures/cases, with the agents' logs beside it.
func fixture(t testing.TB, name string) *replay.Session {
	t.Helper()
	return fixtures.Session(t, filepath.Join("../fixtures/cases", filepath.FromSlash(name)))
}

// rulesOf gives the rules of Claude Code's versions.
func rulesOf(t testing.TB) func(string) *rules.Rules {
	t.Helper()
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	latest, err := table.At("2.1.332")
	if err != nil {
		t.Fatal(err)
	}
	cache := map[string]*rules.Rules{}
	return func(version string) *rules.Rules {
		r, ok := cache[version]
		if !ok {
			x, err := ruleset(table, version)
			if err != nil {
				x = latest
			}
			r = &x
			cache[version] = r
		}
		return r
	}
}

// ruleset is that of a version, or of a client that is only described by its name.
func ruleset(table *rules.Table, version string) (rules.Rules, error) {
	if described, err := rules.For(version); err == nil && version != "" {
		return described.At("")
	}
	return table.At(version)
}

// inputs are those of one process that starts with the log. Without files, no
// skill file is known.
func inputs(t testing.TB, version string, files skills.Tree) *replay.Inputs {
	t.Helper()
	in := &replay.Inputs{Rules: rulesOf(t), Version: version, Exact: true, Processes: []replay.Process{{
		Home: "/home/dev", ConfigDir: "/home/dev/.claude", CWD: "/home/dev/shop", Model: "claude-sonnet-4-5", Window: 200_000}}}
	if files != nil {
		in.Files = replay.NewFiles(files)
		in.Given = []skills.Given{}
		in.Usage = &replay.Usage{}
	}
	return in
}

// started puts the start of a process before the first event of the main loop.
func started(s *replay.Session) {
	s.Main().Insert([]replay.Insertion{{Event: replay.Event{Kind: replay.Start, Parent: -1, Start: &replay.StartEvent{}}}})
}

// tree is a file tree of paths below the home directory and their texts.
func tree(t testing.TB, files ...string) *skills.Memory {
	t.Helper()
	m := skills.NewMemory()
	if err := m.Mkdir("/home/dev/shop"); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		if err := m.Write("/home/dev/"+files[i], []byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// folder is the tree of a folder of files as they lay below the home directory.
func folder(t testing.TB, dir string) *skills.Memory {
	t.Helper()
	m := tree(t)
	root := filepath.Join("../fixtures/cases", filepath.FromSlash(dir))
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return m.Write("/home/"+filepath.ToSlash(rel), text)
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// kinds lists the events of a timeline: kind, skill where there is one, and line.
func kinds(a *replay.Agent) string {
	var out []string
	for i := range a.Events {
		out = append(out, word(&a.Events[i]))
	}
	return strings.Join(out, " ")
}

func word(e *replay.Event) string {
	w := string(e.Kind)
	if e.Skill != "" {
		w += "(" + e.Skill + ")"
	}
	w += fmt.Sprintf("@%d", e.Where.Line)
	if e.Abandoned {
		w += "!"
	}
	return w
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s\n got %v\nwant %v", what, got, want)
	}
}
