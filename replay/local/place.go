package local

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
)

// place is where a log lies.
type place int

const (
	elsewhere place = iota // this machine knows nothing of it
	copied                 // in a folder like a configuration folder, but not one in scope
	own                    // in a configuration folder in scope
)

// root is a configuration folder: as it was named, and with all links resolved.
type root struct{ named, real string }

func rootsOf(dirs []string) []root {
	var out []root
	for _, d := range dirs {
		named, err := filepath.Abs(d)
		if err != nil {
			continue
		}
		out = append(out, root{named, realPath(named)})
	}
	return out
}

func realPath(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// Owns reports whether the log of a session lies in a configuration folder in scope.
func (x *Finder) Owns(s *replay.Session) bool {
	place, _ := x.placeOf(fileOf(s))
	return place == own
}

// placeOf says where a log lies, and in which configuration folder. That is named
// as the scope names it: so the client names it too.
func (x *Finder) placeOf(file string) (place, string) {
	if file == "" || file == "-" {
		return elsewhere, ""
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return elsewhere, ""
	}
	target := realPath(abs)
	for _, r := range x.roots {
		if below(r.named, abs) || below(r.real, target) {
			return own, slashed(r.named)
		}
	}
	for dir := filepath.Dir(abs); ; {
		parent := filepath.Dir(dir)
		if filepath.Base(dir) == "projects" && configured(parent) {
			return copied, slashed(parent)
		}
		if parent == dir {
			return elsewhere, ""
		}
		dir = parent
	}
}

// configured reports whether a folder holds what a configuration folder holds
// beside the logs.
func configured(dir string) bool {
	return slices.ContainsFunc([]string{"skills", "commands", "settings.json", ".claude.json"}, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	})
}

// below reports whether path is dir or lies in it.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// here reports whether a path that a log names is a folder of this machine. A
// relative one, such as a path of Windows read elsewhere, never is; nor is a share,
// as looking at it would call on another machine.
func here(dir string) bool {
	if !filepath.IsAbs(dir) || strings.HasPrefix(filepath.VolumeName(dir), `\\`) {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// fileOf is the log that stands for a session.
func fileOf(s *replay.Session) string {
	if s.File != "" {
		return s.File
	}
	for _, a := range s.Agents {
		if a.File != "" {
			return a.File
		}
	}
	return ""
}

func slashed(path string) string { return filepath.ToSlash(path) }

// SystemManagedDir is the folder in which the client looks for what the
// administrator sets. The one of Linux is recorded (listing/managed); those of
// macOS and Windows are documented only.
func SystemManagedDir() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}
