package request

import (
	"encoding/json"
	"slices"

	"github.com/skilltrace/skilltrace/jsonl"
)

// minimalSystem stands in where the log holds no system prompt. It is ours: no client's
// words.
const minimalSystem = "You are a coding agent at work in a user's project. Use the tools that you are given to do what the user asks. " +
	"Skills are instructions for tasks of a kind. Reminders in the conversation list those that are there, each with what it is for. " +
	"When one fits the task at hand, call the Skill tool with its name before you do anything else."

// property is a member of a tool's input.
type property struct {
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

type inputSchema struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required,omitempty"`
}

type toolDefinition struct {
	Name        string      `json:"name"`
	Description string      `json:"description"`
	InputSchema inputSchema `json:"input_schema"`
}

func tool(name, description string, required []string, optional ...string) toolDefinition {
	t := toolDefinition{name, description, inputSchema{Type: "object", Properties: map[string]property{}, Required: required}}
	for _, p := range append(slices.Clone(required), optional...) {
		t.InputSchema.Properties[p] = property{Type: "string"}
	}
	return t
}

// minimalTools stand in where the log holds no definitions. They are ours: the names
// and the inputs are those that logs show in calls.
var minimalTools = []toolDefinition{
	tool("Agent", "Let another agent do a task and report.", []string{"description", "prompt"}, "subagent_type"),
	tool("Bash", "Run a shell command.", []string{"command"}, "description"),
	tool("Edit", "Replace text in a file.", []string{"file_path", "old_string", "new_string"}),
	tool("Glob", "Find files by a pattern of their names.", []string{"pattern"}, "path"),
	tool("Grep", "Search the contents of files for a regular expression.", []string{"pattern"}, "path", "glob"),
	tool("Read", "Read a file.", []string{"file_path"}),
	tool("Write", "Write a file.", []string{"file_path", "content"}),
}

// everyday are the tools that are always offered.
var everyday = []string{"Bash", "Edit", "Read", "Skill", "Write"}

// skillTool is the tool by which skills are called; key is the member that names one.
func skillTool(key string) toolDefinition {
	return tool("Skill", "Call a skill: its instructions then stand in the conversation. Give the name as it is listed.", []string{key}, "args")
}

// stand are definitions for the tools that a session used, and the everyday ones.
func stand(used []string, key string) json.RawMessage {
	var out []toolDefinition
	names := slices.Concat(everyday, used)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		switch i := slices.IndexFunc(minimalTools, func(t toolDefinition) bool { return t.Name == name }); {
		case name == "Skill":
			out = append(out, skillTool(key))
		case i >= 0:
			out = append(out, minimalTools[i])
		default:
			out = append(out, tool(name, "A tool of this session, whose definition is not known.", nil))
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return b
}

// sentTools are recorded definitions in the form in which the API takes them: name,
// description and input schema. Those that the model is only told of when it asks are
// left out; deferred counts them, and bare those without a schema, which get an open
// one.
func sentTools(v jsonl.Value) (tools jsonl.Value, deferred, bare int) {
	var out []jsonl.Value
	for t := range v.Items() {
		if s := t.Get("schema"); s.Kind() == jsonl.ValueObject {
			t = s
		}
		if t.Get("defer_loading").Bool() {
			deferred++
			continue
		}
		name := t.Get("name")
		if name.Text() == "" {
			continue
		}
		if kind := t.Get("type"); kind.Kind() == jsonl.ValueString && kind.Text() != "custom" {
			out = append(out, accepted(t)) // one that the server knows
			continue
		}
		text := t.Get("description")
		if text.Kind() != jsonl.ValueString {
			text = text.Get("scrubbed")
		}
		if text.Kind() != jsonl.ValueString {
			text = jsonl.Value(`""`)
		}
		schema := t.Get("input_schema")
		if schema.Get("type").Text() != "object" {
			bare++
			schema = jsonl.Value(`{"type":"object"}`)
		}
		one := append(jsonl.Value(nil), `{"name":`...)
		one = append(append(append(one, accepted(name)...), `,"description":`...), accepted(text)...)
		one = append(append(append(one, `,"input_schema":`...), accepted(schema)...), '}')
		out = append(out, one)
	}
	if len(out) == 0 {
		return nil, deferred, bare
	}
	return array(out), deferred, bare
}

// sentSystem is a recorded system prompt as a list of text blocks: a string, a list of
// strings, or blocks.
func sentSystem(v jsonl.Value) jsonl.Value {
	var out []jsonl.Value
	add := func(text jsonl.Value) {
		if text.Kind() == jsonl.ValueString && len(text) > 2 {
			out = append(out, textBlock(accepted(text)))
		}
	}
	if v.Kind() == jsonl.ValueString {
		add(v)
	}
	for part := range v.Items() {
		switch {
		case part.Kind() == jsonl.ValueString:
			add(part)
		case part.Get("text").Kind() == jsonl.ValueString:
			add(part.Get("text"))
		default:
			add(part.Get("scrubbed"))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return array(out)
}
