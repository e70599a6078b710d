package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
)

// testResults hold every verdict, change and detail.
func testResults() []regress.Result {
	counts := "usage counts are not known: skills rank by the calls in the log (--usage FILE gives the counts)"
	grown := "Deploys the shop when somebody asks to release, ship or roll out a version. " + strings.Repeat("Names each step, and whom to ask. ", 14)
	line := func(name, text string) string { return "- " + name + ": " + text }
	listing := &regress.ListingChange{
		Before: regress.Size{Chars: 7570, Demand: 7570, Tokens: 1431, Budget: 8000, Full: 41},
		After:  regress.Size{Chars: 7890, Demand: 8480, Tokens: 1600, Budget: 8000, Full: 39, NameOnly: 2},
		Changes: []regress.EntryChange{
			{Skill: "db-migrate", Before: replay.ShownFull, After: replay.ShownNameOnly, CharsBefore: 312, CharsAfter: 12, TokensBefore: 80, TokensAfter: 4, Causes: []regress.Cause{{Skill: "deploy-checklist", What: "grew by 546 characters", Grew: 546}}},
			{Skill: "a-plugin-with-a-long-name:and-a-skill-with-one-too-which-goes-on-and-on", Before: replay.ShownFull, After: replay.ShownNameOnly, CharsBefore: 1312, CharsAfter: 75, TokensBefore: 300, TokensAfter: 15,
				Causes: []regress.Cause{{Skill: "deploy-checklist", What: "grew by 546 characters", Grew: 546}, {Skill: "新しい技能", What: "is new", Grew: 120}}},
			{Skill: "old-one", Before: replay.ShownFull, After: replay.ShownAbsent, CharsBefore: 40, TokensBefore: 10, Own: true},
			{Skill: "新しい技能", Before: replay.ShownAbsent, After: replay.ShownFull, CharsAfter: 120, TokensAfter: 60, TextAfter: "必要な時に使う。", Own: true},
			{Skill: "deploy-checklist", Before: replay.ShownFull, After: replay.ShownFull, TextBefore: "Deploys the shop to staging.", TextAfter: grown, CharsBefore: 46, CharsAfter: 592, TokensBefore: 12, TokensAfter: 150, Own: true},
		},
	}
	for i := range 41 {
		p := regress.LinePair{Skill: fmt.Sprintf("skill-%02d", i)}
		p.Before = line(p.Skill, "Does what its number says.")
		p.After = p.Before
		switch i {
		case 3:
			p = regress.LinePair{Skill: "deploy-checklist", Before: line("deploy-checklist", "Deploys the shop to staging."), After: line("deploy-checklist", grown)}
		case 4:
			p = regress.LinePair{Skill: "old-one", Before: line("old-one", "Was there.")}
		case 5:
			p = regress.LinePair{Skill: "新しい技能", After: line("新しい技能", "必要な時に使う。")}
		case 40:
			p = regress.LinePair{Skill: "db-migrate", Before: line("db-migrate", "Runs the migrations that are pending."), After: "- db-migrate"}
		}
		listing.Lines = append(listing.Lines, p)
	}
	at := func(line int, n byte) replay.Where {
		return replay.Where{File: "commit.jsonl", Line: line, UUID: fmt.Sprintf("3526b199-0000-4000-8000-00000000000%c", n)}
	}
	return []regress.Result{
		{Case: "a commit request finds commit-helper", Line: 7, Scorer: spec.ScoreVisible, Verdict: regress.Passed, Baseline: regress.Passed, Change: regress.Same, Session: "testdata/commit.jsonl", Prompt: 1, Where: at(3, '1'), Text: "commit this, please",
			Visible: []regress.VisibleDetail{{Skill: "commit-helper", Line: 11, Expected: replay.ShownFull, Actual: replay.ShownFull, Baseline: replay.ShownFull, Verdict: regress.Passed}}, Listing: listing, Assumed: []string{counts}},
		{Case: "a commit request finds commit-helper", Line: 7, Scorer: spec.ScoreLexical, Verdict: regress.Passed, Baseline: regress.Passed, Change: regress.Same, Session: "testdata/commit.jsonl", Prompt: 1, Where: at(3, '1'), Text: "commit this, please",
			Lexical: []regress.LexicalDetail{{Skill: "commit-helper", Line: 12, Within: 3, Rank: 1, Baseline: 1, Listed: 40, Score: 7.25, Margin: 2.5, Best: "commit-helper", Shared: []string{"commit"}, Verdict: regress.Passed}}, Assumed: []string{counts}},
		{Case: "the migration keeps its description, and what else is needed to run it", Line: 14, Scorer: spec.ScoreVisible, Verdict: regress.Failed, Baseline: regress.Passed, Change: regress.Broken, Session: "testdata/commit.jsonl", Prompt: 3, Where: at(88, '2'), Text: "run the pending\nmigration of the 注文データベース before we open",
			Reason: "db-migrate is listed by name only, not described in full: deploy-checklist grew by 546 characters; the listing asks for 8,480 of 8,000 characters, and 280 characters would have to go; old-one is absent, not described in full: it is no longer there",
			Visible: []regress.VisibleDetail{
				{Skill: "commit-helper", Line: 18, Expected: replay.ShownFull, Actual: replay.ShownFull, Baseline: replay.ShownFull, Verdict: regress.Passed},
				{Skill: "db-migrate", Line: 19, Expected: replay.ShownFull, Actual: replay.ShownNameOnly, Baseline: replay.ShownFull, Verdict: regress.Failed, Reason: "db-migrate is listed by name only, not described in full: deploy-checklist grew by 546 characters; the listing asks for 8,480 of 8,000 characters, and 280 characters would have to go"},
				{Skill: "old-one", Line: 20, Expected: replay.ShownFull, Actual: replay.ShownAbsent, Baseline: replay.ShownFull, Verdict: regress.Failed, Reason: "old-one is absent, not described in full: it is no longer there"},
			}, Listing: listing, Assumed: []string{counts}},
		{Case: "the migration ranks first", Line: 22, Scorer: spec.ScoreLexical, Verdict: regress.Failed, Baseline: regress.Failed, Change: regress.Same, Session: "testdata/commit.jsonl", Prompt: 3, Where: at(88, '2'), Text: "run the pending migration",
			Reason: "db-migrate ranks 4 of 40 by words, not within 1; deploy-checklist ranks first (it ranked 2 before)",
			Lexical: []regress.LexicalDetail{{Skill: "db-migrate", Line: 26, Within: 1, Rank: 4, Baseline: 2, Listed: 40, Score: 3.5, Margin: -1.25, Best: "deploy-checklist", Shared: []string{"pending", "migration"}, Verdict: regress.Failed, Reason: "…"},
				{Skill: "commit-helper", Rank: 0, Listed: 40, Best: "deploy-checklist"}}},
		{Case: "asked twenty times", Line: 28, Scorer: spec.ScoreLive, Verdict: regress.Failed, Baseline: regress.Passed, Change: regress.Broken, Session: "testdata/commit.jsonl", Prompt: 4, Where: at(101, '3'), Text: "ship it", Review: "the user typed /release right after",
			Reason: "deploy-checklist or release was called in 9 of 18 answers, 50 %, and 80 % are wanted",
			Asked: &regress.AskedDetail{Expected: "deploy-checklist or release", Runs: 20, Errors: 2, Hits: 9, Rate: 0.5, Low: 0.29, High: 0.71, First: 7, Late: 2, Chosen: []regress.Chosen{{Skill: "deploy-checklist", Count: 9}, {Skill: "", Count: 7}, {Skill: "commit-helper", Count: 2}},
				Failures: []string{"529 overloaded"}, Before: &regress.AskedDetail{Expected: "deploy-checklist or release", Runs: 20, Hits: 19, Rate: 0.95, Low: 0.76, High: 0.99, First: 19, Chosen: []regress.Chosen{{Skill: "deploy-checklist", Count: 19}, {Skill: "", Count: 1}}},
				Difference: -0.45, DifferenceLow: -0.67, DifferenceHigh: -0.15}, Assumed: []string{"system prompt: minimal, the log holds none"}},
		{Case: "an agent of mine", Line: 34, Scorer: spec.ScoreCommand, Verdict: regress.Errored, Session: "testdata/commit.jsonl", Agent: "a8c17d3e9", Prompt: 1, Where: at(2, '4'), Text: "look for it", Reason: "the program gave no answer: exit status 3"},
		{Case: "no such prompt", Line: 40, Scorer: spec.ScoreVisible, Verdict: regress.Errored, Session: "testdata/commit.jsonl", Prompt: 9, Reason: "prompt 9: none of the 5 prompts of main fits"},
		{Case: "what was cut is not known", Line: 44, Scorer: spec.ScoreVisible, Verdict: regress.Inconclusive, Baseline: regress.Failed, Session: "testdata/old.jsonl", Prompt: 2, Where: at(12, '5'), Text: "rotate the keys",
			Reason:  "zulu: its whole description is not in the log, so whether more of it would be shown is not known (missing: skill files)",
			Visible: []regress.VisibleDetail{{Skill: "zulu", Line: 47, Expected: replay.ShownFull, Actual: replay.ShownNameOnly, Baseline: replay.ShownNameOnly, Verdict: regress.Inconclusive, Reason: "zulu: its whole description is not in the log, so whether more of it would be shown is not known (missing: skill files)"}},
			Listing: &regress.ListingChange{Before: regress.Size{Chars: 100, Demand: 100, Budget: 8000, Full: 2}, After: regress.Size{Chars: 100, Demand: 100, Budget: 8000, Full: 2}},
			Assumed: []string{"the whole descriptions of 3 other skills are not in the log; they stay as they were"}},
		{Case: "release is described again", Line: 50, Scorer: spec.ScoreVisible, Verdict: regress.Passed, Baseline: regress.Failed, Change: regress.Fixed, Session: "testdata/old.jsonl", Prompt: 3, Where: at(20, '6'), Text: "release"},
		{Case: "not yet", Line: 55, Scorer: spec.ScoreVisible, Verdict: regress.Skipped, Session: "testdata/old.jsonl", Prompt: 3, Reason: "the fixture is to be recorded anew"},
		{Case: "budget: name_only", Line: 5, Scorer: spec.ScoreVisible, Verdict: regress.Failed, Baseline: regress.Passed, Change: regress.Broken, Session: "testdata/commit.jsonl", Prompt: 3, Reason: "2 in the migration keeps its description, at most 0 (0 before)"},
	}
}

// wholeTest is a document with all that one can hold.
func wholeTest() *TestDocument {
	d := NewTest("tests/skilltrace.test.yaml", ".claude/skills", "git main", testResults())
	d.Shard = "1/2"
	d.Updated = []string{"tests/skilltrace.test.yaml:47: zulu: full → name_only"}
	d.Problems = []string{".claude/skills/broken/SKILL.md: the frontmatter has no end"}
	d.Cost = &TestSpending{Calls: 38, Cached: 2, Tokens: 412_000, CostMicroUSD: new(int64(1_270_000)), Cost: "$1.27"}
	return d
}

// forms are the forms of a document beside JSON.
func testForms(t *testing.T, d *TestDocument) map[string]string {
	t.Helper()
	out := map[string]string{}
	put := func(name string, write func(io.Writer) error) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(name, err)
		}
		out[name] = b.String()
	}
	for name, style := range map[string]Style{"60.txt": {Width: 60}, "80.txt": {Width: 80}, "140.txt": {Width: 140}, "verbose.txt": {Width: 80, Verbose: true}, "color.txt": {Width: 80, Color: true}} {
		put(name, func(w io.Writer) error { return d.WriteTable(w, style) })
	}
	put("md", func(w io.Writer) error { return d.WriteMarkdown(w, Style{}) })
	put("junit.xml", d.suite(Style{}).writeJUnit)
	put("github.txt", d.suite(Style{}).writeGitHub)
	put("tap", d.suite(Style{}).writeTAP)
	return out
}

func TestTest(t *testing.T) {
	d := wholeTest()
	goldenJSON(t, "test", d)
	again := &TestDocument{}
	readBack(t, d, again)
	forms, same := testForms(t, d), testForms(t, again)
	for name, text := range forms {
		file := "test-" + name
		if name == "md" || name == "tap" {
			file = "test." + name
		}
		golden(t, file, []byte(text))
		if same[name] != text {
			t.Errorf("%s: read back:\n%s\nwas\n%s", name, same[name], text)
		}
	}
	checkForms(t, d, forms)
}

// checkForms checks what every form has to keep to, whatever the document holds.
func checkForms(t *testing.T, d *TestDocument, forms map[string]string) {
	t.Helper()
	for name, text := range forms {
		if !utf8.ValidString(text) {
			t.Errorf("%s is not UTF-8", name)
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if name != "color.txt" && Escape(line) != line {
				t.Errorf("%s lets through %q", name, line)
			}
			width := map[string]int{"60.txt": 60, "80.txt": 80, "140.txt": 140, "color.txt": 80, "verbose.txt": 80}[name]
			if w := displayWidth(line); width > 0 && w > width && !strings.Contains(line, "skilltrace ") && !(name == "verbose.txt" && strings.HasPrefix(line, "  ")) {
				t.Errorf("%s: %d cells: %s", name, w, line)
			}
		}
	}
	checkJUnit(t, d, forms["junit.xml"])
	checkGitHub(t, d, forms["github.txt"])
	checkTAP(t, d, forms["tap"])
	checkDisarmed(t, d, forms)
}

// checkDisarmed checks that a build server obeys nothing of a form, and that programs read
// the same of it.
func checkDisarmed(t *testing.T, d *TestDocument, forms map[string]string) {
	t.Helper()
	formats := map[string]Format{"junit.xml": FormatJUnit, "md": FormatMarkdown, "tap": FormatTAP, "80.txt": FormatTable, "60.txt": FormatTable}
	for name, format := range formats {
		text := string(Disarm([]byte(forms[name]), format))
		for line := range strings.Lines(text) {
			if strings.Contains(line, "##[") || strings.HasPrefix(strings.TrimSpace(line), "::") {
				t.Errorf("%s: %s", name, line)
			}
		}
		switch format {
		case FormatJUnit:
			checkJUnit(t, d, text)
		case FormatTAP:
			checkTAP(t, d, text)
		}
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, d); err != nil {
		t.Fatal(err)
	}
	var before, after any
	text := Disarm(b.Bytes(), FormatJSON)
	if json.Unmarshal(b.Bytes(), &before) != nil || json.Unmarshal(text, &after) != nil || !reflect.DeepEqual(before, after) || bytes.Contains(text, []byte("##[")) {
		t.Errorf("json: disarmed, it says something else: %.200s", text)
	}
}

// checkJUnit reads a suite as build servers do: counts that fit, and a name, a class and
// at most one result for each case.
func checkJUnit(t *testing.T, d *TestDocument, text string) {
	t.Helper()
	type result struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	var doc struct {
		XMLName xml.Name `xml:"testsuites"`
		Tests   int      `xml:"tests,attr"`
		Suites  []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name    string   `xml:"name,attr"`
				Class   string   `xml:"classname,attr"`
				Time    string   `xml:"time,attr"`
				Failure []result `xml:"failure"`
				Error   []result `xml:"error"`
				Skipped []result `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("junit: %v", err)
	}
	if len(doc.Suites) != 1 || doc.Tests != len(d.Cases) || len(doc.Suites[0].Cases) != len(d.Cases) {
		t.Fatalf("junit: %d suites, %d tests, want %d", len(doc.Suites), doc.Tests, len(d.Cases))
	}
	s := doc.Suites[0]
	failures, errors, skipped := 0, 0, 0
	for i, c := range s.Cases {
		failures, errors, skipped = failures+len(c.Failure), errors+len(c.Error), skipped+len(c.Skipped)
		if n := len(c.Failure) + len(c.Error) + len(c.Skipped); n > 1 || (n == 0) != (d.Cases[i].Verdict == "passed") || c.Class == "" || c.Time == "" {
			t.Errorf("junit: case %d %+v", i, c)
		}
		for _, r := range append(c.Failure, c.Error...) {
			if r.Message == "" || r.Text == "" {
				t.Errorf("junit: case %d says nothing: %+v", i, c)
			}
		}
	}
	if s.Tests != len(d.Cases) || s.Failures != failures || s.Errors != errors || s.Skipped != skipped {
		t.Errorf("junit: %d tests, %d failures, %d errors, %d skipped; counted %d, %d, %d", s.Tests, s.Failures, s.Errors, s.Skipped, failures, errors, skipped)
	}
}

// checkGitHub checks that each line is one command for one case, or one of the last ones.
func checkGitHub(t *testing.T, d *TestDocument, text string) {
	t.Helper()
	want := 0
	for i := range d.Cases {
		if d.Cases[i].gravity() < 5 {
			want++
		}
	}
	n := 0
	for line := range strings.Lines(text) {
		switch {
		case n < want && (strings.HasPrefix(line, "::error file=") || strings.HasPrefix(line, "::warning file=") || strings.HasPrefix(line, "::notice file=")):
			n++
			head, _, _ := strings.Cut(line[2:], "::")
			if strings.Count(head, ",") != 2 || strings.Count(head, "=") < 3 {
				t.Errorf("github: %s", line)
			}
		case strings.Contains(line, "::"), strings.Contains(line, "##["):
			t.Errorf("github: a command of somebody else's: %s", line)
		}
	}
	if n != want {
		t.Errorf("github: %d annotations, want %d", n, want)
	}
}

// checkTAP checks that there is a line for each case, and that the blocks are YAML.
func checkTAP(t *testing.T, d *TestDocument, text string) {
	t.Helper()
	n, block, in := 0, "", false
	for line := range strings.Lines(text) {
		switch {
		case line == "  ---\n":
			block, in = "", true
		case line == "  ...\n":
			in = false
			var v struct {
				Message, Verdict, Severity string
				At                         struct {
					File string
					Line int
				}
				Visible []struct{ Skill, Wanted, Found string }
				Details []string
			}
			dec := yaml.NewDecoder(strings.NewReader(block))
			if err := dec.Decode(&v); err != nil {
				t.Errorf("tap: %v in\n%s", err, block)
			} else if c := &d.Cases[n-1]; v.Message != Escape(c.Reason) || v.At.Line != c.at() || c.Details != nil && len(v.Visible) != len(c.Details.Visible) {
				t.Errorf("tap: %+v", v)
			}
		case in:
			if !strings.HasPrefix(line, "  ") {
				t.Errorf("tap: %q in a block", line)
			}
			block += line[2:]
		case strings.HasPrefix(line, "ok "), strings.HasPrefix(line, "not ok "):
			n++
			if !strings.Contains(line, fmt.Sprintf("ok %d - ", n)) {
				t.Errorf("tap: %q, want number %d", line, n)
			}
			if skip := strings.Contains(line, " # SKIP"); skip != (d.Cases[n-1].Verdict == "skipped") {
				t.Errorf("tap: %q", line)
			}
		case n > 0:
			t.Errorf("tap: %q", line)
		}
	}
	if n != len(d.Cases) || in {
		t.Errorf("tap: %d results, want %d", n, len(d.Cases))
	}
}

// Texts of specs, skills and logs act nowhere.
func TestTestHostile(t *testing.T) {
	for _, evil := range []string{
		"a\x1b[2J\x1b]0;x\aend", "\u202egnp.exe\u2066", "two\nlines\r\nand ok 1 - more", "</testsuite><testcase name='x'/>", "]]>&amp;<!--", "\n::error file=x::pwned\n::set-env name=A::b", "::stop-commands::x", "##[add-mask]x",
		"100%0A::error::x %s %d %!", "# SKIP me", "# TODO \\", "...", "---\n  ...\nok 2 - x", "`code` | <img src=x onerror=y> @octocat #12 [x](javascript:y) https://evil.example", "\"quoted\" 'q' \\", "\xff\xfe\xed\xa0\xbd", strings.Repeat("長い🙂", 700), strings.Repeat("e\u0301\u0301", 700), "", " ", "-rf", "[a-z]+(?:", "{+x+}[-y-]",
	} {
		list := testResults()
		for i := range list {
			r := &list[i]
			r.Case, r.Reason, r.Review, r.Session, r.Agent, r.Text = evil, cmpOr(r.Reason, evil+"; "+evil), evil, evil, evil, evil
			for j := range r.Visible {
				r.Visible[j].Skill, r.Visible[j].Reason = fmt.Sprint(j, evil), cmpOr(r.Visible[j].Reason, evil)
			}
			for j := range r.Lexical {
				r.Lexical[j].Skill, r.Lexical[j].Best, r.Lexical[j].Shared = evil, evil+"x", []string{evil}
			}
			if a := r.Asked; a != nil {
				a.Expected, a.Failures, a.Chosen = evil, []string{evil}, []regress.Chosen{{Skill: evil, Count: 1}}
			}
			if l := r.Listing; l != nil {
				for j := range l.Changes {
					c := &l.Changes[j]
					c.Skill, c.Causes = evil, []regress.Cause{{Skill: evil, What: "is new"}}
					if c.TextAfter != "" {
						c.TextBefore, c.TextAfter = "x "+evil, evil+" y"
					}
				}
				for j := range l.Lines {
					l.Lines[j].Before = "- " + evil
				}
			}
			r.Assumed = []string{evil}
		}
		d := NewTest(evil+"/spec.yaml", evil, evil, list)
		d.Updated, d.Problems = []string{evil}, []string{evil}
		var b bytes.Buffer
		if err := WriteJSON(&b, d); err != nil {
			t.Fatal(err)
		}
		validate(t, b.Bytes())
		forms := testForms(t, d)
		md := forms["md"]
		for _, bad := range []string{"<img", "<testcase", "@octocat", "#12", "](javascript", "`code`"} {
			// What stands in code acts nowhere, nor what a backslash stands before.
			if text := mdSpans.ReplaceAllString(md, ""); strings.Contains(text, bad) {
				t.Errorf("markdown holds %s", bad)
			}
		}
		checkForms(t, d, forms)
	}
}

// mdSpans are what mdCode makes, and single characters behind a backslash.
var mdSpans = regexp.MustCompile("``` .*? ```|`` .*? ``|```.*?```|``.*?``|`[^`]*`|\\\\.")

func cmpOr(old, now string) string {
	if old == "" {
		return ""
	}
	return now
}

// A run of which nothing was judged says so, and what to do.
func TestTestNothing(t *testing.T) {
	for _, tt := range []struct {
		verdicts []regress.Verdict
		outcome  string
		says     string
	}{
		{nil, "inconclusive", "there is no case here"},
		{[]regress.Verdict{regress.Skipped, regress.Skipped}, "skipped", "all are skipped"},
		{[]regress.Verdict{regress.Skipped, regress.Inconclusive}, "inconclusive", "Each case says what is missing"},
		{[]regress.Verdict{regress.Passed, regress.Inconclusive}, "passed", ""},
		{[]regress.Verdict{regress.Errored}, "errored", ""},
		{[]regress.Verdict{regress.Passed, regress.Errored}, "inconclusive", "could not be asked or read"},
	} {
		var list []regress.Result
		for _, v := range tt.verdicts {
			list = append(list, regress.Result{Case: "a", Scorer: spec.ScoreVisible, Verdict: v, Reason: "it is so"})
		}
		d := NewTest("a.yaml", "", "the log's own state", list)
		if d.Outcome != tt.outcome || !strings.Contains(d.advice(), tt.says) || (d.advice() == "") != (tt.says == "") {
			t.Errorf("%v: %s, %q", tt.verdicts, d.Outcome, d.advice())
		}
		forms := testForms(t, d)
		checkForms(t, d, forms)
		for _, name := range []string{"80.txt", "md", "github.txt"} {
			if tt.says != "" && !strings.Contains(strings.Join(strings.Fields(forms[name]), " "), tt.says) {
				t.Errorf("%s: %s", name, forms[name])
			}
		}
	}
}

// One screen holds a few of many cases, and says what the others are.
func TestTestMany(t *testing.T) {
	var list []regress.Result
	for i := range 10_000 {
		r := regress.Result{Case: fmt.Sprint("case ", i), Line: i, Scorer: spec.ScoreVisible, Verdict: regress.Errored, Reason: "no such file", Session: "x.jsonl"}
		if i == 9_999 {
			r.Verdict, r.Change, r.Baseline = regress.Failed, regress.Broken, regress.Passed
		}
		list = append(list, r)
	}
	text := testForms(t, NewTest("a.yaml", "", "the log's own state", list))["80.txt"]
	if lines := strings.Count(text, "\n"); lines > 100 || !strings.Contains(text, "FAILED        case 9999 · broken") || !strings.Contains(text, "And 9,980 more: 9,980 errored; --verbose shows all.") {
		t.Errorf("%d lines:\n%s", lines, text)
	}
}

func TestTestInit(t *testing.T) {
	d := &TestInitDocument{Schema: TestInitSchema, Spec: "tests/skilltrace.test.yaml", Cases: 4, Positive: 2, Miss: 1, Negative: 1, Redacted: true, Sessions: []TestFixture{
		{Session: "5274deb5-0000-4000-8000-000000000003", File: "/home/dev/.claude/projects/-home-dev-shop/5274deb5-0000-4000-8000-000000000003.jsonl", Fixture: "tests/testdata/5274deb5.jsonl", Records: 1612, Bytes: 98_304, Cases: 4},
		{Session: "9c1e0000-0000-4000-8000-000000000003", File: "x.jsonl", Skipped: "a part of it would not show the same"},
		{Session: "evil\x1b[2J\nname", File: "y.jsonl", Skipped: "no case in it"},
	}}
	goldenTables(t, "test-init", d)
	goldenJSON(t, "test-init", d)
	again := &TestInitDocument{}
	readBack(t, d, again)
	var a, b strings.Builder
	if d.WriteTable(&a, Style{}) != nil || again.WriteTable(&b, Style{}) != nil || a.String() != b.String() {
		t.Errorf("read back:\n%s\nwas\n%s", &b, &a)
	}
}
