package spec

import (
	"bytes"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/skilltrace/skilltrace/replay"
)

// Update is an expectation of how an entry stands that is to be another.
type Update struct {
	Line  int // of the expectation
	Skill string
	Shown replay.Shown
}

// Rewrite gives a spec with expectations replaced, and leaves all else as it stands.
// Expectations that are not found in their place, as those that an anchor shares, are
// returned.
func Rewrite(text []byte, updates []Update) ([]byte, []Update) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return text, updates
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	nodes := make([]*yaml.Node, len(updates))
	order := make([]int, len(updates))
	for i := range updates {
		nodes[i], order[i] = valueAt(&doc, &updates[i], 0), i
	}
	column := func(i int) int {
		if nodes[i] == nil {
			return 0
		}
		return nodes[i].Column
	}
	slices.SortStableFunc(order, func(a, b int) int { return column(b) - column(a) }) // from behind, so that columns hold
	var left []Update
	for _, i := range order {
		if n := nodes[i]; n == nil || !replace(lines, n, string(updates[i].Shown)) {
			left = append(left, updates[i])
		}
	}
	return bytes.Join(lines, nil), left
}

// replace writes another value in the place of a scalar.
func replace(lines [][]byte, n *yaml.Node, value string) bool {
	if n.Line < 1 || n.Line > len(lines) {
		return false
	}
	line := string(lines[n.Line-1])
	at := byteColumn(line, n.Column)
	if at < 0 {
		return false
	}
	for _, quote := range []string{"", `"`, "'"} {
		if old := quote + n.Value + quote; strings.HasPrefix(line[at:], old) {
			lines[n.Line-1] = []byte(line[:at] + value + line[at+len(old):])
			return true
		}
	}
	return false
}

// byteColumn is where a column, counted in characters from 1, begins; -1 if nowhere.
func byteColumn(line string, column int) int {
	n := 0
	for i := range line {
		if n++; n == column {
			return i
		}
	}
	return -1
}

// valueAt is the scalar of an expectation: the value of the skill's name at its line.
func valueAt(n *yaml.Node, u *Update, depth int) *yaml.Node {
	const deepest = 20
	if depth > deepest {
		return nil
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		for j := 0; k.Value == "visible" && v.Kind == yaml.MappingNode && j+1 < len(v.Content); j += 2 {
			if name, value := v.Content[j], v.Content[j+1]; name.Value == u.Skill && value.Line == u.Line && value.Kind == yaml.ScalarNode {
				return value
			}
		}
	}
	for _, c := range n.Content {
		if found := valueAt(c, u, depth+1); found != nil {
			return found
		}
	}
	return nil
}
