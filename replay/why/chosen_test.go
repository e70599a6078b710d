package why_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay/why"
)

// TestRefusalWhole: a refusal of several lines is told whole on one line, and marked as
// private; one in which only a name varies is not.
func TestRefusalWhole(t *testing.T) {
	const text = "Shell command failed for pattern \"!`make x`\":\n[stderr]\n  no rule\tfor x.\n"
	for _, tt := range []struct{ text, says, private string }{
		{text, "refused (line 5): Shell command failed for pattern \"!`make x`\": [stderr] no rule for x.", "Shell command failed for pattern \"!`make x`\": [stderr] no rule for x."},
		{strings.Repeat("much ", 100), "much …", strings.TrimSpace(strings.Repeat("much ", 48)) + " …"},
		{"<tool_use_error>Error: No such tool available: Skill</tool_use_error>", "No such tool available: Skill", ""},
	} {
		c := session{version: "2.1.332", build: func(b *book) {
			asks(listed, "- db-migrate: Runs it.")(b)
			b.refused("db-migrate", tt.text)
		}}
		_, a := c.ask(t)
		q := c.question(t, a)
		s := q.Step(why.Called)
		if !strings.Contains(s.Reason, tt.says) || !strings.Contains(q.Verdict.Reason, strings.TrimSuffix(tt.says, ".")) || strings.ContainsAny(s.Reason, "\n\t") {
			t.Errorf("%q\nand %q\ndo not say %q", s.Reason, q.Verdict.Reason, tt.says)
		}
		private := strings.Join(s.Private, "\n")
		if (tt.private == "") != (private == "") || !strings.Contains(private, tt.private) {
			t.Errorf("private %q, want %q", private, tt.private)
		}
	}
}

// TestChosen: for which prompts of a session a skill was called, and by which agents.
func TestChosen(t *testing.T) {
	const entry = "- db-migrate: Runs it."
	c := session{version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, listed, entry)
		b.say("done")
		b.prompt("again")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
		b.slash("commit", "", base+"commit\n\nCommit.\n", "")
		b.say("done")
	}, sub: func(b *book) {
		b.prompt("task")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
	}}
	_, a := c.ask(t)
	got := a.Chosen()
	if got.Prompts != 2 || got.All != 4 || got.First == nil || got.First.Prompt != 2 || got.First.Agent != "main" {
		t.Errorf("%+v", got)
	}
	if len(got.Agents) != 1 || got.Agents[0].Agent != "a1" || got.Agents[0].Where.Line != 2 || got.Agents[0].Where.File != "a1.jsonl" || !got.Agents[0].Called {
		t.Errorf("%+v", got.Agents)
	}
}

// TestNotChosen: ties by words, the words that the description lacks, and what to do.
func TestNotChosen(t *testing.T) {
	described := map[string]string{"db-migrate": "Runs pending jobs, by day.", "x-migrate": "Makes pending things, by day.", "y-migrate": "Takes pending things, by day.", "z": "Nothing of all that.", "zz": "Another thing."}
	for _, tt := range []struct{ prompt, front, want string }{
		{"run the pending migration of the billing schema", "", `rank 1 tied 2 lacks [run migration billing schema] advice ["write words of such prompts into its description, where they tell of the skill: asked names those that it lacks" "type /db-migrate, which needs no choice of the model"]`},
		{"use db-migrate on the billing schema", "\nuser-invocable: false", `rank 1 tied 0 lacks [billing schema] advice []`},
	} {
		files := map[string]string{}
		var entries []string
		for _, name := range slices.Sorted(maps.Keys(described)) {
			files[home+name+"/SKILL.md"] = skillFile("description: " + described[name] + tt.front)
			entries = append(entries, "- "+name+": "+described[name])
		}
		c := session{version: "2.1.332", files: files, build: func(b *book) {
			b.prompt(tt.prompt)
			b.listing(true, entries...)
			b.say("done")
		}}
		_, a := c.ask(t)
		q := c.question(t, a)
		if got := fmt.Sprintf("rank %d tied %d lacks %v advice %q", q.Words.Rank, q.Words.Tied, q.Words.Lacking, q.Step(why.Called).Advice); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.prompt, got, tt.want)
		}
	}
}
