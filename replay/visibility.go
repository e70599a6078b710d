package replay

import (
	"maps"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// visible follows the listings of an agent and says, for each prompt, what the
// model saw of each skill when it answered, and when that changed. Where this
// client writes no listing to the log, the predicted ones stand in.
func visible(a *Agent, predicted []Effect, rulesOf func(string) *rules.Rules) ([]Visibility, []VisibilityChange) {
	v := &viewer{agent: a, predicted: map[int][]*Effect{}, rulesOf: rulesOf, all: map[string]bool{}, open: -1}
	for i := range predicted {
		if e := &predicted[i]; e.Kind == Listing && e.Unlogged && e.Missing == "" {
			v.predicted[e.Cause] = append(v.predicted[e.Cause], e)
		}
	}
	end := view{entries: map[string]entry{}}
	follow(a.Events, end, view.clone, func(i int, cur view, jumped bool) view {
		if jumped {
			v.open = -1
		}
		end = v.step(i, cur)
		return end
	})
	for i := range v.out {
		if v.out[i].Skills == nil {
			v.answer(i, end)
		}
	}
	for i := range v.out {
		if len(v.out[i].Skills) == len(v.all) {
			continue // nothing is absent, or a prompt before shares the map
		}
		for name := range v.all {
			if _, ok := v.out[i].Skills[name]; !ok {
				v.out[i].Skills[name] = ShownAbsent
			}
		}
	}
	return v.out, v.changes
}

type viewer struct {
	agent     *Agent
	predicted map[int][]*Effect
	rulesOf   func(string) *rules.Rules
	out       []Visibility
	open      int // index in out of the prompt whose answer has not begun, -1 if there is none
	all       map[string]bool
	last      map[string]Shown // what the prompt answered last saw
	changes   []VisibilityChange
}

// view is what stands in the conversation, by name.
type view struct {
	entries   map[string]entry
	predicted bool
}

// entry is an entry of a listing and the record that holds it.
type entry struct {
	shown Shown
	uuid  string
}

func (v view) clone() view { return view{maps.Clone(v.entries), v.predicted} }

func (v *viewer) step(i int, cur view) view {
	e := &v.agent.Events[i]
	before, changed := cur.entries, len(v.predicted[i]) > 0
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
		v.open = len(v.out)
		v.out = append(v.out, o)
	case Compaction:
		cur.entries, changed = map[string]entry{}, true
		for name, n := range before {
			if e.Compaction.Kept[n.uuid] || e.Compaction.Partial == "from" {
				cur.entries[name] = n
			}
		}
	case Listing:
		cur.entries, changed = v.listed(before, e), true
	case Turn:
		if v.open >= 0 {
			v.answer(v.open, cur)
			v.open = -1
		}
	}
	for _, eff := range v.predicted[i] {
		cur.predicted = true
		next := map[string]entry{}
		if !eff.Initial {
			maps.Copy(next, cur.entries)
		}
		for _, l := range eff.Entries {
			next[l.Name] = entry{shown: l.Shown}
			v.all[l.Name] = true
		}
		cur.entries = next
	}
	if changed && !e.Abandoned {
		v.compare(e, before, cur.entries)
	}
	return cur
}

// answer notes what stands in the conversation when a prompt is answered.
func (v *viewer) answer(i int, cur view) {
	o := &v.out[i]
	o.Predicted = cur.predicted
	// Most prompts see what the one before saw: they share a map.
	if v.last == nil || len(v.last) != len(cur.entries) {
		v.last = nil
	}
	for name, n := range cur.entries {
		if v.last != nil && v.last[name] != n.shown {
			v.last = nil
		}
	}
	if v.last == nil {
		v.last = make(map[string]Shown, len(cur.entries))
		for name, n := range cur.entries {
			v.last[name] = n.shown
		}
	}
	o.Skills = v.last
}

// compare notes what an event changed.
func (v *viewer) compare(e *Event, before, after map[string]entry) {
	var changed []VisibilityChange
	for name, n := range after {
		if before[name].shown != n.shown {
			changed = append(changed, VisibilityChange{Skill: name, Shown: n.shown, Where: e.Where, Cause: e.Kind})
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			changed = append(changed, VisibilityChange{Skill: name, Shown: ShownAbsent, Where: e.Where, Cause: e.Kind})
		}
	}
	slices.SortFunc(changed, func(a, b VisibilityChange) int { return strings.Compare(a.Skill, b.Skill) })
	v.changes = append(v.changes, changed...)
}

// listed is what stands announced behind a listing.
func (v *viewer) listed(before map[string]entry, e *Event) map[string]entry {
	after := map[string]entry{}
	a := e.Listing
	if a.HasInitial && !a.Initial {
		maps.Copy(after, before)
	}
	r := v.rulesOf(e.Version)
	for i, l := range skills.ParseListing(a.Content, a.Names) {
		if l.Name == "" {
			continue
		}
		after[l.Name] = entry{shownAs(l, a, i, r), e.Where.UUID}
		v.all[l.Name] = true
	}
	return after
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
