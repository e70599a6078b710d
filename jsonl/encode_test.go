package jsonl

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// readBack decodes the one record of a line that AppendRecord wrote.
func readBack(t testing.TB, line []byte) *Record {
	t.Helper()
	if !json.Valid(line) || strings.ContainsAny(string(line), "\n\r") {
		t.Fatalf("not a line of JSON: %q", line)
	}
	var back *Record
	for r, err := range Read("x.jsonl", strings.NewReader(string(line)), Options{}) {
		if err != nil || r.Broken || back != nil {
			t.Fatalf("%v, %+v: want one record of %s", err, r, line)
		}
		back = r
	}
	return back
}

// written is a record without what AppendRecord leaves out, and without the sizes that
// the text of a log has.
func written(r *Record) Record {
	c := *r
	c.Pos, c.Raw, c.Defects, c.Unknown, c.UnknownFields = Pos{}, nil, nil, 0, nil
	c.Request, c.Shape, c.Init, c.Hash = nil, nil, nil, ""
	if c.Format == FormatStream {
		c.Format = FormatClaude
	}
	if c.Kind != KindCostState {
		c.Cost = nil
	} else if c.Cost != nil {
		cost := *c.Cost
		cost.Usage = nil
		c.Cost = &cost
	}
	if c.Kind == KindInit {
		c.Kind = KindSystem
	}
	if c.Kind == KindResult {
		c.Kind = KindOther
	}
	if c.Message != nil {
		m := *c.Message
		m.Blocks = nil
		for _, b := range c.Message.Blocks {
			b.Bytes, b.Size, b.Input = 0, Size{}, canonical(b.Input)
			m.Blocks = append(m.Blocks, b)
		}
		if m.Usage != nil {
			u := *m.Usage
			u.Damaged = false
			m.Usage = &u
		}
		c.Message = &m
	}
	if c.Result != nil && c.Result.Usage != nil {
		t, u := *c.Result, *c.Result.Usage
		u.Damaged = false
		t.Usage = &u
		c.Result = &t
	}
	if c.Attachment != nil {
		a := *c.Attachment
		a.Bytes, a.Size, a.RenderedSize, a.SystemSize = 0, Size{}, Size{}, 0
		a.SystemPrompt, a.ToolDefs, a.Tools = canonical(a.SystemPrompt), canonical(a.ToolDefs), nil
		c.Attachment = &a
	}
	return c
}

// canonical is JSON without blanks and with one spelling of its strings.
func canonical(v []byte) []byte {
	if v == nil {
		return nil
	}
	w := writer{b: []byte{'['}}
	w.value(item, v)
	return w.b
}

func checkWritten(t *testing.T, at string, r *Record) {
	t.Helper()
	want := written(r)
	line := AppendRecord(nil, r)
	back := readBack(t, line)
	if r.Type != "" && len(back.Defects)+back.Unknown > 0 {
		t.Fatalf("%s: defects %v, unknown %v in %s", at, back.Defects, back.UnknownFields, line)
	}
	got := written(back)
	if !reflect.DeepEqual(got, want) {
		compare(t, &got, &want)
		t.Fatalf("%s: reads back otherwise: %s", at, line)
	}
}

func TestAppendRecord(t *testing.T) {
	for _, line := range strings.Split(variety(), "\n") {
		for r := range Read("x.jsonl", strings.NewReader(line), Options{}) {
			if !r.Broken {
				checkWritten(t, line, r)
			}
		}
	}
	odd := `{"type":"assistant","uuid":"a\ud800b","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Skill","input":{"":1,"\ud83d":[null,true,-0.5e3,{"x":"\u0000\"\\\n"}]}}]}}`
	checkWritten(t, odd, readBack(t, []byte(odd)))
}

// TestAppendRecordings writes every record of the public logs and the recordings.
func TestAppendRecordings(t *testing.T) {
	n := 0
	for _, family := range []string{"corpus", "conformance/interactive", "conformance/billing"} {
		for _, path := range logsUnder(t, filepath.Join(shared(t), family)) {
			if strings.HasSuffix(path, "requests.jsonl") || strings.HasSuffix(path, "truth.jsonl") {
				continue
			}
			for r, err := range ReadFile(path, Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				if !r.Broken {
					n++
					checkWritten(t, path, r)
				}
			}
		}
	}
	t.Logf("%d records", n)
}

// FuzzAppendRecord: what is read from any bytes is written as a line that reads back
// the same.
func FuzzAppendRecord(f *testing.F) {
	for _, line := range strings.Split(variety(), "\n") {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"type":"user","message":{"content":["a",{"type":"image"},{"type":"tool_result","content":[{"type":"image"},{"type":"text","text":"x"}]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for r, err := range Read("x.jsonl", strings.NewReader(string(data)), Options{}) {
			if err != nil || r.Broken {
				continue
			}
			// Some damaged members read otherwise the first time: what was written stays.
			once := AppendRecord(nil, r)
			back := readBack(t, once)
			if twice := AppendRecord(nil, back); string(twice) != string(once) {
				t.Fatalf("%s\nreads back as\n%s", once, twice)
			}
		}
	})
}
