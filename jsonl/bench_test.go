package jsonl

import (
	"bytes"
	"io"
	"testing"

	"github.com/skilltrace/skilltrace/bench/synth"
)

// syntheticLog is the main log of a session of about size bytes.
func syntheticLog(t testing.TB, size int64) []byte {
	t.Helper()
	var main bytes.Buffer
	var w io.Writer = &main
	err := synth.Session(size, func(string) (io.WriteCloser, error) {
		defer func() { w = io.Discard }() // the first log is the main one
		return nopCloser{w}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return main.Bytes()
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestSyntheticLog(t *testing.T) {
	data := syntheticLog(t, 200<<10)
	var st Stats
	for r := range Read("x", bytes.NewReader(data), Options{Stats: &st}) {
		if len(r.Defects) > 0 {
			t.Fatal(r.Defects)
		}
	}
	if st.Records != bytes.Count(data, []byte("\n")) || len(st.UnknownFields)+len(st.UnknownTypes) > 0 {
		t.Errorf("%+v", st)
	}
}

func BenchmarkRead(b *testing.B) {
	data := syntheticLog(b, 8<<20)
	for _, c := range []struct {
		name string
		opt  Options
	}{{"full", Options{}}, {"sizes", Options{Sizes: true}}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range Read("x", bytes.NewReader(data), c.opt) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	b.Run("lines", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			l := lines{r: bytes.NewReader(data), max: DefaultMaxLine, chunk: readSize}
			for l.next() {
			}
		}
	})
	b.Run("skip", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			s := scanner{b: data}
			for s.space() != 0 {
				s.skip()
			}
			if s.failed {
				b.Fatal(s.what)
			}
		}
	})
	b.Run("measure", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			measure(data)
		}
	})
}
