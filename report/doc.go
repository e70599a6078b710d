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
	"iter"
)

// Document is what one command has to say.
type Document interface {
	// WriteTable writes the form for people. It returns the first error of w.
	WriteTable(w io.Writer, style Style) error
}

// Format names a form of output.
type Format string

// The formats. Each document has those of [FormatsOf].
const (
	FormatTable    Format = "table"
	FormatJSON     Format = "json"
	FormatNDJSON   Format = "ndjson"
	FormatCSV      Format = "csv"
	FormatMarkdown Format = "markdown"
	FormatHTML     Format = "html"
	FormatJUnit    Format = "junit"
	FormatTAP      Format = "tap"
	FormatGitHub   Format = "github"
	FormatSARIF    Format = "sarif"
)

// Formats are all forms of output.
var Formats = []Format{FormatTable, FormatJSON, FormatNDJSON, FormatCSV, FormatMarkdown, FormatHTML, FormatJUnit, FormatTAP, FormatGitHub, FormatSARIF}

// partsDocument is a document that consists of parts of one kind. Each is a line of its
// own in CSV and NDJSON.
type partsDocument interface {
	// parts are the titles of the columns, and the parts one by one.
	parts() (titles []string, each iter.Seq[part])
}

// markdownWriter is a document that has a Markdown form.
type markdownWriter interface {
	WriteMarkdown(w io.Writer, style Style) error
}

// htmlWriter is a document that has a page.
type htmlWriter interface {
	WriteHTML(w io.Writer, style Style) error
}

// casesDocument is a document of cases that passed or failed, which build servers read.
type casesDocument interface {
	suite(style Style) *suite
}

// findingsDocument is a document of findings that stand at lines of files.
type findingsDocument interface {
	findings(style Style) []finding
}

// lackingDocument is a document that may lack a form which others of its kind have.
type lackingDocument interface {
	// lacks says why, "" where the form is there.
	lacks(format Format) string
}

// FormatsOf lists the formats in which Write can write doc.
func FormatsOf(doc Document) []Format {
	var formats []Format
	for _, f := range Formats {
		if Lacks(doc, f) == "" {
			formats = append(formats, f)
		}
	}
	return formats
}

// Lacks says why doc cannot be written in a format, "" where it can.
func Lacks(doc Document, format Format) string {
	if l, ok := doc.(lackingDocument); ok {
		if reason := l.lacks(format); reason != "" {
			return reason
		}
	}
	has, reason := false, ""
	switch format {
	case FormatTable, FormatJSON:
		return ""
	case FormatNDJSON, FormatCSV:
		_, has = doc.(partsDocument)
		reason = "the answer has no parts that could stand on lines of their own"
	case FormatMarkdown:
		_, has = doc.(markdownWriter)
		reason = "the answer is too short for it"
	case FormatHTML:
		_, has = doc.(htmlWriter)
		reason = "there is no page for it"
	case FormatJUnit, FormatTAP, FormatGitHub:
		_, has = doc.(casesDocument)
		reason = "nothing in the answer passes or fails"
	case FormatSARIF:
		_, has = doc.(findingsDocument)
		reason = "nothing in the answer is a finding at a line of a file"
	default:
		return "no such format"
	}
	if has {
		return ""
	}
	return reason
}

// Write writes doc to w in the given format. An unknown format, or one that the
// document does not have, is an error, and nothing is written.
func Write(w io.Writer, doc Document, format Format, style Style) error {
	if reason := Lacks(doc, format); reason != "" {
		return fmt.Errorf("no format %q for this: %s", format, reason)
	}
	switch format {
	case FormatJSON:
		return WriteJSON(w, doc)
	case FormatNDJSON:
		return writeNDJSON(w, doc.(partsDocument))
	case FormatCSV:
		return writeCSV(w, doc.(partsDocument))
	case FormatMarkdown:
		return doc.(markdownWriter).WriteMarkdown(w, style)
	case FormatHTML:
		return doc.(htmlWriter).WriteHTML(w, style)
	case FormatJUnit:
		return doc.(casesDocument).suite(style).writeJUnit(w)
	case FormatTAP:
		return doc.(casesDocument).suite(style).writeTAP(w)
	case FormatGitHub:
		return doc.(casesDocument).suite(style).writeGitHub(w)
	case FormatSARIF:
		return writeSARIF(w, doc.(findingsDocument).findings(style))
	}
	return doc.WriteTable(w, style)
}
