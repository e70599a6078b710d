package rules

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// Key describes one rule.
type Key struct {
	// Name is the rule tag, GROUP.NAME.
	Name string
	// Meaning is one line, for a user.
	Meaning string
	// Choices are the values that a text may have, oldest first; none for free text.
	Choices []Choice
	// Max bounds a number, which is never below zero.
	Max int
}

// Choice is one value of a rule with its meaning.
type Choice struct{ Value, Meaning string }

// Group is the part of the name before the point.
func (k Key) Group() string {
	g, _, _ := strings.Cut(k.Name, ".")
	return g
}

// Group is a chapter of the reference.
type Group struct{ Name, Title, About string }

// Groups lists the chapters in order: the way of a skill from its file to the
// model and back after a compaction.
func Groups() []Group {
	return []Group{
		{"discovery", "Where skills are found", "Which folders and files count, and which entries drop out."},
		{"front", "Front matter", "How the metadata block of a SKILL.md is read."},
		{"entry", "Text of a listing entry", "How the line of one skill is made."},
		{"listing", "The listing as a whole", "Order, size and what is left out."},
		{"budget", "Listing budget", "How long a listing may be. The environment variable " + BudgetEnv + " beats all of it."},
		{"catalogue", "Where the listing stands", "In which part of a request and in which fields of a log."},
		{"send", "When the listing is sent again", "Changes, compaction, resume, rewind."},
		{"call", "Calls", "How a skill is called or typed, and what the log shows of it."},
		{"body", "Body", "How the text of a skill is made for one call."},
		{"words", "Arguments as words", "How an argument text is split for $0, $ARGUMENTS[n] and names."},
		{"notes", "Repeated calls", "What a second call of the same skill puts into the conversation."},
		{"compaction", "Compaction and resume", "Which bodies come back, and when."},
		{"reattach", "Size of what comes back", "Rough tokens are a quarter of the UTF-16 length, rounded half up."},
		{"agents", "Subagents and forks", "What they see and what they leave behind."},
		{"models", "Models", "What the client knows of models by name."},
	}
}

func choices(pairs ...string) []Choice {
	var out []Choice
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, Choice{pairs[i], pairs[i+1]})
	}
	return out
}

const (
	maxChars  = 10_000_000 // far above any budget or cap
	maxTokens = 10_000_000
)

// Keys describes every rule, grouped as in [Groups]. The result is shared: it
// must not be changed.
var Keys = sync.OnceValue(func() []Key {
	return []Key{
		{Name: "discovery.sources", Meaning: "the places that are looked into"},
		{Name: "discovery.project_folder", Meaning: "the folder of a project that holds skills/"},
		{Name: "discovery.project_wins", Meaning: "of one name the project's skill counts, even if it is manual only; otherwise discovery.name_once says"},
		{Name: "discovery.parents", Meaning: "skills of the folders above the working directory count"},
		{Name: "discovery.add_dir_skills", Meaning: "skills of --add-dir folders count"},
		{Name: "discovery.add_dir_scoped", Meaning: "a skill of an --add-dir folder whose name is taken is called FOLDER:name"},
		{Name: "discovery.add_dir_commands", Meaning: "commands of --add-dir folders count"},
		{Name: "discovery.commands", Meaning: "what becomes of the files in .claude/commands", Choices: choices(
			string(skills.CommandsApart), "in a tool of their own, not listed",
			string(skills.CommandsListed), "listed with the skills",
			string(skills.CommandsOmitted), "not listed at all")},
		{Name: "discovery.real_file_once", Meaning: "the same real file reached twice (a link) counts once, the first wins"},
		{Name: "discovery.name_once", Meaning: "the same name twice counts once, the first wins; disabled and held-back skills do not shadow others"},
		{Name: "discovery.plugin_dashes", Meaning: "characters of a plugin skill's folder name outside A-Z a-z 0-9 _ - become -"},
		{Name: "discovery.conditional", Meaning: "skills with paths: are held back until a file matches (not those of plugins)"},
		{Name: "discovery.enter_activates", Meaning: "a folder that is entered activates skills with paths: too; otherwise only files do"},
		{Name: "discovery.hide_builtins", Meaning: "the client's own built-in prompts are not listed; otherwise they are, last"},
		{Name: "discovery.described_commands", Meaning: "commands with neither description nor when_to_use are not listed; otherwise they are"},
		{Name: "discovery.undescribed", Meaning: "skills with neither description nor when_to_use are listed (never those of plugins)"},
		{Name: "discovery.drop_angles", Meaning: "skills with < or > in their names are dropped"},
		{Name: "discovery.overrides", Meaning: "the setting skillOverrides is honoured (not for plugin skills)"},

		{Name: "front.fields", Meaning: "the fields that count; none named, all do"},
		{Name: "front.parser", Meaning: "the grammar of the block", Choices: choices(
			string(frontmatter.Naive), "one key and value a line; the first colon splits, outer quotes go",
			string(frontmatter.NpmYAML), "YAML 1.2 as the npm package yaml reads it",
			string(frontmatter.Bun13YAML), "YAML 1.2 as the parser of Bun 1.3 reads it",
			string(frontmatter.BunYAML), "YAML 1.2 as the parser of Bun 1.4 reads it")},
		{Name: "front.requote", Meaning: "which values are quoted for a second try when a block does not parse (never in a block with CRLF)", Choices: choices(
			string(frontmatter.RequoteNone), "none, the block is lost",
			string(frontmatter.RequoteSpecial), "values with one of { } [ ] * & # ! | > % @ or a backtick",
			string(frontmatter.RequoteColon), "those, and values with a colon and a blank",
			string(frontmatter.RequoteNoList), "all these, but for values in square brackets that are a list by themselves")},
		{Name: "front.duplicate_keys", Meaning: "what a repeated key does", Choices: choices(
			string(frontmatter.DuplicatesFail), "the block does not parse",
			string(frontmatter.DuplicatesLast), "the last one counts")},
		{Name: "front.bom", Meaning: "a byte order mark before the block is taken off; otherwise the block is not recognised"},
		{Name: "front.scalar_only", Meaning: "a list or map as description is ignored, and a text is trimmed"},
		{Name: "front.empty_when", Meaning: "a list under when_to_use that gives no text still brings the dash before it"},
		{Name: "front.flag_words", Meaning: "yes, on and 1 switch a flag on, not only true"},
		{Name: "front.reject_surrogate_escapes", Meaning: "half a surrogate pair as an escape in a quoted value makes the block fail"},
		{Name: "front.paths_list", Meaning: "paths: may be a YAML list"},

		{Name: "entry.alias", Meaning: "a differing front-matter name is shown behind the folder name: folder (name)"},
		{Name: "entry.bare_undescribed", Meaning: "a skill without a description is listed by its name alone; otherwise with the first line of its body"},
		{Name: "entry.clean", Meaning: "control and format characters become blanks, < and > become &lt; and &gt;"},
		{Name: "entry.nested_suffix", Meaning: "entries of folders below the working directory say where they apply"},
		{Name: "entry.cap", Meaning: "the longest text of an entry, in UTF-16 code units; 0 for no limit", Max: maxChars},
		{Name: "entry.cap_setting", Meaning: "the setting skillListingMaxDescChars is honoured"},
		{Name: "entry.replace_lone", Meaning: "half a surrogate pair left by a cut is sent as U+FFFD; otherwise as it is, escaped"},

		{Name: "listing.sort", Meaning: "the order inside a folder", Choices: choices(
			string(skills.SortBytes), "by the bytes of the names",
			string(skills.SortReaddir), "as the directory gives them",
			string(skills.SortCollate), "by locale collation (root)")},
		{Name: "listing.sort_nested", Meaning: "locale collation holds for folders below the working directory too; otherwise the directory's own order"},
		{Name: "listing.one_list", Meaning: "all entries are one list sorted by the bytes of their names; otherwise folder by folder"},
		{Name: "listing.merged_commands", Meaning: "commands of user, project and --add-dir folders are one sorted list"},
		{Name: "listing.bundled_first", Meaning: "the client's own skills stand before all others; otherwise after them"},
		{Name: "listing.unit", Meaning: "how the size of a line is counted", Choices: choices(
			string(budget.UnitUTF16), "in UTF-16 code units",
			string(budget.UnitGrapheme), "in columns of a terminal, by grapheme",
			string(budget.UnitBun), "in columns as Bun.stringWidth counts them")},
		{Name: "listing.overflow", Meaning: "what happens to a listing over its budget", Choices: choices(
			string(budget.OverflowCut), "entries as long as they fit, then a comment",
			string(budget.OverflowUniform), "all texts cut to one width, bare names if that is under 20",
			string(budget.OverflowGreedy), "bare names, then whole texts by rank of use while they fit",
			string(budget.OverflowStrip), "texts go from the least used skill upward, of equal ones by name, until it fits")},
		{Name: "listing.line_breaks", Meaning: "every line counts one more for its line break; otherwise only the breaks between lines count"},
		{Name: "listing.rank", Meaning: "what use weighs where the listing is over its budget", Choices: choices(
			string(budget.RankDecay), "the count, halved for every week since the last use",
			string(budget.RankCount), "the count")},
		{Name: "listing.usage_file", Meaning: "the file in the client's home that holds the counts of use"},
		{Name: "listing.exempt_bundled", Meaning: "the client's own skills are always shown whole"},

		{Name: "budget.fixed", Meaning: "the budget in characters where it does not go by the context window; otherwise 0", Max: maxChars},
		{Name: "budget.percent", Meaning: "the share of the context window, in hundredths of a percent", Max: 10_000},
		{Name: "budget.fraction_setting", Meaning: "the setting skillListingBudgetFraction is honoured"},
		{Name: "budget.new_model_chars", Meaning: "characters per token for models newer than opus-4-6, sonnet-4-6 and haiku-4-5 and for unknown ones; 4 for the others", Max: 100},
		{Name: "budget.million_models", Meaning: "models, by prefix, that have a window of a million tokens without [1m]; unknown stands for every unknown name"},

		{Name: "catalogue.place", Meaning: "where the listing stands", Choices: choices(
			string(PlaceToolXML), "as XML in the description of the Skill tool",
			string(PlaceToolLines), "as lines in the description of the Skill tool",
			string(PlaceReminder), "as a reminder in a message, in no log",
			string(PlaceAttachment), "as a reminder, recorded as an attachment",
			string(PlaceSystem), "as a section \"# Skills\" of the system prompt")},
		{Name: "catalogue.message", Meaning: "the message of the request that carries the first listing, from 0", Max: 1000},
		{Name: "catalogue.block", Meaning: "the listing's block in that message, from 0", Max: 1000},
		{Name: "catalogue.system_message", Meaning: "for newer and unknown models it stands in a message with role system, without tags"},
		{Name: "catalogue.slash_tool", Meaning: "commands are listed in a SlashCommand tool of their own"},
		{Name: "catalogue.xml_bare", Meaning: "the XML form holds name and description only; otherwise where the skill comes from, too"},
		{Name: "catalogue.user_source", Meaning: "what the XML form writes behind the description of a user's skill"},
		{Name: "catalogue.skill_count", Meaning: "the attachment holds isInitial and skillCount"},
		{Name: "catalogue.names", Meaning: "the attachment holds names[], without aliases"},
		{Name: "catalogue.digests", Meaning: "the attachment holds digests[], of name and whole text"},
		{Name: "catalogue.rendered", Meaning: "the record holds the literal text sent and its role"},

		{Name: "send.on_change", Meaning: "what is sent when skills change in a session", Choices: choices(
			string(AlwaysCurrent), "nothing, the tool's description is always current",
			string(WholeReminder), "the whole listing as one more reminder, in no log",
			string(Whole), "the whole listing, recorded as initial",
			string(Delta), "the new and the edited entries",
			string(Fixed), "nothing, the catalogue of the start holds for the session")},
		{Name: "send.edited", Meaning: "what makes an entry count as edited", Choices: choices(
			string(EditedFile), "any change of the file",
			string(EditedDigest), "a change of its digest: name or whole text",
			string(EditedNever), "nothing, names alone are compared")},
		{Name: "send.each_prompt", Meaning: "new names are sent with the next prompt; otherwise when the client's watcher has noticed the files"},
		{Name: "send.on_body_edit", Meaning: "what an edit below the front matter sends", Choices: choices(
			string(ResendNothing), "nothing", string(ResendEntry), "the entry", string(ResendWhole), "the whole listing")},
		{Name: "send.on_removal", Meaning: "what the removal of a skill sends", Choices: choices(
			string(ResendNothing), "nothing", string(ResendEntry), "the entry", string(ResendWhole), "the whole listing")},
		{Name: "send.new_folder", Meaning: "how a new .claude/skills folder of the project becomes known", Choices: choices(
			string(NewFolderUnseen), "by a new process only",
			string(NewFolderWhole), "by /reload-skills, which sends the whole listing",
			string(NewFolderNames), "by /reload-skills, which sends the new names")},
		{Name: "send.after_compaction", Meaning: "the whole listing is sent again after a compaction"},
		{Name: "send.on_resume", Meaning: "what a resumed session sends", Choices: choices(
			string(ResumeFull), "the whole listing, always",
			string(ResumeFullOrNothing), "nothing if a listing stands since the last compaction, not even new names; else the whole",
			string(ResumeDelta), "the new names if a listing stands since the last compaction; else the whole")},
		{Name: "send.touch_lags", Meaning: "entries that a touched file brings in may come with a later request than the next"},
		{Name: "send.after_rewind", Meaning: "a listing left on a dead branch by a rewind is sent again; otherwise the rest of the process has none"},
		{Name: "send.after_clear", Meaning: "the conversation that /clear begins starts with the whole listing"},

		{Name: "call.input_key", Meaning: "the key of the Skill tool's input that names the skill"},
		{Name: "call.name_trim", Meaning: "blanks around a name and one slash before it are dropped"},
		{Name: "call.resolution", Meaning: "how a name is looked up (exact; a plugin skill's bare name last)", Choices: choices(
			string(ResolveEither), "folder or front-matter name, the first entry in listing order",
			string(ResolveFolderFirst), "folder names first, then front-matter names")},
		{Name: "call.full_plugin_names", Meaning: "a plugin's skill is called by its full name only; otherwise by its bare name too"},
		{Name: "call.reads_file", Meaning: "the file is read at the call; otherwise it is taken as the client last noticed it"},
		{Name: "call.did_you_mean", Meaning: "the refusal of an unknown name proposes a known one"},
		{Name: "call.did_you_mean_plugins", Meaning: "the full names of plugin skills are proposed too"},
		{Name: "call.did_you_mean_full_name", Meaning: "a plugin's command called by its bare name is answered with its full name"},
		{Name: "call.dmi_long", Meaning: "the refusal of a manual-only skill says to ask the user"},
		{Name: "call.dmi_phrase", Meaning: "a part of the refusal of a manual-only skill, where that is all that is known of it"},
		{Name: "call.input_unknown", Meaning: "the refusal of an input that names no skill calls its type unknown"},
		{Name: "call.builtin_named", Meaning: "the refusal of a built-in command says that it is one"},
		{Name: "call.no_tool", Meaning: "what follows the refusal of an agent without the Skill tool"},
		{Name: "call.shell_word", Meaning: "the first word of the result when an inline command fails or is not permitted"},
		{Name: "call.shell_any_error", Meaning: "how a call says that an inline command failed is not known: any error does; otherwise it names the command"},
		{Name: "call.result_reminders", Meaning: "a reminder may follow the text of a tool result"},
		{Name: "call.body_place", Meaning: "where the body of a call stands", Choices: choices(
			string(BodyRecord), "in a user record of its own, marked as the client's (isMeta)",
			string(BodyBehind), "as a text behind the tool results, in the same user message",
			string(BodyResult), "it is the tool's result")},
		{Name: "call.running_record", Meaning: "a record that the skill is running stands before the body"},
		{Name: "call.source_tool_use", Meaning: "the body names the call that it belongs to"},
		{Name: "call.command_permissions", Meaning: "an attachment with the allowed tools follows each body"},
		{Name: "call.scoped_variants", Meaning: "a bare name with variants in nested folders adds a reminder that names them"},
		{Name: "call.slash_works", Meaning: "a skill can be typed as /name; otherwise the client refuses it"},
		{Name: "call.slash_record", Meaning: "the record of a typed skill", Choices: choices(
			string(SlashRunningArgs), "The \"X\" skill is running, with the arguments",
			string(SlashRunning), "The \"X\" skill is running, without them",
			string(SlashTags), "X, /X and the arguments, each in tags",
			string(SlashBehind), "the body, then /X and the arguments in tags, two texts of one user message")},
		{Name: "call.stacked", Meaning: "several skills can be typed at once: /a /b text"},
		{Name: "call.fork_works", Meaning: "context: fork runs the skill in a subagent"},
		{Name: "call.background_fork", Meaning: "on the terminal screen a fork runs in the background"},
		{Name: "call.fork_body", Meaning: "where the body of a fork stands", Choices: choices(
			string(ForkBodyMessage), "in its first user message",
			string(ForkBodySystem), "it is its system prompt")},
		{Name: "call.fork_context", Meaning: "what a fork's conversation begins with", Choices: choices(
			string(ForkFresh), "its own first message",
			string(ForkParent), "the parent's messages, then <skill_invocation>")},
		{Name: "call.fork_report", Meaning: "the result of a fork is its last message; otherwise that message behind a line that says that the fork completed"},
		{Name: "call.fork_body_meta", Meaning: "the body that begins a fork's log is a meta record"},

		{Name: "body.tool_args", Meaning: "arguments given to the Skill tool are used (typed ones always are)"},
		{Name: "body.empty_args", Meaning: "placeholders are replaced also when there are no arguments"},
		{Name: "body.positional", Meaning: "$ARGUMENTS[n] and $n, from zero, are replaced"},
		{Name: "body.plain_numbers", Meaning: "of the two only $n is replaced; otherwise both are"},
		{Name: "body.braced", Meaning: "${n}, from one, is replaced by the n-th word, and by nothing without one; otherwise it is text"},
		{Name: "body.append_newline", Meaning: "a line break ends arguments that no placeholder took; otherwise nothing does"},
		{Name: "body.named", Meaning: "the names of the arguments: field are replaced"},
		{Name: "body.named_longest", Meaning: "longer names are replaced first"},
		{Name: "body.missing_kept", Meaning: "a position without a word stays as written; otherwise it becomes empty"},
		{Name: "body.escape", Meaning: "a backslash before $n, $ARGUMENTS or $name keeps it literal"},
		{Name: "body.one_pass", Meaning: "inserted values are not expanded again"},
		{Name: "body.literal_args", Meaning: "arguments are inserted as they are; otherwise $$, $&, $` and $' in them are expanded"},
		{Name: "body.escape_bang", Meaning: "in arguments a ! at the start or behind white space gets a backslash, one before a backtick a blank"},
		{Name: "body.session_id", Meaning: "${CLAUDE_SESSION_ID} is replaced"},
		{Name: "body.skill_dir", Meaning: "${CLAUDE_SKILL_DIR} is replaced"},
		{Name: "body.plain_skill_dir", Meaning: "${SKILL_DIR} is replaced; otherwise it is text"},
		{Name: "body.effort", Meaning: "${CLAUDE_EFFORT} is replaced"},
		{Name: "body.project_dir", Meaning: "${CLAUDE_PROJECT_DIR} is replaced, by the working directory"},
		{Name: "body.vars_before_shell", Meaning: "variables are replaced before inline commands run; otherwise after"},
		{Name: "body.shell_after_blank", Meaning: "an inline command needs a line start or white space before it; otherwise any character but a word's"},
		{Name: "body.shell_keep_indent", Meaning: "an output keeps the blanks at its front; otherwise both ends are trimmed"},
		{Name: "body.shell_empty_note", Meaning: "an empty output becomes (Bash completed with no output)"},
		{Name: "body.shell_literal", Meaning: "outputs are inserted as they are; otherwise $ patterns in them are expanded"},
		{Name: "body.shell_disable", Meaning: "the setting disableSkillShellExecution is honoured"},

		{Name: "body.shell_not_managed", Meaning: "inline commands of the administrator's skills stay as written; otherwise they run as others do"},

		{Name: "words.blanks", Meaning: "white space alone parts words, quotes are letters; otherwise the rules below hold"},
		{Name: "words.bash", Meaning: "the words are those of the first simple command of a bash parse; otherwise shell words with operators dropped"},
		{Name: "words.first_plain", Meaning: "the first word loses its quotes like the others; otherwise only one pair of equal outer ones"},
		{Name: "words.keep_backslashes", Meaning: "words after the first keep their backslashes"},
		{Name: "words.escape_bang", Meaning: "the same in each word of the arguments"},
		{Name: "words.bracket_word", Meaning: "[x at the front is passed over as one word; otherwise all up to the last ]"},
		{Name: "words.backticks", Meaning: "a first word in backticks gives the first word inside them and nothing else; otherwise it stays as typed and the others follow"},
		{Name: "words.backslash_blank", Meaning: "a backslash before a blank between words is dropped, alone or not"},
		{Name: "words.trailing_empty_dropped", Meaning: "empty words at the end do not count as given"},

		{Name: "notes.enabled", Meaning: "a repeated call gets a short note or a preface; otherwise the whole body"},
		{Name: "notes.string_content", Meaning: "the record of a note holds a string, not an array of blocks"},

		{Name: "compaction.in_requests", Meaning: "the bodies of invoked skills come back after a compaction"},
		{Name: "compaction.recorded", Meaning: "and are recorded as an attachment, from which a resume restores them"},
		{Name: "compaction.json_text", Meaning: "bodies that the model called come back as the JSON of their blocks"},
		{Name: "compaction.slash_registers", Meaning: "typed skills come back too"},
		{Name: "compaction.earlier", Meaning: "the reminder says that the skills were invoked EARLIER in the session"},
		{Name: "compaction.consecutive_skips", Meaning: "a compaction directly after another puts back neither bodies nor listing"},
		{Name: "compaction.partial_up_to", Meaning: "the screen can summarize up to a message, not only from one"},
		{Name: "compaction.partial_writes_all", Meaning: "a partial compaction puts back all skills, also those whose bodies it keeps"},
		{Name: "compaction.any_order", Meaning: "the order in which bodies come back is not known; otherwise the latest call stands first"},
		{Name: "compaction.no_paths", Meaning: "what comes back names no path; otherwise one such as userSettings:NAME"},
		{Name: "compaction.auto_from", Meaning: "the least share of the window, in percent, at which the client compacts by itself; 0 if not known", Max: 100},
		{Name: "compaction.auto_to", Meaning: "the greatest such share; 0 if not known", Max: 100},
		{Name: "compaction.restore_order", Meaning: "the order of the skills that a resume restores", Choices: choices(
			string(RestoreByClock), "as recorded, but later ones first where the clock ticks meanwhile",
			string(RestorePreserved), "as recorded")},
		{Name: "compaction.restore_replaces_lone", Meaning: "half a surrogate pair at the end of a cut body is U+FFFD once a resume restored it"},
		{Name: "compaction.proactive", Meaning: "the client compacts before the window is full; otherwise only when the API says that a prompt is too long"},

		{Name: "reattach.limited", Meaning: "the two limits below hold; otherwise everything comes back whole"},
		{Name: "reattach.skill_chars", Meaning: "the most that one body takes, in UTF-16 code units, where the limit is not in tokens; otherwise 0", Max: maxChars},
		{Name: "reattach.bare_cut", Meaning: "a body that is cut just ends; otherwise a marker says so"},
		{Name: "reattach.stop", Meaning: "behind the first body that does not fit none comes back; otherwise later, smaller ones may"},
		{Name: "reattach.skill_tokens", Meaning: "the most that one body takes, in rough tokens; longer ones are cut", Max: maxTokens},
		{Name: "reattach.total_tokens", Meaning: "the most that all bodies take, in rough tokens, latest call first; what does not fit is left out; 0 for no limit", Max: maxTokens},

		{Name: "agents.subagent_isolated", Meaning: "skills called by a subagent do not come back in the main conversation"},
		{Name: "agents.fork_isolated", Meaning: "skills called inside a fork do not come back in the main conversation"},
		{Name: "agents.fork_no_skill", Meaning: "a fork does not have the Skill tool; otherwise it has"},
		{Name: "agents.subagent_listing", Meaning: "the listing of a subagent that has the Skill tool", Choices: choices(
			string(SubagentTool), "in the tool's description",
			string(SubagentNone), "none",
			string(SubagentLater), "mostly with its second request, in no log",
			string(SubagentFull), "whole with its first message, recorded")},
		{Name: "agents.preload_skills", Meaning: "the skills: field of an agent loads their bodies"},
		{Name: "agents.async_default", Meaning: "the Agent tool runs in the background unless told otherwise"},

		{Name: "models.aliases", Meaning: "which model a short name stands for"},
		{Name: "models.effort", Meaning: "the default effort by model prefix; high for all others"},
	}
})

// KeyNamed returns the description of a rule.
func KeyNamed(name string) (Key, bool) {
	i, ok := keyIndex()[name]
	if !ok {
		return Key{}, false
	}
	return Keys()[i], true
}

var keyIndex = sync.OnceValue(func() map[string]int {
	m := map[string]int{}
	for i, k := range Keys() {
		m[k.Name] = i
	}
	return m
})

// Kind is the kind of a rule's values: "yes or no", "number", "text" or "list".
func (k Key) Kind() string {
	path, ok := fieldPaths()[k.Name]
	if !ok {
		return ""
	}
	switch reflect.TypeFor[Rules]().FieldByIndex(path).Type.Kind() {
	case reflect.Bool:
		return kindFlag
	case reflect.Int:
		return kindNumber
	case reflect.String:
		return kindText
	case reflect.Slice:
		return kindList
	}
	return ""
}

const (
	kindFlag   = "yes or no"
	kindNumber = "number"
	kindText   = "text"
	kindList   = "list"
)

const (
	maxText  = 1000 // bytes of a text value
	maxItems = 1000 // of a list value
)

// check says what is wrong with a value for this rule.
func (k Key) check(value any) error {
	kind := k.Kind()
	switch v := value.(type) {
	case bool:
		if kind == kindFlag {
			return nil
		}
	case int:
		if kind == kindNumber {
			if v < 0 || v > k.Max {
				return fmt.Errorf("%d is out of range: want 0 to %d", v, k.Max)
			}
			return nil
		}
	case string:
		if kind == kindText {
			if len(v) > maxText {
				return fmt.Errorf("the text is longer than %d bytes", maxText)
			}
			if len(k.Choices) > 0 && !slices.ContainsFunc(k.Choices, func(c Choice) bool { return c.Value == v }) {
				return fmt.Errorf("%q is none of %s", v, k.choiceList())
			}
			return nil
		}
	case []string:
		if kind == kindList {
			if len(v) > maxItems {
				return fmt.Errorf("the list is longer than %d", maxItems)
			}
			return nil
		}
	}
	return fmt.Errorf("want %s", k.want())
}

func (k Key) want() string {
	switch kind := k.Kind(); {
	case kind == kindFlag:
		return "true or false"
	case kind == kindNumber:
		return fmt.Sprintf("a number from 0 to %d", k.Max)
	case kind == kindList:
		return "a list of texts"
	case len(k.Choices) > 0:
		return "one of " + k.choiceList()
	}
	return "a text"
}

func (k Key) choiceList() string {
	var names []string
	for _, c := range k.Choices {
		names = append(names, c.Value)
	}
	return strings.Join(names, ", ")
}
