package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress"
)

// TestSchema names the form of a TestDocument.
const TestSchema = "skilltrace/test@1"

// TestDocument is what became of the cases of a spec.
type TestDocument struct {
	Schema    string        `json:"schema"`
	Spec      string        `json:"spec"`
	Candidate string        `json:"candidate,omitempty"` // the folders, in words
	Baseline  string        `json:"baseline"`            // "the log's own state", "git main", …
	Shard     string        `json:"shard,omitempty"`
	Outcome   string        `json:"outcome"` // of the whole run
	Cases     []TestCase    `json:"cases"`
	Totals    TestTotals    `json:"totals"`
	Updated   []string      `json:"updated,omitempty"`  // expectations that were rewritten
	Cost      *TestSpending `json:"cost,omitempty"`     // of asking a model
	Problems  []string      `json:"problems,omitempty"` // of the candidates' files
	// Paths are sessions by which name the spec has them, as they are reached from here.
	Paths map[string]string `json:"-"`
}

// TestCase is one case under one scorer.
type TestCase struct {
	Name     string       `json:"name"`
	Line     int          `json:"line"` // of the spec
	Scorer   string       `json:"scorer"`
	Verdict  string       `json:"verdict"`
	Baseline string       `json:"baseline,omitempty"`
	Change   string       `json:"change,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Review   string       `json:"review,omitempty"`
	Session  string       `json:"session,omitempty"`
	Agent    string       `json:"agent,omitempty"`
	Prompt   int          `json:"prompt,omitempty"`
	LogLine  int          `json:"log_line,omitempty"` // of the prompt
	UUID     string       `json:"uuid,omitempty"`
	Text     Text         `json:"text,omitempty"` // of the prompt
	Details  *TestDetails `json:"details,omitempty"`
}

// TestDetails are what the verdict of a case rests on.
type TestDetails struct {
	Visible []TestVisible `json:"visible,omitempty"`
	Listing *TestListing  `json:"listing,omitempty"`
	Lexical []TestLexical `json:"lexical,omitempty"`
	Asked   *TestAsked    `json:"asked,omitempty"`
	Assumed []string      `json:"assumed,omitempty"`
}

// TestVisible is one expectation of how an entry stands.
type TestVisible struct {
	Skill    string `json:"skill"`
	Line     int    `json:"line"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	Baseline string `json:"baseline"`
	Verdict  string `json:"verdict"`
	Reason   string `json:"reason,omitempty"`
}

// TestListing is what the candidates change of what the model sees.
type TestListing struct {
	Before  TestSize     `json:"before"`
	After   TestSize     `json:"after"`
	Changes []TestChange `json:"changes"`
	Lines   []TestLine   `json:"lines,omitempty"` // both versions side by side, where they differ
}

// TestSize counts what the model sees of skills: characters in the client's unit, tokens
// estimated.
type TestSize struct {
	Chars     int `json:"chars"`
	Demand    int `json:"demand"`
	Budget    int `json:"budget"`
	Tokens    int `json:"tokens"`
	Full      int `json:"full"`
	Shortened int `json:"shortened"`
	NameOnly  int `json:"name_only"`
	Absent    int `json:"absent"`
}

// TestChange is an entry that stands otherwise than under the baseline.
type TestChange struct {
	Skill        string      `json:"skill"`
	Before       string      `json:"before"`
	After        string      `json:"after"`
	Edited       bool        `json:"edited"` // its own text was changed
	CharsBefore  int         `json:"chars_before"`
	CharsAfter   int         `json:"chars_after"`
	TokensBefore int         `json:"tokens_before"`
	TokensAfter  int         `json:"tokens_after"`
	TextBefore   Text        `json:"text_before,omitempty"`
	TextAfter    Text        `json:"text_after,omitempty"`
	Diff         string      `json:"diff,omitempty"`        // [-taken away-]{+added+}
	Causes       []TestCause `json:"causes,omitempty"`      // the largest
	MoreCauses   int         `json:"more_causes,omitempty"` // the others
}

// TestCause is a change of another skill that made an entry stand otherwise.
type TestCause struct {
	Skill string `json:"skill"`
	What  string `json:"what"`
	Grew  int    `json:"grew"`
}

// TestLine is the line of an entry before and after, "" where it has none; or a run of
// entries whose lines are the same.
type TestLine struct {
	Skill  string `json:"skill,omitempty"`
	Before Text   `json:"before,omitempty"`
	After  Text   `json:"after,omitempty"`
	Same   int    `json:"same,omitempty"` // the number of entries in the run
}

// TestLexical is the place of a skill by the words of the prompt.
type TestLexical struct {
	Skill        string   `json:"skill"`
	Line         int      `json:"line,omitempty"`
	Within       int      `json:"within,omitempty"`
	Rank         int      `json:"rank,omitempty"`
	BaselineRank int      `json:"baseline_rank,omitempty"`
	Listed       int      `json:"listed"`
	Score        float64  `json:"score"`
	Margin       float64  `json:"margin"`
	Best         string   `json:"best,omitempty"`
	Shared       []string `json:"shared"`
	Verdict      string   `json:"verdict,omitempty"`
}

// TestAsked is what a model or a program answered.
type TestAsked struct {
	Expected   string       `json:"expected"`
	Runs       int          `json:"runs"`
	Errors     int          `json:"errors"`
	Hits       int          `json:"hits"`
	Rate       float64      `json:"rate"`
	Low        float64      `json:"low"`
	High       float64      `json:"high"`
	First      int          `json:"first"`
	Late       int          `json:"late"`
	Chosen     []TestChosen `json:"chosen"`
	Failures   []string     `json:"failures,omitempty"`
	Before     *TestAsked   `json:"before,omitempty"`
	Difference *TestBetween `json:"difference,omitempty"`
}

// TestBetween is the difference of two rates with its interval.
type TestBetween struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// TestChosen is how often a skill was called; "" stands for none.
type TestChosen struct {
	Skill string `json:"skill"`
	Count int    `json:"count"`
}

// TestTotals count cases by verdict, and by how the verdict changed.
type TestTotals struct {
	Passed       int `json:"passed"`
	Failed       int `json:"failed"`
	Errored      int `json:"errored"`
	Inconclusive int `json:"inconclusive"`
	Skipped      int `json:"skipped"`
	Fixed        int `json:"fixed"`
	Broken       int `json:"broken"`
	Same         int `json:"same"`
}

// TestSpending is what asking a model took.
type TestSpending struct {
	Calls        int    `json:"calls"`
	Cached       int    `json:"cached"`
	Tokens       int64  `json:"tokens"`
	CostMicroUSD *int64 `json:"cost_microusd,omitempty"`
	Cost         string `json:"cost,omitempty"`
}

// NewTest makes a document of results.
func NewTest(file, candidate, baseline string, results []regress.Result) *TestDocument {
	d := &TestDocument{Schema: TestSchema, Spec: file, Candidate: candidate, Baseline: baseline, Outcome: string(regress.Outcome(results)), Cases: []TestCase{}}
	t := regress.Count(results)
	d.Totals = TestTotals{Passed: t.Verdicts[regress.Passed], Failed: t.Verdicts[regress.Failed], Errored: t.Verdicts[regress.Errored],
		Inconclusive: t.Verdicts[regress.Inconclusive], Skipped: t.Verdicts[regress.Skipped],
		Fixed: t.Changes[regress.Fixed], Broken: t.Changes[regress.Broken], Same: t.Changes[regress.Same]}
	diffs := differ{}
	for i := range results {
		d.Cases = append(d.Cases, newTestCase(&results[i], diffs))
	}
	return d
}

// differ remembers differences: many cases of a spec hold the same.
type differ map[[2]string]string

func (m differ) of(before, after string) string {
	key := [2]string{before, after}
	d, ok := m[key]
	if !ok {
		d = WordDiff(before, after)
		m[key] = d
	}
	return d
}

func newTestCase(r *regress.Result, diffs differ) TestCase {
	c := TestCase{Name: r.Case, Line: r.Line, Scorer: string(r.Scorer), Verdict: string(r.Verdict), Baseline: string(r.Baseline), Change: string(r.Change), Reason: r.Reason,
		Review: r.Review, Session: r.Session, Agent: r.Agent, Prompt: r.Prompt, LogLine: r.Where.Line, UUID: r.Where.UUID, Text: Text(r.Text)}
	if r.Baseline == regress.Skipped {
		c.Baseline = ""
	}
	x := &TestDetails{Assumed: r.Assumed}
	for _, v := range r.Visible {
		x.Visible = append(x.Visible, TestVisible{v.Skill, v.Line, string(v.Expected), string(v.Actual), string(v.Baseline), string(v.Verdict), v.Reason})
	}
	if r.Listing != nil {
		x.Listing = newTestListing(r.Listing, diffs)
	}
	for _, l := range r.Lexical {
		shared := l.Shared
		if shared == nil {
			shared = []string{}
		}
		x.Lexical = append(x.Lexical, TestLexical{l.Skill, l.Line, l.Within, l.Rank, l.Baseline, l.Listed, l.Score, l.Margin, l.Best, shared, string(l.Verdict)})
	}
	if r.Asked != nil {
		x.Asked = newTestAsked(r.Asked)
	}
	if len(x.Visible)+len(x.Lexical)+len(x.Assumed) > 0 || x.Listing != nil || x.Asked != nil {
		c.Details = x
	}
	return c
}

func newTestAsked(a *regress.AskedDetail) *TestAsked {
	out := &TestAsked{Expected: a.Expected, Runs: a.Runs, Errors: a.Errors, Hits: a.Hits, Rate: a.Rate, Low: a.Low, High: a.High, First: a.First, Late: a.Late, Chosen: []TestChosen{}, Failures: a.Failures}
	for _, k := range a.Chosen {
		out.Chosen = append(out.Chosen, TestChosen(k))
	}
	if a.Before != nil {
		out.Before = newTestAsked(a.Before)
		out.Difference = &TestBetween{a.Difference, a.DifferenceLow, a.DifferenceHigh}
	}
	return out
}

func newTestListing(l *regress.ListingChange, diffs differ) *TestListing {
	out := &TestListing{Before: testSize(&l.Before), After: testSize(&l.After), Changes: []TestChange{}}
	for _, c := range l.Changes {
		x := TestChange{Skill: c.Skill, Before: string(c.Before), After: string(c.After), Edited: c.Own, CharsBefore: c.CharsBefore, CharsAfter: c.CharsAfter,
			TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter, TextBefore: Text(c.TextBefore), TextAfter: Text(c.TextAfter)}
		if c.TextBefore != c.TextAfter && c.Before != replay.ShownAbsent && c.After != replay.ShownAbsent {
			x.Diff = diffs.of(c.TextBefore, c.TextAfter)
		}
		const most = 20
		x.MoreCauses = max(len(c.Causes)-most, 0)
		for _, cause := range c.Causes[:min(len(c.Causes), most)] {
			x.Causes = append(x.Causes, TestCause{cause.Skill, cause.What, cause.Grew})
		}
		out.Changes = append(out.Changes, x)
	}
	if len(out.Changes) > 0 {
		for _, p := range l.Lines {
			last := len(out.Lines) - 1
			switch {
			case p.Before != p.After:
				out.Lines = append(out.Lines, TestLine{Skill: p.Skill, Before: Text(p.Before), After: Text(p.After)})
			case last >= 0 && out.Lines[last].Same > 0:
				out.Lines[last].Same++
			default:
				out.Lines = append(out.Lines, TestLine{Same: 1})
			}
		}
	}
	return out
}

func testSize(z *regress.Size) TestSize {
	return TestSize{z.Chars, z.Demand, z.Budget, z.Tokens, z.Full, z.Shortened, z.NameOnly, z.Absent}
}

// at is the line of the spec to look at: of the first expectation that fails, else of the
// case.
func (c *TestCase) at() int {
	if x := c.Details; x != nil {
		for _, v := range x.Visible {
			if v.Verdict == c.Verdict && v.Line > 0 && c.Verdict != string(regress.Passed) {
				return v.Line
			}
		}
		for _, l := range x.Lexical {
			if l.Verdict == c.Verdict && l.Line > 0 && c.Verdict != string(regress.Passed) {
				return l.Line
			}
		}
	}
	return c.Line
}

// reasons are why a case did not pass, one for each expectation.
func (c *TestCase) reasons() []string {
	rest := c.Reason
	var out []string
	if c.Details != nil {
		for _, v := range c.Details.Visible {
			if after, ok := strings.CutPrefix(rest, v.Reason); ok && v.Reason != "" && (after == "" || strings.HasPrefix(after, "; ")) {
				out = append(out, v.Reason)
				rest = strings.TrimPrefix(after, "; ")
			}
		}
	}
	if rest != "" {
		out = append(out, rest)
	}
	return out
}

// gravity orders cases by how much they ask for a look.
func (c *TestCase) gravity() int {
	switch v := regress.Verdict(c.Verdict); {
	case v == regress.Failed && c.Change == string(regress.Broken):
		return 0
	case v == regress.Failed:
		return 1
	case v == regress.Errored:
		return 2
	case v == regress.Inconclusive:
		return 3
	case c.Change == string(regress.Fixed):
		return 4
	case v == regress.Passed:
		return 5
	}
	return 6
}

// open are the cases that did not pass, and those that a change fixed; of a verbose style
// all. The worst stand first, those of one kind in the order of the spec.
func (d *TestDocument) open(verbose bool) []*TestCase {
	var out []*TestCase
	for i := range d.Cases {
		if c := &d.Cases[i]; verbose || c.gravity() < 5 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *TestCase) int { return a.gravity() - b.gravity() })
	return out
}

// sentence sums the totals up.
func (t *TestTotals) sentence() string {
	var parts []string
	add := func(n int, word string) {
		if n > 0 {
			parts = append(parts, count(n)+" "+word)
		}
	}
	add(t.Failed, "failed")
	add(t.Errored, "errored")
	add(t.Inconclusive, "inconclusive")
	add(t.Passed, "passed")
	add(t.Skipped, "skipped")
	if len(parts) == 0 {
		return "no cases"
	}
	text := strings.Join(parts, ", ")
	parts = nil
	add(t.Broken, "broken")
	add(t.Fixed, "fixed")
	if len(parts) > 0 {
		text += "; against the baseline " + strings.Join(parts, ", ")
	}
	return text
}

// advice says what to do where nothing was judged, "" where something was.
func (d *TestDocument) advice() string {
	t := &d.Totals
	switch {
	case d.Outcome == string(regress.Skipped):
		return "Nothing was judged: all are skipped. Take skip out of a case, or name a scorer that judges what it expects (--scorer)."
	case d.Outcome != string(regress.Inconclusive):
		return ""
	case t.Passed > 0:
		return fmt.Sprintf("Inconclusive: %s could not be asked or read, and what was not judged did not pass. Each says why.", plural(t.Errored, "check"))
	case len(d.Cases) == 0:
		return "Nothing was judged: there is no case here."
	}
	return "Nothing could be judged, and a run that judges nothing does not pass. Each case says what is missing: skill files that the session had (skills, baseline), a skill in the listing, or another prompt."
}
