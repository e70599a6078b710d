package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// at is the evidence for line n of the made-up log.
func at(n int) replay.Where {
	return replay.Where{File: "/home/dev/.claude/projects/-home-dev-shop/3526b199-4eb6-4c80-a0d9-21374766226c.jsonl", Line: n,
		UUID: "00000000-0000-4000-8000-" + strings.Repeat("0", 9) + string([]byte{byte('0' + n/100%10), byte('0' + n/10%10), byte('0' + n%10)}),
		Time: time.Date(2026, 11, 28, 9, 0, n, 0, time.UTC)}
}

func usage(input, read, write, output int64) jsonl.Usage {
	return jsonl.Usage{Input: input, CacheRead: read, CacheWrite: write, CacheWrite5m: write, HasSplit: true, Output: output}
}

// sampleSession is a session with all that a screen shows: calls, a note, a
// refusal, a typed skill, two compactions, a fork, hostile names.
func sampleSession() *replay.Session {
	file := at(1).File
	names := []string{"big-a", "big-b", "commit", "deploy", "late-one"}
	listing := func(initial bool, names ...string) *jsonl.Attachment {
		text := ""
		for i, n := range names {
			if i > 0 {
				text += "\n"
			}
			text += "- " + n + ": Does the work of " + n + ". Use when asked."
		}
		return &jsonl.Attachment{Type: "skill_listing", Content: text, Initial: initial, HasInitial: true, Names: names, HasNames: true, Count: len(names), HasCount: true}
	}
	body := func(name string, n int) string {
		return "Base directory for this skill: /home/dev/.claude/skills/" + name + "\n\n" + strings.Repeat("Do it well.\n", n)
	}
	first, resent, delta := listing(true, names[:4]...), listing(true, names[:4]...), listing(false, "late-one")
	main := &replay.Agent{ID: "main", File: file, Prompts: 3, Slashes: 2, Events: []replay.Event{
		{Kind: replay.Prompt, Where: at(3), Parent: -1, PromptN: 1, Text: "do all the work\nand \x1b[31mquickly"},
		{Kind: replay.Listing, Where: at(7), Parent: 0, PromptN: 1, Text: first.Content, Listing: first},
		{Kind: replay.Turn, Where: at(21), Parent: 1, PromptN: 1, Message: "msg_1"},
		{Kind: replay.SkillCall, Where: at(22), Parent: 2, PromptN: 1, Skill: "big-a", ToolUse: "toolu_1", Message: "msg_1", ToolPosition: 1, SkillPosition: 1, HasArgs: true, Args: "now"},
		{Kind: replay.Launched, Where: at(23), Parent: 3, PromptN: 1, Skill: "big-a", ToolUse: "toolu_1", Text: "Launching skill: big-a"},
		{Kind: replay.Body, Where: at(24), Parent: 4, PromptN: 1, Skill: "big-a", ToolUse: "toolu_1", Text: body("big-a", 900)},
		{Kind: replay.SkillCall, Where: at(32), Parent: 5, PromptN: 1, Skill: "deploy", ToolUse: "toolu_2", Message: "msg_2", ToolPosition: 2, SkillPosition: 2},
		{Kind: replay.Refusal, Where: at(33), Parent: 6, PromptN: 1, Skill: "deploy", ToolUse: "toolu_2", Text: "Skill deploy cannot be used with Skill tool due to disable-model-invocation"},
		{Kind: replay.Slash, Where: at(40), Parent: 7, PromptN: 1, Skill: "commit", Tool: "commit", Args: "fix: a", HasArgs: true},
		{Kind: replay.Body, Where: at(41), Parent: 8, PromptN: 1, Skill: "commit", Text: body("commit", 20)},
		{Kind: replay.Touch, Where: at(50), Parent: 9, PromptN: 1, Tool: "Read", Path: "/home/dev/shop/src/a.go"},
		{Kind: replay.Slash, Where: at(59), Parent: 10, PromptN: 1, Skill: "compact", Tool: "compact"},
		{Kind: replay.Compaction, Where: at(60), Parent: 11, PromptN: 1, Compaction: &replay.CompactionEvent{Trigger: "manual", Before: 52000, After: 9000}},
		{Kind: replay.Reattachment, Where: at(65), Parent: 12, PromptN: 1, Skills: []jsonl.InvokedSkill{{Name: "big-a", Path: "userSettings:big-a", Content: body("big-a", 400)}}},
		{Kind: replay.Listing, Where: at(66), Parent: 13, PromptN: 1, Text: resent.Content, Listing: resent},
		{Kind: replay.Prompt, Where: at(70), Parent: 14, PromptN: 2, Text: "again", Abandoned: true},
		{Kind: replay.Start, Where: at(80), Parent: 14, PromptN: 2, Start: &replay.StartEvent{Resume: true}},
		{Kind: replay.Prompt, Where: at(81), Parent: 16, PromptN: 3, Text: "resumed"},
		{Kind: replay.Noticed, Where: at(82), Parent: 17, PromptN: 3, Listing: delta},
		{Kind: replay.Listing, Where: at(82), Parent: 18, PromptN: 3, Text: delta.Content, Listing: delta},
		{Kind: replay.SkillCall, Where: at(90), Parent: 19, PromptN: 3, Skill: "big-a", ToolUse: "toolu_3", Message: "msg_3", ToolPosition: 1, SkillPosition: 1},
		{Kind: replay.Launched, Where: at(91), Parent: 20, PromptN: 3, Skill: "big-a", ToolUse: "toolu_3", Text: "Launching skill: big-a"},
		{Kind: replay.Note, Where: at(92), Parent: 21, PromptN: 3, Skill: "big-a", ToolUse: "toolu_3", Text: "(Re-invocation of /big-a)", String: true},
		{Kind: replay.SkillCall, Where: at(95), Parent: 22, PromptN: 3, Skill: "evil\u202e\x1b]0;x\a", ToolUse: "toolu_4", Message: "msg_4", ToolPosition: 2, SkillPosition: 2},
		{Kind: replay.Refusal, Where: at(96), Parent: 23, PromptN: 3, Skill: "evil\u202e\x1b]0;x\a", ToolUse: "toolu_4", Text: "Unknown skill: evil", Rejected: true},
	}}
	sizes := []int64{21000, 34000, 47000, 52000, 9000, 12000, 14000}
	for i, size := range sizes {
		c := replay.APICall{Where: at(21 + 10*i), Message: "msg", Model: "claude-sonnet-4-5", Usage: usage(3, size-1003, 1000, 50), HasUsage: true, Final: true, Event: 2 + 3*i}
		if i == 0 {
			c.Message = "msg_1"
		}
		main.Calls = append(main.Calls, c)
	}
	sub := &replay.Agent{ID: "a8c17d3e9", File: "/home/dev/.claude/projects/-home-dev-shop/3526b199-4eb6-4c80-a0d9-21374766226c/subagents/agent-a8c17d3e9.jsonl",
		Type: "general-purpose", StartedBy: "toolu_1", OnBehalfOf: "big-a", Events: []replay.Event{
			{Kind: replay.Start, Where: at(1), Parent: -1, Start: &replay.StartEvent{}},
			{Kind: replay.Body, Where: at(2), Parent: 0, Skill: "big-a", Text: body("big-a", 1)},
		}, Calls: []replay.APICall{{Where: at(3), Message: "msg_9", Model: "claude-sonnet-4-5", Usage: usage(1, 2, 3, 4), HasUsage: true, Event: 2}}}
	return &replay.Session{ID: "3526b199-4eb6-4c80-a0d9-21374766226c", File: file, Client: "claude-code", Versions: []string{"2.1.332"}, Models: []string{"claude-sonnet-4-5"},
		CWD: "/home/dev/shop", Start: at(1).Time, End: at(96).Time, Agents: []*replay.Agent{main, sub}, Lines: 1216, Records: 1200, Dangling: 1, Replayed: 2,
		Defects: []jsonl.Defect{{Pos: jsonl.Pos{File: file, Line: 12}, Kind: jsonl.DefectTruncated, Reason: "the line ends inside a string", Lost: true}},
		Unknown: map[string]int{"atis-latch": 9, "zeta": 1}}
}

// sampleSkillFiles are files in each of the states.
func sampleSkillFiles() []SkillFile {
	main, dir := at(1).File, "/home/dev/.claude/skills/"
	front := NewSkillFile("hidden", dir+"hidden/SKILL.md", "unknown", main, nil)
	front.FrontMatter = []FrontNote{{Line: 3, Kind: "requoted", Key: "description", Text: "not strict YAML (\": \" inside a value without quotes)"}, {Line: 4, Kind: "unknown-key", Key: "when-to-use", Text: "the client does not read when-to-use, only when_to_use"}}
	return []SkillFile{
		NewSkillFile("big-a", dir+"big-a/SKILL.md", "edited", main, []FileCompared{
			NewFileCompared("digest", "same", at(7), false, "", ""),
			NewFileCompared("body", "edited", at(24), false, "Do it  well with now.\n", "Do it  well with $1.\n"),
		}),
		NewSkillFile("big-b", dir+"big-b/SKILL.md", "same", main, []FileCompared{NewFileCompared("listing text", "same", at(7), true, "", "")}),
		NewSkillFile("commit\x1b[2J", dir+"commit/SKILL.md", "same", main, []FileCompared{NewFileCompared("digest", "same", at(7), false, "", "")}),
		NewSkillFile("deploy", dir+"deploy/SKILL.md", "edited", main, []FileCompared{NewFileCompared("digest", "edited", at(7), false, "", "")}),
		front,
	}
}

func sampleResult() *replay.Result {
	s := sampleSession()
	return &replay.Result{Session: s, Client: "claude-code@2.1.332", RulesExact: true, Model: "claude-sonnet-4-5", Window: 200000,
		Inputs: []replay.InputUse{
			{Name: "skill files", Source: "/home/dev/.claude/skills", Found: true, Note: "9 skills, unchanged since (digests)"},
			{Name: "usage counts", Source: "/home/dev/.claude.json", Found: true, Note: "read now, 3 days later"},
			{Name: "settings", Found: false, Note: "another machine's; --settings FILE gives them"},
			{Name: "window", Found: true, Source: "by the model's name"},
		},
		Assumptions: []string{"usage counts read now, the session is 3 days old"},
		Agents: []replay.AgentResult{
			{Agent: s.Agents[0],
				Checks: []replay.Check{
					{Kind: replay.CheckListing, Verdict: replay.Match, Where: at(7), Rule: "listing.overflow", Expected: "x", Observed: "x"},
					{Kind: replay.CheckBody, Verdict: replay.Divergent, Where: at(24), Skill: "big-a", Rule: "body.arguments",
						Expected: "Base directory for this skill: /home/dev/.claude/skills/big-a\n\nDo it  well with $1.\n", Observed: "Base directory for this skill: /home/dev/.claude/skills/big-a\n\nDo it  well with now.\n",
						Reason: "the skill file was edited after the session"},
					{Kind: replay.CheckRelist, Verdict: replay.Divergent, Unconfirmed: true, Where: at(66), Expected: "- big-a: Does the work"},
					{Kind: replay.CheckReattachment, Verdict: replay.Undetermined, Where: at(65), Reason: "follows", After: 24},
					{Kind: replay.CheckBody, Verdict: replay.Undetermined, Where: at(41), Skill: "commit", Missing: "skill files", Reason: "no skill folder holds commit"},
					{Kind: replay.CheckRelist, Verdict: replay.Undetermined, Where: at(82), Skill: "late-one", Reason: "when the client noticed the file is not in the log"},
				},
				Visibility: []replay.Visibility{
					{Prompt: 1, Where: at(3), Skills: replay.SeenOf(map[string]replay.Shown{"big-a": replay.ShownFull, "big-b": replay.ShownShortened, "commit": replay.ShownNameOnly, "deploy": replay.ShownFull, "hidden": replay.ShownAbsent})},
					{Command: "commit", Event: 8, Where: at(40), Skills: replay.SeenOf(map[string]replay.Shown{"big-a": replay.ShownFull, "big-b": replay.ShownFull})},
				},
				Predicted: []replay.Effect{{Kind: replay.Reattachment, Cause: 12, Reason: "over 25,000 tokens", Skills: []replay.ReattachedSkill{{Name: "big-a", Cut: true}}}},
			},
			{Agent: s.Agents[1], Checks: []replay.Check{{Kind: replay.CheckBody, Verdict: replay.Match, Where: at(2), Skill: "big-a"}}},
		}}
}

func sampleTokens() *TokensBlock {
	t := &TokensBlock{Calls: 8, Unfinished: 1, Usage: TokenSum{Input: 22, CacheRead: 181981, CacheWrite5m: 7003, Output: 354}, CostMicroUSD: new(int64(104361)), Notes: []string{"2 calls of an unknown model are unpriced"},
		Layers: []LayerRow{
			{Layer: "listing", Once: 1612, Carried: 33800, Tokens: TokenSum{CacheRead: 30100, CacheWrite5m: 3600}, CostMicroUSD: new(int64(22530)), Basis: "anchored"},
			{Layer: "body", Once: 37902, Carried: 114000, Tokens: TokenSum{CacheRead: 111981, CacheWrite5m: 2003}, CostMicroUSD: new(int64(41105)), Basis: "estimated"},
			{Layer: "other", Tokens: TokenSum{Input: 22, CacheRead: 39900, CacheWrite5m: 1400}, CostMicroUSD: new(int64(35416)), Basis: "estimated"},
			{Layer: "output", Tokens: TokenSum{Output: 354}, CostMicroUSD: new(int64(5310)), Basis: "exact"},
		}}
	t.Price()
	return t
}

// sampleRules are the rules of the made-up session's client.
func sampleRules(string) *rules.Rules {
	table, err := rules.For("claude-code")
	if err != nil {
		panic(err)
	}
	r, err := table.At("2.1.332")
	if err != nil {
		panic(err)
	}
	return &r
}

func sampleReplay() *ReplayDocument {
	return NewReplay([]ReplaySession{NewReplaySession(ReplayInput{Result: sampleResult(), Read: jsonl.Stats{Lines: 1216, Blank: 15, RecordLines: 1200, LostLines: 1, Records: 1200}, Budget: 8000, BudgetSource: "1 % of 200,000 tokens, window assumed", ListingSize: 190, Demand: &Demand{Size: 9000, From: "files", AtLeast: true}, InScope: true, Rules: sampleRules, Tokens: sampleTokens(), SkillFiles: sampleSkillFiles()})})
}

func TestReplay(t *testing.T) {
	doc := sampleReplay()
	goldenTables(t, "replay", doc)
	goldenJSON(t, "replay", doc)
}

func TestReplayMany(t *testing.T) {
	bare := &replay.Result{Session: &replay.Session{ID: "aaaaaaaa-1", File: "/home/dev/x.jsonl"}}
	doc := NewReplay([]ReplaySession{NewReplaySession(ReplayInput{Result: sampleResult(), InScope: true, Tokens: sampleTokens()}), NewReplaySession(ReplayInput{Result: bare})})
	goldenTables(t, "replay-many", doc)
	goldenJSON(t, "replay-many", doc)
}

// A document that was read back from its JSON gives the same screen.
func TestReplayRoundTrip(t *testing.T) {
	doc := sampleReplay()
	var back ReplayDocument
	readBack(t, doc, &back)
	var want, got bytes.Buffer
	for _, style := range []Style{{}, {Verbose: true}} {
		want.Reset()
		got.Reset()
		if err := doc.WriteTable(&want, style); err != nil {
			t.Fatal(err)
		}
		if err := back.WriteTable(&got, style); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("after JSON:\n%s\nbefore:\n%s", got.String(), want.String())
		}
	}
}

func TestReplayEmpty(t *testing.T) {
	var b bytes.Buffer
	if err := NewReplay(nil).WriteTable(&b, Style{}); err != nil || b.String() != "No sessions.\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

// A log without listings shows what the rules derive.
func TestReplayPredictedListing(t *testing.T) {
	r := sampleResult()
	main := r.Session.Agents[0]
	main.Events = main.Events[:1]
	main.Calls = nil
	r.Agents = r.Agents[:1]
	r.Agents[0].Visibility = nil
	r.Agents[0].Predicted = []replay.Effect{{Kind: replay.Listing, Cause: 0, Initial: true, Text: "- a: b\n- c", Entries: []replay.ListedEntry{
		{Name: "a", Shown: replay.ShownFull}, {Name: "c", Shown: replay.ShownNameOnly}, {Name: "d", Shown: replay.ShownAbsent}}}}
	doc := NewReplay([]ReplaySession{NewReplaySession(ReplayInput{Result: r, Rules: func(string) *rules.Rules {
		k := *sampleRules("")
		k.Catalogue.Place = rules.PlaceReminder
		return &k
	}})})
	l := doc.Sessions[0].Agents[0].Listings
	if len(l) != 1 || !l[0].Predicted || l[0].Skills != 2 || l[0].Chars != 10 || l[0].Line != 3 {
		t.Errorf("listings %+v", l)
	}
	if s := l[0].Shown; s == nil || s.Full != 1 || s.NameOnly != 1 || s.Absent != 1 {
		t.Errorf("shown %+v", l[0].Shown)
	}
}

func TestTypedSkill(t *testing.T) {
	doc := sampleReplay()
	for _, k := range doc.Sessions[0].Agents[0].Skills {
		if k.Skill == "compact" {
			t.Error("/compact counts as a skill")
		}
		if k.Skill == "commit" && (k.ByUser != 1 || k.ByModel != 0 || k.Bodies != 1) {
			t.Errorf("commit: %+v", k)
		}
	}
}

// A session that no id finds is named by its path, in a form that a shell takes.
func TestSessionName(t *testing.T) {
	for _, c := range []struct {
		style    Style
		id, file string
		inScope  bool
		want     string
	}{
		{Style{}, "3526b199-4eb6-4c80-a0d9-21374766226c", "/x/a.jsonl", true, "3526b199"},
		{Style{Flags: "--config-dir logs"}, "3526b199-4eb6-4c80-a0d9-21374766226c", "/x/a.jsonl", true, "3526b199 --config-dir logs"},
		{Style{}, "ses_small", "logs/a.jsonl", false, "logs/a.jsonl"},
		{Style{}, "ses_small", "my logs/it's.jsonl", false, `'my logs/it'\''s.jsonl'`},
		{Style{}, "ses_small", "-", false, "-"},
		{Style{}, "ses_small_with_a_name_that_is_long", "", true, "ses_small_with_a_name_t…"},
	} {
		if got := c.style.name(c.id, c.file, c.inScope); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// A client that does not record what it puts back is not said to have put nothing back.
func TestUnrecorded(t *testing.T) {
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		version, want string
		unrecorded    bool
	}{
		{"2.0.30", "put nothing back · dropped big-a, commit", false},
		{"2.1.76", "this client does not record what it puts back", true},
		{"2.1.332", "put nothing back · dropped big-a, commit", false},
	} {
		r := sampleResult()
		events := r.Session.Agents[0].Events
		events[13].Kind = replay.Restored // where the reattachment stood
		r.Agents[0].Predicted = nil
		session := NewReplaySession(ReplayInput{Result: r, Rules: func(string) *rules.Rules {
			k, err := table.At(c.version)
			if err != nil {
				t.Fatal(err)
			}
			return &k
		}})
		got := session.Agents[0].Compactions[0]
		if text := got.text(Style{}); !strings.Contains(text, c.want) || got.Unrecorded != c.unrecorded {
			t.Errorf("%s: %s", c.version, text)
		}
	}
}

// TestDropped: what the log shows does not depend on the rules that were chosen.
func TestDropped(t *testing.T) {
	big := strings.Repeat("x", 90_000)
	back := []jsonl.InvokedSkill{{Content: big}}
	free := &ReplayInput{Rules: func(string) *rules.Rules { return &rules.Rules{} }} // knows no limit
	for _, c := range []struct {
		version string
		lost    []string
		want    string
	}{
		{"2.1.332", []string{big}, "over 25,000 tokens together"},
		{"2.1.332", []string{"small"}, "not known why"},
		{"", []string{big}, "not known why"},
		{"2.1.332", nil, ""},
	} {
		if got := free.dropped(c.version, back, c.lost, nil); got != c.want {
			t.Errorf("%q: got %q, want %q", c.version, got, c.want)
		}
	}
	for _, c := range []struct {
		content, whole string
		want           bool
	}{
		{"abc", "abc", false}, {"ab", "abc", true}, {"ab" + budget.ReattachMarker, "", true}, {"", "abc", false}, {"abd", "abc", false},
	} {
		if got := cut(c.content, c.whole); got != c.want {
			t.Errorf("cut(%q, %q) = %t", c.content, c.whole, got)
		}
	}
}

func TestOverLimit(t *testing.T) {
	limit := sampleRules("").Reattachment
	big, small := strings.Repeat("x", 90_000), strings.Repeat("x", 4_000)
	back := []jsonl.InvokedSkill{{Content: big}}
	for _, c := range []struct {
		back []jsonl.InvokedSkill
		lost []string
		want string
	}{
		{back, []string{big}, "over 25,000 tokens together"},
		{back, []string{big, small}, ""}, // the small one would have had room
		{nil, []string{big}, ""},
		{back, nil, ""},
	} {
		if got := overLimit(c.back, c.lost, limit); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if got := overLimit(back, []string{big}, budget.Reattachment{}); got != "" {
		t.Errorf("without a limit: %q", got)
	}
}

// A call that the client refused is not shown as one that it carried out.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		skills []SkillCalls
		want   string
	}{
		{nil, ""},
		{[]SkillCalls{{Skill: "a", ByModel: 1}, {Skill: "b", ByUser: 2}, {Skill: "preloaded", Bodies: 1}}, ", called a, b"},
		{[]SkillCalls{{Skill: "a", ByModel: 1, Refused: 1}}, ", refused: a"},
		{[]SkillCalls{{Skill: "a", ByModel: 3, Refused: 1, Rejected: 1}, {Skill: "b", ByModel: 1, Rejected: 1}}, ", called a, refused: a, rejected by user: a, b"},
	} {
		if got := (&ReplayAgent{Skills: c.skills}).outcomes(Style{}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.skills, got, c.want)
		}
	}
}

// That a client records no listing is not said of a log that holds one.
func TestNothingToCheck(t *testing.T) {
	one := []ListingSent{{Line: 40}}
	for _, c := range []struct {
		agents []ReplayAgent
		want   string
	}{
		{nil, "no skill was called, and the log holds no listing"},
		{[]ReplayAgent{{ListingsUnrecorded: true}}, "no skill was called, and this client records no listing"},
		{[]ReplayAgent{{ListingsUnrecorded: true, Listings: []ListingSent{{Predicted: true}}}}, "no skill was called, and this client records no listing"},
		{[]ReplayAgent{{ListingsUnrecorded: true, Listings: one}}, "no skill was called, and the listing in the log cannot be judged"},
		{[]ReplayAgent{{}, {Listings: one}, {Listings: one}}, "no skill was called, and the listings in the log cannot be judged"},
		{[]ReplayAgent{{Skills: []SkillCalls{{Skill: "a", ByModel: 1}}}}, "no call of a skill can be judged, and the log holds no listing"},
	} {
		if got := (&ReplaySession{Agents: c.agents}).nothingToCheck(); got != "nothing to check: "+c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// In a log of several versions the one is named that does not record.
func TestUnrecordedVersion(t *testing.T) {
	c := Compaction{Line: 21, Version: "2.1.80\x1b[2J", Unrecorded: true}
	if got, want := c.text(Style{}), `line 21 version 2.1.80\x1b[2J does not record what it puts back`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// All commands have the same order of sessions, and the next step leads to the
// newest of those with the most divergences.
func TestOrder(t *testing.T) {
	start := func(hour int) *time.Time { return new(time.Date(2026, 11, 28, hour, 0, 0, 0, time.UTC)) }
	var replays []ReplaySession
	var timelines []TimelineSession
	var rows []SessionRow
	for _, s := range []struct {
		file  string
		start *time.Time
	}{{"a", start(12)}, {"b", start(9)}, {"d", nil}, {"c", nil}, {"e", start(9)}} {
		replays = append(replays, ReplaySession{ID: s.file, File: s.file, Start: s.start})
		timelines = append(timelines, TimelineSession{ID: s.file, File: s.file, Start: s.start})
		rows = append(rows, SessionRow{ID: s.file, File: s.file, Start: s.start})
	}
	doc := NewReplay(replays)
	var got [3]string
	for i := range replays {
		got[0] += doc.Sessions[i].File
		got[1] += NewTimeline(timelines).Sessions[i].File
		got[2] += NewSessions(rows, 0).Sessions[i].File
	}
	if want := "cdbea"; got != [3]string{want, want, want} {
		t.Errorf("replay, timeline, sessions: %v, want %s", got, want)
	}
	next := func() string {
		var b bytes.Buffer
		if err := doc.WriteTable(&b, Style{}); err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(b.String(), "Next: ")
		return strings.TrimSpace(after)
	}
	if got := next(); got != "skilltrace replay a" {
		t.Errorf("next: %s", got)
	}
	file := strings.Repeat("long/", 20)
	doc.Sessions[4].File = file
	if got := next(); got != "skilltrace replay "+file {
		t.Errorf("a long command, in one piece: %s", got)
	}
	doc.Sessions[1].Totals.Divergent, doc.Sessions[2].Totals.Divergent = 2, 2
	if got := next(); got != "skilltrace replay b" {
		t.Errorf("next: %s", got)
	}
}
