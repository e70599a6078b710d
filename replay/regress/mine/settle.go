package mine

import (
	"fmt"
	"slices"

	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
)

// Settle gives cases of a fixture what the scorers find of them now: the places of their
// skills by words and, where the skills of a set stand otherwise than those of the log,
// how they stand. Such a case is marked for review. A nil set stands for the log's own
// state.
func Settle(s *regress.Session, set *regress.Set, cases []Case) []Case {
	out := slices.Clone(cases)
	for i := range out {
		c := &out[i]
		c.Skills = slices.Clone(c.Skills)
		want := spec.Case{At: spec.At{Prompt: c.Prompt}, Expect: spec.Expect{Triggers: &spec.Triggers{Any: skillNames(c)}}}
		for _, k := range c.Skills {
			want.Expect.Visible = append(want.Expect.Visible, spec.Visible{Skill: k.Name, Shown: k.Shown})
		}
		results, _, _ := s.Run(&want, []spec.Scorer{spec.ScoreVisible, spec.ScoreLexical}, set, nil)
		for j := range results {
			for _, d := range results[j].Lexical {
				if k := c.skill(d.Skill); k != nil {
					k.Rank = d.Rank
				}
			}
			for _, d := range results[j].Visible {
				c.stands(&d)
			}
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
