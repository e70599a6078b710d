package replay

import (
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/fileops"
)

// Source is one log file of a session. Agent is the subagent's id, "" for the
// main log; Type its type where a file beside the log tells.
type Source struct {
	Name    string
	Agent   string
	Type    string
	Records iter.Seq2[*jsonl.Record, error]
}

// Observe rebuilds the timelines of a session from its main log and the logs of
// its subagents. Damaged lines become defects of the session; the error is the
// first I/O error, beside what was read until then.
func Observe(main Source, subs ...Source) (*Session, error) {
	s := &Session{Client: "claude-code", File: main.Name, Unknown: map[string]int{}}
	var firstErr error
	o := &observer{session: s, calls: map[string]*callRef{}, seen: map[string]bool{}, requests: newRequests(), sent: newSent(), failed: map[string]bool{}}
	in := &intake{tools: map[string]string{}}
	read := func(src Source, facts func(*jsonl.Record)) []*record {
		var out []*record
		for r, err := range src.Records {
			if err != nil {
				if firstErr == nil {
					firstErr = err
				}
				break
			}
			s.Defects = append(s.Defects, r.Defects...)
			if r.Broken {
				continue // a line from which no record came
			}
			s.Records++
			facts(r)
			if n := len(out); n == 0 || !unplaced(r) || !out[n-1].unplaced {
				out = append(out, in.take(r))
			}
		}
		return out
	}
	own, side := splitSidechains(read(main, o.mainFacts))
	o.agent("main", main.Name, "", own)
	for _, chain := range side {
		o.agent(chain.id, main.Name, "", chain.records)
	}
	for _, sub := range subs {
		o.agent(sub.Agent, sub.Name, sub.Type, read(sub, o.facts))
	}
	o.link()
	return s, firstErr
}

// observer collects what crosses the agents of a session.
type observer struct {
	session  *Session
	calls    map[string]*callRef // tool uses by id, of all agents
	seen     map[string]bool     // versions and models
	requests requests            // the model requests of all agents
	sent     sent                // what records of requests show
	failed   map[string]bool     // requests that failed, by the uuid of their record
	byAgent  []agentLink
	folders  []folder // of skills, as their bodies name them

	saysEarlier map[string]bool // see earlier, by version
}

// callRef is a tool use and what has come of it.
type callRef struct {
	name  string
	input jsonl.Value
	agent int // index of the agent that made it
	event int // its event, -1 if it has none
	skill string
}

// agentLink says that a tool use started an agent.
type agentLink struct {
	toolUse, agent, skill, typ string
	background                 bool
}

// mainFacts takes what a record of the main log says of its session.
func (o *observer) mainFacts(r *jsonl.Record) {
	s := o.session
	if r.Session != "" {
		if s.ID == "" {
			s.ID = r.Session
		}
		if r.Session != s.ID {
			s.Copied++
		}
	}
	if s.CWD == "" {
		s.CWD = r.CWD
	}
	if a := r.Attachment; a != nil && a.HasGitRepo && s.GitRepo == nil {
		git := a.GitRepo
		s.GitRepo = &git
	}
	if r.ForkedFrom != "" && s.ForkOf == "" {
		s.ForkOf = r.ForkedFrom
	}
	o.facts(r)
	if r.Cost != nil && r.Cost.TotalUSD != "" && (r.Session == "" || r.Session == s.ID) {
		s.Accounts = append(s.Accounts, Account{Where{s.File, r.Pos.Line, r.UUID, s.End}, *r.Cost})
	}
}

// facts takes what a record of any log says of its session.
func (o *observer) facts(r *jsonl.Record) {
	s := o.session
	if r.Version != "" {
		o.add(&s.Versions, "version ", r.Version)
	}
	if m := r.Message; m != nil && r.Kind == jsonl.KindAssistant && m.Model != "" && m.Model != syntheticModel {
		o.add(&s.Models, "model ", m.Model)
	}
	if !r.Time.IsZero() {
		if s.Start.IsZero() || r.Time.Before(s.Start) {
			s.Start = r.Time
		}
		if r.Time.After(s.End) {
			s.End = r.Time
		}
	}
	if retried := r.Kind == jsonl.KindSystem && r.Subtype == "api_error"; retried || r.Kind == jsonl.KindAssistant && r.APIError {
		o.failure(r, retried)
	}
	o.sent.note(r)
	if r.Kind == jsonl.KindOther {
		o.unknown(r.Type)
	}
}

// failure notes a request that failed, once: a copied history repeats it.
func (o *observer) failure(r *jsonl.Record, retried bool) {
	if r.UUID != "" {
		if o.failed[r.UUID] {
			return
		}
		o.failed[r.UUID] = true
	}
	f := Failure{Where: Where{r.Pos.File, r.Pos.Line, r.UUID, r.Time}, Agent: r.Agent, Error: r.Error, Status: r.Status}
	if retried {
		f.Retry, f.MaxRetries = max(r.Retry, 1), r.MaxRetries
	}
	o.session.Failures = append(o.session.Failures, f)
}

// add adds a name to a list that holds each once.
func (o *observer) add(list *[]string, what, name string) {
	if n := len(*list); n > 0 && (*list)[n-1] == name {
		return // as nearly always
	}
	if key := what + name; !o.seen[key] {
		o.seen[key] = true
		*list = append(*list, name)
	}
}

// maxUnknown bounds how many names of unknown types are kept, and maxName, in
// bytes, how long they may be: a hostile log could hold any number.
const (
	maxUnknown = 256
	maxName    = 128
)

func (o *observer) unknown(name string) {
	switch {
	case name == "":
		name = "(none)"
	case len(name) > maxName:
		name = "(long)"
	}
	m := o.session.Unknown
	if _, ok := m[name]; !ok && len(m) >= maxUnknown {
		name = "(more)"
	}
	m[name]++
}

// syntheticModel is the model name of records that no model wrote.
const syntheticModel = "<synthetic>"

type sidechain struct {
	id      string
	records []*record
}

// splitSidechains takes the subagents' records out of a main log, where clients
// before 2.0 wrote them, one agent a root.
func splitSidechains(records []*record) (own []*record, side []sidechain) {
	var any bool
	for _, r := range records {
		any = any || r.Sidechain
	}
	if !any {
		return records, nil
	}
	chainOf := map[string]int{}
	byAgent := map[string]int{}
	for _, r := range records {
		if !r.Sidechain {
			own = append(own, r)
			continue
		}
		c, ok := chainOf[r.Parent]
		switch {
		case r.Agent != "":
			c, ok = byAgent[r.Agent]
			if !ok {
				c = len(side)
				byAgent[r.Agent] = c
				side = append(side, sidechain{id: r.Agent})
			}
		case !ok || r.Parent == "":
			c = len(side)
			side = append(side, sidechain{id: "sidechain-" + itoa(c+1)})
		}
		if r.UUID != "" {
			chainOf[r.UUID] = c
		}
		side[c].records = append(side[c].records, r)
	}
	if len(own) == 0 && len(side) == 1 {
		return side[0].records, nil // a subagent's log given by itself
	}
	return own, side
}

// agent builds one agent's timeline.
func (o *observer) agent(id, file, typ string, records []*record) {
	g := newGraph(records)
	s := o.session
	s.Replayed += g.replayed
	s.Dangling += g.dangling
	s.Cut += g.cut
	s.OutOfOrder += g.late
	a := &Agent{ID: id, File: file, Type: typ}
	s.Agents = append(s.Agents, a)
	w := &walker{observer: o, agent: a, index: len(s.Agents) - 1, graph: g,
		last: make([]int, len(g.nodes)), tails: make([]int, len(g.nodes)), prevActive: -1, tail: -1, reply: -1, result: -1, turns: map[string]bool{}, ends: map[string]int{}}
	for i := range w.last {
		w.last[i], w.tails[i] = -1, -2
	}
	w.findKept()
	w.findBlankNames()
	if id != "main" && len(records) > 0 {
		w.emitRaw(Event{Kind: Start, Where: w.where(records[0]), Parent: -1, Version: records[0].Version, Start: &StartEvent{Process: -1}})
	}
	own := 0
	if id != "main" {
		own = w.ownFrom()
		a.Inherits = own > 0
	}
	for _, i := range g.order {
		w.node, w.reply = i, -1
		n := &g.nodes[i]
		switch {
		case n.echo:
		case i < own && (n.rec.Kind == jsonl.KindUser || n.rec.Kind == jsonl.KindAssistant):
			// Its parent's, and charged to it there; here it is context.
		default:
			w.record(n.rec)
			w.goesOn(n.rec)
		}
		w.segment(n.rec)
		if w.last[i] < 0 && n.parent >= 0 {
			w.last[i] = w.last[n.parent]
		}
	}
	w.shapeBefore()
}

// ownFrom is the node at which a fork's own messages begin, where its log repeats
// those of its parent: the one that tells it its task. 0 for any other log.
func (w *walker) ownFrom() int {
	for i := range w.graph.nodes {
		if m := w.graph.nodes[i].rec.Message; m != nil && w.graph.nodes[i].rec.Kind == jsonl.KindUser && strings.HasPrefix(strings.TrimLeft(firstText(m), " \t\r\n"), invocation) {
			return i
		}
	}
	return 0
}

// link ties subagents to the tool uses that started them.
func (o *observer) link() {
	subs := o.session.Agents[1:]
	byID := map[string][]*Agent{}
	for _, a := range subs {
		byID[a.ID] = append(byID[a.ID], a)
	}
	for _, l := range o.byAgent {
		for _, a := range byID[l.agent] {
			a.StartedBy = l.toolUse
			a.OnBehalfOf = l.skill
			if a.Type == "" {
				a.Type = l.typ
			}
		}
	}
	o.claim(subs)
	o.passOn()
	sort.SliceStable(subs, func(i, j int) bool {
		x, y := firstTime(subs[i]), firstTime(subs[j])
		if !x.Equal(y) {
			return x.Before(y)
		}
		return subs[i].ID < subs[j].ID
	})
}

// passOn lets the agents that a fork started work for its skill too.
func (o *observer) passOn() {
	agents := o.session.Agents
	for _, a := range agents {
		// Up to the agent that works for a skill. A chain has no more links than there
		// are agents; only a hostile log closes one to a ring.
		up := a
		for n := 0; n < len(agents) && up.OnBehalfOf == "" && up.StartedBy != ""; n++ {
			call := o.calls[up.StartedBy]
			if call == nil || call.agent >= len(agents) {
				break
			}
			up = agents[call.agent]
		}
		a.OnBehalfOf = up.OnBehalfOf
	}
}

// claim ties forks that no result names, but whose system prompt is a body or whose
// task is told in a message, to the skill: its latest call before them that no other
// agent was started by.
func (o *observer) claim(subs []*Agent) {
	taken := map[string]bool{}
	for _, a := range subs {
		taken[a.StartedBy] = true
	}
	for _, a := range subs {
		b := systemBody(a)
		if a.StartedBy != "" || b == nil && a.Invocation == "" {
			continue
		}
		var started time.Time
		for i := range a.Events {
			if e := &a.Events[i]; e.Kind == Turn {
				started = e.Where.Time // its first own request: what it repeats is no event
				break
			}
		}
		runs := func(skill string) bool { return skill != "" && strings.Contains(a.Invocation, skill) }
		if b != nil {
			a.OnBehalfOf, started = b.Skill, b.Where.Time
			runs = func(skill string) bool { return skill == b.Skill }
		}
		for _, parent := range o.session.Agents {
			for i := range parent.Events {
				e := &parent.Events[i]
				if e.Kind == SkillCall && runs(normalName(e.Skill)) && !taken[e.ToolUse] && !e.Where.Time.After(started) && parent != a {
					a.StartedBy, a.OnBehalfOf = e.ToolUse, e.Skill
				}
			}
		}
		taken[a.StartedBy] = true
	}
}

// walker turns the ordered records of one agent into events.
type walker struct {
	*observer
	agent *Agent
	index int
	graph *graph
	node  int // the node in hand

	last       []int // last event at or before each node on its branch, -1 where there is none
	prevActive int

	tails []int // last segment at or before each node, -2 where none is known
	tail  int   // last segment of the conversation in hand

	reply  int // the call whose reply the record in hand is part of, -1 if of none
	result int // segment of the last result of the turn, -1 if there is none

	shape  *Shape         // as the last record of the prompt showed it
	ends   map[string]int // the last segment of the requests whose records are known
	walked int            // segments that were looked at for these

	turns map[string]bool // assistant messages that have begun
	kept  map[string]map[string]bool
	stays map[string]bool // the records that any boundary keeps

	closed            bool // the process has written its closing account
	promptN, slashN   int
	toolPos, skillPos int
	stackPos          int
	sawAssistant      bool // since the last boundary
	boundaries        int
	cwd               string // of the record before
	// What the records of the prompt showed last, and the catalogue that the one in
	// hand shows anew.
	lastSection, lastTool, lastBody string
	shown                           *jsonl.Attachment
	pendingBody                     string // tool use whose body may follow without a source id
}

func (w *walker) where(r *record) Where {
	return Where{File: w.agent.File, Line: r.Line, UUID: r.UUID, Time: r.Time}
}

// doubled has room for one more. Large slices grow by a quarter otherwise, which
// copies large elements four times as often.
func doubled[T any](list []T) []T {
	if len(list) == cap(list) {
		return slices.Grow(list, len(list)+64)
	}
	return list
}

// emit appends an event of the node in hand.
func (w *walker) emit(e Event) int {
	n := &w.graph.nodes[w.node]
	e.Where = w.where(n.rec)
	e.Abandoned = n.dead
	e.Version = n.rec.Version
	e.PromptN = w.promptN
	if n.dead {
		e.Parent = w.deadParent(w.node)
	} else {
		e.Parent = w.prevActive
	}
	if e.Kind == Prompt || e.Kind == Slash {
		e.Mode = n.rec.Mode
	}
	i := len(w.agent.Events)
	if w.closed && w.agent.ID == "main" && (e.Kind == Prompt || e.Kind == Slash || e.Kind == Compaction) {
		w.session.Restarts = append(w.session.Restarts, i)
		w.closed = false
	}
	w.agent.Events = append(doubled(w.agent.Events), e)
	w.last[w.node] = i
	if !n.dead {
		w.prevActive = i
	}
	return i
}

func (w *walker) emitRaw(e Event) {
	w.agent.Events = append(w.agent.Events, e)
	w.prevActive = len(w.agent.Events) - 1
}

// repliedAgain notes the event behind which a reply stands that is no event itself.
func (w *walker) repliedAgain() {
	at := w.prevActive
	if w.graph.nodes[w.node].dead {
		at = w.deadParent(w.node)
	}
	if n := len(w.agent.Replies); at >= 0 && (n == 0 || w.agent.Replies[n-1] != at) {
		w.agent.Replies = append(w.agent.Replies, at)
	}
}

// deadParent is the last event before a node on its own branch. Parents come
// before their children in the order.
func (w *walker) deadParent(i int) int {
	if w.last[i] >= 0 {
		return w.last[i]
	}
	if p := w.graph.nodes[i].parent; p >= 0 {
		return w.last[p]
	}
	return -1
}

// findKept collects, for each boundary, the records that stay in the conversation.
func (w *walker) findKept() {
	nodes := w.graph.nodes
	// Segments that overlap without end occur in hostile logs only. They must not
	// cost more than some walks over the log.
	const walks = 16
	steps := walks * len(nodes)
	w.kept, w.stays = map[string]map[string]bool{}, map[string]bool{}
	for i := range nodes {
		c := nodes[i].rec.Compact
		if c == nil {
			continue
		}
		kept := map[string]bool{}
		for _, u := range c.Preserved {
			if u != "" {
				kept[u] = true
			}
		}
		// A list is exact; the walk is for logs that only name the ends.
		if j, ok := w.graph.byUUID[c.Tail]; ok && len(kept) == 0 {
			for ; j >= 0 && steps > 0; steps-- {
				u := nodes[j].rec.UUID
				if u != "" {
					kept[u] = true
				}
				if u == c.Head {
					break
				}
				j = nodes[j].parent
			}
		}
		w.kept[nodes[i].rec.UUID] = kept
		maps.Copy(w.stays, kept)
	}
}

// record dispatches one record.
func (w *walker) record(r *record) {
	w.entered(r)
	switch r.Kind {
	case jsonl.KindUser:
		w.user(r)
	case jsonl.KindAssistant:
		w.assistant(r)
	case jsonl.KindSystem:
		w.system(r)
	case jsonl.KindAttachment:
		w.attachment(r)
	case jsonl.KindCostState:
		w.closed = true // the client's closing account
	}
}

func (w *walker) assistant(r *record) {
	m := r.Message
	if m == nil {
		w.session.Cut++
		return
	}
	w.apiCall(r)
	id := m.ID
	if id == "" {
		id = r.UUID
	}
	switch {
	case m.Model == syntheticModel:
	case !w.turns[id]:
		w.turns[id] = true
		w.emit(Event{Kind: Turn, Message: id})
	default:
		w.repliedAgain()
	}
	w.sawAssistant = true
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Kind != jsonl.BlockToolUse {
			continue
		}
		if _, ok := w.observer.calls[b.ID]; ok && b.ID != "" {
			b.repeated = true
			continue // a streaming snapshot repeats its blocks
		}
		w.toolPos++
		ref := &callRef{name: b.Name, input: jsonl.Value(b.Input), agent: w.index, event: -1}
		w.observer.calls[b.ID] = ref
		if b.Name == "Skill" {
			w.skillPos++
			skill, keys := skillInput(ref.input)
			ref.skill = skill
			args := ref.input.Get("args")
			text := args.Text()
			e := Event{Kind: SkillCall, Skill: skill, InputKeys: keys, InputKind: ref.input.Get("skill").Kind(), Args: text, HasArgs: args.Kind() == jsonl.ValueString,
				ToolUse: b.ID, Message: id, ToolPosition: w.toolPos, SkillPosition: w.skillPos}
			if normalName(skill) == "" {
				const most = 200
				e.Given = strings.ToValidUTF8(string(ref.input[:min(len(ref.input), most)]), "")
			}
			ref.event = w.emit(e)
		}
	}
}

// skillInput reads the skill's name and tells which members name one: the key was
// "command" at first.
func skillInput(v jsonl.Value) (name string, keys []string) {
	for _, key := range []string{"skill", "command"} {
		if f := v.Get(key); f.Kind() == jsonl.ValueString {
			if len(keys) == 0 {
				name = f.Text()
			}
			keys = append(keys, key)
		}
	}
	return name, keys
}

func (w *walker) user(r *record) {
	m := r.Message
	if m == nil {
		w.session.Cut++
		return
	}
	if w.results(r) {
		w.behindResults(m)
		return
	}
	if r.CompactSummary || w.preloads(m) || w.beforeTags(m) {
		return
	}
	if r.Meta || r.Synthetic || r.SourceToolUse != "" {
		w.injected(r)
		return
	}
	text, images := joined(m)
	if name, answer, ok := unknownCommand(text); ok {
		w.emit(Event{Kind: NoCommand, Skill: name, Text: answer})
		return
	}
	switch classify(text) {
	case textCommand:
		w.command(r, text)
	case textPrompt:
		if strings.TrimSpace(text) == "" && images == 0 {
			return
		}
		if w.agent.ID == "main" && strings.HasPrefix(text, "/") && w.isLocalCommand(r) {
			w.typed(r, text)
			return
		}
		if w.agent.ID != "main" && w.agent.Prompts == 0 && strings.HasPrefix(text, baseDirectory) {
			// The first record of a fork before it was marked as the client's own.
			w.emit(Event{Kind: Body, Text: text, String: m.String, Skill: skillOfBody(text)})
			return
		}
		if w.agent.ID != "main" && strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), invocation) {
			w.agent.Invocation = text
			return
		}
		if r.PromptSource == "system" || r.TurnOrigin == "task_notification" {
			return
		}
		w.prompt(text, images)
	}
}

// baseDirectory begins the body of a skill folder.
const baseDirectory = "Base directory for this skill: "

func skillOfBody(text string) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(text, baseDirectory), "\n")
	if i := strings.LastIndexByte(line, '/'); i >= 0 {
		return line[i+1:]
	}
	return ""
}

func (w *walker) prompt(text string, images int) {
	w.promptN++
	w.agent.Prompts++
	w.toolPos, w.skillPos, w.stackPos = 0, 0, 0
	w.emit(Event{Kind: Prompt, Text: text, Images: images})
}

// isLocalCommand reports whether a text that begins with a slash was carried out
// by the client: it stands between the client's caveat and a local_command record.
func (w *walker) isLocalCommand(r *record) bool {
	n := &w.graph.nodes[w.node]
	if n.parent < 0 {
		return false
	}
	p := w.graph.nodes[n.parent].rec
	if !p.Meta || p.SourceToolUse != "" || p.Kind != jsonl.KindUser {
		return false
	}
	for i := w.node + 1; i < len(w.graph.nodes) && i < w.node+8; i++ {
		c := &w.graph.nodes[i]
		if c.parent == w.node {
			return c.rec.Kind == jsonl.KindSystem && c.rec.Subtype == "local_command" ||
				c.rec.Kind == jsonl.KindUser && c.rec.Message != nil && strings.HasPrefix(firstText(c.rec.Message), "<local-command-")
		}
	}
	return false
}

// typed is a command that the client logged as it was typed: a fork, or one that it refused.
func (w *walker) typed(r *record, text string) {
	name, args, found := cutBlank(strings.TrimPrefix(text, "/"))
	w.slash(Event{Kind: Slash, Skill: name, Tool: name, Args: args, HasArgs: found, Text: text, Forked: true})
}

func (w *walker) slash(e Event) {
	w.slashN++
	w.agent.Slashes++
	w.toolPos, w.skillPos = 0, 0
	w.emit(e)
}

// command reads the record of a typed command.
func (w *walker) command(r *record, text string) {
	name, ok := tag(text, "command-name")
	if !ok {
		return
	}
	args, hasArgs := tag(text, "command-args")
	name = strings.TrimPrefix(name, "/")
	if w.answers(w.node) != "" {
		return // old clients write this for a call of the model too
	}
	e := Event{Kind: Slash, Skill: name, Tool: name, Args: args, HasArgs: hasArgs && args != "", Text: text, Input: r.StackedInput}
	switch {
	case r.StackedInput != "":
		w.stackPos = 1
		e.Stack = 1
	case r.Stacked:
		w.stackPos++
		e.Stack = w.stackPos
	default:
		w.stackPos = 0
	}
	w.slash(e)
}

// results reads the tool results of a user record; false if it holds none.
func (w *walker) results(r *record) bool {
	found := false
	for i := range r.Message.Blocks {
		b := &r.Message.Blocks[i]
		if b.Kind != jsonl.BlockToolResult {
			continue
		}
		found = true
		ref := w.observer.calls[b.ID]
		if ref == nil {
			continue
		}
		res := r.Result
		if res != nil && res.Agent != "" {
			w.byAgent = append(w.byAgent, agentLink{b.ID, res.Agent, ref.skill, ref.input.Get("subagent_type").Text(), res.Background})
		}
		switch {
		case ref.agent != w.index && w.agent.ID != "main":
			// A fork's log repeats the messages of its parent.
		case ref.name == "Skill":
			w.skillResult(r, b, ref)
		case b.IsError:
		default:
			w.touches(ref)
		}
	}
	return found
}

func (w *walker) skillResult(r *record, b *block, ref *callRef) {
	e := Event{Kind: Launched, Text: b.Text, Skill: ref.skill, ToolUse: b.ID, String: true}
	if res := r.Result; res != nil {
		e.Agent = res.Agent
		e.Forked = res.Status == "forked"
		e.Background = res.Background
		e.Rejected = res.IsString && strings.HasSuffix(res.String, "User rejected tool use")
	}
	if strings.HasPrefix(b.Text, "The user doesn't want to proceed with this tool use.") {
		e.Rejected = true
	}
	if b.IsError {
		e.Kind = Refusal
	} else {
		w.pendingBody = b.ID
	}
	w.emit(e)
	if e.Kind == Launched && strings.HasPrefix(b.Text, baseDirectory) {
		w.pendingBody = ""
		w.emit(Event{Kind: Body, Text: b.Text, Skill: ref.skill, ToolUse: b.ID, Place: PlaceResult})
	}
}

// touches records what a tool did to files.
func (w *walker) touches(ref *callRef) {
	path := ref.input.Get("file_path").Text()
	switch ref.name {
	case "Read", "Write", "Edit", "MultiEdit", "NotebookEdit":
		if path == "" {
			path = ref.input.Get("notebook_path").Text()
		}
		if path == "" {
			return
		}
		w.emit(Event{Kind: Touch, Tool: ref.name, Path: path})
		if ref.name == "Read" || !skillPath(path) {
			return
		}
		change := &FileChange{Path: path, Unknown: true}
		if ref.name == "Write" {
			if content := ref.input.Get("content"); content.Kind() == jsonl.ValueString {
				change.Text, change.Unknown = content.Text(), false
			}
		}
		w.emit(Event{Kind: CatalogueChange, Tool: ref.name, Path: path, Change: change})
	case "EnterPlanMode": // the user said yes, else it fails
		w.mode("plan", ref.name)
	case "ExitPlanMode":
		w.mode("", ref.name)
	case "Bash":
		command := ref.input.Get("command").Text()
		if command != "" {
			w.agent.Commands = append(doubled(w.agent.Commands), Command{w.where(w.graph.nodes[w.node].rec), len(w.agent.Events) - 1, command})
		}
		if !strings.Contains(command, ".claude/") && !strings.Contains(command, "SKILL.md") {
			return
		}
		for _, op := range fileops.Shell(command, w.graph.nodes[w.node].rec.CWD) {
			w.fileOp(op)
		}
	}
}

func (w *walker) fileOp(op fileops.Op) {
	change := &FileChange{Path: op.Path, Text: op.Text, Unknown: op.Unknown}
	switch op.Kind {
	case fileops.Write:
	case fileops.Remove:
		change.Removed = true
	case fileops.Mkdir:
		return
	default:
		change.Unknown = true
	}
	w.emit(Event{Kind: CatalogueChange, Tool: "Bash", Path: op.Path, Change: change})
}

// skillPath reports whether a path can matter to the catalogue.
func skillPath(path string) bool {
	return strings.Contains(path, "/.claude/") || strings.HasSuffix(path, "SKILL.md") || strings.Contains(path, "/skills/") || strings.Contains(path, "/commands/")
}

// injected reads what the client put into the conversation on its own.
func (w *walker) injected(r *record) {
	m := r.Message
	text, _ := joined(m)
	if r.SourceToolUse != "" {
		ref := w.observer.calls[r.SourceToolUse]
		e := Event{Kind: Body, Text: text, String: m.String, ToolUse: r.SourceToolUse}
		if ref != nil {
			e.Skill = ref.skill
		}
		if m.String {
			e.Kind = Note
		}
		if r.SourceToolUse == w.pendingBody {
			w.pendingBody = ""
		}
		if classify(text) == textCommand {
			return // the mark of old clients that a skill is running
		}
		w.emit(e)
		return
	}
	if strings.HasPrefix(text, continueText) {
		return
	}
	// A body without a source follows the command, or the call, that it belongs to.
	for j, steps := w.graph.nodes[w.node].parent, 0; j >= 0 && steps < 4; j, steps = w.graph.nodes[j].parent, steps+1 {
		p := w.graph.nodes[j].rec
		switch {
		case p.Kind == jsonl.KindUser && p.Message != nil && classify(firstText(p.Message)) == textCommand:
			name, _ := tag(firstText(p.Message), "command-name")
			if name == "" || strings.HasPrefix(text, "<local-command-") {
				return
			}
			e := Event{Kind: Body, Text: text, String: m.String, Skill: strings.TrimPrefix(name, "/")}
			if use := w.answers(j); use != "" {
				e.ToolUse, e.Skill, w.pendingBody = use, w.observer.calls[use].skill, ""
			}
			if m.String {
				e.Kind = Note
			}
			w.emit(e)
			return
		case p.Kind == jsonl.KindUser && w.pendingBody != "" && hasResult(p, w.pendingBody):
			ref := w.observer.calls[w.pendingBody]
			e := Event{Kind: Body, Text: text, String: m.String, ToolUse: w.pendingBody, Skill: ref.skill}
			w.pendingBody = ""
			w.emit(e)
			return
		case p.Kind == jsonl.KindAttachment || p.Meta:
		default:
			steps = 4
		}
	}
	if w.agent.ID != "main" && strings.HasPrefix(text, baseDirectory) {
		w.emit(Event{Kind: Body, Text: text, String: m.String, Skill: skillOfBody(text)})
	}
}

// answers is the Skill call whose result stands right before a record and whose
// body is still to come, "" if there is none.
func (w *walker) answers(node int) string {
	p := w.graph.nodes[node].parent
	if p < 0 || w.pendingBody == "" || w.observer.calls[w.pendingBody] == nil || !hasResult(w.graph.nodes[p].rec, w.pendingBody) {
		return ""
	}
	return w.pendingBody
}

// preloads reads the bodies with which a subagent begins: pairs of a command tag
// and a body.
func (w *walker) preloads(m *message) bool {
	if w.agent.ID == "main" || len(w.turns) > 0 || len(m.Blocks) < 2 || classify(m.Blocks[0].Text) != textCommand {
		return false
	}
	for i := 0; i+1 < len(m.Blocks); i += 2 {
		name, _ := tag(m.Blocks[i].Text, "command-name")
		w.emit(Event{Kind: Body, Text: m.Blocks[i+1].Text, Skill: strings.TrimPrefix(name, "/"), Stack: -1})
	}
	return true
}

// continueText is what a client writes when it resumes a turn that was cut short.
const continueText = "Continue from where you left off."

func hasResult(r *record, id string) bool {
	if r.Message == nil {
		return false
	}
	for i := range r.Message.Blocks {
		if r.Message.Blocks[i].Kind == jsonl.BlockToolResult && r.Message.Blocks[i].ID == id {
			return true
		}
	}
	return false
}

func (w *walker) system(r *record) {
	if name, answer, ok := unknownCommand(r.Unknown); ok {
		w.emit(Event{Kind: NoCommand, Skill: name, Text: answer})
		return
	}
	if r.Compact == nil || r.Subtype != "compact_boundary" {
		return
	}
	c := &CompactionEvent{Trigger: r.Compact.Trigger, Before: r.Compact.PreTokens, After: r.Compact.PostTokens,
		Kept: w.kept[r.UUID], Direct: w.boundaries > 0 && !w.sawAssistant}
	// The summary behind the boundary says whether only a part was summarised.
	for i := w.node + 1; i < len(w.graph.nodes) && i < w.node+8; i++ {
		if n := &w.graph.nodes[i]; n.rec.Partial != nil {
			c.Partial = n.rec.Partial.Direction
			break
		}
	}
	w.boundaries++
	w.sawAssistant = false
	w.emit(Event{Kind: Compaction, Compaction: c})
}

func (w *walker) attachment(r *record) {
	if r.Attachment == nil {
		return
	}
	if name, answer, ok := unknownCommand(r.Unknown); ok {
		// The line as typed went to the model: it is the prompt before (recorded at 2.1.332).
		e := Event{Kind: NoCommand, Skill: name, Text: answer}
		for i := w.prevActive; i >= 0 && e.Input == ""; i = w.agent.Events[i].Parent {
			if p := &w.agent.Events[i]; p.Kind == Prompt {
				e.Input = p.Text
			} else if p.Kind == Turn {
				break
			}
		}
		w.emit(e)
	}
	if r.Attachment.Path != "" && w.boundaries > 0 {
		w.emit(Event{Kind: Restored, Path: r.Attachment.Path})
	}
	if s := r.Attachment.Shows; s != nil {
		w.snapshot(s)
		return
	}
	switch r.Attachment.Type {
	case "plan_mode", "plan_mode_reentry":
		w.mode("plan", r.Attachment.Type)
	case "plan_mode_exit":
		w.mode("", r.Attachment.Type)
	case "auto_mode":
		if !r.Attachment.steers {
			w.mode("auto", r.Attachment.Type)
		}
	}
	a := r.Attachment.Whole
	if a == nil {
		return
	}
	switch a.Type {
	case "skill_listing":
		w.emit(Event{Kind: Noticed, Listing: a})
		w.emit(Event{Kind: Listing, Text: a.Content, Listing: a})
	case "invoked_skills":
		w.emit(Event{Kind: Reattachment, Skills: a.Skills})
	case "queued_command":
		if classify(a.Prompt) == textPrompt && (strings.TrimSpace(a.Prompt) != "" || a.Images > 0) {
			w.prompt(a.Prompt, a.Images)
		}
	}
}

// mode notes a mode that the record in hand tells of.
func (w *walker) mode(mode, by string) {
	n := &w.graph.nodes[w.node]
	c := ModeChange{Where: w.where(n.rec), Event: len(w.agent.Events) - 1, Mode: mode, By: by, Abandoned: n.dead}
	if n.dead {
		c.Event = w.deadParent(w.node)
	}
	w.agent.Modes = append(w.agent.Modes, c)
}

// apiCall merges the rows of one model request.
func (w *walker) apiCall(r *record) {
	m := r.Message
	if m.Model == syntheticModel {
		return
	}
	ids := callKey{m.ID, m.RequestID}
	if ids == (callKey{}) && r.UUID != "" {
		ids.request = "\x00" + r.UUID // no id that a log has
	}
	at, ok := w.requests.find(ids, w.session.Agents)
	if !ok {
		if w.copied(r) {
			return
		}
		w.compareSent(m.RequestRef)
		at = callPlace{w.index, len(w.agent.Calls)}
		w.agent.Calls = append(doubled(w.agent.Calls), APICall{Message: m.ID, Request: m.RequestID, Model: m.Model, Where: w.where(r),
			Abandoned: w.graph.nodes[w.node].dead, Event: len(w.agent.Events), Tail: w.promptTail(), Shape: w.shapeOf(m.RequestRef), Version: r.Version})
	}
	w.requests.note(ids, at)
	c := &w.session.Agents[at.agent].Calls[at.call]
	c.row(m, w.where(r))
	if at.agent == w.index {
		w.reply = at.call
		c.Rows++
		w.wrote(c, m)
	}
}

// copied reports whether a row stands for a request of another log: a fork begins
// with the rows that a compaction kept, whose usage is then written as 0.
func (w *walker) copied(r *record) bool {
	u := r.Message.Usage
	return u != nil && u.Output == 0 && u.Prompt() == 0 && w.stays[r.UUID]
}

// wrote adds what a row of a reply holds.
func (w *walker) wrote(c *APICall, m *message) {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		switch {
		case b.Kind == jsonl.BlockThinking:
			c.Thinking.Add(b.Size)
		case b.Kind != jsonl.BlockToolUse:
			c.Text.Add(b.Size)
		case w.observer.calls[b.ID] != nil && b.ID != "":
			// A streaming snapshot repeats its blocks.
		case b.Name == "Skill":
			c.SkillCalls.Add(b.Size)
		default:
			c.ToolCalls.Add(b.Size)
		}
	}
}
