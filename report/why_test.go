package report

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/replay/why"
)

// bundled is the bundled recording, prepared for questions without any skill file.
func bundled(t *testing.T) (*replay.Result, *why.Session) {
	t.Helper()
	logs, err := filepath.Glob("../fixtures/compact/projects/*/*.jsonl.gz")
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	opt := replay.Reading()
	s, err := replay.Observe(replay.Source{Name: "/home/dev/.claude/projects/log.jsonl", Records: jsonl.ReadFile(logs[0], opt)})
	if err != nil {
		t.Fatal(err)
	}
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	in := &replay.Inputs{Rules: func(v string) *rules.Rules {
		r, err := table.At(v)
		if err != nil {
			t.Fatal(err)
		}
		return &r
	}, Version: "2.1.332", Processes: []replay.Process{{CWD: s.CWD}}}
	r, courses := replay.RunCourses(s, in, replay.Comparison{RulesExact: true})
	r.Client, r.RulesExact = "claude-code@2.1.332", true
	return r, why.Prepare(r, courses, nil)
}

func TestWhy(t *testing.T) {
	r, s := bundled(t)
	one := s.Ask("big-d")
	var questions []WhyQuestion
	for i := range one.Questions {
		s.Explain(&one.Subject, &one.Questions[i])
		questions = append(questions, NewWhyQuestion(r.Session.ID, r.Session.File, &one.Questions[i]))
	}
	tally := s.Tally(one)
	doc := NewWhy(one.Subject, []WhySession{NewWhySession(r, true, tally, one.Worst(&tally))}, questions, tally, 1)
	goldenTables(t, "why", doc)
	goldenJSON(t, "why", doc)
	var md bytes.Buffer
	if err := doc.WriteMarkdown(&md, Style{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "why.md", md.Bytes())

	// What was read back gives the same.
	again := &WhyDocument{}
	readBack(t, doc, again)
	var a, b strings.Builder
	if doc.WriteTable(&a, Style{}) != nil || again.WriteTable(&b, Style{}) != nil || a.String() != b.String() {
		t.Errorf("read back:\n%s\nwas\n%s", &b, &a)
	}
}

func TestWhyMany(t *testing.T) {
	r, s := bundled(t)
	var total why.Tally
	var sessions []WhySession
	var questions []WhyQuestion
	var answer *why.Answer
	for range 2 {
		answer = s.Ask("late-one")
		tally := s.Tally(answer)
		total.Add(tally)
		block := NewWhySession(r, true, tally, answer.Worst(&tally))
		sessions = append(sessions, block)
		for i := range answer.Questions {
			questions = append(questions, NewWhyQuestion(r.Session.ID, r.Session.File, &answer.Questions[i]))
		}
	}
	doc := NewWhy(answer.Subject, sessions, questions, total, 1)
	goldenTables(t, "why-many", doc)

	var census why.Census
	census.Add(0, s)
	list := NewWhyAll(census.Skills(), census.Unknown(), sessions[:1], total, 1)
	goldenTables(t, "why-all", list)
	goldenJSON(t, "why-all", list)
}

func TestHomes(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"/home/dev/shop/x", "~/shop/x"},
		{"/home/dev", "~"},
		{"a /Users/jo/x and /home/li/y", "a ~/x and ~/y"},
		{`C:\Users\Jo\x`, `~\x`},
		{"~/.claude/projects/-home-dev-shop/log", "~/.claude/projects/~-shop/log"},
		{"/home/", "/home/"},
		{"nothing", "nothing"},
	} {
		if got := homes(tt.in); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestFocus: the question that is shown whole is the one that its heading says.
func TestFocus(t *testing.T) {
	called := []WhyGate{{Gate: "called", State: "passed"}}
	failed := []WhyGate{{Gate: "called", State: "failed", Reason: why.NoAnswer + " (line 5): overloaded", Line: 5}}
	named := WhyWords{Named: true}
	for _, tt := range []struct {
		name      string
		questions []WhyQuestion
		want      int
		chosen    string
	}{
		{"called, then typed", []WhyQuestion{{Agent: "main"}, {Agent: "main", Gates: called}, {Agent: "main", Gates: called, Words: named}}, 1, "the first for which it was called"},
		{"named, then called", []WhyQuestion{{Agent: "main", Words: named}, {Agent: "main", Gates: called}}, 1, "the first for which it was called"},
		{"called by a subagent only", []WhyQuestion{{Agent: "main"}, {Agent: "a1", Gates: called}}, 0, "the last"},
		{"a request that failed", []WhyQuestion{{Agent: "main", Gates: failed}, {Agent: "main"}}, 1, "the last"},
		{"stopped, then unfinished", []WhyQuestion{{Agent: "main", Gates: []WhyGate{{Gate: "called", State: "failed", Reason: why.Interrupted + " (line 3)", Line: 3}}}, {Agent: "main", Gates: []WhyGate{{Gate: "called", State: "undetermined", Reason: why.NotSoFar, Line: 5}}}}, 1, "the last"},
		{"named twice", []WhyQuestion{{Agent: "main", Words: named}, {Agent: "main", Words: named}, {Agent: "main"}}, 1, "the last that names it"},
	} {
		d := WhyDocument{Questions: tt.questions}
		d.focus()
		if d.Focus == nil || *d.Focus != tt.want || d.Chosen != tt.chosen {
			t.Errorf("%s: got %v, %q, want %d, %q", tt.name, d.Focus, d.Chosen, tt.want, tt.chosen)
		}
	}
}
