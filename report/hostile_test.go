package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// changed is a JSON value with each number, string and list in it changed by a function.
func changed(value any, by func(any) any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, x := range v {
			if key == "schema" {
				out[key] = x
				continue
			}
			out[key] = changed(x, by)
		}
		return out
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = changed(v[i], by)
		}
		return by(list)
	}
	return by(value)
}

// A saved answer may be a stranger's: with the oddest numbers, texts and lists in it, each
// format is written, soon and without a panic.
func TestReadHostile(t *testing.T) {
	number := func(n json.Number) func(any) any {
		return func(v any) any {
			if _, ok := v.(json.Number); ok {
				return n
			}
			return v
		}
	}
	text := func(s string) func(any) any {
		return func(v any) any {
			if _, ok := v.(string); ok {
				return s
			}
			return v
		}
	}
	changes := map[string]func(any) any{
		"below 0":  number("-1"),
		"0":        number("0"),
		"greatest": number("9223372036854775807"),
		"least":    number("-9223372036854775808"),
		"many":     number("1000000"),
		"no texts": text(""),
		"hostile":  text(strings.Repeat("x\x1b[2J\u202e|*漢\n", 40)),
		"no lists": func(v any) any {
			if _, ok := v.([]any); ok {
				return []any{}
			}
			return v
		},
		"null": func(any) any { return nil },
	}
	for name, data := range saved(t) {
		for what, by := range changes {
			t.Run(name+"/"+what, func(t *testing.T) {
				d := json.NewDecoder(bytes.NewReader(data))
				d.UseNumber()
				var value any
				if err := d.Decode(&value); err != nil {
					t.Fatal(err)
				}
				odd, err := json.Marshal(changed(value, by))
				if err != nil {
					t.Fatal(err)
				}
				doc, err := Read(odd)
				if err != nil {
					return // it does not read as one, and is told so
				}
				for _, style := range []Style{{}, {Verbose: true}, {Width: math.MaxInt32}} {
					for _, format := range FormatsOf(doc) {
						var b bytes.Buffer
						if err := Write(&b, doc, format, style); err != nil {
							t.Errorf("%s: %v", format, err)
						}
						if at := bytes.IndexByte(b.Bytes(), 0x1b); at >= 0 {
							t.Errorf("%s holds an escape sequence: …%q", format, b.Bytes()[max(0, at-200):at+1])
						}
					}
				}
			})
		}
	}
}
