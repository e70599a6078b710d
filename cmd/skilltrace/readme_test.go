package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/replay/regress/live/fake"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/report"
)

var update = flag.Bool("update", false, "write the output shown in README.md, and that expected in scripts, anew")

// console matches a block of a page that shows a command, its output and, where it is not
// 0, its exit status.
var console = regexp.MustCompile("(?s)```console\n\\$ skilltrace ([^\n]*)\n(.*?)(?:\\$ echo \\$\\?\n([0-9]+)\n)?```\n")

// leftOut stands in such a block for lines that are not shown.
const leftOut = "…"

// TestReadme holds README.md and other pages to what the program prints: each console block
// is run on what is bundled, in a folder that is named as a clone is. Blocks of one page
// run one after another in one clone. What a test says on stderr stands before its output,
// and a server with scripted replies is the model.
func TestReadme(t *testing.T) {
	for _, name := range []string{"README.md", "docs/tour.md", "docs/how-to-why.md", "docs/how-to-change-descriptions.md", "docs/examples/README.md"} {
		t.Run(name, func(t *testing.T) { checkConsole(t, name) })
	}
}

func checkConsole(t *testing.T, name string) {
	if runtime.GOOS == "windows" {
		t.Skip("paths look otherwise here")
	}
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Base(name)
	name = filepath.Join(root, filepath.FromSlash(name))
	readme, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(home, "skilltrace")
	copied := func(dir string) {
		if err := errors.Join(os.RemoveAll(filepath.Join(clone, dir)), os.CopyFS(filepath.Join(clone, dir), os.DirFS(filepath.Join(root, dir)))); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"fixtures/compact", "fixtures/overflow", "docs/examples"} {
		copied(dir)
	}
	t.Chdir(clone)
	env := map[string]string{"HOME": home, "COLUMNS": "80"}
	if text, err := os.ReadFile("docs/examples/shop/model.json"); err == nil {
		script, err := fake.ReadScript(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		model := fake.Start(script...)
		t.Cleanup(model.Close)
		env["ANTHROPIC_BASE_URL"], env["ANTHROPIC_API_KEY"] = model.URL, "key"
	}
	getenv := func(key string) string { return env[key] }
	ran := 0
	fresh := console.ReplaceAllStringFunc(string(readme), func(block string) string {
		m := console.FindStringSubmatch(block)
		var out, errs bytes.Buffer
		args := shellWords(m[1])
		if _, err := exec.LookPath("python3"); err != nil && slices.Contains(args, "command") {
			t.Logf("skilltrace %s: not run, as there is no python3", m[1])
			return block
		}
		status := Main(args, &out, &errs, getenv)
		if args[0] == "test" && status <= statusFindings {
			out = *bytes.NewBuffer(append(errs.Bytes(), out.Bytes()...))
			errs.Reset()
		}
		if strconv.Itoa(status) != cmp.Or(m[3], "0") || errs.Len() > 0 {
			t.Errorf("skilltrace %s: status %d, %s", m[1], status, &errs)
			return block
		}
		shownStatus := ""
		if m[3] != "" {
			shownStatus = "$ echo $?\n" + m[3] + "\n"
		}
		if slices.Contains(args, "--update") {
			copied("docs/examples")
		}
		ran++
		shown, ok := shorten(m[2], out.String())
		switch {
		case !ok:
			t.Errorf("skilltrace %s: what %s shows cannot be found in\n%s", m[1], page, &out)
		case shown != m[2] && !*update:
			t.Errorf("skilltrace %s: %s shows\n%s\nnow it prints\n%s\n(go test ./cmd/skilltrace -run TestReadme -update)", m[1], page, m[2], shown)
		}
		return "```console\n$ skilltrace " + m[1] + "\n" + shown + shownStatus + "```\n"
	})
	if ran == 0 {
		t.Errorf("%s shows no output", page)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(name, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shellWords are the words of a line of a page.
func shellWords(line string) []string {
	words, err := spec.Words(line)
	if err != nil {
		return strings.Fields(line)
	}
	return words
}

// shorten leaves out of a command's output what an earlier form of it left out:
// parts between lines of leftOut begin with the same word and go on to the next
// line that is not indented; without such lines all is shown.
func shorten(shown, output string) (string, bool) {
	old, lines := strings.Split(strings.TrimSuffix(shown, "\n"), "\n"), strings.SplitAfter(output, "\n")
	if !slices.Contains(old, leftOut) {
		return output, true
	}
	var b strings.Builder
	for i, line := range old {
		if line == leftOut {
			b.WriteString(leftOut + "\n")
			continue
		}
		if i > 0 && old[i-1] != leftOut {
			continue
		}
		word := firstWord(line)
		at := slices.IndexFunc(lines, func(l string) bool { return firstWord(l) == word })
		if word == "" || at < 0 {
			return shown, false
		}
		b.WriteString(lines[at])
		for at++; at < len(lines) && strings.HasPrefix(lines[at], " "); at++ {
			b.WriteString(lines[at])
		}
		lines = lines[at:]
	}
	return b.String(), true
}

// firstWord is the word at the very start of a line, "" if it is indented.
func firstWord(line string) string {
	word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	return word
}

// TestDocumentedKinds checks that the table of kinds in docs/how-to-audit.md is that of
// the program.
func TestDocumentedKinds(t *testing.T) {
	text, err := os.ReadFile("../../docs/how-to-audit.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n| kind | what happened |\n|---|---|\n")
	if !found {
		t.Fatal("no table of kinds")
	}
	var got, want []string
	for line := range strings.Lines(table) {
		kind, ok := strings.CutPrefix(line, "| `")
		if !ok {
			break
		}
		kind, _, _ = strings.Cut(kind, "`")
		got = append(got, kind)
	}
	for _, k := range report.EventKinds {
		want = append(want, string(k))
	}
	if !slices.Equal(got, want) {
		t.Errorf("documented: %q\nthe program's: %q", got, want)
	}
}

// TestDocumentedCommands checks that the commands in README.md and docs/ exist
// with all their options.
func TestDocumentedCommands(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, name := range append(files, "../../README.md", "../../docs/examples/README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fenced := false
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
				continue
			}
			line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			line = strings.Replace(line, "go run ./cmd/skilltrace", "skilltrace", 1)
			rest, ok := strings.CutPrefix(line, "skilltrace ")
			if !fenced || !ok {
				continue
			}
			for _, end := range []string{" #", " |", " >"} {
				rest, _, _ = strings.Cut(rest, end)
			}
			a := &app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, getenv: func(string) string { return "" }}
			cmd, args, err := a.rootCommand().Find(shellWords(rest))
			if err == nil {
				err = cmd.ParseFlags(args)
			}
			if err == nil && cmd.Args != nil {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: skilltrace %s: %v", filepath.Base(name), rest, err)
			}
			commands++
		}
	}
	if commands == 0 {
		t.Error("the documents name no command")
	}
}
