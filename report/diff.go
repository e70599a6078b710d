package report

import (
	"strings"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

const (
	// diffClip is how many characters of each differing middle part are compared.
	// The comparison takes time in the product of both, and must end on hostile texts.
	diffClip = 1000
	// diffContext is how many characters stand around a difference.
	diffContext = 16
	// diffHunks is how many differences are shown.
	diffHunks = 12
)

// Diff shows where observed departs from expected, on one line of safe text:
//
//	…and gamma [-delta-]{+epsilon+}.\nbig-a li…
//
// [-…-] was expected and is missing, {+…+} was observed instead. Equal texts give
// "". Common ends are left out, middle parts longer than 1,000 characters are
// compared up to there, and after twelve differences "…" ends the line.
func Diff(expected, observed string) string {
	return writePieces(diffPieces(expected, observed), unpainted)
}

// piece is a piece of a difference, escaped.
type piece struct {
	op   diffmatchpatch.Operation
	text string
}

// diffPieces are the pieces of Diff.
func diffPieces(expected, observed string) []piece {
	if expected == observed {
		return nil
	}
	a, b := []rune(escapeExact(expected)), []rune(escapeExact(observed))
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA--
		endB--
	}
	head, tail := string(a[:start]), string(a[endA:])
	midA, cutA := clip(a[start:endA])
	midB, cutB := clip(b[start:endB])
	if cutA || cutB {
		tail = ""
	}

	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0 // a deadline would make the result depend on the machine
	diffs := dmp.DiffCleanupSemantic(dmp.DiffMain(midA, midB, false))

	var out []piece
	add := func(op diffmatchpatch.Operation, text string) {
		if text != "" {
			out = append(out, piece{op, text})
		}
	}
	equal := func(text string) { add(diffmatchpatch.DiffEqual, text) }
	equal(lastOf(head, diffContext))
	hunks := 0
	for i, d := range diffs {
		switch d.Type {
		case diffmatchpatch.DiffDelete:
			hunks++
			add(d.Type, middleOf(d.Text))
		case diffmatchpatch.DiffInsert:
			if i == 0 || diffs[i-1].Type != diffmatchpatch.DiffDelete {
				hunks++
			}
			add(d.Type, middleOf(d.Text))
		case diffmatchpatch.DiffEqual:
			if hunks >= diffHunks {
				equal(strings.TrimSuffix(firstOf(d.Text, diffContext), "…") + "…")
				return out
			}
			if utf8.RuneCountInString(d.Text) <= 2*diffContext {
				equal(d.Text)
			} else {
				equal(firstOf(d.Text, diffContext) + strings.TrimPrefix(lastOf(d.Text, diffContext), "…"))
			}
		}
	}
	if cutA || cutB {
		equal("…")
		return out
	}
	equal(firstOf(tail, diffContext))
	return out
}

func clip(r []rune) (s string, cut bool) {
	if len(r) > diffClip {
		return string(r[:diffClip]), true
	}
	return string(r), false
}

// firstOf is the first n characters, with "…" where more follow.
func firstOf(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}

// lastOf is the last n characters, with "…" where more stand before them.
func lastOf(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return "…" + string(r[len(r)-n:])
}

// middleOf shortens a differing text to its two ends.
func middleOf(s string) string {
	const keep = 60
	r := []rune(s)
	if len(r) <= 2*keep {
		return s
	}
	return string(r[:keep]) + "…" + string(r[len(r)-keep:])
}
