package report

import (
	"bytes"
	"testing"

	"github.com/skilltrace/skilltrace/replay/rules"
)

func sampleTest() *TestDocument {
	expected, small := "deploy", &TestAsked{Expected: "deploy", Runs: 4, Hits: 1, Rate: 0.25, Low: 0.05, High: 0.7, Chosen: []TestChosen{{"", 3}, {"deploy", 1}}}
	asked := &TestAsked{Expected: expected, Runs: 4, Hits: 3, Rate: 0.75, Low: 0.3, High: 0.95, First: 3, Chosen: []TestChosen{{"deploy", 3}, {"commit", 1}}, Failures: []string{"timed out"}, Errors: 1, Before: small, Difference: &TestBetween{0.5, -0.1, 0.9}}
	listing := &TestListing{Before: TestSize{Chars: 190, Demand: 300, Budget: 200, Tokens: 50, Full: 3, NameOnly: 1}, After: TestSize{Chars: 199, Demand: 310, Budget: 200, Tokens: 52, Full: 2, NameOnly: 2},
		Changes: []TestChange{
			{Skill: "deploy", Before: "full", After: "full", Edited: true, CharsBefore: 20, CharsAfter: 60, TokensBefore: 5, TokensAfter: 15, TextBefore: "Deploys.", TextAfter: "Deploys the | shop *now*.", Diff: "Deploys[-.-]{+ the | shop *now*.+}"},
			{Skill: "commit", Before: "full", After: "name_only", CharsBefore: 40, CharsAfter: 8, TokensBefore: 10, TokensAfter: 2, TextBefore: "Commits.", Causes: []TestCause{{"deploy", "grew by 40 characters", 40}}},
		},
		Lines: []TestLine{{Skill: "deploy", Before: "- deploy: Deploys.", After: "- deploy: Deploys the | shop *now*."}}}
	return &TestDocument{Schema: TestSchema, Spec: "tests/skills.yaml", Candidate: ".claude/skills", Baseline: "the log's own state", Outcome: "failed",
		Cases: []TestCase{
			{Name: "deploys on friday", Line: 3, Scorer: "visible", Verdict: "passed", Baseline: "failed", Change: "fixed", Session: "a.jsonl", Prompt: 1, LogLine: 3, UUID: "u1", Text: "deploy the shop"},
			{Name: "evil \x1b[2J\u202e # <b>,:%", Line: 9, Scorer: "visible", Verdict: "failed", Baseline: "passed", Change: "broken", Reason: "commit is listed by its name only\n::error::", Session: "a.jsonl", Prompt: 2, LogLine: 30,
				Details: &TestDetails{Visible: []TestVisible{{"commit", 10, "full", "name_only", "full", "failed", "no room"}}, Listing: listing, Assumed: []string{"window of 200,000 tokens"}}},
			{Name: "asks for deploy", Line: 15, Scorer: "live", Verdict: "inconclusive", Reason: "between 30 % and 95 % of the answers call it", Details: &TestDetails{Asked: asked}},
			{Name: "words of deploy", Line: 20, Scorer: "lexical", Verdict: "errored", Reason: "the log cannot be read", Details: &TestDetails{Lexical: []TestLexical{{Skill: "deploy", Line: 21, Within: 1, Rank: 2, Listed: 4, Score: 1.5, Best: "commit", Shared: []string{"shop"}, Verdict: "failed"}}}},
			{Name: "later", Line: 25, Scorer: "visible", Verdict: "skipped", Reason: "it is for other clients"},
		},
		Totals: TestTotals{Passed: 1, Failed: 1, Errored: 1, Inconclusive: 1, Skipped: 1, Fixed: 1, Broken: 1}, Cost: &TestSpending{Calls: 8, Cached: 2, Tokens: 40_000, CostMicroUSD: new(int64(120_000)), Cost: "$0.12"}}
}

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
