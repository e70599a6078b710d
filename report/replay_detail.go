package report

import (
	"slices"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// ReplayDetail is what a page shows of a session beside what a screen does. A document
// without it is smaller, and makes a page without its parts.
type ReplayDetail struct {
	// Steps are what each model request was charged.
	Steps  map[*replay.APICall]StepCharge
	Ledger []LedgerRow
}

// StepCharge is the prompt of a model request by layer, in tokens, and its price.
type StepCharge struct {
	Layers       LayerTokens
	CostMicroUSD *int64
}

// LayerTokens are the tokens of a prompt by the layer that put them there.
type LayerTokens struct {
	Listing      int64 `json:"listing"`
	Body         int64 `json:"body"`
	Reattachment int64 `json:"reattachment"`
	Reference    int64 `json:"reference"`
	Call         int64 `json:"call"`
	Other        int64 `json:"other"`
}

// Of is the count of a layer, nil for one that is no part of a prompt.
func (l *LayerTokens) Of(layer string) *int64 {
	switch replay.Layer(layer) {
	case replay.LayerListing:
		return &l.Listing
	case replay.LayerBody:
		return &l.Body
	case replay.LayerReattachment:
		return &l.Reattachment
	case replay.LayerReference:
		return &l.Reference
	case replay.LayerCall:
		return &l.Call
	case replay.LayerOther:
		return &l.Other
	}
	return nil
}

// ContextDetail is more of one model request.
type ContextDetail struct {
	Time *time.Time `json:"time,omitempty"`
	// Event is the last event of the agent's timeline before it, from 1, and Prompt the
	// prompt that it belongs to.
	Event  int    `json:"event,omitempty"`
	Prompt int    `json:"prompt,omitempty"`
	Model  string `json:"model,omitempty"`
	Output int64  `json:"output,omitempty"` // tokens
	// Layers sum to the tokens of the prompt.
	Layers       *LayerTokens `json:"layers,omitempty"`
	CostMicroUSD *int64       `json:"cost_microusd,omitempty"`
	Cost         string       `json:"cost,omitempty"`
}

// LedgerRow is what an agent took for a layer, a part of it and a skill.
type LedgerRow struct {
	Agent        string   `json:"agent"`
	Layer        string   `json:"layer"`
	Part         string   `json:"part"`
	Skill        string   `json:"skill,omitempty"`
	Calls        int      `json:"calls"` // requests of which something stands here
	Once         int64    `json:"once"`
	Carried      int64    `json:"carried"`
	Tokens       TokenSum `json:"tokens"`
	CostMicroUSD *int64   `json:"cost_microusd,omitempty"`
	Cost         string   `json:"cost,omitempty"`
	Basis        string   `json:"basis"`
}

// ListedEntry is a line of a listing.
type ListedEntry struct {
	Name  string `json:"name"`
	State string `json:"state"` // full, shortened, name_only, absent
	Text  *Text  `json:"text,omitempty"`
	// Whole is the text before anything was cut, where it is known and differs, and
	// WholeFrom says from where: log or files.
	Whole     *Text  `json:"whole,omitempty"`
	WholeFrom string `json:"whole_from,omitempty"`
}

// fill adds the detail to a session.
func (d *ReplayDetail) fill(out *ReplaySession, r *replay.Result) {
	out.Ledger = d.Ledger
	for i := range out.Ledger {
		out.Ledger[i].Cost = usd(out.Ledger[i].CostMicroUSD)
	}
	for i := range r.Agents {
		a, to := &r.Agents[i], &out.Agents[i]
		to.Events = timelineEvents(a.Agent, r.Session.Start, TimelineFilter{}, false)
		d.context(to, a.Agent)
		seenFrom(to, a)
		entries(to, a)
	}
}

// context tells more of each request, in the order of [context].
func (d *ReplayDetail) context(to *ReplayAgent, a *replay.Agent) {
	n := 0
	for i := range a.Calls {
		c := &a.Calls[i]
		if !c.HasUsage || c.Abandoned {
			continue
		}
		more := &ContextDetail{Time: timeOf(c.Where.Time), Event: min(c.Event, len(a.Events)), Model: c.Model, Output: c.Usage.Output}
		if more.Event > 0 {
			more.Prompt = a.Events[more.Event-1].PromptN
		}
		if s, ok := d.Steps[c]; ok {
			more.Layers, more.CostMicroUSD, more.Cost = &s.Layers, s.CostMicroUSD, usd(s.CostMicroUSD)
		}
		to.Context[n].ContextDetail = more
		n++
	}
}

// seenFrom names the listings whose entries stood at each prompt.
func seenFrom(to *ReplayAgent, r *replay.AgentResult) {
	at := map[int]int{} // listings from 1, by their events
	for i := range to.Listings {
		at[to.Listings[i].event] = i + 1
	}
	var before replay.Seen
	var same []int
	for i := range r.Visibility {
		seen := r.Visibility[i].Skills
		if i == 0 || !seen.Same(before) {
			same = nil
			for name := range seen.All() {
				if event, ok := seen.From(name); ok && at[event] > 0 && !slices.Contains(same, at[event]) {
					same = append(same, at[event])
				}
			}
			slices.Sort(same)
		}
		before = seen
		to.Visibility[i].Listings = same
	}
}

// entries reads the lines of each listing. What was cut off is taken from another listing
// that shows it, else from the skill files.
func entries(to *ReplayAgent, r *replay.AgentResult) {
	var log, files map[string]string
	states := statesOf(to, r)
	full := func(name string) (string, string) {
		if log == nil {
			log, files = wholeTexts(to, r)
		}
		if text := log[name]; text != "" {
			return text, "log"
		}
		if text := files[name]; text != "" {
			return text, "files"
		}
		return "", ""
	}
	for i := range to.Listings {
		l := &to.Listings[i]
		if l.Predicted {
			l.Entries = predictedEntries(r, l.event)
			continue
		}
		e := &r.Agent.Events[l.event]
		if e.Listing == nil {
			continue
		}
		for _, line := range skills.ParseListing(e.Listing.Content, e.Listing.Names) {
			if line.Name == "" {
				continue
			}
			entry := ListedEntry{Name: line.Name, State: string(states[place{l.event, line.Name}])}
			if entry.State == "" {
				entry.State = string(replay.ShownFull)
				if line.Bare {
					entry.State = string(replay.ShownNameOnly)
				}
			}
			if !line.Bare {
				entry.Text = new(Text(line.Text))
			}
			if entry.State != string(replay.ShownFull) {
				if whole, from := full(line.Name); whole != line.Text && strings.HasPrefix(whole, strings.TrimSuffix(line.Text, "…")) {
					entry.Whole, entry.WholeFrom = new(Text(whole)), from
				}
			}
			l.Entries = append(l.Entries, entry)
		}
	}
}

// place is an entry of a listing: the event that brought it, and its name.
type place struct {
	event int
	name  string
}

// statesOf are the states in which entries were seen.
func statesOf(to *ReplayAgent, r *replay.AgentResult) map[place]replay.Shown {
	out := map[place]replay.Shown{}
	var before replay.Seen
	for i := range r.Visibility {
		seen := r.Visibility[i].Skills
		if i > 0 && seen.Same(before) {
			continue
		}
		before = seen
		for name, shown := range seen.All() {
			if event, ok := seen.From(name); ok {
				out[place{event, name}] = shown
			}
		}
	}
	return out
}

// wholeTexts are the descriptions that a listing of the log shows whole, the first of
// each, and those of the skill files.
func wholeTexts(to *ReplayAgent, r *replay.AgentResult) (log, files map[string]string) {
	log, files = map[string]string{}, map[string]string{}
	states := statesOf(to, r)
	for i := range to.Listings {
		l := &to.Listings[i]
		if l.Predicted || r.Agent.Events[l.event].Listing == nil {
			continue
		}
		a := r.Agent.Events[l.event].Listing
		for _, line := range skills.ParseListing(a.Content, a.Names) {
			if log[line.Name] == "" && !line.Bare && states[place{l.event, line.Name}] == replay.ShownFull {
				log[line.Name] = line.Text
			}
		}
	}
	for i := range r.Predicted {
		for _, e := range r.Predicted[i].Entries {
			if files[e.Name] == "" {
				files[e.Name] = e.Full
			}
		}
	}
	return log, files
}

// predictedEntries are the entries of the listing that the rules derive from an event.
func predictedEntries(r *replay.AgentResult, event int) []ListedEntry {
	var out []ListedEntry
	for i := range r.Predicted {
		p := &r.Predicted[i]
		if p.Kind != replay.Listing || p.Cause != event {
			continue
		}
		for _, e := range p.Entries {
			entry := ListedEntry{Name: e.Name, State: string(e.Shown)}
			if e.Text != "" {
				entry.Text = new(Text(e.Text))
			}
			if e.Full != "" && e.Full != e.Text {
				entry.Whole, entry.WholeFrom = new(Text(e.Full)), "files"
			}
			out = append(out, entry)
		}
	}
	return out
}
