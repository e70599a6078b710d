package replay_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/conform/scenario"
)

// recorded reads the first session of a recording, and the inputs of its first
// process: enough for a prediction, if not for all of a session that goes on in
// other processes. Without recordings the test is skipped.
func recorded(t *testing.T, name string) (func() *replay.Session, *replay.Inputs, replay.Same) {
	t.Helper()
	root := os.Getenv("SKILLTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	dir := filepath.Join(root, "conformance", filepath.FromSlash(name))
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no recordings:", err)
	}
	c, err := scenario.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, err := c.Tree()
	if err != nil {
		t.Fatal(err)
	}
	given, err := c.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	run := &c.Runs[0]
	in := inputs(t, c.Version, files)
	in.Given, in.Same = given, c.Same
	in.Processes[0] = replay.Process{Home: c.Home, ConfigDir: path.Join(c.Home, ".claude"), CWD: run.CWD, AddDirs: run.AddDirs, Plugins: run.PluginDirs, Env: run.Env, Model: run.Model}
	if in.Processes[0].Model == "" {
		in.Processes[0].Model = c.Model
	}
	for name, n := range c.SkillUsage {
		if in.Usage.Counts == nil {
			in.Usage.Counts = map[string]replay.UsageCount{}
		}
		in.Usage.Counts[name] = replay.UsageCount{Count: n.Count, LastUsedMS: n.LastUsedMS}
	}
	log := c.Sessions()[0]
	read := func() *replay.Session {
		source := func(p, agent string) replay.Source {
			f, err := os.Open(p)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			return replay.Source{Name: p, Agent: agent, Records: jsonl.Read(p, f, replay.Reading())}
		}
		var subs []replay.Source
		for _, p := range log.Subagents {
			subs = append(subs, source(p, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "agent-"), ".jsonl")))
		}
		s, err := replay.Observe(source(log.Path, ""), subs...)
		if err != nil {
			t.Fatal(err)
		}
		started(s)
		return s
	}
	replay.CountUses(in.Usage, read())
	return read, in, c.Same
}

// predictable are recordings without inline commands, rejected calls or file
// changes, whose skills all lie in files: there every text follows from the inputs.
var predictable = []string{
	"lifecycle/twice/2.1.332", "lifecycle/twice/2.1.260", "lifecycle/plugin/2.1.332", "lifecycle/fork/2.1.332",
	"lifecycle/compact/2.1.332", "listing/overflow/2.1.332", "listing/alias_over/2.1.260", "listing/subagent/2.1.332",
}

// TestPredictSeesInputsOnly takes the texts of all effects away, or puts wrong ones
// in their place: what is predicted does not change. Refusals that carry an input,
// a rejection or the failure of a command, are kept.
func TestPredictSeesInputsOnly(t *testing.T) {
	for _, name := range predictable {
		t.Run(name, func(t *testing.T) {
			read, in, same := recorded(t, name)
			whole := read()
			want, _ := replay.PredictSession(in, whole)
			n, matches := 0, 0
			for i, a := range replay.Run(whole, in, replay.Comparison{Same: same, Exact: true, RulesExact: true}).Agents {
				n += len(want[i])
				for _, c := range a.Checks {
					if c.Verdict == replay.Match {
						matches++
					}
				}
			}
			if n == 0 || matches < n/2 {
				t.Errorf("%d effects predicted, %d matches: not much of a test", n, matches)
			}
			for _, put := range []string{"", "Base directory for this skill: /wrong\n\nwrong"} {
				s := read()
				for _, a := range s.Agents {
					for i := range a.Events {
						e := &a.Events[i]
						if !e.Kind.IsEffect() || e.Kind == replay.Refusal && (e.Rejected || strings.Contains(e.Text, "command failed")) {
							continue
						}
						e.Text = put
						for j := range e.Skills {
							e.Skills[j].Content = put
						}
						if e.Listing != nil {
							e.Listing = &jsonl.Attachment{Type: e.Listing.Type, Content: put, Initial: e.Listing.Initial, HasInitial: e.Listing.HasInitial}
						}
					}
				}
				got, _ := replay.PredictSession(in, s)
				for i := range want {
					if len(got[i]) != len(want[i]) {
						t.Fatalf("%s: %d effects, with texts %d", whole.Agents[i].ID, len(got[i]), len(want[i]))
					}
					for j := range want[i] {
						if !reflect.DeepEqual(got[i][j], want[i][j]) {
							t.Errorf("%s: %s of %s depends on the text of an effect", whole.Agents[i].ID, want[i][j].Kind, want[i][j].Skill)
						}
					}
				}
			}
		})
	}
}

func TestPredictDeterministic(t *testing.T) {
	for _, name := range predictable[:5] {
		t.Run(name, func(t *testing.T) {
			read, in, same := recorded(t, name)
			s := read()
			first := replay.Run(s, in, replay.Comparison{Same: same, Exact: true, RulesExact: true})
			again := replay.Run(s, in, replay.Comparison{Same: same, Exact: true, RulesExact: true})
			if !reflect.DeepEqual(first, again) {
				t.Error("the same timeline gave another result")
			}
			_, other, _ := recorded(t, name)
			third := replay.Run(read(), other, replay.Comparison{Same: same, Exact: true, RulesExact: true})
			if fmt.Sprint(plain(first)) != fmt.Sprint(plain(third)) {
				t.Error("the same log gave another result")
			}
		})
	}
}

// plain is what of a result does not hold addresses.
func plain(r *replay.Result) []any {
	var out []any
	for _, a := range r.Agents {
		out = append(out, a.Checks, a.Visibility, a.Changes)
		for _, e := range a.Predicted {
			out = append(out, e)
		}
	}
	return out
}

func TestUsage(t *testing.T) {
	start := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	u := &replay.Usage{Counts: map[string]replay.UsageCount{"k": {Count: 7, LastUsedMS: 5}}}
	for _, call := range []struct {
		name    string
		at      int
		process int
	}{{"k", 10, 0}, {"k", 35, 0}, {"k", 60, 0}, {"n", 61, 0}, {"k", 69, 0}, {"k", 70, 0}, {"k", 80, 1}, {"k", 131, 0}} {
		u.Called(call.name, at(call.at), call.process)
	}
	for _, tt := range []struct {
		at, k, n int
		last     int // seconds
	}{{0, 7, 0, -1}, {10, 8, 0, 10}, {69, 8, 1, 10}, {70, 9, 1, 70}, {80, 10, 1, 80}, {131, 11, 1, 131}, {9000, 11, 1, 131}} {
		got := u.At(at(tt.at))
		equal(t, fmt.Sprintf("k after %d s", tt.at), got["k"].Count, tt.k)
		equal(t, fmt.Sprintf("n after %d s", tt.at), got["n"].Count, tt.n)
		last := int64(5)
		if tt.last >= 0 {
			last = at(tt.last).UnixMilli()
		}
		equal(t, fmt.Sprintf("last use after %d s", tt.at), got["k"].LastUsedMS, last)
	}
	equal(t, "the counts at the start", u.Counts["k"].Count, 7)
	equal(t, "of nothing", len((&replay.Usage{}).At(start)), 0)
}

// TestForkCounts: a fork is counted when it begins, not when its result is there.
func TestForkCounts(t *testing.T) {
	main := source("log.jsonl", lines(user("a", "", "do", at(0)), assistant("b", "a", "m1", skillUse("t1", "f"), at(100)),
		result("c", "b", "t1", "Skill \"f\" completed (forked execution).", `"toolUseResult":{"success":true,"commandName":"f","status":"forked","agentId":"x"}`, at(130))))
	fork := source("agent-x.jsonl", lines(user("d", "", bodyText("f", "F."), `"isMeta":true`, at(101))))
	fork.Agent = "x"
	s, err := replay.Observe(main, fork)
	if err != nil {
		t.Fatal(err)
	}
	u := &replay.Usage{}
	replay.CountUses(u, s)
	for _, tt := range []struct{ at, want int }{{100, 0}, {101, 1}, {200, 1}} {
		equal(t, fmt.Sprintf("after %d s", tt.at), u.At(time.Date(2026, 11, 28, 9, 0, tt.at, 0, time.UTC))["f"].Count, tt.want)
	}
}

func TestCountUses(t *testing.T) {
	s := observe(t, user("a", "", command("k", ""), at(0)), body("b", "a", "", "K."),
		assistant("c", "b", "m1", skillUse("t1", "/n"), at(100)), result("d", "c", "t1", "Launching skill: n", at(101)), body("e", "d", "t1", "N."),
		assistant("f", "e", "m2", skillUse("t2", "x"), at(200)), failed("g", "f", "t2", "Unknown skill: x", at(201)),
		assistant("h", "g", "m3", skillUse("t3", "z"), at(300)), failed("i", "h", "t3", "Shell command failed for pattern \"!`x`\"", at(301)),
		user("j", "i", "<command-name>/compact</command-name>\n<command-message>compact</command-message>", at(400)))
	u := &replay.Usage{}
	replay.CountUses(u, s, s)
	var got []string
	for _, name := range []string{"k", "n", "x", "z", "compact"} {
		got = append(got, fmt.Sprintf("%s %d", name, u.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))[name].Count))
	}
	equal(t, "uses", strings.Join(got, ", "), "k 1, n 1, x 0, z 1, compact 0")
}
