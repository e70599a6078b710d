package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumented compares the table of docs/how-to-change-descriptions.md with what is
// measured.
func TestDocumented(t *testing.T) {
	shared := cmp.Or(os.Getenv("SKILLTRACE_SHARED"), "../../../shared")
	dirs := []string{filepath.Join(shared, "corpus"), filepath.Join(shared, "conformance")}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil {
			t.Skipf("the sessions are not beside the repository: %v", err)
		}
	}
	page, err := os.ReadFile("../../docs/how-to-change-descriptions.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := table(&b, dirs); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), b.String()) {
		t.Errorf("the page shows another table than\n%s", b.String())
	}
}
