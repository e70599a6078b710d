package ledger

import (
	"math"
	"slices"

	"github.com/skilltrace/skilltrace/replay"
)

// equation says what an estimate really took, in tokens.
type equation struct {
	parts  [estimateParts]float64
	tokens float64
	kinds  []kindPart // of differences: which texts made it up
}

// kind tells texts apart that are alike among themselves: by their layer, and the
// tool whose results they are.
type kind struct {
	layer replay.Layer
	part  replay.Part
	tool  string
}

func kindOf(g *replay.Segment) kind {
	if g.Part == replay.PartReattachment {
		return kind{replay.LayerBody, replay.PartBody, ""} // which it was
	}
	return kind{g.Layer, g.Part, g.Tool}
}

// kindPart is the estimate of the texts of a kind, by part.
type kindPart struct {
	kind  kind
	parts [estimateParts]float64
}

// calibration is what a session teaches about estimates.
type calibration struct {
	factors [estimateParts]float64 // tokens for one of the estimate, by part
	// kinds corrects what comes of them, by kind of text: the parts do not tell code
	// from a table of figures.
	kinds map[kind]float64
}

// scaled is an estimate in tokens.
func (c *calibration) scaled(k kind, parts [estimateParts]float64) float64 {
	return c.correction(k) * (c.factors[0]*parts[0] + c.factors[1]*parts[1] + c.factors[2]*parts[2])
}

func (c *calibration) correction(k kind) float64 {
	if f, ok := c.kinds[k]; ok {
		return f
	}
	return 1
}

// What is thought of the factors before a session says more: the models' tokenizer
// makes more tokens of a text than o200k_base, by a factor that all parts share
// more or less. Spreads are standard deviations.
const (
	priorFactor  = 1.15
	commonSpread = 0.25 // of what the parts share
	ownSpread    = 0.20 // of each beside
	wideSpread   = 0.80 // of scripts that tokenizers treat very differently
	equationOff  = 0.04 // of an equation, as a share of its estimate
	equationMin  = 6.0  // and at least, in tokens
)

// calibrate finds the factors of the parts of the estimates: those under which the
// model's differences, and its replies, are the least surprising.
func calibrate(list []equation) calibration {
	c := calibration{factors: [estimateParts]float64{priorFactor, priorFactor, priorFactor}, kinds: map[kind]float64{}}
	// In turns: what a kind is off is not to be taken for a factor, nor the other way
	// round. What does not fit at all, as a difference with a text that no record
	// shows, counts little from the second time on.
	for range calibrateRounds {
		c.solve(list)
		c.correct(list)
	}
	return c
}

const calibrateRounds = 4

// The corrections of kinds begin at 1, as if kindTokens tokens had said so.
const (
	kindTokens = 250
	kindRounds = 4
	maxKinds   = 64
)

// correct finds the corrections of kinds. Where one kind makes up a difference it is
// the ratio; where several do, each round gives each of them its share of what is
// still off, so that what is known of one from elsewhere tells of the others.
func (c *calibration) correct(list []equation) {
	type sums struct{ got, want float64 }
	for range kindRounds {
		now := map[kind]sums{}
		for i := range list {
			e := &list[i]
			if len(e.kinds) == 0 {
				continue
			}
			want := 0.0
			for _, k := range e.kinds {
				want += c.scaled(k.kind, k.parts)
			}
			ratio := e.tokens / want
			if want == 0 || ratio < 0.4 || ratio > 2.5 {
				continue // not all of it is known
			}
			for _, k := range e.kinds {
				s := now[k.kind]
				t := c.scaled(k.kind, k.parts)
				// A kind that is the greater part learns more from it.
				w := t / want
				s.want += t * w
				s.got += t * w * ratio
				now[k.kind] = s
			}
		}
		for k, s := range now {
			f, ok := c.kinds[k]
			if !ok {
				if len(c.kinds) >= maxKinds {
					continue
				}
				f = 1
			}
			c.kinds[k] = f * (s.got + kindTokens) / (s.want + kindTokens)
		}
	}
}

// maxEquations bounds how many differences are looked at, as the first ones teach
// most, and maxTaught how many segments, for each of an agent: rewinds without end
// are in hostile logs only.
const (
	maxEquations = 4096
	maxTaught    = 16
)

// equations adds what an agent's calls say, by model.
func equations(lists map[string][]equation, p *prompts, calls []replay.APICall) {
	before, steps := -1, 0
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
		if calls[last].Model != c.Model {
			continue
		}
		list := lists[c.Model]
		if len(list) >= maxEquations || steps > maxTaught*len(p.segments) {
			break
		}
		eq := equation{tokens: float64(c.Usage.Prompt() - calls[last].Usage.Prompt())}
		reply := equation{}
		for i := c.Tail; i != calls[last].Tail; i = p.segments[i].Prev {
			steps++
			g := &p.segments[i]
			parts := estimateOf(g)
			if g.Reply > 0 {
				reply.add(parts)
				continue
			}
			eq.add(parts)
			eq.addKind(kindOf(g), parts)
		}
		if t, ok := resent(&calls[last], priorFactor*reply.sum()); ok {
			reply.tokens = t
			list = append(list, reply)
			eq.tokens -= t
		} else {
			eq.add(reply.parts)
			eq.addKind(kind{part: replay.PartUse}, reply.parts)
		}
		if eq.tokens > 0 && eq.sum() > 0 {
			list = append(list, eq)
		}
		lists[c.Model] = list
	}
}

func (e *equation) add(parts [estimateParts]float64) {
	for k, x := range parts {
		e.parts[k] += x
	}
}

func (e *equation) addKind(of kind, parts [estimateParts]float64) {
	i := slices.IndexFunc(e.kinds, func(k kindPart) bool { return k.kind == of })
	switch {
	case i >= 0:
	case len(e.kinds) == maxKinds:
		i = maxKinds - 1 // so many kinds at once are in no real log
	default:
		i = len(e.kinds)
		e.kinds = append(e.kinds, kindPart{kind: of})
	}
	for k, x := range parts {
		e.kinds[i].parts[k] += x
	}
}

func (e *equation) sum() float64 { return e.parts[0] + e.parts[1] + e.parts[2] }

// solve finds the factors by least squares with what is thought before. The unknowns
// are the common factor and what each part differs from it.
func (c *calibration) solve(list []equation) {
	const n = 1 + estimateParts
	var a [n][n + 1]float64
	for i, spread := range [n]float64{commonSpread, ownSpread, ownSpread, wideSpread} {
		a[i][i] = 1 / (spread * spread)
	}
	a[0][n] = priorFactor / (commonSpread * commonSpread)
	for i := range list {
		e := &list[i]
		parts := e.parts
		if len(e.kinds) > 0 {
			parts = [estimateParts]float64{}
			for j := range e.kinds {
				f := c.correction(e.kinds[j].kind)
				for k, x := range e.kinds[j].parts {
					parts[k] += f * x
				}
			}
		}
		var got, sum float64
		for k, x := range parts {
			got += c.factors[k] * x
			sum += x
		}
		sigma := equationOff*sum + equationMin
		if off := math.Abs(e.tokens-got) / sigma; off > 3 {
			sigma *= off / 3 * off / 3
		}
		row := [n]float64{sum, parts[0], parts[1], parts[2]}
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
	for k := range c.factors {
		c.factors[k] = min(max(x[0]+x[1+k], 0.3), 4)
	}
}
