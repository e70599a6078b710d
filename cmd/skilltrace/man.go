package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/skilltrace/skilltrace/budget"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: `Man writes a manual page for the program and for each of its commands into a folder,
skilltrace.1, skilltrace-cost.1 and so on. They say what --help says. DIR is made if
it does not exist, and pages of these names in it are replaced.

The date on them is that of the commit which was built, or SOURCE_DATE_EPOCH.`,
		Example: `  skilltrace man ~/.local/share/man/man1
  skilltrace man man`,
		Args: between(1, 1, "DIR, the folder that the pages are written to"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.writeManual(args[0]) },
	}
}

func (a *app) writeManual(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%s: %w; give a folder that can be written", dir, plain(err))
	}
	date, err := a.manualDate()
	if err != nil {
		return err
	}
	// Pages are made of a tree of their own: the texts in it are rewritten for them.
	root := (&app{stdout: a.stdout, stderr: a.stderr, getenv: func(string) string { return "" }}).rootCommand()
	n := 0
	for _, cmd := range documented(root) {
		cmd.DisableAutoGenTag = true
		cmd.Long = markdownOf(cmd.Long)
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		var b bytes.Buffer
		header := &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: &date, Source: "skilltrace", Manual: "skilltrace"}
		if err := doc.GenMan(cmd, header, &b); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, name+".1"), ascii(b.String())); err != nil {
			return err
		}
		n++
	}
	a.note("%d pages written to %s", n, dir)
	return nil
}

// ascii writes other characters as troff names them: not every one reads UTF-8.
func ascii(page string) []byte {
	var b bytes.Buffer
	for _, r := range page {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.Bytes()
}

// documented are the program and its commands, each before its own.
func documented(cmd *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if c.Hidden || c.Deprecated != "" {
			continue
		}
		list = append(list, documented(c)...)
	}
	return list
}

// manualDate is a date that is the same for the same program.
func (a *app) manualDate() (time.Time, error) {
	if text := a.getenv("SOURCE_DATE_EPOCH"); text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH=%s: want seconds since 1970", text)
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key != "vcs.time" {
				continue
			}
			if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
				return t.UTC(), nil
			}
		}
	}
	// The program holds no younger date than that of its prices.
	return time.Parse(time.DateOnly, budget.PricesAsOf())
}

// markdownOf is a help text as Markdown: lines that are indented stand as they are.
func markdownOf(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") {
			if s := b.String(); s != "" && !strings.HasSuffix(s, "\n\n") && !strings.HasPrefix(s[strings.LastIndexByte(strings.TrimSuffix(s, "\n"), '\n')+1:], "    ") {
				b.WriteString("\n")
			}
			b.WriteString("    " + strings.TrimPrefix(strings.TrimPrefix(line, "  "), "\t") + "\n")
			continue
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
