package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks in a row are shown as they are. Scripts
// in use stack up to four or five; towers of them cover the lines above.
const maxMarks = 8

// Escape makes a text of a log safe to show: one line of valid UTF-8 without
// anything that moves the cursor, changes the terminal or reorders the text.
// Control characters, escape sequences, bidirectional controls, invisible format
// characters, line and paragraph separators, bytes that are not UTF-8 and lone
// surrogates (in WTF-8) become visible escapes: \n, \x1b, \u202e, \xff, \ud83d.
// A backslash stays as it is, so the result is for reading, not for parsing.
func Escape(s string) string { return escape(s, false) }

// escapeExact is Escape with backslashes doubled: two different texts never have
// the same escaped form.
func escapeExact(s string) string { return escape(s, true) }

func escape(s string, exact bool) string {
	if isPlain(s, exact) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	marks := 0
	for i := 0; i < len(s); {
		if c := s[i]; c >= 0x20 && c < 0x7f && (c != '\\' || !exact) {
			b.WriteByte(c) // as most are
			marks = 0
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			if u, ok := loneSurrogate(s[i:]); ok {
				fmt.Fprintf(&b, `\u%04x`, u)
				i += 3
			} else {
				fmt.Fprintf(&b, `\x%02x`, s[i])
				i++
			}
			continue
		}
		i += size
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == '\\' && exact:
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case !unsafe(r) && marks <= maxMarks:
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII that needs no escape.
func isPlain(s string, exact bool) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f || exact && s[i] == '\\' {
			return false
		}
	}
	return true
}

// unsafe reports whether a character must not reach a terminal as it is. The two
// joiners are left: words of several scripts, and emoji, are made with them.
func unsafe(r rune) bool {
	switch r {
	case 0x200c, 0x200d:
		return false
	case 0xfffe, 0xffff:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

// loneSurrogate reads the three-byte form of a surrogate at the start of s.
func loneSurrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}
