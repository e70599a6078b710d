package synth

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"
)

// Bill is a folder of session logs that put one question to a program that counts
// tokens and money.
type Bill struct {
	Name string
	// Asks is the question in a few words.
	Asks string
	// Reason says why ccusage and skilltrace are known to answer it differently; ""
	// where they must agree.
	Reason string
	write  func(b *biller)
}

// Bills are all questions. The first are common in real logs.
var Bills = []Bill{
	{"mixture", "many sessions of all common kinds", "", mixture},
	{"blocks", "a row for each block of a reply, each with its usage", "", each(sessions, blocks)},
	{"snapshots", "rows of a reply while it streams, with a growing output", "", each(sessions, snapshots)},
	{"model changed", "a reply that another model went on with", "", each(sessions, modelChanged)},
	{"no request ids", "rows of one message without request ids", "", each(sessions, noRequestIDs)},
	{"no message ids", "rows without either id, each a request", "", each(sessions, noIDs)},
	{"resumed", "logs that begin with a copy of the one they go on from", "", resumed},
	{"forked", "two forks of a session, with all its rows", "", forked},
	{"kept rows", "rows that a compaction writes again, with all usage 0", "", each(sessions, keptRows)},
	{"rewound", "branches that were left, and were paid", "", each(sessions, rewound)},
	{"twice", "the same logs in two projects", "", twice},
	{"subagents", "logs of subagents, some of whose rows stand in the main log too", "", each(sessions, subagents)},
	{"flat subagents", "logs of subagents beside the main log, as clients up to 2.0 wrote them", "", each(sessions, flatSubagents)},
	{"sidechains", "subagents within the main log, as clients before 2.0 wrote them", "", each(sessions, sidechainRows)},
	{"synthetic", "rows that no model wrote, and failed requests", "", each(sessions, synthetic)},
	{"cache lifetimes", "writes for five minutes, for an hour, for both", "", each(sessions, lifetimes)},
	{"no lifetimes", "cache writes without a lifetime", "", each(sessions, noLifetimes)},
	{"lifetimes only", "cache writes whose flat count is 0", "", each(sessions, lifetimesOnly)},
	{"models", "all models that both know, in fast mode too", "", models},

	{"long prompts", "Sonnet 4 and 4.5 above 200,000 tokens", "the surcharge holds for the whole call (the vendor's page); ccusage charges it, per kind, for what is above", longPrompts},
	{"new models", "models newer than the prices of ccusage", "ccusage has no price, or another, for the newest models", newModels},
	{"long haiku", "Haiku 5.5 above 100,000 tokens", "ccusage has no price for Haiku 5.5", longHaiku},
	{"region", "inference in the US", "the price is a tenth higher; ccusage leaves that out", variant(`,"inference_geo":"us"`)},
	{"batch", "the batch interface", "the price is half; ccusage leaves that out", batch},
	{"searches", "web searches", "$10 per 1,000; ccusage leaves them out", variant(`,"server_tool_use":{"web_search_requests":3,"web_fetch_requests":1}`)},
	{"shrinking snapshots", "a reply whose prompt shrinks while it streams", "the row with the highest output is the last word (case 1); ccusage takes the one with the most tokens", each(sessions, shrinking)},
	{"empty lifetimes", "cache writes whose lifetimes are all 0", "the flat count is what was billed (case 2); ccusage takes the lifetimes", each(sessions, emptyLifetimes)},
	{"ids in part", "rows of one request, some without its request id", "a message id is one request's (fallback where the other id is missing); ccusage counts both", each(sessions, idsInPart)},
	{"synthetic with usage", "rows that no model wrote, with a usage", "nothing was sent (case 2); ccusage counts the tokens", each(sessions, syntheticUsage)},
	{"copies without request ids", "copied rows that have a message id only", "a message id is one request's, in whatever session; ccusage counts it in each", copiesInPart},
	{"no times", "rows without a timestamp", "they were paid; ccusage passes over them", each(sessions, noTimes)},
	{"odd times", "timestamps with microseconds", "they are times; ccusage passes over the rows", microseconds},
	{"blanks", "JSON with blanks", "it is JSON; ccusage passes over it", blanks},
	{"glued", "two records on a line", "both were paid (case 5); ccusage passes over the line", glued},
	{"copies without ids", "copied rows without either id", "the uuid tells that they are copies; ccusage counts them twice", copiesWithoutIDs},
}

// sessions is how many sessions there are of each kind.
const sessions = 6

// WriteBill writes the logs of a question. open is called with the path of each,
// relative to a configuration folder.
func WriteBill(bill Bill, open func(path string) (io.WriteCloser, error)) error {
	seed := uint64(0)
	for _, c := range bill.Name {
		seed = seed*131 + uint64(c)
	}
	b := &biller{open: open, rand: rand.New(rand.NewPCG(4, seed)), clock: time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC), name: strings.ReplaceAll(bill.Name, " ", "-")}
	bill.write(b)
	return b.err
}

// biller writes the logs of a question.
type biller struct {
	open  func(path string) (io.WriteCloser, error)
	rand  *rand.Rand
	clock time.Time
	name  string
	err   error

	sessions, requests, rows int
	shape                    func(string) string // of a row, nil: as it is
}

// book is a log in the making: rows of one file.
type book struct {
	*biller
	project, session, agent, client string
	parent                          string
	rows                            []string
}

func (b *biller) session() *book {
	b.sessions++
	b.clock = b.clock.Add(time.Duration(1+b.rand.IntN(40)) * time.Hour)
	s := &book{biller: b, project: fmt.Sprintf("-home-dev-%s-%d", b.name, b.sessions%3), session: fmt.Sprintf("%08x-0000-4000-8000-%012x", b.rand.Uint32(), b.sessions), client: Client}
	s.prompt()
	return s
}

// file writes rows as a log.
func (b *biller) file(path string, rows []string) {
	if b.err != nil {
		return
	}
	w, err := b.open(path)
	if err != nil {
		b.err = err
		return
	}
	if _, err := io.WriteString(w, strings.Join(rows, "\n")+"\n"); err != nil {
		b.err = err
	}
	if err := w.Close(); b.err == nil {
		b.err = err
	}
}

func (s *book) save() { s.file("projects/"+s.project+"/"+s.session+".jsonl", s.rows) }

func (s *book) saveAgent() {
	s.file("projects/"+s.project+"/"+s.session+"/subagents/agent-"+s.agent+".jsonl", s.rows)
}

// row adds a record with its members.
func (s *book) row(members string, stamped bool) {
	s.biller.rows++
	s.clock = s.clock.Add(time.Duration(100+s.rand.IntN(3000)) * time.Millisecond)
	uuid := fmt.Sprintf("%08x-1111-4111-8111-%012x", s.rand.Uint32(), s.biller.rows)
	parent, agent, stamp := "null", "", ""
	if s.parent != "" {
		parent = `"` + s.parent + `"`
	}
	if s.agent != "" {
		agent = `,"agentId":"` + s.agent + `"`
	}
	if stamped {
		stamp = `,"timestamp":"` + s.clock.Format("2006-01-02T15:04:05.000Z") + `"`
	}
	text := fmt.Sprintf(`{"parentUuid":%s,"isSidechain":%t%s,%s,"uuid":"%s"%s,"userType":"external","cwd":"/home/dev/shop","sessionId":"%s","version":"%s"}`,
		parent, s.agent != "", agent, members, uuid, stamp, s.session, s.client)
	if s.shape != nil {
		text = s.shape(text)
	}
	s.rows = append(s.rows, text)
	s.parent = uuid
}

func (s *book) prompt() {
	s.row(`"type":"user","message":{"role":"user","content":"Go on with the work."}`, true)
}

// request is a model request as it is billed.
type request struct {
	message, request string // ids; "" for none
	model            string
	in, read, out    int
	flat             int    // cache writes
	split            string // of them by lifetime, "" for none
	more             string // further members of the usage
	stop             string // "null" or a word in quotes
	unstamped        bool
}

var commonModels = []string{"claude-sonnet-4-5-20250929", "claude-opus-4-7", "claude-haiku-4-5-20251001", "claude-sonnet-5", "claude-opus-5"}

// next is a request of ordinary size.
func (s *book) next() request {
	s.requests++
	q := request{message: fmt.Sprintf("msg_%s%06d", s.name, s.requests), request: fmt.Sprintf("req_%s%06d", s.name, s.requests), model: commonModels[s.sessions%len(commonModels)],
		in: s.rand.IntN(50), read: s.rand.IntN(90_000), out: 1 + s.rand.IntN(3000), flat: s.rand.IntN(9000), stop: `"end_turn"`}
	q.split = lifetime(q.flat, 0)
	return q
}

func lifetime(minutes, hour int) string {
	return fmt.Sprintf(`,"cache_creation":{"ephemeral_5m_input_tokens":%d,"ephemeral_1h_input_tokens":%d}`, minutes, hour)
}

// reply adds a row of a request.
func (s *book) reply(q request) {
	ids, request := "", ""
	if q.message != "" {
		ids = `"id":"` + q.message + `",`
	}
	if q.request != "" {
		request = `,"requestId":"` + q.request + `"`
	}
	s.row(fmt.Sprintf(`"type":"assistant","message":{%s"type":"message","role":"assistant","model":"%s","content":[{"type":"text","text":"Done: %d."}],"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d%s%s}}%s`,
		ids, q.model, s.biller.rows, q.stop, q.in, q.flat, q.read, q.out, q.split, q.more, request), !q.unstamped)
}

// each is n sessions with some turns.
func each(n int, turn func(s *book)) func(*biller) {
	return func(b *biller) {
		for range n {
			s := b.session()
			for range 2 + b.rand.IntN(5) {
				turn(s)
				s.prompt()
			}
			s.save()
		}
	}
}

func blocks(s *book) {
	q := s.next()
	for range 1 + s.rand.IntN(4) {
		s.reply(q)
	}
}

func snapshots(s *book) {
	q := s.next()
	final := q.out + 10
	q.out, q.stop = 1+s.rand.IntN(9), "null"
	for range 1 + s.rand.IntN(3) {
		s.reply(q)
	}
	q.out = final
	if s.rand.IntN(4) > 0 { // else the last row never came
		q.stop = `"tool_use"`
	}
	s.reply(q)
}

func modelChanged(s *book) {
	q := s.next()
	s.reply(q)
	q.model, q.out, q.stop = "claude-opus-4-8", q.out+400, `"end_turn"`
	s.reply(q)
}

func noRequestIDs(s *book) {
	q := s.next()
	q.request = ""
	for range 1 + s.rand.IntN(3) {
		s.reply(q)
	}
}

func noIDs(s *book) {
	q := s.next()
	q.message, q.request = "", ""
	s.reply(q)
}

// copyOf begins another session with the rows of one.
func (s *book) copyOf(forked bool) *book {
	c := s.biller.session()
	c.rows, c.parent, c.project = nil, s.parent, s.project
	for _, row := range s.rows {
		row = strings.ReplaceAll(row, s.session, c.session)
		if forked {
			row = row[:len(row)-1] + `,"forkedFrom":{"sessionId":"` + s.session + `"}}`
		}
		c.rows = append(c.rows, row)
	}
	return c
}

func resumed(b *biller) {
	for range 3 {
		s := b.session()
		for range 4 {
			for range 3 {
				blocks(s)
			}
			s.save()
			s = s.copyOf(false)
			s.prompt()
		}
		snapshots(s)
		s.save()
	}
}

func forked(b *biller) {
	for range 3 {
		s := b.session()
		for range 4 {
			blocks(s)
		}
		for range 2 {
			f := s.copyOf(true)
			f.prompt()
			blocks(f)
			f.save()
		}
		blocks(s)
		s.save()
	}
}

func keptRows(s *book) {
	q := s.next()
	s.reply(q)
	s.row(`"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":9000}`, true)
	q.in, q.read, q.out, q.flat, q.split = 0, 0, 0, 0, lifetime(0, 0)
	s.reply(q)
}

func rewound(s *book) {
	at := s.parent
	blocks(s)
	s.parent = at
	s.prompt()
	blocks(s)
}

func twice(b *biller) {
	for range sessions {
		s := b.session()
		blocks(s)
		noRequestIDs(s)
		s.save()
		s.project += "-again"
		s.save()
	}
}

// helper is the log of a subagent.
func (s *book) helper() *book {
	s.requests++
	a := &book{biller: s.biller, project: s.project, session: s.session, client: s.client, agent: fmt.Sprintf("a%07x", s.requests)}
	a.prompt()
	for range 1 + s.rand.IntN(4) {
		blocks(a)
	}
	snapshots(a)
	return a
}

func subagents(s *book) {
	blocks(s)
	a := s.helper()
	a.saveAgent()
	if s.rand.IntN(3) == 0 {
		s.rows = append(s.rows, a.rows...)
	}
}

func flatSubagents(s *book) {
	s.client = "2.0.30"
	blocks(s)
	a := s.helper()
	s.file("projects/"+s.project+"/agent-"+a.agent+".jsonl", a.rows)
}

func sidechainRows(s *book) {
	s.client = "1.0.43"
	blocks(s)
	main := s.parent
	s.agent, s.parent = "side", ""
	s.prompt()
	noRequestIDs(s)
	blocks(s)
	s.agent, s.parent = "", main
	for i, row := range s.rows {
		s.rows[i] = strings.Replace(row, `,"agentId":"side"`, "", 1)
	}
}

func synthetic(s *book) {
	q := s.next()
	blank := request{message: q.message + "-s", model: "<synthetic>", stop: `"stop_sequence"`}
	s.reply(blank)
	s.row(`"type":"system","subtype":"api_error","level":"error","retryAttempt":1,"maxRetries":10`, true)
	s.reply(q)
}

func lifetimes(s *book) {
	for k := range 3 {
		q := s.next()
		hour := q.flat * k / 2
		q.split = lifetime(q.flat-hour, hour)
		s.reply(q)
	}
}

func noLifetimes(s *book) {
	q := s.next()
	q.split = ""
	s.reply(q)
}

func lifetimesOnly(s *book) {
	q := s.next()
	q.split, q.flat = lifetime(q.flat, 7*q.flat), 0
	s.reply(q)
}

func emptyLifetimes(s *book) {
	q := s.next()
	q.flat++
	q.split = lifetime(0, 0)
	s.reply(q)
}

func shrinking(s *book) {
	q := s.next()
	q.in, q.read = q.in+4000, q.read+50_000
	s.reply(q)
	q.in, q.read, q.out = 3, 5, q.out+200
	s.reply(q)
}

func idsInPart(s *book) {
	q := s.next()
	s.reply(q)
	q.request = ""
	s.reply(q)
}

func syntheticUsage(s *book) {
	q := s.next()
	s.reply(q)
	q.message, q.request, q.model = q.message+"-s", "", "<synthetic>"
	s.reply(q)
}

func noTimes(s *book) {
	s.reply(s.next())
	q := s.next()
	q.unstamped = true
	s.reply(q)
}

func mixture(b *biller) {
	turns := []func(*book){blocks, blocks, snapshots, snapshots, subagents, synthetic, lifetimes, rewound, keptRows}
	for range 60 {
		s := b.session()
		for range 3 + b.rand.IntN(12) {
			turns[b.rand.IntN(len(turns))](s)
			s.prompt()
		}
		s.save()
		for range b.rand.IntN(3) {
			s = s.copyOf(b.rand.IntN(2) == 0)
			for range 1 + b.rand.IntN(4) {
				turns[b.rand.IntN(len(turns))](s)
			}
			s.save()
		}
	}
}

// of writes a session in which each model makes a request of each kind.
func of(b *biller, names []string, more ...string) {
	for _, name := range names {
		s := b.session()
		for _, m := range append(more, "") {
			q := s.next()
			q.model, q.more = name, m
			half := q.flat / 2
			q.split = lifetime(half, q.flat-half)
			s.reply(q)
		}
		s.save()
	}
}

func models(b *biller) {
	of(b, strings.Fields("claude-fable-5-1 claude-fable-5 claude-mythos-5 claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-opus-4-5 claude-opus-4-1-20250805 claude-opus-4-20250514 claude-sonnet-5 claude-sonnet-4-6 claude-sonnet-4-5-20250929 claude-sonnet-4-20250514 claude-3-7-sonnet-20250219 claude-haiku-4-5-20251001 claude-3-5-haiku-20241022 claude-sonnet-4-5[1m] claude-nobody-7"),
		`,"speed":"standard"`, `,"speed":"fast"`)
}

func newModels(b *biller) {
	of(b, strings.Fields("claude-fable-5-2 claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5"))
}

func variant(more string) func(*biller) {
	return func(b *biller) { of(b, commonModels, more) }
}

func batch(b *biller) { of(b, commonModels, `,"service_tier":"batch"`) }

func longPrompts(b *biller) {
	long(b, 120_000, "claude-sonnet-4-5-20250929", "claude-sonnet-4-20250514")
}

func longHaiku(b *biller) { long(b, 60_000, "claude-haiku-5-5") }

// long writes sessions with prompts of two times n tokens and more.
func long(b *biller, n int, names ...string) {
	for _, name := range names {
		s := b.session()
		for k := range 4 {
			q := s.next()
			q.model, q.in, q.read = name, n+k*n, n
			s.reply(q)
		}
		s.save()
	}
}

func blanks(b *biller) {
	b.shape = func(row string) string { return strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(row) }
	each(sessions, blocks)(b)
}

func glued(b *biller) {
	for range sessions {
		s := b.session()
		for range 4 {
			s.reply(s.next())
		}
		n := len(s.rows)
		s.rows = append(s.rows[:n-2], s.rows[n-2]+s.rows[n-1])
		s.save()
	}
}

func microseconds(b *biller) {
	b.shape = func(row string) string { return strings.Replace(row, `Z","userType"`, `417Z","userType"`, 1) }
	each(sessions, blocks)(b)
}

func copiesWithoutIDs(b *biller) { copied(b, noIDs) }

func copiesInPart(b *biller) { copied(b, noRequestIDs) }

func copied(b *biller, turn func(*book)) {
	for range sessions {
		s := b.session()
		turn(s)
		turn(s)
		s.save()
		c := s.copyOf(true)
		turn(c)
		c.save()
	}
}
