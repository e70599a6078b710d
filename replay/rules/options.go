package rules

import (
	"strings"
	"time"
)

// Catalogue says where the listing stands and what its record holds.
type Catalogue struct {
	Place Place `rule:"catalogue.place"`
	// Message is the index of the request's message that carries the first
	// listing, where Place is a reminder or an attachment.
	Message int `rule:"catalogue.message"`
	// Block is the index of the listing's text block in that message. It moved as
	// other reminders were put before it.
	Block int `rule:"catalogue.block"`
	// SystemMessage: for models newer than opus-4-7, sonnet-4-6 and haiku-4-5 and
	// for unknown ones the listing stands in a message with role system, without
	// the reminder's tags.
	SystemMessage bool `rule:"catalogue.system_message"`
	// SlashTool: command files are listed in a SlashCommand tool of their own.
	SlashTool bool `rule:"catalogue.slash_tool"`
	// XMLBare: the XML form holds names and descriptions and nothing else.
	XMLBare bool `rule:"catalogue.xml_bare"`
	// UserSource is what the XML form writes behind the description of a user's
	// own skill.
	UserSource string `rule:"catalogue.user_source"`

	// The fields of the attachment, where Place is an attachment. SkillCount
	// comes with isInitial; Names are folder names without alias; Digests are
	// the first 16 hex digits of a SHA-256 over name and whole text; Rendered is
	// the literal text that was sent, on the record.
	SkillCount bool `rule:"catalogue.skill_count"`
	Names      bool `rule:"catalogue.names"`
	Digests    bool `rule:"catalogue.digests"`
	Rendered   bool `rule:"catalogue.rendered"`
}

// Place is where the listing stands.
type Place string

// The places, oldest first; the last is that of a client which is only described.
const (
	PlaceToolXML    Place = "tool-xml"   // XML in the Skill tool's description
	PlaceToolLines  Place = "tool-lines" // lines in the Skill tool's description
	PlaceReminder   Place = "reminder"   // a reminder in a message, in no log
	PlaceAttachment Place = "attachment" // the same, recorded as an attachment
	PlaceSystem     Place = "system"     // a section of the system prompt
)

// InTool reports whether the listing is part of a tool's description, and so is
// current in every request and in no log.
func (p Place) InTool() bool { return p == PlaceToolXML || p == PlaceToolLines }

// Send says when a listing is sent again.
//
// In all versions the first one comes with the first prompt; a prompt that is
// only an unknown slash command does not start it (fuzz f048, f017). When a
// changed file is noticed depends on the client's watcher, which no rule tells.
type Send struct {
	OnChange OnChange `rule:"send.on_change"`
	// Edited: what counts as an edited entry, where OnChange is delta.
	Edited Edited `rule:"send.edited"`
	// EachPrompt: names that are new are sent with the next prompt, though no watcher
	// has noticed them.
	EachPrompt bool   `rule:"send.each_prompt"`
	OnBodyEdit Resend `rule:"send.on_body_edit"`
	OnRemoval  Resend `rule:"send.on_removal"`
	// NewFolder: what makes a new .claude/skills folder of the project known.
	NewFolder NewFolder `rule:"send.new_folder"`
	// AfterCompaction: the whole listing is sent with the first request after a
	// boundary. What a second boundary does, see Compaction.ConsecutiveSkips.
	AfterCompaction bool     `rule:"send.after_compaction"`
	OnResume        OnResume `rule:"send.on_resume"`
	// TouchLags: entries that a touched file brings in may come with a later request
	// than the next.
	TouchLags bool `rule:"send.touch_lags"`
	// AfterRewind: a listing that a rewind leaves on a dead branch is sent again;
	// before, all later requests of the process have none.
	AfterRewind bool `rule:"send.after_rewind"`
	// AfterClear: the file that /clear begins starts with the whole listing.
	AfterClear bool `rule:"send.after_clear"`
}

// OnChange is what is sent when the catalogue changes in a session.
type OnChange string

// The ways, oldest first; the last is that of a client which is only described.
const (
	AlwaysCurrent OnChange = "always-current" // nothing: the tool's description changes
	WholeReminder OnChange = "whole-reminder" // the whole listing once more, as a reminder in no log
	Whole         OnChange = "whole"          // the whole listing once more, recorded as initial
	Delta         OnChange = "delta"          // the new and the edited entries
	Fixed         OnChange = "fixed"          // nothing: the catalogue of the start holds for the session
)

// Edited is how the client tells that an entry was edited.
type Edited string

// The ways.
const (
	EditedFile   Edited = "file"   // the file changed in any way
	EditedDigest Edited = "digest" // the entry's digest changed
	EditedNever  Edited = "never"  // names alone are compared: an edited entry is not sent again
)

// Resend is what an event sends.
type Resend string

// The ways.
const (
	ResendNothing Resend = "nothing"
	ResendEntry   Resend = "entry" // the skill's entry
	ResendWhole   Resend = "whole" // the whole listing
)

// NewFolder is how a new skills folder becomes known.
type NewFolder string

// The ways.
const (
	NewFolderUnseen NewFolder = "unseen"           // only by a new process
	NewFolderWhole  NewFolder = "reload-whole"     // by /reload-skills, which sends everything
	NewFolderNames  NewFolder = "reload-new-names" // by /reload-skills, which sends the new names
)

// OnResume is what a process sends that resumes a conversation.
type OnResume string

// The ways, oldest first.
const (
	ResumeFull          OnResume = "full"            // the whole listing, always
	ResumeFullOrNothing OnResume = "full-or-nothing" // nothing if one stands since the last boundary
	ResumeDelta         OnResume = "delta"           // then only names that it lacks; else the whole listing
)

// Call says how skills are invoked and what the log shows of it.
type Call struct {
	// InputKey is the key of the Skill tool's input that names the skill.
	InputKey string `rule:"call.input_key"`
	// NameTrim: blanks around a name and one slash before it are dropped.
	NameTrim bool `rule:"call.name_trim"`
	// Resolution is the order in which a name is looked up. In all versions the
	// match is exact and the bare name of a plugin's skill is tried last.
	Resolution Resolution `rule:"call.resolution"`
	// FullPluginNames: a plugin's skill is called by its full name only.
	FullPluginNames bool `rule:"call.full_plugin_names"`
	// ReadsFile: the file is read at the call; otherwise its state is the one that
	// the client has noticed, which may lag behind.
	ReadsFile bool `rule:"call.reads_file"`
	// DidYouMean: the refusal of an unknown name proposes a known one.
	// DidYouMeanFullName: where it is the bare name of a plugin's command, the
	// full name is proposed with a sentence that says to use it; before, nothing.
	DidYouMean         bool `rule:"call.did_you_mean"`
	DidYouMeanFullName bool `rule:"call.did_you_mean_full_name"`
	// DidYouMeanPlugins: the full names of plugin skills are proposed too.
	DidYouMeanPlugins bool `rule:"call.did_you_mean_plugins"`
	// DMILong: the refusal of a skill with disable-model-invocation tells to ask the user.
	DMILong bool `rule:"call.dmi_long"`
	// DMIPhrase is all that is known of that refusal, where its text is not: a part.
	DMIPhrase string `rule:"call.dmi_phrase"`
	// InputUnknown: the refusal of an input that names no skill calls its type unknown.
	InputUnknown bool `rule:"call.input_unknown"`
	// BuiltinNamed: the refusal of a built-in command says what it is.
	BuiltinNamed bool `rule:"call.builtin_named"`
	// NoTool is what follows "No such tool available: Skill", for an agent
	// without the tool.
	NoTool string `rule:"call.no_tool"`
	// ShellWord begins the result of a call whose inline command failed.
	ShellWord string `rule:"call.shell_word"`
	// ShellAnyError: how a call says that its inline command failed is not known.
	ShellAnyError bool `rule:"call.shell_any_error"`
	// ResultReminders: a reminder may follow the text of any tool result.
	ResultReminders bool `rule:"call.result_reminders"`

	// BodyPlace is where the body of a call stands.
	BodyPlace BodyPlace `rule:"call.body_place"`
	// RunningRecord: between the result and the body stands a user record that
	// says that the skill is running.
	RunningRecord bool `rule:"call.running_record"`
	// SourceToolUse: the body names the call that it belongs to.
	SourceToolUse bool `rule:"call.source_tool_use"`
	// CommandPermissions: an attachment with the tools allowed follows each body.
	CommandPermissions bool `rule:"call.command_permissions"`
	// ScopedVariants: a bare name with variants in nested folders adds a reminder
	// that names them, as a record of its own with string content.
	ScopedVariants bool `rule:"call.scoped_variants"`

	// SlashWorks: a skill may be typed as /name.
	SlashWorks bool `rule:"call.slash_works"`
	// SlashRecord is the form of the record of a typed skill.
	SlashRecord SlashRecord `rule:"call.slash_record"`
	// Stacked: several skills may be typed at once (/a /b text).
	Stacked bool `rule:"call.stacked"`

	// ForkWorks: context: fork runs the skill in a subagent.
	ForkWorks bool `rule:"call.fork_works"`
	// BackgroundFork: on the terminal screen it runs in the background.
	BackgroundFork bool `rule:"call.background_fork"`
	// ForkBody is where the body of a fork stands.
	ForkBody ForkBody `rule:"call.fork_body"`
	// ForkContext is what a fork's conversation begins with.
	ForkContext ForkContext `rule:"call.fork_context"`
	// ForkReport: the result of a fork is its last message; otherwise that message
	// behind a line that says that the fork has completed.
	ForkReport bool `rule:"call.fork_report"`
	// ForkBodyMeta: the body that begins a fork's log is a meta record.
	ForkBodyMeta bool `rule:"call.fork_body_meta"`
}

// BodyPlace is where the body of a call stands.
type BodyPlace string

// The places.
const (
	BodyRecord BodyPlace = "record" // in a user record of its own, marked as the client's
	BodyBehind BodyPlace = "behind" // a text behind the tool results, in the same user message
	BodyResult BodyPlace = "result" // the tool's result itself
)

// ForkBody is where the body of a fork stands.
type ForkBody string

// The places.
const (
	ForkBodyMessage ForkBody = "message" // the first user message
	ForkBodySystem  ForkBody = "system"  // the system prompt
)

// ForkContext is what a fork's conversation begins with.
type ForkContext string

// The ways.
const (
	ForkFresh  ForkContext = "fresh"  // with the fork's own first message
	ForkParent ForkContext = "parent" // with the parent's messages, then <skill_invocation>
)

// Resolution is the order in which a name is looked up.
type Resolution string

// The ways.
const (
	ResolveEither      Resolution = "either"       // folder or front-matter name, the first entry of either
	ResolveFolderFirst Resolution = "folder-first" // folder names of all entries, then front-matter names
)

// SlashRecord is the form of the record of a typed skill.
type SlashRecord string

// The forms, oldest first; the last is that of a client which is only described.
const (
	SlashRunningArgs SlashRecord = "running-args" // The "X" skill is running, with the arguments
	SlashRunning     SlashRecord = "running"      // the same without them
	SlashTags        SlashRecord = "tags"         // message, /name and arguments in tags
	SlashBehind      SlashRecord = "behind-body"  // /name and arguments in tags, behind the body in one user message
)

// Notes says whether a repeated call gets a short note in place of its body.
type Notes struct {
	// Enabled: with the texts of this package (Note…). Before, always the whole body.
	Enabled bool `rule:"notes.enabled"`
	// StringContent: the record of a note holds a string, that of a body an array of one block.
	StringContent bool `rule:"notes.string_content"`
}

// Compaction says what comes back after a compaction and after a resume.
type Compaction struct {
	// InRequests: invoked bodies are put back into the first request after a boundary.
	InRequests bool `rule:"compaction.in_requests"`
	// Recorded: and written to the log as an attachment. Only that is restored
	// on resume: what was invoked and never compacted is lost.
	Recorded bool `rule:"compaction.recorded"`
	// JSONText: bodies of skills that the model called are put back as the JSON
	// of their content blocks (a fault of the client).
	JSONText bool `rule:"compaction.json_text"`
	// SlashRegisters: typed skills are put back too.
	SlashRegisters bool `rule:"compaction.slash_registers"`
	// Earlier: the reminder says that the skills were invoked earlier
	// ([ReminderEarlier]); before, only that they were invoked ([ReminderInvoked]).
	Earlier bool `rule:"compaction.earlier"`
	// ConsecutiveSkips: a compaction directly after another, with no assistant
	// message between, puts nothing back and sends no listing. What was invoked
	// is kept and comes back at the next.
	ConsecutiveSkips bool `rule:"compaction.consecutive_skips"`
	// PartialUpTo: the screen can summarize up to a message, not only from one.
	PartialUpTo bool `rule:"compaction.partial_up_to"`
	// PartialWritesAll: a partial compaction puts back all skills, also those
	// whose bodies it keeps.
	PartialWritesAll bool `rule:"compaction.partial_writes_all"`
	// AnyOrder: the order in which bodies come back is not known.
	AnyOrder bool `rule:"compaction.any_order"`
	// NoPaths: what is put back names no path.
	NoPaths bool `rule:"compaction.no_paths"`
	// AutoFrom and AutoTo are the shares of the context window, in percent, between
	// which the client compacts by itself; 0 where that is not known.
	AutoFrom int `rule:"compaction.auto_from"`
	AutoTo   int `rule:"compaction.auto_to"`
	// RestoreOrder is the order of restored skills.
	RestoreOrder RestoreOrder `rule:"compaction.restore_order"`
	// RestoreReplacesLone: half a surrogate pair at the end of a cut body is
	// U+FFFD once it was restored.
	RestoreReplacesLone bool `rule:"compaction.restore_replaces_lone"`
	// Proactive: the client compacts before the window is full; later, only when
	// the API refuses a prompt as too long or the environment sets a window.
	Proactive bool `rule:"compaction.proactive"`
}

// RestoreOrder is the order of skills that a resume restores.
type RestoreOrder string

// The orders.
const (
	RestoreByClock   RestoreOrder = "clock"     // as recorded, unless a millisecond passes meanwhile
	RestorePreserved RestoreOrder = "preserved" // as recorded
)

// Agents says how skills and subagents meet.
type Agents struct {
	// SubagentIsolated: skills called by a subagent stay out of the main loop's reattachment.
	SubagentIsolated bool `rule:"agents.subagent_isolated"`
	// ForkIsolated: skills called inside a fork do too.
	ForkIsolated bool `rule:"agents.fork_isolated"`
	// ForkNoSkill: a fork does not have the Skill tool.
	ForkNoSkill bool `rule:"agents.fork_no_skill"`
	// SubagentListing is what a subagent that has the Skill tool is sent.
	// Subagents without it get nothing in any version.
	SubagentListing SubagentListing `rule:"agents.subagent_listing"`
	// PreloadSkills: the skills: field of an agent loads bodies at its start.
	PreloadSkills bool `rule:"agents.preload_skills"`
	// AsyncDefault: the Agent tool runs in the background unless told otherwise.
	AsyncDefault bool `rule:"agents.async_default"`
}

// SubagentListing is the listing of a subagent.
type SubagentListing string

// The ways, oldest first.
const (
	SubagentTool  SubagentListing = "tool"  // in the tool's description, like the main loop's
	SubagentNone  SubagentListing = "none"  // none
	SubagentLater SubagentListing = "later" // mostly with its second request, in no log
	SubagentFull  SubagentListing = "full"  // whole, with its first message, recorded
)

// Models says what the client knows of models.
type Models struct {
	// Aliases are written alias=model, sorted; a suffix such as [1m] is kept apart.
	Aliases []string `rule:"models.aliases"`
	// Effort is the default effort, written model-prefix=effort, sorted by
	// prefix; every other model has high.
	Effort []string `rule:"models.effort"`
}

// Resolve is the name of the model that a name stands for, which may be an alias. A
// suffix that widens the window, as in sonnet[1m], stays.
func (m Models) Resolve(name string) string {
	model, suffix := name, ""
	if i := strings.Index(strings.ToLower(name), "[1m]"); i >= 0 {
		model, suffix = name[:i], "[1m]"
	}
	for _, a := range m.Aliases {
		if alias, full, _ := strings.Cut(a, "="); alias == model {
			model = full
		}
	}
	return model + suffix
}

// UsageInterval is the time within which one process counts a skill's use only
// once (recorded: interactive/usage, calls at 0, 25, 50, 75 and 100 s gave 1, 1,
// 1, 2, 2).
const UsageInterval = time.Minute

// BudgetEnv is the environment variable that sets the listing budget, in
// characters; it beats every setting, in all versions (recorded: listing/env2000,
// listing/env4000, listing/env60000, listing/both_env).
const BudgetEnv = "SLASH_COMMAND_TOOL_CHAR_BUDGET"
