package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/skills"
)

const (
	listingCase = `scenario: L02_overflow
client_version: 2.1.140
home: /home/dev
project: /home/dev/shop
notes: "files/managed is mounted at /etc/claude-code."
settings: {"skillListingBudgetFraction": 0.02, "skillOverrides": {"a": "name-only"}, "permissions": {"deny": ["Skill(x)"]}}
skill_usage: {"ov-49": {"usageCount": 9, "lastUsedAt": 1796024500487}}
readdir_order: {"dev/.claude/skills": ["b", "a"], "managed/.claude/skills": ["m"]}
runs:
  - run: 0
    model: "claude-sonnet-4-5[1m]"
    context_window: 1000000
    env: {"A": "1"}
    args: ["--add-dir", "/home/dev/extra", "--plugin-dir=/home/dev/plug"]
    cwd: "apps/web"
    resume: false
    permission_args: ["--permission-mode", "bypassPermissions"]
    ended_at_ms: 1796028101923
    prompts: ["hello", {"files_change": {"write": {"dev/.claude/skills/z/SKILL.md": "z\n", "dev/.claude/skills/y/SKILL.md": "y\n"}, "remove": ["dev/x"]}}]
  - run: 1
    model: m
    cwd: ""
    resume: true
    prompts: []
`
	lifecycleCase = `scenario: s04_resume
client_version: "2.0.30"
notes: ""
model: claude-sonnet-4-5
context_window: 200000
home: /home/dev
project: /home/dev/shop
env: {TZ: UTC, A: "1"}
skill_input_key: command
runs:
  - run: 0
    session: s1
    resume: false
    fork_session: false
    permission_args: []
    args: ["--settings", "{\"disableSkillShellExecution\": true}"]
    env: {A: "2"}
    exit_code: -9
    killed_after_s: 5
    before_run: {"write": {"dev/.claude/skills/fold-map/SKILL.md": "f\n"}}
    prompts:
      - "first"
      - {pause_s: 0.6}
      - {files_change: {"write": {}, "delete": ["dev/shop/a"]}}
  - run: 1
    session: null
    resume: true
    fork_session: true
    ended_at_ms: null
    killed_after_s: null
    prompts: ["x"]
`
	screenCase = `scenario: interactive/clear
client_version: "2.1.332"
mode: interactive
model: m
context_window: 200000
home: /home/dev
project: /home/dev/shop
env: {TZ: UTC}
extra_env: {X: "1"}
settings: {}
skill_usage: {}
skill_usage_at_end: {"a": {"usageCount": 1, "lastUsedAt": 2}}
started_at_ms: 1000000
ended_at_ms: 1099000
steps:
  - {"at_s": 0.0, "requests": 0, "op": "start", "args": [], "perm": ["p"], "model": "m0"}
  - {"at_s": 1.5, "requests": 1, "op": "type", "text": "one"}
  - {"at_s": 2.0, "requests": 1, "op": "key", "keys": ["Escape", "Up"]}
  - {"at_s": 3.0, "requests": 1, "op": "pause", "sec": 4}
  - {"at_s": 8.0, "requests": 2, "op": "type", "text": "/clear"}
  - {"at_s": 9.0, "requests": 2, "op": "type", "text": "two"}
  - {"at_s": 10.0, "requests": 3, "op": "exit"}
  - {"at_s": 11.0, "requests": 3, "op": "write", "path": "/home/dev/.claude/skills/a/SKILL.md", "text": "a\n"}
  - {"at_s": 20.0, "requests": 3, "op": "start", "args": ["--continue"], "perm": [], "model": "m1"}
  - {"at_s": 21.0, "requests": 4, "op": "remove", "path": "/home/dev/.claude/skills/a/SKILL.md"}
  - {"at_s": 22.0, "requests": 4, "op": "exit"}
  - {"at_s": 30.0, "requests": 4, "op": "start", "args": ["--resume", "aaa"], "perm": [], "model": "m1"}
  - {"at_s": 31.0, "requests": 4, "op": "type", "text": "three"}
  - {"at_s": 32.0, "requests": 4, "op": "exit"}
  - {"at_s": 40.0, "requests": 4, "op": "start", "args": ["--resume", "aaa", "--fork-session"], "perm": [], "model": "m1"}
  - {"at_s": 41.0, "requests": 4, "op": "type", "text": "four"}
`
	billingCase = `{"case": "billing/shop", "client_version": "2.1.332", "model": "m", "context_window": 200000, "home": "/home/dev", "project": "/home/dev/shop", "prompts": ["a", "/compact"]}`
)

// write makes files below a new folder and returns it.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func load(t testing.TB, root, name string) *Case {
	t.Helper()
	c, err := Load(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func TestListing(t *testing.T) {
	root := write(t, map[string]string{
		"listing/overflow/2.1.140/case.yaml":              listingCase,
		"listing/overflow/2.1.140/sessions/-p/x.jsonl":    `{"timestamp":"2026-01-02T00:00:00Z","gitBranch":"HEAD"}`,
		"listing/overflow/files/dev/.claude/skills/a/f":   "1",
		"listing/overflow/files/dev/.claude/skills/b/f":   "2",
		"listing/overflow/files/dev/store/s/SKILL.md":     "3",
		"listing/overflow/files/managed/.claude/skills/m": "4",
		"listing/overflow/files/SYMLINKS.txt":             "dev/.claude/skills/l -> /home/dev/store/s\n\n",
	})
	c := load(t, root, "listing/overflow/2.1.140")
	equal(t, "names", []string{c.Family, c.Scenario, c.Version, c.Code, c.InputKey}, []string{"listing", "overflow", "2.1.140", "L02_overflow", "skill"})
	equal(t, "managed", c.Managed, true)
	equal(t, "settings", []any{c.Settings.Fraction, c.Settings.Overrides["a"], c.Settings.Permissions.Deny}, []any{0.02, "name-only", []string{"Skill(x)"}})
	equal(t, "usage", c.SkillUsage, map[string]Usage{"ov-49": {9, 1796024500487}})
	equal(t, "readdir", c.Readdir, map[string][]string{"/home/dev/.claude/skills": {"b", "a"}, "/etc/claude-code/.claude/skills": {"m"}})
	r := c.Runs[0]
	equal(t, "dirs", []any{r.AddDirs, r.PluginDirs, r.CWD, r.Model, r.Window}, []any{[]string{"/home/dev/extra"}, []string{"/home/dev/plug"}, "/home/dev/shop/apps/web", "claude-sonnet-4-5[1m]", int64(1000000)})
	equal(t, "prompts", r.Prompts, []Step{{Kind: StepText, Text: "hello"}, {Kind: StepChange, Change: &Change{
		Write:  []File{{"/home/dev/.claude/skills/z/SKILL.md", "z\n"}, {"/home/dev/.claude/skills/y/SKILL.md", "y\n"}},
		Remove: []string{"/home/dev/x"}}}})
	equal(t, "second", []any{c.Runs[1].CWD, c.Runs[1].Resume}, []any{"/home/dev/shop", true})
	s := c.Sessions()
	if len(s) != 1 || !slices.Equal(s[0].Runs, []int{0, 1}) || !slices.Equal(s[0].Spans, []Span{{0, 0, 2}, {1, 0, 0}}) {
		t.Errorf("sessions %+v", s)
	}

	m, err := c.Tree()
	if err != nil {
		t.Fatal(err)
	}
	names := func(dir string) (out []string) {
		entries, err := m.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return
	}
	equal(t, "order", names("/home/dev/.claude/skills"), []string{"b", "a", "l"})
	equal(t, "managed tree", names("/etc/claude-code/.claude/skills"), []string{"m"})
	real, err := m.Resolve("/home/dev/.claude/skills/l/SKILL.md")
	equal(t, "link", []any{real, err}, []any{"/home/dev/store/s/SKILL.md", nil})
	if err := c.Apply(m, *r.Prompts[1].Change); err != nil {
		t.Fatal(err)
	}
	equal(t, "changed", names("/home/dev/.claude/skills"), []string{"b", "a", "l", "y", "z"})
	if err := c.Apply(m, Change{Remove: []string{"/home/dev/.claude/skills/b"}}); err != nil {
		t.Fatal(err)
	}
	equal(t, "removed", names("/home/dev/.claude/skills"), []string{"a", "l", "y", "z"})
}

func TestLifecycle(t *testing.T) {
	root := write(t, map[string]string{
		"lifecycle/resume/2.0.30/case.yaml":                              lifecycleCase,
		"lifecycle/resume/2.0.30/sessions/-p/s1.jsonl":                   `{"timestamp":"2026-01-02T00:00:00Z","gitBranch":"main"}`,
		"lifecycle/resume/2.0.30/sessions/-p/s2.jsonl":                   "",
		"lifecycle/resume/2.0.30/sessions/-p/agent-a.jsonl":              "damaged\n" + `{"sessionId":"s1"}`,
		"lifecycle/resume/2.0.30/sessions/-p/agent-b.jsonl":              `{"sessionId":"s2"}`,
		"lifecycle/resume/2.0.30/sessions/-p/s1/subagents/agent-c.jsonl": `{}`,
	})
	c := load(t, root, "lifecycle/resume/2.0.30")
	r := c.Runs[0]
	equal(t, "env", r.Env, map[string]string{"TZ": "UTC", "A": "2"})
	equal(t, "run", []any{c.InputKey, r.ExitCode, r.Killed, r.Window, r.CWD, r.Session}, []any{"command", -9, true, int64(200000), "/home/dev/shop", "s1"})
	equal(t, "before", r.BeforeRun, []Change{{Write: []File{{"/home/dev/.claude/skills/fold-map/SKILL.md", "f\n"}}}})
	equal(t, "prompts", r.Prompts, []Step{{Kind: StepText, Text: "first"}, {Kind: StepPause, Seconds: 0.6}, {Kind: StepChange, Change: &Change{Remove: []string{"/home/dev/shop/a"}}}})
	s, err := r.ReadSettings()
	equal(t, "--settings", []any{s.DisableShell, err}, []any{true, nil})
	equal(t, "second", []any{c.Runs[1].Session, c.Runs[1].Resume, c.Runs[1].Fork, c.Runs[1].Killed}, []any{"", true, true, false})
	equal(t, "without log", c.WithoutLog(), []int{1})
	base := func(paths []string) (out []string) {
		for _, p := range paths {
			out = append(out, filepath.Base(p))
		}
		return
	}
	equal(t, "spare", base(c.Spare()), []string{"agent-b.jsonl", "s2.jsonl"})
	equal(t, "subagents", base(c.Sessions()[0].Subagents), []string{"agent-a.jsonl", "agent-c.jsonl"})
	equal(t, "git by branch", c.Git, []string{"/home/dev/shop"})
}

func TestScreen(t *testing.T) {
	at := func(s string) string { return `{"uuid":"` + s + `","timestamp":"1970-01-01T00:` + s + `Z"}` + "\n" }
	root := write(t, map[string]string{
		"interactive/clear/2.1.332/case.yaml": screenCase,
		// 1000 s = 16:40. aaa from the start, bbb after /clear, ccc a fork of aaa.
		"interactive/clear/2.1.332/sessions/-p/aaa.jsonl": at("16:41") + at("17:11"),
		"interactive/clear/2.1.332/sessions/-p/bbb.jsonl": at("16:48"),
		"interactive/clear/2.1.332/sessions/-p/ccc.jsonl": at("16:41") + at("17:11") + at("17:21"),
	})
	c := load(t, root, "interactive/clear/2.1.332")
	if len(c.Runs) != 4 {
		t.Fatalf("%d runs", len(c.Runs))
	}
	r := c.Runs[0]
	equal(t, "run", []any{r.Model, r.Env, r.StartedAtMS, r.EndedAtMS, r.Resume}, []any{"m0", map[string]string{"TZ": "UTC", "X": "1"}, int64(1000000), int64(1010000), false})
	equal(t, "steps", r.Prompts[:3], []Step{
		{Kind: StepText, Text: "one", AtMS: 1001500, Requests: 1},
		{Kind: StepKeys, Keys: []string{"Escape", "Up"}, AtMS: 1002000, Requests: 1},
		{Kind: StepPause, Seconds: 4, AtMS: 1003000, Requests: 1}})
	equal(t, "before", c.Runs[1].BeforeRun, []Change{{Write: []File{{"/home/dev/.claude/skills/a/SKILL.md", "a\n"}}}})
	equal(t, "resume", []any{c.Runs[2].ResumeID, c.Runs[2].Resume, c.Runs[2].Fork, c.Runs[3].Fork, c.Runs[3].EndedAtMS}, []any{"aaa", true, false, true, int64(1099000)})
	equal(t, "at end", c.AtEnd, map[string]Usage{"a": {1, 2}})
	var got []SessionLog
	for _, s := range c.Sessions() {
		s.Path = ""
		got = append(got, s)
	}
	equal(t, "sessions", got, []SessionLog{
		{ID: "aaa", Runs: []int{0, 2}, Spans: []Span{{0, 0, 4}, {2, 0, 2}}},
		{ID: "bbb", Runs: []int{0, 1}, Spans: []Span{{0, 4, 6}, {1, 0, 2}}},
		{ID: "ccc", Runs: []int{3}, Spans: []Span{{3, 0, 1}}},
	})
}

func TestBilling(t *testing.T) {
	root := write(t, map[string]string{
		"billing/shop/2.1.332/case.yaml":           billingCase,
		"billing/shop/2.1.332/sessions/-p/x.jsonl": "{}\n",
	})
	c := load(t, root, "billing/shop/2.1.332")
	equal(t, "case", []any{c.Code, c.Filler(), len(c.Runs), c.Runs[0].Model, c.Runs[0].Window}, []any{"billing/shop", Words, 1, "m", int64(200000)})
	equal(t, "prompts", c.Runs[0].Prompts, []Step{{Kind: StepText, Text: "a"}, {Kind: StepText, Text: "/compact"}})
	equal(t, "sessions", c.Sessions()[0].Runs, []int{0})
	m, err := c.Tree()
	if m != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a tree without files: %v", err)
	}
}

func TestGit(t *testing.T) {
	root := write(t, map[string]string{
		"fuzz/README.md":             "# x\n\nA git repository (its .git is left out here) was in: 001 dev/shop, 017 dev/shop/apps; in the others there was none.\n",
		"fuzz/017/2.1.140/case.yaml": listingCase, "fuzz/018/2.1.140/case.yaml": listingCase,
		"listing/discovery_git/2.1.140/case.yaml": strings.Replace(listingCase, `notes: "`, `notes: "git init in /home/dev/shop before the first run. `, 1),
	})
	equal(t, "listed", load(t, root, "fuzz/017/2.1.140").Git, []string{"/home/dev/shop/apps"})
	equal(t, "not listed", load(t, root, "fuzz/018/2.1.140").Git, []string(nil))
	equal(t, "notes", load(t, root, "listing/discovery_git/2.1.140").Git, []string{"/home/dev/shop"})
}

func TestErrors(t *testing.T) {
	head := "client_version: 2.1.1\nhome: /h\nproject: /h/p\n"
	for _, tt := range []struct{ text, want string }{
		{"a: [", "case.yaml:1: did not find expected node content"},
		{"home: /h\nproject: /h/p\n", "case.yaml:1: no client_version"},
		{"client_version: 2.1.1\nhome: h\nproject: /h/p\n", "case.yaml:1: home and project must be absolute"},
		{head + "runs:\n  - run: x\n", "case.yaml:5: cannot unmarshal !!str `x` into int"},
		{head + "runs:\n  - run: 0\n    prompts:\n      - {wait: 1}\n", "case.yaml:7: a prompt is neither"},
		{head + "runs:\n  - before_run:\n      write: [a]\n", "case.yaml:6: write is not a map of paths"},
		{head + "steps:\n  - {op: start}\n  - {op: dance}\n", `case.yaml:6: unknown op "dance"`},
		{head + "steps:\n  - {op: type, text: x}\n", `case.yaml:5: "type" without a running client`},
		{head + "home: /x\n", `case.yaml:4: mapping key "home" already defined`},
	} {
		_, err := parse("case.yaml", []byte(tt.text))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s…", tt.text, err, tt.want)
		}
	}
	if _, err := Load(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no case.yaml: %v", err)
	}
	if _, err := new(Case).parseLinks("S", "a -> b\nc\n"); err == nil || err.Error() != "S:2: not PATH -> TARGET" {
		t.Errorf("links: %v", err)
	}
}

func TestFind(t *testing.T) {
	files := map[string]string{"README.md": "", "listing/README.md": "", "listing/a/files/dev/case.yaml": "not a case", "other/x/y": ""}
	for _, d := range []string{"listing/b/2.1.9", "listing/b/2.1.10", "listing/a/2.1.100", "listing/a/2.0.30", "fuzz/001/2.1.96"} {
		files[d+"/case.yaml"] = listingCase
	}
	root := write(t, files)
	for at, want := range map[string][]string{
		".":               {"fuzz/001/2.1.96", "listing/a/2.0.30", "listing/a/2.1.100", "listing/b/2.1.9", "listing/b/2.1.10"},
		"listing":         {"listing/a/2.0.30", "listing/a/2.1.100", "listing/b/2.1.9", "listing/b/2.1.10"},
		"listing/b":       {"listing/b/2.1.9", "listing/b/2.1.10"},
		"listing/b/2.1.9": {"listing/b/2.1.9"},
		"other":           nil,
	} {
		got, err := Find(filepath.Join(root, at))
		if err != nil {
			t.Error(err)
		}
		var rel []string
		for _, g := range got {
			r, _ := filepath.Rel(root, g)
			rel = append(rel, filepath.ToSlash(r))
		}
		equal(t, at, rel, want)
	}
	if _, err := Find(filepath.Join(root, "none")); err == nil {
		t.Error("a missing folder is no error")
	}
}

var sameTests = []struct {
	predicted, recorded string
	letters, words      bool
}{
	{"a", "a", true, true},
	{"", "", true, true},
	{"a", "b", false, true},
	{"Use it well, or not at all.", "xxx xx xxxx, xx xxx xx xxx.", true, true},
	{"Use it well, or not at all!", "xxx xx xxxx, xx xxx xx xxx.", false, true},
	{"Use it well, or not at all", "xxx xx xxxx, xx xxx xx xxx.", false, false},
	{"- init: Make a file of notes", "- init: xxxx x xxxx xx xxxxx", true, true},
	{"- inix: Make a file of notes", "- init: xxxx x xxxx xx xxxxx", false, false},
	{"- init: Make a file of notes", "- init: that of many a house", false, true},
	{"- init: Make a file of notes", "- init: That of many a house", false, false},
	{"- init: Make a file of notes", "- init: that of many a houses", false, false},
	{"head\n- a: own\n- b: some text of theirs\nend", "head\n- a: own\n- b: xxxx xxxx xx xxxxxx\nend", true, true},
	{"head\n- a: own\n- b: some text of theirs", "head\n- a: owx\n- b: xxxx xxxx xx xxxxxx", true, true},
	// Of a long refusal the first sentence is kept.
	{refusal("a.b", 7, false), refusal("a.b", 7, true), true, true},
	{refusal("a.c", 7, false), refusal("a.b", 7, true), false, false},
	{refusal("a.b", 2, false), refusal("a.b", 2, true), true, true},
	// An x stands for any letter or digit, in short texts too.
	{"Do it with y", "Do it with x", true, true},
	{"nospaces", "xxxxxxxx", true, true},
	{"- a: xxxx xx\nx…", "- a: xxxx xx\nT…", true, false},
	// All letters of an entry can be filler ("- a: Skill" became "- a: xxxxx").
	{"- a: y", "- a: x", true, true},
	{"Arguments: 9 copies", "Arguments: x copies", true, true},
	{"naïve — text of some length", "xxïxx — xxxx xx xxxx xxxxxx", true, true},
	{"naive — text of some length", "xxïxx — xxxx xx xxxx xxxxxx", false, true},
	{"half \xED\xA0\xBD of a pair of something", "xxxx \xED\xA0\xBD xx x xxxx xx xxxxxxxxx", true, true},
	{"Base directory for this skill: /a\n\nsome words of a body", "Base directory for this skill: /a\n\nxxxx xxxxx xx x xxxx", false, false},
	{"a\nb", "a", false, false},
}

// refusal is a refusal of a skill with n more sentences, perhaps as filler.
func refusal(skill string, n int, filler bool) string {
	more := strings.Repeat(" Do this instead, and soon.", n)
	if filler {
		more = strings.Repeat(" xx xxxx xxxxxxx, xxx xxxx.", n)
	}
	return "<tool_use_error>Skill " + skill + " cannot be used with the Skill tool." + more
}

func TestSame(t *testing.T) {
	for _, tt := range sameTests {
		if got := Same(tt.predicted, tt.recorded, Letters); got != tt.letters {
			t.Errorf("letters: %q, %q: %v", tt.predicted, tt.recorded, got)
		}
		if got := Same(tt.predicted, tt.recorded, Words); got != tt.words {
			t.Errorf("words: %q, %q: %v", tt.predicted, tt.recorded, got)
		}
		if got := Same(tt.predicted, tt.recorded, None); got != (tt.predicted == tt.recorded) {
			t.Errorf("none: %q, %q: %v", tt.predicted, tt.recorded, got)
		}
	}
}

func TestRequests(t *testing.T) {
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	block := `{"m":1,"role":"user","type":"text","chars":1,"sha256":"` + sum("b") + `","head":"b","string":true`
	text := `{"run":0,"n":1,"kind":"main","lane":null,"model":"m","tools":["A"],"systemChars":7,"usage":{"input_tokens":3,"output_tokens":4},"blocksTotal":1,"sameAsPrevious":0,"blocks":[` + block + `,"text":"\ud83d"}]}
{"run":0,"n":2,"kind":"subagent","lane":"L","usage":null,"blocks":[` + block + `,"inLog":true}]}

{"run":1,"n":1,"kind":"main","blocks":[` + block + `}],"catalogue":[{"where":"message:0:1:user","chars":3,"text":"<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n- a: b\n- c\n</system-reminder>\n"}]}`
	root := write(t, map[string]string{"f/s/2.1.1/case.yaml": billingCase, "f/s/2.1.1/requests.jsonl": text})
	c := load(t, root, "f/s/2.1.1")
	rs, err := c.Requests()
	if err != nil || len(rs) != 3 {
		t.Fatal(len(rs), err)
	}
	equal(t, "first", []any{rs[0].Kind, rs[0].Model, rs[0].Tools, rs[0].SystemChars, *rs[0].Usage, rs[0].Blocks[0].String}, []any{RequestMain, "m", []string{"A"}, 7, RequestUsage{Input: 3, Output: 4}, true})
	equal(t, "lone surrogate", rs[0].Blocks[0].Text, "\xED\xA0\xBD")
	equal(t, "looked up", []any{rs[1].Lane, rs[1].Usage, rs[1].Blocks[0].Text, rs[1].Blocks[0].InLog}, []any{"L", (*RequestUsage)(nil), "\xED\xA0\xBD", true})
	equal(t, "other run", []any{rs[2].Blocks[0].HasText, rs[2].Line}, []any{false, 4})
	listing, ok := rs[2].Listing()
	equal(t, "listing", []any{listing, ok}, []any{"- a: b\n- c", true})

	var last error
	for _, err := range readRequests("r", strings.NewReader(text+"\n[]\n")) {
		last = err
	}
	if last == nil || last.Error() != "r:5: not an object" {
		t.Errorf("error %v", last)
	}
}

func TestBundled(t *testing.T) {
	listing := func(content string) string {
		return `{"type":"attachment","attachment":{"type":"skill_listing","content":"` + content + `"}}`
	}
	root := write(t, map[string]string{
		"listing/probe/2.1.140/case.yaml":                   strings.ReplaceAll(listingCase, "resume: true", "resume: false"),
		"listing/probe/2.1.140/sessions/-p/x.jsonl":         `{"timestamp":"2026-01-02T00:00:00Z"}` + "\n" + listing(`- a: A\n- loop: cut…`),
		"listing/probe/2.1.140/sessions/-p/y.jsonl":         `{"timestamp":"2026-01-03T00:00:00Z"}` + "\n" + listing(`- early: E\n- a: A\n- late: L\n- deep-research: D\n- p:x: P\n- loop: xxx\n- init: I`),
		"listing/probe/files/dev/.claude/skills/a/SKILL.md": "",
		"listing/probe/files/managed/x":                     "",
		"listing/other/2.1.140/case.yaml":                   listingCase,
		"listing/other/2.1.150/case.yaml":                   strings.Replace(listingCase, "2.1.140", "2.1.150", 1),
		"listing/other/2.1.150/sessions/-p/x.jsonl":         listing(`- a: A\n- init`),
		"listing/other/files/dev/.claude/skills/a/SKILL.md": "",
		"listing/other/files/managed/x":                     "",
		"listing/third/2.1.150/case.yaml":                   strings.Replace(listingCase, "2.1.140", "2.1.150", 1),
		"listing/third/2.1.150/sessions/-p/x.jsonl":         listing(`- init: whole`),
		"listing/third/files/dev/x":                         "",
		"listing/third/files/managed/x":                     "",
		"listing/other/2.1.62/case.yaml":                    strings.Replace(listingCase, "2.1.140", "2.1.62", 1),
		"listing/other/2.1.151/case.yaml":                   strings.Replace(listingCase, "2.1.140", "2.1.151", 1),
	})
	for at, want := range map[string][]skills.Given{
		"listing/other/2.1.140": {{Name: "early", Text: "E", Place: skills.PlaceFirst}, {Name: "late", Text: "L", Place: skills.PlaceWorkflow},
			{Name: "deep-research", Text: "D", Place: skills.PlaceWorkflow}, {Name: "loop", Text: "xxx", Place: skills.PlaceBundled}, {Name: "init", Text: "I", Place: skills.PlaceBuiltin}},
		"listing/other/2.1.150": {{Name: "init", Text: "whole", Place: skills.PlaceBuiltin}},
		"listing/other/2.1.62":  {},
		"listing/other/2.1.151": nil,
	} {
		got, err := load(t, root, at).Bundled()
		if err != nil {
			t.Error(err)
		}
		equal(t, at, got, want)
	}
}

func FuzzCase(f *testing.F) {
	for _, s := range []string{listingCase, lifecycleCase, screenCase, billingCase, "a: [", "a: &a [*a]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parse("case.yaml", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "case.yaml:") {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		for i := range c.Runs {
			c.Runs[i].ReadSettings()
		}
	})
}

func FuzzRequests(f *testing.F) {
	f.Add(`{"run":0,"n":1,"kind":"main","blocks":[{"m":1,"sha256":"a","text":"b"}],"catalogue":[{"where":"message:0","text":"- a"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for r, err := range readRequests("r", strings.NewReader(text)) {
			if err == nil {
				r.Listing()
			}
		}
	})
}

func FuzzSame(f *testing.F) {
	for _, tt := range sameTests {
		f.Add(tt.predicted, tt.recorded)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, k := range []Filler{None, Letters, Words} {
			if !Same(a, a, k) {
				t.Errorf("%q is not itself", a)
			}
			if Same(a, b, k) && k == Letters && len(a) != len(b) {
				t.Errorf("%q, %q: lengths differ", a, b)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	root := write(b, map[string]string{"lifecycle/resume/2.0.30/case.yaml": lifecycleCase})
	dir := filepath.Join(root, "lifecycle/resume/2.0.30")
	b.ReportAllocs()
	b.SetBytes(int64(len(lifecycleCase)))
	for b.Loop() {
		if _, err := Load(dir); err != nil {
			b.Fatal(err)
		}
	}
}
