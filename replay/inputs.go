package replay

import (
	"slices"
	"sort"
	"time"

	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// Settings are the settings of the client that matter to skills, merged from
// all their files.
type Settings struct {
	Overrides    map[string]string // skillOverrides
	Fraction     float64           // skillListingBudgetFraction; 0 if not set
	MaxDesc      int               // skillListingMaxDescChars; 0 if not set
	Deny         []string          // permissions.deny
	DisableShell bool              // disableSkillShellExecution
}

// Process is one client process: what it was started with.
type Process struct {
	Resume, Fork bool
	// Home, ConfigDir (the user's .claude folder), ManagedDir and CWD are paths as
	// the client saw them.
	Home, ConfigDir, ManagedDir, CWD string
	AddDirs, Plugins                 []string
	SkillDirs                        []string // folders of skills given in place of the project's
	Settings                         Settings
	Env                              map[string]string
	Model                            string // as given, perhaps an alias or with [1m]
	Resolved                         string // as the log names it
	Window                           int64  // context window in tokens; 0: from the model
}

// Files is the file tree as it changed over the session.
type Files struct {
	states []fileState
}

type fileState struct {
	from time.Time
	tree skills.Tree
}

// NewFiles starts with one state that holds from the beginning of time.
func NewFiles(tree skills.Tree) *Files {
	return &Files{states: []fileState{{tree: tree}}}
}

// Change adds the state of the tree from a moment on. Moments must not decrease.
func (f *Files) Change(from time.Time, tree skills.Tree) {
	if n := len(f.states); n > 0 && from.Before(f.states[n-1].from) {
		from = f.states[n-1].from
	}
	f.states = append(f.states, fileState{from, tree})
}

// Map are the files with the tree of each state replaced.
func (f *Files) Map(other func(skills.Tree) skills.Tree) *Files {
	out := &Files{states: slices.Clone(f.states)}
	for i := range out.states {
		out.states[i].tree = other(out.states[i].tree)
	}
	return out
}

// at is the index of the state that holds at a moment.
func (f *Files) at(t time.Time) int {
	i := sort.Search(len(f.states), func(i int) bool { return f.states[i].from.After(t) }) - 1
	return max(i, 0)
}

// Usage is the client's own count of skill invocations.
type Usage struct {
	Counts map[string]UsageCount // at the start
	calls  []usageCall
}

// UsageCount is one skill's entry: how often, and when last (Unix milliseconds).
type UsageCount struct {
	Count      int
	LastUsedMS int64
}

type usageCall struct {
	name    string
	ms      int64
	process int
}

// Called tells the usage count of an invocation. Invocations must be told in
// order of time.
func (u *Usage) Called(name string, at time.Time, process int) {
	u.calls = append(u.calls, usageCall{name, at.UnixMilli(), process})
}

// usageInterval is the least time between two counts of a skill in one process
// (recorded: calls 25 s apart gave 1,1,1,2,2; interactive/usage).
const usageInterval = 60_000

// At is the state of the counts at a moment.
func (u *Usage) At(t time.Time) map[string]UsageCount {
	out := make(map[string]UsageCount, len(u.Counts))
	for n, c := range u.Counts {
		out[n] = c
	}
	type key struct {
		name    string
		process int
	}
	last := map[key]int64{}
	now := t.UnixMilli()
	for _, c := range u.calls {
		if c.ms > now {
			continue
		}
		k := key{c.name, c.process}
		if at, ok := last[k]; ok && c.ms-at < usageInterval {
			continue
		}
		last[k] = c.ms
		out[c.name] = UsageCount{out[c.name].Count + 1, c.ms}
	}
	return out
}

// Inputs is all that a prediction may look at beside the input events.
type Inputs struct {
	// Rules gives the rules of a client version.
	Rules func(version string) *rules.Rules
	// Version stands in where a record has none.
	Version   string
	Processes []Process
	// Files is nil where no skill files are known.
	Files *Files
	// Same compares texts where a recording holds filler; nil: exactly.
	Same Same
	// Exact: Files are those of the session. Otherwise they were read later, and a
	// text that differs proves nothing.
	Exact bool
	// Given are the client's own entries, which no file holds; nil if unknown.
	Given []skills.Given
	// ListingsSeen are the agents, by id, whose timelines show listings although
	// their client writes none to the log, because what was sent is known.
	ListingsSeen map[string]bool
	// FolderOrder: the tree lists folders in the file system's own order. Otherwise
	// that order comes from the log, for clients that list in it.
	FolderOrder bool
	// skillOrder and commandOrder are the names of a session's first listing.
	skillOrder, commandOrder []string
	// found are the skills found so far, for all agents of a session; nil to look each
	// time.
	found map[foundKey]skills.Found
	// Usage is nil where the counts are unknown.
	Usage *Usage
	// Leaks are the skills invoked inside subagents whose register the main loop
	// shares, in order of time (clients before 2.1.182).
	Leaks []Leak
	// History holds the uuids of records that an earlier session wrote: a resumed
	// or forked copy. They are taken as they are.
	History map[string]bool
}

// Leak is a skill that a subagent invoked and the main loop's register holds.
type Leak struct {
	At      time.Time
	Invoked Invoked
}
