// Package jsonl reads the logs of coding-agent sessions.
//
// A log is a stream of lines; a line is a [Record]: a position, the raw bytes,
// what was understood of them and, where something was not, a [Defect]. A
// damaged line is a record with a defect, never an error: only I/O ends the
// stream. [Read] yields the records of a stream, [Open] and [ReadFile] those of a
// file, [Discover] and [Scope.Resolve] find the files that make up a session, and
// [Looks] tells whether a file is a log at all. A [Value] is JSON that is read in
// place, for what stays undecoded, such as the inputs of tools.
//
// Nothing here knows a rule of any client, and nothing outside this
// package knows a field name of a log: Claude Code logs and its stream-json
// output are two decoders into the same Record.
package jsonl

import "time"

// Pos is where a record stands: File as given by the caller, Line from 1,
// Offset in bytes from the start of the (decompressed) stream.
type Pos struct {
	File   string
	Line   int
	Offset int64
}

// Defect is something wrong with a line. Lost says whether a record, or a part
// that matters, could not be read.
type Defect struct {
	Pos    Pos
	Kind   DefectKind
	Reason string // plain words, lower case, no trailing period
	Lost   bool
}

// DefectKind names a class of damage; the values are stable and appear in JSON.
type DefectKind string

// The defects that the reader and the decoders report.
const (
	DefectSyntax    DefectKind = "syntax"    // not JSON
	DefectTruncated DefectKind = "truncated" // JSON that ends too early: a cut line
	DefectTooLong   DefectKind = "too_long"  // longer than the limit: skipped, never held in memory
	DefectGlued     DefectKind = "glued"     // several records on one line, all read
	DefectNUL       DefectKind = "nul"       // NUL bytes before a record
	DefectBOM       DefectKind = "bom"       // byte order mark at the start of the file
	DefectNotObject DefectKind = "not_object"
	DefectField     DefectKind = "field"    // a field of an unexpected type; the rest of the record stands
	DefectEncoding  DefectKind = "encoding" // invalid UTF-8, replaced
	DefectEmpty     DefectKind = "empty"    // a file without any record
)

// Kind is the class of a record, independent of the log format.
type Kind uint8

// The kinds that the other packages act on. Everything else is KindOther, with
// its name in [Record.Type].
const (
	KindOther Kind = iota
	KindUser
	KindAssistant
	KindSystem
	KindAttachment
	KindSummary
	KindQueue
	KindLastPrompt
	KindCostState
	KindInit   // stream-json system/init
	KindResult // stream-json result
	KindAPIRequest
	KindAPIRequestShape
	KindAPIRequestBlob
	KindProgress
)

// Record is one decoded line (or one of several glued on a line). Strings are
// WTF-8: a lone surrogate escape becomes its three-byte form, so that lengths
// in UTF-16 code units and comparisons stay exact. A Record and all it points
// to belong to the caller and stay valid, except Raw.
type Record struct {
	Pos Pos
	Raw []byte // the bytes of the record; valid until the next iteration
	// Broken is true where no record could be read: only Pos, Raw, Skipped and
	// Defects are set.
	Broken  bool
	Skipped int64  // bytes of a line that was too long to be held
	Format  Format // the decoder that read it
	Kind    Kind
	Type    string // the type as written, e.g. "file-history-snapshot"
	// Subtype of system, result and queue records ("compact_boundary", "local_command", "enqueue").
	Subtype string

	UUID          string
	Parent        string // parentUuid
	LogicalParent string // logicalParentUuid, on compaction boundaries
	Session       string
	Agent         string // agentId; empty in the main loop
	Sidechain     bool
	Time          time.Time // zero where absent or unreadable
	Version       string    // client version
	CWD           string
	Branch        string // gitBranch
	Entrypoint    string
	PromptID      string
	PromptSource  string // typed, sdk, system
	TurnOrigin    string // human, sdk, task_notification
	Origin        string // origin.kind: human, task-notification
	Mode          string // permissionMode of prompts and permission-mode records, mode of mode records

	Meta           bool   // isMeta
	Synthetic      bool   // isSynthetic (stream-json)
	CompactSummary bool   // isCompactSummary
	TranscriptOnly bool   // isVisibleInTranscriptOnly
	SourceToolUse  string // sourceToolUseID
	StackedInput   string // stackedOriginalInput
	Stacked        bool   // stackedExpansion
	Interrupted    string // interruptedMessageId
	ForkedFrom     string // forkedFrom.sessionId or as written
	RequestID      string
	APIError       bool   // isApiErrorMessage, or is_error of a stream-json result
	Error          string // error, or error.message, of a failed call
	Status         int    // its HTTP status: apiErrorStatus, or error.status; 0 if none is told
	// Retry is the number of the attempt that follows a failed call (retryAttempt of an
	// api_error record), and MaxRetries how many there may be.
	Retry, MaxRetries int
	RequestedModel    string // requestedModel
	RequestRef        string // id of the api-request record
	CacheRequested    string // promptCacheRequested: 5m, 1h
	// The skill on whose behalf an assistant record was made, as the client says.
	AttributionSkill string
	SourceAssistant  string // sourceToolAssistantUUID: the record with the tool use
	BesideResult     bool   // renderedBesideToolResult
	TurnEffort       string // perTurnEffort of a reply
	DisplayOnly      bool   // isDisplayOnly: a text that the model is not told
	Denial           string // toolDenialKind
	Command          string // commandRun.command of a local_command record
	CommandArgs      string // commandRun.args
	Hash             string // hash of an api-request-blob, shapeHash of a request or a shape
	// Missing is how many characters of bulky texts were taken out of a recording
	// before it was shared (scrubbedChars). Zero in a client's own log.
	Missing int64

	Text     string // content of system, summary, queue and last-prompt records
	LeafUUID string
	Explicit bool // last-prompt explicit: true

	Message    *Message
	Result     *ToolResult // toolUseResult
	Attachment *Attachment
	Compact    *Compact
	Partial    *Partial // summarizeMetadata
	Cost       *CostState
	Init       *Init
	Request    *APIRequest
	Shape      *Shape

	// Unknown counts top-level fields that no decoder names; UnknownFields holds
	// their names, interned, at most eight of them.
	Unknown       int
	UnknownFields []string
	Defects       []Defect
}

// Message is the API message that a user or assistant record carries.
type Message struct {
	ID         string
	Role       string
	Model      string
	StopReason string
	// String is true where the content was a plain string, which then is the
	// single text block: some clients differ in just that.
	String bool
	Blocks []Block
	Usage  *Usage
	// Content and Extra are set with [Options.JSON]: the content as it stands in the
	// log, and the members that a message of the API has beside it and its role.
	Content Value
	Extra   Value
}

// BlockKind is the class of a content block.
type BlockKind uint8

// Block kinds.
const (
	BlockOther BlockKind = iota
	BlockText
	BlockThinking
	BlockToolUse
	BlockToolResult
	BlockImage
	BlockDocument
)

// Block is one content block. For tool results Text joins the text parts.
type Block struct {
	Kind    BlockKind
	Type    string // as written
	Text    string
	ID      string // tool_use id, or the tool_use_id of a result
	Name    string // tool name
	Input   []byte // raw JSON of a tool_use input; owned by the record
	IsError bool
	Images  int // image and document parts, in a tool result too
	Bytes   int // raw size of the block in the log

	// Size measures the text (of a tool use: its input as JSON), whether or not
	// Text holds it.
	Size Size
	// Elided is true where Text is empty, or Input lacks its long members, only
	// because [Options.Sizes] asked for sizes.
	Elided bool
	// Parts is true where the content of a tool result was a list of parts.
	Parts bool
}

// Usage is the recorded usage of an API call, in tokens. The split of cache
// writes is valid only where HasSplit is set.
type Usage struct {
	Input, Output              int64
	CacheRead, CacheWrite      int64 // cache_creation_input_tokens as recorded
	CacheWrite5m, CacheWrite1h int64
	HasSplit                   bool
	WebSearches, WebFetches    int64
	Thinking                   int64 // thinking tokens, part of Output
	ServiceTier                string
	Speed                      string
	Geo                        string
	// Damaged: a field of it is no count, and stands as 0.
	Damaged bool
}

// Writes are the tokens written to the cache: the flat count, or where it is 0 and
// the split is not, the split.
func (u *Usage) Writes() int64 {
	if u.CacheWrite == 0 && u.HasSplit {
		return u.CacheWrite5m + u.CacheWrite1h
	}
	return u.CacheWrite
}

// Prompt is all that the request sent, from the cache or not, in tokens.
func (u *Usage) Prompt() int64 { return u.Input + u.CacheRead + u.Writes() }

// ToolResult is the client's own account of a tool's result.
type ToolResult struct {
	String     string // where it was a string: an error or a rejection
	IsString   bool
	Success    bool
	Command    string // commandName of a Skill call
	Status     string // inline, forked, async_launched, …
	Agent      string // agentId of a fork or subagent
	Background bool
	Result     string
	FilePath   string // filePath, or file.filePath
	Stdout     string
	Usage      *Usage
	Tokens     int64 // totalTokens
	AgentType  string
	Model      string // model of a Skill call, resolvedModel of an agent
	// AllowedTools of a Skill call.
	AllowedTools []string
	// Elided is true where Stdout or Result are empty only because [Options.Sizes]
	// asked for sizes.
	Elided bool
}

// Attachment is what the client put beside the conversation.
type Attachment struct {
	Type string

	// skill_listing
	Content    string
	Initial    bool
	HasInitial bool
	Count      int // skillCount
	HasCount   bool
	Names      []string
	HasNames   bool
	Digests    []string
	HasDigests bool
	Rendered   string // rendered[0].content: the literal text sent
	Role       string // renderedRole
	// Sent are the contents of all that was rendered, with [Options.JSON].
	Sent []Value

	Skills []InvokedSkill // invoked_skills

	AllowedTools []string // command_permissions
	Model        string   // command_permissions.model, or model.identity.modelId

	SkillDir   string // dynamic_skill
	SkillNames []string

	Prompt string // queued_command: the text
	Text   string // any other text it holds, for sizes

	WorkingDirectory string // environment
	GitRepo          bool
	HasGitRepo       bool

	// Bypass and SteerOnly of an auto_mode attachment: it tells how to work where all is
	// allowed already, not that the mode is auto (recorded at 2.1.290 to 2.1.332, with
	// bypassPermissions).
	Bypass, SteerOnly bool

	TaskType string // task_status
	// SystemPrompt and ToolDefs are the members systemPrompt and tools of a
	// prompt_snapshot, as JSON. They hold until the next record is read.
	SystemPrompt, ToolDefs Value

	SystemTurns bool // prompt_snapshot: the client speaks in messages of the role system
	SystemSize  int  // prompt_snapshot: size of the system prompt in UTF-16 code units
	Bytes       int  // raw size of the attachment object

	// Size measures all strings of the attachment, its type and its member names
	// apart. What the model saw of it is RenderedSize, where the client recorded
	// that (2.1.267 on).
	Size         Size
	RenderedSize Size // of all rendered parts
	HasRendered  bool
	RenderedCut  int  // characters taken out of rendered in a recording before it was shared
	Elided       bool // Text or Rendered are empty only because [Options.Sizes] asked for sizes

	FilePath string // filename or path of a file, nested_memory or edited_text_file attachment
	Images   int    // image parts of a queued_command
	Origin   string // origin.kind of a queued_command
	Command  string // commandName of an unknown_command_fallback
	// Task of a task_status: the agent's id, what became of it, what it was for.
	TaskID, TaskStatus, TaskDescription string
	Tools                               []ToolDef // prompt_snapshot: the tools offered
}

// ToolDef is the definition of a tool as offered to the model.
type ToolDef struct {
	Name string
	Size Size // of the definition as JSON
	// Missing is how many characters of its description were taken out of a
	// recording before it was shared.
	Missing int64
	// Deferred: the model is told of it only when it asks for it.
	Deferred bool
}

// APIRequest is the client's note of a request (2.1.290 on).
type APIRequest struct {
	ID        string
	Model     string
	Source    string // querySource
	Base      string // the request whose messages it extends
	Keep      int64  // how many messages of Base it keeps
	Tail      []string
	Betas     []string
	MaxTokens int64
}

// Shape is what requests have in common: the system prompt and the tools.
type Shape struct {
	System Size
	Tools  []ToolDef
	// Missing is how many characters of the system prompt were taken out of a
	// recording before it was shared, where that is told for it alone.
	Missing int64
	// SystemJSON and ToolsJSON are both as sent, with [Options.JSON].
	SystemJSON, ToolsJSON Value
}

// InvokedSkill is one body in an invoked_skills attachment.
type InvokedSkill struct{ Name, Path, Content string }

// Compact is the metadata of a compaction boundary.
type Compact struct {
	Trigger            string // manual, auto
	PreTokens          int64
	PostTokens         int64
	MessagesSummarized int
	// The preserved segment: Head to Tail are put behind Anchor.
	Head, Anchor, Tail string
	Preserved          []string // preservedMessages uuids
	PreservedAll       []string // preservedMessages allUuids
	// A microcompaction keeps the conversation and clears tool results.
	TokensSaved  int64
	ClearedTools []string // tool_use ids
}

// Partial is the metadata of a summary made by a partial compaction.
type Partial struct {
	Direction string // from, up_to
	Messages  int
}

// CostState is the client's own running total. In a session log (2.1.290 on) a
// process writes one when it ends or turns to another session. The count goes on
// from process to process of a session, and into a fork of it; Started tells whose
// it is. Requests that no log holds, such as those of compaction, are in it.
type CostState struct {
	TotalUSD string // as written, to keep every digit
	Models   []ModelUsage
	Usage    *Usage // of a whole session, in a stream-json result
	// Started is when the count began; zero in a stream-json result.
	Started time.Time
	// Spent while the client ran: in all, in requests, in requests without those that
	// were retried, and in tools.
	Ran, API, APIOnce, Tools time.Duration
	// UnknownModel: the client has no price for one of the models, and priced it like
	// another.
	UnknownModel bool
}

// ModelUsage is one model's line in a CostState.
type ModelUsage struct {
	Model   string
	Usage   Usage
	CostUSD string
	Window  int64 // contextWindow in tokens; stream-json only
}

// Init is the first record of stream-json output.
type Init struct {
	Model          string
	Skills         []string
	SlashCommands  []string
	Plugins        []string
	Tools          []string
	PermissionMode string
	OutputStyle    string
}

// Format is a log format: which decoder read a record.
type Format uint8

// The formats. A log may mix them; each record tells its own.
const (
	FormatUnknown Format = iota
	FormatClaude         // the session logs of Claude Code
	FormatStream         // its -p --output-format stream-json output
)

func (f Format) String() string {
	switch f {
	case FormatClaude:
		return "claude-code log"
	case FormatStream:
		return "stream-json output"
	}
	return "unknown"
}
