package report

import (
	"bytes"
	"regexp"
)

// A build server of GitHub reads what a step prints, and obeys the lines that begin with
// "::", and those in which "##[" stands.
var (
	actionsLine = regexp.MustCompile(`(?m)^([ \t]*)::`)
	actionsMark = []byte("##[")
)

// Disarm gives a text in some format with nothing in it that GitHub Actions would obey.
// The value of what is read by programs stays the same. What FormatGitHub writes is to be
// obeyed, and stays.
func Disarm(text []byte, format Format) []byte {
	mark := `#\#[`
	switch format {
	case FormatGitHub:
		return text
	case FormatJSON, FormatNDJSON:
		mark = `#\u0023[`
	case FormatJUnit:
		mark = `#&#35;[`
	case FormatTAP:
		mark = `#\x23[` // only in the strings of its blocks
	}
	text = bytes.ReplaceAll(text, actionsMark, []byte(mark))
	return actionsLine.ReplaceAll(text, []byte(`$1\::`))
}
