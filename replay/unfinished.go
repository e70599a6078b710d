package replay

import (
	"strings"

	"github.com/skilltrace/skilltrace/jsonl"
)

// Interrupt is a mark of the client that the user stopped the model.
type Interrupt struct {
	Where Where
	Event int // the last event before, an index among the agent's; -1 for none
	// Abandoned: on a branch that a rewind left.
	Abandoned bool
}

// interruption begins the mark: "[Request interrupted by user]", or "… for tool use]"
// where a tool was running.
const interruption = "[Request interrupted by user"

// goesOn follows, record by record, whether the model's turn goes on: a tool was used
// or answered, and nothing of the model stands behind it. It notes what the user
// interrupted.
func (w *walker) goesOn(r *record) {
	m := r.Message
	n := &w.graph.nodes[w.node]
	if m == nil || r.Kind != jsonl.KindUser && r.Kind != jsonl.KindAssistant {
		if c := r.Compact; c != nil && c.Trigger == "manual" && !n.dead {
			w.agent.Unfinished = Where{} // the user ended it
		}
		return
	}
	open, known := false, r.Kind == jsonl.KindAssistant
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; {
		case r.Kind == jsonl.KindUser && b.Kind == jsonl.BlockText && !r.Meta && strings.HasPrefix(strings.TrimLeft(b.Text, " \t\r\n"), interruption):
			at := w.prevActive
			if n.dead {
				at = w.deadParent(w.node)
			}
			w.agent.Interrupts = append(w.agent.Interrupts, Interrupt{w.where(r), at, n.dead})
			open, known = false, true
		case b.Kind == jsonl.BlockToolUse, b.Kind == jsonl.BlockToolResult:
			// The tool that takes a structured answer ends the turn.
			ref := w.observer.calls[b.ID]
			open, known = ref == nil || ref.name != "StructuredOutput", true
		case b.Kind == jsonl.BlockThinking:
			open = true
		case r.Kind == jsonl.KindAssistant:
			open = false
		}
	}
	if n.dead {
		return
	}
	switch {
	case known && open:
		w.agent.Unfinished = w.where(r)
	case known, !r.Meta && r.SourceToolUse == "" && classify(firstText(m)) != textOther:
		w.agent.Unfinished = Where{}
	}
}
