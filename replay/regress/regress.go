// Package regress tests descriptions of skills against recorded sessions.
//
// A recorded session is the test: its prompts, its crowd of other skills, its budget.
// The candidates' descriptions take the place of those that the session had, and what
// the model would have seen at a prompt is worked out by the reference implementation;
// no model is asked for that.
//
//	spec.Case + Session ── Point ──> a prompt
//	Point + Set ── State ──> each entry as the model would have seen it
//	two States + Expect ── Judge ──> Results, with what changed and what made it change
//
// Scorers that ask somebody (packages live and program) get their questions from here and
// bring back answers; Judge counts them.
package regress

import (
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
)

// Verdict is the outcome of a case under one scorer.
type Verdict string

// The verdicts.
const (
	Passed       Verdict = "passed"
	Failed       Verdict = "failed"
	Errored      Verdict = "errored"      // it could not be judged: nothing was learnt of the skills
	Inconclusive Verdict = "inconclusive" // it was judged, and an input is missing that decides it
	Skipped      Verdict = "skipped"      // it was not to be judged
)

// Verdicts are all verdicts, in the order of reports.
var Verdicts = []Verdict{Passed, Failed, Errored, Inconclusive, Skipped}

// Change is how the verdict differs from that of the baseline.
type Change string

// The changes; "" where one of the two is neither passed nor failed.
const (
	Fixed  Change = "fixed"
	Broken Change = "broken"
	Same   Change = "same"
)

// changeOf compares two verdicts.
func changeOf(before, after Verdict) Change {
	judged := func(v Verdict) bool { return v == Passed || v == Failed }
	switch {
	case !judged(before) || !judged(after):
		return ""
	case before == after:
		return Same
	case after == Passed:
		return Fixed
	}
	return Broken
}

// Result is the outcome of a case under one scorer.
type Result struct {
	Case    string
	Line    int // of the spec
	Scorer  spec.Scorer
	Verdict Verdict
	// Baseline is the verdict under the baseline's descriptions, "" if it was not judged.
	Baseline Verdict
	Change   Change
	Reason   string // a sentence or several, parted by "; "
	Review   string // why a person should look at the case

	Session string // as the spec names it
	Agent   string
	Prompt  int
	Where   replay.Where // of the prompt
	Text    string       // of the prompt

	Visible []VisibleDetail // scorer visible
	Listing *ListingChange  // scorer visible
	Lexical []LexicalDetail // scorer lexical
	Asked   *AskedDetail    // scorers live and command
	Assumed []string        // what the verdict rests on and no input tells
}

// AskedDetail is what a model or a program answered.
type AskedDetail struct {
	Expected string // "deploy or release", "no skill"
	Runs     int    // answers that were asked for
	Errors   int    // of them that did not come
	Hits     int    // of those that came: did what is expected
	// Rate is the part that Hits make of the answers that came, Low and High bound it (95 %).
	Rate, Low, High float64
	First, Late     int // hits by whether the skill was the first tool that was called
	Chosen          []Chosen
	Failures        []string // why answers did not come, each once
	Before          *AskedDetail
	// Difference is the rate less that of Before, with its interval (95 %).
	Difference, DifferenceLow, DifferenceHigh float64
}

// Chosen is how often a skill was called; "" stands for none.
type Chosen struct {
	Skill string
	Count int
}

// settle sets the change.
func (r *Result) settle() { r.Change = changeOf(r.Baseline, r.Verdict) }

// Outcome is the verdict of a whole run: failed if a case did; inconclusive if some could
// not be asked while others passed, or nothing was judged; errored if nothing but errors
// came; skipped if all were to be left alone.
func Outcome(results []Result) Verdict {
	passed, errored, open := false, false, len(results) == 0
	for i := range results {
		switch results[i].Verdict {
		case Failed:
			return Failed
		case Errored:
			errored = true
		case Passed:
			passed = true
		case Inconclusive:
			open = true
		}
	}
	switch {
	case errored && !passed:
		return Errored
	case !errored && !passed && !open:
		return Skipped
	case errored || !passed:
		return Inconclusive
	}
	return Passed
}

// Totals count results by verdict and by change.
type Totals struct {
	Verdicts map[Verdict]int
	Changes  map[Change]int
}

// Count counts results.
func Count(results []Result) Totals {
	t := Totals{map[Verdict]int{}, map[Change]int{}}
	for i := range results {
		t.Verdicts[results[i].Verdict]++
		if c := results[i].Change; c != "" {
			t.Changes[c]++
		}
	}
	return t
}

// ScorersOf are the scorers that judge a case: those given (of the command line), else
// the case's, else the spec's, else those that what it expects calls for without asking
// anybody.
func ScorersOf(s *spec.Spec, c *spec.Case, given []spec.Scorer) []spec.Scorer {
	for _, list := range [][]spec.Scorer{given, c.Scorers, s.Scorers} {
		if len(list) > 0 {
			return list
		}
	}
	var out []spec.Scorer
	if len(c.Expect.Visible) > 0 || c.Expect.Triggers != nil || len(c.Expect.Rank) == 0 {
		out = append(out, spec.ScoreVisible)
	}
	if len(c.Expect.Rank) > 0 {
		out = append(out, spec.ScoreLexical)
	}
	return out
}

// Asks reports whether a scorer asks somebody.
func Asks(s spec.Scorer) bool { return s == spec.ScoreLive || s == spec.ScoreCommand }

// Shard is every nth case, from the kth (from 1).
func Shard[T any](list []T, k, n int) []T {
	var out []T
	for i := range list {
		if n < 2 || i%n == k-1 {
			out = append(out, list[i])
		}
	}
	return out
}
