// Package budget is the arithmetic of skill texts: lengths and display widths,
// the listing budget and how it is trimmed, the reattachment budget, token
// estimates and prices. It reads nothing, keeps nothing and knows no log.
package budget

import (
	"strings"
	"unicode/utf8"
)

// Strings of the client are sequences of UTF-16 code units and may hold lone
// surrogates. They are kept as WTF-8: UTF-8 in which a lone surrogate stands as
// its three-byte form (ED A0..BF xx). Bytes that are neither count as one code
// unit each, which is what they are once the client has read them: U+FFFD.

// Len16 is the length of s in UTF-16 code units.
func Len16(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i, n = i+1, n+1
			continue
		}
		r, size := decodeWTF8(s[i:])
		i += size
		n += units(r)
	}
	return n
}

// Cut16 is the longest prefix of s of at most n UTF-16 code units. A pair cut in
// half leaves its high surrogate, as the client's own cut does (fuzz f063).
func Cut16(s string, n int) string {
	for i := 0; i < len(s); {
		if n <= 0 {
			return s[:i]
		}
		if s[i] < utf8.RuneSelf {
			i, n = i+1, n-1
			continue
		}
		r, size := decodeWTF8(s[i:])
		u := units(r)
		if u > n {
			high := 0xD800 + (r-0x10000)>>10
			return s[:i] + string([]byte{0xED, 0x80 | byte(high>>6)&0x3F, 0x80 | byte(high)&0x3F})
		}
		i, n = i+size, n-u
	}
	return s
}

// ReplaceLone replaces every lone surrogate of s by U+FFFD, which is what a
// request carries in its place.
func ReplaceLone(s string) string {
	if !HasLone(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if isLone(s[i:]) {
			b.WriteString("\uFFFD")
			i += 3
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// HasLone reports whether s holds a lone surrogate.
func HasLone(s string) bool {
	for {
		i := strings.IndexByte(s, 0xED)
		if i < 0 {
			return false
		}
		if isLone(s[i:]) {
			return true
		}
		s = s[i+1:]
	}
}

// isLone reports whether s begins with the three bytes of a lone surrogate.
func isLone(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80
}

// decodeWTF8 is the first code point of s and its length in bytes. A lone
// surrogate is returned as itself, any other invalid byte as U+FFFD of length 1.
func decodeWTF8(s string) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 && isLone(s) {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, size
}

// units is the number of UTF-16 code units of r.
func units(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}
