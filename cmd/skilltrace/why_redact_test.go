package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secrets must not stand in what --redact lets through: parts of prompts, arguments,
// outputs of commands, commands that the model ran, and home directories in each form in
// which a log has them.
var secrets = []string{"SECRETPROMPT", "SECRETSLASH", "SECRETARG", "SECRETSTDERR", "SECRETPATTERN", "SECRETRUN", "SECRETBODY", "SECRETREASON", "SECRETINPUT", "SECRETERROR", "SECRETTASK", "secretword", "jo.ann", "jo-ann", "Jo Ann", "alice"}

// secretSessions writes two sessions full of secrets below a home directory.
func secretSessions(t *testing.T, home string) {
	t.Helper()
	for n := 1; n <= 2; n++ {
		session := fmt.Sprintf("5274deb5-0000-4000-8000-%012d", n)
		row := 0
		var rows []string
		cwd := map[int]string{1: "/home/jo.ann/shop", 2: `C:\\Users\\Jo Ann\\shop`}[n]
		add := func(typ, members string) {
			row++
			up := "null"
			if row > 1 {
				up = fmt.Sprintf(`"u%d"`, row-1)
			}
			rows = append(rows, fmt.Sprintf(`{"type":%q,"uuid":"u%d","parentUuid":%s,"sessionId":%q,"version":"2.1.332","cwd":"%s","timestamp":"2026-11-2%dT09:00:%02d.000Z",%s}`, typ, row, up, session, cwd, n, row, members))
		}
		user := func(content, more string) {
			add("user", `"message":{"role":"user","content":`+content+`}`+more)
		}
		reply := func(block string) {
			add("assistant", fmt.Sprintf(`"requestId":"r%d","message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"usage":{"input_tokens":3,"output_tokens":2}}`, row, row, block))
		}
		call := func(input string) string {
			id := fmt.Sprintf("t%d", row)
			reply(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Skill","input":%s}`, id, input))
			return id
		}
		answer := func(id, text string, failed bool) {
			user(fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"is_error":%v,"content":%q}]`, id, failed, text), "")
		}
		user(`"SECRETPROMPT run the pending secretword migration in /home/alice/x"`, "")
		add("attachment", `"attachment":{"type":"skill_listing","content":"- commit: Writes a commit.\n- db-migrate: Runs pending database migrations, migration by migration.","skillCount":2,"isInitial":true,"names":["commit","db-migrate"]}`)
		reply(`{"type":"text","text":"done"}`)
		user(`"SECRETPROMPT again"`, "")
		answer(call(`{"skill":"db-migrate","args":"SECRETARG"}`), "Shell command failed for pattern \"!`echo SECRETPATTERN`\":\n[stderr]\nSECRETSTDERR: no such file /home/jo.ann/x.", true)
		user(`"SECRETPROMPT a third time"`, "")
		answer(call(`{"skill":"db-migrate"}`), "The user doesn't want to proceed with this tool use. The tool use was rejected. The user said:\nSECRETREASON.", true)
		user(`"SECRETPROMPT a fourth time"`, "")
		answer(call(`{"name":"db-migrate","why":"SECRETINPUT"}`), "<tool_use_error>InputValidationError: Skill failed due to the following issue:\nThe required parameter `skill` is missing: SECRETINPUT</tool_use_error>", true)
		id := call(`{"skill":"db-migrate","args":"SECRETARG"}`)
		answer(id, "Launching skill: db-migrate", false)
		user(fmt.Sprintf(`[{"type":"text","text":"SECRETBODY is put in here\n\nDo it:\n\n`+"```sh\\nmake SECRETRUN\\n./bin/SECRETRUN --all\\nnpm run SECRETRUN:now -- --fast\\n```"+`"}]`), fmt.Sprintf(`,"isMeta":true,"sourceToolUseID":%q`, id))
		user(`"SECRETPROMPT which failed"`, "")
		add("assistant", `"isApiErrorMessage":true,"error":"refused: SECRETERROR in it","message":{"id":"e1","role":"assistant","model":"<synthetic>","content":[]}`)
		user(`"SECRETPROMPT once more"`, "")
		id = fmt.Sprintf("t%d", row)
		reply(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"make SECRETRUN && ./bin/SECRETRUN --all && npm run SECRETRUN:now -- --fast"}}`, id))
		answer(id, "ok", false)
		user(`"<command-message>db-migrate</command-message>\n<command-name>/db-migrate</command-name>\n<command-args>SECRETSLASH</command-args>"`, "")
		user(`[{"type":"text","text":"SECRETBODY typed SECRETSLASH"}]`, `,"isMeta":true`)
		reply(`{"type":"text","text":"ok"}`)
		dir := filepath.Join(home, ".claude/projects/-home-jo-ann-shop")
		if err := os.MkdirAll(filepath.Join(dir, session, "subagents"), 0o755); err != nil {
			t.Fatal(err)
		}
		write := func(path string, rows []string) {
			if err := os.WriteFile(path, []byte(strings.Join(rows, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(filepath.Join(dir, session+".jsonl"), rows)
		write(filepath.Join(dir, session, "subagents", "agent-a1b2c3d4.jsonl"), []string{
			fmt.Sprintf(`{"type":"user","uuid":"s1","parentUuid":null,"isSidechain":true,"agentId":"a1b2c3d4","sessionId":%q,"version":"2.1.332","cwd":"/home/jo.ann/shop","timestamp":"2026-11-2%dT09:00:30.000Z","message":{"role":"user","content":"SECRETTASK commit"}}`, session, n),
			fmt.Sprintf(`{"type":"assistant","uuid":"s2","parentUuid":"s1","isSidechain":true,"agentId":"a1b2c3d4","sessionId":%q,"version":"2.1.332","cwd":"/home/jo.ann/shop","timestamp":"2026-11-2%dT09:00:31.000Z","requestId":"rs","message":{"id":"ms","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"ts","name":"Skill","input":{"skill":"commit","args":"SECRETARG"}}],"usage":{"input_tokens":3,"output_tokens":2}}}`, session, n),
			fmt.Sprintf(`{"type":"user","uuid":"s3","parentUuid":"s2","isSidechain":true,"agentId":"a1b2c3d4","sessionId":%q,"version":"2.1.332","cwd":"/home/jo.ann/shop","timestamp":"2026-11-2%dT09:00:32.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"ts","content":"Launching skill: commit"}]},"toolUseResult":{"success":true,"commandName":"commit"}}`, session, n),
			fmt.Sprintf(`{"type":"user","uuid":"s4","parentUuid":"s3","isSidechain":true,"agentId":"a1b2c3d4","isMeta":true,"sourceToolUseID":"ts","sessionId":%q,"version":"2.1.332","cwd":"/home/jo.ann/shop","timestamp":"2026-11-2%dT09:00:33.000Z","message":{"role":"user","content":[{"type":"text","text":"Base directory for this skill: /home/jo.ann/.claude/skills/commit\n\nSECRETBODY"}]}}`, session, n),
		})
	}
}

func TestWhyRedact(t *testing.T) {
	home := filepath.Join(t.TempDir(), "people", "alice")
	secretSessions(t, home)
	const first = "5274deb5-0000-4000-8000-000000000001"
	log := filepath.Join(home, ".claude/projects/-home-jo-ann-shop", first+".jsonl")
	getenv := func(key string) string { return map[string]string{"HOME": home, "COLUMNS": "400"}[key] }
	seen := map[string]bool{}
	for _, args := range [][]string{{"db-migrate", first}, {"db-migrate", log}, {"db-migrate"}, {"db-migrate", first, "--prompt", "1"}, {"db-migrate", first, "--prompt", "2"}, {"db-migrate", first, "--prompt", "3"},
		{"db-migrate", first, "--prompt", "4"}, {"db-migrate", first, "--prompt", "5"}, {"db-migrate", log, "--prompt", "secretslash"}, {"commit", log}, {"commit"}, {"--all"}, {"--all", log}} {
		for _, format := range []string{"table", "markdown", "json"} {
			var out, errs bytes.Buffer
			run := append([]string{"why", "--format", format, "--verbose"}, args...)
			if status := Main(run, &out, &errs, getenv); status != statusOK {
				t.Fatalf("%q: exit status %d: %s", run, status, errs.String())
			}
			for _, s := range secrets {
				seen[s] = seen[s] || strings.Contains(out.String(), s)
			}
			out.Reset()
			if status := Main(append(run, "--redact"), &out, &errs, getenv); status != statusOK {
				t.Fatalf("%q: exit status %d: %s", run, status, errs.String())
			}
			for _, s := range append(secrets, home) {
				if i := strings.Index(out.String(), s); i >= 0 {
					t.Errorf("%q lets %s through: %s", run, s, out.String()[max(0, i-120):min(out.Len(), i+60)])
				}
			}
			if !strings.Contains(out.String(), "db-migrate") && !strings.Contains(out.String(), "commit") {
				t.Errorf("%q says nothing:\n%s", run, out.String())
			}
			if format == "json" {
				if err := validate(out.Bytes()); err != nil {
					t.Errorf("%q: %v", run, err)
				}
			}
		}
	}
	for _, s := range []string{"SECRETPROMPT", "SECRETSLASH", "SECRETSTDERR", "SECRETPATTERN", "SECRETRUN", "SECRETBODY", "SECRETREASON", "SECRETINPUT", "SECRETTASK", "secretword", "jo.ann", "Jo Ann", "alice"} {
		if !seen[s] {
			t.Errorf("%s does not stand in the answers that are not redacted: nothing is tested", s)
		}
	}
}
