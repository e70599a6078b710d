package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/lexical"
	"gopkg.in/yaml.v3"
)

// Problem is what is wrong with a spec.
type Problem struct {
	File string
	Line int // 0 for the whole file
	What string
}

func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.What
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.What)
}

// Problems are all that is wrong with a spec, in the order of the file.
type Problems []*Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Read reads a spec. The error is Problems where the text is at fault.
func Read(file string, text []byte) (*Spec, error) {
	r := &reader{file: file}
	if len(text) > MaxSize {
		return nil, Problems{{file, 0, fmt.Sprintf("larger than %d bytes", MaxSize)}}
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, Problems{{file, 0, "empty: write at least version, skills and cases"}}
	} else if err != nil {
		return nil, Problems{r.yaml(err)}
	}
	if err := dec.Decode(&more); err == nil {
		r.bad(&more, "a second document: write one spec in a file")
	} else if !errors.Is(err, io.EOF) {
		return nil, Problems{r.yaml(err)}
	}
	s := r.spec(doc.Content[0])
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b *Problem) int { return a.Line - b.Line })
		return nil, r.problems
	}
	return s, nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// yaml is an error of the YAML reader, which says the line in its own way.
func (r *reader) yaml(err error) *Problem {
	text := err.Error()
	p := &Problem{File: r.file, What: text}
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.What = "not YAML: " + text[len(m[0]):]
	}
	return p
}

type reader struct {
	file     string
	problems Problems
	read     int // names of skills that cases hold
}

// maxNames bounds the names of skills that all cases hold together: a list may stand in
// many places by an alias.
const maxNames = 1_000_000

// more counts names, and reports whether there is room for them.
func (r *reader) more(n *yaml.Node, names int) bool {
	before := r.read
	if r.read += names; r.read <= maxNames {
		return true
	}
	if before <= maxNames {
		r.bad(n, "more than %d expectations: share the cases among several specs", maxNames)
	}
	return false
}

func (r *reader) bad(n *yaml.Node, format string, args ...any) {
	const most = 50
	if len(r.problems) < most {
		r.problems = append(r.problems, &Problem{r.file, n.Line, fmt.Sprintf(format, args...)})
	}
}

// deep follows an alias. One that leads into itself has no end.
func (r *reader) deep(n *yaml.Node) *yaml.Node {
	for i := 0; n.Kind == yaml.AliasNode && i < 8; i++ {
		n = n.Alias
	}
	return n
}

// field reads the value of a key.
type field struct {
	key  string
	read func(*yaml.Node)
}

// mapping reads the keys of a map, each once. what names the map in errors.
func (r *reader) mapping(n *yaml.Node, what string, fields ...field) {
	n = r.deep(n)
	if n.Kind != yaml.MappingNode {
		r.bad(n, "%s: want keys with values, such as %s", what, fields[0].key)
		return
	}
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].key
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := slices.Index(names, key.Value)
		switch {
		case at < 0 || key.Kind != yaml.ScalarNode:
			r.bad(key, "%s", Unknown("key", key.Value, names)+" in "+what)
		case seen[key.Value]:
			r.bad(key, "%s stands twice in %s", key.Value, what)
		default:
			seen[key.Value] = true
			fields[at].read(value)
		}
	}
}

// Unknown says that a word is none of those known, with the nearest of them.
func Unknown(kind, word string, known []string) string {
	shown := word
	if len([]rune(shown)) > 40 {
		shown = string([]rune(shown)[:39]) + "…"
	}
	text := fmt.Sprintf("unknown %s %q", kind, shown)
	if best := Nearest(word, known); best != "" {
		return text + " (did you mean " + best + "?)"
	}
	return text + " (known: " + strings.Join(known, ", ") + ")"
}

// Nearest is the word that is nearly the one given, "" if none is.
func Nearest(word string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := lexical.Distance(strings.ToLower(word), strings.ToLower(k), least); d < least {
			best, least = k, d
		}
	}
	return best
}

func (r *reader) spec(n *yaml.Node) *Spec {
	s := &Spec{File: r.file, Thresholds: Thresholds{Runs: DefaultRuns, Rate: DefaultRate}}
	version := false
	r.mapping(n, "the spec",
		field{"version", func(n *yaml.Node) {
			version = true
			if v, ok := r.integer(n, "version", 1); ok && v != Version {
				r.bad(n, "version %d: this program reads version %d", v, Version)
			}
		}},
		field{"skills", func(n *yaml.Node) { s.Skills = r.texts(n, "skills") }},
		field{"baseline", func(n *yaml.Node) { r.baseline(n, &s.Baseline) }},
		field{"client", func(n *yaml.Node) { s.Client = r.text(n, "client") }},
		field{"window", func(n *yaml.Node) {
			v, _ := r.integer(n, "window", 1)
			s.Window = int64(v)
		}},
		field{"model", func(n *yaml.Node) { s.Model = r.text(n, "model") }},
		field{"usage", func(n *yaml.Node) { s.Usage = r.text(n, "usage") }},
		field{"settings", func(n *yaml.Node) { s.Settings = r.text(n, "settings") }},
		field{"scorer", func(n *yaml.Node) { s.Scorers = r.scorers(n) }},
		field{"command", func(n *yaml.Node) { s.Command = r.command(n) }},
		field{"thresholds", func(n *yaml.Node) { r.thresholds(n, &s.Thresholds) }},
		field{"budget", func(n *yaml.Node) { r.budget(n, &s.Budget) }},
		field{"cases", func(n *yaml.Node) { r.cases(n, s) }},
	)
	top := r.deep(n)
	if top.Kind == yaml.MappingNode {
		switch {
		case !version:
			r.bad(top, "version is missing: write version: %d", Version)
		case len(s.Cases) == 0 && len(r.problems) == 0:
			r.bad(top, "cases are missing: without one nothing is tested")
		}
		if s.Baseline.Git != "" && len(s.Skills) == 0 {
			r.problems = append(r.problems, &Problem{r.file, s.Baseline.Line, "baseline: git needs skills, the folders that are read at that revision"})
		}
	}
	return s
}

func (r *reader) baseline(n *yaml.Node, b *Baseline) {
	b.Line = n.Line
	if n = r.deep(n); n.Kind == yaml.ScalarNode {
		if n.Value != "log" {
			r.bad(n, "baseline: want log, {git: REVISION} or {folder: DIR}")
		}
		return
	}
	r.mapping(n, "baseline",
		field{"git", func(n *yaml.Node) {
			b.Git = r.text(n, "git")
			if strings.HasPrefix(b.Git, "-") {
				r.bad(n, "git: %q is no revision", b.Git)
			}
		}},
		field{"folder", func(n *yaml.Node) { b.Folders = r.texts(n, "folder") }},
	)
	if b.Git != "" && len(b.Folders) > 0 {
		r.bad(n, "baseline: want one of git and folder")
	}
}

func (r *reader) thresholds(n *yaml.Node, t *Thresholds) {
	r.mapping(n, "thresholds",
		field{"runs", func(n *yaml.Node) {
			if v, ok := r.integer(n, "runs", 1); ok {
				t.Runs = v
				if v > 10_000 {
					r.bad(n, "runs: at most 10000")
				}
			}
		}},
		field{"rate", func(n *yaml.Node) {
			v, err := strconv.ParseFloat(r.deep(n).Value, 64)
			if err != nil || !(v > 0 && v <= 1) {
				r.bad(n, "rate: want a part above 0, up to 1, such as 0.8")
				return
			}
			t.Rate = v
		}},
	)
}

func (r *reader) budget(n *yaml.Node, b *Budget) {
	b.Line = n.Line
	limit := func(name string, into **int) field {
		return field{name, func(n *yaml.Node) {
			if v, ok := r.integer(n, name, 0); ok {
				*into = &v
			}
		}}
	}
	r.mapping(n, "budget", limit("listing_tokens", &b.ListingTokens), limit("listing_chars", &b.ListingChars),
		limit("name_only", &b.NameOnly), limit("shortened", &b.Shortened), limit("absent", &b.Absent))
}

func (r *reader) cases(n *yaml.Node, s *Spec) {
	n = r.deep(n)
	if n.Kind != yaml.SequenceNode {
		r.bad(n, "cases: want a list")
		return
	}
	lines := map[string]int{}
	for _, item := range n.Content {
		if r.read > maxNames {
			return
		}
		c := r.oneCase(item)
		if c.Name != "" {
			if first, ok := lines[c.Name]; ok {
				r.bad(item, "the name %q stands at line %d already", c.Name, first)
			}
			lines[c.Name] = c.Line
		}
		s.Cases = append(s.Cases, c)
	}
}

func (r *reader) oneCase(n *yaml.Node) Case {
	c := Case{Line: n.Line}
	before := len(r.problems)
	r.mapping(n, "a case",
		field{"name", func(n *yaml.Node) { c.Name = r.text(n, "name") }},
		field{"session", func(n *yaml.Node) { c.Session = r.text(n, "session") }},
		field{"at", func(n *yaml.Node) { r.at(n, &c.At) }},
		field{"scorer", func(n *yaml.Node) { c.Scorers = r.scorers(n) }},
		field{"expect", func(n *yaml.Node) { r.expect(n, &c.Expect) }},
		field{"skip", func(n *yaml.Node) { c.Skip = r.text(n, "skip") }},
		field{"review", func(n *yaml.Node) { c.Review = r.text(n, "review") }},
	)
	if len(r.problems) > before {
		return c
	}
	e := &c.Expect
	switch {
	case c.Name == "":
		r.bad(n, "a case has no name")
	case c.Session == "":
		r.bad(n, "the case %q names no session", c.Name)
	case c.Session == "-":
		r.bad(n, "the case %q: a session is a file or an id, not standard input", c.Name)
	case c.At.Line == 0:
		r.bad(n, "the case %q names no prompt: write at: {prompt: 1}", c.Name)
	case len(e.Visible) == 0 && e.Triggers == nil && len(e.Rank) == 0:
		r.bad(n, "the case %q expects nothing: write visible, triggers or rank", c.Name)
	}
	return c
}

func (r *reader) at(n *yaml.Node, at *At) {
	at.Line = n.Line
	before := len(r.problems)
	r.mapping(n, "at",
		field{"prompt", func(n *yaml.Node) { at.Prompt, _ = r.integer(n, "prompt", 1) }},
		field{"uuid", func(n *yaml.Node) { at.UUID = r.text(n, "uuid") }},
		field{"text", func(n *yaml.Node) { at.Text = r.text(n, "text") }},
		field{"agent", func(n *yaml.Node) { at.Agent = r.text(n, "agent") }},
	)
	set := 0
	for _, ok := range []bool{at.Prompt > 0, at.UUID != "", at.Text != ""} {
		if ok {
			set++
		}
	}
	if set != 1 && len(r.problems) == before {
		r.bad(n, "at: want one of prompt, uuid and text")
	}
}

func (r *reader) expect(n *yaml.Node, e *Expect) {
	r.mapping(n, "expect",
		field{"visible", func(n *yaml.Node) {
			r.skills(n, "visible", func(skill string, n *yaml.Node) {
				form := replay.Shown(r.text(n, skill))
				if form != "" && !slices.Contains(Forms, form) {
					names := make([]string, len(Forms))
					for i := range Forms {
						names[i] = string(Forms[i])
					}
					r.bad(n, "%s: %s", skill, Unknown("form", string(form), names))
				}
				e.Visible = append(e.Visible, Visible{skill, form, n.Line})
			})
		}},
		field{"triggers", func(n *yaml.Node) {
			e.Triggers = &Triggers{Line: n.Line}
			if names := r.texts(n, "triggers"); !slices.Equal(names, []string{"none"}) {
				e.Triggers.Any = names
				if slices.Contains(names, "none") {
					r.bad(n, "triggers: none stands alone")
				}
			}
		}},
		field{"rank", func(n *yaml.Node) {
			r.skills(n, "rank", func(skill string, n *yaml.Node) {
				within, _ := r.integer(n, skill, 1)
				e.Rank = append(e.Rank, Rank{skill, within, n.Line})
			})
		}},
	)
}

// skills reads a map whose keys are names of skills.
func (r *reader) skills(n *yaml.Node, what string, read func(string, *yaml.Node)) {
	n = r.deep(n)
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		r.bad(n, "%s: want names of skills with values, such as {deploy: %s}", what, map[string]string{"visible": "full", "rank": "3"}[what])
		return
	}
	if !r.more(n, len(n.Content)/2) {
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || key.Value == "":
			r.bad(key, "%s: want the name of a skill", what)
		case seen[key.Value]:
			r.bad(key, "%s: %s stands twice", what, key.Value)
		default:
			seen[key.Value] = true
			read(key.Value, n.Content[i+1])
		}
	}
}

func (r *reader) scorers(n *yaml.Node) []Scorer {
	var out []Scorer
	known := make([]string, len(Scorers))
	for i := range Scorers {
		known[i] = string(Scorers[i])
	}
	for _, name := range r.texts(n, "scorer") {
		switch s := Scorer(name); {
		case !slices.Contains(Scorers, s):
			r.bad(n, "%s", Unknown("scorer", name, known))
		case slices.Contains(out, s):
			r.bad(n, "scorer: %s stands twice", name)
		default:
			out = append(out, s)
		}
	}
	return out
}

// command is a program with its arguments: a list, or a line of words. No shell runs it.
func (r *reader) command(n *yaml.Node) []string {
	n = r.deep(n)
	if n.Kind == yaml.SequenceNode {
		return r.texts(n, "command")
	}
	line := r.text(n, "command")
	if line == "" {
		return nil
	}
	words, err := Words(line)
	if err != nil {
		r.bad(n, "%v", err)
	}
	return words
}

// text is a value that is not empty.
func (r *reader) text(n *yaml.Node, what string) string {
	n = r.deep(n)
	if n.Kind != yaml.ScalarNode || n.Value == "" || n.Tag == "!!null" {
		r.bad(n, "%s: want a text", what)
		return ""
	}
	return n.Value
}

// texts is a value or a list of values, none of them empty.
func (r *reader) texts(n *yaml.Node, what string) []string {
	n = r.deep(n)
	if n.Kind != yaml.SequenceNode {
		if s := r.text(n, what); s != "" {
			return []string{s}
		}
		return nil
	}
	if len(n.Content) == 0 {
		r.bad(n, "%s: the list is empty", what)
	}
	if !r.more(n, len(n.Content)) {
		return nil
	}
	var out []string
	for _, item := range n.Content {
		if s := r.text(item, what); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (r *reader) integer(n *yaml.Node, what string, least int) (int, bool) {
	n = r.deep(n)
	v, err := strconv.Atoi(strings.ReplaceAll(n.Value, "_", ""))
	if n.Kind != yaml.ScalarNode || err != nil || v < least || v > math.MaxInt32 {
		r.bad(n, "%s: want a whole number, %d or more", what, least)
		return 0, false
	}
	return v, true
}
