package ledger

import (
	"math"

	"github.com/skilltrace/skilltrace/replay"
)

// equation says what an estimate really took, in tokens.
type equation struct {
	parts  [estimateParts]float64
	tokens float64
}

// What is thought of the factors before a session says more: the models' tokenizer
// makes more tokens of a text than o200k_base, by a factor that all parts share
// more or less. Spreads are standard deviations.
const (
	priorFactor  = 1.15
	commonSpread = 0.25 // of what the parts share
	ownSpread    = 0.12 // of each beside
	wideSpread   = 0.40 // of scripts that tokenizers treat very differently
	equationOff  = 0.04 // of an equation, as a share of its estimate
	equationMin  = 6.0  // and at least, in tokens
)

// calibrate finds the factors of the parts of the estimates: those under which the
// agent's differences, and its replies, are the least surprising.
func calibrate(p *prompts, calls []replay.APICall) [estimateParts]float64 {
	factors := [estimateParts]float64{priorFactor, priorFactor, priorFactor}
	list := equations(p, calls)
	// Again and again: what does not fit at all, as a difference with a text that no record
	// shows, counts little then.
	for range 3 {
		factors = solve(list, factors)
	}
	for i, f := range factors {
		factors[i] = min(max(f, 0.3), 4)
	}
	return factors
}

// maxEquations bounds how many differences are looked at: the first ones teach most.
const maxEquations = 4096

func equations(p *prompts, calls []replay.APICall) []equation {
	var list []equation
	before := -1
	for n := range calls {
		c := &calls[n]
		if !c.HasUsage {
			continue
		}
		last := before
		before = n
		if last < 0 || calls[last].Tail < 0 || c.Tail < 0 || !p.precedes(calls[last].Tail, c.Tail) {
			continue
		}
		if len(list) >= maxEquations {
			break
		}
		eq := equation{tokens: float64(c.Usage.Prompt() - calls[last].Usage.Prompt())}
		reply := equation{}
		for i := c.Tail; i != calls[last].Tail; i = p.segments[i].Prev {
			g := &p.segments[i]
			e := &eq
			if g.Reply > 0 {
				e = &reply
			}
			for k, x := range estimateOf(g) {
				e.parts[k] += x
			}
		}
		if t, ok := resent(&calls[last], priorFactor*reply.sum()); ok {
			reply.tokens = t
			list = append(list, reply)
			eq.tokens -= t
		} else {
			for k, x := range reply.parts {
				eq.parts[k] += x
			}
		}
		if eq.tokens > 0 && eq.sum() > 0 {
			list = append(list, eq)
		}
	}
	return list
}

func (e *equation) sum() float64 { return e.parts[0] + e.parts[1] + e.parts[2] }

// solve finds the factors by least squares with what is thought before. The unknowns
// are the common factor and what each part differs from it.
func solve(list []equation, factors [estimateParts]float64) [estimateParts]float64 {
	const n = 1 + estimateParts
	var a [n][n + 1]float64
	for i, spread := range [n]float64{commonSpread, ownSpread, ownSpread, wideSpread} {
		a[i][i] = 1 / (spread * spread)
	}
	a[0][n] = priorFactor / (commonSpread * commonSpread)
	for i := range list {
		e := &list[i]
		var got float64
		for k, x := range e.parts {
			got += factors[k] * x
		}
		sigma := equationOff*e.sum() + equationMin
		if off := math.Abs(e.tokens-got) / sigma; off > 3 {
			sigma *= off / 3 * off / 3
		}
		row := [n]float64{e.sum(), e.parts[0], e.parts[1], e.parts[2]}
		w := 1 / (sigma * sigma)
		for i := range n {
			for j := range n {
				a[i][j] += w * row[i] * row[j]
			}
			a[i][n] += w * row[i] * e.tokens
		}
	}
	// Gauss; the matrix is positive definite.
	for i := range n {
		for j := i + 1; j < n; j++ {
			f := a[j][i] / a[i][i]
			for k := i; k <= n; k++ {
				a[j][k] -= f * a[i][k]
			}
		}
	}
	var x [n]float64
	for i := n - 1; i >= 0; i-- {
		x[i] = a[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= a[i][j] * x[j]
		}
		x[i] /= a[i][i]
	}
	for k := range factors {
		factors[k] = x[0] + x[1+k]
	}
	return factors
}
