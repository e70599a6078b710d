package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// rowsOf is a log in which skills are called one after the other, each with its body,
// and then compacted: what comes back is the last row but one.
func rowsOf(bodies []string, place replay.Place, back []string) []string {
	rows := []string{user("u", "", "Go.", at(0))}
	last := "u"
	for i, b := range bodies {
		name := fmt.Sprint("k", i)
		call, res := fmt.Sprint("c", i), fmt.Sprint("r", i)
		rows = append(rows, assistant(call, last, fmt.Sprint("m", i), skillUse("t"+name, name), at(3*i+1)))
		last = res
		if place == replay.PlaceBehind {
			rows = append(rows, blocks(res, call, `{"type":"tool_result","tool_use_id":"t`+name+`","content":"Launching skill: `+name+`"},`+text(b)))
			continue
		}
		rows = append(rows, launched(res, call, "t"+name, name), body("b"+name, res, "t"+name, b))
		last = "b" + name
	}
	rows = append(rows, boundary("x", last), summary("y", "x"))
	var list []string
	for i := 0; i+1 < len(back); i += 2 {
		list = append(list, fmt.Sprintf(`{"name":%s,"path":"projectSettings:%s","content":%s}`, quote(back[i]), back[i], quote(back[i+1])))
	}
	rows = append(rows, attachment("z", "y", `"type":"invoked_skills","skills":[`+strings.Join(list, ",")+`]`))
	return append(rows, user("v", "z", "On.", at(90)), assistant("w", "v", "mw", text("x"), at(91)))
}

// sized is the file of a skill whose body, with its first line, has so many characters.
func sized(t *testing.T, folder, name string, chars int) (file, body string) {
	t.Helper()
	head := "Base directory for this skill: " + folder + "/" + name + "\n\n"
	if chars < len(head)+1 {
		t.Fatal("too short")
	}
	body = head + strings.Repeat("y", chars-len(head))
	return "---\ndescription: K.\n---\n" + body[len(head):], body
}

// TestDialectLimits pins what comes back after a compaction: the descriptions' limits,
// at their edges.
func TestDialectLimits(t *testing.T) {
	const marker = "\n\n[... skill content truncated for compaction; use Read on the skill path if you need the full text]"
	cut := func(body string) string { return body[:20000-len(marker)] + marker }
	for _, c := range []struct {
		name, client string
		chars        []int                       // of the bodies, in the order of their calls
		back         func(bodies []string) []int // which come back, in order
		as           func(client, body string) string
		want         string // outcome where it departs
	}{
		{"article: five of 5,000 tokens fill 25,000, newest first", "article", []int{400, 20000, 20001, 20002, 20000, 30000}, func([]string) []int { return []int{5, 4, 3, 2, 1} }, nil, ""},
		{"article: behind one that does not fit the rest is dropped", "article", []int{400, 19000, 20000, 20000, 20000, 20000, 4000}, func([]string) []int { return []int{6, 5, 4, 3, 2} }, nil, ""},
		{"article: a smaller one is not taken in its place", "article", []int{400, 19000, 20000, 20000, 20000, 20000, 4000}, func([]string) []int { return []int{6, 5, 4, 3, 2, 0} }, nil, "main reattachment divergent compaction.in_requests"},
		{"article: oldest first", "article", []int{400, 500}, func([]string) []int { return []int{0, 1} }, nil, "main reattachment divergent compaction.in_requests"},
		{"mini-cc: 20,000 characters of each, however many", "mini-cc", []int{400, 20000, 20001, 30000, 20000, 20000, 20000}, func([]string) []int { return []int{0, 1, 2, 3, 4, 5, 6} }, nil, ""},
		{"mini-cc: in any order", "mini-cc", []int{400, 20000}, func([]string) []int { return []int{1, 0} }, nil, ""},
		{"mini-cc: one is missing", "mini-cc", []int{400, 20000}, func([]string) []int { return []int{1} }, nil, "main reattachment divergent compaction.in_requests"},
		{"mini-cc: a marker", "mini-cc", []int{30000}, func([]string) []int { return []int{0} }, func(_, body string) string { return cut(body) }, "main reattachment divergent compaction.in_requests"},
	} {
		folder, home := "/home/dev/.claude/skills", "/home/dev/.claude"
		place := replay.Place("")
		if c.client == "mini-cc" {
			place = replay.PlaceBehind
		}
		m := skills.NewMemory()
		var bodies, back []string
		for i, n := range c.chars {
			file, body := sized(t, folder, fmt.Sprint("k", i), n)
			if err := m.Write(fmt.Sprint(folder, "/k", i, "/SKILL.md"), []byte(file)); err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, body)
		}
		for _, i := range c.back(bodies) {
			text := bodies[i]
			switch {
			case c.as != nil:
				text = c.as(c.client, text)
			case c.client == "mini-cc":
				text = text[:min(len(text), 20000)]
			case len(text) > 20001: // 5,000 tokens, rounded half up
				text = cut(text)
			}
			path := fmt.Sprint("k", i)
			back = append(back, path, text)
		}
		rows := rowsOf(bodies, place, back)
		if c.client == "article" {
			for i := range rows {
				rows[i] = strings.ReplaceAll(rows[i], "projectSettings:k", "userSettings:k")
			}
			rows = slices.Insert(rows, 1, listing("l", "u", true, listed(len(c.chars))...))
			rows[2] = strings.Replace(rows[2], `"parentUuid":"u"`, `"parentUuid":"l"`, 1)
		}
		_, others := outcome(described(t, c.client, home, m, observe(t, rows...)))
		if got := strings.Join(others, "; "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func listed(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("- k%d: K.", i))
	}
	return out
}
