package report

import (
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// DefaultWidth is the width of output that goes to no terminal, in cells.
const DefaultWidth = 80

// minWidth is the narrowest screen that the layouts are made for; on a narrower
// one the terminal wraps.
const minWidth = 40

// Style says how tables look. The zero Style is 80 cells wide, without colour,
// short, in UTC.
type Style struct {
	Width    int            // cells; 0 means DefaultWidth
	Color    bool           // SGR sequences are allowed
	Verbose  bool           // nothing is left out or cut
	Home     string         // this directory is written "~"; "" for none
	Location *time.Location // zone of the times shown; nil means UTC
	// Flags are the options that a command needs to find the same sessions by id.
	Flags string
	// Given are the options by which a replay has the same inputs beside the log, and
	// RulesFile and PricesFile those of them that other commands take too.
	Given, RulesFile, PricesFile string
	// Again are the arguments and options by which a command reads the same sessions.
	Again string
	// Zone is the option of the zone of times, "" where none was given.
	Zone string
	// Dir is the working directory, and Workspace the folder that build servers know the
	// files by, both absolute; "" where they are not known.
	Dir, Workspace string

	markdown bool // the blocks and grids are written as Markdown
}

// inWorkspace is a path as build servers know it: relative to the workspace where it
// lies in there, with slashes; "" for standard input.
func (s Style) inWorkspace(file string) string {
	if file == "" || file == "-" {
		return ""
	}
	full := file
	if !filepath.IsAbs(file) && s.Dir != "" {
		full = filepath.Join(s.Dir, file)
	}
	if s.Workspace != "" && filepath.IsAbs(full) {
		if rel, err := filepath.Rel(s.Workspace, full); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return path.Clean(strings.ReplaceAll(file, `\`, "/"))
}

func (s Style) width() int {
	switch {
	case s.Width == 0:
		return DefaultWidth
	case s.Width < minWidth:
		return minWidth
	}
	return s.Width
}

// name is how a command names a session: by its id where that finds it, else by
// its path.
func (s Style) name(id, file string, inScope bool) string {
	switch {
	case file == "-":
		return "-"
	case inScope && s.Flags != "":
		return ShellWord(shortID(id)) + " " + s.Flags
	case inScope:
		return ShellWord(shortID(id))
	}
	return ShellWord(file)
}

// with is a command with options behind it; those that are "" are left out.
func with(command string, options ...string) string {
	for _, o := range options {
		if o != "" {
			command += " " + o
		}
	}
	return command
}

// ShellWord is an argument as it is typed, quoted where a shell would read it
// otherwise.
func ShellWord(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./@%+=:,-", r) || r > 0x7f
	}
	word := Escape(text)
	if strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// limit is how many of a list are shown: n, or 0 (all) in a verbose style.
func (s Style) limit(n int) int {
	if s.Verbose {
		return 0
	}
	return n
}

// shorten cuts an escaped text to width cells unless the style is verbose.
func (s Style) shorten(text string, width int) string {
	if s.Verbose {
		return text
	}
	return Truncate(text, width)
}

// ink is an SGR parameter.
type ink string

const (
	bold   ink = "1"
	faint  ink = "2"
	red    ink = "31"
	green  ink = "32"
	yellow ink = "33"
)

// paint colours a text, where colour is allowed.
func (s Style) paint(i ink, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + string(i) + "m" + text + "\x1b[0m"
}

// labelWidth is the width of the left column of a screen of blocks, in cells.
const labelWidth = 9

// block writes a label and a text beside it, wrapped at blanks to the width of
// the style. Lines of the text start at the same column. A word wider than the
// column goes on on the next line: cutting it would hide evidence.
func (s Style) block(b *strings.Builder, label, text string) {
	if s.markdown {
		item := mdBlanks(text)
		if label != "" {
			item = "**" + label + "** " + item
		}
		b.WriteString("- " + item + "\n")
		return
	}
	lines := wrap(text, s.width()-labelWidth)
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, line := range lines {
		left := strings.Repeat(" ", labelWidth)
		if i == 0 {
			left = s.paint(bold, label) + strings.Repeat(" ", max(1, labelWidth-displayWidth(label)))
		}
		b.WriteString(strings.TrimRight(left+line, " "))
		b.WriteByte('\n')
	}
}

// hang is block with a head before the text: lines of the text start beside it.
func (s Style) hang(b *strings.Builder, label, head, text string) {
	if s.markdown {
		s.block(b, label, head+text)
		return
	}
	left := displayWidth(head)
	for i, line := range wrap(text, s.width()-labelWidth-left) {
		if i == 0 {
			s.block(b, label, strings.ReplaceAll(head+line, " ", noBreak))
			continue
		}
		b.WriteString(strings.Repeat(" ", labelWidth+left) + line + "\n")
	}
}

// noBreak is a blank at which wrap does not break. Texts of logs hold none: it is
// a form feed, which is escaped there.
const noBreak = "\f"

// together joins parts with middle dots. Lines are broken between parts, and
// within a part only where it is wider than width.
func together(parts []string, width int) string {
	whole := make([]string, len(parts))
	for i, part := range parts {
		whole[i] = part
		if i < len(parts)-1 {
			whole[i] += " ·"
		}
		if displayWidth(whole[i]) <= width {
			whole[i] = strings.ReplaceAll(whole[i], " ", noBreak)
		}
	}
	return strings.Join(whole, " ")
}

// wrap breaks a text at blanks into lines of at most width cells, and words that
// are wider where the line ends. Leading blanks of the text are kept on each of
// its lines.
func wrap(text string, width int) []string { return wrapWords(text, width, fold) }

// wrapCommands is wrap for commands, which must stay in one piece to be copied.
func wrapCommands(text string, width int) []string {
	return wrapWords(text, width, func(word string, _ int) []string { return []string{word} })
}

func wrapWords(text string, width int, split func(word string, width int) []string) []string {
	if text == "" {
		return nil
	}
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines []string
	line, used := "", 0
	for word := range strings.SplitSeq(text, " ") {
		word = strings.ReplaceAll(word, noBreak, " ")
		w := displayWidth(word)
		if word == "" {
			continue
		}
		if used > 0 && used+1+w <= width {
			line += " " + word
			used += 1 + w
			continue
		}
		for _, piece := range split(word, width-len(indent)) {
			if used > 0 {
				lines = append(lines, line)
			}
			line, used = indent+piece, len(indent)+displayWidth(piece)
		}
	}
	return append(lines, line)
}

// fold cuts a text into pieces of at most width cells, and behind a blank or a
// slash where the last two thirds of a piece have one. The pieces together are the text.
func fold(text string, width int) []string {
	width = max(width, 2) // the widest character
	if len(text) <= width || displayWidth(text) <= width {
		return []string{text}
	}
	var pieces []string
	start, seam, used := 0, 0, 0
	for i := 0; i < len(text); {
		if n := sequence(text[i:]); n > 0 {
			i += n
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		w := displayWidth(text[i : i+size])
		if used+w > width {
			end := i
			if seam > start && displayWidth(text[start:seam]) > width/3 {
				end = seam
			}
			pieces = append(pieces, text[start:end])
			start, used = end, displayWidth(text[end:i])
		}
		used += w
		i += size
		if c := text[i-size]; c == ' ' || c == '/' {
			seam = i
		}
	}
	return append(pieces, text[start:])
}

// sequence is the length of the colour sequence that s begins with, in bytes.
func sequence(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	return strings.IndexByte(s, 'm') + 1
}

// line writes a text without a label, wrapped to the width of the style.
func (s Style) line(b *strings.Builder, text string) {
	if s.markdown {
		b.WriteString(mdBlanks(text) + "\n\n")
		return
	}
	for _, line := range wrap(text, s.width()) {
		b.WriteString(line + "\n")
	}
}

// exact writes a text, of which no blank may change, on lines behind an indent.
func (s Style) exact(b *strings.Builder, indent int, text string) {
	if s.markdown {
		b.WriteString("  - " + mdCode(Truncate(text, mdLongest)) + "\n")
		return
	}
	for _, piece := range fold(text, s.width()-indent) {
		b.WriteString(strings.Repeat(" ", indent) + piece + "\n")
	}
}
