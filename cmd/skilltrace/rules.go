package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/report"
)

// defaultClient is the client whose rules are shown where none is named.
const defaultClient = rules.DefaultClient

func (a *app) rulesCommand() *cobra.Command {
	var client, overlay, diff string
	var reference bool
	cmd := &cobra.Command{
		Use:   "rules [NAME|VERSION|NAME@VERSION]",
		Short: "What rules apply to a client version, since when, on what evidence",
		Long: `Rules shows the rules of one client version, or with --diff how they differ from
those of another, of the same client or of another one. --reference writes all
versions of the client, with every change and its evidence, as Markdown.

Clients are ` + clientNames() + `. All but the first are known
from a description only: they have no version, and what the description leaves
open is marked as not described.`,
		Example: `  skilltrace rules --client claude-code@2.1.140
  skilltrace rules --diff 2.1.140 2.1.332
  skilltrace rules --diff claude-code@2.1.332 mini-cc`,
		Args: between(0, 1, "one VERSION at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if given := cmd.Flags().Changed("format"); reference && (given && a.format != string(report.FormatMarkdown) || diff != "") {
				return fmt.Errorf("--reference is Markdown of all versions: leave --format and --diff out; see %s --help", cmd.CommandPath())
			}
			if len(args) == 1 {
				name, _ := rules.Split(client)
				client = qualified(name, args[0])
			}
			doc, err := rulesDocument(client, diff, overlay)
			if err != nil {
				return err
			}
			if reference {
				return a.writeBy(doc.WriteReference)
			}
			return a.write(doc)
		},
	}
	f := cmd.Flags()
	f.StringVar(&client, "client", defaultClient, "client, `NAME@VERSION`; without a version the newest recorded one, or the one described")
	f.StringVar(&diff, "diff", "", "show only what differs from this `VERSION`, or NAME@VERSION of another client")
	f.StringVar(&overlay, "rules", "", "`FILE` of rule changes that are laid over the built-in rules")
	f.BoolVar(&reference, "reference", false, "the reference of all versions, as Markdown")
	cmd.ValidArgsFunction = a.quietly(completeVersion)
	a.completeFlag(cmd, "client", completeClient)
	a.completeFlag(cmd, "diff", completeVersion)
	a.completeFlag(cmd, "rules", completeFiles("yaml", "yml"))
	a.outputFlags(cmd, &report.RulesDocument{})
	return cmd
}

// rulesDocument describes a client's rules and, if diff names a version, how they
// differ from those.
func rulesDocument(client, diff, overlay string) (*report.RulesDocument, error) {
	table, err := rulesTable(client, overlay)
	if err != nil {
		return nil, err
	}
	version := versionIn(client, table)
	if diff == "" {
		return report.NewRules(table, version, "")
	}
	// A version alone is one of the same client, if that has versions at all.
	name := table.Client
	if table.Described != nil {
		name = rules.DefaultClient
	}
	against := qualified(name, diff)
	other := table
	if name, _ := rules.Split(against); name != table.Client || table.Described != nil {
		if name != table.Client {
			if other, err = rules.For(against); err != nil {
				return nil, fmt.Errorf("--diff %s: %w", diff, err)
			}
		}
		doc, err := report.NewRulesFrom(table, version, other, versionIn(against, other))
		if err != nil {
			return nil, fmt.Errorf("--diff %s: %w", diff, err)
		}
		return doc, nil
	}
	return report.NewRules(table, version, versionIn(against, other))
}

// versionIn is the version of a client that is meant: the newest recorded one where
// none is named, and none where the client is only described.
func versionIn(client string, table *rules.Table) string {
	_, version := rules.Split(client)
	if version == "" && table.Described == nil {
		return table.Latest
	}
	return version
}

// clientNames lists the clients that have rules.
func clientNames() string {
	names := rules.Clients()
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// qualified is a version as NAME@VERSION; name is that of one without. A client's
// name stands for itself.
func qualified(name, version string) string {
	if strings.Contains(version, "@") || slices.Contains(rules.Clients(), version) {
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
