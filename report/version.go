package report

import (
	"fmt"
	"io"
	"strings"
)

// VersionSchema names the form of a VersionDocument.
const VersionSchema = "skilltrace/version@1"

// VersionDocument is the answer of the command version: what was built, and what
// it knows.
type VersionDocument struct {
	Schema  string         `json:"schema"`
	Version string         `json:"version"` // of the module, or devel with the commit
	Go      string         `json:"go"`      // version of the compiler
	OS      string         `json:"os"`
	Arch    string         `json:"arch"`
	Rules   []VersionRules `json:"rules"` // by client name
}

// VersionRules are the versions of a client that rules are known for.
type VersionRules struct {
	Client string `json:"client"`
	Oldest string `json:"oldest,omitempty"` // what is older is not replayed
	Latest string `json:"latest,omitempty"` // the newest that was recorded
	// Described is set, and the versions are not, where the client is only described.
	Described string `json:"described,omitempty"`
}

// WriteTable writes a line for the program and one for each client.
func (d *VersionDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	write := func(format string, args ...any) {
		for _, line := range wrap(fmt.Sprintf(format, args...), style.width()) {
			b.WriteString(line + "\n")
		}
	}
	write("skilltrace %s (%s, %s/%s)", Escape(d.Version), Escape(d.Go), Escape(d.OS), Escape(d.Arch))
	for _, r := range d.Rules {
		if r.Described != "" {
			write("rules of %s as described, never recorded", Escape(r.Client))
			continue
		}
		write("rules of %s up to %s", Escape(r.Client), Escape(r.Latest))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
