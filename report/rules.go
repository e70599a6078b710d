package report

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/skilltrace/skilltrace/replay/rules"
)

// RulesSchema names the form of a RulesDocument.
const RulesSchema = rules.Schema

// RulesDocument is the answer of the command rules: those of one version, or
// the difference between two.
type RulesDocument struct {
	rules.Document
	table *rules.Table
}

// NewRulesFrom describes the rules of a version and how they differ from those of a
// version of another client. Errors are those of [rules.Table.At].
func NewRulesFrom(table *rules.Table, version string, other *rules.Table, against string) (*RulesDocument, error) {
	doc, err := table.DocumentFrom(version, other, against)
	return &RulesDocument{doc, table}, err
}

// NewRules describes the rules of a version and, if against is not empty, how
// they differ from those of that version. Errors are those of [rules.Table.At].
func NewRules(table *rules.Table, version, against string) (*RulesDocument, error) {
	doc, err := table.Document(version, against)
	if err != nil {
		return nil, err
	}
	for i := range doc.Diff {
		if doc.Diff[i].Changes == nil {
			doc.Diff[i].Changes = []rules.Change{} // JSON has [] for an empty list
		}
	}
	return &RulesDocument{doc, table}, nil
}

// WriteReference writes the reference of the whole table, all versions, as Markdown. A
// document that was read back from JSON has none.
func (d *RulesDocument) WriteReference(w io.Writer) error { return d.table.Markdown(w) }

// WriteTable writes the rules by group, or the rules that differ.
func (d *RulesDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	exact := "recorded"
	switch {
	case d.Described != "":
		exact = "as described, never recorded; the description is " + Escape(d.Described)
	case !d.Exact:
		exact = Escape(d.Why)
	}
	head := d.new() + ": " + exact
	if d.compared() {
		head = fmt.Sprintf("%s against %s: %s", d.new(), d.old(), plural(len(d.Diff), "rule")+" differ")
		if len(d.Diff) == 1 {
			head += "s"
		}
		if !d.Exact {
			head += "; " + exact
		}
	}
	style.line(&b, head)
	write := d.writeRules
	if d.compared() {
		write = d.writeDiff
	}
	if err := write(&b, style); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// compared reports whether the document is a difference.
func (d *RulesDocument) compared() bool { return d.Against != "" || d.AgainstClient != "" }

// new and old name the two versions that are compared: with the client, but for the
// old one of the same client.
func (d *RulesDocument) new() string { return clientVersion(d.Client, d.Version) }

func (d *RulesDocument) old() string { return clientVersion(d.AgainstClient, d.Against) }

func clientVersion(client, version string) string {
	return strings.TrimSpace(Escape(client) + " " + Escape(version))
}

func (d *RulesDocument) writeRules(b *strings.Builder, style Style) error {
	g := grid{columns: []column{{title: "rule", shrink: 1, least: 28}, {title: "value", shrink: 2, least: 12}, {title: "since"},
		{title: "known", drop: lateDrop}, {title: "evidence", shrink: 4, least: 12, drop: 2}, {title: "meaning", shrink: 5, least: 10}}}
	for _, group := range rules.Groups() {
		first := true
		for _, r := range d.Rules {
			if name, _, _ := strings.Cut(r.Key, "."); name != group.Name {
				continue
			}
			if first {
				first = false
				g.rule("")
				g.rule(style.paint(bold, group.Title))
			}
			meaning := ""
			if style.Verbose {
				meaning = r.Meaning
			}
			g.add(Escape(r.Key), Escape(rules.FormatValue(r.Value)), Escape(r.Since), style.known(r.Confidence, r.From), Escape(r.Evidence), Escape(meaning))
		}
	}
	if err := g.write(b, style); err != nil {
		return err
	}
	writeNext(b, style, []string{"skilltrace rules --diff OLD NEW", "skilltrace rules --reference"})
	return nil
}

// known is how sure a change is; a verbose style adds the last version before it
// where the exact one was not recorded.
func (s Style) known(c rules.Confidence, from string) string {
	text := Escape(string(c))
	switch c {
	case rules.Documented:
		text = "docs"
	case rules.Assumed:
		text = "not described"
	}
	if s.Verbose && c == rules.Within && from != "" {
		text += " after " + Escape(from)
	}
	return text
}

// writeDiff writes what changed, in the words of the changes: by version, or, where two
// clients are compared, by rule.
func (d *RulesDocument) writeDiff(b *strings.Builder, style Style) error {
	type entry struct {
		label, text, values string
		at                  rules.Version
	}
	var entries []entry
	for _, r := range d.Diff {
		values := Escape(r.Key) + ": " + Escape(rules.FormatValue(r.Old)) + " → " + Escape(rules.FormatValue(r.New))
		if len(r.Changes) == 0 {
			entries = append(entries, entry{"", Escape(r.Meaning), values, rules.Version{}})
			continue
		}
		for i, c := range r.Changes {
			e := entry{label: Escape(c.Since), text: Escape(c.Summary), values: values}
			if c.Summary == "" {
				e.text = Escape(r.Meaning) // a change of the user's own need not say it
			}
			if i < len(r.Changes)-1 {
				e.values = Escape(r.Key) + ": " + Escape(rules.FormatValue(c.Value)) + " for a time"
			}
			e.values += " · " + Escape(c.Confidence.Words())
			if c.Confidence == rules.Within && c.From != "" {
				e.values += ", after " + Escape(c.From)
			}
			if style.Verbose {
				e.values += " · " + Escape(c.Evidence)
			}
			e.at, _ = rules.ParseVersion(c.Since)
			entries = append(entries, e)
		}
	}
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].at.Compare(entries[j].at) < 0 })
	if d.older() {
		style.line(b, "Read it backwards: "+d.new()+" has none of this yet.")
	}
	var last entry
	for _, e := range entries {
		label := e.label
		if label == last.label {
			label = ""
		}
		if label != "" || e.text != last.text {
			b.WriteString("\n")
			style.block(b, label, e.text)
		}
		last = e
		if style.markdown {
			style.block(b, "", e.values)
			continue
		}
		for _, line := range wrap(e.values, style.width()-labelWidth-2) {
			b.WriteString(strings.Repeat(" ", labelWidth+2) + style.paint(faint, line) + "\n")
		}
	}
	return nil
}

// older reports whether the new version is the older one.
func (d *RulesDocument) older() bool {
	if d.AgainstClient != "" {
		return false
	}
	v, err := rules.ParseVersion(d.Version)
	w, err2 := rules.ParseVersion(d.Against)
	return err == nil && err2 == nil && v.Compare(w) < 0
}
