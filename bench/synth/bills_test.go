package synth

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"testing"
)

type memory struct{ bytes.Buffer }

func (*memory) Close() error { return nil }

// written are the logs of a question by path.
func written(t *testing.T, b Bill) map[string]string {
	t.Helper()
	files := map[string]*memory{}
	if err := WriteBill(b, func(path string) (io.WriteCloser, error) {
		files[path] = &memory{}
		return files[path], nil
	}); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for path, m := range files {
		out[path] = m.String()
	}
	return out
}

// TestBills: the logs are the same every time, and every line is a record, but those
// that are to be two.
func TestBills(t *testing.T) {
	names := map[string]bool{}
	for _, b := range Bills {
		if names[b.Name] {
			t.Errorf("%s stands twice", b.Name)
		}
		names[b.Name] = true
		files := written(t, b)
		if !maps.Equal(files, written(t, b)) {
			t.Errorf("%s: another log the second time", b.Name)
		}
		replies := 0
		for _, path := range slices.Sorted(maps.Keys(files)) {
			for d := json.NewDecoder(bytes.NewReader([]byte(files[path]))); ; {
				var r struct{ Type string }
				if err := d.Decode(&r); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(b.Name, path, err)
				}
				if r.Type == "assistant" {
					replies++
				}
			}
			if b.Name == "glued" {
				continue
			}
			for line := range bytes.Lines([]byte(files[path])) {
				if !json.Valid(line) {
					t.Errorf("%s: %s: %.200s", b.Name, path, line)
				}
			}
		}
		if replies == 0 {
			t.Errorf("%s has no replies", b.Name)
		}
	}
}
