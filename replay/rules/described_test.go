package rules

import (
	"errors"
	"slices"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/body"
)

func ruleset(t *testing.T, client string) Rules {
	t.Helper()
	tab, err := For(client)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tab.At("")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDescribed pins what the tables of the described clients say beside what they
// take over.
func TestDescribed(t *testing.T) {
	for client, want := range map[string]map[string]any{
		"article": {
			"discovery.sources": []string{"managed", "user", "project", "add-dir", "commands"}, "discovery.real_file_once": true, "discovery.undescribed": false,
			"discovery.hide_builtins": true, "discovery.conditional": true, "discovery.enter_activates": true, "budget.fixed": 8000,
			"send.on_change": "delta", "send.edited": "never", "send.after_compaction": false, "agents.subagent_listing": "full",
			"call.did_you_mean": false, "call.full_plugin_names": true, "call.fork_works": true, "call.body_place": "record", "call.reads_file": true,
			"body.braced": true, "body.skill_dir": true, "body.session_id": true, "body.vars_before_shell": true, "body.shell_not_managed": true,
			"reattach.skill_tokens": 5000, "reattach.total_tokens": 25000, "reattach.stop": true, "compaction.auto_from": 70, "compaction.auto_to": 80,
			"entry.cap": 250, "listing.overflow": "uniform", "catalogue.place": "reminder", "call.input_key": "skill", // as in 2.1.88
		},
		"mini-cc": {
			"discovery.sources": []string{"user", "project"}, "discovery.project_folder": ".mini_cc", "discovery.project_wins": true,
			"front.fields": []string{"name", "description", "disable-model-invocation"}, "catalogue.place": "system", "send.on_change": "fixed",
			"listing.one_list": true, "entry.bare_undescribed": true, "entry.cap": 1536, "budget.percent": 100, "budget.fixed": 0, "listing.line_breaks": true,
			"listing.overflow": "strip", "listing.rank": "count", "listing.usage_file": "skills-usage.json",
			"body.plain_skill_dir": true, "body.skill_dir": false, "words.blanks": true, "body.missing_kept": false, "body.append_newline": true,
			"call.body_place": "behind", "call.slash_record": "behind-body", "call.dmi_phrase": "can be invoked only by the user",
			"reattach.skill_chars": 20000, "reattach.total_tokens": 0, "call.fork_works": false, "notes.enabled": false,
		},
		"agent-sdk": {
			"catalogue.place": "tool-xml", "catalogue.xml_bare": true, "call.input_key": "command", "call.body_place": "result", "call.fork_works": true,
			"call.fork_body": "system", "call.fork_context": "parent", "call.fork_report": true, "agents.fork_no_skill": true, "agents.fork_isolated": true,
			"front.parser": "naive", "budget.fixed": 15000, // as in 2.0.30
		},
	} {
		r := ruleset(t, client)
		if !r.Exact || r.Why != "" || r.Client != client {
			t.Errorf("%s: %v %q %q", client, r.Exact, r.Why, r.Client)
		}
		for key, value := range want {
			if got, ok := r.Value(key); !ok || FormatValue(got) != FormatValue(value) {
				t.Errorf("%s: %s is %v, want %v", client, key, got, value)
			}
		}
		tab, _ := For(client)
		own, err := tab.Effective("")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range own {
			if r.Assumed[e.Key] != (e.Confidence == Assumed) || e.Evidence == "" || e.Since != "" || e.Confidence == Documented && e.Summary == "" {
				t.Errorf("%s: %+v", client, e)
			}
		}
	}
	recorded, err := claudeCode()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := recorded.At("2.1.332"); err != nil || r.Assumed != nil {
		t.Errorf("%v %v", r.Assumed, err)
	}
}

func TestDescribedVersions(t *testing.T) {
	for _, c := range []struct {
		client, version string
		fine            bool
	}{
		{"article", "", true}, {"article", "2.1.88", true}, {"article", "v2.1.88", true}, {"article", "2.1.89", false}, {"article", "banana", false},
		{"mini-cc", "", true}, {"mini-cc", "0.0.0", false}, {"mini-cc", "2.1.332", false}, {"agent-sdk", "2.0.30", true}, {"agent-sdk", "2.0.35", false},
	} {
		tab, err := For(c.client)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tab.At(c.version)
		var bad *DescribedError
		if (err == nil) != c.fine || err != nil && !errors.As(err, &bad) {
			t.Errorf("%s@%s: %v", c.client, c.version, err)
		}
		if _, again := tab.Effective(c.version); (again == nil) != c.fine {
			t.Errorf("%s@%s: %v", c.client, c.version, again)
		}
	}
	// A user's own change holds, whatever version it names.
	tab, _ := For("mini-cc")
	own, err := tab.With([]Change{{Since: "3.0.0", Key: "entry.cap", Value: 9}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := own.At(""); err != nil || r.Entry.Cap != 9 || r.Assumed["entry.cap"] {
		t.Errorf("%d %v", r.Entry.Cap, err)
	}
}

func TestNewDescribedErrors(t *testing.T) {
	d := Description{Source: "x", Like: "2.1.332"}
	for name, changes := range map[string][]Change{
		"twice":   {described("entry.cap", 1, "a"), open("entry.cap", 2, "b")},
		"unknown": {described("entry.colour", "red", "a")},
		"type":    {described("entry.cap", true, "a")},
	} {
		if _, err := newDescribed("x", d, changes); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := newDescribed("x", Description{Like: "1.0.0"}, nil); err == nil {
		t.Error("an unknown version to be like: no error")
	}
}

// TestDescribedFolders lets the two clients with folders of their own find skills.
func TestDescribedFolders(t *testing.T) {
	m := skills.NewMemory()
	for _, f := range [][2]string{
		{"/etc/claude-code/.claude/skills/z-managed", "m"}, {"/h/c/skills/y-user", "u"}, {"/p/.claude/skills/x-project", "p"}, {"/x/.claude/skills/w-added", "a"},
		{"/p/.mini_cc/skills/y-user", "own"}, {"/p/.mini_cc/skills/a-mini", "m"}, {"/p/sub/.mini_cc/skills/sub", "s"}, {"/x/.mini_cc/skills/added", "a"},
	} {
		if err := m.Write(f[0]+"/SKILL.md", []byte("---\ndescription: "+f[1]+"\n---\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Write("/h/c/commands/v-command.md", []byte("---\ndescription: c\n---\n")); err != nil {
		t.Fatal(err)
	}
	if err := m.Write("/h/c/commands/t-plain.md", []byte("plain\n")); err != nil {
		t.Fatal(err)
	}
	if err := m.Link("/p/.claude/skills/linked", "/h/c/skills/y-user"); err != nil {
		t.Fatal(err)
	}
	in := skills.Inputs{Home: "/h", ConfigDir: "/h/c", ManagedDir: "/etc/claude-code", CWD: "/p", AddDirs: []string{"/x"}}
	given := []skills.Given{{Name: "init", Text: "built in", Place: skills.PlaceBuiltin}}
	for client, want := range map[string][]string{
		"article": {"z-managed", "y-user", "x-project", "w-added", "v-command"},
		"mini-cc": {"a-mini", "y-user"},
	} {
		r := ruleset(t, client)
		o := skills.Options{Discovery: r.Discovery, Text: r.Entry, Dialect: r.Front}
		list := skills.Eligible(skills.Discover(m, in, r.Discovery, r.Front), nil, nil, skills.Settings{}, o)
		var got []string
		for _, e := range skills.Entries(list, given, skills.Settings{}, o) {
			got = append(got, e.Name)
			if client == "mini-cc" && e.Name == "y-user" && e.Text != "own" {
				t.Errorf("the home's %s wins", e.Name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", client, got, want)
		}
	}
	if found, _ := skills.DiscoverNested(m, "/p", "/p/sub/f", ruleset(t, "mini-cc").Discovery, ruleset(t, "mini-cc").Front); found != nil {
		t.Errorf("mini-cc looks into nested folders: %v", found)
	}
	// A manual-only skill of the project takes the home's away.
	if err := m.Write("/p/.mini_cc/skills/y-user/SKILL.md", []byte("---\ndescription: own\ndisable-model-invocation: true\n---\n")); err != nil {
		t.Fatal(err)
	}
	r := ruleset(t, "mini-cc")
	o := skills.Options{Discovery: r.Discovery, Text: r.Entry, Dialect: r.Front}
	for _, e := range skills.Entries(skills.Eligible(skills.Discover(m, in, r.Discovery, r.Front), nil, nil, skills.Settings{}, o), given, skills.Settings{}, o) {
		if e.Name == "y-user" {
			t.Errorf("the home's %s is listed", e.Name)
		}
	}
}

func TestDescribedBodies(t *testing.T) {
	for _, c := range []struct{ client, text, args, want string }{
		{"article", "${1}, ${2}, ${3}.\n", "a 'b c'", "a, b c, .\n"},
		{"article", "${0} ${x} ${1", "a", " ${x} ${1"},         // counts from one
		{"article", "$ARGUMENTS", "${CLAUDE_SESSION_ID}", "S"}, // arguments before variables
		{"mini-cc", "$0|$1|$9|$ARGUMENTS", "a 'b  c'", "a|'b||a 'b  c'"},
		{"mini-cc", "$ARGUMENTS[0]", "a b", "a b[0]"},
		{"mini-cc", "${SKILL_DIR} ${CLAUDE_SKILL_DIR}", "", "/d ${CLAUDE_SKILL_DIR}"},
		{"mini-cc", "Do.\n", "a", "Do.\n\n\nARGUMENTS: a\n"},
		{"mini-cc", "Do $0.\n", "", "Do .\n"},
		{"agent-sdk", "Do $ARGUMENTS.\n", "", "Do $ARGUMENTS.\n"},
	} {
		got, ok := body.Render(body.Source{Text: c.text, Dir: "/d"}, body.Call{Args: c.args}, body.Vars{SessionID: "S"}, ruleset(t, c.client).Body).Text()
		if want := "Base directory for this skill: /d\n\n" + c.want; !ok || got != want {
			t.Errorf("%s: %q with %q gives %q, want %q", c.client, c.text, c.args, got, want)
		}
	}
	article := ruleset(t, "article").Body
	for _, managed := range []bool{false, true} {
		tpl := body.Render(body.Source{Text: "!`date` ${1}", Dir: "/d"}, body.Call{Args: "x"}, body.Vars{Managed: managed}, article)
		if (tpl.Holes() == 0) != managed {
			t.Errorf("managed %v: %d commands", managed, tpl.Holes())
		}
		if text, ok := tpl.Text(); managed && (!ok || text != "Base directory for this skill: /d\n\n!`date` x") {
			t.Errorf("managed: %q", text)
		}
	}
	tpl := body.Render(body.Source{Text: "!`a` and !`b`", Dir: "/d"}, body.Call{}, body.Vars{}, ruleset(t, "mini-cc").Body)
	if tpl.Holes() != 2 {
		t.Errorf("%d commands", tpl.Holes())
	}
}

func TestDescribedBudgets(t *testing.T) {
	for _, c := range []struct {
		client, model string
		window, want  int
	}{
		{"mini-cc", "claude-sonnet-4-5", 0, 8000}, {"mini-cc", "claude-sonnet-4-5[1m]", 0, 40000}, {"mini-cc", "claude-opus-5", 1_000_000, 40000}, {"mini-cc", "other", 0, 8000},
		{"article", "claude-sonnet-4-5", 0, 8000}, {"article", "claude-sonnet-4-5[1m]", 0, 8000},
	} {
		if got, _ := budget.ListingBudget(ruleset(t, c.client).Size, budget.BudgetInputs{Model: c.model, Window: c.window}); got != c.want {
			t.Errorf("%s %s %d: %d, want %d", c.client, c.model, c.window, got, c.want)
		}
	}
}
