package frontmatter

import (
	"bytes"
	"strings"
)

// The block is YAML 1.2 (core schema) as two libraries read it: npm yaml, and
// the parser built into Bun in an older and a newer state. They follow the same
// specification and differ at its edges; the edges are the fields of grammar.
//
// The text never holds "---", because the block ends at the first one, so
// there are no document starts here, only ends ("...").

// grammar is one reading of YAML.
type grammar struct {
	bun          bool // Bun's parser, else npm yaml 2.x
	old          bool // Bun's parser up to 1.3; bun is set as well
	noSurrogates bool // surrogate escapes fail, a pair of them too
	unique       bool // a repeated key fails
}

// Limits that no real block comes near; beyond them the text is hostile.
const (
	maxDepth   = 1000    // nested collections
	maxMerged  = 1 << 16 // entries added by <<
	maxAliases = 100     // uses of one anchor, times the aliases in it (npm yaml's maxAliasCount)
)

// syntaxError says why a text is not YAML, and where (a byte offset).
type syntaxError struct {
	at  int
	why string
}

func (e *syntaxError) Error() string { return e.why }

// anchor is a named value. weight is the number of aliases that its heaviest
// part stands for, at least 1.
type anchor struct {
	val    Value
	weight int
	uses   int
}

// parser reads a text from left to right. The first error moves i to the end,
// where every loop stops.
type parser struct {
	grammar
	s       string
	i       int // next byte
	line    int // start of the line of i
	depth   int
	flows   int  // open flow collections
	inList  bool // the innermost one is a list
	anchors map[string]*anchor
	weight  int // of the heaviest alias in the current node
	err     *syntaxError
	merged  int   // entries added by << so far
	rootAt  []int // offsets of the keys of the outermost map
	endAt   int   // old: a document ends here, inside a line
	colon   int   // old: the colon whose key was taken for the value before

	// the spaces and the blanks at the start of the line at leadOf
	leadOf, leadSpaces, leadBlanks int
}

// parseYAML parses one block. If the result is a map, keys holds the offset of
// each of its keys.
func parseYAML(text string, g grammar) (v Value, keys []int, err *syntaxError) {
	p := &parser{grammar: g, s: text, endAt: -1, colon: -1, leadBlanks: -1}
	if i := strings.IndexByte(text, 0); i >= 0 && g.bun {
		if !g.old {
			return Value{}, nil, &syntaxError{i, "a NUL character"}
		}
		p.s = text[:i]
	}
	v = p.stream()
	if p.err != nil {
		return Value{}, nil, p.err
	}
	return v, p.rootAt, nil
}

func (p *parser) fail(at int, why string) {
	if p.err == nil {
		p.err = &syntaxError{at, why}
	}
	p.i = len(p.s)
}

func (p *parser) stream() Value {
	if !p.old && strings.HasPrefix(p.s, "\uFEFF") {
		p.i = len("\uFEFF")
		p.line = p.i
	}
	var docs []Value
	for {
		p.gap()
		if p.at('%') && p.i == p.line {
			p.fail(p.i, "a line starting with % is a YAML directive")
		}
		docs = append(docs, p.node(-1, true, false))
		p.gap()
		if p.i < len(p.s) && !p.docEnd() {
			p.fail(p.i, "text after the end of the value")
		}
		if p.i >= len(p.s) {
			break
		}
		p.i += len("...")
		if !p.gap() && p.i < len(p.s) {
			p.fail(p.i, "text after ... on the same line")
		}
		if p.i >= len(p.s) {
			break
		}
		if !p.bun {
			p.fail(p.i, "a second document after ...")
		}
	}
	if len(docs) > 1 {
		p.rootAt = nil
		return Value{Kind: List, Items: docs}
	}
	return docs[0]
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isFlowMark(c byte) bool {
	return c == ',' || c == '[' || c == ']' || c == '{' || c == '}'
}

func (p *parser) at(c byte) bool { return p.i < len(p.s) && p.s[p.i] == c }

// eol is the length of the line end at i, 0 if there is none.
func (p *parser) eol(i int) int {
	if i >= len(p.s) {
		return 0
	}
	switch p.s[i] {
	case '\n':
		return 1
	case '\r':
		if i+1 < len(p.s) && p.s[i+1] == '\n' {
			return 2
		}
		if p.bun {
			return 1
		}
	}
	return 0
}

// spaceAt reports whether white space, a line end or the end of text stands at i.
func (p *parser) spaceAt(i int) bool {
	return i >= len(p.s) || isBlank(p.s[i]) || p.eol(i) > 0
}

// blanks skips spaces and tabs.
func (p *parser) blanks() {
	for p.i < len(p.s) && isBlank(p.s[p.i]) {
		p.i++
	}
}

// lineEnd is the offset of the first line end from i on.
func (p *parser) lineEnd(i int) int {
	for ; ; i++ {
		j := strings.IndexAny(p.s[i:], "\r\n")
		if j < 0 {
			return len(p.s)
		}
		if i += j; p.eol(i) > 0 {
			return i
		}
	}
}

// newline skips the line end at i.
func (p *parser) newline() {
	p.i += p.eol(p.i)
	p.line = p.i
}

// docEnd reports whether a document ends at i: with a line "...".
func (p *parser) docEnd() bool {
	return p.dotsAt(p.i) && (p.i == p.line || p.endAt == p.i)
}

func (p *parser) dotsAt(i int) bool {
	return strings.HasPrefix(p.s[i:], "...") && p.spaceAt(i+3)
}

// dots reports whether Bun 1.3 ends the document at i: it took "..." before
// white space for an end anywhere in a line that is not indented and is no item.
func (p *parser) dots() bool {
	return p.old && p.dotsAt(p.i) && p.i+3 < len(p.s) && !isBlank(p.s[p.line]) &&
		!(p.s[p.line] == '-' && p.spaceAt(p.line+1))
}

// gap skips white space, comments and line ends up to the next content, and
// reports whether a line end was among them.
func (p *parser) gap() (crossed bool) {
	for p.i < len(p.s) {
		p.blanks()
		if p.at('#') && (p.i == p.line || isBlank(p.s[p.i-1])) {
			p.i = p.lineEnd(p.i)
		}
		if p.eol(p.i) == 0 {
			break
		}
		p.newline()
		crossed = true
	}
	return crossed
}

// lead returns the number of spaces, and of blanks, at the start of the line of
// i. It is kept for the line, since a line can be long and hold many nodes.
func (p *parser) lead() (spaces, blanks int) {
	if p.leadOf != p.line || p.leadBlanks < 0 {
		j := p.line
		for j < len(p.s) && p.s[j] == ' ' {
			j++
		}
		p.leadSpaces = j - p.line
		for j < len(p.s) && isBlank(p.s[j]) {
			j++
		}
		p.leadBlanks, p.leadOf = j-p.line, p.line
	}
	return p.leadSpaces, p.leadBlanks
}

// indent is the number of spaces at the start of the line of i.
func (p *parser) indent() int {
	n, _ := p.lead()
	return n
}

// starts reports whether i is the first content of its line.
func (p *parser) starts() bool { return p.blankBefore(p.i) }

// blankBefore reports whether only blanks stand before offset i of this line.
func (p *parser) blankBefore(i int) bool {
	_, n := p.lead()
	return i <= p.line+n
}

// tabbed reports whether i is the first content of its line, after a tab.
func (p *parser) tabbed() bool { return p.starts() && p.indent() < p.i-p.line }

// dashTab reports whether a tab stands between the content at i and one of the
// marks, which may start a compact collection.
func (p *parser) dashTab(marks ...byte) bool {
	j, tab := p.i, false
	for j > p.line && isBlank(p.s[j-1]) {
		j--
		tab = tab || p.s[j] == '\t'
	}
	return tab && j > p.line && bytes.IndexByte(marks, p.s[j-1]) >= 0
}

// props are the anchor and the tag of a node.
type props struct {
	anchor, tag string // with & or !, empty if absent
	at          int
}

func (q props) any() bool { return q.anchor != "" || q.tag != "" }

// properties reads anchors and tags up to the end of the line.
func (p *parser) properties(flow bool) (q props) {
	q.at = p.i
	for p.at('&') || p.at('!') {
		from := p.i
		if p.at('&') {
			for p.i++; !p.spaceAt(p.i) && !isFlowMark(p.s[p.i]); p.i++ {
			}
			if p.i == from+1 {
				p.fail(from, "& starts an anchor, which needs a name")
			} else if q.anchor != "" {
				p.fail(from, "two anchors (&name) on one value")
			} else {
				q.anchor = p.s[from:p.i]
			}
		} else {
			p.skipTag()
			switch tag := p.s[from:p.i]; {
			case tag == "!!":
				p.fail(from, "!! starts a tag, which needs a name")
			case tag == "!" && p.bun && flow && !p.spaceAt(p.i):
				p.fail(from, "! needs a blank after it")
			}
			if p.err == nil && q.tag != "" {
				p.fail(from, "two tags (!name) on one value")
			} else if p.err == nil {
				q.tag = p.s[from:p.i]
			}
		}
		if !p.spaceAt(p.i) && !(flow && isFlowMark(p.s[p.i])) && !(p.bun && p.at(',') && q.tag != "" && !strings.HasPrefix(q.tag, "!!")) {
			p.fail(p.i, "an anchor or a tag needs a blank after it")
		}
		p.blanks()
	}
	return q
}

// tagMarks are the characters of tags besides letters, digits and %XX.
const tagMarks = "-#;/?:@&=+$_.~*'()"

// skipTag skips a tag and checks its form.
func (p *parser) skipTag() {
	from := p.i
	p.i++
	if p.at('<') {
		end := strings.IndexByte(p.s[p.i:p.lineEnd(p.i)], '>')
		if end < 0 {
			p.fail(from, "!< starts a tag, and its > is missing")
			return
		}
		p.i += end + 1
		return
	}
	if p.at('!') {
		p.i++
	}
	for !p.spaceAt(p.i) && !isFlowMark(p.s[p.i]) {
		c := p.s[p.i]
		switch {
		case c == '!':
			p.fail(from, "!a!b names a tag handle that is not declared")
			return
		case c == '%' && hexValue(p.s, p.i+1, 2) >= 0:
			p.i += 3
			continue
		case c < 0x80 && !isAlnum(c) && strings.IndexByte(tagMarks, c) < 0, c == '%':
			p.fail(p.i, "! starts a tag, which cannot hold this character")
			return
		}
		p.i++
	}
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// join merges properties written on two lines.
func (p *parser) join(a, b props) props {
	if a.anchor != "" && b.anchor != "" || a.tag != "" && b.tag != "" {
		p.fail(b.at, "two anchors or two tags on one value")
	}
	if b.anchor != "" {
		a.anchor = b.anchor
	}
	if b.tag != "" {
		a.tag = b.tag
	}
	return a
}

// name gives a value its anchor.
func (p *parser) name(q props, v Value) Value {
	if q.anchor != "" {
		if p.anchors == nil {
			p.anchors = map[string]*anchor{}
		}
		p.anchors[q.anchor[1:]] = &anchor{val: v, weight: max(p.weight, 1), uses: 1}
	}
	return v
}

// empty is a node without content.
func (p *parser) empty(q props) Value {
	return p.name(q, p.emptyTagged(q.tag))
}

// enter counts a level of nesting and reports whether it may be used.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.fail(p.i, "nested too deeply")
	}
	return p.err == nil
}

// node parses a block node whose parent collection stands at column parent (-1
// for none). compact allows a collection to start on this line; mapValue allows
// a list at the parent's own column.
func (p *parser) node(parent int, compact, mapValue bool) Value {
	defer func(w, d int) { p.weight, p.depth = max(w, p.weight), d }(p.weight, p.depth)
	p.weight = 0
	if !p.enter() {
		return Value{}
	}
	var outer props
	asked := false // Bun 1.3 passes over "? " before a value
	for {
		from := p.i
		crossed := p.gap()
		compact = compact || crossed
		if p.dots() {
			p.endAt = p.i
		}
		if p.i >= len(p.s) || p.docEnd() {
			return p.empty(outer)
		}
		if n := p.indent(); p.starts() && (n < parent || n == parent && !(mapValue && p.dash())) {
			if !p.old || p.dash() || mapValue && !outer.any() && !asked {
				if !p.bun && mapValue && p.tabLines(from) {
					p.fail(from, "a line with only a tab after a key without a value")
				}
				return p.empty(outer)
			}
			if mapValue && n == parent {
				return p.borrow(parent, outer)
			}
			parent = n - 1 // an empty item takes what follows
		}
		at, tabbed := p.i, p.tabbed() || p.dashTab('-', '?', ':')
		if !p.bun && p.dashTab('-') && (p.at('&') || p.at('!')) {
			p.fail(at, "a tab before an anchor or a tag")
		}
		if p.old {
			tabbed = p.dash() && p.dashTab('-')
			for !compact && p.at('?') && p.spaceAt(p.i+1) {
				asked = true
				p.i++
				p.blanks()
			}
			if asked && (p.i >= len(p.s) || p.eol(p.i) > 0) {
				continue
			}
			if asked && p.dash() {
				return p.name(outer, p.blockSeq(p.i-p.line))
			}
		}
		q := p.properties(false)
		if q.any() && (p.i >= len(p.s) || p.eol(p.i) > 0 || p.at('#')) {
			outer = p.join(outer, q)
			continue
		}
		if p.err != nil {
			return Value{}
		}
		return p.content(parent, at, compact, tabbed, outer, q)
	}
}

// borrow is what Bun 1.3 makes of a value that is only an anchor or a tag: the
// next key, whose own value is then left with a null key.
func (p *parser) borrow(parent int, outer props) Value {
	q := p.join(outer, p.properties(false))
	if p.err != nil {
		return Value{}
	}
	t := p.token(parent, false)
	if t.key {
		p.colon = p.i
	}
	return p.name(q, p.resolve(t, q.tag))
}

// tabLines reports whether a blank line with a tab stands between from and i.
func (p *parser) tabLines(from int) bool {
	between := p.s[from:p.i]
	if strings.IndexByte(between, '\t') < 0 {
		return false
	}
	lines := strings.Split(between, "\n")
	for _, l := range lines[1 : len(lines)-1] {
		if strings.Contains(l, "\t") && strings.Trim(l, " \t\r") == "" {
			return true
		}
	}
	return false
}

// content parses what follows the properties of a block node that starts at
// offset at: outer stood on lines before, q on this line (and is the first
// key's, if a map starts here).
func (p *parser) content(parent, at int, compact, tabbed bool, outer, q props) Value {
	collection := func(otherwise string) bool {
		if !compact {
			p.fail(p.i, otherwise)
		} else if tabbed {
			p.fail(at, "a tab in the indentation")
		}
		return p.err == nil
	}
	switch c := p.s[p.i]; {
	case p.dash():
		if q.any() {
			p.fail(p.i, "a list cannot start after an anchor or a tag on its line")
		}
		if !collection("a value that starts with \"- \" is a list item") {
			return Value{}
		}
		return p.name(outer, p.blockSeq(p.column(p.i)))
	case (c == '?' || c == ':') && p.spaceAt(p.i+1):
		if !collection("a value cannot start with \"" + string(c) + " \"") {
			return Value{}
		}
		return p.name(outer, p.blockMap(at, nil))
	case c == '|' || c == '>':
		if p.old && p.i > 0 && p.s[p.i-1] == '\t' && !p.dashTab('-') {
			p.fail(p.i, "a tab before | or >")
		}
		q = p.join(outer, q)
		return p.name(q, p.resolve(p.blockScalar(parent), q.tag))
	}
	t := p.token(parent, false)
	if t.style == '*' && (q.any() || outer.any() && !t.key) {
		p.fail(at, "an alias (*name) with an anchor or a tag")
	}
	if !t.key {
		q = p.join(outer, q)
		return p.name(q, p.resolve(t, q.tag))
	}
	if !collection("\": \" inside a value without quotes") {
		return Value{}
	}
	k := p.name(q, p.resolve(t, q.tag))
	return p.name(outer, p.blockMap(at, &k))
}

// column is the column of i, tabs at the start of the line not counted.
func (p *parser) column(i int) int {
	if n := p.indent(); p.line+n < i && p.blankBefore(i) {
		return n
	}
	return i - p.line
}

// dash reports whether a list item starts at i.
func (p *parser) dash() bool { return p.at('-') && p.spaceAt(p.i+1) }

// blockSeq parses the items of a list at column.
func (p *parser) blockSeq(column int) Value {
	v := Value{Kind: List}
	for {
		p.i++
		v.Items = append(v.Items, p.node(column, true, false))
		if !p.more(column) || !p.dash() {
			return v
		}
	}
}

// more goes to the next content and reports whether it is a further entry of
// the collection at column. What belongs to no collection fails.
func (p *parser) more(column int) bool {
	p.gap()
	if p.i >= len(p.s) || p.docEnd() {
		return false
	}
	if p.i == p.colon {
		return true
	}
	n := p.indent()
	switch {
	case !p.starts():
		p.fail(p.i, "text after the end of the value")
	case n > column:
		p.fail(p.i, "indented deeper than the entries before")
	case n == column && p.tabbed() && !p.old:
		p.fail(p.i, "a tab in the indentation")
	}
	return n == column && p.err == nil
}

// blockMap parses a map whose first entry starts at offset at of this line; key
// is its first key if that is read already, up to its colon.
func (p *parser) blockMap(at int, key *Value) Value {
	m := mapBuilder{parser: p, root: p.depth == 1}
	column := p.column(at)
	for {
		var k, v Value
		explicit, colon := false, true
		if key != nil {
			k, key = *key, nil
		} else {
			k, explicit, colon = p.blockKey(column)
		}
		if colon {
			p.i++
			v = p.node(column, explicit, true)
		}
		m.add(k, v, at)
		if !p.more(column) {
			return m.value()
		}
		at = p.i
	}
}

// blockKey parses a key. explicit keys stand after "? ", or are missing before
// ": "; colon says that i is at the colon of the value.
func (p *parser) blockKey(column int) (k Value, explicit, colon bool) {
	switch {
	case p.dash():
		p.fail(p.i, "a list item among the keys")
		return Value{}, false, false
	case p.at('?') && p.spaceAt(p.i+1):
		p.i++
		if p.old { // Bun 1.3 reads "? key: value" as "key: value"
			p.blanks()
			if end := p.i; end < len(p.s) && p.eol(end) == 0 && !p.dash() && strings.IndexByte("|>&!", p.s[end]) < 0 {
				if t := p.token(column, false); t.key || p.err != nil {
					return p.resolve(t, ""), false, true
				}
				p.i = end
			}
		}
		k = p.node(column, true, true)
		colon = p.more(column) && p.at(':') && p.spaceAt(p.i+1)
		return k, true, colon
	}
	q := p.properties(false)
	if p.at(':') && p.spaceAt(p.i+1) {
		return p.empty(q), false, true
	}
	at := p.i
	t := p.token(column, false)
	if !t.key {
		p.fail(at, "a line without \"key: \"")
	}
	return p.name(q, p.resolve(t, q.tag)), false, t.key
}

// token is a scalar, an alias or a flow collection, before its tag is applied.
type token struct {
	Value
	style byte // ' for plain, " for quoted and block scalars, [ for collections, * for aliases
	key   bool // a colon follows: the token is a key
}

// token parses a scalar, an alias or a flow collection. In block context it is a
// key if it stands on one line with a colon and white space after it.
func (p *parser) token(parent int, flow bool) (t token) {
	if p.i >= len(p.s) {
		p.fail(p.i, "a value is missing")
		return t
	}
	line := p.line
	switch p.s[p.i] {
	case '"', '\'':
		t = token{Value: Value{Kind: String, Text: p.quoted(parent)}, style: '"'}
	case '[', '{':
		t = token{Value: p.flow(parent), style: '['}
	case '*':
		t = token{Value: p.alias(), style: '*'}
	default:
		t = token{Value: Value{Kind: String}, style: '\''}
		t.Text, t.key = p.plain(parent, flow)
		return t
	}
	if flow || p.err != nil || p.line != line {
		return t
	}
	end := p.i
	p.blanks()
	if p.at(':') && p.spaceAt(p.i+1) {
		t.key = true
		return t
	}
	p.i = end
	return t
}

// alias parses *name.
func (p *parser) alias() Value {
	at := p.i
	for p.i++; !p.spaceAt(p.i) && !isFlowMark(p.s[p.i]); p.i++ {
	}
	a := p.anchors[p.s[at+1:p.i]]
	if a == nil {
		p.fail(at, "* starts an alias, and no anchor &"+clip(p.s[at+1:p.i])+" stands before it")
		return Value{}
	}
	a.uses++
	w := a.uses * a.weight
	if w > maxAliases && !p.bun {
		p.fail(at, "too many aliases")
	}
	p.weight = max(p.weight, w)
	return a.val
}

// clip shortens a piece of the text for a message.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// mapBuilder collects the entries of a map.
type mapBuilder struct {
	*parser
	root bool // the outermost map: the places of its keys are kept
	keys []string
	vals []Value
	seen map[string]bool // unique: kinds and names of the keys so far
	have map[string]bool // the keys so far, once something was merged
}

func (m *mapBuilder) add(k, v Value, at int) {
	name := m.keyText(k)
	if m.unique && k.Kind < List {
		id := string('0'+byte(k.Kind)) + name
		if m.seen[id] {
			m.fail(at, "the key "+clip(name)+" stands twice")
			return
		}
		if m.seen == nil {
			m.seen = map[string]bool{}
		}
		m.seen[id] = true
	}
	if m.bun && name == "<<" && m.merge(v, at) {
		return
	}
	m.put(name, v, at)
}

func (m *mapBuilder) put(name string, v Value, at int) {
	if m.keys == nil {
		m.keys, m.vals = make([]string, 0, usualKeys), make([]Value, 0, usualKeys)
	}
	m.keys = append(m.keys, name)
	m.vals = append(m.vals, v)
	if m.have != nil {
		m.have[name] = true
	}
	if m.root {
		m.rootAt = append(m.rootAt, at)
	}
}

// usualKeys is how many keys most maps have at most.
const usualKeys = 4

// merge adds the entries of a map, or of a list of maps, whose keys are new.
func (m *mapBuilder) merge(v Value, at int) bool {
	from := []Value{v}
	if v.Kind == List {
		from = v.Items
	}
	for _, f := range from {
		if f.Kind != Map {
			return false
		}
	}
	if m.have == nil {
		m.have = map[string]bool{}
		for _, k := range m.keys {
			m.have[k] = true
		}
	}
	for _, f := range from {
		if m.merged += len(f.Keys); m.merged > maxMerged {
			m.fail(at, "too many merged keys")
			return true
		}
		for i, k := range f.Keys {
			if !m.have[k] {
				m.put(k, f.Vals[i], at)
			}
		}
	}
	return true
}

func (m *mapBuilder) value() Value {
	return Value{Kind: Map, Keys: m.keys, Vals: m.vals}
}

// keyText is the property name that a key becomes.
func (p *parser) keyText(k Value) string {
	if k.Kind == Null && p.bun {
		return "null"
	}
	return k.JS()
}
