package why

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
)

// carried is what stands of a skill's text in the conversation.
type carried struct {
	body  int // event that brought the last full text, -1 for none
	how   carriedHow
	where int // event that made it so: the body, a compaction or a reattachment
	chars int // of what was put back, in UTF-16 code units
	text  string
}

type carriedHow uint8

const (
	notCarried carriedHow = iota
	carriedWhole
	carriedBack    // put back whole
	carriedCut     // put back without its end
	carriedDropped // not put back
	carriedUnknown // put back or not: this client does not write it to the log
)

// carry follows the skill's text along the conversation and keeps what stands of it
// before each span.
func (q *query) carry() {
	var mine []int
	for _, n := range q.names {
		mine = append(mine, q.bodies[n]...)
	}
	for _, list := range q.byUse {
		for _, i := range list {
			if k := q.event(i).Kind; k == replay.Body || k == replay.Note {
				mine = append(mine, i)
			}
		}
	}
	slices.Sort(mine)
	mine = slices.Compact(mine)
	if len(mine) == 0 && !q.reattachedEver() {
		return
	}
	for _, i := range mine {
		e := q.event(i)
		if e.Kind != replay.Body || q.answersCall(e, i) {
			continue
		}
		if n := q.owner[i]; n >= 0 {
			q.loose[n] = append(q.loose[n], i)
		}
	}
	if q.branches {
		q.carryBranches(mine)
		return
	}
	// One line: what happened to the text stands between the prompts.
	s, n := carried{body: -1}, 0
	for _, i := range merged(mine, q.wipes) {
		if n < len(q.spans) && q.spans[n].Event <= i {
			q.carried(n, s)
			n = sort.Search(len(q.spans), func(k int) bool { return q.spans[k].Event > i })
		}
		_, own := slices.BinarySearch(mine, i)
		s = q.carriedBehind(s, i, own)
	}
	if n < len(q.spans) {
		q.carried(n, s)
	}
}

// carriedRun is what stands before a span, and before those that follow it up to the
// next run.
type carriedRun struct {
	from int
	carried
}

// carried keeps what stands before a span. Spans come in order.
func (q *query) carried(n int, s carried) {
	if k := len(q.runs); k == 0 && s.how != notCarried || k > 0 && q.runs[k-1].carried != s {
		q.runs = append(q.runs, carriedRun{n, s})
	}
}

// state is what stands before a span.
func (q *query) state(n int) (carried, bool) {
	i := sort.Search(len(q.runs), func(i int) bool { return q.runs[i].from > n }) - 1
	if i < 0 {
		return carried{body: -1}, false
	}
	return q.runs[i].carried, q.runs[i].how != notCarried
}

// carryBranches follows the text along each branch.
func (q *query) carryBranches(mine []int) {
	at := map[int]int{}
	for n := range q.spans {
		at[q.spans[n].Event] = n
	}
	events := q.agent.Agent.Events
	states := make([]carried, len(events)) // behind each event
	for i := range events {
		s := carried{body: -1}
		if p := events[i].Parent; p >= 0 && p < i {
			s = states[p]
		}
		if n, ok := at[i]; ok {
			q.carried(n, s)
		}
		_, own := slices.BinarySearch(mine, i)
		states[i] = q.carriedBehind(s, i, own)
	}
}

// merged are two ascending lists as one.
func merged(a, b []int) []int {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

func (q *query) reattachedEver() bool {
	for _, i := range q.wipes {
		for _, k := range q.event(i).Skills {
			if q.isName(k.Name) {
				return true
			}
		}
	}
	return false
}

func (q *query) isName(name string) bool {
	for _, n := range q.names {
		if n == name {
			return true
		}
	}
	return false
}

// answersCall reports whether a body belongs to an attempt.
func (q *query) answersCall(e *replay.Event, i int) bool {
	if e.ToolUse != "" {
		return true
	}
	n := q.owner[i]
	if n < 0 {
		return false
	}
	for _, t := range q.calls[n] {
		if a := &q.summary.Attempts[t]; a.Event < i && q.event(a.Event).Kind == replay.Slash {
			return true
		}
	}
	return false
}

func (q *query) carriedBehind(s carried, i int, mine bool) carried {
	e := q.event(i)
	switch {
	case mine && e.Kind == replay.Body:
		return carried{body: i, how: carriedWhole, where: i, text: e.Text}
	case e.Kind == replay.Compaction && s.how != notCarried:
		if s.body >= 0 && e.Compaction.Kept[q.event(s.body).Where.UUID] {
			return s
		}
		if (s.how == carriedBack || s.how == carriedCut) && e.Compaction.Kept[q.event(s.where).Where.UUID] {
			return s // what was put back is kept (recorded at 2.1.290)
		}
		s.how, s.where = carriedDropped, i
		if m, ok := q.momentBefore(i); ok && m.Rules() != nil && !m.Rules().Compaction.Recorded {
			s.how = carriedUnknown
		}
	case e.Kind == replay.Reattachment:
		for _, k := range e.Skills {
			if !q.isName(k.Name) {
				continue
			}
			s.where, s.how, s.chars = i, carriedBack, budget.Len16(k.Content)
			if strings.HasSuffix(k.Content, budget.ReattachMarker) {
				s.how, s.chars = carriedCut, budget.Len16(strings.TrimSuffix(k.Content, budget.ReattachMarker))
			}
			return s
		}
		if s.how == carriedUnknown {
			s.how = carriedDropped // what was put back is known all the same
		}
	}
	return s
}

// momentBefore is the moment of the last prompt before an event.
func (q *query) momentBefore(i int) (replay.Moment, bool) {
	for n := q.owner[i]; n >= 0; n-- {
		if m, ok := q.course.At(q.spans[n].Event); ok {
			return m, true
		}
	}
	return replay.Moment{}, false
}

// used are the gates from the call on.
func (q *query) used(n int) []Step {
	called := Step{Gate: Called, State: Failed, Reason: NotCalled}
	delivered := Step{Gate: Delivered, State: NotReached}
	force := Step{Gate: InForce, State: NotReached}
	done := -1 // the attempt that succeeded
	var rest []string
	for _, t := range q.calls[n] {
		a := &q.summary.Attempts[t]
		if a.Outcome == replay.OutcomeInvoked && done < 0 {
			done = t
			continue
		}
		rest = append(rest, q.attempted(t))
	}
	came := false
	if done >= 0 {
		came = q.delivered(&delivered, &q.summary.Attempts[done])
	}
	switch {
	case done >= 0:
		a := &q.summary.Attempts[done]
		called.State, called.Where, called.Reason = Passed, a.Where, q.attempted(done)
		called.Text = q.callText(a)
		called.Notes = rest
		if came {
			q.stands(&force, n, a)
			if delivered.State == Failed && force.State == Passed {
				force.Reason = "what came of it, " + force.Reason
			}
		} else {
			q.stood(&force, &delivered, n, a)
		}
	case len(q.calls[n]) > 0:
		t := q.calls[n][0]
		a := &q.summary.Attempts[t]
		called.Where, called.Reason = a.Where, q.attempted(t)
		called.Text = q.callText(a)
		called.Notes = rest[1:]
		if a.Outcome == replay.OutcomeUnanswered {
			called.State, called.Missing = Undetermined, endOfLog
		}
		if e := q.outcome(a); e != nil {
			called.Where, called.Text = e.Where, plainError(e.Text)
			called.Advice = q.afterRefusal(e)
			q.failing(&called, n, e)
		}
		if c, ok := q.state(n); ok {
			q.force(&force, c) // of a call for an earlier prompt
		}
	case len(q.loose[n]) > 0:
		e := q.event(q.loose[n][0])
		called.State, called.Where = Passed, e.Where
		called.Reason = fmt.Sprintf("its text came without a call (line %d)", e.Where.Line)
		switch {
		case q.agent.Agent.OnBehalfOf != "" && q.isName(replay.NormalName(q.agent.Agent.OnBehalfOf)):
			called.Reason = asFork
		case e.Stack < 0:
			called.Reason = "preloaded: the agent's definition names it"
		}
		delivered = Step{Gate: Delivered, State: Passed, Where: e.Where, Reason: budget.Characters(budget.Len16(e.Text)), Text: firstLine(e.Text)}
		force.State, force.Reason, force.Where = Passed, "from here on", e.Where
	default:
		q.instead(&called, n)
		q.unanswered(&called, n)
		q.later(&called, &force, n)
	}
	q.misnamed(&called, n)
	if called.Reason == NotCalled && n == q.unended {
		at := q.agent.Agent.Unfinished
		called.State, called.Missing, called.Where = Undetermined, endOfLog, at
		called.Reason = fmt.Sprintf("%s, and the turn is unfinished in the log (line %d)", NotSoFar, at.Line)
	}
	if len(q.calls[n])+len(q.loose[n]) == 0 {
		q.elsewhere(&called, n)
	}
	steps := []Step{called, delivered, force}
	q.private(n, steps)
	return steps
}

// elsewhere tells how often the model chose the skill for other prompts of the session.
func (q *query) elsewhere(s *Step, n int) {
	if q.brief || len(q.agents) == 1 && len(q.spans) == 1 {
		return // there is no other
	}
	const most = 8
	var own []string
	others, count := 0, 0
	for i := range q.choices {
		switch c := &q.choices[i]; {
		case c.Agent != q.agent.Agent.ID:
			others++
		default:
			if count++; count > most {
				continue
			}
			name := budget.Grouped(c.Prompt)
			switch {
			case c.Command != "":
				name = "/" + c.Command
			case c.Prompt == 0:
				name = "what stands before the first"
			}
			own = append(own, fmt.Sprintf("%s (line %d)", name, c.Where.Line))
		}
	}
	text := "the model called it for no other prompt of this session"
	switch {
	case count == 1:
		text = "the model called it for one other prompt of this session: " + own[0]
	case count > 1:
		text = fmt.Sprintf("the model called it for %s other prompts of this session: %s", budget.Grouped(count), strings.Join(own, ", "))
		if count > most {
			text += fmt.Sprintf(" and %s more", budget.Grouped(count-most))
		}
	}
	if others > 0 && count == 0 {
		text = "the model called it for no other prompt of this agent"
	}
	if others > 0 {
		prompts := "prompts"
		if others == 1 {
			prompts = "prompt"
		}
		text += fmt.Sprintf("; for %s %s of other agents", budget.Grouped(others), prompts)
	}
	s.Notes = append(s.Notes, text)
}

// twin is a skill that stands for the same under another name, and that was called for
// a prompt: one plugin that is installed twice, or a skill beside a plugin's. -1 if there
// is none.
func (q *query) twin(n int) int {
	last := q.sub.Name[strings.LastIndexByte(q.sub.Name, ':')+1:]
	for _, t := range q.tried[n] {
		name := replay.NormalName(q.summary.Attempts[t].Skill)
		if q.isName(name) || name[strings.LastIndexByte(name, ':')+1:] != last {
			continue
		}
		if texts := q.Session.texts(q.agent, n); texts(name) != "" && texts(name) == texts(q.sub.Name) {
			return t
		}
		m, ok := q.course.At(q.spans[n].Event)
		if !ok || m.Missing() != "" {
			continue
		}
		mine, its := q.statuses(&m, q.sub.Name), q.statuses(&m, name)
		if len(mine) > 0 && len(its) > 0 && mine[0].Skill.Body == its[0].Skill.Body {
			return t
		}
	}
	return -1
}

// misnamed tells of calls of the tool Skill that name no skill: the model tried to use
// one, and nothing says which, but for one that gives the name where no client looks.
func (q *query) misnamed(s *Step, n int) {
	const most = 5 // of them
	for nth, t := range q.unnamed[n] {
		if nth == most {
			s.Notes = append(s.Notes, fmt.Sprintf("and %s more calls that name no skill", budget.Grouped(len(q.unnamed[n])-most)))
			break
		}
		a := &q.summary.Attempts[t]
		e := q.event(a.Event)
		var answer *replay.Event
		for _, i := range q.agent.byUse[e.ToolUse] {
			if x := q.event(i); x.Kind == replay.Refusal && answer == nil {
				answer = x
			}
		}
		text := fmt.Sprintf("a call of the tool Skill that names no skill: %s (line %d)", e.Given, e.Where.Line)
		switch {
		case answer != nil && answer.Rejected:
			text += fmt.Sprintf("; rejected by the user (line %d)", answer.Where.Line)
		case answer != nil:
			text += fmt.Sprintf("; refused (line %d): %s", answer.Where.Line, refusalText(answer))
		}
		s.Notes = append(s.Notes, text)
		if s.State != Failed || s.Reason != "not called" {
			continue
		}
		for _, name := range q.names {
			if namedIn(e.Given, []string{name}) {
				s.Reason = fmt.Sprintf("not called: a call of the tool Skill gives its name where the client reads none (line %d)", e.Where.Line)
				s.Where, s.Text = e.Where, "Skill "+e.Given
				break
			}
		}
	}
}

// refusalText is a refusal on one line.
func refusalText(e *replay.Event) string { return oneLine(plainError(e.Text)) }

// attempted says how a call went.
func (q *query) attempted(t int) string {
	a := &q.summary.Attempts[t]
	var b strings.Builder
	e := q.event(a.Event)
	if a.By == replay.ByUser {
		b.WriteString("by the user")
		switch {
		case a.Stack > 0:
			fmt.Fprintf(&b, ", typed in position %d of a line", a.Stack)
		case e.Kind == replay.Slash, e.Kind == replay.NoCommand:
			b.WriteString(", typed")
		default:
			b.WriteString(", typed in the prompt and carried out by the model")
		}
	} else {
		b.WriteString("by the model")
	}
	if a.ToolPosition > 0 {
		fmt.Fprintf(&b, ", tool position %d, Skill position %d", a.ToolPosition, a.SkillPosition)
		if a.ToolPosition > 1 {
			b.WriteString(": late")
		}
	}
	switch a.Outcome {
	case replay.OutcomeRefused:
		b.WriteString("; refused")
		if e := q.outcome(a); e != nil {
			fmt.Fprintf(&b, " (line %d): %s", e.Where.Line, refusalText(e))
		}
	case replay.OutcomeRejected:
		b.WriteString("; rejected by the user")
		if e := q.outcome(a); e != nil {
			fmt.Fprintf(&b, " (line %d)", e.Where.Line)
		}
	case replay.OutcomeUnanswered:
		b.WriteString("; the log ends before the client's answer")
	default:
		fmt.Fprintf(&b, " (line %d)", a.Where.Line)
	}
	if n := replay.NormalName(a.Skill); n != q.sub.Name {
		fmt.Fprintf(&b, ", as %s", n)
	}
	return b.String()
}

// outcome is the refusal of an attempt, nil if there is none.
func (q *query) outcome(a *replay.Attempt) *replay.Event {
	e := q.event(a.Event)
	if e.Kind == replay.NoCommand {
		return e
	}
	for _, i := range q.byUse[e.ToolUse] {
		if e.ToolUse != "" && q.event(i).Kind == replay.Refusal {
			return q.event(i)
		}
	}
	return nil
}

func (q *query) callText(a *replay.Attempt) string {
	e := q.event(a.Event)
	if e.Kind == replay.SkillCall {
		return "Skill(" + e.Skill + ")"
	}
	return "/" + e.Skill
}

// afterRefusal says what to do about a refusal.
func (q *query) afterRefusal(e *replay.Event) []string {
	text := e.Text
	switch {
	case e.Rejected:
		return []string{"allow the call when the client asks, or add Skill(" + q.sub.Name + ") to permissions.allow in the settings"}
	case strings.Contains(text, "for pattern"):
		return []string{"mend the inline command of its SKILL.md that failed, or allow it in allowed-tools of its front matter"}
	case strings.Contains(text, "No such tool available"):
		return []string{"give the agent the tool Skill, or preload the skill in the agent's definition with skills:"}
	case strings.Contains(text, "InputValidationError"):
		return []string{"nothing can be done in the skill: the model gave the name where this client does not look for it"}
	case strings.Contains(text, "built-in CLI command"), strings.Contains(text, "not a prompt-based skill"):
		return []string{"it is a command of the client: type it yourself"}
	case unknownSkill(e):
		return []string{"see whether its file lies where the client looks; the exact name counts"}
	}
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	return line
}

// instead says what the model did in place of a call.
func (q *query) instead(s *Step, n int) {
	if t := q.twin(n); t >= 0 {
		a := &q.summary.Attempts[t]
		s.Reason = fmt.Sprintf("not called: its twin %s was, which has the same text (line %d)", replay.NormalName(a.Skill), a.Where.Line)
		s.Where, s.Text = a.Where, q.callText(a)
		s.Advice = append(s.Advice, "keep one of the two: the model takes either, and both take room in the listing")
		return
	}
	if i, ok := q.reads[n]; ok {
		e := q.event(i)
		what := "its SKILL.md"
		if _, sure := q.located.own(e.Path); !sure {
			what = e.Path
		}
		s.Reason = fmt.Sprintf("not by the Skill tool: the model read %s (line %d)", what, e.Where.Line)
		s.Where, s.Text = e.Where, "Read "+e.Path
		return
	}
	if i, ok := q.hand[n]; ok && !q.spans[n].Abandoned {
		g := &q.agent.Agent.Segments[i]
		s.Reason = fmt.Sprintf("not called: the model used the files of its folder by hand (line %d)", g.Line)
		s.Where, s.Text = replay.Where{File: q.agent.Agent.File, Line: g.Line, UUID: g.UUID}, g.Tool
		return
	}
	if h, ok := q.ran[n]; ok {
		commands := q.agent.Agent.Commands
		c := &commands[h.first]
		s.Reason = fmt.Sprintf("not called: the model ran %d of the %d command lines of its text by hand (line %d)", len(h.lines), h.of, c.Where.Line)
		if h.of == 1 {
			s.Reason = fmt.Sprintf("not called: the model ran the one command line of its text by hand (line %d)", c.Where.Line)
		}
		s.Where, s.Text = c.Where, firstLine(c.Text)
		const most = 5 // lines
		for _, l := range h.lines[:min(len(h.lines), most)] {
			text := fmt.Sprintf("its “%s” was run at line %d", l, commands[l.command].Where.Line)
			if l.line > 0 {
				text = fmt.Sprintf("line %d of its file, “%s”, was run at line %d", l.line, l, commands[l.command].Where.Line)
			}
			s.Notes = append(s.Notes, text)
		}
		if rest := len(h.lines) - most; rest > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("and %d more of its lines", rest))
		}
	}
}

// unanswered says of a prompt that the model did not answer why it called nothing.
func (q *query) unanswered(s *Step, n int) {
	failed, silent := q.silent[n]
	stop, stopped := q.stopped[n]
	switch {
	case s.Reason != NotCalled:
	case q.typedAway(n):
		s.Reason = askedNothing
	case silent && stopped && failed == nil:
		s.Where, s.Reason = stop, fmt.Sprintf("%s (line %d)", Interrupted, stop.Line)
		s.Advice = append(s.Advice, "ask again")
	case !silent && stopped:
		s.Notes = append(s.Notes, fmt.Sprintf("the user interrupted the turn (line %d): what the model would have called behind it is not known", stop.Line))
	case !silent:
	case failed == nil:
		s.State, s.Missing, s.Reason = Undetermined, endOfLog, "the log ends before the model's answer"
	default:
		what := failed.Error
		if failed.Status > 0 {
			what = strings.TrimSpace(fmt.Sprintf("%d %s", failed.Status, what))
		}
		s.Where, s.Reason = failed.Where, fmt.Sprintf("%s (line %d)", NoAnswer, failed.Where.Line)
		if what != "" {
			s.Reason += ": " + oneLine(what)
		}
		s.Advice = append(s.Advice, "ask again")
	}
}

// NoAnswer begins the reason of a call that did not come as the request failed.
const NoAnswer = "not called: the request failed, and the model did not answer"

// Interrupted begins the reason of a call that did not come as the user stopped the model.
const Interrupted = "not called: the user interrupted before the model answered"

// NotSoFar begins the reason of a call that may stand behind the end of the log.
const NotSoFar = "not called so far"

// askedNothing is said of a line that the client answered itself, and endOfLog is what
// an open call misses.
const (
	askedNothing = "not called: the client knew no such command, and asked the model nothing"
	endOfLog     = "the end of the log"
)

// stood says what stands of the text when a call brought none: what an earlier call
// brought, if anything.
func (q *query) stood(force, delivered *Step, n int, a *replay.Attempt) {
	for _, t := range q.calls[n] { // another call for the same prompt
		b := &q.summary.Attempts[t]
		other := Step{Gate: Delivered}
		if b.Event != a.Event && b.Outcome == replay.OutcomeInvoked && q.delivered(&other, b) {
			other.Notes = append(other.Notes, fmt.Sprintf("with the call of line %d; that of line %d: %s", b.Where.Line, a.Where.Line, delivered.Reason))
			*delivered = other
			q.stands(force, n, b)
			return
		}
	}
	c, ok := q.state(n)
	switch {
	case ok && c.body >= 0 && c.where < a.Event:
		q.force(force, c)
		if force.State == Passed {
			delivered.Reason += fmt.Sprintf("; an earlier text of it is still in force (line %d)", force.Where.Line)
			force.Reason = "that of an earlier call: " + force.Reason
		}
	case delivered.State == Undetermined:
		force.State, force.Missing, force.Reason = Undetermined, delivered.Missing, delivered.Reason
	}
}

// delivered says what came of a call. It reports whether anything did, be it cut.
func (q *query) delivered(s *Step, a *replay.Attempt) bool {
	e := q.event(a.Event)
	var body, note, launched *replay.Event
	look := func(i int) {
		switch x := q.event(i); x.Kind {
		case replay.Body:
			if body == nil {
				body = x
			}
		case replay.Note:
			if note == nil {
				note = x
			}
		case replay.Launched:
			if launched == nil {
				launched = x
			}
		}
	}
	if e.ToolUse != "" {
		for _, i := range q.byUse[e.ToolUse] {
			look(i)
		}
	} else {
		for i := a.Event + 1; i < len(q.agent.Agent.Events); i++ {
			x := q.event(i)
			if x.Kind == replay.Turn || x.Kind == replay.Prompt || x.Kind == replay.Slash && x.Stack <= 1 {
				break
			}
			if x.ToolUse == "" && (x.Kind == replay.Body || x.Kind == replay.Note) && q.isName(replay.NormalName(x.Skill)) {
				look(i)
			}
		}
	}
	switch {
	case body != nil:
		s.State, s.Where, s.Text = Passed, body.Where, firstLine(body.Text)
		s.Reason = fmt.Sprintf("whole, %s (line %d)", budget.Characters(budget.Len16(body.Text)), body.Where.Line)
		q.checked(s, body)
		q.arrived(s, body, a)
		if note != nil {
			s.Notes = append(s.Notes, fmt.Sprintf("with a note before it (line %d): %s", note.Where.Line, firstLine(note.Text)))
		}
	case launched != nil && (launched.Forked || launched.Background || launched.Agent != ""), e.Forked:
		s.State = Passed
		s.Reason = "in a fork"
		s.Where = e.Where
		if launched != nil {
			s.Where, s.Text = launched.Where, firstLine(launched.Text)
			if launched.Agent != "" {
				s.Reason += ", agent " + launched.Agent
			}
			if launched.Background {
				s.Reason += ", in the background"
			}
		}
	case note != nil:
		s.State, s.Where, s.Text = Passed, note.Where, firstLine(note.Text)
		s.Reason = fmt.Sprintf("a note only (line %d): its text was there already", note.Where.Line)
	case q.goesOn(a.Event):
		s.State = Failed
		s.Reason = "launched, body never injected"
		if a.By == replay.ByUser {
			s.Reason = "typed, body never injected"
		}
		s.Where = a.Where
		if launched != nil {
			s.Where, s.Text = launched.Where, firstLine(launched.Text)
			s.Reason = fmt.Sprintf("launched (line %d), body never injected", launched.Where.Line)
		}
		s.Advice = append(s.Advice, "call it again; if that happens often, report it to the client's maker with this line")
	default:
		s.State, s.Missing, s.Reason = Undetermined, "the end of the log", "the log ends before its text"
		s.Where = a.Where
	}
	return body != nil || s.State == Passed
}

// goesOn reports whether a request follows an event on its branch.
func (q *query) goesOn(at int) bool {
	events := q.agent.Agent.Events
	first := true
	for i := at + 1; i < len(events); i++ {
		if events[i].Abandoned != events[at].Abandoned {
			continue
		}
		switch events[i].Kind {
		case replay.Turn:
			if !first || events[i].Message != events[at].Message {
				return true
			}
			first = false
		case replay.Prompt:
			return true
		}
	}
	return false
}

// checked says how a body compares with its prediction.
func (q *query) checked(s *Step, body *replay.Event) {
	for i := range q.Checks {
		c := &q.Checks[i]
		if c.Kind != replay.CheckBody || c.Where.Line != body.Where.Line || c.Where.UUID != body.Where.UUID {
			continue
		}
		switch {
		case c.Verdict == replay.Divergent && !c.Unconfirmed && len(c.Expected) > len(c.Observed) && c.Observed != "" && strings.HasPrefix(c.Expected, c.Observed):
			s.State = Failed
			s.Reason = fmt.Sprintf("cut: %s of %s characters (line %d)", budget.Grouped(budget.Len16(c.Observed)), budget.Grouped(budget.Len16(c.Expected)), body.Where.Line)
		case c.Verdict == replay.Divergent && !c.Unconfirmed:
			s.Notes = append(s.Notes, "the text is not the one that the rules give: skilltrace replay shows the difference")
		}
		return
	}
}

// stands says what becomes of the text until the next prompt.
func (q *query) stands(s *Step, n int, a *replay.Attempt) {
	if m := q.owner[min(q.end(n), len(q.owner)-1)]; m > n {
		if c, ok := q.state(m); ok && c.body >= 0 && c.where > a.Event && c.how != carriedWhole {
			q.force(s, c)
			if s.State == Failed {
				s.State = Info // it was there for this prompt
			}
			return
		}
	}
	if e := q.event(a.Event); e.Forked {
		s.State, s.Reason = Info, "in the fork only"
		return
	}
	for _, i := range q.byUse[q.event(a.Event).ToolUse] {
		if x := q.event(i); x.Kind == replay.Launched && (x.Forked || x.Background) {
			s.State, s.Reason = Info, "in the fork only"
			return
		}
	}
	s.State, s.Reason, s.Where = Passed, "from here on", a.Where
}

// later is the state of a skill that was called for an earlier prompt.
func (q *query) later(called, force *Step, n int) {
	c, ok := q.state(n)
	if !ok {
		return
	}
	if called.Reason == "not called" {
		called.State = Info
		called.Reason = "not called again"
		if c.body >= 0 {
			e := q.event(c.body)
			called.Where = e.Where
			called.Reason = fmt.Sprintf("not called again; its text came at line %d", e.Where.Line)
			if e.PromptN > 0 {
				called.Reason = fmt.Sprintf("not called again; its text came for prompt %d (line %d)", e.PromptN, e.Where.Line)
			}
		}
	}
	q.force(force, c)
}

// force says whether the text of a skill still stands.
func (q *query) force(s *Step, c carried) {
	e := q.event(c.where)
	s.Where = e.Where
	switch c.how {
	case carriedWhole:
		s.State, s.Reason = Passed, fmt.Sprintf("its text stands in the conversation (line %d)", e.Where.Line)
		s.Text = firstLine(c.text)
	case carriedBack:
		s.State, s.Reason = Passed, fmt.Sprintf("put back whole behind a compaction (line %d), %s", e.Where.Line, budget.Characters(c.chars))
		if args := q.oldArguments(c); args != "" {
			s.Notes = append(s.Notes, args)
		}
	case carriedCut:
		s.State, s.Reason = Failed, fmt.Sprintf("put back behind a compaction (line %d), cut at %s", e.Where.Line, budget.Characters(c.chars))
		s.Text = "…" + firstLine(strings.TrimLeft(budget.ReattachMarker, "\n"))
		s.Advice = append(s.Advice, "call it again, or keep what matters in the first 20,000 characters of its SKILL.md and move the rest to files beside it")
	case carriedDropped:
		s.State, s.Reason = Failed, fmt.Sprintf("dropped at the compaction of line %d", e.Where.Line)
		s.Text = compactionText(e)
		s.Notes = append(s.Notes, q.dropped(c)...)
		s.Advice = append(s.Advice, "call it again; shorter skills, and fewer of them, are put back whole")
	default:
		s.State, s.Missing = Undetermined, "what was put back"
		s.Reason = fmt.Sprintf("a compaction (line %d) replaced the conversation, and this client does not write to the log what it puts back", e.Where.Line)
	}
}

// oldArguments says that a text which was put back holds the arguments of its call.
func (q *query) oldArguments(c carried) string {
	if c.body < 0 {
		return ""
	}
	b := q.event(c.body)
	for _, list := range q.calls {
		for _, t := range list {
			e := q.event(q.summary.Attempts[t].Event)
			if e.HasArgs && e.Args != "" && (e.ToolUse != "" && e.ToolUse == b.ToolUse || e.Kind == replay.Slash && b.ToolUse == "" && q.owner[q.summary.Attempts[t].Event] == q.owner[c.body]) {
				return fmt.Sprintf("with the arguments of its call at line %d", e.Where.Line)
			}
		}
	}
	return ""
}

// dropped says what was put back in place of the skill.
func (q *query) dropped(c carried) []string {
	notes, ok := q.agent.drops[c.where]
	if !ok {
		notes = q.putBack(c)
		q.agent.drops[c.where] = notes
	}
	return notes
}

// putBack names what a compaction put back.
func (q *query) putBack(c carried) []string {
	for i := c.where + 1; i < len(q.agent.Agent.Events); i++ {
		e := q.event(i)
		switch e.Kind {
		case replay.Turn, replay.Prompt, replay.Compaction:
			return nil
		case replay.Reattachment:
			total := 0
			var names []string
			for _, k := range e.Skills {
				total += budget.RoughTokens(k.Content)
				names = append(names, k.Name)
			}
			return []string{fmt.Sprintf("put back at line %d, about %s tokens: %s", e.Where.Line, budget.Grouped(total), strings.Join(names, ", "))}
		}
	}
	return nil
}

// settle finds the verdict of a question.
func (q *query) settle(out *Question, n int) {
	called, force := out.Step(Called), out.Step(InForce)
	used := called.State == Passed
	// What kept the skill from the model did not keep it from being used; and somebody who
	// called it in vain did not need to be told of it.
	tried := len(q.calls[n]) > 0
	if d := out.Step(Described); d.State == Failed && out.Step(Present).State == Failed {
		d.State = Info // how it stood where it was lost: now nothing of it is seen
	}
	for i := range out.Steps {
		s := &out.Steps[i]
		if s.Gate == Called {
			break
		}
		if s.State == Failed && (used || force.State == Passed && called.State == Info || tried && place(s.Gate) >= place(Announced)) {
			s.State = Info
		}
	}
	v := &out.Verdict
	take := func(s *Step) {
		v.Gate, v.State, v.Where = s.Gate, s.State, s.Where
	}
	switch d := out.Step(Delivered); {
	case used && d.State == Failed:
		take(d)
	case used:
		take(called)
	case called.State == Info && force.State == Passed:
		take(force)
	default:
		var open *Step
		for i := range out.Steps {
			s := &out.Steps[i]
			if s.State == Undetermined && open == nil {
				open = s
			}
			if s.State != Failed {
				continue
			}
			if s.Gate == Called && open != nil && !tried {
				break // what the model saw is not known
			}
			take(s)
			break
		}
		if v.Gate == "" {
			if open == nil {
				open = called
			}
			take(open)
		}
	}
	if e := q.refused(n); e != nil && !used {
		v.Where = e.Where
	}
	if v.Where.Line == 0 && v.Where.File == "" {
		v.Where = out.Where
	}
	v.Reason = q.sentence(out)
}
