package rules

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Markdown writes the reference of a table: every group of rules with what each
// rule means and, newest first, what changed since when on what evidence. Of a client
// that is only described it writes where that departs from the recorded one. The
// error is that of w.
func (t *Table) Markdown(w io.Writer) error {
	if t.Described != nil {
		return t.dialectPage(w)
	}
	b := bufio.NewWriter(w)
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	p("<!-- Generated from the rule table: go test ./replay/rules -run TestReference -update -->\n\n")
	p("# Rules of %s\n\n", t.Client)
	p("How each version of the client handles skills, as far as it is known: %s to %s were recorded. ", t.Base, t.Latest)
	p("Versions from %s on use the rules of %s, unconfirmed; a newer version uses the latest, and every report says so. ", t.Oldest, t.Base)
	p("`skilltrace rules` shows the rules of one version.\n\n")
	p("Each row gives a rule a new value from a version on. Its evidence names recordings of the real client as family/scenario and version (sessions, probes and fuzz numbers that are not in the repository are named too), or what the vendor documents. How sure it is:\n\n")
	p("- **exact**: two adjacent published versions were recorded and differ.\n")
	p("- **range**: the old way was last seen at the version in brackets, the new one no later than at the next version recorded. ")
	p("For a first value: it was recorded only at a later version.\n")
	p("- **documented**: the vendor says so; not recorded.\n\n")
	p("A file of your own, given with `--rules`, has the same form: a YAML list of `since`, `key`, `value` and, if you like, `summary` and `evidence`. ")
	p("Its changes hold from their version on, whatever the table says later.\n\n")
	p("```yaml\n- since: 2.1.340\n  key: entry.cap\n  value: 2048\n  summary: texts may be longer\n```\n")

	for _, g := range Groups() {
		p("\n## %s\n\n%s\n\n", g.Title, cell(g.About))
		p("| rule | meaning | values |\n|---|---|---|\n")
		for _, k := range Keys() {
			if k.Group() == g.Name {
				p("| `%s` | %s | %s |\n", k.Name, cell(k.Meaning), cell(k.values()))
			}
		}
		p("\n| since | rule | value | in words | evidence | confidence |\n|---|---|---|---|---|---|\n")
		for i := len(t.changes) - 1; i >= 0; {
			// Versions stand newest first; the changes of one version in their order.
			j := i
			for j > 0 && t.changes[j-1].at == t.changes[i].at {
				j--
			}
			for _, c := range t.changes[j : i+1] {
				k, _ := KeyNamed(c.Key)
				if k.Group() != g.Name {
					continue
				}
				words := c.Summary
				if words == "" {
					words = k.inWords(c.Value)
				}
				p("| %s | `%s` | %s | %s | %s | %s |\n", c.Since, c.Key, cell(FormatValue(c.Value)), cell(words), cell(c.Evidence), cell(c.degree()))
			}
			i = j - 1
		}
	}

	p("\n## Texts\n\nThe literal texts that these rules speak of. X is a skill's name, A are arguments, DIR is a folder.\n\n")
	p("| what | text | when |\n|---|---|---|\n")
	for _, x := range Texts() {
		p("| %s | %s | %s |\n", cell(x.Name), code(x.Text), cell(x.When))
	}
	return b.Flush()
}

// degree is the confidence with the last version that behaved otherwise.
func (c Change) degree() string {
	if c.From == "" {
		return string(c.Confidence)
	}
	return fmt.Sprintf("%s (%s)", c.Confidence, c.From)
}

// values describes what a rule's value may be.
func (k Key) values() string {
	if len(k.Choices) == 0 {
		return k.Kind()
	}
	var parts []string
	for _, c := range k.Choices {
		parts = append(parts, c.Value+": "+c.Meaning)
	}
	return strings.Join(parts, "; ")
}

// inWords says what a value of this rule means.
func (k Key) inWords(value any) string {
	switch v := value.(type) {
	case bool:
		is, otherwise, _ := strings.Cut(k.Meaning, "; otherwise ")
		switch {
		case v:
			return is
		case otherwise != "":
			return otherwise
		}
		return "not yet"
	case string:
		for _, c := range k.Choices {
			if c.Value == v {
				return c.Meaning
			}
		}
	}
	return k.Meaning
}

// cell makes a text fit into a cell of a table.
func cell(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	for _, c := range []string{`\`, "|", "`", "<", ">", "*", "_", "[", "]", "$"} {
		s = strings.ReplaceAll(s, c, `\`+c)
	}
	return s
}

// code is a literal text in a cell, line breaks written \n.
func code(s string) string {
	s = strings.ReplaceAll(s, "\n", `\n`)
	s = strings.ReplaceAll(s, "|", `\|`)
	return "`` " + s + " ``"
}
