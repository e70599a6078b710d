// Package local finds on this machine what a recorded session depended on: skill
// folders, settings, usage counts, the model's window. What it reads is how things
// are now; the session may have seen them otherwise, and the log tells where.
//
// Three kinds of logs are told apart. A log in a configuration folder in scope is
// the user's own: everything that the client reads on this machine is read. A log
// that was copied together with its configuration folder brings that folder, but
// nothing else of this machine is read for it. Of all other logs this machine knows
// nothing but what is given by hand.
package local

import (
	"slices"
	"sort"
	"sync"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// Options say where to look. Paths are of this machine.
type Options struct {
	Home       string   // the user's home
	ConfigDirs []string // the client's configuration folders in scope
	// ConfigGiven: ConfigDirs were named by the user. The first is then the home of a
	// client that is only described, wherever the log lies.
	ConfigGiven bool
	// Skills are folders of skills that stand in place of the project's; each holds
	// a folder with SKILL.md for every skill.
	Skills []string
	// SkillsAt says as of when skill folders under git are read: AtNow or "", AtSession
	// for each session's start, or a revision in the words of git.
	SkillsAt string
	// Settings is a settings file that ranks above the local project settings; Usage
	// a file with skillUsage in place of the client's own; Managed the
	// administrator's folder. Empty ones stand for what the client reads.
	Settings, Usage, Managed string
	// Window is the context window in tokens; 0: from the model and the log.
	Window int64
	Table  *rules.Table
	// Version is the client version whose rules are used in place of the log's.
	Version string
	// Getenv reads the environment of the user's own sessions; nil: an empty one.
	Getenv func(string) string
}

// Found is what Find brings: the inputs, which sources they came from, and what is
// assumed of them.
type Found struct {
	Inputs     replay.Inputs
	RulesExact bool
	Client     string // "claude-code@2.1.332"; without a version if the log names none
	// Described is the description that the rules are those of, "" where the client was
	// recorded; Assumed are the rules that it leaves open.
	Described string
	Assumed   map[string]bool
	Model     string
	Window    int64 // tokens, 0 if unknown
	// Budget is the size of the first listing that the rules allow, and ListingSize
	// what the log's takes of it, both as the client counts; 0 if unknown.
	Budget      int64
	ListingSize int
	// BudgetSource says in words where Budget comes from.
	BudgetSource string
	// Own: the log lies in a configuration folder in scope.
	Own         bool
	Uses        []replay.InputUse
	Assumptions []string
	// Skills are the skill files in the order in which they were found.
	Skills []SkillFile
	// Dates are what the dates of these files tell, and those of what looks like a skill
	// file, by path.
	Dates map[string]Dated
	// LeftOut are those, by path, that the prediction leaves out: they are dated after the
	// session, which never lists them. Whether they existed then is not known.
	LeftOut map[string]bool
	// Problems are files that were looked for and cannot be used, `file: what`.
	Problems []string
	// BadVersion is what the log names as its client version, where no version of it
	// is one.
	BadVersion string
}

// Finder finds the inputs of many sessions. Each folder and file is read once: all
// sessions are judged by the same texts. It may be used from several goroutines.
type Finder struct {
	o     Options
	roots []root
	disk  *snapshot
	// history is asked only for SkillsAt.
	history *history

	mu       sync.Mutex
	settings map[string]*settingsFile
	usages   map[string]*usageFile
}

// NewFinder makes a Finder. Nothing is read before it is needed.
func NewFinder(o Options) *Finder {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	return &Finder{o: o, roots: rootsOf(o.ConfigDirs), disk: newSnapshot(), history: newHistory(), settings: map[string]*settingsFile{}, usages: map[string]*usageFile{}}
}

// Find collects the inputs of a session, and marks in its timeline where client
// processes began, as far as the log shows it. The error says that the client's
// version has no rules, or that no skill folder has the revision asked for.
func (x *Finder) Find(s *replay.Session) (*Found, error) {
	f := &finding{Finder: x, s: s, Found: &Found{RulesExact: true}, listed: listingsOf(s, "")}
	if err := f.versions(); err != nil {
		return nil, err
	}
	f.r = f.Inputs.Rules(f.listed.version)
	if p := replay.ListingPlace(f.r); p != "" {
		if shown := listingsOf(s, p); len(shown.entries) > 0 {
			f.listed = shown
		}
	}
	f.place, f.configDir = x.placeOf(fileOf(s))
	if f.place == elsewhere && f.Described != "" && x.o.ConfigGiven && len(x.roots) > 0 {
		f.place, f.configDir = copied, slashed(x.roots[0].named)
	}
	f.Own = f.place == own
	f.process()
	// Each step needs those before it; the reader has another order.
	settings := f.step(f.readSettings)
	files := f.step(f.skillFiles)
	if f.err != nil {
		return nil, f.err
	}
	window := f.step(f.window)
	f.processes()
	usage := f.step(f.usage)
	f.Uses = slices.Concat(files, settings, usage, window)
	return f.Found, nil
}

// finding is the search for one session.
type finding struct {
	*Finder
	*Found
	s         *replay.Session
	r         *rules.Rules
	place     place
	configDir string // slash-separated, "" if none
	listed    *listings
	p         replay.Process // the first process
	err       error          // the search cannot go on
	// bare and unseen count the skill files whose entries the listings show without
	// anything to compare, and those that no listing shows.
	bare, unseen int
}

// step runs a step and returns the uses that it noted.
func (f *finding) step(do func()) []replay.InputUse {
	f.Uses = nil
	do()
	return f.Uses
}

// use notes where an input came from.
func (f *finding) use(name, source, note string) {
	f.Uses = append(f.Uses, replay.InputUse{Name: name, Source: source, Found: true, Note: note})
}

// lacks notes that an input is not known, and why.
func (f *finding) lacks(name, why string) {
	f.Uses = append(f.Uses, replay.InputUse{Name: name, Note: why})
}

// unusable notes a file that was looked for and cannot be used.
func (f *finding) unusable(name, what string) {
	f.lacks(name, what)
	f.Problems = append(f.Problems, what)
}

func (f *finding) assume(text string) { f.Assumptions = append(f.Assumptions, text) }

// process is the first process as far as the log tells.
func (f *finding) process() {
	f.p = replay.Process{CWD: f.s.CWD, ConfigDir: f.configDir, Env: map[string]string{}}
	if len(f.s.Models) > 0 {
		f.Model = f.s.Models[0]
	}
	if f.place != own {
		return
	}
	f.p.Home = slashed(f.o.Home)
	if here(f.s.CWD) {
		f.p.CWD = slashed(f.s.CWD)
	}
	if v := f.o.Getenv(budget.EnvCharBudget); v != "" {
		f.p.Env[budget.EnvCharBudget] = v
	}
}

// processes makes a process of each start that the log shows, with the model that
// then answered, and marks them in the timeline.
func (f *finding) processes() {
	main := f.s.Main()
	if main == nil {
		f.Inputs.Processes = []replay.Process{f.p}
		return
	}
	copied := copiedHistory(main)
	for i := range main.Events[:copied] {
		if uuid := main.Events[i].Where.UUID; uuid != "" {
			if f.Inputs.History == nil {
				f.Inputs.History = map[string]bool{}
			}
			f.Inputs.History[uuid] = true
		}
	}
	if copied > 0 {
		f.assume("the log begins with a compaction: it goes on with an earlier session, and is judged from the prompt behind its first listing on")
	}
	at := append([]int{copied}, f.s.Restarts...)
	var list []replay.Insertion
	models := modelsOf(main)
	for n, before := range at {
		p := f.p
		p.Model = models.from(before, f.Model)
		p.Resolved = p.Model
		p.Resume = n > 0 || copied > 0
		f.Inputs.Processes = append(f.Inputs.Processes, p)
		list = append(list, replay.Insertion{Before: before, Event: replay.Event{Kind: replay.Start, Start: &replay.StartEvent{Process: n, Resume: p.Resume}}})
	}
	slices.SortStableFunc(list, func(a, b replay.Insertion) int { return a.Before - b.Before })
	main.Insert(list)
}

// copiedHistory is the number of events at the front of a timeline that are taken
// for those of an earlier session: no session begins with a compaction. A fork's
// log does, and one of which only the end is left. It goes on to the first prompt,
// and to the first listing: before that nobody knows what was announced.
func copiedHistory(a *replay.Agent) int {
	if len(a.Events) == 0 || a.Events[0].Kind != replay.Compaction {
		return 0
	}
	listed := false
	for i := range a.Events {
		switch e := &a.Events[i]; {
		case e.Kind == replay.Listing:
			listed = true
		case listed && (e.Kind == replay.Prompt || e.Kind == replay.Slash && e.Tool != "compact"):
			return i
		}
	}
	return len(a.Events)
}

// models are the models that answered, in the order of the requests. reach is the
// furthest event at which one of them or of those before stands.
type models []struct {
	model string
	reach int
}

func modelsOf(a *replay.Agent) (out models) {
	reach := -1
	for i := range a.Calls {
		if c := &a.Calls[i]; c.Model != "" {
			reach = max(reach, c.Event)
			out = append(out, struct {
				model string
				reach int
			}{c.Model, reach})
		}
	}
	return out
}

// from is the model of the first request at or behind an event.
func (m models) from(event int, otherwise string) string {
	if i := sort.Search(len(m), func(i int) bool { return m[i].reach >= event }); i < len(m) {
		return m[i].model
	}
	return otherwise
}
