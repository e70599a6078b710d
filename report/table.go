package report

import (
	"bytes"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// column is one column of a grid.
type column struct {
	title string
	right bool // numbers
	// shrink says that the column may be cut, down to least cells, where the grid
	// is too wide; columns with a higher shrink give way first. 0 means never.
	shrink int
	least  int
	// drop says that the column may be left out where the grid is too wide even
	// with all others at their least; those with a higher drop go first.
	drop int
	// tail keeps the end of a cut text (paths) instead of its start.
	tail bool
	ink  func(cell string) ink // colour of a cell, nil for none
}

// grid is a table without lines: a row of titles, rows of cells, two blanks
// between columns. Cells must be escaped and free of colour.
type grid struct {
	columns []column
	rows    [][]string
	// rule holds texts that stand across the grid before the row of that index.
	rules map[int]string
	// indent is put before every line, in cells.
	indent int
	// tight puts one blank between columns, not two.
	tight bool
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// rule puts a line of text between the rows before and after this moment.
func (g *grid) rule(text string) {
	if g.rules == nil {
		g.rules = map[int]string{}
	}
	if before, ok := g.rules[len(g.rows)]; ok {
		text = before + "\n" + text
	}
	g.rules[len(g.rows)] = text
}

// gap is the number of blanks between two columns.
func (g *grid) gap() int {
	if g.tight {
		return 1
	}
	return 2
}

// write fits the grid to the width of the style and writes it. Empty columns are
// left out. A verbose style cuts nothing, whatever the width.
func (g *grid) write(w io.Writer, style Style) error {
	g.dropEmpty()
	g.dropWide(style)
	if len(g.columns) == 0 {
		return nil
	}
	widths := g.fit(style)
	var out bytes.Buffer
	table := tablewriter.NewTable(&out,
		// The renderer asks the environment for East Asian widths otherwise.
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithConfig(g.config(widths)),
	)
	titles := make([]string, len(g.columns))
	for i, c := range g.columns {
		titles[i] = style.paint(bold, Truncate(c.title, widths[i]))
	}
	table.Header(titles)
	for _, row := range g.rows {
		cells := make([]string, len(g.columns))
		for i, c := range g.columns {
			cut := Truncate
			if c.tail {
				cut = truncateStart
			}
			cells[i] = cut(row[i], widths[i])
			if c.ink != nil && row[i] != "" {
				if paint := c.ink(row[i]); paint != "" {
					cells[i] = style.paint(paint, cells[i])
				}
			}
		}
		if err := table.Append(cells); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	return g.writeLines(w, out.String())
}

// writeLines writes the rendered lines, the rules between them.
func (g *grid) writeLines(w io.Writer, rendered string) error {
	indent := strings.Repeat(" ", g.indent)
	var b strings.Builder
	row := -1 // the titles
	put := func(line string) {
		b.WriteString(strings.TrimRight(indent+line, " "))
		b.WriteByte('\n')
	}
	for line := range strings.Lines(rendered) {
		if rule, ok := g.rules[row]; ok && row >= 0 {
			for text := range strings.Lines(rule) {
				put(strings.TrimRight(text, "\n"))
			}
		}
		put(strings.TrimRight(line, "\n"))
		row++
	}
	if rule, ok := g.rules[len(g.rows)]; ok {
		for text := range strings.Lines(rule) {
			put(strings.TrimRight(text, "\n"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// dropEmpty removes columns whose cells are all empty.
func (g *grid) dropEmpty() {
	g.keep(func(i int) bool {
		for _, row := range g.rows {
			if row[i] != "" {
				return true
			}
		}
		return false
	})
}

// dropWide removes columns that may go until the others can fit.
func (g *grid) dropWide(style Style) {
	if style.Verbose {
		return
	}
	for {
		total, victim := g.indent-g.gap(), -1
		for i, c := range g.columns {
			w := g.natural(i)
			if c.shrink > 0 {
				w = min(w, max(c.least, 1))
			}
			total += w + g.gap()
			if c.drop > 0 && (victim < 0 || c.drop > g.columns[victim].drop) {
				victim = i
			}
		}
		if total <= style.width() || victim < 0 {
			return
		}
		g.keep(func(i int) bool { return i != victim })
	}
}

// keep removes the columns for which wanted is false.
func (g *grid) keep(wanted func(i int) bool) {
	var columns []column
	rows := make([][]string, len(g.rows))
	for i, c := range g.columns {
		if !wanted(i) {
			continue
		}
		columns = append(columns, c)
		for r, row := range g.rows {
			rows[r] = append(rows[r], row[i])
		}
	}
	g.columns, g.rows = columns, rows
}

// natural is the width of a column with nothing cut, in cells.
func (g *grid) natural(i int) int {
	w := displayWidth(g.columns[i].title)
	for _, row := range g.rows {
		w = max(w, displayWidth(row[i]))
	}
	return w
}

// fit chooses the width of each column, in cells.
func (g *grid) fit(style Style) []int {
	widths := make([]int, len(g.columns))
	total := g.indent - g.gap()
	for i := range g.columns {
		widths[i] = g.natural(i)
		total += widths[i] + g.gap()
	}
	if style.Verbose {
		return widths
	}
	for over := total - style.width(); over > 0; {
		victim := -1
		for i, c := range g.columns {
			if c.shrink == 0 || widths[i] <= max(c.least, 1) {
				continue
			}
			if victim < 0 || c.shrink > g.columns[victim].shrink ||
				c.shrink == g.columns[victim].shrink && widths[i] > widths[victim] {
				victim = i
			}
		}
		if victim < 0 {
			break
		}
		widths[victim]--
		over--
	}
	return widths
}

func (g *grid) config(widths []int) tablewriter.Config {
	aligns := make([]tw.Align, len(g.columns))
	pads := make([]tw.Padding, len(g.columns))
	for i, c := range g.columns {
		aligns[i] = tw.AlignLeft
		if c.right {
			aligns[i] = tw.AlignRight
		}
		pads[i] = tw.Padding{Left: "", Right: strings.Repeat(" ", g.gap()), Overwrite: true}
		if i == len(g.columns)-1 {
			pads[i].Right = ""
		}
	}
	section := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{Global: tw.AlignLeft, PerColumn: aligns},
		Padding:    tw.CellPadding{PerColumn: pads},
	}
	return tablewriter.Config{Header: section, Row: section, Behavior: tw.Behavior{TrimSpace: tw.Off, TrimLine: tw.Off}}
}
