package replay

import (
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// EstimateTokens estimates the tokens of a text by its classes of characters.
func EstimateTokens(z jsonl.Size) float64 { return Profile(z).Tokens() }

// Profile is what a size says of the characters of a text.
func Profile(z jsonl.Size) budget.Profile {
	return budget.Profile{Letters: z.Letters, Digits: z.Digits, Blanks: z.Blanks, Punct: z.Punct, CJK: z.CJK, Other: z.Other, Words: z.Words}
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
		w.replySegments(r)
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
	var stay []int
	if len(kept) > 0 {
		for i := w.tail; i >= 0; i = w.agent.Segments[i].Prev {
			if kept[w.agent.Segments[i].UUID] {
				stay = append(stay, i)
			}
		}
	}
	w.setTail(-1)
	for _, i := range slices.Backward(stay) {
		s := w.agent.Segments[i]
		s.Prev, s.Kept, s.Reply = w.tail, i+1, 0
		w.agent.Segments = append(w.agent.Segments, s)
		w.setTail(len(w.agent.Segments) - 1)
	}
}

// replySegments adds what a reply leaves in the prompts that follow. Thinking is not
// sent again.
func (w *walker) replySegments(r *record) {
	w.result = -1
	for i := range r.Message.Blocks {
		b := &r.Message.Blocks[i]
		g := Segment{Layer: LayerOther, Part: PartMessages}
		switch b.Kind {
		case jsonl.BlockThinking:
			continue
		case jsonl.BlockToolUse:
			if b.repeated {
				continue
			}
			if ref := w.observer.calls[b.ID]; ref != nil {
				if g = w.toolLayer(ref); g.Layer != LayerOther {
					g.Part = PartUse
				}
			}
			g.Size = jsonl.Measure(b.Name)
		}
		g.Size.Add(b.Size)
		g.Reply = w.reply + 1
		w.add(g)
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
			if ref := w.observer.calls[b.ID]; ref != nil {
				g = w.toolLayer(ref)
				if ref.name == "Skill" && strings.HasPrefix(b.Text, baseDirectory) {
					g = Segment{Layer: LayerBody, Skill: ref.skill, Part: PartBody, Text: b.Text}
				}
				g.Tool = ref.name
			}
		case e != nil && e.Kind == Body && e.Place == PlaceBehind && classify(b.Text) == textCommand:
			g = Segment{Layer: LayerCall, Skill: e.Skill, Part: PartTag, Text: b.Text}
		case e != nil && e.Kind == Body && e.Place == PlaceBehind && !strings.HasPrefix(b.Text, baseDirectory):
		case e != nil && e.Kind == Body:
			g = Segment{Layer: LayerBody, Skill: e.Skill, Part: PartBody, Text: b.Text}
		case e != nil && e.Kind == Note:
			g = Segment{Layer: LayerBody, Skill: e.Skill, Part: PartNote, Text: b.Text}
		case e != nil && e.Kind == Slash:
			g = Segment{Layer: LayerCall, Skill: e.Skill, Part: PartTag, Text: b.Text}
		case e == nil && r.Meta && strings.HasPrefix(b.Text, baseDirectory):
			// A body that a fork inherits: the event is its parent's.
			g = Segment{Layer: LayerBody, Skill: skillOfBody(b.Text), Part: PartBody, Text: b.Text}
		}
		if g.Part == PartBody {
			w.observer.sawBody(g.Skill, b.Text)
		}
		g.Size = b.Size
		w.add(g)
		if b.Kind == jsonl.BlockToolResult {
			w.result = len(w.agent.Segments) - 1
		}
	}
}

// toolLayer is where the use of a tool and its result belong: to a Skill call, to a
// file of a skill's folder, or to neither.
func (w *walker) toolLayer(ref *callRef) Segment {
	switch ref.name {
	case "Skill":
		return Segment{Layer: LayerCall, Skill: ref.skill, Part: PartResult}
	case "Read", "Bash", "Grep", "Glob", "LS":
		for _, key := range []string{"file_path", "path", "command"} {
			if skill := w.observer.folderOf(ref.input.Get(key).Text()); skill != "" {
				return Segment{Layer: LayerReference, Skill: skill, Part: PartReference}
			}
		}
	}
	return Segment{Layer: LayerOther, Part: PartMessages}
}

// maxFolders bounds how many folders of skills are remembered.
const maxFolders = 512

// sawBody remembers the folder that a body names.
func (o *observer) sawBody(skill, text string) {
	dir, ok := strings.CutPrefix(text, baseDirectory)
	if !ok || skill == "" {
		return
	}
	dir, _, _ = strings.Cut(dir, "\n")
	if strings.Count(dir, "/") < 2 || len(o.folders) >= maxFolders {
		return
	}
	f := folder{strings.TrimSuffix(dir, "/") + "/", skill}
	if !slices.Contains(o.folders, f) {
		o.folders = append(o.folders, f)
	}
}

// folder is the folder of a skill, with a slash at its end.
type folder struct{ dir, skill string }

// folderOf is the skill whose folder a path or a command leads into: one that a body
// named, or one where skills lie by custom.
func (o *observer) folderOf(text string) string {
	if text == "" {
		return ""
	}
	for _, f := range o.folders {
		if strings.Contains(text, f.dir) {
			return f.skill
		}
	}
	return skillFolder(text)
}

// skillFolder is the name of the skill whose folder a path or a command leads into.
func skillFolder(text string) string {
	folder := ".claude/skills/"
	i := strings.Index(text, folder)
	if i < 0 {
		folder = ".mini_cc/skills/"
		i = strings.Index(text, folder)
	}
	if i < 0 {
		return ""
	}
	name, _, ok := strings.Cut(text[i+len(folder):], "/")
	if !ok || strings.ContainsAny(name, " \t\n'\"") {
		return ""
	}
	return name
}

// unsent are attachments that tell the log something and the model nothing, but where
// the log has a text as it was sent: newer clients announce skills of a folder that
// turned up, and send the context of a session, as the state of its repository (fuzz
// 005 and 018, 2.1.318).
var unsent = map[string]bool{"command_permissions": true, "dynamic_skill": true, "hook_success": true, "session_context": true}

// reminders are attachments that the client glues to the last result of the turn, if
// there is one; they count with it (recorded: billing at 2.1.260 and 2.1.332,
// lifecycle/compact at 2.1.112). The value is the length of the text, in characters,
// where it is the client's own and not in the log.
var reminders = map[string]int{
	"total_tokens_reminder": 0,
	"todo_reminder":         480, // lifecycle/compact 2.1.112
	"task_reminder":         460, // lifecycle/compact 2.1.332
}

// snapshotSegments adds what a record of the prompt shows of skills, where it is new:
// such records repeat the prompt.
func (w *walker) snapshotSegments() {
	if w.shown != nil {
		w.lines(w.shown)
		w.shown = nil
		return
	}
	if i := w.last[w.node]; i >= 0 && w.agent.Events[i].Kind == Body && w.agent.Events[i].Where.UUID == w.graph.nodes[w.node].rec.UUID {
		e := &w.agent.Events[i]
		w.add(Segment{Layer: LayerBody, Skill: e.Skill, Part: PartBody, Text: e.Text, Size: jsonl.Measure(e.Text)})
	}
}

func (w *walker) attachmentSegments(a *attachment) {
	if a.Type == "prompt_snapshot" {
		w.shape = a.Shape.or(w.shape)
		w.snapshotSegments()
		return
	}
	if unsent[a.Type] && !a.rendered {
		return
	}
	g := Segment{Layer: LayerOther, Part: PartMessages, Size: a.Size, Rough: !a.rendered, apart: a.apart}
	if a.Type == "environment" {
		w.agent.Environment = true
	}
	switch n, reminder := reminders[a.Type]; {
	case a.Type == "skill_listing":
		w.listing(a)
		return
	case a.Type == "invoked_skills":
		w.reattached(a)
		return
	case reminder:
		if w.result >= 0 && w.result < len(w.agent.Segments) {
			r := &w.agent.Segments[w.result]
			g.Layer, g.Skill, g.Part = r.Layer, r.Skill, r.Part
		}
		if !a.rendered && n > 0 {
			g.Size.Add(prose(n))
		}
	case a.Type == "dynamic_skill":
		g.Layer, g.Part = LayerListing, PartHeader // names of skills that turned up
	case a.Type == "file":
		g.Tool, g.Rough = "Read", false
		if !a.rendered {
			g.Size.Add(prose(fileWrapper))
			lines := a.Size.Len16() / lineLength // each is numbered
			g.Size.Add(jsonl.Size{Digits: 2 * lines, Blanks: lines})
		}
	}
	if !a.rendered {
		g.Size.Add(jsonl.Measure(reminderTags))
	}
	w.add(g)
}

// fileWrapper is what the client puts around a file that it shows again, in
// characters: the call that would have read it, and its tags (billing 2.1.332).
const fileWrapper = 200

// lineLength is the length of a line of code, in characters.
const lineLength = 45

// reminderTags stand around what the client tells the model.
const reminderTags = "<system-reminder>\n\n</system-reminder>\n"

// prose is the size of a text of n characters of which no more is known.
func prose(n int) jsonl.Size {
	return jsonl.Size{Letters: n * 79 / 100, Blanks: n * 17 / 100, Punct: n * 4 / 100, Words: n * 17 / 100}
}

// listing adds the lines of a listing, each for its skill.
func (w *walker) listing(a *attachment) {
	w.add(Segment{Layer: LayerListing, Part: PartHeader, Size: jsonl.Measure(listingHeader), apart: a.apart})
	w.lines(a.Whole)
}

// lines adds the lines of a listing alone.
func (w *walker) lines(a *jsonl.Attachment) {
	for _, l := range skills.ParseListing(a.Content, a.Names, w.agent.BlankNames...) {
		part := PartLine
		if l.Name == "" {
			part = PartHeader
		}
		w.add(Segment{Layer: LayerListing, Skill: l.Name, Part: part, Size: jsonl.Measure(l.Raw + "\n"), Text: l.Raw})
	}
}

// listingHeader stands around the lines of a listing.
const listingHeader = "<system-reminder>\n" + rules.ListingHeader + "\n\n</system-reminder>\n"

// reattached adds the bodies that come back after a compaction.
func (w *walker) reattached(a *attachment) {
	header := jsonl.Measure(reminderTags)
	header.Add(jsonl.Measure(rules.ReminderInvoked))
	rough := false
	if a.rendered {
		// What was sent beside the bodies.
		header = a.Size
		for _, s := range a.Whole.Skills {
			header.Sub(jsonl.Measure(s.Content))
		}
	} else if w.earlier(w.graph.nodes[w.node].rec.Version) {
		header.Add(prose(reminderEarlier))
		rough = true
	}
	if !a.rendered {
		for _, s := range a.Whole.Skills {
			header.Add(jsonl.Measure("### Skill: " + s.Name + "\nPath: " + s.Path + "\n\n\n\n---\n\n"))
		}
	}
	w.add(Segment{Layer: LayerReattachment, Part: PartHeader, Size: header, Rough: rough, apart: a.apart})
	for _, s := range a.Whole.Skills {
		w.add(Segment{Layer: LayerReattachment, Skill: s.Name, Part: PartReattachment, Text: s.Content, Size: jsonl.Measure(s.Content)})
	}
}

// reminderEarlier is by how much the reminder of clients that say EARLIER is longer,
// in characters (lifecycle/compact 2.1.140: 475, 2.1.260: 604).
const reminderEarlier = 540

// earlier reports whether clients of a version say that skills were invoked earlier.
func (o *observer) earlier(version string) bool {
	if known, ok := o.saysEarlier[version]; ok {
		return known
	}
	says := false
	if table, err := rules.For("claude-code"); err == nil {
		if r, err := table.At(version); err == nil {
			says = r.Compaction.Earlier
		}
	}
	if o.saysEarlier == nil {
		o.saysEarlier = map[string]bool{}
	}
	o.saysEarlier[version] = says
	return says
}
