package replay_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Rows of logs, in the shape that the client writes, with as little in them as
// the tests need. A row is a JSON object; opt are further members of it, as JSON:
// "isMeta":true.

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// row is a record of a conversation with version 2.1.332. An empty parent is null.
func row(typ, uuid, parent string, opt ...string) string {
	p := "null"
	if parent != "" {
		p = quote(parent)
	}
	members := append([]string{`"type":` + quote(typ), `"uuid":` + quote(uuid), `"parentUuid":` + p}, opt...)
	text := strings.Join(members, ",")
	for _, d := range []string{`"sessionId":"s1"`, `"version":"2.1.332"`, `"cwd":"/home/dev/shop"`} {
		if name, _, _ := strings.Cut(d, ":"); !strings.Contains(text, name+":") {
			text += "," + d
		}
	}
	return "{" + text + "}"
}

// at gives a row a time: seconds behind nine o'clock.
func at(seconds int) string {
	return fmt.Sprintf(`"timestamp":"2026-11-28T09:%02d:%02d.000Z"`, seconds/60, seconds%60)
}

func user(uuid, parent, text string, opt ...string) string {
	return row("user", uuid, parent, append([]string{`"message":{"role":"user","content":` + quote(text) + `}`}, opt...)...)
}

// blocks is a user row whose content is a list.
func blocks(uuid, parent, list string, opt ...string) string {
	return row("user", uuid, parent, append([]string{`"message":{"role":"user","content":[` + list + `]}`}, opt...)...)
}

func text(s string) string { return `{"type":"text","text":` + quote(s) + `}` }

func assistant(uuid, parent, id string, list string, opt ...string) string {
	return row("assistant", uuid, parent, append([]string{`"requestId":"req-` + id + `","message":{"id":` + quote(id) + `,"role":"assistant","model":"claude-sonnet-4-5","stop_reason":"end_turn","content":[` + list +
		`],"usage":{"input_tokens":3,"output_tokens":20,"cache_read_input_tokens":1000,"cache_creation_input_tokens":0}}`}, opt...)...)
}

// use is a block of a tool use; input is JSON.
func use(id, name, input string) string {
	return `{"type":"tool_use","id":` + quote(id) + `,"name":` + quote(name) + `,"input":` + input + `}`
}

func skillUse(id, skill string) string { return use(id, "Skill", `{"skill":`+quote(skill)+`}`) }

func result(uuid, parent, id, text string, opt ...string) string {
	return blocks(uuid, parent, `{"type":"tool_result","tool_use_id":`+quote(id)+`,"content":`+quote(text)+`}`, opt...)
}

func failed(uuid, parent, id, text string, opt ...string) string {
	return blocks(uuid, parent, `{"type":"tool_result","tool_use_id":`+quote(id)+`,"is_error":true,"content":`+quote(text)+`}`, opt...)
}

func launched(uuid, parent, id, skill string) string {
	return result(uuid, parent, id, "Launching skill: "+skill, `"toolUseResult":{"success":true,"commandName":`+quote(skill)+`}`)
}

// body is the record of a skill's body; of a call if id is not empty.
func body(uuid, parent, id, txt string) string {
	opt := []string{`"isMeta":true`}
	if id != "" {
		opt = append(opt, `"sourceToolUseID":`+quote(id))
	}
	return blocks(uuid, parent, text(txt), opt...)
}

// note is a note on a re-invocation.
func note(uuid, parent, id, txt string) string {
	return user(uuid, parent, txt, `"isMeta":true`, `"sourceToolUseID":`+quote(id))
}

func bodyText(name, text string) string {
	return "Base directory for this skill: /home/dev/.claude/skills/" + name + "\n\n" + text
}

func command(name, args string) string {
	t := "<command-message>" + name + "</command-message>\n<command-name>/" + name + "</command-name>"
	if args != "" {
		t += "\n<command-args>" + args + "</command-args>"
	}
	return t
}

func attachment(uuid, parent, members string, opt ...string) string {
	return row("attachment", uuid, parent, append([]string{`"attachment":{` + members + `}`}, opt...)...)
}

func listing(uuid, parent string, initial bool, entries ...string) string {
	var names []string
	for _, e := range entries {
		name, _, _ := strings.Cut(strings.TrimPrefix(e, "- "), ": ")
		names = append(names, quote(name))
	}
	return attachment(uuid, parent, fmt.Sprintf(`"type":"skill_listing","content":%s,"isInitial":%v,"skillCount":%d,"names":[%s]`,
		quote(strings.Join(entries, "\n")), initial, len(names), strings.Join(names, ",")))
}

// reattached puts one body back.
func reattached(uuid, parent, name, content string) string {
	return attachment(uuid, parent, `"type":"invoked_skills","skills":[{"name":`+quote(name)+`,"path":"userSettings:`+name+`","content":`+quote(content)+`}]`)
}

// boundary is a compaction; meta are further members of its metadata.
func boundary(uuid, logical string, meta ...string) string {
	m := strings.Join(append([]string{`"trigger":"manual","preTokens":50000,"postTokens":9000`}, meta...), ",")
	return row("system", uuid, "", `"logicalParentUuid":`+quote(logical), `"subtype":"compact_boundary"`, `"compactMetadata":{`+m+`}`)
}

func summary(uuid, parent string, opt ...string) string {
	return user(uuid, parent, "This session is being continued.", append([]string{`"isCompactSummary":true`}, opt...)...)
}
