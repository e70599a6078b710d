package scenario

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxCaseFile is the most that is read of a case.yaml, in bytes; the largest one
// has 40 KB.
const maxCaseFile = 16 << 20

// The shapes of case.yaml: one struct for all families, each of which leaves out
// some keys. What the script made the model say is not read: what it did is in
// the logs.
type caseYAML struct {
	Scenario   string              `yaml:"scenario"`
	Case       string              `yaml:"case"`
	Version    string              `yaml:"client_version"`
	Home       string              `yaml:"home"`
	Project    string              `yaml:"project"`
	Notes      string              `yaml:"notes"`
	Settings   Settings            `yaml:"settings"`
	SkillUsage map[string]Usage    `yaml:"skill_usage"`
	AtEnd      map[string]Usage    `yaml:"skill_usage_at_end"`
	Readdir    map[string][]string `yaml:"readdir_order"`
	Model      string              `yaml:"model"`
	Window     int64               `yaml:"context_window"`
	Env        map[string]string   `yaml:"env"`
	ExtraEnv   map[string]string   `yaml:"extra_env"`
	InputKey   string              `yaml:"skill_input_key"`
	CWD        string              `yaml:"cwd"`
	Runs       []runYAML           `yaml:"runs"`
	Prompts    []promptYAML        `yaml:"prompts"` // billing
	Steps      []stepYAML          `yaml:"steps"`   // interactive
	StartedAt  int64               `yaml:"started_at_ms"`
	EndedAt    int64               `yaml:"ended_at_ms"`
}

type runYAML struct {
	Run            int               `yaml:"run"`
	Session        string            `yaml:"session"`
	Resume         bool              `yaml:"resume"`
	Fork           bool              `yaml:"fork_session"`
	Args           []string          `yaml:"args"`
	PermissionArgs []string          `yaml:"permission_args"`
	Env            map[string]string `yaml:"env"`
	Model          string            `yaml:"model"`
	Window         int64             `yaml:"context_window"`
	CWD            *string           `yaml:"cwd"`
	BeforeRun      changeYAML        `yaml:"before_run"`
	Prompts        []promptYAML      `yaml:"prompts"`
	FirstRequestAt int64             `yaml:"first_request_at_ms"`
	EndedAt        int64             `yaml:"ended_at_ms"`
	ExitCode       int               `yaml:"exit_code"`
	KilledAfter    *float64          `yaml:"killed_after_s"`
}

// changeYAML keeps the order of the files: a map has none.
type changeYAML struct {
	write  []File
	remove []string
}

func (c *changeYAML) UnmarshalYAML(n *yaml.Node) error {
	var raw struct {
		Write  yaml.Node `yaml:"write"`
		Remove []string  `yaml:"remove"`
		Delete []string  `yaml:"delete"` // in fuzz
	}
	if err := n.Decode(&raw); err != nil {
		return err
	}
	c.remove = append(raw.Remove, raw.Delete...)
	switch raw.Write.Kind {
	case 0:
	case yaml.MappingNode:
		for i := 0; i+1 < len(raw.Write.Content); i += 2 {
			var f File
			if err := raw.Write.Content[i].Decode(&f.Path); err != nil {
				return err
			}
			if err := raw.Write.Content[i+1].Decode(&f.Text); err != nil {
				return err
			}
			c.write = append(c.write, f)
		}
	default:
		return atLine(&raw.Write, "write is not a map of paths")
	}
	return nil
}

// promptYAML is a text, {pause_s: …} or {files_change: …}.
type promptYAML struct {
	text   string
	isText bool
	pause  *float64
	change *changeYAML
}

func (p *promptYAML) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		p.isText = true
		return n.Decode(&p.text)
	}
	var raw struct {
		Pause  *float64    `yaml:"pause_s"`
		Change *changeYAML `yaml:"files_change"`
	}
	if err := n.Decode(&raw); err != nil {
		return err
	}
	p.pause, p.change = raw.Pause, raw.Change
	if p.pause == nil && p.change == nil {
		return atLine(n, "a prompt is neither a text nor pause_s nor files_change")
	}
	return nil
}

// stepYAML is a step of an interactive recording.
type stepYAML struct {
	At       float64  `yaml:"at_s"`
	Requests int      `yaml:"requests"`
	Op       string   `yaml:"op"`
	Args     []string `yaml:"args"`
	Perm     []string `yaml:"perm"`
	Model    string   `yaml:"model"`
	Text     string   `yaml:"text"`
	Keys     []string `yaml:"keys"`
	Seconds  float64  `yaml:"sec"`
	Path     string   `yaml:"path"`
	line     int
}

func (s *stepYAML) UnmarshalYAML(n *yaml.Node) error {
	type plain stepYAML
	s.line = n.Line
	return n.Decode((*plain)(s))
}

// lineError is an error at a line of the file being read.
type lineError struct {
	line int
	what string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.what) }

func atLine(n *yaml.Node, what string) error { return &lineError{n.Line, what} }

// errorLine finds the first line number in a message of yaml.v3, which puts it
// in several places.
var errorLine = regexp.MustCompile(`line (\d+): ?`)

// located makes an error "file:line: what".
func located(file string, err error) error {
	what := strings.TrimPrefix(err.Error(), "yaml: ")
	what = strings.TrimSpace(strings.TrimPrefix(what, "unmarshal errors:"))
	what, _, _ = strings.Cut(what, "\n")
	line := "1"
	if m := errorLine.FindStringSubmatchIndex(what); m != nil {
		line = what[m[2]:m[3]]
		what = what[:m[0]] + what[m[1]:]
	}
	return fmt.Errorf("%s:%s: %s", file, line, what)
}

// Load reads the recording in dir. Errors in case.yaml are "file:line: what".
func Load(dir string) (*Case, error) {
	file := filepath.Join(dir, caseFile)
	text, err := readFile(file, maxCaseFile)
	if err != nil {
		return nil, err
	}
	c, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c.Dir = dir
	c.Scenario = filepath.Base(filepath.Dir(abs))
	c.Family = filepath.Base(filepath.Dir(filepath.Dir(abs)))
	if err := c.findLogs(); err != nil {
		return nil, err
	}
	return c, c.findGit()
}

// parse reads a case.yaml; file is its name in errors.
func parse(file string, text []byte) (*Case, error) {
	var y caseYAML
	if err := yaml.Unmarshal(text, &y); err != nil {
		return nil, located(file, err)
	}
	c := &Case{
		Code: y.Scenario, Version: y.Version,
		Home: y.Home, Project: y.Project, Notes: y.Notes,
		Settings: y.Settings, SkillUsage: y.SkillUsage, AtEnd: y.AtEnd,
		Model: y.Model, Window: y.Window, InputKey: y.InputKey,
		Managed: strings.Contains(y.Notes, ManagedDir),
		Readdir: map[string][]string{},
	}
	for _, must := range []struct{ key, value string }{{"client_version", y.Version}, {"home", y.Home}, {"project", y.Project}} {
		if must.value == "" {
			return nil, fmt.Errorf("%s:1: no %s", file, must.key)
		}
	}
	if !path.IsAbs(c.Home) || !path.IsAbs(c.Project) {
		return nil, fmt.Errorf("%s:1: home and project must be absolute paths", file)
	}
	if c.Code == "" {
		c.Code = y.Case
	}
	if c.InputKey == "" {
		c.InputKey = "skill"
	}
	for dir, names := range y.Readdir {
		c.Readdir[c.seen(dir)] = names
	}
	switch {
	case y.Steps != nil:
		c.screen = true
		if err := c.startRuns(&y); err != nil {
			return nil, located(file, err)
		}
	case y.Runs != nil:
		c.listRuns(&y)
	default:
		c.Runs = []Run{{Env: merge(y.Env, nil), CWD: c.Project, Prompts: c.steps(y.Prompts)}}
	}
	for i := range c.Runs {
		r := &c.Runs[i]
		if r.Model == "" {
			r.Model = c.Model
		}
		if r.Window == 0 {
			r.Window = c.Window
		}
		r.readArgs()
	}
	return c, nil
}

// listRuns takes the runs as they are listed.
func (c *Case) listRuns(y *caseYAML) {
	for _, r := range y.Runs {
		run := Run{
			Index: r.Run, Session: r.Session, Resume: r.Resume, Fork: r.Fork,
			Args: r.Args, PermissionArgs: r.PermissionArgs, Env: merge(y.Env, r.Env),
			Model: r.Model, Window: r.Window, CWD: path.Join(c.Project, y.CWD),
			Prompts: c.steps(r.Prompts), FirstRequestAtMS: r.FirstRequestAt, EndedAtMS: r.EndedAt,
			ExitCode: r.ExitCode, Killed: r.KilledAfter != nil,
		}
		if r.CWD != nil {
			run.CWD = path.Join(c.Project, *r.CWD)
		}
		if ch := c.change(&r.BeforeRun); len(ch.Write)+len(ch.Remove) > 0 {
			run.BeforeRun = []Change{ch}
		}
		c.Runs = append(c.Runs, run)
	}
}

// startRuns makes the steps of an interactive recording into runs.
func (c *Case) startRuns(y *caseYAML) error {
	env := merge(merge(y.Env, y.ExtraEnv), nil)
	var before []Change
	running := false
	for i := range y.Steps {
		s := &y.Steps[i]
		at := y.StartedAt + int64(math.Round(s.At*1000))
		step := Step{AtMS: at, Requests: s.Requests}
		switch s.Op {
		case "start":
			c.Runs = append(c.Runs, Run{
				Index: len(c.Runs), Args: s.Args, PermissionArgs: s.Perm, Env: maps.Clone(env), Model: s.Model,
				CWD: path.Join(c.Project, y.CWD), BeforeRun: before, StartedAtMS: at,
			})
			before, running = nil, true
			continue
		case "type":
			step.Kind, step.Text = StepText, s.Text
		case "key":
			step.Kind, step.Keys = StepKeys, s.Keys
		case "pause":
			step.Kind, step.Seconds = StepPause, s.Seconds
		case "exit":
			step.Kind = StepExit
		case "write":
			step.Kind, step.Change = StepChange, &Change{Write: []File{{c.seen(s.Path), s.Text}}}
		case "remove":
			step.Kind, step.Change = StepChange, &Change{Remove: []string{c.seen(s.Path)}}
		default:
			return &lineError{s.line, fmt.Sprintf("unknown op %q", s.Op)}
		}
		if !running {
			// Between two processes only files and time change.
			switch step.Kind {
			case StepChange:
				before = append(before, *step.Change)
			case StepPause:
			default:
				return &lineError{s.line, fmt.Sprintf("%q without a running client", s.Op)}
			}
			continue
		}
		run := &c.Runs[len(c.Runs)-1]
		run.Prompts = append(run.Prompts, step)
		if step.Kind == StepExit {
			run.EndedAtMS, running = at, false
		}
	}
	if n := len(c.Runs); n > 0 && running {
		c.Runs[n-1].EndedAtMS = y.EndedAt
	}
	return nil
}

func (c *Case) steps(prompts []promptYAML) []Step {
	var out []Step
	for i := range prompts {
		switch p := &prompts[i]; {
		case p.isText:
			out = append(out, Step{Kind: StepText, Text: p.text})
		case p.change != nil:
			ch := c.change(p.change)
			out = append(out, Step{Kind: StepChange, Change: &ch})
		case p.pause != nil:
			out = append(out, Step{Kind: StepPause, Seconds: *p.pause})
		}
	}
	return out
}

func (c *Case) change(y *changeYAML) Change {
	var ch Change
	for _, f := range y.write {
		ch.Write = append(ch.Write, File{c.seen(f.Path), f.Text})
	}
	for _, p := range y.remove {
		ch.Remove = append(ch.Remove, c.seen(p))
	}
	return ch
}

// seen is a path below files/ as the client saw it; an absolute path is one
// already.
func (c *Case) seen(p string) string {
	switch {
	case path.IsAbs(p):
		return path.Clean(p)
	case p == "managed" || strings.HasPrefix(p, "managed/"):
		return path.Join(ManagedDir, strings.TrimPrefix(p, "managed"))
	case p == "dev" || strings.HasPrefix(p, "dev/"):
		return path.Join(c.Home, strings.TrimPrefix(p, "dev"))
	}
	return path.Join("/", p)
}

// readArgs takes the arguments apart. Those that it does not know stay in Args.
func (r *Run) readArgs() {
	for i := 0; i < len(r.Args); i++ {
		name, value, joined := strings.Cut(r.Args[i], "=")
		next := func() string {
			if !joined && i+1 < len(r.Args) {
				i++
				value = r.Args[i]
			}
			return value
		}
		switch name {
		case "--add-dir":
			r.AddDirs = append(r.AddDirs, next())
		case "--plugin-dir":
			r.PluginDirs = append(r.PluginDirs, next())
		case "--settings":
			r.SettingsJSON = next()
		case "--continue", "-c":
			r.Resume = true
		case "--resume", "-r":
			r.Resume, r.ResumeID = true, next()
		case "--fork-session":
			r.Fork = true
		}
	}
}

// ReadSettings are the settings given by --settings; the zero value if there are
// none.
func (r *Run) ReadSettings() (Settings, error) {
	var s Settings
	// JSON is YAML.
	err := yaml.Unmarshal([]byte(r.SettingsJSON), &s)
	return s, err
}

func merge(base, over map[string]string) map[string]string {
	out := make(map[string]string, len(base)+len(over))
	maps.Copy(out, base)
	maps.Copy(out, over)
	return out
}

// readFile reads a file of at most limit bytes.
func readFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s: larger than %d bytes", name, limit)
	}
	return text, err
}

// initialized is what the notes say of a repository.
var initialized = regexp.MustCompile(`\bgit init in (/[^\s,;]*[^\s,;.])`)

// listed is what the README of a family says of one: the scenario, and the
// folder relative to files/.
var listed = regexp.MustCompile(`\b(\d{3}) (dev(?:/[\w.-]+)*)`)

// findGit finds the repositories. The notes or the family's README name them;
// where they do not, a branch in the log says that there was one, and the
// project is taken for its root: outside a repository the client writes HEAD, or
// nothing (recorded: fuzz, all of 85).
func (c *Case) findGit() error {
	for _, m := range initialized.FindAllStringSubmatch(c.Notes, -1) {
		c.Git = append(c.Git, path.Clean(m[1]))
	}
	if text, err := readFile(filepath.Join(c.Dir, "..", "..", "README.md"), 1<<20); err == nil {
		for line := range strings.SplitSeq(string(text), "\n") {
			if !strings.Contains(line, "git repository") {
				continue
			}
			for _, m := range listed.FindAllStringSubmatch(line, -1) {
				if m[1] == c.Scenario {
					c.Git = append(c.Git, c.seen(m[2]))
				}
			}
		}
	}
	if len(c.Git) == 0 {
		branch, err := c.branch()
		if err != nil {
			return err
		}
		if branch != "" && branch != "HEAD" {
			c.Git = append(c.Git, c.Project)
		}
	}
	slices.Sort(c.Git)
	c.Git = slices.Compact(c.Git)
	return nil
}
