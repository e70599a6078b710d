package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
)

// costHeader are the columns of the CSV form.
var costHeader = []string{"time", "session", "agent", "on_behalf_of", "project", "model", "version", "message", "request", "file", "line", "layer", "part", "skill",
	"once", "carried", "input", "cache_write_5m", "cache_write_1h", "cache_read", "output", "usd", "basis", "final"}

// WriteCSV writes a line for each request and layer. The amounts are exact, so that
// they may be summed.
func (d *CostDocument) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(costHeader); err != nil {
		return err
	}
	for i := range d.Lines {
		l := &d.Lines[i]
		at := ""
		if l.Time != nil {
			at = l.Time.Format(time.RFC3339Nano)
		}
		line := ""
		if l.Line > 0 {
			line = strconv.Itoa(l.Line)
		}
		row := []string{at, cell(l.Session), cell(l.Agent), cell(l.OnBehalfOf), cell(l.Project), cell(l.Model), cell(l.Version), cell(l.Message), cell(l.Request), cell(l.File), line, cell(l.Layer), cell(l.Part), cell(l.Skill)}
		for _, n := range []int64{l.Once, l.Carried, l.Tokens.Input, l.Tokens.CacheWrite5m, l.Tokens.CacheWrite1h, l.Tokens.CacheRead, l.Tokens.Output} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		if err := out.Write(append(row, l.USD, cell(l.Basis), strconv.FormatBool(l.Final))); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// cell makes a text of a log safe in a spreadsheet, which takes some beginnings for a
// formula, as on a terminal.
func cell(text string) string {
	text = Escape(text)
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}

// WriteNDJSON writes the lines of WriteCSV as JSON, one on a line.
func (d *CostDocument) WriteNDJSON(w io.Writer) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i := range d.Lines {
		b.Reset()
		if err := enc.Encode(&d.Lines[i]); err != nil {
			return err
		}
		if _, err := w.Write(quietJSON(b.Bytes())); err != nil {
			return err
		}
	}
	return nil
}
