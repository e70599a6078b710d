package jsonl

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// Session is the set of files that record one session.
type Session struct {
	ID   string
	Path string // the main log, or "-"; empty where only logs of its agents are left
	Look        // of the main log, or of the first agent's
	// Agents are the logs of its subagents and forks, in the order of their paths.
	Agents []AgentLog
	// Copies are agent-acompact-* files: a copy of the conversation that clients
	// 2.1.86 to 2.1.96 write at a compaction. Counting them would count twice.
	Copies []AgentLog
}

// AgentLog is the log of one subagent or fork.
type AgentLog struct {
	ID   string // as in the file's name
	Path string
	// From the files beside it, where there are any.
	Type        string // agentType
	Description string
	ToolUse     string // toolUseId: the call that started it
	Depth       int    // spawnDepth
	Skill       string // the skill that runs in this fork
}

// Problem is a file or folder that was passed over, and why.
type Problem struct {
	Path   string
	Reason string
	Err    error // of the file system, or nil
}

// Found is what a search found. Sessions are in the order of their paths.
type Found struct {
	Sessions []Session
	Problems []Problem
}

// ConfigDirs are the folders of Claude Code's configuration: those that
// CLAUDE_CONFIG_DIR lists, else ~/.claude and ~/.config/claude as far as they
// exist. getenv is os.Getenv but in tests.
func ConfigDirs(getenv func(string) string) []string {
	var dirs []string
	for dir := range strings.SplitSeq(getenv("CLAUDE_CONFIG_DIR"), ",") {
		if dir = strings.TrimSpace(dir); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	if dirs != nil {
		return dirs
	}
	home := getenv("HOME")
	if home == "" {
		return nil
	}
	places := []string{filepath.Join(home, ".claude"), filepath.Join(home, ".config", "claude")}
	for _, dir := range places {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	if dirs == nil {
		return places // which the search will miss by name
	}
	return dirs
}

// Discover finds the sessions in folders: configuration folders, of which only
// projects is searched, or any tree of logs. What cannot be read and what is no
// log is a problem, and the search goes on. Of each log only the beginning is
// read.
func Discover(dirs ...string) Found {
	s := search{seen: make(map[string]bool)}
	for _, dir := range dirs {
		if projects := filepath.Join(dir, "projects"); isDir(projects) {
			dir = projects
		}
		s.walk(dir, 0)
	}
	return s.group()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// search collects the files of a tree that may be logs.
type search struct {
	seen     map[string]bool // real paths of folders and files
	logs     []string
	problems []Problem
}

func (s *search) problem(path, reason string, err error) {
	s.problems = append(s.problems, Problem{Path: path, Reason: reason, Err: err})
}

// fault reports an error of the file system in its own words, without the path
// that the problem names anyway.
func (s *search) fault(path string, err error) {
	reason := err.Error()
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		reason = pe.Err.Error()
	}
	s.problem(path, reason, err)
}

// realPath is where a file or folder really is. A relative path is made absolute
// first: what links lead to is absolute as often as not, and the working directory
// may itself be reached by one.
func realPath(path string) (string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(full)
}

// maxLevels bounds the depth of a tree. Links are followed, each real folder
// once.
const maxLevels = 40

func (s *search) walk(dir string, level int) {
	target, err := realPath(dir)
	if err != nil {
		s.fault(dir, err)
		return
	}
	if s.seen[target] {
		return
	}
	s.seen[target] = true
	if level > maxLevels {
		s.problem(dir, "folders nested too deep", nil)
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		s.fault(dir, err) // what was read before the error counts all the same
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		kind := e.Type()
		if kind&fs.ModeSymlink != 0 {
			info, err := os.Stat(path)
			if err != nil {
				if isLog(path) {
					s.fault(path, err)
				}
				continue
			}
			kind = info.Mode().Type()
		}
		switch {
		case kind.IsDir():
			if e.Name() != ".git" && e.Name() != "node_modules" {
				s.walk(path, level+1)
			}
		case kind.IsRegular() && isLog(path):
			s.file(path)
		}
	}
}

// file adds a log, unless it is there under another name.
func (s *search) file(path string) {
	target, err := realPath(path)
	if err != nil {
		s.fault(path, err)
		return
	}
	if !s.seen[target] {
		s.seen[target] = true
		s.logs = append(s.logs, path)
	}
}

func isLog(path string) bool {
	return strings.HasSuffix(path, ".jsonl") || strings.HasSuffix(path, ".jsonl.gz")
}

// stem is a log's name without folder and endings.
func stem(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return name
}

// isID reports whether name has the form of a session's id.
func isID(name string) bool {
	if len(name) != 36 {
		return false
	}
	for i := range len(name) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (name[i] == '-') || !dash && hex(name[i]) < 0 {
			return false
		}
	}
	return true
}

const agentPrefix = "agent-"

// group puts the logs together to sessions.
func (s *search) group() Found {
	type key struct{ dir, id string }
	sessions := make(map[key]*Session)
	named := make(map[key]*Session) // by the session that a log names, if not its name
	at := func(k key) *Session {
		if s := sessions[k]; s != nil {
			return s
		}
		if s := named[k]; s != nil {
			return s
		}
		sessions[k] = &Session{ID: k.id}
		return sessions[k]
	}

	for _, path := range s.logs {
		if strings.HasPrefix(filepath.Base(path), agentPrefix) {
			continue
		}
		look, err := Looks(path)
		if err != nil {
			s.fault(path, err)
			continue
		}
		if look.Format == FormatUnknown && !look.Empty {
			s.problem(path, look.Reason, nil)
			continue
		}
		dir, id := filepath.Dir(path), stem(path)
		session := &Session{ID: id, Path: path, Look: look}
		if !isID(id) && look.Session != "" {
			session.ID = look.Session
			if k := (key{dir, session.ID}); named[k] == nil {
				named[k] = session
			}
		}
		k := key{dir, id}
		if sessions[k] != nil { // the log stands there plain and compressed
			k.id = filepath.Base(path)
		}
		sessions[k] = session
	}
	for _, path := range s.logs {
		name := stem(path)
		if !strings.HasPrefix(name, agentPrefix) {
			continue
		}
		a := agentLog(path)
		var session *Session
		if dir, id, ok := owner(path); ok {
			session = at(key{dir, id})
		} else {
			// Old clients put these beside the main log, and only their records tell
			// whose they are.
			look, err := Looks(path)
			if err != nil {
				s.fault(path, err)
				continue
			}
			if look.Format == FormatUnknown || look.Session == "" {
				reason := look.Reason
				if reason == "" {
					reason = "an agent's log that names no session"
				}
				s.problem(path, reason, nil)
				continue
			}
			session = at(key{filepath.Dir(path), look.Session})
			if session.Path == "" && session.Format == FormatUnknown {
				session.Look = look
			}
		}
		if strings.HasPrefix(a.ID, "acompact-") {
			session.Copies = append(session.Copies, a)
		} else {
			session.Agents = append(session.Agents, a)
		}
	}

	found := Found{Problems: s.problems}
	for _, session := range sessions {
		sortAgents(session.Agents)
		sortAgents(session.Copies)
		if session.Path == "" && session.Format == FormatUnknown && session.first() != "" {
			if look, err := Looks(session.first()); err == nil {
				session.Look = look
			}
		}
		found.Sessions = append(found.Sessions, *session)
	}
	sort.Slice(found.Sessions, func(i, j int) bool {
		a, b := &found.Sessions[i], &found.Sessions[j]
		if a.first() != b.first() {
			return a.first() < b.first()
		}
		return a.ID < b.ID
	})
	sort.SliceStable(found.Problems, func(i, j int) bool { return found.Problems[i].Path < found.Problems[j].Path })
	return found
}

func sortAgents(logs []AgentLog) {
	sort.Slice(logs, func(i, j int) bool { return logs[i].Path < logs[j].Path })
}

// first is the path that stands for the session.
func (s *Session) first() string {
	switch {
	case s.Path != "":
		return s.Path
	case len(s.Agents) > 0:
		return s.Agents[0].Path
	case len(s.Copies) > 0:
		return s.Copies[0].Path
	}
	return ""
}

// Files are the paths of the session's logs, the main log first, without the
// copies.
func (s *Session) Files() []string {
	var files []string
	if s.Path != "" {
		files = append(files, s.Path)
	}
	for _, a := range s.Agents {
		files = append(files, a.Path)
	}
	return files
}

// owner is the session that an agent's log belongs to by its place,
// <dir>/<id>/subagents/…/agent-x.jsonl.
func owner(path string) (dir, id string, ok bool) {
	for at := filepath.Dir(path); ; {
		parent := filepath.Dir(at)
		if filepath.Base(at) == "subagents" && parent != at {
			if id = filepath.Base(parent); id == "." || id == string(filepath.Separator) {
				return "", "", false
			}
			return filepath.Dir(parent), id, true
		}
		if parent == at {
			return "", "", false
		}
		at = parent
	}
}

// agentLog reads what stands beside an agent's log.
func agentLog(path string) AgentLog {
	a := AgentLog{ID: strings.TrimPrefix(stem(path), agentPrefix), Path: path}
	base := filepath.Join(filepath.Dir(path), stem(path))
	if v := readSmall(base + ".meta.json"); v != nil {
		a.Type = v.Get("agentType").Text()
		a.Description = v.Get("description").Text()
		a.ToolUse = v.Get("toolUseId").Text()
		if n, ok := v.Get("spawnDepth").Int(); ok {
			a.Depth = int(n)
		}
	}
	if v := readSmall(base + ".forked-skill.json"); v != nil {
		a.Skill = v.Get("skillName").Text()
	} else if v := readSmall(base + ".forked-skill.marker.json"); v != nil {
		a.Skill = v.Get("skillName").Text()
	}
	return a
}

// readSmall reads a JSON file of at most 1 MiB; anything else is as good as
// absent.
func readSmall(path string) Value {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil
	}
	v, err := ParseValue(b)
	if err != nil {
		return nil
	}
	return v
}

// End is the greatest time of a record in the session's logs, or zero. Only the
// ends of the files are read, as far as they tell.
func (s *Session) End() (time.Time, error) {
	var end time.Time
	for _, path := range s.Files() {
		if path == "-" {
			continue
		}
		t, err := lastTime(path)
		if err != nil {
			return end, err
		}
		if t.After(end) {
			end = t
		}
	}
	return end, nil
}

// lastTime is the greatest time in the last part of the log that holds one.
// Records are appended, so that the greatest time stands there, if not always on
// the last line.
func lastTime(path string) (time.Time, error) {
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return time.Time{}, err
	}
	var magic [2]byte
	if n, _ := f.ReadAt(magic[:], 0); n == 2 && string(magic[:]) == "\x1F\x8B" {
		return greatest(ReadFile(path, Options{Sizes: true}))
	}
	for part := int64(64 << 10); ; part *= 16 {
		from := max(0, info.Size()-part)
		// The first line of a part is cut, and names no time: no record, or a broken one.
		t, err := greatest(read(path, io.NewSectionReader(f, from, info.Size()-from), Options{Sizes: true}, lookChunk))
		if err != nil || !t.IsZero() || from == 0 {
			return t, err
		}
	}
}
