package replay_test

import (
	"testing"

	"github.com/skilltrace/skilltrace/replay"
)

// TestCompareLaterListing: where the log shows why a listing came, what is missing is
// what was due then, not its cause.
func TestCompareLaterListing(t *testing.T) {
	const (
		whole = `"type":"skill_listing","content":"- k: K.","names":["k"],"isInitial":true`
		more  = `"type":"skill_listing","content":"- n: N.","names":["n"],"isInitial":false`
	)
	noFiles := []replay.Effect{{Kind: replay.Listing, Cause: 0, Initial: true, Missing: "skill files", Reason: "none"}}
	for _, tt := range []struct {
		name      string
		rows      []string
		predicted []replay.Effect
		want      string
	}{
		{"additions with nothing before them", []string{attachment("d", "c", more)}, nil, "the skill files as they were"},
		{"the same without files", []string{attachment("d", "c", more)}, noFiles, "the skill files as they were"},
		{"the whole with nothing before it", []string{attachment("d", "c", whole)}, nil, "what led to it"},
		{"after a compaction", []string{boundary("d", "c"), summary("e", "d"), attachment("f", "e", whole)}, nil, "the skill files as they were"},
		{"after a compaction without files", []string{boundary("d", "c"), summary("e", "d"), attachment("f", "e", whole)}, noFiles, "skill files"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := observe(t, append([]string{user("a", "", "one"), attachment("b", "a", whole), assistant("c", "b", "m1", text("x"))}, tt.rows...)...)
			checks := replay.Compare(s.Main(), tt.predicted, replay.Gather(s, s.Main()), replay.Comparison{RulesExact: true})
			var last replay.Check
			for _, c := range checks {
				if c.Kind == replay.CheckRelist {
					last = c
				}
			}
			if last.Verdict != replay.Undetermined || last.Missing != tt.want {
				t.Errorf("%s %s (%s), want a later listing, undetermined (%s)", last.Kind, last.Verdict, last.Missing, tt.want)
			}
		})
	}
}
