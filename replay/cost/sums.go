package cost

import (
	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
	"github.com/skilltrace/skilltrace/skills"
)

// sums are those of one session, or of all.
type sums struct {
	total  tally
	layers []tally // as in ledger.Layers
	// groups are the rows, first by what a request has as a whole, then by its layers
	// and skills.
	groups map[Key]*group
	skills map[string]*figures // of every skill, whatever is asked for
}

func newSums() *sums {
	return &sums{layers: make([]tally, len(ledger.Layers)), groups: map[Key]*group{}, skills: map[string]*figures{}}
}

// group holds the rows of one key without its layer and skill.
type group struct {
	rows  map[inner]*tally
	slots map[ledger.Key]*slot
}

type inner struct {
	layer replay.Layer
	part  replay.Part
	skill string
}

func (s *sums) group(k Key) *group {
	g := s.groups[k]
	if g == nil {
		g = &group{map[inner]*tally{}, map[ledger.Key]*slot{}}
		s.groups[k] = g
	}
	return g
}

func (g *group) row(i inner) *tally {
	t := g.rows[i]
	if t == nil {
		t = &tally{}
		g.rows[i] = t
	}
	return t
}

func (s *sums) figures(skill string) *figures {
	f := s.skills[skill]
	if f == nil {
		f = &figures{}
		s.skills[skill] = f
	}
	return f
}

func (s *sums) merge(o *sums) {
	s.total.merge(&o.total)
	for i := range o.layers {
		s.layers[i].merge(&o.layers[i])
	}
	for k, og := range o.groups {
		g := s.group(k)
		for i, t := range og.rows {
			g.row(i).merge(t)
		}
	}
	for name, f := range o.skills {
		s.figures(name).merge(f)
	}
}

// called are the skills that were called, by the model or by the user, whatever came
// of it.
func (s *sums) called() map[string]bool {
	out := map[string]bool{}
	for name, f := range s.skills {
		if f.ByModel+f.ByUser > 0 {
			out[name] = true
		}
	}
	return out
}

// tally is the sum of a row.
type tally struct {
	ledger.Sum
	Calls, sessions int
	priced          bool
	unpriced        int64
	figures         *figures

	last int // the request of its session that was counted last, from 1
}

// add adds a charge of the nth request of its session.
func (t *tally) add(c *ledger.Call, n int, ch *ledger.Charge) {
	t.Sum.Add(ch)
	t.count(n)
	if c.Priced {
		t.priced = true
	} else {
		t.unpriced += all(&ch.Tokens)
	}
}

// count counts a request once.
func (t *tally) count(n int) {
	t.sessions = 1
	if t.last != n {
		t.last = n
		t.Calls++
	}
}

func (t *tally) merge(o *tally) {
	t.Tokens.Add(o.Tokens)
	t.Once += o.Once
	t.Cost = t.Cost.Add(o.Cost)
	if o.Basis != "" {
		t.Sum.Add(&ledger.Charge{Basis: o.Basis})
	}
	t.Calls += o.Calls
	t.sessions += o.sessions
	t.priced = t.priced || o.priced
	t.unpriced += o.unpriced
	if o.figures != nil {
		if t.figures == nil {
			t.figures = &figures{}
		}
		t.figures.merge(o.figures)
	}
}

func (t *tally) row(k Key) Row {
	return Row{Key: k, Sessions: t.sessions, Calls: t.Calls, Sum: t.Sum, Priced: t.priced, Unpriced: t.unpriced}
}

// Money is tokens and what they cost.
type Money struct {
	Tokens int64
	Cost   budget.Amount
	// MicroUSD is Cost rounded so that rows make their total, once all is summed up.
	MicroUSD int64
}

func (m *Money) add(o Money) {
	m.Tokens += o.Tokens
	m.Cost = m.Cost.Add(o.Cost)
}

// Avoidable is what was sent in vain. Nothing is counted twice.
type Avoidable struct {
	// Repeated are texts that stood in the same prompt already: bodies that were loaded
	// twice, lines of listings that were sent again.
	Repeated Money
	// Duplicate are lines of listings that say what another line says.
	Duplicate Money
	// Uncalled are the other lines of skills that nobody called.
	Uncalled Money
}

func (a *Avoidable) add(o Avoidable) {
	a.Repeated.add(o.Repeated)
	a.Duplicate.add(o.Duplicate)
	a.Uncalled.add(o.Uncalled)
}

// All is the sum.
func (a *Avoidable) All() Money {
	m := a.Repeated
	m.add(a.Duplicate)
	m.add(a.Uncalled)
	return m
}

// Figures tell of one skill.
type Figures struct {
	Listed, Described int // lines in listings, and those of them with a text
	ByModel, ByUser   int // attempts, whatever came of them
	Refused, Rejected int // of these, by the client and by the user
	Loads, Reattached replay.Texts
	Repeated          replay.Texts // of the loads, those that stood in the conversation
	Notes             int
	AfterCompaction   int // invocations behind the last compaction of their conversation
	Avoidable         Avoidable
	// OnBehalf is what agents spent that a call of the skill started, without what is
	// charged to the skill itself: a part of other rows.
	OnBehalf Money
}

// figures are Figures that go on.
type figures struct {
	Figures
	lines Money // lines of listings that are neither repeated nor duplicates
}

func (f *figures) merge(o *figures) {
	f.Listed += o.Listed
	f.Described += o.Described
	f.ByModel += o.ByModel
	f.ByUser += o.ByUser
	f.Refused += o.Refused
	f.Rejected += o.Rejected
	f.Notes += o.Notes
	f.AfterCompaction += o.AfterCompaction
	for _, t := range [][2]*replay.Texts{{&f.Loads, &o.Loads}, {&f.Reattached, &o.Reattached}, {&f.Repeated, &o.Repeated}} {
		t[0].Count += t[1].Count
		t[0].Chars += t[1].Chars
	}
	f.Avoidable.add(o.Avoidable)
	f.OnBehalf.add(o.OnBehalf)
	f.lines.add(o.lines)
}

// settle is what is known in the end: whether the skill was called.
func (f *figures) settle(called bool) *Figures {
	out := f.Figures
	if !called {
		out.Avoidable.Uncalled.add(f.lines)
	}
	return &out
}

// sum puts a charge of a skill where it belongs. duplicates are the parts of skills'
// lines, from 0 to 1, that say what other lines say; rates are those of the request.
func (f *figures) sum(ch *ledger.Charge, duplicates map[string]float64, rates *budget.Rates) {
	m := Money{Tokens: all(&ch.Tokens), Cost: ch.Cost}
	switch {
	case ch.Repeat:
		f.Avoidable.Repeated.add(m)
	case ch.Layer == replay.LayerListing && ch.Part == replay.PartLine:
		if duplicate := duplicates[ch.Skill]; duplicate > 0 {
			d := ch.Tokens
			scale(&d, duplicate)
			part := Money{Tokens: all(&d)}
			if rates != nil {
				part.Cost = price(&d, rates)
			}
			f.Avoidable.Duplicate.add(part)
			m = Money{Tokens: m.Tokens - part.Tokens, Cost: m.Cost.Minus(part.Cost)}
		}
		f.lines.add(m)
	}
}

// scale multiplies tokens, each kind rounded half up.
func scale(t *ledger.Tokens, by float64) {
	for _, n := range []*int64{&t.Input, &t.CacheWrite5m, &t.CacheWrite1h, &t.CacheRead, &t.Output} {
		*n = int64(float64(*n)*by + 0.5)
	}
}

// price is the price of tokens.
func price(t *ledger.Tokens, rates *budget.Rates) budget.Amount {
	return rates.Cost(budget.Usage{Input: t.Input, CacheWrite5m: t.CacheWrite5m, CacheWrite1h: t.CacheWrite1h, CacheRead: t.CacheRead, Output: t.Output})
}

// duplicates are the parts of skills' lines that say what other lines of the listing
// say. Lines that are word for word like one before them are not among them: the
// ledger knows these.
func duplicates(lines []skills.ListedLine) map[string]float64 {
	groups := skills.Duplicates(lines)
	if len(groups) == 0 {
		return nil
	}
	redundant := map[int]bool{}
	for _, g := range groups {
		for _, i := range g.Entries[1:] {
			redundant[i] = true
		}
	}
	type line struct{ name, raw string }
	seen := map[line]bool{}
	whole, part := map[string]int{}, map[string]int{}
	for i, l := range lines {
		if l.Name == "" || seen[line{l.Name, l.Raw}] {
			continue
		}
		seen[line{l.Name, l.Raw}] = true
		whole[l.Name] += len(l.Raw)
		if redundant[i] {
			part[l.Name] += len(l.Raw)
		}
	}
	out := map[string]float64{}
	for name, n := range part {
		if n > 0 {
			out[name] = float64(n) / float64(whole[name])
		}
	}
	return out
}
