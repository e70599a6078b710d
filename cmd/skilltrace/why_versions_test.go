package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhyVersions asks a session of two client versions, the first of which writes no
// listing to the log: each prompt is judged by its own.
func TestWhyVersions(t *testing.T) {
	var log strings.Builder
	n := 0
	row := func(version, typ, members string) {
		parent := "null"
		if n++; n > 1 {
			parent = fmt.Sprintf("\"%08d-0000-4000-8000-000000000000\"", n-1)
		}
		fmt.Fprintf(&log, "{\"type\":%q,\"uuid\":\"%08d-0000-4000-8000-000000000000\",\"parentUuid\":%s,\"sessionId\":\"s1\",\"version\":%q,\"cwd\":\"/home/dev/shop\",\"timestamp\":\"2026-11-28T09:00:%02d.000Z\",%s}\n", typ, n, parent, version, n, members)
	}
	reply := func(version string) {
		row(version, "assistant", fmt.Sprintf(`"requestId":"r%d","message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","stop_reason":"end_turn","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":3,"output_tokens":2}}`, n, n))
	}
	const older, newer = "2.1.50", "2.1.112"
	row(older, "user", `"message":{"role":"user","content":"deploy it"}`)
	reply(older)
	row(newer, "user", `"message":{"role":"user","content":"deploy it now"}`)
	row(newer, "attachment", `"attachment":{"type":"skill_listing","content":"- deploy: Deploys.","isInitial":true,"skillCount":1,"names":["deploy"]}`)
	reply(newer)
	dir := t.TempDir()
	path := filepath.Join(dir, "s1.jsonl")
	if err := os.WriteFile(path, []byte(log.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ prompt, version, head, announced string }{
		{"1", older, "claude-code 2.1.50 at this prompt", "undetermined"},
		{"2", newer, "claude-code 2.1.112 ·", "passed"},
	} {
		screen, doc := whyCase(t, dir, "deploy", path, "--prompt", tt.prompt)
		if !strings.Contains(screen, tt.head) {
			t.Errorf("the screen does not say %q:\n%s", tt.head, screen)
		}
		q := &doc.Questions[0]
		if q.Version != tt.version {
			t.Errorf("prompt %s: version %q", tt.prompt, q.Version)
		}
		for i := range q.Gates {
			if g := &q.Gates[i]; g.Gate == "announced" && g.State != tt.announced {
				t.Errorf("prompt %s: announced is %s: %s", tt.prompt, g.State, g.Reason)
			}
		}
	}
}
