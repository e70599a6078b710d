package local

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/skilltrace/skilltrace/skills"
)

// TreeAt is the file tree from which folders of skills are read as they were committed
// at a revision, with the folders as absolute slash-separated paths; it may be used from
// several goroutines. An empty ref, or AtNow, is the disk as it is.
//
// Unlike a session, whose other folders are read as they are now, a revision is taken at
// its word: what it does not hold did not exist. The error says that the revision, or a
// folder's repository, cannot be read, or that a folder exists neither there nor here.
func TreeAt(ref string, dirs []string) (skills.Tree, []string, error) {
	now := newSnapshot()
	slashes := make([]string, len(dirs))
	for i, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", dir, err)
		}
		slashes[i] = slashed(abs)
	}
	if ref == "" || ref == AtNow {
		for i, dir := range dirs {
			if _, err := now.ReadDir(slashes[i]); err != nil {
				if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
					err = pe.Err
				}
				return nil, nil, fmt.Errorf("%s: %w", dir, err)
			}
		}
		return now, slashes, nil
	}
	if err := CheckRevision(ref); err != nil {
		return nil, nil, err
	}
	t := &revised{now: now, history: newHistory(), ref: ref, strict: true}
	for _, dir := range slashes {
		t.given = append(t.given, dir)
		// The skills folder of a plugin stands for the plugin.
		if path.Base(dir) == "skills" {
			t.given = append(t.given, path.Dir(dir))
		}
	}
	t = newRevised(t)
	for i, dir := range slashes {
		m, at := t.mount(dir)
		switch found := t.mounts[t.folder(dir)]; {
		case found.err != nil:
			return nil, nil, found.err
		case m == nil:
			return nil, nil, fmt.Errorf("%s: %s, so it has no revision %s", dirs[i], found.why, ref)
		case !m.tree.holds(at) && !here(filepath.FromSlash(dir)):
			return nil, nil, fmt.Errorf("%s: no such folder, neither here nor at %s", dirs[i], m.tree.name())
		}
	}
	return t, slashes, nil
}
