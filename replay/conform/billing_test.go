package conform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/conform/scenario"
)

// TestBillingOfLess compares recordings that lack something with their truth: the
// method must not lean on one thing that a log happens to hold.
func TestBillingOfLess(t *testing.T) {
	dirs, err := scenario.Find(filepath.Join(recordings(t), "billing"))
	if err != nil {
		t.Fatal(err)
	}
	boundary := func(lines []string) int {
		for i, l := range lines {
			if strings.Contains(l, `"subtype":"compact_boundary"`) {
				return i
			}
		}
		return len(lines)
	}
	without := func(name string) func(log, truth []string) ([]string, []string) {
		return func(log, truth []string) ([]string, []string) {
			out := make([]string, len(log))
			for i, l := range log {
				out[i] = strings.ReplaceAll(l, `"`+name+`":`, `"no_`+name+`":`)
			}
			return out, truth
		}
	}
	compaction := func(truth []string) int {
		for i, l := range truth {
			if strings.Contains(l, `"kind": "compact"`) {
				return i
			}
		}
		return len(truth)
	}
	for _, tt := range []struct {
		name string
		cut  func(log, truth []string) ([]string, []string)
	}{
		{"no compaction", func(log, truth []string) ([]string, []string) {
			return log[:boundary(log)], truth[:compaction(truth)]
		}},
		{"no beginning", func(log, truth []string) ([]string, []string) {
			return log[boundary(log):], truth[min(compaction(truth)+1, len(truth)):]
		}},
		{"no final usage", without("stop_reason")},
		{"nothing rendered", without("rendered")},
	} {
		for _, dir := range dirs {
			c, err := scenario.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Sessions()) != 1 {
				continue
			}
			log, err := os.ReadFile(c.Sessions()[0].Path)
			if err != nil {
				t.Fatal(err)
			}
			truth, err := os.ReadFile(filepath.Join(dir, truthFile))
			if err != nil {
				t.Fatal(err)
			}
			lines, rest := tt.cut(strings.SplitAfter(string(log), "\n"), strings.SplitAfter(string(truth), "\n"))
			name := filepath.Join(t.TempDir(), truthFile)
			if err := os.WriteFile(name, []byte(strings.Join(rest, "")), 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := replay.Observe(replay.Source{Name: "log", Records: jsonl.Read("log", strings.NewReader(strings.Join(lines, "")), replay.Reading())})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := billing([]*replay.Session{s}, name)
			if err != nil {
				t.Errorf("%s, %s: %v", c.Version, tt.name, err)
				continue
			}
			for _, b := range rows {
				// Four requests teach little: 6 % instead of 5.
				if b.Judged && b.Off() > max(b.Allowed, b.Truth*6/100) {
					t.Errorf("%s, %s: %s %s: %d of %d tokens", c.Version, tt.name, b.Layer, b.Kind, b.Ours, b.Truth)
				}
			}
		}
	}
}
