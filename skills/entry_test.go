package skills

import (
	"slices"
	"strings"
	"testing"
)

// list makes the entries that files yield for a version.
func list(t testing.TB, version string, s Settings, given []Given, active []string, in Inputs, files ...string) ([]Entry, []Status) {
	t.Helper()
	o := optionsAt(version)
	status := Eligible(Discover(newTree(t, files...), in, o.Discovery, o.Dialect), nil, active, s, o)
	return Entries(status, given, s, o), status
}

func TestReasons(t *testing.T) {
	in := home
	in.PluginDirs = []string{"/h/plug"}
	const u, p = "/h/.claude/skills/", "/h/p/sub/.claude/skills/"
	files := []string{
		u + "same/SKILL.md|---\ndescription: U\n---\n", p + "same/SKILL.md|---\ndescription: P\n---\n",
		u + "off/SKILL.md|---\ndescription: x\ndisable-model-invocation: true\n---\n", p + "off/SKILL.md|---\ndescription: second\n---\n",
		u + "held/SKILL.md|---\ndescription: x\npaths: src/**\n---\n", u + "all/SKILL.md|---\ndescription: x\npaths: \"**\"\n---\n",
		u + "link -> " + u + "same", u + "bare/SKILL.md|Body line", u + "a<b/SKILL.md|---\ndescription: x\n---\n",
		u + "o1/SKILL.md|---\nname: other\ndescription: x\n---\n", u + "o2/SKILL.md|---\ndescription: x\n---\n", u + "o3/SKILL.md|---\ndescription: x\n---\n", u + "o4/SKILL.md|---\ndescription: x\n---\n",
		"/h/.claude/commands/cmd.md|Does it",
		"/h/plug/.claude-plugin/plugin.json|{\"name\":\"k\"}", "/h/plug/skills/o2/SKILL.md|---\ndescription: x\npaths: src/**\n---\n", "/h/plug/skills/bare/SKILL.md|Body",
	}
	settings := Settings{Overrides: map[string]Override{"o1": OverrideNameOnly, "o2": OverrideOff, "o3": OverrideUserOnly, "o4": OverrideOn, "k:o2": OverrideOff}}
	for _, c := range []struct{ version, want string }{
		{"2.1.332", "all bare link o1 o4 off same cmd k:o2"},
		{"2.1.200", "a<b all bare link o1 o4 off same cmd k:o2"},
		{"2.1.112", "a<b all bare link o1 o2 o3 o4 off same cmd k:o2"},
		{"2.1.88", "a<b all bare link o1 o2 o3 o4 off same k:o2"},
		{"2.1.20", "a<b all held link o1 o2 o3 o4 off same cmd k:o2"},
		{"2.0.30", "a<b all held link o1 o2 o3 o4 same off same k:o2"},
	} {
		entries, _ := list(t, c.version, settings, nil, nil, in, files...)
		var got []string
		for _, e := range entries {
			got = append(got, e.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.version, strings.Join(got, " "), c.want)
		}
	}
	entries, status := list(t, "2.1.332", settings, nil, []string{u + "held/SKILL.md"}, in, files...)
	if last := entries[len(entries)-1]; last.Name != "held" {
		t.Errorf("activated: last is %s", last.Name)
	}
	for _, e := range entries {
		if e.Name == "o1" && (e.Line() != "- o1" || e.Full != "x") {
			t.Errorf("name-only: %q, full %q", e.Line(), e.Full)
		}
	}
	reasons := map[string]Status{}
	for _, st := range status {
		reasons[st.Skill.Path] = st
	}
	for path, want := range map[string]Status{
		u + "same/SKILL.md": {Reason: SameFile, Detail: u + "link/SKILL.md"}, p + "same/SKILL.md": {}, u + "off/SKILL.md": {Reason: Disabled}, p + "off/SKILL.md": {},
		u + "a<b/SKILL.md": {Reason: AngleName}, u + "o1/SKILL.md": {}, u + "o2/SKILL.md": {Reason: Overridden, Detail: "off"},
		u + "o3/SKILL.md": {Reason: Overridden, Detail: "user-invocable-only"}, "/h/plug/skills/bare/SKILL.md": {Reason: Undescribed}, "/h/plug/skills/o2/SKILL.md": {},
	} {
		if got := reasons[path]; got.Reason != want.Reason || got.Detail != want.Detail {
			t.Errorf("%s: %q %q, want %q %q", path, got.Reason, got.Detail, want.Reason, want.Detail)
		}
	}
	settings.SkillDenied = true
	if entries, _ := list(t, "2.1.332", settings, []Given{{Name: "init", Place: PlaceBuiltin}}, nil, in, files...); len(entries) != 0 {
		t.Error("listed although Skill is denied")
	}
	_, status = list(t, "2.0.30", Settings{}, nil, nil, in, files...)
	for _, st := range status {
		if st.Skill.Name == "cmd" && st.Reason != CommandsUnseen {
			t.Errorf("2.0.30: cmd is %q", st.Reason)
		}
	}
	_, status = list(t, "2.1.332", Settings{}, nil, nil, in, files...)
	for _, st := range status {
		if st.Skill.Name == "held" && (st.Reason != HeldBack || st.Detail != "src") {
			t.Errorf("held: %q %q", st.Reason, st.Detail)
		}
	}
}

func TestSameNameAmongOwn(t *testing.T) {
	entries, status := list(t, "2.1.332", Settings{}, nil, nil, home, "/h/.claude/skills/x/SKILL.md|A", "/h/p/.claude/skills/x/SKILL.md|B", "/h/.claude/commands/x.md|C")
	if len(entries) != 1 || entries[0].Full != "A" || status[1].Reason != SameName || status[1].Detail != "/h/.claude/skills/x/SKILL.md" || status[2].Reason != SameName {
		t.Errorf("%+v", status)
	}
	if entries, _ := list(t, "2.1.215", Settings{}, nil, nil, home, "/h/.claude/skills/x/SKILL.md|A", "/h/p/.claude/skills/x/SKILL.md|B"); len(entries) != 2 {
		t.Error("2.1.215 lists both")
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ version, text, want string }{
		{"2.1.332", "---\ndescription: A\nwhen_to_use: B\n---\n", "- s: A - B"},
		{"2.1.332", "---\nwhen_to_use: B\n---\n\n## Head\nText", "- s: Head - B"},
		{"2.1.332", "", "- s: Skill"},
		{"2.1.332", "---\nname: other\ndescription: a<b\n---\n", "- s (other): a&lt;b"},
		{"2.1.290", "---\nname: other\ndescription: a<b\n---\n", "- s (other): a<b"},
		{"2.1.289", "---\nname: other\ndescription: A\n---\n", "- s: A"},
		{"2.1.332", "---\nname: two words\ndescription: A\n---\n", "- s: A"},
		{"2.1.332", "---\ndescription: \"x\\ny\\u200by\"\n---\n", "- s: x y y"},
		{"2.1.332", "---\ndescription: " + strings.Repeat("x", 1536) + "\n---\n", "- s: " + strings.Repeat("x", 1536)},
		{"2.1.332", "---\ndescription: " + strings.Repeat("x", 1537) + "\n---\n", "- s: " + strings.Repeat("x", 1535) + "…"},
		{"2.1.332", "---\ndescription: " + strings.Repeat("x", 1534) + "😀y\n---\n", "- s: " + strings.Repeat("x", 1534) + "\xED\xA0\xBD…"},
		{"2.1.86", "---\ndescription: " + strings.Repeat("é", 251) + "\n---\n", "- s: " + strings.Repeat("é", 249) + "…"},
		{"2.1.85", "---\ndescription: " + strings.Repeat("é", 251) + "\n---\n", "- s: " + strings.Repeat("é", 251)},
	} {
		entries, _ := list(t, c.version, Settings{}, nil, nil, home, "/h/.claude/skills/s/SKILL.md|"+c.text)
		if got := entries[0].Line(); got != c.want {
			t.Errorf("%s %q:\n got %q\nwant %q", c.version, c.text, got, c.want)
		}
	}
	entries, _ := list(t, "2.1.332", Settings{MaxText: 5}, nil, nil, home, "/h/.claude/skills/s/SKILL.md|---\ndescription: \"123456\"\n---\n")
	if got := entries[0]; got.Text != "1234…" || got.Full != "123456" {
		t.Errorf("%q %q", got.Text, got.Full)
	}
}

func TestAliases(t *testing.T) {
	in := home
	in.PluginDirs = []string{"/h/plug"}
	const u = "/h/.claude/skills/"
	front := func(name string) string { return "/SKILL.md|---\nname: " + name + "\ndescription: d\n---\n" }
	entries, _ := list(t, "2.1.332", Settings{}, []Given{{Name: "loop", Text: "t", Place: PlaceBundled}}, nil, in,
		u+"a"+front("first"), u+"b"+front("first"), u+"c"+front("a"), u+"d"+front("loop"), u+"e"+front("e"),
		"/h/plug/.claude-plugin/plugin.json|{\"name\":\"k\"}", "/h/plug/skills/with.dot"+front("with.dot"), "/h/plug/skills/z"+front("a"))
	var got []string
	for _, e := range entries {
		got = append(got, e.Label)
	}
	want := []string{"a (first)", "b", "c", "d", "e", "k:with-dot (k:with.dot)", "k:z (k:a)", "loop"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestGivenPlaces(t *testing.T) {
	in := home
	in.PluginDirs = []string{"/h/plug"}
	files := []string{"/h/.claude/skills/own/SKILL.md|A", "/h/.claude/skills/review/SKILL.md|A", "/h/plug/.claude-plugin/plugin.json|{\"name\":\"k\"}", "/h/plug/skills/z/SKILL.md|---\ndescription: d\n---\n"}
	for version, want := range map[string]string{
		"2.1.332": "own review deep-research k:z loop init",
		"2.1.200": "own review deep-research k:z loop init review",
		"2.1.112": "deep-research loop own review k:z init review",
	} {
		var given []Given
		for _, name := range []string{"init", "review", "deep-research", "loop"} {
			given = append(given, Given{Name: name, Text: "t", Place: PlaceOf(name, optionsAt(version).Discovery)})
		}
		entries, _ := list(t, version, Settings{}, given, nil, in, files...)
		var got []string
		for _, e := range entries {
			got = append(got, e.Name)
			if e.Exempt != (e.Name == "deep-research" || e.Name == "loop") {
				t.Errorf("%s exempt: %v", e.Name, e.Exempt)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
	entries, _ := list(t, "2.1.332", Settings{Overrides: map[string]Override{"loop": OverrideOff, "init": OverrideNameOnly}},
		[]Given{{Name: "loop", Text: "t", Place: PlaceBundled}, {Name: "init", Text: "t", Place: PlaceBuiltin}}, nil, home)
	if len(entries) != 1 || entries[0].Line() != "- init" {
		t.Errorf("%+v", entries)
	}
}

func TestDigest(t *testing.T) {
	// Recorded: listing/alias/2.1.332.
	if got := Digest("c4", "Desc c4"); got != "94d0a14b4e268fa3" {
		t.Error(got)
	}
	got := string(appendJSON(nil, "a\"\\\b\f\n\r\t\x00\x1f\x7f</é\u2028\xED\xA0\xBD\xED\xBF\xBF"))
	if want := `"a\"\\\b\f\n\r\t\u0000\u001f` + "\x7f</é\u2028" + `\ud83d\udfff"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestActivates(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"src", "/h/p/src/a.ts", true}, {"*.txt", "/h/p/x/y.TXT", true}, {"src", "/h/q/src/a.ts", false}, {"src", "/h/p", false},
		{"/src", "/h/p/a/src/b", false}, {"/h/p/src", "/h/p/src/a", false},
	} {
		if got := Activates([]string{c.pattern}, c.file, "/h/p"); got != c.want {
			t.Errorf("%s %s: %v", c.pattern, c.file, got)
		}
	}
	if Activates(nil, "/h/p/a", "/h/p") || !Activates([]string{"a"}, "/a", "/") {
		t.Error("edge cases")
	}
}

func TestElement(t *testing.T) {
	o := optionsAt("2.0.30")
	e, _ := list(t, "2.0.30", Settings{}, nil, nil, home, "/h/.claude/skills/u/SKILL.md|---\ndescription: D\nwhen_to_use: W\n---\n")
	want := "<skill>\n<name>\nu\n</name>\n<description>\nD (project, gitignored) - W\n</description>\n<location>\nuser\n</location>\n</skill>"
	if got := e[0].Element(o, true); got != want {
		t.Errorf("%q", got)
	}
	content := want + "\n" + strings.Replace(want, "D (project, gitignored)", "has\n</skill> in it (user)", 1) + "\n<!-- Showing 2 of 9 skills due to token limits -->"
	parsed := ParseListing(content, nil)
	if len(parsed) != 3 || parsed[0].Name != "u" || parsed[0].Source != "(project, gitignored)" || parsed[1].Location != "user" || parsed[1].Source != "(user)" || parsed[2].Name != "" || JoinListing(parsed) != content {
		t.Errorf("%+v", parsed)
	}
}
