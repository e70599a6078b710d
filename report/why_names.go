package report

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// mostName is how many characters of a name are shown to people; a hostile log holds
// names of any length. JSON has them whole.
const mostName = 200

// shortName cuts the middle out of a long name.
func shortName(s string) string {
	if len(s) <= mostName || utf8.RuneCountInString(s) <= mostName {
		return s
	}
	const half = (mostName - 1) / 2
	r := []rune(s)
	return string(r[:half]) + "…" + string(r[len(r)-half:])
}

// shortNames is the document with long names cut, the document itself where there are
// none.
func (d *WhyDocument) shortNames() *WhyDocument {
	var pairs []string // long and short names
	long := func(name string) string {
		short := shortName(name)
		if short != name && !slices.Contains(pairs, name) {
			pairs = append(pairs, name, short)
		}
		return short
	}
	out := *d
	out.Skill, out.Asked, out.Near = long(d.Skill), long(d.Asked), slices.Clone(d.Near)
	for i := range out.Near {
		out.Near[i] = long(out.Near[i])
	}
	out.Unknown = slices.Clone(d.Unknown)
	for i := range out.Unknown {
		u := &out.Unknown[i]
		u.Name, u.Near = long(u.Name), slices.Clone(u.Near)
		for j := range u.Near {
			u.Near[j] = long(u.Near[j])
		}
	}
	out.Skills = slices.Clone(d.Skills)
	for i := range out.Skills {
		out.Skills[i].Skill = long(d.Skills[i].Skill)
	}
	if pairs == nil {
		return d
	}
	names := strings.NewReplacer(pairs...)
	all := func(list []string) []string {
		list = slices.Clone(list)
		for i := range list {
			list[i] = names.Replace(list[i])
		}
		return list
	}
	for i := range out.Skills {
		out.Skills[i].Reason = names.Replace(out.Skills[i].Reason)
	}
	out.Sessions = slices.Clone(d.Sessions)
	for i := range out.Sessions {
		out.Sessions[i].Reason = names.Replace(out.Sessions[i].Reason)
	}
	out.Questions = slices.Clone(d.Questions)
	for i := range out.Questions {
		q := &out.Questions[i]
		q.Command, q.Verdict.Reason = shortName(q.Command), names.Replace(q.Verdict.Reason)
		q.Advice, q.Gates = all(q.Advice), slices.Clone(q.Gates)
		for j := range q.Gates {
			g := &q.Gates[j]
			g.Reason, g.Missing, g.Notes, g.Advice = names.Replace(g.Reason), names.Replace(g.Missing), all(g.Notes), all(g.Advice)
			if g.Text != nil {
				g.Text = new(Text(names.Replace(string(*g.Text))))
			}
		}
	}
	return &out
}
