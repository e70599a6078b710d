package report

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// How much of a list one screen shows; a verbose style shows all.
const (
	fewNames       = 8
	fewDivergences = 5
	fewAgents      = 4
	fewLines       = 6
)

// WriteTable writes one screen for one session. For several it writes a line
// each and the divergences of all.
func (d *ReplayDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	switch {
	case len(d.Sessions) == 0:
		b.WriteString("No sessions.\n")
	case len(d.Sessions) == 1 || style.Verbose:
		for i := range d.Sessions {
			if i > 0 {
				b.WriteString("\n")
			}
			if err := d.Sessions[i].write(&b, style); err != nil {
				return err
			}
		}
	default:
		if err := d.writeMany(&b, style); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d *ReplayDocument) writeMany(b *strings.Builder, style Style) error {
	g := grid{columns: []column{
		{title: "session", shrink: 2, least: 8}, {title: "start", drop: 2}, {title: "client", shrink: 1, least: 8},
		{title: "calls", right: true, drop: 3}, {title: "skills", right: true, drop: 4}, {title: "match", right: true},
		{title: "divergent", right: true, ink: inkIfNot0(red)}, {title: "undetermined", right: true, ink: inkIfNot0(yellow)},
		{title: "unconfirmed", right: true, ink: inkIfNot0(yellow)}, {title: "cost", right: true},
	}}
	costs := d.costs()
	for i := range d.Sessions {
		s := &d.Sessions[i]
		skills, unconfirmed := 0, ""
		for _, a := range s.Agents {
			for _, k := range a.Skills {
				skills += k.ByModel + k.ByUser
			}
		}
		if s.Totals.Unconfirmed > 0 {
			unconfirmed = count(s.Totals.Unconfirmed)
		}
		g.add(shortID(s.ID), style.date(s.Start), Escape(strings.Replace(s.Client, "claude-code@", "", 1)), count(s.Calls), count(skills),
			count(s.Totals.Match), count(s.Totals.Divergent), count(s.Totals.Undetermined), unconfirmed, costs[i])
	}
	if err := g.write(b, style); err != nil {
		return err
	}
	b.WriteString("\n")
	style.block(b, "CHECKS", plural(len(d.Sessions), "session")+": "+d.Totals.text(style))
	shown := 0
	for i := range d.Sessions {
		s := &d.Sessions[i]
		shown = s.writeDivergences(b, style, shown, shortID(s.ID)+" ")
	}
	d.writeMore(b, style, shown)
	missing := missingInputs(d.Sessions)
	missing.write(b, style)
	// The newest of those with the most to look at.
	worst := &d.Sessions[0]
	for i := range d.Sessions {
		if s := &d.Sessions[i]; s.Totals.Divergent >= worst.Totals.Divergent {
			worst = s
		}
	}
	writeNext(b, style, []string{with("skilltrace replay "+style.name(worst.ID, worst.File, worst.InScope), style.Given)})
	return nil
}

// costs are those of the sessions, "" where nothing is priced.
func (d *ReplayDocument) costs() []string {
	amounts := make([]int64, len(d.Sessions))
	var total int64
	for i := range d.Sessions {
		if t := d.Sessions[i].Tokens; t != nil && t.CostMicroUSD != nil {
			amounts[i] = *t.CostMicroUSD
			total += amounts[i]
		}
	}
	shown, _ := moneyColumn(amounts, total)
	for i := range d.Sessions {
		if t := d.Sessions[i].Tokens; t == nil || t.CostMicroUSD == nil {
			shown[i] = ""
		}
	}
	return shown
}

func inkIfNot0(i ink) func(string) ink {
	return func(cell string) ink {
		if strings.TrimSpace(cell) == "0" {
			return ""
		}
		return i
	}
}

func (d *ReplayDocument) writeMore(b *strings.Builder, style Style, shown int) {
	if left := d.Totals.Divergent + d.Totals.Unconfirmed - shown; left > 0 {
		style.block(b, "", "and "+plural(left, "more divergence")+": --verbose shows all")
	}
}

// text is the tally: 38 match, 0 divergent, 1 undetermined.
func (t Totals) text(style Style) string {
	paint := func(i ink, n int, word string) string {
		text := count(n) + " " + word
		if n == 0 {
			return text
		}
		return style.paint(i, text)
	}
	out := paint(green, t.Match, "match") + ", " + paint(red, t.Divergent, "divergent") + ", " + paint(yellow, t.Undetermined, "undetermined")
	if t.Unconfirmed > 0 {
		out += ", " + paint(yellow, t.Unconfirmed, "unconfirmed") + " (the rules are not known to hold for this version)"
	}
	return out
}

// write writes the screen of one session.
func (s *ReplaySession) write(b *strings.Builder, style Style) error {
	s.writeHeader(b, style)
	b.WriteString("\n")
	s.writeSkills(b, style)
	if len(s.Agents) > 0 {
		if main := &s.Agents[0]; s.SubagentsOnly {
			style.block(b, "MAIN", "the log of the main loop was not read")
		} else {
			main.writeListings(b, style, s.recordsListings())
			main.writeCalls(b, style)
			main.writeContext(b, style)
		}
		s.writeAgents(b, style)
	}
	if s.Tokens != nil {
		b.WriteString("\n")
		if err := s.Tokens.write(b, style); err != nil {
			return err
		}
	}
	b.WriteString("\n")
	s.writeChecks(b, style)
	return nil
}

func (s *ReplaySession) writeHeader(b *strings.Builder, style Style) {
	parts := []string{"session " + shortID(s.ID)}
	if s.Client != "" {
		rules := "rules exact"
		switch {
		case s.Described != "":
			rules = "as described, never recorded"
		case !s.RulesExact:
			rules = "rules not exact"
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", Escape(strings.Replace(s.Client, "@", " ", 1)), rules))
	}
	if s.Model != "" {
		model := Escape(s.Model)
		if s.Window > 0 {
			model += ", " + window(s.Window)
		}
		parts = append(parts, model)
	}
	size := plural(s.Prompts, "prompt")
	if s.SlashCommands > 0 {
		size += ", " + plural(s.SlashCommands, "command")
	}
	parts = append(parts, size+", "+plural(s.Calls, "model call"))
	style.line(b, together(parts, style.width()))
	size = ": " + plural(s.Lines, "line")
	file := style.shortPath(s.File)
	if s.File == "-" {
		file = "standard input"
	}
	if !style.Verbose {
		file = truncateStart(file, style.width()-labelWidth-len(size))
	}
	style.block(b, "log", file+size+s.oddities())
	writeInputs(b, style, s.Inputs, s.Window)
	for i, text := range s.Assumptions {
		label := ""
		if i == 0 {
			label = "assumed"
		}
		style.block(b, label, Escape(text))
	}
}

// writeInputs writes a line for each input of a prediction. The window is in tokens, 0 if
// it is not known.
func writeInputs(b *strings.Builder, style Style, inputs []Input, window int64) {
	least := 0
	for _, in := range inputs {
		least = max(least, displayWidth(Escape(in.Name)))
	}
	for i, in := range inputs {
		label := ""
		if i == 0 {
			label = "inputs"
		}
		name := Escape(in.Name)
		name += strings.Repeat(" ", least+2-displayWidth(name))
		text := style.shortPaths(in.Source)
		if in.Name == windowInput && window > 0 {
			text = strings.TrimSuffix(plural(window, "token")+", "+text, ", ")
		}
		switch {
		case !in.Found:
			text = style.paint(yellow, "not known")
		case text == "":
			text = "given"
		case !style.Verbose && strings.ContainsAny(in.Source, `/\`):
			text = shortEach(text, style.width()-labelWidth-least-2-displayWidth(in.Note)-2)
		}
		if in.Note != "" {
			text += ": " + Escape(in.Note)
		}
		style.hang(b, label, name, text)
	}
}

// shortEach cuts paths from the front so that one fits into width, if that is not
// too little; several go on to the next line.
func shortEach(list string, width int) string {
	const least, several = 24, 36
	paths := strings.Split(list, ", ")
	width = max(least, width)
	if len(paths) > 1 {
		width = several
	}
	for i := range paths {
		paths[i] = truncateStart(paths[i], width)
	}
	return strings.Join(paths, ", ")
}

// windowInput is the name of the input whose value stands in the session.
const windowInput = "window"

// joinDots joins parts with middle dots.
func joinDots(parts []string) string { return strings.Join(parts, " · ") }

// window writes a number of tokens as clients do: 200k, 1M.
func window(tokens int64) string {
	switch {
	case tokens%1_000_000 == 0:
		return count(tokens/1_000_000) + "M"
	case tokens%1_000 == 0:
		return count(tokens/1_000) + "k"
	}
	return count(tokens)
}

// oddities names what was wrong with the lines of the log, "" if nothing.
func (s *ReplaySession) oddities() string {
	var parts []string
	if n := len(s.Defects); n > 0 {
		lost := 0
		for _, d := range s.Defects {
			if d.Lost {
				lost++
			}
		}
		first := s.Defects[0]
		parts = append(parts, fmt.Sprintf("%s, %s lost (line %d: %s)", plural(n, "defect"), count(lost), first.Line, Escape(first.Reason)))
	}
	if g := s.Graph; g != nil {
		for _, odd := range []struct {
			n         int
			one, many string
		}{
			{g.Dangling, "dangling parent", "dangling parents"},
			{g.Replayed, "replayed row", "replayed rows"},
			{g.OutOfOrder, "row before its parent", "rows before their parents"},
			{g.Copied, "row of another session", "rows of another session"},
		} {
			switch {
			case odd.n == 1:
				parts = append(parts, "1 "+odd.one)
			case odd.n > 1:
				parts = append(parts, count(odd.n)+" "+odd.many)
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " · " + joinDots(parts)
}

// recordsListings reports whether the log holds a listing of any agent.
func (s *ReplaySession) recordsListings() bool {
	return slices.ContainsFunc(s.Agents, func(a ReplayAgent) bool {
		return slices.ContainsFunc(a.Listings, func(l ListingSent) bool { return !l.Predicted })
	})
}

// writeListings writes what the agent was told; recorded says that listings of others
// are in the log.
func (a *ReplayAgent) writeListings(b *strings.Builder, style Style, recorded bool) {
	switch {
	case len(a.Listings) == 0 && a.ListingsUnrecorded && !recorded:
		style.block(b, "LISTING", "this client records none, and what the rules derive needs the skill files")
		return
	case len(a.Listings) == 0:
		style.block(b, "LISTING", "none in the log")
		return
	}
	first := &a.Listings[0]
	text := plural(first.Skills, "skill") + ", "
	switch {
	case first.Predicted:
		text = plural(first.Skills, "skill") + " of the files, " + plural(first.Chars, "char")
	case first.Budget > 0 && first.Size > 0:
		// As the client counts, which is also how the demand is counted.
		text += count(first.Size) + " of " + plural(first.Budget, "char")
	case first.Budget > 0:
		text += count(first.Chars) + " of " + plural(first.Budget, "char")
	default:
		text += plural(first.Chars, "char")
	}
	if first.Shown != nil {
		text += first.Shown.text()
	}
	switch {
	case first.Predicted:
		text += "; by the rules, as this client records no listing"
	case first.Line > 0:
		text += fmt.Sprintf("; line %d", first.Line)
	}
	style.block(b, "LISTING", text)
	if c := first.Shown; c != nil {
		for _, group := range []struct {
			label string
			names []string
		}{{"shortened", c.ShortenedNames}, {"name only", c.NameOnlyNames}, {"left out", c.AbsentNames}} {
			if len(group.names) > 0 {
				style.block(b, "", group.label+": "+listAll(escapeAll(group.names), style.limit(fewNames)))
			}
		}
	}
	if text := first.demand(style); text != "" {
		style.block(b, "", text)
	}
	if text := first.redundant(style); text != "" {
		style.block(b, "", text)
	}
	if again := a.again(style); len(again) > 0 {
		style.block(b, "", "sent again: "+joinFew(again, "; ", style.limit(fewLines)))
	}
}

// demand tells of a listing that is over its budget, or in a verbose style of any: by
// how much, and where the budget comes from.
func (l *ListingSent) demand(style Style) string {
	if l.Demand == 0 || l.Over == 0 && !style.Verbose {
		return ""
	}
	text := "untrimmed: "
	if l.DemandAtLeast {
		text += "at least "
	}
	text += plural(l.Demand, "character")
	if l.Budget > 0 {
		text += " for a budget of " + count(l.Budget)
		if l.BudgetSource != "" {
			text += " (" + Escape(l.BudgetSource) + ")"
		}
	}
	if l.Over > 0 {
		text += ", " + style.paint(yellow, "over by "+count(l.Over))
	}
	if l.DemandFrom == demandFiles {
		text += "; by the files read now"
	}
	return text
}

// demandFiles stands in DemandFrom where the files tell.
const demandFiles = "files"

// duplicateWords are the kinds of duplicates in the words of sentences.
var duplicateWords = map[string]string{
	string(skills.DuplicateExact): "exact", string(skills.DuplicateAlias): "alias", string(skills.DuplicatePrefixes): "two prefixes",
	string(skills.DuplicateCommand): "command and skill", string(skills.DuplicateName): "one name",
}

// redundant names the entries that say nothing new: 2 entries say nothing new: x twice
// (exact); y, plug:y (alias).
func (l *ListingSent) redundant(style Style) string {
	if l.Redundant == 0 {
		return ""
	}
	var parts []string
	for _, d := range l.Duplicates {
		var names []string
		for _, name := range d.Names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		text := listAll(escapeAll(names), style.limit(fewNames))
		if len(names) == 1 {
			text += " " + count(len(d.Names)) + "×"
		}
		kind, known := duplicateWords[d.Kind]
		if !known {
			kind = Escape(d.Kind)
		}
		if !d.SameText {
			kind += ", different texts"
		}
		parts = append(parts, text+" ("+kind+")")
	}
	verb := " entries say nothing new: "
	if l.Redundant == 1 {
		verb = " entry says nothing new: "
	}
	return style.paint(yellow, count(l.Redundant)+strings.TrimSuffix(verb, ": ")) + ": " + joinFew(whole(parts), "; ", style.limit(fewLines))
}

// whole keeps lines from breaking inside the parts.
func whole(parts []string) []string {
	out := make([]string, len(parts))
	for i, part := range parts {
		out[i] = strings.ReplaceAll(part, " ", noBreak)
	}
	return out
}

// again tells of the later listings, those alike in one part: all 21 after a
// compaction (lines 138, 183).
func (a *ReplayAgent) again(style Style) []string {
	var texts []string
	lines := map[string][]string{}
	for i := range a.Listings[1:] {
		l := &a.Listings[1+i]
		text := l.again(style)
		if _, ok := lines[text]; !ok {
			texts = append(texts, text)
		}
		lines[text] = append(lines[text], fmt.Sprint(l.Line))
	}
	for i, text := range texts {
		switch at := lines[text]; {
		case a.Listings[0].Predicted && len(at) > 1:
			texts[i] = text + fmt.Sprintf(" (%d times)", len(at))
		case a.Listings[0].Predicted:
		case len(at) == 1:
			texts[i] = text + " (line " + at[0] + ")"
		default:
			texts[i] = text + " (lines " + listAll(at, style.limit(fewLines)) + ")"
		}
	}
	return texts
}

// text says how many are described, shortened, named only or missing.
func (c *ShownCount) text() string {
	if c.Shortened+c.NameOnly+c.Absent == 0 {
		return ", all described"
	}
	parts := []string{count(c.Full) + " described"}
	for _, part := range []struct {
		n    int
		word string
	}{{c.Shortened, "shortened"}, {c.NameOnly, "by name only"}, {c.Absent, "left out"}} {
		if part.n > 0 {
			parts = append(parts, count(part.n)+" "+part.word)
		}
	}
	return ": " + strings.Join(parts, ", ")
}

// again describes a later listing: all 21 after a compaction.
func (l *ListingSent) again(style Style) string {
	text := "all " + count(l.Skills)
	if l.Partial {
		text = "+" + listAll(escapeAll(l.Names), style.limit(3))
	}
	switch replay.ListingCause(l.Cause) {
	case replay.CauseCompaction:
		text += " after a compaction"
	case replay.CauseResume:
		text += " on resume"
	case replay.CauseStart:
		text += " with a new process"
	case replay.CauseChange:
		text += " after a change"
	}
	if l.Abandoned {
		text += ", abandoned"
	}
	return text
}

func escapeAll(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = Escape(name)
		if name == "" || strings.TrimSpace(name) != name {
			out[i] = `"` + strings.ReplaceAll(out[i], " ", noBreak) + `"`
		}
	}
	return out
}

func (a *ReplayAgent) writeCalls(b *strings.Builder, style Style) {
	var names []string
	var byModel, byUser, refused, rejected, forked int
	for _, k := range a.Skills {
		n := k.ByModel + k.ByUser
		name := escapeAll([]string{k.Skill})[0]
		if n != 1 {
			name += noBreak + count(n) + "×"
		}
		names = append(names, name)
		byModel += k.ByModel
		byUser += k.ByUser
		refused += k.Refused
		rejected += k.Rejected
		forked += k.Forked
	}
	if len(names) == 0 {
		style.block(b, "CALLS", "no skill was called")
		return
	}
	tally := []string{"by model " + count(byModel), "by user " + count(byUser), "refused " + count(refused)}
	if rejected > 0 {
		tally = append(tally, "rejected by user "+count(rejected))
	}
	if forked > 0 {
		tally = append(tally, "in a fork "+count(forked))
	}
	style.block(b, "CALLS", listAll(names, style.limit(2*fewNames))+" · "+strings.Join(whole(tally), ", "))
	var bodies, notes int
	var refusals []string
	for _, k := range a.Skills {
		bodies += k.Bodies
		notes += k.Notes
		if k.Refused > 0 {
			name := escapeAll([]string{k.Skill})[0]
			if k.Refused > 1 {
				name += noBreak + count(k.Refused) + "×"
			}
			refusals = append(refusals, name)
		}
	}
	text := plural(bodies, "body")
	if notes > 0 {
		text += ", " + plural(notes, "note") + " in place of a body"
	}
	if len(refusals) > 0 {
		text += " · refused: " + listAll(refusals, style.limit(fewNames))
	}
	style.block(b, "", "injected: "+text)
}

// breaks are the indexes of the requests before which the compactions were, ascending.
func (a *ReplayAgent) breaks() []int {
	var out []int
	for _, c := range a.Compactions {
		at := min(max(c.CallsBefore, 0), len(a.Context))
		if n := len(out); n > 0 {
			at = max(at, out[n-1])
		}
		out = append(out, at)
	}
	return out
}

func (a *ReplayAgent) writeContext(b *strings.Builder, style Style) {
	if len(a.Context) == 0 && len(a.Compactions) == 0 {
		return
	}
	var values []int64
	top := int64(0)
	for _, c := range a.Context {
		values = append(values, c.Tokens)
		top = max(top, c.Tokens)
	}
	text := sparkline(values, a.breaks(), min(48, style.width()-labelWidth-28))
	if text != "" {
		text += " up to " + plural(top, "token")
	}
	if len(a.Compactions) == 0 {
		text += ", never compacted"
	} else {
		text += ", compacted " + times(len(a.Compactions))
	}
	if a.AbandonedCalls > 0 {
		text += ", " + plural(a.AbandonedCalls, "call") + " left behind by a rewind"
	}
	style.block(b, "CONTEXT", strings.TrimPrefix(text, ", "))
	for i := range a.Compactions {
		if limit := style.limit(fewLines); limit > 0 && i == limit {
			style.block(b, "", "and "+plural(len(a.Compactions)-limit, "more compaction"))
			break
		}
		style.block(b, "", a.Compactions[i].text(style))
	}
}

func (c *Compaction) text(style Style) string {
	text := fmt.Sprintf("line %d", c.Line)
	var how []string
	if c.Trigger != "" {
		how = append(how, Escape(c.Trigger))
	}
	if c.Partial != "" {
		how = append(how, "partial: "+strings.ReplaceAll(Escape(c.Partial), "_", " "))
	}
	if c.Before > 0 {
		size := window(c.Before)
		if c.After > 0 {
			size += " to " + window(c.After)
		}
		how = append(how, size+" tokens")
	}
	if len(how) > 0 {
		text += " (" + strings.Join(how, ", ") + ")"
	}
	var kept []string
	for _, k := range c.Kept {
		name := Escape(k.Skill)
		if k.Cut {
			name += " (cut)"
		}
		kept = append(kept, name)
	}
	switch {
	case c.Unrecorded && c.Version != "":
		return text + " version " + Escape(c.Version) + " does not record what it puts back"
	case c.Unrecorded:
		return text + " this client does not record what it puts back"
	case len(kept) == 0 && len(c.Dropped) == 0:
		text += " no skill to put back"
	case len(kept) == 0:
		text += " put nothing back"
	default:
		text += " kept " + listAll(kept, style.limit(fewNames))
	}
	if len(c.Dropped) > 0 {
		text += " · dropped " + listAll(escapeAll(c.Dropped), style.limit(fewNames))
	}
	if c.Reason != "" {
		text += ": " + Escape(c.Reason)
	}
	return text
}

func (s *ReplaySession) writeAgents(b *strings.Builder, style Style) {
	for i := 1; i < len(s.Agents); i++ {
		label := ""
		if i == 1 {
			label = "AGENTS"
		}
		if limit := style.limit(fewAgents); limit > 0 && i > limit {
			style.block(b, label, "and "+plural(len(s.Agents)-i, "more agent"))
			return
		}
		a := &s.Agents[i]
		text := shortID(a.Agent)
		if a.Type != "" {
			text += " (" + Escape(a.Type) + ")"
		}
		if a.OnBehalfOf != "" {
			text += " for " + Escape(a.OnBehalfOf)
		}
		text += ": " + plural(a.Calls, "model call")
		switch {
		case len(a.Listings) > 0:
			text += ", listing of " + plural(a.Listings[0].Skills, "skill")
		case !a.ListingsUnrecorded:
			text += ", no listing"
		}
		text += a.outcomes(style)
		if n := len(a.Compactions); n > 0 {
			text += ", compacted " + times(n)
		}
		style.block(b, label, text)
	}
}

// outcomes names the skills that an agent called, by what came of the calls.
func (a *ReplayAgent) outcomes(style Style) string {
	var called, refused, rejected []string
	for _, k := range a.Skills {
		name := escapeAll([]string{k.Skill})[0]
		if k.ByModel+k.ByUser > k.Refused+k.Rejected {
			called = append(called, name)
		}
		if k.Refused > 0 {
			refused = append(refused, name)
		}
		if k.Rejected > 0 {
			rejected = append(rejected, name)
		}
	}
	text := ""
	for _, group := range []struct {
		label string
		names []string
	}{{"called ", called}, {"refused: ", refused}, {"rejected by user: ", rejected}} {
		if len(group.names) > 0 {
			text += ", " + group.label + listAll(group.names, style.limit(fewNames))
		}
	}
	return text
}

// write writes the ledger. Amounts are rounded so that they add up.
func (t *TokensBlock) write(b *strings.Builder, style Style) error {
	label := style.paint(bold, "TOKENS")
	g := grid{indent: labelWidth, tight: style.width() < 100, columns: []column{
		{title: "layer"}, {title: "once", right: true, drop: lateDrop}, {title: "carried", right: true, drop: lateDrop}, {title: "read", right: true},
		{title: "write", right: true}, {title: "input", right: true}, {title: "output", right: true}, {title: "cost", right: true}, {title: "basis", drop: 2},
	}}
	besides := style.Verbose || style.width() >= DefaultWidth
	if !besides {
		g.indent = 2
	}
	costs, total := t.costs()
	basis := t.basis()
	for i, l := range t.Layers {
		cell := Escape(l.Basis)
		if len(basis) == 1 {
			cell = ""
		}
		g.add(Escape(l.Layer), some(l.Once), some(l.Carried), some(l.Tokens.CacheRead), some(l.Tokens.CacheWrite5m+l.Tokens.CacheWrite1h),
			some(l.Tokens.Input), some(l.Tokens.Output), costs[i], cell)
	}
	u := t.Usage
	g.add("all", "", "", some(u.CacheRead), some(u.CacheWrite5m+u.CacheWrite1h), some(u.Input), some(u.Output), total, "")
	var table strings.Builder
	if err := g.write(&table, style); err != nil {
		return err
	}
	switch {
	case style.markdown:
		b.WriteString(table.String())
	case besides:
		b.WriteString(label + strings.TrimPrefix(table.String(), strings.Repeat(" ", len("TOKENS"))))
	default:
		b.WriteString(label + "\n" + table.String())
	}
	var notes []string
	if last := g.columns[len(g.columns)-1]; last.title != "basis" && len(basis) > 0 {
		notes = append(notes, "basis: "+strings.Join(basis, "; "))
	}
	switch {
	case t.Unfinished == t.Calls:
		notes = append(notes, "the log holds the final usage of no call: output is too low")
	case t.Unfinished > 0:
		notes = append(notes, fmt.Sprintf("%s of %s without final usage: output is too low", count(t.Unfinished), plural(t.Calls, "call")))
	}
	notes = append(notes, escapeAll(t.Notes)...)
	if len(notes) > 0 {
		style.block(b, "", joinDots(notes))
	}
	return nil
}

// basis says on what the layers rest: one text for all, or one for each basis.
func (t *TokensBlock) basis() []string {
	var order []string
	layers := map[string][]string{}
	for _, l := range t.Layers {
		if l.Basis == "" {
			continue
		}
		if layers[l.Basis] == nil {
			order = append(order, l.Basis)
		}
		layers[l.Basis] = append(layers[l.Basis], Escape(l.Layer))
	}
	var out []string
	for _, name := range order {
		text := Escape(name)
		if len(order) > 1 {
			text += " " + strings.Join(layers[name], ", ")
		}
		out = append(out, text)
	}
	return out
}

// some is a number, or nothing for 0: a table of mostly zeros hides the others.
func some(n int64) string {
	if n == 0 {
		return ""
	}
	return count(n)
}

// costs writes the cost of each layer and of all; "?" where a price is unknown.
func (t *TokensBlock) costs() (rows []string, total string) {
	rows = make([]string, len(t.Layers))
	if t.CostMicroUSD == nil {
		return rows, "unpriced"
	}
	amounts := make([]int64, len(t.Layers))
	for i, l := range t.Layers {
		if l.CostMicroUSD != nil {
			amounts[i] = *l.CostMicroUSD
		}
	}
	rows, total = moneyColumn(amounts, *t.CostMicroUSD)
	for i, l := range t.Layers {
		switch {
		case l.CostMicroUSD == nil:
			rows[i] = "?"
		case *l.CostMicroUSD == 0:
			rows[i] = ""
		}
	}
	return rows, total
}

func (s *ReplaySession) writeChecks(b *strings.Builder, style Style) {
	if s.Totals == (Totals{}) {
		style.block(b, "CHECKS", s.nothingToCheck())
	} else {
		style.block(b, "CHECKS", s.Totals.text(style))
	}
	shown := s.writeDivergences(b, style, 0, "")
	one := ReplayDocument{Sessions: []ReplaySession{*s}, Totals: s.Totals}
	one.writeMore(b, style, shown)
	missing := missingInputs(one.Sessions)
	missing.write(b, style)
	if style.Verbose {
		s.writeVerbose(b, style)
	}

	name := style.name(s.ID, s.File, s.InScope)
	if !s.InScope && !style.Verbose && displayWidth(name) > longName {
		name = "LOG" // which the user has just typed
	}
	next := []string{"skilltrace timeline " + name}
	if s.Tokens != nil {
		next = append(next, with("skilltrace cost "+name+" --by skill", style.PricesFile))
	}
	if s.Totals.Divergent+s.Totals.Unconfirmed > 0 {
		if !style.Verbose {
			next = append(next, with("skilltrace replay "+name, style.Given, "--verbose"))
		}
	}
	if option := missing.option(s.found); option != "" {
		next = append(next, with("skilltrace replay "+name, style.Given, option))
	}
	if s.Client != "" && (!s.RulesExact || s.Totals.Divergent > 0) {
		next = append(next, with("skilltrace rules --client "+ShellWord(s.Client), style.RulesFile))
	}
	writeNext(b, style, next)
}

// longName is the width, in cells, of a path that is not repeated.
const longName = 40

// nothingToCheck says why no check was made.
func (s *ReplaySession) nothingToCheck() string {
	called, recorded, unrecorded := false, 0, false
	for i := range s.Agents {
		a := &s.Agents[i]
		called = called || slices.ContainsFunc(a.Skills, func(k SkillCalls) bool { return k.ByModel+k.ByUser > 0 })
		unrecorded = unrecorded || a.ListingsUnrecorded
		for _, l := range a.Listings {
			if !l.Predicted {
				recorded++
			}
		}
	}
	text := "nothing to check: no skill was called"
	if called {
		text = "nothing to check: no call of a skill can be judged"
	}
	switch {
	case recorded == 1:
		text += ", and the listing in the log cannot be judged"
	case recorded > 1:
		text += ", and the listings in the log cannot be judged"
	case unrecorded:
		text += ", and this client records no listing"
	default:
		text += ", and the log holds no listing"
	}
	return text
}

// found reports whether an input was found.
func (s *ReplaySession) found(name string) bool {
	for _, in := range s.Inputs {
		if in.Name == name && in.Found {
			return true
		}
	}
	return false
}

func writeNext(b *strings.Builder, style Style, next []string) {
	if style.markdown {
		return // a page does not ask for more
	}
	next[0] = "Next: " + next[0]
	for i, line := range wrapCommands(strings.Join(whole(next), noBreak+"· "), style.width()) {
		if i == 0 {
			line = strings.Replace(line, "Next:", style.paint(bold, "Next:"), 1)
		}
		b.WriteString(line + "\n")
	}
}

// writeDivergences lists the divergences of a session after those already shown,
// each with its evidence, and returns how many are shown now.
func (s *ReplaySession) writeDivergences(b *strings.Builder, style Style, shown int, prefix string) int {
	for ai := range s.Agents {
		a := &s.Agents[ai]
		for i := range a.Checks {
			c := &a.Checks[i]
			if c.Verdict != "divergent" {
				continue
			}
			if limit := style.limit(fewDivergences); limit > 0 && shown >= limit {
				return shown
			}
			shown++
			c.write(b, style, prefix, agentPrefix(a, ai))
		}
	}
	return shown
}

func agentPrefix(a *ReplayAgent, index int) string {
	if index == 0 {
		return ""
	}
	return "agent " + shortID(a.Agent) + " "
}

func (c *Check) write(b *strings.Builder, style Style, session, agent string) {
	head := session + agent
	if c.Line > 0 {
		head += fmt.Sprintf("line %d ", c.Line)
	}
	word := style.paint(red, Escape(c.Kind))
	if c.Unconfirmed {
		word = style.paint(yellow, Escape(c.Kind)+" (unconfirmed)")
	}
	head += word
	if c.Skill != "" {
		head += " " + Escape(c.Skill)
	}
	if c.Reason != "" {
		head += ": " + Escape(c.Reason)
	}
	if c.Rule != "" {
		head += " · rule " + Escape(c.Rule)
	}
	style.block(b, "", head)
	for _, line := range c.evidence(style) {
		style.exact(b, labelWidth+2, style.shorten(line, style.width()-labelWidth-2))
	}
}

// evidence is what was expected and observed: the difference, or the one of the
// two that there is.
func (c *Check) evidence(style Style) []string {
	switch {
	case c.Expected == nil && c.Observed == nil:
		return nil
	case c.Observed == nil:
		return []string{"expected, not in the log: " + quoted(*c.Expected)}
	case c.Expected == nil:
		return []string{"in the log, not expected: " + quoted(*c.Observed)}
	case style.Verbose:
		lines := []string{"expected " + quoted(*c.Expected), "observed " + quoted(*c.Observed)}
		if c.Diff != "" {
			lines = append(lines, "diff     "+Escape(c.Diff))
		}
		return lines
	}
	return []string{Escape(c.Diff)}
}

func quoted(t Text) string { return "“" + Escape(string(t)) + "”" }

// missing groups the undetermined checks by what is missing.
type missing []missingGroup

type missingGroup struct {
	gap
	n     int
	kinds map[string]int
	lines []string
}

// gap is something that checks lack.
type gap struct {
	needs  string // the thing; "" where the next two say it otherwise
	one    string // how "1 …" goes on
	many   string // how "2 …" goes on
	option string // that gives it, "" for none
	input  string // the name of the input that the option gives
}

func (g gap) text(n int) string {
	switch {
	case g.needs == "" && n == 1:
		return g.one
	case g.needs == "":
		return g.many
	case n == 1:
		return "needs " + g.needs
	}
	return "need " + g.needs
}

const needsOldFiles = "the skill files as they were, not as they are now"

// gaps are what a check can lack, by the words of the check.
var gaps = map[string]gap{
	"skill files":                           {needs: "the skill files", option: "--skills DIR", input: "skill files"},
	"the skill files as they were":          {needs: needsOldFiles, option: "--skills DIR", input: "skill files"},
	"agent file":                            {needs: "the files that define the agents"},
	"usage counts":                          {needs: "the usage counts", option: "--usage FILE", input: "usage counts"},
	"settings":                              {needs: "the settings", option: "--settings FILE", input: "settings"},
	"window":                                {needs: "the model's window", option: "--window N", input: "window"},
	"model":                                 {needs: "the model's window", option: "--window N", input: "window"},
	"whether the client had the Skill tool": {one: "depends on whether the client had the Skill tool", many: "depend on whether the client had the Skill tool"},
	"whether the client was restarted":      {one: "depends on whether the client was restarted", many: "depend on whether the client was restarted"},
	"directory order":                       {needs: "the order in which the file system gave the files"},
	"the lost records":                      {one: "depends on records of the log that are lost", many: "depend on records of the log that are lost"},
	"what led to it":                        {one: "has no cause that the log shows", many: "have no cause that the log shows"},
	"start of the process":                  {needs: "to know how the client was started"},
	"command output":                        {needs: "the output of a command, which is not in the log"},
	"the file watcher's moment":             {one: "depends on when the client noticed changed files", many: "depend on when the client noticed changed files"},
	"the order after a resume":              {one: "depends on an order that the log does not tell", many: "depend on an order that the log does not tell"},
}

// gap is what an undetermined check lacks.
func (c *Check) gap() gap {
	g, known := gaps[c.Missing]
	switch {
	case c.After > 0:
		text := fmt.Sprintf(" from the divergence at line %d", c.After)
		return gap{one: "follows" + text, many: "follow" + text}
	case known:
		return g
	case c.Missing != "":
		return gap{needs: Escape(c.Missing)}
	case c.Reason != "":
		return gap{one: "undetermined: " + Escape(c.Reason), many: "undetermined: " + Escape(c.Reason)}
	}
	return gap{one: "undetermined", many: "undetermined"}
}

func missingInputs(sessions []ReplaySession) missing {
	var groups missing
	at := map[string]int{}
	for si := range sessions {
		for ai := range sessions[si].Agents {
			a := &sessions[si].Agents[ai]
			for _, c := range a.Checks {
				if c.Verdict != "undetermined" {
					continue
				}
				g := c.gap()
				key := g.text(1)
				i, ok := at[key]
				if !ok {
					i = len(groups)
					at[key] = i
					groups = append(groups, missingGroup{gap: g, kinds: map[string]int{}})
				}
				groups[i].n++
				groups[i].kinds[c.Kind]++
				if c.Line > 0 {
					line := fmt.Sprint(c.Line)
					if ai > 0 {
						line = shortID(a.Agent) + ":" + line
					}
					if len(sessions) > 1 {
						line = shortID(sessions[si].ID) + ":" + line
					}
					groups[i].lines = append(groups[i].lines, line)
				}
			}
		}
	}
	sort.SliceStable(groups, func(i, j int) bool { return groups[i].n > groups[j].n })
	return groups
}

// write writes a line a group: 13 need the skill files (4 listings, 9 bodies), lines 12, 31.
func (m missing) write(b *strings.Builder, style Style) {
	for i, g := range m {
		if limit := style.limit(fewLines); limit > 0 && i == limit {
			style.block(b, "", "and "+plural(len(m)-limit, "more reason"))
			return
		}
		text := style.paint(yellow, count(g.n)) + " " + g.text(g.n) + " (" + g.what() + ")"
		switch {
		case len(g.lines) == 1:
			text += ", line " + g.lines[0]
		case len(g.lines) > 1:
			text += ", lines " + listAll(g.lines, style.limit(fewLines))
		}
		style.block(b, "", text)
	}
}

// what counts the checks of a group by kind: 1 listing, 4 bodies.
func (g *missingGroup) what() string {
	var parts []string
	for _, kind := range replay.CheckKinds {
		if n := g.kinds[string(kind)]; n > 0 {
			parts = append(parts, plural(n, kindWords[kind]))
		}
	}
	return strings.Join(parts, ", ")
}

// kindWords are the kinds of checks in the words of sentences.
var kindWords = map[replay.CheckKind]string{
	replay.CheckListing: "listing", replay.CheckRelist: "later listing", replay.CheckBody: "body", replay.CheckNote: "note",
	replay.CheckRefusal: "refusal", replay.CheckReattachment: "reattachment", replay.CheckInvariant: "name list",
}

// option is the option that gives the input that most checks lack. An input that
// was found is not asked for again.
func (m missing) option(found func(name string) bool) string {
	for _, g := range m {
		if g.option != "" && !found(g.input) {
			return g.option
		}
	}
	return ""
}

// writeVerbose adds what one screen leaves out: what the model saw at each prompt,
// why checks are undetermined one by one, damaged lines, records that nothing reads.
func (s *ReplaySession) writeVerbose(b *strings.Builder, style Style) {
	label := "SEEN"
	for ai := range s.Agents {
		a := &s.Agents[ai]
		for _, v := range a.Visibility {
			style.block(b, label, agentPrefix(a, ai)+v.text())
			label = ""
		}
	}
	label = "UNKNOWN"
	for ai := range s.Agents {
		a := &s.Agents[ai]
		for _, c := range a.Checks {
			if c.Verdict != "undetermined" || c.Reason == "" {
				continue
			}
			style.block(b, label, fmt.Sprintf("%sline %d %s: %s", agentPrefix(a, ai), c.Line, strings.TrimSpace(Escape(c.Kind)+" "+Escape(c.Skill)), Escape(c.Reason)))
			label = ""
		}
	}
	for i, d := range s.Defects {
		label := ""
		if i == 0 {
			label = "DEFECTS"
		}
		where := fmt.Sprintf("line %d", d.Line)
		if d.File != "" {
			where = style.shortPath(d.File) + ":" + fmt.Sprint(d.Line)
		}
		style.block(b, label, where+": "+Escape(d.Reason))
	}
	if len(s.Unknown) > 0 {
		var names []string
		for name, n := range s.Unknown {
			names = append(names, fmt.Sprintf("%s %s×", Escape(name), count(n)))
		}
		sort.Strings(names)
		style.block(b, "UNREAD", "records that nothing reads: "+strings.Join(names, ", "))
	}
}

// text names, for a prompt, the skills that the model did not see in full.
func (v *Visibility) text() string {
	text := fmt.Sprintf("prompt %d", v.Prompt)
	if v.Command != "" {
		text = "/" + Escape(strings.TrimPrefix(v.Command, "/"))
	}
	if v.Line > 0 {
		text += fmt.Sprintf(" (line %d)", v.Line)
	}
	groups := map[string][]string{}
	skills := 0
	for name, state := range v.Skills.All() {
		groups[string(state)] = append(groups[string(state)], Escape(name))
		skills++
	}
	for _, state := range []string{"full", "shortened", "name_only", "absent"} {
		names := groups[state]
		if len(names) == 0 {
			continue
		}
		sort.Strings(names)
		text += fmt.Sprintf(" · %s %s", count(len(names)), strings.ReplaceAll(state, "_", " "))
		if state != "full" {
			text += ": " + strings.Join(names, ", ")
		}
	}
	if skills == 0 {
		text += " · no skill"
	}
	if v.Predicted {
		text += " · by the rules"
	}
	if v.Abandoned {
		text += " · abandoned"
	}
	return text
}
