package replay

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// Predict derives the effects that the input events of an agent's timeline have
// under the rules. Effects among the events are passed over, except where they
// belong to copied history, which the client itself read. The recorded outcome
// of a call that depends on the user or on a command (a rejection, an output)
// comes in as an input through ev.
func Predict(in *Inputs, a *Agent, ev *Evidence) []Effect {
	p := &predictor{in: in, agent: a, ev: ev, catalogues: map[catalogueKey]*catalogue{}}
	return p.run()
}

// PredictSession predicts all agents of a session; the result is in their order.
// Subagents come first: what they invoke reaches the main loop of old clients.
func PredictSession(in *Inputs, s *Session) ([][]Effect, []*Evidence) {
	effects := make([][]Effect, len(s.Agents))
	evidence := make([]*Evidence, len(s.Agents))
	for i, p := range predictSession(in, s) {
		effects[i], evidence[i] = p.effects, p.ev
	}
	return effects, evidence
}

func predictSession(in *Inputs, s *Session) []*predictor {
	out := make([]*predictor, len(s.Agents))
	shared := *in
	shared.found = map[foundKey]skills.Found{}
	if s.Main() != nil {
		var names []string
		if shared.commandOrder, names = listedOrder(s); !in.FolderOrder {
			shared.skillOrder = names
		}
	}
	all := gatherAll(s)
	for i := len(s.Agents) - 1; i >= 0; i-- {
		a := s.Agents[i]
		p := &predictor{in: &shared, agent: a, ev: gather(a, all), catalogues: map[catalogueKey]*catalogue{}}
		if i == 0 {
			sort.SliceStable(shared.Leaks, func(x, y int) bool { return shared.Leaks[x].At.Before(shared.Leaks[y].At) })
		}
		p.run()
		out[i] = p
		shared.Leaks = append(shared.Leaks[:len(shared.Leaks):len(shared.Leaks)], p.leaks...)
	}
	return out
}

// State is what the client knows at one moment of an agent's timeline. A State is
// a value: steps return a new one and leave the old one as it was.
type State struct {
	Process  int       // index into Inputs.Processes
	Clock    time.Time // the latest time seen
	View     int       // the state of the files that the client has noticed
	Later    bool      // this subagent is sent its listing with its second request
	Starting bool      // a process began and has not yet sent what it sends with the first prompt
	Listed   bool      // this process has sent a listing, on whatever branch
	// Invoked are the skills invoked by this process or restored, by name.
	Invoked table[Invoked]
	// Nested are the skills found below the working directory; Active those and the
	// held-back skills that a file has activated, by path, in the order in which they
	// came.
	Active  []string
	Nested  []*skills.Skill
	Prompts int // before each of which the client may have been restarted
	// Current is the listing that the system prompt or a tool's description holds,
	// where the catalogue stands in one.
	Current *Effect
	// Seen is, for each skill, the last body that the log shows, on whatever branch.
	Seen table[seenBody]
	// Whole is the last listing that the log shows, if it was a whole one.
	Whole *Event
	Conversation
}

// Conversation is the part of the state that a rewind takes back.
type Conversation struct {
	// Sent are the entries that the client takes for announced.
	Sent sentEntries
	// Bodies are the full bodies in the context, in order.
	Bodies loaded
	// Latest is, for each skill, the full text last sent.
	Latest table[string]
	// Reminder is, for each skill, what the invoked-skills reminder holds.
	Reminder table[Reminded]
	// TurnBodies is how many of Bodies stood when the assistant message in hand began.
	TurnBodies int
	// Ambiguous are the names of typed commands that are in no file: those of the
	// client's own leave no trace in Latest, those of the user's do.
	Ambiguous table[bool]
	// Restored holds what the last invoked_skills attachment of the history listed.
	Restored []Invoked
}

// SentEntry is an announced entry: a mark by which the client tells whether it was
// edited since, and the record that holds it, "" if no log does.
type SentEntry struct{ Mark, UUID string }

// Invoked is a skill in the client's register of invoked skills.
type Invoked struct {
	Name, Path, Key, Content string
	Prompt                   int // how many prompts there were by then
	Typed                    bool
	Unknown                  bool // known from the log alone: Path is not known
	Resumed                  bool // put back by a resume, not invoked since
}

// LoadedBody is a body in the context. Key identifies the skill whatever name it
// was called by.
type LoadedBody struct{ Key, Text, UUID string }

// Reminded is a body in the invoked-skills reminder.
type Reminded struct {
	Text string
	Cut  bool
}

type predictor struct {
	in         *Inputs
	agent      *Agent
	ev         *Evidence
	effects    []Effect
	catalogues map[catalogueKey]*catalogue
	rules      *rules.Rules
	leaks      []Leak
	leaked     int // of the inputs' leaks, how many the state holds
	open       int // listings predicted and not yet shown
	moments    map[int]Moment
	renderings map[int]rendering
	event      int // index of the event in hand
	e          *Event
}

func (p *predictor) run() []Effect {
	events := p.agent.Events
	// A state is kept for each event that another than the next one follows, so that
	// a branch begins, or goes on, with what was known there.
	last := make([]int, len(events)+1) // the last event that follows each, by index+1
	for i := range events {
		last[events[i].Parent+1] = i
	}
	keep := map[int]Conversation{}
	if last[0] > 0 {
		keep[-1] = Conversation{}
	}
	var s State
	s.Process = -1
	prev := -1
	for i := range events {
		e := &events[i]
		if e.Parent != prev {
			if c, ok := keep[e.Parent]; ok {
				s.Conversation = c
			}
		}
		prev = i
		p.event, p.e = i, e
		p.rules = p.in.Rules(cmp.Or(e.Version, p.in.Version))
		var effects []Effect
		s = p.leak(s, e)
		s, effects = p.advance(s, e)
		for j := range effects {
			effects[j].Cause = i
		}
		p.effects = append(p.effects, effects...)
		p.count(e.Kind, effects)
		p.look(&s)
		if last[i+1] > i+1 {
			keep[i] = s.Conversation
		}
	}
	return p.effects
}

// leak enters what subagents have invoked by now.
func (p *predictor) leak(s State, e *Event) State {
	if p.agent.ID != "main" {
		return s
	}
	for ; p.leaked < len(p.in.Leaks); p.leaked++ {
		l := &p.in.Leaks[p.leaked]
		if l.At.After(e.Where.Time) {
			break
		}
		s.Invoked = s.Invoked.with(l.Invoked.Name, l.Invoked)
	}
	return s
}

// count keeps how many listings were predicted that the log has not shown yet.
func (p *predictor) count(kind EventKind, effects []Effect) {
	switch kind {
	case Listing:
		p.open = max(p.open-1, 0)
	case Turn:
		p.open = 0
	}
	for i := range effects {
		if effects[i].Kind == Listing {
			p.open++
		}
	}
}

// watcherMoment names the input that only the client's file watcher knows.
const watcherMoment = "the file watcher's moment"

// watcherLag is how far a client's view of the files may lag behind. Recorded: a
// listing or a body showed the files as they were before a change made up to some
// seconds earlier (lifecycle/edit, lifecycle/redo).
const watcherLag = 10 * time.Second

// advance takes a step. When the client noticed a recent change of files is its
// watcher's affair and known from the log alone: of the states that it can have
// seen, the first is taken that agrees with what it then did, and the latest if
// none does.
func (p *predictor) advance(s State, e *Event) (State, []Effect) {
	if e.Where.Time.After(s.Clock) {
		s.Clock = e.Where.Time
	}
	if p.in.Files == nil {
		return p.step(s, e)
	}
	now, oldest := p.in.Files.at(s.Clock), p.in.Files.at(s.Clock.Add(-watcherLag))
	view := max(s.View, oldest)
	s.View = view
	if oldest == now || e.Kind.IsEffect() || e.Kind == Turn {
		return p.step(s, e)
	}
	// A skill's own file may be known in another state than the listing.
	call := e.Kind == SkillCall
	if (call || e.Kind == Slash) && p.rules.Call.ReadsFile {
		oldest = now
		if !call {
			view = now
		}
	}
	if !call {
		oldest = view
	}
	for k := oldest; k <= now; k++ {
		s.View = k
		if next, effects := p.step(s, e); p.agrees(effects) {
			if call {
				next.View = view
			}
			return next, effects
		}
	}
	// The watcher tells of one file at a time: what was listed is a mixture.
	next, effects := p.step(s, e)
	if len(effects) == 0 {
		// Nothing was sent, so nothing is known: a typed /compact stands before the
		// listing that the compaction brought.
		next.View = view
	}
	for i := range effects {
		if eff := &effects[i]; eff.Kind == Listing {
			eff.Soft = watcherMoment
			if at := p.nextListing(); at >= 0 {
				next.Sent = announced(s.Sent, &p.agent.Events[at], false)
			}
		}
	}
	return next, effects
}

// announced is what stands announced behind a recorded listing. With marked, an entry
// of which the listing does not tell the mark keeps the one that it had.
func announced(before sentEntries, e *Event, marked bool) sentEntries {
	sent := before
	if e.Listing.Initial {
		sent = sentEntries{}
	}
	for i, l := range skills.ParseListing(e.Listing.Content, e.Listing.Names) {
		mark := ""
		if i < len(e.Listing.Digests) {
			mark = e.Listing.Digests[i]
		}
		if mark == "" && marked {
			was, _ := before.get(l.Name)
			mark = was.Mark
		}
		sent = sent.with(l.Name, SentEntry{Mark: mark, UUID: e.Where.UUID})
	}
	return sent
}

// agrees reports whether the log shows just these effects for the event in hand.
func (p *predictor) agrees(effects []Effect) bool {
	same := p.same
	listed := false
	var rest []*Effect
	for i := range effects {
		switch eff := &effects[i]; eff.Kind {
		case Listing:
			at := p.nextListing()
			if at < 0 || !same(eff.Text, p.agent.Events[at].Text) || !sameDigests(eff, p.agent.Events[at].Listing) {
				return false
			}
			listed = true
		case Reattachment, Compaction, Launched:
		default:
			rest = append(rest, eff)
		}
	}
	// What a call or a typed command put in need not be of the state that a listing
	// behind it shows.
	if !listed && p.e.Kind != SkillCall && (p.e.Kind != Slash || len(rest) == 0) && p.nextListing() >= 0 {
		return false
	}
	var got []int
	switch p.e.Kind {
	case SkillCall:
		got = p.ev.byUse[p.e.ToolUse]
	case Slash:
		if r, ok := p.ev.slashBody[p.event]; ok {
			got = append([]int{r.index}, p.ev.slashNotes[p.event]...)
		}
	}
	if len(got) != len(rest) {
		return false
	}
	for i, eff := range rest {
		if o := &p.agent.Events[got[i]]; o.Kind != eff.Kind || !same(eff.Text, o.Text) {
			return false
		}
	}
	return true
}

// sameDigests compares the digests of own entries, where a listing has digests.
func sameDigests(eff *Effect, a *jsonl.Attachment) bool {
	if !a.HasDigests || len(a.Digests) != len(eff.Entries) {
		return true
	}
	for i := range eff.Entries {
		if l := &eff.Entries[i]; l.Own && l.Digest != a.Digests[i] {
			return false
		}
	}
	return true
}

// nextListing is the listing that the event in hand can have brought: the first
// behind it, before the next request or input; -1 if there is none.
func (p *predictor) nextListing() int {
	for j := p.event + 1; j < len(p.agent.Events); j++ {
		switch p.agent.Events[j].Kind {
		case Listing:
			return j
		case Turn, Prompt, Compaction, Start:
			return -1
		case Slash:
			// The typed /compact stands behind what it did.
			if e := &p.agent.Events[j]; p.e.Kind != Compaction || e.Skill != "compact" {
				return -1
			}
		case Noticed:
			if p.e.Kind == Noticed {
				return -1
			}
		}
	}
	return -1
}

// step is the client: a state and an input give a new state and effects.
func (p *predictor) step(s State, e *Event) (State, []Effect) {
	if e.Kind.IsEffect() {
		switch {
		case p.in.History[e.Where.UUID]:
			s = p.adopt(s, e)
		case e.Kind == Listing && !p.in.Exact:
			s = shown(s, e)
		}
		return s, nil
	}
	if p.in.History[e.Where.UUID] {
		switch e.Kind {
		case Compaction:
			s.Conversation = p.compacted(s, e.Compaction)
		case Turn:
			s.TurnBodies = s.Bodies.n
		}
		return s, nil
	}
	switch e.Kind {
	case Start:
		return p.start(s, e)
	case Prompt:
		s.Prompts++
		return p.announce(s)
	case Slash:
		s.Prompts++
		return p.slash(s, e)
	case Turn:
		s.TurnBodies = s.Bodies.n
		if s.Later {
			s.Later = false
			return p.list(s, nil, true, "agents.subagent_listing")
		}
		return s, nil
	case SkillCall:
		return p.call(s, e)
	case Touch:
		return p.touch(s, e)
	case Entered:
		return p.entered(s, e)
	case Noticed:
		return p.noticed(s, e)
	case Compaction:
		return p.compact(s, e)
	}
	return s, nil
}

// adopt takes an effect of copied history as it is.
func (p *predictor) adopt(s State, e *Event) State {
	switch e.Kind {
	case Listing:
		s.Sent = announced(s.Sent, e, false)
	case Body:
		if k := bodyKey(e.Text); k != "" {
			s.Bodies = s.Bodies.with(LoadedBody{Key: k, Text: e.Text, UUID: e.Where.UUID})
		}
	case Reattachment:
		s.Restored = nil
		for _, k := range e.Skills {
			s.Restored = append(s.Restored, Invoked{Name: k.Name, Path: k.Path, Key: bodyKey(k.Content), Content: k.Content})
		}
	}
	return s
}

// shown follows a recorded listing: what it names is announced, whatever the files
// read now would have given.
func shown(s State, e *Event) State {
	s.Sent, s.Listed, s.Whole = announced(s.Sent, e, true), true, nil
	if e.Listing.Initial {
		s.Whole = e
	}
	return s
}

// bodyKey identifies a skill by the base directory that its body states.
func bodyKey(text string) string {
	rest, ok := strings.CutPrefix(text, baseDirectory)
	if !ok {
		return ""
	}
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// start begins a process: what the client keeps outside the conversation is gone,
// except what it restores from the history.
func (p *predictor) start(s State, e *Event) (State, []Effect) {
	if e.Start.Resume || e.Start.Fork {
		return resumed(s, e.Start.Process), nil
	}
	next := State{Process: e.Start.Process, Clock: s.Clock, View: s.View, Starting: true, Prompts: s.Prompts, Seen: s.Seen}
	if p.agent.ID != "main" {
		return p.startAgent(next, e)
	}
	return next, nil
}

// resumed is the state of a process that has taken a conversation up.
func resumed(s State, process int) State {
	next := State{Process: process, Clock: s.Clock, View: s.View, Starting: true, Prompts: s.Prompts, Seen: s.Seen, Conversation: s.Conversation}
	next.Sent = s.Sent.remaining()
	next.Latest, next.Reminder = table[string]{}, table[Reminded]{}
	for i := len(s.Restored) - 1; i >= 0; i-- {
		inv := s.Restored[i]
		if inv.Key == "" {
			inv.Key = inv.Name
		}
		inv.Resumed = true
		next.Invoked = next.Invoked.with(inv.Name, inv)
		next.Latest = next.Latest.with(inv.Key, inv.Content)
		next.Reminder = next.Reminder.with(inv.Key, Reminded{inv.Content, strings.HasSuffix(inv.Content, budget.ReattachMarker)})
	}
	return next
}

func (p *predictor) process(s *State) *Process {
	if s.Process >= 0 && s.Process < len(p.in.Processes) {
		return &p.in.Processes[s.Process]
	}
	if len(p.in.Processes) > 0 {
		return p.processAt(s.Clock)
	}
	return nil
}

// processAt is the process that ran at a moment: subagents run in their parent's.
func (p *predictor) processAt(t time.Time) *Process {
	best := &p.in.Processes[0]
	for i := range p.ev.starts {
		if st := p.ev.starts[i]; !st.at.After(t) && st.process >= 0 && st.process < len(p.in.Processes) {
			best = &p.in.Processes[st.process]
		}
	}
	return best
}

// announce sends what goes with a prompt: everything to a conversation that holds
// no listing, only what is new to a resumed one.
func (p *predictor) announce(s State) (State, []Effect) {
	starting := s.Starting
	s.Starting = false
	if !p.listsTo(&s) {
		return s, nil
	}
	send := &p.rules.Send
	switch {
	case s.Sent.len() == 0:
		if s.Listed && !starting && !send.AfterRewind && p.agent.ID == "main" {
			return s, nil
		}
		return p.list(s, nil, true, "send.first")
	case !starting && send.EachPrompt:
		return p.list(s, func(name, mark string) bool { return !s.Sent.has(name) }, false, "send.each_prompt")
	case starting:
		switch send.OnResume {
		case rules.ResumeDelta:
			if c := p.catalogue(&s); c.missing == "" && !c.anySent(s.Sent) {
				return p.list(s, nil, true, "send.on_resume")
			}
			return p.list(s, func(name, mark string) bool { return !s.Sent.has(name) }, false, "send.on_resume")
		case rules.ResumeFull:
			return p.list(s, nil, true, "send.on_resume")
		}
	}
	return s, nil
}

// list sends the entries that want accepts (nil: all).
func (p *predictor) list(s State, want func(name, mark string) bool, initial bool, rule string) (State, []Effect) {
	c := p.catalogue(&s)
	eff := Effect{Kind: Listing, Initial: initial, Rule: rule}
	if c.missing != "" {
		eff.Missing, eff.Reason = c.missing, c.reason
		s.Listed = true
		if initial {
			s.Sent = s.Sent.with("", SentEntry{})
		}
		if want != nil {
			return s, nil // whether anything is new cannot be told
		}
		if s.Whole != nil {
			eff.again(s.Whole)
		}
		return s, []Effect{eff}
	}
	eff.Text, eff.Entries, eff.Demand, eff.Missing = p.render(&s, c, want)
	if len(eff.Entries) == 0 {
		return s, nil
	}
	eff.OrderUnknown = p.rules.Discovery.Sort == skills.SortReaddir || !p.rules.Discovery.MergedCommands && c.unordered()
	if c.orderUnknown {
		eff.Soft = "directory order"
	}
	if eff.Place = ListingPlace(p.rules); eff.Place != "" {
		now := eff
		s.Current = &now
	}
	eff.Fleeting = p.rules.Catalogue.Place == rules.PlaceReminder
	eff.Unlogged = p.rules.Catalogue.Place != rules.PlaceAttachment && !p.in.ListingsSeen[p.agent.ID]
	s.Listed = true
	if initial && p.rules.Send.OnChange != rules.Delta {
		s.Sent = sentEntries{}
	}
	uuid := ""
	if at := p.nextListing(); at >= 0 {
		uuid = p.agent.Events[at].Where.UUID
	}
	s.Sent.standing = s.Sent.standing.grown(len(eff.Entries))
	for _, l := range eff.Entries {
		s.Sent = s.Sent.with(l.Name, SentEntry{Mark: l.mark, UUID: uuid})
	}
	s.Sent = s.Sent.without("")
	return s, []Effect{eff}
}

// again makes the effect the listing that the log showed last. If the one that came
// is the same, nothing that it rests on has changed; if not, something may have.
func (eff *Effect) again(last *Event) {
	a := last.Listing
	eff.Text, eff.Soft = a.Content, eff.Missing
	eff.Missing, eff.Reason = "", ""
	for i, l := range skills.ParseListing(a.Content, a.Names) {
		e := ListedEntry{Name: l.Name, Text: l.Text, Shown: ShownFull}
		if l.Text == "" {
			e.Shown = ShownNameOnly
		}
		if i < len(a.Digests) {
			e.Digest, e.Own = a.Digests[i], true
		}
		eff.Entries = append(eff.Entries, e)
	}
}

// noticed sends what the client has found changed: the moment is the file
// watcher's and comes from the log, the entries and their texts from the files.
func (p *predictor) noticed(s State, e *Event) (State, []Effect) {
	if e.Place != "" {
		return p.pictured(s, e)
	}
	if e.Listing == nil || p.open > 0 {
		return s, nil // the listing has another cause
	}
	if p.rules.Send.Edited == rules.EditedNever {
		if again := p.sentAgain(&s, e.Listing); again != "" {
			return s, []Effect{{Kind: Listing, Rule: "send.edited", Proof: "sent again, though its names were sent before: " + again}}
		}
	}
	if next := p.restored(s, e.Listing); len(next.Active) > len(s.Active) {
		return p.list(next, func(name, mark string) bool { return !s.Sent.has(name) }, false, "send.on_touch")
	}
	c := p.catalogue(&s)
	if c.missing != "" {
		return s, nil
	}
	if p.rules.Send.OnChange == rules.Delta {
		names := map[string]bool{}
		for _, l := range skills.ParseListing(e.Listing.Content, e.Listing.Names) {
			names[l.Name] = true
		}
		return p.list(s, func(name, mark string) bool {
			old, ok := s.Sent.get(name)
			return names[name] && (!ok || old.Mark != mark && p.rules.Send.Edited != rules.EditedNever)
		}, false, "send.on_change")
	}
	if s.Sent.len() == 0 || !p.changed(&s, c) {
		return s, nil
	}
	return p.list(s, nil, true, "send.on_change")
}

// restored activates what a listing shows of the skills, held back or of nested
// folders, that those files bring in that the last compaction put back. They are read side by side, and the skills of
// one of them only come in: of which one, the log tells (recorded at 2.1.96 to
// 2.1.332).
func (p *predictor) restored(s State, listing *jsonl.Attachment) State {
	files, compacted := p.restoredFiles()
	proc := p.process(&s)
	unlogged := compacted && !p.rules.Compaction.Recorded // what was put back is in no log
	if len(files) == 0 && !unlogged || proc == nil {
		return s
	}
	c := p.catalogue(&s)
	if c.missing != "" {
		return s
	}
	shown := announced(sentEntries{}, &Event{Listing: listing}, false)
	if unlogged {
		for i := range c.list {
			if st := &c.list[i]; st.Reason == skills.HeldBack && shown.has(st.Skill.Name) && !contains(s.Active, st.Skill.Path) {
				s.Active = append(s.Active[:len(s.Active):len(s.Active)], st.Skill.Path)
			}
		}
	}
	for _, file := range files {
		for _, st := range c.activatedBy(file, proc.CWD) {
			if shown.has(st.Name) && !contains(s.Active, st.Path) {
				s.Active = append(s.Active[:len(s.Active):len(s.Active)], st.Path)
			}
		}
		for _, k := range c.nestedFor(file, proc.CWD) {
			if !hasSkill(s.Nested, k.Path) && (shown.has(k.Name) || shown.has(k.Scope+":"+k.Folder)) {
				s = s.nesting(k)
			}
		}
	}
	return s
}

// nesting is the state in which a skill of a nested folder is known.
func (s State) nesting(k *skills.Skill) State {
	s.Nested = append(s.Nested[:len(s.Nested):len(s.Nested)], k)
	s.Active = append(s.Active[:len(s.Active):len(s.Active)], k.Path)
	return s
}

// restoredFiles are the files that the compaction before the next request put back,
// if there was one.
func (p *predictor) restoredFiles() (files []string, compacted bool) {
	at := p.event
	for at >= 0 && p.agent.Events[at].Kind != Compaction {
		if p.agent.Events[at].Kind == Turn {
			return nil, false
		}
		at--
	}
	if at < 0 {
		return nil, false
	}
	for _, e := range p.agent.Events[at+1:] {
		if e.Kind == Turn || e.Kind == Compaction {
			break
		}
		if e.Kind == Restored {
			files = append(files, e.Path)
		}
	}
	return files, true
}

// changed reports whether the catalogue is another than the one that was sent.
func (p *predictor) changed(s *State, c *catalogue) bool {
	n := 0
	for i := range c.entries {
		sent, ok := s.Sent.get(c.entries[i].Name)
		if !ok || sent.Mark != p.mark(&c.entries[i], c.entries[i].Digest()) {
			return true
		}
		n++
	}
	return n != s.Sent.len() && (p.rules.Send.OnChange == rules.AlwaysCurrent || p.rules.Send.OnRemoval != rules.ResendNothing)
}

// sentAgain names what a listing repeats of what this process has sent.
func (p *predictor) sentAgain(s *State, list *jsonl.Attachment) string {
	if s.Starting {
		return ""
	}
	var again []string
	for _, l := range skills.ParseListing(list.Content, list.Names) {
		if l.Name != "" && s.Sent.has(l.Name) {
			again = append(again, l.Name)
		}
	}
	return strings.Join(again, ", ")
}

// pictured is a record of the prompt that shows the catalogue: it holds what the
// client last put there.
func (p *predictor) pictured(s State, e *Event) (State, []Effect) {
	if e.Place != ListingPlace(p.rules) || p.open > 0 {
		return s, nil
	}
	if s.Current != nil && p.rules.Send.OnChange == rules.Fixed {
		eff := *s.Current
		eff.Unlogged, eff.Rule = true, "send.on_change"
		return s, []Effect{eff}
	}
	if !p.listsTo(&s) {
		return s, nil
	}
	return p.list(s, nil, true, "send.on_change")
}

// mark is what the client remembers of an entry to tell whether it was edited.
func (p *predictor) mark(e *skills.Entry, digest string) string {
	if p.rules.Send.Edited == rules.EditedNever {
		return ""
	}
	if p.rules.Send.Edited == rules.EditedFile && e.Skill != nil {
		return skills.Digest("", e.Skill.Text)
	}
	return digest
}

// activate notes what a touched file brings in: held-back skills, for certain, and
// those of nested folders.
func (p *predictor) activate(s State, file string) (next State, changed, certain bool) {
	proc := p.process(&s)
	c := p.catalogue(&s)
	if proc == nil || c.missing != "" {
		return s, false, false
	}
	for _, k := range c.activatedBy(file, proc.CWD) {
		if !contains(s.Active, k.Path) {
			s.Active = append(s.Active[:len(s.Active):len(s.Active)], k.Path)
			changed, certain = true, true
		}
	}
	for _, k := range c.nestedFor(file, proc.CWD) {
		if !hasSkill(s.Nested, k.Path) {
			s = s.nesting(k)
			changed = true
		}
	}
	return s, changed, certain
}

// touch is a file that was read, written or edited.
func (p *predictor) touch(s State, e *Event) (State, []Effect) {
	if p.in.Files == nil {
		return s, nil
	}
	s, changed, certain := p.activate(s, e.Path)
	return p.arrived(s, changed, certain)
}

// entered is a folder that became the working directory.
func (p *predictor) entered(s State, e *Event) (State, []Effect) {
	proc := p.process(&s)
	if p.in.Files == nil || !p.rules.Discovery.EnterActivates || proc == nil {
		return s, nil
	}
	c := p.catalogue(&s)
	changed := false
	if c.missing == "" {
		for _, k := range c.activatedIn(e.Path, proc.CWD) {
			if !contains(s.Active, k.Path) {
				s.Active = append(s.Active[:len(s.Active):len(s.Active)], k.Path)
				changed = true
			}
		}
	}
	return p.arrived(s, changed, true)
}

// arrived sends what a touched file or an entered folder has brought in.
func (p *predictor) arrived(s State, changed, certain bool) (State, []Effect) {
	switch p.rules.Send.OnChange {
	case rules.AlwaysCurrent, rules.Fixed:
		return s, nil // the tool's description is another from now on, or nothing is
	}
	if !changed || !p.listsTo(&s) || s.Sent.len() == 0 {
		return s, nil
	}
	// Nested folders are searched beside the turn, and old clients lag with all that
	// a file brings in: what comes with this request is told by the log.
	if lags := p.rules.Send.TouchLags; lags || !certain {
		at := p.nextListing()
		if at < 0 {
			return s, nil
		}
		if lags {
			shown := announced(sentEntries{}, &p.agent.Events[at], false)
			return p.list(s, func(name, mark string) bool { return shown.has(name) && !s.Sent.has(name) }, false, "send.on_touch")
		}
	}
	return p.list(s, func(name, mark string) bool { return !s.Sent.has(name) }, false, "send.on_touch")
}

func hasSkill(list []*skills.Skill, path string) bool {
	for _, k := range list {
		if k.Path == path {
			return true
		}
	}
	return false
}

// compact replaces the conversation by a summary, puts bodies back and lists again.
func (p *predictor) compact(s State, e *Event) (State, []Effect) {
	var effects []Effect
	comp := &p.rules.Compaction
	skip := e.Compaction.Direct && comp.ConsecutiveSkips
	if held := p.atShare(&s, e); held != nil {
		effects = append(effects, *held)
	}
	put := len(effects)
	if (comp.Recorded || comp.InRequests && p.nextReattachment() != nil) && !s.Invoked.empty() && !skip {
		var eff Effect
		s, eff = p.reattached(s)
		if len(eff.Skills) > 0 || eff.Missing != "" {
			effects = append(effects, eff)
		}
	}
	s.Conversation = p.compacted(s, e.Compaction)
	if got := p.nextReattachment(); !p.in.Exact && got != nil && (len(effects) == put || !p.putBack(effects[put], got)) {
		s.Conversation = reminded(s.Conversation, got)
	}
	if p.rules.Send.AfterCompaction && !skip && e.Compaction.Partial != "from" && p.listsTo(&s) {
		s.Sent = sentEntries{}
		if at := p.nextListing(); at >= 0 {
			s = p.restored(s, p.agent.Events[at].Listing)
		}
		var more []Effect
		s, more = p.list(s, nil, true, "send.after_compaction")
		s.Starting = false
		effects = append(effects, more...)
	}
	return s, effects
}

// reattach puts the invoked skills back, as far as there is room.
func (p *predictor) reattach(list []Invoked) Effect {
	eff := Effect{Kind: Reattachment, Rule: "compaction.recorded", AnyOrder: p.rules.Compaction.AnyOrder}
	if !p.rules.Compaction.Recorded {
		eff.Rule = "compaction.in_requests" // the log shows it all the same
	}
	contents := make([]string, len(list))
	resumed := 0
	for i := range list {
		contents[i] = p.stored(&list[i])
		if list[i].Resumed {
			resumed++
		}
	}
	eff.OrderUnknown = p.rules.Compaction.RestoreOrder == rules.RestoreByClock && resumed > 1
	for _, r := range budget.Reattach(contents, p.rules.Reattachment) {
		if !r.Kept {
			if eff.OrderUnknown {
				eff.Soft = orderAfterResume // decides which ones find room
			}
			continue
		}
		inv := &list[r.Index]
		eff.Skills = append(eff.Skills, ReattachedSkill{inv.Name, inv.Path, r.Content, r.Cut})
		if inv.Unknown {
			eff.Soft = skillFiles
		}
	}
	return eff
}

// atShare compares the size of the conversation at a compaction that the client made
// by itself with the share of the window at which it does; nil where that is not known.
func (p *predictor) atShare(s *State, e *Event) *Effect {
	comp, c := &p.rules.Compaction, e.Compaction
	proc := p.process(s)
	if comp.AutoTo == 0 || c.Trigger != "auto" || c.Before <= 0 || proc == nil {
		return nil
	}
	window := proc.Window
	eff := &Effect{Kind: Compaction, Rule: "compaction.auto_from"}
	if window <= 0 {
		window = int64(p.rules.Size.WindowOf(p.model(proc)))
		if !p.in.Exact {
			eff.Soft = "window"
		}
	}
	from, to := window*int64(comp.AutoFrom)/100, window*int64(comp.AutoTo)/100
	eff.Text = fmt.Sprintf("a compaction between %d and %d tokens, %d to %d %% of a window of %d", from, to, comp.AutoFrom, comp.AutoTo, window)
	eff.Held = Held{Observed: fmt.Sprintf("a compaction at %d tokens", c.Before), OK: c.Before >= from && c.Before <= to}
	return eff
}

// stored is a body as the client keeps it for later.
func (p *predictor) stored(inv *Invoked) string {
	if p.rules.Compaction.JSONText && !inv.Typed {
		return jsonText(inv.Content)
	}
	return inv.Content
}

// compacted is the conversation behind a boundary.
func (p *predictor) compacted(s State, c *CompactionEvent) Conversation {
	next := Conversation{Latest: s.Latest, Sent: s.Sent.behind(c, p.rules.Send.AfterCompaction)}
	for _, b := range s.Bodies.all() {
		if c.Kept[b.UUID] {
			next.Bodies = next.Bodies.with(b)
		}
	}
	invoked := s.Invoked.values()
	contents := make([]string, len(invoked))
	for i := range invoked {
		contents[i] = invoked[i].Content
	}
	for _, r := range budget.Reattach(contents, p.rules.Reattachment) {
		inv := &invoked[r.Index]
		next.Latest = next.Latest.with(inv.Key, inv.Content)
		if r.Kept {
			next.Reminder = next.Reminder.with(inv.Key, Reminded{inv.Content, r.Cut})
			next.Restored = append(next.Restored, Invoked{Name: inv.Name, Path: inv.Path, Key: inv.Key, Content: r.Content, Typed: inv.Typed})
		}
	}
	if len(invoked) == 0 || c.Direct && p.rules.Compaction.ConsecutiveSkips {
		next.Restored = s.Restored
	}
	return next
}

// slash is a typed command.
func (p *predictor) slash(s State, e *Event) (State, []Effect) {
	if _, ok := p.ev.slashBody[p.event]; !ok && !e.Forked && isBuiltinCommand(e.Tool) {
		return s, nil
	}
	var effects []Effect
	if !e.Forked {
		s, effects = p.announce(s)
	}
	c := p.catalogue(&s)
	recorded, ran := p.ev.slashBody[p.event]
	if c.missing != "" || p.in.Files == nil {
		if ran {
			key := cmp.Or(bodyKey(recorded.text), e.Skill)
			eff := Effect{Kind: Body, Skill: e.Skill, Missing: skillFiles, Reason: c.reason, Rule: "body.typed"}
			effects = append(effects, s.again(key, e.Args, eff))
			s.Seen = s.Seen.with(key, seenBody{recorded.text, e.Args})
			s = p.take(s, key, recorded.text, recorded.uuid)
			if p.rules.Compaction.SlashRegisters {
				s = p.registerRecorded(s, e.Skill, key, recorded.text)
			}
		}
		return s, effects
	}
	k := c.typed(e.Skill)
	if k == nil {
		if ran {
			if key := bodyKey(recorded.text); key != "" && !p.in.Exact {
				// A skill whose file is gone.
				eff := Effect{Kind: Body, Skill: e.Skill, Missing: filesThen, Reason: "no file read now has this skill", Rule: "body.typed"}
				effects = append(effects, s.again(key, e.Args, eff))
				s.Seen = s.Seen.with(key, seenBody{recorded.text, e.Args})
				s = p.take(s, key, recorded.text, recorded.uuid)
				if p.rules.Compaction.SlashRegisters {
					s = p.registerRecorded(s, e.Skill, key, recorded.text)
				}
				return s, effects
			}
			// The client's own command, or a command file that is gone: nothing in its
			// text tells.
			s = p.take(s, e.Skill, recorded.text, recorded.uuid)
			s = p.forget(s, e.Skill)
			s.Ambiguous = s.Ambiguous.with(e.Skill, true)
			effects = append(effects, Effect{Kind: Body, Skill: e.Skill, Text: recorded.text, Given: true})
		}
		return s, effects
	}
	if e.Forked || p.forks(k) {
		return s, effects // the body goes to the fork
	}
	text := p.body(&s, k, e.Args, e.HasArgs, true, recorded.text)
	text.Kind, text.Skill, text.Rule, text.Place = Body, e.Skill, "body.typed", p.typedPlace()
	if text.Missing != "" {
		text.Text = recorded.text
	}
	effects = append(effects, text.Effect)
	effects = append(effects, p.scopedNote(c, e, e.Skill, k)...)
	sent := text.Text
	if !p.in.Exact {
		if !ran {
			return s, effects
		}
		sent = recorded.text
	}
	s = p.take(s, p.key(k), sent, recorded.uuid)
	s = p.register(s, e.Skill, k, sent, true)
	return s, effects
}

// typedPlace is where the body of a typed skill stands.
func (p *predictor) typedPlace() Place {
	if p.rules.Call.SlashRecord == rules.SlashBehind {
		return PlaceBehind
	}
	return ""
}

// take puts a full body into the context.
func (p *predictor) take(s State, key, text, uuid string) State {
	s.Bodies = s.Bodies.with(LoadedBody{Key: key, Text: text, UUID: uuid})
	s.Latest = s.Latest.with(key, text)
	return s
}

// forget takes back the text of a command of the client's own, which it never
// compares with.
func (p *predictor) forget(s State, key string) State {
	s.Latest = s.Latest.without(key)
	return s
}

// register enters a skill as the latest invoked.
func (p *predictor) register(s State, called string, k *skills.Skill, text string, typed bool) State {
	if typed && !p.rules.Compaction.SlashRegisters {
		return s
	}
	name := p.registeredName(called, k)
	source := sourcePath(name, k)
	if p.rules.Compaction.NoPaths {
		source = ""
	}
	if proc := p.process(&s); !p.in.Exact && proc != nil && len(proc.SkillDirs) > 0 {
		source = "" // a folder given by hand may have been anybody's
	}
	inv := Invoked{Name: name, Path: source, Key: p.key(k), Content: text, Prompt: s.Prompts, Typed: typed}
	s.Invoked = s.Invoked.with(name, inv)
	if p.agent.ID != "main" && !p.isolated() {
		p.leaks = append(p.leaks, Leak{At: p.e.Where.Time, Invoked: inv})
	}
	return s
}

// isolated reports whether what the subagent in hand invokes stays its own.
func (p *predictor) isolated() bool {
	if call := p.ev.agentOf[p.agent.ID]; call != nil && call.Skill != "" {
		return p.rules.Agents.ForkIsolated
	}
	return p.rules.Agents.SubagentIsolated
}

// registeredName is the name under which the client keeps a skill: as called,
// but plugin skills by their full name.
func (p *predictor) registeredName(called string, k *skills.Skill) string {
	if k.Source == skills.Plugin && !strings.Contains(called, ":") {
		return k.Plugin + ":" + called
	}
	return k.Name
}

// sourcePath is the path that the client records for a skill.
func sourcePath(name string, k *skills.Skill) string {
	switch k.Source {
	case skills.Plugin:
		return "plugin:" + name
	case skills.User:
		return "userSettings:" + name
	case skills.Managed:
		return "policySettings:" + name
	}
	return "projectSettings:" + name
}

func (p *predictor) forks(k *skills.Skill) bool {
	v, ok := k.Front.Get("context")
	return ok && v.JS() == "fork" && p.rules.Call.ForkWorks
}
