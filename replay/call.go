package replay

import (
	"cmp"
	"strings"

	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/body"
	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// call is a call of the Skill tool by the model.
func (p *predictor) call(s State, e *Event) (State, []Effect) {
	if !p.ev.results[e.ToolUse] {
		return s, nil // the session ended, or was cut, before the client answered
	}
	refuse := func(text, rule string) (State, []Effect) {
		return s, []Effect{{Kind: Refusal, Skill: e.Skill, ToolUse: e.ToolUse, Text: text, Rule: rule}}
	}
	if text, ok := p.ev.noTool[e.ToolUse]; ok {
		return refuse(text, "agents.skill_tool")
	}
	if text, ok := p.ev.rejected[e.ToolUse]; ok {
		return refuse(text, "call.permission")
	}
	if p.forkWithoutTool() {
		s, effects := refuse(strings.TrimPrefix(rules.NoSuchTool, "Error: "), "agents.fork_no_skill")
		effects[0].Part = true
		return s, effects
	}
	if !contains(e.InputKeys, p.rules.Call.InputKey) {
		return refuse(badInput(&p.rules.Call, e.InputKind), "call.input_key")
	}
	name := normalName(e.Skill)
	if name == "" {
		return refuse(toolError(rules.InvalidSkill+e.Skill), "call.name_trim")
	}
	c := p.catalogue(&s)
	recorded, hasBody := p.ev.body[e.ToolUse]
	if c.missing != "" {
		return p.callFromLog(s, e, c, name, recorded, hasBody)
	}
	st := c.called(name, &p.rules.Call)
	if st == nil && c.given(name) {
		own := &catalogue{}
		if !p.in.Exact && bodyKey(recorded.text) != "" {
			own.missing, own.reason = skillFiles, "no file read now has this skill"
		}
		return p.callFromLog(s, e, own, name, recorded, hasBody)
	}
	text, rule := c.refusal(name, st, &p.rules.Call)
	if p.rules.Call.ShellAnyError && text == "" && p.ev.refused(e.ToolUse) && !p.forks(st.Skill) {
		if b := p.body(&s, st.Skill, p.toolArgs(e), e.HasArgs, false, ""); len(b.commands) > 0 {
			return refuse(p.ev.refusal[e.ToolUse], "call.shell_any_error")
		}
	}
	if !p.in.Exact && p.ev.refused(e.ToolUse) != (text != "") {
		// The skill was another than the files now say.
		return p.callFromLog(s, e, &catalogue{missing: filesThen, reason: "by the files read now the call would have another outcome"}, name, recorded, hasBody)
	}
	if text != "" {
		eff := Effect{Kind: Refusal, Skill: e.Skill, ToolUse: e.ToolUse, Text: text, Rule: rule, Part: rule == "call.dmi_phrase"}
		if !p.in.Exact {
			eff.Soft = filesThen
		}
		return s, []Effect{eff}
	}
	k := st.Skill
	if p.forks(k) && (p.in.Exact || !hasBody) {
		return s, p.forkResult(e)
	}
	if !p.in.Exact && p.ev.forked[e.ToolUse] {
		return s, p.forkResult(e)
	}
	b := p.body(&s, k, p.toolArgs(e), e.HasArgs, false, recorded.text)
	if text, ok := p.ev.failed[e.ToolUse]; ok {
		if failedBy(text, b.commands) {
			return s, []Effect{{Kind: Refusal, Skill: e.Skill, ToolUse: e.ToolUse, Text: text, Rule: "body.shell"}}
		}
		if !p.in.Exact {
			return p.callFromLog(s, e, &catalogue{missing: filesThen, reason: "the file read now has no such command"}, name, recorded, hasBody)
		}
	}
	sent := b.Text
	if hasBody && (b.Missing != "" || !p.in.Exact) {
		sent = recorded.text
	} else if !p.in.Exact && len(p.ev.byUse[e.ToolUse]) > 0 {
		// A note alone: the client saw the text that it had sent before.
		before, _ := s.Latest.get(p.key(k))
		sent = cmp.Or(before, sent)
	}
	s, effects := p.delivered(s, e, name, p.key(k), sent, b.Effect)
	s = p.register(s, name, k, sent, false)
	effects = append(effects, p.scopedNote(c, e, name, k)...)
	if b.text != "" || hasBody {
		s = p.landed(s, p.key(k), sent, recorded.uuid, effects)
	}
	return s, effects
}

// scopedNote is the reminder of the variants that nested folders have of a skill.
func (p *predictor) scopedNote(c *catalogue, e *Event, name string, k *skills.Skill) []Effect {
	text := c.scopedNote(name, k)
	if text == "" {
		return nil
	}
	eff := Effect{Kind: Note, Skill: e.Skill, ToolUse: e.ToolUse, Text: text, Rule: "call.scoped_variants"}
	if !p.in.Exact {
		eff.Soft = filesThen
	}
	return []Effect{eff}
}

// bodyPlace is where the body of a call stands.
func (p *predictor) bodyPlace() Place {
	switch p.rules.Call.BodyPlace {
	case rules.BodyBehind:
		return PlaceBehind
	case rules.BodyResult:
		return PlaceResult
	}
	return ""
}

// forkResult checks the form in which a fork's report returns, where that is the
// report alone.
func (p *predictor) forkResult(e *Event) []Effect {
	if !p.rules.Call.ForkReport || !p.ev.framed[e.ToolUse] {
		return nil
	}
	return []Effect{{Kind: Launched, Skill: e.Skill, ToolUse: e.ToolUse, Text: "the fork's last message", Rule: "call.fork_report",
		Proof: "the report stands behind a line of the client's, expected it alone"}}
}

// forkWithoutTool reports whether the agent in hand is a fork that has no Skill tool.
func (p *predictor) forkWithoutTool() bool {
	return p.rules.Agents.ForkNoSkill && p.isFork()
}

func (p *predictor) isFork() bool {
	call := p.ev.agentOf[p.agent.ID]
	return p.agent.ID != "main" && (call != nil && call.Skill != "" || systemBody(p.agent) != nil)
}

// filesThen is the input that is missing where files were read later than the
// session.
const filesThen = "the skill files as they were"

// landed puts the body into the context where one was sent in full.
func (p *predictor) landed(s State, key, text, uuid string, effects []Effect) State {
	for i := range effects {
		if effects[i].Kind == Body {
			s.Bodies = s.Bodies.with(LoadedBody{Key: key, Text: text, UUID: uuid})
			break
		}
	}
	s.Latest = s.Latest.with(key, text)
	return s
}

// callFromLog follows a call whose skill is in no file at hand: what came is taken
// from the log, only the form in which it came can be checked.
func (p *predictor) callFromLog(s State, e *Event, c *catalogue, name string, recorded recordedBody, hasBody bool) (State, []Effect) {
	unknown := func(kind EventKind) Effect {
		return Effect{Kind: kind, Skill: e.Skill, ToolUse: e.ToolUse, Missing: c.missing, Reason: c.reason, Rule: "call.resolution"}
	}
	text, key := recorded.text, cmp.Or(bodyKey(recorded.text), name)
	switch {
	case p.ev.refused(e.ToolUse) || p.ev.failed[e.ToolUse] != "":
		if c.missing != "" {
			return s, []Effect{unknown(Refusal)}
		}
		return s, nil
	case hasBody:
	case c.missing == "":
		return s, nil
	default:
		// A note alone: the skill is one that was sent before.
		inv, _ := s.Invoked.get(name)
		if text, _ = s.Latest.get(inv.Key); text == "" {
			return s, []Effect{unknown(Note)}
		}
		key = inv.Key
	}
	s, effects := p.delivered(s, e, name, key, text, Effect{Text: text})
	if !p.in.Exact && s.Ambiguous.has(name) && !p.formed(effects) {
		c = &catalogue{missing: filesThen, reason: "whether this is a command of the user's or of the client's own is not known"}
		effects = nil
		for _, i := range p.ev.byUse[e.ToolUse] {
			effects = append(effects, unknown(p.agent.Events[i].Kind))
		}
	}
	s = p.landed(s, key, text, recorded.uuid, effects)
	s = p.registerRecorded(s, name, key, text)
	seen, args := s, p.toolArgs(e)
	if hasBody {
		s.Seen = s.Seen.with(key, seenBody{text, args})
	}
	var out []Effect
	for _, eff := range effects {
		if eff.Kind == Body {
			eff.Given = c.missing == ""
			if c.missing != "" {
				eff.Missing, eff.Reason = c.missing, c.reason
				eff = seen.again(key, args, eff)
			}
		}
		out = append(out, eff)
	}
	return s, out
}

// seenBody is a body that the log shows, and the arguments of its call.
type seenBody struct{ Text, Args string }

// again gives an unknown body the text that follows from an earlier one of its skill:
// with the same arguments the same, and with others the same but for them where no
// placeholder took them.
func (s *State) again(key, args string, eff Effect) Effect {
	before, ok := s.Seen.get(key)
	if !ok {
		return eff
	}
	text := before.Text
	if args != before.Args {
		if before.Args == "" {
			return eff
		}
		if text, ok = strings.CutSuffix(text, rules.ArgumentsSuffix+before.Args); !ok {
			return eff
		}
		if args != "" {
			text += rules.ArgumentsSuffix + args
		}
	}
	eff.Text, eff.Soft, eff.Missing = text, eff.Missing, ""
	eff.Reason = "another text than its earlier body gives: the file was edited, or the output of a command differs"
	return eff
}

// registerRecorded enters a skill that is known from the log alone. Its path
// follows from the name only where that holds a plugin's.
func (p *predictor) registerRecorded(s State, name, key, text string) State {
	s.Invoked = s.Invoked.with(name, Invoked{Name: name, Key: key, Content: text, Prompt: s.Prompts, Unknown: true})
	return s
}

// toolArgs are the arguments of a call, where the version honours them.
func (p *predictor) toolArgs(e *Event) string {
	if !p.rules.Body.ToolArgs {
		return ""
	}
	return e.Args
}

// deliver decides in which form the text of a skill is sent: whole, as the effect
// full, whole with a note, or as a note alone.
func (p *predictor) deliver(s *State, e *Event, name, key, text string, full Effect) []Effect {
	full.Kind, full.Skill, full.ToolUse, full.Rule, full.Place = Body, e.Skill, e.ToolUse, "body", p.bodyPlace()
	note := func(before, after string) Effect {
		return Effect{Kind: Note, Skill: e.Skill, ToolUse: e.ToolUse, Text: before + name + after, Rule: "notes.enabled"}
	}
	if !p.rules.Notes.Enabled {
		return []Effect{full}
	}
	args := ""
	if e.Args != "" {
		args = rules.NoteArguments + e.Args
	}
	latest, known := s.Latest.get(key)
	if !known {
		return []Effect{full}
	}
	if s.Bodies.holds(key, latest, s.TurnBodies) {
		if latest == text {
			return []Effect{note(rules.NoteLoadedBefore, rules.NoteLoadedAfter+args)}
		}
		return []Effect{note(rules.NoteAgainBefore, rules.NoteAgainAfter), full}
	}
	r, reminded := s.Reminder.get(key)
	switch {
	case !reminded || r.Text != latest:
		return []Effect{full}
	case r.Cut:
		return []Effect{note(rules.NoteAgainBefore, rules.NoteTruncatedAfter), full}
	case r.Text == text:
		return []Effect{note(rules.NoteLoadedBefore, rules.NoteEarlierAfter+args)}
	}
	return []Effect{note(rules.NoteAgainBefore, rules.NoteAgainAfter), full}
}

// renderedBody is a body as an effect, with the commands in it.
type renderedBody struct {
	Effect
	text     string
	commands []string
}

// body renders a skill. Where inline commands stand in it, their outputs come from
// the recorded text, or from the text sent before.
func (p *predictor) body(s *State, k *skills.Skill, args string, given, typed bool, recorded string) renderedBody {
	proc := p.process(s)
	src := body.Source{Text: k.Body, Names: k.Front.Arguments(p.rules.Front)}
	if k.Kind == skills.KindSkill {
		src.Dir = p.dir(k)
	}
	vars := body.Vars{SessionID: p.ev.session, SkillDir: src.Dir}
	if proc != nil {
		vars.ProjectDir = proc.CWD
		vars.Effort = p.effort(proc)
		vars.ShellDisabled = proc.Settings.DisableShell && k.Source != skills.Managed
		vars.Managed = k.Source == skills.Managed
		if k.Source == skills.Plugin {
			vars.PluginRoot = pluginRoot(k)
		}
	}
	t := body.Render(src, body.Call{Args: args, Typed: typed}, vars, p.rules.Body)
	r := renderedBody{Effect: Effect{Kind: Body}}
	if text, ok := t.Text(); ok {
		r.Text, r.text = text, text
		return r
	}
	for _, part := range t.Parts {
		if part.Hole {
			r.commands = append(r.commands, part.Command)
		}
	}
	before, _ := s.Latest.get(p.key(k))
	for _, seen := range []string{recorded, before} {
		if seen == "" {
			continue
		}
		if outputs, ok := t.Match(seen); ok {
			if text, err := t.Fill(outputs); err == nil {
				r.Text, r.text = text, text
				return r
			}
		}
	}
	r.Text = t.Placeholder()
	if recorded == "" {
		r.Missing, r.Reason = "command output", "the output of an inline command is not in the log"
	}
	return r
}

// dir is the base directory of a skill as the client named it: files that are read
// from elsewhere now are taken to have lain where the log says.
func (p *predictor) dir(k *skills.Skill) string {
	if p.in.Exact {
		return k.Dir
	}
	return cmp.Or(p.ev.dirOf(k), k.Dir)
}

// key identifies a skill whatever name it was called by: by its base directory,
// commands by their name.
func (p *predictor) key(k *skills.Skill) string {
	if k.Kind == skills.KindSkill {
		return p.dir(k)
	}
	return k.Name
}

// pluginRoot is the folder of a plugin: the one that holds skills/ or commands/.
func pluginRoot(k *skills.Skill) string {
	for _, mid := range []string{"/skills/", "/commands/"} {
		if i := strings.LastIndex(k.Path, mid); i >= 0 {
			return k.Path[:i]
		}
	}
	return k.Dir
}

// normalName is the name as the client looks it up: without blanks around it and
// without one leading slash.
func normalName(name string) string {
	return strings.TrimPrefix(strings.TrimSpace(name), "/")
}

func disabled(k *skills.Skill, d *frontmatter.Dialect) bool {
	return k.Front.Flag("disable-model-invocation", *d)
}
