package why_test

import (
	"fmt"
	"testing"

	"github.com/skilltrace/skilltrace/replay/why"
)

// TestCensus: what is counted for all skills at once is what the questions for each of
// them say, over the same sessions: those too that do not name it.
func TestCensus(t *testing.T) {
	var sessions []*why.Session
	for i := range suite {
		s, _ := suite[i].ask(t)
		sessions = append(sessions, s)
	}
	var census why.Census
	for i := range sessions {
		n := len(sessions) - 1 - i // in any order
		census.Add(n, sessions[n])
	}
	all := census.Skills()
	if len(all) < 20 {
		t.Fatalf("%d skills", len(all))
	}
	prompts := 0
	for _, s := range sessions {
		prompts += s.Prompts()
	}
	unknown := 0
	for i := range all {
		k := &all[i]
		var want why.Tally
		for _, s := range sessions {
			want.Add(s.Tally(s.Ask(k.Name)))
		}
		if got, want := fmt.Sprint(k.Tally), fmt.Sprint(want); got != want {
			t.Errorf("%s:\ncounted at once %s\nasked for       %s", k.Name, got, want)
		}
		if k.Tally.Sessions != len(sessions) || k.Tally.Prompts != prompts {
			t.Errorf("%s: %d sessions and %d prompts, want %d and %d", k.Name, k.Tally.Sessions, k.Tally.Prompts, len(sessions), prompts)
		}
		if k.Tally.Known < len(sessions) {
			unknown++
		}
		v, ok := k.Tally.Worst()
		if !ok || k.Example == nil || k.Example.Gate != v.Gate || k.Example.State != v.State {
			t.Errorf("%s: example %v of %v", k.Name, k.Example, v)
		}
		if v.Gate == why.Exists && v.Unknown == v.Prompts && len(k.Tally.Verdicts) > 2 {
			t.Errorf("%s: sessions that do not know it decide: %v", k.Name, k.Tally.Verdicts)
		}
	}
	if unknown == 0 {
		t.Error("every session knows every skill")
	}
}

// TestRank is the order of skills: the worst first.
func TestRank(t *testing.T) {
	verdict := func(g why.Gate, s why.State, n int) []why.VerdictCount {
		return []why.VerdictCount{{Gate: g, State: s, Prompts: n}}
	}
	tallies := []why.Tally{
		{Verdicts: verdict(why.Exists, why.Failed, 1)},
		{Verdicts: verdict(why.Announced, why.Failed, 3)},
		{Verdicts: verdict(why.Announced, why.Failed, 2)},
		{Verdicts: verdict(why.Described, why.Failed, 9)},
		{Refused: 1, Verdicts: verdict(why.Called, why.Failed, 1)},
		{Verdicts: verdict(why.Exists, why.Undetermined, 5)},
		{},
		{Verdicts: verdict(why.Called, why.Failed, 9)},
		{ByModel: 5, Rejected: 1, Verdicts: verdict(why.Called, why.Failed, 1)},
		{ByUser: 1, Verdicts: verdict(why.Announced, why.Failed, 8)},
		{ByModel: 2, Verdicts: verdict(why.Called, why.Passed, 1)},
	}
	for i := 1; i < len(tallies); i++ {
		a, b := tallies[i-1].Rank(), tallies[i].Rank()
		if fmt.Sprint(a) == fmt.Sprint(b) || !before(a, b) {
			t.Errorf("%v %v is not before %v %v", tallies[i-1], a, tallies[i], b)
		}
	}
}

func before(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
