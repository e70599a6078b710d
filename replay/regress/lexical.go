package regress

import (
	"fmt"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/lexical"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
)

// LexicalDetail is the place of a skill by the words of a prompt.
type LexicalDetail struct {
	Skill  string
	Line   int // of the spec; 0 for one that nothing is expected of
	Within int
	// Rank is the place among all Listed, from 1; skills with one score share the better
	// place. 0: it shares no word with the prompt, or is not listed.
	Rank, Baseline, Listed int
	Score                  float64
	// Margin is by how much its score is above the best other's, below 0 if that is more.
	Margin  float64
	Best    string   // the skill that ranks first, "" if none shares a word
	Shared  []string // the words that it shares with the prompt, the rarest first
	Verdict Verdict
	Reason  string
}

// ranking are the scores of all entries that stand.
type ranking struct {
	state  *State
	index  *lexical.Index
	scores []float64
	prompt string
}

// Ranking ranks the entries of a state by the words of a prompt.
func (st *State) ranking(prompt string) *ranking {
	docs := make([]lexical.Document, len(st.Entries))
	for i := range st.Entries {
		docs[i] = lexical.Described(st.Entries[i].Name, st.Entries[i].Description)
	}
	x := lexical.NewWeighted(docs)
	return &ranking{st, x, x.Scores(prompt), prompt}
}

// place is the rank of a skill, and the best of the others.
func (r *ranking) place(name string) (rank int, score, margin float64, best string, shared []string) {
	at, top := -1, -1
	for i := range r.state.Entries {
		if r.state.Entries[i].Name == name && r.state.Entries[i].Shown != replay.ShownAbsent {
			at = i
		}
		if top < 0 || r.scores[i] > r.scores[top] {
			top = i
		}
	}
	if top >= 0 && r.scores[top] > 0 {
		best = r.state.Entries[top].Name
	}
	if at < 0 {
		return 0, 0, 0, best, nil
	}
	other := 0.0
	score = r.scores[at]
	for i := range r.scores {
		if i != at {
			other = max(other, r.scores[i])
		}
	}
	shared = r.index.Shared(r.prompt, at)
	return r.rank(at), score, score - other, best, shared
}

// rank is the place of an entry, from 1; entries with one score share the better one.
func (r *ranking) rank(at int) int {
	if r.scores[at] <= 0 {
		return 0
	}
	rank := 1
	for _, score := range r.scores {
		if score > r.scores[at] {
			rank++
		}
	}
	return rank
}

// lexical judges a case by the words that the prompt and the descriptions share.
func (p *Point) lexical(c *spec.Case, b *Both, out *Result) {
	if b.ranks == nil {
		b.ranks = &[2]*ranking{b.Before.ranking(p.Text), b.After.ranking(p.Text)}
	}
	before, now := b.ranks[0], b.ranks[1]
	out.Assumed = b.assumed()
	verdict, base := Skipped, Skipped
	var reasons []string
	take := func(d LexicalDetail) {
		d.Listed = len(b.After.Entries)
		d.Rank, d.Score, d.Margin, d.Best, d.Shared = now.place(d.Skill)
		d.Baseline, _, _, _, _ = before.place(d.Skill)
		if d.Within > 0 {
			judge := func(rank int) Verdict {
				if rank > 0 && rank <= d.Within {
					return Passed
				}
				return Failed
			}
			d.Verdict = judge(d.Rank)
			base = worse(base, judge(d.Baseline))
			if b.After.Of(d.Skill) == replay.ShownAbsent {
				d.Verdict, d.Reason = Inconclusive, b.NoSignal(&spec.Triggers{Any: []string{d.Skill}})
			} else if d.Verdict == Failed {
				d.Reason = d.failure()
			}
			verdict = worse(verdict, d.Verdict)
			if d.Reason != "" {
				reasons = append(reasons, d.Reason)
			}
		}
		out.Lexical = append(out.Lexical, d)
	}
	for _, want := range c.Expect.Rank {
		take(LexicalDetail{Skill: want.Skill, Line: want.Line, Within: want.Within})
	}
	if t := c.Expect.Triggers; t != nil {
		for _, name := range t.Any {
			if !out.ranks(name) {
				take(LexicalDetail{Skill: name})
			}
		}
	}
	out.Verdict, out.Baseline, out.Reason = verdict, base, strings.Join(reasons, "; ")
}

func (r *Result) ranks(name string) bool {
	for i := range r.Lexical {
		if r.Lexical[i].Skill == name {
			return true
		}
	}
	return false
}

// failure says where a skill stands in place of where it should.
func (d *LexicalDetail) failure() string {
	if d.Rank == 0 {
		text := fmt.Sprintf("%s shares no word with the prompt that tells skills apart", d.Skill)
		if d.Best != "" {
			text += "; " + d.Best + " ranks first"
		}
		return text
	}
	text := fmt.Sprintf("%s ranks %d of %d by words, not within %d", d.Skill, d.Rank, d.Listed, d.Within)
	if d.Best != "" && d.Best != d.Skill {
		text += "; " + d.Best + " ranks first"
	}
	if d.Baseline > 0 && d.Baseline != d.Rank {
		text += fmt.Sprintf(" (it ranked %d before)", d.Baseline)
	}
	return text
}
