// Package local finds on this machine what a recorded session depended on: skill
// folders, settings, usage counts, the model's window. What it reads is how things
// are now; the session may have seen them otherwise, and says so where it can.
package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// Options say where to look. Paths are of this machine.
type Options struct {
	Home       string   // the user's home
	ConfigDirs []string // the client's configuration folders in scope
	Skills     []string // folders of skills to take in place of the project's; each holds SKILL.md folders
	Settings   string   // a settings file that ranks behind the local project settings
	Usage      string   // a file with skillUsage in place of the client's own
	Managed    string   // the administrator's folder; empty for the system's
	Window     int64    // context window in tokens; 0: from the model
	Table      *rules.Table
	Version    string // of the client, in place of the log's
}

// Found is what Find brings: the inputs, which sources they came from, and what is
// assumed of them.
type Found struct {
	Inputs      replay.Inputs
	RulesExact  bool
	Client      string
	Model       string
	Window      int64
	Uses        []replay.InputUse
	Assumptions []string
}

// Find collects the inputs of a session. The error says that the session's client
// version has no rules.
func Find(s *replay.Session, o Options) (*Found, error) {
	f := &Found{RulesExact: true}
	version := o.Version
	if version == "" && len(s.Versions) > 0 {
		version = s.Versions[len(s.Versions)-1]
	}
	if err := f.rules(s, o, version); err != nil {
		return nil, err
	}
	f.Inputs.Version = version
	if len(s.Models) > 0 {
		f.Model = s.Models[0]
	}
	r := f.Inputs.Rules(version)
	f.Window = o.Window
	if f.Window == 0 && f.Model != "" {
		f.Window = int64(r.Size.WindowOf(f.Model))
		f.Assumptions = append(f.Assumptions, fmt.Sprintf("a context window of %d tokens, by the model's name", f.Window))
	}
	f.window(o)
	configDir, mine := ownConfig(s.File, o)
	p := replay.Process{Home: o.Home, ConfigDir: configDir, ManagedDir: o.Managed, CWD: s.CWD, Model: f.Model, Resolved: f.Model, Window: o.Window, Env: map[string]string{}}
	f.skillFiles(&p, o, mine)
	f.settings(&p, o, mine)
	f.usage(s, o, configDir, mine)
	f.Inputs.Processes = []replay.Process{p}
	mark(s)
	for range restarts(s) {
		next := p
		next.Resume = true
		f.Inputs.Processes = append(f.Inputs.Processes, next)
	}
	if f.Inputs.Files != nil {
		f.catalogue(s, &p)
	}
	return f, nil
}

func (f *Found) use(name, source string, found bool, note string) {
	f.Uses = append(f.Uses, replay.InputUse{Name: name, Source: source, Found: found, Note: note})
}

// rules chooses the rules of each version that the log names.
func (f *Found) rules(s *replay.Session, o Options, version string) error {
	table := o.Table
	versions := s.Versions
	if o.Version != "" {
		versions = []string{o.Version}
	}
	known := map[string]*rules.Rules{}
	var firstErr error
	for _, v := range versions {
		r, err := table.At(v)
		if err != nil {
			if firstErr == nil {
				firstErr = fmt.Errorf("%s: %w; --client claude-code@VERSION chooses the rules", s.File, err)
			}
			continue
		}
		if !r.Exact {
			f.RulesExact = false
			f.Assumptions = append(f.Assumptions, fmt.Sprintf("client %s is %s", v, r.Why))
		}
		known[v] = &r
	}
	if len(known) == 0 && firstErr != nil {
		return firstErr
	}
	if len(known) == 0 {
		r, err := table.At(table.Latest)
		if err != nil {
			return err
		}
		f.RulesExact = false
		f.Assumptions = append(f.Assumptions, "the log names no client version: the newest rules are taken")
		known[""] = &r
		f.Client = table.Client
	} else {
		f.Client = table.Client + "@" + version
	}
	if len(versions) > 1 {
		f.Assumptions = append(f.Assumptions, "the client changed its version during the session: "+strings.Join(versions, ", "))
	}
	f.Inputs.Rules = func(v string) *rules.Rules {
		if o.Version != "" {
			v = o.Version
		}
		if r := known[v]; r != nil {
			return r
		}
		if r := known[version]; r != nil {
			return r
		}
		for _, k := range slices.Sorted(maps.Keys(known)) {
			return known[k]
		}
		return nil
	}
	return nil
}

func (f *Found) window(o Options) {
	switch {
	case o.Window > 0:
		f.use("window", fmt.Sprintf("%d tokens, as given", o.Window), true, "")
	case f.Window > 0:
		f.use("window", fmt.Sprintf("%d tokens, by the model", f.Window), true, "")
	default:
		f.use("window", "", false, "the log names no model; --window gives it")
	}
}

// ownConfig is the configuration folder that a log lies in. Logs from elsewhere
// are a stranger's: what this machine holds says nothing of them.
func ownConfig(file string, o Options) (dir string, mine bool) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", false
	}
	for _, c := range o.ConfigDirs {
		root, err := filepath.Abs(c)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(root, abs); err == nil && !strings.HasPrefix(rel, "..") {
			return filepath.ToSlash(root), true
		}
	}
	return "", false
}

// skillFiles chooses the tree from which skills are read.
func (f *Found) skillFiles(p *replay.Process, o Options, mine bool) {
	switch {
	case len(o.Skills) > 0:
		var dirs []string
		for _, d := range o.Skills {
			abs, err := filepath.Abs(d)
			if err != nil {
				continue
			}
			dirs = append(dirs, filepath.ToSlash(abs))
		}
		p.SkillDirs = dirs
		if !mine {
			p.ConfigDir, p.CWD = "", ""
		}
		f.Inputs.Files = replay.NewFiles(skills.Disk{})
		f.use("skill files", strings.Join(o.Skills, ", "), true, "as they are now")
	case mine:
		var where []string
		user := filepath.Join(p.ConfigDir, "skills")
		if isDir(user) || isDir(filepath.Join(p.ConfigDir, "commands")) {
			where = append(where, p.ConfigDir)
		}
		if p.CWD != "" && isDir(p.CWD) {
			where = append(where, filepath.Join(p.CWD, ".claude"))
		}
		if len(where) == 0 {
			f.use("skill files", "", false, "neither "+user+" nor the session's folder exists here; --skills gives them")
			return
		}
		f.Inputs.Files = replay.NewFiles(skills.Disk{})
		f.use("skill files", strings.Join(where, ", "), true, "as they are now")
	default:
		f.use("skill files", "", false, "the log lies in no configuration folder of this machine; --skills gives them")
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// settingsFile is what a settings file says of skills.
type settingsFile struct {
	Permissions struct {
		Deny []string `json:"deny"`
	} `json:"permissions"`
	Fraction     *float64          `json:"skillListingBudgetFraction"`
	MaxDesc      *int              `json:"skillListingMaxDescChars"`
	Overrides    map[string]string `json:"skillOverrides"`
	DisableShell *bool             `json:"disableSkillShellExecution"`
	Env          map[string]string `json:"env"`
}

// maxFile bounds what is read of a settings or usage file, in bytes.
const maxFile = 16 << 20

// settings merges the settings files, later ones over earlier ones: user, project,
// project local, the one given, managed.
func (f *Found) settings(p *replay.Process, o Options, mine bool) {
	var files []string
	if mine {
		files = append(files, filepath.Join(p.ConfigDir, "settings.json"))
		if p.CWD != "" {
			files = append(files, filepath.Join(p.CWD, ".claude/settings.json"), filepath.Join(p.CWD, ".claude/settings.local.json"))
		}
	}
	if o.Settings != "" {
		files = append(files, o.Settings)
	}
	if mine && o.Managed != "" {
		files = append(files, filepath.Join(o.Managed, "managed-settings.json"))
	}
	var read []string
	for _, name := range files {
		var s settingsFile
		switch err := readJSON(name, &s); {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			f.use("settings", name, false, err.Error())
			continue
		}
		read = append(read, name)
		apply(&p.Settings, p.Env, &s)
	}
	switch {
	case len(read) > 0:
		f.use("settings", strings.Join(read, ", "), true, "as they are now")
	case mine || o.Settings != "":
		f.use("settings", "none", true, "")
	default:
		f.use("settings", "", false, "those of the session's machine; --settings gives them")
	}
}

func apply(to *replay.Settings, env map[string]string, s *settingsFile) {
	to.Deny = append(to.Deny, s.Permissions.Deny...)
	if s.Fraction != nil {
		to.Fraction = *s.Fraction
	}
	if s.MaxDesc != nil {
		to.MaxDesc = *s.MaxDesc
	}
	if s.DisableShell != nil {
		to.DisableShell = *s.DisableShell
	}
	for k, v := range s.Overrides {
		if to.Overrides == nil {
			to.Overrides = map[string]string{}
		}
		to.Overrides[k] = v
	}
	if v, ok := s.Env[budget.EnvCharBudget]; ok {
		env[budget.EnvCharBudget] = v
	}
}

// readJSON decodes a bounded JSON file; errors are `file: what`.
func readJSON(name string, into any) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return fmt.Errorf("%s: larger than %d bytes", name, maxFile)
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if err := json.Unmarshal(data, into); err != nil {
		line := 1
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line += bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		}
		return fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return nil
}

// usage reads the client's own counts.
func (f *Found) usage(s *replay.Session, o Options, configDir string, mine bool) {
	name := o.Usage
	if name == "" && mine {
		name = filepath.Join(configDir, ".claude.json")
		if _, err := os.Stat(name); err != nil && filepath.ToSlash(filepath.Dir(configDir)) == filepath.ToSlash(o.Home) {
			name = filepath.Join(o.Home, ".claude.json")
		}
	}
	if name == "" {
		f.use("usage counts", "", false, "those of the session's machine; --usage gives them")
		return
	}
	var file struct {
		SkillUsage map[string]struct {
			UsageCount float64 `json:"usageCount"`
			LastUsedAt float64 `json:"lastUsedAt"`
		} `json:"skillUsage"`
	}
	if err := readJSON(name, &file); err != nil {
		note := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			note = name + " does not exist"
		}
		f.use("usage counts", "", false, note)
		return
	}
	u := &replay.Usage{Counts: map[string]replay.UsageCount{}}
	for k, v := range file.SkillUsage {
		u.Counts[k] = replay.UsageCount{Count: int(v.UsageCount), LastUsedMS: int64(v.LastUsedAt)}
	}
	f.Inputs.Usage = u
	f.use("usage counts", name, true, "as they are now")
	f.Assumptions = append(f.Assumptions, "usage counts are those of now, not of the session")
}

// catalogue sets the files beside the session's first whole listing: entries that
// no file yields are the client's own; a skill that the session lists only later
// was added later; one that it never lists and whose file is newer than the
// session did not exist.
func (f *Found) catalogue(s *replay.Session, p *replay.Process) {
	r := f.Inputs.Rules(f.Inputs.Version)
	disk := skills.Disk{}
	found := skills.Discover(disk, skills.Inputs{Home: p.Home, ConfigDir: p.ConfigDir, ManagedDir: p.ManagedDir, CWD: p.CWD,
		AddDirs: p.AddDirs, PluginDirs: p.Plugins, SkillDirs: p.SkillDirs}, r.Discovery, r.Front)
	own := map[string]bool{}
	for _, k := range found.Skills {
		own[k.Name] = true
	}
	main := s.Main()
	first := -1
	since := map[string]time.Time{} // when a name is first listed
	digests := map[string]string{}
	for i := range main.Events {
		e := &main.Events[i]
		if e.Kind != replay.Listing {
			continue
		}
		lines := skills.ParseListing(e.Listing.Content, e.Listing.Names)
		if first < 0 && (e.Listing.Initial || !e.Listing.HasInitial) {
			first = i
			f.Inputs.Given = replay.GivenIn(lines, own, r.Discovery)
		}
		for n, l := range lines {
			if _, ok := since[l.Name]; !ok {
				since[l.Name] = before(main, i)
				if n < len(e.Listing.Digests) {
					digests[l.Name] = e.Listing.Digests[n]
				}
			}
		}
	}
	if first < 0 {
		return
	}
	start := since[firstName(main.Events[first].Listing)]
	type arrival struct {
		at  time.Time
		dir string
	}
	var late []arrival
	hidden := map[string]bool{}
	newer := 0
	for _, k := range found.Skills {
		dir := filepath.ToSlash(filepath.Dir(filepath.FromSlash(k.Path)))
		at, listed := since[k.Name]
		switch {
		case listed && at.After(start):
			hidden[dir] = true
			late = append(late, arrival{at, dir})
		case !listed && k.Kind == skills.KindSkill && !s.Start.IsZero():
			if info, err := disk.Stat(k.Path); err == nil && info.ModTime().After(s.End) {
				hidden[dir] = true
				newer++
			}
		}
	}
	f.compareDigests(found, digests, r)
	if newer > 0 {
		f.Assumptions = append(f.Assumptions, fmt.Sprintf("%d skills that the session never lists are newer than it and left out", newer))
	}
	if len(hidden) == 0 {
		return
	}
	sort.SliceStable(late, func(i, j int) bool { return late[i].at.Before(late[j].at) })
	files := replay.NewFiles(without{disk, maps.Clone(hidden)})
	for _, a := range late {
		delete(hidden, a.dir)
		files.Change(a.at, without{disk, maps.Clone(hidden)})
	}
	f.Inputs.Files = files
}

func firstName(a *jsonl.Attachment) string {
	for _, l := range skills.ParseListing(a.Content, a.Names) {
		return l.Name
	}
	return ""
}

// before is a moment behind the last request before an event: what the event shows
// happened between the two.
func before(a *replay.Agent, i int) time.Time {
	for j := i; j >= 0; j-- {
		if e := &a.Events[j]; e.Kind == replay.Turn && !e.Where.Time.IsZero() {
			return e.Where.Time.Add(time.Nanosecond)
		}
	}
	return time.Time{}
}

// compareDigests says how many files hold the text that the session saw, where the
// log tells by digests.
func (f *Found) compareDigests(found skills.Found, digests map[string]string, r *rules.Rules) {
	if len(digests) == 0 {
		return
	}
	o := skills.Options{Discovery: r.Discovery, Text: r.Entry, Dialect: r.Front}
	same := 0
	var other []string
	for _, e := range skills.Entries(skills.Eligible(found, nil, nil, skills.Settings{}, o), nil, skills.Settings{}, o) {
		if d, ok := digests[e.Name]; ok {
			if d == e.Digest() {
				same++
			} else {
				other = append(other, e.Name)
			}
		}
	}
	for i := range f.Uses {
		if u := &f.Uses[i]; u.Name == "skill files" && u.Found {
			u.Note = fmt.Sprintf("%d skills, descriptions unchanged since (digests)", same)
			if len(other) > 0 {
				u.Note = fmt.Sprintf("%d skills unchanged since (digests), changed: %s", same, strings.Join(other, ", "))
			}
		}
	}
}

// without is a tree in which some folders do not exist.
type without struct {
	skills.Tree
	hidden map[string]bool
}

// ReadDir leaves out the folders that do not exist.
func (t without) ReadDir(dir string) ([]fs.DirEntry, error) {
	entries, err := t.Tree.ReadDir(dir)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return t.hidden[path.Join(dir, e.Name())] }), err
}

// ReadFile does not find what is in them.
func (t without) ReadFile(name string) ([]byte, error) {
	if t.hidden[path.Dir(name)] {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return t.Tree.ReadFile(name)
}

// mark puts the starts of processes into the timeline, as far as the log shows
// them: the first, and those behind the client's closing account.
func mark(s *replay.Session) {
	main := s.Main()
	if main == nil {
		return
	}
	list := []replay.Insertion{{Before: 0, Event: replay.Event{Kind: replay.Start, Start: &replay.StartEvent{Process: 0}}}}
	for n, at := range restarts(s) {
		list = append(list, replay.Insertion{Before: at, Event: replay.Event{Kind: replay.Start, Start: &replay.StartEvent{Process: n + 1, Resume: true}}})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Before < list[j].Before })
	main.Insert(list)
}

// restarts are the events of the main loop before which a process resumed the
// conversation.
func restarts(s *replay.Session) []int { return s.Restarts }
