package replay

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/skills"
)

// Same says whether a predicted text equals a recorded one. Logs are compared
// byte for byte; a recording in which a vendor's text is replaced by filler
// brings its own.
type Same func(predicted, recorded string) bool

// Exactly is byte for byte.
func Exactly(predicted, recorded string) bool { return predicted == recorded }

// Comparison is how effects are judged.
type Comparison struct {
	Same Same // nil: Exactly
	// Exact: the files are those of the session, so that a text that differs is a
	// divergence. Otherwise a file may have changed since.
	Exact bool
	// RulesExact: the rules are known to hold for this client version.
	RulesExact bool
	// Assumed holds the keys of rules that a description leaves open: a refusal that
	// departs from one of them proves nothing.
	Assumed map[string]bool
	// Gaps: records of the session are lost, so that what they brought is not known.
	Gaps bool
	// History are records that are not judged: a copied history.
	History map[string]bool
}

// Compare judges an agent's predicted effects against those that the log shows,
// in the order of the log.
func Compare(a *Agent, predicted []Effect, ev *Evidence, cmp Comparison) []Check {
	if cmp.Same == nil {
		cmp.Same = Exactly
	}
	c := &comparer{Comparison: cmp, agent: a, ev: ev, broken: map[string]int{}, answered: answered(a.Events)}
	c.pair(predicted)
	c.listings(predicted)
	sort.SliceStable(c.found, func(i, j int) bool { return c.found[i].at < c.found[j].at })
	checks := make([]Check, len(c.found))
	for i := range c.found {
		checks[i] = c.found[i].Check
		c.settle(&checks[i])
	}
	return checks
}

type comparer struct {
	Comparison
	agent  *Agent
	ev     *Evidence
	found  []placed
	broken map[string]int // line of the first divergence, by what depends on it
	// answered says of each event whether a request followed it on its branch.
	answered []bool
}

// placed is a check with the index of the event at which it stands.
type placed struct {
	Check
	at int
}

func (c *comparer) add(at int, k CheckKind, v Verdict, ch Check) {
	ch.Kind, ch.Verdict, ch.Agent = k, v, c.agent.ID
	if ch.Where.File == "" {
		ch.Where = c.agent.Events[at].Where
	}
	c.found = append(c.found, placed{Check: ch, at: at})
}

// settle degrades what follows from an earlier divergence and what rests on rules
// that are not known to hold.
func (c *comparer) settle(ch *Check) {
	if ch.Verdict != Divergent {
		return
	}
	if c.Gaps && !c.Exact && ch.Kind != CheckRefusal && ch.Kind != CheckInvariant {
		ch.Verdict, ch.Missing = Undetermined, "the lost records"
		ch.Reason += "; records of this session are lost, and what they brought is not known"
		return
	}
	subject := ch.Skill
	switch ch.Kind {
	case CheckListing, CheckRelist, CheckInvariant:
		subject = "\x00listing"
	case CheckReattachment:
		subject = "\x00reattachment"
	}
	if line, ok := c.broken[subject]; ok && line != ch.Where.Line {
		ch.Verdict, ch.After = Undetermined, line
		ch.Missing = "an earlier divergence"
		ch.Reason = fmt.Sprintf("follows from the divergence at line %d", line)
		return
	}
	if _, ok := c.broken[subject]; !ok {
		c.broken[subject] = ch.Where.Line
	}
	if !c.RulesExact || ch.Kind == CheckRefusal && c.Assumed[ch.Rule] {
		ch.Unconfirmed = true
	}
}

// pair compares bodies, notes, refusals and reattachments, each tied to its cause.
func (c *comparer) pair(predicted []Effect) {
	type key struct {
		use   string
		cause int
	}
	want := map[key][]*Effect{}
	var keys []key
	add := func(k key) {
		if _, ok := want[k]; !ok {
			want[k] = nil
			keys = append(keys, k)
		}
	}
	for i := range predicted {
		e := &predicted[i]
		if e.Kind == Listing {
			continue
		}
		if e.Held != (Held{}) {
			c.held(e)
			continue
		}
		k := key{cause: e.Cause}
		if e.ToolUse != "" {
			k = key{use: e.ToolUse, cause: -1}
		}
		add(k)
		want[k] = append(want[k], e)
	}
	causes := map[int]int{} // event of what a typed command brought -> that command
	for cause, r := range c.ev.slashBody {
		causes[r.index] = cause
	}
	for cause, notes := range c.ev.slashNotes {
		for _, i := range notes {
			causes[i] = cause
		}
	}
	got := map[key][]int{}
	lastCompaction, start := -1, 0
	for i := range c.agent.Events {
		e := &c.agent.Events[i]
		switch e.Kind {
		case Compaction:
			lastCompaction = i
		case Start:
			start = i
		}
		if c.History[e.Where.UUID] {
			continue
		}
		var k key
		switch e.Kind {
		case Note, Refusal, Body:
			k = key{use: e.ToolUse, cause: -1}
			if e.ToolUse == "" {
				cause, ok := causes[i]
				if !ok {
					cause = start
				}
				k = key{cause: cause}
			}
		case Reattachment:
			k = key{cause: lastCompaction}
		default:
			continue
		}
		add(k)
		got[k] = append(got[k], i)
	}
	for _, k := range keys {
		c.pairOne(want[k], got[k])
	}
}

// pairOne compares the effects of one cause: in order, kind by kind.
func (c *comparer) pairOne(want []*Effect, got []int) {
	used := make([]bool, len(got))
	for _, w := range want {
		at := -1
		for j, i := range got {
			if !used[j] && c.agent.Events[i].Kind == w.Kind {
				used[j], at = true, i
				break
			}
		}
		if at < 0 {
			c.absent(w)
			continue
		}
		c.effect(w, at)
	}
	for j, i := range got {
		if !used[j] {
			c.surplus(i, len(want) == 0)
		}
	}
}

// effect compares one predicted effect with the event that shows it.
func (c *comparer) effect(w *Effect, at int) {
	e := &c.agent.Events[at]
	kind := kindOf(w.Kind)
	ch := Check{Skill: w.Skill, Rule: w.Rule}
	if w.Kind == Reattachment {
		c.reattachment(w, at)
		return
	}
	switch {
	case w.Kind == Body && e.Place != w.Place && !w.Given:
		ch.Rule, ch.Expected, ch.Observed = placeRule(w, e), w.Place.words(), e.Place.words()
		ch.Reason = "the body stands " + e.Place.words() + ", expected " + w.Place.words()
		c.add(at, kind, Divergent, ch)
	case w.Given:
	case w.Missing != "":
		ch.Missing, ch.Reason = w.Missing, w.Reason
		c.add(at, kind, Undetermined, ch)
	case w.Part && strings.Contains(e.Text, w.Text):
		c.add(at, kind, Match, ch)
	case c.Same(w.Text, e.Text):
		c.add(at, kind, Match, ch)
	default:
		ch.Expected, ch.Observed = w.Text, e.Text
		switch {
		case w.Kind == Body && !c.Exact && w.Soft == "":
			ch.Missing, ch.Reason = filesThen, "the file read now renders another text: it may have changed since the session"
		case w.Soft != "":
			ch.Missing, ch.Reason = w.Soft, cmp.Or(w.Reason, "the text differs, and the files read now need not be those of the session")
		}
		if ch.Missing != "" {
			c.add(at, kind, Undetermined, ch)
			return
		}
		ch.Reason = "the text differs"
		if w.Part {
			ch.Reason = "the text does not hold what is expected of it"
		}
		c.add(at, kind, Divergent, ch)
	}
}

// placeRule is the rule that says where a body stands.
func placeRule(w *Effect, e *Event) string {
	switch {
	case w.Place == PlaceSystem || e.Place == PlaceSystem || w.Rule == "call.fork_works":
		return "call.fork_body"
	case w.ToolUse == "":
		return "call.slash_record"
	}
	return "call.body_place"
}

// held notes the comparison of a number.
func (c *comparer) held(w *Effect) {
	ch := Check{Rule: w.Rule}
	if w.Held.OK {
		c.add(w.Cause, CheckInvariant, Match, ch)
		return
	}
	ch.Expected, ch.Observed, ch.Reason = w.Text, w.Held.Observed, "the client compacted by itself at another size"
	verdict := Divergent
	if w.Soft != "" {
		verdict, ch.Missing = Undetermined, w.Soft
	}
	c.add(w.Cause, CheckInvariant, verdict, ch)
}

// absent is a predicted effect that the log does not show although the
// conversation went on.
func (c *comparer) absent(w *Effect) {
	if w.Missing != "" || w.Given || w.Unlogged || !c.answered[w.Cause] {
		return
	}
	e := &c.agent.Events[w.Cause]
	if w.Proof != "" {
		c.add(w.Cause, kindOf(w.Kind), Divergent, Check{Where: e.Where, Skill: w.Skill, Rule: w.Rule, Expected: w.Text, Reason: w.Proof})
		return
	}
	ch := Check{Where: e.Where, Skill: w.Skill, Rule: w.Rule, Expected: w.Text, Reason: "expected, but not in the log"}
	if w.Kind == Reattachment {
		ch.Expected = reattachmentText(w.Skills)
	}
	if w.Soft != "" && w.Kind != Reattachment || w.Kind == Body && !c.Exact {
		ch.Missing = filesThen
		c.add(w.Cause, kindOf(w.Kind), Undetermined, ch)
		return
	}
	c.add(w.Cause, kindOf(w.Kind), Divergent, ch)
}

// surplus is an effect that nothing predicts. With no prediction at all for its
// cause, the input is one that was not understood.
func (c *comparer) surplus(at int, alone bool) {
	e := &c.agent.Events[at]
	ch := Check{Skill: e.Skill, Observed: e.Text, Reason: "nothing in the inputs leads to it"}
	if e.Kind == Reattachment {
		ch.Observed = invokedText(e.Skills)
	}
	switch {
	case c.Exact:
	case alone:
		ch.Missing = "what led to it"
	case e.Kind == Note:
		ch.Missing = filesThen // of a note on other skills, which are not here now
	}
	if ch.Missing != "" {
		c.add(at, kindOf(e.Kind), Undetermined, ch)
		return
	}
	c.add(at, kindOf(e.Kind), Divergent, ch)
}

// answered says of each event whether a request followed it on its branch.
func answered(events []Event) []bool {
	out := make([]bool, len(events))
	for i := len(events) - 1; i >= 0; i-- {
		if p := events[i].Parent; p >= 0 && (out[i] || events[i].Kind == Turn) {
			out[p] = true
		}
	}
	return out
}

// follows reports whether an event stands behind a cause on its branch.
func (c *comparer) follows(cause, i int) bool {
	for i > cause {
		i = c.agent.Events[i].Parent
	}
	return i == cause
}

func kindOf(k EventKind) CheckKind {
	switch k {
	case Note:
		return CheckNote
	case Refusal:
		return CheckRefusal
	case Reattachment:
		return CheckReattachment
	case Listing:
		return CheckListing
	}
	return CheckBody
}

func (c *comparer) reattachment(w *Effect, at int) {
	e := &c.agent.Events[at]
	ch := Check{Rule: w.Rule}
	if w.Missing != "" {
		ch.Missing, ch.Reason = w.Missing, w.Reason
		c.add(at, CheckReattachment, Undetermined, ch)
		return
	}
	same := len(w.Skills) == len(e.Skills)
	for i := 0; same && i < len(w.Skills); i++ {
		x, y := w.Skills[i], e.Skills[i]
		same = x.Name == y.Name && (x.Path == y.Path || x.Path == "") && c.Same(x.Content, y.Content)
	}
	if same {
		c.add(at, CheckReattachment, Match, ch)
		return
	}
	if w.AnyOrder && sameSet(w.Skills, e.Skills, c.Same) {
		c.add(at, CheckReattachment, Match, ch)
		return
	}
	ch.Expected, ch.Observed = reattachmentText(w.Skills), invokedText(e.Skills)
	ch.Reason = "other bodies were put back"
	if w.OrderUnknown && sameSet(w.Skills, e.Skills, c.Same) {
		ch.Missing, ch.Reason = orderAfterResume, "this client restores the skills of a resumed session in an order that the log does not tell"
		c.add(at, CheckReattachment, Undetermined, ch)
		return
	}
	verdict := Divergent
	if w.Soft != "" {
		verdict, ch.Missing = Undetermined, w.Soft
	}
	c.add(at, CheckReattachment, verdict, ch)
}

func sameSet(want []ReattachedSkill, got []jsonl.InvokedSkill, same Same) bool {
	return inAnyOrder(len(want), len(got), func(i, j int) bool {
		w, g := &want[i], &got[j]
		return w.Name == g.Name && (w.Path == "" || w.Path == g.Path) && same(w.Content, g.Content)
	})
}

// inAnyOrder reports whether each of n things has one of m of its own that is the same.
func inAnyOrder(n, m int, same func(i, j int) bool) bool {
	if n != m {
		return false
	}
	used := make([]bool, m)
next:
	for i := range n {
		for j := range m {
			if !used[j] && same(i, j) {
				used[j] = true
				continue next
			}
		}
		return false
	}
	return true
}

func reattachmentText(list []ReattachedSkill) string {
	var b strings.Builder
	for _, s := range list {
		name := s.Name
		if s.Path != "" {
			name += " (" + s.Path + ")"
		}
		fmt.Fprintf(&b, "### %s\n%s\n", name, s.Content)
	}
	return b.String()
}

func invokedText(list []jsonl.InvokedSkill) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "### %s (%s)\n%s\n", s.Name, s.Path, s.Content)
	}
	return b.String()
}

// listings compares the catalogues: each one that the log shows with the oldest
// prediction that is still open, and reports those that did not come before the
// next request.
func (c *comparer) listings(predicted []Effect) {
	byCause := map[int][]*Effect{}
	for i := range predicted {
		if e := &predicted[i]; e.Kind == Listing {
			byCause[e.Cause] = append(byCause[e.Cause], e)
		}
	}
	judged, noFiles := map[Place]bool{"": true}, false
	for i := range predicted {
		if predicted[i].Kind == Listing {
			judged[predicted[i].Place] = true
			noFiles = noFiles || predicted[i].Missing == skillFiles
		}
	}
	var open []*Effect
	first := true
	kind := func() CheckKind {
		if first {
			first = false
			return CheckListing
		}
		return CheckRelist
	}
	listed := false   // a listing of this agent came before
	fleeting := false // one of open is
	flush := func(turn int) {
		var rest []*Effect
		for _, w := range open {
			if !c.follows(w.Cause, turn) {
				if c.answered[w.Cause] {
					rest = append(rest, w) // on another branch, which goes on later
				}
				continue
			}
			if w.Missing != "" || w.Unlogged || w.Proof != "" {
				continue
			}
			ch := Check{Rule: w.Rule, Expected: w.Text, Reason: "a listing was due, but is not in the log"}
			verdict := Divergent
			switch {
			case c.Exact:
			case !listed:
				verdict, ch.Missing = Undetermined, "whether the client had the Skill tool"
			case !w.Initial:
				verdict, ch.Missing = Undetermined, filesThen
			}
			c.add(w.Cause, kind(), verdict, ch)
		}
		open = rest
	}
	for i := range c.agent.Events {
		e := &c.agent.Events[i]
		switch e.Kind {
		case Start:
			first = true
		case Turn:
			flush(i)
		case Compaction:
			if fleeting {
				open = slices.DeleteFunc(open, func(w *Effect) bool { return w.Fleeting })
				fleeting = false
			}
		case Listing:
			if c.History[e.Where.UUID] || !judged[e.Place] {
				continue // a list in a prompt of a client that lists elsewhere is no catalogue of its own
			}
			var w *Effect
			if j := slices.IndexFunc(open, func(w *Effect) bool { return c.follows(w.Cause, i) }); j >= 0 {
				w = open[j]
				open = slices.Delete(open, j, j+1)
			}
			c.listing(w, i, kind(), !listed, noFiles)
			listed = true
		}
		open = append(open, byCause[i]...)
		for _, w := range byCause[i] {
			fleeting = fleeting || w.Fleeting
		}
	}
}

// listing compares one catalogue; first says that it is the agent's first, and noFiles
// that no skill files are known.
func (c *comparer) listing(w *Effect, at int, kind CheckKind, first, noFiles bool) {
	e := &c.agent.Events[at]
	a := e.Listing
	lines := skills.ParseListing(a.Content, a.Names)
	if w == nil || w.Missing != "" {
		ch := Check{Observed: a.Content}
		verdict := Undetermined
		switch {
		case w != nil:
			ch.Missing, ch.Reason, ch.Rule = w.Missing, w.Reason, w.Rule
		case c.Exact:
			ch.Reason, verdict = "nothing in the inputs leads to a listing here", Divergent
		default:
			ch.Missing, ch.Reason = c.unpredicted(at, first, noFiles)
		}
		c.add(at, kind, verdict, ch)
		c.consistent(a, lines, at)
		return
	}
	ch := Check{Rule: w.Rule}
	if w.Proof != "" {
		ch.Observed, ch.Reason = a.Content, w.Proof
		c.add(at, kind, Divergent, ch)
		return
	}
	if !c.Exact && w.Soft == "" && ownless(w) {
		ch.Missing, ch.Reason = skillFiles, "no file read now yields any of its entries"
		c.add(at, kind, Undetermined, ch)
		c.consistent(a, lines, at)
		return
	}
	switch {
	case c.Same(w.Text, a.Content) && (!a.HasInitial || a.Initial == w.Initial) && (w.Soft == "" || sameDigests(w, a)):
		c.add(at, kind, Match, ch)
	default:
		ch.Expected, ch.Observed = w.Text, a.Content
		ch.Reason = listingDifference(w, lines, a)
		verdict := Divergent
		switch {
		case w.OrderUnknown && sameLines(w, lines, c.Same):
			verdict, ch.Missing = Undetermined, "directory order"
			ch.Reason = "the same entries in another order: this client lists them as the file system gives them"
		case w.Soft != "":
			verdict, ch.Missing = Undetermined, w.Soft
			if w.Soft == watcherMoment {
				ch.Reason = "files changed just before, and when the client noticed is not in the log: " + ch.Reason
			}
		case !c.Exact:
			verdict, ch.Missing = Undetermined, filesThen
		}
		c.add(at, kind, verdict, ch)
		if verdict == Undetermined && (!c.Exact || !w.OrderUnknown) {
			c.consistent(a, lines, at)
			return
		}
	}
	c.invariant(w, a, at)
}

// ownless reports whether a listing was predicted from no skill file at all, so
// that it is the log's own.
func ownless(w *Effect) bool {
	return len(w.Entries) > 0 && !slices.ContainsFunc(w.Entries, func(l ListedEntry) bool { return l.Own })
}

// sameLines reports whether a listing holds the predicted lines in any order.
func sameLines(w *Effect, got []skills.ListedLine, same Same) bool {
	want := skills.ParseListing(w.Text, nil)
	return inAnyOrder(len(want), len(got), func(i, j int) bool { return same(want[i].Raw, got[j].Raw) })
}

// invariant compares names, count and digests with the prediction.
func (c *comparer) invariant(w *Effect, a *jsonl.Attachment, at int) {
	ch := Check{Rule: "catalogue.names"}
	var names, digests []string
	for _, l := range w.Entries {
		names = append(names, l.Name)
		digests = append(digests, l.Digest)
	}
	var faults []string
	if a.HasCount && a.Count != len(names) {
		faults = append(faults, fmt.Sprintf("skillCount %d, expected %d", a.Count, len(names)))
	}
	if a.HasNames && !equalStrings(names, a.Names) {
		faults = append(faults, "names: "+firstDifference(names, a.Names))
	}
	if a.HasDigests {
		if len(digests) != len(a.Digests) {
			faults = append(faults, fmt.Sprintf("%d digests, expected %d", len(a.Digests), len(digests)))
		} else {
			for i, d := range digests {
				if w.Entries[i].Own && d != a.Digests[i] {
					faults = append(faults, fmt.Sprintf("digest of %s: %s, expected %s", names[i], a.Digests[i], d))
				}
			}
		}
	}
	if len(faults) == 0 {
		c.add(at, CheckInvariant, Match, ch)
		return
	}
	ch.Observed, ch.Reason = strings.Join(faults, "; "), "names, count or digests do not fit the listing"
	verdict := Divergent
	switch {
	case w.OrderUnknown && len(names) == len(a.Names) && sameNames(names, a.Names):
		verdict, ch.Missing = Undetermined, "directory order"
	case w.Soft != "":
		verdict, ch.Missing = Undetermined, w.Soft
	case !c.Exact:
		verdict, ch.Missing = Undetermined, filesThen
	}
	c.add(at, CheckInvariant, verdict, ch)
}

// consistent checks an attachment against itself, where no prediction is at hand.
func (c *comparer) consistent(a *jsonl.Attachment, lines []skills.ListedLine, at int) {
	if len(a.Names) == 0 {
		return // there is nothing to compare, or somebody trimmed the log
	}
	ch := Check{Rule: "catalogue.names"}
	var faults []string
	if a.HasCount && a.Count != len(a.Names) {
		faults = append(faults, fmt.Sprintf("skillCount %d for %d names", a.Count, len(a.Names)))
	}
	if len(lines) != len(a.Names) {
		faults = append(faults, fmt.Sprintf("%d lines for %d names", len(lines), len(a.Names)))
	}
	if a.HasDigests && len(a.Digests) != len(a.Names) {
		faults = append(faults, fmt.Sprintf("%d digests for %d names", len(a.Digests), len(a.Names)))
	}
	if len(faults) == 0 {
		c.add(at, CheckInvariant, Match, ch)
		return
	}
	ch.Observed, ch.Reason = strings.Join(faults, "; "), "the attachment does not fit itself"
	c.add(at, CheckInvariant, Divergent, ch)
}

// listingDifference says in words how two listings differ.
func listingDifference(w *Effect, lines []skills.ListedLine, a *jsonl.Attachment) string {
	if a.HasInitial && a.Initial != w.Initial {
		if a.Initial {
			return "sent as a whole, expected only what is new"
		}
		return "sent as an addition, expected the whole"
	}
	want := map[string]ListedEntry{}
	var names, got []string
	for _, l := range w.Entries {
		want[l.Name] = l
		names = append(names, l.Name)
	}
	var extra, texts []string
	seen := map[string]bool{}
	for _, l := range lines {
		seen[l.Name] = true
		got = append(got, l.Name)
		x, ok := want[l.Name]
		switch {
		case !ok:
			extra = append(extra, l.Name)
		case x.Text != l.Text && x.Own:
			texts = append(texts, l.Name)
		}
	}
	var missing []string
	for _, n := range names {
		if !seen[n] {
			missing = append(missing, n)
		}
	}
	var parts []string
	if len(missing) > 0 {
		parts = append(parts, "not listed: "+some(missing))
	}
	if len(extra) > 0 {
		parts = append(parts, "listed, not expected: "+some(extra))
	}
	if len(texts) > 0 {
		parts = append(parts, "other text: "+some(texts))
	}
	if len(parts) == 0 && !equalStrings(names, got) {
		parts = append(parts, "another order: "+firstDifference(names, got))
	}
	if len(parts) == 0 {
		return "the text differs"
	}
	return strings.Join(parts, "; ")
}

func some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func equalStrings(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func sameNames(a, b []string) bool {
	return equalStrings(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func firstDifference(want, got []string) string {
	for i := range want {
		if i >= len(got) {
			return fmt.Sprintf("%q missing at %d", want[i], i+1)
		}
		if want[i] != got[i] {
			return fmt.Sprintf("%q at %d, expected %q", got[i], i+1, want[i])
		}
	}
	if len(got) > len(want) {
		return fmt.Sprintf("%q too many at %d", got[len(want)], len(want)+1)
	}
	return ""
}
