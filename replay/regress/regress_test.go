package regress_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/fixtures"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/replay/relist"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// book writes a log.
type book struct {
	version string
	lines   []string
	n       int
	uses    *replay.Usage
}

func (b *book) add(kind string, fields map[string]any) {
	var parent any
	if b.n > 0 {
		parent = fmt.Sprintf("00000000-0000-4000-8000-%012d", b.n)
	}
	b.n++
	rec := map[string]any{"type": kind, "uuid": fmt.Sprintf("00000000-0000-4000-8000-%012d", b.n), "parentUuid": parent, "sessionId": "5e551014-0000-4000-8000-000000000000",
		"version": b.version, "cwd": "/home/dev/shop", "timestamp": fmt.Sprintf("2026-11-30T10:%02d:%02d.000Z", b.n/60, b.n%60), "isSidechain": false}
	for k, v := range fields {
		rec[k] = v
	}
	line, err := json.Marshal(rec)
	if err != nil {
		panic(err)
	}
	b.lines = append(b.lines, string(line))
}

func (b *book) prompt(text string) {
	b.add("user", map[string]any{"message": map[string]any{"role": "user", "content": text}})
}

func (b *book) listing(initial bool, entries ...string) {
	var names []string
	for _, e := range entries {
		name, _, _ := strings.Cut(strings.TrimPrefix(e, "- "), ": ")
		names = append(names, name)
	}
	b.add("attachment", map[string]any{"attachment": map[string]any{"type": "skill_listing", "content": strings.Join(entries, "\n"), "isInitial": initial, "skillCount": len(entries), "names": names}})
}

func (b *book) say(text string) {
	b.add("assistant", map[string]any{"message": map[string]any{"id": fmt.Sprintf("msg_%d", b.n), "role": "assistant", "type": "message", "model": "claude-sonnet-4-5",
		"content": []any{map[string]any{"type": "text", "text": text}}, "stop_reason": "end_turn", "usage": map[string]any{"input_tokens": 10, "output_tokens": 5}}})
}

// used gives the client's counts at the start of the session.
func (b *book) used(skill string, times int) *book {
	b.uses = &replay.Usage{Counts: map[string]replay.UsageCount{skill: {Count: times, LastUsedMS: 1_760_000_000_000}}}
	return b
}

func (b *book) compaction() {
	b.add("system", map[string]any{"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": map[string]any{"trigger": "manual", "preTokens": 1000}})
	b.add("user", map[string]any{"isCompactSummary": true, "message": map[string]any{"role": "user", "content": "Summary."}})
}

// session replays a log without any file of this machine.
func (b *book) session(t testing.TB) *regress.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(b.lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := fixtures.Session(t, path)
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	in := &replay.Inputs{Version: b.version, Rules: func(v string) *rules.Rules {
		if v == "" {
			v = b.version
		}
		r, err := table.At(v)
		if err != nil {
			return nil
		}
		return &r
	}, Processes: []replay.Process{{CWD: "/home/dev/shop", Home: "/home/dev", ConfigDir: "/home/dev/.claude", Resolved: "claude-sonnet-4-5"}}, Usage: b.uses}
	r, courses := replay.RunCourses(s, in, replay.Comparison{})
	return regress.Prepare(r, courses, in, &relist.Known{Window: 200_000})
}

// set are skills by name, with the front matter of each; a description may stand alone.
func set(t testing.TB, files map[string]string) *regress.Set {
	t.Helper()
	tree := skills.NewMemory()
	if err := tree.Mkdir("/skills"); err != nil {
		t.Fatal(err)
	}
	for name, front := range files {
		if !strings.Contains(front, ": ") {
			front = "description: " + front
		}
		if err := tree.Write("/skills/"+name+"/SKILL.md", []byte("---\n"+front+"\n---\nDo it.\n")); err != nil {
			t.Fatal(err)
		}
	}
	return regress.NewSet("skills", tree, []string{"/skills"})
}

// crowd are n entries of w characters each, and the listing's budget is 8,000.
func crowd(n, w int) []string {
	var out []string
	for i := range n {
		line := fmt.Sprintf("- crowd-%02d: ", i)
		out = append(out, line+strings.Repeat("y", w-len(line)))
	}
	return out
}

const new1 = "2.1.332"

func basic(version string, entries ...string) *book {
	b := &book{version: version}
	b.prompt("run the pending migration")
	b.listing(true, entries...)
	b.say("done")
	return b
}

func TestVerdicts(t *testing.T) {
	long := strings.Repeat("z", 800)
	for _, tt := range []struct {
		name       string
		log        *book
		set, base  map[string]string
		at         spec.At
		expect     spec.Expect
		scorer     spec.Scorer
		verdict    regress.Verdict
		change     regress.Change
		says, lack string
	}{
		{name: "nothing changed", log: basic(new1, "- commit: Writes a commit.", "- migrate: Runs it."), set: map[string]string{"migrate": "Runs it."},
			expect: shown("migrate", "full", "commit", "full", "other", "absent"), verdict: regress.Passed, change: regress.Same},
		{name: "grown within the budget", log: basic(new1, "- commit: Writes a commit.", "- migrate: Runs it."), set: map[string]string{"migrate": long},
			expect: shown("migrate", "full", "commit", "full"), verdict: regress.Passed, change: regress.Same},
		{name: "pushes another out", log: basic(new1, append([]string{"- alpha: Does alpha."}, append(crowd(15, 500), "- zulu: Does zulu and what follows it, at length and in detail.")...)...), set: map[string]string{"alpha": long},
			expect: shown("crowd-14", "full"), verdict: regress.Failed, change: regress.Broken, says: "crowd-14 is listed by name only, not described in full: alpha grew by 789 characters; the listing asks for"},
		{name: "the other is not pushed out where there is room", log: basic(new1, append([]string{"- alpha: Does alpha."}, crowd(10, 500)...)...), set: map[string]string{"alpha": long},
			expect: shown("crowd-09", "full"), verdict: regress.Passed, change: regress.Same},
		{name: "too long for the cap", log: basic(new1, "- migrate: Runs it."), set: map[string]string{"migrate": strings.Repeat("w", 2000)},
			expect: shown("migrate", "full"), verdict: regress.Failed, change: regress.Broken, says: "characters; its text is longer than what one entry may take"},
		{name: "manual only now", log: basic(new1, "- migrate: Runs it."), set: map[string]string{"migrate": "description: Runs it.\ndisable-model-invocation: true"},
			expect: shown("migrate", "full"), verdict: regress.Failed, change: regress.Broken, says: "absent, not described in full: disable-model-invocation"},
		{name: "held back by paths now", log: basic(new1, "- migrate: Runs it."), set: map[string]string{"migrate": "description: Runs it.\npaths: [\"db/**\"]"},
			expect: shown("migrate", "full"), verdict: regress.Failed, change: regress.Broken, says: "migrate is absent, not described in full: its paths (db) match no file"},
		{name: "deleted since the baseline", log: basic(new1, "- migrate: Runs it.", "- commit: Writes."), set: map[string]string{"commit": "Writes."}, base: map[string]string{"migrate": "Runs it.", "commit": "Writes."},
			expect: shown("migrate", "full"), verdict: regress.Failed, change: regress.Broken, says: "it is no longer there"},
		{name: "new", log: basic(new1, "- commit: Writes."), set: map[string]string{"migrate": "Runs it."},
			expect: shown("migrate", "full"), verdict: regress.Passed, change: regress.Fixed},
		{name: "the most used grows and stays", log: basic(new1, append(crowd(15, 500), "- zulu: "+strings.Repeat("q", 400))...).used("zulu", 9), set: map[string]string{"zulu": long},
			expect: shown("zulu", "full", "crowd-14", "full"), verdict: regress.Failed, change: regress.Broken, says: "crowd-14 is listed by name only, not described in full: zulu grew by 400 characters", lack: "usage counts are not known"},
		{name: "one that was never used grows", log: basic(new1, append(crowd(15, 500), "- zulu: "+strings.Repeat("q", 400))...), set: map[string]string{"zulu": long},
			expect: shown("zulu", "name_only", "crowd-14", "full"), verdict: regress.Passed, change: regress.Fixed},
		{name: "new takes room", log: basic(new1, append(crowd(15, 500), "- zulu: "+strings.Repeat("q", 400))...), set: map[string]string{"aaa": long},
			expect: shown("zulu", "full"), verdict: regress.Failed, says: "aaa is new", change: regress.Broken},
		{name: "shrunk gives room", log: basic(new1, append(append([]string{"- alpha: " + long}, crowd(14, 500)...), "- zulu")...), set: map[string]string{"alpha": "Does alpha.", "zulu": "Runs it, when it is asked for."},
			expect: shown("zulu", "full"), verdict: regress.Passed, change: regress.Fixed},
		{name: "what was cut is not known", log: basic(new1, append(append([]string{"- alpha: " + long}, crowd(14, 500)...), "- zulu")...), set: map[string]string{"alpha": "Does alpha."},
			expect: shown("zulu", "full"), verdict: regress.Inconclusive, says: "missing: skill files"},
		{name: "failed before too", log: basic(new1, "- commit: Writes."), set: map[string]string{"commit": "Writes."},
			expect: shown("migrate", "full"), verdict: regress.Failed, change: regress.Same, says: "no listing that stands at this prompt has it"},
		{name: "near name", log: basic(new1, "- commit: Writes."), set: map[string]string{"commit": "Writes."},
			expect: shown("comit", "full"), verdict: regress.Failed, change: regress.Same, says: "did you mean commit?"},
		{name: "a plugin's skill by its bare name", log: basic(new1, "- shop:migrate: Runs it."), set: map[string]string{"migrate": "Runs it well."},
			expect: shown("shop:migrate", "full"), verdict: regress.Passed, change: regress.Same},
		{name: "no listing in the log", log: func() *book { b := &book{version: "2.1.50"}; b.prompt("run it"); b.say("done"); return b }(), set: map[string]string{"migrate": "Runs it."},
			expect: shown("migrate", "full"), verdict: regress.Inconclusive, says: "the log holds no listing for this prompt"},
		{name: "lost at a compaction", log: func() *book {
			b := basic("2.1.200", "- migrate: Runs it.")
			b.compaction()
			b.prompt("again")
			b.say("done")
			return b
		}(), set: map[string]string{"migrate": "Runs it."}, at: spec.At{Prompt: 2},
			expect: shown("migrate", "absent"), verdict: regress.Passed, change: regress.Same},
		{name: "no such prompt", log: basic(new1, "- commit: Writes."), set: map[string]string{}, at: spec.At{Prompt: 7},
			expect: shown("commit", "full"), verdict: regress.Errored, says: "none of the 1 prompts"},
		{name: "by text", log: basic(new1, "- commit: Writes."), set: map[string]string{}, at: spec.At{Text: "PENDING"},
			expect: shown("commit", "full"), verdict: regress.Passed, change: regress.Same},
		{name: "by uuid", log: basic(new1, "- commit: Writes."), set: map[string]string{}, at: spec.At{UUID: "00000000-0000-4000-8000-000000000001"},
			expect: shown("commit", "full"), verdict: regress.Passed, change: regress.Same},
		{name: "triggers and listed", log: basic(new1, "- commit: Writes."), set: map[string]string{}, expect: triggers("commit"), verdict: regress.Passed, change: regress.Same},
		{name: "triggers and in no listing", log: basic(new1, "- commit: Writes."), set: map[string]string{}, expect: triggers("migrate"), verdict: regress.Inconclusive, says: "no signal: migrate was in no listing"},
		{name: "triggers and no longer listed", log: basic(new1, "- migrate: Runs it."), set: map[string]string{"migrate": "description: Runs it.\ndisable-model-invocation: true"},
			expect: triggers("migrate"), verdict: regress.Failed, change: regress.Broken, says: "it cannot be called"},
		{name: "none only a model can tell", log: basic(new1, "- commit: Writes."), set: map[string]string{}, expect: triggers(), verdict: regress.Skipped, says: "--scorer live or command"},

		{name: "rank", scorer: spec.ScoreLexical, log: basic(new1, "- commit: Writes a commit.", "- migrate: Runs the migration that is pending."), set: map[string]string{},
			expect: ranks("migrate", 1), verdict: regress.Passed, change: regress.Same},
		{name: "rank lost", scorer: spec.ScoreLexical, log: basic(new1, "- commit: Writes a commit.", "- migrate: Runs the migration that is pending.", "- other: Else."), set: map[string]string{"migrate": "Changes pending tables.", "commit": "Run the pending migration and commit."},
			expect: ranks("migrate", 1), verdict: regress.Failed, change: regress.Broken, says: "migrate ranks 2 of 3 by words, not within 1; commit ranks first (it ranked 1 before)"},
		{name: "no word shared", scorer: spec.ScoreLexical, log: basic(new1, "- commit: Writes.", "- tables: Changes them."), set: map[string]string{},
			expect: ranks("tables", 2), verdict: regress.Failed, change: regress.Same, says: "tables shares no word with the prompt"},
		{name: "rank of what is not listed", scorer: spec.ScoreLexical, log: basic(new1, "- commit: Writes."), set: map[string]string{},
			expect: ranks("migrate", 1), verdict: regress.Inconclusive, says: "no signal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &spec.Case{Name: tt.name, At: tt.at, Expect: tt.expect}
			if c.At == (spec.At{}) {
				c.At.Prompt = 1
			}
			if tt.scorer == "" {
				tt.scorer = spec.ScoreVisible
			}
			var base *regress.Set
			if tt.base != nil {
				base = set(t, tt.base)
			}
			got, _, _ := tt.log.session(t).Run(c, []spec.Scorer{tt.scorer}, set(t, tt.set), base)
			if len(got) != 1 || got[0].Verdict != tt.verdict || got[0].Change != tt.change || !strings.Contains(got[0].Reason, tt.says) {
				t.Errorf("%s, %q: %s\nwant %s, %q: %s", got[0].Verdict, got[0].Change, got[0].Reason, tt.verdict, tt.change, tt.says)
			}
			if assumed := strings.Join(got[0].Assumed, "; "); tt.lack != "" && strings.Contains(assumed, tt.lack) {
				t.Errorf("assumed: %s", assumed)
			}
		})
	}
}

func shown(pairs ...string) spec.Expect {
	var e spec.Expect
	for i := 0; i < len(pairs); i += 2 {
		e.Visible = append(e.Visible, spec.Visible{Skill: pairs[i], Shown: replay.Shown(pairs[i+1])})
	}
	return e
}

func triggers(names ...string) spec.Expect { return spec.Expect{Triggers: &spec.Triggers{Any: names}} }

func ranks(name string, within int) spec.Expect {
	return spec.Expect{Rank: []spec.Rank{{Skill: name, Within: within}}}
}

// Two runs of one case say the same.
func TestDeterministic(t *testing.T) {
	b := basic(new1, append(append([]string{"- alpha: Does alpha."}, crowd(15, 500)...), "- zulu: Does zulu.")...)
	run := func() string {
		got, size, _ := b.session(t).Run(&spec.Case{Name: "x", At: spec.At{Prompt: 1}, Expect: shown("zulu", "full")}, []spec.Scorer{spec.ScoreVisible, spec.ScoreLexical},
			set(t, map[string]string{"alpha": strings.Repeat("z", 800), "bravo": "new", "zulu": "other"}), nil)
		text, err := json.Marshal([]any{got, size})
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "session.jsonl", "")
	}
	first := run()
	for range 5 {
		if again := run(); stripTemp(again) != stripTemp(first) {
			t.Fatalf("%s\n%s", first, again)
		}
	}
}

// stripTemp takes the name of the temporary folder out.
func stripTemp(s string) string {
	i := strings.Index(s, `"File":"`)
	if i < 0 {
		return s
	}
	j := strings.Index(s[i+8:], `"`)
	return s[:i] + stripTemp(s[i+8+j:])
}

func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		in   []regress.Verdict
		want regress.Verdict
	}{
		{nil, regress.Inconclusive},
		{[]regress.Verdict{regress.Passed, regress.Skipped}, regress.Passed},
		{[]regress.Verdict{regress.Passed, regress.Errored}, regress.Inconclusive},
		{[]regress.Verdict{regress.Errored, regress.Passed}, regress.Inconclusive},
		{[]regress.Verdict{regress.Errored, regress.Inconclusive}, regress.Errored},
		{[]regress.Verdict{regress.Skipped, regress.Skipped}, regress.Skipped},
		{[]regress.Verdict{regress.Skipped, regress.Inconclusive}, regress.Inconclusive},
		{[]regress.Verdict{regress.Errored, regress.Failed, regress.Passed}, regress.Failed},
		{[]regress.Verdict{regress.Inconclusive, regress.Inconclusive}, regress.Inconclusive},
		{[]regress.Verdict{regress.Inconclusive, regress.Passed}, regress.Passed},
	} {
		var list []regress.Result
		for _, v := range tt.in {
			list = append(list, regress.Result{Verdict: v})
		}
		if got := regress.Outcome(list); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestShard(t *testing.T) {
	list := []int{1, 2, 3, 4, 5}
	var all []int
	for k := 1; k <= 3; k++ {
		all = append(all, regress.Shard(list, k, 3)...)
	}
	slices.Sort(all)
	if !slices.Equal(all, list) || !slices.Equal(regress.Shard(list, 2, 3), []int{2, 5}) {
		t.Errorf("%v %v", all, regress.Shard(list, 2, 3))
	}
}

func TestBudget(t *testing.T) {
	five := 5
	sizes := []regress.CaseSize{{Case: "a", Before: regress.Size{NameOnly: 1}, After: regress.Size{NameOnly: 9}}, {Case: "b", Before: regress.Size{NameOnly: 2}, After: regress.Size{NameOnly: 3}}}
	got := regress.BudgetResults(&spec.Budget{NameOnly: &five}, sizes)
	if len(got) != 1 || got[0].Verdict != regress.Failed || got[0].Change != regress.Broken || got[0].Reason != "9 in a, at most 5 (1 before)" {
		t.Errorf("%+v", got)
	}
	if got := regress.BudgetResults(&spec.Budget{NameOnly: &five}, nil); got[0].Verdict != regress.Inconclusive {
		t.Errorf("%+v", got)
	}
}
