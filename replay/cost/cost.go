// Package cost sums the charges of many sessions by what the reader asks for: by
// layer, by skill, by project, by day, or by several of these together; and says of
// each skill how often it was listed, called and loaded, what of that was avoidable,
// and what the same sessions would have cost with other inputs.
//
// Sessions go by one at a time: of each only its sums are kept. Requests and records
// that several logs hold count once, for the session that made them, whatever the
// order; those that turn out to be another's are summed anew:
//
//	c := cost.New(options, len(logs))
//	for i := range logs { c.Add(i, session) }          // in any order, from any goroutine
//	for _, i := range c.Again() { c.Settle(i, session) } // likewise
//	result := c.Result()
//
// Sums are exact: over the rows of any grouping they make the same total.
package cost

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
)

// By is something that charges are summed by.
type By string

// What charges are summed by.
const (
	ByLayer   By = "layer"
	ByPart    By = "part" // of its layer: a line, a body, the system prompt
	BySkill   By = "skill"
	BySession By = "session"
	ByProject By = "project" // the folder in which the session was begun
	ByModel   By = "model"
	ByVersion By = "version" // of the client
	ByDay     By = "day"
	ByWeek    By = "week" // ISO 8601
	ByMonth   By = "month"
	ByAgent   By = "agent" // "main", or the id of a subagent
)

// Bys lists them.
var Bys = []By{ByLayer, ByPart, BySkill, BySession, ByProject, ByModel, ByVersion, ByDay, ByWeek, ByMonth, ByAgent}

// Key is what a row is for. What was not asked for is empty, as is what is not known:
// a skill where none can be named, a day where a record has no time.
type Key struct {
	Layer   replay.Layer
	Part    replay.Part
	Skill   string
	Session string
	Project string
	Model   string
	Version string
	Day     string // 2026-11-30
	Week    string // 2026-W49
	Month   string // 2026-11
	Agent   string
}

// Of is the value of k under what it is summed by.
func (k *Key) Of(by By) string {
	if at := k.at(by); at != nil {
		return *at
	}
	return ""
}

// at is where a key stands, nil for one that there is not.
func (k *Key) at(by By) *string {
	switch by {
	case ByLayer:
		return (*string)(&k.Layer)
	case ByPart:
		return (*string)(&k.Part)
	case BySkill:
		return &k.Skill
	case BySession:
		return &k.Session
	case ByProject:
		return &k.Project
	case ByModel:
		return &k.Model
	case ByVersion:
		return &k.Version
	case ByDay:
		return &k.Day
	case ByWeek:
		return &k.Week
	case ByMonth:
		return &k.Month
	case ByAgent:
		return &k.Agent
	}
	return nil
}

// Options say what is counted, and how.
type Options struct {
	By     []By // in the order in which rows are grouped
	Prices *budget.Book
	// Since and Until bound the requests that count: those at or after the one and
	// before the other. A zero time is no bound. Requests without a time are within no
	// bounds.
	Since, Until time.Time
	Location     *time.Location // of days, weeks and months; nil means UTC
	// Calls keeps a line for each request and layer, and each part and skill if these
	// are asked for. Nothing else grows with the number of requests.
	Calls  bool
	WhatIf *WhatIf // nil for none
}

func (o *Options) sums(by By) bool { return slices.Contains(o.By, by) }

// within reports whether something that happened at a time counts.
func (o *Options) within(t time.Time) bool {
	if t.IsZero() {
		return o.Since.IsZero() && o.Until.IsZero()
	}
	return (o.Since.IsZero() || !t.Before(o.Since)) && (o.Until.IsZero() || t.Before(o.Until))
}

// Counter sums sessions up. Its methods may be called from several goroutines.
type Counter struct {
	o Options

	mu       sync.Mutex
	calls    ledger.Owners
	records  ledger.Owners
	parts    []*part
	accounts []*replay.Session // with the client's own totals and nothing else
}

// New makes a counter of n sessions.
func New(o Options, n int) *Counter {
	return &Counter{o: o, parts: make([]*part, n), accounts: make([]*replay.Session, n)}
}

// Add sums a session up as if all that its logs hold were its own. The session is not
// kept.
func (c *Counter) Add(i int, s *replay.Session) {
	c.mu.Lock()
	calls, records := c.calls.Note(s), c.records.Note(recordsOf(s))
	c.mu.Unlock()
	p := newPart(&c.o, s)
	p.calls, p.records = calls, records
	p.sum(s, nil, nil)
	p.client(s, nil, nil)
	c.mu.Lock()
	c.parts[i] = p
	if len(s.Accounts) > 0 {
		c.accounts[i] = &replay.Session{ID: s.ID, Accounts: s.Accounts}
	}
	c.mu.Unlock()
}

// Again are the sessions that must be read again, once all were added: those of which
// other logs hold something too, and those whose count by the client goes on from
// another's.
func (c *Counter) Again() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	others := c.others()
	var again []int
	for i, p := range c.parts {
		if p == nil {
			continue
		}
		if c.calls.Shared(p.calls) || c.records.Shared(p.records) || c.inherited(i, others) != nil {
			again = append(again, i)
		}
	}
	return again
}

// Settle sums one of these sessions up again.
func (c *Counter) Settle(i int, s *replay.Session) {
	c.mu.Lock()
	old := c.parts[i]
	inherited := c.inherited(i, c.others())
	c.mu.Unlock()
	// Nothing is noted any more: owners are only read.
	p := newPart(&c.o, s)
	p.calls, p.records = old.calls, old.records
	ours := c.calls.Of(p.calls)
	record := c.records.Of(p.records)
	p.sum(s, ours, func(w replay.Where) bool { return record(&replay.APICall{Where: w}) })
	p.client(s, c.calls.OfID(p.calls), inherited)
	c.mu.Lock()
	c.parts[i] = p
	c.mu.Unlock()
}

func (c *Counter) others() []*replay.Session {
	var others []*replay.Session
	for _, s := range c.accounts {
		if s != nil {
			others = append(others, s)
		}
	}
	return others
}

func (c *Counter) inherited(i int, others []*replay.Session) *replay.Account {
	if c.accounts[i] == nil {
		return nil
	}
	return ledger.InheritedBy(c.accounts[i], others)
}

// recordsOf stands for the records of a session that tell of skills.
func recordsOf(s *replay.Session) *replay.Session {
	out := &replay.Session{ID: s.ID, File: s.File, Start: s.Start, End: s.End, ForkOf: s.ForkOf, Copied: s.Copied}
	for _, a := range s.Agents {
		r := &replay.Agent{}
		for i := range a.Events {
			if e := &a.Events[i]; e.Where.UUID != "" && tells(e.Kind) {
				r.Calls = append(r.Calls, replay.APICall{Where: replay.Where{UUID: e.Where.UUID}})
			}
		}
		for i := range s.Failures {
			if f := &s.Failures[i]; a == s.Agents[0] && f.Where.UUID != "" {
				r.Calls = append(r.Calls, replay.APICall{Where: replay.Where{UUID: f.Where.UUID}})
			}
		}
		out.Agents = append(out.Agents, r)
	}
	return out
}

// tells reports whether events of a kind are counted by skill.
func tells(k replay.EventKind) bool {
	switch k {
	case replay.SkillCall, replay.Slash, replay.Prompt, replay.Listing, replay.Body, replay.Note, replay.Reattachment:
		return true
	}
	return false
}

// Row is a sum.
type Row struct {
	Key
	Sessions int
	Calls    int // requests of which something is charged here
	ledger.Sum
	MicroUSD int64 // of Cost, rounded so that rows make the total
	// Priced: a price is known of some of it; Unpriced are the tokens of the rest.
	Priced   bool
	Unpriced int64
	// Figures are those of the row's skill, nil where rows are of no skill, or of parts
	// of one that the log does not count apart.
	Figures *Figures
}

// Result is what sessions cost.
type Result struct {
	Sessions int
	Total    Row
	Layers   []Row // in the order of ledger.Layers, without empty ones
	Rows     []Row
	// Skills is how many skills have a name in the logs.
	Skills    int
	Avoidable Avoidable
	Unpriced  []Unpriced
	Notes     Notes
	Client    *Client // nil where no log holds a total of the client
	WhatIf    *Change // nil where nothing was asked
	Lines     []Line  // see Options.Calls
}

// Unpriced is a model whose price is not known.
type Unpriced struct {
	Model  string
	Calls  int
	Tokens int64
}

// Notes count what limits the figures.
type Notes struct {
	Unfinished      int   // requests without a final usage: at least
	WithoutUsage    int   // requests of which no usage was recorded
	Damaged         int   // requests with a usage of which a field is no count: at least
	Reanchored      int   // requests whose prompt changed as no record explains
	UnknownLifetime int   // requests with cache writes of unknown lifetime, priced at five minutes
	ModelChanged    int   // requests within which the model changed; the row with the highest output counts
	Copies          int   // requests that stand in the log of a session, but count for another
	OutOfTime       int   // requests outside of the bounds
	Surcharged      int   // requests at a price for long prompts that the client's own total leaves out
	Surcharge       int64 // micro-dollars of that
	Failed, Retried int   // requests that came to nothing, and those that were tried again
}

func (n *Notes) add(o *Notes) {
	n.Unfinished += o.Unfinished
	n.WithoutUsage += o.WithoutUsage
	n.Damaged += o.Damaged
	n.Reanchored += o.Reanchored
	n.UnknownLifetime += o.UnknownLifetime
	n.ModelChanged += o.ModelChanged
	n.Copies += o.Copies
	n.OutOfTime += o.OutOfTime
	n.Surcharged += o.Surcharged
	n.Surcharge += o.Surcharge
	n.Failed += o.Failed
	n.Retried += o.Retried
}

// Client is the client's own total of the sessions whose logs hold one.
type Client struct {
	Sessions    int
	MicroUSD    int64
	Ours        int64               // micro-dollars of the requests in the logs of the same sessions
	Differences []ledger.Difference // in the order of reasons
	Compactions int
}

// reasons are those of differences, in the order of one session's.
var reasons = []ledger.Reason{ledger.Silent, ledger.Inherited, ledger.Lost, ledger.Unwritten, ledger.Surcharge, ledger.Unpriced, ledger.Prices}

// Result sums all sessions up.
func (c *Counter) Result() *Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := newSums()
	out := &Result{}
	unpriced := map[string]*Unpriced{}
	clients := map[string]*ledger.Client{}
	ids := map[string]bool{} // a log that is given twice is one session
	var groups [][]Line
	for _, p := range c.parts {
		if p == nil {
			continue
		}
		ids[p.id] = true
		sum.merge(p.sums)
		out.Notes.add(&p.notes)
		for model, u := range p.unpriced {
			if had := unpriced[model]; had != nil {
				had.Calls += u.Calls
				had.Tokens += u.Tokens
			} else {
				unpriced[model] = &Unpriced{model, u.Calls, u.Tokens}
			}
		}
		// Of the logs of one session, the one with the last count tells.
		if had := clients[p.id]; p.own != nil && (had == nil || cmp.Or(cmp.Compare(p.own.Accounts, had.Accounts), cmp.Compare(p.own.MicroUSD, had.MicroUSD), cmp.Compare(p.own.Ours, had.Ours)) > 0) {
			clients[p.id] = p.own
		}
		if len(p.lines) > 0 {
			groups = append(groups, p.lines)
		}
	}
	// In whatever order the logs are given, their lines stand in one.
	slices.SortStableFunc(groups, func(a, b []Line) int {
		return cmp.Or(cmp.Compare(a[0].Session, b[0].Session), cmp.Compare(a[0].File, b[0].File))
	})
	out.Lines = slices.Concat(groups...)
	out.Sessions = len(ids)
	for _, id := range slices.Sorted(maps.Keys(clients)) {
		out.addClient(clients[id])
	}
	if out.Client != nil {
		slices.SortStableFunc(out.Client.Differences, func(a, b ledger.Difference) int {
			return cmp.Compare(slices.Index(reasons, a.Reason), slices.Index(reasons, b.Reason))
		})
	}
	for _, u := range unpriced {
		out.Unpriced = append(out.Unpriced, *u)
	}
	slices.SortFunc(out.Unpriced, func(a, b Unpriced) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), strings.Compare(a.Model, b.Model))
	})
	out.Total = sum.total.row(Key{})
	out.Total.MicroUSD = out.Total.Cost.Micro()
	for i, layer := range ledger.Layers {
		if l := &sum.layers[i]; l.Calls > 0 {
			out.Layers = append(out.Layers, l.row(Key{Layer: layer}))
		}
	}
	round(out.Layers)
	called := sum.called()
	for key, g := range sum.groups {
		for inner, t := range g.rows {
			k := key
			k.Layer, k.Part, k.Skill = inner.layer, inner.part, inner.skill
			row := t.row(k)
			if t.figures != nil {
				row.Figures = t.figures.settle(called[k.Skill])
			}
			out.Rows = append(out.Rows, row)
		}
	}
	slices.SortFunc(out.Rows, func(a, b Row) int { return compareKeys(&a.Key, &b.Key) })
	round(out.Rows)
	for name, f := range sum.skills {
		if name != "" {
			out.Skills++
			out.Avoidable.add(f.settle(called[name]).Avoidable)
		}
	}
	roundAvoidable(out.Rows, &out.Avoidable)
	c.o.order(out.Rows)
	if w := c.o.WhatIf; w != nil {
		named := map[string]bool{}
		for _, p := range c.parts {
			if p != nil {
				maps.Copy(named, p.known)
			}
		}
		out.WhatIf = w.change(c.parts, named)
	}
	return out
}

func (r *Result) addClient(own *ledger.Client) {
	if r.Client == nil {
		r.Client = &Client{}
	}
	c := r.Client
	c.Sessions++
	c.MicroUSD += own.MicroUSD
	c.Ours += own.Ours
	c.Compactions += own.Compactions
	for _, d := range own.Differences {
		at := slices.IndexFunc(c.Differences, func(had ledger.Difference) bool { return had.Reason == d.Reason })
		if at < 0 {
			c.Differences = append(c.Differences, d)
			continue
		}
		had := &c.Differences[at]
		had.Requests += d.Requests
		had.MicroUSD += d.MicroUSD
		had.Counts.Input += d.Counts.Input
		had.Counts.CacheWrite += d.Counts.CacheWrite
		had.Counts.CacheRead += d.Counts.CacheRead
		had.Counts.Output += d.Counts.Output
		had.Counts.WebSearches += d.Counts.WebSearches
	}
}

// round rounds the costs of rows so that they make the total. Rows must be in an
// order that does not depend on how they are shown.
func round(rows []Row) {
	amounts := make([]budget.Amount, len(rows))
	for i := range rows {
		amounts[i] = rows[i].Cost
	}
	for i, n := range budget.RoundAmounts(amounts) {
		rows[i].MicroUSD = n
	}
}

// roundAvoidable rounds what was avoidable of rows whose costs are rounded: so that
// the rows make the total, and none of them more than it costs. Where the costs
// leave no room for the total, it is that of the rows.
func roundAvoidable(rows []Row, total *Avoidable) {
	target := total.All().Cost.Micro()
	var of []int
	var amounts []budget.Amount
	for i := range rows {
		if f := rows[i].Figures; f != nil {
			f.OnBehalf.MicroUSD = f.OnBehalf.Cost.Micro()
			of, amounts = append(of, i), append(amounts, f.Avoidable.All().Cost)
		}
	}
	if len(of) == 0 {
		total.round(target)
		return
	}
	micros := budget.RoundAmounts(amounts)
	var over int64 // what rows cannot have, as they cost less
	for k, i := range of {
		if n := micros[k] - rows[i].MicroUSD; n > 0 {
			micros[k] -= n
			over += n
		}
	}
	// It goes to those that were rounded down, of which the costs have room.
	for k, i := range of {
		if over > 0 && micros[k] < rows[i].MicroUSD && micros[k] <= amounts[k].Micro() && !amounts[k].IsZero() {
			micros[k]++
			over--
		}
	}
	sum := Avoidable{}
	for k, i := range of {
		a := &rows[i].Figures.Avoidable
		a.round(micros[k])
		sum.Repeated.MicroUSD += a.Repeated.MicroUSD
		sum.Duplicate.MicroUSD += a.Duplicate.MicroUSD
		sum.Uncalled.MicroUSD += a.Uncalled.MicroUSD
	}
	total.Repeated.MicroUSD, total.Duplicate.MicroUSD, total.Uncalled.MicroUSD = sum.Repeated.MicroUSD, sum.Duplicate.MicroUSD, sum.Uncalled.MicroUSD
}

// round rounds the reasons so that they make a sum that is rounded already.
func (a *Avoidable) round(micro int64) {
	reasons := []*Money{&a.Repeated, &a.Duplicate, &a.Uncalled}
	var largest *Money
	for k, n := range budget.RoundAmounts([]budget.Amount{a.Repeated.Cost, a.Duplicate.Cost, a.Uncalled.Cost}) {
		reasons[k].MicroUSD = n
		micro -= n
		if largest == nil || reasons[k].Cost.Compare(largest.Cost) > 0 {
			largest = reasons[k]
		}
	}
	// The sum may be a micro-dollar off, as its row is.
	largest.MicroUSD += micro
}

func compareKeys(a, b *Key) int {
	c := cmp.Compare(slices.Index(ledger.Layers, a.Layer), slices.Index(ledger.Layers, b.Layer))
	for _, by := range Bys[1:] {
		if c != 0 {
			break
		}
		c = strings.Compare(a.Of(by), b.Of(by))
	}
	return c
}

// order sorts rows for the reader: by the first of what they are summed by, then by
// the second: layers and times in their own order, all else by cost, the highest
// first.
func (o *Options) order(rows []Row) {
	type prefix struct {
		key   Key
		depth int
	}
	sums := map[prefix]*tally{}
	cut := func(k *Key, depth int) prefix {
		p := prefix{depth: depth}
		for _, by := range o.By[:depth+1] {
			p.key.set(by, k.Of(by))
		}
		return p
	}
	for i := range rows {
		for depth := range o.By {
			p := cut(&rows[i].Key, depth)
			if sums[p] == nil {
				sums[p] = &tally{}
			}
			t := sums[p]
			t.Cost = t.Cost.Add(rows[i].Cost)
			t.Tokens.Add(rows[i].Tokens)
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		for depth, by := range o.By {
			x, y := a.Of(by), b.Of(by)
			if x == y {
				continue
			}
			switch by {
			case ByLayer:
				return cmp.Compare(slices.Index(ledger.Layers, a.Layer), slices.Index(ledger.Layers, b.Layer))
			case ByDay, ByWeek, ByMonth:
				return strings.Compare(x, y)
			}
			s, t := sums[cut(&a.Key, depth)], sums[cut(&b.Key, depth)]
			return cmp.Or(t.Cost.Compare(s.Cost), cmp.Compare(all(&t.Tokens), all(&s.Tokens)), strings.Compare(x, y))
		}
		return 0
	})
}

// set is the reverse of Of.
func (k *Key) set(by By, value string) {
	if at := k.at(by); at != nil {
		*at = value
	}
}

// all is the number of tokens of all kinds.
func all(t *ledger.Tokens) int64 {
	return t.Input + t.CacheWrite5m + t.CacheWrite1h + t.CacheRead + t.Output
}
