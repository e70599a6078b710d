package budget

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed prices.json
var pricesJSON []byte

// DefaultBook is the book of the prices in the program. Their date is PricesAsOf.
var DefaultBook = sync.OnceValue(func() Book {
	prices, err := ReadPrices("prices.json", bytes.NewReader(pricesJSON))
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

// ReadPrices reads a price file: our own format, which is that of prices.json in
// the program (docs/schema/prices.json), or the map of LiteLLM's
// model_prices_and_context_window.json, in which what has no price per token is
// passed over. A cache price that a row leaves out is taken to be the input price,
// that of writes for an hour to be the one for five minutes. Our format is strict:
// an unknown field, or a model given twice for one day, is an error. Errors read
// file:line: what; name is the file's. See [Book.With] for what a row does.
func ReadPrices(name string, r io.Reader) ([]Price, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPriceFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxPriceFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxPriceFile)
	}
	f := priceSource{name: name, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	var head struct {
		Schema *json.RawMessage `json:"schema"`
		Prices *json.RawMessage `json:"prices"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, f.syntax(0, err)
	}
	if head.Prices != nil || head.Schema != nil {
		return f.own()
	}
	return f.liteLLM()
}

// priceSource is a price file being read. It is known to be a JSON object.
type priceSource struct {
	name string
	data []byte
	dec  *json.Decoder
}

// at is an error at a place in the file, in bytes from its start.
func (f *priceSource) at(offset int64, format string, args ...any) error {
	offset = min(max(offset, 0), int64(len(f.data)))
	line := 1 + bytes.Count(f.data[:offset], []byte("\n"))
	return fmt.Errorf("%s:%d: %s", f.name, line, fmt.Sprintf(format, args...))
}

// syntax gives an error of the JSON decoder, which began at a place, the form of
// the others.
func (f *priceSource) syntax(start int64, err error) error {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return f.at(start+syntax.Offset, "not JSON: %v", err)
	case errors.As(err, &mismatch):
		where := ""
		if mismatch.Field != "" {
			where = mismatch.Field + ": "
		}
		return f.at(start+mismatch.Offset, "%s%s, which is none", where, unwanted(mismatch))
	}
	return f.at(start, "%s", strings.TrimPrefix(err.Error(), "json: "))
}

func unwanted(e *json.UnmarshalTypeError) string {
	want := "a " + e.Type.Kind().String()
	switch e.Type.Kind().String() {
	case "struct", "map":
		want = "an object"
	case "slice":
		want = "a list"
	case "int64":
		want = "a whole number"
	}
	return "want " + want + ", not a " + e.Value
}

// next is the place of the next value.
func (f *priceSource) next() int64 {
	at := f.dec.InputOffset()
	for at < int64(len(f.data)) && bytes.IndexByte([]byte(" \t\r\n,:"), f.data[at]) >= 0 {
		at++
	}
	return at
}

// members goes over the object in hand: do is called with the name of each member
// and takes its value.
func (f *priceSource) members(do func(key string, at int64) error) error {
	if _, err := f.dec.Token(); err != nil { // {
		return f.syntax(0, err)
	}
	for f.dec.More() {
		at := f.next()
		key, err := f.dec.Token()
		if err != nil {
			return f.syntax(at, err)
		}
		name, _ := key.(string)
		if err := do(name, at); err != nil {
			return err
		}
	}
	return nil
}

// PricesSchema names our form of a price file.
const PricesSchema = "skilltrace/prices@1"

func (f *priceSource) own() (prices []Price, err error) {
	schema := ""
	seen := map[string]bool{}
	err = f.members(func(key string, at int64) error {
		switch key {
		case "schema":
			if err := f.dec.Decode(&schema); err != nil || schema != PricesSchema {
				return f.at(at, "schema %.40q, want %q", schema, PricesSchema)
			}
		case "as_of", "source", "$schema":
			var text string
			if err := f.dec.Decode(&text); err != nil {
				return f.at(at, "%s: want a text", key)
			}
		case "prices":
			if t, err := f.dec.Token(); err != nil || t != json.Delim('[') {
				return f.at(at, "prices: want a list")
			}
			for f.dec.More() {
				p, at, err := f.row()
				if err != nil {
					return err
				}
				if len(prices) == maxPriceRows {
					return f.at(at, "more than %d rows", maxPriceRows)
				}
				row := strings.ToLower(p.Model) + p.Since.String()
				if seen[row] {
					return f.at(at, "%.60s stands twice for the same day", p.Model)
				}
				seen[row] = true
				prices = append(prices, p)
			}
			if _, err := f.dec.Token(); err != nil { // ]
				return f.syntax(at, err)
			}
		default:
			return f.at(at, "unknown field %.40q: want schema and prices", key)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case schema == "":
		return nil, f.at(0, "no schema, want %q", PricesSchema)
	case len(prices) == 0:
		return nil, f.at(0, "no prices")
	}
	return prices, nil
}

// row reads a row of our own format, and tells its place.
func (f *priceSource) row() (p Price, at int64, err error) {
	at = f.next()
	var raw json.RawMessage
	if err := f.dec.Decode(&raw); err != nil {
		return p, at, f.syntax(at, err)
	}
	var row priceFile
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&row); err != nil {
		return p, at, f.syntax(at, err)
	}
	if p, err = row.price(); err != nil {
		return p, at, f.at(at, "%.60s: %v", cmp.Or(row.Model, "a row"), err)
	}
	return p, at, nil
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
		switch {
		case err != nil:
			return p, fmt.Errorf("tier above %d: %w", t.Above, err)
		case t.Above <= 0:
			return p, errors.New("a tier without above, a number of tokens")
		case slices.ContainsFunc(p.Tiers, func(o Tier) bool { return o.Above == t.Above }):
			return p, fmt.Errorf("the tier above %d stands twice", t.Above)
		}
		p.Tiers = append(p.Tiers, Tier{Above: t.Above, Rates: rates, NotByClient: t.NotByClient})
	}
	slices.SortFunc(p.Tiers, func(a, b Tier) int { return cmp.Compare(a.Above, b.Above) })
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
	Input     decimalText `json:"input_cost_per_token"`
	Output    decimalText `json:"output_cost_per_token"`
	CacheRead decimalText `json:"cache_read_input_token_cost"`
	Write5m   decimalText `json:"cache_creation_input_token_cost"`
	Write1h   decimalText `json:"cache_creation_input_token_cost_above_1hr"`
	Window    decimalText `json:"max_input_tokens"`
	// Provider holds multipliers: fast, and that of a region, which is the same for
	// all models.
	Provider struct {
		Fast decimalText `json:"fast"`
	} `json:"provider_specific_entry"`
}

// liteTier is the name of a price above a size of prompt.
var liteTier = regexp.MustCompile(`^(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost|cache_creation_input_token_cost_above_1hr)_above_([0-9]{1,6})k_tokens$`)

// liteSample is the entry of LiteLLM's file that explains the others.
const liteSample = "sample_spec"

func (f *priceSource) liteLLM() (prices []Price, err error) {
	err = f.members(func(name string, at int64) error {
		var raw json.RawMessage
		if err := f.dec.Decode(&raw); err != nil {
			return f.syntax(at, err)
		}
		var m liteModel
		if name == "" || name == liteSample || json.Unmarshal(raw, &m) != nil || m.Input == "" || m.Output == "" {
			return nil
		}
		if len(prices) == maxPriceRows {
			return f.at(at, "more than %d models", maxPriceRows)
		}
		p, err := m.price(name, raw)
		if err != nil {
			return f.at(at, "%.60s: %v", name, err)
		}
		prices = append(prices, p)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(prices) == 0:
		return nil, f.at(0, "no model with a price per token; want our format, with schema %q, or LiteLLM's", PricesSchema)
	}
	return prices, nil
}

func (m liteModel) price(name string, raw []byte) (p Price, err error) {
	p = Price{Model: name}
	base := ratesFile{Input: m.Input, CacheRead: m.CacheRead, Write5m: m.Write5m, Write1h: m.Write1h, Output: m.Output}
	if p.Rates, err = base.rates(perToken); err != nil {
		return p, err
	}
	if p.Tiers, err = liteTiers(base, raw); err != nil {
		return p, err
	}
	if m.Provider.Fast != "" {
		if p.Fast, err = parseThousandths(string(m.Provider.Fast)); err != nil {
			return p, fmt.Errorf("fast: %w", err)
		}
	}
	if n, err := strconv.ParseFloat(string(m.Window), 64); err == nil && n > 0 && n < 1e12 {
		p.Window = int64(n)
	}
	return p, nil
}

// liteTiers reads the prices above sizes of prompt. What a tier does not name stays
// at its base price.
func liteTiers(base ratesFile, raw []byte) (tiers []Tier, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	texts := map[int64]*ratesFile{}
	for key, value := range all {
		m := liteTier.FindStringSubmatch(key)
		var text decimalText
		if m == nil || json.Unmarshal(value, &text) != nil || text == "" {
			continue
		}
		thousands, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil || thousands == 0 {
			continue
		}
		t := texts[thousands*1000]
		if t == nil {
			t = new(ratesFile)
			*t = base
			texts[thousands*1000] = t
		}
		switch m[1] {
		case "input_cost_per_token":
			t.Input = text
		case "output_cost_per_token":
			t.Output = text
		case "cache_read_input_token_cost":
			t.CacheRead = text
		case "cache_creation_input_token_cost":
			t.Write5m = text
		default:
			t.Write1h = text
		}
	}
	if len(texts) > maxTiers {
		return nil, fmt.Errorf("more than %d tiers", maxTiers)
	}
	for _, above := range slices.Sorted(maps.Keys(texts)) {
		rates, err := texts[above].rates(perToken)
		if err != nil {
			return nil, fmt.Errorf("above %dk tokens: %w", above/1000, err)
		}
		tiers = append(tiers, Tier{Above: above, Rates: rates, NotByClient: above == windowSmall})
	}
	return tiers, nil
}
