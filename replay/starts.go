package replay

import (
	"reflect"
	"slices"
	"time"

	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// Starts are client processes of several versions that start with the same inputs, apart
// from any session. Use them from one goroutine at a time.
type Starts struct {
	in   *Inputs
	last *seenBy // what the version before found, which the next one may look for in the same way
}

// seenBy is what a version finds that looks for skills in a certain way.
type seenBy struct {
	discovery skills.Discovery
	front     frontmatter.Dialect
	found     skills.Found
}

// NewStarts prepares the start of the first process of the inputs, whose first state of
// the files holds.
func NewStarts(in *Inputs) *Starts { return &Starts{in: in} }

// At is what a process of a version knows of skills when it starts at a moment, and the
// whole listing that it sends with the first prompt, before it is trimmed: a line for
// each of the moment's entries.
func (s *Starts) At(version string, at time.Time) (Moment, *Untrimmed) {
	in := *s.in
	r := in.Rules(version)
	in.found = map[foundKey]skills.Found{}
	in.Given = slices.Clone(in.Given)
	for i := range in.Given {
		in.Given[i].Place = skills.PlaceOf(in.Given[i].Name, r.Discovery) // it differs by version
	}
	key := foundKey{version: r.Version}
	known := s.last != nil && reflect.DeepEqual(s.last.discovery, r.Discovery) && reflect.DeepEqual(s.last.front, r.Front)
	if known {
		in.found[key] = s.last.found
	}
	p := &predictor{in: &in, agent: &Agent{ID: "main"}, ev: &Evidence{}, catalogues: map[catalogueKey]*catalogue{}, rules: r}
	state := State{Clock: at}
	c := p.catalogue(&state)
	if !known {
		s.last = &seenBy{r.Discovery, r.Front, in.found[key]}
	}
	return Moment{c: c, rules: r, process: p.process(&state), lists: p.listsTo(&state)}, p.untrimmed(&state, c, func(*skills.Entry) bool { return true })
}
