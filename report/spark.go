package report

import "strings"

var bars = []rune("▁▂▃▄▅▆▇█")

// sparkline draws values as bars of eighths of the greatest, with "│" before the
// values whose indexes are in breaks (an index of len(values) stands at the end).
// Where there are more values than width allows, neighbours share a bar, which
// shows the greatest of them. Breaks are always drawn.
func sparkline(values []int64, breaks []int, width int) string {
	if len(values) == 0 {
		return ""
	}
	per := 1
	for bucketCount(len(values), breaks, per)+len(breaks) > width && per < len(values) {
		per++
	}
	top := int64(1)
	for _, v := range values {
		top = max(top, v)
	}
	var b strings.Builder
	for n, span := range spans(len(values), breaks) {
		if n > 0 {
			b.WriteString("│")
		}
		for i := span.from; i < span.to; i += per {
			v := int64(0)
			for _, x := range values[i:min(i+per, span.to)] {
				v = max(v, x)
			}
			b.WriteRune(bars[int(float64(v)/float64(top)*float64(len(bars)-1)+0.5)])
		}
	}
	return b.String()
}

// span is a run of values without a break.
type span struct{ from, to int }

// spans cuts n values at the breaks, which ascend.
func spans(n int, breaks []int) []span {
	var out []span
	from := 0
	for _, at := range breaks {
		out = append(out, span{from, at})
		from = at
	}
	return append(out, span{from, n})
}

func bucketCount(n int, breaks []int, per int) int {
	total := 0
	for _, s := range spans(n, breaks) {
		total += (s.to - s.from + per - 1) / per
	}
	return total
}
