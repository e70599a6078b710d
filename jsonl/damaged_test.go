package jsonl

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A compressed log that is cut off, or has something else behind it, keeps the
// records before the damage.
func TestDamagedGzip(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for i := range 2000 {
		fmt.Fprintf(z, `{"type":"user","uuid":"%d-%x"}`+"\n", i, i*7919)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(b.Bytes())
	flipped[len(flipped)/2] ^= 0x55
	for name, data := range map[string][]byte{
		"cut off":      b.Bytes()[:b.Len()/2],
		"trailing":     append(bytes.Clone(b.Bytes()), "something else"...),
		"flipped bits": flipped,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.jsonl.gz")
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			whole, damaged := 0, 0
			for r, err := range ReadFile(path, Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				if !r.Broken {
					whole++
				} else if strings.Contains(r.Defects[0].Reason, "compressed file is damaged") {
					damaged++
				}
			}
			if whole == 0 || damaged != 1 {
				t.Errorf("%d records, %d marks of the damage", whole, damaged)
			}
		})
	}
}
