package budget

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Money is exact inside: prices are whole attodollars (1e-18 dollars) per token,
// and amounts sums of products of those with counts. It is rounded once, when it
// leaves as micro-dollars.

// Rate is a price in attodollars per token, a multiple of rateStep.
type Rate uint64

const (
	attoPerMicro = 1_000_000_000_000
	// rateStep makes every multiplier exact: thousandths of a fast mode, a tenth
	// of a region, a half of a batch. It is 2e-8 dollars per million tokens.
	rateStep = 20_000
	// maxRate is ten dollars per token: no price, but an error or an attack.
	maxRate = 10_000_000_000_000_000_000
)

// Times is the price of n tokens; of a negative count, nothing.
func (r Rate) Times(n int64) Amount {
	if n <= 0 {
		return Amount{}
	}
	hi, lo := bits.Mul64(uint64(r), uint64(n))
	return Amount{hi, lo}
}

// scale is r × num/den, rounded down.
func (r Rate) scale(num, den uint64) Rate {
	hi, lo := bits.Mul64(uint64(r), num)
	if hi >= den {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, den)
	return Rate(q)
}

// Amount is a sum of money, never negative; the zero value is none. Sums beyond
// what it can hold (1e20 dollars) stay at the greatest. Amounts are comparable.
type Amount struct{ hi, lo uint64 }

// Add returns a + b.
func (a Amount) Add(b Amount) Amount {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, carry := bits.Add64(a.hi, b.hi, carry)
	if carry != 0 {
		return Amount{math.MaxUint64, math.MaxUint64}
	}
	return Amount{hi, lo}
}

// Minus returns a - b, or nothing where b is more.
func (a Amount) Minus(b Amount) Amount {
	if a.Compare(b) <= 0 {
		return Amount{}
	}
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return Amount{hi, lo}
}

// IsZero reports whether a is no money at all.
func (a Amount) IsZero() bool { return a == Amount{} }

// Compare is negative, 0 or positive as a is less than, equal to or more than b.
func (a Amount) Compare(b Amount) int {
	switch {
	case a == b:
		return 0
	case a.hi < b.hi || a.hi == b.hi && a.lo < b.lo:
		return -1
	}
	return 1
}

// Micro is the amount in micro-dollars, rounded half up.
func (a Amount) Micro() int64 {
	whole, rest := a.split()
	if rest >= attoPerMicro/2 && whole < math.MaxInt64 {
		whole++
	}
	return whole
}

// split is the amount in whole micro-dollars and the attodollars that remain.
func (a Amount) split() (micro int64, atto uint64) {
	if a.hi >= attoPerMicro {
		return math.MaxInt64, 0
	}
	q, r := bits.Div64(a.hi, a.lo, attoPerMicro)
	if q > math.MaxInt64 {
		return math.MaxInt64, 0
	}
	return int64(q), r
}

// String is the exact amount in dollars, as in "0.0067152".
func (a Amount) String() string {
	n := new(big.Int).SetUint64(a.hi)
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(a.lo))
	s := fmt.Sprintf("%019s", n.String())
	whole, frac := s[:len(s)-18], strings.TrimRight(s[len(s)-18:], "0")
	if frac == "" {
		return whole
	}
	return whole + "." + frac
}

// RoundAmounts is each amount in micro-dollars, so that together they make the
// rounded total: those with the largest remainders are rounded up, ties by index.
func RoundAmounts(parts []Amount) []int64 {
	out := make([]int64, len(parts))
	rest := make([]uint64, len(parts))
	var total Amount
	var sum int64
	for i, p := range parts {
		total = total.Add(p)
		out[i], rest[i] = p.split()
		sum = satAdd(sum, out[i])
	}
	handOut(out, rest, total.Micro()-sum)
	return out
}

// ParseAmount reads an amount as a decimal number of dollars, as the client records
// its own. It is rounded to the nearest picodollar (1e-12), half up: the client adds
// with floating-point numbers, and what they leave behind that is noise.
func ParseAmount(s string) (Amount, error) {
	mantissa, exp, err := decimal(s)
	if err != nil {
		return Amount{}, errors.New("not an amount")
	}
	const decimals = 12
	n := new(big.Int).Set(mantissa)
	if e := exp + decimals; e >= 0 {
		n.Mul(n, pow10(e))
	} else {
		den := pow10(-e)
		n.Add(n.Lsh(n, 1), den).Div(n, den.Lsh(den, 1)) // half up
	}
	n.Mul(n, pow10(18-decimals))
	if n.BitLen() > 128 {
		return Amount{}, errors.New("not an amount: too large")
	}
	var b [16]byte
	n.FillBytes(b[:])
	return Amount{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}, nil
}

var errDecimal = errors.New("not a price")

// parseRate reads a decimal number of dollars per 10^shift tokens. It is rounded to
// the nearest rateStep.
func parseRate(s string, shift int) (Rate, error) {
	mantissa, exp, err := decimal(s)
	if err != nil {
		return 0, err
	}
	// value × 10^18 ÷ 10^shift ÷ rateStep
	n := new(big.Int).Set(mantissa)
	den := big.NewInt(rateStep)
	if e := exp + 18 - shift; e >= 0 {
		n.Mul(n, pow10(e))
	} else {
		den.Mul(den, pow10(-e))
	}
	n.Add(n.Lsh(n, 1), den).Div(n, den.Lsh(den, 1)) // half up
	n.Mul(n, big.NewInt(rateStep))
	if !n.IsUint64() || n.Uint64() > maxRate {
		return 0, fmt.Errorf("price %.40s: more than 10 dollars per token", s)
	}
	return Rate(n.Uint64()), nil
}

// parseThousandths reads a decimal number as whole thousandths.
func parseThousandths(s string) (uint64, error) {
	mantissa, exp, err := decimal(s)
	if err != nil {
		return 0, err
	}
	f, _ := new(big.Rat).SetFrac(new(big.Int).Mul(mantissa, pow10(max(exp, 0))), pow10(max(-exp, 0))).Float64()
	n := uint64(math.Round(min(f, 1e6) * 1000))
	if n == 0 {
		return 0, errDecimal
	}
	return n, nil
}

// decimal reads a non-negative decimal number, with or without exponent, as
// mantissa × 10^exp. Both are bounded: at most 40 digits, exponents to ±40.
func decimal(s string) (mantissa *big.Int, exp int, err error) {
	num, e, hasExp := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "e")
	if hasExp {
		if exp, err = strconv.Atoi(e); err != nil {
			return nil, 0, errDecimal
		}
	}
	whole, frac, _ := strings.Cut(num, ".")
	digits := whole + frac
	exp -= len(frac)
	if digits == "" || len(digits) > 40 || exp < -80 || exp > 40 {
		return nil, 0, errDecimal
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return nil, 0, errDecimal
		}
	}
	mantissa, _ = new(big.Int).SetString(digits, 10)
	return mantissa, exp, nil
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// satAdd is a + b for non-negative numbers, at most the greatest int64.
func satAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
