package cost_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/cost"
	"github.com/skilltrace/skilltrace/replay/relist"
)

func ask(t testing.TB, inputs ...string) *cost.WhatIf {
	t.Helper()
	w, err := cost.ParseWhatIf(inputs)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func layer(c *cost.Change, l replay.Layer) cost.ChangedLayer {
	for _, row := range c.Layers {
		if row.Layer == l {
			return row
		}
	}
	return cost.ChangedLayer{}
}

func changed(w *cost.WhatIf, sessions ...*replay.Session) *cost.Change {
	return sum(cost.Options{By: []cost.By{cost.ByLayer}, WhatIf: w}, sessions...).WhatIf
}

// entry is a skill that is listed.
type entry struct{ name, text string }

// prose is a text of n characters.
func prose(n int) string { return strings.Repeat("Rolls the orders of the shop. ", n/30+1)[:n] }

// listingLog is a session that lists entries, trimmed to a budget, and asks twice.
func listingLog(t testing.TB, entries []entry, limit int) *replay.Session {
	t.Helper()
	var lines []budget.Line
	var names []string
	for i, e := range entries {
		bare := "- " + e.name
		lines = append(lines, budget.Line{Full: bare + ": " + e.text, Bare: bare, Label: e.name, Text: e.text, Score: float64(len(entries) - i)})
		names = append(names, e.name)
	}
	size := budget.Size{Overflow: budget.OverflowGreedy, Unit: budget.UnitUTF16}
	content := budget.Trim(lines, limit, size).Text
	quoted, _ := json.Marshal(names)
	text, _ := json.Marshal(content)
	l := &log{session: "s"}
	l.add(`"type":"user","message":{"content":"Go"}`)
	l.add(`"type":"attachment","attachment":{"type":"skill_listing","content":%s,"isInitial":true,"skillCount":%d,"names":%s}`, text, len(names), quoted)
	tokens := 15_000 + int(replay.EstimateTokens(jsonl.Measure(content)))
	l.reply(tokens, 40, `{"type":"text","text":"Yes?"}`)
	l.add(`"type":"user","message":{"content":"Go on"}`)
	l.reply(tokens+60, 40, `{"type":"text","text":"Done."}`)
	return written(t, "s.jsonl", l.lines...)
}

func known(entries []entry, limit, window int) func(*replay.Session) *relist.Known {
	k := &relist.Known{Texts: map[string]string{}, Given: map[string]bool{}, Budget: limit, Window: window}
	for _, e := range entries {
		k.Texts[e.name], k.Given[e.name] = e.text, false
	}
	return func(*replay.Session) *relist.Known { return k }
}

// near checks a number to within a part of it.
func near(t *testing.T, what string, got, want int64, part float64) {
	t.Helper()
	if d := float64(got - want); d > part*float64(want)+2 || -d > part*float64(want)+2 {
		t.Errorf("%s: %d, want about %d", what, got, want)
	}
}

// TestRemovingBringsBack: without a skill the description of another one fits again,
// if it is known.
func TestRemovingBringsBack(t *testing.T) {
	entries := []entry{{"a", prose(3000)}, {"b", prose(3000)}, {"c", prose(3000)}}
	s := listingLog(t, entries, 8000)
	w := ask(t, "remove=a")
	alone := changed(w, s)
	now, then := layer(alone, replay.LayerListing).Now.Input, layer(alone, replay.LayerListing).Then.Input
	near(t, "half of it is left", then*2, now, 0.05)
	equal(t, "not all is known", fmt.Sprint(alone.Listings, alone.Guessed, alone.Hidden), "0 1 1")

	w.Known = known(entries, 8000, 200_000)
	whole := changed(w, s)
	near(t, "c came in its place", layer(whole, replay.LayerListing).Then.Input, now, 0.05)
	equal(t, "put together anew", fmt.Sprint(whole.Listings, whole.Guessed, whole.Hidden), "1 0 0")
	equal(t, "other", layer(whole, replay.LayerOther).Then, layer(whole, replay.LayerOther).Now)

	// A text with which the rules do not give the listing of the log is not that of the
	// session: c would have fitted.
	other := []entry{entries[0], entries[1], {"c", "Short."}}
	w.Known = known(other, 8000, 200_000)
	equal(t, "another text", changed(w, s).Guessed, 1)
}

// TestCase12Budget: what a larger budget would have shown of a demand of 146,298
// characters.
func TestCase12Budget(t *testing.T) {
	const demand = 146_298
	var entries []entry
	left := demand
	for i := range 100 {
		name := fmt.Sprintf("part-%03d", i)
		around := len("- : ") + len(name)
		if i > 0 {
			around++
		}
		n := left/(100-i) - around
		left -= around + n
		entries = append(entries, entry{name, prose(n)})
	}
	s := listingLog(t, entries, 8_000)
	for _, tt := range []struct {
		fraction       string
		window, budget int
	}{
		{"0.01", 200_000, 8_000},
		{"0.05", 200_000, 40_000},
		{"0.05", 1_000_000, 200_000},
	} {
		w := ask(t, "budget-fraction="+tt.fraction)
		w.Known = known(entries, 8_000, tt.window)
		c := changed(w, s)
		equal(t, "put together anew", fmt.Sprint(c.Listings, c.Guessed), "1 0")
		want := layer(changed(w, listingLog(t, entries, tt.budget)), replay.LayerListing).Now.Input
		near(t, fmt.Sprintf("%s of %d", tt.fraction, tt.window), layer(c, replay.LayerListing).Then.Input, want, 0.03)
	}
}

// TestCut: shorter descriptions, but not those of the client's own entries.
func TestCut(t *testing.T) {
	entries := []entry{{"a", prose(600)}, {"b", prose(600)}}
	s := listingLog(t, entries, 8_000)
	c := changed(ask(t, "cut=30"), s)
	l := layer(c, replay.LayerListing)
	near(t, "both cut", l.Then.Input*10, l.Now.Input, 0.35)
	equal(t, "whose they are is not known", c.Unowned, 1)
	w := ask(t, "cut=30")
	k := known(entries, 8_000, 200_000)
	w.Known = func(s *replay.Session) *relist.Known {
		out := *k(s)
		out.Given = map[string]bool{"a": true, "b": false}
		return &out
	}
	c = changed(w, s)
	near(t, "one cut", layer(c, replay.LayerListing).Then.Input*2, l.Now.Input, 0.2)
	equal(t, "whose they are is known", c.Unowned, 0)
}

func TestManualOnly(t *testing.T) {
	s := fixture(t, "08-loads/session.jsonl")
	c := changed(ask(t, "disable-model-invocation=notes"), s)
	equal(t, "refused", c.Refused, 2)
	body := layer(c, replay.LayerBody)
	equal(t, "bodies stay", body.Then, body.Now)
	l := layer(c, replay.LayerListing)
	if l.Then.CacheRead+l.Then.Input+l.Then.CacheWrite5m >= l.Now.CacheRead+l.Now.Input+l.Now.CacheWrite5m {
		t.Errorf("the listing takes %+v, and would have taken %+v", l.Now, l.Then)
	}
	gone := changed(ask(t, "remove=notes"), s)
	equal(t, "bodies are gone", layer(gone, replay.LayerBody).Then.Input+layer(gone, replay.LayerBody).Then.CacheRead, 0)
	equal(t, "missing", strings.Join(changed(ask(t, "remove=notes", "remove=nobody"), s).Missing, " "), "nobody")
}

// TestOtherModel: the same tokens at the prices of another model, by its own tiers.
func TestOtherModel(t *testing.T) {
	s := &replay.Session{ID: "s", Agents: []*replay.Agent{{ID: "main", Calls: []replay.APICall{
		{Message: "a", Usage: jsonl.Usage{Input: 100_000, Output: 10}, HasUsage: true, Final: true, Tail: -1, Model: "claude-opus-5"},
		{Message: "b", Usage: jsonl.Usage{Input: 100_001, WebSearches: 1}, HasUsage: true, Final: true, Tail: -1, Model: "nobody-knows-1"},
	}}}}
	c := changed(ask(t, "model=claude-haiku-5-5"), s)
	equal(t, "now", c.Total.NowMicroUSD, 500_000+250)
	// 100,000 at $0.10 and 10 at $0.50; 100,001 at $0.50; a search.
	equal(t, "then", c.Total.ThenMicroUSD, 10_000+5+50_001+10_000) // half a micro-dollar is rounded up
	equal(t, "tokens", c.Total.Then, c.Total.Now)
	equal(t, "unpriced", c.Unpriced, 0)
}

// TestNothingChanges: inputs that change nothing change nothing.
func TestNothingChanges(t *testing.T) {
	for _, name := range []string{"08-loads/session.jsonl", "13-duplicates/session.jsonl", "14-over-time/lost.jsonl", "14-over-time/copies.jsonl"} {
		s := fixture(t, name)
		c := changed(ask(t, "cut=100000"), s)
		equal(t, name+": tokens", c.Total.Then, c.Total.Now)
		equal(t, name+": money", c.Total.ThenMicroUSD, c.Total.NowMicroUSD)
	}
}

func TestParseWhatIf(t *testing.T) {
	for _, bad := range []string{"", "remove", "remove=", "cut", "cut=-1", "cut=x", "budget-fraction=0", "budget-fraction=1.5", "budget-fraction=NaN", "model=", "frob=1", "disable-model-invocation=,"} {
		if _, err := cost.ParseWhatIf([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	w := ask(t, "remove=a", "remove=b,c", "disable-model-invocation=d,,e", "cut=0", "budget-fraction=0.5", "model=m")
	equal(t, "read", fmt.Sprint(w.Remove, w.Manual, w.Cut, w.Fraction, w.Model), "[a b c] [d e] 0 0.5m")
}

// TestRemovingPutsBack: a compaction puts other bodies back in the place of one that
// would not exist.
func TestRemovingPutsBack(t *testing.T) {
	body := func(c byte) string { return strings.Repeat(string(c)+"rders of the shop are rolled. ", 700) } // over 5,000 tokens by the client's count
	l := &log{session: "s"}
	l.add(`"type":"user","message":{"content":"Go"}`)
	names := "abcdefg"
	tokens := 10_000
	var back []string
	for i := range names {
		name, text := names[i:i+1], body(names[i])
		l.reply(tokens, 10, fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":"Skill","input":{"skill":%q}}`, i, name))
		l.result(fmt.Sprint("t", i), "Launching skill: "+name)
		l.add(`"type":"user","isMeta":true,"sourceToolUseID":"t%d","message":{"content":[{"type":"text","text":%q}]}`, i, text)
		tokens += 6_000
		cut := budget.Cut16(text, 20_000-budget.Len16(budget.ReattachMarker)) + budget.ReattachMarker
		if r := budget.Reattach([]string{text}, budget.Reattachment{Limited: true, SkillTokens: 5000, TotalTokens: 25_000}); r[0].Cut {
			cut = r[0].Content
		}
		back = append([]string{fmt.Sprintf(`{"name":%q,"path":"projectSettings:%s","content":%q}`, name, name, cut)}, back...)
	}
	l.reply(tokens, 10, `{"type":"text","text":"Done."}`)
	l.add(`"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"manual","preTokens":52000}`)
	l.lines[len(l.lines)-1] = strings.Replace(l.lines[len(l.lines)-1], fmt.Sprintf(`"parentUuid":"s-%d"`, l.n-1), fmt.Sprintf(`"parentUuid":null,"logicalParentUuid":"s-%d"`, l.n-1), 1)
	l.add(`"type":"user","isCompactSummary":true,"message":{"content":"So far all went well."}`)
	l.add(`"type":"attachment","attachment":{"type":"invoked_skills","skills":[%s]}`, strings.Join(back[:5], ","))
	l.reply(40_000, 10, `{"type":"text","text":"On we go."}`)
	s := written(t, "s.jsonl", l.lines...)
	c := changed(ask(t, "remove=g"), s)
	row := layer(c, replay.LayerReattachment)
	equal(t, "compactions", fmt.Sprint(c.PutBack, c.Dropping), "1 0")
	near(t, "b came in the place of g", row.Then.Input, row.Now.Input, 0.02)
	// f and g leave room for a and b; without a third nothing is left to come.
	three := layer(changed(ask(t, "remove=e,f,g"), s), replay.LayerReattachment)
	near(t, "four are left", three.Then.Input*5, row.Now.Input*4, 0.02)
}
