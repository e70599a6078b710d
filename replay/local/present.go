package local

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// Start says how a client is started of which no session tells. Options.Skills and
// Options.SkillsAt do not matter to it.
type Start struct {
	CWD     string // the folder in which it is started
	Version string // of the client; what Options say if empty
	Model   string // by its name or alias
	// Only are folders of skills beside which there are none; nil: all that the client
	// finds on this machine.
	Only []string
	// At is the revision at which skill folders are read, AtNow or "" for the disk. Unlike
	// Options.SkillsAt it is strict: what a work tree did not hold then did not exist.
	At string
}

// Present are the inputs of a client that is started now.
type Present struct {
	// Inputs hold one process and one state of the files. The client's own entries are
	// not among them.
	Inputs replay.Inputs
	Uses   []replay.InputUse
	// Problems are files that were looked for and cannot be used, `file: what`.
	Problems []string
}

// Start collects the inputs of a client that is started now. The error says that the
// version has no rules, or that a folder or revision cannot be read.
func (x *Finder) Start(o Start) (*Present, error) {
	version := o.Version
	if version == "" {
		version = x.o.Version
	}
	r, err := x.o.Table.At(version)
	if err != nil {
		return nil, err
	}
	cwd, err := filepath.Abs(o.CWD)
	if err != nil {
		return nil, err
	}
	f := &finding{Finder: x, Found: &Found{}, s: &replay.Session{CWD: cwd}, r: &r, place: own, listed: &listings{}}
	if len(x.roots) > 0 {
		f.configDir = slashed(x.roots[0].named)
	}
	f.process()
	f.p.Model = o.Model
	f.Inputs.Version = r.Version
	f.Inputs.Rules = func(v string) *rules.Rules {
		if other, err := x.o.Table.At(v); err == nil {
			return &other
		}
		return &r
	}
	settings := f.step(f.readSettings)
	files := f.step(func() { err = f.present(&o) })
	if err != nil {
		return nil, err
	}
	usage := f.step(f.counts)
	f.p.Window = x.o.Window
	f.Inputs.Processes = []replay.Process{f.p}
	return &Present{Inputs: f.Inputs, Uses: slices.Concat(files, settings, usage), Problems: f.Problems}, nil
}

// present chooses the tree from which skills are read, and where they are looked for.
func (f *finding) present(o *Start) error {
	now := o.At == "" || o.At == AtNow
	if o.Only != nil {
		tree, dirs, err := TreeAt(o.At, o.Only)
		if err != nil {
			return err
		}
		f.p.SkillDirs, f.p.Plugins = skills.GivenDirs(tree, dirs)
		f.p.Home, f.p.ConfigDir, f.p.CWD, f.p.ManagedDir = "", "", "", ""
		f.Inputs.Files, f.Inputs.FolderOrder = replay.NewFiles(tree), now
		f.use("skill files", strings.Join(o.Only, ", "), atWords(o.At))
		return nil
	}
	f.p.ManagedDir = f.managed()
	f.Inputs.FolderOrder = now
	looked := []string{}
	for _, dir := range []string{path.Join(f.configDir, "skills"), path.Join(f.p.CWD, f.r.Discovery.Folder(), "skills")} {
		if path.IsAbs(dir) && !slices.Contains(looked, dir) {
			looked = append(looked, dir)
		}
	}
	f.use("skill files", strings.Join(looked, ", "), atWords(o.At)+"; plugins are not looked for, --skills gives them")
	if now {
		f.Inputs.Files = replay.NewFiles(f.disk)
		return nil
	}
	if err := CheckRevision(o.At); err != nil {
		return err
	}
	t := &revised{now: f.disk, history: f.history, ref: o.At, strict: true, user: f.configDir}
	if f.configDir != "" {
		t.given = []string{path.Join(f.configDir, "skills"), path.Join(f.configDir, "commands")}
	}
	if folder := f.r.Discovery.Folder(); folder != ".claude" {
		t.given = append(t.given, path.Join(f.p.CWD, folder, "skills"))
	}
	t = newRevised(t)
	f.discover(t) // which looks at each folder
	var problem error
	read := false
	for _, m := range t.looked() {
		switch {
		case m.err != nil:
			problem = m.err
		case m.tree == nil && exists(filepath.FromSlash(m.dir)):
			f.use("revision", m.dir, "as it is now: "+m.why)
		case m.tree != nil:
			read = true
			if m.tree.holds(m.path) || exists(filepath.FromSlash(m.dir)) {
				f.use("revision", m.dir, m.tree.name())
			}
		}
	}
	switch {
	case read:
	case problem != nil:
		return problem
	default:
		return fmt.Errorf("%s: none of the skill folders that count there lies in a git work tree, so they have no revision %s", f.p.CWD, o.At)
	}
	f.Inputs.Files = replay.NewFiles(t)
	return nil
}

func atWords(at string) string {
	if at == "" || at == AtNow {
		return "as they are now"
	}
	return "as of " + at
}

// counts reads the usage counts of now.
func (f *finding) counts() {
	name := f.o.Usage
	if name == "" {
		name = f.usageFile()
	}
	file := f.usageOf(name, f.r.Size.UsageFile != usageName)
	switch {
	case errors.Is(file.err, fs.ErrNotExist):
		f.lacks("usage counts", name+" does not exist; --usage FILE gives them")
	case file.err != nil:
		f.unusable("usage counts", file.err.Error())
	default:
		f.Inputs.Usage = &replay.Usage{Counts: maps.Clone(file.counts)}
		f.use("usage counts", name, "as they are now")
	}
}
