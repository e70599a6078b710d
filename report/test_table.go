package report

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress"
)

const (
	// fewCases is how many cases one screen shows; a verbose style shows all.
	fewCases = 20
	// fewReasons is how many lines of one kind a case has on a screen.
	fewReasons = 4
	// fewDiffs is how many descriptions are compared on a screen.
	fewDiffs = 5
	// longTitle and longReason are where names and sentences are cut, in cells.
	longTitle, longReason = 120, 600
)

// WriteTable writes the cases that did not pass, each with what made it fail, what
// changes against the baseline, and the totals. A verbose style lists those that passed
// too, and both versions of the listings.
func (d *TestDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	head := []string{style.inMiddle(d.Spec), plural(len(d.Cases), "check")}
	if d.Candidate != "" {
		head = append(head, "candidate "+style.shorten(Escape(d.Candidate), longTitle))
	}
	head = append(head, "baseline "+style.shorten(Escape(d.Baseline), longTitle))
	if d.Shard != "" {
		head = append(head, "shard "+Escape(d.Shard))
	}
	style.line(&b, together(head, style.width()))
	list := d.open(style.Verbose)
	shown := list
	if !style.Verbose {
		shown = list[:min(len(list), fewCases)]
	}
	for _, c := range shown {
		b.WriteString("\n")
		d.writeCase(&b, c, style)
	}
	if rest := list[len(shown):]; len(rest) > 0 {
		var t TestTotals
		for _, c := range rest {
			t.add(c)
		}
		b.WriteString("\n")
		style.line(&b, fmt.Sprintf("And %s more: %s; --verbose shows all.", count(len(rest)), t.sentence()))
	}
	d.writeChanges(&b, style)
	b.WriteString("\n")
	for _, note := range d.notes(style) {
		style.line(&b, note)
	}
	for _, u := range d.Updated {
		style.line(&b, "updated: "+Escape(u))
	}
	if d.Cost != nil {
		style.line(&b, d.Cost.words())
	}
	for i, line := range wrap(d.Totals.sentence(), style.width()) {
		color := yellow
		switch regress.Verdict(d.Outcome) {
		case regress.Passed:
			color = green
		case regress.Failed, regress.Errored:
			color = red
		}
		if i > 0 {
			line = "  " + line
		}
		b.WriteString(style.paint(color, line) + "\n")
	}
	if advice := d.advice(); advice != "" {
		style.line(&b, advice)
	}
	if next := d.next(style); len(next) > 0 {
		writeNext(&b, style, next)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// inMiddle is a name that may be cut in its middle.
func (s Style) inMiddle(text string) string {
	text = Escape(text)
	if s.Verbose {
		return text
	}
	return truncateMiddle(text, longTitle)
}

// add counts a case.
func (t *TestTotals) add(c *TestCase) {
	for _, x := range []struct {
		is bool
		n  *int
	}{
		{c.Verdict == string(regress.Passed), &t.Passed}, {c.Verdict == string(regress.Failed), &t.Failed}, {c.Verdict == string(regress.Errored), &t.Errored},
		{c.Verdict == string(regress.Inconclusive), &t.Inconclusive}, {c.Verdict == string(regress.Skipped), &t.Skipped},
		{c.Change == string(regress.Fixed), &t.Fixed}, {c.Change == string(regress.Broken), &t.Broken}, {c.Change == string(regress.Same), &t.Same},
	} {
		if x.is {
			*x.n++
		}
	}
}

func (c *TestSpending) words() string {
	text := fmt.Sprintf("asked %s, %s from the cache, %s", plural(c.Calls, "time"), count(c.Cached), plural(c.Tokens, "token"))
	if c.Cost != "" {
		text += ", " + Escape(c.Cost)
	}
	return text
}

// notes are what several cases rest on: problems of the candidates' files, what was
// assumed, and what a rank by words is worth.
func (d *TestDocument) notes(style Style) []string {
	var out []string
	for _, p := range d.Problems {
		out = append(out, "not read: "+style.shorten(Escape(p), longReason))
	}
	var assumed []string
	cases := map[string]int{}
	lexical, seen := false, false
	for i := range d.Cases {
		x := d.Cases[i].Details
		if x == nil {
			continue
		}
		for _, v := range x.Visible {
			seen = seen || v.Verdict == string(regress.Failed)
		}
		for _, l := range x.Lexical {
			lexical = lexical || l.Verdict == string(regress.Failed)
		}
		for _, a := range x.Assumed {
			if cases[a]++; cases[a] == 1 {
				assumed = append(assumed, a)
			}
		}
	}
	if lexical {
		out = append(out, "Ranks by words are a smoke alarm: a model goes by more than the words that prompt and description share.")
	}
	if seen {
		out = append(out, "If what is seen now is meant, --update takes it for what is expected.")
	}
	if style.Verbose {
		return out // each case says what it assumes
	}
	for i, a := range assumed {
		if i == fewReasons {
			out = append(out, fmt.Sprintf("and %s more; --verbose shows all", plural(len(assumed)-i, "assumption")))
			break
		}
		out = append(out, fmt.Sprintf("assumed in %s: %s", plural(cases[a], "check"), style.shorten(Escape(a), longReason)))
	}
	return out
}

// verdictInk is the colour of a verdict.
func verdictInk(v string) ink {
	switch regress.Verdict(v) {
	case regress.Passed:
		return green
	case regress.Failed, regress.Errored:
		return red
	case regress.Inconclusive:
		return yellow
	}
	return faint
}

// verdictWidth is the width of the column of verdicts, in cells.
const verdictWidth = 14

func (d *TestDocument) writeCase(b *strings.Builder, c *TestCase, style Style) {
	label := strings.ToUpper(Escape(c.Verdict))
	put := func(color ink, text string) {
		for _, line := range wrap(text, style.width()-verdictWidth) {
			left := strings.Repeat(" ", verdictWidth)
			if label != "" {
				left = style.paint(verdictInk(c.Verdict), label) + strings.Repeat(" ", max(1, verdictWidth-displayWidth(label)))
				label = ""
			}
			if color != "" {
				line = style.paint(color, line)
			}
			b.WriteString(strings.TrimRight(left+line, " ") + "\n")
		}
	}
	few := func(color ink, lines []string) {
		for i, line := range lines {
			if i == fewReasons && !style.Verbose {
				put(faint, fmt.Sprintf("and %s more; --verbose shows all", count(len(lines)-i)))
				return
			}
			put(color, style.shorten(Escape(line), longReason))
		}
	}
	title := style.inMiddle(c.Name)
	if c.Scorer != "visible" {
		title += " (" + Escape(c.Scorer) + ")"
	}
	if c.Change == string(regress.Broken) || c.Change == string(regress.Fixed) {
		title += " · " + c.Change
	} else if c.Change == string(regress.Same) && c.Verdict == string(regress.Failed) {
		title += " · failed before too"
	}
	put(bold, title)
	few("", c.reasons())
	if c.Review != "" {
		put("", "look at it first: "+style.shorten(Escape(c.Review), longReason))
	}
	if x := c.Details; x != nil {
		var lines []string
		for i := range x.Lexical {
			if l := &x.Lexical[i]; style.Verbose || l.Verdict == string(regress.Failed) && l.Rank > 0 {
				lines = append(lines, l.words())
			}
		}
		if x.Asked != nil {
			lines = append(lines, x.Asked.words(style)...)
		}
		few("", lines)
		if style.Verbose {
			for _, a := range x.Assumed {
				put(faint, "assumed: "+Escape(a))
			}
		}
	}
	var where []string
	if c.Session != "" {
		at := style.inMiddle(c.Session)
		if c.Agent != "" && c.Agent != "main" {
			at += " agent " + style.shorten(Escape(c.Agent), 24)
		}
		if c.Prompt > 0 {
			at += " prompt " + count(c.Prompt)
		}
		if c.LogLine > 0 {
			at += " (line " + count(c.LogLine) + ")"
		}
		where = append(where, at)
	}
	if c.Text != "" {
		where = append(where, fmt.Sprintf("“%s”", style.shorten(Escape(string(c.Text)), 40)))
	}
	if at := c.at(); at > 0 {
		where = append(where, fmt.Sprintf("%s:%d", style.inMiddle(d.Spec), at))
	}
	put(faint, together(where, style.width()-verdictWidth))
}

// words says where a skill stands by the words of the prompt.
func (l *TestLexical) words() string {
	rank := "no word shared"
	if l.Rank > 0 {
		rank = fmt.Sprintf("%s of %s by words", ordinal(l.Rank), count(l.Listed))
	}
	text := cutName(l.Skill) + ": " + rank
	if l.BaselineRank != l.Rank && l.BaselineRank > 0 {
		text += fmt.Sprintf(", %s before", ordinal(l.BaselineRank))
	}
	if l.Rank > 0 {
		text += fmt.Sprintf(", margin %+.2f", l.Margin)
	}
	if len(l.Shared) > 0 {
		var words []string
		for _, w := range l.Shared {
			words = append(words, cutName(w))
		}
		text += ", shares " + listAll(words, 6)
	}
	if l.Best != "" && l.Best != l.Skill {
		text += "; first is " + cutName(l.Best)
	}
	return text
}

// cutName is a name within a sentence.
func cutName(name string) string {
	const most = 48
	return truncateMiddle(Escape(name), most)
}

// words says what was answered.
func (a *TestAsked) words(style Style) []string {
	// An answer alone has no rate worth showing.
	once := a.Runs == 1
	line := func(name string, a *TestAsked) string {
		if once && a.Errors == 0 && len(a.Chosen) == 1 {
			if skill := a.Chosen[0].Skill; skill != "" {
				return name + ": called " + cutName(skill)
			}
			return name + ": called no skill"
		}
		text := fmt.Sprintf("%s: %s of %s called %s", name, count(a.Hits), count(a.Runs-a.Errors), cutName(a.Expected))
		if a.Runs > a.Errors {
			text += fmt.Sprintf(" (%s, 95 %% interval %s to %s)", ratePercent(a.Rate), ratePercent(a.Low), ratePercent(a.High))
		}
		if a.Late > 0 {
			text += fmt.Sprintf(", %s of them late", count(a.Late))
		}
		var chosen []string
		for _, k := range a.Chosen {
			name := "no skill"
			if k.Skill != "" {
				name = cutName(k.Skill)
			}
			chosen = append(chosen, fmt.Sprintf("%s %s×", name, count(k.Count)))
		}
		if len(chosen) > 0 {
			text += "; chosen: " + listAll(chosen, style.limit(5))
		}
		if a.Errors > 0 {
			text += fmt.Sprintf("; %s errored", count(a.Errors))
		}
		return text
	}
	out := []string{line("candidate", a)}
	if a.Before != nil {
		out = append(out, line("baseline", a.Before))
		if d := a.Difference; d != nil && !once {
			out = append(out, fmt.Sprintf("difference %s (95 %% interval %s to %s)", signedPercent(d.Value), signedPercent(d.Low), signedPercent(d.High)))
		}
	}
	for _, f := range a.Failures {
		out = append(out, "error: "+f)
	}
	return out
}

func ratePercent(x float64) string   { return fmt.Sprintf("%.0f %%", 100*x) }
func signedPercent(x float64) string { return fmt.Sprintf("%+.0f points", 100*x) }

// ordinal writes 1st, 2nd, 3rd, 11th.
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return count(n) + suffix
}

// form is how an entry stands, in few words.
func form(s string) string {
	switch replay.Shown(s) {
	case replay.ShownNameOnly:
		return "name only"
	case "":
		return "-"
	}
	return Escape(s)
}

// forms is how an entry stands before and after.
func (c *TestChange) forms() string {
	if c.Before == c.After {
		return form(c.After)
	}
	return form(c.Before) + " → " + form(c.After)
}

// because says what made an entry stand otherwise.
func (c *TestChange) because(name func(string) string) string {
	var parts []string
	switch absent := string(replay.ShownAbsent); {
	case !c.Edited:
	case c.Before == absent && c.After != absent:
		parts = append(parts, "newly listed")
	case c.After == absent && c.Before != absent:
		parts = append(parts, "no longer listed")
	default:
		parts = append(parts, "edited")
	}
	for _, x := range c.Causes[:min(len(c.Causes), fewReasons)] {
		parts = append(parts, name(x.Skill)+" "+Escape(x.What))
	}
	text := strings.Join(parts, ", ")
	if n := len(c.Causes) + c.MoreCauses - fewReasons; n > 0 {
		text += " and " + count(n) + " more"
	}
	return text
}

// flip is an entry that stands otherwise in some cases.
type flip struct {
	change *TestChange
	cases  int
}

// flips are the changes of all cases, each once: first what is shown less, then what is
// shown more, then what was only edited; those of one kind in the order of the cases.
func (d *TestDocument) flips() []flip {
	at := map[string]int{}
	var out []flip
	for i := range d.Cases {
		c := &d.Cases[i]
		if c.Details == nil || c.Details.Listing == nil {
			continue
		}
		for j := range c.Details.Listing.Changes {
			x := &c.Details.Listing.Changes[j]
			key := strings.Join([]string{x.Skill, x.Before, x.After, string(x.TextBefore), string(x.TextAfter)}, "\xff")
			if n, ok := at[key]; ok {
				out[n].cases++
				continue
			}
			at[key] = len(out)
			out = append(out, flip{x, 1})
		}
	}
	kind := func(f flip) int {
		order := []replay.Shown{replay.ShownFull, replay.ShownShortened, replay.ShownNameOnly, replay.ShownAbsent}
		before, after := slices.Index(order, replay.Shown(f.change.Before)), slices.Index(order, replay.Shown(f.change.After))
		switch {
		case after > before:
			return 0
		case after < before:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b flip) int { return kind(a) - kind(b) })
	return out
}

// writeChanges writes what the candidates change of the listings: whose description is
// another, and who stands otherwise because of it.
func (d *TestDocument) writeChanges(b *strings.Builder, style Style) {
	flips := d.flips()
	if len(flips) == 0 {
		return
	}
	b.WriteString("\n")
	style.line(b, style.paint(bold, "What changes against the baseline"))
	worse := func(cell string) ink {
		if strings.HasSuffix(cell, "→ absent") || strings.HasSuffix(cell, "→ name only") {
			return yellow
		}
		return ""
	}
	g := grid{indent: 2, columns: []column{{title: "skill", shrink: 2, least: 16, middle: true}, {title: "shown", ink: worse}, {title: "characters", right: true, drop: 2},
		{title: "in", drop: 3, right: true}, {title: "because", shrink: 1, least: 28}}}
	limit := len(flips)
	if !style.Verbose {
		limit = min(limit, fewRows)
	}
	name := func(s string) string { return truncateMiddle(Escape(s), 24) }
	if style.Verbose {
		name = Escape
	}
	for _, f := range flips[:limit] {
		g.add(Escape(f.change.Skill), f.change.forms(), charsChange(f.change), plural(f.cases, "check"), strings.ReplaceAll(f.change.because(name), " characters", ""))
	}
	g.write(b, style)
	if limit < len(flips) {
		style.line(b, fmt.Sprintf("  and %s more; --verbose shows all", count(len(flips)-limit)))
	}
	shown := 0
	for _, f := range flips {
		x := f.change
		if x.Diff == "" {
			continue
		}
		if shown++; shown > fewDiffs && !style.Verbose {
			style.line(b, "  further descriptions differ; --verbose shows all")
			break
		}
		b.WriteString("\n")
		for _, line := range wrap(style.inMiddle(x.Skill)+": "+x.paintDiff(style), style.width()-2) {
			b.WriteString("  " + line + "\n")
		}
	}
	if style.Verbose {
		d.writeListings(b, style)
	}
}

// charsChange is what an entry takes before and after.
func charsChange(x *TestChange) string {
	if x.CharsBefore == x.CharsAfter {
		return count(x.CharsAfter)
	}
	return count(x.CharsBefore) + " → " + count(x.CharsAfter)
}

// paintDiff is the word diff of a description; a verbose style leaves nothing of it out.
func (c *TestChange) paintDiff(style Style) string {
	pieces := wordPieces(string(c.TextBefore), string(c.TextAfter))
	if !style.Verbose {
		pieces = shortPieces(pieces)
	}
	return writePieces(pieces, func(op diffmatchpatch.Operation, text string) string {
		var color ink
		switch op {
		case diffmatchpatch.DiffDelete:
			color = red
		case diffmatchpatch.DiffInsert:
			color = green
		default:
			return text
		}
		// Word by word, as lines are broken between them.
		words := strings.Split(text, " ")
		for i := range words {
			words[i] = style.paint(color, words[i])
		}
		return strings.Join(words, " ")
	})
}

// writeListings writes both versions of the listings side by side, each pair once.
func (d *TestDocument) writeListings(b *strings.Builder, style Style) {
	seen := map[string]bool{}
	for i := range d.Cases {
		c := &d.Cases[i]
		if c.Details == nil || c.Details.Listing == nil || len(c.Details.Listing.Lines) == 0 {
			continue
		}
		l := c.Details.Listing
		key := fmt.Sprint(l.Before, l.After, l.Lines)
		if seen[key] {
			continue
		}
		seen[key] = true
		b.WriteString("\n")
		style.line(b, fmt.Sprintf("  The listing at prompt %s of %s, before | after:", count(c.Prompt), style.inMiddle(c.Session)))
		l.write(b, style)
	}
}

// write writes both versions side by side; what is the same in both is counted.
func (l *TestListing) write(b *strings.Builder, style Style) {
	// Of a longer entry the word diff shows all.
	const most = 3
	half := (style.width() - 2 - 3) / 2
	column := func(text string) []string {
		lines := wrap(text, half)
		for i := 1; i < len(lines); i++ {
			lines[i] = Truncate("  "+lines[i], half)
		}
		if len(lines) > most {
			lines = lines[:most]
			lines[most-1] = Truncate(lines[most-1]+" …", half)
			if !strings.HasSuffix(lines[most-1], "…") {
				lines[most-1] += "…"
			}
		}
		return lines
	}
	put := func(left, right []string) {
		for i := range max(len(left), len(right), 1) {
			var x, y string
			if i < len(left) {
				x = left[i]
			}
			if i < len(right) {
				y = right[i]
			}
			b.WriteString(strings.TrimRight("  "+x+strings.Repeat(" ", max(0, half-displayWidth(x)))+" | "+y, " ") + "\n")
		}
	}
	put(column(l.Before.words()), column(l.After.words()))
	for _, line := range l.Lines {
		if line.Same > 0 {
			same := "… " + entryCount(line.Same) + " unchanged"
			put([]string{same}, []string{same})
			continue
		}
		put(column(Escape(string(line.Before))), column(Escape(string(line.After))))
	}
}

func entryCount(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return count(n) + " entries"
}

// words says how much of a listing is shown.
func (z *TestSize) words() string {
	text := entryCount(z.Full+z.Shortened+z.NameOnly) + ", " + count(z.Chars)
	if z.Budget > 0 {
		text += " of " + count(z.Budget)
	}
	text += " characters"
	if z.Demand > z.Chars {
		text += " (" + count(z.Demand) + " asked for)"
	}
	return text + ", about " + plural(z.Tokens, "token")
}

// next is what to look at now.
func (d *TestDocument) next(style Style) []string {
	var out []string
	test := "skilltrace test " + ShellWord(d.Spec)
	if len(d.open(true)) > 0 && !style.Verbose && (d.Totals.Failed > 0 || len(d.flips()) > 0) {
		out = append(out, test+" --verbose")
	}
	why := ""
	for i := range d.Cases {
		c := &d.Cases[i]
		if c.Verdict != string(regress.Failed) || c.Details == nil {
			continue
		}
		for _, v := range c.Details.Visible {
			if v.Verdict != string(regress.Failed) {
				continue
			}
			if c.Change == string(regress.Same) && c.Prompt > 0 && why == "" {
				why = fmt.Sprintf("skilltrace why %s %s --prompt %d", ShellWord(v.Skill), ShellWord(d.session(c)), c.Prompt)
			}
		}
	}
	if why != "" {
		out = append(out, why)
	}
	return out
}

// session is how a command names the session of a case: a path of the spec is relative to
// its folder.
func (d *TestDocument) session(c *TestCase) string {
	if p := d.Paths[c.Session]; p != "" {
		return p
	}
	name := strings.ReplaceAll(c.Session, `\`, "/")
	if path.IsAbs(name) || !strings.Contains(name, "/") && path.Ext(name) == "" {
		return c.Session
	}
	return path.Join(path.Dir(strings.ReplaceAll(d.Spec, `\`, "/")), name)
}
