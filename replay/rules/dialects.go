package rules

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Dialects writes the page on the clients that are only described: point by point
// where each departs from the recorded client, where it agrees, and what its
// description leaves open. The error is that of w.
func Dialects(w io.Writer) error {
	recorded, err := For(DefaultClient)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	p("<!-- Generated from the rule tables: go test ./replay/rules -run TestDialects -update -->\n\n")
	p("# Clients that are only described\n\n")
	p("Three documents describe the life of a skill otherwise than %s was recorded. Each is a set of rules of its own, chosen with `--client`: ", DefaultClient)
	p("`skilltrace replay LOG --client mini-cc`. Such a client was never recorded: its description is the definition, and a log that departs from it is divergent. ")
	p("`skilltrace rules mini-cc` shows its rules, `skilltrace rules --diff %s@%s mini-cc` where they differ.\n\n", DefaultClient, recorded.Latest)
	p("The rules are named and explained in [rules.md](rules.md). In the tables below the last column says since which version the recorded client is otherwise than described, ")
	p("or up to which version it was, if it came to agree.\n\n")
	p("A log is read by its shape, whatever client is chosen. Its rows are those of %s; where the bodies stand, what the tags of a typed skill are and where the catalogue stands is what differs. ", DefaultClient)
	p("A record of the prompt (attachment `prompt_snapshot`) shows the catalogue of a client that keeps it in the system prompt or in a tool's description. Without one the catalogue is predicted and marked as not recorded.\n")
	for _, client := range Clients() {
		t, err := For(client)
		if err != nil {
			return err
		}
		if t.Described != nil {
			if err := t.dialect(recorded, p); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// dialectPage writes the chapter of one client as a page.
func (t *Table) dialectPage(w io.Writer) error {
	recorded, err := For(DefaultClient)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	p("# Rules of %s\n", t.Client)
	if err := t.dialect(recorded, p); err != nil {
		return err
	}
	return b.Flush()
}

// dialect writes the chapter of one client.
func (t *Table) dialect(recorded *Table, p func(string, ...any)) error {
	own, err := t.Effective("")
	if err != nil {
		return err
	}
	latest, err := recorded.Effective(recorded.Latest)
	if err != nil {
		return err
	}
	like, err := recorded.Effective(t.Described.Like)
	if err != nil {
		return err
	}
	d := t.Described
	p("\n## %s\n\n", t.Client)
	p("Described by %s.", d.Source)
	if d.About != "" {
		p(" It takes no version, or %s.", d.About)
	} else {
		p(" It takes no version.")
	}
	compared := d.Like != recorded.Latest
	p("\n\n### Where it departs from the recorded client\n\n")
	columns := []string{"point", "rule", "as described", DefaultClient + " " + recorded.Latest}
	if compared {
		columns = append(columns, DefaultClient+" "+d.Like)
	}
	columns = append(columns, "differ")
	p("| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	var agrees []string
	for i, r := range own {
		if r.Confidence != Documented {
			continue
		}
		if reflect.DeepEqual(r.Value, latest[i].Value) && reflect.DeepEqual(r.Value, like[i].Value) {
			agrees = append(agrees, fmt.Sprintf("- `%s` = %s: %s\n", r.Key, cell(FormatValue(r.Value)), cell(r.Summary)))
			continue
		}
		row := []string{cell(r.Summary), "`" + r.Key + "`", cell(FormatValue(r.Value)), cell(FormatValue(latest[i].Value))}
		if compared {
			row = append(row, cell(FormatValue(like[i].Value)))
		}
		p("| %s |\n", strings.Join(append(row, recorded.otherwise(r.Key, r.Value)), " | "))
	}
	p("\n### Where it agrees\n\n")
	if agrees == nil {
		p("With all of the two versions at once, nowhere.\n")
	}
	for _, line := range agrees {
		p("%s", line)
	}
	p("\n### Not described\n\n")
	p("Assumed as in %s %s:", DefaultClient, d.Like)
	sep := " "
	for i, r := range own {
		if r.Confidence == Assumed && reflect.DeepEqual(r.Value, like[i].Value) {
			p("%s`%s` (%s)", sep, r.Key, cell(FormatValue(r.Value)))
			sep = ", "
		}
	}
	p(".\n")
	first := true
	for i, r := range own {
		if r.Confidence != Assumed || reflect.DeepEqual(r.Value, like[i].Value) {
			continue
		}
		if first {
			p("\nAssumed otherwise:\n\n| rule | assumed | %s %s | because |\n|---|---|---|---|\n", DefaultClient, d.Like)
			first = false
		}
		p("| `%s` | %s | %s | %s |\n", r.Key, cell(FormatValue(r.Value)), cell(FormatValue(like[i].Value)), cell(strings.TrimPrefix(r.Evidence, "not described: ")))
	}
	return nil
}

// otherwise says in which versions a rule of the recorded client has another value.
func (t *Table) otherwise(key string, value any) string {
	since, differs := "", false
	for _, c := range t.changes {
		if c.Key != key {
			continue
		}
		if now := !reflect.DeepEqual(c.Value, value); now != differs || since == "" {
			since, differs = c.Since, now
		}
	}
	switch {
	case differs && since == t.Base:
		return "always"
	case differs:
		return "since " + since
	}
	return "before " + since
}
