package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Who gives skill files by hand says that the session saw them so, whatever their date.
func TestWhyBelievesGivenFiles(t *testing.T) {
	dir, log := home(t, "11-name-only/session.jsonl", "")
	file := filepath.Join(dir, "given", "d", "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("---\ndescription: D.\ndisable-model-invocation: true\n---\nDo it.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	late := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(file, late, late); err != nil {
		t.Fatal(err)
	}
	_, doc := whyCase(t, dir, "d", log, "--skills", filepath.Join(dir, "given"))
	if v := doc.Questions[0].Verdict; v.Gate != "eligible" || v.State != "failed" || v.Line != 3 {
		t.Errorf("%s %s line %d: %s", v.Gate, v.State, v.Line, v.Reason)
	}
}
