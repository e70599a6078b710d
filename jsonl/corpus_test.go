package jsonl

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// shared is the folder of recordings and public logs beside the checkout.
func shared(t testing.TB) string {
	dir := os.Getenv("SKILLTRACE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "conformance")); err != nil {
		t.Skip("no recordings: set SKILLTRACE_SHARED or put them in ../shared")
	}
	return dir
}

func logsUnder(t testing.TB, dir string) (paths []string) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(path, ".jsonl") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestCorpusAccounting reads public logs that nobody tuned and every recording,
// and accounts for each line.
func TestCorpusAccounting(t *testing.T) {
	dir := shared(t)
	for _, family := range []string{"corpus", "conformance"} {
		var total Stats
		for _, path := range logsUnder(t, filepath.Join(dir, family)) {
			if family == "conformance" && !strings.Contains(path, string(filepath.Separator)+"sessions"+string(filepath.Separator)) {
				continue
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Count(string(data), "\n")
			if len(data) > 0 && data[len(data)-1] != '\n' {
				lines++
			}
			for _, sizes := range []bool{false, true} {
				var st Stats
				yielded, next := 0, int64(0)
				for r, err := range ReadFile(path, Options{Sizes: sizes, Stats: &st}) {
					if err != nil {
						t.Fatal(err)
					}
					yielded++
					if r.Pos.Offset < next || string(data[r.Pos.Offset:r.Pos.Offset+int64(len(r.Raw))]) != string(r.Raw) {
						t.Fatalf("%s:%d: offset %d is not where the record stands", path, r.Pos.Line, r.Pos.Offset)
					}
					next = r.Pos.Offset + int64(len(r.Raw))
				}
				account(t, path, &st, yielded)
				if st.Lines != lines || st.Bytes != int64(len(data)) {
					t.Errorf("%s: %d lines and %d bytes, want %d and %d", path, st.Lines, st.Bytes, lines, len(data))
				}
				if !sizes {
					total.Add(&st)
				}
			}
		}
		t.Logf("%s: %+v", family, total)
		if total.Records == 0 {
			t.Errorf("%s: no records", family)
		}
		if family == "conformance" && total.LostLines > 0 {
			t.Errorf("%s: %d lines lost", family, total.LostLines)
		}
	}
}

// account checks that the sums of st agree.
func account(t testing.TB, name string, st *Stats, yielded int) {
	t.Helper()
	if st.Lines != st.Blank+st.RecordLines+st.LostLines {
		t.Errorf("%s: %d lines, but %d blank, %d with a record and %d lost", name, st.Lines, st.Blank, st.RecordLines, st.LostLines)
	}
	if st.Records+st.Broken != yielded {
		t.Errorf("%s: %d records and %d broken, but %d came", name, st.Records, st.Broken, yielded)
	}
	if st.Records < st.RecordLines || st.LostLines > st.Broken {
		t.Errorf("%s: records do not add up: %+v", name, *st)
	}
}

// TestCorpusAgainstEncodingJSON compares what the decoder makes of real records
// with what encoding/json makes of them.
func TestCorpusAgainstEncodingJSON(t *testing.T) {
	type message struct {
		ID, Model string
		Content   any
		Usage     *struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
			Write  int64 `json:"cache_creation_input_tokens"`
			Read   int64 `json:"cache_read_input_tokens"`
		}
	}
	type record struct {
		Type, UUID, ParentUUID, SessionID, AgentID, CWD, Version, Timestamp string
		IsMeta, IsSidechain                                                 bool
		Message                                                             *message
		Attachment                                                          map[string]any
		ToolUseResult                                                       any
	}
	dir := shared(t)
	paths := logsUnder(t, filepath.Join(dir, "corpus"))
	for _, scenario := range []string{"lifecycle/compact/2.1.332", "lifecycle/resume/2.0.30", "fuzz/020", "interactive/bg"} {
		for _, path := range logsUnder(t, filepath.Join(dir, "conformance", filepath.FromSlash(scenario))) {
			if strings.Contains(path, "sessions") {
				paths = append(paths, path)
			}
		}
	}
	checked := 0
	for _, path := range paths {
		for r, err := range ReadFile(path, Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			var want record
			if r.Broken || json.Unmarshal(r.Raw, &want) != nil {
				continue // a shape that the structs above do not have
			}
			checked++
			at := fmt.Sprintf("%s:%d", path, r.Pos.Line)
			got := record{Type: r.Type, UUID: r.UUID, ParentUUID: r.Parent, SessionID: r.Session, AgentID: r.Agent, CWD: r.CWD, Version: r.Version, IsMeta: r.Meta, IsSidechain: r.Sidechain}
			head := want
			head.Timestamp, head.Message, head.Attachment, head.ToolUseResult = "", nil, nil, nil
			if !reflect.DeepEqual(got, head) {
				t.Fatalf("%s:\n got %+v\nwant %+v", at, got, head)
			}
			if stamp, err := time.Parse(time.RFC3339Nano, want.Timestamp); (err == nil) == r.Time.IsZero() || err == nil && !stamp.Equal(r.Time) {
				t.Fatalf("%s: time %s, want %s", at, r.Time, want.Timestamp)
			}
			if (r.Message == nil) != (want.Message == nil) {
				t.Fatalf("%s: message %v", at, r.Message)
			}
			if m := want.Message; m != nil {
				if r.Message.ID != m.ID || r.Message.Model != m.Model {
					t.Fatalf("%s: message %+v", at, r.Message)
				}
				if u := m.Usage; u != nil && (*r.Message.Usage == Usage{} || r.Message.Usage.Input != u.Input || r.Message.Usage.Output != u.Output || r.Message.Usage.CacheWrite != u.Write || r.Message.Usage.CacheRead != u.Read) {
					if u.Input+u.Output+u.Read+u.Write > 0 {
						t.Fatalf("%s: usage %+v, want %+v", at, r.Message.Usage, u)
					}
				}
				for i, b := range r.Message.Blocks {
					want, kind := blockText(m.Content, i)
					if text := replaceLone(b.Text); text != want || b.Type != kind || b.Kind != BlockToolUse && b.Size.Len16() < len(utf16.Encode([]rune(want)))-strings.Count(want, "\n") {
						t.Fatalf("%s: block %d %s: %.200q, want %s %.200q", at, i, b.Type, text, kind, want)
					}
				}
			}
			if a := want.Attachment; a != nil {
				if content, _ := a["content"].(string); a["type"] == "skill_listing" && replaceLone(r.Attachment.Content) != content {
					t.Fatalf("%s: listing %.200q", at, r.Attachment.Content)
				}
				if skills, _ := a["skills"].([]any); len(skills) != len(r.Attachment.Skills) {
					t.Fatalf("%s: %d skills", at, len(r.Attachment.Skills))
				} else {
					for i, s := range skills {
						if m := s.(map[string]any); m["name"] != r.Attachment.Skills[i].Name || m["content"] != replaceLone(r.Attachment.Skills[i].Content) {
							t.Fatalf("%s: skill %d", at, i)
						}
					}
				}
			}
			if s, ok := want.ToolUseResult.(string); ok && r.Result.String != s {
				t.Fatalf("%s: result %q", at, r.Result.String)
			}
			if m, ok := want.ToolUseResult.(map[string]any); ok {
				if s, _ := m["commandName"].(string); s != r.Result.Command {
					t.Fatalf("%s: command %q", at, r.Result.Command)
				}
				if s, _ := m["stdout"].(string); s != r.Result.Stdout {
					t.Fatalf("%s: stdout %q", at, r.Result.Stdout)
				}
			}
		}
	}
	if checked < 5000 {
		t.Errorf("only %d records were compared", checked)
	}
}

// blockText is the text and type of the ith block of a message's content.
func blockText(content any, i int) (text, kind string) {
	if s, ok := content.(string); ok {
		return s, "text"
	}
	b := content.([]any)[i].(map[string]any)
	kind, _ = b["type"].(string)
	switch kind {
	case "tool_result":
		if s, ok := b["content"].(string); ok {
			return s, kind
		}
		var parts []string
		list, _ := b["content"].([]any)
		for _, p := range list {
			if s, ok := p.(map[string]any)["text"].(string); ok {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, "\n"), kind
	case "thinking":
		text, _ = b["thinking"].(string)
	case "text":
		text, _ = b["text"].(string)
	}
	return text, kind
}
