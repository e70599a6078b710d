package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
)

// WriteTable tells sessions as they went: a line for each event, those of subagents
// where they fell in time. Compactions and resumes, and where a subagent begins, stand
// as rules across the page; events on branches that a rewind left are marked "~".
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
	s.writeHead(b, style)
	told := s.told()
	if len(told) == 0 {
		b.WriteString("no events\n")
		return nil
	}
	g := timelineGrid(len(s.Agents) > 1, style)
	abandoned := false
	begun := map[string]bool{"main": true}
	for _, t := range told {
		t.put(&g, begun, style)
		abandoned = abandoned || t.event.Abandoned
	}
	if err := g.write(b, style); err != nil {
		return err
	}
	var marks []string
	if g.has("tokens") {
		marks = append(marks, "tokens of texts are estimated, those of a turn are its output as recorded")
	}
	if g.has("context") {
		marks = append(marks, "context is what the model held after a turn")
	}
	if abandoned {
		marks = append(marks, "~ on a branch that a rewind left")
	}
	if len(marks) > 0 {
		b.WriteString("\n")
		style.line(b, style.paint(faint, joinDots(marks)))
	}
	return nil
}

func (s *TimelineSession) writeHead(b *strings.Builder, style Style) {
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
}

// toldEvent is an event of one of the agents of a session.
type toldEvent struct {
	agent *TimelineAgent
	event *TimelineEvent
}

// told are the events of all agents: each agent's in the order of its conversation, and
// that of several by time.
func (s *TimelineSession) told() []toldEvent {
	type queue struct {
		agent *TimelineAgent
		next  int
		at    int64 // of the next event; one without a time goes with the one before it
	}
	var queues []*queue
	n := 0
	step := func(q *queue) {
		if q.next < len(q.agent.Events) && q.agent.Events[q.next].OffsetMS != nil {
			q.at = max(q.at, *q.agent.Events[q.next].OffsetMS)
		}
	}
	for i := range s.Agents {
		q := &queue{agent: &s.Agents[i], at: -1 << 62}
		if len(q.agent.Events) > 0 {
			if i > 0 {
				// Its first events may have none.
				for j := range q.agent.Events {
					if ms := q.agent.Events[j].OffsetMS; ms != nil {
						q.at = *ms
						break
					}
				}
			}
			step(q)
			queues = append(queues, q)
			n += len(q.agent.Events)
		}
	}
	out := make([]toldEvent, 0, n)
	for len(queues) > 0 {
		first := 0
		for i, q := range queues {
			if q.at < queues[first].at {
				first = i
			}
		}
		q := queues[first]
		out = append(out, toldEvent{q.agent, &q.agent.Events[q.next]})
		if q.next++; q.next == len(q.agent.Events) {
			queues = slices.Delete(queues, first, first+1)
			continue
		}
		step(q)
	}
	return out
}

// timelineGrid is the table of events. The columns have room for what comes later, as
// sessions that are followed are written bit by bit.
func timelineGrid(agents bool, style Style) grid {
	g := grid{tight: style.width() < 100 && !style.Verbose, columns: []column{
		{title: "n", right: true, drop: 6}, {title: "line", right: true}, {title: "time", right: true, drop: lateDrop}, {title: "agent", shrink: 1, least: 8, drop: lateDrop}, {title: " "},
		{title: "prompt", right: true, drop: 4}, {title: "event", ink: kindInk}, {title: "skill", shrink: 2, least: 12}, {title: "layer", drop: 3}, {title: "chars", right: true, drop: 5},
		{title: "tokens", right: true, drop: lateDrop}, {title: "context", right: true, drop: 2}, {title: "note", shrink: 1, least: 11},
	}}
	if !agents {
		g.keep(func(i int) bool { return g.columns[i].title != "agent" })
	}
	return g
}

// put adds an event to the grid. The first one of each agent but the main loop stands
// under a rule with what the agent is.
func (t toldEvent) put(g *grid, begun map[string]bool, style Style) {
	a, e := t.agent, t.event
	if !begun[a.Agent] {
		begun[a.Agent] = true
		g.rule(style.paint(faint, style.across(a.words(style))))
	}
	if text := e.boundary(); text != "" {
		if a.Agent != "main" {
			text += ", agent " + shortID(a.Agent)
		}
		g.rule(style.paint(faint, style.across(text)))
		return
	}
	mark, line, at, prompt := "", "", "", ""
	if e.Abandoned {
		mark = "~"
	}
	if e.Line > 0 {
		line = fmt.Sprint(e.Line)
	}
	if e.OffsetMS != nil {
		at = offset(*e.OffsetMS)
	}
	if e.Prompt > 0 {
		prompt = fmt.Sprint(e.Prompt)
	}
	cells := []string{fmt.Sprint(e.N), line, at, mark, prompt, strings.ReplaceAll(Escape(e.Kind), "_", " "), Escape(e.Skill), e.Layer, some(int64(e.Chars)), some(e.Tokens), some(e.Context), e.note(style)}
	if g.has("agent") {
		cells = slices.Insert(cells, 3, shortID(a.Agent))
	}
	g.add(cells...)
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

// words say what an agent is.
func (a *TimelineAgent) words(style Style) string {
	text := "agent " + Escape(a.Agent)
	if a.Type != "" {
		text += " (" + Escape(a.Type) + ")"
	}
	if a.OnBehalfOf != "" {
		text += " for " + Escape(a.OnBehalfOf)
	}
	if a.File != "" && style.Verbose {
		text += ", " + style.shortPath(a.File)
	}
	return text
}

// across is a text as a rule across the page.
func (s Style) across(text string) string {
	text = Truncate("── "+text+" ", s.width())
	return text + strings.Repeat("─", max(0, min(s.width(), 100)-displayWidth(text)))
}

// boundary is the text of an event that stands as a rule, "" for others.
func (e *TimelineEvent) boundary() string {
	text := ""
	switch kind := replay.EventKind(e.Kind); {
	case kind == replay.Compaction:
		text = "compaction"
	case kind == replay.Start && e.Fork:
		text = "forks the session"
	case kind == replay.Start && e.Resume:
		text = "resumes the session"
	default:
		return ""
	}
	text = fmt.Sprintf("%d %s", e.N, text)
	if e.Line > 0 {
		text += fmt.Sprintf(", line %d", e.Line)
	}
	if e.OffsetMS != nil {
		text += ", at " + offset(*e.OffsetMS)
	}
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
	if e.Kind == string(replay.Start) && e.Version != "" {
		text += ", " + Escape(e.Version)
	}
	if e.Abandoned {
		text += ", abandoned"
	}
	return text
}

// note is what is worth a word of an event.
func (e *TimelineEvent) note(style Style) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch replay.EventKind(e.Kind) {
	case replay.Slash:
		if e.Tool != e.Skill {
			add("/%s", Escape(e.Tool))
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
