package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Scope is where sessions are looked for by id.
type Scope struct {
	Dirs []string // configuration folders, or any folders of logs
	// Project keeps only the sessions that were begun in this folder or below. It
	// is compared with the folder that their records name: the names of the folders
	// in projects are ambiguous, /a/b and /a-b share one.
	Project string
}

// InputError says why an argument names no session that can be read. Its text is
// one line, and says what to do next.
type InputError struct {
	Input string // the argument, or the path
	What  string
	Next  string
	// Candidates of an ambiguous id, one line each.
	Candidates []string
	Err        error // of the file system, or nil
}

func (e *InputError) Error() string {
	text := e.What
	if e.Input != "" {
		text = e.Input + ": " + text
	}
	if e.Next != "" {
		text += "; " + e.Next
	}
	for _, c := range e.Candidates {
		text += "\n  " + c
	}
	return text
}

func (e *InputError) Unwrap() error { return e.Err }

// maxCandidates is how many sessions the error of an ambiguous id lists.
const maxCandidates = 10

const expected = "expected a session log of Claude Code (~/.claude/projects/*/*.jsonl) or the output of -p --output-format stream-json"

// Resolve finds the sessions that an argument names: a path of a log or of a
// folder of logs, an id or the beginning of one, "latest", "-" for standard
// input, or all sessions of the scope for "". Every error is an [*InputError].
// The problems of [Found] are those of the search, if there was one.
func (sc Scope) Resolve(arg string) (Found, error) {
	switch {
	case arg == "-":
		return Found{Sessions: []Session{{ID: "-", Path: "-"}}}, nil
	case arg == "" || arg == "latest":
		found, err := sc.all()
		if err != nil || arg == "" {
			return found, err
		}
		return found.latest(arg)
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		found := Discover(arg)
		found.keep(sc.Project)
		if len(found.Sessions) == 0 {
			e := &InputError{Input: arg, What: "a folder without session logs", Next: expected}
			if sc.Project != "" {
				e.What += " of " + sc.Project
			}
			return found, e.because(found.Problems, arg)
		}
		return found, nil
	case err == nil:
		return one(arg)
	case !errors.Is(err, fs.ErrNotExist) || looksLikePath(arg):
		return Found{}, unreadable(arg, err)
	}
	return sc.byID(arg)
}

func looksLikePath(arg string) bool {
	return strings.ContainsRune(arg, filepath.Separator) || isLog(arg)
}

func unreadable(path string, err error) error {
	e := &InputError{Input: path, What: err.Error(), Err: err}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		e.What = pe.Err.Error()
	}
	if errors.Is(err, fs.ErrNotExist) {
		e.What = "no such file"
		e.Next = "skilltrace sessions lists those that can be named by id"
	}
	return e
}

// because adds the first problem of a search in folders that found nothing. A
// problem that all the folders have, as none of them is there, is said without
// their names, which the error begins with.
func (e *InputError) because(problems []Problem, dirs ...string) error {
	shared := len(problems) == len(dirs)
	for i := 0; shared && i < len(dirs); i++ {
		shared = problems[i].Path == dirs[i] && problems[i].Reason == problems[0].Reason
	}
	switch {
	case len(problems) == 0:
	case shared:
		e.What += fmt.Sprintf(" (%s)", problems[0].Reason)
		e.Err = problems[0].Err
	default:
		e.What += fmt.Sprintf(" (%s: %s)", problems[0].Path, problems[0].Reason)
		e.Err = problems[0].Err
		if n := len(problems) - 1; n > 0 {
			e.What += fmt.Sprintf(" and %d more problems", n)
		}
	}
	return e
}

// one is the session of a log given by its path.
func one(path string) (Found, error) {
	look, err := Looks(path)
	if err != nil {
		return Found{}, unreadable(path, err)
	}
	if look.Format == FormatUnknown && !look.Empty {
		return Found{}, &InputError{Input: path, What: "not a session log: " + look.Reason, Next: expected}
	}
	name := stem(path)
	if strings.HasPrefix(name, agentPrefix) {
		s := Session{ID: look.Session, Look: look}
		a := agentLog(path)
		s.Agents = []AgentLog{a}
		return Found{Sessions: []Session{s}}, nil
	}
	// Its agents stand in a folder of its name, or beside it.
	s := search{seen: make(map[string]bool)}
	s.file(path)
	dir := filepath.Dir(path)
	if sub := filepath.Join(dir, name); isDir(sub) {
		s.walk(sub, 0)
	}
	if entries, err := os.ReadDir(dir); err == nil {
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), agentPrefix) && isLog(e.Name()) && e.Type().IsRegular() {
				s.file(filepath.Join(dir, e.Name()))
			}
		}
	}
	found := s.group()
	for _, session := range found.Sessions {
		if session.Path == path {
			return Found{Sessions: []Session{session}}, nil
		}
	}
	return Found{}, &InputError{Input: path, What: "cannot be read", Next: expected}
}

// all are the sessions of the scope.
func (sc Scope) all() (Found, error) {
	found := Discover(sc.Dirs...)
	others := len(found.Sessions) > 0
	found.keep(sc.Project)
	if len(found.Sessions) > 0 {
		return found, nil
	}
	where := strings.Join(sc.Dirs, ", ")
	if others {
		return found, &InputError{Input: where, What: "no session was begun in " + sc.Project,
			Next: "name another --project, or leave it out"}
	}
	if where == "" {
		return found, &InputError{What: "no folder to look for sessions in", Next: "name one with --config-dir"}
	}
	e := &InputError{Input: where, What: "no session logs",
		Next: "name the folder that holds projects with --config-dir, or a log by its path"}
	return found, e.because(found.Problems, sc.Dirs...)
}

// keep drops the sessions that were not begun in project or below.
func (f *Found) keep(project string) {
	if project == "" {
		return
	}
	kept := f.Sessions[:0]
	for _, s := range f.Sessions {
		if within(s.CWD, project) {
			kept = append(kept, s)
		}
	}
	f.Sessions = kept
}

// within reports whether the folder dir, as a log writes it, is project or below
// it. Logs from Windows are read anywhere.
func within(dir, project string) bool {
	slashes := strings.NewReplacer(`\`, "/")
	trim := func(s string) string {
		if trimmed := strings.TrimRight(slashes.Replace(s), "/"); trimmed != "" {
			return trimmed
		}
		return "/"
	}
	if dir == "" {
		return false
	}
	dir, project = trim(dir), trim(project)
	return dir == project || project == "/" || strings.HasPrefix(dir, project+"/")
}

func (f Found) latest(arg string) (Found, error) {
	best := -1
	var end time.Time
	for i := range f.Sessions {
		t, err := f.Sessions[i].End()
		if err != nil {
			f.Problems = append(f.Problems, Problem{Path: f.Sessions[i].first(), Reason: err.Error(), Err: err})
		}
		if t.After(end) {
			best, end = i, t
		}
	}
	if best < 0 {
		return f, &InputError{Input: arg, What: "no session tells when it was recorded", Next: "name one by its path"}
	}
	f.Sessions = f.Sessions[best : best+1]
	return f, nil
}

// byID finds a session by its id, the name of its log, or the beginning of
// either.
func (sc Scope) byID(arg string) (Found, error) {
	found, err := sc.all()
	if err != nil {
		return found, err
	}
	var exact, begin []Session
	for _, s := range found.Sessions {
		name := stem(s.Path)
		if s.ID == arg || name == arg {
			exact = append(exact, s)
		} else if strings.HasPrefix(s.ID, arg) || s.Path != "" && strings.HasPrefix(name, arg) {
			begin = append(begin, s)
		}
	}
	if len(exact) == 0 {
		exact = begin
	}
	switch len(exact) {
	case 1:
		found.Sessions = exact
		return found, nil
	case 0:
		return found, &InputError{Input: arg, What: "no such file, and no session with this id",
			Next: "skilltrace sessions lists them"}
	}
	e := &InputError{Input: arg, What: fmt.Sprintf("%d sessions have ids that begin so", len(exact)),
		Next: "give more of the id, or the path"}
	for i, s := range exact {
		if i == maxCandidates {
			e.Candidates = append(e.Candidates, fmt.Sprintf("and %d more", len(exact)-i))
			break
		}
		line := s.ID
		if !s.Start.IsZero() {
			line += "  " + s.Start.Format(time.RFC3339)
		}
		e.Candidates = append(e.Candidates, line+"  "+s.first())
	}
	return found, e
}

func greatest(records iter.Seq2[*Record, error]) (t time.Time, err error) {
	for r, err := range records {
		if err != nil {
			return t, err
		}
		if r.Time.After(t) {
			t = r.Time
		}
	}
	return t, nil
}
