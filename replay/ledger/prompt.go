package ledger

import (
	"slices"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
)

// prompts are the segments of an agent with their tokens. A prompt is the way from
// its first segment to its last; what precedes a segment is the same in every
// prompt that holds it. So the sums up to each segment are kept, and a prompt of
// any length is charged in the time that it takes to find where in it the kinds of
// usage meet: a session of thousands of requests would otherwise take the square.
//
// A segment becomes known with all that precede it.
type prompts struct {
	segments []replay.Segment
	layer    []uint8 // of each segment, an index into Layers
	depth    []int32 // how many segments precede it
	first    []int32 // of its prompt
	jump     []int32 // one far before it, see find; -1 where there is none

	known    []bool
	tokens   []int64
	sum      []int64     // tokens of the prompt up to each segment, itself included
	layers   []layerSums // the same by layer
	fitted   int         // segments that fit has walked over
	refitted bool        // sizes changed that were known
}

// layerSums holds tokens for each of Layers.
type layerSums [7]int64

func newPrompts(segments []replay.Segment) *prompts {
	n := len(segments)
	p := &prompts{segments: segments,
		layer: make([]uint8, n), depth: make([]int32, n), first: make([]int32, n), jump: make([]int32, n),
		known: make([]bool, n), tokens: make([]int64, n), sum: make([]int64, n), layers: make([]layerSums, n)}
	for i := range segments {
		s := &segments[i]
		p.layer[i] = uint8(slices.Index(Layers, s.Layer))
		prev := s.Prev
		if prev < 0 {
			p.first[i], p.jump[i] = int32(i), -1
			continue
		}
		p.depth[i] = p.depth[prev] + 1
		p.first[i] = p.first[prev]
		// Jumps of such lengths that any segment is found in logarithmic time (Myers,
		// An applicative random-access stack, 1983).
		p.jump[i] = int32(prev)
		if j := p.jump[prev]; j >= 0 {
			if k := p.jump[j]; k >= 0 && p.depth[prev]-p.depth[j] == p.depth[j]-p.depth[k] {
				p.jump[i] = k
			}
		}
	}
	return p
}

// fresh lists the segments at the end of a prompt that are not known yet, from the
// front, and returns the last known one before them, -1 if there is none.
func (p *prompts) fresh(tail int, buf []int) (list []int, before int) {
	for ; tail >= 0 && !p.known[tail]; tail = p.segments[tail].Prev {
		buf = append(buf, tail)
	}
	for i, j := 0, len(buf)-1; i < j; i, j = i+1, j-1 {
		buf[i], buf[j] = buf[j], buf[i]
	}
	return buf, tail
}

// set makes a segment known, whose preceding ones are.
func (p *prompts) set(i int, tokens int64) {
	p.known[i], p.tokens[i] = true, tokens
	p.add(i)
}

// add sums up to a segment.
func (p *prompts) add(i int) {
	p.sum[i], p.layers[i] = 0, layerSums{}
	if prev := p.segments[i].Prev; prev >= 0 {
		p.sum[i], p.layers[i] = p.sum[prev], p.layers[prev]
	}
	p.sum[i] += p.tokens[i]
	p.layers[i][p.layer[i]] += p.tokens[i]
}

// total is the sum of a prompt.
func (p *prompts) total(tail int) int64 {
	if tail < 0 {
		return 0
	}
	return p.sum[tail]
}

// byLayer is the same by layer.
func (p *prompts) byLayer(tail int) layerSums {
	if tail < 0 {
		return layerSums{}
	}
	return p.layers[tail]
}

// upTo is what the first n tokens of a prompt hold, by layer. n must not exceed its
// sum.
func (p *prompts) upTo(tail int, n int64) layerSums {
	if tail < 0 || n == p.sum[tail] {
		return p.byLayer(tail)
	}
	i := p.find(tail, n)
	prev := p.segments[i].Prev
	sums := p.byLayer(prev)
	sums[p.layer[i]] += n - p.total(prev)
	return sums
}

// find is the segment that ends the first n tokens of a longer prompt, or the one
// behind them: the first whose sum exceeds n.
func (p *prompts) find(tail int, n int64) int {
	for {
		prev := p.segments[tail].Prev
		if prev < 0 || p.sum[prev] <= n {
			return tail
		}
		if j := p.jump[tail]; p.sum[j] > n {
			tail = int(j)
		} else {
			tail = prev
		}
	}
}

// precedes reports whether a segment is part of the prompt that ends in another.
func (p *prompts) precedes(i, tail int) bool {
	for tail >= 0 && p.depth[tail] > p.depth[i] {
		if j := p.jump[tail]; j >= 0 && p.depth[j] >= p.depth[i] {
			tail = int(j)
		} else {
			tail = p.segments[tail].Prev
		}
	}
	return tail == i
}

// maxFitted bounds how many segments are fitted, for each segment of an agent. In
// real logs some compactions and rewinds lead to a fit; a log in which each request
// reports less than the one before would take the square.
const maxFitted = 256

// shrink takes n tokens from the results and other texts of a prompt that have known
// sizes, in proportion: from those a client takes something out, when it makes room
// without a compaction. It reports whether it did.
func (p *prompts) shrink(tail int, n int64) bool {
	if p.fitted > maxFitted*len(p.segments) {
		return false
	}
	var prompt []int
	var weights []float64
	var sum int64
	for i := tail; i >= 0; i = p.segments[i].Prev {
		g := &p.segments[i]
		p.fitted++
		if g.Reply == 0 && (g.Layer == replay.LayerOther || g.Layer == replay.LayerReference) {
			prompt = append(prompt, i)
			weights = append(weights, float64(p.tokens[i]))
			sum += p.tokens[i]
		}
	}
	if sum < n {
		return false
	}
	for k, t := range budget.Apportion(sum-n, weights) {
		p.tokens[prompt[k]] = t
	}
	p.resum()
	return true
}

// resum sums anew what is known.
func (p *prompts) resum() {
	p.fitted += len(p.segments)
	p.refitted = true
	for i := range p.segments {
		if p.known[i] {
			p.add(i)
		}
	}
}

// fit scales the tokens of a prompt that has more than total down to it, and reports
// whether it did: each time it walks over all segments.
func (p *prompts) fit(tail int, total int64) bool {
	if p.total(tail) <= total || p.fitted > maxFitted*len(p.segments) {
		return false
	}
	var prompt []int
	var weights []float64
	for i := tail; i >= 0; i = p.segments[i].Prev {
		prompt = append(prompt, i)
		weights = append(weights, float64(p.tokens[i]))
	}
	for k, t := range budget.Apportion(total, weights) {
		p.tokens[prompt[k]] = t
	}
	p.resum()
	return true
}
