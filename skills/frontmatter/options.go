// Package frontmatter reads the metadata block of a SKILL.md or command file
// the way a given client version reads it: which block counts, what its values
// are, and what is lost.
package frontmatter

// Dialect says how one client version reads front matter. The rule tags are the
// keys of the rule tables.
type Dialect struct {
	// Fields are the only fields that count; none stand for all.
	Fields        []string      `rule:"front.fields"`
	Parser        Parser        `rule:"front.parser"`
	Requote       Requote       `rule:"front.requote"`
	DuplicateKeys DuplicateKeys `rule:"front.duplicate_keys"`
	// BOM: a byte order mark before the block is recognised (and removed with it).
	BOM bool `rule:"front.bom"`
	// ScalarOnly: a list or map as description is ignored and text is trimmed;
	// before, it was turned into text and nothing was trimmed.
	ScalarOnly bool `rule:"front.scalar_only"`
	// EmptyWhen: a list under when_to_use that gives no text still brings the dash
	// before it.
	EmptyWhen bool `rule:"front.empty_when"`
	// FlagWords: yes, on and 1 count as true in flags, not only true.
	FlagWords bool `rule:"front.flag_words"`
	// RejectLoneEscapes: a JSON surrogate escape in a quoted value fails the block.
	// It marks Bun's older parser: with BunYAML it means the same as Bun13YAML.
	RejectLoneEscapes bool `rule:"front.reject_surrogate_escapes"`
	// PathsList: paths may be a YAML list (before, only a string counts).
	PathsList bool `rule:"front.paths_list"`
}

// Parser is the grammar of the block.
type Parser string

// The parsers. Which state of Bun's parser a client holds shows in three recorded
// ways: surrogate escapes fail (2.1.140; not 2.1.200), an empty list item takes
// the keys after it (fuzz 016 at 2.1.129; not fuzz 005 at 2.1.318), and "? x" is x
// (2.1.154), all as in Bun 1.3 and unlike 1.4.
const (
	Naive   Parser = "naive"    // first colon splits, outer quotes stripped, nothing else
	NpmYAML Parser = "npm-yaml" // YAML 1.2 as npm yaml 2.x reads it
	BunYAML Parser = "bun-yaml" // YAML 1.2 as Bun's parser reads it, 1.4 and later
	// Bun13YAML is Bun's parser up to 1.3 (client 2.1.113 up to (2.1.170,2.1.200]).
	// It ends the block at "..." before white space, on lines that are not indented.
	Bun13YAML Parser = "bun-yaml-1.3"
)

// Requote is what the client quotes before a second try when the block does not parse.
type Requote string

// The requoting rules.
const (
	RequoteNone    Requote = "none"
	RequoteSpecial Requote = "special"           // values with one of {}[]*&#!|>%@`
	RequoteColon   Requote = "special-and-colon" // and values with ": "
	// RequoteNoList is RequoteColon, but a value in square brackets that is a list by
	// itself stays one.
	RequoteNoList Requote = "special-and-colon-no-list"
)

// DuplicateKeys is what a repeated key does.
type DuplicateKeys string

// The two ways.
const (
	DuplicatesFail DuplicateKeys = "fail"
	DuplicatesLast DuplicateKeys = "last"
)
