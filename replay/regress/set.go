package regress

import (
	"slices"
	"strings"
	"sync"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// Set are the skills in some folders. Use it from any goroutine.
type Set struct {
	Name string // what the folders are, for people: "git main", ".claude/skills"
	tree skills.Tree
	dirs []string
	mu   sync.Mutex
	read map[string]*catalogue
}

// NewSet makes a set of the skills in folders of a tree, absolute slash-separated paths.
// A folder holds a folder with SKILL.md for each skill; that of a plugin, or the skills
// folder in it, gives skills with the plugin's prefix.
func NewSet(name string, tree skills.Tree, dirs []string) *Set {
	return &Set{Name: name, tree: tree, dirs: dirs, read: map[string]*catalogue{}}
}

// catalogue is a set as one client version reads it.
type catalogue struct {
	opts  skills.Options
	rules *rules.Rules
	found skills.Found
}

func (s *Set) catalogue(r *rules.Rules) *catalogue {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.read[r.Version]; c != nil {
		return c
	}
	in := skills.Inputs{}
	in.SkillDirs, in.PluginDirs = skills.GivenDirs(s.tree, s.dirs)
	c := &catalogue{rules: r, opts: skills.Options{Discovery: r.Discovery, Text: r.Entry, Dialect: r.Front}}
	c.found = skills.Discover(s.tree, in, r.Discovery, r.Front)
	s.read[r.Version] = c
	return c
}

// Names are the skills of a set as a client version calls them, in listing order.
func (s *Set) Names(r *rules.Rules) []string {
	var out []string
	for _, k := range s.catalogue(r).found.Skills {
		if !slices.Contains(out, k.Name) {
			out = append(out, k.Name)
		}
	}
	return out
}

// Problems are the files of a set that look like skills and are none, or that cannot be
// read, for a client version.
func (s *Set) Problems(r *rules.Rules) []skills.Problem { return s.catalogue(r).found.Problems }

// candidate is a skill of a set for one session.
type candidate struct {
	name   string // by which the session calls it
	entry  *skills.Entry
	reason skills.Reason // why it is not listed
	detail string
}

// candidates are the skills of the set under the settings of a session. Known tells the
// names that the session has; a skill whose bare name it lacks, and which one plugin or
// folder of it has, is that one. Active are the names of skills with paths that came in.
func (c *catalogue) candidates(known map[string]bool, active func(*skills.Skill, []string) bool, set replay.Settings) []candidate {
	settings := skills.Settings{Overrides: map[string]skills.Override{}, MaxText: set.MaxDesc}
	for n, o := range set.Overrides {
		settings.Overrides[n] = skills.Override(o)
	}
	list := skills.Eligible(c.found, nil, nil, settings, c.opts)
	var came []string
	for i := range list {
		if st := &list[i]; st.Reason == skills.HeldBack && active(st.Skill, skills.Patterns(st.Skill, c.opts.Discovery, c.opts.Dialect)) {
			came = append(came, st.Skill.Path)
		}
	}
	if len(came) > 0 {
		list = skills.Eligible(c.found, nil, came, settings, c.opts)
	}
	var out []candidate
	entries := skills.Entries(list, nil, settings, c.opts)
	listed := map[string]bool{}
	for i := range entries {
		e := &entries[i]
		listed[e.Name] = true
		out = append(out, candidate{name: calledBy(e.Name, known), entry: e})
	}
	for i := range list {
		if st := &list[i]; st.Reason != skills.Listed && !listed[st.Skill.Name] {
			listed[st.Skill.Name] = true
			out = append(out, candidate{name: calledBy(st.Skill.Name, known), reason: st.Reason, detail: st.Detail})
		}
	}
	return out
}

// calledBy is the name by which a session calls a skill.
func calledBy(name string, known map[string]bool) string {
	if known[name] || strings.Contains(name, ":") {
		return name
	}
	found := ""
	for n := range known {
		if strings.HasSuffix(n, ":"+name) {
			if found != "" {
				return name // of several, none is meant for certain
			}
			found = n
		}
	}
	if found == "" {
		return name
	}
	return found
}

// reasonWords say why a skill is not listed.
func reasonWords(r skills.Reason, detail string) string {
	st := skills.Status{Reason: r, Detail: detail}
	return st.Words()
}
