package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/report"
)

// inputs are what the user gives for predictions beside the log.
type inputs struct {
	skills   []string // folders of skills
	skillsAt string   // now, session or a git revision
	settings string   // a settings.json
	managed  string   // the administrator's folder
	usage    string   // the client's .claude.json with its usage counts
	window   int64    // tokens
	client   string   // NAME or NAME@VERSION
	rules    string   // the user's own rule changes
	redact   bool
}

func (a *app) replayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay [SESSION…]",
		Short: "Where sessions departed from the rules of their client",
		Long: `Replay predicts from the inputs of a session (prompts, calls, files) what the
client should have told the model about skills, and compares it with the log.

` + sessionArgs + `

What cannot be checked is undetermined, with the input that is missing. Exit
status 1 means that something is divergent.

--format html writes a page: the context by layer and call, the listing as each
prompt saw it, the timeline, the ledger. --format json --verbose holds all that
such a page shows, and render makes the page of it.`,
		Example: `  skilltrace replay latest
  skilltrace replay 5274deb5 --skills .claude/skills --verbose
  skilltrace replay 5274deb5 --skills-at session
  skilltrace replay --project . --since 2026-11-01 --format json
  skilltrace replay latest --output replay.html`,
		RunE: a.runReplay,
	}
	a.scopeFlags(cmd)
	a.inputFlags(cmd)
	a.pricesFlag(cmd)
	a.workFlags(cmd)
	cmd.Flags().BoolVar(&a.inputs.redact, "redact", false, "leave out home directories, the texts of prompts and of bodies, and what calls were given, to share the answer")
	a.openFlag(cmd)
	a.outputFlags(cmd, &report.ReplayDocument{})
	return cmd
}

// inputFlags adds the options that give what a prediction rests on beside the log.
func (a *app) inputFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&a.inputs.skills, "skills", nil, "`DIR` of skills as the session saw them, in place of the project's (may be repeated)")
	f.StringVar(&a.inputs.skillsAt, "skills-at", local.AtNow, "read skill folders under git as of `REV`: a git revision, session (each session's start) or now")
	f.StringVar(&a.inputs.settings, "settings", "", "settings `FILE` of the session; ranks above all but the administrator's")
	f.StringVar(&a.inputs.managed, "managed-dir", "", "administrator's `DIR`, whose settings and skills rank above all (default: that of the system)")
	f.StringVar(&a.inputs.usage, "usage", "", "`FILE` with the client's usage counts at the start of the session (default: .claude.json of now)")
	f.Int64Var(&a.inputs.window, "window", 0, "context window of `N` tokens (default: by the model and the log)")
	f.StringVar(&a.inputs.client, "client", "", "client whose rules are used, `NAME@VERSION`, or article, mini-cc or agent-sdk (default: as in the log)")
	f.StringVar(&a.inputs.rules, "rules", "", "`FILE` of rule changes that are laid over the built-in rules")
	markFolders(cmd, "skills", "managed-dir")
	completeWords(cmd, "skills-at", []string{"now", "session"})
	a.completeFlag(cmd, "client", completeClient)
	a.completeFlag(cmd, "settings", completeFiles("json"))
	a.completeFlag(cmd, "rules", completeFiles("yaml", "yml"))
}

// option is an option with its value as they are typed, "" where it is not given.
func option(name, value string) string {
	if value == "" {
		return ""
	}
	return "--" + name + " " + report.ShellWord(value)
}

// given are the options by which a replay has the same inputs beside the log.
func (a *app) given() string {
	in := &a.inputs
	var words []string
	add := func(name, value string) {
		if word := option(name, value); word != "" {
			words = append(words, word)
		}
	}
	for _, dir := range in.skills {
		add("skills", dir)
	}
	if in.skillsAt != local.AtNow {
		add("skills-at", in.skillsAt)
	}
	add("settings", in.settings)
	add("managed-dir", in.managed)
	add("usage", in.usage)
	if in.window > 0 {
		add("window", strconv.FormatInt(in.window, 10))
	}
	add("client", in.client)
	add("rules", in.rules)
	add("prices", a.prices)
	return strings.Join(words, " ")
}

func (a *app) runReplay(cmd *cobra.Command, args []string) error {
	in, err := a.loadInputs()
	if err != nil {
		return err
	}
	in.detail = a.detailed()
	logs, err := a.find(args)
	if err != nil {
		return err
	}
	results := make([]*replayed, len(logs))
	err = a.eachSession(cmd.Context(), logs, func(i int, s *replay.Session, read *jsonl.Stats) error {
		r, err := in.replaySession(s, read)
		results[i] = r
		return err
	})
	if err != nil {
		return err
	}
	var sessions []report.ReplaySession
	told := map[string]bool{}
	for _, r := range present(results) {
		sessions = append(sessions, r.session)
		if r.version != nil {
			a.unusable(r.version)
		}
		for _, problem := range r.problems {
			// The screen of one session holds them itself.
			if !told[problem] && (len(logs) > 1 || a.format != string(report.FormatTable)) {
				told[problem] = true
				a.note("%s", problem)
			}
		}
	}
	doc := report.NewReplay(sessions)
	if doc.Totals.Divergent > 0 {
		a.raise(statusFindings)
	}
	if a.inputs.redact {
		doc.Redact(a.home())
	}
	return a.show(doc, "replay")
}

// present are the results that there are, in order.
func present[T any](results []*T) []T {
	var out []T
	for _, r := range results {
		if r != nil {
			out = append(out, *r)
		}
	}
	return out
}
