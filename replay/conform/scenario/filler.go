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
// Filler was put in line by line. With Letters a line is equal, or it is what the
// predicted line becomes when every ASCII letter and digit, in the whole line or
// behind one of the beginnings that were kept (see keptUntil), becomes x: an x
// between other letters is just an x. A text that states a base directory is a
// skill's own and holds no filler. With Words a line, or what follows the name of
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
	if len(p) != len(r) {
		return partly(p, r)
	}
	if filled(p, r) {
		return true
	}
	// A short line without a blank is an identifier, and was mostly kept: also the
	// last line of a text that is cut, when the prediction knows only the filler
	// (recorded: "T…" in fuzz/028 at 2.1.129).
	if len(p) <= maxIdentifier && !strings.ContainsAny(strings.TrimSpace(p), " \t") {
		return filled(r, p) || partly(p, r)
	}
	// The source behind a description was kept: "(user)", "(project, gitignored)".
	if k := strings.LastIndex(p, " ("); k > 0 && p[k:] == r[k:] && filled(p[:k], r[:k]) {
		return true
	}
	k := keptUntil(p)
	return k > 0 && p[:k] == r[:k] && filled(p[k:], r[k:]) || partly(p, r)
}

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

// Limits of the filler, in characters.
const (
	maxIdentifier = 80  // the longest line without a blank that was kept
	longMessage   = 200 // a refusal over it was kept up to its first sentence only
)

// keptUntil is the length of the beginning of a line that is kept where the rest
// is filler: the name of a listing entry, the first sentence of a long refusal,
// or the start of a remark; 0 if there is none.
func keptUntil(line string) int {
	for _, remark := range []string{
		"This session is being continued from a previous conversation that ran out of context.",
		"The following skills were invoked EARLIER in this session (before the conversation was compacted)",
	} {
		if strings.HasPrefix(line, remark) {
			return len(remark)
		}
	}
	trimmed := strings.TrimPrefix(line, "<tool_use_error>")
	if budget.Len16(line) > longMessage {
		for _, start := range []string{"Skill", "Unknown", "Error", "InputValidation"} {
			if !strings.HasPrefix(trimmed, start) {
				continue
			}
			for i := range len(line) - 1 {
				if (line[i] == '.' || line[i] == ':') && line[i+1] == ' ' {
					return i + 1
				}
			}
		}
	}
	return entryName(line)
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
