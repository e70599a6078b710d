package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/report"
)

func (a *app) conformCommand() *cobra.Command {
	var (
		floorFile  string
		writeFloor bool
	)
	cmd := &cobra.Command{
		Use:   "conform DIR…",
		Short: "How the rules agree with recordings of the real client",
		Long: `Conform replays recordings whose inputs are all known, and counts what the rules
predict rightly. DIR is a folder of recordings at any level: the root, a family,
a scenario or a version. Recordings are not part of the repository: they are
looked for beside it, and docs/recording.md says what they hold and how they are made.

Exit status 1 means that something is divergent. With --floor, which compares the
agreement with a file, it means that something fell below the floor, and what is
divergent there already is no finding.`,
		Example: `  skilltrace conform ../shared/conformance/listing
  skilltrace conform ../shared/conformance --floor fixtures/conform-floor.json`,
		Args: between(1, math.MaxInt, "DIR, a folder of recordings"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if writeFloor && floorFile == "" {
				return errors.New("--write-floor: want --floor FILE, the file to write")
			}
			var floor *report.Floor
			if floorFile != "" {
				data, err := local.ReadFile(floorFile)
				switch {
				case err == nil:
					if floor, err = report.ReadFloor(data); err != nil {
						return fmt.Errorf("%s: %w", floorFile, err)
					}
				case !errors.Is(err, fs.ErrNotExist):
					return err
				case !writeFloor:
					return fmt.Errorf("%w; --write-floor makes one", err)
				}
			}
			dirs, err := a.recordings(args)
			if err != nil {
				return err
			}
			cases, err := a.runConform(cmd.Context(), dirs)
			if err != nil {
				return err
			}
			doc := report.NewConform(cases)
			if floorFile != "" {
				raised := doc.Compare(floor)
				if writeFloor {
					var b bytes.Buffer
					if err := report.WriteJSON(&b, raised); err != nil {
						return err
					}
					if err := writeFile(floorFile, b.Bytes()); err != nil {
						return err
					}
				}
			}
			if doc.Fell() || floorFile == "" && doc.Divergent() > 0 {
				a.raise(statusFindings)
			}
			return a.write(doc)
		},
	}
	f := cmd.Flags()
	f.StringVar(&floorFile, "floor", "", "`FILE` with the agreement that must not be lost, by client version and kind")
	f.BoolVar(&writeFloor, "write-floor", false, "raise the file of --floor to what agrees now; nothing in it sinks")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	a.completeFlag(cmd, "floor", completeFiles("json"))
	a.workFlags(cmd)
	a.outputFlags(cmd, &report.ConformDocument{})
	return cmd
}
