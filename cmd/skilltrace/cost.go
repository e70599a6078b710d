package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/cost"
	"github.com/skilltrace/skilltrace/replay/ledger"
	"github.com/skilltrace/skilltrace/report"
)

// costOptions are the options of the command cost.
type costOptions struct {
	by     []string
	top    int
	whatIf []string
}

func (a *app) costCommand() *cobra.Command {
	var o costOptions
	cmd := &cobra.Command{
		Use:   "cost [SESSION…]",
		Short: "What sessions cost, by layer, skill, project, day and more",
		Long: `Cost charges every recorded token to what put it into the prompt, and prices it as
it was billed: read from the cache, written to it, or plain input.

` + sessionArgs + `

With --since and --until the requests of that time count, also of sessions that
began before. A request that several logs hold counts once.

--by takes ` + listOf(cost.Bys) + `,
and several of them: --by project,layer. Rows by skill say how often it was listed
(with its description), called by the model and typed by the user, refused, loaded,
and put back after a compaction; what of it was avoidable; and what subagents spent
on its behalf, which is a part of the other rows.

--what-if says what the same sessions would have cost with other inputs, several
of them together:
  remove=SKILL                      the skill does not exist
  cut=N                             descriptions have at most N characters
  disable-model-invocation=A,B      these skills are not listed
  budget-fraction=F                 listings may take that part of the window
  model=NAME                        at the prices of another model`,
		Example: `  skilltrace cost --by skill
  skilltrace cost --by month,project --since 2026-10-01
  skilltrace cost 5274deb5 --format csv --output calls.csv
  skilltrace cost --project . --output cost.html`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runCost(cmd, args, &o) },
	}
	a.scopeFlags(cmd)
	f := cmd.Flags()
	f.Lookup("since").Usage = "only requests made at or after `TIME`: 2026-11-30 or 2026-11-30T15:04:05Z"
	f.Lookup("until").Usage = "only requests made before `TIME`; a day counts to its end"
	f.StringSliceVar(&o.by, "by", []string{string(cost.ByLayer)}, "what to sum `BY`, a comma list")
	f.IntVar(&o.top, "top", 0, "only the `N` rows that cost most, the others in one; 0 for all (default: all, of which a table shows 30 unless --verbose)")
	f.StringArrayVar(&o.whatIf, "what-if", nil, "what the same would have cost with another `INPUT` (may be repeated)")
	f.StringArrayVar(&a.inputs.skills, "skills", nil, "`DIR` of skills as the sessions saw them, whose descriptions --what-if needs where listings were cut (may be repeated)")
	a.pricesFlag(cmd)
	a.workFlags(cmd)
	a.openFlag(cmd)
	a.outputFlags(cmd, &report.CostDocument{})
	completeList(cmd, "by", words(cost.Bys))
	markFolders(cmd, "skills")
	a.completeFlag(cmd, "what-if", a.completeWhatIf)
	return cmd
}

// whatIfKeys are the inputs of --what-if.
var whatIfKeys = []string{"remove", "cut", "disable-model-invocation", "budget-fraction", "model"}

func listOf[T ~string](list []T) string { return strings.Join(words(list), ", ") }

func words[T ~string](list []T) []string {
	var out []string
	for _, word := range list {
		out = append(out, string(word))
	}
	return out
}

// pricesFlag adds the option of commands that price requests.
func (a *app) pricesFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.prices, "prices", "", "`FILE` of prices that are laid over those of the program: its own form, or LiteLLM's")
	a.completeFlag(cmd, "prices", completeFiles("json"))
}

// book is the prices that hold.
func (a *app) book() (*budget.Book, error) {
	book := budget.DefaultBook()
	if a.prices == "" {
		return &book, nil
	}
	f, err := os.Open(a.prices)
	if err != nil {
		return nil, fmt.Errorf("--prices %s: %w; give a JSON file of prices, in the form of this program or in that of LiteLLM", a.prices, plain(err))
	}
	defer f.Close()
	more, err := budget.ReadPrices(a.prices, f)
	if err != nil {
		return nil, fmt.Errorf("--prices %w", err)
	}
	book = book.With(more)
	return &book, nil
}

func (a *app) runCost(cmd *cobra.Command, args []string, o *costOptions) error {
	if o.top < 0 {
		return wrongValue(cmd, "top", strconv.Itoa(o.top), wantedNumbers["top"])
	}
	options, err := a.costSums(cmd, o)
	if err != nil {
		return err
	}
	if options.WhatIf != nil {
		// It sets layers beside each other, and nothing else.
		if cmd.Flags().Changed("by") && !slices.Equal(options.By, []cost.By{cost.ByLayer}) {
			return fmt.Errorf("--by %s: --what-if compares layers only; leave one of the two out", strings.Join(o.by, ","))
		}
		if options.Calls {
			return fmt.Errorf("--format %s: --what-if has no line for each request; give --format table or json", a.format)
		}
	}
	logs, err := a.find(args)
	if err != nil {
		return err
	}
	if options.WhatIf != nil {
		if err := a.whatIfInputs(options.WhatIf, options.Prices); err != nil {
			return err
		}
	}
	counter := cost.New(*options, len(logs))
	counters := []*cost.Counter{counter}
	if a.detailed() {
		for _, by := range pageSums {
			o := *options
			o.By, o.WhatIf, o.Calls = by, nil, false
			counters = append(counters, cost.New(o, len(logs)))
		}
	}
	places := make([]sessionAt, len(logs))
	types := make([]map[string]agentIs, len(logs))
	var mu sync.Mutex
	var skills []string                        // that --what-if can name
	held := make([]*replay.Session, len(logs)) // what cannot be read twice
	err = a.eachSession(cmd.Context(), logs, func(i int, s *replay.Session, _ *jsonl.Stats) error {
		for _, c := range counters {
			c.Add(i, s)
		}
		places[i] = sessionAt{s.ID, s.File, s.Start}
		if options.WhatIf != nil {
			names := namedIn(s).skills
			mu.Lock()
			skills = append(skills, names...)
			mu.Unlock()
		}
		if logs[i].Path == "-" {
			held[i] = s
		}
		if slices.Contains(options.By, cost.ByAgent) {
			types[i] = agentsOf(s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.readAgain(cmd.Context(), counter.Again(), logs, held, func(i int, s *replay.Session) {
		for _, c := range counters {
			c.Settle(i, s)
		}
	}); err != nil {
		return err
	}
	result := counter.Result()
	if w := result.WhatIf; w != nil && len(w.Missing) > 0 {
		hint := ""
		if near := nearest(w.Missing[0], sorted(skills)); near != "" {
			hint = "did you mean " + near + "? "
		}
		return fmt.Errorf("--what-if: no skill of these sessions is named %s; %sskilltrace cost --by skill lists them", strings.Join(w.Missing, ", "), hint)
	}
	in := costInput(result, options)
	if len(counters) > 1 {
		in.Days, in.Skills = costRows(counters[1].Result()), costRows(counters[2].Result())
		in.SessionRows = sessionRows(counters[3].Result(), places)
	}
	in.Top, in.AllRows = o.top, chosen(cmd, "top")
	agents := map[string]agentIs{}
	for _, list := range types {
		for id, is := range list {
			agents[id] = is
		}
	}
	for i := range in.Rows {
		is := agents[in.Rows[i].Agent]
		in.Rows[i].AgentType, in.Rows[i].OnBehalfOf = is.typ, is.behalf
	}
	if len(counters) > 1 || slices.ContainsFunc(options.By, func(by cost.By) bool { return by == cost.ByDay || by == cost.ByWeek || by == cost.ByMonth }) {
		in.Timezone = zoneName(options.Location, a.getenv)
	}
	return a.show(report.NewCost(in), "cost")
}

// pageSums are what a page sums by beside what was asked for: see [report.CostDocument].
var pageSums = [][]cost.By{{cost.ByDay, cost.ByLayer}, {cost.BySkill}, {cost.BySession}}

func costRows(r *cost.Result) []report.CostRow {
	rows := []report.CostRow{}
	for i := range r.Rows {
		rows = append(rows, costRow(&r.Rows[i]))
	}
	return rows
}

// sessionAt says where a session is.
type sessionAt struct {
	id, file string
	start    time.Time
}

// sessionRows are the sums of sessions, each with the first of its logs.
func sessionRows(r *cost.Result, places []sessionAt) []report.CostSession {
	var out []report.CostSession
	for i := range r.Rows {
		row := report.CostSession{CostRow: costRow(&r.Rows[i])}
		if at := slices.IndexFunc(places, func(p sessionAt) bool { return p.id == row.Session }); at >= 0 {
			row.File = places[at].file
			if t := places[at].start; !t.IsZero() {
				row.Start = new(t.UTC())
			}
		}
		out = append(out, row)
	}
	return out
}

// costSums are the options of the counter.
func (a *app) costSums(cmd *cobra.Command, o *costOptions) (*cost.Options, error) {
	options := &cost.Options{Calls: a.format == string(report.FormatCSV) || a.format == string(report.FormatNDJSON)}
	if len(o.whatIf) > 0 && origin(cmd.Flags().Lookup("by")) != "" {
		o.by = []string{string(cost.ByLayer)} // what else a file sets, --what-if cannot do
	}
	for _, name := range o.by {
		by := cost.By(strings.TrimSpace(name))
		if !slices.Contains(cost.Bys, by) {
			return nil, wrongValue(cmd, "by", name, "some of "+listOf(cost.Bys))
		}
		if !slices.Contains(options.By, by) {
			options.By = append(options.By, by)
		}
	}
	if len(options.By) == 0 {
		return nil, wrongValue(cmd, "by", "''", "some of "+listOf(cost.Bys))
	}
	var err error
	if len(o.whatIf) > 0 {
		if options.WhatIf, err = cost.ParseWhatIf(o.whatIf); err != nil {
			hint := ""
			for _, input := range o.whatIf {
				key, _, _ := strings.Cut(input, "=")
				if near := nearest(key, whatIfKeys); near != "" && near != key {
					hint = "did you mean " + near + "? "
				}
			}
			return nil, fmt.Errorf("--what-if %w; %ssee %s --help", err, hint, cmd.CommandPath())
		}
	}
	if options.Prices, err = a.book(); err != nil {
		return nil, err
	}
	if options.Location, err = a.location(); err != nil {
		return nil, err
	}
	if options.Since, err = a.moment("since", a.scope.since, false); err != nil {
		return nil, err
	}
	options.Until, err = a.moment("until", a.scope.until, true)
	return options, err
}

// agentIs says what an agent is.
type agentIs struct{ typ, behalf string }

func agentsOf(s *replay.Session) map[string]agentIs {
	out := map[string]agentIs{}
	for _, a := range s.Agents {
		if a.Type != "" || a.OnBehalfOf != "" {
			out[a.ID] = agentIs{a.Type, a.OnBehalfOf}
		}
	}
	return out
}

// zoneName is the name of a zone; of local time as far as the system tells it.
func zoneName(l *time.Location, getenv func(string) string) string {
	if l != time.Local {
		return l.String()
	}
	if name := getenv("TZ"); name != "" {
		return strings.TrimPrefix(name, ":")
	}
	if target, err := os.Readlink("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(target, "zoneinfo/"); ok {
			return name
		}
	}
	return "local"
}

// costInput is what a document is made of.
func costInput(r *cost.Result, o *cost.Options) report.CostInput {
	in := report.CostInput{CostDocument: report.CostDocument{
		Sessions: r.Sessions, Calls: r.Total.Calls, PricesAsOf: budget.PricesAsOf(), Usage: tokenSum(r.Total.Tokens), Layers: []report.CostRow{}, Rows: []report.CostRow{},
		Avoidable: costAvoidable(&r.Avoidable), Unpriced: []report.UnpricedCost{},
	}}
	for _, by := range o.By {
		in.By = append(in.By, string(by))
	}
	if !o.Since.IsZero() {
		in.Since = &o.Since
	}
	if !o.Until.IsZero() {
		in.Until = &o.Until
	}
	if r.Total.Priced {
		in.CostMicroUSD = new(r.Total.MicroUSD)
	}
	for i := range r.Layers {
		in.Layers = append(in.Layers, costRow(&r.Layers[i]))
	}
	for i := range r.Rows {
		in.Rows = append(in.Rows, costRow(&r.Rows[i]))
	}
	for _, u := range r.Unpriced {
		in.Unpriced = append(in.Unpriced, report.UnpricedCost{Model: u.Model, Calls: u.Calls, Tokens: u.Tokens})
	}
	n := &r.Notes
	in.Notes = report.CostNotes{Unfinished: n.Unfinished, WithoutUsage: n.WithoutUsage, Damaged: n.Damaged, Reanchored: n.Reanchored, UnknownLifetime: n.UnknownLifetime, ModelChanged: n.ModelChanged,
		Copies: n.Copies, OutOfTime: n.OutOfTime, Surcharged: n.Surcharged, SurchargeMicroUSD: n.Surcharge, Failed: n.Failed, Retried: n.Retried}
	if c := r.Client; c != nil {
		in.Client = &report.CostClient{Sessions: c.Sessions, CostMicroUSD: c.MicroUSD, OursMicroUSD: c.Ours, Compactions: c.Compactions, Differences: []report.CostDifference{}}
		for _, d := range c.Differences {
			in.Client.Differences = append(in.Client.Differences, report.CostDifference{Reason: string(d.Reason), Calls: d.Requests, Input: d.Counts.Input,
				CacheWrite: d.Counts.CacheWrite, CacheRead: d.Counts.CacheRead, Output: d.Counts.Output, CostMicroUSD: d.MicroUSD})
		}
	}
	if w := r.WhatIf; w != nil {
		in.WhatIf = &report.CostWhatIf{Inputs: w.Inputs, Layers: []report.CostChange{}, CostChange: costChange(&w.Total), Assumptions: assumptions(o.WhatIf, w)}
		in.WhatIf.Layer = ""
		for i := range w.Layers {
			in.WhatIf.Layers = append(in.WhatIf.Layers, costChange(&w.Layers[i]))
		}
	}
	for i := range r.Lines {
		in.Lines = append(in.Lines, costLine(&r.Lines[i]))
	}
	return in
}

func tokenSum(t ledger.Tokens) report.TokenSum {
	return report.TokenSum{Input: t.Input, CacheRead: t.CacheRead, CacheWrite5m: t.CacheWrite5m, CacheWrite1h: t.CacheWrite1h, Output: t.Output}
}

func costRow(r *cost.Row) report.CostRow {
	out := report.CostRow{
		CostKey: report.CostKey{Layer: string(r.Layer), Part: string(r.Part), Skill: r.Skill, Session: r.Session, Project: r.Project, Model: r.Model, Version: r.Version,
			Day: r.Day, Week: r.Week, Month: r.Month, Agent: r.Agent},
		Sessions: r.Sessions, Calls: r.Calls, Once: r.Once, Carried: r.Carried(), Tokens: tokenSum(r.Tokens), UnpricedTokens: r.Unpriced, Basis: string(r.Basis),
	}
	if r.Priced {
		out.CostMicroUSD = new(r.MicroUSD)
	}
	if f := r.Figures; f != nil {
		out.Use = &report.SkillCost{Listed: f.Listed, Described: f.Described, ByModel: f.ByModel, ByUser: f.ByUser, Refused: f.Refused, Rejected: f.Rejected,
			AfterCompaction: f.AfterCompaction, Bodies: f.Loads.Count, BodyChars: f.Loads.Chars, Repeats: f.Repeated.Count, RepeatChars: f.Repeated.Chars,
			Notes: f.Notes, Reattachments: f.Reattached.Count, ReattachedChars: f.Reattached.Chars, Avoidable: costAvoidable(&f.Avoidable), OnBehalf: costAmount(f.OnBehalf)}
	}
	return out
}

func costAvoidable(a *cost.Avoidable) *report.CostAvoidable {
	return &report.CostAvoidable{Repeated: costAmount(a.Repeated), Duplicate: costAmount(a.Duplicate), Uncalled: costAmount(a.Uncalled)}
}

func costAmount(m cost.Money) *report.CostAmount {
	return &report.CostAmount{Tokens: m.Tokens, CostMicroUSD: m.MicroUSD}
}

func costLine(l *cost.Line) report.CostLine {
	out := report.CostLine{Session: l.Session, Agent: l.Agent, OnBehalfOf: l.OnBehalfOf, Project: l.Project, Model: l.Model, Version: l.Version, Message: l.Message,
		Request: l.Request, File: l.File, Line: l.Line, Layer: string(l.Layer), Part: string(l.Part), Skill: l.Skill, Once: l.Once, Carried: l.Carried(), Tokens: tokenSum(l.Tokens),
		Basis: string(l.Basis), Final: l.Final}
	if !l.Time.IsZero() {
		out.Time = new(l.Time.UTC())
	}
	if l.Priced {
		out.USD = l.Cost.String()
	}
	return out
}

func costChange(l *cost.ChangedLayer) report.CostChange {
	out := report.CostChange{Layer: string(l.Layer), Now: tokenSum(l.Now), Then: tokenSum(l.Then)}
	if l.PricedNow {
		out.NowMicroUSD = new(l.NowMicroUSD)
	}
	if l.PricedThen {
		out.ThenMicroUSD = new(l.ThenMicroUSD)
	}
	return out
}
