package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay/regress/live/fake"
	"github.com/skilltrace/skilltrace/report"
)

// testCase runs a spec of a fixture, and returns its exit status, screen and document. A
// model answers by the script.
func testCase(t *testing.T, text string, script []fake.Reply, args ...string) (int, string, report.TestDocument, *fake.Server) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "skilltrace.test.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	model := fake.Start(script...)
	t.Cleanup(model.Close)
	env := map[string]string{"HOME": dir, "COLUMNS": "400", "ANTHROPIC_BASE_URL": model.URL, "ANTHROPIC_API_KEY": "key"}
	run := func(more ...string) (int, string) {
		var out, errs bytes.Buffer
		status := Main(append(append([]string{"test", file, "--yes"}, args...), more...), &out, &errs, func(key string) string { return env[key] })
		if status > statusFindings {
			t.Fatalf("exit status %d: %s", status, &errs)
		}
		return status, out.String()
	}
	status, screen := run()
	again, data := run("--format", "json")
	if again != status {
		t.Errorf("exit status %d, then %d", status, again)
	}
	if err := validate([]byte(data)); err != nil {
		t.Error(err)
	}
	var doc report.TestDocument
	if err := json.Unmarshal([]byte(data), &doc); err != nil {
		t.Fatal(err)
	}
	return status, screen, doc, model
}

// fixture is the path of the log of a case, for a spec.
func fixture(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root(), "fixtures", "cases", name, "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(path)
}

// TestCase09Late: a model that calls a skill behind other tools has called it, late.
func TestCase09Late(t *testing.T) {
	text := fmt.Sprintf("version: 1\nscorer: live\nthresholds: {runs: 6}\ncases:\n  - {name: late, session: %q, at: {prompt: 1}, expect: {triggers: foo}}\n", fixture(t, "09-late-trigger"))
	status, screen, doc, _ := testCase(t, text, []fake.Reply{
		{Times: 4, Calls: []string{"Bash", "Read", "Skill:superpowers:using-superpowers", "Skill:foo"}},
		{Times: 1, Calls: []string{"Skill:foo"}},
		{Calls: []string{"Bash", "Read"}},
	}, "--verbose")
	asked := doc.Cases[0].Details.Asked
	if status != statusOK || asked.Hits != 5 || asked.Late != 4 || asked.First != 1 || !strings.Contains(screen, "5 of 6 called foo") || !strings.Contains(screen, "4 of them late") {
		t.Errorf("status %d, %+v\n%s", status, asked, screen)
	}
}

// TestCase10Errors: of two queries that expect no skill one is clean, and one ends in an
// error: nothing was learnt of that, and the run did not pass.
func TestCase10Errors(t *testing.T) {
	log := fixture(t, "10-measures-nothing")
	cases := fmt.Sprintf("cases:\n  - {name: clean, session: %[1]q, at: {prompt: 1}, expect: {triggers: none}}\n  - {name: broken, session: %[1]q, at: {prompt: 20}, expect: {triggers: none}}\n", log)
	check := func(t *testing.T, status int, screen string, doc report.TestDocument) {
		t.Helper()
		if got := doc.Totals; status != statusFindings || got.Passed != 1 || got.Errored != 1 || len(doc.Cases) != 2 || doc.Outcome != "inconclusive" {
			t.Errorf("status %d, %+v, outcome %s\n%s", status, got, doc.Outcome, screen)
		}
	}
	t.Run("live", func(t *testing.T) {
		status, screen, doc, _ := testCase(t, "version: 1\nscorer: live\nthresholds: {runs: 5}\n"+cases, []fake.Reply{
			{Match: "thanks", Status: 400, Kind: "invalid_request_error", Message: "no"},
			{},
		}, "--no-cache")
		check(t, status, screen, doc)
		if doc.Cases[1].Details.Asked.Errors != 5 || !strings.Contains(doc.Cases[1].Reason, "invalid_request_error") {
			t.Errorf("%+v", doc.Cases[1])
		}
	})
	t.Run("command", func(t *testing.T) {
		if _, err := os.Stat("/bin/sh"); err != nil {
			t.Skip("no shell here")
		}
		answer := `if grep -q thanks; then echo '{"error": "overloaded"}'; else echo '{"skill": null}'; fi`
		status, screen, doc, _ := testCase(t, fmt.Sprintf("version: 1\nscorer: command\ncommand: [/bin/sh, -c, %q]\n", answer)+cases, nil)
		check(t, status, screen, doc)
	})
}

// TestCase10NoSignal: twenty queries, nothing fires, and the candidate was in no listing.
// Nothing was measured, nobody is asked, and there is no advice on wording.
func TestCase10NoSignal(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\ncommand: [/no/such/program]\ncases:\n")
	for i := range 20 {
		fmt.Fprintf(&b, "  - {name: query %d, session: %q, at: {prompt: %d}, expect: {triggers: shop-audit}}\n", i+1, fixture(t, "10-measures-nothing"), i+1)
	}
	for _, scorer := range []string{"visible", "live", "command"} {
		status, screen, doc, model := testCase(t, b.String(), nil, "--scorer", scorer)
		if status != statusFindings || doc.Totals.Inconclusive != 20 || doc.Outcome != "inconclusive" || len(model.Asked()) > 0 {
			t.Errorf("%s: status %d, %+v, outcome %s, asked %d times", scorer, status, doc.Totals, doc.Outcome, len(model.Asked()))
		}
		for _, c := range doc.Cases {
			if c.Reason != "no signal: shop-audit was in no listing" {
				t.Errorf("%s: %s: %s", scorer, c.Name, c.Reason)
			}
		}
		for _, word := range []string{"wording", "reword", "shorten", "cut "} {
			if strings.Contains(screen, word) {
				t.Errorf("%s: advice on wording:\n%s", scorer, screen)
			}
		}
	}
}
