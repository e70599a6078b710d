// Package replay rebuilds what a coding-agent session told the model about
// skills, predicts from the inputs what the client should have told it, and
// compares the two.
//
// The way of the data:
//
//	records ── Observe ──> Session{Agents{Events}}    what happened, inputs and effects apart
//	inputs  ── Predict ──> Effects                     what should have happened
//	both    ── Compare ──> Checks                      match, divergent or undetermined
//
// Observe knows no rule. Predict sees input events and [Inputs] only; an effect
// that reaches it is a bug. Compare judges and knows neither logs nor rules.
package replay

import (
	"time"

	"github.com/skilltrace/skilltrace/jsonl"
)

// Where is the evidence for an event: a record.
type Where struct {
	File string
	Line int
	UUID string
	Time time.Time // zero where the record has none
}

// EventKind is the kind of an [Event].
type EventKind string

// Inputs: what the user, the model and the file system did.
const (
	Start           EventKind = "start"            // a client process begins (or resumes) this conversation
	Prompt          EventKind = "prompt"           // a text typed by the user
	Slash           EventKind = "slash"            // a typed command, each one of a stack
	Turn            EventKind = "turn"             // an assistant message begins
	SkillCall       EventKind = "skill_call"       // the model calls the Skill tool
	Touch           EventKind = "touch"            // Read, Write or Edit of a file succeeded
	CatalogueChange EventKind = "catalogue_change" // a skill file was written or removed
	Noticed         EventKind = "noticed"          // the client noticed changed files (its watcher, /reload-skills)
	Compaction      EventKind = "compaction"
	Entered         EventKind = "entered"  // another folder became the working directory
	Restored        EventKind = "restored" // files that the client put back after a compaction
)

// NoCommand is what the client tells the user of a typed command that it does not know:
// neither an input nor an effect.
const NoCommand EventKind = "no_command"

// Effects: what the client then told the model.
const (
	Listing      EventKind = "listing"
	Body         EventKind = "body"
	Refusal      EventKind = "refusal"
	Note         EventKind = "note"
	Reattachment EventKind = "reattachment"
	Launched     EventKind = "launched" // the plain result of a Skill call, no effect of its own
)

// IsEffect reports whether events of this kind are effects.
func (k EventKind) IsEffect() bool {
	switch k {
	case Listing, Body, Refusal, Note, Reattachment, Launched:
		return true
	}
	return false
}

// Event is one step of an agent's timeline. Which fields are set depends on Kind.
type Event struct {
	Kind  EventKind
	Where Where
	// Node and Parent tie events along the conversation: Parent is the index, in
	// the agent's Events, of the event before it on the same branch, -1 at a root.
	Parent int
	// Abandoned: on a branch that a rewind left.
	Abandoned bool
	Version   string // client version of the record, "" if it has none

	// PromptN is the number of the prompt that the event belongs to, 0 before the first.
	PromptN int
	// Text of a prompt, body, note, refusal or result.
	Text string
	// String: the text stood as a plain string, not as a block.
	String bool
	Images int
	// Mode is the permission mode in which a prompt or a command was typed, such as
	// "default" or "plan"; "" where its record does not tell.
	Mode string

	Skill   string // as named by the caller
	Args    string
	HasArgs bool
	// InputKeys are the members of a skill call's input that name a skill; InputKind
	// is what stands under "skill".
	InputKeys []string
	InputKind jsonl.ValueKind
	// Given is the input of a skill call that names no skill, as JSON, at most 200 bytes.
	Given   string
	ToolUse string // ties a call, its result and its body
	Tool    string // the tool of a touch, or the command name of a slash command
	Message string // id of the assistant message
	// Position of a call among the tool uses of its prompt, and among Skill calls, from 1.
	ToolPosition, SkillPosition int
	// Position in a stack of typed skills, from 1; 0 outside a stack. Input is the
	// whole line as typed, at the first skill of a stack, or where a line whose command the
	// client does not know went to the model as a prompt.
	Stack int
	Input string

	// Agent is the subagent or fork that a call started; Forked and Background say how.
	Agent      string
	Forked     bool
	Background bool
	Rejected   bool // refused by the user

	Path string // of a touch, or the folder entered
	// Place is where a listing or a body stands; "" is a record of its own.
	Place Place

	Listing    *jsonl.Attachment // Listing: the attachment as recorded
	Skills     []jsonl.InvokedSkill
	Compaction *CompactionEvent
	Start      *StartEvent
	Change     *FileChange
}

// CompactionEvent describes a compaction boundary.
type CompactionEvent struct {
	Trigger string // manual, auto
	Partial string // "", from, up_to
	Before  int64  // tokens before and after, 0 if not recorded
	After   int64
	// Kept are the uuids of the records that stay in the conversation.
	Kept map[string]bool
	// Direct: no assistant message stands between the boundary before and this one.
	Direct bool
}

// StartEvent describes the start of a client process on this conversation.
type StartEvent struct {
	Resume bool
	Fork   bool
	// Process is an index into Inputs.Processes.
	Process int
}

// FileChange is a change of the file tree.
type FileChange struct {
	Path    string
	Text    string
	Removed bool // the file, or the folder with all below it
	Unknown bool // what was done to Path cannot be told from the log
}

// Agent is the timeline of the main loop or of one subagent.
type Agent struct {
	ID   string // "main", or the agent id
	File string
	Type string // subagent type, "" if unknown
	// StartedBy is the tool use, in the parent's timeline, that started it;
	// OnBehalfOf the skill that it works for: a fork's, also of what that started.
	StartedBy  string
	OnBehalfOf string
	// Invocation is the message that tells a fork its task behind the messages of its
	// parent; "" where the log holds none.
	Invocation string
	Events     []Event
	Calls      []APICall
	Commands   []Command
	Modes      []ModeChange
	Segments   []Segment
	// Inherits: it began with the conversation of the agent that started it.
	Inherits bool
	// Replies are the events, as indices of Events, behind which a reply goes on, or stands
	// under the id of an earlier message: one that is no [Turn] of its own.
	Replies []int
	// BlankNames are the names with blanks in them that the log names elsewhere than in
	// listings, sorted: [skills.ParseListing] wants to know them.
	BlankNames []string
	// Interrupts are where the user stopped the model, in the order of the timeline.
	Interrupts []Interrupt
	// Unfinished is the record at which the log ends in the course of a turn: a use of a
	// tool or its result, behind which nothing of the model stands. Its line is 0 where
	// the last turn came to its end.
	Unfinished Where
	// Environment: the log holds what the client tells the model of its environment.
	Environment bool
	Prompts     int
	Slashes     int
}

// Command is a shell command that the model ran, and that succeeded. Long ones are kept
// only where they can be about skills.
type Command struct {
	Where Where // of its result
	Event int   // the last event before its result, an index among the agent's; -1 for none
	Text  string
}

// ModeChange says that the client told the model of a mode in which it works, or that a
// tool took it there.
type ModeChange struct {
	Where Where
	Event int // the last event before, an index among the agent's; -1 for none
	// Mode is "plan" or "auto", as permission modes are named; "" where plan mode was
	// left for another that the record does not name.
	Mode string
	By   string // the tool, or the kind of the client's record
	// Abandoned: on a branch that a rewind left.
	Abandoned bool
}

// APICall is one model request with its recorded usage.
type APICall struct {
	Where     Where
	Message   string
	Request   string
	Model     string
	Models    []string // the models named by its rows, where more than one; at most 16
	Usage     jsonl.Usage
	HasUsage  bool
	Final     bool // a row with a stop reason was seen
	Abandoned bool
	// Event is the number of events that stand before the call.
	Event int
	// Tail is the last segment of the call's prompt, an index into the agent's
	// Segments; -1 where the log holds nothing of the prompt.
	Tail int
	// Shape is what stood before the messages, nil where no record shows it. Calls
	// share it.
	Shape   *Shape
	Rows    int    // records that the reply was written in
	Version string // client version of its first record, "" if it has none
	// What the reply holds, by kind; what stands in several of its rows counts once.
	Text, Thinking, SkillCalls, ToolCalls jsonl.Size
}

// Layer is a part of the context by what put it there.
type Layer string

// The layers.
const (
	LayerListing      Layer = "listing"
	LayerBody         Layer = "body"
	LayerReattachment Layer = "reattachment"
	LayerReference    Layer = "reference"
	LayerCall         Layer = "call"
	LayerOther        Layer = "other"
	LayerOutput       Layer = "output" // what the model wrote, as output
)

// Part is what a text is, within its layer.
type Part string

// The parts of each layer.
const (
	PartHeader       Part = "header"       // listing, reattachment: what stands around, of no skill
	PartLine         Part = "line"         // listing: the line of a skill
	PartBody         Part = "body"         // body: a rendered SKILL.md
	PartNote         Part = "note"         // body: the note that a skill is loaded already
	PartReattachment Part = "reattachment" // reattachment: a body put back after a compaction
	PartReference    Part = "reference"    // reference: a file of a skill's folder, read or run
	PartUse          Part = "use"          // call, reference: the tool use as it stands in later prompts
	PartResult       Part = "result"       // call: its result, or refusal, with the reminders glued to it
	PartTag          Part = "tag"          // call: the tags of a typed command
	PartSystem       Part = "system"       // other: the system prompt
	PartTools        Part = "tools"        // other: the definitions of the tools but Skill
	PartSkillTool    Part = "skill_tool"   // other: the definition of the tool Skill
	PartUnseen       Part = "unseen"       // other: what no record shows, as a rule the system prompt and the tools
	PartSearches     Part = "searches"     // other: web searches, which have a price and no tokens
	PartMessages     Part = "messages"     // other: everything else
	PartSkillCalls   Part = "skill_calls"  // output: the Skill calls that the model wrote
	PartToolCalls    Part = "tool_calls"   // output: its calls of other tools
	PartText         Part = "text"         // output: its text, and its thinking
)

// Segment is a piece of an agent's prompt. Prev is the segment before it in the
// conversation, -1 at the start and behind a compaction.
type Segment struct {
	Layer Layer
	Skill string
	Part  Part
	Size  jsonl.Size
	Text  string // of layers that tell of skills, as far as it is kept
	// Reply is the place among the agent's Calls, from 1, of the reply that it is part
	// of; 0 for what users, tools and the client sent.
	Reply int
	// Kept is the segment, from 1, that it was before the compaction that begins its
	// prompt; 0 for what came later.
	Kept int
	// Tool names the tool whose result it is, or would have been: texts of one tool
	// are alike.
	Tool string
	// Rough: the size is not that of a text in the log, but of one of its kind.
	Rough bool
	apart bool // some models are sent it in a message of its own, without its tags
	Line  int
	UUID  string
	Prev  int
}

// Session is one main log with its subagents.
type Session struct {
	ID         string
	File       string
	Client     string   // "claude-code"
	Versions   []string // in order of first appearance
	Models     []string // likewise, without "<synthetic>"
	CWD        string
	GitRepo    *bool // what the environment record says
	Start      time.Time
	End        time.Time
	Agents     []*Agent // main first, then by first record
	Defects    []jsonl.Defect
	Lines      int // physical lines of all its files
	Records    int
	Replayed   int            // records repeated with the same uuid
	Dangling   int            // records whose parent does not exist
	Cut        int            // compactions before which records are missing, and records without their message
	OutOfOrder int            // records that stand before their parent
	Unknown    map[string]int // record types that nothing reads
	Copied     int            // records that belong to another session (a resumed or forked copy)
	ForkOf     string
	// Restarts are the events of the main loop, by index, before which a new process
	// took the conversation up, as far as the log shows it.
	Restarts []int
	// Failures are requests that came to nothing, in the order of the logs.
	Failures []Failure
	// Accounts are the client's own running totals, in the order of the main log. See
	// [Account].
	Accounts []Account
}

// Failure is a model request that failed: nothing was billed for it, as far as the
// log tells.
type Failure struct {
	Where  Where
	Agent  string // agent id, "" in the main loop
	Error  string // as the client or the server says, "" if it does not
	Status int    // HTTP status, 0 if it is not told
	// Retry is the number of the attempt that followed, of at most MaxRetries; 0 where
	// the client gave up.
	Retry, MaxRetries int
}

// Account is the client's own running total, as it stands in a main log: what the
// count had come to with all requests before it, whether a log holds them or not.
// Where.Time is that of the last record before it, as it has none of its own.
type Account struct {
	Where Where
	jsonl.CostState
}

// Main is the main loop's timeline.
func (s *Session) Main() *Agent {
	if len(s.Agents) == 0 {
		return nil
	}
	return s.Agents[0]
}
