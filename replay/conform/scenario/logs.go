package scenario

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/jsonl"
)

// SessionLog is one main log of a recording.
type SessionLog struct {
	Path string
	ID   string
	// Runs are the runs that wrote to it, in order; Spans says which of their
	// steps, where a run wrote to several logs (/clear opens a new one).
	Runs  []int
	Spans []Span
	// Subagents are the logs of its subagents and forks, sorted by name.
	Subagents []string
}

// Span is the steps From to To (not included) of a run.
type Span struct{ Run, From, To int }

// Sessions are the main logs that hold anything, by their first run.
func (c *Case) Sessions() []SessionLog { return c.logs }

// Spare are the logs that belong to no run: empty by-products of resuming (up to
// 2.1.5), and subagents' logs of sessions that have none.
func (c *Case) Spare() []string { return c.spare }

// WithoutLog are the runs that left no log, because they ended too early.
func (c *Case) WithoutLog() []int { return c.noLogs }

// clearSlack is how much older than the typed /clear a log may be that it opened:
// the recorder notes a step when it begins, rounded to 100 ms.
const clearSlack = 200 * time.Millisecond

// log is a main log before it is known whose it is.
type log struct {
	SessionLog
	born time.Time // its first record that is no copy
}

// findLogs finds the logs and the runs that they belong to: by the id that
// case.yaml gives; else main logs in the order of their first record belong to
// the runs that begin a session, and a resumed run goes on with the one before
// (recorded: listing, all of 270); on the terminal screen by when they began.
func (c *Case) findLogs() error {
	logs, agents, err := c.listLogs()
	if err != nil {
		return err
	}
	slices.SortStableFunc(logs, func(a, b *log) int {
		if d := a.born.Compare(b.born); d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
	byID := map[string]*log{}
	for _, l := range logs {
		byID[l.ID] = l
	}
	has := make([]bool, len(c.Runs))
	give := func(l *log, run, from, to int) {
		if l == nil {
			return
		}
		if !slices.Contains(l.Runs, run) {
			l.Runs = append(l.Runs, run)
		}
		l.Spans = append(l.Spans, Span{run, from, to})
		has[run] = true
	}
	named := slices.ContainsFunc(c.Runs, func(r Run) bool { return r.Session != "" })
	var last *log
	next := 0
	switch {
	case c.screen:
		c.bySteps(logs, byID, give)
	default:
		for i := range c.Runs {
			r := &c.Runs[i]
			switch {
			case named:
				last = byID[r.Session]
			case !r.Resume || r.Fork:
				last = nil
				if next < len(logs) {
					last = logs[next]
					next++
				}
			}
			give(last, i, 0, len(r.Prompts))
		}
	}
	for i, ok := range has {
		if !ok {
			c.noLogs = append(c.noLogs, i)
		}
	}
	for _, a := range agents {
		if l := byID[a.session]; l != nil && len(l.Runs) > 0 {
			l.Subagents = append(l.Subagents, a.path)
		} else {
			c.spare = append(c.spare, a.path)
		}
	}
	for _, l := range logs {
		if len(l.Runs) == 0 {
			c.spare = append(c.spare, l.Path)
			continue
		}
		slices.Sort(l.Subagents)
		c.logs = append(c.logs, l.SessionLog)
	}
	slices.SortStableFunc(c.logs, func(a, b SessionLog) int { return a.Runs[0] - b.Runs[0] })
	slices.Sort(c.spare)
	return nil
}

// bySteps gives the logs of a terminal screen to the runs. A log is opened by
// the start of a client that resumes nothing or forks, and by /clear.
func (c *Case) bySteps(logs []*log, byID map[string]*log, give func(l *log, run, from, to int)) {
	type opening struct {
		at  time.Time
		log *log
	}
	var openings []*opening
	starts := map[[2]int]*opening{} // by run and step; step -1 is the start
	open := func(run, step int, atMS int64) {
		o := &opening{at: time.UnixMilli(atMS)}
		openings = append(openings, o)
		starts[[2]int{run, step}] = o
	}
	for i := range c.Runs {
		r := &c.Runs[i]
		if !r.Resume || r.Fork {
			open(i, -1, r.StartedAtMS)
		}
		for j := range r.Prompts {
			if clears(&r.Prompts[j]) {
				open(i, j, r.Prompts[j].AtMS)
			}
		}
	}
	for _, l := range logs {
		for _, o := range slices.Backward(openings) {
			if !o.at.After(l.born.Add(clearSlack)) {
				if o.log == nil {
					o.log = l
				}
				break
			}
		}
	}
	var last *log
	for i := range c.Runs {
		r := &c.Runs[i]
		if o := starts[[2]int{i, -1}]; o != nil {
			last = o.log
		} else if r.ResumeID != "" {
			last = byID[r.ResumeID]
		}
		from := 0
		for j := range r.Prompts {
			if o := starts[[2]int{i, j}]; o != nil {
				give(last, i, from, j+1)
				last, from = o.log, j+1
			}
		}
		give(last, i, from, len(r.Prompts))
	}
}

// clears reports whether a step leaves the conversation for a new one.
func clears(s *Step) bool {
	return s.Kind == StepText && strings.TrimSpace(s.Text) == "/clear"
}

// agentLog is a subagent's log and the session that it belongs to.
type agentLog struct{ path, session string }

// listLogs lists the logs that hold anything; empty ones are spare.
func (c *Case) listLogs() (logs []*log, agents []agentLog, err error) {
	files, err := filepath.Glob(filepath.Join(escape(c.Dir), "sessions", "*", "*.jsonl"))
	if err != nil {
		return nil, nil, err
	}
	var forks bool
	resumed := map[string]bool{}
	for i := range c.Runs {
		forks = forks || c.Runs[i].Fork && c.Runs[i].Session == ""
		resumed[c.Runs[i].ResumeID] = true
	}
	seen := map[string]int{} // in how many logs a record stands
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return nil, nil, err
		}
		id := strings.TrimSuffix(filepath.Base(f), ".jsonl")
		if info.Size() == 0 {
			c.spare = append(c.spare, f)
			continue
		}
		if strings.HasPrefix(id, "agent-") {
			// Flat, up to 2.0.77: the session stands inside.
			session := ""
			err := records(f, func(r jsonl.Value) bool {
				session = r.Get("sessionId").Text()
				return session == ""
			})
			if err != nil {
				return nil, nil, err
			}
			agents = append(agents, agentLog{f, session})
			continue
		}
		subs, err := filepath.Glob(filepath.Join(escape(filepath.Dir(f)), id, "subagents", "agent-*.jsonl"))
		if err != nil {
			return nil, nil, err
		}
		for _, s := range subs {
			agents = append(agents, agentLog{s, id})
		}
		l := &log{SessionLog: SessionLog{Path: f, ID: id}}
		err = records(f, func(r jsonl.Value) bool {
			if l.born.IsZero() {
				l.born, _ = time.Parse(time.RFC3339, r.Get("timestamp").Text())
			}
			if forks {
				if u := r.Get("uuid").Text(); u != "" {
					seen[u]++
				}
			}
			return forks || l.born.IsZero()
		})
		if err != nil {
			return nil, nil, err
		}
		logs = append(logs, l)
	}
	if !forks {
		return logs, agents, nil
	}
	// A fork begins with copied records: it is born with the first one of its own.
	for _, l := range logs {
		if resumed[l.ID] {
			continue
		}
		copied := false
		var own time.Time
		err := records(l.Path, func(r jsonl.Value) bool {
			u := r.Get("uuid").Text()
			copied = copied || seen[u] > 1
			if u != "" && seen[u] == 1 && own.IsZero() {
				own, _ = time.Parse(time.RFC3339, r.Get("timestamp").Text())
			}
			return true
		})
		if err != nil {
			return nil, nil, err
		}
		if copied && !own.IsZero() {
			l.born = own
		}
	}
	return logs, agents, nil
}

// escape makes a path safe for filepath.Glob.
func escape(p string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(p)
}

// maxRecord is the longest line that is read, in bytes; the longest one has
// 336 KB.
const maxRecord = 16 << 20

// records reads the lines of a file that are JSON until see says no. A line that
// is not JSON, or too long, is passed over: the logs are for others to judge.
func records(name string, see func(jsonl.Value) bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := readLine(r)
		if v, bad := jsonl.ParseValue(bytes.TrimSpace(line)); bad == nil && !see(v) {
			return nil
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line; nothing of one that is longer than maxRecord.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxRecord; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// branch is the git branch that the logs name first; "" if none does.
func (c *Case) branch() (string, error) {
	branch := ""
	for _, l := range c.logs {
		found := false
		err := records(l.Path, func(r jsonl.Value) bool {
			if b := r.Get("gitBranch"); b.Kind() == jsonl.ValueString {
				branch, found = b.Text(), true
			}
			return !found
		})
		if err != nil || found {
			return branch, err
		}
	}
	return "", nil
}
