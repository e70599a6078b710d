package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay/regress/live/fake"
	"github.com/skilltrace/skilltrace/replay/regress/request"
)

// secret is a key that must turn up nowhere.
const secret = "sk-secret-0123456789"

// waits are the waits that an Asker would have made.
type waits struct {
	mu   sync.Mutex
	list []time.Duration
}

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, d)
	return ctx.Err()
}

// start is a fake server and an Asker for it.
func start(t *testing.T, o Options, script ...fake.Reply) (*Asker, *fake.Server, *waits) {
	t.Helper()
	s := fake.Start(script...)
	t.Cleanup(s.Close)
	w := &waits{}
	o.Access = Access{BaseURL: s.URL, Key: secret}
	o.Prices = budget.DefaultBook()
	o.At = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	if o.Sleep == nil {
		o.Sleep = w.sleep
	}
	if o.Samples == 0 {
		o.Samples = 1
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a, s, w
}

// asks is a question with a prompt.
func asks(id string, any ...string) Question {
	return Question{ID: id, Expect: Expect{any}, Request: request.Request{
		Model:    "claude-opus-4-5",
		Messages: []json.RawMessage{json.RawMessage(fmt.Sprintf(`{"role":"user","content":%q}`, id))},
	}}
}

func ask(t *testing.T, a *Asker, q ...Question) *Run {
	t.Helper()
	run, err := a.Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Results) != len(q) {
		t.Fatalf("%d results of %d questions", len(run.Results), len(q))
	}
	return run
}

// TestBytes: what goes out is what was given, to the byte.
func TestBytes(t *testing.T) {
	a, s, _ := start(t, Options{}, fake.Reply{})
	q := Question{ID: "bytes", Request: request.Request{
		Model: "claude-opus-4-5", MaxTokens: 77,
		System: json.RawMessage("[ {\"type\":\"text\", \"text\":\"<b> & \\u00e9 é \\ud83d 1.0e0\"} ]"),
		Tools:  json.RawMessage(`[{"name":"Skill","description":"a\/b","input_schema":{"b":1,"a":2,"b":3}}]`),
		Messages: []json.RawMessage{
			json.RawMessage("{\"role\":\"user\",\n \"content\":\"<system-reminder>\\u2028\u2028&\"}"),
			json.RawMessage(`{"content":[{"text":"12345678901234567890","type":"text","n":12345678901234567890.50}],"role":"system"}`),
		},
		Betas: []string{"one-2026-01-01", "bad\r\nX-Evil: 1", "", "two"},
	}}
	ask(t, a, q)
	want := `{"model":"claude-opus-4-5","max_tokens":77,"system":` + string(q.Request.System) + `,"tools":` + string(q.Request.Tools) +
		`,"messages":[` + string(q.Request.Messages[0]) + "," + string(q.Request.Messages[1]) + "]}"
	asked := s.Asked()
	if len(asked) != 1 || string(asked[0].Body) != want {
		t.Fatalf("sent %q\nwant %q", asked[0].Body, want)
	}
	h := asked[0].Header
	if h.Get("x-api-key") != secret || h.Get("authorization") != "" || h.Get("content-type") != "application/json" || h.Get("anthropic-version") != apiVersion || h.Get("anthropic-beta") != "one-2026-01-01,two" {
		t.Errorf("headers %v", h)
	}
}

func TestAccess(t *testing.T) {
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	s := fake.Start(fake.Reply{})
	defer s.Close()
	env["ANTHROPIC_BASE_URL"] = s.URL + "/below"
	env["ANTHROPIC_AUTH_TOKEN"] = "bearer-token"
	env["ANTHROPIC_CUSTOM_HEADERS"] = "X-Team: one\nX-Team: two\nbroken\nanthropic-version: 2026-10-21"
	a, err := New(Options{Access: AccessFrom(getenv), Samples: 1})
	if err != nil {
		t.Fatal(err)
	}
	// What the process's own environment says counts for nothing.
	t.Setenv("ANTHROPIC_API_KEY", "other")
	ask(t, a, asks("q"))
	h := s.Asked()[0].Header
	if h.Get("authorization") != "Bearer bearer-token" || h.Get("x-api-key") != "" || !slices.Equal(h.Values("X-Team"), []string{"one", "two"}) || h.Get("anthropic-version") != "2026-10-21" {
		t.Errorf("headers %v", h)
	}

	for _, bad := range []string{"ftp://x", "host:80", "https://", "http://u:pass%zz@h"} {
		_, err := New(Options{Access: Access{BaseURL: bad}})
		if err == nil || strings.Contains(err.Error(), "pass") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	a, err = New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Ask(t.Context(), []Question{asks("q")}); !errors.Is(err, ErrNoKey) {
		t.Errorf("without a key: %v", err)
	}
}

func TestCounts(t *testing.T) {
	one := func(calls ...string) fake.Reply { return fake.Reply{Times: 1, Calls: calls} }
	a, _, _ := start(t, Options{Samples: 8, Jobs: 1},
		one("Skill:deploy"),
		one("text:I look first.", "Bash", "Read", "Skill:superpowers:using-superpowers", "Skill:deploy"),
		one("Read", "Skill: /deploy "),
		one("Skill:commit", "Skill:commit"),
		one("Bash"),
		one("text:done"),
		fake.Reply{Times: 1, Calls: []string{"text:so"}, Stop: "max_tokens"},
		fake.Reply{Times: 1, Calls: []string{"Skill:deploy"}, Stop: "max_tokens"},
	)
	r := ask(t, a, asks("q", "deploy", "/release")).Results[0]
	if r.Rate != (Rate{4, 7}) || r.First != 2 || r.Late != 2 || r.Behind != 1 || r.None != 2 || r.OtherTools != 1 || r.Errored != 1 {
		t.Errorf("%+v", r)
	}
	want := []Chosen{{"deploy", 4, 3, true}, {"commit", 1, 1, false}, {"superpowers:using-superpowers", 1, 1, false}}
	if !slices.Equal(r.Chosen, want) {
		t.Errorf("chosen %+v", r.Chosen)
	}
	// Case 9: late, and where; which is not never.
	if tool, skill := r.Samples[1].called(Expect{[]string{"deploy"}}); tool != 4 || skill != 2 {
		t.Errorf("at %d, %d", tool, skill)
	}
	if !strings.Contains(r.Why[6], "cut off") || r.Why[0] != "" {
		t.Errorf("why %q", r.Why)
	}
}

func TestExpectNone(t *testing.T) {
	for _, c := range []struct {
		reply fake.Reply
		hits  int
		err   bool
	}{
		{fake.Reply{}, 1, false},
		{fake.Reply{Calls: []string{"Bash"}}, 1, false},
		{fake.Reply{Calls: []string{"Bash", "Skill:a"}}, 0, false},
		{fake.Reply{Calls: []string{"Skill:"}}, 0, false},
		{fake.Reply{Calls: []string{"Skill:a"}, Stop: "max_tokens"}, 0, false},
		{fake.Reply{Stop: "max_tokens"}, 0, true},
		{fake.Reply{Stop: "refusal"}, 0, true},
		{fake.Reply{Stop: "pause_turn"}, 0, true},
	} {
		a, _, _ := start(t, Options{}, c.reply)
		r := ask(t, a, asks("q")).Results[0]
		if r.Rate.Hits != c.hits || (r.Errored > 0) != c.err || r.First+r.Late != 0 {
			t.Errorf("%+v: %+v", c.reply, r)
		}
	}
}

// TestNegatives is case 10(a): of two queries that are to call nothing, one is clean and
// one ends in an API error.
func TestNegatives(t *testing.T) {
	a, _, _ := start(t, Options{},
		fake.Reply{Match: "clean"},
		fake.Reply{Match: "broken", Status: 500, Kind: "api_error", Message: "Internal server error"})
	run := ask(t, a, asks("clean"), asks("broken"))
	if v, why := run.Results[0].Judge(Rule{}); v != Passed {
		t.Errorf("clean: %s, %s", v, why)
	}
	v, why := run.Results[1].Judge(Rule{})
	if v != Errored || why != "HTTP 500 api_error: Internal server error (6 tries)" {
		t.Errorf("broken: %s, %s", v, why)
	}
	if run.Results[1].Rate != (Rate{}) || run.Errored != 1 || run.Asked != 2 {
		t.Errorf("%+v", run)
	}
}

func TestRetries(t *testing.T) {
	overloaded := fake.Reply{Times: 1, Status: 529, Kind: "overloaded_error", Message: "Overloaded"}
	limited := func(headers ...string) fake.Reply {
		r := fake.Reply{Times: 1, Status: 429, Kind: "rate_limit_error", Message: "slow down", Headers: map[string]string{}}
		for i := 0; i < len(headers); i += 2 {
			r.Headers[headers[i]] = headers[i+1]
		}
		return r
	}
	good := fake.Reply{Calls: []string{"Skill:a"}}
	always := func(r fake.Reply) fake.Reply { r.Times = 0; return r }
	for _, c := range []struct {
		name   string
		script []fake.Reply
		tries  int
		err    string
		waits  []time.Duration // of which 0 is any
	}{
		{"rate limit, seconds", []fake.Reply{limited("retry-after", "7"), good}, 2, "", []time.Duration{7 * time.Second}},
		{"rate limit, milliseconds", []fake.Reply{limited("retry-after-ms", "250", "retry-after", "7"), good}, 2, "", []time.Duration{250 * time.Millisecond}},
		{"rate limit, date", []fake.Reply{limited("date", "Mon, 30 Nov 2026 10:00:00 GMT", "retry-after", "Mon, 30 Nov 2026 10:00:20 GMT"), good}, 2, "", []time.Duration{20 * time.Second}},
		{"rate limit, nothing said", []fake.Reply{limited(), good}, 2, "", []time.Duration{0}},
		{"rate limit, nonsense", []fake.Reply{limited("retry-after", "soon"), good}, 2, "", []time.Duration{0}},
		{"rate limit, hours", []fake.Reply{limited("retry-after", "7200"), good}, 1, "HTTP 429 rate_limit_error: slow down; the server asks to wait 2h0m0s", nil},
		{"rate limit, not to be retried", []fake.Reply{limited("x-should-retry", "false"), good}, 1, "HTTP 429 rate_limit_error: slow down", nil},
		{"overloaded", []fake.Reply{overloaded, overloaded, good}, 3, "", []time.Duration{0, 0}},
		{"overloaded for good", []fake.Reply{always(overloaded)}, 6, "HTTP 529 overloaded_error: Overloaded (6 tries)", make([]time.Duration, 5)},
		{"server error without JSON", []fake.Reply{{Times: 1, Status: 502, Raw: "<html>bad gateway"}, good}, 2, "", []time.Duration{0}},
		{"dropped", []fake.Reply{{Times: 1, Drop: true}, good}, 2, "", []time.Duration{0}},
		{"dropped in the body", []fake.Reply{{Times: 1, Cut: true, Calls: []string{"Skill:a"}}, good}, 2, "", []time.Duration{0}},
		{"timeout", []fake.Reply{{Times: 1, DelayMS: 60_000}, good}, 2, "", []time.Duration{0}},
		{"timeout for good", []fake.Reply{{DelayMS: 60_000}}, 6, "no reply within 50ms (6 tries)", make([]time.Duration, 5)},
		{"bad request", []fake.Reply{{Status: 400, Kind: "invalid_request_error", Message: "prompt is too long"}}, 1, "HTTP 400 invalid_request_error: prompt is too long", nil},
		{"no such model", []fake.Reply{{Status: 404, Kind: "not_found_error", Message: "model: x"}}, 1, "HTTP 404 not_found_error: model: x", nil},
		{"malformed", []fake.Reply{{Raw: `{"type":"message","content":[`}}, 1, "what the server sent is no JSON", nil},
		{"not a message", []fake.Reply{{Raw: `{"hello":1}`}}, 1, "what the server sent is no message", nil},
		{"empty", []fake.Reply{{Raw: " "}}, 1, "what the server sent is no JSON", nil},
		{"no content", []fake.Reply{{Raw: `{"type":"message","role":"assistant","stop_reason":"end_turn"}`}}, 1, "what the server sent is no message", nil},
		{"no stop reason", []fake.Reply{{Raw: `{"type":"message","role":"assistant","content":[],"stop_reason":null}`}}, 1, "what the server sent is no message", nil},
		{"redirect", []fake.Reply{{Status: 307, Headers: map[string]string{"Location": "/v1/messages"}}}, 1, "HTTP 307 where a message was expected", nil},
		{"too long", []fake.Reply{{Raw: strings.Repeat(" ", maxReply+1)}}, 1, "the reply is longer than 16777216 bytes", nil},
		{"key repeated", []fake.Reply{{Status: 400, Kind: "invalid_request_error", Message: "what is " + secret + "?"}}, 1, "HTTP 400 invalid_request_error: what is ***?", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			timeout := time.Minute
			switch c.name {
			case "timeout":
				timeout = 2 * time.Second // the second try must come through on a busy machine
			case "timeout for good":
				timeout = 50 * time.Millisecond
			}
			a, s, w := start(t, Options{Timeout: timeout}, c.script...)
			r := ask(t, a, asks("q", "a")).Results[0]
			if got := r.Samples[0]; got.Tries != c.tries || got.Err != c.err || len(s.Asked()) != c.tries {
				t.Errorf("%d tries, %q; want %d, %q; asked %d", got.Tries, got.Err, c.tries, c.err, len(s.Asked()))
			}
			if want := (Rate{1, 1}); c.err == "" && r.Rate != want || c.err != "" && r.Rate.Of != 0 {
				t.Errorf("rate %v", r.Rate)
			}
			if len(w.list) != len(c.waits) {
				t.Fatalf("waits %v", w.list)
			}
			for i, d := range w.list {
				whole := min(firstWait<<i, lastWait)
				if c.waits[i] > 0 && d != c.waits[i] || c.waits[i] == 0 && (d > whole || d < whole*3/4) {
					t.Errorf("waits %v, want %v", w.list, c.waits)
				}
			}
		})
	}
}

// TestStops: what no call can do better in ends the run; the rest is errored.
func TestStops(t *testing.T) {
	for _, c := range []struct {
		reply   fake.Reply
		asked   int
		stopped string
	}{
		{fake.Reply{Status: 401, Kind: "authentication_error", Message: "invalid x-api-key"}, 1, "HTTP 401 authentication_error: invalid x-api-key"},
		{fake.Reply{Status: 402, Kind: "billing_error", Message: "no credit"}, 1, "HTTP 402 billing_error: no credit"},
		{fake.Reply{Drop: true}, giveUp, "no server answered 5 calls"},
		{fake.Reply{Status: 500, Kind: "api_error", Message: "x"}, 8, ""},
		{fake.Reply{Status: 403, Kind: "permission_error", Message: "x"}, 8, ""},
	} {
		a, _, _ := start(t, Options{Samples: 4, Jobs: 1}, c.reply)
		run := ask(t, a, asks("q", "a"), asks("r", "a"))
		if run.Stopped != c.stopped || run.Asked != c.asked || run.NotAsked != 8-c.asked || run.Errored != 8 {
			t.Errorf("%+v: %+v", c.reply, run)
		}
		for _, r := range run.Results {
			if v, _ := r.Judge(Rule{}); v != Errored || r.Errored != 4 {
				t.Errorf("%+v", r)
			}
		}
		if c.stopped != "" {
			if last := run.Results[1].Samples[3].Err; last != "not asked: "+c.stopped {
				t.Errorf("last %q", last)
			}
		}
	}
}

func TestCache(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "cache")
	a, s, _ := start(t, Options{Samples: 3, Cache: folder}, fake.Reply{Calls: []string{"Bash", "Skill:a"},
		Usage: json.RawMessage(`{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":3,"cache_creation_input_tokens":7}`)})
	q := asks("q", "a")
	first := ask(t, a, q)
	if first.Asked != 3 || first.Cached != 0 || first.Unsaved != nil {
		t.Fatalf("%+v", first)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil || bytes.Contains(raw, []byte(secret)) || bytes.Contains(raw, []byte("req_fake")) || bytes.Contains(raw, []byte(s.URL)) {
			t.Errorf("%s, %v", raw, err)
		}
	}

	// The same again asks nobody, and says the same; without a key, too.
	keyless, err := New(Options{Samples: 3, Cache: folder})
	if err != nil {
		t.Fatal(err)
	}
	again := ask(t, keyless, q)
	if again.Asked != 0 || again.Cached != 3 || again.Spent != (budget.Amount{}) || again.Results[0].Cost != (budget.Amount{}) {
		t.Fatalf("%+v", again)
	}
	for i := range again.Results[0].Samples {
		was, is := first.Results[0].Samples[i], again.Results[0].Samples[i]
		if !is.Cached || is.Usage != was.Usage || is.Stop != was.Stop || is.Model != was.Model || !slices.Equal(is.Calls, was.Calls) {
			t.Errorf("%+v, was %+v", is, was)
		}
	}

	// What is expected, and the ID, are no part of what is asked; each of these is.
	if p := a.Plan([]Question{{ID: "other", Request: q.Request}}); p.Calls != 0 || p.Cached != 3 {
		t.Errorf("%+v", p)
	}
	for name, change := range map[string]func(*request.Request){
		"model":      func(r *request.Request) { r.Model = "claude-opus-4-6" },
		"system":     func(r *request.Request) { r.System = json.RawMessage(`[]`) },
		"tools":      func(r *request.Request) { r.Tools = json.RawMessage(`[]`) },
		"messages":   func(r *request.Request) { r.Messages = append(slices.Clone(r.Messages), r.Messages[0]) },
		"max_tokens": func(r *request.Request) { r.MaxTokens = 9 },
	} {
		r := q.Request
		change(&r)
		if p := a.Plan([]Question{{Request: r}}); p.Calls != 3 || p.Cached != 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	more, _, _ := start(t, Options{Samples: 5, Cache: folder}, fake.Reply{})
	if p := more.Plan([]Question{q}); p.Calls != 2 || p.Cached != 3 || p.Samples != 5 {
		t.Errorf("%+v", p)
	}

	// A damaged file is as good as none, and is mended.
	for _, damaged := range []string{"", "{", `{"schema":"other"}`, "key of another", strings.Repeat(" ", maxSample+1)} {
		if damaged == "key of another" {
			raw, err := os.ReadFile(files[1])
			if err != nil {
				t.Fatal(err)
			}
			damaged = string(raw)
		}
		if err := os.WriteFile(files[0], []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if run := ask(t, a, q); run.Asked != 1 || run.Cached != 2 || run.Results[0].Rate != (Rate{3, 3}) {
			t.Errorf("%.30q: %+v", damaged, run)
		}
		if run := ask(t, a, q); run.Asked != 0 {
			t.Errorf("%.30q: not mended", damaged)
		}
	}

	// Errors are not kept.
	broken, _, _ := start(t, Options{Samples: 2, Cache: folder}, fake.Reply{Status: 400, Message: "no"})
	ask(t, broken, asks("other"))
	if now, _ := filepath.Glob(filepath.Join(folder, "*")); len(now) != 3 {
		t.Errorf("%v", now)
	}
}

func TestUnsaved(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "cache")
	a, _, _ := start(t, Options{Cache: folder}, fake.Reply{Calls: []string{"Skill:a"}})
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if run := ask(t, a, asks("q", "a")); run.Unsaved == nil || run.Results[0].Rate != (Rate{1, 1}) {
		t.Errorf("%+v", run)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Cache: file}); err == nil {
		t.Error("a file is no folder")
	}
}

// TestAlike: what baseline and candidate ask alike is asked once, and paid once.
func TestAlike(t *testing.T) {
	a, s, _ := start(t, Options{Samples: 3}, fake.Reply{Calls: []string{"Skill:a"}})
	base, cand := asks("same", "a"), asks("same", "b")
	base.ID = "baseline"
	if p := a.Plan([]Question{base, cand}); p.Calls != 3 || p.Samples != 6 {
		t.Errorf("%+v", p)
	}
	run := ask(t, a, base, cand)
	if len(s.Asked()) != 3 || run.Results[0].Rate != (Rate{3, 3}) || run.Results[1].Rate != (Rate{0, 3}) {
		t.Errorf("asked %d, %+v", len(s.Asked()), run.Results)
	}
	if run.Results[0].Cost != run.Spent || run.Results[1].Cost != (budget.Amount{}) {
		t.Errorf("costs %s and %s of %s", run.Results[0].Cost, run.Results[1].Cost, run.Spent)
	}
}

func TestPlan(t *testing.T) {
	a, s, _ := start(t, Options{Samples: 10}, fake.Reply{})
	q := asks(strings.Repeat("word ", 1000), "a")
	q.Request.MaxTokens = 100
	p := a.Plan([]Question{q})
	if p.Calls != 10 || p.Output != 1000 || p.Input < 10*1000 || p.Input > 10*1600 || len(p.Unpriced) != 0 {
		t.Errorf("%+v", p)
	}
	// $5 and $25 per million.
	if want := fmt.Sprintf("%.6f", float64(p.Input)*5e-6+float64(p.Output)*25e-6); fmt.Sprintf("%.6f", float64(p.Cost.Micro())/1e6) != want {
		t.Errorf("cost %s, want %s", p.Cost, want)
	}
	// A prompt that is to be kept in the API's cache is written to it.
	cached := q
	cached.Request.System = json.RawMessage(`[{"type":"text","text":"","cache_control":{"type":"ephemeral","ttl":"1h"}}]`)
	if c := a.Plan([]Question{cached}); c.Cost.Micro() < p.Cost.Micro()*3/2 {
		t.Errorf("cost %s of %s", c.Cost, p.Cost)
	}
	limit := func(s string) budget.Amount {
		x, err := budget.ParseAmount(s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct{ option, says, want int64 }{{0, 0, DefaultMaxTokens}, {0, 32000, DefaultMaxTokens}, {0, 50, 50}, {9000, 50, 9000}} {
		b, _, _ := start(t, Options{MaxTokens: c.option})
		r := q
		r.Request.MaxTokens = c.says
		if p := b.Plan([]Question{r}); p.Output != c.want {
			t.Errorf("%+v: %d tokens", c, p.Output)
		}
	}
	var over *OverCost
	if err := p.Within(limit("0.01")); !errors.As(err, &over) || !strings.Contains(err.Error(), "above the limit of $0.01") {
		t.Errorf("%v", err)
	}
	if err := p.Within(limit("1")); err != nil {
		t.Error(err)
	}
	q.Request.Model = "model-x"
	if p := a.Plan([]Question{q}); !slices.Equal(p.Unpriced, []string{"model-x"}) || p.Within(limit("1000")) == nil || p.Cost != (budget.Amount{}) {
		t.Errorf("%+v", p)
	}
	image := asks("x")
	image.Request.Messages = []json.RawMessage{json.RawMessage(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("iVBORw0KGgo", 10000) + `"}}]}`)}
	if p := a.Plan([]Question{image}); p.Input < 10*mediaTokens || p.Input > 10*(mediaTokens+100) || len(p.Notes) != 2 {
		t.Errorf("%+v", p)
	}
	if len(s.Asked()) != 0 {
		t.Error("a plan asks nobody")
	}
}

func TestFaults(t *testing.T) {
	a, s, _ := start(t, Options{Samples: 2}, fake.Reply{})
	bad := func(change func(*request.Request)) Question {
		q := asks("q")
		change(&q.Request)
		return q
	}
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for why, q := range map[string]Question{
		"the request names no model":                         bad(func(r *request.Request) { r.Model = "" }),
		"the request has no messages":                        bad(func(r *request.Request) { r.Messages = nil }),
		"message 2 of the request is no JSON":                bad(func(r *request.Request) { r.Messages = append(r.Messages, raw(`{}],"x":[{}`)) }),
		"message 1 of the request is of the wrong kind":      bad(func(r *request.Request) { r.Messages = []json.RawMessage{raw(`[]`)} }),
		"the request's system prompt is no JSON":             bad(func(r *request.Request) { r.System = raw(`[`) }),
		"the request's tools: the list is of the wrong kind": bad(func(r *request.Request) { r.Tools = raw(`{}`) }),
	} {
		if p := a.Plan([]Question{q}); len(p.Faults) != 1 || p.Faults[0] != (Fault{"q", why}) || p.Calls != 0 {
			t.Errorf("%s: %+v", why, p)
		}
		r := ask(t, a, q).Results[0]
		if v, says := r.Judge(Rule{}); v != Errored || says != why || r.Errored != 2 {
			t.Errorf("%s: %s, %s", why, v, says)
		}
	}
	if len(s.Asked()) != 0 {
		t.Error("asked")
	}
}

func TestMaxCost(t *testing.T) {
	folder := t.TempDir()
	limit, err := budget.ParseAmount("0.0125") // two calls of 1,000 in and 50 out
	if err != nil {
		t.Fatal(err)
	}
	a, s, _ := start(t, Options{Samples: 5, Jobs: 1, MaxCost: &limit, Cache: folder}, fake.Reply{Calls: []string{"Skill:a"}})
	run := ask(t, a, asks("q", "a"))
	if len(s.Asked()) != 2 || run.Stopped != "the limit of $0.0125 is reached: $0.0125 spent" || run.NotAsked != 3 || run.Spent != limit {
		t.Errorf("%+v", run)
	}
	if r := run.Results[0]; r.Rate != (Rate{2, 2}) || r.Errored != 3 {
		t.Errorf("%+v", r)
	}
	if v, _ := run.Results[0].Judge(Rule{}); v != Errored {
		t.Errorf("%s", v)
	}
	// What was paid for is there for the next run.
	next := ask(t, a, asks("q", "a"))
	if next.Cached != 2 || next.Asked != 2 {
		t.Errorf("%+v", next)
	}
}

func TestInterrupt(t *testing.T) {
	folder := t.TempDir()
	hold := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := Options{Samples: 6, Jobs: 2, Cache: folder, Progress: func(done, total int) {
		if total != 6 {
			t.Errorf("total %d", total)
		}
		if done == 3 {
			cancel()
		}
	}}
	a, _, _ := start(t, o, fake.Reply{Times: 3, Calls: []string{"Skill:a"}}, fake.Reply{Hold: hold})
	run, err := a.Ask(ctx, []Question{asks("q", "a")})
	if !errors.Is(err, context.Canceled) || run.Results[0].Rate != (Rate{3, 3}) || run.Errored != 3 || run.Stopped != "interrupted" {
		t.Errorf("%v, %+v", err, run)
	}
	close(hold)
	b, _, _ := start(t, Options{Samples: 6, Cache: folder}, fake.Reply{Calls: []string{"Skill:a"}})
	if run := ask(t, b, asks("q", "a")); run.Cached != 3 || run.Results[0].Rate != (Rate{6, 6}) {
		t.Errorf("%+v", run)
	}

	// In a wait for another try.
	ctx, cancel = context.WithCancel(t.Context())
	a, _, _ = start(t, Options{Sleep: func(ctx context.Context, d time.Duration) error {
		cancel()
		return sleep(ctx, time.Hour)
	}}, fake.Reply{Status: 503})
	run, err = a.Ask(ctx, []Question{asks("q", "a")})
	if !errors.Is(err, context.Canceled) || run.Results[0].Samples[0].Err != "stopped before there was a reply" {
		t.Errorf("%v, %+v", err, run)
	}
}

// TestJobs: so many calls run at a time and no more, and results do not depend on it.
func TestJobs(t *testing.T) {
	hold := make(chan struct{})
	a, s, _ := start(t, Options{Samples: 10, Jobs: 3}, fake.Reply{Match: "one", Hold: hold, Calls: []string{"Skill:a"}}, fake.Reply{Match: "two", Hold: hold})
	done := make(chan *Run)
	go func() {
		run, err := a.Ask(t.Context(), []Question{asks("one", "a"), asks("two", "a")})
		if err != nil {
			t.Error(err)
		}
		done <- run
	}()
	for len(s.Asked()) < 3 {
		time.Sleep(time.Millisecond)
	}
	if n := len(s.Asked()); n != 3 {
		t.Errorf("%d at a time", n)
	}
	close(hold)
	run := <-done
	if run.Results[0].Rate != (Rate{10, 10}) || run.Results[1].Rate != (Rate{0, 10}) || run.Asked != 20 {
		t.Errorf("%+v", run)
	}
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{
		`{"type":"message","role":"assistant","content":[{"type":"tool_use","name":"Skill","input":{"skill":"a"}}],"stop_reason":"tool_use","usage":{"input_tokens":1}}`,
		`{"type":"message","role":"assistant","content":[{"type":"tool_use","name":"Skill","input":{"command":"/a"}},{"type":"x"}],"stop_reason":"refusal"}`,
		`{"type":"message","role":"assistant","content":{},"stop_reason":"end_turn"}`,
		`[]`, `null`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := readReply(raw)
		if err != nil {
			return
		}
		r := Result{Samples: []Sample{s}}
		r.count(Expect{[]string{"a"}})
		if s.Stop == "" || r.Rate.Of+r.Errored != 1 || r.First+r.Late != r.Rate.Hits {
			t.Errorf("%+v: %+v", s, r)
		}
	})
}
