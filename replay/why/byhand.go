package why

import (
	"maps"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/skills"
)

// byHand is what the model ran of a skill's commands in the turn of a prompt.
type byHand struct {
	first int // the command that came first: an index among the agent's
	lines []ranLine
	of    int // the lines that its text has
}

// ranLine is a command line of a skill's text, and the command that ran it first.
type ranLine struct {
	shellLine
	command int
}

// findByHand finds the commands of the skill's text that the model ran itself: those
// that stand in its code, and in no other skill's. Many texts tell to run what anybody
// runs, so that one everyday line says nothing: it takes one that hardly stands
// anywhere else, or several of them in one turn.
func (q *query) findByHand() {
	if len(q.agent.Agent.Commands) == 0 {
		return
	}
	own := q.ownLines()
	found := map[int]*byHand{}
	for _, line := range own {
		if q.inBodies(line.text) > 1 {
			continue
		}
		at := map[int]int{} // the first command that ran it, by span
		text, open := strings.CutSuffix(line.text, openEnd)
		names := q.ranCommands()
		for i, _ := slices.BinarySearch(names, text); i < len(names); i++ {
			if !strings.HasPrefix(names[i], text) || names[i] != text && !open {
				break
			}
			for _, c := range q.agent.commands[names[i]] {
				if e := q.agent.Agent.Commands[c].Event; e >= 0 && q.owner[e] >= 0 {
					if first, ok := at[q.owner[e]]; !ok || c < first {
						at[q.owner[e]] = c
					}
				}
			}
		}
		// A command that is run for one prompt after the other is the session's own.
		const common = 3 // prompts
		if len(at) >= common && !ownFile(text, q.sub.Name) {
			continue
		}
		for n, c := range at {
			h := found[n]
			if h == nil {
				h = &byHand{first: c, of: len(own)}
				found[n] = h
			}
			h.first = min(h.first, c)
			h.lines = append(h.lines, ranLine{line, c})
		}
	}
	const several = 3 // everyday lines
	for n, h := range found {
		tells := func(l ranLine) bool { return rare(l.text) || ownFile(l.text, q.sub.Name) }
		if len(h.lines) >= several || len(h.lines) > 1 && len(h.lines) == h.of || slices.ContainsFunc(h.lines, tells) {
			q.ran[n] = h
		}
	}
}

// ownLines are the command lines of the skill's text.
func (q *query) ownLines() []shellLine {
	if k := q.file(); k != nil {
		return shellLines(k.Body, strings.Count(k.Text[:max(len(k.Text)-len(k.Body), 0)], "\n"))
	}
	for _, n := range q.names {
		if list := q.bodies[n]; len(list) > 0 {
			return logLines(q.event(list[0]).Text)
		}
	}
	return nil
}

// logLines are the command lines of a body as the log has it: which lines of the file
// they are is not known.
func logLines(body string) []shellLine {
	out := shellLines(body, 0)
	for i := range out {
		out[i].line = 0
	}
	return out
}

// ownFile reports whether a command line names a file of the skill's folder: by the
// folder, or by one of those that skills keep beside their text.
func ownFile(line, name string) bool {
	folder := "/" + name[strings.LastIndexByte(name, ':')+1:] + "/"
	for _, w := range strings.Fields(line) {
		w = strings.TrimPrefix(strings.Trim(w, `"'`), "./")
		if strings.Contains(w, folder) && strings.Contains(w, "skills/") {
			return true
		}
		dir, file, ok := strings.Cut(w, "/")
		if ok && file != "" && slices.Contains([]string{"scripts", "references", "assets", "templates"}, dir) {
			return true
		}
	}
	return false
}

// rare reports whether a command line is one that hardly stands anywhere else: it is
// long, and an argument of it is more than a flag and a plain word. What people run
// every day must be longer still.
func rare(line string) bool {
	const (
		long     = 20 // bytes
		longer   = 40
		argument = 6
	)
	line = strings.TrimSuffix(line, openEnd)
	words := strings.Fields(line)
	if len(words) < 3 || len(line) < long {
		return false
	}
	if (everyday[words[0]] || everydayVerb[words[1]]) && len(line) < longer {
		return false
	}
	return slices.ContainsFunc(words[1:], func(w string) bool {
		if strings.HasPrefix(w, "-") {
			return strings.Contains(w, "=") && len(w) >= 2*argument
		}
		return len(w) >= argument && strings.ContainsAny(w, "/.:=_@%#0123456789\"'")
	})
}

// everyday are programs, and everydayVerb the first arguments of others, whose short
// commands anybody may run for anything.
var everyday, everydayVerb = words("awk cat cd chmod cp curl diff echo env export find git grep head jq kill ls make mkdir mv ps pwd rg rm sed sort source tail tar test touch tree wc which xargs"),
	words("add build check ci clean dev fmt i init install lint lock pull push restart start status sync test tidy up update vet")

func words(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
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

// inBodies is the number of skills whose text has a command line: of their files, or
// where none are known of what the log shows. Two skills with one text count once.
func (q *query) inBodies(line string) int {
	if q.shell == nil {
		q.shell = map[string]int{}
		seen := map[string]bool{}
		note := func(body string) {
			if seen[body] {
				return
			}
			seen[body] = true
			for _, l := range shellLines(body, 0) {
				q.shell[l.text]++
			}
		}
		files := false
		for n := range q.spans {
			if m, ok := q.course.At(q.spans[n].Event); ok && m.Missing() == "" {
				for _, st := range m.Skills() {
					note(st.Skill.Body)
					files = true
				}
				break
			}
		}
		if !files {
			for _, a := range q.agents {
				for _, name := range slices.Sorted(maps.Keys(a.bodies)) {
					note(a.Agent.Events[a.bodies[name][0]].Text)
				}
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

// shellLine is a command line of a skill's text. Line is that of its file, 0 if it is
// not known.
type shellLine struct {
	text string
	line int
}

// String is the line as it is shown.
func (l shellLine) String() string {
	text, open := strings.CutSuffix(l.text, openEnd)
	if open {
		text += " …"
	}
	return text
}

// shellLines are the commands that stand in the code of a text: in blocks that are
// fenced as a shell's or as nothing, and behind !` for the client. One word alone is
// none, and what follows a placeholder is left open. Before is the number of lines that
// stand above the text in its file.
func shellLines(body string, before int) []shellLine {
	const most = 256 // of one text
	var out []shellLine
	at := before
	add := func(line string) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
		if cut := strings.IndexAny(line, "<{$"); cut >= 0 {
			line = strings.TrimSpace(line[:cut])
			if strings.Count(line, " ") < 1 {
				return
			}
			line += openEnd
		}
		words := strings.Fields(strings.TrimSuffix(line, openEnd))
		same := func(l shellLine) bool { return l.text == line }
		if len(words) < 2 || strings.HasPrefix(line, "#") || slices.ContainsFunc(out, same) || len(out) >= most {
			return
		}
		out = append(out, shellLine{line, at})
	}
	fenced, shell := false, false
	for line := range strings.SplitSeq(body, "\n") {
		at++
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
