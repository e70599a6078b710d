package why

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// Tally counts what became of a skill in one session, or in many.
type Tally struct {
	// Sessions were asked; in Known of them the log or a file names the skill, in Listed
	// an entry of it stood before the model at a prompt, and in Described with its whole
	// description.
	Sessions, Known, Listed, Described int
	// Prompts counts prompts and typed lines, without those that a rewind left. It is the
	// same for every skill.
	Prompts int
	// ByModel and ByUser count invocations; Refused and Rejected attempts that failed.
	ByModel, ByUser, Refused, Rejected int
	// Verdicts count prompts and sessions by the gate that decided, in the order of gates.
	// What an agent did before its first prompt counts as one there.
	Verdicts []VerdictCount
	// First and Last bound the sessions; zero where no record has a time.
	First, Last time.Time
}

// VerdictCount counts how often a gate decided. In Sessions a session counts once for
// each gate that decided one of its prompts.
type VerdictCount struct {
	Gate              Gate
	State             State
	Prompts, Sessions int
	// Unknown are those of Prompts whose sessions do not know the skill: they tell of the
	// choice of sessions, not of the skill.
	Unknown int
}

// Tally counts the answer of one session.
func (s *Session) Tally(a *Answer) Tally {
	t := s.tally(&a.Subject)
	for i := range a.Questions {
		t.question(&a.Questions[i], 1)
	}
	return t
}

// question counts a question, and others that are like it.
func (t *Tally) question(q *Question, n int) {
	if q.Abandoned {
		return
	}
	if q.Prompt > 0 || q.Command != "" {
		t.Prompts += n
	}
	if q.Shown != replay.ShownAbsent {
		t.Listed = 1
	}
	if q.Shown == replay.ShownFull {
		t.Described = 1
	}
	v := VerdictCount{Gate: q.Verdict.Gate, State: q.Verdict.State, Prompts: n}
	if t.Known == 0 && t.ByModel+t.ByUser+t.Refused+t.Rejected == 0 {
		v.Unknown = n
	}
	t.count(v)
	for i := range t.Verdicts {
		t.Verdicts[i].Sessions = 1
	}
}

// tally counts what does not depend on prompts.
func (s *Session) tally(sub *Subject) Tally {
	t := Tally{Sessions: 1, First: s.result.Session.Start, Last: s.result.Session.End}
	if sub.Known {
		t.Known = 1
	}
	for _, g := range s.agents {
		for _, name := range sub.called() {
			for _, i := range g.attempts[name] {
				switch x := &g.summary.Attempts[i]; {
				case x.Outcome == replay.OutcomeInvoked && x.By == replay.ByUser:
					t.ByUser++
				case x.Outcome == replay.OutcomeInvoked:
					t.ByModel++
				case x.Outcome == replay.OutcomeRefused:
					t.Refused++
				case x.Outcome == replay.OutcomeRejected:
					t.Rejected++
				}
			}
		}
	}
	return t
}

// count adds to the count of a verdict.
func (t *Tally) count(c VerdictCount) {
	at := 0
	for ; at < len(t.Verdicts); at++ {
		v := &t.Verdicts[at]
		if v.Gate == c.Gate && v.State == c.State {
			v.Prompts += c.Prompts
			v.Sessions += c.Sessions
			v.Unknown += c.Unknown
			return
		}
		if place(v.Gate) > place(c.Gate) || v.Gate == c.Gate && v.State > c.State {
			break
		}
	}
	t.Verdicts = slices.Insert(t.Verdicts, at, c)
}

// Worst is the first question with the verdict that tells most of the skill, nil where
// no prompt was asked.
func (a *Answer) Worst(t *Tally) *Question {
	v, ok := t.Worst()
	if !ok {
		return nil
	}
	for i := range a.Questions {
		q := &a.Questions[i]
		if !q.Abandoned && q.Verdict.Gate == v.Gate && q.Verdict.State == v.State {
			return q
		}
	}
	return nil
}

// Survey is the tally of a skill, and the first question with the verdict that tells
// most of it; nil where no prompt was asked. It holds no answers beside those.
func (s *Session) Survey(name string) (Tally, *Question) {
	t, firsts := s.survey(name)
	v, ok := t.Worst()
	for i := range firsts {
		if f := &firsts[i]; ok && f.Verdict.Gate == v.Gate && f.Verdict.State == v.State {
			return t, f
		}
	}
	return t, nil
}

// survey is the tally of a skill, and the first question of each verdict.
func (s *Session) survey(name string) (Tally, []Question) {
	sub := s.resolve(name)
	t := s.tally(&sub)
	var firsts []Question
	for _, a := range s.agents {
		q := s.query(a, &sub)
		q.brief = true
		starts := q.starts()
		for k, n := range starts {
			end := len(a.spans)
			if k+1 < len(starts) {
				end = starts[k+1]
			}
			if a.spans[n].pseudo && len(q.calls[n])+len(q.loose[n]) == 0 {
				continue
			}
			one := q.ask(n)
			one.agent = nil
			t.question(&one, end-n)
			same := func(f Question) bool {
				return f.Verdict.Gate == one.Verdict.Gate && f.Verdict.State == one.Verdict.State
			}
			if !one.Abandoned && !slices.ContainsFunc(firsts, same) {
				firsts = append(firsts, one)
			}
		}
	}
	return t, firsts
}

// starts are the spans at which something may be otherwise than at the one before.
func (q *query) starts() []int {
	out := slices.Clone(q.breaks)
	alone := func(n int) { out = append(out, n, n+1) }
	for n := range q.calls {
		alone(n)
	}
	for n := range q.loose {
		alone(n)
	}
	for n := range q.reads {
		alone(n)
	}
	for n := range q.hand {
		alone(n)
	}
	for n := range q.ran {
		alone(n)
	}
	for _, r := range q.runs {
		out = append(out, r.from)
	}
	for _, i := range q.changes[q.sub.Name] {
		at := q.Changes[i].Event
		n := sort.Search(len(q.spans), func(n int) bool { return q.spans[n].Event > at }) // the first behind it
		out = append(out, max(n-1, 0), n)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	for len(out) > 0 && out[len(out)-1] >= len(q.spans) {
		out = out[:len(out)-1]
	}
	return out
}

// findBreaks finds the spans at which something may be otherwise for all skills: the
// files, or that a listing was sent at all. What listings say of one skill is among its
// changes.
func (a *agent) findBreaks() {
	first := -1
	if len(a.listings) > 0 {
		first = a.listings[0]
	}
	alone := func(n int) bool {
		_, silent := a.silent[n]
		_, stopped := a.stopped[n]
		return silent || stopped || n == a.unended || a.spans[n].Abandoned || a.spans[n].pseudo || a.spans[n].unanswered() || a.typedAway(n)
	}
	for n := range a.spans {
		sp := &a.spans[n]
		if n == 0 || alone(n) || alone(n-1) || first >= a.spans[n-1].Answer && first < sp.Answer {
			a.breaks = append(a.breaks, n)
			continue
		}
		if a.unheard != nil && (a.unheard[n] == n || a.unheard[n] != a.unheard[n-1]) || a.version(n) != a.version(n-1) || a.written(n) != a.written(n-1) {
			a.breaks = append(a.breaks, n)
			continue
		}
		x, ok := a.course.At(a.spans[n-1].Event)
		y, ok2 := a.course.At(sp.Event)
		if !ok || !ok2 || x.Missing() != y.Missing() || !sameList(x.Skills(), y.Skills()) {
			a.breaks = append(a.breaks, n)
		}
	}
}

// unanswered reports whether no request of its own followed a prompt: what stood there
// is then told as of a later moment.
func (s *span) unanswered() bool { return s.Answer > s.end }

// sameList reports whether two lists are one.
func sameList(a, b []skills.Status) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// place is the place of a gate in the chain.
func place(g Gate) int {
	for i, x := range Gates {
		if x == g {
			return i
		}
	}
	return len(Gates)
}

// Add adds the counts of other sessions.
func (t *Tally) Add(o Tally) {
	t.Sessions += o.Sessions
	t.Known += o.Known
	t.Listed += o.Listed
	t.Described += o.Described
	t.Prompts += o.Prompts
	t.ByModel += o.ByModel
	t.ByUser += o.ByUser
	t.Refused += o.Refused
	t.Rejected += o.Rejected
	for _, v := range o.Verdicts {
		t.count(v)
	}
	if !o.First.IsZero() && (t.First.IsZero() || o.First.Before(t.First)) {
		t.First = o.First
	}
	if o.Last.After(t.Last) {
		t.Last = o.Last
	}
}

// Worst is the verdict that tells most of a skill: the most frequent one that is a
// failure or not known, else the most frequent. Of equal ones the first in the chain.
// Sessions that do not know the skill count only where none does.
func (t *Tally) Worst() (VerdictCount, bool) {
	if len(t.Verdicts) == 0 {
		return VerdictCount{}, false
	}
	weight := func(v VerdictCount) [3]int {
		known := v.Prompts - v.Unknown
		return [3]int{min(known, 1), bad(v.State), cmp.Or(known, v.Prompts)}
	}
	best := t.Verdicts[0]
	for _, v := range t.Verdicts[1:] {
		if x, y := weight(v), weight(best); slices.Compare(x[:], y[:]) > 0 {
			best = v
		}
	}
	return best, true
}

// bad is 1 for a state that is no pass.
func bad(s State) int {
	if s == Passed {
		return 0
	}
	return 1
}

// Rank orders skills by their tallies, the worst first: those that were never used and
// were stopped for certain before the model could choose them, by the gate that stopped
// them; those that were called in vain; those of which an input is missing; those that
// were never called; those that were used, and refused at times or not kept; the rest. Of equal ones
// those come first of which Worst counts more prompts, and of those that were used the
// ones that were used least.
func (t *Tally) Rank() [3]int {
	v, _ := t.Worst()
	used, vain := t.ByModel+t.ByUser, t.Refused+t.Rejected
	class := place(v.Gate)
	last := len(Gates)
	switch {
	case used > 0 && (vain > 0 || v.State == Failed && place(v.Gate) > place(Called)):
		class = last + 2
	case used > 0:
		class = last + 3
	case v.State == Undetermined || v.State == "":
		class = last
	case vain > 0:
		class = min(class, place(Called))
	case v.Gate == Called:
		class = last + 1
	}
	return [3]int{class, used, v.Unknown - v.Prompts}
}
