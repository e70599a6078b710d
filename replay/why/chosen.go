package why

import (
	"strings"

	"github.com/skilltrace/skilltrace/replay"
)

// Chosen says for which prompts of one session a skill was used.
type Chosen struct {
	// Prompts counts those for which it was called, of All prompts and typed lines; those
	// that a rewind left count in neither.
	Prompts, All int
	// First is the first of them, nil where there is none.
	First *Question
	// Agents are the agents beside the main loop that had its text, in order.
	Agents []AgentUse
}

// AgentUse is the first use of a skill by an agent.
type AgentUse struct {
	Agent string
	Where replay.Where // of the call, or of the text
	// Called: the agent called it. Else its text stood there from the start.
	Called bool
}

// Chosen counts the prompts of an answer for which the skill was called.
func (a *Answer) Chosen() Chosen {
	var out Chosen
	for i := range a.Questions {
		q := &a.Questions[i]
		if q.Abandoned {
			continue
		}
		asked := q.Prompt > 0 || q.Command != ""
		if asked {
			out.All++
		}
		s := q.Step(Called)
		if s.State != Passed {
			continue
		}
		if asked {
			out.Prompts++
			if out.First == nil {
				out.First = q
			}
		}
		if q.Agent == "main" || s.Reason == asFork || len(out.Agents) > 0 && out.Agents[len(out.Agents)-1].Agent == q.Agent {
			continue
		}
		out.Agents = append(out.Agents, AgentUse{Agent: q.Agent, Where: s.Where, Called: strings.HasPrefix(s.Reason, "by the ")})
	}
	return out
}

// asFork is said of an agent that was started to carry the skill out.
const asFork = "this agent is the fork that runs it"

// NotChosen reports whether the skill was visible and described, and nobody tried to
// use it.
func (q *Question) NotChosen() bool {
	return q.Verdict.Gate == Called && q.Verdict.State == Failed && q.Step(Called).Reason == NotCalled
}

// NotCalled is the reason of a call that nobody tried.
const NotCalled = "not called"
