package live

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestWilson: the worked examples of Newcombe, Stat. Med. 17, 1998, 857–872, table I,
// method 3.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		r         Rate
		low, high float64
	}{
		{Rate{81, 263}, 0.2553, 0.3662},
		{Rate{15, 148}, 0.0624, 0.1605},
		{Rate{0, 20}, 0, 0.1611},
		{Rate{1, 29}, 0.0061, 0.1718},
		{Rate{20, 20}, 0.8389, 1},
		{Rate{0, 0}, 0, 1},
	} {
		if got := c.r.Interval(); math.Abs(got.Low-c.low) > 5e-5 || math.Abs(got.High-c.high) > 5e-5 {
			t.Errorf("%v: %v, want %v to %v", c.r, got, c.low, c.high)
		}
	}
}

// TestNewcombe: the worked examples of Newcombe, Stat. Med. 17, 1998, 873–890, table II,
// method 10.
func TestNewcombe(t *testing.T) {
	for _, c := range []struct {
		a, b      Rate
		low, high float64
		change    Change
	}{
		{Rate{56, 70}, Rate{48, 80}, 0.0524, 0.3339, Better},
		{Rate{48, 80}, Rate{56, 70}, -0.3339, -0.0524, Worse},
		{Rate{9, 10}, Rate{3, 10}, 0.1705, 0.8090, Better},
		{Rate{6, 7}, Rate{2, 7}, 0.0582, 0.8062, Better},
		{Rate{5, 56}, Rate{0, 29}, -0.0381, 0.1926, Unclear},
		{Rate{0, 10}, Rate{0, 20}, -0.1611, 0.2775, Unclear},
		{Rate{0, 10}, Rate{0, 10}, -0.2775, 0.2775, Unclear},
		{Rate{10, 10}, Rate{0, 20}, 0.6791, 1, Better},
		{Rate{10, 10}, Rate{0, 10}, 0.6075, 1, Better},
		{Rate{10, 10}, Rate{}, -1, 1, Unclear},
	} {
		got := c.a.Minus(c.b)
		if math.Abs(got.Low-c.low) > 5e-5 || math.Abs(got.High-c.high) > 5e-5 || got.Change() != c.change {
			t.Errorf("%v - %v: %v %s, want %v to %v %s", c.a, c.b, got, got.Change(), c.low, c.high, c.change)
		}
	}
}

func TestIntervalHoldsRate(t *testing.T) {
	for n := range 200 {
		for k := range n + 1 {
			r := Rate{k, n}
			if in := r.Interval(); !(in.Low >= 0 && in.High <= 1 && n == 0 || in.Low <= r.Value() && r.Value() <= in.High) {
				t.Fatalf("%v: %v", r, in)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		hits, of, errored int
		rule              Rule
		want              Verdict
		says              string
	}{
		{10, 10, 0, Rule{}, Passed, "10 of 10: at or above 80 %"},
		{8, 10, 0, Rule{}, Passed, "8 of 10: at or above 80 %"},
		{7, 10, 0, Rule{}, Inconclusive, "7 of 10: below 80 %, but the interval reaches up to 89.2 %; ask more often"},
		{5, 10, 0, Rule{}, Failed, "5 of 10: below 80 %, with the interval up to 76.3 %"},
		{0, 10, 0, Rule{}, Failed, "0 of 10: below 80 %, with the interval up to 27.8 %"},
		{4, 4, 0, Rule{MinSamples: 5}, Inconclusive, "4 of 4: a verdict takes 5 answers"},
		{0, 4, 0, Rule{MinSamples: 5}, Inconclusive, "0 of 4: a verdict takes 5 answers"},
		{0, 4, 6, Rule{}, Inconclusive, "0 of 4, and 6 errored: a verdict takes 5 answers"},
		{1, 1, 0, Rule{}, Passed, "1 of 1: at or above 80 %"},
		{0, 1, 0, Rule{}, Failed, "0 of 1: below 80 %, with the interval up to 79.3 %"},
		{0, 0, 3, Rule{}, Errored, "down"},
		{0, 0, 0, Rule{}, Errored, "nothing was asked"},
		{8, 9, 1, Rule{}, Passed, "8 of 9, and 1 errored: at or above 80 %"},
		{7, 9, 1, Rule{}, Errored, "7 of 9, and 1 errored: down"},
		{0, 9, 1, Rule{}, Failed, "0 of 9, and 1 errored: below 80 %, with the interval up to 29.9 %"},
		{6, 6, 4, Rule{}, Errored, "6 of 6, and 4 errored: down"},
		{3, 10, 0, Rule{Threshold: 0.3}, Passed, "3 of 10: at or above 30 %"},
		{9, 10, 0, Rule{Threshold: 1}, Failed, "9 of 10: below 100 %, with the interval up to 98.2 %"},
		{20, 20, 0, Rule{Threshold: 1}, Passed, "20 of 20: at or above 100 %"},
	} {
		r := Result{Rate: Rate{c.hits, c.of}, Errored: c.errored}
		for range c.errored {
			r.Why = append(r.Why, "down")
		}
		got, says := r.Judge(c.rule)
		if got != c.want || says != c.says || strings.Contains(says, "\n") {
			t.Errorf("%d of %d, %d errored, %+v: %s, %q; want %s, %q", c.hits, c.of, c.errored, c.rule, got, says, c.want, c.says)
		}
	}
}

func ExampleRate_Interval() {
	in := Rate{8, 10}.Interval()
	fmt.Printf("8 of 10: between %.0f %% and %.0f %%\n", 100*in.Low, 100*in.High)
	// Output: 8 of 10: between 49 % and 94 %
}
