package budget

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// Estimator counts tokens. The models' own tokenizer is not public, so it counts
// with o200k_base, whose counts lie close enough to be scaled to recorded usage.
// It is safe for concurrent use. The zero value is ready.
type Estimator struct {
	mu    sync.Mutex
	known map[string]int
	bytes int // of the keys of known
}

// The bounds of an Estimator's memory, in bytes of text.
const (
	cacheText  = 64 << 10
	cacheTotal = 8 << 20
)

// Count is the number of o200k_base tokens of text. Very long texts and runs cost
// time in proportion to their length: they are counted in pieces, which may count a
// run of more than maxRun bytes of one kind a little too high. Were the encoding
// not to load, Count is the rough estimate.
func (e *Estimator) Count(text string) int {
	if text == "" {
		return 0
	}
	e.mu.Lock()
	n, ok := e.known[text]
	e.mu.Unlock()
	if ok {
		return n
	}
	n = countTokens(text)
	if len(text) <= cacheText {
		e.mu.Lock()
		if e.bytes += len(text); e.known == nil || e.bytes > cacheTotal {
			e.known, e.bytes = map[string]int{}, len(text)
		}
		e.known[strings.Clone(text)] = n
		e.mu.Unlock()
	}
	return n
}

// encoder is o200k_base from the data in the program. It is built from the loader
// alone: the encoder package's own way to it would fetch the data.
var encoder = sync.OnceValue(func() *tiktoken.Tiktoken {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe("o200k_base.tiktoken")
	if err != nil {
		return nil
	}
	bpe, err := tiktoken.NewCoreBPE(ranks, map[string]int{tiktoken.ENDOFTEXT: 199999, tiktoken.ENDOFPROMPT: 200018}, o200kPattern)
	if err != nil {
		return nil
	}
	return tiktoken.NewTiktoken(bpe, nil, nil)
})

// o200kPattern splits a text into the pieces that o200k_base encodes one by one, as
// published with the encoding.
const o200kPattern = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
	`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
	`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// The sizes at which a text is cut into pieces, in bytes.
const (
	// pieceMin: from here on the next border that changes no count is taken.
	pieceMin = 2 << 10
	// pieceMax: at the latest here, wherever it is.
	pieceMax = 8 << 10
	// maxRun is how long a run of one kind may grow: the encoder's time grows with
	// the square of a run, and 200,000 blanks take it a minute.
	maxRun = 384
)

// countTokens counts text piece by piece.
func countTokens(text string) int {
	enc := encoder()
	if enc == nil {
		return int(ProfileOf(text).Tokens() + 0.5)
	}
	text = strings.ToValidUTF8(ReplaceLone(text), "\uFFFD")
	n := 0
	for len(text) > 0 {
		end := pieceEnd(text)
		n += len(enc.EncodeOrdinary(text[:end]))
		text = text[end:]
	}
	return n
}

// pieceEnd is the length of the piece to encode next.
func pieceEnd(text string) int {
	run, prev := 0, kind(0)
	for i, r := range text {
		k := kindOf(r)
		if i >= pieceMax {
			return i
		}
		// What begins a line, or a word after a word and one blank, begins a piece
		// of the encoding too.
		if i >= pieceMin && text[i-1] == '\n' && k != kindBlank && r != '/' {
			return i
		}
		if i >= pieceMin && r == ' ' && prev == kindLetter && i+1 < len(text) && isASCIILetter(text[i+1]) {
			return i
		}
		if k != prev {
			run, prev = 0, k
		}
		run += utf8.RuneLen(r)
		if run > maxRun {
			return i
		}
	}
	return len(text)
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// kind is a rough class of characters.
type kind uint8

const (
	kindLetter kind = iota + 1
	kindDigit
	kindBlank
	kindPunct
	kindCJK
	kindOther
)

var asciiKinds = func() (kinds [utf8.RuneSelf]kind) {
	for c := range kinds {
		switch {
		case isASCIILetter(byte(c)):
			kinds[c] = kindLetter
		case c >= '0' && c <= '9':
			kinds[c] = kindDigit
		case c == ' ' || c >= '\t' && c <= '\r':
			kinds[c] = kindBlank
		default:
			kinds[c] = kindPunct
		}
	}
	return kinds
}()

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		return asciiKinds[r]
	case r >= 0x2E80 && r <= 0xD7FF || r >= 0xF900 && r <= 0xFAFF || r >= 0xFF00 && r <= 0xFFEF || r >= 0x20000 && r <= 0x3FFFF:
		return kindCJK
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return kindLetter
	case unicode.IsSpace(r):
		return kindBlank
	case unicode.IsNumber(r):
		return kindDigit
	case unicode.IsPunct(r):
		return kindPunct
	}
	return kindOther
}
