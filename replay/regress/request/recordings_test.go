package request

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/conform/scenario"
)

// recordings is the folder of recordings beside the checkout.
func recordings(t testing.TB) string {
	t.Helper()
	dir := cmp.Or(os.Getenv("SKILLTRACE_SHARED"), filepath.Join("..", "..", "..", "..", "shared"))
	dir = filepath.Join(dir, "conformance")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skip("no recordings beside the checkout; set SKILLTRACE_SHARED")
	}
	return dir
}

func open(t testing.TB, path string, subagents []string) *Log {
	t.Helper()
	src := func(path string) replay.Source {
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "agent-"), ".jsonl")
		return replay.Source{Name: path, Agent: id, Records: jsonl.ReadFile(path, Reading())}
	}
	var subs []replay.Source
	for _, s := range subagents {
		subs = append(subs, src(s))
	}
	l, err := Open(src(path), subs...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// cutHere marks where a recording cut a text that the client rendered.
const cutHere = "\x00"

// whole marks the texts that the recordings cut: of these only the beginning is there.
func whole(l *Log) {
	for _, a := range l.agents {
		for i := range a.items {
			n := a.items[i].note
			if n == nil || len(n.sent) == 0 {
				continue
			}
			if n.cut == 0 && n.missing == 0 || n.sent[0].Kind() != jsonl.ValueString {
				continue
			}
			n.sent[0], n.cut, n.missing = quote(n.sent[0].Text()+cutHere+reminderClose), 0, 0
		}
	}
}

// asked is a reply and the request that it answers, by the id that the mock gave it.
type asked struct {
	a     *agent
	first int // the item of its first record
}

// replies are the replies of a log by run and number.
func replies(l *Log) map[[2]int]asked {
	out := map[[2]int]asked{}
	for _, a := range l.agents {
		if strings.HasPrefix(a.id, "acompact") {
			continue
		}
		for i := range a.items {
			it := &a.items[i]
			if it.kind != jsonl.KindAssistant || it.failed || it.model == syntheticModel {
				continue
			}
			id, ok := strings.CutPrefix(it.id, "msg_mock")
			if !ok || len(id) < 3 {
				continue
			}
			run, err1 := strconv.Atoi(id[:2])
			n, err2 := strconv.Atoi(id[2:])
			if err1 != nil || err2 != nil {
				continue
			}
			if _, again := out[[2]int{run, n}]; !again {
				out[[2]int{run, n}] = asked{a, i}
			}
		}
	}
	return out
}

// flat is a block of a rebuilt request in the terms of requests.jsonl.
type flat struct {
	message          int
	role, kind, text string
	name             string
	str              bool
	chars            int // where it is not the length of text
}

func flatten(messages []jsonl.Value) (out []flat) {
	for m, msg := range messages {
		role := msg.Get("role").Text()
		content := msg.Get("content")
		if content.Kind() == jsonl.ValueString {
			out = append(out, flat{m, role, "text", content.Text(), "", true, 0})
			continue
		}
		for b := range content.Items() {
			f := flat{message: m, role: role, kind: b.Get("type").Text()}
			switch f.kind {
			case "text":
				f.text = b.Get("text").Text()
			case "tool_use":
				f.name = b.Get("name").Text()
				f.text = string(b.Get("input"))
			case "tool_result":
				f.text = resultText(b.Get("content"))
				if b.Get("content").Kind() == jsonl.ValueArray {
					f.chars = spaced(b.Get("content"))
				}
			}
			out = append(out, f)
		}
	}
	return out
}

func resultText(v jsonl.Value) string {
	if v.Kind() == jsonl.ValueString {
		return v.Text()
	}
	var parts []string
	for p := range v.Items() {
		parts = append(parts, p.Get("text").Text())
	}
	return strings.Join(parts, "\n")
}

// spaced is JSON as the recorder measured it, with a blank behind each comma and colon.
func spaced(v jsonl.Value) int {
	n := 0
	switch v.Kind() {
	case jsonl.ValueArray:
		items := 0
		for item := range v.Items() {
			n += spaced(item)
			items++
		}
		return n + 2 + 2*max(items-1, 0)
	case jsonl.ValueObject:
		items := 0
		for name, m := range v.Members() {
			n += len(name) + 4 + spaced(m)
			items++
		}
		return n + 2 + 2*max(items-1, 0)
	case jsonl.ValueString:
		return budget.Len16(string(quote(v.Text())))
	}
	return len(v)
}

// agrees compares a rebuilt block with the recorded one: byte for byte where the
// digest says so, else (filler) in length.
func agrees(f *flat, b *scenario.RequestBlock) (ok, exact bool) {
	if f.role != b.Role || f.kind != b.Type {
		return false, false
	}
	if f.kind == "tool_use" {
		return f.name == b.Name, f.name == b.Name
	}
	if f.kind != "text" && f.kind != "tool_result" {
		return true, true
	}
	if before, _, cut := strings.Cut(f.text, cutHere); cut {
		head := []rune(b.Head)
		return f.str == b.String && (strings.HasPrefix(before, string(head[:max(len(head)-1, 0)])) || len(head) > len([]rune(before)) || f.role == "system" && b.Role == "system"), false
	}
	sum := sha256.Sum256([]byte(f.text))
	if hex.EncodeToString(sum[:]) == b.SHA256 {
		return f.str == b.String, f.str == b.String
	}
	return f.str == b.String && cmp.Or(f.chars, budget.Len16(f.text)) == b.Chars, false
}

// aligned is the first recorded block that a rebuilt request does not have, but for
// reminders of the client that the log does not hold; -1 if there is none, and none too
// many; at is the rebuilt block that stands there.
func aligned(got []flat, all []scenario.RequestBlock) (missing, at int) {
	j := 0
	for i := range all {
		b := &all[i]
		if j < len(got) {
			f := got[j]
			f.str = b.String
			ok, _ := agrees(&f, b)
			for _, text := range []string{f.text + "\n", strings.TrimSuffix(f.text, "\n")} {
				if !ok { // the seam to a reminder that is not there
					seam := f
					seam.text = text
					ok, _ = agrees(&seam, b)
				}
			}
			joint := f.role == "system" && b.Role == "system" && b.Chars >= budget.Len16(f.text)
			if ok || joint || longer(&got[j], b) || strings.Contains(f.text, "### Skill: ") && strings.Contains(b.Head, "The following skills were invoked") {
				j++
				continue
			}
		}
		if b.Type == "text" && (strings.HasPrefix(b.Head, "<system-reminder>") || b.Role == "system") {
			continue
		}
		return i, j
	}
	if j < len(got) {
		return len(all), j
	}
	return -1, j
}

func alignedWhole(got []flat, all []scenario.RequestBlock) bool {
	missing, _ := aligned(got, all)
	return missing < 0
}

// longer reports whether a recorded block is a rebuilt one with a reminder behind it.
func longer(f *flat, b *scenario.RequestBlock) bool {
	head := []rune(b.Head)
	own, _, _ := strings.Cut(f.text, "\n\n<system-reminder>")
	text := []rune(strings.TrimSpace(own))
	n := min(len(head)-1, len(text))
	return f.kind == b.Type && f.kind == "tool_result" && b.Chars > len(text) && n >= 0 && string(head[:n]) == string(text[:n])
}

// TestBlocks compares rebuilt requests block by block with what was sent: role, kind,
// length and digest, in the order sent. A client's reminders that the log does not hold
// may be missing, and a seam to one of them.
func TestBlocks(t *testing.T) {
	root := recordings(t)
	verbose := os.Getenv("REQUEST_SHOW")
	type tally struct{ asked, exact, length, but, differ int }
	counts := map[string]*tally{}
	shown := 0
	shownIn := map[string]bool{}
	for _, family := range []string{"lifecycle", "fuzz", "interactive"} {
		dirs, err := scenario.Find(filepath.Join(root, family))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			if f := os.Getenv("REQUEST_ONLY"); f != "" && !strings.Contains(dir, f) {
				continue
			}
			c, err := scenario.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			byID := map[[2]int]asked{}
			logs := map[*agent]*Log{}
			for _, s := range c.Sessions() {
				l := open(t, s.Path, s.Subagents)
				whole(l)
				for _, a := range l.agents {
					logs[a] = l
				}
				for k, v := range replies(l) {
					if _, again := byID[k]; !again {
						byID[k] = v
					}
				}
			}
			last := map[string][]scenario.RequestBlock{}
			for r, err := range c.EachRequest() {
				if err != nil {
					t.Fatal(err)
				}
				lane := fmt.Sprint(r.Run, r.Kind, r.Lane)
				prev := last[lane]
				all := append(slices.Clone(prev[:min(r.Same, len(prev))]), r.Blocks...)
				last[lane] = all
				if r.Kind != scenario.RequestMain && r.Kind != scenario.RequestSubagent {
					continue
				}
				at, ok := byID[[2]int{r.Run, r.N}]
				if !ok || at.a.items[at.first].parent < 0 {
					continue
				}
				it := &at.a.items[at.first]
				n := counts[c.Version]
				if n == nil {
					n = &tally{}
					counts[c.Version] = n
				}
				n.asked++
				messages, missing := logs[at.a].rebuilt(at.a, it.parent, it.version, it.model, it.effort)
				got := flatten(messages)
				exact, same := true, len(got) == len(all)
				var why string
				if !same {
					why = fmt.Sprintf("%d blocks, recorded %d", len(got), len(all))
				}
				for i := 0; i < min(len(got), len(all)); i++ {
					ok, ex := agrees(&got[i], &all[i])
					exact = exact && ex
					if !ok && same {
						same = false
						why = fmt.Sprintf("block %d", i)
					}
				}
				switch {
				case same && exact:
					n.exact++
				case same:
					n.length++
				case alignedWhole(got, all):
					n.but++
				default:
					n.differ++
					if verbose != "" && !shownIn[dir] && shown < 14 && strings.HasPrefix(c.Version, verbose) {
						shown++
						shownIn[dir] = true
						t.Logf("%s run %d n %d %s: %s missing %v (line %d)", dir, r.Run, r.N, r.Kind, why, missing, it.line)
						from, j := aligned(got, all)
						shift := from - j
						for i := max(0, from-1); i < min(max(len(got)+shift, len(all)), from+4); i++ {
							if i < len(all) {
								b := &all[i]
								t.Logf("  want %d m%d %s %s %d str %t %.80q", i, b.Message, b.Role, b.Type, b.Chars, b.String, b.Head)
							}
							if i-shift < len(got) && i >= shift {
								f := &got[i-shift]
								t.Logf("   got %d m%d %s %s %d str %t %.80q", i, f.message, f.role, f.kind, cmp.Or(f.chars, budget.Len16(f.text)), f.str, f.text)
							}
						}
					}
				}
			}
		}
	}
	found := map[string]*agreement{}
	for v, n := range counts {
		t.Logf("%-8s %4d requests, %4d byte for byte, %4d in length, %4d but for reminders, %4d differ", v, n.asked, n.exact, n.length, n.but, n.differ)
		found[v] = &agreement{n.asked, n.exact + n.length + n.but}
	}
	if os.Getenv("REQUEST_ONLY") == "" {
		holds(t, "blocks.txt", found)
	}
}
