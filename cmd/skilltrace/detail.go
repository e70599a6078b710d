package main

import (
	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
	"github.com/skilltrace/skilltrace/report"
)

// detailed reports whether documents are to hold what only a page shows: for a page, and
// for JSON that leaves nothing out, from which one can be made later.
func (a *app) detailed() bool {
	return a.format == string(report.FormatHTML) || a.format == string(report.FormatJSON) && a.verbose
}

// detailOf charges each model request of a session apart, and each agent by layer, part
// and skill.
func detailOf(s *replay.Session, prices *budget.Book) *report.ReplayDetail {
	type key struct {
		agent string
		layer replay.Layer
		part  replay.Part
		skill string
	}
	type row struct {
		ledger.Sum
		calls  int
		last   *replay.APICall
		priced bool
	}
	out := &report.ReplayDetail{Steps: map[*replay.APICall]report.StepCharge{}}
	rows := map[key]*row{}
	var order []key
	for c := range ledger.Calls(s, prices, nil) {
		var step report.StepCharge
		if c.Priced {
			step.CostMicroUSD = new(c.Cost.Micro())
		}
		charges := c.Charges
		if !c.Searches.IsZero() {
			charges = append(charges[:len(charges):len(charges)], ledger.Charge{Key: ledger.Key{Layer: replay.LayerOther, Part: replay.PartSearches}, Basis: ledger.Exact, Cost: c.Searches})
		}
		for i := range charges {
			ch := &charges[i]
			if n := step.Layers.Of(string(ch.Layer)); n != nil {
				*n += ch.Once + ch.Carried()
			}
			k := key{c.Agent.ID, ch.Layer, ch.Part, ch.Skill}
			r := rows[k]
			if r == nil {
				r = &row{}
				rows[k] = r
				order = append(order, k)
			}
			r.Add(ch)
			if r.last != c.APICall {
				r.last = c.APICall
				r.calls++
			}
			r.priced = r.priced || c.Priced
		}
		out.Steps[c.APICall] = step
	}
	amounts := make([]budget.Amount, len(order))
	for i, k := range order {
		amounts[i] = rows[k].Cost
	}
	for i, micro := range budget.RoundAmounts(amounts) {
		k, r := order[i], rows[order[i]]
		l := report.LedgerRow{Agent: k.agent, Layer: string(k.layer), Part: string(k.part), Skill: k.skill, Calls: r.calls, Once: r.Once, Carried: r.Carried(),
			Tokens: tokenSum(r.Tokens), Basis: string(r.Basis)}
		if r.priced {
			l.CostMicroUSD = new(micro)
		}
		out.Ledger = append(out.Ledger, l)
	}
	return out
}
