package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/skilltrace/skilltrace/budget"
)

// goldenJSON compares the JSON of a document with a file and with its schema.
func goldenJSON(t *testing.T, name string, doc Document) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, doc); err != nil {
		t.Fatal(err)
	}
	golden(t, name+".json", b.Bytes())
	validate(t, b.Bytes())
}

// validate checks JSON against the schema that it names.
func validate(t *testing.T, data []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	named := value.(map[string]any)["schema"].(string)
	command := named[len("skilltrace/") : len(named)-len("@1")]
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "docs", "schema", command+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v", named, err)
	}
}

func readBack(t *testing.T, doc, into Document) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, doc); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), into); err != nil {
		t.Fatal(err)
	}
}

// Every schema compiles and is one of a document that exists.
func TestSchemas(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join("..", "docs", "schema"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{ReplaySchema: true, TimelineSchema: true, SessionsSchema: true, CostSchema: true, ConformSchema: true, RulesSchema: true, WhySchema: true, FloorSchema: true, VersionSchema: true, ListingSchema: true, TestSchema: true, TestInitSchema: true, "skilltrace/test-case@1": true, budget.PricesSchema: true}
	for _, e := range entries {
		path := filepath.Join("..", "docs", "schema", e.Name())
		if e.Name() == "skilltrace.test.json" {
			continue // of a file that is read; package spec holds it to its reader
		}
		if _, err := jsonschema.NewCompiler().Compile(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Properties struct {
				Schema struct {
					Const string `json:"const"`
				} `json:"schema"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		if name := s.Properties.Schema.Const; !known[name] {
			t.Errorf("%s describes %q, which nothing writes", path, name)
		}
	}
}
