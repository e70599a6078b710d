package budget

import "math"

// The parts of the score of use (recorded: 43 skills at 53 budgets, exact at
// 2.1.140 and 2.1.332).
const (
	scoreHalfLifeDays = 7   // after which a use counts half
	scoreFloor        = 0.1 // the least that a use counts
	dayMS             = 86_400_000
)

// Score is what a skill's use weighs in OverflowGreedy: the count of uses, halved
// for every week since the last, but never below a tenth. Times are Unix
// milliseconds. A skill never used weighs 0.
func Score(count int, lastUsedMS, nowMS int64) float64 {
	if count == 0 {
		return 0
	}
	days := (float64(nowMS) - float64(lastUsedMS)) / dayMS
	return float64(count) * max(math.Pow(0.5, days/scoreHalfLifeDays), scoreFloor)
}
