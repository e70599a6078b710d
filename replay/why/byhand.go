package why

import (
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/skills"
)

// byHand finds the commands of the skill's text that the model ran itself: those that
// stand in its code, and in no other skill's.
func (q *query) byHand() {
	if len(q.agent.Agent.Commands) == 0 {
		return
	}
	var own []string
	if k := q.file(); k != nil {
		for _, line := range shellLines(k.Body) {
			if q.inFiles(line) < 2 {
				own = append(own, line)
			}
		}
	} else {
		for _, n := range q.names {
			if list := q.bodies[n]; len(list) > 0 {
				own = shellLines(q.event(list[0]).Text)
				break
			}
		}
	}
	for _, line := range own {
		text, open := strings.CutSuffix(line, openEnd)
		names := q.ranCommands()
		for i, _ := slices.BinarySearch(names, text); i < len(names); i++ {
			if names[i] != text && !(open && strings.HasPrefix(names[i], text)) {
				break
			}
			for _, c := range q.agent.commands[names[i]] {
				if at := q.agent.Agent.Commands[c].Event; at >= 0 && q.owner[at] >= 0 {
					if first, ok := q.ran[q.owner[at]]; !ok || c < first {
						q.ran[q.owner[at]] = c
					}
				}
			}
		}
	}
}

// file is the skill file that stands for the skill, nil where none is known.
func (q *query) file() *skills.Skill {
	for n := range q.spans {
		if m, ok := q.course.At(q.spans[n].Event); ok && m.Missing() == "" {
			if list := q.statuses(&m, q.sub.Name); len(list) > 0 {
				return list[0].Skill
			}
			return nil
		}
	}
	return nil
}

// inFiles is the number of skill files whose code has a command.
func (q *query) inFiles(line string) int {
	if q.shell == nil {
		q.shell = map[string]int{}
		for n := range q.spans {
			if m, ok := q.course.At(q.spans[n].Event); ok && m.Missing() == "" {
				for _, st := range m.Skills() {
					for _, l := range shellLines(st.Skill.Body) {
						q.shell[l]++
					}
				}
				break
			}
		}
	}
	return q.shell[line]
}

// ranCommands are the commands that the model ran, sorted.
func (a *agent) ranCommands() []string {
	if a.commands != nil {
		return a.ranNames
	}
	a.commands = map[string][]int{}
	for i := range a.Agent.Commands {
		for _, part := range commandParts(a.Agent.Commands[i].Text) {
			if a.commands[part] == nil {
				a.ranNames = append(a.ranNames, part)
			}
			a.commands[part] = append(a.commands[part], i)
		}
	}
	slices.Sort(a.ranNames)
	return a.ranNames
}

// maxParts bounds how many commands of one line are looked at.
const maxParts = 32

// commandParts are a command and those that it is made of, parted roughly: a quoted
// separator gives parts that no skill has.
func commandParts(command string) []string {
	var out []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" && !slices.Contains(out, text) && len(out) < maxParts {
			out = append(out, text)
		}
	}
	add(command)
	for line := range strings.SplitSeq(command, "\n") {
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '&' || r == ';' || r == '|' }) {
			add(part)
		}
	}
	return out
}

// openEnd marks a command that goes on with what a placeholder stands for.
const openEnd = "\x00"

// shellLines are the commands that stand in the code of a text: in blocks that are
// fenced as a shell's or as nothing, and behind !` for the client. One word alone is
// none, and what follows a placeholder is left open.
func shellLines(body string) []string {
	const most = 256 // of one text
	var out []string
	add := func(line string) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
		if at := strings.IndexAny(line, "<{"); at >= 0 || strings.Contains(line, "$") {
			if d := strings.IndexByte(line, '$'); d >= 0 && (at < 0 || d < at) {
				at = d
			}
			line = strings.TrimSpace(line[:at])
			if strings.Count(line, " ") < 1 {
				return
			}
			line += openEnd
		}
		words := strings.Fields(strings.TrimSuffix(line, openEnd))
		if len(words) < 2 || strings.HasPrefix(line, "#") || slices.Contains(out, line) || len(out) >= most {
			return
		}
		out = append(out, line)
	}
	fenced, shell := false, false
	for line := range strings.SplitSeq(body, "\n") {
		if lang, ok := strings.CutPrefix(strings.TrimSpace(line), "```"); ok {
			fenced = !fenced
			switch strings.ToLower(strings.TrimSpace(lang)) {
			case "", "sh", "bash", "zsh", "shell", "console", "terminal":
				shell = true
			default:
				shell = false
			}
			continue
		}
		if fenced && shell {
			add(line)
			continue
		}
		for rest := line; ; {
			_, after, ok := strings.Cut(rest, "!`")
			if !ok {
				break
			}
			command, tail, closed := strings.Cut(after, "`")
			if !closed {
				break
			}
			add(command)
			rest = tail
		}
	}
	return out
}
