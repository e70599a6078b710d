package report

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
)

// ConformSchema names the form of a ConformDocument.
const ConformSchema = "skilltrace/conform@1"

// ConformDocument is the answer of the command conform.
type ConformDocument struct {
	Schema string                   `json:"schema"`
	Cases  []ConformCase            `json:"cases"`
	Totals map[string]ConformCounts `json:"totals"` // by kind; "all" sums them
	// Floor is the comparison with a floor, absent where none was given.
	Floor *FloorResult `json:"floor,omitempty"`
}

// ConformCase is the agreement of one recording with the rules.
type ConformCase struct {
	Case     string                   `json:"case"`   // lifecycle/compact/2.1.332
	Client   string                   `json:"client"` // claude-code@2.1.332
	Checks   map[string]ConformCounts `json:"checks"` // by kind
	Failures []ConformFailure         `json:"failures"`
}

// ConformCounts counts the checks of one kind.
type ConformCounts struct {
	Match        int `json:"match"`
	Divergent    int `json:"divergent"`
	Undetermined int `json:"undetermined"`
}

func (c ConformCounts) plus(o ConformCounts) ConformCounts {
	return ConformCounts{c.Match + o.Match, c.Divergent + o.Divergent, c.Undetermined + o.Undetermined}
}

// ConformFailure is a check that is not a match.
type ConformFailure struct {
	Run      *int   `json:"run,omitempty"` // of the case, from 0; absent where it has none
	Agent    string `json:"agent,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Kind     string `json:"kind"`
	Verdict  string `json:"verdict"`
	Skill    string `json:"skill,omitempty"`
	Expected *Text  `json:"expected,omitempty"` // by the rules
	Observed *Text  `json:"observed,omitempty"` // recorded
	Diff     string `json:"diff,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// NewFailure makes a failure of a check that is not a match.
func NewFailure(c replay.Check) ConformFailure {
	f := ConformFailure{Agent: c.Agent, File: c.Where.File, Line: c.Where.Line, Kind: string(c.Kind), Verdict: string(c.Verdict), Skill: c.Skill, Reason: c.Reason}
	if c.Expected != "" {
		f.Expected = new(Text(c.Expected))
	}
	if c.Observed != "" {
		f.Observed = new(Text(c.Observed))
	}
	if c.Verdict == replay.Divergent {
		f.Diff = Diff(c.Expected, c.Observed)
	}
	return f
}

// NewConform makes the document of compared recordings, sorted by client and case.
func NewConform(cases []ConformCase) *ConformDocument {
	doc := &ConformDocument{Schema: ConformSchema, Cases: append([]ConformCase{}, cases...), Totals: map[string]ConformCounts{"all": {}}}
	sort.SliceStable(doc.Cases, func(i, j int) bool {
		if c := compareVersions(doc.Cases[i].Client, doc.Cases[j].Client); c != 0 {
			return c < 0
		}
		return doc.Cases[i].Case < doc.Cases[j].Case
	})
	for i := range doc.Cases {
		c := &doc.Cases[i]
		if c.Checks == nil {
			c.Checks = map[string]ConformCounts{}
		}
		if c.Failures == nil {
			c.Failures = []ConformFailure{}
		}
		for kind, n := range c.Checks {
			doc.Totals[kind] = doc.Totals[kind].plus(n)
			doc.Totals["all"] = doc.Totals["all"].plus(n)
		}
	}
	return doc
}

// Divergent is the number of divergent checks of all cases.
func (d *ConformDocument) Divergent() int { return d.Totals["all"].Divergent }

// compareVersions compares texts with numbers in them by value, so that 2.1.90
// stands before 2.1.113.
func compareVersions(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if len(x) != len(y) {
				return len(x) - len(y)
			}
			if c := strings.Compare(x, y); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// digits is the length of the run of digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// agreement is the checks of one client version, by kind.
type agreement struct {
	client string
	cases  int
	checks map[string]ConformCounts
}

// byClient folds the cases, which are sorted by client.
func (d *ConformDocument) byClient() []agreement {
	var out []agreement
	for i := range d.Cases {
		c := &d.Cases[i]
		if len(out) == 0 || out[len(out)-1].client != c.Client {
			out = append(out, agreement{client: c.Client, checks: map[string]ConformCounts{}})
		}
		a := &out[len(out)-1]
		a.cases++
		for kind, n := range c.Checks {
			a.checks[kind] = a.checks[kind].plus(n)
		}
	}
	return out
}

// kinds lists the kinds of all cases: those of the library in its order, then
// others by name.
func (d *ConformDocument) kinds() []string {
	var out []string
	known := map[string]bool{"all": true}
	for _, k := range replay.CheckKinds {
		known[string(k)] = true
		if _, ok := d.Totals[string(k)]; ok {
			out = append(out, string(k))
		}
	}
	var others []string
	for k := range d.Totals {
		if !known[k] {
			others = append(others, k)
		}
	}
	sort.Strings(others)
	return append(out, others...)
}

// WriteTable writes the agreement by client version and kind: match, and behind
// it what was divergent or undetermined. A verbose style lists every failure.
func (d *ConformDocument) WriteTable(w io.Writer, style Style) error {
	if len(d.Cases) == 0 {
		_, err := io.WriteString(w, "No recordings.\n")
		return err
	}
	var b strings.Builder
	kinds := d.kinds()
	g := grid{tight: style.width() < 100, columns: []column{{title: "client", shrink: 1, least: 7}, {title: "cases", right: true, drop: 2}}}
	for _, k := range kinds {
		g.columns = append(g.columns, column{title: k, right: true, drop: lateDrop, ink: agreementInk})
	}
	g.columns = append(g.columns, column{title: "all", right: true, ink: agreementInk})
	for _, a := range d.byClient() {
		cells := []string{Escape(strings.TrimPrefix(a.client, "claude-code@")), count(a.cases)}
		var all ConformCounts
		for _, k := range kinds {
			cells = append(cells, a.checks[k].text())
			all = all.plus(a.checks[k])
		}
		g.add(append(cells, all.text())...)
	}
	cells := []string{"all", count(len(d.Cases))}
	for _, k := range kinds {
		cells = append(cells, d.Totals[k].text())
	}
	g.add(append(cells, d.Totals["all"].text())...)
	// Titles may be cut, numbers not.
	for i := range kinds {
		c := &g.columns[2+i]
		c.shrink = 2
		for _, row := range g.rows {
			c.least = max(c.least, displayWidth(row[2+i]))
		}
	}
	if err := g.write(&b, style); err != nil {
		return err
	}
	all := d.Totals["all"]
	b.WriteString("\nmatch−divergent?undetermined\n")
	sum := fmt.Sprintf("%s: %s match, %s divergent, %s undetermined", plural(len(d.Cases), "recording"), count(all.Match), count(all.Divergent), count(all.Undetermined))
	if n := all.Match + all.Divergent + all.Undetermined; n > 0 {
		// Rounded down: 100 % is said only of a full agreement.
		sum += fmt.Sprintf(" (%d.%d %% match)", all.Match*100/n, all.Match*1000/n%10)
	}
	style.line(&b, sum)
	d.writeFailures(&b, style)
	d.Floor.write(&b, style)
	_, err := io.WriteString(w, b.String())
	return err
}

// text is 45, 45−2, 45?1 or 45−2?1; "" where nothing was checked.
func (c ConformCounts) text() string {
	if c == (ConformCounts{}) {
		return ""
	}
	text := count(c.Match)
	if c.Divergent > 0 {
		text += "−" + count(c.Divergent)
	}
	if c.Undetermined > 0 {
		text += "?" + count(c.Undetermined)
	}
	return text
}

func agreementInk(cell string) ink {
	switch {
	case strings.Contains(cell, "−"):
		return red
	case strings.Contains(cell, "?"):
		return yellow
	}
	return ""
}

func (d *ConformDocument) writeFailures(b *strings.Builder, style Style) {
	divergent := 0
	for i := range d.Cases {
		c := &d.Cases[i]
		for j := range c.Failures {
			f := &c.Failures[j]
			if f.Verdict == string(replay.Divergent) {
				divergent++
			}
			if style.Verbose {
				if j == 0 {
					b.WriteString("\n")
					style.line(b, style.paint(bold, Escape(c.Case)))
				}
				f.write(b, style)
			}
		}
	}
	if divergent > 0 && !style.Verbose {
		writeNext(b, style, []string{"skilltrace conform --verbose lists every failure"})
	}
}

func (f *ConformFailure) write(b *strings.Builder, style Style) {
	var where []string
	if f.Run != nil {
		where = append(where, fmt.Sprintf("run %d", *f.Run))
	}
	if f.Agent != "" && f.Agent != "main" {
		where = append(where, "agent "+shortID(f.Agent))
	}
	if f.File != "" {
		file := style.shortPath(f.File)
		if f.Line > 0 {
			file += fmt.Sprintf(":%d", f.Line)
		}
		where = append(where, file)
	} else if f.Line > 0 {
		where = append(where, fmt.Sprintf("line %d", f.Line))
	}
	word := style.paint(yellow, Escape(f.Verdict))
	if f.Verdict == string(replay.Divergent) {
		word = style.paint(red, Escape(f.Verdict))
	}
	style.line(b, fmt.Sprintf("  %s %s: %s", word, strings.TrimSpace(Escape(f.Kind)+" "+Escape(f.Skill)), strings.Join(where, ", ")))
	if text := f.evidence(); text != "" {
		style.exact(b, 4, text)
	}
	if f.Reason != "" {
		style.line(b, "    "+Escape(f.Reason))
	}
}

// evidence is the difference of the two texts, or the beginning of the one that
// there is. Both stand whole in the JSON.
func (f *ConformFailure) evidence() string {
	const shown = 200 // characters
	switch {
	case f.Expected == nil && f.Observed == nil:
		return ""
	case f.Observed == nil:
		return "expected, not in the log: “" + firstOf(Escape(string(*f.Expected)), shown) + "”"
	case f.Expected == nil:
		return "in the log, not expected: “" + firstOf(Escape(string(*f.Observed)), shown) + "”"
	case f.Diff != "":
		return Escape(f.Diff)
	}
	return Diff(string(*f.Expected), string(*f.Observed))
}
