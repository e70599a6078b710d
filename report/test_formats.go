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
	fmt.Fprintf(&b, "## Skill tests: %s\n\n%s, against %s.\n\n", mdText(d.Outcome), mdText(upperFirst(d.Totals.sentence())), mdText(d.Baseline))
	if list := d.failures(regress.Failed, regress.Errored, regress.Inconclusive); len(list) > 0 {
		b.WriteString("| case | verdict | change | why | where |\n|---|---|---|---|---|\n")
		for _, c := range list {
			where := mdCode(c.Session)
			if c.Prompt > 0 {
				where += fmt.Sprintf(" prompt %d", c.Prompt)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", mdText(c.Name)+mdScorer(c), mdText(c.Verdict), mdText(c.Change), mdText(c.Reason), where)
		}
		b.WriteString("\n")
	}
	if flips := d.flips(); len(flips) > 0 {
		b.WriteString("| skill | before | after | characters | because |\n|---|---|---|---|---|\n")
		for i := range flips {
			x := flips[i].change
			var because []string
			if x.Edited {
				because = append(because, "edited")
			}
			for _, c := range x.Causes {
				because = append(because, mdCode(c.Skill)+" "+mdText(c.What))
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", mdCode(x.Skill), form(x.Before), form(x.After), charsChange(x), strings.Join(because, ", "))
		}
		b.WriteString("\n")
		for i := range flips {
			if x := flips[i].change; x.Diff != "" {
				fmt.Fprintf(&b, "- %s: %s\n", mdCode(x.Skill), mdText(Truncate(x.Diff, 1200)))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

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
	s := &suite{name: d.Spec, outcome: d.Outcome, sum: d.Totals.sentence()}
	for i := range d.Cases {
		c := &d.Cases[i]
		k := suiteCase{name: c.Name, class: c.Scorer, file: style.inWorkspace(d.Spec), line: c.Line, verdict: c.Verdict, change: c.Change, reason: c.Reason, details: c.lines()}
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

// lines are the details of a case, a line for each.
func (c *TestCase) lines() []string {
	var out []string
	if c.Session != "" {
		at := Escape(c.Session)
		if c.Prompt > 0 {
			at += fmt.Sprintf(", prompt %d", c.Prompt)
		}
		if c.LogLine > 0 {
			at += fmt.Sprintf(", line %d", c.LogLine)
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
	for _, l := range x.Lexical {
		out = append(out, l.words())
	}
	if x.Asked != nil {
		out = append(out, x.Asked.words()...)
	}
	if x.Listing != nil {
		for i := range x.Listing.Changes {
			k := &x.Listing.Changes[i]
			line := fmt.Sprintf("%s: %s → %s, %s characters", Escape(k.Skill), form(k.Before), form(k.After), charsChange(k))
			for _, cause := range k.Causes {
				line += "; " + Escape(cause.Skill) + " " + Escape(cause.What)
			}
			out = append(out, line)
		}
	}
	for _, a := range x.Assumed {
		out = append(out, "assumed: "+Escape(a))
	}
	return out
}
