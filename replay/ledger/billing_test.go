package ledger_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skilltrace/skilltrace/replay/conform"
)

// TestBilling compares the split of recorded requests with the truth and prints the
// table of errors.
func TestBilling(t *testing.T) {
	root := os.Getenv("SKILLTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	truths, err := filepath.Glob(filepath.Join(root, "conformance", "billing", "*", "*", "truth.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(truths) == 0 {
		t.Skip("no recordings with their truth: ../shared or $SKILLTRACE_SHARED is needed")
	}
	t.Logf("%-10s %-13s %-5s %8s %8s %7s %8s", "client", "layer", "kind", "truth", "ours", "error", "allowed")
	for _, name := range truths {
		rows, err := conform.Billing(filepath.Dir(name))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, b := range rows {
			t.Logf("%-10s %-13s %-5s %8d %8d %6.1f%% %8d", filepath.Base(filepath.Dir(name)), b.Layer, b.Kind, b.Truth, b.Ours, 100*float64(b.Ours-b.Truth)/float64(max(b.Truth, 1)), b.Allowed)
			if b.Judged && b.Off() > b.Allowed {
				t.Errorf("%s: %s %s: %d of %d tokens, off by %d; %d are allowed", name, b.Layer, b.Kind, b.Ours, b.Truth, b.Off(), b.Allowed)
			}
		}
	}
}
