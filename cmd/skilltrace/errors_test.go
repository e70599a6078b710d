package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestNextStep checks that errors say what to do: what is wanted, what was meant, or where
// that is written.
func TestNextStep(t *testing.T) {
	home := exampleHome(t)
	t.Chdir(filepath.Join(home, "shop"))
	getenv := func(key string) string { return map[string]string{"HOME": home, "TZ": "UTC"}[key] }
	for _, tt := range []struct{ line, want string }{
		{"rply", "did you mean replay?"},
		{"nonsense", "see skilltrace --help"},
		{"help rply", "did you mean replay?"},
		{"help test innit", "see skilltrace test --help"},
		{"test innit", "did you mean skilltrace test init?"},
		{"test exprt x", "did you mean export?"},
		{"test", "skilltrace test init SESSION makes one"},
		{"test other.yaml", "without one it is skilltrace.test.yaml"},
		{"test export", "want promptfoo or plugin-eval"},
		{"test init", "skilltrace sessions lists them"},
		{"test init latest --dir nowhere/at/all --skills nowhere", "give a folder of skills that can be read"},
		{"completion bsh", "want bash, fish, powershell or zsh"},
		{"config csot", "did you mean cost?"},
		{"man", "want DIR"},
		{"man shop/../.claude/skills/deploy/SKILL.md/x", "give a folder"},
		{"cache x", "--cache-dir DIR names another folder"},
		{"cache --cache-dir .claude/skills/deploy/SKILL.md", "give a folder"},
		{"version x", "see skilltrace version --help"},
		{"replay --fromat json", "did you mean --format?"},
		{"replay --form json", "did you mean --format?"},
		{"replay --nonsense", "see skilltrace replay --help"},
		{"replay -x", "see skilltrace replay --help"},
		{"replay --format", "want a value"},
		{"replay --skills", "want DIR"},
		{"replay --format jsn", "did you mean json?"},
		{"replay --color nevr", "did you mean never?"},
		{"replay --open --output page.json", "name a file that ends in .html"},
		{"sessions --output page.htm", "--output page.htm asks for html: want table, json, ndjson, csv or markdown, as there is no page for it; --format"},
		{"cost --output results.xml", "--output results.xml asks for junit: want"},
		{"replay --client clade-code", "known are claude-code"},
		{"replay --client claude-code@9", "want three numbers"},
		{"replay --skills-at v9", "git log --all shows"},
		{"replay --skills-at now --settings nowhere.json", "give a settings.json"},
		{"replay --timezone Berlin", "such as Europe/Berlin"},
		{"replay --since yesterday", "want a day such as"},
		{"replay 99999999", "skilltrace sessions lists them"},
		{"replay nowhere.jsonl", "skilltrace sessions lists"},
		{"replay --session 9", "lists them"},
		{"replay --project /nowhere/at/all", "name another --project"},
		{"sessions --since 2030-01-01", "lists them"},
		{"sessions --limit x", "want 0 (all) or more"},
		{"timeline --kind skil_call", "did you mean skill_call?"},
		{"why", "want the name of a skill"},
		{"why latest", "want the name of a skill before it"},
		{"why deploy --prompt 99", "skilltrace timeline --kind prompt lists them"},
		{"why deploy --all --prompt 3", "want one of the two"},
		{"cost --by skil", "did you mean skill?"},
		{"cost --what-if remov=deploy", "did you mean remove?"},
		{"cost --what-if remove=deplyo", "did you mean deploy?"},
		{"cost --what-if model=none", "--prices FILE gives one"},
		{"cost --prices nowhere.json", "give a JSON file of prices"},
		{"listing x", "--skills DIR names a folder"},
		{"listing --skills .claude/skills/deploy", "give the folder above it"},
		{"listing --skills .", "give .claude/skills"},
		{"listing --text --fit", "leave out the other options"},
		{"listing --project nowhere", "give the folder in which"},
		{"rules 9.9", "want three numbers"},
		{"rules --rules nowhere.yaml", "give a YAML file of rule changes"},
		{"conform", "want DIR"},
		{"conform nowhere", "docs/recording.md says how"},
		{"conform x --write-floor", "want --floor FILE"},
		{"render nowhere.json", "--format json"},
	} {
		var out, errs bytes.Buffer
		status := Main(strings.Fields(tt.line), &out, &errs, getenv)
		if status != statusUnusable || !strings.Contains(errs.String(), tt.want) || out.Len() > 0 {
			t.Errorf("skilltrace %s: status %d, %q does not stand in\n%s%s", tt.line, status, tt.want, &errs, &out)
		}
	}
	// What is no error, but a slip.
	for _, tt := range []struct{ line, want string }{
		{"timeline --skill deplyo", "did you mean deploy?"},
		{"timeline --agent man", "did you mean main?"},
		{"why deplyo", "did you mean deploy?"},
	} {
		var out bytes.Buffer
		if status := Main(strings.Fields(tt.line), &out, &out, getenv); status != statusOK || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), tt.want) {
			t.Errorf("skilltrace %s: status %d, %q does not stand in\n%s", tt.line, status, tt.want, &out)
		}
	}
}
