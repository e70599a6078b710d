package local

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// skillFiles chooses the tree from which skills are read, and sets it beside what
// the log shows.
func (f *finding) skillFiles() {
	for _, d := range f.o.Skills {
		if abs, err := filepath.Abs(d); err == nil {
			f.p.SkillDirs = append(f.p.SkillDirs, slashed(abs))
		}
	}
	tree := view{Tree: f.tree()}
	given := len(f.p.SkillDirs) > 0
	switch {
	case f.place == own:
		if !given && !f.anySkillFolder() {
			return
		}
	case f.place == copied:
		tree.only = append([]string{f.configDir}, f.p.SkillDirs...)
	case given:
		tree.only = f.p.SkillDirs
	default:
		f.lacks("skill files", "the log lies in no configuration folder here; --skills DIR gives them")
		return
	}
	if given && f.place == own {
		tree.course = &course{hidden: f.replaceProject()}
	}
	found := f.discover(tree)
	f.listed = f.listed.with(f.s, found)
	f.dates(tree.Tree, found)
	f.Inputs.Files = f.filesOf(tree, found)
	f.compareListings(found)
	f.use("skill files", strings.Join(f.foldersOf(found), ", "), f.noteOf(found, given))
	f.revisions(tree.Tree)
	f.unreadable(found)
}

// replaceProject puts the folders given in place of the project's, which are
// hidden. One of the project's own that was given is read where it is.
func (f *finding) replaceProject() map[string]int {
	hidden := map[string]int{}
	for dir := f.p.CWD; path.IsAbs(dir) && dir != f.p.Home; dir = path.Dir(dir) {
		own := path.Join(dir, f.r.Discovery.Folder(), "skills")
		hidden[own] = never
		f.p.SkillDirs = slices.DeleteFunc(f.p.SkillDirs, func(given string) bool {
			if given == own || strings.HasPrefix(given, own+"/") {
				delete(hidden, own)
			}
			return given == own
		})
		if dir == "/" || exists(filepath.FromSlash(path.Join(dir, ".git"))) {
			break
		}
	}
	return hidden
}

// anySkillFolder reports whether there is a place on this machine that the session
// can have had its skills from.
func (f *finding) anySkillFolder() bool {
	user := path.Join(f.configDir, "skills")
	if exists(filepath.FromSlash(user)) || exists(filepath.FromSlash(path.Join(f.configDir, "commands"))) || here(f.s.CWD) {
		return true
	}
	why := "neither " + user
	switch {
	case f.s.CWD == "":
		why += " exists here, nor does the log name the session's folder"
	default:
		why += " nor the session's folder, " + f.s.CWD + ", exists here"
	}
	f.lacks("skill files", why+"; --skills DIR gives them")
	return false
}

func (f *finding) discover(tree skills.Tree) skills.Found {
	p := &f.p
	return skills.Discover(tree, skills.Inputs{Home: p.Home, ConfigDir: p.ConfigDir, ManagedDir: f.managedDir(), CWD: p.CWD,
		AddDirs: p.AddDirs, PluginDirs: p.Plugins, SkillDirs: p.SkillDirs}, f.r.Discovery, f.r.Front)
}

// managedDir is the administrator's folder for the process; it is set there too.
func (f *finding) managedDir() string {
	f.p.ManagedDir = f.managed()
	return f.p.ManagedDir
}

// unreadable reports what looks like a skill and cannot be read.
func (f *finding) unreadable(found skills.Found) {
	for _, p := range found.Problems {
		if p.Kind != skills.Unreadable {
			continue
		}
		what := strings.TrimSpace(p.Detail)
		if i := strings.LastIndex(what, ": "); i >= 0 {
			what = what[i+2:]
		}
		f.unusable("skill files", p.Path+": "+what+"; make it readable, or give the skills with --skills DIR")
	}
}

// foldersOf are the folders that hold the skills found, or those that were looked
// into if they hold none.
func (f *finding) foldersOf(found skills.Found) []string {
	var dirs []string
	add := func(dir string) {
		if dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, k := range found.Skills {
		if k.Kind == skills.KindSkill && !k.InCommands {
			add(path.Dir(k.Dir))
			continue
		}
		dir := path.Dir(k.Path)
		if i := strings.LastIndex(dir+"/", "/commands/"); i >= 0 {
			dir = dir[:i+len("/commands")]
		}
		add(dir)
	}
	if len(dirs) > 0 {
		return dirs
	}
	for _, d := range f.p.SkillDirs {
		add(d)
	}
	if f.place != elsewhere {
		add(path.Join(f.configDir, "skills"))
	}
	return dirs
}

// listings is what the listings of a session show that stand in one place, over all
// agents.
type listings struct {
	place   replay.Place         // where they stand
	whole   []skills.ListedLine  // the first one that is no addition; nil if there is none
	version string               // of its client, or of the first record that names one
	start   time.Time            // the request before it
	since   map[string]time.Time // the request before a name was first listed
	entries map[string][]listed  // all entries of a name, in order
}

// with reads the listings again where files have names with blanks, which a listing
// does not tell by itself.
func (l *listings) with(s *replay.Session, found skills.Found) *listings {
	var blank []string
	for _, k := range found.Skills {
		if skills.Blank(k.Name) {
			blank = append(blank, k.Name)
		}
	}
	if blank == nil {
		return l
	}
	return listingsOf(s, l.place, blank...)
}

// listingsOf reads the listings of a place; blank are names of skills that hold blanks.
func listingsOf(s *replay.Session, place replay.Place, blank ...string) *listings {
	out := &listings{place: place, since: map[string]time.Time{}, entries: map[string][]listed{}}
	for _, a := range s.Agents {
		for i := range a.Events {
			e := &a.Events[i]
			if out.version == "" {
				out.version = e.Version
			}
			if e.Kind != replay.Listing || e.Listing == nil || e.Place != place {
				continue
			}
			at := requestBefore(a, i)
			lines := skills.ParseListing(e.Listing.Content, e.Listing.Names, slices.Concat(blank, a.BlankNames)...)
			if out.whole == nil && len(lines) > 0 && (e.Listing.Initial || !e.Listing.HasInitial) {
				out.whole, out.version, out.start = lines, e.Version, at
			}
			n := -1
			for _, l := range lines {
				if l.Name == "" {
					continue
				}
				n++
				if t, ok := out.since[l.Name]; !ok || at.Before(t) {
					out.since[l.Name] = at
				}
				entry := listed{line: l, where: e.Where}
				if n < len(e.Listing.Digests) && len(e.Listing.Digests) == len(e.Listing.Names) {
					entry.digest = e.Listing.Digests[n]
				}
				out.entries[l.Name] = append(out.entries[l.Name], entry)
			}
		}
	}
	return out
}

// requestBefore is a moment just behind the last request before an event: what the
// event shows happened between the two.
func requestBefore(a *replay.Agent, i int) time.Time {
	for j := i; j >= 0; j-- {
		if e := &a.Events[j]; e.Kind == replay.Turn && !e.Where.Time.IsZero() {
			return e.Where.Time.Add(time.Nanosecond)
		}
	}
	return time.Time{}
}

// arrival is a change of the files that the log shows.
type arrival struct {
	at     time.Time
	appear string // a path that comes to exist
	path   string // a file that gets a text
	text   string
}

// filesOf is the tree over the time of the session. Entries of its first whole
// listing that no file yields are the client's own. A skill that the session would
// have listed, and lists only later, was added later; one that it never lists and
// whose file is dated after the session is left out: whether it existed is not known.
// Texts that the session itself wrote hold from then on.
func (f *finding) filesOf(tree view, found skills.Found) *replay.Files {
	var changes []arrival
	next := &course{hidden: map[string]int{}, written: map[string][]writtenText{}}
	if tree.course != nil {
		maps.Copy(next.hidden, tree.course.hidden)
	}
	if f.listed.whole != nil {
		names := map[string]bool{}
		for _, k := range found.Skills {
			names[k.Name] = true
		}
		f.Inputs.Given = replay.GivenIn(f.listed.whole, names, f.r.Discovery)
		for _, st := range f.eligible(found) {
			k := st.Skill
			if st.Reason != skills.Listed {
				continue
			}
			where := k.Path
			if k.Kind == skills.KindSkill {
				where = k.Dir
			}
			at, ok := f.listed.since[k.Name]
			switch {
			case ok && at.After(f.listed.start):
				next.hidden[where] = never
				changes = append(changes, arrival{at: at, appear: where})
			case !ok && f.Dates[k.Path] == DatedAfter:
				next.hidden[where] = never
				if f.LeftOut == nil {
					f.LeftOut = map[string]bool{}
				}
				f.LeftOut[k.Path] = true
			}
		}
		if n := len(f.LeftOut); n > 0 {
			f.assume(fmt.Sprintf("skills left out, as their files are dated after the session, which never lists them: %d", n))
		}
	}
	for _, c := range f.writes() {
		if _, err := tree.Tree.Stat(c.path); err == nil { // else no folder lists it
			changes = append(changes, c)
		}
	}
	sort.SliceStable(changes, func(i, j int) bool { return changes[i].at.Before(changes[j].at) })
	tree.course = next
	files := replay.NewFiles(tree)
	for i, c := range changes {
		tree.come = i + 1
		if c.appear != "" {
			next.hidden[c.appear] = tree.come
		} else {
			next.written[c.path] = append(next.written[c.path], writtenText{tree.come, c.text})
		}
		files.Change(c.at, tree)
	}
	return files
}

// writes are the texts that the session's own tools gave to skill files of this
// machine.
func (f *finding) writes() []arrival {
	if f.place != own {
		return nil
	}
	var out []arrival
	for _, a := range f.s.Agents {
		for i := range a.Events {
			e := &a.Events[i]
			if e.Kind == replay.CatalogueChange && e.Change != nil && !e.Change.Unknown && !e.Change.Removed && !e.Where.Time.IsZero() {
				out = append(out, arrival{at: e.Where.Time, path: slashed(e.Change.Path), text: e.Change.Text})
			}
		}
	}
	return out
}

func (f *finding) options(r *rules.Rules) skills.Options {
	return skills.Options{Discovery: r.Discovery, Text: r.Entry, Dialect: r.Front}
}

// eligible are the skills with the reasons for which they are not listed, under
// the session's settings.
func (f *finding) eligible(found skills.Found) []skills.Status {
	return skills.Eligible(found, nil, nil, f.skillSettings(), f.options(f.r))
}

func (f *finding) skillSettings() skills.Settings {
	s := skills.Settings{Overrides: map[string]skills.Override{}, MaxText: f.p.Settings.MaxDesc}
	for name, o := range f.p.Settings.Overrides {
		s.Overrides[name] = skills.Override(o)
	}
	return s
}

// noteOf says how the files compare with what the listings show of them.
func (f *finding) noteOf(found skills.Found, given bool) string {
	note := fmt.Sprintf("%d skills", len(found.Skills))
	if len(found.Skills) == 1 {
		note = "1 skill"
	}
	if len(found.Skills) == 0 {
		note = "no skills there"
		if given {
			note += "; expected folders with a SKILL.md in each"
		}
		return note
	}
	same, doubtful := 0, 0
	var other []string
	byDigest := true
	for _, k := range f.Skills {
		for _, c := range k.Compared {
			byDigest = byDigest && c.By == ByDigest
			switch c.State {
			case FileSame:
				same++
			case FileEdited:
				other = append(other, k.Name)
			default:
				doubtful++
			}
		}
	}
	how := ""
	if byDigest {
		how = " (digests)"
	}
	switch {
	case same+len(other)+doubtful+f.bare == 0 && f.now():
		return note + " as they are now"
	case same+len(other)+doubtful+f.bare == 0:
		return note
	case len(other) > 0:
		note += fmt.Sprintf(", descriptions of %d changed since%s: %s", len(other), how, few(other))
	case same > 0:
		note += ", descriptions unchanged since" + how
	}
	if f.bare > 0 {
		note += fmt.Sprintf(", %d listed by name only", f.bare)
	}
	if doubtful > 0 {
		note += fmt.Sprintf(", %d cannot be compared by these rules", doubtful)
	}
	if f.unseen > 0 {
		note += fmt.Sprintf(", %d not in the log", f.unseen)
	}
	return note
}
