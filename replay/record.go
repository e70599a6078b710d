package replay

import (
	"bytes"
	"time"

	"github.com/skilltrace/skilltrace/jsonl"
)

// Reading is how [Observe] wants logs to be read: what it does not look at is
// neither decoded nor kept. It reads any other records as well.
func Reading() jsonl.Options {
	return jsonl.Options{Sizes: true, Short: -1, Reuse: true,
		Types: []string{"user", "assistant", "system", "attachment", "cost-state", "result",
			"api-request", "api-request-shape", "api-request-blob"}}
}

// record is what the timeline needs of a [jsonl.Record], under the same names. All
// records of a session are held until their order is known: they are the greater
// part of the memory that observing takes.
type record struct {
	Kind         jsonl.Kind
	Meta         bool
	Sidechain    bool
	unplaced     bool // see the function
	Line         int
	UUID, Parent string
	Agent        string
	Version, CWD string
	Mode         string
	Time         time.Time
	Message      *message
	*detail
}

// detail is what few records have.
type detail struct {
	LogicalParent             string
	Subtype                   string
	Synthetic, CompactSummary bool
	Stacked                   bool
	StackedInput              string
	SourceToolUse             string
	PromptSource, TurnOrigin  string
	Unknown                   string // the client's answer to a command that it does not know
	Attachment                *attachment
	Result                    *jsonl.ToolResult
	Compact                   *jsonl.Compact
	Partial                   *jsonl.Partial
}

// plain is the detail of records without any.
var plain detail

// message is what the timeline needs of a [jsonl.Message].
type message struct {
	ID, Model  string
	RequestID  string
	RequestRef string // the record of the request that it answers
	StopReason string
	String     bool
	Blocks     []block
	Usage      *jsonl.Usage
}

// block is what the timeline needs of a [jsonl.Block]. Text is that of user
// records only, and of results of the Skill tool; Input holds the members that
// reduced keeps.
type block struct {
	Kind           jsonl.BlockKind
	IsError        bool
	repeated       bool // of a tool use: a row of the reply had it before
	Images         int
	Text, ID, Name string
	Input          jsonl.Value
	Size           jsonl.Size
}

// intake takes over what matters of the records of a session.
type intake struct {
	records  room[record]
	messages room[message]
	blocks   room[block]

	tools map[string]string // names of the tools used, by the id of their use
	usage *jsonl.Usage      // of the reply before
}

// room makes values by the hundred: one by one they would cost more to make than
// to fill.
type room[T any] []T

// take returns n zero values that stand together.
func (r *room[T]) take(n int) []T {
	if n > len(*r) {
		*r = make([]T, max(n, 256))
	}
	out := (*r)[:n:n]
	*r = (*r)[n:]
	return out
}

// take copies what the timeline needs of a record, which may be overwritten
// afterwards.
func (in *intake) take(r *jsonl.Record) *record {
	out := &in.records.take(1)[0]
	*out = record{Kind: r.Kind, Meta: r.Meta, Sidechain: r.Sidechain, unplaced: unplaced(r), Line: r.Pos.Line, UUID: r.UUID, Parent: r.Parent,
		Agent: r.Agent, Version: r.Version, CWD: r.CWD, Mode: r.Mode, Time: r.Time, detail: &plain}
	if r.Message != nil && (r.Kind == jsonl.KindUser || r.Kind == jsonl.KindAssistant) {
		out.Message = in.message(r)
	}
	d := detail{LogicalParent: r.LogicalParent, Subtype: r.Subtype, Synthetic: r.Synthetic, CompactSummary: r.CompactSummary,
		Stacked: r.Stacked, StackedInput: r.StackedInput, SourceToolUse: r.SourceToolUse,
		PromptSource: r.PromptSource, TurnOrigin: r.TurnOrigin,
		Attachment: attached(r), Result: in.result(r), Compact: r.Compact, Partial: r.Partial}
	switch {
	case r.Kind == jsonl.KindSystem && (r.Subtype == "informational" || r.Subtype == "local_command"):
		_, d.Unknown, _ = unknownCommand(r.Text)
	case r.Attachment != nil && r.Attachment.Type == "unknown_command_fallback":
		d.Unknown = "Unknown command: /" + r.Attachment.Command
	}
	if d != plain {
		out.detail = new(d)
	}
	return out
}

// unplaced reports whether nothing ties a record to the conversation and nothing is
// read of it: a mode, a title, a note of a request. Where several stand together
// one is enough to hold their place in the order.
func unplaced(r *jsonl.Record) bool {
	switch r.Kind {
	case jsonl.KindUser, jsonl.KindAssistant, jsonl.KindSystem, jsonl.KindAttachment, jsonl.KindCostState:
		return false
	}
	return r.UUID == "" && r.Parent == "" && r.LogicalParent == "" && !r.Sidechain
}

func (in *intake) message(r *jsonl.Record) *message {
	m := r.Message
	out := &in.messages.take(1)[0]
	*out = message{ID: m.ID, Model: m.Model, RequestID: r.RequestID, RequestRef: r.RequestRef, StopReason: m.StopReason, String: m.String, Blocks: in.blocks.take(len(m.Blocks))}
	if m.Usage != nil {
		// Each block of a reply repeats its usage.
		if in.usage == nil || *in.usage != *m.Usage {
			u := *m.Usage
			in.usage = &u
		}
		out.Usage = in.usage
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		o := &out.Blocks[i]
		*o = block{Kind: b.Kind, IsError: b.IsError, Images: b.Images, ID: b.ID, Size: b.Size}
		switch {
		case b.Kind == jsonl.BlockToolUse:
			o.Name, o.Input = b.Name, reduced(b)
			if b.ID != "" {
				in.tools[b.ID] = b.Name
			}
		case r.Kind == jsonl.KindUser && (b.Kind != jsonl.BlockToolResult || in.ofSkill(b)):
			o.Text = b.Text
		}
	}
	return out
}

// ofSkill reports whether a result is one of the Skill tool, as far as is known:
// the call may stand behind it.
func (in *intake) ofSkill(b *jsonl.Block) bool {
	name, ok := in.tools[b.ID]
	return !ok || name == "Skill"
}

// result is the client's account of a result that started an agent or is one of
// the Skill tool.
func (in *intake) result(r *jsonl.Record) *jsonl.ToolResult {
	if r.Result == nil || r.Message == nil {
		return nil
	}
	keep := r.Result.Agent != ""
	for i := range r.Message.Blocks {
		b := &r.Message.Blocks[i]
		keep = keep || b.Kind == jsonl.BlockToolResult && in.ofSkill(b)
	}
	if !keep {
		return nil
	}
	t := *r.Result
	t.Stdout, t.Result = "", ""
	return &t
}

// attachment is what the timeline needs of a [jsonl.Attachment]: of those that are
// about skills or prompts all, of others the size.
type attachment struct {
	Type  string
	Size  jsonl.Size // of what the model saw
	Whole *jsonl.Attachment
	Path  string // of a file that the client shows, as after a compaction
	// rendered: Size is of what was sent; else of the attachment's own strings. apart:
	// some models are sent it in a message of its own, without its tags.
	rendered, apart bool
	// steers: of auto_mode, that it only advises how to work in another mode.
	steers bool
	// Shows is what a record of the prompt shows of skills, nil for nothing; Shape what
	// it shows of the system prompt and the tools.
	Shows *snapshot
	Shape *Shape
}

func attached(r *jsonl.Record) *attachment {
	a := r.Attachment
	if a == nil {
		return nil
	}
	out := &attachment{Type: a.Type, Size: a.Size}
	if a.HasRendered {
		out.Size, out.rendered = grown(a.RenderedSize, int64(a.RenderedCut)), true
		out.apart = a.Role == "system"
	}
	switch a.Type {
	case "auto_mode":
		out.steers = a.Bypass || a.SteerOnly
	case "skill_listing", "invoked_skills", "queued_command":
		out.Whole = a
	case "prompt_snapshot":
		out.Shows = snapshotOf(a)
		out.Shape = snapshotShape(r, out.Shows)
	case "file":
		out.Path = a.FilePath
	}
	return out
}

// maxCommand is how long a command may be, in bytes of JSON, to be kept although it is
// not about skills: those that a skill's text tells to run are short.
const maxCommand = 256

// reduced is the input of a tool use, as JSON, without the members that no event
// tells of: the texts of edits, searches and the like. The input of a Skill call is
// kept whole, the text of a written file where it can be a skill, a command where it
// is short or can be about skills.
func reduced(b *jsonl.Block) jsonl.Value {
	in := jsonl.Value(b.Input)
	if b.Name == "Skill" {
		return append(jsonl.Value(nil), in...)
	}
	return in.Only(func(name []byte, v jsonl.Value) bool {
		switch string(name) {
		case "file_path", "notebook_path", "path", "subagent_type":
			return true
		case "content":
			return b.Name == "Write" && skillPath(in.Get("file_path").Text())
		case "command":
			// As it stands in the text, where any letter may be written as an escape.
			return len(v) <= maxCommand || bytes.Contains(v, []byte(".claude")) || bytes.Contains(v, []byte("SKILL.md")) || bytes.Contains(v, []byte(`\u00`))
		}
		return false
	})
}
