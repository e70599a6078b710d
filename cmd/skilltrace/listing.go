package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/listing"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/report"
	"github.com/skilltrace/skilltrace/skills"
)

// now is the moment at which a client would start: uses weigh less with time. Tests set it.
var now = time.Now

// listingOptions are the options of the command listing.
type listingOptions struct {
	project string
	session string
	model   string
	against string
	fit     bool
	sweep   bool
	text    bool
}

func (a *app) listingCommand() *cobra.Command {
	var o listingOptions
	cmd := &cobra.Command{
		Use:   "listing",
		Short: "What the model would see of skills now, and what is cut",
		Long: `Listing shows what a client that is started now would tell the model of skills:
each entry's form (full, shortened, name only, absent), what it costs and what of
it was cut. No session is needed.

Without --skills these are the skills that the client finds on this machine, for
the project in the current folder; with --skills those of the folders given, and
no others. The client's own entries count in the budget and stand in no file:
--session takes them from the first whole listing of a log.

--fit says the fewest characters to cut for all descriptions to be shown whole, and
where. --sweep shows what each past version of the client would have lost.
--against sets the listing beside that of a git revision, or of another folder.

Exit status 0, whatever is cut; 2 for wrong use or unusable input.`,
		Example: `  skilltrace listing
  skilltrace listing --skills .claude/skills --model claude-sonnet-4-5 --fit
  skilltrace listing --skills .claude/skills --against main --format markdown
  skilltrace listing --sweep
  skilltrace listing --text`,
		Args: between(0, 0, "no arguments; --skills DIR names a folder of skills"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runListing(cmd, &o) },
	}
	f := cmd.Flags()
	in := &a.inputs
	f.StringArrayVar(&in.skills, "skills", nil, "`DIR` of skills, or of a plugin, beside which there are no others (may be repeated; default: all that the client finds here)")
	f.StringVar(&o.project, "project", ".", "folder `DIR` in which the client is started")
	f.StringSliceVar(&a.scope.configDirs, "config-dir", nil, "configuration folder of the client (default: $CLAUDE_CONFIG_DIR, else ~/.claude)")
	f.StringVar(&o.session, "session", "", "take the client's own entries, its version and the model from the log of this `SESSION`: a path, an id or latest")
	f.StringVar(&in.client, "client", "", "client, `NAME@VERSION`, or article, mini-cc or agent-sdk (default: that of --session, else the newest one recorded)")
	f.StringVar(&o.model, "model", "", "`NAME` of the model, or an alias of it, on which the budget depends (default: that of --session, else sonnet)")
	f.Int64Var(&in.window, "window", 0, "context window of `N` tokens (default: as the client assumes for the model)")
	f.StringVar(&in.settings, "settings", "", "settings `FILE`; ranks above all but the administrator's")
	f.StringVar(&in.managed, "managed-dir", "", "administrator's `DIR`, whose settings and skills rank above all (default: that of the system)")
	f.StringVar(&in.usage, "usage", "", "`FILE` with the client's usage counts, by which skills rank (default: .claude.json of now)")
	f.StringVar(&in.rules, "rules", "", "`FILE` of rule changes that are laid over the built-in rules")
	f.StringVar(&o.against, "against", "", "set the listing beside that of `REV`, a git revision, or of another folder of skills")
	f.BoolVar(&o.fit, "fit", false, "say the fewest characters to cut for all descriptions to be shown whole, and where")
	f.BoolVar(&o.sweep, "sweep", false, "show what each past version of the client would have shown of the same skills")
	f.BoolVar(&o.text, "text", false, "write the listing as the model is sent it, and nothing else")
	markFolders(cmd, "skills", "project", "config-dir", "managed-dir", "against")
	a.completeFlag(cmd, "session", a.completeSession)
	a.completeFlag(cmd, "client", completeClient)
	a.completeFlag(cmd, "model", completeModel)
	a.completeFlag(cmd, "settings", completeFiles("json"))
	a.completeFlag(cmd, "rules", completeFiles("yaml", "yml"))
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	a.outputFlags(cmd, &report.ListingDocument{})
	return cmd
}

func (a *app) runListing(cmd *cobra.Command, o *listingOptions) error {
	if o.text && (o.fit || o.sweep || o.against != "" || cmd.Flags().Changed("format")) {
		return fmt.Errorf("--text writes the listing and nothing else; leave out the other options of the output; see %s --help", cmd.CommandPath())
	}
	if info, err := os.Stat(o.project); err != nil || !info.IsDir() {
		return fmt.Errorf("--project %s: no such folder; give the folder in which the client is started", o.project)
	}
	a.inputs.skillsAt = local.AtNow
	in, err := a.loadInputs()
	if err != nil {
		return err
	}
	project, err := filepath.Abs(o.project)
	if err != nil {
		return err
	}
	l := &listingOf{app: a, in: in, o: o, doc: &report.ListingDocument{Project: filepath.ToSlash(project)}}
	if err := l.defaults(cmd.Context()); err != nil {
		return err
	}
	if err := l.make(); err != nil {
		return err
	}
	if o.text {
		return a.writeListingText(l.doc)
	}
	if err := l.parts(); err != nil {
		return err
	}
	l.doc.Again = l.again()
	l.doc.Settle()
	return a.write(l.doc)
}

// listingOf is a listing on its way into a document.
type listingOf struct {
	app     *app
	in      *given
	o       *listingOptions
	doc     *report.ListingDocument
	version string
	model   string
	own     []skills.Given // nil if they are not known
	starts  *replay.Starts
	now     *listing.Listing
}

func (l *listingOf) assume(format string, args ...any) {
	l.doc.Assumptions = append(l.doc.Assumptions, fmt.Sprintf(format, args...))
}

// defaults settles the version, the model and the client's own entries.
func (l *listingOf) defaults(ctx context.Context) error {
	t := l.in.table
	l.version, l.model = l.in.version, l.o.model
	l.doc.Assumptions = []string{}
	if t.Described != nil {
		l.doc.Described = t.Described.Source
		l.assume("%s is judged as described, it was never recorded: %s", t.Client, t.Described.Source)
	}
	if l.o.session != "" {
		if err := l.fromSession(ctx); err != nil {
			return fmt.Errorf("--session %w", err)
		}
	}
	if l.version == "" && t.Described == nil {
		l.version = t.Latest
		l.assume("the client is the newest one recorded, %s@%s; --client NAME@VERSION gives another", t.Client, t.Latest)
	}
	r, err := t.At(l.version)
	if err != nil {
		return err
	}
	if !r.Exact {
		l.assume("client %s is %s", r.Version, r.Why)
	}
	l.chooseModel(&r)
	l.doc.Client, l.doc.RulesExact, l.doc.Model = t.Client, r.Exact, l.model
	if l.version != "" {
		l.doc.Client += "@" + r.Version
	}
	return nil
}

// chooseModel settles the model's name.
func (l *listingOf) chooseModel(r *rules.Rules) {
	if l.model != "" {
		l.model = r.Models.Resolve(l.model)
		return
	}
	const usual, before = "sonnet", "claude-sonnet-4-5" // where no version was recorded that knows the alias
	if l.model = r.Models.Resolve(usual); l.model == usual {
		l.model = before
		l.assume("the model is %s; --model NAME gives another", before)
		return
	}
	l.assume("the model is %s, which this client calls %s; --model NAME gives another", l.model, usual)
}

// fromSession takes from a log what it shows of its client.
func (l *listingOf) fromSession(ctx context.Context) error {
	name := l.o.session
	logs, err := l.app.find([]string{name})
	if err != nil {
		return err
	}
	if len(logs) > 1 {
		return fmt.Errorf("%s: %d sessions; name one", name, len(logs))
	}
	s, _, err := l.app.observe(ctx, &logs[0])
	if err == nil {
		err = notALog(s, logs[0].Path)
	}
	if err != nil {
		return err
	}
	t := l.in.table
	finder := local.NewFinder(local.Options{Home: l.app.home(), ConfigDirs: l.app.configFolders(), Table: t, Version: l.in.version, Getenv: l.app.getenv})
	found, err := finder.Find(s)
	if err != nil {
		return err
	}
	yields := map[string]bool{}
	for i := range found.Skills {
		yields[found.Skills[i].Name] = true
	}
	r := found.Inputs.Rules(found.Inputs.Version)
	own, others, ok := local.OwnEntries(s, yields, r.Discovery)
	if !ok {
		return fmt.Errorf("%s: its log holds no whole listing, from which the client's own entries could be taken", name)
	}
	l.own = own
	l.doc.Own = report.ListingOwn{Known: true, Session: s.ID}
	if l.version == "" && t.Described == nil {
		l.version = found.Inputs.Version
	}
	if l.model == "" && found.Model != "" {
		l.model = found.Model
	}
	bare := 0
	for _, g := range own {
		if g.Text == "" {
			bare++
		}
	}
	if bare > 0 {
		l.assume("entries of the client's own of which the log shows the name only, so that more is asked for than is counted: %d", bare)
	}
	if len(others) > 0 && len(yields) > 0 {
		l.assume("entries of that log which are neither the client's own nor skills here, and are not counted: %s", strings.Join(others, ", "))
	}
	return nil
}

// start collects the inputs of a client that reads its skills in a state.
func (l *listingOf) start(at string, only []string) (*local.Present, error) {
	p, err := l.in.finder.Start(local.Start{CWD: l.o.project, Version: l.version, Model: l.model, Only: only, At: at})
	if err != nil {
		return nil, err
	}
	p.Inputs.Given = l.own
	return p, nil
}

// only are the folders given, nil for what the client finds.
func (l *listingOf) only() []string {
	if len(l.in.skills) == 0 {
		return nil
	}
	return l.in.skills
}

// make works out the listing of now.
func (l *listingOf) make() error {
	p, err := l.start(local.AtNow, l.only())
	if err != nil {
		return err
	}
	for _, what := range p.Problems {
		l.app.note("%s", what)
	}
	l.starts = replay.NewStarts(&p.Inputs)
	l.now = listing.Make(l.starts, l.version, now())
	d := l.doc
	d.ListingSizes, d.Width, d.Sent = sizesOf(l.now), l.now.Width, report.Text(l.now.Text)
	d.Inputs = []report.Input{}
	for _, u := range p.Uses {
		d.Inputs = append(d.Inputs, report.Input{Name: u.Name, Found: u.Found, Source: u.Source, Note: u.Note})
	}
	if l.now.ByUse && !l.now.Ranked && l.now.Over() > 0 {
		l.assume("usage counts are not known: all skills rank as never used, in the order of the listing")
	}
	if l.now.Guessed {
		l.assume("the order of some entries is not known: this client lists them as it comes upon them")
	}
	d.Entries = []report.ListingEntry{}
	for i := range l.now.Entries {
		d.Entries = append(d.Entries, listingEntry(&l.now.Entries[i]))
		if l.now.Entries[i].Given {
			d.Own.Entries++
		}
	}
	d.NotListed = []report.ListingOff{}
	for _, off := range l.now.Off {
		d.NotListed = append(d.NotListed, report.ListingOff{Name: off.Name, File: off.Path, Kind: off.Kind, Reason: off.Words})
	}
	d.Duplicates, d.Redundant = []report.ListingDuplicate{}, skills.Redundant(l.now.Doubles)
	for _, k := range l.now.Doubles {
		double := report.ListingDuplicate{Kind: string(k.Kind), SameText: k.SameText}
		for _, i := range k.Entries {
			double.Entries = append(double.Entries, l.now.Entries[i].Name)
		}
		d.Duplicates = append(d.Duplicates, double)
	}
	return nil
}

// parts adds what was asked for beside the listing.
func (l *listingOf) parts() error {
	if l.o.against != "" {
		if err := l.against(); err != nil {
			return fmt.Errorf("--against %w", err)
		}
	}
	if l.o.fit {
		l.doc.Fit = l.fit()
	}
	if l.o.sweep {
		return l.sweep()
	}
	return nil
}

func (l *listingOf) against() error {
	at, only := l.o.against, l.only()
	p, err := l.start(at, only)
	if info, statErr := os.Stat(at); statErr == nil && info.IsDir() && (err != nil || filepath.IsAbs(at) || strings.HasPrefix(at, ".")) {
		if only == nil {
			return fmt.Errorf("%s: a folder stands in place of those of --skills, and none is given", at)
		}
		if err := checkSkills(at); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		p, err = l.start(local.AtNow, []string{at})
	}
	if err != nil {
		return err
	}
	before := listing.Make(replay.NewStarts(&p.Inputs), l.version, now())
	out := &report.ListingAgainst{Name: at, Before: sizesOf(before), Changes: []report.ListingChange{}}
	for _, c := range listing.Compare(before, l.now) {
		change := report.ListingChange{Skill: c.Name, Before: string(replay.ShownAbsent), After: string(replay.ShownAbsent), Own: c.Own(), Reason: c.Reason}
		if e := c.Before; e != nil {
			change.Before, change.SizeBefore, change.TokensBefore, change.TextBefore = string(e.Shown), e.Size, e.Tokens, report.Text(e.Text)
		}
		if e := c.After; e != nil {
			change.After, change.SizeAfter, change.TokensAfter, change.TextAfter = string(e.Shown), e.Size, e.Tokens, report.Text(e.Text)
		} else if change.Reason == "" {
			change.Reason = "it is not found any more"
		}
		out.Changes = append(out.Changes, change)
	}
	l.doc.Against = out
	return nil
}

func (l *listingOf) fit() *report.ListingFit {
	f := l.now.Fit()
	list := func(cuts []listing.Cut) []report.ListingCut {
		out := []report.ListingCut{}
		for _, c := range cuts {
			e := &l.now.Entries[c.Entry]
			out = append(out, report.ListingCut{Skill: e.Name, File: e.Path, Had: c.Had, Cut: c.Had - c.Now, Leave: c.Now})
		}
		return out
	}
	out := &report.ListingFit{Fewest: f.Fewest, OverLimit: list(f.Cap), OverBudget: f.Over, Longest: list(f.Longest), Evenly: list(f.Evenly), Short: f.Short, Room: f.Room}
	if f.Fraction > 0 {
		out.Fraction = strconv.FormatFloat(f.Fraction, 'f', -1, 64)
	}
	return out
}

func (l *listingOf) sweep() error {
	spans, err := listing.Sweep(l.in.table, l.starts, now(), l.now)
	if err != nil {
		return err
	}
	for i := range spans {
		s := &spans[i]
		span := report.ListingSpan{Since: s.Since, Until: s.Until, Before: s.Before, ListingSizes: sizesOf(s.Listing), Losses: []report.ListingLoss{}}
		for _, k := range s.Losses {
			span.Losses = append(span.Losses, report.ListingLoss{Skill: k.Name, Form: string(k.Shown), Cut: k.Cut, Reason: k.Words})
		}
		l.doc.Sweep = append(l.doc.Sweep, span)
	}
	if l.doc.Own.Entries > 0 {
		l.assume("older versions have the same entries of their own as this one")
	}
	return nil
}

// again are the options by which the command makes the same listing.
func (l *listingOf) again() string {
	var words []string
	add := func(name, value string) {
		if word := option(name, value); word != "" {
			words = append(words, word)
		}
	}
	in := &l.app.inputs
	for _, dir := range in.skills {
		add("skills", dir)
	}
	if l.o.project != "." {
		add("project", l.o.project)
	}
	if flags := l.app.scope.flags(); flags != "" {
		words = append(words, flags)
	}
	add("session", l.o.session)
	add("client", in.client)
	add("model", l.o.model)
	if in.window > 0 {
		add("window", strconv.FormatInt(in.window, 10))
	}
	add("settings", in.settings)
	add("managed-dir", in.managed)
	add("usage", in.usage)
	add("rules", in.rules)
	return strings.Join(words, " ")
}

func sizesOf(l *listing.Listing) report.ListingSizes {
	return report.ListingSizes{Budget: l.Budget, BudgetSource: l.Source, Demand: l.Demand, Over: l.Over(), Used: l.Used, Tokens: l.Tokens,
		Forms: report.ListingForm{Full: l.Count(replay.ShownFull), Shortened: l.Count(replay.ShownShortened), NameOnly: l.Count(replay.ShownNameOnly), Absent: l.Count(replay.ShownAbsent)}}
}

func listingEntry(e *listing.Entry) report.ListingEntry {
	out := report.ListingEntry{Name: e.Name, Form: string(e.Shown), Cause: string(e.Why), Size: e.Size, WholeSize: e.Whole, Tokens: e.Tokens, CutByLimit: e.CapCut, CutByBudget: e.BudgetCut,
		Rank: e.Rank, Uses: e.Uses, Own: e.Given, Source: string(e.Source), File: e.Path, Description: report.Text(e.Text), Line: report.Text(e.Line)}
	if e.Label != e.Name {
		out.Label = e.Label
	}
	return out
}

// writeListingText writes a listing as it is sent, escaped only for a terminal.
func (a *app) writeListingText(doc *report.ListingDocument) error {
	a.progress.clear()
	if a.output == "" {
		return doc.WriteText(a.stdout, isTerminal(a.stdout))
	}
	var b bytes.Buffer
	if err := doc.WriteText(&b, false); err != nil {
		return err
	}
	return writeFile(a.output, b.Bytes())
}
