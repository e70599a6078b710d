package body

import (
	"strings"
	"testing"
)

var testVars = Vars{SessionID: "S-1", Effort: "high", ProjectDir: "/p"}

// text renders a file in /s, without the first line.
func text(t *testing.T, version, body, args string, names ...string) string {
	t.Helper()
	template := Render(Source{Text: body, Dir: "/s", Names: names}, Call{Args: args}, testVars, optionsAt(version))
	out, ok := strings.CutPrefix(template.Placeholder(), "Base directory for this skill: /s\n\n")
	if !ok {
		t.Errorf("no base directory in %q", template.Placeholder())
	}
	return out
}

func TestRenderArguments(t *testing.T) {
	for _, test := range []struct {
		version, body, args, want string
	}{
		// The newest rules.
		{"2.1.332", "a [$ARGUMENTS] b\n", "x y", "a [x y] b\n"},
		{"2.1.332", "[$0] [$1] [$2] [$ARGUMENTS[1]] [$ARGUMENTS[2]]", "x y", "[x] [y] [$2] [y] [$ARGUMENTS[2]]"},
		{"2.1.332", "none\n", "x", "none\n\n\nARGUMENTS: x"},
		{"2.1.332", "none\n", "", "none\n"},
		{"2.1.332", "none\n", "   ", "none\n\n\nARGUMENTS:    "},
		{"2.1.332", "[$ARGUMENTS]\n", "", "[]\n"},
		{"2.1.332", "only [$5]", "x", "only [$5]\n\nARGUMENTS: x"},
		{"2.1.332", "${1} ${ARGUMENTS} $@ $1a $ARGUMENTS[x]", "p q", "${1} ${ARGUMENTS} $@ $1a p q[x]"},
		{"2.1.332", "$0", "$ARGUMENTS", "$ARGUMENTS"},
		{"2.1.332", "$1 $0", "a $b$1", "$b$1 a"},
		{"2.1.332", `\$1 \$ARGUMENTS \\$0`, "x", `$1 $ARGUMENTS \\x`},
		{"2.1.332", `\$1`, "x", "$1\n\nARGUMENTS: x"},
		{"2.1.332", "go $ARGUMENTS", "x !`id` y", "go x \\! `id` y"},
		{"2.1.332", "awk '{print $1}'", "x y", "awk '{print y}'"},
		// Values were expanded again before 2.1.233.
		{"2.1.216", "$0", "'$ARGUMENTS' b", "'$ARGUMENTS' b"},
		{"2.1.332", "$0", "'$ARGUMENTS' b", "$ARGUMENTS"},
		// Missing words were empty before 2.1.211.
		{"2.1.207", "[$0] [$1] [$ARGUMENTS[1]]", "x", "[x] [] []"},
		{"2.1.211", "[$0] [$1] [$ARGUMENTS[1]]", "x", "[x] [$1] [$ARGUMENTS[1]]"},
		// No escapes before 2.1.163.
		{"2.1.161", `\$0`, "x", `\x`},
		{"2.1.163", `\$0 $0`, "x", `$0 x`},
		// Replacement patterns and running commands in arguments before 2.1.118.
		{"2.1.112", "a $ARGUMENTS z", "[$&] [$$] [$`] [$'] [$1]", "a [$ARGUMENTS] [$] [Base directory for this skill: /s\n\na ] [ z] [$1] z"},
		{"2.1.118", "a $ARGUMENTS z", "[$&] [$$] [$`] [$'] [$1]", "a [$&] [$$] [$`] [$'] [$1] z"},
		{"2.1.112", "$ARGUMENTS", "!`id`", "‹output of `id`›"},
		// No positions before 2.1.19, nothing at all without arguments before 2.1.14,
		// no arguments from the tool before 2.0.76.
		{"2.1.15", "$0 $ARGUMENTS[0] $ARGUMENTS", "x", "$0 x[0] x"},
		{"2.1.9", "[$ARGUMENTS]", "", "[$ARGUMENTS]"},
		{"2.1.15", "[$ARGUMENTS]", "", "[]"},
		{"2.0.30", "[$ARGUMENTS]", "x", "[$ARGUMENTS]"},
	} {
		if got := text(t, test.version, test.body, test.args); got != test.want {
			t.Errorf("%s: %q with %q\n got %q\nwant %q", test.version, test.body, test.args, got, test.want)
		}
	}
	typed := Render(Source{Text: "[$ARGUMENTS]"}, Call{Args: "x", Typed: true}, Vars{}, optionsAt("2.0.30"))
	if got := typed.Placeholder(); got != "[x]" {
		t.Errorf("typed command: %q", got)
	}
}

func TestRenderNames(t *testing.T) {
	for _, test := range []struct {
		version, body, want string
	}{
		{"2.1.332", "[$a] [$ab] [$abc] [$a[0]] [$c]", "[x] [y z] [$abc] [$a[0]] []"},
		{"2.1.332", `\$a $a`, "$a x"},
		{"2.1.9", "[$a] $ARGUMENTS", "[$a] x 'y z'"},
		{"2.1.15", "[$a] [$ab] [$c]", "[x] [y z] []"},
	} {
		if got := text(t, test.version, test.body, "x 'y z'", "a", "ab", "c"); got != test.want {
			t.Errorf("%s: %q\n got %q\nwant %q", test.version, test.body, got, test.want)
		}
	}
	// Names as long as each other keep their order, so that a value can hold a later
	// one: asked of the client at 2.1.138, 2.1.139, 2.1.203 and 2.1.232.
	for version, want := range map[string]string{"2.1.112": "x $a!", "2.1.118": "x $a!", "2.1.139": "x $a!", "2.1.207": "x $a!", "2.1.233": "x $a!"} {
		if got := text(t, version, "$a $b", "x '$a'!", "a", "b"); got != want {
			t.Errorf("%s: got %q, want %q", version, got, want)
		}
	}
}

func TestRenderVariables(t *testing.T) {
	const all = "${CLAUDE_SKILL_DIR} ${CLAUDE_SESSION_ID} ${CLAUDE_EFFORT} ${CLAUDE_PROJECT_DIR}"
	for version, want := range map[string]string{
		"2.1.332": "/s S-1 high /p",
		"2.1.193": "/s S-1 high ${CLAUDE_PROJECT_DIR}",
		"2.1.118": "/s S-1 ${CLAUDE_EFFORT} ${CLAUDE_PROJECT_DIR}",
		"2.1.55":  "${CLAUDE_SKILL_DIR} S-1 ${CLAUDE_EFFORT} ${CLAUDE_PROJECT_DIR}",
		"2.1.5":   all,
	} {
		if got := text(t, version, all, ""); got != want {
			t.Errorf("%s: got %q, want %q", version, got, want)
		}
		if got := text(t, version, "$ARGUMENTS", all); got != want {
			t.Errorf("%s: in arguments: got %q, want %q", version, got, want)
		}
	}
	// A command file has no folder; a plugin's has the plugin's.
	vars := Vars{PluginRoot: "/plug", PluginData: "/data"}
	got := Render(Source{Text: "${CLAUDE_SKILL_DIR} ${CLAUDE_PLUGIN_ROOT} ${CLAUDE_PLUGIN_DATA}"}, Call{}, vars, optionsAt("2.1.332")).Placeholder()
	if want := "${CLAUDE_SKILL_DIR} /plug /data"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRenderCommands(t *testing.T) {
	for _, test := range []struct {
		version, body, want string
	}{
		{"2.1.332", "!`a`\n!`b` !`c`x", "‹output of `a`›\n‹output of `b`› ‹output of `c`›x"},
		{"2.1.332", "(!`a`) x!`b`", "(!`a`) x!`b`"},
		{"2.1.45", "(!`a`) x!`b`", "(‹output of `a`›) x!`b`"},
		{"2.1.332", "```!\na\nb\n```\n!`c`", "‹output of `a\nb`›\n‹output of `c`›"},
		{"2.1.332", "x```! a ```y", "x‹output of `a`›y"},
		{"2.1.332", "```!\nopen", "```!\nopen"},
		{"2.1.332", "!``a`` !`` !`", "!``a`` !`` !`"},
		{"2.1.332", "```\n!`a`\n```", "```\n‹output of `a`›\n```"},
		{"2.1.332", "\u00a0!`a`", "\u00a0‹output of `a`›"},
		{"2.1.332", "!`echo ${CLAUDE_SESSION_ID} $0`", "‹output of `echo S-1 $0`›"},
		{"2.1.45", "!`echo ${CLAUDE_SESSION_ID}` ${CLAUDE_SESSION_ID}", "‹output of `echo ${CLAUDE_SESSION_ID}`› S-1"},
	} {
		if got := text(t, test.version, test.body, ""); got != test.want {
			t.Errorf("%s: %q\n got %q\nwant %q", test.version, test.body, got, test.want)
		}
	}
	for version, want := range map[string]string{
		"2.1.332": "a [shell command execution disabled by policy] b",
		"2.1.76":  "a ‹output of `x`› b",
	} {
		got := Render(Source{Text: "a !`x` b"}, Call{}, Vars{ShellDisabled: true}, optionsAt(version)).Placeholder()
		if got != want {
			t.Errorf("%s: disabled: got %q, want %q", version, got, want)
		}
	}
}

func TestRenderTooLong(t *testing.T) {
	long := strings.Repeat("y", 1<<16)
	for name, template := range map[string]Template{
		"arguments": Render(Source{Text: strings.Repeat("$ARGUMENTS", 1<<10)}, Call{Args: long}, Vars{}, optionsAt("2.1.332")),
		"patterns":  Render(Source{Text: "$ARGUMENTS" + long}, Call{Args: strings.Repeat("$'", 1<<10), Typed: true}, Vars{}, optionsAt("2.1.96")),
		"names":     Render(Source{Text: strings.Repeat("$n ", 1<<10), Names: []string{"n"}}, Call{Args: long}, Vars{}, optionsAt("2.1.112")),
		"variables": Render(Source{Text: strings.Repeat("${CLAUDE_SKILL_DIR}", 1<<10)}, Call{}, Vars{SkillDir: long}, optionsAt("2.1.332")),
	} {
		if !template.TooLong || template.Parts != nil {
			t.Errorf("%s: too long text was rendered", name)
		}
		if _, err := template.Fill(nil); err == nil {
			t.Errorf("%s: too long text was filled", name)
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add("a $ARGUMENTS b $0 !`c` d\n", "x 'y z'", "n", "out", uint16(0))
	f.Add("```!\nx\n``` !`c` !`c`", "$& $` $'", "a b", " ! ", uint16(0xFFFF))
	f.Add(`\$1 \\$n ${CLAUDE_SESSION_ID}`, "!`q`", "n", "", uint16(0x5555))
	f.Fuzz(func(t *testing.T, body, args, names, output string, bits uint16) {
		opt := optionsAt("2.1.332")
		on := func(bit int) bool { return bits>>bit&1 != 0 }
		opt.EmptyArgs, opt.Positional, opt.Named, opt.NamedLongest = !on(0), !on(1), !on(2), on(3)
		opt.MissingKept, opt.Escape, opt.OnePass, opt.LiteralArgs = !on(4), !on(5), !on(6), !on(7)
		opt.EscapeBang, opt.ShellAfterBlank, opt.VarsBeforeShell, opt.Words.Bash = !on(8), !on(9), !on(10), !on(11)
		template := Render(Source{Text: body, Dir: "/s", Names: strings.Fields(names)}, Call{Args: args}, testVars, opt)
		if template.TooLong {
			return
		}
		outputs := make([]string, template.Holes())
		for i := range outputs {
			outputs[i] = output[min(i, len(output)):]
		}
		filled, err := template.Fill(outputs)
		if err != nil {
			t.Fatal(err)
		}
		matched, ok := template.Match(filled)
		if !ok {
			t.Fatalf("%q does not match its own template %q", filled, template.Placeholder())
		}
		if again, err := template.Fill(matched); err != nil || again != filled {
			t.Fatalf("outputs %q give %q, not %q", matched, again, filled)
		}
		if !strings.ContainsAny(filled, "$!") && !strings.Contains(filled, escaped) {
			again, ok := Render(Source{Text: filled}, Call{}, testVars, opt).Text()
			if !ok || again != filled {
				t.Fatalf("%q rendered again is %q", filled, again)
			}
		}
	})
}

func BenchmarkRender(b *testing.B) {
	paragraph := "Read $0 and $ARGUMENTS[1] in ${CLAUDE_SKILL_DIR}, then run the checks; costs \\$5.\n\n" + strings.Repeat("Plain text of a long skill, as most of it is. ", 20) + "\n\n!`git status` done\n"
	src := Source{Text: strings.Repeat(paragraph, 30<<10/len(paragraph)), Dir: "/home/dev/.claude/skills/long", Names: []string{"target", "mode"}}
	for _, version := range []string{"2.1.332", "2.1.112"} {
		opt := optionsAt(version)
		b.Run(version, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(src.Text)))
			for b.Loop() {
				Render(src, Call{Args: "alpha 'beta gamma' delta"}, testVars, opt)
			}
		})
	}
}
