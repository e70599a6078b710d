package replay

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Verdict is the outcome of a check.
type Verdict string

// The three verdicts. Unconfirmed marks a divergence under rules that are not
// known to hold for the client's version; it counts in a group of its own.
const (
	Match        Verdict = "match"
	Divergent    Verdict = "divergent"
	Undetermined Verdict = "undetermined"
)

// CheckKind is what a check compares.
type CheckKind string

// The kinds of checks.
const (
	CheckListing      CheckKind = "listing"      // the first catalogue of a process and agent
	CheckRelist       CheckKind = "relist"       // every later one
	CheckBody         CheckKind = "body"         // an injected text
	CheckNote         CheckKind = "note"         // a note on re-invocation
	CheckRefusal      CheckKind = "refusal"      // a failed Skill result
	CheckReattachment CheckKind = "reattachment" // an attachment after a compaction, as a whole
	CheckInvariant    CheckKind = "invariant"    // names, count and digests of an attachment
)

// CheckKinds lists all kinds in the order of reports.
var CheckKinds = []CheckKind{CheckListing, CheckRelist, CheckBody, CheckNote, CheckRefusal, CheckReattachment, CheckInvariant}

// Check is one comparison of a prediction with an observation, with its evidence.
type Check struct {
	Kind    CheckKind
	Verdict Verdict
	// Unconfirmed: a divergence under rules that are not known to hold for this version.
	Unconfirmed bool
	Where       Where
	Agent       string
	Skill       string
	Rule        string // key of the rule that the prediction rests on
	Expected    string
	Observed    string
	Reason      string // plain words: the likely cause, or the missing input
	// Missing names the input whose absence makes the check undetermined
	// ("skill files", "usage counts", "settings", …), for counting.
	Missing string
	// After is the line of the divergence that this check follows from, 0 if none.
	After int
}

// Shown is how a skill's entry stands in the context.
type Shown string

// The four states.
const (
	ShownFull      Shown = "full"
	ShownShortened Shown = "shortened"
	ShownNameOnly  Shown = "name_only"
	ShownAbsent    Shown = "absent"
)

// Visibility is what the model saw of each skill when a prompt was asked.
// Predicted is set where the client's log holds no listing and the state comes
// from the rules.
type Visibility struct {
	Event     int    // index of the prompt among the agent's events
	Answer    int    // that of the request that answered it; the number of events if none did
	Prompt    int    // 0 for a slash command
	Command   string // the command's name for a slash command
	Where     Where
	Abandoned bool
	Predicted bool
	Skills    Seen

	answered bool
}

// Seen says of each skill how its entry stood in the context at one moment. It is a
// value, and shares what it holds with those of other moments.
type Seen struct {
	entries table[entry]
	names   *[]string // all that the agent ever listed, sorted
}

// Of is how the entry of a skill stood, ShownAbsent where it did not.
func (s Seen) Of(name string) Shown {
	if e, ok := s.entries.get(name); ok {
		return e.shown
	}
	return ShownAbsent
}

// From is the event, by its index, that brought the entry of a skill: a listing, or
// the input that led to one which the log does not hold. It reports false where no
// entry stands.
func (s Seen) From(name string) (event int, ok bool) {
	e, ok := s.entries.get(name)
	return e.event, ok
}

// Len is the number of entries that stand.
func (s Seen) Len() int { return s.entries.size }

// Same reports whether the very same entries stand in both, without looking at them:
// it may report false where they do.
func (s Seen) Same(o Seen) bool {
	return s.entries.log == o.entries.log && s.entries.n == o.entries.n
}

// All are the skills that the agent ever listed, by name.
func (s Seen) All() iter.Seq2[string, Shown] {
	return func(yield func(string, Shown) bool) {
		if s.names == nil {
			return
		}
		for _, name := range *s.names {
			if !yield(name, s.Of(name)) {
				return
			}
		}
	}
}

// Map is All as a map of its own. With many skills at many prompts these take much
// memory.
func (s Seen) Map() map[string]Shown { return maps.Collect(s.All()) }

// String lists the skills by name, as a map is written.
func (s Seen) String() string { return fmt.Sprint(s.Map()) }

// SeenOf is what a map says.
func SeenOf(m map[string]Shown) Seen {
	names := slices.Sorted(maps.Keys(m))
	s := Seen{names: &names}
	for _, name := range names {
		if m[name] != ShownAbsent {
			s.entries = s.entries.with(name, entry{shown: m[name]})
		}
	}
	return s
}

// VisibilityChange is a moment of the conversation at which what the model sees
// of a skill changed: Cause is Listing or Compaction, or the input that led to a
// listing which the log does not hold.
type VisibilityChange struct {
	Skill string
	Event int // its index among the agent's events
	Shown Shown
	Where Where
	Cause EventKind
}

// AgentResult is the outcome for one agent.
type AgentResult struct {
	Agent      *Agent
	Checks     []Check
	Visibility []Visibility
	Changes    []VisibilityChange // in order, then by skill; branches that were left apart
	// Predicted holds the effects that the rules derive, in order.
	Predicted []Effect
}

// Result is the outcome for one session.
type Result struct {
	Session     *Session
	Client      string // "claude-code@2.1.332"
	RulesExact  bool
	Exact       bool   // all inputs are known, and all processes of the client
	Described   string // the description that the rules are those of, "" where the client was recorded
	Model       string
	Window      int64
	Inputs      []InputUse
	Assumptions []string
	Agents      []AgentResult
}

// InputUse says which source of an input was used, or that it could not be found.
type InputUse struct {
	Name   string // "skill files", "settings", "usage counts", "window", …
	Source string // a path or a description; empty if not found
	Found  bool
	Note   string
}

// Count tallies the verdicts of all agents. Unconfirmed divergences are not
// among the divergent.
func (r *Result) Count() (match, divergent, undetermined, unconfirmed int) {
	for _, a := range r.Agents {
		for _, c := range a.Checks {
			switch {
			case c.Unconfirmed:
				unconfirmed++
			case c.Verdict == Match:
				match++
			case c.Verdict == Divergent:
				divergent++
			default:
				undetermined++
			}
		}
	}
	return
}

// Effect is a predicted effect.
type Effect struct {
	Kind EventKind
	// Cause is the index of the input event that it follows from.
	Cause int
	Skill string
	// ToolUse ties bodies, notes and refusals to their call.
	ToolUse string
	Text    string
	Initial bool
	Entries []ListedEntry
	// Demand is what the entries of a listing take before anything is trimmed, as the
	// client counts; 0 for other effects, and where it is not derived.
	Demand int
	// Given: the text is one of the client's own, which no file holds: an input.
	Given bool
	// Part: Text is all that is known of it, a part of the whole.
	Part bool
	// AnyOrder: the order of the bodies of a reattachment is not part of the rules.
	AnyOrder bool
	// Place is where it stands.
	Place Place
	// Proof says what shows, whatever the inputs were, that the log departs from the
	// rules.
	Proof string
	// Held: a number that the log states beside an input, against what Text says of it;
	// zero for other effects.
	Held Held
	// Soft names the input that is missing for a divergence to prove anything.
	Soft string
	// Fleeting: it is sent with the next request, and not at all if a compaction
	// comes first.
	Fleeting bool
	// Unlogged: clients of this version do not write it to the log.
	Unlogged bool
	// OrderUnknown: the bodies of a reattachment stand in an order that no input tells.
	OrderUnknown bool
	Missing      string // the input that is missing, "" if the effect is derived
	Reason       string
	Rule         string
	Skills       []ReattachedSkill
}

// Held is a number that the log states, in words, and whether it is as it should be.
type Held struct {
	Observed string
	OK       bool
}

// ListedEntry is one entry of a predicted listing.
type ListedEntry struct {
	Name   string
	Label  string
	Text   string
	Full   string // the text before anything was cut; "" where it is not known
	Shown  Shown
	Capped bool // its text lost its end to the limit of one entry
	Digest string
	Own    bool // from a skill file; false for the client's own
	mark   string
}

// ReattachedSkill is one body of a predicted reattachment.
type ReattachedSkill struct {
	Name, Path, Content string
	Cut                 bool
}
