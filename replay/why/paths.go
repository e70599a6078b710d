package why

import (
	"path"
	"sort"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// located are the paths by which a skill's file can have been read: those of its files,
// and of the folders that its bodies name. Where there are none, custom are those that
// it has by custom, in the folders that the client is known to look into.
type located struct {
	folder        string // the name of its folder
	files, custom map[string]bool
}

func (q *query) paths() located {
	k := located{folder: q.sub.Name[strings.LastIndexByte(q.sub.Name, ':')+1:], files: map[string]bool{}, custom: map[string]bool{}}
	if t := q.Session.names[q.sub.Name]; t != nil {
		for _, p := range t.paths {
			k.files[p] = true
		}
		if len(t.paths) == 0 && t.file != "" {
			k.files[t.file] = true
		}
	}
	add := func(g *agent, list []int) {
		for _, i := range list {
			if dir, ok := strings.CutPrefix(g.Agent.Events[i].Text, rules.BaseDirectory); ok {
				dir, _, _ = strings.Cut(dir, "\n")
				k.files[path.Join(dir, "SKILL.md")] = true
			}
		}
	}
	for _, g := range q.agents {
		for _, n := range q.names {
			add(g, g.bodies[n])
		}
	}
	for _, list := range q.byUse {
		add(q.agent, list)
	}
	if len(k.files) > 0 || strings.Contains(q.sub.Name, ":") {
		return k
	}
	if cwd := q.result.Session.CWD; cwd != "" {
		k.custom[path.Join(cwd, ".claude/skills", k.folder, "SKILL.md")] = true
	}
	for n := range q.spans {
		if m, ok := q.course.At(q.spans[n].Event); ok && m.Process() != nil {
			if dir := m.Process().ConfigDir; dir != "" {
				k.custom[path.Join(dir, "skills", k.folder, "SKILL.md")] = true
			}
			break
		}
	}
	return k
}

// own reports whether a path is that of the skill's file; sure is false where only its
// last parts say so.
func (k *located) own(name string) (own, sure bool) {
	name = path.Clean(name)
	if len(k.files) > 0 {
		return k.files[name], true
	}
	if k.custom[name] {
		return true, true
	}
	return strings.HasSuffix(name, "/skills/"+k.folder+"/SKILL.md"), false
}

// elsewhere reports whether all that a path or a command names of a skill folder of
// that name is known to be another's.
func (k *located) elsewhere(text string) bool {
	if len(k.files) == 0 {
		return false
	}
	mark := "skills/" + k.folder + "/"
	other := false
	for from := 0; ; {
		i := strings.Index(text[from:], mark)
		if i < 0 {
			return other
		}
		i += from
		from = i + len(mark)
		start := strings.LastIndexAny(text[:i], " \t\n\"'`=(") + 1
		if text[start] != '/' || k.files[path.Join(text[start:i], mark, "SKILL.md")] {
			return false
		}
		other = true
	}
}

// findReads finds the first Read of the skill's file in each span, and the first use of
// a file in its folder.
func (q *query) findReads() {
	q.located = q.paths()
	k := &q.located
	first := func(into map[int]int, span, i int) {
		if old, ok := into[span]; span >= 0 && (!ok || i < old) {
			into[span] = i
		}
	}
	look := func(key string) {
		for _, i := range q.agent.reads[key] {
			if own, _ := k.own(q.event(i).Path); own {
				first(q.reads, q.owner[i], i)
			}
		}
	}
	folders := map[string]bool{k.folder: true}
	for file := range k.files {
		if dir, ok := strings.CutSuffix(file, "/SKILL.md"); ok {
			folders[path.Base(dir)] = true
		} else {
			look(file) // the file of a command
		}
	}
	for folder := range folders {
		look(folder)
	}
	for _, n := range q.names {
		for _, i := range q.hands[n] {
			g := &q.agent.Agent.Segments[i]
			if text := q.agent.toolText(g.Line); text != "" && k.elsewhere(text) {
				continue
			}
			first(q.hand, q.spanOfLine(g.Line), i)
		}
	}
}

// toolText is the path or the command of the tool whose result stands at a line, "" if
// it is not known.
func (a *agent) toolText(line int) string {
	if a.texts == nil {
		a.texts = map[int]string{}
		for _, i := range a.touches {
			e := &a.Agent.Events[i]
			a.texts[e.Where.Line] += e.Path + "\n"
		}
		for i := range a.Agent.Commands {
			c := &a.Agent.Commands[i]
			a.texts[c.Where.Line] += c.Text + "\n"
		}
	}
	return a.texts[line]
}

// written is the number of changes of skill files that the agent has made by the time
// of a prompt.
func (a *agent) written(n int) int { return sort.SearchInts(a.writes, a.spans[n].Event) }

// wrote is the last change of a file by the time of a prompt, if the file then held the
// text, or any where text is empty; nil if there is none.
func (a *agent) wrote(n int, path, text string) *replay.Event {
	for k := a.written(n) - 1; k >= 0; k-- {
		e := &a.Agent.Events[a.writes[k]]
		switch ch := e.Change; {
		case ch.Removed && strings.HasPrefix(path, strings.TrimSuffix(ch.Path, "/")+"/"):
			return nil
		case ch.Path != path:
		case ch.Removed || text != "" && (ch.Unknown || ch.Text != text):
			return nil
		default:
			return e
		}
	}
	return nil
}
