package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/report"
)

// home is a home folder with the log of a case in it, and the skill files of the case.
func home(t *testing.T, log, skills string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	cases := filepath.Join(root(), "fixtures", "cases")
	data, err := os.ReadFile(filepath.Join(cases, log))
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, ".claude", "projects", "-home-dev-shop", "c0000000-0000-4000-8000-000000000000.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if skills != "" {
		copied := filepath.Join(dir, ".claude", "skills")
		if err := os.CopyFS(copied, os.DirFS(filepath.Join(cases, skills))); err != nil {
			t.Fatal(err)
		}
		date(t, copied, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	}
	return dir, path
}

// date gives all that lies in a folder a date, that of files which nobody wrote since.
func date(t *testing.T, dir string, at time.Time) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// replayCase runs replay and returns its screen, in one line, and its document.
func replayCase(t *testing.T, home, path string, env map[string]string, args ...string) (string, report.ReplaySession) {
	t.Helper()
	getenv := func(key string) string {
		switch key {
		case "HOME":
			return home
		case "COLUMNS":
			return "400"
		}
		return env[key]
	}
	run := func(more ...string) []byte {
		var out, errs bytes.Buffer
		if status := Main(append(append([]string{"replay", path}, args...), more...), &out, &errs, getenv); status > statusFindings {
			t.Fatalf("exit status %d: %s", status, errs.String())
		}
		return out.Bytes()
	}
	screen := strings.Join(strings.Fields(string(run())), " ")
	data := run("--format", "json")
	if err := validate(data); err != nil {
		t.Error(err)
	}
	var doc report.ReplayDocument
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return screen, doc.Sessions[0]
}

// listCase runs listing in a folder without skills of its own.
func listCase(t *testing.T, home string, env map[string]string, args ...string) *report.ListingDocument {
	t.Helper()
	var out, errs bytes.Buffer
	getenv := func(key string) string {
		if key == "HOME" {
			return home
		}
		return env[key]
	}
	if status := Main(append([]string{"listing", "--project", home, "--format", "json"}, args...), &out, &errs, getenv); status != 0 {
		t.Fatalf("exit status %d: %s", status, errs.String())
	}
	if err := validate(out.Bytes()); err != nil {
		t.Error(err)
	}
	var doc report.ListingDocument
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return &doc
}

// TestCase12Budget: how far a listing is over its budget, under which assumption.
func TestCase12Budget(t *testing.T) {
	dir, path := home(t, "12-budget/session.jsonl", "")
	const demand = 146_298
	left := demand
	for i := range 100 {
		// An entry is "- part-000: " and its text; all but the first stand behind a newline.
		name := fmt.Sprintf("part-%03d", i)
		around := len("- : ") + len(name)
		if i > 0 {
			around++
		}
		size := left/(100-i) - around
		left -= around + size
		file := filepath.Join(dir, ".claude", "skills", name, "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("---\ndescription: "+strings.Repeat("x", size)+"\n---\nDo part "+name+".\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	settings := func(fraction string) string {
		file := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(file, []byte(`{"skillListingBudgetFraction":`+fraction+`}`), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, tt := range []struct {
		name         string
		env          map[string]string
		args         []string
		budget, over int64
		screen       string
	}{
		{"1 % of 200k", nil, nil, 8_000, 138_298, "untrimmed: 146,298 characters for a budget of 8,000 (1 % of 200,000 tokens, window assumed), over by 138,298; by the files read now"},
		{".01 of 200k", nil, []string{"--settings", settings("0.01"), "--window", "200000"}, 8_000, 138_298, "for a budget of 8,000 (skillListingBudgetFraction: 1 % of 200,000 tokens), over by 138,298"},
		{".05 of 200k", nil, []string{"--settings", settings("0.05")}, 40_000, 106_298, "for a budget of 40,000 (skillListingBudgetFraction: 5 % of 200,000 tokens, window assumed), over by 106,298"},
		{".05 of 1M", nil, []string{"--settings", settings("0.05"), "--window", "1000000"}, 200_000, 0, ""},
		{"environment", map[string]string{"SLASH_COMMAND_TOOL_CHAR_BUDGET": "60000"}, []string{"--settings", settings("0.05")}, 60_000, 86_298, "for a budget of 60,000 (SLASH_COMMAND_TOOL_CHAR_BUDGET), over by 86,298"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			screen, s := replayCase(t, dir, path, tt.env, tt.args...)
			l := s.Agents[0].Listings[0]
			if l.Demand != demand || l.DemandFrom != "files" || l.DemandAtLeast || l.Budget != tt.budget || l.Over != tt.over {
				t.Errorf("demand %d (%s), budget %d, over %d; want %d, %d, %d", l.Demand, l.DemandFrom, l.Budget, l.Over, demand, tt.budget, tt.over)
			}
			if !strings.Contains(screen, tt.screen) || tt.screen == "" && strings.Contains(screen, "over by") {
				t.Errorf("%q is not on the screen\n%s", tt.screen, screen)
			}
			listed := listCase(t, dir, tt.env, append(tt.args, "--model", "claude-sonnet-4-5")...)
			if listed.Demand != demand || int64(listed.Budget) != tt.budget || int64(listed.Over) != tt.over || !strings.Contains(tt.screen, listed.BudgetSource) && tt.over > 0 {
				t.Errorf("listing: demand %d, budget %d (%s), over %d", listed.Demand, listed.Budget, listed.BudgetSource, listed.Over)
			}
		})
	}
	t.Run("unknown", func(t *testing.T) {
		// Without the files nobody knows what was cut.
		bare, path := home(t, "12-budget/session.jsonl", "")
		screen, s := replayCase(t, bare, path, nil)
		if l := s.Agents[0].Listings[0]; l.Demand != 0 || l.Over != 0 || strings.Contains(screen, "whole it takes") {
			t.Errorf("demand %d, over %d\n%s", l.Demand, l.Over, screen)
		}
	})
	t.Run("by the log", func(t *testing.T) {
		bare, path := home(t, "12-budget/fits.jsonl", "")
		screen, s := replayCase(t, bare, path, nil, "--verbose")
		if l := s.Agents[0].Listings[0]; l.Demand != 46 || l.DemandFrom != "log" || l.Over != 0 {
			t.Errorf("demand %d (%s), over %d", l.Demand, l.DemandFrom, l.Over)
		}
		if want := "untrimmed: 46 characters for a budget of 8,000 (1 % of 200,000 tokens, window assumed)"; !strings.Contains(screen, want) {
			t.Errorf("%q is not on the screen\n%s", want, screen)
		}
	})
}

// TestCase13Duplicates: four kinds, four redundant entries; m and n are not flagged.
func TestCase13Duplicates(t *testing.T) {
	dir, path := home(t, "13-duplicates/session.jsonl", "")
	screen, s := replayCase(t, dir, path, nil)
	l := s.Agents[0].Listings[0]
	var got []string
	for _, d := range l.Duplicates {
		got = append(got, fmt.Sprintf("%s %s %t", d.Kind, strings.Join(d.Names, "+"), d.SameText))
	}
	if want := "exact x+x true; alias plug:y+y true; two-prefixes p1:z+p2:z true; command-and-skill k:k+k:k false"; strings.Join(got, "; ") != want || l.Redundant != 4 {
		t.Errorf("%d redundant: %s", l.Redundant, strings.Join(got, "; "))
	}
	screen = strings.ReplaceAll(screen, "\u00a0", " ")
	if want := "4 entries say nothing new: x 2× (exact); plug:y, y (alias); p1:z, p2:z (two prefixes); k:k 2× (command and skill, different texts)"; !strings.Contains(screen, want) {
		t.Errorf("%q is not on the screen\n%s", want, screen)
	}
}

// The same from folders: two of skills, and three of plugins.
func TestCase13DuplicatesNow(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	skill := func(name, text string) { write(name+"/SKILL.md", "---\ndescription: \""+text+"\"\n---\n") }
	for _, plugin := range []string{"plug", "p1", "p2", "k"} {
		write(plugin+"/.claude-plugin/plugin.json", `{"name":"`+plugin+`"}`)
	}
	skill("one/x", "Sorts the crates.")
	skill("two/x", "Sorts the crates.")
	skill("plug/skills/y", "Weighs a crate.")
	skill("one/y", "Weighs a crate.")
	skill("p1/skills/z", "Seals a crate.")
	skill("p2/skills/z", "Seals a crate.")
	write("k/commands/k.md", "---\ndescription: Runs the command k.\n---\n")
	skill("k/skills/k", "Follows the steps of k.")
	skill("one/m", "Opens a crate, not for closing one: use n.")
	skill("one/n", "Closes a crate, not for opening one: use m.")
	var args []string
	for _, name := range []string{"one", "two", "plug", "p1", "p2", "k"} {
		args = append(args, "--skills", filepath.Join(dir, name))
	}
	doc := listCase(t, dir, nil, append(args, "--client", "claude-code@2.1.140")...)
	var got []string
	for _, d := range doc.Duplicates {
		got = append(got, fmt.Sprintf("%s %s %t", d.Kind, strings.Join(d.Entries, "+"), d.SameText))
	}
	if want := "exact x+x true; alias y+plug:y true; two-prefixes p1:z+p2:z true; command-and-skill k:k+k:k false"; strings.Join(got, "; ") != want || doc.Redundant != 4 {
		t.Errorf("%d redundant: %s", doc.Redundant, strings.Join(got, "; "))
	}
}

// TestCase15FrontMatter: what the front matter really says, to a newer client and to
// an older one.
func TestCase15FrontMatter(t *testing.T) {
	for _, tt := range []struct {
		log   string
		notes map[string]string // by skill
	}{
		{"newer", map[string]string{
			"a": "4 continued: all fields are lost: this line goes on with the value above, and is not indented; listed as “Some Heading” (line 2) | 5 not-in-force: disable-model-invocation is not in force, as the fields are lost: the model can call the skill",
			"b": `2 requoted: not strict YAML (": " inside a value without quotes); listed as “Sorts: crates by weight” (line 2)`,
			"c": `2 comment: " #" starts a comment: "#x" is dropped; listed as “tags” (line 2)`,
			"d": "1 bom: a byte order mark stands before ---: this client reads on, older ones see no front matter; listed as “Marks the order of bytes.” (line 2)",
			"e": "",
			"f": "2 leading: a comment above --- hides the front matter: --- must be the first line; listed as “A comment” (line 2)",
			"g": "",
		}},
		{"older", map[string]string{
			"a": "",
			"b": "",
			"c": "",
			"d": "1 bom: a byte order mark stands before ---, and this client does not know it",
			"e": "",
			"f": "2 leading: a comment above --- hides the front matter: --- must be the first line",
			"g": `2 indicator: this client takes "|" for the whole value: 1 of 28 characters; the lines below are dropped; listed as “|” (line 2)`,
		}},
	} {
		t.Run(tt.log, func(t *testing.T) {
			dir, path := home(t, "15-frontmatter/"+tt.log+".jsonl", "15-frontmatter/files/dev/.claude/skills")
			screen, s := replayCase(t, dir, path, nil)
			if len(s.SkillFiles) != len(tt.notes) {
				t.Fatalf("%d skill files", len(s.SkillFiles))
			}
			for _, k := range s.SkillFiles {
				var notes []string
				for _, n := range k.FrontMatter {
					notes = append(notes, fmt.Sprintf("%d %s: %s", n.Line, n.Kind, n.Text))
				}
				got := strings.Join(notes, " | ")
				var want []string
				for _, w := range strings.Split(tt.notes[k.Name], " | ") {
					w, _, _ = strings.Cut(w, "; listed as")
					want = append(want, w)
				}
				if got != strings.Join(want, " | ") {
					t.Errorf("%s:\n got %s\nwant %s", k.Name, got, strings.Join(want, " | "))
				}
				for _, w := range strings.Split(tt.notes[k.Name], " | ") {
					line, text, ok := strings.Cut(w, " ")
					if !ok {
						continue
					}
					_, text, _ = strings.Cut(text, ": ")
					if on := filepath.Base(filepath.Dir(k.Path)) + "/SKILL.md:" + line + ": " + text; !strings.Contains(screen, on) {
						t.Errorf("%q is not on the screen\n%s", on, screen)
					}
				}
			}
			for _, c := range s.Agents[0].Checks {
				if c.Verdict == "divergent" {
					t.Errorf("%s is divergent: %s", c.Kind, c.Reason)
				}
			}
		})
	}
	t.Run("not in the log", func(t *testing.T) {
		dir, path := home(t, "15-frontmatter/newer.jsonl", "15-frontmatter/files/dev/.claude/skills")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Replace(data, []byte(": Sorts: crates by weight"), nil, 1), 0o644); err != nil {
			t.Fatal(err)
		}
		screen, _ := replayCase(t, dir, path, nil)
		if want := "b/SKILL.md:2: not strict YAML (\": \" inside a value without quotes); what the client made of it is not in the log"; !strings.Contains(screen, want) {
			t.Errorf("%q is not on the screen\n%s", want, screen)
		}
	})
}
