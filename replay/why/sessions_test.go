package why_test

import (
	"fmt"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/why"
)

// asks is a prompt, a listing and a reply without a call: lines 1 to 3.
func asks(entries ...string) func(b *book) {
	return func(b *book) {
		b.prompt("run the pending migration")
		b.listing(true, entries...)
		b.say("done")
	}
}

// versions is a session of two clients in turn, of which the first writes no listing to
// the log: prompts at lines 1, 3, 6, 8 and 10.
func versions(b *book) {
	const old, newer = "2.1.50", "2.1.112"
	b.version = old
	silent(b)
	b.version = newer
	asks(listed)(b)
	b.version = old
	silent(b)
	b.version = newer
	silent(b)
	b.prompt("and now")
	b.listing(false, "- db-migrate: Runs it.")
	b.say("done")
}

// silent is a prompt and a reply on a client that writes no listing to the log.
func silent(b *book) {
	b.prompt("run the pending migration")
	b.say("done")
}

// commands is a skill file that tells to run them: the first stands in line 5.
func commands(lines ...string) string {
	return "---\ndescription: Runs pending database migrations.\n---\n```sh\n" + strings.Join(lines, "\n") + "\n```\n"
}

const awk = "---\ndescription: Runs pending database migrations.\n---\nawk '{print $1, $NF}' f\n"

// byHand is a prompt, a listing and commands that the model ran, two lines each from
// line 3 on.
func byHand(lines ...string) func(b *book) {
	return func(b *book) {
		b.prompt("run it")
		b.listing(true, listed, "- db-migrate: Runs pending database migrations.")
		for _, line := range lines {
			b.tool("Bash", `{"command":`+quote(line)+`}`)
		}
		b.say("done")
	}
}

func with(files map[string]string, more ...string) map[string]string {
	out := map[string]string{home + "commit/SKILL.md": skillFile("description: Writes a commit.")}
	for k, v := range files {
		out[k] = v
	}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

func one(name, text string, more ...string) map[string]string {
	return with(map[string]string{name: text}, more...)
}

// used are counts of old uses of all fillers and of commit.
func used(n int) map[string]replay.UsageCount {
	counts := map[string]replay.UsageCount{"commit": {Count: 1}}
	for i := range n {
		counts[fmt.Sprintf("fill-%02d", i)] = replay.UsageCount{Count: 1}
	}
	return counts
}

// What is known of a file: the log shows another text, or it is dated so that nothing
// shows its text, or it is dated after the session.
var (
	edited   = map[string]why.File{migrate: {Text: why.FileEdited, Described: why.FileEdited}}
	doubtful = map[string]why.File{migrate: {Text: why.FileUnknown, Described: why.FileUnknown, Late: true}}
	after    = map[string]why.File{migrate: {Text: why.FileUnknown, Described: why.FileUnknown, Late: true, After: true}}
	hidden   = map[string]why.File{migrate: {Text: why.FileUnknown, Described: why.FileUnknown, Late: true, After: true, Hidden: "db-migrate"}}
	kept     = map[string]why.File{migrate: {Text: why.FileSame, Described: why.FileSame}}
)

const manual = "---\ndescription: Runs it.\ndisable-model-invocation: true\n---\nDo it.\n"

const migrate = home + "db-migrate/SKILL.md"

// suite holds a session for each way in which a gate can fail.
var suite = []session{
	// exists
	{name: "no such skill", version: "2.1.332", files: with(nil), build: asks(listed), skill: "db-migrat",
		gate: why.Exists, line: 1, says: "no skill file has that name"},
	{name: "near name", version: "2.1.332", files: one(migrate, plain), build: asks(listed, "- db-migrate: Runs pending database migrations."), skill: "db_migrate",
		gate: why.Exists, line: 1, says: "did you mean db-migrate?"},
	{name: "near name in another case", version: "2.1.332", files: one(migrate, plain), build: asks(listed), skill: "DB-Migrate",
		gate: why.Exists, line: 1, says: "did you mean db-migrate?"},
	{name: "near name of a plugin", version: "2.1.332", build: asks(listed, "- a:db-migrate: One.", "- b:db-migrate: Two."),
		gate: why.Exists, state: why.Undetermined, line: 1, says: "did you mean a:db-migrate or b:db-migrate?", has: "announced not_reached"},
	{name: "unknown to the client", version: "2.1.332", build: func(b *book) {
		asks(listed)(b)
		b.refused("db-migrate", "<tool_use_error>Unknown skill: db-migrate</tool_use_error>")
	}, gate: why.Exists, line: 5, says: "refused (line 5)"},
	{name: "typed and unknown", version: "2.0.76", build: func(b *book) {
		silent(b)
		b.user(quote("Unknown slash command: db-migrate"), "")
		b.prompt("go on")
		b.say("done")
	}, command: "db-migrate", gate: why.Exists, line: 3, says: "called for /db-migrate (line 3) and refused (line 3): the client knew no skill of that name"},
	{name: "typed and unknown, told beside the conversation", version: "2.1.140", build: func(b *book) {
		asks(listed)(b)
		b.row("system", `"subtype":"informational","content":"Unknown command: /db-migrate. Did you mean /commit?","level":"warning"`)
	}, command: "db-migrate", gate: why.Exists, line: 4, says: "refused (line 4)"},
	{name: "typed and unknown, as output of a command", version: "2.1.260", build: func(b *book) {
		asks(listed)(b)
		b.row("system", `"subtype":"local_command","content":"/db-migrate now"`)
		b.row("system", `"subtype":"local_command","content":"<local-command-stdout>Unknown command: /db-migrate</local-command-stdout>"`)
	}, command: "db-migrate", gate: why.Exists, line: 5, says: "refused (line 5)"},
	{name: "typed and unknown, left to the model", version: "2.1.332", build: func(b *book) {
		asks(listed)(b)
		b.prompt("/db-migrate now")
		b.row("attachment", `"attachment":{"type":"unknown_command_fallback","commandName":"db-migrate","availableCommandNames":["commit"]}`)
		b.say("done")
	}, prompt: 2, gate: why.Exists, line: 5, says: "called for prompt 2 (line 4) and refused (line 5)"},
	{name: "typed by another name than its own", version: "2.1.140", build: func(b *book) {
		asks(listed, "- db:db-migrate: Runs it.")(b)
		b.row("system", `"subtype":"informational","content":"Unknown command: /db-migrate","level":"warning"`)
	}, command: "db-migrate", gate: why.Called, line: 4, says: "by the user, typed; refused (line 4): Unknown command: /db-migrate"},
	{name: "before the client was upgraded", version: "2.1.50", build: func(b *book) {
		silent(b)
		b.version = "2.1.332"
		b.prompt("again")
		b.listing(true, "- db-migrate: Runs it.")
		b.say("done")
	}, gate: why.Loaded, state: why.Undetermined, line: 1, says: "no skill files are at hand"},
	{name: "nothing known", version: "2.1.50", build: silent, gate: why.Exists, state: why.Undetermined, line: 1, says: "no skill files are at hand"},
	{name: "left out, dated after the session", version: "2.1.332", files: with(nil), read: hidden, build: asks(listed),
		gate: why.Exists, state: why.Undetermined, file: migrate, says: "its file is dated after the session", has: "announced not_reached"},
	{name: "kept from the model, dated after the session", version: "2.1.332", files: one(migrate, manual), read: after, build: asks(listed),
		gate: why.Exists, state: why.Undetermined, file: migrate, says: "its file is dated after the session", has: "loaded undetermined: its file is dated after the session; as it is now: read [] []\neligible undetermined: its file is dated after the session; as it is now: only the user may call it"},
	{name: "dated after the session, and unknown to the client", version: "2.1.332", files: one(migrate, plain), read: after, build: func(b *book) {
		asks(listed)(b)
		b.refused("db-migrate", "<tool_use_error>Unknown skill: db-migrate</tool_use_error>")
	}, gate: why.Exists, line: 5, says: "the client knew no skill of that name"},
	{name: "dated after the session, of a client that logs no listing", version: "2.1.50", files: one(migrate, plain), read: after, build: silent,
		gate: why.Exists, state: why.Undetermined, file: migrate, says: "its file is dated after the session", has: "announced undetermined: by the rules, with line 1: this client writes no listing to the log; if its file was there"},
	{name: "dated after the session, and listed", version: "2.1.332", files: one(migrate, manual), read: after, build: asks(listed, "- db-migrate: Runs it."),
		gate: why.Called, line: 1, says: "not chosen", has: "by the files and settings read now it would not be listed"},

	// loaded
	{name: "loose file", version: "2.1.332", files: one(home+"db-migrate.md", plain), build: asks(listed), gate: why.Loaded, file: home + "db-migrate.md", says: "beside the skill folders", has: "move it to /home/dev/.claude/skills/db-migrate/SKILL.md"},
	{name: "too deep", version: "2.1.332", files: one(home+"group/db-migrate/SKILL.md", plain), build: asks(listed), gate: why.Loaded, file: home + "group/db-migrate/SKILL.md", says: "one folder too deep"},
	{name: "wrong case", version: "2.1.332", files: one(home+"db-migrate/skill.md", plain), build: asks(listed), gate: why.Loaded, file: home + "db-migrate/skill.md", says: "in capitals"},
	{name: "folder without the file", version: "2.1.332", files: one(home+"db-migrate/README.md", plain), build: asks(listed), gate: why.Loaded, file: home + "db-migrate", says: "has no SKILL.md"},
	{name: "broken link", version: "2.1.332", files: one(home+"db-migrate", "-> /nowhere"), build: asks(listed), gate: why.Loaded, file: home + "db-migrate", says: "leads nowhere"},
	{name: "linked twice", version: "2.1.332", files: one(home+"apply/SKILL.md", plain), build: asks(listed, "- apply: Runs pending database migrations."), skill: "zz-apply",
		gate: why.Exists, line: 1},
	{name: "same file by a link", version: "2.1.332", files: with(map[string]string{home + "apply/SKILL.md": plain, home + "db-migrate": "-> apply"}), build: asks(listed, "- apply: Runs pending database migrations."),
		gate: why.Loaded, line: 1, file: migrate, says: "the same file as /home/dev/.claude/skills/apply/SKILL.md"},
	{name: "wrong folder", version: "2.1.332", files: one("/home/dev/shop/skills/db-migrate/SKILL.md", plain), build: asks(listed), gate: why.Loaded, file: "/home/dev/shop/skills/db-migrate/SKILL.md", says: "no client looks"},
	{name: "folder above, not searched", version: "2.0.30", files: with(nil, "/home/dev/work/.claude/skills/db-migrate/SKILL.md", plain), build: silent, addDirs: []string{"/home/dev/work"},
		gate: why.Loaded, file: "/home/dev/work/.claude/skills/db-migrate/SKILL.md", says: "does not look into"},
	{name: "command on an old client", version: "2.0.30", files: one("/home/dev/.claude/commands/db-migrate.md", plain), build: silent, gate: why.Loaded, line: 1, file: "/home/dev/.claude/commands/db-migrate.md", says: "does not list commands"},
	{name: "description continued at column 0", version: "2.1.332", files: one(migrate, "---\ndescription: Runs pending\nmigrations of the database\ndisable-model-invocation: true\n---\n# Some Heading\n"),
		build: asks(listed, "- db-migrate: Some Heading"), gate: why.Loaded, line: 3, file: migrate, says: "all fields are lost", has: "is not in force"},
	{name: "comment above the front matter", version: "2.1.332", files: one(migrate, "# a comment\n"+plain), build: asks(listed, "- db-migrate: a comment"), gate: why.Loaded, line: 2, file: migrate, says: "a comment above ---"},
	{name: "block not closed", version: "2.1.332", files: one(migrate, "---\ndescription: Runs it.\n"), build: asks(listed, "- db-migrate: description: Runs it."), gate: why.Loaded, line: 1, file: migrate, says: "is not closed"},
	{name: "indicator on an old client", version: "2.0.57", files: one(migrate, "---\ndescription: |\n  Runs pending migrations.\n---\nDo it.\n"), build: silent, gate: why.Loaded, line: 2, file: migrate, says: "1 of 24 characters"},
	{name: "byte order mark on an older client", version: "2.1.178", files: one(migrate, "\uFEFF"+plain), build: asks(listed, "- db-migrate: ---"), gate: why.Loaded, line: 1, file: migrate, says: "byte order mark"},
	{name: "not strict YAML on an old client", version: "2.1.10", files: one(migrate, skillFile("description: Runs: all of it")), build: silent, gate: why.Loaded, line: 2, file: migrate, says: "all fields are lost"},
	{name: "a comment cuts all of the description", version: "2.1.332", files: one(migrate, skillFile("description: # migrations")), build: asks(listed, "- db-migrate: Some Heading"), gate: why.Loaded, line: 2, file: migrate, says: "starts a comment"},
	{name: "file edited since", version: "2.1.332", files: one(migrate, "---\ndescription: Runs\nmigrations\n---\n"), read: edited, build: asks(listed),
		gate: why.Announced, line: 2, has: "loaded undetermined: the file was edited since"},
	{name: "file edited since, and listed", version: "2.1.332", files: one(migrate, "---\ndescription: Runs\nmigrations\n---\n"), read: edited, build: asks(listed, "- db-migrate: Runs pending migrations."),
		gate: why.Called, line: 1, has: "the file was edited since"},
	{name: "front matter that nothing dates", version: "2.1.332", files: one(migrate, "---\ndescription: Runs\nmigrations\n---\n"), read: doubtful, build: asks(listed),
		gate: why.Announced, line: 2, has: "loaded undetermined: its file is dated after the session began; as it is now: front matter"},
	{name: "front matter that nothing dates, listed by name", version: "2.1.332", files: one(migrate, "---\ndescription: Runs\nmigrations\n---\n"), read: doubtful, build: asks(listed, "- db-migrate"),
		gate: why.Described, line: 2, has: "loaded passed: the client listed it"},
	{name: "loose file, dated after the session", version: "2.1.332", files: one(home+"db-migrate.md", plain), read: map[string]why.File{home + "db-migrate.md": {Text: why.FileUnknown, Late: true, After: true}}, build: asks(listed),
		gate: why.Exists, state: why.Undetermined, file: home + "db-migrate.md", has: "loaded undetermined: its file is dated after the session; as it is now: a file beside the skill folders"},
	{name: "broken link that nothing dates", version: "2.1.332", files: one(home+"db-migrate", "-> /nowhere"), read: map[string]why.File{home + "db-migrate": {Text: why.FileUnknown}}, build: asks(listed),
		gate: why.Announced, line: 2, has: "loaded undetermined: nothing shows that its file was the same then; as it is now: a link that leads nowhere"},
	{name: "the other of two files edited since", version: "2.1.332", files: with(map[string]string{home + "apply/SKILL.md": plain, home + "db-migrate": "-> apply"}), read: map[string]why.File{home + "apply/SKILL.md": {Text: why.FileUnknown, Late: true}}, build: asks(listed),
		gate: why.Announced, line: 2, has: "loaded undetermined: its file is dated after the session began; as it is now: it is the same file as"},

	// eligible
	{name: "manual only by its file", version: "2.1.332", files: one(migrate, skillFile("description: Runs it.\ndisable-model-invocation: true")), build: asks(listed), gate: why.Eligible, line: 3, file: migrate, says: "only the user may call it", has: "type /db-migrate"},
	{name: "manual only by a file that nobody wrote since", version: "2.1.332", files: one(migrate, manual), read: kept, build: asks(listed), gate: why.Eligible, line: 3, file: migrate, says: "only the user may call it"},
	{name: "manual only by a file that nothing dates", version: "2.1.332", files: one(migrate, manual), read: doubtful, build: asks(listed),
		gate: why.Announced, line: 2, says: "its file is dated after the session began", has: "eligible undetermined: its file is dated after the session began; as it is now: only the user may call it"},
	{name: "manual only by a file that the session wrote", version: "2.1.332", files: one(migrate, manual), read: doubtful, build: func(b *book) {
		asks(listed)(b)
		b.tool("Write", `{"file_path":"`+migrate+`","content":`+quote(manual)+`}`)
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.Eligible, line: 3, file: migrate, says: "only the user may call it"},
	{name: "manual only by a file that the session wrote and edited", version: "2.1.332", files: one(migrate, manual), read: doubtful, build: func(b *book) {
		asks(listed)(b)
		b.tool("Write", `{"file_path":"`+migrate+`","content":`+quote(manual)+`}`)
		b.tool("Edit", `{"file_path":"`+migrate+`","old_string":"a","new_string":"b"}`)
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.Announced, line: 2, has: "eligible undetermined: its file is dated after the session began"},
	{name: "left out, and written by the session", version: "2.1.332", files: with(nil), read: hidden, build: func(b *book) {
		asks(listed)(b)
		b.tool("Write", `{"file_path":"`+migrate+`","content":`+quote(plain)+`}`)
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.Announced, line: 2, has: "exists passed: the session wrote it (line 5)"},
	{name: "manual only by its file, and listed later", version: "2.1.332", files: one(migrate, manual), read: kept, build: func(b *book) {
		asks(listed)(b)
		b.prompt("again")
		b.listing(false, "- db-migrate: Runs it.")
		b.say("done")
	}, gate: why.Announced, line: 5, has: "eligible undetermined: it was listed at line 5; its file may have been another; as it is now: only the user may call it"},
	{name: "held back by a file edited since", version: "2.1.332", files: one(migrate, skillFile("description: Runs it.\npaths: db/**")), read: edited, build: asks(listed),
		gate: why.Announced, line: 2, has: "eligible undetermined: the file was edited since; as it is now: held back until"},
	{name: "undescribed by a file that nothing dates", version: "2.0.76", files: one(migrate, skillFile("name: db-migrate")), read: doubtful, build: silent,
		gate: why.Eligible, state: why.Undetermined, line: 1, says: "its file is dated after the session began; as it is now: it has no description"},
	{name: "manual only by the refusal", version: "2.1.332", build: func(b *book) {
		asks(listed)(b)
		b.refused("db-migrate", "<tool_use_error>Skill db-migrate cannot be used with Skill tool due to disable-model-invocation</tool_use_error>")
	}, gate: why.Eligible, line: 5, says: "refused (line 5)"},
	{name: "override off", version: "2.1.332", files: one(migrate, plain), settings: replay.Settings{Overrides: map[string]string{"db-migrate": "off"}}, build: asks(listed), gate: why.Eligible, line: 1, says: "skillOverrides says off"},
	{name: "override user only", version: "2.1.332", files: one(migrate, plain), settings: replay.Settings{Overrides: map[string]string{"db-migrate": "user-invocable-only"}}, build: asks(listed), gate: why.Eligible, line: 1, says: "user-invocable-only"},
	{name: "override by the refusal", version: "2.1.332", build: func(b *book) {
		asks(listed)(b)
		b.refused("db-migrate", "<tool_use_error>Skill db-migrate is disabled for model invocation in skillOverrides settings</tool_use_error>")
	}, gate: why.Eligible, line: 5, says: "skillOverrides"},
	{name: "undescribed on an old client", version: "2.0.76", files: one(migrate, skillFile("name: db-migrate")), build: silent, gate: why.Eligible, line: 1, file: migrate, says: "no description"},
	{name: "undescribed in a plugin", version: "2.1.332", files: with(map[string]string{"/p/.claude-plugin/plugin.json": `{"name":"kit"}`, "/p/skills/db-migrate/SKILL.md": "Do it.\n"}), plugins: []string{"/p"}, build: asks(listed), skill: "kit:db-migrate",
		gate: why.Eligible, line: 1, file: "/p/skills/db-migrate/SKILL.md", says: "no description"},
	{name: "held back, nothing touched", version: "2.1.332", files: one(migrate, skillFile("description: Runs it.\npaths: db/**")), build: asks(listed), gate: why.Eligible, line: 3, file: migrate, says: "no file was touched"},
	{name: "held back, others touched", version: "2.1.332", files: one(migrate, skillFile("description: Runs it.\npaths: db/**")), build: func(b *book) {
		b.prompt("run it")
		b.listing(true, listed)
		b.read("/home/dev/shop/web/a.ts")
		b.say("done")
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.Eligible, line: 3, file: migrate, says: "Read /home/dev/shop/web/a.ts (line 4)"},
	{name: "name with an angle", version: "2.1.332", files: one(home+"db<x>/SKILL.md", plain), build: asks(listed), skill: "db<x>", gate: why.Eligible, line: 1, says: "holds < or >"},
	{name: "permission denies the skill", version: "2.1.332", files: one(migrate, plain), settings: replay.Settings{Deny: []string{"Skill(db-migrate)"}}, build: asks(listed, "- db-migrate: Runs pending database migrations."), gate: why.Eligible, line: 1, says: "permissions deny Skill(db-migrate)"},

	// announced
	{name: "added later", version: "2.1.332", build: func(b *book) {
		asks(listed)(b)
		b.prompt("again")
		b.listing(false, "- db-migrate: Runs it.")
		b.say("done")
	}, gate: why.Announced, line: 5, says: "first listed at line 5"},
	{name: "resumed and not told", version: "2.1.112", files: one(migrate, plain), starts: []int{4}, build: func(b *book) {
		asks(listed)(b)
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.Announced, line: 2, says: "not in the listing of line 2", has: "was resumed"},
	{name: "subagent without a listing", version: "2.1.76", files: one(migrate, plain), build: silent, sub: silent, agent: "a1", gate: why.Announced, line: 1, says: "sent no listing"},
	{name: "subagent of a client that logs none", version: "2.1.112", build: asks(listed, "- db-migrate: Runs it."), sub: silent, agent: "a1", gate: why.Announced, state: why.Undetermined, line: 1, says: "writes it to no log"},
	{name: "Skill tool denied", version: "2.1.332", files: one(migrate, plain), settings: replay.Settings{Deny: []string{"Skill"}}, build: silent, gate: why.Announced, line: 1, says: "permissions deny the tool Skill"},
	{name: "cut off the end", version: "2.1.10", files: with(filler(40, 700), migrate, plain, home+"zz/SKILL.md", plain), skill: "zz", build: silent, gate: why.Announced, line: 1, says: "cut off the end of the listing", has: "SLASH_COMMAND_TOOL_CHAR_BUDGET="},
	{name: "not listed, against the files of now", version: "2.1.332", files: one(migrate, plain), build: asks(listed), gate: why.Announced, line: 2, says: "though by the files read now it would be"},
	{name: "not listed, by the log alone", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, listed)
		b.slash("db-migrate", "", base+"db-migrate\n\nDo it.\n", "")
		b.say("done")
	}, gate: why.Announced, line: 2, says: "not in the listing of line 2"},
	{name: "before the client that logs listings", version: "2.1.50", build: versions, gate: why.Loaded, state: why.Undetermined, line: 1, has: "announced undetermined: this client writes no listing to the log"},
	{name: "behind the last client that logs listings", version: "2.1.50", build: versions, prompt: 3, gate: why.Loaded, state: why.Undetermined, line: 6, has: "announced undetermined: not in the listing of line 4, and the client at this prompt, 2.1.50, writes no listing to the log"},
	{name: "behind one that logs none", version: "2.1.50", build: versions, prompt: 4, gate: why.Loaded, state: why.Undetermined, line: 8, has: "announced undetermined: not in the listing of line 4, and the client at line 6, 2.1.50, wrote no listing to the log"},
	{name: "with a whole listing, behind one that logs none", version: "2.1.50", build: versions, prompt: 2, gate: why.Announced, line: 11, says: "not in the listing of line 4; first listed at line 11"},

	// described
	{name: "name only, by the log alone", version: "2.1.332", build: asks(listed, "- db-migrate"), gate: why.Described, line: 2, says: "only the name", has: "need the skill files"},
	{name: "name only, by use", version: "2.1.332", files: with(filler(12, 700), migrate, plain), usage: used(12), env: map[string]string{"SLASH_COMMAND_TOOL_CHAR_BUDGET": "8600"}, exact: true,
		build: asks(listed, "- db-migrate"), gate: why.Described, line: 2, says: "8,600-character budget, 8,618 asked for; rank 14 of 14 by use (never used)",
		has: `["cut 18 characters from fill-00 (700 now)" "cut 18 characters from its own description (33 now)" "call /db-migrate once: it then ranks 1st and is described" "set SLASH_COMMAND_TOOL_CHAR_BUDGET=8618"]`},
	{name: "name only, by use, in a window", version: "2.1.332", files: with(filler(12, 700), migrate, plain), usage: used(12), window: 215_000, exact: true,
		build: asks(listed, "- db-migrate"), gate: why.Described, line: 2, says: "8,600-character budget", has: "set skillListingBudgetFraction to 0.0101"},
	{name: "name only, uses unknown", version: "2.1.332", files: with(filler(12, 700), migrate, plain), window: 100_000,
		build: asks(listed, "- db-migrate"), gate: why.Described, line: 2, says: "4,000-character budget", has: "usage counts are missing"},
	{name: "shortened to the width of all", version: "2.1.112", files: with(filler(12, 700), migrate, skillFile("description: "+strings.Repeat("migrate ", 60))), env: map[string]string{"SLASH_COMMAND_TOOL_CHAR_BUDGET": "3000"},
		build: asks(listed, "- db-migrate: "+strings.Repeat("migrate ", 20)[:159]+"…"), gate: why.Described, line: 2, says: "shortened to 159 of 479 characters", has: "each description is cut to"},
	{name: "names alone, for all", version: "2.1.112", files: with(filler(60, 700), migrate, plain), env: map[string]string{"SLASH_COMMAND_TOOL_CHAR_BUDGET": "1000"},
		build: asks("- commit", "- db-migrate"), gate: why.Described, line: 2, says: "only the name"},
	{name: "shortened at the cap", version: "2.1.332", files: one(migrate, skillFile("description: "+strings.Repeat("migrate ", 250))), build: asks(listed, "- db-migrate: "+strings.Repeat("migrate ", 250)[:1535]+"…"),
		gate: why.Described, line: 2, says: "shortened to 1,535 of 1,999 characters", has: "cut 463 characters from its description"},
	{name: "shortened at the cap, by the log alone", version: "2.1.332", build: asks(listed, "- db-migrate: "+strings.Repeat("migrate ", 250)[:1535]+"…"),
		gate: why.Described, line: 2, says: "shortened to 1,535 characters: an entry is cut at 1,536"},
	{name: "shortened to the width of all, by the log alone", version: "2.1.112", build: asks(listed, "- db-migrate: "+strings.Repeat("migrate ", 20)[:159]+"…"),
		gate: why.Described, line: 2, says: "shortened to 159 characters: its description did not fit the listing"},
	{name: "name only by an override", version: "2.1.332", files: one(migrate, plain), settings: replay.Settings{Overrides: map[string]string{"db-migrate": "name-only"}}, build: asks(listed, "- db-migrate"), gate: why.Described, line: 2, says: "skillOverrides says name-only"},

	// present
	{name: "lost at a compaction", version: "2.1.178", build: func(b *book) {
		b.prompt("hello")
		b.listing(true, listed, "- db-migrate: Runs it.")
		b.say("hi")
		b.listing(false, "- late: Comes late.")
		b.compact()
		b.prompt("use db-migrate")
		b.say("done")
	}, prompt: 2, gate: why.Present, line: 5, says: "lost at the compaction of line 5", has: "does not list again"},
	{name: "lost at a compaction, of a client that would not log a listing of its next process", version: "2.1.86", files: one(migrate, plain), build: func(b *book) {
		b.prompt("hello")
		b.say("hi")
		b.compact()
		b.prompt("use db-migrate")
		b.say("done")
	}, prompt: 2, gate: why.Present, state: why.Undetermined, line: 3, says: "unless it was restarted since"},
	{name: "lost at a compaction, of a client that logs none and is known not to have been restarted", version: "2.1.86", exact: true, files: one(migrate, plain), build: func(b *book) {
		b.prompt("hello")
		b.say("hi")
		b.compact()
		b.prompt("use db-migrate")
		b.say("done")
	}, prompt: 2, gate: why.Present, line: 3, says: "lost at the compaction of line 3: this client does not list again"},
	{name: "lost at a compaction by name only", version: "2.1.178", build: func(b *book) {
		asks(listed, "- db-migrate")(b)
		b.compact()
		b.prompt("use db-migrate")
		b.say("done")
	}, prompt: 2, gate: why.Present, line: 4, says: "lost at the compaction of line 4", has: "described info: by name only"},
	{name: "gone from a later listing", version: "2.1.112", build: func(b *book) {
		b.prompt("hello")
		b.listing(true, listed, "- db-migrate: Runs it.")
		b.say("hi")
		b.prompt("again")
		b.listing(true, listed)
		b.say("done")
	}, prompt: 2, gate: why.Present, line: 5, says: "has it no more"},
	{name: "lost at a compaction, and then a client that logs none", version: "2.1.178", build: func(b *book) {
		b.prompt("hello")
		b.listing(true, listed, "- db-migrate: Runs it.")
		b.say("hi")
		b.compact()
		b.version = "2.1.50"
		b.prompt("use db-migrate")
		b.say("done")
	}, prompt: 2, gate: why.Present, state: why.Undetermined, line: 4, says: "lost at the compaction of line 4", has: "the client at this prompt, 2.1.50, writes no listing to the log"},

	// called
	{name: "visible and not chosen", version: "2.1.332", build: asks(listed, "- db-migrate: Runs pending database migrations."), gate: why.Called, line: 1, says: "visible, described and not chosen"},
	{name: "a name with a blank, on a client that tells no names", version: "2.1.140", skill: "Db Migrate",
		files: with(map[string]string{home + "Db Migrate/SKILL.md": plain}), build: func(b *book) {
			b.prompt("run the pending migration")
			b.attach("skill_listing", `,"isInitial":true,"skillCount":2,"content":`+quote(listed+"\n- Db Migrate: Runs pending database migrations."))
			b.say("done")
		},
		gate: why.Called, line: 1, says: "visible, described and not chosen", has: "described passed: in full, 33 characters"},
	{name: "typed, and no text came", version: "2.1.332", build: func(b *book) {
		asks("- db-migrate: Runs it.")(b)
		b.slash("db-migrate", "", "", "")
		b.say("done")
	}, command: "db-migrate", gate: why.Delivered, line: 4, says: "typed, body never injected"},
	{name: "typed of a skill that only its user can call, and no text came", version: "2.1.332", files: map[string]string{migrate: "---\ndescription: Runs it.\ndisable-model-invocation: true\n---\nRun.\n"}, build: func(b *book) {
		asks(listed)(b)
		b.slash("db-migrate", "", "", "")
		b.say("done")
	}, command: "db-migrate", gate: why.Delivered, line: 4, says: "typed, body never injected"},
	{name: "the log ends before an answer", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
	}, gate: why.Called, state: why.Undetermined, line: 1, says: "Whether db-migrate was called for prompt 1 (line 1) is not known: the log ends before the model's answer"},
	{name: "answered under the id of an earlier message", version: "2.1.332", build: func(b *book) {
		asks("- db-migrate: Runs it.")(b)
		b.prompt("run it")
		b.uses--
		b.say("done")
	}, prompt: 2, gate: why.Called, line: 4, says: "visible, described and not chosen"},
	{name: "the log ends before an answer to a call", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.use("Skill", `{"skill":"db-migrate"}`)
	}, gate: why.Called, state: why.Undetermined, line: 3, says: "What came of the call of db-migrate for prompt 1 (line 1) is not known"},
	{name: "the request failed", version: "2.1.332", build: func(b *book) {
		asks("- db-migrate: Runs it.")(b)
		b.prompt("run it")
		b.failed()
		b.prompt("run it")
		b.say("done")
	}, prompt: 2, gate: why.Called, line: 5, says: "and not called: the request failed, and the model did not answer (line 5): 529 overloaded", has: "ask again"},
	{name: "interrupted before an answer", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.user(`[{"type":"text","text":"[Request interrupted by user]"}]`, "")
		b.prompt("and then stop")
		b.say("done")
	}, prompt: 1, gate: why.Called, line: 3, says: "db-migrate was visible and described for prompt 1 (line 1), and not called: the user interrupted before the model answered (line 3).", has: "ask again"},
	{name: "interrupted in the course of a turn", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.use("Bash", `{"command":"ls"}`)
		b.user(`[{"type":"text","text":"[Request interrupted by user for tool use]"}]`, "")
	}, gate: why.Called, line: 1, says: "visible, described and not chosen", has: "the user interrupted the turn (line 4)"},
	{name: "the log ends in the course of a turn", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.use("Bash", `{"command":"ls"}`)
	}, gate: why.Called, state: why.Undetermined, line: 3, says: "Whether db-migrate was called for prompt 1 (line 1) is not known: not called so far, and the turn is unfinished in the log (line 3)."},
	{name: "the turn before the last is whole", version: "2.1.332", build: func(b *book) {
		asks("- db-migrate: Runs it.")(b)
		b.prompt("go on")
		b.tool("Bash", `{"command":"ls"}`)
	}, prompt: 1, gate: why.Called, line: 1, says: "visible, described and not chosen"},
	{name: "answered with the prompt behind it", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.prompt("and then stop")
		b.say("done")
	}, gate: why.Called, line: 1, says: "visible, described and not chosen"},
	{name: "another command that the client did not know", version: "2.1.140", build: func(b *book) {
		asks("- db-migrate: Runs it.")(b)
		b.row("system", `"subtype":"informational","content":"Unknown command: /other","level":"warning"`)
	}, command: "other", gate: why.Called, line: 4, says: "and not called: the client knew no such command, and asked the model nothing"},
	{name: "listed twice", version: "2.1.332", files: with(map[string]string{migrate: plain, shop + "db-migrate/SKILL.md": plain}), build: asks("- db-migrate: Runs pending database migrations.", listed, "- db-migrate"),
		gate: why.Described, line: 2, says: "only the name", has: "listed twice, as entries 1 (33 characters) and 3 (by name only) of line 2; the gates judge the last of them"},
	{name: "kept at a compaction and not chosen", version: "2.1.178", build: func(b *book) {
		b.prompt("hello")
		b.listing(true, listed, "- db-migrate: Runs it.")
		b.say("hi")
		b.compact(2)
		b.prompt("use it")
		b.say("done")
	}, prompt: 2, gate: why.Called, line: 6, says: "not chosen"},
	{name: "listed again behind a compaction", version: "2.1.332", build: func(b *book) {
		b.prompt("hello")
		b.listing(true, listed, "- db-migrate: Runs it.")
		b.say("hi")
		b.compact()
		b.listing(true, listed, "- db-migrate: Runs it.")
		b.prompt("use it")
		b.say("done")
	}, prompt: 2, gate: why.Called, line: 7, says: "not chosen", has: "listed again behind the compaction of line 4"},
	{name: "rejected by the user", version: "2.1.332", build: func(b *book) {
		asks(listed, "- db-migrate: Runs it.")(b)
		b.refused("db-migrate", "The user doesn't want to proceed with this tool use. The tool use was rejected.")
	}, gate: why.Called, line: 5, says: "rejected by the user", has: "permissions.allow"},
	{name: "inline command failed", version: "2.1.332", build: func(b *book) {
		asks(listed, "- db-migrate: Runs it.")(b)
		b.refused("db-migrate", "Shell command failed for pattern \"!`false`\": exit 1")
	}, gate: why.Called, line: 5, says: "refused", has: "inline command"},
	{name: "the model has no Skill tool", version: "2.1.332", build: func(b *book) {
		asks(listed, "- db-migrate: Runs it.")(b)
		b.refused("db-migrate", "<tool_use_error>Error: No such tool available: Skill</tool_use_error>")
	}, gate: why.Called, line: 5, says: "No such tool available"},
	{name: "its file read instead", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.read("/home/dev/.claude/skills/db-migrate/SKILL.md")
		b.say("done")
	}, gate: why.Called, line: 4, says: "the model read its SKILL.md (line 4)"},
	{name: "the file of another project's read", version: "2.1.332", files: one(migrate, plain), build: func(b *book) {
		b.prompt("run it")
		b.listing(true, listed, "- db-migrate: Runs pending database migrations.")
		b.read("/home/dev/other/.claude/skills/db-migrate/SKILL.md")
		b.say("done")
	}, gate: why.Called, line: 1, says: "visible, described and not chosen"},
	{name: "the script of another project's run", version: "2.1.332", files: one(migrate, plain), build: func(b *book) {
		b.prompt("run it")
		b.listing(true, listed, "- db-migrate: Runs pending database migrations.")
		b.tool("Bash", `{"command":"sh /home/dev/other/.claude/skills/db-migrate/run.sh"}`)
		b.say("done")
	}, gate: why.Called, line: 1, says: "visible, described and not chosen"},
	{name: "its file read by another path of it", version: "2.1.332", files: with(map[string]string{"/opt/kit/migrate/SKILL.md": plain, home + "db-migrate": "-> /opt/kit/migrate"}), build: func(b *book) {
		b.prompt("run it")
		b.listing(true, listed, "- db-migrate: Runs pending database migrations.")
		b.read("/opt/kit/migrate/SKILL.md")
		b.say("done")
	}, gate: why.Called, line: 4, says: "the model read its SKILL.md (line 4)"},
	{name: "another file read than its body's", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.read("/home/dev/.claude/skills/db-migrate/SKILL.md")
		b.say("done")
		b.prompt("run it")
		b.skill("db-migrate", "", "Base directory for this skill: /opt/kit/db-migrate\n\nDo it.\n")
		b.say("done")
	}, gate: why.Called, line: 1, says: "visible, described and not chosen"},
	{name: "a file read that may be its own", version: "2.1.332", skill: "kit:db-migrate", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- kit:db-migrate: Runs it.")
		b.read("/home/dev/db-migrate/SKILL.md")
		b.read("/opt/kit/skills/db-migrate/SKILL.md")
		b.say("done")
	}, gate: why.Called, line: 6, says: "the model read /opt/kit/skills/db-migrate/SKILL.md (line 6)"},
	{name: "its script run by hand", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.tool("Bash", `{"command":"sh /home/dev/.claude/skills/db-migrate/run.sh"}`)
		b.say("done")
	}, gate: why.Called, line: 4, says: "by hand (line 4)"},
	{name: "its command run by hand", version: "2.1.332", files: one(migrate, "---\ndescription: Runs pending database migrations.\n---\nRun it:\n\n```sh\n# all of them\nnpm run db:migrate -- --env $1\ngit status --short\n```\n"), build: func(b *book) {
		b.prompt("run it")
		b.listing(true, listed, "- db-migrate: Runs pending database migrations.")
		b.tool("Bash", `{"command":"cd /home/dev/shop && npm run db:migrate -- --env prod"}`)
		b.say("done")
	}, gate: why.Called, line: 4, says: "the model ran 1 of the 2 command lines of its text by hand (line 4)", has: "line 8 of its file, “npm run db:migrate -- --env …”, was run at line 4"},
	{name: "an everyday command of its text", version: "2.1.332", files: one(migrate, commands("git status", "npm test", "npm run db:migrate -- --env prod")), build: byHand("git status"), gate: why.Called, line: 1, says: "visible, described and not chosen"},
	{name: "two everyday commands of its text", version: "2.1.332", files: one(migrate, commands("git status", "npm test", "npm run db:migrate -- --env prod")), build: byHand("git status", "npm test"), gate: why.Called, line: 1, says: "visible, described and not chosen"},
	{name: "all of its everyday commands", version: "2.1.332", files: one(migrate, commands("git status", "npm test")), build: byHand("git status && npm test"), gate: why.Called, line: 4, says: "ran 2 of the 2 command lines of its text by hand (line 4)", has: "line 6 of its file, “npm test”, was run at line 4"},
	{name: "several everyday commands of its text", version: "2.1.332", files: one(migrate, commands("git status", "npm ci", "npm test", "npm run build")), build: byHand("npm ci", "ls -la", "npm test", "git status"), gate: why.Called, line: 4, says: "ran 3 of the 4 command lines of its text by hand (line 4)", has: "line 7 of its file, “npm test”, was run at line 8"},
	{name: "a script of its folder, by its own path", version: "2.1.332", files: one(migrate, commands("git status", "sh scripts/up.sh")), build: byHand("sh scripts/up.sh"), gate: why.Called, line: 4, says: "ran 1 of the 2 command lines of its text by hand (line 4)"},
	{name: "its only command", version: "2.1.332", files: one(migrate, commands("npm run db:migrate -- --env prod")), build: byHand("npm run db:migrate -- --env prod"), gate: why.Called, line: 4, says: "ran the one command line of its text by hand (line 4)"},
	{name: "a command that the session runs all the time", version: "2.1.332", files: one(migrate, commands("npm run db:migrate -- --env prod")), build: func(b *book) {
		byHand("npm run db:migrate -- --env prod")(b)
		for range 2 {
			b.prompt("again")
			b.tool("Bash", `{"command":"npm run db:migrate -- --env prod"}`)
			b.say("done")
		}
	}, gate: why.Called, line: 1, says: "visible, described and not chosen"},
	{name: "a command of its text in the log", version: "2.1.332", build: func(b *book) {
		byHand("npm run db:migrate -- --env prod")(b)
		b.prompt("now with the skill")
		b.skill("db-migrate", "", base+"db-migrate\n\n```sh\nnpm run db:migrate -- --env prod\n```\n")
		b.say("done")
	}, gate: why.Called, line: 4, says: "ran the one command line of its text by hand (line 4)", has: "its “npm run db:migrate -- --env prod” was run at line 4"},
	{name: "a command of another skill too", version: "2.1.332", files: one(migrate, "---\ndescription: Runs pending database migrations.\n---\n```sh\ngit status --short\n```\n", home+"commit/SKILL.md", "---\ndescription: Writes a commit.\n---\n```sh\ngit status --short\n```\n"), build: func(b *book) {
		b.prompt("run it")
		b.listing(true, listed, "- db-migrate: Runs pending database migrations.")
		b.tool("Bash", `{"command":"git status --short"}`)
		b.say("done")
	}, gate: why.Called, line: 1, says: "visible, described and not chosen"},
	{name: "in plan mode and in another language", version: "2.1.332", build: func(b *book) {
		b.prompt("请执行数据库迁移", "plan")
		b.listing(true, listed, "- db-migrate: Runs the pending migrations of the database.")
		b.say("done")
	}, gate: why.Called, line: 1, says: "not chosen"},
	{name: "its twin called", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- kit:db-migrate: Runs pending migrations.", "- kit-2:db-migrate: Runs pending migrations.")
		b.skill("kit-2:db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
	}, skill: "kit:db-migrate", gate: why.Called, line: 3, says: "its twin kit-2:db-migrate was, which has the same text (line 3)", has: "keep one of the two"},
	{name: "another of the same last name called", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- kit:db-migrate: Runs pending migrations.", "- ops:db-migrate: Moves a database.")
		b.skill("ops:db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
	}, skill: "kit:db-migrate", gate: why.Called, line: 1, says: "visible, described and not chosen"},
	{name: "chosen for other prompts", version: "2.1.332", build: func(b *book) {
		b.prompt("one")
		b.listing(true, listed, "- db-migrate: Runs it.")
		b.say("done")
		for range 2 {
			b.prompt("more")
			b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n") // lines 5 and 13
			b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
			b.say("done")
		}
	}, gate: why.Called, line: 1, says: "not chosen", has: "the model called it for 2 other prompts of this session: 2 (line 5), 3 (line 13)"},
	{name: "chosen for no prompt", version: "2.1.332", build: func(b *book) {
		asks(listed, "- db-migrate: Runs it.")(b)
		b.slash("db-migrate", "", base+"db-migrate\n\nDo it.\n", "")
		b.say("done")
	}, gate: why.Called, line: 1, says: "not chosen", has: "the model called it for no other prompt of this session"},
	{name: "a call that names no skill", version: "2.1.332", build: func(b *book) {
		asks(listed, "- db-migrate: Runs it.")(b)
		b.malformed(`{"skill":7}`, "The parameter `skill` type is expected as `string` but provided as `number`")
		b.say("done")
	}, gate: why.Called, line: 1, says: "visible, described and not chosen", has: "(line 4); refused (line 5): InputValidationError: Skill failed due to the following issue: The parameter `skill` type"},
	{name: "a call with an empty input", version: "2.1.332", build: func(b *book) {
		asks(listed, "- db-migrate: Runs it.")(b)
		b.malformed(`{}`, "The required parameter `skill` is missing")
		b.say("done")
	}, gate: why.Called, line: 1, says: "not chosen", has: "names no skill: {} (line 4); refused (line 5)"},
	{name: "a call with the name under another key", version: "2.1.332", build: func(b *book) {
		asks(listed, "- db-migrate: Runs it.")(b)
		b.malformed(`{"name":"db-migrate"}`, "The required parameter `skill` is missing")
	}, gate: why.Called, line: 4, says: "gives its name where the client reads none (line 4)", has: "refused (line 5)"},
	{name: "a call with the name under the key of old clients", version: "2.1.332", build: func(b *book) {
		asks(listed, "- db-migrate: Runs it.")(b)
		b.malformed(`{"command":"db-migrate"}`, "The required parameter `skill` is missing")
	}, gate: why.Called, line: 5, says: "The required parameter `skill` is missing", has: "where this client does not look for it"},
	{name: "call not answered", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.use("Skill", `{"skill":"db-migrate"}`)
	}, gate: why.Called, state: why.Undetermined, line: 3, says: "the log ends"},
	{name: "second of a stack refused", version: "2.1.332", build: func(b *book) {
		b.slash("commit", "do X", base+"commit\n\nCommit.\n", `,"stackedOriginalInput":"/commit /db-migrate do X"`)
		b.listing(true, listed, "- db-migrate: Runs it.")
		b.say("done")
	}, command: "commit", gate: why.Called, line: 1, says: "by the user, typed in position 2 of a line; refused"},
	{name: "late", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.tool("Bash", `{"command":"ls"}`)
		b.read("/home/dev/shop/a")
		b.skill("superpowers:using-superpowers", "", base+"using-superpowers\n\nUse.\n")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
	}, gate: why.Called, state: why.Passed, line: 10, says: "tool position 4, Skill position 2: late"},
	{name: "typed, and the call refused", version: "2.1.332", files: one(migrate, skillFile("description: Runs it.\ndisable-model-invocation: true")), build: func(b *book) {
		b.slash("db-migrate", "", base+"db-migrate\n\n# Some Heading\n\nDo it.\n", "")
		b.listing(true, listed)
		b.refused("db-migrate", "<tool_use_error>Skill db-migrate cannot be used with Skill tool due to disable-model-invocation</tool_use_error>")
		b.say("done")
	}, command: "db-migrate", gate: why.Called, state: why.Passed, line: 1, says: "by the user, typed (line 1)", has: "refused (line 5)"},
	{name: "by its alias", version: "2.1.332", files: one(migrate, skillFile("name: migrations\ndescription: Runs it.")), build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("migrations", "", base+"db-migrate\n\n# Some Heading\n\nDo it.\n")
		b.say("done")
	}, gate: why.Called, state: why.Passed, line: 3, says: "as migrations"},

	{name: "the refused command stands in a line", version: "2.1.332", files: one(migrate, "---\ndescription: Runs pending database migrations.\n---\nState:\n\n!`false`\n"), build: func(b *book) {
		asks(listed, "- db-migrate: Runs pending database migrations.")(b)
		b.refused("db-migrate", "Shell command failed for pattern \"!`false`\": exit 1")
	}, gate: why.Called, line: 5, says: "refused", has: "the command stands in line 6 of its file: “!`false`”"},

	// delivered
	{name: "body never injected", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "", "")
		b.say("done")
	}, gate: why.Delivered, line: 4, says: "body never injected"},
	{name: "body never injected, and nothing stands", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "", "")
		b.say("done")
	}, gate: why.Delivered, line: 4, says: "body never injected", has: "in_force not_reached"},
	{name: "body never injected, and an earlier one stands", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
		b.prompt("again")
		b.skill("db-migrate", "", "")
		b.say("done")
	}, prompt: 2, gate: why.Delivered, line: 9, says: "body never injected; an earlier text of it is still in force (line 5)", has: "in_force passed: that of an earlier call"},
	{name: "body never injected, and then it was", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "", "")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
	}, gate: why.Called, state: why.Passed, line: 3, has: "with the call of line 5; that of line 3: launched (line 4), body never injected"},
	{name: "the log ends before the text", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "", "")
	}, gate: why.Called, state: why.Passed, line: 3, has: "in_force undetermined: the log ends before its text"},
	{name: "body cut", version: "2.1.332", exact: true, files: one(migrate, plain), build: func(b *book) {
		b.prompt("run it")
		b.listing(true, listed, "- db-migrate: Runs pending database migrations.")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo")
		b.say("done")
	}, gate: why.Delivered, line: 5, says: "cut: ", has: "in_force passed: what came of it, from here on"},
	{name: "a program of another language", version: "2.1.76", files: one(migrate, awk), build: func(b *book) {
		b.prompt("run it")
		b.skill("db-migrate", "", base+"db-migrate\n\nawk '{print , $NF}' f\n")
		b.say("done")
	}, gate: why.Called, state: why.Passed, line: 2, has: "line 4 of its file, “awk '{print $1, $NF}' f”, came as “awk '{print , $NF}' f”"},
	{name: "a program of another language, with arguments", version: "2.1.332", files: one(migrate, awk), build: func(b *book) {
		b.prompt("run it")
		b.listing(true, listed, "- db-migrate: Runs pending database migrations.")
		b.skill("db-migrate", "up now", base+"db-migrate\n\nawk '{print now, $NF}' f\n")
		b.say("done")
	}, gate: why.Called, state: why.Passed, line: 3, has: "line 4 of its file, “awk '{print $1, $NF}' f”, came as “awk '{print now, $NF}' f”"},
	{name: "a program of another language, not called", version: "2.1.332", files: one(migrate, awk), build: asks(listed, "- db-migrate: Runs pending database migrations."),
		gate: why.Called, line: 1, says: "not chosen", has: "line 4, “awk '{print $1, $NF}' f”: the client takes $ and a number for a word of the arguments"},
	{name: "a command in a code block", version: "2.1.332", files: one(migrate, "---\ndescription: Runs pending database migrations.\n---\nNever:\n```\n!`git push`\n```\n"), build: func(b *book) {
		b.prompt("run it")
		b.listing(true, listed, "- db-migrate: Runs pending database migrations.")
		b.skill("db-migrate", "", base+"db-migrate\n\nNever:\n```\nEverything up-to-date\n```\n")
		b.say("done")
	}, gate: why.Called, state: why.Passed, line: 3, has: "line 6 of its file, “!`git push`”: what came is the output of the command"},
	{name: "a note only", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
		b.prompt("again")
		id := b.use("Skill", `{"skill":"db-migrate"}`)
		b.result(id, "Launching skill: db-migrate", false, `,"toolUseResult":{"success":true,"commandName":"db-migrate"}`)
		b.user(quote("Skill /db-migrate is already loaded above; instructions unchanged."), `,"isMeta":true,"sourceToolUseID":`+quote(id))
		b.say("done")
	}, prompt: 2, gate: why.Called, state: why.Passed, line: 8, has: "a note only (line 10)"},
	{name: "in a fork", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		id := b.use("Skill", `{"skill":"db-migrate"}`)
		b.result(id, `Skill "db-migrate" completed (forked execution).`+"\n\nResult:\nok", false, `,"toolUseResult":{"success":true,"commandName":"db-migrate","status":"forked","agentId":"a1"}`)
		b.say("done")
	}, gate: why.Called, state: why.Passed, line: 3, has: "in a fork, agent a1"},

	// in force
	{name: "refused, and in force by an earlier line", version: "2.1.332", build: func(b *book) {
		b.slash("db-migrate", "", base+"db-migrate\n\nDo it.\n", "")
		b.listing(true, listed)
		b.say("done")
		b.prompt("again")
		b.refused("db-migrate", "<tool_use_error>Skill db-migrate cannot be used with Skill tool due to disable-model-invocation</tool_use_error>")
		b.say("done")
	}, prompt: 1, gate: why.Eligible, line: 7, says: "refused (line 7)", has: "in_force passed: its text stands in the conversation (line 2)"},
	{name: "still in force", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.InForce, state: why.Passed, line: 5, says: "stands in the conversation (line 5)"},
	{name: "dropped by the budget", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
		b.compact()
		b.reattached("big", strings.Repeat("x", 400))
		b.listing(true, "- db-migrate: Runs it.")
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.InForce, line: 7, says: "dropped at the compaction of line 7", has: "about 100 tokens: big"},
	{name: "put back cut", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
		b.compact()
		b.reattached("db-migrate", strings.Repeat("x", 1000)+"\n\n[... skill content truncated for compaction; use Read on the skill path if you need the full text]")
		b.listing(true, "- db-migrate: Runs it.")
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.InForce, line: 9, says: "cut at 1,000 characters"},
	{name: "put back, and kept at a second compaction", version: "2.1.290", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
		b.compact()
		b.reattached("db-migrate", base+"db-migrate\n\nDo it.\n")
		b.compact(9)
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.InForce, state: why.Passed, line: 9, says: "put back whole behind a compaction (line 9)"},
	{name: "put back, and lost at a second compaction", version: "2.1.290", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
		b.compact()
		b.reattached("db-migrate", base+"db-migrate\n\nDo it.\n")
		b.compact(8)
		b.listing(true, "- db-migrate: Runs it.")
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.InForce, line: 10, says: "dropped at the compaction of line 10"},
	{name: "put back whole, with old arguments", version: "2.1.332", build: func(b *book) {
		b.prompt("run it")
		b.listing(true, "- db-migrate: Runs it.")
		b.skill("db-migrate", "up", base+"db-migrate\n\nDo it.\n\nARGUMENTS: up")
		b.say("done")
		b.compact()
		b.reattached("db-migrate", base+"db-migrate\n\nDo it.\n\nARGUMENTS: up")
		b.listing(true, "- db-migrate: Runs it.")
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.InForce, state: why.Passed, line: 9, says: "put back whole", has: "with the arguments of its call at line 3"},
	{name: "put back, in no log", version: "2.1.76", build: func(b *book) {
		b.prompt("run it")
		b.skill("db-migrate", "", base+"db-migrate\n\nDo it.\n")
		b.say("done")
		b.compact()
		b.prompt("again")
		b.say("done")
	}, prompt: 2, gate: why.Announced, state: why.Undetermined, line: 8, has: "does not write to the log what it puts back"},
}
