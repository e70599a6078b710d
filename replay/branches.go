package replay

// follow walks the events of a timeline with a state that goes with the branch:
// step changes it in place, and where an event does not follow the one before it
// (jumped) it gets the state as it stood behind the event's parent. Copies are made
// only where a branch begins.
func follow[S any](events []Event, start S, clone func(S) S, step func(i int, s S, jumped bool) S) {
	last := make([]int, len(events)+1) // the last event that follows each, by index+1
	for i := range events {
		last[events[i].Parent+1] = i
	}
	keep := map[int]S{}
	if last[0] > 0 {
		keep[-1] = clone(start)
	}
	s, prev := start, -1
	for i := range events {
		parent := events[i].Parent
		jumped := parent != prev
		if jumped {
			s = keep[parent]
			if last[parent+1] > i {
				s = clone(s)
			}
		}
		if last[parent+1] == i {
			delete(keep, parent)
		}
		s = step(i, s, jumped)
		if prev = i; last[i+1] > i+1 {
			keep[i] = clone(s)
		}
	}
}
