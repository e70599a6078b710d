package report

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// many is a document of three sessions for a skill; two of their folders have one name.
func many() *WhyDocument {
	at := func(day int) *time.Time { return new(time.Date(2026, 11, day, 9, 0, 0, 0, time.UTC)) }
	gates := []WhyGate{{Gate: "exists", State: "passed", Reason: "listed at line 2"}, {Gate: "asked", State: "info"}, {Gate: "called", State: "failed", Reason: "not called"}}
	text := Text("a | b `c` <b>@team #12 see https://x.y")
	question := func(session string, prompt int) WhyQuestion {
		return WhyQuestion{Session: session, Agent: "main", Prompt: prompt, Line: prompt, Text: &text, Chars: 20, Gates: append([]WhyGate(nil), gates...),
			Verdict: WhyDecision{Gate: "called", State: "failed", Reason: "deploy was visible, described and not chosen."}, Words: WhyWords{Rank: 1, Tied: 4, Listed: 24, Lacking: []string{"pending", "prod"}, LackingCount: 2}}
	}
	d := &WhyDocument{Schema: WhySchema, Skill: "deploy", Known: new(true), Questions: []WhyQuestion{question("one", 1), question("two", 1)},
		Sessions: []WhySession{
			{ID: "one", File: "/l/one.jsonl", Client: "claude-code@2.1.332", Start: at(1), CWD: "/home/dev/work/shop", WhySummary: WhySummary{SessionCount: 1, Listed: 1, Prompts: 1},
				Chosen: &WhyChosen{Of: 1}, Agents: []WhyAgent{{Agent: "a1b2c3d4e5f6", File: "/l/a.jsonl", Line: 7, Called: true}}, Gate: "called", State: "failed", Reason: "not called"},
			{ID: "two", File: "/l/two.jsonl", Client: "claude-code@2.1.332", Start: at(2), CWD: "/home/dev/play/shop", WhySummary: WhySummary{SessionCount: 1, Listed: 1, Prompts: 3},
				Chosen: &WhyChosen{Prompts: 1, Of: 3, Agent: "main", Prompt: 2, Line: 5}, Gate: "called", State: "failed", Reason: strings.Repeat("a long | reason ", 40)},
			{ID: "three", File: "/l/three.jsonl", Client: "claude-code@2.1.332", Start: at(3), CWD: "/srv/api", WhySummary: WhySummary{SessionCount: 1, ByModel: 2}},
		},
		Summary: WhySummary{SessionCount: 3, Listed: 2, Described: 1, Prompts: 4, ByModel: 2, ByUser: 5, Days: 3, First: at(1), Last: at(3), Verdicts: []WhyVerdict{{"called", "failed", 4, 2}}},
	}
	d.elsewhere()
	d.focus()
	return d
}

func TestWhySummary(t *testing.T) {
	d := many()
	d.Focus = new(0)
	var table strings.Builder
	if err := d.WriteTable(&table, Style{Width: 400}); err != nil {
		t.Fatal(err)
	}
	var md bytes.Buffer
	if err := d.WriteMarkdown(&md, Style{}); err != nil {
		t.Fatal(err)
	}
	// What both say; the second where Markdown says it in another way.
	for _, tt := range [][2]string{
		{"3 sessions on 3 days, 2026-11-01 to 2026-11-03", ""},
		{"listed in 2 of 3 sessions, with its description in 1; called twice by the model, 5 times by the user", ""},
		{absence, ""},
		{"2026-11-01  work/shop", "| 2026-11-01 | work/shop |"},
		{"2026-11-02  play/shop", "| 2026-11-02 | play/shop |"},
		{"2026-11-03  api", "| 2026-11-03 | api |"},
		{"Not by the main loop, but agent a1b2c3d4 called it at line 7 of its log.", ""},
		{"1st of 24 listed by words, tied with 4 others; lacks pending, prod", ""},
		{"called in 1 of the other 2 sessions, twice", ""},
		{"compare with session three, in which it was called twice", ""},
	} {
		if !strings.Contains(table.String(), tt[0]) {
			t.Errorf("the screen does not say %q:\n%s", tt[0], &table)
		}
		want := tt[0]
		if tt[1] != "" {
			want = tt[1]
		}
		if !strings.Contains(md.String(), want) {
			t.Errorf("Markdown does not say %q:\n%s", want, &md)
		}
	}
	// Rows of tables have as many cells as their titles, and none is endless.
	cells := 0
	for line := range strings.Lines(md.String()) {
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		if cells == 0 {
			cells = n
		}
		if n != cells || len(line) > 700 {
			t.Errorf("%d of %d bars, %d bytes: %s", n, cells, len(line), line)
		}
	}
	two := d.Questions[1]
	if len(two.Advice) < 2 || two.Advice[0] != "compare with prompt 2 (line 5), for which it was called" {
		t.Errorf("advice %q", two.Advice)
	}
}

// One session: all other prompts stand in Markdown too.
func TestWhyMarkdownOthers(t *testing.T) {
	d := many()
	d.Sessions = d.Sessions[:1]
	d.Questions[1].Session, d.Questions[1].Prompt, d.Questions[1].Line = "one", 2, 9
	d.Questions[1].Verdict.Gate = "exists"
	var md bytes.Buffer
	if err := d.WriteMarkdown(&md, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| prompts | line | gate | state | why |", "| 1 | 1 | called | failed | not called |", "| 2 | 9 | exists | failed | listed at line 2 |"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("%q is missing:\n%s", want, &md)
		}
	}
}

func TestMarkdownText(t *testing.T) {
	for _, tt := range [][2]string{
		{"a|b `c` <b> [x](y)", "a\\|b \\`c\\` \\<b\\> \\[x\\]\\(y\\)"},
		{"ask @team about #12 and org/repo#3", "ask @&#8203;team about #&#8203;12 and org/repo#&#8203;3"},
		{"claude-code@2.1.332 a@b", "claude-code@2.1.332 a@b"},
		{"see https://x.y and www.x.y", "see https\\://x.y and www\\.x.y"},
		{"two\nlines\x1b[31m", "two\\\\nlines\\\\x1b\\[31m"},
	} {
		got := mdText(tt[0])
		if got != tt[1] {
			t.Errorf("%q:\ngot  %q\nwant %q", tt[0], got, tt[1])
		}
	}
	if got := mdCellCode("a|b`c"); got != "``a\\|b`c``" {
		t.Errorf("%q", got)
	}
}

func TestTruncateMiddle(t *testing.T) {
	for _, tt := range []struct {
		in    string
		width int
		want  string
	}{
		{"cc-skills-golang:golang-testing", 40, "cc-skills-golang:golang-testing"},
		{"cc-skills-golang:golang-testing", 16, "cc-skil…-testing"},
		{"cc-skills-golang:golang-testing", 15, "cc-skil…testing"},
		{"技能技能技能技能", 9, "技能…技能"},
		{"abcdef", 4, "abc…"},
	} {
		if got := truncateMiddle(tt.in, tt.width); got != tt.want || displayWidth(got) > tt.width {
			t.Errorf("%q at %d: %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

func TestHide(t *testing.T) {
	for _, tt := range []struct {
		text    string
		private []string
		want    string
	}{
		{"refused (line 4): it says so", []string{"it says so."}, "refused (line 4): [redacted, 10 characters]"},
		{"refused (line 4): no.", []string{"no"}, "refused (line 4): [redacted, 2 characters]"},
		{"not known", []string{"no"}, "not known"},
		{"long text and long", []string{"long", "long text"}, "[redacted, 9 characters] and [redacted, 4 characters]"},
	} {
		if got := hide(tt.text, tt.private); got != tt.want {
			t.Errorf("%q without %q: %q, want %q", tt.text, tt.private, got, tt.want)
		}
	}
	r := newRedactor("/srv/people/al")
	r.learn("/home/jo.ann/shop")
	r.learn(`C:\Users\Jo Ann\shop`)
	for _, tt := range [][2]string{
		{"/srv/people/al/x and /srv/people/alice", "~/x and /srv/people/alice"},
		{"projects/-home-jo-ann-shop/-srv-people-al", "projects/~-shop/~"},
		{`in C:\Users\Jo Ann\x and "C:\\Users\\Jo Ann\\y"`, `in ~\x and "~\\y"`},
		{"/home/jo.anna/x", "~/x"},
	} {
		got := tt[0]
		r.text(nil, &got)
		if got != tt[1] {
			t.Errorf("%q: %q, want %q", tt[0], got, tt[1])
		}
	}
}
