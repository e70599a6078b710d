package budget

import (
	"math"
	"slices"
	"testing"
)

func TestApportion(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		total   int64
		weights []float64
		want    []int64
	}{
		{10, nil, nil},
		{10, []float64{1}, []int64{10}},
		{10, []float64{1, 1, 1}, []int64{4, 3, 3}},
		{11, []float64{1, 1, 1}, []int64{4, 4, 3}},
		{10, []float64{1, 2, 2}, []int64{2, 4, 4}},
		{100, []float64{0.335, 0.335, 0.33}, []int64{34, 33, 33}},
		{-10, []float64{1, 1, 1}, []int64{-4, -3, -3}},
		{0, []float64{1, 2}, []int64{0, 0}},
		{5, []float64{0, 0}, []int64{3, 2}},
		{5, []float64{-1, nan}, []int64{3, 2}},
		{5, []float64{-1, 2, nan, 0}, []int64{0, 5, 0, 0}},
		{5, []float64{inf, 1}, []int64{5, 0}},
		{4, []float64{inf, inf}, []int64{2, 2}},
		{3, []float64{1e300, 2e300}, []int64{1, 2}},
		{3, []float64{5e-324, 1e-323}, []int64{1, 2}},
		{math.MaxInt64, []float64{1, 1}, []int64{math.MaxInt64/2 + 1, math.MaxInt64 / 2}},
		{math.MinInt64, []float64{1, 0}, []int64{math.MinInt64, 0}},
	} {
		if got := Apportion(c.total, c.weights); !slices.Equal(got, c.want) {
			t.Errorf("Apportion(%d, %v) = %v, want %v", c.total, c.weights, got, c.want)
		}
	}
}

func TestRoundAmounts(t *testing.T) {
	half := Rate(attoPerMicro / 2)
	for _, c := range []struct {
		parts []Amount
		want  []int64
	}{
		{nil, []int64{}},
		{[]Amount{{}}, []int64{0}},
		{[]Amount{half.Times(1), half.Times(1)}, []int64{1, 0}},
		{[]Amount{half.Times(1), half.Times(1), half.Times(1)}, []int64{1, 1, 0}},
		{[]Amount{half.Times(3), half.Times(2), Rate(attoPerMicro * 3 / 4).Times(1)}, []int64{1, 1, 1}},
	} {
		if got := RoundAmounts(c.parts); !slices.Equal(got, c.want) {
			t.Errorf("RoundAmounts(%v) = %v, want %v", c.parts, got, c.want)
		}
	}
}

func FuzzApportion(f *testing.F) {
	f.Add(int64(10), 1.0, 2.0, 3.0, uint64(1))
	f.Add(int64(-7), math.NaN(), -1.0, math.Inf(1), uint64(2))
	f.Add(int64(math.MinInt64), 0.1, 1e-300, 1e300, uint64(3))
	f.Fuzz(func(t *testing.T, total int64, a, b, c float64, seed uint64) {
		weights := []float64{a, b, c}
		d := &dice{seed}
		for range d.n(20) {
			weights = append(weights, float64(d.n(1000))*a)
		}
		got := Apportion(total, weights)
		sum := int64(0)
		for i, x := range got {
			sum += x
			if total >= 0 && x < 0 || total < 0 && x > 0 {
				t.Fatalf("part %d of %d", x, total)
			}
			for j, y := range got[:i] {
				if total > 0 && weights[j] > 0 && weights[i] > weights[j] && x < y {
					t.Fatalf("more for less: %v of %v", got, weights)
				}
			}
		}
		if sum != total {
			t.Fatalf("%v make %d, want %d", got, sum, total)
		}
		var amounts []Amount
		whole := Amount{}
		for range d.n(20) {
			x := Rate(d.n(1 << 40)).Times(int64(d.n(1 << 30)))
			amounts, whole = append(amounts, x), whole.Add(x)
		}
		rounded := int64(0)
		for i, x := range RoundAmounts(amounts) {
			rounded += x
			if floor, _ := amounts[i].split(); x != floor && x != floor+1 {
				t.Fatalf("%d of %s", x, amounts[i])
			}
		}
		if rounded != whole.Micro() {
			t.Fatalf("rounded %d of %s", rounded, whole)
		}
	})
}

func BenchmarkApportion(b *testing.B) {
	weights := []float64{1, 2.5, 300, 7, 12, 0, 1e5}
	b.ReportAllocs()
	for b.Loop() {
		Apportion(123_456, weights)
	}
}
