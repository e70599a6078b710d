package live

import "math"

// Rate is a number of hits of a number of replies.
type Rate struct{ Hits, Of int }

// Interval is a range of rates, or of differences of rates.
type Interval struct{ Low, High float64 }

// z95 is the quantile of the normal distribution for 95 % between both sides.
const z95 = 1.959963984540054

// Value is the share of hits; 0 where there are no replies.
func (r Rate) Value() float64 {
	if r.Of <= 0 {
		return 0
	}
	return float64(r.Hits) / float64(r.Of)
}

// Interval is Wilson's score interval at 95 %, without continuity correction (Wilson,
// J. Am. Stat. Assoc. 22, 1927; method 3 of Newcombe, Stat. Med. 17, 1998, 857–872).
// Without replies it is all that can be.
func (r Rate) Interval() Interval {
	if r.Of <= 0 {
		return Interval{0, 1}
	}
	n, p := float64(r.Of), r.Value()
	const zz = z95 * z95
	mid := (2*n*p + zz) / (2 * (n + zz))
	half := z95 * math.Sqrt(zz+4*n*p*(1-p)) / (2 * (n + zz))
	in := Interval{max(mid-half, 0), min(mid+half, 1)}
	// At the ends the interval reaches the rate; what is computed may miss it by a bit.
	if r.Hits == 0 {
		in.Low = 0
	}
	if r.Hits == r.Of {
		in.High = 1
	}
	return in
}

// Difference is how much higher one rate is than another.
type Difference struct {
	Value float64
	Interval
}

// Minus is r less the rate of a baseline, with the interval at 95 % of two independent
// rates that is made of their Wilson intervals (method 10 of Newcombe, Stat. Med. 17,
// 1998, 873–890). Where one has no replies, nothing is known and the interval is all
// that can be.
func (r Rate) Minus(baseline Rate) Difference {
	if r.Of <= 0 || baseline.Of <= 0 {
		return Difference{0, Interval{-1, 1}}
	}
	p, q := r.Value(), baseline.Value()
	a, b := r.Interval(), baseline.Interval()
	d := p - q
	return Difference{d, Interval{
		Low:  max(d-math.Hypot(p-a.Low, b.High-q), -1),
		High: min(d+math.Hypot(a.High-p, q-b.Low), 1),
	}}
}

// Change is what a difference says.
type Change string

const (
	Better  Change = "better"  // the whole interval is above 0
	Worse   Change = "worse"   // the whole interval is below 0
	Unclear Change = "unclear" // it holds 0: chance can explain the difference
)

// Change is what the difference says at 95 %.
func (d Difference) Change() Change {
	switch {
	case d.Low > 0:
		return Better
	case d.High < 0:
		return Worse
	}
	return Unclear
}
