package jsonl

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tree writes files below a fresh folder; a name that ends in .gz is compressed.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		b := []byte(data)
		if strings.HasSuffix(name, ".gz") {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			w.Write(b)
			w.Close()
			b = z.Bytes()
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	idA = "aaaaaaaa-0000-4000-8000-000000000001"
	idB = "aaaabbbb-0000-4000-8000-000000000002"
	idC = "cccccccc-0000-4000-8000-000000000003"
)

// begun is a record of a session, made in a folder at an hour.
func begun(id, cwd string, hour int) string {
	return fmt.Sprintf(`{"type":"user","uuid":"u","sessionId":"%s","cwd":"%s","version":"2.1.1","timestamp":"2026-11-30T%02d:00:00.000Z","message":{"role":"user","content":"x"}}`+"\n", id, cwd, hour)
}

func configTree(t *testing.T) string {
	return tree(t, map[string]string{
		"projects/-a-b/" + idA + ".jsonl":                                             `{"type":"summary","summary":"s","leafUuid":"l"}` + "\n" + begun(idA, "/a/b", 8) + begun(idA, "/a/b/sub", 12),
		"projects/-a-b/" + idA + "/subagents/agent-a1.jsonl":                          begun(idA, "/a/b", 9),
		"projects/-a-b/" + idA + "/subagents/agent-a1.meta.json":                      `{"agentType":"Explore","description":"look","toolUseId":"toolu_1","spawnDepth":2}`,
		"projects/-a-b/" + idA + "/subagents/workflows/w1/agent-a2.jsonl":             begun(idA, "/a/b", 9),
		"projects/-a-b/" + idA + "/subagents/workflows/w1/agent-a2.forked-skill.json": `{"skillName":"fork-job"}`,
		"projects/-a-b/" + idA + "/subagents/agent-acompact-77.jsonl":                 begun(idA, "/a/b", 9),
		"projects/-a-b/" + idB + ".jsonl.gz":                                          begun(idB, "/a-b", 10),
		"projects/-a-b/agent-12345678.jsonl":                                          begun(idB, "/a-b", 11),
		"projects/-a-b/sessions-index.json":                                           `{}`,
		"projects/-c/" + idC + ".jsonl":                                               "",
		"projects/-c/notes.jsonl":                                                     `{"note":1}` + "\n",
		"history.jsonl":                                                               `{"display":"x","project":"/a/b"}` + "\n",
	})
}

func brief(f Found, dir string) string {
	var s []string
	for _, x := range f.Sessions {
		line := x.ID[:min(8, len(x.ID))]
		if x.Path == "" {
			line += " gone"
		}
		for _, a := range x.Agents {
			line += " " + a.ID
		}
		for _, a := range x.Copies {
			line += " (" + a.ID + ")"
		}
		s = append(s, line)
	}
	for _, p := range f.Problems {
		rel, _ := filepath.Rel(dir, p.Path)
		s = append(s, filepath.ToSlash(rel)+": "+p.Reason)
	}
	return strings.Join(s, "; ")
}

func TestDiscover(t *testing.T) {
	dir := configTree(t)
	want := "aaaaaaaa a1 a2 (acompact-77); aaaabbbb 12345678; cccccccc; projects/-c/notes.jsonl: JSON lines, but not those of a session"
	for range 2 {
		if got := brief(Discover(dir), dir); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	found := Discover(dir)
	a := found.Sessions[0]
	if a.CWD != "/a/b" || a.Version != "2.1.1" || a.Format != FormatClaude || a.Start.Hour() != 8 || a.Empty {
		t.Errorf("%+v", a.Look)
	}
	if g := a.Agents[0]; g.Type != "Explore" || g.Description != "look" || g.ToolUse != "toolu_1" || g.Depth != 2 || a.Agents[1].Skill != "fork-job" {
		t.Errorf("%+v", a.Agents)
	}
	if !found.Sessions[2].Empty {
		t.Error("the empty log is not told")
	}
	if end, err := a.End(); err != nil || end.Hour() != 12 {
		t.Errorf("end %v %v", end, err)
	}
	if end, err := found.Sessions[1].End(); err != nil || end.Hour() != 11 {
		t.Errorf("end of a compressed log and its agent: %v %v", end, err)
	}
	if files := a.Files(); len(files) != 3 || files[0] != a.Path {
		t.Errorf("%q", files)
	}
}

func TestDiscoverPlainTree(t *testing.T) {
	dir := tree(t, map[string]string{
		"one/full.jsonl":                  begun(idA, "/a", 1),
		"two/full.jsonl":                  begun(idB, "/b", 2),
		"two/agent-abc.jsonl":             begun(idB, "/b", 3),
		"two/agent-lost.jsonl":            begun(idC, "/b", 3),
		"two/agent-empty.jsonl":           "",
		"two/requests.jsonl":              `{"run":0,"messages":[]}` + "\n",
		"three/x/subagents/agent-q.jsonl": begun(idA, "/a", 1),
		"rollout.jsonl":                   `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{}}` + "\n",
		"picture.jsonl":                   "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"node_modules/p/x.jsonl":          begun(idA, "/a", 1),
		"readme.txt":                      "x",
		"stream.jsonl":                    `{"type":"system","subtype":"init","session_id":"` + idC + `","cwd":"/s","uuid":"u"}` + "\n",
	})
	want := "aaaaaaaa; cccccccc; x gone q; cccccccc gone lost; aaaabbbb abc; " +
		"picture.jsonl: a binary file; rollout.jsonl: a log of Codex; two/agent-empty.jsonl: an empty file; two/requests.jsonl: JSON lines, but not those of a session"
	if got := brief(Discover(dir), dir); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestDiscoverLinks(t *testing.T) {
	dir := tree(t, map[string]string{"p/a/" + idA + ".jsonl": begun(idA, "/a", 1), "elsewhere/" + idB + ".jsonl": begun(idB, "/b", 1)})
	for _, l := range []struct{ to, at string }{
		{"..", "p/a/up"}, {"a", "p/again"}, {".", "p/self"}, {"../elsewhere", "p/linked"},
		{"nowhere", "p/dangling.jsonl"}, {"a/" + idA + ".jsonl", "p/same.jsonl"},
	} {
		if err := os.Symlink(filepath.FromSlash(l.to), filepath.Join(dir, filepath.FromSlash(l.at))); err != nil {
			t.Skip(err)
		}
	}
	want := "aaaaaaaa; aaaabbbb; p/dangling.jsonl: no such file or directory"
	if got := brief(Discover(filepath.Join(dir, "p")), dir); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// TestDiscoverRelative walks a tree by a relative path, from a working directory
// that a link leads to, while links in the tree lead back to it by absolute ones.
func TestDiscoverRelative(t *testing.T) {
	dir := tree(t, map[string]string{"real/p/a/" + idA + ".jsonl": begun(idA, "/a", 1)})
	for _, l := range []struct{ to, at string }{
		{"real", "way"}, {"real/p", "real/p/a/loop"}, {"real/p/a/" + idA + ".jsonl", "real/p/same.jsonl"},
	} {
		if err := os.Symlink(filepath.Join(dir, filepath.FromSlash(l.to)), filepath.Join(dir, filepath.FromSlash(l.at))); err != nil {
			t.Skip(err)
		}
	}
	t.Chdir(filepath.Join(dir, "way"))
	f := Discover("p")
	if len(f.Sessions) != 1 || f.Sessions[0].Path != filepath.Join("p", "a", idA+".jsonl") || len(f.Problems) > 0 {
		t.Errorf("%+v", f)
	}
}

func TestDiscoverUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := tree(t, map[string]string{"a/" + idA + ".jsonl": begun(idA, "/a", 1), "b/" + idB + ".jsonl": begun(idB, "/b", 1), "c/" + idC + ".jsonl": begun(idC, "/c", 1)})
	os.Chmod(filepath.Join(dir, "b"), 0)
	os.Chmod(filepath.Join(dir, "c", idC+".jsonl"), 0)
	defer os.Chmod(filepath.Join(dir, "b"), 0o755)
	if got := brief(Discover(dir), dir); got != "aaaaaaaa; b: permission denied; c/"+idC+".jsonl: permission denied" {
		t.Error(got)
	}
}

func TestDiscoverMissing(t *testing.T) {
	f := Discover(filepath.Join(t.TempDir(), "none"))
	if len(f.Sessions) != 0 || len(f.Problems) != 1 || !errors.Is(f.Problems[0].Err, os.ErrNotExist) {
		t.Errorf("%+v", f)
	}
}

func TestConfigDirs(t *testing.T) {
	home := tree(t, map[string]string{".config/claude/x": ""})
	for _, c := range []struct{ env, home, want string }{
		{"/x, /y,,", home, "/x /y"},
		{"", home, filepath.Join(home, ".config", "claude")},
		{"", "/no/such", filepath.Join("/no/such", ".claude") + " " + filepath.Join("/no/such", ".config", "claude")},
		{"", "", ""},
	} {
		env := map[string]string{"CLAUDE_CONFIG_DIR": c.env, "HOME": c.home}
		if got := strings.Join(ConfigDirs(func(k string) string { return env[k] }), " "); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestResolve(t *testing.T) {
	dir := configTree(t)
	plain := tree(t, map[string]string{
		"requests.jsonl": `{"run":0}` + "\n", "rollout.jsonl": `{"type":"session_meta","payload":{}}` + "\n", "text.txt": "hello\nworld\n",
		"pretty.json": "{\n  \"a\": 1\n}\n", "list.json": "[{\"type\":\"user\"}]", "empty.jsonl": "", "bin": "\x7FELF\x02\x01\x00\x00", "sub/none.txt": "",
		"history.jsonl": `{"display":"x","project":"/a"}`, "log.txt": begun(idA, "/a", 1),
	})
	slug := filepath.Join(dir, "projects", "-a-b")
	all := Scope{Dirs: []string{dir}}
	for _, c := range []struct {
		scope   Scope
		arg     string
		want    string // of the sessions
		problem string // part of the error
	}{
		{all, "", "aaaaaaaa a1 a2 (acompact-77); aaaabbbb 12345678; cccccccc", ""},
		{all, idA, "aaaaaaaa a1 a2 (acompact-77)", ""},
		{all, "aaaab", "aaaabbbb 12345678", ""},
		{all, "latest", "aaaaaaaa a1 a2 (acompact-77)", ""},
		{all, "-", "-", ""},
		{all, "aaaa", "", "2 sessions have ids that begin so; give more of the id, or the path\n  " + idA + "  2026-11-30T08:00:00Z  "},
		{all, "zzz", "", "zzz: no such file, and no session with this id"},
		{all, "./zzz.jsonl", "", "./zzz.jsonl: no such file"},
		{all, filepath.Join(slug, idA+".jsonl"), "aaaaaaaa a1 a2 (acompact-77)", ""},
		{all, filepath.Join(slug, idB+".jsonl.gz"), "aaaabbbb 12345678", ""},
		{all, filepath.Join(slug, "agent-12345678.jsonl"), "aaaabbbb gone 12345678", ""},
		{all, filepath.Join(slug, idA), "aaaaaaaa gone a1 a2 (acompact-77)", ""},
		{all, dir, "aaaaaaaa a1 a2 (acompact-77); aaaabbbb 12345678; cccccccc", ""},
		{Scope{Dirs: []string{dir}, Project: "/a/b/"}, "", "aaaaaaaa a1 a2 (acompact-77)", ""},
		{Scope{Dirs: []string{dir}, Project: "/a-b"}, "latest", "aaaabbbb 12345678", ""},
		{Scope{Dirs: []string{dir}, Project: "/a"}, "", "aaaaaaaa a1 a2 (acompact-77)", ""},
		{Scope{Dirs: []string{dir}, Project: "/nope"}, "", "", "no session was begun in /nope; name another --project"},
		{Scope{Dirs: []string{plain}}, idA, "", "no session with this id"},
		{Scope{Dirs: []string{filepath.Join(plain, "sub")}}, "", "", "no session logs; name the folder that holds projects with --config-dir"},
		{Scope{Dirs: []string{filepath.Join(plain, "gone")}}, "latest", "", filepath.Join(plain, "gone") + ": no session logs (no such file or directory); name the folder"},
		{Scope{Dirs: []string{filepath.Join(plain, "a"), filepath.Join(plain, "b")}}, "", "",
			filepath.Join(plain, "a") + ", " + filepath.Join(plain, "b") + ": no session logs (no such file or directory); name the folder"},
		{Scope{Dirs: []string{filepath.Join(plain, "sub"), filepath.Join(plain, "b")}}, "", "",
			": no session logs (" + filepath.Join(plain, "b") + ": no such file or directory); name the folder"},
		{Scope{}, "", "", "no folder to look for sessions in; name one with --config-dir"},
		{all, filepath.Join(plain, "sub"), "", "a folder without session logs; expected a session log of Claude Code"},
		{all, filepath.Join(plain, "requests.jsonl"), "", "not a session log: JSON lines, but not those of a session; expected"},
		{all, filepath.Join(plain, "rollout.jsonl"), "", "not a session log: a log of Codex; expected"},
		{all, filepath.Join(plain, "history.jsonl"), "", "not a session log: the history of prompts, not a session; expected"},
		{all, filepath.Join(plain, "text.txt"), "", "not a session log: not JSON; expected"},
		{all, filepath.Join(plain, "pretty.json"), "", "not a session log: JSON that does not stand on one line; expected"},
		{all, filepath.Join(plain, "list.json"), "", "not a session log: JSON, but not one record a line; expected"},
		{all, filepath.Join(plain, "bin"), "", "not a session log: a binary file; expected"},
		{all, filepath.Join(plain, "empty.jsonl"), "empty", ""},
		{all, filepath.Join(plain, "log.txt"), "aaaaaaaa", ""},
	} {
		found, err := c.scope.Resolve(c.arg)
		if c.problem != "" {
			var e *InputError
			if err == nil || !errors.As(err, &e) || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%q: %v, want %q", c.arg, err, c.problem)
			}
			continue
		}
		found.Problems = nil
		if got := brief(found, dir); err != nil || got != c.want {
			t.Errorf("%q: %s, %v, want %s", c.arg, got, err, c.want)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		dir, project string
		want         bool
	}{
		{"/a/b", "/a/b", true}, {"/a/b/c", "/a/b/", true}, {"/a/bc", "/a/b", false}, {"/a", "/a/b", false}, {"", "/", false},
		{"/a", "/", true}, {`C:\work\x`, `C:\work`, true}, {`C:\workx`, `C:\work`, false}, {`C:\work\x`, "C:/work", true},
	} {
		if within(c.dir, c.project) != c.want {
			t.Errorf("%q within %q: not %v", c.dir, c.project, c.want)
		}
	}
}

func TestLastTime(t *testing.T) {
	at := func(log string) string {
		path := filepath.Join(tree(t, map[string]string{"x.jsonl": log}), "x.jsonl")
		last, err := lastTime(path)
		if err != nil {
			t.Fatal(err)
		}
		if last.IsZero() {
			return ""
		}
		return last.Format(time.TimeOnly)
	}
	plain := `{"type":"mode","mode":"normal","sessionId":"s"}` + "\n"
	for _, c := range []struct{ name, log, want string }{
		{"empty", "", ""},
		{"without times", plain, ""},
		{"out of order", begun(idA, "/a", 5) + begun(idA, "/a", 4), "05:00:00"},
		{"behind many lines without", begun(idA, "/a", 5) + strings.Repeat(plain, 10_000), "05:00:00"},
		{"in a long log", strings.Repeat(begun(idA, "/a", 3), 2000) + begun(idA, "/a", 6), "06:00:00"},
	} {
		if got := at(c.log); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestOpen(t *testing.T) {
	log := begun(idA, "/a", 1)
	dir := tree(t, map[string]string{"a.jsonl": log, "b.jsonl.gz": log})
	packed, _ := os.ReadFile(filepath.Join(dir, "b.jsonl.gz"))
	os.WriteFile(filepath.Join(dir, "renamed.jsonl"), packed, 0o644)
	os.WriteFile(filepath.Join(dir, "cut.jsonl.gz"), packed[:len(packed)-12], 0o644)
	os.WriteFile(filepath.Join(dir, "plain.jsonl.gz"), []byte(log), 0o644)
	os.WriteFile(filepath.Join(dir, "bad.gz"), []byte("\x1F\x8Bxxxxxxxxxxxxxxxxxxx"), 0o644)
	for name, whole := range map[string]bool{"a.jsonl": true, "b.jsonl.gz": true, "renamed.jsonl": true, "plain.jsonl.gz": true, "cut.jsonl.gz": true, "bad.gz": false, "none": false, ".": false} {
		var last error
		n := 0
		for r, err := range ReadFile(filepath.Join(dir, name), Options{}) {
			if err != nil {
				last = err
			} else if !r.Broken {
				n++
			}
		}
		if whole != (n == 1 && last == nil) || !whole && last == nil {
			t.Errorf("%s: %d records, %v", name, n, last)
		}
	}
	b := &bounded{r: strings.NewReader("123456"), left: 4}
	if got, err := io.ReadAll(b); string(got) != "1234" || err == nil {
		t.Errorf("%q %v", got, err)
	}
}

// TestDiscoverRecordings finds the sessions of a recording, whose folder is no
// configuration folder and holds other files of this ending.
func TestDiscoverRecordings(t *testing.T) {
	dir := filepath.Join(shared(t), "conformance", "interactive", "bg")
	found := Discover(dir)
	agents := 0
	for _, s := range found.Sessions {
		agents += len(s.Agents)
		if s.Path == "" || s.Format != FormatClaude || s.CWD == "" {
			t.Errorf("%+v", s)
		}
	}
	for _, p := range found.Problems {
		if filepath.Base(p.Path) != "requests.jsonl" {
			t.Errorf("%+v", p)
		}
	}
	if len(found.Sessions) == 0 || agents == 0 {
		t.Errorf("%d sessions, %d agents", len(found.Sessions), agents)
	}
	t.Logf("%d sessions, %d agents, %d other files", len(found.Sessions), agents, len(found.Problems))
}
