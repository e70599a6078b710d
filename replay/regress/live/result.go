package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
)

// Result is what the model did with one question.
type Result struct {
	ID string
	// Samples in the order of their indices, one for each time it was to be asked.
	Samples []Sample
	// Rate has the hits of the replies that answer: a call of an expected skill, or no
	// Skill call where none is expected.
	Rate Rate
	// First are the hits in which the expected skill was the reply's first tool call,
	// Late those in which it came behind other calls. Both are hits. They are 0 where
	// no skill is expected.
	First, Late int
	// Behind are those of Late in which another skill was called before.
	Behind int
	// Chosen are the skills called, the most frequent first, then by name.
	Chosen []Chosen
	// None are the answers without a Skill call. A sample ends with the first tool
	// calls: in OtherTools of them the model called other tools, and may have called a
	// skill later.
	None, OtherTools int
	// Errored are the samples that answer nothing: no reply, or one that was cut off
	// before it was decided. They are in no other count.
	Errored int
	// Why says for each sample why it is errored; "" for the others.
	Why []string
	// Cost is that of the calls made in this run; nothing for a model without a price.
	Cost budget.Amount
}

// Chosen is how often a skill was called.
type Chosen struct {
	Skill string // "" for Skill calls without a readable name
	// Replies with a call of it, and those in which it was the first skill called.
	Replies, First int
	Expected       bool
}

// count sums the samples up.
func (r *Result) count(e Expect) {
	r.Why = make([]string, len(r.Samples))
	chosen := map[string]*Chosen{}
	for i := range r.Samples {
		s := &r.Samples[i]
		tool, place := s.called(e)
		skills := s.skills()
		// A call that was made stays made, however the reply ended.
		decided := tool > 0 || len(e.Any) == 0 && len(skills) > 0
		why := s.Err
		if why == "" && !decided {
			why = s.open()
		}
		if why != "" {
			r.Errored++
			r.Why[i] = why
			continue
		}
		r.Rate.Of++
		switch {
		case tool == 1:
			r.First++
		case tool > 1:
			r.Late++
			if place > 1 {
				r.Behind++
			}
		}
		if tool > 0 || len(e.Any) == 0 && len(skills) == 0 {
			r.Rate.Hits++
		}
		if len(skills) == 0 {
			r.None++
			if len(s.Calls) > 0 {
				r.OtherTools++
			}
		}
		for j, name := range skills {
			c := chosen[name]
			if c == nil {
				c = &Chosen{Skill: name, Expected: slices.ContainsFunc(e.Any, func(x string) bool { return bareName(x) == name })}
				chosen[name] = c
			}
			if slices.Index(skills, name) == j {
				c.Replies++
			}
			if j == 0 {
				c.First++
			}
		}
	}
	for _, c := range chosen {
		r.Chosen = append(r.Chosen, *c)
	}
	slices.SortFunc(r.Chosen, func(a, b Chosen) int {
		return cmp.Or(cmp.Compare(b.Replies, a.Replies), cmp.Compare(a.Skill, b.Skill))
	})
}

// Verdict is what a result comes to.
type Verdict string

const (
	Passed       Verdict = "passed"
	Failed       Verdict = "failed"
	Errored      Verdict = "errored"
	Inconclusive Verdict = "inconclusive"
)

// What holds where a Rule leaves a value at 0.
const (
	DefaultThreshold  = 0.8
	DefaultMinSamples = 5
)

// Rule says which rate passes.
type Rule struct {
	// Threshold is the least rate that passes, above 0 and up to 1.
	Threshold float64
	// MinSamples is the least number of replies that a verdict rests on. 0:
	// DefaultMinSamples, or all that were asked for where that is less.
	MinSamples int
}

// Judge gives a verdict and the reason for it, one line.
//
//   - errored: no sample answered, or so many did not that they decide on which side
//     of the threshold the rate lies. Samples that could not change that, whatever
//     they had been, do not stand in the way of a verdict.
//   - inconclusive: fewer answers than MinSamples; or the rate is below the threshold
//     but its Wilson interval reaches it, so that chance explains it.
//   - passed: the rate is at the threshold or above, with errored samples held for
//     misses.
//   - failed: the rate is below the threshold, and so is the whole interval.
//
// To pass, the rate has to reach the threshold and its interval does not: at 0.8 that
// would take 16 hits of 16.
func (r *Result) Judge(rule Rule) (Verdict, string) {
	threshold := cmp.Or(rule.Threshold, DefaultThreshold)
	all := r.Rate.Of + r.Errored
	least := cmp.Or(rule.MinSamples, min(DefaultMinSamples, all))
	says := fmt.Sprintf("%d of %d", r.Rate.Hits, r.Rate.Of)
	if r.Errored > 0 {
		says += fmt.Sprintf(", and %d errored", r.Errored)
	}
	reaches := func(hits int) bool { return float64(hits) >= threshold*float64(all)-1e-9 }
	high := r.Rate.Interval().High
	switch {
	case r.Rate.Of == 0:
		return Errored, r.firstError()
	case reaches(r.Rate.Hits) != reaches(r.Rate.Hits+r.Errored):
		return Errored, says + ": " + r.firstError()
	case r.Rate.Of < least:
		return Inconclusive, fmt.Sprintf("%s: a verdict takes %d answers", says, least)
	case reaches(r.Rate.Hits):
		return Passed, fmt.Sprintf("%s: at or above %s", says, percent(threshold))
	case high < threshold:
		return Failed, fmt.Sprintf("%s: below %s, with the interval up to %s", says, percent(threshold), percent(high))
	}
	return Inconclusive, fmt.Sprintf("%s: below %s, but the interval reaches up to %s; ask more often", says, percent(threshold), percent(high))
}

func percent(x float64) string {
	s := strings.TrimSuffix(fmt.Sprintf("%.1f", 100*x), ".0")
	return s + " %"
}

func (r *Result) firstError() string {
	for _, why := range r.Why {
		if why != "" {
			return why
		}
	}
	return "nothing was asked"
}
