package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/replay/rules"
)

// part is one part of a document: the object of NDJSON and the cells of CSV.
type part struct {
	value any
	cells []any // string, Text, int, int64, bool, float64, *time.Time, *int64 or []string
}

// writeCSV writes a line of titles and one for each part. Numbers are written as they
// are, without separators; what is not known is empty.
func writeCSV(w io.Writer, doc partsDocument) error {
	titles, parts := doc.parts()
	out := csv.NewWriter(w)
	if err := out.Write(titles); err != nil {
		return err
	}
	row := make([]string, 0, len(titles))
	for p := range parts {
		row = row[:0]
		for _, c := range p.cells {
			row = append(row, csvCell(c))
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeNDJSON writes each part as JSON on a line.
func writeNDJSON(w io.Writer, doc partsDocument) error {
	_, parts := doc.parts()
	for p := range parts {
		if err := writeLineJSON(w, p.value); err != nil {
			return err
		}
	}
	return nil
}

// writeLineJSON writes a value as JSON on one line.
func writeLineJSON(w io.Writer, value any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(quietJSON(b.Bytes()))
	return err
}

func csvCell(value any) string {
	switch v := value.(type) {
	case string:
		return cell(v)
	case Text:
		return cell(string(v))
	case *Text:
		if v != nil {
			return cell(string(*v))
		}
	case []string:
		return cell(strings.Join(v, "; "))
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case *int64:
		if v != nil {
			return strconv.FormatInt(*v, 10)
		}
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case *time.Time:
		if v != nil {
			return v.Format(time.RFC3339Nano)
		}
	default:
		panic(fmt.Sprintf("no cell for %T", value))
	}
	return ""
}

// cell makes a text of a log safe in a spreadsheet, which takes some beginnings for a
// formula, as on a terminal.
func cell(text string) string {
	text = Escape(text)
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}

// known is a number of which 0 means that it is not known.
func known(n int) any {
	if n == 0 {
		return ""
	}
	return n
}

// partsOf makes parts of the elements of a list.
func partsOf[T any](list []T, of func(*T) part) iter.Seq[part] {
	return func(yield func(part) bool) {
		for i := range list {
			if !yield(of(&list[i])) {
				return
			}
		}
	}
}

func (d *SessionsDocument) parts() ([]string, iter.Seq[part]) {
	titles := []string{"id", "start", "end", "project", "client", "versions", "models", "prompts", "slash_commands", "calls", "copied_calls", "agents", "compactions", "skills",
		"input", "cache_read", "cache_write", "output", "cost_microusd", "lines", "defects", "file"}
	return titles, partsOf(d.Sessions, func(s *SessionRow) part {
		var uses []string
		for _, k := range s.Skills {
			uses = append(uses, k.Skill+" "+strconv.Itoa(k.Uses))
		}
		t := &s.Tokens
		return part{s, []any{s.ID, s.Start, s.End, s.Project, s.Client, s.Versions, s.Models, s.Prompts, s.SlashCommands, s.Calls, s.CopiedCalls, s.Agents, s.Compactions, uses,
			t.Input, t.CacheRead, t.CacheWrite, t.Output, s.CostMicroUSD, s.Lines, s.Defects, s.File}}
	})
}

// timelineLine is an event with what it stands in.
type timelineLine struct {
	Session string `json:"session"`
	Agent   string `json:"agent"`
	File    string `json:"file"`
	*TimelineEvent
}

var timelineTitles = []string{"session", "agent", "n", "time", "line", "kind", "effect", "layer", "prompt", "skill", "chars", "tokens", "context", "version", "model", "tool", "path", "skills", "abandoned", "file", "uuid"}

func (d *TimelineDocument) parts() ([]string, iter.Seq[part]) {
	return timelineTitles, func(yield func(part) bool) {
		for i := range d.Sessions {
			s := &d.Sessions[i]
			for j := range s.Agents {
				a := &s.Agents[j]
				for k := range a.Events {
					if !yield(a.Events[k].part(s, a)) {
						return
					}
				}
			}
		}
	}
}

func (e *TimelineEvent) part(s *TimelineSession, a *TimelineAgent) part {
	file := s.File
	if a.File != "" {
		file = a.File
	}
	return part{timelineLine{s.ID, a.Agent, file, e}, []any{s.ID, a.Agent, e.N, e.Time, known(e.Line), e.Kind, e.Effect, e.Layer, known(e.Prompt), e.Skill, e.Chars, known(int(e.Tokens)), known(int(e.Context)), e.Version, e.Model, e.Tool, e.Path,
		e.Skills, e.Abandoned, file, e.UUID}}
}

// checkLine is a check with what it stands in.
type checkLine struct {
	Session string `json:"session"`
	Client  string `json:"client,omitempty"`
	Agent   string `json:"agent"`
	File    string `json:"file"`
	*Check
}

// eachCheck passes the checks of all sessions.
func (d *ReplayDocument) eachCheck() iter.Seq[checkLine] {
	return func(yield func(checkLine) bool) {
		for i := range d.Sessions {
			s := &d.Sessions[i]
			for j := range s.Agents {
				a := &s.Agents[j]
				file := s.File
				if a.File != "" {
					file = a.File
				}
				for k := range a.Checks {
					if !yield(checkLine{s.ID, s.Client, a.Agent, file, &a.Checks[k]}) {
						return
					}
				}
			}
		}
	}
}

func (d *ReplayDocument) parts() ([]string, iter.Seq[part]) {
	titles := []string{"session", "client", "agent", "line", "kind", "verdict", "unconfirmed", "skill", "rule", "reason", "missing", "after", "diff", "file", "uuid"}
	return titles, func(yield func(part) bool) {
		for c := range d.eachCheck() {
			if !yield(part{c, []any{c.Session, c.Client, c.Agent, known(c.Line), c.Kind, c.Verdict, c.Unconfirmed, c.Skill, c.Rule, c.Reason, c.Missing, known(c.After), c.Diff, c.File, c.UUID}}) {
				return
			}
		}
	}
}

// whyLine is a gate with the question that it stands in.
type whyLine struct {
	Skill      string `json:"skill"`
	Session    string `json:"session"`
	Agent      string `json:"agent"`
	Prompt     int    `json:"prompt,omitempty"`
	Command    string `json:"command,omitempty"`
	PromptLine int    `json:"prompt_line,omitempty"`
	Shown      string `json:"shown"`
	Decides    bool   `json:"decides"` // the verdict of the question is that of this gate
	*WhyGate
}

// parts are the gates of the questions or, of all skills, these.
func (d *WhyDocument) parts() ([]string, iter.Seq[part]) {
	if d.Skill == "" {
		titles := []string{"skill", "sessions_listed", "sessions_described", "prompts", "by_model", "by_user", "refused", "rejected", "gate", "state", "reason", "session", "prompt", "line"}
		return titles, partsOf(d.Skills, func(k *WhySkill) part {
			return part{k, []any{k.Skill, k.Listed, k.Described, k.Prompts, k.ByModel, k.ByUser, k.Refused, k.Rejected, k.Gate, k.State, k.Reason, k.Session, known(k.Prompt), known(k.Line)}}
		})
	}
	titles := []string{"skill", "session", "agent", "prompt", "command", "prompt_line", "shown", "decides", "gate", "state", "reason", "missing", "file", "line", "uuid"}
	return titles, func(yield func(part) bool) {
		for i := range d.Questions {
			q := &d.Questions[i]
			for j := range q.Gates {
				g := &q.Gates[j]
				decides := g.Gate == q.Verdict.Gate
				line := whyLine{d.Skill, q.Session, q.Agent, q.Prompt, q.Command, q.Line, q.Shown, decides, g}
				if !yield(part{line, []any{d.Skill, q.Session, q.Agent, known(q.Prompt), q.Command, known(q.Line), q.Shown, decides, g.Gate, g.State, g.Reason, g.Missing, g.File, known(g.Line), g.UUID}}) {
					return
				}
			}
		}
	}
}

// parts are the rules or, where two versions are compared, those that differ.
func (d *RulesDocument) parts() ([]string, iter.Seq[part]) {
	if d.compared() {
		return []string{"key", "meaning", "old", "new", "changed"}, partsOf(d.Diff, func(r *rules.Difference) part {
			var changed []string
			for _, c := range r.Changes {
				changed = append(changed, c.Since)
			}
			return part{r, []any{r.Key, r.Meaning, rules.FormatValue(r.Old), rules.FormatValue(r.New), changed}}
		})
	}
	return []string{"key", "value", "meaning", "summary", "since", "from", "confidence", "evidence"}, partsOf(d.Rules, func(r *rules.Effective) part {
		return part{r, []any{r.Key, rules.FormatValue(r.Value), r.Meaning, r.Summary, r.Since, r.From, string(r.Confidence), r.Evidence}}
	})
}

// conformLine is the agreement of one recording in one kind.
type conformLine struct {
	Case   string `json:"case"`
	Client string `json:"client"`
	Kind   string `json:"kind"`
	ConformCounts
}

func (d *ConformDocument) parts() ([]string, iter.Seq[part]) {
	kinds := d.kinds()
	return []string{"case", "client", "kind", "match", "divergent", "undetermined"}, func(yield func(part) bool) {
		for i := range d.Cases {
			c := &d.Cases[i]
			for _, k := range kinds {
				n, ok := c.Checks[k]
				if ok && !yield(part{conformLine{c.Case, c.Client, k, n}, []any{c.Case, c.Client, k, n.Match, n.Divergent, n.Undetermined}}) {
					return
				}
			}
		}
	}
}

func (d *TestDocument) parts() ([]string, iter.Seq[part]) {
	titles := []string{"name", "scorer", "verdict", "baseline", "change", "reason", "review", "session", "agent", "prompt", "log_line", "line", "uuid"}
	return titles, partsOf(d.Cases, func(c *TestCase) part {
		return part{c, []any{c.Name, c.Scorer, c.Verdict, c.Baseline, c.Change, c.Reason, c.Review, c.Session, c.Agent, known(c.Prompt), known(c.LogLine), known(c.Line), c.UUID}}
	})
}

func (d *ListingDocument) parts() ([]string, iter.Seq[part]) {
	titles := []string{"name", "form", "cause", "size", "whole_size", "tokens", "cut_by_limit", "cut_by_budget", "rank", "uses", "own", "source", "file", "description"}
	return titles, partsOf(d.Entries, func(e *ListingEntry) part {
		return part{e, []any{e.Name, e.Form, e.Cause, e.Size, e.WholeSize, e.Tokens, e.CutByLimit, e.CutByBudget, e.Rank, e.Uses, e.Own, e.Source, e.File, e.Description}}
	})
}

// parts are a line for each request and layer. The amounts are exact, so that they may
// be summed.
func (d *CostDocument) parts() ([]string, iter.Seq[part]) {
	titles := []string{"time", "session", "agent", "on_behalf_of", "project", "model", "version", "message", "request", "file", "line", "layer", "part", "skill",
		"once", "carried", "input", "cache_write_5m", "cache_write_1h", "cache_read", "output", "usd", "basis", "final"}
	return titles, partsOf(d.Lines, func(l *CostLine) part {
		t := &l.Tokens
		return part{l, []any{l.Time, l.Session, l.Agent, l.OnBehalfOf, l.Project, l.Model, l.Version, l.Message, l.Request, l.File, known(l.Line), l.Layer, l.Part, l.Skill,
			l.Once, l.Carried, t.Input, t.CacheWrite5m, t.CacheWrite1h, t.CacheRead, t.Output, l.USD, l.Basis, l.Final}}
	})
}

// lacks: the lines are no part of the JSON.
func (d *CostDocument) lacks(format Format) string {
	if d.saved && slices.Contains([]Format{FormatCSV, FormatNDJSON}, format) {
		return "a saved answer holds no line for each request; skilltrace cost --format " + string(format) + " makes them of the logs"
	}
	return ""
}
