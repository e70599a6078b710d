package body

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// escaped stands for a dollar that must not be replaced, until all placeholders
// are. No text in WTF-8 holds this byte.
const escaped = "\xFF"

// A placeholder finds what stands for the dollar at text[i]: the value and the
// index behind the placeholder, or 0 if there is none.
type placeholder func(text string, i int) (value string, end int)

// Replace is a text with the placeholders of its arguments replaced, as one invocation
// sends it: without the arguments that [Render] appends where nothing took them, and
// without variables and inline commands. A text that would be longer than [MaxBytes]
// stays as it is.
func Replace(text string, names []string, call Call, opt Options) string {
	args := call.Args
	if !call.Typed && !opt.ToolArgs {
		args = ""
	}
	if args == "" && !opt.EmptyArgs {
		return text
	}
	r := renderer{opt: opt}
	out, _, _ := r.replaced(text, args, names)
	if r.tooLong {
		return text
	}
	return strings.ReplaceAll(out, escaped, "$")
}

// arguments replaces the placeholders of text by args and their words. If
// nothing was replaced, args are appended.
func (r *renderer) arguments(text, args string, names []string) string {
	text, args, replaced := r.replaced(text, args, names)
	if !replaced && args != "" {
		text += "\n\nARGUMENTS: " + args
		if r.opt.AppendNewline {
			text += "\n"
		}
	}
	if len(text) > MaxBytes {
		r.tooLong = true
	}
	return strings.ReplaceAll(text, escaped, "$")
}

// replaced is the text with its placeholders replaced, with the marks of escaped ones
// still in it, the arguments as they are inserted, and whether there was any.
func (r *renderer) replaced(text, args string, names []string) (string, string, bool) {
	text = strings.ReplaceAll(text, escaped, "\uFFFD")
	args = strings.ReplaceAll(args, escaped, "\uFFFD")
	words := SplitWords(args, r.opt.Words)
	if r.opt.EscapeBang {
		args = escapeBang(args)
	}
	if !r.opt.Named {
		names = nil
	}
	a := newArgumentSet(r.opt, args, words, names)
	if r.opt.Escape {
		text = a.protect(text)
	}
	replaced := false
	if r.opt.OnePass {
		text = r.expand(text, func(text string, i int) (string, int) {
			value, end := a.any(text, i)
			replaced = replaced || end > 0
			return value, end
		})
	} else {
		before := text
		for _, step := range a.steps() {
			text = r.expand(text, step)
		}
		replaced = text != before
	}
	return text, args, replaced
}

// expand replaces each placeholder that find knows, from left to right. Values
// are not looked at again.
func (r *renderer) expand(text string, find placeholder) string {
	var b strings.Builder
	done := 0 // text before it is in b
	for i := 0; !r.tooLong; {
		n := strings.IndexByte(text[i:], '$')
		if n < 0 {
			break
		}
		i += n
		value, end := find(text, i)
		if end == 0 {
			i++
			continue
		}
		if b.Len()+i-done+len(value) > MaxBytes {
			r.tooLong = true
			break
		}
		b.WriteString(text[done:i])
		b.WriteString(value)
		i, done = end, end
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// argumentSet is what the placeholders of one invocation stand for.
type argumentSet struct {
	opt   Options
	args  string
	words []string
	names []string
	// longest holds the indexes of the names, longer names first.
	longest []int
}

func newArgumentSet(opt Options, args string, words, names []string) *argumentSet {
	if len(names) > maxNames {
		names = names[:maxNames]
	}
	a := &argumentSet{opt: opt, args: args, words: words, names: names}
	for n := range names {
		a.longest = append(a.longest, n)
	}
	slices.SortStableFunc(a.longest, func(m, n int) int { return cmp.Compare(len(names[n]), len(names[m])) })
	return a
}

// protect marks the dollars of escaped placeholders and drops their backslashes.
// A backslash behind another one escapes nothing.
func (a *argumentSet) protect(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; ; {
		n := strings.Index(text[i:], `\$`)
		if n < 0 {
			break
		}
		i += n
		if (i == 0 || text[i-1] != '\\') && a.escapable(text, i+1) {
			b.WriteString(text[done:i] + escaped)
			done = i + 2
		}
		i += 2
	}
	return b.String() + text[done:]
}

// escapable reports whether the dollar at text[i] can be escaped: before any
// digit, before ARGUMENTS, before a name.
func (a *argumentSet) escapable(text string, i int) bool {
	if isDigit(at(text, i+1)) || strings.HasPrefix(text[i+1:], "ARGUMENTS") {
		return true
	}
	return slices.ContainsFunc(a.names, func(name string) bool { return named(text, i, name) > 0 })
}

// word is the n-th word, from zero.
func (a *argumentSet) word(n int) (string, bool) {
	if n < len(a.words) {
		return a.words[n], true
	}
	return "", false
}

// steps are the placeholders as the clients before OnePass replace them, kind by
// kind, so that a value can hold a placeholder of a later kind.
func (a *argumentSet) steps() []placeholder {
	var steps []placeholder
	for k := range a.names {
		n := k
		if a.opt.NamedLongest {
			n = a.longest[k]
		}
		steps = append(steps, func(text string, i int) (string, int) {
			end := named(text, i, a.names[n])
			value, _ := a.word(n)
			return value, end
		})
	}
	if a.opt.Braced {
		steps = append(steps, a.braced)
	}
	if a.opt.Positional {
		if !a.opt.PlainNumbers {
			steps = append(steps, a.subscript)
		}
		steps = append(steps, a.number)
	}
	return append(steps, a.all)
}

// any is all placeholders in one. Of two names that fit, the longer wins.
func (a *argumentSet) any(text string, i int) (string, int) {
	for _, n := range a.longest {
		if end := named(text, i, a.names[n]); end > 0 {
			value, _ := a.word(n)
			return value, end
		}
	}
	finds := []placeholder{a.number, a.all}
	if !a.opt.PlainNumbers {
		finds = []placeholder{a.subscript, a.number, a.all}
	}
	if a.opt.Braced {
		finds = append(finds, a.braced)
	}
	for _, find := range finds {
		if value, end := find(text, i); end > 0 {
			return value, end
		}
	}
	return "", 0
}

// named is the index behind $name at text[i], which no bracket and no word
// character may follow.
func named(text string, i int, name string) int {
	if name == "" || !strings.HasPrefix(text[i+1:], name) {
		return 0
	}
	end := i + 1 + len(name)
	if c := at(text, end); c == '[' || isWord(c) {
		return 0
	}
	return end
}

// subscript finds $ARGUMENTS[n].
func (a *argumentSet) subscript(text string, i int) (string, int) {
	rest, ok := strings.CutPrefix(text[i+1:], "ARGUMENTS[")
	if !ok {
		return "", 0
	}
	n := digits(rest)
	if n == 0 || at(rest, n) != ']' {
		return "", 0
	}
	return a.numbered(rest[:n], len(text)-len(rest)+n+1)
}

// number finds $n, which no word character may follow.
func (a *argumentSet) number(text string, i int) (string, int) {
	n := digits(text[i+1:])
	if end := i + 1 + n; n > 0 && !isWord(at(text, end)) {
		return a.numbered(text[i+1:end], end)
	}
	return "", 0
}

// braced finds ${n}, which counts from one.
func (a *argumentSet) braced(text string, i int) (string, int) {
	rest, ok := strings.CutPrefix(text[i+1:], "{")
	if !ok {
		return "", 0
	}
	n := digits(rest)
	if n == 0 || at(rest, n) != '}' {
		return "", 0
	}
	end := len(text) - len(rest) + n + 1
	if number, err := strconv.Atoi(rest[:n]); err == nil && number > 0 {
		value, _ := a.word(number - 1)
		return value, end
	}
	return "", end
}

// numbered is the word of a written number. A missing one is empty or, in newer
// versions, no placeholder.
func (a *argumentSet) numbered(number string, end int) (string, int) {
	if n, err := strconv.Atoi(number); err == nil {
		if word, ok := a.word(n); ok {
			return word, end
		}
	}
	if a.opt.MissingKept {
		return "", 0
	}
	return "", end
}

// all finds $ARGUMENTS.
func (a *argumentSet) all(text string, i int) (string, int) {
	if !strings.HasPrefix(text[i+1:], "ARGUMENTS") {
		return "", 0
	}
	end := i + 1 + len("ARGUMENTS")
	if a.opt.MissingKept && at(text, end) == '[' && isDigit(at(text, end+1)) {
		return "", 0
	}
	if a.opt.LiteralArgs {
		return a.args, end
	}
	return replacement(a.args, text, i, end), end
}

// replacement is value as JavaScript's replace inserts it for text[i:end]: $$ is
// a dollar, $& the placeholder, $` the text before it, $' the text behind it.
func replacement(value, text string, i, end int) string {
	var b strings.Builder
	for b.Len() <= MaxBytes {
		n := strings.IndexByte(value, '$')
		if n < 0 {
			break
		}
		b.WriteString(value[:n])
		value = value[n:]
		insert, size := "$", 2
		switch at(value, 1) {
		case '$':
		case '&':
			insert = text[i:end]
		case '`':
			insert = text[:i]
		case '\'':
			insert = text[end:]
		default:
			size = 1
		}
		b.WriteString(insert)
		value = value[size:]
	}
	return b.String() + value
}

// digits is the number of digits at the start of s.
func digits(s string) int {
	n := 0
	for isDigit(at(s, n)) {
		n++
	}
	return n
}
