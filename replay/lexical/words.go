// Package lexical compares texts by the words that they have in common. It knows
// nothing of skills and of meaning: a description that shares no word with a prompt may
// be just what is asked for. What it says are facts to show, never a verdict.
//
//	text ── Words ──> words        runs of letters and digits, CJK in pairs
//	texts ── New ──> Index         how often each word stands in each text
//	query ── Index.Rank ──> ranks  BM25
//
// The same texts give the same numbers on every machine.
package lexical

import (
	"unicode"
	"unicode/utf8"
)

// Words are the words of a text, in order, in lower case. A word is a run of letters,
// marks and digits, with apostrophes inside it; hyphens, underscores and colons part words, so
// that the name of a skill counts as its words. Han, Kana, Hangul, Thai, Lao, Khmer and
// Burmese are written without blanks, or with endings that vary: a run of one of them
// gives each pair of neighbours, and a run of one character itself.
func Words(text string) []string {
	var out []string
	each(text, func(w string) { out = append(out, w) })
	return out
}

// each calls use for every word. The words are strings of their own.
func each(text string, use func(string)) {
	var word []rune // of a run of letters
	var run []rune  // of a run without blanks
	flush := func() {
		if len(word) > 0 {
			use(string(word))
			word = word[:0]
		}
		switch len(run) {
		case 0:
		case 1:
			use(string(run))
		default:
			for i := 1; i < len(run); i++ {
				use(string(run[i-1 : i+1]))
			}
		}
		run = run[:0]
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case paired(r):
			if len(word) > 0 {
				flush()
			}
			run = append(run, unicode.ToLower(r))
		case r < utf8.RuneSelf && isWord(byte(r)) || r >= utf8.RuneSelf && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)):
			if len(run) > 0 {
				if unicode.IsMark(r) {
					run = append(run, r)
					continue
				}
				flush()
			}
			if len(word) < maxWord {
				word = append(word, unicode.ToLower(r))
			}
		case (r == '\'' || r == '’') && len(word) > 0 && letterAt(text[i:]):
			word = append(word, '\'')
		default:
			flush()
		}
	}
	flush()
}

// maxWord is how much of a word counts, in characters: a line of base64 is no word.
const maxWord = 64

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func letterAt(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) && !paired(r)
}

// unspaced are the scripts whose words are not parted by blanks, and Hangul.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// paired reports whether a character belongs to a run of which pairs are words.
func paired(r rune) bool {
	if r < 0xE00 {
		return false
	}
	return r == 'ー' || unicode.IsLetter(r) && unicode.In(r, unspaced...)
}

// Common reports whether a word stands in nearly every text in English, or, of pairs of
// characters, in Chinese, Japanese or Korean: that two texts share it says nothing.
func Common(word string) bool { return common[word] || commonPairs[word] }

var commonPairs = set(`我们 你们 他们 我的 你的 这个 那个 这些 那些 一个 一下 一些 可以 需要 如果 因为 所以 或者 以及 并且 什么 怎么 进行 使用 帮我 请帮 请你 的时 时候 不要 没有 就是
	です ます する して した され れる この その あの から まで ため よう こと もの ない くだ ださ さい てく 해줘 하고 하는 해주 주세 세요 합니 니다 그리 리고 에서 으로`)

var common = set(`a about after all also am an and any are as at be because been before being but by can could did do does doing don't
	for from get had has have her here him his how i i'd i'll i'm i've if in into is it it's its just let like make may me might more most my need no not now of on once
	one only or other our out over own please s same she should so some such t than that the their them then there these they this those
	through to too under until up us use used using very want was we were what when where which while who why will with would you your`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	each(words, func(w string) { out[w] = true })
	return out
}
