package frontmatter

import (
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
)

const bom = "\uFEFF"

// Parse reads the front matter of a whole file, as WTF-8, and returns it with
// the body: what follows the block and the white space after it. A file without
// a block is all body. A block that is not valid is still cut off; Problem then
// says why its fields are lost. A map nested in itself through an alias, which
// both libraries build, counts as not valid.
func Parse(text string, d Dialect) (f Front, body string) {
	f, body = parse(text, d)
	if len(d.Fields) > 0 {
		f.Fields = slices.DeleteFunc(f.Fields, func(x Field) bool { return !slices.Contains(d.Fields, x.Key) })
	}
	return f, body
}

func parse(text string, d Dialect) (f Front, body string) {
	start, end, bodyAt, problem := block(text, d)
	if start < 0 {
		if problem != "" {
			f.Problem, f.Line = problem, 1
		}
		return f, text
	}
	f.Present = true
	yaml := text[start:end]
	first := 1 + strings.Count(text[:start], "\n")
	if d.Parser == Naive {
		f.Fields = naive(yaml, first)
		return f, text[bodyAt:]
	}
	v, keys, err := parseYAML(yaml, d.grammar())
	if err != nil {
		if quoted, changed := requote(yaml, d); changed {
			f.Requoted = true
			yaml = quoted
			v, keys, err = parseYAML(yaml, d.grammar())
		}
	}
	switch {
	case err != nil:
		f.Problem = err.why
		f.Line = first + strings.Count(yaml[:min(err.at, len(yaml))], "\n")
	case v.Kind == Map:
		f.Fields = fields(v, keys, yaml, first)
	case v.Kind != Null:
		f.Problem, f.Line = "the block is no map of keys and values", first
	}
	return f, text[bodyAt:]
}

// grammar is the reading of YAML of the dialect.
func (d Dialect) grammar() grammar {
	old := d.Parser == Bun13YAML || d.Parser == BunYAML && d.RejectLoneEscapes
	return grammar{
		bun:          d.Parser != NpmYAML,
		old:          old,
		noSurrogates: old || d.RejectLoneEscapes,
		unique:       d.DuplicateKeys == DuplicatesFail,
	}
}

// block finds the front matter as the client does, with the regular expression
// ^---\s*\n([\s\S]*?)---\s*\n? and JavaScript's white space, so the first "---"
// anywhere ends it. start is -1 if there is none; problem then says so if the
// file seems to have one.
func block(text string, d Dialect) (start, end, bodyAt int, problem string) {
	at := 0
	if strings.HasPrefix(text, bom) {
		if !d.BOM {
			if strings.HasPrefix(text[len(bom):], "---") {
				problem = "a byte order mark stands before ---, and this client does not know it"
			}
			return -1, 0, 0, problem
		}
		at = len(bom)
	}
	if !strings.HasPrefix(text[at:], "---") {
		return -1, 0, 0, ""
	}
	at += 3
	space := text[at : at+spaceLen(text[at:])]
	last := strings.LastIndexByte(space, '\n')
	if last < 0 {
		return -1, 0, 0, ""
	}
	start = at + last + 1
	n := strings.Index(text[start:], "---")
	if n < 0 {
		return -1, 0, 0, "the block that starts with --- is not closed by another ---"
	}
	end = start + n
	bodyAt = end + 3
	bodyAt += spaceLen(text[bodyAt:])
	return start, end, bodyAt, ""
}

// isSpace reports whether JavaScript's \s and trim count r as white space.
func isSpace(r rune) bool {
	switch {
	case r < 0x80:
		return r == ' ' || '\t' <= r && r <= '\r'
	case r >= 0x2000 && r <= 0x200A:
		return true
	}
	switch r {
	case 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return false
}

// spaceLen is the number of bytes of white space at the start of s.
func spaceLen(s string) int {
	for i, r := range s {
		if !isSpace(r) {
			return i
		}
	}
	return len(s)
}

// trim is JavaScript's String.prototype.trim.
func trim(s string) string { return strings.TrimFunc(s, isSpace) }

// fields are the entries of the outermost map, with their lines.
func fields(v Value, keys []int, yaml string, first int) []Field {
	out := make([]Field, len(v.Keys))
	line, from := first, 0
	for i, k := range v.Keys {
		out[i] = Field{Key: interned(k), Value: v.Vals[i]}
		if len(keys) == len(v.Keys) && keys[i] >= from {
			line += strings.Count(yaml[from:keys[i]], "\n")
			from = keys[i]
			out[i].Line = line
		}
	}
	return out
}

// interned is one string for each of the usual keys: comparing keys is then quick, and
// does not touch the texts of all files.
func interned(key string) string {
	if k, ok := usual[key]; ok {
		return k
	}
	return key
}

var usual = func() map[string]string {
	m := map[string]string{}
	for _, k := range []string{"name", "description", "when_to_use", "allowed-tools", "disallowed-tools", "disable-model-invocation", "user-invocable", "argument-hint", "arguments", "paths", "context", "agent", "model", "effort", "shell", "license", "version", "metadata"} {
		m[k] = k
	}
	return m
}()

// naive reads a block as the oldest clients do: a line is split at its first
// colon, one quote is stripped at either end, and nothing else is known (recorded
// up to 2.0.76: ">" and "|" are text, lines without a colon are passed over).
func naive(block string, first int) (out []Field) {
	for i, l := range strings.Split(block, "\n") {
		key, value, ok := strings.Cut(l, ":")
		value = trim(value)
		if !ok || key == "" || value == "" {
			continue
		}
		if c := value[0]; c == '"' || c == '\'' {
			value = value[1:]
		}
		if n := len(value); n > 0 && (value[n-1] == '"' || value[n-1] == '\'') {
			value = value[:n-1]
		}
		out = append(out, Field{Key: interned(trim(key)), Value: Value{Kind: String, Text: value}, Line: first + i})
	}
	return out
}

// requote quotes the values of a block that did not parse, line by line, and
// reports whether that changed anything.
func requote(block string, d Dialect) (string, bool) {
	if d.Requote == RequoteNone {
		return block, false
	}
	var b strings.Builder
	changed := false
	for i, l := range strings.Split(block, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		if key, value, ok := requotable(l, d); ok {
			changed = true
			b.WriteString(key)
			b.WriteString(`: "`)
			b.WriteString(escaper.Replace(value))
			b.WriteByte('"')
		} else {
			b.WriteString(l)
		}
	}
	return b.String(), changed
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// requotable reports whether the client quotes the value of a line: it must match
// ^([a-zA-Z_-]+):\s+(.+)$, hold a special character, and not be quoted already.
// JavaScript's dot does not match \r, so CRLF lines never match.
func requotable(l string, d Dialect) (key, value string, ok bool) {
	n := 0
	for n < len(l) && (isAlnum(l[n]) && l[n] > '9' || l[n] == '_' || l[n] == '-') {
		n++
	}
	if n == 0 || n == len(l) || l[n] != ':' {
		return "", "", false
	}
	rest := l[n+1:]
	space := spaceLen(rest)
	value = rest[space:]
	if space == 0 || value == "" || strings.Contains(value, "\r") || strings.Contains(value, "\u2028") || strings.Contains(value, "\u2029") {
		return "", "", false
	}
	if c, end := value[0], value[len(value)-1]; c == end && (c == '"' || c == '\'') {
		return "", "", false
	}
	if !strings.ContainsAny(value, "{}[]*&#!|>%@`") && (d.Requote == RequoteSpecial || !strings.Contains(value, ": ")) {
		return "", "", false
	}
	if d.Requote == RequoteNoList && value[0] == '[' && value[len(value)-1] == ']' {
		if v, _, err := parseYAML(value, d.grammar()); err == nil && v.Kind == List {
			return "", "", false
		}
	}
	return l[:n], value, true
}

// Fallback is the description of a skill without one: the first line of the body
// with text, without its heading marks, and cut to 97 UTF-16 code units and "..."
// if it has more than 100. An empty body gives "Skill", or "Custom command" for
// kind "command" (recorded: listing/frontmatter, plugin entries of fuzz).
func Fallback(body string, kind string) string {
	for body != "" {
		var l string
		l, body, _ = strings.Cut(body, "\n")
		l = trim(l)
		if l == "" {
			continue
		}
		if rest := strings.TrimLeft(l, "#"); rest != l {
			if n := spaceLen(rest); n > 0 && !strings.ContainsAny(rest[n:], "\r\u2028\u2029") {
				l = rest[n:]
			}
		}
		if budget.Len16(l) > 100 {
			l = budget.Cut16(l, 97) + "..."
		}
		return l
	}
	if kind == "command" {
		return "Custom command"
	}
	return "Skill"
}
