package report

import (
	"strings"
	"unicode"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// WordDiff shows the words that two texts differ in, on one line of safe text:
//
//	Deploys the shop [-to staging-]{+when asked to release+}.
//
// Texts are compared up to 4,000 words each.
func WordDiff(before, after string) string {
	if before == after {
		return ""
	}
	// Each word becomes one character, so that words are never compared in part.
	index := map[string]rune{}
	var words []string
	encode := func(text string) []rune {
		var out []rune
		for _, w := range splitWords(escapeExact(text)) {
			r, ok := index[w]
			if !ok {
				r = rune(len(words) + 1)
				if r >= 0xd800 {
					r += 0x800 // no surrogates
				}
				index[w] = r
				words = append(words, w)
			}
			out = append(out, r)
		}
		return out
	}
	a, b := encode(before), encode(after)
	word := func(r rune) string {
		if r > 0xdfff {
			r -= 0x800
		}
		return words[r-1]
	}
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0 // a deadline would make the result depend on the machine
	var out strings.Builder
	for _, d := range dmp.DiffCleanupMerge(dmp.DiffMainRunes(a, b, false)) {
		var text strings.Builder
		for _, r := range d.Text {
			text.WriteString(word(r))
		}
		switch d.Type {
		case diffmatchpatch.DiffDelete:
			out.WriteString("[-" + text.String() + "-]")
		case diffmatchpatch.DiffInsert:
			out.WriteString("{+" + text.String() + "+}")
		default:
			out.WriteString(text.String())
		}
	}
	return out.String()
}

// maxWords bounds what is compared: the time is the product of both lengths.
const maxWords = 4000

// splitWords are the words of a text and the blanks and signs between them; together
// they are the text, up to maxWords of them.
func splitWords(text string) []string {
	var out []string
	start, in := 0, false
	for i, r := range text {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		if i > start && !(letter && in) {
			out = append(out, text[start:i])
			start = i
			if len(out) == maxWords {
				return append(out, "…")
			}
		}
		in = letter && r < 0x2e80 // scripts without blanks are compared by characters
	}
	return append(out, text[start:])
}
