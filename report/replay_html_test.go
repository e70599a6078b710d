package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// sampleDetail is the detail of the made-up session.
func sampleDetail(s *replay.Session) *ReplayDetail {
	d := &ReplayDetail{Steps: map[*replay.APICall]StepCharge{}, Ledger: []LedgerRow{
		{Agent: "main", Layer: "listing", Part: "line", Skill: "big-a", Calls: 7, Once: 300, Carried: 1800, Tokens: TokenSum{CacheRead: 2100}, CostMicroUSD: new(int64(630)), Basis: "anchored"},
		{Agent: "main", Layer: "body", Part: "body", Skill: "big-a", Calls: 5, Once: 9000, Carried: 27000, Tokens: TokenSum{CacheRead: 30000, CacheWrite5m: 6000}, CostMicroUSD: new(int64(31500)), Basis: "estimated"},
		{Agent: "a8c17d3e9", Layer: "other", Part: "unseen", Calls: 1, Once: 6, Tokens: TokenSum{Input: 6, Output: 4}, Basis: "estimated"},
	}}
	for _, a := range s.Agents {
		for i := range a.Calls {
			c := &a.Calls[i]
			n := c.Usage.Prompt()
			d.Steps[c] = StepCharge{Layers: LayerTokens{Listing: n / 20, Body: n / 4, Call: n / 50, Other: n - n/20 - n/4 - n/50}, CostMicroUSD: new(int64(12345 + i))}
		}
	}
	return d
}

func detailedReplay() *ReplayDocument {
	r := sampleResult()
	// What the second prompt saw comes from the listing of the log, one line of it bare.
	names := r.Session.Agents[0].Events[1].Listing
	names.Content = strings.Replace(names.Content, "- deploy: Does the work of deploy. Use when asked.", "- deploy", 1)
	r.Agents[0].Predicted = append(r.Agents[0].Predicted, replay.Effect{Kind: replay.Listing, Cause: 0, Entries: []replay.ListedEntry{{Name: "deploy", Full: "Ships <b>all</b> of it."}}})
	doc := NewReplay([]ReplaySession{NewReplaySession(ReplayInput{Result: r, Read: jsonl.Stats{Lines: 1216, Blank: 15, RecordLines: 1200, LostLines: 1, Records: 1200}, Budget: 8000, BudgetSource: "1 % of 200,000 tokens, window assumed", ListingSize: 190,
		Demand: &Demand{Size: 9000, From: "files", AtLeast: true}, InScope: true, Rules: sampleRules, Tokens: sampleTokens(), SkillFiles: sampleSkillFiles(), Detail: sampleDetail(r.Session)})})
	// The made-up states name no listing; the prompts of a log do.
	for i := range doc.Sessions[0].Agents[0].Visibility {
		doc.Sessions[0].Agents[0].Visibility[i].Listings = []int{1}
	}
	return doc
}

func html(t *testing.T, doc htmlWriter) string {
	t.Helper()
	var b bytes.Buffer
	if err := doc.WriteHTML(&b, Style{Home: "/home/dev"}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// frameOf is a page without the style and the script that all have.
func frameOf(text string) string {
	for _, part := range []string{"style", "script"} {
		text = regexp.MustCompile(`(?s)<`+part+`>.*</`+part+`>`).ReplaceAllString(text, "<"+part+"></"+part+">")
	}
	return regexp.MustCompile(`sha256-[^= ]*=`).ReplaceAllString(text, "sha256-")
}

func TestReplayHTML(t *testing.T) {
	doc := detailedReplay()
	goldenJSON(t, "pages/replay", doc)
	first := html(t, doc)
	golden(t, "pages/replay.html", []byte(frameOf(first)))
	if want := "<del>Ships &lt;b&gt;all&lt;/b&gt; of it.</del>"; !strings.Contains(first, want) {
		t.Errorf("what was dropped is not struck out: %s", want)
	}
	var back ReplayDocument
	readBack(t, doc, &back)
	if html(t, &back) != first {
		t.Error("a document read back from JSON makes another page")
	}
	// One that was saved without the detail says so, and what it has is shown.
	bare := html(t, sampleReplay())
	for _, want := range []string{"saved without --verbose", "rect class=\"step\"", "all layers", "body.arguments"} {
		if !strings.Contains(bare, want) {
			t.Errorf("a page without detail lacks %q", want)
		}
	}
	many := html(t, NewReplay([]ReplaySession{doc.Sessions[0], doc.Sessions[0]}))
	if strings.Count(many, `<div class="session"`) != 2 || !strings.Contains(many, `href="#s1"`) {
		t.Error("two sessions make another page")
	}
	html(t, NewReplay(nil))
}

// A chart has a step for each request, and each step leads somewhere.
func TestReplayHTMLChart(t *testing.T) {
	doc := detailedReplay()
	text := html(t, doc)
	if got, want := strings.Count(text, `<rect class="step"`), len(doc.Sessions[0].Agents[0].Context)+len(doc.Sessions[0].Agents[1].Context); got != want {
		t.Errorf("%d steps, want %d", got, want)
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if ids[m[1]] {
			t.Errorf("%s stands twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !ids[m[1]] {
			t.Errorf("#%s leads nowhere", m[1])
		}
	}
	if n := strings.Count(text, `class="rule"`); n != 1 {
		t.Errorf("%d compactions are marked, want 1", n)
	}
}

// hostileHTML is a session whose every text tries to leave its place.
func hostileHTML() *ReplayDocument {
	evil := "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"' onclick=alert(3) \x1b[31m\x1b]0;x\a\u202eabc\u2066\u0000 javascript:alert(4) {{.}} " + strings.Repeat("A", 1<<16)
	text := Text(evil)
	s := ReplaySession{ID: evil, File: evil, Client: evil, Versions: []string{evil}, Described: evil, Model: evil, Window: math.MaxInt64, CWD: evil, Prompts: math.MaxInt64, Calls: 1,
		Inputs: []Input{{evil, false, evil, evil}, {evil, true, evil, evil}}, Assumptions: []string{evil}, Defects: []Defect{{evil, 1, evil, evil, true}}, Unknown: map[string]int{evil: 3},
		SkillFiles: []SkillFile{{Name: evil, Path: evil, State: evil, ComparedBy: evil, Compared: []FileCompared{{By: evil, State: evil, Diff: evil, Seen: &text, Now: &text}}, FrontMatter: []FrontNote{{1, evil, evil, evil}}}},
		Totals:     Totals{Divergent: 1}, Tokens: &TokensBlock{Calls: 1, Layers: []LayerRow{{Layer: evil, Once: math.MaxInt64, CostMicroUSD: new(int64(math.MaxInt64)), Basis: evil}}, CostMicroUSD: new(int64(math.MaxInt64)), Notes: []string{evil}},
		Ledger: []LedgerRow{{Agent: evil, Layer: evil, Part: evil, Skill: evil, CostMicroUSD: new(int64(math.MaxInt64)), Basis: evil}}}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.Start, s.End = &at, &at
	for range 3 {
		a := ReplayAgent{Agent: evil, Type: evil, OnBehalfOf: evil, StartedBy: evil, Calls: 2,
			Listings:    []ListingSent{{Names: []string{evil}, Budget: math.MaxInt64, Size: math.MaxInt64, BudgetSource: evil, Demand: 1, Over: 1, Entries: []ListedEntry{{Name: evil, State: "name_only", Text: &text, Whole: &text, WholeFrom: evil}, {Name: "b", State: evil}}}},
			Skills:      []SkillCalls{{Skill: evil, ByModel: 1, Line: 2}},
			Compactions: []Compaction{{Line: 2, Trigger: evil, Partial: evil, Kept: []KeptOne{{Skill: evil}}, Dropped: []string{evil}, Reason: evil, CallsBefore: 1}},
			Context:     []ContextSize{{Line: 1, Tokens: math.MaxInt64, ContextDetail: &ContextDetail{Event: 1, Model: evil, Layers: &LayerTokens{Listing: math.MaxInt64, Other: -5}}}, {Line: 2, Tokens: 0}},
			Checks:      []Check{{Kind: evil, Verdict: "divergent", Line: 1, Skill: evil, Rule: evil, Expected: &text, Observed: new(text + "x"), Diff: evil, Reason: evil}, {Kind: evil, Verdict: "divergent", Observed: &text}, {Kind: "body", Verdict: "undetermined", Missing: evil}},
			Visibility:  []Visibility{{Prompt: 1, Line: 1, Command: evil, Listings: []int{1, 99, -1}, Skills: Seen{replay.SeenOf(map[string]replay.Shown{evil: replay.Shown(evil), "b": "full"})}}},
		}
		for n, kind := range EventKinds {
			a.Events = append(a.Events, TimelineEvent{N: n + 1, Line: n, Kind: string(kind), Layer: evil, Skill: evil, Args: &text, Tool: evil, Path: evil, Skills: []string{evil}, Trigger: evil, Text: &text, Agent: evil, ToolUse: evil})
		}
		a.Events = append(a.Events, TimelineEvent{N: len(a.Events) + 1, Kind: evil, Text: &text})
		s.Agents = append(s.Agents, a)
	}
	return NewReplay([]ReplaySession{s, s})
}

func TestReplayHTMLHostile(t *testing.T) {
	doc := hostileHTML()
	harmless(t, html(t, doc))
	doc.Sessions = doc.Sessions[:1]
	harmless(t, html(t, doc))
}

// harmless checks that no text of a page left its place, that none acts on a terminal
// or turns the line round, and that none is long.
func harmless(t *testing.T, text string) {
	t.Helper()
	rest := frameOf(text)
	if n := strings.Count(rest, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	for _, bad := range []string{"<img", " onerror=alert(2)>", `" onclick`, "</script><script>alert"} {
		if strings.Contains(rest, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !utf8.ValidString(text) {
		t.Error("the page is not UTF-8")
	}
	for _, r := range strings.ReplaceAll(text, "\n", "") {
		if unsafe(r) {
			at := strings.IndexRune(text, r)
			t.Errorf("the page holds %U: %.200q", r, text[max(0, at-100):])
			break
		}
	}
	// Nothing is loaded, and no attribute has a style or a handler.
	if m := regexp.MustCompile(`(?i)<[a-z]+(\s+[a-z0-9-]+(="[^"]*")?)*\s+(src|srcset|style|on[a-z]+|action|data)=`).FindString(rest); m != "" {
		t.Errorf("an attribute that may not be: %.200s", m)
	}
	for _, m := range regexp.MustCompile(`(?:href|xlink:href)="([^"]*)"`).FindAllStringSubmatch(rest, -1) {
		if !strings.HasPrefix(m[1], "#") {
			t.Errorf("a link to %.100s", m[1])
		}
	}
	if len(text) > 5<<20 {
		t.Errorf("the page is of %d bytes", len(text))
	}
}

// However much a document holds, its page is not larger than opens at once.
// Sessions beyond those of a page have a row with the command that opens theirs, in a
// column of its own: in that of the names it would push the others out of the page.
func TestReplayHTMLMany(t *testing.T) {
	doc := &ReplayDocument{}
	for n := range pageSessions + 2 {
		doc.Sessions = append(doc.Sessions, ReplaySession{ID: fmt.Sprintf("%08d-0000", n), File: fmt.Sprintf("/logs/a b/%d.jsonl", n)})
	}
	text := html(t, doc)
	if n := strings.Count(text, `<td class="lo t name"><code>skilltrace replay &#39;/logs/a b/`); n != 2 || strings.Count(text, ".jsonl&#39; --open</code>") != 2 {
		t.Errorf("%d sessions have a command", n)
	}
	if !strings.Contains(text, `<th scope="row" class="s">00000001</th>`) || !strings.Contains(text, `<th scope="col" class="lo">page</th>`) {
		t.Error("a session that is not on the page has no row with its name")
	}
	doc.Sessions = doc.Sessions[:2]
	if text := html(t, doc); strings.Contains(text, `<th scope="col" class="lo">page</th>`) {
		t.Error("a column of commands without any")
	}
}

func TestReplayHTMLBounded(t *testing.T) {
	s := ReplaySession{ID: "17d251b9-0000", Tokens: sampleTokens()}
	long := Text(strings.Repeat("<&\"'>\u202e", 200))
	seen := map[string]replay.Shown{}
	listing := ListingSent{Budget: 8000}
	for n := range 200 {
		name := fmt.Sprintf("skill-%d", n)
		seen[name] = replay.ShownNameOnly
		listing.Entries = append(listing.Entries, ListedEntry{Name: name, State: "name_only", Whole: &long})
	}
	for agent := range 12 {
		a := ReplayAgent{Agent: fmt.Sprintf("agent-%d", agent), Listings: []ListingSent{listing}}
		for n := range 500 {
			a.Events = append(a.Events, TimelineEvent{N: n + 1, Line: n, Kind: []string{"prompt", "turn", "skill_call", "touch"}[n%4], Prompt: n, Skill: "x", Text: &long})
			a.Context = append(a.Context, ContextSize{Line: n, Tokens: int64(n), ContextDetail: &ContextDetail{Event: n + 1, Layers: &LayerTokens{Body: int64(n)}}})
			a.Checks = append(a.Checks, Check{Kind: "body", Verdict: "divergent", Expected: &long, Observed: new(long + "x"), Diff: "x"}, Check{Kind: "body", Verdict: "undetermined", Reason: fmt.Sprint(n)})
			s.Ledger = append(s.Ledger, LedgerRow{Agent: "main", Layer: "body", Part: "body", Skill: fmt.Sprint(n)})
			seen[fmt.Sprintf("skill-%d", n%200)] = []replay.Shown{replay.ShownFull, replay.ShownNameOnly}[n/100%2]
			a.Visibility = append(a.Visibility, Visibility{Prompt: n + 1, Line: n, Listings: []int{1}, Skills: Seen{replay.SeenOf(seen)}})
			a.Compactions = append(a.Compactions, Compaction{Line: n, CallsBefore: n, Reason: string(long)})
		}
		s.Agents = append(s.Agents, a)
		s.Totals.Divergent += 500
	}
	for _, doc := range []*ReplayDocument{{Sessions: []ReplaySession{s}}, {Sessions: []ReplaySession{s, s, s}}} {
		text := html(t, doc)
		if len(text) > 5_000_000 {
			t.Errorf("%d sessions make a page of %d bytes", len(doc.Sessions), len(text))
		}
		for _, want := range []string{"have a row", "Each step stands for up to", "more are not shown", "of less cost", "more state"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page does not say %q", want)
			}
		}
	}
}

func TestChoose(t *testing.T) {
	var events []TimelineEvent
	for n := range 100 {
		events = append(events, TimelineEvent{N: n + 1, Kind: []string{"prompt", "turn", "touch", "body"}[n%4]})
	}
	for _, most := range []int{0, 1, 25, 40, 60, 80, 100, 200} {
		got := choose(events, most)
		if len(got) != min(most, 100) {
			t.Errorf("%d events for %d rows", len(got), most)
		}
		kinds := map[string]int{}
		for _, i := range got {
			kinds[events[i].Kind]++
		}
		if most >= 25 && kinds["prompt"] != 25 || most == 80 && (kinds["touch"] != 25 || kinds["turn"] != 5) {
			t.Errorf("%d rows: %v", most, kinds)
		}
	}
}

// The detail survives a round through JSON where its numbers are large.
func TestContextDetailJSON(t *testing.T) {
	want := ContextSize{Line: 3, Tokens: 1 << 53, ContextDetail: &ContextDetail{Event: 2, Layers: &LayerTokens{Other: 1 << 53}, CostMicroUSD: new(int64(7))}}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got ContextSize
	if err := json.Unmarshal(data, &got); err != nil || got.Layers.Other != 1<<53 || *got.CostMicroUSD != 7 || got.Event != 2 {
		t.Errorf("%s: %+v, %v", data, got, err)
	}
}

func TestReplayRedact(t *testing.T) {
	doc := detailedReplay()
	before := html(t, doc)
	doc.Redact("/home/dev")
	after := html(t, doc)
	var b strings.Builder
	if err := WriteJSON(&b, doc); err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{"do all the work", "fix: a", "Do it  well with", "args “now”", "resumed</td>"} {
		if !strings.Contains(before, private) {
			t.Errorf("%q is not in the page to begin with", private)
		}
		if strings.Contains(after, private) || strings.Contains(b.String(), private) {
			t.Errorf("%q stays", private)
		}
	}
	for _, public := range []string{"big-a", "Ships &lt;b&gt;all", "[redacted, ", "~/shop", "Does the work of"} {
		if !strings.Contains(after, public) {
			t.Errorf("%q goes", public)
		}
	}
	if strings.Contains(b.String(), "/home/dev") || strings.Contains(b.String(), "-home-dev") {
		t.Error("the home stays")
	}
	validate(t, []byte(b.String()))
	doc.Redact("/home/dev") // again changes nothing that it must not
}
