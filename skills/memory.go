package skills

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Memory is a file tree in memory under absolute paths. It stands for the files
// of a recording, of a test, or of a moment of a session: Clone is cheap, so a
// state can be kept for every moment. A Memory may be read by several
// goroutines at once, but changed by one only.
type Memory struct {
	root  *node
	owner *int // nodes with this owner may be changed in place
}

// node is a file, a folder or a link. A node is shared between clones until the
// one that owns it changes it.
type node struct {
	owner  *int
	mode   fs.FileMode // type bits only
	data   []byte
	target string
	kids   map[string]*node
	order  []string // explicit readdir order; names that it lacks follow by bytes
}

// maxLinks is how many links one path may cross, as on Linux.
const maxLinks = 40

var (
	errLoop   = errors.New("too many levels of symbolic links")
	errNotDir = errors.New("not a directory")
	errIsDir  = errors.New("is a directory")
)

// NewMemory returns an empty tree.
func NewMemory() *Memory {
	owner := new(int)
	return &Memory{root: newDir(owner), owner: owner}
}

func newDir(owner *int) *node {
	return &node{owner: owner, mode: fs.ModeDir, kids: map[string]*node{}}
}

// Clone returns a tree with the same content. Neither sees later changes of the
// other; the cost is that of the folders changed afterwards.
func (m *Memory) Clone() *Memory {
	m.owner = new(int)
	return &Memory{root: m.root, owner: new(int)}
}

// Write puts a file with the given content, making the folders above it, and
// replaces what stands there unless it is a folder. Links in the path are
// followed. The tree keeps data: the caller must not change it afterwards.
func (m *Memory) Write(name string, data []byte) error {
	return m.put("write", name, true, &node{mode: 0, data: data})
}

// Link puts a symbolic link. The target need not exist.
func (m *Memory) Link(name, target string) error {
	return m.put("link", name, false, &node{mode: fs.ModeSymlink, target: target})
}

// Mkdir makes a folder and all above it; an existing folder stays.
func (m *Memory) Mkdir(name string) error {
	_, err := m.dir("mkdir", name, true)
	return err
}

// Remove removes a file, a link, or an empty folder.
func (m *Memory) Remove(name string) error {
	return m.remove("remove", name, false)
}

// RemoveAll removes what stands at name with all below it. A path that does not
// exist is no error.
func (m *Memory) RemoveAll(name string) error {
	err := m.remove("removeall", name, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// SetOrder sets the readdir order of an existing folder. Names that it lacks
// follow by bytes; names that do not exist are skipped.
func (m *Memory) SetOrder(dir string, names []string) error {
	n, err := m.dir("order", dir, false)
	if err != nil {
		return err
	}
	n.order = slices.Clone(names)
	return nil
}

// ReadDir lists a folder in its readdir order.
func (m *Memory) ReadDir(dir string) ([]fs.DirEntry, error) {
	n, _, err := m.walk(dir, true)
	if err == nil && n.kids == nil {
		err = errNotDir
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: err}
	}
	names := make([]string, 0, len(n.kids))
	for name := range n.kids {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(n.order) > 0 {
		rank := make(map[string]int, len(n.order))
		for i, name := range n.order {
			if _, ok := rank[name]; !ok {
				rank[name] = i + 1
			}
		}
		at := func(name string) int {
			if r := rank[name]; r > 0 {
				return r
			}
			return len(n.order) + 1
		}
		slices.SortStableFunc(names, func(a, b string) int { return at(a) - at(b) })
	}
	entries := make([]fs.DirEntry, len(names))
	for i, name := range names {
		entries[i] = info{name, n.kids[name]}
	}
	return entries, nil
}

// ReadFile returns the content of a file. The caller must not change it.
func (m *Memory) ReadFile(name string) ([]byte, error) {
	n, _, err := m.walk(name, true)
	if err == nil && n.kids != nil {
		err = errIsDir
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return n.data, nil
}

// Resolve follows all links of an existing path.
func (m *Memory) Resolve(name string) (string, error) {
	_, real, err := m.walk(name, true)
	if err != nil {
		return "", &fs.PathError{Op: "resolve", Path: name, Err: err}
	}
	return real, nil
}

// Stat describes what a path leads to.
func (m *Memory) Stat(name string) (fs.FileInfo, error) {
	n, real, err := m.walk(name, true)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return info{path.Base(real), n}, nil
}

// walk finds the node of a path and its real path. With follow, a link at the
// end is followed too.
func (m *Memory) walk(name string, follow bool) (*node, string, error) {
	if !path.IsAbs(name) {
		return nil, "", fs.ErrInvalid
	}
	if n := m.plain(name); n != nil {
		return n, name, nil
	}
	rest := strings.Split(name, "/")
	stack := []*node{m.root}
	var at []string
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(at) > 0 {
				at, stack = at[:len(at)-1], stack[:len(stack)-1]
			}
			continue
		}
		here := stack[len(stack)-1]
		if here.kids == nil {
			return nil, "", errNotDir
		}
		kid := here.kids[part]
		if kid == nil {
			return nil, "", fs.ErrNotExist
		}
		if kid.mode == fs.ModeSymlink && (follow || len(rest) > 0) {
			if links++; links > maxLinks {
				return nil, "", errLoop
			}
			if path.IsAbs(kid.target) {
				at, stack = nil, stack[:1]
			}
			rest = append(strings.Split(kid.target, "/"), rest...)
			continue
		}
		at, stack = append(at, part), append(stack, kid)
	}
	return stack[len(stack)-1], "/" + strings.Join(at, "/"), nil
}

// plain finds the node of a clean path without links, which is its own real path; nil
// for others. Most paths are such, and nothing is allocated for them.
func (m *Memory) plain(name string) *node {
	here := m.root
	for rest := name[1:]; ; {
		part, more, deeper := strings.Cut(rest, "/")
		if part == "" || part == "." || part == ".." {
			return nil
		}
		here = here.kids[part]
		if here == nil || here.mode == fs.ModeSymlink {
			return nil
		}
		if !deeper {
			return here
		}
		rest = more
	}
}

// dir returns the folder at name as a node that may be changed, after making it
// and those above it if asked to.
func (m *Memory) dir(op, name string, make bool) (*node, error) {
	fail := func(err error) (*node, error) { return nil, &fs.PathError{Op: op, Path: name, Err: err} }
	real := path.Clean(name)
	if !path.IsAbs(name) {
		return fail(fs.ErrInvalid)
	}
	// The longest part of the path that exists, with its links resolved.
	missing := []string{}
	for {
		n, r, err := m.walk(real, true)
		if err == nil {
			if n.kids == nil {
				return fail(errNotDir)
			}
			real = r
			break
		}
		if !make || !errors.Is(err, fs.ErrNotExist) {
			return fail(err)
		}
		if _, _, err := m.walk(real, false); err == nil {
			return fail(fs.ErrNotExist) // a link that leads nowhere
		}
		missing = append(missing, path.Base(real))
		real = path.Dir(real)
	}
	m.root = m.own(m.root)
	here := m.root
	for part := range strings.SplitSeq(strings.Trim(real, "/"), "/") {
		if part != "" {
			kid := m.own(here.kids[part])
			here.kids[part] = kid
			here = kid
		}
	}
	for _, part := range slices.Backward(missing) {
		kid := newDir(m.owner)
		here.kids[part] = kid
		here = kid
	}
	return here, nil
}

// own returns n itself if it may be changed, else a copy.
func (m *Memory) own(n *node) *node {
	if n.owner == m.owner {
		return n
	}
	c := *n
	c.owner = m.owner
	if n.kids != nil {
		c.kids = make(map[string]*node, len(n.kids)+1)
		for name, kid := range n.kids {
			c.kids[name] = kid
		}
	}
	return &c
}

func (m *Memory) put(op, name string, follow bool, n *node) error {
	name = path.Clean(name)
	if follow {
		if _, real, err := m.walk(name, true); err == nil {
			name = real
		}
	}
	dir, err := m.dir(op, path.Dir(name), true)
	if err != nil {
		return err
	}
	if old := dir.kids[path.Base(name)]; name == "/" || old != nil && old.kids != nil {
		return &fs.PathError{Op: op, Path: name, Err: errIsDir}
	}
	n.owner = m.owner
	dir.kids[path.Base(name)] = n
	return nil
}

func (m *Memory) remove(op, name string, all bool) error {
	name = path.Clean(name)
	n, _, err := m.walk(name, false)
	if err == nil && name == "/" {
		err = fs.ErrInvalid
	}
	if err == nil && !all && len(n.kids) > 0 {
		err = errors.New("directory not empty")
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	dir, err := m.dir(op, path.Dir(name), false)
	if err != nil {
		return err
	}
	delete(dir.kids, path.Base(name))
	return nil
}

// info is a node under a name, as both fs.DirEntry and fs.FileInfo. A tree in
// memory knows no times and no permissions.
type info struct {
	name string
	n    *node
}

func (i info) Name() string               { return i.name }
func (i info) IsDir() bool                { return i.n.mode == fs.ModeDir }
func (i info) Type() fs.FileMode          { return i.n.mode }
func (i info) Info() (fs.FileInfo, error) { return i, nil }
func (i info) Size() int64                { return int64(len(i.n.data)) }
func (i info) Mode() fs.FileMode          { return i.n.mode }
func (i info) ModTime() time.Time         { return time.Time{} }
func (i info) Sys() any                   { return nil }
