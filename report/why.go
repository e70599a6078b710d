package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/why"
)

// WhySchema names the form of a WhyDocument.
const WhySchema = "skilltrace/why@1"

// WhyDocument is the answer of the command why: to one skill, with Questions, or to all
// skills in scope, with Skills.
type WhyDocument struct {
	Schema string `json:"schema"`
	// Skill is the name by which the skill is listed, and Asked the one that was given
	// where it is another.
	Skill     string        `json:"skill,omitempty"`
	Asked     string        `json:"asked,omitempty"`
	Known     *bool         `json:"known,omitempty"`
	Near      []string      `json:"near,omitempty"`
	Questions []WhyQuestion `json:"questions"`
	Skills    []WhySkill    `json:"skills,omitempty"`
	Unknown   []WhyUnknown  `json:"unknown,omitempty"` // names that were called, with Skills
	Sessions  []WhySession  `json:"sessions"`
	Summary   WhySummary    `json:"summary"`
	// Focus is the question that tables show whole, an index into Questions, and Chosen
	// says by what it was chosen.
	Focus  *int   `json:"focus,omitempty"`
	Chosen string `json:"chosen,omitempty"`
	// Redacted: it may be shown to others, so that no command is proposed that names the
	// paths of this machine.
	Redacted bool `json:"redacted,omitempty"`
}

// WhySession is one session that was asked.
type WhySession struct {
	ID   string `json:"id"`
	File string `json:"file"`
	// InScope: the log lies in a configuration folder in scope, so that its id names it.
	InScope    bool       `json:"in_scope"`
	Client     string     `json:"client"`
	RulesExact bool       `json:"rules_exact"`
	Start      *time.Time `json:"start,omitempty"`
	// CWD is the folder in which the client was started.
	CWD         string     `json:"cwd,omitempty"`
	Inputs      []WhyInput `json:"inputs"`
	Assumptions []string   `json:"assumptions,omitempty"`
	WhySummary
	// Gate is the one that decided most, with its state and reason, and Line that of the
	// record which this rests on.
	Gate   string `json:"gate,omitempty"`
	State  string `json:"state,omitempty"`
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Chosen says for which prompts the skill was called; absent where none was asked.
	Chosen *WhyChosen `json:"chosen,omitempty"`
	// Agents are those beside the main loop that had the skill's text.
	Agents  []WhyAgent `json:"agents,omitempty"`
	private []string
}

// WhyChosen says for how many prompts of a session a skill was called.
type WhyChosen struct {
	Prompts int    `json:"prompts"`
	Of      int    `json:"of"`
	Agent   string `json:"agent,omitempty"` // of the first, with its place
	Prompt  int    `json:"prompt,omitempty"`
	Command string `json:"command,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// WhyAgent is the first use of the skill by an agent: a call, or a text that stood there
// from the start.
type WhyAgent struct {
	Agent  string `json:"agent"`
	File   string `json:"file,omitempty"` // where it is not the session's main log
	Line   int    `json:"line,omitempty"`
	Called bool   `json:"called"`
}

// WhyInput says where an input came from.
type WhyInput struct {
	Name   string `json:"name"`
	Source string `json:"source,omitempty"`
	Found  bool   `json:"found"`
	Note   string `json:"note,omitempty"`
}

// WhySummary counts sessions, prompts and calls.
type WhySummary struct {
	SessionCount int          `json:"sessions_asked"`
	Known        int          `json:"sessions_known"`
	Listed       int          `json:"sessions_listed"`
	Described    int          `json:"sessions_described"`
	Prompts      int          `json:"prompts"`
	ByModel      int          `json:"by_model"`
	ByUser       int          `json:"by_user"`
	Refused      int          `json:"refused"`
	Rejected     int          `json:"rejected"`
	Verdicts     []WhyVerdict `json:"verdicts"`
	First        *time.Time   `json:"first,omitempty"`
	Last         *time.Time   `json:"last,omitempty"`
	Days         int          `json:"days,omitempty"` // with a session, of those between first and last
}

// WhyVerdict counts how often a gate decided.
type WhyVerdict struct {
	Gate     string `json:"gate"`
	State    string `json:"state"`
	Prompts  int    `json:"prompts"`
	Sessions int    `json:"sessions"`
}

// WhyQuestion is the skill and one prompt.
type WhyQuestion struct {
	Session   string      `json:"session"`
	Agent     string      `json:"agent"`
	Prompt    int         `json:"prompt,omitempty"`
	Command   string      `json:"command,omitempty"`
	File      string      `json:"file,omitempty"` // where it is not the session's main log
	Line      int         `json:"line,omitempty"`
	UUID      string      `json:"uuid,omitempty"`
	Text      *Text       `json:"text,omitempty"`
	Chars     int         `json:"chars,omitempty"` // UTF-16 code units of the prompt
	Abandoned bool        `json:"abandoned,omitempty"`
	Version   string      `json:"version,omitempty"` // of the client that it was typed to
	Shown     string      `json:"shown"`
	Predicted bool        `json:"predicted,omitempty"`
	Verdict   WhyDecision `json:"verdict"`
	Gates     []WhyGate   `json:"gates"`
	Words     WhyWords    `json:"words"`
	Advice    []string    `json:"advice,omitempty"`
}

// WhyDecision is the verdict of a question.
type WhyDecision struct {
	Gate   string `json:"gate"`
	State  string `json:"state"`
	Reason string `json:"reason"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	UUID   string `json:"uuid,omitempty"`
}

// WhyGate is one gate with its evidence.
type WhyGate struct {
	Gate    string   `json:"gate"`
	State   string   `json:"state"`
	Reason  string   `json:"reason,omitempty"`
	Missing string   `json:"missing,omitempty"`
	File    string   `json:"file,omitempty"` // where it is not the session's main log
	Line    int      `json:"line,omitempty"`
	UUID    string   `json:"uuid,omitempty"`
	Text    *Text    `json:"text,omitempty"` // what stands there
	Notes   []string `json:"notes,omitempty"`
	Advice  []string `json:"advice,omitempty"`
	private []string
}

// WhyWords are the facts about what a prompt said.
type WhyWords struct {
	Shared        []string `json:"shared,omitempty"`
	SharedCount   int      `json:"shared_count"`
	Lacking       []string `json:"lacking,omitempty"`
	LackingCount  int      `json:"lacking_count,omitempty"`
	Rank          int      `json:"rank,omitempty"`
	Tied          int      `json:"tied,omitempty"`
	Listed        int      `json:"listed"`
	Language      string   `json:"language,omitempty"`
	SkillLanguage string   `json:"skill_language,omitempty"`
	Foreign       bool     `json:"foreign"` // the two are different languages
	Named         bool     `json:"named"`
	Typed         bool     `json:"typed"`
	Mode          string   `json:"mode,omitempty"`
}

// WhySkill is one skill of all.
type WhySkill struct {
	Skill string `json:"skill"`
	WhySummary
	Gate    string `json:"gate,omitempty"`
	State   string `json:"state,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Session string `json:"session,omitempty"`
	Prompt  int    `json:"prompt,omitempty"`
	Line    int    `json:"line,omitempty"`
	rank    [3]int
	private []string
}

// WhyUnknown is a name by which a skill was called that nobody knows.
type WhyUnknown struct {
	Name    string   `json:"name"`
	Refused int      `json:"refused"`
	Near    []string `json:"near,omitempty"`
}

// unknown says which unknown names were called, as lines.
func (d *WhyDocument) unknown(name func(string) string) []string {
	const most = 10
	var out []string
	for _, u := range d.Unknown[:min(len(d.Unknown), most)] {
		text := fmt.Sprintf("%s was called %s and refused: no log and no skill file names it", name(u.Name), times(u.Refused))
		if len(u.Near) > 0 {
			near := make([]string, len(u.Near))
			for i, n := range u.Near {
				near[i] = name(n)
			}
			text += "; did you mean " + strings.Join(near, " or ") + "?"
		} else {
			text += "."
		}
		out = append(out, text)
	}
	if n := len(d.Unknown) - most; n > 0 {
		out = append(out, fmt.Sprintf("And calls of %s.", plural(n, "more unknown name")))
	}
	return out
}

// NewWhySession makes the block of a session. Worst is the first question with the
// verdict that tells most, nil where there is none.
func NewWhySession(r *replay.Result, inScope bool, t why.Tally, worst *why.Question) WhySession {
	out := WhySession{ID: r.Session.ID, File: r.Session.File, Client: r.Client, RulesExact: r.RulesExact, Start: timeOf(r.Session.Start), CWD: r.Session.CWD,
		Inputs: []WhyInput{}, Assumptions: r.Assumptions, WhySummary: newWhySummary(t), InScope: inScope}
	for _, in := range r.Inputs {
		out.Inputs = append(out.Inputs, WhyInput{in.Name, in.Source, in.Found, in.Note})
	}
	if worst != nil {
		v := &worst.Verdict
		out.Gate, out.State, out.Line, out.Reason = string(v.Gate), string(v.State), v.Where.Line, worst.Step(v.Gate).Reason
		out.private = worst.Step(v.Gate).Private
	}
	return out
}

// Choose tells for which prompts of the session the skill was called.
func (s *WhySession) Choose(c why.Chosen) {
	s.Chosen = &WhyChosen{Prompts: c.Prompts, Of: c.All}
	if q := c.First; q != nil {
		s.Chosen.Agent, s.Chosen.Prompt, s.Chosen.Command, s.Chosen.Line = q.Agent, q.Prompt, q.Command, q.Where.Line
	}
	for _, a := range c.Agents {
		s.Agents = append(s.Agents, WhyAgent{a.Agent, otherFile(a.Where.File, s.File), a.Where.Line, a.Called})
	}
}

func newWhySummary(t why.Tally) WhySummary {
	out := WhySummary{SessionCount: t.Sessions, Known: t.Known, Listed: t.Listed, Described: t.Described, Prompts: t.Prompts, ByModel: t.ByModel, ByUser: t.ByUser,
		Refused: t.Refused, Rejected: t.Rejected, Verdicts: []WhyVerdict{}, First: timeOf(t.First), Last: timeOf(t.Last)}
	for _, v := range t.Verdicts {
		out.Verdicts = append(out.Verdicts, WhyVerdict{string(v.Gate), string(v.State), v.Prompts, v.Sessions})
	}
	return out
}

// NewWhyQuestion makes the block of a question of a session whose main log is main.
func NewWhyQuestion(session, main string, q *why.Question) WhyQuestion {
	out := WhyQuestion{Session: session, Agent: q.Agent, Prompt: q.Prompt, Command: q.Command, File: otherFile(q.Where.File, main), Line: q.Where.Line, UUID: q.Where.UUID,
		Abandoned: q.Abandoned, Version: q.Version, Shown: string(q.Shown), Predicted: q.Predicted, Gates: []WhyGate{}, Advice: q.Advice()}
	if q.Text != "" {
		out.Text, out.Chars = new(Text(q.Text)), budget.Len16(q.Text)
	}
	v := &q.Verdict
	out.Verdict = WhyDecision{string(v.Gate), string(v.State), v.Reason, otherFile(v.Where.File, main), v.Where.Line, v.Where.UUID}
	for i := range q.Steps {
		s := &q.Steps[i]
		g := WhyGate{Gate: string(s.Gate), State: string(s.State), Reason: s.Reason, Missing: s.Missing, File: otherFile(s.Where.File, main), Line: s.Where.Line, UUID: s.Where.UUID, Notes: s.Notes, Advice: s.Advice, private: s.Private}
		if s.Text != "" {
			g.Text = new(Text(s.Text))
		}
		out.Gates = append(out.Gates, g)
	}
	w := &q.Words
	out.Words = WhyWords{Shared: w.Shared, SharedCount: len(w.Shared), Lacking: w.Lacking, LackingCount: len(w.Lacking), Rank: w.Rank, Tied: w.Tied, Listed: w.Listed, Language: w.Language, SkillLanguage: w.SkillLanguage, Foreign: w.Foreign, Named: w.Named, Typed: w.Typed, Mode: w.Mode}
	return out
}

// NewWhy makes the document of one skill. Sessions stand with the oldest first, and
// their questions likewise.
func NewWhy(sub why.Subject, sessions []WhySession, questions []WhyQuestion, total why.Tally, days int) *WhyDocument {
	doc := &WhyDocument{Schema: WhySchema, Skill: sub.Name, Known: new(sub.Known), Near: sub.Near, Questions: questions, Sessions: sessions, Summary: newWhySummary(total)}
	if sub.Asked != sub.Name {
		doc.Asked = sub.Asked
	}
	doc.Summary.Days = days
	if doc.Questions == nil {
		doc.Questions = []WhyQuestion{}
	}
	doc.elsewhere()
	doc.focus()
	return doc
}

// elsewhere says of prompts for which the skill was not chosen how often it was chosen
// for others, and proposes to compare.
func (d *WhyDocument) elsewhere() {
	byID := map[string]*WhySession{}
	used, calls := 0, 0 // sessions that used it, and how often
	var first, second *WhySession
	for i := range d.Sessions {
		s := &d.Sessions[i]
		byID[s.ID] = s
		if n := s.ByModel + s.ByUser; n > 0 {
			used, calls = used+1, calls+n
			switch {
			case first == nil:
				first = s
			case second == nil:
				second = s
			}
		}
	}
	for i := range d.Questions {
		q := &d.Questions[i]
		g := q.gate(why.Called)
		s := byID[q.Session]
		if s == nil || s.Chosen == nil || !q.notChosen() {
			continue
		}
		var advice []string
		c := s.Chosen
		if c.Prompts > 0 {
			at := (&WhyQuestion{Agent: c.Agent, Prompt: c.Prompt, Command: c.Command, Line: c.Line}).name()
			advice = append(advice, "compare with "+at+", for which it was called")
		}
		if others := len(d.Sessions) - 1; others > 0 {
			n, m := used, calls
			other := first
			if own := s.ByModel + s.ByUser; own > 0 {
				n, m = n-1, m-own
				if first == s {
					other = second
				}
			}
			text := fmt.Sprintf("called in none of the other %s", plural(others, "session"))
			if others == 1 {
				text = "not called in the other session"
			}
			if n > 0 && other != nil {
				text = fmt.Sprintf("called in %s of the other %s, %s", count(n), plural(others, "session"), times(m))
				advice = append(advice, fmt.Sprintf("compare with session %s, in which it was called %s", shortID(other.ID), times(other.ByModel+other.ByUser)))
			}
			g.Notes = append(slices.Clone(g.Notes), text)
		}
		g.Advice = slices.Concat(advice, g.Advice)
		q.Advice = slices.Concat(advice, q.Advice)
	}
}

// gate is a gate of the question, nil if it is not there.
func (q *WhyQuestion) gate(g why.Gate) *WhyGate {
	for i := range q.Gates {
		if q.Gates[i].Gate == string(g) {
			return &q.Gates[i]
		}
	}
	return nil
}

// notChosen reports whether the skill was visible, and nobody tried to use it.
func (q *WhyQuestion) notChosen() bool {
	g := q.gate(why.Called)
	return g != nil && q.Verdict.Gate == string(why.Called) && q.Verdict.State == string(why.Failed) && g.Reason == why.NotCalled
}

// NewWhyAll makes the document of all skills, the worst first.
func NewWhyAll(skills []why.Counted, unknown []why.Unknown, sessions []WhySession, total why.Tally, days int) *WhyDocument {
	doc := &WhyDocument{Schema: WhySchema, Questions: []WhyQuestion{}, Sessions: sessions, Summary: newWhySummary(total)}
	doc.Summary.Days = days
	for i := range skills {
		line := newWhySkill(&skills[i])
		line.Days = days
		doc.Skills = append(doc.Skills, line)
	}
	for _, u := range unknown {
		doc.Unknown = append(doc.Unknown, WhyUnknown{u.Name, u.Refused, u.Near})
	}
	slices.SortStableFunc(doc.Skills, func(a, b WhySkill) int {
		return cmp.Or(slices.Compare(a.rank[:], b.rank[:]), strings.Compare(a.Skill, b.Skill))
	})
	return doc
}

// newWhySkill makes the line of one skill of all.
func newWhySkill(k *why.Counted) WhySkill {
	out := WhySkill{Skill: k.Name, WhySummary: newWhySummary(k.Tally), rank: k.Tally.Rank()}
	if e := k.Example; e != nil {
		out.Gate, out.State, out.Reason, out.private = string(e.Gate), string(e.State), e.Reason, e.Private
		out.Session, out.Prompt, out.Line = e.Session, e.Prompt, e.Line
	}
	return out
}

// focus chooses the question that is shown whole: the first for which the skill was
// called or in force, else the one whose words are nearest to it, else the last.
func (d *WhyDocument) focus() {
	best := -1
	better := func(i int) bool {
		a, b := &d.Questions[i], &d.Questions[best]
		if x, y := a.weight(), b.weight(); x != y {
			return x > y
		}
		if a.called() {
			return false // the first
		}
		if a.Words.Rank != b.Words.Rank {
			return b.Words.Rank == 0 || a.Words.Rank != 0 && a.Words.Rank < b.Words.Rank
		}
		return a.Words.SharedCount >= b.Words.SharedCount
	}
	for i := range d.Questions {
		if best < 0 || better(i) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	d.Focus = new(best)
	q := &d.Questions[best]
	switch {
	case len(d.Questions) == 1:
	case q.called():
		d.Chosen = "the first for which it was called"
	case q.Words.Typed || q.Words.Named:
		d.Chosen = "the last that names it"
	case q.Words.Rank > 0:
		d.Chosen = "the nearest to it by words"
	default:
		d.Chosen = "the last"
	}
}

// weight orders questions: those of the main loop before others, then those for which
// the skill was called, of the rest those that name it, and those that no rewind left.
func (q *WhyQuestion) weight() int {
	w := 0
	for i, is := range []bool{!q.Abandoned, q.Words.Named && !q.called(), q.called(), q.Agent == "main"} {
		if is {
			w += 1 << i
		}
	}
	return w
}

// called reports whether anybody tried to use the skill.
func (q *WhyQuestion) called() bool {
	for i := range q.Gates {
		if g := &q.Gates[i]; g.Gate == string(why.Called) {
			return g.State == string(why.Passed) || g.State != string(why.Info) && g.Line > 0 &&
				!strings.HasPrefix(g.Reason, why.NoAnswer) && !strings.HasPrefix(g.Reason, why.Interrupted) && !strings.HasPrefix(g.Reason, why.NotSoFar)
		}
	}
	return false
}
