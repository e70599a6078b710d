package main

import (
	"errors"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/ledger"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/report"
)

func (a *app) sessionsCommand() *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:   "sessions [SESSION…]",
		Short: "What logs there are, with the skills used",
		Long: `Sessions lists the logs in scope by their start, the newest last. Rows show logs
whole; a request that several logs hold counts once in the sum.

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
			table, err := rules.For(defaultClient)
			if err != nil {
				return err
			}
			logs, err := a.find(args)
			if err != nil {
				return err
			}
			finder := local.NewFinder(local.Options{ConfigDirs: a.configFolders()})
			var (
				mu     sync.Mutex
				owners ledger.Owners
			)
			rows := make([]*report.SessionRow, len(logs))
			numbers := make([]int, len(logs))          // among the owners
			held := make([]*replay.Session, len(logs)) // what cannot be read twice
			err = a.eachSession(cmd.Context(), logs, func(i int, s *replay.Session, _ *jsonl.Stats) error {
				row := report.NewSessionRow(s)
				row.InScope = finder.Owns(s)
				row.TooOld = tooOld(table, s.Versions)
				if l := ledger.Of(s, prices); l.Priced {
					row.Charge(l.Cost)
				}
				rows[i] = &row
				if logs[i].Path == "-" {
					held[i] = s
				}
				mu.Lock()
				numbers[i] = owners.Note(s)
				mu.Unlock()
				return nil
			})
			if err != nil {
				return err
			}
			var again []int
			for i := range rows {
				if rows[i] != nil && owners.Shared(numbers[i]) {
					again = append(again, i)
				}
			}
			err = a.readAgain(cmd.Context(), again, logs, held, func(i int, s *replay.Session) {
				ours := owners.Of(numbers[i])
				for c := range ledger.Calls(s, prices, func(c *replay.APICall) bool { return !ours(c) }) {
					rows[i].Copied(c.APICall, c.Cost)
				}
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

// tooOld reports whether a replay without further options has no rules for a log: its
// client is older than they are.
func tooOld(table *rules.Table, versions []string) bool {
	old := false
	for _, v := range versions {
		_, err := table.At(v)
		if err == nil {
			return false
		}
		if before := (*rules.TooOldError)(nil); errors.As(err, &before) {
			old = true
		}
	}
	return old
}
