package replay

import (
	"slices"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// Course is what a prediction knew on its way through the timeline of an agent: at
// each prompt and typed command, and at each listing. It holds on to all that the
// prediction was made of.
type Course struct{ p *predictor }

// Moment is what the client knew of skills when a prompt was asked, as far as the
// inputs tell. What it returns is shared and must not be changed.
type Moment struct {
	c       *catalogue
	rules   *rules.Rules
	process *Process
	lists   bool
	noTool  bool
	active  []string
}

// At is the moment of a prompt or a typed command, by its index among the agent's
// events. It reports false for other events, and for the zero Course.
func (c Course) At(event int) (Moment, bool) {
	if c.p == nil {
		return Moment{}, false
	}
	m, ok := c.p.moments[event]
	return m, ok
}

// look keeps the moment of the event in hand.
func (p *predictor) look(s *State) {
	if k := p.e.Kind; k != Prompt && k != Slash {
		return
	}
	if p.moments == nil {
		p.moments = map[int]Moment{}
	}
	m := Moment{c: p.catalogue(s), process: p.process(s), lists: p.listsTo(s), active: s.Active, rules: p.rules}
	m.noTool = p.forkWithoutTool() || p.agent.ID != "main" && p.definition(s, p.agent.Type).noSkill
	p.moments[p.event] = m
}

// Missing names the input without which nothing is known of the catalogue, "" where
// it is known.
func (m *Moment) Missing() string { return m.c.missing }

// Skills are the skills that were found, each with the reason why it is not listed.
func (m *Moment) Skills() []skills.Status { return m.c.list }

// Problems are the files and folders that look like skills and are none.
func (m *Moment) Problems() []skills.Problem { return m.c.problem }

// Entries are the entries of a whole listing, before it is trimmed.
func (m *Moment) Entries() []skills.Entry { return m.c.entries }

// Guessed reports whether entries stand in an order that no input tells.
func (m *Moment) Guessed() bool { return m.c.orderUnknown || m.c.guessed }

// Options are the rules of discovery and of the entries' texts.
func (m *Moment) Options() skills.Options { return m.c.opts }

// Rules are the rules that hold at the moment.
func (m *Moment) Rules() *rules.Rules { return m.rules }

// Process is what the client's process was started with, nil where nothing is known
// of it.
func (m *Moment) Process() *Process { return m.process }

// Listed reports whether the agent is sent listings by the rules.
func (m *Moment) Listed() bool { return m.lists }

// NoTool reports whether the agent has no Skill tool, as far as its definition and the
// rules tell.
func (m *Moment) NoTool() bool { return m.noTool }

// Active reports whether a skill, by its path, came in during the session: a touched
// file activated it, or brought in its folder.
func (m *Moment) Active(path string) bool { return slices.Contains(m.active, path) }

// Called is the skill that the model means by a name, nil if there is none.
func (m *Moment) Called(name string) *skills.Status {
	if m.c.rules == nil {
		return nil
	}
	return m.c.called(normalName(name), &m.c.rules.Call)
}

// NormalName is a name as the client looks it up: without blanks around it and without
// one leading slash.
func NormalName(name string) string { return normalName(name) }

// rendering is what a listing was made of, to make it again.
type rendering struct {
	c       *catalogue
	process int
	clock   time.Time
}

// rendered keeps what the listing of the event in hand is made of.
func (p *predictor) rendered(s *State, c *catalogue) {
	if p.renderings == nil {
		p.renderings = map[int]rendering{}
	}
	p.renderings[p.event] = rendering{c, s.Process, s.Clock}
}

// Untrimmed is a listing before it was fitted into its budget.
type Untrimmed struct {
	Lines []budget.Line // in listing order
	// Size holds the rules by which they are fitted, and Budget the room that there is,
	// in the unit of Size.Unit; Source says in words where it comes from.
	Size   budget.Size
	Budget int
	Source string
	// Missing names the input without which Budget is a guess, "" if there is none.
	Missing string
	// Uses are the usage counts by which the lines rank, nil where they are not known.
	Uses map[string]UsageCount
	// Unfiled are entries that stand in no file at hand: their text is what the log shows.
	Unfiled map[string]bool
	// NowMS is the moment of the listing, Unix milliseconds.
	NowMS int64
}

// Score is what a count of uses weighs in this listing.
func (u *Untrimmed) Score(c UsageCount) float64 { return score(&u.Size, c, u.NowMS) }

// Untrimmed makes the lines of a predicted listing anew. It reports false for other
// effects, and where no file tells of the listing.
func (c Course) Untrimmed(e *Effect) (*Untrimmed, bool) {
	if c.p == nil || e.Kind != Listing {
		return nil, false
	}
	r, ok := c.p.renderings[e.Cause]
	if !ok || r.c.rules == nil {
		return nil, false
	}
	p := *c.p
	p.rules = r.c.rules
	want := make(map[string]bool, len(e.Entries))
	for i := range e.Entries {
		want[e.Entries[i].Name] = true
	}
	u := p.untrimmed(&State{Process: r.process, Clock: r.clock}, r.c, func(k *skills.Entry) bool { return want[k.Name] })
	return u, len(u.Lines) > 0
}

// untrimmed is the listing of the entries that are wanted.
func (p *predictor) untrimmed(s *State, c *catalogue, want func(*skills.Entry) bool) *Untrimmed {
	u := &Untrimmed{Size: p.rules.Size, NowMS: s.Clock.UnixMilli(), Unfiled: map[string]bool{}}
	u.Budget, u.Source, u.Missing = p.budgetFrom(s)
	if p.in.Usage != nil {
		u.Uses = p.in.Usage.At(s.Clock)
	}
	for i := range c.entries {
		if k := &c.entries[i]; want(k) {
			u.Lines = append(u.Lines, c.line(k, u.Uses, u.NowMS))
			if k.Skill == nil {
				u.Unfiled[k.Name] = true
			}
		}
	}
	return u
}

// score is what the uses of a skill weigh.
func score(s *budget.Size, c UsageCount, nowMS int64) float64 {
	if s.Rank == budget.RankCount {
		return float64(c.Count)
	}
	return budget.Score(c.Count, c.LastUsedMS, nowMS)
}
