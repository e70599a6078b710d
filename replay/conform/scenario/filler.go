package scenario

import (
	"strings"

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

// minFiller is how many letters filler has at least: the shortest filled text of
// the recordings is longer, and a shorter one may be a text of the scenario.
const minFiller = 8

// Same reports whether a recorded text is the predicted one. Both are WTF-8.
//
// Filler was put in line by line: a line, or the rest of one behind ": ", ". ",
// or ")", has each ASCII letter and digit replaced by x (Letters). Everything
// else must be equal, in particular a line with any other letter or digit to the
// right of a difference. A text that states a base directory is a skill's own and
// holds no filler. With Words a line, or what follows the name of a listing
// entry, need only have the same length in UTF-16 code units.
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
	if len(p) != len(r) {
		return false
	}
	real := -1 // the last letter or digit that is no filler
	for i := range len(r) {
		if alnum(r[i]) && r[i] != 'x' {
			real = i
		}
	}
	letters := 0
	for i := range len(r) {
		if i > real && r[i] == 'x' {
			letters++
		}
		if p[i] != r[i] && (i <= real || r[i] != 'x' || !alnum(p[i])) {
			return false
		}
	}
	if letters < minFiller {
		return false
	}
	return real < 0 || r[real+1] == ':' || r[real+1] == '.' || r[real+1] == ')'
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
