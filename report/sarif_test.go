package report

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/skilltrace/skilltrace/replay/rules"
)

// sarifSchema is the JSON schema of SARIF 2.1.0 as OASIS publishes it.
var sarifSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	const name = "sarif-schema-2.1.0.json"
	file, err := os.Open(filepath.Join("testdata", name+".gz"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(text)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, value); err != nil {
		return nil, err
	}
	return c.Compile(name)
})

func checkSARIF(t *testing.T, data []byte) {
	t.Helper()
	schema, err := sarifSchema()
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("SARIF: %v", err)
	}
}

// The schema is not one that takes all.
func TestSARIFSchema(t *testing.T) {
	schema, err := sarifSchema()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`{}`, `{"version":"2.1.0","runs":[{}]}`, `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a"}},"results":[{"message":{"text":"a"},"level":"bad"}]}]}`} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(value) == nil {
			t.Errorf("%s is taken for SARIF", bad)
		}
	}
}

func TestSARIFPaths(t *testing.T) {
	for file, want := range map[string]sarifArtifact{
		"app/a b.jsonl":  {"app/a%20b.jsonl", "%SRCROOT%"},
		"/etc/a#b.jsonl": {"file:///etc/a%23b.jsonl", ""},
		"C:/logs/a":      {"file:///C:/logs/a", ""},
		"a:b/c":          {"./a:b/c", "%SRCROOT%"},
		"../漢":           {"../%E6%BC%A2", "%SRCROOT%"},
	} {
		if got := sarifURI(file); got != want {
			t.Errorf("%s: %+v, want %+v", file, got, want)
		}
	}
}

// Each rule links to a heading that the reference has.
func TestRuleAnchors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			headings[Anchor(strings.TrimSpace(title))] = true
		}
	}
	for _, k := range rules.Keys() {
		if _, fragment, ok := strings.Cut(ruleOf(k.Name).HelpURI, "#"); !ok || !headings[fragment] {
			t.Errorf("%s links to %q, which docs/rules.md lacks", k.Name, fragment)
		}
	}
}
