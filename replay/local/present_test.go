package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/replay"
)

// started are the entries of a client that starts now, and what it was started with.
func started(t *testing.T, o Options, s Start) (entries string, p *Present) {
	t.Helper()
	if s.Version == "" {
		s.Version = "2.1.332"
	}
	p, err := NewFinder(o).Start(s)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := replay.NewStarts(&p.Inputs).At(s.Version, began)
	var out []string
	for _, e := range m.Entries() {
		out = append(out, e.Name+"="+e.Text)
	}
	return strings.Join(out, " "), p
}

func TestStart(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes.")
	w.skill("shop/.claude/skills", "deploy", "Puts.")
	w.skill("shop/.claude/skills", "off", "Is off.")
	w.skill("managed/.claude/skills", "policy", "Rules.")
	w.write(".claude/settings.json", `{"skillOverrides":{"off":"off"},"skillListingBudgetFraction":0.02,"env":{"SLASH_COMMAND_TOOL_CHAR_BUDGET":"500"}}`)
	w.write("shop/.claude/settings.local.json", `{"skillListingBudgetFraction":0.03}`)
	w.write(".claude.json", `{"skillUsage":{"deploy":{"usageCount":4,"lastUsedAt":1795000000000}}}`)
	set := filepath.Join(w.home, "set")
	w.skill("set", "alone", "Is alone.")
	w.write("plug/.claude-plugin/plugin.json", `{"name":"plug"}`)
	w.skill("plug/skills", "ship", "Ships.")

	o := w.options()
	o.Managed = filepath.Join(w.home, "managed")
	entries, p := started(t, o, Start{CWD: w.shop, Model: "sonnet"})
	equal(t, "what is here", entries, "policy=Rules. commit=Writes. deploy=Puts.")
	proc := p.Inputs.Processes[0]
	if proc.Settings.Fraction != 0.03 || proc.Env["SLASH_COMMAND_TOOL_CHAR_BUDGET"] != "500" || proc.Model != "sonnet" || p.Inputs.Usage.Counts["deploy"].Count != 4 || len(p.Problems) > 0 {
		t.Errorf("process %+v, usage %+v, problems %q", proc, p.Inputs.Usage, p.Problems)
	}
	entries, p = started(t, o, Start{CWD: w.shop, Only: []string{set, filepath.Join(w.home, "plug")}})
	equal(t, "folders given", entries, "alone=Is alone. plug:ship=Ships.")
	if p.Inputs.Processes[0].Settings.Fraction != 0.03 || p.Inputs.Usage == nil {
		t.Error("the settings and counts of this machine do not hold for folders given")
	}

	bare := newWorld(t)
	entries, p = started(t, bare.options(), Start{CWD: bare.shop})
	if entries != "" || p.Inputs.Usage != nil {
		t.Errorf("an empty machine: %s, %+v", entries, p.Inputs.Usage)
	}
	for _, s := range []Start{{CWD: w.shop, Version: "1.0.0"}, {CWD: w.shop, Version: "2.1.332", Only: []string{filepath.Join(w.home, "nowhere")}}, {CWD: w.shop, Version: "2.1.332", At: "-x"}} {
		if _, err := NewFinder(o).Start(s); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
}

// A revision is taken at its word for the project; the user's own skills, which git does
// not track, stay.
func TestStartAt(t *testing.T) {
	w := newWorld(t)
	w.write("shop/README", "x")
	w.repository(w.shop)
	w.commit(w.shop, began.Add(-48*time.Hour))
	w.skill("shop/.claude/skills", "deploy", "Puts it online.")
	w.write("shop/.claude/commands/fix.md", "---\ndescription: Fixes.\n---\n")
	w.commit(w.shop, began.Add(-24*time.Hour))
	w.skill("shop/.claude/skills", "deploy", "Puts it off.")
	if err := os.Remove(filepath.Join(w.shop, ".claude", "commands", "fix.md")); err != nil {
		t.Fatal(err)
	}
	w.skill(".claude/skills", "commit", "Writes.")
	for at, want := range map[string]string{
		"":       "commit=Writes. deploy=Puts it off.",
		"HEAD":   "commit=Writes. deploy=Puts it online. fix=Fixes.",
		"HEAD~1": "commit=Writes.",
	} {
		entries, _ := started(t, w.options(), Start{CWD: w.shop, At: at})
		equal(t, "at "+at, entries, want)
	}
	_, err := NewFinder(w.options()).Start(Start{CWD: w.shop, Version: "2.1.332", At: "v9"})
	if err == nil || !strings.Contains(err.Error(), `no revision "v9" there`) {
		t.Errorf("an unknown revision: %v", err)
	}
	_, err = NewFinder(w.options()).Start(Start{CWD: w.dir, Version: "2.1.332", At: "HEAD"})
	if err == nil || !strings.Contains(err.Error(), "none of the skill folders that count there lies in a git work tree") {
		t.Errorf("a folder without history: %v", err)
	}
}

func TestOwnEntries(t *testing.T) {
	w := newWorld(t)
	name := w.log(session(w.shop, "verify: Verifies.", "run: Runs.", "plug:verify: Of a plugin.", "gone: Was a skill.", "commit: Writes.", "init: Begins."))
	s := observe(t, name)
	_, f := find(t, name, w.options())
	own, others, ok := OwnEntries(s, map[string]bool{"run": true, "commit": true}, f.Inputs.Rules("2.1.332").Discovery)
	var got []string
	for _, g := range own {
		got = append(got, g.Name+"="+g.Text+" "+string(g.Place))
	}
	if !ok {
		t.Error("no listing")
	}
	equal(t, "own", strings.Join(got, ", "), "verify=Verifies. after-plugins, init=Begins. builtin")
	equal(t, "others", strings.Join(others, ", "), "plug:verify, gone")
}
