// Package skilltrace_test holds the project to docs/architecture.md.
package skilltrace_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/skilltrace/skilltrace"

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

// name is the package's path in the module.
func (p *listed) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// packages are the packages of the module that have more than tests.
func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		t.Fatal("go list names no package")
	}
	return list
}

// picture reads the table of packages in docs/architecture.md: what each may
// import of the project, and the packages from the top down.
func picture(t *testing.T) (may map[string][]string, order []string) {
	t.Helper()
	doc, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(doc), "<!-- imports -->\n")
	if !ok {
		t.Fatal("docs/architecture.md has no table marked with <!-- imports -->")
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	may = map[string][]string{}
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(line, "|")
		name := quoted.FindStringSubmatch(cells[1])
		if name == nil {
			continue // the head of the table
		}
		may[name[1]] = []string{}
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			may[name[1]] = append(may[name[1]], m[1])
		}
		order = append(order, name[1])
	}
	return may, order
}

func TestImports(t *testing.T) {
	may, order := picture(t)
	for name, imports := range may {
		for _, other := range imports {
			if slices.Index(order, other) <= slices.Index(order, name) {
				t.Errorf("docs/architecture.md: %s may import %s, which does not stand below it", name, other)
			}
		}
	}
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name := p.name()
		if within(name, "bench") {
			continue // measures the others; no row allows an import of it
		}
		seen[name] = true
		allowed, ok := may[name]
		if !ok {
			t.Errorf("%s is not in the table of docs/architecture.md", name)
			continue
		}
		for _, other := range p.Imports {
			if other, ok := strings.CutPrefix(other, module+"/"); ok && !slices.Contains(allowed, other) {
				t.Errorf("%s imports %s, against docs/architecture.md", name, other)
			}
		}
		for _, other := range allowed {
			if !slices.Contains(p.Imports, module+"/"+other) {
				t.Errorf("docs/architecture.md: %s may import %s, and does not", name, other)
			}
		}
	}
	for _, name := range order {
		if !seen[name] {
			t.Errorf("docs/architecture.md: there is no package %s", name)
		}
	}
}

// within reports whether a package is one of roots or lies below one.
func within(name string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return name == root || strings.HasPrefix(name, root+"/")
	})
}

// TestReach pins what packages may import of the standard library and of others.
// A ban on a package holds for those below it too.
func TestReach(t *testing.T) {
	files := []string{"os", "syscall", "io/fs", "path/filepath", "golang.org/x/sys"}
	bans := []struct {
		why    string
		ban    []string
		only   []string // where the ban holds; nil: everywhere
		except []string
	}{
		{why: "nothing leaves the machine but what a model is asked", ban: []string{"net", "github.com/anthropics"}, except: []string{"replay/regress/live"}},
		{why: "nothing is loaded", ban: []string{"plugin"}},
		{why: "nothing is executed but git, which replay/local asks for the skill files of the past, the program that the user names, and what opens a page when --open asks for it", ban: []string{"os/exec"}, except: []string{"replay/local", "replay/regress/program", "cmd/skilltrace"}},
		{why: "output is the same on every run", ban: []string{"math/rand", "crypto/rand"}, except: []string{"bench"}},
		{why: "rules and predictions know no files", ban: append(files, "embed"), only: []string{"replay"}, except: []string{"replay/local", "replay/conform", "replay/regress/live", "replay/regress/program"}},
		{why: "arithmetic only; its tables are embedded", ban: files, only: []string{"budget"}},
		{why: "command lines are for cmd", ban: []string{"github.com/spf13"}, except: []string{"cmd"}},
		{why: "tables are for report", ban: []string{"github.com/olekukonko"}, except: []string{"report"}},
	}
	for _, p := range packages(t) {
		name := p.name()
		for _, b := range bans {
			if b.only != nil && !within(name, b.only...) || within(name, b.except...) {
				continue
			}
			for _, imported := range p.Imports {
				if within(imported, b.ban...) {
					t.Errorf("%s imports %s: %s", name, imported, b.why)
				}
			}
		}
	}
}

// TestNoClock holds what is derived from a log to the times in the log.
func TestNoClock(t *testing.T) {
	clock := []string{"Now", "Since", "Until", "After", "Tick", "NewTimer", "NewTicker", "Sleep"}
	for _, p := range packages(t) {
		if within(p.name(), "cmd") {
			continue // progress on a terminal
		}
		for _, file := range p.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains(clock, sel.Sel.Name) {
					if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && x.Obj == nil {
						t.Errorf("%s/%s uses time.%s: output may not depend on the clock", p.name(), file, sel.Sel.Name)
					}
				}
				return true
			})
		}
	}
}
