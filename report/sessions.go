package report

import (
	"io"
	"sort"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// SessionsSchema names the form of a SessionsDocument.
const SessionsSchema = "skilltrace/sessions@1"

// SessionsDocument is the answer of the command sessions.
type SessionsDocument struct {
	Schema   string       `json:"schema"`
	Sessions []SessionRow `json:"sessions"`
	// Omitted is how many older sessions a limit left out.
	Omitted int `json:"omitted"`
	// Total sums the sessions shown up. A request that several logs hold counts once,
	// for the session that made it.
	Total SessionsTotal `json:"total"`
}

// SessionsTotal is a sum over sessions.
type SessionsTotal struct {
	Calls  int        `json:"calls"`
	Tokens TokenTotal `json:"tokens"`
	// CostMicroUSD is in millionths of a US dollar; nil where nothing has a price. It is
	// the exact sum, rounded once: the rounded rows may make a little more or less.
	CostMicroUSD *int64 `json:"cost_microusd,omitempty"`
	Cost         string `json:"cost,omitempty"`
	// CopiedCalls are those of the rows that stand in these logs, but count for another
	// session: they are in no other figure here.
	CopiedCalls int `json:"copied_calls"`
}

// SessionRow is one session. Numbers are sums over all its agents, but for the
// prompts, which are the user's.
type SessionRow struct {
	ID            string      `json:"id"`
	File          string      `json:"file"`
	Project       string      `json:"project,omitempty"` // working directory
	Client        string      `json:"client,omitempty"`
	Versions      []string    `json:"versions"`
	Models        []string    `json:"models"`
	Start         *time.Time  `json:"start,omitempty"`
	End           *time.Time  `json:"end,omitempty"`
	Prompts       int         `json:"prompts"`
	SlashCommands int         `json:"slash_commands"`
	Calls         int         `json:"calls"`
	CopiedCalls   int         `json:"copied_calls,omitempty"` // of Calls, those that count for another session
	Agents        int         `json:"agents"`
	Compactions   int         `json:"compactions"`
	Skills        []SkillUses `json:"skills"` // most used first
	Tokens        TokenTotal  `json:"tokens"`
	// CostMicroUSD is in millionths of a US dollar; nil where nothing has a price.
	CostMicroUSD *int64 `json:"cost_microusd,omitempty"`
	Cost         string `json:"cost,omitempty"`
	Lines        int    `json:"lines"`
	Defects      int    `json:"defects"`
	// InScope: the log lies in a configuration folder in scope, so that its id names it.
	InScope bool `json:"in_scope"`

	// TooOld: no version of its client has rules, so that it cannot be replayed.
	TooOld bool `json:"too_old,omitempty"`

	copied TokenTotal    // what CopiedCalls took
	own    budget.Amount // the price of all other calls
}

// SkillUses is how often a skill was invoked, by the model or the user.
type SkillUses struct {
	Skill string `json:"skill"`
	Uses  int    `json:"uses"`
}

// TokenTotal is a sum of recorded usage. Cache writes are not split by lifetime
// here: older logs do not tell it.
type TokenTotal struct {
	Input      int64 `json:"input"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	Output     int64 `json:"output"`
}

func (t *TokenTotal) add(u *jsonl.Usage) {
	t.Input += u.Input
	t.CacheRead += u.CacheRead
	t.CacheWrite += promptTokens(*u) - u.Input - u.CacheRead
	t.Output += u.Output
}

func (t TokenTotal) sum() int64 { return t.Input + t.CacheRead + t.CacheWrite + t.Output }

// NewSessionRow reads one session. The session is not kept.
func NewSessionRow(s *replay.Session) SessionRow {
	row := SessionRow{ID: s.ID, File: s.File, Project: s.CWD, Client: s.Client, Versions: list(s.Versions), Models: list(s.Models),
		Start: timeOf(s.Start), End: timeOf(s.End), Agents: len(s.Agents), Skills: []SkillUses{}, Lines: s.Lines, Defects: len(s.Defects)}
	if main := s.Main(); main != nil {
		row.Prompts, row.SlashCommands = main.Prompts, main.Slashes
	}
	uses := map[string]int{}
	for _, a := range s.Agents {
		row.Calls += len(a.Calls)
		for _, c := range a.Calls {
			if c.HasUsage {
				row.Tokens.add(&c.Usage)
			}
		}
		for i := range a.Events {
			if a.Events[i].Kind == replay.Compaction {
				row.Compactions++
			}
		}
		for _, k := range skillCalls(a) {
			if n := k.ByModel + k.ByUser; n > 0 {
				uses[k.Skill] += n
			}
		}
	}
	for name, n := range uses {
		row.Skills = append(row.Skills, SkillUses{name, n})
	}
	sort.Slice(row.Skills, func(i, j int) bool {
		a, b := row.Skills[i], row.Skills[j]
		if a.Uses != b.Uses {
			return a.Uses > b.Uses
		}
		return a.Skill < b.Skill
	})
	return row
}

// Charge takes the exact price of a session. Without it nothing has a price.
func (r *SessionRow) Charge(cost budget.Amount) {
	r.own = cost
	r.CostMicroUSD = new(cost.Micro())
	r.Cost = usd(r.CostMicroUSD)
}

// Copied takes out of what counts for the session a call that counts for another, and
// what it cost. The row still shows the log whole.
func (r *SessionRow) Copied(c *replay.APICall, cost budget.Amount) {
	r.CopiedCalls++
	r.own = r.own.Minus(cost)
	if c.HasUsage {
		r.copied.add(&c.Usage)
	}
}

func (t *SessionsTotal) add(r *SessionRow) {
	t.Calls += r.Calls - r.CopiedCalls
	t.CopiedCalls += r.CopiedCalls
	t.Tokens.Input += r.Tokens.Input - r.copied.Input
	t.Tokens.CacheRead += r.Tokens.CacheRead - r.copied.CacheRead
	t.Tokens.CacheWrite += r.Tokens.CacheWrite - r.copied.CacheWrite
	t.Tokens.Output += r.Tokens.Output - r.copied.Output
}

// NewSessions sorts rows by start, the oldest first and those without a time
// before all, and keeps the newest limit of them; 0 keeps all.
func NewSessions(rows []SessionRow, limit int) *SessionsDocument {
	doc := &SessionsDocument{Schema: SessionsSchema, Sessions: append([]SessionRow{}, rows...)}
	sort.SliceStable(doc.Sessions, func(i, j int) bool {
		a, b := &doc.Sessions[i], &doc.Sessions[j]
		return older(a.Start, a.File, b.Start, b.File)
	})
	if n := len(doc.Sessions); limit > 0 && n > limit {
		doc.Omitted = n - limit
		doc.Sessions = doc.Sessions[n-limit:]
	}
	var cost budget.Amount
	priced := false
	for i := range doc.Sessions {
		r := &doc.Sessions[i]
		doc.Total.add(r)
		cost = cost.Add(r.own)
		priced = priced || r.CostMicroUSD != nil
	}
	if priced {
		doc.Total.CostMicroUSD = new(cost.Micro())
		doc.Total.Cost = usd(doc.Total.CostMicroUSD)
	}
	return doc
}

// older reports whether session a stands before b: by their starts, those without a
// time before all, and by their logs.
func older(a *time.Time, fileA string, b *time.Time, fileB string) bool {
	switch {
	case a == nil || b == nil:
		if (a == nil) != (b == nil) {
			return a == nil
		}
	case !a.Equal(*b):
		return a.Before(*b)
	}
	return fileA < fileB
}

// versions names the last of several versions, and how many there are beside it.
func versions(list []string, style Style) string {
	n := len(list)
	if n < 2 || style.Verbose {
		return listAll(escapeAll(list), 0)
	}
	return Escape(list[n-1]) + " +" + count(n-1)
}

// costs are those of the sessions and of all, "" where nothing has a price. Each is
// rounded by itself, so that a session has one price whatever stands beside it: rows
// are logs, which need not add up to the sum, as that counts copied requests once.
func (d *SessionsDocument) costs() (rows []string, sum string) {
	for i := range d.Sessions {
		text := ""
		if n := d.Sessions[i].CostMicroUSD; n != nil {
			text = total(*n)
		}
		rows = append(rows, text)
	}
	if n := d.Total.CostMicroUSD; n != nil {
		sum = total(*n)
	}
	return rows, sum
}

// WriteTable writes a line per session, the newest last.
func (d *SessionsDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	if len(d.Sessions) == 0 {
		_, err := io.WriteString(w, "No sessions.\n")
		return err
	}
	g := grid{columns: []column{
		{title: "session", shrink: 2, least: 8}, {title: "start", drop: lateDrop}, {title: "project", shrink: 1, least: 10, tail: true}, {title: "version", shrink: 1, least: 9, drop: lateDrop},
		{title: "prompts", right: true, drop: 2}, {title: "calls", right: true, drop: lateDrop}, {title: "skills", shrink: 1, least: 12}, {title: "tokens", right: true},
		{title: "cost", right: true, drop: lateDrop}, {title: "lines", right: true, drop: 4}, {title: "defects", right: true, drop: 3, ink: inkIfNot0(yellow)},
	}}
	start := style.day
	if style.width() < 100 && !style.Verbose {
		start = style.date
	}
	defects := 0
	costs, sumOfCosts := d.costs()
	for i := range d.Sessions {
		s := &d.Sessions[i]
		defects += s.Defects
		var skills []string
		for _, k := range s.Skills {
			name := escapeAll([]string{k.Skill})[0]
			if k.Uses > 1 {
				name += " " + count(k.Uses) + "×"
			}
			skills = append(skills, name)
		}
		g.add(shortID(s.ID), start(s.Start), style.shortPath(s.Project), versions(s.Versions, style),
			count(s.Prompts), count(s.Calls), listAll(skills, style.limit(3)), count(s.Tokens.sum()), costs[i], count(s.Lines), some(int64(s.Defects)))
	}
	if err := g.write(&b, style); err != nil {
		return err
	}
	sum := plural(len(d.Sessions), "session") + ", " + plural(d.Total.Tokens.sum(), "token")
	if sumOfCosts != "" {
		sum += ", " + sumOfCosts
	}
	if defects > 0 {
		sum += ", " + plural(defects, "defect")
	}
	if d.Omitted > 0 {
		sum += ", " + count(d.Omitted) + " older not shown"
	}
	if n := d.Total.CopiedCalls; n > 0 {
		sum += "; " + plural(n, "call") + " copied from other logs left out of this sum"
	}
	b.WriteString("\n")
	style.line(&b, sum)
	writeNext(&b, style, []string{d.next(style)})
	_, err := io.WriteString(w, b.String())
	return err
}

// next replays the newest session that can be replayed; where none can, it shows what
// the log of the newest holds, which needs no rules.
func (d *SessionsDocument) next(style Style) string {
	for i := len(d.Sessions) - 1; i >= 0; i-- {
		if s := &d.Sessions[i]; !s.TooOld {
			return "skilltrace replay " + style.name(s.ID, s.File, s.InScope)
		}
	}
	last := &d.Sessions[len(d.Sessions)-1]
	return "skilltrace timeline " + style.name(last.ID, last.File, last.InScope)
}
