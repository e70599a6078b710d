package frontmatter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
)

// dialects are the readings that the tests cover, as clients have them.
var dialects = map[string]Dialect{
	"naive": {Parser: Naive, Requote: RequoteNone, DuplicateKeys: DuplicatesLast},
	"npm-yaml": {Parser: NpmYAML, Requote: RequoteColon, DuplicateKeys: DuplicatesFail, ScalarOnly: true,
		PathsList: true},
	"bun-yaml-1.3": {Parser: Bun13YAML, Requote: RequoteColon, DuplicateKeys: DuplicatesLast, ScalarOnly: true,
		PathsList: true, RejectLoneEscapes: true},
	"bun-yaml": {Parser: BunYAML, Requote: RequoteColon, DuplicateKeys: DuplicatesLast, ScalarOnly: true,
		PathsList: true, BOM: true, FlagWords: true},
}

// outcome is a value or a failure. In values, {"n": …} is a number as JavaScript
// prints it, {"b": …} a boolean and {"m": [[key, value], …]} a map.
type outcome struct {
	Is    json.RawMessage `json:"is"`
	Fails bool            `json:"fails"`
}

// TestVectors compares the parser with what the libraries themselves made of
// testdata/vectors.jsonl: npm yaml 2.9.1 (2.8.2 gives the same), Bun 1.4.5 and Bun
// 1.3.14. Half of the texts were written for one rule each, half are random. A
// parser is left out of a vector on which we knowingly differ from it.
func TestVectors(t *testing.T) {
	f, err := os.Open("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var vec struct {
			In   string
			Want map[string]outcome
		}
		if err := json.Unmarshal(sc.Bytes(), &vec); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"npm-yaml", "bun-yaml", "bun-yaml-1.3"} {
			want, ok := vec.Want[name]
			if all, found := vec.Want["all"]; found {
				want, ok = all, true
			}
			if !ok {
				continue
			}
			n++
			v, _, err := parseYAML(vec.In, dialects[name].grammar())
			switch {
			case want.Fails && err == nil:
				t.Errorf("%s: %q is %s, want a failure", name, vec.In, encode(v))
			case !want.Fails && err != nil:
				t.Errorf("%s: %q fails: %s, want %s", name, vec.In, err.why, want.Is)
			case !want.Fails && !same(v, want.Is):
				t.Errorf("%s: %q\n got %s\nwant %s", name, vec.In, encode(v), want.Is)
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d comparisons", n)
	}
}

func same(v Value, want json.RawMessage) bool {
	var a, b any
	json.Unmarshal([]byte(encode(v)), &a)
	json.Unmarshal(want, &b)
	x, _ := json.Marshal(sorted(a))
	y, _ := json.Marshal(sorted(b))
	return bytes.Equal(x, y)
}

// sorted turns the pairs of maps into objects, of which the order does not count.
func sorted(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = sorted(v[i])
		}
	case map[string]any:
		if pairs, ok := v["m"].([]any); ok {
			m := map[string]any{}
			for _, p := range pairs {
				m[p.([]any)[0].(string)] = sorted(p.([]any)[1])
			}
			return map[string]any{"m": m}
		}
	}
	return v
}

func encode(v Value) string {
	text, _ := json.Marshal(budget.ReplaceLone(v.Text))
	switch v.Kind {
	case String:
		return string(text)
	case Bool:
		return `{"b":` + v.Text + `}`
	case Number:
		return fmt.Sprintf(`{"n":%s}`, text)
	case List:
		var items []string
		for _, x := range v.Items {
			items = append(items, encode(x))
		}
		return "[" + strings.Join(items, ",") + "]"
	case Map:
		var items []string
		for i, k := range v.Keys {
			key, _ := json.Marshal(budget.ReplaceLone(k))
			items = append(items, fmt.Sprintf("[%s,%s]", key, encode(v.Vals[i])))
		}
		return `{"m":[` + strings.Join(items, ",") + "]}"
	}
	return "null"
}

func TestHostileYAML(t *testing.T) {
	deep := strings.Repeat("[", 200_000)
	steps := strings.Repeat("- ", 200_000)
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	var big strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&big, "k%d: x, ", i)
	}
	merges := "a: &a {" + big.String() + "}\nb:\n" + strings.Repeat("  - {<<: *a}\n", 5000)
	for name, d := range dialects {
		for _, text := range []string{deep, "description: " + deep, steps, bomb.String(), "description: \"" + strings.Repeat("x\n ", 100_000),
			strings.Repeat("a: ", 100_000), strings.Repeat(" a:\n", 100_000), strings.Repeat("{a: ", 100_000), strings.Repeat("? ", 100_000),
			strings.Repeat("&a ", 100_000), strings.Repeat("!", 100_000), strings.Repeat("\t\n", 100_000),
			strings.Repeat(" ", 1<<20) + strings.Repeat("- ", 900), merges, "a: |\n" + strings.Repeat(" \n", 100_000)} {
			f, _ := Parse("---\n"+text+"\n---\n", d)
			if n := len(f.Fields); n > 0 {
				if n := len(f.Fields[n-1].Value.JS()); n > maxJS+1<<20 {
					t.Errorf("%s: %d bytes of text", name, n)
				}
			}
			Lint("---\n"+text+"\n---\n", d)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"1.10": "1.1", "1e3": "1000", "0x1F": "31", "0o17": "15", "012": "12", ".5": "0.5", "-0": "0", "1e21": "1e+21",
		"1e-7": "1e-7", "123456789012345678901234567890": "1.2345678901234568e+29", ".inf": "Infinity", "-.inf": "-Infinity", ".nan": "NaN",
	} {
		v, _, _ := parseYAML("a: "+text, dialects["bun-yaml"].grammar())
		if got := v.Vals[0]; got.Kind != Number || got.Text != want {
			t.Errorf("%s is %v, want the number %s", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range parseTests {
		f.Add(c.text)
	}
	for _, s := range []string{"a: &x [*x]\n", "? a\n: b\n", "a: !t\nb: c\n", "a: |2-\n   x\n", "a: \"\\ud83d\\ude00\\\n x\"\n", "a: x ...\n", "- \n\tb: [c, {d: e}]\n", "\r\ra: 'b\r\n c'\r"} {
		f.Add("---\n" + s + "---\nbody\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, d := range dialects {
			front, body := Parse(text, d)
			if !strings.HasSuffix(text, body) {
				t.Fatalf("%s: the body is no end of the file", name)
			}
			if front.Problem != "" && len(front.Fields) > 0 {
				t.Fatalf("%s: a lost block has fields", name)
			}
			lines := strings.Count(text, "\n") + 1
			for _, x := range front.Fields {
				x.Value.JS()
				if x.Line < 0 || x.Line > lines {
					t.Fatalf("%s: field %q on line %d of %d", name, x.Key, x.Line, lines)
				}
			}
			front.Description(d)
			front.WhenToUse(d)
			front.Paths(d)
			front.Arguments(d)
			front.AllowedTools()
			front.Flag("disable-model-invocation", d)
			for _, x := range Lint(text, d) {
				if x.Line < 1 || x.Line > lines || x.Text == "" {
					t.Fatalf("%s: finding %+v", name, x)
				}
			}
			Fallback(body, "skill")
		}
	})
}

func BenchmarkParse(b *testing.B) {
	typical := "---\nname: pdf-forms\ndescription: Fill in PDF forms: read the fields, check them, write them. Use when the user asks for a form.\n" +
		"when_to_use: >-\n  The user has a PDF with fields\n  and wants them filled in.\nallowed-tools: [Read, Bash(pdftk *)]\npaths: \"forms/**/*.{pdf,fdf}\"\n---\n\n# PDF forms\n\nRead the fields first.\n"
	long := "---\ndescription: " + strings.Repeat("lorem ipsum, dolor sit amet & consectetur \"quoted\" ", 200_000) + "\n---\nbody\n"
	for _, name := range []string{"naive", "npm-yaml", "bun-yaml-1.3", "bun-yaml"} {
		for size, text := range map[string]string{"typical": typical, "10MB": long} {
			b.Run(name+"/"+size, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Parse(text, dialects[name])
				}
			})
		}
	}
}
