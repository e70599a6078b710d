package replay

import (
	"path"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// catalogue is what a process can list and call at one moment.
type catalogue struct {
	missing, reason string // the input without which nothing is known

	tree    skills.Tree
	problem []skills.Problem // what looks like a skill and is none
	list    []skills.Status
	entries []skills.Entry
	opts    skills.Options
	rules   *rules.Rules
	own     map[string]bool // names that files yield
	// orderUnknown: some entries stand in an order that no input tells.
	orderUnknown bool
	guessed      bool // so do commands
	in           *Inputs
}

type catalogueKey struct {
	files, process int
	version        string
	active, nested string
}

// foundKey says where and when a process of a version looks for skills.
type foundKey struct {
	files, process int
	version        string
}

// catalogue is the catalogue at the state's moment.
func (p *predictor) catalogue(s *State) *catalogue {
	if p.in.Files == nil {
		return &catalogue{missing: skillFiles, reason: "no skill files are known for this session"}
	}
	return p.catalogueOf(s, s.View)
}

func (p *predictor) catalogueOf(s *State, files int) *catalogue {
	proc := p.process(s)
	if proc == nil {
		return &catalogue{missing: "start of the process", reason: "how the client was started is not known"}
	}
	var nested []string
	for _, k := range s.Nested {
		nested = append(nested, k.Path)
	}
	index := s.Process
	if index < 0 || index >= len(p.in.Processes) {
		for i := range p.in.Processes {
			if &p.in.Processes[i] == proc {
				index = i
			}
		}
	}
	key := catalogueKey{files, index, p.rules.Version, strings.Join(s.Active, "\n"), strings.Join(nested, "\n")}
	if c := p.catalogues[key]; c != nil {
		return c
	}
	r := p.rules
	c := &catalogue{rules: r, in: p.in, own: map[string]bool{}, tree: p.in.Files.states[files].tree,
		opts: skills.Options{Discovery: r.Discovery, Text: r.Entry, Dialect: r.Front}}
	where := foundKey{files, index, r.Version}
	found, ok := p.in.found[where]
	if !ok {
		found = skills.Discover(c.tree, skills.Inputs{Home: proc.Home, ConfigDir: proc.ConfigDir, ManagedDir: proc.ManagedDir, CWD: proc.CWD,
			AddDirs: proc.AddDirs, PluginDirs: proc.Plugins, SkillDirs: proc.SkillDirs, CommandOrder: p.in.commandOrder, SkillOrder: p.in.skillOrder}, r.Discovery, r.Front)
		if p.in.found != nil {
			p.in.found[where] = found
		}
	}
	c.problem, c.guessed = found.Problems, found.Guessed
	settings := skills.Settings{Overrides: map[string]skills.Override{}, MaxText: proc.Settings.MaxDesc}
	for n, o := range proc.Settings.Overrides {
		settings.Overrides[n] = skills.Override(o)
	}
	for _, d := range proc.Settings.Deny {
		settings.SkillDenied = settings.SkillDenied || d == "Skill"
	}
	c.list = skills.Eligible(found, p.current(s, c.tree), s.Active, settings, c.opts)
	for i := range c.list {
		c.own[c.list[i].Skill.Name] = true
	}
	var given []skills.Given
	for _, g := range p.in.Given {
		if !c.own[g.Name] || g.Place == skills.PlaceBuiltin {
			given = append(given, g)
		}
	}
	c.entries = skills.Entries(c.list, given, settings, c.opts)
	if r.Discovery.Sort == skills.SortReaddir && !p.in.FolderOrder {
		listed := map[string]bool{}
		for _, name := range p.in.skillOrder {
			listed[name] = true
		}
		for _, e := range c.entries {
			c.orderUnknown = c.orderUnknown || e.Skill != nil && !listed[e.Name]
		}
	}
	p.catalogues[key] = c
	return c
}

// listedOrder is the order of names in a session's first listing. The order in which
// old clients walk folders is the file system's: an input.
func listedOrder(s *Session) (commands, names []string) {
	for i := range s.Main().Events {
		e := &s.Main().Events[i]
		if e.Kind != Listing {
			continue
		}
		for _, l := range skills.ParseListing(e.Listing.Content, e.Listing.Names) {
			names = append(names, l.Name)
			commands = append(commands, l.Name[strings.IndexByte(l.Name, ':')+1:], l.Name)
		}
		break
	}
	return commands, names
}

// current reads the nested skills again, as the tree is now.
func (p *predictor) current(s *State, tree skills.Tree) []*skills.Skill {
	var out []*skills.Skill
	proc := p.process(s)
	for _, k := range s.Nested {
		found, _ := skills.DiscoverNested(tree, proc.CWD, path.Join(path.Dir(path.Dir(path.Dir(k.Dir))), "x"), p.rules.Discovery, p.rules.Front)
		for _, f := range found {
			if f.Path == k.Path {
				out = append(out, f)
			}
		}
	}
	return out
}

// render makes the listing of the entries that want accepts.
func (p *predictor) render(s *State, c *catalogue, want func(name, mark string) bool) (text string, entries []ListedEntry, demand int, lacks string) {
	r := p.rules
	n := len(c.entries)
	if want != nil {
		n = 0 // mostly a few
	}
	chosen, lines := make([]*skills.Entry, 0, n), make([]budget.Line, 0, n)
	marks, digests := make([]string, 0, n), make([]string, 0, n)
	var counts map[string]UsageCount
	if p.in.Usage != nil {
		counts = p.in.Usage.At(s.Clock)
	}
	now := s.Clock.UnixMilli()
	for i := range c.entries {
		e := &c.entries[i]
		digest := e.Digest()
		mark := p.mark(e, digest)
		if want != nil && !want(e.Name, mark) {
			continue
		}
		marks, digests = append(marks, mark), append(digests, digest)
		lines = append(lines, c.line(e, counts, now))
		chosen = append(chosen, e)
	}
	if len(lines) == 0 {
		return "", nil, 0, ""
	}
	p.rendered(s, c)
	size, missing := p.budget(s)
	t := budget.Trim(lines, size, r.Size)
	if t.Over() && p.in.Usage == nil && (r.Size.Overflow == budget.OverflowGreedy || r.Size.Overflow == budget.OverflowStrip) {
		missing = "usage counts"
	}
	if !t.Over() {
		missing = ""
	}
	out := make([]ListedEntry, len(chosen))
	for i, e := range chosen {
		shown := Shown(t.Lines[i].Shown)
		if e.Text != e.Full && shown == ShownFull && e.Text != "" {
			shown = ShownShortened
		}
		if e.Text == "" {
			shown = ShownNameOnly
		}
		out[i] = ListedEntry{Name: e.Name, Label: e.Label, Text: shownText(t.Lines[i].Text, e.Label), Full: e.Full, Shown: shown, Capped: e.Text != "" && e.Text != e.Full, Digest: digests[i], Own: e.Skill != nil, mark: marks[i]}
	}
	return t.Text, out, t.Total, missing
}

// line is an entry before it is trimmed.
func (c *catalogue) line(e *skills.Entry, counts map[string]UsageCount, nowMS int64) budget.Line {
	l := EntryLine(c.rules, c.opts, e)
	if u, ok := counts[e.Name]; ok {
		l.Score = score(&c.rules.Size, u, nowMS)
	}
	return l
}

// EntryLine is an entry before it is trimmed, in the form of a client version. It ranks
// as one that was never used.
func EntryLine(r *rules.Rules, o skills.Options, e *skills.Entry) budget.Line {
	l := budget.Line{Full: e.Line(), Label: e.Label, Text: e.Text, Exempt: e.Exempt, Name: e.Name}
	l.Bare = l.Full[:len("- ")+len(e.Label)] // which it begins with
	switch {
	case r.Catalogue.Place == rules.PlaceToolXML && r.Catalogue.XMLBare:
		l.Full = e.BareElement()
	case r.Catalogue.Place == rules.PlaceToolXML:
		l.Full = e.Element(o, r.Catalogue.UserSource != "(user)")
	}
	return l
}

func shownText(line, label string) string {
	return strings.TrimPrefix(strings.TrimPrefix(line, "- "+label), ": ")
}

// budget is the size of a listing, and the input that it lacks.
func (p *predictor) budget(s *State) (size int, missing string) {
	size, _, missing = p.budgetFrom(s)
	return size, missing
}

// budgetFrom is budget with the words that say where the size comes from.
func (p *predictor) budgetFrom(s *State) (size int, source, missing string) {
	proc := p.process(s)
	in := budget.BudgetInputs{Env: proc.Env[budget.EnvCharBudget], Fraction: proc.Settings.Fraction, Window: int(proc.Window)}
	in.Model = p.model(proc)
	size, source = budget.ListingBudget(p.rules.Size, in)
	if in.Model == "" && in.Env == "" && p.rules.Size.Fixed == 0 {
		missing = "model"
	}
	return size, source, missing
}

// model is the resolved name of a process's model, with the suffix that widens
// its window.
func (p *predictor) model(proc *Process) string {
	if proc.Resolved == "" {
		return p.rules.Models.Resolve(proc.Model)
	}
	if strings.Contains(strings.ToLower(proc.Model), "[1m]") {
		return proc.Resolved + "[1m]"
	}
	return proc.Resolved
}

// effort is the model's default effort.
func (p *predictor) effort(proc *Process) string {
	const usual = "high"
	best, out := "", usual
	model := p.model(proc)
	for _, e := range p.rules.Models.Effort {
		prefix, effort, _ := strings.Cut(e, "=")
		if strings.HasPrefix(model, prefix) && len(prefix) > len(best) {
			best, out = prefix, effort
		}
	}
	return out
}

// activatedBy are the held-back skills that a touched file activates, by path.
func (c *catalogue) activatedBy(file, cwd string) []*skills.Skill {
	return c.activated(file, cwd, skills.Activates)
}

// activatedIn are those that entering a folder activates.
func (c *catalogue) activatedIn(dir, cwd string) []*skills.Skill {
	return c.activated(dir, cwd, skills.ActivatesFolder)
}

func (c *catalogue) activated(path, cwd string, by func(patterns []string, path, cwd string) bool) []*skills.Skill {
	var out []*skills.Skill
	for i := range c.list {
		st := &c.list[i]
		if st.Reason != skills.HeldBack {
			continue
		}
		if patterns := skills.Patterns(st.Skill, c.opts.Discovery, c.opts.Dialect); by(patterns, path, cwd) {
			out = append(out, st.Skill)
		}
	}
	return out
}

// unordered reports whether there are entries whose order no file tells: several
// commands, or any of the client's own.
func (c *catalogue) unordered() bool {
	n := 0
	for i := range c.entries {
		switch k := c.entries[i].Skill; {
		case k == nil:
			return true
		case k.InCommands:
			n++
		}
	}
	return n > 1
}

// anySent reports whether any entry was announced before.
func (c *catalogue) anySent(sent sentEntries) bool {
	for i := range c.entries {
		if sent.has(c.entries[i].Name) {
			return true
		}
	}
	return false
}

// nestedFor are the skills of the nested folders that a touched file brings in.
func (c *catalogue) nestedFor(file, cwd string) []*skills.Skill {
	found, _ := skills.DiscoverNested(c.tree, cwd, file, c.opts.Discovery, c.opts.Dialect)
	return found
}

// callable reports whether a skill can be called by the model at all. Commands
// that are left out of the listing are unknown to the tool too (forms asked of the
// client at 2.1.88, 2.1.89), those that stand apart from it are not.
func (c *catalogue) callable(st *skills.Status) bool {
	switch st.Reason {
	case skills.Listed, skills.Undescribed, skills.SkillToolDenied, skills.AngleName, skills.Disabled, skills.Overridden:
		return true
	case skills.CommandsUnseen:
		return c.opts.Discovery.Commands == skills.CommandsApart
	}
	return false
}

// called finds the skill that a name given to the Skill tool means. Disabled
// copies are passed over if another copy exists; held-back ones are unknown.
func (c *catalogue) called(name string, call *rules.Call) *skills.Status {
	type test func(*skills.Skill) bool
	folder := func(k *skills.Skill) bool { return k.Name == name }
	front := func(k *skills.Skill) bool {
		n, ok := k.Front.Name()
		if !ok || n == "" {
			return false
		}
		if k.Source == skills.Plugin {
			return n == name && !call.FullPluginNames || k.Plugin+":"+n == name // commands of plugins too (fuzz f014)
		}
		return k.Kind == skills.KindSkill && n == name
	}
	// The bare name of a plugin skill is that of its front matter, if it has one (a
	// call by the folder was refused at 2.1.260).
	bare := func(k *skills.Skill) bool {
		if k.Source != skills.Plugin || k.Kind != skills.KindSkill {
			return false
		}
		if n, ok := k.Front.Name(); ok && n != "" {
			return n == name
		}
		return strings.TrimPrefix(k.Name, k.Plugin+":") == name
	}
	tests := []test{folder, front, bare}
	if call.Resolution == rules.ResolveEither {
		tests = []test{func(k *skills.Skill) bool { return folder(k) || front(k) }, bare}
	}
	if call.FullPluginNames {
		tests = tests[:len(tests)-1]
	}
	var fallback *skills.Status
	for _, t := range tests {
		for i := range c.list {
			st := &c.list[i]
			if !c.callable(st) || !t(st.Skill) {
				continue
			}
			if st.Reason != skills.Disabled {
				return st
			}
			if fallback == nil {
				fallback = st
			}
		}
		if fallback != nil {
			return fallback
		}
	}
	return nil
}

// typed finds the skill that a typed command means: the first copy, disabled or not.
func (c *catalogue) typed(name string) *skills.Skill {
	for _, byFront := range []bool{false, true} {
		for i := range c.list {
			k := c.list[i].Skill
			switch c.list[i].Reason {
			case skills.SameFile, skills.CommandsUnseen, skills.NestedShadowed:
				if c.list[i].Reason == skills.SameFile || c.list[i].Reason == skills.CommandsUnseen && !c.callable(&c.list[i]) {
					continue
				}
			}
			n := k.Name
			if byFront {
				f, ok := k.Front.Name()
				if !ok || k.Kind != skills.KindSkill {
					continue
				}
				n = f
				if k.Source == skills.Plugin {
					n = k.Plugin + ":" + f
				}
			}
			if n == name {
				return k
			}
		}
	}
	return nil
}

// typedFork finds the skill of a typed fork, with its arguments. The client logs it
// by the name that the skill shows, which may hold blanks.
func (c *catalogue) typedFork(e *Event) (k *skills.Skill, args string, hasArgs bool) {
	if k := c.typed(e.Skill); k != nil {
		return k, e.Args, e.HasArgs
	}
	line := strings.TrimPrefix(e.Text, "/")
	const longest = 1000 // bytes of a name: a typed line can be of any length
	for at := 0; at < min(len(line), longest); at++ {
		if line[at] != ' ' {
			continue
		}
		if found := c.typed(line[:at]); found != nil {
			k, args, hasArgs = found, line[at+1:], true // the longest name
		}
	}
	if found := c.typed(line); found != nil {
		k, args, hasArgs = found, "", false
	}
	return k, args, hasArgs
}

// given reports whether a name is one of the client's own.
func (c *catalogue) given(name string) bool {
	if skills.PlaceOf(name, c.opts.Discovery) == skills.PlaceBuiltin {
		return true // built-in prompts, listed or not
	}
	for i := range c.entries {
		if c.entries[i].Skill == nil && c.entries[i].Name == name {
			return true
		}
	}
	return false
}

// unknown is the refusal of a name that nothing has.
func (c *catalogue) unknown(name string, call *rules.Call) string {
	if isBuiltinCommand(name) {
		if !call.BuiltinNamed {
			return toolError("Skill " + name + rules.NotPromptBased)
		}
		return toolError(name + rules.BuiltinCommand + rules.AskUserBefore + name + rules.AskUserAfter)
	}
	text := rules.UnknownSkill + name
	if call.DidYouMean {
		var known, plugins []string
		for i := range c.list {
			st := &c.list[i]
			if !c.callable(st) {
				continue
			}
			k := st.Skill
			if k.Source != skills.Plugin {
				known = append(known, displayName(k))
				continue
			}
			plugins = append(plugins, k.Name)
			if call.DidYouMeanFullName && strings.TrimPrefix(k.Name, k.Plugin+":") == name {
				return toolError(text + rules.DidYouMean + k.Name + "?" + rules.DidYouMeanFullName)
			}
		}
		for i := range c.entries {
			if c.entries[i].Skill == nil {
				known = append(known, c.entries[i].Name)
			}
		}
		if call.DidYouMeanPlugins {
			known = append(known, plugins...)
		}
		if best := suggest(name, append(known, builtinNames()...)); best != "" {
			text += rules.DidYouMean + best + "?"
		}
	}
	return toolError(text)
}

// displayName is the name that the client proposes: that of the front matter if
// there is one (fuzz f011, f034: an entry with another name is not proposed by its
// folder's).
func displayName(k *skills.Skill) string {
	if n, ok := k.Front.Name(); ok && n != "" && k.Kind == skills.KindSkill {
		return n
	}
	return k.Name
}

// refusal is why the client refuses a call of a name, with the rule; "" if it does not.
func (c *catalogue) refusal(name string, st *skills.Status, call *rules.Call) (text, rule string) {
	switch {
	case st == nil:
		return c.unknown(name, call), "call.did_you_mean"
	case st.Reason == skills.Overridden:
		return toolError("Skill " + name + rules.OverriddenSkill), "discovery.overrides"
	case disabled(st.Skill, &c.rules.Front) && call.DMIPhrase != "":
		return call.DMIPhrase, "call.dmi_phrase"
	case disabled(st.Skill, &c.rules.Front):
		return disabledText(name, call), "call.dmi_long"
	}
	return "", ""
}

// scopedNote names the nested variants of a skill that was called by its bare name.
func (c *catalogue) scopedNote(name string, k *skills.Skill) string {
	if !c.rules.Call.ScopedVariants || k.Source == skills.Nested {
		return ""
	}
	var lines []string
	for i := range c.list {
		st := &c.list[i]
		if v := st.Skill; st.Reason == skills.Listed && v.Source == skills.Nested && v.Folder == name && v.Name != name {
			lines = append(lines, "- `"+v.Name+"` — for files under "+v.Scope+"/")
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return rules.ScopedBefore + name + rules.ScopedMiddle + strings.Join(lines, "\n") + rules.ScopedAfter
}

// GivenIn are the entries of a whole listing that no file yields: the client's own.
// Names with a colon are never its own.
func GivenIn(lines []skills.ListedLine, own map[string]bool, d skills.Discovery) []skills.Given {
	out := []skills.Given{}
	for _, l := range lines {
		if l.Name != "" && !own[l.Name] && !strings.Contains(l.Name, ":") {
			out = append(out, skills.Given{Name: l.Name, Text: l.Text, Place: skills.PlaceOf(l.Name, d)})
		}
	}
	return out
}
