package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Text is a text of a log in a document. Lone surrogates, three bytes each in
// Go, are written as the JSON escapes that they were, so that two texts that
// differ only there stay different.
type Text string

// MarshalJSON writes t as a JSON string.
func (t Text) MarshalJSON() ([]byte, error) {
	s := string(t)
	if utf8.ValidString(s) {
		return marshalString(s)
	}
	// Between lone surrogates stands ordinary text, marshalled piece by piece.
	var out bytes.Buffer
	out.WriteByte('"')
	flush := func(piece string) error {
		quoted, err := marshalString(piece)
		if err != nil {
			return err
		}
		out.Write(quoted[1 : len(quoted)-1])
		return nil
	}
	start := 0
	for i := 0; i < len(s); {
		if u, ok := loneSurrogate(s[i:]); ok {
			if err := flush(s[start:i]); err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, `\u%04x`, u)
			i += 3
			start = i
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	if err := flush(s[start:]); err != nil {
		return nil, err
	}
	out.WriteByte('"')
	return out.Bytes(), nil
}

// UnmarshalJSON reads a JSON string, keeping lone surrogates.
func (t *Text) UnmarshalJSON(data []byte) error {
	if !bytes.Contains(data, []byte(`\u`)) && !bytes.Contains(data, []byte(`\U`)) {
		var s string
		err := json.Unmarshal(data, &s)
		*t = Text(s)
		return err
	}
	var b strings.Builder
	start := 1
	flush := func(end int) error {
		if start >= end {
			return nil
		}
		piece := make([]byte, 0, end-start+2)
		piece = append(append(append(piece, '"'), data[start:end]...), '"')
		var s string
		err := json.Unmarshal(piece, &s)
		b.WriteString(s)
		return err
	}
	for i := 1; i < len(data)-1; i++ {
		if data[i] != '\\' {
			continue
		}
		if data[i+1] != 'u' {
			i++
			continue
		}
		u, ok := unit(data, i)
		if !ok || u < 0xd800 || u > 0xdfff {
			i += 5
			continue
		}
		if low, ok := unit(data, i+6); ok && u < 0xdc00 && low >= 0xdc00 && low <= 0xdfff {
			i += 11
			continue
		}
		if err := flush(i); err != nil {
			return err
		}
		b.Write([]byte{0xed, 0x80 | byte(u>>6)&0x3f, 0x80 | byte(u)&0x3f})
		i += 5
		start = i + 1
	}
	if err := flush(len(data) - 1); err != nil {
		return err
	}
	*t = Text(b.String())
	return nil
}

// unit reads the \uXXXX escape at data[i:].
func unit(data []byte, i int) (uint16, bool) {
	if i+6 > len(data) || data[i] != '\\' || data[i+1] != 'u' {
		return 0, false
	}
	var u uint16
	for _, c := range data[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		u = u<<4 | uint16(c)
	}
	return u, true
}

func marshalString(s string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// WriteJSON writes a document in its canonical form: indented, in the order of
// its fields, with everything that could act on a terminal written as an escape.
func WriteJSON(w io.Writer, doc any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("cannot write the document as JSON: %w", err)
	}
	_, err := w.Write(quietJSON(b.Bytes()))
	return err
}

// quietJSON replaces characters that are unsafe on a terminal by \u escapes.
// In JSON they can stand in strings only, so the value stays the same.
func quietJSON(data []byte) []byte {
	ascii := true
	for _, c := range data {
		if c >= 0x7f {
			ascii = false
			break
		}
	}
	if ascii {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r < 0x7f || !unsafe(r):
			out = append(out, data[i:i+size]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out
}
