package report

import (
	"bytes"
	"testing"

	"github.com/skilltrace/skilltrace/replay/rules"
)

func TestVersionDocument(t *testing.T) {
	doc := &VersionDocument{Schema: VersionSchema, Version: "v1.2.3", Go: "go1.26", OS: "linux", Arch: "amd64", Rules: []VersionRules{{Client: "claude-code", Oldest: "2.0.20", Latest: "2.1.332"}, {Client: "mini-cc", Described: "a page"}}}
	goldenTables(t, "version", doc)
	goldenJSON(t, "version", doc)
}

// A few rules, of each kind of value: those of the table change with it.
func TestRulesDocuments(t *testing.T) {
	list := []rules.Effective{
		{Key: "listing.overflow", Value: "names", Meaning: "what gives way", Summary: "by rank | last first", Since: "2.1.90", From: "2.1.89", Evidence: "listing/probe 2.1.89, 2.1.90", Confidence: rules.Exactly},
		{Key: "entry.cap", Value: 1536, Meaning: "the longest text", Since: "2.1.80", Evidence: "documented", Confidence: rules.Documented},
		{Key: "discovery.parents", Value: true, Meaning: "folders above count", Since: "2.0.30", Confidence: rules.Within},
		{Key: "discovery.sources", Value: []string{"user", "project"}, Meaning: "the places", Since: "2.0.30", Confidence: rules.Within},
	}
	one := &RulesDocument{Document: rules.Document{Schema: RulesSchema, Client: "claude-code", Version: "2.1.332", Exact: true, Oldest: "2.0.30", Latest: "2.1.332", Rules: list}}
	goldenTables(t, "rules", one)
	goldenJSON(t, "rules", one)
	two := &RulesDocument{Document: one.Document}
	two.Against = "2.1.80"
	two.Diff = []rules.Difference{{Key: "listing.overflow", Meaning: "what gives way", Old: "cut", New: "names", Changes: []rules.Change{{Since: "2.1.90", From: "2.1.89", Key: "listing.overflow", Value: "names", Summary: "by rank", Evidence: "listing/probe", Confidence: rules.Exactly}}},
		{Key: "entry.cap", Meaning: "the longest text", Old: 250, New: 1536, Changes: []rules.Change{{Since: "2.1.85", Key: "entry.cap", Value: 1000, Confidence: rules.Exactly}, {Since: "2.1.86", Key: "entry.cap", Value: 1536, Confidence: rules.Exactly}}},
		{Key: "discovery.sources", Meaning: "the places", Old: []string{}, New: []string{"user", "project"}, Changes: []rules.Change{}}}
	goldenTables(t, "rules-diff", two)
	goldenJSON(t, "rules-diff", two)

	// The whole table, read back.
	table, err := rules.For(rules.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	for _, against := range []string{"", "2.1.100"} {
		doc, err := NewRules(table, "2.1.332", against)
		if err != nil {
			t.Fatal(err)
		}
		var want, data, got bytes.Buffer
		if err := doc.WriteTable(&want, Style{Verbose: true}); err != nil {
			t.Fatal(err)
		}
		if err := WriteJSON(&data, doc); err != nil {
			t.Fatal(err)
		}
		back, err := Read(data.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := back.WriteTable(&got, Style{Verbose: true}); err != nil || got.String() != want.String() {
			t.Errorf("%v\n%s\nwant\n%s", err, got.String(), want.String())
		}
	}
}
