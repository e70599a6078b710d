package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/skilltrace/skilltrace/replay"
)

const whole = `version: 1
skills: [.claude/skills]
baseline: {git: main}
client: claude-code@2.1.332
window: 200_000
model: claude-sonnet-4-5
usage: usage.json
settings: settings.json
scorer: [visible, lexical]
command: python3 agent.py "two words"
thresholds: {runs: 5, rate: 0.9}
budget: {listing_tokens: 2500, listing_chars: 8000, name_only: 0, shortened: 1, absent: 2}
cases:
  - name: a commit request finds commit-helper
    session: testdata/commit.jsonl
    at: {prompt: 3}
    expect:
      visible: {commit-helper: full, db-migrate: absent}
      triggers: commit-helper
      rank: {commit-helper: 3}
  - name: no skill for small talk
    session: testdata/commit.jsonl
    at: {text: "hello", agent: main}
    scorer: live
    expect: {triggers: none}
    review: was typed right after
  - name: one of two
    session: x.jsonl
    at: {uuid: 3526b199}
    expect: {triggers: [a, b]}
    skip: not yet
`

func TestRead(t *testing.T) {
	s, err := Read("x.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if s.Baseline.Git != "main" || s.Window != 200_000 || s.Runs != 5 || s.Rate != 0.9 || *s.Budget.NameOnly != 0 || *s.Budget.ListingTokens != 2500 {
		t.Errorf("%+v", s)
	}
	if want := []string{"python3", "agent.py", "two words"}; !slices.Equal(s.Command, want) {
		t.Errorf("command %q, want %q", s.Command, want)
	}
	if len(s.Cases) != 3 {
		t.Fatalf("%d cases", len(s.Cases))
	}
	c := s.Cases[0]
	if want := []Visible{{"commit-helper", replay.ShownFull, 18}, {"db-migrate", replay.ShownAbsent, 18}}; !reflect.DeepEqual(c.Expect.Visible, want) {
		t.Errorf("visible %+v", c.Expect.Visible)
	}
	if c.At.Prompt != 3 || !slices.Equal(c.Expect.Triggers.Any, []string{"commit-helper"}) || c.Expect.Rank[0] != (Rank{"commit-helper", 3, 20}) {
		t.Errorf("%+v", c)
	}
	if c := s.Cases[1]; c.Expect.Triggers == nil || len(c.Expect.Triggers.Any) != 0 || c.At.Text != "hello" || c.Review == "" || !slices.Equal(c.Scorers, []Scorer{ScoreLive}) {
		t.Errorf("%+v", c)
	}
	if c := s.Cases[2]; len(c.Expect.Triggers.Any) != 2 || c.Skip != "not yet" {
		t.Errorf("%+v", c)
	}
}

// A spec that says nothing else has the log as its baseline, and the usual thresholds.
func TestDefaults(t *testing.T) {
	s, err := Read("x.yaml", []byte("version: 1\ncases: [{name: a, session: s, at: {prompt: 1}, expect: {triggers: none}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !s.Baseline.IsLog() || s.Runs != DefaultRuns || s.Rate != DefaultRate || !s.Budget.IsZero() || s.Scorers != nil {
		t.Errorf("%+v", s)
	}
	if s, err = Read("x.yaml", []byte("version: 1\nbaseline: log\ncases: [{name: a, session: s, at: {prompt: 1}, expect: {triggers: none}}]\n")); err != nil || !s.Baseline.IsLog() {
		t.Errorf("%+v %v", s, err)
	}
}

func TestErrors(t *testing.T) {
	const head = "version: 1\ncases:\n"
	const one = "  - {name: a, session: s, at: {prompt: 1}, expect: {triggers: none}}\n"
	for _, tt := range []struct{ text, want string }{
		{"", "x.yaml: empty: write at least version, skills and cases"},
		{"a: [", "x.yaml:1: not YAML: did not find expected node content"},
		{"- a", "x.yaml:1: the spec: want keys with values, such as version"},
		{"version: 2\n", "x.yaml:1: version 2: this program reads version 1"},
		{"version: one\n", "x.yaml:1: version: want a whole number, 1 or more"},
		{"cases:\n" + one, "x.yaml:1: version is missing: write version: 1"},
		{"version: 1\n", "x.yaml:1: cases are missing: without one nothing is tested"},
		{"version: 1\nskils: [a]\ncases:\n" + one, `x.yaml:2: unknown key "skils" (did you mean skills?) in the spec`},
		{head + "  - {name: a, sesion: s, at: {prompt: 1}, expect: {triggers: none}}\n", `x.yaml:3: unknown key "sesion" (did you mean session?) in a case`},
		{head + "  - {name: a, session: s, at: {prompt: 1}, expect: {visible: {b: shortend}}}\n", `x.yaml:3: b: unknown form "shortend" (did you mean shortened?)`},
		{head + "  - {name: a, session: s, at: {prompt: 1}, expect: {visible: {b: full, b: full}}}\n", `x.yaml:3: visible: b stands twice`},
		{head + "  - {name: a, session: s, at: {prompt: 1}, expect: {visible: {}}}\n", "x.yaml:3: visible: want names of skills with values, such as {deploy: full}"},
		{head + "  - {name: a, session: s, at: {prompt: 1}, expect: {rank: {b: 0}}}\n", "x.yaml:3: b: want a whole number, 1 or more"},
		{head + "  - {name: a, session: s, at: {prompt: 1}, expect: {triggers: [a, none]}}\n", "x.yaml:3: triggers: none stands alone"},
		{head + "  - {name: a, session: s, at: {prompt: 1}, expect: {}}\n", `x.yaml:3: the case "a" expects nothing: write visible, triggers or rank`},
		{head + "  - {name: a, session: s, expect: {triggers: none}}\n", `x.yaml:3: the case "a" names no prompt: write at: {prompt: 1}`},
		{head + "  - {name: a, at: {prompt: 1}, expect: {triggers: none}}\n", `x.yaml:3: the case "a" names no session`},
		{head + "  - {name: a, session: '-', at: {prompt: 1}, expect: {triggers: none}}\n", `x.yaml:3: the case "a": a session is a file or an id, not standard input`},
		{head + "  - {session: s, at: {prompt: 1}, expect: {triggers: none}}\n", "x.yaml:3: a case has no name"},
		{head + "  - {name: a, session: s, at: {prompt: 1, text: b}, expect: {triggers: none}}\n", "x.yaml:3: at: want one of prompt, uuid and text"},
		{head + one + one, `x.yaml:4: the name "a" stands at line 3 already`},
		{head + "  - {name: a, session: s, at: {prompt: 1}, scorer: vissible, expect: {triggers: none}}\n", `x.yaml:3: unknown scorer "vissible" (did you mean visible?)`},
		{"version: 1\nbaseline: main\ncases:\n" + one, "x.yaml:2: baseline: want log, {git: REVISION} or {folder: DIR}"},
		{"version: 1\nbaseline: {git: main}\ncases:\n" + one, "x.yaml:2: baseline: git needs skills, the folders that are read at that revision"},
		{"version: 1\nskills: [a]\nbaseline: {git: --exec=x}\ncases:\n" + one, `x.yaml:3: git: "--exec=x" is no revision`},
		{"version: 1\nskills: [a]\nbaseline: {git: main, folder: b}\ncases:\n" + one, "x.yaml:3: baseline: want one of git and folder"},
		{"version: 1\nthresholds: {rate: 2}\ncases:\n" + one, "x.yaml:2: rate: want a part above 0, up to 1, such as 0.8"},
		{"version: 1\nbudget: {name_only: -1}\ncases:\n" + one, "x.yaml:2: name_only: want a whole number, 0 or more"},
		{"version: 1\ncommand: a | b\ncases:\n" + one, "x.yaml:2: the command "},
		{"version: 1\ncommand: a $HOME\ncases:\n" + one, "x.yaml:2: the command "},
		{"version: 1\nversion: 1\ncases:\n" + one, "x.yaml:2: version stands twice in the spec"},
		{"version: 1\ncases:\n" + one + "---\nversion: 1\n", "x.yaml:4: a second document: write one spec in a file"},
	} {
		_, err := Read("x.yaml", []byte(tt.text))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q:\n got  %v\n want %s", tt.text, err, tt.want)
		}
		var p Problems
		if err != nil && !errors.As(err, &p) {
			t.Errorf("%q: %T", tt.text, err)
		}
	}
}

// All that is wrong is said, in the order of the file.
func TestAllProblems(t *testing.T) {
	_, err := Read("x.yaml", []byte("version: 1\nskils: [a]\nwindow: -1\ncases:\n  - {nam: a}\n"))
	var p Problems
	if !errors.As(err, &p) || len(p) != 3 || p[0].Line != 2 || p[1].Line != 3 || p[2].Line != 5 {
		t.Errorf("%v", err)
	}
}

// Aliases are followed, and one that has no end ends.
func TestAliases(t *testing.T) {
	s, err := Read("x.yaml", []byte("version: 1\ncases:\n  - {name: a, session: &s s.jsonl, at: &p {prompt: 1}, expect: {triggers: none}}\n  - {name: b, session: *s, at: *p, expect: {triggers: none}}\n"))
	if err != nil || s.Cases[1].Session != "s.jsonl" || s.Cases[1].At.Prompt != 1 {
		t.Errorf("%+v %v", s, err)
	}
	if _, err := Read("x.yaml", []byte("version: 1\ncases: &c [*c]\n")); err == nil {
		t.Error("a list of itself is no spec")
	}
}

// A list that stands in many places by aliases has a bound.
func TestBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\ncases:\n  - {name: a, session: s, at: {prompt: 1}, expect: {visible: &v {")
	for i := range 2000 {
		fmt.Fprintf(&b, "s%d: full, ", i)
	}
	b.WriteString("}}}\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "  - {name: a%d, session: s, at: {prompt: 1}, expect: {visible: *v}}\n", i)
	}
	_, err := Read("x.yaml", []byte(b.String()))
	if err == nil || !strings.Contains(err.Error(), "more than 1000000 expectations") || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("%.200v", err)
	}
}

func TestRewrite(t *testing.T) {
	text := strings.Replace(whole, "visible: {commit-helper: full, db-migrate: absent}", `visible: {commit-helper: "full", db-migrate: absent} # why`, 1)
	got, left := Rewrite([]byte(text), []Update{{18, "commit-helper", replay.ShownNameOnly}, {18, "db-migrate", replay.ShownFull}})
	want := strings.Replace(text, `commit-helper: "full", db-migrate: absent`, "commit-helper: name_only, db-migrate: full", 1)
	if string(got) != want || len(left) != 0 {
		t.Errorf("left %v, got\n%s", left, got)
	}
	if got, left := Rewrite([]byte(text), []Update{{18, "other", replay.ShownFull}}); string(got) != text || len(left) != 1 {
		t.Errorf("left %v, got\n%s", left, got)
	}
}

// The JSON Schema takes what the reader takes, and knows the same keys.
func TestSchema(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "schema", "skilltrace.test.json")
	schema, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
	// YAML's own numbers have no underscores in the schema's eyes.
	if err := check(strings.Replace(whole, "200_000", "200000", 1)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"version: 1\nskils: [a]\ncases: []\n", "version: 2\ncases: [{name: a, session: s, at: {prompt: 1}, expect: {triggers: none}}]\n",
		"version: 1\ncases: [{name: a, session: s, at: {prompt: 1, text: b}, expect: {triggers: none}}]\n", "version: 1\ncases: [{name: a, session: s, at: {prompt: 1}, expect: {}}]\n"} {
		if check(bad) == nil {
			t.Errorf("the schema takes %s", bad)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"version", "skills", "baseline", "git", "folder", "client", "window", "model", "usage", "settings", "scorer", "command", "thresholds", "runs", "rate",
		"budget", "listing_tokens", "listing_chars", "name_only", "shortened", "absent", "cases", "name", "session", "at", "prompt", "uuid", "text", "agent", "expect", "visible", "triggers", "rank", "skip", "review"} {
		if !strings.Contains(string(data), `"`+key+`"`) {
			t.Errorf("the schema does not know %s", key)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("version: 1\ncases: &c [*c]\n"))
	f.Add([]byte("version: 1\nskils: [a]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Read("x.yaml", text)
		if err != nil {
			return
		}
		var updates []Update
		for i := range s.Cases {
			for _, v := range s.Cases[i].Expect.Visible {
				updates = append(updates, Update{v.Line, v.Skill, replay.ShownNameOnly})
			}
		}
		now, left := Rewrite(text, updates)
		if len(left) > 0 || len(updates) == 0 {
			return
		}
		again, err := Read("x.yaml", now)
		if err != nil {
			t.Fatalf("%v after rewriting %q to %q", err, text, now)
		}
		for i := range again.Cases {
			for _, v := range again.Cases[i].Expect.Visible {
				if v.Shown != replay.ShownNameOnly {
					t.Fatalf("%s is %s in %q", v.Skill, v.Shown, now)
				}
			}
		}
	})
}
