package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// request records a request: what it says to the model, in messages of a role each.
func request(id, base, keep string, messages ...[2]string) (rows []string) {
	var tail []string
	for i, m := range messages {
		hash := quote(id + "/" + itoa(i))
		tail = append(tail, hash)
		if m[0] != "assistant" {
			rows = append(rows, `{"type":"api-request-blob","sessionId":"s1","hash":`+hash+`,"message":{"role":`+quote(m[0])+`,"content":[`+text(m[1])+`]}}`)
		}
	}
	if base != "" {
		base = `,"base":` + quote(base)
	}
	return append(rows, `{"type":"api-request","sessionId":"s1","id":`+quote(id)+base+`,"keep":`+keep+`,"shapeHash":"h","tail":[`+strings.Join(tail, ",")+`]}`)
}

// rendered is an attachment with its text as sent.
func rendered(uuid, parent, typ, role, text string) string {
	return attachment(uuid, parent, `"type":`+quote(typ), `"rendered":[{"content":`+quote(text)+`}]`, `"renderedRole":`+quote(role))
}

func remind(text string) string { return "<system-reminder>\n" + text + "\n</system-reminder>\n" }

// prompt lists the segments of a call's prompt: layer, part and length.
func prompt(s *replay.Session, call int) (out []string) {
	a := s.Main()
	for i := a.Calls[call].Tail; i >= 0; i = a.Segments[i].Prev {
		g := &a.Segments[i]
		out = append([]string{string(g.Layer) + "/" + string(g.Part) + "/" + itoa(g.Size.Len16())}, out...)
	}
	return out
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

func TestUnrecorded(t *testing.T) {
	instructions := remind("# claudeMd\n" + strings.Repeat("Use tabs. ", 30))
	date := remind("Today's date is 2026-11-28.")
	ref := func(id string) string { return `"requestRef":` + quote(id) }
	log := func(first, second []string) *replay.Session {
		rows := []string{user("a", "", "Fix the build"), rendered("b", "a", "date", "user", date)}
		rows = append(append(rows, first...), assistant("c", "b", "m1", use("t1", "Read", `{"file_path":"/a"}`), ref("r1")), result("d", "c", "t1", "1\tpackage shop"))
		return observe(t, append(append(rows, second...), assistant("e", "d", "m2", text("Done."), ref("r2")))...)
	}
	plain := "other/messages/13 other/messages/" + itoa(len(date))
	reply := " other/messages/22 other/messages/14"
	known := [2]string{"user", date + "Fix the build"}
	answer := [2]string{"user", "1\tpackage shop"}
	said := [2]string{"assistant"}
	for _, tt := range []struct {
		name                string
		first, second       []string
		wantFirst, wantNext string
	}{
		{"no records", nil, nil, "", reply},
		{"nothing more", request("r1", "", "0", known), request("r2", "r1", "1", said, answer), "", reply},
		{"instructions", request("r1", "", "0", [2]string{"user", instructions + known[1]}), request("r2", "r1", "1", said, answer), " other/messages/" + itoa(len(instructions)), reply},
		{"later", request("r1", "", "0", known), request("r2", "r1", "1", said, [2]string{"user", answer[1] + instructions}), "", reply + " other/messages/" + itoa(len(instructions))},
		{"line feeds", request("r1", "", "0", [2]string{"user", known[1] + "\n\n\n"}), nil, "", reply},
		{"messages that another request had", request("r1", "", "0", known), request("r2", "r1", "0", said, [2]string{"user", answer[1] + instructions}), "", reply},
		{"a base that is not known", request("r1", "", "0", known), request("r2", "r0", "1", said, [2]string{"user", answer[1] + instructions}), "", reply},
		{"a message that is not known", request("r1", "", "0", known, said), nil, "", reply},
		{"no new reply", request("r1", "", "0", known), request("r2", "r1", "1", [2]string{"user", answer[1] + instructions}), "", reply},
	} {
		s := log(tt.first, tt.second)
		equal(t, tt.name+": first prompt", strings.Join(prompt(s, 0), " "), plain+tt.wantFirst)
		equal(t, tt.name+": next prompt", strings.Join(prompt(s, 1), " "), plain+tt.wantFirst+tt.wantNext)
	}
}

// TestApart: words of the client that go in messages of a role of their own stand apart
// from results, and some models get them without tags.
func TestApart(t *testing.T) {
	left := "<total_tokens>900 tokens left</total_tokens>"
	rows := func(role, words string) *replay.Session {
		rows := []string{user("a", "", "Fix the build")}
		rows = append(rows, request("r1", "", "0", [2]string{"user", "Fix the build"})...)
		rows = append(rows, assistant("b", "a", "m1", skillUse("t1", "x"), `"requestRef":"r1"`), failed("c", "b", "t1", "Unknown skill: x"), rendered("d", "c", "total_tokens_reminder", "system", remind(left)))
		rows = append(rows, request("r2", "r1", "1", [2]string{"assistant"}, [2]string{"user", "Unknown skill: x"}, [2]string{role, words})...)
		return observe(t, append(rows, assistant("e", "d", "m2", text("Done."), `"requestRef":"r2"`))...)
	}
	for _, tt := range []struct{ name, role, words, want string }{
		{"glued", "user", remind(left), "call/result/" + itoa(len(remind(left)))},
		{"apart", "system", remind(left), "other/messages/" + itoa(len(remind(left)))},
		{"without tags", "system", left, "other/messages/" + itoa(len(left))},
	} {
		p := prompt(rows(tt.role, tt.words), 1)
		equal(t, tt.name, p[len(p)-1], tt.want)
	}
}

func TestShape(t *testing.T) {
	size := func(s *replay.Shape) [3]int {
		if s == nil {
			return [3]int{}
		}
		return [3]int{s.System.Len16(), s.SkillTool.Len16(), s.Tools.Len16()}
	}
	tool := func(name, more string) string {
		return `{"name":` + quote(name) + `,"description":"0123456789"` + more + `}`
	}
	n := len(tool("Read", ""))
	shape := func(system, tools string) string {
		return `{"type":"api-request-shape","sessionId":"s1","shapeHash":"h","shape":{"system":[` + system + `],"tools":[` + tools + `]}}`
	}
	snap := func(uuid, parent, members string) string {
		return attachment(uuid, parent, `"type":"prompt_snapshot",`+members)
	}
	system, tools := `{"text":"You help."}`, tool("Read", "")+","+tool("Skill", "")
	for _, tt := range []struct {
		name string
		rows []string
		want [2][3]int
	}{
		{"none", nil, [2][3]int{}},
		{"of the request", append(request("r1", "", "0"), shape(system, tools)), [2][3]int{{9, n + 1, n}, {}}},
		{"deferred tools", append(request("r1", "", "0"), shape(system, tools+","+tool("Far", `,"defer_loading":true`))), [2][3]int{{9, n + 1, n}, {}}},
		{"clipped texts", append(request("r1", "", "0"), shape(`{"text":"You help.","scrubbedChars":91}`, tools)), [2][3]int{{100, n + 1, n}, {}}},
		{"snapshot", []string{snap("s", "a", `"systemPrompt":["You help."],"tools":[`+tools+`]`)}, [2][3]int{{9, n + 1, n}, {9, n + 1, n}}},
		{"a list in the tool", []string{snap("s", "a", `"systemPrompt":["You help."],"tools":[`+tool("Read", "")+`,{"name":"Skill","description":"0123456789<available_skills>- k: Kay.</available_skills>"}]`)},
			[2][3]int{{9, n + 1 + len(`<available_skills></available_skills>`), n}, {9, n + 1 + len(`<available_skills></available_skills>`), n}}},
	} {
		rows := append([]string{user("a", "", "Do it")}, tt.rows...)
		last := "a"
		if strings.Contains(strings.Join(tt.rows, ""), "prompt_snapshot") {
			last = "s"
		}
		s := observe(t, append(rows, assistant("b", last, "m1", text("Done."), `"requestRef":"r1"`), user("c", "b", "Again"), assistant("d", "c", "m2", text("Done.")))...)
		for i, want := range tt.want {
			equal(t, tt.name, size(s.Main().Calls[i].Shape), want)
		}
	}
	// The first record of a prompt shows no tools.
	s := observe(t, user("a", "", "Do it"), snap("s", "a", `"systemPrompt":["You help."]`), assistant("b", "s", "m1", text("Done.")), user("c", "b", "Again"), snap("u", "c", `"systemPrompt":["You help."],"tools":[`+tools+`]`), assistant("d", "u", "m2", text("Done.")))
	equal(t, "first call", size(s.Main().Calls[0].Shape), [3]int{9, n + 1, n})
}

// TestContext: the context of a session is sent where the log has its text as sent.
func TestContext(t *testing.T) {
	git := remind("# gitStatus\nmain")
	s := observe(t, user("a", "", "Do it"), attachment("b", "a", `"type":"session_context","context":{}`), rendered("c", "b", "session_context", "user", git),
		rendered("d", "c", "dynamic_skill", "system", remind("New skills")), assistant("e", "d", "m1", text("Done.")))
	equal(t, "prompt", strings.Join(prompt(s, 0), " "), "other/messages/5 other/messages/"+itoa(len(git))+" listing/header/"+itoa(len(remind("New skills"))))
}

// TestSentRecorded holds the segments to the requests of recordings: all that these
// sent is in other records, which so say the whole of what the model was told.
func TestSentRecorded(t *testing.T) {
	root := os.Getenv("SKILLTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	names, err := filepath.Glob(filepath.Join(root, "conformance", "*", "*", "2.1.3*", "sessions", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skip("no recordings: ../shared or $SKILLTRACE_SHARED is needed")
	}
	shapes := 0
	for _, name := range names {
		s, err := replay.Observe(replay.Source{Name: name, Records: jsonl.ReadFile(name, replay.Reading())})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range s.Agents {
			rows := map[string]bool{}
			for i := range a.Segments {
				if g := &a.Segments[i]; g.Reply > 0 {
					rows[g.UUID] = true
				}
			}
			for i := range a.Calls {
				if a.Calls[i].Shape.Whole() {
					shapes++
				}
				if p := a.Calls[i].Tail; p >= 0 && a.Segments[p].Reply == 0 && (rows[a.Segments[p].UUID] || a.Segments[p].UUID == a.Calls[i].Where.UUID) {
					t.Errorf("%s:%d: the request sent %d characters more than other records show", name, a.Calls[i].Where.Line, a.Segments[p].Size.Len16())
				}
			}
		}
	}
	if shapes < 500 {
		t.Errorf("the system prompt and the tools of %d requests are known", shapes)
	}
}
