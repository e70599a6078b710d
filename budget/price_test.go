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
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var anyDay = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// TestPriceList checks each price of the list, in dollars per million tokens: input,
// cache read, cache write for five minutes and for an hour, output.
func TestPriceList(t *testing.T) {
	book := DefaultBook()
	type five [5]string
	rates := func(r Rates) (out five) {
		for i, x := range [...]Rate{r.Input, r.CacheRead, r.Write5m, r.Write1h, r.Output} {
			out[i] = x.Times(1e6).String()
		}
		return out
	}
	opus := five{"5", "0.5", "6.25", "10", "25"}
	opusUS := five{"5.5", "0.55", "6.875", "11", "27.5"}
	opusBatch := five{"2.5", "0.25", "3.125", "5", "12.5"}
	sonnet := five{"3", "0.3", "3.75", "6", "15"}
	sonnetUS := five{"3.3", "0.33", "4.125", "6.6", "16.5"}
	sonnetBatch := five{"1.5", "0.15", "1.875", "3", "7.5"}
	long := five{"6", "0.6", "7.5", "12", "22.5"} // Sonnet 4 and 4.5 above 200,000
	for _, c := range []struct {
		model     string
		base      five
		window    int64
		us, batch five
		fast      five // zero: no fast mode
		above     int64
		tier      five // zero: no tier
		notClient bool
	}{
		{"claude-fable-5-2", five{"8", "0.2", "10", "16", "40"}, 1e6, five{"8.8", "0.22", "11", "17.6", "44"}, five{"4", "0.1", "5", "8", "20"}, five{}, 0, five{}, false},
		{"claude-fable-5-1", five{"10", "0.25", "12.5", "20", "50"}, 1e6, five{"11", "0.275", "13.75", "22", "55"}, five{"5", "0.125", "6.25", "10", "25"}, five{}, 0, five{}, false},
		{"claude-fable-5", five{"10", "1", "12.5", "20", "50"}, 1e6, five{"11", "1.1", "13.75", "22", "55"}, five{"5", "0.5", "6.25", "10", "25"}, five{}, 0, five{}, false},
		{"claude-mythos-5", five{"10", "1", "12.5", "20", "50"}, 1e6, five{"11", "1.1", "13.75", "22", "55"}, five{"5", "0.5", "6.25", "10", "25"}, five{}, 0, five{}, false},
		{"claude-opus-5-5", five{"4", "0.2", "5", "8", "20"}, 1e6, five{"4.4", "0.22", "5.5", "8.8", "22"}, five{"2", "0.1", "2.5", "4", "10"}, five{}, 0, five{}, false},
		{"claude-opus-5", opus, 1e6, opusUS, opusBatch, five{"10", "1", "12.5", "20", "50"}, 0, five{}, false},
		{"claude-opus-4-8", opus, 1e6, opusUS, opusBatch, five{"10", "1", "12.5", "20", "50"}, 0, five{}, false},
		{"claude-opus-4-7", opus, 1e6, opusUS, opusBatch, five{"30", "3", "37.5", "60", "150"}, 0, five{}, false},
		{"claude-opus-4-6", opus, 2e5, opusUS, opusBatch, five{"30", "3", "37.5", "60", "150"}, 0, five{}, false},
		{"claude-opus-4-6[1m]", opus, 1e6, opusUS, opusBatch, five{"30", "3", "37.5", "60", "150"}, 0, five{}, false},
		{"claude-opus-4-5", opus, 2e5, opusUS, opusBatch, five{}, 0, five{}, false},
		{"claude-opus-4-1", five{"15", "1.5", "18.75", "30", "75"}, 2e5, five{"16.5", "1.65", "20.625", "33", "82.5"}, five{"7.5", "0.75", "9.375", "15", "37.5"}, five{}, 0, five{}, false},
		{"claude-opus-4", five{"15", "1.5", "18.75", "30", "75"}, 2e5, five{"16.5", "1.65", "20.625", "33", "82.5"}, five{"7.5", "0.75", "9.375", "15", "37.5"}, five{}, 0, five{}, false},
		{"claude-sonnet-5-5", five{"2", "0.1", "2.5", "4", "10"}, 1e6, five{"2.2", "0.11", "2.75", "4.4", "11"}, five{"1", "0.05", "1.25", "2", "5"}, five{}, 0, five{}, false},
		{"claude-sonnet-5", five{"2", "0.2", "2.5", "4", "10"}, 1e6, five{"2.2", "0.22", "2.75", "4.4", "11"}, five{"1", "0.1", "1.25", "2", "5"}, five{}, 0, five{}, false},
		{"claude-sonnet-4-6", sonnet, 2e5, sonnetUS, sonnetBatch, five{}, 0, five{}, false},
		{"claude-sonnet-4-6[1m]", sonnet, 1e6, sonnetUS, sonnetBatch, five{}, 0, five{}, false},
		{"claude-sonnet-4-5", sonnet, 2e5, sonnetUS, sonnetBatch, five{}, 200_000, long, true},
		{"claude-sonnet-4-5[1m]", sonnet, 1e6, sonnetUS, sonnetBatch, five{}, 200_000, long, true},
		{"claude-sonnet-4", sonnet, 2e5, sonnetUS, sonnetBatch, five{}, 200_000, long, true},
		{"claude-sonnet-4[1m]", sonnet, 1e6, sonnetUS, sonnetBatch, five{}, 200_000, long, true},
		{"claude-3-7-sonnet", sonnet, 2e5, sonnetUS, sonnetBatch, five{}, 0, five{}, false},
		{"claude-3-7-sonnet[1m]", sonnet, 1e6, sonnetUS, sonnetBatch, five{}, 0, five{}, false},
		{"claude-haiku-5-5", five{"0.1", "0.01", "0.125", "0.2", "0.5"}, 1e6, five{"0.11", "0.011", "0.1375", "0.22", "0.55"}, five{"0.05", "0.005", "0.0625", "0.1", "0.25"}, five{}, 100_000, five{"0.5", "0.05", "0.625", "1", "2.5"}, false},
		{"claude-haiku-4-5", five{"1", "0.1", "1.25", "2", "5"}, 2e5, five{"1.1", "0.11", "1.375", "2.2", "5.5"}, five{"0.5", "0.05", "0.625", "1", "2.5"}, five{}, 0, five{}, false},
		{"claude-3-5-haiku", five{"0.8", "0.08", "1", "1.6", "4"}, 2e5, five{"0.88", "0.088", "1.1", "1.76", "4.4"}, five{"0.4", "0.04", "0.5", "0.8", "2"}, five{}, 0, five{}, false},
	} {
		p, ok := book.Lookup(c.model, anyDay)
		if !ok || p.Model != strings.TrimSuffix(c.model, "[1m]") {
			t.Errorf("%s: found %q, %t", c.model, p.Model, ok)
			continue
		}
		if c.fast == (five{}) {
			c.fast = c.base
		}
		if c.tier == (five{}) {
			c.above, c.tier = 900_000, c.base
		}
		for _, x := range []struct {
			name  string
			usage Usage
			want  five
		}{
			{"base", Usage{}, c.base},
			{"fast", Usage{Fast: true}, c.fast},
			{"us", Usage{US: true}, c.us},
			{"batch", Usage{Batch: true}, c.batch},
			{"at the tier", Usage{Input: 1, CacheRead: c.above - 4, CacheWrite5m: 1, CacheWrite1h: 1, CacheWrite: 1, Output: 1e6}, c.base},
			{"above the tier", Usage{Input: 1, CacheRead: c.above - 3, CacheWrite5m: 1, CacheWrite1h: 1, CacheWrite: 1}, c.tier},
		} {
			if got := rates(p.RatesFor(x.usage)); got != x.want {
				t.Errorf("%s, %s: %v, want %v", c.model, x.name, got, x.want)
			}
		}
		if above := (Usage{Input: c.above + 1}); p.Surcharged(above) != c.notClient {
			t.Errorf("%s: surcharged %t", c.model, p.Surcharged(above))
		}
		if got := Window(c.model); got != c.window {
			t.Errorf("Window(%s) = %d, want %d", c.model, got, c.window)
		}
		if got := p.Cost(Usage{WebSearches: 1000, US: true, Fast: true, Batch: true}).String(); got != "10" {
			t.Errorf("%s: 1,000 web searches cost %s", c.model, got)
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
// of a session, and in sum, from its usage. Models that it does not know it prices
// like another.
func TestCostState(t *testing.T) {
	root := shared(t)
	totals, models, unknown := 0, 0, map[string]int{}
	near := func(got Amount, recorded string) bool {
		want, err := ParseAmount(recorded)
		if err != nil {
			t.Fatal(recorded, err)
		}
		tolerance := Rate(attoPerMicro).Times(1) // 1e-6 dollars
		return got.Compare(want.Add(tolerance)) <= 0 && want.Compare(got.Add(tolerance)) <= 0
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" || filepath.Base(path) == "requests.jsonl" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		line := 0
		for text := range bytes.Lines(b) {
			line++
			if !bytes.Contains(text, []byte(`"type":"cost-state"`)) {
				continue
			}
			var r struct {
				Type    string      `json:"type"`
				Total   json.Number `json:"totalCostUSD"`
				Unknown bool        `json:"hasUnknownModelCost"`
				Usage   map[string]struct {
					Input  int64       `json:"inputTokens"`
					Output int64       `json:"outputTokens"`
					Read   int64       `json:"cacheReadInputTokens"`
					Write  int64       `json:"cacheCreationInputTokens"`
					W5m    int64       `json:"cacheCreationEphemeral5mInputTokens"`
					W1h    int64       `json:"cacheCreationEphemeral1hInputTokens"`
					Search int64       `json:"webSearchRequests"`
					Cost   json.Number `json:"costUSD"`
				} `json:"modelUsage"`
			}
			if err := json.Unmarshal(text, &r); err != nil || r.Type != "cost-state" {
				t.Errorf("%s:%d: no cost-state: %v", path, line, err)
				continue
			}
			sum, anyUnknown := Amount{}, false
			for model, u := range r.Usage {
				if _, known := DefaultBook().Lookup(model, anyDay); !known {
					unknown[model]++
					anyUnknown = true
				}
				p, _ := DefaultBook().ClientLookup(model, anyDay)
				got := p.ClientCost(Usage{Input: u.Input, Output: u.Output, CacheRead: u.Read, CacheWrite5m: u.W5m, CacheWrite1h: u.W1h,
					CacheWrite: u.Write - u.W5m - u.W1h, WebSearches: u.Search})
				models++
				if !near(got, string(u.Cost)) {
					t.Errorf("%s:%d: %s costs %s, recorded %s: %+v", path, line, model, got, u.Cost, u)
				}
				sum = sum.Add(got)
			}
			if !near(sum, string(r.Total)) {
				t.Errorf("%s:%d: total %s, recorded %s", path, line, sum, r.Total)
			}
			if anyUnknown != r.Unknown {
				t.Errorf("%s:%d: a model without a price: %t, recorded %t", path, line, anyUnknown, r.Unknown)
			}
			totals++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if totals == 0 {
		t.Error("no cost-state was found")
	}
	t.Logf("%d records, %d models; priced like another: %v", totals, models, unknown)
}

func TestOverlay(t *testing.T) {
	book := DefaultBook()
	own, err := ReadPrices("prices.json", strings.NewReader(`{"schema":"skilltrace/prices@1","prices":[
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

	lite, err := ReadPrices("prices.json", strings.NewReader(`{"sample_spec":{"input_cost_per_token":"text"},
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

// TestOverlayOrder: what replaces a model's prices is the row without a day, where
// ever it stands.
func TestOverlayOrder(t *testing.T) {
	rows := []string{`{"model":"Claude-Opus-5","input":1,"output":1}`, `{"model":"claude-opus-5","since":"2026-11-01","input":2,"output":2}`, `{"model":"claude-opus-5","since":"2026-12-01","input":3,"output":3}`}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		var list []string
		for _, i := range order {
			list = append(list, rows[i])
		}
		own, err := ReadPrices("prices.json", strings.NewReader(`{"schema":"skilltrace/prices@1","prices":[`+strings.Join(list, ",")+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		book := DefaultBook().With(own)
		for day, want := range map[string]string{"2026-10-31T23:59:59Z": "1", "2026-11-01T00:00:00Z": "2", "2026-11-30T23:59:59Z": "2", "2026-12-01T00:00:00Z": "3"} {
			at, err := time.Parse(time.RFC3339, day)
			if err != nil {
				t.Fatal(err)
			}
			p, ok := book.Lookup("claude-opus-5", at)
			if got := p.Rates.Input.Times(1e6).String(); !ok || got != want {
				t.Errorf("order %v, %s: %s, want %s", order, day, got, want)
			}
		}
	}
	only, err := ReadPrices("prices.json", strings.NewReader(`{"schema":"skilltrace/prices@1","prices":[{"model":"new-model","since":"2026-11-01","input":2,"output":2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := DefaultBook().With(only).Lookup("new-model", anyDay.AddDate(-1, 0, 0)); ok {
		t.Error("a price before its day", p)
	}
}

// TestLiteLLMTiers: each size of prompt that has prices is a tier.
func TestLiteLLMTiers(t *testing.T) {
	prices, err := ReadPrices("prices.json", strings.NewReader(`{"m":{"input_cost_per_token":1e-06,"output_cost_per_token":2e-06,"cache_read_input_token_cost":1e-07,
		"cache_creation_input_token_cost":1.25e-06,"cache_creation_input_token_cost_above_1hr":2e-06,
		"input_cost_per_token_above_200k_tokens":2e-06,"cache_creation_input_token_cost_above_1hr_above_200k_tokens":4e-06,"input_cost_per_token_above_128k_tokens":1.5e-06,
		"input_cost_per_token_above_272k_tokens_priority":9,"input_cost_per_token_above_x_tokens":9,"provider_specific_entry":{"us":1.1,"fast":6.0}}}`))
	if err != nil {
		t.Fatal(err)
	}
	book := Book{}.With(prices)
	for _, c := range []struct {
		usage  Usage
		want   string
		client string
	}{
		{Usage{Input: 128_000, Output: 10}, "0.12802", "0.12802"},
		{Usage{Input: 128_001, Output: 10}, "0.1920215", "0.1920215"},
		{Usage{Input: 200_000}, "0.3", "0.3"},
		{Usage{Input: 200_001}, "0.400002", "0.3000015"},
		{Usage{CacheRead: 200_001, CacheWrite1h: 10, CacheWrite5m: 10}, "0.0200526", "0.0200326"},
		{Usage{Input: 10, Fast: true}, "0.00006", "0.00006"},
	} {
		p, ok := book.Lookup("m", anyDay)
		if got, client := p.Cost(c.usage).String(), p.ClientCost(c.usage).String(); !ok || got != c.want || client != c.client {
			t.Errorf("%+v: %s and %s, want %s and %s", c.usage, got, client, c.want, c.client)
		}
	}
}

var badPrices = []struct {
	data, want string
	ours       bool // says that it is our format, and is none by its schema
}{
	{``, "prices.json:1: not JSON", false},
	{`[]`, "prices.json:1: want an object, not a array", false},
	{`{`, "prices.json:1: not JSON", false},
	{"{\n\n\"a\":}", "prices.json:3: not JSON", false},
	{`{}`, "no model with a price", false},
	{"{\n\"a\":{\"input_cost_per_token\":\"x\",\"output_cost_per_token\":1}}", "prices.json:2: a: input: not a price", false},
	{`{"a":{"input_cost_per_token":1e40,"output_cost_per_token":1}}`, "more than 10 dollars per token", false},
	{`{"a":{"input_cost_per_token":1e999999999,"output_cost_per_token":1}}`, "not a price", false},
	{`{"a":{"input_cost_per_token":-1,"output_cost_per_token":1}}`, "not a price", false},
	{`{"a":{"input_cost_per_token":1,"output_cost_per_token":1,"input_cost_per_token_above_200k_tokens":"x"}}`, "above 200k tokens: input: not a price", false},
	{`{"schema":"skilltrace/prices@2"}`, "schema", true},
	{`{"schema":null,"prices":[{"model":"a","input":1,"output":1}]}`, "schema", true},
	{`{"prices":[]}`, "no schema", true},
	{`{"schema":"skilltrace/prices@1"}`, "no prices", true},
	{`{"schema":"skilltrace/prices@1","prices":[]}`, "no prices", true},
	{`{"schema":"skilltrace/prices@1","prices":{}}`, "want a list", true},
	{`{"schema":"skilltrace/prices@1","price":[]}`, `unknown field "price"`, true},
	{`{"schema":"skilltrace/prices@1","prices":[1]}`, "want an object, not a number", true},
	{"{\"schema\":\"skilltrace/prices@1\",\"prices\":[\n {\"model\":\"b\",\"input\":1,\"output\":1},\n {\"input\":1,\"output\":1}]}", "prices.json:3: a row: no model", true},
	{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1}]}`, "prices.json:1: a: output: missing", true},
	{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":true,"output":1}]}`, "not a price", true},
	{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":"","output":1}]}`, "input: missing", true},
	{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":"-1","output":1}]}`, "input: not a price", true},
	{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1,"since":"soon"}]}`, "no date", true},
	{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1,"fast":0}]}`, "fast", true},
	{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1,"prize":1}]}`, "unknown field", true},
	{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1,"window":-1}]}`, "negative window", true},
	{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1,"window":"big"}]}`, "window: want a whole number, not a string", true},
	{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1,"tiers":[{"input":1,"output":1}]}]}`, "a tier without above", true},
}

func TestOverlayErrors(t *testing.T) {
	for _, c := range append(badPrices, []struct {
		data, want string
		ours       bool
	}{ // what a schema cannot tell
		{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1},{"model":"A","input":1,"output":1}]}`, "A stands twice", false},
		{`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":1,"tiers":[{"above":1,"input":1,"output":1},{"above":1,"input":1,"output":1}]}]}`, "the tier above 1 stands twice", false},
	}...) {
		_, err := ReadPrices("prices.json", strings.NewReader(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.data, err, c.want)
		}
	}
}

// TestPriceSchema holds the schema of our format and what reads it to each other.
func TestPriceSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "docs", "schema", "prices.json"))
	if err != nil {
		t.Fatal(err)
	}
	valid := func(data []byte) error {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return schema.Validate(value)
	}
	for _, good := range []string{string(pricesJSON),
		`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1e-3,"output":"2.50","cache_read":0,"since":"2026-12-01","window":0,"window_1m":1000000,"fast":2,"tiers":[{"above":1,"input":1,"output":1,"not_by_client":true}]}]}`} {
		if err := valid([]byte(good)); err != nil {
			t.Errorf("%.80s: %v", good, err)
		}
		if _, err := ReadPrices("prices.json", strings.NewReader(good)); err != nil {
			t.Errorf("%.80s: %v", good, err)
		}
	}
	for _, c := range badPrices {
		if c.ours && valid([]byte(c.data)) == nil {
			t.Errorf("%s: the schema has nothing against it", c.data)
		}
	}
}

func FuzzReadPrices(f *testing.F) {
	f.Add([]byte(`{"schema":"skilltrace/prices@1","prices":[{"model":"a","input":1,"output":"2.5","tiers":[{"above":1,"input":1,"output":1}]}]}`))
	f.Add([]byte(`{"gpt-5":{"input_cost_per_token":1.25e-06,"output_cost_per_token":1e-05,"max_input_tokens":"272000"}}`))
	f.Add(pricesJSON)
	f.Fuzz(func(t *testing.T, data []byte) {
		prices, err := ReadPrices("prices.json", bytes.NewReader(data))
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
	if d := greatest.Minus(Rate(1).Times(5)); d.Add(Rate(1).Times(5)) != greatest || !d.Minus(greatest).IsZero() || !d.Minus(d).IsZero() {
		t.Error("difference", d)
	}
	for text, want := range map[string]string{"0.12185969999999999": "0.1218597", "0.0069494999999999995": "0.0069495", "1e-12": "0.000000000001", "4.9e-13": "0", "5e-13": "0.000000000001",
		"12": "12", "1e40": "error", "-1": "error", "": "error", "1e99": "error", "340282366920938463463": "340282366920938463463", "340282366920938463464": "error"} {
		got := "error"
		if a, err := ParseAmount(text); err == nil {
			got = a.String()
		}
		if got != want {
			t.Errorf("amount %s: %s, want %s", text, got, want)
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
