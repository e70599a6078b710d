package report

// TokensBlock is what the model requests of a session cost, by layer. Over all
// layers each kind of token sums to the recorded usage.
type TokensBlock struct {
	Calls int `json:"calls"`
	// Unfinished counts calls without a final usage: their output is a lower bound.
	Unfinished int        `json:"unfinished,omitempty"`
	Usage      TokenSum   `json:"usage"`
	Layers     []LayerRow `json:"layers"`
	// CostMicroUSD is in millionths of a US dollar; nil where no part is priced.
	CostMicroUSD *int64   `json:"cost_microusd,omitempty"`
	Cost         string   `json:"cost,omitempty"`
	Notes        []string `json:"notes"`
}

// TokenSum is a number of tokens by how they are billed.
type TokenSum struct {
	Input        int64 `json:"input"`
	CacheRead    int64 `json:"cache_read"`
	CacheWrite5m int64 `json:"cache_write_5m"`
	CacheWrite1h int64 `json:"cache_write_1h"`
	Output       int64 `json:"output"`
}

// LayerRow is the share of one layer.
type LayerRow struct {
	Layer string `json:"layer"`
	// Once is the tokens of the texts themselves, each when it came, Carried the tokens
	// of all later requests in which they stood again. Output is in neither.
	Once         int64    `json:"once"`
	Carried      int64    `json:"carried"`
	Tokens       TokenSum `json:"tokens"`
	CostMicroUSD *int64   `json:"cost_microusd,omitempty"`
	Cost         string   `json:"cost,omitempty"`
	Basis        string   `json:"basis"` // exact, anchored, estimated
}

// Price fills the formatted costs from the amounts.
func (t *TokensBlock) Price() {
	if t.CostMicroUSD != nil {
		t.Cost = FormatUSD(*t.CostMicroUSD)
	}
	for i := range t.Layers {
		if l := &t.Layers[i]; l.CostMicroUSD != nil {
			l.Cost = FormatUSD(*l.CostMicroUSD)
		}
	}
}
