package lexical

import (
	"unicode"
)

// Language says what a text is written in: the name of a language where its script or
// its small words tell, else its script, as in "Latin letters"; "" where the text has
// hardly any letters. It is a guess by counting, and the same on every machine.
func Language(text string) string {
	counts := make([]int, len(scripts))
	letters, chinese := 0, 0
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		if r <= unicode.MaxASCII {
			counts[0]++
			continue
		}
		for i, s := range scripts {
			if unicode.Is(s.table, r) {
				counts[i]++
				break
			}
		}
		if chineseOnly[r] {
			chinese++
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
		// Han alone may be Japanese too, in a text that is short.
		const long = 12 // characters
		if chinese > 0 || han >= long {
			return "Chinese"
		}
		return scripts[scriptHan].name
	case best == 0:
		return latin(text)
	}
	return scripts[best].name
}

// chineseOnly are characters that nearly every Chinese text has some of, and Japanese
// ones hardly ever.
var chineseOnly = runes("请这這个们們么麼沒给让讓说說对對过还你您吗嗎呢吧啊哪谁很该为从执库迁测试读运发动务单项码错误设计图资启关开闭")

func runes(text string) map[rune]bool {
	out := map[rune]bool{}
	for _, r := range text {
		out[r] = true
	}
	return out
}

// scripts are looked at in this order, the Latin one first. Of a script that one
// language is written in, or nearly so, the name is that of the language.
var scripts = []struct {
	table *unicode.RangeTable
	name  string
}{
	{unicode.Latin, latinLetters}, {unicode.Han, "Han characters"}, {unicode.Hiragana, "Japanese"}, {unicode.Katakana, "Japanese"}, {unicode.Hangul, "Korean"},
	{unicode.Cyrillic, "Cyrillic letters"}, {unicode.Greek, "Greek"}, {unicode.Arabic, "Arabic letters"}, {unicode.Hebrew, "Hebrew letters"}, {unicode.Devanagari, "Devanagari letters"},
	{unicode.Thai, "Thai"}, {unicode.Armenian, "Armenian"}, {unicode.Georgian, "Georgian"}, {unicode.Bengali, "Bengali letters"}, {unicode.Tamil, "Tamil"},
}

const (
	latinLetters = "Latin letters"
	scriptHan    = 1
	scriptKana   = 2
)

// latin tells languages of the Latin script apart by words that stand in nearly every
// sentence; their letters where hardly any of them does, or two have as many.
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
		return latinLetters
	}
	return small[best].language
}

// smallWords are those by which a language is told, nil for any other.
func smallWords(language string) map[string]bool {
	for i := range small {
		if small[i].language == language {
			return small[i].words
		}
	}
	return nil
}

// Foreign reports whether two texts, by what [Language] says of them, are in different
// languages. A script may stand for any of those that are written in it.
func Foreign(a, b string) bool {
	if a == "" || b == "" || a == b {
		return false
	}
	return !(writtenIn(a, b) || writtenIn(b, a))
}

// writtenIn reports whether a language may be the one that a script stands for.
func writtenIn(language, script string) bool {
	switch script {
	case latinLetters:
		return smallWords(language) != nil
	case scripts[scriptHan].name:
		return language == "Chinese" || language == "Japanese"
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
