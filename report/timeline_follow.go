package report

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// TimelineFollower writes the events of a session that goes on, each once: as lines of a
// table or, in NDJSON, of objects.
type TimelineFollower struct {
	w      io.Writer
	format Format
	style  Style

	headed  bool
	columns []string // those that found room
	widths  []int
	begun   map[string]bool
	last    map[string]int // the last line of each agent that something was written of
}

// FollowFormats are the formats that a follower has: those of which the end need not be
// known.
var FollowFormats = []Format{FormatTable, FormatNDJSON}

// NewTimelineFollower makes a follower that writes to w.
func NewTimelineFollower(w io.Writer, format Format, style Style) *TimelineFollower {
	f := &TimelineFollower{w: w, format: format, style: style}
	f.Restart()
	return f
}

// Restart forgets what was written: the log was replaced by another.
func (f *TimelineFollower) Restart() {
	f.headed, f.columns, f.widths = false, nil, nil
	f.begun, f.last = map[string]bool{"main": true}, map[string]int{}
}

// Write writes what of a session was not written yet: the events at lines behind those
// of the same agent that were. It returns the first error of the writer.
func (f *TimelineFollower) Write(s *TimelineSession) error {
	var fresh []toldEvent
	last := map[string]int{}
	for _, t := range s.told() {
		before, known := f.last[t.agent.Agent]
		if known && t.event.Line <= before {
			continue
		}
		fresh = append(fresh, t)
		last[t.agent.Agent] = max(last[t.agent.Agent], before, t.event.Line)
	}
	if len(fresh) == 0 {
		return nil
	}
	for agent, line := range last {
		f.last[agent] = line
	}
	var b bytes.Buffer
	var err error
	if f.format == FormatNDJSON {
		for _, t := range fresh {
			if err = writeLineJSON(&b, t.event.part(s, t.agent).value); err != nil {
				return err
			}
		}
	} else if err = f.table(&b, s, fresh); err != nil {
		return err
	}
	_, err = f.w.Write(b.Bytes())
	return err
}

// followRoom is the least width of columns, in cells, so that what comes later fits in.
var followRoom = map[string]int{"n": 4, "chars": 7, "line": 5, "time": 7, "agent": 8, " ": 1, "event": 14, "skill": 12, "layer": 12, "tokens": 7, "context": 7}

func (f *TimelineFollower) table(b *bytes.Buffer, s *TimelineSession, fresh []toldEvent) error {
	g := timelineGrid(true, f.style)
	for i := range g.columns {
		c := &g.columns[i]
		c.room = max(followRoom[c.title], displayWidth(c.title))
		if c.title == "note" {
			c.room = f.style.width()
		}
	}
	for _, t := range fresh {
		t.put(&g, f.begun, f.style)
	}
	if f.headed {
		g.keep(func(i int) bool { return slices.Contains(f.columns, g.columns[i].title) })
		g.widths = f.widths
		return g.write(b, f.style)
	}
	f.headed = true
	var head strings.Builder
	s.writeHead(&head, f.style)
	b.WriteString(head.String())
	if err := g.write(b, f.style); err != nil {
		return err
	}
	f.widths = g.widths
	for _, c := range g.columns {
		f.columns = append(f.columns, c.title)
	}
	return nil
}
