package ledger

import (
	"math"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
)

// account sizes the texts of one agent, call by call.
type account struct {
	*prompts
	agent  *replay.Agent
	scale  float64
	unseen map[int32]int64 // by the first segment of a prompt: tokens that no segment shows
	basis  []Basis         // of each known segment

	fresh   []int // segments that the call in hand is the first to send
	before  int   // the last segment before these, -1 if there is none
	rest    int64 // what no segment of the prompt in hand shows
	anew    bool  // the prompt in hand could not be explained
	weights []float64
}

func newAccount(a *replay.Agent) *account {
	acc := &account{prompts: newPrompts(a.Segments), agent: a, unseen: map[int32]int64{}, basis: make([]Basis, len(a.Segments))}
	acc.scale = calibrate(acc.prompts, a.Calls)
	return acc
}

// size makes the texts of a call's prompt known.
func (acc *account) size(c *replay.APICall) {
	p := acc.prompts
	// The longest part of the prompt whose sizes are known, and what came behind it.
	acc.fresh, acc.before = p.fresh(c.Tail, acc.fresh[:0])
	total := c.Usage.Prompt()
	head := int32(-1)
	if c.Tail >= 0 {
		head = p.first[c.Tail]
	}
	rest, anchored := acc.unseen[head]
	acc.anew = false
	acc.weights = acc.weights[:0]
	for _, i := range acc.fresh {
		acc.weights = append(acc.weights, replay.EstimateTokens(p.segments[i].Size))
	}
	basis := Estimated
	switch room := total - p.total(acc.before) - rest; {
	case anchored && room >= 0 && (len(acc.fresh) > 0 || room == 0):
		basis = Anchored
		if len(acc.fresh) == 1 {
			basis = Exact
		}
		for k, t := range budget.Apportion(room, acc.weights) {
			p.set(acc.fresh[k], t)
		}
	default:
		acc.anew = anchored
		// No anchor: the estimates stand, and what they leave is the unseen rest.
		for k, i := range acc.fresh {
			p.set(i, int64(math.Round(acc.weights[k]*acc.scale)))
		}
		if p.total(c.Tail) > total && p.fit(c.Tail, total) {
			for i := c.Tail; i >= 0; i = p.segments[i].Prev {
				acc.basis[i] = Estimated
			}
		}
		rest = max(total-p.total(c.Tail), 0)
		acc.unseen[head] = rest
	}
	for _, i := range acc.fresh {
		acc.basis[i] = basis
	}
	acc.rest = rest
}

// calibrate is how many tokens the session's own differences show for one token
// of the estimate.
func calibrate(p *prompts, calls []replay.APICall) float64 {
	var got, want float64
	before := -1
	for n := range calls {
		if !calls[n].HasUsage {
			continue
		}
		last := before
		before = n
		if last < 0 || calls[last].Tail < 0 || calls[n].Tail < 0 || !p.precedes(calls[last].Tail, calls[n].Tail) {
			continue
		}
		d := calls[n].Usage.Prompt() - calls[last].Usage.Prompt()
		if est := p.estimate[calls[n].Tail] - p.estimate[calls[last].Tail]; d > 0 && est > 0 {
			got += float64(d)
			want += est
		}
	}
	if want == 0 {
		return 1
	}
	return min(max(got/want, 0.25), 4)
}
