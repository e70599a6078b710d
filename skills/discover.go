package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// Inputs says where one client process looks for skills. All paths are absolute
// and slash-separated; an empty one stands for nothing.
type Inputs struct {
	Home       string   // the user's home: the search upward from CWD ends below it
	ConfigDir  string   // the user's .claude folder
	ManagedDir string   // the administrator's folder, /etc/claude-code on Linux
	CWD        string   // the working directory of the process
	AddDirs    []string // --add-dir, in order
	PluginDirs []string // --plugin-dir, in order
	// SkillDirs are folders of skill folders given by the user of this program;
	// they rank as the project's.
	SkillDirs []string
	// CommandOrder are names of commands in the order in which the client
	// listed them. Clients before 2.1.154 list commands as they walk the
	// folders, in an order that cannot be predicted; where a log shows it, it is
	// an input.
	CommandOrder []string
	// SkillOrder are names of skills in the order in which the client listed them,
	// for clients that list folders in the file system's own order: an input where
	// a log shows it and the tree does not keep that order.
	SkillOrder []string
}

// Found is what a client process finds, before any filter.
type Found struct {
	// Skills stand in listing order: own ones, then those of plugins.
	Skills []*Skill
	// Problems are files and folders that look like skills and are none, and
	// what could not be read; in the order of discovery.
	Problems []Problem
	// Guessed says that the order of some commands or files is not known, so
	// that the order of Skills is a guess there.
	Guessed bool
}

// Problem is something that was passed over during discovery.
type Problem struct {
	Kind   ProblemKind
	Path   string
	Name   string // of the skill that somebody may have expected there; may be empty
	Detail string // the error; may be empty
}

// ProblemKind is why something was passed over.
type ProblemKind string

// The kinds of problems. The first four were recorded to be no skills by every
// client (listing/discovery).
const (
	LooseFile    ProblemKind = "loose-file"     // skills/x.md, not in a folder of its own
	TwoDeep      ProblemKind = "two-deep"       // skills/group/x/SKILL.md
	WrongCase    ProblemKind = "wrong-case"     // skill.md instead of SKILL.md
	NoSkillFile  ProblemKind = "no-skill-file"  // a folder without SKILL.md
	BrokenLink   ProblemKind = "broken-link"    // a link that leads nowhere
	Unreadable   ProblemKind = "unreadable"     // a file or folder that cannot be read, or is too large
	NotSearched  ProblemKind = "not-searched"   // a folder that this client version does not look into
	WrongFolder  ProblemKind = "wrong-folder"   // a skill in a folder that no client looks into, such as skills in place of .claude/skills
	NoPluginName ProblemKind = "no-plugin-name" // a plugin folder without .claude-plugin/plugin.json and a name in it
)

// skillFile is the name of the file that makes a folder a skill.
const skillFile = "SKILL.md"

// maxDepth bounds how deep folders of commands are walked.
const maxDepth = 32

// Discover finds all skills and commands of a client process, in the order in
// which the version lists them. What cannot be read is a Problem, never an
// error.
func Discover(t Tree, in Inputs, d Discovery, dialect frontmatter.Dialect) Found {
	f := finder{tree: t, in: in, d: d, dialect: dialect}
	var own, commands, plugins []*Skill
	if in.ManagedDir != "" && d.looks(Managed) {
		own = append(own, f.skills(path.Join(in.ManagedDir, ".claude/skills"), Managed, "")...)
	}
	if in.ConfigDir != "" {
		if d.looks(User) {
			own = append(own, f.skills(path.Join(in.ConfigDir, "skills"), User, "")...)
		}
		commands = append(commands, f.commands(path.Join(in.ConfigDir, "commands"), User, "")...)
	}
	for i, dir := range projectDirs(t, in) {
		skills := path.Join(dir, d.Folder(), "skills")
		if i == 0 || d.Parents {
			own = append(own, f.skills(skills, Project, "")...)
		} else {
			f.notSearched(skills)
		}
		commands = append(commands, f.commands(path.Join(dir, d.Folder(), "commands"), Project, "")...)
	}
	for _, dir := range in.SkillDirs {
		own = append(own, f.skills(dir, Project, "")...)
	}
	for _, dir := range in.AddDirs {
		skills, cmds := path.Join(dir, d.Folder(), "skills"), path.Join(dir, d.Folder(), "commands")
		if d.AddDirSkills && d.looks(AddDir) {
			own = append(own, f.skills(skills, AddDir, "")...)
		} else {
			f.notSearched(skills)
		}
		if d.AddDirCommands {
			commands = append(commands, f.commands(cmds, AddDir, "")...)
		} else {
			f.notSearched(cmds)
		}
	}
	for _, dir := range in.PluginDirs {
		if !d.looks(Plugin) {
			f.notSearched(path.Join(dir, "skills"))
			continue
		}
		name, err := pluginName(t, dir)
		if err != nil {
			f.problem(NoPluginName, dir, path.Base(dir), err)
			continue
		}
		plugins = append(plugins, f.commands(path.Join(dir, "commands"), Plugin, name)...)
		plugins = append(plugins, f.skills(path.Join(dir, "skills"), Plugin, name)...)
	}
	f.elsewhere()
	if d.MergedCommands {
		sortBy(commands, SortCollate, func(s *Skill) string { return s.Name })
	}
	out := Found{Problems: f.problems, Guessed: f.guessed}
	switch {
	case d.OneList:
		out.Skills = slices.Concat(own, commands, plugins)
		sortBy(out.Skills, SortBytes, func(s *Skill) string { return s.Name })
	case d.Commands == CommandsApart:
		// Recorded at 2.0.30: skill folders below commands/ stand first, and
		// command files are in a tool of their own.
		out.Skills = slices.Concat(commands, own, plugins)
	default:
		out.Skills = slices.Concat(own, commands, plugins)
	}
	return out
}

// DiscoverNested finds the skills of the folders below the working directory
// that a touched file brings in: each .claude/skills between cwd (not included)
// and the file's folder. They come in the order in which the client names them:
// the folder nearest to the file first, inside it as d.Sort says.
func DiscoverNested(t Tree, cwd, file string, d Discovery, dialect frontmatter.Dialect) ([]*Skill, []Problem) {
	f := finder{tree: t, in: Inputs{CWD: cwd}, d: d, dialect: dialect}
	var out []*Skill
	if !d.looks(Nested) {
		return nil, nil
	}
	for dir := path.Dir(path.Clean(file)); below(dir, cwd); dir = path.Dir(dir) {
		found := f.skills(path.Join(dir, d.Folder(), "skills"), Nested, "")
		for _, s := range found {
			s.Scope = strings.TrimPrefix(strings.TrimPrefix(dir, path.Clean(cwd)), "/")
		}
		out = append(out, found...)
	}
	return out, f.problems
}

// below reports whether dir is a folder below top, and not top itself.
func below(dir, top string) bool {
	top = path.Clean(top)
	if top == "/" {
		return len(dir) > 1 && dir[0] == '/'
	}
	return strings.HasPrefix(dir, top+"/")
}

// projectDirs are the working directory and its parents, nearest first, up to
// the root of the repository, or else to below home or to the root of the file
// system. Home itself never counts: what it holds is the user's.
func projectDirs(t Tree, in Inputs) []string {
	if in.CWD == "" {
		return nil
	}
	var out []string
	for dir := path.Clean(in.CWD); dir != path.Clean(in.Home); dir = path.Dir(dir) {
		out = append(out, dir)
		if _, err := t.Stat(path.Join(dir, ".git")); err == nil || dir == "/" || dir == "." {
			break
		}
	}
	return out
}

// pluginName reads the name of the plugin in a folder.
func pluginName(t Tree, dir string) (string, error) {
	text, err := t.ReadFile(path.Join(dir, ".claude-plugin/plugin.json"))
	if err != nil {
		return "", err
	}
	var manifest struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\uFEFF")), &manifest); err != nil {
		return "", err
	}
	if manifest.Name == "" {
		return "", errors.New("no name")
	}
	return manifest.Name, nil
}

// finder collects what one call of Discover finds.
type finder struct {
	tree     Tree
	in       Inputs
	d        Discovery
	dialect  frontmatter.Dialect
	problems []Problem
	guessed  bool
}

func (f *finder) problem(kind ProblemKind, p, name string, err error) {
	detail := ""
	if err != nil {
		detail = err.Error()
	}
	f.problems = append(f.problems, Problem{Kind: kind, Path: p, Name: name, Detail: detail})
}

// list reads a folder that need not exist, in the order of d.Sort as far as it
// goes by raw names.
func (f *finder) list(dir string) []fs.DirEntry {
	entries, err := f.tree.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDir) {
		f.problem(Unreadable, dir, "", err)
	}
	if f.d.Sort == SortBytes {
		sortBy(entries, SortBytes, fs.DirEntry.Name)
	}
	return entries
}

// notSearched reports what lies in a folder that this client version does not look
// into: each skill and command, or the folder where it holds neither.
func (f *finder) notSearched(dir string) {
	entries, err := f.tree.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return
	}
	if !f.misplaced(NotSearched, dir, entries, path.Base(dir) == "commands") {
		f.problem(NotSearched, dir, "", nil)
	}
}

// misplaced reports the skills of a folder, and with commands its command files.
func (f *finder) misplaced(kind ProblemKind, dir string, entries []fs.DirEntry, commands bool) bool {
	any := false
	for _, e := range entries {
		p, name := path.Join(dir, e.Name(), skillFile), e.Name()
		if md, ok := strings.CutSuffix(name, ".md"); ok && commands && !e.IsDir() {
			p, name = path.Join(dir, e.Name()), md
		} else if _, err := f.tree.Stat(p); err != nil {
			continue
		}
		any = true
		f.problem(kind, p, name, nil)
	}
	return any
}

// elsewhere reports skills that lie where people put them by mistake: no client looks
// there.
func (f *finder) elsewhere() {
	var dirs []string
	for _, top := range []string{f.in.CWD, f.in.Home} {
		if top != "" {
			dirs = append(dirs, path.Join(top, "skills"), path.Join(top, ".agents/skills"), path.Join(top, ".claude/skill"), path.Join(top, ".skills"))
		}
	}
	if f.in.CWD != "" {
		dirs = append(dirs, path.Join(f.in.CWD, f.d.Folder()))
	}
	if f.in.ConfigDir != "" && f.in.ConfigDir != path.Join(f.in.CWD, f.d.Folder()) {
		dirs = append(dirs, f.in.ConfigDir)
	}
	for _, dir := range dirs {
		if slices.Contains(f.in.SkillDirs, dir) {
			continue
		}
		if entries, err := f.tree.ReadDir(dir); err == nil {
			f.misplaced(WrongFolder, dir, entries, false)
		}
	}
}

// skills finds the skill folders of one skills folder, in order.
func (f *finder) skills(dir string, source Source, plugin string) []*Skill {
	var out []*Skill
	for _, e := range f.list(dir) {
		p := path.Join(dir, e.Name())
		if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			if name, ok := strings.CutSuffix(e.Name(), ".md"); ok {
				f.problem(LooseFile, p, name, nil)
			}
			continue
		}
		file := path.Join(p, skillFile)
		text, err := f.tree.ReadFile(file)
		if err != nil {
			f.noSkill(p, e, err)
			continue
		}
		name := e.Name()
		if plugin != "" {
			if f.d.PluginDashes {
				name = dashes(name)
			}
			name = plugin + ":" + name
		}
		out = append(out, f.skill(&Skill{
			Name: name, Kind: KindSkill, Source: source, Plugin: plugin,
			Dir: p, Path: file, Folder: e.Name(),
		}, text))
	}
	switch {
	case f.d.Sort == SortCollate && (source != Nested || f.d.SortNested):
		sortBy(out, SortCollate, func(s *Skill) string { return s.Name })
	case f.d.Sort == SortReaddir && len(f.in.SkillOrder) > 0:
		rank := ranks(f.in.SkillOrder)
		slices.SortStableFunc(out, func(a, b *Skill) int { return rank[a.Name] - rank[b.Name] })
	}
	return out
}

// ranks numbers names from 1 by where they first stand; others have 0.
func ranks(names []string) map[string]int {
	rank := make(map[string]int, len(names))
	for i, name := range names {
		if rank[name] == 0 {
			rank[name] = i + 1
		}
	}
	return rank
}

// noSkill tells why an entry of a skills folder is no skill.
func (f *finder) noSkill(p string, e fs.DirEntry, err error) {
	info, statErr := f.tree.Stat(p)
	switch {
	case statErr != nil && errors.Is(statErr, fs.ErrNotExist):
		f.problem(BrokenLink, p, e.Name(), nil)
		return
	case statErr != nil || !errors.Is(err, fs.ErrNotExist) && info.IsDir():
		f.problem(Unreadable, path.Join(p, skillFile), e.Name(), err)
		return
	case !info.IsDir():
		if name, ok := strings.CutSuffix(e.Name(), ".md"); ok {
			f.problem(LooseFile, p, name, nil)
		}
		return
	}
	kind, at := NoSkillFile, p
	var inner []string
	for _, sub := range f.list(p) {
		if strings.EqualFold(sub.Name(), skillFile) && !sub.IsDir() {
			kind, at = WrongCase, path.Join(p, sub.Name())
			break
		}
		if sub.IsDir() {
			if _, err := f.tree.Stat(path.Join(p, sub.Name(), skillFile)); err == nil {
				kind = TwoDeep
				inner = append(inner, sub.Name())
			}
		}
	}
	if kind != TwoDeep {
		f.problem(kind, at, e.Name(), nil)
		return
	}
	for _, name := range inner {
		f.problem(TwoDeep, path.Join(p, name, skillFile), name, nil)
	}
}

// commands finds the commands below one commands folder. A folder below it that
// holds SKILL.md is a skill, whose other Markdown files are no commands.
func (f *finder) commands(dir string, source Source, plugin string) []*Skill {
	if !f.d.looks(commandFiles) {
		f.notSearched(dir)
		return nil
	}
	var out []*Skill
	var walk func(dir string, names []string, above []string)
	walk = func(dir string, names, above []string) {
		entries := f.list(dir)
		var files, dirs []string
		asSkill := false
		for _, e := range entries {
			isDir := e.IsDir()
			if e.Type()&fs.ModeSymlink != 0 {
				info, err := f.tree.Stat(path.Join(dir, e.Name()))
				if err != nil {
					f.problem(BrokenLink, path.Join(dir, e.Name()), strings.TrimSuffix(e.Name(), ".md"), nil)
					continue
				}
				isDir = info.IsDir()
			}
			switch {
			case isDir:
				dirs = append(dirs, e.Name())
			case e.Name() == skillFile && len(names) > 0:
				asSkill = true
			case strings.HasSuffix(e.Name(), ".md"):
				files = append(files, e.Name())
			}
		}
		if asSkill {
			f.command(&out, path.Join(dir, skillFile), &Skill{
				Name: strings.Join(names, ":"), Kind: KindSkill, Dir: dir, Folder: path.Base(dir),
				Source: source, Plugin: plugin, InCommands: true,
			})
			files = nil
		}
		for _, file := range files {
			f.command(&out, path.Join(dir, file), &Skill{
				Name: strings.Join(slices.Concat(names, []string{strings.TrimSuffix(file, ".md")}), ":"), Kind: KindCommand,
				Source: source, Plugin: plugin, InCommands: true,
			})
		}
		for _, sub := range dirs {
			p := path.Join(dir, sub)
			real, err := f.tree.Resolve(p)
			if err != nil || len(names) >= maxDepth || slices.Contains(above, real) {
				continue // a loop of links
			}
			walk(p, slices.Concat(names, []string{sub}), slices.Concat(above, []string{real}))
		}
	}
	real, err := f.tree.Resolve(dir)
	if err != nil {
		return nil
	}
	walk(dir, nil, []string{real})
	if f.d.MergedCommands {
		sortBy(out, SortCollate, func(s *Skill) string { return s.Name })
		return out
	}
	f.walkOrder(out)
	return out
}

// command reads one file below commands and adds it.
func (f *finder) command(out *[]*Skill, p string, s *Skill) {
	text, err := f.tree.ReadFile(p)
	if err != nil {
		f.problem(Unreadable, p, s.Name, err)
		return
	}
	if s.Plugin != "" {
		s.Name = s.Plugin + ":" + s.Name
	}
	s.Path = p
	*out = append(*out, f.skill(s, text))
}

// walkOrder brings commands into the order given as an input. Clients on node
// put skill folders before command files.
func (f *finder) walkOrder(list []*Skill) {
	rank := ranks(f.in.CommandOrder)
	slices.SortStableFunc(list, func(a, b *Skill) int {
		if f.d.Sort == SortBytes && a.Kind != b.Kind {
			if a.Kind == KindSkill {
				return -1
			}
			return 1
		}
		return rank[a.Name] - rank[b.Name]
	})
	unknown := 0
	for _, s := range list {
		if rank[s.Name] == 0 {
			unknown++
		}
	}
	f.guessed = f.guessed || unknown > 0 && len(list) > 1
}

// skill completes a skill from the text of its file.
func (f *finder) skill(s *Skill, text []byte) *Skill {
	s.RealPath = s.Path
	if real, err := f.tree.Resolve(s.Path); err == nil {
		s.RealPath = real
	}
	s.Text = decode(text)
	s.Front, s.Body = frontmatter.Parse(s.Text, f.dialect)
	return s
}

// dashes replaces every character outside [A-Za-z0-9_-] by "-", UTF-16 code
// unit by code unit; recorded for the skills of plugins, 2.1.96 to 2.1.332.
func dashes(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			b.WriteRune(r)
		case r > 0xFFFF:
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// decode turns the bytes of a file into text as JavaScript does: every maximal
// ill-formed part becomes one U+FFFD. A byte order mark stays.
func decode(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			b.WriteRune(utf8.RuneError)
			text = text[illFormed(text):]
			continue
		}
		b.Write(text[:size])
		text = text[size:]
	}
	return b.String()
}

// illFormed is the length of the maximal part at the start of text that could
// begin a character but does not: at least one byte.
func illFormed(text []byte) int {
	lo, hi, need := byte(0x80), byte(0xBF), 0
	switch c := text[0]; {
	case c >= 0xC2 && c <= 0xDF:
		need = 1
	case c >= 0xE0 && c <= 0xEF:
		need = 2
		if c == 0xE0 {
			lo = 0xA0
		} else if c == 0xED {
			hi = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		need = 3
		if c == 0xF0 {
			lo = 0x90
		} else if c == 0xF4 {
			hi = 0x8F
		}
	}
	n := 1
	for n < len(text) && n <= need && text[n] >= lo && text[n] <= hi {
		n++
		lo, hi = 0x80, 0xBF
	}
	return n
}
