package main

import (
	"bytes"
	"fmt"
	"image"
	_ "image/png" // the form of the pictures
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/report"
)

// TestFormatsPage holds two tables of docs/formats.md to the program: which command has
// which format, and the columns of CSV.
func TestFormatsPage(t *testing.T) {
	var has strings.Builder
	csv := map[string]bool{}
	for _, cmd := range tree(t) {
		formats := strings.Fields(cmd.Annotations[formatsKey])
		if len(formats) == 0 || cmd.Name() == "render" {
			continue // render has those of what it is given
		}
		fmt.Fprintf(&has, "| `%s` |", commandName(cmd))
		for _, f := range report.Formats {
			if slices.Contains(formats, string(f)) {
				has.WriteString(" yes |")
			} else {
				has.WriteString(" |")
			}
		}
		has.WriteString("\n")
		csv[commandName(cmd)] = slices.Contains(formats, string(report.FormatCSV))
	}

	session := []string{"latest", "--config-dir", "../../fixtures/compact"}
	var columns strings.Builder
	for _, c := range []struct {
		command, each string
		args          []string
	}{
		{"config", "option", []string{"config"}},
		{"conform", "recording and kind of check", []string{"render", "../../report/testdata/conform.json"}},
		{"cost", "request and layer", append([]string{"cost"}, session...)},
		{"listing", "entry", []string{"listing", "--skills", "../../docs/examples/shop/.claude/skills"}},
		{"replay", "check", append([]string{"replay"}, session...)},
		{"rules", "rule", []string{"rules"}},
		{"sessions", "session", append([]string{"sessions"}, session...)},
		{"test", "case", []string{"test", "../../docs/examples/shop/skilltrace.test.yaml"}},
		{"timeline", "event", append([]string{"timeline"}, session...)},
		{"why", "gate of a question", append([]string{"why", "big-a"}, session...)},
	} {
		var out, errs bytes.Buffer
		home := t.TempDir()
		if status := Main(append(c.args, "--format", "csv"), &out, &errs, func(key string) string { return map[string]string{"HOME": home}[key] }); status != statusOK {
			t.Errorf("%q: status %d, %s", c.args, status, &errs)
		}
		titles, _, _ := strings.Cut(out.String(), "\n")
		fmt.Fprintf(&columns, "| `%s` | %s | `%s` |\n", c.command, c.each, strings.ReplaceAll(strings.TrimSuffix(titles, "\r"), ",", "` `"))
		if !csv[c.command] {
			t.Errorf("%s has no CSV", c.command)
		}
		delete(csv, c.command)
	}
	for command, has := range csv {
		if has {
			t.Errorf("%s has CSV, and no line in the table of columns", command)
		}
	}

	path := filepath.Join("..", "..", "docs", "formats.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fresh := string(page)
	for _, table := range []struct{ head, rows string }{
		{"| command | table | json |", has.String()},
		{"| command | a line for each |", columns.String()},
	} {
		_, rest, ok := strings.Cut(fresh, "\n"+table.head)
		title, rest, _ := strings.Cut(rest, "\n")
		rule, rest, _ := strings.Cut(rest, "\n")
		rows, _, end := strings.Cut(rest, "\n\n")
		if !ok || !end {
			t.Fatalf("no table %s", table.head)
		}
		if rows == "" || strings.HasPrefix(rest, "\n") {
			rows = ""
		} else {
			rows += "\n"
		}
		head := table.head + title + "\n" + rule + "\n"
		fresh = strings.Replace(fresh, head+rows, head+table.rows, 1)
	}
	if *update {
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if fresh != string(page) {
		t.Error("docs/formats.md is not what the program has; go test ./cmd/skilltrace -run TestFormatsPage -update writes it anew")
	}
}

var (
	docLink    = regexp.MustCompile(`(?s)(!?)\[([^\]]*)\]\(([^)\s]+)\)`)
	docHeading = regexp.MustCompile("(?m)^#+ (.*)$")
	docFence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

// TestDocumentedLinks follows the links between pages, to their headings too, and looks at
// their pictures: each says in words what it shows, and none is large.
func TestDocumentedLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	pages := []string{filepath.Join(root, "README.md"), filepath.Join(root, "docs", "examples", "README.md"), filepath.Join(root, "docs", "schema", "README.md")}
	more, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return docFence.ReplaceAllString(string(text), "")
	}
	links, pictures := 0, 0
	for _, page := range append(pages, more...) {
		for _, m := range docLink.FindAllStringSubmatch(read(page), -1) {
			words, target := m[2], m[3]
			if strings.Contains(target, "://") {
				continue
			}
			links++
			file, fragment, _ := strings.Cut(target, "#")
			path := filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			if file == "" {
				path = page
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Errorf("%s: nothing is at %s", page, target)
				continue
			}
			if fragment != "" && !slices.ContainsFunc(docHeading.FindAllStringSubmatch(read(path), -1), func(h []string) bool { return report.Anchor(h[1]) == fragment }) {
				t.Errorf("%s: no heading is at %s", page, target)
			}
			if m[1] == "" {
				continue
			}
			pictures++
			if len(strings.Fields(words)) < 10 {
				t.Errorf("%s: %s is not said in words: %q", page, target, words)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := image.DecodeConfig(f); err != nil || info.Size() > 150<<10 {
				t.Errorf("%s: %d bytes, %v; want a picture of at most 150 kB", target, info.Size(), err)
			}
			f.Close()
		}
	}
	if links == 0 || pictures == 0 {
		t.Errorf("%d links and %d pictures found", links, pictures)
	}
}
