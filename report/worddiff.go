package report

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// maxWords bounds what is compared of each text, words and what stands between them, from
// the first difference on: the time is the product of both lengths.
const maxWords = 2000

// WordDiff shows the words that two texts differ in, on one line of safe text:
//
//	Deploys the shop [-to staging-]{+when asked to release+}.
//
// From the first difference on 1,000 words are compared; "…" takes the place of the rest
// up to where both end alike.
func WordDiff(before, after string) string {
	if before == after {
		return ""
	}
	return writePieces(wordPieces(before, after), unpainted)
}

// writePieces puts pieces on a line, those of one text only in brackets.
func writePieces(pieces []piece, paint func(diffmatchpatch.Operation, string) string) string {
	var out strings.Builder
	for _, p := range pieces {
		text := p.text
		switch p.op {
		case diffmatchpatch.DiffDelete:
			text = "[-" + text + "-]"
		case diffmatchpatch.DiffInsert:
			text = "{+" + text + "+}"
		}
		out.WriteString(paint(p.op, text))
	}
	return out.String()
}

func unpainted(_ diffmatchpatch.Operation, text string) string { return text }

// wordPieces compares two texts word by word.
func wordPieces(before, after string) []piece {
	a, b := splitWords(escapeExact(before)), splitWords(escapeExact(after))
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA--
		endB--
	}
	midA, midB := clipWords(a[start:endA]), clipWords(b[start:endB])
	// Each word becomes one character, so that words are never compared in part.
	index := map[string]rune{}
	var words []string
	encode := func(list []string) []rune {
		out := make([]rune, len(list))
		for i, w := range list {
			r, ok := index[w]
			if !ok {
				r = rune(len(words) + 1)
				index[w] = r
				words = append(words, w)
			}
			out[i] = r
		}
		return out
	}
	decode := func(text string) []string {
		var out []string
		for _, r := range text {
			out = append(out, words[r-1])
		}
		return out
	}
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0 // a deadline would make the result depend on the machine
	list := []change{{same: a[:start]}}
	for _, d := range dmp.DiffCleanupMerge(dmp.DiffMainRunes(encode(midA), encode(midB), false)) {
		last := &list[len(list)-1]
		switch d.Type {
		case diffmatchpatch.DiffDelete:
			last.del = append(last.del, decode(d.Text)...)
		case diffmatchpatch.DiffInsert:
			last.ins = append(last.ins, decode(d.Text)...)
		default:
			list = append(list, change{same: decode(d.Text)})
		}
	}
	list = append(joinChanges(list), change{same: a[endA:]})
	var out []piece
	add := func(op diffmatchpatch.Operation, words []string) {
		text := strings.Join(words, "")
		if n := len(out); n > 0 && out[n-1].op == op {
			out[n-1].text += text
		} else if text != "" {
			out = append(out, piece{op, text})
		}
	}
	for _, c := range list {
		add(diffmatchpatch.DiffEqual, c.same)
		add(diffmatchpatch.DiffDelete, c.del)
		add(diffmatchpatch.DiffInsert, c.ins)
	}
	return out
}

// change is what differs behind words that are the same.
type change struct{ same, del, ins []string }

func (c *change) size() int { return max(len(c.del), len(c.ins)) }

// joinChanges makes one change of two that have no more between them than either is long:
// a blank or a full stop that both texts happen to have would tear a sentence apart.
func joinChanges(list []change) []change {
	out := list[:1]
	for _, c := range list[1:] {
		last := &out[len(out)-1]
		if n := len(c.same); n <= last.size() && n <= c.size() {
			last.del = slices.Concat(last.del, c.same, c.del)
			last.ins = slices.Concat(last.ins, c.same, c.ins)
			continue
		}
		out = append(out, c)
	}
	return out
}

// clipWords are the words that are compared.
func clipWords(words []string) []string {
	if len(words) <= maxWords {
		return words
	}
	return append(words[:maxWords:maxWords], "…")
}

// splitWords are the words of a text and the blanks and signs between them; together
// they are the text.
func splitWords(text string) []string {
	var out []string
	start, in := 0, false
	for i, r := range text {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		if i > start && !(letter && in) {
			out = append(out, text[start:i])
			start = i
		}
		in = letter && r < 0x2e80 // scripts without blanks are compared by characters
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

const (
	// wordContext is how many characters stand around a change on a screen, and
	// wordChange how many of either end of a change.
	wordContext, wordChange = 60, 100
	// wordChanges is how many pieces are shown.
	wordChanges = 24
)

// shortPieces leaves out what stands far from any change, and the middle of long ones.
func shortPieces(pieces []piece) []piece {
	var out []piece
	for i, p := range pieces {
		if i == wordChanges {
			return append(out, piece{diffmatchpatch.DiffEqual, "…"})
		}
		switch {
		case p.op != diffmatchpatch.DiffEqual:
			p.text = ends(p.text, wordChange, wordChange)
		case i == 0:
			p.text = ends(p.text, 0, wordContext)
		case i == len(pieces)-1:
			p.text = ends(p.text, wordContext, 0)
		default:
			p.text = ends(p.text, wordContext, wordContext)
		}
		out = append(out, p)
	}
	return out
}

// ends keeps about so many characters of both ends of a text, whole words of them, and
// says how many words were left out.
func ends(text string, head, tail int) string {
	const slack = 40 // what is left out is worth the words that say so
	if utf8.RuneCountInString(text) <= head+tail+slack {
		return text
	}
	r := []rune(text)
	from, to := head, len(r)-tail
	for i := from; i > from*2/3; i-- {
		if r[i-1] == ' ' {
			from = i - 1
			break
		}
	}
	for i := to; i < len(r) && i < to+tail/3; i++ {
		if r[i] == ' ' {
			to = i + 1
			break
		}
	}
	left := plural(len(strings.Fields(string(r[from:to]))), "word")
	switch {
	case head == 0:
		return "… " + string(r[to:])
	case tail == 0:
		return string(r[:from]) + " …"
	}
	return string(r[:from]) + " … " + left + " … " + string(r[to:])
}
