package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/skilltrace/skilltrace/report"
)

// TestWorkflow checks that the workflow of docs/examples is YAML, and that its commands
// exist with all their options.
func TestWorkflow(t *testing.T) {
	text, err := os.ReadFile("../../docs/examples/github-actions.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer(`"git:$BASELINE"`, "git:origin/main", `"$SHARD"`, "1/2")
	formats := map[string]bool{}
	for _, step := range workflow.Jobs["test"].Steps {
		rest, ok := strings.CutPrefix(step.Run, "skilltrace ")
		if !ok {
			continue
		}
		for _, end := range []string{" >>", " ||"} {
			rest, _, _ = strings.Cut(rest, end)
		}
		words := strings.Fields(variables.Replace(rest))
		a := &app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, getenv: func(string) string { return "" }}
		cmd, args, err := a.rootCommand().Find(words)
		if err == nil {
			err = cmd.ParseFlags(args)
		}
		if err == nil {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if err != nil {
			t.Errorf("skilltrace %s: %v", rest, err)
			continue
		}
		formats[cmd.Flag("format").Value.String()] = true
	}
	for _, want := range []string{"github", "markdown", "junit"} {
		if !formats[want] {
			t.Errorf("no step writes %s", want)
		}
	}
}

// TestQuotedFiles checks that files which a page quotes stand there as they are.
func TestQuotedFiles(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to-change-descriptions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []struct{ file, from string }{{"answer.py", "#!"}, {"github-actions.yml", "    env:\n"}} {
		text, err := os.ReadFile("../../docs/examples/" + q.file)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(text, []byte(q.from))
		if at < 0 || !bytes.Contains(page, text[at:]) {
			t.Errorf("the page quotes %s as it is not", q.file)
		}
	}
}

// TestExampleReplays checks that the session of docs/examples, which was written by hand,
// is one that the client could have written.
func TestExampleReplays(t *testing.T) {
	var out, errs bytes.Buffer
	const shop = "../../docs/examples/shop/"
	status := Main([]string{"replay", shop + "testdata/monday.jsonl", "--skills", shop + ".claude/skills", "--usage", shop + "usage.json"}, &out, &errs, func(string) string { return "" })
	if status != statusOK || !strings.Contains(out.String(), "CHECKS   6 match, 0 divergent, 0 undetermined") {
		t.Errorf("status %d\n%s%s", status, &out, &errs)
	}
}

// TestUsageOfEditedSkills: the files of a spec are those that the session did not see, and
// the usage counts it gives still say whose description goes first.
func TestUsageOfEditedSkills(t *testing.T) {
	var out, errs bytes.Buffer
	args := []string{"test", "../../docs/examples/shop/longer.test.yaml", "--scorer", "visible", "--baseline", "log", "--format", "json"}
	status := Main(args, &out, &errs, func(string) string { return "" })
	var doc report.TestDocument
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	listing := doc.Cases[0].Details.Listing
	if status != statusFindings || len(listing.Changes) != 2 || listing.Changes[0].Skill != "release-notes" || listing.Changes[0].After != "name_only" {
		t.Errorf("status %d, %+v", status, listing.Changes)
	}
	if assumed := strings.Join(doc.Cases[0].Details.Assumed, "; "); strings.Contains(assumed, "usage") {
		t.Errorf("assumed: %s", assumed)
	}
}

// TestFirstFolderCounts: of two candidates with one name that of the first folder counts,
// also by the rules of clients that list both.
func TestFirstFolderCounts(t *testing.T) {
	for _, client := range []string{"claude-code@2.1.332", "claude-code@2.1.140"} {
		var out, errs bytes.Buffer
		args := []string{"test", "../../docs/examples/shop/longer.test.yaml", "--scorer", "visible", "--client", client, "--format", "json"}
		Main(args, &out, &errs, func(string) string { return "" })
		var doc report.TestDocument
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatalf("%v: %s", err, &errs)
		}
		changes := doc.Cases[0].Details.Listing.Changes
		if len(changes) != 2 || changes[1].Skill != "deploy" || changes[1].CharsAfter != changes[1].CharsBefore+800 {
			t.Errorf("%s: %+v", client, changes)
		}
	}
}

// TestDocumentedKeys checks that the page on specs explains each key that the schema has.
func TestDocumentedKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/schema/skilltrace.test.json")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/how-to-change-descriptions.md")
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	keys := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if properties, ok := v["properties"].(map[string]any); ok {
				for key := range properties {
					keys++
					if !bytes.Contains(page, []byte("`"+key+"`")) && !bytes.Contains(page, []byte("`{"+key+":")) {
						t.Errorf("the page does not explain %s", key)
					}
				}
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(schema)
	if keys < 20 {
		t.Errorf("the schema has %d keys", keys)
	}
}
