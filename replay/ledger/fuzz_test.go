package ledger_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// FuzzLedger charges arbitrary logs: whatever usage they claim, the layers make it
// up.
func FuzzLedger(f *testing.F) {
	logs, err := filepath.Glob("../../fixtures/cases/0[1-7]*/*.jsonl")
	if err != nil || len(logs) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 8<<10)])
	}
	f.Add([]byte(`{"type":"assistant","uuid":"a","message":{"id":"m","model":"claude-sonnet-4-5","content":"x","usage":{"input_tokens":-5,"output_tokens":9223372036854775807,"cache_creation_input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807}}}`))
	f.Fuzz(func(t *testing.T, log []byte) {
		s, err := replay.Observe(replay.Source{Name: "log", Records: jsonl.Read("log", bytes.NewReader(log), replay.Reading())})
		if err != nil {
			t.Fatal(err)
		}
		l := of(s)
		for _, a := range s.Agents {
			for _, c := range a.Calls {
				u := c.Usage
				for _, n := range []int64{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite5m, u.CacheWrite1h, u.WebSearches} {
					if n < 0 || n > 1<<40 {
						return // not even a count: enough that it does no harm
					}
				}
			}
		}
		balanced(t, s, l)
	})
}
