package budget

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Apportion divides total into one whole number for each weight, in proportion,
// so that they sum to total exactly: each gets its share rounded down, and what
// remains goes to the largest remainders, ties by index. Weights that are not
// above 0 (or no number) get nothing; infinite ones count as the greatest number.
// Where no weight is above 0, all count alike. A negative total is divided like a
// positive one. Without weights there is no result.
func Apportion(total int64, weights []float64) []int64 {
	if len(weights) == 0 {
		return nil
	}
	if total < 0 {
		out := Apportion(-max(total, -math.MaxInt64), weights)
		for i := range out {
			out[i] = -out[i]
		}
		if total == math.MinInt64 {
			out[0]--
		}
		return out
	}
	w, sum := integerWeights(weights)
	out := make([]int64, len(w))
	rest := make([]uint64, len(w))
	left := total
	for i, x := range w {
		hi, lo := bits.Mul64(uint64(total), x)
		q, r := bits.Div64(hi, lo, sum) // x <= sum, so the quotient fits
		out[i], rest[i] = int64(q), r
		left -= int64(q)
	}
	handOut(out, rest, left)
	return out
}

// integerWeights turns weights into whole numbers in proportion, with their sum,
// which is above 0 and below 2^63. Whole weights stay as they are where they can;
// others are scaled by a power of two, which leaves them 40 bits or more.
func integerWeights(weights []float64) ([]uint64, uint64) {
	out := make([]uint64, len(weights))
	greatest, whole, sum := 0.0, true, 0.0
	for i := range weights {
		x := weight(weights, i)
		greatest = max(greatest, x)
		sum += x
		whole = whole && x == math.Trunc(x)
	}
	if greatest == 0 {
		for i := range out {
			out[i] = 1
		}
		return out, uint64(len(out))
	}
	shift := 0
	if !whole || sum >= 1<<62 {
		// The greatest becomes less than 2^62 divided by the number of weights.
		_, exp := math.Frexp(greatest)
		shift = 62 - bits.Len(uint(len(weights))) - exp
	}
	var total uint64
	for i := range weights {
		out[i] = uint64(math.Ldexp(weight(weights, i), shift))
		total += out[i]
	}
	return out, total
}

// weight is the usable part of a weight.
func weight(weights []float64, i int) float64 {
	if x := weights[i]; x > 0 {
		return min(x, math.MaxFloat64)
	}
	return 0
}

// handOut adds n units, one each, to the parts with the largest remainders, ties
// by index; a negative n takes units from the smallest, last index first.
func handOut(parts []int64, rest []uint64, n int64) {
	if n == 0 || len(parts) == 0 {
		return
	}
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for k := 0; n > 0 && k < len(order); k, n = k+1, n-1 {
		parts[order[k]]++
	}
	for k := len(order) - 1; n < 0 && k >= 0; k-- {
		if parts[order[k]] > 0 {
			parts[order[k]]--
			n++
		}
	}
}
