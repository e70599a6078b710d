package synth

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Shape is a kind of log that no client writes, or that would be slow to read if
// anything took more time for a record the more there are.
type Shape struct {
	Name string
	// Big is the size at which a square would be noticed: of lines, records, calls,
	// entries or bytes, as the shape has it.
	Big   int
	Write func(w io.Writer, n int) error
}

// Shapes are all shapes.
var Shapes = []Shape{
	{"tiny lines", 1_000_000, buffered(tinyLines)},
	{"long line", 300 << 20, buffered(longLine)},
	{"skill calls", 100_000, buffered(skillCalls)},
	{"unanswered calls", 100_000, buffered(unansweredCalls)},
	{"typed skills", 100_000, buffered(typedSkills)},
	{"parent chain", 300_000, buffered(parentChain)},
	{"parents behind", 300_000, buffered(parentsBehind)},
	{"rewinds", 100_000, buffered(rewinds)},
	{"two branches", 100_000, buffered(twoBranches)},
	{"compactions", 20_000, buffered(compactions)},
	{"long listing", 10_000, buffered(longListing)},
	{"new names", 20_000, buffered(newNames)},
	{"restarts", 20_000, buffered(restarts)},
	{"skill compactions", 5_000, buffered(skillCompactions)},
	{"skill writes", 20_000, buffered(skillWrites)},
	{"folders", 20_000, buffered(folders)},
	{"shrinking prompts", 100_000, buffered(shrinkingPrompts)},
	{"sidechains", 50_000, buffered(sidechains)},
	{"versions", 100_000, buffered(versions)},
	{"glued and cut", 100_000, buffered(gluedAndCut)},
}

func buffered(write func(l *log, n int)) func(io.Writer, int) error {
	return func(w io.Writer, n int) error {
		b := bufio.NewWriterSize(w, 1<<16)
		l := newLog(nopCloser{b})
		write(l, n)
		l.close()
		if err := b.Flush(); l.err == nil {
			l.err = err
		}
		return l.err
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func (l *log) prompt(text string) {
	l.record(`"type":"user","message":{"role":"user","content":"%s"},"promptSource":"typed"`, text)
}

// reply is a reply with one block and a usage of n tokens.
func (l *log) reply(id int, block string, n int) {
	l.record(`"message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":5}},"requestId":"req_%d","type":"assistant"`, id, block, n, id)
}

func tinyLines(l *log, n int) {
	lines := []string{`{}`, `{"type":"mode"}`, ``, `{"a":1}`, `x`, `{"type":"user"}`, `[]`, `{`}
	for i := range n {
		l.line("%s", lines[i%len(lines)])
	}
}

func longLine(l *log, n int) {
	l.prompt("hello")
	l.buf = append(l.buf, `{"type":"user","uuid":"long","message":{"role":"user","content":"`...)
	chunk := strings.Repeat("all work and no play ", 1<<12)
	for left := n; left > 0; left -= len(chunk) {
		l.buf = append(l.buf, chunk...)
		l.flush()
	}
	l.line(`"}}`)
	l.reply(1, `{"type":"text","text":"yes"}`, 100)
}

// skillCalls has each call of another skill answered and its body sent.
func skillCalls(l *log, n int) {
	l.prompt("work")
	for i := range n {
		name := fmt.Sprintf("skill-%d", i%5000)
		l.reply(i, fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":"Skill","input":{"skill":"%s"}}`, i, name), 1000+i)
		l.record(`"type":"user","message":{"role":"user","content":[{"tool_use_id":"t%d","type":"tool_result","content":"Launching skill: %s"}]},"toolUseResult":{"success":true,"commandName":"%s"}`, i, name, name)
		l.record(`"type":"user","message":{"role":"user","content":[{"type":"text","text":"Base directory for this skill: /s/%s\n\nDo it."}]},"isMeta":true,"sourceToolUseID":"t%d"`, name, i)
	}
}

// unansweredCalls has all calls in one reply, refused one by one.
func unansweredCalls(l *log, n int) {
	l.prompt("work")
	for i := range n {
		l.reply(1, fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":"Skill","input":{"skill":"none-%d"}}`, i, i), 1000)
	}
	for i := range n {
		l.record(`"type":"user","message":{"role":"user","content":[{"tool_use_id":"t%d","type":"tool_result","is_error":true,"content":"<tool_use_error>Unknown skill: none-%d</tool_use_error>"}]},"toolUseResult":"Error: no"`, i, i)
	}
}

func typedSkills(l *log, n int) {
	for i := range n {
		name := fmt.Sprintf("skill-%d", i%5000)
		l.record(`"type":"user","message":{"role":"user","content":"<command-message>%s</command-message>\n<command-name>/%s</command-name>"}`, name, name)
		l.record(`"type":"user","message":{"role":"user","content":[{"type":"text","text":"Base directory for this skill: /s/%s\n\nDo it."}]},"isMeta":true`, name)
	}
}

func parentChain(l *log, n int) {
	for range n {
		l.record(`"type":"progress","data":{"type":"x"}`)
	}
	l.prompt("hello")
	l.reply(1, `{"type":"text","text":"yes"}`, 100)
}

// parentsBehind has each record before its parent.
func parentsBehind(l *log, n int) {
	for i := range n {
		l.line(`{"parentUuid":"u%d","uuid":"u%d","type":"user","message":{"role":"user","content":"word"},"sessionId":"%s"}`, i+1, i, ID)
	}
}

// rewinds has all prompts, each with a reply, begin at the same record.
func rewinds(l *log, n int) {
	l.prompt("first")
	first := l.parent
	for i := range n {
		l.parent = first
		l.prompt("again")
		l.reply(i, `{"type":"text","text":"yes"}`, 100)
	}
}

// twoBranches has two branches of a conversation grow in turn.
func twoBranches(l *log, n int) {
	l.prompt("first")
	tips := [2]string{l.parent, l.parent}
	for i := range n {
		l.parent = tips[i%2]
		l.prompt("again")
		l.reply(i, `{"type":"text","text":"yes"}`, 100+i)
		tips[i%2] = l.parent
	}
}

// compactions has each boundary keep all that stood before the first one.
func compactions(l *log, n int) {
	l.prompt("first")
	head := l.parent
	for i := range 1000 {
		l.reply(i, `{"type":"text","text":"yes"}`, 100+i)
	}
	tail := l.parent
	for range n {
		last := l.parent
		l.parent = ""
		l.record(`"logicalParentUuid":"%s","type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":100,"preservedSegment":{"headUuid":"%s","anchorUuid":"x","tailUuid":"%s"}}`, last, head, tail)
	}
}

// longListing has a catalogue of n entries with descriptions, for many prompts.
func longListing(l *log, n int) {
	l.prompt("first")
	l.record(`"attachment":{"type":"skill_listing","content":"%s","names":%s,"skillCount":%d,"isInitial":true},"type":"attachment"`, listing(n, 200), names(n), n)
	for i := range 1000 {
		l.reply(i, `{"type":"text","text":"yes"}`, 100+i)
		l.prompt("more")
	}
}

// newNames has a listing of one new name at each prompt.
func newNames(l *log, n int) {
	for i := range n {
		l.prompt("more")
		l.record(`"attachment":{"type":"skill_listing","content":"- skill-%d: Does part %d of the work.","names":["skill-%d"],"skillCount":1,"isInitial":%t},"type":"attachment"`, i, i, i, i == 0)
		l.reply(i, `{"type":"text","text":"yes"}`, 100+i)
	}
}

// restarts has the client resume the session after each prompt, which calls another
// skill.
func restarts(l *log, n int) {
	for i := range n {
		name := fmt.Sprintf("skill-%d", i)
		l.record(`"type":"system","subtype":"informational","content":"resumed"`)
		l.line(`{"type":"mode","mode":"normal","sessionId":"%s"}`, ID)
		l.prompt("more")
		l.reply(i, fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":"Skill","input":{"skill":"%s"}}`, i, name), 1000+i)
		l.record(`"type":"user","message":{"role":"user","content":[{"tool_use_id":"t%d","type":"tool_result","content":"Launching skill: %s"}]},"toolUseResult":{"success":true,"commandName":"%s"}`, i, name, name)
		l.record(`"type":"user","message":{"role":"user","content":[{"type":"text","text":"Base directory for this skill: /s/%s\n\nDo it."}]},"isMeta":true,"sourceToolUseID":"t%d"`, name, i)
		l.line(`{"type":"cost-state","sessionId":"%s","totalCostUSD":1}`, ID)
	}
}

// skillCompactions has a compaction behind each call, of another skill.
func skillCompactions(l *log, n int) {
	l.prompt("work")
	for i := range n {
		name := fmt.Sprintf("skill-%d", i)
		l.reply(i, fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":"Skill","input":{"skill":"%s"}}`, i, name), 1000)
		l.record(`"type":"user","message":{"role":"user","content":[{"tool_use_id":"t%d","type":"tool_result","content":"Launching skill: %s"}]},"toolUseResult":{"success":true,"commandName":"%s"}`, i, name, name)
		l.record(`"type":"user","message":{"role":"user","content":[{"type":"text","text":"Base directory for this skill: /s/%s\n\nDo it."}]},"isMeta":true,"sourceToolUseID":"t%d"`, name, i)
		last := l.parent
		l.parent = ""
		l.record(`"logicalParentUuid":"%s","type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":100}`, last)
	}
}

// skillWrites has each call write another skill file.
func skillWrites(l *log, n int) {
	l.prompt("work")
	for i := range n {
		path := fmt.Sprintf("/home/dev/.claude/skills/skill-%d/SKILL.md", i)
		text := fmt.Sprintf(`---\ndescription: Does part %d.\n---\nDo it.\n`, i)
		l.reply(i, fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":"Write","input":{"file_path":"%s","content":"%s"}}`, i, path, text), 1000+i)
		l.record(`"type":"user","message":{"role":"user","content":[{"tool_use_id":"t%d","type":"tool_result","content":"File created"}]},"toolUseResult":{"type":"create","filePath":"%s","content":"%s"}`, i, path, text)
	}
}

// folders has each prompt asked in another working directory, in which a file is read.
func folders(l *log, n int) {
	for i := range n {
		l.line(`{"parentUuid":"%s","uuid":"p%d","type":"user","message":{"role":"user","content":"more"},"promptSource":"typed","cwd":"/w/%d","sessionId":"%s","version":"%s"}`, l.parent, i, i, ID, Client)
		l.line(`{"parentUuid":"p%d","uuid":"a%d","type":"assistant","message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t%d","name":"Read","input":{"file_path":"/w/%d/x.go"}}],"usage":{"input_tokens":5}},"cwd":"/w/%d","sessionId":"%s","version":"%s"}`, i, i, i, i, i, i, ID, Client)
		l.line(`{"parentUuid":"a%d","uuid":"r%d","type":"user","message":{"role":"user","content":[{"tool_use_id":"t%d","type":"tool_result","content":"package x"}]},"toolUseResult":{"type":"text","file":{"filePath":"/w/%d/x.go"}},"cwd":"/w/%d","sessionId":"%s","version":"%s"}`, i, i, i, i, i, ID, Client)
		l.parent = fmt.Sprintf("r%d", i)
	}
}

// shrinkingPrompts has each request report fewer tokens than the one before,
// although the prompt grows.
func shrinkingPrompts(l *log, n int) {
	for i := range n {
		l.prompt("more and more words")
		l.reply(i, `{"type":"text","text":"yes"}`, n-i)
	}
}

// sidechains has records of as many agents in the main log.
func sidechains(l *log, n int) {
	for i := range n {
		l.line(`{"parentUuid":null,"isSidechain":true,"agentId":"a%d","uuid":"u%d","type":"user","message":{"role":"user","content":"word"},"sessionId":"%s"}`, i, i, ID)
	}
}

// versions has each record name a client, a model and a session of its own.
func versions(l *log, n int) {
	for i := range n {
		l.line(`{"uuid":"u%d","type":"assistant","message":{"id":"m%d","role":"assistant","model":"model-%d","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":5}},"sessionId":"s%d","version":"2.1.%d","cwd":"/w/%d"}`, i, i, i, i, i, i)
	}
}

// gluedAndCut is one line, in which every other record is cut.
func gluedAndCut(l *log, n int) {
	for i := range n {
		if i%2 == 0 {
			l.buf = append(l.buf, `{"type":"user","message":{"k":{"k":{"k":{"k":`...)
		} else {
			l.buf = fmt.Appendf(l.buf, `{"type":"user","uuid":"u%d","sessionId":"%s","message":{"role":"user","content":"x"}}`, i, ID)
		}
		if len(l.buf) > 1<<16 {
			l.flush()
		}
	}
	l.line("")
}
