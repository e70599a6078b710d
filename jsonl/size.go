package jsonl

import "encoding/binary"

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
}

// Measure is the size of a text in WTF-8.
func Measure(s string) Size { return measure([]byte(s)) }

func measure(b []byte) (z Size) {
	var c counter
	i := 0
	for ; i+8 <= len(b); i += 8 {
		c.add8(binary.LittleEndian.Uint64(b[i:]))
	}
	for ; i < len(b); i++ {
		c.add(lanes[b[i]])
	}
	c.flush(&z)
	return z
}

// counter counts bytes by class. The counts of a run are summed in one word, ten
// bits a class, because six counters in memory cost four times as much. A byte
// adds at most two, so that the word holds what 511 bytes add.
type counter struct {
	sum uint64
	n   int  // bytes in sum
	z   Size // what was moved out of sum
}

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

// add8 counts eight bytes.
func (c *counter) add8(x uint64) {
	c.sum += lanes[byte(x)] + lanes[byte(x>>8)] + lanes[byte(x>>16)] + lanes[byte(x>>24)] +
		lanes[byte(x>>32)] + lanes[byte(x>>40)] + lanes[byte(x>>48)] + lanes[byte(x>>56)]
	if c.n += 8; c.n > laneRun-8 {
		c.spill()
	}
}

func (c *counter) add(lane uint64) {
	c.sum += lane
	if c.n++; c.n > laneRun-8 {
		c.spill()
	}
}

// spill moves the counts out of the word.
func (c *counter) spill() {
	c.z.Letters += int(c.sum >> laneLetters & laneMask)
	c.z.Digits += int(c.sum >> laneDigits & laneMask)
	c.z.Blanks += int(c.sum >> laneBlanks & laneMask)
	c.z.Punct += int(c.sum >> lanePunct & laneMask)
	c.z.CJK += int(c.sum >> laneCJK & laneMask)
	c.z.Other += int(c.sum >> laneOther & laneMask)
	c.sum, c.n = 0, 0
}

// flush adds all that was counted to z.
func (c *counter) flush(z *Size) {
	c.spill()
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
