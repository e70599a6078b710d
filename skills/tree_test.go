package skills

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func names(t *testing.T, tree Tree, dir string) []string {
	t.Helper()
	entries, err := tree.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestMemory(t *testing.T) {
	m := NewMemory()
	must(t,
		m.Write("/a/b/file", []byte("one")),
		m.Write("/a/c", nil),
		m.Link("/a/link", "b"),
		m.Link("/a/abs", "/a/b/file"),
		m.Link("/a/up", "../a/b"),
		m.Link("/loop1", "/loop2"),
		m.Link("/loop2", "/loop1"),
		m.Link("/nowhere", "/missing"),
	)
	for _, p := range []string{"/a/b/file", "/a/link/file", "/a/abs", "/a/up/file", "/a/./b/../b/file", "/a/link/../b/file"} {
		text, err := m.ReadFile(p)
		if err != nil || string(text) != "one" {
			t.Errorf("%s: %q %v", p, text, err)
		}
		if real, err := m.Resolve(p); err != nil || real != "/a/b/file" {
			t.Errorf("%s resolves to %s %v", p, real, err)
		}
	}
	for p, want := range map[string]error{
		"/loop1": errLoop, "/nowhere": fs.ErrNotExist, "/a/b/file/x": errNotDir, "/a": errIsDir, "rel": fs.ErrInvalid,
	} {
		if _, err := m.ReadFile(p); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", p, err, want)
		}
	}
	if got := names(t, m, "/a"); !slices.Equal(got, []string{"abs", "b", "c", "link", "up"}) {
		t.Errorf("by bytes: %q", got)
	}
	must(t, m.SetOrder("/a", []string{"up", "gone", "c"}))
	if got := names(t, m, "/a"); !slices.Equal(got, []string{"up", "c", "abs", "b", "link"}) {
		t.Errorf("in order: %q", got)
	}
	entries, _ := m.ReadDir("/a")
	if entries[0].Type() != fs.ModeSymlink || entries[3].Type() != fs.ModeDir {
		t.Error("wrong types")
	}
}

func TestMemoryClone(t *testing.T) {
	m := NewMemory()
	must(t, m.Write("/a/x", []byte("1")), m.Write("/b/y", []byte("1")))
	c := m.Clone()
	must(t, m.Write("/a/x", []byte("2")), c.Write("/a/z", []byte("3")), c.RemoveAll("/b"), c.SetOrder("/a", []string{"z"}))
	if text, _ := m.ReadFile("/a/x"); string(text) != "2" {
		t.Errorf("m /a/x = %q", text)
	}
	if text, _ := c.ReadFile("/a/x"); string(text) != "1" {
		t.Errorf("c /a/x = %q", text)
	}
	for _, x := range []struct {
		tree *Memory
		dir  string
		want []string
	}{{m, "/a", []string{"x"}}, {c, "/a", []string{"z", "x"}}, {m, "/", []string{"a", "b"}}, {c, "/", []string{"a"}}} {
		if got := names(t, x.tree, x.dir); !slices.Equal(got, x.want) {
			t.Errorf("%s = %q, want %q", x.dir, got, x.want)
		}
	}
}

func TestMemoryChanges(t *testing.T) {
	m := NewMemory()
	must(t, m.Write("/d/f", nil), m.Link("/l", "/d"), m.Write("/l/g", []byte("g")), m.Link("/lf", "/d/f"), m.Write("/lf", []byte("through")), m.Mkdir("/d/e"))
	if got := names(t, m, "/d"); !slices.Equal(got, []string{"e", "f", "g"}) {
		t.Errorf("/d = %q", got)
	}
	if text, _ := m.ReadFile("/d/f"); string(text) != "through" {
		t.Errorf("written through a link: %q", text)
	}
	if m.Write("/d", nil) == nil || m.Write("/d/f/x", nil) == nil || m.Remove("/d") == nil || m.Remove("/missing") == nil || m.Write("rel", nil) == nil || m.RemoveAll("/") == nil {
		t.Error("a wrong change was made")
	}
	must(t, m.Remove("/l"), m.RemoveAll("/missing"), m.RemoveAll("/d"))
	if got := names(t, m, "/"); !slices.Equal(got, []string{"lf"}) {
		t.Errorf("/ = %q", got)
	}
}

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "s/a"), 0o755), os.WriteFile(filepath.Join(dir, "s/a/SKILL.md"), []byte("text"), 0o644))
	if err := os.Symlink("a", filepath.Join(dir, "s/b")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	must(t, os.Symlink("c", filepath.Join(dir, "s/c")))
	base := filepath.ToSlash(dir) + "/s"
	d := Disk{MaxFile: 4}
	if got := names(t, d, base); len(got) != 3 {
		t.Errorf("%q", got)
	}
	if text, err := d.ReadFile(base + "/b/SKILL.md"); err != nil || string(text) != "text" {
		t.Errorf("%q %v", text, err)
	}
	if real, err := d.Resolve(base + "/b/SKILL.md"); err != nil || filepath.Base(filepath.Dir(real)) != "a" {
		t.Errorf("%s %v", real, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "s/a/SKILL.md"), []byte("longer"), 0o644))
	if _, err := d.ReadFile(base + "/a/SKILL.md"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("no limit: %v", err)
	}
	if _, err := d.ReadFile(base + "/c"); err == nil {
		t.Error("a loop of links was read")
	}
	if _, err := d.ReadFile(base); err == nil {
		t.Error("a folder was read as a file")
	}
	if info, err := d.Stat(base + "/b"); err != nil || !info.IsDir() {
		t.Error(err)
	}
}
