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
	fmt.Fprintf(&b, "## Skill tests: %s\n\n%s, against %s.\n\n", mdText(d.Outcome), mdText(upperFirst(d.Totals.sentence())), mdText(d.Baseline))
	if list := d.failures(regress.Failed, regress.Errored, regress.Inconclusive); len(list) > 0 {
		b.WriteString("| case | verdict | change | why | where |\n|---|---|---|---|---|\n")
		for _, c := range list {
			where := mdCode(c.Session)
			if c.Prompt > 0 {
				where += fmt.Sprintf(" prompt %d", c.Prompt)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", mdText(c.Name)+mdScorer(c), c.Verdict, c.Change, mdText(c.Reason), where)
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
				because = append(because, mdCode(c.Skill)+" "+c.What)
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
	return " (" + c.Scorer + ")"
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// The elements of JUnit's XML that build servers read.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	File    string       `xml:"file,attr,omitempty"`
	Line    int          `xml:"line,attr,omitempty"`
	Failure *junitDetail `xml:"failure,omitempty"`
	Error   *junitDetail `xml:"error,omitempty"`
	Skipped *junitDetail `xml:"skipped,omitempty"`
	Out     string       `xml:"system-out,omitempty"`
}

type junitDetail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the cases as a suite of JUnit. An inconclusive case is an error: it
// did not pass, and it is no failure of the skills.
func (d *TestDocument) WriteJUnit(w io.Writer) error {
	s := junitSuite{Name: Escape(d.Spec), Tests: len(d.Cases), Failures: d.Totals.Failed, Errors: d.Totals.Errored + d.Totals.Inconclusive, Skipped: d.Totals.Skipped}
	for i := range d.Cases {
		c := &d.Cases[i]
		x := junitCase{Name: Escape(c.Name), Class: "skilltrace." + c.Scorer, File: Escape(d.Spec), Line: c.Line}
		detail := &junitDetail{Message: Escape(c.Reason), Type: c.Verdict, Text: strings.Join(c.lines(), "\n")}
		switch regress.Verdict(c.Verdict) {
		case regress.Failed:
			x.Failure = detail
		case regress.Errored, regress.Inconclusive:
			x.Error = detail
		case regress.Skipped:
			x.Skipped = &junitDetail{Message: Escape(c.Reason)}
		default:
			x.Out = strings.Join(c.lines(), "\n")
		}
		s.Cases = append(s.Cases, x)
	}
	out, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(out)+"\n")
	return err
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
		out = append(out, "against the baseline: "+c.Change)
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
				line += "; " + Escape(cause.Skill) + " " + cause.What
			}
			out = append(out, line)
		}
	}
	for _, a := range x.Assumed {
		out = append(out, "assumed: "+Escape(a))
	}
	return out
}

// WriteGitHub writes an annotation of GitHub Actions for each case that did not pass, at
// its line of the spec, whose path is written as it was given: relative to the workspace
// where the command runs there.
func (d *TestDocument) WriteGitHub(w io.Writer) error {
	var b strings.Builder
	file := path.Clean(strings.ReplaceAll(d.Spec, `\`, "/"))
	for i := range d.Cases {
		c := &d.Cases[i]
		level := "error"
		switch regress.Verdict(c.Verdict) {
		case regress.Passed:
			if c.Change != string(regress.Fixed) {
				continue
			}
			level = "notice"
		case regress.Skipped:
			continue
		case regress.Inconclusive:
			level = "warning"
		}
		text := c.Reason
		if c.Verdict == string(regress.Passed) {
			text = "fixed: it failed before"
		}
		fmt.Fprintf(&b, "::%s file=%s,line=%d,title=%s::%s\n", level, githubProperty(Escape(file)), max(c.Line, 1), githubProperty(c.Verdict+": "+Escape(c.Name)), githubText(Escape(text)))
	}
	fmt.Fprintf(&b, "%s: %s\n", d.Outcome, d.Totals.sentence())
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

// WriteTAP writes the cases in version 14 of the Test Anything Protocol. One that is
// inconclusive is not ok.
func (d *TestDocument) WriteTAP(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 14\n1..%d\n", len(d.Cases))
	for i := range d.Cases {
		c := &d.Cases[i]
		result, directive := "ok", ""
		switch regress.Verdict(c.Verdict) {
		case regress.Skipped:
			directive = " # SKIP " + tapText(c.Reason)
		case regress.Passed:
		default:
			result = "not ok"
		}
		name := tapText(c.Name)
		if c.Scorer != "visible" {
			name += " (" + c.Scorer + ")"
		}
		fmt.Fprintf(&b, "%s %d - %s%s\n", result, i+1, name, directive)
		if result == "ok" {
			continue
		}
		fmt.Fprintf(&b, "  ---\n  verdict: %s\n  message: %s\n", c.Verdict, tapQuote(c.Reason))
		if c.Change != "" {
			fmt.Fprintf(&b, "  change: %s\n", c.Change)
		}
		fmt.Fprintf(&b, "  at: %s\n  ...\n", tapQuote(fmt.Sprintf("%s:%d", d.Spec, c.Line)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(Escape(s))
}

func tapQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(Escape(s)) + `"`
}
