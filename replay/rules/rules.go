// Package rules says how each client version behaves, as data.
//
// A client's behaviour is a [Table]: an ordered list of [Change] values, each of
// which gives one named rule a new value since one version, on some evidence.
// [Table.At] folds the changes up to a version into one [Rules] value, and the
// code that predicts branches on its fields, never on a version:
//
//	t, err := rules.For("claude-code")
//	r, err := t.At("2.1.140")
//	switch r.Size.Overflow { … }
//
// The rule tags of the option structs, here and in the packages that use them,
// are the keys of the table; [Keys] describes each. A user's own changes, read
// with [ReadOverlay], are laid over a table with [Table.With].
package rules

import (
	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/body"
	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// Rules is how one version of one client behaves. Slices in it are shared
// between all values of a table: they must not be changed.
type Rules struct {
	// Client and Version as asked for, the version in its canonical form.
	Client  string
	Version string
	// Exact is false where the version lies outside the recorded ones: newer than
	// the table, older than its base, or a pre-release. The nearest rules are
	// then used, and a divergence proves nothing.
	Exact bool
	// Why says, where Exact is false, in plain words why.
	Why string
	// Assumed holds the keys whose values a description leaves open; nil for a client
	// that was recorded. It is shared and must not be changed.
	Assumed map[string]bool

	Front        frontmatter.Dialect
	Discovery    skills.Discovery
	Entry        skills.EntryText
	Size         budget.Size
	Reattachment budget.Reattachment
	Body         body.Options
	Catalogue    Catalogue
	Send         Send
	Call         Call
	Notes        Notes
	Compaction   Compaction
	Agents       Agents
	Models       Models
}
