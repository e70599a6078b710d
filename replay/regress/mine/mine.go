// Package mine makes test cases of recorded sessions.
//
//	result ── From ──> cases          prompts, the skills called for them, how these stood
//	log, cases ── Cut ──> fixture     the part of the log that the cases need
//	fixture ── Agree ──> cases        as the fixture shows them: the same, or no fixture
//	cases ── Settle ──> cases         as the scorers judge them now
//	cases ── Spec ──> YAML            expectations that hold today
//	cases ── Promptfoo, PluginEval    the prompts for other tools
//
// What a prompt led to is taken from the log, never judged: a call is a positive, a
// skill that the user typed right behind a prompt is a candidate for a miss that a
// person has to look at.
package mine

import (
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// Kind is what a prompt is an example of.
type Kind string

// The kinds.
const (
	Positive Kind = "positive" // the model called a skill for it
	Miss     Kind = "miss"     // a candidate: the model called none, and the user then typed one
	Negative Kind = "negative" // no skill was called, and none was typed
)

// Case is a prompt of a session's main loop and what it led to.
type Case struct {
	Session string // the session's id
	Client  string // as in "claude-code@2.1.332"
	Kind    Kind
	Prompt  int // its number
	Where   replay.Where
	Text    string
	Mode    string // the permission mode, "" if the log does not tell
	// Skills are those called, in order and each once; of a miss those typed.
	Skills []Skill
	// Listed is the number of entries that stood before the model.
	Listed int
	// Predicted: the log holds no listing, and how skills stood follows from the rules.
	Predicted bool
	// Review says why a person should look at the case; "" if nobody need.
	Review string
	// Skip says why it cannot be judged now; "" if it can.
	Skip string

	event int // of the prompt, among the events of the main loop
}

// Skill is a skill of a case.
type Skill struct {
	Name  string       // as it was listed, or where it was not, as it was called
	Shown replay.Shown // when the prompt was answered
	// Tool and Call are the positions of its first call among the tool calls, and among
	// the Skill calls, of the prompt, from 1; 0 for what was typed. A skill that was called
	// behind other tools was triggered late, which is not never.
	Tool, Call int
	// Rank is its place among all listed texts by the words that it shares with the
	// prompt, from 1; 0 where it shares none, was not listed, or before [Settle].
	Rank int
	// Open: how it stands now is not known, so that nothing is expected of it.
	Open bool
}

// Late reports whether other tools were called before the skill.
func (s *Skill) Late() bool { return s.Tool > 1 }

// Options say what becomes a case.
type Options struct {
	Negatives bool // prompts that led to no skill, too

	all bool // every prompt, whatever came of it
}

// From finds the cases of a replayed session, in the order of its prompts. Only the
// main loop is looked at, and no branch that a rewind left.
func From(r *replay.Result, o Options) []Case {
	if len(r.Agents) == 0 || r.Agents[0].Agent.ID != "main" {
		return nil
	}
	m := &miner{Options: o, result: r, main: &r.Agents[0], attempts: map[int][]*replay.Attempt{}, seen: map[int]*replay.Visibility{}}
	s := replay.Summarize(m.main.Agent)
	for i := range s.Attempts {
		a := &s.Attempts[i]
		m.attempts[a.Event] = append(m.attempts[a.Event], a)
	}
	for i := range m.main.Visibility {
		v := &m.main.Visibility[i]
		m.seen[v.Event] = v
	}
	var out []Case
	for i := range m.main.Agent.Events {
		e := &m.main.Agent.Events[i]
		if e.Kind != replay.Prompt || e.Abandoned || m.seen[i] == nil {
			continue
		}
		if c, ok := m.prompt(i); ok {
			out = append(out, c)
		}
	}
	return out
}

type miner struct {
	Options
	result   *replay.Result
	main     *replay.AgentResult
	attempts map[int][]*replay.Attempt // by their event
	seen     map[int]*replay.Visibility
	parsed   map[int]map[string]skills.ListedLine // entries of listings, by event and name
}

// next is the event at which the turn of a prompt ends: the next typed line, or the
// number of events.
func next(events []replay.Event, i int) int {
	for i++; i < len(events); i++ {
		if e := &events[i]; !e.Abandoned && (e.Kind == replay.Prompt || e.Kind == replay.Slash) {
			break
		}
	}
	return i
}

// prompt is the case of a prompt, if it is one.
func (m *miner) prompt(i int) (Case, bool) {
	events := m.main.Agent.Events
	e, v := &events[i], m.seen[i]
	c := Case{Session: m.result.Session.ID, Client: m.result.Client, Prompt: e.PromptN, Where: e.Where, Text: e.Text, Mode: e.Mode,
		Listed: v.Skills.Len(), Predicted: v.Predicted, event: i}
	end := next(events, i)
	if v.Answer >= end {
		return c, false // nobody answered it
	}
	called, failed := false, ""
	for j := i + 1; j < end; j++ {
		for _, a := range m.attempts[j] {
			if a.Abandoned || a.Skill == "" {
				continue
			}
			called = true
			switch {
			case a.By == replay.ByModel && a.Outcome == replay.OutcomeInvoked:
				m.add(&c, v, a)
			case a.By == replay.ByModel && failed == "":
				failed = a.Skill
			}
		}
	}
	switch {
	case len(c.Skills) > 0:
		c.Kind = Positive
	case (called || strings.HasPrefix(e.Text, "/")) && !m.all:
		// Typed by the user, or refused: neither says what the model makes of the prompt.
		return c, false
	case m.typed(&c, v, end):
		c.Kind = Miss
	case m.Negatives || m.all:
		c.Kind = Negative
	default:
		return c, false
	}
	if c.Kind == Positive && failed != "" {
		c.Review = "a call of " + plain(failed) + " came to nothing"
	}
	return c, true
}

// typed takes the skills that the user typed in the line at an event.
func (m *miner) typed(c *Case, v *replay.Visibility, at int) bool {
	if at == len(m.main.Agent.Events) {
		return false
	}
	var names []string
	for _, a := range m.attempts[at] {
		if a.By == replay.ByUser && a.Outcome == replay.OutcomeInvoked {
			m.add(c, v, a)
			names = append(names, "/"+plain(a.Skill))
		}
	}
	if len(names) == 0 {
		return false
	}
	c.Review = "typed " + strings.Join(names, " ") + " right after; the model had not called it"
	for i := range c.Skills {
		if c.Skills[i].Shown == replay.ShownAbsent {
			c.Review += "; it was in no listing then"
			break
		}
	}
	return true
}

// add takes a skill into a case, at its first call.
func (m *miner) add(c *Case, v *replay.Visibility, a *replay.Attempt) {
	name := listedAs(v.Skills, a.Skill)
	if slices.ContainsFunc(c.Skills, func(s Skill) bool { return s.Name == name }) {
		return
	}
	c.Skills = append(c.Skills, Skill{Name: name, Shown: v.Skills.Of(name), Tool: a.ToolPosition, Call: a.SkillPosition})
}

// listedAs is the name under which a called skill was listed: its own, or that of the
// only plugin's skill which ends with it. Where there is none, it is the name as called.
func listedAs(seen replay.Seen, called string) string {
	called = strings.TrimPrefix(strings.TrimSpace(called), "/")
	if seen.Of(called) != replay.ShownAbsent {
		return called
	}
	found := ""
	for name, shown := range seen.All() {
		if shown == replay.ShownAbsent || !strings.HasSuffix(name, ":"+called) {
			continue
		}
		if found != "" {
			return called
		}
		found = name
	}
	if found != "" {
		return found
	}
	return called
}

// standing are the recorded entries that stand before the model at a prompt, by name.
func (m *miner) standing(v *replay.Visibility) []skills.ListedLine {
	events := m.main.Agent.Events
	if m.parsed == nil {
		m.parsed = map[int]map[string]skills.ListedLine{}
	}
	var out []skills.ListedLine
	for name := range v.Skills.All() {
		at, ok := v.Skills.From(name)
		if !ok || events[at].Kind != replay.Listing {
			continue
		}
		lines := m.parsed[at]
		if lines == nil {
			lines = map[string]skills.ListedLine{}
			for _, l := range skills.ParseListing(events[at].Listing.Content, events[at].Listing.Names) {
				lines[l.Name] = l
			}
			m.parsed[at] = lines
		}
		out = append(out, lines[name])
	}
	return out
}
