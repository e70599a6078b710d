package ledger

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
)

// Reason says why the client's own total differs from what its log holds.
type Reason string

// The reasons, in the order in which they are shown.
const (
	// Silent: requests that are in no log, such as those of compaction, titles and
	// warm-ups.
	Silent Reason = "silent"
	// Inherited: the count goes on from another session, which this one was forked
	// from, or whose beginning its log lacks. Silent requests may be among them.
	Inherited Reason = "inherited"
	// Lost: requests in the log that the client's count lacks. They are those of a
	// process that ended without writing its count.
	Lost Reason = "lost"
	// Unwritten: requests behind the last count.
	Unwritten Reason = "unwritten"
	// Surcharge: the price of long prompts, which the client leaves out.
	Surcharge Reason = "surcharge"
	// Unpriced: models whose price is not known; the client prices them like another.
	Unpriced Reason = "unpriced"
	// Prices: the same tokens at other prices.
	Prices Reason = "prices"
)

var reasons = []Reason{Silent, Inherited, Lost, Unwritten, Surcharge, Unpriced, Prices}

// Counts are tokens, and web searches, without the lifetimes of cache writes, which
// older clients do not count.
type Counts struct {
	Input, CacheWrite, CacheRead, Output, WebSearches int64
}

func (c Counts) plus(o Counts, sign int64) Counts {
	return Counts{c.Input + sign*o.Input, c.CacheWrite + sign*o.CacheWrite, c.CacheRead + sign*o.CacheRead, c.Output + sign*o.Output, c.WebSearches + sign*o.WebSearches}
}

// within reports whether no count of c is above that of o.
func (c Counts) within(o Counts) bool {
	return c.Input <= o.Input && c.CacheWrite <= o.CacheWrite && c.CacheRead <= o.CacheRead && c.Output <= o.Output && c.WebSearches <= o.WebSearches
}

// Difference is a part of what the client counts more than the log holds; below 0
// where it counts less.
type Difference struct {
	Reason Reason
	// Requests of the log that are concerned: none of silent ones, whose number is
	// not known.
	Requests int
	Counts   Counts
	MicroUSD int64
}

// Client is the client's own total of a session beside ours.
type Client struct {
	// Account is the last that the log holds, and Accounts how many there are.
	Account  *replay.Account
	Accounts int
	// MicroUSD is the client's total of this session: without what it took over from
	// the one that it was forked from, where that is known.
	MicroUSD int64
	// Ours is the price of the requests in the log, and Differences what makes
	// MicroUSD of it, to the micro-dollar.
	Ours        int64
	Differences []Difference // in the order of the reasons
	// Compactions before the last account. The request of each is silent.
	Compactions int
}

// ClientTotal sets the client's own total of a session beside the price of the
// requests in its log, and explains the difference. It reports false where the log
// holds no total. only admits the requests that count for this session; nil admits
// all (see [Owners]). inherited is the count that the session began with, nil if
// that is not known (see [InheritedBy]).
//
// Between two counts of the client, what it counts more than the log holds was
// silent. What it counts less is of a process that did not write its count: of the
// first requests after the count before, as many as explain it.
func ClientTotal(s *replay.Session, prices *budget.Book, only func(*replay.APICall) bool, inherited *replay.Account) (Client, bool) {
	if len(s.Accounts) == 0 {
		return Client{}, false
	}
	last := len(s.Accounts) - 1
	cmp := &comparison{prices: prices, money: map[Reason]*signed{}, found: map[Reason]*Difference{}}
	periods := cmp.periods(s, only)
	c := Client{Account: &s.Accounts[last], Accounts: len(s.Accounts)}
	before := inherited
	var total budget.Amount
	for i := range s.Accounts {
		now := &s.Accounts[i]
		if before != nil && !continues(before, now) {
			before = nil // a new count
		}
		total = total.Add(dollars(now.TotalUSD).Minus(totalOf(before)))
		more := Silent
		if i == 0 && inherited == nil && beginsElsewhere(s) {
			more = Inherited
		}
		cmp.period(before, now, periods[i], more)
		before = now
	}
	for _, p := range periods[last+1] {
		cmp.without(Unwritten, p)
	}
	c.MicroUSD, c.Ours = total.Micro(), cmp.ours.Micro()
	c.Differences = cmp.settle(c.MicroUSD - c.Ours)
	if main := s.Main(); main != nil {
		for i := range main.Events {
			if e := &main.Events[i]; e.Kind == replay.Compaction && e.Where.Line < c.Account.Where.Line {
				c.Compactions++
			}
		}
	}
	return c, true
}

// InheritedBy is the count with which a session began, among those of other
// sessions: the greatest that the first of its own goes on from and that was written
// before. It is nil where there is none.
func InheritedBy(s *replay.Session, others []*replay.Session) *replay.Account {
	if len(s.Accounts) == 0 || s.Accounts[0].Started.IsZero() {
		return nil
	}
	first := &s.Accounts[0]
	var best *replay.Account
	for _, o := range others {
		if o == s || o.ID == s.ID {
			continue
		}
		for i := range o.Accounts {
			a := &o.Accounts[i]
			if !a.Started.Equal(first.Started) || a.Where.Time.After(first.Where.Time) || !continues(a, first) {
				continue
			}
			if best == nil || dollars(a.TotalUSD).Compare(dollars(best.TotalUSD)) > 0 {
				best = a
			}
		}
	}
	return best
}

// beginsElsewhere reports whether a log holds copies of another session's, or lacks
// what stands before its first boundary.
func beginsElsewhere(s *replay.Session) bool {
	return s.ForkOf != "" || s.Copied > 0 || s.Cut > 0
}

// continues reports whether a count goes on from another: no figure is less.
func continues(before, now *replay.Account) bool {
	if !before.Started.Equal(now.Started) || dollars(now.TotalUSD).Compare(dollars(before.TotalUSD)) < 0 {
		return false
	}
	had, has := byModel(before), byModel(now)
	for model, n := range had {
		if !n.Counts.within(has[model].Counts) {
			return false
		}
	}
	return true
}

// counted is what the client counts for a model.
type counted struct {
	Counts
	cost budget.Amount
}

// byModel are the counts of an account by model. The client counts a model whose
// window was asked for apart; the log does not tell them apart.
func byModel(a *replay.Account) map[string]counted {
	out := map[string]counted{}
	if a == nil {
		return out
	}
	for i := range a.Models {
		m := &a.Models[i]
		u := &m.Usage
		name := plainModel(m.Model)
		n := out[name]
		n.Counts = n.Counts.plus(Counts{Input: bounded(u.Input), CacheWrite: bounded(u.Writes()), CacheRead: bounded(u.CacheRead), Output: bounded(u.Output), WebSearches: bounded(u.WebSearches)}, 1)
		n.cost = n.cost.Add(dollars(m.CostUSD))
		out[name] = n
	}
	return out
}

// bounded is a count as far as it can be one.
func bounded(n int64) int64 { return min(max(n, 0), 1<<50) }

// plainModel is the name without what asks for the large window.
func plainModel(model string) string {
	if n := len(model) - len("[1m]"); n > 0 && strings.EqualFold(model[n:], "[1m]") {
		return model[:n]
	}
	return model
}

// dollars reads an amount as the client wrote it; what is none counts as nothing.
func dollars(text string) budget.Amount {
	a, err := budget.ParseAmount(text)
	if err != nil {
		return budget.Amount{}
	}
	return a
}

func totalOf(a *replay.Account) budget.Amount {
	if a == nil {
		return budget.Amount{}
	}
	return dollars(a.TotalUSD)
}

// paid is a request of the log with its prices.
type paid struct {
	model        string
	counts       Counts
	ours, client budget.Amount
	surcharge    bool
	priced       bool
}

// comparison collects differences.
type comparison struct {
	prices *budget.Book
	ours   budget.Amount
	money  map[Reason]*signed
	found  map[Reason]*Difference
}

// signed is an amount that may be below 0.
type signed struct{ more, less budget.Amount }

func (m *signed) micro() int64 {
	if m.more.Compare(m.less) >= 0 {
		return m.more.Minus(m.less).Micro()
	}
	return -m.less.Minus(m.more).Micro()
}

// periods are the requests of a session before each of its accounts, and behind the
// last one: by lines in the main log, by time in the others.
func (cmp *comparison) periods(s *replay.Session, only func(*replay.APICall) bool) [][]paid {
	out := make([][]paid, len(s.Accounts)+1)
	type placed struct {
		call *replay.APICall
		at   int
	}
	var calls []placed
	for _, a := range s.Agents {
		for i := range a.Calls {
			c := &a.Calls[i]
			if !c.HasUsage || only != nil && !only(c) {
				continue
			}
			at := 0
			for at < len(s.Accounts) && !covers(&s.Accounts[at], c, s.File) {
				at++
			}
			calls = append(calls, placed{c, at})
		}
	}
	slices.SortStableFunc(calls, func(a, b placed) int { return a.call.Where.Time.Compare(b.call.Where.Time) })
	for _, p := range calls {
		r := cmp.pay(p.call)
		cmp.ours = cmp.ours.Add(r.ours)
		out[p.at] = append(out[p.at], r)
	}
	return out
}

func covers(a *replay.Account, c *replay.APICall, main string) bool {
	if c.Where.File == main {
		return c.Where.Line < a.Where.Line
	}
	return !c.Where.Time.After(a.Where.Time)
}

func (cmp *comparison) pay(c *replay.APICall) paid {
	u := Billed(&c.Usage)
	p := paid{model: plainModel(c.Model), counts: Counts{Input: u.Input, CacheWrite: c.Usage.Writes(), CacheRead: u.CacheRead, Output: u.Output, WebSearches: u.WebSearches}}
	if price, ok := cmp.prices.Lookup(c.Model, c.Where.Time); ok {
		p.priced, p.surcharge = true, price.Surcharged(u)
		p.ours = price.Cost(u)
	}
	if price, ok := cmp.prices.ClientLookup(c.Model, c.Where.Time); ok {
		p.client = price.ClientCost(u)
	}
	return p
}

// period explains what the client counted between two accounts by the requests that
// the log has of that time; more is the reason for what it counted beyond them.
func (cmp *comparison) period(before, now *replay.Account, requests []paid, more Reason) {
	had, has := byModel(before), byModel(now)
	rest := map[string]counted{}
	for model, n := range has {
		n.Counts = n.Counts.plus(had[model].Counts, -1)
		n.cost = n.cost.Minus(had[model].cost)
		rest[model] = n
	}
	// From the end: the requests of a lost process are the first.
	lost := 0
	for i := len(requests) - 1; i >= 0; i-- {
		r := &requests[i]
		n := rest[r.model]
		if !r.counts.within(n.Counts) {
			lost = i + 1
			break
		}
		n.Counts = n.Counts.plus(r.counts, -1)
		rest[r.model] = n
	}
	for _, r := range requests[:lost] {
		cmp.without(Lost, r)
	}
	paidFor := map[string]budget.Amount{}
	for _, r := range requests[lost:] {
		paidFor[r.model] = paidFor[r.model].Add(r.client)
		switch {
		case !r.priced:
			cmp.add(Unpriced, 1, Counts{}, signed{more: r.client})
		case r.surcharge:
			cmp.add(Surcharge, 1, Counts{}, signed{more: r.client, less: r.ours})
		}
	}
	for _, model := range slices.Sorted(maps.Keys(rest)) {
		n := rest[model]
		d := signed{more: n.cost, less: paidFor[model]}
		switch {
		case n.Counts != Counts{}:
			cmp.add(more, 0, n.Counts, d)
		case d.micro() != 0:
			cmp.add(Prices, 0, Counts{}, d)
		}
	}
}

// without counts a request that the client's count lacks.
func (cmp *comparison) without(why Reason, r paid) {
	cmp.add(why, 1, Counts{}.plus(r.counts, -1), signed{less: r.ours})
}

func (cmp *comparison) add(why Reason, requests int, n Counts, m signed) {
	if cmp.found[why] == nil {
		cmp.found[why], cmp.money[why] = &Difference{Reason: why}, &signed{}
	}
	d, sum := cmp.found[why], cmp.money[why]
	d.Requests += requests
	d.Counts = d.Counts.plus(n, 1)
	sum.more, sum.less = sum.more.Add(m.more), sum.less.Add(m.less)
}

// settle rounds the differences so that they make up the whole. Some micro-dollars
// that no reason has are of the client's own arithmetic, which is inexact.
func (cmp *comparison) settle(whole int64) []Difference {
	var out []Difference
	largest := -1
	for _, why := range reasons {
		d := cmp.found[why]
		if d == nil {
			continue
		}
		d.MicroUSD = cmp.money[why].micro()
		whole -= d.MicroUSD
		out = append(out, *d)
		if n := len(out) - 1; largest < 0 || math.Abs(float64(d.MicroUSD)) > math.Abs(float64(out[largest].MicroUSD)) {
			largest = n
		}
	}
	switch {
	case whole == 0:
	case largest < 0:
		out = append(out, Difference{Reason: Prices, MicroUSD: whole})
	default:
		out[largest].MicroUSD += whole
	}
	return out
}
