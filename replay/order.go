package replay

import (
	"sort"
	"strings"

	"github.com/skilltrace/skilltrace/jsonl"
)

// node is a record in the graph of a log.
type node struct {
	rec             *record
	parent          int // index of the parent node, -1 at a root
	line            int
	keyLine, keyTie int
	dead            bool // on a branch that a rewind left
	inChain         bool // among the records that lead to the last leaf
	echo            bool // a typed command that is recorded again elsewhere
}

// graph is the records of one agent in conversation order.
type graph struct {
	nodes    []node
	byUUID   map[string]int // node indices
	order    []int          // node indices in conversation order
	replayed int
	dangling int
	cut      int // boundaries whose last record before them does not exist
	late     int // records that stand before their parent
}

// newGraph orders records. The conversation is the chain that ends at the last
// leaf (parentUuid; logicalParentUuid at a boundary). Records that hang beside
// the chain without a prompt of their own (results of parallel tools, progress)
// belong to it; a prompt beside another prompt is what a rewind left. Where the
// chain is broken, and in logs that have none, file order stands in.
func newGraph(records []*record) *graph {
	g := &graph{nodes: make([]node, 0, len(records)), byUUID: make(map[string]int, len(records))}
	linked := false
	for _, r := range records {
		if r.UUID != "" {
			if _, ok := g.byUUID[r.UUID]; ok {
				g.replayed++
				continue
			}
			g.byUUID[r.UUID] = len(g.nodes)
		}
		linked = linked || r.Parent != "" || r.LogicalParent != ""
		g.nodes = append(g.nodes, node{rec: r, parent: -1, line: r.Line})
	}
	prev := -1
	for i := range g.nodes {
		n := &g.nodes[i]
		r := n.rec
		switch {
		case r.Parent != "":
			if p, ok := g.byUUID[r.Parent]; ok {
				n.parent = p
				if p > i {
					g.late++
				}
			} else {
				g.dangling++
				n.parent = prev
			}
		case r.LogicalParent != "":
			if p, ok := g.byUUID[r.LogicalParent]; ok {
				n.parent = p
			} else {
				g.cut++
				n.parent = prev
			}
		case !linked || r.UUID == "" || r.Kind != jsonl.KindUser && r.Kind != jsonl.KindOther && prev >= 0 && r.Kind != jsonl.KindSystem:
			n.parent = prev
		}
		prev = i
	}
	g.breakCycles()
	g.setKeys()
	g.order = make([]int, len(g.nodes))
	for i := range g.order {
		g.order[i] = i
	}
	sort.SliceStable(g.order, func(a, b int) bool {
		x, y := &g.nodes[g.order[a]], &g.nodes[g.order[b]]
		if x.keyLine != y.keyLine {
			return x.keyLine < y.keyLine
		}
		return x.keyTie < y.keyTie
	})
	g.mark()
	return g
}

// breakCycles cuts parents that lead back to their child: hostile logs, and
// boundaries whose logical parent is a preserved message that hangs behind them.
func (g *graph) breakCycles() {
	const (
		white = iota
		grey
		black
	)
	color := make([]uint8, len(g.nodes))
	var path []int
	for i := range g.nodes {
		if color[i] != white {
			continue
		}
		path = path[:0]
		j := i
		for j >= 0 && color[j] == white {
			color[j] = grey
			path = append(path, j)
			j = g.nodes[j].parent
		}
		if j >= 0 && color[j] == grey {
			// The cycle is cut at its boundary if it has one, else at the record that
			// stands first in the file.
			cut := j
			for k, found := j, false; !found || k != j; k, found = g.nodes[k].parent, true {
				n, c := &g.nodes[k], &g.nodes[cut]
				nb, cb := n.rec.LogicalParent != "" && n.rec.Parent == "", c.rec.LogicalParent != "" && c.rec.Parent == ""
				if nb && !cb || nb == cb && n.line < c.line {
					cut = k
				}
			}
			g.nodes[cut].parent = -1
		}
		for _, k := range path {
			color[k] = black
		}
	}
}

// setKeys gives each node a key above its parent's and otherwise by line.
func (g *graph) setKeys() {
	done := make([]bool, len(g.nodes))
	var stack []int
	for i := range g.nodes {
		for j := i; j >= 0 && !done[j]; j = g.nodes[j].parent {
			stack = append(stack, j)
		}
		for len(stack) > 0 {
			j := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			n := &g.nodes[j]
			n.keyLine, n.keyTie = n.line, 0
			if n.parent >= 0 {
				p := &g.nodes[n.parent]
				if p.keyLine > n.keyLine || p.keyLine == n.keyLine && p.keyTie >= n.keyTie {
					n.keyLine, n.keyTie = p.keyLine, p.keyTie+1
				}
			}
			done[j] = true
		}
	}
}

// mark finds the conversation of the last leaf and what rewinds left beside it.
func (g *graph) mark() {
	lastChild := make([]int, len(g.nodes)+1) // by parent+1; 0: none
	for i := range g.nodes {
		if n := &g.nodes[i]; lastChild[n.parent+1] < i+1 {
			lastChild[n.parent+1] = i + 1
		}
	}
	leaf := -1
	for i := range g.nodes {
		if g.nodes[i].rec.UUID != "" || leaf < 0 || g.nodes[leaf].rec.UUID == "" {
			leaf = i
		}
	}
	for leaf >= 0 && lastChild[leaf+1] > 0 {
		leaf = lastChild[leaf+1] - 1
	}
	chainChild := make([]int, len(g.nodes)+1) // by parent+1: the child on the chain, plus 1
	for j := leaf; j >= 0; j = g.nodes[j].parent {
		g.nodes[j].inChain = true
		chainChild[g.nodes[j].parent+1] = j + 1
	}
	compacted := make(map[int]bool) // parents of boundaries
	for i := range g.nodes {
		if n := &g.nodes[i]; isBoundary(n.rec) {
			compacted[n.parent] = true
		}
	}
	// Parents come first in the order: a child is dead if its parent is, or if it
	// is a prompt beside the chain's own prompt.
	for _, i := range g.order {
		n := &g.nodes[i]
		switch {
		case compacted[n.parent] && lastChild[i+1] == 0 && isCompactCommand(n.rec):
			n.echo, n.dead = true, true
		case n.inChain:
		case n.parent >= 0 && g.nodes[n.parent].dead:
			n.dead = true
		case n.parent >= 0 && !g.nodes[n.parent].inChain:
			// deeper in a side branch that belongs to the conversation
		default:
			if c := chainChild[n.parent+1] - 1; c >= 0 {
				n.dead = replaced(n, &g.nodes[c])
			}
		}
	}
}

// replaced reports whether a node beside the chain was replaced by its sibling on
// the chain: a typed prompt, or a reply that was cut short, beside a later prompt.
func replaced(n, chain *node) bool {
	return isPromptRecord(chain.rec) && chain.line > n.line &&
		(isPromptRecord(n.rec) || n.rec.Kind == jsonl.KindAssistant)
}

func isBoundary(r *record) bool { return r.Compact != nil && r.Subtype == "compact_boundary" }

// isCompactCommand reports whether a record holds /compact as it was typed.
// Clients around 2.1.260 and 2.1.304 leave it on the branch that the compaction
// ended, and record the command again behind the boundary.
func isCompactCommand(r *record) bool {
	if !isPromptRecord(r) {
		return false
	}
	name, _, _ := cutBlank(strings.TrimSpace(firstText(r.Message)))
	return name == "/compact"
}

// isPromptRecord reports whether a record is what the user typed: a text or a
// command, no tool result and nothing that the client added.
func isPromptRecord(r *record) bool {
	if r.Kind != jsonl.KindUser || r.Meta || r.Synthetic || r.CompactSummary || r.Message == nil {
		return false
	}
	for i := range r.Message.Blocks {
		if r.Message.Blocks[i].Kind == jsonl.BlockToolResult {
			return false
		}
	}
	return true
}
