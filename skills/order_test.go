package skills

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// testdata/collation.txt holds names, one JSON string a line, in the order of
// localeCompare of node 20.20 (ICU 78, root locale); no two of them are equal.
func TestCollation(t *testing.T) {
	text, err := os.ReadFile("testdata/collation.txt")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(text)) {
		var s string
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		want = append(want, s)
	}
	got := slices.Clone(want)
	slices.Sort(got)
	sortBy(got, SortCollate, func(s string) string { return s })
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("at %d: %q, want %q", i, got[i], want[i])
		}
	}
}

func TestSortBytesAndReaddir(t *testing.T) {
	list := []string{"b", "é", "B", "a-b", "a"}
	sortBy(list, SortReaddir, func(s string) string { return s })
	if !slices.Equal(list, []string{"b", "é", "B", "a-b", "a"}) {
		t.Error("readdir order was changed")
	}
	sortBy(list, SortBytes, func(s string) string { return s })
	if !slices.Equal(list, []string{"B", "a", "a-b", "b", "é"}) {
		t.Errorf("by bytes: %q", list)
	}
}
