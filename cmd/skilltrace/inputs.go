package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/report"
)

// given are the inputs of the user, checked.
type given struct {
	inputs
	table   *rules.Table
	version string // of the client, "" for that of the log
	finder  *local.Finder
	prices  *budget.Book
	detail  bool // of what a page shows
}

// loadInputs checks what the user gave: a wrong path is said before the work
// begins, not by undetermined checks after it.
func (a *app) loadInputs() (*given, error) {
	in := &given{inputs: a.inputs}
	client := in.client
	if client == "" {
		client = defaultClient
	}
	var err error
	if in.prices, err = a.book(); err != nil {
		return nil, err
	}
	if in.table, err = rulesTable(client, in.rules); err != nil {
		return nil, err
	}
	if _, in.version = rules.Split(client); in.version != "" {
		if _, err := in.table.At(in.version); err != nil {
			return nil, fmt.Errorf("--client %s: %w", client, err)
		}
	}
	if in.skillsAt != local.AtNow {
		if err := local.CheckRevision(in.skillsAt); err != nil {
			return nil, fmt.Errorf("--skills-at: %w", err)
		}
		if err := local.CheckGit(); err != nil {
			return nil, fmt.Errorf("--skills-at %s: %w", in.skillsAt, err)
		}
	}
	if in.skills, err = a.skillFolders(in.skills); err != nil {
		return nil, err
	}
	for _, file := range []struct {
		flag, path string
		check      func(string) error
		want       string
	}{
		{"settings", in.settings, local.CheckSettings, "a settings.json of the client, such as ~/.claude/settings.json"},
		{"usage", in.usage, local.CheckUsage, "a .claude.json of the client, or a copy of it"},
	} {
		if file.path == "" {
			continue
		}
		if err := file.check(file.path); err != nil {
			return nil, fmt.Errorf("--%s %w; give %s", file.flag, err, file.want)
		}
	}
	if in.managed != "" {
		if _, err := os.ReadDir(in.managed); err != nil {
			return nil, fmt.Errorf("--managed-dir %s: %w; give the folder that holds managed-settings.json", in.managed, plain(err))
		}
	}
	in.finder = local.NewFinder(local.Options{
		Home: a.home(), ConfigDirs: a.configFolders(), ConfigGiven: len(a.scope.configDirs) > 0, Skills: in.skills, SkillsAt: in.skillsAt, Settings: in.settings, Usage: in.usage, Managed: in.managed,
		Window: in.window, Table: in.table, Version: in.version, Getenv: a.getenv,
	})
	return in, nil
}

// skillFolders are the folders of skills that can be used. Of several, one that
// cannot is reported, and the others are used.
func (a *app) skillFolders(dirs []string) ([]string, error) {
	var usable []string
	var problems []error
	for _, dir := range dirs {
		if err := checkSkills(dir); err != nil {
			problems = append(problems, fmt.Errorf("--skills %s: %w", dir, err))
			continue
		}
		usable = append(usable, dir)
	}
	if len(usable) == 0 && len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	for _, err := range problems {
		a.unusable(err)
	}
	return usable, nil
}

// checkSkills says what is wrong with a folder of skills, and which one may have
// been meant.
func checkSkills(dir string) error {
	if _, err := os.ReadDir(dir); err != nil {
		return fmt.Errorf("%w; give a folder of skills that can be read", plain(err))
	}
	has := func(parts ...string) bool {
		_, err := os.Stat(filepath.Join(append([]string{dir}, parts...)...))
		return err == nil
	}
	switch inner := filepath.Join(dir, ".claude", "skills"); {
	case has("SKILL.md"):
		return fmt.Errorf("a skill, not a folder of skills; give the folder above it, %s", filepath.Dir(filepath.Clean(dir)))
	case has(".claude", "skills"):
		return fmt.Errorf("a project, not a folder of skills; give %s", inner)
	}
	return nil
}

// replayed is a session with what was found out on the way.
type replayed struct {
	session  report.ReplaySession
	problems []string // files that were looked for and cannot be used
	version  error    // the log names something that is no client version
}

// replaySession predicts a session from its inputs and compares it with its log.
func (in *given) replaySession(s *replay.Session, read *jsonl.Stats) (*replayed, error) {
	found, err := in.finder.Find(s)
	if err != nil {
		return nil, err
	}
	r := replay.Run(s, &found.Inputs, comparison(found))
	settleResult(r, found)
	var detail *report.ReplayDetail
	if in.detail {
		detail = detailOf(s, in.prices)
	}
	out := &replayed{problems: found.Problems, version: in.badVersion(s, found), session: report.NewReplaySession(report.ReplayInput{
		Result: r, Read: *read, Budget: found.Budget, BudgetSource: found.BudgetSource, ListingSize: found.ListingSize, Demand: demandOf(found, r), Rules: found.Inputs.Rules, InScope: found.Own && !bySubagent(s), SkillFiles: skillFiles(s, found), Tokens: tokensOf(s, in.prices), Detail: detail,
	})}
	return out, nil
}

// bySubagent reports whether the log of one subagent is all that was read, which its
// path names: the id names the whole session.
func bySubagent(s *replay.Session) bool { return len(s.Agents) == 2 && s.File == s.Agents[1].File }

// comparison is how a session is judged with what was found of it.
func comparison(found *local.Found) replay.Comparison {
	return replay.Comparison{Exact: found.Inputs.Exact, RulesExact: found.RulesExact, Assumed: found.Assumed, History: found.Inputs.History}
}

// settleResult adds to a result what was found, and compares the skill files with it.
func settleResult(r *replay.Result, found *local.Found) {
	r.Described = found.Described
	r.Client, r.Model, r.Window = found.Client, found.Model, found.Window
	r.Inputs, r.Assumptions = found.Uses, found.Assumptions
	found.CompareBodies(r)
}

// badVersion is the error of a log that names something which is no client version.
func (in *given) badVersion(s *replay.Session, found *local.Found) error {
	if found.BadVersion == "" {
		return nil
	}
	return fmt.Errorf("%s: client version %w; the newest rules were used, --client %s@VERSION chooses others", s.File, &rules.VersionError{Text: found.BadVersion}, in.table.Client)
}

// demandOf is what the first listing of a session asks for, nil where it is not known.
func demandOf(found *local.Found, r *replay.Result) *report.Demand {
	d, ok := found.Demand(r)
	if !ok {
		return nil
	}
	out := &report.Demand{Size: d.Size, From: "log", AtLeast: d.AtLeast}
	if d.Files {
		out.From = "files"
	}
	return out
}

// skillFiles are the skill files found for a session, each with what its log shows
// of it.
func skillFiles(s *replay.Session, found *local.Found) []report.SkillFile {
	var out []report.SkillFile
	for i := range found.Skills {
		k := &found.Skills[i]
		var compared []report.FileCompared
		for _, c := range k.Compared {
			compared = append(compared, report.NewFileCompared(string(c.By), string(c.State), c.Where, c.Part, c.Seen, c.Now))
		}
		file := report.NewSkillFile(k.Name, k.Path, string(k.State()), s.File, compared)
		for _, n := range k.Front {
			file.FrontMatter = append(file.FrontMatter, report.FrontNote{Line: n.Line, Kind: n.Kind, Key: n.Key, Text: n.Text})
		}
		if k.ListedAt.Line > 0 {
			file.Listed, file.ListedLine = new(report.Text(k.Listed)), k.ListedAt.Line
		}
		out = append(out, file)
	}
	return out
}
