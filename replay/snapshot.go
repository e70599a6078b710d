package replay

import (
	"bytes"
	"strings"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// Place is where a listing or a body stands, if not in a record of its own.
type Place string

// The places other than a record of its own.
const (
	PlaceBehind Place = "behind" // of a body: in the message of the tool results, or before the tags of its command
	PlaceResult Place = "result" // of a body: it is the tool's result
	PlaceSystem Place = "system" // of a listing or the body of a fork: in the system prompt
	PlaceTool   Place = "tool"   // of a listing: in the description of the Skill tool
)

// words says where that is.
func (p Place) words() string {
	switch p {
	case PlaceBehind:
		return "behind other parts of a user message"
	case PlaceResult:
		return "in the tool's result"
	case PlaceSystem:
		return "in the system prompt"
	case PlaceTool:
		return "in the description of the Skill tool"
	}
	return "in a record of its own"
}

// ListingPlace is where logs show the catalogue of a client that has it in its prompts;
// "" where it is a record of its own.
func ListingPlace(r *rules.Rules) Place {
	switch {
	case r.Catalogue.Place == rules.PlaceSystem:
		return PlaceSystem
	case r.Catalogue.Place.InTool():
		return PlaceTool
	}
	return ""
}

// snapshot is what a record of the prompt shows of skills: the section of the system
// prompt that lists them, the list in the Skill tool's description, and the system
// prompt of a fork that is the body of a skill.
type snapshot struct {
	section, tool       string
	hasSection, hasTool bool
	body                string
}

const (
	skillsHeading = "# Skills"
	skillsOpen    = "<available_skills>"
	skillsClose   = "</available_skills>"
)

// snapshotOf reads a record of the prompt; nil if it shows nothing of skills.
func snapshotOf(a *jsonl.Attachment) *snapshot {
	var s snapshot
	if bytes.Contains(a.SystemPrompt, []byte(skillsHeading)) || bytes.Contains(a.SystemPrompt, []byte(strings.TrimSpace(baseDirectory))) {
		var parts []string
		for part := range a.SystemPrompt.Items() {
			parts = append(parts, part.Text())
		}
		if text := strings.Join(parts, "\n"); strings.HasPrefix(text, baseDirectory) {
			s.body = text
		} else if section, ok := skillsSection(text); ok {
			s.section, s.hasSection = section, true
		}
	}
	if bytes.Contains(a.ToolDefs, []byte("available_skills")) {
		for tool := range a.ToolDefs.Items() {
			if tool.Get("name").Text() != "Skill" {
				continue
			}
			text := tool.Get("description").Text()
			if schema := tool.Get("schema"); text == "" && schema.Kind() == jsonl.ValueObject {
				text = schema.Get("description").Text()
			}
			_, rest, opened := strings.Cut(text, skillsOpen)
			if list, _, closed := strings.Cut(rest, skillsClose); opened && closed {
				s.tool, s.hasTool = skills.PlainXML(strings.TrimSpace(list)), true
			}
		}
	}
	if !s.hasSection && !s.hasTool && s.body == "" {
		return nil
	}
	return &s
}

// skillsSection is the list in the section of a system prompt that is headed Skills:
// from its first entry to the next heading.
func skillsSection(text string) (string, bool) {
	at := -1
	for from := 0; ; {
		n := strings.Index(text[from:], skillsHeading)
		if n < 0 {
			break
		}
		start, end := from+n, from+n+len(skillsHeading)
		if (start == 0 || text[start-1] == '\n') && (end == len(text) || text[end] == '\n') {
			at = end
			break
		}
		from = end
	}
	if at < 0 {
		return "", false
	}
	section := text[at:]
	if n := strings.Index(section, "\n# "); n >= 0 {
		section = section[:n]
	}
	n := strings.Index(section, "\n- ")
	if n < 0 {
		return "", false
	}
	return strings.TrimRight(section[n+1:], "\n"), true
}

// snapshot notes what a record of the prompt shows that the one before did not.
func (w *walker) snapshot(s *snapshot) {
	show := func(place Place, text string, names []string, last *string) {
		if *last == text {
			return
		}
		*last = text
		list := &jsonl.Attachment{Type: "skill_listing", Content: text, Size: jsonl.Measure(text), Names: names, HasNames: names != nil}
		w.emit(Event{Kind: Noticed, Listing: list, Place: place})
		w.emit(Event{Kind: Listing, Text: text, Listing: list, Place: place})
		w.shown = list
	}
	if s.hasSection {
		show(PlaceSystem, s.section, nil, &w.lastSection)
	}
	if s.hasTool {
		names := []string{}
		for _, l := range skills.ParseListing(s.tool, nil) {
			if l.Name != "" {
				names = append(names, l.Name)
			}
		}
		show(PlaceTool, s.tool, names, &w.lastTool)
	}
	if s.body != "" && w.agent.ID != "main" && s.body != w.lastBody {
		w.lastBody = s.body
		w.emit(Event{Kind: Body, Text: s.body, Skill: skillOfBody(s.body), Place: PlaceSystem})
	}
}

// behindResults reads the bodies that stand behind the tool results of a user
// message: as many as calls succeeded in it, in their order.
func (w *walker) behindResults(m *message) {
	var launched []string
	for i := range m.Blocks {
		b := &m.Blocks[i]
		switch b.Kind {
		case jsonl.BlockToolResult:
			if ref := w.observer.calls[b.ID]; ref != nil && ref.name == "Skill" && !b.IsError {
				launched = append(launched, b.ID)
			}
		case jsonl.BlockText:
			if len(launched) == 0 || !strings.HasPrefix(b.Text, baseDirectory) {
				continue
			}
			// A call without a body may stand before: the body names its folder.
			n := 0
			for j, id := range launched {
				if normalName(w.observer.calls[id].skill) == skillOfBody(b.Text) {
					n = j
					break
				}
			}
			id := launched[n]
			launched = append(launched[:n:n], launched[n+1:]...)
			if id == w.pendingBody {
				w.pendingBody = ""
			}
			w.emit(Event{Kind: Body, Text: b.Text, ToolUse: id, Skill: w.observer.calls[id].skill, Place: PlaceBehind})
		}
	}
}

// beforeTags reads a typed skill whose body stands before the tags of the command in
// one user message.
func (w *walker) beforeTags(m *message) bool {
	n := len(m.Blocks)
	if n < 2 || m.Blocks[n-1].Kind != jsonl.BlockText || m.Blocks[n-2].Kind != jsonl.BlockText ||
		!strings.HasPrefix(m.Blocks[n-2].Text, baseDirectory) || classify(m.Blocks[n-1].Text) != textCommand {
		return false
	}
	text := m.Blocks[n-1].Text
	name, ok := tag(text, "command-name")
	if !ok {
		return false
	}
	args, _ := tag(text, "command-args")
	name = strings.TrimPrefix(name, "/")
	w.stackPos = 0
	w.slash(Event{Kind: Slash, Skill: name, Tool: name, Args: args, HasArgs: args != "", Text: text})
	w.emit(Event{Kind: Body, Text: m.Blocks[n-2].Text, Skill: name, Place: PlaceBehind})
	return true
}

// entered notes that the working directory has become another.
func (w *walker) entered(r *record) {
	if r.CWD == "" || w.graph.nodes[w.node].dead {
		return
	}
	if w.cwd != "" && r.CWD != w.cwd {
		w.emit(Event{Kind: Entered, Path: r.CWD})
	}
	w.cwd = r.CWD
}

// invocation begins the message that a fork's own task is, behind the messages of its
// parent.
const invocation = "<skill_invocation>"
