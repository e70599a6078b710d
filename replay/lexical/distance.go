package lexical

// Distance is the number of letters to put in, take away or replace to make a into b, or
// limit if it is not below that. Names may be of any length: only what can stay below the
// limit is looked at.
func Distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) >= limit || len(y)-len(x) >= limit {
		return limit
	}
	prev, cur := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i, r := range x {
		from, to := max(0, i-limit), min(len(y), i+limit+1)
		cur[from] = limit
		if from == 0 {
			cur[0] = i + 1
		}
		low := cur[from]
		for j := from; j < to; j++ {
			cost := 1
			if r == y[j] {
				cost = 0
			}
			cur[j+1] = min(prev[j]+cost, prev[j+1]+1, cur[j]+1)
			low = min(low, cur[j+1])
		}
		if low >= limit {
			return limit
		}
		if to < len(y) {
			cur[to+1] = limit
		}
		prev, cur = cur, prev
	}
	return min(prev[len(y)], limit)
}
