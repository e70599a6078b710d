package cost

import (
	"fmt"
	"slices"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
	"github.com/skilltrace/skilltrace/replay/relist"
	"github.com/skilltrace/skilltrace/skills"
)

// part is what one session adds.
type part struct {
	o              *Options
	id             string
	calls, records int // its numbers among the owners
	*sums
	unpriced map[string]*Unpriced
	notes    Notes
	own      *ledger.Client
	lines    []Line
	change   *changed // nil where nothing was asked

	known map[string]bool // the skills that it names
	days  map[int64]times // by the hour: a day has one name from its first hour on
}

// times are what a request counts for.
type times struct{ day, week, month string }

func newPart(o *Options, s *replay.Session) *part {
	p := &part{o: o, id: s.ID, sums: newSums(), unpriced: map[string]*Unpriced{}, known: map[string]bool{}, days: map[int64]times{}}
	if o.WhatIf != nil {
		p.change = &changed{layers: make([]ChangedLayer, len(ledger.Layers))}
	}
	return p
}

// Line is what a request took for a layer, and a part and a skill if these are asked
// for.
type Line struct {
	Session, Agent, OnBehalfOf, Project string
	File                                string
	Line                                int
	Time                                time.Time
	Model, Version, Message, Request    string
	Final, Priced                       bool
	Layer                               replay.Layer
	Part                                replay.Part
	Skill                               string
	ledger.Sum
}

// sum sums a session up. ours tells which requests count for it, and record which
// records; nil admits all.
func (p *part) sum(s *replay.Session, ours func(*replay.APICall) bool, record func(replay.Where) bool) {
	if record == nil {
		record = func(replay.Where) bool { return true }
	}
	known := p.whatIf(s)
	counts := func(w replay.Where) bool { return p.o.within(w.Time) && record(w) }
	p.events(s, counts)
	for i := range s.Failures {
		switch f := &s.Failures[i]; {
		case !counts(f.Where):
		case f.Retry > 0:
			p.notes.Retried++
		default:
			p.notes.Failed++
		}
	}
	for _, a := range s.Agents {
		for i := range a.Calls {
			c := &a.Calls[i]
			switch {
			case !p.o.within(c.Where.Time):
				p.notes.OutOfTime++
			case ours != nil && !ours(c):
				p.notes.Copies++
			}
		}
	}
	only := func(c *replay.APICall) bool { return p.o.within(c.Where.Time) && (ours == nil || ours(c)) }
	n := 0
	var at *walk
	for c := range ledger.Calls(s, p.o.Prices, only) {
		n++
		if at == nil || at.agent != c.Agent {
			at = &walk{agent: c.Agent, duplicates: map[string]float64{}}
			if w := p.o.WhatIf; w != nil && w.lists() {
				at.listed = &relisted{w: w, known: known, client: s.Client, d: p.change, agent: c.Agent}
				if len(w.Remove) > 0 {
					at.bodies = &putBack{w: w, client: s.Client, d: p.change}
				}
			}
		}
		at.to(c.Event)
		p.call(c, n, at)
	}
}

// whatIf prepares for other inputs.
func (p *part) whatIf(s *replay.Session) (known *relist.Known) {
	w := p.o.WhatIf
	if w == nil || !w.lists() {
		return nil
	}
	if !slices.ContainsFunc(s.Agents, func(a *replay.Agent) bool {
		return slices.ContainsFunc(a.Events, func(e replay.Event) bool { return e.Kind == replay.Listing })
	}) {
		p.change.Unlisted++
		return nil
	}
	if w.Known != nil {
		known = w.Known(s)
	}
	if w.Cut >= 0 && (known == nil || len(known.Given) == 0) {
		p.change.Unowned++
	}
	return known
}

// call adds a request.
func (p *part) call(c *ledger.Call, n int, at *walk) {
	p.total.count(n)
	p.note(c)
	g := p.group(p.key(c.Session, c.Agent.ID, c.Model, c.Version, c.Where.Time))
	if !p.o.sums(ByLayer) && !p.o.sums(ByPart) && !p.o.sums(BySkill) {
		g.row(inner{}).count(n)
	}
	var rates *budget.Rates
	usage := ledger.Billed(&c.Usage)
	if c.Priced {
		found, _ := p.o.Prices.Lookup(c.Model, c.Where.Time)
		r := found.RatesFor(usage)
		rates = &r
		if found.Surcharged(usage) {
			p.notes.Surcharged++
			p.notes.Surcharge += found.Cost(usage).Minus(found.ClientCost(usage)).Micro()
		}
	}
	charges := c.Charges
	if !c.Searches.IsZero() {
		// With the others of its layer, which stand before the output.
		at := slices.IndexFunc(charges, func(ch ledger.Charge) bool { return ch.Layer == replay.LayerOutput })
		if at < 0 {
			at = len(charges)
		}
		charges = slices.Insert(slices.Clip(charges), at, ledger.Charge{Key: ledger.Key{Layer: replay.LayerOther, Part: replay.PartSearches}, Basis: ledger.Exact, Cost: c.Searches})
	}
	behalf := c.Agent.OnBehalfOf
	for i := range charges {
		ch := &charges[i]
		if ch.Part == replay.PartTag && !p.known[ch.Skill] {
			ch.Skill = "" // a command of the client, as /compact
		}
		p.total.add(c, n, ch)
		slot := g.slots[ch.Key]
		if slot == nil {
			slot = p.slot(g, &ch.Key)
		}
		slot.layer.add(c, n, ch)
		slot.row.add(c, n, ch)
		for _, f := range slot.figures {
			f.sum(ch, at.duplicates, rates)
		}
		if behalf != "" && ch.Skill != behalf {
			m := Money{Tokens: all(&ch.Tokens), Cost: ch.Cost}
			p.figures(behalf).OnBehalf.add(m)
			if p.o.Figures() {
				figuresOf(g.row(inner{skill: behalf})).OnBehalf.add(m)
			}
		}
	}
	if p.o.Calls {
		p.line(c, charges)
	}
	if p.change != nil {
		p.change.call(p.o, c, charges, usage, at)
	}
}

// slot is where charges of a key belong.
type slot struct {
	layer, row *tally
	figures    []*figures // of the skill, and of its row
}

// inner is what of a key rows are by.
func (o *Options) inner(k *ledger.Key) (in inner) {
	if o.sums(ByLayer) {
		in.layer = k.Layer
	}
	if o.sums(ByPart) {
		in.part = k.Part
	}
	if o.sums(BySkill) {
		in.skill = k.Skill
	}
	return in
}

func (p *part) slot(g *group, k *ledger.Key) *slot {
	s := &slot{layer: &p.layers[layerIndex(k.Layer)], row: g.row(p.o.inner(k))}
	if k.Skill != "" {
		s.figures = append(s.figures, p.figures(k.Skill))
		if p.o.Figures() {
			s.figures = append(s.figures, figuresOf(s.row))
		}
	}
	g.slots[*k] = s
	return s
}

// figuresOf are the figures of a row.
func figuresOf(t *tally) *figures {
	if t.figures == nil {
		t.figures = &figures{}
	}
	return t.figures
}

// Figures reports whether rows have figures of their skills: a listing or a call is of
// no layer, of no part, and of no model.
func (o *Options) Figures() bool {
	return o.sums(BySkill) && !o.sums(ByLayer) && !o.sums(ByPart) && !o.sums(ByModel)
}

// note takes what limits the figures of a request.
func (p *part) note(c *ledger.Call) {
	switch {
	case !c.HasUsage:
		p.notes.WithoutUsage++
	case c.Usage.Damaged:
		p.notes.Damaged++
	case !c.Final:
		p.notes.Unfinished++
	}
	if c.Reanchored {
		p.notes.Reanchored++
	}
	if c.UnknownLifetime {
		p.notes.UnknownLifetime++
	}
	if len(c.Models) > 1 {
		p.notes.ModelChanged++
	}
	if c.HasUsage && !c.Priced {
		u := p.unpriced[c.Model]
		if u == nil {
			u = &Unpriced{Model: c.Model}
			p.unpriced[c.Model] = u
		}
		u.Calls++
		for i := range c.Charges {
			u.Tokens += all(&c.Charges[i].Tokens)
		}
	}
}

// key is what rows are for, without layer and skill.
func (p *part) key(s *replay.Session, agent, model, version string, t time.Time) Key {
	var k Key
	for _, by := range p.o.By {
		switch by {
		case BySession:
			k.Session = s.ID
		case ByProject:
			k.Project = s.CWD
		case ByModel:
			k.Model = model
		case ByVersion:
			k.Version = version
		case ByAgent:
			k.Agent = agent
		case ByDay:
			k.Day = p.times(t).day
		case ByWeek:
			k.Week = p.times(t).week
		case ByMonth:
			k.Month = p.times(t).month
		}
	}
	return k
}

// times names the day, week and month of a time.
func (p *part) times(t time.Time) times {
	if t.IsZero() {
		return times{}
	}
	// No zone has a day that begins within a quarter of an hour.
	quarter := t.Unix() / 900
	if out, ok := p.days[quarter]; ok {
		return out
	}
	if p.o.Location == nil {
		t = t.UTC()
	} else {
		t = t.In(p.o.Location)
	}
	year, week := t.ISOWeek()
	out := times{t.Format(time.DateOnly), fmt.Sprintf("%04d-W%02d", year, week), t.Format("2006-01")}
	p.days[quarter] = out
	return out
}

// line keeps what a request took, by layer.
func (p *part) line(c *ledger.Call, charges []ledger.Charge) {
	from := len(p.lines)
	for i := range charges {
		ch := &charges[i]
		in := p.o.inner(&ch.Key)
		same := func(l Line) bool { return l.Layer == ch.Layer && l.Part == in.part && l.Skill == in.skill }
		// Charges come by layer, skill and part: what belongs together stands together,
		// but for the parts of several skills, which are few.
		first := max(from, len(p.lines)-1)
		if p.o.sums(ByPart) && !p.o.sums(BySkill) {
			first = from
		}
		if at := slices.IndexFunc(p.lines[first:], same); at >= 0 {
			p.lines[first+at].Sum.Add(ch)
			continue
		}
		l := Line{Session: c.Session.ID, Agent: c.Agent.ID, OnBehalfOf: c.Agent.OnBehalfOf, Project: c.Session.CWD, File: c.Where.File, Line: c.Where.Line, Time: c.Where.Time,
			Model: c.Model, Version: c.Version, Message: c.Message, Request: c.Request, Final: c.Final, Priced: c.Priced, Layer: ch.Layer, Part: in.part, Skill: in.skill}
		l.Sum.Add(ch)
		p.lines = append(p.lines, l)
	}
}

// client sets the client's own total beside ours, where all requests of the session
// count.
func (p *part) client(s *replay.Session, ours func(*replay.APICall) bool, inherited *replay.Account) {
	if p.notes.OutOfTime > 0 {
		return
	}
	if c, ok := ledger.ClientTotal(s, p.o.Prices, ours, inherited); ok {
		c.Account = nil
		p.own = &c
	}
}

// events counts what the records of a session tell of skills.
func (p *part) events(s *replay.Session, counts func(replay.Where) bool) {
	for _, a := range s.Agents {
		note := func(w replay.Where, version, skill string, add func(*figures)) {
			if skill == "" {
				return
			}
			p.known[skill] = true
			if !counts(w) {
				return
			}
			add(p.figures(skill))
			if p.o.Figures() {
				add(figuresOf(p.group(p.key(s, a.ID, "", version, w.Time)).row(inner{skill: skill})))
			}
		}
		summary := replay.Summarize(a)
		for i := range summary.Attempts {
			t := &summary.Attempts[i]
			note(t.Where, t.Version, t.Skill, func(f *figures) { f.attempt(t) })
			if w := p.o.WhatIf; w != nil && t.By == replay.ByModel && counts(t.Where) && slices.Contains(w.Manual, t.Skill) {
				p.change.Refused++
			}
		}
		for i := range summary.Sent {
			t := &summary.Sent[i]
			note(t.Where, t.Version, t.Skill, func(f *figures) { f.text(t) })
		}
		for i := range a.Events {
			e := &a.Events[i]
			if e.Kind != replay.Listing || e.Listing == nil {
				continue
			}
			for _, l := range skills.ParseListing(e.Listing.Content, e.Listing.Names, a.BlankNames...) {
				note(e.Where, e.Version, l.Name, func(f *figures) {
					f.Listed++
					if !l.Bare {
						f.Described++
					}
				})
			}
		}
	}
}

func (f *figures) attempt(t *replay.Attempt) {
	if t.By == replay.ByUser {
		f.ByUser++
	} else {
		f.ByModel++
	}
	switch t.Outcome {
	case replay.OutcomeRefused:
		f.Refused++
	case replay.OutcomeRejected:
		f.Rejected++
	case replay.OutcomeInvoked:
		if t.AfterCompaction {
			f.AfterCompaction++
		}
	}
}

func (f *figures) text(t *replay.SentText) {
	switch t.Kind {
	case replay.Body:
		f.Loads.Count++
		f.Loads.Chars += t.Chars
		if t.Again {
			f.Repeated.Count++
			f.Repeated.Chars += t.Chars
		}
	case replay.Note:
		f.Notes++
	case replay.Reattachment:
		f.Reattached.Count++
		f.Reattached.Chars += t.Chars
	}
}

// walk goes along an agent's events with its requests.
type walk struct {
	agent *replay.Agent
	next  int
	// duplicates are the parts of skills' lines that say what others say.
	duplicates map[string]float64
	// listed are the listings as they would have been; nil where they would not change.
	listed *relisted
	// bodies are what compactions would have put back; nil where nothing is removed.
	bodies *putBack
}

// to goes on to the first n events.
func (w *walk) to(n int) {
	for ; w.next < n && w.next < len(w.agent.Events); w.next++ {
		e := &w.agent.Events[w.next]
		if w.bodies != nil {
			w.bodies.event(e)
		}
		if e.Kind != replay.Listing || e.Listing == nil {
			continue
		}
		lines := skills.ParseListing(e.Listing.Content, e.Listing.Names, w.agent.BlankNames...)
		if e.Listing.Initial || !e.Listing.HasInitial {
			clear(w.duplicates)
		}
		for _, l := range lines {
			delete(w.duplicates, l.Name)
		}
		for name, d := range duplicates(lines) {
			w.duplicates[name] = d
		}
		if w.listed != nil {
			w.listed.listing(e, lines)
		}
	}
}

func layerIndex(l replay.Layer) int {
	for i, known := range ledger.Layers {
		if known == l {
			return i
		}
	}
	return layerIndex(replay.LayerOther)
}
