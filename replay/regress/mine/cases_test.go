package mine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/fixtures"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/skills"
)

// log is a log in the making: each record follows the one before it.
type log struct {
	b    strings.Builder
	last string
	n    int
	cwd  string
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// row adds a record and returns its uuid; members are JSON.
func (l *log) row(typ, members string) string {
	l.n++
	uuid := fmt.Sprintf("u%d", l.n)
	parent := "null"
	if l.last != "" {
		parent = quote(l.last)
	}
	cwd := l.cwd
	if cwd == "" {
		cwd = "/home/dev/shop"
	}
	fmt.Fprintf(&l.b, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"5274deb5-0000-4000-8000-000000000000","version":"2.1.332","cwd":%s,"timestamp":"2026-11-28T09:%02d:%02d.000Z","secretField":"unknown members go",%s}`+"\n",
		typ, uuid, parent, quote(cwd), l.n/60, l.n%60, members)
	l.last = uuid
	return uuid
}

func (l *log) prompt(text string) string {
	return l.row("user", `"permissionMode":"default","message":{"role":"user","content":`+quote(text)+`}`)
}

func (l *log) listing(lines ...string) {
	var names []string
	for _, e := range lines {
		name, _, _ := strings.Cut(strings.TrimPrefix(e, "- "), ": ")
		names = append(names, quote(name))
	}
	l.row("attachment", fmt.Sprintf(`"attachment":{"type":"skill_listing","content":%s,"isInitial":true,"skillCount":%d,"names":[%s]}`,
		quote(strings.Join(lines, "\n")), len(names), strings.Join(names, ",")))
}

// reply adds a reply; uses are pairs of a tool and its input.
func (l *log) reply(text string, uses ...string) {
	list := []string{`{"type":"text","text":` + quote(text) + `}`}
	for i := 0; i+1 < len(uses); i += 2 {
		list = append(list, fmt.Sprintf(`{"type":"tool_use","id":"t%d-%d","name":%q,"input":%s}`, l.n+1, i/2, uses[i], uses[i+1]))
	}
	l.row("assistant", fmt.Sprintf(`"requestId":"r%d","message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"usage":{"input_tokens":3,"output_tokens":20,"cache_read_input_tokens":90000}}`, l.n, l.n, strings.Join(list, ",")))
}

// result answers the nth use of the reply before.
func (l *log) result(n int, text string, failed bool) {
	l.row("user", fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d-%d","is_error":%v,"content":%s}]},"toolUseResult":{"success":%v,"stdout":%s}`,
		l.n, n, failed, quote(text), !failed, quote(text)))
}

// call is a reply that calls a skill, what came of it, and the skill's text.
func (l *log) call(name string) {
	l.reply("I call it.", "Skill", `{"skill":`+quote(name)+`,"args":"words of the model"}`)
	use := fmt.Sprintf("t%d-0", l.n)
	l.result(0, "Launching skill: "+name, false)
	l.row("user", `"isMeta":true,"sourceToolUseID":`+quote(use)+`,"message":{"role":"user","content":[{"type":"text","text":`+quote("Base directory for this skill: /home/dev/.claude/skills/"+name+"\n\nThe whole text of the skill.")+`}]}`)
}

func (l *log) read(path string) {
	l.reply("I read it.", "Read", `{"file_path":`+quote(path)+`}`)
	l.result(0, "the content of the file", false)
}

// typed is a skill that the user typed.
func (l *log) typed(name string) {
	l.row("user", `"message":{"role":"user","content":`+quote("<command-message>"+name+"</command-message>\n<command-name>/"+name+"</command-name>\n<command-args>now</command-args>")+`}`)
	l.row("user", `"isMeta":true,"message":{"role":"user","content":[{"type":"text","text":`+quote("Base directory for this skill: /home/dev/.claude/skills/"+name+"\n\nThe whole text.")+`}]}`)
	l.reply("Done as typed.")
}

var twoSkills = []string{"- commit: Commits staged changes. Use when work is to be committed.", "- deploy: Deploys to staging or production", "- plug:review: Reviews a pull request", "- bare"}

// shop is a session with a case of each kind.
func shop() *log {
	l := &log{}
	l.prompt("say hello")
	l.listing(twoSkills...)
	l.reply("hello")
	l.prompt("please commit the staged changes")
	l.call("commit")
	l.reply("committed")
	l.prompt("look at it, and then review it and deploy")
	l.read("/home/dev/shop/main.go")
	l.read("/home/dev/shop/go.mod")
	l.call("review")
	l.call("deploy")
	l.call("deploy")
	l.reply("all done")
	l.prompt("put it on production")
	l.reply("I would have to deploy.")
	l.typed("deploy")
	l.prompt("/commit now")
	l.reply("typed as text")
	l.prompt("call what is not there")
	l.reply("trying", "Skill", `{"skill":"nothing"}`)
	l.result(0, "<tool_use_error>Unknown skill: nothing</tool_use_error>", true)
	l.prompt("nobody answers this")
	return l
}

func TestFrom(t *testing.T) {
	r := replayed(t, "shop.jsonl", []byte(shop().b.String()))
	for _, c := range []struct {
		o    Options
		want []string
	}{
		{Options{}, []string{
			"positive 2 please commit the staged changes [commit full 1 1]",
			"positive 3 look at it, and then review it and deploy [plug:review full 3 1, deploy full 4 2]",
			"miss 4 put it on production [deploy full 0 0] typed /deploy right after; the model had not called it",
		}},
		{Options{Negatives: true}, []string{
			"negative 1 say hello []",
			"positive 2 please commit the staged changes [commit full 1 1]",
			"positive 3 look at it, and then review it and deploy [plug:review full 3 1, deploy full 4 2]",
			"miss 4 put it on production [deploy full 0 0] typed /deploy right after; the model had not called it",
		}},
	} {
		var got []string
		for _, k := range From(r, c.o) {
			var called []string
			for _, s := range k.Skills {
				called = append(called, fmt.Sprintf("%s %s %d %d", s.Name, s.Shown, s.Tool, s.Call))
			}
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s [%s] %s", k.Kind, k.Prompt, k.Text, strings.Join(called, ", "), k.Review)))
			if k.Listed != 4 || k.Mode != "default" || k.Client != "claude-code@2.1.332" {
				t.Errorf("%+v", k)
			}
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%+v:\n got %s\nwant %s", c.o, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
}

// TestLate: a skill that is called behind other tools was triggered late, which is not
// never.
func TestLate(t *testing.T) {
	const path = "../../../fixtures/cases/09-late-trigger/session.jsonl"
	whole, err := run(t, fixtures.Session(t, path), "claude-code")
	if err != nil {
		t.Fatal(err)
	}
	cases := From(whole.Result, Options{})
	if len(cases) != 1 || len(cases[0].Skills) != 2 {
		t.Fatalf("%+v", cases)
	}
	if k := cases[0].Skills[1]; k.Name != "foo" || k.Tool != 4 || k.Call != 2 || !k.Late() {
		t.Errorf("%+v", k)
	}
	if got, want := remark(&cases[0]), "superpowers:using-superpowers was called late: tool call 3, Skill call 1 of the prompt.\nfoo was called late: tool call 4, Skill call 2 of the prompt."; got != want {
		t.Errorf("%s", got)
	}
}

// TestMissUnseen: a skill that the user typed and that no listing told of is no fault of
// its description.
func TestMissUnseen(t *testing.T) {
	l := &log{}
	l.prompt("put it on production")
	l.listing(twoSkills[:1]...)
	l.reply("How?")
	l.typed("deploy")
	got := From(replayed(t, "x.jsonl", []byte(l.b.String())), Options{})
	if settled := Settle(replayedFor(t, []byte(l.b.String())), nil, got); settled[0].Skip != "no signal: deploy was in no listing" {
		t.Errorf("%+v", settled)
	}
	if len(got) != 1 || got[0].Kind != Miss || got[0].Skills[0].Shown != replay.ShownAbsent || !strings.HasSuffix(got[0].Review, "it was in no listing then") {
		t.Errorf("%+v", got)
	}
}

// cutLog cuts the fixture of all cases of a log.
func cutLog(t testing.TB, text string, o Options, redact bool) (*Fixture, []Case) {
	t.Helper()
	r := replayed(t, "x.jsonl", []byte(text))
	var x *Redactor
	if redact {
		x = NewRedactor(r.Session)
	}
	f, err := Cut(r, From(r, o), jsonl.Read("x.jsonl", strings.NewReader(text), jsonl.Options{}), x)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Agree(r, replayed(t, "x.jsonl", f.Text), f, redact)
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Text)
	}
	return f, cases
}

// TestCut looks at what a fixture holds, and at what it must not.
func TestCut(t *testing.T) {
	f, cases := cutLog(t, shop().b.String(), Options{}, false)
	text := string(f.Text)
	for _, want := range []string{"please commit the staged changes", "say hello", "Launching skill: commit", "- deploy: Deploys to staging", `{\"skill\":\"review\"}`, "/home/dev/shop/go.mod", "claude-sonnet-4-5", "90000"} {
		if !strings.Contains(text, want) && !strings.Contains(text, strings.ReplaceAll(want, `\"`, `"`)) {
			t.Errorf("the fixture lacks %s", want)
		}
	}
	for _, not := range []string{"the content of the file", "The whole text", "words of the model", "I would have to deploy", "secretField", "typed as text", "Done as typed", "nobody answers"} {
		if strings.Contains(text, not) {
			t.Errorf("the fixture holds %q", not)
		}
	}
	if len(cases) != 3 || cases[0].Prompt != 2 || cases[2].Prompt != 4 {
		t.Errorf("%+v", cases)
	}
	if again, _ := cutLog(t, shop().b.String(), Options{}, false); !bytes.Equal(again.Text, f.Text) {
		t.Error("two fixtures of one log differ")
	}
	// A fixture is a log: that of a fixture is the same.
	if again, _ := cutLog(t, text, Options{}, false); len(again.Text) > len(f.Text) {
		t.Errorf("a fixture of the fixture has %d bytes, of %d", len(again.Text), len(f.Text))
	}
}

// TestCutRewind: what a rewind left is not in a fixture, and the numbers of prompts are
// those of the fixture.
func TestCutRewind(t *testing.T) {
	l := &log{}
	l.prompt("say hello")
	l.listing(twoSkills...)
	l.reply("hello")
	before := l.last
	l.prompt("deploy this words are gone")
	l.call("deploy")
	l.reply("deployed")
	l.last = before
	l.prompt("commit the staged changes")
	l.call("commit")
	f, cases := cutLog(t, l.b.String(), Options{}, false)
	if len(cases) != 1 || cases[0].Prompt != 2 || strings.Contains(string(f.Text), "words are gone") {
		t.Errorf("%+v\n%s", cases, f.Text)
	}
	s, err := replay.Observe(replay.Source{Name: "x", Records: jsonl.Read("x", bytes.NewReader(f.Text), replay.Reading())})
	if err != nil {
		t.Fatal(err)
	}
	uses := &replay.Usage{}
	replay.CountUses(uses, s)
	if n := uses.At(s.End)["deploy"].Count; n != 1 {
		t.Errorf("deploy counts %d times: what a rewind left was used all the same", n)
	}
}

var secrets = map[string]string{
	"Anthropic":   "sk-ant-api03-AbCdEfGh1234567890_xYz",
	"GitHub":      "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
	"AWS":         "AKIAIOSFODNN7EXAMPLF",
	"AWS secret":  "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",
	"JWT":         "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
	"private key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nAAAB\n-----END OPENSSH PRIVATE KEY-----",
	"bearer":      "9f8a7b6c5d4e3f2a",
	"password":    "hunter2-x",
	"url":         "admin:s3cr3tpw",
	"hex":         "0123456789abcdef0123456789abcdef01234567",
	"base64":      "Zx8Kq2LmN9pRt4VwYb7DcF1G",
	"email":       "alice.liddell@wonderland.co.uk",
	"user":        "aliddell",
	"remote":      "git.wonderland.internal:teaparty/hatter.git",
	"host":        "db01.wonderland.corp",
	"address":     "10.20.30.40",
	"folder":      "work/rabbit-hole",
}

// seeded is a session with secrets in everything that a person or a client writes.
func seeded() string {
	s := secrets
	text := fmt.Sprintf("deploy with %s and %s, %s / %s\n%s\n%s Authorization: Bearer %s password=%s https://%s@host.example/x commit %s key %s mail %s in /home/%s/%s/src/main.go from git@%s on %s at %s (%s)",
		s["Anthropic"], s["GitHub"], s["AWS"], s["AWS secret"], s["JWT"], s["private key"], s["bearer"], s["password"], s["url"], s["hex"], s["base64"], s["email"], s["user"], s["folder"], s["remote"], s["host"], s["address"], s["user"])
	l := &log{cwd: "/home/" + s["user"] + "/" + s["folder"]}
	l.row("system", `"subtype":"informational","content":`+quote(text))
	l.prompt("another prompt: " + text)
	l.listing("- deploy: Deploys what "+s["user"]+" built with "+s["GitHub"]+" from "+l.cwd+"/bin, mail "+s["email"]+" or "+s["host"], "- commit: Commits …")
	l.reply(text)
	l.prompt(text)
	l.reply(text, "Bash", `{"command":`+quote(text)+`}`)
	l.result(0, text, false)
	l.read(l.cwd + "/go.mod")
	l.call("deploy")
	l.row("attachment", `"attachment":{"type":"invoked_skills","skills":[{"name":"deploy","path":`+quote(l.cwd+"/.claude/skills/deploy")+`,"content":`+quote(text)+`}]}`)
	l.typed("deploy")
	return l.b.String()
}

func TestRedact(t *testing.T) {
	text := seeded()
	f, cases := cutLog(t, text, Options{}, true)
	for what, s := range secrets {
		for _, line := range strings.Split(s, "\n") {
			if strings.Contains(strings.ToLower(string(f.Text)), strings.ToLower(line)) {
				t.Errorf("%s: %s is in the fixture", what, line)
			}
		}
	}
	if len(cases) != 1 || !strings.HasPrefix(cases[0].Text, "deploy with REDACTED-") || !strings.Contains(cases[0].Text, "in /project/src/main.go") || !strings.Contains(cases[0].Text, "https://REDACTED-6@host") {
		t.Errorf("%+v", cases)
	}
	t.Logf("%s", cases[0].Text)
	// Listings keep their lengths.
	content := func(data string) (out string) {
		for r := range jsonl.Read("x", strings.NewReader(data), jsonl.Options{}) {
			if r.Attachment != nil && r.Attachment.Type == "skill_listing" {
				out = r.Attachment.Content
			}
		}
		return out
	}
	whole, cut := content(text), content(string(f.Text))
	if len(whole) != len(cut) || whole == cut || !strings.HasPrefix(cut, "- deploy: Deploys what user") {
		t.Errorf("the listing\n%s\nbecame\n%s", whole, cut)
	}
}

// TestRedactText: what was equal stays equal, and words stay.
func TestRedactText(t *testing.T) {
	l := &log{cwd: `C:\Users\Alice\code`}
	l.prompt("x")
	r := replayed(t, "x.jsonl", []byte(l.b.String()))
	x := NewRedactor(r.Session)
	for _, c := range []struct{ in, want string }{
		{"run the tests and commit; pass: all of them, tokens: 4096 of the 200000", "run the tests and commit; pass: all of them, tokens: 4096 of the 200000"},
		{"a@b.org, c@d.org and a@b.org", "user1@example.com, user2@example.com and user1@example.com"},
		{"GITHUB_TOKEN=abcd1234 again abcd1234? api_key: 'q9-w8'", "GITHUB_TOKEN=REDACTED-1 again abcd1234? api_key: 'REDACTED-2'"},
		{`see C:\Users\Alice\code\x.go, "C:\\Users\\Alice\\code\\x.go", C:\Users\alice\other`, `see /project\x.go, "/project\\x.go", C:\Users\userx\other`},
		{"ask Alice, not Malice", "ask userx, not Malice"},
		{"/home/user/x and /home/dev/y stay", "/home/user/x and /home/dev/y stay"},
		{"https://github.com/acme/rockets/pull/7 https://docs.example.com/x http://localhost:80 https://acme.io/p", "https://example.com/owner1/repo/pull/7 https://docs.example.com/x http://localhost:80 https://host1.example/p"},
		{"claude-sonnet-4-5-20250929 123e4567-e89b-12d3-a456-426614174000 getUserNameFromSession2Database3", "claude-sonnet-4-5-20250929 123e4567-e89b-12d3-a456-426614174000 getUserNameFromSession2Database3"},
	} {
		if got := x.Text(c.in); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
		if once := x.Text(c.in); x.Text(once) != once {
			t.Errorf("%s: redacted twice it is %s", c.in, x.Text(once))
		}
	}
}

// TestRedactHostile: names that are no text, or too many, do no harm.
func TestRedactHostile(t *testing.T) {
	l := &log{}
	var many strings.Builder
	for i := range 500 {
		fmt.Fprintf(&many, "/home/name%d/x ", i)
	}
	l.prompt(many.String() + "/home/bad\xff/x /home/a/y /Users/will/z and will it do?")
	s, err := replay.Observe(replay.Source{Name: "x", Records: jsonl.Read("x", strings.NewReader(strings.ReplaceAll(l.b.String(), `\ufffd`, `\ud800`)), replay.Reading())})
	if err != nil {
		t.Fatal(err)
	}
	x := NewRedactor(s)
	got := x.Text(s.Main().Events[0].Text)
	if strings.Contains(got, "name") || strings.Contains(got, "/home/a/") || strings.Contains(got, "/Users/will/") || !strings.HasSuffix(got, "and will it do?") {
		t.Errorf("%s", got)
	}
}

// FuzzRedact: the texts of a listing keep their lengths, and its entries their names.
func FuzzRedact(f *testing.F) {
	for _, s := range secrets {
		f.Add("some " + s + " text /home/alice/x alice")
	}
	l := &log{cwd: "/home/alice/code"}
	l.prompt("x")
	s, err := replay.Observe(replay.Source{Name: "x", Records: jsonl.Read("x", strings.NewReader(l.b.String()), replay.Reading())})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x := NewRedactor(s)
		x.fixed = true
		if got := x.Text(text); budget.Len16(got) != budget.Len16(text) {
			t.Errorf("%q became %q", text, got)
		}
		a := &jsonl.Attachment{Content: "- deploy: " + text + "\n- commit", Names: []string{"deploy", "commit"}}
		before := skills.ParseListing(a.Content, a.Names)
		NewRedactor(s).listing(a)
		after := skills.ParseListing(a.Content, a.Names)
		if len(before) != len(after) {
			t.Fatalf("%q: %d entries became %d", text, len(before), len(after))
		}
		for i := range before {
			if before[i].Name != after[i].Name || budget.Len16(before[i].Raw) != budget.Len16(after[i].Raw) {
				t.Errorf("%q became %q", before[i].Raw, after[i].Raw)
			}
		}
	})
}

func TestFileName(t *testing.T) {
	taken := map[string]bool{}
	for _, c := range [][2]string{{"5274deb5-0000-4000", "5274deb5.jsonl"}, {"5274DEB5-1", "5274DEB5-2.jsonl"}, {"", "session.jsonl"}, {"../../x", "x.jsonl"}, {"é", "session-2.jsonl"}} {
		if got := FileName(c[0], taken); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

// TestWriteSpec reads the spec that was written, and runs it on the fixture.
func TestWriteSpec(t *testing.T) {
	f, cases := cutLog(t, shop().b.String(), Options{Negatives: true}, false)
	fixture := replayedFor(t, f.Text)
	cases = Settle(fixture, nil, cases)
	var b bytes.Buffer
	if err := WriteSpec(&b, []string{".claude/skills"}, []Group{{"testdata/5274deb5.jsonl", cases}}); err != nil {
		t.Fatal(err)
	}
	golden(t, "spec.yaml", b.Bytes())
	s, err := spec.Read(spec.DefaultName, b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if s.Cases[2].Expect.Triggers == nil || len(s.Cases[2].Expect.Triggers.Any) != 2 || s.Cases[3].Review == "" {
		t.Errorf("%+v", s.Cases)
	}
	passes(t, "x.jsonl", s, fixture, nil)
}

// TestSettle: a skill that stands otherwise by the files of now is expected to, and the
// case is marked.
func TestSettle(t *testing.T) {
	f, cases := cutLog(t, shop().b.String(), Options{}, false)
	fixture := replayedFor(t, f.Text)
	m := skills.NewMemory()
	if err := m.Write("/skills/deploy/SKILL.md", []byte("---\nname: deploy\ndescription: "+strings.Repeat("x", 3000)+"\n---\n")); err != nil {
		t.Fatal(err)
	}
	set := regress.NewSet("now", m, []string{"/skills"})
	cases = Settle(fixture, set, cases)
	k := cases[2].Skills[0]
	if k.Shown != replay.ShownShortened || k.Rank != 0 || !strings.HasSuffix(cases[2].Review, "; deploy was described in full in the session and is shortened by the files read now") {
		t.Errorf("%+v", cases[2])
	}
	if cases[0].Review != "" {
		t.Errorf("%+v", cases[0])
	}
	var b bytes.Buffer
	if err := WriteSpec(&b, nil, []Group{{"x.jsonl", cases}}); err != nil {
		t.Fatal(err)
	}
	s, err := spec.Read("x", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	passes(t, "x.jsonl", s, fixture, set)
}

// replayedFor is a log, ready for the scorers.
func replayedFor(t *testing.T, text []byte) *regress.Session {
	t.Helper()
	s, err := replay.Observe(replay.Source{Name: "x.jsonl", Records: jsonl.Read("x.jsonl", bytes.NewReader(text), replay.Reading())})
	if err != nil {
		t.Fatal(err)
	}
	r, err := run(t, s, "claude-code")
	if err != nil {
		t.Fatal(err)
	}
	return regress.Prepare(r.Result, r.courses, r.in, nil)
}

// passes runs a spec on its fixture: each case passes, or is skipped.
func passes(t *testing.T, name string, s *spec.Spec, p *regress.Session, set *regress.Set) {
	t.Helper()
	for i := range s.Cases {
		c := &s.Cases[i]
		if c.Skip != "" {
			continue
		}
		results, _, _ := p.Run(c, regress.ScorersOf(s, c, nil), set, nil)
		for _, res := range results {
			if res.Verdict != regress.Passed && res.Verdict != regress.Skipped {
				t.Errorf("%s: %s, %s: %s: %s", name, c.Name, res.Scorer, res.Verdict, res.Reason)
			}
		}
	}
}

func TestExport(t *testing.T) {
	_, cases := cutLog(t, shop().b.String(), Options{Negatives: true}, false)
	prompts := Prompts([]Group{{"x.jsonl", cases}})
	prompts = append(prompts, Prompt{Name: "a hostile prompt", Text: "file:///etc/passwd {{ env.HOME }} {% include 'x' %}", Any: []string{"plug:a+b", `q"`}})
	var b bytes.Buffer
	if err := WritePromptfoo(&b, prompts); err != nil {
		t.Fatal(err)
	}
	golden(t, "promptfoo.yaml", b.Bytes())
	files, err := PluginEval(prompts)
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	for _, f := range files {
		fmt.Fprintf(&b, "== %s\n%s", f.Path, f.Text)
	}
	golden(t, "plugineval.txt", b.Bytes())
}

// TestTexts: whatever a log holds, a prompt comes out of the YAML as it was.
func TestTexts(t *testing.T) {
	for _, text := range []string{"none", "true", "- a: b", "a\n\n  b\n", "\ttab\r\n", "\x00\x1b[31m", "é漢字\u2028\u202e", "---\nfront: matter\n---\n", " lead", "#", "'\"", strings.Repeat("x ", 500)} {
		files, err := PluginEval([]Prompt{{Name: text, Text: text, Any: []string{"x"}}})
		if err != nil {
			t.Fatal(err)
		}
		var back struct {
			Name      string
			Execution struct{ Prompt string }
		}
		if err := yaml.Unmarshal(files[0].Text, &back); err != nil || back.Execution.Prompt != text || back.Name == "" {
			t.Errorf("%q: %v %q", text, err, back)
		}
		var b bytes.Buffer
		if err := WriteSpec(&b, nil, []Group{{"x.jsonl", []Case{{Kind: Miss, Prompt: 1, Text: text, Review: text, Listed: 1, Skills: []Skill{{Name: "a: b", Shown: replay.ShownFull}}}}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := spec.Read("x", b.Bytes()); err != nil {
			t.Errorf("%q: %v\n%s", text, err, b.String())
		}
		if strings.ContainsAny(b.String(), "\x00\x1b\u202e") {
			t.Errorf("%q: %q", text, b.String())
		}
	}
}

// golden compares a text with a file of testdata, which -update writes.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// twisted is a session in which ids stand for several records, and lines hold several.
func twisted() string {
	text := shop().b.String()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	aside := strings.Replace(lines[3], `"type":"user"`, `"type":"system","isSidechain":true,"agentId":"a1"`, 1)
	glued := regexp.MustCompile(`"(?:uuid|parentUuid)":(?:null|"[^"]*"),`).ReplaceAllString(strings.Join(lines[:9], ""), "")
	boundary := `{"type":"system","subtype":"compact_boundary","logicalParentUuid":"u3","sessionId":"s","version":"2.1.332","compactMetadata":{"trigger":"auto"}}`
	return aside + "\n" + glued + boundary + "\n" + strings.Join(lines, "\n") + "\n" + lines[5] + "\n"
}

// TestTwisted: whatever ids and lines a log has, its fixture shows the same or none is
// made.
func TestTwisted(t *testing.T) {
	text := twisted()
	r := replayed(t, "x.jsonl", []byte(text))
	cases := From(r, Options{Negatives: true})
	if len(cases) == 0 {
		t.Fatal("no case")
	}
	f, err := Cut(r, cases, jsonl.Read("x.jsonl", strings.NewReader(text), jsonl.Options{}), nil)
	if err != nil {
		return
	}
	if _, err := Agree(r, replayed(t, "x.jsonl", f.Text), f, false); err != nil {
		t.Log(err)
	}
}

// FuzzCut: a fixture of any log is a log without defects, and where ids are what they
// should be it shows each case as the whole log does.
func FuzzCut(f *testing.F) {
	f.Add([]byte(shop().b.String()), false)
	f.Add([]byte(seeded()), true)
	f.Add([]byte(twisted()), false)
	f.Fuzz(func(t *testing.T, data []byte, redact bool) {
		r := replayed(t, "x.jsonl", data)
		if r == nil {
			return
		}
		cases := From(r, Options{Negatives: true})
		if len(cases) == 0 {
			return
		}
		var x *Redactor
		if redact {
			x = NewRedactor(r.Session)
		}
		fixture, err := Cut(r, cases, jsonl.Read("x.jsonl", bytes.NewReader(data), jsonl.Options{}), x)
		if err != nil {
			return // ids that stand for several records
		}
		again := replayed(t, "x.jsonl", fixture.Text)
		if again == nil {
			t.Fatalf("the fixture cannot be replayed:\n%s", fixture.Text)
		}
		if len(again.Session.Defects) > 0 {
			t.Fatalf("%+v\n%s", again.Session.Defects, fixture.Text)
		}
		if _, err := Agree(r, again, fixture, redact); err != nil {
			if s := r.Session; s.Replayed == 0 && len(s.Defects) == 0 && len(s.Agents) == 1 {
				t.Fatalf("%v\n%s", err, fixture.Text)
			} // else it is not used
		}
	})
}
