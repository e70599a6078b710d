package local

import (
	"regexp"
	"strings"
	"testing"
)

// TestBlankNames: a listing that does not tell its names is read with those of the files.
func TestBlankNames(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes a commit with care.")
	w.skill(".claude/skills", "two words", "Says two words.")
	r := session(w.shop)
	r.lines, r.last, r.version = nil, "", "2.1.140"
	r.prompt("hello")
	r.listing(true, false, "commit: Writes a commit with care.", "two words: Says two words.")
	r.turn(100)
	text := regexp.MustCompile(`"names":\[[^]]*\],?`).ReplaceAllString(strings.Join(r.lines, "\n"), "")
	s, f := find(t, w.write(".claude/projects/p/a.jsonl", text), w.options())
	if got := compared(s, f); !strings.Contains(got, "two words same, listing text same") || !strings.Contains(got, "commit same, listing text same") {
		t.Errorf("compared: %s", got)
	}
	if got := verdicts(s, f); strings.Contains(got, "divergent") {
		t.Errorf("verdicts %s", got)
	}
}
