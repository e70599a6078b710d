package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/replay/rules"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "The version of this program and of its rules",
		Args:  between(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), versionText())
			return err
		},
	}
}

// versionText says what was built: the module's version where it was installed
// as one, else the commit, and the newest client version that rules are known for.
func versionText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "skilltrace %s (%s, %s/%s)\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, client := range rules.Clients() {
		table, err := rules.For(client)
		if err != nil {
			continue // tested: every table folds
		}
		fmt.Fprintf(&b, "rules of %s up to %s\n", client, table.Latest)
	}
	return b.String()
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
