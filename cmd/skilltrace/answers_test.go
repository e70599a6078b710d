package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"

	"github.com/skilltrace/skilltrace/report"
)

// answerCase is a command that answers with a document.
type answerCase struct {
	name string
	args []string
}

// place is where answers are made: a home of its own, sessions of two kinds, skills and a
// spec of tests.
type place struct {
	home, config, wide string
	vars               map[string]string
}

func (p *place) getenv(key string) string { return p.vars[key] }

// newPlace makes a home with the recorded session of fixtures/compact, and one of which
// the names are wide, or try to act on a terminal.
func newPlace(t *testing.T) *place {
	t.Helper()
	home := t.TempDir()
	compact, err := filepath.Abs(filepath.Join("..", "..", "fixtures", "compact"))
	if err != nil {
		t.Fatal(err)
	}
	p := &place{home: home, config: compact, wide: filepath.Join(home, "wide")}
	p.vars = map[string]string{"HOME": home, "CLAUDE_CONFIG_DIR": compact, "TZ": "UTC"}
	archive, err := txtar.ParseFile(filepath.Join("testdata", "script", "session.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	wide := strings.NewReplacer("deploy", "部署👩‍🚀技能-デプロイ", "commit", `evil\u001b[2J\u202ename`, "put it online", `請把它放到網上 🚀🚀 \u001b]0;x\u0007 `+strings.Repeat("漢字", 200), "/home/dev/shop", "/home/開発/"+strings.Repeat("店", 40))
	for _, f := range archive.Files {
		if rest, ok := strings.CutPrefix(f.Name, "claude/"); ok && strings.HasSuffix(rest, ".jsonl") {
			put(t, filepath.Join(p.wide, rest), wide.Replace(string(f.Data)))
		}
	}
	for name, text := range map[string]string{"部署👩‍🚀技能": "網上 " + strings.Repeat("說明", 90), "plain": "Does what it says.", "long-" + strings.Repeat("name", 30): strings.Repeat("words of a description ", 80)} {
		put(t, filepath.Join(home, "shop", ".claude", "skills", name, "SKILL.md"), "---\nname: "+name+"\ndescription: "+text+"\n---\nBody.\n")
	}
	return p
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cases are all commands that answer with a document. The first word or words name the
// command.
func (p *place) cases(t *testing.T) []answerCase {
	t.Helper()
	skills := filepath.Join(p.home, "shop", ".claude", "skills")
	spec := filepath.Join(p.home, "spec")
	mine := []string{"test", "init", "latest", "--dir", spec, "--skills", filepath.Join(p.config, "skills"), "--force"}
	p.must(t, mine...)
	cases := []answerCase{
		{name: "sessions", args: []string{"sessions"}},
		{name: "sessions of both", args: []string{"sessions", "--config-dir", p.config + "," + p.wide}},
		{name: "timeline", args: []string{"timeline", "latest"}},
		{name: "timeline, wide", args: []string{"timeline", "--config-dir", p.wide}},
		{name: "timeline of both", args: []string{"timeline", "--config-dir", p.config + "," + p.wide}},
		{name: "replay", args: []string{"replay", "latest"}},
		{name: "replay, wide", args: []string{"replay", "--config-dir", p.wide}},
		{name: "replay of both", args: []string{"replay", "--config-dir", p.config + "," + p.wide}},
		{name: "why", args: []string{"why", "big-b", "latest"}},
		{name: "why, wide", args: []string{"why", "部署👩‍🚀技能-デプロイ", "--config-dir", p.wide}},
		{name: "why of both", args: []string{"why", "big-b", "--config-dir", p.config + "," + p.wide}},
		{name: "why all", args: []string{"why", "--all", "--config-dir", p.config + "," + p.wide}},
		{name: "cost", args: []string{"cost", "latest"}},
		{name: "cost by skill", args: []string{"cost", "--by", "skill", "--config-dir", p.config + "," + p.wide}},
		{name: "cost by project and day", args: []string{"cost", "--by", "project,day", "--config-dir", p.config + "," + p.wide}},
		{name: "cost, what if", args: []string{"cost", "latest", "--what-if", "remove=big-b"}},
		{name: "listing", args: []string{"listing", "--skills", skills, "--model", "claude-sonnet-4-5"}},
		{name: "listing that has to fit", args: []string{"listing", "--skills", skills, "--model", "claude-sonnet-4-5", "--fit"}},
		{name: "test", args: []string{"test", filepath.Join(spec, "skilltrace.test.yaml")}},
		{name: "test init", args: mine},
		{name: "rules", args: []string{"rules"}},
		{name: "rules that differ", args: []string{"rules", "2.1.332", "--diff", "2.1.140"}},
		{name: "config", args: []string{"config"}},
		{name: "config of a command", args: []string{"config", "cost"}},
		{name: "cache", args: []string{"cache"}},
		{name: "version", args: []string{"version"}},
	}
	if _, err := os.Stat(filepath.Join(shared(), "conformance")); err == nil {
		cases = append(cases, answerCase{name: "conform", args: []string{"conform", filepath.Join(shared(), "conformance", "lifecycle", "compact")}})
	} else {
		t.Log("conform is left out: the recordings are not here")
	}
	return cases
}

// run runs a command. Findings are no failure.
func (p *place) run(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = Main(args, &out, &errs, p.getenv)
	return status, out.String(), errs.String()
}

func (p *place) must(t *testing.T, args ...string) string {
	t.Helper()
	status, out, errs := p.run(args...)
	if status > statusFindings {
		t.Fatalf("skilltrace %s: status %d\n%s", strings.Join(args, " "), status, errs)
	}
	return out
}

// Every answer fits its schema, and an answer that was saved as JSON is written in every
// format as the command writes it.
func TestAnswers(t *testing.T) {
	p := newPlace(t)
	seen := map[string]bool{}
	for _, c := range p.cases(t) {
		t.Run(c.name, func(t *testing.T) {
			data := p.must(t, append(slices.Clone(c.args), "--format", "json")...)
			name := schemaOf(t, []byte(data))
			seen[c.args[0]] = true
			file := filepath.Join(t.TempDir(), "answer.json")
			put(t, file, data)
			doc, err := report.Read([]byte(data))
			if err != nil {
				t.Fatal(err)
			}
			for _, format := range report.FormatsOf(doc) {
				want := p.must(t, append(slices.Clone(c.args), "--format", string(format))...)
				from := file
				if format == report.FormatHTML {
					// What only a page shows is saved where nothing is left out.
					from = filepath.Join(t.TempDir(), "full.json")
					put(t, from, p.must(t, append(slices.Clone(c.args), "--format", "json", "--verbose")...))
				}
				got := p.must(t, "render", from, "--format", string(format))
				if format == report.FormatTable || format == report.FormatHTML {
					want, got = withoutNext(want), withoutNext(got)
				}
				if got != want {
					t.Errorf("%s: render --format %s writes\n%s\nwant\n%s", name, format, got, want)
				}
			}
		})
	}
	var missing []string
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Annotations[formatsKey] != "" && cmd.Name() != "render" && !seen[cmd.Name()] && !seen[cmd.Parent().Name()] {
			missing = append(missing, cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk((&app{getenv: p.getenv}).rootCommand())
	if _, err := os.Stat(filepath.Join(shared(), "conformance")); err != nil {
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == "skilltrace conform" })
	}
	if len(missing) > 0 {
		t.Errorf("not tried: %v", missing)
	}
}

// withoutNext is a table without the commands that it proposes: those of a command have
// the options that were given, which a saved answer does not hold.
func withoutNext(table string) string {
	before, _, _ := strings.Cut(table, "Next: ")
	return before
}

// schemaOf checks an answer against the schema that it names, which it returns.
func schemaOf(t *testing.T, data []byte) string {
	t.Helper()
	var head struct{ Schema string }
	if err := json.Unmarshal(data, &head); err != nil {
		t.Fatal(err)
	}
	command := strings.TrimSuffix(strings.TrimPrefix(head.Schema, "skilltrace/"), "@1")
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "schema", command+".json"))
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v", head.Schema, err)
	}
	return head.Schema
}

// A saved answer that cannot be rendered is wrong use.
func TestRenderErrors(t *testing.T) {
	p := newPlace(t)
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "a.json")
		put(t, file, text)
		return file
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"render"}, "want FILE.json, a saved answer"},
		{[]string{"render", filepath.Join(p.home, "nothing.json")}, "nothing.json: no such file or directory; give a file that a command wrote with --format json"},
		{[]string{"render", p.home}, "a directory"},
		{[]string{"render", write("{}")}, `it names no "schema"`},
		{[]string{"render", write(`{"schema":"skilltrace/replay@9"}`)}, `a.json: its schema is "skilltrace/replay@9", and this version of skilltrace reads "skilltrace/replay@1"`},
		{[]string{"render", write(`{"schema":"skilltrace/version@1"}`), "--format", "sarif"}, "--format sarif: want table or json for "},
		{[]string{"render", write(`{"schema":"skilltrace/cost@1"}`), "--format", "csv"}, "a saved answer holds no line for each request; skilltrace cost --format csv makes them of the logs; see skilltrace render --help"},
		{[]string{"render", write(`{"schema":"skilltrace/cost@1"}`), "--format", "toml"}, "--format toml: want table, json, "},
	} {
		if runtime.GOOS == "windows" && strings.Contains(c.want, "directory") {
			continue // in other words there
		}
		if status, out, errs := p.run(c.args...); status != statusUnusable || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, %s%s, want %s", c.args, status, out, errs, c.want)
		}
	}
}
