package replay

import (
	"maps"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/skills"
)

// Invoker is who asked for a skill.
type Invoker string

// The invokers. A call that the model made because the user had typed the skill's
// name, where the client had not carried that out itself, is the user's.
const (
	ByUser  Invoker = "user"
	ByModel Invoker = "model"
)

// Outcome is what became of an attempt to invoke a skill.
type Outcome string

// The outcomes.
const (
	OutcomeInvoked    Outcome = "invoked"    // a body, a note or a fork came of it
	OutcomeRefused    Outcome = "refused"    // by the client
	OutcomeRejected   Outcome = "rejected"   // by the user
	OutcomeUnanswered Outcome = "unanswered" // the log ends, or was cut, before an answer
)

// Attempt is an invocation of a skill, or what was to be one.
type Attempt struct {
	Skill     string // as named by the caller
	By        Invoker
	Outcome   Outcome
	Where     Where
	Prompt    int // number of the prompt, 0 before the first
	Abandoned bool
	// Stack is the position among the skills typed in one line, from 1; 0 where only
	// one was typed.
	Stack int
	// ToolPosition and SkillPosition are the positions of a call among the tool uses,
	// and among the Skill calls, of its prompt, from 1; 0 for what was only typed. A
	// skill called at a high position was triggered late, which is not never.
	ToolPosition, SkillPosition int
	Version                     string // of the client, "" if it is not known
	// AfterCompaction: behind the last compaction of the conversation, or there is none.
	AfterCompaction bool

	Event int // index of the call or command among the agent's events
}

// SentText is a text of a skill that was sent: a body, a note in its place, or a body
// that a compaction put back.
type SentText struct {
	Kind    EventKind // Body, Note or Reattachment
	Skill   string
	Where   Where
	Version string
	Chars   int // UTF-16 code units
	// Again: the very text of a body stood in the conversation already.
	Again bool
}

// SkillUse is what one agent did with one skill. Branches that a rewind left
// count: what happened on them did happen.
type SkillUse struct {
	Skill string
	First Where
	// Calls and Typed count the attempts by the model and by the user, whatever came
	// of them; Refused, Rejected and Unanswered are among them.
	Calls, Typed                  int
	Refused, Rejected, Unanswered int
	Bodies, Notes, Forked         int
}

// Texts counts texts and their length in UTF-16 code units.
type Texts struct{ Count, Chars int }

// add counts a text.
func (t *Texts) add(text string) {
	t.Count++
	t.Chars += budget.Len16(text)
}

// Summary counts what became of skills in one agent's timeline.
type Summary struct {
	Prompts, Slashes int
	Attempts         []Attempt
	Skills           []SkillUse // in order of the first event
	Sent             []SentText
	// ByUser and ByModel count invocations; attempts without success are Refused,
	// Rejected and Unanswered.
	ByUser, ByModel               int
	Refused, Rejected, Unanswered int
	// Loads are bodies sent in full; Avoidable those of them whose very text stood in
	// the conversation already, as a body or put back by a compaction.
	Loads, Avoidable Texts
	// Reattached are bodies put back by compactions. They are no invocations.
	Reattached Texts
	// Compactions counts those of the conversation, and AfterCompaction the
	// invocations behind the last of them: all, if there is none.
	Compactions, AfterCompaction int
	// Repeated counts whole listings sent while what they say stood in the
	// conversation already, and the length of the entries sent again; RepeatedTokens
	// is an estimate.
	Repeated       Texts
	RepeatedTokens int
}

// Summarize counts the events of a timeline.
func Summarize(a *Agent) Summary {
	s := &summarizer{agent: a, byUse: map[string]int{}, uses: map[string]int{}}
	s.out.Prompts, s.out.Slashes = a.Prompts, a.Slashes
	last := -1
	for i := range a.Events {
		if e := &a.Events[i]; e.Kind == Compaction && !e.Abandoned {
			s.out.Compactions++
			last = i
		}
	}
	start := context{map[string]*holder{}, map[string]string{}}
	follow(a.Events, start, context.clone, func(i int, c context, jumped bool) context {
		if jumped {
			s.closeTurn()
		}
		return s.step(i, c)
	})
	s.closeTurn()
	for i := range s.out.Attempts {
		t := &s.out.Attempts[i]
		use := s.use(t.Skill, t.Where)
		switch t.By {
		case ByUser:
			use.Typed++
		case ByModel:
			use.Calls++
		}
		switch t.Outcome {
		case OutcomeRefused:
			use.Refused++
			s.out.Refused++
		case OutcomeRejected:
			use.Rejected++
			s.out.Rejected++
		case OutcomeUnanswered:
			use.Unanswered++
			s.out.Unanswered++
		case OutcomeInvoked:
			if t.By == ByUser {
				s.out.ByUser++
			} else {
				s.out.ByModel++
			}
			if t.AfterCompaction = t.Event > last && !t.Abandoned; t.AfterCompaction {
				s.out.AfterCompaction++
			}
		}
	}
	return s.out
}

type summarizer struct {
	agent *Agent
	out   Summary
	byUse map[string]int // attempts by tool use
	uses  map[string]int // index in out.Skills by name
	// typed are the skills named at the start of the line that the user typed last,
	// in order; stacked says that the client took the line for a stack.
	typed     []typedName
	stacked   *Event
	stackedAt int // its index
}

// typedName is a skill that the user typed, and the attempt that it is, -1 if the
// log has none so far.
type typedName struct {
	name    string
	attempt int
}

// context is what stands in the conversation: bodies by their text, and the
// entries of listings as they stand there, each with the records that hold it.
type context struct {
	texts   map[string]*holder
	entries map[string]string
}

// holder is a record that holds a text, and those before it.
type holder struct {
	uuid   string
	before *holder
}

func (c context) clone() context { return context{maps.Clone(c.texts), maps.Clone(c.entries)} }

// use is the line of a skill, made at its first event.
func (s *summarizer) use(skill string, at Where) *SkillUse {
	i, ok := s.uses[skill]
	if !ok {
		i = len(s.out.Skills)
		s.uses[skill] = i
		s.out.Skills = append(s.out.Skills, SkillUse{Skill: skill, First: at})
	}
	return &s.out.Skills[i]
}

func (s *summarizer) attempt(t Attempt, i int) int {
	e := &s.agent.Events[i]
	t.Where, t.Prompt, t.Abandoned, t.Version, t.Event = e.Where, e.PromptN, e.Abandoned, e.Version, i
	s.use(t.Skill, t.Where)
	s.out.Attempts = append(s.out.Attempts, t)
	return len(s.out.Attempts) - 1
}

func (s *summarizer) step(i int, c context) context {
	e := &s.agent.Events[i]
	switch e.Kind {
	case Prompt:
		s.closeTurn()
		s.typed = typedNames(e.Text)
	case Slash:
		s.slash(i)
	case SkillCall:
		s.call(i)
	case Launched, Refusal:
		s.result(e)
	case Body:
		s.use(e.Skill, e.Where).Bodies++
		s.out.Loads.add(e.Text)
		again := c.texts[e.Text] != nil
		if again {
			s.out.Avoidable.add(e.Text)
		}
		s.sent(e, e.Skill, e.Text, again)
		c.hold(e.Text, e.Where.UUID)
	case Note:
		s.use(e.Skill, e.Where).Notes++
		s.sent(e, e.Skill, e.Text, false)
	case Compaction:
		return c.compacted(e.Compaction)
	case Reattachment:
		for _, k := range e.Skills {
			s.out.Reattached.add(k.Content)
			s.sent(e, k.Name, k.Content, false)
			c.hold(k.Content, e.Where.UUID)
		}
	case Listing:
		s.listing(e, &c)
	}
	return c
}

func (s *summarizer) sent(e *Event, skill, text string, again bool) {
	s.out.Sent = append(s.out.Sent, SentText{Kind: e.Kind, Skill: skill, Where: e.Where, Version: e.Version, Chars: budget.Len16(text), Again: again})
}

func (c context) hold(text, uuid string) { c.texts[text] = &holder{uuid, c.texts[text]} }

// compacted is what a compaction leaves.
func (c context) compacted(e *CompactionEvent) context {
	next := context{map[string]*holder{}, map[string]string{}}
	if len(e.Kept) > 0 {
		for text, h := range c.texts {
			for ; h != nil; h = h.before {
				if e.Kept[h.uuid] {
					next.hold(text, h.uuid)
				}
			}
		}
	}
	if e.Partial == "from" {
		next.entries = c.entries
		return next
	}
	for raw, u := range c.entries {
		if e.Kept[u] {
			next.entries[raw] = u
		}
	}
	return next
}

// slash is a typed command. It is an attempt at a skill if something came of it, or
// if it stands in a stack, which holds skills only.
func (s *summarizer) slash(i int) {
	e := &s.agent.Events[i]
	if e.Stack <= 1 {
		s.closeTurn()
		line := e.Input
		if line == "" {
			line = "/" + e.Skill + " " + e.Args
		} else {
			s.stacked, s.stackedAt = e, i
		}
		s.typed = typedNames(line)
	}
	done := typedSkill(s.agent.Events, i)
	if !done && e.Stack == 0 {
		return
	}
	t := Attempt{Skill: e.Skill, By: ByUser, Stack: e.Stack, Outcome: OutcomeRefused}
	if done {
		t.Outcome = OutcomeInvoked
	}
	at := s.attempt(t, i)
	for j := range s.typed {
		if n := &s.typed[j]; n.name == e.Skill && n.attempt < 0 {
			n.attempt = at
			break
		}
	}
}

// call is a call of the model: its own, or for a skill that the user typed and the
// client did not carry out.
func (s *summarizer) call(i int) {
	e := &s.agent.Events[i]
	t := Attempt{Skill: e.Skill, By: ByModel, Outcome: OutcomeUnanswered, ToolPosition: e.ToolPosition, SkillPosition: e.SkillPosition}
	for j := range s.typed {
		n := &s.typed[j]
		if n.name != normalName(e.Skill) {
			continue
		}
		if n.attempt >= 0 && s.out.Attempts[n.attempt].Outcome == OutcomeInvoked {
			break
		}
		t.By = ByUser
		if len(s.typed) > 1 {
			t.Stack = j + 1
		}
		if n.attempt >= 0 {
			// The command as typed and the call made for it are one attempt.
			old := &s.out.Attempts[n.attempt]
			old.Outcome, old.ToolPosition, old.SkillPosition = t.Outcome, t.ToolPosition, t.SkillPosition
			s.byUse[e.ToolUse] = n.attempt
			return
		}
		n.attempt = s.attempt(t, i)
		s.byUse[e.ToolUse] = n.attempt
		return
	}
	s.byUse[e.ToolUse] = s.attempt(t, i)
}

func (s *summarizer) result(e *Event) {
	if e.Kind == Launched && (e.Forked || e.Background) {
		s.use(e.Skill, e.Where).Forked++
	}
	at, ok := s.byUse[e.ToolUse]
	if !ok {
		return
	}
	t := &s.out.Attempts[at]
	switch {
	case e.Kind == Launched:
		t.Outcome = OutcomeInvoked
	case e.Rejected:
		t.Outcome = OutcomeRejected
	default:
		t.Outcome = OutcomeRefused
	}
}

// closeTurn ends the line that was typed last. A skill of a stack that left no
// record, and that no call stands for, was refused.
func (s *summarizer) closeTurn() {
	if s.stacked != nil {
		for j, n := range s.typed {
			if n.attempt >= 0 {
				continue
			}
			s.out.Attempts = append(s.out.Attempts, Attempt{Skill: n.name, By: ByUser, Stack: j + 1, Outcome: OutcomeRefused,
				Where: s.stacked.Where, Prompt: s.stacked.PromptN, Abandoned: s.stacked.Abandoned, Version: s.stacked.Version, Event: s.stackedAt})
		}
	}
	s.typed, s.stacked = nil, nil
}

// listing counts the entries of a whole listing that stand in the conversation.
func (s *summarizer) listing(e *Event, c *context) {
	a := e.Listing
	whole := a.Initial || !a.HasInitial
	entries := map[string]string{}
	if !whole {
		entries = c.entries
	}
	var again []string
	for _, l := range skills.ParseListing(a.Content, a.Names, s.agent.BlankNames...) {
		if l.Name == "" {
			continue
		}
		if _, ok := c.entries[l.Raw]; ok {
			again = append(again, l.Raw)
		}
		entries[l.Raw] = e.Where.UUID
	}
	c.entries = entries
	if len(again) == 0 || !whole {
		return
	}
	text := strings.Join(again, "\n")
	s.out.Repeated.add(text)
	s.out.RepeatedTokens += int(EstimateTokens(jsonl.Measure(text)) + 0.5)
}

// typedNames are the skills named at the start of a typed line: "/a /b do it" names
// a and b.
func typedNames(line string) []typedName {
	var out []typedName
	for word := range strings.FieldsSeq(line) {
		name, ok := strings.CutPrefix(word, "/")
		if !ok || name == "" {
			break
		}
		out = append(out, typedName{name, -1})
	}
	return out
}

// typedSkill reports whether a typed command named a skill: a body, note, result
// or refusal of that name follows before the next turn. Others, such as /compact,
// are the client's own.
func typedSkill(events []Event, at int) bool {
	if events[at].Forked {
		return true
	}
	for i := at + 1; i < len(events); i++ {
		e := &events[i]
		switch e.Kind {
		case Body, Note, Refusal, Launched:
			if e.ToolUse == "" && e.Skill == events[at].Skill {
				return true
			}
		case Turn, Prompt, Slash, SkillCall, Compaction:
			return false
		}
	}
	return false
}
