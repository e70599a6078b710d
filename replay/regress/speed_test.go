package regress_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
)

// wide is a session with a listing of n entries, and candidates that change k of them.
func wide(t testing.TB, n, k int) (*regress.Session, *regress.Set) {
	var entries []string
	files := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("skill-%04d", i)
		if i >= n-n/4 {
			entries = append(entries, "- "+name) // pushed out already
			continue
		}
		entries = append(entries, "- "+name+": "+strings.Repeat("y", 20+i%7))
		if i%(n/k) == 0 {
			files[name] = strings.Repeat("z", 60+i%5)
		}
	}
	return basic(new1, entries...).session(t), set(t, files)
}

// The changes of many descriptions in a large listing, and what caused each.
func BenchmarkCauses(bm *testing.B) {
	for _, size := range []struct{ entries, edits int }{{400, 20}, {2000, 100}} {
		bm.Run(fmt.Sprintf("%d entries, %d edits", size.entries, size.edits), func(bm *testing.B) {
			s, set := wide(bm, size.entries, size.edits)
			c := &spec.Case{Name: "x", At: spec.At{Prompt: 1}, Expect: shown("skill-0000", "full")}
			bm.ReportAllocs()
			for bm.Loop() {
				got, _, _ := s.Run(c, []spec.Scorer{spec.ScoreVisible}, set, nil)
				if len(got[0].Listing.Changes) < size.edits {
					bm.Fatal(got[0].Verdict, len(got[0].Listing.Changes))
				}
			}
		})
	}
}
