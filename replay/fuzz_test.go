package replay_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// seeds are the logs of the fixtures, the larger ones cut.
func seeds(f *testing.F) [][]byte {
	f.Helper()
	logs, err := filepath.Glob("../fixtures/cases/*/*.jsonl")
	if err != nil || len(logs) == 0 {
		f.Fatal("no fixtures", err)
	}
	described, err := filepath.Glob("../fixtures/dialects/*/*/home/projects/*/*.jsonl")
	if err != nil || len(described) == 0 {
		f.Fatal("no fixtures", err)
	}
	logs = append(logs, described...)
	out := [][]byte{[]byte(lines(everything()...))}
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, text[:min(len(text), 16<<10)])
	}
	return out
}

// sound checks what holds of every timeline.
func sound(t *testing.T, s *replay.Session) {
	t.Helper()
	for _, a := range s.Agents {
		prompts, slashes := 0, 0
		for i := range a.Events {
			e := &a.Events[i]
			if e.Parent >= i || e.Parent < -1 {
				t.Fatalf("event %d of %s has the parent %d", i, a.ID, e.Parent)
			}
			switch e.Kind {
			case replay.Prompt:
				prompts++
			case replay.Slash:
				slashes++
			}
		}
		if prompts != a.Prompts || slashes != a.Slashes {
			t.Fatalf("%s: %d prompts and %d commands, counted %d and %d", a.ID, prompts, slashes, a.Prompts, a.Slashes)
		}
		for i, g := range a.Segments {
			if g.Prev >= i || g.Prev < -1 {
				t.Fatalf("segment %d of %s stands behind %d", i, a.ID, g.Prev)
			}
		}
		for i, c := range a.Calls {
			if c.Event > len(a.Events) || c.Tail >= len(a.Segments) || c.Tail < -1 || c.Rows < 1 {
				t.Fatalf("call %d of %s: %+v", i, a.ID, c)
			}
		}
		sum := replay.Summarize(a)
		if n := sum.ByUser + sum.ByModel + sum.Refused + sum.Rejected + sum.Unanswered; n != len(sum.Attempts) {
			t.Fatalf("%s: %d attempts, %d outcomes", a.ID, len(sum.Attempts), n)
		}
		if sum.Avoidable.Chars > sum.Loads.Chars || sum.AfterCompaction > sum.ByUser+sum.ByModel {
			t.Fatalf("%s: %+v", a.ID, sum)
		}
	}
}

// FuzzObserve reads arbitrary bytes as a log.
func FuzzObserve(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		var stats jsonl.Stats
		o := replay.Reading()
		o.Stats, o.MaxLine = &stats, 1<<20
		s, err := replay.Observe(replay.Source{Name: "log", Records: jsonl.Read("log", strings.NewReader(string(log)), o)})
		if err != nil {
			t.Fatal(err)
		}
		if s.Records != stats.Records || stats.Lines != stats.Blank+stats.RecordLines+stats.LostLines {
			t.Fatalf("%d records of %+v", s.Records, stats)
		}
		sound(t, s)
	})
}

// versions are clients with rules that differ, one that is not known and none: those
// that are only described by their names.
var versions = []string{"article", "mini-cc", "agent-sdk", "2.0.30", "2.0.76", "2.1.20", "2.1.92", "2.1.112", "2.1.140", "2.1.260", "2.1.304", "2.1.332", "9.9.9", ""}

// replayed replays a log twice and checks what holds of every result.
func replayed(t *testing.T, log string, file []byte, version string, exact, files bool) {
	t.Helper()
	run := func() string {
		s, err := replay.Observe(source("log", log))
		if err != nil {
			t.Fatal(err)
		}
		sound(t, s)
		started(s)
		var m skills.Tree
		if files {
			m = tree(t, ".claude/skills/notes/SKILL.md", string(file), ".claude/commands/n.md", string(file),
				".claude/skills/k/SKILL.md", "---\ndescription: K.\n---\nDo $ARGUMENTS.\n", "shop/.claude/skills/deploy/SKILL.md", "---\ndescription: D.\ndisable-model-invocation: true\n---\nShip.\n",
				".claude/skills/p/SKILL.md", "---\npaths: '**/*.go'\n---\nPaths.\n")
		}
		in := inputs(t, version, m)
		if r, err := rules.For(version); err == nil && r.Described != nil {
			all := in.Rules(version)
			in.Rules = func(string) *rules.Rules { return all } // whatever version the log names
		}
		in.Exact = exact
		r := replay.Run(s, in, replay.Comparison{Exact: exact, RulesExact: true})
		for _, a := range r.Agents {
			for _, c := range a.Checks {
				if c.Verdict == replay.Undetermined && c.Missing == "" {
					t.Fatalf("%s at line %d is undetermined, and nothing is missing", c.Kind, c.Where.Line)
				}
				if c.After > 0 && c.Verdict != replay.Undetermined {
					t.Fatalf("%s at line %d follows from line %d and is %s", c.Kind, c.Where.Line, c.After, c.Verdict)
				}
			}
			for _, v := range a.Visibility {
				for name, shown := range v.Skills.All() {
					switch shown {
					case replay.ShownFull, replay.ShownShortened, replay.ShownNameOnly, replay.ShownAbsent:
					default:
						t.Fatalf("%s is %q", name, shown)
					}
				}
			}
		}
		match, divergent, undetermined, unconfirmed := r.Count()
		return fmt.Sprint(match, divergent, undetermined, unconfirmed, plain(r))
	}
	if first, again := run(), run(); first != again {
		t.Fatalf("two runs differ\n%s\n%s", first, again)
	}
}

// FuzzReplay replays arbitrary bytes as a log, with a skill's file of arbitrary
// bytes beside the usual ones.
func FuzzReplay(f *testing.F) {
	for i, s := range seeds(f) {
		f.Add(s, []byte("---\ndescription: Keep the notes.\n---\nDo $ARGUMENTS.\n"), uint8(i))
	}
	f.Add([]byte(lines(everything()...)), []byte("---\ncontext: fork\n---\n!`ls`\n"), uint8(7))
	// Every log under the rules of every client that is only described.
	for _, s := range seeds(f) {
		for i := range uint8(3) {
			f.Add(s, []byte("---\ndescription: Keep the notes.\ncontext: fork\n---\nDo $ARGUMENTS, ${1}.\n"), i)
			f.Add(s, []byte("---\ndescription: Keep the notes.\n---\nDo !`it` $0.\n"), 42+i) // files read later
		}
	}
	f.Fuzz(func(t *testing.T, log, file []byte, mode uint8) {
		if len(log) > 64<<10 || len(file) > 8<<10 {
			return
		}
		replayed(t, string(log), file, versions[int(mode)%len(versions)], mode&32 == 0, mode&64 == 0)
	})
}

// program makes a log out of bytes, two a row: what it is, and which row is its
// parent. So every input is a log, most of them odd ones.
func program(code []byte) string {
	var rows []string
	var uses []string
	names := []string{"k", "n", "notes", "deploy", "p", "gone", "/k", " k ", "", "kit:k"}
	for i := 0; i+1 < len(code) && len(rows) < 200; i += 2 {
		n := len(rows)
		id, what, far := fmt.Sprint("r", n), code[i], int(code[i+1])
		parent := ""
		if n > 0 {
			parent = fmt.Sprint("r", n-1)
		}
		if far >= 200 {
			parent = fmt.Sprint("r", n-1-(far-200))
		}
		name := names[far%len(names)]
		use, last := fmt.Sprint("t", n), "t"
		if len(uses) > 0 {
			last = uses[max(0, len(uses)-1-far%3)]
		}
		when := at(n)
		var r string
		switch what % 24 {
		case 0, 1:
			r = user(id, parent, "prompt "+name, when)
		case 2:
			r = user(id, parent, "/"+name+" words")
		case 3:
			r = user(id, parent, command(name, "words"))
		case 4:
			r = user(id, parent, command(name, "words"), `"stackedOriginalInput":"/`+name+` /k words"`)
		case 5:
			r = user(id, parent, command(name, "words"), `"stackedExpansion":true`)
		case 6, 7, 8:
			uses = append(uses, use)
			r = assistant(id, parent, fmt.Sprint("m", n-far%2), skillUse(use, name), when)
		case 9:
			r = launched(id, parent, last, name)
		case 10:
			r = failed(id, parent, last, "<tool_use_error>Unknown skill: "+name+"</tool_use_error>")
		case 11:
			r = body(id, parent, last, bodyText(name, "Do words.\n"))
		case 12:
			r = body(id, parent, "", bodyText(name, "Do words.\n"))
		case 13:
			r = note(id, parent, last, "Skill /"+name+" is already loaded above; instructions unchanged.")
		case 14:
			r = listing(id, parent, far%2 == 0, "- k: K.", "- "+name+": N.")
		case 15:
			r = reattached(id, parent, name, bodyText(name, "Do words.\n"))
		case 16:
			r = boundary(id, parent)
		case 17:
			r = boundary(id, parent, fmt.Sprintf(`"preservedSegment":{"headUuid":"r%d","tailUuid":"r%d"}`, n-far%9, n-1))
		case 18:
			r = summary(id, parent, `"summarizeMetadata":{"direction":"from"}`)
		case 19:
			uses = append(uses, use)
			r = assistant(id, parent, fmt.Sprint("m", n), touch(use, far))
		case 20:
			r = result(id, parent, last, "done")
		case 21:
			r = assistant(id, parent, fmt.Sprint("m", n), text("x"), when, `"isSidechain":true`, fmt.Sprintf(`"agentId":"x%d"`, far%3))
		case 22:
			r = user(id, parent, "a sidechain", `"isSidechain":true`)
		case 23:
			r = `{"type":"cost-state"}`
		}
		rows = append(rows, r)
	}
	return lines(rows...)
}

// touch is a use of a tool that touches files.
func touch(id string, which int) string {
	return use(id, [...]string{"Read", "Write", "Edit", "Bash"}[which%4], [...]string{
		`{"file_path":"/home/dev/shop/a.go"}`, `{"file_path":"/home/dev/.claude/skills/n/SKILL.md","content":"N."}`, `{"file_path":"/home/dev/.claude/skills/k/SKILL.md"}`, `{"command":"rm -rf /home/dev/.claude/skills"}`}[which%4])
}

// FuzzRows replays logs made of well-formed rows in any order.
func FuzzRows(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 60 {
		code := make([]byte, 2*(5+r.IntN(80)))
		for j := range code {
			code[j] = byte(r.UintN(256))
			if j%2 == 1 && r.IntN(4) > 0 {
				code[j] %= 200 // mostly a chain
			}
		}
		f.Add(code, uint8(i*11))
	}
	f.Fuzz(func(t *testing.T, code []byte, mode uint8) {
		replayed(t, program(code), []byte("---\ndescription: N.\n---\nDo.\n"), versions[int(mode)%len(versions)], mode&32 == 0, mode&64 == 0)
	})
}
