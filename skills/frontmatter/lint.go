package frontmatter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
)

// Finding is one thing about a file that its author probably did not mean, in
// plain words.
type Finding struct {
	Line int    // in the file, from 1
	Kind string // a stable word for tests and filters
	Key  string // of the field, if it is about one
	Text string
}

// The kinds of findings.
const (
	FindBOM        = "bom"          // a byte order mark stands before the block
	FindLeading    = "leading"      // a blank line or a comment stands above ---
	FindUnclosed   = "unclosed"     // the block is not closed
	FindCut        = "cut"          // --- inside a line ends the block
	FindInvalid    = "invalid"      // the block is lost
	FindContinued  = "continued"    // the block is lost: text goes on at column 0
	FindCRLF       = "crlf"         // the block is lost only because of CRLF line ends
	FindRequoted   = "requoted"     // no strict YAML; the client quotes it and reads on
	FindComment    = "comment"      // " #" cuts a value
	FindDropped    = "dropped"      // an anchor or a tag is dropped from a value
	FindIndicator  = "indicator"    // an old client takes > or | for the value
	FindIgnored    = "ignored"      // a form of value that the client does not read
	FindFlag       = "flag"         // a word that is no yes or no
	FindNotInForce = "not-in-force" // a flag in a block that is lost
	FindDuplicate  = "duplicate"    // a key stands twice
	FindUnknownKey = "unknown-key"  // a near miss of a key
)

// Lint says what a client of dialect d drops or changes, ordered by line.
func Lint(text string, d Dialect) []Finding {
	l := linter{d: d}
	start, end, _, problem := block(text, d)
	if start < 0 {
		l.missing(text, problem)
		return l.found
	}
	f, _ := Parse(text, d)
	l.first = 1 + strings.Count(text[:start], "\n")
	l.lines = strings.Split(text[start:end], "\n")
	after, _, _ := strings.Cut(text[end+len("---"):], "\n")
	if last := l.lines[len(l.lines)-1]; trim(last) != "" || trim(after) != "" {
		l.add(l.first+len(l.lines)-1, FindCut, "", "--- inside this line ends the front matter; what follows is body")
	}
	if strings.HasPrefix(text, bom) {
		l.add(1, FindBOM, "", "a byte order mark stands before ---: this client reads on, older ones see no front matter")
	}
	if f.Problem != "" {
		l.lost(f, text[start:end])
		l.flags()
	} else {
		l.kept(f)
	}
	slices.SortStableFunc(l.found, func(a, b Finding) int { return a.Line - b.Line })
	return l.found
}

type linter struct {
	d     Dialect
	first int // line of the first line of the block
	lines []string
	found []Finding
}

func (l *linter) add(line int, kind, key, text string) {
	l.found = append(l.found, Finding{line, kind, key, text})
}

// missing says why a file with what looks like a block has none.
func (l *linter) missing(text, problem string) {
	switch {
	case problem != "" && strings.HasPrefix(text, bom):
		l.add(1, FindBOM, "", problem)
		return
	case problem != "":
		l.add(1, FindUnclosed, "", problem)
		return
	}
	const most = 30 // lines; a block further down was not meant as front matter
	above, line := "", 0
	for s := range strings.SplitSeq(strings.TrimPrefix(text, bom), "\n") {
		line++
		t := trim(s)
		switch {
		case t == "---" && line > 1:
			l.add(line, FindLeading, "", above+" above --- hides the front matter: --- must be the first line")
			return
		case t == "" && above == "":
			above = "a blank line"
		case strings.HasPrefix(t, "#") || strings.HasPrefix(t, "<!--"):
			above = "a comment"
		case t != "" || line > most:
			return
		}
	}
}

// lost says why a block is not valid, with the usual causes first.
func (l *linter) lost(f Front, block string) {
	if strings.Contains(block, "\r\n") {
		again, _ := Parse("---\n"+strings.ReplaceAll(block, "\r\n", "\n")+"---\n", l.d)
		if again.Problem == "" {
			l.add(f.Line, FindCRLF, l.keyAt(f.Line), "all fields are lost: "+f.Problem+
				"; this client mends such a line only in files without CRLF line ends")
			return
		}
	}
	// A value that goes on at column 0 is one, or part of one, whose line has no colon.
	for line := f.Line; line <= f.Line+1; line++ {
		if i := line - l.first; i > 0 && i < len(l.lines) && !strings.Contains(l.lines[i], ":") {
			if t := trim(l.lines[i]); t != "" && t[0] != '#' && !isSpace(rune(l.lines[i][0])) {
				key := ""
				for j := line - 1; j >= l.first && key == ""; j-- {
					key = l.keyAt(j)
				}
				l.add(line, FindContinued, key, "all fields are lost: this line goes on with the value above, and is not indented")
				return
			}
		}
	}
	l.add(f.Line, FindInvalid, l.keyAt(f.Line), "all fields are lost: "+f.Problem)
}

// flags names the flags that a lost block would have set.
func (l *linter) flags() {
	for i := range l.lines {
		line := l.first + i
		if key := l.keyAt(line); key == "disable-model-invocation" && l.written(Field{Line: line}) != "" {
			l.add(line, FindNotInForce, key, key+" is not in force, as the fields are lost: the model can call the skill")
		}
	}
}

// keyAt is the key of a line that starts at column 0.
func (l *linter) keyAt(line int) string {
	i := line - l.first
	if i < 0 || i >= len(l.lines) {
		return ""
	}
	key, _, ok := strings.Cut(l.lines[i], ":")
	if !ok || key == "" || strings.ContainsAny(key[:1], " \t#-") {
		return ""
	}
	return trim(key)
}

// written is the text after the colon on the line of a field.
func (l *linter) written(f Field) string {
	i := f.Line - l.first
	if f.Line == 0 || i < 0 || i >= len(l.lines) {
		return ""
	}
	_, value, _ := strings.Cut(l.lines[i], ":")
	return trim(value)
}

// kept looks at the fields of a block that was read.
func (l *linter) kept(f Front) {
	if f.Requoted {
		block := strings.Join(l.lines, "\n")
		_, _, err := parseYAML(block, l.d.grammar())
		bad := -1
		if err != nil {
			bad = strings.Count(block[:min(err.at, len(block))], "\n")
		}
		for i, s := range l.lines {
			if key, _, ok := requotable(s, l.d); ok {
				why := "it is quoted along with the others"
				if i == bad {
					why = err.why
				}
				l.add(l.first+i, FindRequoted, key, "not strict YAML ("+why+")")
			}
		}
	}
	seen := map[string]bool{}
	for _, x := range f.Fields {
		if seen[x.Key] {
			l.add(x.Line, FindDuplicate, x.Key, x.Key+" stands twice; the last one counts")
		}
		seen[x.Key] = true
		l.value(f, x)
		l.form(x)
	}
}

// value compares a value with what is written.
func (l *linter) value(f Front, x Field) {
	w := l.written(x)
	if w == "" {
		return
	}
	if l.d.Parser == Naive {
		if w[0] == '>' || w[0] == '|' {
			text := fmt.Sprintf("this client takes %q for the whole value; the lines below are dropped", w)
			if n := l.meant(x.Key); n > 0 {
				text = fmt.Sprintf("this client takes %q for the whole value: %d of %d characters; the lines below are dropped", w, budget.Len16(x.Value.Text), n)
			}
			l.add(x.Line, FindIndicator, x.Key, text)
		}
		return
	}
	if f.Requoted && x.Value.Kind == String {
		return
	}
	switch w[0] {
	case '"', '\'', '>', '|', '[', '{':
		return
	case '#':
		l.add(x.Line, FindComment, x.Key, "# starts a comment, so the value is empty")
		return
	case '&', '!':
		word, _, _ := strings.Cut(w, " ")
		l.add(x.Line, FindDropped, x.Key, fmt.Sprintf("%q at the start is dropped: & starts an anchor and ! a tag", clip(word)))
	}
	if i := strings.Index(w, " #"); i >= 0 {
		l.add(x.Line, FindComment, x.Key, fmt.Sprintf("\" #\" starts a comment: %q is dropped", clip(trim(w[i:]))))
	}
}

// meant is the length of a text, in UTF-16 code units, as YAML has it; 0 if it is none.
func (l *linter) meant(key string) int {
	f, _ := Parse("---\n"+strings.Join(l.lines, "\n")+"---\n", Dialect{Parser: BunYAML, DuplicateKeys: DuplicatesLast})
	v, _ := f.Get(key)
	if v.Kind != String {
		return 0
	}
	return budget.Len16(trim(v.Text))
}

// nearMisses are keys that the client does not read, and what was meant.
var nearMisses = map[string]string{
	"when-to-use": "when_to_use", "whenToUse": "when_to_use", "allowed_tools": "allowed-tools", "allowedTools": "allowed-tools",
	"disable_model_invocation": "disable-model-invocation", "user_invocable": "user-invocable", "user-invokable": "user-invocable",
	"Name": "name", "Description": "description", "argument_hint": "argument-hint", "path": "paths",
}

// form looks at whether a client reads a value of this form.
func (l *linter) form(x Field) {
	if meant := nearMisses[x.Key]; meant != "" {
		l.add(x.Line, FindUnknownKey, x.Key, "the client does not read "+x.Key+", only "+meant)
	}
	many := x.Value.Kind == List || x.Value.Kind == Map
	switch x.Key {
	case "description":
		if many && l.d.ScalarOnly {
			l.add(x.Line, FindIgnored, x.Key, "a list or map is no description; the first line of the body is taken")
		}
	case "paths":
		if x.Value.Kind == List && !l.d.PathsList || x.Value.Kind == Map {
			l.add(x.Line, FindIgnored, x.Key, "this client reads paths only as one text with commas")
		}
	case "disable-model-invocation", "user-invocable":
		word := strings.ToLower(trim(x.Value.Text))
		if many || word != "true" && word != "false" && !(l.d.FlagWords && slices.Contains([]string{"yes", "on", "1", "no", "off", "0"}, word)) {
			l.add(x.Line, FindFlag, x.Key, fmt.Sprintf("%q is no true or false for this client and counts as false", clip(x.Value.JS())))
		}
	}
}
