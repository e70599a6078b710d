package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// hostileReplay is a document as a stranger may make one: long names without a
// blank, wide characters, the greatest numbers.
func hostileReplay() *ReplayDocument {
	long, wide := strings.Repeat("n", 300), strings.Repeat("漢字", 90)
	text := Text(strings.Repeat("x", 5000) + "  " + wide + "\x1b[2J")
	session := ReplaySession{
		ID: long, File: "/" + long + "/" + wide + ".jsonl", Client: "claude-code@" + long, Versions: []string{long, wide}, Model: wide, Window: math.MaxInt64, CWD: "/" + wide,
		Start: new(time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)), Prompts: math.MaxInt64, SlashCommands: math.MaxInt64, Calls: math.MaxInt64, Lines: math.MaxInt64,
		Inputs:      []Input{{Name: "skill files", Found: true, Source: "/" + long + ", /" + wide, Note: wide}, {Name: "settings", Note: long}},
		Assumptions: []string{long, wide},
		SkillFiles: []SkillFile{{Name: " " + long, Path: "/" + wide, State: "edited", Compared: []FileCompared{{By: "body", State: "edited", Line: 1, Diff: string(text)}},
			FrontMatter: []FrontNote{{Line: math.MaxInt64, Kind: "invalid", Text: long + wide}, {Kind: long, Key: wide, Text: wide}}, Listed: &text, ListedLine: math.MaxInt64}},
		Defects: []Defect{{Line: math.MaxInt64, Kind: "syntax", Reason: long, Lost: true}},
		Unknown: map[string]int{long: math.MaxInt64, wide: 1},
		Totals:  Totals{math.MaxInt64, math.MaxInt64 / 4, math.MaxInt64 / 4, math.MaxInt64 / 4},
		Tokens: &TokensBlock{Calls: 9, Unfinished: 1, Usage: TokenSum{math.MaxInt64, math.MaxInt64, math.MaxInt64, 0, math.MaxInt64}, CostMicroUSD: new(int64(math.MaxInt64)), Notes: []string{long},
			Layers: []LayerRow{{Layer: wide, Once: math.MaxInt64, Carried: math.MaxInt64, Tokens: TokenSum{1, 2, 3, 0, 4}, Basis: "exact"}, {Layer: long, Basis: "estimated"}}},
	}
	for _, id := range []string{"main", long, wide} {
		session.Agents = append(session.Agents, ReplayAgent{
			Agent: id, Type: wide, OnBehalfOf: long, Calls: math.MaxInt64,
			Listings: []ListingSent{{Line: 1, Skills: 2, Chars: math.MaxInt64, Names: []string{long, wide}, Cause: "start", Budget: math.MaxInt64, BudgetSource: long, Demand: math.MaxInt64, DemandAtLeast: true, DemandFrom: "files", Over: math.MaxInt64,
				Duplicates: []Duplicate{{Kind: wide, Names: []string{long, wide}}, {Kind: "exact", Names: []string{wide, wide}, SameText: true}}, Redundant: math.MaxInt64, Shown: &ShownCount{Shortened: 1, ShortenedNames: []string{wide}}},
				{Line: math.MaxInt64, Partial: true, Names: []string{long, " " + wide}, Cause: "change"}},
			Skills:      []SkillCalls{{Skill: " " + strings.Repeat("a b", 99), ByModel: math.MaxInt64 / 2, Refused: 7}, {Skill: wide, ByUser: 1}},
			Compactions: []Compaction{{Line: 9, Trigger: long, Partial: wide, Before: math.MaxInt64, After: 1, Kept: []KeptOne{{Skill: long, Cut: true}}, Dropped: []string{wide}, Reason: long}},
			Context:     []ContextSize{{Line: 1, Tokens: 1}, {Line: 2, Tokens: math.MaxInt64}},
			Checks: []Check{{Kind: "body", Verdict: "divergent", Line: math.MaxInt64, Skill: long, Rule: wide, Expected: &text, Observed: &text, Diff: string(text), Reason: wide},
				{Kind: "note", Verdict: "divergent", Observed: &text}, {Kind: "relist", Verdict: "undetermined", Line: 8, Missing: long, Reason: wide}},
			Visibility: []Visibility{{Command: long, Line: 2, Skills: Seen{replay.SeenOf(map[string]replay.Shown{wide: "full", long: "absent"})}}},
		})
	}
	return NewReplay([]ReplaySession{session})
}

func hostileTimeline() *TimelineDocument {
	long, wide := strings.Repeat("n", 300), strings.Repeat("漢字", 90)
	text := Text(long + wide)
	agent := TimelineAgent{Agent: long, Type: wide, OnBehalfOf: long}
	for n, kind := range append([]replay.EventKind{"catalogue_" + replay.EventKind(long)}, EventKinds...) {
		agent.Events = append(agent.Events, TimelineEvent{N: 1_000_000 + n, Line: math.MaxInt64, OffsetMS: new(int64(math.MaxInt64)), Kind: string(kind), Abandoned: true, Layer: "reattachment",
			Prompt: math.MaxInt64, Skill: " " + wide, Chars: math.MaxInt64, Path: "/" + long, Tool: wide, Agent: long, Trigger: wide, Before: math.MaxInt64, Skills: []string{" " + strings.Repeat("a b", 50)}, Text: &text})
	}
	return NewTimeline([]TimelineSession{{ID: long, File: "/" + long, Versions: []string{wide}, Agents: []TimelineAgent{agent}}})
}

// Every line of every table fits the screen it was made for. A command to copy
// stays in one piece, and a verbose style may have tables that are wider.
func TestWidth(t *testing.T) {
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := NewRules(table, "2.1.140", "")
	if err != nil {
		t.Fatal(err)
	}
	differing, err := NewRules(table, "2.1.332", "2.0.76")
	if err != nil {
		t.Fatal(err)
	}
	long, wide := strings.Repeat("n", 300), strings.Repeat("漢字", 90)
	hostile := hostileReplay()
	row := SessionRow{ID: long, File: "/" + long, Project: "/" + wide, Versions: []string{long, wide}, Start: new(time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)), Prompts: math.MaxInt64, Calls: math.MaxInt64,
		Skills: []SkillUses{{" " + strings.Repeat("a b", 50), math.MaxInt64}}, Tokens: TokenTotal{Output: math.MaxInt64}, Lines: math.MaxInt64, Defects: math.MaxInt64}
	text := Text(strings.Repeat(long, 50))
	recording := ConformCase{Case: "a/" + long, Client: "claude-code@" + wide, Checks: map[string]ConformCounts{}, Failures: []ConformFailure{
		{Kind: "body", Verdict: "divergent", Skill: long, File: "/" + wide, Line: 9, Expected: &text, Reason: long},
		{Kind: "body", Verdict: "undetermined", Skill: wide, Line: 9, Expected: &text, Observed: new(Text("b" + text)), Reason: wide},
	}}
	for _, kind := range replay.CheckKinds {
		recording.Checks[string(kind)] = ConformCounts{1_000_000, 2, 3}
	}
	conform := NewConform([]ConformCase{recording})
	conform.Compare(&Floor{Clients: map[string]map[string]FloorEntry{long: {wide: {5, 1}}}})
	for name, doc := range map[string]Document{
		"replay": sampleReplay(), "several": NewReplay([]ReplaySession{sampleReplay().Sessions[0], hostile.Sessions[0]}), "hostile replay": hostile,
		"timeline":         NewTimeline([]TimelineSession{NewTimelineSession(sampleSession(), TimelineFilter{}, false)}),
		"hostile timeline": hostileTimeline(),
		"sessions":         NewSessions([]SessionRow{NewSessionRow(sampleSession()), row}, 0),
		"cost":             sampleCost("skill"), "cost by project": sampleCost("project", "model"), "what if": sampleWhatIf(), "hostile what if": hostileWhatIf(),
		"hostile cost": hostileCost("skill"), "hostile cost by all": hostileCost("layer", "part", "skill", "session", "project", "model", "version", "day", "week", "month", "agent"),
		"conform": sampleConform(), "hostile conform": conform, "rules": shown, "rules that differ": differing,
	} {
		for _, width := range []int{minWidth, 41, 50, 59, 60, 71, 79, 80, 99, 100, 120} {
			for _, style := range []Style{{Width: width}, {Width: width, Color: true}, {Width: width, Verbose: true}} {
				if style.Verbose && !strings.HasSuffix(name, "replay") && !strings.HasSuffix(name, "conform") {
					continue // a grid, and nothing else
				}
				var b bytes.Buffer
				if err := doc.WriteTable(&b, style); err != nil {
					t.Fatal(err)
				}
				checkWidth(t, fmt.Sprintf("%s at %d, verbose %v", name, width, style.Verbose), b.String(), style)
			}
		}
	}
}

// checkWidth checks the lines of a table. Those of grids, which a verbose style does
// not cut, are told by their titles.
func checkWidth(t *testing.T, name, text string, style Style) {
	t.Helper()
	commands, inGrid := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		commands = commands || strings.Contains(line, "Next:")
		inGrid = inGrid || style.Verbose && (strings.HasPrefix(line, "client ") || strings.HasPrefix(line, "TOKENS "))
		inGrid = inGrid && line != ""
		if w := displayWidth(line); w > style.Width && !commands && !inGrid {
			t.Errorf("%s: a line of %d cells: %s", name, w, Truncate(line, 200))
			return
		}
	}
}

// On the narrowest screen the id of a session and its tokens are whole.
func TestNarrowSessions(t *testing.T) {
	var b bytes.Buffer
	row := NewSessionRow(sampleSession())
	row.Tokens.Input = 31_134_324
	if err := NewSessions([]SessionRow{row}, 0).WriteTable(&b, Style{Width: minWidth}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "\n3526b199 ") || !strings.Contains(text, " "+count(row.Tokens.sum())+"\n") {
		t.Errorf("got\n%s", text)
	}
}

// Where columns are cut, those stay by which rows are read, for as long as they can.
func TestNarrow(t *testing.T) {
	var b bytes.Buffer
	doc := NewTimeline([]TimelineSession{NewTimelineSession(sampleSession(), TimelineFilter{}, false)})
	if err := doc.WriteTable(&b, Style{Width: 60}); err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"line ", "time ", "agent ", "event ", "skill ", "tokens ", "note"} {
		if !strings.Contains(b.String(), title) {
			t.Errorf("%q is missing in\n%s", title, b.String())
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""},
		{"abc", 5, "abc"},
		{"abcdefg", 3, "abc|def|g"},
		{"a b  c d e", 5, "a b  |c d e"},
		{"/home/dev/file", 8, "/home/|dev/file"},
		{"漢字漢", 4, "漢字|漢"},
		{"漢字", 1, "漢|字"},
		{"ab\x1b[31mcd\x1b[0me", 4, "ab\x1b[31mcd\x1b[0m|e"},
	} {
		pieces := fold(c.text, c.width)
		if got := strings.Join(pieces, "|"); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
