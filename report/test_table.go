package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress"
)

// WriteTable writes the cases that did not pass, each with what made it fail, the flips
// against the baseline, and the totals. A verbose style lists those that passed too.
func (d *TestDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	head := []string{Escape(d.Spec), plural(len(d.Cases), "check")}
	if d.Candidate != "" {
		head = append(head, "candidate "+Escape(d.Candidate))
	}
	head = append(head, "baseline "+Escape(d.Baseline))
	if d.Shard != "" {
		head = append(head, "shard "+d.Shard)
	}
	style.line(&b, together(head, style.width()))
	shown := 0
	for i := range d.Cases {
		c := &d.Cases[i]
		if c.Verdict == string(regress.Passed) && c.Change != string(regress.Fixed) && !style.Verbose || c.Verdict == string(regress.Skipped) && !style.Verbose {
			continue
		}
		b.WriteString("\n")
		d.writeCase(&b, c, style)
		shown++
	}
	d.writeChanges(&b, style)
	b.WriteString("\n")
	for _, u := range d.Updated {
		style.line(&b, "updated: "+Escape(u))
	}
	if d.Cost != nil {
		style.line(&b, d.Cost.words())
	}
	sum := d.Totals.sentence()
	switch d.Outcome {
	case string(regress.Passed):
		sum = style.paint(green, sum)
	case string(regress.Failed), string(regress.Errored):
		sum = style.paint(red, sum)
	default:
		sum = style.paint(yellow, sum)
	}
	style.line(&b, sum)
	if next := d.next(style); len(next) > 0 {
		writeNext(&b, style, next)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *TestSpending) words() string {
	text := fmt.Sprintf("asked %s, %s from the cache, %s", plural(c.Calls, "time"), count(c.Cached), plural(c.Tokens, "token"))
	if c.Cost != "" {
		text += ", " + c.Cost
	}
	return text
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
	put := func(label string, color ink, text string) {
		for i, line := range wrap(text, style.width()-verdictWidth) {
			left := strings.Repeat(" ", verdictWidth)
			if i == 0 {
				left = style.paint(color, label) + strings.Repeat(" ", max(1, verdictWidth-displayWidth(label)))
			}
			b.WriteString(strings.TrimRight(left+line, " ") + "\n")
		}
	}
	title := style.shorten(Escape(c.Name), 200)
	if c.Scorer != "visible" {
		title += " (" + c.Scorer + ")"
	}
	if c.Change == string(regress.Broken) || c.Change == string(regress.Fixed) {
		title += " · " + c.Change
	} else if c.Change == string(regress.Same) && c.Verdict == string(regress.Failed) {
		title += " · failed before too"
	}
	put(strings.ToUpper(c.Verdict), verdictInk(c.Verdict), title)
	if c.Reason != "" {
		put("", "", Escape(c.Reason))
	}
	if c.Review != "" {
		put("", "", "look at it first: "+Escape(c.Review))
	}
	if x := c.Details; x != nil {
		for _, l := range x.Lexical {
			put("", "", l.words())
		}
		if x.Asked != nil {
			for _, line := range x.Asked.words() {
				put("", "", line)
			}
		}
		for _, a := range x.Assumed {
			put("", faint, "assumed: "+Escape(a))
		}
	}
	var where []string
	if c.Session != "" {
		at := Escape(c.Session)
		if c.Prompt > 0 {
			at += fmt.Sprintf(" prompt %d", c.Prompt)
		}
		if c.LogLine > 0 {
			at += fmt.Sprintf(" (line %d)", c.LogLine)
		}
		where = append(where, at)
	}
	if c.Line > 0 {
		where = append(where, fmt.Sprintf("%s:%d", Escape(d.Spec), c.Line))
	}
	put("", "", together(where, style.width()-verdictWidth))
}

// words says where a skill stands by the words of the prompt.
func (l *TestLexical) words() string {
	rank := "no word shared"
	if l.Rank > 0 {
		rank = fmt.Sprintf("%s of %s by words", ordinal(l.Rank), count(l.Listed))
	}
	text := Escape(l.Skill) + ": " + rank
	if l.BaselineRank != l.Rank && l.BaselineRank > 0 {
		text += fmt.Sprintf(", %s before", ordinal(l.BaselineRank))
	}
	if l.Rank > 0 {
		text += fmt.Sprintf(", margin %+.2f", l.Margin)
	}
	if len(l.Shared) > 0 {
		var words []string
		for _, w := range l.Shared {
			words = append(words, Escape(w))
		}
		text += ", shares " + listAll(words, 6)
	}
	if l.Best != "" && l.Best != l.Skill {
		text += "; first is " + Escape(l.Best)
	}
	return text
}

// words says what was answered.
func (a *TestAsked) words() []string {
	line := func(name string, a *TestAsked) string {
		text := fmt.Sprintf("%s: %s of %d called %s", name, count(a.Hits), a.Runs-a.Errors, Escape(a.Expected))
		if a.Runs > a.Errors {
			text += fmt.Sprintf(" (%s, 95 %% interval %s to %s)", ratePercent(a.Rate), ratePercent(a.Low), ratePercent(a.High))
		}
		if a.Late > 0 {
			text += fmt.Sprintf(", %d of them late", a.Late)
		}
		var chosen []string
		for _, k := range a.Chosen {
			name := "no skill"
			if k.Skill != "" {
				name = Escape(k.Skill)
			}
			chosen = append(chosen, fmt.Sprintf("%s %d×", name, k.Count))
		}
		if len(chosen) > 0 {
			text += "; chosen: " + listAll(chosen, 5)
		}
		if a.Errors > 0 {
			text += fmt.Sprintf("; %d errored", a.Errors)
		}
		return text
	}
	out := []string{line("candidate", a)}
	if a.Before != nil {
		out = append(out, line("baseline", a.Before))
		if d := a.Difference; d != nil {
			out = append(out, fmt.Sprintf("difference %s (95 %% interval %s to %s)", signedPercent(d.Value), signedPercent(d.Low), signedPercent(d.High)))
		}
	}
	for _, f := range a.Failures {
		out = append(out, "error: "+Escape(f))
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
	return s
}

// flip is an entry that stands otherwise in some cases.
type flip struct {
	change *TestChange
	cases  int
	first  *TestCase
}

// flips are the changes of all cases, each once, in the order of the cases.
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
			key := x.Skill + "\xff" + x.Before + "\xff" + x.After + "\xff" + string(x.TextBefore) + "\xff" + string(x.TextAfter)
			if n, ok := at[key]; ok {
				out[n].cases++
				continue
			}
			at[key] = len(out)
			out = append(out, flip{x, 1, c})
		}
	}
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
	style.line(b, style.paint(bold, "What changes against the baseline")+":")
	g := grid{indent: 2, columns: []column{{title: "skill", shrink: 1, least: 16}, {title: "before"}, {title: "after", ink: func(cell string) ink {
		if cell == "absent" || cell == "name only" {
			return yellow
		}
		return ""
	}}, {title: "chars", right: true}, {title: "in", drop: 1, right: true}, {title: "because", shrink: 2, least: 12, drop: 2}}}
	limit := len(flips)
	if !style.Verbose {
		limit = min(limit, fewRows)
	}
	for i := range flips[:limit] {
		x := flips[i].change
		because := ""
		if x.Edited {
			because = "edited"
		}
		for _, c := range x.Causes {
			if because != "" {
				because += ", "
			}
			because += Escape(c.Skill) + " " + c.What
		}
		g.add(Escape(x.Skill), form(x.Before), form(x.After), charsChange(x), plural(flips[i].cases, "case"), because)
	}
	g.write(b, style)
	if limit < len(flips) {
		style.line(b, fmt.Sprintf("  and %d more; --verbose shows all", len(flips)-limit))
	}
	shown := 0
	for i := range flips {
		x := flips[i].change
		if x.Diff == "" {
			continue
		}
		const most = 5
		if shown++; shown > most && !style.Verbose {
			style.line(b, "  further descriptions differ; --verbose shows all")
			break
		}
		b.WriteString("\n")
		for _, line := range wrap(Escape(x.Skill)+": "+style.shorten(x.Diff, 1200), style.width()-2) {
			b.WriteString("  " + colorDiff(line, style) + "\n")
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

// colorDiff paints the parts of a word diff that stand on one line.
func colorDiff(line string, style Style) string {
	if !style.Color {
		return line
	}
	line = strings.ReplaceAll(line, "[-", "\x1b[31m[-")
	line = strings.ReplaceAll(line, "-]", "-]\x1b[0m")
	line = strings.ReplaceAll(line, "{+", "\x1b[32m{+")
	line = strings.ReplaceAll(line, "+}", "+}\x1b[0m")
	return line + "\x1b[0m"
}

// writeListings writes both versions of the listing side by side, of the first case in
// which they differ.
func (d *TestDocument) writeListings(b *strings.Builder, style Style) {
	for i := range d.Cases {
		c := &d.Cases[i]
		if c.Details == nil || c.Details.Listing == nil || len(c.Details.Listing.Lines) == 0 {
			continue
		}
		b.WriteString("\n")
		style.line(b, fmt.Sprintf("  the listing of %s, before and after (= is the same):", Escape(c.Name)))
		half := max((style.width()-6)/2, 20)
		for _, l := range c.Details.Listing.Lines {
			before, after := Escape(string(l.Before)), Escape(string(l.After))
			mark := "≠"
			if l.Before == l.After {
				mark = "="
			}
			left := Truncate(before, half)
			b.WriteString("  " + left + strings.Repeat(" ", max(0, half-displayWidth(left))) + " " + mark + " " + Truncate(after, half) + "\n")
		}
		return
	}
}

// next is what to look at now.
func (d *TestDocument) next(style Style) []string {
	var out []string
	spec := ShellWord(d.Spec)
	for i := range d.Cases {
		c := &d.Cases[i]
		if c.Verdict == string(regress.Failed) && c.Details != nil && len(c.Details.Visible) > 0 && c.Prompt > 0 {
			out = append(out, fmt.Sprintf("skilltrace why %s %s --prompt %d", ShellWord(c.Details.Visible[0].Skill), ShellWord(cmp.Or(d.Paths[c.Session], c.Session)), c.Prompt))
			break
		}
	}
	if d.Totals.Failed > 0 && !style.Verbose {
		out = append(out, "skilltrace test "+spec+" --verbose")
	}
	return out
}
