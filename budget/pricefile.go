package budget

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
)

//go:embed prices.json
var pricesJSON []byte

// DefaultBook is the book of the prices in the program. Their date is PricesAsOf.
var DefaultBook = sync.OnceValue(func() Book {
	prices, err := ParsePrices(pricesJSON)
	if err != nil {
		return Book{} // cannot be: tested
	}
	return newBook(prices)
})

// PricesAsOf is the day on which the prices in the program were measured.
var PricesAsOf = sync.OnceValue(func() string {
	var f struct {
		AsOf string `json:"as_of"`
	}
	if json.Unmarshal(pricesJSON, &f) != nil {
		return ""
	}
	return f.AsOf
})

// The bounds of a price file.
const (
	maxPriceFile = 32 << 20 // bytes
	maxPriceRows = 100_000
	maxTiers     = 16
)

// decimalText is a JSON number or string, kept as written so that no digit is lost.
type decimalText string

func (d *decimalText) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("null")):
		return nil
	case len(b) > 80:
		return errDecimal
	case b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*d = decimalText(s)
	default:
		*d = decimalText(b)
	}
	return nil
}

// ratesFile are prices in dollars per million tokens.
type ratesFile struct {
	Input     decimalText `json:"input"`
	CacheRead decimalText `json:"cache_read"`
	Write5m   decimalText `json:"write_5m"`
	Write1h   decimalText `json:"write_1h"`
	Output    decimalText `json:"output"`
}

type tierFile struct {
	Above int64 `json:"above"`
	ratesFile
	NotByClient bool `json:"not_by_client"`
}

type priceFile struct {
	Model string `json:"model"`
	Since string `json:"since"`
	ratesFile
	Tiers    []tierFile  `json:"tiers"`
	Fast     decimalText `json:"fast"`
	Window   int64       `json:"window"`
	Window1M int64       `json:"window_1m"`
}

// ParsePrices reads a price file: our own format, that of prices.json in the
// program, or the map of LiteLLM's model_prices_and_context_window.json, in which
// models without a price per token are passed over. All prices that a row of our
// format leaves out but input and output are taken to be the input price; LiteLLM's
// likewise. The result shares no memory with data. Errors name the row.
func ParsePrices(data []byte) ([]Price, error) {
	if len(data) > maxPriceFile {
		return nil, fmt.Errorf("prices: %d bytes, more than %d", len(data), maxPriceFile)
	}
	var head struct {
		Schema string          `json:"schema"`
		Prices json.RawMessage `json:"prices"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("prices: %w", err)
	}
	if head.Prices != nil || head.Schema != "" {
		return parseOwn(head.Schema, head.Prices)
	}
	return parseLiteLLM(data)
}

const pricesSchema = "skilltrace/prices@1"

func parseOwn(schema string, rows json.RawMessage) ([]Price, error) {
	if schema != pricesSchema {
		return nil, fmt.Errorf("prices: schema %.40q, want %q", schema, pricesSchema)
	}
	var files []priceFile
	if rows != nil {
		dec := json.NewDecoder(bytes.NewReader(rows))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&files); err != nil {
			return nil, fmt.Errorf("prices: %w", err)
		}
	}
	if len(files) > maxPriceRows {
		return nil, fmt.Errorf("prices: %d rows, more than %d", len(files), maxPriceRows)
	}
	prices := make([]Price, 0, len(files))
	for i, f := range files {
		p, err := f.price()
		if err != nil {
			return nil, fmt.Errorf("prices: row %d (%.60s): %w", i+1, f.Model, err)
		}
		prices = append(prices, p)
	}
	return prices, nil
}

func (f priceFile) price() (p Price, err error) {
	p = Price{Model: f.Model, Window: f.Window, Window1M: f.Window1M}
	if f.Model == "" {
		return p, errors.New("no model")
	}
	if f.Window < 0 || f.Window1M < 0 {
		return p, errors.New("negative window")
	}
	if f.Since != "" {
		if p.Since, err = time.Parse(time.DateOnly, f.Since); err != nil {
			return p, fmt.Errorf("since %.20q is no date like 2006-01-02", f.Since)
		}
	}
	if p.Rates, err = f.rates(perMillion); err != nil {
		return p, err
	}
	if f.Fast != "" {
		if p.Fast, err = parseThousandths(string(f.Fast)); err != nil {
			return p, fmt.Errorf("fast: %w", err)
		}
	}
	if len(f.Tiers) > maxTiers {
		return p, fmt.Errorf("more than %d tiers", maxTiers)
	}
	for _, t := range f.Tiers {
		rates, err := t.rates(perMillion)
		if err != nil {
			return p, fmt.Errorf("tier above %d: %w", t.Above, err)
		}
		p.Tiers = append(p.Tiers, Tier{Above: max(t.Above, 0), Rates: rates, NotByClient: t.NotByClient})
	}
	slices.SortStableFunc(p.Tiers, func(a, b Tier) int { return cmp.Compare(a.Above, b.Above) })
	return p, nil
}

// The units of a price, as powers of ten of tokens.
const (
	perToken   = 0
	perMillion = 6
)

func (f ratesFile) rates(per int) (r Rates, err error) {
	for _, x := range []struct {
		name string
		text decimalText
		or   *Rate
		to   *Rate
	}{
		{"input", f.Input, nil, &r.Input},
		{"output", f.Output, nil, &r.Output},
		{"cache_read", f.CacheRead, &r.Input, &r.CacheRead},
		{"write_5m", f.Write5m, &r.Input, &r.Write5m},
		{"write_1h", f.Write1h, &r.Write5m, &r.Write1h},
	} {
		switch {
		case x.text != "":
			if *x.to, err = parseRate(string(x.text), per); err != nil {
				return r, fmt.Errorf("%s: %w", x.name, err)
			}
		case x.or == nil:
			return r, fmt.Errorf("%s: missing", x.name)
		default:
			*x.to = *x.or
		}
	}
	return r, nil
}

// liteModel is the part of a LiteLLM entry that concerns text; prices are in
// dollars per token.
type liteModel struct {
	Input      decimalText `json:"input_cost_per_token"`
	Output     decimalText `json:"output_cost_per_token"`
	CacheRead  decimalText `json:"cache_read_input_token_cost"`
	Write5m    decimalText `json:"cache_creation_input_token_cost"`
	Write1h    decimalText `json:"cache_creation_input_token_cost_above_1hr"`
	Input200   decimalText `json:"input_cost_per_token_above_200k_tokens"`
	Output200  decimalText `json:"output_cost_per_token_above_200k_tokens"`
	Read200    decimalText `json:"cache_read_input_token_cost_above_200k_tokens"`
	Write5m200 decimalText `json:"cache_creation_input_token_cost_above_200k_tokens"`
	Window     decimalText `json:"max_input_tokens"`
}

// liteSample is the entry of LiteLLM's file that explains the others.
const liteSample = "sample_spec"

func parseLiteLLM(data []byte) ([]Price, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("prices: not an object")
	}
	var prices []Price
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("prices: %w", err)
		}
		name, _ := key.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, fmt.Errorf("prices: %w", err)
		}
		var m liteModel
		if name == "" || name == liteSample || json.Unmarshal(raw, &m) != nil || m.Input == "" || m.Output == "" {
			continue
		}
		if len(prices) == maxPriceRows {
			return nil, fmt.Errorf("prices: more than %d models", maxPriceRows)
		}
		p, err := m.price(name)
		if err != nil {
			return nil, fmt.Errorf("prices: %.60s: %w", name, err)
		}
		prices = append(prices, p)
	}
	if _, err := dec.Token(); err != nil && err != io.EOF {
		return nil, fmt.Errorf("prices: %w", err)
	}
	if len(prices) == 0 {
		return nil, errors.New("prices: no model with a price per token; want our format or LiteLLM's")
	}
	return prices, nil
}

func (m liteModel) price(name string) (p Price, err error) {
	p = Price{Model: name}
	base := ratesFile{Input: m.Input, CacheRead: m.CacheRead, Write5m: m.Write5m, Write1h: m.Write1h, Output: m.Output}
	if p.Rates, err = base.rates(perToken); err != nil {
		return p, err
	}
	if m.Input200 != "" {
		above := ratesFile{Input: m.Input200, CacheRead: m.Read200, Write5m: m.Write5m200, Output: m.Output200}
		if above.Output == "" {
			above.Output = m.Output
		}
		rates, err := above.rates(perToken)
		if err != nil {
			return p, fmt.Errorf("above 200k: %w", err)
		}
		p.Tiers = []Tier{{Above: windowSmall, Rates: rates, NotByClient: true}}
	}
	if n, err := strconv.ParseFloat(string(m.Window), 64); err == nil && n > 0 && n < 1e12 {
		p.Window = int64(n)
	}
	return p, nil
}
