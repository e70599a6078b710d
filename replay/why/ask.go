package why

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// Answer is what one session says of a skill.
type Answer struct {
	Subject   Subject
	Questions []Question // main loop first, in the order of each timeline
	Choices   []Choice   // likewise: how often it was chosen at all
}

// Ask walks the chain of a skill for each prompt of a session.
func (s *Session) Ask(name string) *Answer {
	out := &Answer{Subject: s.Resolve(name)}
	for _, a := range s.agents {
		out.Choices = append(out.Choices, a.choices(&out.Subject)...)
	}
	for _, a := range s.agents {
		q := s.query(a, &out.Subject)
		q.choices = out.Choices
		for i := range a.spans {
			if a.spans[i].pseudo && len(q.calls[i])+len(q.loose[i]) == 0 {
				continue // nobody asked anything
			}
			out.Questions = append(out.Questions, q.ask(i))
		}
	}
	return out
}

// query asks one agent's timeline for one skill.
type query struct {
	*Session
	*agent
	sub     *Subject
	names   []string
	byUse   map[string][]int // results, bodies and notes of the skill's calls
	calls   map[int][]int    // attempts, by span
	runs    []carriedRun     // what stood of its text before spans
	located located          // where its file can lie
	before  prior            // what the last span said of the gates up to the listing
	loose   map[int][]int    // bodies without a call, by span
	reads   map[int]int      // by span, the first Read of the skill's file
	hand    map[int]int      // by span, the first use of a file in its folder: a segment
	ran     map[int]*byHand  // by span, the commands of its text that the model ran
	// choices are the prompts for which the model called the skill, of all agents.
	choices []Choice
	// brief: what would bring an entry back is not worked out.
	brief  bool
	nearby []string // names near to one that is known; nil until they are asked for
	touched
}

// touched are the files that were touched up to an event.
type touched struct {
	upto  int // of agent.touches
	seen  map[string]bool
	total int
	last  []string
}

// prior is what holds for all prompts between which nothing changed.
type prior struct {
	ok      bool
	seen    replay.Seen
	skill   *skills.Status
	list    int    // changes of the skill by then
	version string // of the client
	writes  int    // of skill files by then
	steps   []Step
}

func (s *Session) query(a *agent, sub *Subject) *query {
	q := &query{Session: s, agent: a, sub: sub, names: sub.called(), byUse: map[string][]int{}, calls: map[int][]int{}, loose: map[int][]int{}, reads: map[int]int{}, hand: map[int]int{}, ran: map[int]*byHand{}}
	uses := map[string]bool{}
	for _, n := range q.names {
		for _, t := range a.attempts[n] {
			at := a.summary.Attempts[t].Event
			if span := a.owner[at]; span >= 0 {
				q.calls[span] = append(q.calls[span], t)
			}
			if use := a.Agent.Events[at].ToolUse; use != "" {
				uses[use] = true
			}
		}
	}
	for use := range uses {
		if list := a.byUse[use]; list != nil {
			q.byUse[use] = list
		}
	}
	q.carry()
	q.findReads()
	q.findByHand()
	return q
}

// choices are the prompts of an agent for which the model called a skill, each once.
func (a *agent) choices(sub *Subject) []Choice {
	at := map[int]replay.Where{}
	for _, name := range sub.called() {
		for _, t := range a.attempts[name] {
			x := &a.summary.Attempts[t]
			n := a.owner[x.Event]
			if x.By != replay.ByModel || x.Outcome != replay.OutcomeInvoked || x.Abandoned || n < 0 {
				continue
			}
			if w, ok := at[n]; !ok || x.Where.Line < w.Line {
				at[n] = x.Where
			}
		}
	}
	var out []Choice
	for _, n := range slices.Sorted(maps.Keys(at)) {
		out = append(out, Choice{Agent: a.Agent.ID, Prompt: a.spans[n].Prompt, Command: a.spans[n].Command, Where: at[n]})
	}
	return out
}

func (q *query) event(i int) *replay.Event { return &q.agent.Agent.Events[i] }

// ask is one question.
func (q *query) ask(n int) Question {
	sp := &q.spans[n]
	e := q.event(sp.Event)
	out := Question{Agent: q.agent.Agent.ID, Prompt: sp.Prompt, Command: sp.Command, Where: sp.Where, Abandoned: sp.Abandoned,
		Version: q.version(n), Shown: sp.Skills.Of(q.sub.Name), Predicted: sp.Predicted, agent: q.agent, span: n}
	switch e.Kind {
	case replay.NoCommand:
		out.Text = "/" + e.Skill
	case replay.Prompt, replay.Slash:
		out.Text = e.Text
		if e.Kind == replay.Slash && !e.Forked {
			out.Text = strings.TrimSpace("/" + e.Skill + " " + e.Args)
			if e.Input != "" {
				out.Text = e.Input
			}
		}
	}
	out.Steps = make([]Step, 0, len(Gates))
	out.Steps = append(out.Steps, q.gates(n)...)
	out.Steps = append(out.Steps, q.asked(n, &out))
	out.Steps = append(out.Steps, q.used(n)...)
	q.settle(&out, n)
	return out
}

// gates are the six gates before the prompt. They hold until something changes.
func (q *query) gates(n int) []Step {
	sp := &q.spans[n]
	m, ok := q.momentAt(n)
	var first *skills.Status
	if ok && m.Missing() == "" && len(m.Skills()) > 0 {
		first = &m.Skills()[0]
	}
	changes := q.changed(q.end(n))
	p := &q.before
	if ok && p.ok && p.skill == first && p.list == changes && p.version == q.version(n) && p.writes == q.written(n) && q.unheard == nil && p.seen.Same(sp.Skills) && len(q.calls[n]) == 0 && !sp.Abandoned {
		return append([]Step(nil), p.steps...)
	}
	c := &chain{query: q, n: n, sp: sp}
	if ok {
		c.m, c.known = &m, m.Missing() == ""
	}
	steps := c.walk()
	*p = prior{ok: ok && len(q.calls[n]) == 0 && !c.within && !sp.Abandoned, seen: sp.Skills, skill: first, list: changes, version: q.version(n), writes: q.written(n), steps: append([]Step(nil), steps...)}
	return steps
}

// end is the event behind the last that belongs to a span.
func (q *query) end(n int) int { return q.spans[n].end }

// changed is the number of changes of the skill before an event.
func (q *query) changed(event int) int {
	list := q.changes[q.sub.Name]
	return sort.Search(len(list), func(i int) bool { return q.Changes[list[i]].Event >= event })
}

// chain walks the gates up to the prompt, at one span.
type chain struct {
	*query
	n     int
	sp    *span
	m     *replay.Moment // nil where nothing is known
	known bool           // the skill files are
	// st is the file that stands for the name, and all the files of that name.
	st      *skills.Status
	all     []*skills.Status
	listing int  // the event that brought the entry, -1 if none did
	within  bool // it came in the middle of the turn
	lost    int  // the change that took it away, -1
	steps   []Step
}

func (c *chain) walk() []Step {
	c.find()
	c.exists()
	c.loaded()
	c.eligible()
	c.announced()
	c.described()
	c.present()
	return c.steps
}

func (c *chain) add(s Step) *Step {
	c.steps = append(c.steps, s)
	return &c.steps[len(c.steps)-1]
}

// state is what an earlier gate of the chain said.
func (c *chain) state(g Gate) State { return c.step(g).State }

// step is an earlier gate of the chain, one that was not reached if it is none.
func (c *chain) step(g Gate) *Step {
	for i := range c.steps {
		if c.steps[i].Gate == g {
			return &c.steps[i]
		}
	}
	return &Step{Gate: g, State: NotReached}
}

// stops is the gate before which nothing more can be said, "" if there is none.
func (c *chain) stops() Gate {
	for _, g := range []Gate{Exists, Loaded, Eligible, Announced} {
		if c.state(g) == Failed {
			return g
		}
	}
	return ""
}

// find looks up what the moment knows of the skill.
func (c *chain) find() {
	c.listing, c.lost = -1, -1
	if c.known {
		c.all = c.statuses(c.m, c.sub.Name)
		for _, st := range c.all {
			if c.st == nil || st.Reason == skills.Listed && c.st.Reason != skills.Listed {
				c.st = st
			}
		}
		if c.st == nil {
			// A name by which it can be called only.
			if st := c.m.Called(c.sub.Name); st != nil {
				c.st, c.all = st, []*skills.Status{st}
			}
		}
	}
	if at, ok := c.sp.Skills.From(c.sub.Name); ok {
		c.listing = at
		return
	}
	list := c.changes[c.sub.Name]
	answered := c.changed(c.sp.Answer)
	for n := answered - 1; n >= 0; n-- {
		ch := &c.Changes[list[n]]
		if ch.Shown != replay.ShownAbsent {
			c.listing = ch.Event
			break
		}
		c.lost = list[n]
	}
	if c.listing < 0 {
		c.lost = -1
	}
	for _, i := range list[answered:max(answered, c.changed(c.end(c.n)))] {
		if ch := &c.Changes[i]; ch.Shown != replay.ShownAbsent && !c.sp.Abandoned {
			c.listing, c.within, c.lost = ch.Event, true, -1
			return
		}
	}
}

// toldOf reports whether the log shows that the model was told of the skill by the time
// of the prompt, or in its turn.
func (c *chain) toldOf() bool { return c.listing >= 0 && !c.sp.Predicted }

// entry is the recorded line of the skill, and the record that holds it.
func (c *chain) entry(event int) (where replay.Where, line skills.ListedLine) {
	return c.event(event).Where, c.lines(event)[c.sub.Name]
}

// before is a record before the prompt by which the client knew the skill: a listing
// of any agent, or a call that succeeded.
func (c *chain) before() (replay.Where, bool) {
	prior := func(w replay.Where, event int, g *agent) bool {
		if g == c.agent {
			return event < c.sp.Answer
		}
		return !w.Time.After(c.sp.Where.Time)
	}
	for _, g := range c.agents {
		for _, i := range g.changes[c.sub.Name] {
			if ch := &g.Changes[i]; ch.Shown != replay.ShownAbsent && g.Agent.Events[ch.Event].Kind == replay.Listing && prior(ch.Where, ch.Event, g) {
				return ch.Where, true
			}
		}
		for _, name := range c.names {
			for _, t := range g.attempts[name] {
				if a := &g.summary.Attempts[t]; a.Outcome == replay.OutcomeInvoked && prior(a.Where, a.Event, g) {
					return a.Where, true
				}
			}
		}
	}
	return replay.Where{}, false
}

// later is the first listing behind the prompt that names the skill.
func (c *chain) later() (where replay.Where, ok bool) {
	list := c.changes[c.sub.Name]
	for _, i := range list[c.changed(c.sp.Event):] {
		if ch := &c.Changes[i]; ch.Shown != replay.ShownAbsent {
			return ch.Where, true
		}
	}
	return replay.Where{}, false
}

// refused is the refusal of a call in this span, nil if there is none.
func (c *query) refused(n int) *replay.Event {
	for _, t := range c.calls[n] {
		call := c.event(c.summary.Attempts[t].Event)
		if call.Kind == replay.NoCommand {
			return call
		}
		for _, i := range c.byUse[call.ToolUse] {
			if e := c.event(i); e.Kind == replay.Refusal && !e.Rejected {
				return e
			}
		}
	}
	return nil
}

func plainError(text string) string {
	return strings.TrimSuffix(strings.TrimPrefix(text, rules.ErrorOpen), rules.ErrorClose)
}

// The refusals that tell of the skill rather than of the call.
func unknownSkill(e *replay.Event) bool {
	return e != nil && (e.Kind == replay.NoCommand || strings.Contains(e.Text, rules.UnknownSkill))
}
func manualOnly(e *replay.Event) bool {
	return e != nil && (strings.Contains(e.Text, "disable-model-invocation") || strings.Contains(e.Text, rules.NotInvocable))
}
func turnedOff(e *replay.Event) bool {
	return e != nil && strings.Contains(e.Text, rules.OverriddenSkill)
}

// file is what is known of a file. One that holds what the agent wrote by the time of
// the prompt is the session's own.
func (c *chain) file(path string) File {
	f := c.files[path]
	if !f.Text.holds() && c.st != nil && c.st.Skill.Path == path && c.wrote(c.n, path, c.st.Skill.Text) != nil {
		return File{}
	}
	return f
}

// edited reports whether the file that stands for the skill is known to be another than
// the session saw.
func (c *chain) edited() bool {
	return c.st != nil && c.file(c.st.Skill.Path).Text == FileEdited
}

// asNow leaves a failure open that rests on a file which may have been another when the
// session ran.
func (c *chain) asNow(s *Step, path string) {
	if f := c.file(path); s.State == Failed && !f.Text.holds() {
		c.leaveOpen(s, f.doubt())
	}
}

// leaveOpen makes a failure undetermined: what is now may not have been then.
func (c *chain) leaveOpen(s *Step, doubt string) {
	s.State, s.Missing = Undetermined, missingThen
	s.Reason = doubt + "; as it is now: " + s.Reason
	s.Advice = append([]string{giveThen}, s.Advice...)
}

// named reports whether the log names the skill, other than as one that the client does
// not know.
func (c *chain) named() bool {
	t, refusal := c.Session.names[c.sub.Name], c.refused(c.n)
	return c.toldOf() || c.lost >= 0 || t != nil && t.where.Line > 0 || manualOnly(refusal) || turnedOff(refusal)
}

// listedEver is the first record of any agent that lists the skill.
func (c *chain) listedEver() (replay.Where, bool) {
	for _, g := range c.agents {
		for _, i := range g.changes[c.sub.Name] {
			if ch := &g.Changes[i]; ch.Shown != replay.ShownAbsent && g.Agent.Events[ch.Event].Kind == replay.Listing {
				return ch.Where, true
			}
		}
	}
	return replay.Where{}, false
}

// The inputs that files of now do not tell.
const (
	missingThen = "the skill files as they were"
	cameWhen    = "when its file came"
)

// giveThen is how to give the files of then.
const giveThen = "give the skill files as they were: --skills-at session where git has them, or --skills DIR with a copy of then"

func (c *chain) exists() {
	refusal := c.refused(c.n)
	t := c.Session.names[c.sub.Name]
	p, like := c.Session.problems[c.sub.Name]
	open := func(path string) {
		c.add(Step{Gate: Exists, State: Undetermined, Missing: missingThen, Reason: c.file(path).doubt(), Where: replay.Where{File: path}, Advice: []string{giveThen}})
	}
	switch {
	case c.st != nil && c.file(c.st.Skill.Path).After && !c.named() && !unknownSkill(refusal):
		open(c.st.Skill.Path)
	case c.st != nil && !(c.file(c.st.Skill.Path).After && !c.named()):
		s := c.add(Step{Gate: Exists, State: Passed, Reason: c.st.Skill.Path, Where: replay.Where{File: c.st.Skill.Path}})
		if unknownSkill(refusal) {
			s.Notes = append(s.Notes, fmt.Sprintf("the client did not know it at line %d", refusal.Where.Line))
		}
	case c.st == nil && like && c.files[p.Path].After && !c.named() && !unknownSkill(refusal):
		open(p.Path)
	case c.st == nil && like && c.listing < 0 && !(c.files[p.Path].After && !c.named()):
		c.add(Step{Gate: Exists, State: Passed, Reason: p.Path, Where: replay.Where{File: p.Path}})
	case c.toldOf() || c.lost >= 0:
		where, line := c.entry(max(c.listing, 0))
		c.add(Step{Gate: Exists, State: Passed, Reason: fmt.Sprintf("listed at line %d", where.Line), Where: where, Text: line.Raw})
	case unknownSkill(refusal):
		s := c.add(Step{Gate: Exists, State: Failed, Reason: fmt.Sprintf("the client knew no skill of that name (line %d)", refusal.Where.Line), Where: refusal.Where, Text: plainError(refusal.Text)})
		c.suggest(s)
	case refusal != nil && (manualOnly(refusal) || turnedOff(refusal)):
		c.add(Step{Gate: Exists, State: Passed, Reason: fmt.Sprintf("the client knew it at line %d", refusal.Where.Line), Where: refusal.Where, Text: plainError(refusal.Text)})
	case t != nil && t.where.Line > 0:
		c.add(Step{Gate: Exists, State: Passed, Reason: fmt.Sprintf("the log names it at line %d", t.where.Line), Where: t.where})
	case t != nil && t.hidden && c.wrote(c.n, t.file, "") != nil:
		e := c.wrote(c.n, t.file, "")
		c.add(Step{Gate: Exists, State: Passed, Reason: fmt.Sprintf("the session wrote it (line %d)", e.Where.Line), Where: e.Where})
	case t != nil && t.hidden:
		open(t.file)
	case t != nil && t.file != "":
		c.add(Step{Gate: Exists, State: Failed, Reason: "its file was not there yet", Where: replay.Where{File: t.file}})
	case c.known:
		s := c.add(Step{Gate: Exists, State: Failed, Reason: "no skill file has that name, and the log does not name it"})
		c.suggest(s)
	default:
		s := c.add(Step{Gate: Exists, State: Undetermined, Missing: "skill files", Reason: "the log does not name it, and no skill files are at hand"})
		c.suggest(s)
		s.Advice = append(s.Advice, "give the skill files with --skills DIR")
	}
}

// suggest adds near names.
func (c *chain) suggest(s *Step) {
	if c.brief {
		return
	}
	others := c.sub.Near
	if c.sub.Known {
		if c.nearby == nil {
			c.nearby = []string{}
			for _, n := range near(c.sub.Name, c.Names(), nil) {
				if n != c.sub.Name {
					c.nearby = append(c.nearby, n)
				}
			}
		}
		others = c.nearby
	}
	if len(others) > 0 {
		s.Notes = append(s.Notes, "did you mean "+strings.Join(others, " or ")+"?")
		s.Advice = append(s.Advice, "call it "+others[0])
	}
}

// misplaced says why a file that looks like a skill is none, and what to do.
func misplaced(p skills.Problem) (reason, advice string) {
	folder := p.Path[:strings.LastIndexByte(p.Path, '/')+1]
	reason = p.Words()
	switch p.Kind {
	case skills.LooseFile:
		return reason, "move it to " + folder + p.Name + "/SKILL.md"
	case skills.TwoDeep:
		return reason, "move the folder up, beside the other skill folders"
	case skills.WrongCase:
		return reason, "rename it to SKILL.md"
	case skills.NoSkillFile:
		return reason, "write " + p.Path + "/SKILL.md"
	case skills.BrokenLink:
		return reason, "mend the link, or put the folder itself there"
	case skills.Unreadable:
		return strings.TrimSpace(reason + " " + p.Detail), "make it readable"
	case skills.NotSearched, skills.WrongFolder:
		return reason, "move it to ~/.claude/skills or to .claude/skills of the folder in which the client is started"
	case skills.NoPluginName:
		return reason, "write the manifest"
	}
	return reason, ""
}

func (c *chain) loaded() {
	t := c.Session.names[c.sub.Name]
	p, like := c.Session.problems[c.sub.Name]
	switch {
	case c.state(Exists) == Failed || c.state(Exists) == Undetermined && c.st == nil && !like:
		s := Step{Gate: Loaded, State: NotReached}
		if exists := &c.steps[0]; exists.State == Undetermined {
			s = Step{Gate: Loaded, State: Undetermined, Missing: exists.Missing, Reason: exists.Reason}
			if !c.known {
				s.Reason = "no skill files are at hand"
			}
		}
		c.add(s)
		return
	case c.st == nil && like && c.listing < 0:
		reason, advice := misplaced(p)
		s := c.add(Step{Gate: Loaded, State: Failed, Reason: reason, Where: replay.Where{File: p.Path}, Text: p.Path, Advice: []string{advice}})
		c.asNow(s, p.Path)
		return
	case c.st == nil && c.state(Exists) == Passed && (c.toldOf() || c.lost >= 0):
		c.add(Step{Gate: Loaded, State: Passed, Reason: "the client listed it"})
		return
	case c.st == nil && c.refused(c.n) != nil && !unknownSkill(c.refused(c.n)):
		c.add(Step{Gate: Loaded, State: Passed, Reason: "the client knew it"})
		return
	case c.st == nil:
		if at, ok := c.before(); ok {
			c.add(Step{Gate: Loaded, State: Passed, Reason: fmt.Sprintf("the client knew it at line %d", at.Line), Where: at})
		} else if c.known && t != nil && t.file != "" {
			c.add(Step{Gate: Loaded, State: Undetermined, Missing: cameWhen, Reason: "its file, or the client's view of it, came later"})
		} else if c.known {
			c.add(Step{Gate: Loaded, State: Undetermined, Missing: missingThen, Reason: "no file read now has this name"})
		} else {
			c.add(Step{Gate: Loaded, State: Undetermined, Missing: "skill files", Reason: "no skill files are at hand"})
		}
		return
	}
	k := c.st.Skill
	s := Step{Gate: Loaded, State: Passed, Reason: "read", Where: replay.Where{File: k.Path, Line: 1}}
	switch c.st.Reason {
	case skills.SameFile:
		s.State, s.Reason = Failed, "it is the same file as "+c.st.Detail+", which the client found first: one of them counts"
		s.Advice = append(s.Advice, "call it by the name of the other, or make it a file of its own")
	case skills.SameName, skills.NestedShadowed:
		s.State, s.Reason = Failed, "another skill of that name wins: "+c.st.Detail
		s.Advice = append(s.Advice, "give one of the two another name")
	case skills.CommandsUnseen:
		s.State, s.Reason = Failed, "this client version does not list commands for the Skill tool"
		s.Advice = append(s.Advice, "make it a folder with a SKILL.md")
	}
	if s.State == Failed && c.toldOf() {
		s.State, s.Reason = Passed, "listed; by the files read now another one would win: "+c.st.Detail
	}
	lost := s.State == Failed // to another file
	c.asNow(&s, k.Path)
	if c.st.Reason != skills.CommandsUnseen {
		c.asNow(&s, c.st.Detail)
	}
	for _, st := range c.all {
		if st == c.st || lost {
			continue
		}
		switch st.Reason {
		case skills.Listed:
			s.Notes = append(s.Notes, "another file of this name is listed too, and both count as one here: "+st.Skill.Path)
		case skills.SameName, skills.NestedShadowed, skills.SameFile:
			s.Notes = append(s.Notes, "another file of this name lost to it: "+st.Skill.Path)
		}
	}
	c.front(&s)
	if !lost {
		c.wording(&s)
	}
	c.ifThere(&s)
	c.add(s)
}

// ifThere leaves open what holds only if the file was there.
func (c *chain) ifThere(s *Step) {
	if c.state(Exists) == Undetermined && s.State == Passed {
		s.State, s.Missing = Undetermined, missingThen
		s.Reason = strings.TrimSuffix(c.step(Exists).Reason+"; as it is now: "+s.Reason, "; as it is now: ")
	}
}

// front says what the client makes of the front matter.
func (c *chain) front(s *Step) {
	k := c.st.Skill
	fatal := false
	for _, f := range c.findings(k, c.m.Options().Dialect) {
		line := replay.Where{File: k.Path, Line: f.Line}
		if ruins(f) && !fatal && s.State == Passed {
			fatal = true
			s.Where, s.Text = line, fileLine(k.Text, f.Line)
			s.Reason = fmt.Sprintf("front matter, line %d: %s", f.Line, f.Text)
			s.State = Failed
			s.Advice = append(s.Advice, mend(f))
			continue
		}
		s.Notes = append(s.Notes, fmt.Sprintf("front matter, line %d: %s", f.Line, f.Text))
	}
	if !fatal {
		return
	}
	if f := c.file(k.Path); c.toldOf() && !f.Described.holds() {
		s.Notes = append(s.Notes, f.doubt()+"; as it is now: "+s.Reason)
		s.State, s.Reason, s.Advice, s.Text = Passed, "the client listed it", nil, ""
		s.Where = replay.Where{File: k.Path, Line: 1}
		return
	}
	if !c.toldOf() {
		c.asNow(s, k.Path)
		return
	}
	if c.listing >= 0 && c.toldOf() {
		if _, line := c.entry(c.listing); !line.Bare {
			s.Notes = append(s.Notes, fmt.Sprintf("listed as “%s” (line %d)", line.Text, c.event(c.listing).Where.Line))
		}
	}
}

// ruins reports whether a finding costs the skill its description or its flags.
func ruins(f frontmatter.Finding) bool {
	switch f.Kind {
	case frontmatter.FindInvalid, frontmatter.FindContinued, frontmatter.FindCRLF, frontmatter.FindLeading, frontmatter.FindUnclosed:
		return true
	case frontmatter.FindBOM:
		return strings.Contains(f.Text, "does not know it")
	case frontmatter.FindIndicator, frontmatter.FindIgnored:
		return f.Key == "description" || f.Key == "when_to_use"
	case frontmatter.FindComment:
		return f.Key == "description" && strings.Contains(f.Text, "the value is empty")
	}
	return false
}

// mend says what to do about a finding.
func mend(f frontmatter.Finding) string {
	switch f.Kind {
	case frontmatter.FindContinued:
		return "indent the line, or put the value on one line in quotes"
	case frontmatter.FindCRLF:
		return "save the file with LF line ends, or put the value in quotes"
	case frontmatter.FindLeading:
		return "make --- the first line of the file"
	case frontmatter.FindUnclosed:
		return "close the block with a line ---"
	case frontmatter.FindBOM:
		return "save the file without a byte order mark"
	case frontmatter.FindIndicator, frontmatter.FindIgnored, frontmatter.FindComment:
		return "write the value on one line, in quotes"
	}
	return "put the value in quotes"
}

// fileLine is a line of a text, from 1.
func fileLine(text string, n int) string {
	for line := range strings.SplitSeq(text, "\n") {
		if n--; n == 0 {
			return strings.TrimSuffix(line, "\r")
		}
	}
	return ""
}

// keyLine is where a key of the front matter stands.
func keyLine(k *skills.Skill, key string) (replay.Where, string) {
	for _, f := range k.Front.Fields {
		if f.Key == key && f.Line > 0 {
			return replay.Where{File: k.Path, Line: f.Line}, fileLine(k.Text, f.Line)
		}
	}
	return replay.Where{File: k.Path}, ""
}

func (c *chain) eligible() {
	refusal := c.refused(c.n)
	s := Step{Gate: Eligible, State: Passed}
	switch {
	case manualOnly(refusal):
		s = Step{Gate: Eligible, State: Failed, Reason: fmt.Sprintf("only the user may call it: disable-model-invocation (line %d)", refusal.Where.Line), Where: refusal.Where, Text: plainError(refusal.Text)}
		s.Advice = []string{"type /" + c.sub.Name + ", or take disable-model-invocation out of its front matter"}
	case turnedOff(refusal):
		s = Step{Gate: Eligible, State: Failed, Reason: fmt.Sprintf("skillOverrides turns it off for the model (line %d)", refusal.Where.Line), Where: refusal.Where, Text: plainError(refusal.Text)}
		s.Advice = []string{"take it out of skillOverrides in the settings, or set it to on"}
	case c.state(Exists) == Failed || c.state(Loaded) == Failed && !c.toldOf() && c.lost < 0 && !c.frontFailed():
		s.State = NotReached
	case c.toldOf() || c.lost >= 0:
		s.Reason = "the client listed it"
		if c.st != nil && c.st.Reason != skills.Listed && c.lost < 0 {
			s.Notes = append(s.Notes, "by the files and settings read now it would not be listed: "+reasonWords(c.st))
		}
		c.arrival(&s)
	case c.st == nil && c.state(Loaded) == Passed:
		// What it was then it may not be now, but nothing says so.
		loaded := c.steps[len(c.steps)-1]
		s.Reason, s.Where = loaded.Reason, loaded.Where
	case c.st == nil && c.known && c.state(Loaded) == Undetermined:
		loaded := c.steps[len(c.steps)-1]
		s.State, s.Missing, s.Reason = Undetermined, loaded.Missing, loaded.Reason
	case c.st == nil && c.known:
		s.State, s.Missing, s.Reason = Undetermined, missingThen, "no file read now has this name"
	case c.st == nil:
		s.State, s.Missing, s.Reason = Undetermined, "skill files", "no skill files are at hand"
	default:
		c.judged(&s)
	}
	c.permitted(&s)
	if c.st != nil {
		c.ifThere(&s)
	}
	c.add(s)
}

// frontFailed reports whether the loaded gate failed for its front matter only: the
// skill is there all the same.
func (c *chain) frontFailed() bool {
	return c.st != nil && c.state(Loaded) == Failed && c.st.Reason != skills.SameFile && c.st.Reason != skills.SameName && c.st.Reason != skills.NestedShadowed && c.st.Reason != skills.CommandsUnseen
}

func reasonWords(st *skills.Status) string {
	switch st.Reason {
	case skills.Disabled:
		return "disable-model-invocation"
	case skills.Overridden:
		return "skillOverrides says " + st.Detail
	case skills.HeldBack:
		return "held back until a file that matches " + st.Detail + " is touched"
	case skills.Undescribed:
		return "it has no description"
	case skills.AngleName:
		return "its name holds < or >"
	case skills.SkillToolDenied:
		return "permissions deny the tool Skill"
	case skills.SameFile, skills.SameName, skills.NestedShadowed:
		return "another file counts: " + st.Detail
	}
	return string(st.Reason)
}

// judged says why a skill is kept from the model, by its file and the settings.
func (c *chain) judged(s *Step) {
	k := c.st.Skill
	s.State = Failed
	s.Reason = reasonWords(c.st)
	switch c.st.Reason {
	case skills.Disabled:
		s.Where, s.Text = keyLine(k, "disable-model-invocation")
		s.Reason = "only the user may call it: disable-model-invocation"
		s.Advice = append(s.Advice, "type /"+c.sub.Name+", or take disable-model-invocation out of its front matter")
	case skills.Overridden:
		s.Advice = append(s.Advice, "take it out of skillOverrides in the settings, or set it to on")
	case skills.HeldBack:
		s.Where, s.Text = keyLine(k, "paths")
		c.heldBack(s)
	case skills.Undescribed:
		s.Where = replay.Where{File: k.Path, Line: 1}
		s.Reason = "it has no description, and this client lists only skills that have one"
		s.Advice = append(s.Advice, "write a description into its front matter")
	case skills.AngleName:
		s.Advice = append(s.Advice, "rename the folder")
	default:
		s.State, s.Reason = Passed, ""
		return
	}
	if c.st.Reason == skills.Overridden {
		return
	}
	c.asNow(s, k.Path)
	if at, ok := c.listedEver(); ok && s.State == Failed && c.st.Reason != skills.HeldBack && c.file(k.Path).Text != "" {
		c.leaveOpen(s, fmt.Sprintf("it was listed at line %d; its file may have been another", at.Line))
	}
}

// heldBack says which files were touched, and by which tools, while the skill waited for
// one that matches.
func (c *chain) heldBack(s *Step) {
	const most = 3
	t := &c.query.touched
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	for end := c.end(c.n); t.upto < len(c.touches) && c.touches[t.upto] < end; t.upto++ {
		e := c.event(c.touches[t.upto])
		if e.Abandoned || t.seen[e.Tool+e.Path] {
			continue
		}
		t.seen[e.Tool+e.Path] = true
		t.total++
		t.last = append(t.last, fmt.Sprintf("%s %s (line %d)", e.Tool, e.Path, e.Where.Line))
		t.last = t.last[max(len(t.last)-most, 0):]
	}
	s.Reason = "held back until a file that matches " + c.st.Detail + " is read, written or edited; "
	switch {
	case t.total == 0:
		s.Reason += "no file was touched by then"
	case t.total <= most:
		s.Reason += "touched by then: " + strings.Join(t.last, ", ")
	default:
		s.Reason += fmt.Sprintf("of %d files touched by then none does, the last: %s", t.total, strings.Join(t.last, ", "))
	}
	s.Advice = append(s.Advice, "take paths out of its front matter, or add patterns for the files that you work on")
}

// arrival notes which touched file brought a skill in.
func (c *chain) arrival(s *Step) {
	if !c.within || c.event(c.listing).Kind != replay.Listing {
		return
	}
	if j := sort.SearchInts(c.touches, c.listing) - 1; j >= 0 && c.touches[j] > c.sp.Event {
		e := c.event(c.touches[j])
		s.Notes = append(s.Notes, fmt.Sprintf("it came in during the turn, behind %s %s (line %d)", e.Tool, e.Path, e.Where.Line))
	}
}

// permitted looks for a permission rule that refuses calls of the skill.
func (c *chain) permitted(s *Step) {
	if s.State != Passed || c.m == nil || c.m.Process() == nil {
		return
	}
	for _, d := range c.m.Process().Settings.Deny {
		rule, ok := strings.CutPrefix(d, "Skill(")
		rule, ok2 := strings.CutSuffix(rule, ")")
		if !ok || !ok2 {
			continue
		}
		name := strings.TrimSuffix(rule, ":*")
		if name == c.sub.Name || name != rule && strings.HasPrefix(c.sub.Name, name) {
			s.State, s.Reason = Failed, "permissions deny "+d+": it is listed, and calls of it are refused"
			s.Advice = append(s.Advice, "take "+d+" out of permissions.deny in the settings")
			return
		}
	}
}

func (c *chain) rules() *rules.Rules {
	if c.m == nil {
		return nil
	}
	return c.m.Rules()
}

// logged reports whether the client of this prompt writes listings to the log.
func (c *chain) logged() bool { return c.logs(c.n) }

func (c *chain) announced() {
	s := Step{Gate: Announced, State: Failed}
	switch {
	case c.listing >= 0 && c.event(c.listing).Kind == replay.Listing:
		where, line := c.entry(c.listing)
		s.State, s.Where, s.Text = Passed, where, line.Raw
		s.Reason = fmt.Sprintf("line %d", where.Line)
		if c.within {
			s.Reason += ", in the middle of the turn"
		}
	case c.listing >= 0:
		where := c.event(c.listing).Where
		s.State, s.Where = Passed, where
		s.Reason = fmt.Sprintf("by the rules, with line %d: this client writes no listing to the log", where.Line)
		if c.state(Exists) == Undetermined {
			s.State, s.Missing = Undetermined, missingThen
			s.Reason += "; if its file was there"
		}
	case c.stops() != "" && !c.frontFailed() || c.stops() == Eligible:
		s.State, s.Reason = NotReached, "not listed"
	case c.state(Exists) == Undetermined:
		s.State = NotReached
		if c.logged() {
			s.Reason = "not listed"
		}
	default:
		c.silence(&s)
	}
	c.add(s)
}

// silence says why no listing told of the skill.
func (c *chain) silence(s *Step) {
	r := c.rules()
	later, ever := c.later()
	last := -1
	for j := sort.SearchInts(c.listings, c.sp.Answer) - 1; j >= 0 && last < 0; j-- {
		if i := c.listings[j]; !c.event(i).Abandoned || c.sp.Abandoned {
			last = i
		}
	}
	main := c.agent.Agent.ID == "main"
	denied := c.m != nil && c.m.Process() != nil && !c.m.Listed() && main
	switch {
	case denied:
		s.Reason = "permissions deny the tool Skill: nothing is listed"
		s.Advice = append(s.Advice, "take Skill out of permissions.deny in the settings")
	case c.m != nil && c.m.NoTool():
		s.Reason = "this agent has no Skill tool"
		s.Advice = append(s.Advice, "give the agent the tool Skill in its definition, or preload the skill there with skills:")
	case last < 0 && !main && r != nil && r.Agents.SubagentListing == rules.SubagentNone:
		s.Reason = "subagents of this client version are sent no listing"
		s.Advice = append(s.Advice, "name the skill in the agent's task, or preload it in the agent's definition with skills:")
	case last < 0 && !main && r != nil && r.Agents.SubagentListing == rules.SubagentLater:
		s.State, s.Missing = Undetermined, "the listing"
		s.Reason = "this client sends subagents their listing with a later request, and writes it to no log"
	case last < 0 && c.known && c.st != nil && r != nil && !c.logged() && c.cut(s):
	case last < 0 && !c.logged():
		s.State, s.Missing, s.Reason = Undetermined, "the listing", "this client writes no listing to the log, and the rules derive none from the files at hand"
		if !c.known {
			s.Missing, s.Reason = "skill files", "this client writes no listing to the log; it follows from the skill files"
			s.Advice = append(s.Advice, "give the skill files with --skills DIR")
		}
	case c.untold(-1) != "":
		s.State, s.Missing, s.Reason = Undetermined, "the listing", c.untold(-1)
		if last >= 0 {
			s.Where = c.event(last).Where
			s.Reason = fmt.Sprintf("not in the listing of line %d, and %s", s.Where.Line, s.Reason)
		}
	case last < 0 && ever:
		s.Reason, s.Where = fmt.Sprintf("first listed at line %d, behind this prompt", later.Line), later
	case last < 0:
		s.Reason = "no listing was sent to this agent before the prompt"
	case c.cut(s):
	case ever:
		s.Where = later
		s.Reason = fmt.Sprintf("not in the listing of line %d; first listed at line %d, behind this prompt", c.event(last).Where.Line, later.Line)
		c.resumed(s, last)
	default:
		s.Where = c.event(last).Where
		s.Reason = fmt.Sprintf("not in the listing of line %d, nor in any before the prompt", s.Where.Line)
		switch {
		case !c.sub.Known || c.st == nil || c.st.Reason != skills.Listed || c.edited():
		case c.st.Activated > 0:
			s.Reason += ": a touched file has brought it in, and the client has not told of it yet"
		case c.file(c.st.Skill.Path).Late:
			s.Reason += "; " + c.file(c.st.Skill.Path).doubt()
		default:
			s.Reason += ", though by the files read now it would be"
		}
		for _, g := range []Gate{Eligible, Loaded} {
			if open := c.step(g); open.State == Undetermined && len(open.Advice) > 0 {
				s.Reason += "; " + open.Reason // what may have been why
				s.Advice = append(s.Advice, open.Advice...)
				break
			}
		}
		c.resumed(s, last)
		if !c.sub.Known {
			c.suggest(s)
		}
	}
	if s.Text == "" && s.Where.Line > 0 && ever && s.Where == later {
		for _, i := range c.listings[sort.SearchInts(c.listings, c.sp.Event):] {
			if c.event(i).Where == later {
				s.Text = c.lines(i)[c.sub.Name].Raw
				break
			}
		}
	}
}

// resumed says that a process which took the conversation up sends no listing again.
func (c *chain) resumed(s *Step, last int) {
	if j := sort.SearchInts(c.resumes, c.sp.Event) - 1; j >= 0 && c.resumes[j] > last {
		s.Notes = append(s.Notes, "the conversation was resumed behind that listing, and the new process has not told of it yet")
		s.Advice = append(s.Advice, "begin a new session, or type /"+c.sub.Name)
		return
	}
	if len(s.Advice) == 0 && c.sub.Known {
		s.Advice = append(s.Advice, "type /"+c.sub.Name+"; a new session lists it from the start")
	}
}

// cut says that a listing left the entry out for want of room.
func (c *chain) cut(s *Step) bool {
	eff, u := c.untrimmed()
	if u == nil || u.Size.Overflow != budget.OverflowCut {
		return false
	}
	if l := &eff.Entries[c.predictedEntries(eff)[c.sub.Name]]; l.Shown != replay.ShownAbsent {
		return false
	}
	s.Reason = "cut off the end of the listing: "
	c.room(s, u)
	return true
}

func (c *chain) described() {
	s := Step{Gate: Described}
	if st := c.state(Announced); st != Passed {
		s.State = NotReached
		c.add(s)
		return
	}
	shown := c.shownNow()
	at := c.event(c.listing)
	full := ""
	if c.known {
		full = c.fullTexts(c.m.Entries())[c.sub.Name]
	}
	line, shownText := skills.ListedLine{}, ""
	if at.Kind == replay.Listing {
		s.Where, line = c.entry(c.listing)
		s.Text = line.Raw
		shownText = line.Text
	} else {
		s.Where = at.Where
	}
	switch shown {
	case replay.ShownFull:
		s.State, s.Reason = Passed, "in full"
		if n := budget.Len16(shownText); n > 0 {
			s.Reason = fmt.Sprintf("in full, %s", budget.Characters(n))
		}
	case replay.ShownShortened:
		s.State = Failed
		n := budget.Len16(strings.TrimSuffix(shownText, "…"))
		switch m := budget.Len16(full); {
		case n > 0 && m > n && !c.edited():
			s.Reason = fmt.Sprintf("shortened to %s of %s characters", budget.Grouped(n), budget.Grouped(m))
		case n > 0:
			s.Reason = fmt.Sprintf("shortened to %s", budget.Characters(n))
		default:
			s.Reason = "shortened"
		}
		c.why(&s, full)
	case replay.ShownNameOnly:
		s.State = Failed
		s.Reason = nameOnly
		c.why(&s, full)
	default:
		s.State, s.Missing, s.Reason = Undetermined, "the listing", "how it stood in the listing is not known"
	}
	c.add(s)
}

// shownNow is how the entry stands, or stood when it was there last.
func (c *chain) shownNow() replay.Shown {
	if c.within || c.lost >= 0 {
		return c.shownAt(c.listing)
	}
	return c.sp.Skills.Of(c.sub.Name)
}

// shownAt is how the entry stood behind a listing.
func (c *chain) shownAt(event int) replay.Shown {
	list := c.changes[c.sub.Name]
	for n := c.changed(event+1) - 1; n >= 0; n-- {
		if ch := &c.Changes[list[n]]; ch.Shown != replay.ShownAbsent {
			return ch.Shown
		}
	}
	return replay.ShownAbsent
}

func (c *chain) present() {
	s := Step{Gate: Present}
	switch {
	case c.state(Announced) != Passed:
		s.State = NotReached
	case c.lost >= 0:
		ch := &c.Changes[c.lost]
		e := c.event(ch.Event)
		s.State, s.Where = Failed, ch.Where
		switch ch.Cause {
		case replay.Compaction:
			s.Reason = fmt.Sprintf("lost at the compaction of line %d: this client does not list again", ch.Where.Line)
			if r := c.rules(); r != nil && r.Send.AfterCompaction {
				s.Reason = fmt.Sprintf("lost at the compaction of line %d, and not listed again", ch.Where.Line)
			}
			if !c.result.Exact && c.agent.Agent.ID == "main" && ch.Event < c.sp.Event && !c.logs(c.n) {
				s.State, s.Missing = Undetermined, replay.UnseenRestart
				s.Reason += ", unless it was restarted since: it would have listed anew, and writes no listing to the log"
			}
			s.Text = compactionText(e)
			s.Advice = append(s.Advice, "type /"+c.sub.Name+"; a new session, or a newer client, lists it again")
		default:
			s.Reason = fmt.Sprintf("the listing of line %d has it no more", ch.Where.Line)
			s.Advice = append(s.Advice, "see whether its file was removed, renamed or switched off before that line")
		}
		if untold := c.untold(ch.Event); untold != "" && !c.known {
			s.State, s.Missing, s.Advice = Undetermined, "the listing", nil
			s.Reason += "; " + untold
		}
	case c.sp.Skills.Of(c.sub.Name) == replay.ShownAbsent && !c.within:
		s.State, s.Missing, s.Reason = Undetermined, "the lost records", "its entry stands in another branch of the conversation"
	default:
		s.State, s.Reason = Passed, "still there"
		from := c.event(c.listing)
		s.Where = from.Where
		lost := 0
		for j := sort.SearchInts(c.wipes, c.listing) - 1; j >= 0 && lost == 0; j-- {
			if e := c.event(c.wipes[j]); e.Kind == replay.Compaction && !e.Abandoned {
				lost = e.Where.Line
			}
		}
		if lost > 0 {
			s.Reason = fmt.Sprintf("listed again behind the compaction of line %d", lost)
		}
	}
	c.add(s)
}

func compactionText(e *replay.Event) string {
	c := e.Compaction
	if c == nil {
		return ""
	}
	text := "compaction"
	if c.Trigger != "" {
		text += ", " + c.Trigger
	}
	if c.Before > 0 {
		text += fmt.Sprintf(", %s tokens", budget.Grouped(int(c.Before)))
		if c.After > 0 {
			text += " to " + budget.Grouped(int(c.After))
		}
	}
	return text
}
