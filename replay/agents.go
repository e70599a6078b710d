package replay

import (
	"path"
	"strings"

	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// agentFile is what an agent's definition says of skills.
type agentFile struct {
	found   bool
	noSkill bool     // its tools leave out the Skill tool
	skills  []string // preloaded
}

// definition looks for the file that defines a subagent type: the project's
// folders first, then the user's.
func (p *predictor) definition(s *State, typ string) agentFile {
	proc := p.process(s)
	if proc == nil || p.in.Files == nil || typ == "" {
		return agentFile{}
	}
	tree := p.in.Files.states[s.View].tree
	var dirs []string
	for d := proc.CWD; d != "/" && d != "." && d != ""; d = path.Dir(d) {
		dirs = append(dirs, path.Join(d, ".claude/agents"))
	}
	dirs = append(dirs, path.Join(proc.ConfigDir, "agents"))
	for _, dir := range dirs {
		entries, err := tree.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".md") {
				continue
			}
			data, err := tree.ReadFile(path.Join(dir, e.Name()))
			if err != nil {
				continue
			}
			front, _ := frontmatter.Parse(string(data), p.rules.Front)
			name := strings.TrimSuffix(e.Name(), ".md")
			if v, ok := front.Get("name"); ok && v.JS() != "" {
				name = v.JS()
			}
			if name != typ {
				continue
			}
			def := agentFile{found: true}
			def.skills, _ = front.Skills()
			if tools, ok := front.Tools(); ok {
				def.noSkill = !hasSkillTool(tools)
			}
			if v, ok := front.Get("disallowedTools"); ok && hasSkillTool(strings.FieldsFunc(v.JS(), func(r rune) bool { return r == ',' || r == ' ' })) {
				def.noSkill = true
			}
			return def
		}
	}
	return agentFile{}
}

func hasSkillTool(tools []string) bool {
	for _, t := range tools {
		name, _, _ := strings.Cut(strings.TrimSpace(t), "(")
		if name == "Skill" || name == "*" {
			return true
		}
	}
	return false
}

// startAgent is the start of a subagent: the body of a fork, or bodies preloaded
// by its definition.
func (p *predictor) startAgent(s State, e *Event) (State, []Effect) {
	// What the process has found by now is known to its subagents (fuzz f029).
	for _, t := range p.ev.touched {
		if !t.Where.Time.After(e.Where.Time) && p.in.Files != nil {
			s, _, _ = p.activate(s, t.Path)
		}
	}
	c := p.catalogue(&s)
	s.Later = p.rules.Agents.SubagentListing == rules.SubagentLater && p.rules.Catalogue.Place == rules.PlaceReminder && !p.definition(&s, p.agent.Type).noSkill
	var effects []Effect
	if call := p.ev.agentOf[p.agent.ID]; call != nil && call.Skill != "" {
		if c.missing != "" {
			return s, []Effect{{Kind: Body, Skill: call.Skill, Missing: c.missing, Reason: c.reason, Rule: "call.fork_works"}}
		}
		var k *skills.Skill
		args, hasArgs := call.Args, call.HasArgs
		if call.Kind == Slash {
			k, args, hasArgs = c.typedFork(call)
		} else if st := c.called(normalName(call.Skill), &p.rules.Call); st != nil {
			k = st.Skill
		}
		if k == nil {
			return s, nil
		}
		recorded := ""
		if b := firstBody(p.agent); b != nil {
			recorded = b.Text
		}
		if call.Kind == SkillCall {
			args = p.toolArgs(call)
		}
		b := p.body(&s, k, args, hasArgs, call.Kind == Slash, recorded)
		b.Kind, b.Skill, b.Rule = Body, call.Skill, "call.fork_works"
		if p.rules.Call.ForkBody == rules.ForkBodySystem {
			b.Place, b.Unlogged = PlaceSystem, true // not every log shows system prompts
		}
		effects = []Effect{b.Effect}
		if p.rules.Call.ForkContext == rules.ForkParent && p.agent.Invocation == "" {
			effects = append(effects, Effect{Kind: Launched, Skill: call.Skill, Text: invocation, Rule: "call.fork_context", Proof: "no " + invocation + " stands in the messages of the fork"})
		}
		var more []Effect
		s, more = p.announce(s)
		return s, append(effects, more...)
	}
	def := p.definition(&s, p.agent.Type)
	if !def.found || !p.rules.Agents.PreloadSkills || c.missing != "" {
		return s, nil
	}
	for i, name := range def.skills {
		st := c.called(normalName(name), &p.rules.Call)
		if st == nil || st.Reason == skills.Disabled {
			continue
		}
		k := st.Skill
		recorded := ""
		if i < len(p.ev.preloads) {
			recorded = p.ev.preloads[i].text
		}
		b := p.body(&s, k, "", false, false, recorded)
		b.Kind, b.Skill, b.Rule = Body, name, "agents.preload_skills"
		effects = append(effects, b.Effect)
		s.Bodies = s.Bodies.with(LoadedBody{Key: p.key(k), Text: b.Text})
	}
	return s, effects
}

// listsTo reports whether the agent in hand is sent listings.
func (p *predictor) listsTo(s *State) bool {
	if proc := p.process(s); proc != nil {
		for _, d := range proc.Settings.Deny {
			if d == "Skill" {
				return false
			}
		}
	}
	if p.agent.ID == "main" {
		return true
	}
	if p.forkWithoutTool() {
		return false
	}
	switch p.rules.Agents.SubagentListing {
	case rules.SubagentNone, rules.SubagentLater:
		return false
	}
	return !p.definition(s, p.agent.Type).noSkill
}
