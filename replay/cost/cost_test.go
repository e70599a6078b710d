package cost_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/bench/synth"
	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/fixtures"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/cost"
	"github.com/skilltrace/skilltrace/replay/ledger"
)

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s\n got %v\nwant %v", what, got, want)
	}
}

// fixture reads a log of ../../fixtures/cases.
func fixture(t testing.TB, name string) *replay.Session {
	t.Helper()
	return fixtures.Session(t, filepath.Join("../../fixtures/cases", filepath.FromSlash(name)))
}

// written reads a log of the lines given.
func written(t testing.TB, name string, lines ...string) *replay.Session {
	t.Helper()
	s, err := replay.Observe(replay.Source{Name: name, Records: jsonl.Read(name, strings.NewReader(strings.Join(lines, "\n")+"\n"), replay.Reading())})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sum sums sessions up.
func sum(o cost.Options, sessions ...*replay.Session) *cost.Result {
	if o.Prices == nil {
		book := budget.DefaultBook()
		o.Prices = &book
	}
	c := cost.New(o, len(sessions))
	for i, s := range sessions {
		c.Add(i, s)
	}
	for _, i := range c.Again() {
		c.Settle(i, sessions[i])
	}
	return c.Result()
}

func by(keys ...cost.By) cost.Options { return cost.Options{By: keys} }

func skill(t testing.TB, r *cost.Result, name string) *cost.Row {
	t.Helper()
	for i := range r.Rows {
		if r.Rows[i].Skill == name && r.Rows[i].Figures != nil {
			return &r.Rows[i]
		}
	}
	t.Fatalf("no row of %s", name)
	return nil
}

func TestCase01StreamingSnapshots(t *testing.T) {
	one := sum(by(cost.ByModel), fixture(t, "01-streaming-snapshots/request-id.jsonl"))
	equal(t, "calls", one.Total.Calls, 1)
	equal(t, "tokens", one.Total.Tokens, ledger.Tokens{Input: 10, Output: 159})
	two := sum(by(cost.ByModel), fixture(t, "01-streaming-snapshots/no-request-id.jsonl"))
	equal(t, "calls", two.Total.Calls, 2)
	equal(t, "input", two.Total.Tokens.Input, 150)
	changed := sum(by(cost.ByModel), fixture(t, "01-streaming-snapshots/model-changed.jsonl"))
	equal(t, "rows", len(changed.Rows), 1)
	equal(t, "calls", changed.Rows[0].Calls, 1)
	equal(t, "output", changed.Total.Tokens.Output, 260)
	equal(t, "model changed", changed.Notes.ModelChanged, 1)
	equal(t, "micro-dollars", changed.Total.MicroUSD, 3911)
}

func TestCase02SyntheticRow(t *testing.T) {
	r := sum(by(cost.ByModel), fixture(t, "02-synthetic-row/one-hour.jsonl"))
	equal(t, "rows", len(r.Rows), 1)
	equal(t, "micro-dollars", r.Total.MicroUSD, 743_500)
	equal(t, "lifetime unknown", r.Notes.UnknownLifetime, 0)
	equal(t, "failed", r.Notes.Failed, 1)
	r = sum(by(cost.ByModel), fixture(t, "02-synthetic-row/no-split.jsonl"))
	equal(t, "without the split", r.Total.MicroUSD, 464_688)
	equal(t, "lifetime unknown", r.Notes.UnknownLifetime, 1)
	r = sum(by(cost.ByModel), fixture(t, "02-synthetic-row/split-only.jsonl"))
	equal(t, "the split counts", r.Total.MicroUSD, 743_500)
}

func TestCase03DamagedGraph(t *testing.T) {
	s := fixture(t, "03-damaged-graph/session.jsonl")
	equal(t, "graph", fmt.Sprint(s.Dangling, s.Replayed), "1 2")
	r := sum(by(cost.BySession), s)
	var calls int
	for _, a := range s.Agents {
		calls += len(a.Calls)
	}
	equal(t, "calls, each once", r.Total.Calls, calls)
}

func TestCase04SubagentUsage(t *testing.T) {
	r := sum(by(cost.ByAgent), fixture(t, "04-subagent-usage/c0000004-0000-4000-8000-000000000000.jsonl"))
	equal(t, "calls", r.Total.Calls, 4)
	equal(t, "without a final usage", r.Notes.Unfinished, 1)
	for _, row := range r.Rows {
		if row.Agent != "main" {
			equal(t, "output of the subagent, at least", row.Tokens.Output, 813)
			equal(t, "its calls", row.Calls, 2)
		}
	}
	equal(t, "rows", len(r.Rows), 2)
}

func TestCase08Loads(t *testing.T) {
	s := fixture(t, "08-loads/session.jsonl")
	r := sum(by(cost.BySkill), s)
	row := skill(t, r, "notes")
	f := row.Figures
	equal(t, "invocations", f.ByModel+f.ByUser, 2)
	equal(t, "loads", f.Loads, replay.Texts{Count: 2, Chars: 16_000})
	equal(t, "avoidable of them", f.Repeated, replay.Texts{Count: 1, Chars: 8_000})
	equal(t, "put back", f.Reattached, replay.Texts{Count: 9, Chars: 72_000})
	equal(t, "behind the last compaction", f.AfterCompaction, 0)
	layers := map[replay.Layer]int64{}
	for _, l := range sum(by(cost.ByLayer), s).Layers {
		layers[l.Layer] = l.Once
	}
	if layers[replay.LayerBody] == 0 || layers[replay.LayerReattachment] < 3*layers[replay.LayerBody] {
		t.Errorf("the reattachments, in a layer of their own, are %d tokens; the bodies %d", layers[replay.LayerReattachment], layers[replay.LayerBody])
	}
	if f.Avoidable.Repeated.Tokens == 0 || f.Avoidable.Repeated.Tokens >= row.Once+row.Carried() {
		t.Errorf("avoidable %d of %d tokens", f.Avoidable.Repeated.Tokens, row.Once+row.Carried())
	}
	equal(t, "a line of a skill that was called", f.Avoidable.Uncalled.Tokens, 0)
}

// lines of a log, one after the other.
type log struct {
	session string
	n       int
	lines   []string
}

func (l *log) add(format string, args ...any) {
	l.n++
	parent := "null"
	if l.n > 1 {
		parent = fmt.Sprintf("%q", fmt.Sprintf("%s-%d", l.session, l.n-1))
	}
	head := fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":%q,"version":"2.1.332","cwd":"/home/dev/shop","timestamp":"2026-11-28T09:00:%02d.000Z",`,
		fmt.Sprintf("%s-%d", l.session, l.n), parent, l.session, l.n)
	l.lines = append(l.lines, head+fmt.Sprintf(format, args...)+"}")
}

func (l *log) reply(prompt, output int, content string) {
	l.add(`"type":"assistant","requestId":"r%d","message":{"id":"%s-m%d","model":"claude-sonnet-4-5","stop_reason":"end_turn","content":[%s],"usage":{"input_tokens":%d,"output_tokens":%d}}`,
		l.n, l.session, l.n, content, prompt, output)
}

func (l *log) result(id, text string) {
	l.add(`"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, id, text)
}

// TestReferencesWithoutACall: a session that reads the files of a skill without
// calling it pays for them in the layer of references, and the skill has no calls.
func TestReferencesWithoutACall(t *testing.T) {
	l := &log{session: "s"}
	l.add(`"type":"user","message":{"content":"Deploy the shop"}`)
	l.add(`"type":"attachment","attachment":{"type":"skill_listing","content":"- deploy: Deploys the shop.\n- other: Does other things.","isInitial":true,"skillCount":2,"names":["deploy","other"]}`)
	l.reply(10_000, 40, `{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/home/dev/shop/.claude/skills/deploy/steps.md"}}`)
	l.result("t1", strings.Repeat("Push the image and wait for it. ", 200))
	l.reply(11_500, 40, `{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"cat .claude/skills/deploy/targets.txt"}}`)
	l.result("t2", strings.Repeat("shop-eu shop-us ", 100))
	l.reply(12_100, 20, `{"type":"text","text":"Done."}`)
	r := sum(by(cost.BySkill), written(t, "s.jsonl", l.lines...))
	row := skill(t, r, "deploy")
	f := row.Figures
	equal(t, "calls", f.ByModel+f.ByUser+f.Loads.Count, 0)
	equal(t, "listed", f.Listed, 1)
	layers := sum(by(cost.ByLayer, cost.BySkill), written(t, "s.jsonl", l.lines...))
	var reference ledger.Tokens
	for _, row := range layers.Rows {
		if row.Layer == replay.LayerReference {
			equal(t, "skill of the references", row.Skill, "deploy")
			reference.Add(row.Tokens)
		}
	}
	// The first file stands in two prompts, the second in one: about 1,500 and 600.
	if reference.Input < 3_200 || reference.Input > 3_700 {
		t.Errorf("references take %d tokens", reference.Input)
	}
	if f.Avoidable.Uncalled.Tokens == 0 {
		t.Error("its line was in vain: nobody called it")
	}
}

// TestOnBehalf: what a fork spends stands in its own rows, and beside the skill that
// it runs.
func TestOnBehalf(t *testing.T) {
	call := func(id string, tokens int64) replay.APICall {
		return replay.APICall{Where: replay.Where{UUID: id}, Message: id, Usage: jsonl.Usage{Input: tokens, Output: 10}, HasUsage: true, Final: true, Tail: -1, Model: "claude-sonnet-4-5"}
	}
	s := &replay.Session{ID: "s", Agents: []*replay.Agent{
		{ID: "main", Calls: []replay.APICall{call("a", 1000)}, Events: []replay.Event{{Kind: replay.SkillCall, Skill: "deploy", Parent: -1, Where: replay.Where{UUID: "x"}}}},
		{ID: "fork", OnBehalfOf: "deploy", Calls: []replay.APICall{call("b", 500), call("c", 700)}},
	}}
	r := sum(by(cost.BySkill), s)
	f := skill(t, r, "deploy").Figures
	equal(t, "tokens on its behalf", f.OnBehalf.Tokens, 500+700+20)
	equal(t, "micro-dollars on its behalf", f.OnBehalf.Cost.Micro(), 1200*3+20*15)
	equal(t, "not added again", r.Total.Tokens, ledger.Tokens{Input: 2200, Output: 30})
	agents := sum(by(cost.ByAgent), s)
	equal(t, "own row", agents.Rows[1].Tokens.Input+agents.Rows[0].Tokens.Input, 2200)
}

func TestUnpriced(t *testing.T) {
	book := budget.DefaultBook()
	s := &replay.Session{ID: "s", Agents: []*replay.Agent{{ID: "main", Calls: []replay.APICall{
		{Message: "a", Usage: jsonl.Usage{Input: 5, Output: 2}, HasUsage: true, Tail: -1, Model: "nobody-knows-1"},
		{Message: "b", Usage: jsonl.Usage{Input: 1_000_000}, HasUsage: true, Final: true, Tail: -1, Model: "claude-opus-5"},
	}}}}
	r := sum(cost.Options{By: []cost.By{cost.ByModel}, Prices: &book}, s)
	equal(t, "unpriced", fmt.Sprint(r.Unpriced), "[{nobody-knows-1 1 7}]")
	equal(t, "money of the rest", r.Total.MicroUSD, 5_000_000)
	for _, row := range r.Rows {
		equal(t, row.Model+" is priced", row.Priced, row.Model == "claude-opus-5")
	}
	equal(t, "tokens of all", r.Total.Tokens.Input, 1_000_005)
}

func TestSurcharge(t *testing.T) {
	s := &replay.Session{ID: "s", Agents: []*replay.Agent{{ID: "main", Calls: []replay.APICall{
		{Message: "a", Usage: jsonl.Usage{Input: 200_000}, HasUsage: true, Final: true, Tail: -1, Model: "claude-sonnet-4-5"},
		{Message: "b", Usage: jsonl.Usage{Input: 200_001}, HasUsage: true, Final: true, Tail: -1, Model: "claude-sonnet-4-5"},
	}}}}
	r := sum(by(cost.ByModel), s)
	equal(t, "surcharged", r.Notes.Surcharged, 1)
	equal(t, "surcharge", r.Notes.Surcharge, 600_003)
	equal(t, "micro-dollars", r.Total.MicroUSD, 600_000+1_200_006)
}

// TestPeriods: requests count for the day on which they were made, in the zone that is
// asked for, and only those within the bounds.
func TestPeriods(t *testing.T) {
	at := func(text string) time.Time {
		out, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	s := &replay.Session{ID: "s", Agents: []*replay.Agent{{ID: "main"}}}
	for i, when := range []string{"2026-12-31T22:59:59Z", "2026-12-31T23:00:00Z", "2027-01-03T12:00:00Z", "2027-01-04T12:00:00Z"} {
		s.Agents[0].Calls = append(s.Agents[0].Calls, replay.APICall{Message: fmt.Sprint(i), Where: replay.Where{Time: at(when)},
			Usage: jsonl.Usage{Input: int64(1) << i}, HasUsage: true, Final: true, Tail: -1, Model: "claude-sonnet-4-5"})
	}
	zone := time.FixedZone("", 3600)
	rows := func(o cost.Options) string {
		o.Location = zone
		var out []string
		for _, row := range sum(o, s).Rows {
			out = append(out, fmt.Sprintf("%s=%d", row.Day+row.Week+row.Month, row.Tokens.Input))
		}
		return strings.Join(out, " ")
	}
	equal(t, "days", rows(by(cost.ByDay)), "2026-12-31=1 2027-01-01=2 2027-01-03=4 2027-01-04=8")
	equal(t, "weeks", rows(by(cost.ByWeek)), "2026-W53=7 2027-W01=8")
	equal(t, "months", rows(by(cost.ByMonth)), "2026-12=1 2027-01=14")
	bounded := cost.Options{By: []cost.By{cost.ByMonth}, Since: at("2026-12-31T23:00:00Z"), Until: at("2027-01-04T12:00:00Z")}
	equal(t, "bounded", rows(bounded), "2027-01=6")
	equal(t, "out of time", sum(bounded, s).Notes.OutOfTime, 2)
}

// random is a session of made-up calls, some of them copies of a pool that sessions
// share, with events of skills.
func random(r *rand.Rand, id int, pool []replay.APICall) *replay.Session {
	skills := []string{"", "deploy", "review", "plug:deploy", "notes"}
	s := &replay.Session{ID: fmt.Sprint("s", id), File: fmt.Sprint("/logs/", id), CWD: fmt.Sprint("/home/p", id%3), Start: time.Date(2026, 11, 1+id, 0, 0, 0, 0, time.UTC)}
	for k := range 1 + r.IntN(3) {
		a := &replay.Agent{ID: "main"}
		if k > 0 {
			a.ID, a.OnBehalfOf = fmt.Sprint(id, "-", k), skills[r.IntN(len(skills))]
		}
		tail := -1
		for n := range r.IntN(12) {
			for range r.IntN(4) {
				layer := ledger.Layers[r.IntN(len(ledger.Layers)-1)]
				g := replay.Segment{Layer: layer, Skill: skills[r.IntN(len(skills))], Prev: tail, Size: jsonl.Size{Letters: r.IntN(3_000), Words: 100, Blanks: 90}}
				if layer == replay.LayerListing {
					g.Part, g.Text = replay.PartLine, "- "+g.Skill
				}
				a.Segments = append(a.Segments, g)
				tail = len(a.Segments) - 1
			}
			name := skills[r.IntN(len(skills))]
			a.Events = append(a.Events, replay.Event{Kind: []replay.EventKind{replay.SkillCall, replay.Body, replay.Note}[r.IntN(3)], Skill: name, Parent: len(a.Events) - 1,
				Text: "body of " + name, Where: replay.Where{UUID: fmt.Sprint("e", id, "-", k, "-", n)}})
			c := replay.APICall{Message: fmt.Sprint("m", id, "-", k, "-", n), Tail: tail, HasUsage: r.IntN(9) > 0, Final: r.IntN(5) > 0, Event: len(a.Events), Version: fmt.Sprint("2.1.", 300+r.IntN(3)),
				Model: []string{"claude-sonnet-4-5", "claude-haiku-5-5", "nobody-knows-1"}[r.IntN(3)], Where: replay.Where{Time: s.Start.Add(time.Duration(r.IntN(90)) * time.Hour)},
				Usage: jsonl.Usage{Input: r.Int64N(5_000), CacheRead: r.Int64N(90_000), CacheWrite: r.Int64N(9_000), Output: r.Int64N(900), WebSearches: r.Int64N(2)}}
			if len(pool) > 0 && r.IntN(4) == 0 {
				from := pool[r.IntN(len(pool))]
				c.Message, c.Usage, c.HasUsage, c.Model, c.Where = from.Message, from.Usage, from.HasUsage, from.Model, from.Where
			}
			a.Calls = append(a.Calls, c)
		}
		s.Agents = append(s.Agents, a)
	}
	return s
}

func randomSessions(r *rand.Rand) (out []*replay.Session) {
	var pool []replay.APICall
	for id := range 1 + r.IntN(5) {
		s := random(r, id, pool)
		out = append(out, s)
		pool = append(pool, s.Agents[0].Calls...)
	}
	return out
}

// groupings are some of the ways to sum up.
var groupings = [][]cost.By{
	{cost.ByLayer}, {cost.ByPart}, {cost.BySkill}, {cost.BySession}, {cost.ByProject}, {cost.ByModel}, {cost.ByVersion}, {cost.ByDay}, {cost.ByWeek}, {cost.ByMonth}, {cost.ByAgent},
	{cost.ByProject, cost.ByLayer}, {cost.ByLayer, cost.ByPart}, {cost.BySkill, cost.ByLayer, cost.ByModel}, {cost.ByDay, cost.BySkill}, slices.Clone(cost.Bys),
}

// balanced checks that rows and layers make the total, to the token and the
// micro-dollar.
func balanced(t *testing.T, what string, r *cost.Result) {
	t.Helper()
	for name, rows := range map[string][]cost.Row{"rows": r.Rows, "layers": r.Layers} {
		var tokens ledger.Tokens
		var money, unpriced, once int64
		for _, row := range rows {
			tokens.Add(row.Tokens)
			money += row.MicroUSD
			unpriced += row.Unpriced
			once += row.Once
		}
		equal(t, what+": tokens of the "+name, tokens, r.Total.Tokens)
		equal(t, what+": money of the "+name, money, r.Total.MicroUSD)
		equal(t, what+": unpriced tokens of the "+name, unpriced, r.Total.Unpriced)
		equal(t, what+": once of the "+name, once, r.Total.Once)
	}
	seen := map[cost.Key]bool{}
	for _, row := range r.Rows {
		if seen[row.Key] {
			t.Errorf("%s: two rows of %+v", what, row.Key)
		}
		seen[row.Key] = true
	}
	var rows cost.Avoidable
	figures := false
	for _, row := range r.Rows {
		if f := row.Figures; f != nil {
			figures = true
			rows.Repeated.Tokens += f.Avoidable.Repeated.Tokens
			rows.Duplicate.Tokens += f.Avoidable.Duplicate.Tokens
			rows.Uncalled.Tokens += f.Avoidable.Uncalled.Tokens
			rows.Repeated.MicroUSD += f.Avoidable.Repeated.MicroUSD
			rows.Duplicate.MicroUSD += f.Avoidable.Duplicate.MicroUSD
			rows.Uncalled.MicroUSD += f.Avoidable.Uncalled.MicroUSD
			if micro := f.Avoidable.Repeated.MicroUSD + f.Avoidable.Duplicate.MicroUSD + f.Avoidable.Uncalled.MicroUSD; micro > row.MicroUSD {
				t.Errorf("%s: %s: %d of %d micro-dollars were avoidable", what, row.Skill, micro, row.MicroUSD)
			}
			if all := f.Avoidable.All(); all.Tokens > row.Once+row.Carried() {
				t.Errorf("%s: %s: %d of %d tokens were avoidable", what, row.Skill, all.Tokens, row.Once+row.Carried())
			}
		}
	}
	if figures {
		equal(t, what+": avoidable of the rows", fmt.Sprint(rows.Repeated.Tokens, rows.Duplicate.Tokens, rows.Uncalled.Tokens),
			fmt.Sprint(r.Avoidable.Repeated.Tokens, r.Avoidable.Duplicate.Tokens, r.Avoidable.Uncalled.Tokens))
		equal(t, what+": avoidable money of the rows", fmt.Sprint(rows.Repeated.MicroUSD, rows.Duplicate.MicroUSD, rows.Uncalled.MicroUSD),
			fmt.Sprint(r.Avoidable.Repeated.MicroUSD, r.Avoidable.Duplicate.MicroUSD, r.Avoidable.Uncalled.MicroUSD))
	}
	a := r.Avoidable.All()
	if a.Tokens > r.Total.Tokens.Input+r.Total.Tokens.CacheRead+r.Total.Tokens.CacheWrite5m+r.Total.Tokens.CacheWrite1h || a.Cost.Compare(r.Total.Cost) > 0 {
		t.Errorf("%s: more was avoidable than there was: %+v", what, a)
	}
}

// recorded is the usage of each request of sessions once, the copy with the highest
// output.
func recorded(sessions []*replay.Session) (out ledger.Tokens) {
	best := map[string]jsonl.Usage{}
	for _, s := range sessions {
		for _, a := range s.Agents {
			for _, c := range a.Calls {
				if had, ok := best[c.Message]; c.HasUsage && (!ok || c.Usage.Output > had.Output) {
					best[c.Message] = c.Usage
				}
			}
		}
	}
	for _, u := range best {
		out.Add(ledger.Tokens{Input: u.Input, CacheRead: u.CacheRead, CacheWrite5m: u.CacheWrite, Output: u.Output})
	}
	return out
}

// TestProperties: however sessions are summed up, in whatever order they come, and if
// logs are given twice, the totals are the same, and rows make them.
func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 8))
	for n := range 30 {
		sessions := randomSessions(r)
		first := sum(by(cost.ByLayer), sessions...)
		equal(t, "recorded usage", first.Total.Tokens, recorded(sessions))
		for _, keys := range groupings {
			what := fmt.Sprint(n, " ", keys)
			got := sum(by(keys...), sessions...)
			balanced(t, what, got)
			equal(t, what+": total", got.Total.Tokens, first.Total.Tokens)
			equal(t, what+": money", got.Total.MicroUSD, first.Total.MicroUSD)
			equal(t, what+": calls", got.Total.Calls, first.Total.Calls)
			equal(t, what+": avoidable", got.Avoidable, first.Avoidable)

			shuffled := slices.Clone(sessions)
			r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if again := sum(by(keys...), shuffled...); !reflect.DeepEqual(again, got) {
				t.Fatalf("%s: another order gives something else", what)
			}
			twice := *sessions[r.IntN(len(sessions))]
			twice.File += "-copy"
			more := sum(by(keys...), append([]*replay.Session{&twice}, sessions...)...)
			more.Notes.Copies = got.Notes.Copies
			if !reflect.DeepEqual(more, got) {
				t.Fatalf("%s: a log given twice gives something else:\n got %+v\nwant %+v", what, more, got)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// TestRecordedOrder does the same with logs: those of the fixtures, and recordings
// where there are any.
func TestRecordedOrder(t *testing.T) {
	logs, err := filepath.Glob("../../fixtures/cases/*/*.jsonl")
	if err != nil || len(logs) == 0 {
		t.Fatal("no fixtures", err)
	}
	root := os.Getenv("SKILLTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	more, err := filepath.Glob(filepath.Join(root, "conformance", "lifecycle", "[a-f]*", "2.1.332", "sessions", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(more) == 0 {
		t.Log("no recordings: fixtures only")
	}
	var sessions []*replay.Session
	for _, path := range append(logs, more...) {
		sessions = append(sessions, fixtures.Session(t, path))
	}
	first := sum(by(cost.ByLayer), sessions...)
	r := rand.New(rand.NewPCG(1, 2))
	for _, keys := range [][]cost.By{{cost.ByLayer}, {cost.BySkill, cost.ByDay}, slices.Clone(cost.Bys)} {
		what := fmt.Sprint(keys)
		got := sum(by(keys...), sessions...)
		balanced(t, what, got)
		equal(t, what+": total", got.Total.Tokens, first.Total.Tokens)
		shuffled := slices.Clone(sessions)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if again := sum(by(keys...), shuffled...); !reflect.DeepEqual(again, got) {
			t.Errorf("%s: another order gives something else", what)
		}
		more := sum(by(keys...), append(slices.Clone(sessions), sessions...)...)
		more.Notes.Copies = got.Notes.Copies
		if !reflect.DeepEqual(more, got) {
			t.Errorf("%s: logs given twice give something else", what)
		}
	}
}

// TestLines: of each request there is one line for each layer, and what else is asked
// for; the lines make the total.
func TestLines(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		sessions := randomSessions(r)
		for _, keys := range [][]cost.By{{cost.ByLayer}, {cost.ByPart}, {cost.BySkill}, {cost.ByPart, cost.BySkill}} {
			o := by(keys...)
			o.Calls = true
			result := sum(o, sessions...)
			type line struct {
				session, agent, message, request, file string
				line                                   int
				layer                                  replay.Layer
				part                                   replay.Part
				skill                                  string
			}
			seen := map[line]bool{}
			var total ledger.Tokens
			for i := range result.Lines {
				l := &result.Lines[i]
				k := line{l.Session, l.Agent, l.Message, l.Request, l.File, l.Line, l.Layer, l.Part, l.Skill}
				if seen[k] {
					t.Errorf("by %v: two lines for %v", keys, k)
				}
				seen[k] = true
				total.Add(l.Tokens)
			}
			equal(t, "total of the lines", total, result.Total.Tokens)
		}
	}
}

// BenchmarkSum sums up a generated session whose timeline stands.
func BenchmarkSum(b *testing.B) {
	var files []source
	err := synth.Session(20<<20, func(name string) (io.WriteCloser, error) {
		files = append(files, source{name: name})
		return &memory{all: &files, at: len(files) - 1}, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	var subs []replay.Source
	var size int64
	for i := range files {
		f := &files[i]
		size += int64(len(f.data))
		s := replay.Source{Name: f.name, Records: jsonl.Read(f.name, bytes.NewReader(f.data), replay.Reading())}
		if i > 0 {
			s.Agent = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f.name), "agent-"), ".jsonl")
		}
		subs = append(subs, s)
	}
	s, err := replay.Observe(subs[0], subs[1:]...)
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range []cost.Options{by(cost.ByLayer), by(cost.BySkill), by(cost.Bys...), {By: []cost.By{cost.ByLayer}, WhatIf: ask(b, "cut=50")}} {
		name := fmt.Sprint(o.By)
		if o.WhatIf != nil {
			name = "what if"
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				sum(o, s)
			}
		})
	}
}

// source is a log in memory.
type source struct {
	name string
	data []byte
}

type memory struct {
	bytes.Buffer
	all *[]source
	at  int
}

func (m *memory) Close() error {
	(*m.all)[m.at].data = m.Bytes()
	return nil
}

// TestDuplicateLines: lines that say what others say, and listings that are sent
// again, are avoidable for one reason each.
func TestDuplicateLines(t *testing.T) {
	l := &log{session: "s"}
	l.add(`"type":"user","message":{"content":"Go"}`)
	const content = `- x: One thing for the shop.\n- x: One thing for the shop.\n- plug:y: Another thing for the shop.\n- y: Another thing for the shop.\n- m: Not for n, use n.`
	l.add(`"type":"attachment","attachment":{"type":"skill_listing","content":"%s","isInitial":true,"skillCount":5,"names":["x","x","plug:y","y","m"]}`, content)
	l.reply(10_000, 5, `{"type":"text","text":"Yes?"}`)
	once := sum(by(cost.BySkill), written(t, "s.jsonl", l.lines...))
	if a := skill(t, once, "x").Figures.Avoidable; a.Repeated.Tokens == 0 || a.Uncalled.Tokens == 0 || a.Duplicate.Tokens != 0 {
		t.Errorf("x stands twice, word for word: %+v", a)
	}
	if a := skill(t, once, "y").Figures.Avoidable; a.Duplicate.Tokens == 0 || a.Uncalled.Tokens != 0 || a.Repeated.Tokens != 0 {
		t.Errorf("y says what plug:y says: %+v", a)
	}
	if a := skill(t, once, "plug:y").Figures.Avoidable; a.Duplicate.Tokens != 0 || a.Uncalled.Tokens == 0 {
		t.Errorf("plug:y stands first: %+v", a)
	}
	equal(t, "x is listed", skill(t, once, "x").Figures.Listed, 2)
	l.add(`"type":"user","message":{"content":"Go on"}`)
	l.add(`"type":"attachment","attachment":{"type":"skill_listing","content":"%s","isInitial":true,"skillCount":5,"names":["x","x","plug:y","y","m"]}`, content)
	l.reply(10_100, 5, `{"type":"text","text":"Done."}`)
	twice := sum(by(cost.BySkill), written(t, "s.jsonl", l.lines...))
	if a := skill(t, twice, "m").Figures.Avoidable; a.Repeated.Tokens == 0 || a.Uncalled.Tokens == 0 {
		t.Errorf("m was sent again: %+v", a)
	}
}

// TestCopiesCountOnce: a fork begins with copies of what it goes on from. Requests,
// listings and calls in them count for the session that made them.
func TestCopiesCountOnce(t *testing.T) {
	l := &log{session: "s"}
	l.add(`"type":"user","message":{"content":"Go"}`)
	l.add(`"type":"attachment","attachment":{"type":"skill_listing","content":"- deploy: Deploys the shop.","isInitial":true,"skillCount":1,"names":["deploy"]}`)
	l.reply(10_000, 40, `{"type":"tool_use","id":"t1","name":"Skill","input":{"skill":"deploy"}}`)
	l.result("t1", "Launching skill: deploy")
	l.add(`"type":"user","isMeta":true,"sourceToolUseID":"t1","message":{"content":[{"type":"text","text":"Push the image and wait for it."}]}`)
	l.reply(10_200, 20, `{"type":"text","text":"Done."}`)
	first := written(t, "a.jsonl", l.lines...)
	for i, line := range l.lines {
		l.lines[i] = strings.Replace(line, `"sessionId":"s"`, `"sessionId":"f","forkedFrom":{"sessionId":"s"}`, 1)
	}
	l.session, l.n = "s", len(l.lines)
	l.add(`"type":"user","message":{"content":"And now?"}`)
	l.lines[len(l.lines)-1] = strings.Replace(l.lines[len(l.lines)-1], `"sessionId":"s"`, `"sessionId":"f"`, 1)
	l.reply(10_300, 20, `{"type":"text","text":"Nothing."}`)
	l.lines[len(l.lines)-1] = strings.Replace(l.lines[len(l.lines)-1], `"sessionId":"s"`, `"sessionId":"f"`, 1)
	fork := written(t, "f.jsonl", l.lines...)
	lines := ""
	for _, order := range [][]*replay.Session{{first, fork}, {fork, first}} {
		calls := by(cost.BySession)
		calls.Calls = true
		if got := fmt.Sprint(sum(calls, order...).Lines); lines == "" {
			lines = got
		} else {
			equal(t, "lines in another order of the logs", got, lines)
		}
		r := sum(by(cost.BySession), order...)
		equal(t, "calls", r.Total.Calls, 3)
		equal(t, "input", r.Total.Tokens.Input, 30_500)
		equal(t, "copies", r.Notes.Copies, 2)
		for _, row := range r.Rows {
			equal(t, "calls of "+row.Session, row.Calls, map[string]int{"s": 2, "f": 1}[row.Session])
		}
		f := skill(t, sum(by(cost.BySkill), order...), "deploy").Figures
		equal(t, "listed, called, loaded", fmt.Sprint(f.Listed, f.ByModel, f.Loads.Count), "1 1 1")
	}
}

// TestDamagedUsage: a field of a usage that is no count counts nothing, and is told.
func TestDamagedUsage(t *testing.T) {
	for _, tt := range []struct {
		output string
		want   int64
		n      int
	}{{"7", 7, 0}, {"null", 0, 0}, {"-7", 0, 1}, {"4611686018427387904", 0, 1}, {`"7"`, 0, 1}, {"7.5", 0, 1}} {
		r := sum(by(cost.ByLayer), written(t, "s.jsonl",
			`{"type":"user","uuid":"a","sessionId":"s","message":{"content":"x"}}`,
			`{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","requestId":"r","message":{"id":"m","model":"claude-sonnet-4-5","stop_reason":"end_turn","content":"x","usage":{"input_tokens":10,"output_tokens":`+tt.output+`}}}`))
		equal(t, tt.output+": input", r.Total.Tokens.Input, 10)
		equal(t, tt.output+": output", r.Total.Tokens.Output, tt.want)
		equal(t, tt.output+": damaged", r.Notes.Damaged, tt.n)
	}
}

// TestBlankNames: a skill whose name holds a blank is listed where the log names it
// elsewhere, though the listing tells no names.
func TestBlankNames(t *testing.T) {
	l := &log{session: "s"}
	l.add(`"type":"user","message":{"content":"Go"}`)
	l.add(`"type":"attachment","attachment":{"type":"skill_listing","content":"- x: One thing.\n- two words: Another.","isInitial":true,"skillCount":2}`)
	l.reply(10_000, 5, `{"type":"tool_use","id":"t1","name":"Skill","input":{"skill":"two words"}}`)
	r := sum(by(cost.BySkill), written(t, "s.jsonl", l.lines...))
	equal(t, "two words is listed", skill(t, r, "two words").Figures.Listed, 1)
	equal(t, "x is listed", skill(t, r, "x").Figures.Listed, 1)
}
