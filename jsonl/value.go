package jsonl

import (
	"errors"
	"iter"
	"unicode/utf8"
)

// Value is the text of one JSON value: the input of a tool, say, or a line of a
// case file. It is read lazily and in place: a method walks over the text when
// it is called. A Value that is not valid JSON (see [ParseValue]) yields what
// stands before the damage. The zero Value is absent: it has no members, no
// items and an empty text, so that calls of Get can be chained.
type Value []byte

// ValueKind is the class of a JSON value.
type ValueKind uint8

// The kinds of a Value.
const (
	ValueAbsent ValueKind = iota
	ValueNull
	ValueBool
	ValueNumber
	ValueString
	ValueArray
	ValueObject
)

// ParseValue checks that b is one JSON value and returns it without the blanks
// around it. The Value shares b, unless b holds invalid UTF-8, which is replaced
// by U+FFFD in a copy. Nesting is limited to 1,000 levels.
func ParseValue(b []byte) (Value, error) {
	if !utf8.Valid(b) {
		b = repair(b)
	}
	s := scanner{b: b}
	v := s.value()
	if !s.failed && s.space() != 0 {
		s.fail("text after the value")
	}
	if !s.failed && s.i < len(b) {
		s.fail("text after the value")
	}
	if s.failed {
		return nil, errors.New(s.what)
	}
	return v, nil
}

// Kind is the class of v, as its first byte tells it.
func (v Value) Kind() ValueKind {
	s := scanner{b: v}
	switch c := s.space(); {
	case c == '"':
		return ValueString
	case c == '{':
		return ValueObject
	case c == '[':
		return ValueArray
	case c == 't' || c == 'f':
		return ValueBool
	case c == 'n':
		return ValueNull
	case c == '-' || c >= '0' && c <= '9':
		return ValueNumber
	}
	return ValueAbsent
}

// Text is the text of a string, in WTF-8, and empty for anything else. Invalid
// UTF-8 is read as U+FFFD.
func (v Value) Text() string {
	s := scanner{b: v}
	if s.space() != '"' {
		return ""
	}
	raw := s.str()
	if !utf8.Valid(raw) {
		raw = repair(raw)
	}
	return unquote(raw)
}

// Int is the value of a number without a fraction.
func (v Value) Int() (n int64, ok bool) {
	if v.Kind() != ValueNumber {
		return 0, false
	}
	s := scanner{b: v}
	s.space()
	return integer(s.number())
}

// Number is a number as written, and empty for anything else.
func (v Value) Number() string {
	if v.Kind() != ValueNumber {
		return ""
	}
	s := scanner{b: v}
	s.space()
	return string(s.number())
}

// Bool reports whether v is true.
func (v Value) Bool() bool {
	s := scanner{b: v}
	return s.space() == 't'
}

// Get is the member of an object. Where a name occurs twice the last one counts,
// as in the client's parser.
func (v Value) Get(name string) Value {
	var found Value
	s := scanner{b: v}
	if s.space() != '{' {
		return nil
	}
	for more := s.open('{'); more; more = s.next('}') {
		k := s.key()
		if m := s.value(); string(k) == name && !s.failed {
			found = m
		}
	}
	return found
}

// Members yields the members of an object in the order of the text, repeated
// names too.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		s := scanner{b: v}
		if s.space() != '{' {
			return
		}
		for more := s.open('{'); more; more = s.next('}') {
			k := s.key()
			if m := s.value(); s.failed || !yield(string(k), m) {
				return
			}
		}
	}
}

// Only is a copy of an object with the members that keep accepts, which is given
// each name and value as they stand in the text; of anything else, a copy.
func (v Value) Only(keep func(name []byte, value Value) bool) Value {
	s := scanner{b: v}
	if s.space() != '{' {
		return append(Value(nil), v...)
	}
	out := append(make(Value, 0, 128), '{')
	for more := s.open('{'); more; more = s.next('}') {
		s.space()
		start := s.i
		k := s.key()
		m := s.value()
		if s.failed {
			break
		}
		if keep(k, m) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, v[start:s.i]...)
		}
	}
	return append(out, '}')
}

// Items yields the elements of an array.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		s := scanner{b: v}
		if s.space() != '[' {
			return
		}
		for more := s.open('['); more; more = s.next(']') {
			if m := s.value(); s.failed || !yield(m) {
				return
			}
		}
	}
}

// Size measures all strings of v, names of members apart.
func (v Value) Size() (z Size) {
	s := scanner{b: v}
	s.measureStrings(&z)
	return z
}
