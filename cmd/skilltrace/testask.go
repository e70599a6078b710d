package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/live"
	"github.com/skilltrace/skilltrace/replay/regress/program"
	"github.com/skilltrace/skilltrace/replay/regress/request"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/report"
)

// askOptions are the options of the scorers that ask somebody.
type askOptions struct {
	runs    int
	rate    float64
	model   string
	command string
	yes     bool
	maxCost string
	cache   string
	noCache bool
}

func (a *app) askFlags(cmd *cobra.Command, o *askOptions) {
	f := cmd.Flags()
	f.IntVar(&o.runs, "runs", 0, "live: ask `N` times for each case (default: as the spec says, else 10)")
	f.Float64Var(&o.rate, "rate", 0, "live: the least part of the replies that does what is expected (default: as the spec says, else 0.8)")
	f.StringVar(&o.model, "model", "", "live: ask this model (default: as the spec says, else the log's)")
	f.BoolVar(&o.yes, "yes", false, "live: ask the model without asking you first")
	f.StringVar(&o.maxCost, "max-cost-usd", "", "live: ask nothing that is estimated to cost more, and stop at `USD`")
	f.StringVar(&o.cache, "cache-dir", "", "live: `DIR` of replies that were asked for before (default: in the user's cache folder)")
	f.BoolVar(&o.noCache, "no-cache", false, "live: ask for all replies anew, and keep none")
	f.StringVar(&o.command, "command", "", "command: the program with its arguments (default: as the spec says)")
	a.pricesFlag(cmd)
}

// pending is a question with the result that waits for its answer.
type pending struct {
	*regress.Question
	c      *spec.Case
	result *regress.Result
}

// ask answers the questions of all cases. What it took to ask a model is the first
// result, nil if none was asked.
func (a *app) ask(ctx context.Context, s *suite, list []pending, o *testOptions) (*report.TestSpending, error) {
	var toModel, toProgram []pending
	for _, p := range list {
		if p.Scorer == spec.ScoreLive {
			toModel = append(toModel, p)
		} else {
			toProgram = append(toProgram, p)
		}
	}
	if len(toProgram) > 0 {
		if err := a.askProgram(ctx, s, toProgram, o); err != nil {
			return nil, err
		}
	}
	if len(toModel) == 0 {
		return nil, nil
	}
	return a.askModel(ctx, s, toModel, o)
}

// askProgram asks the program of a spec about each case, and about the baseline where
// that listed otherwise.
func (a *app) askProgram(ctx context.Context, s *suite, list []pending, o *testOptions) error {
	args := s.Command
	if o.command != "" {
		var err error
		if args, err = spec.Words(o.command); err != nil {
			return fmt.Errorf("--command %s: %w", o.command, err)
		}
	}
	if len(args) == 0 {
		return fmt.Errorf("%s: the scorer command needs a program: write command: PROGRAM, or give --command", s.File)
	}
	prog := &program.Program{Args: args, Dir: filepath.Dir(s.File)}
	done := make(chan struct{}, len(list))
	return parallel(ctx, a.jobs, len(list), func(i int) {
		p := list[i]
		defer func() {
			done <- struct{}{}
			a.progress.update("answers", len(done), len(list))
		}()
		judge := func(st *regress.State) (regress.Verdict, string, *regress.AskedDetail) {
			called, err := prog.Ask(ctx, s.programCase(p, st))
			d := &regress.AskedDetail{Expected: expected(p.Triggers), Runs: 1}
			if err != nil {
				d.Errors, d.Failures = 1, []string{err.Error()}
				return regress.Errored, err.Error(), d
			}
			d.Chosen = []regress.Chosen{{Skill: strings.Join(called, ", "), Count: 1}}
			hit := p.Triggers.Met(called)
			if hit {
				d.Hits, d.First = 1, 1
			}
			rate := live.Rate{Hits: d.Hits, Of: 1}
			d.Rate, d.Low, d.High = rate.Value(), rate.Interval().Low, rate.Interval().High
			if hit {
				return regress.Passed, "", d
			}
			chose := "no skill"
			if len(called) > 0 {
				chose = strings.Join(called, ", ")
			}
			return regress.Failed, fmt.Sprintf("the program chose %s, not %s", chose, d.Expected), d
		}
		verdict, reason, detail := judge(p.Both.After)
		before := verdict
		if !p.Both.Alike() {
			before, _, detail.Before = judge(p.Both.Before)
			d := answered(detail).Minus(answered(detail.Before))
			detail.Difference, detail.DifferenceLow, detail.DifferenceHigh = d.Value, d.Low, d.High
		}
		p.result.Answer(verdict, before, reason, detail)
	})
}

// answered is the rate of the answers that came.
func answered(d *regress.AskedDetail) live.Rate {
	return live.Rate{Hits: d.Hits, Of: d.Runs - d.Errors}
}

// programCase is a case as a program is told of it.
func (s *suite) programCase(p pending, st *regress.State) program.Case {
	c := program.Case{Name: p.c.Name, Prompt: p.Point.Text, Skills: []program.Skill{}, Candidates: p.Both.Candidates(), Session: p.Point.Session(), Model: p.Point.Model()}
	for i := range st.Entries {
		if e := &st.Entries[i]; e.Shown != replay.ShownAbsent {
			c.Skills = append(c.Skills, program.Skill{Name: e.Name, Description: e.Description})
		}
	}
	return c
}

// expected says what is to be called.
func expected(t *spec.Triggers) string {
	if len(t.Any) == 0 {
		return "no skill"
	}
	return strings.Join(t.Any, " or ")
}

// askModel asks a model what it would do at each prompt, with the candidates' listing and
// with the baseline's.
func (a *app) askModel(ctx context.Context, s *suite, list []pending, o *testOptions) (*report.TestSpending, error) {
	runs, rate := s.Runs, s.Rate
	if o.runs > 0 {
		runs = o.runs
	}
	if o.rate > 0 {
		rate = o.rate
	}
	options := live.Options{Access: live.AccessFrom(a.getenv), Samples: runs, Prices: *s.in.prices, At: time.Now(), Cache: o.cache}
	switch {
	case o.noCache:
		options.Cache = ""
	case o.cache == "":
		options.Cache = a.cacheDir("live")
	}
	if o.maxCost != "" {
		limit, err := budget.ParseAmount(o.maxCost)
		if err != nil {
			return nil, fmt.Errorf("--max-cost-usd %s: want a number of dollars, such as 0.50", o.maxCost)
		}
		options.MaxCost = &limit
	}
	options.Progress = func(done, total int) { a.progress.update("replies", done, total) }
	asker, err := live.New(options)
	if err != nil {
		return nil, err
	}
	questions, err := a.questions(ctx, s, list, o)
	if err != nil {
		return nil, err
	}
	plan := asker.Plan(questions)
	if err := a.agree(&plan, options.MaxCost, o.yes); err != nil {
		return nil, err
	}
	run, err := asker.Ask(ctx, questions)
	if err != nil {
		return nil, err
	}
	a.progress.clear()
	if run.Unsaved != nil {
		a.note("replies could not be kept: %v", run.Unsaved)
	}
	if run.Stopped != "" {
		a.note("asking stopped: %s", run.Stopped)
	}
	rule := live.Rule{Threshold: rate}
	for i, p := range list {
		now, before := &run.Results[2*i], &run.Results[2*i+1]
		verdict, reason := now.Judge(rule)
		baseline, _ := before.Judge(rule)
		detail := askedDetail(p.Triggers, now)
		if !p.Both.Alike() { // else one and the same request was asked
			detail.Before = askedDetail(p.Triggers, before)
			d := now.Rate.Minus(before.Rate)
			detail.Difference, detail.DifferenceLow, detail.DifferenceHigh = d.Value, d.Low, d.High
		}
		p.result.Answer(regress.Verdict(verdict), regress.Verdict(baseline), reason, detail)
		p.result.Assumed = append(p.result.Assumed, questions[2*i].Request.Assumed...)
	}
	spent := &report.TestSpending{Calls: run.Asked, Cached: run.Cached, CostMicroUSD: new(run.Spent.Micro())}
	for i := range run.Results {
		for _, sample := range run.Results[i].Samples {
			if !sample.Cached && sample.Err == "" {
				u := &sample.Usage
				spent.Tokens += u.Input + u.CacheRead + u.CacheWrite5m + u.CacheWrite1h + u.Output
			}
		}
	}
	spent.Cost = report.FormatUSD(*spent.CostMicroUSD)
	return spent, nil
}

// askedDetail is what a model did with a question.
func askedDetail(t *spec.Triggers, r *live.Result) *regress.AskedDetail {
	d := &regress.AskedDetail{Expected: expected(t), Runs: len(r.Samples), Errors: r.Errored, Hits: r.Rate.Hits, Rate: r.Rate.Value(), First: r.First, Late: r.Late}
	interval := r.Rate.Interval()
	d.Low, d.High = interval.Low, interval.High
	for _, c := range r.Chosen {
		d.Chosen = append(d.Chosen, regress.Chosen{Skill: c.Skill, Count: c.Replies})
	}
	if r.None > 0 {
		d.Chosen = append(d.Chosen, regress.Chosen{Count: r.None})
	}
	for _, why := range r.Why {
		if why != "" && !slices.Contains(d.Failures, why) {
			d.Failures = append(d.Failures, why)
		}
	}
	return d
}

// questions are the requests of all cases, each with the candidates' listing and with the
// baseline's.
func (a *app) questions(ctx context.Context, s *suite, list []pending, o *testOptions) ([]live.Question, error) {
	out := make([]live.Question, 0, 2*len(list))
	logs := map[string]*request.Log{}
	for _, p := range list {
		log, ok := logs[p.c.Session]
		if !ok {
			var err error
			if log, err = openRequests(ctx, a, s, p.c.Session); err != nil {
				return nil, err
			}
			logs[p.c.Session] = log
		}
		for _, st := range []*regress.State{p.Both.After, p.Both.Before} {
			r, err := log.At(p.Point.Agent().ID, p.Point.Seen().Where)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", s.File, p.c.Line, err)
			}
			lost := 0
			for i := range st.Sheets {
				sheet := &st.Sheets[i]
				switch {
				case sheet.Old == "":
					r.AddListing(sheet.Text)
				case sheet.Old != sheet.Text && r.ReplaceListing(sheet.Old, sheet.Text) == 0:
					lost++
				}
			}
			if lost > 0 {
				r.Assumed = append(r.Assumed, fmt.Sprintf("%d listings of the log were not found in the request; the candidates' stand beside them", lost))
				for i := range st.Sheets {
					r.AddListing(st.Sheets[i].Text)
				}
			}
			if model := cmp.Or(o.model, s.Model); model != "" && model != r.Model {
				r.Model = model
				if r.Plain() {
					r.Assumed = append(r.Assumed, "what the client told the log's model in messages of the role system stands in the user's, as for other models")
				}
			}
			out = append(out, live.Question{ID: p.c.Name, Request: *r, Expect: live.Expect{Any: p.Triggers.Any}})
		}
	}
	return out, nil
}

// openRequests reads a session once more, for what its requests were made of.
func openRequests(ctx context.Context, a *app, s *suite, name string) (*request.Log, error) {
	log, err := a.testLog(s, name)
	if err != nil {
		return nil, err
	}
	source := func(path, agent, typ string) replay.Source {
		return replay.Source{Name: path, Agent: agent, Type: typ, Records: untilDone(ctx, jsonl.ReadFile(path, request.Reading()))}
	}
	var subs []replay.Source
	for _, g := range log.Agents {
		subs = append(subs, source(g.Path, g.ID, g.Type))
	}
	return request.Open(source(log.Path, "", ""), subs...)
}

// agree tells what asking will take, and asks whether to go on.
func (a *app) agree(plan *live.Plan, limit *budget.Amount, yes bool) error {
	a.progress.clear()
	text := fmt.Sprintf("live: %d calls to make, %d replies are there already; about %d tokens in, at most %d out", plan.Calls, plan.Cached, plan.Input, plan.Output)
	if len(plan.Unpriced) == 0 {
		text += ", at most " + report.FormatUSD(plan.Cost.Micro())
	} else {
		text += "; no price is known for " + strings.Join(plan.Unpriced, ", ")
	}
	fmt.Fprintln(a.stderr, safe(text))
	for _, n := range plan.Notes {
		a.note("%s", n)
	}
	for _, f := range plan.Faults {
		a.note("%s: cannot be asked: %s", f.ID, f.Why)
	}
	if limit != nil {
		if err := plan.Within(*limit); err != nil {
			return fmt.Errorf("--max-cost-usd: %w", err)
		}
	}
	if yes || plan.Calls == 0 {
		return nil
	}
	if !isTerminal(a.stderr) || !stdinIsTerminal() {
		return errors.New("live: nobody is there to agree; --yes asks the model")
	}
	fmt.Fprint(a.stderr, "Go on? [y/N] ")
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, 100)).ReadString('\n')
	if err != nil && line == "" {
		return errors.New("live: not asked")
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return errors.New("live: not asked")
	}
	return nil
}

// stdinIsTerminal reports whether somebody can answer.
func stdinIsTerminal() bool {
	info, err := os.Stdin.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// cacheDir is a folder of the program in the user's cache, "" if there is none.
func (a *app) cacheDir(name string) string {
	dir := a.getenv("XDG_CACHE_HOME")
	if dir == "" && a.home() != "" {
		dir = filepath.Join(a.home(), ".cache")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "skilltrace", name)
}
