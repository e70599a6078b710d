package rules

import (
	"sync"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/skills"
)

// miniCC is a small client made for teaching. What its description does not have is
// taken for missing; what any client must have, such as a grammar of front matter, is
// that of the newest recorded one.
var miniCC = sync.OnceValues(func() (*Table, error) {
	const folders = "two folders, HOME/skills/NAME/SKILL.md and CWD/.mini_cc/skills/NAME/SKILL.md"
	const fields = "front matter: name, description, disable-model-invocation"
	const lines = "a line is - name: description or - name"
	const limit = "the budget is 1 % of the window times 4 characters (1M: 40,000)"
	const over = "over the budget descriptions are removed from the least used skill upward, of equal ones by name, until it fits; names stay"
	const numbers = "$0 $1 and so on are words, split at blanks; a missing one is empty"
	const none = "the client has no such thing"
	const slash = "a typed skill is one user message of two texts: the body, then the command and its arguments in tags"
	const back = "after a compaction each invoked body is put back as it was, at most 20,000 characters each"
	return newDescribed("mini-cc", Description{Source: "the description of a teaching client", Like: "2.1.332"}, []Change{
		described("discovery.sources", []string{"user", "project"}, folders),
		described("discovery.project_folder", ".mini_cc", folders),
		described("discovery.parents", false, folders),
		described("discovery.project_wins", true, "the project's skill of a name wins"),
		open("discovery.add_dir_skills", false, none),
		open("discovery.add_dir_scoped", false, none),
		open("discovery.add_dir_commands", false, none),
		open("discovery.commands", string(skills.CommandsOmitted), none),
		open("discovery.real_file_once", false, none),
		described("discovery.conditional", false, fields),
		described("discovery.undescribed", true, lines),
		open("discovery.drop_angles", false, none),
		open("discovery.overrides", false, none),
		open("discovery.hide_builtins", true, none),
		described("front.fields", []string{"name", "description", "disable-model-invocation"}, fields),
		open("entry.alias", false, none),
		open("entry.clean", false, none),
		open("entry.nested_suffix", false, none),
		open("entry.cap_setting", false, none),
		described("entry.cap", 1536, "a description has at most 1,536 characters"),
		described("entry.bare_undescribed", true, lines),
		described("listing.sort", string(skills.SortBytes), "sorted by name"),
		described("listing.one_list", true, "sorted by name"),
		described("listing.line_breaks", true, "each line counts its length plus one"),
		open("listing.unit", string(budget.UnitUTF16), "a character is a UTF-16 code unit"),
		described("listing.overflow", string(budget.OverflowStrip), over),
		described("listing.rank", string(budget.RankCount), over),
		described("listing.usage_file", "skills-usage.json", "usage counts stand in HOME/skills-usage.json"),
		open("listing.exempt_bundled", false, none),
		described("budget.fixed", 0, limit),
		described("budget.percent", 100, limit),
		described("budget.new_model_chars", 4, limit),
		open("budget.fraction_setting", false, none),
		open("budget.million_models", []string{"claude-fable", "claude-haiku-5", "claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5"},
			"as in claude-code 2.1.332, but unknown models have 200,000 tokens"),
		described("catalogue.place", string(PlaceSystem), "the catalogue is a section # Skills of the system prompt"),
		open("catalogue.system_message", false, none),
		open("catalogue.message", 0, none),
		open("catalogue.block", 0, none),
		open("catalogue.skill_count", false, none),
		open("catalogue.names", false, none),
		open("catalogue.digests", false, none),
		open("catalogue.rendered", false, none),
		described("send.on_change", string(Fixed), "the catalogue is fixed for the session"),
		open("send.edited", string(EditedNever), "the catalogue is fixed"),
		open("send.new_folder", string(NewFolderUnseen), "the catalogue is fixed"),
		described("send.after_compaction", false, "the catalogue is fixed for the session"),
		open("send.on_resume", string(ResumeFull), "a process makes its own system prompt"),
		open("send.after_clear", false, none),
		open("call.did_you_mean", false, none),
		open("call.did_you_mean_plugins", false, none),
		open("call.did_you_mean_full_name", false, none),
		described("call.dmi_long", false, "a manual-only skill called by the model is refused: it can be invoked only by the user"),
		described("call.dmi_phrase", "can be invoked only by the user", "a manual-only skill called by the model is refused: it can be invoked only by the user"),
		open("call.reads_file", true, "the file as it is at the call"),
		described("call.shell_any_error", true, "any failure of an inline command fails the call; with what text is not described"),
		described("call.body_place", string(BodyBehind), "the result is Launching skill: NAME, the body a text behind the tool results in the same user message"),
		open("call.source_tool_use", false, none),
		open("call.command_permissions", false, none),
		open("call.scoped_variants", false, none),
		described("call.slash_works", true, slash),
		described("call.slash_record", string(SlashBehind), slash),
		open("call.stacked", false, none),
		described("call.fork_works", false, fields),
		open("call.background_fork", false, none),
		described("body.tool_args", true, "arguments without a placeholder are appended, with a line break behind them"),
		described("body.append_newline", true, "arguments without a placeholder are appended, with a line break behind them"),
		described("body.empty_args", true, numbers),
		described("body.positional", true, numbers),
		described("body.plain_numbers", true, numbers),
		described("body.missing_kept", false, numbers),
		described("words.blanks", true, numbers),
		described("body.named", false, fields),
		open("body.escape", false, none),
		open("body.escape_bang", false, none),
		described("body.plain_skill_dir", true, "${SKILL_DIR} is the skill's folder"),
		open("body.skill_dir", false, none),
		open("body.session_id", false, none),
		open("body.effort", false, none),
		open("body.project_dir", false, none),
		open("body.shell_disable", false, none),
		open("notes.enabled", false, none),
		open("notes.string_content", false, none),
		described("compaction.in_requests", true, back),
		open("compaction.recorded", false, "how a log shows it: where one does, it is compared"),
		described("compaction.slash_registers", true, back),
		open("compaction.earlier", false, none),
		open("compaction.any_order", true, "the order in which they come back"),
		open("compaction.no_paths", true, none),
		described("reattach.limited", true, back),
		described("reattach.skill_chars", 20000, back),
		described("reattach.bare_cut", true, back),
		described("reattach.skill_tokens", 0, back),
		described("reattach.total_tokens", 0, back),
		open("agents.subagent_listing", string(SubagentNone), none),
		open("agents.preload_skills", false, none),
		open("agents.async_default", false, none),
		open("models.aliases", []string{}, none),
		open("models.effort", []string{}, none),
	})
})
