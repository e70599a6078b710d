package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/report"
)

func (a *app) timelineCommand() *cobra.Command {
	var filter report.TimelineFilter
	kinds := eventKinds()
	cmd := &cobra.Command{
		Use:   "timeline [SESSION…]",
		Short: "What happened in sessions, event by event",
		Long: `Timeline lists the events of sessions along their conversation: what came in
(prompts, calls, files, compactions) and what the client told the model of
skills (listings, bodies, refusals, notes, reattachments).

` + sessionArgs,
		Example: `  skilltrace timeline latest
  skilltrace timeline 5274deb5 --kind effect --agent main`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, k := range filter.Kinds {
				if !slices.Contains(kinds, k) {
					return fmt.Errorf("--kind %s: want one of %s", k, strings.Join(kinds, ", "))
				}
			}
			logs, err := a.find(args)
			if err != nil {
				return err
			}
			results := make([]*report.TimelineSession, len(logs))
			err = a.eachSession(cmd.Context(), logs, func(i int, s *replay.Session) error {
				out := report.NewTimelineSession(s, filter, a.verbose)
				results[i] = &out
				return nil
			})
			if err != nil {
				return err
			}
			return a.write(report.NewTimeline(present(results)))
		},
	}
	a.scopeFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&filter.Agents, "agent", nil, "only agents whose id begins so; the main loop is main")
	f.StringSliceVar(&filter.Kinds, "kind", nil, "only events of these kinds; input and effect stand for several")
	f.StringSliceVar(&filter.Skills, "skill", nil, "only events of these skills")
	completeWords(cmd, "kind", kinds)
	a.workFlags(cmd)
	a.outputFlags(cmd, &report.TimelineDocument{})
	return cmd
}

func eventKinds() []string {
	kinds := []string{report.KindsInput, report.KindsEffect}
	for _, k := range report.EventKinds {
		kinds = append(kinds, string(k))
	}
	return kinds
}
