package budget

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Usage is the billed usage of one API call, in tokens. Counts below 0 are held
// for 0.
type Usage struct {
	Input, Output, CacheRead int64
	// Cache writes by lifetime. CacheWrite is what is recorded without one: it is
	// charged as if it lived for five minutes.
	CacheWrite5m, CacheWrite1h, CacheWrite int64
	// WebSearches is a number of requests.
	WebSearches int64
	// Fast: the speed recorded is "fast".
	Fast bool
	// US: the place of inference recorded is "us".
	US bool
	// Batch: the call went through the batch interface.
	Batch bool
}

// Prompt is the size of the whole prompt, which decides the tier of a price.
func (u Usage) Prompt() int64 {
	n := int64(0)
	for _, x := range [...]int64{u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.CacheWrite} {
		n = satAdd(n, max(x, 0))
	}
	return n
}

// Rates are the prices of one token of each kind.
type Rates struct {
	Input, CacheRead, Write5m, Write1h, Output Rate
}

// Cost is the price of the tokens of u. Tier, speed, region and searches are not
// looked at.
func (r Rates) Cost(u Usage) Amount {
	return r.Input.Times(u.Input).
		Add(r.CacheRead.Times(u.CacheRead)).
		Add(r.Write5m.Times(u.CacheWrite5m)).
		Add(r.Write1h.Times(u.CacheWrite1h)).
		Add(r.Write5m.Times(u.CacheWrite)).
		Add(r.Output.Times(u.Output))
}

func (r Rates) scale(num, den uint64) Rates {
	return Rates{
		Input: r.Input.scale(num, den), CacheRead: r.CacheRead.scale(num, den),
		Write5m: r.Write5m.scale(num, den), Write1h: r.Write1h.scale(num, den),
		Output: r.Output.scale(num, den),
	}
}

// Tier is a price that holds for the whole of a call whose prompt is large.
type Tier struct {
	// Above is the size of prompt, in tokens, that must be exceeded.
	Above int64
	Rates Rates
	// NotByClient: the vendor lists it, but the client's own figures leave it out.
	NotByClient bool
}

// Price is what a model costs from a day on.
type Price struct {
	// Model is the name that a model's name begins with.
	Model string
	// Since is the first moment at which it holds; zero if always.
	Since time.Time
	Rates Rates
	// Tiers in ascending order of Above.
	Tiers []Tier
	// Fast multiplies everything in fast mode, in thousandths; 0 for no fast mode.
	Fast uint64
	// Window is the context window in tokens, Window1M that with "[1m]" in the
	// name; 0 if not known.
	Window, Window1M int64
}

// The multipliers that hold for all models, as fractions, and the price of a web
// search: 10 dollars per 1,000 (the vendor's price page).
const (
	regionNum, regionDen = 11, 10
	batchNum, batchDen   = 1, 2
	fastDen              = 1000
	webSearchRate        = Rate(10_000_000_000_000_000)
)

// RatesFor are the prices of one token in this call: of its tier, in its speed,
// region and interface.
func (p Price) RatesFor(u Usage) Rates { return p.rates(u, true) }

// Surcharged reports whether the call's tier is one that the client's own figures
// leave out.
func (p Price) Surcharged(u Usage) bool {
	t, ok := p.tier(u, true)
	return ok && t.NotByClient
}

// Cost is the price of the call, web searches included.
func (p Price) Cost(u Usage) Amount {
	return p.rates(u, true).Cost(u).Add(p.searches(u))
}

// ClientCost is the price that the client itself counts: without the tiers that it
// does not know.
func (p Price) ClientCost(u Usage) Amount {
	return p.rates(u, false).Cost(u).Add(p.searches(u))
}

func (p Price) searches(u Usage) Amount {
	if p.Model == SyntheticModel {
		return Amount{}
	}
	return webSearchRate.Times(u.WebSearches)
}

func (p Price) rates(u Usage, all bool) Rates {
	r := p.Rates
	if t, ok := p.tier(u, all); ok {
		r = t.Rates
	}
	if u.Fast && p.Fast > 0 {
		r = r.scale(p.Fast, fastDen)
	}
	if u.US {
		r = r.scale(regionNum, regionDen)
	}
	if u.Batch {
		r = r.scale(batchNum, batchDen)
	}
	return r
}

func (p Price) tier(u Usage, all bool) (Tier, bool) {
	prompt := u.Prompt()
	for i := len(p.Tiers) - 1; i >= 0; i-- {
		if t := p.Tiers[i]; prompt > t.Above && (all || !t.NotByClient) {
			return t, true
		}
	}
	return Tier{}, false
}

// SyntheticModel stands in a log for text that no model wrote. It costs nothing.
const SyntheticModel = "<synthetic>"

// Book is a list of prices. It is never changed once made; use it from any
// goroutine.
type Book struct {
	byModel map[string][]Price
}

func newBook(prices []Price) Book { return Book{}.With(prices) }

// Models are the models that have a price, as they are named in it, in order.
func (b Book) Models() []string { return slices.Sorted(maps.Keys(b.byModel)) }

// With returns the book b with further prices, as read by ReadPrices. A row is the
// whole price of its model, tiers and fast mode included, from its day on; one
// without a day replaces all that b has of the model. Of rows of a model with the
// same day, the last holds.
func (b Book) With(prices []Price) Book {
	rows := make(map[string][]Price, len(b.byModel)+len(prices))
	for model, old := range b.byModel {
		rows[model] = slices.Clone(old)
	}
	for _, p := range prices {
		if p.Since.IsZero() {
			delete(rows, strings.ToLower(p.Model))
		}
	}
	for _, p := range prices {
		key := strings.ToLower(p.Model)
		rows[key] = append(rows[key], p)
	}
	return Book{rows}
}

// Lookup is the price of a model at a time. The name may carry a provider, a region,
// a date or another suffix, and "[1m]". The row with the longest name that the
// model's begins with is taken, if what follows is a date or a word: an unknown
// version of a known model has no price. Without a row, the model is unpriced and
// Lookup reports false.
func (b Book) Lookup(model string, at time.Time) (Price, bool) {
	if model == SyntheticModel {
		return Price{Model: SyntheticModel}, true
	}
	if len(model) > maxModelName {
		return Price{}, false
	}
	full := strings.ToLower(strings.TrimSpace(model))
	for _, id := range [...]string{full, modelID(full)} {
		for end := len(id); end > 0; end-- {
			if !isVariant(id[end:]) {
				continue
			}
			if p, ok := latest(b.byModel[id[:end]], at); ok {
				return p, true
			}
		}
	}
	return Price{}, false
}

// unknownToClient is the model like which the client prices those that it does not
// know (recorded: claude-haiku-5 and claude-mystery-9, at 2.1.332).
const unknownToClient = "claude-opus-5-5"

// ClientLookup is the price of a model for the client itself, which prices an
// unknown model all the same. What it charges is [Price.ClientCost].
func (b Book) ClientLookup(model string, at time.Time) (Price, bool) {
	if p, ok := b.Lookup(model, at); ok {
		return p, true
	}
	return b.Lookup(unknownToClient, at)
}

// maxModelName bounds the search for a name, in bytes.
const maxModelName = 512

// latest is the last of prices that holds at the time.
func latest(prices []Price, at time.Time) (Price, bool) {
	best := -1
	for i, p := range prices {
		if p.Since.After(at) {
			continue
		}
		if best < 0 || !p.Since.Before(prices[best].Since) {
			best = i
		}
	}
	if best < 0 {
		return Price{}, false
	}
	return prices[best], true
}

// isVariant reports whether rest, which follows a model's name, leaves it the same
// model: nothing, "[1m]", "@…", or a dash and a date or a word. A short number
// would be another version.
func isVariant(rest string) bool {
	if rest == "" || rest[0] == '[' || rest[0] == '@' {
		return true
	}
	if rest[0] != '-' {
		return false
	}
	digits := 0
	for digits+1 < len(rest) && rest[digits+1] >= '0' && rest[digits+1] <= '9' {
		digits++
	}
	return digits == 8 || digits == 0 && len(rest) > 1 && isASCIILetter(rest[1])
}

// Window is the context window of a model in tokens, by its name alone; 0 if the
// model is not known.
func (b Book) Window(model string) int64 {
	p, ok := b.Lookup(model, distantFuture)
	switch {
	case hasMillionSuffix(model):
		return max(p.Window1M, windowMillion)
	case ok:
		return p.Window
	}
	return 0
}

// distantFuture stands for "by the newest row".
var distantFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Window is the context window of a model by the prices in the program, in tokens;
// 0 if the model is not known.
func Window(model string) int64 { return DefaultBook().Window(model) }
