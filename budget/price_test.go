package budget

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var anyDay = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// TestPriceList checks each price of the list, in dollars per million tokens.
func TestPriceList(t *testing.T) {
	book := DefaultBook()
	for _, c := range []struct {
		model                      string
		in, read, w5m, w1h, out    string
		window                     int64
		fast, usIn, batchIn, tier1 string // input price in fast mode, in the US, in a batch, of the highest tier
	}{
		{"claude-fable-5-2", "8", "0.2", "10", "16", "40", 1e6, "8", "8.8", "4", "8"},
		{"claude-fable-5-1", "10", "0.25", "12.5", "20", "50", 1e6, "10", "11", "5", "10"},
		{"claude-fable-5", "10", "1", "12.5", "20", "50", 1e6, "10", "11", "5", "10"},
		{"claude-mythos-5", "10", "1", "12.5", "20", "50", 1e6, "10", "11", "5", "10"},
		{"claude-opus-5-5", "4", "0.2", "5", "8", "20", 1e6, "4", "4.4", "2", "4"},
		{"claude-opus-5", "5", "0.5", "6.25", "10", "25", 1e6, "10", "5.5", "2.5", "5"},
		{"claude-opus-4-8", "5", "0.5", "6.25", "10", "25", 1e6, "10", "5.5", "2.5", "5"},
		{"claude-opus-4-7", "5", "0.5", "6.25", "10", "25", 1e6, "30", "5.5", "2.5", "5"},
		{"claude-opus-4-6", "5", "0.5", "6.25", "10", "25", 2e5, "30", "5.5", "2.5", "5"},
		{"claude-opus-4-5", "5", "0.5", "6.25", "10", "25", 2e5, "5", "5.5", "2.5", "5"},
		{"claude-opus-4-1", "15", "1.5", "18.75", "30", "75", 2e5, "15", "16.5", "7.5", "15"},
		{"claude-opus-4", "15", "1.5", "18.75", "30", "75", 2e5, "15", "16.5", "7.5", "15"},
		{"claude-sonnet-5-5", "2", "0.1", "2.5", "4", "10", 1e6, "2", "2.2", "1", "2"},
		{"claude-sonnet-5", "2", "0.2", "2.5", "4", "10", 1e6, "2", "2.2", "1", "2"},
		{"claude-sonnet-4-6", "3", "0.3", "3.75", "6", "15", 2e5, "3", "3.3", "1.5", "3"},
		{"claude-sonnet-4-5", "3", "0.3", "3.75", "6", "15", 2e5, "3", "3.3", "1.5", "6"},
		{"claude-sonnet-4", "3", "0.3", "3.75", "6", "15", 2e5, "3", "3.3", "1.5", "6"},
		{"claude-3-7-sonnet", "3", "0.3", "3.75", "6", "15", 2e5, "3", "3.3", "1.5", "3"},
		{"claude-haiku-5-5", "0.1", "0.01", "0.125", "0.2", "0.5", 1e6, "0.1", "0.11", "0.05", "0.5"},
		{"claude-haiku-4-5", "1", "0.1", "1.25", "2", "5", 2e5, "1", "1.1", "0.5", "1"},
		{"claude-3-5-haiku", "0.8", "0.08", "1", "1.6", "4", 2e5, "0.8", "0.88", "0.4", "0.8"},
	} {
		p, ok := book.Lookup(c.model, anyDay)
		if !ok || p.Model != c.model {
			t.Errorf("%s: found %q, %t", c.model, p.Model, ok)
			continue
		}
		r := p.Rates
		fast, us, batch := p.RatesFor(Usage{Fast: true}), p.RatesFor(Usage{US: true}), p.RatesFor(Usage{Batch: true})
		tier := p.RatesFor(Usage{Input: 200_001})
		for _, x := range []struct {
			name string
			got  Rate
			want string
		}{
			{"input", r.Input, c.in}, {"cache read", r.CacheRead, c.read}, {"write 5m", r.Write5m, c.w5m},
			{"write 1h", r.Write1h, c.w1h}, {"output", r.Output, c.out}, {"fast", fast.Input, c.fast},
			{"us", us.Input, c.usIn}, {"batch", batch.Input, c.batchIn}, {"tier", tier.Input, c.tier1},
		} {
			if got := x.got.Times(1e6).String(); got != x.want {
				t.Errorf("%s %s: %s, want %s", c.model, x.name, got, x.want)
			}
		}
		if got := Window(c.model); got != c.window {
			t.Errorf("Window(%s) = %d, want %d", c.model, got, c.window)
		}
	}
	if n := len(book.byModel); n != 21 {
		t.Errorf("%d models", n)
	}
	if PricesAsOf() != "2026-11-30" {
		t.Error(PricesAsOf())
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct{ model, want string }{
		{"claude-sonnet-4-5-20250929", "claude-sonnet-4-5"},
		{"claude-sonnet-4-5[1m]", "claude-sonnet-4-5"},
		{"claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"},
		{"claude-sonnet-4-20250514", "claude-sonnet-4"},
		{"claude-opus-4-1-20250805", "claude-opus-4-1"},
		{"claude-opus-4@20250514", "claude-opus-4"},
		{"claude-opus-4-latest", "claude-opus-4"},
		{"CLAUDE-OPUS-5", "claude-opus-5"},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"},
		{"anthropic.claude-opus-4-6-v1", "claude-opus-4-6"},
		{"anthropic/claude-opus-5-5", "claude-opus-5-5"},
		{"bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"},
		{"vertex_ai/claude-3-7-sonnet@20250219", "claude-3-7-sonnet"},
		{"claude-3-5-haiku-20241022", "claude-3-5-haiku"},
		{"<synthetic>", "<synthetic>"},
		{"claude-opus-4-9", ""},
		{"claude-opus-4-50", ""},
		{"claude-haiku-5", ""},
		{"claude-fable-5-3", ""},
		{"claude-opus-55", ""},
		{"claude-opus-4-2025", ""},
		{"claude-mystery-9", ""},
		{"my-claude-opus-5", ""},
		{"opus", ""},
		{"", ""},
		{strings.Repeat("claude-opus-5-", 100_000), ""},
	} {
		p, ok := DefaultBook().Lookup(c.model, anyDay)
		if p.Model != c.want || ok != (c.want != "") {
			t.Errorf("Lookup(%.60s) = %q, %t; want %q", c.model, p.Model, ok, c.want)
		}
	}
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		model string
		want  int64
	}{
		{"claude-opus-4-6", 200_000}, {"claude-opus-4-6[1m]", 1_000_000}, {"claude-sonnet-4-5-20250929[1m]", 1_000_000},
		{"claude-haiku-5-5", 1_000_000}, {"claude-mystery-9", 0}, {"claude-mystery-9[1m]", 1_000_000}, {"<synthetic>", 0},
	} {
		if got := Window(c.model); got != c.want {
			t.Errorf("Window(%s) = %d, want %d", c.model, got, c.want)
		}
	}
}

func TestCost(t *testing.T) {
	for _, c := range []struct {
		name, model string
		usage       Usage
		want        string // dollars
		micro       int64
		client      string // where it differs
	}{
		{"nothing", "claude-opus-5", Usage{}, "0", 0, ""},
		{"one of each", "claude-opus-5", Usage{Input: 1, Output: 1, CacheRead: 1, CacheWrite5m: 1, CacheWrite1h: 1}, "0.00004675", 47, ""},
		{"one-hour cache", "claude-fable-5", Usage{CacheWrite1h: 37_175}, "0.7435", 743_500, ""},
		{"cache of unknown lifetime", "claude-fable-5", Usage{CacheWrite: 37_175}, "0.4646875", 464_688, ""},
		{"half up", "claude-sonnet-5", Usage{CacheWrite5m: 1}, "0.0000025", 3, ""},
		{"fast", "claude-opus-4-7", Usage{Input: 1000, Fast: true}, "0.03", 30_000, ""},
		{"us", "claude-haiku-5-5", Usage{CacheRead: 1, US: true}, "0.000000011", 0, ""},
		{"us, batch and fast", "claude-opus-5", Usage{Input: 1, US: true, Batch: true, Fast: true}, "0.0000055", 6, ""},
		{"searches", "claude-opus-5", Usage{WebSearches: 3}, "0.03", 30_000, ""},
		{"at the tier", "claude-haiku-5-5", Usage{Input: 1, CacheRead: 99_000, CacheWrite5m: 999, Output: 1}, "0.001115475", 1115, ""},
		{"above the tier", "claude-haiku-5-5", Usage{Input: 1, CacheRead: 99_000, CacheWrite5m: 1000, Output: 1}, "0.005578", 5578, ""},
		{"no surcharge", "claude-sonnet-4-5", Usage{CacheRead: 200_000}, "0.06", 60_000, ""},
		{"surcharge", "claude-sonnet-4-5[1m]", Usage{CacheRead: 200_000, Input: 1, Output: 1000}, "0.142506", 142_506, "0.075003"},
		{"no surcharge for the next", "claude-sonnet-4-6[1m]", Usage{Input: 300_000}, "0.9", 900_000, ""},
		{"synthetic", "<synthetic>", Usage{Input: 1000, WebSearches: 5}, "0", 0, ""},
		{"below 0", "claude-opus-5", Usage{Input: -5, Output: math.MinInt64, WebSearches: -1}, "0", 0, ""},
		{"no end", "claude-opus-4-1", Usage{Output: math.MaxInt64, Input: math.MaxInt64}, "830103483316929.82263", math.MaxInt64, ""},
	} {
		p, ok := DefaultBook().Lookup(c.model, anyDay)
		if !ok {
			t.Errorf("%s: no price", c.name)
			continue
		}
		got := p.Cost(c.usage)
		if got.String() != c.want || got.Micro() != c.micro {
			t.Errorf("%s: %s, %d; want %s, %d", c.name, got, got.Micro(), c.want, c.micro)
		}
		client := c.client
		if client == "" {
			client = c.want
		}
		if got := p.ClientCost(c.usage).String(); got != client {
			t.Errorf("%s: for the client %s, want %s", c.name, got, client)
		}
		if p.Surcharged(c.usage) != (c.client != "") {
			t.Errorf("%s: surcharged %t", c.name, p.Surcharged(c.usage))
		}
	}
}

// TestCostState reproduces the cost that the client itself recorded for each model
// of a session from its usage.
func TestCostState(t *testing.T) {
	root := shared(t)
	totals, models, unpriced := 0, 0, map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" || filepath.Base(path) == "requests.jsonl" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(b) {
			if !bytes.Contains(line, []byte(`"type":"cost-state"`)) {
				continue
			}
			var r struct {
				Total float64 `json:"totalCostUSD"`
				Usage map[string]struct {
					Input  int64   `json:"inputTokens"`
					Output int64   `json:"outputTokens"`
					Read   int64   `json:"cacheReadInputTokens"`
					Write  int64   `json:"cacheCreationInputTokens"`
					W5m    int64   `json:"cacheCreationEphemeral5mInputTokens"`
					W1h    int64   `json:"cacheCreationEphemeral1hInputTokens"`
					Search int64   `json:"webSearchRequests"`
					Cost   float64 `json:"costUSD"`
				} `json:"modelUsage"`
			}
			if err := json.Unmarshal(line, &r); err != nil {
				continue // not the record itself
			}
			sum := Amount{}
			whole := true
			for model, u := range r.Usage {
				p, ok := DefaultBook().Lookup(model, anyDay)
				if !ok {
					unpriced[model]++
					whole = false
					continue
				}
				usage := Usage{Input: u.Input, Output: u.Output, CacheRead: u.Read, CacheWrite5m: u.W5m, CacheWrite1h: u.W1h, CacheWrite: u.Write - u.W5m - u.W1h, WebSearches: u.Search}
				got := p.ClientCost(usage)
				models++
				if x, _ := strconv.ParseFloat(got.String(), 64); math.Abs(x-u.Cost) > 1e-6 {
					t.Errorf("%s: %s costs %s, recorded %v: %+v", path, model, got, u.Cost, usage)
				}
				sum = sum.Add(got)
			}
			if x, _ := strconv.ParseFloat(sum.String(), 64); whole && math.Abs(x-r.Total) > 1e-6 {
				t.Errorf("%s: total %s, recorded %v", path, sum, r.Total)
			}
			totals++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d records, %d models; unpriced: %v", totals, models, unpriced)
}

func TestOverlay(t *testing.T) {
	book := DefaultBook()
	own, err := ParsePrices([]byte(`{"schema":"skilltrace/prices@1","prices":[
		{"model":"claude-opus-5","since":"2026-12-01","input":6,"output":"30","cache_read":"0.6","write_5m":7.5,"write_1h":12,"window":1000000},
		{"model":"claude-haiku-4-5","input":"2","output":"10"},
		{"model":"other-model","input":1e-3,"output":2,"tiers":[{"above":9,"input":9,"output":9},{"above":5,"input":5,"output":5}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	with := book.With(own)
	for _, c := range []struct {
		book  Book
		model string
		at    time.Time
		usage Usage
		want  string
	}{
		{with, "claude-opus-5", anyDay, Usage{Input: 1e6}, "5"},
		{with, "claude-opus-5", anyDay.AddDate(0, 0, 1), Usage{Input: 1e6}, "6"},
		{book, "claude-opus-5", anyDay.AddDate(0, 0, 1), Usage{Input: 1e6}, "5"},
		{with, "claude-haiku-4-5-20251001", anyDay, Usage{Input: 1e6, CacheRead: 1e6, CacheWrite1h: 1e6}, "6"},
		{with, "other-model", anyDay, Usage{Input: 5}, "0.000000005"},
		{with, "other-model", anyDay, Usage{Input: 6}, "0.00003"},
		{with, "other-model", anyDay, Usage{Input: 10}, "0.00009"},
	} {
		p, ok := c.book.Lookup(c.model, c.at)
		if got := p.Cost(c.usage).String(); !ok || got != c.want {
			t.Errorf("%s at %s: %s, want %s", c.model, c.at, got, c.want)
		}
	}

	lite, err := ParsePrices([]byte(`{"sample_spec":{"input_cost_per_token":"text"},
		"claude-opus-5":{"input_cost_per_token":1e-06,"output_cost_per_token":2.5e-05,"cache_creation_input_token_cost":6.25e-06,"cache_read_input_token_cost":5e-07,"max_input_tokens":1000000,"mode":"chat"},
		"anthropic.claude-opus-5":{"input_cost_per_token":7e-06,"output_cost_per_token":2.5e-05},
		"gpt-5":{"input_cost_per_token":1.25e-06,"output_cost_per_token":1e-05,"max_input_tokens":"272000","input_cost_per_token_above_200k_tokens":2.5e-06},
		"dall-e":{"input_cost_per_pixel":1.9e-08},"odd":[1],"mute":null}`))
	if err != nil {
		t.Fatal(err)
	}
	with = book.With(lite)
	for _, c := range []struct {
		model string
		usage Usage
		want  string
	}{
		{"claude-opus-5", Usage{Input: 1e6}, "1"},
		{"claude-opus-5", Usage{CacheWrite1h: 1e6}, "6.25"},
		{"anthropic.claude-opus-5", Usage{Input: 1e5}, "0.7"},
		{"us.anthropic.claude-opus-5", Usage{Input: 1e6}, "1"},
		{"claude-opus-5-5", Usage{Input: 1e6}, "4"},
		{"gpt-5", Usage{Input: 1e5}, "0.125"},
		{"gpt-5", Usage{Input: 1e6}, "2.5"},
	} {
		p, ok := with.Lookup(c.model, anyDay)
		if got := p.Cost(c.usage).String(); !ok || got != c.want {
			t.Errorf("%s: %s, want %s", c.model, got, c.want)
		}
	}
	if with.Window("gpt-5") != 272_000 {
		t.Error("window", with.Window("gpt-5"))
	}
}

func TestOverlayErrors(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{``, "unexpected end"},
		{`[]`, "cannot unmarshal"},
		{`{}`, "no model with a price"},
		{`{"a":{"input_cost_per_token":"x","output_cost_per_token":1}}`, "a: input: not a price"},
		{`{"a":{"input_cost_per_token":1e40,"output_cost_per_token":1}}`, "more than 10 dollars per token"},
		{`{"a":{"input_cost_per_token":1e999999999,"output_cost_per_token":1}}`, "not a price"},
		{`{"a":{"input_cost_per_token":-1,"output_cost_per_token":1}}`, "not a price"},
		{`{"schema":"skilltrace/prices@2"}`, "schema"},
		{`{"prices":[]}`, "schema"},
		{`{"schema":"skilltrace/prices@1","prices":[{"input":1,"output":1}]}`, "row 1 (): no model"},
		{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1}]}`, "row 1 (a): output: missing"},
		{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1,"since":"soon"}]}`, "no date"},
		{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1,"fast":0}]}`, "fast"},
		{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1,"prize":1}]}`, "unknown field"},
		{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1,"window":-1}]}`, "negative window"},
	} {
		_, err := ParsePrices([]byte(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.data, err, c.want)
		}
	}
}

func FuzzParsePrices(f *testing.F) {
	f.Add([]byte(`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":"2.5","tiers":[{"above":1,"input":1,"output":1}]}]}`))
	f.Add([]byte(`{"gpt-5":{"input_cost_per_token":1.25e-06,"output_cost_per_token":1e-05,"max_input_tokens":"272000"}}`))
	f.Add(pricesJSON)
	f.Fuzz(func(t *testing.T, data []byte) {
		prices, err := ParsePrices(data)
		if err != nil {
			return
		}
		book := DefaultBook().With(prices)
		for _, p := range prices {
			book.Lookup(p.Model+"-20260101", anyDay)
			book.Window(p.Model)
			p.Cost(Usage{Input: math.MaxInt64, Output: 3, Fast: true, US: true, Batch: true}).Micro()
		}
	})
}

func TestAmount(t *testing.T) {
	greatest := Amount{math.MaxUint64, math.MaxUint64}
	for _, c := range []struct {
		a      Amount
		micro  int64
		string string
	}{
		{Amount{}, 0, "0"},
		{Rate(1).Times(1), 0, "0.000000000000000001"},
		{Rate(attoPerMicro / 2).Times(1), 1, "0.0000005"},
		{Rate(attoPerMicro/2 - 1).Times(1), 0, "0.000000499999999999"},
		{Rate(attoPerMicro).Times(1_500_000), 1_500_000, "1.5"},
		{greatest, math.MaxInt64, "340282366920938463463.374607431768211455"},
		{greatest.Add(Rate(1).Times(1)), math.MaxInt64, "340282366920938463463.374607431768211455"},
	} {
		if c.a.Micro() != c.micro || c.a.String() != c.string {
			t.Errorf("%v: %d, %s; want %d, %s", c.a, c.a.Micro(), c.a, c.micro, c.string)
		}
	}
	if a, b := Rate(1).Times(5), Rate(1).Times(6); a.Compare(b) != -1 || b.Compare(a) != 1 || a.Compare(a) != 0 || !(Amount{}).IsZero() || a.IsZero() {
		t.Error("order")
	}
}

// TestPriceTableInFile keeps prices.json readable: every row on a line.
func TestPriceTableInFile(t *testing.T) {
	row := regexp.MustCompile(`^    \{"model": "[a-z0-9-]+", .*\},?$`)
	n := 0
	for sc := bufio.NewScanner(bytes.NewReader(pricesJSON)); sc.Scan(); {
		if row.MatchString(sc.Text()) {
			n++
		}
	}
	if n != len(DefaultBook().byModel) {
		t.Error(fmt.Sprint(n, " rows"))
	}
}

func BenchmarkLookupAndCost(b *testing.B) {
	book := DefaultBook()
	b.ReportAllocs()
	for b.Loop() {
		p, _ := book.Lookup("us.anthropic.claude-sonnet-4-5-20250929-v1:0", anyDay)
		p.Cost(Usage{Input: 3, CacheRead: 20_000, Output: 500})
	}
}
