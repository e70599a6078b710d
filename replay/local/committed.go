package local

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skilltrace/skilltrace/skills"
)

// maxLinks bounds how many links one path may lead through, as on a disk.
const maxLinks = 40

// maxTarget is the size of the longest link that is followed, in bytes.
const maxTarget = 4096

// errNotHeld is what reading an object gives that a partial clone lacks.
var errNotHeld = errors.New("this clone does not hold it")

// committed is the tree of a commit. What is asked for is read with all below it
// in one go, and kept. Paths are relative to the top of the work tree, "" for it.
type committed struct {
	*revision

	mu      sync.Mutex
	entries map[string]object
	looked  map[string]bool // paths whose own entry was asked for
	folders map[string]bool // folders that were read with all below them
	texts   map[string][]byte
	room    int64 // bytes that may still be kept
	err     error // git failed: nothing more is asked
}

func newCommitted(r *revision) *committed {
	return &committed{revision: r, entries: map[string]object{"": {kind: isFolder}}, looked: map[string]bool{}, folders: map[string]bool{}, texts: map[string][]byte{}, room: maxKept}
}

func (t *committed) merge(entries map[string]object) {
	for name, o := range entries {
		t.entries[name] = o
	}
}

// entry is what lies at a path, no link followed.
func (t *committed) entry(at string) (object, bool) {
	if o, ok := t.entries[at]; ok || t.looked[at] {
		return o, ok
	}
	if t.loaded(at) {
		return object{}, false
	}
	t.looked[at] = true
	if t.err == nil {
		var found map[string]object
		if found, t.err = listTree(t.revision, at, false); t.err == nil {
			t.merge(found)
		}
	}
	o, ok := t.entries[at]
	return o, ok
}

// above is the folder in which a path lies.
func above(at string) string {
	if dir := path.Dir(at); dir != "." {
		return dir
	}
	return ""
}

// loaded reports whether a folder above a path was read with all below it.
func (t *committed) loaded(at string) bool {
	for at != "" {
		if at = above(at); t.folders[at] {
			return true
		}
	}
	return false
}

// load reads a folder with all below it, and the texts of its Markdown files.
func (t *committed) load(dir string) {
	if t.folders[dir] || t.loaded(dir) || t.err != nil {
		return
	}
	t.folders[dir] = true
	var found map[string]object
	if found, t.err = listTree(t.revision, dir+"/", true); t.err != nil {
		return
	}
	t.merge(found)
	var names []string
	for name, o := range found {
		if o.kind == isFile && strings.HasSuffix(strings.ToLower(name), ".md") && o.size <= skills.DefaultMaxFile {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var hashes []string
	const most = maxGit / 2 // the answer has a line for each object too
	sum := int64(0)
	for _, name := range names {
		o := found[name]
		if sum += o.size + entryCost; sum > most || t.room < sum {
			break
		}
		hashes = append(hashes, o.hash)
	}
	texts, err := readObjects(t.top, hashes)
	if err != nil {
		t.err = err
		return
	}
	for hash, text := range texts {
		t.texts[hash] = text
		t.room -= int64(len(text)) + entryCost
	}
}

// text is the content of a file or link.
func (t *committed) text(o object) ([]byte, error) {
	if text, ok := t.texts[o.hash]; ok {
		return text, nil
	}
	if t.err != nil {
		return nil, t.err
	}
	texts, err := readObjects(t.top, []string{o.hash})
	if err != nil {
		return nil, err
	}
	text, ok := texts[o.hash]
	if !ok {
		return nil, errNotHeld
	}
	if cost := int64(len(text)) + entryCost; cost <= t.room {
		t.texts[o.hash] = text
		t.room -= cost
	}
	return text, nil
}

// follow resolves a path. Links lead within the tree only: what lies beside it was
// not committed with it.
func (t *committed) follow(at string) (string, object, error) {
	parts, links := strings.Split(at, "/"), 0
	now, o := "", t.entries[""]
	for len(parts) > 0 {
		part := parts[0]
		parts = parts[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if now == "" {
				return "", object{}, fs.ErrNotExist
			}
			now = above(now)
			o, _ = t.entry(now)
			continue
		}
		if o.kind != isFolder {
			return "", object{}, fs.ErrNotExist
		}
		next := path.Join(now, part)
		found, ok := t.entry(next)
		switch {
		case t.err != nil:
			return "", object{}, t.err
		case !ok:
			return "", object{}, fs.ErrNotExist
		case found.kind != isLink:
			now, o = next, found
			continue
		}
		if links++; links > maxLinks || found.size > maxTarget {
			return "", object{}, fs.ErrNotExist
		}
		target, err := t.text(found)
		if err != nil {
			return "", object{}, err
		}
		if path.IsAbs(string(target)) {
			return "", object{}, fs.ErrNotExist
		}
		parts = append(strings.Split(string(target), "/"), parts...)
	}
	return now, o, nil
}

// find is follow for one of the methods of a tree.
func (t *committed) find(op, name, at string) (string, object, error) {
	real, o, err := t.follow(at)
	if err != nil {
		err = &fs.PathError{Op: op, Path: name, Err: err}
	}
	return real, o, err
}

// holds reports whether something lies at a path. The place of another repository
// holds nothing of this one's.
func (t *committed) holds(at string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, o, err := t.follow(at)
	return err == nil && o.kind != isOther
}

func (t *committed) readDir(name, at string) ([]fs.DirEntry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	dir, o, err := t.find("open", name, at)
	if err != nil {
		return nil, err
	}
	if o.kind == isFolder {
		t.load(dir)
	}
	switch {
	case t.err != nil:
		return nil, t.err
	case o.kind != isFolder:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	var out []fs.DirEntry
	for p, o := range t.entries {
		if p != "" && above(p) == dir {
			out = append(out, entryInfo{path.Base(p), o})
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

func (t *committed) readFile(name, at string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, o, err := t.find("open", name, at)
	switch {
	case err != nil:
		return nil, err
	case o.kind != isFile:
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	case o.size > skills.DefaultMaxFile:
		return nil, &fs.PathError{Op: "read", Path: name, Err: skills.ErrTooLarge}
	}
	return t.text(o)
}

func (t *committed) resolve(name, at string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	real, _, err := t.find("lstat", name, at)
	return path.Join(slashed(t.top), real), err
}

func (t *committed) stat(name, at string) (fs.FileInfo, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, o, err := t.find("stat", name, at)
	if err != nil {
		return nil, err
	}
	return entryInfo{path.Base(name), o}, nil
}

// entryInfo describes an entry of a commit. It has no time of its own: a commit does
// not tell when a file was written.
type entryInfo struct {
	name string
	o    object
}

func (e entryInfo) Name() string               { return e.name }
func (e entryInfo) Size() int64                { return e.o.size }
func (e entryInfo) ModTime() time.Time         { return time.Time{} }
func (e entryInfo) IsDir() bool                { return e.Mode().IsDir() }
func (e entryInfo) Sys() any                   { return nil }
func (e entryInfo) Type() fs.FileMode          { return e.Mode().Type() }
func (e entryInfo) Info() (fs.FileInfo, error) { return e, nil }

func (e entryInfo) Mode() fs.FileMode {
	switch e.o.kind {
	case isFolder, isOther:
		return fs.ModeDir | 0o755
	case isLink:
		return fs.ModeSymlink | 0o777
	}
	return 0o644
}
