// Package spec reads the file that says what descriptions of skills must achieve in
// recorded sessions: skilltrace.test.yaml. It knows no session and judges nothing.
//
// What it does not know is an error with its line: a misspelt key would otherwise be a
// check that never runs. docs/schema/skilltrace.test.json describes the same form.
package spec

import (
	"slices"

	"github.com/skilltrace/skilltrace/replay"
)

// DefaultName is the name of a spec in the folder of a project.
const DefaultName = "skilltrace.test.yaml"

// Version is the version of the form that this package reads.
const Version = 1

// MaxSize is the largest spec that is read, in bytes.
const MaxSize = 16 << 20

// Spec is a file of cases. Paths are as they stand in the file: relative to its folder.
type Spec struct {
	File     string   // by which it was read
	Skills   []string // folders that hold a folder with SKILL.md for each candidate
	Baseline Baseline
	// Client ("claude-code@2.1.332"), Window (tokens), Model, Usage and Settings (files)
	// stand for what the log or this machine would tell; zero where they are not given.
	Client   string
	Window   int64
	Model    string
	Usage    string
	Settings string
	Scorers  []Scorer // those of cases that name none; nil: what each case expects
	Command  []string // the program of the scorer `command`, with its arguments
	Thresholds
	Budget Budget
	Cases  []Case
}

// Baseline is what the candidates are compared with. The zero value is the state that
// the log shows.
type Baseline struct {
	Git     string   // a revision at which Skills are read
	Folders []string // other folders
	Line    int
}

// IsLog reports whether the baseline is the log's own state.
func (b *Baseline) IsLog() bool { return b.Git == "" && len(b.Folders) == 0 }

// Thresholds are what a rate of triggers has to reach.
type Thresholds struct {
	Runs int     // replies that are asked for each case
	Rate float64 // the least part of them that does what is expected, 0 to 1
}

// The thresholds where a spec gives none.
const (
	DefaultRuns = 10
	DefaultRate = 0.8
)

// Budget limits the listings of all cases. nil fields are not limited.
type Budget struct {
	// ListingTokens and ListingChars (in the client's unit) are the size of a listing as
	// it goes out; NameOnly, Shortened and Absent the number of entries in that form.
	ListingTokens, ListingChars *int
	NameOnly, Shortened, Absent *int
	Line                        int
}

// IsZero reports whether nothing is limited.
func (b *Budget) IsZero() bool {
	return b.ListingTokens == nil && b.ListingChars == nil && b.NameOnly == nil && b.Shortened == nil && b.Absent == nil
}

// Case is a prompt of a recorded session, and what is expected of it.
type Case struct {
	Name    string
	Line    int // of the spec
	Session string
	At      At
	Scorers []Scorer // nil: those of the spec
	Expect  Expect
	Skip    string // why it is not run; "" if it is
	Review  string // why a person should look at it first; "" if nobody need
}

// At chooses a prompt. Exactly one of Prompt, UUID and Text is set.
type At struct {
	Agent  string // "" for the main loop
	Prompt int    // its number
	UUID   string // the beginning of its record's
	Text   string // a part of it
	Line   int
}

// Expect is what a case expects. At least one of its fields is set.
type Expect struct {
	Visible  []Visible // in the order of the file
	Triggers *Triggers
	Rank     []Rank
}

// Visible is how the entry of a skill has to stand before the model.
type Visible struct {
	Skill string
	Shown replay.Shown
	Line  int
}

// Triggers are the skills of which one has to be called; none of all if Any is empty.
type Triggers struct {
	Any  []string
	Line int
}

// Met reports whether the skills that were called are what is expected: one of them, or
// none.
func (t *Triggers) Met(called []string) bool {
	if len(t.Any) == 0 {
		return len(called) == 0
	}
	for _, name := range called {
		if slices.Contains(t.Any, name) {
			return true
		}
	}
	return false
}

// Rank is the lowest place that a skill may take by the lexical score, from 1.
type Rank struct {
	Skill  string
	Within int
	Line   int
}

// Scorer is a way of judging a case.
type Scorer string

// The scorers.
const (
	ScoreVisible Scorer = "visible" // the listing, by the reference implementation
	ScoreLexical Scorer = "lexical" // the words that prompt and descriptions share
	ScoreLive    Scorer = "live"    // a model is asked
	ScoreCommand Scorer = "command" // a program is asked
)

// Scorers are all scorers, in the order of reports.
var Scorers = []Scorer{ScoreVisible, ScoreLexical, ScoreLive, ScoreCommand}

// Forms are the words for how an entry stands.
var Forms = []replay.Shown{replay.ShownFull, replay.ShownShortened, replay.ShownNameOnly, replay.ShownAbsent}
