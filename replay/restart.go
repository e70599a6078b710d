package replay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
)

// restarts is the input that is missing where a client process may have ended and
// another have taken the conversation up: no log of a version before 2.1.281 tells,
// nor does one whose client was killed.
const restarts = "whether the client was restarted"

// UnseenRestart is the input that is missing where a restart would change what stood
// before the model, and the log does not tell of one.
const UnseenRestart = restarts

// orderAfterResume is the input that is missing where the clock of the client's
// machine decides in which order a resume puts skills back.
const orderAfterResume = "the order after a resume"

// restarted marks effects that fit the log only if the client was restarted.
func restarted(effects []Effect) []Effect {
	for i := range effects {
		effects[i].Missing, effects[i].Reason = restarts, "as after a restart of the client, of which the log does not tell"
	}
	return effects
}

// delivered is deliver where a restart may have passed unseen: if the log shows
// what a client would send that has taken the conversation up since the skill was
// last sent, that is what happened.
func (p *predictor) delivered(s State, e *Event, name, key, text string, full Effect) (State, []Effect) {
	effects := p.deliver(&s, e, name, key, text, full)
	if p.in.Exact || p.agent.ID != "main" || s.Prompts < 2 || p.formed(effects) {
		return s, effects
	}
	next := resumed(s, s.Process)
	next.Starting = false
	if alt := p.deliver(&next, e, name, key, text, full); p.formed(alt) {
		return next, restarted(alt)
	}
	return s, effects
}

// formed reports whether the log shows effects of these kinds for the call in hand,
// and the same notes. The texts of bodies are not compared.
func (p *predictor) formed(effects []Effect) bool {
	got := p.ev.byUse[p.e.ToolUse]
	if len(got) != len(effects) {
		return false
	}
	for i := range effects {
		o := &p.agent.Events[got[i]]
		if o.Kind != effects[i].Kind || o.Kind == Note && !p.same(effects[i].Text, o.Text) {
			return false
		}
	}
	return true
}

// reattached is reattach where a restart may have passed unseen: before each prompt
// the register may have been emptied, but for what the conversation held of it.
func (p *predictor) reattached(s State) (State, Effect) {
	invoked := s.Invoked.values()
	eff := p.reattach(invoked)
	got := p.nextReattachment()
	if p.in.Exact || p.agent.ID != "main" || p.putBack(eff, got) {
		return s, eff
	}
	// Only the prompts at which a skill was invoked make a difference.
	froms := []int{2}
	for i := range invoked {
		froms = append(froms, invoked[i].Prompt+1)
	}
	slices.SortFunc(froms, func(a, b int) int { return b - a })
	for _, from := range slices.Compact(froms) {
		if from < 2 || from > s.Prompts+1 {
			continue
		}
		list := slices.DeleteFunc(slices.Clone(invoked), func(inv Invoked) bool { return inv.Prompt < from })
		for _, old := range s.Restored {
			if !slices.ContainsFunc(list, func(inv Invoked) bool { return inv.Name == old.Name }) {
				list = append(list, old)
			}
		}
		if alt := p.reattach(list); p.putBack(alt, got) {
			s.Invoked = registerOf(list)
			return s, restarted([]Effect{alt})[0]
		}
	}
	return s, eff
}

// registerOf is a register of skills, the latest first.
func registerOf(list []Invoked) table[Invoked] {
	var t table[Invoked]
	for i := len(list) - 1; i >= 0; i-- {
		t = t.with(list[i].Name, list[i])
	}
	return t
}

// nextReattachment is the event at which the log shows what the compaction in hand
// put back; nil if nothing was.
func (p *predictor) nextReattachment() *Event {
	for j := p.event + 1; j < len(p.agent.Events); j++ {
		switch e := &p.agent.Events[j]; e.Kind {
		case Reattachment:
			return e
		case Turn, Compaction:
			return nil
		}
	}
	return nil
}

// putBack reports whether a reattachment holds just the predicted bodies, in any order.
func (p *predictor) putBack(eff Effect, got *Event) bool {
	if got == nil {
		return len(eff.Skills) == 0
	}
	want := slices.Clone(eff.Skills)
	for i := range want {
		if want[i].Path == "" {
			want[i].Path = pathOf(want[i].Name, got)
		}
	}
	return sameSet(want, got.Skills, p.same)
}

// reminded is the conversation behind a reattachment that no file read now explains:
// what it holds was put back, and nothing else.
func reminded(c Conversation, got *Event) Conversation {
	c.Reminder, c.Restored = table[Reminded]{}, nil
	for _, k := range got.Skills {
		inv := Invoked{Name: k.Name, Path: k.Path, Key: cmp.Or(bodyKey(k.Content), k.Name), Content: k.Content}
		r := Reminded{Text: k.Content, Cut: strings.HasSuffix(k.Content, budget.ReattachMarker)}
		if full, ok := c.Latest.get(inv.Key); ok && r.Cut {
			r.Text = full
		} else {
			c.Latest = c.Latest.with(inv.Key, k.Content)
		}
		c.Reminder = c.Reminder.with(inv.Key, r)
		c.Restored = append(c.Restored, inv)
	}
	return c
}

// pathOf is the recorded path of a skill whose own is not known.
func pathOf(name string, e *Event) string {
	for i := range e.Skills {
		if e.Skills[i].Name == name {
			return e.Skills[i].Path
		}
	}
	return ""
}

// same compares a predicted text with a recorded one.
func (p *predictor) same(predicted, recorded string) bool {
	if p.in.Same != nil {
		return p.in.Same(predicted, recorded)
	}
	return Exactly(predicted, recorded)
}
