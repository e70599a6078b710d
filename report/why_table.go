package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/skilltrace/skilltrace/replay/why"
)

// WriteTable writes the verdict in a sentence, the chain, its evidence and what to do;
// for several sessions a summary first.
func (d *WhyDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	if err := d.shortNames().write(&b, style); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d *WhyDocument) write(b *strings.Builder, style Style) error {
	if d.Skill == "" {
		return d.writeAll(b, style)
	}
	if len(d.Sessions) > 1 {
		if err := d.writeSummary(b, style); err != nil {
			return err
		}
	}
	q := d.focused()
	if q == nil {
		if len(d.Sessions) == 1 {
			style.line(b, "No prompt was asked in session "+shortID(d.Sessions[0].ID)+".")
		}
		return nil
	}
	if len(d.Sessions) > 1 {
		b.WriteString("\n")
	}
	if err := d.writeQuestion(b, style, q); err != nil {
		return err
	}
	return d.writeOthers(b, style, q)
}

func (d *WhyDocument) focused() *WhyQuestion {
	if d.Focus == nil || *d.Focus < 0 || *d.Focus >= len(d.Questions) {
		return nil
	}
	return &d.Questions[*d.Focus]
}

// session is the block of a question's session.
func (d *WhyDocument) session(id string) *WhySession {
	for i := range d.Sessions {
		if d.Sessions[i].ID == id {
			return &d.Sessions[i]
		}
	}
	return nil
}

func (d *WhyDocument) writeQuestion(b *strings.Builder, style Style, q *WhyQuestion) error {
	head := []string{style.paint(bold, "session "+shortID(q.Session))}
	if s := d.session(q.Session); s != nil {
		client := Escape(q.client(s))
		if !s.RulesExact {
			client += " (nearest rules)"
		}
		head = append(head, client)
		if t := style.day(s.Start); t != "" {
			head = append(head, t)
		}
	}
	head = append(head, q.name())
	if d.Chosen != "" {
		head = append(head, d.Chosen+" of "+count(len(d.Questions)))
	}
	style.line(b, together(head, style.width()))
	if d.Asked != "" {
		style.line(b, Escape(d.Asked)+" is listed as "+Escape(d.Skill)+".")
	}
	ink := red
	switch q.Verdict.State {
	case string(why.Passed):
		ink = green
	case string(why.Undetermined):
		ink = yellow
	}
	for _, line := range wrap(Escape(q.Verdict.Reason), style.width()) {
		b.WriteString(style.paint(ink, line) + "\n")
	}
	if text := d.byAgents(q); text != "" {
		style.line(b, text)
	}
	b.WriteString("\n")
	q.writeChain(b, style)
	q.writeEvidence(b, style)
	q.writeAdvice(b, style)
	return nil
}

// client is the client with its version, that of the prompt where the session has
// several.
func (q *WhyQuestion) client(s *WhySession) string {
	name, version, ok := strings.Cut(s.Client, "@")
	switch {
	case !ok:
		return name
	case q.Version != "" && q.Version != version:
		return name + " " + q.Version + " at this prompt"
	}
	return name + " " + version
}

// byAgents says that agents used a skill which the main loop did not.
func (d *WhyDocument) byAgents(q *WhyQuestion) string {
	s := d.session(q.Session)
	if s == nil || len(s.Agents) == 0 || q.Agent != "main" || q.called() {
		return ""
	}
	a := &s.Agents[0]
	for i := range s.Agents {
		if s.Agents[i].Called {
			a = &s.Agents[i]
			break
		}
	}
	text := fmt.Sprintf("Not by the main loop, but agent %s called it at line %d of its log", shortID(a.Agent), a.Line)
	if !a.Called {
		text = fmt.Sprintf("Not by the main loop, but its text stood before agent %s from the start (line %d of its log)", shortID(a.Agent), a.Line)
	}
	if n := len(s.Agents) - 1; n > 0 {
		text += fmt.Sprintf(", and %s had it too", plural(n, "other agent"))
	}
	return text + "."
}

// name is a question in short words.
func (q *WhyQuestion) name() string {
	text := "the start"
	switch {
	case q.Prompt > 0:
		text = fmt.Sprintf("prompt %d", q.Prompt)
	case q.Command != "":
		text = "/" + Escape(q.Command)
	}
	if q.Agent != "main" {
		text += " of agent " + shortID(q.Agent)
	}
	if q.Line > 0 {
		text += fmt.Sprintf(" (line %d)", q.Line)
	}
	if q.Abandoned {
		text += ", left by a rewind"
	}
	return text
}

// stateWords are the states as tables show them.
var stateWords = map[string]string{string(why.Passed): "yes", string(why.Failed): "NO", string(why.Undetermined): "?", string(why.NotReached): "-", string(why.Info): ""}

// gateWidth is the width of the two columns before the reasons.
const (
	gateWidth  = 2 + 11
	stateWidth = 5
)

func (q *WhyQuestion) writeChain(b *strings.Builder, style Style) {
	for i := range q.Gates {
		g := &q.Gates[i]
		reason := Escape(g.Reason)
		if g.Gate == string(why.Asked) {
			reason = q.askedWords(style)
		}
		if g.Gate == string(why.Exists) && g.Line == 0 && g.File != "" {
			reason = style.shortPath(g.Reason)
		}
		if g.Missing != "" {
			reason += " (missing: " + Escape(g.Missing) + ")"
		}
		if g.Line > 0 && g.File == "" && !strings.Contains(g.Reason, "line ") && g.Gate != string(why.Asked) && g.State != string(why.NotReached) {
			reason = strings.TrimPrefix(reason+fmt.Sprintf(", line %d", g.Line), ", ")
		}
		state := stateWords[g.State]
		ink := ink("")
		switch g.State {
		case string(why.Passed):
			ink = green
		case string(why.Failed):
			ink = red
		case string(why.Undetermined):
			ink = yellow
		}
		left := "  " + style.paint(bold, strings.ReplaceAll(g.Gate, "_", " ")) + strings.Repeat(" ", gateWidth-2-len(g.Gate)) +
			style.paint(ink, state) + strings.Repeat(" ", stateWidth-len(state))
		lines := wrap(reason, style.width()-gateWidth-stateWidth)
		if len(lines) == 0 {
			lines = []string{""}
		}
		for _, n := range g.Notes {
			lines = append(lines, wrap(Escape(n), style.width()-gateWidth-stateWidth)...)
		}
		for j, line := range lines {
			if j > 0 {
				left = strings.Repeat(" ", gateWidth+stateWidth)
			}
			b.WriteString(strings.TrimRight(left+line, " ") + "\n")
		}
	}
}

// askedWords are the facts about the prompt.
func (q *WhyQuestion) askedWords(style Style) string {
	var parts []string
	w := &q.Words
	if q.Text != nil {
		const most = 60
		text := Escape(string(*q.Text))
		parts = append(parts, "“"+style.shorten(text, most)+"”")
	} else if q.Chars > 0 {
		parts = append(parts, "a text of "+plural(q.Chars, "character"))
	}
	switch {
	case w.Typed:
		parts = append(parts, "types its name")
	case w.Named:
		parts = append(parts, "names it")
	}
	switch {
	case len(w.Shared) > 0:
		parts = append(parts, "shares "+listAll(escapeAll(w.Shared), style.limit(6)))
	case w.SharedCount > 0:
		parts = append(parts, "shares "+plural(w.SharedCount, "word"))
	case q.Chars > 0 && w.Listed > 0:
		parts = append(parts, "shares no word that tells skills apart")
	}
	if w.Rank > 0 {
		place := fmt.Sprintf("%s of %s listed by words", why.Ordinal(w.Rank), count(w.Listed))
		if w.Tied > 0 {
			place += ", tied with " + plural(w.Tied, "other")
		}
		parts = append(parts, place)
	}
	switch {
	case len(w.Lacking) > 0:
		parts = append(parts, "lacks "+listAll(escapeAll(w.Lacking), style.limit(6)))
	case w.LackingCount > 0:
		parts = append(parts, "lacks "+plural(w.LackingCount, "word")+" of it")
	}
	if w.Foreign {
		parts = append(parts, "asked in "+w.Language+", described in "+w.SkillLanguage)
	}
	if w.Mode != "" && w.Mode != "default" {
		parts = append(parts, "permission mode "+Escape(w.Mode))
	}
	return strings.Join(parts, "; ")
}

// writeEvidence writes the records that the gates rest on, each once.
func (q *WhyQuestion) writeEvidence(b *strings.Builder, style Style) {
	g := grid{indent: 2, columns: []column{
		{title: "line", tail: true, shrink: 1, least: 8}, {title: "uuid", drop: 1}, {title: "gates"}, {title: "text", shrink: 2, least: 20},
	}}
	type key struct {
		file string
		line int
		text string
	}
	rows := map[key]int{}
	for i := range q.Gates {
		x := &q.Gates[i]
		if x.Line == 0 || x.State == string(why.NotReached) || x.Gate == string(why.Asked) {
			continue
		}
		text := ""
		if x.Text != nil {
			text = string(*x.Text)
		}
		k := key{x.File, x.Line, text}
		if row, ok := rows[k]; ok {
			g.rows[row][2] += ", " + strings.ReplaceAll(x.Gate, "_", " ")
			continue
		}
		if text == "" {
			continue // nothing to show: the line is in the chain
		}
		at := count(x.Line)
		if x.File != "" {
			at = style.shortPath(x.File) + ":" + fmt.Sprint(x.Line)
		}
		rows[k] = len(g.rows)
		g.add(at, shortID(x.UUID), strings.ReplaceAll(x.Gate, "_", " "), Escape(text))
	}
	if len(g.rows) == 0 {
		return
	}
	b.WriteString("\n")
	if err := g.write(b, style); err != nil {
		panic(err) // a Builder does not fail
	}
}

func (q *WhyQuestion) writeAdvice(b *strings.Builder, style Style) {
	if len(q.Advice) == 0 {
		return
	}
	b.WriteString("\n")
	head := "Do this: "
	if len(q.Advice) > 1 {
		head = "Do one of these: "
	}
	style.line(b, head+together(escapeAll(q.Advice), style.width()))
}

// others groups all prompts of one session by what was said of them: of each group the
// name, the line, the gate, its state and the reason.
func (d *WhyDocument) others() [][]string {
	if len(d.Questions) < 2 || len(d.Sessions) > 1 {
		return nil
	}
	type run struct{ first, last int }
	var runs []run
	for i := range d.Questions {
		q := &d.Questions[i]
		if n := len(runs); n > 0 {
			p := &d.Questions[runs[n-1].last]
			if p.Prompt > 0 && q.Prompt == p.Prompt+1 && p.Agent == q.Agent && p.Abandoned == q.Abandoned && p.Verdict.Gate == q.Verdict.Gate && p.Verdict.State == q.Verdict.State && gateReason(p) == gateReason(q) {
				runs[n-1].last = i
				continue
			}
		}
		runs = append(runs, run{i, i})
	}
	var out [][]string
	for _, r := range runs {
		a, z := &d.Questions[r.first], &d.Questions[r.last]
		name := strings.TrimSuffix(a.name(), fmt.Sprintf(" (line %d)", a.Line))
		name = strings.TrimPrefix(name, "prompt ")
		if r.last > r.first {
			name = fmt.Sprintf("%d–%d", a.Prompt, z.Prompt)
			if a.Agent != "main" {
				name += " of agent " + shortID(a.Agent)
			}
		}
		out = append(out, []string{name, fmt.Sprint(a.Line), a.Verdict.Gate, a.Verdict.State, gateReason(a)})
	}
	return out
}

// writeOthers writes the other prompts.
func (d *WhyDocument) writeOthers(b *strings.Builder, style Style, shown *WhyQuestion) error {
	runs := d.others()
	if len(runs) == 0 {
		return nil
	}
	b.WriteString("\n")
	g := grid{columns: []column{{title: "prompts"}, {title: "line", right: true}, {title: "gate"}, {title: "", ink: whyInk}, {title: "why", shrink: 1, least: 24}}}
	limit := style.limit(20)
	for n, r := range runs {
		if limit > 0 && n == limit {
			break
		}
		g.add(r[0], r[1], strings.ReplaceAll(r[2], "_", " "), stateWords[r[3]], Escape(r[4]))
	}
	if err := g.write(b, style); err != nil {
		return err
	}
	if limit > 0 && len(runs) > limit {
		style.line(b, fmt.Sprintf("and %s more; --verbose shows them", count(len(runs)-limit)))
	}
	for i := range d.Questions {
		q := &d.Questions[i]
		if d.Redacted || q == shown || q.Prompt == 0 || q.Agent != "main" {
			continue
		}
		sessions := style.Again
		if s := d.session(shown.Session); s != nil {
			sessions = style.name(s.ID, s.File, s.InScope)
		}
		writeNext(b, style, []string{with("skilltrace why "+ShellWord(d.Skill), sessions, style.Given, fmt.Sprintf("--prompt %d", q.Prompt))})
		break
	}
	return nil
}

func whyInk(cell string) ink {
	switch cell {
	case "yes":
		return green
	case "NO":
		return red
	case "?":
		return yellow
	}
	return ""
}

// gateReason is the reason of the gate that decides.
func gateReason(q *WhyQuestion) string {
	for i := range q.Gates {
		if q.Gates[i].Gate == q.Verdict.Gate {
			return q.Gates[i].Reason
		}
	}
	return ""
}

// covered says how much the logs cover.
func (d *WhyDocument) covered(style Style) string {
	s := &d.Summary
	text := plural(s.SessionCount, "session")
	if s.First != nil && s.Last != nil {
		text += fmt.Sprintf(" on %s, %s to %s", plural(s.Days, "day"), style.date(s.First), style.date(s.Last))
	}
	return text
}

// absence is said where a skill was not seen: logs do not last.
const absence = "Absence is weak evidence: clients delete old logs after some weeks."

func (d *WhyDocument) writeSummary(b *strings.Builder, style Style) error {
	s := &d.Summary
	style.line(b, together([]string{style.paint(bold, Escape(d.Skill)), d.covered(style), plural(s.Prompts, "prompt")}, style.width()))
	if d.Known != nil && !*d.Known {
		text := "No log and no skill file names " + Escape(d.Skill)
		if len(d.Near) > 0 {
			text += "; did you mean " + strings.Join(escapeAll(d.Near), " or ") + "?"
		} else {
			text += "."
		}
		style.line(b, text)
		style.line(b, absence)
		return nil
	}
	style.line(b, s.words())
	style.line(b, absence)
	b.WriteString("\n")
	g := grid{columns: []column{{title: "what decided"}, {title: "", ink: whyInk}, {title: "prompts", right: true}, {title: "sessions", right: true}}}
	for _, v := range s.Verdicts {
		g.add(strings.ReplaceAll(v.Gate, "_", " "), stateWords[v.State], count(v.Prompts), count(v.Sessions))
	}
	if err := g.write(b, style); err != nil {
		return err
	}
	b.WriteString("\n")
	t := grid{columns: []column{{title: "session", shrink: 1, least: 8}, {title: "date"}, {title: "project", shrink: 2, least: 18, tail: true}, {title: "prompts", right: true, drop: 4}, {title: "model", right: true}, {title: "user", right: true},
		{title: "line", right: true, drop: 3}, {title: "gate"}, {title: "", ink: whyInk}, {title: "what decided most", shrink: 3, least: 14, drop: 5}}}
	projects := d.projects(style)
	limit := style.limit(20)
	from := 0
	if limit > 0 && len(d.Sessions) > limit {
		from = len(d.Sessions) - limit
	}
	for i := from; i < len(d.Sessions); i++ {
		x := &d.Sessions[i]
		line := ""
		if x.Line > 0 {
			line = fmt.Sprint(x.Line)
		}
		t.add(shortID(x.ID), style.date(x.Start), projects[x.CWD], count(x.Prompts), some(int64(x.ByModel)), some(int64(x.ByUser)), line, strings.ReplaceAll(x.Gate, "_", " "), stateWords[x.State], Escape(x.Reason))
	}
	if err := t.write(b, style); err != nil {
		return err
	}
	if from > 0 {
		style.line(b, fmt.Sprintf("and %s before them; --verbose shows them", plural(from, "session")))
	}
	return nil
}

// words are the counts of a skill over sessions.
func (s *WhySummary) words() string {
	text := fmt.Sprintf("listed in %s of %s, with its description in %s; called %s by the model, %s by the user", count(s.Listed), plural(s.SessionCount, "session"), count(s.Described), times0(s.ByModel), times0(s.ByUser))
	if s.Refused+s.Rejected > 0 {
		text += fmt.Sprintf("; %s refused, %s rejected", count(s.Refused), count(s.Rejected))
	}
	return text
}

// projects are short names of the folders of sessions: the last part of each, and as
// many before it as tell it from all others.
func (d *WhyDocument) projects(style Style) map[string]string {
	parts := map[string][]string{}
	for i := range d.Sessions {
		if cwd := d.Sessions[i].CWD; cwd != "" {
			parts[cwd] = strings.FieldsFunc(style.shortPath(cwd), func(r rune) bool { return r == '/' || r == '\\' })
		}
	}
	last := func(cwd string, n int) string {
		p := parts[cwd]
		return strings.Join(p[max(len(p)-n, 0):], "/")
	}
	out := map[string]string{}
	for cwd, p := range parts {
		n := 1
		for ; n < len(p); n++ {
			alone := true
			for other := range parts {
				alone = alone && (other == cwd || last(other, n) != last(cwd, n))
			}
			if alone {
				break
			}
		}
		if out[cwd] = last(cwd, n); out[cwd] == "" {
			out[cwd] = style.shortPath(cwd)
		}
	}
	return out
}

// times0 is a count that may be 0.
func times0(n int) string {
	if n == 0 {
		return "0 times"
	}
	return times(n)
}

func (d *WhyDocument) writeAll(b *strings.Builder, style Style) error {
	style.line(b, together([]string{plural(len(d.Skills), "skill"), d.covered(style), plural(d.Summary.Prompts, "prompt")}, style.width()))
	if len(d.Skills) == 0 {
		style.line(b, "No log and no skill file names a skill.")
		for _, line := range d.unknown(Escape) {
			style.line(b, line)
		}
		return nil
	}
	g := grid{columns: []column{{title: "skill", shrink: 1, least: 22, middle: true}, {title: "listed", right: true}, {title: "described", right: true, drop: 5}, {title: "model", right: true}, {title: "user", right: true},
		{title: "gate"}, {title: "", ink: whyInk}, {title: "prompts", right: true, drop: 4}, {title: "why", shrink: 2, least: 18, drop: 3}}}
	for i := range d.Skills {
		k := &d.Skills[i]
		g.add(Escape(k.Skill), count(k.Listed), count(k.Described), some(int64(k.ByModel)), some(int64(k.ByUser)),
			strings.ReplaceAll(k.Gate, "_", " "), stateWords[k.State], some(int64(k.decided())), Escape(k.short()))
	}
	if err := g.write(b, style); err != nil {
		return err
	}
	style.line(b, d.legend(g.has))
	style.line(b, absence)
	for _, line := range d.unknown(Escape) {
		style.line(b, line)
	}
	if !d.Redacted {
		writeNext(b, style, []string{with("skilltrace why "+ShellWord(d.Skills[0].Skill), style.Again, style.Given)})
	}
	return nil
}

// decided is for how many prompts the gate of the line decided.
func (k *WhySkill) decided() int {
	for _, v := range k.Verdicts {
		if v.Gate == k.Gate && v.State == k.State {
			return v.Prompts
		}
	}
	return 0
}

// short is the reason of the line.
func (k *WhySkill) short() string {
	if k.Reason == why.NotCalled {
		return "not chosen"
	}
	return k.Reason
}

// legend explains the columns of the lines of all skills, as far as they are there.
func (d *WhyDocument) legend(has func(title string) bool) string {
	s := &d.Summary
	listed := "listed"
	if has("described") {
		listed = "listed and described (whole)"
	}
	text := fmt.Sprintf("%s: in how many of the %s", listed, plural(s.SessionCount, "session"))
	switch {
	case has("model") && has("user"):
		text += "; model, user: calls"
	case has("model"):
		text += "; model: its calls"
	case has("user"):
		text += "; user: calls"
	}
	if has("prompts") {
		text += fmt.Sprintf("; prompts: for how many of the %s the gate decided", count(s.Prompts))
	}
	return text + "."
}
