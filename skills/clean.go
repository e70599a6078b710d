package skills

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// plainText reports whether a text is printable ASCII without < and >, as most are: Clean
// leaves it as it is.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '<' || c == '>' {
			return false
		}
	}
	return true
}

// Clean makes a description harmless the way clients from 2.1.300 do: escape
// sequences of terminals are removed; emoji of Unicode's RGI list are kept
// whole, and everywhere else each run of control and format characters, line
// and paragraph separators and variation selectors becomes one blank; then <
// and > become entities. Recorded for 2.1.304 to 2.1.332; s is WTF-8, and a lone
// surrogate passes.
func Clean(s string) string {
	if plainText(s) {
		return s
	}
	s = dropEscapes(s)
	if !strings.ContainsFunc(s, func(r rune) bool { return removed(r) || r == '<' || r == '>' }) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	inRun := false
	for i := 0; i < len(s); {
		if n := emoji(s[i:]); n > 0 {
			b.WriteString(s[i : i+n])
			i += n
			inRun = false
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case removed(r):
			if !inRun {
				b.WriteByte(' ')
			}
			inRun = true
			i += size
			continue
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		default:
			b.WriteString(s[i : i+size])
		}
		inRun = false
		i += size
	}
	return b.String()
}

// removed reports whether r may not stand in a cleaned text outside an emoji.
func removed(r rune) bool {
	if r < 0x7F {
		return r < 0x20
	}
	return r < 0xA0 || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r >= '\uFE00' && r <= '\uFE0F'
}

// dropEscapes removes ESC [ … final and ESC @ to ESC _ (without ESC [ alone).
func dropEscapes(s string) string {
	i := strings.IndexByte(s, 0x1B)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(s, 0x1B) {
		n := escapeLen(s[i:])
		if n == 0 {
			b.WriteString(s[:i+1])
			s = s[i+1:]
			continue
		}
		b.WriteString(s[:i])
		s = s[i+n:]
	}
	b.WriteString(s)
	return b.String()
}

// escapeLen is the length of the escape sequence at the start of s, or 0.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 0
	}
	if s[1] != '[' {
		if s[1] >= '@' && s[1] <= '_' {
			return 2
		}
		return 0
	}
	i := 2
	for i < len(s) && s[i] >= '0' && s[i] <= '?' {
		i++
	}
	for i < len(s) && s[i] >= ' ' && s[i] <= '/' {
		i++
	}
	if i < len(s) && s[i] >= '@' && s[i] <= '~' {
		return i + 1
	}
	return 0
}

// second reports whether r can be the second character of a sequence of rgi.go.
func second(r rune) bool {
	return r == '\u200D' || r == '\uFE0F' || r >= toneFirst && r <= toneLast || r >= 0xE0020 && r <= 0xE007F
}

const (
	toneFirst = '\U0001F3FB'
	toneLast  = '\U0001F3FF'
)

// rgi maps a sequence, with U+1F3FB for every skin tone, to whether its tones
// must differ.
var rgi = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool, 700)
	for _, s := range strings.Fields(rgiFree) {
		m[s] = false
	}
	for _, s := range strings.Fields(rgiUnequal) {
		m[s] = true
	}
	return m
})

// maxEmoji is the number of code points of the longest sequence of the list: a
// kiss of two people with their skin tones.
const maxEmoji = 10

// emoji returns the length in bytes of the longest sequence of the RGI list at
// the start of s that holds something Clean would remove, or 0. Shorter emoji
// need no protection.
func emoji(s string) int {
	if s == "" || s[0] < 0x80 && s[0] != '#' && s[0] != '*' && (s[0] < '0' || s[0] > '9') {
		return 0
	}
	// The candidate runs as far as characters that occur inside sequences do;
	// key is the candidate with its tones replaced.
	var key [maxEmoji * utf8.UTFMax]byte
	var ends, keyEnds [maxEmoji]int
	var tones [2]rune
	n, at, k, seen := 0, 0, 0, 0
	special := false
	for n < maxEmoji && at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if n > 0 && r < 0x200D || r == utf8.RuneError || n == 1 && !second(r) {
			break
		}
		special = special || removed(r)
		if r >= toneFirst && r <= toneLast {
			if seen < len(tones) {
				tones[seen] = r
			}
			seen++
			r = toneFirst
		}
		at += size
		k += utf8.EncodeRune(key[k:], r)
		ends[n], keyEnds[n] = at, k
		n++
	}
	if !special {
		return 0
	}
	table := rgi()
	for i := n - 1; i > 0; i-- {
		if unequal, ok := table[string(key[:keyEnds[i]])]; ok && !(unequal && tones[0] == tones[1]) {
			return ends[i]
		}
	}
	return 0
}
