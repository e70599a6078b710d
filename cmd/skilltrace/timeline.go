package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/report"
)

func (a *app) timelineCommand() *cobra.Command {
	var filter report.TimelineFilter
	var follow bool
	kinds := eventKinds()
	cmd := &cobra.Command{
		Use:   "timeline [SESSION…]",
		Short: "What happened in sessions, event by event",
		Long: `Timeline lists the events of sessions along their conversation: what came in
(prompts, calls, files, compactions) and what the client told the model of
skills (listings, bodies, refusals, notes, reattachments). Tokens of texts are
estimated; those of a turn, and the context after it, are as recorded.

skilltrace timeline --follow goes on with a session that is under way: it writes
events as they reach the log, until it is interrupted, with exit status 130. A log
that is replaced or cut short is read from its start again.

` + sessionArgs + `

--kind takes ` + kindLines() + `.`,
		Example: `  skilltrace timeline latest
  skilltrace timeline 5274deb5 --kind effect --agent main`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for i, k := range filter.Kinds {
				// Tables write kinds with blanks.
				filter.Kinds[i] = strings.ReplaceAll(k, " ", "_")
				if !slices.Contains(kinds, filter.Kinds[i]) {
					return wrongValue(cmd, "kind", k, "one of "+strings.Join(kinds, ", "))
				}
			}
			if follow {
				return a.follow(cmd, args, filter)
			}
			logs, err := a.find(args)
			if err != nil {
				return err
			}
			results := make([]*report.TimelineSession, len(logs))
			there := make([]named, len(logs))
			err = a.eachSession(cmd.Context(), logs, func(i int, s *replay.Session, _ *jsonl.Stats) error {
				out := report.NewTimelineSession(s, filter, a.verbose)
				results[i] = &out
				if !hasEvents(&out) {
					there[i] = namedIn(s)
				}
				return nil
			})
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(present(results), func(s report.TimelineSession) bool { return hasEvents(&s) }) {
				a.noteNothing(&filter, there)
			}
			return a.write(report.NewTimeline(present(results)))
		},
	}
	a.scopeFlags(cmd)
	f := cmd.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "go on with what is written to the log of one session (default: the latest), until interrupted")
	f.StringSliceVar(&filter.Agents, "agent", nil, "only agents whose id begins so; the main loop is main")
	f.StringSliceVar(&filter.Kinds, "kind", nil, "only events of these kinds; input and effect stand for several")
	f.StringSliceVar(&filter.Skills, "skill", nil, "only events of these skills")
	completeList(cmd, "kind", kinds)
	completeWords(cmd, "agent", []string{"main"})
	a.completeFlag(cmd, "skill", a.completeSkill)
	a.workFlags(cmd)
	a.outputFlags(cmd, &report.TimelineDocument{})
	return cmd
}

func hasEvents(s *report.TimelineSession) bool {
	return slices.ContainsFunc(s.Agents, func(a report.TimelineAgent) bool { return len(a.Events) > 0 })
}

// named is what filters can name in a session.
type named struct{ skills, agents []string }

func namedIn(s *replay.Session) named {
	var n named
	all := report.NewTimelineSession(s, report.TimelineFilter{}, false)
	for _, a := range all.Agents {
		n.agents = append(n.agents, a.Agent)
		for i := range a.Events {
			e := &a.Events[i]
			n.skills = append(n.skills, e.Skills...)
			if e.Skill != "" {
				n.skills = append(n.skills, e.Skill)
			}
		}
	}
	n.skills = sorted(n.skills)
	return n
}

// sorted is a set in order.
func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// noteNothing names the filter that no event fits, and what it could have named.
func (a *app) noteNothing(filter *report.TimelineFilter, there []named) {
	var given, hints []string
	for _, f := range []struct {
		flag   string
		values []string
	}{{"kind", filter.Kinds}, {"skill", filter.Skills}, {"agent", filter.Agents}} {
		for _, v := range f.values {
			given = append(given, "--"+f.flag+" "+v)
		}
	}
	if len(given) == 0 {
		return
	}
	var skills, agents []string
	for _, n := range there {
		skills = append(skills, n.skills...)
		agents = append(agents, n.agents...)
	}
	if len(filter.Skills) > 0 {
		hints = append(hints, choices("skills", sorted(skills)))
	}
	if len(filter.Agents) > 0 {
		hints = append(hints, choices("agents", sorted(agents)))
	}
	text := "no event fits " + strings.Join(given, " ")
	for _, f := range []struct{ given, known []string }{{filter.Skills, skills}, {filter.Agents, agents}} {
		for _, name := range f.given {
			if near := nearest(name, sorted(f.known)); near != "" && near != name {
				text += "; did you mean " + near + "?"
			}
		}
	}
	if len(hints) > 0 {
		text += "; there are " + strings.Join(hints, ", and ")
	}
	a.note("%s", text)
}

// choices names what there is to choose from, as far as it is soon read.
func choices(what string, names []string) string {
	const most = 20
	if len(names) == 0 {
		return "no " + what
	}
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	return "the " + what + " " + strings.Join(names, ", ") + more
}

// kindLines are the words of --kind on lines of a help text.
func kindLines() string {
	text, room := "", len("--kind takes ")
	for i, k := range eventKinds() {
		if i > 0 {
			text += ","
		}
		if room += len(k) + len(", "); room > 80 {
			text, room = text+"\n", len(k)
		} else if i > 0 {
			text += " "
		}
		text += k
	}
	return text
}

func eventKinds() []string {
	kinds := []string{report.KindsInput, report.KindsEffect}
	for _, k := range report.EventKinds {
		kinds = append(kinds, string(k))
	}
	return kinds
}
