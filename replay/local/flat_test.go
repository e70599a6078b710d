package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skilltrace/skilltrace/replay"
)

// TestFlatUsage reads the counts of a client whose file holds nothing else.
func TestFlatUsage(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string]replay.UsageCount
	}{
		{`{"a": 3, "b": 0, "c": -1, "d": "4"}`, map[string]replay.UsageCount{"a": {Count: 3}}},
		{`{"a": {"count": 2}, "b": {"usageCount": 5, "lastUsedAt": 7}, "c": {}}`, map[string]replay.UsageCount{"a": {Count: 2}, "b": {Count: 5, LastUsedMS: 7}}},
		{`{"numStartups": 9, "skillUsage": {"a": 1}}`, map[string]replay.UsageCount{"a": {Count: 1}}},
		{`{}`, nil},
	} {
		name := filepath.Join(t.TempDir(), "skills-usage.json")
		if err := os.WriteFile(name, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		u := readUsage(name, true)
		if u.err != nil || len(u.counts) != len(c.want) {
			t.Errorf("%s: %v %v", c.text, u.counts, u.err)
		}
		for skill, n := range c.want {
			if u.counts[skill] != n {
				t.Errorf("%s: %s is %+v, want %+v", c.text, skill, u.counts[skill], n)
			}
		}
		// The recorded client's file is never read so.
		if u := readUsage(name, false); len(u.counts) != 0 {
			t.Errorf("%s: %v", c.text, u.counts)
		}
	}
}
