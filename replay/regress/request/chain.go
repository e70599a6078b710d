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
	prev := -1
	for i := range a.items {
		it := &a.items[i]
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
		prev = i
	}
	a.breakCycles()
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
	boundary := -1
	for i := leaf; i >= 0; i = a.items[i].parent {
		in[i] = true
		if a.items[i].boundary {
			boundary = i
			break
		}
		chain = append(chain, i)
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
	for _, i := range chain {
		it := &a.items[i]
		if it.kind == jsonl.KindAssistant && it.turn != "" {
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
	return append([]int{boundary}, a.withKept(boundary, chain)...)
}

// withKept puts the records that a boundary keeps behind its anchor.
func (a *agent) withKept(boundary int, chain []int) []int {
	c := a.items[boundary].compact
	if c == nil {
		return chain
	}
	in := map[int]bool{}
	for _, i := range chain {
		in[i] = true
	}
	var kept []int
	uuids := c.Preserved
	if len(c.PreservedAll) > len(uuids) {
		uuids = c.PreservedAll
	}
	for _, u := range uuids {
		if i, ok := a.byUUID[u]; ok && !in[i] {
			in[i] = true
			kept = append(kept, i)
		}
	}
	if j, ok := a.byUUID[c.Tail]; ok && len(uuids) == 0 {
		for n := 0; j >= 0 && n < len(a.items); n++ {
			if !in[j] {
				in[j] = true
				kept = append(kept, j)
			}
			if a.items[j].uuid == c.Head {
				break
			}
			j = a.items[j].parent
		}
		slices.Reverse(kept)
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
