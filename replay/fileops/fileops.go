// Package fileops tells what a tool call or a shell command does to files, as
// far as that can be told without running it.
//
// Nothing is ever executed and no file is ever looked at: a command is parsed
// and its simple, literal parts (mkdir, printf, echo, cat of a here-document,
// redirections, rm, mv, cp, touch, tee, sed -i) are followed as bash would run
// them. What cannot be followed but names a skill file becomes an [Op] with
// Unknown set, so that a caller knows what it no longer knows; what cannot be
// followed and names none is left out.
package fileops

import (
	"encoding/json"
	"path"
	"strings"
)

// Kind is what an [Op] does to its path.
type Kind string

// The kinds. An Op with Unknown set may have no kind.
const (
	Write   Kind = "write"   // the file then holds Text and nothing else; made if missing
	Append  Kind = "append"  // Text is added at the end; made if missing
	Replace Kind = "replace" // Old becomes Text, once or (All) everywhere
	Remove  Kind = "remove"  // the file, or the folder with all below it, is gone
	Mkdir   Kind = "mkdir"   // a folder, with those above it
	Move    Kind = "move"    // From becomes Path
	Copy    Kind = "copy"    // Path becomes a copy of From, with all below it
)

// Op is one change of the file tree. Paths are absolute and clean.
type Op struct {
	Kind Kind
	// Path is what changes. It is empty where an Unknown change hits a skill file
	// whose place cannot be told.
	Path string
	// From is the source of a Move or Copy.
	From string
	// Text is what is written, appended or put in the place of Old: bytes as the
	// command writes them, perhaps not valid UTF-8.
	Text string
	Old  string // Replace
	All  bool   // Replace
	// Into: a Move or Copy whose target, where a folder stands at Path, is that
	// folder's entry of From's base name instead of Path itself.
	Into bool
	// Unknown: Path may have been changed, removed or left alone; of the other
	// fields only Kind is set, and only where the attempt is known.
	Unknown bool
}

// Place is where a command runs.
type Place struct {
	// CWD is the absolute working directory; relative paths are left out (or
	// Unknown) where it is empty.
	CWD string
	// Home stands for ~ and $HOME; both are unknown where it is empty.
	Home string
}

// Shell is [Place.Shell] at a working directory, with an unknown home.
func Shell(command, cwd string) []Op { return Place{CWD: cwd}.Shell(command) }

// Shell follows a bash command that ended with exit status 0: the caller must
// know that it did, and should take all ops as Unknown otherwise. Ops are in
// order of execution.
func (p Place) Shell(command string) []Op {
	s := &shell{place: p, cwd: clean(p.CWD)}
	s.script(command, true)
	return s.ops
}

// Tool follows a tool call that succeeded: Bash, Write, Edit, MultiEdit and
// NotebookEdit. The input is the raw JSON of the call. Other tools change no
// files that concern a session's skills, and give nothing.
func (p Place) Tool(name string, input []byte) []Op {
	type edit struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
		All bool   `json:"replace_all"`
	}
	var in struct {
		Command  string  `json:"command"`
		File     string  `json:"file_path"`
		Notebook string  `json:"notebook_path"`
		Content  *string `json:"content"`
		edit
		Edits []edit `json:"edits"`
	}
	bad := json.Unmarshal(input, &in) != nil
	file := in.File
	if name == "NotebookEdit" {
		file = in.Notebook
	}
	switch name {
	case "Bash":
		if bad {
			return nil
		}
		return p.Shell(in.Command)
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
	default:
		return nil
	}
	if file == "" {
		return nil
	}
	if !path.IsAbs(file) {
		if p.CWD == "" {
			return nil
		}
		file = path.Join(p.CWD, file)
	}
	file = path.Clean(file)
	replace := func(e edit) Op {
		// To replace nothing is to make a file, if there was none.
		if e.Old == "" {
			return Op{Kind: Write, Path: file, Unknown: true}
		}
		return Op{Kind: Replace, Path: file, Old: e.Old, Text: e.New, All: e.All}
	}
	switch {
	case bad || name == "NotebookEdit" || name == "Write" && in.Content == nil:
		return []Op{{Kind: Write, Path: file, Unknown: true}}
	case name == "Write":
		return []Op{{Kind: Write, Path: file, Text: *in.Content}}
	case name == "Edit":
		return []Op{replace(in.edit)}
	}
	var ops []Op
	for _, e := range in.Edits {
		ops = append(ops, replace(e))
	}
	return ops
}

// clean makes a path absolute and clean; what is not absolute is unknown.
func clean(p string) string {
	if !strings.HasPrefix(p, "/") {
		return ""
	}
	return path.Clean(p)
}
