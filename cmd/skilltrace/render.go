package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/report"
)

// maxSaved is how large a saved answer may be, in bytes: in memory it takes a few times
// as much.
const maxSaved = 512 << 20

func (a *app) renderCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "render FILE.json",
		Short: "Write a saved answer in another format",
		Long: `Render reads an answer that a command wrote with --format json, and writes it in
another format, as the command itself would have. FILE may be "-" for standard
input. The answer says by its schema which command it is of, and so which formats
it has. What options left out of the answer stays out: the texts of a timeline, for
one, are there only with --verbose.

The exit status is 0 when the answer is written, whatever it found.`,
		Example: `  skilltrace replay latest --format json --output replay.json
  skilltrace render replay.json --format markdown
  skilltrace render replay.json --output replay.sarif`,
		Args: between(1, 1, "FILE.json, a saved answer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := readSaved(args[0])
			if err != nil {
				return err
			}
			doc, err := report.Read(data)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if reason := report.Lacks(doc, report.Format(a.format)); reason != "" {
				var names []string
				for _, f := range report.FormatsOf(doc) {
					names = append(names, string(f))
				}
				return wrongValue(cmd, "format", a.format, oneOf(names)+" for "+args[0]+", as "+reason)
			}
			return a.write(doc)
		},
	}
	cmd.Flags().StringVar(&a.timezone, "timezone", "", "`ZONE` of times in tables, such as Europe/Berlin or UTC (default: local time)")
	var names []string
	for _, f := range report.Formats {
		names = append(names, string(f))
	}
	a.formatFlags(cmd, names, map[string]string{})
	cmd.ValidArgsFunction = completeFiles("json")
	return cmd
}

// readSaved reads a file, or standard input for "-".
func readSaved(name string) ([]byte, error) {
	in := io.Reader(os.Stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; give a file that a command wrote with --format json", name, plain(err))
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxSaved+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w; give a file that a command wrote with --format json", name, plain(err))
	case len(data) > maxSaved:
		return nil, fmt.Errorf("%s: larger than %d MiB; give the command itself the --format", name, maxSaved>>20)
	}
	return data, nil
}
