// Package request rebuilds what a model was asked at a decision point of a session: the
// Messages API request of the first reply to a prompt. With other skills in its listing
// it can be asked again.
//
//	records ── Open ──> Log ── At(agent, prompt) ──> Request ── ReplaceListing ──> another
//
// Where the log holds records of its requests (2.1.290 on), the messages are those.
// The log keeps a copy only of messages that its other records do not repeat, and names
// the rest by their digest: these are rebuilt, and taken when the digest is that of the
// record. Elsewhere all are rebuilt from the conversation, in the form that clients of
// the version send: replies whole, results first, the client's notes before the prompt,
// inside a result or, for newer models, in a message of the role system. What the log
// does not tell is said in [Request.Assumed].
//
// Nothing here is of the vendor's words but what the log itself holds: the system prompt
// and the definitions of tools that stand in where it holds none are our own.
package request

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// Request is what a model is asked at a decision point, in the form of the Messages API.
type Request struct {
	Model     string            // as the log names it
	MaxTokens int64             // 0 where the log does not tell
	System    json.RawMessage   // array of text blocks, or nil
	Tools     json.RawMessage   // array of tool definitions, or nil
	Messages  []json.RawMessage // {"role":…,"content":…}, each as the client sent it
	// Exact: Messages are byte for byte those of the log's own record of the request.
	Exact   bool
	Assumed []string // what is a guess, in plain words: "system prompt: minimal, the log holds none"
	// Betas are the features of the API that the client asked for, where the log tells:
	// messages of the role system are one.
	Betas []string
	// Listings are the lists of skills that stand in it, in order, where the log holds
	// them (2.1.94 on); what is gone with a compaction or a rewind is not among them.
	Listings []Listing

	inTool bool // the catalogue stands in the Skill tool's description
	tagged bool // these keep their tags
	system bool // the client speaks in messages of the role system
}

// At is the request of the first reply to a prompt: an event of the observed timeline of
// an agent ([replay.Agent].ID). Where no reply came, it is the one that would have been
// sent. The error says that the log has no such record.
func (l *Log) At(agent string, prompt replay.Where) (*Request, error) {
	a := l.agent(agent)
	if a == nil {
		return nil, fmt.Errorf("the session has no agent %q", agent)
	}
	at, ok := a.byUUID[prompt.UUID]
	if prompt.UUID == "" || !ok {
		at, ok = a.byLine[prompt.Line]
	}
	if !ok {
		return nil, fmt.Errorf("%s:%d: no record %q that a request could follow", prompt.File, prompt.Line, prompt.UUID)
	}
	if reply := a.reply(at); reply >= 0 {
		it := &a.items[reply]
		return l.request(a, it.parent, it), nil
	}
	return l.request(a, a.last(at), nil), nil
}

// agent is the log of an agent. Old main logs hold the records of subagents too.
func (l *Log) agent(id string) *agent {
	for _, a := range l.agents {
		if a.id == id {
			return a
		}
	}
	if len(l.agents) > 0 && (id == "" || strings.HasPrefix(id, "sidechain-") || len(l.agents) == 1) {
		return l.agents[0]
	}
	return nil
}

// request is the one that ends with the record leaf; reply is the first record of its
// reply, nil if there is none.
func (l *Log) request(a *agent, leaf int, reply *item) *Request {
	r := &Request{}
	end := &a.items[max(leaf, 0)]
	version, effort := end.version, ""
	if reply != nil {
		r.Model, version, effort = reply.model, cmp.Or(reply.version, version), reply.effort
	} else {
		r.Model = a.modelBefore(leaf)
	}
	if version == "" {
		version = a.versionBefore(leaf)
	}
	messages, missing := l.rebuilt(a, leaf, version, r.Model, effort)
	f := l.form(a, leaf, version, r.Model)
	r.inTool, r.system, r.tagged = f.inTool, f.system, f.tagged
	if leaf >= 0 {
		r.Listings = a.listings(leaf)
	}
	var record *recorded
	if reply != nil && reply.ref != "" {
		record = l.requests[reply.ref]
	}
	if record != nil {
		r.Model, r.MaxTokens = cmp.Or(record.model, r.Model), record.maxTokens
		r.Betas = record.betas
		if held, guessed, ok := l.exact(reply.ref, messages); ok {
			messages, r.Exact = held, guessed == 0
			missing = nil
			if guessed > 0 {
				r.assume("messages: %d of %d are rebuilt from the conversation, the log's copies of them are not whole", guessed, len(held))
			}
		} else {
			r.assume("messages: rebuilt from the conversation, the log's record of the request is not whole")
		}
	} else {
		r.assume("messages: rebuilt from the conversation, the log holds no record of the request")
	}
	if len(missing) > 0 {
		r.assume("messages: without what the client says of its own accord and the log does not hold: %s", strings.Join(missing, ", "))
	}
	for _, m := range messages {
		r.Messages = append(r.Messages, json.RawMessage(m))
	}
	l.prefix(r, a, leaf, record)
	if r.Model == "" {
		r.assume("model: the log names none")
	}
	return r
}

func (r *Request) assume(format string, args ...any) {
	r.Assumed = append(r.Assumed, fmt.Sprintf(format, args...))
}

// listings are the lists of skills in the conversation up to leaf.
func (a *agent) listings(leaf int) (out []Listing) {
	for _, i := range a.active(leaf) {
		it := &a.items[i]
		if n := it.note; n != nil && n.typ == "skill_listing" {
			out = append(out, Listing{replay.Where{File: a.file, Line: it.line, UUID: it.uuid, Time: it.time}, n.content, n.initial})
		}
	}
	return out
}

// prefix sets the system prompt and the tools.
func (l *Log) prefix(r *Request, a *agent, leaf int, record *recorded) {
	var system, tools jsonl.Value
	var missing int64
	from := ""
	if record != nil {
		if s := l.shapes[record.shape]; s != nil {
			system, tools, from = s.SystemJSON, s.ToolsJSON, "the log's record of the request"
			missing = s.Missing
			for i := range s.Tools {
				missing += s.Tools[i].Missing
			}
		}
	}
	if from == "" {
		if n := a.shown(leaf); n != nil {
			system, tools, missing, from = n.systemJSON, n.toolsJSON, n.missing, "the log's record of the prompt"
		}
	}
	sent, deferred, bare := sentTools(tools)
	r.System, r.Tools = json.RawMessage(sentSystem(system)), json.RawMessage(sent)
	if missing > 0 {
		r.assume("system prompt and tools: %d characters of them were taken out of the log before it was shared", missing)
	}
	if deferred > 0 {
		r.assume("tools: without %d that the model is told of when it asks for them", deferred)
	}
	if bare > 0 {
		r.assume("tools: %d have an open input, the log holds no schema of theirs", bare)
	}
	if r.System == nil {
		r.System = json.RawMessage(array([]jsonl.Value{textBlock(quote(minimalSystem))}))
		r.assume("system prompt: minimal, the log holds none")
	}
	if r.Tools == nil {
		r.Tools = stand(a.tools, l.inputKey(a))
		r.assume("tools: minimal definitions of those that the session used, the log holds none")
	}
}

// shown is the record of the prompt that tells most of a request that ends with leaf:
// the first one behind it or before it that shows the tools, else one with the system
// prompt alone.
func (a *agent) shown(leaf int) *note {
	var best *note
	for _, i := range a.shots {
		n := a.items[i].note
		whole := len(n.toolsJSON) > 2
		switch {
		case best == nil, i <= leaf && (whole || len(best.toolsJSON) <= 2):
			best = n
		case i > leaf && whole && len(best.toolsJSON) <= 2:
			return n
		}
	}
	return best
}

// inputKey is the member of a Skill call's input that names the skill.
func (l *Log) inputKey(a *agent) string {
	if l.table != nil {
		if r, err := l.table.At(a.versionBefore(len(a.items) - 1)); err == nil && r.Call.InputKey != "" {
			return r.Call.InputKey
		}
	}
	return "skill"
}

// modelBefore is the model of the last reply at or before an item.
func (a *agent) modelBefore(i int) string {
	for n := 0; i >= 0 && n < len(a.items); i, n = a.items[i].parent, n+1 {
		it := &a.items[i]
		if it.kind == jsonl.KindAssistant && it.model != "" && it.model != syntheticModel {
			return it.model
		}
		if it.note != nil && it.note.typ == "model" && it.note.model != "" {
			return strings.TrimSuffix(it.note.model, "[1m]") // the window is no part of the API's name
		}
	}
	return ""
}

// versionBefore is the version of the last record at or before an item that has one.
func (a *agent) versionBefore(i int) string {
	for ; i >= 0; i-- {
		if v := a.items[i].version; v != "" {
			return v
		}
	}
	return ""
}

// rebuilt makes the messages that the conversation up to leaf gives, for a request to
// model; effort is that of the reply.
func (l *Log) rebuilt(a *agent, leaf int, version, model, effort string) (messages []jsonl.Value, missing []string) {
	b := builder{missing: map[string]bool{}, model: model, form: l.form(a, leaf, version, model)}
	b.own = func(ref string) bool { return len(l.requests) == 0 || ref == "" || l.requests[ref] != nil }
	if leaf < 0 {
		return nil, nil
	}
	for _, line := range a.ended {
		if line < a.items[leaf].line {
			b.since = line
		}
	}
	for _, i := range a.active(leaf) {
		b.put(&a.items[i])
	}
	messages = b.messages(effort)
	for t := range b.missing {
		missing = append(missing, t)
	}
	slices.Sort(missing)
	return messages, missing
}

// Plain puts what the client says in messages of the role system, which only newer
// models take, into the user's messages before them, as reminders: the form in which
// other models are told the same. How hard to think is left out. It reports whether
// there was anything to do; then the request is no longer exact.
func (r *Request) Plain() bool {
	var out []json.RawMessage
	changed := false
	for _, m := range r.Messages {
		v := jsonl.Value(m)
		if v.Get("role").Text() != "system" {
			out = append(out, m)
			continue
		}
		changed = true
		var notes []jsonl.Value
		for block := range blocks(v.Get("content")) {
			text := block.Get("text").Text()
			if text != "" && !strings.HasPrefix(text, reminderOpen) {
				text = reminderOpen + text + reminderClose
			}
			if text != "" {
				notes = append(notes, textBlock(accepted(quote(text))))
			}
		}
		if len(notes) == 0 {
			continue
		}
		last := len(out) - 1
		if last < 0 || jsonl.Value(out[last]).Get("role").Text() != "user" {
			out = append(out, json.RawMessage(message("user", array(notes), nil)))
			continue
		}
		var all []jsonl.Value
		results := 0
		for block := range blocks(jsonl.Value(out[last]).Get("content")) {
			if block.Get("type").Text() == "tool_result" {
				results++
			}
			all = append(all, block)
		}
		out[last] = json.RawMessage(message("user", array(slices.Insert(all, min(results, len(all)), notes...)), nil))
	}
	if changed {
		r.Messages, r.Exact, r.system = out, false, false
	}
	return changed
}
