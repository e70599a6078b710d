package mine

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Group is the cases of one session.
type Group struct {
	Session string // the path of the fixture, as the spec is to name it
	Cases   []Case
}

// WriteSpec writes a spec of cases, with what their logs show for expectations: how the
// called skills stood, that one of them is called, and within which place they ranked.
// Cases that are [Settle]d hold now. Skills are the folders of the candidates.
func WriteSpec(w io.Writer, folders []string, groups []Group) error {
	cases := list()
	names := map[string]bool{}
	for _, g := range groups {
		for i := range g.Cases {
			cases.Content = append(cases.Content, caseNode(&g.Cases[i], g.Session, names))
		}
	}
	top := mapping("version", number(1))
	top.HeadComment = "Mined from recorded sessions: what stands under expect is what they show."
	if len(folders) > 0 {
		add(top, "skills", flow(texts(folders)))
	}
	add(top, "cases", cases)
	return writeYAML(w, top)
}

func writeYAML(w io.Writer, n *yaml.Node) error {
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return err
	}
	return enc.Close()
}

func caseNode(c *Case, session string, names map[string]bool) *yaml.Node {
	n := mapping("name", str(caseName(c, names)))
	n.HeadComment = remark(c)
	add(n, "session", str(session))
	add(n, "at", flow(mapping("prompt", number(c.Prompt))))
	if c.Review != "" {
		add(n, "review", str(plain(c.Review)))
	}
	if c.Skip != "" {
		add(n, "skip", str(plain(c.Skip)))
	}
	expect := mapping()
	visible := mapping()
	for _, v := range c.visible() {
		add(visible, v.Skill, str(string(v.Shown)))
	}
	if len(visible.Content) > 0 {
		add(expect, "visible", flow(visible))
	}
	switch called := skillNames(c); len(called) {
	case 0:
		add(expect, "triggers", str("none"))
	case 1:
		add(expect, "triggers", str(called[0]))
	default:
		add(expect, "triggers", flow(texts(called)))
	}
	rank := mapping()
	for _, r := range c.ranks() {
		add(rank, r.Skill, number(r.Within))
	}
	if len(rank.Content) > 0 {
		add(expect, "rank", flow(rank))
	}
	add(n, "expect", expect)
	return n
}

func skillNames(c *Case) []string {
	var out []string
	for _, s := range c.Skills {
		out = append(out, s.Name)
	}
	return out
}

// remark says what the expectations do not.
func remark(c *Case) string {
	var out []string
	for i := range c.Skills {
		s := &c.Skills[i]
		if s.Late() {
			out = append(out, fmt.Sprintf("%s was called late: tool call %d, Skill call %d of the prompt.", plain(s.Name), s.Tool, s.Call))
		}
	}
	return strings.Join(out, "\n")
}

// Names are made of the first words of a prompt, at most so many characters.
const nameLength = 48

// caseName is a name that no case before has.
func caseName(c *Case, taken map[string]bool) string {
	words := beginning(c.Text)
	if words == "" {
		words = fmt.Sprintf("prompt %d", c.Prompt)
	}
	base := words
	called := skillNames(c)
	for i := range called {
		called[i] = plain(called[i])
	}
	switch c.Kind {
	case Positive:
		base += " finds " + strings.Join(called, ", ")
	case Miss:
		base += " should find " + strings.Join(called, ", ")
	case Negative:
		base += " finds none"
	}
	name := base
	for n := 2; taken[name]; n++ {
		name = base + " (" + strconv.Itoa(n) + ")"
	}
	taken[name] = true
	return name
}

// beginning is the first words of a text.
func beginning(text string) string {
	const look = 4096 // bytes: a prompt may hold a whole file
	if len(text) > look {
		text = strings.ToValidUTF8(text[:look], "")
	}
	out := ""
	for word := range strings.FieldsSeq(plain(text)) {
		length := len([]rune(out + " " + word))
		switch {
		case out == "" && length > nameLength:
			return string([]rune(word)[:nameLength]) + "…"
		case length > nameLength:
			return out + " …"
		case out == "":
			out = word
		default:
			out += " " + word
		}
	}
	return out
}

func str(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(strings.ToValidUTF8(s, "\uFFFD"))
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off": // no strings to readers of YAML 1.1
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func number(n int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(n)}
}

func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(pairs); i += 2 {
		add(n, pairs[i].(string), pairs[i+1].(*yaml.Node))
	}
	return n
}

func add(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, str(key), value)
}

func list(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

func texts(items []string) *yaml.Node {
	n := list()
	for _, s := range items {
		n.Content = append(n.Content, str(s))
	}
	return n
}

// flow writes a short collection on one line.
func flow(n *yaml.Node) *yaml.Node {
	n.Style = yaml.FlowStyle
	return n
}
