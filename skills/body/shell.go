package body

import (
	"strings"
	"unicode/utf8"
)

// splitCommands splits a text at its inline commands: !`command` and fences that
// start with ```!. A command between backticks needs white space before it or,
// in older versions, anything but a word character; a fence may stand anywhere.
func splitCommands(text string, afterBlank bool) []Part {
	var parts []Part
	done := 0 // text before it is in parts
	add := func(start, end int, command string) {
		if start > done {
			parts = append(parts, Part{Text: text[done:start]})
		}
		parts = append(parts, Part{Hole: true, Command: strings.TrimFunc(command, isBlank)})
		done = end
	}
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '!')
		if n < 0 {
			break
		}
		i += n
		if i-done >= 3 && text[i-3:i] == "```" {
			if n := strings.Index(text[i+1:], "```"); n >= 0 {
				add(i-3, i+1+n+3, text[i+1:i+1+n])
				i = done
				continue
			}
		}
		if at(text, i+1) == '`' && mayStart(text[:i], afterBlank) {
			if n := strings.IndexByte(text[i+2:], '`'); n > 0 {
				add(i, i+2+n+1, text[i+2:i+2+n])
				i = done
				continue
			}
		}
		i++
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
