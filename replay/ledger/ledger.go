// Package ledger charges the recorded usage of a session to layers: every token
// of every model request to what put it into the prompt.
//
// A request's usage is exact; its prompt is a sequence of segments. Consecutive
// requests of one agent differ by the tokens of what was added between them, so
// the sizes of those segments are scaled to that difference; what stands before the
// messages (system prompt, tools) is of unknown size. Newer logs show its texts, of
// which it is divided by estimate, and what else a request sent ([replay.Shape]). A
// prompt is read from the front: its first tokens came from the cache, the next
// were written to it, the rest was plain input, and each segment is charged
// where it lay. Per kind of usage the layers sum to the recorded value exactly.
//
// [Calls] goes over the requests with a charge for each layer, skill and part;
// [Of] is the sum of a session by layer; [Owners] settles what counts where when
// several logs hold a request.
package ledger

import (
	"slices"

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
	// Once is the size of the layer's texts, in tokens, each counted when it came,
	// what stands before the messages with the first request; Carried what the requests
	// behind that took for them again. Output is in neither: it comes into prompts with
	// the next request.
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
	Rows       []Row         // one per layer, in the order of Layers
	Cost       budget.Amount // exact; MicroUSD is it rounded half up, and the sum of the rows
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
	for i, layer := range Layers {
		l.Rows[i] = Row{Layer: layer, Basis: Exact}
	}
	money := newMoney(prices, len(Layers))
	for k, acc := range accounts(s) {
		a := s.Agents[k]
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
				acc.size(c)
				l.charge(c, acc, money)
			}
		}
	}
	money.settle(l)
	return l
}

var layerOther, layerOutput = slices.Index(Layers, replay.LayerOther), slices.Index(Layers, replay.LayerOutput)

// charge books one call whose texts are sized.
func (l *Ledger) charge(c *replay.APICall, acc *account, m *money) {
	p, rest := acc.prompts, acc.rest
	if acc.anew {
		l.Reanchored++
	}
	kinds, unknown := kindsOf(&c.Usage)
	l.UnknownLifetime = l.UnknownLifetime || unknown
	shares := make([]Tokens, len(Layers))
	for k, kinds := range acc.layersOf(c, kinds) {
		for kind, n := range kinds {
			shares[k].count(kind, n)
		}
	}
	now, then := p.byLayer(c.Tail), p.byLayer(acc.before)
	for k := range now {
		l.Rows[k].Carried += then[k]
		l.Rows[k].Once += now[k] - then[k]
	}
	for i := c.Tail; i != acc.before; i = p.segments[i].Prev {
		row := &l.Rows[p.layer[i]]
		row.Basis = weaker(row.Basis, acc.basis[i])
	}
	l.Rows[layerOther].Carried += rest - acc.restOnce
	l.Rows[layerOther].Once += acc.restOnce
	l.Rows[layerOther].Basis = Estimated
	shares[layerOutput].Output = c.Usage.Output
	for k := range shares {
		l.Rows[k].Tokens.Add(shares[k])
		l.Usage.Add(shares[k])
	}
	m.call(l, c, shares)
}

// layersOf splits the prompt of a call, whose texts are sized, by layer and kind.
func (acc *account) layersOf(c *replay.APICall, kinds [4]int64) (shares [len(layerSums{})][4]int64) {
	var at int64
	var done layerSums
	for kind, n := range kinds {
		if n == 0 {
			continue
		}
		at += n
		// The unseen rest stands before the segments; what these leave over, if
		// anything, lies behind them.
		inside := min(max(at-acc.rest, 0), acc.total(c.Tail))
		upTo := acc.upTo(c.Tail, inside)
		upTo[layerOther] += at - inside
		for k := range shares {
			shares[k][kind] = upTo[k] - done[k]
		}
		done = upTo
	}
	return shares
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
