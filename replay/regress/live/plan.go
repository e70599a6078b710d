package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay/regress/request"
)

// Plan is what asking would take, told before the first call.
type Plan struct {
	// Calls are the calls to make, Cached the replies that are there already. What two
	// questions ask alike is asked once, so these can be fewer than the samples.
	Calls, Cached int
	// Samples are those of all questions.
	Samples int
	// Input are the tokens of the calls' prompts, estimated on the high side; Output
	// the most that the replies can have.
	Input, Output int64
	// Cost is what the calls with a known price cost at most, as far as the estimate
	// holds: all input at full price, no prompt read from the API's cache.
	Cost budget.Amount
	// Unpriced are the models without a price. Their calls are not in Cost.
	Unpriced []string
	// Faults are the questions that cannot be asked, by ID, and why.
	Faults []Fault
	// Notes say what the figures leave out, in plain words.
	Notes []string
}

// Fault is a question that cannot be asked.
type Fault struct{ ID, Why string }

// OverCost says that a plan is above the limit, or cannot be held to it.
type OverCost struct {
	Cost, Limit budget.Amount
	Unpriced    []string
}

func (e *OverCost) Error() string {
	if len(e.Unpriced) > 0 {
		return fmt.Sprintf("a limit of $%s cannot be held: %s has no price", e.Limit, e.Unpriced[0])
	}
	return fmt.Sprintf("the calls would cost up to $%s, above the limit of $%s", e.Cost, e.Limit)
}

// Within is an *OverCost if the plan does not keep to a limit.
func (p *Plan) Within(limit budget.Amount) error {
	if p.Cost.Compare(limit) > 0 || len(p.Unpriced) > 0 {
		return &OverCost{p.Cost, limit, p.Unpriced}
	}
	return nil
}

// call is a sample to ask for.
type call struct {
	key   string
	body  []byte
	betas []string
	price budget.Price
	// priced: price is known.
	priced bool
	cached *Sample
}

// work is the calls of a list of questions.
type work struct {
	calls []call
	// of are, for each question, the indices of its calls; nil for one at fault.
	of     [][]int
	faults []string
	plan   Plan
}

// Plan says what asking these questions would take. It reads the cache and asks
// nobody.
func (a *Asker) Plan(questions []Question) Plan { return a.prepare(questions).plan }

// prepare makes the calls of questions, each once, and looks them up in the cache.
func (a *Asker) prepare(questions []Question) work {
	w := work{of: make([][]int, len(questions)), faults: make([]string, len(questions))}
	known := map[string]int{}
	p := &w.plan
	media := false
	for i := range questions {
		q := &questions[i]
		maxTokens := a.maxTokens(&q.Request)
		b, err := body(&q.Request, maxTokens)
		if err != nil {
			w.faults[i] = err.Error()
			p.Faults = append(p.Faults, Fault{q.ID, err.Error()})
			continue
		}
		p.Samples += a.opt.Samples
		price, priced := a.opt.Prices.Lookup(q.Request.Model, a.opt.At)
		var input int64
		var each budget.Amount
		counted := false
		for k := range a.opt.Samples {
			key := key(b, k)
			if at, ok := known[key]; ok {
				w.of[i] = append(w.of[i], at)
				continue
			}
			c := call{key: key, body: b, betas: betas(q.Request.Betas), price: price, priced: priced}
			if s, ok := a.cache.load(key); ok {
				c.cached = &s
				p.Cached++
			} else {
				if !counted {
					t, m := a.tokens(&q.Request)
					input, media, counted = t, media || m, true
					each = price.Cost(prompt(&q.Request, input, maxTokens))
				}
				p.Calls++
				p.Input += input
				p.Output += maxTokens
				switch {
				case priced:
					p.Cost = p.Cost.Add(each)
				case !slices.Contains(p.Unpriced, q.Request.Model):
					p.Unpriced = append(p.Unpriced, q.Request.Model)
				}
			}
			known[key] = len(w.calls)
			w.of[i] = append(w.of[i], len(w.calls))
			w.calls = append(w.calls, c)
		}
	}
	if p.Calls > 0 {
		p.Notes = append(p.Notes, "the cost is an upper bound: every reply at its greatest length, no prompt read from the API's cache")
	}
	if media {
		p.Notes = append(p.Notes, fmt.Sprintf("an image or a document is counted as %d tokens; a document of many pages has more", mediaTokens))
	}
	return w
}

func (a *Asker) maxTokens(q *request.Request) int64 {
	switch {
	case a.opt.MaxTokens > 0:
		return a.opt.MaxTokens
	case q.MaxTokens > 0:
		return min(q.MaxTokens, DefaultMaxTokens)
	}
	return DefaultMaxTokens
}

// prompt is the dearest that a call can be: a prompt that asks to be kept in the API's
// cache is charged as a write to it.
func prompt(q *request.Request, input, output int64) budget.Usage {
	asks := func(part string) bool {
		has := func(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(part)) }
		return has(q.System) || has(q.Tools) || slices.ContainsFunc(q.Messages, has)
	}
	switch {
	case !asks(`"cache_control"`):
		return budget.Usage{Input: input, Output: output}
	case asks(`"1h"`):
		return budget.Usage{CacheWrite1h: input, Output: output}
	}
	return budget.Usage{CacheWrite5m: input, Output: output}
}

const (
	// tokenFactor makes an estimate in o200k_base a high one of the models' own
	// tokens: replay/ledger finds them 1.15 as many, give or take 0.25.
	tokenFactor = 1.4
	// mediaTokens is the most that an image takes (the vendor's page on vision).
	mediaTokens = 4784
	// aroundText are the tokens of what stands around a text: roles, kinds, keys.
	aroundText = 4
)

// tokens estimates the size of a prompt, on the high side. media: it holds an image or
// a document.
func (a *Asker) tokens(q *request.Request) (n int64, media bool) {
	c := counter{estimator: &a.estimator}
	for _, raw := range append([]json.RawMessage{q.System, q.Tools}, q.Messages...) {
		var v any
		if len(raw) > 0 && json.Unmarshal(raw, &v) == nil {
			c.add(v)
		}
	}
	return int64(math.Ceil(c.text*tokenFactor)) + c.fixed, c.media
}

// counter counts the tokens of JSON values.
type counter struct {
	estimator *budget.Estimator
	text      float64
	fixed     int64
	media     bool
}

func (c *counter) add(v any) {
	switch v := v.(type) {
	case string:
		c.text += float64(c.estimator.Count(v)) + aroundText
	case []any:
		for _, e := range v {
			c.add(e)
		}
	case map[string]any:
		for key, e := range v {
			if _, is := e.(string); is && key == "data" && v["type"] == "base64" {
				c.fixed += mediaTokens
				c.media = true
				continue
			}
			c.text += float64(c.estimator.Count(key))
			c.add(e)
		}
	default:
		c.text++
	}
}

// betas are names that can stand in a header: what a log says of them is a stranger's.
func betas(names []string) []string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
	}
	var out []string
	for _, n := range names {
		if n != "" && strings.IndexFunc(n, func(r rune) bool { return !plain(r) }) < 0 {
			out = append(out, n)
		}
	}
	return out
}
