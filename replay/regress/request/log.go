package request

import (
	"cmp"
	"time"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// Reading is how logs are to be read for [Open].
func Reading() jsonl.Options {
	return jsonl.Options{JSON: true, Types: []string{"user", "assistant", "system", "attachment", "cost-state",
		"api-request", "api-request-shape", "api-request-blob"}}
}

// Log holds what the requests of a session were made of. It is not changed after [Open],
// and may be used by several goroutines.
type Log struct {
	agents   []*agent
	shapes   map[string]*jsonl.Shape
	blobs    map[string]*blob
	requests map[string]*recorded
	table    *rules.Table
}

// agent is the log of one agent; records that an old main log holds of subagents are
// among those of "main".
type agent struct {
	id         string
	file       string
	items      []item
	byUUID     map[string]int
	byLine     map[int]int
	byUse      map[string][]int // items with the results of a tool use
	byTurn     map[string][]int // items of an assistant message
	kids       [][]int32
	keys       []key
	tools      []string      // used, in order of first use
	shots      []int         // items that show the prompt
	kept       map[int][]int // items that a boundary keeps, in order
	keptBy     map[int][]int // boundaries that keep an item, in file order
	model      string        // of the first reply
	manyModels bool          // replies are of several
	ended      []int         // lines at which a process ended
}

// item is what a request needs of a record.
type item struct {
	kind        jsonl.Kind
	subtype     string
	uuid        string
	up, logical string // parents, as the record names them
	parent      int    // the item before it in the conversation, -1 at a root
	line        int
	time        time.Time
	version     string
	agent       string // whose it is, in a log that holds several
	meta        bool   // a text of the client's
	boundary    bool   // of a compaction
	compact     *jsonl.Compact
	text        string      // of a system record
	content     jsonl.Value // of a message
	uses        []string    // calls of tools
	results     []string    // calls whose results it holds
	note        *note
	id, turn    string // of a reply: the message's, and what all its records share
	model       string
	ref, effort string
	failed      bool // a reply that is the client's note of an error
}

// note is an attachment.
type note struct {
	typ, role   string
	beside      bool // its text does not go into a result
	hasRendered bool
	sent        []jsonl.Value // what was rendered of it
	cut         int           // characters that a recording took out of that
	missing     int64         // and out of the record
	content     string
	initial     bool
	skills      []jsonl.InvokedSkill
	prompt      string
	images      int
	model       string
	systemJSON  jsonl.Value // what a record of the prompt shows
	toolsJSON   jsonl.Value
	systemTurns bool
}

// blob is a message that the log holds as it was sent.
type blob struct {
	message jsonl.Value
	missing int64
	role    string
}

// recorded is the log's note of a request.
type recorded struct {
	shape, base string
	keep        int64
	tail        []string
	model       string
	maxTokens   int64
	betas       []string
}

// Open reads the logs of a session, with the options of [Reading]. The error is the
// first of I/O, beside what was read until then.
func Open(main replay.Source, subs ...replay.Source) (*Log, error) {
	l := &Log{shapes: map[string]*jsonl.Shape{}, blobs: map[string]*blob{}, requests: map[string]*recorded{}}
	l.table, _ = rules.For("claude-code")
	main.Agent = mainAgent
	var first error
	for _, src := range append([]replay.Source{main}, subs...) {
		a := &agent{id: src.Agent, file: src.Name, byUUID: map[string]int{}, byLine: map[int]int{}, byUse: map[string][]int{}, byTurn: map[string][]int{}}
		l.agents = append(l.agents, a)
		for r, err := range src.Records {
			if err != nil {
				if first == nil {
					first = err
				}
				break
			}
			if !r.Broken {
				l.take(a, r)
			}
		}
		a.order()
	}
	return l, first
}

// mainAgent is the main loop, as in [replay.Agent].
const mainAgent = "main"

func (l *Log) take(a *agent, r *jsonl.Record) {
	switch r.Kind {
	case jsonl.KindAPIRequest:
		if q := r.Request; q != nil && q.ID != "" {
			l.requests[q.ID] = &recorded{r.Hash, q.Base, max(q.Keep, 0), q.Tail, q.Model, q.MaxTokens, q.Betas}
		}
		return
	case jsonl.KindAPIRequestShape:
		if r.Shape != nil && r.Hash != "" {
			l.shapes[r.Hash] = r.Shape
		}
		return
	case jsonl.KindAPIRequestBlob:
		if r.Message != nil && r.Hash != "" {
			m := message(r.Message.Role, accepted(r.Message.Content), accepted(r.Message.Extra))
			l.blobs[r.Hash] = &blob{m, r.Missing, r.Message.Role}
		}
		return
	case jsonl.KindUser, jsonl.KindAssistant, jsonl.KindSystem, jsonl.KindAttachment:
	case jsonl.KindCostState:
		a.ended = append(a.ended, r.Pos.Line)
		return
	default:
		if r.UUID == "" {
			return
		}
	}
	if _, again := a.byUUID[r.UUID]; again && r.UUID != "" {
		return // a record that is written again
	}
	i := len(a.items)
	it := item{kind: r.Kind, subtype: r.Subtype, uuid: r.UUID, up: r.Parent, logical: r.LogicalParent, parent: -1, line: r.Pos.Line, time: r.Time, version: r.Version,
		meta: r.Meta || r.Synthetic, agent: agentOf(r), boundary: r.Compact != nil && r.Subtype == "compact_boundary", compact: r.Compact,
		ref: r.RequestRef, effort: r.TurnEffort}
	if r.Kind == jsonl.KindSystem && !r.DisplayOnly {
		it.text = r.Text
	}
	if m := r.Message; m != nil && (r.Kind == jsonl.KindUser || r.Kind == jsonl.KindAssistant) {
		it.content, it.model, it.id = m.Content, m.Model, m.ID
		it.failed = r.APIError
		for j := range m.Blocks {
			b := &m.Blocks[j]
			switch b.Kind {
			case jsonl.BlockToolUse:
				it.uses = append(it.uses, b.ID)
				a.used(b.Name)
			case jsonl.BlockToolResult:
				it.results = append(it.results, b.ID)
				a.byUse[b.ID] = append(a.byUse[b.ID], i)
			}
		}
		if r.Kind == jsonl.KindAssistant && it.model != syntheticModel {
			a.model = cmp.Or(a.model, it.model)
			a.manyModels = a.manyModels || it.model != a.model
		}
		if r.Kind == jsonl.KindAssistant && it.id != "" {
			it.turn = it.id + "\x00" + r.RequestID + "\x00" + it.ref
			a.byTurn[it.turn] = append(a.byTurn[it.turn], i)
		}
	}
	if t := r.Attachment; t != nil {
		n := &note{typ: t.Type, role: t.Role, beside: r.BesideResult, sent: t.Sent, cut: t.RenderedCut, content: t.Content, skills: t.Skills,
			prompt: t.Prompt, images: t.Images, hasRendered: t.HasRendered, model: t.Model, missing: r.Missing, initial: t.Initial}
		if n.content == "" {
			n.content = t.Text
		}
		if t.Type == "prompt_snapshot" {
			n.systemJSON, n.toolsJSON = copied(t.SystemPrompt), copied(t.ToolDefs)
			n.systemTurns = t.SystemTurns
			a.shots = append(a.shots, i)
		}
		it.note = n
	}
	if r.UUID != "" {
		a.byUUID[r.UUID] = i
	}
	a.byLine[r.Pos.Line] = i
	a.items = append(a.items, it)
}

// agentOf tells the records of subagents from those of the main loop in a log that
// holds both.
func agentOf(r *jsonl.Record) string {
	if !r.Sidechain {
		return ""
	}
	return "side " + r.Agent
}

func copied(v jsonl.Value) jsonl.Value { return append(jsonl.Value(nil), v...) }

// maxTools bounds how many tools are named.
const maxTools = 256

func (a *agent) used(name string) {
	for _, t := range a.tools {
		if t == name {
			return
		}
	}
	if name != "" && len(a.tools) < maxTools {
		a.tools = append(a.tools, name)
	}
}

// message is a message of the API.
func message(role string, content, extra jsonl.Value) jsonl.Value {
	if content == nil {
		content = jsonl.Value("[]")
	}
	out := append(jsonl.Value(nil), `{"role":`...)
	out = append(out, quote(role)...)
	out = append(append(out, `,"content":`...), content...)
	if extra != nil {
		out = append(append(out, `,"output_config":`...), extra...)
	}
	return append(out, '}')
}
