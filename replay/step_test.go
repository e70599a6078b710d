package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// stepInputs are inputs of a small project whose files change once.
func stepInputs(t *testing.T, version string) *Inputs {
	t.Helper()
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	m := skills.NewMemory()
	write := func(name, text string) {
		if err := m.Write("/home/dev/"+name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write(".claude/skills/k/SKILL.md", "---\ndescription: K.\n---\nDo $ARGUMENTS.\n")
	write(".claude/skills/n/SKILL.md", "---\ndescription: N.\n---\nNow.\n")
	write(".claude/skills/paths/SKILL.md", "---\ndescription: P.\npaths: '*.go'\n---\nPaths.\n")
	write(".claude/skills/off/SKILL.md", "---\ndescription: O.\ndisable-model-invocation: true\n---\nOff.\n")
	write("shop/apps/.claude/skills/deep/SKILL.md", "---\ndescription: D.\n---\nDeep.\n")
	write("shop/apps/a.go", "package apps\n")
	files := NewFiles(m)
	later := m.Clone()
	if err := later.Write("/home/dev/.claude/skills/z/SKILL.md", []byte("---\ndescription: Z.\n---\nZed.\n")); err != nil {
		t.Fatal(err)
	}
	files.Change(time.Date(2026, 11, 28, 9, 0, 5, 0, time.UTC), later)
	return &Inputs{Version: version, Exact: true, Files: files, Given: []skills.Given{}, Usage: &Usage{},
		Processes: []Process{{Home: "/home/dev", ConfigDir: "/home/dev/.claude", CWD: "/home/dev/shop", Model: "claude-sonnet-4-5"}},
		Rules: func(string) *rules.Rules {
			r, err := table.At(version)
			if err != nil {
				t.Fatal(err)
			}
			return &r
		}}
}

// stepLog is a session with a step of each kind, and a branch that was left.
const stepLog = `{"type":"user","uuid":"a","timestamp":"2026-11-28T09:00:01.000Z","message":{"content":"one"}}
{"type":"assistant","uuid":"b","parentUuid":"a","timestamp":"2026-11-28T09:00:02.000Z","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Skill","input":{"skill":"k","args":"x"}},{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"/home/dev/shop/apps/a.go"}}]}}
{"type":"user","uuid":"c","parentUuid":"b","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"Launching skill: k"}]}}
{"type":"user","uuid":"d","parentUuid":"c","isMeta":true,"sourceToolUseID":"t1","message":{"content":[{"type":"text","text":"K"}]}}
{"type":"user","uuid":"e","parentUuid":"d","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"package apps"}]}}
{"type":"assistant","uuid":"f","parentUuid":"e","timestamp":"2026-11-28T09:00:09.000Z","message":{"id":"m2","content":"done"}}
{"type":"user","uuid":"g","parentUuid":"f","message":{"content":"<command-message>n</command-message>\n<command-name>/n</command-name>"}}
{"type":"user","uuid":"h","parentUuid":"g","isMeta":true,"message":{"content":[{"type":"text","text":"N"}]}}
{"type":"assistant","uuid":"i","parentUuid":"h","message":{"id":"m3","content":[{"type":"tool_use","id":"t3","name":"Skill","input":{"skill":"off"}}]}}
{"type":"user","uuid":"j","parentUuid":"i","message":{"content":[{"type":"tool_result","tool_use_id":"t3","is_error":true,"content":"no"}]}}
{"type":"user","uuid":"k","parentUuid":"f","message":{"content":"two"}}
{"type":"assistant","uuid":"l","parentUuid":"k","message":{"id":"m4","content":[{"type":"tool_use","id":"t4","name":"Skill","input":{"skill":"k","args":"y"}}]}}
{"type":"user","uuid":"m","parentUuid":"l","message":{"content":[{"type":"tool_result","tool_use_id":"t4","content":"Launching skill: k"}]}}
{"type":"user","uuid":"n","parentUuid":"m","isMeta":true,"sourceToolUseID":"t4","message":{"content":[{"type":"text","text":"K"}]}}
{"type":"system","uuid":"o","parentUuid":null,"logicalParentUuid":"n","subtype":"compact_boundary","compactMetadata":{"trigger":"manual","preservedMessages":{"uuids":["n"]}}}
{"type":"attachment","uuid":"p","parentUuid":"o","attachment":{"type":"skill_listing","content":"- z: Z.","isInitial":false,"names":["z"]}}
{"type":"user","uuid":"q","parentUuid":"p","timestamp":"2026-11-28T09:10:00.000Z","message":{"content":"three"}}
{"type":"assistant","uuid":"r","parentUuid":"q","message":{"id":"m5","content":[{"type":"tool_use","id":"t5","name":"Skill","input":{"skill":"k","args":"y"}}]}}
{"type":"user","uuid":"s","parentUuid":"r","message":{"content":[{"type":"tool_result","tool_use_id":"t5","content":"Launching skill: k"}]}}
{"type":"assistant","uuid":"u","parentUuid":"s","message":{"id":"m6","content":"done"}}
`

// TestStepIsPure checks that a step leaves the state that it is given as it was,
// and the states before that, and that it does the same a second time.
func TestStepIsPure(t *testing.T) {
	texts := map[string]string{"steps": stepLog}
	logs, err := filepath.Glob("../fixtures/cases/*/*.jsonl")
	if err != nil || len(logs) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	kinds := map[EventKind]bool{}
	for _, version := range []string{"2.0.76", "2.1.92", "2.1.140", "2.1.260", "2.1.332"} {
		for name, text := range texts {
			s, err := Observe(Source{Name: name, Records: jsonl.Read(name, strings.NewReader(text), Reading())})
			if err != nil {
				t.Fatal(err)
			}
			a := s.Main()
			a.Insert([]Insertion{{Event: Event{Kind: Start, Parent: -1, Start: &StartEvent{}}}, {Before: len(a.Events), Event: Event{Kind: Start, Start: &StartEvent{Resume: true}}}, {Before: len(a.Events), Event: Event{Kind: Prompt, Text: "again"}}})
			p := &predictor{in: stepInputs(t, version), agent: a, ev: Gather(s, a), catalogues: map[catalogueKey]*catalogue{}}
			var states []State
			var shots []string
			for i := range a.Events {
				e := &a.Events[i]
				kinds[e.Kind] = true
				before := State{Process: -1}
				if e.Parent >= 0 {
					before = states[e.Parent]
				}
				p.event, p.e, p.rules = i, e, p.in.Rules(version)
				was := shot(before)
				for _, step := range []func(State, *Event) (State, []Effect){p.step, p.advance} {
					first, effects := step(before, e)
					once, effect := shot(first), shot(effects)
					second, more := step(before, e)
					if shot(before) != was {
						t.Fatalf("%s %s: %s at line %d changed the state that it was given\n%s\n%s", name, version, e.Kind, e.Where.Line, was, shot(before))
					}
					if shot(first) != once {
						t.Fatalf("%s %s: %s at line %d, done again, changed what it gave before", name, version, e.Kind, e.Where.Line)
					}
					if shot(second) != once || shot(more) != effect {
						t.Fatalf("%s %s: %s at line %d did another thing the second time", name, version, e.Kind, e.Where.Line)
					}
				}
				next, _ := p.advance(before, e)
				states, shots = append(states, next), append(shots, shot(next))
			}
			for i := range states {
				if shot(states[i]) != shots[i] {
					t.Errorf("%s %s: the state behind event %d (%s) was changed later", name, version, i, a.Events[i].Kind)
				}
			}
		}
	}
	for _, k := range []EventKind{Start, Prompt, Slash, Turn, SkillCall, Touch, Noticed, Compaction} {
		if !kinds[k] {
			t.Errorf("no step of kind %s", k)
		}
	}
}

// shot is a value in words. Maps are written in order; a skill found anew stands at
// another address and is the same.
func shot(v any) string { return address.ReplaceAllString(fmt.Sprintf("%+v", v), "@") }

var address = regexp.MustCompile("0x[0-9a-f]+")
