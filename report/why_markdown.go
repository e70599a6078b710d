package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/skilltrace/skilltrace/replay/why"
)

// mdRows is how many rows of a list go into an issue; the newest sessions, the first of
// the others.
const mdRows = 40

// WriteMarkdown writes the answer for an issue: what the screen says, as lists and
// tables.
func (d *WhyDocument) WriteMarkdown(w io.Writer, _ Style) error {
	var b strings.Builder
	d = d.shortNames()
	if d.Skill == "" {
		d.markdownAll(&b)
	} else {
		d.markdown(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mdStyle is that of texts which Markdown has in common with tables: nothing is wrapped.
var mdStyle = Style{Width: 1 << 20}

// mdTable writes a table of cells that are Markdown already.
func mdTable(b *strings.Builder, titles []string, rows [][]string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(titles, " | "), strings.Repeat("---|", len(titles)))
	for _, r := range rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(r, " | "))
	}
}

func words(gate string) string { return strings.ReplaceAll(gate, "_", " ") }

func (d *WhyDocument) markdownAll(b *strings.Builder) {
	fmt.Fprintf(b, "## Skills\n\n%s: %s, %s.\n\n", plural(len(d.Skills), "skill"), mdText(d.covered(mdStyle)), plural(d.Summary.Prompts, "prompt"))
	if len(d.Skills) == 0 {
		b.WriteString("No log and no skill file names a skill.\n")
		d.markdownUnknown(b)
		return
	}
	var rows [][]string
	for i := range d.Skills {
		k := &d.Skills[i]
		rows = append(rows, []string{mdCellCode(k.Skill), count(k.Listed), count(k.Described), count(k.ByModel), count(k.ByUser), words(k.Gate), words(k.State), count(k.decided()), mdCell(k.short())})
	}
	mdTable(b, []string{"skill", "listed", "described", "model", "user", "gate", "state", "prompts", "why"}, rows)
	fmt.Fprintf(b, "\n%s\n\n%s\n", d.legend(func(string) bool { return true }), absence)
	d.markdownUnknown(b)
}

func (d *WhyDocument) markdownUnknown(b *strings.Builder) {
	for _, line := range d.unknown(mdCode) {
		fmt.Fprintf(b, "\n%s\n", line)
	}
}

func (d *WhyDocument) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "## Why %s?\n\n", mdCode(d.Skill))
	if d.Asked != "" {
		fmt.Fprintf(b, "%s is listed as %s.\n\n", mdCode(d.Asked), mdCode(d.Skill))
	}
	if len(d.Sessions) > 1 && !d.markdownSummary(b) {
		return
	}
	q := d.focused()
	if q == nil {
		if len(d.Sessions) == 1 {
			fmt.Fprintf(b, "No prompt was asked in session %s.\n", mdCode(shortID(d.Sessions[0].ID)))
		}
		return
	}
	fmt.Fprintf(b, "**%s**\n\n", mdLong(q.Verdict.Reason))
	if text := d.byAgents(q); text != "" {
		fmt.Fprintf(b, "%s\n\n", mdText(text))
	}
	head := "Session " + mdCode(shortID(q.Session))
	if s := d.session(q.Session); s != nil {
		head += ", " + mdText(q.client(s))
		if !s.RulesExact {
			head += " (nearest rules)"
		}
		if t := mdStyle.day(s.Start); t != "" {
			head += ", " + t
		}
	}
	head += ", " + mdText(q.name())
	if d.Chosen != "" {
		head += ", " + d.Chosen + " of " + count(len(d.Questions))
	}
	fmt.Fprintf(b, "%s.\n\n", head)
	q.markdownChain(b)
	if len(q.Advice) > 0 {
		b.WriteString("\nWhat to do:\n\n")
		for _, a := range q.Advice {
			fmt.Fprintf(b, "- %s\n", mdLong(a))
		}
	}
	if runs := d.others(); len(runs) > 0 {
		b.WriteString("\n")
		var rows [][]string
		for _, r := range runs[:min(len(runs), mdRows)] {
			rows = append(rows, []string{mdText(r[0]), r[1], words(r[2]), words(r[3]), mdCell(r[4])})
		}
		mdTable(b, []string{"prompts", "line", "gate", "state", "why"}, rows)
		if n := len(runs) - mdRows; n > 0 {
			fmt.Fprintf(b, "\nand %s more.\n", count(n))
		}
	}
}

// markdownSummary writes what several sessions say; false where none knows the skill.
func (d *WhyDocument) markdownSummary(b *strings.Builder) bool {
	s := &d.Summary
	fmt.Fprintf(b, "%s, %s.\n\n", mdText(d.covered(mdStyle)), plural(s.Prompts, "prompt"))
	if d.Known != nil && !*d.Known {
		fmt.Fprintf(b, "No log and no skill file names %s.", mdCode(d.Skill))
		if len(d.Near) > 0 {
			names := make([]string, len(d.Near))
			for i, n := range d.Near {
				names[i] = mdCode(n)
			}
			fmt.Fprintf(b, " Did you mean %s?", strings.Join(names, " or "))
		}
		fmt.Fprintf(b, "\n\n%s\n", absence)
		return false
	}
	fmt.Fprintf(b, "%s.\n\n%s\n\n", mdText(s.words()), absence)
	var rows [][]string
	for _, v := range s.Verdicts {
		rows = append(rows, []string{words(v.Gate), words(v.State), count(v.Prompts), count(v.Sessions)})
	}
	mdTable(b, []string{"what decided", "state", "prompts", "sessions"}, rows)
	b.WriteString("\n")
	projects := d.projects(mdStyle)
	from := max(len(d.Sessions)-mdRows, 0)
	rows = nil
	for i := from; i < len(d.Sessions); i++ {
		x := &d.Sessions[i]
		line := ""
		if x.Line > 0 {
			line = fmt.Sprint(x.Line)
		}
		rows = append(rows, []string{mdCellCode(shortID(x.ID)), mdStyle.date(x.Start), mdText(projects[x.CWD]), count(x.Prompts), count(x.ByModel), count(x.ByUser), line, words(x.Gate), words(x.State), mdCell(x.Reason)})
	}
	mdTable(b, []string{"session", "date", "project", "prompts", "model", "user", "line", "gate", "state", "what decided most"}, rows)
	if from > 0 {
		fmt.Fprintf(b, "\nand %s before them.\n", plural(from, "session"))
	}
	b.WriteString("\n")
	return true
}

func (q *WhyQuestion) markdownChain(b *strings.Builder) {
	var rows [][]string
	for i := range q.Gates {
		g := &q.Gates[i]
		reason := Escape(g.Reason)
		if g.Gate == string(why.Asked) {
			reason = q.askedWords(mdStyle)
		}
		if g.Missing != "" {
			reason += " (missing: " + g.Missing + ")"
		}
		reason = mdCell(reason)
		for _, n := range g.Notes {
			reason += "; " + mdCell(n)
		}
		evidence := ""
		if g.Line > 0 && g.State != string(why.NotReached) {
			evidence = fmt.Sprintf("line %d", g.Line)
			if g.File != "" {
				evidence = fmt.Sprintf("%s:%d", g.File, g.Line)
			}
			if g.UUID != "" {
				evidence += " " + shortID(g.UUID)
			}
			evidence = mdText(evidence)
			if g.Text != nil && g.Gate != string(why.Asked) {
				const most = 160
				evidence += " " + mdCellCode(Truncate(Escape(string(*g.Text)), most))
			}
		}
		rows = append(rows, []string{words(g.Gate), words(g.State), reason, evidence})
	}
	mdTable(b, []string{"gate", "state", "why", "evidence"}, rows)
}

// mdCell is a text in a cell of a table, cut where it is long.
func mdCell(s string) string {
	const most = 240
	return mdText(Truncate(Escape(s), most))
}

// mdLong is a text that stands alone, cut where it is very long.
func mdLong(s string) string {
	const most = 600
	return mdText(Truncate(Escape(s), most))
}

// mdText is a text in Markdown in which nothing of it acts: no markup, no link, and
// neither a mention nor a reference, which a backslash does not stop.
func mdText(s string) string {
	const apart = "&#8203;"
	var b strings.Builder
	text := []rune(Escape(s))
	for i, r := range text {
		inWord := i > 0 && (unicode.IsLetter(text[i-1]) || unicode.IsDigit(text[i-1]) || text[i-1] == '_')
		next := i+1 < len(text) && (unicode.IsLetter(text[i+1]) || unicode.IsDigit(text[i+1]))
		switch {
		case next && (r == '@' && !inWord || r == '#'):
			b.WriteString(string(r) + apart)
			continue
		case r == ':' && i+2 < len(text) && text[i+1] == '/' && text[i+2] == '/':
			b.WriteByte('\\')
		case r == '.' && inWord && i >= 3 && strings.EqualFold(string(text[i-3:i]), "www"):
			b.WriteByte('\\')
		case strings.ContainsRune("\\`*_{}[]<>()#+!|~&$", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// mdCode is a text as code in Markdown.
func mdCode(s string) string {
	s = Escape(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	pad := ""
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s == "" {
		pad = " "
	}
	return fence + pad + s + pad + fence
}

// mdCellCode is a text as code in a cell of a table: there a bar parts cells even in
// code, unless a backslash stands before it.
func mdCellCode(s string) string { return strings.ReplaceAll(mdCode(s), "|", "\\|") }
