package why

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// untrimmed is the predicted listing that brought the entry, or would have, before it
// was fitted into its budget; nil where the files do not tell.
func (c *chain) untrimmed() (*replay.Effect, *replay.Untrimmed) {
	limit := c.sp.Answer
	if c.listing >= 0 {
		limit = c.listing
	}
	for n := sort.Search(len(c.Predicted), func(i int) bool { return c.Predicted[i].Cause > limit }) - 1; n >= 0; n-- {
		e := &c.Predicted[n]
		if e.Kind != replay.Listing || e.Missing != "" && e.Missing != "usage counts" && e.Missing != "model" {
			continue
		}
		if _, ok := c.predictedEntries(e)[c.sub.Name]; !ok {
			continue
		}
		t := c.trials[e]
		if t.lines == nil {
			var ok bool
			if t.lines, ok = c.course.Untrimmed(e); !ok {
				t.lines = &replay.Untrimmed{}
			}
		}
		if len(t.lines.Lines) == 0 {
			return nil, nil
		}
		return e, t.lines
	}
	return nil, nil
}

// trial is a predicted listing, by its entries and before it was trimmed.
type trial struct {
	at    map[string]int
	lines *replay.Untrimmed
}

// predictedEntries are the entries of a predicted listing, by name.
func (a *agent) predictedEntries(e *replay.Effect) map[string]int {
	t := a.trials[e]
	if t == nil {
		t = &trial{at: make(map[string]int, len(e.Entries))}
		for i := range e.Entries {
			t.at[e.Entries[i].Name] = i
		}
		a.trials[e] = t
	}
	return t.at
}

// why says why an entry stands without its whole description.
func (c *chain) why(s *Step, full string) {
	set := c.settings()
	switch {
	case c.st != nil && c.st.NameOnly, c.st == nil && c.m != nil && c.m.Options().Discovery.Overrides && set.Overrides[c.sub.Name] == string(skills.OverrideNameOnly):
		s.Reason += ": skillOverrides says name-only"
		s.Advice = append(s.Advice, "take it out of skillOverrides in the settings, or set it to on")
		return
	case c.st != nil && c.files[c.st.Skill.Path].Described.holds() && full == "":
		s.Reason += ": its file has no description"
		s.Where = replay.Where{File: c.st.Skill.Path, Line: 1}
		s.Advice = append(s.Advice, "write a description into its front matter")
		return
	}
	if c.brief {
		s.Reason += ": its description did not fit"
		return
	}
	_, u := c.untrimmed()
	if c.known && full != "" && !c.edited() {
		limit := c.capOf(set)
		n := budget.Len16(full)
		// Of the client's own entries only what was listed is known.
		if limit > 0 && (n > limit || n == limit && strings.HasSuffix(full, "…")) {
			s.Notes = append(s.Notes, fmt.Sprintf("an entry is cut at %s characters", budget.Grouped(limit)))
			if shown := c.shownNow(); shown == replay.ShownShortened && (u == nil || whole(u, c.sub.Name)) {
				s.Reason += fmt.Sprintf(": an entry is cut at %s", budget.Grouped(limit))
				if n > limit {
					s.Advice = append(s.Advice, fmt.Sprintf("cut %s from its description", budget.Characters(n-limit)))
				}
				return
			}
		}
	}
	if u == nil {
		c.fromLog(s)
		return
	}
	s.Reason += ": "
	c.room(s, u)
}

func (c *chain) settings() replay.Settings {
	if c.m == nil || c.m.Process() == nil {
		return replay.Settings{}
	}
	return c.m.Process().Settings
}

// capOf is the most that one description may take, in UTF-16 code units; 0 for no limit.
func (c *chain) capOf(set replay.Settings) int {
	text := c.m.Options().Text
	if text.CapSetting && set.MaxDesc > 0 {
		return set.MaxDesc
	}
	return text.Cap
}

// fromLog says of the budget what the log alone tells.
func (c *chain) fromLog(s *Step) {
	at := c.listing
	if at < 0 || c.event(at).Kind != replay.Listing {
		return
	}
	lines := c.lines(at)
	if r := c.rules(); r != nil && c.shownNow() == replay.ShownShortened {
		// Where the room goes by use a text is whole, or there is none: one with an end cut
		// off was longer than an entry may be.
		n := budget.Len16(lines[c.sub.Name].Text)
		if r.Size.Overflow == budget.OverflowGreedy || r.Size.Overflow == budget.OverflowStrip || n == c.capOf(c.settings()) {
			s.Reason += fmt.Sprintf(": an entry is cut at %s", budget.Grouped(n))
			s.Notes = append(s.Notes, "how long its description is needs the skill files")
			s.Advice = append(s.Advice, "say what matters first in its description, or shorten it")
			return
		}
	}
	bare, used := 0, 0
	for _, l := range lines {
		if l.Bare {
			bare++
		}
		used += budget.Len16(l.Raw) + 1
	}
	s.Reason += ": its description did not fit the listing"
	s.Notes = append(s.Notes, fmt.Sprintf("the listing has %d entries, %d of them by name only, and takes %s", len(lines), bare, budget.Characters(max(used-1, 0))))
	s.Notes = append(s.Notes, "what the descriptions take, and the ranks by use, need the skill files")
	s.Advice = append(s.Advice, "give the skill files with --skills DIR to see what to cut", "type /"+c.sub.Name+" once: skills in use keep their descriptions")
	if r := c.rules(); r != nil && (r.Size.Overflow == budget.OverflowUniform || r.Size.Overflow == budget.OverflowCut) {
		s.Advice = s.Advice[:1]
	}
}

// room says what took the budget, and what would bring the entry back.
func (c *chain) room(s *Step, u *replay.Untrimmed) {
	if c.brief {
		s.Reason += "it did not fit"
		return
	}
	t := budget.Trim(u.Lines, u.Budget, u.Size)
	i := -1
	for j := range u.Lines {
		// Of several entries with the name, the one that gave way.
		if u.Lines[j].Name == c.sub.Name && (i < 0 || t.Lines[i].Shown == budget.ShownFull) {
			i = j
		}
	}
	if i < 0 {
		return
	}
	me := t.Lines[i]
	rivals := 0
	for _, l := range t.Lines {
		if l.Rank > 0 {
			rivals++
		}
	}
	const unit = "characters" // as the client's own messages call them, whatever it counts
	byUse := u.Size.Overflow == budget.OverflowGreedy || u.Size.Overflow == budget.OverflowStrip
	if me.Shown == budget.ShownFull && !(byUse && u.Uses == nil && t.Over()) {
		s.Reason += "it did not fit, though by the inputs read now it would"
		s.Notes = append(s.Notes, fmt.Sprintf("read now: a budget of %s characters, of which %s are asked for; it comes from %s", budget.Grouped(u.Budget), budget.Grouped(t.Total), u.Source))
		s.Advice = append(s.Advice, "give the inputs of that time with --skills, --usage, --settings and --window")
		return
	}
	s.Reason += fmt.Sprintf("%s-character budget, %s asked for", budget.Grouped(u.Budget), budget.Grouped(t.Total))
	switch {
	case byUse && u.Uses == nil:
		s.Notes = append(s.Notes, "its rank by use is not known: usage counts are missing")
		s.Advice = append(s.Advice, "give the client's usage counts with --usage FILE")
	case byUse:
		use := "never used"
		if n := u.Uses[c.sub.Name]; n.Count > 0 {
			use = fmt.Sprintf("used %d times", n.Count)
			if n.Count == 1 {
				use = "used once"
			}
		}
		s.Reason += fmt.Sprintf("; rank %d of %d by use (%s)", me.Rank, rivals, use)
	}
	s.Notes = append(s.Notes, "the budget comes from "+u.Source)
	if me.Shown == budget.ShownFull {
		return // which descriptions gave way depends on the counts
	}
	if u.Size.Overflow == budget.OverflowUniform && t.TextWidth > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("each description is cut to %s %s", budget.Grouped(t.TextWidth), unit))
	}
	c.took(s, u, &t, i, unit)
	c.others(s, u, &t, i, unit)
	c.own(s, u, &t, i, unit)
	c.once(s, u, i)
	c.wider(s, u, &t, i)
}

// whole reports whether the budget leaves an entry as it is.
func whole(u *replay.Untrimmed, name string) bool {
	i := slices.IndexFunc(u.Lines, func(l budget.Line) bool { return l.Name == name })
	return i >= 0 && fits(u.Lines, i, u.Budget, u.Size)
}

// fits reports whether an entry is shown whole.
func fits(lines []budget.Line, i, size int, rule budget.Size) bool {
	t := budget.Trim(lines, size, rule)
	return t.Lines[i].Shown == budget.ShownFull
}

// took names the longest descriptions that stand before the entry.
func (c *chain) took(s *Step, u *replay.Untrimmed, t *budget.Trimmed, i int, unit string) {
	order := before(u, t, i)
	var parts []string
	const most = 3
	for _, j := range order[:min(most, len(order))] {
		parts = append(parts, fmt.Sprintf("%s (%s)", u.Lines[j].Name, budget.Grouped(textSize(u, j))))
	}
	if len(parts) > 0 {
		s.Notes = append(s.Notes, "the longest descriptions before it, in "+unit+": "+strings.Join(parts, ", "))
	}
}

// before are the entries whose descriptions stand in the listing in the way of entry i,
// the longest first.
func before(u *replay.Untrimmed, t *budget.Trimmed, i int) []int {
	var out []int
	for j := range u.Lines {
		r := &t.Lines[j]
		if j == i || r.Rank == 0 || r.Shown == budget.ShownNameOnly && u.Size.Overflow != budget.OverflowUniform || r.Shown == budget.ShownAbsent {
			continue
		}
		out = append(out, j)
	}
	slices.SortStableFunc(out, func(a, b int) int { return textSize(u, b) - textSize(u, a) })
	return out
}

// textSize is what the description of an entry takes.
func textSize(u *replay.Untrimmed, j int) int { return budget.Width(u.Size.Unit, u.Lines[j].Text) }

// others finds out how much the longest others would have to lose.
func (c *chain) others(s *Step, u *replay.Untrimmed, t *budget.Trimmed, i int, unit string) {
	need := t.Lines[i].Need
	if u.Size.Overflow == budget.OverflowUniform {
		need = t.Total - u.Budget
	}
	lines := slices.Clone(u.Lines)
	var cuts []string
	for _, j := range before(u, t, i) {
		if need <= 0 || len(cuts) == 3 {
			break
		}
		had := textSize(u, j)
		cut := min(need, had)
		if cut == 0 {
			break
		}
		lines[j] = budget.Shorter(lines[j], u.Size.Unit, had-cut)
		cuts = append(cuts, fmt.Sprintf("%s from %s (%s now)", budget.Grouped(cut), u.Lines[j].Name, budget.Grouped(had)))
		need -= cut
		if fits(lines, i, u.Budget, u.Size) {
			first := strings.Replace(cuts[0], " from", " "+unit+" from", 1)
			s.Advice = append(s.Advice, "cut "+strings.Join(append([]string{first}, cuts[1:]...), ", "))
			return
		}
	}
}

// own finds out how short the entry's own description would have to be.
func (c *chain) own(s *Step, u *replay.Untrimmed, t *budget.Trimmed, i int, unit string) {
	had, need := textSize(u, i), t.Lines[i].Need
	if need <= 0 || need >= had {
		return
	}
	lines := slices.Clone(u.Lines)
	lines[i] = budget.Shorter(lines[i], u.Size.Unit, had-need)
	if fits(lines, i, u.Budget, u.Size) {
		s.Advice = append(s.Advice, fmt.Sprintf("cut %s %s from its own description (%s now)", budget.Grouped(need), unit, budget.Grouped(had)))
	}
}

// once finds out what one use would do.
func (c *chain) once(s *Step, u *replay.Untrimmed, i int) {
	if u.Uses == nil || u.Size.Overflow != budget.OverflowGreedy && u.Size.Overflow != budget.OverflowStrip || u.Lines[i].Exempt {
		return
	}
	n := u.Uses[c.sub.Name]
	lines := slices.Clone(u.Lines)
	for times := 1; times <= 10; times++ {
		n.Count, n.LastUsedMS = n.Count+1, u.NowMS
		lines[i].Score = u.Score(n)
		t := budget.Trim(lines, u.Budget, u.Size)
		if t.Lines[i].Shown != budget.ShownFull {
			continue
		}
		how := "once"
		if times > 1 {
			how = fmt.Sprintf("%d times, a minute or more apart", times)
		}
		s.Advice = append(s.Advice, fmt.Sprintf("call /%s %s: it then ranks %s and is described", c.sub.Name, how, Ordinal(t.Lines[i].Rank)))
		return
	}
}

// wider finds the budget at which the entry is shown whole.
func (c *chain) wider(s *Step, u *replay.Untrimmed, t *budget.Trimmed, i int) {
	want := u.Budget
	// With more room others may come back first and take it: a step gives the entry what
	// it then lacks.
	const most = 64 // steps
	for step, now := 0, *t; now.Lines[i].Shown != budget.ShownFull; step++ {
		need := max(now.Lines[i].Need, 1)
		if u.Size.Overflow == budget.OverflowUniform || step == most {
			need = max(t.Total-want, 1) // the width is one for all
		}
		if want += need; want > t.Total+len(u.Lines)+1 {
			return
		}
		now = budget.Trim(u.Lines, want, u.Size)
	}
	env := c.m.Process() != nil && c.m.Process().Env[budget.EnvCharBudget] != ""
	if !u.Size.FractionSetting || env || u.Budget <= 0 {
		s.Advice = append(s.Advice, fmt.Sprintf("set %s=%d", budget.EnvCharBudget, want))
		return
	}
	fraction := budget.FractionFor(u.Size, c.settings().Fraction, u.Budget, want)
	s.Advice = append(s.Advice, "set skillListingBudgetFraction to "+strconv.FormatFloat(fraction, 'g', -1, 64))
}

// Ordinal writes 1st, 2nd, 3rd, 11th, 1,021st.
func Ordinal(n int) string {
	suffix := "th"
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		suffix = "st"
	case n%10 == 2:
		suffix = "nd"
	case n%10 == 3:
		suffix = "rd"
	}
	return budget.Grouped(n) + suffix
}

// nameOnly is how an entry without its description stands in a listing.
const nameOnly = "by name only"

// sentence is the verdict of a question in one sentence.
func (q *query) sentence(out *Question) string {
	name := q.sub.Name
	at := q.place(out)
	s := out.Step(out.Verdict.Gate)
	v := out.Verdict
	if v.State == Undetermined {
		text := fmt.Sprintf("Whether %s could be used %s is not known: %s", name, at, trimmed(s.Reason))
		switch {
		case v.Gate == Called && len(q.calls[out.span]) > 0:
			text = fmt.Sprintf("What came of the call of %s %s is not known: %s", name, at, trimmed(s.Reason))
		case v.Gate == Called:
			text = fmt.Sprintf("Whether %s was called %s is not known: %s", name, at, trimmed(s.Reason))
		}
		if len(s.Notes) > 0 && strings.HasPrefix(s.Notes[0], "did you mean") {
			return text + "; " + s.Notes[0]
		}
		return text + "."
	}
	if e := q.refused(out.span); e != nil && v.State == Failed && v.Gate != Called {
		return fmt.Sprintf("%s was called %s and refused (line %d): %s.", name, at, e.Where.Line, trimmed(s.Reason))
	}
	switch v.Gate {
	case Exists:
		text := fmt.Sprintf("There was no skill %s %s: %s", name, at, trimmed(s.Reason))
		if len(s.Notes) > 0 && strings.HasPrefix(s.Notes[0], "did you mean") {
			return text + "; " + s.Notes[0]
		}
		return text + "."
	case Loaded:
		if q.frontStep(s) {
			return fmt.Sprintf("The client could not read the front matter of %s as it was meant %s: %s.", name, at, trimmed(s.Reason))
		}
		return fmt.Sprintf("The client did not load %s %s: %s.", name, at, trimmed(s.Reason))
	case Eligible:
		return fmt.Sprintf("%s was kept from the model %s: %s.", name, at, trimmed(s.Reason))
	case Announced:
		return fmt.Sprintf("The model was not told of %s %s: %s.", name, at, trimmed(s.Reason))
	case Described:
		if out.Shown == replay.ShownShortened {
			return fmt.Sprintf("The model saw only a part of the description of %s %s: %s.", name, at, trimmed(s.Reason))
		}
		return fmt.Sprintf("The model saw only the name of %s %s: %s.", name, at, trimmed(strings.TrimPrefix(s.Reason, nameOnly+": ")))
	case Present:
		return fmt.Sprintf("%s was not visible any more %s: %s.", name, at, trimmed(s.Reason))
	case Delivered:
		return fmt.Sprintf("%s was called %s, and its text did not come: %s.", name, at, trimmed(s.Reason))
	case InForce:
		if v.State == Passed {
			return fmt.Sprintf("%s was in force %s: %s.", name, at, trimmed(s.Reason))
		}
		return fmt.Sprintf("%s was called before, and its text was not in force any more %s: %s.", name, at, trimmed(s.Reason))
	}
	switch {
	case v.State == Passed:
		return fmt.Sprintf("%s was called %s: %s.", name, at, trimmed(s.Reason))
	case len(q.calls[out.span]) > 0:
		return fmt.Sprintf("%s was called %s, without success: %s.", name, at, trimmed(s.Reason))
	case strings.HasPrefix(s.Reason, NoAnswer), strings.HasPrefix(s.Reason, Interrupted), s.Reason == askedNothing:
		return fmt.Sprintf("%s was visible and described %s, and %s.", name, at, trimmed(s.Reason))
	case s.Reason != "not called":
		return fmt.Sprintf("%s was visible and described %s, and not called as a skill: %s.", name, at, trimmed(strings.TrimPrefix(strings.TrimPrefix(s.Reason, "not by the Skill tool: "), "not called: ")))
	}
	return fmt.Sprintf("%s was visible, described and not chosen %s.", name, at)
}

func (q *query) frontStep(s *Step) bool { return strings.Contains(s.Reason, "front matter, line") }

func trimmed(reason string) string { return strings.TrimSuffix(reason, ".") }

// place is a question as words.
func (q *query) place(out *Question) string {
	agent := ""
	if out.Agent != "main" {
		agent = ", agent " + out.Agent
	}
	switch {
	case out.Prompt > 0:
		return fmt.Sprintf("for prompt %d (line %d%s)", out.Prompt, out.Where.Line, agent)
	case out.Command != "":
		return fmt.Sprintf("for /%s (line %d%s)", out.Command, out.Where.Line, agent)
	}
	return fmt.Sprintf("at the start (line %d%s)", out.Where.Line, agent)
}

// repeats notes the entries of a recorded listing that stand for the same as the
// skill's.
func (a *agent) repeats(event int, name string) []string {
	notes, ok := a.doubles[event]
	if !ok {
		notes = map[string][]string{}
		l := a.Agent.Events[event].Listing
		lines := skills.ParseListing(l.Content, l.Names, a.blank...)
		for _, d := range skills.Duplicates(lines) {
			for n, i := range d.Entries {
				me := lines[i].Name
				if slices.ContainsFunc(d.Entries[:n], func(j int) bool { return lines[j].Name == me }) {
					continue // told at its first entry
				}
				var others []string
				for m, j := range d.Entries {
					if m != n && (d.Kind != skills.DuplicateExact || lines[j].Name != me) { // that it stands twice is told below
						others = append(others, lines[j].Name)
					}
				}
				if others == nil {
					continue
				}
				notes[me] = append(notes[me], fmt.Sprintf("listed beside %s (%s)", strings.Join(others, ", "), strings.ReplaceAll(string(d.Kind), "-", " ")))
			}
		}
		for me, twice := range twiceListed(lines) {
			notes[me] = append([]string{fmt.Sprintf("%s of line %d; the gates judge the last of them", twice, a.Agent.Events[event].Where.Line)}, notes[me]...)
		}
		a.doubles[event] = notes
	}
	return notes[name]
}

// twiceListed says of names that a listing has more than once as which of its entries
// they stand there, and how.
func twiceListed(lines []skills.ListedLine) map[string]string {
	at := map[string][]string{}
	n := 0
	for _, l := range lines {
		if l.Name == "" {
			continue
		}
		n++
		how := "by name only"
		if !l.Bare {
			how = budget.Characters(budget.Len16(l.Text))
		}
		at[l.Name] = append(at[l.Name], fmt.Sprintf("%d (%s)", n, how))
	}
	out := map[string]string{}
	for name, entries := range at {
		switch k := len(entries); {
		case k == 2:
			out[name] = "listed twice, as entries " + strings.Join(entries, " and ")
		case k > 2:
			out[name] = fmt.Sprintf("listed %d times, as entries %s and %s", k, strings.Join(entries[:k-1], ", "), entries[k-1])
		}
	}
	return out
}
