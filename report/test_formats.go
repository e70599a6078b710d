package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/skilltrace/skilltrace/replay/regress"
)

// WriteMarkdown writes the result for a comment on a change: the totals, a row for each
// case that did not pass, and what changes.
func (d *TestDocument) WriteMarkdown(w io.Writer, _ Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## Skill tests: %s\n\n%s (%s, baseline: %s).\n", mdText(d.Outcome), mdText(upperFirst(d.Totals.sentence())), mdCode(cutTitle(d.Spec)), mdCell(d.Baseline))
	if advice := d.advice(); advice != "" {
		fmt.Fprintf(&b, "\n%s\n", mdText(advice))
	}
	if list := d.open(false); len(list) > 0 {
		var rows [][]string
		for _, c := range list[:min(len(list), mdRows)] {
			where := mdCellCode(cutTitle(c.Session))
			if c.Session == "" {
				where = ""
			}
			if c.Prompt > 0 {
				where += " prompt " + count(c.Prompt)
			}
			why := mdCell(c.Reason)
			if x := c.Details; x != nil && x.Asked != nil {
				why = mdCell(strings.Join(append(c.reasons(), x.Asked.words(Style{})...), "; "))
			}
			rows = append(rows, []string{mdCell(cutTitle(c.Name)) + mdScorer(c), c.Verdict, c.Change, why, where})
		}
		b.WriteString("\n")
		mdTable(&b, []string{"case", "verdict", "change", "why", "where"}, rows)
		mdMore(&b, len(list)-mdRows)
	}
	if flips := d.flips(); len(flips) > 0 {
		var rows, diffs [][]string
		for _, f := range flips[:min(len(flips), mdRows)] {
			x := f.change
			rows = append(rows, []string{mdCellCode(cutTitle(x.Skill)), x.forms(), charsChange(x), count(f.cases), mdText(x.because(cutName))})
			if x.Diff != "" && len(diffs) < fewDiffs {
				diffs = append(diffs, []string{mdCode(cutTitle(x.Skill)), mdCode(writePieces(shortPieces(wordPieces(string(x.TextBefore), string(x.TextAfter))), unpainted))})
			}
		}
		b.WriteString("\nWhat changes against the baseline:\n\n")
		mdTable(&b, []string{"skill", "shown", "characters", "checks", "because"}, rows)
		mdMore(&b, len(flips)-mdRows)
		if len(diffs) > 0 {
			b.WriteString("\n")
		}
		for _, x := range diffs {
			fmt.Fprintf(&b, "- %s: %s\n", x[0], x[1])
		}
	}
	if notes := d.notes(Style{}); len(notes) > 0 {
		b.WriteString("\n")
		for _, n := range notes {
			fmt.Fprintf(&b, "- %s\n", mdText(n))
		}
	}
	for i, u := range d.Updated {
		if i == 0 {
			b.WriteString("\nUpdated:\n\n")
		}
		if i == mdRows {
			mdMore(&b, len(d.Updated)-i)
			break
		}
		fmt.Fprintf(&b, "- %s\n", mdCode(u))
	}
	if d.Cost != nil {
		fmt.Fprintf(&b, "\n%s\n", mdText(upperFirst(d.Cost.words())))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mdMore says how many rows were left out.
func mdMore(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "\nand %s more.\n", count(n))
	}
}

// cutTitle is a name or a path, cut in its middle where it is long. It is not escaped.
func cutTitle(text string) string { return truncateMiddle(Escape(text), longTitle) }

func mdScorer(c *TestCase) string {
	if c.Scorer == "visible" {
		return ""
	}
	return " (" + mdText(c.Scorer) + ")"
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// suite is the cases. An inconclusive one did not pass, and it is no failure of the
// skills; one that passes and failed before is said to be fixed.
func (d *TestDocument) suite(style Style) *suite {
	s := &suite{name: d.Spec, outcome: d.Outcome, sum: d.Totals.sentence(), advice: d.advice()}
	for i := range d.Cases {
		c := &d.Cases[i]
		k := suiteCase{name: c.Name, class: c.Scorer, file: style.inWorkspace(d.Spec), line: c.at(), verdict: c.Verdict, change: c.Change, reason: c.Reason, reasons: c.reasons(), details: c.lines()}
		if x := c.Details; x != nil {
			if x.Asked != nil {
				k.more = x.Asked.words(Style{})
			}
			for _, v := range x.Visible {
				k.forms = append(k.forms, suiteForm{v.Skill, Escape(v.Expected), Escape(v.Actual)})
			}
		}
		if c.Scorer != "visible" {
			k.qualifier = c.Scorer
		}
		switch regress.Verdict(c.Verdict) {
		case regress.Passed:
			if c.Change == string(regress.Fixed) {
				k.notice = "fixed: it failed before"
			}
		case regress.Failed:
			k.outcome = caseFailed
		case regress.Inconclusive:
			k.outcome, k.mild = caseErrored, true
		case regress.Skipped:
			k.outcome = caseSkipped
		default:
			k.outcome = caseErrored
		}
		s.cases = append(s.cases, k)
	}
	return s
}

// lines are the details of a case, a safe line for each.
func (c *TestCase) lines() []string {
	var out []string
	if c.Session != "" {
		at := Escape(c.Session)
		if c.Prompt > 0 {
			at += " prompt " + count(c.Prompt)
		}
		if c.LogLine > 0 {
			at += " (line " + count(c.LogLine) + ")"
		}
		out = append(out, at)
	}
	if c.Change != "" {
		out = append(out, "against the baseline: "+Escape(c.Change))
	}
	x := c.Details
	if x == nil {
		return out
	}
	for i := range x.Lexical {
		out = append(out, x.Lexical[i].words())
	}
	if x.Asked != nil {
		for _, line := range x.Asked.words(Style{Verbose: true}) {
			out = append(out, Escape(line))
		}
	}
	if x.Listing != nil {
		for i := range x.Listing.Changes {
			k := &x.Listing.Changes[i]
			line := fmt.Sprintf("%s: %s, %s characters", Escape(k.Skill), k.forms(), charsChange(k))
			if because := k.because(Escape); because != "" {
				line += "; " + because
			}
			out = append(out, line)
		}
	}
	for _, a := range x.Assumed {
		out = append(out, "assumed: "+Escape(a))
	}
	return out
}
