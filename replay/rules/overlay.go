package rules

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

const (
	maxOverlayBytes   = 1 << 20 // far more than the whole built-in table takes
	maxOverlayChanges = 1000
	maxOverlayErrors  = 20 // reported at once
)

// ReadOverlay reads a user's own changes: a YAML list of maps with the keys
// since, key, value and, if wanted, summary and evidence:
//
//   - since: 2.1.340
//     key: entry.cap
//     value: 2048
//     summary: texts may be longer
//     evidence: my own session of 2.1.340
//
// It is strict: an unknown key, a rule that does not exist, a value that the
// rule cannot have or a key given twice for one version is an error. Errors read
// file:line: what; name is the file's. See [Table.With] for what a change does.
func ReadOverlay(name string, r io.Reader) ([]Change, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxOverlayBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxOverlayBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxOverlayBytes)
	}
	o := overlay{name: name, seen: map[string]int{}}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, o.at(1, "want a list of rules, the file is empty")
	case err != nil:
		return nil, o.syntax(err)
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, o.at(second.Line, "a second document: want one list")
	case !errors.Is(err, io.EOF):
		return nil, o.syntax(err)
	}
	list := doc.Content[0]
	if list.Kind != yaml.SequenceNode {
		return nil, o.at(list.Line, "want a list of rules, each with since, key and value")
	}
	if len(list.Content) > maxOverlayChanges {
		return nil, o.at(list.Line, "more than %d rules", maxOverlayChanges)
	}
	var changes []Change
	var errs []error
	for _, n := range list.Content {
		c, err := o.change(n)
		if err != nil {
			if errs = append(errs, err); len(errs) == maxOverlayErrors {
				break
			}
			continue
		}
		changes = append(changes, c)
	}
	return changes, errors.Join(errs...)
}

type overlay struct {
	name string
	seen map[string]int // version and key -> line
}

func (o *overlay) at(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", o.name, line, fmt.Sprintf(format, args...))
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// syntax gives an error of the YAML parser the form of the others.
func (o *overlay) syntax(err error) error {
	text := err.Error()
	m := yamlLine.FindStringSubmatch(text)
	line, convErr := strconv.Atoi(m[1])
	if convErr != nil {
		line = 1
	}
	return o.at(line, "not YAML: %s", text[len(m[0]):])
}

func (o *overlay) change(n *yaml.Node) (Change, error) {
	if n.Kind != yaml.MappingNode {
		return Change{}, o.at(n.Line, "want a map with since, key and value")
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch k.Value {
		case "since", "key", "value", "summary", "evidence":
		default:
			return Change{}, o.at(k.Line, "unknown field %s: want since, key, value, summary or evidence", quoted(k.Value))
		}
		if fields[k.Value] != nil {
			return Change{}, o.at(k.Line, "%s stands twice", k.Value)
		}
		fields[k.Value] = v
	}
	c := Change{Confidence: Given}
	for _, f := range []struct {
		name     string
		to       *string
		required bool
	}{{"since", &c.Since, true}, {"key", &c.Key, true}, {"summary", &c.Summary, false}, {"evidence", &c.Evidence, false}} {
		v := fields[f.name]
		switch {
		case v == nil && f.required:
			return Change{}, o.at(n.Line, "%s is missing", f.name)
		case v == nil:
			continue
		case v.Kind != yaml.ScalarNode || v.Tag == "!!null":
			return Change{}, o.at(v.Line, "%s: want a text", f.name)
		case len(v.Value) > maxText:
			return Change{}, o.at(v.Line, "%s: longer than %d bytes", f.name, maxText)
		}
		*f.to = v.Value
	}
	at, err := ParseVersion(c.Since)
	if err != nil {
		return Change{}, o.at(fields["since"].Line, "since: %v", err)
	}
	c.Since = at.String()
	k, ok := KeyNamed(c.Key)
	if !ok {
		return Change{}, o.at(fields["key"].Line, "no rule is called %s%s", quoted(c.Key), nearKeys(c.Key))
	}
	v := fields["value"]
	if v == nil {
		return Change{}, o.at(n.Line, "value is missing")
	}
	if c.Value, err = k.decode(v); err != nil {
		return Change{}, o.at(v.Line, "%s: %v", c.Key, err)
	}
	id := c.Since + " " + c.Key
	if line, twice := o.seen[id]; twice {
		return Change{}, o.at(n.Line, "%s has a value for %s already, on line %d", c.Key, c.Since, line)
	}
	o.seen[id] = n.Line
	return c, nil
}

// decode reads the value of a rule. Anchors and aliases are not followed.
func (k Key) decode(n *yaml.Node) (any, error) {
	bad := fmt.Errorf("want %s", k.want())
	var value any
	switch k.Kind() {
	case kindFlag:
		var b bool
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(&b) != nil {
			return nil, bad
		}
		value = b
	case kindNumber:
		var i int
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(&i) != nil {
			return nil, bad
		}
		value = i
	case kindText:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
			return nil, bad
		}
		value = n.Value
	case kindList:
		if n.Kind != yaml.SequenceNode {
			return nil, bad
		}
		list := []string{}
		for _, e := range n.Content {
			if e.Kind != yaml.ScalarNode || e.Tag != "!!str" || len(e.Value) > maxText {
				return nil, bad
			}
			list = append(list, e.Value)
		}
		value = list
	default:
		return nil, bad
	}
	return value, k.check(value)
}

// quoted is a text of the file in a message, cut if it is long.
func quoted(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

// nearKeys proposes the rules of the same group.
func nearKeys(name string) string {
	group, _, _ := strings.Cut(name, ".")
	var names []string
	for _, k := range Keys() {
		if k.Group() == group {
			names = append(names, k.Name)
		}
	}
	if names == nil {
		return ""
	}
	return ": this group has " + strings.Join(names, ", ")
}
