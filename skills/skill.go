package skills

import (
	"io/fs"

	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// Tree is a file tree as the client saw it: a disk, a git revision, or the
// files of a recording under the paths that they had. All paths are absolute
// and slash-separated.
type Tree interface {
	// ReadDir lists a folder in directory order (the order of readdir where it
	// is known, else by bytes). Links are listed as such.
	ReadDir(dir string) ([]fs.DirEntry, error)
	// ReadFile returns the bytes of a file, following links. The caller must not
	// change them.
	ReadFile(name string) ([]byte, error)
	// Resolve follows all links of an existing path.
	Resolve(name string) (string, error)
	// Stat describes what a path leads to, following links.
	Stat(name string) (fs.FileInfo, error)
}

// Source is where a skill comes from.
type Source string

// The sources, in the order in which newer clients list them.
const (
	Managed Source = "managed"
	User    Source = "user"
	Project Source = "project"
	AddDir  Source = "add-dir"
	Nested  Source = "nested"
	Plugin  Source = "plugin"
	Bundled Source = "bundled" // the client's own, known only from a log
	Builtin Source = "builtin" // the client's built-in prompts, always last
)

// Kind is what kind of file defines a skill.
type Kind string

// The kinds.
const (
	KindSkill   Kind = "skill"   // a folder with SKILL.md
	KindCommand Kind = "command" // a Markdown file below commands/
)

// Skill is one skill as found, before any filter.
type Skill struct {
	Name     string // the name by which it is called: folder, a:b for commands, plugin:folder
	Kind     Kind
	Source   Source
	Plugin   string // the plugin's name
	Dir      string // the base directory as the client names it; empty for commands
	Path     string // SKILL.md or the command file, as the client names it
	RealPath string // Path with links resolved
	Scope    string // Nested: the folder, relative to the working directory, that holds .claude/skills
	Folder   string // a skill's own folder name; empty for commands
	Text     string // the whole file, WTF-8
	Front    frontmatter.Front
	Body     string // what follows the front matter
	// InCommands: found below commands/, be it a command or a folder with SKILL.md.
	InCommands bool
}
