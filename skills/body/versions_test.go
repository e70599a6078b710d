package body

import (
	"fmt"
	"testing"
)

// optionsAt are the options of one client version, kept here so that the tests
// of this package need no rule table. Each change stands with the first version
// in which it was seen.
func optionsAt(version string) Options {
	from := func(since string) bool { return versionKey(version) >= versionKey(since) }
	return Options{
		ToolArgs:     from("2.0.76"),
		EmptyArgs:    from("2.1.14"),
		Positional:   from("2.1.19"),
		Named:        from("2.1.14"),
		NamedLongest: from("2.1.139"),
		MissingKept:  from("2.1.211"),
		Escape:       from("2.1.163"),
		OnePass:      from("2.1.233"),
		LiteralArgs:  from("2.1.117"),
		EscapeBang:   from("2.1.117"),
		Words: Words{
			Bash:                 from("2.1.91"),
			FirstPlain:           from("2.1.202"),
			KeepBackslashes:      !from("2.1.112"),
			EscapeBang:           from("2.1.117"),
			BracketWord:          from("2.1.140"),
			Backticks:            from("2.1.140"),
			BackslashBlank:       !from("2.1.178"),
			TrailingEmptyDropped: !from("2.1.211"),
		},
		SessionIDVar:    from("2.1.9"),
		SkillDirVar:     from("2.1.70"),
		EffortVar:       from("2.1.120"),
		ProjectDirVar:   from("2.1.197"),
		VarsBeforeShell: from("2.1.55"),
		ShellAfterBlank: from("2.1.49"),
		ShellKeepIndent: from("2.1.20"),
		ShellEmptyNote:  from("2.1.76"),
		ShellLiteral:    from("2.1.88"),
		ShellDisable:    from("2.1.100"),
	}
}

// versionKey orders versions.
func versionKey(version string) int {
	var a, b, c int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &a, &b, &c); err != nil {
		panic(err)
	}
	return a*1e6 + b*1e3 + c
}

func TestVersionKey(t *testing.T) {
	if versionKey("2.0.76") >= versionKey("2.1.9") || versionKey("2.1.9") >= versionKey("2.1.20") {
		t.Error("versions out of order")
	}
}
