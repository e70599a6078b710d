package mine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
)

// Settle gives cases of a fixture what the scorers find of them now: the places of their
// skills by words and, where the skills of a set stand otherwise than those of the log,
// how they stand. Such a case is marked for review. A case that cannot be judged now is
// to be skipped, and says why. A nil set stands for the log's own state.
func Settle(s *regress.Session, set *regress.Set, cases []Case) []Case {
	out := slices.Clone(cases)
	for i := range out {
		c := &out[i]
		c.Skills = slices.Clone(c.Skills)
		for _, res := range c.judge(s, set) {
			for _, d := range res.Lexical {
				if k := c.skill(d.Skill); k != nil {
					k.Rank = d.Rank
				}
			}
			for _, d := range res.Visible {
				c.stands(&d)
			}
		}
		for _, res := range c.judge(s, set) {
			if res.Verdict != regress.Passed && res.Verdict != regress.Skipped {
				c.Skip = cmp.Or(c.Skip, res.Reason, string(res.Verdict))
			}
		}
	}
	return out
}

// judge runs the scorers that ask nobody on what a case expects so far.
func (c *Case) judge(s *regress.Session, set *regress.Set) []regress.Result {
	want := spec.Case{At: spec.At{Prompt: c.Prompt}, Expect: spec.Expect{Visible: c.visible(), Triggers: &spec.Triggers{Any: skillNames(c)}, Rank: c.ranks()}}
	results, _, _ := s.Run(&want, []spec.Scorer{spec.ScoreVisible, spec.ScoreLexical}, set, nil)
	return results
}

// visible is how the skills of a case are expected to stand. Of one that is predicted, or
// that nobody can know, nothing is.
func (c *Case) visible() []spec.Visible {
	var out []spec.Visible
	for _, k := range c.Skills {
		if c.Listed > 0 && !c.Predicted && !k.Open {
			out = append(out, spec.Visible{Skill: k.Name, Shown: k.Shown})
		}
	}
	return out
}

// within are the places that a rank is rounded up to: what is behind the last says
// nothing.
var within = []int{1, 3, 5, 10}

// ranks are the places that the skills of a case are expected to keep.
func (c *Case) ranks() []spec.Rank {
	var out []spec.Rank
	for _, k := range c.Skills {
		if i := slices.IndexFunc(within, func(n int) bool { return k.Rank > 0 && k.Rank <= n }); i >= 0 {
			out = append(out, spec.Rank{Skill: k.Name, Within: within[i]})
		}
	}
	return out
}

func (c *Case) skill(name string) *Skill {
	if i := slices.IndexFunc(c.Skills, func(k Skill) bool { return k.Name == name }); i >= 0 {
		return &c.Skills[i]
	}
	return nil
}

// stands takes how a skill stands now.
func (c *Case) stands(d *regress.VisibleDetail) {
	k := c.skill(d.Skill)
	switch {
	case k == nil || d.Verdict == regress.Passed:
	case d.Verdict == regress.Inconclusive:
		k.Open = true
	case d.Actual != k.Shown:
		note := fmt.Sprintf("%s was %s in the session and is %s by the files read now", plain(k.Name), regress.Words(k.Shown), regress.Words(d.Actual))
		if c.Review != "" {
			note = c.Review + "; " + note
		}
		c.Review, k.Shown = note, d.Actual
	}
}
