package request

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/jsonl"
)

// quote is a text in WTF-8 as a JSON string, written as the client's JSON.stringify
// does. A lone surrogate becomes an escape.
func quote(text string) jsonl.Value { return appendQuoted(make([]byte, 0, len(text)+2), text) }

const hexDigits = "0123456789abcdef"

func appendQuoted(out []byte, text string) []byte {
	out = append(out, '"')
	from := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0xED {
			continue
		}
		if c == 0xED {
			// ED A0..BF xx is a surrogate, which UTF-8 does not have.
			if i+2 < len(text) && text[i+1] >= 0xA0 {
				u := 0xD000 | rune(text[i+1]&0x3F)<<6 | rune(text[i+2]&0x3F)
				out = append(out, text[from:i]...)
				out = append(out, '\\', 'u', hexDigits[u>>12&15], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
				i += 2
				from = i + 1
			}
			continue
		}
		out = append(out, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, '\\', 'b')
		case '\f':
			out = append(out, '\\', 'f')
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(out, text[from:]...), '"')
}

// accepted is a value as the API takes it: without lone surrogates, each of which becomes
// U+FFFD, as the client sends it (recorded: f063), and without control characters that
// stand in strings as they are, which the reader of logs lets pass. Without either it is
// v itself.
func accepted(v jsonl.Value) jsonl.Value {
	var out jsonl.Value
	from := 0
	put := func(i, end int, text string) {
		out = append(append(out, v[from:i]...), text...)
		from = end
	}
	inside := false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			inside = !inside
		case c == '\\':
			u, ok := codeUnit(v[i:])
			switch {
			case !ok:
				i++
				continue
			case u&^0x7FF != 0xD800:
			case u < 0xDC00 && isLow(v[i+6:]):
				i += 6
			default:
				put(i, i+6, "\uFFFD")
			}
			i += 5
		case c < ' ' && inside:
			put(i, i+1, `\u00`+hexDigits[c>>4:c>>4+1]+hexDigits[c&15:c&15+1])
		}
	}
	if out == nil {
		return v
	}
	return append(out, v[from:]...)
}

func isLow(b []byte) bool {
	u, ok := codeUnit(b)
	return ok && u&^0x3FF == 0xDC00
}

// codeUnit is the code unit that an escape names.
func codeUnit(b []byte) (uint16, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var two [2]byte
	if _, err := hex.Decode(two[:], b[2:6]); err != nil {
		return 0, false
	}
	return uint16(two[0])<<8 | uint16(two[1]), true
}

// maxDepth bounds the nesting of values that are written anew.
const maxDepth = 1000

// canonical is a value in the form whose digest names it in the log: without blanks,
// the members of objects sorted by name, strings as JSON.stringify writes them.
func canonical(v jsonl.Value) []byte {
	return appendCanonical(make([]byte, 0, len(v)), v, 0)
}

func appendCanonical(out []byte, v jsonl.Value, depth int) []byte {
	if depth > maxDepth {
		return append(out, "null"...)
	}
	switch v.Kind() {
	case jsonl.ValueString:
		return appendQuoted(out, v.Text())
	case jsonl.ValueArray:
		out = append(out, '[')
		first := true
		for item := range v.Items() {
			if !first {
				out = append(out, ',')
			}
			first = false
			out = appendCanonical(out, item, depth+1)
		}
		return append(out, ']')
	case jsonl.ValueObject:
		type member struct {
			name  string
			value jsonl.Value
		}
		var members []member
		for name, value := range v.Members() {
			if strings.IndexByte(name, '\\') >= 0 {
				name = jsonl.Value(`"` + name + `"`).Text()
			}
			if i := slices.IndexFunc(members, func(m member) bool { return m.name == name }); i >= 0 && len(members) < 256 {
				members[i].value = value
				continue
			}
			members = append(members, member{name, value})
		}
		slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendQuoted(out, m.name), ':')
			out = appendCanonical(out, m.value, depth+1)
		}
		return append(out, '}')
	case jsonl.ValueAbsent:
		return append(out, "null"...)
	}
	return append(out, bytes.TrimSpace(v)...)
}

// digest is the name by which the log's records of requests know a message.
func digest(v jsonl.Value) string {
	sum := sha256.Sum256(canonical(v))
	return hex.EncodeToString(sum[:])
}

func array(items []jsonl.Value) jsonl.Value {
	size := 2
	for _, item := range items {
		size += len(item) + 1
	}
	out := append(make(jsonl.Value, 0, size), '[')
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}

// textBlock is a block of text whose text is given as JSON.
func textBlock(text jsonl.Value) jsonl.Value {
	out := append(make(jsonl.Value, 0, len(text)+24), `{"type":"text","text":`...)
	return append(append(out, text...), '}')
}

// joined are strings given as JSON, one behind the other with sep between them, as
// JSON.
func joined(sep string, parts ...jsonl.Value) jsonl.Value {
	out := jsonl.Value{'"'}
	between := quote(sep)
	for i, p := range parts {
		if i > 0 {
			out = append(out, between[1:len(between)-1]...)
		}
		if p.Kind() == jsonl.ValueString {
			p = bytes.TrimSpace(p)
			out = append(out, p[1:len(p)-1]...)
		}
	}
	return append(out, '"')
}
