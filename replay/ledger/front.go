package ledger

import (
	"math"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// frontParts are what stands before the messages of a prompt, from its end: what no
// record shows, the system prompt, the definition of the tool Skill, the other tools.
type frontParts [4]int64

// standing divides what stands before the messages by the estimates of what a record of
// the request shows of it. Far more than that explains is something else.
func (acc *account) standing(shape *replay.Shape, rest int64) frontParts {
	if !shape.Whole() {
		return frontParts{rest}
	}
	sum := 0.0
	var weights []float64
	for _, z := range []jsonl.Size{shape.System, shape.SkillTool, shape.Tools} {
		e := acc.scaled(kind{layer: replay.LayerOther, part: replay.PartSystem}, estimateOf(&replay.Segment{Size: z}))
		weights = append(weights, e)
		sum += e
	}
	var parts frontParts
	if float64(rest) > farMore(sum) {
		parts[0] = rest - int64(math.Round(sum))
	}
	copy(parts[1:], budget.Apportion(rest-parts[0], weights))
	return parts
}

// farMore is what texts that are thought to be of some tokens cannot come to, however
// bad the estimate.
func farMore(tokens float64) float64 { return 1.5*tokens + 200 }
