package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/report"
)

func (a *app) sessionsCommand() *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:   "sessions [SESSION…]",
		Short: "What logs there are, with the skills used",
		Long: `Sessions lists the logs in scope by their start, the newest last.

` + sessionArgs,
		Example: `  skilltrace sessions --project . --limit 20
  skilltrace sessions --since 2026-11-01 --format json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return wrongValue(cmd, "limit", strconv.Itoa(limit), wantedNumbers["limit"])
			}
			prices, err := a.book()
			if err != nil {
				return err
			}
			logs, err := a.find(args)
			if err != nil {
				return err
			}
			finder := local.NewFinder(local.Options{ConfigDirs: a.configFolders()})
			rows := make([]*report.SessionRow, len(logs))
			err = a.eachSession(cmd.Context(), logs, func(i int, s *replay.Session, _ *jsonl.Stats) error {
				row := report.NewSessionRow(s)
				row.InScope = finder.Owns(s)
				row.Charge(tokensOf(s, prices))
				rows[i] = &row
				return nil
			})
			if err != nil {
				return err
			}
			return a.write(report.NewSessions(present(rows), limit))
		},
	}
	a.scopeFlags(cmd)
	cmd.Flags().IntVarP(&limit, "limit", "n", 0, "only the newest `N` sessions (default: all)")
	a.pricesFlag(cmd)
	a.workFlags(cmd)
	a.outputFlags(cmd, &report.SessionsDocument{})
	return cmd
}
