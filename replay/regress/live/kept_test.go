package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKept(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "live")
	if k, err := LookKept(folder); err != nil || k.Entries != 0 {
		t.Errorf("of a folder that is not there: %+v, %v", k, err)
	}
	c, err := openCache(folder)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := c.save(key([]byte("question"), i), &Sample{Stop: "end_turn", Model: "m"}); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(filepath.Dir(folder), "outside")
	for _, path := range []string{outside, filepath.Join(folder, "notes.json")} {
		if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// What is named as a reply and is none: a link, a folder.
	if err := os.Symlink(outside, filepath.Join(folder, strings.Repeat("a", 64)+".json")); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(filepath.Join(folder, strings.Repeat("b", 64)+".json"), 0o755); err != nil {
		t.Fatal(err)
	}
	before, err := LookKept(folder)
	if err != nil || before.Entries != 3 || before.Bytes == 0 || before.Oldest.IsZero() || before.Newest.Before(before.Oldest) {
		t.Errorf("%+v, %v", before, err)
	}
	if gone, err := ClearKept(folder); err != nil || gone != before {
		t.Errorf("removed %+v, %v", gone, err)
	}
	if k, err := LookKept(folder); err != nil || k != (Kept{}) {
		t.Errorf("left: %+v, %v", k, err)
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 3 {
		t.Errorf("what belongs to others: %v", entries)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
	alone := filepath.Join(t.TempDir(), "live")
	if c, err = openCache(alone); err != nil {
		t.Fatal(err)
	}
	if err := c.save(key(nil, 0), &Sample{Stop: "end_turn"}); err != nil {
		t.Fatal(err)
	}
	if _, err := ClearKept(alone); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(alone); !os.IsNotExist(err) {
		t.Errorf("an empty folder stays: %v", err)
	}
	if _, err := LookKept(outside); err == nil {
		t.Error("a file is no folder of replies")
	}
}
