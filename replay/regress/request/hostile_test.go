package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skilltrace/skilltrace/fixtures"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// sound reports what the API would refuse in a request, "" if nothing.
func sound(r *Request) string {
	open := map[string]bool{}
	for i, m := range r.Messages {
		if !json.Valid(m) || !utf8.Valid(m) {
			return fmt.Sprintf("message %d is no JSON", i)
		}
		v := jsonl.Value(m)
		role := v.Get("role").Text()
		if i == 0 && role == "assistant" {
			return "begins with a reply"
		}
		results := map[string]bool{}
		content := v.Get("content")
		if content.Kind() != jsonl.ValueString && content.Kind() != jsonl.ValueArray {
			return fmt.Sprintf("message %d has no content", i)
		}
		for b := range content.Items() {
			switch b.Get("type").Text() {
			case "text":
				if strings.TrimSpace(b.Get("text").Text()) == "" {
					return fmt.Sprintf("message %d has an empty text", i)
				}
			case "tool_use":
				if role != "assistant" {
					return fmt.Sprintf("message %d of role %s has a call", i, role)
				}
				open[b.Get("id").Text()] = true
			case "tool_result":
				id := b.Get("tool_use_id").Text()
				if !open[id] {
					return fmt.Sprintf("message %d has a result without a call before it", i)
				}
				results[id] = true
			}
		}
		if role == "user" {
			for id := range results {
				delete(open, id)
			}
		}
		if role == "assistant" && len(open) > 0 && i+1 < len(r.Messages) {
			next := string(r.Messages[i+1])
			for id := range open {
				if !strings.Contains(next, string(quote(id))) {
					return fmt.Sprintf("call %s of message %d has no result in the next one", id, i)
				}
			}
		}
	}
	if len(open) > 0 {
		return "ends with a call that has no result"
	}
	for _, part := range []json.RawMessage{r.System, r.Tools} {
		if len(part) > 0 && (!json.Valid(part) || jsonl.Value(part).Kind() != jsonl.ValueArray) {
			return "system prompt or tools are no list"
		}
	}
	return ""
}

// TestSound checks that the API would take the requests of all recordings.
func TestSound(t *testing.T) {
	requests, odd := 0, 0
	eachLog(t, "2.0.0", func(version, path string, l *Log) {
		for _, a := range l.agents {
			for i := range a.items {
				it := &a.items[i]
				if it.kind != jsonl.KindAssistant || it.failed || it.model == syntheticModel || !a.begins(it) {
					continue
				}
				requests++
				if what := sound(l.request(a, it.parent, it)); what != "" {
					if odd++; odd < 20 {
						t.Errorf("%s:%d: %s", path, it.line, what)
					}
				}
			}
		}
	})
	t.Logf("%d requests", requests)
}

// TestCorpus checks the same of the prompts of logs that no one here tuned.
func TestCorpus(t *testing.T) {
	root := filepath.Join(filepath.Dir(recordings(t)), "corpus")
	prompts := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") || strings.HasPrefix(d.Name(), "agent-") {
			return err
		}
		subs, err := filepath.Glob(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-*.jsonl"))
		if err != nil {
			return err
		}
		l := open(t, path, subs)
		for _, a := range fixtures.Session(t, path).Agents {
			for i := range a.Events {
				e := &a.Events[i]
				if e.Kind != replay.Prompt && e.Kind != replay.Slash {
					continue
				}
				prompts++
				r, err := l.At(a.ID, e.Where)
				if err != nil {
					t.Error(err)
					continue
				}
				if what := sound(r); what != "" {
					t.Errorf("%s:%d: %s", path, e.Where.Line, what)
				}
				for _, listed := range r.Listings {
					if r.ReplaceListing(listed.Text, listed.Text+"\n- one-more") < 1 {
						t.Errorf("%s:%d: the listing of line %d does not stand in the request", path, e.Where.Line, listed.Where.Line)
					}
				}
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no corpus beside the checkout; set SKILLTRACE_SHARED")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d prompts", prompts)
}

func TestHostile(t *testing.T) {
	const n = 20000
	var deep, kept, calls, ring []string
	deep = append(deep, user("p", "", `"x"`))
	for i := range n {
		deep = append(deep, fmt.Sprintf(`"type":"api-request","id":"q%d","base":"q%d","keep":%d,"tail":["h"]`, i, i-1, 1<<50))
		kept = append(kept, fmt.Sprintf(`"type":"system","subtype":"compact_boundary","uuid":"b%d","parentUuid":null,"logicalParentUuid":"b%d","compactMetadata":{"preservedSegment":{"headUuid":"none","anchorUuid":"b%d","tailUuid":"b%d"}}`, i, i-1, i, i-1))
		calls = append(calls, says(fmt.Sprint("a", i), fmt.Sprint("a", i-1), "m", tools), user(fmt.Sprint("r", i), fmt.Sprint("a", i), `[{"type":"tool_result","tool_use_id":"t1","content":"x"}]`))
		ring = append(ring, user(fmt.Sprint("u", i), fmt.Sprint("u", (i+1)%n), `"x"`))
	}
	for name, lines := range map[string][]string{
		"bases": append(deep, says("a", "p", "m", `"y"`, fmt.Sprintf(`,"requestRef":"q%d"`, n-1))),
		"kept":  append(kept, user("p", fmt.Sprint("b", n-1), `"x"`)),
		"calls": append(calls, user("p", fmt.Sprint("r", n-1), `"x"`)),
		"ring":  append(ring, user("p", "u7", `"x"`), user("u5", "p", `"x"`)),
		"own":   {user("p", "p", `"x"`)},
		"empty": {`"type":"user","uuid":"p","message":{"role":"user"}`},
		"nest":  {user("p", "", strings.Repeat("[", 2000)+strings.Repeat("]", 2000))},
	} {
		l := logOf(t, "2.1.332", lines...)
		r, err := l.At("main", replay.Where{UUID: "p"})
		if err != nil {
			if name != "nest" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if what := sound(r); what != "" {
			t.Errorf("%s: %s", name, what)
		}
	}
}

func FuzzAt(f *testing.F) {
	for _, seed := range []string{
		user("p", "", `"x"`) + "\n" + listingOf("l", "p", "- a: A") + "\n" + says("a", "l", "m", tools) + "\n" +
			user("r", "a", `[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"}]}]`) + "\n" + listingOf("k", "r", "- b") + "\n" + user("q", "k", `[{"type":"text","text":"\ud83d"},"y"]`),
		`"type":"system","subtype":"compact_boundary","uuid":"b","logicalParentUuid":"p","compactMetadata":{"preservedMessages":{"anchorUuid":"s","uuids":["p"]}}` + "\n" + user("s", "b", `"sum"`) + "\n" + user("p", "", `"x"`) + "\n" + user("q", "p", `"y"`),
		`"type":"attachment","uuid":"p","attachment":{"type":"queued_command","prompt":"x"},"renderedRole":"system","rendered":[{"content":"<system-reminder>\na\n</system-reminder>"},{"content":[{"type":"text","text":"b"}]}]`,
		`"type":"api-request","id":"q","base":"q","keep":1,"tail":["h"],"shapeHash":"s"` + "\n" + `"type":"api-request-blob","hash":"h","message":{"role":"user","content":"x"}` + "\n" +
			`"type":"api-request-shape","shapeHash":"s","shape":{"system":"x","tools":[{"name":"Skill","schema":{"name":"Skill"}}]}` + "\n" + user("p", "", `"x"`) + "\n" + says("a", "p", "m", `"y"`, `,"requestRef":"q"`),
	} {
		f.Add(seed, "2.1.332", "- a: A", "- z")
	}
	f.Fuzz(func(t *testing.T, lines, version, old, text string) {
		if !utf8.ValidString(version) {
			return
		}
		l := logOf(t, version, strings.Split(lines, "\n")...)
		for _, a := range l.agents {
			for i := range min(len(a.items), 8) {
				r, err := l.At(a.id, replay.Where{UUID: a.items[i].uuid, Line: a.items[i].line})
				if err != nil {
					continue
				}
				if !r.Exact {
					if what := sound(r); what != "" && !strings.HasPrefix(what, "call ") {
						t.Errorf("%s: %s", what, told(r))
					}
				}
				r.ReplaceListing(old, text)
				r.AddListing(text)
				for _, m := range r.Messages {
					if !json.Valid(m) {
						t.Errorf("no JSON: %s", m)
					}
				}
				r.Plain()
			}
		}
	})
}
