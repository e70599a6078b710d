package ledger

import (
	"slices"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// money sums what each layer costs, exactly, until it is rounded once at the end.
type money struct {
	prices *budget.Book
	layers []budget.Amount
	search budget.Amount // web searches, which no layer of the prompt explains
	any    bool

	unpriced map[string]bool // the models in Ledger.Unpriced
}

func newMoney(prices *budget.Book, layers int) *money {
	return &money{prices: prices, layers: make([]budget.Amount, layers), unpriced: map[string]bool{}}
}

// call books the price of one call, split by the tokens of its layers.
func (m *money) call(l *Ledger, c *replay.APICall, shares []Tokens) {
	price, ok := m.prices.Lookup(c.Model, c.Where.Time)
	if !ok {
		if !m.unpriced[c.Model] {
			m.unpriced[c.Model] = true
			l.Unpriced = append(l.Unpriced, c.Model)
		}
		return
	}
	m.any = true
	usage := Billed(&c.Usage)
	rates := price.RatesFor(usage)
	for i, t := range shares {
		m.layers[i] = m.layers[i].Add(rates.Cost(budget.Usage{Input: t.Input, Output: t.Output, CacheRead: t.CacheRead,
			CacheWrite5m: t.CacheWrite5m, CacheWrite1h: t.CacheWrite1h}))
	}
	if searches := (budget.Usage{WebSearches: usage.WebSearches}); searches.WebSearches > 0 {
		m.search = m.search.Add(price.Cost(searches))
	}
}

// Billed is a recorded usage as it is priced.
func Billed(u *jsonl.Usage) budget.Usage {
	w := u.Writes()
	w1h := min(u.CacheWrite1h, w)
	return budget.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite5m: w - w1h, CacheWrite1h: w1h,
		WebSearches: u.WebSearches, Fast: u.Speed == "fast", US: u.Geo == "us", Batch: u.ServiceTier == "batch"}
}

// settle rounds the sums so that the layers make the total.
func (m *money) settle(l *Ledger) {
	if !m.any {
		return
	}
	l.Priced = true
	parts := slices.Clone(m.layers)
	other := slices.Index(Layers, replay.LayerOther)
	parts[other] = parts[other].Add(m.search)
	for _, part := range parts {
		l.Cost = l.Cost.Add(part)
	}
	for i, n := range budget.RoundAmounts(parts) {
		l.Rows[i].MicroUSD = n
		l.MicroUSD += n
	}
}
