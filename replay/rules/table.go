package rules

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Confidence says how well a change is known.
type Confidence string

// The degrees.
const (
	// Recorded exactly: recordings of two adjacent published versions differ.
	Exactly Confidence = "exact"
	// Recorded within a range: the old way at Change.From, the new one by
	// Change.Since at the latest, versions between them were not recorded.
	Within Confidence = "range"
	// Documented only, by the vendor's pages or its changelog.
	Documented Confidence = "documented"
	// Assumed of a client that is only described, where its description is silent.
	Assumed Confidence = "assumed"
	// Given by the user in a file of their own.
	Given Confidence = "given"
)

// Words is the degree in the words of reports.
func (c Confidence) Words() string {
	switch c {
	case Exactly:
		return "recorded exactly"
	case Within:
		return "recorded within a range"
	case Documented:
		return "documented only"
	case Assumed:
		return "not described, assumed"
	case Given:
		return "given by the user"
	}
	return string(c)
}

// Change gives one rule a new value from one version on.
type Change struct {
	// Since is the first version with the value, as far as is known.
	Since string `json:"since"`
	// From is the last version that is known to have the value before; empty for
	// the first value of a rule, unless that is known to hold from a later version.
	From string `json:"from,omitempty"`
	Key  string `json:"key"`
	// Value is a bool, an int, a string or a []string.
	Value any `json:"value"`
	// Summary says it in words a user understands.
	Summary string `json:"summary,omitempty"`
	// Evidence names recordings or the documented source.
	Evidence   string     `json:"evidence,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// Table is the rules of one client by version. It is immutable and may be used
// from several goroutines.
type Table struct {
	// Client is the client's name.
	Client string
	// Oldest is the oldest version accepted; from it up to Base the rules of
	// Base are used and not confirmed. Latest is the newest version recorded.
	Oldest, Base, Latest string
	// Described is set for a client that was never recorded: its rules are those of a
	// description, and it has one version.
	Described *Description

	oldest, base, latest Version
	changes              []dated // in order of version
	folded               []step  // by version, one for each version with a change
}

type dated struct {
	Change
	at Version
}

type step struct {
	at    Version
	rules Rules
	last  map[string]int // key -> index into changes
}

// registry holds the table of each client, by name.
var registry = map[string]func() (*Table, error){
	DefaultClient: claudeCode,
	"article":     article,
	"mini-cc":     miniCC,
	"agent-sdk":   agentSDK,
}

// Clients lists the clients that have a table: the recorded one, then those that
// are only described, sorted.
func Clients() []string {
	names := make([]string, 0, len(registry))
	for name := range registry {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		if a, b := names[i] == DefaultClient, names[j] == DefaultClient; a != b {
			return a
		}
		return names[i] < names[j]
	})
	return names
}

// For returns the table of a client, given as NAME or NAME@VERSION. The error
// is an *[UnknownClientError].
func For(client string) (*Table, error) {
	name, _ := Split(client)
	build, ok := registry[name]
	if !ok {
		return nil, &UnknownClientError{Client: name, Known: Clients()}
	}
	return build()
}

// newTable checks and folds a table. The changes must be in order of version,
// those of the base first, and give every key a value at the base.
func newTable(client, oldest, base, latest string, changes []Change) (*Table, error) {
	t := &Table{Client: client, Oldest: oldest, Base: base, Latest: latest}
	var err error
	for _, v := range []struct {
		text string
		to   *Version
	}{{oldest, &t.oldest}, {base, &t.base}, {latest, &t.latest}} {
		if *v.to, err = ParseVersion(v.text); err != nil {
			return nil, err
		}
	}
	for i, c := range changes {
		at, err := ParseVersion(c.Since)
		if err != nil {
			return nil, fmt.Errorf("change %d: %w", i, err)
		}
		t.changes = append(t.changes, dated{c, at})
	}
	if err := t.fold(); err != nil {
		return nil, err
	}
	for _, k := range Keys() {
		if _, ok := t.folded[0].last[k.Name]; !ok {
			return nil, fmt.Errorf("%s: no value at %s", k.Name, base)
		}
	}
	return t, nil
}

// fold computes the rules after each version with a change.
func (t *Table) fold() error {
	cur := step{at: t.base, rules: Rules{Client: t.Client}, last: map[string]int{}}
	flush := func() {
		last := make(map[string]int, len(cur.last))
		for k, i := range cur.last {
			last[k] = i
		}
		t.folded = append(t.folded, step{cur.at, cur.rules, last})
	}
	for i, c := range t.changes {
		if i > 0 && c.at.Compare(t.changes[i-1].at) < 0 {
			return fmt.Errorf("%s %s: stands after %s", c.Since, c.Key, t.changes[i-1].Since)
		}
		if c.at.Compare(cur.at) > 0 {
			flush()
			cur.at = c.at
		}
		if err := cur.rules.set(c.Key, c.Value); err != nil {
			return fmt.Errorf("%s %w", c.Since, err)
		}
		cur.last[c.Key] = i
	}
	flush()
	return nil
}

// At returns the rules of a version. Versions outside the recorded ones get the
// nearest rules, marked so. The error is a *[VersionError] or a *[TooOldError], or a
// *[DescribedError] of a client that is only described, whose version may be "".
func (t *Table) At(version string) (Rules, error) {
	if t.Described != nil {
		s, about, err := t.only(version)
		if err != nil {
			return Rules{}, err
		}
		r := s.rules
		r.Version, r.Exact, r.Assumed = about, true, map[string]bool{}
		for key, i := range s.last {
			if t.changes[i].Confidence == Assumed {
				r.Assumed[key] = true
			}
		}
		return r, nil
	}
	v, err := ParseVersion(version)
	if err != nil {
		return Rules{}, err
	}
	s, err := t.step(v)
	if err != nil {
		return Rules{}, err
	}
	r := s.rules
	r.Version = v.String()
	r.Exact, r.Why = true, ""
	switch {
	case v.Compare(t.base) < 0:
		r.Exact, r.Why = false, "older than "+t.Base+", the oldest version recorded: its rules are used"
	case v.Compare(t.latest) > 0:
		r.Exact, r.Why = false, "newer than "+t.Latest+", the newest version recorded: the latest rules are used"
	case v.Pre != "":
		r.Exact, r.Why = false, "a build between releases: the rules of the release before it are used"
	}
	return r, nil
}

func (t *Table) step(v Version) (*step, error) {
	if v.Compare(t.oldest) < 0 {
		return nil, &TooOldError{Client: t.Client, Version: v.String(), Oldest: t.Oldest}
	}
	n := sort.Search(len(t.folded), func(i int) bool { return t.folded[i].at.Compare(v) > 0 })
	return &t.folded[max(n-1, 0)], nil
}

// Changes returns all changes, oldest first. The result belongs to the caller.
func (t *Table) Changes() []Change {
	out := make([]Change, len(t.changes))
	for i, c := range t.changes {
		out[i] = c.Change
	}
	return out
}

// Effective is a rule as it holds for one version, with the change that set it.
type Effective struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
	// Meaning says what the rule is about, Summary what the change did.
	Meaning    string     `json:"meaning"`
	Summary    string     `json:"summary,omitempty"`
	Since      string     `json:"since,omitempty"` // none of a client that is only described
	From       string     `json:"from,omitempty"`
	Evidence   string     `json:"evidence,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// Effective returns all rules that hold for a version, in the order of [Keys].
func (t *Table) Effective(version string) ([]Effective, error) {
	s, err := t.stepOf(version)
	if err != nil {
		return nil, err
	}
	var out []Effective
	for _, k := range Keys() {
		c := t.changes[s.last[k.Name]]
		out = append(out, Effective{
			Key: k.Name, Value: c.Value, Meaning: k.Meaning, Summary: c.Summary,
			Since: t.since(c.Since), From: c.From, Evidence: c.Evidence, Confidence: c.Confidence,
		})
	}
	return out, nil
}

func (t *Table) stepOf(version string) (*step, error) {
	if t.Described != nil {
		s, _, err := t.only(version)
		return s, err
	}
	v, err := ParseVersion(version)
	if err != nil {
		return nil, err
	}
	return t.step(v)
}

// since is the version of a change as it is shown: a client that is only described
// has none.
func (t *Table) since(version string) string {
	if t.Described != nil && version == firstVersion {
		return ""
	}
	return version
}

// Difference is a rule that differs between two versions.
type Difference struct {
	Key     string `json:"key"`
	Meaning string `json:"meaning"`
	Old     any    `json:"old"`
	New     any    `json:"new"`
	// Changes lie between the two versions, oldest first, whichever of the two is
	// the older; where two clients are compared it is the change that gave the new
	// one its value.
	Changes []Change `json:"changes"`
}

// Diff returns the rules that differ between two versions, in the order of
// [Keys]. A rule that changed and changed back is not among them.
func (t *Table) Diff(old, new string) ([]Difference, error) {
	if t.Described != nil {
		return t.DiffFrom(t, old, new)
	}
	a, err := t.Effective(old)
	if err != nil {
		return nil, err
	}
	b, err := t.Effective(new)
	if err != nil {
		return nil, err
	}
	v, _ := ParseVersion(old)
	w, _ := ParseVersion(new)
	if v.Compare(w) > 0 {
		v, w = w, v
	}
	var out []Difference
	for i := range a {
		if reflect.DeepEqual(a[i].Value, b[i].Value) {
			continue
		}
		d := Difference{Key: a[i].Key, Meaning: a[i].Meaning, Old: a[i].Value, New: b[i].Value}
		for _, c := range t.changes {
			if c.Key == d.Key && c.at.Compare(v) > 0 && c.at.Compare(w) <= 0 {
				d.Changes = append(d.Changes, c.Change)
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// With lays a user's changes over a table. From its version on such a change
// replaces every built-in change of its key, later ones too: it is what the user
// wants to hold. The new table shares nothing that can change with t.
func (t *Table) With(own []Change) (*Table, error) {
	first := map[string]Version{}
	var laid []dated
	for _, c := range own {
		at, err := ParseVersion(c.Since)
		if err != nil {
			return nil, err
		}
		if at.Compare(t.base) < 0 {
			at = t.base
		}
		c.Confidence = Given
		if f, ok := first[c.Key]; !ok || at.Compare(f) < 0 {
			first[c.Key] = at
		}
		laid = append(laid, dated{c, at})
	}
	u := &Table{Client: t.Client, Described: t.Described, Oldest: t.Oldest, Base: t.Base, Latest: t.Latest, oldest: t.oldest, base: t.base, latest: t.latest}
	for _, c := range t.changes {
		if f, ok := first[c.Key]; ok && c.at.Compare(f) >= 0 && !(c.at.Compare(t.base) == 0 && f.Compare(t.base) == 0) {
			continue
		}
		u.changes = append(u.changes, c)
	}
	u.changes = append(u.changes, laid...)
	slices.SortStableFunc(u.changes, func(a, b dated) int { return a.at.Compare(b.at) })
	if err := u.fold(); err != nil {
		return nil, err
	}
	return u, nil
}

// DiffFrom returns the rules in which a version differs from that of another client,
// in the order of [Keys].
func (t *Table) DiffFrom(other *Table, old, new string) ([]Difference, error) {
	a, err := other.Effective(old)
	if err != nil {
		return nil, err
	}
	b, err := t.Effective(new)
	if err != nil {
		return nil, err
	}
	var out []Difference
	for i := range b {
		if x := b[i]; !reflect.DeepEqual(a[i].Value, x.Value) {
			set := Change{Since: x.Since, From: x.From, Key: x.Key, Value: x.Value, Summary: x.Summary, Evidence: x.Evidence, Confidence: x.Confidence}
			out = append(out, Difference{Key: x.Key, Meaning: x.Meaning, Old: a[i].Value, New: x.Value, Changes: []Change{set}})
		}
	}
	return out, nil
}

// Document is the result of the command rules, as JSON.
type Document struct {
	Schema  string `json:"schema"`
	Client  string `json:"client"`
	Version string `json:"version,omitempty"`
	Exact   bool   `json:"exact"`
	Why     string `json:"why,omitempty"`
	// Described is the description that a client's rules come from which was never
	// recorded.
	Described string `json:"described,omitempty"`
	// Oldest and Latest bound the recorded versions.
	Oldest string      `json:"oldest_recorded,omitempty"`
	Latest string      `json:"latest_recorded,omitempty"`
	Rules  []Effective `json:"rules"`
	// Against and Diff are set where two versions are compared, AgainstClient where
	// they are those of two clients.
	Against       string       `json:"against,omitempty"`
	AgainstClient string       `json:"against_client,omitempty"`
	Diff          []Difference `json:"diff,omitempty"`
}

// Schema names the JSON form of a [Document].
const Schema = "skilltrace/rules@1"

// Document describes a version and, if against is not empty, how its rules
// differ from those of that older (or newer) one.
func (t *Table) Document(version, against string) (Document, error) {
	r, err := t.At(version)
	if err != nil {
		return Document{}, err
	}
	d := Document{Schema: Schema, Client: t.Client, Version: r.Version, Exact: r.Exact, Why: r.Why, Oldest: t.Base, Latest: t.Latest}
	if t.Described != nil {
		d.Described, d.Oldest, d.Latest = t.Described.Source, "", ""
	}
	if d.Rules, err = t.Effective(version); err != nil {
		return Document{}, err
	}
	if against == "" {
		return d, nil
	}
	o, err := t.At(against)
	if err != nil {
		return Document{}, err
	}
	d.Against = o.Version
	d.Diff, err = t.Diff(against, version)
	return d, err
}

// DocumentFrom describes a version and how its rules differ from those of a version
// of another client.
func (t *Table) DocumentFrom(version string, other *Table, against string) (Document, error) {
	d, err := t.Document(version, "")
	if err != nil {
		return Document{}, err
	}
	o, err := other.At(against)
	if err != nil {
		return Document{}, err
	}
	d.AgainstClient, d.Against = other.Client, o.Version
	d.Diff, err = t.DiffFrom(other, against, version)
	return d, err
}

// FormatValue writes a value as the reference and the overlay do.
func FormatValue(v any) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case int:
		return strconv.Itoa(v)
	case []any: // of JSON, as the next
		words := make([]string, len(v))
		for i := range v {
			words[i] = fmt.Sprint(v[i])
		}
		return FormatValue(words)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		if v == "" {
			return `""`
		}
		return v
	case []string:
		if len(v) == 0 {
			return "none"
		}
		return strings.Join(v, ", ")
	}
	return fmt.Sprint(v)
}
