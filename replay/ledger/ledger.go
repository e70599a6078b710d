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
	"github.com/skilltrace/skilltrace/jsonl"
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

// sized is a segment with its tokens.
type sized struct {
	tokens int64
	basis  Basis
	known  bool
	seen   bool // charged once already
}

func account(l *Ledger, a *replay.Agent, index map[replay.Layer]int, money *money) {
	segs := make([]sized, len(a.Segments))
	calls := usable(l, a)
	scale := calibrate(a, calls)
	unseen := map[int]int64{} // by the first segment of a prompt: tokens that no segment shows
	prompt := make([]int, 0, 256)
	for n, c := range calls {
		prompt = chain(a, c.Tail, prompt[:0])
		total := promptTokens(&c.Usage)
		head := -1
		if len(prompt) > 0 {
			head = prompt[0]
		}
		// The longest part of the prompt whose sizes are known, and what came behind it.
		fresh := 0
		for fresh < len(prompt) && segs[prompt[fresh]].known {
			fresh++
		}
		rest, anchored := unseen[head]
		var known int64
		for _, i := range prompt[:fresh] {
			known += segs[i].tokens
		}
		weights := make([]float64, len(prompt)-fresh)
		var estimate float64
		for k, i := range prompt[fresh:] {
			weights[k] = replay.EstimateTokens(a.Segments[i].Size)
			estimate += weights[k]
		}
		switch room := total - known - rest; {
		case anchored && room >= 0 && (len(weights) > 0 || room == 0):
			basis := Anchored
			if len(weights) == 1 {
				basis = Exact
			}
			for k, t := range budget.Apportion(room, weights) {
				segs[prompt[fresh+k]] = sized{tokens: t, basis: basis, known: true}
			}
		default:
			if anchored {
				l.Reanchored++
			}
			// No anchor: the estimates stand, and what they leave is the unseen rest.
			for k, i := range prompt[fresh:] {
				segs[i] = sized{tokens: int64(math.Round(weights[k] * scale)), basis: Estimated, known: true}
			}
			fit(segs, prompt, total)
			rest = total
			for _, i := range prompt {
				rest -= segs[i].tokens
			}
			unseen[head] = rest
		}
		charge(l, a, c, prompt, segs, rest, index, money)
		_ = n
	}
}

// fit scales estimates down where they exceed the whole prompt.
func fit(segs []sized, prompt []int, total int64) {
	var sum int64
	weights := make([]float64, len(prompt))
	for k, i := range prompt {
		sum += segs[i].tokens
		weights[k] = float64(segs[i].tokens)
	}
	if sum <= total {
		return
	}
	for k, t := range budget.Apportion(total, weights) {
		segs[prompt[k]].tokens = t
		segs[prompt[k]].basis = Estimated
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

// chain lists the segments of a prompt from the front.
func chain(a *replay.Agent, tail int, buf []int) []int {
	for i := tail; i >= 0; i = a.Segments[i].Prev {
		buf = append(buf, i)
	}
	for i, j := 0, len(buf)-1; i < j; i, j = i+1, j-1 {
		buf[i], buf[j] = buf[j], buf[i]
	}
	return buf
}

func promptTokens(u *jsonl.Usage) int64 { return u.Input + u.CacheRead + writes(u) }

// writes are the tokens written to the cache: the flat count, or where it is 0
// and the split is not, the split.
func writes(u *jsonl.Usage) int64 {
	if u.CacheWrite == 0 && u.HasSplit {
		return u.CacheWrite5m + u.CacheWrite1h
	}
	return u.CacheWrite
}

// calibrate is how many tokens the session's own differences show for one token
// of the estimate.
func calibrate(a *replay.Agent, calls []*replay.APICall) float64 {
	var got, want float64
	for n := 1; n < len(calls); n++ {
		p, c := calls[n-1], calls[n]
		var est float64
		i := c.Tail
		for ; i >= 0 && i != p.Tail; i = a.Segments[i].Prev {
			est += replay.EstimateTokens(a.Segments[i].Size)
		}
		if d := promptTokens(&c.Usage) - promptTokens(&p.Usage); i == p.Tail && i >= 0 && d > 0 && est > 0 {
			got += float64(d)
			want += est
		}
	}
	if want == 0 {
		return 1
	}
	return min(max(got/want, 0.25), 4)
}

// charge books one call.
func charge(l *Ledger, a *replay.Agent, c *replay.APICall, prompt []int, segs []sized, rest int64, index map[replay.Layer]int, m *money) {
	u := &c.Usage
	w := writes(u)
	w1h := min(u.CacheWrite1h, w)
	if w > 0 && (!u.HasSplit || u.CacheWrite5m+u.CacheWrite1h == 0) {
		l.UnknownLifetime = true
	}
	lanes := [4]int64{u.CacheRead, w1h, w - w1h, u.Input}
	lane := 0
	take := func(n int64) (t Tokens) {
		for n > 0 && lane < len(lanes) {
			k := min(n, lanes[lane])
			switch lane {
			case 0:
				t.CacheRead += k
			case 1:
				t.CacheWrite1h += k
			case 2:
				t.CacheWrite5m += k
			case 3:
				t.Input += k
			}
			n -= k
			if lanes[lane] -= k; lanes[lane] == 0 {
				lane++
			}
		}
		return t
	}
	shares := make([]Tokens, len(Layers))
	other := index[replay.LayerOther]
	shares[other].Add(take(rest))
	l.Rows[other].Carried += rest
	l.Rows[other].Basis = weaker(l.Rows[other].Basis, Estimated)
	for _, i := range prompt {
		s := &segs[i]
		k := index[a.Segments[i].Layer]
		shares[k].Add(take(s.tokens))
		row := &l.Rows[k]
		if s.seen {
			row.Carried += s.tokens
		} else {
			row.Once += s.tokens
			s.seen = true
		}
		row.Basis = weaker(row.Basis, s.basis)
	}
	// What the sizes leave over, if anything, lies behind them.
	shares[other].Add(take(math.MaxInt64))
	out := index[replay.LayerOutput]
	shares[out].Output = u.Output
	l.Rows[out].Once += u.Output
	for k := range shares {
		l.Rows[k].Tokens.Add(shares[k])
		l.Usage.Add(shares[k])
	}
	m.call(l, c, shares)
}

// weaker is the weaker of two bases.
func weaker(a, b Basis) Basis {
	rank := map[Basis]int{Exact: 0, Anchored: 1, Estimated: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
