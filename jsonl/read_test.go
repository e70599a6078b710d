package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

const session = "17d251b9-69bb-441f-8ad2-5d267c3356a5"

// row is a user record with an id and a text, as JSON.
func row(id, text string) string {
	return `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"` + text +
		`"},"uuid":"` + id + `","timestamp":"2026-11-30T08:36:26.752Z","cwd":"/home/dev/shop","sessionId":"` + session + `","version":"2.1.332"}`
}

// readAll reads a log and says briefly what came: a record by its uuid and text,
// a broken one by its defect; with line and offset.
func readAll(t testing.TB, data string, opt Options) (brief []string, st Stats) {
	t.Helper()
	opt.Stats = &st
	n := 0
	for r, err := range Read("x.jsonl", strings.NewReader(data), opt) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		s := fmt.Sprintf("%d@%d", r.Pos.Line, r.Pos.Offset)
		if r.Broken {
			s += " broken"
		} else {
			s += " " + r.UUID
			if r.Message != nil && len(r.Message.Blocks) > 0 {
				s += "=" + r.Message.Blocks[0].Text
			}
		}
		for _, d := range r.Defects {
			s += " " + string(d.Kind)
			if d.Lost {
				s += "!"
			}
			if d.Pos != r.Pos || d.Reason == "" {
				t.Errorf("defect %+v of the record at %+v", d, r.Pos)
			}
		}
		if r.Raw != nil && !strings.HasPrefix(data[r.Pos.Offset:], string(r.Raw)) {
			t.Errorf("%+v: the raw bytes do not stand there", r.Pos)
		}
		brief = append(brief, s)
	}
	account(t, "x.jsonl", &st, n)
	if st.Bytes != int64(len(data)) {
		t.Errorf("%d bytes counted of %d", st.Bytes, len(data))
	}
	return brief, st
}

func TestDamage(t *testing.T) {
	a, b := row("a", "one"), row("b", "two")
	n := len(a)
	at := func(i int) string { return fmt.Sprint(i) }
	for _, c := range []struct {
		name, data string
		want       []string
	}{
		{"whole", a + "\n" + b + "\n", []string{"1@0 a=one", "2@" + at(n+1) + " b=two"}},
		{"no newline at the end", a + "\n" + b, []string{"1@0 a=one", "2@" + at(n+1) + " b=two"}},
		{"cut at the end", a + "\n" + b[:50], []string{"1@0 a=one", "2@" + at(n+1) + " broken truncated!"}},
		{"cut in the middle", a[:70] + "\n" + b + "\n", []string{"1@0 broken truncated!", "2@71 b=two"}},
		{"CRLF", a + "\r\n" + b + "\r\n", []string{"1@0 a=one", "2@" + at(n+2) + " b=two"}},
		{"blank lines", "\n" + a + "\n  \r\n\n", []string{"2@1 a=one"}},
		{"BOM", "\xEF\xBB\xBF" + a + "\n" + b, []string{"1@3 a=one bom", "2@" + at(n+4) + " b=two"}},
		{"BOM later", a + "\n\xEF\xBB\xBF" + b, []string{"1@0 a=one", "2@" + at(n+1) + " broken syntax!", "2@" + at(n+4) + " b=two"}},
		{"empty", "", []string{"0@0 broken empty"}},
		{"only blanks", " \n\n", []string{"2@2 broken empty"}},
		{"only a BOM", "\xEF\xBB\xBF", []string{"1@0 broken empty"}},
		{"NUL", strings.Repeat("\x00", 400) + a + "\n" + b, []string{"1@400 a=one nul", "2@" + at(n+401) + " b=two"}},
		{"NUL only", a + "\n\x00\x00\x00\n" + b, []string{"1@0 a=one", "2@" + at(n+1) + " broken nul!", "3@" + at(n+5) + " b=two"}},
		{"NUL behind", a + "\x00\x00\n", []string{"1@0 a=one"}},
		{"glued", a + b + "\n", []string{"1@0 a=one", "1@" + at(n) + " b=two glued"}},
		{"glued with blanks", a + " " + b + row("c", "three"), []string{"1@0 a=one", "1@" + at(n+1) + " b=two glued", "1@" + at(2*n+1) + " c=three"}},
		{"glued with NUL", a + "\x00" + b, []string{"1@0 a=one", "1@" + at(n+1) + " b=two nul glued"}},
		{"cut in a string and glued", a[:100] + b + "\n", []string{"1@0 broken truncated!", "1@100 b=two"}},
		{"cut before a value and glued", `{"parentUuid":` + b, []string{"1@0 broken truncated!", "1@14 b=two"}},
		{"cut in a message and glued", `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"x"},{"ty` + b + a,
			[]string{"1@0 broken truncated!", "1@82 b=two", "1@" + at(82+n) + " a=one glued"}},
		{"cut twice", a[:60] + b[:90] + a, []string{"1@0 broken truncated!", "1@150 a=one"}},
		{"whole, then cut", a + b[:60] + "\n" + b, []string{"1@0 a=one", "1@" + at(n) + " broken truncated!", "2@" + at(n+61) + " b=two"}},
		{"garbage before", "xyz" + a, []string{"1@0 broken syntax!", "1@3 a=one"}},
		{"garbage behind", a + "xyz", []string{"1@0 a=one", "1@" + at(n) + " broken syntax!"}},
		{"the end of a record", a[40:] + "\n" + b, []string{"1@0 broken syntax!", "2@" + at(n-39) + " b=two"}},
		{"not an object", "[1]\n\"x\"\n5\nnull\n" + a, []string{"1@0 broken not_object!", "2@4 broken not_object!", "3@8 broken not_object!", "4@10 broken not_object!", "5@15 a=one"}},
		{"not JSON", "hello\n{a}\n" + a, []string{"1@0 broken syntax!", "2@6 broken syntax!", "3@10 a=one"}},
		{"line separators in a string", row("a", "x\u2028y\u2029z\u0085") + "\n", []string{"1@0 a=x\u2028y\u2029z\u0085"}},
		{"control characters in a string", row("a", "x\ty\x01\x1F\x7Fz") + "\n", []string{"1@0 a=x\ty\x01\x1F\x7Fz"}},
		{"NUL in a string", row("a", "x\x00y"), []string{"1@0 a=x\x00y"}},
		{"unescaped newlines", `{"type":"user","message":"line` + "\nmore { text\n" + `end"}` + "\n" + a,
			[]string{"1@0 broken truncated!", "2@31 broken syntax!", "3@43 broken syntax!", "4@49 a=one"}},
		{"invalid UTF-8", row("a", "x\xFFy") + "\n" + b, []string{"1@0 a=x\uFFFDy encoding", "2@" + at(n+1) + " b=two"}},
		{"invalid UTF-8 in the second", a + row("b", "\xE2\x82"), []string{"1@0 a=one", "1@" + at(n) + " b=\uFFFD glued encoding"}},
		{"a lone surrogate", row("a", `x\ud83d`), []string{"1@0 a=x\xED\xA0\xBD"}},
		{"no type", `{"a":1}`, []string{"1@0  field"}},
		{"an empty object", `{}`, []string{"1@0  field"}},
		{"carriage returns only", a + "\r" + b + "\r", []string{"1@0 a=one", "1@" + at(n+1) + " b=two glued"}},
		{"UTF-16", "\xFF\xFE{\x00\"\x00t\x00", []string{"1@0 broken syntax!"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := readAll(t, c.data, Options{})
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			sizes, _ := readAll(t, c.data, Options{Sizes: true})
			if fmt.Sprint(got) != fmt.Sprint(sizes) {
				t.Errorf("sizes only: %q", sizes)
			}
			byByte := []string{}
			for r, err := range read("x.jsonl", iotest.OneByteReader(strings.NewReader(c.data)), Options{}, 3) {
				if err != nil {
					t.Fatal(err)
				}
				byByte = append(byByte, fmt.Sprintf("%d@%d", r.Pos.Line, r.Pos.Offset))
			}
			for i := range got {
				if i >= len(byByte) || !strings.HasPrefix(got[i], byByte[i]+" ") {
					t.Fatalf("byte by byte: %q, want %q", byByte, got)
				}
			}
		})
	}
}

// TestHostileLines is case 5 of the problem reports: five physical lines, six
// records, one loss.
func TestHostileLines(t *testing.T) {
	long := row("long", strings.Repeat("x", 1_200_000))
	data := row("p", "prefix")[:120] + row("a", "1") + "\n" +
		row("b", "2") + row("c", "3") + "\n" +
		strings.Repeat("\x00", 400) + row("d", "4") + "\n" +
		long + "\n" +
		row("e", "\u2028") + "\n"
	got, st := readAll(t, data, Options{})
	if st.Lines != 5 || st.Records != 6 || st.Broken != 1 || st.LostLines != 0 {
		t.Errorf("%+v", st)
	}
	if got[0] != "1@0 broken truncated!" {
		t.Errorf("the loss: %q", got[0])
	}
}

// TestRepeatedRows is the decoding part of case 3: rows that occur again are all
// read, whatever their graph.
func TestRepeatedRows(t *testing.T) {
	a, b := row("a", "one"), row("b", "two")
	if got, st := readAll(t, a+"\n"+b+"\n"+a+"\n"+b+"\n", Options{}); st.Records != 4 || len(got) != 4 {
		t.Errorf("%q", got)
	}
}

// TestTruncation cuts a small log everywhere: each line is a record or a loss.
func TestTruncation(t *testing.T) {
	data := row("a", `one \ud83d\ude00 é`) + "\n" +
		`{"type":"progress","data":{"message":{"type":"user","uuid":"n","timestamp":"2026-11-30T08:36:26.752Z","message":{"role":"user","content":"nested"}}},"uuid":"p","sessionId":"` + session + `"}` + "\n" +
		`{"type":"summary","summary":"s","leafUuid":"a"}` + "\n" + row("b", "two") + "\n"
	for cut := 0; cut <= len(data); cut++ {
		got, st := readAll(t, data[:cut], Options{})
		whole := strings.Count(data[:cut], "\n")
		tail := data[:cut][strings.LastIndexByte(data[:cut], '\n')+1:]
		next, _, _ := strings.Cut(data[cut-len(tail):], "\n")
		want, broken := whole, 0
		switch {
		case tail != "" && tail == next:
			want++
		case tail != "" || cut == 0:
			broken = 1
		}
		if st.Records != want || st.Broken != broken {
			t.Fatalf("cut at %d: %d records and %d broken, want %d and %d: %q", cut, st.Records, st.Broken, want, broken, got)
		}
	}
}

// patterned is a reader of one long line without end, which counts what is read.
type patterned struct {
	left int64
	tail io.Reader
}

func (p *patterned) Read(b []byte) (int, error) {
	if p.left == 0 {
		return p.tail.Read(b)
	}
	n := int(min(p.left, int64(len(b))))
	for i := range b[:n] {
		b[i] = 'x'
	}
	p.left -= int64(n)
	return n, nil
}

func TestLongLine(t *testing.T) {
	const size = 300 << 20
	r := io.MultiReader(strings.NewReader(row("a", "one")+"\n"), &patterned{left: size, tail: strings.NewReader("\n" + row("b", "two"))})
	var st Stats
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var got []string
	for rec, err := range Read("x", r, Options{Stats: &st, MaxLine: 1 << 20}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d@%d %v %d", rec.Pos.Line, rec.Pos.Offset, rec.Broken, rec.Skipped))
	}
	runtime.ReadMemStats(&after)
	n := len(row("a", "one"))
	want := []string{"1@0 false 0", fmt.Sprintf("2@%d true %d", n+1, size), fmt.Sprintf("3@%d false 0", n+1+size+1)}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	account(t, "x", &st, len(got))
	if st.Skipped != size || st.Defects[DefectTooLong] != 1 {
		t.Errorf("%+v", st)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("%d bytes allocated for a line that is skipped", grown)
	}
}

func TestMaxLine(t *testing.T) {
	a := row("a", "one")
	for limit := len(a) - 2; limit <= len(a)+2; limit++ {
		_, st := readAll(t, a+"\n"+a, Options{MaxLine: int64(limit)})
		if want := limit >= len(a); (st.Records == 2) != want || st.Records+st.Broken != 2 {
			t.Errorf("limit %d of %d: %+v", limit, len(a), st)
		}
	}
}

// TestHostileCost reads lines that are made to be expensive. It ends in time, or
// the test does not end.
func TestHostileCost(t *testing.T) {
	for name, line := range map[string]string{
		"nested objects":    strings.Repeat(`{"a":`, 400_000),
		"unclosed records":  strings.Repeat(`{"type":"user","uuid":"x",`, 100_000),
		"nested arrays":     `{"a":` + strings.Repeat("[", 2_000_000),
		"many parts":        row("a", `"},"message":{"content":[`+strings.Repeat(`{"type":"text","text":"x"},`, 50_000)+`""],"role":"`),
		"unknown fields":    `{` + strings.Repeat(`"f":1,`, 200_000) + `"g":1}`,
		"closed and broken": strings.Repeat(`{"a":{"b":1}}x`, 100_000),
	} {
		_, st := readAll(t, line, Options{})
		if st.Lines != 1 {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

// growing is a file that grows while it is read, and stops.
type growing struct{ parts []string }

func (g *growing) Read(b []byte) (int, error) {
	if len(g.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, g.parts[0])
	if g.parts[0] = g.parts[0][n:]; g.parts[0] == "" {
		g.parts = g.parts[1:]
	}
	return n, nil
}

func TestGrowing(t *testing.T) {
	a, b := row("a", "one"), row("b", "two")
	var st Stats
	for _, err := range Read("x", &growing{[]string{a, "\n", b[:30], b[30:] + "\n" + a[:10]}}, Options{Stats: &st}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if st.Records != 2 || st.Broken != 1 || st.Defects[DefectTruncated] != 1 {
		t.Errorf("%+v", st)
	}
}

func TestReadErrors(t *testing.T) {
	a := row("a", "one")
	failing := errors.New("the disk is gone")
	for _, c := range []struct {
		name    string
		r       io.Reader
		records int
		want    error
	}{
		{"at once", iotest.ErrReader(failing), 0, failing},
		{"behind a record", io.MultiReader(strings.NewReader(a+"\n"+a[:20]), iotest.ErrReader(failing)), 2, failing},
		{"with data", iotest.DataErrReader(strings.NewReader(a)), 1, nil},
		{"without progress", io.MultiReader(strings.NewReader(a+"\n"), noProgress{}), 1, io.ErrNoProgress},
	} {
		n, errs := 0, 0
		var last error
		for r, err := range Read("x.jsonl", c.r, Options{}) {
			if err != nil {
				errs, last = errs+1, err
			} else if r != nil {
				n++
			}
		}
		if n != c.records || !errors.Is(last, c.want) || errs > 1 {
			t.Errorf("%s: %d records, %v", c.name, n, last)
		}
	}
}

type noProgress struct{}

func (noProgress) Read([]byte) (int, error) { return 0, nil }

// TestLineLengths reads lines around the limit, in reads that end anywhere.
func TestLineLengths(t *testing.T) {
	text := func(n int) string { return `{"type":"mode","x":"` + strings.Repeat("x", n-22) + `"}` }
	for _, max := range []int64{1 << 10, 300 << 10, math.MaxInt64} {
		var b strings.Builder
		want := 0
		for _, n := range []int{900, 1 << 10, 1<<10 + 1, 30, 150 << 10, 299 << 10, 300 << 10, 300<<10 + 1, 40, 290 << 10, 295 << 10, 700 << 10, 50} {
			b.WriteString(text(n) + "\n")
			if int64(n) <= max {
				want++
			}
		}
		var st Stats
		for r, err := range Read("x", iotest.HalfReader(strings.NewReader(b.String())), Options{MaxLine: max, Stats: &st}) {
			if err != nil || !r.Broken && r.Type != "mode" {
				t.Fatal(r, err)
			}
		}
		if st.Records != want || st.Lines != 13 || st.Bytes != int64(b.Len()) {
			t.Errorf("limit %d: %+v, want %d records", max, st, want)
		}
	}
}

func TestStop(t *testing.T) {
	for range Read("x", strings.NewReader(row("a", "1")+row("b", "2")+"\n"+row("c", "3")), Options{}) {
		break
	}
}

func FuzzRead(f *testing.F) {
	a, b := row("a", "one"), row("b", "two")
	for _, s := range []string{"", a, a + "\n" + b, a + b, a[:60] + b, "\xEF\xBB\xBF" + a, "\x00\x00" + a, a + "\r\n",
		`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Skill","input":{"skill":"x"}}],"usage":{"input_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":2}}}}`,
		`{"type":"attachment","attachment":{"type":"skill_listing","content":"- a","names":["a"],"skills":[{"name":"x"}]},"rendered":[{"content":"c"}]}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"x"},{"type":"image"}]}]},"toolUseResult":{"stdout":"x","usage":{}}}`,
		`{"type":"system","subtype":"init","session_id":"s","tools":["a"],"plugins":[{"name":"p"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var sums [3]Stats
		for i, opt := range []Options{{}, {Sizes: true}, {Sizes: true, Short: -1, Reuse: true, Types: []string{"user", "assistant"}}} {
			opt.Stats, opt.MaxLine = &sums[i], 1000
			n, next := 0, int64(0)
			for r, err := range Read("x", bytes.NewReader(data), opt) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				if r.Pos.Offset < next && r.Skipped == 0 {
					t.Fatalf("offset %d before %d", r.Pos.Offset, next)
				}
				next = r.Pos.Offset + int64(len(r.Raw))
				if next > int64(len(data)) || string(data[r.Pos.Offset:next]) != string(r.Raw) {
					t.Fatalf("the raw bytes of %+v do not stand there", r.Pos)
				}
				if r.Message != nil {
					for _, b := range r.Message.Blocks {
						if b.Input != nil {
							Value(b.Input).Size()
						}
						if !opt.Sizes && b.Kind == BlockText && b.Size.Len16() != Measure(b.Text).Len16() {
							t.Fatalf("%q: size %+v", b.Text, b.Size)
						}
					}
				}
			}
			account(t, "x", &sums[i], n)
			if sums[i].Bytes != int64(len(data)) {
				t.Fatalf("%d bytes of %d", sums[i].Bytes, len(data))
			}
		}
		for _, s := range sums[1:] {
			if s.Records != sums[0].Records || s.Broken != sums[0].Broken {
				t.Fatalf("full %+v, less %+v", sums[0], s)
			}
		}
	})
}
