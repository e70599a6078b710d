package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/report"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config [COMMAND]",
		Short: "What options are set to where none is given, and by which file",
		Long: `Config shows the value that each option has when it is not given with a command, and
where that comes from: a file of defaults, the environment, or the program. With the
name of a command it shows those of this command.

Files of defaults are ` + configName + `: that of the project, which is the nearest one in
the working directory or above it, up to the top of its git repository; then yours,
in your home directory. What is given with a command goes before both. In a file
stand options without their dashes, for all commands that have them or for one:

  format: json
  skills: [.claude/skills]
  commands:
    cost:
      by: [skill, month]

A project's file comes with a clone and may be the work of strangers. It can set how
results are shown and, by paths within the project, what they rest on. It cannot set
what writes, runs, spends money, hides anything or reads elsewhere.`,
		Example: `  skilltrace config
  skilltrace config cost
  skilltrace config --format json`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runConfig(cmd, args) },
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, c := range reports(cmd.Root()) {
			names = append(names, cobra.CompletionWithDesc(commandName(c), c.Short))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	a.outputFlags(cmd, &report.ConfigDocument{})
	return cmd
}

func (a *app) runConfig(cmd *cobra.Command, args []string) error {
	list := reports(cmd.Root())
	if len(args) > 0 {
		name := strings.Join(args, " ")
		var names []string
		for _, c := range list {
			names = append(names, commandName(c))
		}
		at := slices.Index(names, name)
		if at < 0 {
			return fmt.Errorf("%s: %s; see %s --help", cmd.CommandPath(), spec.Unknown("command", name, names), cmd.CommandPath())
		}
		list = list[at : at+1]
	}
	var files []configFile
	if !a.noConfig {
		var err error
		if files, err = a.configFiles(cmd.Root()); err != nil {
			return err
		}
	}
	doc := &report.ConfigDocument{Schema: report.ConfigSchema, Files: a.filesOfConfig(), Options: []report.ConfigOption{}, Environment: a.environment()}
	have := map[string]int{} // commands that have an option
	for _, c := range list {
		for _, name := range settable(c) {
			have[name]++
			o := a.effective(files, c, name)
			i := slices.IndexFunc(doc.Options, func(other report.ConfigOption) bool {
				return other.Option == o.Option && other.From == o.From && other.File == o.File && other.Line == o.Line && other.Variable == o.Variable && reflect.DeepEqual(other.Value, o.Value)
			})
			if i < 0 {
				doc.Options = append(doc.Options, o)
				i = len(doc.Options) - 1
			}
			doc.Options[i].Commands = append(doc.Options[i].Commands, commandName(c))
		}
	}
	for i := range doc.Options {
		o := &doc.Options[i]
		o.All = len(o.Commands) == have[o.Option]
	}
	slices.SortStableFunc(doc.Options, func(x, y report.ConfigOption) int { return cmp.Compare(x.Option, y.Option) })
	return a.write(doc)
}

// filesOfConfig are the files of defaults, the project's first.
func (a *app) filesOfConfig() []report.ConfigFile {
	var out []report.ConfigFile
	for _, project := range []bool{true, false} {
		f := report.ConfigFile{Kind: report.FromUser, Path: a.configPath(project)}
		if project {
			f.Kind = report.FromProject
		}
		f.Found = f.Path != "" && !a.noConfig
		if f.Path == "" && !project && a.home() != "" {
			f.Path = filepath.Join(a.home(), configName)
		}
		f.Path = filepath.ToSlash(f.Path)
		out = append(out, f)
	}
	return out
}

// effective is the value of an option of a command where it is not given.
func (a *app) effective(files []configFile, cmd *cobra.Command, name string) report.ConfigOption {
	f := cmd.LocalFlags().Lookup(name)
	s, _ := settingOf(cmd, name)
	o := report.ConfigOption{Option: name, From: report.FromProgram, ProjectMaySet: s.project}
	file, v := setBy(files, cmd, name)
	if variable := a.variableOf(name); variable != "" && (v == nil || name == "config-dir") {
		o.From, o.Variable = report.FromEnvironment, variable
		o.Value = a.usual(name, f)
		return o
	}
	if v == nil {
		o.Value = a.usual(name, f)
		return o
	}
	o.From, o.File, o.Line = report.FromUser, filepath.ToSlash(file.path), v.line
	if file.project {
		o.From = report.FromProject
	}
	o.Value = typed(f, v.texts)
	return o
}

// variableOf is the variable of the environment that decides an option which no file
// sets, "" if none does.
func (a *app) variableOf(option string) string {
	set := func(name string) string {
		if a.getenv(name) != "" {
			return name
		}
		return ""
	}
	switch option {
	case "config-dir":
		return set("CLAUDE_CONFIG_DIR")
	case "timezone":
		return set("TZ")
	case "cache-dir":
		return set("XDG_CACHE_HOME")
	case "color":
		_, variable := (&app{getenv: a.getenv, stdout: a.stdout, color: "auto"}).colorBy(isTerminal)
		return variable
	}
	return ""
}

// usual is the value of an option without files of defaults, nil if there is none.
func (a *app) usual(option string, f *pflag.Flag) any {
	switch option {
	case "config-dir":
		dirs := (&app{getenv: a.getenv}).configFolders()
		for i := range dirs {
			dirs[i] = filepath.ToSlash(dirs[i])
		}
		if dirs == nil {
			return nil
		}
		return dirs
	case "timezone":
		return zoneName(time.Local, a.getenv)
	case "cache-dir":
		if dir := a.cacheDir("live"); dir != "" {
			return filepath.ToSlash(dir)
		}
		return nil
	case "color":
		on, variable := (&app{getenv: a.getenv, stdout: a.stdout, color: "auto"}).colorBy(isTerminal)
		switch {
		case variable == "":
			return "auto"
		case on:
			return "always"
		}
		return "never"
	case "jobs":
		return nil // as many as there are processors
	}
	if _, ok := f.Value.(pflag.SliceValue); ok {
		if f.DefValue == "[]" {
			return nil
		}
		return strings.Split(strings.Trim(f.DefValue, "[]"), ",")
	}
	if f.DefValue == "" || f.DefValue == "0" && option != "limit" && option != "top" {
		return nil
	}
	return typed(f, []string{f.DefValue})
}

// typed is a value of an option as JSON has it.
func typed(f *pflag.Flag, texts []string) any {
	switch f.Value.Type() {
	case "stringSlice", "stringArray":
		return texts
	case "bool":
		return texts[0] == "true"
	case "int", "int64":
		if n, err := strconv.ParseInt(texts[0], 10, 64); err == nil {
			return n
		}
	}
	return texts[0]
}

// environment are the variables that are set and looked at.
func (a *app) environment() []report.ConfigVariable {
	out := []report.ConfigVariable{}
	for _, v := range []report.ConfigVariable{
		{Name: "CLAUDE_CONFIG_DIR", What: "configuration folders of the client, a comma list"},
		{Name: "NO_COLOR", What: "no colours, whatever its value"},
		{Name: "FORCE_COLOR", What: "colours where the output is no terminal, too; 0 for none"},
		{Name: "CLICOLOR_FORCE", What: "the same as FORCE_COLOR"},
		{Name: "CLICOLOR", What: "0 for no colours"},
		{Name: "TERM", What: "dumb for no colours"},
		{Name: "COLUMNS", What: "width of tables, in cells"},
		{Name: "TZ", What: "local time"},
		{Name: "XDG_CACHE_HOME", What: "folder of caches"},
		{Name: "GITHUB_WORKSPACE", What: "folder to which paths of annotations are relative"},
		{Name: budget.EnvCharBudget, What: "budget of listings, as the client takes it"},
		{Name: "ANTHROPIC_BASE_URL", Secret: true, What: "where test --scorer live asks"},
		{Name: "ANTHROPIC_API_KEY", Secret: true, What: "key with which it asks"},
		{Name: "ANTHROPIC_AUTH_TOKEN", Secret: true, What: "token with which it asks"},
		{Name: "ANTHROPIC_CUSTOM_HEADERS", Secret: true, What: "headers with which it asks"},
		{Name: "SOURCE_DATE_EPOCH", What: "date of manual pages, seconds since 1970"},
	} {
		if v.Value = a.getenv(v.Name); v.Value == "" {
			continue
		}
		if v.Secret {
			v.Value = ""
		}
		out = append(out, v)
	}
	return out
}
