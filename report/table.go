package report

import (
	"bytes"
	"io"
	"slices"
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
	// is too wide; columns with a higher shrink give way first. 0 means not before
	// all else was tried.
	shrink int
	least  int
	// room is the least width of a column that is not cut: 0 where its cells say it all.
	room int
	// drop says that the column may be left out where the grid is too wide even
	// with all others at their least; those with a higher drop go first, of equal ones
	// the last, and those with lateDrop only where all else was tried.
	drop int
	// tail keeps the end of a cut text (paths) instead of its start.
	tail bool
	// middle keeps both ends of a cut text (names).
	middle bool
	ink    func(cell string) ink // colour of a cell, nil for none
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
	// widths are those of the columns. They are set by write, or before it, of a grid that
	// goes on with another: then it has no titles.
	widths []int
	// tight puts one blank between columns, not two.
	tight bool
}

func (g *grid) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, noBreak, " ")
	}
	g.rows = append(g.rows, cells)
}

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
// left out. A verbose style cuts nothing: it goes on with the last column, if that
// may be cut, on further lines.
func (g *grid) write(w io.Writer, style Style) error {
	goesOn := g.widths != nil
	if !goesOn {
		g.dropEmpty()
	}
	if style.markdown {
		return g.writeMarkdown(w)
	}
	if len(g.columns) == 0 || len(g.rows) == 0 && goesOn {
		return g.writeLines(w, "", 0)
	}
	switch {
	case !goesOn:
		g.widths = g.layout(style)
	case style.Verbose:
		last := len(g.widths) - 1
		for i := range last {
			g.widths[i] = max(g.widths[i], g.widest(i))
		}
		g.foldRows(g.widths[last])
	}
	widths := g.widths
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
	if !goesOn {
		titles := make([]string, len(g.columns))
		for i, c := range g.columns {
			titles[i] = style.paint(bold, c.pad(Truncate(c.title, widths[i]), widths[i]))
		}
		table.Header(titles)
	}
	for _, row := range g.rows {
		cells := make([]string, len(g.columns))
		for i, c := range g.columns {
			cut := Truncate
			switch {
			case c.tail:
				cut = truncateStart
			case c.middle:
				cut = truncateMiddle
			}
			cells[i] = row[i]
			if !goesOn || !c.right {
				cells[i] = cut(row[i], widths[i])
			} // else a number that is larger than there is room for pushes the rest on
			cells[i] = c.pad(cells[i], widths[i])
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
	first := -1 // the titles
	if goesOn {
		first = 0
	}
	return g.writeLines(w, out.String(), first)
}

// pad fills a cell of a column with room to a width, which else is that of its widest cell.
func (c *column) pad(cell string, width int) string {
	if c.room == 0 {
		return cell
	}
	blanks := strings.Repeat(" ", max(0, width-displayWidth(cell)))
	if c.right {
		return blanks + cell
	}
	return cell + blanks
}

// writeLines writes the rendered lines, of which the first is that row, and the rules
// between them.
func (g *grid) writeLines(w io.Writer, rendered string, row int) error {
	indent := strings.Repeat(" ", g.indent)
	var b strings.Builder
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
		if g.columns[i].room > 0 {
			return true
		}
		for _, row := range g.rows {
			if row[i] != "" {
				return true
			}
		}
		return false
	})
}

// has reports whether a column is there still; those that found no room are not, once
// the grid is written.
func (g *grid) has(title string) bool {
	return slices.ContainsFunc(g.columns, func(c column) bool { return c.title == title })
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

// natural is the widths of the columns with nothing cut, in cells.
func (g *grid) natural() []int {
	widths := make([]int, len(g.columns))
	for i, c := range g.columns {
		widths[i] = max(displayWidth(c.title), g.widest(i), c.room)
	}
	return widths
}

// widest is the width of the widest cell of a column, in cells of the screen.
func (g *grid) widest(i int) int {
	w := 0
	for _, row := range g.rows {
		w = max(w, displayWidth(row[i]))
	}
	return w
}

// total is the width of the grid with columns of these widths.
func (g *grid) total(widths []int) int {
	total := g.indent - g.gap()
	for _, w := range widths {
		total += w + g.gap()
	}
	return total
}

// lateDrop is the drop of columns that many rows are read by.
const lateDrop = 1

// leastCells is to how many cells columns that may be cut go down in need.
const leastCells = 8

// layout chooses the width of each column, in cells. Where the grid is too wide it
// gives way in steps: columns that may be cut go down to their least; columns that
// may be left out go; the gaps shrink; titles are cut, and texts below their least;
// the last columns that may be left out go. On a screen that is still too narrow
// anything is cut.
func (g *grid) layout(style Style) []int {
	if style.Verbose {
		widths := g.natural()
		g.foldLast(style, widths)
		return widths
	}
	least := func(widths []int) []int {
		floor := slices.Clone(widths)
		for i, c := range g.columns {
			if c.shrink > 0 {
				floor[i] = min(widths[i], max(c.least, 1))
			}
		}
		return floor
	}
	need := func(widths []int) []int {
		floor := least(widths)
		for i, c := range g.columns {
			if c.shrink > 0 {
				floor[i] = min(floor[i], leastCells)
			} else {
				floor[i] = min(floor[i], max(1, g.widest(i), c.room))
			}
		}
		return floor
	}
	widths := g.natural()
	for i := range widths {
		widths[i] = min(widths[i], style.width())
	}
	widths = g.dropWide(widths, least, lateDrop+1, style.width())
	g.tight = g.tight || g.total(least(widths)) > style.width()
	widths = g.dropWide(widths, need, lateDrop, style.width())
	first := func(c column) int { return c.shrink }
	g.cut(widths, least(widths), style.width(), first)
	g.cut(widths, need(widths), style.width(), first)
	g.cut(widths, slices.Repeat([]int{1}, len(widths)), style.width(), func(column) int { return 0 })
	return widths
}

// dropWide removes columns with a drop of at least from until the others can fit
// into width by going down to their floors. It returns the widths that are left.
func (g *grid) dropWide(widths []int, floors func([]int) []int, from, width int) []int {
	for g.total(floors(widths)) > width {
		victim := -1
		for i, c := range g.columns {
			if c.drop >= from && (victim < 0 || c.drop >= g.columns[victim].drop) {
				victim = i
			}
		}
		if victim < 0 {
			break
		}
		g.keep(func(i int) bool { return i != victim })
		widths = slices.Delete(widths, victim, victim+1)
	}
	return widths
}

// cut makes columns narrower, none below its floor, until the grid fits into width:
// those that rank higher first, and of these the widest.
func (g *grid) cut(widths, floor []int, width int, rank func(column) int) {
	for over := g.total(widths) - width; over > 0; over-- {
		victim := -1
		for i, c := range g.columns {
			if widths[i] <= floor[i] {
				continue
			}
			if victim < 0 || rank(c) > rank(g.columns[victim]) ||
				rank(c) == rank(g.columns[victim]) && widths[i] > widths[victim] {
				victim = i
			}
		}
		if victim < 0 {
			return
		}
		widths[victim]--
	}
}

// foldLast goes on with the texts of the last column on further rows where the
// grid fits thereby.
func (g *grid) foldLast(style Style, widths []int) {
	last := len(widths) - 1
	c := g.columns[last]
	over := g.total(widths) - style.width()
	if over <= 0 || c.shrink == 0 || widths[last]-over < c.least {
		return
	}
	widths[last] -= over
	g.foldRows(widths[last])
}

// foldRows goes on with cells of the last column that are wider than width on further
// rows.
func (g *grid) foldRows(width int) {
	last := len(g.columns) - 1
	var rows [][]string
	rules := map[int]string{}
	for r, row := range g.rows {
		if rule, ok := g.rules[r]; ok {
			rules[len(rows)] = rule
		}
		for n, piece := range fold(row[last], width) {
			part := make([]string, len(row))
			if n == 0 {
				copy(part, row)
			}
			part[last] = piece
			rows = append(rows, part)
		}
	}
	if rule, ok := g.rules[len(g.rows)]; ok {
		rules[len(rows)] = rule
	}
	g.rows, g.rules = rows, rules
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
