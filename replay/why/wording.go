package why

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/body"
)

// oddity is a place in a skill's text of which the client makes something else than the
// author seems to have meant.
type oddity struct {
	line int    // of the file
	text string // what stands there
	what string // what this client makes of it
	// dollar: $1 in a program of another language; else an inline command, run or not.
	dollar, run bool
}

// maxOddities bounds how many are told of one skill.
const maxOddities = 5

// oddities finds them by the rules of a client version.
func oddities(k *skills.Skill, r *rules.Rules, shell bool) []oddity {
	above := 1 + strings.Count(k.Text[:max(len(k.Text)-len(k.Body), 0)], "\n") // the line that the text begins in
	out := dollars(k, r, above)
	if shell {
		out = append(out, inlineCommands(k.Body, r.Body, above)...)
	}
	slices.SortStableFunc(out, func(a, b oddity) int { return a.line - b.line })
	return out
}

// shellRuns reports whether the client runs inline commands of a skill at all.
func shellRuns(k *skills.Skill, r *rules.Rules, p *replay.Process) bool {
	managed := k.Source == skills.Managed
	return !(r.Body.ShellNotManaged && managed) && !(r.Body.ShellDisable && p != nil && p.Settings.DisableShell && !managed)
}

// dollars finds the words of arguments that stand in programs of another language, as in
// awk '{print $1}'. What the client makes of them is tried on the line itself.
func dollars(k *skills.Skill, r *rules.Rules, line int) []oddity {
	names := k.Front.Arguments(r.Front)
	var out []oddity
	for text := range strings.SplitSeq(k.Body, "\n") {
		if text = strings.TrimSpace(text); foreignDollar(text) {
			if what := emptied(text, names, r.Body); what != "" {
				out = append(out, oddity{line: line, text: text, what: what, dollar: true})
			}
		}
		line++
	}
	return out
}

// emptied says what comes of a line, "" if it comes as its author wrote it.
func emptied(text string, names []string, opt body.Options) string {
	if len(text) > maxLine {
		return ""
	}
	none, some := body.Call{Typed: true}, body.Call{Typed: true, Args: "a b c d e f g h i j"}
	// $ARGUMENTS in the same line is meant as such.
	line := strings.ReplaceAll(text, "$ARGUMENTS", "ARGUMENTS")
	meant := line
	if opt.Escape {
		meant = strings.ReplaceAll(line, `\$`, `$`)
	}
	what := ""
	switch bare := body.Replace(line, names, none, opt); {
	case bare != line && bare != meant:
		what = "the client takes $ and a number for a word of the arguments: without any it sends “" + body.Replace(text, names, none, opt) + "”"
	case body.Replace(line, names, some, opt) != meant:
		what = "the client takes $ and a number for a word of the arguments, and replaces it where there are enough of them"
	default:
		return ""
	}
	if opt.Escape {
		what += `; write \$ for a plain $`
	}
	return what
}

// maxLine bounds the lines that are looked at, in bytes.
const maxLine = 1000

// foreignDollar reports whether a line holds $ and a digit inside a program between
// quotes, or inside a shell function, where it means something else than an argument of
// the skill.
func foreignDollar(line string) bool {
	at := strings.IndexByte(line, '$')
	if at < 0 || !strings.ContainsAny(line, "0123456789") {
		return false
	}
	has := func(text string) bool {
		for {
			i := strings.IndexByte(text, '$')
			if i < 0 || i+1 == len(text) {
				return false
			}
			if c := text[i+1]; c >= '0' && c <= '9' {
				return true
			}
			text = text[i+1:]
		}
	}
	if strings.Contains(line, "() {") && has(line) {
		return true
	}
	for _, tool := range []string{"awk ", "perl ", "sed "} {
		_, program, ok := strings.Cut(line, tool)
		if !ok {
			continue
		}
		// Between single quotes the shell leaves it alone.
		for parts := strings.Split(program, "'"); len(parts) > 2; parts = parts[2:] {
			if has(parts[1]) {
				return true
			}
		}
	}
	return false
}

// What is looked at of a text: its length in bytes, and inline commands.
const (
	maxText     = 256 << 10
	maxCommands = 500
)

// inlineCommands finds those that are run though they stand as an example, those that
// are not closed in their line, and those that are not run.
func inlineCommands(text string, opt body.Options, above int) []oddity {
	lineOf := func(at int) int { return above + strings.Count(text[:at], "\n") }
	var out []oddity
	if len(text) > maxText {
		return nil
	}
	found := body.Commands(text, opt)
	for _, c := range found[:min(len(found), maxCommands)] {
		shown := text[c.Start:c.End]
		switch {
		case c.Fence:
		case strings.Contains(shown, "\n"):
			out = append(out, oddity{line: lineOf(c.Start), text: firstLine(shown), run: true,
				what: fmt.Sprintf("it is not closed in its line: the client runs all up to the next backtick, in line %d", lineOf(c.End-1))})
		case quoted(text, c):
			out = append(out, oddity{line: lineOf(c.Start), text: shown, run: true, what: "it stands in a code block or in quotes, and the client runs it all the same"})
		}
		if len(out) > maxOddities {
			return out
		}
	}
	for i, seen := 0, 0; len(out) <= maxOddities && seen < maxCommands; i, seen = i+2, seen+1 {
		n := strings.Index(text[i:], "!`")
		if n < 0 {
			break
		}
		i += n
		if slices.ContainsFunc(found, func(c body.Command) bool { return i >= c.Start && i < c.End }) {
			continue
		}
		shown, _, _ := strings.Cut(text[i:], "\n")
		end := strings.IndexByte(shown[2:], '`')
		switch {
		case strings.IndexByte(text[i+2:], '`') < 0:
			out = append(out, oddity{line: lineOf(i), text: shown, what: "it is not closed: the client runs nothing, and sends it as it stands"})
		case end > 0 && i > 0 && strings.IndexByte("\"'([=:,;>*-", text[i-1]) >= 0:
			out = append(out, oddity{line: lineOf(i), text: shown[:2+end+1], what: "the client does not run it: this version wants white space before it"})
		}
	}
	return out
}

// quoted reports whether an inline command stands in a text as an example: in a fenced
// block, in a span of two or more backticks, or in quotes.
func quoted(text string, c body.Command) bool {
	start := strings.LastIndexByte(text[:c.Start], '\n') + 1
	before := text[start:c.Start]
	if strings.Count(before, "``")%2 == 1 && strings.Contains(text[c.End:min(len(text), c.End+maxLine)], "``") {
		return true
	}
	if c.Start > 0 && c.End < len(text) && text[c.Start-1] == text[c.End] && strings.IndexByte(`"'`, text[c.End]) >= 0 {
		return true
	}
	fenced := false
	for line := range strings.SplitSeq(text[:start], "\n") {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "```") && !strings.HasPrefix(t, "```!") || fenced && t == "```" {
			fenced = !fenced
		}
	}
	return fenced
}

// wording notes what this client makes of the skill's text.
func (c *chain) wording(s *Step) {
	r := c.rules()
	if r == nil || c.st == nil || c.brief {
		return
	}
	k := c.st.Skill
	list := c.odd(k, r, shellRuns(k, r, c.m.Process()))
	for _, o := range list[:min(len(list), maxOddities)] {
		where := "line"
		if f := c.files[k.Path]; !f.Text.holds() {
			where = "as its file is now, line"
		}
		s.Notes = append(s.Notes, fmt.Sprintf("%s %d, “%s”: %s", where, o.line, shortLine(o.text), o.what))
	}
}

// odd finds the oddities of a file once for each set of rules.
func (s *Session) odd(k *skills.Skill, r *rules.Rules, shell bool) []oddity {
	key := oddKey{k, r.Body, shell}
	list, ok := s.oddities[key]
	if !ok {
		list = oddities(k, r, shell)
		s.oddities[key] = list
	}
	return list
}

type oddKey struct {
	skill *skills.Skill
	opt   body.Options
	shell bool
}

func shortLine(text string) string {
	const most = 80 // characters
	if r := []rune(firstLine(text)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return firstLine(text)
}

// arrived notes what came in place of what the skill's text has, as the body shows it.
func (q *query) arrived(s *Step, sent *replay.Event, a *replay.Attempt) {
	n := q.owner[a.Event]
	if n < 0 {
		return
	}
	m, ok := q.course.At(q.spans[n].Event)
	if !ok || m.Missing() != "" || m.Rules() == nil || q.brief {
		return
	}
	list := q.statuses(&m, q.sub.Name)
	if len(list) == 0 {
		return
	}
	k, r := list[0].Skill, m.Rules()
	call := body.Call{Args: q.event(a.Event).Args, Typed: q.event(a.Event).Kind == replay.Slash}
	told := 0
	for _, o := range q.odd(k, r, shellRuns(k, r, m.Process())) {
		if strings.Contains(sent.Text, o.text) || told == maxOddities {
			continue
		}
		switch came := body.Replace(o.text, k.Front.Arguments(r.Front), call, r.Body); {
		case o.dollar && came != o.text && strings.Contains(sent.Text, came):
			s.Notes = append(s.Notes, fmt.Sprintf("line %d of its file, “%s”, came as “%s”", o.line, shortLine(o.text), shortLine(came)))
			told++
		case o.run:
			s.Notes = append(s.Notes, fmt.Sprintf("line %d of its file, “%s”: what came is the output of the command", o.line, shortLine(o.text)))
			told++
		}
	}
}

// failing notes where the inline command stands for which a call was refused.
func (q *query) failing(s *Step, n int, refusal *replay.Event) {
	_, pattern, ok := strings.Cut(refusal.Text, "for pattern \"")
	m, known := q.course.At(q.spans[n].Event)
	if !ok || !known || m.Missing() != "" || m.Rules() == nil {
		return
	}
	list := q.statuses(&m, q.sub.Name)
	if len(list) == 0 {
		return
	}
	k := list[0].Skill
	above := 1 + strings.Count(k.Text[:max(len(k.Text)-len(k.Body), 0)], "\n")
	for _, c := range body.Commands(k.Body, m.Rules().Body) {
		text := k.Body[c.Start:c.End]
		if !strings.HasPrefix(pattern, text) {
			continue
		}
		s.Notes = append(s.Notes, fmt.Sprintf("the command stands in line %d of its file: “%s”", above+strings.Count(k.Body[:c.Start], "\n"), shortLine(text)))
		for _, o := range q.odd(k, m.Rules(), true) {
			if o.run && strings.HasPrefix(text, o.text) {
				s.Notes = append(s.Notes, o.what)
				break
			}
		}
		return
	}
}
