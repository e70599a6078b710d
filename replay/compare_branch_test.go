package replay_test

import (
	"testing"

	"github.com/skilltrace/skilltrace/replay"
)

// TestCompareBranches: what was due on a branch that was left is not due on the
// one that went on.
func TestCompareBranches(t *testing.T) {
	s := observe(t, user("a", "", "one"), listing("b", "a", true, "- k: K."), assistant("c", "b", "m1", text("x")),
		user("d", "c", command("k", "")), user("e", "c", "two"), assistant("f", "e", "m2", text("y")))
	equal(t, "events", parents(s.Main()), "prompt@1<- noticed@2<1 listing@2<2 turn@3<2 slash(k)@4!<3 prompt@5<3 turn@6<5")
	want := append(right()[:1], replay.Effect{Kind: replay.Body, Cause: 4, Skill: "k", Text: "Body."}, replay.Effect{Kind: replay.Listing, Cause: 4, Text: "- n: N."})
	equal(t, "checks", verdicts(replay.Compare(s.Main(), want, replay.Gather(s, s.Main()), replay.Comparison{Exact: true, RulesExact: true})), "listing@2 match; invariant@2 match")
}

// TestBranchState: a branch that was left can be written behind the one that goes
// on. What it loaded does not stand in the conversation.
func TestBranchState(t *testing.T) {
	s := observe(t, user("a", "", "zero"), user("c", "a", "one"), user("d", "a", "two"),
		assistant("e", "c", "m1", skillUse("t1", "k")), launched("f", "e", "t1", "k"), body("g", "f", "t1", bodyText("k", "Do.\n")),
		assistant("h", "d", "m2", skillUse("t2", "k")), launched("i", "h", "t2", "k"), body("j", "i", "t2", bodyText("k", "Do.\n")), assistant("l", "j", "m3", text("x")))
	equal(t, "events", parents(s.Main()), "prompt@1<- prompt@2!<1 prompt@3<1 turn@4!<2 skill_call(k)@4!<4 launched(k)@5!<4 body(k)@6!<5 turn@7<3 skill_call(k)@7<7 launched(k)@8<7 body(k)@9<8 turn@10<9")
	started(s)
	in := inputs(t, "2.1.332", tree(t, ".claude/skills/k/SKILL.md", "---\ndescription: K.\n---\nDo.\n"))
	for _, c := range replay.Run(s, in, replay.Comparison{Exact: true, RulesExact: true}).Agents[0].Checks {
		if c.Verdict == replay.Divergent && c.Kind != replay.CheckListing {
			t.Errorf("%s at line %d: %s\nexpected %q\nobserved %q", c.Kind, c.Where.Line, c.Reason, c.Expected, c.Observed)
		}
	}
}
