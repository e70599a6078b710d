package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// dialect is a fixture of ../fixtures/dialects: a log in the shape of a client that is
// only described, with the files that it saw.
type dialect struct {
	name, client string
	home         string // where home/ lay
}

var dialects = []dialect{
	{"article/session", "article", "/home/dev/.claude"},
	{"mini-cc/session", "mini-cc", "/home/dev/.mini_cc"},
	{"mini-cc/budget", "mini-cc", "/home/dev/.mini_cc"},
	{"agent-sdk/session", "agent-sdk", "/home/dev/.claude"},
}

// edit changes a text on one line of a fixture's log, or of the log of an agent.
type edit struct {
	agent    string
	line     int
	from, to string
}

// run replays the fixture as its client should have behaved, with its files known.
func (d dialect) run(t *testing.T, edits ...edit) *replay.Result {
	t.Helper()
	root := filepath.Join("../fixtures/dialects", filepath.FromSlash(d.name))
	m := skills.NewMemory()
	for from, to := range map[string]string{"home": d.home, "project": "/home/dev/shop", "managed": "/etc/claude-code"} {
		top := filepath.Join(root, from)
		err := filepath.WalkDir(top, func(path string, e os.DirEntry, err error) error {
			if os.IsNotExist(err) && path == top {
				return nil
			}
			if err != nil || e.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(top, path)
			if err != nil {
				return err
			}
			return m.Write(to+"/"+filepath.ToSlash(rel), text)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	logs, err := filepath.Glob(filepath.Join(root, "home/projects/*/*.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	agents, err := filepath.Glob(filepath.Join(strings.TrimSuffix(logs[0], ".jsonl"), "subagents", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var sources []replay.Source
	for _, path := range append(logs, agents...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(string(text), "\n")
		id, _ := strings.CutPrefix(strings.TrimSuffix(filepath.Base(path), ".jsonl"), "agent-")
		for _, e := range edits {
			switch {
			case e.agent != id && (e.agent != "" || path != logs[0]):
			case !strings.Contains(rows[e.line-1], e.from):
				t.Fatalf("line %d does not hold %s: %s", e.line, e.from, rows[e.line-1])
			default:
				rows[e.line-1] = strings.ReplaceAll(rows[e.line-1], e.from, e.to)
			}
		}
		src := source(filepath.Base(path), strings.Join(rows, "\n"))
		if path != logs[0] {
			src.Agent = id
		}
		sources = append(sources, src)
	}
	s, err := replay.Observe(sources[0], sources[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return described(t, d.client, d.home, m, s)
}

// described replays a session under the rules of a client that is only described.
func described(t *testing.T, client, home string, m *skills.Memory, s *replay.Session) *replay.Result {
	t.Helper()
	table, err := rules.For(client)
	if err != nil {
		t.Fatal(err)
	}
	r, err := table.At("")
	if err != nil {
		t.Fatal(err)
	}
	started(s)
	in := inputs(t, "", m)
	in.Rules = func(string) *rules.Rules { return &r }
	in.Processes[0].ConfigDir, in.Processes[0].ManagedDir = home, "/etc/claude-code"
	in.ListingsSeen = map[string]bool{}
	for _, a := range s.Agents {
		in.ListingsSeen[a.ID] = client == "article"
	}
	in.Usage = &replay.Usage{Counts: map[string]replay.UsageCount{"ant": {Count: 1}, "cat": {Count: 9}, "dog": {Count: 2}, "eel": {Count: 2}}}
	return replay.Run(s, in, replay.Comparison{Exact: true, RulesExact: true, Assumed: r.Assumed})
}

// outcome lists the checks that are no match: agent, kind, verdict, rule, skill.
func outcome(r *replay.Result) (match int, others []string) {
	for _, a := range r.Agents {
		for _, c := range a.Checks {
			if c.Verdict == replay.Match {
				match++
				continue
			}
			verdict := string(c.Verdict)
			if c.Unconfirmed {
				verdict = "unconfirmed"
			}
			others = append(others, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", c.Agent, c.Kind, verdict, c.Rule, c.Skill)))
		}
	}
	return match, others
}

// TestDialects replays the fixtures as they are: every check agrees.
func TestDialects(t *testing.T) {
	want := map[string]int{"article/session": 17, "mini-cc/session": 9, "mini-cc/budget": 2, "agent-sdk/session": 6}
	for _, d := range dialects {
		match, others := outcome(d.run(t))
		if len(others) > 0 || match != want[d.name] {
			t.Errorf("%s: %d match, want %d; %s", d.name, match, want[d.name], strings.Join(others, "; "))
		}
	}
}

// TestDialectsTampered changes one thing in a fixture: what a description says of it is
// found to be departed from, there and nowhere else.
func TestDialectsTampered(t *testing.T) {
	const base = "Base directory for this skill: "
	for _, c := range []struct {
		name  string
		of    int // index into dialects
		edits []edit
		want  string
	}{
		{"a manual-only skill is listed", 0, []edit{{line: 2, from: `- commit: Write a commit.`, to: `- commit: Write a commit.\n- manual: Only by hand.`}}, "main listing divergent send.first"},
		{"legacy commands stand first", 0, []edit{{line: 2, from: `\n- fix: Fix an issue.`, to: ``}, {line: 2, from: `"- policy`, to: `"- fix: Fix an issue.\n- policy`}}, "main listing divergent send.first"},
		{"an old name with a later turn", 0, []edit{{line: 24, from: `- ops: Rules of operations.`, to: `- ops: Rules of operations.\n- commit: Write a commit.`}}, "main relist divergent send.on_touch"},
		{"a subagent gets only what is new", 0, []edit{{agent: "s1", line: 2, from: `- policy: House policy.\n`, to: ``}}, "s1 listing divergent send.first"},
		{"arguments from zero", 0, []edit{{line: 5, from: `Ship staging at now, then .`, to: `Ship now at , then .`}}, "main body divergent body deploy; main reattachment divergent compaction.in_requests"},
		{"variables after inline shell", 0, []edit{{line: 5, from: `session a1111111-0000-4000-8000-000000000001.\n`, to: `session ${CLAUDE_SESSION_ID}.\n`}}, "main body divergent body deploy; main reattachment divergent compaction.in_requests"},
		{"inline shell of a managed skill", 0, []edit{{line: 17, from: "!`date`", to: "Monday"}}, "main body divergent body policy"},
		{"a guess", 0, []edit{{line: 10, from: `deplo</tool`, to: `deplo. Did you mean deploy?</tool`}}, "main refusal divergent call.did_you_mean deplo"},
		{"a near name accepted", 0, []edit{{line: 10, from: `"is_error": true`, to: `"is_error": false`}, {line: 10, from: `<tool_use_error>Unknown skill: deplo</tool_use_error>`, to: `Launching skill: deplo`}}, "main refusal divergent call.did_you_mean deplo"},
		{"the body as the result", 0, []edit{{line: 16, from: `Launching skill: policy`, to: base + `/etc/claude-code/.claude/skills/policy\n\nRun`}}, "main body divergent call.body_place policy; main body undetermined  policy"},
		{"oldest first after a compaction", 0, []edit{{line: 28, from: `"name": "policy"`, to: `"name": "other"`}}, "main reattachment divergent compaction.in_requests"},
		{"the listing again after a compaction", 0, []edit{{line: 28, from: `"type": "invoked_skills"`, to: `"type": "skill_listing", "content": "- commit: Write a commit.", "isInitial": true`}}, "main relist divergent send.edited"},
		{"compaction too early", 0, []edit{{line: 26, from: `150000`, to: `120000`}}, "main invariant divergent compaction.auto_from"},
		{"a fork without its frame", 0, []edit{{agent: "f1", line: 1, from: `Look at the.`, to: `Look at ${1}.`}}, "f1 body divergent call.fork_works survey"},

		{"not sorted by name", 1, []edit{{line: 2, from: `- alpha: The alpha of the project.\n- beta: The beta.\n`, to: `- beta: The beta.\n- alpha: The alpha of the project.\n`}}, "main listing divergent send.first"},
		{"the home wins", 1, []edit{{line: 2, from: `The alpha of the project`, to: `The alpha of the home`}}, "main listing divergent send.first"},
		{"a description missing under the budget", 1, []edit{{line: 2, from: `- check: Run the checks.`, to: `- check`}}, "main listing divergent send.first"},
		{"a first line in place of a description", 1, []edit{{line: 2, from: `- omega`, to: `- omega: Last.`}}, "main listing divergent send.first"},
		{"a manual-only skill in the catalogue", 1, []edit{{line: 2, from: `- omega`, to: `- manual: By hand.\n- omega`}}, "main listing divergent send.first"},
		{"another catalogue later", 1, []edit{{line: 18, from: `- omega`, to: `- new: New.\n- omega`}}, "main relist divergent send.on_change"},
		{"quotes parted words", 1, []edit{{line: 4, from: `one|'two|three'|.`, to: `one|two three||.`}}, "main body divergent body alpha"},
		{"a missing word kept", 1, []edit{{line: 4, from: `three'|.`, to: `three'|$3.`}}, "main body divergent body alpha"},
		{"no line break behind appended arguments", 1, []edit{{line: 6, from: `ARGUMENTS: hard\n`, to: `ARGUMENTS: hard`}}, "main body divergent body beta"},
		{"arguments dropped", 1, []edit{{line: 6, from: `\n\nARGUMENTS: hard\n`, to: ``}}, "main body divergent body beta"},
		{"the result is the body", 1, []edit{{line: 4, from: `"content": "Launching skill: alpha"`, to: `"content": "` + base + `/home/dev/shop/.mini_cc/skills/alpha\n\nIn"`}}, "main body divergent call.body_place alpha; main body divergent  alpha"},
		{"other words of refusal", 1, []edit{{line: 8, from: `can be invoked only by the user`, to: `is manual`}}, "main refusal divergent call.dmi_phrase manual"},
		{"a manual-only skill runs", 1, []edit{{line: 8, from: `, "is_error": true`, to: ``}, {line: 8, from: `Error: manual can be invoked only by the user.`, to: `Launching skill: manual`}}, "main refusal divergent call.dmi_phrase manual"},
		{"the tags before the body", 1, []edit{{line: 12, from: `By hand: now.`, to: `By hand: $0.`}}, "main body divergent body.typed manual"},
		{"a body changed after a compaction", 1, []edit{{line: 16, from: `All: one`, to: `All: 1`}}, "main reattachment divergent compaction.in_requests"},
		{"a body lost after a compaction", 1, []edit{{line: 16, from: `"name": "beta"`, to: `"name": "alpha"`}}, "main reattachment divergent compaction.in_requests"},

		{"the wrong one loses its text", 2, []edit{{line: 2, from: `- bee`, to: `- bee: b`}}, "main listing divergent send.first"},

		{"a location in the catalogue", 3, []edit{{line: 2, from: `</description>\n</skill>\n</available_skills>`, to: `</description>\n<location>\nuser\n</location>\n</skill>\n</available_skills>`}}, "main listing divergent send.first"},
		{"another description", 3, []edit{{line: 2, from: `Audit the books.`, to: `Audit.`}}, "main listing divergent send.first"},
		{"another key", 3, []edit{{line: 3, from: `"command"`, to: `"skill"`}}, "main refusal divergent call.input_key report; main body undetermined  report"},
		{"a launch in place of the body", 3, []edit{{line: 4, from: base + `/home/dev/.claude/skills/report\n\nWrite it.\n`, to: `Launching skill: report`}}, "main body divergent body report"},
		{"another body", 3, []edit{{line: 4, from: `Write it.`, to: `Wrote it.`}}, "main body divergent body report"},
		{"a framed report", 3, []edit{{line: 6, from: `"content": "The books`, to: `"content": "Skill \"audit\" completed (forked execution).\n\nResult:\nThe books`}}, "main body divergent call.fork_report audit"},
		{"another system prompt", 3, []edit{{agent: "f1", line: 1, from: `Audit all`, to: `Audit some`}}, "f1 body divergent call.fork_works audit"},
		{"no invocation", 3, []edit{{agent: "f1", line: 5, from: `skill_invocation`, to: `task`}}, "f1 body divergent call.fork_context audit"},
		{"a fork calls a skill", 3, []edit{{agent: "f1", line: 7, from: `, "is_error": true`, to: ``}, {agent: "f1", line: 7, from: `<tool_use_error>Error: No such tool available: Skill</tool_use_error>`, to: base + `/home/dev/.claude/skills/report\n\nWrite it.\n`}}, "f1 refusal divergent agents.fork_no_skill report; f1 body undetermined  report"},
		{"words of a refusal that is not described", 3, []edit{{line: 8, from: `Unknown skill: rep`, to: `No skill rep`}}, "main refusal unconfirmed call.did_you_mean rep"},
	} {
		_, others := outcome(dialects[c.of].run(t, c.edits...))
		if got := strings.Join(others, "; "); got != c.want {
			t.Errorf("%s: %s\n\twant %s", c.name, got, c.want)
		}
	}
}

// TestDialectForks ties a fork to its skill by what its own log tells, where the result
// does not name it.
func TestDialectForks(t *testing.T) {
	unnamed := edit{line: 6, from: `, "agentId": "f1"`, to: ``}
	for name, edits := range map[string][]edit{
		"named by the result": nil,
		"a system prompt":     {unnamed, {agent: "f1", line: 5, from: `audit`, to: `it`}},
		"a task":              {unnamed, {agent: "f1", line: 1, from: `Base directory`, to: `No directory`}},
	} {
		r := dialects[3].run(t, edits...)
		if _, others := outcome(r); len(others) > 0 {
			t.Errorf("%s: %s", name, strings.Join(others, "; "))
		}
		fork := r.Session.Agents[1]
		if fork.OnBehalfOf != "audit" || fork.StartedBy != "t2" || fork.Prompts != 0 || len(fork.Calls) != 2 {
			t.Errorf("%s: for %q, started by %q, %d prompts, %d calls", name, fork.OnBehalfOf, fork.StartedBy, fork.Prompts, len(fork.Calls))
		}
	}
}
