package mine

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// Fixture is the part of a log that some cases need: a log of its own.
type Fixture struct {
	Text    []byte
	Records int
	// Cases are those it was cut for, under the numbers that their prompts have in it;
	// their lines and texts come from [Agree].
	Cases []Case
}

// Cut cuts the fixture for cases of one session out of the session's main log, which is
// read again, in full. Redact is nil where texts stay as they are.
//
// A fixture holds the main loop up to the last case's turn, without the branches that a
// rewind left: what the user typed, the listings, the calls of skills and the first
// line of what came of them, the compactions, the paths of files that were touched, and
// that a reply began. What was invoked beside it, in subagents too, stands behind. The replies' words, the tools' results, the texts of skills and what else the
// client told the model are not in it. Its records follow one another in the order of
// the conversation.
func Cut(r *replay.Result, cases []Case, records iter.Seq2[*jsonl.Record, error], redact *Redactor) (*Fixture, error) {
	if len(cases) == 0 {
		return nil, errors.New("no case to cut a fixture for")
	}
	p := newPlan(r, cases)
	c := &cutter{plan: p, redact: redact, records: make([]*jsonl.Record, len(p.steps))}
	for rec, err := range records {
		if err != nil {
			return nil, err
		}
		if !rec.Broken {
			c.record(rec)
		}
	}
	return c.fixture(cases)
}

// part is what a fixture keeps of a record.
type part uint16

const (
	partPrompt  part = 1 << iota // a typed text
	partCase                     // of a case
	partCommand                  // a typed command
	partTurn                     // that a reply began
	partCall                     // calls of skills
	partResult                   // results of such calls
	partBody                     // a text of a skill: its first line
	partListing                  // the listing
	partBack                     // what a compaction put back: the names
	partCompact                  // a boundary
	partUsage                    // the usage of a request
)

// step is a record of the fixture, in its order. One without a key and without touches is
// the client's closing account, which says that a new process follows.
type step struct {
	key     key
	part    part
	event   int   // its first among the events of the main loop, -1 for none
	touches []int // files that were touched, as events: only their paths are kept
}

// key finds a record: by its uuid, or where it has none by its line.
type key struct {
	uuid string
	line int
}

func keyOf(uuid string, line int) key {
	if uuid != "" {
		return key{uuid: uuid}
	}
	return key{line: line}
}

// plan says which records a fixture keeps, and what of them.
type plan struct {
	session *replay.Session
	client  string // as in "claude-code@2.1.332"
	events  []replay.Event
	steps   []step
	at      map[key]int     // steps
	uses    map[string]bool // tool uses that call skills
	prompts map[int]int     // the number in the fixture of each prompt's event
	beside  []replay.Attempt
}

func newPlan(r *replay.Result, cases []Case) *plan {
	main := r.Agents[0].Agent
	p := &plan{session: r.Session, client: r.Client, events: main.Events, at: map[key]int{}, uses: map[string]bool{}, prompts: map[int]int{}}
	chosen := map[int]bool{}
	end := 0
	for i := range cases {
		chosen[cases[i].event] = true
		end = max(end, next(p.events, cases[i].event))
	}
	restarts := map[int]bool{}
	for i := range p.events[:end] {
		if e := &p.events[i]; e.Kind == replay.SkillCall && !e.Abandoned {
			p.uses[e.ToolUse] = true
		}
		if e := &p.events[i]; e.Kind == replay.Start && e.Start.Process > 0 {
			restarts[i+1] = true
		}
	}
	touched := map[string]bool{}
	news := true // something that a reply may be told of was kept since the last
	for i := range p.events[:end] {
		e := &p.events[i]
		if e.Abandoned {
			continue
		}
		if restarts[i] {
			p.steps = append(p.steps, step{event: -1})
		}
		switch e.Kind {
		case replay.Prompt:
			p.prompts[i] = len(p.prompts) + 1
			kept := partPrompt
			if chosen[i] {
				kept |= partCase
			}
			p.keep(e, i, kept)
		case replay.Slash:
			if e.Forked {
				continue // its record says so only together with those around it
			}
			p.keep(e, i, partCommand)
		case replay.Turn:
			if news {
				p.keep(e, i, partTurn)
			}
			news = false
			continue
		case replay.SkillCall:
			p.keep(e, i, partCall)
		case replay.Launched, replay.Refusal:
			p.keep(e, i, partResult)
		case replay.Body, replay.Note:
			p.keep(e, i, partBody)
		case replay.Listing:
			p.keep(e, i, partListing)
		case replay.Reattachment:
			p.keep(e, i, partBack)
		case replay.Compaction:
			p.keep(e, i, partCompact)
		case replay.Touch:
			if !touched[e.Path] {
				touched[e.Path] = true
				p.touch(i)
			}
			continue
		default:
			continue
		}
		news = true
	}
	p.window(main, end)
	p.elsewhere(r.Session, end)
	return p
}

// elsewhere collects the skills that were invoked beside the conversation: by subagents,
// on branches that a rewind left, in forks that the user typed. The client counts them,
// and ranks by that.
func (p *plan) elsewhere(s *replay.Session, end int) {
	until := p.events[end-1].Where.Time
	for n, a := range s.Agents {
		sum := replay.Summarize(a)
		for i := range sum.Attempts {
			t := &sum.Attempts[i]
			if t.Outcome != replay.OutcomeInvoked || t.Where.Time.After(until) {
				continue
			}
			e := &a.Events[t.Event]
			if n > 0 || t.Event < end && (e.Abandoned || e.Kind == replay.Slash && e.Forked) {
				p.beside = append(p.beside, *t)
			}
		}
	}
	slices.SortStableFunc(p.beside, func(a, b replay.Attempt) int { return a.Where.Time.Compare(b.Where.Time) })
}

func (p *plan) keep(e *replay.Event, i int, what part) {
	k := keyOf(e.Where.UUID, e.Where.Line)
	if at, ok := p.at[k]; ok {
		p.steps[at].part |= what
		return
	}
	p.at[k] = len(p.steps)
	p.steps = append(p.steps, step{key: k, part: what, event: i})
}

// touch keeps the path of a touched file: it may bring in a skill that waits for it.
func (p *plan) touch(i int) {
	if n := len(p.steps); n > 0 && p.steps[n-1].touches != nil {
		p.steps[n-1].touches = append(p.steps[n-1].touches, i)
		return
	}
	p.steps = append(p.steps, step{event: i, touches: []int{i}})
}

// window keeps the usage of the largest request of the session's model: it shows how
// wide the window must have been.
func (p *plan) window(main *replay.Agent, end int) {
	var most, inside *replay.APICall
	for i := range main.Calls {
		c := &main.Calls[i]
		if !c.HasUsage || len(p.session.Models) == 0 || c.Model != p.session.Models[0] {
			continue
		}
		if most == nil || c.Usage.Prompt() > most.Usage.Prompt() {
			most = c
		}
		if _, kept := p.at[keyOf(c.Where.UUID, c.Where.Line)]; kept && c.Event < end && (inside == nil || c.Usage.Prompt() > inside.Usage.Prompt()) {
			inside = c
		}
	}
	if most == nil {
		return
	}
	const usual = 200_000 // tokens: what fits into it says nothing of a wider one
	if inside != nil && (inside.Usage.Prompt() == most.Usage.Prompt() || most.Usage.Prompt() <= usual) {
		most = inside
	}
	k := keyOf(most.Where.UUID, most.Where.Line)
	if at, ok := p.at[k]; ok {
		p.steps[at].part |= partUsage
		return
	}
	p.at[k] = len(p.steps)
	p.steps = append(p.steps, step{key: k, part: partTurn | partUsage, event: -1})
}

// cutter makes the lines of a fixture.
type cutter struct {
	*plan
	redact  *Redactor
	records []*jsonl.Record // by step
	header  *jsonl.Record   // what the client told of its environment
}

// record takes a record of the log, if the plan keeps it.
func (c *cutter) record(r *jsonl.Record) {
	if a := r.Attachment; a != nil && a.HasGitRepo && c.header == nil {
		c.header = &jsonl.Record{Type: r.Type, UUID: r.UUID, Version: r.Version, Time: r.Time,
			Attachment: &jsonl.Attachment{Type: a.Type, WorkingDirectory: a.WorkingDirectory, HasGitRepo: true, GitRepo: a.GitRepo}}
	}
	at, ok := c.at[keyOf(r.UUID, r.Pos.Line)]
	if ok && c.records[at] == nil { // of repeated records the first counts
		c.records[at] = c.reduced(r, &c.steps[at])
	}
}

// reduced is what the fixture keeps of a record; nil for nothing, as where the record is
// not the one that was meant: two may have one id.
func (c *cutter) reduced(r *jsonl.Record, s *step) *jsonl.Record {
	out := &jsonl.Record{Kind: r.Kind, Type: r.Type, Subtype: r.Subtype, UUID: r.UUID, Time: r.Time, Version: r.Version, CWD: r.CWD, Mode: r.Mode,
		Meta: r.Meta, Synthetic: r.Synthetic, SourceToolUse: r.SourceToolUse, PromptSource: r.PromptSource, TurnOrigin: r.TurnOrigin, Origin: r.Origin,
		Stacked: r.Stacked, StackedInput: r.StackedInput}
	if out.UUID == "" {
		out.UUID = fmt.Sprintf("00000000-0000-4000-8000-%012x", r.Pos.Line)
	}
	switch {
	case s.part&(partTurn|partCall) != 0:
		if r.Kind != jsonl.KindAssistant || r.Message == nil {
			return nil
		}
		out.Message = c.reply(r.Message, s.part)
	case s.part&partCompact != 0:
		if r.Compact == nil || c.events[s.event].Compaction == nil {
			return nil
		}
		out.Compact = &jsonl.Compact{Trigger: r.Compact.Trigger, PreTokens: r.Compact.PreTokens, PostTokens: r.Compact.PostTokens}
	case r.Attachment != nil:
		if out.Attachment = c.attachment(r.Attachment, s); out.Attachment == nil {
			return nil
		}
	case r.Kind == jsonl.KindUser && r.Message != nil:
		out.Message = c.typed(r.Message, s)
		out.Result = c.result(r.Result)
		out.StackedInput = c.commandLine(r.StackedInput)
	default:
		return nil
	}
	return out
}

// reply is the reply that a record holds a row of, as far as it calls skills.
func (c *cutter) reply(m *jsonl.Message, what part) *jsonl.Message {
	out := &jsonl.Message{ID: m.ID, Role: m.Role, Model: m.Model}
	if what&partUsage != 0 {
		out.Usage = m.Usage
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Kind != jsonl.BlockToolUse || !c.uses[b.ID] {
			continue
		}
		// Only what names the skill: the rest the model wrote.
		input := jsonl.Value(b.Input).Only(func(name []byte, v jsonl.Value) bool {
			return (string(name) == "skill" || string(name) == "command") && v.Kind() == jsonl.ValueString
		})
		out.Blocks = append(out.Blocks, jsonl.Block{Kind: b.Kind, Type: b.Type, ID: b.ID, Name: b.Name, Input: input})
	}
	if len(out.Blocks) == 0 {
		out.Blocks = []jsonl.Block{text("(cut)")}
	}
	return out
}

func text(s string) jsonl.Block { return jsonl.Block{Kind: jsonl.BlockText, Type: "text", Text: s} }

// typed is what a user record holds.
func (c *cutter) typed(m *jsonl.Message, s *step) *jsonl.Message {
	out := &jsonl.Message{Role: m.Role, String: m.String}
	for i := range m.Blocks {
		b := m.Blocks[i]
		switch {
		case b.Kind == jsonl.BlockToolResult:
			if !c.uses[b.ID] {
				continue
			}
			b.Text, b.Parts, b.Images = c.free(firstLine(b.Text)), false, 0
		case s.part&(partResult|partBody) != 0:
			// A text of a skill, or what the client put beside it.
			if b.Kind != jsonl.BlockText {
				continue
			}
			b.Text = c.free(firstLine(b.Text))
			if s.part&partResult != 0 && !strings.HasPrefix(b.Text, skillFolder) {
				continue
			}
		case s.part&partPrompt != 0:
			b.Text = c.prompt(b.Text, s.part&partCase != 0)
		case s.part&partCommand != 0:
			if strings.HasPrefix(b.Text, skillFolder) {
				b.Text = c.free(firstLine(b.Text))
			} else if c.redact != nil {
				b.Text = "<command-name>/" + c.events[s.event].Tool + "</command-name>"
			}
		}
		out.Blocks = append(out.Blocks, b)
	}
	return out
}

// skillFolder begins the text of a skill that has a folder.
const skillFolder = "Base directory for this skill: "

// otherPrompt stands for a prompt of no case where texts are redacted: its own words are
// needed by nobody.
const otherPrompt = "(another prompt)"

func (c *cutter) prompt(s string, ofCase bool) string {
	switch {
	case c.redact == nil:
		return s
	case ofCase:
		return c.redact.Text(s)
	case strings.TrimSpace(s) == "":
		return s
	}
	return otherPrompt
}

// free is a text whose length does not matter, without what is to be redacted.
func (c *cutter) free(s string) string {
	if c.redact == nil {
		return s
	}
	return c.redact.Text(s)
}

// commandLine is the line in which several commands were typed: where texts are
// redacted, their names.
func (c *cutter) commandLine(line string) string {
	if c.redact == nil || line == "" {
		return line
	}
	var names []string
	for word := range strings.FieldsSeq(line) {
		if !strings.HasPrefix(word, "/") {
			break
		}
		names = append(names, word)
	}
	return strings.Join(names, " ")
}

// mostLine is the longest first line that is kept of a text, in UTF-16 code units: the
// client's own lines and paths are shorter.
const mostLine = 300

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return budget.Cut16(line, mostLine)
}

// result is what the client says of a skill's result.
func (c *cutter) result(t *jsonl.ToolResult) *jsonl.ToolResult {
	if t == nil {
		return nil
	}
	return &jsonl.ToolResult{IsString: t.IsString, String: c.free(firstLine(t.String)), Success: t.Success, Command: t.Command, Status: t.Status,
		Agent: t.Agent, Background: t.Background}
}

func (c *cutter) attachment(a *jsonl.Attachment, s *step) *jsonl.Attachment {
	switch {
	case s.part&partPrompt != 0:
		return &jsonl.Attachment{Type: a.Type, Prompt: c.prompt(a.Prompt, s.part&partCase != 0), Images: a.Images, Origin: a.Origin}
	case s.part&partBack != 0:
		out := &jsonl.Attachment{Type: a.Type}
		for _, k := range a.Skills {
			out.Skills = append(out.Skills, jsonl.InvokedSkill{Name: k.Name, Path: c.free(k.Path), Content: c.free(firstLine(k.Content))})
		}
		return out
	case a.Type == "skill_listing":
		out := &jsonl.Attachment{Type: a.Type, Content: a.Content, HasInitial: a.HasInitial, Initial: a.Initial, HasCount: a.HasCount, Count: a.Count,
			HasNames: a.HasNames, Names: a.Names, HasDigests: a.HasDigests, Digests: a.Digests}
		if c.redact != nil {
			c.redact.listing(out)
		}
		return out
	}
	return c.snapshot(a, s)
}

// snapshot is a record of the prompt, reduced to the listings that it shows.
func (c *cutter) snapshot(a *jsonl.Attachment, s *step) *jsonl.Attachment {
	out := &jsonl.Attachment{Type: a.Type}
	for i := s.event; i < len(c.events) && keyOf(c.events[i].Where.UUID, c.events[i].Where.Line) == s.key; i++ {
		e := &c.events[i]
		if e.Kind != replay.Listing {
			continue
		}
		shown := &jsonl.Attachment{Content: e.Text, HasNames: e.Listing.HasNames, Names: e.Listing.Names}
		if c.redact != nil {
			c.redact.listing(shown)
		}
		switch e.Place {
		case replay.PlaceSystem:
			out.SystemPrompt = asJSON(skills.QuoteJSON("# Skills\n\n" + shown.Content))
		case replay.PlaceTool:
			out.ToolDefs = asJSON(`{"name":"Skill","description":` + skills.QuoteJSON("<available_skills>\n"+shown.Content+"\n</available_skills>") + `}`)
		}
	}
	if out.SystemPrompt == nil && out.ToolDefs == nil {
		return nil
	}
	return out
}

// fixture puts the records that were kept into a log of their own, each behind the one
// before it.
func (c *cutter) fixture(cases []Case) (*Fixture, error) {
	f := &Fixture{}
	last := ""
	add := func(r *jsonl.Record) {
		r.Session = c.session.ID
		if r.CWD != "" {
			r.CWD = c.folder(r.CWD)
		}
		switch {
		case r.Compact != nil:
			r.LogicalParent = last
		case r.UUID != "":
			r.Parent = last
		}
		last = cmp.Or(r.UUID, last)
		f.Text = append(jsonl.AppendRecord(f.Text, r), '\n')
		f.Records++
	}
	first := slices.IndexFunc(c.records, func(r *jsonl.Record) bool { return r != nil })
	if first < 0 {
		return nil, errors.New("the log does not hold the records of its cases any more")
	}
	// The first folder that a log names is that in which the client was started, and the
	// newest client in it judges what has no version of its own.
	_, client, _ := strings.Cut(c.client, "@")
	named := func(r *jsonl.Record) bool { return r != nil && r.Version == client }
	if c.header == nil && (c.records[first].CWD != c.session.CWD || client != "" && !slices.ContainsFunc(c.records, named)) {
		c.header = &jsonl.Record{Type: "system", UUID: "00000000-0000-4000-8000-000000000000", Time: c.records[first].Time}
	}
	if h := c.header; h != nil {
		h.CWD, h.Version = c.session.CWD, cmp.Or(client, c.records[first].Version)
		if h.Attachment != nil && h.Attachment.WorkingDirectory != "" {
			h.Attachment.WorkingDirectory = c.folder(h.Attachment.WorkingDirectory)
		}
		add(h)
	}
	version := ""
	for i := range c.steps {
		s := &c.steps[i]
		switch {
		case s.touches != nil:
			for _, r := range c.reads(s) {
				add(r)
			}
			continue
		case s.key == (key{}):
			add(&jsonl.Record{Type: "cost-state"})
			continue
		}
		r := c.records[i]
		if r == nil {
			continue
		}
		if s.event < 0 {
			r.Version = version // behind the end: what came of the client later does not matter
		} else if r.Version != "" {
			version = r.Version
		}
		if s.part&partCompact != 0 {
			e := c.events[s.event].Compaction
			r.Compact.Preserved = c.kept(e.Kept)
			add(r)
			summary := &jsonl.Record{Type: "user", UUID: r.UUID + "-summary", Time: r.Time, Version: r.Version, CWD: r.CWD, CompactSummary: true, TranscriptOnly: true,
				Message: &jsonl.Message{Role: "user", String: true, Blocks: []jsonl.Block{text("(cut)")}}}
			if e.Partial != "" {
				summary.Partial = &jsonl.Partial{Direction: e.Partial}
			}
			add(summary)
			continue
		}
		add(r)
	}
	last = ""
	for i := range c.beside {
		for _, r := range invoked(&c.beside[i], i+1) {
			add(r)
		}
	}
	for i := range cases {
		k := cases[i]
		at := c.at[keyOf(k.Where.UUID, k.Where.Line)]
		if c.records[at] == nil {
			return nil, fmt.Errorf("line %d: the prompt is not in the log any more", k.Where.Line)
		}
		k.Prompt = c.prompts[k.event]
		k.Where = replay.Where{UUID: c.records[at].UUID}
		k.Skills = slices.Clone(k.Skills)
		f.Cases = append(f.Cases, k)
	}
	return f, nil
}

// kept are those of some records that the fixture holds, in its order.
func (c *cutter) kept(uuids map[string]bool) []string {
	var steps []int
	for u := range uuids {
		if at, ok := c.at[key{uuid: u}]; ok && c.records[at] != nil {
			steps = append(steps, at)
		}
	}
	slices.Sort(steps)
	var out []string
	for _, at := range steps {
		out = append(out, c.records[at].UUID)
	}
	return out
}

// noModel is the name of the model of replies that no model wrote.
const noModel = "<synthetic>"

// call is a reply that calls tools, and answer the record of their results.
func call(uuid string, uses []jsonl.Block) *jsonl.Record {
	return &jsonl.Record{Type: "assistant", UUID: uuid, Message: &jsonl.Message{ID: uuid, Role: "assistant", Model: noModel, Blocks: uses}}
}

func answer(uuid string, results []jsonl.Block) *jsonl.Record {
	return &jsonl.Record{Type: "user", UUID: uuid, Message: &jsonl.Message{Role: "user", Blocks: results}}
}

// reads tells of touched files as if they had been read.
func (c *cutter) reads(s *step) []*jsonl.Record {
	var uses, results []jsonl.Block
	for _, i := range s.touches {
		id := fmt.Sprintf("toolu_read%d", i)
		input := jsonl.Value(`{"file_path":` + skills.QuoteJSON(c.free(c.events[i].Path)) + `}`)
		uses = append(uses, jsonl.Block{Kind: jsonl.BlockToolUse, Type: "tool_use", ID: id, Name: "Read", Input: input})
		results = append(results, jsonl.Block{Kind: jsonl.BlockToolResult, Type: "tool_result", ID: id})
	}
	e := &c.events[s.event]
	ask, got := call(fmt.Sprintf("read%d", s.event), uses), answer(fmt.Sprintf("read%d-result", s.event), results)
	for _, r := range []*jsonl.Record{ask, got} {
		r.Version, r.Time = e.Version, e.Where.Time
	}
	return []*jsonl.Record{ask, got}
}

// invoked tells of a skill that was invoked beside the conversation, as a call of a
// subagent.
func invoked(t *replay.Attempt, n int) []*jsonl.Record {
	id := fmt.Sprintf("beside%d", n)
	name := strings.TrimPrefix(strings.TrimSpace(t.Skill), "/")
	ask := call(id, []jsonl.Block{{Kind: jsonl.BlockToolUse, Type: "tool_use", ID: "toolu_" + id, Name: "Skill", Input: jsonl.Value(`{"skill":` + skills.QuoteJSON(name) + `}`)}})
	got := answer(id+"-result", []jsonl.Block{{Kind: jsonl.BlockToolResult, Type: "tool_result", ID: "toolu_" + id, Text: "Launching skill: " + name}})
	got.Result = &jsonl.ToolResult{Success: true, Command: name}
	for _, r := range []*jsonl.Record{ask, got} {
		r.Version, r.Time, r.Sidechain, r.Agent = t.Version, t.Where.Time, true, "beside"
	}
	return []*jsonl.Record{ask, got}
}

// folder is a folder in which the client worked.
func (c *cutter) folder(path string) string {
	if c.redact == nil {
		return path
	}
	return c.redact.Text(path)
}

// asJSON is a list of texts as JSON.
func asJSON(members ...string) jsonl.Value {
	return jsonl.Value("[" + strings.Join(members, ",") + "]")
}

// FileName is a name for the fixture of a session that no other has: the beginning of the
// session's id.
func FileName(session string, taken map[string]bool) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, session)
	const short = 8
	base := cmp.Or(strings.Trim(id[:min(len(id), short)], "-"), "session")
	name := base + ".jsonl"
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s-%d.jsonl", base, n)
	}
	taken[strings.ToLower(name)] = true
	return name
}
