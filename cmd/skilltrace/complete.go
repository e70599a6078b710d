package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/report"
)

// Completion must be quick and must not disturb: what takes too long is left out, and what
// cannot be read is passed over in silence.
const (
	// completeTime bounds the reading of logs.
	completeTime = 150 * time.Millisecond
	// completeSessions is how many of the newest logs are offered, and completeSkills how
	// many of them are asked for the skills that they name, each up to completeBytes.
	completeSessions = 40
	completeSkills   = 8
	completeBytes    = 4 << 20
	// completeLogs bounds the files that are looked at for the newest.
	completeLogs = 20_000
)

type completer = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// quietly is a completer that uses the files of defaults, and that never fails.
func (a *app) quietly(complete completer) completer {
	return func(cmd *cobra.Command, args []string, toComplete string) (words []string, directive cobra.ShellCompDirective) {
		defer func() {
			if recover() != nil {
				words, directive = nil, cobra.ShellCompDirectiveDefault
			}
		}()
		a.quiet = true
		if err := a.configure(cmd); err != nil {
			a.noConfig = true // the command itself will say it
		}
		return complete(cmd, args, toComplete)
	}
}

// completeFlag makes an option complete by a function.
func (a *app) completeFlag(cmd *cobra.Command, flag string, complete completer) {
	if err := cmd.RegisterFlagCompletionFunc(flag, a.quietly(complete)); err != nil {
		panic(err) // the flag was added just before
	}
}

// completeArgs makes the arguments of a command complete: the first of them by first, if
// that is given, and the others as sessions.
func (a *app) completeArgs(cmd *cobra.Command, first completer) {
	cmd.ValidArgsFunction = a.quietly(func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if first != nil && len(args) == 0 && !cmd.Flags().Changed("all") {
			return first(cmd, args, toComplete)
		}
		return a.completeSession(cmd, args, toComplete)
	})
}

// described is a word with what it is, on one line and harmless to a terminal.
func described(word, what string) string {
	const most = 60
	return cobra.CompletionWithDesc(escape(word), report.Truncate(escape(what), most))
}

// completeList makes an option that takes a comma list complete its last word.
func completeList(cmd *cobra.Command, flag string, words []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		before := ""
		if i := strings.LastIndexByte(toComplete, ','); i >= 0 {
			before = toComplete[:i+1]
		}
		var out []string
		for _, word := range words {
			if !slices.Contains(strings.Split(before, ","), word) {
				out = append(out, before+word)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	if err != nil {
		panic(err) // the flag was added just before
	}
}

// foundLog is a log on disk, as far as its folder tells.
type foundLog struct {
	id, path string
	changed  time.Time
	size     int64
}

// newestLogs are the main logs in the configuration folders in scope, the newest first.
// None of them is opened.
func (a *app) newestLogs() []foundLog {
	var logs []foundLog
	for _, dir := range a.configFolders() {
		top := filepath.Join(dir, "projects")
		if info, err := os.Stat(top); err != nil || !info.IsDir() {
			top = dir
		}
		folders := []string{top}
		entries, _ := os.ReadDir(top)
		for _, e := range entries {
			if e.IsDir() {
				folders = append(folders, filepath.Join(top, e.Name()))
			}
		}
		for _, folder := range folders {
			entries, _ := os.ReadDir(folder)
			for _, e := range entries {
				id, ok := strings.CutSuffix(strings.TrimSuffix(e.Name(), ".gz"), ".jsonl")
				if !ok || strings.HasPrefix(id, "agent-") || !e.Type().IsRegular() {
					continue
				}
				if info, err := e.Info(); err == nil {
					logs = append(logs, foundLog{id, filepath.Join(folder, e.Name()), info.ModTime(), info.Size()})
				}
				if len(logs) >= completeLogs {
					break
				}
			}
		}
	}
	slices.SortFunc(logs, func(x, y foundLog) int { return cmp.Or(y.changed.Compare(x.changed), strings.Compare(x.path, y.path)) })
	return logs
}

// completeSession offers the ids of the newest sessions, with their day and project.
func (a *app) completeSession(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if strings.ContainsAny(toComplete, "./~") {
		return nil, cobra.ShellCompDirectiveDefault // a path
	}
	end := time.Now().Add(completeTime)
	var words []string
	if strings.HasPrefix("latest", toComplete) && len(args) == 0 {
		words = append(words, described("latest", "the newest session"))
	}
	for _, log := range a.newestLogs() {
		if !strings.HasPrefix(log.id, toComplete) || slices.Contains(args, log.id) {
			continue
		}
		what := log.changed.Format(time.DateOnly)
		if time.Now().Before(end) {
			if look, err := jsonl.Looks(log.path); err == nil && look.CWD != "" {
				what += " " + look.CWD
			}
		}
		words = append(words, described(log.id, what))
		if len(words) > completeSessions {
			break
		}
	}
	// Paths, where none of these fits.
	return words, cobra.ShellCompDirectiveDefault | cobra.ShellCompDirectiveKeepOrder
}

// completeSkill offers the skills that have a folder, and those that the newest logs
// name, or those that the sessions given do.
func (a *app) completeSkill(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.Background(), completeTime)
	defer cancel()
	names := map[string]string{}
	for _, dir := range a.skillDirs() {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if _, err := os.Stat(filepath.Join(dir, e.Name(), "SKILL.md")); err == nil {
				names[e.Name()] = "a skill in " + dir
			}
		}
	}
	logs := a.newestLogs()
	if len(args) > 0 {
		logs = slices.DeleteFunc(logs, func(log foundLog) bool {
			return !slices.ContainsFunc(args, func(arg string) bool { return arg != "" && strings.HasPrefix(log.id, arg) })
		})
	}
	read := 0
	for _, log := range logs {
		if ctx.Err() != nil || read == completeSkills {
			break
		}
		if log.size > completeBytes {
			continue
		}
		read++
		s, _, err := a.observe(ctx, &jsonl.Session{ID: log.id, Path: log.path})
		if err != nil {
			continue
		}
		for _, name := range namedIn(s).skills {
			if names[name] == "" {
				names[name] = "in session " + log.id[:min(8, len(log.id))]
			}
		}
	}
	var words []string
	for name, what := range names {
		if strings.HasPrefix(name, toComplete) && !strings.ContainsAny(name, " \t\n") {
			words = append(words, described(name, what))
		}
	}
	slices.Sort(words)
	return words, cobra.ShellCompDirectiveNoFileComp
}

// skillDirs are the folders in which skills of the user and of this project lie, or those
// of --skills.
func (a *app) skillDirs() []string {
	if len(a.inputs.skills) > 0 {
		return a.inputs.skills
	}
	var dirs []string
	for _, dir := range a.configFolders() {
		dirs = append(dirs, filepath.Join(dir, "skills"))
	}
	wd, err := os.Getwd()
	if err != nil {
		return dirs
	}
	for {
		dirs = append(dirs, filepath.Join(wd, ".claude", "skills"))
		up := filepath.Dir(wd)
		if _, err := os.Lstat(filepath.Join(wd, ".git")); err == nil || up == wd {
			return dirs
		}
		wd = up
	}
}

// completeClient offers clients, and the versions since which rules changed, the newest
// first.
func completeClient(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	words, _ := completeVersion(cmd, args, toComplete)
	for i := range words {
		version, what, _ := strings.Cut(words[i], "\t")
		if !slices.Contains(rules.Clients(), version) {
			words[i] = cobra.CompletionWithDesc(defaultClient+"@"+version, what)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeVersion is completeClient for where versions alone are wanted.
func completeVersion(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	table, err := rules.For(defaultClient)
	if err != nil || len(args) > 0 {
		return nil, directive
	}
	words := []string{cobra.CompletionWithDesc(table.Latest, "the newest recorded")}
	seen := []string{table.Latest}
	changes := table.Changes()
	slices.Reverse(changes)
	for _, c := range changes {
		if !slices.Contains(seen, c.Since) {
			seen = append(seen, c.Since)
			words = append(words, described(c.Since, "rules changed: "+c.Key))
		}
	}
	for _, name := range rules.Clients() {
		if name != defaultClient {
			words = append(words, cobra.CompletionWithDesc(name, "as described"))
		}
	}
	return words, directive
}

// completeWhatIf offers the inputs of --what-if, and what they take.
func (a *app) completeWhatIf(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	const more = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	key, value, given := strings.Cut(toComplete, "=")
	if !given {
		return []string{
			cobra.CompletionWithDesc("remove=", "the skill does not exist"),
			cobra.CompletionWithDesc("cut=", "descriptions have at most so many characters"),
			cobra.CompletionWithDesc("disable-model-invocation=", "these skills are not listed"),
			cobra.CompletionWithDesc("budget-fraction=", "listings may take that part of the window"),
			cobra.CompletionWithDesc("model=", "at the prices of another model"),
		}, more | cobra.ShellCompDirectiveKeepOrder
	}
	var words []string
	switch key {
	case "remove", "disable-model-invocation":
		before := ""
		if i := strings.LastIndexByte(value, ','); i >= 0 {
			before, value = value[:i+1], value[i+1:]
		}
		words, _ = a.completeSkill(cmd, args, value)
		for i := range words {
			words[i] = key + "=" + before + words[i]
		}
	case "model":
		for _, name := range pricedModels() {
			words = append(words, "model="+name)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return words, more
}

// completeModel offers the models that have a price.
func completeModel(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return pricedModels(), cobra.ShellCompDirectiveNoFileComp
}

func pricedModels() []string {
	book := budget.DefaultBook()
	return book.Models()
}

// completeFiles offers the files with some endings.
func completeFiles(endings ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeNumbers keeps the names of files from options that take none.
func completeNumbers(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, ok := cmd.GetFlagCompletionFunc(f.Name); ok || len(f.Annotations) > 0 {
			return
		}
		switch kind := f.Value.Type(); {
		case kind == "int", kind == "int64", kind == "float64", slices.Contains(noFiles, f.Name):
			if err := cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions); err != nil {
				panic(err) // the flag is there
			}
		}
	})
	for _, c := range cmd.Commands() {
		completeNumbers(c)
	}
}

// noFiles are options that take a text which is no file.
var noFiles = []string{"case", "command", "max-cost-usd", "prompt", "shard", "since", "timezone", "until"}
