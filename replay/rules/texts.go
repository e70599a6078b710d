package rules

// The literal texts of the client that predictions are made of. Each is given
// with a recording that holds it; /X stands for a skill's name in the comments.
const (
	// ListingHeader begins a listing in a message; a blank line and the entries
	// follow (listing/probe 2.1.31 and later). In the attachment it is left out.
	ListingHeader = "The following skills are available for use with the Skill tool:"

	// SkillsSection begins the section of a system prompt that lists skills, where
	// the catalogue stands in one.
	SkillsSection = "# Skills"

	// Launched is the result of a call that succeeds, before the name (lifecycle/forms, all versions).
	Launched = "Launching skill: "

	// BaseDirectory begins the body of a skill, before its folder and a blank
	// line; commands have none (lifecycle/forms).
	BaseDirectory = "Base directory for this skill: "

	// ArgumentsSuffix is put behind a body that no argument went into, before
	// the arguments (lifecycle/subst).
	ArgumentsSuffix = "\n\nARGUMENTS: "

	// ErrorOpen and ErrorClose surround the refusals (lifecycle/forms).
	ErrorOpen  = "<tool_use_error>"
	ErrorClose = "</tool_use_error>"

	// UnknownSkill refuses an unknown name, which follows; then DidYouMean, a
	// known name and a question mark where one is near (lifecycle/forms,
	// lifecycle/probe 2.1.108), and DidYouMeanFullName where the name is the bare
	// one of a plugin's command (lifecycle/plugin 2.1.332).
	UnknownSkill       = "Unknown skill: "
	DidYouMean         = ". Did you mean "
	DidYouMeanFullName = " Invoke it by that full name."
	// InvalidSkill refuses an empty name (lifecycle/forms 2.0.76 and later).
	InvalidSkill = "Invalid skill format: "
	// NotInvocable follows "Skill X" for disable-model-invocation (lifecycle/forms).
	NotInvocable = " cannot be used with Skill tool due to disable-model-invocation"
	// NotPromptBased follows "Skill X" for a built-in command (lifecycle/forms up
	// to 2.1.76), BuiltinCommand follows "X" for one since (2.1.112).
	NotPromptBased = " is not a prompt-based skill"
	BuiltinCommand = " is a built-in CLI command, not a skill"
	// AskUserBefore and AskUserAfter stand around "/X" in the longer refusals
	// (lifecycle/forms 2.1.112), DoNotReplicate behind them in that of
	// disable-model-invocation (asked of the client at 2.1.332).
	AskUserBefore  = ". Ask the user to run /"
	AskUserAfter   = " themselves — it cannot be invoked via the Skill tool."
	DoNotReplicate = " Do not replicate this skill's workflow by other means — it is reserved for explicit user invocation."
	// OverriddenSkill follows "Skill X" where skillOverrides turns it off (fuzz f019).
	OverriddenSkill = " is disabled for model invocation in skillOverrides settings"
	// NoSuchTool refuses the call of an agent without the Skill tool (lifecycle/sub).
	NoSuchTool = "Error: No such tool available: Skill"
	// InputInvalid begins the refusal of a bad input; one line follows for each
	// fault (lifecycle/forms).
	InputInvalid = "InputValidationError: Skill failed due to the following issue:\n"

	// ForkCompleted follows `Skill "X"` and stands before the result of a fork (lifecycle/fork).
	ForkCompleted = " completed (forked execution).\n\nResult:\n"
	// ForkLaunched is the same for a fork in the background (interactive/bg 2.1.332).
	ForkLaunched = " launched (forked execution, running in the background)."

	// The reminder of scoped variants (2.1.203, 2.1.216, 2.1.260, 2.1.332): the name
	// called stands between ScopedBefore and ScopedMiddle, a line for each variant
	// before ScopedAfter.
	ScopedBefore = "<system-reminder>\nDirectory-scoped variants of the \""
	ScopedMiddle = "\" skill exist in this repo:\n"
	ScopedAfter  = "\nThe bare name always resolves to this unscoped skill; the variants are reachable only by their exact qualified names. " +
		"If the files you are working on are under a variant's directory, invoke that variant now with the Skill tool and follow it instead — it carries that subtree's own instructions. " +
		"If your changes span more than one variant's directory, run each matching variant.\n</system-reminder>"

	// The notes on re-invocation stand around the name; NoteArguments and the
	// arguments follow the first two where there are any (lifecycle/twice,
	// lifecycle/redo 2.1.332).
	NoteLoadedBefore   = "Skill /"
	NoteLoadedAfter    = " is already loaded above; instructions unchanged."
	NoteEarlierAfter   = " was loaded earlier (see the invoked-skills reminder above); this is a NEW invocation — follow those instructions now, including any setup steps."
	NoteArguments      = " Arguments: "
	NoteAgainBefore    = "(Re-invocation of /"
	NoteAgainAfter     = " — the skill instructions were previously loaded; the arguments or dynamic output below are new.)"
	NoteTruncatedAfter = " — the previously loaded copy was truncated by compaction; the full instructions follow.)"

	// ReminderInvoked and ReminderEarlier begin the reminder that carries the
	// bodies put back after a compaction (lifecycle/compact 2.1.112 and 2.1.332;
	// the rest of the second sentence is not reproduced).
	ReminderInvoked = "The following skills were invoked in this session. Continue to follow these guidelines:\n\n"
	ReminderEarlier = "The following skills were invoked EARLIER in this session (before the conversation was compacted)"
	// CutMarker ends a body that was cut on its way back (lifecycle/bounds).
	CutMarker = "\n\n[... skill content truncated for compaction; use Read on the skill path if you need the full text]"

	// ShellDisabled stands for the output of an inline command under
	// disableSkillShellExecution (lifecycle/subst 2.1.112).
	ShellDisabled = "[shell command execution disabled by policy]"
)

// Text is one literal text of the client, for the reference.
type Text struct {
	Name string `json:"name"`
	Text string `json:"text"`
	When string `json:"when"`
}

// Texts lists the literal texts that a log can show, in the order of a session.
// X stands for a skill's name, A for arguments.
func Texts() []Text {
	return []Text{
		{"result of a call", Launched + "X", "the call succeeds"},
		{"body", BaseDirectory + "DIR", "begins the body of a skill, a blank line follows"},
		{"arguments", ArgumentsSuffix + "A", "no placeholder of the body took the arguments"},
		{"unknown skill", UnknownSkill + "X", "no entry has that name (call.did_you_mean adds a proposal)"},
		{"empty name", InvalidSkill, "the name is empty"},
		{"manual only", "Skill X" + NotInvocable, "disable-model-invocation (call.dmi_long adds the next line)"},
		{"manual only, long", "Skill X" + NotInvocable + AskUserBefore + "X" + AskUserAfter + DoNotReplicate, "the same with call.dmi_long"},
		{"built-in, old", "Skill X" + NotPromptBased, "a built-in command, before call.builtin_named"},
		{"built-in", "X" + BuiltinCommand + AskUserBefore + "X" + AskUserAfter, "a built-in command, with call.builtin_named"},
		{"turned off", "Skill X" + OverriddenSkill, "skillOverrides turns the skill off"},
		{"no tool", NoSuchTool, "the agent does not have the Skill tool (call.no_tool follows)"},
		{"fork", `Skill "X"` + ForkCompleted, "the result of a fork follows"},
		{"background fork", `Skill "X"` + ForkLaunched, "a fork in the background"},
		{"note: loaded", NoteLoadedBefore + "X" + NoteLoadedAfter, "the same text still stands in the conversation"},
		{"note: earlier", NoteLoadedBefore + "X" + NoteEarlierAfter, "the same text stands in the reminder after a compaction"},
		{"note: again", NoteAgainBefore + "X" + NoteAgainAfter, "another text of the skill stands there; the body follows"},
		{"note: truncated", NoteAgainBefore + "X" + NoteTruncatedAfter, "a cut text stands in the reminder; the body follows"},
		{"scoped variants", ScopedBefore + "X" + ScopedMiddle + "- `DIR:X` — for files under DIR/" + ScopedAfter, "nested folders have a skill of the same name (call.scoped_variants)"},
		{"reattachment, old", ReminderInvoked, "begins the reminder after a compaction, before compaction.earlier"},
		{"reattachment", ReminderEarlier, "begins the reminder after a compaction, with compaction.earlier"},
		{"cut", CutMarker, "ends a body that was cut on its way back"},
		{"command not run", ShellDisabled, "stands for the output under disableSkillShellExecution"},
	}
}
