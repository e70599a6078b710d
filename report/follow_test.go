package report

import (
	"bytes"
	"strings"
	"testing"
)

// What a follower writes bit by bit is what it writes at once, whatever the bits, and no
// line is wider than the screen.
func TestFollower(t *testing.T) {
	whole := NewTimelineSession(sampleSession(), TimelineFilter{}, false)
	for _, style := range []Style{{Width: 60}, {Width: 80}, {Width: 80, Color: true}, {Width: 140}, {Width: 80, Verbose: true}} {
		var once bytes.Buffer
		if err := NewTimelineFollower(&once, FormatTable, style).Write(&whole); err != nil {
			t.Fatal(err)
		}
		var bits bytes.Buffer
		f := NewTimelineFollower(&bits, FormatTable, style)
		for line := range 100 {
			part := whole
			part.Agents = nil
			for _, a := range whole.Agents {
				all := a.Events
				a.Events = nil
				for _, e := range all {
					if e.Line <= line {
						a.Events = append(a.Events, e)
					}
				}
				part.Agents = append(part.Agents, a)
			}
			if err := f.Write(&part); err != nil {
				t.Fatal(err)
			}
		}
		if !style.Verbose { // there columns are as wide as what they hold
			lines := func(text string) int { return strings.Count(text, "\n") }
			if lines(once.String()) != lines(bits.String()) {
				t.Errorf("at %d at once\n%s\nbit by bit\n%s", style.Width, once.String(), bits.String())
			}
		}
		for line := range strings.Lines(bits.String()) {
			if w := displayWidth(strings.TrimSuffix(line, "\n")); w > style.Width && !style.Verbose {
				t.Errorf("at %d: %d cells: %s", style.Width, w, line)
			}
		}
		before := bits.Len()
		if err := f.Write(&whole); err != nil || bits.Len() != before {
			t.Errorf("it is written again, %v", err)
		}
		f.Restart()
		if err := f.Write(&whole); err != nil || bits.String()[before:] != once.String() {
			t.Errorf("after a restart, %v:\n%s\nwant\n%s", err, bits.String()[before:], once.String())
		}
		if style == (Style{Width: 80}) {
			golden(t, "timeline-follow.txt", bits.Bytes())
		}
	}
}
