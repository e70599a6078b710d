package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/replay/relist"
	"github.com/skilltrace/skilltrace/report"
	"github.com/skilltrace/skilltrace/skills"
)

// testOptions are the options of test.
type testOptions struct {
	scorers  []string
	baseline string
	cases    string
	shard    string
	update   bool

	which    *regexp.Regexp
	k, n     int // of the shard
	selected []spec.Scorer
	askOptions
}

func (a *app) testCommand() *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{
		Use:   "test [SPEC]",
		Short: "Whether new descriptions of skills still hold on recorded sessions",
		Long: `Test puts candidate skills in the place of those that recorded sessions had, and
works out what the model would have seen at a prompt: each description in full,
shortened, by name only or not at all. No model is asked for that. Without an
argument the spec is ` + spec.DefaultName + `.

Scorers judge a case, and each case has those that its expectations need:

  visible  the listing, by the reference implementation of the client
  lexical  the words that prompt and descriptions share: a smoke alarm
  live     a model is asked several times, through the Messages API, with the
           request of that prompt; ANTHROPIC_API_KEY is the key
  command  a program of yours is asked, once

Live says first what it will cost. It and command run only where the spec or
--scorer names them.

Exit status: 1 if a case failed or errored, or none could be judged; 2 if the spec
cannot be used.`,
		Example: `  skilltrace test
  skilltrace test skilltrace.test.yaml --baseline git:main
  skilltrace test --format junit --output results.xml
  skilltrace test --update`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				if near := nearest(args[0], []string{"init", "export"}); near != "" {
					return fmt.Errorf("%s has no command %q; did you mean %s?", cmd.CommandPath(), args[0], near)
				}
			}
			return between(0, 1, "at most one spec")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.runTest(cmd, args, &o) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.scorers, "scorer", nil, "scorers of all cases: "+listOf(spec.Scorers)+" (default: as the spec says)")
	f.StringVar(&o.baseline, "baseline", "", "what to compare with: log, git:REV or folder:DIR (default: as the spec says)")
	f.StringVar(&o.cases, "case", "", "only cases whose name fits `REGEXP`")
	f.StringVar(&o.shard, "shard", "", "only every `K/N`th case, to share them among machines")
	f.BoolVar(&o.update, "update", false, "rewrite what the spec expects to be visible as it is now, and show what was changed")
	f.StringVar(&a.inputs.settings, "settings", "", "settings `FILE` of the sessions (default: as the spec says)")
	f.StringVar(&a.inputs.usage, "usage", "", "`FILE` with the client's usage counts at the start of the sessions (default: as the spec says)")
	f.Int64Var(&a.inputs.window, "window", 0, "context window of `N` tokens (default: as the spec says, else by the model and the log)")
	f.StringVar(&a.inputs.client, "client", "", "client whose rules are used, `NAME@VERSION` (default: as the spec says, else as in the log)")
	f.StringVar(&a.inputs.rules, "rules", "", "`FILE` of rule changes that are laid over the built-in rules")
	a.askFlags(cmd, &o.askOptions)
	a.workFlags(cmd)
	a.outputFlags(cmd, &report.TestDocument{})
	cmd.ValidArgsFunction = completeFiles("yaml", "yml")
	completeList(cmd, "scorer", words(spec.Scorers))
	a.completeFlag(cmd, "client", completeClient)
	a.completeFlag(cmd, "model", completeModel)
	a.completeFlag(cmd, "settings", completeFiles("json"))
	a.completeFlag(cmd, "rules", completeFiles("yaml", "yml"))
	completeWords(cmd, "baseline", []string{"log", "git:", "folder:"})
	markFolders(cmd, "cache-dir")
	cmd.AddCommand(a.testInitCommand(), a.testExportCommand())
	return cmd
}

// settle checks the options.
func (o *testOptions) settle(cmd *cobra.Command) error {
	for _, name := range o.scorers {
		s := spec.Scorer(strings.TrimSpace(name))
		if !slices.Contains(spec.Scorers, s) {
			return wrongValue(cmd, "scorer", name, "some of "+listOf(spec.Scorers))
		}
		o.selected = append(o.selected, s)
	}
	o.k, o.n = 1, 1
	if o.shard != "" {
		k, n, ok := strings.Cut(o.shard, "/")
		var err1, err2 error
		o.k, err1 = strconv.Atoi(k)
		o.n, err2 = strconv.Atoi(n)
		if !ok || err1 != nil || err2 != nil || o.k < 1 || o.k > o.n {
			return wrongValue(cmd, "shard", o.shard, "a part and the number of parts, such as 2/4")
		}
	}
	if o.cases != "" {
		var err error
		if o.which, err = regexp.Compile(o.cases); err != nil {
			return wrongValue(cmd, "case", o.cases, "a regular expression")
		}
	}
	return nil
}

// suite is a spec with all that its cases are judged by.
type suite struct {
	*spec.Spec
	text      []byte
	cases     []spec.Case // those to be judged
	candidate *regress.Set
	baseline  *regress.Set // nil: the log's own state
	against   string       // the baseline, in words
	in        *given
}

func (a *app) runTest(cmd *cobra.Command, args []string, o *testOptions) error {
	if err := o.settle(cmd); err != nil {
		return err
	}
	file := spec.DefaultName
	if len(args) > 0 {
		file = args[0]
	}
	s, err := a.loadSuite(file, o)
	if err != nil {
		return err
	}
	results, sizes, spent, err := a.judge(cmd.Context(), s, o)
	if err != nil {
		return err
	}
	if !s.Budget.IsZero() {
		results = append(results, regress.BudgetResults(&s.Budget, sizes)...)
	}
	var updated []string
	if o.update {
		if updated, results, err = a.updateSpec(s, results); err != nil {
			return err
		}
	}
	doc := report.NewTest(a.shownPath(file), strings.Join(s.Skills, ", "), s.against, results)
	doc.Shard, doc.Updated, doc.Cost = o.shard, updated, spent
	doc.Paths, doc.Problems = s.paths(), s.problems()
	if outcome := regress.Outcome(results); outcome != regress.Passed && outcome != regress.Skipped {
		a.raise(statusFindings)
	}
	return a.write(doc)
}

// problems are the files of the candidates that no client reads, though somebody may have
// meant a skill by them.
func (s *suite) problems() []string {
	r, err := s.in.table.At(cmp.Or(s.in.version, s.in.table.Latest))
	if err != nil || s.candidate == nil {
		return nil
	}
	words := map[skills.ProblemKind]string{
		skills.WrongCase: "the file of a skill is SKILL.md, in capitals", skills.TwoDeep: "a skill's folder stands in the folder of skills, not deeper",
		skills.BrokenLink: "the link leads nowhere", skills.Unreadable: "it cannot be read", skills.NoPluginName: "the plugin has no name",
	}
	dir, _ := filepath.Abs(filepath.Dir(s.File))
	var out []string
	for _, p := range s.candidate.Problems(&r) {
		what, ok := words[p.Kind]
		if !ok {
			continue // folders of other files, a README
		}
		name := filepath.FromSlash(p.Path)
		if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		if p.Detail != "" {
			what += ": " + p.Detail
		}
		out = append(out, filepath.ToSlash(name)+": "+what)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shownPath is a path as it is shown: relative to the workspace of a build server, where
// there is one that holds it.
func (a *app) shownPath(file string) string {
	if root := a.getenv("GITHUB_WORKSPACE"); root != "" {
		if abs, err := filepath.Abs(file); err == nil {
			if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel)
			}
		}
	}
	return file
}

// loadSuite reads a spec, and the skills that it names.
func (a *app) loadSuite(file string, o *testOptions) (*suite, error) {
	text, err := local.ReadFile(file)
	if err != nil {
		hint := ""
		if file == spec.DefaultName {
			hint = "; skilltrace test init SESSION makes one from a recorded session"
		} else if near := nearest(file, []string{"init", "export"}); near != "" && errors.Is(err, fs.ErrNotExist) {
			hint = "; did you mean skilltrace test " + near + "?"
		} else if errors.Is(err, fs.ErrNotExist) {
			hint = "; give the path of a spec, without one it is " + spec.DefaultName
		}
		return nil, fmt.Errorf("%w%s", err, hint)
	}
	read, err := spec.Read(file, text)
	if err != nil {
		return nil, err
	}
	s := &suite{Spec: read, text: text}
	for _, c := range regress.Shard(read.Cases, o.k, o.n) {
		if o.which == nil || o.which.MatchString(c.Name) {
			s.cases = append(s.cases, c)
		}
	}
	if len(s.cases) == 0 && o.which != nil {
		return nil, fmt.Errorf("--case %s: none of the %d cases of %s fits", o.cases, len(read.Cases), file)
	}
	if o.baseline != "" {
		if s.Baseline, err = parseBaseline(o.baseline); err != nil {
			return nil, err
		}
	}
	dirs, err := s.folders(s.Skills)
	if err != nil {
		return nil, err
	}
	if len(dirs) > 0 {
		if s.candidate, err = newSet(strings.Join(s.Skills, ", "), "", dirs); err != nil {
			return nil, err
		}
	}
	then, at := dirs, local.AtNow
	s.against = "the log's own state"
	switch b := &s.Baseline; {
	case b.Git != "":
		s.against, at = "git "+b.Git, b.Git
		if s.baseline, err = newSet(s.against, b.Git, dirs); err != nil {
			if b.Line == 0 {
				return nil, fmt.Errorf("--baseline git:%s: %w", b.Git, err)
			}
			return nil, fmt.Errorf("%s:%d: baseline: git %s: %w", file, b.Line, b.Git, err)
		}
	case len(b.Folders) > 0:
		s.against = strings.Join(b.Folders, ", ")
		if then, err = s.folders(b.Folders); err != nil {
			return nil, err
		}
		if s.baseline, err = newSet(s.against, "", then); err != nil {
			return nil, err
		}
	}
	a.inputs.skills, a.inputs.skillsAt = then, at
	a.inputs.client = cmp.Or(a.inputs.client, s.Client)
	a.inputs.window = cmp.Or(a.inputs.window, s.Window)
	a.inputs.usage = cmp.Or(a.inputs.usage, s.path(s.Usage))
	a.inputs.settings = cmp.Or(a.inputs.settings, s.path(s.Settings))
	if s.in, err = a.loadInputs(); err != nil {
		return nil, err
	}
	return s, nil
}

// parseBaseline reads the option --baseline.
func parseBaseline(text string) (spec.Baseline, error) {
	kind, value, _ := strings.Cut(text, ":")
	switch {
	case kind == "log" && value == "":
		return spec.Baseline{}, nil
	case kind == "git" && value != "":
		return spec.Baseline{Git: value}, nil
	case kind == "folder" && value != "":
		return spec.Baseline{Folders: []string{value}}, nil
	}
	return spec.Baseline{}, fmt.Errorf("--baseline %s: want log, git:REV or folder:DIR", text)
}

// path is a path of the spec, which is relative to its folder.
func (s *suite) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(s.File), name)
}

// paths are the sessions that are named by a path, as they are reached from here.
func (s *suite) paths() map[string]string {
	out := map[string]string{}
	for i := range s.cases {
		name := s.cases[i].Session
		if _, err := os.Stat(s.path(name)); err == nil {
			out[name] = s.path(name)
		}
	}
	return out
}

// folders are folders of the spec, absolute.
func (s *suite) folders(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		dir, err := filepath.Abs(s.path(name))
		if err != nil {
			return nil, err
		}
		if err := checkSkills(dir); err != nil {
			return nil, fmt.Errorf("%s: skills: %s: %w", s.File, name, err)
		}
		out = append(out, dir)
	}
	return out, nil
}

// newSet are the skills in folders, at a git revision if one is given.
func newSet(name, ref string, dirs []string) (*regress.Set, error) {
	tree, slashed, err := local.TreeAt(ref, dirs)
	if err != nil {
		return nil, err
	}
	return regress.NewSet(name, tree, slashed), nil
}

// judge judges the cases, those of one session together, and then asks what they ask. The
// third result is what it took to ask a model, nil if none was asked.
func (a *app) judge(ctx context.Context, s *suite, o *testOptions) ([]regress.Result, []regress.CaseSize, *report.TestSpending, error) {
	bySession := map[string][]int{}
	var order []string
	for i := range s.cases {
		name := s.cases[i].Session
		if bySession[name] == nil {
			order = append(order, name)
		}
		bySession[name] = append(bySession[name], i)
	}
	results, sizes := make([][]regress.Result, len(s.cases)), make([]*regress.CaseSize, len(s.cases))
	questions := make([][]regress.Question, len(s.cases))
	done := make(chan struct{}, len(order))
	err := parallel(ctx, a.jobs, len(order), func(i int) {
		defer func() {
			done <- struct{}{}
			a.progress.update("sessions", len(done), len(order))
		}()
		list := bySession[order[i]]
		session, err := a.testSession(ctx, s, order[i])
		for _, n := range list {
			c := &s.cases[n]
			scorers := regress.ScorersOf(s.Spec, c, o.selected)
			switch {
			case c.Skip != "":
				results[n] = unjudged(c, scorers, regress.Skipped, c.Skip)
			case err != nil:
				results[n] = unjudged(c, scorers, regress.Errored, err.Error())
			default:
				results[n], sizes[n], questions[n] = session.Run(c, scorers, s.candidate, s.baseline)
			}
		}
	})
	if err != nil {
		return nil, nil, nil, err
	}
	var open []pending
	for i := range questions {
		for j := range questions[i] {
			q := &questions[i][j]
			open = append(open, pending{q, &s.cases[i], &results[i][q.Result]})
		}
	}
	spent, err := a.ask(ctx, s, open, o)
	if err != nil {
		return nil, nil, nil, err
	}
	var all []regress.Result
	var taken []regress.CaseSize
	for i := range s.cases {
		all = append(all, results[i]...)
		if sizes[i] != nil {
			taken = append(taken, *sizes[i])
		}
	}
	return all, taken, spent, nil
}

func unjudged(c *spec.Case, scorers []spec.Scorer, v regress.Verdict, reason string) []regress.Result {
	var out []regress.Result
	for _, scorer := range scorers {
		out = append(out, regress.Result{Case: c.Name, Line: c.Line, Scorer: scorer, Verdict: v, Reason: reason, Review: c.Review, Session: c.Session, Agent: c.At.Agent, Prompt: c.At.Prompt})
	}
	return out
}

// testLog finds a session of a spec: a path, else an id in scope.
func (a *app) testLog(s *suite, name string) (*jsonl.Session, error) {
	where := jsonl.Scope{Dirs: a.configFolders()}
	found, err := where.Resolve(s.path(name))
	if err != nil {
		var byID error
		if found, byID = where.Resolve(name); byID != nil {
			return nil, err
		}
	}
	switch {
	case len(found.Sessions) == 0:
		return nil, fmt.Errorf("%s: no session", name)
	case len(found.Sessions) > 1:
		return nil, fmt.Errorf("%s: %d sessions; a case names one", name, len(found.Sessions))
	case found.Sessions[0].Empty:
		return nil, fmt.Errorf("%s: an empty log", name)
	}
	return &found.Sessions[0], nil
}

// testSession reads and replays a session of a spec.
func (a *app) testSession(ctx context.Context, s *suite, name string) (*regress.Session, error) {
	log, err := a.testLog(s, name)
	if err != nil {
		return nil, err
	}
	session, _, err := a.observe(ctx, log)
	if err != nil {
		return nil, err
	}
	if err := notALog(session, log.Path); err != nil {
		return nil, err
	}
	return s.in.prepare(session)
}

// prepare replays a session, to be tested.
func (in *given) prepare(session *replay.Session) (*regress.Session, error) {
	found, err := in.finder.Find(session)
	if err != nil {
		return nil, err
	}
	if err := in.badVersion(session, found); err != nil {
		return nil, err
	}
	r, courses := replay.RunCourses(session, &found.Inputs, comparison(found))
	settleResult(r, found)
	known := &relist.Known{Texts: map[string]string{}, Given: map[string]bool{}, Complete: found.Own && len(in.skills) == 0, Held: in.window > 0,
		Budget: int(found.Budget), Window: int(found.Window)}
	return regress.Prepare(r, courses, &found.Inputs, known), nil
}

// updateSpec rewrites what a spec expects to be visible. Cases whose expectations all
// are rewritten pass.
func (a *app) updateSpec(s *suite, results []regress.Result) (updated []string, now []regress.Result, err error) {
	var updates []spec.Update
	for i := range results {
		for _, v := range results[i].Visible {
			if v.Verdict == regress.Failed {
				updates = append(updates, spec.Update{Line: v.Line, Skill: v.Skill, Shown: v.Actual})
				updated = append(updated, fmt.Sprintf("%s:%d: %s: %s → %s", s.File, v.Line, v.Skill, v.Expected, v.Actual))
			}
		}
	}
	if len(updates) == 0 {
		return nil, results, nil
	}
	text, left := spec.Rewrite(s.text, updates)
	if len(left) > 0 {
		return nil, nil, fmt.Errorf("%s:%d: %s cannot be rewritten in its place; edit it by hand", s.File, left[0].Line, left[0].Skill)
	}
	if _, err := spec.Read(s.File, text); err != nil {
		return nil, nil, errors.Join(errors.New("the rewritten spec would not be one"), err)
	}
	if err := writeFile(s.File, text); err != nil {
		return nil, nil, err
	}
	for i := range results {
		results[i].Accept()
	}
	return updated, results, nil
}
