package main

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/report"
)

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "The version of this program and of its rules",
		Long: `Version says which version of the program this is, what it was built with and for,
and up to which version of each client its rules are known. A newer client is
replayed by the newest rules, which is said.`,
		Example: `  skilltrace version
  skilltrace version --format json`,
		Args: between(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return a.write(versionDocument()) },
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	a.outputFlags(cmd, &report.VersionDocument{})
	return cmd
}

// versionText is what --version prints: the same as the command.
func (a *app) versionText() string {
	var b strings.Builder
	if err := versionDocument().WriteTable(&b, a.style()); err != nil {
		panic(err) // a Builder takes all
	}
	return b.String()
}

// versionDocument says what was built: the module's version where it was installed
// as one, else the commit, and the newest client version that rules are known for.
func versionDocument() *report.VersionDocument {
	doc := &report.VersionDocument{Schema: report.VersionSchema, Version: buildVersion(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Rules: []report.VersionRules{}}
	for _, client := range rules.Clients() {
		table, err := rules.For(client)
		if err != nil {
			continue // tested: every table folds
		}
		known := report.VersionRules{Client: client, Oldest: table.Oldest, Latest: table.Latest}
		if table.Described != nil {
			known = report.VersionRules{Client: client, Described: table.Described.Source}
		}
		doc.Rules = append(doc.Rules, known)
	}
	return doc
}

func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "devel"
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				version += "-" + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return version
}
