package replay_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// The cases are small logs made after problems that people reported. Each stands
// for a kind of fault, and each test says what a right tool says.

func TestCase01StreamingSnapshots(t *testing.T) {
	type call struct {
		model               string
		input, output, read int64
		rows                int
		models              string
	}
	for _, tt := range []struct {
		name   string
		want   []call
		events string
	}{
		{"request-id", []call{{"claude-sonnet-4-5", 10, 159, 0, 3, ""}},
			"prompt@1 turn@2 skill_call(notes)@4 launched(notes)@5 body(notes)@6"},
		{"no-request-id", []call{{"claude-sonnet-4-5", 100, 12, 0, 2, ""}, {"claude-sonnet-4-5", 50, 7, 0, 2, ""}},
			"prompt@1 turn@2 turn@5"},
		{"model-changed", []call{{"claude-sonnet-4-6", 3, 260, 5, 2, "claude-opus-4-7 claude-sonnet-4-6"}},
			"prompt@1 turn@2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := fixture(t, "01-streaming-snapshots/"+tt.name+".jsonl").Main()
			var got []call
			for _, c := range a.Calls {
				got = append(got, call{c.Model, c.Usage.Input, c.Usage.Output, c.Usage.CacheRead, c.Rows, strings.Join(c.Models, " ")})
			}
			equal(t, "calls", fmt.Sprint(got), fmt.Sprint(tt.want))
			equal(t, "events", kinds(a), tt.events)
		})
	}
}

func TestCase02SyntheticRow(t *testing.T) {
	s := fixture(t, "02-synthetic-row/one-hour.jsonl")
	equal(t, "models", strings.Join(s.Models, " "), "claude-fable-5")
	equal(t, "calls", len(s.Main().Calls), 1)
	equal(t, "written for an hour", s.Main().Calls[0].Usage.CacheWrite1h, 37_175)
}

func TestCase03DamagedGraph(t *testing.T) {
	s := fixture(t, "03-damaged-graph/session.jsonl")
	equal(t, "events", kinds(s.Main()), "prompt@1 turn@3 touch@2 touch@4 turn@5 compaction@6 prompt@7 compaction@10")
	equal(t, "dangling", s.Dangling, 1)
	equal(t, "replayed", s.Replayed, 2)
	equal(t, "before their parent", s.OutOfOrder, 1)
	seen := map[string]bool{}
	for _, e := range s.Main().Events {
		if e.Kind == replay.Compaction {
			continue
		}
		if seen[e.Where.UUID] {
			t.Errorf("%s stands twice", word(&e))
		}
		seen[e.Where.UUID] = true
		if e.Abandoned {
			t.Errorf("%s is abandoned", word(&e))
		}
	}
	equal(t, "rows", len(seen), 6)
}

func TestCase04SubagentUsage(t *testing.T) {
	s := fixture(t, "04-subagent-usage/c0000004-0000-4000-8000-000000000000.jsonl")
	equal(t, "agents", len(s.Agents), 2)
	sub := s.Agents[1]
	equal(t, "agent", sub.ID, "a04")
	equal(t, "type", sub.Type, "general-purpose")
	equal(t, "started by", sub.StartedBy, "toolu_0401")
	output, unfinished := int64(0), 0
	for _, c := range sub.Calls {
		output += c.Usage.Output
		if !c.Final {
			unfinished++
		}
	}
	equal(t, "output", output, 813)
	equal(t, "without a final usage", unfinished, 1)
}

func TestCase05HostileLines(t *testing.T) {
	short, err := os.ReadFile("../fixtures/cases/05-hostile-lines/short.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rows := bytes.SplitAfter(short, []byte("\n"))
	long := strings.Replace(string(rows[0][bytes.LastIndex(rows[0], []byte(`{"parentUuid"`)):]), `"one"`, `"`+strings.Repeat("long ", 240_000)+`"`, 1)
	long = strings.Replace(strings.Replace(long, "000000000001", "000000000005", 1), `"parentUuid":null`, `"parentUuid":"c0000005-0000-4000-8000-000000000004"`, 1)
	log := string(rows[0]) + string(rows[1]) + string(rows[2]) + long + string(rows[3])

	var stats jsonl.Stats
	s, err := replay.Observe(replay.Source{Name: "log", Records: jsonl.Read("log", strings.NewReader(log), jsonl.Options{Sizes: true, Stats: &stats})})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "lines", stats.Lines, 5)
	equal(t, "records", s.Records, 6)
	equal(t, "events", kinds(s.Main()), "prompt@1 prompt@2 prompt@2 prompt@3 prompt@4 prompt@5")
	var lost []string
	for _, d := range s.Defects {
		if d.Lost {
			lost = append(lost, fmt.Sprintf("line %d: %s", d.Pos.Line, d.Kind))
		}
	}
	equal(t, "lost", strings.Join(lost, ", "), "line 1: truncated")
	equal(t, "the last text", s.Main().Events[5].Text, "line\u2028separator")
}

func TestCase06Prompts(t *testing.T) {
	s := fixture(t, "06-prompts/session.jsonl")
	a := s.Main()
	equal(t, "prompts", a.Prompts, 2)
	equal(t, "slash commands", a.Slashes, 1)
	var texts []string
	for _, e := range a.Events {
		if e.Kind == replay.Prompt {
			texts = append(texts, fmt.Sprintf("%d %s +%d", e.PromptN, e.Text, e.Images))
		}
	}
	equal(t, "texts", strings.Join(texts, "; "), "1 Where is the oil? +0; 2 What is in this picture? +1")
}

// attempts says who asked for what, and what became of it.
func attempts(s replay.Summary) string {
	var out []string
	for _, a := range s.Attempts {
		w := fmt.Sprintf("%s by %s", a.Skill, a.By)
		if a.Stack > 0 {
			w += fmt.Sprintf(" in position %d", a.Stack)
		}
		out = append(out, w+": "+string(a.Outcome))
	}
	return strings.Join(out, "; ")
}

func TestCase07Slash(t *testing.T) {
	for _, tt := range []struct {
		name, want             string
		byUser, refused, loads int
	}{
		{"redundant", "deploy by user: invoked; deploy by model: refused", 1, 1, 1},
		{"typed-second", "a by user: invoked; b by user in position 2: refused", 1, 1, 1},
		{"stack", "a by user in position 1: invoked; b by user in position 2: refused", 1, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := replay.Summarize(fixture(t, "07-slash/"+tt.name+".jsonl").Main())
			equal(t, "attempts", attempts(got), tt.want)
			equal(t, "invocations by the user", got.ByUser, tt.byUser)
			equal(t, "invocations by the model", got.ByModel, 0)
			equal(t, "refused", got.Refused, tt.refused)
			equal(t, "loads", got.Loads.Count, tt.loads)
			for _, k := range got.Skills {
				if k.Skill == "b" && k.Calls != 0 {
					t.Error("b counts as the model's choice")
				}
			}
		})
	}
}

func TestCase08Loads(t *testing.T) {
	got := replay.Summarize(fixture(t, "08-loads/session.jsonl").Main())
	equal(t, "invocations", got.ByUser+got.ByModel, 2)
	equal(t, "loads", got.Loads, replay.Texts{Count: 2, Chars: 16_000})
	equal(t, "avoidable", got.Avoidable, replay.Texts{Count: 1, Chars: 8_000})
	equal(t, "reattached", got.Reattached, replay.Texts{Count: 9, Chars: 72_000})
	equal(t, "compactions", got.Compactions, 9)
	equal(t, "invocations after the last", got.AfterCompaction, 0)
	layers, headers := map[replay.Layer]int{}, 0
	for _, g := range fixture(t, "08-loads/session.jsonl").Main().Segments {
		if g.Part == replay.PartHeader {
			headers++
			continue
		}
		layers[g.Layer] += g.Size.Len16()
	}
	equal(t, "layer of bodies", layers[replay.LayerBody], 16_000)
	equal(t, "layer of reattachments", layers[replay.LayerReattachment], 72_000)
	equal(t, "what stands around them and a listing", headers, 10)
}

func TestCase09LateTrigger(t *testing.T) {
	got := replay.Summarize(fixture(t, "09-late-trigger/session.jsonl").Main())
	at := map[string]replay.Attempt{}
	for _, a := range got.Attempts {
		at[a.Skill] = a
	}
	foo, called := at["foo"]
	if !called {
		t.Fatal("foo was never triggered")
	}
	equal(t, "outcome", foo.Outcome, replay.OutcomeInvoked)
	equal(t, "by", foo.By, replay.ByModel)
	equal(t, "prompt", foo.Prompt, 1)
	equal(t, "position among tools", foo.ToolPosition, 4)
	equal(t, "position among skills", foo.SkillPosition, 2)
	if _, called := at["bar"]; called {
		t.Error("bar was triggered")
	}
	equal(t, "position of the first skill", at["superpowers:using-superpowers"].ToolPosition, 3)
}

func TestCase11NameOnly(t *testing.T) {
	s := fixture(t, "11-name-only/session.jsonl")
	started(s)
	in := inputs(t, "2.1.332", folder(t, "11-name-only/files"))
	in.Processes[0].Plugins = []string{"/home/dev/plugins/plug"}
	in.Processes[0].Env = map[string]string{budget.EnvCharBudget: "200"}
	r := replay.Run(s, in, replay.Comparison{Exact: true, RulesExact: true})
	for _, c := range r.Agents[0].Checks {
		if c.Verdict != replay.Match {
			t.Errorf("%s %s: %s", c.Kind, c.Verdict, c.Reason)
		}
	}
	saw := r.Agents[0].Visibility[0].Skills
	equal(t, "seen", fmt.Sprint(saw), "map[a:full b:name_only plug:c:full]")

	// d is not listed, by design: its file says so.
	rule := in.Rules("2.1.332")
	proc := in.Processes[0]
	found := skills.Discover(folder(t, "11-name-only/files"), skills.Inputs{Home: proc.Home, ConfigDir: proc.ConfigDir, CWD: proc.CWD, PluginDirs: proc.Plugins}, rule.Discovery, rule.Front)
	why := map[string]skills.Reason{}
	for _, st := range skills.Eligible(found, nil, nil, skills.Settings{}, skills.Options{Discovery: rule.Discovery, Text: rule.Entry, Dialect: rule.Front}) {
		why[st.Skill.Name] = st.Reason
	}
	equal(t, "b", why["b"], skills.Listed)
	equal(t, "d", why["d"], skills.Disabled)
	for _, l := range r.Agents[0].Predicted[0].Entries {
		if l.Name == "d" {
			t.Error("d is predicted to be listed")
		}
		if l.Name == "b" {
			equal(t, "b in the prediction", l.Shown, replay.ShownNameOnly)
		}
	}
}

func TestCase14OverTime(t *testing.T) {
	run := func(name, version string) (*replay.Session, *replay.AgentResult) {
		s := fixture(t, "14-over-time/"+name+".jsonl")
		started(s)
		return s, &replay.Run(s, inputs(t, version, nil), replay.Comparison{RulesExact: true}).Agents[0]
	}
	t.Run("lost", func(t *testing.T) {
		_, r := run("lost", "2.1.260")
		var got []string
		for _, c := range r.Changes {
			got = append(got, fmt.Sprintf("%s %s since line %d (%s)", c.Skill, c.Shown, c.Where.Line, c.Cause))
		}
		equal(t, "changes", strings.Join(got, "\n"), `a full since line 2 (listing)
b full since line 2 (listing)
c full since line 2 (listing)
d full since line 5 (listing)
a absent since line 7 (compaction)
b absent since line 7 (compaction)
c absent since line 7 (compaction)
d absent since line 7 (compaction)`)
		last := r.Visibility[len(r.Visibility)-1]
		equal(t, "at the last prompt", fmt.Sprint(last.Prompt, last.Skills), "3 map[a:absent b:absent c:absent d:absent]")
		for _, c := range r.Checks {
			if c.Verdict == replay.Divergent {
				t.Errorf("%s at line %d is divergent: %s", c.Kind, c.Where.Line, c.Reason)
			}
		}
	})
	t.Run("copies", func(t *testing.T) {
		s, r := run("copies", "2.1.140")
		got := replay.Summarize(s.Main())
		equal(t, "extra copies", got.Repeated.Count, 2)
		equal(t, "their length", got.Repeated.Chars, 2*budget.Len16(s.Main().Events[3].Text))
		if got.RepeatedTokens < 20 || got.RepeatedTokens > 60 {
			t.Errorf("about %d tokens for %d characters", got.RepeatedTokens, got.Repeated.Chars)
		}
		for _, c := range r.Changes {
			if c.Shown != replay.ShownFull || c.Where.Line != 2 {
				t.Errorf("%s %s at line %d: nothing is lost", c.Skill, c.Shown, c.Where.Line)
			}
		}
		for _, v := range r.Visibility {
			equal(t, "seen", fmt.Sprint(v.Skills), "map[a:full b:full c:full]")
		}
	})
}
