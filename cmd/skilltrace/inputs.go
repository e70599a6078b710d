package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
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
func replaySession(ctx context.Context, log *jsonl.Session, s *replay.Session, in *given) (report.ReplayInput, error) {
	if err := ctx.Err(); err != nil {
		return report.ReplayInput{}, err
	}
	version := in.version
	if version == "" && len(s.Versions) > 0 {
		version = s.Versions[0]
	}
	if version == "" {
		version = in.table.Latest
	}
	r := &replay.Result{Session: s, Client: in.table.Client + "@" + version, Window: in.window}
	known, err := in.table.At(version)
	if err != nil {
		return report.ReplayInput{}, fmt.Errorf("%s: %w; --client names another version", s.File, err)
	}
	r.RulesExact = known.Exact
	if !known.Exact {
		r.Assumptions = append(r.Assumptions, "the client is "+known.Why)
	}
	if len(s.Models) > 0 {
		r.Model = s.Models[0]
	}
	for _, agent := range s.Agents {
		r.Agents = append(r.Agents, replay.AgentResult{Agent: agent})
	}
	return report.ReplayInput{Result: r}, nil
}
