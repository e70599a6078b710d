package replay_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/bench/synth"
	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// benchSize is the size of the synthetic session, in bytes.
const benchSize = 20 << 20

// logs are the logs of a session in memory, the main log first.
type logs struct {
	name  string
	files []logFile
}

type logFile struct {
	name string
	data []byte
}

func (l *logs) size() (n int64) {
	for _, f := range l.files {
		n += int64(len(f.data))
	}
	return n
}

type memoryFile struct {
	bytes.Buffer
	close func(data []byte)
}

func (f *memoryFile) Close() error {
	f.close(f.Bytes())
	return nil
}

func syntheticSession(b *testing.B, size int64) *logs {
	b.Helper()
	l := &logs{name: "synthetic"}
	err := synth.Session(size, func(name string) (io.WriteCloser, error) {
		i := len(l.files)
		l.files = append(l.files, logFile{name: name})
		return &memoryFile{close: func(data []byte) { l.files[i].data = data }}, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// biggestRecording is the biggest log among the recordings and the public logs,
// nil where they are not there.
func biggestRecording(b *testing.B) *logs {
	b.Helper()
	var biggest string
	var size int64
	for _, dir := range []string{"conformance", "corpus"} {
		err := filepath.WalkDir(filepath.Join(shared(), dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") || d.Name() == "requests.jsonl" {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Size() > size {
				biggest, size = path, info.Size()
			}
			return err
		})
		if err != nil {
			return nil
		}
	}
	data, err := os.ReadFile(biggest)
	if err != nil {
		b.Fatal(err)
	}
	return &logs{name: "recording", files: []logFile{{biggest, data}}}
}

// shared is the folder of recordings and public logs beside the checkout.
func shared() string {
	if dir := os.Getenv("SKILLTRACE_SHARED"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "shared")
}

func (l *logs) observe(b *testing.B) *replay.Session {
	source := func(i int) replay.Source {
		f := l.files[i]
		s := replay.Source{Name: f.name, Records: jsonl.Read(f.name, bytes.NewReader(f.data), replay.Reading())}
		if i > 0 {
			s.Agent = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f.name), "agent-"), ".jsonl")
		}
		return s
	}
	var subs []replay.Source
	for i := range l.files[1:] {
		subs = append(subs, source(i+1))
	}
	s, err := replay.Observe(source(0), subs...)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// each runs what prepare returns on the synthetic session and on the biggest
// recording. Beside the usual figures it reports the speed in CPU time, which says
// more on a machine that others use.
func each(b *testing.B, prepare func(b *testing.B, l *logs) func()) {
	for _, l := range []*logs{syntheticSession(b, benchSize), biggestRecording(b)} {
		if l == nil {
			b.Run("recording", func(b *testing.B) { b.Skip("no recordings beside the checkout") })
			continue
		}
		b.Run(l.name, func(b *testing.B) {
			run := prepare(b, l)
			b.SetBytes(l.size())
			b.ReportAllocs()
			start := replay.CPUTime()
			for b.Loop() {
				run()
			}
			if cpu := replay.CPUTime() - start; cpu > 0 {
				b.ReportMetric(float64(l.size())*float64(b.N)/1e6/cpu.Seconds(), "MB/CPU-s")
			}
		})
	}
}

// BenchmarkPeer is what a reader costs that takes each line with bufio.Scanner and
// decodes it with encoding/json: what the others are to be compared with.
func BenchmarkPeer(b *testing.B) {
	each(b, func(b *testing.B, l *logs) func() {
		return func() {
			for _, f := range l.files {
				s := bufio.NewScanner(bytes.NewReader(f.data))
				s.Buffer(nil, jsonl.DefaultMaxLine)
				for s.Scan() {
					var record map[string]any
					if err := json.Unmarshal(s.Bytes(), &record); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
}

// BenchmarkRead is the reading that BenchmarkObserve contains.
func BenchmarkRead(b *testing.B) {
	each(b, func(b *testing.B, l *logs) func() {
		return func() {
			for _, f := range l.files {
				for _, err := range jsonl.Read(f.name, bytes.NewReader(f.data), replay.Reading()) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
}

func BenchmarkObserve(b *testing.B) {
	each(b, func(b *testing.B, l *logs) func() {
		return func() { l.observe(b) }
	})
}

// benchInputs are the rules of the synthetic client, and nothing else.
func benchInputs(b *testing.B) *replay.Inputs {
	b.Helper()
	table, err := rules.For("claude-code")
	if err != nil {
		b.Fatal(err)
	}
	r, err := table.At(synth.Client)
	if err != nil {
		b.Fatal(err)
	}
	return &replay.Inputs{Rules: func(string) *rules.Rules { return &r }, Version: synth.Client, Processes: []replay.Process{{}}}
}

// BenchmarkReplay is predicting and comparing, without skill files.
func BenchmarkReplay(b *testing.B) {
	in := benchInputs(b)
	each(b, func(b *testing.B, l *logs) func() {
		s := l.observe(b)
		return func() { replay.Run(s, in, replay.Comparison{}) }
	})
}

func BenchmarkLedger(b *testing.B) {
	book := budget.DefaultBook()
	each(b, func(b *testing.B, l *logs) func() {
		s := l.observe(b)
		return func() { ledger.Of(s, &book) }
	})
}

// BenchmarkCalls charges each call by layer, skill and part.
func BenchmarkCalls(b *testing.B) {
	book := budget.DefaultBook()
	each(b, func(b *testing.B, l *logs) func() {
		s := l.observe(b)
		return func() {
			for range ledger.Calls(s, &book, nil) {
			}
		}
	})
}

// BenchmarkHostile observes, replays and charges logs of hostile shapes in two
// sizes, one twice the other: the time of a byte must not grow with the size.
func BenchmarkHostile(b *testing.B) {
	book := budget.DefaultBook()
	in := benchInputs(b)
	for _, shape := range synth.Shapes {
		for _, n := range []int{shape.Big / 20, shape.Big / 10} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(shape.Name, " ", "-"), n), func(b *testing.B) {
				var data bytes.Buffer
				if err := shape.Write(&data, n); err != nil {
					b.Fatal(err)
				}
				l := &logs{files: []logFile{{"hostile", data.Bytes()}}}
				b.SetBytes(int64(data.Len()))
				b.ReportAllocs()
				for b.Loop() {
					s := l.observe(b)
					replay.Run(s, in, replay.Comparison{})
					ledger.Of(s, &book)
					for range ledger.Calls(s, &book, nil) {
					}
				}
			})
		}
	}
}
