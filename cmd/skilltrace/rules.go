package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/report"
)

// defaultClient is the client whose rules are shown where none is named.
const defaultClient = "claude-code"

func (a *app) rulesCommand() *cobra.Command {
	var client, overlay, diff string
	cmd := &cobra.Command{
		Use:   "rules [[NAME@]VERSION]",
		Short: "What rules apply to a client version, since when, on what evidence",
		Long: `Rules shows the rules of one client version, or with --diff how they differ from
those of another. --format markdown writes the reference of all versions.`,
		Example: `  skilltrace rules --client claude-code@2.1.140
  skilltrace rules --diff 2.1.140 2.1.332`,
		Args: between(0, 1, "one VERSION at most"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				name, _ := rules.Split(client)
				client = qualified(name, args[0])
			}
			table, err := rulesTable(client, overlay)
			if err != nil {
				return err
			}
			_, version := rules.Split(client)
			if version == "" {
				version = table.Latest
			}
			against := ""
			if diff != "" {
				var name string
				if name, against = rules.Split(qualified(table.Client, diff)); name != table.Client {
					return fmt.Errorf("--diff %s: want a version of %s", diff, table.Client)
				}
			}
			doc, err := report.NewRules(table, version, against)
			if err != nil {
				return err
			}
			return a.write(doc)
		},
	}
	f := cmd.Flags()
	f.StringVar(&client, "client", defaultClient, "client, `NAME@VERSION`; without a version the newest recorded one")
	f.StringVar(&diff, "diff", "", "show only what differs from this `VERSION`")
	f.StringVar(&overlay, "rules", "", "`FILE` of rule changes that are laid over the built-in rules")
	a.outputFlags(cmd, &report.RulesDocument{})
	return cmd
}

// qualified is a version as NAME@VERSION; name is that of one without.
func qualified(name, version string) string {
	if strings.Contains(version, "@") {
		return version
	}
	return name + "@" + version
}

// rulesTable is the table of a client with the user's own changes, if a file of
// them is named.
func rulesTable(client, overlay string) (*rules.Table, error) {
	table, err := rules.For(client)
	if err != nil || overlay == "" {
		return table, err
	}
	data, err := local.ReadFile(overlay)
	if err != nil {
		return nil, fmt.Errorf("--rules %w; give a YAML file of rule changes, each with since, key and value", err)
	}
	changes, err := rules.ReadOverlay(overlay, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return table.With(changes)
}
