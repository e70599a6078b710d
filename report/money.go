package report

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// FormatUSD writes micro-dollars exactly, with at least two decimals and no
// zeros beyond them that say nothing: $0.43, $0.021, $12.00, $0.000001.
func FormatUSD(micro int64) string {
	sign := ""
	if micro < 0 {
		sign, micro = "-", -micro
	}
	decimals := strings.TrimRight(fmt.Sprintf("%06d", micro%1_000_000), "0")
	for len(decimals) < 2 {
		decimals += "0"
	}
	return sign + "$" + count(micro/1_000_000) + "." + decimals
}

// moneyColumn writes amounts that add up to total, in micro-dollars, with the
// same number of decimals each, chosen by the size of the total; see fineMoney.
func moneyColumn(rows []int64, total int64) (shown []string, sum string) {
	decimals := 4
	switch {
	case total >= 10_000_000:
		decimals = 2
	case total >= 100_000:
		decimals = 3
	}
	return addUp(rows, total, decimals)
}

// fineMoney is moneyColumn for many rows, of which most are small.
func fineMoney(rows []int64, total int64) (shown []string, sum string) {
	return addUp(rows, total, fineDecimals(total))
}

// fineDecimals is how many decimals fineMoney writes beside a total.
func fineDecimals(total int64) int {
	switch {
	case total >= 1_000_000_000:
		return 2
	case total >= 100_000_000:
		return 3
	}
	return 4
}

// unitOf is the last of 1 to 6 decimals of a dollar, in micro-dollars.
func unitOf(decimals int) int64 {
	unit := int64(1)
	for range 6 - decimals {
		unit *= 10
	}
	return unit
}

// inUnits writes an amount that is counted in units of micro-dollars, see unitOf.
func inUnits(units, unit int64) string {
	scale := 1_000_000 / unit
	decimals := len(strconv.FormatInt(scale, 10)) - 1
	return fmt.Sprintf("$%s.%0*d", count(units/scale), decimals, units%scale)
}

// addUp writes amounts in dollars with 1 to 6 decimals. The total is rounded half up;
// where rounding the rows would lose or win a unit, the rows with the largest
// remainders take it, so that what is shown adds up.
func addUp(rows []int64, total int64, decimals int) (shown []string, sum string) {
	unit := unitOf(decimals)
	format := func(units int64) string { return inUnits(units, unit) }
	totalUnits := (total + unit/2) / unit
	units := make([]int64, len(rows))
	order := make([]int, len(rows))
	left := totalUnits
	for i, r := range rows {
		units[i] = r / unit
		left -= units[i]
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return rows[order[a]]%unit > rows[order[b]]%unit })
	for _, i := range order {
		if left <= 0 {
			break
		}
		units[i]++
		left--
	}
	for _, u := range units {
		shown = append(shown, format(u))
	}
	return shown, format(totalUnits)
}
