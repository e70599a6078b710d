package replay

import (
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
)

// EstimateTokens estimates the tokens of a text by its classes of characters.
func EstimateTokens(z jsonl.Size) float64 {
	return budget.Profile{Letters: z.Letters, Digits: z.Digits, Blanks: z.Blanks, Punct: z.Punct, CJK: z.CJK, Other: z.Other}.Tokens()
}

// promptTail is the last segment that stands before the record in hand.
func (w *walker) promptTail() int {
	n := &w.graph.nodes[w.node]
	if !n.dead {
		return w.tail
	}
	for j := w.node; j >= 0; j = w.graph.nodes[j].parent {
		if w.tails[j] != -2 {
			return w.tails[j]
		}
	}
	return -1
}

// add appends a segment of the record in hand to its conversation.
func (w *walker) add(layer Layer, skill string, size jsonl.Size) {
	if size == (jsonl.Size{}) {
		return
	}
	r := w.graph.nodes[w.node].rec
	prev := w.promptTail()
	w.agent.Segments = append(doubled(w.agent.Segments), Segment{Layer: layer, Skill: skill, Size: size, Line: r.Line, UUID: r.UUID, Prev: prev})
	w.setTail(len(w.agent.Segments) - 1)
}

func (w *walker) setTail(i int) {
	w.tails[w.node] = i
	if !w.graph.nodes[w.node].dead {
		w.tail = i
	}
}

// segment adds what a record put into the prompts that follow.
func (w *walker) segment(r *record) {
	switch {
	case r.Compact != nil && r.Subtype == "compact_boundary":
		w.restart(r)
	case r.Kind == jsonl.KindUser && r.Message != nil:
		w.userSegments(r)
	case r.Kind == jsonl.KindAssistant && r.Message != nil:
		for i := range r.Message.Blocks {
			b := &r.Message.Blocks[i]
			if b.Kind == jsonl.BlockToolUse && b.Name == "Skill" {
				ref := w.observer.calls[b.ID]
				skill := ""
				if ref != nil {
					skill = ref.skill
				}
				w.add(LayerCall, skill, b.Size)
				continue
			}
			w.add(LayerOther, "", b.Size)
		}
	case r.Attachment != nil:
		w.attachmentSegments(r.Attachment)
	}
	if w.tails[w.node] == -2 {
		w.tails[w.node] = w.promptTail()
	}
}

// restart begins a new prompt behind a boundary, with the records that stay.
func (w *walker) restart(r *record) {
	kept := w.kept[r.UUID]
	var stay []Segment
	if len(kept) > 0 {
		for i := w.tail; i >= 0; i = w.agent.Segments[i].Prev {
			if s := w.agent.Segments[i]; kept[s.UUID] {
				stay = append(stay, s)
			}
		}
	}
	w.setTail(-1)
	for i := len(stay) - 1; i >= 0; i-- {
		s := stay[i]
		s.Prev = w.tail
		w.agent.Segments = append(w.agent.Segments, s)
		w.setTail(len(w.agent.Segments) - 1)
	}
}

func (w *walker) userSegments(r *record) {
	// The event that the record became, if any, says which layer its text is.
	var e *Event
	if i := w.last[w.node]; i >= 0 {
		e = &w.agent.Events[i]
	}
	for i := range r.Message.Blocks {
		b := &r.Message.Blocks[i]
		layer, skill := LayerOther, ""
		switch {
		case b.Kind == jsonl.BlockToolResult:
			layer, skill = w.resultLayer(b)
		case e != nil && (e.Kind == Body || e.Kind == Note):
			layer, skill = LayerBody, e.Skill
		case e != nil && e.Kind == Slash:
			layer, skill = LayerCall, e.Skill
		}
		w.add(layer, skill, b.Size)
	}
}

// resultLayer is the layer of a tool's result: a call, a file of a skill's
// folder, or neither.
func (w *walker) resultLayer(b *block) (Layer, string) {
	ref := w.observer.calls[b.ID]
	if ref == nil {
		return LayerOther, ""
	}
	switch ref.name {
	case "Skill":
		return LayerCall, ref.skill
	case "Read":
		if skill := skillFolder(ref.input.Get("file_path").Text()); skill != "" {
			return LayerReference, skill
		}
	case "Bash":
		if skill := skillFolder(ref.input.Get("command").Text()); skill != "" {
			return LayerReference, skill
		}
	}
	return LayerOther, ""
}

// skillFolder is the name of the skill whose folder a path or a command leads into.
func skillFolder(text string) string {
	const folder = ".claude/skills/"
	i := strings.Index(text, folder)
	if i < 0 {
		return ""
	}
	name, _, ok := strings.Cut(text[i+len(folder):], "/")
	if !ok || strings.ContainsAny(name, " \t\n'\"") {
		return ""
	}
	return name
}

// unsent are attachments that tell the log something and the model nothing.
var unsent = map[string]bool{"command_permissions": true, "prompt_snapshot": true, "dynamic_skill": true, "hook_success": true, "session_context": true}

func (w *walker) attachmentSegments(a *attachment) {
	switch a.Type {
	case "skill_listing":
		w.add(LayerListing, "", a.Size)
	case "invoked_skills":
		for _, s := range a.Whole.Skills {
			w.add(LayerReattachment, s.Name, jsonl.Measure(s.Content))
		}
	default:
		if !unsent[a.Type] {
			w.add(LayerOther, "", a.Size)
		}
	}
}
