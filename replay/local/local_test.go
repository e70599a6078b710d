package local

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// world is a machine in a folder: a home with a configuration folder, a project.
type world struct {
	t                     *testing.T
	root, home, dir, shop string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{t: t, root: root, home: filepath.Join(root, "home"), dir: filepath.Join(root, "home", ".claude"), shop: filepath.Join(root, "home", "shop")}
	for _, d := range []string{w.dir, w.shop} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// write writes a file; relative paths are below the home.
func (w *world) write(name, text string) string {
	w.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(w.home, name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return name
}

// skill writes a skill file that is older than every session here.
func (w *world) skill(dir, name, description string) string {
	w.t.Helper()
	path := w.write(filepath.Join(dir, name, "SKILL.md"), "---\ndescription: "+description+"\n---\nDo "+name+".\n")
	w.touch(path, began.Add(-24*time.Hour))
	return path
}

func (w *world) touch(path string, at time.Time) {
	w.t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) options() Options {
	table, err := rules.For("claude-code")
	if err != nil {
		w.t.Fatal(err)
	}
	return Options{Home: w.home, ConfigDirs: []string{w.dir}, Table: table}
}

var began = time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)

// recorder makes the lines of a log.
type recorder struct {
	version, cwd, model string
	lines               []string
	last                string
}

func (r *recorder) add(kind string, fields map[string]any) string {
	n := len(r.lines) + 1
	id := fmt.Sprintf("u%d", n)
	rec := map[string]any{"type": kind, "uuid": id, "sessionId": "5274deb5-0000-4000-8000-000000000001",
		"timestamp": began.Add(time.Duration(n) * time.Minute).Format("2006-01-02T15:04:05.000Z"), "cwd": r.cwd}
	if r.version != "" {
		rec["version"] = r.version
	}
	if r.last != "" {
		rec["parentUuid"] = r.last
	}
	for k, v := range fields {
		rec[k] = v
	}
	b, err := json.Marshal(rec)
	if err != nil {
		panic(err)
	}
	r.lines = append(r.lines, string(b))
	r.last = id
	return id
}

func (r *recorder) prompt(text string) {
	r.add("user", map[string]any{"message": map[string]any{"role": "user", "content": text}})
}

// listing records a listing of "name: text" entries; a text of "" leaves the name bare.
func (r *recorder) listing(initial, digests bool, entries ...string) {
	var lines, names, sums []string
	for _, e := range entries {
		name, text, described := strings.Cut(e, ": ")
		names = append(names, name)
		sums = append(sums, skills.Digest(name, text))
		if !described {
			lines = append(lines, "- "+name)
			continue
		}
		lines = append(lines, "- "+name+": "+text)
	}
	a := map[string]any{"type": "skill_listing", "content": strings.Join(lines, "\n"), "skillCount": len(names), "isInitial": initial, "names": names}
	if digests {
		a["digests"] = sums
	}
	r.add("attachment", map[string]any{"attachment": a})
}

// turn records a reply to a prompt of so many tokens.
func (r *recorder) turn(tokens int, uses ...map[string]any) {
	content := []any{map[string]any{"type": "text", "text": "well"}}
	for _, u := range uses {
		content = append(content, u)
	}
	model := r.model
	if model == "" {
		model = "claude-sonnet-4-5"
	}
	id := fmt.Sprintf("msg_%d", len(r.lines))
	r.add("assistant", map[string]any{"requestId": "req_" + id, "message": map[string]any{"id": id, "role": "assistant", "model": model, "stop_reason": "end_turn", "content": content,
		"usage": map[string]any{"input_tokens": tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 5}}})
}

// call records a call of a skill with its result and body.
func (r *recorder) call(skill, body string) {
	id := fmt.Sprintf("toolu_%d", len(r.lines))
	r.turn(100, map[string]any{"type": "tool_use", "id": id, "name": "Skill", "input": map[string]any{"skill": skill}})
	r.add("user", map[string]any{"message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": "Launching skill: " + skill}}},
		"toolUseResult": map[string]any{"success": true, "commandName": skill}})
	r.add("user", map[string]any{"isMeta": true, "sourceToolUseID": id, "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": body}}}})
}

// log writes the lines as a log of the configuration folder, or to a path.
func (w *world) log(r *recorder, path ...string) string {
	w.t.Helper()
	name := filepath.Join(w.dir, "projects", "-home-dev-shop", "5274deb5-0000-4000-8000-000000000001.jsonl")
	if len(path) > 0 {
		name = path[0]
	}
	return w.write(name, strings.Join(r.lines, "\n")+"\n")
}

// find observes a log and finds its inputs.
func find(t *testing.T, name string, o Options) (*replay.Session, *Found) {
	t.Helper()
	s := observe(t, name)
	f, err := NewFinder(o).Find(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, f
}

func observe(t *testing.T, name string) *replay.Session {
	t.Helper()
	s, err := replay.Observe(replay.Source{Name: name, Records: jsonl.ReadFile(name, jsonl.Options{Sizes: true})})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// session is a short session on 2.1.332.
func session(cwd string, entries ...string) *recorder {
	r := &recorder{version: "2.1.332", cwd: cwd}
	r.prompt("hello")
	r.listing(true, true, entries...)
	r.turn(100)
	return r
}

// uses writes what was found, one input a line.
func (w *world) uses(f *Found) string {
	var lines []string
	for _, u := range f.Uses {
		text := u.Name + " = " + u.Source
		if !u.Found {
			text = u.Name + " not found"
		}
		if u.Note != "" {
			text += " (" + u.Note + ")"
		}
		lines = append(lines, strings.ReplaceAll(text, slashed(w.root)+"/", ""))
	}
	return strings.Join(lines, "\n")
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

// predicted are the entries of the listings that the rules derive.
func predicted(s *replay.Session, f *Found) []string {
	r := replay.Run(s, &f.Inputs, replay.Comparison{Exact: f.Inputs.Exact, RulesExact: f.RulesExact, History: f.Inputs.History})
	var out []string
	for _, e := range r.Agents[0].Predicted {
		if e.Kind != replay.Listing {
			continue
		}
		var names []string
		for _, l := range e.Entries {
			names = append(names, l.Name)
		}
		out = append(out, strings.Join(names, " "))
	}
	return out
}

func verdicts(s *replay.Session, f *Found) string {
	r := replay.Run(s, &f.Inputs, replay.Comparison{Exact: f.Inputs.Exact, RulesExact: f.RulesExact, History: f.Inputs.History})
	var out []string
	for _, c := range r.Agents[0].Checks {
		out = append(out, string(c.Kind)+" "+string(c.Verdict))
	}
	return strings.Join(out, ", ")
}

func TestOwn(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes a commit.")
	w.skill("shop/.claude/skills", "deploy", "Puts it online.")
	w.write(".claude/settings.json", `{"skillListingBudgetFraction": 0.02, "permissions": {"deny": ["Bash"]}}`)
	w.write("shop/.claude/settings.json", `{"skillOverrides": {"commit": "on"}}`)
	w.write(".claude.json", `{"numStartups": 3, "skillUsage": {"commit": {"usageCount": 4, "lastUsedAt": 1000}}}`)
	name := w.log(session(w.shop, "commit: Writes a commit.", "deploy: Puts it online."))
	s, f := find(t, name, w.options())
	equal(t, "uses", w.uses(f), `skill files = home/.claude/skills, home/shop/.claude/skills (2 skills, descriptions unchanged since (digests))
settings = home/.claude/settings.json, home/shop/.claude/settings.json (as they are now)
usage counts = home/.claude.json (no skill was used since, they are those of the session)
window = by the model's name`)
	equal(t, "assumptions", strings.Join(f.Assumptions, "\n"), "")
	if !f.Own || !f.RulesExact || f.Client != "claude-code@2.1.332" || f.Model != "claude-sonnet-4-5" || f.Window != 200_000 {
		t.Errorf("found %+v", f)
	}
	if f.Budget != 16_000 || f.ListingSize != 52 {
		t.Errorf("listing %d of %d", f.ListingSize, f.Budget)
	}
	p := f.Inputs.Processes[0]
	if p.Settings.Fraction != 0.02 || p.Settings.Overrides["commit"] != "on" || !slices.Equal(p.Settings.Deny, []string{"Bash"}) || p.Home != slashed(w.home) || p.CWD != slashed(w.shop) || p.Resume {
		t.Errorf("process %+v", p)
	}
	if c := f.Inputs.Usage.Counts["commit"]; c.Count != 4 || c.LastUsedMS != 1000 {
		t.Errorf("usage %+v", f.Inputs.Usage.Counts)
	}
	if f.Inputs.Exact {
		t.Error("files read now are taken for those of the session")
	}
	equal(t, "verdicts", verdicts(s, f), "listing match, invariant match")
}

// Nothing of this machine is read for a stranger's log.
func TestElsewhere(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes a commit.")
	w.skill("shop/.claude/skills", "deploy", "Puts it online.")
	w.write(".claude/settings.json", `{"skillListingBudgetFraction": 0.02}`)
	w.write(".claude.json", `{"skillUsage": {}}`)
	name := w.log(session(w.shop, "commit: Writes a commit."), filepath.Join(w.root, "logs", "a.jsonl"))
	o := w.options()
	o.Getenv = func(string) string { return "2000" }
	_, f := find(t, name, o)
	equal(t, "uses", w.uses(f), `skill files not found (the log lies in no configuration folder here; --skills DIR gives them)
settings not found (another machine's; --settings FILE gives them)
usage counts not found (another machine's; --usage FILE gives them)
window = by the model's name`)
	if p := f.Inputs.Processes[0]; f.Own || f.Inputs.Files != nil || f.Inputs.Usage != nil || f.Budget != 8000 || len(p.Env) > 0 || p.Home != "" {
		t.Errorf("found %+v", f)
	}

	// Nor where skills are given: the folder of the log's project is another's.
	given := filepath.Join(w.root, "given")
	w.skill(given, "commit", "Writes a commit.")
	o.Skills = []string{given}
	s, f := find(t, name, o)
	equal(t, "entries", strings.Join(predicted(s, f), "\n"), "commit")
	equal(t, "skill files", w.uses(f)[:strings.Index(w.uses(f), "\n")], "skill files = given (1 skill, descriptions unchanged since (digests))")

	// What is given is used.
	o.Settings = w.write("s.json", `{"skillListingMaxDescChars": 100}`)
	o.Usage = w.write("u.json", `{"skillUsage": {"commit": {"usageCount": 2, "lastUsedAt": 5}}}`)
	o.Window = 100_000
	_, f = find(t, name, o)
	if p := f.Inputs.Processes[0]; p.Settings.MaxDesc != 100 || f.Inputs.Usage.Counts["commit"].Count != 2 || f.Window != 100_000 || p.Window != 100_000 || f.Budget != 4000 {
		t.Errorf("found %+v, process %+v", f, p)
	}
}

// A folder that was copied with its logs brings itself, and nothing else.
func TestCopied(t *testing.T) {
	w := newWorld(t)
	w.skill("shop/.claude/skills", "deploy", "Puts it online.")
	copied := filepath.Join(w.root, "backup")
	w.skill(filepath.Join(copied, "skills"), "commit", "Writes a commit.")
	w.write(filepath.Join(copied, "settings.json"), `{"skillListingBudgetFraction": 0.03}`)
	w.write(filepath.Join(copied, ".claude.json"), `{"skillUsage": {}}`)
	name := w.log(session(w.shop, "commit: Writes a commit."), filepath.Join(copied, "projects", "-home-dev-shop", "a.jsonl"))
	s, f := find(t, name, w.options())
	equal(t, "uses", w.uses(f), `skill files = backup/skills (1 skill, descriptions unchanged since (digests))
settings = backup/settings.json (as they are now)
usage counts = backup/.claude.json (no skill was used since, they are those of the session)
window = by the model's name`)
	equal(t, "entries", strings.Join(predicted(s, f), "\n"), "commit")
	if f.Own || f.Inputs.Processes[0].Settings.Fraction != 0.03 {
		t.Errorf("found %+v", f)
	}
}

// Skills that are given stand in place of the project's, not of the user's.
func TestGivenForOwn(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes a commit.")
	w.skill("shop/.claude/skills", "deploy", "Puts it online now.")
	given := filepath.Join(w.root, "old")
	w.skill(given, "deploy", "Puts it online then.")
	name := w.log(session(w.shop, "commit: Writes a commit.", "deploy: Puts it online then."))
	o := w.options()
	o.Skills = []string{given}
	s, f := find(t, name, o)
	equal(t, "verdicts", verdicts(s, f), "listing match, invariant match")
	o.Skills = []string{filepath.Join(w.shop, ".claude", "skills")}
	s, f = find(t, name, o)
	equal(t, "entries", strings.Join(predicted(s, f), "\n"), "commit deploy")
	equal(t, "note", f.Uses[0].Note, "2 skills, descriptions of 1 changed since (digests): deploy")
}

func TestUsageFile(t *testing.T) {
	for _, c := range []struct {
		name, env    string
		beside, home bool
		want         string
	}{
		{"in the home", "", false, true, "home/.claude.json"},
		{"in the home though one lies beside", "", true, true, "home/.claude.json"},
		{"beside the logs only", "", true, false, "home/.claude/.claude.json"},
		{"named by the environment", "set", true, true, "home/.claude/.claude.json"},
		{"named, but not there", "set", false, true, "home/.claude.json"},
	} {
		w := newWorld(t)
		if c.beside {
			w.write(".claude/.claude.json", `{}`)
		}
		if c.home {
			w.write(".claude.json", `{}`)
		}
		o := w.options()
		o.Getenv = func(name string) string {
			if name == "CLAUDE_CONFIG_DIR" {
				return c.env
			}
			return ""
		}
		_, f := find(t, w.log(session(w.shop, "commit: Writes.")), o)
		if got := strings.TrimPrefix(slashed(f.Uses[2].Source), slashed(w.root)+"/"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	w := newWorld(t)
	_, f := find(t, w.log(session(w.shop, "commit: Writes.")), w.options())
	if u := f.Uses[2]; u.Found || !strings.HasSuffix(u.Note, "home/.claude.json does not exist; --usage FILE gives them") {
		t.Errorf("without a file: %+v", u)
	}
}

// Calls of the session are taken off the counts of now.
func TestUsageTakenBack(t *testing.T) {
	w := newWorld(t)
	r := session(w.shop, "commit: Writes.", "deploy: Puts.", "test: Tries.")
	r.call("commit", "Base directory for this skill: /x/commit\n\nDo commit.")
	r.call("deploy", "Base directory for this skill: /x/deploy\n\nDo deploy.")
	r.turn(200)
	inside := began.Add(5 * time.Minute).UnixMilli()
	later := began.Add(1000 * time.Hour).UnixMilli()
	for _, c := range []struct {
		name, counts string
		want         map[string]replay.UsageCount
		since        string
	}{
		{"never used before", fmt.Sprintf(`"commit":{"usageCount":1,"lastUsedAt":%d}`, inside), map[string]replay.UsageCount{}, ""},
		{"used before too", fmt.Sprintf(`"commit":{"usageCount":3,"lastUsedAt":%d}`, inside), map[string]replay.UsageCount{"commit": {Count: 2, LastUsedMS: began.Add(time.Minute).UnixMilli()}}, "skills used since: 1"},
		{"used later", fmt.Sprintf(`"test":{"usageCount":1,"lastUsedAt":%d}`, later), map[string]replay.UsageCount{"test": {Count: 1, LastUsedMS: began.Add(time.Minute).UnixMilli()}}, "skills used since: 1"},
		{"used earlier only", `"test":{"usageCount":9,"lastUsedAt":77}`, map[string]replay.UsageCount{"test": {Count: 9, LastUsedMS: 77}}, ""},
		{"odd values", `"a":{"usageCount":-1},"b":7,"c":{"usageCount":"x"},"d":{"usageCount":1e300,"lastUsedAt":null}`, map[string]replay.UsageCount{}, ""},
	} {
		w.write(".claude.json", `{"skillUsage":{`+c.counts+`}}`)
		_, f := find(t, w.log(r), w.options())
		if got := f.Inputs.Usage.Counts; fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if text := strings.Join(f.Assumptions, "; "); !strings.HasSuffix(text, c.since) || c.since == "" && text != "" {
			t.Errorf("%s: %s", c.name, text)
		}
		if f.Inputs.Exact {
			t.Error("exact")
		}
	}
}

func TestSettingsOrder(t *testing.T) {
	w := newWorld(t)
	managed := filepath.Join(w.root, "managed")
	files := []struct{ name, path string }{
		{"user", ".claude/settings.json"}, {"project", "shop/.claude/settings.json"}, {"local", "shop/.claude/settings.local.json"},
		{"given", "given.json"}, {"managed", filepath.Join(managed, "managed-settings.json")},
	}
	o := w.options()
	o.Managed = managed
	for n, file := range files {
		path := w.write(file.path, fmt.Sprintf(`{"skillListingBudgetFraction": 0.0%d, "skillListingMaxDescChars": %d, "skillOverrides": {"x": %q, %q: "off"}, "disableSkillShellExecution": %v,
			"permissions": {"deny": [%q]}, "env": {"SLASH_COMMAND_TOOL_CHAR_BUDGET": "%d"}}`, n+1, 100*(n+1), file.name, file.name, n%2 == 0, file.name, 1000*(n+1)))
		if file.name == "given" {
			o.Settings = path
		}
		_, f := find(t, w.log(session(w.shop, "commit: Writes.")), o)
		p := f.Inputs.Processes[0]
		if got := p.Settings; got.Fraction != 0.01*float64(n+1) || got.MaxDesc != 100*(n+1) || got.Overrides["x"] != file.name || got.DisableShell != (n%2 == 0) || len(got.Overrides) != n+2 || len(got.Deny) != n+1 {
			t.Errorf("%s: %+v", file.name, got)
		}
		if f.Budget != int64(1000*(n+1)) {
			t.Errorf("%s: a budget of %d", file.name, f.Budget)
		}
	}
}

// A file that cannot be used is named with its line, and the others are used.
func TestMalformed(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/settings.json", "{\n  \"skillListingBudgetFraction\": 0.02,\n  \"env\": {\"SLASH_COMMAND_TOOL_CHAR_BUDGET\": 5},\n  \"skillOverrides\": {\"a\": \"off\", \"b\": 3}\n}\n")
	w.write("shop/.claude/settings.json", "{\n  \"permissions\": {\n    \"deny\": [\"Skill\",]\n  }\n}\n")
	w.write("shop/.claude/settings.local.json", "\uFEFF{\"skillListingMaxDescChars\": 80}")
	w.write(".claude.json", "[1]")
	_, f := find(t, w.log(session(w.shop, "commit: Writes.")), w.options())
	var problems []string
	for _, p := range f.Problems {
		problems = append(problems, strings.ReplaceAll(p, slashed(w.root)+"/", ""))
	}
	equal(t, "problems", strings.Join(problems, "\n"), `home/.claude/settings.json:4: skillOverrides: want an object of texts; passed over
home/.claude/settings.json:3: SLASH_COMMAND_TOOL_CHAR_BUDGET: want a text; passed over
home/shop/.claude/settings.json:3: not JSON: invalid character ']' looking for beginning of value; passed over
home/.claude.json:1: want a JSON object`)
	if p := f.Inputs.Processes[0]; p.Settings.Fraction != 0.02 || p.Settings.MaxDesc != 80 || len(p.Settings.Deny) != 0 || p.Settings.Overrides["a"] != "off" || len(p.Settings.Overrides) != 1 {
		t.Errorf("process %+v", p)
	}
	for _, u := range f.Uses {
		if u.Name == "usage counts" && u.Found {
			t.Errorf("%+v", u)
		}
	}
	for name, want := range map[string]string{
		"nowhere.json": "nowhere.json: no such file or directory",
		".":            ".: a folder, not a file",
		"empty.json":   "empty.json:1: not JSON: unexpected end of JSON input",
	} {
		w.write("empty.json", "")
		t.Chdir(w.home)
		if err := CheckSettings(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
		if err := CheckUsage(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVersions(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name     string
		versions []string
		client   string
		exact    bool
		bad      string
		assumed  string
		err      string
	}{
		{name: "one", versions: []string{"2.1.332"}, client: "claude-code@2.1.332", exact: true},
		{name: "none", versions: []string{""}, client: "claude-code", assumed: "the log names no client version: the newest rules are used, those of 2.1."},
		{name: "no version", versions: []string{"banana"}, client: "claude-code", bad: "banana", assumed: `"banana", the client version in the log, is none: the newest rules`},
		{name: "upgraded", versions: []string{"2.1.140", "2.1.332"}, client: "claude-code@2.1.332", exact: true, assumed: "the client was upgraded during the session (2.1.140, 2.1.332)"},
		{name: "downgraded", versions: []string{"2.1.332", "2.1.90"}, client: "claude-code@2.1.332", exact: true, assumed: "the client was upgraded"},
		{name: "trimmed", versions: []string{"[trimmed for fixture]", "2.1.220"}, client: "claude-code@2.1.220", assumed: `there are no rules for "[trimmed for fixture]", which the log names too: those of 2.1.220 are used`},
		{name: "newer", versions: []string{"9.9.9"}, client: "claude-code@9.9.9", assumed: "client 9.9.9 is newer than"},
		{name: "too old", versions: []string{"1.0.43"}, err: "claude-code 1.0.43 is older than its rules, which begin at 2.0.20; --client claude-code@VERSION chooses other rules"},
		{name: "once too old", versions: []string{"1.9.0", "2.1.92"}, client: "claude-code@2.1.92", assumed: `there are no rules for "1.9.0", which the log names too: those of 2.1.92 are used`},
	} {
		r := &recorder{cwd: w.shop}
		for _, v := range c.versions {
			r.version = v
			r.prompt("hello")
			r.turn(10)
		}
		s := observe(t, w.log(r))
		f, err := NewFinder(w.options()).Find(s)
		if c.err != "" {
			if err == nil || !strings.HasSuffix(err.Error(), c.err) || !strings.HasPrefix(err.Error(), w.dir) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if f.Client != c.client || f.RulesExact != c.exact || f.BadVersion != c.bad || !strings.HasPrefix(strings.Join(f.Assumptions, "; "), c.assumed) {
			t.Errorf("%s: %+v", c.name, f)
		}
		for _, v := range append(c.versions, "", "8.8.8-x", "junk") {
			if f.Inputs.Rules(v) == nil {
				t.Errorf("%s: no rules for %q", c.name, v)
			}
		}
		if c.name == "upgraded" && (f.Inputs.Rules("2.1.140").Version != "2.1.140" || f.Inputs.Rules("").Version != "2.1.332") {
			t.Errorf("%s: rules of %s", c.name, f.Inputs.Rules("2.1.140").Version)
		}
	}

	// A version that only records without events name takes nothing away.
	r := session(w.shop, "commit: Writes.")
	r.lines = append(r.lines, `{"type":"summary","version":"[trimmed]","uuid":"z","timestamp":"2026-11-28T10:00:00Z"}`)
	if _, f := find(t, w.log(r), w.options()); !f.RulesExact || f.BadVersion != "" {
		t.Errorf("found %+v", f)
	}

	// The user's choice stands above the log's.
	o := w.options()
	o.Version = "2.1.140"
	if _, f := find(t, w.log(r), o); f.Client != "claude-code@2.1.140" || f.Inputs.Rules("2.1.332").Version != "2.1.140" {
		t.Errorf("found %+v", f)
	}
}

func TestWindow(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("word ", 1700)
	for _, c := range []struct {
		name    string
		model   string
		tokens  int
		entries []string
		given   int64
		window  int64
		budget  int64
		source  string
	}{
		{name: "by the model", tokens: 10, entries: []string{"commit: Writes."}, window: 200_000, budget: 8000, source: "by the model's name"},
		{name: "given", tokens: 10, entries: []string{"commit: Writes."}, given: 50_000, window: 50_000, budget: 2000, source: "as given"},
		{name: "a longer prompt", tokens: 250_000, entries: []string{"commit: Writes."}, window: 1_000_000, budget: 40_000, source: "by the log"},
		{name: "a longer listing", tokens: 10, entries: []string{"kit:commit: " + long}, window: 1_000_000, budget: 40_000, source: "by the log"},
		// A skill without a colon may be the client's own, which keeps its text.
		{name: "a longer listing of the client's own", tokens: 10, entries: []string{"debug: " + long}, window: 200_000, budget: 8000, source: "by the model's name"},
		{name: "too long for any", tokens: 10, entries: []string{"kit:commit: " + strings.Repeat(long, 5)}, window: 200_000, source: "by the model's name"},
		{name: "no model", model: "-", tokens: 10, entries: []string{"commit: Writes."}},
	} {
		r := &recorder{version: "2.1.332", cwd: "/nowhere", model: c.model}
		r.prompt("hello")
		r.listing(true, true, c.entries...)
		if c.model != "-" {
			r.turn(c.tokens)
		}
		o := w.options()
		o.Window = c.given
		_, f := find(t, w.log(r, filepath.Join(w.root, "logs", "a.jsonl")), o)
		u := f.Uses[len(f.Uses)-1]
		if f.Window != c.window || f.Budget != c.budget || u.Source != c.source || u.Found != (c.window > 0) {
			t.Errorf("%s: window %d, budget %d, %+v", c.name, f.Window, f.Budget, u)
		}
	}
}

// Skills that the session came to know later do not exist before; those dated after
// the session that it never lists are left out.
func TestLater(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes.")
	w.skill(".claude/skills", "later", "Came later.")
	w.touch(w.skill(".claude/skills", "younger", "Was not there."), began.Add(1000*time.Hour))
	w.skill(".claude/skills", "older", "Was there, and is not listed.")
	w.write(".claude/skills/held/SKILL.md", "---\ndescription: Held back.\npaths: [\"*.go\"]\n---\nx\n")
	w.touch(filepath.Join(w.dir, "skills/held/SKILL.md"), began.Add(-time.Hour))
	r := session(w.shop, "commit: Writes.", "init: The client's own.")
	r.turn(10)
	r.prompt("more")
	r.listing(false, true, "later: Came later.", "held: Held back.")
	r.turn(20)
	s, f := find(t, w.log(r), w.options())
	got := predicted(s, f)
	if len(got) == 0 || got[0] != "commit older init" {
		t.Errorf("predicted %q", got)
	}
	equal(t, "assumptions", strings.Join(f.Assumptions, "\n"), "skills left out, as their files are dated after the session, which never lists them: 1")
	equal(t, "note", f.Uses[0].Note, "5 skills, descriptions unchanged since (digests), 2 not in the log")
	known := map[string]string{}
	for i := range f.Skills {
		k := &f.Skills[i]
		known[k.Name] = fmt.Sprint(f.Dates[k.Path], " ", f.TextOf(k), " ", f.DescriptionOf(k), " ", f.LeftOut[k.Path])
	}
	for name, want := range map[string]string{"older": "before same same false", "younger": "after unknown unknown true", "commit": "before same same false"} {
		equal(t, name, known[name], want)
	}
	if len(f.Inputs.Given) != 1 || f.Inputs.Given[0].Name != "init" {
		t.Errorf("given %+v", f.Inputs.Given)
	}
	if got := verdicts(s, f); strings.Contains(got, "divergent") {
		t.Errorf("verdicts %s", got)
	}
}

// What is known of the text of a file that is read now: a date of before the session
// holds for all of it, what the log shows only for that.
func TestDated(t *testing.T) {
	w := newWorld(t)
	at := func(name, description string, when time.Time) {
		w.touch(w.skill(".claude/skills", name, description), when)
	}
	at("kept", "Kept.", began.Add(-time.Hour))
	at("edited", "Edited now.", began.Add(-time.Hour))
	at("shown", "Shown.", began.Add(1000*time.Hour))
	at("unseen", "Unseen.", began.Add(1000*time.Hour))
	r := session(w.shop, "kept: Kept.", "edited: Edited.", "shown: Shown.")
	r.turn(10)
	r.prompt("more")
	r.turn(20)
	texts := func(f *Found) map[string]string {
		out := map[string]string{}
		for i := range f.Skills {
			k := &f.Skills[i]
			out[k.Name] = fmt.Sprint(f.TextOf(k), " ", f.DescriptionOf(k))
		}
		return out
	}
	log := w.log(r)
	_, f := find(t, log, w.options())
	got := texts(f)
	for name, want := range map[string]string{"kept": "same same", "edited": "edited edited", "shown": "unknown same", "unseen": "unknown unknown"} {
		equal(t, name, got[name], want)
	}
	equal(t, "date of unseen", string(f.Dates[slashed(filepath.Join(w.dir, "skills/unseen/SKILL.md"))]), "after")
	// What is given by hand is as the session saw it, whatever its date.
	o := w.options()
	o.Skills = []string{filepath.Join(w.home, "given")}
	w.touch(w.skill("given", "copied", "Copied."), began.Add(1000*time.Hour))
	w.skill("given", "old", "Old.")
	_, f = find(t, log, o)
	for name, want := range map[string]Dated{"copied": Given, "old": DatedBefore} {
		equal(t, name, string(f.Dates[slashed(filepath.Join(w.home, "given", name, "SKILL.md"))]), string(want))
	}
}

// A text that the session itself wrote holds from then on, whatever the file holds now.
func TestWritten(t *testing.T) {
	w := newWorld(t)
	path := w.skill(".claude/skills", "commit", "Writes now.")
	r := session(w.shop, "commit: Writes now.")
	text := "---\ndescription: Writes now.\n---\nAs written.\n"
	r.turn(10, map[string]any{"type": "tool_use", "id": "toolu_w", "name": "Write", "input": map[string]any{"file_path": path, "content": text}})
	r.add("user", map[string]any{"message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "toolu_w", "content": "ok"}}},
		"toolUseResult": map[string]any{"type": "update", "filePath": path, "content": text}})
	r.call("commit", "Base directory for this skill: "+slashed(filepath.Dir(path))+"\n\nAs written.\n")
	r.turn(20)
	s, f := find(t, w.log(r), w.options())
	if got := verdicts(s, f); !strings.Contains(got, "body match") {
		t.Errorf("verdicts %s", got)
	}
}

func TestNotes(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes a commit with care and a long text.")
	w.skill(".claude/skills", "deploy", "Puts it online.")
	for _, c := range []struct {
		name    string
		digests bool
		entries []string
		want    string
	}{
		{"by digests", true, []string{"commit: Writes a commit with care and a long text.", "deploy: Puts it online."}, "2 skills, descriptions unchanged since (digests)"},
		{"changed", true, []string{"commit: Writes.", "deploy: Puts it online."}, "2 skills, descriptions of 1 changed since (digests): commit"},
		{"by texts", false, []string{"commit: Writes a commit wi…", "deploy"}, "2 skills, descriptions unchanged since, 1 listed by name only"},
		{"changed texts", false, []string{"commit: Writes one…", "deploy: Puts it online."}, "2 skills, descriptions of 1 changed since: commit"},
		{"nothing to compare", true, []string{"init: The client's own."}, "2 skills as they are now"},
	} {
		r := &recorder{version: "2.1.332", cwd: w.shop}
		r.prompt("hello")
		r.listing(true, c.digests, c.entries...)
		r.turn(10)
		_, f := find(t, w.log(r), w.options())
		equal(t, c.name, f.Uses[0].Note, c.want)
	}
}

// A skill file that is edited and a digest that tells: the one is undetermined, the
// other a match.
func TestEditedSince(t *testing.T) {
	w := newWorld(t)
	path := w.skill(".claude/skills", "commit", "Writes now.")
	r := session(w.shop, "commit: Wrote then.")
	r.call("commit", "Base directory for this skill: "+slashed(filepath.Dir(path))+"\n\nOther text.")
	r.turn(20)
	s, f := find(t, w.log(r), w.options())
	equal(t, "verdicts", verdicts(s, f), "listing undetermined, invariant match, body undetermined")
}

func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	w := newWorld(t)
	w.skill("dotfiles/claude/skills", "commit", "Writes.")
	if err := os.Remove(w.dir); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{".claude": "dotfiles/claude", "dotfiles/claude/skills/self": ".", "dotfiles/claude/skills/loop": "loop", "dotfiles/claude/skills/gone": "/nowhere"} {
		if err := os.Symlink(target, filepath.Join(w.home, link)); err != nil {
			t.Fatal(err)
		}
	}
	r := session(w.shop, "commit: Writes.")
	for _, name := range []string{w.log(r), w.log(r, filepath.Join(w.home, "dotfiles/claude/projects/-home-dev-shop/b.jsonl"))} {
		s, f := find(t, name, w.options())
		if !f.Own || f.Inputs.Processes[0].ConfigDir != slashed(w.dir) {
			t.Errorf("%s: %+v", name, f)
		}
		equal(t, "entries", strings.Join(predicted(s, f), "\n"), "commit")
	}
}

func TestRelative(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes.")
	w.log(session("shop", "commit: Writes."), filepath.Join(w.dir, "projects", "p", "a.jsonl"))
	t.Chdir(w.home)
	o := w.options()
	o.ConfigDirs = []string{".claude"}
	s, f := find(t, filepath.Join(".claude", "projects", "p", "a.jsonl"), o)
	if !f.Own {
		t.Error("not found below a relative folder")
	}
	// A relative folder in a log is not one of this machine.
	w.skill("shop/.claude/skills", "deploy", "Puts it online.")
	equal(t, "entries", strings.Join(predicted(s, f), "\n"), "commit")
	// A name that begins like a step up is none.
	w.log(session("/nowhere", "commit: Writes."), filepath.Join(w.dir, "..odd", "a.jsonl"))
	if _, f := find(t, filepath.Join(".claude", "..odd", "a.jsonl"), o); !f.Own {
		t.Error("..odd")
	}
}

func TestForeignFolder(t *testing.T) {
	w := newWorld(t)
	for _, cwd := range []string{`C:\Users\dev\shop`, `\\server\share`, "", "/nowhere/at/all", "\x00", "~/shop"} {
		name := w.log(session(cwd, "commit: Writes."))
		s, f := find(t, name, w.options())
		if u := f.Uses[0]; u.Found || f.Inputs.Files != nil || !strings.Contains(u.Note, "--skills DIR gives them") || cwd != "" && !strings.Contains(u.Note, cwd) {
			t.Errorf("%q: %+v", cwd, u)
		}
		verdicts(s, f)
	}
	w.skill(".claude/skills", "commit", "Writes.")
	s, f := find(t, w.log(session(`C:\Users\dev\shop`, "commit: Writes.")), w.options())
	equal(t, "entries", strings.Join(predicted(s, f), "\n"), "commit")
}

// What cannot be read is said, and the rest is used.
func TestUnreadable(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes.")
	if err := os.MkdirAll(filepath.Join(w.dir, "skills", "odd", "SKILL.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, f := find(t, w.log(session(w.shop, "commit: Writes.")), w.options())
	if len(f.Problems) != 1 || !strings.HasSuffix(f.Problems[0], "skills/odd/SKILL.md: not a regular file; make it readable, or give the skills with --skills DIR") {
		t.Errorf("problems %q", f.Problems)
	}
	equal(t, "entries", strings.Join(predicted(s, f), "\n"), "commit")
}

// All sessions are judged by the same texts, read once.
func TestReadOnce(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes.")
	w.write(".claude/settings.json", `{"skillListingMaxDescChars": 100}`)
	w.write(".claude.json", `{"skillUsage": {"commit": {"usageCount": 1, "lastUsedAt": 1}}}`)
	name := w.log(session(w.shop, "commit: Writes."))
	x := NewFinder(w.options())
	for round := range 2 {
		s := observe(t, name)
		f, err := x.Find(s)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprint("verdicts ", round), verdicts(s, f), "listing match, invariant match")
		if f.Inputs.Processes[0].Settings.MaxDesc != 100 || f.Inputs.Usage.Counts["commit"].Count != 1 {
			t.Errorf("round %d: %+v", round, f.Inputs)
		}
		w.skill(".claude/skills", "commit", "Writes otherwise.")
		w.skill(".claude/skills", "new", "Is new.")
		w.write(".claude/settings.json", `{}`)
		w.write(".claude.json", `{}`)
	}
}

// Processes that resumed the conversation have the model that then answered.
func TestRestarts(t *testing.T) {
	w := newWorld(t)
	r := session(w.shop, "commit: Writes.")
	r.model = "claude-opus-4-6"
	r.turn(10)
	s := observe(t, w.log(r))
	s.Restarts = []int{len(s.Main().Events) - 1}
	f, err := NewFinder(w.options()).Find(s)
	if err != nil {
		t.Fatal(err)
	}
	p := f.Inputs.Processes
	if len(p) != 2 || p[0].Resume || p[0].Model != "claude-sonnet-4-5" || !p[1].Resume || p[1].Model != "claude-opus-4-6" {
		t.Errorf("processes %+v", p)
	}
	var starts []int
	for i, e := range s.Main().Events {
		if e.Kind == replay.Start {
			starts = append(starts, i, e.Start.Process)
		}
	}
	if len(starts) != 4 || starts[0] != 0 || starts[1] != 0 || starts[3] != 1 {
		t.Errorf("starts %v", starts)
	}
}

func TestOwns(t *testing.T) {
	w := newWorld(t)
	x := NewFinder(w.options())
	for name, want := range map[string]bool{
		filepath.Join(w.dir, "projects", "a.jsonl"): true,
		filepath.Join(w.root, "a.jsonl"):            false,
		w.dir + "-old/a.jsonl":                      false,
		"-":                                         false,
		"":                                          false,
	} {
		if got := x.Owns(&replay.Session{File: name}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !x.Owns(&replay.Session{Agents: []*replay.Agent{{File: filepath.Join(w.dir, "projects", "s", "agent-x.jsonl")}}}) {
		t.Error("a session of which only an agent's log is left")
	}
	if f, err := x.Find(&replay.Session{}); err != nil || len(f.Inputs.Processes) != 1 {
		t.Errorf("an empty session: %+v, %v", f, err)
	}
}

func FuzzSettings(f *testing.F) {
	for _, seed := range []string{"", "{}", "[]", `{"permissions":{"deny":["a",1]},"skillOverrides":{"a":"off"}}`, `{"skillListingBudgetFraction":1e999}`, "\uFEFF{\n\"env\":1}", `{"skillUsage":{"a":{"usageCount":1.5,"lastUsedAt":"x"}}}`, `{"a":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(dir, "x.json")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{CheckSettings(name), CheckUsage(name)} {
			if err != nil && strings.ContainsAny(err.Error(), "\n") {
				t.Errorf("not one line: %v", err)
			}
		}
		for _, what := range readSettings(name).faults {
			if !strings.HasPrefix(what, name+":") {
				t.Errorf("no place: %s", what)
			}
		}
		for _, flat := range []bool{false, true} {
			for _, c := range readUsage(name, flat).counts {
				if c.Count <= 0 || c.LastUsedMS < 0 {
					t.Errorf("count %+v", c)
				}
			}
		}
	})
}

// A log that begins with a compaction goes on with a session of which this one
// knows nothing: what was announced there is not missed here.
func TestCopiedHistory(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes.")
	boundary := func(r *recorder) {
		r.add("system", map[string]any{"subtype": "compact_boundary", "logicalParentUuid": "elsewhere", "parentUuid": nil,
			"compactMetadata": map[string]any{"trigger": "manual", "preTokens": 900}})
		r.turn(10)
	}
	r := &recorder{version: "2.1.332", cwd: w.shop}
	boundary(r)
	r.prompt("goes on")
	r.turn(20)
	r.listing(true, true, "commit: Writes.")
	r.turn(30)
	r.prompt("its own")
	r.call("commit", "Base directory for this skill: "+slashed(filepath.Join(w.dir, "skills", "commit"))+"\n\nDo commit.\n")
	r.turn(40)
	s, f := find(t, w.log(r), w.options())
	if got := verdicts(s, f); strings.Contains(got, "divergent") || !strings.Contains(got, "body match") {
		t.Errorf("verdicts %s", got)
	}
	if len(f.Assumptions) != 1 || !f.Inputs.Processes[0].Resume || len(f.Inputs.History) == 0 {
		t.Errorf("found %+v", f)
	}

	bare := &recorder{version: "2.1.332", cwd: w.shop}
	boundary(bare)
	bare.prompt("goes on")
	bare.turn(20)
	s, f = find(t, w.log(bare), w.options())
	equal(t, "without a listing", verdicts(s, f), "")
}
