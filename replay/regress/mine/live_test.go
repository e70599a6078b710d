package mine

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress/request"
)

// askable checks that a model can be asked what a fixture holds: each case's request is one
// that the API takes, and it ends with the prompt.
func (n *tally) askable(t *testing.T, rel string, f *Fixture, cases []Case) {
	t.Helper()
	l, err := request.Open(replay.Source{Name: rel, Records: jsonl.Read(rel, bytes.NewReader(f.Text), request.Reading())})
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		r, err := l.At("main", cases[i].Where)
		if err != nil {
			t.Errorf("%s: prompt %d: %v", rel, cases[i].Prompt, err)
			continue
		}
		if what := refused(r); what != "" {
			t.Errorf("%s: prompt %d: %s", rel, cases[i].Prompt, what)
			continue
		}
		n.asked++
	}
}

// refused is what the API would refuse of a request, "" for nothing.
func refused(r *request.Request) string {
	open := map[string]bool{}
	for i, raw := range r.Messages {
		m := jsonl.Value(raw)
		assistant := m.Get("role").Text() == "assistant"
		if i == 0 && assistant {
			return "the first message is a reply"
		}
		if m.Get("role").Text() == "user" {
			answered := map[string]bool{}
			for b := range m.Get("content").Items() {
				if id := b.Get("tool_use_id").Text(); id != "" {
					if !open[id] {
						return fmt.Sprintf("message %d: the result %s has no call", i, id)
					}
					answered[id] = true
				}
			}
			for id := range open {
				if !answered[id] {
					return fmt.Sprintf("message %d: the call %s has no result", i, id)
				}
			}
			open = map[string]bool{}
		}
		for b := range m.Get("content").Items() {
			if assistant && b.Get("type").Text() == "tool_use" {
				open[b.Get("id").Text()] = true
			}
		}
	}
	if len(open) > 0 {
		return "the last call has no result"
	}
	return ""
}
