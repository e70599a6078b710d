package frontmatter

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// plain parses a scalar without quotes, over several lines if need be. colon
// says that it stopped before the colon of a key.
func (p *parser) plain(parent int, flow bool) (text string, colon bool) {
	at := p.i
	c := p.s[p.i]
	switch c {
	case ']', '}', '#', '|', '>', '@', '`', '%', '&', '!':
		p.fail(p.i, "a value cannot start with "+string(c))
	case ',':
		if !p.bun || flow {
			p.fail(p.i, "a value cannot start with ,")
		}
	case '-', '?', ':':
		if p.spaceAt(p.i+1) || flow && isFlowMark(p.s[p.i+1]) {
			p.fail(p.i, "a value cannot start with \""+string(c)+" \"")
		}
	}
	if p.err != nil {
		return "", false
	}
	text, colon, more := p.plainLine(flow)
	if !more {
		return text, colon
	}
	var b strings.Builder
	for {
		lines, ok := p.continues(parent, flow)
		if !ok {
			break
		}
		if b.Len() == 0 {
			b.WriteString(text)
		}
		fold(&b, lines)
		text, colon, more = p.plainLine(flow)
		b.WriteString(text)
		if colon && !flow {
			p.fail(at, "a key on more than one line, or \": \" inside a value without quotes")
		}
		if !more {
			break
		}
	}
	if b.Len() > 0 {
		text = b.String()
	}
	return text, colon
}

// plainLine reads a plain scalar up to the end of its line. more says that the
// next line may continue it.
func (p *parser) plainLine(flow bool) (text string, colon, more bool) {
	from := p.i
scan:
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '.' && p.dots() && !numberLike(p.s[from:p.i]):
			p.endAt = p.i
			break scan
		case c == ':' && (p.spaceAt(p.i+1) || flow && isFlowMark(p.s[p.i+1]) && !(p.old && p.inList)):
			colon = true
			break scan
		case c == '#' && p.i > from && isBlank(p.s[p.i-1]):
			break scan
		case flow && isFlowMark(c):
			break scan
		case p.eol(p.i) > 0:
			more = true
			break scan
		}
		p.i++
	}
	return strings.TrimRight(p.s[from:p.i], " \t"), colon, more
}

// numberLike reports whether s can be the start of a number.
func numberLike(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.eE+-") == ""
}

// continues goes to the next content line if a plain scalar goes on there, and
// returns how many line ends lie between.
func (p *parser) continues(parent int, flow bool) (lines int, ok bool) {
	end, line := p.i, p.line
	tab := false
	for p.eol(p.i) > 0 {
		tab = tab || p.tabLine(parent)
		p.newline()
		lines++
		p.blanks()
	}
	if p.i < len(p.s) && !p.at('#') && p.indent() > parent && !p.atDocEnd() && !(flow && isFlowMark(p.s[p.i])) {
		if !flow || !p.colonInFlow(false) {
			if tab {
				p.fail(p.line, "a line with only a tab inside a value")
			}
			return lines, true
		}
	}
	p.i, p.line = end, line
	return 0, false
}

// tabLine reports whether the line that ends at i is blank and has a tab where
// npm yaml wants indentation.
func (p *parser) tabLine(parent int) bool {
	return !p.bun && p.i > p.line && p.tabbed() && p.indent() <= parent
}

// atDocEnd is docEnd when blanks before i may have been skipped.
func (p *parser) atDocEnd() bool { return p.i == p.line && p.docEnd() }

// fold writes what a run of line ends becomes: a blank, or one less of them.
func fold(b *strings.Builder, lines int) {
	if lines == 1 {
		b.WriteByte(' ')
	}
	for ; lines > 1; lines-- {
		b.WriteByte('\n')
	}
}

// quoted parses a scalar in single or double quotes.
func (p *parser) quoted(parent int) string {
	at, quote := p.i, p.s[p.i]
	stops := "\"\\\r\n"
	if quote == '\'' {
		stops = "'\r\n"
	}
	p.i++
	var b strings.Builder
	for {
		j := strings.IndexAny(p.s[p.i:], stops)
		if j < 0 {
			p.fail(at, "a "+string(quote)+" that is not closed")
			return ""
		}
		run := p.s[p.i : p.i+j]
		p.i += j
		switch c := p.s[p.i]; {
		case c == quote && quote == '\'' && strings.HasPrefix(p.s[p.i:], "''"):
			b.WriteString(run)
			b.WriteByte('\'')
			p.i += 2
		case c == quote:
			b.WriteString(run)
			p.i++
			return b.String()
		case c == '\\':
			b.WriteString(run)
			if p.i+1 < len(p.s) && p.eol(p.i+1) > 0 {
				p.i++
				if lines := p.quotedBreak(parent); lines > 1 {
					fold(&b, lines)
				}
			} else {
				p.escape(&b)
			}
		case p.eol(p.i) > 0:
			b.WriteString(strings.TrimRight(run, " \t"))
			fold(&b, p.quotedBreak(parent))
		default: // a lone carriage return
			b.WriteString(run)
			b.WriteByte(c)
			p.i++
		}
		if p.err != nil {
			return ""
		}
	}
}

// quotedBreak skips line ends and indentation inside quotes and returns the
// number of line ends.
func (p *parser) quotedBreak(parent int) (lines int) {
	if p.bun && p.eol(p.i) == 2 {
		lines++ // Bun counts the first CRLF as two line ends
	}
	for first := true; p.eol(p.i) > 0; first = false {
		if !first && p.tabLine(parent) {
			p.fail(p.line, "a line with only a tab inside quotes")
		}
		p.newline()
		lines++
		if p.docEnd() {
			p.fail(p.i, "... inside quotes")
		}
		p.blanks()
	}
	if p.i < len(p.s) && p.indent() <= parent {
		p.fail(p.i, "a quoted value goes on in a line that is not indented")
	}
	return lines
}

// escapes are the escapes of one character.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r",
	'e': "\x1b", ' ': " ", '"': "\"", '/': "/", '\\': "\\", 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// escape reads a backslash and what it stands for.
func (p *parser) escape(b *strings.Builder) {
	at := p.i
	p.i++
	if p.i >= len(p.s) {
		p.fail(at, "an open \"")
		return
	}
	c := p.s[p.i]
	p.i++
	if e, ok := escapes[c]; ok {
		b.WriteString(e)
		return
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	n := hexValue(p.s, p.i, digits)
	if digits == 0 || n < 0 || n > utf8.MaxRune {
		p.fail(at, "\\"+string(rune(c))+" in double quotes is no escape")
		return
	}
	p.i += digits
	if n < 0xD800 || n > 0xDFFF {
		b.WriteRune(rune(n))
		return
	}
	if p.noSurrogates {
		p.fail(at, "a surrogate escape")
		return
	}
	if n < 0xDC00 && strings.HasPrefix(p.s[p.i:], "\\u") {
		if low := hexValue(p.s, p.i+2, 4); low >= 0xDC00 && low <= 0xDFFF {
			b.WriteRune(rune(0x10000 + (n-0xD800)<<10 + low - 0xDC00))
			p.i += 6
			return
		}
	}
	if p.bun {
		p.fail(at, "half a surrogate pair")
		return
	}
	b.Write([]byte{0xE0 | byte(n>>12), 0x80 | byte(n>>6)&0x3F, 0x80 | byte(n)&0x3F})
}

// hexValue is the value of n hexadecimal digits at i, -1 if there are none.
func hexValue(s string, i, n int) int {
	if n == 0 || i+n > len(s) {
		return -1
	}
	v := 0
	for _, c := range []byte(s[i : i+n]) {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if d < 0 || c < '0' {
			return -1
		}
		v = v<<4 | d
	}
	return v
}

// blockScalar parses a literal (|) or folded (>) scalar of a collection at
// column parent.
func (p *parser) blockScalar(parent int) token {
	t := token{Value: Value{Kind: String}, style: '"'}
	folded := p.at('>')
	chomp, explicit := byte(0), 0
	for p.i++; p.i < len(p.s); p.i++ {
		c := p.s[p.i]
		if (c == '-' || c == '+') && chomp == 0 {
			chomp = c
		} else if '1' <= c && c <= '9' && explicit == 0 {
			explicit = int(c - '0')
		} else {
			break
		}
	}
	head := p.i
	p.blanks()
	if p.at('#') && p.i > head {
		p.i = p.lineEnd(p.i)
	}
	if p.i < len(p.s) && p.eol(p.i) == 0 {
		p.fail(head, "text after | or > on its line")
		return t
	}
	indent := -1
	if explicit > 0 && !p.old { // Bun 1.3 passes over it
		indent = max(parent, 0) + explicit
	}
	t.Text = p.blockLines(parent, indent, folded, chomp)
	return t
}

// blockLines reads the lines of a block scalar. indent is -1 if the first line
// with text sets it.
func (p *parser) blockLines(parent, indent int, folded bool, chomp byte) string {
	var b strings.Builder
	breaks := 0                // line ends not yet written
	ended := false             // the last line with text has a line end
	deepest := 0               // blanks of the empty lines before the first text
	more, first := false, true // the line before started with white space; no text yet
	for p.i < len(p.s) {
		p.newline()
		n := p.indent()
		text := p.line + n
		end := p.lineEnd(p.line)
		if text == end && (indent < 0 || n <= indent) { // a line of blanks only
			if end == len(p.s) {
				p.i = end
				break
			}
			if indent < 0 {
				deepest = max(deepest, n)
			}
			breaks++
			p.i = end
			continue
		}
		if indent < 0 {
			if n <= parent {
				p.blockTab(end)
				break
			}
			if deepest > n {
				p.fail(p.line, "an empty line before the text is indented deeper than it")
				return ""
			}
			indent = n
		}
		if n < indent && p.old && n > parent {
			n = min(n, indent)
		} else if n < indent {
			if !p.bun {
				p.blockTab(end)
			}
			break
		}
		if p.docEnd() {
			break
		}
		line := p.s[p.line+min(n, indent) : end]
		blank := line[0] == ' ' || line[0] == '\t' && !p.old
		if folded && !first && !more && !blank {
			fold(&b, breaks+1)
		} else if first && folded && p.old {
			fold(&b, breaks)
		} else if !first || breaks > 0 {
			n := breaks + 1
			if first {
				n = breaks
			}
			b.WriteString(strings.Repeat("\n", n))
		}
		b.WriteString(line)
		breaks, more, first, ended = 0, blank, false, end < len(p.s)
		p.i = end
	}
	switch {
	case p.old && first:
	case p.old && chomp == '+' && p.i >= len(p.s) && ended:
		b.WriteString(strings.Repeat("\n", breaks+2))
	case chomp == '+' && !first:
		b.WriteString(strings.Repeat("\n", breaks+1))
	case chomp == '+':
		b.WriteString(strings.Repeat("\n", breaks))
	case chomp == 0 && !first:
		b.WriteByte('\n')
	}
	return b.String()
}

// blockTab fails when the line up to end, at which a block scalar stops, holds
// only white space.
func (p *parser) blockTab(end int) {
	if strings.Trim(p.s[p.line:end], " \t") == "" {
		p.fail(p.line, "a tab in the indentation")
	}
}

// resolve applies a tag, or the rules of the core schema if there is none.
func (p *parser) resolve(t token, tag string) Value {
	v := t.Value
	if t.style == '*' || t.style == '[' {
		return v
	}
	switch tag {
	case "":
		if t.style == '\'' {
			return p.core(v.Text)
		}
	case "!!int", "!!float", "!!bool", "!!null":
		c := p.core(v.Text)
		if p.bun && t.style == '\'' && (c.Kind == Number && (tag == "!!int" || tag == "!!float") || tag == "!!"+tagOf(c, v.Text)) {
			return c
		}
		if !p.bun && tag == "!!"+tagOf(c, v.Text) {
			return c
		}
	}
	return v
}

// emptyTagged is the value of an empty node with a tag.
func (p *parser) emptyTagged(tag string) Value {
	switch {
	case tag == "" || tag == "!!null":
		return Value{}
	case tag == "!!str" || tag == "!" || !p.bun:
		return Value{Kind: String}
	}
	return Value{}
}

// tagOf names the type that a plain scalar has in the core schema.
func tagOf(v Value, text string) string {
	switch v.Kind {
	case Null:
		return "null"
	case Bool:
		return "bool"
	case Number:
		if strings.ContainsAny(text, ".eE") && !strings.HasPrefix(text, "0x") {
			return "float"
		}
		return "int"
	}
	return "str"
}

// core is the value of a plain scalar in the core schema of YAML 1.2.
func (p *parser) core(s string) Value {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Value{Kind: Null}
	case "true", "True", "TRUE":
		return Value{Kind: Bool, Text: "true"}
	case "false", "False", "FALSE":
		return Value{Kind: Bool, Text: "false"}
	}
	if f, ok := p.number(s); ok {
		return Value{Kind: Number, Text: jsNumber(f)}
	}
	return Value{Kind: String, Text: s}
}

// number reads a number as the core schema writes it: decimal, with 0x or 0o,
// with an exponent, infinite, or none.
func (p *parser) number(s string) (f float64, ok bool) {
	if c := s[len(s)-1]; !isAlnum(c) && c != '.' && !p.old {
		return 0, false
	}
	sign, body := 1.0, s
	if s[0] == '-' || s[0] == '+' {
		body = s[1:]
		if s[0] == '-' {
			sign = -1
		}
	}
	switch body {
	case ".inf", ".Inf", ".INF":
		return sign * math.Inf(1), true
	case ".nan", ".NaN", ".NAN":
		return math.NaN(), body == s
	}
	if strings.HasPrefix(body, "0x") || strings.HasPrefix(body, "0o") {
		if body != s && !p.bun {
			return 0, false // a sign before 0x is Bun's own
		}
		f, ok = p.digits(body[2:], map[byte]int{'x': 16, 'o': 8}[body[1]])
		return sign * f, ok
	}
	if p.old && !isDecimal(body) {
		f, ok = prefixNumber(body, body != s)
		return sign * f, ok
	}
	if !isDecimal(body) || p.old && body != s && body[0] == '.' {
		return 0, false
	}
	f, _ = strconv.ParseFloat(body, 64) // out of range gives infinity, as in JavaScript
	return sign * f, true
}

// digits reads digits of a base. Bun takes what needs more than 64 bits as text.
func (p *parser) digits(s string, base int) (f float64, ok bool) {
	for _, c := range []byte(s) {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if c < '0' || d < 0 || d >= base {
			return 0, false
		}
		f = f*float64(base) + float64(d)
	}
	n, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		return f, !p.bun && s != ""
	}
	return float64(n), true
}

// prefixNumber reads a number as Bun 1.3 does: of a text made of the characters
// of numbers, with at most one point, e and minus, it takes the longest start
// that is a number ("1-2" is 1). After a sign a point is no start.
func prefixNumber(s string, signed bool) (f float64, ok bool) {
	if !numberLike(s) || signed && s[0] == '.' || strings.Count(s, ".") > 1 || strings.Count(s, "-") > 1 ||
		strings.Count(s, "e")+strings.Count(s, "E") > 1 {
		return 0, false
	}
	sign := ""
	if s[0] == '-' || s[0] == '+' {
		sign, s = s[:1], s[1:]
	}
	for n := len(s); n > 0; n-- {
		if isDecimal(s[:n]) {
			f, _ = strconv.ParseFloat(sign+s[:n], 64)
			return f, true
		}
	}
	return 0, false
}

// isDecimal reports whether s is digits with an optional point and exponent.
func isDecimal(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	digits := len(s) - len(rest)
	if strings.HasPrefix(rest, ".") {
		after := strings.TrimLeft(rest[1:], "0123456789")
		digits += len(rest) - 1 - len(after)
		rest = after
	}
	if digits == 0 {
		return false
	}
	if rest == "" {
		return true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	return rest != "" && strings.TrimLeft(rest, "0123456789") == ""
}

// jsNumber writes a number as JavaScript does (ECMA-262, Number::toString).
func jsNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0" // minus zero too
	}
	if a := math.Abs(f); a >= 1e21 || a < 1e-6 {
		s := strconv.FormatFloat(f, 'e', -1, 64)
		mantissa, exp, _ := strings.Cut(s, "e")
		return mantissa + "e" + exp[:1] + strings.TrimLeft(exp[1:], "0")
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
