package regress

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/replay/relist"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// Session is a replayed session, ready to be tested. Use it from one goroutine at a time.
type Session struct {
	Result  *replay.Result
	courses []replay.Course
	in      *replay.Inputs
	sheets  []*relist.Sheets
	// compared are prompts that were worked out, the last few.
	compared map[compared]*Both
}

// Prepare makes a session ready. Courses are those of the result's agents, see
// replay.RunCourses; known is what is known of its listings beside the log, and may be nil.
func Prepare(r *replay.Result, courses []replay.Course, in *replay.Inputs, known *relist.Known) *Session {
	s := &Session{Result: r, courses: courses, in: in}
	var uses *replay.Usage
	if in.Usage == nil {
		uses = &replay.Usage{}
		replay.CountUses(uses, r.Session)
	} else {
		counted := relist.Known{}
		if known != nil {
			counted = *known
		}
		counted.Usage = in.Usage
		known = &counted
	}
	for i := range r.Agents {
		s.sheets = append(s.sheets, relist.NewSheets(&r.Agents[i], courses[i], in.Rules, known, uses))
	}
	return s
}

// Point is a prompt of a session.
type Point struct {
	s     *Session
	agent int
	seen  *replay.Visibility
	Text  string
	// Event is the prompt among the agent's events.
	Event int
}

// Agent is the timeline of the point.
func (p *Point) Agent() *replay.Agent { return p.s.Result.Agents[p.agent].Agent }

// Seen is how each entry stood when the prompt was answered.
func (p *Point) Seen() *replay.Visibility { return p.seen }

// Session is the id of the point's session.
func (p *Point) Session() string { return p.s.Result.Session.ID }

// Model is the model that answered the prompt, else the one asked before; "" if the log
// names none.
func (p *Point) Model() string {
	model := ""
	calls := p.Agent().Calls
	for i := range calls {
		if calls[i].Model != "" && (model == "" || calls[i].Event <= p.seen.Answer+1) {
			model = calls[i].Model
		}
	}
	return model
}

// Find finds the prompt that a case names. The error says what there is instead.
func (s *Session) Find(at *spec.At) (*Point, error) {
	name := at.Agent
	if name == "" {
		name = "main"
	}
	i := slices.IndexFunc(s.Result.Agents, func(a replay.AgentResult) bool { return a.Agent.ID == name })
	if i < 0 {
		return nil, fmt.Errorf("the session has no agent %s", name)
	}
	a := &s.Result.Agents[i]
	var fit []*replay.Visibility
	for j := range a.Visibility {
		v := &a.Visibility[j]
		e := &a.Agent.Events[v.Event]
		switch {
		case v.Abandoned && at.UUID == "":
		case at.Prompt > 0 && v.Prompt == at.Prompt,
			at.UUID != "" && strings.HasPrefix(v.Where.UUID, at.UUID),
			at.Text != "" && strings.Contains(strings.ToLower(promptText(e)), strings.ToLower(at.Text)):
			fit = append(fit, v)
		}
	}
	what := atWords(at)
	switch {
	case len(fit) == 0:
		return nil, fmt.Errorf("%s: none of the %d prompts of %s fits", what, a.Agent.Prompts, name)
	case len(fit) > 1:
		var lines []string
		for _, v := range fit[:min(len(fit), 5)] {
			lines = append(lines, strconv.Itoa(v.Where.Line))
		}
		return nil, fmt.Errorf("%s: %d prompts fit, at lines %s; name one by its number", what, len(fit), strings.Join(lines, ", "))
	}
	v := fit[0]
	return &Point{s: s, agent: i, seen: v, Event: v.Event, Text: promptText(&a.Agent.Events[v.Event])}, nil
}

func atWords(at *spec.At) string {
	switch {
	case at.Prompt > 0:
		return fmt.Sprintf("prompt %d", at.Prompt)
	case at.UUID != "":
		return "uuid " + at.UUID
	}
	return fmt.Sprintf("text %q", at.Text)
}

// promptText is what a prompt or a typed command says.
func promptText(e *replay.Event) string {
	if e.Kind == replay.Slash {
		if e.Input != "" {
			return e.Input
		}
		return strings.TrimSpace("/" + e.Skill + " " + e.Args)
	}
	return e.Text
}

// Entry is an entry as it stands before the model.
type Entry struct {
	relist.Form
	Sheet int // among the state's sheets
}

// State is what the model sees of skills at a prompt.
type State struct {
	Entries []Entry // in the order in which they were sent
	Sheets  []Sheet
	// Off are skills of the set that are not listed, each with the reason.
	Off map[string]string
	// Edited are the entries that a set changes, adds or takes away.
	Edited map[string]bool
	edits  []relist.Edit
	index  map[string]int // the first of the entries with a name
}

// Sheet is a listing whose entries stand before the model.
type Sheet struct {
	*relist.Listing
	From *relist.Sheet
	Old  string // as the log holds it, "" where it holds none
}

// Of is how an entry stands.
func (st *State) Of(name string) replay.Shown {
	if e := st.entry(name); e != nil {
		return e.Shown
	}
	return replay.ShownAbsent
}

func (st *State) entry(name string) *Entry {
	if i, ok := st.index[name]; ok {
		return &st.Entries[i]
	}
	return nil
}

// Size counts what a state takes.
type Size struct {
	// Chars and Demand (of all entries with their whole texts) are in the client's unit;
	// Tokens are estimated; Budget is that of one listing.
	Chars, Demand, Tokens, Budget     int
	Full, Shortened, NameOnly, Absent int
}

// Size counts the state.
func (st *State) Size() Size {
	var z Size
	for i := range st.Sheets {
		l := st.Sheets[i].Listing
		z.Chars += l.Used
		z.Demand += l.Total
		z.Tokens += tokens(l.Text)
		z.Budget = max(z.Budget, l.Budget)
	}
	for i := range st.Entries {
		switch st.Entries[i].Shown {
		case replay.ShownFull:
			z.Full++
		case replay.ShownShortened:
			z.Shortened++
		case replay.ShownNameOnly:
			z.NameOnly++
		case replay.ShownAbsent:
			z.Absent++
		}
	}
	return z
}

// tokens estimates the tokens of a text.
func tokens(text string) int { return int(replay.EstimateTokens(jsonl.Measure(text)) + 0.5) }

// missing is the error of a state that cannot be worked out.
type missing struct{ input string }

func (m *missing) Error() string {
	return "the log holds no listing for this prompt, and it cannot be derived without the " + m.input + " (--skills DIR)"
}

// State works out what the model would have seen at a prompt with the skills of a set;
// nil stands for those that the session had. The error says which input is missing.
func (p *Point) State(set *Set, before *Set) (*State, error) {
	standing, lacks := p.s.sheets[p.agent].Standing(p.seen)
	if lacks != "" {
		return nil, &missing{lacks}
	}
	a := &p.s.Result.Agents[p.agent]
	if len(standing) == 0 && !p.listed() {
		return nil, &missing{"skill files"}
	}
	st := &State{Off: map[string]string{}, Edited: map[string]bool{}}
	if set != nil {
		st.edits = p.edits(set, before, standing, st)
	}
	for i, sheet := range standing {
		l := sheet.Make(st.editsOf(sheet, i == lastWhole(standing)))
		old := ""
		if e := &a.Agent.Events[sheet.Event]; e.Kind == replay.Listing {
			old = e.Listing.Content
		}
		if set == nil && old != "" {
			l = recorded(l, sheet, old)
		}
		st.Sheets = append(st.Sheets, Sheet{Listing: l, From: sheet, Old: old})
	}
	p.stand(st, set == nil)
	return st, nil
}

// recorded is a listing as the log holds it: it may have gone out under a budget that
// is not the one asked for now.
func recorded(l *relist.Listing, from *relist.Sheet, text string) *relist.Listing {
	out := *l
	out.Text, out.Used = text, budget.Width(from.Size.Unit, text)
	out.Forms = slices.Clone(l.Forms)
	for i := range out.Forms {
		if l := &from.Lines[i]; l.Sent != "" {
			f := &out.Forms[i]
			f.Text, f.Size = l.Sent, budget.Width(from.Size.Unit, l.Sent)
			f.Description = strings.TrimPrefix(strings.TrimPrefix(l.Sent, "- "+l.Label), ": ")
		}
	}
	return &out
}

// listed reports whether a listing was sent to the agent by the prompt's answer, though
// none of its entries may stand any more.
func (p *Point) listed() bool {
	for _, c := range p.s.Result.Agents[p.agent].Changes {
		if c.Event < p.seen.Answer {
			return true
		}
	}
	return false
}

// lastWhole is the last whole listing among those that stand, -1 if none is.
func lastWhole(list []*relist.Sheet) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Whole {
			return i
		}
	}
	return -1
}

// editsOf are the edits that a sheet takes: what is new stands in the last whole listing.
func (st *State) editsOf(s *relist.Sheet, whole bool) []relist.Edit {
	var out []relist.Edit
	for i := range st.edits {
		if !st.edits[i].New || whole {
			out = append(out, st.edits[i])
		}
	}
	return out
}

// stand collects the entries that stand. An entry stands in the listing that the session
// says; one that is new, where it was put.
func (p *Point) stand(st *State, asRecorded bool) {
	added := map[string]bool{}
	for i := range st.edits {
		if e := &st.edits[i]; e.New && !e.Gone {
			added[e.Name] = true
		}
	}
	st.index = map[string]int{}
	for i := range st.Sheets {
		sheet := &st.Sheets[i]
		best := sheet.Best()
		for j := range sheet.Forms {
			name := sheet.Forms[j].Name
			form := best[name]
			if form == nil {
				continue
			}
			delete(best, name) // each once, where the first of its name stands
			f := *form
			at, stands := p.seen.Skills.From(f.Name)
			if stands && at != sheet.From.Event || !stands && !added[f.Name] {
				continue
			}
			if asRecorded && stands {
				f.Shown = p.seen.Skills.Of(f.Name)
				f.Open = false
			}
			if _, ok := st.index[f.Name]; !ok {
				st.index[f.Name] = len(st.Entries)
			}
			st.Entries = append(st.Entries, Entry{Form: f, Sheet: i})
		}
	}
}

// edits are what a set changes of the entries that stand.
func (p *Point) edits(set, before *Set, standing []*relist.Sheet, st *State) []relist.Edit {
	r := p.rules(standing)
	if r == nil {
		return nil
	}
	known := map[string]bool{}
	for name := range p.seen.Skills.All() {
		known[name] = true
	}
	c := set.catalogue(r)
	list := c.candidates(known, p.active, p.settings())
	whole := lastWhole(standing)
	var out []relist.Edit
	has := map[string]bool{}
	old := map[string]string{}
	var earlier []candidate
	if before != nil {
		earlier = before.catalogue(r).candidates(known, p.active, p.settings())
		for _, k := range earlier {
			if _, ok := old[k.name]; k.entry != nil && !ok {
				old[k.name] = k.entry.Text
			}
		}
	}
	lines, taken := linesOf(standing), map[string]int{}
	for i := range list {
		k := &list[i]
		has[k.name] = true
		switch {
		case k.entry != nil && taken[k.name] >= max(lines[k.name], 1):
			// Clients before 2.1.216 list both of two skills with one name. Where the session
			// has one of them, the first folder's is meant.
			continue
		case k.entry == nil:
			st.Off[k.name] = reasonWords(k.reason, k.detail)
			if known[k.name] {
				out = append(out, relist.Edit{Name: k.name, Gone: true})
				st.Edited[k.name] = true
			}
			continue
		case !known[k.name] && whole < 0:
			continue // the listing in which it would stand is gone
		}
		taken[k.name]++
		e := *k.entry
		if e.Name != k.name {
			e.Name, e.Label = k.name, k.name
		}
		if was := p.skill(k.name); was != nil {
			from := *e.Skill // the oldest listings say where a skill comes from
			from.Source, from.Plugin = was.Source, was.Plugin
			e.Skill = &from
		}
		edit := relist.Edit{Name: k.name, New: !known[k.name], Old: old[k.name], Line: replay.EntryLine(r, c.opts, &e), Capped: e.Text != "" && e.Text != e.Full}
		if edit.New {
			edit.After, edit.Before = neighbours(list, i, known)
			st.Edited[k.name] = true
		} else if slices.ContainsFunc(standing, func(s *relist.Sheet) bool { return s.Changes(&edit) }) {
			st.Edited[k.name] = true
		}
		out = append(out, edit)
	}
	for _, k := range earlier {
		if !has[k.name] && known[k.name] {
			out = append(out, relist.Edit{Name: k.name, Gone: true})
			st.Off[k.name], st.Edited[k.name] = "it is no longer there", true
		}
	}
	return out
}

// linesOf is how many lines of each name stand in one listing, at most.
func linesOf(standing []*relist.Sheet) map[string]int {
	out := map[string]int{}
	for _, s := range standing {
		own := map[string]int{}
		for i := range s.Lines {
			name := s.Lines[i].Name
			own[name]++
			out[name] = max(out[name], own[name])
		}
	}
	return out
}

// neighbours are the candidates next to a new one that the session has.
func neighbours(list []candidate, i int, known map[string]bool) (after, before string) {
	for j := i - 1; j >= 0; j-- {
		if list[j].entry != nil && known[list[j].name] {
			after = list[j].name
			break
		}
	}
	for j := i + 1; j < len(list); j++ {
		if list[j].entry != nil && known[list[j].name] {
			return after, list[j].name
		}
	}
	return after, ""
}

// rules are those of the client that sent the listings which stand.
func (p *Point) rules(standing []*relist.Sheet) *rules.Rules {
	a := p.Agent()
	if n := len(standing); n > 0 {
		if r := p.s.in.Rules(a.Events[standing[n-1].Event].Version); r != nil {
			return r
		}
	}
	return p.s.in.Rules(a.Events[p.Event].Version)
}

// settings are those of the client's process at the prompt.
func (p *Point) settings() replay.Settings {
	if m, ok := p.s.courses[p.agent].At(p.Event); ok && m.Process() != nil {
		return m.Process().Settings
	}
	return replay.Settings{}
}

// skill is the skill of a name that the session's files hold, nil where they do not tell.
func (p *Point) skill(name string) *skills.Skill {
	m, ok := p.s.courses[p.agent].At(p.Event)
	if !ok || m.Missing() != "" {
		return nil
	}
	list := m.Skills()
	for i := range list {
		if list[i].Reason == skills.Listed && list[i].Skill.Name == name {
			return list[i].Skill
		}
	}
	return nil
}

// first reports whether an event is a whole listing before any file was touched: what
// stands in it had no paths.
func (p *Point) first(event int) bool {
	a := p.Agent()
	if e := &a.Events[event]; e.Kind != replay.Listing || e.Listing.HasInitial && !e.Listing.Initial {
		return false
	}
	return !slices.ContainsFunc(a.Events[:event], func(e replay.Event) bool { return e.Kind == replay.Touch })
}

// active reports whether a skill with paths had come in by the prompt: the session shows
// it where one with paths can stand, or a file was touched that its patterns match.
func (p *Point) active(k *skills.Skill, patterns []string) bool {
	if at, stands := p.seen.Skills.From(k.Name); stands && !p.first(at) {
		return true
	}
	cwd := p.s.Result.Session.CWD
	if m, ok := p.s.courses[p.agent].At(p.Event); ok && m.Process() != nil && m.Process().CWD != "" {
		cwd = m.Process().CWD
	}
	a := p.Agent()
	for i := range a.Events[:p.Event] {
		if e := &a.Events[i]; e.Kind == replay.Touch && !e.Abandoned && skills.Activates(patterns, e.Path, cwd) {
			return true
		}
	}
	return false
}

// hidden is the number of entries whose whole text neither the session nor the set tells.
func (st *State) hidden(s *relist.Sheet) int {
	n := 0
	for i := range s.Lines {
		if l := &s.Lines[i]; l.Hidden && !slices.ContainsFunc(st.edits, func(e relist.Edit) bool { return e.Name == l.Name }) {
			n++
		}
	}
	return n
}

func others(n int) string {
	if n == 1 {
		return "1 other skill"
	}
	return fmt.Sprintf("%d other skills", n)
}

// assumed is what the sheets of a state rest on and no input tells.
func (st *State) assumed() []string {
	var out []string
	for i := range st.Sheets {
		s := st.Sheets[i].From
		if st.Sheets[i].Old == "" {
			out = append(out, "the log holds no listing: this one follows from the skill files, without others that the session had")
		}
		if s.Narrowed > 0 {
			out = append(out, fmt.Sprintf("the listing had less room than the %s characters assumed, as it left out what would have fitted: taken for %s (--window or --settings)", budget.Grouped(s.Narrowed), budget.Grouped(s.Budget)))
		}
		byUse := s.Size.Overflow == budget.OverflowGreedy || s.Size.Overflow == budget.OverflowStrip
		if byUse && !s.Counted && st.Sheets[i].Over() {
			out = append(out, "usage counts are not known: skills rank by the calls in the log (--usage FILE gives the counts)")
		}
		if h := st.hidden(s); h > 0 && !s.ByFiles {
			out = append(out, fmt.Sprintf("the whole descriptions of %s are not in the log; they stay as they were", others(h)))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
