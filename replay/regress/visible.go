package regress

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/replay/relist"
)

// VisibleDetail is one expectation of how an entry stands.
type VisibleDetail struct {
	Skill    string
	Line     int // of the spec
	Expected replay.Shown
	Actual   replay.Shown
	Baseline replay.Shown
	Verdict  Verdict
	Reason   string
}

// ListingChange is what candidates change of what the model sees of skills.
type ListingChange struct {
	Before, After Size
	Changes       []EntryChange // worst first, then by name
	// Lines are the two versions of the listings side by side: each entry's line before
	// and after, "" where there is none.
	Lines []LinePair
}

// LinePair is the line of an entry before and after.
type LinePair struct{ Skill, Before, After string }

// EntryChange is an entry that stands otherwise than under the baseline.
type EntryChange struct {
	Skill         string
	Before, After replay.Shown
	// Texts are the whole descriptions, where they are known and differ.
	TextBefore, TextAfter string
	// Chars are what the entry takes of the listing, in the client's unit, and Tokens an
	// estimate.
	CharsBefore, CharsAfter, TokensBefore, TokensAfter int
	Own                                                bool // its own text was changed
	// Causes are the skills whose changes made this entry stand otherwise, and how.
	Causes []Cause
}

// Cause is a change of one skill that took another's room, or gave it.
type Cause struct {
	Skill string
	// Grew is by how many characters, in the client's unit, its entry asks for more; less
	// than 0 if for less.
	Grew int
	What string // "is new", "is gone", "grew by 800 characters", …
}

// Both are the two states of a prompt.
type Both struct {
	Before, After *State
	point         *Point
	set, base     *Set
	change        *ListingChange
	ranks         *[2]*ranking                       // of Before and After
	moved         []Cause                            // what every edit does to the room, once asked for
	took, gave    []Cause                            // of them, those that took room, and those that gave it
	others        map[string]map[string]replay.Shown // how entries would stand without a change, by its skill
}

// compared is what two states of a prompt rest on.
type compared struct {
	agent, event int
	set, base    *Set
}

// Compare works out both states of a prompt. A nil base stands for the log's own state.
func (p *Point) Compare(set, base *Set) (*Both, error) {
	key := compared{p.agent, p.Event, set, base}
	if b := p.s.compared[key]; b != nil {
		return b, nil
	}
	before, err := p.State(base, nil)
	if err != nil {
		return nil, err
	}
	after, err := p.State(set, base)
	if err != nil {
		return nil, err
	}
	b := &Both{Before: before, After: after, point: p, set: set, base: base}
	// Cases that ask about one prompt mostly stand together.
	const kept = 16
	if len(p.s.compared) >= kept || p.s.compared == nil {
		p.s.compared = map[compared]*Both{}
	}
	p.s.compared[key] = b
	return b, nil
}

// Alike reports whether both states show the model the same.
func (b *Both) Alike() bool {
	return slices.EqualFunc(b.Before.Sheets, b.After.Sheets, func(x, y Sheet) bool { return x.Text == y.Text })
}

// Candidates are the names of the skills under test, as the session calls them, sorted.
func (b *Both) Candidates() []string {
	all := map[string]bool{}
	for i := range b.After.edits {
		all[b.After.edits[i].Name] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// Change says what the candidates change. It is worked out once.
func (b *Both) Change() *ListingChange {
	if b.change == nil {
		b.change = b.compare()
		b.others = nil
	}
	return b.change
}

func (b *Both) compare() *ListingChange {
	out := &ListingChange{Before: b.Before.Size(), After: b.After.Size()}
	seen := map[string]bool{}
	for _, st := range []*State{b.Before, b.After} {
		for i := range st.Entries {
			seen[st.Entries[i].Name] = true
		}
	}
	for name := range b.After.Off {
		seen[name] = seen[name] || b.Before.Of(name) != replay.ShownAbsent
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if !seen[name] {
			continue
		}
		was, is := b.Before.entry(name), b.After.entry(name)
		own := b.edited(name)
		c := EntryChange{Skill: name, Before: b.Before.Of(name), After: b.After.Of(name), Own: own}
		textBefore, textAfter := "", ""
		if was != nil {
			c.CharsBefore, c.TokensBefore, textBefore = was.Size, tokens(was.Text), b.whole(b.Before, was)
		}
		if is != nil {
			c.CharsAfter, c.TokensAfter, textAfter = is.Size, tokens(is.Text), b.whole(b.After, is)
		}
		if c.Before == c.After && textBefore == textAfter && c.CharsBefore == c.CharsAfter {
			continue
		}
		if own && textBefore != textAfter {
			c.TextBefore, c.TextAfter = textBefore, textAfter
		}
		if c.Before != c.After {
			c.Causes = b.causes(name, c.After)
		}
		out.Changes = append(out.Changes, c)
	}
	slices.SortStableFunc(out.Changes, func(x, y EntryChange) int { return cmp.Compare(y.loss(), x.loss()) })
	if len(out.Changes) > 0 {
		out.Lines = b.lines()
	}
	return out
}

// assumed is what the comparison rests on and no input tells.
func (b *Both) assumed() []string {
	out := b.After.assumed()
	if b.base == nil && slices.ContainsFunc(b.Before.Sheets, func(s Sheet) bool { return s.Old == "" }) {
		out = append(out, "the log's own state is not in it: compared with the skill files as they are now, so nothing differs")
	}
	return out
}

// loss is how much less is shown of an entry.
func (c *EntryChange) loss() int {
	return slices.Index(spec.Forms, c.After) - slices.Index(spec.Forms, c.Before)
}

// edited reports whether the two states hold different texts of a skill.
func (b *Both) edited(name string) bool { return b.After.Edited[name] || b.Before.Edited[name] }

// whole is the whole description of an entry, as far as it is known.
func (b *Both) whole(st *State, e *Entry) string {
	if text, ok := st.line(e.Name, e.Sheet); ok {
		return text
	}
	return e.Description
}

// line is the text of an entry in a sheet with the edits of the state.
func (st *State) line(name string, sheet int) (string, bool) {
	for i := range st.edits {
		if e := &st.edits[i]; e.Name == name && !e.Gone {
			return e.Line.Text, true
		}
	}
	for i := range st.Sheets[sheet].From.Lines {
		if l := &st.Sheets[sheet].From.Lines[i]; l.Name == name {
			return l.Text, true
		}
	}
	return "", false
}

// lines are the lines of both states, in the order of the later one; what is gone stands
// behind what it followed.
func (b *Both) lines() []LinePair {
	var out []LinePair
	at := map[string]int{}
	for i := range b.Before.Entries {
		e := &b.Before.Entries[i]
		at[e.Name] = len(out)
		out = append(out, LinePair{Skill: e.Name, Before: b.Before.raw(e)})
	}
	for i := range b.After.Entries {
		e := &b.After.Entries[i]
		if j, ok := at[e.Name]; ok {
			out[j].After = e.Text
			continue
		}
		out = append(out, LinePair{Skill: e.Name, After: e.Text})
	}
	return out
}

// raw is the line of an entry as the log holds it.
func (st *State) raw(e *Entry) string { return e.Text }

// causes are the changes without which an entry would stand as before: the one that does
// it alone, else all that took room or gave it.
func (b *Both) causes(name string, now replay.Shown) []Cause {
	all := b.changedRoom()
	tries := b.tries()
	for i := range all {
		if all[i].Skill == name {
			continue
		}
		if tries--; tries < 0 {
			break
		}
		shown, ok := b.without(all[i].Skill)[name]
		if !ok {
			shown = replay.ShownAbsent
		}
		if shown != now {
			return all[i : i+1 : i+1]
		}
	}
	if b.edited(name) {
		return nil // its own change is enough
	}
	// Many entries have the same causes: they share one list.
	if relist.Better(b.Before.Of(name), now) {
		return b.took
	}
	return b.gave
}

// tries is how many changes are taken back, each alone, to find the one that made another
// entry stand otherwise: the largest come first. A listing is made anew for each.
func (b *Both) tries() int {
	const least, most, work = 3, 100, 20_000_000
	size := 1
	for i := range b.After.Sheets {
		size += len(b.After.Sheets[i].Forms) * len(b.After.edits)
	}
	return min(max(work/size, least), most)
}

// changedRoom is what the edits do to the room of the listing, the largest first.
func (b *Both) changedRoom() []Cause {
	if b.moved != nil {
		return b.moved
	}
	b.moved = []Cause{}
	before, after := b.Before.wholeSizes(), b.After.wholeSizes()
	seen := map[string]bool{}
	for i := range b.After.edits {
		e := &b.After.edits[i]
		if seen[e.Name] || !b.edited(e.Name) {
			continue
		}
		seen[e.Name] = true
		if c := causeOf(e.Name, before[e.Name], after[e.Name]); c.What != "" {
			b.moved = append(b.moved, c)
		}
	}
	slices.SortStableFunc(b.moved, func(x, y Cause) int {
		return cmp.Or(cmp.Compare(abs(y.Grew), abs(x.Grew)), strings.Compare(x.Skill, y.Skill))
	})
	for _, c := range b.moved {
		if c.Grew > 0 {
			b.took = append(b.took, c)
		} else if c.Grew < 0 {
			b.gave = append(b.gave, c)
		}
	}
	return b.moved
}

func abs(n int) int { return max(n, -n) }

// causeOf says what a change does to the room of a listing, by what the entry asked for
// and asks for.
func causeOf(name string, before, after int) Cause {
	c := Cause{Skill: name, Grew: after - before}
	switch {
	case before == 0 && after > 0:
		c.What = "is new"
	case after == 0 && before > 0:
		c.What = "is gone"
	case c.Grew > 0:
		c.What = fmt.Sprintf("grew by %s", budget.Characters(c.Grew))
	case c.Grew < 0:
		c.What = fmt.Sprintf("shrank by %s", budget.Characters(-c.Grew))
	}
	return c
}

// wholeSizes are what the entries of skills ask for.
func (st *State) wholeSizes() map[string]int {
	out := map[string]int{}
	for i := range st.Sheets {
		for j := range st.Sheets[i].Forms {
			f := &st.Sheets[i].Forms[j]
			out[f.Name] = max(out[f.Name], f.Whole)
		}
	}
	return out
}

// without is how entries would stand had one skill not changed.
func (b *Both) without(other string) map[string]replay.Shown {
	if out, ok := b.others[other]; ok {
		return out
	}
	st := &State{Off: map[string]string{}, Edited: map[string]bool{}}
	for i := range b.After.edits {
		if b.After.edits[i].Name != other {
			st.edits = append(st.edits, b.After.edits[i])
		}
	}
	for i := range b.Before.edits {
		if b.Before.edits[i].Name == other {
			st.edits = append(st.edits, b.Before.edits[i])
		}
	}
	var sheets []*relist.Sheet
	for i := range b.After.Sheets {
		sheets = append(sheets, b.After.Sheets[i].From)
	}
	for i, sheet := range sheets {
		st.Sheets = append(st.Sheets, Sheet{Listing: sheet.Make(st.editsOf(sheet, i == lastWhole(sheets))), From: sheet})
	}
	b.point.stand(st, false)
	out := make(map[string]replay.Shown, len(st.Entries))
	for name, i := range st.index {
		out[name] = st.Entries[i].Shown
	}
	if b.others == nil {
		b.others = map[string]map[string]replay.Shown{}
	}
	b.others[other] = out
	return out
}

// visible judges a case by what the model would see.
func (p *Point) visible(c *spec.Case, b *Both, out *Result) {
	out.Listing = b.Change()
	out.Assumed = b.assumed()
	var reasons []string
	verdict, base := Skipped, Skipped
	take := func(d VisibleDetail, before Verdict) {
		out.Visible = append(out.Visible, d)
		verdict, base = worse(verdict, d.Verdict), worse(base, before)
		if d.Verdict != Passed && d.Reason != "" {
			reasons = append(reasons, d.Reason)
		}
	}
	for _, want := range c.Expect.Visible {
		d := VisibleDetail{Skill: want.Skill, Line: want.Line, Expected: want.Shown, Actual: b.After.Of(want.Skill), Baseline: b.Before.Of(want.Skill)}
		before := Passed
		if d.Baseline != want.Shown {
			before = Failed
		}
		e := b.After.entry(want.Skill)
		switch {
		case e != nil && e.Open:
			d.Verdict, d.Reason = Inconclusive, fmt.Sprintf("%s: its whole description is not in the log, so whether more of it would be shown is not known (missing: skill files)", want.Skill)
		case d.Actual == want.Shown:
			d.Verdict = Passed
		default:
			d.Verdict, d.Reason = Failed, b.explain(want.Skill, want.Shown, out.Listing)
		}
		take(d, before)
	}
	if t := c.Expect.Triggers; t != nil {
		p.triggerable(t, b, &verdict, &base, &reasons)
	}
	out.Verdict, out.Baseline = verdict, base
	out.Reason = strings.Join(reasons, "; ")
}

// worse is the worse of two verdicts of one case. Skipped is none.
func worse(a, b Verdict) Verdict {
	order := []Verdict{Skipped, Passed, Inconclusive, Errored, Failed}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// onlyAModel is why a case is skipped that expects no call.
const onlyAModel = "that nothing is called only a model can tell: --scorer live or command"

// triggerable judges what is to be called by whether it can be: what is in no listing
// cannot, and no wording of its description helps. Whether it is called only a model
// tells.
func (p *Point) triggerable(t *spec.Triggers, b *Both, verdict, base *Verdict, reasons *[]string) {
	if len(t.Any) == 0 {
		if *verdict == Skipped {
			*reasons = append(*reasons, onlyAModel)
		}
		return
	}
	one := func(st *State) Verdict {
		for _, name := range t.Any {
			if st.Of(name) != replay.ShownAbsent {
				return Passed
			}
		}
		return Inconclusive
	}
	now, before := one(b.After), one(b.Before)
	if now != Passed {
		if before == Passed {
			now = Failed
			*reasons = append(*reasons, b.explain(t.Any[0], b.Before.Of(t.Any[0]), nil)+": it cannot be called")
		} else {
			*reasons = append(*reasons, b.NoSignal(t))
		}
	}
	*verdict, *base = worse(*verdict, now), worse(*base, before)
}

// NoSignal says why nothing can be learnt of skills that are to be called, "" if one of
// them is listed.
func (b *Both) NoSignal(t *spec.Triggers) string {
	for _, name := range t.Any {
		if b.After.Of(name) != replay.ShownAbsent {
			return ""
		}
	}
	if len(t.Any) == 0 {
		return ""
	}
	text := "no signal: " + strings.Join(t.Any, ", ") + " was in no listing"
	if len(t.Any) == 1 {
		if why := b.After.Off[t.Any[0]]; why != "" {
			text += ": " + why
		}
	}
	return text
}

// explain says why an entry does not stand as it is expected to.
func (b *Both) explain(name string, want replay.Shown, change *ListingChange) string {
	is := b.After.Of(name)
	text := fmt.Sprintf("%s is %s, not %s", name, Words(is), Words(want))
	var c *EntryChange
	if change == nil {
		change = b.Change()
	}
	for i := range change.Changes {
		if change.Changes[i].Skill == name {
			c = &change.Changes[i]
		}
	}
	if off := b.After.Off[name]; off != "" && is == replay.ShownAbsent {
		return text + ": " + off
	}
	e := b.After.entry(name)
	if c == nil || c.Before == c.After {
		if b.Before.Of(name) == is {
			text += ", as before the change"
		}
		if e == nil {
			text += "; no listing that stands at this prompt has it"
			if near := b.near(name); near != "" {
				text += " (did you mean " + near + "?)"
			}
		}
		return text + b.room(e)
	}
	var parts []string
	for i, cause := range c.Causes {
		const most = 3
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more", len(c.Causes)-most))
			break
		}
		parts = append(parts, cause.Skill+" "+cause.What)
	}
	switch {
	case len(parts) > 0:
		text += ": " + strings.Join(parts, ", ")
	case c.Own && e != nil:
		if cause := causeOf(name, b.Before.wholeSizes()[name], b.After.wholeSizes()[name]); cause.What != "" {
			text += ": its own entry " + cause.What
		}
	}
	return text + b.room(e)
}

// room says what an entry that is not shown whole lacks.
func (b *Both) room(e *Entry) string {
	if e == nil || e.Shown == replay.ShownFull {
		return ""
	}
	l := b.After.Sheets[e.Sheet].Listing
	switch {
	case e.Shown == replay.ShownShortened && e.Need == 0:
		return "; its text is longer than what one entry may take"
	case !l.Over():
		return ""
	}
	text := fmt.Sprintf("; the listing asks for %s of %s characters", budget.Grouped(l.Total), budget.Grouped(l.Budget))
	if e.Rank > 0 && e.Need > 0 {
		text += fmt.Sprintf(", and %s would have to go", budget.Characters(e.Need))
	}
	return text
}

// Words are the words for how an entry stands.
func Words(s replay.Shown) string {
	switch s {
	case replay.ShownFull:
		return "described in full"
	case replay.ShownShortened:
		return "shortened"
	case replay.ShownNameOnly:
		return "listed by name only"
	}
	return "absent"
}

// near is the name of an entry that is nearly the one given, "" if there is none.
func (b *Both) near(name string) string {
	var known []string
	for i := range b.After.Entries {
		known = append(known, b.After.Entries[i].Name)
	}
	slices.Sort(known)
	return spec.Nearest(name, known)
}

// BudgetResults judge the limits of a spec over the listings of all cases: one result for
// each limit, with the case that comes nearest to it or passes it.
func BudgetResults(limits *spec.Budget, sizes []CaseSize) []Result {
	var out []Result
	limit := func(what string, most *int, of func(Size) int) {
		if most == nil {
			return
		}
		r := Result{Case: "budget: " + what, Line: limits.Line, Scorer: spec.ScoreVisible, Verdict: Passed, Baseline: Passed}
		if len(sizes) == 0 {
			r.Verdict, r.Baseline, r.Reason = Inconclusive, "", "no listing could be worked out"
		}
		worst := -1
		for i := range sizes {
			if worst < 0 || of(sizes[i].After) > of(sizes[worst].After) {
				worst = i
			}
			if of(sizes[i].Before) > *most {
				r.Baseline = Failed
			}
		}
		if worst >= 0 {
			w := &sizes[worst]
			r.Session, r.Prompt = w.Session, w.Prompt
			r.Reason = fmt.Sprintf("%s in %s, at most %s", budget.Grouped(of(w.After)), w.Case, budget.Grouped(*most))
			if of(w.After) > *most {
				r.Verdict = Failed
			}
			if of(w.After) != of(w.Before) {
				r.Reason += fmt.Sprintf(" (%s before)", budget.Grouped(of(w.Before)))
			}
		}
		r.settle()
		out = append(out, r)
	}
	limit("listing_tokens", limits.ListingTokens, func(z Size) int { return z.Tokens })
	limit("listing_chars", limits.ListingChars, func(z Size) int { return z.Chars })
	limit("name_only", limits.NameOnly, func(z Size) int { return z.NameOnly })
	limit("shortened", limits.Shortened, func(z Size) int { return z.Shortened })
	limit("absent", limits.Absent, func(z Size) int { return z.Absent })
	return out
}

// CaseSize is what the listings of a case take.
type CaseSize struct {
	Case, Session string
	Prompt        int
	Before, After Size
}

// Run judges a case by its scorers. For those that ask somebody there is a question, unless
// nothing can be learnt. The second result is what its listings take, nil where they cannot
// be worked out.
func (s *Session) Run(c *spec.Case, scorers []spec.Scorer, set, base *Set) ([]Result, *CaseSize, []Question) {
	head := Result{Case: c.Name, Line: c.Line, Review: c.Review, Session: c.Session, Agent: c.At.Agent, Prompt: c.At.Prompt}
	all := func(v Verdict, reason string) []Result {
		var out []Result
		for _, scorer := range scorers {
			r := head
			r.Scorer, r.Verdict, r.Reason = scorer, v, reason
			out = append(out, r)
		}
		return out
	}
	p, err := s.Find(&c.At)
	if err != nil {
		return all(Errored, err.Error()), nil, nil
	}
	head.Prompt, head.Where, head.Text = p.seen.Prompt, p.seen.Where, p.Text
	b, err := p.Compare(set, base)
	if err != nil {
		var m *missing
		if errors.As(err, &m) {
			out := all(Inconclusive, err.Error())
			for i := range out {
				if t := c.Expect.Triggers; t != nil && len(t.Any) == 0 && len(c.Expect.Visible) == 0 && out[i].Scorer == spec.ScoreVisible {
					out[i].Verdict, out[i].Reason = Skipped, onlyAModel
				}
			}
			return out, nil, nil
		}
		return all(Errored, err.Error()), nil, nil
	}
	size := &CaseSize{Case: c.Name, Session: c.Session, Prompt: head.Prompt, Before: b.Before.Size(), After: b.After.Size()}
	var out []Result
	var questions []Question
	for _, scorer := range scorers {
		r := head
		r.Scorer = scorer
		switch {
		case scorer == spec.ScoreVisible:
			p.visible(c, b, &r)
		case scorer == spec.ScoreLexical:
			p.lexical(c, b, &r)
		case c.Expect.Triggers == nil:
			r.Verdict = Skipped
		case b.NoSignal(c.Expect.Triggers) != "":
			r.Verdict, r.Reason = Inconclusive, b.NoSignal(c.Expect.Triggers)
		default:
			r.Assumed = b.assumed()
			questions = append(questions, Question{Result: len(out), Scorer: scorer, Triggers: c.Expect.Triggers, Point: p, Both: b})
		}
		if r.Verdict == Skipped && r.Reason == "" {
			r.Reason = "it expects nothing that " + string(scorer) + " judges"
		}
		r.settle()
		out = append(out, r)
	}
	return out, size, questions
}

// Question is a case that somebody is to be asked.
type Question struct {
	Result   int // among the case's results: the one that waits for the answer
	Scorer   spec.Scorer
	Triggers *spec.Triggers
	Point    *Point
	Both     *Both
}

// Answer settles a result with what was answered.
func (r *Result) Answer(verdict, baseline Verdict, reason string, detail *AskedDetail) {
	r.Verdict, r.Baseline, r.Reason, r.Asked = verdict, baseline, reason, detail
	r.settle()
}

// Accept takes what is visible for what is expected.
func (r *Result) Accept() {
	if r.Scorer != spec.ScoreVisible || r.Verdict != Failed || len(r.Visible) == 0 {
		return
	}
	r.Verdict, r.Reason = Passed, ""
	for i := range r.Visible {
		v := &r.Visible[i]
		if v.Verdict == Failed {
			v.Expected, v.Verdict, v.Reason = v.Actual, Passed, ""
		}
		r.Verdict = worse(r.Verdict, v.Verdict)
	}
	r.settle()
}
