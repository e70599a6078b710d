package rules

import (
	"sync"

	"github.com/skilltrace/skilltrace/skills"
)

// article is Claude Code as an analysis of its source describes it. Where that is
// silent, the recorded 2.1.88 stands in.
var article = sync.OnceValues(func() (*Table, error) {
	const folders = "five folders in this order: managed, user, project, additional, legacy commands"
	const visible = "the model sees prompts that are not manual only, not built in, and have a description or when_to_use"
	const order = "a body is rendered in this order: arguments, variables, inline shell"
	const sent = "the first turn sends all, later turns only new names, kept per agent in a set of names sent"
	const registered = "an invoked skill is registered under agent and name, with content and time"
	const back = "after a compaction: newest first, each cut to 5,000 tokens keeping the start, kept while the sum stays within 25,000, the rest dropped"
	const compacts = "compaction at 70 to 80 % of the window, or by /compact"
	return newDescribed("article", Description{Source: "an analysis of the client's source, about 2.1.88", About: "2.1.88", Like: "2.1.88"}, []Change{
		described("discovery.sources", []string{"managed", "user", "project", "add-dir", "commands"}, folders),
		described("discovery.commands", string(skills.CommandsListed), folders),
		described("discovery.add_dir_skills", true, folders),
		described("discovery.real_file_once", true, "the same real file is loaded once"),
		described("discovery.conditional", true, "skills with paths: wait for a matching file or folder"),
		described("discovery.enter_activates", true, "a file that is read or written, or a folder that is entered, brings in skills with paths:"),
		described("discovery.hide_builtins", true, visible),
		described("discovery.described_commands", true, visible),
		described("discovery.undescribed", false, visible),
		described("budget.fixed", 8000, "the listing has a budget of about 8,000 characters"),
		described("send.on_change", string(Delta), sent),
		described("send.edited", string(EditedNever), sent),
		described("send.each_prompt", true, sent),
		described("send.on_removal", string(ResendNothing), sent),
		described("send.on_body_edit", string(ResendNothing), sent),
		described("send.after_compaction", false, "the names sent are not forgotten at a compaction, so the listing is not sent again"),
		described("call.full_plugin_names", true, "exact name match, no guessing"),
		described("call.did_you_mean", false, "exact name match, no guessing"),
		described("call.did_you_mean_plugins", false, "exact name match, no guessing"),
		described("call.did_you_mean_full_name", false, "exact name match, no guessing"),
		described("call.reads_file", true, "only the front matter is read at the start"),
		described("call.body_place", string(BodyRecord), "the body is a user message with isMeta"),
		described("call.fork_works", true, "a skill runs inline, or in a fork with context: fork"),
		described("body.braced", true, order+"; arguments are ${1} and so on"),
		described("body.session_id", true, order+"; CLAUDE_SESSION_ID is one"),
		described("body.skill_dir", true, order+"; CLAUDE_SKILL_DIR is one"),
		described("body.vars_before_shell", true, order),
		described("body.shell_not_managed", true, "inline shell is disabled for managed skills"),
		described("compaction.in_requests", true, back),
		described("compaction.slash_registers", true, registered),
		described("compaction.json_text", false, registered),
		described("compaction.any_order", false, back),
		described("compaction.proactive", true, compacts),
		described("compaction.auto_from", 70, compacts),
		described("compaction.auto_to", 80, compacts),
		described("reattach.limited", true, back),
		described("reattach.skill_tokens", 5000, back),
		described("reattach.total_tokens", 25000, back),
		described("reattach.stop", true, back),
		described("agents.subagent_isolated", true, registered),
		described("agents.fork_isolated", true, registered),
		described("agents.subagent_listing", string(SubagentFull), "a subagent starts with no names sent, so it gets all"),
	})
})
