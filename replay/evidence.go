package replay

import (
	"path"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// Evidence is what a prediction takes from the log as input although it stands
// in effects: whether the user rejected a call, what an inline command printed
// or why it failed, and which record carries a body. Texts in it serve only to
// fill the places that no rule can know.
type Evidence struct {
	rejected  map[string]string // tool use -> text of the rejection
	failed    map[string]string // tool use -> result of a call whose inline command failed
	results   map[string]bool   // tool uses that have a result
	noTool    map[string]string // tool use -> the client says that it has no Skill tool
	refusal   map[string]string // tool use -> any other refusal
	unknown   map[string]bool   // tool uses refused for what the skill is
	forked    map[string]bool   // tool uses that ran in an agent of their own
	body      map[string]recordedBody
	framed    map[string]bool      // tool uses of forks whose result says that the fork completed
	byUse     map[string][]int     // bodies, notes and refusals, by tool use
	slashBody map[int]recordedBody // by the event of the typed command
	// slashNotes are the notes that typed commands brought, likewise.
	slashNotes map[int][]int
	preloads   []recordedBody
	touched    []*Event // files that the main loop touched, as far as subagents see it
	*evidenceOfAll
}

// evidenceOfAll is what the agents of a session have in common.
type evidenceOfAll struct {
	starts  []processStart
	session string // the session's id
	// dirs are the base directories that recorded bodies state, by the name of the
	// skill's folder: where the files lay, if they are read from elsewhere now.
	dirs    map[string][]string
	cwd     string            // the session's working directory
	touches []*Event          // files that the main loop touched
	agentOf map[string]*Event // agent id -> the call or command that started it
}

type recordedBody struct {
	text, uuid string
	index      int
}

type processStart struct {
	at      time.Time
	process int
}

// Gather collects the evidence for one agent of a session.
func Gather(s *Session, a *Agent) *Evidence { return gather(a, gatherAll(s)) }

// gatherAll collects what the agents of a session have in common.
func gatherAll(s *Session) *evidenceOfAll {
	ev := &evidenceOfAll{session: s.ID, cwd: s.CWD, dirs: map[string][]string{}, agentOf: map[string]*Event{}}
	ev.startsOf(s)
	ev.agentsOf(s)
	for _, a := range s.Agents {
		for i := range a.Events {
			e := &a.Events[i]
			if e.Kind == Touch && a.ID == "main" {
				ev.touches = append(ev.touches, e)
			}
			ev.sawDir(e.Text)
			for _, k := range e.Skills {
				ev.sawDir(k.Content)
			}
		}
	}
	return ev
}

func gather(a *Agent, all *evidenceOfAll) *Evidence {
	ev := &Evidence{evidenceOfAll: all,
		rejected: map[string]string{}, failed: map[string]string{}, results: map[string]bool{}, noTool: map[string]string{}, unknown: map[string]bool{}, refusal: map[string]string{}, framed: map[string]bool{}, forked: map[string]bool{},
		body: map[string]recordedBody{}, byUse: map[string][]int{}, slashBody: map[int]recordedBody{}, slashNotes: map[int][]int{}}
	if a.ID != "main" {
		ev.touched = all.touches
	}
	for i := range a.Events {
		e := &a.Events[i]
		if e.ToolUse != "" && (e.Kind == Refusal || e.Kind == Body || e.Kind == Note) {
			ev.byUse[e.ToolUse] = append(ev.byUse[e.ToolUse], i)
		}
		switch e.Kind {
		case Refusal:
			ev.results[e.ToolUse] = true
			switch {
			case e.Rejected:
				ev.rejected[e.ToolUse] = e.Text
			case commandFailed(e.Text):
				ev.failed[e.ToolUse] = e.Text
			case strings.Contains(e.Text, "No such tool available: Skill") || e.Text == "Warmup":
				ev.noTool[e.ToolUse] = e.Text
			default:
				ev.unknown[e.ToolUse] = true
				ev.refusal[e.ToolUse] = e.Text
			}
		case Launched:
			ev.results[e.ToolUse] = true
			ev.framed[e.ToolUse] = strings.Contains(e.Text, rules.ForkCompleted)
			ev.forked[e.ToolUse] = ev.forked[e.ToolUse] || e.Agent != "" || strings.Contains(e.Text, rules.ForkCompleted)
		case Note:
			if j := typedCommand(a, i); e.ToolUse == "" && j >= 0 {
				ev.slashNotes[j] = append(ev.slashNotes[j], i)
			}
		case Body:
			r := recordedBody{e.Text, e.Where.UUID, i}
			if e.ToolUse != "" {
				if _, ok := ev.body[e.ToolUse]; !ok {
					ev.body[e.ToolUse] = r
				}
				continue
			}
			if e.Stack < 0 {
				ev.preloads = append(ev.preloads, r)
				continue
			}
			if j := typedCommand(a, i); j >= 0 {
				if _, ok := ev.slashBody[j]; !ok {
					ev.slashBody[j] = r
				}
			}
		}
	}
	return ev
}

// refused reports whether the log shows that a call was refused for what the skill
// is, or is not.
func (ev *Evidence) refused(use string) bool { return ev.unknown[use] }

func (ev *evidenceOfAll) sawDir(text string) {
	const most = 64 // folders of one name: hostile logs could state any number
	dir := bodyKey(text)
	if seen := ev.dirs[path.Base(dir)]; dir != "" && len(seen) < most && !contains(seen, dir) {
		ev.dirs[path.Base(dir)] = append(seen, dir)
	}
}

// dirOf is the folder that the log states for a skill, "" if it states none. Skills of
// several folders can have one name: those of nested folders lie below the working
// directory, and all others of them do not.
func (ev *evidenceOfAll) dirOf(k *skills.Skill) string {
	scope := ""
	if k.Source == skills.Nested {
		scope = k.Scope
	}
	found := ""
	for _, dir := range ev.dirs[path.Base(k.Dir)] {
		if dir == k.Dir {
			return dir
		}
		// D/.claude/skills/NAME is the skill of D.
		below, ok := strings.CutPrefix(path.Dir(path.Dir(path.Dir(dir))), ev.cwd+"/")
		if !ok || ev.cwd == "" {
			below = ""
		}
		if found == "" && below == scope {
			found = dir
		}
	}
	return found
}

func (ev *evidenceOfAll) startsOf(s *Session) {
	if s.Main() == nil {
		return
	}
	for i := range s.Main().Events {
		if e := &s.Main().Events[i]; e.Kind == Start {
			ev.starts = append(ev.starts, processStart{e.Where.Time, e.Start.Process})
		}
	}
}

// agentsOf finds what started each subagent: a tool use where the log ties them,
// else the typed forks, in order, for the forks that no call claims.
func (ev *evidenceOfAll) agentsOf(s *Session) {
	calls := map[string]*Event{}
	known := map[string]bool{}
	for _, a := range s.Agents {
		known[a.ID] = true
	}
	var typed []*Event // commands and calls whose fork the log does not name
	for _, a := range s.Agents {
		for i := range a.Events {
			e := &a.Events[i]
			switch {
			case e.Kind == SkillCall:
				calls[e.ToolUse] = e
			case e.Kind == Slash && e.Forked:
				typed = append(typed, e)
			case e.Kind == Launched && !known[e.Agent] && calls[e.ToolUse] != nil && strings.Contains(e.Text, rules.ForkCompleted):
				// The client names no agent, or another than the log's (2.1.5 to 2.1.45).
				typed = append(typed, calls[e.ToolUse])
			}
		}
	}
	for _, a := range s.Agents {
		if a.ID == "main" {
			continue
		}
		if a.StartedBy != "" {
			if e := calls[a.StartedBy]; e != nil {
				ev.agentOf[a.ID] = e
			}
			continue
		}
		first := firstBody(a)
		if first == nil {
			continue
		}
		// The latest command before it, one of its own name before others (it may have
		// been typed by another name of the skill).
		best := -1
		for j, e := range typed {
			if e == nil || first.Where.Time.Before(e.Where.Time.Add(-time.Second)) {
				continue
			}
			if best < 0 || (e.Skill == first.Skill) == (typed[best].Skill == first.Skill) || e.Skill == first.Skill {
				best = j
			}
		}
		if best >= 0 {
			ev.agentOf[a.ID], typed[best] = typed[best], nil
		}
	}
}

// firstBody is the body with which a fork begins, nil for other agents.
func firstBody(a *Agent) *Event {
	if b := systemBody(a); b != nil {
		return b
	}
	for i := range a.Events {
		switch e := &a.Events[i]; e.Kind {
		case Start:
		case Body:
			return e
		default:
			return nil
		}
	}
	return nil
}

// systemBody is the body that is an agent's system prompt, nil if none is known.
func systemBody(a *Agent) *Event {
	for i := range a.Events {
		if e := &a.Events[i]; e.Kind == Body && e.Place == PlaceSystem {
			return e
		}
	}
	return nil
}
