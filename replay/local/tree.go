package local

import (
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/skilltrace/skilltrace/skills"
)

// snapshot is the disk as it was when each folder and file was first looked at.
type snapshot struct {
	disk skills.Disk

	mu    sync.Mutex
	dirs  map[string]seenDir
	files map[string]seenFile
	links map[string]seenLink
	room  int64 // bytes that may still be kept
}

type seenDir struct {
	entries []fs.DirEntry
	err     error
}

type seenFile struct {
	data []byte
	err  error
}

type seenLink struct {
	target string
	err    error
}

// maxKept bounds what a snapshot keeps, in bytes; entryCost is what a name is
// taken for. What goes beyond is read again.
const (
	maxKept   = 256 << 20
	entryCost = 256
)

func newSnapshot() *snapshot {
	return &snapshot{dirs: map[string]seenDir{}, files: map[string]seenFile{}, links: map[string]seenLink{}, room: maxKept}
}

// keep takes room for something; false if there is none.
func (t *snapshot) keep(cost int) bool {
	if t.room < int64(cost) {
		return false
	}
	t.room -= int64(cost)
	return true
}

// refuse is the error of a path that names nothing on this machine: one that a
// log of another system gave.
func refuse(op, name string) error {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists a folder.
func (t *snapshot) ReadDir(dir string) ([]fs.DirEntry, error) {
	if err := refuse("open", dir); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	d, ok := t.dirs[dir]
	if !ok {
		d.entries, d.err = t.disk.ReadDir(dir)
		if t.keep(entryCost * (1 + len(d.entries))) {
			t.dirs[dir] = d
		}
	}
	return slices.Clone(d.entries), d.err // callers sort in place
}

// ReadFile returns the bytes of a file, which the caller must not change.
func (t *snapshot) ReadFile(name string) ([]byte, error) {
	if err := refuse("open", name); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f, ok := t.files[name]
	if !ok {
		f.data, f.err = t.disk.ReadFile(name)
		if t.keep(entryCost + len(f.data)) {
			t.files[name] = f
		}
	}
	return f.data, f.err
}

// Resolve follows all links of an existing path.
func (t *snapshot) Resolve(name string) (string, error) {
	if err := refuse("lstat", name); err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l, ok := t.links[name]
	if !ok {
		l.target, l.err = t.disk.Resolve(name)
		if t.keep(entryCost) {
			t.links[name] = l
		}
	}
	return l.target, l.err
}

// Stat describes what a path leads to.
func (t *snapshot) Stat(name string) (fs.FileInfo, error) {
	if err := refuse("stat", name); err != nil {
		return nil, err
	}
	return t.disk.Stat(name)
}

// view is the part of a tree that a session is taken to have seen.
type view struct {
	skills.Tree
	// only are the folders beside which nothing exists; nil: the whole tree.
	only []string
	// course is what becomes of paths over the session; of its changes the first come
	// have come. nil: nothing.
	course *course
	come   int
}

// course is what becomes of paths over a session, for its views to share.
type course struct {
	// hidden are paths that do not exist, with all that lies in them, until as many
	// changes have come.
	hidden map[string]int
	// written are the texts that the log shows to have been written, by path, in order.
	written map[string][]writtenText
}

// never is more changes than ever come.
const never = math.MaxInt

// writtenText is a text, and the number of changes with which it comes.
type writtenText struct {
	come int
	text string
}

// hides reports whether a path, with all that lies in it, does not exist yet.
func (v view) hides(name string) bool { return v.course != nil && v.course.hidden[name] > v.come }

// text is what the log shows to have been written to a path by now.
func (v view) text(name string) (string, bool) {
	if v.course == nil {
		return "", false
	}
	list := v.course.written[name]
	n := sort.Search(len(list), func(i int) bool { return list[i].come > v.come })
	if n == 0 {
		return "", false
	}
	return list[n-1].text, true
}

// sees reports whether a path exists for the session.
func (v view) sees(name string) bool {
	for at := name; v.course != nil && len(v.course.hidden) > 0; at = path.Dir(at) {
		if v.hides(at) {
			return false
		}
		if at == path.Dir(at) {
			break
		}
	}
	return v.only == nil || slices.ContainsFunc(v.only, func(dir string) bool {
		return name == dir || strings.HasPrefix(name, dir+"/")
	})
}

func (v view) missing(op, name string) error {
	if v.sees(name) {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists what exists of a folder.
func (v view) ReadDir(dir string) ([]fs.DirEntry, error) {
	if err := v.missing("open", dir); err != nil {
		return nil, err
	}
	entries, err := v.Tree.ReadDir(dir)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return v.hides(path.Join(dir, e.Name())) }), err
}

// ReadFile is the text that the log shows, or else that of the disk.
func (v view) ReadFile(name string) ([]byte, error) {
	if err := v.missing("open", name); err != nil {
		return nil, err
	}
	if text, ok := v.text(name); ok {
		return []byte(text), nil
	}
	return v.Tree.ReadFile(name)
}

// Resolve follows all links of a path that exists.
func (v view) Resolve(name string) (string, error) {
	if err := v.missing("lstat", name); err != nil {
		return "", err
	}
	return v.Tree.Resolve(name)
}

// Stat describes what a path that exists leads to.
func (v view) Stat(name string) (fs.FileInfo, error) {
	if err := v.missing("stat", name); err != nil {
		return nil, err
	}
	return v.Tree.Stat(name)
}
