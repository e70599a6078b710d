package body

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// partKind says how a piece of a shell word was written.
type partKind uint16

const (
	partPlain    partKind = 1 << iota // as it stands
	partSingle                        // 'text'
	partDouble                        // "text"
	partEscaped                       // \c
	partVariable                      // $x, ${x}, $1, $?
	partCommand                       // $(…) or `…`
	partMath                          // $((…))
	partANSI                          // $'…'
	partDollar                        // a lone $
	partOpen                          // a quote or $( that is never closed, with all that follows
)

const (
	partQuoted    = partSingle | partDouble
	partExpansion = partVariable | partCommand | partMath | partANSI | partDollar
)

// part is a piece of a word: as typed, and as it reads once quotes are removed.
type part struct {
	kind  partKind
	typed string
	value string
}

// shellWord is one word of the argument text.
type shellWord struct {
	parts []part
	kinds partKind // all kinds of its parts
	typed string
}

// value is the word without quotes and backslashes; expansions stay as typed.
func (w shellWord) value() string {
	var b strings.Builder
	for _, p := range w.parts {
		b.WriteString(p.value)
	}
	return b.String()
}

// alone reports whether the word is a single part of one of the kinds.
func (w shellWord) alone(kinds partKind) bool { return len(w.parts) == 1 && w.kinds&kinds != 0 }

// splitter splits one argument text. Its methods take and return indexes in s.
type splitter struct {
	s         string
	rules     Words
	lastBrace int // of the last } of s: none need be looked for behind it
}

// word reads the shell word that starts at i and returns the index behind it. A
// word ends at white space, a newline, an operator, or a backslash before a
// newline.
func (p *splitter) word(i int) (shellWord, int) {
	s, start := p.s, i
	var w shellWord
	add := func(kind partKind, end int, value string) {
		if n := len(w.parts); kind == partPlain && n > 0 && w.parts[n-1].kind == partPlain {
			last := &w.parts[n-1]
			last.typed = s[i-len(last.typed) : end]
			last.value = last.typed
		} else {
			w.parts = append(w.parts, part{kind, s[i:end], value})
		}
		w.kinds |= kind
		i = end
	}
	// expansion adds a part whose value is what was typed; an end below zero means
	// that it is never closed.
	expansion := func(kind partKind, end int) {
		if end < 0 {
			kind, end = partOpen, len(s)
		}
		add(kind, end, s[i:end])
	}
scan:
	for i < len(s) {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n', ';', '&', '|', '<', '>', '(', ')':
			break scan
		case '\\':
			if at(s, i+1) == '\n' {
				break scan
			}
			if i+1 == len(s) { // the last backslash is dropped
				w.typed = s[start:i]
				return w, i + 1
			}
			_, size := utf8.DecodeRuneInString(s[i+1:])
			add(partEscaped, i+1+size, s[i+1:i+1+size])
		case '\'':
			if n := strings.IndexByte(s[i+1:], '\''); n >= 0 {
				add(partSingle, i+n+2, s[i+1:i+1+n])
			} else {
				expansion(partOpen, -1)
			}
		case '"':
			if end := closingDouble(s, i+1); end >= 0 {
				add(partDouble, end+1, s[i+1:end])
			} else {
				expansion(partOpen, -1)
			}
		case '`':
			end := len(s)
			if n := strings.IndexByte(s[i+1:], '`'); n >= 0 {
				end = i + n + 2
			}
			expansion(partCommand, end)
		case '$':
			switch next := at(s, i+1); {
			case next == '"':
				add(partPlain, i+1, "$")
			case next == '\'' && strings.IndexByte(s[i+2:], '\'') >= 0:
				expansion(partANSI, i+3+strings.IndexByte(s[i+2:], '\''))
			case next == '(':
				kind := partCommand
				if at(s, i+2) == '(' {
					kind = partMath
				}
				expansion(kind, closingParen(s, i+1))
			case next == '{' && p.lastBrace > i:
				expansion(partVariable, i+strings.IndexByte(s[i:], '}')+1)
			case next == '{':
				add(partPlain, i+2, "${")
			default:
				if n := variableName(s[i+1:]); n > 0 {
					expansion(partVariable, i+1+n)
				} else {
					add(partDollar, i+1, "$")
				}
			}
		default:
			add(partPlain, i+1, s[i:i+1])
		}
	}
	w.typed = s[start:i]
	return w, i
}

// closingDouble is the index of the quote that closes a double-quoted text whose
// content starts at i, or -1. A $(…) inside may hold quotes of its own.
func closingDouble(s string, i int) int {
	for i < len(s) && s[i] != '"' {
		switch {
		case s[i] == '$' && at(s, i+1) == '(':
			if i = closingParen(s, i+1); i < 0 {
				return -1
			}
		case s[i] == '\\':
			i += 2
		default:
			i++
		}
	}
	if i >= len(s) {
		return -1
	}
	return i
}

// closingParen is the index behind the parenthesis that closes the one at s[i],
// or -1.
func closingParen(s string, i int) int {
	depth, quote := 0, byte(0)
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// variableName is the length of the parameter name at the start of s: a name,
// digits, or one special character; 0 if there is none.
func variableName(s string) int {
	switch c := at(s, 0); {
	case isDigit(c):
		n := 1
		for isDigit(at(s, n)) {
			n++
		}
		return n
	case isWord(c):
		return identifier(s)
	case c != 0 && strings.IndexByte("!?#*@$-", c) >= 0:
		return 1
	}
	return 0
}

// identifier is the length of the identifier at the start of s, 0 if there is
// none. Letters and digits of all scripts count behind the first character.
func identifier(s string) int {
	if c := at(s, 0); !isWord(c) || isDigit(c) {
		return 0
	}
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			return i
		}
	}
	return len(s)
}

// isBlank in regular expressions: what a class of white space holds, such a
// class, and its opposite.
const (
	blanks = `\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`
	blank  = `[` + blanks + `]`
	solid  = `[^` + blanks + `]`
)

// The constructs around words, taken as loosely as the client takes them. They
// are tried only where their first character fits: a failed try costs time in
// proportion to all the text behind it.
var (
	bracketed   = regexp.MustCompile(`^\[[^` + blanks + `\]]*\][^` + blanks + `(]`)
	testCommand = regexp.MustCompile(`^\[ .*?\](?:` + blank + `|$)`)
	loopBody    = regexp.MustCompile(`[;\n]` + blank + `*do` + blank)
	caseBranch  = regexp.MustCompile(`^case` + blank + `+` + solid + `+` + blank + `+in` + blank + `+[^)]*\)`)
	assignment  = regexp.MustCompile(`^(?:\[[^\]]*\])?\+?=`)                                                                                    // behind the name
	function    = regexp.MustCompile(`^(?:\(` + blank + `*\)` + blank + `*\{*|` + blank + `+\(` + blank + `*\)` + blank + `*\{)` + blank + `*`) // behind the name
)

// isDeclaration names the commands whose arguments are assignments, not words.
func isDeclaration(name string) bool {
	switch name {
	case "export", "declare", "typeset", "local", "readonly":
		return true
	}
	return false
}

// commandWords are the words of the first simple command; none if there is no
// command.
func (p *splitter) commandWords() []string {
	var outer []string // the name of the function that is being defined
	i := 0
	for {
		if i = p.commandStart(i); i < 0 {
			return outer
		}
		if p.s[i] == '(' { // a subshell
			i++
			continue
		}
		first, end := p.word(i)
		if len(first.parts) == 0 {
			return outer
		}
		if p.rules.Backticks && first.kinds == partCommand && p.s[i] == '`' {
			inner := strings.FieldsFunc(strings.Trim(first.parts[0].typed, "`"), isBlank)
			switch {
			case len(inner) == 0:
				return outer
			case len(inner) == 1 && len(first.parts) == 1 && skipBlanks(p.s, end) < len(p.s):
				// The closing backtick is taken for one that opens and is never closed
				// (subst, recorded alike at 2.1.140, 2.1.260 and 2.1.332).
				return []string{p.s[i+1:]}
			}
			return inner[:1]
		}
		if at(p.s, skipBlanks(p.s, end)) == '(' {
			if m := function.FindString(p.s[end:]); m != "" {
				outer = []string{first.typed}
				i = end + len(m)
				continue
			}
		}
		name := firstWord(first, p.rules)
		if first.kinds&partOpen != 0 || isDeclaration(first.typed) {
			return []string{name}
		}
		return p.arguments([]string{name}, end)
	}
}

// commandStart skips from i what stands before a command: blanks, operators,
// keywords, assignments, redirections. It returns the index of the command's
// first character or of a parenthesis that opens a subshell, or -1 if there is
// no command.
func (p *splitter) commandStart(i int) int {
	for s := p.s; ; {
		for i < len(s) && strings.IndexByte(" \t\r\n;&|)", s[i]) >= 0 {
			i++
		}
		if i >= len(s) || s[i] == '#' {
			return -1
		}
		switch next := at(s, i+1); s[i] {
		case '(':
			return i
		case '!':
			if next == ' ' || next == '\t' {
				i++
				continue
			}
		case '{':
			if next == ' ' || next == '\n' {
				i++
				continue
			}
		case '[':
			end := p.test(i)
			if end <= i {
				return end
			}
			i = end
			continue
		}
		switch word := keyword(s[i:]); word {
		case "if", "while", "until", "then", "do", "else", "elif", "fi", "done", "esac":
			i += len(word)
			continue
		case "for", "select":
			loc := loopBody.FindStringIndex(s[i:])
			if loc == nil {
				return -1
			}
			i += loc[1]
			continue
		case "case":
			loc := caseBranch.FindStringIndex(s[i:])
			if loc == nil {
				return -1
			}
			i += loc[1]
			continue
		case "function", "unset", "unsetenv":
			return -1
		}
		if end := i + identifier(s[i:]); end > i && end < len(s) && strings.IndexByte("[+=", s[end]) >= 0 {
			if m := assignment.FindString(s[end:]); m != "" {
				i = p.assigned(end + len(m))
				continue
			}
		}
		n := redirection(s[i:])
		if n == 0 {
			return i
		}
		_, end := p.word(i + n)
		if end == i+n {
			return -1
		}
		i = end
	}
}

// keyword is the word of letters at the start of s, if it ends there.
func keyword(s string) string {
	n := 0
	for c := at(s, n) | 0x20; 'a' <= c && c <= 'z'; c = at(s, n) | 0x20 {
		n++
	}
	if n < len(s) && s[n] != ';' && skipBlanks(s, n) == n {
		return ""
	}
	return s[:n]
}

// redirection is the length of the redirection operator at the start of s with
// the number before it and the blanks behind it, 0 if there is none.
func redirection(s string) int {
	n := digits(s)
	for _, operator := range []string{"<<<", "<<-", "<<", "<&", ">&", ">>", ">|", "<>", "<", ">"} {
		if strings.HasPrefix(s[n:], operator) {
			n += len(operator)
			for at(s, n) == ' ' || at(s, n) == '\t' {
				n++
			}
			return n
		}
	}
	return 0
}

// assigned is the index behind the assigned value that starts at i.
func (p *splitter) assigned(i int) int {
	if at(p.s, i) == '(' {
		if end := closingParen(p.s, i); end >= 0 {
			return end
		}
		return len(p.s)
	}
	_, end := p.word(i)
	return end
}

// test is the index behind the test, or what is taken for one, that starts with
// the bracket at i: i itself if the bracket starts a command's name, -1 if no
// command can follow.
func (p *splitter) test(i int) int {
	rest, double := p.s[i:], strings.HasPrefix(p.s[i:], "[[")
	spaced := len(rest) == 1 || rest[1] == ' '
	if p.rules.BracketWord && !spaced {
		word := 1
		if double { // the word behind the brackets goes too
			word = skipBlanks(rest, 2)
		}
		return i + skipBlanks(rest, skipWord(rest, word))
	}
	if m := testCommand.FindString(rest); m != "" {
		return i + strings.LastIndexByte(m, ']') + 1
	}
	if spaced || bracketed.MatchString(rest) {
		return i
	}
	last := strings.LastIndexByte(rest, ']')
	switch {
	case last < 0 || last+1 == len(rest):
		return -1
	case double:
		return i + last // that bracket is the command
	}
	return i + last + 1
}

// firstWord is the command's name as it counts for $0.
func firstWord(w shellWord, rules Words) string {
	quoted := w.alone(partQuoted)
	switch {
	case quoted:
		return w.parts[0].value
	case w.kinds&partExpansion != 0, strings.HasPrefix(w.typed, "{"):
		return w.typed
	case rules.FirstPlain:
		return w.value()
	case w.parts[0].kind == partPlain && w.parts[0].typed == "$" && len(w.parts) > 1:
		return w.typed
	}
	name := w.typed
	if n := len(name); n > 1 && (name[0] == '"' || name[0] == '\'') && name[n-1] == name[0] {
		name = name[1 : n-1]
	}
	return name
}

// arguments appends the words of the command that follow its name, from i to the
// end of the command.
func (p *splitter) arguments(words []string, i int) []string {
	for s := p.s; i < len(s); {
		switch c, next := s[i], at(s, i+1); {
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case c == '\\' && (next == '\n' || next == ' ' && p.rules.BackslashBlank):
			i += 2
			continue
		case strings.IndexByte("\n;&|)#", c) >= 0:
			return words
		case c == '(':
			if i = closingParen(s, i); i < 0 {
				return words
			}
			continue
		}
		if strings.HasPrefix(s[i:], "<<<") {
			_, i = p.word(i + redirection(s[i:]))
			continue
		}
		if redirection(s[i:]) > 0 {
			return words
		}
		var w shellWord
		w, i = p.word(i)
		switch {
		case w.typed == "=" && at(s, i) == '>', w.kinds&partCommand != 0:
			return words
		case w.alone(partExpansion):
		case w.alone(partQuoted):
			words = append(words, w.parts[0].value)
		case p.rules.KeepBackslashes && w.kinds&partEscaped != 0 && w.kinds&partQuoted == 0:
			words = append(words, w.typed)
		default:
			words = append(words, w.value())
		}
	}
	return words
}
