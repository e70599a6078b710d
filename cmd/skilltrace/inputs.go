package main

import (
	"errors"
	"fmt"
	"os"

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
	if in.table, err = rulesTable(client, in.rules); err != nil {
		return nil, err
	}
	if _, in.version = rules.Split(client); in.version != "" {
		if _, err := in.table.At(in.version); err != nil {
			return nil, fmt.Errorf("--client %s: %w", client, err)
		}
	}
	if in.window < 0 {
		return nil, fmt.Errorf("--window %d: want a number of tokens", in.window)
	}
	for _, dir := range in.skills {
		if _, err := os.ReadDir(dir); err != nil {
			return nil, fmt.Errorf("--skills %s: %w; give a folder of skills that can be read", dir, plain(err))
		}
	}
	for _, file := range []struct{ flag, path string }{{"settings", in.settings}, {"usage", in.usage}} {
		if file.path == "" {
			continue
		}
		info, err := os.Stat(file.path)
		if err == nil && info.IsDir() {
			err = errors.New("a folder, not a file")
		}
		if err != nil {
			return nil, fmt.Errorf("--%s %s: %w", file.flag, file.path, plain(err))
		}
	}
	return in, nil
}

// replaySession predicts a session from its inputs and compares it with its log.
func (a *app) replaySession(s *replay.Session, in *given) (report.ReplayInput, error) {
	found, err := local.Find(s, local.Options{
		Home: a.home(), ConfigDirs: a.configFolders(), Skills: in.skills, Settings: in.settings, Usage: in.usage,
		Window: in.window, Table: in.table, Version: in.version,
	})
	if err != nil {
		return report.ReplayInput{}, err
	}
	r := replay.Run(s, &found.Inputs, replay.Comparison{Exact: found.Inputs.Exact, RulesExact: found.RulesExact})
	r.Client, r.Model, r.Window = found.Client, found.Model, found.Window
	r.Inputs, r.Assumptions = found.Uses, found.Assumptions
	return report.ReplayInput{Result: r}, nil
}
