package jsonl

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// In [Options.Sizes] mode a text of at most shortText bytes is kept all the same,
// unless the options name another length: the short results ("Launching skill: x",
// refusals) are those that are read. A member of a tool input is left out only
// beyond keepInput bytes: commands and paths stay, file contents go.
const (
	shortText = 1 << 10
	keepInput = 8 << 10
)

// decoder turns the text of records into Records. It knows two formats, whose
// records differ in a few names only: claude.go reads the members that a session
// log has, stream.go those that only stream-json output has; [decoder.finish]
// tells from what was found which of both the record is.
type decoder struct {
	s     scanner
	opt   Options
	short int             // texts up to this length are kept in sizes mode
	types map[string]bool // Options.Types; nil: all
	stats *Stats
	rec   *Record
	place bool // of the record at hand only its place is wanted

	reused struct { // with Options.Reuse
		record  Record
		message Message
		blocks  []Block
		usage   Usage
		result  ToolResult
	}

	names map[string]string // strings that recur: session, version, folder, model, tool names
	buf   []byte            // for decoding
	// What the next record is likely to repeat: the id as its parent, and the rest.
	last struct {
		uuid, message, request                                        string
		typ, session, agent, version, cwd, branch, entrypoint, prompt string
		role, model, stop                                             string
	}
	// skillCalls holds the ids of Skill calls whose results are still to come: those
	// are wanted in full.
	skillCalls map[string]bool

	// What waits for the end of the record, because its type or an error flag may
	// stand behind it. All share the record's text.
	content    []Value // of each block of the message: the string or the parts
	inputs     []Value
	attachment Value
	rendered   Value
	stdout     Value
	result     Value
	sessionID  string // session_id, the name that stream-json uses
	toolUse    string // parent_tool_use_id
	shape      Value
}

func newDecoder(opt Options, stats *Stats) *decoder {
	d := &decoder{
		opt: opt, stats: stats,
		short:      opt.Short,
		names:      make(map[string]string),
		skillCalls: make(map[string]bool),
	}
	if d.short == 0 {
		d.short = shortText
	}
	if len(opt.Types) > 0 {
		d.types = set(opt.Types...)
	}
	return d
}

// decode reads the record at the start of b. It returns nil and the error's
// state in d.s where there is none; n is how far it came.
func (d *decoder) decode(b []byte, dirty bool) (r *Record, n int) {
	d.s = scanner{b: b, dirty: dirty}
	d.rec, d.place = renewed(d, &d.reused.record), false
	d.content, d.inputs = d.content[:0], d.inputs[:0]
	d.attachment, d.rendered, d.stdout, d.result, d.shape = nil, nil, nil, nil, nil
	d.sessionID, d.toolUse = "", ""
	for more := d.s.open('{'); more; more = d.s.next('}') {
		key := d.s.key()
		if d.s.failed {
			break
		}
		if d.place && bulk[string(key)] {
			d.s.skip()
			continue
		}
		if !d.claudeField(key) && !d.streamField(key) {
			if !knownFields[string(key)] {
				d.unknownField(key)
			}
			d.s.skip()
		}
	}
	if d.s.failed {
		return nil, d.s.i
	}
	n = d.s.i
	d.finish()
	d.rec.Raw = b[:n]
	d.last.uuid = d.rec.UUID
	return d.rec, n
}

// renewed is an empty T: the one that is used again, with Options.Reuse, or a new
// one.
func renewed[T any](d *decoder, again *T) *T {
	if !d.opt.Reuse {
		return new(T)
	}
	var zero T
	*again = zero
	return again
}

// finish settles what depends on the whole record.
func (d *decoder) finish() {
	r := d.rec
	r.Kind = kinds[r.Type]
	r.Format = FormatClaude
	if r.Session == "" && d.sessionID != "" {
		r.Format = FormatStream
		d.finishStream()
	} else if r.Kind == KindResult {
		r.Kind = KindOther // a workflow's journal has a type of this name too
	}
	if r.Format == FormatClaude {
		r.Init = nil
		if r.Kind != KindCostState {
			r.Cost = nil
		}
	}
	switch {
	case r.Type == "":
		d.defect(DefectField, "a record without a type", false)
	case r.Kind == KindOther && !knownTypes[r.Type]:
		d.stats.unknown(&d.stats.UnknownTypes, r.Type)
	}
	if d.types != nil && !d.types[r.Type] {
		d.keepPlace()
		return
	}
	d.finishToolResult()
	d.finishBlocks()
	d.finishAttachment()
	d.finishShape()
}

// bulk are the members that do not place a record.
var bulk = set(
	"message", "toolUseResult", "tool_use_result", "attachment", "rendered",
	"content", "summary", "lastPrompt", "result", "shape", "params", "tail",
	"modelUsage", "usage", "tools", "skills", "slash_commands",
	"id", "querySource", "base", "keep",
)

// keepPlace drops what was read before the type of a record was known.
func (d *decoder) keepPlace() {
	r := d.rec
	r.Text, r.Message, r.Result, r.Attachment = "", nil, nil, nil
	r.Compact, r.Partial, r.Cost, r.Init, r.Request, r.Shape = nil, nil, nil, nil, nil, nil
}

// defect adds a defect to the record at hand, up to eight.
func (d *decoder) defect(kind DefectKind, reason string, lost bool) {
	if len(d.rec.Defects) < 8 {
		d.rec.Defects = append(d.rec.Defects, Defect{Kind: kind, Reason: reason, Lost: lost})
	}
}

// odd reports a field of an unexpected type. The parts that carry the
// conversation or place the record in it are lost with it, others are not
// missed.
func (d *decoder) odd(name string) {
	if d.s.failed {
		return
	}
	lost := false
	switch name {
	case "uuid", "parentUuid", "message", "content", "attachment", "usage", "type",
		"attachment.skills", "block.content", "block.text":
		lost = true
	}
	d.defect(DefectField, "the field "+name+" has an unexpected type", lost)
}

func (d *decoder) unknownField(key []byte) {
	r := d.rec
	r.Unknown++
	name := d.intern(key)
	d.stats.unknown(&d.stats.UnknownFields, name)
	if len(r.UnknownFields) < 8 {
		r.UnknownFields = append(r.UnknownFields, name)
	}
}

// unquote decodes what stands between the quotes of a string.
func (d *decoder) unquote(raw []byte) string {
	if d.s.dirty && !utf8.Valid(raw) {
		raw = repair(raw)
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	if len(raw) > 1<<20 {
		return unquote(raw) // not worth keeping a buffer for
	}
	d.buf = appendUnquoted(d.buf[:0], raw)
	return string(d.buf)
}

// kept is a copy of a value, with [Options.JSON], else nothing.
func (d *decoder) kept(v Value) Value {
	switch {
	case !d.opt.JSON || v == nil:
		return nil
	case !utf8.Valid(v):
		return repair(v)
	}
	return append(Value(nil), v...)
}

// intern is unquote for strings that recur.
func (d *decoder) intern(raw []byte) string {
	if len(raw) > 128 {
		return d.unquote(raw)
	}
	if s, ok := d.names[string(raw)]; ok {
		return s
	}
	s := d.unquote(raw)
	if len(d.names) < 4096 { // a hostile log could hold any number
		d.names[string(raw)] = s
	}
	return s
}

// text takes a string.
func (d *decoder) text(name string, p *string) {
	switch d.s.space() {
	case '"':
		*p = d.unquote(d.s.str())
	case 'n':
		d.s.literal("null")
	default:
		d.odd(name)
		d.s.skip()
	}
}

// name takes a string that recurs.
func (d *decoder) name(name string, p *string) {
	if d.s.space() == '"' {
		*p = d.intern(d.s.str())
		return
	}
	d.text(name, p)
}

// again takes a string that often is the last one.
func (d *decoder) again(name string, p, last *string) {
	if d.s.space() != '"' {
		d.text(name, p)
		return
	}
	if raw := d.s.str(); d.s.escapes || string(raw) != *last {
		*last = d.unquote(raw)
	}
	*p = *last
}

// parent takes the id of a record that often is the one before.
func (d *decoder) parent(name string, p *string) {
	before := d.last.uuid
	d.again(name, p, &before)
}

// same takes a string that recurs, mostly at once.
func (d *decoder) same(name string, p, last *string) {
	if d.s.space() != '"' {
		d.text(name, p)
		return
	}
	if raw := d.s.str(); d.s.escapes || string(raw) != *last {
		*last = d.intern(raw)
	}
	*p = *last
}

func (d *decoder) flag(name string, p *bool) {
	switch d.s.space() {
	case 't':
		d.s.literal("true")
		*p = true
	case 'f':
		d.s.literal("false")
		*p = false
	case 'n':
		d.s.literal("null")
	default:
		d.odd(name)
		d.s.skip()
	}
}

func (d *decoder) integer(name string, p *int64) (ok bool) {
	switch c := d.s.space(); {
	case c == '-' || c >= '0' && c <= '9':
		if n, ok := integer(d.s.number()); ok {
			*p = n
			return true
		}
		d.odd(name)
	case c == 'n':
		d.s.literal("null")
	default:
		d.odd(name)
		d.s.skip()
	}
	return false
}

// maxCount is the most of anything that one request or process can have used: beyond
// it, and below 0, a number is damage, and a sum with it would be too.
const maxCount = 1_000_000_000_000

// amount takes a number of tokens or requests.
func (d *decoder) amount(name string, p *int64) bool {
	var n int64
	if !d.integer(name, &n) {
		return false
	}
	if n < 0 || n > maxCount {
		d.odd(name)
		return false
	}
	*p = n
	return true
}

func (d *decoder) count(name string, p *int) bool {
	var n int64
	ok := d.integer(name, &n)
	if ok {
		*p = int(n)
	}
	return ok
}

// maxDollars is the most that one process can have spent; see maxCount.
const maxDollars = 1_000_000_000

// dollars takes a number of dollars as it is written.
func (d *decoder) dollars(name string, p *string) {
	switch c := d.s.space(); {
	case c == '-' || c >= '0' && c <= '9':
		raw := string(d.s.number())
		if v, err := strconv.ParseFloat(raw, 64); err != nil || v < 0 || v > maxDollars || len(raw) > 400 {
			d.odd(name)
			return
		}
		*p = raw
	case c == 'n':
		d.s.literal("null")
	default:
		d.odd(name)
		d.s.skip()
	}
}

func (d *decoder) time(name string, p *time.Time) {
	if d.s.space() != '"' {
		var none string
		d.text(name, &none)
		return
	}
	var t time.Time
	if err := t.UnmarshalText(d.s.str()); err != nil {
		if !d.s.failed {
			d.defect(DefectField, "the field "+name+" is not a time", false)
		}
		return
	}
	*p = t.UTC()
}

// list takes an array of strings; an object in it stands for its name. Other
// elements are reported and left out.
func (d *decoder) list(name string, p *[]string) bool {
	switch d.s.space() {
	case '[':
	case 'n':
		d.s.literal("null")
		return false
	default:
		d.odd(name)
		d.s.skip()
		return false
	}
	*p = nil
	for more := d.s.open('['); more; more = d.s.next(']') {
		switch d.s.space() {
		case '"':
			*p = append(*p, d.intern(d.s.str()))
		case '{':
			var item string
			for more := d.s.open('{'); more; more = d.s.next('}') {
				if string(d.s.key()) == "name" {
					d.name(name, &item)
				} else {
					d.s.skip()
				}
			}
			*p = append(*p, item)
		default:
			d.odd(name)
			d.s.skip()
		}
	}
	return true
}

// object enters an object and reports whether it has a first member. Anything
// else but null is reported and skipped.
func (d *decoder) object(name string) bool {
	switch d.s.space() {
	case '{':
		return d.s.open('{')
	case 'n':
		d.s.literal("null")
	default:
		d.odd(name)
		d.s.skip()
	}
	return false
}

// inside runs decode over a value that was set aside.
func (d *decoder) inside(v Value, decode func()) {
	outer := d.s
	d.s = scanner{b: v, dirty: outer.dirty}
	decode()
	d.s = outer
}

// joined is the text of a string, or of the text parts of an array, one a line;
// images counts the parts that are none. It reports false for anything else.
func (d *decoder) joined(v Value) (text string, images int, ok bool) {
	switch v.Kind() {
	case ValueString:
		return d.unquote(v[1 : len(v)-1]), 0, true
	case ValueArray:
	default:
		return "", 0, v.Kind() == ValueNull || v.Kind() == ValueAbsent
	}
	var lines []string
	add := func(raw Value) {
		if raw.Kind() == ValueString {
			lines = append(lines, d.unquote(raw[1:len(raw)-1]))
		}
	}
	for part := range v.Items() {
		switch part.Kind() {
		case ValueString:
			add(part)
		case ValueObject:
			switch part.Get("type").Text() {
			case "image", "document":
				images++
			default:
				add(part.Get("text"))
			}
		}
	}
	return strings.Join(lines, "\n"), images, true
}
