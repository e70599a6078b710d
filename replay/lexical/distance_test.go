package lexical

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// slow is the distance by its definition.
func slow(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, c := range b {
			next := diagonal
			if r != c {
				next = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 3, 0}, {"a", "a", 3, 0}, {"a", "b", 3, 1}, {"nope", "copy", 3, 2}, {"umber-1", "umber-17", 3, 1}, {"deploy", "depoly", 3, 2},
		{"deploy", "commit", 3, 3}, {"a", "abcd", 3, 3}, {"naïve", "naive", 3, 1}, {"a", "b", 1, 1}, {"", "ab", 3, 2},
		{strings.Repeat("x", 1<<20), strings.Repeat("x", 1<<20-1) + "y", 3, 1},
	} {
		if got := Distance(tt.a, tt.b, tt.limit); got != tt.want {
			t.Errorf("%.20q %.20q %d: %d, want %d", tt.a, tt.b, tt.limit, got, tt.want)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		var b strings.Builder
		for range rnd.IntN(9) {
			b.WriteRune([]rune("abé")[rnd.IntN(3)])
		}
		return b.String()
	}
	for range 20_000 {
		a, b, limit := word(), word(), 1+rnd.IntN(5)
		if got, want := Distance(a, b, limit), min(slow([]rune(a), []rune(b)), limit); got != want {
			t.Fatalf("%q %q %d: %d, want %d", a, b, limit, got, want)
		}
	}
}
