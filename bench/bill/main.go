// Command bill sums the usage and the price of all sessions of a configuration
// folder, in the shape of the totals of skilltrace cost --format json:
//
//	bill DIR
//
// It takes the requests as replay.Observe merges them, and each once over all
// sessions: by its message id and request id, by the message id alone where a row of
// that message lacks the other, and where it has neither by its record.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

type usage struct {
	Input        int64 `json:"input"`
	CacheWrite5m int64 `json:"cache_write_5m"`
	CacheWrite1h int64 `json:"cache_write_1h"`
	CacheRead    int64 `json:"cache_read"`
	Output       int64 `json:"output"`
}

type layer struct {
	CostMicroUSD int64 `json:"cost_microusd"`
}

type document struct {
	Schema string  `json:"schema"`
	Calls  int     `json:"calls"`
	Usage  usage   `json:"usage"`
	Layers []layer `json:"layers"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "bill: want a configuration folder")
		os.Exit(2)
	}
	doc, err := bill(os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(doc)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bill:", err)
		os.Exit(1)
	}
}

func bill(dir string) (*document, error) {
	var sessions []*replay.Session
	for _, log := range jsonl.Discover(dir).Sessions {
		s, err := observe(log)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	slices.SortStableFunc(sessions, func(a, b *replay.Session) int { return a.Start.Compare(b.Start) })
	doc := &document{Schema: "skilltrace/cost@1"}
	all := every(sessions)
	partly := map[string]bool{} // message ids of which a row lacks the request id
	for _, c := range all {
		if c.Request == "" {
			partly[c.Message] = true
		}
	}
	calls := map[string]*replay.APICall{}
	var order []string
	for _, c := range all {
		key := c.Message + "\n" + c.Request
		switch {
		case c.Message == "":
			key = c.Where.UUID
		case partly[c.Message]:
			key = c.Message
		}
		had := calls[key]
		if had == nil {
			order = append(order, key)
		}
		if had == nil || c.Usage.Output > had.Usage.Output {
			calls[key] = c
		}
	}
	var money budget.Amount
	for _, key := range order {
		c := calls[key]
		u := &c.Usage
		writes := u.Writes()
		hour := min(u.CacheWrite1h, writes)
		doc.Calls++
		doc.Usage.Input += u.Input
		doc.Usage.CacheWrite5m += writes - hour
		doc.Usage.CacheWrite1h += hour
		doc.Usage.CacheRead += u.CacheRead
		doc.Usage.Output += u.Output
		if price, ok := budget.DefaultBook().Lookup(c.Model, c.Where.Time); ok {
			money = money.Add(price.Cost(budget.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite5m: writes - hour, CacheWrite1h: hour,
				WebSearches: u.WebSearches, Fast: u.Speed == "fast", US: u.Geo == "us", Batch: u.ServiceTier == "batch"}))
		}
	}
	doc.Layers = []layer{{money.Micro()}}
	return doc, nil
}

// every is all requests of sessions.
func every(sessions []*replay.Session) (out []*replay.APICall) {
	for _, s := range sessions {
		for _, a := range s.Agents {
			for i := range a.Calls {
				out = append(out, &a.Calls[i])
			}
		}
	}
	return out
}

func observe(log jsonl.Session) (*replay.Session, error) {
	source := func(path, agent string) replay.Source {
		records := jsonl.ReadFile(path, replay.Reading())
		if path == "" {
			records = func(func(*jsonl.Record, error) bool) {} // only logs of subagents are left
		}
		return replay.Source{Name: path, Agent: agent, Records: records}
	}
	var subs []replay.Source
	for _, a := range log.Agents {
		subs = append(subs, source(a.Path, a.ID))
	}
	return replay.Observe(source(log.Path, ""), subs...)
}
