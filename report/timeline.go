package report

import (
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
	// Tokens are those of a turn's output as recorded, and else an estimate of the text's.
	Tokens int64 `json:"tokens,omitempty"`
	// Context is what the model holds after a turn: its prompt and its output, as recorded.
	Context int64 `json:"context,omitempty"`

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
		ta := TimelineAgent{Agent: a.ID, File: otherFile(a.File, s.File), Type: a.Type, StartedBy: a.StartedBy, OnBehalfOf: a.OnBehalfOf}
		ta.Events = timelineEvents(a, s.Start, filter, texts)
		out.Agents = append(out.Agents, ta)
	}
	return out
}

// timelineEvents are the events of an agent that a filter lets through.
func timelineEvents(a *replay.Agent, start time.Time, filter TimelineFilter, texts bool) []TimelineEvent {
	calls := map[string]*replay.APICall{}
	for i := range a.Calls {
		if c := &a.Calls[i]; calls[c.Message] == nil {
			calls[c.Message] = c
		}
	}
	out := []TimelineEvent{}
	for i := range a.Events {
		if filter.event(&a.Events[i]) {
			out = append(out, timelineEvent(i, &a.Events[i], start, calls, texts))
		}
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
	if e.Kind != replay.Turn {
		out.Tokens = int64(estimated(e) + 0.5)
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
				out.Tokens, out.Context = c.Usage.Output, out.PromptTokens+c.Usage.Output
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

// estimated is about how many tokens an event's text takes.
func estimated(e *replay.Event) float64 {
	if e.Kind != replay.Reattachment {
		return budget.ProfileOf(e.Text).Tokens()
	}
	n := 0.0
	for _, s := range e.Skills {
		n += budget.ProfileOf(s.Content).Tokens()
	}
	return n
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
