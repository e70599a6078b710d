package request

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// logOf opens a log of lines, each a record without its session and version.
func logOf(t testing.TB, version string, lines ...string) *Log {
	t.Helper()
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, `{"sessionId":"s","version":%q,%s}`+"\n", version, l)
	}
	l, err := Open(replay.Source{Name: "log", Records: jsonl.Read("log", strings.NewReader(b.String()), Reading())})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func user(uuid, parent, content string, more ...string) string {
	return fmt.Sprintf(`"type":"user","uuid":%q,"parentUuid":%s,"message":{"role":"user","content":%s}%s`, uuid, quoted(parent), content, strings.Join(more, ""))
}

func says(uuid, parent, id, content string, more ...string) string {
	return fmt.Sprintf(`"type":"assistant","uuid":%q,"parentUuid":%s,"requestId":"r%s","message":{"id":%q,"role":"assistant","model":"claude-sonnet-4-5","content":%s}%s`,
		uuid, quoted(parent), id, id, content, strings.Join(more, ""))
}

func listingOf(uuid, parent, text string) string {
	return fmt.Sprintf(`"type":"attachment","uuid":%q,"parentUuid":%s,"attachment":{"type":"skill_listing","content":%s,"isInitial":true}`, uuid, quoted(parent), quote(text))
}

func quoted(s string) string {
	if s == "" {
		return "null"
	}
	return string(quote(s))
}

func at(t testing.TB, l *Log, uuid string) *Request {
	t.Helper()
	r, err := l.At("main", replay.Where{UUID: uuid})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// told are the messages of a request, one a line.
func told(r *Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.Write(m)
		b.WriteByte('\n')
	}
	return b.String()
}

const tools = `[{"type":"tool_use","id":"t1","name":"Skill","input":{"skill":"a"}}]`

func TestAt(t *testing.T) {
	l := logOf(t, "2.1.140",
		user("p1", "", `"one"`),
		listingOf("l1", "p1", "- a: A\n- b: B"),
		says("a1", "l1", "m1", `[{"type":"text","text":"calling"}]`),
		says("a2", "a1", "m1", tools),
		user("r1", "a2", `[{"type":"tool_result","tool_use_id":"t1","content":"Launching skill: a"}]`),
		user("b1", "r1", `[{"type":"text","text":"body"}]`, `,"isMeta":true`),
		listingOf("l2", "b1", "- c: C"),
		says("a3", "l2", "m2", `[{"type":"text","text":"done"}]`),
		user("p2", "a3", `"left"`),
		says("a4", "p2", "m3", `[{"type":"text","text":"on a branch that a rewind left"}]`),
		user("p3", "a3", `"two \ud83d"`),
		says("a5", "p3", "m4", `[{"type":"text","text":"end"}]`),
	)
	want := strings.Join([]string{
		`{"role":"user","content":[{"type":"text","text":"<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n- a: A\n- b: B\n</system-reminder>\n"},{"type":"text","text":"one"}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"calling"},{"type":"tool_use","id":"t1","name":"Skill","input":{"skill":"a"}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Launching skill: a\n\n<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n- c: C\n</system-reminder>"},{"type":"text","text":"body"}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"done"}]}`,
		`{"role":"user","content":[{"type":"text","text":"two ` + "\uFFFD" + `"}]}`,
		``}, "\n")
	r := at(t, l, "p3")
	if got := told(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if r.Model != "claude-sonnet-4-5" || r.Exact || len(r.Listings) != 2 || !r.Listings[0].Initial || r.Listings[1].Text != "- c: C" {
		t.Errorf("%q, exact %t, listings %v", r.Model, r.Exact, r.Listings)
	}
	for _, what := range []string{"system prompt: minimal", "tools: minimal", "messages: rebuilt"} {
		if !strings.Contains(strings.Join(r.Assumed, "\n"), what) {
			t.Errorf("does not say %q: %q", what, r.Assumed)
		}
	}
	if !json.Valid(r.System) || !json.Valid(r.Tools) || !strings.Contains(string(r.Tools), `"name":"Skill"`) {
		t.Errorf("system %s, tools %s", r.System, r.Tools)
	}
	if got := told(at(t, l, "p2")); !strings.Contains(got, "left") || strings.Contains(got, "two") {
		t.Errorf("the branch that was left: %s", got)
	}
	if got := told(at(t, l, "p1")); strings.Count(got, "\n") != 1 {
		t.Errorf("the first prompt: %s", got)
	}
	if _, err := l.At("main", replay.Where{UUID: "none", File: "log", Line: 99}); err == nil {
		t.Error("a record that is not there")
	}
	if _, err := l.At("nobody", replay.Where{UUID: "p1"}); err == nil && len(l.agents) > 1 {
		t.Error("an agent that is not there")
	}
}

func TestReplaceListing(t *testing.T) {
	lines := []string{
		user("p1", "", `"one"`),
		listingOf("l1", "p1", "- a: A\n- b: B"),
		says("a1", "l1", "m1", tools),
		user("r1", "a1", `[{"type":"tool_result","tool_use_id":"t1","content":"Launching skill: a"}]`),
		listingOf("l2", "r1", "- a: A"),
		says("a2", "l2", "m2", `[{"type":"text","text":"- a: A"}]`),
		user("p2", "a2", `"two"`),
		says("a3", "p2", "m3", `[{"type":"text","text":"end"}]`),
	}
	for _, c := range []struct {
		old, text string
		n         int
		has, not  string
	}{
		{"- a: A\n- b: B", "- a: new\n- z", 1, `tool:\n\n- a: new\n- z\n</system-reminder>`, "b: B"},
		{"- a: A", "- q", 1, `tool:\n\n- q\n</system-reminder>"`, `- q\n- b`},
		{"- a: A", "", 1, `"content":"Launching skill: a"`, ""},
		{"- a: A\n- b: B", "", 1, `{"role":"user","content":[{"type":"text","text":"one"}]}`, "b: B"},
		{"- b: B", "- q", 0, "", "- q"},
		{"", "- q", 0, "", "- q"},
	} {
		r := at(t, logOf(t, "2.1.140", lines...), "p2")
		if n := r.ReplaceListing(c.old, c.text); n != c.n {
			t.Errorf("%q: %d times", c.old, n)
		}
		got := told(r)
		if !strings.Contains(got, c.has) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%q to %q: %s", c.old, c.text, got)
		}
		for _, m := range r.Messages {
			if !json.Valid(m) {
				t.Errorf("not JSON: %s", m)
			}
		}
	}
}

func TestAddListing(t *testing.T) {
	lines := []string{
		user("p1", "", `"one"`),
		says("a1", "p1", "m1", tools),
		user("r1", "a1", `[{"type":"tool_result","tool_use_id":"t1","content":"Launching skill: a"}]`),
		says("a2", "r1", "m2", `[{"type":"text","text":"x"}]`),
		user("p2", "a2", `"two"`),
		says("a3", "p2", "m3", `[{"type":"text","text":"end"}]`),
	}
	for _, c := range []struct{ version, has string }{
		{"2.0.76", `"description":"Call a skill: its instructions then stand in the conversation. Give the name as it is listed.\n\n- a: A"`},
		{"2.1.76", `{"role":"user","content":[{"type":"text","text":"<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n- a: A\n</system-reminder>"},{"type":"text","text":"one"}]}`},
	} {
		r := at(t, logOf(t, c.version, lines...), "p2")
		r.AddListing("- a: A")
		if got := told(r) + string(r.Tools); !strings.Contains(got, c.has) {
			t.Errorf("%s: %s", c.version, got)
		}
		if n := r.ReplaceListing("- a: A", "- b"); n != 1 {
			t.Errorf("%s: put back %d times: %s", c.version, n, told(r))
		}
	}
}

func TestRecords(t *testing.T) {
	prompt := `{"role":"user","content":[{"type":"text","text":"note"},{"type":"text","text":"one"}]}`
	second := `{"role":"user","content":[{"type":"text","text":"two"}]}`
	reply := `{"role":"assistant","content":[{"type":"text","text":"x"}]}`
	request := func(id, base string, keep int, tail ...string) string {
		for i := range tail {
			tail[i] = digest(jsonl.Value(tail[i]))
		}
		list, _ := json.Marshal(tail)
		return fmt.Sprintf(`"type":"api-request","id":%q,"base":%q,"keep":%d,"tail":%s,"shapeHash":"sh","params":{"model":"claude-sonnet-4-5","max_tokens":32000}`, id, base, keep, list)
	}
	blob := func(m string) string {
		return fmt.Sprintf(`"type":"api-request-blob","hash":%q,"message":%s`, digest(jsonl.Value(m)), m)
	}
	shape := `"type":"api-request-shape","shapeHash":"sh","shape":{"system":[{"type":"text","text":"sys"}],"tools":[{"name":"Skill","description":"d","input_schema":{"type":"object"}},{"name":"X","description":"d","input_schema":{"type":"object"},"defer_loading":true}]}`
	l := logOf(t, "2.1.332",
		user("p1", "", `"one"`), shape, blob(prompt), request("q1", "", 0, prompt),
		says("a1", "p1", "m1", `[{"type":"text","text":"x"}]`, `,"requestRef":"q1"`),
		user("p2", "a1", `"two"`), request("q2", "q1", 1, reply, second),
		says("a2", "p2", "m2", `[{"type":"text","text":"y"}]`, `,"requestRef":"q2"`),
		user("p3", "a2", `"three"`), request("q3", "q3", 5, second),
		says("a3", "p3", "m3", `[{"type":"text","text":"z"}]`, `,"requestRef":"q3"`),
		user("p4", "a3", `"four"`), request("q4", "q2", 1<<40, second),
		says("a4", "p4", "m4", `[{"type":"text","text":"z"}]`, `,"requestRef":"q4"`),
	)
	r := at(t, l, "p2")
	if want := prompt + "\n" + reply + "\n" + second + "\n"; told(r) != want || !r.Exact {
		t.Errorf("exact %t, got\n%s\nwant\n%s", r.Exact, told(r), want)
	}
	if string(r.System) != `[{"type":"text","text":"sys"}]` || r.MaxTokens != 32000 ||
		string(r.Tools) != `[{"name":"Skill","description":"d","input_schema":{"type":"object"}}]` {
		t.Errorf("%s %s %d", r.System, r.Tools, r.MaxTokens)
	}
	for _, uuid := range []string{"p3", "p4"} {
		if r := at(t, l, uuid); r.Exact || !strings.Contains(strings.Join(r.Assumed, "\n"), "not whole") || len(r.Messages) < 5 {
			t.Errorf("%s: exact %t, %d messages, %q", uuid, r.Exact, len(r.Messages), r.Assumed)
		}
	}
}

func TestPlain(t *testing.T) {
	note := func(uuid, parent, text string) string {
		return fmt.Sprintf(`"type":"attachment","uuid":%q,"parentUuid":%q,"attachment":{"type":"date"},"renderedRole":"system","rendered":[{"content":%s}]`,
			uuid, parent, quote(reminderOpen+text+reminderClose))
	}
	newer := func(line string) string { return strings.ReplaceAll(line, "claude-sonnet-4-5", "claude-opus-5") }
	l := logOf(t, "2.1.332",
		user("p1", "", `"one"`), note("n1", "p1", "today"), listingOf("l1", "n1", "- a: A"),
		newer(says("a1", "l1", "m1", tools, `,"perTurnEffort":"low"`)),
		user("r1", "a1", `[{"type":"tool_result","tool_use_id":"t1","content":"x"}]`), note("n2", "r1", "left"),
		newer(says("a2", "n2", "m2", `[{"type":"text","text":"y"}]`, `,"perTurnEffort":"low"`)),
		user("p2", "a2", `"two"`),
		newer(says("a3", "p2", "m3", `[{"type":"text","text":"z"}]`, `,"perTurnEffort":"low"`)),
	)
	r := at(t, l, "p2")
	const listed = `The following skills are available for use with the Skill tool:\n\n- a: A`
	for _, want := range []string{
		`{"role":"user","content":"one"}` + "\n" + `{"role":"system","content":[{"type":"text","text":"today\n\n` + listed + `"}],"output_config":{"effort":"low"}}`,
		`{"role":"system","content":[{"type":"text","text":"left"}]}`,
	} {
		if !strings.Contains(told(r), want) {
			t.Errorf("no %s in\n%s", want, told(r))
		}
	}
	r.AddListing("- b")
	if got := told(r); !strings.HasSuffix(got, `{"role":"system","content":[{"type":"text","text":"The following skills are available for use with the Skill tool:\n\n- b"}]}`+"\n") {
		t.Errorf("added: %s", got)
	}
	if !r.Plain() || r.Plain() {
		t.Error("not once")
	}
	want := strings.Join([]string{
		`{"role":"user","content":[{"type":"text","text":"<system-reminder>\ntoday\n\n` + listed + `\n</system-reminder>"},{"type":"text","text":"one"}]}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Skill","input":{"skill":"a"}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"},{"type":"text","text":"<system-reminder>\nleft\n</system-reminder>"}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"y"}]}`,
		`{"role":"user","content":[{"type":"text","text":"<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n- b\n</system-reminder>"},{"type":"text","text":"two"}]}`,
		``}, "\n")
	if got := told(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for old, text := range map[string]string{"- a: A": "- q", "- b": ""} {
		if n := r.ReplaceListing(old, text); n != 1 {
			t.Errorf("%s: %d times in %s", old, n, told(r))
		}
	}
}

// TestCutDown reads a log without what was too private or too large to share.
func TestCutDown(t *testing.T) {
	l := logOf(t, "2.1.140",
		user("p1", "", `[{"type":"text","text":"one"},{"type":"image"}]`),
		says("a1", "p1", "m1", `[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t1","name":"Read","input":{}}]`),
		user("r1", "a1", `[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"image"},{"type":"text","text":"x"}]}]`),
		says("a2", "r1", "m2", `[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"y"}]`),
		says("a3", "a2", "m3", `[{"type":"thinking","thinking":"hm","signature":"s"}]`),
		user("p2", "a3", `"two"`),
	)
	r := at(t, l, "p2")
	const image = `{"type":"text","text":"(An image or a document stood here.)"}`
	want := strings.Join([]string{
		`{"role":"user","content":[{"type":"text","text":"one"},` + image + `]}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[` + image + `,{"type":"text","text":"x"}]}]}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"y"}]}`,
		`{"role":"user","content":[{"type":"text","text":"two"}]}`,
		``}, "\n")
	if got := told(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(strings.Join(r.Assumed, "\n"), "images and documents") {
		t.Errorf("%q", r.Assumed)
	}
}

// TestWrittenAgain writes the records of a log again, as the fixtures of cases are, and
// reads the same request from them.
func TestWrittenAgain(t *testing.T) {
	lines := []string{
		user("p1", "", `"one"`),
		listingOf("l1", "p1", "- a: A"),
		says("a1", "l1", "m1", tools),
		user("r1", "a1", `[{"type":"tool_result","tool_use_id":"t1","content":"Launching skill: a"}]`),
		user("b1", "r1", `[{"type":"text","text":"body"}]`, `,"isMeta":true,"sourceToolUseID":"t1"`),
		says("a2", "b1", "m2", `[{"type":"text","text":"x"}]`),
		user("p2", "a2", `"two"`),
		says("a3", "p2", "m3", `[{"type":"text","text":"end"}]`),
	}
	want := told(at(t, logOf(t, "2.1.140", lines...), "p2"))
	var again strings.Builder
	for _, l := range lines {
		line := fmt.Sprintf(`{"sessionId":"s","version":"2.1.140",%s}`, l)
		for r := range jsonl.Read("log", strings.NewReader(line), jsonl.Options{}) {
			again.Write(jsonl.AppendRecord(nil, r))
			again.WriteByte('\n')
		}
	}
	l, err := Open(replay.Source{Name: "log", Records: jsonl.Read("log", strings.NewReader(again.String()), Reading())})
	if err != nil {
		t.Fatal(err)
	}
	if got := told(at(t, l, "p2")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
