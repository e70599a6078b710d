package request

import (
	"encoding/json"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
)

// TestListingsStand puts other listings into the requests of all recordings: each one
// that the log says to stand in a request is found there.
func TestListingsStand(t *testing.T) {
	requests, listings := 0, 0
	eachLog(t, "2.1.94", func(version, path string, l *Log) {
		for _, a := range l.agents {
			for i := range a.items {
				it := &a.items[i]
				if it.kind != jsonl.KindAssistant || it.failed || it.model == syntheticModel || !a.begins(it) {
					continue
				}
				if p := a.items[it.parent]; p.kind == jsonl.KindAssistant {
					continue // not the first record of the reply
				}
				r := l.request(a, it.parent, it)
				requests++
				done := map[string]bool{}
				for _, listed := range append([]Listing(nil), r.Listings...) {
					if done[listed.Text] {
						continue
					}
					done[listed.Text] = true
					listings++
					if n := r.ReplaceListing(listed.Text, listed.Text+"\n- one-more: of "+listed.Where.UUID); n < 1 {
						t.Errorf("%s:%d: the listing of line %d (%d bytes) does not stand in the request", path, it.line, listed.Where.Line, len(listed.Text))
					}
				}
				for _, m := range r.Messages {
					if !json.Valid(m) {
						t.Fatalf("%s:%d: not JSON: %.300s", path, it.line, m)
					}
				}
			}
		}
	})
	t.Logf("%d requests, %d listings", requests, listings)
}
