package replay_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// everything is a log with an event of each kind that a log can show.
func everything() []string {
	return []string{
		user("a", "", "Do it", at(1)),
		listing("b", "a", true, "- k: K.", "- n: N."),
		assistant("c", "b", "m1", skillUse("t1", "k"), at(2)),
		launched("d", "c", "t1", "k"),
		body("e", "d", "t1", bodyText("k", "Do.")),
		assistant("f", "e", "m2", skillUse("t2", "k")),
		launched("g", "f", "t2", "k"),
		note("h", "g", "t2", "Skill /k is already loaded above; instructions unchanged."),
		assistant("i", "h", "m3", skillUse("t3", "x")),
		failed("j", "i", "t3", "<tool_use_error>Unknown skill: x</tool_use_error>"),
		assistant("k", "j", "m4", use("t4", "Read", `{"file_path":"/home/dev/shop/a.go"}`)+","+use("t5", "Write", `{"file_path":"/home/dev/shop/.claude/skills/z/SKILL.md","content":"Zed."}`)+","+
			use("t6", "Bash", `{"command":"rm -r /home/dev/shop/.claude/skills/z"}`)+","+use("t7", "Edit", `{"file_path":"/home/dev/.claude/skills/n/SKILL.md","old_string":"a","new_string":"b"}`)),
		result("l", "k", "t4", "1\tpackage shop"),
		result("m", "k", "t5", "File created"),
		result("n", "k", "t6", ""),
		result("o", "k", "t7", "Edited"),
		listing("p", "o", false, "- z: Zed."),
		user("q", "p", command("n", "now")),
		body("r", "q", "", bodyText("n", "Now.")),
		boundary("s", "r"),
		summary("t", "s"),
		reattached("u", "t", "k", bodyText("k", "Do.")),
		user("v", "u", "Go on", at(9)),
	}
}

func TestEvents(t *testing.T) {
	s := observe(t, everything()...)
	equal(t, "events", kinds(s.Main()), strings.Join([]string{
		"prompt@1 noticed@2 listing@2",
		"turn@3 skill_call(k)@3 launched(k)@4 body(k)@5",
		"turn@6 skill_call(k)@6 launched(k)@7 note(k)@8",
		"turn@9 skill_call(x)@9 refusal(x)@10",
		"turn@11 touch@12 touch@13 catalogue_change@13 catalogue_change@14 touch@15 catalogue_change@15",
		"noticed@16 listing@16",
		"slash(n)@17 body(n)@18 compaction@19 reattachment@21 prompt@22"}, " "))
	rows := everything()
	for i := range s.Main().Events {
		e := &s.Main().Events[i]
		equal(t, "file", e.Where.File, "log.jsonl")
		if !strings.Contains(rows[e.Where.Line-1], `"uuid":"`+e.Where.UUID+`"`) {
			t.Errorf("%s has the uuid %q", word(e), e.Where.UUID)
		}
		equal(t, "version", e.Version, "2.1.332")
	}
	last := s.Main().Events[len(s.Main().Events)-1]
	equal(t, "time", last.Where.Time, time.Date(2026, 11, 28, 9, 0, 9, 0, time.UTC))
	equal(t, "number", last.PromptN, 2)
	equal(t, "prompts", s.Main().Prompts, 2)
	equal(t, "slash commands", s.Main().Slashes, 1)
	equal(t, "start", s.Start, time.Date(2026, 11, 28, 9, 0, 1, 0, time.UTC))
	equal(t, "end", s.End, last.Where.Time)

	var changes []string
	for _, e := range s.Main().Events {
		if c := e.Change; c != nil {
			changes = append(changes, fmt.Sprintf("%s %q removed=%v unknown=%v", filepath.Base(strings.TrimSuffix(c.Path, "/SKILL.md")), c.Text, c.Removed, c.Unknown))
		}
	}
	equal(t, "changes", strings.Join(changes, "; "), `z "Zed." removed=false unknown=false; z "" removed=true unknown=false; n "" removed=false unknown=true`)
}

// TestReading checks that nothing is lost by reading less than everything.
func TestReading(t *testing.T) {
	logs, err := filepath.Glob("../fixtures/cases/*/*.jsonl")
	if err != nil || len(logs) == 0 {
		t.Fatal("no fixtures", err)
	}
	texts := map[string]string{"everything": lines(everything()...)}
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	for name, text := range texts {
		read := func(o jsonl.Options) *replay.Session {
			s, err := replay.Observe(replay.Source{Name: name, Records: jsonl.Read(name, strings.NewReader(text), o)})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		whole := read(jsonl.Options{})
		for _, o := range []jsonl.Options{{Sizes: true}, replay.Reading()} {
			got := read(o)
			for i := range whole.Agents {
				for j := range whole.Agents[i].Events {
					// What was sent is read from Content; the rest of an attachment may be left out.
					x, y := whole.Agents[i].Events[j], got.Agents[i].Events[j]
					if x.Listing != nil {
						x.Listing, y.Listing = &jsonl.Attachment{Content: x.Listing.Content, Names: x.Listing.Names}, &jsonl.Attachment{Content: y.Listing.Content, Names: y.Listing.Names}
					}
					if !reflect.DeepEqual(x, y) {
						t.Fatalf("%s: event %d\n%+v\n%+v", name, j, x, y)
					}
				}
				if !reflect.DeepEqual(whole.Agents[i].Calls, got.Agents[i].Calls) || !reflect.DeepEqual(whole.Agents[i].Segments, got.Agents[i].Segments) {
					t.Errorf("%s: calls or segments differ", name)
				}
			}
		}
	}
}

func TestCommands(t *testing.T) {
	caveat := func(uuid, parent string) string {
		return user(uuid, parent, "<local-command-caveat>Caveat: x</local-command-caveat>", `"isMeta":true`)
	}
	for _, tt := range []struct {
		name             string
		rows             []string
		want             string
		prompts, slashes int
	}{
		{"typed skill", []string{user("a", "", command("k", "")), body("b", "a", "", bodyText("k", "Do.")), assistant("c", "b", "m1", text("x"))},
			"slash(k)@1 body(k)@2 turn@3", 0, 1},
		{"a body behind an attachment", []string{user("a", "", command("k", "")), attachment("b", "a", `"type":"task_reminder"`), body("c", "b", "", "Do.")},
			"slash(k)@1 body(k)@3", 0, 1},
		{"a stack", []string{user("a", "", command("k", "do it"), `"stackedOriginalInput":"/k /n do it"`), body("b", "a", "", "K."), attachment("c", "b", `"type":"command_permissions","allowedTools":[]`),
			user("d", "c", command("n", "do it"), `"stackedExpansion":true`), body("e", "d", "", "N."), assistant("f", "e", "m1", text("x"))},
			"slash(k)@1 body(k)@2 slash(n)@4 body(n)@5 turn@6", 0, 2},
		{"a command of the client", []string{caveat("a", ""), user("b", "a", "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>"), user("c", "b", "<local-command-stdout>Set</local-command-stdout>"), user("d", "c", "go")},
			"slash(model)@2 prompt@4", 1, 1},
		{"a typed fork", []string{caveat("a", ""), user("b", "a", "/k by user"), row("system", "c", "b", `"subtype":"local_command"`, `"content":"<local-command-stdout>done</local-command-stdout>"`)},
			"slash(k)@2", 0, 1},
		{"a typed fork of an older client", []string{caveat("a", ""), user("b", "a", "/k by user"), user("c", "b", "<local-command-stdout>done</local-command-stdout>")},
			"slash(k)@2", 0, 1},
		{"a path that looks like a command", []string{user("a", "", "/home/dev/shop is the shop"), assistant("b", "a", "m1", text("x"))},
			"prompt@1 turn@2", 1, 0},
		{"bash mode", []string{user("a", "", "<bash-input>ls</bash-input>"), user("b", "a", "<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>"), assistant("c", "b", "m1", text("x")), user("d", "c", "go")},
			"turn@3 prompt@4", 1, 0},
		{"queued words", []string{user("a", "", "one"), assistant("b", "a", "m1", use("t1", "Bash", `{"command":"sleep 9"}`)), result("c", "b", "t1", ""), attachment("d", "c", `"type":"queued_command","prompt":"two","commandMode":"prompt"`), assistant("e", "d", "m2", text("x"))},
			"prompt@1 turn@2 prompt@4 turn@5", 2, 0},
		{"a queued picture", []string{attachment("a", "", `"type":"queued_command","prompt":[{"type":"image","source":{}}]`)},
			"prompt@1", 1, 0},
		{"a queued notification", []string{attachment("a", "", `"type":"queued_command","prompt":"<task-notification>\n<task-id>1</task-id></task-notification>"`)},
			"", 0, 0},
		{"an interruption", []string{user("a", "", "one"), user("b", "a", "[Request interrupted by user]"), user("c", "b", "two")},
			"prompt@1 prompt@3", 2, 0},
		{"nothing but blanks", []string{user("a", "", " \n"), user("b", "a", "one")},
			"prompt@2", 1, 0},
		{"a running mark of the oldest clients", []string{user("a", "", "one"), assistant("b", "a", "m1", use("t1", "Skill", `{"command":"k"}`)), result("c", "b", "t1", "Launching skill: k"),
			user("d", "c", "<command-message>The \"k\" skill is running</command-message>\n<command-name>k</command-name>"), body("e", "d", "", bodyText("k", "Do."))},
			"prompt@1 turn@2 skill_call(k)@2 launched(k)@3 body(k)@5", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := observe(t, tt.rows...)
			equal(t, "events", kinds(s.Main()), tt.want)
			equal(t, "prompts", s.Main().Prompts, tt.prompts)
			equal(t, "slash commands", s.Main().Slashes, tt.slashes)
		})
	}
}

func TestStackPositions(t *testing.T) {
	s := observe(t, user("a", "", command("k", "do"), `"stackedOriginalInput":"/k /n /z do"`), body("b", "a", "", "K."), user("c", "b", command("n", "do"), `"stackedExpansion":true`), body("d", "c", "", "N."),
		user("e", "d", command("z", "do"), `"stackedExpansion":true`), body("f", "e", "", "Z."), assistant("g", "f", "m1", text("x")), user("h", "g", command("k", "")), body("i", "h", "", "K."))
	var got []string
	for _, e := range s.Main().Events {
		if e.Kind == replay.Slash {
			got = append(got, fmt.Sprintf("%s %d %q %q", e.Skill, e.Stack, e.Args, e.Input))
		}
	}
	equal(t, "positions", strings.Join(got, "; "), `k 1 "do" "/k /n /z do"; n 2 "do" ""; z 3 "do" ""; k 0 "" ""`)
	equal(t, "attempts", attempts(replay.Summarize(s.Main())), "k by user in position 1: invoked; n by user in position 2: invoked; z by user in position 3: invoked; k by user: invoked")
}

func TestToolPositions(t *testing.T) {
	s := observe(t, user("a", "", "one"),
		assistant("b", "a", "m1", use("t1", "Bash", `{"command":"ls"}`)+","+skillUse("t2", "k")),
		assistant("c", "b", "m1", skillUse("t2", "k")), // the same block once more
		assistant("d", "c", "m2", use("t3", "Skill", `{"command":"old"}`)+","+use("t4", "Skill", `{"skill":7}`)+","+use("t5", "Skill", `{}`)),
		user("e", "d", "two"), assistant("f", "e", "m3", skillUse("t6", "k")))
	var got []string
	for _, e := range s.Main().Events {
		if e.Kind == replay.SkillCall {
			got = append(got, fmt.Sprintf("%q %q tool %d skill %d prompt %d", e.Skill, e.InputKeys, e.ToolPosition, e.SkillPosition, e.PromptN))
		}
	}
	equal(t, "calls", strings.Join(got, "\n"), `"k" ["skill"] tool 2 skill 1 prompt 1
"old" ["command"] tool 3 skill 2 prompt 1
"" [] tool 4 skill 3 prompt 1
"" [] tool 5 skill 4 prompt 1
"k" ["skill"] tool 1 skill 1 prompt 2`)
}

func TestResults(t *testing.T) {
	s := observe(t, user("a", "", "one"),
		assistant("b", "a", "m1", skillUse("t1", "k")+","+skillUse("t2", "k")+","+skillUse("t3", "k")+","+skillUse("t4", "k")),
		failed("c", "b", "t1", "The user doesn't want to proceed with this tool use.", `"toolUseResult":"User rejected tool use"`),
		failed("d", "c", "t2", "<tool_use_error>Unknown skill: k</tool_use_error>", `"toolUseResult":"Error: Unknown skill: k"`),
		result("e", "d", "t3", "Skill \"k\" launched (forked execution, running in the background).", `"toolUseResult":{"success":true,"commandName":"k","status":"forked","background":true,"agentId":"f1"}`),
		result("f", "e", "gone", "of a call that is not in the log"))
	var got []string
	for _, e := range s.Main().Events {
		if e.Kind == replay.Refusal || e.Kind == replay.Launched {
			got = append(got, fmt.Sprintf("%s %s rejected=%v forked=%v background=%v %s", e.ToolUse, e.Kind, e.Rejected, e.Forked, e.Background, e.Agent))
		}
	}
	equal(t, "results", strings.Join(got, "\n"), `t1 refusal rejected=true forked=false background=false 
t2 refusal rejected=false forked=false background=false 
t3 launched rejected=false forked=true background=true f1`)
	sum := replay.Summarize(s.Main())
	equal(t, "attempts", attempts(sum), "k by model: rejected; k by model: refused; k by model: invoked; k by model: unanswered")
	equal(t, "uses", fmt.Sprintf("%+v", sum.Skills), "[{Skill:k First:{File:log.jsonl Line:2 UUID:b Time:0001-01-01 00:00:00 +0000 UTC} Calls:4 Typed:0 Refused:1 Rejected:1 Unanswered:1 Bodies:0 Notes:0 Forked:1}]")
}

func TestAgents(t *testing.T) {
	agentCall := use("t1", "Agent", `{"subagent_type":"Explore","prompt":"look"}`)
	main := []string{user("a", "", "one", at(1)), assistant("b", "a", "m1", agentCall, at(2)), assistant("c", "b", "m1", skillUse("t2", "k"), at(2)),
		result("d", "c", "t1", "found", `"toolUseResult":{"status":"completed","agentId":"x1"}`, at(9)),
		result("e", "d", "t2", "Skill \"k\" completed (forked execution).\n\nResult:\ndone", `"toolUseResult":{"success":true,"commandName":"k","status":"forked","agentId":"f1","result":"done"}`, at(9))}
	sub := []string{user("sa", "", "look", `"isSidechain":true`, `"agentId":"x1"`, at(4)), listing("sb", "sa", true, "- k: K."), assistant("sc", "sb", "m2", text("found"), at(5))}
	fork := []string{blocks("fa", "", text(bodyText("k", "Do.")), `"isMeta":true`, at(3)), assistant("fb", "fa", "m3", text("done"), at(4))}
	src := func(agent string, rows []string) replay.Source {
		x := source(agent+".jsonl", lines(rows...))
		x.Agent = agent
		return x
	}
	s, err := replay.Observe(source("main.jsonl", lines(main...)), src("x1", sub), src("f1", fork))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range s.Agents {
		got = append(got, fmt.Sprintf("%s %s type=%q started by %q on behalf of %q: %s", a.ID, a.File, a.Type, a.StartedBy, a.OnBehalfOf, kinds(a)))
	}
	equal(t, "agents", strings.Join(got, "\n"), `main main.jsonl type="" started by "" on behalf of "": prompt@1 turn@2 skill_call(k)@3 launched(k)@5
f1 f1.jsonl type="" started by "t2" on behalf of "k": start@1 body(k)@1 turn@2
x1 x1.jsonl type="Explore" started by "t1" on behalf of "": start@1 prompt@1 noticed@2 listing@2 turn@3`)
}

func TestSidechains(t *testing.T) {
	side := func(uuid, parent, txt string, opt ...string) string {
		return user(uuid, parent, txt, append(opt, `"isSidechain":true`)...)
	}
	sideReply := func(uuid, parent, id string) string {
		return assistant(uuid, parent, id, text("x"), `"isSidechain":true`)
	}
	t.Run("of clients before agents had logs", func(t *testing.T) {
		s := observe(t, user("a", "", "one"), assistant("b", "a", "m1", use("t1", "Task", `{"prompt":"p"}`)), side("sa", "", "first"), side("sb", "", "second"), sideReply("sc", "sa", "m2"), sideReply("sd", "sb", "m3"),
			result("c", "b", "t1", "done"), assistant("d", "c", "m4", text("x")))
		var got []string
		for _, a := range s.Agents {
			got = append(got, fmt.Sprintf("%s: %s, %d calls", a.ID, kinds(a), len(a.Calls)))
		}
		equal(t, "agents", strings.Join(got, "\n"), `main: prompt@1 turn@2 turn@8, 2 calls
sidechain-1: start@3 prompt@3 turn@5, 1 calls
sidechain-2: start@4 prompt@4 turn@6, 1 calls`)
	})
	t.Run("by agent", func(t *testing.T) {
		s := observe(t, user("a", "", "one"), side("sa", "", "first", `"agentId":"x"`), side("sb", "sa", "second", `"agentId":"y"`), side("sc", "sa", "third", `"agentId":"x"`))
		equal(t, "agents", len(s.Agents), 3)
		equal(t, "x", kinds(s.Agents[1]), "start@2 prompt@2 prompt@4")
	})
	t.Run("a subagent's log by itself", func(t *testing.T) {
		s := observe(t, side("sa", "", "first", `"agentId":"x"`), sideReply("sb", "sa", "m1"))
		equal(t, "agents", len(s.Agents), 1)
		equal(t, "events", kinds(s.Main()), "prompt@1 turn@2")
	})
}

func TestCopies(t *testing.T) {
	s := observe(t, user("a", "", "one", `"sessionId":"s2"`, `"forkedFrom":{"sessionId":"s0","messageUuid":"a"}`), assistant("b", "a", "m1", text("x"), `"sessionId":"s0"`), user("c", "b", "two", `"sessionId":"s2"`))
	equal(t, "id", s.ID, "s2")
	equal(t, "copied", s.Copied, 1)
	equal(t, "fork of", s.ForkOf, "s0")

	// A request that is in two agents' logs was made once.
	main := lines(user("a", "", "one"), assistant("b", "a", "m1", text("x")))
	sub := source("sub", lines(user("a", "", "one"), assistant("b", "a", "m1", text("x")), user("c", "b", "two"), assistant("d", "c", "m2", text("y"))))
	sub.Agent = "x"
	both, err := replay.Observe(source("main", main), sub)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "calls of the main loop", len(both.Main().Calls), 1)
	equal(t, "calls of the other", len(both.Agents[1].Calls), 1)
	equal(t, "its call", both.Agents[1].Calls[0].Message, "m2")
}

func TestSessionFacts(t *testing.T) {
	s := observe(t, user("a", "", "one", `"version":"2.1.260"`), attachment("b", "a", `"type":"environment","snapshot":{"workingDirectory":"/home/dev/shop","isGitRepo":true}`),
		assistant("c", "b", "m1", text("x")), `{"type":"zeta","sessionId":"s1"}`, "{broken", user("d", "c", "two"))
	equal(t, "versions", strings.Join(s.Versions, " "), "2.1.260 2.1.332")
	equal(t, "models", strings.Join(s.Models, " "), "claude-sonnet-4-5")
	equal(t, "folder", s.CWD, "/home/dev/shop")
	if s.GitRepo == nil || !*s.GitRepo {
		t.Error("the repository was not seen")
	}
	equal(t, "records", s.Records, 5)
	equal(t, "unknown", fmt.Sprint(s.Unknown), "map[zeta:1]")
	equal(t, "defects", len(s.Defects), 1)
	equal(t, "line of the defect", s.Defects[0].Pos.Line, 5)
	empty := observe(t)
	equal(t, "events of nothing", len(empty.Main().Events), 0)
}

// TestRequests tells requests by their ids: by both, or by the one that a row has.
func TestRequests(t *testing.T) {
	row := func(uuid, message, request string, in, out int) string {
		ids := ""
		if message != "" {
			ids = `"id":"` + message + `",`
		}
		if request != "" {
			request = `"requestId":"` + request + `",`
		}
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,"sessionId":"s1",%s"message":{%s"model":"claude-sonnet-5","content":"x","usage":{"input_tokens":%d,"output_tokens":%d}}}`, uuid, request, ids, in, out)
	}
	for _, c := range []struct {
		name string
		rows []string
		want string // input and output of each call
	}{
		{"both ids", []string{row("a", "m1", "r1", 10, 9), row("b", "m1", "r1", 10, 159), row("c", "m1", "r1", 10, 20)}, "10/159"},
		{"message ids only", []string{row("a", "m1", "", 10, 9), row("b", "m1", "", 10, 11), row("c", "m2", "", 20, 1)}, "10/11 20/1"},
		{"request ids only", []string{row("a", "", "r1", 10, 9), row("b", "", "r1", 10, 11), row("c", "", "r2", 20, 1)}, "10/11 20/1"},
		{"one id in part", []string{row("a", "m1", "", 10, 9), row("b", "m1", "r1", 10, 11), row("c", "m1", "", 10, 5)}, "10/11"},
		{"the other id in part", []string{row("a", "", "r1", 10, 9), row("b", "m1", "r1", 10, 11), row("c", "m1", "", 10, 12)}, "10/12"},
		{"a message that was requested twice", []string{row("a", "m1", "r1", 10, 9), row("b", "m1", "r2", 20, 11)}, "10/9 20/11"},
		{"no ids", []string{row("a", "", "", 10, 9), row("b", "", "", 20, 11)}, "10/9 20/11"},
		{"not even a record's", []string{row("", "", "", 10, 9), row("", "", "", 10, 9)}, "10/9 10/9"},
		{"the same output", []string{row("a", "m1", "r1", 1, 9), row("b", "m1", "r1", 10, 9), row("c", "m1", "r1", 5, 9)}, "10/9"},
	} {
		for range 2 {
			var got []string
			for _, call := range observe(t, c.rows...).Main().Calls {
				got = append(got, fmt.Sprintf("%d/%d", call.Usage.Input, call.Usage.Output))
			}
			slices.Sort(got)
			equal(t, c.name, strings.Join(got, " "), c.want)
			slices.Reverse(c.rows)
		}
	}
}

// TestCopiedRequests: a fork begins with the rows that a compaction kept, whose
// usage is then 0. They are no requests of its own.
func TestCopiedRequests(t *testing.T) {
	boundary := `{"type":"system","subtype":"compact_boundary","uuid":"b","sessionId":"s1","logicalParentUuid":"gone","compactMetadata":{"trigger":"manual","preTokens":9,"preservedMessages":{"anchorUuid":"b","uuids":["k"]}}}`
	kept := `{"type":"assistant","uuid":"k","parentUuid":"b","sessionId":"s1","requestId":"r1","message":{"id":"m1","model":"claude-sonnet-5","stop_reason":"end_turn","content":"x","usage":{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0,"service_tier":"standard"}}}`
	s := observe(t, boundary, kept, user("p", "k", "go on"), assistant("q", "p", "m2", text("y")))
	equal(t, "calls", len(s.Main().Calls), 1)
	equal(t, "the call", s.Main().Calls[0].Message, "m2")
}

func TestFailures(t *testing.T) {
	const row = `{"type":"system","subtype":"api_error","uuid":"e1","sessionId":"s1","error":{"status":529,"error":{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}},"retryInMs":500,"retryAttempt":2,"maxRetries":10}`
	s := observe(t, user("a", "", "one"), row, row, `{"type":"system","subtype":"api_error","uuid":"e2","sessionId":"s1","error":{"message":"Connection error.","formatted":"x","connection":{"code":"x"}}}`,
		`{"type":"assistant","uuid":"e3","sessionId":"s1","isApiErrorMessage":true,"error":"invalid_request","apiErrorStatus":400,"message":{"id":"x","model":"<synthetic>","content":"Prompt is too long","usage":{"input_tokens":0,"output_tokens":0}}}`)
	var got []string
	for _, f := range s.Failures {
		got = append(got, fmt.Sprintf("%d: %s, %d, retry %d of %d", f.Where.Line, f.Error, f.Status, f.Retry, f.MaxRetries))
	}
	equal(t, "failures", strings.Join(got, "\n"), "2: Overloaded, 529, retry 2 of 10\n4: Connection error., 0, retry 1 of 0\n5: invalid_request, 400, retry 0 of 0")
	equal(t, "calls", len(s.Main().Calls), 0)
}

func TestAccounts(t *testing.T) {
	s := observe(t, user("a", "", "one"), assistant("b", "a", "m1", text("x")),
		`{"type":"cost-state","sessionId":"s1","totalCostUSD":0.5,"startTime":1796027786337,"totalDuration":801,"modelUsage":{"claude-x":{"inputTokens":3,"costUSD":0.5}}}`,
		`{"type":"cost-state","sessionId":"another","totalCostUSD":9,"modelUsage":{}}`, `{"type":"cost-state","sessionId":"s1"}`)
	equal(t, "accounts", len(s.Accounts), 1)
	a := s.Accounts[0]
	equal(t, "line", a.Where.Line, 3)
	equal(t, "time", a.Where.Time.Equal(s.End), true)
	equal(t, "total", a.TotalUSD, "0.5")
	equal(t, "model", fmt.Sprint(a.Models), fmt.Sprint([]jsonl.ModelUsage{{Model: "claude-x", Usage: jsonl.Usage{Input: 3}, CostUSD: "0.5"}}))
	equal(t, "began", a.Started.UnixMilli(), 1796027786337)
}

func TestRestarts(t *testing.T) {
	s := observe(t, user("a", "", "one"), assistant("b", "a", "m1", text("x")), `{"type":"cost-state","sessionId":"s1"}`, user("c", "b", "two"), assistant("d", "c", "m2", text("y")), user("e", "d", "three"))
	equal(t, "restarts", fmt.Sprint(s.Restarts), "[2]")
}

// broken reads, and then fails.
type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func TestReadError(t *testing.T) {
	r := broken{bytes.NewReader([]byte(lines(user("a", "", "one"))))}
	s, err := replay.Observe(replay.Source{Name: "log", Records: jsonl.Read("log", r, jsonl.Options{})})
	if err == nil {
		t.Fatal("the error is lost")
	}
	equal(t, "what was read before", kinds(s.Main()), "prompt@1")
}

// TestPassOn: what a fork starts works for its skill too.
func TestPassOn(t *testing.T) {
	agent := func(id string, rows ...string) replay.Source {
		src := source("agent-"+id+".jsonl", lines(rows...))
		src.Agent = id
		return src
	}
	started := func(id string) string { return `"toolUseResult":{"status":"completed","agentId":` + quote(id) + `}` }
	s, err := replay.Observe(
		source("log.jsonl", lines(user("a", "", "do", at(0)), assistant("b", "a", "m1", skillUse("t1", "f"), at(1)),
			result("c", "b", "t1", "Skill \"f\" completed (forked execution).", `"toolUseResult":{"success":true,"commandName":"f","status":"forked","agentId":"x"}`, at(9)),
			assistant("d", "c", "m2", use("t4", "Agent", `{"prompt":"other"}`), at(10)), result("e", "d", "t4", "done", started("w"), at(12)))),
		agent("x", user("f", "", bodyText("f", "F."), `"isMeta":true`, at(2)), assistant("g", "f", "m3", use("t2", "Agent", `{"prompt":"p"}`), at(3)), result("h", "g", "t2", "done", started("y"), at(8))),
		agent("y", user("i", "", "p", at(4)), assistant("j", "i", "m4", use("t3", "Agent", `{"prompt":"q"}`), at(5)), result("k", "j", "t3", "done", started("z"), at(7))),
		agent("z", user("l", "", "q", at(6))),
		agent("w", user("m", "", "other", at(11))))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range s.Agents {
		got = append(got, a.ID+":"+a.OnBehalfOf)
	}
	equal(t, "on behalf of", strings.Join(got, " "), "main: x:f y:f z:f w:")
}

// What the client answers to a typed command that it does not know is no prompt.
func TestNoCommand(t *testing.T) {
	for text, want := range map[string]string{
		"Unknown slash command: Commit-Helper":                                      "Commit-Helper",
		"Unknown skill: no-such-thing":                                              "no-such-thing",
		"Unknown command: /Commit-Helper. Did you mean /commit-helper?":             "Commit-Helper",
		"<local-command-stdout>Unknown command: /db:migrate</local-command-stdout>": "db:migrate",
		"Unknown skill: commit — why does the client say that?":                     "",
		"Unknown skill: ":                                         "",
		"what does Unknown skill: commit mean":                    "",
		"<tool_use_error>Unknown skill: commit</tool_use_error>":  "",
		"<local-command-stdout>Compacted </local-command-stdout>": "",
	} {
		name, answer, ok := replay.UnknownCommand(text)
		if name != want || ok != (want != "") || strings.Contains(answer, "<") {
			t.Errorf("%q: %q %q %v", text, name, answer, ok)
		}
	}
}
