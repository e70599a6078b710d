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
	for _, c := range commands(text, afterBlank) {
		place(text[c.Start:c.End])
	}
	var parts []Part
	done := 0
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

// Command is an inline command in a text, from its first mark to behind its last, in
// bytes.
type Command struct {
	Start, End int
	// Fence: a fence that starts with ```!, not a command between backticks.
	Fence bool
}

// Commands finds the inline commands of a text that this version runs.
func Commands(text string, opt Options) []Command { return commands(text, opt.ShellAfterBlank) }

func commands(text string, afterBlank bool) []Command {
	var out []Command
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
		out = append(out, Command{start, end, text[start] == '`'})
		i, done = end, end
	}
	return out
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
