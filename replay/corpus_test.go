package replay_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// namedLogs are cut at random offsets: public logs of every client that there is
// one of, and recordings of compactions, resumed sessions, rewinds, interruptions
// and subagents. Folders stand for the first log in them.
var namedLogs = []string{
	"corpus/PackmindHub__context-evaluator/26/13abb02349/2/full.jsonl",
	"corpus/entireio__cli/37/995ebed6e4/2/full.jsonl",
	"corpus/entireio__cli/b0/be9accda39/0/full.jsonl",
	"corpus/entireio__cli/d5/99f72ee73a/0/full.jsonl",
	"corpus/entireio__entire-graph/03/0f3d39319d/1/full.jsonl",
	"corpus/entireio__entire-graph/94/d9d019086f/0/full.jsonl",
	"corpus/entireio__skills/27/682c867ad7/0/raw_transcript.jsonl",
	"corpus/entireio__skills/31/a1d14a1bd2/0/raw_transcript.jsonl",
	"corpus/entireio__skills/33/3a75930344/0/raw_transcript.jsonl",
	"corpus/gomugomucode__Yatra/claude-session.jsonl",
	"corpus/iansherr__claude-code-log/test/test_data/sidechain.jsonl",
	"corpus/jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/claude/schema_drift.jsonl",
	"corpus/jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/claude/small.jsonl",
	"corpus/thejamesnick__agentic-wallet/claude-session.jsonl",
	"conformance/lifecycle/compact/2.1.332/sessions",
	"conformance/lifecycle/redo/2.1.332/sessions",
	"conformance/interactive/calls/2.1.332/sessions",
	"conformance/interactive/partial/2.1.332/sessions",
	"conformance/interactive/rewind/2.1.332/sessions",
	"conformance/billing/shop/2.1.332/sessions",
}

// cuts is how many offsets each log is cut at, and cutSeed what they come from.
const (
	cuts    = 200
	cutSeed = 20261130
)

// TestCorpus reads all public logs whole.
func TestCorpus(t *testing.T) {
	for _, name := range logsIn(t, "corpus") {
		t.Run(short(name), func(t *testing.T) { checkLog(t, name, readLog(t, name)) })
	}
}

// TestStrangers reads all recordings as logs of a stranger: the client did what it
// does, so that without its inputs there is nothing that could diverge.
func TestStrangers(t *testing.T) {
	for _, name := range logsIn(t, "conformance") {
		checkLog(t, short(name), readLog(t, name))
	}
}

// TestCorpusCut reads logs that end anywhere, as those of a client that was killed
// do. With SKILLTRACE_CORPUS=all these are all public logs.
func TestCorpusCut(t *testing.T) {
	names := make([]string, 0, len(namedLogs))
	for _, name := range namedLogs {
		names = append(names, firstLog(t, filepath.Join(shared(), filepath.FromSlash(name))))
	}
	if os.Getenv("SKILLTRACE_CORPUS") == "all" {
		names = logsIn(t, "corpus")
	}
	for _, name := range names {
		t.Run(short(name), func(t *testing.T) {
			t.Parallel()
			data := readLog(t, name)
			offsets := rand.New(rand.NewPCG(cutSeed, uint64(len(data))))
			n := cuts
			if testing.Short() {
				n /= 20
			}
			for range n {
				at := offsets.IntN(len(data) + 1)
				checkLog(t, fmt.Sprintf("%s[:%d]", name, at), data[:at])
				if t.Failed() {
					return
				}
			}
		})
	}
}

// logsIn are the paths of all logs in a folder beside the checkout.
func logsIn(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(filepath.Join(shared(), folder), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".jsonl") && d.Name() != "requests.jsonl" {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Skipf("no logs (set SKILLTRACE_SHARED): %v", err)
	}
	if len(names) == 0 {
		t.Fatalf("no logs in %s", folder)
	}
	return names
}

// firstLog is the path itself, or the first log in the folder.
func firstLog(t *testing.T, path string) string {
	t.Helper()
	found := ""
	err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && found == "" && strings.HasSuffix(path, ".jsonl") {
			found = path
		}
		return err
	})
	if err != nil {
		t.Skipf("no logs (set SKILLTRACE_SHARED): %v", err)
	}
	return found
}

func readLog(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// short is the name of a log from the folder that holds its kind on.
func short(name string) string {
	rel, err := filepath.Rel(shared(), name)
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// checkLog replays a log with the inputs of a stranger's, none: every line is
// accounted for, every token too, and nothing diverges.
func checkLog(t *testing.T, name string, data []byte) {
	t.Helper()
	var stats jsonl.Stats
	opt := replay.Reading()
	opt.Stats = &stats
	s, err := replay.Observe(replay.Source{Name: name, Records: jsonl.Read(name, bytes.NewReader(data), opt)})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	lines := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		lines++
	}
	if stats.Lines != lines || stats.Bytes != int64(len(data)) || stats.Lines != stats.Blank+stats.RecordLines+stats.LostLines {
		t.Errorf("%s: %d lines and %d bytes; read %+v", name, lines, len(data), stats)
	}
	lost := map[int]bool{} // lines
	for _, d := range s.Defects {
		if d.Lost {
			lost[d.Pos.Line] = true
		}
	}
	if s.Records != stats.Records || len(lost) < stats.LostLines {
		t.Errorf("%s: %d records and %d lines with a loss, of %+v", name, s.Records, len(lost), stats)
	}
	checkUsage(t, name, s)
	checkVerdicts(t, name, s)
}

// checkUsage compares what the layers sum to with what the log records.
func checkUsage(t *testing.T, name string, s *replay.Session) {
	t.Helper()
	book := budget.DefaultBook()
	l := ledger.Of(s, &book)
	var output, cacheRead int64
	for _, a := range s.Agents {
		for i := range a.Calls {
			output += a.Calls[i].Usage.Output
			cacheRead += a.Calls[i].Usage.CacheRead
		}
	}
	var sum ledger.Tokens
	for _, r := range l.Rows {
		sum.Add(r.Tokens)
	}
	if sum != l.Usage || sum.Output != output || sum.CacheRead != cacheRead {
		t.Errorf("%s: the layers sum to %+v of %+v", name, sum, l.Usage)
	}
}

func checkVerdicts(t *testing.T, name string, s *replay.Session) {
	t.Helper()
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	found, err := local.NewFinder(local.Options{Table: table}).Find(s)
	if err != nil {
		return // a client older than the rules
	}
	r := replay.Run(s, &found.Inputs, replay.Comparison{Exact: found.Inputs.Exact, RulesExact: found.RulesExact, History: found.Inputs.History})
	for _, a := range r.Agents {
		for _, c := range a.Checks {
			if c.Verdict == replay.Divergent {
				t.Errorf("%s: line %d: %s of %q: %s", name, c.Where.Line, c.Kind, c.Skill, c.Reason)
			}
		}
	}
}
