package replay

import (
	"maps"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/lexical"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// toolError is the text of a failed result.
func toolError(text string) string { return rules.ErrorOpen + text + rules.ErrorClose }

// badInput refuses a call whose input does not name a skill.
func badInput(c *rules.Call, kind jsonl.ValueKind) string {
	key := c.InputKey
	fault := "The required parameter `" + key + "` is missing"
	name, ok := jsonTypes[kind]
	if key != "skill" {
		ok = false // what kind describes is another member
	}
	if c.InputUnknown {
		name, ok = "unknown", true
	}
	if ok {
		fault = "The parameter `" + key + "` type is expected as `string` but provided as `" + name + "`"
	}
	return toolError(rules.InputInvalid + fault)
}

// jsonTypes names the types that an input can have in place of a string.
var jsonTypes = map[jsonl.ValueKind]string{
	jsonl.ValueNull: "null", jsonl.ValueBool: "boolean", jsonl.ValueNumber: "number", jsonl.ValueArray: "array", jsonl.ValueObject: "object",
}

// disabledText refuses a call of a skill with disable-model-invocation. What the
// newer clients add is known by its shape only: x stands for any letter or digit.
func disabledText(name string, c *rules.Call) string {
	text := "Skill " + name + rules.NotInvocable
	if c.DMILong {
		text += rules.AskUserBefore + name + rules.AskUserAfter + rules.DoNotReplicate
	}
	return toolError(text)
}

// commandFailed reports whether the result of a call says that an inline command
// failed or was not permitted.
func commandFailed(text string) bool {
	return strings.Contains(text, "command failed for pattern") || strings.Contains(text, "command permission check failed for pattern")
}

// failedBy reports whether the result of a call says that one of the commands
// failed or was not permitted. What it says behind that is the command's own.
func failedBy(text string, commands []string) bool {
	_, rest, ok := strings.Cut(text, "for pattern \"")
	if !ok {
		return false
	}
	for _, c := range commands {
		if strings.Contains(rest, c) {
			return true
		}
	}
	return false
}

// suggest is the name that the client proposes for an unknown one: the nearest by
// edit distance, at most two edits away, where another case is another letter; the
// first of several.
// Recorded: "nope" gave "copy", "umber-1" gave "umber-11" before "umber-17",
// nothing was proposed at a distance of three or more (lifecycle/probe, fuzz 005).
func suggest(name string, known []string) string {
	const most = 2
	best, at := "", most+1
	for _, k := range known {
		if d := lexical.Distance(name, k, at); d < at {
			best, at = k, d
		}
	}
	return best
}

// builtinCommands are commands that the client carries out itself: typed, they
// send nothing to the model. The list holds those seen in recordings.
var builtinCommands = map[string]bool{
	"add-dir": true, "agents": true, "bashes": true, "clear": true, "compact": true, "config": true, "context": true, "copy": true,
	"cost": true, "doctor": true, "exit": true, "export": true, "extra-usage": true, "fast": true, "help": true, "hooks": true, "ide": true,
	"login": true, "logout": true, "mcp": true, "memory": true, "model": true, "permissions": true, "plugin": true, "quit": true,
	"reload-plugins": true, "reload-skills": true, "rename": true, "resume": true, "rewind": true, "skills": true, "stats": true,
	"status": true, "statusline": true, "tasks": true, "terminal-setup": true, "theme": true, "todos": true, "usage": true, "vim": true,
}

// builtinNames are the same, sorted.
func builtinNames() []string { return slices.Sorted(maps.Keys(builtinCommands)) }

func isBuiltinCommand(name string) bool { return builtinCommands[name] }
