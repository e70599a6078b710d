// Package ledger charges the recorded usage of a session to layers: every token
// of every model request to what put it into the prompt.
//
// A request's usage is exact; its prompt is a sequence of segments. Consecutive
// requests of one agent differ by the tokens of what was added between them, so
// the sizes of those segments are scaled to that difference; what the log never
// shows (system prompt, tools) is one segment of unknown size at the front. A
// prompt is read from the front: its first tokens came from the cache, the next
// were written to it, the rest was plain input, and each segment is charged
// where it lay. Per kind of usage the layers sum to the recorded value exactly.
package ledger

import (
	"math"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
)

// Basis says how well a figure is founded.
type Basis string

// The bases, strongest first.
const (
	Exact     Basis = "exact"     // a recorded difference that one segment makes up
	Anchored  Basis = "anchored"  // scaled to a recorded difference
	Estimated Basis = "estimated" // no recorded difference
)

// Tokens are counts of tokens by how they are billed.
type Tokens struct {
	Input, CacheWrite5m, CacheWrite1h, CacheRead, Output int64
}

// Add adds o to t.
func (t *Tokens) Add(o Tokens) {
	t.Input += o.Input
	t.CacheWrite5m += o.CacheWrite5m
	t.CacheWrite1h += o.CacheWrite1h
	t.CacheRead += o.CacheRead
	t.Output += o.Output
}

// Row is what one layer took.
type Row struct {
	Layer replay.Layer
	// Once is the size of the layer's texts, in tokens, each counted when it came;
	// Carried what the requests behind that took for them again.
	Once, Carried int64
	Tokens        Tokens
	MicroUSD      int64 // share of the total, in micro-dollars
	Basis         Basis
}

// Ledger is the account of one session.
type Ledger struct {
	Calls      int
	Unfinished int // calls without a final usage: at least
	Reanchored int // calls whose prompt shrank without a compaction
	Unpriced   []string
	Usage      Tokens
	Rows       []Row // one per layer, in the order of Layers
	MicroUSD   int64
	Priced     bool // at least one call has a price
	// UnknownLifetime: cache writes were recorded without their lifetime, and are
	// priced at five minutes.
	UnknownLifetime bool
	// ModelChanged counts calls whose rows name several models.
	ModelChanged int
}

// Layers is the order of the rows.
var Layers = []replay.Layer{replay.LayerListing, replay.LayerBody, replay.LayerReattachment, replay.LayerReference, replay.LayerCall, replay.LayerOther, replay.LayerOutput}

// Of is the ledger of a session, all its agents and branches together: all were paid.
func Of(s *replay.Session, prices *budget.Book) *Ledger {
	l := &Ledger{Rows: make([]Row, len(Layers))}
	index := map[replay.Layer]int{}
	for i, layer := range Layers {
		l.Rows[i] = Row{Layer: layer, Basis: Exact}
		index[layer] = i
	}
	money := newMoney(prices, len(Layers))
	for _, a := range s.Agents {
		account(l, a, index, money)
	}
	money.settle(l)
	return l
}

func account(l *Ledger, a *replay.Agent, index map[replay.Layer]int, money *money) {
	calls := usable(l, a)
	p := newPrompts(a.Segments, index)
	scale := calibrate(p, calls)
	unseen := map[int32]int64{} // by the first segment of a prompt: tokens that no segment shows
	var fresh []int
	for _, c := range calls {
		// The longest part of the prompt whose sizes are known, and what came behind it.
		var before int
		fresh, before = p.fresh(c.Tail, fresh[:0])
		total := c.Usage.Prompt()
		head := int32(-1)
		if c.Tail >= 0 {
			head = p.first[c.Tail]
		}
		rest, anchored := unseen[head]
		weights := make([]float64, len(fresh))
		for k, i := range fresh {
			weights[k] = replay.EstimateTokens(a.Segments[i].Size)
		}
		basis := Estimated
		switch room := total - p.total(before) - rest; {
		case anchored && room >= 0 && (len(weights) > 0 || room == 0):
			basis = Anchored
			if len(weights) == 1 {
				basis = Exact
			}
			for k, t := range budget.Apportion(room, weights) {
				p.set(fresh[k], t)
			}
		default:
			if anchored {
				l.Reanchored++
			}
			// No anchor: the estimates stand, and what they leave is the unseen rest.
			for k, i := range fresh {
				p.set(i, int64(math.Round(weights[k]*scale)))
			}
			if p.total(c.Tail) > total && p.fit(c.Tail, total) {
				for k, n := range p.presence(c.Tail) {
					if n {
						l.Rows[k].Basis = weaker(l.Rows[k].Basis, Estimated)
					}
				}
			}
			rest = max(total-p.total(c.Tail), 0)
			unseen[head] = rest
		}
		for _, i := range fresh {
			row := &l.Rows[p.layer[i]]
			row.Basis = weaker(row.Basis, basis)
		}
		charge(l, c, p, before, rest, index, money)
	}
}

// usable are the calls with a usage, in order.
func usable(l *Ledger, a *replay.Agent) []*replay.APICall {
	var out []*replay.APICall
	for i := range a.Calls {
		c := &a.Calls[i]
		l.Calls++
		if !c.Final {
			l.Unfinished++
		}
		if len(c.Models) > 1 {
			l.ModelChanged++
		}
		if c.HasUsage {
			out = append(out, c)
		}
	}
	return out
}

// calibrate is how many tokens the session's own differences show for one token
// of the estimate.
func calibrate(p *prompts, calls []*replay.APICall) float64 {
	var got, want float64
	for n := 1; n < len(calls); n++ {
		before, after := calls[n-1], calls[n]
		if before.Tail < 0 || after.Tail < 0 || !p.precedes(before.Tail, after.Tail) {
			continue
		}
		d := after.Usage.Prompt() - before.Usage.Prompt()
		if est := p.estimate[after.Tail] - p.estimate[before.Tail]; d > 0 && est > 0 {
			got += float64(d)
			want += est
		}
	}
	if want == 0 {
		return 1
	}
	return min(max(got/want, 0.25), 4)
}

// charge books one call. The segments of its prompt up to before were charged for
// earlier ones already.
func charge(l *Ledger, c *replay.APICall, p *prompts, before int, rest int64, index map[replay.Layer]int, m *money) {
	u := &c.Usage
	w := u.Writes()
	w1h := min(u.CacheWrite1h, w)
	if w > 0 && (!u.HasSplit || u.CacheWrite5m+u.CacheWrite1h == 0) {
		l.UnknownLifetime = true
	}
	other, out := index[replay.LayerOther], index[replay.LayerOutput]
	shares := make([]Tokens, len(Layers))
	// Read from the front: first what the cache held, then what was written to it,
	// then plain input.
	var at int64
	var done layerSums
	for kind, n := range [4]int64{u.CacheRead, w1h, w - w1h, u.Input} {
		if n == 0 {
			continue
		}
		at += n
		// The unseen rest stands before the segments; what these leave over, if
		// anything, lies behind them.
		inside := min(max(at-rest, 0), p.total(c.Tail))
		upTo := p.upTo(c.Tail, inside)
		upTo[other] += at - inside
		for k := range shares {
			shares[k].count(kind, upTo[k]-done[k])
		}
		done = upTo
	}
	now, then := p.byLayer(c.Tail), p.byLayer(before)
	for k := range now {
		l.Rows[k].Carried += then[k]
		l.Rows[k].Once += now[k] - then[k]
	}
	l.Rows[other].Carried += rest
	l.Rows[other].Basis = weaker(l.Rows[other].Basis, Estimated)
	shares[out].Output = u.Output
	l.Rows[out].Once += u.Output
	for k := range shares {
		l.Rows[k].Tokens.Add(shares[k])
		l.Usage.Add(shares[k])
	}
	m.call(l, c, shares)
}

// count adds n tokens of a kind, by its place in a prompt.
func (t *Tokens) count(kind int, n int64) {
	switch kind {
	case 0:
		t.CacheRead += n
	case 1:
		t.CacheWrite1h += n
	case 2:
		t.CacheWrite5m += n
	case 3:
		t.Input += n
	}
}

// weaker is the weaker of two bases.
func weaker(a, b Basis) Basis {
	if rank(b) > rank(a) {
		return b
	}
	return a
}

func rank(b Basis) int {
	switch b {
	case Exact:
		return 0
	case Anchored:
		return 1
	}
	return 2
}
