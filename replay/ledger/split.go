package ledger

import (
	"cmp"
	"slices"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// splitter charges the calls of an agent to keys.
type splitter struct {
	*account
	session *replay.Session
	prices  *budget.Book

	keys  []Key   // in order, first those of no segment
	keyOf []int32 // of each segment
	order []int32 // the places of keys, in the order in which charges are shown

	tail    int     // the prompt that now holds
	now     []int64 // tokens of that prompt by key
	left    []int64 // those that are not charged yet
	weakest []int8  // rank of the weakest basis of a key
	steps   int     // segments that were walked over
	shares  []share // by key
	call    Call
	charges []Charge
}

// share is what a key has of the call in hand.
type share struct {
	kinds [4]int64 // by the order in which a prompt is read
	once  int64
}

// The keys that no segment has, and their places.
var fixedKeys = []Key{
	keyUnseen:     {Layer: replay.LayerOther, Part: replay.PartUnseen},
	keySystem:     {Layer: replay.LayerOther, Part: replay.PartSystem},
	keySkillTool:  {Layer: replay.LayerOther, Part: replay.PartSkillTool},
	keyTools:      {Layer: replay.LayerOther, Part: replay.PartTools},
	keyMessages:   {Layer: replay.LayerOther, Part: replay.PartMessages},
	keyText:       {Layer: replay.LayerOutput, Part: replay.PartText},
	keySkillCalls: {Layer: replay.LayerOutput, Part: replay.PartSkillCalls},
	keyToolCalls:  {Layer: replay.LayerOutput, Part: replay.PartToolCalls},
	// Of a prompt that was split by layers only.
	keyLayers: {Layer: Layers[0]}, {Layer: Layers[1]}, {Layer: Layers[2]}, {Layer: Layers[3]}, {Layer: Layers[4]}, {Layer: Layers[5]},
}

const (
	// What stands before the messages, from its end.
	keyUnseen = iota
	keySystem
	keySkillTool
	keyTools
	keyMessages
	keyText
	keySkillCalls
	keyToolCalls
	keyLayers
)

// maxWalked bounds how many segments are walked over, for each segment and each
// // call of an agent. In real logs what is new is small; a log in which every request
// reads half a prompt from the cache would take the square. Behind that, prompts are
// split by layers only, without their skills.
const maxWalked = 1024

func newSplitter(s *replay.Session, acc *account, prices *budget.Book) *splitter {
	a, n := acc.agent, len(acc.segments)
	sp := &splitter{account: acc, session: s, prices: prices, keys: slices.Clone(fixedKeys), keyOf: make([]int32, n), tail: -1}
	places := map[Key]int32{}
	for i, k := range sp.keys {
		places[k] = int32(i)
	}
	same := map[string][]int{}
	for i := range a.Segments {
		g := &a.Segments[i]
		k := Key{Layer: g.Layer, Skill: g.Skill, Part: g.Part}
		if k.Layer == replay.LayerOther {
			k.Part, k.Skill = replay.PartMessages, ""
		}
		k.Repeat = sp.repeats(i, same)
		at, ok := places[k]
		if !ok && len(sp.keys) >= maxKeys {
			k.Skill, k.Repeat = MoreSkills, false
			at, ok = places[k]
		}
		if !ok {
			at = int32(len(sp.keys))
			sp.keys = append(sp.keys, k)
			places[k] = at
		}
		sp.keyOf[i] = at
	}
	sp.now = make([]int64, len(sp.keys))
	sp.weakest = make([]int8, len(sp.keys))
	sp.shares = make([]share, len(sp.keys))
	sp.order = make([]int32, len(sp.keys))
	for i := range sp.order {
		sp.order[i] = int32(i)
	}
	slices.SortFunc(sp.order, func(i, j int32) int { return sp.keys[i].compare(&sp.keys[j]) })
	return sp
}

// maxKeys bounds the keys of an agent, as each call can have a charge for each of
// them. No real log comes near; what is beyond counts for [MoreSkills].
const maxKeys = 4096

// MoreSkills stands for the skills of a log that names more than can be told apart.
const MoreSkills = "(more)"

// maxSame is how many equal texts are remembered: of more, the last ones.
const maxSame = 8

// repeats reports whether the text of a segment, of the same skill, stands before it
// in its prompt.
func (sp *splitter) repeats(i int, same map[string][]int) bool {
	g := &sp.segments[i]
	if g.Skill == "" || g.Text == "" {
		return false
	}
	switch g.Part {
	case replay.PartLine, replay.PartBody, replay.PartReattachment, replay.PartReference:
	default:
		return false
	}
	before := same[g.Text]
	found := slices.ContainsFunc(before, func(j int) bool { return sp.segments[j].Skill == g.Skill && sp.precedes(j, i) })
	if len(before) == maxSame {
		before = before[:copy(before, before[1:])]
	}
	same[g.Text] = append(before, i)
	return found
}

// compare orders keys by layer, skill and part.
func (k *Key) compare(o *Key) int {
	c := cmp.Or(cmp.Compare(slices.Index(Layers, k.Layer), slices.Index(Layers, o.Layer)),
		cmp.Compare(k.Skill, o.Skill), cmp.Compare(k.Part, o.Part))
	if c == 0 && k.Repeat != o.Repeat {
		if o.Repeat {
			return -1
		}
		return 1
	}
	return c
}

// each goes over the calls that only admits; false if yield ended it.
func (sp *splitter) each(only func(*replay.APICall) bool, yield func(*Call) bool) bool {
	for i := range sp.agent.Calls {
		c := &sp.agent.Calls[i]
		sp.call = Call{Session: sp.session, Agent: sp.agent, APICall: c}
		sp.charges = sp.charges[:0]
		if c.HasUsage {
			sp.size(c)
		}
		if only != nil && !only(c) {
			continue
		}
		if c.HasUsage {
			sp.charge(c)
		}
		sp.call.Charges = sp.charges
		if !yield(&sp.call) {
			return false
		}
	}
	return true
}

// charge splits the usage of a call whose texts are sized.
func (sp *splitter) charge(c *replay.APICall) {
	u := &c.Usage
	kinds, unknown := kindsOf(u)
	sp.call.Reanchored, sp.call.UnknownLifetime = sp.anew, unknown
	clear(sp.shares)
	if sp.steps > maxWalked*(len(sp.segments)+len(sp.agent.Calls)) {
		sp.layers(c, kinds)
	} else {
		sp.moveTo(c.Tail)
		sp.prompt(c, kinds)
	}
	sp.output(c)
	price, priced := sp.prices.Lookup(c.Model, c.Where.Time)
	sp.call.Priced = priced
	var rates budget.Rates
	if priced {
		b := Billed(u)
		rates = price.RatesFor(b)
		sp.call.Cost = price.Cost(b)
		if b.WebSearches > 0 {
			sp.call.Searches = price.Cost(budget.Usage{WebSearches: b.WebSearches})
		}
	}
	for _, k := range sp.order {
		s := &sp.shares[k]
		if s.kinds == ([4]int64{}) {
			continue
		}
		ch := Charge{Key: sp.keys[k], Once: s.once, Basis: bases[sp.weakest[k]]}
		t := &ch.Tokens
		if ch.Layer == replay.LayerOutput {
			t.Output, ch.Once = s.kinds[0], 0
		} else {
			t.CacheRead, t.CacheWrite1h, t.CacheWrite5m, t.Input = s.kinds[0], s.kinds[1], s.kinds[2], s.kinds[3]
		}
		switch {
		case !priced:
		case *t == (Tokens{CacheRead: t.CacheRead}): // as nearly all of a long prompt
			ch.Cost = rates.CacheRead.Times(t.CacheRead)
		default:
			ch.Cost = rates.Cost(budget.Usage{Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite5m: t.CacheWrite5m, CacheWrite1h: t.CacheWrite1h})
		}
		sp.charges = append(sp.charges, ch)
	}
}

// kindsOf are the tokens of a prompt in the order in which it is read: first what
// the cache held, then what was written to it, then plain input. The lifetime of
// writes is unknown where there is no split.
func kindsOf(u *jsonl.Usage) (kinds [4]int64, unknown bool) {
	w := u.Writes()
	hour := min(u.CacheWrite1h, w)
	return [4]int64{u.CacheRead, hour, w - hour, u.Input}, w > 0 && (!u.HasSplit || u.CacheWrite5m+u.CacheWrite1h == 0)
}

// moveTo sums the prompt that ends in tail, from the one before.
func (sp *splitter) moveTo(tail int) {
	if sp.refitted {
		clear(sp.now)
		sp.tail, sp.refitted = -1, false
	}
	a, b := sp.tail, tail
	depth := func(i int) int32 {
		if i < 0 {
			return -1
		}
		return sp.depth[i]
	}
	for ; a != b; sp.steps++ {
		if depth(a) > depth(b) {
			sp.now[sp.keyOf[a]] -= sp.tokens[a]
			a = sp.segments[a].Prev
		} else {
			k := sp.keyOf[b]
			sp.now[k] += sp.tokens[b]
			sp.weakest[k] = max(sp.weakest[k], int8(rank(sp.basis[b])))
			b = sp.segments[b].Prev
		}
	}
	sp.tail = tail
}

// prompt splits the prompt of a call, from its end to the front: there all that is
// left was read alike, as a rule from the cache, and need not be walked over.
func (sp *splitter) prompt(c *replay.APICall, kinds [4]int64) {
	sum := sp.total(c.Tail)
	total := kinds[0] + kinds[1] + kinds[2] + kinds[3]
	// The unseen rest stands before the segments; what these leave over, if anything,
	// lies behind them.
	behind := max(total-sp.rest-sum, 0)
	inside := min(max(total-sp.rest, 0), sum)
	for k := keyUnseen; k <= keyTools; k++ {
		sp.weakest[k] = int8(rank(Estimated))
	}
	sp.weakest[keyMessages] = max(sp.weakest[keyMessages], int8(rank(Anchored)))
	front := 0
	for front < 3 && kinds[front] == 0 {
		front++
	}
	kind := 3
	take := func(key int32, n int64) {
		for n > 0 {
			for kind > front && kinds[kind] == 0 {
				kind--
			}
			m := min(n, kinds[kind])
			if m == 0 {
				return // not reached: what is taken sums to the total
			}
			kinds[kind] -= m
			sp.shares[key].kinds[kind] += m
			n -= m
		}
	}
	mixed := func() bool { // more than the front is left
		for kind > front && kinds[kind] == 0 {
			kind--
		}
		return kind > front
	}
	sp.left = append(sp.left[:0], sp.now...)
	take(keyMessages, behind)
	sp.shares[keyMessages].once += behind
	skip := sum - inside // of the end, which the prompt cannot have held
	fresh := true
	for i := c.Tail; i >= 0; i = sp.segments[i].Prev {
		fresh = fresh && i != sp.before
		if !fresh && skip == 0 && !mixed() {
			break
		}
		sp.steps++
		key := sp.keyOf[i]
		n := max(sp.tokens[i]-skip, 0)
		skip -= sp.tokens[i] - n
		sp.left[key] -= sp.tokens[i]
		take(key, n)
		if fresh {
			sp.shares[key].once += n
		}
	}
	unseen := total - inside - behind
	parts := sp.standing(c.Shape, unseen)
	var weights [len(parts)]float64
	for i, n := range parts {
		sp.left[keyUnseen+i] += n
		weights[i] = float64(n)
	}
	if n := min(sp.restOnce, unseen); n > 0 {
		for i, n := range budget.Apportion(n, weights[:]) {
			sp.shares[keyUnseen+i].once += n
		}
	}
	for k, n := range sp.left {
		take(int32(k), n)
	}
}

// layers splits the prompt of a call by layers.
func (sp *splitter) layers(c *replay.APICall, kinds [4]int64) {
	now, then := sp.byLayer(c.Tail), sp.byLayer(sp.before)
	for i, kinds := range sp.layersOf(c, kinds) {
		if k := keyLayers + i; k < len(fixedKeys) {
			sp.shares[k] = share{kinds: kinds, once: now[i] - then[i]}
			if i == layerOther {
				sp.shares[k].once += sp.restOnce
			}
			sp.weakest[k] = int8(rank(Estimated))
		}
	}
}

// output splits what the model wrote by what it wrote.
func (sp *splitter) output(c *replay.APICall) {
	weights := []float64{replay.EstimateTokens(c.Text) + replay.EstimateTokens(c.Thinking), replay.EstimateTokens(c.SkillCalls), replay.EstimateTokens(c.ToolCalls)}
	if weights[0]+weights[1]+weights[2] == 0 {
		weights[0] = 1
	}
	for i, n := range budget.Apportion(c.Usage.Output, weights) {
		sp.shares[keyText+i].kinds[0] = n
	}
}

// bases by rank.
var bases = []Basis{Exact, Anchored, Estimated}
