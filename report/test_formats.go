package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/skilltrace/skilltrace/replay/regress"
)

// WriteMarkdown writes the result for a comment on a change: the totals, a row for each
// case that did not pass, and what changes.
func (d *TestDocument) WriteMarkdown(w io.Writer) error {
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

// The elements of JUnit's XML that build servers read. Nothing is timed, as the same spec
// gives the same bytes; some readers want a time all the same.
type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Time     string     `xml:"time,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr,omitempty"`
	Time    string        `xml:"time,attr"`
	Skipped *junitSkipped `xml:"skipped,omitempty"`
	Error   *junitDetail  `xml:"error,omitempty"`
	Failure *junitDetail  `xml:"failure,omitempty"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitDetail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes the cases as a suite of JUnit. An inconclusive case is an error: it
// did not pass, and it is no failure of the skills.
func (d *TestDocument) WriteJUnit(w io.Writer) error {
	const none = "0"
	s := junitSuite{Name: Escape(d.Spec), Tests: len(d.Cases), Failures: d.Totals.Failed, Errors: d.Totals.Errored + d.Totals.Inconclusive, Skipped: d.Totals.Skipped, Time: none}
	for i := range d.Cases {
		c := &d.Cases[i]
		x := junitCase{Name: Escape(c.Name), Class: "skilltrace." + Escape(c.Scorer), File: Escape(d.Spec), Line: c.at(), Time: none}
		// What stands in the element is all that some readers show.
		detail := &junitDetail{Message: Escape(c.Reason), Type: c.Verdict, Text: strings.Join(c.lines(true), "\n")}
		switch regress.Verdict(c.Verdict) {
		case regress.Failed:
			x.Failure = detail
		case regress.Errored, regress.Inconclusive:
			x.Error = detail
		case regress.Skipped:
			x.Skipped = &junitSkipped{Escape(c.Reason)}
		default:
			x.Out = strings.Join(c.lines(true), "\n")
		}
		s.Cases = append(s.Cases, x)
	}
	all := junitSuites{Name: "skilltrace test", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Time: none, Suite: s}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// lines are the reasons and details of a case, a safe line for each.
func (c *TestCase) lines(reasons bool) []string {
	var out []string
	if reasons {
		for _, r := range c.reasons() {
			out = append(out, Escape(r))
		}
	}
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
		out = append(out, "against the baseline: "+c.Change)
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

// WriteGitHub writes an annotation of GitHub Actions for each case that did not pass, and
// for each that a change fixed: at the line of the spec whose expectation it is about. The
// path is written as the document has it, which is to be relative to the workspace.
func (d *TestDocument) WriteGitHub(w io.Writer) error {
	var b strings.Builder
	file := path.Clean(strings.ReplaceAll(d.Spec, `\`, "/"))
	for _, c := range d.open(false) {
		level := "error"
		lines := c.reasons()
		switch regress.Verdict(c.Verdict) {
		case regress.Passed:
			level, lines = "notice", []string{"fixed: it failed before"}
		case regress.Inconclusive:
			level = "warning"
		}
		if c.Details != nil && c.Details.Asked != nil {
			lines = append(lines, c.Details.Asked.words(Style{})...)
		}
		for i := range lines {
			lines[i] = Truncate(Escape(lines[i]), longReason)
		}
		title := c.Verdict + ": " + cutTitle(c.Name)
		if c.Scorer != "visible" {
			title += " (" + Escape(c.Scorer) + ")"
		}
		fmt.Fprintf(&b, "::%s file=%s,line=%d,title=%s::%s\n", level, githubProperty(Escape(file)), max(c.at(), 1), githubProperty(title), githubText(strings.Join(lines, "\n")))
	}
	// Of the program's own words: nothing of them begins a command.
	fmt.Fprintf(&b, "%s: %s\n", Escape(d.Outcome), d.Totals.sentence())
	if advice := d.advice(); advice != "" {
		b.WriteString(advice + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// githubText escapes the text of a workflow command, and githubProperty a value before it.
func githubText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// WriteTAP writes the cases in version 14 of the Test Anything Protocol, with a block of
// YAML for each that is not ok. One that is inconclusive is not.
func (d *TestDocument) WriteTAP(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 14\n1..%d", len(d.Cases))
	if len(d.Cases) == 0 {
		b.WriteString(" # SKIP no cases")
	}
	b.WriteByte('\n')
	for i := range d.Cases {
		c := &d.Cases[i]
		result, directive := "ok", ""
		switch regress.Verdict(c.Verdict) {
		case regress.Skipped:
			directive = strings.TrimRight(" # SKIP "+tapText(c.Reason), " ")
		case regress.Passed:
		default:
			result = "not ok"
		}
		name := tapText(c.Name)
		if c.Scorer != "visible" {
			name += " (" + tapText(c.Scorer) + ")"
		}
		fmt.Fprintf(&b, "%s %d - %s%s\n", result, i+1, name, directive)
		if result == "ok" {
			continue
		}
		fmt.Fprintf(&b, "  ---\n  message: %s\n  severity: %s\n  verdict: %s\n", tapQuote(c.Reason), tapSeverity(c), c.Verdict)
		if c.Change != "" {
			fmt.Fprintf(&b, "  change: %s\n", c.Change)
		}
		fmt.Fprintf(&b, "  at:\n    file: %s\n    line: %d\n", tapQuote(d.Spec), c.at())
		if x := c.Details; x != nil && len(x.Visible) > 0 {
			b.WriteString("  visible:\n")
			for _, v := range x.Visible {
				fmt.Fprintf(&b, "    - {skill: %s, wanted: %s, found: %s}\n", tapQuote(v.Skill), v.Expected, v.Actual)
			}
		}
		if lines := c.lines(false); len(lines) > 0 {
			b.WriteString("  details:\n")
			for _, line := range lines {
				fmt.Fprintf(&b, "    - %s\n", tapQuote(line))
			}
		}
		b.WriteString("  ...\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tapSeverity(c *TestCase) string {
	if c.Verdict == string(regress.Failed) {
		return "fail"
	}
	return "error"
}

func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(Escape(s))
}

func tapQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(Escape(s)) + `"`
}
