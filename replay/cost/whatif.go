package cost

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
	"github.com/skilltrace/skilltrace/replay/relist"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// WhatIf are other inputs for the same sessions. What they cost is worked out from the
// ledger: the model does the same, and each text is billed as it was, where it lay.
type WhatIf struct {
	Inputs   []string // as given
	Remove   []string // skills that do not exist
	Manual   []string // skills with disable-model-invocation
	Cut      int      // characters (UTF-16 code units) that are left of descriptions; -1: all
	Fraction float64  // skillListingBudgetFraction; 0: as it was
	Model    string   // whose prices hold; "": those of the model that was asked

	// Known is what is known of the listings of a session beside its log; nil where
	// nothing is.
	Known func(*replay.Session) *relist.Known
}

// ParseWhatIf reads inputs such as remove=SKILL, cut=N, disable-model-invocation=A,B,
// budget-fraction=F and model=NAME. They hold together.
func ParseWhatIf(inputs []string) (*WhatIf, error) {
	w := &WhatIf{Cut: -1}
	for _, input := range inputs {
		what, value, _ := strings.Cut(input, "=")
		bad := func(want string) error { return fmt.Errorf("%s: want %s", input, want) }
		names := slices.DeleteFunc(strings.Split(value, ","), func(name string) bool { return name == "" })
		switch what {
		case "remove", "disable-model-invocation":
			if len(names) == 0 {
				return nil, bad("the name of a skill, as in " + what + "=deploy")
			}
			if what == "remove" {
				w.Remove = append(w.Remove, names...)
			} else {
				w.Manual = append(w.Manual, names...)
			}
		case "cut":
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 {
				return nil, bad("a number of characters, as in cut=120")
			}
			w.Cut = n
		case "budget-fraction":
			f, err := strconv.ParseFloat(value, 64)
			if err != nil || !(f > 0 && f <= 1) {
				return nil, bad("a part of the context window above 0, up to 1, as in budget-fraction=0.02")
			}
			w.Fraction = f
		case "model":
			if value == "" {
				return nil, bad("the name of a model, as in model=claude-haiku-5-5")
			}
			w.Model = value
		default:
			return nil, bad("remove=SKILL, cut=N, disable-model-invocation=SKILL,…, budget-fraction=F or model=NAME")
		}
		w.Inputs = append(w.Inputs, input)
	}
	return w, nil
}

// lists reports whether listings would have been others.
func (w *WhatIf) lists() bool {
	return len(w.Remove)+len(w.Manual) > 0 || w.Cut >= 0 || w.Fraction > 0
}

// Change is what the same sessions would have cost.
type Change struct {
	Inputs []string
	Layers []ChangedLayer // in the order of ledger.Layers, without those empty before and after
	Total  ChangedLayer
	ChangeNotes
	// Missing are skills that were named and that no log names.
	Missing []string
}

// ChangedLayer is a layer before and after.
type ChangedLayer struct {
	Layer        replay.Layer
	Now, Then    ledger.Tokens
	NowMicroUSD  int64
	ThenMicroUSD int64
	now, then    budget.Amount
	PricedNow    bool
	PricedThen   bool
}

// ChangeNotes count what a change rests on.
type ChangeNotes struct {
	Unpriced int // requests without a price under the new inputs
	Dropped  int // requests of agents that a removed skill started
	Refused  int // calls by the model that would have been refused
	// Listings were put together anew by the rules of their client. Of Guessed ones the
	// log and the files do not tell all that was cut, or not why: Hidden texts in all, as
	// many as the listing with the most has; they stay as they were.
	Listings, Guessed, Hidden int
	// Unowned counts sessions of which it is not known which entries are the client's
	// own, whose descriptions nobody can edit.
	Unowned int
	// PutBack counts compactions at which other bodies come back in the place of a
	// removed one, and Dropping those at which it is not known which would have.
	PutBack, Dropping int
	// NoSetting counts listings of clients that do not know the setting.
	NoSetting int
	// Unlisted counts sessions whose client writes no listing to the log.
	Unlisted int
}

func (n *ChangeNotes) add(o *ChangeNotes) {
	n.Unpriced += o.Unpriced
	n.Dropped += o.Dropped
	n.Refused += o.Refused
	n.Listings += o.Listings
	n.Guessed += o.Guessed
	n.Hidden = max(n.Hidden, o.Hidden)
	n.Unowned += o.Unowned
	n.PutBack += o.PutBack
	n.Dropping += o.Dropping
	n.NoSetting += o.NoSetting
	n.Unlisted += o.Unlisted
}

// change sums the changes of all sessions.
func (w *WhatIf) change(parts []*part, named map[string]bool) *Change {
	layers := make([]ChangedLayer, len(ledger.Layers))
	out := &Change{Inputs: w.Inputs}
	for _, p := range parts {
		if p == nil {
			continue
		}
		for i := range layers {
			layers[i].add(&p.change.layers[i])
		}
		out.add(&p.change.ChangeNotes)
	}
	var now, then []budget.Amount
	for i := range layers {
		layers[i].Layer = ledger.Layers[i]
		now, then = append(now, layers[i].now), append(then, layers[i].then)
	}
	before, after := budget.RoundAmounts(now), budget.RoundAmounts(then)
	var total ChangedLayer
	for i := range layers {
		l := &layers[i]
		l.NowMicroUSD, l.ThenMicroUSD = before[i], after[i]
		total.add(l)
		if l.Now != (ledger.Tokens{}) || l.Then != (ledger.Tokens{}) || !l.now.IsZero() || !l.then.IsZero() {
			out.Layers = append(out.Layers, *l)
		}
	}
	out.Total = total
	for _, name := range slices.Concat(w.Remove, w.Manual) {
		if !named[name] && !slices.Contains(out.Missing, name) {
			out.Missing = append(out.Missing, name)
		}
	}
	return out
}

func (l *ChangedLayer) add(o *ChangedLayer) {
	l.Now.Add(o.Now)
	l.Then.Add(o.Then)
	l.now, l.then = l.now.Add(o.now), l.then.Add(o.then)
	l.NowMicroUSD += o.NowMicroUSD
	l.ThenMicroUSD += o.ThenMicroUSD
	l.PricedNow = l.PricedNow || o.PricedNow
	l.PricedThen = l.PricedThen || o.PricedThen
}

// changed is the change of one session.
type changed struct {
	layers []ChangedLayer
	ChangeNotes
}

// call takes what a request cost, and what it would have cost.
func (d *changed) call(o *Options, c *ledger.Call, charges []ledger.Charge, usage budget.Usage, at *walk) {
	w := o.WhatIf
	dropped := c.Agent.OnBehalfOf != "" && slices.Contains(w.Remove, c.Agent.OnBehalfOf)
	if dropped {
		d.Dropped++
	}
	var lines ledger.Tokens // of all skills' lines
	for i := range charges {
		if isLine(&charges[i]) {
			lines.Add(charges[i].Tokens)
		}
	}
	then := make([]ledger.Tokens, len(charges))
	for i := range charges {
		ch := &charges[i]
		l := &d.layers[layerIndex(ch.Layer)]
		l.Now.Add(ch.Tokens)
		l.now = l.now.Add(ch.Cost)
		l.PricedNow = l.PricedNow || c.Priced
		switch {
		case dropped, ch.Skill != "" && slices.Contains(w.Remove, ch.Skill):
		case isLine(ch) && at.listed != nil:
			then[i] = at.listed.line(ch, &lines)
		default:
			then[i] = ch.Tokens
		}
	}
	if dropped {
		return
	}
	if at.bodies != nil {
		if more := at.bodies.added(charges); more != (ledger.Tokens{}) {
			charges = append(charges[:len(charges):len(charges)], ledger.Charge{Key: ledger.Key{Layer: replay.LayerReattachment}})
			then = append(then, more)
		}
	}
	usage = moved(usage, charges, then)
	model := c.Model
	if w.Model != "" {
		model = w.Model
	}
	found, priced := o.Prices.Lookup(model, c.Where.Time)
	if !priced && c.HasUsage {
		d.Unpriced++
	}
	rates := found.RatesFor(usage)
	for i := range charges {
		l := &d.layers[layerIndex(charges[i].Layer)]
		l.Then.Add(then[i])
		if priced {
			l.then = l.then.Add(price(&then[i], &rates))
			l.PricedThen = true
		}
	}
	if priced && usage.WebSearches > 0 {
		l := &d.layers[layerIndex(replay.LayerOther)]
		l.then = l.then.Add(found.Cost(budget.Usage{WebSearches: usage.WebSearches}))
	}
}

func isLine(ch *ledger.Charge) bool {
	return ch.Layer == replay.LayerListing && ch.Part == replay.PartLine
}

// moved is a usage with other charges. The size of the prompt decides the tier.
func moved(u budget.Usage, charges []ledger.Charge, then []ledger.Tokens) budget.Usage {
	for i := range charges {
		a, b := &charges[i].Tokens, &then[i]
		u.Input += b.Input - a.Input
		u.CacheRead += b.CacheRead - a.CacheRead
		u.CacheWrite5m += b.CacheWrite5m - a.CacheWrite5m
		u.CacheWrite1h += b.CacheWrite1h - a.CacheWrite1h
	}
	return u
}

// relisted are the listings of an agent as they would have been.
type relisted struct {
	w       *WhatIf
	known   *relist.Known
	client  string
	d       *changed
	agent   *replay.Agent
	entries map[string]sizes // of the lines that now hold, by skill
	sum     float64          // of the old sizes
}

// sizes are estimates of the tokens of a skill's lines.
type sizes struct{ old, now float64 }

// line is what a line would have taken. lines is what all of them took.
func (r *relisted) line(ch *ledger.Charge, lines *ledger.Tokens) ledger.Tokens {
	t := ch.Tokens
	s, ok := r.entries[ch.Skill]
	switch {
	case !ok || s.now == s.old:
	case s.now < s.old:
		scale(&t, s.now/s.old)
	case r.sum > 0:
		// A name alone is too short to be scaled: what is added is sized, and billed, like
		// the whole listing.
		t.Add(alike(lines, (s.now-s.old)/r.sum))
	}
	return t
}

// listing takes a listing of the log.
func (r *relisted) listing(e *replay.Event, lines []skills.ListedLine) {
	if r.entries == nil || e.Listing.Initial || !e.Listing.HasInitial {
		r.entries, r.sum = map[string]sizes{}, 0
	}
	texts := r.relist(e, lines)
	fresh := map[string]sizes{}
	for i, l := range lines {
		if l.Name == "" {
			continue
		}
		s := fresh[l.Name]
		s.old += estimate(l.Raw)
		if texts[i] != "" {
			s.now += estimate(texts[i])
		}
		fresh[l.Name] = s
	}
	for name, s := range fresh {
		r.sum += s.old - r.entries[name].old
		r.entries[name] = s
	}
}

func estimate(text string) float64 { return replay.EstimateTokens(jsonl.Measure(text)) }

// relist are the lines of a listing as they would have been, "" for none.
func (r *relisted) relist(e *replay.Event, lines []skills.ListedLine) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Raw
	}
	size, ok := r.size(e.Version)
	if !ok {
		// No rules: what is gone is gone, and what is cut is cut.
		for i, l := range lines {
			out[i] = r.direct(l)
		}
		r.d.Guessed++
		return out
	}
	sheet := relist.FromLog(lines, size, r.known)
	limit := max(r.budget(size, e, 0), used(lines, size))
	if !sheet.Makes(limit, lines) {
		r.d.Guessed++
		r.d.Hidden = max(r.d.Hidden, sheet.Hidden())
		if size.Overflow != budget.OverflowGreedy {
			for i, l := range lines {
				out[i] = r.direct(l)
			}
			return out
		}
		sheet.KeepHidden(lines)
	} else {
		r.d.Listings++
	}
	if r.w.Fraction > 0 {
		if size.FractionSetting {
			limit = r.budget(size, e, r.w.Fraction)
		} else {
			r.d.NoSetting++
		}
	}
	// What is changed, and what stays.
	var kept []budget.Line
	var at []int
	for i := range sheet.Lines {
		line := sheet.Lines[i].Line
		if r.gone(line.Name) {
			out[sheet.Lines[i].At] = ""
			continue
		}
		if r.cuts(line.Name) && line.Full != line.Bare {
			line.Text = budget.Cut16(line.Text, r.w.Cut)
			line.Full = line.Bare + ": " + line.Text
		}
		kept, at = append(kept, line), append(at, sheet.Lines[i].At)
	}
	for k, t := range budget.Trim(kept, limit, size).Lines {
		out[at[k]] = t.Text
	}
	return out
}

// gone reports whether a skill would not have been listed.
func (r *relisted) gone(name string) bool {
	return slices.Contains(r.w.Remove, name) || slices.Contains(r.w.Manual, name)
}

// cuts reports whether the description of a skill would have been shorter. Those of the
// client's own entries cannot be edited.
func (r *relisted) cuts(name string) bool {
	return r.w.Cut >= 0 && (r.known == nil || !r.known.Given[name])
}

// direct is a line without trimming anew.
func (r *relisted) direct(l skills.ListedLine) string {
	if r.gone(l.Name) {
		return ""
	}
	if n := budget.Len16(l.Text); l.Name != "" && !l.Bare && r.cuts(l.Name) && n > r.w.Cut {
		return strings.Replace(l.Raw, l.Text, budget.Cut16(l.Text, r.w.Cut), 1)
	}
	return l.Raw
}

// size are the rules of a version on the size of listings.
func (r *relisted) size(version string) (budget.Size, bool) {
	table, err := rules.For(r.client)
	if err != nil {
		return budget.Size{}, false
	}
	at, err := table.At(version)
	if err != nil {
		return budget.Size{}, false
	}
	return at.Size, at.Size.Overflow == budget.OverflowGreedy || at.Size.Overflow == budget.OverflowUniform
}

// budget is the budget of a listing; of a fraction, if that is above 0.
func (r *relisted) budget(size budget.Size, e *replay.Event, fraction float64) int {
	if r.known != nil && r.known.Budget > 0 && fraction == 0 {
		return r.known.Budget
	}
	in := budget.BudgetInputs{Fraction: fraction}
	if r.known != nil {
		in.Window = r.known.Window
	}
	for i := range r.agent.Calls {
		if c := &r.agent.Calls[i]; c.Model != "" {
			in.Model = c.Model
			if c.Event > 0 && r.agent.Events[min(c.Event, len(r.agent.Events))-1].Where.Line >= e.Where.Line {
				break
			}
		}
	}
	n, _ := budget.ListingBudget(size, in)
	return max(n, 0)
}

// used is what a listing took.
func used(lines []skills.ListedLine, size budget.Size) int {
	n := -1
	for i := range lines {
		n += budget.Width(size.Unit, lines[i].Raw) + 1
	}
	return n
}
