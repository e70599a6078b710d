package live_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/skilltrace/skilltrace/fixtures"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress/live"
	"github.com/skilltrace/skilltrace/replay/regress/live/fake"
	"github.com/skilltrace/skilltrace/replay/regress/request"
)

// logged are the messages that a log has a whole copy of, as they stand in it.
func logged(t *testing.T, path string) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	messages := map[string]bool{}
	for line := range bytes.Lines(raw) {
		var r struct {
			Type          string
			Message       json.RawMessage
			ScrubbedChars int
		}
		if bytes.Contains(line, []byte(`"api-request-blob"`)) && json.Unmarshal(line, &r) == nil && r.Type == "api-request-blob" && r.ScrubbedChars == 0 {
			messages[string(r.Message)] = true
		}
	}
	return messages
}

// TestRecorded: of requests that a log has records of, the server gets every message
// byte for byte as it stands there.
func TestRecorded(t *testing.T) {
	root := filepath.Join(cmp.Or(os.Getenv("SKILLTRACE_SHARED"), filepath.Join("..", "..", "..", "..", "shared")), "conformance")
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		t.Skip("no recordings beside the checkout; set SKILLTRACE_SHARED")
	}
	paths, err := filepath.Glob(filepath.Join(root, "*", "*", "2.1.332", "sessions", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	requests, same := 0, 0
	for _, path := range paths {
		messages := logged(t, path)
		if len(messages) == 0 {
			continue
		}
		l, err := request.Open(replay.Source{Name: path, Records: jsonl.ReadFile(path, request.Reading())})
		if err != nil {
			t.Fatal(err)
		}
		var questions []live.Question
		main := fixtures.Session(t, path).Agents[0]
		for i := range main.Events {
			if e := &main.Events[i]; e.Kind == replay.Prompt {
				if q, err := l.At(main.ID, e.Where); err == nil && q.Exact {
					questions = append(questions, live.Question{ID: e.Where.UUID, Request: *q})
				}
			}
		}
		if len(questions) == 0 {
			continue
		}
		s := fake.Start(fake.Reply{Calls: []string{"Skill:a"}})
		a, err := live.New(live.Options{Access: live.Access{BaseURL: s.URL, Key: "key"}, Samples: 1, Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		run, err := a.Ask(t.Context(), questions)
		if err != nil || run.Errored > 0 {
			t.Fatalf("%v, %+v", err, run)
		}
		for i, asked := range s.Asked() {
			var body struct{ Messages []json.RawMessage }
			if err := json.Unmarshal(asked.Body, &body); err != nil {
				t.Fatal(err)
			}
			want := questions[i].Request.Messages
			if len(body.Messages) != len(want) {
				t.Fatalf("%s: %d messages, want %d", questions[i].ID, len(body.Messages), len(want))
			}
			requests++
			for k, m := range body.Messages {
				if !bytes.Equal(m, want[k]) {
					t.Errorf("%s: message %d: %s\nwant %s", questions[i].ID, k, m, want[k])
				}
				if messages[string(m)] {
					same++
				}
			}
		}
		s.Close()
	}
	t.Logf("%d requests; %d messages are in the log byte for byte", requests, same)
	if requests == 0 || same == 0 {
		t.Errorf("%d requests, %d messages", requests, same)
	}
}
