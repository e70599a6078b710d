package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skilltrace/skilltrace/budget"
)

// Place is where an entry that the client brings with it stands in a listing.
type Place string

// The places, in the order of newer clients.
const (
	PlaceFirst    Place = "first"         // before all others: bundled skills up to 2.1.128
	PlaceWorkflow Place = "workflow"      // between commands and plugins: deep-research, from 2.1.129
	PlaceBundled  Place = "after-plugins" // bundled skills, from 2.1.129
	PlaceBuiltin  Place = "builtin"       // built-in prompts, always last
)

// PlaceOf is the place of one of the client's own entries by its name.
func PlaceOf(name string, d Discovery) Place {
	switch name {
	case "init", "review", "security-review", "insights", "team-onboarding", "statusline", "pr-comments":
		return PlaceBuiltin
	}
	if d.BundledFirst {
		return PlaceFirst
	}
	if name == "deep-research" {
		return PlaceWorkflow
	}
	return PlaceBundled
}

// OwnName reports whether clients have listed an entry of their own by this name
// (recorded: 2.1.94 to 2.1.332; others may be added by newer ones). A user's skill can
// bear it too.
func OwnName(name string) bool {
	switch name {
	case "claude-api", "code-review", "dataviz", "deep-research", "fewer-permission-prompts", "keybindings-help", "less-permission-prompts", "loop", "plugin-authoring", "run",
		"simplify", "update-config", "verify", "workflow-authoring":
		return true
	}
	return PlaceOf(name, Discovery{}) == PlaceBuiltin
}

// Given is an entry that stands in no folder: one of the client's own, known
// from a log. Text is its text as listed.
type Given struct {
	Name  string
	Text  string
	Place Place
}

// Entry is one entry of a listing before it is trimmed to a budget.
type Entry struct {
	Skill   *Skill // nil for a given entry
	Name    string // by which it is called, counted and overridden
	Label   string // as listed: the name, or "name (alias)"
	Display string // the name that goes into the digest
	Full    string // the cleaned text, whole
	Text    string // Full under the cap; empty if only the name is listed
	Place   Place  // of a given entry
	// Exempt: shown as it is, whatever the budget. Bundled skills are, built-in
	// prompts are not.
	Exempt bool
}

// Line is the entry as listed: "- LABEL: TEXT", or "- LABEL" without a text.
func (e Entry) Line() string {
	if e.Text == "" {
		return e.NameLine()
	}
	return "- " + e.Label + ": " + e.Text
}

// NameLine is the entry without its text.
func (e Entry) NameLine() string { return "- " + e.Label }

// Digest is what a skill_listing attachment of 2.1.304 and later holds in
// digests for this entry: the first 16 hex digits of the SHA-256 of
// JSON.stringify([displayName, fullText]).
func (e Entry) Digest() string { return Digest(e.Display, e.Full) }

// Digest is the digest of a name and a text as described at Entry.Digest.
func Digest(display, full string) string {
	var short [1 << 10]byte // most texts
	b := short[:0]
	b = append(b, '[')
	b = appendJSON(b, display)
	b = append(b, ',')
	b = appendJSON(b, full)
	b = append(b, ']')
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// plainJSON are the bytes that stand for themselves in JSON wherever they are: all but
// quotes, backslashes, control characters and what may begin a lone surrogate.
var plainJSON = func() (plain [256]bool) {
	for c := range plain {
		plain[c] = c >= 0x20 && c != '"' && c != '\\' && c != 0xED
	}
	return plain
}()

// appendJSON appends a WTF-8 string as JSON.stringify writes it: short escapes
// where there are some, \u00xx for other control characters, \udxxx for lone
// surrogates, all else as it is.
func appendJSON(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if plainJSON[c] {
			from := i
			for i++; i < len(s) && plainJSON[s[i]]; i++ {
			}
			b = append(b, s[from:i]...)
			i--
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		case c == 0xED && i+2 < len(s) && s[i+1] >= 0xA0:
			b = append(b, '\\', 'u', 'd', digits[s[i+1]>>2&15], digits[s[i+1]&3<<2|s[i+2]>>4&3], digits[s[i+2]&15])
			i += 2
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// Entries makes the listing of one client process: the skills that are listed,
// with the given entries at their places, in listing order. Skills that came in
// during the session stand before the built-in prompts; that place is known for later listings, which hold only them,
// and assumed for full ones.
func Entries(list []Status, given []Given, s Settings, o Options) []Entry {
	names := newAliases(o.byArrival(list), given, o.Text)
	out := make([]Entry, 0, len(list)+len(given))
	place := func(p Place) {
		if s.SkillDenied {
			return
		}
		for _, g := range given {
			gone, bare := o.overridden(g.Name, s)
			if g.Place != p || gone || p == PlaceBuiltin && o.Discovery.HideBuiltins || o.Discovery.NameOnce && names.own[g.Name] {
				continue
			}
			e := Entry{Name: g.Name, Label: g.Name, Display: g.Name, Full: g.Text, Place: p, Exempt: p != PlaceBuiltin}
			if !bare {
				e.Text = o.Text.cut(e.Full, s)
			}
			out = append(out, e)
		}
	}
	skills := func(want func(Status) bool) {
		for _, st := range list {
			if st.Reason == Listed && want(st) {
				out = append(out, o.entry(st, names, s))
			}
		}
	}
	place(PlaceFirst)
	skills(func(st Status) bool { return st.Activated == 0 && st.Skill.Source != Plugin })
	place(PlaceWorkflow)
	skills(func(st Status) bool { return st.Activated == 0 && st.Skill.Source == Plugin })
	place(PlaceBundled)
	var arrived []Status
	for _, st := range list {
		if st.Reason == Listed && st.Activated > 0 {
			arrived = append(arrived, st)
		}
	}
	for _, st := range o.byArrival(arrived) {
		out = append(out, o.entry(st, names, s))
	}
	place(PlaceBuiltin)
	return out
}

// byArrival puts what came in during a session into the order in which it is
// listed. Where the folders are sorted, so is all that came in, by the names of
// the folders, whatever came first and from wherever (recorded at 2.1.154 to
// 2.1.332); else what came in first stands first (recorded at 2.1.140). Skills
// there from the start stay where they are, before the others.
func (o Options) byArrival(list []Status) []Status {
	if !slices.ContainsFunc(list, func(st Status) bool { return st.Activated > 0 }) {
		return list
	}
	var start, arrived []Status
	for _, st := range list {
		if st.Activated == 0 {
			start = append(start, st)
		} else {
			arrived = append(arrived, st)
		}
	}
	if o.Discovery.Sort == SortCollate {
		sortBy(arrived, SortCollate, func(st Status) string {
			if scoped(st.Skill) {
				return st.Skill.Folder
			}
			return st.Skill.Name
		})
	} else {
		slices.SortStableFunc(arrived, func(a, b Status) int { return a.Activated - b.Activated })
	}
	return append(start, arrived...)
}

// entry makes the entry of a listed skill.
func (o Options) entry(st Status, names *aliases, s Settings) Entry {
	sk := st.Skill
	full := o.describe(sk)
	if o.Text.Clean {
		full = Clean(full)
	}
	e := Entry{Skill: sk, Name: sk.Name, Label: sk.Name, Display: display(sk), Full: full}
	if st.NameOnly {
		return e
	}
	if alias := names.of(sk); alias != "" {
		e.Label = sk.Name + " (" + alias + ")"
	}
	e.Text = o.Text.cut(full, s)
	return e
}

// cut puts a text under the cap of the version, or of the user's setting where
// it counts: cap-1 UTF-16 code units and an ellipsis. It may leave half a
// surrogate pair, as the client does.
func (t EntryText) cut(s string, set Settings) string {
	limit := t.Cap
	if t.CapSetting && set.MaxText > 0 {
		limit = set.MaxText
	}
	// A text has at least as many bytes as code units.
	if limit <= 0 || len(s) <= limit || budget.Len16(s) <= limit {
		return s
	}
	return budget.Cut16(s, limit-1) + "…"
}

// nestedSuffix says where a skill of a nested folder applies (recorded from
// 2.1.178).
func nestedSuffix(sk *Skill) string {
	if scoped(sk) {
		return " (scoped to " + sk.Scope + "/ — use this instead of the unscoped \"" + sk.Folder + "\" skill when the files being changed are under " + sk.Scope + "/)"
	}
	return " (from " + sk.Scope + "/.claude/skills — applies when working on files under " + sk.Scope + "/)"
}

// scoped reports whether a nested skill is listed as DIR:name.
func scoped(sk *Skill) bool {
	return sk.Source == Nested && sk.Name == sk.Scope+":"+sk.Folder
}

// display is the name that goes into the digest: the one of the front matter if
// there is one that cleaning leaves as it is, else the name by which the skill
// is called (listing/alias: "two words" and "at@sign" count, "x<y" and
// " padded " do not).
func display(sk *Skill) string {
	name, _ := sk.Front.Name()
	if name == "" || sk.Kind != KindSkill || scoped(sk) || strings.TrimSpace(name) != name || Clean(name) != name {
		return sk.Name
	}
	return prefix(sk) + name
}

// prefix is what stands before the folder name in the name of a plugin's skill.
func prefix(sk *Skill) string {
	if sk.Source != Plugin {
		return ""
	}
	return sk.Plugin + ":"
}

// aliasChars is what an alias may hold (recorded: names with blanks, /, < or @
// give none).
var aliasChars = regexp.MustCompile(`^[\p{L}\p{N}\p{M}_.:-]+$`)

// aliases knows which front-matter names are shown beside the names of a
// listing (from 2.1.290): those that differ, are no other entry's name and no
// earlier entry's alias.
type aliases struct {
	on    bool
	own   map[string]bool   // names of skills, listed or switched off
	given map[string]bool   // names of given entries
	owner map[string]*Skill // the first skill with an alias
}

// newAliases takes the skills in listing order.
func newAliases(list []Status, given []Given, t EntryText) *aliases {
	a := &aliases{on: t.Alias, own: make(map[string]bool, len(list)), given: make(map[string]bool, len(given)), owner: map[string]*Skill{}}
	for _, g := range given {
		a.given[g.Name] = true
	}
	for _, st := range list {
		// A skill that its user or its author switched off keeps its names; one that
		// is held back has none yet (recorded at 2.1.290, 2.1.304 and 2.1.332).
		if st.Reason == Listed || st.Reason == Overridden || st.Reason == Disabled {
			a.own[st.Skill.Name] = true
			if alias := candidate(st.Skill); t.Alias && alias != "" && a.owner[alias] == nil {
				a.owner[alias] = st.Skill
			}
		}
	}
	return a
}

// candidate is the name that a skill would show beside its own.
func candidate(sk *Skill) string {
	name, _ := sk.Front.Name()
	if sk.Kind != KindSkill || name == "" {
		return ""
	}
	called := strings.TrimPrefix(sk.Name, prefix(sk))
	if sk.InCommands {
		called = called[strings.LastIndexByte(called, ':')+1:]
	}
	if scoped(sk) {
		called = sk.Folder
	}
	if name == called || !utf8.ValidString(name) || !aliasChars.MatchString(name) {
		return ""
	}
	return prefix(sk) + name
}

// of returns the alias that a skill is listed with, or "".
func (a *aliases) of(sk *Skill) string {
	if !a.on {
		return ""
	}
	alias := candidate(sk)
	if alias == "" || a.own[alias] || a.given[alias] || a.owner[alias] != sk {
		return ""
	}
	return alias
}

// QuoteJSON is a WTF-8 string as JSON.stringify writes it.
func QuoteJSON(s string) string { return string(appendJSON(nil, s)) }
