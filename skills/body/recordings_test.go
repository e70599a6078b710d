package body

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/skills/frontmatter"
	"gopkg.in/yaml.v3"
)

// recordings is the folder of recorded sessions; the test is skipped without it.
func recordings(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("SKILLTRACE_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(shared, "conformance")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no recordings beside the checkout; set SKILLTRACE_SHARED")
	}
	return dir
}

// A logRecord is what this test needs of a line of a log.
type logRecord struct {
	Type            string
	UUID            string
	ParentUUID      string
	SessionID       string
	AgentID         string
	CWD             string
	IsMeta          bool
	SourceToolUseID string
	ToolUseResult   json.RawMessage
	Message         struct{ Content json.RawMessage }
}

type block struct {
	Type      string
	Text      string
	Name      string
	ID        string
	ToolUseID string `json:"tool_use_id"`
	Content   json.RawMessage
	Input     struct{ Skill, Command, Args string }
}

func (r logRecord) blocks() []block {
	var text string
	if json.Unmarshal(r.Message.Content, &text) == nil {
		return []block{{Type: "string", Text: text}}
	}
	var all []block
	for _, raw := range rawItems(r.Message.Content) {
		var b block
		// A tool's input may hold other types under these names; the rest stands.
		_ = json.Unmarshal(raw, &b)
		all = append(all, b)
	}
	return all
}

func rawItems(raw json.RawMessage) []json.RawMessage {
	var items []json.RawMessage
	_ = json.Unmarshal(raw, &items)
	return items
}

// invocation is a recorded body and how it came about.
type invocation struct {
	name string
	call Call
	body string
	vars Vars
}

var (
	commandName = regexp.MustCompile(`<command-name>/?([^<]*)</command-name>`)
	commandArgs = regexp.MustCompile(`(?s)<command-args>(.*)</command-args>`)
)

// pluginRoot is where the plugin of all scenarios lies.
const pluginRoot = "/home/dev/plug"

// sessionLogs are the logs of a case.
func sessionLogs(t *testing.T, dir string) []string {
	var logs []string
	err := filepath.WalkDir(filepath.Join(dir, "sessions"), func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".jsonl") {
			logs = append(logs, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

// readLog returns the messages of a log.
func readLog(t *testing.T, name string) []logRecord {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []logRecord
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var r logRecord
		if json.Unmarshal(line, &r) == nil && (r.Type == "user" || r.Type == "assistant") {
			all = append(all, r)
		}
		if err != nil {
			return all
		}
	}
}

// invocations finds the bodies of one client's logs, and what its Bash calls ran.
// Re-invocation notes are no bodies.
func invocations(t *testing.T, files []string) (found []invocation, shell string) {
	seen := map[string]bool{}
	uses := map[string]invocation{}  // by session and tool use id: ids come again in other sessions
	forks := map[string]invocation{} // by agent id
	logs := map[string][]logRecord{}
	for _, name := range files {
		logs[name] = readLog(t, name)
		for _, r := range logs[name] {
			for _, b := range r.blocks() {
				switch {
				case b.Type == "tool_use" && b.Name == "Skill":
					uses[r.SessionID+b.ID] = invocation{name: b.Input.Skill + b.Input.Command, call: Call{Args: b.Input.Args}}
				case b.Type == "tool_use" && b.Name == "Bash":
					shell += b.Input.Command + "\n"
				case b.Type == "tool_result":
					var result struct{ AgentID string }
					if json.Unmarshal(r.ToolUseResult, &result) == nil && result.AgentID != "" {
						forks[result.AgentID] = uses[r.SessionID+b.ToolUseID]
					}
				}
			}
		}
	}
	for _, name := range files {
		var typed *invocation   // the slash command that the next record may answer
		var waiting *invocation // the Skill call whose body follows, where logs name no source
		first := true
		for _, r := range logs[name] {
			if r.Type == "assistant" {
				typed, waiting = nil, nil
				continue
			}
			if r.UUID != "" && seen[r.UUID] {
				continue
			}
			seen[r.UUID] = true
			isFirst := first
			first = false
			for _, b := range r.blocks() {
				var inv *invocation
				switch fork, isFork := forks[r.AgentID]; {
				case b.Type == "tool_result":
					var text string
					if json.Unmarshal(b.Content, &text) == nil && strings.HasPrefix(text, "Launching skill: ") {
						use := uses[r.SessionID+b.ToolUseID]
						waiting = &use
					}
				case isFirst && isFork && fork.name != "" && strings.Contains(filepath.Base(name), "agent-"):
					inv = &fork
				case !r.IsMeta:
					text := b.Text
					if m := commandName.FindStringSubmatch(text); m != nil {
						typed = &invocation{name: m[1], call: Call{Typed: true}}
						if a := commandArgs.FindStringSubmatch(text); a != nil {
							typed.call.Args = a[1]
						}
					}
				case b.Type == "string":
				case r.SourceToolUseID != "":
					use, ok := uses[r.SessionID+r.SourceToolUseID]
					if ok {
						inv = &use
					}
				case waiting != nil:
					inv, waiting, typed = waiting, nil, nil
				case typed != nil:
					inv, typed = typed, nil
				}
				if inv == nil || strings.HasPrefix(b.Text, "(Re-invocation of /") || strings.HasPrefix(b.Text, "Skill /") {
					continue
				}
				inv.name = strings.TrimPrefix(strings.TrimSpace(inv.name), "/")
				inv.body = b.Text
				inv.vars = Vars{SessionID: r.SessionID, ProjectDir: r.CWD}
				found = append(found, *inv)
			}
		}
	}
	return found, shell
}

// recordedCase is what this test needs of a case.yaml.
type recordedCase struct {
	version  string
	written  map[string][]string // texts that files got during the session, by path
	disabled map[string]bool     // sessions with disableSkillShellExecution
	prompts  []string
}

func readCase(t *testing.T, name string) recordedCase {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := yaml.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	version, _ := root["client_version"].(string)
	c := recordedCase{version: version, written: map[string][]string{}, disabled: map[string]bool{}}
	add := func(path, text string) {
		path = "/" + strings.TrimPrefix(path, "/")
		if strings.HasPrefix(path, "/dev/") {
			path = "/home" + path
		}
		c.written[path] = append(c.written[path], text)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if path, ok := v["path"].(string); ok && v["op"] == "write" {
				add(path, v["text"].(string))
			}
			if prompts, ok := v["prompts"].([]any); ok {
				for _, prompt := range prompts {
					if text, ok := prompt.(string); ok {
						c.prompts = append(c.prompts, text)
					}
				}
			}
			if texts, ok := v["write"].(map[string]any); ok {
				for path, text := range texts {
					add(path, text.(string))
				}
			}
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(root)
	runs, _ := root["runs"].([]any)
	for _, run := range runs {
		run := run.(map[string]any)
		args, _ := json.Marshal(run["args"])
		if session, ok := run["session"].(string); ok && strings.Contains(string(args), "disableSkillShellExecution") {
			c.disabled[session] = true
		}
	}
	return c
}

// arguments are the argument texts that a call can have had. Before 2.1.3 the log
// does not give those of a typed command, and in places they are filler: then
// they are looked up among the prompts.
func (c recordedCase) arguments(inv invocation) []string {
	all := []string{inv.call.Args}
	if inv.call.Typed && inv.call.Args == "" {
		for _, prompt := range c.prompts {
			name, args, ok := strings.Cut(prompt, " ")
			if ok && (name == "/"+inv.name || strings.HasSuffix(name, ":"+inv.name)) {
				all = append(all, args)
			}
		}
	}
	return all
}

// filler is what recordings put in place of a text that they do not give: letters
// and digits become x.
func filler(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && r != '_' && isWord(byte(r)) {
			return 'x'
		}
		return r
	}, text)
}

var (
	frontBlock   = regexp.MustCompile(`^---` + blank + `*\n([\s\S]*?)---` + blank + `*\n?`)
	argumentLine = regexp.MustCompile(`(?m)^arguments:[ \t]*(.*)\n?((?:[ \t]*- .*\n)*)`)
)

// split takes a file's text apart, with just as much of YAML as recordings need.
func split(text, version string) Source {
	block := text
	if versionKey(version) >= versionKey("2.1.239") {
		block = strings.TrimPrefix(text, "\uFEFF")
	}
	m := frontBlock.FindStringSubmatch(block)
	if m == nil {
		return Source{Text: text}
	}
	src := Source{Text: block[len(m[0]):]}
	if a := argumentLine.FindStringSubmatch(m[1]); a != nil {
		var v any
		if yaml.Unmarshal([]byte(a[0]), &v) == nil {
			src.Names = argumentNames(yamlValue(v.(map[string]any)["arguments"]))
		} else {
			src.Names = argumentNames(frontmatter.Value{Kind: frontmatter.String, Text: strings.TrimSpace(a[1])})
		}
	}
	return src
}

func argumentNames(v frontmatter.Value) []string {
	f := frontmatter.Front{Present: true, Fields: []frontmatter.Field{{Key: "arguments", Value: v}}}
	return f.Arguments(frontmatter.Dialect{})
}

func yamlValue(v any) frontmatter.Value {
	switch v := v.(type) {
	case string:
		return frontmatter.Value{Kind: frontmatter.String, Text: v}
	case []any:
		list := frontmatter.Value{Kind: frontmatter.List}
		for _, item := range v {
			list.Items = append(list.Items, yamlValue(item))
		}
		return list
	case nil:
		return frontmatter.Value{}
	}
	return frontmatter.Value{Kind: frontmatter.Number, Text: "1"}
}

// recordedTree is the home directory of a scenario, below files/.
type recordedTree struct {
	root  string
	links map[string]string // from and to, as the client saw them
}

func readTree(root string) recordedTree {
	tree := recordedTree{root, map[string]string{}}
	data, _ := os.ReadFile(filepath.Join(root, "SYMLINKS.txt"))
	for line := range strings.Lines(string(data)) {
		if from, to, ok := strings.Cut(strings.TrimSpace(line), " -> "); ok {
			tree.links["/home/"+from] = to
		}
	}
	return tree
}

func (tree recordedTree) real(path string) string {
	for from, to := range tree.links {
		if rest, ok := strings.CutPrefix(path, from+"/"); ok {
			return to + "/" + rest
		}
	}
	return path
}

func (tree recordedTree) disk(path string) string {
	return filepath.Join(tree.root, strings.TrimPrefix(path, "/home/"))
}

// paths are the files that can have given a body, as the client named them.
func (tree recordedTree) paths(inv invocation, written map[string][]string) []string {
	if rest, ok := strings.CutPrefix(inv.body, "Base directory for this skill: "); ok {
		dir, _, _ := strings.Cut(rest, "\n")
		return []string{dir + "/SKILL.md"}
	}
	var found []string
	name := "/" + strings.ReplaceAll(inv.name, ":", "/") + ".md"
	_, bare, plugin := strings.Cut(inv.name, ":")
	ends := func(path string) bool {
		return strings.Contains(path, "/commands/") && (strings.HasSuffix(path, "/commands"+name) || plugin && strings.HasSuffix(path, "/commands/"+strings.ReplaceAll(bare, ":", "/")+".md"))
	}
	filepath.WalkDir(filepath.Join(tree.root, "dev"), func(path string, d fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(tree.root, path); err == nil && relErr == nil && ends("/home/"+filepath.ToSlash(rel)) {
			found = append(found, "/home/"+filepath.ToSlash(rel))
		}
		return nil
	})
	for path := range written {
		if ends(path) && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	return found
}

// sources are the states that a file had during the session, its first one first.
func (tree recordedTree) sources(path string, c recordedCase) []Source {
	texts := c.written[path]
	if data, err := os.ReadFile(tree.disk(tree.real(path))); err == nil {
		texts = append([]string{string(data)}, texts...)
	}
	var all []Source
	for _, text := range texts {
		src := split(text, c.version)
		if filepath.Base(path) == "SKILL.md" {
			src.Dir = filepath.Dir(path)
		}
		all = append(all, src)
	}
	return all
}

// templates are all renderings that the recording leaves possible: what it does
// not tell is the effort, and arguments in places.
func (c recordedCase) templates(src Source, inv invocation, path string) []Template {
	vars := inv.vars
	vars.ShellDisabled = c.disabled[vars.SessionID]
	if strings.HasPrefix(path, pluginRoot+"/") {
		vars.PluginRoot = pluginRoot
	}
	var all []Template
	for _, args := range c.arguments(inv) {
		for _, vars.Effort = range []string{"high", "medium", "xhigh"} {
			all = append(all, Render(src, Call{Args: args, Typed: inv.call.Typed}, vars, optionsAt(c.version)))
		}
	}
	return all
}

// renders reports whether the template gives the recorded body.
func renders(t *testing.T, template Template, body string) bool {
	outputs, ok := template.Match(body)
	if ok {
		if text, err := template.Fill(outputs); err != nil || text != body {
			t.Errorf("outputs %q do not give the body back: %q", outputs, body)
		}
		return true
	}
	text, complete := template.Text()
	return complete && filler(text) == body
}

// TestRecordings renders every body of the recordings that comes from a file and
// compares. Files that the session's own commands changed are not followed.
func TestRecordings(t *testing.T) {
	cases, err := filepath.Glob(filepath.Join(recordings(t), "*", "*", "*", "case.yaml"))
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	type count struct{ match, differ, changed, foreign int }
	counts := map[string]*count{}
	for _, name := range cases {
		c := readCase(t, name)
		if c.version == "" { // billing holds no bodies but filler
			continue
		}
		n := counts[c.version]
		if n == nil {
			n = &count{}
			counts[c.version] = n
		}
		tree := readTree(filepath.Join(filepath.Dir(filepath.Dir(name)), "files"))
		found, shell := invocations(t, sessionLogs(t, filepath.Dir(name)))
		for _, inv := range found {
			paths := tree.paths(inv, c.written)
			var templates []Template
			changed := false
			for _, path := range paths {
				changed = changed || strings.Contains(shell, filepath.Base(filepath.Dir(path))+"/SKILL.md")
				for _, src := range tree.sources(path, c) {
					templates = append(templates, c.templates(src, inv, path)...)
				}
			}
			switch {
			case len(paths) == 0:
				n.foreign++
			case slices.ContainsFunc(templates, func(template Template) bool { return renders(t, template, inv.body) }):
				n.match++
			case changed:
				n.changed++
			case len(templates) == 0:
				n.differ++
				t.Errorf("%s: %s: no file at %q", name, inv.name, paths)
			default:
				n.differ++
				t.Errorf("%s: %s %+v\n got %q\nwant %q", name, inv.name, inv.call, templates[0].Placeholder(), inv.body)
			}
		}
	}
	var sum count
	for _, version := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return versionKey(a) - versionKey(b) }) {
		n := *counts[version]
		if n == (count{}) {
			continue
		}
		sum = count{sum.match + n.match, sum.differ + n.differ, sum.changed + n.changed, sum.foreign + n.foreign}
		t.Logf("%-8s %4d match, %d differ, %d of files changed in the session, %d of no file", version, n.match, n.differ, n.changed, n.foreign)
	}
	t.Logf("%-8s %4d match, %d differ, %d of files changed in the session, %d of no file", "all", sum.match, sum.differ, sum.changed, sum.foreign)
	if sum.match == 0 {
		t.Error("no body found")
	}
}
