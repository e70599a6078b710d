package budget

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Width is the size of s in unit u: UTF-16 code units, or columns of display
// width. An unknown unit counts UTF-16 code units.
func Width(u Unit, s string) int {
	switch u {
	case UnitGrapheme:
		if n, ok := asciiWidth(s); ok {
			return n
		}
		return graphemeWidth(s)
	case UnitBun:
		if n, ok := asciiWidth(s); ok {
			return n
		}
		return bunWidth(s)
	}
	return Len16(s)
}

// CutWidth is the longest prefix of s of at most n in unit u. In the two display
// units only whole grapheme clusters are kept; a cluster of width 0 at the cut
// stays.
func CutWidth(u Unit, s string, n int) string {
	if u != UnitGrapheme && u != UnitBun {
		return Cut16(s, n)
	}
	used := 0
	for i := 0; i < len(s); {
		end, w := i+1, 0
		if s[i] < utf8.RuneSelf && (end == len(s) || s[end] < utf8.RuneSelf) {
			w = asciiCharWidth(s[i]) // ASCII after ASCII begins a cluster
		} else if end = i + nextCluster(s[i:]); u == UnitBun {
			w = Width(u, s[i:end])
		} else {
			w = oneGraphemeWidth(s[i:end])
		}
		if used+w > n {
			return s[:i]
		}
		used += w
		i = end
	}
	return s
}

// asciiWidth is the display width of s if it is ASCII without escape sequences:
// printable characters count 1, controls 0.
func asciiWidth(s string) (int, bool) {
	n, width := asciiRun(s)
	return width, n == len(s)
}

// asciiRun is how many bytes at the front of s are ASCII and no ESC, and their display
// width. Eight printable ones are told at once: listings are made of them.
func asciiRun(s string) (n, width int) {
	const each = 0x0101010101010101
	for n+8 <= len(s) {
		b := s[n : n+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		control := (w - 0x20*each) & ^w // a byte below 0x20, where none is above 0x7F
		del := w ^ 0x7F*each
		if (w|control | (del-each) & ^del)&(0x80*each) != 0 {
			break
		}
		n, width = n+8, width+8
	}
	for ; n < len(s); n++ {
		c := s[n]
		if c >= utf8.RuneSelf || c == 0x1B {
			break
		}
		width += asciiCharWidth(c)
	}
	return n, width
}

func asciiCharWidth(c byte) int {
	if c < ' ' || c == 0x7F {
		return 0
	}
	return 1
}

// graphemeWidth is the display width that the clients 2.1.88 to 2.1.112 count:
// the sum over grapheme clusters, each as wide as its first code point says.
// An ESC counts 0 like any control, the rest of an escape sequence counts: no
// recording has one in a listing of those clients.
func graphemeWidth(s string) int {
	n := 0
	for len(s) > 0 {
		end := nextCluster(s)
		n += oneGraphemeWidth(s[:end])
		s = s[end:]
	}
	return n
}

// oneGraphemeWidth is the width of one grapheme cluster: emoji and East Asian
// wide 2, marks, formats and controls 0, all else 1. That U+200E and U+200F count
// 1 and keycaps 2 was recorded (fuzz f059, f008).
func oneGraphemeWidth(g string) int {
	r, size := decodeWTF8(g)
	if size == len(g) && (r == 0x200E || r == 0x200F) {
		return 1
	}
	if r < utf8.RuneSelf && size == len(g) {
		return asciiCharWidth(g[0])
	}
	if strings.Contains(g[size:], keycap) {
		return 2
	}
	p := propertyOf(r)
	switch {
	case p.class() == classRegionalIndicator:
		return 2
	case p.isPictographic() && strings.HasPrefix(g[size:], "\uFE0F"):
		return 2
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc, unicode.Cs):
		return 0
	case p.width() == 2:
		return 2
	}
	return 1
}

const keycap = "\u20E3"

// bunWidth is Bun.stringWidth(s): escape sequences and lone surrogates count
// nothing and do not end a cluster; the rest is summed by cluster.
//
// Measured on Bun 1.4.5: testdata/bunwidth.txt, and 800,000 random strings more. Which
// Bun is in which client is not known. Bun 1.3 differs on combining marks outside the
// common blocks, on Hangul vowels and finals, on bidirectional controls and on what
// Unicode 16 made wide. Of those, the recorded listings from 2.1.113 on hold only
// U+202E and U+2066 (listing whitespace, far below its budget), which does not tell
// the two apart; so one unit stands for both.
func bunWidth(s string) int {
	var (
		total   int
		cluster bunCluster
	)
	borders := breaker{bun: true}
	for i := 0; i < len(s); {
		// ASCII before ASCII is a cluster of its own: the quick way. What follows the last
		// of a run may join it, also behind an escape sequence.
		if n, width := asciiRun(s[i:]); n > 1 || n > 0 && i+n == len(s) {
			if i+n < len(s) {
				n--
				width -= asciiCharWidth(s[i+n])
			}
			total += cluster.width() + width
			cluster, borders = bunCluster{}, breaker{bun: true}
			i += n
			continue
		}
		r, size := decodeWTF8(s[i:])
		if isEscape(r) {
			i += escapeLen(s[i:])
			continue
		}
		i += size
		if isSurrogate(r) {
			continue
		}
		p := propertyOf(r)
		if borders.breaksBefore(p.class()) || standsAlone(r) {
			total += cluster.width()
			cluster = bunCluster{}
		}
		cluster.add(r, p)
	}
	return total + cluster.width()
}

// bunCluster is what Bun takes into account of one grapheme cluster.
type bunCluster struct {
	count                          int
	first                          property
	firstRune                      rune
	sum                            int
	keycap, regional, skin, joiner bool
	text, emoji                    bool // variation selectors U+FE0E and U+FE0F
}

func (c *bunCluster) add(r rune, p property) {
	if c.count == 0 {
		c.first, c.firstRune = p, r
	}
	c.count++
	c.sum = min(c.sum+p.width(), bunClusterMax)
	switch {
	case r == 0x20E3:
		c.keycap = true
	case r == 0x200D:
		c.joiner = true
	case r == 0xFE0E:
		c.text = c.text || c.count > 1
	case r == 0xFE0F:
		c.emoji = c.emoji || c.count > 1
	case p.class() == classModifier:
		c.skin = true
	case p.class() == classRegionalIndicator:
		c.regional = true
	}
}

// bunClusterMax is the width at which Bun's sum over one cluster stops growing.
const bunClusterMax = 1023

func (c *bunCluster) width() int {
	switch {
	case c.regional && c.count > 1, c.keycap:
		return 2
	case c.first.emoji() && (c.skin || c.joiner):
		return 2
	case c.emoji && (c.first.emoji() || c.firstRune == '©' || c.firstRune == '®'):
		return 2
	case c.emoji || c.text:
		return c.first.width()
	}
	return c.sum
}

// standsAlone reports whether Bun's fast path takes r, which holds it for a cluster
// of its own even after a prepended mark or a Hangul initial.
func standsAlone(r rune) bool {
	switch {
	case r < 0x80:
		return true
	case r < 0x300:
		return r >= 0xA0 && r != '©' && r != 0xAD && r != '®'
	}
	return r >= 0x0370 && r <= 0x0482 || r >= 0x048A && r <= 0x052F ||
		r >= 0x3041 && r <= 0x3096 || r >= 0x309B && r <= 0x30FF ||
		r >= 0x3400 && r <= 0x4DBF || r >= 0x4E00 && r <= 0x9FFF ||
		r >= 0xAC00 && r <= 0xD7A3 || r >= 0xFF01 && r <= 0xFF60
}

// isEscape reports whether r begins an escape sequence: ESC or one of the 8-bit
// introducers (CSI, OSC, DCS, SOS, PM, APC).
func isEscape(r rune) bool {
	switch r {
	case 0x1B, 0x90, 0x98, 0x9B, 0x9D, 0x9E, 0x9F:
		return true
	}
	return false
}

func isSurrogate(r rune) bool { return r >= 0xD800 && r <= 0xDFFF }

// escapeLen is the length in bytes of the escape sequences that s begins with,
// by the grammar of ECMA-48 as terminals follow it: an ESC inside a sequence
// begins a new one, CAN, SUB and ST end any.
func escapeLen(s string) int {
	const (
		ground = iota
		escape
		charset // ESC and an intermediate byte: one more character
		csi
		osc     // ended by BEL or ST
		control // ended by ST only
	)
	state := ground
	for i := 0; i < len(s); {
		r, size := decodeWTF8(s[i:])
		switch {
		case r == 0x1B:
			state = escape
		case state == ground:
			switch r {
			case 0x9B:
				state = csi
			case 0x9D:
				state = osc
			case 0x90, 0x98, 0x9E, 0x9F:
				state = control
			default:
				return i
			}
		case r == 0x18 || r == 0x1A || r == 0x9C:
			state = ground
		case state == escape:
			switch {
			case r == '[':
				state = csi
			case r == ']':
				state = osc
			case r == 'P' || r == 'X' || r == '^' || r == '_':
				state = control
			case r >= 0x20 && r <= 0x2F:
				state = charset
			case r < 0x20 || r > 0x7E: // nothing that ESC introduces: it stands alone
				state = ground
				continue
			default:
				state = ground
			}
		case state == charset:
			state = ground
		case state == csi:
			if r >= 0x40 && r <= 0x7E {
				state = ground
			}
		case state == osc && r == 0x07:
			state = ground
		}
		i += size
	}
	return len(s)
}
