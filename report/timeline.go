package report

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
)

// TimelineSchema names the form of a TimelineDocument.
const TimelineSchema = "skilltrace/timeline@1"

// TimelineDocument is the answer of the command timeline.
type TimelineDocument struct {
	Schema   string            `json:"schema"`
	Sessions []TimelineSession `json:"sessions"`
}

// TimelineSession is one session, event by event.
type TimelineSession struct {
	ID       string          `json:"id"`
	File     string          `json:"file"`
	Versions []string        `json:"versions"`
	Models   []string        `json:"models"`
	Start    *time.Time      `json:"start,omitempty"`
	Agents   []TimelineAgent `json:"agents"`
	Defects  []Defect        `json:"defects"`
}

// TimelineAgent is one agent's events along its conversation.
type TimelineAgent struct {
	Agent      string          `json:"agent"`
	File       string          `json:"file,omitempty"` // where it is not the session's main log
	Type       string          `json:"type,omitempty"`
	StartedBy  string          `json:"started_by,omitempty"`
	OnBehalfOf string          `json:"on_behalf_of,omitempty"`
	Events     []TimelineEvent `json:"events"`
}

// TimelineEvent is one event. Which fields are set depends on its kind.
type TimelineEvent struct {
	N         int        `json:"n"` // in its agent, from 1; filters do not renumber
	Line      int        `json:"line,omitempty"`
	UUID      string     `json:"uuid,omitempty"`
	Time      *time.Time `json:"time,omitempty"`
	OffsetMS  *int64     `json:"offset_ms,omitempty"` // since the start of the session
	Kind      string     `json:"kind"`
	Effect    bool       `json:"effect"`
	Layer     string     `json:"layer,omitempty"`
	Abandoned bool       `json:"abandoned,omitempty"`
	Version   string     `json:"version,omitempty"`
	Prompt    int        `json:"prompt,omitempty"`
	Skill     string     `json:"skill,omitempty"`
	Chars     int        `json:"chars,omitempty"` // UTF-16 code units of the text
	Images    int        `json:"images,omitempty"`

	Args          *Text    `json:"args,omitempty"`
	ToolUse       string   `json:"tool_use,omitempty"`
	Tool          string   `json:"tool,omitempty"`
	ToolPosition  int      `json:"tool_position,omitempty"`
	SkillPosition int      `json:"skill_position,omitempty"`
	Stack         int      `json:"stack,omitempty"`
	Agent         string   `json:"started_agent,omitempty"`
	Forked        bool     `json:"forked,omitempty"`
	Background    bool     `json:"background,omitempty"`
	Rejected      bool     `json:"rejected,omitempty"`
	Path          string   `json:"path,omitempty"`
	Removed       bool     `json:"removed,omitempty"`
	Skills        []string `json:"skills,omitempty"` // of a listing or a reattachment
	Trigger       string   `json:"trigger,omitempty"`
	Partial       string   `json:"partial,omitempty"`
	Before        int64    `json:"tokens_before,omitempty"`
	After         int64    `json:"tokens_after,omitempty"`
	Resume        bool     `json:"resume,omitempty"`
	Fork          bool     `json:"fork,omitempty"`
	Model         string   `json:"model,omitempty"`
	PromptTokens  int64    `json:"prompt_tokens,omitempty"`
	OutputTokens  int64    `json:"output_tokens,omitempty"`
	Text          *Text    `json:"text,omitempty"`
}

// TimelineFilter says which events a timeline shows. Empty lists mean all.
type TimelineFilter struct {
	Agents []string // ids or beginnings of ids; "main"
	Kinds  []string // kinds of events, or "effect" and "input"
	Skills []string
}

// EventKinds lists the kinds that a filter knows, in the order of a session.
var EventKinds = []replay.EventKind{
	replay.Start, replay.Prompt, replay.Slash, replay.NoCommand, replay.Turn, replay.SkillCall, replay.Touch, replay.Entered, replay.CatalogueChange, replay.Noticed,
	replay.Compaction, replay.Restored, replay.Listing, replay.Body, replay.Refusal, replay.Note, replay.Reattachment, replay.Launched,
}

// The two words that stand for several kinds in a filter.
const (
	KindsInput  = "input"
	KindsEffect = "effect"
)

func (f TimelineFilter) agent(id string) bool {
	return len(f.Agents) == 0 || slices.ContainsFunc(f.Agents, func(p string) bool { return strings.HasPrefix(id, p) })
}

func (f TimelineFilter) event(e *replay.Event) bool {
	if len(f.Kinds) > 0 {
		group := KindsInput
		if e.Kind.IsEffect() {
			group = KindsEffect
		}
		if !slices.Contains(f.Kinds, string(e.Kind)) && !slices.Contains(f.Kinds, group) {
			return false
		}
	}
	return len(f.Skills) == 0 || slices.ContainsFunc(f.Skills, func(name string) bool {
		return e.Skill == name || slices.Contains(skillsOf(e), name)
	})
}

// NewTimeline makes the document of observed sessions, the newest last.
func NewTimeline(sessions []TimelineSession) *TimelineDocument {
	doc := &TimelineDocument{Schema: TimelineSchema, Sessions: append([]TimelineSession{}, sessions...)}
	sort.SliceStable(doc.Sessions, func(i, j int) bool {
		a, b := &doc.Sessions[i], &doc.Sessions[j]
		return older(a.Start, a.File, b.Start, b.File)
	})
	return doc
}

// NewTimelineSession reads one session. The texts of listings, bodies and
// reattachments are long and stand in the log; they are held only where texts is
// set. Agents are left out where the filter names others.
func NewTimelineSession(s *replay.Session, filter TimelineFilter, texts bool) TimelineSession {
	out := TimelineSession{ID: s.ID, File: s.File, Versions: list(s.Versions), Models: list(s.Models), Start: timeOf(s.Start),
		Agents: []TimelineAgent{}, Defects: defects(s)}
	for _, a := range s.Agents {
		if !filter.agent(a.ID) {
			continue
		}
		ta := TimelineAgent{Agent: a.ID, File: otherFile(a.File, s.File), Type: a.Type, StartedBy: a.StartedBy, OnBehalfOf: a.OnBehalfOf, Events: []TimelineEvent{}}
		calls := map[string]*replay.APICall{}
		for i := range a.Calls {
			if c := &a.Calls[i]; calls[c.Message] == nil {
				calls[c.Message] = c
			}
		}
		for i := range a.Events {
			if filter.event(&a.Events[i]) {
				ta.Events = append(ta.Events, timelineEvent(i, &a.Events[i], s.Start, calls, texts))
			}
		}
		out.Agents = append(out.Agents, ta)
	}
	return out
}

func timelineEvent(i int, e *replay.Event, start time.Time, calls map[string]*replay.APICall, texts bool) TimelineEvent {
	out := TimelineEvent{
		N: i + 1, Line: e.Where.Line, UUID: e.Where.UUID, Time: timeOf(e.Where.Time), Kind: string(e.Kind), Effect: e.Kind.IsEffect(),
		Layer: layer(e.Kind), Abandoned: e.Abandoned, Version: e.Version, Prompt: e.PromptN, Skill: e.Skill, Chars: chars(e), Images: e.Images,
		ToolUse: e.ToolUse, Tool: e.Tool, ToolPosition: e.ToolPosition, SkillPosition: e.SkillPosition, Stack: max(0, e.Stack),
		Agent: e.Agent, Forked: e.Forked, Background: e.Background, Rejected: e.Rejected, Path: e.Path, Skills: skillsOf(e),
	}
	if !e.Where.Time.IsZero() && !start.IsZero() {
		out.OffsetMS = new(e.Where.Time.Sub(start).Milliseconds())
	}
	if e.HasArgs {
		out.Args = new(Text(e.Args))
	}
	if c := e.Compaction; c != nil {
		out.Trigger, out.Partial, out.Before, out.After = c.Trigger, c.Partial, c.Before, c.After
	}
	if s := e.Start; s != nil {
		out.Resume, out.Fork = s.Resume, s.Fork
	}
	if c := e.Change; c != nil {
		out.Path, out.Removed = c.Path, c.Removed
	}
	if e.Kind == replay.Turn && e.Message != "" {
		if c := calls[e.Message]; c != nil {
			out.Model = c.Model
			if c.HasUsage {
				out.PromptTokens, out.OutputTokens = promptTokens(c.Usage), c.Usage.Output
			}
		}
	}
	switch e.Kind {
	case replay.Prompt, replay.Note, replay.Refusal, replay.Launched:
		out.Text = new(Text(e.Text))
	case replay.Listing, replay.Body:
		if texts {
			out.Text = new(Text(e.Text))
		}
	case replay.Reattachment:
		if texts {
			var all strings.Builder
			for _, s := range e.Skills {
				all.WriteString(s.Content)
			}
			out.Text = new(Text(all.String()))
		}
	}
	return out
}

// layer is the layer that an event's text is charged to, "" where it has none.
func layer(k replay.EventKind) string {
	switch k {
	case replay.Listing:
		return "listing"
	case replay.Body, replay.Note:
		return "body"
	case replay.Reattachment:
		return "reattachment"
	case replay.SkillCall, replay.Slash, replay.Refusal, replay.Launched:
		return "call"
	case replay.Prompt, replay.Turn, replay.Restored:
		return "other"
	}
	return ""
}

// chars is the length of an event's text in UTF-16 code units.
func chars(e *replay.Event) int {
	if e.Kind == replay.Reattachment {
		n := 0
		for _, s := range e.Skills {
			n += budget.Len16(s.Content)
		}
		return n
	}
	return budget.Len16(e.Text)
}

// skillsOf names the skills of a listing or of a reattachment.
func skillsOf(e *replay.Event) []string {
	var names []string
	switch {
	case e.Kind == replay.Listing && e.Listing != nil:
		if e.Listing.HasNames {
			return e.Listing.Names
		}
		return listedNames(e.Listing.Content)
	case e.Kind == replay.Reattachment:
		for _, s := range e.Skills {
			names = append(names, s.Name)
		}
	}
	return names
}

// WriteTable writes a line per event, grouped by agent. Compactions stand as
// rules across the table; events on branches that a rewind left are marked "~".
func (d *TimelineDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	if len(d.Sessions) == 0 {
		b.WriteString("No sessions.\n")
	}
	for i := range d.Sessions {
		if i > 0 {
			b.WriteString("\n")
		}
		if err := d.Sessions[i].write(&b, style); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *TimelineSession) write(b *strings.Builder, style Style) error {
	parts := []string{style.paint(bold, "session "+shortID(s.ID))}
	if len(s.Versions) > 0 {
		parts = append(parts, listAll(escapeAll(s.Versions), style.limit(3)))
	}
	if t := style.day(s.Start); t != "" {
		parts = append(parts, t)
	}
	file := style.shortPath(s.File)
	if !style.Verbose {
		file = truncateStart(file, style.width())
	}
	style.line(b, together(append(parts, file), style.width()))
	if len(s.Agents) == 0 {
		b.WriteString("no events\n")
	}
	for i := range s.Agents {
		a := &s.Agents[i]
		if len(s.Agents) > 1 || a.Agent != "main" {
			title := style.paint(bold, "agent "+Escape(a.Agent))
			if a.Type != "" {
				title += " (" + Escape(a.Type) + ")"
			}
			if a.OnBehalfOf != "" {
				title += " for " + Escape(a.OnBehalfOf)
			}
			b.WriteString("\n")
			style.line(b, title)
		}
		if len(a.Events) == 0 {
			b.WriteString("no events\n")
			continue
		}
		if err := a.write(b, style); err != nil {
			return err
		}
	}
	return nil
}

func (a *TimelineAgent) write(b *strings.Builder, style Style) error {
	abandoned := false
	g := grid{columns: []column{
		{title: "n", right: true, drop: lateDrop}, {title: "line", right: true}, {title: "time", right: true, drop: lateDrop}, {title: " "}, {title: "prompt", right: true, drop: 2},
		{title: "layer", drop: 3}, {title: "kind", ink: kindInk}, {title: "skill", shrink: 2, least: 12}, {title: "chars", right: true}, {title: "note", shrink: 1, least: 24},
	}}
	for i := range a.Events {
		e := &a.Events[i]
		if e.Kind == string(replay.Compaction) {
			g.rule(style.paint(faint, e.ruleText(style)))
			continue
		}
		mark := ""
		if e.Abandoned {
			mark, abandoned = "~", true
		}
		line, at, prompt := "", "", ""
		if e.Line > 0 {
			line = fmt.Sprint(e.Line)
		}
		if e.OffsetMS != nil {
			at = offset(*e.OffsetMS)
		}
		if e.Prompt > 0 {
			prompt = fmt.Sprint(e.Prompt)
		}
		g.add(fmt.Sprint(e.N), line, at, mark, prompt, e.Layer, strings.ReplaceAll(Escape(e.Kind), "_", " "), Escape(e.Skill), some(int64(e.Chars)), e.note(style))
	}
	if err := g.write(b, style); err != nil {
		return err
	}
	if abandoned {
		b.WriteString("~ on a branch that a rewind left\n")
	}
	return nil
}

func kindInk(cell string) ink {
	switch cell {
	case string(replay.Refusal):
		return red
	case string(replay.Listing), string(replay.Body), string(replay.Note), string(replay.Reattachment):
		return green
	}
	return ""
}

// ruleText is a compaction as a line across the table.
func (e *TimelineEvent) ruleText(style Style) string {
	text := fmt.Sprintf("── %d compaction, line %d", e.N, e.Line)
	if e.Trigger != "" {
		text += ", " + Escape(e.Trigger)
	}
	if e.Partial != "" {
		text += ", partial: " + strings.ReplaceAll(Escape(e.Partial), "_", " ")
	}
	if e.Before > 0 {
		text += ", " + plural(e.Before, "token")
		if e.After > 0 {
			text += " to " + count(e.After)
		}
	}
	if e.Abandoned {
		text += ", abandoned"
	}
	text = Truncate(text+" ", style.width())
	return text + strings.Repeat("─", max(0, min(style.width(), 100)-displayWidth(text)))
}

// note is what is worth a word of an event.
func (e *TimelineEvent) note(style Style) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch replay.EventKind(e.Kind) {
	case replay.Start:
		switch {
		case e.Fork:
			add("forks the session")
		case e.Resume:
			add("resumes the session")
		}
	case replay.Slash:
		if e.Tool != e.Skill {
			add("/%s", Escape(e.Tool))
		}
	case replay.Turn:
		if e.PromptTokens > 0 {
			add("prompt %s, output %s", count(e.PromptTokens), count(e.OutputTokens))
		}
	case replay.SkillCall:
		if e.SkillPosition != e.ToolPosition {
			add("tool %d, skill %d of the prompt", e.ToolPosition, e.SkillPosition)
		}
	case replay.CatalogueChange:
		if e.Removed {
			add("removed")
		}
	case replay.Listing:
		add("%s: %s", plural(len(e.Skills), "skill"), listAll(escapeAll(e.Skills), style.limit(fewNames)))
	case replay.Reattachment:
		add("%s", listAll(escapeAll(e.Skills), style.limit(fewNames)))
	}
	if e.Args != nil {
		add("args “%s”", Escape(string(*e.Args)))
	}
	if e.Tool != "" && e.Path != "" {
		add("%s %s", Escape(e.Tool), style.shortPath(e.Path))
	} else if e.Path != "" {
		add("%s", style.shortPath(e.Path))
	}
	if e.Stack > 0 {
		add("position %d of a stack", e.Stack)
	}
	if e.Images > 0 {
		add("%s", plural(e.Images, "image"))
	}
	if e.Rejected {
		add("rejected by the user")
	}
	if e.Forked {
		add("forked")
	}
	if e.Background {
		add("in the background")
	}
	if e.Agent != "" {
		add("agent %s", shortID(e.Agent))
	}
	if e.Text != nil && e.Kind != string(replay.Launched) && (e.Kind != string(replay.Listing) && e.Kind != string(replay.Reattachment) || style.Verbose) {
		add("%s", Escape(string(*e.Text)))
	}
	return joinDots(parts)
}
