package local

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skilltrace/skilltrace/skills"
)

// The values of Options.SkillsAt that are no revisions.
const (
	AtNow     = "now"
	AtSession = "session"
)

// history reads skill folders as they were committed. It asks git once for each
// folder, and once for each revision.
type history struct {
	mu      sync.Mutex
	sites   map[string]*site
	commits map[commitKey]*commitSeen
	trees   map[string]*committed // by work tree and hash
}

// site is where a folder lies in a work tree, or why in none.
type site struct {
	top, prefix string
	err         error
}

type commitKey struct {
	top, ref string
	at       int64 // Unix seconds, for a revision by time
}

type commitSeen struct {
	tree *committed
	err  error
}

func newHistory() *history {
	return &history{sites: map[string]*site{}, commits: map[commitKey]*commitSeen{}, trees: map[string]*committed{}}
}

// place finds the work tree of a folder that exists.
func (h *history) place(dir string) *site {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.sites[dir]
	if p == nil {
		p = &site{}
		p.top, p.prefix, p.err = workTree(filepath.FromSlash(dir))
		h.sites[dir] = p
	}
	return p
}

// commit is the tree of a work tree at a revision, or at a moment where ref is
// AtSession.
func (h *history) commit(top, ref string, at time.Time) (*committed, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := commitKey{top: top, ref: ref}
	if ref == AtSession {
		key.at = at.Unix()
	}
	c := h.commits[key]
	if c == nil {
		c = &commitSeen{}
		var r *revision
		if ref == AtSession {
			r, c.err = revisionBefore(top, at)
		} else {
			r, c.err = revisionOf(top, ref)
		}
		if c.err == nil {
			id := top + "\x00" + r.hash
			if h.trees[id] == nil {
				h.trees[id] = newCommitted(r)
			}
			c.tree = h.trees[id]
		}
		h.commits[key] = c
	}
	return c.tree, c.err
}

// revised is the disk with the skill folders that lie in a work tree as they were
// committed. All else is as it is now.
type revised struct {
	now     *snapshot
	history *history
	ref     string
	at      time.Time // the session's start
	given   []string  // folders of skills whose paths do not tell what they are
	// strict: what a work tree does not hold at the revision does not exist, but for what
	// lies in the folder user. Otherwise folders that git does not track are read as they
	// are now.
	strict bool
	user   string

	mu     sync.Mutex
	mounts map[string]*mount
	order  []string // folders in the order in which they were first looked at
}

// mount is a skill folder and the place where it was committed; without a tree it is
// read as it is now.
type mount struct {
	dir  string
	tree *committed
	path string
	why  string // it is read as it is now
	err  error  // the revision cannot be had
}

// folder is the skill folder in which a path lies, "" if in none.
func (t *revised) folder(name string) string {
	for _, dir := range t.given {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return dir
		}
	}
	for _, mark := range []string{"/.claude/skills", "/.claude/commands"} {
		if i := strings.Index(name+"/", mark+"/"); i >= 0 {
			return name[:i+len(mark)]
		}
	}
	return ""
}

// mount is where a path was committed; nil where it is read from the disk.
func (t *revised) mount(name string) (*mount, string) {
	if !filepath.IsAbs(filepath.FromSlash(name)) {
		return nil, ""
	}
	dir := t.folder(name)
	if dir == "" {
		return nil, ""
	}
	t.mu.Lock()
	m := t.mounts[dir]
	if m == nil {
		m = t.find(dir)
		t.mounts[dir] = m
		t.order = append(t.order, dir)
	}
	t.mu.Unlock()
	if m.tree == nil {
		return nil, ""
	}
	return m, path.Join(m.path, strings.TrimPrefix(name[len(dir):], "/"))
}

// find looks for a folder in the history: by the path under which its parent was
// committed, or, if it is a link to a folder of a repository, by where that lies. A
// folder that exists no longer is looked for from the nearest one that does.
func (t *revised) find(dir string) *mount {
	m := &mount{dir: dir}
	var absent *mount
	above := path.Dir(dir)
	for !here(filepath.FromSlash(above)) && above != path.Dir(above) {
		above = path.Dir(above)
	}
	starts := []string{above}
	if here(filepath.FromSlash(dir)) {
		starts = append(starts, dir)
	}
	for _, start := range starts {
		p := t.history.place(start)
		if p.err != nil {
			if m.why == "" {
				m.why = "it lies in no git work tree"
				if !strings.Contains(p.err.Error(), "not a git repository") && !strings.Contains(p.err.Error(), "must be run in a work tree") {
					m.err = fmt.Errorf("%s: %w", dir, p.err)
				}
			}
			continue
		}
		at := path.Join(p.prefix, strings.TrimPrefix(dir, start))
		if strings.TrimPrefix(at, "/") == "" {
			at = "."
		}
		tree, err := t.history.commit(p.top, t.ref, t.at)
		if err != nil {
			m.err = err
			continue
		}
		at = strings.TrimPrefix(at, "/")
		if tree.holds(at) || t.tracked(p.top, at) {
			m.tree, m.path, m.err, m.why = tree, at, nil, ""
			return m
		}
		m.why = "git does not track it"
		if t.strict && absent == nil && (t.user == "" || !below(t.user, dir)) {
			absent = &mount{dir: dir, tree: tree, path: at}
		}
	}
	if absent != nil {
		return absent
	}
	return m
}

// tracked reports whether the newest commit holds a path: at another revision, that
// path did not exist.
func (t *revised) tracked(top, at string) bool {
	head, err := t.history.commit(top, "HEAD", time.Time{})
	return err == nil && head.holds(at)
}

// looked are the folders that were looked at so far, in order.
func (t *revised) looked() []*mount {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*mount
	for _, dir := range t.order {
		out = append(out, t.mounts[dir])
	}
	return out
}

// ReadDir lists a folder.
func (t *revised) ReadDir(dir string) ([]fs.DirEntry, error) {
	if m, at := t.mount(dir); m != nil {
		return m.tree.readDir(dir, at)
	}
	return t.now.ReadDir(dir)
}

// ReadFile returns the bytes of a file, which the caller must not change.
func (t *revised) ReadFile(name string) ([]byte, error) {
	if m, at := t.mount(name); m != nil {
		return m.tree.readFile(name, at)
	}
	return t.now.ReadFile(name)
}

// Resolve follows all links of an existing path.
func (t *revised) Resolve(name string) (string, error) {
	if m, at := t.mount(name); m != nil {
		return m.tree.resolve(name, at)
	}
	return t.now.Resolve(name)
}

// Stat describes what a path leads to.
func (t *revised) Stat(name string) (fs.FileInfo, error) {
	if m, at := t.mount(name); m != nil {
		return m.tree.stat(name, at)
	}
	return t.now.Stat(name)
}

// now reports whether skill folders are read as they are now.
func (f *finding) now() bool { return f.o.SkillsAt == "" || f.o.SkillsAt == AtNow }

// tree is the tree from which the skills of a session are read.
func (f *finding) tree() skills.Tree {
	if f.now() {
		return f.disk
	}
	given := slices.Clone(f.p.SkillDirs)
	if f.configDir != "" {
		given = append(given, path.Join(f.configDir, "skills"), path.Join(f.configDir, "commands"))
	}
	return newRevised(&revised{now: f.disk, history: f.history, ref: f.o.SkillsAt, at: f.s.Start, given: given})
}

// newRevised makes a tree ready.
func newRevised(t *revised) *revised {
	// The longest first: one may lie in another.
	slices.SortStableFunc(t.given, func(a, b string) int { return len(b) - len(a) })
	t.mounts = map[string]*mount{}
	return t
}

// revisions notes at which revision each skill folder was read. A revision that no
// folder has is an error. Where the session's own time is asked for, a folder
// without a history of that time is read as it is now, and that is said.
func (f *finding) revisions(tree skills.Tree) {
	t, ok := tree.(*revised)
	if !ok {
		return
	}
	if err := CheckRevision(t.ref); err != nil {
		f.err = fmt.Errorf("--skills-at: %w", err)
		return
	}
	var problem error
	read := 0
	for _, m := range t.looked() {
		if m.err != nil {
			problem = m.err
		}
		switch {
		case m.tree != nil:
			read++
			f.use("revision", m.dir, m.tree.name())
		case m.err != nil && f.o.SkillsAt == AtSession:
			if what := m.err.Error() + "; read as it is now"; !slices.Contains(f.Problems, what) {
				f.unusable("revision", what)
			}
		case m.err != nil:
			f.use("revision", m.dir, "as it is now: "+m.err.Error())
		case exists(filepath.FromSlash(m.dir)):
			f.use("revision", m.dir, "as it is now: "+m.why)
		}
	}
	if read > 0 || f.o.SkillsAt == AtSession {
		if read == 0 && problem == nil {
			f.unusable("revision", "no skill folder of this session is tracked by git; they are read as they are now")
		}
		return
	}
	if problem == nil {
		problem = errors.New("no skill folder of this session is tracked by git")
	}
	f.err = fmt.Errorf("--skills-at %s: %w", f.o.SkillsAt, problem)
}
