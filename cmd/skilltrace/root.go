package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // --timezone works on machines without a zone database

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/skilltrace/skilltrace/report"
)

// app is one run of the program: where it writes, and the options that commands
// share.
type app struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	status         int
	progress       *progress

	// Output.
	format   string
	output   string
	color    string
	timezone string
	quiet    bool
	verbose  bool
	jobs     int

	scope  scope
	inputs inputs
	prices string // a file of the user's prices
}

var escape = report.Escape

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "skilltrace",
		Short: "What a coding-agent session told the model about skills, and what it should have",
		Long: `skilltrace reads the logs of coding-agent sessions, rebuilds what the model was
told about skills, and compares it with what the rules of the client say.

Exit status: 0 nothing found, 1 findings, 2 wrong use or unusable input,
3 internal failure, 130 interrupted.`,
		Example: `  skilltrace sessions
  skilltrace replay latest
  skilltrace timeline 5274deb5 --skill deploy`,
		Version:           a.versionText(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.prepare(cmd) },
	}
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().Bool("version", false, "the version of this program and of its rules") // without the -v that cobra would take
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := "see skilltrace --help"
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "?"
		}
		return fmt.Errorf("unknown command %q; %s", args[0], hint)
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(a.replayCommand(), a.whyCommand(), a.timelineCommand(), a.sessionsCommand(), a.costCommand(), a.listingCommand(), a.testCommand(), a.conformCommand(), a.rulesCommand(), a.versionCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	finishCompletion(root)
	return root
}

// finishCompletion makes a missing or unknown shell an error, where cobra shows the
// help of completion and succeeds.
func finishCompletion(root *cobra.Command) {
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err) // the command was added just before
	}
	var shells []string
	for _, c := range completion.Commands() {
		shells = append(shells, c.Name())
		c.Args = between(0, 0, "no arguments")
	}
	completion.Use = "completion SHELL"
	completion.DisableFlagsInUseLine = true
	completion.Short = "Write the script by which a shell completes commands and options"
	completion.Long = completion.Short + `.
The help of each shell, such as skilltrace completion bash --help, says how the
script is installed.`
	completion.Args = cobra.ArbitraryArgs
	completion.RunE = func(cmd *cobra.Command, args []string) error {
		given := strings.Join(append([]string{cmd.CommandPath()}, args...), " ")
		return fmt.Errorf("%s: want %s; see %s --help", given, oneOf(shells), cmd.CommandPath())
	}
}

// oneOf lists words of which one is wanted.
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// wrongValue is the error of an option whose value is not what is wanted.
func wrongValue(cmd *cobra.Command, flag, got, want string) error {
	return fmt.Errorf("--%s %s: want %s; see %s --help", flag, got, want, cmd.CommandPath())
}

// wantedNumbers says what the options are that take a number.
var wantedNumbers = map[string]string{
	"jobs":   "1 or more",
	"limit":  "0 (all) or more",
	"top":    "0 (all) or more",
	"window": "a number of tokens such as 200000",
}

// flagError says what is wrong with an option in our words, not in those of the
// function that parsed it.
func flagError(cmd *cobra.Command, err error) error {
	if bad := (*pflag.InvalidValueError)(nil); errors.As(err, &bad) {
		flag := bad.GetFlag()
		want := wantedNumbers[flag.Name]
		if flag.Value.Type() == "bool" {
			want = "true or false"
		}
		if want != "" {
			return wrongValue(cmd, flag.Name, bad.GetValue(), want)
		}
	}
	return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
}

// between checks the number of arguments; what says in words what is wanted.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s: want %s; see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}

// outputFlags adds the options of commands that write a document, which has the
// formats of doc.
func (a *app) outputFlags(cmd *cobra.Command, doc report.Document) {
	var names []string
	for _, f := range report.FormatsOf(doc) {
		names = append(names, string(f))
	}
	f := cmd.Flags()
	f.StringVar(&a.format, "format", names[0], "form of the output: "+strings.Join(names, ", "))
	f.StringVarP(&a.output, "output", "o", "", "write to `FILE`, which is replaced only when all is written; its extension gives the format where --format does not")
	f.StringVar(&a.color, "color", "auto", "colour: auto, always, never")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no notes and no progress on stderr")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "leave nothing out of tables, and cut nothing")
	cmd.Annotations = map[string]string{formatsKey: strings.Join(names, " ")}
	completeWords(cmd, "format", names)
	completeWords(cmd, "color", []string{"auto", "always", "never"})
}

const formatsKey = "formats"

func completeWords(cmd *cobra.Command, flag string, words []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added just before
	}
}

// workFlags adds the options of commands that read many inputs.
func (a *app) workFlags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&a.jobs, "jobs", runtime.GOMAXPROCS(0), "work on `N` inputs at the same time")
	cmd.Flags().Lookup("jobs").DefValue = "all processors"
}

// prepare checks the options that commands share.
func (a *app) prepare(cmd *cobra.Command) error {
	wrong := func(flag, got, want string) error { return wrongValue(cmd, flag, got, want) }
	if names, ok := cmd.Annotations[formatsKey]; ok {
		list := strings.Fields(names)
		if f := cmd.Flags().Lookup("format"); !f.Changed {
			a.format = formatOf(a.output, list, a.format)
		}
		if !slices.Contains(list, a.format) {
			return wrong("format", a.format, oneOf(list))
		}
		if !slices.Contains([]string{"auto", "always", "never"}, a.color) {
			return wrong("color", a.color, "auto, always or never")
		}
		if _, err := a.location(); err != nil {
			return wrong("timezone", a.timezone, "the name of a zone, such as Europe/Berlin")
		}
	}
	if cmd.Flags().Lookup("jobs") != nil && a.jobs < 1 {
		return wrong("jobs", strconv.Itoa(a.jobs), wantedNumbers["jobs"])
	}
	if f := cmd.Flags().Lookup("window"); f != nil && f.Changed && a.inputs.window < 1 {
		return wrong("window", f.Value.String(), wantedNumbers["window"])
	}
	a.progress = newProgress(a.stderr, a.quiet, a.verbose)
	return nil
}

// formatOf is the format that the name of an output file asks for, else the usual one.
func formatOf(file string, formats []string, usual string) string {
	for _, name := range formats {
		if ext := strings.TrimPrefix(filepath.Ext(file), "."); ext != "" && (ext == name || ext == "md" && name == string(report.FormatMarkdown)) {
			return name
		}
	}
	return usual
}

func (a *app) location() (*time.Location, error) {
	if a.timezone == "" {
		return time.Local, nil
	}
	return time.LoadLocation(a.timezone)
}

// home is the user's home directory, "" if there is none.
func (a *app) home() string { return a.getenv("HOME") }

// style is how tables look on this output.
func (a *app) style() report.Style {
	location, err := a.location()
	if err != nil {
		location = time.UTC // checked in prepare
	}
	s := report.Style{Width: report.DefaultWidth, Verbose: a.verbose, Home: a.home(), Location: location, Color: a.color == "always", Flags: a.scope.flags(), Again: a.scope.again(),
		Given: a.given(), RulesFile: option("rules", a.inputs.rules), PricesFile: option("prices", a.prices), Zone: option("timezone", a.timezone)}
	if n, err := strconv.Atoi(a.getenv("COLUMNS")); err == nil && n > 0 {
		s.Width = n
	} else if width := terminalWidth(a.stdout); width > 0 && a.output == "" {
		s.Width = width
	}
	if a.color == "auto" && a.output == "" && isTerminal(a.stdout) && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" {
		s.Color = true
	}
	return s
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth is the width of a terminal in cells, 0 for anything else.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// write writes a document where the options say.
func (a *app) write(doc report.Document) error {
	a.progress.clear()
	watched := a.getenv("GITHUB_ACTIONS") != "" // it obeys what texts of logs may hold
	if a.output == "" && !watched {
		return report.Write(a.stdout, doc, report.Format(a.format), a.style())
	}
	var b bytes.Buffer
	if err := report.Write(&b, doc, report.Format(a.format), a.style()); err != nil {
		return err
	}
	if a.output == "" {
		_, err := a.stdout.Write(report.Disarm(b.Bytes(), report.Format(a.format)))
		return err
	}
	return writeFile(a.output, b.Bytes())
}

// writeFile replaces a file in one step: who reads it sees the old content or
// the new, never a part.
func writeFile(path string, data []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: cannot be written: %w", path, plain(err))
		}
	}()
	// A link stays a link: what it points to is replaced.
	target := path
	if t, err := filepath.EvalSymlinks(path); err == nil {
		target = t
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		// Devices and pipes cannot be replaced.
		return os.WriteFile(target, data, 0o644)
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".skilltrace-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if info, statErr := os.Stat(target); statErr == nil {
		mode = info.Mode().Perm()
	}
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}

// plain is an error of the file system without the path, which the message
// names already.
func plain(err error) error {
	if pe := (*os.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	if le := (*os.LinkError)(nil); errors.As(err, &le) {
		return le.Err
	}
	return err
}
