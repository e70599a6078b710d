package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run go test -update and look at the change\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

// goldenTables compares the tables of a document at the widths that matter.
func goldenTables(t *testing.T, name string, doc Document) {
	t.Helper()
	for _, style := range []Style{{Width: 80}, {Width: 120}, {Width: 80, Verbose: true}, {Width: 80, Color: true}} {
		style.Home = "/home/dev"
		file := fmt.Sprintf("%s-%d", name, style.Width)
		if style.Verbose {
			file = name + "-verbose"
		}
		if style.Color {
			file = name + "-color"
		}
		var b, again bytes.Buffer
		if err := doc.WriteTable(&b, style); err != nil {
			t.Fatal(err)
		}
		if err := doc.WriteTable(&again, style); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: two runs differ", file)
		}
		if !style.Verbose {
			for line := range bytes.Lines(b.Bytes()) {
				line = bytes.TrimRight(line, "\n")
				if w := displayWidth(string(line)); w > style.Width {
					t.Errorf("%s: a line of %d cells: %s", file, w, line)
				}
			}
		}
		golden(t, file+".txt", b.Bytes())
	}
}
