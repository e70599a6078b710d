package skills

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// newTree makes a tree of files: "path" or "path|text"; "path -> target" makes
// a link.
func newTree(t testing.TB, files ...string) *Memory {
	t.Helper()
	m := NewMemory()
	for _, f := range files {
		if from, to, ok := strings.Cut(f, " -> "); ok {
			must(t, m.Link(from, to))
			continue
		}
		p, text, _ := strings.Cut(f, "|")
		must(t, m.Write(p, []byte(text)))
	}
	return m
}

var home = Inputs{Home: "/h", ConfigDir: "/h/.claude", ManagedDir: "/etc/cc", CWD: "/h/p/sub"}

func foundNames(list []*Skill) string {
	var out []string
	for _, s := range list {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

func TestDiscoverOrder(t *testing.T) {
	in := home
	in.AddDirs, in.PluginDirs = []string{"/h/add"}, []string{"/h/plug"}
	tree := newTree(t,
		"/etc/cc/.claude/skills/m/SKILL.md", "/h/.claude/skills/u-b/SKILL.md", "/h/.claude/skills/U-a/SKILL.md", "/h/.claude/commands/ns/deep/c.md",
		"/h/p/.claude/skills/parent/SKILL.md", "/h/p/sub/.claude/skills/here/SKILL.md", "/h/p/sub/.claude/commands/a.md", "/h/p/.claude/commands/sk/SKILL.md", "/h/p/.claude/commands/sk/other.md",
		"/h/add/.claude/skills/added/SKILL.md", "/h/add/.claude/commands/b.md",
		"/h/plug/.claude-plugin/plugin.json|{\"name\":\"plug\"}", "/h/plug/commands/naïve.md", "/h/plug/skills/naïve.x/SKILL.md",
		"/.claude/skills/root/SKILL.md",
	)
	for _, c := range []struct{ version, want string }{
		{"2.1.332", "m U-a u-b here parent added a b ns:deep:c sk plug:naïve plug:na-ve-x"},
		{"2.1.112", "m U-a u-b here parent added ns:deep:c a sk plug:naïve plug:na-ve-x"},
		{"2.0.30", "ns:deep:c a sk m U-a u-b here plug:naïve plug:na-ve-x"},
	} {
		o := optionsAt(c.version)
		if got := foundNames(Discover(tree, in, o.Discovery, o.Dialect).Skills); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.version, got, c.want)
		}
	}
}

func TestWalkOrder(t *testing.T) {
	in, o := home, optionsAt("2.1.140")
	tree := newTree(t, "/h/.claude/commands/a.md", "/h/.claude/commands/b.md", "/h/.claude/commands/c.md")
	if f := Discover(tree, in, o.Discovery, o.Dialect); !f.Guessed {
		t.Error("the order of commands is known although nothing tells it")
	}
	in.CommandOrder = []string{"c", "x", "a", "b"}
	if f := Discover(tree, in, o.Discovery, o.Dialect); f.Guessed || foundNames(f.Skills) != "c a b" {
		t.Errorf("%s, guessed %v", foundNames(f.Skills), f.Guessed)
	}
}

func TestProjectDirs(t *testing.T) {
	for _, c := range []struct{ git, cwd, want string }{
		{"", "/h/p/sub", "/h/p/sub /h/p"},
		{"/h/p/sub/.git", "/h/p/sub", "/h/p/sub"},
		{"/h/p/.git", "/h/p/sub", "/h/p/sub /h/p"},
		{"/.git", "/h/p", "/h/p"},
		{"", "/h", ""},
		{"", "/srv/x", "/srv/x /srv /"},
		{"", "", ""},
	} {
		tree := newTree(t, "/h/p/sub/x")
		if c.git != "" {
			must(t, tree.Write(c.git, nil))
		}
		if got := strings.Join(projectDirs(tree, Inputs{Home: "/h", CWD: c.cwd}), " "); got != c.want {
			t.Errorf("%s with %q: %s, want %s", c.cwd, c.git, got, c.want)
		}
	}
}

func TestProblems(t *testing.T) {
	in, o := home, optionsAt("2.1.332")
	in.PluginDirs = []string{"/h/plug", "/h/bad"}
	tree := newTree(t,
		"/h/.claude/skills/loose.md", "/h/.claude/skills/group/inner/SKILL.md", "/h/.claude/skills/low/skill.md", "/h/.claude/skills/empty/README",
		"/h/.claude/skills/gone -> /nowhere", "/h/.claude/skills/self -> self", "/h/.claude/skills/text.txt", "/h/.claude/skills/dir/SKILL.md/x",
		"/h/.claude/skills/to-file.md -> loose.md",
		"/h/.claude/commands/up -> ..", "/h/.claude/commands/c.md", "/h/bad/.claude-plugin/plugin.json|{",
	)
	f := Discover(tree, in, o.Discovery, o.Dialect)
	var got []string
	for _, p := range f.Problems {
		if !strings.Contains(p.Path, "/commands/") {
			got = append(got, fmt.Sprintf("%s %s", p.Kind, strings.TrimPrefix(p.Path, "/h/")))
		}
	}
	slices.Sort(got)
	want := []string{
		"broken-link .claude/skills/gone", "loose-file .claude/skills/loose.md", "loose-file .claude/skills/to-file.md", "no-plugin-name bad", "no-plugin-name plug",
		"no-skill-file .claude/skills/empty", "two-deep .claude/skills/group/inner/SKILL.md", "unreadable .claude/skills/dir/SKILL.md",
		"unreadable .claude/skills/self/SKILL.md", "wrong-case .claude/skills/low/skill.md",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	// The link to the folder above is followed once, and the way back to the
	// commands is known as a loop.
	if n := strings.Count(" "+foundNames(f.Skills)+" ", " c "); n != 1 {
		t.Errorf("c was found %d times: %s", n, foundNames(f.Skills))
	}
}

func TestNotSearched(t *testing.T) {
	in, o := home, optionsAt("2.0.30")
	in.AddDirs = []string{"/h/add"}
	tree := newTree(t, "/h/p/.claude/skills/parent/SKILL.md", "/h/add/.claude/skills/a/SKILL.md", "/h/add/.claude/commands/b.md")
	f := Discover(tree, in, o.Discovery, o.Dialect)
	if len(f.Skills) != 0 || len(f.Problems) != 3 || f.Problems[0].Kind != NotSearched {
		t.Errorf("%s %+v", foundNames(f.Skills), f.Problems)
	}
}

func TestNested(t *testing.T) {
	tree := newTree(t,
		"/h/p/a/.claude/skills/x/SKILL.md", "/h/p/a/b/.claude/skills/y/SKILL.md", "/h/p/a/b/.claude/skills/top/SKILL.md", "/h/p/.claude/skills/top/SKILL.md", "/h/p/other/.claude/skills/z/SKILL.md")
	o := optionsAt("2.1.332")
	nested, _ := DiscoverNested(tree, "/h/p", "/h/p/a/b/c/file.go", o.Discovery, o.Dialect)
	if got := foundNames(nested); got != "top y x" || nested[0].Scope != "a/b" || nested[2].Scope != "a" {
		t.Errorf("nested %s", got)
	}
	if outside, _ := DiscoverNested(tree, "/h/p", "/h/other/file", o.Discovery, o.Dialect); outside != nil {
		t.Error("a file outside brought in skills")
	}
	found := Discover(tree, Inputs{Home: "/h", CWD: "/h/p"}, o.Discovery, o.Dialect)
	var got []string
	for _, e := range Entries(Eligible(found, nested, nil, Settings{}, o), []Given{{Name: "init", Place: PlaceBuiltin}}, Settings{}, o) {
		got = append(got, e.Line())
	}
	want := []string{
		"- top: Skill",
		"- a/b:top: Skill (scoped to a/b/ — use this instead of the unscoped \"top\" skill when the files being changed are under a/b/)",
		"- x: Skill (from a/.claude/skills — applies when working on files under a/)",
		"- y: Skill (from a/b/.claude/skills — applies when working on files under a/b/)",
		"- init",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	o = optionsAt("2.1.140")
	for _, st := range Eligible(found, nested, nil, Settings{}, o) {
		if shadowed := st.Reason == NestedShadowed; shadowed != (st.Skill.Source == Nested && st.Skill.Folder == "top") {
			t.Errorf("2.1.140: %s %s", st.Skill.Path, st.Reason)
		}
	}
}

func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		"plain é😀":         "plain é😀",
		"a\xFFb":           "a\uFFFDb",
		"a\xE2\x82b":       "a\uFFFDb",
		"\xF0\x9F\x98":     "\uFFFD",
		"\xED\xA0\x80":     "\uFFFD\uFFFD\uFFFD",
		"\xC0\xAF":         "\uFFFD\uFFFD",
		"\xF4\x90\x80\x80": "\uFFFD\uFFFD\uFFFD\uFFFD",
		"\uFFFDx\xE2":      "\uFFFDx\uFFFD",
	} {
		if got := decode([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// bigTree holds n skills of one user.
func bigTree(b *testing.B, n int) *Memory {
	m := NewMemory()
	for i := range n {
		name := fmt.Sprintf("skill-%05d", i*7919%n)
		must(b, m.Write("/h/.claude/skills/"+name+"/SKILL.md", fmt.Appendf(nil, "---\nname: %s\ndescription: What the skill number %d is for, and when the model is to use it\n---\nBody\n", name, i)))
	}
	return m
}

func BenchmarkDiscover(b *testing.B) {
	tree, o := bigTree(b, 10_000), optionsAt("2.1.332")
	b.ReportAllocs()
	for b.Loop() {
		if f := Discover(tree, home, o.Discovery, o.Dialect); len(f.Skills) != 10_000 {
			b.Fatal(len(f.Skills))
		}
	}
}

func BenchmarkEntries(b *testing.B) {
	o := optionsAt("2.1.332")
	found := Discover(bigTree(b, 10_000), home, o.Discovery, o.Dialect)
	b.ReportAllocs()
	for b.Loop() {
		if e := Entries(Eligible(found, nil, nil, Settings{}, o), nil, Settings{}, o); len(e) != 10_000 {
			b.Fatal(len(e))
		}
	}
}
