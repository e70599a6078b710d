package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/skilltrace/skilltrace/replay/cost"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
)

// configName is the name of the files with defaults of options: the user's, in the home
// directory, and a project's.
const configName = ".skilltrace.yaml"

// maxConfig bounds such a file, in bytes.
const maxConfig = 256 << 10

// setting is an option that a file can give a default.
type setting struct {
	// project says that a project's file can, too. It is the work of strangers: it comes
	// with a clone. What writes, runs, spends, hides or reaches out of the project is not
	// for it.
	project bool
	// path is relative to the folder of the file.
	path bool
	// want says what is wanted in place of a bad value, "" for a good one. cmd is the
	// program for a value that holds for all commands.
	want func(cmd *cobra.Command, text string) string
}

// settings are the options that files can set. All others are given each time: a file
// that names one of them is wrong.
var settings = map[string]setting{
	"by":       {project: true, want: oneOfBys},
	"client":   {project: true},
	"floor":    {project: true, path: true},
	"format":   {project: true, want: offered},
	"limit":    {project: true, want: atLeast("limit", 0)},
	"model":    {project: true},
	"prices":   {project: true, path: true},
	"project":  {project: true, path: true},
	"rules":    {project: true, path: true},
	"settings": {project: true, path: true},
	"skills":   {project: true, path: true},
	"timezone": {project: true, want: aZone},
	"top":      {project: true, want: atLeast("top", 0)},
	"verbose":  {project: true},
	"window":   {project: true, want: atLeast("window", 1)},

	"cache-dir":    {path: true},
	"color":        {want: aColor},
	"config-dir":   {path: true},
	"jobs":         {want: atLeast("jobs", 1)},
	"kind":         {want: aKind},
	"managed-dir":  {path: true},
	"max-cost-usd": {},
	"negatives":    {},
	"no-cache":     {},
	"quiet":        {},
	"redact":       {},
	"since":        {},
	"skills-at":    {},
	"until":        {},
	"usage":        {path: true},
}

// inSpec are the options of test of which the spec has the default.
var inSpec = []string{"baseline", "client", "command", "model", "rate", "runs", "scorer", "settings", "usage", "window"}

// formatGiven are the commands whose format no file sets: which there are is up to the
// answer that is rendered, and what files do is to be read at once.
var formatGiven = []string{"render", "config"}

// settingOf is the setting of an option of a command.
func settingOf(cmd *cobra.Command, option string) (setting, bool) {
	if cmd.Name() == "test" && slices.Contains(inSpec, option) || option == "format" && slices.Contains(formatGiven, cmd.Name()) {
		return setting{}, false
	}
	s, ok := settings[option]
	if cmd.Name() == "test" && option == "prices" {
		s.project = false // by them --max-cost-usd knows when to stop
	}
	return s, ok
}

func offered(cmd *cobra.Command, text string) string {
	var list []string
	add := func(c *cobra.Command) {
		for _, name := range strings.Fields(c.Annotations[formatsKey]) {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	add(cmd)
	if !cmd.HasParent() { // what any command has
		for _, c := range cmd.Commands() {
			add(c)
			for _, sub := range c.Commands() {
				add(sub)
			}
		}
	}
	if slices.Contains(list, text) {
		return ""
	}
	return oneOf(list)
}

func oneOfBys(_ *cobra.Command, text string) string {
	if slices.Contains(cost.Bys, cost.By(text)) {
		return ""
	}
	return "some of " + listOf(cost.Bys)
}

func aKind(_ *cobra.Command, text string) string {
	if kinds := eventKinds(); !slices.Contains(kinds, text) {
		return "some of " + strings.Join(kinds, ", ")
	}
	return ""
}

func aColor(_ *cobra.Command, text string) string {
	if slices.Contains(colors, text) {
		return ""
	}
	return oneOf(colors)
}

func aZone(_ *cobra.Command, text string) string {
	if _, err := time.LoadLocation(text); err != nil || text == "" {
		return "the name of a zone, such as Europe/Berlin"
	}
	return ""
}

func atLeast(option string, least int64) func(*cobra.Command, string) string {
	return func(_ *cobra.Command, text string) string {
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < least {
			return wantedNumbers[option]
		}
		return ""
	}
}

// reports are the commands that can be given defaults: cmd, or all of them where cmd is
// the program.
func reports(cmd *cobra.Command) []*cobra.Command {
	if cmd != nil && cmd.HasParent() {
		return []*cobra.Command{cmd}
	}
	var list []*cobra.Command
	for _, c := range cmd.Commands() {
		if len(settable(c)) > 0 {
			list = append(list, c)
		}
		for _, sub := range c.Commands() {
			if len(settable(sub)) > 0 {
				list = append(list, sub)
			}
		}
	}
	return list
}

// settable are the names of the options of a command that a file can set.
func settable(cmd *cobra.Command) []string {
	var names []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, ok := settingOf(cmd, f.Name); ok {
			names = append(names, f.Name)
		}
	})
	return names
}

// commandName is the name of a command without that of the program.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// configFile is a file of defaults.
type configFile struct {
	path    string // as it is shown, "" if there is none
	project bool
	values  []configValue
}

// configValue is one default.
type configValue struct {
	command string // "" for all commands that have the option
	option  string
	texts   []string // one, but for options that take several
	line    int
}

// configFiles reads the files of defaults: the project's, then the user's. All problems
// of both are in one error, each with its file and line.
func (a *app) configFiles(root *cobra.Command) ([]configFile, error) {
	var files []configFile
	var problems []error
	for _, project := range []bool{true, false} {
		path := a.configPath(project)
		if path == "" {
			continue
		}
		f, err := readConfig(root, path, a.home(), project)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		files = append(files, *f)
	}
	if len(problems) > 0 {
		return nil, errors.Join(append(problems, errors.New(passOver))...)
	}
	return files, nil
}

// configPath is the user's file, or that of the project of the working directory: the
// nearest upward, but not above the top of a git repository, and not in the home
// directory. It is "" if there is none.
func (a *app) configPath(project bool) string {
	there := func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	}
	home := a.home()
	if !project {
		if path := filepath.Join(home, configName); home != "" && there(path) {
			return path
		}
		return ""
	}
	wd, err := os.Getwd()
	if err != nil {
		return ""
	}
	homeInfo, err := os.Stat(home)
	if home == "" || err != nil {
		homeInfo = nil
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && homeInfo != nil && os.SameFile(info, homeInfo) {
			return ""
		}
		if path := filepath.Join(dir, configName); there(path) {
			if rel, err := filepath.Rel(wd, path); err == nil {
				return rel
			}
			return path
		}
		if there(filepath.Join(dir, ".git")) || dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// configReader reads one file of defaults.
type configReader struct {
	configFile
	root     *cobra.Command
	home     string
	problems []error
}

func (r *configReader) bad(line int, format string, args ...any) {
	const most = 20
	if len(r.problems) < most {
		r.problems = append(r.problems, fmt.Errorf("%s:%d: %s", r.path, line, fmt.Sprintf(format, args...)))
	}
}

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func readConfig(root *cobra.Command, path, home string, project bool) (*configFile, error) {
	data, err := local.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) > maxConfig {
		return nil, fmt.Errorf("%s: larger than %d KiB", path, maxConfig>>10)
	}
	r := configReader{configFile: configFile{path: path, project: project}, root: root, home: home}
	var doc, more yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(data))
	err = in.Decode(&doc)
	if err == nil {
		if err = in.Decode(&more); err == nil {
			r.bad(more.Line, "a second document; a file of defaults is one")
		}
	}
	if err != nil && !errors.Is(err, io.EOF) { // which is that of an empty file
		text, line := err.Error(), 1
		if m := yamlError.FindStringSubmatch(text); m != nil {
			text = text[len(m[0]):]
			if n, err := strconv.Atoi(m[1]); err == nil {
				line = n
			}
		}
		r.bad(line, "not YAML: %s", text)
	} else if len(doc.Content) > 0 && !isNull(doc.Content[0]) { // else there is nothing in it
		r.top(doc.Content[0])
	}
	if len(r.problems) > 0 {
		return nil, errors.Join(r.problems...)
	}
	return &r.configFile, nil
}

// passOver is how work goes on with a file that cannot be used.
const passOver = "mend it, or give --no-config to pass over files of defaults"

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// keys calls use for each key of a map.
func (r *configReader) keys(n *yaml.Node, what string, use func(key string, line int, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.bad(n.Line, "%s: want options with values, such as format: json", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || key.Anchor != "":
			r.bad(key.Line, "%s: want the name of an option before each colon", what)
		case seen[key.Value]:
			r.bad(key.Line, "%s stands twice", key.Value)
		default:
			seen[key.Value] = true
			use(key.Value, key.Line, n.Content[i+1])
		}
	}
}

const commandsKey = "commands"

func (r *configReader) top(n *yaml.Node) {
	r.keys(n, "the file", func(key string, line int, value *yaml.Node) {
		if key != commandsKey {
			r.option(nil, key, line, value)
			return
		}
		r.keys(value, commandsKey, func(name string, line int, value *yaml.Node) {
			var names []string
			for _, c := range reports(r.root) {
				names = append(names, commandName(c))
				if commandName(c) == name {
					r.keys(value, name, func(key string, line int, value *yaml.Node) { r.option(c, key, line, value) })
					return
				}
			}
			r.bad(line, "%s", spec.Unknown("command", name, names))
		})
	})
}

// option reads a value of an option of cmd, or of all commands.
func (r *configReader) option(cmd *cobra.Command, name string, line int, value *yaml.Node) {
	where := cmd
	if where == nil {
		where = r.root
	}
	var flag *pflag.Flag // of a command with this option; it has one form everywhere
	var s setting
	var known []string
	exists := false
	for _, c := range reports(where) {
		f := c.LocalFlags().Lookup(name)
		exists = exists || f != nil
		known = append(known, settable(c)...)
		if f == nil {
			continue
		}
		if here, ok := settingOf(c, name); ok && (flag == nil || here.project) {
			flag, s = f, here
		}
	}
	if cmd == nil {
		known = append(known, commandsKey)
	}
	slices.Sort(known)
	switch {
	case flag == nil && exists && cmd != nil && cmd.Name() == "test" && slices.Contains(inSpec, name):
		r.bad(line, "%s: the spec of the test sets it, no file of defaults; write it there", name)
		return
	case flag == nil && exists:
		r.bad(line, "%s: no file of defaults can set it; give --%s with the command", name, name)
		return
	case flag == nil:
		r.bad(line, "%s", spec.Unknown("option", name, slices.Compact(known)))
		return
	case r.project && !s.project:
		r.bad(line, "%s: a project's file cannot set it, only yours, ~/%s", name, configName)
		return
	}
	texts, ok := r.texts(flag, line, value)
	if !ok {
		return
	}
	for i, text := range texts {
		if s.want != nil {
			if want := s.want(where, text); want != "" {
				r.bad(line, "%s: %s: want %s", name, text, want)
				return
			}
		}
		if s.path {
			path, want := r.place(text)
			if want != "" {
				r.bad(line, "%s: %s: want %s", name, text, want)
				return
			}
			texts[i] = path
		}
	}
	v := configValue{option: name, texts: texts, line: line}
	if cmd != nil {
		v.command = commandName(cmd)
	}
	r.values = append(r.values, v)
}

// texts are a value as its option takes it.
func (r *configReader) texts(flag *pflag.Flag, line int, n *yaml.Node) ([]string, bool) {
	many := false
	want, tags := "a text", []string{"!!str", "!!int", "!!float", "!!timestamp"}
	switch flag.Value.Type() {
	case "bool":
		want, tags = "true or false", []string{"!!bool"}
	case "int", "int64":
		want, tags = "a whole number", []string{"!!int"}
	case "float64":
		want, tags = "a number", []string{"!!int", "!!float"}
	case "stringSlice", "stringArray":
		many, want = true, "a text or a list of texts"
	}
	list := []*yaml.Node{n}
	if many && n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	var out []string
	for _, n := range list {
		if n.Kind != yaml.ScalarNode || !slices.Contains(tags, n.ShortTag()) || n.Value == "" {
			r.bad(line, "%s: want %s", flag.Name, want)
			return nil, false
		}
		if flag.Value.Type() == "stringSlice" {
			for part := range strings.SplitSeq(n.Value, ",") {
				out = append(out, strings.TrimSpace(part))
			}
			continue
		}
		out = append(out, n.Value)
	}
	if len(out) == 0 {
		r.bad(line, "%s: want %s", flag.Name, want)
		return nil, false
	}
	switch flag.Value.Type() {
	case "int", "int64":
		if _, err := strconv.ParseInt(out[0], 10, 64); err != nil {
			r.bad(line, "%s: %s: want %s", flag.Name, out[0], want)
			return nil, false
		}
	case "bool":
		out[0] = strconv.FormatBool(strings.EqualFold(out[0], "true"))
	}
	return out, true
}

// place is a path of the file. One of a project lies in the project, also by where links
// lead: the file must not make the program read what its author cannot give.
func (r *configReader) place(text string) (path, want string) {
	dir := filepath.Dir(r.path)
	native := filepath.FromSlash(text)
	if r.project {
		const inside = "a path in the project, relative to this file"
		if !filepath.IsLocal(native) {
			return "", inside
		}
		path = filepath.Join(dir, native)
		if !within(dir, path) {
			return "", inside
		}
		return path, ""
	}
	if rest, ok := strings.CutPrefix(native, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		return filepath.Join(r.home, rest), ""
	}
	if filepath.IsAbs(native) {
		return native, ""
	}
	return filepath.Join(dir, native), ""
}

// within reports whether a path leads to something in a folder, or to nothing.
func within(dir, path string) bool {
	full, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	top, err := filepath.EvalSymlinks(full)
	if err != nil {
		return false
	}
	if full, err = filepath.Abs(path); err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(full)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	rel, err := filepath.Rel(top, target)
	return err == nil && filepath.IsLocal(rel)
}

// setBy is the default of an option of a command, and the file that sets it; nil if
// none does. A project's file goes before the user's, and what is said of one command
// before what is said of all.
func setBy(files []configFile, cmd *cobra.Command, option string) (*configFile, *configValue) {
	s, ok := settingOf(cmd, option)
	if !ok {
		return nil, nil
	}
	for i := range files {
		if files[i].project && !s.project {
			continue
		}
		for _, command := range []string{commandName(cmd), ""} {
			for k := range files[i].values {
				v := &files[i].values[k]
				if v.option != option || v.command != command {
					continue
				}
				if option == "format" && !slices.Contains(strings.Fields(cmd.Annotations[formatsKey]), v.texts[0]) {
					continue // for those that have it
				}
				return &files[i], v
			}
		}
	}
	return nil, nil
}

// originKey annotates an option with the file and line that set it.
const originKey = "skilltrace_origin"

// configure gives the options of a command the defaults of the files, where they are not
// given on the command line or, for config-dir, by the environment.
func (a *app) configure(cmd *cobra.Command) error {
	if a.noConfig || len(settable(cmd)) == 0 {
		return nil
	}
	files, err := a.configFiles(cmd.Root())
	if err != nil {
		return err
	}
	for _, name := range settable(cmd) {
		f := cmd.LocalFlags().Lookup(name)
		if f.Changed || name == "config-dir" && a.getenv("CLAUDE_CONFIG_DIR") != "" {
			continue
		}
		file, v := setBy(files, cmd, name)
		if v == nil {
			continue
		}
		origin := fmt.Sprintf("%s:%d", file.path, v.line)
		if list, ok := f.Value.(pflag.SliceValue); ok {
			err = list.Replace(v.texts)
		} else {
			err = f.Value.Set(v.texts[0])
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", origin, name, err)
		}
		if err := cmd.Flags().SetAnnotation(name, originKey, []string{origin}); err != nil {
			return err
		}
	}
	return nil
}

// origin is the file and line that set an option, "" if none did.
func origin(f *pflag.Flag) string {
	if f == nil || f.Changed || len(f.Annotations[originKey]) == 0 {
		return ""
	}
	return f.Annotations[originKey][0]
}

// chosen reports whether the user gave an option, with the command or in a file.
func chosen(cmd *cobra.Command, name string) bool {
	f := cmd.Flags().Lookup(name)
	return f.Changed || origin(f) != ""
}

// blame names the file that set the option which an error is about.
func blame(cmd *cobra.Command, err error) error {
	if err == nil || cmd == nil {
		return err
	}
	rest, ok := strings.CutPrefix(err.Error(), "--")
	if !ok {
		return err
	}
	name := rest
	if i := strings.IndexAny(rest, " :="); i >= 0 {
		name = rest[:i]
	}
	if at := origin(cmd.Flags().Lookup(name)); at != "" {
		return fmt.Errorf("%s: %w", at, err)
	}
	return err
}
