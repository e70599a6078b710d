package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/conform"
	"github.com/skilltrace/skilltrace/replay/ledger"
	"github.com/skilltrace/skilltrace/report"
)

// observe reads the logs of a session into its timelines. The second result
// accounts for their lines.
func (a *app) observe(ctx context.Context, log *jsonl.Session) (*replay.Session, *jsonl.Stats, error) {
	var stats jsonl.Stats
	source := func(path, agent, typ string) replay.Source {
		return replay.Source{Name: path, Agent: agent, Type: typ, Records: func(yield func(*jsonl.Record, error) bool) {
			if path == "" {
				return // only logs of subagents are left of this session
			}
			var own jsonl.Stats
			defer func() { stats.Add(&own) }()
			opt := replay.Reading()
			opt.Stats = &own
			const step = 1 << 20 // bytes between two looks at the clock
			size, read, packed := sizeOf(path), int64(0), strings.HasSuffix(path, ".gz")
			defer func() { a.progress.read(size - read) }()
			for r, err := range untilDone(ctx, jsonl.ReadFile(path, opt)) {
				// The positions of a packed log are not those of its file.
				if r != nil && !packed && r.Pos.Offset-read >= step && r.Pos.Offset <= size {
					a.progress.read(r.Pos.Offset - read)
					read = r.Pos.Offset
				}
				if !yield(r, err) {
					return
				}
			}
		}}
	}
	var subs []replay.Source
	for _, a := range log.Agents {
		subs = append(subs, source(a.Path, a.ID, a.Type))
	}
	s, err := replay.Observe(source(log.Path, "", ""), subs...)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, nil, err
	}
	s.Lines = stats.Lines
	if files := log.Files(); s.File == "" && len(files) > 0 {
		s.File = files[0] // the main log is gone, or that of a subagent was given by itself
	}
	if s.ID == "" {
		s.ID = log.ID
	}
	return s, &stats, nil
}

// sizeOf is the size of a file in bytes, 0 where it is not known.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// bytesOf is the size of the files of sessions together, in bytes.
func bytesOf(logs []jsonl.Session) int64 {
	all := int64(0)
	for i := range logs {
		for _, file := range logs[i].Files() {
			all += sizeOf(file)
		}
	}
	return all
}

// untilDone passes records on until the context ends.
func untilDone(ctx context.Context, records iter.Seq2[*jsonl.Record, error]) iter.Seq2[*jsonl.Record, error] {
	return func(yield func(*jsonl.Record, error) bool) {
		for r, err := range records {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// tokensOf charges the recorded usage of a session to layers; nil where it made
// no model request.
func tokensOf(s *replay.Session, prices *budget.Book) *report.TokensBlock {
	l := ledger.Of(s, prices)
	if l.Calls == 0 {
		return nil
	}
	out := &report.TokensBlock{Calls: l.Calls, Unfinished: l.Unfinished, Usage: tokenSum(l.Usage), Layers: []report.LayerRow{}, Notes: []string{}}
	if l.Priced {
		out.CostMicroUSD = new(l.MicroUSD)
	}
	for _, r := range l.Rows {
		if r.Once == 0 && r.Carried == 0 && r.Tokens == (ledger.Tokens{}) {
			continue
		}
		row := report.LayerRow{Layer: string(r.Layer), Once: r.Once, Carried: r.Carried, Tokens: tokenSum(r.Tokens), Basis: string(r.Basis)}
		if l.Priced {
			row.CostMicroUSD = new(r.MicroUSD)
		}
		out.Layers = append(out.Layers, row)
	}
	for _, model := range l.Unpriced {
		out.Notes = append(out.Notes, "no price is known for "+model)
	}
	if l.UnknownLifetime {
		out.Notes = append(out.Notes, "the lifetime of cache writes is not recorded: priced at five minutes")
	}
	if l.ModelChanged > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("calls within which the model changed: %d; the row with the highest output counts", l.ModelChanged))
	}
	if l.Reanchored > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("calls whose prompt shrank without a compaction: %d; what fell out of it is not in the log", l.Reanchored))
	}
	out.Price()
	return out
}

// aRecording says what conform reads. The repository holds none.
const aRecording = "give a folder of recordings, each with a case.yaml and the logs of the client; they are not part of the repository, docs/recording.md says how they are made"

// recordings finds the folders of recordings, those with a case.yaml, below the
// arguments. Links are not followed.
func (a *app) recordings(args []string) ([]string, error) {
	var dirs []string
	seen := map[string]bool{}
	for _, arg := range args {
		found := 0
		top, err := walkable(arg)
		if err == nil {
			err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
				switch {
				case err != nil && path == top:
					return err
				case err != nil:
					a.unusable(fmt.Errorf("%s: %w; passed over, make it readable to have it read", path, plain(err)))
					return fs.SkipDir
				case !d.IsDir() || seen[path]:
					return nil
				}
				if info, err := os.Lstat(filepath.Join(path, "case.yaml")); err == nil && info.Mode().IsRegular() {
					seen[path] = true
					found++
					dirs = append(dirs, path)
					return fs.SkipDir
				}
				return nil
			})
		}
		var problem error
		switch {
		case errors.Is(err, fs.ErrNotExist):
			problem = &jsonl.InputError{Input: arg, What: plain(err).Error(), Next: aRecording}
		case err != nil:
			problem = &jsonl.InputError{Input: arg, What: plain(err).Error(), Next: "give a folder of recordings"}
		case found == 0:
			problem = &jsonl.InputError{Input: arg, What: "no recordings", Next: aRecording}
		}
		if problem != nil {
			if len(args) == 1 {
				return nil, problem
			}
			a.unusable(problem)
		}
	}
	if len(dirs) == 0 {
		return nil, errors.New("no recording was found")
	}
	sort.Strings(dirs)
	return dirs, nil
}

// walkable is a folder under a name that a walk enters: links are followed for the
// arguments themselves.
func walkable(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		return path, err
	}
	if _, err := os.Stat(path); err != nil {
		return path, err // in the words of the system
	}
	return filepath.EvalSymlinks(path)
}

// runConform replays recordings. One that cannot be replayed is reported, and
// the others go on.
func (a *app) runConform(ctx context.Context, dirs []string) ([]report.ConformCase, error) {
	results := make([]conform.Agreement, len(dirs))
	done := make(chan struct{}, len(dirs))
	err := parallel(ctx, a.jobs, len(dirs), func(i int) {
		results[i] = conform.Run(dirs[i])
		done <- struct{}{}
		a.progress.update("recordings", len(done), len(dirs))
	})
	if err != nil {
		return nil, err
	}
	var cases []report.ConformCase
	for i := range results {
		r := &results[i]
		if r.Err != nil {
			err := fmt.Errorf("%w; expected a recording: a case.yaml and the logs in sessions", r.Err)
			if len(dirs) == 1 {
				return nil, err
			}
			a.unusable(err)
			continue
		}
		c := report.ConformCase{Case: r.Case, Client: r.Client, Checks: map[string]report.ConformCounts{}}
		for kind, n := range r.Counts {
			c.Checks[string(kind)] = report.ConformCounts{Match: n.Match, Divergent: n.Divergent, Undetermined: n.Undetermined}
		}
		for _, check := range r.Checks {
			c.Failures = append(c.Failures, report.NewFailure(check))
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, errors.New("no recording could be replayed")
	}
	return cases, nil
}
