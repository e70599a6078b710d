package report

import (
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay/why"
)

// TestLongNames: names of any length are cut in what people read, and whole in JSON.
func TestLongNames(t *testing.T) {
	name := strings.Repeat("a", 25_000) + strings.Repeat("b", 25_000)
	focus := 0
	d := &WhyDocument{Schema: WhySchema, Skill: name, Asked: name + "x", Focus: &focus, Sessions: []WhySession{{ID: "s"}}, Questions: []WhyQuestion{{Session: "s", Agent: "main", Prompt: 1,
		Verdict: WhyDecision{Gate: "called", State: "failed", Reason: name + " was visible"}, Gates: []WhyGate{{Gate: string(why.Called), State: "failed", Reason: "not " + name, Advice: []string{"type /" + name}}}, Advice: []string{"type /" + name}}}}
	short := strings.Repeat("a", 99) + "…" + strings.Repeat("b", 99)
	var table, markdown, whole strings.Builder
	if err := d.WriteTable(&table, Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteMarkdown(&markdown, Style{}); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(&whole, d); err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"table": table.String(), "markdown": markdown.String()} {
		if len(text) > 5_000 || !strings.Contains(strings.ReplaceAll(text, "\n", ""), strings.Repeat("a", 50)) {
			t.Errorf("the %s is %d bytes", form, len(text))
		}
	}
	if !strings.Contains(markdown.String(), short+" was visible") {
		t.Errorf("no %q in %s", short, markdown.String())
	}
	if !strings.Contains(whole.String(), name+" was visible") {
		t.Error("JSON has not the whole name")
	}
}
