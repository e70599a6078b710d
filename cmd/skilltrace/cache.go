package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/replay/regress/live"
	"github.com/skilltrace/skilltrace/report"
)

func (a *app) cacheCommand() *cobra.Command {
	var folder string
	var clear bool
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "What is kept of the replies of models, and its removal",
		Long: `Cache shows the folder in which skilltrace test --scorer live keeps the replies that it
asked a model for, so that the same question is paid once: how many there are, and
how large. Of a reply the names of tools and skills are kept, no other text.

With --clear the replies are removed; the next test asks for them anew. Other files
in the folder stay.`,
		Example: `  skilltrace cache
  skilltrace cache --format json
  skilltrace cache --clear`,
		Args: between(0, 0, "no arguments; --cache-dir DIR names another folder"),
		RunE: func(*cobra.Command, []string) error {
			usual := a.cacheDir("live")
			if folder == "" {
				folder = usual
			}
			if folder == "" {
				return errors.New("there is no home directory to keep a cache in; give --cache-dir DIR")
			}
			look := live.LookKept
			if clear {
				look = live.ClearKept
			}
			kept, err := look(folder)
			if err != nil {
				return fmt.Errorf("%s: %w; give a folder that can be read with --cache-dir DIR", folder, plain(err))
			}
			return a.write(report.NewCache(filepath.ToSlash(folder), folder == usual, kept.Entries, kept.Bytes, kept.Oldest, kept.Newest, clear))
		},
	}
	f := cmd.Flags()
	f.StringVar(&folder, "cache-dir", "", "`DIR` of the replies (default: in the user's cache folder)")
	f.BoolVar(&clear, "clear", false, "remove the replies")
	markFolders(cmd, "cache-dir")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	a.outputFlags(cmd, &report.CacheDocument{})
	return cmd
}
