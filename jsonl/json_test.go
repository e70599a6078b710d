package jsonl

import (
	"strings"
	"testing"
)

// TestJSON reads a log with its JSON kept, and without.
func TestJSON(t *testing.T) {
	log := strings.Join([]string{
		`{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","content": [ {"type":"text","text":"x\ud83d"} ],"output_config":{"effort":"low"}}}`,
		`{"type":"assistant","uuid":"b","sessionId":"s","perTurnEffort":"high","message":{"role":"assistant","id":"m","content":"\u0041"}}`,
		`{"type":"attachment","uuid":"c","sessionId":"s","renderedBesideToolResult":true,"rendered":[{"content":"one"},{"content":[{"type":"text","text":"two"}]}],"attachment":{"type":"file","filename":"f"}}`,
		`{"type":"attachment","uuid":"d","sessionId":"s","attachment":{"type":"prompt_snapshot","systemPrompt":["p"],"tools":[],"systemTurns":true}}`,
		`{"type":"api-request-shape","sessionId":"s","shapeHash":"h","shape":{"system":[{"type":"text","text":"p"}],"tools":[{"name":"T"}]}}`,
		`{"type":"system","uuid":"e","sessionId":"s","subtype":"local_command","content":"c","isDisplayOnly":true}`,
	}, "\n")
	kept := func(opt Options) []string {
		var out []string
		add := func(v Value) { out = append(out, string(v)) }
		for r := range Read("x", strings.NewReader(log), opt) {
			if len(r.Defects) > 0 || r.Unknown > 0 {
				t.Errorf("line %d: %v %v", r.Pos.Line, r.Defects, r.UnknownFields)
			}
			if m := r.Message; m != nil {
				add(m.Content)
				add(m.Extra)
			}
			if a := r.Attachment; a != nil {
				for _, s := range a.Sent {
					add(s)
				}
				if a.Type == "prompt_snapshot" && !a.SystemTurns {
					t.Error("does not say that the client speaks in messages of its own")
				}
			}
			if s := r.Shape; s != nil {
				add(s.SystemJSON)
				add(s.ToolsJSON)
			}
			switch r.UUID {
			case "b":
				if r.TurnEffort != "high" {
					t.Errorf("effort %q", r.TurnEffort)
				}
			case "c":
				if !r.BesideResult {
					t.Error("not beside the result")
				}
			case "e":
				if !r.DisplayOnly {
					t.Error("not for display only")
				}
			}
		}
		return out
	}
	want := []string{`[ {"type":"text","text":"x\ud83d"} ]`, `{"effort":"low"}`, `"\u0041"`, ``, `"one"`, `[{"type":"text","text":"two"}]`,
		`[{"type":"text","text":"p"}]`, `[{"name":"T"}]`}
	if got := kept(Options{JSON: true}); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := strings.Join(kept(Options{}), ""); got != "" {
		t.Errorf("kept without being asked: %q", got)
	}
}
