package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/report"
)

// whyAgain runs why and reads its answer.
func whyAgain(t *testing.T, home string, args ...string) report.WhyDocument {
	t.Helper()
	getenv := func(key string) string { return map[string]string{"HOME": home}[key] }
	var out, errs bytes.Buffer
	if status := Main(append([]string{"why", "--format", "json", "--timezone", "UTC"}, args...), &out, &errs, getenv); status != statusOK {
		t.Fatalf("%q: exit status %d: %s", args, status, errs.String())
	}
	if err := validate(out.Bytes()); err != nil {
		t.Fatal(err)
	}
	var doc report.WhyDocument
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestWhyAllAgrees: the line of a skill among all says the same as why says of that
// skill, over the same sessions.
func TestWhyAllAgrees(t *testing.T) {
	made := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(made, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	user := func(n, session int, content, more string) string {
		return fmt.Sprintf(`{"type":"user","uuid":"u%d","parentUuid":%s,"sessionId":"5274deb5-0000-4000-8000-%012d","version":"2.1.332","cwd":"/home/dev/p%d","timestamp":"2026-11-%02dT09:00:%02d.000Z","message":{"role":"user","content":%s}%s}`+"\n",
			n, parent(n), session, session, session+1, n, content, more)
	}
	reply := func(n, session int, block string) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"u%d","parentUuid":"u%d","sessionId":"5274deb5-0000-4000-8000-%012d","version":"2.1.332","cwd":"/home/dev/p%d","timestamp":"2026-11-%02dT09:00:%02d.000Z","requestId":"r%d","message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"usage":{"input_tokens":3,"output_tokens":2}}}`+"\n",
			n, n-1, session, session, session+1, n, n, n, block)
	}
	log := func(session int, text string) {
		write(fmt.Sprintf("projects/-home-dev-p%d/5274deb5-0000-4000-8000-%012d.jsonl", session, session), text)
	}
	const call = `{"type":"tool_use","id":"t%d","name":"Skill","input":{"skill":%q}}`
	// One that names nothing; one whose user types a command of the client and a skill; one
	// that calls a skill of a plugin by its bare name, and one that is not there.
	log(1, user(1, 1, `"hello"`, "")+reply(2, 1, `{"type":"text","text":"hi"}`))
	log(2, user(1, 2, `"<command-message>deploy</command-message>\n<command-name>/deploy</command-name>"`, "")+
		user(2, 2, `[{"type":"text","text":"Base directory for this skill: /x/deploy\n\nDo it."}]`, `,"isMeta":true`)+reply(3, 2, `{"type":"text","text":"ok"}`)+
		user(4, 2, `"and now?"`, "")+reply(5, 2, `{"type":"text","text":"ok"}`))
	log(3, user(1, 3, `"go"`, "")+reply(2, 3, fmt.Sprintf(call, 2, "kit:thing"))+
		user(3, 3, `[{"type":"tool_result","tool_use_id":"t2","content":"Launching skill: kit:thing"}]`, `,"toolUseResult":{"success":true,"commandName":"kit:thing"}`)+
		user(4, 3, `[{"type":"text","text":"Base directory for this skill: /x/thing\n\nDo it."}]`, `,"isMeta":true,"sourceToolUseID":"t2"`)+reply(5, 3, fmt.Sprintf(call, 5, "deploy"))+
		user(6, 3, `[{"type":"tool_result","tool_use_id":"t5","is_error":true,"content":"<tool_use_error>Unknown skill: deploy</tool_use_error>"}]`, "")+reply(7, 3, `{"type":"text","text":"no"}`))
	log(4, user(1, 4, `"go"`, "")+reply(2, 4, fmt.Sprintf(call, 2, "thing"))+
		user(3, 4, `[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"<tool_use_error>Unknown skill: thing</tool_use_error>"}]`, "")+reply(4, 4, `{"type":"text","text":"no"}`))
	write("skills/only-on-disk/SKILL.md", "---\nname: shown-so\ndescription: Nothing.\n---\n")
	write("skills/loose.md", "No skill.\n")

	for _, dirs := range []string{made, made + ",../../fixtures/compact", "../../fixtures/compact,../../fixtures/overflow"} {
		all := whyAgain(t, made, "--all", "--config-dir", dirs)
		if len(all.Skills) < 4 {
			t.Fatalf("%s: %d skills", dirs, len(all.Skills))
		}
		for i := range all.Skills {
			if i%7 > 0 && len(all.Skills) > 40 {
				continue // many are alike
			}
			k := &all.Skills[i]
			one := whyAgain(t, made, k.Skill, "--config-dir", dirs)
			got, _ := json.Marshal(k.WhySummary)
			want, _ := json.Marshal(one.Summary)
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %s among all\n%s\nand alone\n%s", dirs, k.Skill, got, want)
			}
			if all.Summary.Prompts != one.Summary.Prompts || all.Summary.SessionCount != one.Summary.SessionCount || all.Summary.Days != one.Summary.Days {
				t.Errorf("%s: all %+v, %s %+v", dirs, all.Summary, k.Skill, one.Summary)
			}
		}
	}
}

// TestWhyAllUnknown: names that were called and that nobody knows are told, with those
// that are nearly the same.
func TestWhyAllUnknown(t *testing.T) {
	row := func(n int, typ, message string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":"u%d","parentUuid":%s,"sessionId":"s1","version":"2.1.332","cwd":"/home/dev/p","timestamp":"2026-11-28T09:00:%02d.000Z",%s}`+"\n", typ, n, parent(n), n, message)
	}
	call := func(n int, name string) string {
		return row(n, "assistant", fmt.Sprintf(`"message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t%d","name":"Skill","input":{"skill":%q}}],"usage":{"input_tokens":3,"output_tokens":2}}`, n, n, name)) +
			row(n+1, "user", fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","is_error":true,"content":"<tool_use_error>Unknown skill: %s</tool_use_error>"}]}`, n, name))
	}
	calls := row(1, "user", `"message":{"role":"user","content":"go"}`) + call(2, "other") + call(4, "deploi") + call(6, "deploi")
	listing := row(8, "attachment", `"attachment":{"type":"skill_listing","content":"- deploy: Deploys.","isInitial":true,"skillCount":1,"names":["deploy"]}`)
	for name, tt := range map[string]struct{ text, json, table string }{
		"no skill":  {calls, "[{deploi 2 []} {other 1 []}]", "No log and no skill file names a skill. deploi was called twice and refused: no log and no skill file names it. other"},
		"one skill": {calls + listing, "[{deploi 2 [deploy]} {other 1 []}]", "deploi was called twice and refused: no log and no skill file names it; did you mean deploy? other"},
	} {
		home := t.TempDir()
		path := filepath.Join(home, "s1.jsonl")
		if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(whyAgain(t, home, "--all", path).Unknown); got != tt.json {
			t.Errorf("%s: %s, want %s", name, got, tt.json)
		}
		for _, format := range []string{"table", "markdown"} {
			var out, errs bytes.Buffer
			Main([]string{"why", "--all", "--format", format, path}, &out, &errs, func(key string) string { return map[string]string{"HOME": home}[key] })
			want := tt.table
			if format == "markdown" {
				want = "was called twice and refused"
			}
			if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
				t.Errorf("%s, %s: no %q in\n%s%s", name, format, want, out.String(), errs.String())
			}
		}
	}
}

func parent(n int) string {
	if n == 1 {
		return "null"
	}
	return fmt.Sprintf(`"u%d"`, n-1)
}
