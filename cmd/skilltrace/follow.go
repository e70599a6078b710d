package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/report"
)

// followPause is how long a followed log is left alone between two looks at it. Where
// reading it takes longer, so does the pause: most of the time the machine is free.
var followPause = 500 * time.Millisecond

// followed is a session of which the log grows.
type followed struct {
	app    *app
	path   string // of the main log
	filter report.TimelineFilter
	out    *report.TimelineFollower

	main  os.FileInfo // as it was when it was last there
	gone  bool
	sizes []int64 // of all its files
	told  string  // what was said of it last
}

// follow writes the events of one session as they are written to its log, until the
// context ends.
func (a *app) follow(cmd *cobra.Command, args []string, filter report.TimelineFilter) error {
	format := report.Format(a.format)
	switch {
	case !slices.Contains(report.FollowFormats, format):
		return wrongValue(cmd, "format", a.format, "table or ndjson with --follow, as the end is not known")
	case a.output != "":
		return fmt.Errorf("--output %s: --follow writes as it goes; leave --output out, and redirect what is written", a.output)
	case len(args) == 0:
		args = []string{"latest"}
	}
	logs, err := a.find(args)
	if err != nil {
		return err
	}
	if len(logs) > 1 {
		return fmt.Errorf("--follow: %d sessions; name one, skilltrace sessions lists them", len(logs))
	}
	path := logs[0].Path
	if path == "-" || path == "" {
		return errors.New("--follow: want the log of a session, a file that can grow")
	}
	f := &followed{app: a, path: path, filter: filter, out: report.NewTimelineFollower(a.stdout, format, a.style())}
	a.progress = nil // it would stand between the events
	for {
		started := time.Now()
		if err := f.look(cmd.Context()); err != nil {
			return err
		}
		select {
		case <-cmd.Context().Done():
			return cmd.Context().Err()
		case <-time.After(max(followPause, 4*time.Since(started))):
		}
	}
}

// look writes what is new, if the files are not as they were. The session is read whole,
// as a line may change what the lines before it mean, and is not kept.
func (f *followed) look(ctx context.Context) error {
	info, err := os.Stat(f.path)
	if err != nil {
		what := "it cannot be read: " + plain(err).Error()
		if errors.Is(err, fs.ErrNotExist) {
			what = "it is gone"
		}
		f.say(what + "; waiting for it")
		f.gone, f.sizes = true, nil
		return nil
	}
	switch {
	case f.main == nil:
	case f.gone: // its number says nothing: that of a file removed is given to another
		f.say("it is there again, and is read from its start")
		f.out.Restart()
	case !os.SameFile(f.main, info):
		f.say("it was replaced by another file, which is read from its start")
		f.out.Restart()
	case info.Size() < f.main.Size():
		f.say("it was cut short, and is read from its start")
		f.out.Restart()
	}
	f.main, f.gone = info, false
	// Subagents get logs of their own, beside it.
	found, err := jsonl.Scope{}.Resolve(f.path)
	if err != nil || len(found.Sessions) != 1 {
		if info.Size() > 0 {
			f.say("nothing in it is a session's yet; waiting")
		}
		return nil
	}
	log := &found.Sessions[0]
	var sizes []int64
	for _, file := range log.Files() {
		sizes = append(sizes, sizeOf(file))
	}
	if slices.Equal(sizes, f.sizes) {
		return nil
	}
	f.sizes = sizes
	if log.Empty {
		return nil
	}
	s, _, err := f.app.observe(ctx, log)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f.say(err.Error())
		return nil
	}
	session := report.NewTimelineSession(s, f.filter, f.app.verbose)
	return f.out.Write(&session)
}

// say says something of the log, once for as long as it stays so.
func (f *followed) say(what string) {
	if what != f.told {
		f.told = what
		f.app.note("%s: %s", f.path, what)
	}
}
