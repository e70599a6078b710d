package ledger_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/fixtures"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
)

// describe is a total on one line.
func describe(c ledger.Client) string {
	parts := []string{fmt.Sprintf("%d = %d", c.MicroUSD, c.Ours)}
	for _, d := range c.Differences {
		parts = append(parts, fmt.Sprintf("%s %d of %d %v", d.Reason, d.MicroUSD, d.Requests, d.Counts))
	}
	return strings.Join(parts, "; ")
}

func clientTotal(t testing.TB, s *replay.Session, only func(*replay.APICall) bool, before *replay.Account) ledger.Client {
	t.Helper()
	book := budget.DefaultBook()
	c, ok := ledger.ClientTotal(s, &book, only, before)
	if !ok {
		t.Fatal("no account")
	}
	sum := c.Ours
	for _, d := range c.Differences {
		sum += d.MicroUSD
	}
	equal(t, "ours and the differences", sum, c.MicroUSD)
	return c
}

// account is the client's record of what it counted for one model.
func account(usd, usage string) string {
	return `{"type":"cost-state","sessionId":"s","startTime":1796027786337,"totalCostUSD":` + usd + `,"modelUsage":{` + usage + `}}`
}

func usageOf(model string, in, out, read, write int, usd string) string {
	return fmt.Sprintf(`%q:{"inputTokens":%d,"outputTokens":%d,"cacheReadInputTokens":%d,"cacheCreationInputTokens":%d,"costUSD":%s}`, model, in, out, read, write, usd)
}

func reply(id, model string, in, out, read int) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":"u%s","sessionId":"s","timestamp":"2026-11-30T09:00:%02dZ","requestId":"r%s","message":{"id":%q,"model":%q,"stop_reason":"end_turn","content":"x","usage":{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":%d}}}`,
		id, in%60, id, id, model, in, out, read)
}

// TestNoClientTotal: a total that cannot be one is none.
func TestNoClientTotal(t *testing.T) {
	for _, usd := range []string{"-1", "1e300", "null", "[1]", `"12.5"`} {
		log := reply("1", "claude-sonnet-5", 10, 1, 0) + "\n" + account(usd, "")
		s, err := replay.Observe(replay.Source{Name: "log", Records: jsonl.Read("log", strings.NewReader(log), replay.Reading())})
		if err != nil {
			t.Fatal(err)
		}
		book := budget.DefaultBook()
		if c, ok := ledger.ClientTotal(s, &book, nil, nil); ok {
			t.Errorf("%s: %+v", usd, c)
		}
	}
}

func TestClientTotal(t *testing.T) {
	const sonnet, haiku = "claude-sonnet-5", "claude-haiku-4-5"                 // 2 and 10; 1 and 5
	first, second := reply("1", sonnet, 10, 1, 0), reply("2", sonnet, 20, 2, 0) // $0.00003, $0.00006
	for _, c := range []struct {
		name string
		log  []string
		want string
	}{
		{"all told", []string{first, second, account("0.00009", usageOf(sonnet, 30, 3, 0, 0, "0.00009"))}, "90 = 90"},
		{"silent", []string{first, account("0.000131", usageOf(sonnet, 10, 1, 0, 0, "0.00003")+","+usageOf(haiku, 1, 20, 0, 0, "0.000101"))}, "131 = 30; silent 101 of 0 {1 0 0 20 0}"},
		{"a window that was asked for", []string{first, account("0.00003", usageOf(sonnet+"[1m]", 10, 1, 0, 0, "0.00003"))}, "30 = 30"},
		{"two processes", []string{first, account("0.00003", usageOf(sonnet, 10, 1, 0, 0, "0.00003")), second, account("0.00012", usageOf(sonnet, 35, 5, 0, 0, "0.00012"))}, "120 = 90; silent 30 of 0 {5 0 0 2 0}"},
		{"a process that wrote no count", []string{first, second, account("0.00006", usageOf(sonnet, 20, 2, 0, 0, "0.00006"))}, "60 = 90; lost -30 of 1 {-10 0 0 -1 0}"},
		{"still open", []string{first, account("0.00003", usageOf(sonnet, 10, 1, 0, 0, "0.00003")), second}, "30 = 90; unwritten -60 of 1 {-20 0 0 -2 0}"},
		{"a new count", []string{first, account("0.00003", usageOf(sonnet, 10, 1, 0, 0, "0.00003")), second, account("0.00002", usageOf(sonnet, 5, 1, 0, 0, "0.00002"))},
			"50 = 90; silent 20 of 0 {5 0 0 1 0}; lost -60 of 1 {-20 0 0 -2 0}"},
		{"a surcharge", []string{reply("1", "claude-sonnet-4-5", 0, 0, 300_000), account("0.09", usageOf("claude-sonnet-4-5", 0, 0, 300_000, 0, "0.09"))}, "90000 = 180000; surcharge -90000 of 1 {0 0 0 0 0}"},
		{"an unknown model", []string{reply("1", "nobody-1", 10, 1, 0), account("0.00006", usageOf("nobody-1", 10, 1, 0, 0, "0.00006"))}, "60 = 0; unpriced 60 of 1 {0 0 0 0 0}"},
		{"another price", []string{first, account("0.00005", usageOf(sonnet, 10, 1, 0, 0, "0.00005"))}, "50 = 30; prices 20 of 0 {0 0 0 0 0}"},
		{"a log that begins with copies", []string{`{"type":"user","uuid":"a","sessionId":"s","message":{"content":"x"}}`, strings.Replace(first, `"sessionId":"s"`, `"sessionId":"before"`, 1), second, account("0.00012", usageOf(sonnet, 35, 5, 0, 0, "0.00012"))},
			"120 = 90; inherited 30 of 0 {5 0 0 2 0}"},
	} {
		log := strings.Join(c.log, "\n")
		s, err := replay.Observe(replay.Source{Name: "log", Records: jsonl.Read("log", strings.NewReader(log), replay.Reading())})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, c.name, describe(clientTotal(t, s, nil, nil)), c.want)
	}
}

// TestClientTotalsRecorded explains the total of every recording that has one. What
// the client counts more than the logs hold is, with what they hold, to the token
// what was sent.
func TestClientTotalsRecorded(t *testing.T) {
	root := os.Getenv("SKILLTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	root = filepath.Join(root, "conformance")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no recordings: set SKILLTRACE_SHARED")
	}
	cases, err := filepath.Glob(filepath.Join(root, "*", "*", "2.1.[23]??"))
	if err != nil {
		t.Fatal(err)
	}
	// Requests that were cut off, by an error or with their process, and that neither
	// the log nor the client counts.
	unfinished := map[string]ledger.Counts{
		"interactive/auto/2.1.332": {Input: -3, CacheRead: -29_629, Output: -1},
		"interactive/busy/2.1.332": {Input: -3, CacheRead: -22_994, Output: -10},
		"lifecycle/auto/2.1.332":   {Input: -3, CacheRead: -27_707, Output: -1},
		"lifecycle/long/2.1.332":   {Input: -3, CacheRead: -21_969, Output: -17},
	}
	sessions, plain, inherited, compared, found := 0, 0, 0, 0, map[ledger.Reason]int{}
	for _, dir := range cases {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		logs, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var family []*replay.Session
		for _, log := range logs {
			family = append(family, fixtures.Session(t, log))
		}
		sort.SliceStable(family, func(i, j int) bool { return family[i].Start.Before(family[j].Start) })
		var counted ledger.Counts
		complete := true
		owner := map[string]int{} // in recordings ids recur from session to session, but not in those that one goes on from
		for i, s := range family {
			before := ledger.InheritedBy(s, family)
			only := func(c *replay.APICall) bool {
				from, held := owner[s.Accounts[0].Started.String()+c.Message+c.Request]
				return !held || from == i
			}
			if len(s.Accounts) == 0 {
				complete = false
				continue
			}
			for _, a := range s.Agents {
				for k := range a.Calls {
					if c := &a.Calls[k]; only(c) {
						owner[s.Accounts[0].Started.String()+c.Message+c.Request] = i
						counted = plus(counted, ledger.Counts{Input: c.Usage.Input, CacheWrite: c.Usage.Writes(), CacheRead: c.Usage.CacheRead, Output: c.Usage.Output, WebSearches: c.Usage.WebSearches})
					}
				}
			}
			sessions++
			if before != nil {
				inherited++
			}
			c := clientTotal(t, s, only, before)
			if len(c.Differences) == 0 {
				plain++
			}
			for _, d := range c.Differences {
				found[d.Reason]++
				switch {
				case d.Reason == ledger.Silent && (c.Compactions > 0 || strings.HasPrefix(name, "lifecycle")):
				case d.Reason == ledger.Lost && name == "lifecycle/long/2.1.332": // a process was killed
				case d.Reason == ledger.Silent && (strings.HasPrefix(name, "listing/paths") || strings.HasPrefix(name, "listing/midsession")): // the ids of the first run recur in the second
				case d.Reason == ledger.Unpriced && name == "listing/models_new/2.1.332":
				default:
					t.Errorf("%s: %s: %s", name, s.ID, describe(c))
				}
				if d.Reason == ledger.Silent {
					counted = plus(counted, d.Counts)
				}
			}
		}
		sent, ok := requests(t, filepath.Join(dir, "requests.jsonl"))
		if !ok || !complete {
			continue
		}
		compared++
		sent = plus(sent, unfinished[name])
		if counted != sent {
			t.Errorf("%s: in the logs and silent %v, sent %v", name, counted, sent)
		}
	}
	if sessions == 0 || compared == 0 {
		t.Error("no account was found")
	}
	t.Logf("%d sessions, %d without any difference, %d begun with the count of another; %v; %d cases compared with what was sent", sessions, plain, inherited, found, compared)
}

func plus(a, b ledger.Counts) ledger.Counts {
	return ledger.Counts{Input: a.Input + b.Input, CacheWrite: a.CacheWrite + b.CacheWrite, CacheRead: a.CacheRead + b.CacheRead, Output: a.Output + b.Output, WebSearches: a.WebSearches + b.WebSearches}
}

// requests sums the usage of what was sent, where the recording has it.
func requests(t *testing.T, file string) (sum ledger.Counts, ok bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		return sum, false
	}
	for line := range bytes.Lines(text) {
		var r struct {
			Kind  string `json:"kind"`
			Usage *struct {
				Input  int64 `json:"input_tokens"`
				Write  int64 `json:"cache_creation_input_tokens"`
				Read   int64 `json:"cache_read_input_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"usage"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(file, err)
		}
		if u := r.Usage; u != nil {
			ok = true
			sum = plus(sum, ledger.Counts{Input: u.Input, CacheWrite: u.Write, CacheRead: u.Read, Output: u.Output})
		}
	}
	return sum, ok
}
