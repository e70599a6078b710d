package regress

import (
	"os"
	"path/filepath"
	"testing"
)

// shared is the folder of recordings beside the repository, "" where it is absent.
func shared(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("SKILLTRACE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no recordings beside the repository: set SKILLTRACE_SHARED")
	}
	return dir
}
