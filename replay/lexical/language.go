package lexical

import (
	"unicode"
)

// Language says in one word what a text is written in: the name of a language where
// its script or its small words tell, else the name of its script; "" where the text
// has hardly any letters. It is a guess by counting, and the same on every machine.
func Language(text string) string {
	counts := make([]int, len(scripts))
	letters := 0
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		if r < unicode.MaxASCII {
			counts[0]++
			continue
		}
		for i, s := range scripts {
			if unicode.Is(s.table, r) {
				counts[i]++
				break
			}
		}
	}
	const least = 2 // letters
	if letters < least {
		return ""
	}
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	// A letter of these says much; one of the Latin script may be part of a name.
	kana, han := counts[scriptKana]+counts[scriptKana+1], counts[scriptHan]
	switch {
	case 4*kana >= kana+han && 3*(kana+han) >= letters:
		return "Japanese"
	case 3*han >= letters:
		return "Chinese"
	case best == 0:
		return latin(text)
	}
	return scripts[best].language
}

// scripts are looked at in this order, the Latin one first.
var scripts = []struct {
	table    *unicode.RangeTable
	language string
}{
	{unicode.Latin, "Latin"}, {unicode.Han, "Chinese"}, {unicode.Hiragana, "Japanese"}, {unicode.Katakana, "Japanese"}, {unicode.Hangul, "Korean"},
	{unicode.Cyrillic, "Cyrillic"}, {unicode.Greek, "Greek"}, {unicode.Arabic, "Arabic"}, {unicode.Hebrew, "Hebrew"}, {unicode.Devanagari, "Devanagari"},
	{unicode.Thai, "Thai"}, {unicode.Armenian, "Armenian"}, {unicode.Georgian, "Georgian"}, {unicode.Bengali, "Bengali"}, {unicode.Tamil, "Tamil"},
}

const (
	scriptHan  = 1
	scriptKana = 2
)

// latin tells languages of the Latin script apart by words that stand in nearly every
// sentence; "Latin" where hardly any of them does, or two have as many.
func latin(text string) string {
	counts := make([]int, len(small))
	each(text, func(w string) {
		for i := range small {
			if small[i].words[w] {
				counts[i]++
			}
		}
	})
	best, second := 0, 0
	for i, n := range counts {
		switch {
		case n > counts[best]:
			best, second = i, counts[best]
		case i != best && n > second:
			second = n
		}
	}
	const least = 2 // one such word can be part of a name
	if counts[best] < least || counts[best] == second {
		return "Latin"
	}
	return small[best].language
}

// Foreign reports whether two texts, by what [Language] says of them, are in different
// languages. "Latin" may be any of those that are written so.
func Foreign(a, b string) bool {
	if a == "" || b == "" || a == b {
		return false
	}
	return !(a == "Latin" && isLatin(b) || b == "Latin" && isLatin(a))
}

func isLatin(language string) bool {
	for i := range small {
		if small[i].language == language {
			return true
		}
	}
	return false
}

var small = []struct {
	language string
	words    map[string]bool
}{
	{"English", set("the of and to is in that it for with this are be when use on or from an by you your my please i we not do if")},
	{"German", set("der die das und ist nicht ein eine mit für auf den dem zu von sich wenn bitte ich wir wird oder bei im")},
	{"French", set("le la les des et est un une dans pour que qui avec sur pas ce cette du au je nous vous ou quand")},
	{"Spanish", set("el la los las de y es un una en para que con por del se no al lo cuando como mi su")},
	{"Portuguese", set("o os as de e é um uma em para que com por do da não ao no na quando como meu seu você")},
	{"Italian", set("il lo la gli le di e è un una in per che con del della non si quando come mio tuo sono")},
	{"Dutch", set("de het een en is van in op te dat voor met niet zijn aan wanneer mijn ik wij of bij")},
}
