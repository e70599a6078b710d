package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

func TestTimeline(t *testing.T) {
	doc := NewTimeline([]TimelineSession{NewTimelineSession(sampleSession(), TimelineFilter{}, false)})
	goldenTables(t, "timeline", doc)
	goldenJSON(t, "timeline", doc)

	full := NewTimeline([]TimelineSession{NewTimelineSession(sampleSession(), TimelineFilter{}, true)})
	for _, e := range full.Sessions[0].Agents[0].Events {
		if e.Effect && e.Text == nil {
			t.Errorf("event %d, %s, has no text", e.N, e.Kind)
		}
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, full); err != nil {
		t.Fatal(err)
	}
	validate(t, b.Bytes())
	if err := NewTimeline(nil).WriteTable(&b, Style{}); err != nil {
		t.Fatal(err)
	}
}

func TestTimelineFilter(t *testing.T) {
	for _, c := range []struct {
		filter TimelineFilter
		want   string
	}{
		{TimelineFilter{Kinds: []string{"compaction"}}, "main: 13; a8c17d3e9:"},
		{TimelineFilter{Kinds: []string{"effect"}, Agents: []string{"main"}}, "main: 2 5 6 8 10 14 15 20 22 23 25"},
		{TimelineFilter{Agents: []string{"a8c1"}}, "a8c17d3e9: 1 2"},
		{TimelineFilter{Skills: []string{"late-one"}}, "main: 20; a8c17d3e9:"},
		{TimelineFilter{Skills: []string{"commit"}, Kinds: []string{"slash", "body"}, Agents: []string{"main"}}, "main: 9 10"},
	} {
		doc := NewTimeline([]TimelineSession{NewTimelineSession(sampleSession(), c.filter, false)})
		var agents []string
		for _, a := range doc.Sessions[0].Agents {
			text := a.Agent + ":"
			for _, e := range a.Events {
				text += " " + count(e.N)
			}
			agents = append(agents, text)
		}
		if got := strings.Join(agents, "; "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.filter, got, c.want)
		}
	}
}

func TestSessions(t *testing.T) {
	older := sampleSession()
	older.ID, older.File, older.CWD = "0a1b2c3d-0000", "/home/dev/a.jsonl", "/srv/very/long/path/to/some/checkout/of/the/shop"
	older.Start = older.Start.Add(-time.Hour)
	older.Versions = []string{"2.1.113", "2.1.140", "2.1.332"}
	none := &replay.Session{ID: "ffff", File: "/home/dev/empty.jsonl"}
	newest := NewSessionRow(sampleSession())
	newest.InScope = true
	newest.Charge(dollars(t, "0.43"))
	doc := NewSessions([]SessionRow{newest, NewSessionRow(none), NewSessionRow(older)}, 0)
	goldenTables(t, "sessions", doc)
	goldenJSON(t, "sessions", doc)
	if got := NewSessions(doc.Sessions, 2); got.Omitted != 1 || got.Sessions[1].ID != sampleSession().ID {
		t.Errorf("limited: %+v", got)
	}
	var back SessionsDocument
	readBack(t, doc, &back)
	var b bytes.Buffer
	if err := NewSessions(nil, 0).WriteTable(&b, Style{}); err != nil || b.String() != "No sessions.\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func sampleConform() *ConformDocument {
	return NewConform([]ConformCase{
		{Case: "lifecycle/compact/2.1.332", Client: "claude-code@2.1.332", Checks: map[string]ConformCounts{"listing": {Match: 1}, "body": {Match: 1044, Divergent: 1}, "relist": {Match: 3, Undetermined: 1}},
			Failures: []ConformFailure{
				NewFailure(replay.Check{Kind: replay.CheckBody, Verdict: replay.Divergent, Where: at(24), Agent: "main", Skill: "big-a", Expected: "a b", Observed: "a c", Reason: "words of the arguments"}),
				NewFailure(replay.Check{Kind: replay.CheckRelist, Verdict: replay.Undetermined, Where: replay.Where{Line: 82}, Agent: "a8c17d3e9", Reason: "when the client noticed the file is not in the log"}),
			}},
		{Case: "listing/probe/2.1.90", Client: "claude-code@2.1.90", Checks: map[string]ConformCounts{"listing": {Match: 2}}},
		{Case: "listing/cap/2.1.332", Client: "claude-code@2.1.332"},
	})
}

func TestConform(t *testing.T) {
	doc := sampleConform()
	goldenTables(t, "conform", doc)
	goldenJSON(t, "conform", doc)
	if doc.Divergent() != 1 {
		t.Errorf("divergent %d", doc.Divergent())
	}
	var b bytes.Buffer
	if err := NewConform(nil).WriteTable(&b, Style{}); err != nil || b.String() != "No recordings.\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestFloor(t *testing.T) {
	doc := sampleConform()
	raised := doc.Compare(nil)
	if doc.Fell() || raised.Clients["claude-code@2.1.332"]["body"] != (FloorEntry{1044, 1}) {
		t.Errorf("first floor: %+v, fell %v", raised, doc.Fell())
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, raised); err != nil {
		t.Fatal(err)
	}
	validate(t, b.Bytes())
	floor, err := ReadFloor(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if again := doc.Compare(floor); doc.Fell() || len(doc.Floor.Rose) > 0 || len(again.Clients) != 2 {
		t.Errorf("the same run: %+v", doc.Floor)
	}
	floor.Clients["claude-code@2.1.332"]["body"] = FloorEntry{1046, 0}
	floor.Clients["claude-code@2.1.332"]["relist"] = FloorEntry{2, 1}
	floor.Clients["claude-code@2.1.400"] = map[string]FloorEntry{"note": {5, 0}}
	raised = doc.Compare(floor)
	if len(doc.Floor.Fell) != 2 || len(doc.Floor.Rose) != 1 || !doc.Fell() {
		t.Errorf("fell: %+v", doc.Floor)
	}
	if got := raised.Clients["claude-code@2.1.332"]["relist"]; got != (FloorEntry{3, 0}) {
		t.Errorf("raised relist: %+v", got)
	}
	if got := raised.Clients["claude-code@2.1.332"]["body"]; got != (FloorEntry{1046, 0}) {
		t.Errorf("body must not sink: %+v", got)
	}
	goldenJSON(t, "conform-floor", doc)
	b.Reset()
	if err := doc.WriteTable(&b, Style{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "conform-floor.txt", b.Bytes())
	for _, bad := range []string{"", "[]", `{"schema":"skilltrace/replay@1"}`} {
		if _, err := ReadFloor([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a floor", bad)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	order := []string{"", "a", "claude-code@2.0.9", "claude-code@2.0.76", "claude-code@2.1.90", "claude-code@2.1.113", "claude-code@2.1.113-dev", "mini-cc@1"}
	for i := range order {
		for j := range order {
			if got := compareVersions(order[i], order[j]); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%q against %q: %d", order[i], order[j], got)
			}
		}
	}
}

func TestRules(t *testing.T) {
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := NewRules(table, "2.1.140", "")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := doc.WriteTable(&b, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"claude-code 2.1.140: recorded", "listing.overflow", "Listing budget"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if w := displayWidth(strings.TrimSuffix(line, "\n")); w > DefaultWidth {
			t.Errorf("%d cells: %s", w, line)
		}
	}
	b.Reset()
	if err := WriteJSON(&b, doc); err != nil {
		t.Fatal(err)
	}
	validate(t, b.Bytes())

	diff, err := NewRules(table, "2.1.332", "2.1.140")
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := diff.WriteTable(&b, Style{}); err != nil || !strings.Contains(b.String(), "2.1.332 against 2.1.140") {
		t.Errorf("%s, %v", b.String(), err)
	}
	b.Reset()
	if err := WriteJSON(&b, diff); err != nil {
		t.Fatal(err)
	}
	validate(t, b.Bytes())
	b.Reset()
	if err := diff.WriteReference(&b); err != nil || !strings.HasPrefix(b.String(), "<!-- Generated") {
		t.Errorf("markdown: %v", err)
	}
	if _, err := NewRules(table, "banana", ""); err == nil {
		t.Error("banana is no version")
	}
}

func dollars(t *testing.T, text string) budget.Amount {
	t.Helper()
	amount, err := budget.ParseAmount(text)
	if err != nil {
		t.Fatal(err)
	}
	return amount
}

// A copied request stands in the row of each log, and once in the sum; what a row
// costs does not depend on the others.
func TestSessionsCopies(t *testing.T) {
	s := sampleSession()
	original, fork := NewSessionRow(s), NewSessionRow(s)
	original.Charge(dollars(t, "0.43"))
	fork.Charge(dollars(t, "0.4300049"))
	calls := 0
	for _, a := range s.Agents {
		for i := range a.Calls {
			fork.Copied(&a.Calls[i], dollars(t, "0"))
			calls++
		}
	}
	fork.Copied(&replay.APICall{}, dollars(t, "0.43"))
	doc := NewSessions([]SessionRow{original, fork}, 0)
	if n := doc.Total; n.Calls != calls-1 || n.CopiedCalls != calls+1 || n.Tokens != original.Tokens || *n.CostMicroUSD != 430_005 {
		t.Errorf("%+v", n)
	}
	var b bytes.Buffer
	if err := doc.WriteTable(&b, Style{}); err != nil || strings.Count(b.String(), "$0.4300") != 3 || !strings.Contains(b.String(), "calls copied from other logs") {
		t.Errorf("%s, %v", &b, err)
	}
}

// What is offered next can be done: a log without rules is not replayed.
func TestSessionsNext(t *testing.T) {
	row := NewSessionRow(sampleSession())
	row.File = "a.jsonl"
	old := row
	old.File, old.TooOld = "b.jsonl", true
	for want, rows := range map[string][]SessionRow{"skilltrace replay a.jsonl": {row, old}, "skilltrace timeline b.jsonl": {old}} {
		if got := NewSessions(rows, 0).next(Style{}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
