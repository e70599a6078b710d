package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func detailedCost() *CostDocument {
	at := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	row := func(key CostKey, cost int64, use *SkillCost) CostRow {
		return CostRow{CostKey: key, Sessions: 1, Calls: 3, Once: 100, Carried: 900, Tokens: TokenSum{CacheRead: 800, CacheWrite5m: 150, Input: 50}, CostMicroUSD: &cost, Use: use}
	}
	return NewCost(CostInput{CostDocument: CostDocument{Sessions: 2, Calls: 6, By: []string{"model"}, PricesAsOf: "2026-11-30", Timezone: "Europe/Berlin", Usage: TokenSum{CacheRead: 1600, CacheWrite5m: 300, Input: 100, Output: 40}, CostMicroUSD: new(int64(90_000)),
		Layers:    []CostRow{row(CostKey{Layer: "listing"}, 20_000, nil), row(CostKey{Layer: "body"}, 30_000, nil), row(CostKey{Layer: "other"}, 40_000, nil)},
		Rows:      []CostRow{row(CostKey{Model: "claude-sonnet-4-5"}, 90_000, nil)},
		Avoidable: &CostAvoidable{Repeated: &CostAmount{Tokens: 10, CostMicroUSD: 1000}}, Unpriced: []UnpricedCost{{Model: "<b>new</b>", Calls: 1, Tokens: 5}}, Notes: CostNotes{Unfinished: 1},
		Days: []CostRow{row(CostKey{Day: "2026-11-26", Layer: "listing"}, 5_000, nil), row(CostKey{Day: "2026-11-28", Layer: "listing"}, 15_000, nil), row(CostKey{Day: "2026-11-28", Layer: "body"}, 30_000, nil), row(CostKey{Day: "2026-11-28", Layer: "other"}, 40_000, nil), row(CostKey{Layer: "other"}, 0, nil)},
		Skills: []CostRow{row(CostKey{}, 40_000, nil), row(CostKey{Skill: "deploy"}, 30_000, &SkillCost{Listed: 2, Described: 2, ByModel: 3, Bodies: 3, OnBehalf: &CostAmount{Tokens: 9, CostMicroUSD: 900}}), row(CostKey{Skill: "commit"}, 10_000, &SkillCost{Listed: 2, ByUser: 1, Refused: 1, Bodies: 1}),
			row(CostKey{Skill: "idle\u202e"}, 10_000, &SkillCost{Listed: 2, Avoidable: &CostAvoidable{Uncalled: &CostAmount{Tokens: 4, CostMicroUSD: 10_000}}})},
		SessionRows: []CostSession{{CostRow: row(CostKey{Session: "3526b199-4eb6-4c80-a0d9-21374766226c"}, 60_000, nil), File: "/home/dev/my logs/it's.jsonl", Start: &at}, {CostRow: row(CostKey{Session: "aaaaaaaa-4eb6"}, 30_000, nil)}},
	}})
}

func TestCostHTML(t *testing.T) {
	doc := detailedCost()
	goldenJSON(t, "pages/cost", doc)
	first := html(t, doc)
	golden(t, "pages/cost.html", []byte(frameOf(first)))
	back := CostDocument{saved: true}
	readBack(t, doc, &back)
	if html(t, &back) != first {
		t.Error("a document read back from JSON makes another page")
	}
	for _, want := range []string{"Cost by day and layer", "1 skill was listed and never called, for $0.0100", "day-2", `idle\u202e`, "&lt;b&gt;new&lt;/b&gt;", "deploy", "it&#39;\\&#39;&#39;s.jsonl&#39; --open"} {
		if !strings.Contains(first, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, unwanted := range []string{">0.0 %<", ">0.0%<"} {
		if strings.Contains(first, unwanted) {
			t.Errorf("the page has %q", unwanted)
		}
	}
	if _, never, _ := strings.Cut(first, `id="never"`); strings.Contains(strings.SplitN(never, "</section>", 2)[0], "by the model") {
		t.Error("skills that were never called have a column of calls")
	}
	harmless(t, first)
	doc.Days, doc.Skills, doc.SessionRows = nil, nil, nil
	if text := html(t, doc); !strings.Contains(text, "saved without --verbose") || strings.Contains(text, `id="days"`) {
		t.Error("a page without detail")
	}
}

func TestCostHTMLHostile(t *testing.T) {
	evil := "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"' onclick=alert(3) \x1b[31m\u202e" + strings.Repeat("<", 1<<14)
	doc := detailedCost()
	doc.By = []string{"layer", "part", "skill", "session", "project", "model", "version", "day", "week", "month", "agent"}
	for n := range 3000 {
		key := CostKey{evil, evil, fmt.Sprint(evil, n), evil, evil, evil, evil, evil, evil, evil, evil, evil, evil}
		row := CostRow{CostKey: key, CostMicroUSD: new(int64(math.MaxInt64 / 4000)), Basis: evil, Use: &SkillCost{Listed: n % 2}}
		doc.Rows = append(doc.Rows, row)
		doc.Skills = append(doc.Skills, row)
		doc.SessionRows = append(doc.SessionRows, CostSession{CostRow: row, File: evil[:200]})
		row.Day = time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		doc.Days = append(doc.Days, row)
	}
	harmless(t, html(t, doc))
}

// A page writes a layer's money and share as the table does, small ones too.
func TestCostHTMLSmall(t *testing.T) {
	doc := detailedCost()
	for i, n := range []int64{8_349, 40, 81_611} {
		doc.Layers[i].CostMicroUSD, doc.Layers[i].Share = new(n), float64(n)/90_000
	}
	_, layers, _ := strings.Cut(html(t, doc), `id="layers"`)
	layers, _, _ = strings.Cut(layers, "</section>")
	for _, want := range []string{">$0.0084<", ">9.3%<", ">$0.0000<", ">&lt;0.1%<", ">$0.0816<", ">90.7%<"} {
		if !strings.Contains(layers, want) {
			t.Errorf("the layers lack %q", want)
		}
	}
}

// Days between have their place; many become weeks.
func TestCalendar(t *testing.T) {
	for _, c := range []struct {
		days  []string
		want  string
		count int
		first string
	}{
		{[]string{"2026-11-26", "2026-11-28"}, "day", 3, "2026-11-26"},
		{[]string{"2026-01-01", "2026-11-28"}, "week", 48, "2025-12-29"},
		{[]string{"0001-01-01", "2026-11-28"}, "week", 2, "0001-01-01"},
	} {
		sums := map[string][]int64{}
		for _, d := range c.days {
			sums[d] = []int64{1}
		}
		keys, out, what := calendar(c.days, sums, 1)
		var sum int64
		for _, k := range keys {
			sum += out[k][0]
		}
		if what != c.want || len(keys) != c.count || keys[0] != c.first || sum != 2 {
			t.Errorf("%v: %d of %s from %s, sum %d", c.days, len(keys), what, keys[0], sum)
		}
	}
}
