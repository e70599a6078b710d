package replay

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
{"type":"attachment","uuid":"o2","parentUuid":"o","attachment":{"type":"invoked_skills","skills":[{"name":"k","path":"userSettings:k","content":"K"}]}}
{"type":"attachment","uuid":"p","parentUuid":"o2","attachment":{"type":"skill_listing","content":"- z: Z.","isInitial":false,"names":["z"]}}
{"type":"user","uuid":"q","parentUuid":"p","timestamp":"2026-11-28T09:10:00.000Z","message":{"content":"three"}}
{"type":"assistant","uuid":"r","parentUuid":"q","message":{"id":"m5","content":[{"type":"tool_use","id":"t5","name":"Skill","input":{"skill":"k","args":"y"}}]}}
{"type":"user","uuid":"s","parentUuid":"r","message":{"content":[{"type":"tool_result","tool_use_id":"t5","content":"Launching skill: k"}]}}
{"type":"user","uuid":"t","parentUuid":"s","isMeta":true,"sourceToolUseID":"t5","message":{"content":"Skill /k is already loaded above; instructions unchanged."}}
{"type":"assistant","uuid":"u","parentUuid":"t","message":{"id":"m6","content":"done"}}
`

// TestStepIsPure checks under every version's rules that a step leaves the state, the
// event and the evidence that it is given as they were, and the states before that,
// and that it does the same a second time.
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
		if len(text) > 1<<16 {
			continue // the same rows over and over
		}
		texts[name] = string(text)
	}
	kinds := map[EventKind]bool{}
	for i, version := range stepVersions(t) {
		for name, text := range texts {
			if name == "steps" || i%8 == 0 {
				pureSteps(t, version, name, text, kinds)
			}
		}
	}
	for _, k := range []EventKind{Start, Prompt, Slash, Turn, SkillCall, Touch, CatalogueChange, Noticed, Compaction, Restored, Listing, Body, Refusal, Note, Reattachment, Launched} {
		if !kinds[k] {
			t.Errorf("no step of kind %s", k)
		}
	}
}

// stepVersions are the versions at which a client changed.
func stepVersions(t *testing.T) []string {
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range table.Changes() {
		if !slices.Contains(out, c.Since) {
			out = append(out, c.Since)
		}
	}
	return out
}

func pureSteps(t *testing.T, version, name, text string, kinds map[EventKind]bool) {
	t.Helper()
	s, err := Observe(Source{Name: name, Records: jsonl.Read(name, strings.NewReader(text), Reading())})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Main()
	end := len(a.Events)
	a.Insert([]Insertion{{Event: Event{Kind: Start, Parent: -1, Start: &StartEvent{}}}, {Before: end, Event: Event{Kind: CatalogueChange, Change: &FileChange{Path: "/home/dev/.claude/skills/k/SKILL.md", Text: "Other."}}}, {Before: end, Event: Event{Kind: Restored, Path: "/home/dev/shop/apps/a.go"}},
		{Before: end, Event: Event{Kind: Start, Start: &StartEvent{Resume: true}}}, {Before: end, Event: Event{Kind: Prompt, Text: "again"}}})
	p := &predictor{in: stepInputs(t, version), agent: a, ev: Gather(s, a), catalogues: map[catalogueKey]*catalogue{}}
	events, evidence := shot(a.Events), shot(p.ev)
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
			if now := shot(before); now != was {
				t.Fatalf("%s %s: %s at line %d changed the state that it was given\n%s\n%s", name, version, e.Kind, e.Where.Line, was, now)
			}
			if shot(first) != once || shot(effects) != effect {
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
	if shot(a.Events) != events {
		t.Errorf("%s %s: the events were changed", name, version)
	}
	if shot(p.ev) != evidence {
		t.Errorf("%s %s: the evidence was changed", name, version)
	}
}

// shot is a value in words, with all that it points to. What is a value of its own,
// such as a table, says itself what it holds: the log behind it may hold more.
func shot(v any) string {
	var b strings.Builder
	write(&b, reflect.ValueOf(v), 0)
	return b.String()
}

func write(b *strings.Builder, v reflect.Value, depth int) {
	if depth > 32 {
		panic("a value that holds itself")
	}
	if !v.IsValid() {
		b.WriteString("nil")
		return
	}
	if v.CanInterface() {
		switch v := v.Interface().(type) {
		case time.Time:
			b.WriteString(v.Format(time.RFC3339Nano))
			return
		case fmt.Stringer:
			if reflect.ValueOf(v).Kind() == reflect.Struct {
				b.WriteString(v.String())
				return
			}
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		write(b, v.Elem(), depth+1)
	case reflect.Struct:
		b.WriteByte('{')
		for i := range v.NumField() {
			fmt.Fprintf(b, "%s:", v.Type().Field(i).Name)
			write(b, v.Field(i), depth+1)
			b.WriteByte(' ')
		}
		b.WriteByte('}')
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			b.WriteString("nil")
			return
		}
		b.WriteByte('[')
		for i := range v.Len() {
			write(b, v.Index(i), depth+1)
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case reflect.Map:
		keys := map[string]reflect.Value{}
		for _, k := range v.MapKeys() {
			var name strings.Builder
			write(&name, k, depth+1)
			keys[name.String()] = v.MapIndex(k)
		}
		b.WriteString("map[")
		for _, name := range slices.Sorted(maps.Keys(keys)) {
			b.WriteString(name + ":")
			write(b, keys[name], depth+1)
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case reflect.Func:
	case reflect.String:
		fmt.Fprintf(b, "%q", v.String())
	default:
		fmt.Fprint(b, v)
	}
}

// TestShot checks that the words of a value tell what lies behind pointers.
func TestShot(t *testing.T) {
	type inner struct{ list []*Event }
	v := struct{ In inner }{inner{[]*Event{{Text: "one"}}}}
	was := shot(v)
	v.In.list[0].Text = "two"
	if shot(v) == was {
		t.Error("a change behind two pointers is not seen")
	}
	table := table[Invoked]{}.with("k", Invoked{Name: "k"})
	was = shot(State{Invoked: table})
	if table = table.with("k", Invoked{Name: "l"}); shot(State{Invoked: table}) == was {
		t.Error("a change in a table is not seen")
	}
}

// TestOrderAfterResume checks that up to 2.1.201, where the clock decides in which
// order a resume puts skills back, no order of theirs is expected, and none of them
// where not all find room; one skill, or a later version, leaves nothing open.
func TestOrderAfterResume(t *testing.T) {
	long := strings.Repeat("x", 90_000) // two of them are more than all bodies may take
	for _, tt := range []struct {
		version  string
		contents []string
		want     string
	}{
		{"2.1.201", []string{"A", "B"}, "true "},
		{"2.1.201", []string{"A"}, "false "},
		{"2.1.201", []string{long, long, long, long, long, long}, "true " + orderAfterResume},
		{"2.1.202", []string{"A", "B"}, "false "},
		{"2.1.202", []string{long, long, long, long, long, long}, "false "},
	} {
		in := stepInputs(t, tt.version)
		p := &predictor{in: in, rules: in.Rules(tt.version)}
		var s State
		for i, c := range tt.contents {
			s.Restored = append(s.Restored, Invoked{Name: fmt.Sprint("k", i), Content: c})
		}
		eff := p.reattach(resumed(s, 0).Invoked.values())
		if got := fmt.Sprint(eff.OrderUnknown, " ", eff.Soft); got != tt.want {
			t.Errorf("%s, %d skills: %q, want %q", tt.version, len(tt.contents), got, tt.want)
		}
	}
}
