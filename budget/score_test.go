package budget

import "testing"

func TestScore(t *testing.T) {
	const day = int64(86_400_000)
	for _, c := range []struct {
		count     int
		last, now int64
		want      float64
	}{
		{0, 0, 0, 0},
		{3, 5 * day, 5 * day, 3},
		{3, 0, 7 * day, 1.5},
		{4, 0, 14 * day, 1},
		{20, 0, 120 * day, 2},
		{1, 0, 23 * day, 0.10254192},
		{1, 0, 24 * day, 0.1},
		{2, 7 * day, 0, 4}, // a clock that was ahead
	} {
		if got := Score(c.count, c.last, c.now); got < c.want-1e-8 || got > c.want+1e-8 {
			t.Errorf("Score(%d, %d, %d) = %v, want %v", c.count, c.last, c.now, got, c.want)
		}
	}
}
