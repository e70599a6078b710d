// Package synth writes session logs of any size for benchmarks, the same ones
// every time: a session in the proportions of real logs, and logs of hostile
// shapes. Their texts are words without meaning.
package synth

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Client is the client version that the logs name.
const Client = "2.1.332"

// ID is the id of the sessions.
const ID = "17d251b9-69bb-441f-8ad2-5d267c3356a5"

// Session writes a session of about size bytes. open is called with the path of
// each of its logs, relative to a project folder: the main log first, then those
// of its subagents, while the main log is still open.
//
// By bytes, half of a real log is user records (results of tools, each twice: as
// sent to the model and as the client's own account), a third is assistant
// records, one a content block, each with the usage; the rest is attachments,
// progress, snapshots and notes of requests. Every 1.5 MB the context is
// compacted.
func Session(size int64, open func(path string) (io.WriteCloser, error)) error {
	w, err := open(ID + ".jsonl")
	if err != nil {
		return err
	}
	l := newLog(w)
	s := &session{log: l, open: open}
	for l.written < size && l.err == nil {
		s.turn()
	}
	l.close()
	return l.err
}

// log writes the records of one file.
type log struct {
	w       io.WriteCloser
	rand    *rand.Rand
	buf     []byte
	written int64
	err     error
	agent   string // "" for the main log

	records int
	parent  string
	clock   time.Time
}

func newLog(w io.WriteCloser) *log {
	return &log{w: w, rand: rand.New(rand.NewPCG(1, 2)), clock: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)}
}

func (l *log) close() {
	l.flush()
	if err := l.w.Close(); l.err == nil {
		l.err = err
	}
}

func (l *log) flush() {
	if l.err == nil {
		_, l.err = l.w.Write(l.buf)
	}
	l.buf = l.buf[:0]
}

// line writes a line of its own form.
func (l *log) line(format string, args ...any) {
	before := len(l.buf)
	l.buf = fmt.Appendf(l.buf, format, args...)
	l.buf = append(l.buf, '\n')
	l.written += int64(len(l.buf) - before)
	if len(l.buf) > 1<<16 {
		l.flush()
	}
}

// record writes a record of the conversation, and links it to the one before.
func (l *log) record(format string, args ...any) {
	l.records++
	uuid := fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", l.rand.Uint32(), l.rand.Uint32()&0xFFFF, l.rand.Uint32()&0xFFF, l.rand.Uint32()&0xFFF, l.records)
	l.clock = l.clock.Add(time.Duration(200+l.rand.IntN(4000)) * time.Millisecond)
	parent, side := "null", ""
	if l.parent != "" {
		parent = `"` + l.parent + `"`
	}
	if l.agent != "" {
		side = `,"agentId":"` + l.agent + `"`
	}
	l.line(`{"parentUuid":%s,"isSidechain":%t%s,%s,"uuid":"%s","timestamp":"%s","userType":"external","entrypoint":"cli","cwd":"/home/dev/shop","sessionId":"%s","version":"%s","gitBranch":"main"}`,
		parent, l.agent != "", side, fmt.Sprintf(format, args...), uuid, l.stamp(), ID, Client)
	l.parent = uuid
}

func (l *log) stamp() string { return l.clock.Format("2006-01-02T15:04:05.000Z") }

var (
	nouns = strings.Fields("function module test order basket price cache index parser record client server field user session file folder branch commit handler queue worker table column")
	verbs = strings.Fields("reads writes checks returns holds opens closes parses builds drops keeps moves counts joins splits")
)

// prose is about n bytes of text, escaped for JSON.
func (l *log) prose(n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "The %s %s the %s and %s each %s. ", l.pick(nouns), l.pick(verbs), l.pick(nouns), l.pick(verbs), l.pick(nouns))
		if l.rand.IntN(4) == 0 {
			b.WriteString(`\n\n`)
		}
	}
	return b.String()
}

// source is about n bytes of code with numbered lines, escaped for JSON.
func (l *log) source(n int) string {
	var b strings.Builder
	for line := 1; b.Len() < n; line++ {
		switch l.rand.IntN(4) {
		case 0:
			fmt.Fprintf(&b, `%6d→\tif err := %s.%s(ctx, \"%s\", %d); err != nil {\n`, line, l.pick(nouns), l.pick(verbs), l.pick(nouns), l.rand.IntN(1000))
		case 1:
			fmt.Fprintf(&b, `%6d→\t\treturn nil, fmt.Errorf(\"%s of %s: %%w\", err)\n`, line, l.pick(nouns), l.pick(nouns))
		case 2:
			fmt.Fprintf(&b, `%6d→// %s %s the %s that the %s %s.\n`, line, l.pick(nouns), l.pick(verbs), l.pick(nouns), l.pick(nouns), l.pick(verbs))
		default:
			fmt.Fprintf(&b, `%6d→\t%s, %s := %s(%s)\n`, line, l.pick(nouns), l.pick(nouns), l.pick(verbs), l.pick(nouns))
		}
	}
	return b.String()
}

func (l *log) pick(words []string) string { return words[l.rand.IntN(len(words))] }

// Skills is the number of skills in the listings of a session.
const Skills = 40

// listing is the catalogue, escaped for JSON, in lines of about width bytes.
func listing(n, width int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(`\n`)
		}
		text := strings.Repeat("Use it when the task is of this kind. ", width/38+1)
		fmt.Fprintf(&b, "- skill-%d: Does part %d of the work. %s", i, i, strings.TrimRight(text[:max(width-40, 8)], " "))
	}
	return b.String()
}

// names are the names of the catalogue as a JSON array.
func names(n int) string {
	b := []byte{'['}
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `"skill-`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, '"')
	}
	return string(append(b, ']'))
}

// session is the state of a session that is being written.
type session struct {
	*log
	open      func(path string) (io.WriteCloser, error)
	turns     int
	requests  int
	tools     int
	agents    int
	compacted int64 // the size at the last compaction
	context   int   // tokens
	recent    []int // skills invoked, latest first
	bodies    [Skills]string
	present   [Skills]presence
}

// presence is where the body of a skill stands in the context.
type presence uint8

const (
	absent presence = iota
	loaded
	reattached
)

// turn is a prompt and all that follows until the next one.
func (s *session) turn() {
	s.turns++
	s.line(`{"type":"queue-operation","operation":"enqueue","timestamp":"%s","sessionId":"%s","content":"%s"}`, s.stamp(), ID, s.prose(60))
	s.record(`"promptId":"p-%d","type":"user","message":{"role":"user","content":"%s"},"permissionMode":"default","promptSource":"typed"`, s.turns, s.prose(40+s.rand.IntN(300)))
	s.line(`{"type":"file-history-snapshot","messageId":"%s","snapshot":{"messageId":"%s","trackedFileBackups":{"src/%s.go":{"backupFileName":"1f@v%d","version":%d,"backupTime":"%s"}},"timestamp":"%s"},"isSnapshotUpdate":false}`,
		s.parent, s.parent, s.pick(nouns), s.turns, s.turns, s.stamp(), s.stamp())
	if s.turns == 1 {
		s.list()
	}
	s.attachment(`"type":"total_tokens_reminder","text":"<total_tokens>%d tokens left</total_tokens>"`, 15_000_000-s.context)
	for range 2 + s.rand.IntN(8) {
		s.request()
	}
	s.assistant(fmt.Sprintf(`{"type":"text","text":"%s"}`, s.prose(300+s.rand.IntN(1200))), "end_turn")
	s.line(`{"type":"last-prompt","lastPrompt":"%s","leafUuid":"%s","sessionId":"%s"}`, s.prose(60), s.parent, ID)
	if s.written-s.compacted > 3<<19 {
		s.compact()
	}
}

// attachment writes an attachment with the text that was sent for it.
func (s *session) attachment(format string, args ...any) {
	object := fmt.Sprintf(format, args...)
	s.record(`"attachment":{%s},"type":"attachment","rendered":[{"content":"<system-reminder>\n%s\n</system-reminder>"}],"renderedRole":"system"`, object, s.prose(80))
}

func (s *session) list() {
	s.record(`"attachment":{"type":"skill_listing","content":"%s","names":%s,"skillCount":%d,"isInitial":true},"type":"attachment"`, listing(Skills, 180), names(Skills), Skills)
}

// request is a model request that ends in a call of a tool, and its result.
func (s *session) request() {
	s.requests++
	s.line(`{"type":"api-request","sessionId":"%s","id":"q-%d","timestamp":"%s","version":"%s","querySource":"repl_main_thread","shapeHash":"f49edfd3961e38e32a0b","params":{"model":"claude-sonnet-4-5","betas":["a","b"],"max_tokens":32000},"base":"q-%d","keep":%d,"tail":["h%d","h%d"]}`,
		ID, s.requests, s.stamp(), Client, s.requests-1, s.requests*2, s.requests*2, s.requests*2+1)
	if s.rand.IntN(2) == 0 {
		s.assistant(fmt.Sprintf(`{"type":"thinking","thinking":"%s","signature":"%s"}`, s.prose(200+s.rand.IntN(1500)), strings.Repeat("RW5jcnlwdGVk", 20+s.rand.IntN(60))), "tool_use")
	}
	if s.rand.IntN(3) == 0 {
		s.assistant(fmt.Sprintf(`{"type":"text","text":"%s"}`, s.prose(80+s.rand.IntN(400))), "tool_use")
	}
	s.tools++
	switch n := s.rand.IntN(100); {
	case n < 45:
		path := "/home/dev/shop/src/" + s.pick(nouns) + ".go"
		call := s.use("Read", `{"file_path":"`+path+`"}`)
		text := s.source(500 + s.rand.IntN(9000))
		s.result(call, text, fmt.Sprintf(`{"type":"text","file":{"filePath":"%s","content":"%s","numLines":100,"startLine":1,"totalLines":100}}`, path, text))
	case n < 75:
		call := s.use("Bash", `{"command":"go test ./`+s.pick(nouns)+`/... && git status","description":"Run tests"}`)
		for range s.rand.IntN(3) {
			s.record(`"type":"progress","data":{"type":"bash_progress","output":"%s","elapsedTimeSeconds":3},"toolUseID":"x","parentToolUseID":"%s"`, s.source(800), call)
		}
		text := s.source(100 + s.rand.IntN(6000))
		s.result(call, text, fmt.Sprintf(`{"stdout":"%s","stderr":"","interrupted":false,"isImage":false}`, text))
	case n < 92:
		path := "/home/dev/shop/src/" + s.pick(nouns) + ".go"
		old, new := s.source(200+s.rand.IntN(800)), s.source(200+s.rand.IntN(1500))
		call := s.use("Edit", fmt.Sprintf(`{"file_path":"%s","old_string":"%s","new_string":"%s"}`, path, old, new))
		s.result(call, "The file has been updated.", fmt.Sprintf(`{"filePath":"%s","oldString":"%s","newString":"%s","originalFile":"%s","structuredPatch":[]}`, path, old, new, s.source(3000)))
	case n < 97:
		s.skill(s.rand.IntN(Skills))
	default:
		s.subagent()
	}
}

// assistant writes one block of a reply with the usage of the request.
func (s *session) assistant(block, stop string) {
	s.context += len(block) / 5
	s.record(`"message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"stop_reason":"%s","stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":%d},"inference_geo":"","iterations":[],"speed":"standard"}},"requestId":"req_%d","type":"assistant"`,
		s.requests, block, stop, 1200, 20_000+s.context, len(block)/4, 1200, s.requests)
}

func (s *session) use(tool, input string) (id string) {
	id = "toolu_" + strconv.Itoa(s.tools)
	s.assistant(fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"%s","input":%s}`, id, tool, input), "tool_use")
	return id
}

func (s *session) result(id, text, account string) {
	s.context += len(text) / 4
	s.record(`"promptId":"p-%d","type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":"%s","is_error":false}]},"toolUseResult":%s,"sourceToolAssistantUUID":"%s"`,
		s.turns, id, text, account, s.parent)
}

// skill calls a skill. Its body follows the result, or a note where it stands in the
// context already.
func (s *session) skill(k int) {
	name := "skill-" + strconv.Itoa(k)
	call := s.use("Skill", `{"skill":"`+name+`"}`)
	s.result(call, "Launching skill: "+name, `{"success":true,"commandName":"`+name+`"}`)
	if s.bodies[k] == "" {
		s.bodies[k] = `Base directory for this skill: /home/dev/.claude/skills/` + name + `\n\n# ` + name + `\n` + strings.TrimSpace(s.prose(3000+k*400))
	}
	var content string
	switch s.present[k] {
	case absent:
		content = `[{"type":"text","text":"` + s.bodies[k] + `"}]`
		s.present[k] = loaded
	case loaded:
		content = `"Skill /` + name + ` is already loaded above; instructions unchanged."`
	case reattached:
		content = `"Skill /` + name + ` was loaded earlier (see the invoked-skills reminder above); this is a NEW invocation — follow those instructions now, including any setup steps."`
	}
	s.record(`"promptId":"p-%d","type":"user","message":{"role":"user","content":%s},"isMeta":true,"sourceToolUseID":"%s"`, s.turns, content, call)
	s.record(`"attachment":{"type":"command_permissions","allowedTools":[]},"type":"attachment"`)
	s.recent = append([]int{k}, without(s.recent, k)...)
}

func without(list []int, k int) []int {
	var out []int
	for _, x := range list {
		if x != k {
			out = append(out, x)
		}
	}
	return out
}

// compact writes a boundary, the summary and what the client puts back.
func (s *session) compact() {
	s.compacted = s.written
	last := s.parent
	s.parent = ""
	s.record(`"logicalParentUuid":"%s","type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"level":"info","compactMetadata":{"trigger":"auto","preTokens":%d}`, last, s.context)
	s.record(`"type":"user","message":{"role":"user","content":"This session is being continued from a previous conversation. %s"},"isVisibleInTranscriptOnly":true,"isCompactSummary":true`, s.prose(8000))
	s.reattach()
	s.list()
	s.context = 12_000
}

// maxReattached is how many tokens of bodies a client puts back, of four characters
// each.
const maxReattached = 25_000

// reattach puts back the bodies of the skills invoked, latest first, as far as they
// fit.
func (s *session) reattach() {
	s.present = [Skills]presence{}
	var list []string
	left := maxReattached
	for _, k := range s.recent {
		body := s.bodies[k]
		tokens := (len(body) - strings.Count(body, `\n`) + 2) / 4
		if tokens > left {
			continue
		}
		left -= tokens
		s.present[k] = reattached
		list = append(list, fmt.Sprintf(`{"name":"skill-%d","path":"userSettings:skill-%d","content":"%s"}`, k, k, body))
	}
	if len(list) > 0 {
		s.record(`"attachment":{"type":"invoked_skills","skills":[%s]},"type":"attachment"`, strings.Join(list, ","))
	}
}

// subagent writes a log of its own, started by a call.
func (s *session) subagent() {
	s.agents++
	id := fmt.Sprintf("a%07x", s.agents)
	call := s.use("Agent", `{"subagent_type":"Explore","description":"Look around","prompt":"`+s.prose(400)+`"}`)
	w, err := s.open(ID + "/subagents/agent-" + id + ".jsonl")
	if err != nil {
		s.err = err
		return
	}
	l := newLog(w)
	l.agent, l.clock = id, s.clock
	l.rand = rand.New(rand.NewPCG(3, uint64(s.agents)))
	sub := &session{log: l, turns: s.turns, requests: s.requests*1000 + 1_000_000, tools: 1_000_000 * s.agents}
	l.record(`"promptId":"p-%d","type":"user","message":{"role":"user","content":"%s"}`, s.turns, l.prose(400))
	for range 6 {
		sub.requests++
		sub.tools++
		call := sub.use("Read", `{"file_path":"/home/dev/shop/src/x.go"}`)
		sub.result(call, l.source(2000), `{"type":"text","file":{"filePath":"/home/dev/shop/src/x.go"}}`)
	}
	sub.assistant(fmt.Sprintf(`{"type":"text","text":"%s"}`, l.prose(900)), "end_turn")
	l.close()
	s.written += l.written
	if s.err == nil {
		s.err = l.err
	}
	text := s.prose(900)
	s.result(call, text, fmt.Sprintf(`{"status":"completed","agentId":"%s","agentType":"Explore","content":[{"type":"text","text":"%s"}],"totalTokens":12000}`, id, text))
}
