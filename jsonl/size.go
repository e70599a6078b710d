package jsonl

import (
	"encoding/binary"
	"math/bits"
)

// Size measures a text that need not be kept: how many UTF-16 code units of it
// fall into each class. The classes are those by which tokenizers differ most;
// the sum is the length that the client counts.
type Size struct {
	Letters int // ASCII letters
	Digits  int // ASCII digits
	Blanks  int // space, tab, line feed, carriage return
	Punct   int // the rest of ASCII
	CJK     int // U+3000 to U+D7FF: kana, ideographs, Hangul
	Other   int // everything else; two units for a character beyond U+FFFF

	Words int // runs of ASCII letters: no class, but by these tokens go
}

// Len16 is the length of the text in UTF-16 code units.
func (z Size) Len16() int {
	return z.Letters + z.Digits + z.Blanks + z.Punct + z.CJK + z.Other
}

// Add adds o to z.
func (z *Size) Add(o Size) {
	z.Letters += o.Letters
	z.Digits += o.Digits
	z.Blanks += o.Blanks
	z.Punct += o.Punct
	z.CJK += o.CJK
	z.Other += o.Other
	z.Words += o.Words
}

// Sub takes o, which is part of z, from z.
func (z *Size) Sub(o Size) {
	z.Letters = max(z.Letters-o.Letters, 0)
	z.Digits = max(z.Digits-o.Digits, 0)
	z.Blanks = max(z.Blanks-o.Blanks, 0)
	z.Punct = max(z.Punct-o.Punct, 0)
	z.CJK = max(z.CJK-o.CJK, 0)
	z.Other = max(z.Other-o.Other, 0)
	z.Words = max(z.Words-o.Words, 0)
}

// Measure is the size of a text in WTF-8.
func Measure(s string) Size { return measure([]byte(s)) }

func measure(b []byte) (z Size) {
	var c counter
	i := 0
	for ; i+8 <= len(b); i += 8 {
		c.word(binary.LittleEndian.Uint64(b[i:]))
	}
	for ; i < len(b); i++ {
		c.add(lanes[b[i]])
	}
	c.flush(&z)
	return z
}

// counter counts characters by class. Plain text, which is nearly all there is,
// is classified eight bytes at a time, and counted in the bytes of three words. The
// rest is counted one by one, in a word that holds the counts of all classes: six
// counters in memory cost four times as much.
type counter struct {
	letters, digits, spaces uint64
	words                   int // counted in these, at most maxWords
	plain                   int // bytes of plain text: punctuation is what they leave

	sum uint64 // laneBits for each class
	n   int    // bytes in sum

	runs   int    // of letters
	inWord uint64 // 0x80 where the last character was a letter, else 0

	z Size // what was moved out of all these
}

// maxWords is how far a byte counts.
const maxWords = 255

// A byte adds at most two to a lane, so that the word holds what 511 bytes add.
const (
	laneBits = 10
	laneMask = 1<<laneBits - 1
	laneRun  = laneMask / 2
)

const (
	laneLetters = iota * laneBits
	laneDigits
	laneBlanks
	lanePunct
	laneCJK
	laneOther
)

// lanes holds what each byte adds. A character counts at its first byte.
var lanes = func() (t [256]uint64) {
	for c := range t {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			t[c] = 1 << laneLetters
		case c >= '0' && c <= '9':
			t[c] = 1 << laneDigits
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			t[c] = 1 << laneBlanks
		case c < 0x80:
			t[c] = 1 << lanePunct
		case c < 0xC0: // continuation byte
		case c >= 0xE3 && c <= 0xED:
			t[c] = 1 << laneCJK
		case c < 0xF0:
			t[c] = 1 << laneOther
		default:
			t[c] = 2 << laneOther
		}
	}
	return t
}()

// The classes of the bytes of a word of plain text, which lies between the space
// and DEL: the high bit of each byte that belongs is set, other bits may be. Adding
// what a limit lacks to 0x80 sets the high bit of the bytes at or above it.
func lettersOf(x uint64) uint64 {
	x |= ' ' * lowBits
	return (x + (0x80-'a')*lowBits) &^ (x + (0x7F-'z')*lowBits)
}

func digitsOf(x uint64) uint64 {
	return (x + (0x80-'0')*lowBits) &^ (x + (0x7F-'9')*lowBits)
}

// startsOf are the letters of a word that follow no letter; inWord is whether its
// first byte does.
func startsOf(letters, inWord uint64) uint64 { return letters &^ (letters<<8 | inWord) }

func spacesOf(x uint64) uint64 { return ^(x + (0x7F-' ')*lowBits) }

// odd is not 0 where one of the bytes of x under the mask is no plain text.
func odd(x, mask uint64) uint64 { return (x | (x - ' '*lowBits)) & highBits & mask }

// text counts b from i on up to a quote or backslash, or to less than eight bytes
// before the end, and returns how far it came.
func (c *counter) text(b []byte, i int) int {
	letters, digits, spaces, words := c.letters, c.digits, c.spaces, c.words
	runs, inWord := c.runs, c.inWord
	plain := i // where plain text would begin if all before were odd
	for i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		end := stops(x)
		n := 8
		if end != 0 {
			n = bits.TrailingZeros64(end) / 8
		}
		mask := end&-end>>7 - 1 // the bytes before the end
		i += n
		if odd(x, mask) != 0 {
			l := lettersOf(x&^highBits) & mask & highBits &^ x
			runs += bits.OnesCount64(startsOf(l, inWord))
			if n > 0 {
				inWord = l >> (8*n - 8)
			}
			c.bytes(x, n)
			plain += n
		} else {
			mask &= highBits
			l := lettersOf(x) & mask
			runs += bits.OnesCount64(startsOf(l, inWord))
			if n > 0 {
				inWord = l >> (8*n - 8)
			}
			letters += l >> 7
			digits += digitsOf(x) & mask >> 7
			spaces += spacesOf(x) & mask >> 7
			if words++; words == maxWords {
				c.letters, c.digits, c.spaces = letters, digits, spaces
				c.spill()
				letters, digits, spaces, words = 0, 0, 0, 0
			}
		}
		if end != 0 {
			break
		}
	}
	c.letters, c.digits, c.spaces, c.words = letters, digits, spaces, words
	c.runs, c.inWord = runs, inWord
	c.plain += i - plain
	return i
}

// word counts eight bytes, whatever they are.
func (c *counter) word(x uint64) {
	if odd(x, highBits) != 0 {
		l := lettersOf(x&^highBits) & highBits &^ x
		c.runs += bits.OnesCount64(startsOf(l, c.inWord))
		c.inWord = l >> 56
		c.bytes(x, 8)
		return
	}
	l := lettersOf(x) & highBits
	c.runs += bits.OnesCount64(startsOf(l, c.inWord))
	c.inWord = l >> 56
	c.letters += l >> 7
	c.digits += digitsOf(x) & highBits >> 7
	c.spaces += spacesOf(x) & highBits >> 7
	c.plain += 8
	if c.words++; c.words == maxWords {
		c.spill()
	}
}

// bytes counts the first n bytes of x one by one.
func (c *counter) bytes(x uint64, n int) {
	for range n {
		c.sum += lanes[byte(x)]
		x >>= 8
	}
	if c.n += n; c.n > laneRun-8 {
		c.spillSum()
	}
}

func (c *counter) add(lane uint64) {
	if lane != 1<<laneLetters {
		c.inWord = 0
	} else if c.inWord == 0 {
		c.runs++
		c.inWord = 0x80
	}
	c.sum += lane
	if c.n++; c.n > laneRun-8 {
		c.spillSum()
	}
}

// spill moves the counts of plain words out of the words that hold them.
func (c *counter) spill() {
	l, d, s := across(c.letters), across(c.digits), across(c.spaces)
	c.z.Letters += l
	c.z.Digits += d
	c.z.Blanks += s
	c.z.Punct -= l + d + s // of all plain text
	c.letters, c.digits, c.spaces, c.words = 0, 0, 0, 0
}

func (c *counter) spillSum() {
	c.z.Letters += int(c.sum >> laneLetters & laneMask)
	c.z.Digits += int(c.sum >> laneDigits & laneMask)
	c.z.Blanks += int(c.sum >> laneBlanks & laneMask)
	c.z.Punct += int(c.sum >> lanePunct & laneMask)
	c.z.CJK += int(c.sum >> laneCJK & laneMask)
	c.z.Other += int(c.sum >> laneOther & laneMask)
	c.sum, c.n = 0, 0
}

// across is the sum of the bytes of x.
func across(x uint64) int {
	const pairs = 0x00FF00FF00FF00FF
	x = x&pairs + x>>8&pairs
	return int(x * 0x0001000100010001 >> 48)
}

// flush adds all that was counted to z.
func (c *counter) flush(z *Size) {
	c.spill()
	c.spillSum()
	c.z.Punct += c.plain
	c.z.Words = c.runs
	z.Add(c.z)
}

// addUnit counts one UTF-16 code unit.
func (c *counter) addUnit(u rune) {
	switch {
	case u < 0x80:
		c.add(lanes[u])
	case u >= 0x3000 && u <= 0xD7FF:
		c.add(1 << laneCJK)
	default:
		c.add(1 << laneOther)
	}
}

// escaped is the byte that the second byte of a two-byte escape stands for, or 0
// where there is no such escape.
var escaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}
