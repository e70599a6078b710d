package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// variety is a log with records of all kinds, some of them damaged.
func variety() string {
	long := strings.Repeat("x", 2000)
	return strings.Join([]string{
		`{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","content":"` + long + `"},"version":"2.1.332"}`,
		`{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","requestId":"q","message":{"id":"m","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"short"},{"type":"text","text":"` + long + `"},{"type":"tool_use","id":"t1","name":"Skill","input":{"skill":"k"}}],"usage":{"input_tokens":3,"output_tokens":5}}}`,
		`{"type":"assistant","uuid":"c","parentUuid":"b","sessionId":"s","requestId":"q","message":{"id":"m","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"ls"}}]}}`,
		`{"type":"user","uuid":"d","parentUuid":"c","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Launching skill: k"}]},"toolUseResult":{"success":true,"commandName":"k"}}`,
		`{"type":"user","uuid":"e","parentUuid":"d","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"files"}]},"toolUseResult":{"stdout":"files"}}`,
		`{"type":"user","uuid":"f","parentUuid":"e","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"gone"}]},"toolUseResult":"Error: gone"}`,
		`not JSON`,
		`{"type":"attachment","uuid":"g","parentUuid":"f","sessionId":"s","attachment":{"type":"skill_listing","content":"- k: does it","names":["k"]},"rendered":[{"content":"the listing: - k: does it"}]}`,
		`{"type":"attachment","uuid":"h","parentUuid":"g","sessionId":"s","attachment":{"type":"date","date":"2026-11-30"},"rendered":[{"content":"today"}]}`,
		`{"type":"progress","uuid":"i","parentUuid":"h","sessionId":"s","message":{"role":"user","content":"no"},"timestamp":"2026-11-30T08:36:26.752Z"}`,
		`{"message":{"role":"user","content":"no"},"params":{"model":"claude-x"},"id":"r","summary":"no","type":"api-request","sessionId":"s"}`,
		`{"type":"system","uuid":"j","parentUuid":"i","sessionId":"s","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preservedMessages":{"uuids":["a"]}}}`,
		`{"type":"summary","summary":"about","leafUuid":"j"}`,
	}, "\n")
}

// asJSON is a record without its bytes.
func asJSON(t *testing.T, r *Record) string {
	t.Helper()
	c := *r
	c.Raw = nil
	if c.Message != nil && len(c.Message.Blocks) == 0 {
		m := *c.Message
		m.Blocks = nil
		c.Message = &m
	}
	b, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReuse reads logs with and without new records: what is yielded is the same,
// and what stays valid stays.
func TestReuse(t *testing.T) {
	for name, data := range map[string]string{"variety": variety(), "synthetic": string(syntheticLog(t, 200<<10))} {
		for _, opt := range []Options{{}, {Sizes: true}, {Sizes: true, Short: -1, Types: []string{"user", "assistant"}}} {
			var want []string
			for r := range Read("x", strings.NewReader(data), opt) {
				want = append(want, asJSON(t, r))
			}
			opt.Reuse = true
			var kept, once []string // strings and attachments, now and at the end
			var attachments []*Attachment
			n := 0
			for r := range Read("x", strings.NewReader(data), opt) {
				if got := asJSON(t, r); got != want[n] {
					t.Fatalf("%s, %+v: record %d\n got %s\nwant %s", name, opt, n+1, got, want[n])
				}
				n++
				kept = append(kept, r.UUID, r.Parent, r.RequestID, r.Session)
				once = append(once, strings.Clone(r.UUID), strings.Clone(r.Parent), strings.Clone(r.RequestID), strings.Clone(r.Session))
				if r.Attachment != nil {
					attachments = append(attachments, r.Attachment)
					kept, once = append(kept, r.Attachment.Content), append(once, strings.Clone(r.Attachment.Content))
				}
			}
			if n != len(want) || strings.Join(kept, "|") != strings.Join(once, "|") {
				t.Errorf("%s: %d records of %d, or a text was overwritten", name, n, len(want))
			}
			for i := 1; i < len(attachments); i++ {
				if attachments[i] == attachments[i-1] {
					t.Errorf("%s: attachments are overwritten", name)
				}
			}
		}
	}
}

// TestTypes: records of other types are read for their place alone, wherever their
// type stands.
func TestTypes(t *testing.T) {
	var got []string
	for r := range Read("x", strings.NewReader(variety()), Options{Types: []string{"user", "attachment"}}) {
		got = append(got, fmt.Sprint(r.Type, " ", r.UUID, " ", r.Parent, " ", r.Session, " ", r.Message != nil, r.Result != nil, r.Attachment != nil, r.Compact != nil, r.Request != nil, r.Text != ""))
	}
	want := []string{
		"user a  s true false false false false false",
		"assistant b a s false false false false false false",
		"assistant c b s false false false false false false",
		"user d c s true true false false false false",
		"user e d s true true false false false false",
		"user f e s true true false false false false",
		"    false false false false false false",
		"attachment g f s false false true false false false",
		"attachment h g s false false true false false false",
		"progress i h s false false false false false false",
		"api-request   s false false false false false false",
		"system j i s false false false false false false",
		"summary    false false false false false false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestShort: without short texts only those come that are read.
func TestShort(t *testing.T) {
	for short, want := range map[int]string{
		0:    "long|short||||Launching skill: k|files|gone|the listing: - k: does it|today",
		-1:   "long|||||Launching skill: k||gone||",
		2002: "long|short|long|||Launching skill: k|files|gone|the listing: - k: does it|today",
	} {
		var got []string
		for r := range Read("x", strings.NewReader(variety()), Options{Sizes: true, Short: short, Types: []string{"user", "assistant", "attachment"}}) {
			if r.Message != nil {
				for _, b := range r.Message.Blocks {
					text := b.Text
					if len(text) == 2000 {
						text = "long"
					}
					got = append(got, text)
				}
			}
			if r.Attachment != nil {
				got = append(got, r.Attachment.Rendered)
			}
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("Short %d: got  %s\n want %s", short, s, want)
		}
	}
}

func TestOnly(t *testing.T) {
	keep := func(name []byte, v Value) bool { return string(name) == "a" || v.Kind() == ValueNumber }
	for in, want := range map[string]string{
		`{"a":"x","b":"y","c":5}`:        `{"a":"x","c":5}`,
		` { "b" : [1] , "a" : {"b":1} }`: `{"a" : {"b":1}}`,
		`{"b":"y"}`:                      `{}`,
		`{"\u0061":true}`:                `{"\u0061":true}`,
		`{"a":1,"b":`:                    `{"a":1}`,
		`[1]`:                            `[1]`,
		``:                               ``,
	} {
		if got := Value(in).Only(keep); string(got) != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// slowMeasure is Measure, a character at a time.
func slowMeasure(s string) (z Size) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			z.Letters++
			if i == 0 || s[i-1]|0x20 < 'a' || s[i-1]|0x20 > 'z' {
				z.Words++
			}
		case c >= '0' && c <= '9':
			z.Digits++
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			z.Blanks++
		case c < 0x80:
			z.Punct++
		case c < 0xC0:
		case c >= 0xE3 && c <= 0xED:
			z.CJK++
		case c < 0xF0:
			z.Other++
		default:
			z.Other += 2
		}
	}
	return z
}

// FuzzMeasure compares the counting of eight bytes at once with that of one.
func FuzzMeasure(f *testing.F) {
	for _, s := range []string{"", "plain text, 123.\n", strings.Repeat("aB3 .\t", 400), "é中😀…\x00\x7f\x1f", strings.Repeat("a", 2050) + "é", `quotes " and \ slashes`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, want := measure(data), slowMeasure(string(data)); got != want {
			t.Fatalf("%q: %+v, want %+v", data, got, want)
		}
		text := string(bytes.ToValidUTF8(data, nil))
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := ParseValue(quoted)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := v.Size(), slowMeasure(v.Text()); got != want {
			t.Fatalf("%s: %+v, want %+v", quoted, got, want)
		}
		// Letters as escapes make the same words.
		quoted = bytes.ReplaceAll(quoted, []byte("e"), []byte(`\u0065`))
		if v, err = ParseValue(quoted); err == nil {
			if got, want := v.Size(), slowMeasure(v.Text()); got != want {
				t.Fatalf("%s: %+v, want %+v", quoted, got, want)
			}
		}
	})
}
