package why

import (
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/lexical"
	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// FileState says how a skill file that was read compares with what the session saw.
type FileState string

// The states. The empty one is that of a file which is the session's own, as in a
// recording; unknown is that of one which is as it is now, and may have been otherwise.
const (
	FileSame    FileState = "same"
	FileEdited  FileState = "edited"
	FileUnknown FileState = "unknown"
)

// File is what is known of a skill file that was read, or of what looks like one. The
// zero File is the session's own.
type File struct {
	Text      FileState // of the whole file
	Described FileState // of its name and description
	// Late: its date is later than the session's start, and After later than its end.
	Late, After bool
	// Hidden is the name of the skill where the prediction leaves the file out, as whether
	// it existed is not known.
	Hidden string
}

// holds reports whether a state says that the file is as the session saw it.
func (s FileState) holds() bool { return s == "" || s == FileSame }

// doubt says why the file is not known to be as the session saw it.
func (f File) doubt() string {
	switch {
	case f.Text == FileEdited:
		return "the file was edited since"
	case f.After:
		return "its file is dated after the session"
	case f.Late:
		return "its file is dated after the session began"
	}
	return "nothing shows that its file was the same then"
}

// Session is a replayed session, prepared for questions. It may be asked for many
// skills, from one goroutine at a time.
type Session struct {
	result *replay.Result
	files  map[string]File // by path
	agents []*agent
	// names are all that the log or the files name, with what they are.
	names   map[string]*trace
	byAlias map[string]string   // skills by the names that they show beside their own
	byEnd   map[string][]string // and by the last part of theirs
	fronts  map[string]bool     // the names in front matters that are others than those of their skills

	lint     map[*skills.Skill][]frontmatter.Finding
	byName   map[*skills.Status]map[string][]*skills.Status // by the first of a list
	problems map[string]skills.Problem
	full     map[*skills.Entry]map[string]string
	oddities map[oddKey][]oddity
	shell    map[string]int // the command lines of all skills, and in how many they stand
	known    bool           // skill files are known
}

// trace is where a name was seen first.
type trace struct {
	where replay.Where // in the log
	file  string       // on disk
	paths []string     // of all files that can stand for it, with and without links
	alias string       // the name that an entry shows beside its own
	// hidden: the file is none of those that the prediction knows.
	hidden bool
}

// agent is one agent's timeline, by what questions need of it.
type agent struct {
	*replay.AgentResult
	course   replay.Course
	spans    []span
	owner    []int // by event: the span that it belongs to, -1 before the first
	summary  replay.Summary
	attempts map[string][]int // by name
	tried    map[int][]int    // attempts that succeeded, by span
	changes  map[string][]int // by skill
	listings []int            // events
	parsed   map[int]map[string]skills.ListedLine
	bodies   map[string][]int // events that bring a text of a skill, by name
	wipes    []int            // compactions and reattachments
	touches  []int
	hands    map[string][]int // segments of files of a skill that were read or run
	reads    map[string][]int // Reads of SKILL.md, by its folder, and of other files by their path
	byUse    map[string][]int // results, bodies and notes of Skill calls
	resumes  []int
	writes   []int            // of skill files, with a text that the log tells
	texts    map[int]string   // of tools, by the lines of their results; nil until they are asked for
	commands map[string][]int // that the model ran, by their text; nil until they are asked for
	ranNames []string         // their texts, sorted
	branches bool             // a rewind left something
	breaks   []int            // spans at which something may be otherwise than at the one before
	logging  map[string]bool  // client versions of which a listing stands in the log
	unheard  []int            // see findUnheard; nil where all listings stand in the log, or none
	lineOf   []int            // spans that no rewind left, by the lines of their prompts
	corpus   *corpus          // nil until it is asked for
	trials   map[*replay.Effect]*trial
	doubles  map[int]map[string][]string // what repeats an entry of a listing, by its event
	drops    map[int][]string            // what a compaction put back, by its event
	mode     []string                    // by span
	moved    map[int][]int               // changes of the mode in the course of a turn, by span
	unnamed  map[int][]int               // calls of the tool Skill that name no skill: attempts, by span
	blank    []string                    // names of skills that hold blanks
	silent   map[int]*replay.Failure     // spans to which no answer came: the request that failed, nil where the log ends
	stopped  map[int]replay.Where        // spans whose answer the user stopped before it came, or in its course
	unended  int                         // the span in the course of whose turn the log ends, -1 for none
}

// span is a prompt, or a typed line, and what came of it.
type span struct {
	replay.Visibility
	pseudo bool // what stands before the first prompt
	end    int  // the event behind the last that belongs to it
}

// corpus are entries of listings, as texts.
type corpus struct {
	entries []worded
	at      map[string]int // by name and text
	index   *lexical.Index
}

// worded is an entry with a description that it had.
type worded struct{ name, text string }

// Prepare makes a session ready to be asked. Courses are those of the result's agents,
// see [replay.RunCourses]. Files says of skill files, by path, how
// they compare with what the session saw.
func Prepare(r *replay.Result, courses []replay.Course, files map[string]File) *Session {
	s := &Session{result: r, files: files, names: map[string]*trace{}, byAlias: map[string]string{}, byEnd: map[string][]string{}, fronts: map[string]bool{}, lint: map[*skills.Skill][]frontmatter.Finding{},
		byName: map[*skills.Status]map[string][]*skills.Status{}, problems: map[string]skills.Problem{}, full: map[*skills.Entry]map[string]string{}, oddities: map[oddKey][]oddity{}}
	for i := range r.Agents {
		s.agents = append(s.agents, s.prepare(&r.Agents[i], courses[i]))
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if n := files[p].Hidden; n != "" {
			if t := s.name(n); t.file == "" {
				t.file, t.hidden = p, true
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(s.names)) {
		t := s.names[n]
		if t.file == "" && !s.listed(n) {
			continue
		}
		if t.alias != "" && s.byAlias[t.alias] == "" {
			s.byAlias[t.alias] = n
		}
		if i := strings.LastIndexByte(n, ':'); i >= 0 {
			s.byEnd[n[i+1:]] = append(s.byEnd[n[i+1:]], n)
		}
	}
	return s
}

func (s *Session) prepare(r *replay.AgentResult, course replay.Course) *agent {
	a := &agent{AgentResult: r, course: course, summary: replay.Summarize(r.Agent), attempts: map[string][]int{}, changes: map[string][]int{},
		parsed: map[int]map[string]skills.ListedLine{}, bodies: map[string][]int{}, hands: map[string][]int{}, reads: map[string][]int{}, byUse: map[string][]int{}, trials: map[*replay.Effect]*trial{}, drops: map[int][]string{}, doubles: map[int]map[string][]string{}, unnamed: map[int][]int{}, tried: map[int][]int{}}
	events := r.Agent.Events
	a.findSpans()
	for i := range events {
		if e := &events[i]; e.Kind == replay.NoCommand {
			a.summary.Attempts = append(a.summary.Attempts, replay.Attempt{Skill: e.Skill, By: replay.ByUser, Outcome: replay.OutcomeRefused, Where: e.Where, Prompt: e.PromptN, Abandoned: e.Abandoned, Version: e.Version, Event: i})
		}
	}
	a.typedInVain()
	for i := range a.summary.Attempts {
		t := &a.summary.Attempts[i]
		name := replay.NormalName(t.Skill)
		a.attempts[name] = append(a.attempts[name], i)
		switch n := a.owner[t.Event]; {
		case n < 0:
		case name == "":
			a.unnamed[n] = append(a.unnamed[n], i)
		case t.Outcome == replay.OutcomeInvoked:
			a.tried[n] = append(a.tried[n], i)
		}
		if t.Outcome == replay.OutcomeInvoked {
			s.saw(name, t.Where)
		}
	}
	for i, c := range r.Changes {
		a.changes[c.Skill] = append(a.changes[c.Skill], i)
		if c.Shown != replay.ShownAbsent && events[c.Event].Kind == replay.Listing { // not by the rules
			s.saw(c.Skill, c.Where)
		}
	}
	for _, v := range r.Visibility { // those of branches that were left
		if !v.Abandoned {
			continue
		}
		for name, shown := range v.Skills.All() {
			if at, ok := v.Skills.From(name); ok && shown != replay.ShownAbsent && events[at].Kind == replay.Listing {
				s.saw(name, events[at].Where)
			}
		}
	}
	for i := range events {
		e := &events[i]
		a.branches = a.branches || e.Abandoned
		switch e.Kind {
		case replay.Launched, replay.Refusal, replay.Body, replay.Note:
			if e.ToolUse != "" {
				a.byUse[e.ToolUse] = append(a.byUse[e.ToolUse], i)
			}
		}
		switch e.Kind {
		case replay.Start:
			if e.Start != nil && e.Start.Resume {
				a.resumes = append(a.resumes, i)
			}
		case replay.Listing:
			a.listings = append(a.listings, i)
		case replay.Body, replay.Note:
			name := replay.NormalName(e.Skill)
			a.bodies[name] = append(a.bodies[name], i)
			s.saw(name, e.Where)
		case replay.Compaction:
			a.wipes = append(a.wipes, i)
		case replay.Reattachment:
			a.wipes = append(a.wipes, i)
			for _, k := range e.Skills {
				s.saw(k.Name, e.Where)
			}
		case replay.CatalogueChange:
			if e.Change != nil && !e.Abandoned {
				a.writes = append(a.writes, i)
			}
		case replay.Touch:
			a.touches = append(a.touches, i)
			if dir, ok := strings.CutSuffix(e.Path, "/SKILL.md"); ok && e.Tool == "Read" {
				a.reads[path.Base(dir)] = append(a.reads[path.Base(dir)], i)
			} else if e.Tool == "Read" {
				a.reads[e.Path] = append(a.reads[e.Path], i)
			}
		}
	}
	a.blank = r.BlankNames()
	a.findUnheard()
	a.findSilent(s.result.Session.Failures)
	a.findBreaks()
	for i := range r.Agent.Segments {
		if g := &r.Agent.Segments[i]; g.Part == replay.PartReference {
			name := replay.NormalName(g.Skill)
			a.hands[name] = append(a.hands[name], i)
		}
	}
	var last []skills.Status
	for i := range a.spans {
		m, ok := a.course.At(a.spans[i].Event)
		if !ok || m.Missing() != "" {
			continue
		}
		s.known = true
		list := m.Skills()
		if len(list) == 0 || len(last) > 0 && &list[0] == &last[0] {
			if i == 0 || len(list) == 0 {
				s.problemsOf(&m)
			}
			continue
		}
		last = list
		s.problemsOf(&m)
		for j := range list {
			k := list[j].Skill
			t := s.name(k.Name)
			if t.file == "" {
				t.file = k.Path
			}
			if r := list[j].Reason; r != skills.SameName && r != skills.NestedShadowed {
				for _, p := range []string{k.Path, k.RealPath} {
					if p != "" && !slices.Contains(t.paths, p) {
						t.paths = append(t.paths, p)
					}
				}
			}
			n, ok := k.Front.Name()
			if !ok || n == "" || n == k.Name {
				continue
			}
			s.fronts[n] = true
			if k.Plugin != "" {
				s.fronts[k.Plugin+":"+n] = true
			}
			if k.Kind == skills.KindSkill && t.alias == "" {
				t.alias = n
			}
		}
	}
	return a
}

func (s *Session) problemsOf(m *replay.Moment) {
	for _, p := range m.Problems() {
		if p.Name == "" {
			continue
		}
		if _, ok := s.problems[p.Name]; !ok {
			s.problems[p.Name] = p
		}
	}
}

func (s *Session) name(name string) *trace {
	t := s.names[name]
	if t == nil {
		t = &trace{}
		s.names[name] = t
	}
	return t
}

// saw notes a name of the log.
func (s *Session) saw(name string, where replay.Where) {
	if name == "" {
		return
	}
	t := s.name(name)
	if t.where.Line == 0 || where.File == t.where.File && where.Line < t.where.Line {
		t.where = where
	}
}

// rowNear is the prompt at which the same stood before the model as at an event between
// prompts: the one before, or the one behind where a listing or a compaction came
// between: moved are these events.
func (a *agent) rowNear(event int, moved []int) *replay.Visibility {
	rows := a.Visibility
	n := sort.Search(len(rows), func(i int) bool { return rows[i].Event > event })
	if n == 0 {
		return nil
	}
	row := &rows[n-1]
	if i := sort.SearchInts(moved, row.Answer); n < len(rows) && i < len(moved) && moved[i] < event {
		return &rows[n]
	}
	return row
}

// findSpans parts the timeline at prompts and typed lines. The skills of a stack are
// one line.
func (a *agent) findSpans() {
	events := a.Agent.Events
	at := map[int]int{} // event -> span
	for i := range a.Visibility {
		v := a.Visibility[i]
		if e := &events[v.Event]; e.Stack > 1 && len(a.spans) > 0 {
			at[v.Event] = len(a.spans) - 1
			continue
		}
		at[v.Event] = len(a.spans)
		a.spans = append(a.spans, span{Visibility: v})
	}
	var moved []int
	for i := range events {
		if e := &events[i]; !e.Abandoned && (e.Kind == replay.Compaction || e.Kind == replay.Listing) {
			moved = append(moved, i)
		}
	}
	// Typed commands that run in a fork, or that the client did not know, have no row of
	// their own.
	for i := range events {
		e := &events[i]
		if (e.Kind != replay.NoCommand || e.Input != "") && (e.Kind != replay.Slash || !e.Forked) {
			continue
		}
		v := replay.Visibility{Event: i, Answer: i, Command: e.Skill, Where: e.Where, Abandoned: e.Abandoned}
		if row := a.rowNear(i, moved); row != nil {
			v.Skills, v.Predicted = row.Skills, row.Predicted
		}
		at[i] = len(a.spans)
		a.spans = append(a.spans, span{Visibility: v})
	}
	a.owner = make([]int, len(events))
	before := false
	for i := range events {
		switch n, ok := at[i]; {
		case ok:
			a.owner[i] = n
		case events[i].Parent >= 0 && events[i].Parent < i:
			a.owner[i] = a.owner[events[i].Parent]
		default:
			a.owner[i] = -1
		}
		if a.owner[i] < 0 {
			switch events[i].Kind {
			case replay.SkillCall, replay.Body:
				before = true
			}
		}
	}
	if before || len(a.spans) == 0 && len(events) > 0 {
		// What was called before the first prompt: of a fork, or of a log that was cut.
		first := 0
		for i := range events {
			if events[i].Kind == replay.Turn || events[i].Kind == replay.SkillCall || events[i].Kind == replay.Body {
				first = i
				break
			}
		}
		v := replay.Visibility{Event: first, Answer: first, Where: events[first].Where}
		n := len(a.spans)
		a.spans = append(a.spans, span{Visibility: v, pseudo: true})
		for i := range a.owner {
			if a.owner[i] < 0 {
				a.owner[i] = n
			}
		}
	}
	// In the order of the timeline, whatever they were found by.
	order := make([]int, len(a.spans))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return a.spans[x].Event - a.spans[y].Event })
	place := make([]int, len(order))
	sorted := make([]span, len(order))
	for to, from := range order {
		place[from], sorted[to] = to, a.spans[from]
	}
	a.spans = sorted
	for i, n := range a.owner {
		if n >= 0 {
			a.owner[i] = place[n]
		}
	}
	ends := map[bool]int{false: len(events), true: len(events)}
	for i := len(a.spans) - 1; i >= 0; i-- {
		sp := &a.spans[i]
		sp.end = ends[sp.Abandoned]
		ends[sp.Abandoned] = sp.Event
		if !sp.Abandoned {
			a.lineOf = append(a.lineOf, i)
		}
	}
	slices.SortStableFunc(a.lineOf, func(x, y int) int { return a.spans[x].Where.Line - a.spans[y].Where.Line })
	a.findModes()
}

// typedInVain adds what was typed of skills that are listed, or have a file where none
// lists them, and brought no text: to the summary these may be commands of the client's
// own.
func (a *agent) typedInVain() {
	listed, tried := map[string]bool{}, map[int]bool{}
	for _, c := range a.Changes {
		listed[c.Skill] = true
	}
	for i := range a.summary.Attempts {
		tried[a.summary.Attempts[i].Event] = true
	}
	for i := range a.Agent.Events {
		e := &a.Agent.Events[i]
		if e.Kind == replay.Slash && !e.Forked && e.Stack <= 1 && e.Input == "" && !tried[i] && (listed[replay.NormalName(e.Skill)] || a.typable(i)) {
			a.summary.Attempts = append(a.summary.Attempts, replay.Attempt{Skill: e.Skill, By: replay.ByUser, Outcome: replay.OutcomeInvoked, Where: e.Where, Prompt: e.PromptN, Abandoned: e.Abandoned, Version: e.Version, Event: i})
		}
	}
}

// typable reports whether a file of the name that was typed is a skill that the client
// carries out.
func (a *agent) typable(i int) bool {
	m, ok := a.course.At(i)
	if !ok || m.Missing() != "" {
		return false
	}
	name := replay.NormalName(a.Agent.Events[i].Skill)
	return slices.ContainsFunc(m.Skills(), func(st skills.Status) bool {
		return st.Skill.Name == name && st.Reason == skills.Disabled
	})
}

// findSilent finds the prompts that the model did not answer: their last request failed,
// the user stopped it, or the log ends behind them. Where another prompt follows at once the model may have
// answered both together.
func (a *agent) findSilent(failures []replay.Failure) {
	a.silent, a.stopped, a.unended = map[int]*replay.Failure{}, map[int]replay.Where{}, -1
	events := a.Agent.Events
	for i := range a.Agent.Interrupts {
		if in := &a.Agent.Interrupts[i]; in.Event >= 0 && a.owner[in.Event] >= 0 {
			a.stopped[a.owner[in.Event]] = in.Where
		}
	}
	answered := make([]bool, len(a.spans))
	last := -1 // of the events that are replies, or stand before one
	reply := func(i int) {
		if n := a.owner[i]; n >= 0 {
			answered[n] = true
		}
		last = max(last, i)
	}
	for i := range events {
		if k := events[i].Kind; k == replay.Turn || k == replay.SkillCall {
			reply(i)
		}
	}
	for _, i := range a.Agent.Replies {
		reply(i)
	}
	if last >= 0 && a.Agent.Unfinished.Line > 0 && a.owner[last] >= 0 && answered[a.owner[last]] {
		a.unended = a.owner[last]
	}
	id := a.Agent.ID
	if id == "main" {
		id = ""
	}
	var own []*replay.Failure // after which the client gave up, by line
	for i := range failures {
		if f := &failures[i]; f.Agent == id && f.Retry == 0 && f.Where.File == a.Agent.File {
			own = append(own, f)
		}
	}
	slices.SortStableFunc(own, func(x, y *replay.Failure) int { return x.Where.Line - y.Where.Line })
	for n := range a.spans {
		sp := &a.spans[n]
		if answered[n] || sp.pseudo || sp.Abandoned || a.typedAway(n) || events[sp.Event].Forked {
			continue
		}
		from := sort.Search(len(own), func(i int) bool { return own[i].Where.Line > sp.Where.Line })
		to := len(own)
		if sp.end < len(events) {
			until := events[sp.end].Where.Line
			to = sort.Search(len(own), func(i int) bool { return own[i].Where.Line >= until })
		}
		var failed *replay.Failure
		if from < to {
			failed = own[to-1]
		}
		if _, stopped := a.stopped[n]; stopped || failed != nil || last < sp.Event {
			a.silent[n] = failed
		}
	}
}

// typedAway reports whether a span is a line that the client answered itself: the model
// was asked nothing.
func (a *agent) typedAway(n int) bool {
	return a.Agent.Events[a.spans[n].Event].Kind == replay.NoCommand
}

// findModes finds the mode of each span: the permission mode in which its line was
// typed, or what the client and the tools said of plan mode and auto mode before the
// model answered. What they said later moved the mode in the course of the turn.
func (a *agent) findModes() {
	events := a.Agent.Events
	a.mode, a.moved = make([]string, len(a.spans)), map[int][]int{}
	by := map[int][]int{}
	for i := range a.Agent.Modes {
		if c := &a.Agent.Modes[i]; c.Event >= 0 && a.owner[c.Event] >= 0 {
			by[a.owner[c.Event]] = append(by[a.owner[c.Event]], i)
		}
	}
	mode := ""
	for n := range a.spans {
		sp := &a.spans[n]
		now := mode
		if m := events[sp.Event].Mode; m != "" {
			now = m
		}
		turn := sp.end // the model's first answer
		for i := sp.Event; i < sp.end; i++ {
			if events[i].Kind == replay.Turn && a.owner[i] == n {
				turn = i
				break
			}
		}
		at := now
		for _, i := range by[n] {
			c := &a.Agent.Modes[i]
			next := c.Mode
			if c.Abandoned && !sp.Abandoned {
				continue
			}
			if next == now || next == "" && now != "plan" {
				continue // told again
			}
			if now = next; c.Event < turn {
				at = next
				continue
			}
			a.moved[n] = append(a.moved[n], i)
		}
		a.mode[n] = at
		if !sp.Abandoned {
			mode = now
		}
	}
}

// spanOfLine is the span that a line of the log belongs to, -1 if there is none.
func (a *agent) spanOfLine(line int) int {
	i := sort.Search(len(a.lineOf), func(i int) bool { return a.spans[a.lineOf[i]].Where.Line > line }) - 1
	if i < 0 {
		return -1
	}
	return a.lineOf[i]
}

// lines are the entries of a recorded listing, by name.
func (a *agent) lines(event int) map[string]skills.ListedLine {
	if m, ok := a.parsed[event]; ok {
		return m
	}
	m := map[string]skills.ListedLine{}
	if e := &a.Agent.Events[event]; e.Listing != nil {
		for _, l := range skills.ParseListing(e.Listing.Content, e.Listing.Names, a.blank...) {
			if l.Name != "" {
				m[l.Name] = l
			}
		}
	}
	a.parsed[event] = m
	return m
}

// statuses are the skills of a name at a moment, in listing order.
func (s *Session) statuses(m *replay.Moment, name string) []*skills.Status {
	list := m.Skills()
	if len(list) == 0 {
		return nil
	}
	by := s.byName[&list[0]]
	if by == nil {
		by = map[string][]*skills.Status{}
		for i := range list {
			by[list[i].Skill.Name] = append(by[list[i].Skill.Name], &list[i])
		}
		s.byName[&list[0]] = by
	}
	return by[name]
}

// findings are what this client drops or changes of a skill's front matter.
func (s *Session) findings(k *skills.Skill, d frontmatter.Dialect) []frontmatter.Finding {
	f, ok := s.lint[k]
	if !ok {
		f = frontmatter.Lint(k.Text, d)
		s.lint[k] = f
	}
	return f
}

// Names are all skills that the session or its files name, sorted, each by one name.
// What only looks like a skill is among them.
func (s *Session) Names() []string {
	var names []string
	for n, t := range s.names {
		if t.file != "" || s.listed(n) || s.byAlias[n] == "" && len(s.byEnd[n]) != 1 {
			names = append(names, n)
		}
	}
	for n := range s.problems {
		if s.names[n] == nil {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// Subject is a skill as a session knows it.
type Subject struct {
	Asked string // the name that was given
	Name  string // by which it is listed
	// Others are names by which it can be called too.
	Others []string
	// Known: the log or a file names it. Near are names that are nearly the one that was
	// given, the nearest first, where it is not known.
	Known bool
	Near  []string
}

// called are all names by which the skill can have been called.
func (sub *Subject) called() []string { return append([]string{sub.Name}, sub.Others...) }

// Resolve finds the skill that a name means: an entry or a file of that name, else the
// one that shows it beside its own name, else the only one of a plugin or folder that
// ends in it.
func (s *Session) Resolve(name string) Subject {
	sub := s.resolve(name)
	if !sub.Known {
		sub.Near = near(sub.Name, s.Names(), s.byEnd[sub.Name])
	}
	return sub
}

// resolve is Resolve without names that are near.
func (s *Session) resolve(name string) Subject {
	name = replay.NormalName(name)
	sub := Subject{Asked: name, Name: name}
	_, like := s.problems[name]
	t := s.names[name]
	own := t != nil && (t.file != "" || s.listed(name)) || like
	switch alias, ends := s.byAlias[name], s.byEnd[name]; {
	case own:
		sub.Known = true
	case alias != "":
		sub.Name, sub.Known = alias, true
	case len(ends) == 1:
		sub.Name, sub.Known = ends[0], true
	case t != nil:
		sub.Known = true
	default:
		return sub
	}
	if sub.Name != name {
		sub.Others = append(sub.Others, name)
	}
	if t = s.names[sub.Name]; t != nil && t.alias != "" && t.alias != name && (s.names[t.alias] == nil || s.names[t.alias].file == "") {
		sub.Others = append(sub.Others, t.alias)
	}
	if i := strings.LastIndexByte(sub.Name, ':'); i >= 0 {
		// The bare name of a plugin's skill, where nothing else has it.
		if bare := sub.Name[i+1:]; bare != name && (s.names[bare] == nil || s.names[bare].file == "" && !s.listed(bare)) {
			sub.Others = append(sub.Others, bare)
		}
	}
	return sub
}

// listed reports whether any listing has a name.
func (s *Session) listed(name string) bool {
	for _, a := range s.agents {
		if len(a.changes[name]) > 0 {
			return true
		}
	}
	return false
}

// near are the names that are nearly one, the nearest first: those that differ only in
// case or in the characters between words, those that end in it, those at most two edits
// away (or a third of a short name), and those that begin with it.
func near(name string, all, ends []string) []string {
	type found struct {
		name string
		d    int
	}
	fold := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '_' || r == '-' || r == ' ' || r == ':' || r == '/' {
				return -1
			}
			return r
		}, strings.ToLower(strings.TrimSuffix(s, ".md")))
	}
	want := fold(path.Base(name))
	var list []found
	for _, n := range all {
		last := n[strings.LastIndexByte(n, ':')+1:]
		limit := min(3, len([]rune(want))/3+1)
		switch d := min(lexical.Distance(want, fold(n), limit), lexical.Distance(want, fold(last), limit)); {
		case slices.Contains(ends, n):
			list = append(list, found{n, 0})
		case d < limit:
			list = append(list, found{n, d})
		case len(want) >= 4 && (strings.HasPrefix(fold(last), want) || len(fold(last)) >= 4 && strings.HasPrefix(want, fold(last))):
			list = append(list, found{n, limit})
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return a.d - b.d })
	var out []string
	const most = 5
	for _, f := range list[:min(len(list), most)] {
		out = append(out, f.name)
	}
	return out
}
