package local

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// The recorded client keeps its rules: whatever of its files is at hand, and however
// they were edited since, no session of it may be reported as divergent.
func TestNoFalseDivergence(t *testing.T) {
	root := recordings()
	versions := "2.*"
	if testing.Short() {
		versions = "2.1.332"
	}
	for _, family := range []string{"lifecycle", "interactive", "fuzz"} {
		dirs, err := filepath.Glob(filepath.Join(root, family, "*", versions))
		if err != nil {
			t.Fatal(err)
		}
		if len(dirs) == 0 {
			t.Skip("no recordings")
		}
		for _, tt := range []struct {
			name string
			edit func(path, text string) string // of a skill's file; nil: there are no files
		}{
			{"no files", nil},
			{"files as at the start", func(_, s string) string { return s }},
			{"files edited since", func(path, s string) string {
				if !strings.HasSuffix(path, ".md") {
					return s
				}
				s = strings.ReplaceAll(s, "description: ", "description: New ")
				if !strings.HasPrefix(s, "---") {
					return "Edited.\n" + s
				}
				return strings.ReplaceAll(s, "\n---\n", "\n---\nEdited.\n")
			}},
		} {
			t.Run(family+"/"+tt.name, func(t *testing.T) {
				checks := map[replay.Verdict]int{}
				for _, dir := range dirs {
					if err := judge(dir, tt.edit, func(file string, c *replay.Check) {
						checks[c.Verdict]++
						if c.Verdict == replay.Divergent {
							t.Errorf("%s/%s: line %d %s %s: %s\n want %.300q\n have %.300q", strings.TrimPrefix(dir, root), file, c.Where.Line, c.Kind, c.Skill, c.Reason, c.Expected, c.Observed)
						}
						if c.Verdict == replay.Undetermined && c.Missing == "" {
							t.Errorf("%s/%s: line %d %s: nothing is missing", strings.TrimPrefix(dir, root), file, c.Where.Line, c.Kind)
						}
					}); err != nil {
						t.Fatal(err)
					}
				}
				if checks[replay.Match] == 0 {
					t.Error("nothing matches")
				}
				t.Logf("%v", checks)
			})
		}
	}
}

// A client that does not keep its rules is found out, also with files that were read
// later.
func TestDivergence(t *testing.T) {
	root := recordings()
	if _, err := os.Stat(root); err != nil {
		t.Skip("no recordings")
	}
	for _, tt := range []struct {
		name, dir, old, new string
		kind                replay.CheckKind
	}{
		{"a body put back is another", "lifecycle/compact/2.1.332", `"type":"invoked_skills","skills":[{"name":"big-a","path":"userSettings:big-a","content":"`, `"type":"invoked_skills","skills":[{"name":"big-a","path":"userSettings:big-a","content":"X`, replay.CheckReattachment},
		{"a note says something else", "lifecycle/probe/2.1.332", "is already loaded above; instructions unchanged.", "is there.", replay.CheckNote},
		{"a body comes again in place of a note", "lifecycle/probe/2.1.332", "Skill /same-b is already loaded above; instructions unchanged.", "Base directory for this skill: /x/same-b", replay.CheckNote},
		{"a malformed call is refused otherwise", "lifecycle/probe/2.1.332", "InputValidationError", "InputError", replay.CheckRefusal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed, divergent := 0, 0
			err := judge(filepath.Join(root, tt.dir), func(path, s string) string {
				if strings.HasSuffix(path, ".jsonl") {
					changed += strings.Count(s, tt.old)
					s = strings.ReplaceAll(s, tt.old, tt.new)
				}
				return s
			}, func(_ string, c *replay.Check) {
				if c.Verdict == replay.Divergent && c.Kind == tt.kind {
					divergent++
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if changed == 0 || divergent == 0 {
				t.Errorf("%d places changed, %d divergent", changed, divergent)
			}
		})
	}
}

// recordings is the folder with the recordings, which need not exist.
func recordings() string {
	root := os.Getenv("SKILLTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	return filepath.Join(root, "conformance")
}

// judge replays the sessions of a recording as a user would, with a home that holds
// the edited files of the scenario, or from the logs alone.
func judge(dir string, edit func(path, text string) string, each func(file string, c *replay.Check)) error {
	logs := filepath.Join(dir, "sessions")
	table, err := rules.For("claude-code")
	if err != nil {
		return err
	}
	o := Options{Table: table}
	if edit != nil {
		home, err := shortDir()
		if err != nil {
			return err
		}
		defer os.RemoveAll(home)
		o.Home, o.ConfigDirs = home, []string{filepath.Join(home, ".claude")}
		if err := move(filepath.Join(filepath.Dir(dir), "files", "dev"), home, home, edit); err != nil {
			return err
		}
		if err := move(logs, filepath.Join(home, ".claude", "projects"), home, edit); err != nil {
			return err
		}
		logs = filepath.Join(home, ".claude", "projects")
	}
	finder := NewFinder(o)
	found := jsonl.Discover(logs)
	for i := range found.Sessions {
		l := &found.Sessions[i]
		source := func(name, agent, kind string) replay.Source {
			src := replay.Source{Name: name, Agent: agent, Type: kind, Records: func(func(*jsonl.Record, error) bool) {}}
			if name != "" {
				src.Records = jsonl.ReadFile(name, replay.Reading())
			}
			return src
		}
		var agents []replay.Source
		for _, a := range l.Agents {
			agents = append(agents, source(a.Path, a.ID, a.Type))
		}
		s, err := replay.Observe(source(l.Path, "", ""), agents...)
		if err != nil {
			return err
		}
		f, err := finder.Find(s)
		if err != nil {
			return err
		}
		r := replay.Run(s, &f.Inputs, replay.Comparison{Exact: f.Inputs.Exact, RulesExact: f.RulesExact, History: f.Inputs.History})
		for i := range r.Agents {
			for j := range r.Agents[i].Checks {
				each(filepath.Base(s.File), &r.Agents[i].Checks[j])
			}
		}
	}
	return nil
}

// shortDir makes a folder whose path is as long as the recorded home: what is cut
// at a length is cut at the same place.
func shortDir() (string, error) {
	for i := range 1000 {
		dir := fmt.Sprintf("/tmp/t%03d", i)
		err := os.Mkdir(dir, 0o755)
		if err == nil || !os.IsExist(err) {
			return dir, err
		}
	}
	return "", os.ErrExist
}

// move copies a tree of the recorded home to another home: paths in texts and links
// follow, and skill files are edited.
func move(from, to, home string, edit func(path, text string) string) error {
	if _, err := os.Stat(from); os.IsNotExist(err) {
		return nil
	}
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(at, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			return os.Symlink(strings.ReplaceAll(target, "/home/dev", home), at)
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(at, []byte(edit(p, strings.ReplaceAll(string(b), "/home/dev", home))), 0o644)
	})
}
