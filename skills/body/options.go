// Package body renders the text of a skill for one invocation: arguments,
// variables and inline commands, as a given client version does. Nothing is
// executed: an inline command becomes a hole in a [Template], which is filled
// with the output that the log shows.
package body

// Options says how one client version renders. The rule tags are the keys of
// the rule tables.
type Options struct {
	// ToolArgs: args given to the Skill tool are honoured (typed ones always are).
	ToolArgs bool `rule:"body.tool_args"`
	// EmptyArgs: substitution runs also without arguments.
	EmptyArgs bool `rule:"body.empty_args"`
	// Positional: $ARGUMENTS[n] and $n (from zero) are replaced.
	Positional bool `rule:"body.positional"`
	// PlainNumbers: of the two only $n is replaced.
	PlainNumbers bool `rule:"body.plain_numbers"`
	// Braced: ${n}, from one, is replaced by the n-th word, and by nothing without one.
	Braced bool `rule:"body.braced"`
	// Named: the names of the arguments: field are replaced.
	Named bool `rule:"body.named"`
	// NamedLongest: longer names are replaced first; before, names in their order.
	// Always so with OnePass.
	NamedLongest bool `rule:"body.named_longest"`
	// MissingKept: $n and $ARGUMENTS[n] without a word stay as written; before, they become empty.
	MissingKept bool `rule:"body.missing_kept"`
	// Escape: \$1 and \$ARGUMENTS stay literal, the backslash goes.
	Escape bool `rule:"body.escape"`
	// OnePass: values are not expanded again.
	OnePass bool `rule:"body.one_pass"`
	// LiteralArgs: arguments are inserted as they are; before, the replacement
	// patterns $$ $& $` $' of a JavaScript replace were expanded in them.
	LiteralArgs bool `rule:"body.literal_args"`
	// EscapeBang: in arguments a ! at the start or behind white space gets a backslash,
	// and a ! before a backtick a blank behind it.
	EscapeBang bool `rule:"body.escape_bang"`
	// AppendNewline: a line break ends arguments that no placeholder took.
	AppendNewline bool `rule:"body.append_newline"`
	// Words: how arguments are split.
	Words Words

	SessionIDVar  bool `rule:"body.session_id"`
	SkillDirVar   bool `rule:"body.skill_dir"`
	EffortVar     bool `rule:"body.effort"`
	ProjectDirVar bool `rule:"body.project_dir"`
	// PlainSkillDir: the variable of the skill's folder is ${SKILL_DIR}.
	PlainSkillDir bool `rule:"body.plain_skill_dir"`
	// VarsBeforeShell: variables are replaced before inline commands run.
	VarsBeforeShell bool `rule:"body.vars_before_shell"`

	// ShellAfterBlank: an inline command needs the start of a line or white space
	// before it; before, any character that is no word character.
	ShellAfterBlank bool `rule:"body.shell_after_blank"`
	// ShellKeepIndent: only blank lines at the front and white space at the end are
	// trimmed from an output; before, all white space at both ends.
	ShellKeepIndent bool `rule:"body.shell_keep_indent"`
	// ShellEmptyNote: an empty output becomes "(Bash completed with no output)".
	ShellEmptyNote bool `rule:"body.shell_empty_note"`
	// ShellLiteral: outputs are inserted as they are; before, $ patterns in them were expanded.
	ShellLiteral bool `rule:"body.shell_literal"`
	// ShellDisable: disableSkillShellExecution is honoured.
	ShellDisable bool `rule:"body.shell_disable"`
	// ShellNotManaged: inline commands of the administrator's skills are text.
	ShellNotManaged bool `rule:"body.shell_not_managed"`
	// CRLF is kept as it is in all versions seen.
}

// Words says how an argument text becomes words (rules words.* of docs/rules.md).
type Words struct {
	// Blanks: white space alone parts words; quotes and backslashes are letters.
	Blanks bool `rule:"words.blanks"`
	// Bash: words of the first simple command of a bash parse; before, shell
	// words with operators dropped.
	Bash bool `rule:"words.bash"`
	// FirstPlain: the first word loses its quotes like the others; before, it stays
	// as typed except for one pair of equal outer quotes.
	FirstPlain bool `rule:"words.first_plain"`
	// KeepBackslashes: words other than the first keep their backslashes.
	KeepBackslashes bool `rule:"words.keep_backslashes"`
	// EscapeBang: the same in each word.
	EscapeBang bool `rule:"words.escape_bang"`
	// BracketWord: [x is skipped as one word; before, all through the last ].
	BracketWord bool `rule:"words.bracket_word"`
	// Backticks: of a first word that is a `command` the first backtick is dropped
	// and the word ends at a blank inside; one without blanks takes all that
	// follows. Before, it stays as typed and the other words follow.
	Backticks bool `rule:"words.backticks"`
	// BackslashBlank: an argument that is only "\ " is dropped, and so is a
	// backslash before a blank between words.
	BackslashBlank bool `rule:"words.backslash_blank"`
	// TrailingEmptyDropped: empty words at the end do not count as given.
	TrailingEmptyDropped bool `rule:"words.trailing_empty_dropped"`
}
