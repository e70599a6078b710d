package report

import (
	"fmt"
	"unicode/utf8"

	"github.com/skilltrace/skilltrace/replay"
)

// Redact makes the document one that can be shown to others, as [WhyDocument.Redact]
// does: home directories become "~"; what was typed, what calls were given, and the texts
// of bodies, notes and refusals, which can hold either, become "[redacted, N characters]".
// Names and descriptions of skills, and names of files, stay.
func (d *ReplayDocument) Redact(home string) {
	r := newRedactor(home)
	for i := range d.Sessions {
		r.learn(d.Sessions[i].CWD)
		r.learn(d.Sessions[i].File)
	}
	for i := range d.Sessions {
		d.Sessions[i].redact(r)
	}
}

func (s *ReplaySession) redact(r *redactor) {
	private := s.private()
	r.text(nil, &s.File, &s.CWD)
	if s.Graph != nil {
		r.text(nil, &s.Graph.ForkOf)
	}
	r.list(private, s.Assumptions)
	for i := range s.Inputs {
		r.text(private, &s.Inputs[i].Source, &s.Inputs[i].Note)
	}
	for i := range s.Defects {
		r.text(private, &s.Defects[i].File, &s.Defects[i].Reason)
	}
	for i := range s.SkillFiles {
		k := &s.SkillFiles[i]
		r.text(nil, &k.Path)
		for j := range k.Compared {
			c := &k.Compared[j]
			r.text(nil, &c.File)
			if c.By == comparedByBody {
				c.Seen, c.Now, c.Diff = redacted(c.Seen), redacted(c.Now), ""
			}
		}
	}
	if s.Tokens != nil {
		r.list(private, s.Tokens.Notes)
	}
	reasons := map[string]string{} // mostly a few, of many checks
	for i := range s.Agents {
		a := &s.Agents[i]
		r.text(nil, &a.File)
		for j := range a.Compactions {
			r.text(private, &a.Compactions[j].Reason)
		}
		for j := range a.Checks {
			c := &a.Checks[j]
			was := c.Reason
			if known, ok := reasons[was]; ok {
				c.Reason = known
			} else {
				r.text(private, &c.Reason)
				reasons[was] = c.Reason
			}
			switch replay.CheckKind(c.Kind) {
			case replay.CheckListing, replay.CheckRelist, replay.CheckInvariant:
				for _, t := range []*Text{c.Expected, c.Observed} {
					if t != nil {
						text := string(*t)
						r.text(nil, &text)
						*t = Text(text)
					}
				}
				r.text(nil, &c.Diff)
			default:
				c.Expected, c.Observed, c.Diff = redacted(c.Expected), redacted(c.Observed), ""
			}
		}
		for j := range a.Events {
			e := &a.Events[j]
			r.text(nil, &e.Path)
			e.Args, e.Text = redacted(e.Args), redacted(e.Text)
		}
	}
}

// comparedByBody stands where a skill file was compared with a body.
const comparedByBody = "body"

// private are the texts that the sentences of a document may quote: what was typed, and
// what calls were given.
func (s *ReplaySession) private() []string {
	const most = 2000
	var out []string
	seen := map[string]bool{}
	for i := range s.Agents {
		for j := range s.Agents[i].Events {
			e := &s.Agents[i].Events[j]
			for _, t := range []*Text{e.Args, e.Text} {
				if t != nil && *t != "" && !seen[string(*t)] && len(out) < most {
					seen[string(*t)] = true
					out = append(out, string(*t))
				}
			}
		}
	}
	return out
}

// redacted is the mark in place of a text.
func redacted(t *Text) *Text {
	if t == nil || *t == "" {
		return t
	}
	return new(Text(fmt.Sprintf("[redacted, %s]", plural(utf8.RuneCountInString(string(*t)), "character"))))
}
