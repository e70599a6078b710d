package skills

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// sortBy sorts a list by names in the given order, stably. SortReaddir leaves
// the list as it is.
func sortBy[T any](list []T, order Sort, name func(T) string) {
	switch order {
	case SortBytes:
		slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	case SortCollate:
		if len(list) < 2 {
			return
		}
		type keyed struct {
			key  []byte
			item T
		}
		// A Collator must not be shared between goroutines.
		c := collate.New(language.Und)
		var buf collate.Buffer
		keys := make([]keyed, len(list))
		for i, item := range list {
			keys[i] = keyed{c.KeyFromString(&buf, spellSymbols(name(item))), item}
		}
		slices.SortStableFunc(keys, func(a, b keyed) int { return bytes.Compare(a.key, b.key) })
		for i, k := range keys {
			list[i] = k.item
		}
	}
}

// newSymbols are symbols that Unicode got after the tables of x/text (Unicode
// 6.2), from and to, with the older symbol after which the root collation of
// ICU 78 puts them. Inside a range the order is that of the code points.
var newSymbols = [][3]rune{
	{0x23F4, 0x23FF, 0x23F3}, {0x2700, 0x2700, 0x1F1FF}, {0x2B4D, 0x2B4F, 0x2B4C}, {0x2B5A, 0x2BFF, 0x2B59},
	{0x1F321, 0x1F32F, 0x1F320}, {0x1F336, 0x1F336, 0x1F335}, {0x1F37D, 0x1F37F, 0x1F37C}, {0x1F394, 0x1F39F, 0x1F393},
	{0x1F3C5, 0x1F3C5, 0x1F3C4}, {0x1F3CB, 0x1F3DF, 0x1F3CA}, {0x1F3F1, 0x1F3FF, 0x1F3F0}, {0x1F43F, 0x1F43F, 0x1F43E},
	{0x1F441, 0x1F441, 0x1F440}, {0x1F4F8, 0x1F4F8, 0x1F4F7}, {0x1F4FD, 0x1F4FF, 0x1F4FC}, {0x1F53E, 0x1F53F, 0x1F53D},
	{0x1F544, 0x1F54F, 0x1F543}, {0x1F568, 0x1F5FA, 0x1F567}, {0x1F641, 0x1F644, 0x1F640}, {0x1F650, 0x1F67F, 0x1F64F},
	{0x1F6C6, 0x1F6FC, 0x1F6C5}, {0x1F774, 0x1F8D8, 0x1F773}, {0x1F900, 0x1FAF8, 0x1F5FF},
}

// spellSymbols puts before each new symbol the older one that it follows. The
// new symbol itself has no weight in the tables, which puts it after all
// others, so that the pair sorts between the older symbol and the next one.
func spellSymbols(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r >= newSymbols[0][0] && r < 0x20000 }) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		for _, s := range newSymbols {
			if s[0] <= r && r <= s[1] {
				b.WriteRune(s[2])
				break
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}
