package body

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SplitWords splits an argument text into the words that $0, $ARGUMENTS[n] and
// named arguments stand for. Words are counted from zero.
//
// The rules were fitted to 258 argument texts given to 11 client versions, of
// which they gave 2,643 of 2,646 results (rules words.* of docs/rules.md); since then
// only the rule for a first word in backticks was widened, after a recording.
// They are those of no published parser: what a shell rejects, the client still
// splits, so the grammar is loose on purpose and never fails.
func SplitWords(args string, w Words) []string {
	var words []string
	if w.Blanks {
		return strings.FieldsFunc(args, isBlank)
	}
	if w.Bash {
		words = (&splitter{args, w, strings.LastIndexByte(args, '}')}).commandWords()
		if len(words) == 0 {
			words = strings.FieldsFunc(args, isBlank)
		}
	} else {
		words = quotedWords(args)
	}
	if w.TrailingEmptyDropped {
		for len(words) > 0 && words[len(words)-1] == "" {
			words = words[:len(words)-1]
		}
	}
	if w.EscapeBang {
		for i, word := range words {
			words[i] = escapeBang(word)
		}
	}
	return words
}

// escapeBang defuses what would be an inline command in a text: a ! at the start or
// behind white space, and one before a backtick.
func escapeBang(s string) string {
	var b strings.Builder
	free := true // at the start or behind white space
	for i, r := range s {
		if r == '!' && free {
			b.WriteByte('\\')
		}
		free = isBlank(r)
		_, size := utf8.DecodeRuneInString(s[i:])
		b.WriteString(s[i : i+size])
		if r == '!' && at(s, i+1) == '`' {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// isBlank is JavaScript's \s.
func isBlank(r rune) bool { return r == '\uFEFF' || r != '\u0085' && unicode.IsSpace(r) }

// skipBlanks is the first index of s from i that holds no white space.
func skipBlanks(s string, i int) int { return len(s) - len(strings.TrimLeftFunc(s[i:], isBlank)) }

// skipWord is the first index of s from i that holds white space.
func skipWord(s string, i int) int {
	if j := strings.IndexFunc(s[i:], isBlank); j >= 0 {
		return i + j
	}
	return len(s)
}

// isWord is [A-Za-z0-9_], JavaScript's \w.
func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// at is the byte of s at i, or 0 behind its end.
func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// quotedWords is the splitting before commands were parsed: shell words in which
// operators are separators, # ends the text, patterns are dropped and ${x} reads
// $x.
func quotedWords(s string) []string {
	var words []string
	var word strings.Builder
	open := false // word holds a word, maybe an empty one
	flush := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	add := func(text string) {
		word.WriteString(text)
		open = true
	}
	lastBrace := strings.LastIndexByte(s, '}')
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case strings.IndexByte(" \t\n\r|&;()<>", c) >= 0:
			flush()
			i++
		case c == '#':
			flush()
			return words
		case c == '$' && at(s, i+1) == '{' && lastBrace > i:
			end := i + strings.IndexByte(s[i:], '}')
			add("$" + s[i+2:end])
			i = end + 1
		case c == '*' || c == '?':
			word.Reset()
			open = false
			for i < len(s) && strings.IndexByte(" \t\n", s[i]) < 0 {
				i++
			}
		case c == '\\' && i+1 < len(s):
			add(s[i+1 : i+2])
			i += 2
		case c == '\'' || c == '"':
			text, end := unquote(s, i+1, c)
			if end < 0 { // a quote that is never closed only ends the word
				flush()
				i++
				break
			}
			add(text)
			i = end
		default:
			add(s[i : i+1])
			i++
		}
	}
	flush()
	return words
}

// unquote reads a quoted text from s[i] and returns it with the index behind the
// closing quote, -1 if there is none. Between double quotes a backslash escapes
// a quote, a backslash, a dollar and a backtick.
func unquote(s string, i int, quote byte) (string, int) {
	var b strings.Builder
	for ; i < len(s) && s[i] != quote; i++ {
		if quote == '"' && s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	if i >= len(s) {
		return "", -1
	}
	return b.String(), i + 1
}
