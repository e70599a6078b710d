package fileops

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxOutput is the most that a followed command may print, in bytes: a skill
// file is a page or two, and printf can be made to repeat itself at will.
const maxOutput = 1 << 20

// dialect is where an escape stands: bash treats them differently.
type dialect int

const (
	printfFormat dialect = iota
	printfB              // an argument of printf %b
	echoE                // an argument of echo -e
	ansiC                // $'…'
)

// escapes resolves the backslash escapes of s as bash does. stop says that \c
// ended the output; ok is false where the result cannot be told.
func escapes(s string, d dialect) (text string, stop, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		c := s[i+1]
		i += 2
		switch c {
		case 'a':
			b.WriteByte('\a')
		case 'b':
			b.WriteByte('\b')
		case 'e', 'E':
			b.WriteByte(0x1B)
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'v':
			b.WriteByte('\v')
		case '\\':
			b.WriteByte('\\')
		case '\'', '"', '?':
			if d == printfB || d == echoE {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			if c != '0' && d == echoE {
				b.WriteByte('\\')
				b.WriteByte(c)
				continue
			}
			// Three digits, but behind a leading 0 that %b and echo do not count.
			most := 2
			if c == '0' && (d == printfB || d == echoE) {
				most = 3
			}
			n := int(c - '0')
			for ; most > 0 && i < len(s) && s[i] >= '0' && s[i] <= '7'; most-- {
				n = n*8 + int(s[i]-'0')
				i++
			}
			if n&0xFF == 0 && d == ansiC {
				return "", false, false // bash ends the string here
			}
			b.WriteByte(byte(n))
		case 'x', 'u', 'U':
			most := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			j := i
			for j < len(s) && j-i < most && isHex(s[j]) {
				j++
			}
			if j == i {
				if d == printfFormat || d == printfB {
					return "", false, false // an error of printf
				}
				if d == ansiC && i < len(s) && s[i] == '{' {
					return "", false, false
				}
				b.WriteByte('\\')
				b.WriteByte(c)
				continue
			}
			n, err := strconv.ParseUint(s[i:j], 16, 32)
			if err != nil || n == 0 && d == ansiC {
				return "", false, false
			}
			i = j
			if c == 'x' {
				b.WriteByte(byte(n))
				continue
			}
			if n > utf8.MaxRune || n >= 0xD800 && n < 0xE000 {
				return "", false, false
			}
			b.WriteRune(rune(n))
		case 'c':
			if d == printfB || d == echoE {
				return b.String(), true, true
			}
			if d == ansiC {
				return "", false, false
			}
			b.WriteString(`\c`)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String(), false, true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// echo is what echo prints with these arguments.
func echo(args []string) (string, bool) {
	newline, escaped := true, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, c := range args[0][1:] {
			switch c {
			case 'n':
				newline = false
			case 'e':
				escaped = true
			case 'E':
				escaped = false
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escaped {
		var stop, ok bool
		if text, stop, ok = escapes(text, echoE); !ok || stop {
			return text, ok
		}
	}
	if newline {
		text += "\n"
	}
	return text, true
}

// printf is what printf prints with these arguments. Only %s, %b, %d, %i and %%
// without flags are followed.
func printf(args []string) (string, bool) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		return "", false // -v, or an error
	}
	if len(args) == 0 {
		return "", false
	}
	format, args := args[0], args[1:]
	// The pieces of the format: texts, and conversions in between.
	var texts []string
	var verbs []byte
	piece := func(raw string) bool {
		text, _, ok := escapes(raw, printfFormat)
		texts = append(texts, text)
		return ok
	}
	start := 0
	for i := 0; i < len(format); i++ {
		switch format[i] {
		case '\\':
			// A backslash does not hide a conversion: bash prints both.
			if i+1 < len(format) && format[i+1] != '%' {
				i++
			}
		case '%':
			if i+1 >= len(format) || strings.IndexByte("sbdi%", format[i+1]) < 0 || !piece(format[start:i]) {
				return "", false
			}
			i++
			verbs = append(verbs, format[i])
			start = i + 1
		}
	}
	if !piece(format[start:]) {
		return "", false
	}
	var b strings.Builder
	for {
		used := false
		for i, verb := range verbs {
			b.WriteString(texts[i])
			if verb == '%' {
				b.WriteByte('%')
				continue
			}
			arg, given := "", len(args) > 0
			if given {
				arg, args = args[0], args[1:]
				used = true
			}
			switch verb {
			case 'b':
				text, stop, ok := escapes(arg, printfB)
				if !ok {
					return "", false
				}
				arg = text
				if stop {
					b.WriteString(arg)
					return b.String(), true
				}
			case 'd', 'i':
				n, err := strconv.ParseInt(arg, 10, 64)
				if given && (err != nil || strconv.FormatInt(n, 10) != arg) {
					return "", false // octal, hexadecimal, or no number
				}
				arg = strconv.FormatInt(n, 10)
			}
			b.WriteString(arg)
		}
		b.WriteString(texts[len(texts)-1])
		if b.Len() > maxOutput {
			return "", false
		}
		// The format is used again while it takes arguments.
		if len(args) == 0 || !used {
			return b.String(), true
		}
	}
}
