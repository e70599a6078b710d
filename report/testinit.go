package report

import (
	"fmt"
	"io"
	"strings"
)

// TestInitSchema names the form of a TestInitDocument.
const TestInitSchema = "skilltrace/test-init@1"

// TestInitDocument says which cases were made of recorded sessions.
type TestInitDocument struct {
	Schema   string        `json:"schema"`
	Spec     string        `json:"spec"` // the file that was written
	Cases    int           `json:"cases"`
	Positive int           `json:"positive"`
	Miss     int           `json:"miss"`
	Negative int           `json:"negative"`
	Skipped  int           `json:"skipped,omitempty"` // of them: nothing judges them as they are
	Redacted bool          `json:"redacted"`
	Sessions []TestFixture `json:"sessions"`
}

// TestFixture is the part of a session that was copied.
type TestFixture struct {
	Session string `json:"session"`
	File    string `json:"file"` // the log
	Fixture string `json:"fixture,omitempty"`
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"`
	Cases   int    `json:"cases"`
	Skipped string `json:"skipped,omitempty"` // why it gave no case
}

// WriteTable writes a line for each session, and what to do next.
func (d *TestInitDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	kinds := []string{plural(d.Positive, "call") + " by the model"}
	if d.Miss > 0 {
		kinds = append(kinds, plural(d.Miss, "candidate")+" for a miss, marked for review")
	}
	if d.Negative > 0 {
		kinds = append(kinds, plural(d.Negative, "prompt")+" without a skill")
	}
	style.line(&b, fmt.Sprintf("%s: %s, of %s", Escape(d.Spec), plural(d.Cases, "case"), strings.Join(kinds, ", ")))
	b.WriteString("\n")
	g := grid{indent: 2, columns: []column{{title: "session"}, {title: "cases", right: true}, {title: "records", right: true}, {title: "bytes", right: true}, {title: "copied to", shrink: 1, least: 20, middle: true}}}
	for _, s := range d.Sessions {
		to := Escape(s.Fixture)
		if s.Skipped != "" {
			to = Escape(s.Skipped)
		}
		g.add(shortID(s.Session), count(s.Cases), count(s.Records), count(s.Bytes), to)
	}
	if err := g.write(&b, style); err != nil {
		return err
	}
	if d.Skipped > 0 {
		b.WriteString("\n")
		style.line(&b, fmt.Sprintf("Of these, %s cannot be judged now: the spec has the reason of each, under skip.", plural(d.Skipped, "case")))
	}
	if d.Redacted {
		b.WriteString("\n")
		style.line(&b, "Secrets, names and paths of known forms were replaced. Read the fixtures before you publish them.")
	}
	writeNext(&b, style, []string{"skilltrace test " + ShellWord(d.Spec)})
	_, err := io.WriteString(w, b.String())
	return err
}
