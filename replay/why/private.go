package why

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// private collects what the steps from the call on quote of a session: what a refusal
// says beside the fixed texts of clients (it may hold what a command printed), what a
// call was given, a command that the model ran, an error in words, and the beginning of a text into which
// arguments and the output of commands were put.
func (q *query) private(n int, steps []Step) {
	var out []string
	add := func(texts ...string) {
		for _, t := range texts {
			if t != "" && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	answers := func(e *replay.Event) {
		for _, i := range q.agent.byUse[e.ToolUse] {
			x := q.event(i)
			switch {
			case e.ToolUse == "":
			case x.Kind == replay.Refusal && !fixed(x):
				add(plainError(x.Text), refusalText(x))
			case x.Kind == replay.Note && !strings.Contains(x.Text, "instructions unchanged"):
				add(firstLine(x.Text))
			}
		}
	}
	for _, t := range q.calls[n] {
		answers(q.event(q.summary.Attempts[t].Event))
	}
	for _, t := range q.unnamed[n] {
		e := q.event(q.summary.Attempts[t].Event)
		add(e.Given)
		answers(e)
	}
	if f := q.silent[n]; f != nil && strings.Contains(f.Error, " ") { // no code of an error
		add(oneLine(f.Error))
	}
	if h, ok := q.ran[n]; ok {
		add(firstLine(q.agent.Agent.Commands[h.first].Text))
		for _, l := range h.lines {
			if l.line == 0 { // of a text of the log, which holds arguments
				add(fmt.Sprint(l))
			}
		}
	}
	for i := range steps {
		switch s := &steps[i]; s.Gate {
		case Delivered, InForce:
			open := func(p string) bool { return strings.HasPrefix(s.Text, p) }
			if !slices.ContainsFunc([]string{"Base directory for this skill: ", "Launching skill: ", "compaction", "…[", `Skill "`}, open) {
				add(s.Text)
			}
		}
	}
	for i := range steps {
		if steps[i].Gate == Called {
			steps[i].Private = out
		}
	}
}

// fixed reports whether a refusal is a text of the client in which only a name varies.
func fixed(e *replay.Event) bool {
	text := plainError(e.Text)
	const longest = 300 // bytes, with the name
	if strings.Contains(text, "\n") || len(text) > longest {
		return false
	}
	for _, part := range []string{"No such tool available: Skill", rules.NotInvocable, rules.OverriddenSkill} {
		if strings.Contains(text, part) {
			return true
		}
	}
	name, ok := strings.CutPrefix(text, rules.UnknownSkill)
	return ok && !strings.Contains(name, " ") || ok && strings.Contains(name, "Did you mean")
}

// oneLine is a text on one line, cut where it is long. Blanks and line ends in a row
// become one blank.
func oneLine(text string) string {
	const longest = 240 // runes
	text = strings.Join(strings.Fields(text), " ")
	n := 0
	for i := range text {
		if n++; n > longest {
			return text[:i] + "…"
		}
	}
	return text
}
