package replay

import (
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
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
func (w *walker) add(g Segment) {
	if g.Size == (jsonl.Size{}) {
		return
	}
	r := w.graph.nodes[w.node].rec
	g.Line, g.UUID, g.Prev = r.Line, r.UUID, w.promptTail()
	w.agent.Segments = append(doubled(w.agent.Segments), g)
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
				w.add(Segment{Layer: LayerCall, Skill: skill, Part: PartUse, Size: b.Size})
				continue
			}
			w.add(Segment{Layer: LayerOther, Part: PartMessages, Size: b.Size})
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
		g := Segment{Layer: LayerOther, Part: PartMessages}
		switch {
		case b.Kind == jsonl.BlockToolResult:
			g = w.resultLayer(b)
		case e != nil && e.Kind == Body:
			g = Segment{Layer: LayerBody, Skill: e.Skill, Part: PartBody, Text: b.Text}
		case e != nil && e.Kind == Note:
			g = Segment{Layer: LayerBody, Skill: e.Skill, Part: PartNote, Text: b.Text}
		case e != nil && e.Kind == Slash:
			g = Segment{Layer: LayerCall, Skill: e.Skill, Part: PartTag, Text: b.Text}
		}
		g.Size = b.Size
		w.add(g)
	}
}

// resultLayer is where a tool's result belongs: to a call, to a file of a skill's
// folder, or to neither.
func (w *walker) resultLayer(b *block) Segment {
	other := Segment{Layer: LayerOther, Part: PartMessages}
	ref := w.observer.calls[b.ID]
	if ref == nil {
		return other
	}
	switch ref.name {
	case "Skill":
		return Segment{Layer: LayerCall, Skill: ref.skill, Part: PartResult, Text: b.Text}
	case "Read":
		if skill := skillFolder(ref.input.Get("file_path").Text()); skill != "" {
			return Segment{Layer: LayerReference, Skill: skill, Part: PartReference, Text: b.Text}
		}
	case "Bash":
		if skill := skillFolder(ref.input.Get("command").Text()); skill != "" {
			return Segment{Layer: LayerReference, Skill: skill, Part: PartReference, Text: b.Text}
		}
	}
	return other
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
		w.listing(a.Whole)
	case "invoked_skills":
		for _, s := range a.Whole.Skills {
			w.add(Segment{Layer: LayerReattachment, Skill: s.Name, Part: PartReattachment, Text: s.Content, Size: jsonl.Measure(s.Content)})
		}
	default:
		if !unsent[a.Type] {
			w.add(Segment{Layer: LayerOther, Part: PartMessages, Size: a.Size})
		}
	}
}

// listing adds the lines of a listing, each for its skill.
func (w *walker) listing(a *jsonl.Attachment) {
	w.add(Segment{Layer: LayerListing, Part: PartHeader, Size: jsonl.Measure(listingHeader), Text: listingHeader})
	for _, l := range skills.ParseListing(a.Content, a.Names) {
		part := PartLine
		if l.Name == "" {
			part = PartHeader
		}
		w.add(Segment{Layer: LayerListing, Skill: l.Name, Part: part, Size: jsonl.Measure(l.Raw), Text: l.Raw})
	}
}

// listingHeader stands around the lines of a listing.
const listingHeader = "<system-reminder>\n" + rules.ListingHeader + "\n\n\n</system-reminder>\n"
