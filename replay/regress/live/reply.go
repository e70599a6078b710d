package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/skilltrace/skilltrace/budget"
)

// Sample is one reply of the model: its tool calls in the first assistant message, or
// why there is none.
type Sample struct {
	// Calls are the tool calls, in order.
	Calls []Call
	// Stop is why the reply ended, as the API says: end_turn, tool_use, max_tokens, …
	Stop string
	// Model is that which answered, as the reply names it.
	Model string
	Usage budget.Usage
	// Cached: it was asked in an earlier run.
	Cached bool
	// Tries is how often it was asked in this run.
	Tries int
	// Err says, where it is not "", why there is no reply. All but Tries is empty then.
	Err string
}

// Call is a call of a tool.
type Call struct {
	Tool string
	// Skill is the skill's name where the tool is Skill.
	Skill string
}

// skillTool is the tool that loads skills.
const skillTool = "Skill"

// readReply reads the body of a successful response.
func readReply(raw []byte) (Sample, error) {
	if !json.Valid(raw) {
		return Sample{}, errors.New("is no JSON")
	}
	var m anthropic.Message
	if err := json.Unmarshal(raw, &m); err != nil {
		return Sample{}, errors.New("is no message")
	}
	if m.Type != "message" || m.Role != "assistant" || !m.JSON.Content.Valid() || m.StopReason == "" {
		return Sample{}, errors.New("is no message")
	}
	s := Sample{Stop: string(m.StopReason), Model: string(m.Model)}
	for i := range m.Content {
		b := &m.Content[i]
		switch b.Type {
		case "tool_use", "server_tool_use", "mcp_tool_use":
			c := Call{Tool: b.Name}
			if b.Type == "tool_use" && b.Name == skillTool {
				c.Skill = calledSkill(b.Input)
			}
			s.Calls = append(s.Calls, c)
		}
	}
	w := m.Usage.CacheCreation
	s.Usage = budget.Usage{
		Input: m.Usage.InputTokens, Output: m.Usage.OutputTokens, CacheRead: m.Usage.CacheReadInputTokens,
		CacheWrite5m: w.Ephemeral5mInputTokens, CacheWrite1h: w.Ephemeral1hInputTokens,
	}
	if w.Ephemeral5mInputTokens == 0 && w.Ephemeral1hInputTokens == 0 {
		s.Usage.CacheWrite = m.Usage.CacheCreationInputTokens
	}
	return s, nil
}

// calledSkill is the name in the input of a Skill call: "skill", or "command" as older
// clients name it. Blanks and one leading slash are dropped, as the client does.
func calledSkill(input json.RawMessage) string {
	var in struct {
		Skill, Command any
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	name, ok := in.Skill.(string)
	if !ok {
		name, _ = in.Command.(string)
	}
	return bareName(name)
}

func bareName(name string) string {
	return strings.TrimPrefix(strings.TrimSpace(name), "/")
}

// open says why a reply leaves open what else the model would have called; "" if it
// ended by itself.
func (s *Sample) open() string {
	switch s.Stop {
	case "end_turn", "tool_use", "stop_sequence":
		return ""
	case "max_tokens":
		return "the reply was cut off at its greatest length; allow it more tokens"
	case "refusal":
		return "the model's safeguards ended the reply"
	}
	return fmt.Sprintf("the reply ended early: %s", s.Stop)
}

// called is the place of the first call of an expected skill: among all tool calls and
// among the Skill calls, from 1; 0 if there is none.
func (s *Sample) called(e Expect) (tool, skill int) {
	for i, c := range s.Calls {
		if c.Tool != skillTool {
			continue
		}
		skill++
		for _, name := range e.Any {
			if c.Skill != "" && c.Skill == bareName(name) {
				return i + 1, skill
			}
		}
	}
	return 0, 0
}

// skills are the skills called, in order; a call without a name is "".
func (s *Sample) skills() []string {
	var names []string
	for _, c := range s.Calls {
		if c.Tool == skillTool {
			names = append(names, c.Skill)
		}
	}
	return names
}
