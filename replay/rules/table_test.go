package rules

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

func table(t testing.TB) *Table {
	t.Helper()
	tab, err := For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func valueOf(t testing.TB, r Rules, key string) any {
	t.Helper()
	v, ok := r.Value(key)
	if !ok {
		t.Fatalf("no rule %s", key)
	}
	return v
}

func at(t testing.TB, version string) Rules {
	t.Helper()
	r, err := table(t).At(version)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAt pins the values around every boundary that recordings name: the key,
// then version and value pairs, oldest first.
func TestAt(t *testing.T) {
	type v = map[string]any
	for key, want := range map[string]v{
		"front.parser":                   {"2.0.30": "naive", "2.0.76": "naive", "2.0.77": "npm-yaml", "2.1.112": "npm-yaml", "2.1.113": "bun-yaml-1.3", "2.1.200": "bun-yaml", "2.1.332": "bun-yaml"},
		"front.requote":                  {"2.0.76": "none", "2.1.20": "special", "2.1.68": "special", "2.1.69": "special-and-colon", "2.1.145": "special-and-colon", "2.1.146": "special-and-colon-no-list"},
		"front.duplicate_keys":           {"2.0.76": "last", "2.0.77": "fail", "2.1.112": "fail", "2.1.113": "last"},
		"front.scalar_only":              {"2.1.50": false, "2.1.51": true},
		"front.bom":                      {"2.1.238": false, "2.1.239": true},
		"front.empty_when":               {"2.1.96": true, "2.1.97": false},
		"front.flag_words":               {"2.1.216": false, "2.1.260": true},
		"front.paths_list":               {"2.1.81": false, "2.1.85": true},
		"front.reject_surrogate_escapes": {"2.1.112": false, "2.1.140": true, "2.1.170": true, "2.1.200": false, "2.1.332": false},

		"discovery.parents":          {"2.0.62": false, "2.0.64": true},
		"discovery.add_dir_skills":   {"2.1.31": false, "2.1.32": true},
		"discovery.add_dir_commands": {"2.1.168": false, "2.1.169": true},
		"discovery.commands":         {"2.0.30": "apart", "2.0.70": "apart", "2.0.73": "listed", "2.1.87": "listed", "2.1.88": "omitted", "2.1.89": "omitted", "2.1.90": "listed", "2.1.332": "listed"},
		"discovery.name_once":        {"2.1.215": false, "2.1.216": true},
		"discovery.conditional":      {"2.1.37": false, "2.1.38": true},
		"discovery.undescribed":      {"2.1.68": false, "2.1.69": true},
		"discovery.drop_angles":      {"2.1.290": false, "2.1.332": true},
		"discovery.overrides":        {"2.1.128": false, "2.1.129": true},
		"discovery.plugin_dashes":    {"2.1.96": true, "2.1.332": true},

		"entry.alias":         {"2.1.289": false, "2.1.290": true},
		"entry.clean":         {"2.1.299": false, "2.1.300": true},
		"entry.nested_suffix": {"2.1.177": false, "2.1.178": true},
		"entry.cap":           {"2.0.30": 0, "2.1.85": 0, "2.1.86": 250, "2.1.104": 250, "2.1.105": 1536, "2.1.332": 1536},
		"entry.cap_setting":   {"2.1.104": false, "2.1.105": true},
		"entry.replace_lone":  {"2.1.170": false, "2.1.200": true},

		"listing.sort":            {"2.0.30": "bytes", "2.1.112": "bytes", "2.1.113": "readdir", "2.1.153": "readdir", "2.1.154": "collate"},
		"listing.sort_nested":     {"2.1.154": false, "2.1.177": false, "2.1.200": true},
		"listing.merged_commands": {"2.1.153": false, "2.1.154": true},
		"listing.bundled_first":   {"2.1.128": true, "2.1.129": false},
		"listing.unit":            {"2.1.87": "utf16", "2.1.88": "grapheme", "2.1.112": "grapheme", "2.1.113": "bun"},
		"listing.overflow":        {"2.0.30": "cut", "2.1.18": "cut", "2.1.19": "uniform", "2.1.20": "uniform", "2.1.128": "uniform", "2.1.129": "greedy", "2.1.332": "greedy"},
		"listing.exempt_bundled":  {"2.1.62": false, "2.1.63": true},

		"budget.fixed":            {"2.0.30": 15000, "2.1.31": 15000, "2.1.32": 0, "2.1.332": 0},
		"budget.percent":          {"2.1.31": 0, "2.1.32": 200, "2.1.85": 200, "2.1.86": 100, "2.1.332": 100},
		"budget.fraction_setting": {"2.1.88": false, "2.1.112": true},
		"budget.new_model_chars":  {"2.1.112": 4, "2.1.138": 4, "2.1.139": 3, "2.1.332": 3},
		"budget.million_models": {
			"2.1.116": []string{}, "2.1.117": []string{"claude-opus-4-7"}, "2.1.143": []string{"claude-opus-4-7"}, "2.1.144": []string{}, "2.1.284": []string{},
			"2.1.285": []string{"claude-fable", "claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5"},
			"2.1.293": []string{"claude-fable", "claude-haiku-5", "claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5"},
			"2.1.323": []string{"claude-fable", "claude-haiku-5", "claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "unknown"},
		},

		"catalogue.place":          {"2.0.30": "tool-xml", "2.0.76": "tool-xml", "2.0.77": "tool-lines", "2.1.22": "tool-lines", "2.1.23": "reminder", "2.1.92": "reminder", "2.1.94": "attachment"},
		"catalogue.message":        {"2.1.68": 0, "2.1.69": 1, "2.1.70": 0},
		"catalogue.block":          {"2.1.177": 0, "2.1.178": 1, "2.1.267": 1, "2.1.268": 3, "2.1.303": 3, "2.1.304": 4, "2.1.332": 4},
		"catalogue.system_message": {"2.1.153": false, "2.1.154": true},
		"catalogue.user_source":    {"2.0.30": "(project, gitignored)", "2.0.44": "(user)"},
		"catalogue.skill_count":    {"2.1.92": false, "2.1.94": true},
		"catalogue.names":          {"2.1.146": false, "2.1.147": true},
		"catalogue.digests":        {"2.1.303": false, "2.1.304": true},
		"catalogue.rendered":       {"2.1.267": false, "2.1.268": true},
		"catalogue.slash_tool":     {"2.0.70": true, "2.0.73": false},

		"send.on_change":        {"2.0.76": "always-current", "2.1.22": "always-current", "2.1.23": "whole-reminder", "2.1.88": "whole-reminder", "2.1.94": "whole", "2.1.173": "whole", "2.1.174": "delta"},
		"send.edited":           {"2.1.113": "file", "2.1.114": "digest", "2.1.190": "digest", "2.1.191": "file", "2.1.303": "file", "2.1.304": "digest"},
		"send.on_body_edit":     {"2.1.113": "whole", "2.1.114": "nothing", "2.1.190": "nothing", "2.1.191": "entry", "2.1.303": "entry", "2.1.304": "nothing"},
		"send.on_removal":       {"2.1.20": "nothing", "2.1.76": "whole", "2.1.173": "whole", "2.1.174": "nothing"},
		"send.new_folder":       {"2.1.140": "unseen", "2.1.260": "reload-whole", "2.1.304": "reload-new-names"},
		"send.after_compaction": {"2.1.22": false, "2.1.25": true, "2.1.83": true, "2.1.86": false, "2.1.303": false, "2.1.304": true},
		"send.on_resume":        {"2.1.92": "full", "2.1.94": "full-or-nothing", "2.1.146": "full-or-nothing", "2.1.147": "delta"},
		"send.after_rewind":     {"2.1.260": false, "2.1.304": true},

		"call.input_key":              {"2.0.30": "command", "2.0.35": "skill", "2.1.332": "skill"},
		"call.did_you_mean":           {"2.1.107": false, "2.1.108": true},
		"call.did_you_mean_full_name": {"2.1.268": false, "2.1.269": true},
		"call.dmi_long":               {"2.1.214": false, "2.1.221": false, "2.1.222": true},
		"call.builtin_named":          {"2.1.107": false, "2.1.108": true},
		"call.running_record":         {"2.0.30": true, "2.0.58": true, "2.0.59": false},
		"call.source_tool_use":        {"2.0.30": false, "2.0.42": false, "2.0.58": true},
		"call.command_permissions":    {"2.1.96": false, "2.1.97": true},
		"call.slash_works":            {"2.0.30": true, "2.0.65": true, "2.0.76": false, "2.0.77": true},
		"call.slash_record":           {"2.0.30": "running-args", "2.0.42": "running-args", "2.0.58": "running", "2.1.2": "running", "2.1.3": "tags"},
		"call.fork_works":             {"2.0.76": false, "2.1.3": true},
		"call.background_fork":        {"2.1.140": false, "2.1.260": true},
		"call.fork_body_meta":         {"2.1.179": false, "2.1.193": true},
		"call.resolution":             {"2.1.112": "either", "2.1.332": "folder-first"},
		"call.shell_word":             {"2.1.76": "Bash", "2.1.112": "Shell"},
		"call.scoped_variants":        {"2.1.177": false, "2.1.260": true},

		"body.tool_args":         {"2.0.72": false, "2.0.76": true},
		"body.empty_args":        {"2.1.12": false, "2.1.14": true},
		"body.named":             {"2.1.12": false, "2.1.14": true},
		"body.positional":        {"2.1.18": false, "2.1.19": true},
		"body.missing_kept":      {"2.1.209": false, "2.1.210": true},
		"body.escape":            {"2.1.162": false, "2.1.163": true},
		"body.one_pass":          {"2.1.232": false, "2.1.233": true},
		"body.literal_args":      {"2.1.116": false, "2.1.117": true},
		"body.escape_bang":       {"2.1.116": false, "2.1.117": true},
		"body.named_longest":     {"2.1.138": false, "2.1.139": true},
		"body.session_id":        {"2.1.8": false, "2.1.9": true},
		"body.skill_dir":         {"2.1.68": false, "2.1.70": true},
		"body.effort":            {"2.1.119": false, "2.1.120": true},
		"body.project_dir":       {"2.1.195": false, "2.1.196": true},
		"body.vars_before_shell": {"2.1.20": false, "2.1.76": true},
		"body.shell_after_blank": {"2.1.45": false, "2.1.49": true},
		"body.shell_keep_indent": {"2.0.76": false, "2.1.20": true},
		"body.shell_empty_note":  {"2.1.72": false, "2.1.76": true},
		"body.shell_literal":     {"2.1.76": false, "2.1.112": true},
		"body.shell_disable":     {"2.1.90": false, "2.1.91": true},
		"words.bash":             {"2.1.88": false, "2.1.91": true},
		"words.first_plain":      {"2.1.179": false, "2.1.181": true},
		"words.keep_backslashes": {"2.1.88": false, "2.1.96": true, "2.1.97": false},
		"words.escape_bang":      {"2.1.116": false, "2.1.117": true},
		"words.bracket_word":     {"2.1.131": false, "2.1.132": true},
		"words.backticks":        {"2.1.131": false, "2.1.132": true},
		"words.backslash_blank":  {"2.1.159": true, "2.1.160": false},

		"words.trailing_empty_dropped":  {"2.1.202": true, "2.1.216": false},
		"notes.enabled":                 {"2.1.201": false, "2.1.202": true},
		"notes.string_content":          {"2.1.201": false, "2.1.202": true},
		"compaction.in_requests":        {"2.0.65": false, "2.0.72": true},
		"compaction.recorded":           {"2.1.96": false, "2.1.97": true},
		"compaction.json_text":          {"2.0.76": true, "2.1.70": true, "2.1.72": false},
		"compaction.slash_registers":    {"2.1.38": false, "2.1.39": true},
		"compaction.earlier":            {"2.1.118": false, "2.1.119": true},
		"compaction.consecutive_skips":  {"2.1.129": false, "2.1.260": false, "2.1.290": true, "2.1.322": true, "2.1.323": false},
		"compaction.restore_order":      {"2.1.201": "clock", "2.1.202": "preserved"},
		"compaction.partial_up_to":      {"2.1.140": false, "2.1.260": true},
		"compaction.proactive":          {"2.1.140": true, "2.1.200": false},
		"compaction.partial_writes_all": {"2.1.140": true, "2.1.332": true},
		"reattach.limited":              {"2.1.83": false, "2.1.84": true},
		"reattach.skill_tokens":         {"2.1.83": 0, "2.1.84": 5000, "2.1.332": 5000},
		"reattach.total_tokens":         {"2.1.83": 0, "2.1.84": 25000, "2.1.332": 25000},
		"agents.subagent_isolated":      {"2.1.34": false, "2.1.76": true},
		"agents.fork_isolated":          {"2.1.179": false, "2.1.181": true},
		"agents.subagent_listing":       {"2.0.76": "tool", "2.1.34": "none", "2.1.76": "none", "2.1.88": "later", "2.1.112": "later", "2.1.132": "later", "2.1.133": "full"},
		"agents.preload_skills":         {"2.0.62": false, "2.0.64": true},
		"agents.async_default":          {"2.1.197": false, "2.1.200": true},
	} {
		for version, value := range want {
			r := at(t, version)
			if got := valueOf(t, r, key); !reflect.DeepEqual(got, value) {
				t.Errorf("%s at %s: %v, want %v", key, version, got, value)
			}
		}
	}
}

// TestFields checks that the fold reaches the fields that others branch on.
func TestFields(t *testing.T) {
	old, now := at(t, "2.0.30"), at(t, "2.1.332")
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"parser", old.Front.Parser, frontmatter.Naive},
		{"parser", now.Front.Parser, frontmatter.BunYAML},
		{"overflow", old.Size.Overflow, budget.OverflowCut},
		{"overflow", now.Size.Overflow, budget.OverflowGreedy},
		{"commands", now.Discovery.Commands, skills.CommandsListed},
		{"cap", now.Entry.Cap, 1536},
		{"words", now.Body.Words.Bash, true},
		{"reattachment", now.Reattachment, budget.Reattachment{Limited: true, SkillTokens: 5000, TotalTokens: 25000}},
		{"place", now.Catalogue.Place, PlaceAttachment},
		{"in tool", old.Catalogue.Place.InTool(), true},
		{"client", now.Client, "claude-code"},
		{"version", now.Version, "2.1.332"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestExact(t *testing.T) {
	for version, exact := range map[string]bool{
		"2.0.20": false, "2.0.29": false, "2.0.30": true, "2.1.140": true, " v2.1.140 ": true, "2.1.140 (Claude Code)": true,
		"2.1.332": true, "2.1.333": false, "2.2.0": false, "3.0.0": false, "2.1.300-beta.1": false, "2.1.332+build5": true,
	} {
		r := at(t, version)
		if r.Exact != exact {
			t.Errorf("%s: exact %v, want %v", version, r.Exact, exact)
		}
		if (r.Why == "") != exact {
			t.Errorf("%s: why %q", version, r.Why)
		}
	}
	if _, ok := at(t, "2.1.1").Value("no.such"); ok {
		t.Error("an unknown key has a value")
	}
	newer, latest := at(t, "2.9.0"), at(t, "2.1.332")
	newer.Version, newer.Exact, newer.Why = latest.Version, latest.Exact, latest.Why
	if !reflect.DeepEqual(newer, latest) {
		t.Error("a newer version does not get the latest rules")
	}
	if r := at(t, "2.1.105-rc.1"); r.Entry.Cap != 250 {
		t.Errorf("a build before 2.1.105 has cap %d", r.Entry.Cap)
	}
}

func TestAtErrors(t *testing.T) {
	var old *TooOldError
	if _, err := table(t).At("2.0.19"); !errors.As(err, &old) || err.Error() != "claude-code 2.0.19 is older than its rules, which begin at 2.0.20" {
		t.Errorf("2.0.19: %v", err)
	}
	for _, text := range []string{"", "2", "2.1", "2.1.x", "2.1.1.1", "-1.2.3", "2.1.", "latest", "2.1.140-", "2.1.140 beta", "2.1.99999999999", strings.Repeat("1", 1000)} {
		var bad *VersionError
		if _, err := table(t).At(text); !errors.As(err, &bad) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	var unknown *UnknownClientError
	if _, err := For("other@1.0.0"); !errors.As(err, &unknown) || err.Error() != `no rules for client "other": known are claude-code, agent-sdk, article, mini-cc` {
		t.Errorf("other: %v", err)
	}
}

// TestTable checks the table as a whole.
func TestTable(t *testing.T) {
	tab := table(t)
	if !slices.IsSortedFunc(tab.changes, func(a, b dated) int { return a.at.Compare(b.at) }) {
		t.Error("not in order of version")
	}
	file := regexp.MustCompile(`\.(py|json|md)\b|(^|\s)/[a-z]+/`) // evidence names recordings, not files
	value := map[string]any{}
	for _, c := range tab.changes {
		name := c.Since + " " + c.Key
		if old, ok := value[c.Key]; ok && reflect.DeepEqual(old, c.Value) {
			t.Errorf("%s: changes nothing", name)
		}
		_, again := value[c.Key]
		value[c.Key] = c.Value
		if c.Evidence == "" {
			t.Errorf("%s: no evidence", name)
		}
		if again && c.Summary == "" {
			t.Errorf("%s: no words", name)
		}
		if file.MatchString(c.Evidence) || file.MatchString(c.Summary) {
			t.Errorf("%s: names a file", name)
		}
		switch c.Confidence {
		case Exactly, Within:
			if again && c.From == "" {
				t.Errorf("%s: recorded, but not since when", name)
			}
		case Documented:
			if !strings.Contains(c.Evidence, "documented") {
				t.Errorf("%s: documented where?", name)
			}
		default:
			t.Errorf("%s: confidence %q", name, c.Confidence)
		}
		if c.From != "" {
			from, err := ParseVersion(c.From)
			if err != nil || from.Compare(c.at) >= 0 {
				t.Errorf("%s: from %q", name, c.From)
			}
		}
		if c.at.Compare(tab.base) < 0 || c.at.Compare(tab.latest) > 0 {
			t.Errorf("%s: outside %s to %s", name, tab.Base, tab.Latest)
		}
	}
}

func TestKeys(t *testing.T) {
	groups := map[string]bool{}
	for _, g := range Groups() {
		groups[g.Name] = true
	}
	seen := map[string]bool{}
	for _, k := range Keys() {
		if seen[k.Name] {
			t.Errorf("%s: described twice", k.Name)
		}
		seen[k.Name] = true
		if _, ok := fieldPaths()[k.Name]; !ok {
			t.Errorf("%s: no field has this tag", k.Name)
		}
		if !groups[k.Group()] {
			t.Errorf("%s: no such group", k.Name)
		}
		if k.Meaning == "" || strings.Contains(k.Meaning, "\n") {
			t.Errorf("%s: meaning %q", k.Name, k.Meaning)
		}
		if (k.Max > 0) != (k.Kind() == kindNumber) {
			t.Errorf("%s: %s with maximum %d", k.Name, k.Kind(), k.Max)
		}
		delete(groups, "")
	}
	for key := range fieldPaths() {
		if !seen[key] {
			t.Errorf("%s: a tag without description", key)
		}
	}
	// Every choice is used, so the choices and the table tell the same.
	used := map[string]bool{}
	for _, client := range Clients() {
		tab, err := For(client)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range tab.changes {
			if s, ok := c.Value.(string); ok {
				used[c.Key+" "+s] = true
			}
		}
	}
	// Sending an entry for a removal makes no sense; the type is shared.
	used["send.on_removal entry"] = true
	for _, k := range Keys() {
		for _, c := range k.Choices {
			if !used[k.Name+" "+c.Value] {
				t.Errorf("%s: no version has %s", k.Name, c.Value)
			}
		}
	}
}

func TestNewTableErrors(t *testing.T) {
	whole := table(t).Changes()
	broken := func(edit func([]Change) []Change) error {
		_, err := newTable("x", "2.0.20", "2.0.30", "2.1.332", edit(slices.Clone(whole)))
		return err
	}
	for name, c := range map[string]struct {
		edit func([]Change) []Change
		want string
	}{
		"unknown key": {func(c []Change) []Change { c[0].Key = "entry.colour"; return c }, "2.0.30 entry.colour: no such rule"},
		"wrong type":  {func(c []Change) []Change { c[0].Value = "yes"; return c }, "2.0.30 discovery.parents: want true or false"},
		"no such choice": {func(c []Change) []Change { c[3].Value = "gone"; return c },
			`2.0.30 discovery.commands: "gone" is none of apart, listed, omitted`},
		"missing at the base": {func(c []Change) []Change { return c[1:] }, "discovery.parents: no value at 2.0.30"},
		"order": {func(c []Change) []Change { c[len(c)-1].Since = "2.1.100"; return c },
			"2.1.100 call.no_tool: stands after 2.1.323"},
		"version": {func(c []Change) []Change { c[0].Since = "2.x"; return c }, `change 0: "2.x" is not a version: want three numbers, such as 2.1.140`},
	} {
		if err := broken(c.edit); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestEffective(t *testing.T) {
	eff, err := table(t).Effective("2.1.140")
	if err != nil {
		t.Fatal(err)
	}
	if len(eff) != len(Keys()) {
		t.Fatalf("%d rules, want %d", len(eff), len(Keys()))
	}
	r := at(t, "2.1.140")
	for i, e := range eff {
		if e.Key != Keys()[i].Name || !reflect.DeepEqual(e.Value, valueOf(t, r, e.Key)) || e.Since == "" || e.Evidence == "" {
			t.Errorf("%+v, want %v", e, valueOf(t, r, e.Key))
		}
		if e.Key == "entry.cap" && (e.Since != "2.1.105" || e.From != "2.1.104" || e.Confidence != Exactly) {
			t.Errorf("%+v", e)
		}
	}
}

func TestDiff(t *testing.T) {
	keys := func(ds []Difference) []string {
		var out []string
		for _, d := range ds {
			out = append(out, d.Key)
		}
		return out
	}
	diff := func(a, b string) []Difference {
		d, err := table(t).Diff(a, b)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := keys(diff("2.1.104", "2.1.105")); !slices.Equal(d, []string{"entry.cap", "entry.cap_setting", "budget.fraction_setting"}) {
		t.Errorf("2.1.104 to 2.1.105: %v", d)
	}
	if d := diff("2.1.140", "2.1.140"); d != nil {
		t.Errorf("a version differs from itself: %v", d)
	}
	for _, d := range diff("2.1.87", "2.1.90") {
		if d.Key == "discovery.commands" {
			t.Error("commands were omitted and back, which is no difference")
		}
	}
	for _, versions := range [][2]string{{"2.1.85", "2.1.332"}, {"2.1.332", "2.1.85"}} {
		for _, d := range diff(versions[0], versions[1]) {
			if d.Key != "entry.cap" {
				continue
			}
			if len(d.Changes) != 2 || d.Changes[0].Since != "2.1.86" || d.Changes[1].Since != "2.1.105" {
				t.Errorf("%v: %+v", versions, d)
			}
			if want := at(t, versions[1]).Entry.Cap; d.New != want {
				t.Errorf("%v: new %v, want %v", versions, d.New, want)
			}
		}
	}
	if _, err := table(t).Diff("2.1.1", "x"); err == nil {
		t.Error("no error for a version x")
	}
}

func TestDocument(t *testing.T) {
	d, err := table(t).Document("2.2.0", "2.1.300")
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(out, &back); err != nil {
		t.Fatal(err)
	}
	if back["schema"] != "skilltrace/rules@1" || back["exact"] != false || back["version"] != "2.2.0" || back["against"] != "2.1.300" || back["why"] == "" {
		t.Errorf("%v %v %v %v", back["schema"], back["exact"], back["version"], back["against"])
	}
	if strings.Contains(string(out), "null") {
		t.Error("a null in the JSON")
	}
	if d.Diff == nil {
		t.Error("no difference")
	}
	for _, bad := range [][2]string{{"x", ""}, {"2.1.1", "x"}, {"1.0.0", ""}} {
		if _, err := table(t).Document(bad[0], bad[1]); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestWith(t *testing.T) {
	lay := func(changes ...Change) *Table {
		u, err := table(t).With(changes)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	caps := func(u *Table) (out []int) {
		for _, v := range []string{"2.0.30", "2.1.85", "2.1.86", "2.1.104", "2.1.105", "2.1.332", "2.1.340"} {
			r, err := u.At(v)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, r.Entry.Cap)
		}
		return out
	}
	for _, c := range []struct {
		name  string
		table *Table
		want  []int
	}{
		{"none", lay(), []int{0, 0, 250, 250, 1536, 1536, 1536}},
		{"from the base", lay(Change{Since: "2.0.30", Key: "entry.cap", Value: 7}), []int{7, 7, 7, 7, 7, 7, 7}},
		{"before the base", lay(Change{Since: "1.0.0", Key: "entry.cap", Value: 7}), []int{7, 7, 7, 7, 7, 7, 7}},
		{"in the middle", lay(Change{Since: "2.1.100", Key: "entry.cap", Value: 7}), []int{0, 0, 250, 7, 7, 7, 7}},
		{"at a built-in change", lay(Change{Since: "2.1.105", Key: "entry.cap", Value: 7}), []int{0, 0, 250, 250, 7, 7, 7}},
		{"newer than the table", lay(Change{Since: "2.1.340", Key: "entry.cap", Value: 7}), []int{0, 0, 250, 250, 1536, 1536, 7}},
		{"two", lay(Change{Since: "2.1.340", Key: "entry.cap", Value: 9}, Change{Since: "2.1.86", Key: "entry.cap", Value: 7}), []int{0, 0, 7, 7, 7, 7, 9}},
	} {
		if got := caps(c.table); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	u := lay(Change{Since: "2.1.100", Key: "entry.cap", Value: 7, Evidence: "mine"})
	eff, err := u.Effective("2.1.332")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range eff {
		if e.Key == "entry.cap" && (e.Confidence != Given || e.Evidence != "mine" || e.Since != "2.1.100") {
			t.Errorf("%+v", e)
		}
	}
	if got := caps(table(t)); !slices.Equal(got, []int{0, 0, 250, 250, 1536, 1536, 1536}) {
		t.Errorf("the table itself changed: %v", got)
	}
	if _, err := table(t).With([]Change{{Since: "2.1.1", Key: "entry.cap", Value: "x"}}); err == nil {
		t.Error("no error for a text as a number")
	}
}

// shared finds the recordings beside the checkout.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SKILLTRACE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "conformance")); err != nil {
		t.Skipf("no recordings in %s: set SKILLTRACE_SHARED", dir)
	}
	return dir
}

// TestRecordedVersions checks that every version with a recording has exact rules.
func TestRecordedVersions(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(shared(t), "conformance", "*", "*", "[0-9]*.[0-9]*.[0-9]*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, d := range dirs {
		if r := at(t, filepath.Base(d)); !r.Exact {
			t.Errorf("%s: not exact", d)
		}
	}
}

// TestBoundaries compares with the first versions that recordings were bisected
// to: at the version named, the rule has its new value, and at the table's own
// From it has not.
func TestBoundaries(t *testing.T) {
	names := map[string]string{ // name of the boundary -> key and new value
		"bom": "front.bom=yes", "yaml": "front.parser=npm-yaml", "yamldup": "front.duplicate_keys=last", "requote": "front.requote=special-and-colon",
		"scalardesc": "front.scalar_only=yes", "sorted": "listing.sort=collate", "native": "listing.sort=readdir", "adddir": "discovery.add_dir_skills=yes",
		"adddircmd": "discovery.add_dir_commands=yes", "cmdmerge": "listing.merged_commands=yes", "dedupname": "discovery.name_once=yes",
		"nodesc": "discovery.undescribed=yes", "clean": "entry.clean=yes", "alias": "entry.alias=yes", "budget_ctx": "budget.percent=200",
		"budget_1pct": "budget.percent=100", "cap250": "entry.cap=250", "cap1536": "entry.cap=1536", "fraction": "budget.fraction_setting=yes",
		"greedy": "listing.overflow=greedy", "exempt": "listing.exempt_bundled=yes", "paths": "discovery.conditional=yes", "overrides": "discovery.overrides=yes",
		"src_user": "catalogue.user_source=(user)", "lines": "catalogue.place=tool-lines", "width": "listing.unit=grapheme", "parents": "discovery.parents=yes",
		"nestedsuffix": "entry.nested_suffix=yes", "uniform": "listing.overflow=uniform", "pathslist": "front.paths_list=yes", "cmdskills": "discovery.commands=listed",
		"fffd": "entry.replace_lone=yes", "skill_args": "body.tool_args=yes", "skill_key": "call.input_key=skill", "invoked_req": "compaction.in_requests=yes",
		"invoked_text": "compaction.json_text=no", "slash_registers": "compaction.slash_registers=yes", "positional": "body.positional=yes",
		"named_args": "body.named=yes", "empty_subst": "body.empty_args=yes", "missing_kept": "body.missing_kept=yes", "dollar_escape": "body.escape=yes",
		"skill_dir": "body.skill_dir=yes", "session_id": "body.session_id=yes", "effort_var": "body.effort=yes", "project_dir": "body.project_dir=yes",
		"shell_ws": "body.shell_after_blank=yes", "shell_trim": "body.shell_keep_indent=yes", "shell_empty_note": "body.shell_empty_note=yes",
		"words_cmd": "words.bash=yes", "literal_args": "body.literal_args=yes", "escape_bang_args": "body.escape_bang=yes", "reinv": "notes.enabled=yes",
		"restore_rev": "compaction.restore_order=preserved", "invoked_trunc": "reattach.limited=yes", "invoked_att": "compaction.recorded=yes",
		"listing_att": "catalogue.place=attachment", "listing_reminder": "catalogue.place=reminder", "list_after_compact": "send.after_compaction=yes",
		"fork_isolated": "agents.fork_isolated=yes", "sub_isolated": "agents.subagent_isolated=yes", "literal_shell": "body.shell_literal=yes",
		"list_delta": "send.on_change=delta", "resume_delta": "send.on_resume=delta", "shell_disable": "body.shell_disable=yes",
		"vars_before_shell": "body.vars_before_shell=yes", "esc_named": "body.escape=yes",
	}
	tab := table(t)
	checked := 0
	for _, file := range []string{"boundaries_listing.json", "boundaries_lifecycle.json", "boundaries_lifecycle_manual.json"} {
		data, err := os.ReadFile(filepath.Join(shared(t), "lab", file))
		if err != nil {
			t.Skip(err)
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		for name, v := range m {
			rule, ok := names[name]
			version, isText := v.(string)
			if !ok || !isText {
				continue
			}
			checked++
			key, want, _ := strings.Cut(rule, "=")
			r := at(t, version)
			if got := FormatValue(valueOf(t, r, key)); got != want {
				t.Errorf("%s: %s at %s is %s, want %s", name, key, version, got, want)
			}
			for _, c := range tab.changes {
				if c.Key != key || FormatValue(c.Value) != want || c.From == "" {
					continue
				}
				before := at(t, c.From)
				if got := FormatValue(valueOf(t, before, key)); got == want {
					t.Errorf("%s: %s at %s is %s already", name, key, c.From, got)
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d boundaries checked", checked)
	}
}
