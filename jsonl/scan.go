package jsonl

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// maxDepth bounds how deep values may nest. The deepest record seen nests 14
// levels; the bound only keeps a hostile line from exhausting the stack.
const maxDepth = 1000

// scanner walks over JSON text once, from left to right, without building
// anything. The caller drives it: it opens an object, takes a key, and decodes
// or skips the value. After the first error every method is a no-op, so that a
// decoder needs to look at failed only once, at the end.
//
// It is stricter than its purpose needs (a skipped value is checked as closely
// as a decoded one, or a damaged line would pass for a whole one) and more
// tolerant than JSON in one point: raw control characters inside strings pass.
type scanner struct {
	b       []byte
	i       int
	depth   int
	dirty   bool // b holds invalid UTF-8: texts are repaired when decoded
	escapes bool // the last string taken holds escapes
	failed  bool
	cut     bool   // the error is that the text ends too early
	what    string // the error in words
}

func (s *scanner) fail(what string) {
	if !s.failed {
		s.failed, s.what = true, what
		s.cut = s.i >= len(s.b)
	}
}

// space skips blanks and returns the next byte, or 0 at the end.
func (s *scanner) space() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// open enters an object or array and reports whether it has a first element.
func (s *scanner) open(bracket byte) bool {
	if s.failed {
		return false
	}
	if s.space() != bracket {
		s.fail("expected " + strconv.QuoteRune(rune(bracket)))
		return false
	}
	if s.depth++; s.depth > maxDepth {
		s.fail("nested too deep")
		s.cut = false
		return false
	}
	s.i++
	if s.space() == bracket+2 { // '{' and '}', '[' and ']' are two apart
		s.i++
		s.depth--
		return false
	}
	return true
}

// next moves to the next element of the object or array that ends in closing,
// and reports whether there is one.
func (s *scanner) next(closing byte) bool {
	if s.failed {
		return false
	}
	switch s.space() {
	case ',':
		s.i++
		return true
	case closing:
		s.i++
		s.depth--
	default:
		s.fail("expected a comma or the end of the " + container(closing))
	}
	return false
}

func container(closing byte) string {
	if closing == '}' {
		return "object"
	}
	return "array"
}

// key takes a member's name and the colon behind it. The bytes belong to the
// text, except where the name holds escapes.
func (s *scanner) key() []byte {
	if s.failed {
		return nil
	}
	if s.space() != '"' {
		s.fail("expected a member name")
		return nil
	}
	k := s.str()
	escapes := s.escapes
	if s.space() != ':' {
		s.fail("expected a colon")
		return nil
	}
	s.i++
	if escapes {
		return []byte(unquote(k))
	}
	return k
}

// str takes a string and returns what stands between its quotes, undecoded.
func (s *scanner) str() []byte {
	if s.failed {
		return nil
	}
	b, start := s.b, s.i+1
	i := start
	s.escapes = false
	for {
		i = stop(b, i)
		switch {
		case i >= len(b):
			s.i = len(b)
			s.fail("a string does not end")
			return nil
		case b[i] == '"':
			s.i = i + 1
			return b[start:i]
		case i+1 < len(b) && escaped[b[i+1]] != 0:
			i += 2
		default:
			if i = s.escape(i); s.failed {
				return nil
			}
		}
		s.escapes = true
	}
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// stops marks, in the eight bytes of x, the first quote or backslash: the lowest
// bit that is set is the highest of its byte. Higher bits may be wrong.
func stops(x uint64) uint64 {
	quote := x ^ '"'*lowBits
	slash := x ^ '\\'*lowBits
	return ((quote-lowBits)&^quote | (slash-lowBits)&^slash) & highBits
}

// stop is the index of the next quote or backslash from i on, or len(b). It looks
// at eight bytes at once: texts of tools are so full of escapes that
// bytes.IndexByte, called for each of them, is slower.
func stop(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := stops(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// escape checks the escape sequence at i and returns the index behind it.
func (s *scanner) escape(i int) int {
	b := s.b
	if i+1 >= len(b) {
		s.i = len(b)
		s.fail("an escape sequence does not end")
		return len(b)
	}
	switch c := b[i+1]; {
	case escaped[c] != 0:
		return i + 2
	case c == 'u':
		for k := i + 2; k < i+6; k++ {
			if k >= len(b) {
				s.i = len(b)
				s.fail("an escape sequence does not end")
				return len(b)
			}
			if hex(b[k]) < 0 {
				break
			}
			if k == i+5 {
				return i + 6
			}
		}
	}
	s.i = i
	s.fail("an escape sequence that JSON does not have")
	return i
}

// measured is str, and adds the measure of the decoded text to z.
func (s *scanner) measured(z *Size) []byte {
	if s.failed {
		return nil
	}
	if s.dirty {
		raw := s.str()
		rest := scanner{b: append(repair(raw), '"')}
		rest.i = -1
		rest.measured(z)
		return raw
	}
	b, start := s.b, s.i+1
	i := start
	var c counter
	for {
		i = c.text(b, i)
		for ; i < len(b) && b[i] != '"' && b[i] != '\\'; i++ { // at most seven
			c.add(lanes[b[i]])
		}
		switch {
		case i >= len(b):
			s.i = len(b)
			s.fail("a string does not end")
			return nil
		case b[i] == '"':
			s.i = i + 1
			c.flush(z)
			return b[start:i]
		case i+1 < len(b) && escaped[b[i+1]] != 0:
			c.add(lanes[escaped[b[i+1]]])
			i += 2
		default:
			j := s.escape(i)
			if s.failed {
				return nil
			}
			c.addUnit(unit(b[i+2 : i+6]))
			i = j
		}
	}
}

// number takes a number and returns it as written.
func (s *scanner) number() []byte {
	if s.failed {
		return nil
	}
	b, start, i := s.b, s.i, s.i
	if i < len(b) && b[i] == '-' {
		i++
	}
	digits := func() bool {
		from := i
		for i < len(b) && b[i]-'0' <= 9 {
			i++
		}
		return i > from
	}
	ok := true
	if i < len(b) && b[i] == '0' {
		i++
	} else {
		ok = digits()
	}
	if ok && i < len(b) && b[i] == '.' {
		i++
		ok = digits()
	}
	if ok && i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		ok = digits()
	}
	s.i = i
	if !ok {
		s.fail("a number that is none")
		return nil
	}
	return b[start:i]
}

func (s *scanner) literal(word string) {
	rest := s.b[s.i:]
	if len(rest) >= len(word) && string(rest[:len(word)]) == word {
		s.i += len(word)
		return
	}
	if len(rest) < len(word) && word[:len(rest)] == string(rest) {
		s.i = len(s.b)
	}
	s.fail("not a JSON value")
}

// skip takes a value of any kind.
func (s *scanner) skip() {
	switch c := s.space(); {
	case s.failed:
	case c == '"':
		s.str()
	case c == '{':
		for more := s.open('{'); more; more = s.next('}') {
			s.key()
			s.skip()
		}
	case c == '[':
		for more := s.open('['); more; more = s.next(']') {
			s.skip()
		}
	case c == '-' || c-'0' <= 9:
		s.number()
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	default:
		s.fail("not a JSON value")
	}
}

// value skips a value and returns its text.
func (s *scanner) value() Value {
	if s.space(); s.failed {
		return nil
	}
	start := s.i
	if s.skip(); s.failed {
		return nil
	}
	return Value(s.b[start:s.i])
}

// measureStrings takes a value and adds the measure of every string in it to z,
// member names apart.
func (s *scanner) measureStrings(z *Size) {
	switch s.space() {
	case '"':
		s.measured(z)
	case '{':
		for more := s.open('{'); more; more = s.next('}') {
			s.key()
			s.measureStrings(z)
		}
	case '[':
		for more := s.open('['); more; more = s.next(']') {
			s.measureStrings(z)
		}
	default:
		s.skip()
	}
}

// integer reads a number as an integer. A fraction of zero passes (5.0, 1e3),
// as it would in the client; anything else is not ok.
func integer(raw []byte) (n int64, ok bool) {
	if len(raw) == 0 {
		return 0, false
	}
	digits, negative := raw, false
	if raw[0] == '-' {
		digits, negative = raw[1:], true
	}
	if len(digits) == 0 || len(digits) > 18 {
		return float(raw)
	}
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return float(raw)
		}
		n = n*10 + int64(c)
	}
	if negative {
		n = -n
	}
	return n, true
}

func float(raw []byte) (int64, bool) {
	if len(raw) > 400 { // longer than any number that a client writes
		return 0, false
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}
