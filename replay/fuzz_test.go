package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// seeds are the logs of the fixtures, the larger ones cut.
func seeds(f *testing.F) [][]byte {
	f.Helper()
	logs, err := filepath.Glob("../fixtures/cases/*/*.jsonl")
	if err != nil || len(logs) == 0 {
		f.Fatal("no fixtures", err)
	}
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

// FuzzReplay replays a log, with a skill's file beside the usual ones.
func FuzzReplay(f *testing.F) {
	for i, s := range seeds(f) {
		f.Add(s, []byte("---\ndescription: Keep the notes.\n---\nDo $ARGUMENTS.\n"), uint8(i))
	}
	f.Add([]byte(lines(everything()...)), []byte("---\ncontext: fork\n---\n!`ls`\n"), uint8(7))
	versions := []string{"2.0.30", "2.0.76", "2.1.20", "2.1.92", "2.1.112", "2.1.140", "2.1.260", "2.1.304", "2.1.332", "9.9.9", ""}
	f.Fuzz(func(t *testing.T, log, file []byte, mode uint8) {
		if len(log) > 64<<10 || len(file) > 8<<10 {
			return
		}
		version := versions[int(mode)%len(versions)]
		run := func() string {
			s, err := replay.Observe(source("log", string(log)))
			if err != nil {
				t.Fatal(err)
			}
			started(s)
			var files skills.Tree
			if mode&64 == 0 {
				files = tree(t, ".claude/skills/notes/SKILL.md", string(file), ".claude/commands/n.md", string(file),
					".claude/skills/k/SKILL.md", "---\ndescription: K.\n---\nDo.\n", "shop/.claude/skills/deploy/SKILL.md", "---\ndescription: D.\ndisable-model-invocation: true\n---\nShip.\n",
					".claude/skills/p/SKILL.md", "---\npaths: '**/*.go'\n---\nPaths.\n")
			}
			in := inputs(t, version, files)
			in.Exact = mode&32 == 0
			r := replay.Run(s, in, replay.Comparison{Exact: in.Exact, RulesExact: true})
			match, divergent, undetermined, unconfirmed := r.Count()
			for _, a := range r.Agents {
				for _, c := range a.Checks {
					if c.Verdict == replay.Undetermined && c.Missing == "" {
						t.Fatalf("%s at line %d is undetermined, and nothing is missing", c.Kind, c.Where.Line)
					}
				}
			}
			return fmt.Sprint(match, divergent, undetermined, unconfirmed, plain(r))
		}
		if first, again := run(), run(); first != again {
			t.Fatalf("two runs differ\n%s\n%s", first, again)
		}
	})
}
