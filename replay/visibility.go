package replay

import (
	"cmp"
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
	v := &viewer{agent: a, predicted: map[int][]*Effect{}, rulesOf: rulesOf, all: map[string]bool{}, open: -1, blank: blankNames(a, predicted)}
	for i := range predicted {
		if e := &predicted[i]; e.Kind == Listing && e.Unlogged && e.Missing == "" {
			v.predicted[e.Cause] = append(v.predicted[e.Cause], e)
		}
	}
	var end view
	follow(a.Events, end, func(v view) view { return v }, func(i int, cur view, jumped bool) view {
		if jumped {
			v.open = -1
		}
		end = v.step(i, cur)
		return end
	})
	names := slices.Sorted(maps.Keys(v.all))
	for i := range v.out {
		if o := &v.out[i]; !o.answered {
			v.answer(i, len(a.Events), end)
		}
		v.out[i].Skills.names = &names
	}
	return v.out, v.changes
}

// BlankNames are the names with blanks in them of the skills that were to be listed,
// which [skills.ParseListing] wants to know.
// They are those that the log names, too.
func (r *AgentResult) BlankNames() []string { return blankNames(r.Agent, r.Predicted) }

func blankNames(a *Agent, predicted []Effect) []string {
	found := map[string]bool{}
	for _, name := range a.BlankNames {
		found[name] = true
	}
	for i := range predicted {
		for j := range predicted[i].Entries {
			if name := predicted[i].Entries[j].Name; skills.Blank(name) {
				found[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// findBlankNames finds the names with blanks in them of the skills that the model called
// or that came back after a compaction.
func (w *walker) findBlankNames() {
	const most = 256 // of them, as each line of a listing is set beside each
	found := map[string]bool{}
	add := func(name string) {
		if name = normalName(name); skills.Blank(name) && len(found) < most {
			found[name] = true
		}
	}
	for i := range w.graph.nodes {
		r := w.graph.nodes[i].rec
		if m := r.Message; m != nil && r.Kind == jsonl.KindAssistant {
			for j := range m.Blocks {
				if b := &m.Blocks[j]; b.Kind == jsonl.BlockToolUse && b.Name == "Skill" {
					name, _ := skillInput(jsonl.Value(b.Input))
					add(name)
				}
			}
		}
		if r.Attachment != nil && r.Attachment.Whole != nil {
			for _, k := range r.Attachment.Whole.Skills {
				add(k.Name)
			}
		}
	}
	w.agent.BlankNames = slices.Sorted(maps.Keys(found))
}

type viewer struct {
	agent     *Agent
	blank     []string // names
	predicted map[int][]*Effect
	rulesOf   func(string) *rules.Rules
	out       []Visibility
	open      int // index in out of the prompt whose answer has not begun, -1 if there is none
	all       map[string]bool
	changes   []VisibilityChange
}

// view is what stands in the conversation, by name: a value.
type view struct {
	entries   table[entry]
	predicted bool
}

// entry is an entry of a listing and the record that holds it.
type entry struct {
	shown Shown
	uuid  string
	event int // that brought it
}

func (v *viewer) step(i int, cur view) view {
	e := &v.agent.Events[i]
	before := cur.entries
	var named []string // what may have changed
	switch e.Kind {
	case Prompt, Slash:
		if e.Kind == Slash && (isBuiltinCommand(e.Tool) || e.Forked) {
			break
		}
		o := Visibility{Where: e.Where, Abandoned: e.Abandoned, Event: i}
		if e.Kind == Prompt {
			o.Prompt = e.PromptN
		} else {
			o.Command = e.Skill
		}
		v.open = len(v.out)
		v.out = append(v.out, o)
	case Compaction:
		if e.Compaction.Partial == "from" {
			break
		}
		if r := v.rulesOf(e.Version); r != nil && ListingPlace(r) != "" {
			break // what stands in the prompt is no part of the conversation
		}
		cur.entries = table[entry]{}
		before.oldestFirst(func(name string, n entry) {
			if e.Compaction.Kept[n.uuid] {
				cur.entries = cur.entries.with(name, n)
			} else {
				named = append(named, name)
			}
		})
	case Listing:
		if e.Place != "" && !v.places(e) {
			break
		}
		a := e.Listing
		if !a.HasInitial || a.Initial {
			cur.entries, named = v.anew(e, cur.entries)
		}
		r := v.rulesOf(e.Version)
		for j, l := range skills.ParseListing(a.Content, a.Names, v.blank...) {
			if l.Name == "" {
				continue
			}
			cur.entries = cur.entries.with(l.Name, entry{shownAs(l, a, j, r), e.Where.UUID, i})
			named = append(named, l.Name)
			v.all[l.Name] = true
		}
	case Turn:
		if v.open >= 0 {
			v.answer(v.open, i, cur)
			v.open = -1
		}
	}
	for _, eff := range v.predicted[i] {
		cur.predicted = true
		if eff.Initial {
			var gone []string
			cur.entries, gone = v.anew(e, cur.entries)
			named = append(named, gone...)
		}
		for _, l := range eff.Entries {
			if l.Shown != ShownAbsent { // else cut off the end
				cur.entries = cur.entries.with(l.Name, entry{shown: l.Shown, event: i})
			}
			named = append(named, l.Name)
			v.all[l.Name] = true
		}
	}
	if !e.Abandoned {
		v.compare(i, named, before, cur.entries)
	}
	return cur
}

// anew is where a whole listing begins, and the names that stood there before.
func (v *viewer) anew(e *Event, before table[entry]) (table[entry], []string) {
	var names []string
	if !e.Abandoned { // else nobody asks for the changes
		before.oldestFirst(func(name string, _ entry) { names = append(names, name) })
	}
	return table[entry]{}, names
}

// places reports whether the client lists where a listing stands.
func (v *viewer) places(e *Event) bool {
	r := v.rulesOf(e.Version)
	return r != nil && e.Place == ListingPlace(r)
}

// answer notes what stands in the conversation when a prompt is answered.
func (v *viewer) answer(i, event int, cur view) {
	o := &v.out[i]
	o.answered, o.Answer, o.Predicted, o.Skills.entries = true, event, cur.predicted, cur.entries
}

// compare notes what an event changed among the skills named.
func (v *viewer) compare(at int, named []string, before, after table[entry]) {
	e := &v.agent.Events[at]
	slices.Sort(named)
	for _, name := range slices.Compact(named) {
		was, _ := before.get(name)
		now, stands := after.get(name)
		switch {
		case !stands:
			if before.has(name) {
				v.changes = append(v.changes, VisibilityChange{Skill: name, Shown: ShownAbsent, Event: at, Where: e.Where, Cause: e.Kind})
			}
		case was.shown != now.shown:
			v.changes = append(v.changes, VisibilityChange{Skill: name, Shown: now.shown, Event: at, Where: e.Where, Cause: e.Kind})
		}
	}
}

// shownAs says how much of an entry a recorded line shows.
func shownAs(l skills.ListedLine, a *jsonl.Attachment, i int, r *rules.Rules) Shown {
	switch {
	case l.Bare:
		return ShownNameOnly
	case !strings.HasSuffix(l.Text, "…"):
		return ShownFull
	case i < len(a.Digests) && len(a.Digests) == len(a.Names) && skills.Digest(cmp.Or(l.Alias, l.Name), l.Text) == a.Digests[i]:
		return ShownFull // the author's own ellipsis
	case r != nil && r.Size.Overflow == budget.OverflowUniform:
		return ShownShortened
	case r != nil && r.Entry.Cap > 0 && budget.Len16(l.Text) < r.Entry.Cap && !r.Entry.CapSetting:
		return ShownFull
	}
	return ShownShortened
}
