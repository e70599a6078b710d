package mine

import (
	"fmt"

	"github.com/skilltrace/skilltrace/replay"
)

// Agree compares a replayed fixture with the session that it was cut from, and gives the
// fixture's cases as it shows them: with its lines and its texts. The error names the first thing that a case shows otherwise.
// Redacted fixtures may have other texts.
func Agree(whole, fixture *replay.Result, f *Fixture, redacted bool) ([]Case, error) {
	if len(fixture.Agents) == 0 {
		return nil, fmt.Errorf("the fixture holds no main loop")
	}
	if n := len(fixture.Session.Defects); n > 0 {
		d := fixture.Session.Defects[0]
		return nil, fmt.Errorf("line %d of the fixture: %s", d.Pos.Line, d.Reason)
	}
	old := &miner{result: whole, main: &whole.Agents[0]}
	cut := &miner{result: fixture, main: &fixture.Agents[0]}
	now := map[string]*replay.Visibility{}
	for i := range cut.main.Visibility {
		v := &cut.main.Visibility[i]
		now[v.Where.UUID] = v
	}
	then := map[int]*replay.Visibility{}
	for i := range old.main.Visibility {
		then[old.main.Visibility[i].Event] = &old.main.Visibility[i]
	}
	out := make([]Case, len(f.Cases))
	for i, c := range f.Cases {
		a, b := then[c.event], now[c.Where.UUID]
		if b == nil {
			return nil, fmt.Errorf("prompt %d is no prompt of the fixture", c.Prompt)
		}
		differs := func(what string, got, want any) error {
			return fmt.Errorf("prompt %d, line %d of the session: the fixture shows %s %v, the session %v", c.Prompt, a.Where.Line, what, got, want)
		}
		before, after := &old.main.Agent.Events[a.Event], &cut.main.Agent.Events[b.Event]
		switch {
		case after.Abandoned:
			return nil, differs("a prompt", "that a rewind left", "has it")
		case b.Prompt != c.Prompt:
			return nil, differs("the number", b.Prompt, c.Prompt)
		case !redacted && before.Text != after.Text:
			return nil, differs("the text", after.Text, before.Text)
		case before.Mode != after.Mode:
			return nil, differs("the mode", after.Mode, before.Mode)
		case before.Version != after.Version:
			return nil, differs("the version", after.Version, before.Version)
		case a.Skills.Len() != b.Skills.Len():
			return nil, differs("the number of entries", b.Skills.Len(), a.Skills.Len())
		}
		for name, shown := range a.Skills.All() {
			if got := b.Skills.Of(name); got != shown {
				return nil, differs(name, got, shown)
			}
		}
		was, is := old.standing(a), cut.standing(b)
		if len(was) != len(is) {
			return nil, differs("the number of texts", len(is), len(was))
		}
		for j := range was {
			if !redacted && was[j] != is[j] {
				return nil, differs("an entry", is[j].Raw, was[j].Raw)
			}
		}
		c.Text, c.Where, c.Listed, c.event = after.Text, after.Where, b.Skills.Len(), b.Event
		out[i] = c
	}
	return out, nil
}
