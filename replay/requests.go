package replay

import "github.com/skilltrace/skilltrace/jsonl"

// requests finds the call that a row belongs to. A model request is known by its
// message id and its request id; where a row lacks one of them, the other tells, as
// each is one request's; where it lacks both, its record is all there is. Logs of
// several agents may hold rows of one request: a copied history does, and so does a
// main log that repeats what a subagent wrote.
type requests struct {
	byBoth    map[callKey]callPlace
	byMessage map[string]callPlace // the last call with the message id
	byRequest map[string]callPlace // the last call with the request id
}

// callKey tells one model request from another.
type callKey struct{ message, request string }

// callPlace is a call by its agent and its place among the agent's calls.
type callPlace struct{ agent, call int }

func newRequests() requests {
	return requests{map[callKey]callPlace{}, map[string]callPlace{}, map[string]callPlace{}}
}

// find is the place of the call that a row with these ids belongs to.
func (q *requests) find(k callKey, agents []*Agent) (at callPlace, ok bool) {
	switch {
	case k.request == "":
		at, ok = q.byMessage[k.message]
		return at, ok && k.message != ""
	case k.message == "":
		at, ok = q.byRequest[k.request]
		return at, ok
	}
	if at, ok = q.byBoth[k]; ok {
		return at, true
	}
	if at, ok = q.byMessage[k.message]; ok && agents[at.agent].Calls[at.call].Request == "" {
		return at, true
	}
	if at, ok = q.byRequest[k.request]; ok && agents[at.agent].Calls[at.call].Message == "" {
		return at, true
	}
	return callPlace{}, false
}

// note takes the ids of a call.
func (q *requests) note(k callKey, at callPlace) {
	if k.message != "" {
		q.byMessage[k.message] = at
	}
	if k.request != "" {
		q.byRequest[k.request] = at
	}
	if k.message != "" && k.request != "" {
		q.byBoth[k] = at
	}
}

// row adds a row of its reply to a call. The usage is that of one row, whole: of the
// one with the highest output, as snapshots of a streaming reply grow; of those, the
// one with the largest prompt, so that the order of rows does not matter.
func (c *APICall) row(m *message, at Where) {
	if c.Message == "" {
		c.Message = m.ID
	}
	if c.Request == "" {
		c.Request = m.RequestID
	}
	if m.Model != "" && m.Model != c.Model && len(c.Models) < mostModels && !contains(c.Models, m.Model) {
		if len(c.Models) == 0 {
			c.Models = append(c.Models, c.Model)
		}
		c.Models = append(c.Models, m.Model)
	}
	c.Final = c.Final || m.StopReason != ""
	if m.Usage != nil && (!c.HasUsage || above(m.Usage, &c.Usage)) {
		c.Usage, c.HasUsage = *m.Usage, true
		c.Where = at
		if m.Model != "" {
			c.Model = m.Model
		}
	}
}

// mostModels is how many models a call keeps the names of.
const mostModels = 16

func above(a, b *jsonl.Usage) bool {
	return a.Output > b.Output || a.Output == b.Output && a.Prompt() > b.Prompt()
}
