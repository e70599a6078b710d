package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// manyEntries is how many entries one table shows; a verbose style shows all.
const manyEntries = 200

// WriteTable writes the sizes, the inputs, and the entries or the part that was asked
// for.
func (d *ListingDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	d.writeHead(&b, style)
	b.WriteString("\n")
	for i, write := range d.blocks() {
		if i > 0 {
			b.WriteString("\n")
		}
		if err := write(&b, style); err != nil {
			return err
		}
	}
	b.WriteString("\n")
	writeNext(&b, style, d.next())
	_, err := io.WriteString(w, b.String())
	return err
}

// blocks write what was asked for: the entries where nothing else was.
func (d *ListingDocument) blocks() []func(*strings.Builder, Style) error {
	var out []func(*strings.Builder, Style) error
	if d.Against != nil {
		out = append(out, d.writeAgainst)
	}
	if d.Fit != nil {
		out = append(out, d.writeFit)
	}
	if d.Sweep != nil {
		out = append(out, d.writeSweep)
	}
	if out == nil {
		out = append(out, d.writeEntries)
	}
	return out
}

// next are commands that go on from here.
func (d *ListingDocument) next() []string {
	command := with("skilltrace listing", d.Again)
	var out []string
	if d.Fit == nil && slices.ContainsFunc(d.Entries, func(e ListingEntry) bool { return e.cut() > 0 }) {
		out = append(out, command+" --fit")
	}
	if d.Sweep == nil {
		out = append(out, command+" --sweep")
	}
	return append(out, command+" --text")
}

func (d *ListingDocument) writeHead(b *strings.Builder, style Style) {
	client := clientVersion(strings.Replace(d.Client, "@", " ", 1), "")
	rules := "rules exact"
	switch {
	case d.Described != "":
		rules = "as described, never recorded"
	case !d.RulesExact:
		rules = "rules not recorded for it"
	}
	style.line(b, together([]string{style.paint(bold, client) + " (" + rules + ")", Escape(d.Model)}, style.width()))
	style.block(b, "budget", d.budgetWords(style))
	sent := count(d.Used) + " characters, about " + plural(d.Tokens, "token") + ": " + d.Forms.words()
	if d.Width > 0 {
		sent += "; each description is cut to " + count(d.Width)
	}
	style.block(b, "sent", sent)
	own := plural(d.Own.Entries, "entry") + " of the client's own, from " + Escape(d.Own.Session)
	if !d.Own.Known {
		own = "the client's own entries are not known and not counted; --session latest takes them from a log"
	}
	style.block(b, "own", own)
	writeInputs(b, style, d.Inputs, 0)
	for i, text := range d.Assumptions {
		label := ""
		if i == 0 {
			label = "assumed"
		}
		style.block(b, label, Escape(text))
	}
}

func (z *ListingSizes) budgetWords(style Style) string {
	text := count(z.Demand) + " of " + count(z.Budget) + " characters asked for"
	if z.Over > 0 {
		text += ", " + style.paint(yellow, "over by "+count(z.Over))
	}
	return text + "; the budget is " + Escape(z.BudgetSource)
}

func (f *ListingForm) words() string {
	parts := []string{}
	for _, p := range []struct {
		n    int
		what string
	}{{f.Full, "full"}, {f.Shortened, "shortened"}, {f.NameOnly, "by name only"}, {f.Absent, "absent"}} {
		if p.n > 0 {
			parts = append(parts, count(p.n)+" "+p.what)
		}
	}
	if len(parts) == 0 {
		return "no entry"
	}
	return plural(f.sum(), "entry") + ", " + strings.Join(parts, ", ")
}

// formWords are the words of tables for a form.
func formWords(form string) string { return strings.ReplaceAll(Escape(form), "_", " ") }

func formInk(cell string) ink {
	switch cell {
	case "full":
		return green
	case "absent":
		return red
	}
	return yellow
}

// blank writes a number, nothing for 0.
func blank(n int) string {
	if n == 0 {
		return ""
	}
	return count(n)
}

func (d *ListingDocument) writeEntries(b *strings.Builder, style Style) error {
	g := grid{columns: []column{{title: "skill", shrink: 1, least: 20}, {title: "form", ink: formInk}, {title: "chars", right: true}, {title: "cut", right: true},
		{title: "tokens", right: true, drop: 3}, {title: "rank", right: true, drop: 2}, {title: "uses", right: true, drop: 2}, {title: "why", drop: 4}, {title: "file", shrink: 2, least: 16, tail: true, drop: lateDrop}}}
	limit := style.limit(manyEntries)
	for i := range d.Entries {
		e := &d.Entries[i]
		if limit > 0 && i >= limit {
			g.rule(count(len(d.Entries)-i) + " more; --verbose shows them")
			break
		}
		name := e.Name
		if e.Label != "" {
			name = e.Label
		}
		file := d.short(style, e.File)
		if e.Own {
			file = "(the client's own)"
		}
		g.add(Escape(name), formWords(e.Form), count(e.Size), blank(e.cut()), count(e.Tokens), blank(e.Rank), blank(e.Uses), causeWords(e), file)
	}
	if len(d.Entries) == 0 {
		style.line(b, "No skill is listed.")
	}
	if err := g.write(b, style); err != nil {
		return err
	}
	d.writeDuplicates(b, style)
	return d.writeOff(b, style)
}

// causeWords say why an entry is less than full.
func causeWords(e *ListingEntry) string {
	switch e.Cause {
	case "cap":
		return "over the limit of one entry"
	case "override":
		return "skillOverrides"
	case "undescribed":
		return "no description"
	case "unknown":
		return "its text is not in the log"
	}
	return Escape(e.Cause)
}

func (d *ListingDocument) writeDuplicates(b *strings.Builder, style Style) {
	if len(d.Duplicates) == 0 {
		return
	}
	b.WriteString("\n" + style.paint(bold, "Duplicates") + ": " + plural(d.Redundant, "entry") + " redundant\n")
	for _, k := range d.Duplicates {
		names := make([]string, len(k.Entries))
		for i, n := range k.Entries {
			names[i] = Escape(n)
		}
		text := strings.ReplaceAll(Escape(k.Kind), "-", " ")
		if k.SameText {
			text += ", one text"
		}
		for _, line := range wrap("  "+strings.Join(names, ", ")+": "+text, style.width()) {
			b.WriteString(line + "\n")
		}
	}
}

func (d *ListingDocument) writeOff(b *strings.Builder, style Style) error {
	if len(d.NotListed) == 0 {
		return nil
	}
	b.WriteString("\n" + style.paint(bold, "Not listed") + ": " + count(len(d.NotListed)) + "\n")
	g := grid{indent: 2, columns: []column{{title: "skill", shrink: 1, least: 12}, {title: "why", shrink: 2, least: 24}, {title: "file", shrink: 3, least: 12, tail: true}}}
	limit := style.limit(fewRows)
	for i := range d.NotListed {
		o := &d.NotListed[i]
		if limit > 0 && i >= limit {
			g.rule(count(len(d.NotListed)-i) + " more; --verbose shows them")
			break
		}
		g.add(Escape(o.Name), Escape(o.Reason), d.short(style, o.File))
	}
	return g.write(b, style)
}

// short is a path for people: below the project it is relative to that.
func (d *ListingDocument) short(style Style, file string) string {
	if rest, ok := strings.CutPrefix(file, d.Project+"/"); ok && d.Project != "" {
		return Escape(rest)
	}
	return style.shortPath(file)
}

// arrow writes a size before and after.
func arrow(before, after int) string {
	if before == after {
		return count(after)
	}
	return count(before) + " → " + count(after)
}

func (d *ListingDocument) writeAgainst(b *strings.Builder, style Style) error {
	a := d.Against
	style.line(b, style.paint(bold, "Against "+Escape(a.Name))+": "+plural(len(a.Changes), "entry")+" differ"+map[bool]string{true: "s"}[len(a.Changes) == 1])
	z := &a.Before
	g := grid{indent: 2, columns: []column{{title: ""}, {title: "before", right: true}, {title: "now", right: true}}}
	for _, row := range []struct {
		what        string
		before, now int
	}{{"budget", z.Budget, d.Budget}, {"asked for", z.Demand, d.Demand}, {"over by", z.Over, d.Over}, {"sent", z.Used, d.Used}, {"tokens", z.Tokens, d.Tokens}, {"full", z.Forms.Full, d.Forms.Full},
		{"shortened", z.Forms.Shortened, d.Forms.Shortened}, {"name only", z.Forms.NameOnly, d.Forms.NameOnly}, {"absent", z.Forms.Absent, d.Forms.Absent}} {
		if row.before != 0 || row.now != 0 {
			g.add(row.what, count(row.before), count(row.now))
		}
	}
	if err := g.write(b, style); err != nil {
		return err
	}
	limit := style.limit(fewRows)
	for i := range a.Changes {
		c := &a.Changes[i]
		b.WriteString("\n")
		if limit > 0 && i >= limit {
			b.WriteString(count(len(a.Changes)-i) + " more; --verbose shows them\n")
			break
		}
		form := formWords(c.After)
		if c.Before != c.After {
			form = formWords(c.Before) + " → " + formWords(c.After)
		}
		text := style.paint(bold, Escape(c.Skill)) + ": " + style.paint(formInk(formWords(c.After)), form) + ", " + arrow(c.SizeBefore, c.SizeAfter) + " characters"
		switch {
		case c.Reason != "":
			text += "; " + Escape(c.Reason)
		case !c.Own:
			text += "; its own text is the same"
		}
		style.line(b, text)
		if c.Diff != "" {
			style.exact(b, 2, Escape(c.Diff))
		}
	}
	return nil
}

func (d *ListingDocument) writeFit(b *strings.Builder, style Style) error {
	f := d.Fit
	if f.Fewest == 0 {
		style.line(b, "Nothing has to be cut: no description is too long.")
		return nil
	}
	if f.Short == 0 {
		style.line(b, style.paint(bold, "Cut "+plural(f.Fewest, "character"))+", no fewer, and all descriptions are shown whole.")
	}
	if len(f.OverLimit) > 0 {
		b.WriteString("\nOver the limit of one entry:\n")
		if err := d.writeCuts(b, style, f.OverLimit, nil); err != nil {
			return err
		}
	}
	switch {
	case f.OverBudget == 0:
	case f.Short > 0:
		b.WriteString("\n")
		style.line(b, fmt.Sprintf("Cutting alone is not enough: with every description at one character the listing is still %s over. Skills have to go, or the budget has to grow.", plural(f.Short, "character")))
	default:
		b.WriteString("\n")
		style.line(b, "Over the budget by "+count(f.OverBudget)+". Cut the longest first, or evenly:")
		if err := d.writeCuts(b, style, f.Longest, f.Evenly); err != nil {
			return err
		}
	}
	if f.OverBudget > 0 {
		b.WriteString("\n")
		way := budgetVariable + "=" + strconv.Itoa(f.Room)
		if f.Fraction != "" {
			way = "skillListingBudgetFraction " + Escape(f.Fraction)
		}
		style.line(b, "Or leave the texts as they are, with a budget of "+count(f.Room)+": "+way+".")
	}
	return nil
}

// budgetVariable is the environment variable that sets the budget.
const budgetVariable = "SLASH_COMMAND_TOOL_CHAR_BUDGET"

// writeCuts writes one way to cut, or two beside each other.
func (d *ListingDocument) writeCuts(b *strings.Builder, style Style, list, beside []ListingCut) error {
	g := grid{indent: 2, columns: []column{{title: "skill", shrink: 1, least: 16}, {title: "now", right: true}, {title: "cut", right: true}, {title: "leaves", right: true}}}
	if beside != nil {
		g.columns[2].title = "longest"
		g.columns = append(g.columns, column{title: "evenly", right: true}, column{title: "leaves", right: true})
	}
	g.columns = append(g.columns, column{title: "file", shrink: 2, least: 12, tail: true, drop: lateDrop})
	type row struct{ a, b *ListingCut }
	var rows []row
	at := map[string]int{}
	key := func(c *ListingCut) string { return c.Skill + "\x00" + c.File }
	for i := range list {
		at[key(&list[i])] = len(rows)
		rows = append(rows, row{a: &list[i]})
	}
	for i := range beside {
		if n, ok := at[key(&beside[i])]; ok {
			rows[n].b = &beside[i]
			continue
		}
		rows = append(rows, row{b: &beside[i]})
	}
	limit := style.limit(fewRows)
	for i, r := range rows {
		if limit > 0 && i >= limit {
			g.rule(count(len(rows)-i) + " more; --verbose shows them")
			break
		}
		c := r.a
		if c == nil {
			c = r.b
		}
		cells := []string{Escape(c.Skill), count(c.Had)}
		cells = append(cells, cutCells(r.a)...)
		if beside != nil {
			cells = append(cells, cutCells(r.b)...)
		}
		g.add(append(cells, d.short(style, c.File))...)
	}
	return g.write(b, style)
}

func cutCells(c *ListingCut) []string {
	if c == nil {
		return []string{"", ""}
	}
	return []string{count(c.Cut), count(c.Leave)}
}

// versions names a span.
func (s *ListingSpan) versions() string {
	switch {
	case s.Since == "":
		return "all"
	case s.Before == "":
		return Escape(s.Since) + " and later"
	case s.Until == "":
		return Escape(s.Since) + " to before " + Escape(s.Before)
	case s.Until == s.Since:
		return Escape(s.Since)
	}
	return Escape(s.Since) + " to " + Escape(s.Until)
}

func (d *ListingDocument) writeSweep(b *strings.Builder, style Style) error {
	style.line(b, "The same skills under each version of the client, as far as these were recorded:")
	g := grid{columns: []column{{title: "versions"}, {title: "budget", right: true}, {title: "asked for", right: true, drop: 2}, {title: "full", right: true}, {title: "short", right: true}, {title: "name only", right: true},
		{title: "absent", right: true}, {title: "lost", shrink: 1, least: 16}}}
	for i := range d.Sweep {
		s := &d.Sweep[i]
		g.add(s.versions(), count(s.Budget), count(s.Demand), count(s.Forms.Full), blank(s.Forms.Shortened), blank(s.Forms.NameOnly), blank(s.Forms.Absent), s.lossWords(style))
	}
	return g.write(b, style)
}

// lossWords name what is lost.
func (s *ListingSpan) lossWords(style Style) string {
	var parts []string
	const few = 6
	limit := style.limit(few)
	for i := range s.Losses {
		l := &s.Losses[i]
		if limit > 0 && i >= limit {
			parts = append(parts, count(len(s.Losses)-i)+" more")
			break
		}
		text := Escape(l.Skill)
		switch {
		case l.Reason != "":
			text += " (" + Escape(l.Reason) + ")"
		case l.Cut > 0:
			text += " (−" + count(l.Cut) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// WriteMarkdown writes the listing, or the part that was asked for, for a pull request.
func (d *ListingDocument) WriteMarkdown(w io.Writer, _ Style) error {
	var b strings.Builder
	style := Style{Width: 1 << 20}
	fmt.Fprintf(&b, "## Listing of %s, %s\n\n%s. Sent: %s characters, about %s, %s.\n\n", mdText(d.Client), mdText(d.Model), mdText(d.budgetWords(style)), count(d.Used), plural(d.Tokens, "token"), d.Forms.words())
	if d.Against != nil {
		d.Against.markdown(&b, d)
	}
	if d.Fit != nil {
		d.Fit.markdown(&b)
	}
	if d.Sweep != nil {
		b.WriteString("| versions | budget | asked for | full | shortened | name only | absent | lost |\n|---|---|---|---|---|---|---|---|\n")
		for i := range d.Sweep {
			s := &d.Sweep[i]
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %d | %s |\n", s.versions(), count(s.Budget), count(s.Demand), s.Forms.Full, s.Forms.Shortened, s.Forms.NameOnly, s.Forms.Absent, mdText(s.lossWords(style)))
		}
	}
	if d.Against == nil && d.Fit == nil && d.Sweep == nil {
		d.entriesMarkdown(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (a *ListingAgainst) markdown(b *strings.Builder, d *ListingDocument) {
	fmt.Fprintf(b, "Against %s: asked for %s, sent %s, full %s, by name only %s.\n\n| skill | form | characters | description |\n|---|---|---|---|\n", mdCode(a.Name),
		arrow(a.Before.Demand, d.Demand), arrow(a.Before.Used, d.Used), arrow(a.Before.Forms.Full, d.Forms.Full), arrow(a.Before.Forms.NameOnly, d.Forms.NameOnly))
	for i := range a.Changes {
		c := &a.Changes[i]
		form := formWords(c.After)
		if c.Before != c.After {
			form = formWords(c.Before) + " → " + form
		}
		what := "its own text is the same"
		switch {
		case c.Diff != "":
			what = mdCode(c.Diff)
		case c.Reason != "":
			what = mdText(c.Reason)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", mdCode(c.Skill), form, arrow(c.SizeBefore, c.SizeAfter), what)
	}
	b.WriteString("\n")
}

func (f *ListingFit) markdown(b *strings.Builder) {
	if f.Fewest == 0 {
		b.WriteString("Nothing has to be cut.\n\n")
		return
	}
	fmt.Fprintf(b, "Cut %s, no fewer: %s over the limit of one entry, %s over the budget.\n\n", plural(f.Fewest, "character"), count(f.Fewest-f.OverBudget), count(f.OverBudget))
	if f.Short > 0 {
		fmt.Fprintf(b, "Cutting alone is not enough: %s would be lacking with every description at one character.\n\n", plural(f.Short, "character"))
	}
	for _, way := range []struct {
		title string
		list  []ListingCut
	}{{"over the limit", f.OverLimit}, {"longest first", f.Longest}, {"evenly", f.Evenly}} {
		if len(way.list) == 0 {
			continue
		}
		fmt.Fprintf(b, "| %s | now | cut | leaves |\n|---|---|---|---|\n", way.title)
		for i := range way.list {
			c := &way.list[i]
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", mdCode(c.Skill), count(c.Had), count(c.Cut), count(c.Leave))
		}
		b.WriteString("\n")
	}
}

func (d *ListingDocument) entriesMarkdown(b *strings.Builder) {
	b.WriteString("| skill | form | characters | cut | tokens | rank | uses |\n|---|---|---|---|---|---|---|\n")
	for i := range d.Entries {
		e := &d.Entries[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", mdCode(e.Name), formWords(e.Form), count(e.Size), blank(e.cut()), count(e.Tokens), blank(e.Rank), blank(e.Uses))
	}
	if len(d.NotListed) > 0 {
		b.WriteString("\n| not listed | why |\n|---|---|\n")
		for i := range d.NotListed {
			o := &d.NotListed[i]
			name := o.Name
			if name == "" {
				name = o.File
			}
			fmt.Fprintf(b, "| %s | %s |\n", mdCode(name), mdText(o.Reason))
		}
	}
}
