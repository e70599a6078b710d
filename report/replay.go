package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// ReplaySchema names the form of a ReplayDocument.
const ReplaySchema = "skilltrace/replay@1"

// ReplayDocument is the answer of the command replay.
type ReplayDocument struct {
	Schema   string          `json:"schema"`
	Sessions []ReplaySession `json:"sessions"`
	Totals   Totals          `json:"totals"`
}

// Totals counts checks by verdict. Unconfirmed divergences, under rules that are
// not known to hold for the client's version, are not among the divergent.
type Totals struct {
	Match        int `json:"match"`
	Divergent    int `json:"divergent"`
	Undetermined int `json:"undetermined"`
	Unconfirmed  int `json:"unconfirmed"`
}

func (t *Totals) add(o Totals) {
	t.Match += o.Match
	t.Divergent += o.Divergent
	t.Undetermined += o.Undetermined
	t.Unconfirmed += o.Unconfirmed
}

// ReplaySession is one session: what it told the model, and how that compares.
type ReplaySession struct {
	ID         string   `json:"id"`
	File       string   `json:"file"`
	Client     string   `json:"client,omitempty"` // claude-code@2.1.332
	Versions   []string `json:"versions"`
	RulesExact bool     `json:"rules_exact"`
	// Described is the description that the rules are those of, where the client was
	// never recorded.
	Described string `json:"rules_described,omitempty"`
	Model     string `json:"model,omitempty"`
	Window    int64  `json:"window,omitempty"` // tokens
	CWD       string `json:"cwd,omitempty"`
	// InScope: the log lies in a configuration folder in scope, so that its id names it.
	InScope       bool       `json:"in_scope"`
	Start         *time.Time `json:"start,omitempty"`
	End           *time.Time `json:"end,omitempty"`
	Prompts       int        `json:"prompts"`        // typed by the user
	SlashCommands int        `json:"slash_commands"` // of the main loop
	Calls         int        `json:"calls"`          // model requests of all agents
	// Lines = BlankLines + RecordLines + LostLines. A damaged line may hold several
	// records, so that Records may be more than RecordLines.
	Lines       int           `json:"lines"`
	BlankLines  int           `json:"blank_lines"`
	RecordLines int           `json:"record_lines"` // with at least one whole record
	LostLines   int           `json:"lost_lines"`   // with none
	Records     int           `json:"records"`
	Graph       *Graph        `json:"graph,omitempty"`
	Inputs      []Input       `json:"inputs"`
	Assumptions []string      `json:"assumptions"`
	SkillFiles  []SkillFile   `json:"skills"`
	Agents      []ReplayAgent `json:"agents"`
	Tokens      *TokensBlock  `json:"tokens,omitempty"`
	// Ledger is what each agent took by layer, part and skill; see [ReplayDetail].
	Ledger  []LedgerRow    `json:"ledger,omitempty"`
	Defects []Defect       `json:"defects"`
	Unknown map[string]int `json:"unknown_records,omitempty"` // by type
	Totals  Totals         `json:"totals"`

	// SubagentsOnly: the logs read hold nothing of the main loop.
	SubagentsOnly bool `json:"subagents_only,omitempty"`
}

// Graph counts what was odd in the order of the records. It is absent where
// nothing was.
type Graph struct {
	Replayed   int    `json:"replayed,omitempty"`
	Dangling   int    `json:"dangling,omitempty"`
	OutOfOrder int    `json:"out_of_order,omitempty"`
	Copied     int    `json:"copied,omitempty"`
	ForkOf     string `json:"fork_of,omitempty"`
}

// Input says where an input of the prediction came from.
type Input struct {
	Name   string `json:"name"`
	Found  bool   `json:"found"`
	Source string `json:"source,omitempty"`
	Note   string `json:"note,omitempty"`
}

// Defect is a damaged line.
type Defect struct {
	File   string `json:"file,omitempty"` // where it is not the session's main log
	Line   int    `json:"line"`
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
	Lost   bool   `json:"lost"`
}

// ReplayAgent is the main loop or a subagent.
type ReplayAgent struct {
	Agent      string `json:"agent"`
	File       string `json:"file,omitempty"` // where it is not the session's main log
	Type       string `json:"type,omitempty"`
	StartedBy  string `json:"started_by,omitempty"` // id of the tool use
	OnBehalfOf string `json:"on_behalf_of,omitempty"`
	Calls      int    `json:"calls"`
	// AbandonedCalls are those of Calls on branches that a rewind left.
	AbandonedCalls int `json:"abandoned_calls,omitempty"`
	// ListingsUnrecorded: clients of this version write no listing to the log.
	ListingsUnrecorded bool          `json:"listings_unrecorded,omitempty"`
	Listings           []ListingSent `json:"listings"`
	Skills             []SkillCalls  `json:"skills"`
	Compactions        []Compaction  `json:"compactions"`
	Context            []ContextSize `json:"context"`
	Checks             []Check       `json:"checks"`
	Visibility         []Visibility  `json:"visibility"`
	// Events is the timeline; see [ReplayDetail].
	Events []TimelineEvent `json:"events,omitempty"`
}

// ListingSent is one catalogue that the model was sent.
type ListingSent struct {
	Line      int    `json:"line,omitempty"`
	UUID      string `json:"uuid,omitempty"`
	Abandoned bool   `json:"abandoned,omitempty"`
	// Predicted: the log holds no listing; this one follows from the rules.
	Predicted bool `json:"predicted,omitempty"`
	// Cause is why it was sent: start, compaction, resume or change; "" where the log
	// does not show it.
	Cause     string `json:"cause"`
	CauseLine int    `json:"cause_line,omitempty"`
	// Partial: only entries that are new or were edited.
	Partial bool     `json:"partial"`
	Skills  int      `json:"skills"`
	Names   []string `json:"names"`
	Chars   int      `json:"chars"` // UTF-16 code units
	// Size is what the client counts against Budget: wide characters count double
	// with some. Both are of the first listing, and 0 if unknown.
	Size   int   `json:"size,omitempty"`
	Budget int64 `json:"budget,omitempty"`
	// BudgetSource says where Budget comes from: 1 % of 200,000 tokens, window assumed.
	BudgetSource string `json:"budget_source,omitempty"`
	// Demand is what the first listing would take with nothing trimmed, counted as Size
	// is, and Over by how much that is over Budget. They are absent where neither the log
	// nor the files tell.
	Demand        int    `json:"demand,omitempty"`
	DemandFrom    string `json:"demand_from,omitempty"` // log or files
	DemandAtLeast bool   `json:"demand_at_least,omitempty"`
	Over          int64  `json:"over,omitempty"`
	// Duplicates are groups of entries of the first listing that stand for the same thing;
	// Redundant is how many entries say nothing new.
	Duplicates []Duplicate `json:"duplicates,omitempty"`
	Redundant  int         `json:"redundant,omitempty"`
	// Shown counts the entries by what was left of them, where that is known.
	Shown *ShownCount `json:"shown,omitempty"`
	// Entries are its lines; see [ReplayDetail].
	Entries []ListedEntry `json:"entries,omitempty"`

	event int // among those of the agent, that it is or follows from
}

// Duplicate is a group of entries that stand for the same thing. All but the first are
// redundant.
type Duplicate struct {
	Kind     string   `json:"kind"` // exact, alias, two-prefixes, command-and-skill, same-name
	Names    []string `json:"names"`
	SameText bool     `json:"same_text"`
}

// Demand is what the first listing asks for before anything is trimmed, as the client
// counts.
type Demand struct {
	Size    int
	From    string // log or files
	AtLeast bool
}

// ShownCount counts the skills of a listing by what the model saw of them.
type ShownCount struct {
	Full      int `json:"full"`
	Shortened int `json:"shortened"`
	NameOnly  int `json:"name_only"`
	Absent    int `json:"absent"`
	// The names of all that are not full, sorted.
	ShortenedNames []string `json:"shortened_names,omitempty"`
	NameOnlyNames  []string `json:"name_only_names,omitempty"`
	AbsentNames    []string `json:"absent_names,omitempty"`
}

// SkillCalls is how often one skill was invoked, and what came of it.
type SkillCalls struct {
	Skill    string `json:"skill"`
	ByModel  int    `json:"by_model"` // calls, whatever came of them
	ByUser   int    `json:"by_user"`  // typed, calls that the model made for a typed name included
	Refused  int    `json:"refused"`  // of these, by the client
	Rejected int    `json:"rejected"` // of these, by the user
	Bodies   int    `json:"bodies"`   // times that the whole text was put in
	Notes    int    `json:"notes"`    // times that a short note stood in for it
	Forked   int    `json:"forked"`
	Line     int    `json:"line"` // of the first invocation
}

// Compaction is what one compaction kept of the skills.
type Compaction struct {
	Line    int    `json:"line"`
	UUID    string `json:"uuid,omitempty"`
	Version string `json:"version,omitempty"` // of the client that made it
	Trigger string `json:"trigger,omitempty"` // manual, auto
	Partial string `json:"partial,omitempty"` // from, up_to
	Before  int64  `json:"tokens_before,omitempty"`
	After   int64  `json:"tokens_after,omitempty"`
	// CallsBefore is the number of model requests of the agent before it.
	CallsBefore int `json:"calls_before"`
	// Unrecorded: clients of this version do not write to the log what they put back.
	Unrecorded bool      `json:"unrecorded,omitempty"`
	Kept       []KeptOne `json:"kept"`
	Dropped    []string  `json:"dropped"` // invoked before, and not put back
	Reason     string    `json:"reason,omitempty"`
}

// KeptOne is a body that was put back.
type KeptOne struct {
	Skill string `json:"skill"`
	Chars int    `json:"chars"`         // UTF-16 code units
	Cut   bool   `json:"cut,omitempty"` // only its start was put back
}

// ContextSize is the size of the prompt of one model request, in tokens.
type ContextSize struct {
	Line   int   `json:"line"`
	Tokens int64 `json:"tokens"`
	*ContextDetail
}

// Check is one comparison. Expected, observed and diff are absent for a match.
type Check struct {
	Kind        string `json:"kind"`
	Verdict     string `json:"verdict"`
	Unconfirmed bool   `json:"unconfirmed,omitempty"`
	Line        int    `json:"line,omitempty"`
	UUID        string `json:"uuid,omitempty"`
	Skill       string `json:"skill,omitempty"`
	Rule        string `json:"rule,omitempty"`
	Expected    *Text  `json:"expected,omitempty"`
	Observed    *Text  `json:"observed,omitempty"`
	Diff        string `json:"diff,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Missing     string `json:"missing,omitempty"` // the input without which nothing can be said
	After       int    `json:"after,omitempty"`   // line of the divergence that it follows from
}

// Visibility is what the model saw of each skill when a prompt was asked.
type Visibility struct {
	Prompt    int    `json:"prompt,omitempty"`
	Command   string `json:"command,omitempty"`
	Line      int    `json:"line,omitempty"`
	Abandoned bool   `json:"abandoned,omitempty"`
	Predicted bool   `json:"predicted,omitempty"`
	Skills    Seen   `json:"skills"`
	// Listings are those of the agent, from 1, whose entries stood; see [ReplayDetail].
	Listings []int `json:"listings,omitempty"`
}

// Seen are the states of skills by name: full, shortened, name_only or absent. It is
// written as an object; in memory the prompts of a session share what they saw.
type Seen struct{ replay.Seen }

// MarshalJSON writes the states by name.
func (s Seen) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(s.Map())
	return b.Bytes(), err
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Seen) UnmarshalJSON(data []byte) error {
	var m map[string]replay.Shown
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	s.Seen = replay.SeenOf(m)
	return nil
}

// ReplayInput is what NewReplaySession reads.
type ReplayInput struct {
	Result *replay.Result
	// Read accounts for the lines of the session's logs.
	Read jsonl.Stats
	// Budget is the listing budget of the session's first request, and ListingSize
	// what its first listing takes of it, as its client counts; 0 if unknown.
	Budget       int64
	BudgetSource string
	ListingSize  int
	Demand       *Demand // nil where it is not known
	// Rules are those of a client version; nil where none are known.
	Rules   func(version string) *rules.Rules
	InScope bool // see ReplaySession
	// SkillFiles are the skill files that were found, in order.
	SkillFiles []SkillFile
	Tokens     *TokensBlock  // nil where nothing was charged
	Detail     *ReplayDetail // nil where none is wanted
}

// NewReplay makes the document of replayed sessions, the newest last.
func NewReplay(sessions []ReplaySession) *ReplayDocument {
	doc := &ReplayDocument{Schema: ReplaySchema, Sessions: append([]ReplaySession{}, sessions...)}
	sort.SliceStable(doc.Sessions, func(i, j int) bool {
		a, b := &doc.Sessions[i], &doc.Sessions[j]
		return older(a.Start, a.File, b.Start, b.File)
	})
	for i := range doc.Sessions {
		doc.Totals.add(doc.Sessions[i].Totals)
	}
	return doc
}

// NewReplaySession reads one result. The result is not kept.
func NewReplaySession(in ReplayInput) ReplaySession {
	r := in.Result
	s := r.Session
	out := ReplaySession{
		ID: s.ID, File: s.File, Client: r.Client, Versions: list(s.Versions), RulesExact: r.RulesExact, Described: r.Described,
		Model: r.Model, Window: r.Window, CWD: s.CWD, InScope: in.InScope, Start: timeOf(s.Start), End: timeOf(s.End),
		Lines: s.Lines, BlankLines: in.Read.Blank, RecordLines: in.Read.RecordLines, LostLines: in.Read.LostLines, Records: s.Records,
		Inputs: []Input{}, Assumptions: list(r.Assumptions), SkillFiles: append([]SkillFile{}, in.SkillFiles...), Agents: []ReplayAgent{},
		Tokens: in.Tokens, Defects: defects(s), Unknown: s.Unknown,
	}
	if g := (Graph{s.Replayed, s.Dangling, s.OutOfOrder, s.Copied, s.ForkOf}); g != (Graph{}) {
		out.Graph = &g
	}
	if main := s.Main(); main != nil {
		out.Prompts, out.SlashCommands = main.Prompts, main.Slashes
		out.SubagentsOnly = len(s.Agents) > 1 &&
			!slices.ContainsFunc(main.Events, func(e replay.Event) bool { return e.Where.Line > 0 })
	}
	for _, a := range s.Agents {
		out.Calls += len(a.Calls)
	}
	for _, u := range r.Inputs {
		out.Inputs = append(out.Inputs, Input{Name: u.Name, Found: u.Found, Source: u.Source, Note: u.Note})
	}
	for i := range r.Agents {
		out.Agents = append(out.Agents, replayAgent(&in, i))
	}
	out.Totals.Match, out.Totals.Divergent, out.Totals.Undetermined, out.Totals.Unconfirmed = r.Count()
	if in.Detail != nil {
		in.Detail.fill(&out, r)
	}
	return out
}

func defects(s *replay.Session) []Defect {
	out := []Defect{}
	for _, d := range s.Defects {
		out = append(out, Defect{File: otherFile(d.Pos.File, s.File), Line: d.Pos.Line, Kind: string(d.Kind), Reason: d.Reason, Lost: d.Lost})
	}
	return out
}

// otherFile is file, or "" where it is the main log.
func otherFile(file, main string) string {
	if file == main {
		return ""
	}
	return file
}

// list is a copy that is never nil: JSON has [] for an empty list.
func list(s []string) []string { return append([]string{}, s...) }

func replayAgent(in *ReplayInput, i int) ReplayAgent {
	s, r := in.Result.Session, &in.Result.Agents[i]
	a := r.Agent
	out := ReplayAgent{
		Agent: a.ID, File: otherFile(a.File, s.File), Type: a.Type, StartedBy: a.StartedBy, OnBehalfOf: a.OnBehalfOf,
		Calls: len(a.Calls), Listings: in.listings(r), Skills: skillCalls(a), Compactions: in.compactions(r),
		Context: context(a), Checks: checks(r.Checks), Visibility: visibility(r.Visibility), ListingsUnrecorded: in.unrecorded(a),
	}
	for i := range a.Calls {
		if a.Calls[i].Abandoned {
			out.AbandonedCalls++
		}
	}
	if i == 0 && len(out.Listings) > 0 && !out.Listings[0].Abandoned {
		l := &out.Listings[0]
		l.Budget, l.BudgetSource, l.Size = in.Budget, in.BudgetSource, in.ListingSize
		if d := in.Demand; d != nil {
			l.Demand, l.DemandFrom, l.DemandAtLeast = d.Size, d.From, d.AtLeast
			if in.Budget > 0 {
				l.Over = max(int64(d.Size)-in.Budget, 0)
			}
		}
	}
	return out
}

// unrecorded reports whether clients of the agent's version write no listing to
// the log.
func (in *ReplayInput) unrecorded(a *replay.Agent) bool {
	k := in.rules(firstVersion(a))
	return k != nil && k.Catalogue.Place != rules.PlaceAttachment
}

// place is where the client of an agent has its catalogue, if not in a record.
func (in *ReplayInput) place(a *replay.Agent) replay.Place {
	k := in.rules(firstVersion(a))
	if k == nil {
		return ""
	}
	return replay.ListingPlace(k)
}

// rules are the rules of a client version, nil if unknown.
func (in *ReplayInput) rules(version string) *rules.Rules {
	if in.Rules == nil {
		return nil
	}
	return in.Rules(version)
}

func firstVersion(a *replay.Agent) string {
	for i := range a.Events {
		if v := a.Events[i].Version; v != "" {
			return v
		}
	}
	return ""
}

// listings collects the catalogues that the log holds or, where it holds none,
// those that the rules derive.
func (in *ReplayInput) listings(r *replay.AgentResult) []ListingSent {
	out := []ListingSent{}
	events := r.Agent.Events
	from := 0
	for i := range events {
		e := &events[i]
		if e.Kind != replay.Listing || e.Place != "" && e.Place != in.place(r.Agent) {
			continue
		}
		l := ListingSent{Line: e.Where.Line, UUID: e.Where.UUID, Abandoned: e.Abandoned, Chars: budget.Len16(e.Text), Names: []string{}, event: i}
		if a := e.Listing; a != nil {
			l.Names = list(a.Names)
			if !a.HasNames {
				l.Names = listedNames(a.Content)
			}
			l.Skills = len(l.Names)
			if l.Chars == 0 {
				l.Chars = budget.Len16(a.Content)
			}
			l.Partial = a.HasInitial && !a.Initial
			if len(out) == 0 {
				l.duplicates(skills.ParseListing(a.Content, a.Names))
			}
		}
		l.Cause = string(replay.CauseStart)
		if len(out) > 0 {
			l.cause(events, e.Parent)
		}
		// Prompts before the one that was asked last cannot have been answered with it.
		for from+1 < len(r.Visibility) && r.Visibility[from+1].Event <= i {
			from++
		}
		l.Shown = shownOf(l.Names, r.Visibility[min(from, len(r.Visibility)):])
		out = append(out, l)
	}
	if len(out) > 0 || !in.unrecorded(r.Agent) {
		return out
	}
	for i := range r.Predicted {
		p := &r.Predicted[i]
		if p.Kind != replay.Listing || p.Missing != "" && len(p.Entries) == 0 {
			continue
		}
		l := ListingSent{Predicted: true, Partial: !p.Initial, Chars: budget.Len16(p.Text), Cause: string(replay.CauseStart), Names: []string{}, event: p.Cause}
		if p.Cause >= 0 && p.Cause < len(events) {
			l.Line = events[p.Cause].Where.Line
			if len(out) > 0 {
				l.cause(events, p.Cause)
			}
		}
		states := map[string]replay.Shown{}
		for _, entry := range p.Entries {
			states[entry.Name] = entry.Shown
			if entry.Shown != replay.ShownAbsent {
				l.Names = append(l.Names, entry.Name)
			}
		}
		l.Skills = len(l.Names)
		l.Shown = countShown(states)
		out = append(out, l)
	}
	return out
}

// duplicates notes which entries stand for the same thing.
func (l *ListingSent) duplicates(lines []skills.ListedLine) {
	groups := skills.Duplicates(lines)
	l.Redundant = skills.Redundant(groups)
	for _, g := range groups {
		d := Duplicate{Kind: string(g.Kind), SameText: g.SameText}
		for _, i := range g.Entries {
			d.Names = append(d.Names, lines[i].Name)
		}
		l.Duplicates = append(l.Duplicates, d)
	}
}

// shownOf counts the entries of a listing by what the model saw of them at the
// first prompt that was answered with it.
func shownOf(names []string, seen []replay.Visibility) *ShownCount {
	for _, v := range seen {
		states := map[string]replay.Shown{}
		for _, name := range names {
			if state := v.Skills.Of(name); state != replay.ShownAbsent {
				states[name] = state
			}
		}
		if len(states) > 0 {
			return countShown(states)
		}
	}
	return nil
}

// listedNames reads the names of the entries of a listing. A line of a
// description that begins like an entry is taken for one; clients that write
// such texts record the names beside them.
func listedNames(content string) []string {
	names := []string{}
	for line := range strings.Lines(content) {
		if rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "- "); ok {
			name, _, _ := strings.Cut(rest, ": ")
			names = append(names, name)
		}
	}
	return names
}

// cause is why a listing that was due after the event at from was sent, and the line
// that shows it.
func (l *ListingSent) cause(events []replay.Event, from int) {
	cause, at := replay.LedTo(events, from, l.Partial)
	l.Cause = string(cause)
	if at >= 0 {
		l.CauseLine = events[at].Where.Line
	}
}

// countShown counts skills by what the model saw of them; nil for none.
func countShown(states map[string]replay.Shown) *ShownCount {
	if len(states) == 0 {
		return nil
	}
	var c ShownCount
	names := make([]string, 0, len(states))
	for name := range states {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		switch states[name] {
		case replay.ShownFull:
			c.Full++
		case replay.ShownShortened:
			c.Shortened++
			c.ShortenedNames = append(c.ShortenedNames, name)
		case replay.ShownNameOnly:
			c.NameOnly++
			c.NameOnlyNames = append(c.NameOnlyNames, name)
		case replay.ShownAbsent:
			c.Absent++
			c.AbsentNames = append(c.AbsentNames, name)
		}
	}
	return &c
}

// skillCalls counts invocations by skill, in order of the first one.
func skillCalls(a *replay.Agent) []SkillCalls {
	out := []SkillCalls{}
	for _, k := range replay.Summarize(a).Skills {
		out = append(out, SkillCalls{Skill: k.Skill, ByModel: k.Calls, ByUser: k.Typed, Refused: k.Refused, Rejected: k.Rejected,
			Bodies: k.Bodies, Notes: k.Notes, Forked: k.Forked, Line: k.First.Line})
	}
	return out
}

// compactions tells what each compaction kept of the skills invoked before it.
func (in *ReplayInput) compactions(r *replay.AgentResult) []Compaction {
	out := []Compaction{}
	events := r.Agent.Events
	var invoked []string
	texts := map[string]string{} // the latest body of each
	predictions := reattachments(r.Predicted, events)
	var asked []int // the events of the calls that count, ascending
	for i := range r.Agent.Calls {
		if call := &r.Agent.Calls[i]; call.HasUsage && !call.Abandoned {
			asked = append(asked, call.Event)
		}
	}
	slices.Sort(asked)
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case replay.Body, replay.Note:
			if _, before := texts[e.Skill]; !before {
				invoked = append(invoked, e.Skill)
				texts[e.Skill] = ""
			}
			if e.Kind == replay.Body {
				texts[e.Skill] = e.Text
			}
		case replay.Compaction:
			c := Compaction{Line: e.Where.Line, UUID: e.Where.UUID, Version: e.Version, Kept: []KeptOne{}, Dropped: []string{}}
			if e.Compaction != nil {
				c.Trigger, c.Partial = e.Compaction.Trigger, e.Compaction.Partial
				c.Before, c.After = e.Compaction.Before, e.Compaction.After
			}
			c.CallsBefore = sort.SearchInts(asked, i+1)
			back := reattached(events, i)
			if k := in.rules(e.Version); k != nil && k.Compaction.InRequests && !k.Compaction.Recorded && len(back) == 0 {
				c.Unrecorded = true
				out = append(out, c)
				continue
			}
			predicted := predictions[i]
			c.Kept = keptSkills(back, texts)
			kept := map[string]bool{}
			for _, k := range c.Kept {
				kept[k.Skill] = true
			}
			var lost []string
			for _, name := range invoked {
				if !kept[name] {
					c.Dropped = append(c.Dropped, name)
					lost = append(lost, texts[name])
				}
			}
			c.Reason = in.dropped(e.Version, back, lost, predicted)
			out = append(out, c)
		}
	}
	return out
}

// reattached are the bodies that came back after the compaction at index i.
func reattached(events []replay.Event, i int) []jsonl.InvokedSkill {
	for j := i + 1; j < len(events) && events[j].Kind != replay.Compaction; j++ {
		if events[j].Kind == replay.Reattachment {
			return events[j].Skills
		}
	}
	return nil
}

// dropped says why bodies were left out by the client of a version. What the log shows
// must not depend on the rules that the session is compared with: those of the version
// that the log names come first.
func (in *ReplayInput) dropped(version string, back []jsonl.InvokedSkill, lost []string, predicted *replay.Effect) string {
	for _, k := range []*rules.Rules{recordedRules(version), in.rules(version)} {
		if k == nil {
			continue
		}
		if text := overLimit(back, lost, k.Reattachment); text != "" {
			return text
		}
	}
	switch {
	case predicted != nil && predicted.Reason != "":
		return predicted.Reason
	case len(lost) > 0:
		return "not known why"
	}
	return ""
}

// recordedRules are those of a version of the recorded client, nil where it is none.
func recordedRules(version string) *rules.Rules {
	table, err := rules.For(rules.DefaultClient)
	if err != nil || version == "" {
		return nil
	}
	k, err := table.At(version)
	if err != nil {
		return nil
	}
	return &k
}

// overLimit says, where none of the bodies left out fits beside those put back,
// that they take too much together; "" if that does not explain it.
func overLimit(back []jsonl.InvokedSkill, lost []string, limit budget.Reattachment) string {
	if !limit.Limited || len(back) == 0 || len(lost) == 0 {
		return ""
	}
	used := 0
	for _, k := range back {
		used += budget.RoughTokens(k.Content)
	}
	for _, text := range lost {
		if used+min(budget.RoughTokens(text), limit.SkillTokens) <= limit.TotalTokens {
			return ""
		}
	}
	return "over " + count(limit.TotalTokens) + " tokens together"
}

// reattachments are the reattachments that the rules derive, by the compaction that they
// belong to: the last at or before their cause.
func reattachments(effects []replay.Effect, events []replay.Event) map[int]*replay.Effect {
	last := make([]int, len(events)) // the last compaction up to each event
	at := -1
	for i := range events {
		if events[i].Kind == replay.Compaction {
			at = i
		}
		last[i] = at
	}
	out := map[int]*replay.Effect{}
	for j := range effects {
		p := &effects[j]
		if p.Kind != replay.Reattachment || p.Cause < 0 || p.Cause >= len(events) {
			continue
		}
		if i := last[p.Cause]; i >= 0 && out[i] == nil {
			out[i] = p
		}
	}
	return out
}

// keptSkills are the bodies put back; texts are the last whole ones of each skill.
func keptSkills(list []jsonl.InvokedSkill, texts map[string]string) []KeptOne {
	kept := []KeptOne{}
	for _, sk := range list {
		kept = append(kept, KeptOne{Skill: sk.Name, Chars: budget.Len16(sk.Content), Cut: cut(sk.Content, texts[sk.Name])})
	}
	return kept
}

// cut reports whether the log shows that only the start of a body was put back: by the
// client's own mark, or as the beginning of the whole that came before.
func cut(content, whole string) bool {
	if content == whole {
		return false
	}
	return strings.HasSuffix(content, budget.ReattachMarker) || content != "" && strings.HasPrefix(whole, content)
}

// context is the size of the prompt of every request on the branch that stands.
func context(a *replay.Agent) []ContextSize {
	out := []ContextSize{}
	for _, c := range a.Calls {
		if c.HasUsage && !c.Abandoned {
			out = append(out, ContextSize{Line: c.Where.Line, Tokens: promptTokens(c.Usage)})
		}
	}
	return out
}

// promptTokens is the size of a request, never below 0.
func promptTokens(u jsonl.Usage) int64 { return max(0, u.Prompt()) }

func checks(in []replay.Check) []Check {
	out := []Check{}
	for _, c := range in {
		k := Check{Kind: string(c.Kind), Verdict: string(c.Verdict), Unconfirmed: c.Unconfirmed, Line: c.Where.Line, UUID: c.Where.UUID,
			Skill: c.Skill, Rule: c.Rule, Reason: c.Reason, Missing: c.Missing, After: c.After}
		if c.Verdict != replay.Match {
			if c.Expected != "" {
				k.Expected = new(Text(c.Expected))
			}
			if c.Observed != "" {
				k.Observed = new(Text(c.Observed))
			}
		}
		if c.Verdict == replay.Divergent {
			k.Diff = Diff(c.Expected, c.Observed)
		}
		out = append(out, k)
	}
	return out
}

func visibility(in []replay.Visibility) []Visibility {
	out := []Visibility{}
	for _, v := range in {
		out = append(out, Visibility{Prompt: v.Prompt, Command: v.Command, Line: v.Where.Line, Abandoned: v.Abandoned, Predicted: v.Predicted, Skills: Seen{v.Skills}})
	}
	return out
}
