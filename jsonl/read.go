package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"unicode/utf8"
)

// DefaultMaxLine is the limit of a line where [Options] names none: 64 MiB. The
// longest line seen in a real log has 22 MB.
const DefaultMaxLine = 64 << 20

// Options say how a log is read. The zero Options read everything.
type Options struct {
	// MaxLine is the longest line, in bytes, that is held in memory. A longer one
	// is skipped, and counted with its length. Zero means DefaultMaxLine.
	MaxLine int64
	// Sizes leaves the bulk behind: of tool results, of assistant texts and
	// thinking, of long members of tool inputs and of attachments that are not
	// about skills only the size is given (Elided is set). Texts of user records,
	// listings, bodies, errors, and the calls and results of the Skill tool come in
	// full in any case, and so do texts of at most 1 KiB, or of what Short says.
	Sizes bool
	// Short, with Sizes, is the length up to which texts come in full all the same,
	// in bytes as they stand in the log. Zero means 1 KiB; less than zero: none does,
	// and what a client rendered of an attachment, which repeats it, comes as its
	// size alone.
	Short int
	// Types, if not empty, names the types of records that are read whole. Of all
	// others only what tells them apart and places them in their session is read:
	// no message, no attachment and no text.
	Types []string
	// Reuse lets a Record be overwritten by the next one, with its Message, the
	// Blocks and the Input of each, the Usage and the Result, which saves more than
	// 1 KB a record. Strings and everything else that it points to stay valid.
	Reuse bool
	// JSON keeps what went to the model as it stands in the log: the content of
	// messages, what was rendered of attachments, the texts and tools of shapes. All of
	// it is a copy and stays valid.
	JSON bool
	// Stats, if not nil, counts what was read. It is complete when the iteration
	// ends.
	Stats *Stats
}

// Stats accounts for every line. Lines = Blank + RecordLines + LostLines, and
// what [Read] yields is Records whole records and Broken broken ones.
type Stats struct {
	Lines       int // lines, a last one without a newline included
	Blank       int // lines without anything
	RecordLines int // lines with at least one whole record
	LostLines   int // lines with none
	Records     int
	Broken      int
	Bytes       int64
	Skipped     int64 // bytes of lines beyond the limit, part of Bytes
	Defects     map[DefectKind]int
	// Names that no decoder knows: types of records ("foo"), of attachments
	// ("attachment foo") and of content blocks ("block foo"), and members of
	// records. At most 256 of each; further ones are counted as "(more)".
	UnknownTypes  map[string]int
	UnknownFields map[string]int
}

// Add adds o to s.
func (s *Stats) Add(o *Stats) {
	s.Lines += o.Lines
	s.Blank += o.Blank
	s.RecordLines += o.RecordLines
	s.LostLines += o.LostLines
	s.Records += o.Records
	s.Broken += o.Broken
	s.Bytes += o.Bytes
	s.Skipped += o.Skipped
	for k, n := range o.Defects {
		if s.Defects == nil {
			s.Defects = make(map[DefectKind]int)
		}
		s.Defects[k] += n
	}
	for k, n := range o.UnknownTypes {
		s.unknownN(&s.UnknownTypes, k, n)
	}
	for k, n := range o.UnknownFields {
		s.unknownN(&s.UnknownFields, k, n)
	}
}

func (s *Stats) unknown(m *map[string]int, name string) { s.unknownN(m, name, 1) }

func (s *Stats) unknownN(m *map[string]int, name string, n int) {
	if *m == nil {
		*m = make(map[string]int)
	}
	if len(name) > 128 {
		name = "(long)"
	}
	if _, ok := (*m)[name]; !ok && len(*m) >= 256 {
		name = "(more)"
	}
	(*m)[name] += n
}

// Read yields the records of a log as they stand, name being the file that
// positions refer to. A damaged line is a record with a defect; the only error
// is that of reading, after which nothing follows. A log is read to the end that
// is seen: what is appended meanwhile may or may not be read. Read can be ranged
// over once.
func Read(name string, r io.Reader, opt Options) iter.Seq2[*Record, error] {
	return read(name, r, opt, firstRead)
}

// read is Read with the room for the first read from r, in bytes: those that want
// the beginning of a log only need less.
func read(name string, r io.Reader, opt Options, chunk int) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		if opt.MaxLine <= 0 {
			opt.MaxLine = DefaultMaxLine
		}
		opt.MaxLine = min(opt.MaxLine, math.MaxInt/4) // no slice is longer
		stats := opt.Stats
		if stats == nil {
			stats = &Stats{}
		}
		l := lines{r: r, max: opt.MaxLine, chunk: chunk}
		p := parser{d: newDecoder(opt, stats), stats: stats, yield: yield, pos: Pos{File: name}}
		for l.next() {
			stats.Lines++
			stats.Bytes += l.size
			p.pos.Line++
			p.pos.Offset = l.offset
			if !p.line(l.line, l.length) {
				return
			}
		}
		if damaged := (*damagedError)(nil); errors.As(l.err, &damaged) {
			p.pos.Line++
			p.broken(nil, 0, DefectTruncated, damaged.Error(), true)
			return
		}
		if l.err != nil {
			yield(nil, fmt.Errorf("%s:%d: %w", name, p.pos.Line+1, l.err))
			return
		}
		if stats.Records+stats.Broken == 0 {
			p.broken(nil, 0, DefectEmpty, "no record in this file", false)
		}
	}
}

// lines cuts a stream into lines and holds one at a time.
type lines struct {
	r   io.Reader
	max int64

	line   []byte // without its newline; nil where it is too long
	length int64  // of the line, without its newline
	size   int64  // with it
	offset int64  // where it begins

	chunk      int // least room for the next read
	buf        []byte
	start, end int
	err        error // of reading, not io.EOF
	eof        bool
}

// Many logs are small: the first read is of 16 KiB, and each that is filled doubles
// the next up to 128 KiB, beyond which larger reads are no faster.
const (
	firstRead = 16 << 10
	readSize  = 128 << 10
)

// next moves to the next line and reports whether there is one.
func (l *lines) next() bool {
	l.offset += l.size
	l.size, l.length, l.line = 0, 0, nil
	searched := l.start
	for {
		if i := bytes.IndexByte(l.buf[searched:l.end], '\n'); i >= 0 {
			l.take(searched+i, searched+i+1)
			return true
		}
		searched = l.end
		if l.eof {
			if l.start == l.end && l.length == 0 {
				return false
			}
			l.take(l.end, l.end)
			return true
		}
		if held := int64(l.end - l.start); held > l.max {
			// Too long: let go of what is held, and count on.
			l.length += held
			l.start, l.end, searched = 0, 0, 0
		}
		searched -= l.fill()
	}
}

// take makes buf up to end the line, and goes on behind next.
func (l *lines) take(end, next int) {
	l.line = l.buf[l.start:end]
	l.length += int64(end - l.start)
	l.size = l.length + int64(next-end)
	if l.length > l.max {
		l.line = nil
	}
	l.start = next
}

// fill reads more, after making room for it, and returns by how much the held
// bytes moved down.
func (l *lines) fill() (moved int) {
	if len(l.buf)-l.end < l.chunk {
		// Never more than the longest line and a read: next lets go of longer ones.
		most := int(l.max + 2*readSize)
		if l.start > 0 && (l.start >= len(l.buf)/2 || l.start == l.end || len(l.buf) >= most) {
			moved = l.start
			copy(l.buf, l.buf[l.start:l.end])
			l.start, l.end = 0, l.end-moved
		}
		if len(l.buf)-l.end < l.chunk {
			size := 2 * max(l.chunk, len(l.buf))
			if size > most/2 {
				size = most // the next step would add little
			}
			grown := make([]byte, size)
			copy(grown, l.buf[l.start:l.end])
			moved += l.start
			l.start, l.end = 0, l.end-l.start
			l.buf = grown
		}
	}
	for range 100 {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		if err != nil {
			l.eof = true
			if err != io.EOF {
				l.err = err
			}
			return moved
		}
		if n > 0 {
			if n >= l.chunk {
				l.chunk = min(2*l.chunk, readSize)
			}
			return moved
		}
	}
	l.eof, l.err = true, io.ErrNoProgress
	return moved
}

// parser turns lines into records.
type parser struct {
	d     *decoder
	stats *Stats
	yield func(*Record, error) bool
	pos   Pos // of the line

	trial  *decoder // for recover
	effort int      // bytes that recover may still look at in this line
}

var bom = []byte("\xEF\xBB\xBF")

// line reads the records of a line, most often one. It reports whether to go on.
func (p *parser) line(line []byte, length int64) bool {
	if line == nil {
		p.stats.LostLines++
		p.stats.Skipped += length
		p.stats.Broken++
		return p.deliver(&Record{Broken: true, Skipped: length, Defects: []Defect{{
			Kind:   DefectTooLong,
			Reason: "a line of " + strconv.FormatInt(length, 10) + " bytes, longer than the limit",
			Lost:   true,
		}}}, 0)
	}
	dirty := !utf8.Valid(line)
	p.effort = 8*len(line) + 1<<20
	at, whole, lost, repaired := 0, 0, 0, false
	hasBOM := p.pos.Line == 1 && bytes.HasPrefix(line, bom)
	if hasBOM {
		at = len(bom)
	}
	for {
		begin, nuls := at, 0
		for at < len(line) && (blank(line[at]) || line[at] == 0) {
			if line[at] == 0 {
				nuls++
			}
			at++
		}
		if at == len(line) {
			if nuls > 0 && whole+lost == 0 {
				lost++
				if !p.broken(line[begin:], begin, DefectNUL, "nothing but "+strconv.Itoa(nuls)+" NUL bytes", true) {
					return false
				}
			}
			break
		}
		r, n := p.d.decode(line[at:], dirty)
		if r == nil {
			lost++
			next := p.recover(line, at, dirty)
			kind, reason := p.damage(line[at:], whole > 0)
			if next >= 0 {
				if line[at] == '{' {
					kind, reason = DefectTruncated, "cut off; a whole record follows on the same line"
				}
				if !p.broken(line[at:next], at, kind, reason, true) {
					return false
				}
				at = next
				continue
			}
			if !p.broken(line[at:], at, kind, reason, true) {
				return false
			}
			break
		}
		add := func(kind DefectKind, reason string) {
			r.Defects = append(r.Defects, Defect{Kind: kind, Reason: reason})
		}
		if hasBOM && whole+lost == 0 {
			add(DefectBOM, "a byte order mark at the start of the file")
		}
		if nuls > 0 {
			add(DefectNUL, strconv.Itoa(nuls)+" NUL bytes before the record")
		}
		if whole == 1 {
			add(DefectGlued, "several records on one line")
		}
		if dirty && !repaired && !utf8.Valid(r.Raw) {
			repaired = true
			add(DefectEncoding, "invalid UTF-8, read as U+FFFD")
		}
		whole++
		p.stats.Records++
		if !p.deliver(r, at) {
			return false
		}
		at += n
	}
	switch {
	case whole > 0:
		p.stats.RecordLines++
	case lost > 0:
		p.stats.LostLines++
	default:
		p.stats.Blank++
	}
	return true
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// damage says what is wrong with b, after decode has failed on it.
func (p *parser) damage(b []byte, behind bool) (DefectKind, string) {
	s := p.d.s
	if b[0] == '{' {
		at := " at byte " + strconv.Itoa(s.i+1)
		if s.cut {
			return DefectTruncated, "ends too early: " + s.what
		}
		return DefectSyntax, s.what + at
	}
	if behind {
		return DefectSyntax, "text behind the record"
	}
	if v, err := ParseValue(b); err == nil && v.Kind() != ValueAbsent {
		return DefectNotObject, "a JSON value that is not an object"
	}
	return DefectSyntax, "not JSON"
}

// recover looks for a whole record behind the damage that begins at from, and
// returns where it starts, or -1. Writers that were stopped in the middle of a
// line go on behind it without a newline.
func (p *parser) recover(line []byte, from int, dirty bool) int {
	// Each attempt may walk far before it fails: nested objects of the cut record
	// are candidates too. Their sum over the whole line is bounded, or a hostile one
	// would cost its square.
	for at := from + 1; p.effort > 0; {
		i := bytes.Index(line[at:], []byte(`{"`))
		if i < 0 {
			return -1
		}
		at += i
		s := scanner{b: line[at:]}
		s.skip()
		p.effort -= s.i + 64
		if rest := bytes.TrimLeft(line[at+s.i:], " \t\r\x00"); !s.failed && (len(rest) == 0 || rest[0] == '{') {
			if p.trial == nil {
				p.trial = newDecoder(Options{Sizes: true, Reuse: true}, &Stats{})
			}
			if r, _ := p.trial.decode(line[at:], dirty); r != nil && recognised(r, p.d.s.cut) {
				return at
			}
		}
		at++
	}
	return -1
}

// recognised reports whether r is a record, and not just an object that a
// record contains. Where the line ends with it, strict asks for a session: the
// messages that progress records contain look like records but name none.
func recognised(r *Record, strict bool) bool {
	if r.Kind == KindOther && !knownTypes[r.Type] {
		return false
	}
	if strict {
		return r.Session != ""
	}
	return r.UUID != "" || r.Session != "" || r.LeafUUID != "" || !r.Time.IsZero()
}

// broken yields what could not be read, at bytes behind the start of the line.
func (p *parser) broken(raw []byte, at int, kind DefectKind, reason string, lost bool) bool {
	p.stats.Broken++
	r := renewed(p.d, &p.d.reused.record)
	r.Raw, r.Broken = raw, true
	r.Defects = []Defect{{Kind: kind, Reason: reason, Lost: lost}}
	return p.deliver(r, at)
}

// deliver completes the positions of r and yields it.
func (p *parser) deliver(r *Record, at int) bool {
	r.Pos = p.pos
	r.Pos.Offset += int64(at)
	for i := range r.Defects {
		r.Defects[i].Pos = r.Pos
		if p.stats.Defects == nil {
			p.stats.Defects = make(map[DefectKind]int)
		}
		p.stats.Defects[r.Defects[i].Kind]++
	}
	return p.yield(r, nil)
}
