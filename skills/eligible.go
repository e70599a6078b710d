package skills

import (
	"path"
	"strings"

	"github.com/skilltrace/skilltrace/skills/frontmatter"
	"github.com/skilltrace/skilltrace/skills/glob"
)

// Options are the rules of one client version that decide what is listed and
// with what text.
type Options struct {
	Discovery Discovery
	Text      EntryText
	Dialect   frontmatter.Dialect
}

// Settings are the user's settings that bear on the listing.
type Settings struct {
	// Overrides is skillOverrides.
	Overrides map[string]Override
	// SkillDenied: permissions deny the tool Skill itself. Denying Skill(name)
	// never changes the listing (recorded, 2.1.20 to 2.1.332).
	SkillDenied bool
	// MaxText is skillListingMaxDescChars in UTF-16 code units; 0 if unset.
	MaxText int
}

// Override is one value of skillOverrides.
type Override string

// The overrides.
const (
	OverrideOn       Override = "on"
	OverrideNameOnly Override = "name-only"
	OverrideUserOnly Override = "user-invocable-only"
	OverrideOff      Override = "off"
)

// Reason is why a skill is not listed.
type Reason string

// The reasons. The empty one means that the skill is listed.
const (
	Listed          Reason = ""
	SameFile        Reason = "same-file"       // Detail: the path by which the file was found first
	Disabled        Reason = "disabled"        // disable-model-invocation
	HeldBack        Reason = "held-back"       // Detail: its patterns; no matching file was touched yet
	SameName        Reason = "same-name"       // Detail: the path of the skill that has the name
	Undescribed     Reason = "undescribed"     // neither description nor when_to_use
	AngleName       Reason = "angle-name"      // < or > in the name
	Overridden      Reason = "overridden"      // Detail: the override
	SkillToolDenied Reason = "skill-denied"    // the tool is denied, nothing is listed
	CommandsUnseen  Reason = "commands-unseen" // this version does not list commands
	NestedShadowed  Reason = "nested-shadowed" // Detail: the path of the skill that has the name
)

// Status says of one skill whether it is listed.
type Status struct {
	Skill  *Skill
	Reason Reason
	Detail string
	// NameOnly: listed as a bare name, by override.
	NameOnly bool
	// Activated is the rank, from 1, among the skills that came in during the
	// session: nested ones and those with paths that a touched file matched.
	// 0 for skills there from the start.
	Activated int
}

// Eligible applies the filters of one version to what was found. Nested are the
// skills of nested folders known by now; active are the paths (Skill.Path) of
// what came in during the session, in the order in which it came in: nested
// skills and activated skills with paths. Nested ones that are not among them
// came in before the others. The result has one Status per skill, in listing
// order: found.Skills, then nested.
//
// Nested skills are named here: from 2.1.178 one whose name is taken is called
// DIR:name; before, it is left out.
func Eligible(found Found, nested []*Skill, active []string, s Settings, o Options) []Status {
	list := make([]Status, 0, len(found.Skills)+len(nested))
	rank := map[string]int{}
	for i, p := range active {
		if rank[p] == 0 {
			rank[p] = len(nested) + i + 1
		}
	}
	taken := make(map[string]*Skill, len(found.Skills))
	for _, sk := range found.Skills {
		st := Status{Skill: sk, Activated: rank[sk.Path]}
		if first := taken[sk.Name]; o.Discovery.AddDirScoped && sk.Source == AddDir && sk.Kind == KindSkill && first != nil && first.RealPath != sk.RealPath {
			scoped := *sk
			scoped.Source, scoped.Scope = Nested, path.Base(path.Dir(path.Dir(path.Dir(sk.Dir))))
			scoped.Name = scoped.Scope + ":" + sk.Name
			st.Skill = &scoped
			if len(Patterns(sk, o.Discovery, o.Dialect)) == 0 {
				st.Activated = 1
			}
		}
		list = append(list, st)
		if taken[sk.Name] == nil {
			taken[sk.Name] = sk
		}
	}
	for i, sk := range nested {
		st := Status{Skill: sk, Activated: i + 1}
		if n := rank[sk.Path]; n > 0 {
			st.Activated = n
		}
		if first := taken[sk.Name]; first != nil && first.Path != sk.Path {
			if o.Text.NestedSuffix {
				scoped := *sk
				scoped.Name = sk.Scope + ":" + sk.Name
				st.Skill = &scoped
			} else {
				st.Reason, st.Detail = NestedShadowed, first.Path
			}
		} else {
			taken[sk.Name] = sk
		}
		list = append(list, st)
	}
	o.dropSameFiles(list)
	if o.Discovery.ProjectWins {
		dropBelowProject(list)
	}
	for i := range list {
		if list[i].Reason == Listed {
			o.judge(&list[i])
		}
	}
	if o.Discovery.NameOnce {
		dropSameNames(list)
	}
	for i := range list {
		if list[i].Reason == Listed {
			o.override(&list[i], s)
		}
	}
	return list
}

// dropSameFiles leaves only the first of several paths that lead to one file.
// Skills of plugins are not compared.
func (o Options) dropSameFiles(list []Status) {
	if !o.Discovery.RealFileOnce {
		return
	}
	first := make(map[string]string, len(list))
	for i := range list {
		sk := list[i].Skill
		if sk.Source == Plugin || list[i].Reason != Listed {
			continue
		}
		if p, ok := first[sk.RealPath]; ok {
			list[i].Reason, list[i].Detail = SameFile, p
			continue
		}
		first[sk.RealPath] = sk.Path
	}
}

// judge applies what depends on the skill alone.
func (o Options) judge(st *Status) {
	sk := st.Skill
	switch patterns := Patterns(sk, o.Discovery, o.Dialect); {
	case sk.Kind == KindCommand && (o.Discovery.Commands == CommandsApart || o.Discovery.Commands == CommandsOmitted && sk.Source != Plugin),
		sk.InCommands && o.Discovery.Commands == CommandsOmitted && sk.Source != Plugin:
		st.Reason = CommandsUnseen
	case sk.Front.Flag("disable-model-invocation", o.Dialect):
		st.Reason = Disabled
	case len(patterns) > 0 && st.Activated == 0:
		st.Reason, st.Detail = HeldBack, strings.Join(patterns, ", ")
	case o.Discovery.DropAngles && sk.Source != Plugin && strings.ContainsAny(sk.Name, "<>"):
		st.Reason = AngleName
	case (sk.Source == Plugin || sk.Kind == KindSkill && !o.Discovery.Undescribed || sk.Kind == KindCommand && o.Discovery.DescribedCommands) && !o.described(sk):
		st.Reason = Undescribed
	}
}

// dropBelowProject leaves of the skills of one name only the project's, if it has
// one: a project can so take a skill away, too.
func dropBelowProject(list []Status) {
	ofProject := map[string]string{}
	for i := range list {
		if sk := list[i].Skill; sk.Source == Project && list[i].Reason == Listed {
			ofProject[sk.Name] = sk.Path
		}
	}
	for i := range list {
		sk := list[i].Skill
		if p, ok := ofProject[sk.Name]; ok && sk.Source != Project && list[i].Reason == Listed {
			list[i].Reason, list[i].Detail = SameName, p
		}
	}
}

// dropSameNames leaves only the first of several own skills of one name. What
// is disabled or held back is out by now and shadows nothing.
func dropSameNames(list []Status) {
	first := make(map[string]string, len(list))
	for i := range list {
		sk := list[i].Skill
		if sk.Source == Plugin || list[i].Reason != Listed && list[i].Reason != AngleName && list[i].Reason != Undescribed {
			continue
		}
		if p, ok := first[sk.Name]; ok {
			list[i].Reason, list[i].Detail = SameName, p
			continue
		}
		first[sk.Name] = sk.Path
	}
}

// override applies the user's settings.
func (o Options) override(st *Status, s Settings) {
	if s.SkillDenied {
		st.Reason = SkillToolDenied
		return
	}
	if st.Skill.Source == Plugin {
		return
	}
	gone, bare := o.overridden(st.Skill.Name, s)
	if gone {
		st.Reason, st.Detail = Overridden, string(s.Overrides[st.Skill.Name])
	}
	st.NameOnly = bare
}

// overridden says whether settings take an entry away or leave only its name.
func (o Options) overridden(name string, s Settings) (gone, bare bool) {
	if !o.Discovery.Overrides {
		return false, false
	}
	v := s.Overrides[name]
	return v == OverrideOff || v == OverrideUserOnly, v == OverrideNameOnly
}

// describe returns the text of a skill before cleaning.
func (o Options) describe(sk *Skill) string {
	d, when, shown := o.parts(sk)
	if shown {
		d += " - " + when
	}
	return d
}

// described reports whether the front matter describes a skill at all.
func (o Options) described(sk *Skill) bool {
	own, _ := sk.Front.Description(o.Dialect)
	_, shown := sk.Front.WhenToUse(o.Dialect)
	return own != "" || shown
}

// parts returns the two halves of the text: the description or what stands in
// for it, with what a nested skill says of its folder (recorded before when_to_use
// at 2.1.202 to 2.1.332), and when_to_use with whether it is shown.
func (o Options) parts(sk *Skill) (description, when string, shown bool) {
	d, ok := sk.Front.Description(o.Dialect)
	if !ok && !o.Text.BareUndescribed {
		d = frontmatter.Fallback(sk.Body, string(sk.Kind))
	}
	if o.Text.NestedSuffix && sk.Source == Nested {
		d += nestedSuffix(sk)
	}
	when, shown = sk.Front.WhenToUse(o.Dialect)
	return d, when, shown
}

// Patterns returns the patterns for which a skill is held back; none if it is
// listed from the start. Skills of plugins and commands never are held back.
func Patterns(sk *Skill, d Discovery, dialect frontmatter.Dialect) []string {
	if !d.Conditional || sk.Source == Plugin || sk.Kind == KindCommand {
		return nil
	}
	return sk.Front.Paths(dialect)
}

// Activates reports whether touching a file (reading, writing or editing it)
// activates a skill with these patterns. Both paths are absolute; patterns are
// gitignore patterns relative to the working directory of the process, and a
// file outside it never matches.
func Activates(patterns []string, file, cwd string) bool {
	file, cwd = path.Clean(file), path.Clean(cwd)
	rel, ok := strings.CutPrefix(file, strings.TrimSuffix(cwd, "/")+"/")
	return ok && len(patterns) > 0 && glob.Compile(patterns).Match(rel)
}

// ActivatesFolder reports whether entering a folder activates a skill with these
// patterns: one of them matches the folder, or all that lies in it. Otherwise as
// [Activates].
func ActivatesFolder(patterns []string, dir, cwd string) bool {
	return Activates(patterns, dir, cwd) || Activates(patterns, path.Join(dir, anyFile), cwd)
}

// anyFile is a name that only a pattern for all files of a folder matches.
const anyFile = "\x01"
