package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/why"
	"github.com/skilltrace/skilltrace/report"
)

// whyOptions are the options of why.
type whyOptions struct {
	prompt string // a number, the beginning of a uuid, or a part of the text
	all    bool
	redact bool
}

func (a *app) whyCommand() *cobra.Command {
	var o whyOptions
	cmd := &cobra.Command{
		Use:   "why SKILL [SESSION…]",
		Short: "Why a skill was not used for a prompt, or why it was",
		Long: `Why walks the chain from a skill's file to the use of its text, for each prompt,
and names the first gate that failed, with its evidence and what to do:

  exists     a file, or a line of the log, names the skill
  loaded     the client reads the file and its front matter
  eligible   nothing keeps it from the model
  announced  a listing told this agent of it
  described  with its whole description
  present    the listing still stands in the conversation
  asked      what the prompt said: facts, never a judgement
  called     by the model or by the user
  delivered  its text came
  in_force   and stands in the conversation

` + sessionArgs + `

With --all there is a line for each skill, the worst first.`,
		Example: `  skilltrace why deploy latest
  skilltrace why deploy 5274deb5 --prompt 3
  skilltrace why deploy 5274deb5 --prompt "run the pending"
  skilltrace why deploy --project . --since 2026-11-01
  skilltrace why --all --project .
  skilltrace why deploy latest --format markdown --redact`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runWhy(cmd, args, &o) },
	}
	a.scopeFlags(cmd)
	a.inputFlags(cmd)
	a.completeArgs(cmd, a.completeSkill)
	f := cmd.Flags()
	f.StringVar(&o.prompt, "prompt", "", "only the prompt of this `N|UUID|TEXT`: its number, the beginning of its uuid or a part of its text")
	f.BoolVar(&o.all, "all", false, "a line for each skill in scope, the worst first")
	f.BoolVar(&o.redact, "redact", false, "leave out home directories and the texts of prompts, to share the answer")
	a.workFlags(cmd)
	a.outputFlags(cmd, &report.WhyDocument{})
	return cmd
}

// asked is what one session answers.
type asked struct {
	result    *replay.Result // until it was asked
	own       bool           // the log lies in a configuration folder in scope
	session   report.WhySession
	start     time.Time
	end       time.Time
	subject   why.Subject
	tally     why.Tally
	questions []report.WhyQuestion // of one skill
	problems  []string
	version   error
	prompts   int // before any was chosen
}

func (a *app) runWhy(cmd *cobra.Command, args []string, o *whyOptions) error {
	skill := ""
	switch {
	case o.all && o.prompt != "":
		return fmt.Errorf("--all --prompt %s: want one of the two; see %s --help", o.prompt, cmd.CommandPath())
	case !o.all && (len(args) == 0 || strings.TrimSpace(strings.TrimLeft(args[0], "/")) == ""):
		return fmt.Errorf("%s: want the name of a skill, or --all; see %s --help", cmd.CommandPath(), cmd.CommandPath())
	case !o.all && (args[0] == "latest" || args[0] == "-" || strings.HasSuffix(args[0], ".jsonl") || strings.HasSuffix(args[0], ".jsonl.gz")):
		return fmt.Errorf("%s is a session: want the name of a skill before it, as in %s SKILL %s; --all asks for all", args[0], cmd.CommandPath(), args[0])
	case !o.all:
		skill, args = args[0], args[1:]
	}
	in, err := a.loadInputs()
	if err != nil {
		return err
	}
	logs, err := a.find(args)
	if err != nil {
		return err
	}
	results := make([]*asked, len(logs))
	var census *why.Census // of all skills
	if o.all {
		census = &why.Census{}
	}
	err = a.eachSession(cmd.Context(), logs, func(i int, s *replay.Session, _ *jsonl.Stats) error {
		session, r, err := in.ask(s)
		if err != nil {
			return err
		}
		results[i] = r
		if o.all {
			r.survey(session)
			census.Add(i, session)
			return nil
		}
		r.ask(session, skill, o)
		return nil
	})
	if err != nil {
		return err
	}
	answers := present(results)
	slices.SortStableFunc(answers, func(x, y asked) int {
		return cmp.Or(x.start.Compare(y.start), strings.Compare(x.session.File, y.session.File))
	})
	told := map[string]bool{}
	for i := range answers {
		if answers[i].version != nil {
			a.unusable(answers[i].version)
		}
		for _, p := range answers[i].problems {
			if !told[p] {
				told[p] = true
				a.note("%s", p)
			}
		}
	}
	doc, err := a.whyDocument(answers, census, o)
	if err != nil {
		return err
	}
	if o.redact {
		doc.Redact(a.home())
	}
	return a.write(doc)
}

// ask replays one session and makes it ready for questions.
func (in *given) ask(s *replay.Session) (*why.Session, *asked, error) {
	found, err := in.finder.Find(s)
	if err != nil {
		return nil, nil, err
	}
	r, courses := replay.RunCourses(s, &found.Inputs, comparison(found))
	settleResult(r, found)
	return why.Prepare(r, courses, filesOf(found)), &asked{result: r, own: found.Own, start: s.Start, end: s.End, problems: found.Problems, version: in.badVersion(s, found)}, nil
}

// survey counts what does not depend on a skill.
func (r *asked) survey(session *why.Session) {
	r.prompts = session.Prompts()
	r.tally = why.Tally{Sessions: 1, Prompts: r.prompts, First: r.start, Last: r.end}
	r.session = report.NewWhySession(r.result, r.own, r.tally, nil)
	r.result = nil
}

// ask asks for one skill.
func (r *asked) ask(session *why.Session, skill string, o *whyOptions) {
	answer := session.Ask(skill)
	r.subject, r.tally = answer.Subject, session.Tally(answer)
	r.prompts = len(answer.Questions)
	r.session = report.NewWhySession(r.result, r.own, r.tally, answer.Worst(&r.tally))
	r.session.Choose(answer.Chosen())
	for i := range answer.Questions {
		q := &answer.Questions[i]
		if !o.chooses(q) {
			continue
		}
		session.Explain(&answer.Subject, q)
		r.questions = append(r.questions, report.NewWhyQuestion(r.session.ID, r.session.File, q))
	}
	r.result = nil
}

// filesOf is what is known of the skill files, by path.
func filesOf(found *local.Found) map[string]why.File {
	files := map[string]why.File{}
	for path, d := range found.Dates {
		// What only looks like a skill is known by its date alone.
		f := why.File{Text: why.FileUnknown, Late: d == local.DatedDuring || d == local.DatedAfter, After: d == local.DatedAfter}
		if d == local.DatedBefore || d == local.Committed || d == local.Given {
			f.Text = why.FileSame
		}
		files[path] = f
	}
	// What was given as the session saw it is believed, unless the log shows another text.
	believed := func(path string, state local.FileState) why.FileState {
		if state == local.FileUnknown && found.Dates[path] == local.Given {
			return why.FileSame
		}
		return why.FileState(state)
	}
	for i := range found.Skills {
		k := &found.Skills[i]
		f := files[k.Path]
		f.Text, f.Described = believed(k.Path, found.TextOf(k)), believed(k.Path, found.DescriptionOf(k))
		if found.LeftOut[k.Path] {
			f.Hidden = k.Name
		}
		files[k.Path] = f
	}
	return files
}

// chooses reports whether a question is the one asked for.
func (o *whyOptions) chooses(q *why.Question) bool {
	if o.prompt == "" {
		return true
	}
	if n, err := strconv.Atoi(o.prompt); err == nil && n > 0 {
		return q.Prompt == n && q.Agent == "main"
	}
	const least = 6 // letters of a uuid
	if len(o.prompt) >= least && strings.HasPrefix(q.Where.UUID, strings.ToLower(o.prompt)) {
		return true
	}
	return strings.Contains(strings.ToLower(q.Text), strings.ToLower(o.prompt))
}

// whyDocument puts the answers of sessions together.
func (a *app) whyDocument(answers []asked, census *why.Census, o *whyOptions) (*report.WhyDocument, error) {
	var (
		sessions  []report.WhySession
		questions []report.WhyQuestion
		total     why.Tally
		subject   why.Subject
		prompts   int
	)
	days := map[string]bool{}
	for i := range answers {
		r := &answers[i]
		total.Add(r.tally)
		prompts += r.prompts
		sessions = append(sessions, r.session)
		questions = append(questions, r.questions...)
		if i == 0 || r.subject.Known && !subject.Known {
			subject = r.subject
		}
		a.addDays(days, r.start, r.end)
	}
	if !subject.Known {
		for i := range answers {
			for _, n := range answers[i].subject.Near {
				if !slices.Contains(subject.Near, n) {
					subject.Near = append(subject.Near, n)
				}
			}
		}
	}
	if o.all {
		return report.NewWhyAll(census.Skills(), census.Unknown(), sessions, total, len(days)), nil
	}
	if o.prompt != "" && len(questions) == 0 {
		return nil, fmt.Errorf("--prompt %s: none of %d prompts fits; want a number, the beginning of a uuid or a part of the text; skilltrace timeline --kind prompt lists them", o.prompt, prompts)
	}
	return report.NewWhy(subject, sessions, questions, total, len(days)), nil
}

// addDays adds the days of a session.
func (a *app) addDays(days map[string]bool, start, end time.Time) {
	if start.IsZero() {
		return
	}
	location, err := a.location()
	if err != nil {
		location = time.UTC // checked in prepare
	}
	const most = 3660 // days of one session
	for d, n := start.In(location), 0; n < most; d, n = d.AddDate(0, 0, 1), n+1 {
		days[d.Format(time.DateOnly)] = true
		if d.Format(time.DateOnly) >= end.In(location).Format(time.DateOnly) {
			return
		}
	}
}
