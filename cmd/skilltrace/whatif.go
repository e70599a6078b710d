package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/cost"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/relist"
)

// everything is a listing budget that nothing exceeds.
const everything = "1000000000"

// whatIfInputs looks for what is known of listings beside the logs: descriptions that
// were cut, in the skill files.
func (a *app) whatIfInputs(w *cost.WhatIf, prices *budget.Book) error {
	if w.Model != "" {
		if _, ok := prices.Lookup(w.Model, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)); !ok {
			return fmt.Errorf("--what-if model=%s: no price is known for it; --prices FILE gives one", w.Model)
		}
	}
	a.inputs.skillsAt = local.AtNow
	in, err := a.loadInputs()
	if err != nil {
		return err
	}
	w.Known = func(s *replay.Session) *relist.Known {
		found, err := in.finder.Find(s)
		if err != nil {
			return nil // no rules for its client: its listings stay as they were
		}
		known := &relist.Known{Texts: map[string]string{}, Given: map[string]bool{}, Budget: int(found.Budget), Window: int(found.Window)}
		inputs := found.Inputs
		inputs.Processes = slices.Clone(inputs.Processes)
		for i := range inputs.Processes {
			env := maps.Clone(inputs.Processes[i].Env)
			if env == nil {
				env = map[string]string{}
			}
			env[budget.EnvCharBudget] = everything
			inputs.Processes[i].Env = env
		}
		effects, _ := replay.PredictSession(&inputs, s)
		for _, list := range effects {
			for i := range list {
				for _, e := range list[i].Entries {
					known.Texts[e.Name] = e.Text
					if inputs.Files != nil { // a log alone does not tell whose an entry is
						known.Given[e.Name] = !e.Own
					}
				}
			}
		}
		return known
	}
	return nil
}

// assumptions are what a change rests on.
func assumptions(w *cost.WhatIf, c *cost.Change) []string {
	out := []string{"the model does the same: the same requests, and the same output"}
	if len(w.Remove)+len(w.Manual) > 0 || w.Cut >= 0 || w.Fraction > 0 {
		out = append(out, "each text is billed as it was: read from the cache, written to it, or plain input")
	}
	add := func(n int, format string, args ...any) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	if w.Model != "" {
		out = append(out, "the prices of "+w.Model+" for the same number of tokens; other models may count other tokens")
	}
	add(c.Unpriced, "requests that have no price now: %d", c.Unpriced)
	if len(w.Remove) > 0 {
		out = append(out, "without "+strings.Join(w.Remove, ", ")+" its lines, bodies, notes, calls and references are gone")
		add(c.PutBack, "compactions at which others come back in its place, by the rules of their client: %d", c.PutBack)
		add(c.Dropping, "compactions of which it is not known what would have come back in its place, and where nothing does: %d", c.Dropping)
		add(c.Dropped, "requests of agents that it started, which are gone: %d", c.Dropped)
	}
	if w.Cut >= 0 {
		out = append(out, "the client's own descriptions stay as they are")
		add(c.Unowned, "sessions of which it is not known which descriptions are the client's own, and where all are cut: %d; --skills DIR tells them apart", c.Unowned)
	}
	if len(w.Manual) > 0 {
		out = append(out, "what was loaded of "+strings.Join(w.Manual, ", ")+" is loaded all the same, as the user types it; only the lines are gone")
		add(c.Refused, "calls by the model that would have been refused: %d", c.Refused)
	}
	add(c.Listings, "listings put together anew, by the rules of their client and its budget: %d", c.Listings)
	add(c.Guessed, "listings of which not all is known that was cut, and where it stays cut: %d, with up to %d hidden texts; --skills DIR gives them", c.Guessed, c.Hidden)
	add(c.NoSetting, "listings of clients that do not know skillListingBudgetFraction: %d", c.NoSetting)
	add(c.Unlisted, "sessions whose log holds no listing, which stay as they were: %d", c.Unlisted)
	return out
}
