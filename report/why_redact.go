package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Redact makes the document one that can be shown to others. Home directories become
// "~". The texts of prompts go, only their length stays; words that a prompt shares with
// a skill, or that the skill lacks, are counted only. What else a session said, ran or
// printed (refusals that hold the output of a command, what a call was given, the
// beginning of a text with its arguments) becomes "[redacted, N characters]". Names and
// descriptions of skills, and names of files, stay.
func (d *WhyDocument) Redact(home string) {
	d.Redacted = true
	r := newRedactor(home)
	for i := range d.Sessions {
		s := &d.Sessions[i]
		r.learn(s.CWD)
		r.learn(s.File)
	}
	for i := range d.Sessions {
		s := &d.Sessions[i]
		r.text(s.private, &s.Reason)
		r.text(nil, &s.File, &s.CWD)
		r.list(nil, s.Assumptions)
		for j := range s.Inputs {
			r.text(nil, &s.Inputs[j].Source, &s.Inputs[j].Note)
		}
		for j := range s.Agents {
			r.text(nil, &s.Agents[j].File)
		}
	}
	for i := range d.Skills {
		k := &d.Skills[i]
		r.text(k.private, &k.Reason)
	}
	for i := range d.Questions {
		q := &d.Questions[i]
		var private []string
		for j := range q.Gates {
			private = append(private, q.Gates[j].private...)
		}
		q.Text, q.Words.Shared, q.Words.Lacking = nil, nil, nil
		r.text(private, &q.File, &q.Verdict.Reason, &q.Verdict.File)
		r.list(private, q.Advice)
		for j := range q.Gates {
			g := &q.Gates[j]
			r.text(private, &g.File, &g.Reason)
			r.list(private, g.Notes)
			r.list(private, g.Advice)
			if g.Text != nil {
				text := string(*g.Text)
				r.text(private, &text)
				g.Text = new(Text(text))
			}
		}
	}
}

// redactor knows home directories, in the forms in which they stand in paths and in
// names of folders of logs.
type redactor struct{ homes []string }

func newRedactor(home string) *redactor {
	r := &redactor{}
	r.add(strings.TrimSuffix(home, "/"))
	return r
}

func (r *redactor) add(home string) {
	if len(home) < 2 {
		return
	}
	for _, form := range []string{home, strings.ReplaceAll(home, `\`, `\\`), encodedHome(home)} {
		if !slices.Contains(r.homes, form) {
			r.homes = append(r.homes, form)
		}
	}
	slices.SortFunc(r.homes, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
}

// encodedHome is a path as the client writes it in the name of a folder of logs.
func encodedHome(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, path)
}

// homeOf is the home directory that a path lies in. Names of users may hold blanks.
var homeOf = regexp.MustCompile(`^(?:/(?:[^/]+/)*?(?:home|Users)/[^/]+|[A-Za-z]:[\\/]Users[\\/][^\\/]+)`)

// learn takes the home directory of a path of a session, which need not be that of this
// machine.
func (r *redactor) learn(path string) { r.add(homeOf.FindString(path)) }

func (r *redactor) list(private, list []string) {
	for i := range list {
		r.text(private, &list[i])
	}
}

// text redacts texts in place: what is private, then home directories.
func (r *redactor) text(private []string, list ...*string) {
	for _, s := range list {
		*s = homes(r.known(hide(*s, private)))
	}
}

// hide replaces private texts, the longest first. A sentence may have dropped the full
// stop of one.
func hide(s string, private []string) string {
	var all []string
	for _, p := range private {
		all = append(all, p)
		if t := strings.TrimSuffix(p, "."); t != p && t != "" {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	const least = 4 // bytes: shorter ones would be found within words
	for _, p := range all {
		mark := fmt.Sprintf("[redacted, %s]", plural(utf8.RuneCountInString(p), "character"))
		switch {
		case s == p:
			return mark
		case len(p) >= least:
			s = strings.ReplaceAll(s, p, mark)
		default:
			if head, ok := strings.CutSuffix(strings.TrimSuffix(s, "."), ": "+p); ok {
				s = head + ": " + mark
			}
		}
	}
	return s
}

// known writes "~" for the home directories that are known.
func (r *redactor) known(s string) string {
	for _, h := range r.homes {
		var b strings.Builder
		rest := s
		for {
			i := strings.Index(rest, h)
			if i < 0 {
				break
			}
			end := i + len(h)
			if end < len(rest) && h[0] != '-' && (isNameByte(rest[end]) || rest[end] == '-' || rest[end] == '.' && end+1 < len(rest) && isNameByte(rest[end+1])) ||
				end < len(rest) && h[0] == '-' && isNameByte(rest[end]) {
				b.WriteString(rest[:end]) // a longer name
			} else {
				b.WriteString(rest[:i] + "~")
			}
			rest = rest[end:]
		}
		s = b.String() + rest
	}
	return s
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// homes writes "~" for the home directories of any system that a text names.
func homes(s string) string {
	for _, root := range []string{"/home/", "/Users/", `C:\Users\`, "C:/Users/", `\Users\`, `\\Users\\`, "-home-", "-Users-"} {
		var b strings.Builder
		rest := s
		for {
			i := strings.Index(rest, root)
			if i < 0 {
				break
			}
			name := rest[i+len(root):]
			end := strings.IndexFunc(name, func(c rune) bool { return !homeName(c, root) })
			if end < 0 {
				end = len(name)
			}
			if end == 0 {
				b.WriteString(rest[:i+len(root)])
			} else {
				b.WriteString(rest[:i] + "~")
			}
			rest = name[end:]
		}
		s = b.String() + rest
	}
	return s
}

func homeName(c rune, root string) bool {
	if root[0] == '-' {
		return c != '-' && c != '/' && c != ' ' && c != '"'
	}
	return !slices.Contains([]rune{'/', '\\', ' ', '"', '\'', ',', ':', ')', '\n'}, c)
}
