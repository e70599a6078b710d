package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
)

// TestOwners: a request of several sessions counts for one of them, whatever the
// order in which they are given, and however often.
func TestOwners(t *testing.T) {
	row := func(session, uuid, more, ids string, in, out, second int) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,"sessionId":%q,"timestamp":"2026-11-30T09:00:%02dZ"%s,%s"model":"claude-sonnet-5","content":"x","usage":{"input_tokens":%d,"output_tokens":%d}}}`, uuid, session, second, more, ids, in, out)
	}
	both := func(n int) string { return fmt.Sprintf(`"requestId":"r%d","message":{"id":"m%d",`, n, n) }
	message := `"message":{"id":"m9",`
	none := `"message":{`
	const fork = `,"forkedFrom":{"sessionId":"s"}`
	logs := map[string][]string{
		"s": {row("s", "a", "", both(1), 1, 1, 1), row("s", "b", "", message, 2, 1, 2), row("s", "c", "", none, 4, 1, 3), row("s", "z", "", both(7), 8, 1, 9)},
		// A fork: it holds all rows that were written until then, under its own id.
		"f": {row("f", "a", fork, both(1), 1, 1, 1), row("f", "b", fork, message, 2, 1, 2), row("f", "c", fork, none, 4, 1, 3), row("f", "d", "", both(2), 16, 1, 5)},
		// Rows under the id of the session that they are of, one of which had come further.
		"r": {row("s", "a", "", both(1), 1, 1, 1), row("s", "z", "", both(7), 8, 30, 9), row("r", "e", "", both(3), 32, 1, 20)},
		// Kept by a compaction, with a usage of 0, and earlier than all.
		"0": {row("0", "a", "", both(1), 0, 0, 0), row("0", "g", "", both(4), 64, 1, 30)},
	}
	names := []string{"s", "f", "r", "0", "s"} // one is given twice
	want := "0: 64; f: 16; r: 40; s: 0; s: 7"
	for range 2 * len(names) {
		owners := &ledger.Owners{}
		var all []*replay.Session
		var numbers []int
		for _, name := range names {
			s, err := replay.Observe(replay.Source{Name: name, Records: jsonl.Read(name, strings.NewReader(strings.Join(logs[name], "\n")), replay.Reading())})
			if err != nil {
				t.Fatal(err)
			}
			all, numbers = append(all, s), append(numbers, owners.Note(s))
		}
		var got []string
		for i, s := range all {
			counts := owners.Of(numbers[i])
			var in int64
			for k := range s.Main().Calls {
				if c := &s.Main().Calls[k]; counts(c) {
					in += c.Usage.Input
				}
			}
			got = append(got, fmt.Sprintf("%s: %d", names[i], in))
		}
		slices.Sort(got)
		equal(t, "input of each session, "+strings.Join(names, " "), strings.Join(got, "; "), want)
		names = append(names[1:], names[0])
		if names[0] == "s" {
			slices.Reverse(names)
		}
	}
}
