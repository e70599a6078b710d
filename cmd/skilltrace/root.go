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

	"github.com/skilltrace/skilltrace/replay/regress/spec"
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
	open     bool // the page, in the browser
	jobs     int
	noConfig bool

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
	if width := a.columns(); width > 0 {
		root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages", fmt.Sprintf("Flags.FlagUsagesWrapped %d", width)))
	}
	root.PersistentFlags().BoolVar(&a.noConfig, "no-config", false, "pass over the files with defaults of options, "+configName)
	root.Flags().Bool("version", false, "the version of this program and of its rules") // without the -v that cobra would take
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(cmd, args[0])
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(a.replayCommand(), a.whyCommand(), a.timelineCommand(), a.sessionsCommand(), a.costCommand(), a.listingCommand(), a.testCommand(), a.conformCommand(), a.rulesCommand(), a.renderCommand(), a.configCommand(), a.cacheCommand(), a.manCommand(), a.versionCommand())
	root.SetOut(a.stdout) // the commands below hold what it is now
	root.SetErr(a.stderr)
	root.InitDefaultHelpCmd()
	finishHelp(root)
	root.InitDefaultCompletionCmd()
	finishCompletion(root)
	completeNumbers(root)
	return root
}

// unknownCommand is the error of a command that there is not.
func unknownCommand(root *cobra.Command, name string) error {
	hint := "see skilltrace --help"
	if near := root.SuggestionsFor(name); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q; %s", name, hint)
}

// finishHelp makes a topic that there is not an error, where cobra shows the help of the
// program and succeeds.
func finishHelp(root *cobra.Command) {
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		panic(err) // the command was added just before
	}
	help.Short = "The help of a command"
	help.Long = help.Short + `: what it does, its options, and examples. It is the same
as --help behind the command. Without a command, all commands are listed.`
	help.Example = "  skilltrace help why\n  skilltrace help test init"
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		topic, rest, err := cmd.Root().Find(args)
		switch {
		case len(args) > 0 && (err != nil || topic == cmd.Root()):
			return unknownCommand(cmd.Root(), args[0])
		case len(rest) > 0:
			return fmt.Errorf("%s has no command %q; see %s --help", topic.CommandPath(), rest[0], topic.CommandPath())
		}
		topic.InitDefaultHelpFlag()
		topic.InitDefaultVersionFlag()
		return topic.Help()
	}
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
		c.Short = "Write the script by which " + c.Name() + " completes commands and options"
		c.Long, c.Example = completionHelp(c.Name())
	}
	completion.Use = "completion SHELL"
	completion.DisableFlagsInUseLine = true
	completion.Short = "Write the script by which a shell completes commands and options"
	completion.Long = completion.Short + `,
and with them the ids of sessions, the names of skills and the versions of clients.
The help of each shell, such as skilltrace completion bash --help, says how the
script is installed.`
	completion.Example = "  skilltrace completion bash > skilltrace.bash\n  skilltrace completion zsh > _skilltrace"
	completion.Args = cobra.ArbitraryArgs
	completion.RunE = func(cmd *cobra.Command, args []string) error {
		given := strings.Join(append([]string{cmd.CommandPath()}, args...), " ")
		return fmt.Errorf("%s: want %s; see %s --help", given, oneOf(shells), cmd.CommandPath())
	}
}

// completionHelp says how the script of a shell is installed.
func completionHelp(shell string) (long, example string) {
	const write = "Write the script by which "
	names := ` completes commands and options, the ids of sessions,
the names of skills and the versions of clients. `
	switch shell {
	case "bash":
		return write + shell + names + `It needs the package
bash-completion. For this shell only, it is read from a pipe; written to a file, it
is there in each new shell.`, "  source <(skilltrace completion bash)\n  skilltrace completion bash > ~/.local/share/bash-completion/completions/skilltrace"
	case "zsh":
		return write + shell + names + `Completion is on where
.zshrc has autoload -U compinit; compinit. The file goes into a folder of $fpath,
and is there in each new shell.`, "  source <(skilltrace completion zsh)\n  skilltrace completion zsh > \"${fpath[1]}/_skilltrace\""
	case "fish":
		return write + shell + names + `For this shell only,
it is read from a pipe; written to a file, it is there in each new shell.`, "  skilltrace completion fish | source\n  skilltrace completion fish > ~/.config/fish/completions/skilltrace.fish"
	}
	return write + shell + names + `For this shell only,
it is read from a pipe; with a line for its file in the profile, it is there in each
new shell.`, "  skilltrace completion powershell | Out-String | Invoke-Expression\n  skilltrace completion powershell > skilltrace.ps1"
}

// oneOf lists words of which one is wanted.
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// nearest is the word that was meant, "" if none is near: one with a slip of the hand in
// it, else the only one that begins so.
func nearest(word string, known []string) string {
	if near := spec.Nearest(word, known); near != "" && len(word) > 2 {
		return near
	}
	match := ""
	for _, k := range known {
		switch {
		case len(word) < 3 || !strings.HasPrefix(k, word):
		case match != "":
			return ""
		default:
			match = k
		}
	}
	return match
}

// wrongValue is the error of an option whose value is not what is wanted.
func wrongValue(cmd *cobra.Command, flag, got, want string) error {
	if strings.TrimSpace(got) == "" {
		got = "''"
	}
	hint := ""
	if f := cmd.Flags().Lookup(flag); f != nil && strings.HasPrefix(f.Value.Type(), "string") {
		words := strings.Split(strings.NewReplacer("some of ", "", "one of ", "", " or ", ", ").Replace(want), ", ")
		if near := nearest(got, slices.DeleteFunc(words, func(word string) bool { return len(word) < 3 || strings.Contains(word, " ") })); near != "" {
			hint = "did you mean " + near + "? "
		}
	}
	return fmt.Errorf("--%s %s: want %s; %ssee %s --help", flag, got, want, hint, cmd.CommandPath())
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
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		if near := nearestFlag(cmd, unknown.GetSpecifiedName()); near != "" {
			return fmt.Errorf("%w; did you mean --%s? see %s --help", err, near, cmd.CommandPath())
		}
	}
	if missing := (*pflag.ValueRequiredError)(nil); errors.As(err, &missing) {
		f := missing.GetFlag()
		name, _ := pflag.UnquoteUsage(f)
		if name == strings.ToLower(name) {
			name = "a value" // it has no name of its own
		}
		return fmt.Errorf("--%s: want %s behind it; see %s --help", f.Name, name, cmd.CommandPath())
	}
	return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
}

// nearestFlag is the option of a command that was meant, "" if none is near.
func nearestFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return nearest(name, names)
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
	lacks := map[string]string{}
	for _, f := range report.Formats {
		if reason := report.Lacks(doc, f); reason != "" {
			lacks[lacksKey+string(f)] = reason
			continue
		}
		names = append(names, string(f))
	}
	a.formatFlags(cmd, names, lacks)
}

// formatFlags adds the options of commands that write something in one of the formats
// named; lacks says why others are not among them.
func (a *app) formatFlags(cmd *cobra.Command, names []string, lacks map[string]string) {
	f := cmd.Flags()
	f.StringVar(&a.format, "format", names[0], "form of the output: "+strings.Join(names, ", "))
	f.StringVarP(&a.output, "output", "o", "", "write to `FILE`, which is replaced only when all is written; its extension gives the format where --format does not")
	f.StringVar(&a.color, "color", "auto", "colour: "+strings.Join(colors, ", "))
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no notes and no progress on stderr")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "leave nothing out of tables, and cut nothing")
	cmd.Annotations = lacks
	cmd.Annotations[formatsKey] = strings.Join(names, " ")
	completeWords(cmd, "format", names)
	completeWords(cmd, "color", colors)
}

// The annotations of a command: its formats, and why it lacks others.
const (
	formatsKey = "formats"
	lacksKey   = "lacks "
)

func completeWords(cmd *cobra.Command, flag string, words []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added just before
	}
}

// markFolders makes options complete the names of folders.
func markFolders(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		if err := cmd.MarkFlagDirname(flag); err != nil {
			panic(err) // the flag was added just before
		}
	}
}

// workFlags adds the options of commands that read many inputs.
func (a *app) workFlags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&a.jobs, "jobs", runtime.GOMAXPROCS(0), "work on `N` inputs at the same time")
	cmd.Flags().Lookup("jobs").DefValue = "all processors"
}

// prepare checks the options that commands share.
func (a *app) prepare(cmd *cobra.Command) error {
	if err := a.configure(cmd); err != nil {
		return err
	}
	wrong := func(flag, got, want string) error { return wrongValue(cmd, flag, got, want) }
	if names, ok := cmd.Annotations[formatsKey]; ok {
		list := strings.Fields(names)
		if f := cmd.Flags().Lookup("format"); !f.Changed {
			a.format = formatOf(a.output, a.format)
		}
		if err := a.prepareOpen(cmd); err != nil {
			return err
		}
		if reason := cmd.Annotations[lacksKey+a.format]; reason != "" {
			if f := cmd.Flags().Lookup("format"); !f.Changed && formatOf(a.output, "") == a.format {
				return fmt.Errorf("--output %s asks for %s: want %s, as %s; --format goes before the extension", a.output, a.format, oneOf(list), reason)
			}
			return wrong("format", a.format, oneOf(list)+", as "+reason)
		}
		if !slices.Contains(list, a.format) {
			return wrong("format", a.format, oneOf(list))
		}
		if !slices.Contains(colors, a.color) {
			return wrong("color", a.color, oneOf(colors))
		}
		if _, err := a.location(); err != nil {
			return wrong("timezone", a.timezone, "the name of a zone, such as Europe/Berlin")
		}
	}
	if cmd.Flags().Lookup("jobs") != nil && a.jobs < 1 {
		return wrong("jobs", strconv.Itoa(a.jobs), wantedNumbers["jobs"])
	}
	if f := cmd.Flags().Lookup("window"); f != nil && chosen(cmd, "window") && a.inputs.window < 1 {
		return wrong("window", f.Value.String(), wantedNumbers["window"])
	}
	// A line that is written over needs a terminal that can go back.
	bare := isTerminal(a.stderr) && (a.getenv("TERM") == "dumb" || !enableColors(a.stderr))
	a.progress = newProgress(a.stderr, a.quiet || bare, a.verbose)
	return nil
}

// formatOf is the format that the name of an output file asks for, else the usual one.
func formatOf(file, usual string) string {
	ext := strings.TrimPrefix(filepath.Ext(file), ".")
	switch f := report.Format(ext); {
	case ext == "md":
		return string(report.FormatMarkdown)
	case ext == "htm":
		return string(report.FormatHTML)
	case ext == "xml": // the only one of the formats that is XML
		return string(report.FormatJUnit)
	case slices.Contains(report.Formats, f):
		return ext
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
	s := report.Style{Width: report.DefaultWidth, Verbose: a.verbose, Home: a.home(), Location: location, Color: a.colored(), Flags: a.scope.flags(), Again: a.scope.again(),
		Given: a.given(), RulesFile: option("rules", a.inputs.rules), PricesFile: option("prices", a.prices), Zone: option("timezone", a.timezone)}
	s.Dir, s.Workspace = a.workspace()
	if width := a.columns(); width > 0 {
		s.Width = width
	}
	return s
}

// columns is how many cells a line may have, 0 where nobody says.
func (a *app) columns() int {
	if n, err := strconv.Atoi(a.getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if a.output != "" {
		return 0
	}
	return terminalWidth(a.stdout)
}

// workspace is the working directory, and the folder that a build server knows files by.
func (a *app) workspace() (dir, root string) {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // it was removed: paths stay as they are
	}
	if root = a.getenv("GITHUB_WORKSPACE"); root == "" {
		root = dir
	}
	return dir, root
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
	return a.writeBy(func(w io.Writer) error { return report.Write(w, doc, report.Format(a.format), a.style()) })
}

// writeBy writes where the options say.
func (a *app) writeBy(write func(w io.Writer) error) error {
	a.progress.clear()
	watched := a.getenv("GITHUB_ACTIONS") != "" // it obeys what texts of logs may hold
	if a.output == "" && !watched {
		return write(a.stdout)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
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
