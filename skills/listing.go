package skills

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ListedLine is one entry of a recorded listing. Raw is what stands in the
// listing, word for word; JoinListing puts the listing together again.
type ListedLine struct {
	Raw string
	// Name is the name by which the entry is called; empty for what is no entry:
	// a header before the first one, or the remark that skills are missing.
	Name  string
	Alias string // the front-matter name in "name (alias)"
	// Text is the text; Bare says that there is none, which is not the same as
	// an empty one.
	Text string
	Bare bool
	// Source and Location are in the XML form only: "(user)" and the like, which
	// stands inside Text, and user, managed or plugin.
	Source   string
	Location string
}

// JoinListing is the content that ParseListing read.
func JoinListing(lines []ListedLine) string {
	raw := make([]string, len(lines))
	for i, l := range lines {
		raw[i] = l.Raw
	}
	return strings.Join(raw, "\n")
}

// ParseListing reads a recorded listing: the content of a skill_listing
// attachment, the lines of a tool description or reminder, or the XML form of
// 2.0.30 to 2.0.76.
//
// Names are those of the attachment (from 2.1.147), in order; with them every
// entry is found for certain, even if a description holds lines that look like
// entries. Without them, or where the content does not hold them (it may have
// been made unreadable), an entry starts at a line
// "- NAME" or "- NAME: TEXT" whose NAME holds no blank, and everything up to the
// next one belongs to it; if no line looks like that, any line that begins with
// "- " starts an entry. Name and text are parted at the first ": ". Blank are names
// that hold blanks and are known otherwise, as from the skill files: their lines start
// entries too.
//
// The entries joined with newlines give the content back.
func ParseListing(content string, names []string, blank ...string) []ListedLine {
	if content == "" {
		return nil
	}
	if lines := parseXML(content); lines != nil {
		return lines
	}
	if len(names) > 0 {
		for _, masked := range []bool{false, true} {
			if lines := byNames(content, names, masked); lines != nil {
				return lines
			}
		}
	}
	starts := startsPlain
	if !plainEntry.MatchString(content) {
		starts = func(line string) bool { return strings.HasPrefix(line, "- ") && len(line) > 2 }
	}
	lines := split(content, starts, blank)
	rename(lines, names)
	return lines
}

// rename gives entries their true names where their number agrees: the names
// inside the content may have been made unreadable.
func rename(lines []ListedLine, names []string) {
	n := 0
	for _, l := range lines {
		if l.Name != "" {
			n++
		}
	}
	if n != len(names) {
		return
	}
	for i, j := 0, 0; i < len(lines); i++ {
		if lines[i].Name != "" {
			lines[i].Name = names[j]
			j++
		}
	}
}

// plainEntry is the first line of an entry whose name holds no blanks, with the
// alias that may follow.
var plainEntry = regexp.MustCompile(`(?m)^- [^\s:]+(?::[^\s:]+)*(?: \([^\s()]+\))?(?:$|: |:$)`)

func startsPlain(line string) bool {
	return strings.HasPrefix(line, "- ") && plainEntry.MatchString(line)
}

// missing is the remark at the end of a listing that was cut (2.0.30 to 2.1.18).
var missing = regexp.MustCompile(`^<!-- Showing \d+ of \d+ skills due to token limits -->$`)

// split cuts content at the lines that start an entry, also one of the names that hold
// blanks, and before the closing remark.
func split(content string, starts func(line string) bool, blank []string) []ListedLine {
	var out []ListedLine
	from, at, name := 0, 0, ""
	for line := range strings.SplitSeq(content, "\n") {
		next := startsBlank(line, blank)
		if at > 0 && (next != "" || starts(line) || missing.MatchString(line)) {
			out = append(out, readLine(content[from:at-1], name))
			from = at
		}
		if from == at {
			name = next
		}
		at += len(line) + 1
	}
	return append(out, readLine(content[from:], name))
}

// startsBlank is the one of the names that hold blanks whose entry a line starts, "" if
// it starts none of theirs. Where several fit it is the longest.
func startsBlank(line string, blank []string) string {
	rest, ok := strings.CutPrefix(line, "- ")
	if !ok {
		return ""
	}
	found := ""
	for _, name := range blank {
		if n := labelLen(rest, name, true); n >= 0 && labelEnds(rest[n:]) && len(name) > len(found) {
			found = name
		}
	}
	return found
}

// Blank reports whether a name holds a blank, so that the entries of a listing do not
// tell by themselves where it ends.
func Blank(name string) bool { return strings.ContainsAny(name, " \t") }

// byNames finds the entries whose names are known. It returns nil if the names
// do not fit. With masked, x may stand for the letters and digits of a name.
func byNames(content string, names []string, masked bool) []ListedLine {
	at := entryAt(content, 0, names[0], masked)
	if at < 0 {
		return nil
	}
	var out []ListedLine
	if at > 0 {
		out = append(out, ListedLine{Raw: content[:at-1]})
	}
	for i, name := range names {
		end := len(content)
		if i+1 < len(names) {
			next := entryAt(content, at+2+labelLen(content[at+2:], name, masked), names[i+1], masked)
			if next < 0 {
				return nil
			}
			end = next - 1
		}
		raw := content[at:end]
		if i+1 == len(names) {
			// The last entry runs to the end, but for the closing remark.
			if cut := strings.LastIndexByte(raw, '\n'); cut >= 0 && missing.MatchString(raw[cut+1:]) {
				return append(out, readLine(raw[:cut], name), ListedLine{Raw: raw[cut+1:]})
			}
		}
		out = append(out, readLine(raw, name))
		at = end + 1
	}
	return out
}

// entryAt returns where the entry of a name starts at or after from, or -1.
func entryAt(content string, from int, name string, masked bool) int {
	for at := from; at >= 0 && at < len(content); {
		if strings.HasPrefix(content[at:], "- ") && (at == 0 || content[at-1] == '\n') {
			if n := labelLen(content[at+2:], name, masked); n >= 0 && labelEnds(content[at+2+n:]) {
				return at
			}
		}
		next := strings.Index(content[at:], "\n- ")
		if next < 0 {
			return -1
		}
		at += next + 1
	}
	return -1
}

// labelEnds reports whether a name may end before s.
func labelEnds(s string) bool {
	return s == "" || s == ":" || s[0] == '\n' || strings.HasPrefix(s, ": ") || strings.HasPrefix(s, ":\n") || strings.HasPrefix(s, " (")
}

// labelLen is the length of a name at the start of s, or -1.
func labelLen(s, name string, masked bool) int {
	if strings.HasPrefix(s, name) {
		return len(name)
	}
	if !masked {
		return -1
	}
	at := 0
	for _, want := range name {
		r, size := utf8.DecodeRuneInString(s[at:])
		if size == 0 || r != want && (r != 'x' || !unicode.IsLetter(want) && !unicode.IsDigit(want)) {
			return -1
		}
		at += size
	}
	return at
}

// readLine takes one entry apart; name is known or "".
func readLine(raw, name string) ListedLine {
	l := ListedLine{Raw: raw}
	rest, ok := strings.CutPrefix(raw, "- ")
	if !ok || rest == "" {
		return l
	}
	if name != "" {
		l.Name = name
		rest = rest[labelLen(rest, name, true):]
	}
	label, text, described := strings.Cut(rest, ": ")
	if name == "" {
		if first := strings.IndexByte(label, '\n'); first >= 0 {
			// No text on the first line: what follows it is no part of the name.
			label, text, described = strings.TrimSuffix(rest[:first], ":"), rest[first:], true
		}
		l.Name = label
	}
	l.Text, l.Bare = text, !described
	if i := strings.LastIndex(label, " ("); i >= 0 && strings.HasSuffix(label, ")") && !strings.Contains(label[i:], "\n") {
		l.Alias = label[i+2 : len(label)-1]
		if name == "" {
			l.Name = label[:i]
		}
	}
	if l.Bare && name == "" {
		l.Name = strings.TrimSuffix(l.Name, ":")
	}
	return l
}

// xmlEntry is one entry of the XML form.
var xmlEntry = regexp.MustCompile(`(?s)^<skill>\n<name>\n(.*?)\n</name>\n<description>\n(.*)\n</description>(?:\n<location>\n([^\n]*)\n</location>)?\n</skill>$`)

// xmlSource is the source in a description of the XML form.
var xmlSource = regexp.MustCompile(`\((?:user|project|managed|project, gitignored|plugin:[^\s()]+)\)`)

// parseXML reads the XML form; nil if content is not in it.
func parseXML(content string) []ListedLine {
	if !strings.HasPrefix(content, "<skill>\n<name>\n") {
		return nil
	}
	const between = "\n</skill>"
	var out []ListedLine
	for content != "" {
		end := strings.Index(content, between)
		if end < 0 || !strings.HasPrefix(content, "<skill>\n") {
			return append(out, ListedLine{Raw: content})
		}
		// A description may hold the closing tag: the entry ends where the next
		// one, the remark, or the end follows.
		for {
			after := content[end+len(between):]
			if after == "" || strings.HasPrefix(after, "\n<skill>\n<name>\n") || strings.HasPrefix(after, "\n<!-- Showing ") {
				break
			}
			next := strings.Index(after, between)
			if next < 0 {
				return append(out, ListedLine{Raw: content})
			}
			end += len(between) + next
		}
		raw := content[:end+len(between)]
		l := ListedLine{Raw: raw}
		if m := xmlEntry.FindStringSubmatch(raw); m != nil {
			l.Name, l.Text, l.Location = m[1], m[2], m[3]
			l.Source = xmlSource.FindString(l.Text)
		}
		out = append(out, l)
		content = content[len(raw):]
		if content != "" {
			content = content[1:] // the newline between entries
			if content == "" {
				out = append(out, ListedLine{})
			}
		}
	}
	return out
}

// Element is the entry in the XML form of 2.0.30 to 2.0.76. With gitignored, a
// user's skill is called "(project, gitignored)" (2.0.30 to 2.0.43). Where the form
// is bare, [Entry.BareElement] is the entry.
func (e Entry) Element(o Options, gitignored bool) string {
	source, location := "(user)", "user"
	description, when := e.Full, ""
	if sk := e.Skill; sk != nil {
		description, when, _ = o.parts(sk)
		switch sk.Source {
		case Managed:
			source, location = "(managed)", "managed"
		case Plugin:
			source, location = "(plugin:"+sk.Plugin+"@inline)", "plugin"
		case User:
			if gitignored {
				source = "(project, gitignored)"
			}
		default:
			source, location = "(project)", "managed"
		}
	}
	text := description + " " + source
	if when != "" {
		text += " - " + when
	}
	return "<skill>\n<name>\n" + e.Name + "\n</name>\n<description>\n" + text + "\n</description>\n<location>\n" + location + "\n</location>\n</skill>"
}

// BareElement is the entry in an XML form that holds its name and its text and
// nothing else.
func (e Entry) BareElement() string { return bareElement(e.Name, e.Text) }

func bareElement(name, text string) string {
	return "<skill>\n<name>\n" + name + "\n</name>\n<description>\n" + text + "\n</description>\n</skill>"
}

// looseEntry is an entry of an XML form whatever the white space between its parts.
var looseEntry = regexp.MustCompile(`(?s)^\s*<skill>\s*<name>\s*(.*?)\s*</name>\s*<description>\s*(.*?)\s*</description>\s*(?:<location>.*?</location>\s*)?</skill>`)

// PlainXML gives the entries of an XML form the white space that BareElement has, so
// that a layout which no description tells does not matter. What is not in such a
// form, or holds more than names, texts and locations, is left as it is.
func PlainXML(content string) string {
	var out []string
	rest := content
	for strings.TrimSpace(rest) != "" {
		m := looseEntry.FindStringSubmatch(rest)
		if m == nil {
			return content
		}
		if strings.Contains(m[0], "<location>") {
			return content
		}
		out = append(out, bareElement(m[1], m[2]))
		rest = rest[len(m[0]):]
	}
	return strings.Join(out, "\n")
}
