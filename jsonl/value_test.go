package jsonl

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

var valueTexts = []struct {
	text  string
	valid bool
}{
	{`{}`, true}, {`[]`, true}, {`""`, true}, {`0`, true}, {`-0`, true}, {`1.5e+10`, true}, {`true`, true},
	{`false`, true}, {`null`, true}, {` { "a" : [ 1 , { "b" : null } ] } `, true},
	{`"a\"b\\c\/d\b\f\n\r\t\u0041"`, true}, {`"\ud83d\ude00 \ud83d"`, true}, {`{"a\u0062":1}`, true},
	{"\"raw \u2028 and \u2029\"", true}, {`"` + strings.Repeat(`x\n`, 100) + `"`, true},
	{``, false}, {`{`, false}, {`}`, false}, {`{"a"}`, false}, {`{"a":}`, false}, {`{"a":1,}`, false}, {`[1,]`, false},
	{`[1 2]`, false}, {`{a:1}`, false}, {`{"a":1`, false}, {`"abc`, false}, {`"abc\`, false}, {`"\x"`, false},
	{`"\u12"`, false}, {`"\u12g4"`, false}, {`01`, false}, {`1.`, false}, {`.5`, false}, {`-`, false}, {`1e`, false},
	{`+1`, false}, {`tru`, false}, {`nul`, false}, {`truex`, false}, {`NaN`, false}, {`{}{}`, false}, {"\x00", false},
	{"{}\x00", false}, {`{"a":1}]`, false}, {`'a'`, false}, {`[,1]`, false}, {`{,}`, false},
}

func TestParseValue(t *testing.T) {
	for _, c := range valueTexts {
		if _, err := ParseValue([]byte(c.text)); (err == nil) != c.valid {
			t.Errorf("%q: %v, want valid %v", c.text, err, c.valid)
		}
		if json.Valid([]byte(c.text)) != c.valid {
			t.Errorf("%q: encoding/json disagrees with the table", c.text)
		}
	}
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	if _, err := ParseValue([]byte(deep)); err == nil {
		t.Error("5,000 levels were accepted")
	}
	if _, err := ParseValue([]byte("\"tab\tand\x01\"")); err != nil {
		t.Errorf("control characters in a string: %v", err)
	}
}

func TestValueText(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`"plain"`, "plain"},
		{`"\ud83d\ude00"`, "😀"},
		{`"a\ud83d"`, "a\xED\xA0\xBD"},
		{`"\ud83dx\ude00"`, "\xED\xA0\xBDx\xED\xB8\x80"},
		{`"\ude00\ud83d"`, "\xED\xB8\x80\xED\xA0\xBD"},
		{`"\ud83d\ud83d\ude00"`, "\xED\xA0\xBD😀"},
		{`"\ud83d\u0041"`, "\xED\xA0\xBDA"},
		{`"\u00e9\u4e2d\u0000"`, "é中\x00"},
		{`"\\u0041\\\""`, `\u0041\"`},
		{"\"\u2028\"", "\u2028"},
		{`1`, ""}, {`{"a":"b"}`, ""}, {``, ""},
	} {
		if got := Value(c.json).Text(); got != c.want {
			t.Errorf("%s: %q, want %q", c.json, got, c.want)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"\"a\xFFb\"", "a\uFFFDb"},
		{"\"\xE2\x82\"", "\uFFFD"},                 // one for a character cut off
		{"\"\xED\xA0\xBD\"", "\uFFFD\uFFFD\uFFFD"}, // a raw surrogate is no character
		{"\"\xF0\x9F\x98\xE2\x82\xAC\"", "\uFFFD€"},
		{"\"\xC0\xAF\"", "\uFFFD\uFFFD"},
	} {
		v, err := ParseValue([]byte(c.in))
		if err != nil || v.Text() != c.want {
			t.Errorf("%q: %q, %v, want %q", c.in, v.Text(), err, c.want)
		}
	}
}

func TestValueAccess(t *testing.T) {
	v, err := ParseValue([]byte(` {"a":1,"b":[true,"x",{"c":-3}],"a":2.0,"n":null,"f":1.5,"big":1e300,"max":9223372036854775807,"k\u0065y":"v"} `))
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := v.Get("a").Int(); n != 2 || !ok {
		t.Errorf("the last of two members counts: got %d %v", n, ok)
	}
	for name, want := range map[string]bool{"f": false, "big": false, "max": true, "n": false, "none": false} {
		if _, ok := v.Get(name).Int(); ok != want {
			t.Errorf("%s: Int is %v", name, ok)
		}
	}
	var items []string
	for item := range v.Get("b").Items() {
		items = append(items, string(item))
	}
	if strings.Join(items, " ") != `true "x" {"c":-3}` {
		t.Errorf("items: %q", items)
	}
	if !first(v.Get("b")).Bool() || v.Get("key").Text() != "v" || v.Get("f").Number() != "1.5" {
		t.Error("bool, escaped name or number")
	}
	if v.Get("none").Get("x").Get("y").Kind() != ValueAbsent {
		t.Error("absent values do not chain")
	}
	var names []string
	for name := range v.Members() {
		names = append(names, name)
	}
	if strings.Join(names, " ") != "a b a n f big max key" {
		t.Errorf("members: %q", names)
	}
}

func first(v Value) Value {
	for item := range v.Items() {
		return item
	}
	return nil
}

func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		text string
		want Size
	}{
		{"", Size{}},
		{"ab1 \n.\"\\", Size{Letters: 2, Digits: 1, Blanks: 2, Punct: 3, Words: 1}},
		{"é中😀…", Size{CJK: 1, Other: 4}},
		{strings.Repeat("a", 5000) + strings.Repeat("😀", 5000), Size{Letters: 5000, Other: 10000, Words: 1}},
		{"\xED\xA0\xBD", Size{CJK: 1}}, // a lone surrogate is one unit, of whichever class
	} {
		if got := Measure(c.text); got != c.want {
			t.Errorf("%.20q: %+v, want %+v", c.text, got, c.want)
		}
	}
	if got := Value(`{"name":"abc","list":["12","\n\u4e2d\u00e9\ud83d\ude00\u0041"],"n":5}`).Size(); got != (Size{Letters: 4, Digits: 2, Blanks: 1, CJK: 1, Other: 3, Words: 2}) {
		t.Errorf("strings of a value: %+v", got)
	}
}

// TestMeasureWords counts runs of letters at every place of the words of eight bytes
// in which they are counted.
func TestMeasureWords(t *testing.T) {
	for _, c := range []struct {
		text  string
		words int
	}{
		{"a", 1}, {"ab cd", 2}, {"a1b", 2}, {"aB", 1}, {"1 2", 0}, {"éa", 1}, {"aéb", 2}, {"abcdefg hijklmno", 2},
		{"abcdefghijklmnop", 1}, {"one-two_three.four", 4}, {"中a中b", 2}, {"@AZ[`az{", 2}, {"a\nb\"c", 3}, {"\x01a\x7fb", 2},
	} {
		for pad := range 17 {
			for _, fill := range []string{" ", "é", "1", "\n"} {
				text := strings.Repeat(fill, pad) + c.text
				if got := Measure(text).Words; got != c.words {
					t.Errorf("%q: %d words, want %d", text, got, c.words)
				}
				quoted, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				if got := Value(quoted).Size().Words; got != c.words {
					t.Errorf("%s as JSON: %d words, want %d", quoted, got, c.words)
				}
			}
		}
	}
}

func FuzzValue(f *testing.F) {
	for _, c := range valueTexts {
		f.Add([]byte(c.text))
	}
	f.Add([]byte("\"\xED\xA0\xBD\xFF\\ud83d\""))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := ParseValue(b)
		plain := true // nothing that ParseValue takes and JSON does not
		for _, c := range b {
			if c < 0x20 {
				plain = false
			}
		}
		if json.Valid(b) && err != nil && err.Error() != "nested too deep" {
			t.Fatalf("%q is valid: %v", b, err)
		}
		if plain && err == nil && !json.Valid(b) {
			t.Fatalf("%q is not valid", b)
		}
		walk(v)
		walk(b) // damaged values must not panic either
		if v.Kind() != ValueString {
			return
		}
		text := v.Text()
		z := v.Size()
		if m := Measure(text); z.Len16() != m.Len16() || z.Letters != m.Letters || z.Digits != m.Digits || z.Blanks != m.Blanks || z.Punct != m.Punct {
			t.Fatalf("%q: sizes %+v and %+v", b, z, m)
		}
		var want string
		if plain && json.Unmarshal(v, &want) == nil {
			// encoding/json gives up lone surrogates, but not their number.
			if got := replaceLone(text); got != want {
				t.Fatalf("%q: %q, want %q", b, got, want)
			}
			if n := len(utf16.Encode([]rune(want))); z.Len16() != n {
				t.Fatalf("%q: length %d, want %d", b, z.Len16(), n)
			}
		}
	})
}

func walk(v Value) {
	v.Text()
	v.Int()
	v.Number()
	v.Get("a")
	for range v.Members() {
	}
	for item := range v.Items() {
		_ = item.Kind()
	}
}

func replaceLone(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b.WriteRune(utf8.RuneError)
			i += 3
			continue
		}
		b.WriteString(s[i : i+n])
		i += n
	}
	return b.String()
}
