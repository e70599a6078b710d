package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"
	"time"
)

// sampleCost is a document with everything that one can hold.
func sampleCost(by ...string) *CostDocument {
	m := func(n int64) *int64 { return new(n) }
	rows := []CostRow{
		{CostKey: CostKey{Skill: "deploy", Project: "/home/dev/shop"}, Sessions: 2, Calls: 12, Once: 4_000, Carried: 31_000, Tokens: TokenSum{Input: 2_000, CacheRead: 30_000, CacheWrite5m: 3_000}, CostMicroUSD: m(41_250), Basis: "anchored",
			Use: &SkillCost{Listed: 3, Described: 2, ByModel: 2, ByUser: 1, Refused: 1, Bodies: 2, BodyChars: 16_000, Repeats: 1, RepeatChars: 8_000, Reattachments: 1, ReattachedChars: 8_000,
				Avoidable: &CostAvoidable{Repeated: &CostAmount{Tokens: 9_000, CostMicroUSD: 4_000}}, OnBehalf: &CostAmount{Tokens: 50_000, CostMicroUSD: 77_000}}},
		{CostKey: CostKey{Skill: "init", Project: "/home/dev/shop"}, Sessions: 2, Calls: 12, Once: 40, Carried: 300, Tokens: TokenSum{CacheRead: 340}, CostMicroUSD: m(102), Basis: "estimated",
			Use: &SkillCost{Listed: 3, Described: 3, Avoidable: &CostAvoidable{Uncalled: &CostAmount{Tokens: 340, CostMicroUSD: 102}}, OnBehalf: &CostAmount{}}},
		{CostKey: CostKey{Project: "/home/dev/shop"}, Sessions: 2, Calls: 13, Once: 1_000, Carried: 90_000, Tokens: TokenSum{Input: 500, CacheRead: 89_000, CacheWrite1h: 1_500, Output: 2_500}, CostMicroUSD: m(120_648), UnpricedTokens: 700, Basis: "estimated"},
		{CostKey: CostKey{Skill: "odd\x1b[2J\u202ename", Project: "/srv"}, Sessions: 1, Calls: 1, Once: 20, Tokens: TokenSum{Input: 20}, UnpricedTokens: 20, Basis: "exact"},
	}
	return NewCost(CostInput{CostDocument: CostDocument{
		Sessions: 3, Calls: 13, By: by, PricesAsOf: "2026-11-30", Timezone: "Europe/Berlin",
		Since: new(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)), Until: new(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)),
		Usage: TokenSum{Input: 2_520, CacheRead: 119_340, CacheWrite5m: 3_000, CacheWrite1h: 1_500, Output: 2_500}, CostMicroUSD: m(162_000),
		Layers: []CostRow{{CostKey: CostKey{Layer: "listing"}, Sessions: 3, Calls: 13, Once: 60, Carried: 300, Tokens: TokenSum{Input: 20, CacheRead: 340}, CostMicroUSD: m(102), Basis: "estimated"},
			{CostKey: CostKey{Layer: "other"}, Sessions: 3, Calls: 13, Once: 5_000, Carried: 121_000, Tokens: TokenSum{Input: 2_500, CacheRead: 119_000, CacheWrite5m: 3_000, CacheWrite1h: 1_500}, CostMicroUSD: m(124_398), Basis: "estimated"},
			{CostKey: CostKey{Layer: "output"}, Sessions: 3, Calls: 13, Tokens: TokenSum{Output: 2_500}, CostMicroUSD: m(37_500), Basis: "exact"}},
		Rows:      rows,
		Avoidable: &CostAvoidable{Repeated: &CostAmount{Tokens: 9_000, CostMicroUSD: 4_000}, Uncalled: &CostAmount{Tokens: 340, CostMicroUSD: 102}, Duplicate: &CostAmount{}},
		Client: &CostClient{Sessions: 2, CostMicroUSD: 190_000, OursMicroUSD: 161_000, Compactions: 1, Differences: []CostDifference{
			{Reason: "silent", Input: 9_000, Output: 200, CostMicroUSD: 30_000}, {Reason: "surcharge", Calls: 1, CostMicroUSD: -1_000}}},
		Unpriced: []UnpricedCost{{Model: "nobody-knows-1", Calls: 1, Tokens: 720}},
		Notes:    CostNotes{Unfinished: 1, WithoutUsage: 1, Reanchored: 2, UnknownLifetime: 3, ModelChanged: 1, Copies: 4, Surcharged: 1, SurchargeMicroUSD: 1_000, Failed: 1, Retried: 2},
	}})
}

func sampleWhatIf() *CostDocument {
	d := sampleCost("layer")
	in := CostInput{CostDocument: *d}
	in.WhatIf = &CostWhatIf{Inputs: []string{"remove=deploy", "cut=20"}, Assumptions: []string{"the model does the same", "listings put together anew: 3"},
		CostChange: CostChange{Now: d.Usage, Then: TokenSum{Input: 520, CacheRead: 89_340, Output: 2_500}, NowMicroUSD: new(int64(162_000)), ThenMicroUSD: new(int64(120_000))},
		Layers: []CostChange{{Layer: "listing", Now: TokenSum{CacheRead: 360}, Then: TokenSum{CacheRead: 500}, NowMicroUSD: new(int64(102)), ThenMicroUSD: new(int64(150))},
			{Layer: "body", Now: TokenSum{CacheRead: 35_000}, NowMicroUSD: new(int64(124_398))},
			{Layer: "output", Now: TokenSum{Output: 2_500}, Then: TokenSum{Output: 2_500}, NowMicroUSD: new(int64(37_500)), ThenMicroUSD: new(int64(37_500))}}}
	return NewCost(in)
}

func TestCost(t *testing.T) {
	for name, doc := range map[string]*CostDocument{
		"cost-skill": sampleCost("skill"), "cost-project": sampleCost("project", "model"), "cost-whatif": sampleWhatIf(),
	} {
		goldenTables(t, name, doc)
		goldenJSON(t, name, doc)
		var back CostDocument
		readBack(t, doc, &back)
		var a, b bytes.Buffer
		if err := doc.WriteTable(&a, Style{}); err != nil {
			t.Fatal(err)
		}
		if err := back.WriteTable(&b, Style{}); err != nil {
			t.Fatal(err)
		}
		if a.String() != b.String() {
			t.Errorf("%s: read back from JSON it is another table\n%s\n%s", name, &a, &b)
		}
	}
	var b bytes.Buffer
	if err := NewCost(CostInput{CostDocument: CostDocument{By: []string{"layer"}}}).WriteTable(&b, Style{}); err != nil || b.String() != "No model requests.\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// A limit keeps the rows that cost most, in their order, and sums the others up.
func TestCostTop(t *testing.T) {
	full := sampleCost("skill")
	d := *full
	d.Rows = append([]CostRow{}, full.Rows...)
	d.limit(2)
	if len(d.Rows) != 2 || d.Rows[0].Skill != "deploy" || d.Rows[1].Skill != "" || d.Others.Rows != 2 || *d.Others.CostMicroUSD != 102 || d.Others.Tokens.sum() != 360 {
		t.Errorf("%+v, others %+v", d.Rows, d.Others)
	}
}

func TestCostLines(t *testing.T) {
	d := &CostDocument{Lines: []CostLine{
		{Time: new(time.Date(2026, 11, 30, 9, 7, 12, 5e8, time.UTC)), Session: "s", Agent: "main", Project: "=HYPERLINK(\"x\")", Model: "a,\"b\"", File: "/x\n.jsonl", Line: 3, Layer: "body", Part: "note", Skill: "@sum", Once: 5,
			Tokens: TokenSum{Input: 5}, USD: "0.000015", Basis: "exact", Final: true},
		{Session: "s", Agent: "main", File: "f", Layer: "output", Tokens: TokenSum{Output: 2}, Basis: "exact"},
	}}
	var b bytes.Buffer
	if err := Write(&b, d, FormatCSV, Style{}); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(records[1], "|"); got != `2026-11-30T09:07:12.5Z|s|main||'=HYPERLINK("x")|a,"b"||||/x\n.jsonl|3|body|note|'@sum|5|0|5|0|0|0|0|0.000015|exact|true` {
		t.Error(got)
	}
	if got := strings.Join(records[2], "|"); got != `|s|main|||||||f||output|||0|0|0|0|0|0|2||exact|false` {
		t.Error(got)
	}
	b.Reset()
	if err := Write(&b, d, FormatNDJSON, Style{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "\n"); got != 2 || !strings.Contains(b.String(), `"usd":"0.000015"`) {
		t.Error(b.String())
	}
}

// hostileCost is a document as a stranger may make one.
func hostileCost(by ...string) *CostDocument {
	long, wide := strings.Repeat("n", 300), strings.Repeat("漢字", 90)
	most := int64(math.MaxInt64)
	row := CostRow{CostKey: CostKey{Layer: "body", Part: wide, Skill: wide, Session: long, Project: "/" + long + wide, Model: long, Version: wide, Day: long, Week: wide, Month: long, Agent: wide, AgentType: long, OnBehalfOf: wide},
		Calls: math.MaxInt64, Once: most, Carried: most, Tokens: TokenSum{most / 9, most / 9, most / 9, 0, most / 9}, CostMicroUSD: &most, Basis: "exact",
		Use: &SkillCost{Listed: math.MaxInt64, Described: math.MaxInt64, ByModel: math.MaxInt64, ByUser: math.MaxInt64, Refused: math.MaxInt64, Bodies: math.MaxInt64, Reattachments: math.MaxInt64,
			Avoidable: &CostAvoidable{Uncalled: &CostAmount{Tokens: 9, CostMicroUSD: 9}}, OnBehalf: &CostAmount{Tokens: most, CostMicroUSD: most}}}
	d := CostDocument{Sessions: math.MaxInt64, Calls: math.MaxInt64, By: by, Usage: row.Tokens, CostMicroUSD: &most, Rows: []CostRow{row}, Layers: []CostRow{row},
		Avoidable: &CostAvoidable{Repeated: &CostAmount{Tokens: 9, CostMicroUSD: most / 9}},
		Client:    &CostClient{Sessions: 1, CostMicroUSD: most, Differences: []CostDifference{{Reason: wide, Calls: math.MaxInt64, CostMicroUSD: most}}},
		Unpriced:  []UnpricedCost{{Model: wide, Calls: math.MaxInt64, Tokens: most}}, Notes: CostNotes{Unfinished: math.MaxInt64, SurchargeMicroUSD: most, Surcharged: 1},
	}
	return NewCost(CostInput{CostDocument: d})
}

func hostileWhatIf() *CostDocument {
	d := hostileCost("layer")
	d.WhatIf = &CostWhatIf{Inputs: []string{"remove=" + strings.Repeat("漢字", 90)}, Assumptions: []string{strings.Repeat("n", 300)}, CostChange: CostChange{Now: d.Usage, NowMicroUSD: d.CostMicroUSD, ThenMicroUSD: new(int64(0))},
		Layers: []CostChange{{Layer: strings.Repeat("n", 300), Now: d.Usage, NowMicroUSD: d.CostMicroUSD}}}
	return NewCost(CostInput{CostDocument: *d})
}

// Projects whose paths end alike are cut where they differ; one row more than a
// screen shows is shown, not counted.
func TestCostProjects(t *testing.T) {
	in := CostInput{CostDocument: CostDocument{Sessions: 31, Calls: 31, By: []string{"project"}, Usage: TokenSum{Input: 31}, CostMicroUSD: new(int64(31_000))}}
	for i := range 31 {
		path := "/home/dev/some/where/" + strings.Repeat("x", i) + "/workspace/entire-graph"
		in.Rows = append(in.Rows, CostRow{CostKey: CostKey{Project: path}, Calls: 1, Tokens: TokenSum{Input: 1}, CostMicroUSD: new(int64(1_000))})
	}
	in.Rows[1].Project = "/srv/other/entire-graph"
	in.Rows[2].Project = "/srv/another/entire-graph"
	doc := NewCost(in)
	var b bytes.Buffer
	if err := doc.WriteTable(&b, Style{}); err != nil || strings.Contains(b.String(), "other  ") {
		t.Errorf("%v: %s", err, &b)
	}
	two := *doc
	two.Rows = doc.Rows[1:3]
	b.Reset()
	if err := two.WriteTable(&b, Style{Width: minWidth}); err != nil || !strings.Contains(b.String(), "…/other/") || !strings.Contains(b.String(), "…nother/") {
		t.Errorf("%v: %s", err, &b)
	}
}
