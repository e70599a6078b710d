package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skilltrace/skilltrace/skills"
)

const (
	// filesDir is the input tree of a scenario, next to its versions.
	filesDir = "files"
	// linksFile lists the links of the tree, which are not created.
	linksFile = "SYMLINKS.txt"
)

// Limits of an input tree; the largest one has 409 files.
const (
	maxTreeFile  = 8 << 20
	maxTreeFiles = 100_000
	maxTreeDepth = 64
)

// Tree is the file tree before run 0, under the paths that the client saw, with
// its links, its directory order where it was recorded, and an empty .git where
// there was a repository.
func (c *Case) Tree() (*skills.Memory, error) {
	m := skills.NewMemory()
	root := filepath.Join(c.Dir, "..", filesDir)
	count := 0
	var walk func(dir, to string, depth int) error
	walk = func(dir, to string, depth int) error {
		if depth > maxTreeDepth {
			return fmt.Errorf("%s: nested too deeply", dir)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if err := m.Mkdir(to); err != nil {
			return err
		}
		for _, e := range entries {
			from, name := filepath.Join(dir, e.Name()), path.Join(to, e.Name())
			if count++; count > maxTreeFiles {
				return fmt.Errorf("%s: more than %d files", root, maxTreeFiles)
			}
			switch {
			case e.IsDir():
				err = walk(from, name, depth+1)
			case e.Type().IsRegular():
				var text []byte
				if text, err = readFile(from, maxTreeFile); err == nil {
					err = m.Write(name, text)
				}
			default:
				err = fmt.Errorf("%s: neither a file nor a folder; links belong into %s", from, linksFile)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(filepath.Join(root, "dev"), c.Home, 0); err != nil {
		return nil, err
	}
	if err := m.Mkdir(c.Project); err != nil {
		return nil, err
	}
	if c.Managed {
		if err := walk(filepath.Join(root, "managed"), ManagedDir, 0); err != nil {
			return nil, err
		}
	}
	links, err := c.Links()
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if err := m.Link(l.Path, l.Target); err != nil {
			return nil, err
		}
	}
	for _, dir := range c.Git {
		if err := m.Mkdir(path.Join(dir, ".git")); err != nil {
			return nil, err
		}
	}
	return m, c.order(m)
}

// Link is a symbolic link of the input tree.
type Link struct{ Path, Target string }

// Links are the links of the input tree. Errors are "file:line: what".
func (c *Case) Links() ([]Link, error) {
	name := filepath.Join(c.Dir, "..", filesDir, linksFile)
	text, err := readFile(name, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return c.parseLinks(name, string(text))
}

func (c *Case) parseLinks(name, text string) ([]Link, error) {
	var links []Link
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		from, to, ok := strings.Cut(line, " -> ")
		if !ok || from == "" || to == "" {
			return nil, fmt.Errorf("%s:%d: not PATH -> TARGET", name, n)
		}
		links = append(links, Link{c.seen(from), to})
	}
	return links, nil
}

// Apply makes a change in a tree of this case.
func (c *Case) Apply(m *skills.Memory, ch Change) error {
	for _, f := range ch.Write {
		if err := m.Write(f.Path, []byte(f.Text)); err != nil {
			return err
		}
	}
	for _, p := range ch.Remove {
		if err := m.RemoveAll(p); err != nil {
			return err
		}
	}
	return c.order(m)
}

// order sets the recorded directory order of all folders that exist.
func (c *Case) order(m *skills.Memory) error {
	for dir, names := range c.Readdir {
		if err := m.SetOrder(dir, names); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
