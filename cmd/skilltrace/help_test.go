package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/shell"
)

// tree are the commands of the program, itself first.
func tree(t *testing.T) []*cobra.Command {
	t.Helper()
	a := &app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, getenv: func(string) string { return "" }}
	return documented(a.rootCommand())
}

// TestHelp holds every command to a summary, a paragraph and examples.
func TestHelp(t *testing.T) {
	for _, cmd := range tree(t) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			if s := cmd.Short; s == "" || strings.HasSuffix(s, ".") || strings.Contains(s, "\n") || len(s) > 80 {
				t.Errorf("the summary is no line: %q", s)
			}
			paragraph, _, _ := strings.Cut(cmd.Long, "\n\n")
			if len(strings.Fields(paragraph)) < 12 || !strings.ContainsAny(paragraph, ".:") {
				t.Errorf("no paragraph says what it is for: %q", paragraph)
			}
			for line := range strings.Lines(cmd.Long) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 90 {
					t.Errorf("a line of %d characters: %s", n, line)
				}
			}
			if n := len(examplesOf(cmd)); n < 2 || n > 6 {
				t.Errorf("%d examples, want two or three", n)
			}
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if f.Usage == "" {
					t.Errorf("--%s is not described", f.Name)
				}
			})
		})
	}
}

func examplesOf(cmd *cobra.Command) []string {
	var out []string
	for line := range strings.Lines(cmd.Example) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// TestExamples runs every example of every command, each command's in a home of its own.
func TestExamples(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for other shells")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git, in which the skills of the examples are committed")
	}
	for _, cmd := range tree(t) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			home := exampleHome(t)
			getenv := func(key string) string { return map[string]string{"HOME": home, "TZ": "UTC"}[key] }
			t.Chdir(filepath.Join(home, "shop"))
			if cmd.Name() == "test" || cmd.Name() == "export" {
				run(t, getenv, "test init latest --quiet")
			}
			for _, example := range examplesOf(cmd) {
				run(t, getenv, example)
			}
		})
	}
}

// run runs an example: what stands before a pipe, a redirection or another command.
func run(t *testing.T, getenv func(string) string, example string) {
	t.Helper()
	_, command, ok := strings.Cut(" "+example, "skilltrace ")
	if !ok {
		command = strings.TrimPrefix(example, "skilltrace") // without arguments
	}
	if !strings.HasPrefix(example, "skilltrace") && !strings.HasPrefix(example, "source <(skilltrace ") {
		command = example // of this test
	}
	for _, end := range []string{" | ", " > ", " && ", ")"} {
		command, _, _ = strings.Cut(command, end)
	}
	args, err := shell.Fields(command, getenv)
	if err != nil {
		t.Fatalf("%s: %v", example, err)
	}
	// What goes on until somebody ends it is run without that.
	args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--follow" || arg == "-f" })
	var out, errs bytes.Buffer
	status := Main(args, &out, &errs, getenv)
	if status != statusOK && !(status == statusFindings && args[0] == "conform") {
		t.Errorf("%s: status %d\n%s", example, status, &errs)
	}
	if len(args) > 0 && args[0] == "man" || strings.Contains(command, "plugin-eval") || strings.Contains(command, "-output") || strings.Contains(command, "--quiet") {
		return // it writes files
	}
	if out.Len() == 0 {
		t.Errorf("%s: printed nothing", example)
	}
	if strings.Contains(errs.String(), "no event fits") {
		t.Errorf("%s: %s", example, &errs)
	}
}

// exampleHome is a home folder with a session, and with a project under git in it.
func exampleHome(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "examples.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	shop := filepath.Join(home, "shop")
	for _, f := range archive.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(f.Data, []byte("$SHOP"), []byte(shop)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "Skills"}} {
		git := exec.Command("git", append([]string{"-C", shop, "-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		git.Env = append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_COMMITTER_DATE=2026-11-01T09:00:00Z", "GIT_AUTHOR_DATE=2026-11-01T09:00:00Z")
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return home
}

// TestCommandsPage holds docs/commands.md to the help.
func TestCommandsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Commands\n\nWhat `--help` says of each command. This page is generated from it: `go test ./cmd/skilltrace -run TestCommandsPage -update`.\n\n")
	list := tree(t)
	for _, cmd := range list[1:] {
		fmt.Fprintf(&b, "- [`%s`](#%s): %s\n", cmd.CommandPath(), strings.ReplaceAll(cmd.CommandPath(), " ", "-"), cmd.Short)
	}
	for _, cmd := range list {
		fmt.Fprintf(&b, "\n## %s\n\n%s: `%s`\n\n%s\n", cmd.CommandPath(), cmd.Short, cmd.UseLine(), fenced(cmd.Long))
		if cmd.Example != "" {
			b.WriteString("\n```sh\n" + strings.Join(examplesOf(cmd), "\n") + "\n```\n")
		}
		var rows strings.Builder
		cmd.InitDefaultHelpFlag()
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			name, usage := pflag.UnquoteUsage(f)
			option := "--" + f.Name
			if f.Shorthand != "" {
				option = "-" + f.Shorthand + ", " + option
			}
			if name != "" {
				option += " " + name
			}
			if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "[]" {
				usage += " (default " + d + ")"
			}
			fmt.Fprintf(&rows, "| `%s` | %s |\n", strings.ReplaceAll(option, "|", `\|`), strings.NewReplacer("|", `\|`, "<", "&lt;", "~", `\~`).Replace(usage))
		})
		if rows.Len() > 0 {
			b.WriteString("\n| option | |\n|---|---|\n" + rows.String())
		}
	}
	path := filepath.Join("..", "..", "docs", "commands.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != b.String() {
		t.Error("docs/commands.md is not what the help says; go test ./cmd/skilltrace -run TestCommandsPage -update writes it anew")
	}
}

// TestSettingsTable holds the table in docs/configuration.md to the options that files can
// set.
func TestSettingsTable(t *testing.T) {
	commands := map[string][]string{}
	for _, cmd := range tree(t) {
		for _, name := range settable(cmd) {
			commands[name] = append(commands[name], "`"+commandName(cmd)+"`")
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		list := commands[name]
		if len(list) == 0 {
			t.Errorf("%s is an option of no command", name)
		}
		of := strings.Join(list, ", ")
		if len(list) > 6 {
			of = "most commands"
		}
		project := "no"
		if settings[name].project {
			project = "yes"
			if settings[name].path {
				project = "in the project"
			}
		}
		fmt.Fprintf(&b, "| `%s` of %s | yes | %s |\n", name, of, project)
	}
	path := filepath.Join("..", "..", "docs", "configuration.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "| option | your file | a project's |\n|---|---|---|\n", "\n\nAll others are given"
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("docs/configuration.md has no table of options")
	}
	want := before + begin + strings.TrimSuffix(b.String(), "\n") + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Error("the table of options in docs/configuration.md is not that of the program; go test ./cmd/skilltrace -run TestSettingsTable -update writes it anew")
	}
}

// A project's file is the work of strangers: nothing that writes, runs, spends or hides is
// among the options that it can set.
func TestProjectSettings(t *testing.T) {
	harmless := []string{"by", "client", "floor", "format", "limit", "model", "prices", "project", "rules", "settings", "skills", "timezone", "top", "verbose", "window"}
	paths := []string{"floor", "prices", "project", "rules", "settings", "skills"}
	for name, s := range settings {
		if s.project && !slices.Contains(harmless, name) {
			t.Errorf("a project can set %s: is it harmless?", name)
		}
		if s.project && s.path != slices.Contains(paths, name) {
			t.Errorf("%s: a path of a project must lie in it", name)
		}
	}
	for _, name := range []string{"output", "open", "command", "yes", "force", "update", "write-floor", "dir", "to", "clear", "runs", "scorer", "follow", "no-config", "help", "version"} {
		if _, ok := settings[name]; ok {
			t.Errorf("a file can set %s", name)
		}
	}
}

// TestHostileSettings reads files of defaults that somebody made to do harm, or by mistake.
func TestHostileSettings(t *testing.T) {
	root := tree(t)[0]
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"# nothing\n", ""},
		{"---\n", ""},
		{"format: json\n---\nformat: csv\n", ":2: a second document"},
		{"[", ":1: not YAML"},
		{"format: json\n---\n[", "not YAML"},
		{strings.Repeat("[", 20_000), ":1: not YAML"},
		{"\xff\xfe\x00", "not YAML"},
		{strings.Repeat("#", maxConfig+1), "larger than 256 KiB"},
		{"a: &a [*a]\n", ":1: unknown option \"a\""},
		{"format: &x json\nrules: *x\n", ":2: rules: want a text"},
		{"<<: {format: json}\n", ":1: unknown option"},
		{"? [a]\n: b\n", ":1: the file: want the name of an option"},
		{"[format]\n", ":1: the file: want options"},
		{"skills: [[a]]\n", ":1: skills: want a text or a list of texts"},
		{"skills: []\n", ":1: skills: want a text or a list of texts"},
		{"skills: [\"\"]\n", ":1: skills: want"},
		{"skills: ['a/../../b']\n", ":1: skills: a/../../b: want a path in the project"},
		{"skills: ['~/b']\n", ""}, // a folder of that name
		{"skills: ['//server/share']\n", "want a path in the project"},
		{"format: ~\n", ":1: format: want a text"},
		{"format: {a: b}\n", ":1: format: want a text"},
		{"limit: 0x10\n", "want a whole number"},
		{"limit: 1.5\n", "want a whole number"},
		{"limit: 99999999999999999999\n", "want a whole number"},
		{"window: 0\n", ":1: window: 0: want a number of tokens"},
		{"verbose: yes\n", ":1: verbose: want true or false"},
		{"verbose: True\n", ""},
		{"help: true\n", ":1: unknown option"},
		{"commands: {test init: {format: json}}\n", ""},
		{"commands: {completion: {}}\n", ":1: unknown command"},
		{"commands: {config: {format: json}}\n", ":1: format: no file of defaults can set it"},
		{"commands: {cost: {limit: 3}}\n", ":1: unknown option \"limit\""},
		{"commands: {test: {prices: p.json}}\n", ":1: prices: a project's file cannot set it"},
	} {
		path := filepath.Join(t.TempDir(), configName)
		if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := readConfig(root, path, "/home/dev", true)
		switch {
		case err == nil && tt.want != "":
			t.Errorf("%.40q: no error, want %q", tt.text, tt.want)
		case err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%.40q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

// fenced is a help text as Markdown, in which lines that are indented stand as they are.
func fenced(text string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(markdownOf(text)) {
		code := strings.HasPrefix(line, "    ")
		if code != inside && (code || line != "\n") {
			b.WriteString("```\n")
			if inside = code; !code {
				b.WriteString("\n")
			}
		}
		switch {
		case code:
			b.WriteString(strings.TrimPrefix(line, "    "))
		case inside && line == "\n":
		default:
			b.WriteString(line)
		}
	}
	if inside {
		b.WriteString("\n```")
	}
	return strings.TrimRight(b.String(), "\n")
}

// TestManual writes the manual twice: the same pages, with what the help says.
func TestManual(t *testing.T) {
	getenv := func(key string) string { return map[string]string{"SOURCE_DATE_EPOCH": "1796000000"}[key] }
	var pages [2]string
	for i := range pages {
		dir := filepath.Join(t.TempDir(), "man")
		var out, errs bytes.Buffer
		if status := Main([]string{"man", dir}, &out, &errs, getenv); status != statusOK || out.Len() > 0 {
			t.Fatalf("status %d, %s", status, &errs)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if want := len(tree(t)); len(entries) != want {
			t.Errorf("%d pages for %d commands", len(entries), want)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			pages[i] += string(data)
			if bytes.ContainsFunc(data, func(r rune) bool { return r > 0x7f }) {
				t.Errorf("%s: not ASCII", e.Name())
			}
			if !strings.Contains(string(data), `"Nov 2026" "skilltrace"`) || strings.Contains(string(data), "cobra") {
				t.Errorf("%s: no date, or not ours:\n%.300s", e.Name(), data)
			}
		}
	}
	if pages[0] != pages[1] {
		t.Error("two runs differ")
	}
	for _, want := range []string{".SH NAME\nskilltrace-why - Why a skill", "\nexists     a file, or a line of the log, names the skill\n", `\fB--skills\fP`, "skilltrace cost --by skill"} {
		if !strings.Contains(pages[0], want) {
			t.Errorf("%q is not in the manual", want)
		}
	}
	var errs bytes.Buffer
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if status := Main([]string{"man", file}, &bytes.Buffer{}, &errs, getenv); status != statusUnusable || !strings.Contains(errs.String(), "give a folder") {
		t.Errorf("status %d, %s", status, &errs)
	}
}

// On a screen the options of a help text fit its width; elsewhere, as for a search, each
// has a line.
func TestHelpWidth(t *testing.T) {
	for _, width := range []int{0, 60, 80, 140} {
		getenv := func(key string) string {
			if key == "COLUMNS" && width > 0 {
				return strconv.Itoa(width)
			}
			return ""
		}
		var out, errs bytes.Buffer
		if status := Main([]string{"replay", "--help"}, &out, &errs, getenv); status != 0 || errs.Len() > 0 {
			t.Fatalf("status %d, %s", status, &errs)
		}
		_, options, found := strings.Cut(out.String(), "Flags:\n")
		if !found || !strings.Contains(options, "--no-config") {
			t.Fatalf("%d columns: no options: %s", width, options)
		}
		widest := 0
		for line := range strings.Lines(options) {
			widest = max(widest, len(strings.TrimRight(line, "\n")))
		}
		if width > 0 && widest > width || width == 0 && widest < 140 {
			t.Errorf("%d columns: a line of %d", width, widest)
		}
	}
}
