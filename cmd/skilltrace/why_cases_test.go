package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/report"
)

// why asks for a skill and returns the screen, in one line, and the document.
func whyCase(t *testing.T, home, skill string, args ...string) (string, report.WhyDocument) {
	t.Helper()
	getenv := func(key string) string { return map[string]string{"HOME": home, "COLUMNS": "400"}[key] }
	run := func(more ...string) []byte {
		var out, errs bytes.Buffer
		if status := Main(append(append([]string{"why", skill}, args...), more...), &out, &errs, getenv); status != statusOK {
			t.Fatalf("exit status %d: %s", status, errs.String())
		}
		return out.Bytes()
	}
	screen := strings.Join(strings.Fields(string(run())), " ")
	data := run("--format", "json")
	if err := validate(data); err != nil {
		t.Fatal(err)
	}
	var doc report.WhyDocument
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return screen, doc
}

// TestWhyCases asks for the skills of the cases that people reported.
func TestWhyCases(t *testing.T) {
	const skills = "11-name-only/files/dev/.claude/skills"
	const fronts = "15-frontmatter/files/dev/.claude/skills"
	for _, tt := range []struct {
		name, log, skills, skill string
		args                     []string
		prompt                   int // 0: the one that is shown
		gate, state              string
		line                     int
		says                     []string
	}{
		{"prompts and commands are told apart", "06-prompts/session.jsonl", "", "nosuch", nil, 0, "exists", "undetermined", 0, nil},
		{"typed, and refused to the model", "07-slash/redundant.jsonl", "", "deploy", nil, 0, "called", "passed", 1, []string{"by the user, typed (line 1)", "refused (line 4)", "disable-model-invocation"}},
		{"typed in position 2 and refused", "07-slash/stack.jsonl", "", "b", nil, 0, "called", "failed", 3, []string{"by the user, typed in position 2 of a line; refused"}},
		{"late is not never", "09-late-trigger/session.jsonl", "", "foo", nil, 0, "called", "passed", 10, []string{"tool position 4, Skill position 2: late"}},
		{"first is not late", "09-late-trigger/session.jsonl", "", "superpowers:using-superpowers", nil, 0, "called", "passed", 0, []string{"tool position 3, Skill position 1"}},
		{"name only", "11-name-only/session.jsonl", skills, "b", nil, 0, "described", "failed", 3, []string{"only the name of b"}},
		{"not listed by design", "11-name-only/session.jsonl", skills, "d", nil, 0, "eligible", "failed", 3, []string{"only the user may call it"}},
		{"by the name of its plugin", "11-name-only/session.jsonl", skills, "c", nil, 0, "called", "failed", 0, []string{"c is listed as plug:c"}},
		{"an alias in the listing", "13-duplicates/session.jsonl", "", "y", nil, 0, "called", "failed", 0, []string{"listed beside plug:y (alias)"}},
		{"an entry twice", "13-duplicates/session.jsonl", "", "x", nil, 0, "called", "failed", 0, []string{"listed twice, as entries "}},
		{"under two prefixes", "13-duplicates/session.jsonl", "", "p1:z", nil, 0, "called", "failed", 0, []string{"listed beside p2:z (two prefixes)"}},
		{"under two prefixes, by neither", "13-duplicates/session.jsonl", "", "z", nil, 0, "exists", "undetermined", 0, []string{"did you mean p1:z or p2:z?"}},
		{"command and skill", "13-duplicates/session.jsonl", "", "k:k", nil, 0, "called", "failed", 0, []string{"(command and skill)"}},
		{"lost at a compaction", "14-over-time/lost.jsonl", "", "a", nil, 0, "present", "failed", 7, []string{"a was not visible any more for prompt 3 (line 9): lost at the compaction of line 7"}},
		{"visible before it", "14-over-time/lost.jsonl", "", "a", nil, 1, "called", "failed", 0, nil},
		{"sent three times", "14-over-time/copies.jsonl", "", "a", nil, 0, "called", "failed", 0, nil},
		{"front matter lost", "15-frontmatter/newer.jsonl", fronts, "a", nil, 0, "loaded", "failed", 4, []string{"all fields are lost", "listed as “Some Heading” (line 2)", "disable-model-invocation is not in force"}},
		{"not strict YAML, and read", "15-frontmatter/newer.jsonl", fronts, "b", nil, 0, "called", "failed", 0, []string{"not strict YAML"}},
		{"a comment in a value", "15-frontmatter/newer.jsonl", fronts, "c", nil, 0, "called", "failed", 0, []string{`"#x" is dropped`}},
		{"byte order mark", "15-frontmatter/newer.jsonl", fronts, "d", nil, 0, "called", "failed", 0, []string{"a byte order mark stands before"}},
		{"CRLF is read", "15-frontmatter/newer.jsonl", fronts, "e", nil, 0, "called", "failed", 0, nil},
		{"a comment above", "15-frontmatter/newer.jsonl", fronts, "f", nil, 0, "loaded", "failed", 2, []string{"a comment above ---"}},
		{"one character of many", "15-frontmatter/older.jsonl", fronts, "g", nil, 0, "loaded", "failed", 2, []string{"1 of 28 characters"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, path := home(t, tt.log, tt.skills)
			screen, doc := whyCase(t, dir, tt.skill, append([]string{path}, tt.args...)...)
			var q *report.WhyQuestion
			for i := range doc.Questions {
				if tt.prompt == 0 && i == *doc.Focus || tt.prompt > 0 && doc.Questions[i].Prompt == tt.prompt {
					q = &doc.Questions[i]
				}
			}
			if q == nil {
				t.Fatal("no such question")
			}
			if q.Verdict.Gate != tt.gate || q.Verdict.State != tt.state || tt.line > 0 && q.Verdict.Line != tt.line {
				t.Errorf("%s %s line %d: %s", q.Verdict.Gate, q.Verdict.State, q.Verdict.Line, q.Verdict.Reason)
			}
			for _, s := range tt.says {
				if !strings.Contains(screen, s) {
					t.Errorf("the screen does not say %q:\n%s", s, screen)
				}
			}
		})
	}
}

// Case 8: a reattachment is no call, and what it puts back is in force.
func TestWhyCase08Loads(t *testing.T) {
	dir, path := home(t, "08-loads/session.jsonl", "")
	skills, _ := whyCase(t, dir, "--all", path)
	name := strings.Fields(strings.SplitAfter(skills, " why ")[1])[0]
	_, doc := whyCase(t, dir, name, path)
	if doc.Summary.ByModel != 2 || doc.Summary.ByUser != 0 {
		t.Errorf("called %d and %d times", doc.Summary.ByModel, doc.Summary.ByUser)
	}
	last := doc.Questions[len(doc.Questions)-1]
	if last.Verdict.Gate != "in_force" || last.Verdict.State != "passed" {
		t.Errorf("%s %s: %s", last.Verdict.Gate, last.Verdict.State, last.Verdict.Reason)
	}
}
