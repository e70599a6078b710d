package replay

import (
	"sort"
	"time"
)

// CountUses tells usage counts the invocations of sessions, in order of time: calls
// that succeeded or failed at an inline command (recorded: lifecycle/subst 2.1.332),
// forks and typed skills, each under the name by which it was called. A fork counts
// when it begins: its own listing ranks with that (recorded at 2.1.260).
func CountUses(u *Usage, sessions ...*Session) {
	type use struct {
		name    string
		at      time.Time
		process int
	}
	var uses []use
	seen := map[string]bool{}
	for _, s := range sessions {
		forks := &evidenceOfAll{agentOf: map[string]*Event{}}
		forks.agentsOf(s)
		byUse, typed := map[string]time.Time{}, map[*Event]time.Time{} // when forks began
		for _, a := range s.Agents {
			if call := forks.agentOf[a.ID]; call != nil {
				typed[call] = firstTime(a)
				if call.Kind == SkillCall {
					byUse[call.ToolUse] = firstTime(a)
				}
			}
		}
		for _, a := range s.Agents {
			process := 0
			bodies := typedBodies(a)
			for i := range a.Events {
				e := &a.Events[i]
				if key := e.Where.UUID + e.ToolUse; e.Where.UUID != "" && (e.Kind == Launched || e.Kind == Slash || e.Kind == Refusal) {
					if seen[key] {
						continue
					}
					seen[key] = true
				}
				switch {
				case e.Kind == Start && e.Start.Process >= 0:
					process = e.Start.Process
				case e.Kind == Launched || e.Kind == Refusal && commandFailed(e.Text):
					uses = append(uses, use{normalName(e.Skill), earlier(e.Where.Time, byUse[e.ToolUse]), process})
				case e.Kind == Slash && (bodies[i] || e.Forked):
					uses = append(uses, use{e.Skill, earlier(e.Where.Time, typed[e]), process})
				}
			}
		}
	}
	sort.SliceStable(uses, func(i, j int) bool { return uses[i].at.Before(uses[j].at) })
	for _, x := range uses {
		u.Called(x.name, x.at, x.process)
	}
}

// earlier is the earlier of two times, of which the second may be unknown.
func earlier(a, b time.Time) time.Time {
	if !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// typedBodies are the typed commands, by event, that brought a body.
func typedBodies(a *Agent) map[int]bool {
	out := map[int]bool{}
	for i := range a.Events {
		e := &a.Events[i]
		if e.Kind != Body || e.ToolUse != "" {
			continue
		}
		if j := typedCommand(a, i); j >= 0 {
			out[j] = true
		}
	}
	return out
}

// typedCommand is the typed command that brought a body, by event; -1 if none did.
func typedCommand(a *Agent, body int) int {
	// Between the two stand the other commands of a stack and what came with them:
	// hostile logs must not make the way long.
	const most = 256
	for j, n := a.Events[body].Parent, 0; j >= 0 && n < most; j, n = a.Events[j].Parent, n+1 {
		switch e := &a.Events[j]; {
		case e.Kind == Turn:
			return -1
		case e.Kind == Slash && e.Skill == a.Events[body].Skill:
			return j
		}
	}
	return -1
}
