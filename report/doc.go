// Package report puts what was found on the screen.
//
// There is one Document per command: a plain struct whose JSON tags are the
// canonical form of the answer ("skilltrace/replay@1" and so on, described in
// docs/schema). Everything that a table shows is taken from the document, so
// that a document read back from JSON gives the same table. A document is
// filled from results of the library and judges nothing.
//
//	replay.Result ── NewReplay ──> ReplayDocument ──┬── WriteTable
//	                                                └── WriteJSON
//
// Texts from logs are data of strangers. In a document they stand as they were;
// whatever is written for a terminal passes through [Escape] first.
package report

import (
	"fmt"
	"io"
)

// Document is what one command has to say.
type Document interface {
	// WriteTable writes the form for people. It returns the first error of w.
	WriteTable(w io.Writer, style Style) error
}

// Format names a form of output.
type Format string

// The formats. Each command offers those of [FormatsOf].
const (
	FormatTable    Format = "table"
	FormatJSON     Format = "json"
	FormatMarkdown Format = "markdown"
	FormatCSV      Format = "csv"
	FormatNDJSON   Format = "ndjson"
	FormatJUnit    Format = "junit"
	FormatGitHub   Format = "github"
	FormatTAP      Format = "tap"
)

// markdownWriter is a document that has a Markdown form.
type markdownWriter interface {
	WriteMarkdown(w io.Writer) error
}

// linesWriter is a document that has forms of one line for each of its parts.
type linesWriter interface {
	WriteCSV(w io.Writer) error
	WriteNDJSON(w io.Writer) error
}

// casesWriter is a document of cases that passed or failed, which build servers read.
type casesWriter interface {
	WriteJUnit(w io.Writer) error
	WriteGitHub(w io.Writer) error
	WriteTAP(w io.Writer) error
}

// FormatsOf lists the formats in which Write can write doc.
func FormatsOf(doc Document) []Format {
	formats := []Format{FormatTable, FormatJSON}
	if _, ok := doc.(markdownWriter); ok {
		formats = append(formats, FormatMarkdown)
	}
	if _, ok := doc.(linesWriter); ok {
		formats = append(formats, FormatCSV, FormatNDJSON)
	}
	if _, ok := doc.(casesWriter); ok {
		formats = append(formats, FormatJUnit, FormatGitHub, FormatTAP)
	}
	return formats
}

// Write writes doc to w in the given format. An unknown format, or one that the
// document does not have, is an error, and nothing is written.
func Write(w io.Writer, doc Document, format Format, style Style) error {
	switch format {
	case FormatTable:
		return doc.WriteTable(w, style)
	case FormatJSON:
		return WriteJSON(w, doc)
	case FormatMarkdown:
		if m, ok := doc.(markdownWriter); ok {
			return m.WriteMarkdown(w)
		}
	case FormatCSV, FormatNDJSON:
		if l, ok := doc.(linesWriter); ok {
			if format == FormatCSV {
				return l.WriteCSV(w)
			}
			return l.WriteNDJSON(w)
		}
	case FormatJUnit, FormatGitHub, FormatTAP:
		if c, ok := doc.(casesWriter); ok {
			switch format {
			case FormatJUnit:
				return c.WriteJUnit(w)
			case FormatGitHub:
				return c.WriteGitHub(w)
			}
			return c.WriteTAP(w)
		}
	}
	return fmt.Errorf("no format %q for this command", format)
}
