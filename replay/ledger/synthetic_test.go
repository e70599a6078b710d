package ledger_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
)

// The recordings are few and alike. Here sessions are made up whose truth is known:
// a client is played that sends what a client of the version sends, and its prompts
// are counted by made-up tokenizers that know nothing of the ledger's estimates.

// tokenizer counts the tokens of a text.
type tokenizer func(string) int

// pieces is a tokenizer that cuts words into pieces of so many letters at most, digits
// and signs into runs, and counts so many tokens for ten characters of CJK.
func pieces(letters, digits, signs, wide int) tokenizer {
	return func(s string) int {
		n, run, kind, cjk := 0, 0, 0, 0
		for _, r := range s {
			k, limit := 0, 1
			switch {
			case r > 0x2E80:
				cjk++
				kind = 0
				continue
			case unicode.IsLetter(r):
				k, limit = 1, letters
			case unicode.IsDigit(r):
				k, limit = 2, digits
			case r == ' ':
				k, limit = 3, 1<<20
			case r == '\n' || r == '\t':
				k, limit = 4, 2
			default:
				k, limit = 5, signs
			}
			if k != kind {
				run = 0
			}
			if run%limit == 0 && !(k == 3 && run == 0) { // a blank goes with the word behind it
				n++
			}
			run++
			kind = k
		}
		return n + (cjk*wide+9)/10
	}
}

var tokenizers = map[string]tokenizer{
	"short pieces": pieces(5, 1, 1, 10),
	"long pieces":  pieces(9, 3, 2, 7),
	"words":        pieces(40, 3, 1, 16),
}

// client plays a client: it writes a log and keeps what it would have sent.
type client struct {
	r        *rand.Rand
	tok      tokenizer
	front    int64 // tokens of the system prompt and the tools
	newer    bool  // it records what it rendered
	lines    []string
	prompt   []sent
	cached   []int64 // sums of the blocks that the cache holds
	parent   string
	n        int
	agent    string
	truth    map[replay.Layer]*[3]int64
	calls    int64
	thinking bool

	noted        bool   // it records its requests
	instructions string // sent before the rest, in no record of its own
	system       string
	tools        []any
	parts        map[replay.Part]int64 // the true tokens of what stands before the messages
	texts        []string
	base         string
	messages     int
}

// sent is a block of a prompt.
type sent struct {
	layer  replay.Layer
	tokens int64
}

func newClient(seed uint64, tok tokenizer, newer bool) *client {
	c := &client{r: rand.New(rand.NewPCG(seed, 7)), tok: tok, front: 9_000 + int64(seed*977%20_000), newer: newer, truth: map[replay.Layer]*[3]int64{}}
	return c
}

func (c *client) record(fields map[string]any) {
	c.n++
	id := fmt.Sprintf("%s%08d", c.agent, c.n)
	version := "2.1.200"
	if c.newer {
		version = "2.1.332"
	}
	fields["uuid"], fields["version"], fields["sessionId"] = id, version, "s"
	fields["timestamp"] = fmt.Sprintf("2026-11-28T09:%02d:%02d.000Z", c.n/60%60, c.n%60)
	if c.parent != "" {
		fields["parentUuid"] = c.parent
	}
	if c.agent != "" {
		fields["agentId"], fields["isSidechain"] = c.agent, true
	}
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	c.lines = append(c.lines, string(b))
	c.parent = id
}

func (c *client) send(layer replay.Layer, text string) {
	c.texts = append(c.texts, text)
	c.wrote(layer, text)
}

// wrote adds what the model wrote.
func (c *client) wrote(layer replay.Layer, text string) {
	c.prompt = append(c.prompt, sent{layer, int64(c.tok(text))})
}

// shape makes the system prompt and the tools.
func (c *client) shape() {
	c.system = c.prose(3000)
	c.parts = map[replay.Part]int64{replay.PartSystem: int64(c.tok(c.system))}
	for _, name := range []string{"Bash", "Skill"} {
		part, words := replay.PartTools, 4000
		if name == "Skill" {
			part, words = replay.PartSkillTool, 400
		}
		def := map[string]any{"name": name, "description": c.prose(words), "input_schema": map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string", "description": c.prose(20)}}}}
		b, err := json.Marshal(def)
		if err != nil {
			panic(err)
		}
		c.parts[part] = int64(c.tok(string(b)))
		c.tools = append(c.tools, def)
	}
	c.front = c.parts[replay.PartSystem] + c.parts[replay.PartSkillTool] + c.parts[replay.PartTools]
	c.tools = append(c.tools, map[string]any{"name": "mcp__shop__orders", "description": c.prose(900), "defer_loading": true})
}

// note records the request that the reply with an id answers.
func (c *client) note(id string) {
	raw := func(fields map[string]any) {
		fields["sessionId"], fields["version"] = "s", "2.1.332"
		b, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		c.lines = append(c.lines, string(b))
	}
	var content []any
	for _, text := range c.texts {
		content = append(content, map[string]any{"type": "text", "text": text})
	}
	tail := []string{"user " + id}
	if c.base != "" {
		tail = []string{"reply " + c.base, "user " + id}
	}
	if c.messages == 0 {
		raw(map[string]any{"type": "api-request-shape", "shapeHash": "shape", "shape": map[string]any{"system": []any{map[string]any{"type": "text", "text": c.system}}, "tools": c.tools}})
	}
	raw(map[string]any{"type": "api-request-blob", "hash": "user " + id, "message": map[string]any{"role": "user", "content": content}})
	request := map[string]any{"type": "api-request", "id": id, "keep": c.messages, "tail": tail, "shapeHash": "shape"}
	if c.base != "" {
		request["base"] = c.base
	}
	raw(request)
	c.base, c.texts = id, nil
	c.messages += len(tail)
}

func (c *client) user(text string) {
	c.record(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
	c.send(replay.LayerOther, text)
}

// attach writes an attachment with what of it was sent.
func (c *client) attach(layer replay.Layer, a map[string]any, text string) {
	f := map[string]any{"type": "attachment", "attachment": a}
	if c.newer {
		f["rendered"] = []any{map[string]any{"content": text}}
	}
	c.record(f)
	c.send(layer, text)
}

func remind(text string) string { return "<system-reminder>\n" + text + "\n</system-reminder>\n" }

func (c *client) start(lines []string) {
	if c.newer {
		c.attach(replay.LayerOther, map[string]any{"type": "environment", "snapshot": map[string]any{"workingDirectory": "/home/dev/shop"}}, remind(c.prose(110)))
	} else {
		c.send(replay.LayerOther, remind(c.prose(44)))
	}
	c.list(lines)
}

func (c *client) list(lines []string) {
	if c.instructions != "" {
		c.send(replay.LayerOther, c.instructions)
	}
	content := strings.Join(lines, "\n")
	var names []string
	for _, l := range lines {
		name, _, _ := strings.Cut(strings.TrimPrefix(l, "- "), ":")
		names = append(names, name)
	}
	c.attach(replay.LayerListing, map[string]any{"type": "skill_listing", "content": content, "names": names}, remind("The following skills are available for use with the Skill tool:\n\n"+content+"\n"))
}

// use is a tool call of a reply with its result.
type use struct {
	tool, skill  string
	input        map[string]any
	result, body string
}

// reply makes a request and writes what came back.
func (c *client) reply(text string, uses ...use) {
	c.n++
	id := fmt.Sprintf("msg_%s%d", c.agent, c.n)
	// Billing: what was sent before comes from the cache.
	at := c.front
	sums := []int64{at}
	for _, b := range c.prompt {
		at += b.tokens
		sums = append(sums, at)
	}
	var read int64
	for i := 0; i < len(c.cached) && i < len(sums) && c.cached[i] == sums[i]; i++ {
		read = sums[i]
	}
	input := int64(c.r.IntN(3))
	input = min(input, at-read)
	add := func(layer replay.Layer, from, to int64) {
		t := c.truth[layer]
		if t == nil {
			t = new([3]int64)
			c.truth[layer] = t
		}
		for k, end := range [3]int64{read, at - input, at} {
			begin := [3]int64{0, read, at - input}[k]
			n := max(min(to, end)-max(from, begin), 0)
			t[k] += n
		}
	}
	add(replay.LayerOther, 0, c.front)
	for i, b := range c.prompt {
		add(b.layer, sums[i], sums[i+1])
	}
	c.calls++
	c.cached = sums

	var content []any
	out := int64(c.tok(text))
	usage := map[string]any{"input_tokens": input, "cache_read_input_tokens": read, "cache_creation_input_tokens": at - read - input}
	if c.thinking {
		thought := c.prose(120)
		content = append(content, map[string]any{"type": "thinking", "thinking": thought, "signature": "c2ln"})
		out += int64(c.tok(thought))
		usage["output_tokens_details"] = map[string]any{"thinking_tokens": c.tok(thought)}
	}
	content = append(content, map[string]any{"type": "text", "text": text})
	if c.noted {
		c.note(id)
	}
	c.wrote(replay.LayerOther, text)
	for i, u := range uses {
		content = append(content, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%d", id, i), "name": u.tool, "input": u.input})
		b, err := json.Marshal(u.input)
		if err != nil {
			panic(err)
		}
		n := c.tok(u.tool + string(b))
		out += int64(n)
		c.wrote(u.layer(), u.tool+string(b))
	}
	usage["output_tokens"] = out
	stop := "end_turn"
	if len(uses) > 0 {
		stop = "tool_use"
	}
	c.record(map[string]any{"type": "assistant", "requestId": "req_" + id, "requestRef": id, "message": map[string]any{"id": id, "role": "assistant", "model": "claude-sonnet-4-5", "content": content, "stop_reason": stop, "usage": usage}})
	var bodies []use
	for i, u := range uses {
		tool := fmt.Sprintf("toolu_%s_%d", id, i)
		c.record(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": tool, "content": u.result}}}})
		c.send(u.layer(), u.result)
		if u.body != "" {
			u.tool = tool
			bodies = append(bodies, u)
		}
	}
	for _, u := range bodies {
		c.record(map[string]any{"type": "user", "isMeta": true, "sourceToolUseID": u.tool, "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": u.body}}}})
		c.send(replay.LayerBody, u.body)
	}
	if c.newer && len(uses) > 0 {
		left := fmt.Sprintf("<total_tokens>%d tokens left</total_tokens>", 15_000_000-at)
		c.attach(uses[len(uses)-1].layer(), map[string]any{"type": "total_tokens_reminder", "text": left}, remind(left))
	}
}

func (u use) layer() replay.Layer {
	switch {
	case u.tool == "Skill":
		return replay.LayerCall
	case u.skill != "":
		return replay.LayerReference
	}
	return replay.LayerOther
}

// compact begins anew with a summary and the bodies that come back.
func (c *client) compact(bodies [][2]string, files int, lines []string) {
	c.prompt, c.cached = nil, []int64{c.front}
	c.texts, c.base, c.messages = nil, "", 0
	before := c.parent
	c.parent = ""
	c.record(map[string]any{"type": "system", "subtype": "compact_boundary", "logicalParentUuid": before, "content": "Conversation compacted", "compactMetadata": map[string]any{"trigger": "auto", "preTokens": 1}})
	text := "This session is being continued from a previous conversation that ran out of context. " + c.prose(300)
	c.record(map[string]any{"type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true, "message": map[string]any{"role": "user", "content": text}})
	c.send(replay.LayerOther, text)
	for i := range files {
		content := c.code(60)
		path := fmt.Sprintf("/home/dev/shop/src/mod%d.go", i)
		c.attach(replay.LayerOther, map[string]any{"type": "file", "filename": path, "content": map[string]any{"type": "text", "file": map[string]any{"filePath": path, "content": content}}},
			remind(`Called the Read tool with the following input: {"file_path":"`+path+`"}`)+remind("Result of calling the Read tool:\n"+numbered(content)))
	}
	var skills []any
	sent := "The following skills were invoked EARLIER in this session (before the conversation was compacted)" + c.prose(80) + "\n\n"
	for _, b := range bodies {
		skills = append(skills, map[string]any{"name": b[0], "path": "userSettings:" + b[0], "content": b[1]})
		sent += "### Skill: " + b[0] + "\nPath: userSettings:" + b[0] + "\n\n" + b[1] + "\n\n---\n\n"
	}
	if len(bodies) > 0 {
		c.attach(replay.LayerReattachment, map[string]any{"type": "invoked_skills", "skills": skills}, remind(sent))
	}
	if c.newer {
		c.start(lines)
	} else {
		c.send(replay.LayerOther, remind(c.prose(44)))
	}
}

// numbered is a text as the Read tool shows it.
func numbered(text string) string {
	var b strings.Builder
	for k, l := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%d\t%s\n", k+1, l)
	}
	return b.String()
}

const words = "the a of to and in for with when this from that change deployment configuration review table request response handler migration check before after release customer invoice environment description test failing documentation repository pipeline update remove version database schema index service user account permission error report write read file folder summarise explain because therefore however reliable"

func (c *client) prose(n int) string {
	list := strings.Fields(words)
	var b strings.Builder
	for i := range n {
		w := list[c.r.IntN(len(list))]
		switch {
		case i == 0:
			w = strings.ToUpper(w[:1]) + w[1:]
		case c.r.IntN(11) == 0:
			b.WriteString([]string{".", ",", ";", ":", "\n-", "\n"}[c.r.IntN(6)])
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String() + "."
}

func (c *client) code(lines int) string {
	list := strings.Fields(words)
	w := func() string { return list[c.r.IntN(len(list))] }
	var b strings.Builder
	for range lines {
		switch c.r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "func %sOf%s(%s int, %s string) error {\n", w(), strings.ToUpper(w()[:1])+w(), w(), w())
		case 1:
			fmt.Fprintf(&b, "\tif err := s.%s(%d, %q); err != nil {\n\t\treturn err\n\t}\n", w(), c.r.IntN(90_000), w())
		case 2:
			fmt.Fprintf(&b, "\t%s[%d] = append(%s, 0x%x)\n", w(), c.r.IntN(99), w(), c.r.Uint32())
		default:
			fmt.Fprintf(&b, "\t// %s %s %s\n", w(), w(), w())
		}
	}
	return b.String()
}

func (c *client) json(n int) string {
	list := strings.Fields(words)
	var rows []any
	for range n {
		rows = append(rows, map[string]any{list[c.r.IntN(len(list))]: c.r.IntN(1_000_000), "id": fmt.Sprintf("%08x-%04x", c.r.Uint32(), c.r.IntN(65536)), "ok": true, list[c.r.IntN(len(list))]: list[c.r.IntN(len(list))]})
	}
	b, err := json.Marshal(rows)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (c *client) chinese(n int) string {
	pool := []rune("这个技能用于检查数据库迁移脚本并在部署之前生成一份报告当用户提到时使用它请先读取文件然后修改配置测试失败原因说明")
	var b strings.Builder
	for i := range n {
		b.WriteRune(pool[c.r.IntN(len(pool))])
		if i%23 == 22 {
			b.WriteString("。\n")
		}
	}
	return b.String()
}

// text is a text of a kind, of roughly so many tokens.
func (c *client) text(kind string, tokens int) string {
	switch kind {
	case "code":
		return c.code(tokens / 12)
	case "json":
		return c.json(tokens/30 + 1)
	case "cjk":
		return c.chinese(tokens)
	}
	return c.prose(tokens * 4 / 5)
}

// script is what happens in a session.
type script struct {
	bodies, results string // kinds of text
	turns           int
	compactions     int
	parallel        bool // several tools at once
	thinking        bool
	newer           bool
	noted           bool
	instructions    int // tokens, more or less
}

// play plays a session, and returns it with its truth.
func play(t *testing.T, seed uint64, tok tokenizer, sc script) (*replay.Session, *client) {
	t.Helper()
	c := write(seed, tok, sc, "")
	s, err := replay.Observe(c.source())
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func (c *client) source() replay.Source {
	return replay.Source{Name: "log" + c.agent, Agent: c.agent, Records: jsonl.Read("log", strings.NewReader(strings.Join(c.lines, "\n")), replay.Reading())}
}

// write writes the log of an agent.
func write(seed uint64, tok tokenizer, sc script, agent string) *client {
	c := newClient(seed, tok, sc.newer)
	c.thinking, c.agent, c.noted = sc.thinking, agent, sc.noted
	if sc.noted {
		c.shape()
	}
	if sc.instructions > 0 {
		c.instructions = remind(c.prose(sc.instructions))
	}
	names := []string{"db-review", "release-notes", "ui-check", "load-test", "triage"}
	var lines []string
	bodies := map[string]string{}
	for _, n := range names {
		d := c.prose(25 + c.r.IntN(30))
		if sc.bodies == "cjk" {
			d = c.chinese(60)
		}
		lines = append(lines, "- "+n+": "+strings.ReplaceAll(d, "\n", " "))
		bodies[n] = "Base directory for this skill: /home/dev/.claude/skills/" + n + "\n\n# " + n + "\n" + c.text(sc.bodies, 300+c.r.IntN(1800)) + "\n"
	}
	c.user(c.prose(12))
	c.start(lines)
	var loaded []string
	every := sc.turns
	if sc.compactions > 0 {
		every = sc.turns / (sc.compactions + 1)
	}
	for turn := range sc.turns {
		read := use{tool: "Read", input: map[string]any{"file_path": fmt.Sprintf("/home/dev/shop/src/mod%d.go", turn)}, result: numbered(c.text(sc.results, 200+c.r.IntN(2500)))}
		if sc.results == "json" {
			read = use{tool: "mcp__shop__orders", input: map[string]any{"page": turn}, result: c.json(5 + c.r.IntN(80))}
		}
		switch name := names[c.r.IntN(len(names))]; c.r.IntN(4) {
		case 0:
			call := use{tool: "Skill", skill: name, input: map[string]any{"skill": name}, result: "Launching skill: " + name, body: bodies[name]}
			if sc.parallel {
				c.reply("Using "+name+".", read, call)
			} else {
				c.reply("Using "+name+".", call)
			}
			loaded = append([]string{name}, without(loaded, name)...)
		case 1:
			ref := use{tool: "Read", skill: name, input: map[string]any{"file_path": "/home/dev/.claude/skills/" + name + "/references/guide.md"}, result: numbered(c.text(sc.bodies, 300+c.r.IntN(900)))}
			if sc.parallel {
				c.reply(c.prose(20), read, ref)
			} else {
				c.reply(c.prose(20), ref)
			}
		default:
			c.reply(c.prose(30), read)
		}
		if turn%5 == 4 {
			c.reply(c.prose(100))
			c.user(c.prose(20))
		}
		if sc.compactions > 0 && turn%every == every-1 && turn < sc.turns-1 {
			var back [][2]string
			for _, n := range loaded {
				back = append(back, [2]string{n, bodies[n]})
			}
			c.compact(back, 3, lines)
			c.user(c.prose(10))
		}
	}
	c.reply(c.prose(50))
	return c
}

func without(list []string, name string) (out []string) {
	for _, n := range list {
		if n != name {
			out = append(out, n)
		}
	}
	return out
}

// compare compares the split of a session with the truth of its agents, of which share
// percent may be off.
func compare(t *testing.T, name string, s *replay.Session, share int64, agents ...*client) {
	t.Helper()
	book := budget.DefaultBook()
	ours, truth := map[replay.Layer]*[3]int64{}, map[replay.Layer]*[3]int64{}
	at := func(m map[replay.Layer]*[3]int64, layer replay.Layer) *[3]int64 {
		if m[layer] == nil {
			m[layer] = new([3]int64)
		}
		return m[layer]
	}
	var got, want [3]int64
	var calls int64
	for call := range ledger.Calls(s, &book, nil) {
		for i := range call.Charges {
			ch := &call.Charges[i]
			for k, n := range [3]int64{ch.Tokens.CacheRead, ch.Tokens.CacheWrite5m + ch.Tokens.CacheWrite1h, ch.Tokens.Input} {
				at(ours, ch.Layer)[k] += n
				got[k] += n
			}
		}
		if call.Reanchored {
			t.Errorf("%s: a request could not be explained", name)
		}
	}
	for _, c := range agents {
		calls += c.calls
		for layer, kinds := range c.truth {
			for k, n := range kinds {
				at(truth, layer)[k] += n
				want[k] += n
			}
		}
	}
	equal(t, name+": totals", got, want)
	for _, layer := range []replay.Layer{replay.LayerListing, replay.LayerBody, replay.LayerReattachment, replay.LayerReference} {
		for k, kind := range []string{"read", "write", "input"} {
			n, truth := at(ours, layer)[k], at(truth, layer)[k]
			if allowed := max((truth*share+99)/100, 20*calls); n-truth > allowed || truth-n > allowed {
				t.Errorf("%s: %s %s: %d of %d tokens (%+.1f %%), %d are allowed", name, layer, kind, n, truth, 100*float64(n-truth)/float64(truth), allowed)
			}
		}
	}
}

// TestMadeUpSubagents: what the main loop teaches holds for its subagents.
func TestMadeUpSubagents(t *testing.T) {
	for name, tok := range tokenizers {
		main := write(3, tok, script{bodies: "prose", results: "code", turns: 20, compactions: 1, newer: true}, "")
		short := write(4, tok, script{bodies: "prose", results: "code", turns: 3, newer: true}, "a1")
		long := write(5, tok, script{bodies: "cjk", results: "json", turns: 12, newer: true}, "a2")
		s, err := replay.Observe(main.source(), short.source(), long.source())
		if err != nil {
			t.Fatal(err)
		}
		compare(t, name, s, 5, main, short, long)
	}
}

// TestMadeUpSessions compares the split of made-up sessions with their truth.
func TestMadeUpSessions(t *testing.T) {
	scripts := map[string]script{
		"prose":                {bodies: "prose", results: "prose", turns: 24},
		"code":                 {bodies: "prose", results: "code", turns: 24, compactions: 1},
		"code, newer":          {bodies: "prose", results: "code", turns: 24, compactions: 2, newer: true},
		"json":                 {bodies: "prose", results: "json", turns: 24, compactions: 1},
		"code bodies":          {bodies: "code", results: "prose", turns: 24, compactions: 1},
		"cjk":                  {bodies: "cjk", results: "code", turns: 24, compactions: 2},
		"cjk, newer, parallel": {bodies: "cjk", results: "code", turns: 24, compactions: 2, newer: true, parallel: true},
		"parallel":             {bodies: "prose", results: "code", turns: 24, compactions: 2, parallel: true},
		"json, parallel":       {bodies: "prose", results: "json", turns: 24, compactions: 2, parallel: true},
		"thinking":             {bodies: "prose", results: "code", turns: 24, compactions: 1, thinking: true},
		"long":                 {bodies: "prose", results: "code", turns: 120, compactions: 5, newer: true},
	}
	for name, sc := range scripts {
		for tname, tok := range tokenizers {
			for seed := range uint64(2) {
				s, c := play(t, seed+1, tok, sc)
				// Several tools at once leave more open than one after the other.
				share := int64(5)
				if sc.parallel {
					share = 8
				}
				compare(t, fmt.Sprintf("%s, %s, seed %d", name, tname, seed+1), s, share, c)
			}
		}
	}
}

// TestInstructions: what only the record of a request shows is told from the listing
// that it stands beside.
func TestInstructions(t *testing.T) {
	off := func(sc script, tok tokenizer) (sum int64) {
		for seed := range uint64(4) {
			s, c := play(t, seed+1, tok, sc)
			n, truth := int64(0), c.truth[replay.LayerListing]
			book := budget.DefaultBook()
			for call := range ledger.Calls(s, &book, nil) {
				for i := range call.Charges {
					if ch := &call.Charges[i]; ch.Layer == replay.LayerListing {
						n += ch.Tokens.Input + ch.Tokens.CacheRead + ch.Tokens.CacheWrite5m
					}
				}
			}
			n -= truth[0] + truth[1] + truth[2]
			sum += max(n, -n) * 1000 / (truth[0] + truth[1] + truth[2])
		}
		return sum / 4
	}
	for name, tok := range tokenizers {
		sc := script{bodies: "prose", results: "code", turns: 24, compactions: 1, newer: true}
		none := off(sc, tok)
		sc.instructions = 50
		without := off(sc, tok)
		sc.noted = true
		with := off(sc, tok)
		t.Logf("%s: the listing is off by %d per mille, with instructions %d, where requests are recorded %d", name, none, without, with)
		if with > 30 || 4*with > without {
			t.Errorf("%s: the listing is off by %d per mille with instructions that are known, %d with such that are not", name, with, without)
		}
	}
}

// TestStanding: where the log shows the system prompt and the tools, what stands before
// the messages is divided among them.
func TestStanding(t *testing.T) {
	for name, tok := range tokenizers {
		s, c := play(t, 1, tok, script{bodies: "prose", results: "code", turns: 12, compactions: 1, newer: true, noted: true})
		book := budget.DefaultBook()
		got := map[replay.Part]int64{}
		for call := range ledger.Calls(s, &book, nil) {
			for i := range call.Charges {
				if ch := &call.Charges[i]; ch.Layer == replay.LayerOther && ch.Part != replay.PartMessages {
					got[ch.Part] += ch.Tokens.Input + ch.Tokens.CacheRead + ch.Tokens.CacheWrite5m
					equal(t, name+": basis of "+string(ch.Part), ch.Basis, ledger.Estimated)
				}
			}
		}
		var sum int64
		for part, n := range c.parts {
			sum += got[part]
			if off := got[part] - n*c.calls; off > n*c.calls*15/100 || -off > n*c.calls*15/100 {
				t.Errorf("%s: %s: %d of %d tokens", name, part, got[part], n*c.calls)
			}
		}
		equal(t, name+": all of them", sum, c.front*c.calls)
		equal(t, name+": parts", len(got), 3)
	}
	// Where nothing shows it, and where it is far more than what is shown.
	a := &replay.Agent{ID: "main", Segments: []replay.Segment{segment(replay.LayerOther, -1, 40)}}
	for i, shape := range []*replay.Shape{nil, {System: jsonl.Size{Letters: 9}}, {System: jsonl.Measure("You help."), Tools: jsonl.Measure("Read a file.")}} {
		a.Calls = append(a.Calls, call(0, 10_000))
		a.Calls[i].Shape = shape
	}
	n := 0
	book := budget.DefaultBook()
	var once int64
	for call := range ledger.Calls(&replay.Session{Agents: []*replay.Agent{a}}, &book, nil) {
		for i := range call.Charges {
			ch := &call.Charges[i]
			once += ch.Once
			if n > 0 && ch.Once > 0 {
				t.Errorf("call %d: %d tokens come for the first time", n, ch.Once)
			}
			if ch.Part == replay.PartUnseen {
				n++
				if ch.Carried()+ch.Once < 9_900 {
					t.Errorf("call %d: %d tokens are unseen", n, ch.Carried()+ch.Once)
				}
			}
		}
	}
	equal(t, "calls with an unseen part", n, 3)
	equal(t, "what comes with the first", once, 10_000)
}
