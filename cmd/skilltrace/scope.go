package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/report"
)

// scope says which sessions are meant.
type scope struct {
	configDirs []string
	project    string
	session    string
	since      string
	until      string
	args       []string // sessions as they were given
}

func (a *app) scopeFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&a.scope.configDirs, "config-dir", nil, "configuration folders of the client (default: $CLAUDE_CONFIG_DIR, else ~/.claude and ~/.config/claude)")
	f.StringVar(&a.scope.project, "project", "", "only sessions that were begun in `DIR` or below")
	f.StringVar(&a.scope.session, "session", "", "only sessions whose id begins with `ID`")
	f.StringVar(&a.scope.since, "since", "", "only sessions that went on at or after `TIME`: 2026-11-30 or 2026-11-30T15:04:05Z")
	f.StringVar(&a.scope.until, "until", "", "only sessions that began before `TIME`; a day counts to its end")
	f.StringVar(&a.timezone, "timezone", "", "`ZONE` of days and of times in tables, such as Europe/Berlin or UTC (default: local time)")
	markFolders(cmd, "project", "config-dir")
	a.completeFlag(cmd, "session", a.completeSession)
	a.completeArgs(cmd, nil)
}

// flags are the options that reach the same sessions by their ids.
func (s *scope) flags() string {
	if len(s.configDirs) == 0 {
		return ""
	}
	return "--config-dir " + report.ShellWord(strings.Join(s.configDirs, ","))
}

// again are the arguments and options by which a command reads the same sessions.
func (s *scope) again() string {
	var words []string
	for _, arg := range s.args {
		words = append(words, report.ShellWord(arg))
	}
	if flags := s.flags(); flags != "" {
		words = append(words, flags)
	}
	for _, word := range s.limits() {
		words = append(words, word.option, report.ShellWord(word.value))
	}
	return strings.Join(words, " ")
}

// limit is an option that leaves sessions out.
type limit struct{ option, value string }

// limits are the options given that leave sessions out.
func (s *scope) limits() (out []limit) {
	for _, l := range []limit{{"--project", s.project}, {"--session", s.session}, {"--since", s.since}, {"--until", s.until}} {
		if l.value != "" {
			out = append(out, l)
		}
	}
	return out
}

// fitsNone is the error of options that leave all of n sessions out.
func (a *app) fitsNone(n int) error {
	var words []string
	for _, l := range a.scope.limits() {
		if l.option != "--project" { // it was fitted before
			words = append(words, l.option+" "+l.value)
		}
	}
	if len(words) == 0 {
		return errors.New("no session was found; skilltrace sessions --config-dir DIR looks in another folder")
	}
	all := a.scope
	all.session, all.since, all.until = "", "", ""
	sessions := "sessions"
	if n == 1 {
		sessions = "session"
	}
	return fmt.Errorf("none of %d %s fits %s; %s lists them", n, sessions, strings.Join(words, " and "), strings.TrimSuffix("skilltrace sessions "+all.again(), " "))
}

// sessionArgs is how the arguments of commands that read sessions are described.
const sessionArgs = `Sessions are given as the path of a log or of a folder of logs, as an id or its
beginning, as "latest", or as "-" for standard input. Without an argument all
sessions in scope are read.`

// configFolders are the configuration folders in scope.
func (a *app) configFolders() []string {
	if len(a.scope.configDirs) > 0 {
		return a.scope.configDirs
	}
	return jsonl.ConfigDirs(a.getenv)
}

// find resolves the arguments to sessions, each once. What cannot be used is
// reported, and the rest goes on; the error says that nothing was found at all,
// or that an option is wrong.
func (a *app) find(args []string) ([]jsonl.Session, error) {
	since, err := a.moment("since", a.scope.since, false)
	if err != nil {
		return nil, err
	}
	until, err := a.moment("until", a.scope.until, true)
	if err != nil {
		return nil, err
	}
	project := a.scope.project
	if project != "" {
		if project, err = filepath.Abs(project); err != nil {
			return nil, fmt.Errorf("--project %s: %w", a.scope.project, err)
		}
	}
	a.scope.args = args
	where := jsonl.Scope{Dirs: a.configFolders(), Project: project}
	if len(args) == 0 {
		args = []string{""}
	}
	var (
		sessions []jsonl.Session
		problems []jsonl.Problem
		seen     = map[string]bool{}
		inScope  int
	)
	for _, arg := range args {
		found, err := where.Resolve(arg)
		if bad := (*jsonl.InputError)(nil); errors.As(err, &bad) && bad.Next == "" {
			bad.Next = "give a log or a folder of logs that can be read"
		}
		if err != nil {
			if len(args) == 1 {
				return nil, err
			}
			a.unusable(err)
			continue
		}
		problems = append(problems, found.Problems...)
		for _, s := range found.Sessions {
			key := realPaths(s.Files())
			if seen[key] {
				continue
			}
			seen[key] = true
			inScope++
			if !strings.HasPrefix(s.ID, a.scope.session) {
				continue
			}
			within, err := a.within(&s, since, until)
			if err != nil {
				a.unusable(err)
				continue
			}
			if within {
				sessions = append(sessions, s)
			}
		}
	}
	a.problems(problems)
	if len(sessions) == 0 {
		if a.status >= statusUnusable {
			return nil, errors.New("no input can be used")
		}
		return nil, a.fitsNone(inScope)
	}
	return sessions, nil
}

// realPaths names files by where they really are: arguments may reach a log on
// several ways.
func realPaths(files []string) string {
	paths := make([]string, len(files))
	for i, file := range files {
		paths[i] = file
		if target, err := filepath.EvalSymlinks(file); err == nil {
			paths[i] = target
		}
		if full, err := filepath.Abs(paths[i]); err == nil {
			paths[i] = full
		}
	}
	return strings.Join(paths, "\x00")
}

// problems reports what a search passed over: files that cannot be read one by
// one, those that are no session logs together, as folders may hold many.
func (a *app) problems(list []jsonl.Problem) {
	var others []jsonl.Problem
	for _, p := range list {
		switch {
		case errors.Is(p.Err, fs.ErrNotExist):
			// One of several configuration folders need not be there.
			a.note("%s: %s; passed over", p.Path, p.Reason)
		case p.Err != nil:
			a.unusable(fmt.Errorf("%s: %s; passed over, make it readable to have it read", p.Path, p.Reason))
		case a.verbose:
			a.note("%s: passed over: %s", p.Path, p.Reason)
		default:
			others = append(others, p)
		}
	}
	switch len(others) {
	case 0:
	case 1:
		a.note("%s: passed over: %s", others[0].Path, others[0].Reason)
	default:
		a.note("%d files passed over, the first is %s: %s; --verbose lists them", len(others), others[0].Path, others[0].Reason)
	}
}

// unusable reports an input that cannot be used.
func (a *app) unusable(err error) {
	a.fail(err)
	a.raise(statusUnusable)
}

// within reports whether a session went on at or after since and began before
// until; zero times ask nothing. A session without times is within no bounds.
func (a *app) within(s *jsonl.Session, since, until time.Time) (bool, error) {
	if !until.IsZero() && (s.Start.IsZero() || !s.Start.Before(until)) {
		return false, nil
	}
	if since.IsZero() {
		return true, nil
	}
	end, err := s.End()
	if err != nil {
		return false, err
	}
	return !end.Before(since), nil
}

// moment reads a day or a time. A day means its start or, as an upper bound, the
// start of the next.
func (a *app) moment(flag, text string, upper bool) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	location, err := a.location()
	if err != nil {
		return time.Time{}, err
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, location); err == nil {
		if upper {
			t = t.AddDate(0, 0, 1)
		}
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("--%s %s: want a day such as 2026-11-30, or a time such as 2026-11-30T15:04:05Z", flag, text)
	}
	return t, nil
}

// notALog is the error of a log in which nothing is a session's. Files are looked
// at before; standard input cannot be.
func notALog(s *replay.Session, path string) error {
	what := ""
	unknown := 0
	for _, n := range s.Unknown {
		unknown += n
	}
	switch s.Records {
	case 0:
		what = "no line of it is a record"
	case unknown:
		what = "no record of it is one of a session"
	default:
		return nil
	}
	if path == "-" {
		path = "standard input"
	}
	return &jsonl.InputError{Input: path, What: "not a session log: " + what, Next: "give a session log of Claude Code, or the output of -p --output-format stream-json"}
}

// eachSession observes sessions, several at a time, and calls use for each that
// can be read, with its index. Empty logs are noted: there is nothing in them to
// read. Results must be kept by index, as the order of calls is not fixed.
func (a *app) eachSession(ctx context.Context, logs []jsonl.Session, use func(i int, s *replay.Session, read *jsonl.Stats) error) error {
	errs := make([]error, len(logs))
	empty := make([]bool, len(logs))
	used := make([]bool, len(logs))
	done := make(chan struct{}, len(logs))
	a.progress.expect(bytesOf(logs))
	err := parallel(ctx, a.jobs, len(logs), func(i int) {
		defer func() {
			done <- struct{}{}
			a.progress.update("sessions", len(done), len(logs))
		}()
		if logs[i].Empty {
			empty[i] = true
			return
		}
		s, read, err := a.observe(ctx, &logs[i])
		if err != nil {
			errs[i] = err
			return
		}
		if errs[i] = notALog(s, logs[i].Path); errs[i] != nil {
			return
		}
		if err := use(i, s, read); err != nil {
			errs[i] = err
			return
		}
		used[i] = true
	})
	if err != nil {
		return err
	}
	some := false
	var empties []string
	for i := range logs {
		switch {
		case empty[i] && len(logs) == 1:
			return fmt.Errorf("%s: an empty log: nothing was recorded; give another, skilltrace sessions lists them", logs[i].Path)
		case empty[i]:
			empties = append(empties, logs[i].Path)
		case errs[i] != nil && len(logs) == 1:
			return errs[i]
		case errs[i] != nil:
			a.unusable(errs[i])
		}
		some = some || used[i]
	}
	switch n := len(empties); {
	case n > 1 && !a.verbose:
		// Clients leave them behind; a folder may hold many.
		a.note("%d empty logs passed over, the first is %s; --verbose lists them", n, empties[0])
	default:
		for _, path := range empties {
			a.note("%s: an empty log, passed over", path)
		}
	}
	if !some {
		return errors.New("no session could be read")
	}
	return nil
}

// readAgain observes some of the sessions once more: those of which other logs hold a
// part. What cannot be read twice is among held, by its index.
func (a *app) readAgain(ctx context.Context, again []int, logs []jsonl.Session, held []*replay.Session, use func(i int, s *replay.Session)) error {
	if len(again) == 0 {
		return nil
	}
	errs := make([]error, len(again))
	done := make(chan struct{}, len(again))
	bytes := int64(0)
	for _, i := range again {
		bytes += bytesOf(logs[i : i+1])
	}
	const what = "sessions with copies"
	a.progress.update(what, 0, len(again))
	a.progress.expect(bytes)
	err := parallel(ctx, a.jobs, len(again), func(k int) {
		defer func() {
			done <- struct{}{}
			a.progress.update(what, len(done), len(again))
		}()
		i := again[k]
		s := held[i]
		if s == nil {
			if s, _, errs[k] = a.observe(ctx, &logs[i]); errs[k] != nil {
				return
			}
		}
		use(i, s)
	})
	if err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err // a log that could be read a moment ago
		}
	}
	return nil
}
