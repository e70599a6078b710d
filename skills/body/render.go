package body

import "strings"

// MaxBytes is the longest text that is rendered, in bytes. It is a limit of this
// package: a body that doubles its arguments often enough could fill any memory.
// The longest recorded body has less than a hundredth of it.
const MaxBytes = 8 << 20

// maxNames is how many names of an arguments: field are looked at, again a limit
// of this package.
const maxNames = 256

// policyText stands in place of an inline command where settings forbid to run
// it (recorded from 2.1.112 on).
const policyText = "[shell command execution disabled by policy]"

// Source is what a skill or command file gives to be rendered.
type Source struct {
	// Text is what follows the front matter, as frontmatter splits it: line breaks
	// and a last newline are kept.
	Text string
	// Dir is the base directory, as the client names it. It is empty for command
	// files, whose text gets no first line.
	Dir string
	// Names are the words of the arguments: field, see [Names].
	Names []string
}

// Call is how the skill was invoked.
type Call struct {
	// Args is the argument text as given. No argument and an empty one are the
	// same in all versions seen.
	Args string
	// Typed: as a slash command, not by the Skill tool.
	Typed bool
}

// Vars are the values of the variables. Whether a version knows a variable is in
// the [Options].
type Vars struct {
	SessionID  string // ${CLAUDE_SESSION_ID}
	SkillDir   string // ${CLAUDE_SKILL_DIR}, [Source.Dir] if empty; stays as written if that is empty too
	Effort     string // ${CLAUDE_EFFORT}
	ProjectDir string // ${CLAUDE_PROJECT_DIR}: the working directory of the process
	PluginRoot string // ${CLAUDE_PLUGIN_ROOT}; stays as written if empty
	PluginData string // ${CLAUDE_PLUGIN_DATA}; stays as written if empty
	// ShellDisabled: the setting disableSkillShellExecution is on and applies to
	// this skill.
	ShellDisabled bool
	// Managed: the skill is one of the administrator's.
	Managed bool
}

// Render is the text that one invocation sends to the model: the base directory,
// then the file's text with arguments, variables and inline commands replaced,
// in this order. Arguments and variables can thus hold variables and inline
// commands. Code fences protect nothing.
func Render(src Source, call Call, vars Vars, opt Options) Template {
	r := renderer{opt: opt}
	text := src.Text
	if src.Dir != "" {
		text = "Base directory for this skill: " + src.Dir + "\n\n" + text
	}
	args := call.Args
	if !call.Typed && !opt.ToolArgs {
		args = ""
	}
	if args != "" || opt.EmptyArgs {
		text = r.arguments(text, args, src.Names)
	}
	text = r.replaceAll(text, "${CLAUDE_PLUGIN_ROOT}", vars.PluginRoot)
	text = r.replaceAll(text, "${CLAUDE_PLUGIN_DATA}", vars.PluginData)
	if vars.SkillDir == "" {
		vars.SkillDir = src.Dir
	}
	if opt.VarsBeforeShell {
		text = r.variables(text, vars)
	}
	if opt.ShellNotManaged && vars.Managed {
		if !opt.VarsBeforeShell {
			text = r.variables(text, vars)
		}
		if r.tooLong {
			return Template{TooLong: true}
		}
		return Template{Parts: []Part{{Text: text}}}
	}
	t := Template{Parts: splitCommands(text, opt.ShellAfterBlank)}
	for i, p := range t.Parts {
		switch {
		case p.Hole && vars.ShellDisabled && opt.ShellDisable:
			t.Parts[i] = Part{Text: policyText}
		case !p.Hole && !opt.VarsBeforeShell:
			t.Parts[i].Text = r.variables(p.Text, vars)
		}
	}
	if r.tooLong {
		return Template{TooLong: true}
	}
	return t
}

// renderer replaces placeholders within the limit of MaxBytes.
type renderer struct {
	opt     Options
	tooLong bool
}

// variables replaces the variables that the version knows, one after the other.
func (r *renderer) variables(text string, vars Vars) string {
	for _, v := range []struct {
		known       bool
		name, value string
	}{
		{r.opt.PlainSkillDir, "${SKILL_DIR}", vars.SkillDir},
		{r.opt.SkillDirVar, "${CLAUDE_SKILL_DIR}", vars.SkillDir},
		{r.opt.SessionIDVar, "${CLAUDE_SESSION_ID}", vars.SessionID},
		{r.opt.EffortVar, "${CLAUDE_EFFORT}", vars.Effort},
		{r.opt.ProjectDirVar, "${CLAUDE_PROJECT_DIR}", vars.ProjectDir},
	} {
		if v.known {
			text = r.replaceAll(text, v.name, v.value)
		}
	}
	return text
}

// replaceAll replaces a variable by its value, unless the value is not known.
func (r *renderer) replaceAll(text, name, value string) string {
	if value == "" {
		return text
	}
	if n := strings.Count(text, name); n > 0 && len(text)+n*len(value) > MaxBytes {
		r.tooLong = true
		return text
	}
	return strings.ReplaceAll(text, name, value)
}
