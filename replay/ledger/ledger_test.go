package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/fixtures"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
)

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s\n got %v\nwant %v", what, got, want)
	}
}

// fixture reads a log of ../../fixtures/cases, with the agents' logs beside it.
func fixture(t testing.TB, name string) *replay.Session {
	t.Helper()
	return fixtures.Session(t, filepath.Join("../../fixtures/cases", filepath.FromSlash(name)))
}

func of(s *replay.Session) *ledger.Ledger {
	book := budget.DefaultBook()
	return ledger.Of(s, &book)
}

func TestCase01StreamingSnapshots(t *testing.T) {
	for _, tt := range []struct {
		name                       string
		calls, unfinished, changed int
		want                       ledger.Tokens
	}{
		{"request-id", 1, 0, 0, ledger.Tokens{Input: 10, Output: 159}},
		{"no-request-id", 2, 0, 0, ledger.Tokens{Input: 150, Output: 19}},
		{"model-changed", 1, 0, 1, ledger.Tokens{Input: 3, CacheRead: 5, Output: 260}},
	} {
		l := of(fixture(t, "01-streaming-snapshots/"+tt.name+".jsonl"))
		equal(t, tt.name+": calls", l.Calls, tt.calls)
		equal(t, tt.name+": without a final usage", l.Unfinished, tt.unfinished)
		equal(t, tt.name+": model changed in mid-stream", l.ModelChanged, tt.changed)
		equal(t, tt.name+": usage", l.Usage, tt.want)
	}
	// Priced as the model that the row with the highest output names: 3 * $3 + 5 * $0.30 + 260 * $15.
	equal(t, "micro-dollars", of(fixture(t, "01-streaming-snapshots/model-changed.jsonl")).MicroUSD, 3911)
}

func TestCase02SyntheticRow(t *testing.T) {
	for _, tt := range []struct {
		name    string
		usage   ledger.Tokens
		micro   int64
		unknown bool
	}{
		{"one-hour", ledger.Tokens{CacheWrite1h: 37_175}, 743_500, false},
		{"no-split", ledger.Tokens{CacheWrite5m: 37_175}, 464_688, true},
		{"split-only", ledger.Tokens{CacheWrite1h: 37_175}, 743_500, false},
	} {
		l := of(fixture(t, "02-synthetic-row/"+tt.name+".jsonl"))
		equal(t, tt.name+": calls", l.Calls, 1)
		equal(t, tt.name+": usage", l.Usage, tt.usage)
		equal(t, tt.name+": micro-dollars", l.MicroUSD, tt.micro)
		equal(t, tt.name+": lifetime unknown", l.UnknownLifetime, tt.unknown)
		equal(t, tt.name+": unpriced", len(l.Unpriced), 0)
	}
}

func TestCase04SubagentUsage(t *testing.T) {
	s := fixture(t, "04-subagent-usage/c0000004-0000-4000-8000-000000000000.jsonl")
	l := of(s)
	equal(t, "calls", l.Calls, 4)
	equal(t, "without a final usage", l.Unfinished, 1)
	equal(t, "output, at least", l.Usage.Output, 813+30+8)
	sub := of(&replay.Session{Agents: s.Agents[1:]})
	equal(t, "output of the subagent, at least", sub.Usage.Output, 813)
	equal(t, "calls of the subagent", sub.Calls, 2)
}

// TestCountedOnce: requests of subagents count with the session, each once, be they
// in logs of their own, in the main log, or in both.
func TestCountedOnce(t *testing.T) {
	row := func(uuid, parent, side, id string) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,"parentUuid":%q%s,"requestId":"r%s","message":{"id":%q,"model":"claude-sonnet-4-5","stop_reason":"end_turn","content":"x","usage":{"input_tokens":10,"output_tokens":1}}}`, uuid, parent, side, id, id)
	}
	prompt := func(uuid, side string) string {
		return fmt.Sprintf(`{"type":"user","uuid":%q%s,"message":{"content":"x"}}`, uuid, side)
	}
	const side = `,"isSidechain":true,"agentId":"x"`
	main := []string{prompt("a", ""), row("b", "a", "", "m1"), prompt("sa", side), row("sb", "sa", side, "m2"), row("b", "a", "", "m1")}
	sub := []string{prompt("sa", side), row("sb", "sa", side, "m2"), row("sc", "sb", side, "m3")}
	read := func(name string, rows []string) replay.Source {
		return replay.Source{Name: name, Agent: strings.TrimPrefix(name, "main"), Records: jsonl.Read(name, strings.NewReader(strings.Join(rows, "\n")), replay.Reading())}
	}
	s, err := replay.Observe(read("main", main), read("x", sub))
	if err != nil {
		t.Fatal(err)
	}
	l := of(s)
	equal(t, "calls", l.Calls, 3)
	equal(t, "input", l.Usage.Input, 30)
}

// random is a session with made-up prompts and usage: some agents, some compactions
// and branches, prompts that grow and shrink, segments that are too large for them.
func random(r *rand.Rand) *replay.Session {
	s := &replay.Session{}
	models := []string{"claude-sonnet-4-5", "claude-haiku-5-5", "claude-fable-5", "nobody-knows-1"}
	for k := range 1 + r.IntN(3) {
		a := &replay.Agent{ID: fmt.Sprint(k)}
		tail := -1
		var total int64 = 1 + r.Int64N(30_000)
		for range r.IntN(40) {
			for range r.IntN(4) {
				size := r.IntN(4_000)
				a.Segments = append(a.Segments, replay.Segment{Layer: ledger.Layers[r.IntN(len(ledger.Layers)-1)], Prev: tail,
					Size: jsonl.Size{Letters: size, Digits: r.IntN(50), Blanks: r.IntN(500), Punct: r.IntN(90), CJK: r.IntN(20), Other: r.IntN(9), Words: size / 6}})
				tail = len(a.Segments) - 1
				total += r.Int64N(2_000)
			}
			switch r.IntN(12) {
			case 0:
				tail, total = -1, 1+r.Int64N(9_000) // a compaction
			case 1:
				total = 1 + total/3 // a prompt that shrinks
			case 2:
				if len(a.Segments) > 0 {
					tail = r.IntN(len(a.Segments)) // another branch
				}
			}
			u := jsonl.Usage{Output: r.Int64N(900), WebSearches: r.Int64N(2)}
			left := total
			for _, f := range []*int64{&u.CacheRead, &u.CacheWrite, &u.Input} {
				*f = r.Int64N(left + 1)
				left -= *f
			}
			u.Input += left
			switch r.IntN(4) {
			case 0:
			case 1:
				u.HasSplit = true
				u.CacheWrite1h = r.Int64N(u.CacheWrite + 1)
				u.CacheWrite5m = u.CacheWrite - u.CacheWrite1h
			case 2:
				u.HasSplit = true
				u.CacheWrite5m, u.CacheWrite1h = r.Int64N(u.CacheWrite+1), 0
				u.CacheWrite1h = u.CacheWrite - u.CacheWrite5m
				u.CacheWrite = 0
			case 3:
				u.HasSplit = true
			}
			a.Calls = append(a.Calls, replay.APICall{Usage: u, HasUsage: r.IntN(12) > 0, Final: r.IntN(9) > 0, Tail: tail, Model: models[r.IntN(len(models))],
				Where: replay.Where{Time: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)}})
		}
		s.Agents = append(s.Agents, a)
	}
	return s
}

// recordedUsage sums what the calls say.
func recordedUsage(s *replay.Session) (sum ledger.Tokens) {
	for _, a := range s.Agents {
		for _, c := range a.Calls {
			if !c.HasUsage {
				continue
			}
			u := c.Usage
			write := u.CacheWrite
			if write == 0 && u.HasSplit {
				write = u.CacheWrite5m + u.CacheWrite1h
			}
			hour := min(u.CacheWrite1h, write)
			sum.Add(ledger.Tokens{Input: u.Input, CacheRead: u.CacheRead, CacheWrite1h: hour, CacheWrite5m: write - hour, Output: u.Output})
		}
	}
	return sum
}

// balanced checks that a ledger adds up.
func balanced(t *testing.T, s *replay.Session, l *ledger.Ledger) {
	t.Helper()
	var rows ledger.Tokens
	var money, prompts int64
	for i, r := range l.Rows {
		rows.Add(r.Tokens)
		money += r.MicroUSD
		if r.Layer != ledger.Layers[i] {
			t.Errorf("row %d is %s", i, r.Layer)
		}
		if r.Layer != replay.LayerOutput {
			prompts += r.Once + r.Carried
		}
		for _, n := range []int64{r.Once, r.Carried, r.MicroUSD, r.Tokens.Input, r.Tokens.CacheRead, r.Tokens.CacheWrite5m, r.Tokens.CacheWrite1h, r.Tokens.Output} {
			if n < 0 {
				t.Errorf("%s: less than nothing: %+v", r.Layer, r)
			}
		}
		if r.Layer != replay.LayerOutput && r.Tokens.Output != 0 {
			t.Errorf("%s has output", r.Layer)
		}
	}
	equal(t, "usage", l.Usage, recordedUsage(s))
	equal(t, "sum of the rows", rows, l.Usage)
	equal(t, "sum of the money", money, l.MicroUSD)
	equal(t, "sizes of the prompts", prompts, l.Usage.Input+l.Usage.CacheRead+l.Usage.CacheWrite5m+l.Usage.CacheWrite1h)
}

// balancedCalls checks that the charges of each call add up, and those of all calls
// to the ledger.
func balancedCalls(t *testing.T, s *replay.Session, l *ledger.Ledger) {
	t.Helper()
	book := budget.DefaultBook()
	var sums [7]ledger.Sum
	var money, searches budget.Amount
	n := 0
	for c := range ledger.Calls(s, &book, nil) {
		n++
		var sum ledger.Sum
		var last ledger.Key
		for i := range c.Charges {
			ch := &c.Charges[i]
			sum.Add(ch)
			sums[slices.Index(ledger.Layers, ch.Layer)].Add(ch)
			if ch.Key == last || ch.Tokens == (ledger.Tokens{}) || ch.Once < 0 || ch.Carried() < 0 && ch.Layer != replay.LayerOutput {
				t.Errorf("line %d: %+v", c.Where.Line, ch)
			}
			last = ch.Key
		}
		one := replay.Session{Agents: []*replay.Agent{{Calls: []replay.APICall{*c.APICall}}}}
		equal(t, "usage of a call", sum.Tokens, recordedUsage(&one))
		equal(t, "cost of a call", sum.Cost.Add(c.Searches), c.Cost)
		money, searches = money.Add(c.Cost), searches.Add(c.Searches)
	}
	equal(t, "calls", n, l.Calls)
	for i, sum := range sums {
		equal(t, string(ledger.Layers[i])+" by call", sum.Tokens, l.Rows[i].Tokens)
		equal(t, string(ledger.Layers[i])+" once", sum.Once, l.Rows[i].Once)
	}
	equal(t, "cost", money.Micro(), l.MicroUSD)
}

func TestBalance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		s := random(r)
		balanced(t, s, of(s))
		balancedCalls(t, s, of(s))
		if t.Failed() {
			t.Fatalf("session %d", i)
		}
	}
}

// TestBounds: logs with more skills than can be told apart, and with requests that
// each read half a prompt from the cache, add up all the same.
func TestBounds(t *testing.T) {
	a := &replay.Agent{ID: "main"}
	for i := range 5000 {
		a.Segments = append(a.Segments, replay.Segment{Layer: replay.LayerBody, Part: replay.PartBody, Skill: fmt.Sprint("skill-", i), Prev: i - 1, Size: jsonl.Size{Letters: 60, Words: 10}})
		if i%500 == 499 {
			a.Calls = append(a.Calls, call(i, int64(10_000+15*i)))
		}
	}
	s := &replay.Session{Agents: []*replay.Agent{a}}
	balanced(t, s, of(s))
	balancedCalls(t, s, of(s))
	more := false
	book := budget.DefaultBook()
	for c := range ledger.Calls(s, &book, nil) {
		for _, ch := range c.Charges {
			more = more || ch.Skill == ledger.MoreSkills
		}
	}
	equal(t, "skills that are not told apart", more, true)

	a = &replay.Agent{ID: "main"}
	for i := range 3000 {
		a.Segments = append(a.Segments, replay.Segment{Layer: replay.LayerReference, Part: replay.PartReference, Skill: []string{"a", "b"}[i%2], Prev: i - 1, Size: jsonl.Size{Letters: 60, Words: 10}})
	}
	for range 12_000 {
		c := call(2999, 50_000)
		c.Usage = jsonl.Usage{CacheRead: 25_000, CacheWrite: 25_000}
		a.Calls = append(a.Calls, c)
	}
	s = &replay.Session{Agents: []*replay.Agent{a}}
	balanced(t, s, of(s))
	balancedCalls(t, s, of(s))
	split, whole := 0, 0
	for c := range ledger.Calls(s, &book, nil) {
		for _, ch := range c.Charges {
			switch {
			case ch.Layer != replay.LayerReference:
			case ch.Skill == "":
				whole++
			default:
				split++
			}
		}
	}
	if split == 0 || whole == 0 {
		t.Errorf("%d charges by skill, %d by layer only", split, whole)
	}
}

// TestBalanceRecorded adds up the fixtures and, where there are any, recordings.
func TestBalanceRecorded(t *testing.T) {
	logs, err := filepath.Glob("../../fixtures/cases/*/*.jsonl")
	if err != nil || len(logs) == 0 {
		t.Fatal("no fixtures", err)
	}
	root := os.Getenv("SKILLTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	recorded, err := filepath.Glob(filepath.Join(root, "conformance", "billing", "*", "*", "sessions", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(recorded) == 0 {
		t.Log("no recordings: fixtures only")
	}
	for _, name := range append(logs, recorded...) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := replay.Observe(replay.Source{Name: name, Records: jsonl.Read(name, f, replay.Reading())})
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		balanced(t, s, of(s))
		balancedCalls(t, s, of(s))
	}
}

// call is a request with a prompt of so many tokens, up to a segment.
func call(tail int, tokens int64) replay.APICall {
	return replay.APICall{Usage: jsonl.Usage{Input: tokens}, HasUsage: true, Final: true, Tail: tail, Model: "claude-sonnet-4-5"}
}

func segment(layer replay.Layer, prev, letters int) replay.Segment {
	return replay.Segment{Layer: layer, Prev: prev, Size: jsonl.Size{Letters: letters, Words: letters / 6}}
}

func rowOf(l *ledger.Ledger, layer replay.Layer) ledger.Row {
	for _, r := range l.Rows {
		if r.Layer == layer {
			return r
		}
	}
	return ledger.Row{}
}

func TestAnchors(t *testing.T) {
	t.Run("a recorded difference that one segment makes up is exact", func(t *testing.T) {
		a := &replay.Agent{Segments: []replay.Segment{segment(replay.LayerOther, -1, 400), segment(replay.LayerBody, 0, 4000)}, Calls: []replay.APICall{call(0, 10_000), call(1, 11_234), call(1, 11_234)}}
		l := of(&replay.Session{Agents: []*replay.Agent{a}})
		body := rowOf(l, replay.LayerBody)
		equal(t, "body", fmt.Sprint(body.Once, " ", body.Carried, " ", body.Basis), "1234 1234 exact")
		equal(t, "re-anchored", l.Reanchored, 0)
	})
	t.Run("several segments share a difference", func(t *testing.T) {
		a := &replay.Agent{Segments: []replay.Segment{segment(replay.LayerOther, -1, 400), segment(replay.LayerBody, 0, 3000), segment(replay.LayerCall, 1, 1000)}, Calls: []replay.APICall{call(0, 10_000), call(2, 11_000)}}
		l := of(&replay.Session{Agents: []*replay.Agent{a}})
		body, called := rowOf(l, replay.LayerBody), rowOf(l, replay.LayerCall)
		equal(t, "sum", body.Once+called.Once, 1000)
		equal(t, "basis", body.Basis, ledger.Anchored)
		if body.Once < 700 || body.Once > 800 {
			t.Errorf("body %d of 1000", body.Once)
		}
	})
	t.Run("a prompt that shrinks is anchored anew", func(t *testing.T) {
		a := &replay.Agent{Segments: []replay.Segment{segment(replay.LayerOther, -1, 40_000), segment(replay.LayerBody, 0, 4000), segment(replay.LayerCall, 1, 400)},
			Calls: []replay.APICall{call(0, 30_000), call(1, 31_000), call(2, 9_000), call(2, 9_000)}}
		s := &replay.Session{Agents: []*replay.Agent{a}}
		l := of(s)
		equal(t, "re-anchored", l.Reanchored, 1)
		balanced(t, s, l)
	})
	t.Run("a compaction is no reason to anchor anew", func(t *testing.T) {
		a := &replay.Agent{Segments: []replay.Segment{segment(replay.LayerOther, -1, 40_000), segment(replay.LayerReattachment, -1, 4000)}, Calls: []replay.APICall{call(0, 30_000), call(1, 9_000)}}
		equal(t, "re-anchored", of(&replay.Session{Agents: []*replay.Agent{a}}).Reanchored, 0)
	})
	t.Run("no text explains a larger prompt", func(t *testing.T) {
		a := &replay.Agent{Segments: []replay.Segment{segment(replay.LayerOther, -1, 400)}, Calls: []replay.APICall{call(0, 10_000), call(0, 12_000)}}
		s := &replay.Session{Agents: []*replay.Agent{a}}
		balanced(t, s, of(s))
	})
}

func TestUnpriced(t *testing.T) {
	a := &replay.Agent{Calls: []replay.APICall{{Usage: jsonl.Usage{Input: 5}, HasUsage: true, Tail: -1, Model: "nobody-knows-1"}, {Usage: jsonl.Usage{Input: 5}, HasUsage: true, Tail: -1, Model: "nobody-knows-1"}}}
	l := of(&replay.Session{Agents: []*replay.Agent{a}})
	equal(t, "unpriced", strings.Join(l.Unpriced, " "), "nobody-knows-1")
	equal(t, "priced", l.Priced, false)
	equal(t, "input all the same", l.Usage.Input, 10)
	none := of(&replay.Session{})
	equal(t, "rows of nothing", len(none.Rows), len(ledger.Layers))
}

func TestUnknownLifetime(t *testing.T) {
	for _, tt := range []struct {
		name  string
		usage jsonl.Usage
		want  bool
	}{
		{"no split", jsonl.Usage{CacheWrite: 9}, true},
		{"a split of nothing", jsonl.Usage{CacheWrite: 9, HasSplit: true}, true},
		{"a split", jsonl.Usage{CacheWrite: 9, CacheWrite5m: 9, HasSplit: true}, false},
		{"nothing written", jsonl.Usage{Input: 9}, false},
	} {
		a := &replay.Agent{Calls: []replay.APICall{{Usage: tt.usage, HasUsage: true, Tail: -1, Model: "claude-sonnet-4-5"}}}
		equal(t, tt.name, of(&replay.Session{Agents: []*replay.Agent{a}}).UnknownLifetime, tt.want)
	}
}
