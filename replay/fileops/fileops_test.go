package fileops

import (
	"encoding/json"
	"os/exec"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	front = "---\nname: edit-me\ndescription: Use for edit\n---\n# two\nVersion two \\$ARGUMENTS.\n"
	sk    = "/home/dev/.claude/skills"
)

func unknown(paths ...string) []Op {
	var ops []Op
	for _, p := range paths {
		ops = append(ops, Op{Path: p, Unknown: true})
	}
	return ops
}

// shellTests run in /home/dev/shop with the home /home/dev known.
var shellTests = []struct {
	command string
	want    []Op
}{
	// Recorded commands (lifecycle/edit, redo, layer3, front, fork, long; billing).
	{`mkdir -p /home/dev/.claude/skills/edit-me && printf -- '---\nname: edit-me\ndescription: Use for edit\n---\n# two\nVersion two \$ARGUMENTS.\n' > /home/dev/.claude/skills/edit-me/SKILL.md`,
		[]Op{{Kind: Mkdir, Path: sk + "/edit-me"}, {Kind: Write, Path: sk + "/edit-me/SKILL.md", Text: front}}},
	{`printf -- '---\nname: edit-it\ndescription: Use for edit-it work\n---\n# edit\nTwo.\n' > /home/dev/.claude/skills/edit-it/SKILL.md`,
		[]Op{{Kind: Write, Path: sk + "/edit-it/SKILL.md", Text: "---\nname: edit-it\ndescription: Use for edit-it work\n---\n# edit\nTwo.\n"}}},
	{`rm -r /home/dev/.claude/skills/drop-me`, []Op{{Kind: Remove, Path: sk + "/drop-me"}}},
	{`sleep 1.2`, nil},
	{`sleep 15; echo late`, nil},
	{`echo after tools-str`, nil},
	{`cat /home/dev/.claude/skills/map-maker/references/tips.md`, nil},
	{`sh /home/dev/.claude/skills/map-maker/scripts/draw.sh north`, nil},
	{`cat /home/dev/shop/big.txt | head -600`, nil},

	// Writing.
	{"cat > .claude/skills/a/SKILL.md <<'EOF'\nbody $X `y` \\$z\nEOF\n", []Op{{Kind: Write, Path: "/home/dev/shop/.claude/skills/a/SKILL.md", Text: "body $X `y` \\$z\n"}}},
	{"cat <<\"E\" >> a.md\nx\nE", []Op{{Kind: Append, Path: "/home/dev/shop/a.md", Text: "x\n"}}},
	{"cat <<E > a.md\nx \\$y \\\\ \"q\" \\q\nE", []Op{{Kind: Write, Path: "/home/dev/shop/a.md", Text: "x $y \\ \"q\" \\q\n"}}},
	{"cat <<-E > a.md\n\t\tx\n\ty\n\tE", []Op{{Kind: Write, Path: "/home/dev/shop/a.md", Text: "x\ny\n"}}},
	{"cat <<E > a.md\nE", []Op{{Kind: Write, Path: "/home/dev/shop/a.md"}}},
	{"cat <<E > .claude/skills/a/SKILL.md\nx $y\nE", []Op{{Kind: Write, Path: "/home/dev/shop/.claude/skills/a/SKILL.md", Unknown: true}}},
	{"cat <<< 'x y' > a", []Op{{Kind: Write, Path: "/home/dev/shop/a", Text: "x y\n"}}},
	{"> a", []Op{{Kind: Write, Path: "/home/dev/shop/a"}}},
	{": > a", []Op{{Kind: Write, Path: "/home/dev/shop/a"}}},
	{"echo -n x >| a 2>/dev/null", []Op{{Kind: Write, Path: "/home/dev/shop/a", Text: "x"}}},
	{"echo x > a > b", []Op{{Kind: Write, Path: "/home/dev/shop/a"}, {Kind: Write, Path: "/home/dev/shop/b", Text: "x\n"}}},
	{"{ echo x; printf y; } > a", []Op{{Kind: Write, Path: "/home/dev/shop/a", Text: "x\ny"}}},
	{"(cd .. && echo x > a); echo y > b", []Op{{Kind: Write, Path: "/home/dev/a", Text: "x\n"}, {Kind: Write, Path: "/home/dev/shop/b", Text: "y\n"}}},
	{"echo x | tee a b > /dev/null", []Op{{Kind: Write, Path: "/home/dev/shop/a", Text: "x\n"}, {Kind: Write, Path: "/home/dev/shop/b", Text: "x\n"}}},
	{"echo x | tee -a a", []Op{{Kind: Append, Path: "/home/dev/shop/a", Text: "x\n"}}},
	{"cat < a > b", []Op{{Kind: Copy, From: "/home/dev/shop/a", Path: "/home/dev/shop/b"}}},
	{"cat a > b", []Op{{Kind: Copy, From: "/home/dev/shop/a", Path: "/home/dev/shop/b"}}},
	{"cat a > a", []Op{{Kind: Write, Path: "/home/dev/shop/a"}}},
	{"cat a >> b", []Op{{Kind: Append, Path: "/home/dev/shop/b", Unknown: true}}},
	{"echo $X > .claude/skills/a/SKILL.md", []Op{{Kind: Write, Path: "/home/dev/shop/.claude/skills/a/SKILL.md", Unknown: true}}},
	{"date > a", []Op{{Kind: Write, Path: "/home/dev/shop/a", Unknown: true}}},
	{"echo x > ~/.claude/skills/a/SKILL.md", []Op{{Kind: Write, Path: sk + "/a/SKILL.md", Text: "x\n"}}},
	{`echo x > "$HOME/.claude/a b"`, []Op{{Kind: Write, Path: "/home/dev/.claude/a b", Text: "x\n"}}},
	{`echo "a\$b \"c\" \q 'd'" > a`, []Op{{Kind: Write, Path: "/home/dev/shop/a", Text: "a$b \"c\" \\q 'd'\n"}}},
	{`echo a\ b$'\t\x41\'' > a`, []Op{{Kind: Write, Path: "/home/dev/shop/a", Text: "a b\tA'\n"}}},
	{"bash -c 'echo x > a'", []Op{{Kind: Write, Path: "/home/dev/shop/a", Text: "x\n"}}},

	// Making, moving and removing.
	{"cd /tmp && mkdir -p a b/c; touch a/x", []Op{{Kind: Mkdir, Path: "/tmp/a"}, {Kind: Mkdir, Path: "/tmp/b/c"}, {Kind: Append, Path: "/tmp/a/x"}}},
	{"rm -rf a -- -b", []Op{{Kind: Remove, Path: "/home/dev/shop/a"}, {Kind: Remove, Path: "/home/dev/shop/-b"}}},
	{"mv a b", []Op{{Kind: Move, From: "/home/dev/shop/a", Path: "/home/dev/shop/b", Into: true}}},
	{"mv -T a b", []Op{{Kind: Move, From: "/home/dev/shop/a", Path: "/home/dev/shop/b"}}},
	{"mv a c b/", []Op{{Kind: Move, From: "/home/dev/shop/a", Path: "/home/dev/shop/b/a"}, {Kind: Move, From: "/home/dev/shop/c", Path: "/home/dev/shop/b/c"}}},
	{"cp -r x/. y", []Op{{Kind: Copy, From: "/home/dev/shop/x", Path: "/home/dev/shop/y"}}},
	{"cp -t d a", []Op{{Kind: Copy, From: "/home/dev/shop/a", Path: "/home/dev/shop/d/a"}}},

	// Not known.
	{"sed -i 's/a/b/' .claude/skills/a/SKILL.md", []Op{{Kind: Write, Path: "/home/dev/shop/.claude/skills/a/SKILL.md", Unknown: true}}},
	{"sed -i.bak -e s/a/b/ a b", []Op{{Kind: Write, Path: "/home/dev/shop/a", Unknown: true}, {Kind: Write, Path: "/home/dev/shop/b", Unknown: true}}},
	{"sed -n 1,5p .claude/skills/a/SKILL.md", nil},
	{"ln -s /x .claude/skills/a", unknown("/home/dev/shop/.claude/skills/a")},
	{"rm -rf .claude/skills/*", unknown("/home/dev/shop/.claude/skills")},
	{"rm -rf $D/SKILL.md", unknown("")},
	{"rm -i .claude/skills/a/SKILL.md", unknown("/home/dev/shop/.claude/skills/a/SKILL.md")},
	{"for s in a b; do rm -r .claude/skills/$s; done", unknown("/home/dev/shop/.claude/skills")},
	{"if true; then rm .claude/commands/x.md; fi", unknown("/home/dev/shop/.claude/commands/x.md")},
	{"python3 -c \"open('.claude/skills/a/SKILL.md','w').write('x')\"", unknown("/home/dev/shop/.claude/skills/a/SKILL.md")},
	{"python3 - <<'E'\nopen('/w/.claude/skills/a/SKILL.md','w')\nE", unknown("/w/.claude/skills/a/SKILL.md")},
	{"test -f x && rm .claude/skills/a/SKILL.md; echo done", []Op{{Kind: Remove, Path: "/home/dev/shop/.claude/skills/a/SKILL.md", Unknown: true}}},
	{"test -f x && rm .claude/skills/a/SKILL.md", []Op{{Kind: Remove, Path: "/home/dev/shop/.claude/skills/a/SKILL.md"}}},
	{"mkdir a || rm b", []Op{{Kind: Mkdir, Path: "/home/dev/shop/a"}, {Kind: Remove, Path: "/home/dev/shop/b", Unknown: true}}},
	{"test x || mv a b", []Op{{Kind: Move, Path: "/home/dev/shop/a", Unknown: true}, {Kind: Move, Path: "/home/dev/shop/b", Unknown: true}}},
	{"npm test && echo x > a", []Op{{Kind: Write, Path: "/home/dev/shop/a", Text: "x\n"}}},
	{"cd $X; echo x > SKILL.md", unknown("")},
	{"cd $X; echo x > a", nil},
	{"echo $(rm -r .claude/skills/a)", []Op{{Kind: Remove, Path: "/home/dev/shop/.claude/skills/a"}}},
	{"echo 'unfinished > .claude/skills/a/SKILL.md", unknown("/home/dev/shop/.claude/skills/a/SKILL.md")},
	{"git add .claude/skills && git commit -m 'change .claude/skills/a/SKILL.md'", nil},
	{"git checkout -- .claude/skills/a", unknown("/home/dev/shop/.claude/skills/a")},
	{"find .claude/skills -name SKILL.md", nil},
	{"find .claude/skills -name SKILL.md -delete", unknown("/home/dev/shop/.claude/skills", "/home/dev/shop/SKILL.md")},
	{"exit 0; rm a", nil},
	{"npm test", nil},
	{"", nil},
}

func TestShell(t *testing.T) {
	for _, tt := range shellTests {
		got := Place{CWD: "/home/dev/shop", Home: "/home/dev"}.Shell(tt.command)
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s\n got %+v\nwant %+v", tt.command, got, tt.want)
		}
	}
}

func TestShellUnknownHome(t *testing.T) {
	for command, want := range map[string][]Op{
		"echo x > ~/.claude/skills/a/SKILL.md":      unknown(""),
		"rm -r $HOME/.claude/skills/a":              unknown(""),
		"rm -r /home/dev/.claude/skills/a":          {{Kind: Remove, Path: sk + "/a"}},
		"cd && rm -r .claude/skills/a && echo done": unknown(""),
	} {
		if got := Shell(command, "/home/dev/shop"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v\nwant %+v", command, got, want)
		}
	}
}

func TestTool(t *testing.T) {
	file := sk + "/a/SKILL.md"
	for _, tt := range []struct {
		name, input string
		want        []Op
	}{
		{"Bash", `{"command":"rm -r .claude/skills/a"}`, []Op{{Kind: Remove, Path: "/home/dev/.claude/skills/a"}}},
		{"Write", `{"file_path":"` + file + `","content":"x\ny"}`, []Op{{Kind: Write, Path: file, Text: "x\ny"}}},
		{"Write", `{"file_path":".claude/skills/a/SKILL.md","content":""}`, []Op{{Kind: Write, Path: file}}},
		{"Write", `{"file_path":"/a"}`, []Op{{Kind: Write, Path: "/a", Unknown: true}}},
		{"Write", `{"file_path":"/a","content":1}`, []Op{{Kind: Write, Path: "/a", Unknown: true}}},
		{"Edit", `{"file_path":"/a","old_string":"x","new_string":"y","replace_all":true}`, []Op{{Kind: Replace, Path: "/a", Old: "x", Text: "y", All: true}}},
		{"Edit", `{"file_path":"/a","old_string":"","new_string":"y"}`, []Op{{Kind: Write, Path: "/a", Unknown: true}}},
		{"MultiEdit", `{"file_path":"/a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"y","new_string":"z"}]}`,
			[]Op{{Kind: Replace, Path: "/a", Old: "x", Text: "y"}, {Kind: Replace, Path: "/a", Old: "y", Text: "z"}}},
		{"NotebookEdit", `{"notebook_path":"/a"}`, []Op{{Kind: Write, Path: "/a", Unknown: true}}},
		{"Read", `{"file_path":"/a"}`, nil},
		{"Write", `{`, nil},
	} {
		got := Place{CWD: "/home/dev"}.Tool(tt.name, []byte(tt.input))
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %s\n got %+v\nwant %+v", tt.name, tt.input, got, tt.want)
		}
	}
}

// printed are commands whose output must be that of bash.
var printed = []string{
	`printf 'a\tb\\c\"d\101\0101\x41\x4g\e[0m\q\$'`,
	`printf '%s-%s\n' a b c`,
	`printf -- '--%s%%\n' x`,
	`printf '%b' 'a\0101\101\"\n\cx' y`,
	`printf '%s'`,
	`printf 'no args' a b`,
	`printf '%d,%i\n' 5 -7`,
	`printf '\%s' x`,
	`printf 'tail\'`,
	`printf '\u00e9\U0001F600'`,
	`printf "%s\n" "a\$b" 'c d' "\"q\"" e\'f`,
	`echo -e 'a\tb\0101\101\"\x41\xg\u00e9\cz'`,
	`echo -n -e 'x\n'`,
	`echo -nE 'x\n'`,
	`echo -x -n y`,
	`echo - -e`,
	`echo "a
b" c\
d`,
	`echo $'a\'b\101\x41\e\q\n'`,
	"cat <<E\n\\$x \\` \\\\ \\q \"y\" 'z'\nE",
	"cat <<'E'\n\\$x $y\n\tz\nE",
	"cat <<-E\n\ta\n\t\tb\n\tE",
	"cat <<-'E'\n\n\ta\\\n\tE",
	"cat <<E\na\\\nb\nE",
	"{ echo a; printf b; } | cat -",
	"echo a && echo b; (echo c)",
	"cat <<< \"x 'y'\"",
}

// TestPrinted compares with a real bash; the commands stand above and only print.
func TestPrinted(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to compare with")
	}
	for _, command := range printed {
		cmd := exec.Command(bash, "-c", command)
		cmd.Env = []string{"LC_ALL=C.UTF-8"}
		want, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		ops := Shell("{ "+command+"\n} > /out", "/")
		if len(ops) != 1 || ops[0].Unknown || ops[0].Text != string(want) {
			t.Errorf("%s\n got %+v\nwant %q", command, ops, want)
		}
	}
}

func TestBounds(t *testing.T) {
	deep := strings.Repeat("(", 100_000) + strings.Repeat(")", 100_000)
	for _, command := range []string{
		deep + " .claude/skills/a",
		strings.Repeat("$(", 60_000) + ".claude/skills/a",
		strings.Repeat("if ", 80_000),
		strings.Repeat("a && ", 40_000) + "rm .claude/skills/a",
		"rm .claude/skills/a # " + strings.Repeat("x", maxCommand),
		"printf '%s" + strings.Repeat("x", 100_000) + "' " + strings.Repeat("a ", 50_000) + "> .claude/skills/a",
		strings.Repeat("bash -c '", 3) + "rm .claude/skills/a",
		strings.Repeat("rm a;", maxOps+10),
	} {
		ops := Shell(command, "/home/dev")
		if len(ops) > maxOps+1 {
			t.Errorf("%d ops from %.20s…", len(ops), command)
		}
		for _, op := range ops {
			if len(op.Text) > maxOutput {
				t.Errorf("%d bytes from %.20s…", len(op.Text), command)
			}
		}
	}
}

func FuzzShell(f *testing.F) {
	for _, tt := range shellTests {
		f.Add(tt.command)
	}
	for _, c := range printed {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, command string) {
		place := Place{CWD: "/home/dev/shop", Home: "/home/dev"}
		ops := place.Shell(command)
		for _, op := range ops {
			if op.Path == "" && !op.Unknown || op.Path != "" && (!path.IsAbs(op.Path) || path.Clean(op.Path) != op.Path) {
				t.Errorf("path %q of %+v", op.Path, op)
			}
			if op.From != "" && path.Clean(op.From) != op.From {
				t.Errorf("from %q", op.From)
			}
			if op.Unknown && (op.Text != "" || op.From != "") {
				t.Errorf("unknown with content: %+v", op)
			}
		}
		if again := place.Shell(command); !slices.Equal(ops, again) {
			t.Errorf("not deterministic: %+v, %+v", ops, again)
		}
	})
}

func FuzzTool(f *testing.F) {
	f.Add("Write", `{"file_path":"/a","content":"x"}`)
	f.Add("Edit", `{"file_path":"/a","old_string":"x","new_string":"y"}`)
	f.Add("Bash", `{"command":"rm x"}`)
	f.Fuzz(func(t *testing.T, name, input string) {
		Place{CWD: "/"}.Tool(name, []byte(input))
	})
}

func BenchmarkShell(b *testing.B) {
	command, _ := json.Marshal(shellTests[0].command)
	b.ReportAllocs()
	b.SetBytes(int64(len(command)))
	for b.Loop() {
		Shell(shellTests[0].command, "/home/dev/shop")
	}
}
