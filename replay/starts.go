package replay

import (
	"reflect"
	"slices"
	"time"

	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// Starts are client processes of several versions that start with the same inputs, apart
// from any session. Use them from one goroutine at a time.
type Starts struct {
	in   *Inputs
	seen []seenBy
}

// seenBy is what versions find that look for skills in the same way.
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
	known := s.found(r)
	if known != nil {
		in.found[key] = known.found
	}
	p := &predictor{in: &in, agent: &Agent{ID: "main"}, ev: &Evidence{}, catalogues: map[catalogueKey]*catalogue{}, rules: r}
	state := State{Clock: at}
	c := p.catalogue(&state)
	if known == nil {
		s.seen = append(s.seen, seenBy{r.Discovery, r.Front, in.found[key]})
	}
	return Moment{c: c, rules: r, process: p.process(&state), lists: p.listsTo(&state)}, p.untrimmed(&state, c, func(*skills.Entry) bool { return true })
}

// found is what a version that looks in the same way has found.
func (s *Starts) found(r *rules.Rules) *seenBy {
	for i := range s.seen {
		if k := &s.seen[i]; reflect.DeepEqual(k.discovery, r.Discovery) && reflect.DeepEqual(k.front, r.Front) {
			return k
		}
	}
	return nil
}
