package report

import (
	"cmp"
	"slices"
	"time"
)

// CostSchema names the form of a CostDocument.
const CostSchema = "skilltrace/cost@1"

// CostDocument is the answer of the command cost. Over the layers, and over the rows
// with those left out, each kind of token and the money sum to the totals.
type CostDocument struct {
	Schema   string `json:"schema"`
	Sessions int    `json:"sessions"`
	Calls    int    `json:"calls"` // model requests
	// Since and Until bound the requests that count.
	Since *time.Time `json:"since,omitempty"`
	Until *time.Time `json:"until,omitempty"`
	// Timezone is the zone of days, weeks and months, where rows are by these.
	Timezone string   `json:"timezone,omitempty"`
	By       []string `json:"by"`
	// PricesAsOf is the day of the prices in the program.
	PricesAsOf string   `json:"prices_as_of"`
	Usage      TokenSum `json:"usage"`
	// CostMicroUSD is in millionths of a US dollar; nil where nothing has a price.
	CostMicroUSD *int64         `json:"cost_microusd,omitempty"`
	Cost         string         `json:"cost,omitempty"`
	Layers       []CostRow      `json:"layers"`
	Rows         []CostRow      `json:"rows"`
	Others       *CostOthers    `json:"others,omitempty"`
	Avoidable    *CostAvoidable `json:"avoidable,omitempty"`
	Client       *CostClient    `json:"client,omitempty"`
	Unpriced     []UnpricedCost `json:"unpriced"`
	Notes        CostNotes      `json:"notes"`
	WhatIf       *CostWhatIf    `json:"what_if,omitempty"`
	// Days are by day and layer, Skills by skill, SessionRows by session: what a page shows
	// whatever the rows are by. A document without them is smaller.
	Days        []CostRow     `json:"by_day,omitempty"`
	Skills      []CostRow     `json:"by_skill,omitempty"`
	SessionRows []CostSession `json:"by_session,omitempty"`

	// AllRows: a table shows all rows, be they ever so many.
	AllRows bool `json:"all_rows,omitempty"`
	// Lines are a line for each request and layer, for the formats that have them.
	Lines []CostLine `json:"-"`

	saved bool // it was read back from JSON, which has no lines
}

// CostKey is what a row is for. What is not known, and what rows are not by, is
// absent.
type CostKey struct {
	Layer     string `json:"layer,omitempty"`
	Part      string `json:"part,omitempty"` // of its layer, as body or system
	Skill     string `json:"skill,omitempty"`
	Session   string `json:"session,omitempty"`
	Project   string `json:"project,omitempty"`
	Model     string `json:"model,omitempty"`
	Version   string `json:"version,omitempty"`
	Day       string `json:"day,omitempty"`
	Week      string `json:"week,omitempty"`
	Month     string `json:"month,omitempty"`
	Agent     string `json:"agent,omitempty"`
	AgentType string `json:"agent_type,omitempty"`
	// OnBehalfOf is the skill that the agent works for.
	OnBehalfOf string `json:"on_behalf_of,omitempty"`
}

func (k *CostKey) of(by string) string {
	switch by {
	case "layer":
		return k.Layer
	case "part":
		return k.Part
	case "skill":
		return k.Skill
	case "session":
		return k.Session
	case "project":
		return k.Project
	case "model":
		return k.Model
	case "version":
		return k.Version
	case "day":
		return k.Day
	case "week":
		return k.Week
	case "month":
		return k.Month
	case "agent":
		return k.Agent
	}
	return ""
}

// CostRow is a sum.
type CostRow struct {
	CostKey
	Sessions int `json:"sessions"`
	Calls    int `json:"calls"` // requests of which something stands here
	// Once is the tokens of the texts that were sent, each when it came; Carried those
	// of all requests in which they stood again. Output is in neither.
	Once         int64    `json:"once"`
	Carried      int64    `json:"carried"`
	Tokens       TokenSum `json:"tokens"`
	CostMicroUSD *int64   `json:"cost_microusd,omitempty"`
	Cost         string   `json:"cost,omitempty"`
	// UnpricedTokens are those of Tokens for which no price is known.
	UnpricedTokens int64 `json:"unpriced_tokens,omitempty"`
	// Share is the part of the total, from 0 to 1: of the money, or of the tokens where
	// nothing has a price.
	Share float64    `json:"share"`
	Basis string     `json:"basis,omitempty"` // exact, anchored, estimated
	Use   *SkillCost `json:"use,omitempty"`
}

// CostSession is the sum of a session, and where that is.
type CostSession struct {
	CostRow
	File  string     `json:"file,omitempty"`
	Start *time.Time `json:"start,omitempty"`
}

// SkillCost is how a skill was used.
type SkillCost struct {
	Listed    int `json:"listed"`    // lines in listings
	Described int `json:"described"` // of these, with a text
	ByModel   int `json:"by_model"`  // attempts, whatever came of them
	ByUser    int `json:"by_user"`
	Refused   int `json:"refused"`  // of these, by the client
	Rejected  int `json:"rejected"` // of these, by the user
	// AfterCompaction counts the invocations behind the last compaction.
	AfterCompaction int `json:"after_compaction"`
	Bodies          int `json:"bodies"`       // times that the whole text was put in
	BodyChars       int `json:"body_chars"`   // UTF-16 code units of these
	Repeats         int `json:"repeats"`      // bodies whose very text stood in the conversation
	RepeatChars     int `json:"repeat_chars"` // UTF-16 code units of these
	Notes           int `json:"notes"`
	Reattachments   int `json:"reattachments"`
	ReattachedChars int `json:"reattached_chars"` // UTF-16 code units
	// Avoidable is what was sent in vain.
	Avoidable *CostAvoidable `json:"avoidable,omitempty"`
	// OnBehalf is what agents spent that a call of the skill started, without what
	// stands in the row itself. It is a part of other rows.
	OnBehalf *CostAmount `json:"on_behalf,omitempty"`
}

// CostAmount is a number of tokens and what they cost.
type CostAmount struct {
	Tokens       int64  `json:"tokens"`
	CostMicroUSD int64  `json:"cost_microusd"`
	Cost         string `json:"cost"`
}

// CostAvoidable is what was sent in vain, by the reason.
type CostAvoidable struct {
	CostAmount
	Repeated  *CostAmount `json:"repeated,omitempty"`
	Duplicate *CostAmount `json:"duplicate,omitempty"`
	Uncalled  *CostAmount `json:"uncalled,omitempty"`
	// Share of the money of the row, or of the tokens where nothing has a price.
	Share float64 `json:"share"`
}

// CostOthers are the rows that a limit left out.
type CostOthers struct {
	Rows         int      `json:"rows"`
	Once         int64    `json:"once"`
	Carried      int64    `json:"carried"`
	Tokens       TokenSum `json:"tokens"`
	CostMicroUSD *int64   `json:"cost_microusd,omitempty"`
	Cost         string   `json:"cost,omitempty"`
	Share        float64  `json:"share"`
	// Avoidable and OnBehalf are those of the rows together.
	Avoidable *CostAvoidable `json:"avoidable,omitempty"`
	OnBehalf  *CostAmount    `json:"on_behalf,omitempty"`
}

// settle formats the sums, as parts of a total.
func (o *CostOthers) settle(all extent) {
	o.Cost = usd(o.CostMicroUSD)
	o.Share = share(all, o.CostMicroUSD, o.Tokens.sum())
	o.Avoidable = o.Avoidable.settle(o.CostMicroUSD, o.Tokens.sum())
	o.OnBehalf = o.OnBehalf.settle()
}

// CostClient is the client's own total of the sessions whose logs hold one.
type CostClient struct {
	Sessions     int    `json:"sessions"`
	CostMicroUSD int64  `json:"cost_microusd"`
	Cost         string `json:"cost"`
	// OursMicroUSD is the price of what the logs of these sessions hold.
	OursMicroUSD int64            `json:"ours_microusd"`
	Ours         string           `json:"ours"`
	Compactions  int              `json:"compactions"`
	Differences  []CostDifference `json:"differences"`
}

// CostDifference is a part of what the client counts more; below 0 where it counts
// less.
type CostDifference struct {
	Reason       string `json:"reason"`
	Calls        int    `json:"calls"`
	Input        int64  `json:"input"`
	CacheWrite   int64  `json:"cache_write"`
	CacheRead    int64  `json:"cache_read"`
	Output       int64  `json:"output"`
	CostMicroUSD int64  `json:"cost_microusd"`
	Cost         string `json:"cost"`
}

// CostWhatIf is what the same sessions would have cost with other inputs.
type CostWhatIf struct {
	Inputs []string     `json:"inputs"` // as given
	Layers []CostChange `json:"layers"`
	CostChange
	// Assumptions are what the figures rest on.
	Assumptions []string `json:"assumptions"`
}

// CostChange is a sum now and then.
type CostChange struct {
	Layer        string   `json:"layer,omitempty"`
	Now          TokenSum `json:"now"`
	Then         TokenSum `json:"then"`
	NowMicroUSD  *int64   `json:"now_microusd,omitempty"`
	NowCost      string   `json:"now_cost,omitempty"`
	ThenMicroUSD *int64   `json:"then_microusd,omitempty"`
	ThenCost     string   `json:"then_cost,omitempty"`
	// Difference is then less now.
	DifferenceTokens   int64  `json:"difference_tokens"`
	DifferenceMicroUSD *int64 `json:"difference_microusd,omitempty"`
	Difference         string `json:"difference,omitempty"`
}

func (c *CostChange) settle() {
	c.NowCost, c.ThenCost = usd(c.NowMicroUSD), usd(c.ThenMicroUSD)
	c.DifferenceTokens = c.Then.sum() - c.Now.sum()
	if c.NowMicroUSD != nil && c.ThenMicroUSD != nil {
		c.DifferenceMicroUSD = new(*c.ThenMicroUSD - *c.NowMicroUSD)
		c.Difference = usd(c.DifferenceMicroUSD)
	}
}

// UnpricedCost is a model whose price is not known.
type UnpricedCost struct {
	Model  string `json:"model,omitempty"`
	Calls  int    `json:"calls"`
	Tokens int64  `json:"tokens"`
}

// CostNotes count what limits the figures.
type CostNotes struct {
	Unfinished        int   `json:"unfinished,omitempty"`    // requests without a final usage: at least
	WithoutUsage      int   `json:"without_usage,omitempty"` // requests of which no usage was recorded
	Damaged           int   `json:"damaged,omitempty"`       // requests with a usage of which a field is no count: at least
	Reanchored        int   `json:"reanchored,omitempty"`
	UnknownLifetime   int   `json:"unknown_lifetime,omitempty"`
	ModelChanged      int   `json:"model_changed,omitempty"`
	Copies            int   `json:"copies,omitempty"`
	OutOfTime         int   `json:"out_of_time,omitempty"`
	Surcharged        int   `json:"surcharged,omitempty"`
	SurchargeMicroUSD int64 `json:"surcharge_microusd,omitempty"`
	Failed            int   `json:"failed,omitempty"`
	Retried           int   `json:"retried,omitempty"`
}

// CostLine is what one request took for one layer, and one part and one skill where
// these are asked for.
type CostLine struct {
	Time       *time.Time `json:"time,omitempty"`
	Session    string     `json:"session"`
	Agent      string     `json:"agent"`
	OnBehalfOf string     `json:"on_behalf_of,omitempty"`
	Project    string     `json:"project,omitempty"`
	Model      string     `json:"model,omitempty"`
	Version    string     `json:"version,omitempty"`
	Message    string     `json:"message,omitempty"`
	Request    string     `json:"request,omitempty"`
	File       string     `json:"file"`
	Line       int        `json:"line"`
	Layer      string     `json:"layer"`
	Part       string     `json:"part,omitempty"`
	Skill      string     `json:"skill,omitempty"`
	Once       int64      `json:"once"`
	Carried    int64      `json:"carried"`
	Tokens     TokenSum   `json:"tokens"`
	// USD is the exact price in dollars, as a decimal number; "" where it is not known.
	USD   string `json:"usd,omitempty"`
	Basis string `json:"basis"`
	Final bool   `json:"final"` // the usage is final; otherwise it is at least that
}

// CostInput is what NewCost makes a document of: all fields but the formatted amounts,
// the shares, and the rows that a limit leaves out.
type CostInput struct {
	CostDocument
	// Top keeps the rows that cost most; 0 keeps all.
	Top int
}

// NewCost makes the document.
func NewCost(in CostInput) *CostDocument {
	d := in.CostDocument
	d.Schema = CostSchema
	d.limit(in.Top)
	d.Cost = usd(d.CostMicroUSD)
	total := d.total()
	for _, rows := range [][]CostRow{d.Layers, d.Rows, d.Days, d.Skills} {
		for i := range rows {
			rows[i].settle(total)
		}
	}
	for i := range d.SessionRows {
		d.SessionRows[i].settle(total)
	}
	if o := d.Others; o != nil {
		o.settle(total)
	}
	d.Avoidable = d.Avoidable.settle(d.CostMicroUSD, d.Usage.sum())
	if w := d.WhatIf; w != nil {
		w.settle()
		for i := range w.Layers {
			w.Layers[i].settle()
		}
	}
	if c := d.Client; c != nil {
		c.Cost, c.Ours = FormatUSD(c.CostMicroUSD), FormatUSD(c.OursMicroUSD)
		for i := range c.Differences {
			c.Differences[i].Cost = FormatUSD(c.Differences[i].CostMicroUSD)
		}
	}
	return &d
}

// settle formats a row, as a part of a total.
func (r *CostRow) settle(total extent) {
	r.Cost = usd(r.CostMicroUSD)
	r.Share = share(total, r.CostMicroUSD, r.Tokens.sum())
	if u := r.Use; u != nil {
		u.Avoidable = u.Avoidable.settle(r.CostMicroUSD, r.Tokens.sum())
		u.OnBehalf = u.OnBehalf.settle()
	}
}

func (t TokenSum) sum() int64 {
	return t.Input + t.CacheRead + t.CacheWrite5m + t.CacheWrite1h + t.Output
}

func (t *TokenSum) add(o TokenSum) {
	t.Input += o.Input
	t.CacheRead += o.CacheRead
	t.CacheWrite5m += o.CacheWrite5m
	t.CacheWrite1h += o.CacheWrite1h
	t.Output += o.Output
}

func usd(micro *int64) string {
	if micro == nil {
		return ""
	}
	return FormatUSD(*micro)
}

// extent is what shares are of.
type extent struct{ money, tokens int64 }

func (d *CostDocument) total() extent {
	w := extent{tokens: d.Usage.sum()}
	if d.CostMicroUSD != nil {
		w.money = *d.CostMicroUSD
	}
	return w
}

// share is a part of a whole, in ten-thousandths.
func share(w extent, money *int64, tokens int64) float64 {
	part, all := tokens, w.tokens
	if w.money > 0 {
		part, all = 0, w.money
		if money != nil {
			part = *money
		}
	}
	if all == 0 {
		return 0
	}
	return float64(int64(float64(part)/float64(all)*10_000+0.5)) / 10_000
}

func (a *CostAmount) add(o *CostAmount) {
	if o != nil {
		a.Tokens += o.Tokens
		a.CostMicroUSD += o.CostMicroUSD
	}
}

func (a *CostAmount) settle() *CostAmount {
	if a == nil || a.Tokens == 0 {
		return nil
	}
	a.Cost = FormatUSD(a.CostMicroUSD)
	return a
}

// settle sums the reasons up; nil where nothing was in vain.
func (a *CostAvoidable) settle(money *int64, tokens int64) *CostAvoidable {
	if a == nil {
		return nil
	}
	a.Repeated, a.Duplicate, a.Uncalled = a.Repeated.settle(), a.Duplicate.settle(), a.Uncalled.settle()
	a.CostAmount = CostAmount{}
	for _, part := range []*CostAmount{a.Repeated, a.Duplicate, a.Uncalled} {
		if part != nil {
			a.Tokens += part.Tokens
			a.CostMicroUSD += part.CostMicroUSD
		}
	}
	if a.CostAmount.settle() == nil {
		return nil
	}
	w := extent{tokens: tokens}
	if money != nil {
		w.money = *money
	}
	a.Share = share(w, &a.CostMicroUSD, a.Tokens)
	return a
}

// limit keeps the rows that cost most, in the order in which they stand, and sums the
// others up.
func (d *CostDocument) limit(top int) {
	if top <= 0 || len(d.Rows) <= top {
		return
	}
	order := make([]int, len(d.Rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &d.Rows[i], &d.Rows[j]
		return cmp.Or(cmp.Compare(micro(b.CostMicroUSD), micro(a.CostMicroUSD)), cmp.Compare(b.Tokens.sum(), a.Tokens.sum()))
	})
	out := map[int]bool{}
	others := &CostOthers{Avoidable: &CostAvoidable{Repeated: &CostAmount{}, Duplicate: &CostAmount{}, Uncalled: &CostAmount{}}, OnBehalf: &CostAmount{}}
	for _, i := range order[top:] {
		r := &d.Rows[i]
		out[i] = true
		others.Rows++
		others.Once += r.Once
		others.Carried += r.Carried
		others.Tokens.add(r.Tokens)
		if r.CostMicroUSD != nil {
			others.CostMicroUSD = new(micro(others.CostMicroUSD) + *r.CostMicroUSD)
		}
		if u := r.Use; u != nil {
			others.OnBehalf.add(u.OnBehalf)
			if a := u.Avoidable; a != nil {
				others.Avoidable.Repeated.add(a.Repeated)
				others.Avoidable.Duplicate.add(a.Duplicate)
				others.Avoidable.Uncalled.add(a.Uncalled)
			}
		}
	}
	var rows []CostRow
	for i := range d.Rows {
		if !out[i] {
			rows = append(rows, d.Rows[i])
		}
	}
	d.Rows, d.Others = rows, others
}

func micro(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
