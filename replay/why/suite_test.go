package why_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/replay/why"
	"github.com/skilltrace/skilltrace/skills"
)

// A session of the suite is a log of a few rows, the files that the client found, and
// what it was started with. Each row that a method of book writes is one line, so that
// lines are counted in the case.

// book writes a log.
type book struct {
	version string
	agent   string
	rows    []string
	parent  string
	n       int
	uses    int
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (b *book) row(typ, members string) {
	b.n++
	uuid := fmt.Sprintf("%08d-0000-4000-8000-%012d", b.n, len(b.agent))
	parent := "null"
	if b.parent != "" {
		parent = quote(b.parent)
	}
	side := ""
	if b.agent != "" {
		side = `"isSidechain":true,"agentId":` + quote(b.agent) + `,`
	}
	if strings.Contains(members, "compact_boundary") {
		members += `,"logicalParentUuid":` + parent
		parent = "null"
	}
	b.rows = append(b.rows, fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%s,%s"sessionId":"s1","version":%q,"cwd":"/home/dev/shop","timestamp":"2026-11-28T09:%02d:%02d.000Z",%s}`,
		typ, uuid, parent, side, b.version, b.n/60, b.n%60, members))
	b.parent = uuid
}

func (b *book) user(content, more string) {
	b.row("user", `"message":{"role":"user","content":`+content+`}`+more)
}

// prompt is a typed text; mode is its permission mode, if given.
func (b *book) prompt(text string, mode ...string) {
	more := ""
	if len(mode) > 0 {
		more = `,"permissionMode":` + quote(mode[0])
	}
	b.user(quote(text), more)
}

func (b *book) reply(blocks string) {
	b.uses++
	b.row("assistant", fmt.Sprintf(`"requestId":"req%d","message":{"id":"msg%d","role":"assistant","model":"claude-sonnet-4-5","stop_reason":"end_turn","content":[%s],"usage":{"input_tokens":3,"output_tokens":20,"cache_read_input_tokens":1000,"cache_creation_input_tokens":0}}`, b.uses, b.uses, blocks))
}

func (b *book) say(text string) { b.reply(`{"type":"text","text":` + quote(text) + `}`) }

// failed is what the client writes when it gives a request up: one line.
func (b *book) failed() {
	b.row("assistant", `"isApiErrorMessage":true,"apiErrorStatus":529,"error":"overloaded","message":{"id":"m-failed","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error: 529"}],"usage":{"input_tokens":0,"output_tokens":0}}`)
}

// use is a request with one tool use, id is toolN by its number among the replies.
func (b *book) use(tool, input string) string {
	id := fmt.Sprintf("tool%d", b.uses+1)
	b.reply(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, tool, input))
	return id
}

func (b *book) result(id, text string, failed bool, more string) {
	b.user(fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"is_error":%v,"content":%s}]`, id, failed, quote(text)), more)
}

// tool is a use of a tool that succeeds: two lines.
func (b *book) tool(tool, input string) {
	id := b.use(tool, input)
	b.result(id, "ok", false, "")
}

func (b *book) read(path string) { b.tool("Read", `{"file_path":`+quote(path)+`}`) }

// skill is a call that brings the body: three lines.
func (b *book) skill(name, args, body string) {
	in := `{"skill":` + quote(name)
	if args != "" {
		in += `,"args":` + quote(args)
	}
	id := b.use("Skill", in+"}")
	b.result(id, "Launching skill: "+name, false, `,"toolUseResult":{"success":true,"commandName":`+quote(name)+`}`)
	if body != "" {
		b.user(`[{"type":"text","text":`+quote(body)+`}]`, `,"isMeta":true,"sourceToolUseID":`+quote(id))
	}
}

// refused is a call that the client refuses: two lines.
func (b *book) refused(name, text string) {
	id := b.use("Skill", `{"skill":`+quote(name)+`}`)
	b.result(id, text, true, `,"toolUseResult":`+quote("Error: "+text))
}

// malformed is a call whose input the client refuses: two lines.
func (b *book) malformed(input, fault string) {
	id := b.use("Skill", input)
	text := "<tool_use_error>InputValidationError: Skill failed due to the following issue:\n" + fault + "</tool_use_error>"
	b.result(id, text, true, `,"toolUseResult":"InputValidationError: []"`)
}

// attach is a record that the client puts beside the conversation: one line.
func (b *book) attach(typ, members string) {
	b.row("attachment", `"attachment":{"type":`+quote(typ)+members+`}`)
}

// slash is a typed command with its body: one or two lines.
func (b *book) slash(name, args, body, more string) {
	b.user(quote("<command-message>"+name+"</command-message>\n<command-name>/"+name+"</command-name>\n<command-args>"+args+"</command-args>"), more)
	if body != "" {
		b.user(`[{"type":"text","text":`+quote(body)+`}]`, `,"isMeta":true`)
	}
}

func (b *book) listing(initial bool, entries ...string) {
	var names []string
	for _, e := range entries {
		name, _, _ := strings.Cut(strings.TrimPrefix(e, "- "), ": ")
		names = append(names, quote(name))
	}
	b.row("attachment", fmt.Sprintf(`"attachment":{"type":"skill_listing","content":%s,"isInitial":%v,"skillCount":%d,"names":[%s]}`, quote(strings.Join(entries, "\n")), initial, len(names), strings.Join(names, ",")))
}

// compact is a boundary and its summary: two lines. kept are numbers of rows.
func (b *book) compact(kept ...int) {
	meta := `"trigger":"manual","preTokens":50000,"postTokens":9000`
	if len(kept) > 0 {
		var uuids []string
		for _, n := range kept {
			uuids = append(uuids, quote(fmt.Sprintf("%08d-0000-4000-8000-%012d", n, len(b.agent))))
		}
		meta += `,"preservedMessages":{"anchorUuid":"x","uuids":[` + strings.Join(uuids, ",") + `]}`
	}
	b.row("system", `"subtype":"compact_boundary","compactMetadata":{`+meta+`}`)
	b.user(quote("This session is being continued."), `,"isCompactSummary":true`)
}

func (b *book) reattached(name, content string) {
	b.row("attachment", `"attachment":{"type":"invoked_skills","skills":[{"name":`+quote(name)+`,"path":"userSettings:`+name+`","content":`+quote(content)+`}]}`)
}

const (
	home   = "/home/dev/.claude/skills/"
	shop   = "/home/dev/shop/.claude/skills/"
	plain  = "---\ndescription: Runs pending database migrations.\n---\nDo it.\n"
	base   = "Base directory for this skill: /home/dev/.claude/skills/"
	listed = "- commit: Writes a commit."
)

func skillFile(front string) string { return "---\n" + front + "\n---\n# Some Heading\n\nDo it.\n" }

// filler are skills that take a listing's room.
func filler(n, length int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("%sfill-%02d/SKILL.md", home, i)] = skillFile("description: " + strings.Repeat("x", length))
	}
	return files
}

type session struct {
	name     string
	version  string
	files    map[string]string // a text that begins with "-> " is a link
	settings replay.Settings
	env      map[string]string
	addDirs  []string
	plugins  []string
	usage    map[string]replay.UsageCount
	window   int64
	build    func(b *book)
	sub      func(b *book)       // the log of agent a1
	read     map[string]why.File // what is known of files; they are the session's own if nothing is
	starts   []int               // lines before which a process resumed the conversation
	exact    bool
	skill    string // db-migrate if empty
	agent    string // main if empty
	prompt   int    // 1 if 0; -1: the first question
	command  string

	gate  why.Gate
	state why.State // failed if empty
	line  int       // of the evidence; 0: not in the log
	file  string    // of the evidence, where it is a skill file
	says  string    // a part of the reason
	has   string    // a part of any note or advice
}

// ask plays a session.
func (c *session) ask(t *testing.T) (*why.Session, *why.Answer) {
	t.Helper()
	b := &book{version: c.version}
	c.build(b)
	source := func(name, agent string, rows []string) replay.Source {
		return replay.Source{Name: name, Agent: agent, Records: jsonl.Read(name, strings.NewReader(strings.Join(rows, "\n")+"\n"), replay.Reading())}
	}
	var subs []replay.Source
	if c.sub != nil {
		sb := &book{version: c.version, agent: "a1", n: 30}
		c.sub(sb)
		subs = append(subs, source("a1.jsonl", "a1", sb.rows))
	}
	s, err := replay.Observe(source("log.jsonl", "", b.rows), subs...)
	if err != nil {
		t.Fatal(err)
	}
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	in := &replay.Inputs{Version: c.version, Exact: c.exact, Rules: func(v string) *rules.Rules {
		r, err := table.At(v)
		if err != nil {
			t.Fatal(err)
		}
		return &r
	}}
	p := replay.Process{Home: "/home/dev", ConfigDir: "/home/dev/.claude", CWD: "/home/dev/shop", Settings: c.settings, Env: c.env, Model: "claude-sonnet-4-5", Window: c.window, AddDirs: c.addDirs, Plugins: c.plugins}
	in.Processes = []replay.Process{p}
	inserts := []replay.Insertion{{Before: 0, Event: replay.Event{Kind: replay.Start, Start: &replay.StartEvent{}}}}
	for _, line := range c.starts {
		for i, e := range s.Main().Events {
			if e.Where.Line >= line {
				p.Resume = true
				in.Processes = append(in.Processes, p)
				inserts = append(inserts, replay.Insertion{Before: i, Event: replay.Event{Kind: replay.Start, Start: &replay.StartEvent{Resume: true, Process: len(in.Processes) - 1}}})
				break
			}
		}
	}
	s.Main().Insert(inserts)
	if c.files != nil {
		tree := skills.NewMemory()
		for name, text := range c.files {
			if target, ok := strings.CutPrefix(text, "-> "); ok {
				err = tree.Link(name, target)
			} else {
				err = tree.Write(name, []byte(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		in.Files = replay.NewFiles(tree)
	}
	if c.usage != nil {
		in.Usage = &replay.Usage{Counts: c.usage}
	}
	r, courses := replay.RunCourses(s, in, replay.Comparison{Exact: c.exact, RulesExact: true})
	session := why.Prepare(r, courses, c.read)
	skill := c.skill
	if skill == "" {
		skill = "db-migrate"
	}
	answer := session.Ask(skill)
	for i := range answer.Questions {
		session.Explain(&answer.Subject, &answer.Questions[i])
	}
	return session, answer
}

// question is the one that the case is about.
func (c *session) question(t *testing.T, a *why.Answer) *why.Question {
	t.Helper()
	agent, prompt := c.agent, c.prompt
	if agent == "" {
		agent = "main"
	}
	if prompt == 0 && c.command == "" {
		prompt = 1
	}
	for i := range a.Questions {
		q := &a.Questions[i]
		if q.Agent == agent && (prompt < 0 || q.Prompt == prompt && c.command == "" || c.command != "" && q.Command == c.command) {
			return q
		}
	}
	t.Fatalf("no such question among %d", len(a.Questions))
	return nil
}

func TestSuite(t *testing.T) {
	for i := range suite {
		c := &suite[i]
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			s, a := c.ask(t)
			q := c.question(t, a)
			state := c.state
			if state == "" {
				state = why.Failed
			}
			v := &q.Verdict
			if v.Gate != c.gate || v.State != state {
				t.Errorf("%s %s, want %s %s: %s", v.Gate, v.State, c.gate, state, v.Reason)
			}
			if c.file != "" && v.Where.File != c.file || v.Where.Line != c.line {
				t.Errorf("evidence %s:%d, want %s:%d: %s", v.Where.File, v.Where.Line, c.file, c.line, v.Reason)
			}
			if !strings.Contains(v.Reason, c.says) {
				t.Errorf("%q does not say %q", v.Reason, c.says)
			}
			var more strings.Builder
			for _, step := range q.Steps {
				fmt.Fprintf(&more, "%s %s: %s %q %q\n", step.Gate, step.State, step.Reason, step.Notes, step.Advice)
			}
			if !strings.Contains(more.String(), c.has) {
				t.Errorf("nothing says %q", c.has)
			}
			if t.Failed() {
				t.Logf("\n%s", more.String())
			}
			checkShape(t, q)
			// The survey counts what the questions say.
			if want, got := fmt.Sprint(s.Tally(a).Verdicts), ""; true {
				tally, _ := s.Survey(a.Subject.Asked)
				if got = fmt.Sprint(tally.Verdicts); got != want {
					t.Errorf("survey %s, questions %s", got, want)
				}
			}
		})
	}
	if len(suite) < 40 {
		t.Errorf("%d sessions", len(suite))
	}
}

// What a prompt said is told as facts.
func TestWords(t *testing.T) {
	for i := range suite {
		c := &suite[i]
		if c.name != "in plan mode and in another language" && c.name != "visible and not chosen" {
			continue
		}
		_, a := c.ask(t)
		w := c.question(t, a).Words
		got := fmt.Sprintf("%v %d of %d, %s and %s %v, mode %q", w.Shared, w.Rank, w.Listed, w.Language, w.SkillLanguage, w.Foreign, w.Mode)
		want := `[] 0 of 2, Chinese and English true, mode "plan"`
		if c.name == "visible and not chosen" {
			want = `[pending] 1 of 2, Latin letters and Latin letters false, mode ""`
		}
		if got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

// Words that tell no skills apart give no rank.
func TestNoRank(t *testing.T) {
	for _, tt := range []struct{ prompt, want, note string }{
		{"fix the bug", "[] 0", "[]"},
		{"the skill", "[skill] 0", "[what it shares stands in all entries, and does not tell skills apart]"},
		{"the migrations skill", "[migrations skill] 1", "[]"},
	} {
		c := session{version: "2.1.332", build: func(b *book) {
			b.prompt(tt.prompt)
			b.listing(true, "- commit: The skill that writes a commit.", "- db-migrate: The skill that runs the migrations.")
			b.say("done")
		}}
		_, a := c.ask(t)
		q := c.question(t, a)
		if got := fmt.Sprintf("%v %d", q.Words.Shared, q.Words.Rank); got != tt.want || fmt.Sprint(q.Step(why.Asked).Notes) != tt.note {
			t.Errorf("%q: %s %v, want %s %s", tt.prompt, got, q.Step(why.Asked).Notes, tt.want, tt.note)
		}
	}
}

// A mode is told by what the user typed in, by records of the client, and by tools.
func TestModes(t *testing.T) {
	c := session{version: "2.1.144", build: func(b *book) {
		b.prompt("one", "acceptEdits")
		b.listing(true, listed)
		b.say("done")
		b.attach("plan_mode", `,"reminderType":"full","isSubAgent":false`) // 4: in the course of the turn
		b.say("a plan")
		b.prompt("two") // its record does not tell: still plan
		b.say("a better plan")
		b.tool("ExitPlanMode", `{"plan":"x"}`) // 8, 9
		b.attach("plan_mode_exit", "")         // 10: told again
		b.say("done")
		b.prompt("three") // what follows plan mode is not known
		b.say("done")
		b.prompt("four", "default")
		b.attach("auto_mode", `,"reminderType":"once"`) // 15: before the answer
		b.say("done")
		b.prompt("five", "bypassPermissions")
		b.attach("auto_mode", `,"steerOnly":true,"bypass":true`) // advice only
		b.say("done")
		b.prompt("six", "default")
		b.tool("EnterPlanMode", `{}`) // 21, 22
		b.say("a plan")
		b.prompt("seven", "default")
		b.result(b.use("EnterPlanMode", `{}`), "The user doesn't want to proceed with this tool use.", true, "")
		b.say("done")
	}}
	_, a := c.ask(t)
	want := []string{
		`acceptEdits ["plan mode from line 4 on, in the course of the turn (plan_mode)"]`,
		`plan ["plan mode was left in the course of the turn (ExitPlanMode, line 9)"]`,
		` []`,
		`auto []`,
		`bypassPermissions []`,
		`default ["plan mode from line 22 on, in the course of the turn (EnterPlanMode)"]`,
		`default []`,
	}
	for i := range a.Questions {
		q := &a.Questions[i]
		if got := fmt.Sprintf("%s %q", q.Words.Mode, q.Step(why.Asked).Notes); got != want[i] {
			t.Errorf("prompt %d: %s, want %s", i+1, got, want[i])
		}
	}
	if len(a.Questions) != len(want) {
		t.Errorf("%d questions", len(a.Questions))
	}
}

// checkShape holds for every question.
func checkShape(t *testing.T, q *why.Question) {
	t.Helper()
	if len(q.Steps) != len(why.Gates) {
		t.Fatalf("%d steps", len(q.Steps))
	}
	for i, s := range q.Steps {
		if s.Gate != why.Gates[i] {
			t.Errorf("step %d is %s", i, s.Gate)
		}
		if (s.State == why.Undetermined) != (s.Missing != "") {
			t.Errorf("%s is %s, missing %q", s.Gate, s.State, s.Missing)
		}
		if s.State == "" {
			t.Errorf("%s has no state", s.Gate)
		}
		if s.Gate == why.Asked && s.State != why.Info {
			t.Errorf("asked is %s", s.State)
		}
	}
	step := q.Step(q.Verdict.Gate)
	if step == nil || step.State != q.Verdict.State {
		t.Errorf("verdict %s %s", q.Verdict.Gate, q.Verdict.State)
	}
	if q.Verdict.Reason == "" || q.Verdict.Where.Line == 0 && q.Verdict.Where.File == "" {
		t.Errorf("verdict without %q or evidence %v", q.Verdict.Reason, q.Verdict.Where)
	}
	if strings.Contains(q.Verdict.Reason, "should") {
		t.Errorf("judges: %s", q.Verdict.Reason)
	}
}
