package why_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/replay/why"
)

// shared is the folder of recordings beside the repository.
func shared() string {
	if dir := os.Getenv("SKILLTRACE_SHARED"); dir != "" {
		return dir
	}
	return "../../../shared"
}

// logsBelow are the logs in a folder beside the repository; the test skips without it.
func logsBelow(t testing.TB, folder string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(shared(), folder), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(path, ".jsonl") || strings.HasSuffix(path, ".jsonl.gz")) {
			out = append(out, path)
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Skipf("%s is not beside the repository: %v", folder, err)
	}
	return out
}

// truth is a call as the records of a log have it, read without the timeline.
type truth struct {
	skill  string
	line   int // of the call
	result int // line of its result, 0 if there is none
	failed bool
	text   string
}

// truths are the Skill calls of a log.
func truths(t *testing.T, name string) []truth {
	t.Helper()
	var out []truth
	at := map[string]int{}
	for r, err := range jsonl.ReadFile(name, jsonl.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Message == nil || r.Kind != jsonl.KindUser && r.Kind != jsonl.KindAssistant {
			continue
		}
		for i := range r.Message.Blocks {
			b := &r.Message.Blocks[i]
			switch {
			case b.Kind == jsonl.BlockToolUse && b.Name == "Skill":
				if _, again := at[b.ID]; again {
					continue
				}
				in := jsonl.Value(b.Input)
				skill := in.Get("skill").Text()
				if skill == "" {
					skill = in.Get("command").Text()
				}
				at[b.ID] = len(out)
				out = append(out, truth{skill: replay.NormalName(skill), line: r.Pos.Line})
			case b.Kind == jsonl.BlockToolResult:
				if n, ok := at[b.ID]; ok && out[n].result == 0 {
					out[n].result, out[n].failed, out[n].text = r.Pos.Line, b.IsError, b.Text
				}
			}
		}
	}
	return out
}

// stranger replays a log of which this machine knows nothing else.
func stranger(t *testing.T, name string) (*why.Session, bool) {
	t.Helper()
	s, err := replay.Observe(replay.Source{Name: name, Records: jsonl.ReadFile(name, replay.Reading())})
	if err != nil {
		t.Fatal(err)
	}
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	found, err := local.NewFinder(local.Options{Table: table}).Find(s)
	if err != nil {
		return nil, false // a client older than all rules
	}
	r, courses := replay.RunCourses(s, &found.Inputs, replay.Comparison{RulesExact: found.RulesExact, History: found.Inputs.History})
	return why.Prepare(r, courses, nil), true
}

func TestCorpusCalls(t *testing.T) {
	for _, folder := range []string{"corpus", "conformance/lifecycle", "conformance/interactive"} {
		t.Run(folder, func(t *testing.T) {
			calls, refusals, unnamed, logs := 0, 0, 0, 0
			for _, name := range logsBelow(t, folder) {
				want := truths(t, name)
				if len(want) == 0 {
					continue
				}
				s, ok := stranger(t, name)
				if !ok {
					continue
				}
				logs++
				answers := map[string]*why.Answer{}
				for _, c := range want {
					if c.result == 0 {
						continue
					}
					if c.skill == "" {
						unnamed++
						checkUnnamed(t, name, s, &c)
						continue
					}
					a := answers[c.skill]
					if a == nil {
						a = s.Ask(c.skill)
						answers[c.skill] = a
						for i := range a.Questions {
							checkShape(t, &a.Questions[i])
						}
					}
					if c.failed {
						refusals++
						checkRefusal(t, name, a, &c)
					} else {
						calls++
						checkCall(t, name, a, &c)
					}
				}
			}
			if calls == 0 {
				t.Error("no calls")
			}
			t.Logf("%d calls, %d refusals and %d calls without a name in %d logs", calls, refusals, unnamed, logs)
		})
	}
}

// checkUnnamed wants a call that names no skill in the answer for any skill, as one.
func checkUnnamed(t *testing.T, name string, s *why.Session, c *truth) {
	t.Helper()
	a := s.Ask("any") // all skills are told of it alike
	for i := range a.Questions {
		for _, n := range a.Questions[i].Step(why.Called).Notes {
			if strings.Contains(n, "names no skill") && strings.Contains(n, fmt.Sprintf("(line %d)", c.line)) && strings.Contains(n, fmt.Sprintf("refused (line %d)", c.result)) {
				return
			}
		}
	}
	t.Errorf("%s: the call without a name at line %d is not told of", name, c.line)
}

// checkCall wants the line of a call that succeeded in the answer, as one.
func checkCall(t *testing.T, name string, a *why.Answer, c *truth) {
	t.Helper()
	mark := fmt.Sprintf("(line %d)", c.line)
	for i := range a.Questions {
		q := &a.Questions[i]
		s := q.Step(why.Called)
		says := func(text string) bool { return strings.Contains(text, mark) && !strings.Contains(text, "refused") }
		if s.State == why.Passed && (says(s.Reason) && s.Where.Line == c.line || slices.ContainsFunc(s.Notes, says)) && (q.Verdict.Gate == why.Called || q.Verdict.Gate == why.Delivered) {
			return
		}
		// A skill that the user typed and the model called is one attempt, at the line that
		// was typed.
		if s.State == why.Passed && s.Where.Line < c.line && strings.HasPrefix(s.Reason, "by the user") {
			return
		}
	}
	t.Errorf("%s: the call of %s at line %d is not told of", name, c.skill, c.line)
	for i := range a.Questions {
		t.Logf("%d %s %s", a.Questions[i].Where.Line, a.Questions[i].Verdict.Reason, a.Questions[i].Step(why.Called).Notes)
	}
}

// checkRefusal wants the line of a refusal in the answer, as one.
func checkRefusal(t *testing.T, name string, a *why.Answer, c *truth) {
	t.Helper()
	mark := fmt.Sprintf("(line %d)", c.result)
	for i := range a.Questions {
		q := &a.Questions[i]
		s := q.Step(why.Called)
		if strings.Contains(s.Reason, mark) || slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, mark) }) {
			if s.State == why.Passed {
				return // another call of the same prompt succeeded
			}
			first := strings.Contains(s.Reason, mark)
			switch {
			case q.Verdict.State != why.Failed:
				t.Errorf("%s:%d: %s %s", name, c.result, q.Verdict.Gate, q.Verdict.State)
			case first && q.Verdict.Where.Line != c.result:
				t.Errorf("%s:%d: evidence is line %d", name, c.result, q.Verdict.Where.Line)
			case first && !strings.Contains(q.Verdict.Reason, "refused") && !strings.Contains(q.Verdict.Reason, "rejected"):
				t.Errorf("%s:%d: %s", name, c.result, q.Verdict.Reason)
			case first && strings.Contains(c.text, "Unknown skill") && q.Step(why.Exists).State == why.Failed && q.Verdict.Gate != why.Exists:
				t.Errorf("%s:%d: %s", name, c.result, q.Verdict.Gate)
			}
			return
		}
	}
	t.Errorf("%s: the refusal of %s at line %d is not told of", name, c.skill, c.result)
	for i := range a.Questions {
		t.Logf("%d %s %s", a.Questions[i].Where.Line, a.Questions[i].Verdict.Reason, a.Questions[i].Step(why.Called).Notes)
	}
}
