package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/mine"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/report"
)

// initOptions are the options of test init.
type initOptions struct {
	dir       string
	negatives bool
	redact    bool
	force     bool
}

func (a *app) testInitCommand() *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init SESSION…",
		Short: "Make a spec of recorded sessions that passes today",
		Long: `Init makes cases of what recorded sessions show: each prompt for which the model
called a skill, and each that it let pass before the user typed one (marked for
review). With --negatives, prompts without a skill as well.

It writes ` + spec.DefaultName + `, and into testdata/ what the cases need of each log:
the prompts, the listings and the calls. Other texts stay behind.`,
		Example: `  skilltrace test init latest
  skilltrace test init 5274deb5 --skills .claude/skills --redact --force
  skilltrace test init --project . --since 2026-11-01 --dir tests`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runTestInit(cmd, args, &o) },
	}
	a.scopeFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", ".", "`DIR` that the spec and testdata/ are written to")
	f.StringArrayVar(&a.inputs.skills, "skills", nil, "`DIR` of the candidate skills, as the spec is to name it (default: .claude/skills where there is one)")
	f.BoolVar(&o.negatives, "negatives", false, "make cases of prompts without a skill, too")
	f.BoolVar(&o.redact, "redact", false, "replace secrets, names and paths of known forms in what is copied")
	f.BoolVar(&o.force, "force", false, "replace a spec and fixtures that are there")
	markFolders(cmd, "dir", "skills")
	a.workFlags(cmd)
	a.outputFlags(cmd, &report.TestInitDocument{})
	return cmd
}

// mined is what became of one session.
type mined struct {
	fixture report.TestFixture
	group   mine.Group
	text    []byte
	note    error
}

func (a *app) runTestInit(cmd *cobra.Command, args []string, o *initOptions) error {
	if len(args) == 0 && len(a.scope.limits()) == 0 {
		return fmt.Errorf("%s: want sessions; skilltrace sessions lists them, latest is the newest", cmd.CommandPath())
	}
	if dir := filepath.Join(".claude", "skills"); len(a.inputs.skills) == 0 && checkSkills(dir) == nil {
		a.inputs.skills = []string{dir}
	}
	folders := a.inputs.skills
	a.inputs.skillsAt = local.AtNow
	in, err := a.loadInputs()
	if err != nil {
		return err
	}
	file := filepath.Join(o.dir, spec.DefaultName)
	if _, err := os.Lstat(file); err == nil && !o.force {
		return fmt.Errorf("%s is there already; --dir DIR writes to another folder, --force replaces it", file)
	}
	logs, err := a.find(args)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(logs, func(l jsonl.Session) bool { return l.Path == "-" }) {
		return errors.New("-: a log must be read twice; save it to a file first")
	}
	var candidates *regress.Set
	if len(in.skills) > 0 {
		if candidates, err = newSet(strings.Join(folders, ", "), "", in.skills); err != nil {
			return err
		}
	}
	results := make([]*mined, len(logs))
	err = a.eachSession(cmd.Context(), logs, func(i int, s *replay.Session, _ *jsonl.Stats) error {
		m, err := in.mine(cmd.Context(), &logs[i], s, candidates, o)
		results[i] = m
		return err
	})
	if err != nil {
		return err
	}
	doc := &report.TestInitDocument{Schema: report.TestInitSchema, Spec: file, Redacted: o.redact, Sessions: []report.TestFixture{}}
	var groups []mine.Group
	taken := map[string]bool{}
	for _, m := range results {
		if m == nil {
			continue
		}
		if m.note != nil {
			a.note("%v", m.note)
		}
		if len(m.group.Cases) > 0 {
			name := "testdata/" + mine.FileName(m.fixture.Session, taken)
			path := filepath.Join(o.dir, filepath.FromSlash(name))
			if _, err := os.Lstat(path); err == nil && !o.force {
				return fmt.Errorf("%s is there already; --force replaces it", path)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := writeFile(path, m.text); err != nil {
				return err
			}
			m.fixture.Fixture, m.group.Session = path, name
			groups = append(groups, m.group)
			for i := range m.group.Cases {
				if m.group.Cases[i].Skip != "" {
					doc.Skipped++
				}
				switch m.group.Cases[i].Kind {
				case mine.Positive:
					doc.Positive++
				case mine.Miss:
					doc.Miss++
				case mine.Negative:
					doc.Negative++
				}
			}
		}
		doc.Cases += len(m.group.Cases)
		doc.Sessions = append(doc.Sessions, m.fixture)
	}
	if len(groups) == 0 {
		return errors.New("no case: the model called no skill for any prompt of these sessions, and none was typed behind one; --negatives makes cases of prompts without a skill")
	}
	var b bytes.Buffer
	if err := mine.WriteSpec(&b, relativeTo(o.dir, folders), groups); err != nil {
		return err
	}
	if err := writeFile(file, b.Bytes()); err != nil {
		return err
	}
	return a.write(doc)
}

// relativeTo are paths as a file in a folder names them.
func relativeTo(dir string, paths []string) []string {
	var out []string
	for _, p := range paths {
		from, err1 := filepath.Abs(dir)
		to, err2 := filepath.Abs(p)
		if rel, err := filepath.Rel(from, to); err1 == nil && err2 == nil && err == nil && !filepath.IsAbs(p) {
			p = rel
		}
		out = append(out, filepath.ToSlash(p))
	}
	return out
}

// mine makes the cases of a session, and the fixture that they need. A fixture that does
// not show what the session shows is none.
func (in *given) mine(ctx context.Context, log *jsonl.Session, s *replay.Session, candidates *regress.Set, o *initOptions) (*mined, error) {
	out := &mined{fixture: report.TestFixture{Session: s.ID, File: log.Path}}
	found, err := in.finder.Find(s)
	if err != nil {
		return nil, err
	}
	r, _ := replay.RunCourses(s, &found.Inputs, comparison(found))
	settleResult(r, found)
	options := mine.Options{Negatives: o.negatives}
	cases := mine.From(r, options)
	if len(cases) == 0 {
		out.fixture.Skipped = "no case in it"
		return out, nil
	}
	var redact *mine.Redactor
	if o.redact {
		redact = mine.NewRedactor(s)
	}
	fixture, err := mine.Cut(r, cases, untilDone(ctx, jsonl.ReadFile(log.Path, jsonl.Options{})), redact)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", log.Path, err)
	}
	s, err = replay.Observe(replay.Source{Name: "fixture", Records: jsonl.Read("fixture", bytes.NewReader(fixture.Text), replay.Reading())})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", log.Path, err)
	}
	again, err := in.prepare(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", log.Path, err)
	}
	agreed, err := mine.Agree(r, again.Result, fixture, o.redact)
	if err != nil {
		out.fixture.Skipped = "a part of it would not show the same"
		out.note = fmt.Errorf("%s: left out, as a part of it would not show the same: %w", log.Path, err)
		return out, nil
	}
	agreed = mine.Settle(again, candidates, agreed)
	out.text, out.group.Cases = fixture.Text, agreed
	out.fixture.Records, out.fixture.Bytes, out.fixture.Cases = fixture.Records, int64(len(fixture.Text)), len(agreed)
	return out, nil
}

func (a *app) testExportCommand() *cobra.Command {
	var to, dir string
	cmd := &cobra.Command{
		Use:   "export [SPEC]",
		Short: "Write the prompts of a spec as cases of other tools",
		Long: `Export writes each case that says what is to be called, with its prompt, in the
form of another tool:

  promptfoo    one configuration, on standard output or to --output
  plugin-eval  a folder of cases for claude plugin eval, in --dir`,
		Example: `  skilltrace test export --to promptfoo --output promptfooconfig.yaml
  skilltrace test export --to plugin-eval --dir my-plugin`,
		Args: between(0, 1, "at most one spec"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runTestExport(cmd, args, to, dir) },
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "the tool: promptfoo, plugin-eval")
	f.StringVar(&dir, "dir", ".", "`DIR` of the plugin that plugin-eval's files are written to")
	f.StringVarP(&a.output, "output", "o", "", "write promptfoo's configuration to `FILE`")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no notes on stderr")
	completeWords(cmd, "to", []string{"promptfoo", "plugin-eval"})
	cmd.ValidArgsFunction = completeFiles("yaml", "yml")
	markFolders(cmd, "dir")
	return cmd
}

func (a *app) runTestExport(cmd *cobra.Command, args []string, to, dir string) error {
	if to != "promptfoo" && to != "plugin-eval" {
		return wrongValue(cmd, "to", to, "promptfoo or plugin-eval")
	}
	file := spec.DefaultName
	if len(args) > 0 {
		file = args[0]
	}
	a.jobs = 1
	s, err := a.loadSuite(file, &testOptions{k: 1, n: 1})
	if err != nil {
		return err
	}
	var prompts []mine.Prompt
	sessions := map[string]*regress.Session{}
	for i := range s.cases {
		c := &s.cases[i]
		if c.Expect.Triggers == nil {
			a.note("%s:%d: %s: left out, as it does not say what is to be called", file, c.Line, c.Name)
			continue
		}
		session, ok := sessions[c.Session]
		if !ok {
			if session, err = a.testSession(cmd.Context(), s, c.Session); err != nil {
				return err
			}
			sessions[c.Session] = session
		}
		p, err := session.Find(&c.At)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, c.Line, err)
		}
		prompts = append(prompts, mine.Prompt{Name: c.Name, Text: p.Text, Any: c.Expect.Triggers.Any, Review: c.Review})
	}
	if len(prompts) == 0 {
		return fmt.Errorf("%s: no case says what is to be called", file)
	}
	if to == "promptfoo" {
		var b bytes.Buffer
		if err := mine.WritePromptfoo(&b, prompts); err != nil {
			return err
		}
		if a.output != "" {
			return writeFile(a.output, b.Bytes())
		}
		_, err := a.stdout.Write(b.Bytes())
		return err
	}
	files, err := mine.PluginEval(prompts)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := writeFile(path, f.Text); err != nil {
			return err
		}
	}
	a.note("%d files written below %s", len(files), filepath.Join(dir, "evals"))
	return nil
}
