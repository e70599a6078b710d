package replay

import (
	"cmp"
	"time"
)

// Insertion is an input event that the log itself does not show, such as the
// start of a process or a change of files, to be put before an event.
type Insertion struct {
	Before int // index of the event that it precedes; len(Events) for the end
	Event  Event
}

// Insert puts input events into the timeline. Insertions must be sorted by Before.
// An inserted event continues the branch of the event that it precedes.
func (a *Agent) Insert(list []Insertion) {
	if len(list) == 0 {
		return
	}
	old := a.Events
	moved := make([]int, len(old)) // new index of each old event
	n := 0
	out := make([]Event, 0, len(old)+len(list))
	var latest time.Time // of the events so far
	put := func(e Event) {
		if e.Where.Time.After(latest) {
			latest = e.Where.Time
		}
		out = append(out, e)
	}
	for i := 0; i <= len(old); i++ {
		first := -1
		for n < len(list) && list[n].Before == i {
			e := list[n].Event
			switch {
			case first >= 0:
				e.Parent = len(out) - 1
			case i < len(old):
				e.Parent = newIndex(moved, old[i].Parent)
			default:
				e.Parent = len(out) - 1
			}
			if e.Where.Time.IsZero() {
				e.Where.Time = latest
			}
			if i < len(old) {
				e.Version = cmp.Or(e.Version, old[i].Version)
				e.Abandoned = old[i].Abandoned
				if e.Where.File == "" {
					e.Where.File, e.Where.Line = old[i].Where.File, old[i].Where.Line
				}
			}
			first = len(out)
			put(e)
			n++
		}
		if i == len(old) {
			break
		}
		e := old[i]
		if first >= 0 {
			e.Parent = len(out) - 1
		} else {
			e.Parent = newIndex(moved, e.Parent)
		}
		moved[i] = len(out)
		put(e)
	}
	a.Events = out
	for i := range a.Commands {
		a.Commands[i].Event = newIndex(moved, a.Commands[i].Event)
	}
	for i := range a.Modes {
		a.Modes[i].Event = newIndex(moved, a.Modes[i].Event)
	}
	for i := range a.Interrupts {
		a.Interrupts[i].Event = newIndex(moved, a.Interrupts[i].Event)
	}
	for i := range a.Replies {
		a.Replies[i] = moved[a.Replies[i]]
	}
	for i := range a.Calls {
		if k := a.Calls[i].Event; k < len(moved) {
			a.Calls[i].Event = moved[k]
		} else {
			a.Calls[i].Event = len(out)
		}
	}
}

func newIndex(moved []int, i int) int {
	if i < 0 {
		return -1
	}
	return moved[i]
}
