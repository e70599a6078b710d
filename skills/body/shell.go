package body

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// splitCommands splits a text at its inline commands: !`command` and fences that
// start with ```!. A command between backticks needs white space before it or,
// in older versions, anything but a word character; a fence may stand anywhere.
//
// The client puts each output where the text of the command stands first, though it
// be where no command may start: of "x!`pwd` and !`pwd`" the second is run, and the
// first is replaced (recorded at 2.1.216 to 2.1.281).
func splitCommands(text string, afterBlank bool) []Part {
	type span struct{ start, end int }
	var taken []span         // sorted
	next := map[string]int{} // by command: where it can stand next
	place := func(match string) {
		for from := next[match]; ; {
			n := strings.Index(text[from:], match)
			if n < 0 {
				next[match] = len(text)
				return
			}
			at := span{from + n, from + n + len(match)}
			i := sort.Search(len(taken), func(i int) bool { return taken[i].end > at.start })
			if i == len(taken) || taken[i].start >= at.end {
				taken = slices.Insert(taken, i, at)
				next[match] = at.end
				return
			}
			from = taken[i].end
		}
	}
	done := 0 // text before it is searched
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '!')
		if n < 0 {
			break
		}
		i += n
		end := 0
		start := i
		if i-done >= 3 && text[i-3:i] == "```" {
			if n := strings.Index(text[i+1:], "```"); n >= 0 {
				start, end = i-3, i+1+n+3
			}
		}
		if end == 0 && at(text, i+1) == '`' && mayStart(text[:i], afterBlank) {
			if n := strings.IndexByte(text[i+2:], '`'); n > 0 {
				end = i + 2 + n + 1
			}
		}
		if end == 0 {
			i++
			continue
		}
		place(text[start:end])
		i, done = end, end
	}
	var parts []Part
	done = 0
	for _, t := range taken {
		if t.start > done {
			parts = append(parts, Part{Text: text[done:t.start]})
		}
		command := strings.TrimSuffix(strings.TrimPrefix(text[t.start:t.end], "!`"), "`")
		if fence, ok := strings.CutPrefix(text[t.start:t.end], "```!"); ok {
			command = strings.TrimSuffix(fence, "```")
		}
		parts = append(parts, Part{Hole: true, Command: strings.TrimFunc(command, isBlank)})
		done = t.end
	}
	if done < len(text) {
		parts = append(parts, Part{Text: text[done:]})
	}
	return parts
}

// mayStart reports whether an inline command may follow the text before it.
func mayStart(before string, afterBlank bool) bool {
	if before == "" {
		return true
	}
	if !afterBlank {
		return !isWord(before[len(before)-1])
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	return isBlank(last)
}
