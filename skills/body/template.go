package body

import (
	"fmt"
	"strings"
)

// Template is a rendered body whose inline commands have not been run: literal
// texts and holes in turn.
type Template struct {
	Parts []Part
	// TooLong: the text would be longer than [MaxBytes]. There are no parts, and
	// nothing matches.
	TooLong bool
}

// Part is a literal text or a hole, the place of an inline command's output.
type Part struct {
	Text    string
	Hole    bool
	Command string // of a hole, without the white space around it; maybe empty
}

// Holes is the number of outputs that the template needs.
func (t Template) Holes() int {
	n := 0
	for _, p := range t.Parts {
		if p.Hole {
			n++
		}
	}
	return n
}

// Text is the whole text if the template has no hole.
func (t Template) Text() (string, bool) {
	text, err := t.Fill(nil)
	return text, err == nil
}

// Fill is the text with the outputs in the holes, as they are. The error is a
// wrong number of outputs or a text that was too long to render.
func (t Template) Fill(outputs []string) (string, error) {
	if t.TooLong {
		return "", fmt.Errorf("body is longer than %d bytes", MaxBytes)
	}
	if n := t.Holes(); n != len(outputs) {
		return "", fmt.Errorf("%d outputs for %d inline commands", len(outputs), n)
	}
	var b strings.Builder
	for _, p := range t.Parts {
		if p.Hole {
			b.WriteString(outputs[0])
			outputs = outputs[1:]
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String(), nil
}

// Placeholder is the text with a visible mark in each hole, to be shown.
func (t Template) Placeholder() string {
	if t.TooLong {
		return fmt.Sprintf("‹more than %d bytes›", MaxBytes)
	}
	var b strings.Builder
	for _, p := range t.Parts {
		if p.Hole {
			b.WriteString("‹output of `" + p.Command + "`›")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Match finds the outputs in a recorded body: the texts between the literal
// parts. It reports whether the body can be an instance of the template at all;
// if so, filling in the outputs gives the body back.
//
// Each output is the shortest possible, from the left, except that equal
// commands get equal outputs where that is found with bounded effort. Where two
// holes touch, or an output holds the literal text behind it, the outputs are
// one choice of several. The effort is linear in the length of the body.
func (t Template) Match(recorded string) (outputs []string, ok bool) {
	if t.TooLong {
		return nil, false
	}
	m := matcher{between: []string{""}}
	repeated := false
	seen := map[string]bool{}
	for _, p := range t.Parts {
		if p.Hole {
			m.commands = append(m.commands, p.Command)
			m.between = append(m.between, "")
			repeated = repeated || seen[p.Command]
			seen[p.Command] = true
		} else {
			m.between[len(m.commands)] += p.Text
		}
	}
	holes := len(m.commands)
	if holes == 0 {
		return nil, recorded == m.between[0]
	}
	recorded, first := strings.CutPrefix(recorded, m.between[0])
	recorded, last := strings.CutSuffix(recorded, m.between[holes])
	if !first || !last {
		return nil, false
	}
	m.text, m.between = recorded, m.between[1:holes]
	if outputs, ok = m.shortest(); ok && repeated && holes <= maxEqual {
		m.outputs = make([]string, holes)
		m.bound = map[string]string{}
		m.effort = min(effort*(len(recorded)+holes), maxEffort)
		if m.equal(0, 0) {
			outputs = m.outputs
		}
	}
	return outputs, ok
}

// effort is how many bytes may be looked at for each byte of a body in search of
// equal outputs, and maxEffort how many in all. Both are generous: most searches
// end in their first try.
const (
	effort    = 64
	maxEffort = 4 << 20
)

// maxEqual is up to how many holes equal outputs are searched for.
const maxEqual = 1000

// matcher finds outputs in text, which holds the holes and the literal texts
// between them: one less than there are commands.
type matcher struct {
	text     string
	commands []string
	between  []string

	outputs []string
	bound   map[string]string // the output of each command so far
	effort  int
}

// shortest takes the shortest output for each hole, from the left.
func (m *matcher) shortest() ([]string, bool) {
	outputs := make([]string, 0, len(m.commands))
	rest := m.text
	for _, literal := range m.between {
		output, behind, ok := strings.Cut(rest, literal)
		if !ok {
			return nil, false
		}
		outputs = append(outputs, output)
		rest = behind
	}
	return append(outputs, rest), true
}

// equal fills the holes from the k-th on with text from i on, giving equal
// commands equal outputs. It reports whether it found a way.
func (m *matcher) equal(k, i int) bool {
	command := m.commands[k]
	rest := m.text[i:]
	output, bound := m.bound[command]
	if k == len(m.between) { // the last hole takes the rest
		m.outputs[k] = rest
		return !bound || output == rest
	}
	literal := m.between[k]
	if bound {
		m.effort -= 1 + len(output) + len(literal)
		behind, ok := strings.CutPrefix(rest, output)
		if !ok || m.effort < 0 || !strings.HasPrefix(behind, literal) {
			return false
		}
		m.outputs[k] = output
		return m.equal(k+1, i+len(output)+len(literal))
	}
	for from := 0; from <= len(rest); from++ {
		n := strings.Index(rest[from:], literal)
		m.effort -= 1 + max(n, 0) + len(literal)
		if n < 0 || m.effort < 0 {
			break
		}
		from += n
		m.bound[command], m.outputs[k] = rest[:from], rest[:from]
		if m.equal(k+1, i+from+len(literal)) {
			return true
		}
	}
	delete(m.bound, command)
	return false
}
