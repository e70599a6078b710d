package report

import (
	"fmt"
	"io"
	"strings"
)

// mdLongest is how many cells of one text go into Markdown.
const mdLongest = 1200

// writeMarkdownOf writes a document as its table has it, in Markdown: blocks become
// items of a list, grids become tables, and all that comes from logs is escaped for it.
func writeMarkdownOf(w io.Writer, title string, style Style, doc Document) error {
	style.Width, style.Color, style.markdown = mdStyle.Width, false, true
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", title)
	if err := doc.WriteTable(&b, style); err != nil {
		return err
	}
	text := b.String()
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	_, err := io.WriteString(w, strings.TrimRight(text, "\n")+"\n")
	return err
}

// mdBlanks is a text of a block, in which some blanks are marked for wrapping.
func mdBlanks(text string) string {
	return mdText(strings.TrimSpace(strings.ReplaceAll(text, noBreak, " ")))
}

// writeMarkdown writes the grid as a table. Its rules, for which a table of Markdown has
// no form, part it into several.
func (g *grid) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	open := false
	for i := 0; i <= len(g.rows); i++ {
		if rule, ok := g.rules[i]; ok {
			for text := range strings.Lines(rule) {
				if text = strings.Trim(text, "─ \n"); text != "" {
					fmt.Fprintf(&b, "\n**%s**\n", mdBlanks(text))
					open = false
				}
			}
		}
		if i == len(g.rows) {
			break
		}
		if !open {
			open = true
			titles, lines := make([]string, len(g.columns)), make([]string, len(g.columns))
			for c := range g.columns {
				titles[c], lines[c] = mdText(g.columns[c].title), "---"
				if g.columns[c].right {
					lines[c] = "--:"
				}
			}
			fmt.Fprintf(&b, "\n| %s |\n|%s|\n", strings.Join(titles, " | "), strings.Join(lines, "|"))
		}
		cells := make([]string, len(g.rows[i]))
		for c, text := range g.rows[i] {
			cells[c] = mdText(strings.TrimSpace(Truncate(text, mdLongest)))
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteMarkdown writes what the table says.
func (d *SessionsDocument) WriteMarkdown(w io.Writer, style Style) error {
	return writeMarkdownOf(w, "Sessions", style, d)
}

// WriteMarkdown writes what the table says.
func (d *TimelineDocument) WriteMarkdown(w io.Writer, style Style) error {
	return writeMarkdownOf(w, "Timeline", style, d)
}

// WriteMarkdown writes what the table says.
func (d *ReplayDocument) WriteMarkdown(w io.Writer, style Style) error {
	return writeMarkdownOf(w, "Replay", style, d)
}

// WriteMarkdown writes what the table says.
func (d *CostDocument) WriteMarkdown(w io.Writer, style Style) error {
	return writeMarkdownOf(w, "Cost", style, d)
}

// WriteMarkdown writes what the table says.
func (d *ConformDocument) WriteMarkdown(w io.Writer, style Style) error {
	return writeMarkdownOf(w, "Agreement with recordings", style, d)
}

// WriteMarkdown writes what the table says. The reference of all versions is
// [RulesDocument.WriteReference].
func (d *RulesDocument) WriteMarkdown(w io.Writer, style Style) error {
	return writeMarkdownOf(w, "Rules", style, d)
}
