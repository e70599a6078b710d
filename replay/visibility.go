package replay

import (
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// visible follows the listings of an agent and says, for each prompt, what the
// model saw of each skill when it answered. Where this client writes no listing
// to the log, the predicted ones stand in.
func visible(a *Agent, predicted []Effect, rulesOf func(string) *rules.Rules) []Visibility {
	v := &viewer{agent: a, predicted: map[int][]*Effect{}, rulesOf: rulesOf}
	for i := range predicted {
		if e := &predicted[i]; e.Kind == Listing && e.Unlogged && e.Missing == "" {
			v.predicted[e.Cause] = append(v.predicted[e.Cause], e)
		}
	}
	v.run()
	return v.out
}

type viewer struct {
	agent     *Agent
	predicted map[int][]*Effect
	rulesOf   func(string) *rules.Rules
	out       []Visibility
	all       map[string]bool
}

// view is what stands in the conversation: entries by name, and the records that
// hold them.
type view struct {
	shown     map[string]Shown
	by        map[string]string // uuid of the record that holds the entry
	predicted bool
}

func (v view) clone() view {
	n := view{map[string]Shown{}, map[string]string{}, v.predicted}
	for k, s := range v.shown {
		n.shown[k], n.by[k] = s, v.by[k]
	}
	return n
}

func (v *viewer) run() {
	v.all = map[string]bool{}
	events := v.agent.Events
	followers := make([]int, len(events)+1)
	for i := range events {
		followers[events[i].Parent+1]++
	}
	keep := map[int]view{-1: {}}
	var cur view
	prev := -1
	open := -1 // index in out of the prompt whose answer has not begun
	for i := range events {
		e := &events[i]
		if e.Parent != prev {
			if k, ok := keep[e.Parent]; ok {
				cur, open = k.clone(), -1
			}
		}
		prev = i
		switch e.Kind {
		case Prompt, Slash:
			if e.Kind == Slash && (isBuiltinCommand(e.Tool) || e.Forked) {
				break
			}
			o := Visibility{Where: e.Where, Abandoned: e.Abandoned}
			if e.Kind == Prompt {
				o.Prompt = e.PromptN
			} else {
				o.Command = e.Skill
			}
			open = len(v.out)
			v.out = append(v.out, o)
		case Compaction:
			next := view{}.clone()
			for name, uuid := range cur.by {
				if e.Compaction.Kept[uuid] || e.Compaction.Partial == "from" {
					next.shown[name], next.by[name] = cur.shown[name], uuid
				}
			}
			cur = next
		case Listing:
			cur = v.listed(cur, e)
		case Turn:
			if open >= 0 {
				v.out[open].Skills = cur.clone().shown
				v.out[open].Predicted = cur.predicted
				open = -1
			}
		}
		for _, eff := range v.predicted[i] {
			cur = cur.clone()
			cur.predicted = true
			if eff.Initial {
				cur.shown, cur.by = map[string]Shown{}, map[string]string{}
			}
			for _, l := range eff.Entries {
				cur.shown[l.Name], cur.by[l.Name] = l.Shown, ""
				v.all[l.Name] = true
			}
		}
		if followers[i+1] > 1 {
			keep[i] = cur.clone()
		}
	}
	for i := range v.out {
		if v.out[i].Skills == nil {
			v.out[i].Skills = cur.clone().shown
			v.out[i].Predicted = cur.predicted
		}
		for name := range v.all {
			if _, ok := v.out[i].Skills[name]; !ok {
				v.out[i].Skills[name] = ShownAbsent
			}
		}
	}
}

func (v *viewer) listed(cur view, e *Event) view {
	cur = cur.clone()
	a := e.Listing
	if a.Initial || !a.HasInitial {
		cur.shown, cur.by = map[string]Shown{}, map[string]string{}
	}
	r := v.rulesOf(e.Version)
	for i, l := range skills.ParseListing(a.Content, a.Names) {
		if l.Name == "" {
			continue
		}
		cur.shown[l.Name], cur.by[l.Name] = shownAs(l, a, i, r), e.Where.UUID
		v.all[l.Name] = true
	}
	return cur
}

// shownAs says how much of an entry a recorded line shows.
func shownAs(l skills.ListedLine, a *jsonl.Attachment, i int, r *rules.Rules) Shown {
	switch {
	case l.Bare:
		return ShownNameOnly
	case !strings.HasSuffix(l.Text, "…"):
		return ShownFull
	case i < len(a.Digests) && len(a.Digests) == len(a.Names) && skills.Digest(firstOf(l.Alias, l.Name), l.Text) == a.Digests[i]:
		return ShownFull // the author's own ellipsis
	case r != nil && r.Size.Overflow == budget.OverflowUniform:
		return ShownShortened
	case r != nil && r.Entry.Cap > 0 && budget.Len16(l.Text) < r.Entry.Cap && !r.Entry.CapSetting:
		return ShownFull
	}
	return ShownShortened
}
