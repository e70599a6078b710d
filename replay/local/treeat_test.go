package local

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// namesIn are the skills of folders in a tree, with their descriptions.
func namesIn(t *testing.T, tree skills.Tree, in skills.Inputs) string {
	t.Helper()
	table, err := rules.For(rules.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	r, err := table.At(table.Latest)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, k := range skills.Discover(tree, in, r.Discovery, r.Front).Skills {
		d, _ := k.Front.Description(r.Front)
		out = append(out, k.Name+"="+d)
	}
	return strings.Join(out, " ")
}

func TestTreeAt(t *testing.T) {
	w := newWorld(t)
	repo := filepath.Join(w.root, "repo")
	set := filepath.Join(repo, ".claude", "skills")
	w.skill(set, "commit", "Writes.")
	w.repository(repo)
	w.skill(set, "gone", "Was.")
	w.write(filepath.Join(repo, "plug", ".claude-plugin", "plugin.json"), `{"name":"old"}`)
	w.skill(filepath.Join(repo, "plug", "skills"), "p", "Of a plugin.")
	first := w.commit(repo, began)
	w.skill(set, "commit", "Commits.")
	if err := os.RemoveAll(filepath.Join(set, "gone")); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(repo, "plug", ".claude-plugin", "plugin.json"), `{"name":"new"}`)
	w.commit(repo, began.Add(time.Hour))
	w.skill(set, "fresh", "Is not committed.")
	w.skill(filepath.Join(repo, "loose"), "l", "In a folder that is not committed.")

	plugin := func(dirs []string) skills.Inputs { return skills.Inputs{PluginDirs: []string{path.Dir(dirs[0])}} }
	given := func(dirs []string) skills.Inputs { return skills.Inputs{SkillDirs: dirs} }
	for _, c := range []struct {
		ref, dir string
		in       func([]string) skills.Inputs
		want     string
	}{
		{"", set, given, "commit=Commits. fresh=Is not committed."},
		{AtNow, set, given, "commit=Commits. fresh=Is not committed."},
		{"HEAD", set, given, "commit=Commits."},
		{"HEAD~1", set, given, "commit=Writes. gone=Was."},
		{first[:10], set, given, "commit=Writes. gone=Was."},
		{"HEAD", filepath.Join(repo, "loose"), given, ""},
		{"HEAD", filepath.Join(repo, "plug", "skills"), plugin, "new:p=Of a plugin."},
		{"HEAD~1", filepath.Join(repo, "plug", "skills"), plugin, "old:p=Of a plugin."},
	} {
		tree, dirs, err := TreeAt(c.ref, []string{c.dir})
		if err != nil {
			t.Fatalf("%q of %s: %v", c.ref, c.dir, err)
		}
		equal(t, c.ref+" of "+c.dir, namesIn(t, tree, c.in(dirs)), c.want)
	}
	for _, c := range []struct{ ref, dir, want string }{
		{"", filepath.Join(repo, "nowhere"), "nowhere: no such file or directory"},
		{"HEAD", filepath.Join(repo, "nowhere"), "nowhere: no such folder, neither here nor at "},
		{"v9", set, `no revision "v9" there`},
		{"-x", set, "is no revision"},
		{"HEAD", filepath.Dir(filepath.Dir(w.skill(filepath.Join(w.root, "apart"), "s", "S."))), "it lies in no git work tree, so it has no revision HEAD"},
	} {
		_, _, err := TreeAt(c.ref, []string{c.dir})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q of %s: %v, want %q", c.ref, c.dir, err, c.want)
		}
	}
}

// A link in the work tree, and the work tree by a link.
func TestTreeAtLinks(t *testing.T) {
	w := newWorld(t)
	repo := filepath.Join(w.root, "repo")
	w.skill(filepath.Join(repo, "shared"), "commit", "Writes.")
	w.repository(repo)
	for link, target := range map[string]string{filepath.Join(repo, "set"): "shared", filepath.Join(w.root, "link"): "repo"} {
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
	}
	w.commit(repo, began)
	w.skill(filepath.Join(repo, "shared"), "commit", "Commits.")
	for _, dir := range []string{filepath.Join(repo, "set"), filepath.Join(w.root, "link", "set"), filepath.Join(w.root, "link", "shared")} {
		tree, dirs, err := TreeAt("HEAD", []string{dir})
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		equal(t, dir, namesIn(t, tree, skills.Inputs{SkillDirs: dirs}), "commit=Writes.")
	}
}
