package request

import (
	"slices"

	"github.com/skilltrace/skilltrace/jsonl"
)

// key orders records: above its parent's, and otherwise by line.
type key struct{ line, tie int }

func (k key) less(o key) bool {
	return k.line < o.line || k.line == o.line && k.tie < o.tie
}

// order ties the records of a log to their parents. Where the chain is broken, and in
// logs that have none, file order stands in.
func (a *agent) order() {
	linked := false
	for i := range a.items {
		linked = linked || a.items[i].up != "" || a.items[i].logical != ""
	}
	last := map[string]int{} // item before, by agent
	for i := range a.items {
		it := &a.items[i]
		prev, ok := last[it.agent]
		if !ok {
			prev = -1
		}
		up := it.up
		if up == "" {
			up = it.logical
		}
		p, known := a.byUUID[up]
		switch {
		case up != "" && known && p != i:
			it.parent = p
		case up != "" || !linked || it.uuid == "":
			it.parent = prev
		}
		last[it.agent] = i
	}
	a.breakCycles()
	a.findKept()
	a.kids = make([][]int32, len(a.items))
	a.keys = make([]key, len(a.items))
	done := make([]bool, len(a.items))
	var stack []int
	for i := range a.items {
		if p := a.items[i].parent; p >= 0 {
			a.kids[p] = append(a.kids[p], int32(i))
		}
		for j := i; j >= 0 && !done[j]; j = a.items[j].parent {
			stack = append(stack, j)
		}
		for len(stack) > 0 {
			j := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			it := &a.items[j]
			k := key{it.line, 0}
			if it.parent >= 0 {
				if p := a.keys[it.parent]; !p.less(k) {
					k = key{p.line, p.tie + 1}
				}
			}
			a.keys[j], done[j] = k, true
		}
	}
}

// breakCycles cuts parents that lead back to their child: at a boundary where there
// is one, whose logical parent can be a message that is kept behind it.
func (a *agent) breakCycles() {
	state := make([]uint8, len(a.items)) // 1: on the way, 2: done
	var path []int
	for i := range a.items {
		path = path[:0]
		j := i
		for j >= 0 && state[j] == 0 {
			state[j] = 1
			path = append(path, j)
			j = a.items[j].parent
		}
		if j >= 0 && state[j] == 1 {
			cut := j
			for k := a.items[j].parent; k != j; k = a.items[k].parent {
				if b, c := a.items[k].boundary, a.items[cut].boundary; b && !c || b == c && k < cut {
					cut = k
				}
			}
			a.items[cut].parent = -1
		}
		for _, k := range path {
			state[k] = 2
		}
	}
}

// reply is the first record of a model's reply to the record at: the first one in the
// file that leads back to it without another reply between. -1 if there is none.
func (a *agent) reply(at int) int {
	best := -1
	stack := []int{at}
	seen := map[int]bool{at: true}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, k := range a.kids[i] {
			c := int(k)
			if seen[c] {
				continue
			}
			seen[c] = true
			switch it := &a.items[c]; {
			case it.kind == jsonl.KindAssistant && !it.failed && it.model != syntheticModel:
				if best < 0 || c < best {
					best = c
				}
			case it.boundary:
			default:
				stack = append(stack, c)
			}
		}
	}
	return best
}

// syntheticModel is the model name of records that no model wrote.
const syntheticModel = "<synthetic>"

// last is the last record behind at before another reply or prompt, where no reply
// came.
func (a *agent) last(at int) int {
	for n := 0; n < len(a.items); n++ {
		next := -1
		for _, k := range a.kids[at] {
			c := int(k)
			if it := &a.items[c]; !it.boundary && it.kind != jsonl.KindAssistant && (it.kind != jsonl.KindUser || it.meta) {
				next = c
			}
		}
		if next < 0 {
			break
		}
		at = next
	}
	return at
}

// active are the records of the conversation that ends with leaf, in order, from the
// last boundary on.
func (a *agent) active(leaf int) []int {
	var chain []int
	in := map[int]bool{}
	boundary, upTo := -1, -1
	for i, after := leaf, leaf; i >= 0 && !in[i]; {
		if b := a.keeper(i, after); b >= 0 && upTo < 0 {
			// What follows hangs on a message that the compaction kept.
			upTo, after = i, b
			i = b
			if j, ok := a.byUUID[a.items[b].compact.Anchor]; ok && !in[j] {
				i = j
			}
			continue
		}
		in[i] = true
		if a.items[i].boundary {
			boundary = i
			break
		}
		chain = append(chain, i)
		i, after = a.items[i].parent, i
	}
	// What hangs beside the chain: other blocks of a reply, results of parallel calls
	// and what the client put behind them.
	limit := a.keys[leaf]
	var side []int
	add := func(i int) {
		if !in[i] && (boundary < 0 || a.keys[boundary].less(a.keys[i])) {
			in[i] = true
			side = append(side, i)
		}
	}
	// Clients that log the progress of a tool hang the next prompt on that, and not on the
	// reply which followed the tool's result.
	for n := 1; n < len(chain); n++ {
		if a.items[chain[n-1]].kind != jsonl.KindProgress || a.items[chain[n]].kind == jsonl.KindProgress {
			continue
		}
		stack := slices.Clone(a.kids[chain[n]])
		for len(stack) > 0 {
			k := int(stack[len(stack)-1])
			stack = stack[:len(stack)-1]
			if !in[k] && !a.items[k].boundary && a.keys[k].less(limit) {
				add(k)
				stack = append(stack, a.kids[k]...)
			}
		}
	}
	turns, uses := map[string]bool{}, map[string]bool{}
	for _, i := range chain {
		it := &a.items[i]
		if it.kind == jsonl.KindAssistant && it.turn != "" && !turns[it.turn] {
			turns[it.turn] = true
			for _, j := range a.byTurn[it.turn] {
				add(j)
			}
		}
	}
	for n := 0; n < len(chain)+len(side); n++ {
		i := -1
		if n < len(chain) {
			i = chain[n]
		} else {
			i = side[n-len(chain)]
		}
		it := &a.items[i]
		for _, use := range it.uses {
			if uses[use] {
				continue
			}
			uses[use] = true
			for _, j := range a.byUse[use] {
				add(j)
			}
		}
		if len(it.results) == 0 && n < len(chain) {
			continue
		}
		for _, k := range a.kids[i] {
			if c := &a.items[k]; c.kind == jsonl.KindAttachment || c.kind == jsonl.KindUser && c.meta {
				if n >= len(chain) || a.keys[k].less(limit) {
					add(int(k))
				}
			}
		}
	}
	chain = append(chain, side...)
	slices.SortStableFunc(chain, func(x, y int) int {
		switch kx, ky := a.keys[x], a.keys[y]; {
		case kx.less(ky):
			return -1
		case ky.less(kx):
			return 1
		}
		return 0
	})
	if boundary < 0 {
		return chain
	}
	return append([]int{boundary}, a.withKept(boundary, upTo, chain)...)
}

// keeper is the last boundary behind a record, and before the one that follows it in
// the conversation, that keeps it; -1 if there is none.
func (a *agent) keeper(i, next int) int {
	for _, b := range slices.Backward(a.keptBy[i]) {
		if b > i && b < next {
			return b
		}
	}
	return -1
}

// maxKept bounds how many records boundaries keep in all, for each record: of real ones
// each keeps some.
const maxKept = 16

// findKept notes which boundaries keep each record.
func (a *agent) findKept() {
	a.kept, a.keptBy = map[int][]int{}, map[int][]int{}
	steps := maxKept * len(a.items)
	for b := range a.items {
		c := a.items[b].compact
		if c == nil || !a.items[b].boundary {
			continue
		}
		var kept []int
		uuids := c.Preserved
		if len(c.PreservedAll) > len(uuids) {
			uuids = c.PreservedAll
		}
		for _, u := range uuids {
			if i, ok := a.byUUID[u]; ok && steps > 0 {
				steps--
				kept = append(kept, i)
			}
		}
		// The list is exact; the walk is for logs that only name the ends.
		if j, ok := a.byUUID[c.Tail]; ok && len(uuids) == 0 {
			for ; j >= 0 && steps > 0; steps-- {
				kept = append(kept, j)
				if a.items[j].uuid == c.Head {
					break
				}
				j = a.items[j].parent
			}
			slices.Reverse(kept)
		}
		a.kept[b] = kept
		for _, i := range kept {
			a.keptBy[i] = append(a.keptBy[i], b)
		}
	}
}

// withKept puts the records that a boundary keeps behind its anchor: up to the one
// that the conversation goes on from, where it hangs on one.
func (a *agent) withKept(boundary, upTo int, chain []int) []int {
	c := a.items[boundary].compact
	if c == nil {
		return chain
	}
	in := map[int]bool{}
	for _, i := range chain {
		in[i] = true
	}
	var kept []int
	for _, i := range a.kept[boundary] {
		if !in[i] {
			in[i] = true
			kept = append(kept, i)
		}
		if i == upTo {
			break
		}
	}
	if len(kept) == 0 {
		return chain
	}
	at := 0
	if j, ok := a.byUUID[c.Anchor]; ok {
		if p := slices.Index(chain, j); p >= 0 {
			at = p + 1
		}
	}
	return slices.Insert(slices.Clone(chain), at, kept...)
}
