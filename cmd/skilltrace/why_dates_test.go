package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWhyDates asks for skills that the log does not name: what their files say now is
// certain only where nobody wrote them since the session began.
func TestWhyDates(t *testing.T) {
	early, late := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)
	const flagged = "---\ndescription: Deploys.\ndisable-model-invocation: true\n---\nDeploy.\n"
	const plain = "---\ndescription: Deploys.\n---\nDeploy.\n"
	for _, tt := range []struct {
		name, file, text     string
		at                   time.Time
		gate, state, missing string
		states               map[string]string
	}{
		{"flagged before", "deploy/SKILL.md", flagged, early, "eligible", "failed", "", nil},
		{"flagged after", "deploy/SKILL.md", flagged, late, "exists", "undetermined", "the skill files as they were", map[string]string{"eligible": "undetermined", "announced": "not_reached"}},
		{"written after", "deploy/SKILL.md", plain, late, "exists", "undetermined", "the skill files as they were", map[string]string{"announced": "not_reached"}},
		{"written before", "deploy/SKILL.md", plain, early, "announced", "failed", "", map[string]string{"exists": "passed"}},
		{"loose before", "deploy.md", plain, early, "loaded", "failed", "", nil},
		{"loose after", "deploy.md", plain, late, "exists", "undetermined", "the skill files as they were", map[string]string{"loaded": "undetermined"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, path := home(t, "13-duplicates/session.jsonl", "")
			file := filepath.Join(dir, ".claude", "skills", filepath.FromSlash(tt.file))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			date(t, filepath.Join(dir, ".claude", "skills"), tt.at)
			_, doc := whyCase(t, dir, "deploy", path)
			q := &doc.Questions[*doc.Focus]
			if q.Verdict.Gate != tt.gate || q.Verdict.State != tt.state {
				t.Errorf("%s %s: %s", q.Verdict.Gate, q.Verdict.State, q.Verdict.Reason)
			}
			for i := range q.Gates {
				g := &q.Gates[i]
				if want := tt.states[g.Gate]; want != "" && g.State != want {
					t.Errorf("%s is %s: %s", g.Gate, g.State, g.Reason)
				}
				if g.Gate == tt.gate && g.Missing != tt.missing {
					t.Errorf("%s is missing %q", g.Gate, g.Missing)
				}
			}
		})
	}
}
