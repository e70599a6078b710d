// Package conform measures how far the rules agree with recorded ground truth: it
// replays recordings whose inputs are all known and counts, per kind of check,
// what matches.
package conform

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/conform/scenario"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// Count is the outcome of the checks of one kind.
type Count struct{ Match, Divergent, Undetermined int }

// Add adds a verdict.
func (c *Count) Add(v replay.Verdict) {
	switch v {
	case replay.Match:
		c.Match++
	case replay.Divergent:
		c.Divergent++
	default:
		c.Undetermined++
	}
}

// Agreement is the outcome of one recording.
type Agreement struct {
	Case    string // family/scenario/version
	Family  string
	Client  string
	Version string
	Counts  map[replay.CheckKind]Count
	Checks  []replay.Check // all that do not match
	Err     error          // the recording could not be replayed
}

// Run replays one recording.
func Run(dir string) Agreement {
	a := Agreement{Case: dir, Counts: map[replay.CheckKind]Count{}}
	c, err := scenario.Load(dir)
	if err != nil {
		a.Err = err
		return a
	}
	a.Case = path.Join(c.Family, c.Scenario, c.Version)
	a.Family, a.Version, a.Client = c.Family, c.Version, "claude-code@"+c.Version
	r := newRunner(c)
	checks, err := r.run()
	if err != nil {
		a.Err = err
		return a
	}
	billed, err := r.tokens()
	if err != nil {
		a.Err = err
		return a
	}
	for _, ch := range append(checks, billed...) {
		n := a.Counts[ch.Kind]
		n.Add(ch.Verdict)
		a.Counts[ch.Kind] = n
		if ch.Verdict != replay.Match {
			a.Checks = append(a.Checks, ch)
		}
	}
	return a
}

// runner replays the sessions of one recording, which share a home and thus a
// file tree and usage counts.
type runner struct {
	c        *scenario.Case
	sessions []*replay.Session
	logs     []scenario.SessionLog
	changes  []timed
	shown    map[*replay.Session][]string // agents whose listings the requests show
	in       replay.Inputs
}

func newRunner(c *scenario.Case) *runner {
	return &runner{c: c, shown: map[*replay.Session][]string{}}
}

func (r *runner) run() ([]replay.Check, error) {
	var checks []replay.Check
	err := r.each(func(s *replay.Session, in *replay.Inputs, cmp replay.Comparison) {
		for _, a := range replay.Run(s, in, cmp).Agents {
			checks = append(checks, a.Checks...)
		}
	})
	return checks, err
}

// Sessions calls use for each session of a recording, with the inputs that it had and
// the way in which it is judged.
func Sessions(dir string, use func(s *replay.Session, in *replay.Inputs, cmp replay.Comparison)) error {
	c, err := scenario.Load(dir)
	if err != nil {
		return err
	}
	return newRunner(c).each(use)
}

// each finds the inputs of the sessions, and calls use for one after the other.
func (r *runner) each(use func(s *replay.Session, in *replay.Inputs, cmp replay.Comparison)) error {
	table, err := rules.For("claude-code")
	if err != nil {
		return err
	}
	cache := map[string]*rules.Rules{}
	r.in.Rules = func(version string) *rules.Rules {
		if x, ok := cache[version]; ok {
			return x
		}
		x, err := table.At(version)
		if err != nil {
			x, _ = table.At(r.c.Version)
		}
		cache[version] = &x
		return &x
	}
	r.in.Version = r.c.Version
	r.in.Exact = true
	r.in.Same = r.c.Same
	r.logs = r.c.Sessions()
	logs := r.logs
	for _, l := range logs {
		s, err := observe(l)
		if err != nil {
			return err
		}
		r.sessions = append(r.sessions, s)
	}
	if err := r.processes(); err != nil {
		return err
	}
	seen := map[string]bool{}
	histories := make([]map[string]bool, len(logs))
	for i, s := range r.sessions {
		histories[i] = r.place(s, logs[i], seen)
	}
	if err := r.files(); err != nil {
		return err
	}
	if known, err := table.At(r.c.Version); err == nil && known.Catalogue.Place != rules.PlaceAttachment {
		if err := r.sent(known.Catalogue.Place); err != nil {
			return err
		}
	}
	r.usage()
	given, err := r.c.Bundled()
	if err != nil {
		return err
	}
	r.in.Given = given
	for i, s := range r.sessions {
		in := r.in
		in.History = histories[i]
		in.ListingsSeen = map[string]bool{}
		for _, id := range r.shown[s] {
			in.ListingsSeen[id] = true
		}
		in.FolderOrder = len(r.c.Readdir) > 0
		use(s, &in, replay.Comparison{Same: r.c.Same, Exact: true, RulesExact: true, History: in.History})
	}
	return nil
}

// observe reads one session of the recording.
func observe(l scenario.SessionLog) (*replay.Session, error) {
	main, closeMain, err := source(l.Path, "")
	if err != nil {
		return nil, err
	}
	defer closeMain()
	var subs []replay.Source
	for _, p := range l.Subagents {
		if strings.HasPrefix(filepath.Base(p), "agent-acompact-") {
			continue // a copy of the conversation, written for a compaction
		}
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "agent-"), ".jsonl")
		src, done, err := source(p, id)
		if err != nil {
			return nil, err
		}
		defer done()
		subs = append(subs, src)
	}
	return replay.Observe(main, subs...)
}

func source(name, agent string) (replay.Source, func(), error) {
	f, err := os.Open(name)
	if err != nil {
		return replay.Source{}, nil, err
	}
	return replay.Source{Name: name, Agent: agent, Records: jsonl.Read(name, f, replay.Reading())}, func() { f.Close() }, nil
}

// processes turns the runs into client processes.
func (r *runner) processes() error {
	for i := range r.c.Runs {
		run := &r.c.Runs[i]
		p := replay.Process{Resume: run.Resume, Fork: run.Fork, Home: r.c.Home, ConfigDir: path.Join(r.c.Home, ".claude"),
			CWD: run.CWD, AddDirs: run.AddDirs, Plugins: run.PluginDirs, Env: run.Env, Model: cmp.Or(run.Model, r.c.Model)}
		if r.c.Managed {
			p.ManagedDir = scenario.ManagedDir
		}
		own, err := run.ReadSettings()
		if err != nil {
			return err
		}
		for _, s := range []scenario.Settings{r.c.Settings, own} {
			p.Settings.Deny = append(p.Settings.Deny, s.Permissions.Deny...)
			p.Settings.DisableShell = p.Settings.DisableShell || s.DisableShell
			if s.Fraction != 0 {
				p.Settings.Fraction = s.Fraction
			}
			if s.MaxDesc != 0 {
				p.Settings.MaxDesc = s.MaxDesc
			}
			for name, o := range s.Overrides {
				if p.Settings.Overrides == nil {
					p.Settings.Overrides = map[string]string{}
				}
				p.Settings.Overrides[name] = o
			}
		}
		r.in.Processes = append(r.in.Processes, p)
	}
	return nil
}

// typed is an event that a step of the script can have become.
type typed struct {
	index int
	event *replay.Event
}

// place finds the script's steps in a session's timeline and inserts what the log
// does not say: where each process began. It notes when files changed, and returns
// the records that an earlier session wrote.
func (r *runner) place(s *replay.Session, l scenario.SessionLog, seen map[string]bool) map[string]bool {
	main := s.Main()
	history := map[string]bool{}
	for i := range main.Events {
		if u := main.Events[i].Where.UUID; u != "" && seen[u] {
			history[u] = true
		}
	}
	var events []typed
	for i := range main.Events {
		e := &main.Events[i]
		seen[e.Where.UUID] = true
		if history[e.Where.UUID] {
			continue
		}
		switch {
		case e.Kind == replay.Slash && e.Skill == "compact" && i > 0 && main.Events[i-1].Kind == replay.Compaction:
			// It stands behind what it did; one that the client refused stands alone.
		case e.Kind == replay.Prompt, e.Kind == replay.Slash, e.Kind == replay.Compaction:
			events = append(events, typed{i, e})
		}
	}
	type step struct {
		run  int
		step *scenario.Step
	}
	var steps []step
	first := map[int]int{} // run -> its first step
	for _, span := range l.Spans {
		if _, ok := first[span.Run]; !ok {
			first[span.Run] = len(steps)
		}
		for j := span.From; j < span.To; j++ {
			steps = append(steps, step{span.Run, &r.c.Runs[span.Run].Prompts[j]})
		}
	}
	pos := align(len(steps), len(events), func(i, j int) bool { return fits(steps[i].step, events[j].event, r.c.Same) })
	// What the user typed stands in the script as it was, in the log perhaps as filler.
	for i, st := range steps {
		if pos[i] < 0 {
			continue
		}
		if e := events[pos[i]].event; e.Kind == replay.Slash {
			if args, ok := scriptArgs(st.step.Text); ok && args != e.Args && (!e.HasArgs || r.c.Same(args, e.Args)) {
				e.Args, e.HasArgs = args, true
			}
			if text := strings.TrimSpace(st.step.Text); e.Forked {
				name, _, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
				e.Skill, e.Tool = name, name
			}
		}
	}
	// at is the event that the next step found, from step i on, became.
	at := func(i int) int {
		for ; i < len(steps); i++ {
			if pos[i] >= 0 {
				return events[pos[i]].index
			}
		}
		return len(main.Events)
	}
	var list []replay.Insertion
	for j, k := range l.Runs {
		run := &r.c.Runs[k]
		before := len(main.Events)
		if n, ok := first[k]; ok {
			before = at(n)
		}
		if j == 0 {
			before = 0
			for before < len(main.Events) && history[main.Events[before].Where.UUID] {
				before++
			}
		}
		for _, ch := range run.BeforeRun {
			r.change(main, before, 0, ch)
		}
		list = append(list, replay.Insertion{Before: before, Event: replay.Event{Kind: replay.Start,
			Start: &replay.StartEvent{Process: k, Resume: run.Resume || j > 0, Fork: run.Fork}}})
	}
	for i, st := range steps {
		if st.step.Change != nil {
			r.change(main, at(i+1), st.step.AtMS, *st.step.Change)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Before < list[j].Before })
	main.Insert(list)
	return history
}

// timed is a change of the files with its moment.
type timed struct {
	at     time.Time
	change scenario.Change
}

// change notes a change that happened before an event: at the moment recorded, or
// just behind all that stands before.
func (r *runner) change(a *replay.Agent, before int, ms int64, ch scenario.Change) {
	at := time.UnixMilli(ms)
	if ms == 0 {
		at = time.Time{}
		for i := range a.Events[:before] {
			if t := a.Events[i].Where.Time; t.After(at) {
				at = t
			}
		}
		at = at.Add(time.Nanosecond)
	}
	r.changes = append(r.changes, timed{at, ch})
}

// scriptArgs are the arguments of a command as typed.
func scriptArgs(text string) (string, bool) {
	i := strings.IndexAny(text, " \n\t")
	if i < 0 {
		return "", false
	}
	return strings.TrimSpace(text[i:]), true
}

// fits reports whether an event is what a step of the script became.
func fits(s *scenario.Step, e *replay.Event, same replay.Same) bool {
	if s.Kind != scenario.StepText {
		return false
	}
	text := strings.TrimSpace(s.Text)
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	switch e.Kind {
	case replay.Compaction:
		return e.Compaction.Trigger == "manual" && strings.HasPrefix(text, "/compact")
	case replay.Slash:
		if e.Forked {
			// The client writes the skill's own name, whatever name was typed.
			_, typed, _ := strings.Cut(text, " ")
			_, logged, _ := strings.Cut(strings.TrimSpace(e.Text), " ")
			return strings.HasPrefix(text, "/") && same(typed, logged)
		}
		if e.Stack > 1 || !strings.HasPrefix(text, "/") {
			return false
		}
		if i := strings.IndexAny(name, "\n\t"); i >= 0 {
			name = name[:i]
		}
		return e.Skill == name
	case replay.Prompt:
		return strings.TrimSpace(e.Text) == text || strings.HasSuffix(strings.TrimSpace(e.Text), text) && len(text) > 3
	}
	return false
}

// align finds the longest common sequence of two lists; the result gives, for each
// element of the first, its partner in the second or -1.
func align(n, m int, same func(i, j int) bool) []int {
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if same(i, j) {
				best[i][j] = max(best[i][j], best[i+1][j+1]+1)
			}
		}
	}
	out := make([]int, n)
	i, j := 0, 0
	for i < n {
		switch {
		case j < m && same(i, j) && best[i][j] == best[i+1][j+1]+1:
			out[i] = j
			i++
			j++
		case j < m && best[i][j] == best[i][j+1]:
			j++
		default:
			out[i] = -1
			i++
		}
	}
	return out
}

// files builds the states of the file tree: the one at the start, then each change
// of the script and of the session's own tools.
func (r *runner) files() error {
	tree, err := r.c.Tree()
	if err != nil {
		return err
	}
	for _, s := range r.sessions {
		for _, a := range s.Agents {
			for i := range a.Events {
				if e := &a.Events[i]; e.Kind == replay.CatalogueChange && !e.Change.Unknown {
					ch := scenario.Change{Remove: []string{e.Change.Path}}
					if !e.Change.Removed {
						ch = scenario.Change{Write: []scenario.File{{Path: e.Change.Path, Text: e.Change.Text}}}
					}
					r.changes = append(r.changes, timed{e.Where.Time, ch})
				}
			}
		}
	}
	sort.SliceStable(r.changes, func(i, j int) bool { return r.changes[i].at.Before(r.changes[j].at) })
	r.in.Files = replay.NewFiles(tree)
	for _, ch := range r.changes {
		tree = tree.Clone()
		if err := r.c.Apply(tree, ch.change); err != nil {
			return fmt.Errorf("%s: %w", r.c.Dir, err)
		}
		r.in.Files.Change(ch.at, tree)
	}
	return nil
}

// usage counts invocations over all sessions of the case.
func (r *runner) usage() {
	u := &replay.Usage{Counts: map[string]replay.UsageCount{}}
	for name, c := range r.c.SkillUsage {
		u.Counts[name] = replay.UsageCount{Count: c.Count, LastUsedMS: c.LastUsedMS}
	}
	replay.CountUses(u, r.sessions...)
	r.in.Usage = u
}
