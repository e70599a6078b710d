package cost

import (
	"math"
	"slices"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// putBack are the bodies that compactions would have put back without some skills:
// what these leave of the room, others take.
type putBack struct {
	w      *WhatIf
	client string
	d      *changed
	latest []invoked // the last invoked first
	// old is what was put back at the last compaction, and more what would have come
	// beside the skills that stay; estimates of tokens.
	old, more float64
}

// invoked is a skill with the text that it last had.
type invoked struct{ name, text string }

// event follows the timeline of an agent.
func (b *putBack) event(e *replay.Event) {
	switch e.Kind {
	case replay.Body:
		b.invoke(e.Skill, e.Text)
	case replay.Note:
		if i := slices.IndexFunc(b.latest, func(k invoked) bool { return k.name == e.Skill }); i >= 0 {
			b.invoke(e.Skill, b.latest[i].text)
		}
	case replay.Compaction:
		b.old, b.more = 0, 0
	case replay.Reattachment:
		b.again(e)
	}
}

func (b *putBack) invoke(name, text string) {
	rest := slices.DeleteFunc(b.latest, func(k invoked) bool { return k.name == name })
	b.latest = slices.Insert(rest, 0, invoked{name, text})
}

// again works out what a compaction would have put back.
func (b *putBack) again(e *replay.Event) {
	back := map[string]string{}
	b.old, b.more = 0, 0
	for _, k := range e.Skills {
		back[k.Name] = k.Content
		b.old += estimate(k.Content)
	}
	if !slices.ContainsFunc(e.Skills, func(k jsonl.InvokedSkill) bool { return slices.Contains(b.w.Remove, k.Name) }) ||
		!slices.ContainsFunc(b.latest, func(k invoked) bool { return back[k.name] == "" }) {
		return // nothing leaves room, or nobody waits for it
	}
	limit, ok := b.limit(e.Version)
	if !ok {
		b.d.Dropping++
		return
	}
	// The rules must give what the log has, or not all is known.
	kept := keep(b.latest, limit)
	if len(kept) != len(back) {
		b.d.Dropping++
		return
	}
	for name, text := range kept {
		if back[name] != text {
			b.d.Dropping++
			return
		}
	}
	stay := slices.DeleteFunc(slices.Clone(b.latest), func(k invoked) bool { return slices.Contains(b.w.Remove, k.name) })
	then := keep(stay, limit)
	for _, k := range stay {
		b.more += estimate(then[k.name])
	}
	for _, k := range e.Skills {
		if !slices.Contains(b.w.Remove, k.Name) {
			b.more -= estimate(k.Content)
		}
	}
	b.d.PutBack++
}

func (b *putBack) limit(version string) (budget.Reattachment, bool) {
	table, err := rules.For(b.client)
	if err != nil {
		return budget.Reattachment{}, false
	}
	at, err := table.At(version)
	if err != nil {
		return budget.Reattachment{}, false
	}
	return at.Reattachment, true
}

// keep are the texts that fit, by name.
func keep(list []invoked, limit budget.Reattachment) map[string]string {
	var contents []string
	for _, k := range list {
		contents = append(contents, k.text)
	}
	out := map[string]string{}
	for _, r := range budget.Reattach(contents, limit) {
		if r.Kept {
			out[list[r.Index].name] = r.Content
		}
	}
	return out
}

// added is what a request would have had beside the skills that stay, billed like what
// was put back.
func (b *putBack) added(charges []ledger.Charge) (more ledger.Tokens) {
	if b.more <= 0 || b.old <= 0 {
		return more
	}
	var had ledger.Tokens
	for i := range charges {
		if charges[i].Part == replay.PartReattachment {
			had.Add(charges[i].Tokens)
		}
	}
	return alike(&had, b.more/b.old)
}

// alike are tokens in proportion to others, kind by kind.
func alike(like *ledger.Tokens, part float64) ledger.Tokens {
	kinds := []float64{float64(like.Input), float64(like.CacheWrite5m), float64(like.CacheWrite1h), float64(like.CacheRead)}
	sum := kinds[0] + kinds[1] + kinds[2] + kinds[3]
	if sum == 0 {
		return ledger.Tokens{}
	}
	n := budget.Apportion(int64(math.Round(sum*part)), kinds)
	return ledger.Tokens{Input: n[0], CacheWrite5m: n[1], CacheWrite1h: n[2], CacheRead: n[3]}
}
