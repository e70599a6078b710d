package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
)

// suite is the cases of a document as build servers read them: in JUnit's XML, in the
// Test Anything Protocol, and as annotations of GitHub Actions.
type suite struct {
	name    string
	outcome string // of all, in a word
	sum     string // in a sentence
	advice  string // what to do, "" where nothing is to be done
	cases   []suiteCase
}

// suiteCase is one case. Its texts are as they were in the log.
type suiteCase struct {
	name  string
	class string // what it is a case of
	// qualifier tells cases of one name apart, where the class is not written.
	qualifier string
	file      string // as [Style.inWorkspace] writes it
	line      int
	outcome   caseOutcome
	mild      bool   // it did not pass, and may not be a fault
	verdict   string // in the word of the document
	change    string // against a baseline
	reason    string
	reasons   []string // a line for each; nil for reason
	more      []string // of an annotation, behind the reasons
	notice    string   // of a case that passed
	details   []string
	forms     []suiteForm
}

// suiteForm is what was wanted of a skill's entry, and what was found.
type suiteForm struct{ skill, wanted, found string }

// caseOutcome is what became of a case. The zero value is that it passed.
type caseOutcome int

const (
	casePassed caseOutcome = iota
	caseFailed
	caseErrored
	caseSkipped
)

// The elements of JUnit's XML that build servers read. Nothing is timed, as the same input
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
	File    string        `xml:"file,attr,omitempty"`
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

// writeJUnit writes the cases as a suite of JUnit.
func (s *suite) writeJUnit(w io.Writer) error {
	const none = "0"
	out := junitSuite{Name: Escape(s.name), Tests: len(s.cases), Time: none}
	for i := range s.cases {
		c := &s.cases[i]
		x := junitCase{Name: Escape(c.name), Class: "skilltrace." + Escape(c.class), File: Escape(c.file), Line: c.line, Time: none}
		// What stands in the element is all that some readers show.
		text := strings.Join(append(c.lines(), c.details...), "\n")
		detail := &junitDetail{Message: Escape(c.reason), Type: Escape(c.verdict), Text: text}
		switch c.outcome {
		case caseFailed:
			x.Failure = detail
			out.Failures++
		case caseErrored:
			x.Error = detail
			out.Errors++
		case caseSkipped:
			x.Skipped = &junitSkipped{Escape(c.reason)}
			out.Skipped++
		default:
			x.Out = text
		}
		out.Cases = append(out.Cases, x)
	}
	all := junitSuites{Name: "skilltrace", Tests: out.Tests, Failures: out.Failures, Errors: out.Errors, Time: none, Suite: out}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(data)+"\n")
	return err
}

// lines are the reasons of a case, a safe line for each.
func (c *suiteCase) lines() []string {
	if c.reasons == nil && c.reason != "" {
		return safeLines([]string{c.reason})
	}
	return safeLines(c.reasons)
}

func safeLines(list []string) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = Truncate(Escape(list[i]), longReason)
	}
	return out
}

// writeGitHub writes an annotation for each case that did not pass, and the sum. Nothing
// else begins a line: a runner obeys what looks like a command.
func (s *suite) writeGitHub(w io.Writer) error {
	var b strings.Builder
	for i := range s.cases {
		c := &s.cases[i]
		level, lines := "error", append(c.lines(), safeLines(c.more)...)
		switch {
		case c.outcome == casePassed && c.notice != "":
			level, lines = "notice", []string{Escape(c.notice)}
		case c.outcome == casePassed, c.outcome == caseSkipped && !c.mild:
			continue
		case c.mild:
			level = "warning"
		}
		where := ""
		if c.file != "" {
			where = fmt.Sprintf("file=%s,line=%d,", githubProperty(Escape(c.file)), max(c.line, 1))
		}
		title := Escape(c.verdict) + ": " + cutTitle(c.name)
		if c.qualifier != "" {
			title += " (" + Escape(c.qualifier) + ")"
		}
		fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", level, where, githubProperty(title), githubText(strings.Join(lines, "\n")))
	}
	fmt.Fprintf(&b, "%s: %s\n", Escape(s.outcome), s.sum)
	if s.advice != "" {
		b.WriteString(s.advice + "\n")
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

// writeTAP writes the cases in version 14 of the protocol, with a block of YAML for each
// that is not ok.
func (s *suite) writeTAP(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 14\n1..%d", len(s.cases))
	if len(s.cases) == 0 {
		b.WriteString(" # SKIP no cases")
	}
	b.WriteByte('\n')
	for i := range s.cases {
		c := &s.cases[i]
		result, directive, severity := "ok", "", "error"
		switch c.outcome {
		case caseSkipped:
			directive = strings.TrimRight(" # SKIP "+tapText(c.reason), " ")
		case casePassed:
		case caseFailed:
			result, severity = "not ok", "fail"
		default:
			result = "not ok"
		}
		name := tapText(c.name)
		if c.qualifier != "" {
			name += " (" + tapText(c.qualifier) + ")"
		}
		fmt.Fprintf(&b, "%s %d - %s%s\n", result, i+1, name, directive)
		if result == "ok" {
			continue
		}
		fmt.Fprintf(&b, "  ---\n  message: %s\n  severity: %s\n  verdict: %s\n", tapQuote(c.reason), severity, Escape(c.verdict))
		if c.change != "" {
			fmt.Fprintf(&b, "  change: %s\n", Escape(c.change))
		}
		if c.file != "" {
			fmt.Fprintf(&b, "  at:\n    file: %s\n    line: %d\n", tapQuote(c.file), c.line)
		}
		if len(c.forms) > 0 {
			b.WriteString("  visible:\n")
			for _, f := range c.forms {
				fmt.Fprintf(&b, "    - {skill: %s, wanted: %s, found: %s}\n", tapQuote(f.skill), f.wanted, f.found)
			}
		}
		if len(c.details) > 0 {
			b.WriteString("  details:\n")
			for _, line := range c.details {
				fmt.Fprintf(&b, "    - %s\n", tapQuote(line))
			}
		}
		b.WriteString("  ...\n")
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

// suite is the checks: a divergence failed, and what is undetermined, or not known to
// hold for the client's version, was skipped, as neither is a finding.
func (d *ReplayDocument) suite(style Style) *suite {
	s := &suite{name: "skilltrace replay", outcome: "passed", sum: d.Totals.text(Style{})}
	if d.Totals.Divergent > 0 {
		s.outcome = "failed"
	}
	for c := range d.eachCheck() {
		k := suiteCase{name: c.name(), class: "replay." + c.Session + "." + c.Agent, file: style.inWorkspace(c.File), line: c.Line, verdict: c.Verdict, reason: c.words()}
		if c.Agent != "main" {
			k.qualifier = "agent " + shortID(c.Agent)
		}
		switch {
		case c.Verdict == string(replay.Divergent) && c.Unconfirmed:
			k.outcome, k.mild, k.verdict = caseSkipped, true, "unconfirmed"
			k.reason = "unconfirmed, as the rules are not known to hold for this version: " + k.reason
		case c.Verdict == string(replay.Divergent):
			k.outcome, k.details = caseFailed, c.evidence(Style{Verbose: true})
		case c.Verdict != string(replay.Match):
			k.outcome = caseSkipped
		}
		s.cases = append(s.cases, k)
	}
	return s
}

// name is what was checked: listing, line 7 of session 5274deb5.
func (c *checkLine) name() string {
	text := c.Kind
	if c.Skill != "" {
		text += " " + c.Skill
	}
	if c.Line > 0 {
		text += fmt.Sprintf(", line %d", c.Line)
	}
	return text + " of session " + shortID(c.Session)
}

// words say why a check is no match.
func (c *Check) words() string {
	var parts []string
	if c.Reason != "" {
		parts = append(parts, c.Reason)
	}
	if e := c.evidence(Style{}); len(e) > 0 {
		parts = append(parts, Truncate(e[0], 300))
	}
	if c.Missing != "" {
		parts = append(parts, "missing: "+c.Missing)
	}
	if c.After > 0 {
		parts = append(parts, fmt.Sprintf("follows from the divergence at line %d", c.After))
	}
	if c.Rule != "" {
		parts = append(parts, "rule "+c.Rule)
	}
	return strings.Join(parts, "; ")
}

// suite is a case for each recording and kind of check and, where a floor was given, one
// for each entry that fell below it: then what is divergent there already is no failure.
func (d *ConformDocument) suite(style Style) *suite {
	all := d.Totals["all"]
	s := &suite{name: "skilltrace conform", outcome: "passed", sum: fmt.Sprintf("%s match, %s divergent, %s undetermined", count(all.Match), count(all.Divergent), count(all.Undetermined))}
	if d.Fell() || d.Floor == nil && all.Divergent > 0 {
		s.outcome = "failed"
	}
	for i := range d.Cases {
		c := &d.Cases[i]
		for _, kind := range d.kinds() {
			n, ok := c.Checks[kind]
			if !ok {
				continue
			}
			k := suiteCase{name: c.Case + ": " + kind, class: "conform." + c.Client, verdict: string(replay.Match), reason: n.words()}
			for j := range c.Failures {
				f := &c.Failures[j]
				if f.Kind != kind {
					continue
				}
				if k.file == "" && f.File != "" && (n.Divergent == 0 || f.Verdict == string(replay.Divergent)) {
					k.file, k.line = style.inWorkspace(f.File), f.Line
				}
				k.details = append(k.details, f.sentence())
			}
			switch {
			case n.Divergent > 0 && d.Floor == nil:
				k.outcome, k.verdict = caseFailed, string(replay.Divergent)
			case n.Divergent > 0:
				k.outcome, k.mild, k.verdict = caseSkipped, true, string(replay.Divergent)
				k.reason += "; the floor says what of it is a failure"
			case n.Undetermined > 0:
				k.outcome, k.verdict = caseSkipped, string(replay.Undetermined)
			}
			s.cases = append(s.cases, k)
		}
	}
	if d.Floor != nil {
		for _, f := range d.Floor.Fell {
			s.cases = append(s.cases, suiteCase{name: "floor of " + f.Client + ": " + f.Kind, class: "floor." + f.Client, outcome: caseFailed, verdict: "fell",
				reason: fmt.Sprintf("%d match, %d divergent; the floor is %d, %d", f.Now.Match, f.Now.Divergent, f.Floor.Match, f.Floor.Divergent)})
		}
	}
	return s
}

func (c ConformCounts) words() string {
	return fmt.Sprintf("%d match, %d divergent, %d undetermined", c.Match, c.Divergent, c.Undetermined)
}

// sentence is a failure on one line.
func (f *ConformFailure) sentence() string {
	text := f.Verdict + " " + f.Kind
	if f.Skill != "" {
		text += " " + f.Skill
	}
	if f.Run != nil {
		text += fmt.Sprintf(", run %d", *f.Run)
	}
	if f.File != "" {
		text += fmt.Sprintf(", %s:%d", f.File, f.Line)
	}
	if f.Reason != "" {
		text += ": " + f.Reason
	}
	return Escape(text)
}
