package regress_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/skills"
)

// FuzzRun: whatever a listing, a candidate and an expectation hold, each scorer gives one
// verdict with its reason, the same twice; candidates that change nothing change nothing.
func FuzzRun(f *testing.F) {
	f.Add("- commit: Writes a commit.\n- migrate: Runs it.", "run the pending migration", "migrate", "---\ndescription: Runs it well.\n---\n", "migrate", uint8(0), 1)
	f.Add(strings.Join(crowd(17, 500), "\n"), "crowd", "crowd-00", "---\ndescription: "+strings.Repeat("z", 800)+"\n---\n", "crowd-16", uint8(1), 3)
	f.Add(strings.Join(crowd(17, 500), "\n"), "crowd", "crowd-00", "---\ndescription: "+strings.Repeat("z", 800)+"\n---\n", "crowd-16", uint8(0), 3)
	f.Add("- p:a: One.\n- 你好", "", "a", "---\ndisable-model-invocation: true\ndescription: x\n---\n", "p:a", uint8(2), 0)
	f.Add("- a: x…\n- a", "\xed\xa0\xbd", "new", "\x00\xff", "", uint8(3), -1)
	f.Add("- a: One.", "a", "a", "---\npaths: '[a-z'\ndescription: x\n---\n", "a", uint8(7), 2)
	f.Fuzz(func(t *testing.T, listing, prompt, folder, file, skill string, kind uint8, within int) {
		if len(listing) > 10_000 || len(file) > 4_000 || len(prompt) > 1_000 || strings.ContainsAny(folder, "/\x00") || folder == "" || folder == "." || folder == ".." || !utf8.ValidString(folder) {
			return
		}
		version := []string{"2.0.60", "2.1.50", "2.1.200", new1}[kind%4]
		b := &book{version: version}
		b.prompt(prompt)
		b.listing(true, strings.Split(listing, "\n- ")...)
		b.say("done")
		tree := skills.NewMemory()
		if tree.Mkdir("/skills") != nil || tree.Write("/skills/"+folder+"/SKILL.md", []byte(file)) != nil {
			return
		}
		s := b.session(t)
		c := &spec.Case{Name: "x", At: spec.At{Prompt: 1}, Expect: spec.Expect{
			Visible:  []spec.Visible{{Skill: skill, Shown: spec.Forms[kind/4%4]}, {Skill: folder, Shown: replay.ShownFull}},
			Triggers: &spec.Triggers{Any: []string{skill}}, Rank: []spec.Rank{{Skill: folder, Within: max(within, 1)}}}}
		if kind >= 128 {
			c.Expect.Triggers.Any = nil
		}
		scorers := []spec.Scorer{spec.ScoreVisible, spec.ScoreLexical}
		set := regress.NewSet("skills", tree, []string{"/skills"})
		run := func(s *regress.Session, set, base *regress.Set) ([]regress.Result, string) {
			got, size, _ := s.Run(c, scorers, set, base)
			text, err := json.Marshal([]any{got, size})
			if err != nil {
				t.Fatal(err)
			}
			return got, stripTemp(string(text))
		}
		got, text := run(s, set, nil)
		if _, again := run(s, set, nil); again != text {
			t.Fatalf("two runs differ:\n%s\n%s", text, again)
		}
		if _, again := run(b.session(t), set, nil); again != text {
			t.Fatalf("two sessions differ:\n%s\n%s", text, again)
		}
		if len(got) != len(scorers) {
			t.Fatalf("%d results", len(got))
		}
		for _, r := range got {
			if !slices.Contains(regress.Verdicts, r.Verdict) || r.Verdict != regress.Passed && r.Reason == "" {
				t.Fatalf("%+v", r)
			}
			judged := func(v regress.Verdict) bool { return v == regress.Passed || v == regress.Failed }
			if (r.Change != "") != (judged(r.Verdict) && judged(r.Baseline)) || r.Change == regress.Same && r.Verdict != r.Baseline ||
				r.Change == regress.Fixed && r.Verdict != regress.Passed || r.Change == regress.Broken && r.Verdict != regress.Failed {
				t.Fatalf("%s against %s is %q", r.Verdict, r.Baseline, r.Change)
			}
			for _, v := range r.Visible {
				if r.Verdict == regress.Passed && (v.Verdict != regress.Passed || v.Actual != v.Expected) {
					t.Fatalf("passed with %+v", v)
				}
			}
			if r.Listing == nil {
				continue
			}
			if (len(r.Listing.Changes) > 0) != (len(r.Listing.Lines) > 0) {
				t.Fatalf("%d changes, %d lines", len(r.Listing.Changes), len(r.Listing.Lines))
			}
			for _, x := range r.Listing.Changes {
				for _, cause := range x.Causes {
					if cause.Skill == x.Skill || cause.What == "" {
						t.Fatalf("%s by %+v", x.Skill, cause)
					}
				}
			}
		}
		for _, same := range [][2]*regress.Set{{nil, nil}, {set, set}} {
			got, _ := run(s, same[0], same[1])
			if l := got[0].Listing; l != nil && len(l.Changes) > 0 {
				t.Fatalf("nothing is another and %+v", l.Changes)
			}
			if got[0].Change != "" && got[0].Change != regress.Same {
				t.Fatalf("nothing is another and it is %s", got[0].Change)
			}
		}
	})
}
