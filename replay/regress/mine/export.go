package mine

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/skilltrace/skilltrace/skills"
)

// Prompt is a case as other tools know one: a text, and the skills of which one has to
// be called; none of all if Any is empty.
type Prompt struct {
	Name   string
	Text   string
	Any    []string
	Review string // why a person should look at it first
}

// Prompts are the mined cases of all groups, under the names that they have in a spec.
func Prompts(groups []Group) []Prompt {
	var out []Prompt
	taken := map[string]bool{}
	for _, g := range groups {
		for i := range g.Cases {
			c := &g.Cases[i]
			out = append(out, Prompt{caseName(c, taken), c.Text, skillNames(c), c.Review})
		}
	}
	return out
}

// WritePromptfoo writes prompts as a configuration of promptfoo, which asks an agent that
// has the skills of the folder it is run in. It follows promptfoo's guide "Test Agent
// Skills" and its reference of deterministic assertions, where the assertion skill-used
// and its negation read the calls of the Skill tool.
func WritePromptfoo(w io.Writer, prompts []Prompt) error {
	tests := list()
	for i := range prompts {
		p := &prompts[i]
		t := mapping("description", str(plain(p.Name)), "vars", mapping("prompt", template(p.Text)), "assert", list(promptfooAssert(p)))
		if p.Review != "" {
			t.HeadComment = "Review: " + plain(p.Review)
		}
		tests.Content = append(tests.Content, t)
	}
	provider := mapping("id", str("anthropic:claude-agent-sdk"), "config", mapping(
		"working_dir", str("."), "setting_sources", flow(texts([]string{"project"})), "append_allowed_tools", flow(texts([]string{"Skill"})), "max_turns", number(mostTurns)))
	top := mapping("description", str("Prompts mined from recorded sessions by skilltrace"), "prompts", list(str("{{prompt}}")), "providers", list(provider), "tests", tests)
	top.HeadComment = "Run with: npx promptfoo eval -c FILE --repeat 5\nEach prompt is asked alone: without the conversation and the other skills that it was typed among."
	return writeYAML(w, top)
}

// mostTurns is how far an agent goes for a prompt: a skill that is called later was not
// triggered by the prompt alone.
const mostTurns = 5

func promptfooAssert(p *Prompt) *yaml.Node {
	used := func(name string) *yaml.Node { return mapping("type", str("skill-used"), "value", template(name)) }
	switch len(p.Any) {
	case 0:
		return mapping("type", str("not-skill-used"), "value", mapping("pattern", str("*")))
	case 1:
		return used(p.Any[0])
	}
	set := list()
	for _, name := range p.Any {
		set.Content = append(set.Content, used(name))
	}
	// One of them is enough: a little less than its part, against rounding.
	part := strconv.FormatFloat(0.99/float64(len(p.Any)), 'f', 3, 64)
	return mapping("type", str("assert-set"), "threshold", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: part}, "assert", set)
}

var templated = regexp.MustCompile(`\{[{%#]`)

// template is a text of a log as a value of promptfoo: what would be a template, or the
// name of a file or a package to load, is written so that it is but text.
func template(s string) *yaml.Node {
	s = templated.ReplaceAllStringFunc(s, func(open string) string { return `{{ "` + open + `" }}` })
	for _, scheme := range []string{"file", "package", "env", "exec", "python", "javascript"} {
		if rest, ok := strings.CutPrefix(s, scheme+":"); ok {
			s = `{{ "` + scheme + `" }}:` + rest
		}
	}
	return str(s)
}

// File is a file of an export. Its path is relative, with slashes.
type File struct {
	Path string
	Text []byte
}

// PluginEval writes prompts as a suite for `claude plugin eval`, as files of a plugin: in
// evals a folder for each case, with case.yaml and one grader. It follows the page
// "Test plugins with evals" of the documentation of Claude Code. A skill counts under its
// own name, whatever the plugin's that stands before it.
func PluginEval(prompts []Prompt) ([]File, error) {
	var out []File
	taken := map[string]bool{}
	for i := range prompts {
		p := &prompts[i]
		folder := slug(p.Name, taken)
		tags := []string{"mined"}
		if p.Review != "" {
			tags = append(tags, "review")
		}
		c := mapping("schema_version", str("1.1"), "name", str(folder), "description", str(plain(p.Name)), "tags", flow(texts(tags)),
			"execution", mapping("prompt", str(p.Text), "max_turns", number(mostTurns), "allowed_tools", flow(texts([]string{"Skill"}))))
		c.Content[1].Style = yaml.DoubleQuotedStyle // a number otherwise
		if p.Review != "" {
			c.HeadComment = "Review: " + plain(p.Review)
		}
		var text bytes.Buffer
		if err := writeYAML(&text, c); err != nil {
			return nil, err
		}
		grader, err := skillGrader(p)
		if err != nil {
			return nil, err
		}
		out = append(out, File{path.Join("evals", folder, "case.yaml"), text.Bytes()}, File{path.Join("evals", folder, "graders", "skill.md"), grader})
	}
	return out, nil
}

// skillGrader is a grader of the kind tool_used. One for no call counts in the arm without
// the plugin, too; one for a call is an indicator of the arm with it, unless that is the
// only one (--ablation none).
func skillGrader(p *Prompt) ([]byte, error) {
	g := mapping("type", str("tool_used"), "tool", str("Skill"))
	says := "No skill may be called."
	if len(p.Any) > 0 {
		add(g, "input_match", str(inputMatch(p.Any)))
		add(g, "min", number(1))
		says = "Called has to be " + plain(strings.Join(p.Any, " or ")) + "."
	} else {
		add(g, "min", number(0))
		add(g, "max", number(0))
		add(g, "arm", str("both"))
	}
	var b bytes.Buffer
	b.WriteString("---\n")
	if err := writeYAML(&b, g); err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "---\n%s\n", says)
	return b.Bytes(), nil
}

// inputMatch is a regular expression of JavaScript for the input of a Skill call, as JSON.
func inputMatch(names []string) string {
	var any []string
	for _, name := range names {
		name = name[strings.LastIndexByte(name, ':')+1:]
		quoted := skills.QuoteJSON(name)
		any = append(any, regexp.QuoteMeta(quoted[1:len(quoted)-1]))
	}
	return `"skill"\s*:\s*"(?:[^"]+:)?(?:` + strings.Join(any, "|") + `)"`
}

// slug is a name for a folder that no case before has.
func slug(name string, taken map[string]bool) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }) {
		if b.Len()+len(word) > 60 {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('-')
		}
		b.WriteString(word)
	}
	base := b.String()
	if base == "" {
		base = "case"
	}
	out := base
	for n := 2; taken[out]; n++ {
		out = base + "-" + strconv.Itoa(n)
	}
	taken[out] = true
	return out
}
