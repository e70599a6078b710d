package why

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Census counts all skills over many sessions. Sessions may be added from several
// goroutines, in any order. What it keeps grows with the skills and with the sessions,
// not with their product, but for a number for each session that names a skill.
type Census struct {
	mu     sync.Mutex
	skills map[string]*counted
	absent map[int]*surveyed // what each session says of a skill that it does not name
}

// counted is one skill in the sessions that name it.
type counted struct {
	tally    Tally
	examples []Example // the earliest of each verdict
	sessions map[int]bool
	exists   bool // not only a name that something was called by
}

// surveyed is what one session says of one skill.
type surveyed struct {
	tally    Tally
	examples []Example
}

// Example is the first question of a verdict.
type Example struct {
	Session, File string
	Start         time.Time
	Prompt        int
	Gate          Gate
	State         State
	Line          int
	Reason        string
	// Private are the parts of the reason that quote what a session said.
	Private []string
}

// Counted is what many sessions say of one skill.
type Counted struct {
	Name  string
	Tally Tally
	// Example is the first with the verdict that tells most; nil where no prompt was asked.
	Example *Example
}

// Add asks a session, which is known by a number of its own, for every skill.
func (c *Census) Add(number int, s *Session) {
	names := s.Names()
	exist := make(map[string]bool, len(names))
	for _, n := range names {
		exist[n] = true
	}
	found := map[string]*surveyed{}
	for name := range s.mentions() {
		found[name] = s.surveyed(name)
	}
	absent := s.surveyed(nobody)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.skills == nil {
		c.skills, c.absent = map[string]*counted{}, map[int]*surveyed{}
	}
	c.absent[number] = absent
	for name, one := range found {
		k := c.skills[name]
		if k == nil {
			k = &counted{sessions: map[int]bool{}}
			c.skills[name] = k
		}
		k.tally.Add(one.tally)
		k.sessions[number] = true
		k.exists = k.exists || exist[name]
		for i := range one.examples {
			k.keep(&one.examples[i])
		}
	}
}

// nobody is a name that no file has, and that no log can name.
const nobody = "\x00"

// mentions are all names of which the session says other things than of any name that
// is not in it: those of its skills, those by which these can be called, and those that
// were called.
func (s *Session) mentions() map[string]bool {
	out := maps.Clone(s.fronts)
	for n := range s.names {
		out[n] = true
	}
	for n := range s.problems {
		out[n] = true
	}
	for n := range s.byEnd {
		out[n] = true
	}
	for _, a := range s.agents {
		for n := range a.attempts {
			out[n] = true
		}
		for n := range a.bodies {
			out[n] = true
		}
		for n := range a.changes {
			out[n] = true
		}
	}
	delete(out, "")
	return out
}

func (s *Session) surveyed(name string) *surveyed {
	out := &surveyed{}
	var firsts []Question
	out.tally, firsts = s.survey(name)
	for i := range firsts {
		q := &firsts[i]
		v := &q.Verdict
		step := q.Step(v.Gate)
		out.examples = append(out.examples, Example{Session: s.result.Session.ID, File: s.result.Session.File, Start: s.result.Session.Start, Prompt: q.Prompt,
			Gate: v.Gate, State: v.State, Line: v.Where.Line, Reason: step.Reason, Private: step.Private})
	}
	return out
}

// keep keeps an example if it is the earliest of its verdict.
func (k *counted) keep(e *Example) {
	for i := range k.examples {
		if x := &k.examples[i]; x.Gate == e.Gate && x.State == e.State {
			if e.before(x) {
				*x = *e
			}
			return
		}
	}
	k.examples = append(k.examples, *e)
}

func (e *Example) before(o *Example) bool {
	return cmp.Or(e.Start.Compare(o.Start), strings.Compare(e.File, o.File)) < 0
}

// Skills are all skills that any session or its files name, by their names: of each the
// sum over all sessions, those that do not name it too.
func (c *Census) Skills() []Counted {
	c.mu.Lock()
	defer c.mu.Unlock()
	numbers := slices.Sorted(maps.Keys(c.absent))
	var out []Counted
	for _, name := range slices.Sorted(maps.Keys(c.skills)) {
		k := c.skills[name]
		if !k.exists {
			continue
		}
		// The examples of other sessions stand behind those of sessions that name it.
		sum, strangers := Tally{}, counted{}
		sum.Add(k.tally)
		for _, n := range numbers {
			if k.sessions[n] {
				continue
			}
			sum.Add(c.absent[n].tally)
			for i := range c.absent[n].examples {
				strangers.keep(&c.absent[n].examples[i])
			}
		}
		one := Counted{Name: name, Tally: sum}
		v, _ := sum.Worst()
		for _, list := range [][]Example{k.examples, strangers.examples} {
			for i := range list {
				if e := &list[i]; one.Example == nil && e.Gate == v.Gate && e.State == v.State {
					one.Example = e
				}
			}
		}
		out = append(out, one)
	}
	return out
}

// Unknown is a name by which the model or the user called a skill that nobody knows.
type Unknown struct {
	Name    string
	Refused int      // calls
	Near    []string // names of skills that are nearly it, the nearest first
}

// Unknown are the names that were called, and that no listing and no file has: the one
// that was called most first.
func (c *Census) Unknown() []Unknown {
	c.mu.Lock()
	defer c.mu.Unlock()
	var known []string
	for _, name := range slices.Sorted(maps.Keys(c.skills)) {
		if c.skills[name].exists {
			known = append(known, name)
		}
	}
	var out []Unknown
	for _, name := range slices.Sorted(maps.Keys(c.skills)) {
		if k := c.skills[name]; !k.exists && k.tally.Known == 0 && k.tally.Refused > 0 {
			out = append(out, Unknown{Name: name, Refused: k.tally.Refused})
		}
	}
	slices.SortStableFunc(out, func(a, b Unknown) int { return cmp.Compare(b.Refused, a.Refused) })
	const most = 100 // of which near names are sought
	for i := range out[:min(len(out), most)] {
		var ends []string
		for _, k := range known {
			if strings.HasSuffix(k, ":"+out[i].Name) {
				ends = append(ends, k)
			}
		}
		out[i].Near = near(out[i].Name, known, ends)
	}
	return out
}

// Prompts counts the prompts and typed lines of the session, without those that a
// rewind left.
func (s *Session) Prompts() int {
	n := 0
	for _, a := range s.agents {
		for i := range a.spans {
			if sp := &a.spans[i]; !sp.Abandoned && (sp.Prompt > 0 || sp.Command != "") {
				n++
			}
		}
	}
	return n
}
