package scenario

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skilltrace/skilltrace/budget"
)

// Filler is what stands in a recording for text of the client's vendor.
type Filler uint8

// The kinds of filler.
const (
	None    Filler = iota
	Letters        // each ASCII letter or digit is an x
	Words          // neutral words of the same length
)

// Same reports whether a recorded text is the predicted one. Both are WTF-8.
//
// Filler was put in line by line. With Letters a line is equal, or the recorded one
// has an x where the predicted one has an ASCII letter or digit, and あ where that
// has another letter. A text that states a base directory is a skill's own and holds
// no filler. With Words a line, or what follows the name of
// a listing entry, need only have the same length in UTF-16 code units.
func Same(predicted, recorded string, f Filler) bool {
	if predicted == recorded {
		return true
	}
	const base = "Base directory for this skill: "
	if f == None || strings.HasPrefix(recorded, base) || strings.HasPrefix(predicted, base) {
		return false
	}
	for {
		p, pRest, pMore := strings.Cut(predicted, "\n")
		r, rRest, rMore := strings.Cut(recorded, "\n")
		if pMore != rMore || p != r && !sameLine(p, r, f) {
			return false
		}
		if !pMore {
			return true
		}
		predicted, recorded = pRest, rRest
	}
}

func sameLine(p, r string, f Filler) bool {
	if f == Words {
		// The words are in lower case, and a name is never filler.
		same := 0
		for same < min(len(p), len(r)) && p[same] == r[same] {
			same++
		}
		if same < entryName(r) || budget.Len16(p) != budget.Len16(r) {
			return false
		}
		return !strings.ContainsFunc(r[same:], func(c rune) bool { return c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' })
	}
	if partly(p, r) {
		return true
	}
	// A short line without a blank is an identifier, and was mostly kept: also the
	// last line of a text that is cut, when the prediction knows only the filler
	// (recorded: "T…" in fuzz/028 at 2.1.129).
	return len(p) == len(r) && len(p) <= maxIdentifier && !strings.ContainsAny(strings.TrimSpace(p), " \t") && filled(r, p)
}

// maxIdentifier is the longest line without a blank that was kept, in bytes.
const maxIdentifier = 80

// partly reports whether r is p with filler in some places: an x for an ASCII letter
// or digit, あ for another letter (recorded: listing/whitespace at 2.0.30).
func partly(p, r string) bool {
	a, b := []rune(p), []rune(r)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		switch {
		case a[i] == b[i]:
		case b[i] == 'x' && a[i] < utf8.RuneSelf && alnum(byte(a[i])):
		case b[i] == 'あ' && a[i] >= utf8.RuneSelf && unicode.IsLetter(a[i]):
		default:
			return false
		}
	}
	return true
}

// filled reports whether r is p with all its ASCII letters and digits made x.
func filled(p, r string) bool {
	for i := range len(p) {
		c := p[i]
		if alnum(c) {
			c = 'x'
		}
		if r[i] != c {
			return false
		}
	}
	return true
}

// entryName is the length of the "- NAME: " that a listing entry starts with.
func entryName(line string) int {
	if !strings.HasPrefix(line, "- ") {
		return 0
	}
	for i := 2; i+1 < len(line); i++ {
		if line[i] == ':' && line[i+1] == ' ' {
			return i + 2
		}
	}
	return len(line)
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
