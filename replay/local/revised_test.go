package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// repository makes a folder a git repository of its own.
func (w *world) repository(dir string) {
	w.t.Helper()
	if err := CheckGit(); err != nil {
		w.t.Skip(err)
	}
	w.git(dir, began, "init", "-q", "-b", "main")
}

// commit commits all of a folder's files at a time.
func (w *world) commit(dir string, at time.Time) string {
	w.t.Helper()
	w.git(dir, at, "add", "-A")
	w.git(dir, at, "commit", "-q", "--allow-empty", "-m", "as of now")
	return strings.TrimSpace(w.git(dir, at, "rev-parse", "HEAD"))
}

func (w *world) git(dir string, at time.Time, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false", "-c", "protocol.file.allow=always"}, args...)...)
	date := at.Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date, "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// withRevisions are the uses that tell of revisions, and the note on the files.
func withRevisions(w *world, f *Found) string {
	var out []string
	for line := range strings.SplitSeq(w.uses(f), "\n") {
		if strings.HasPrefix(line, "skill files") || strings.HasPrefix(line, "revision") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func TestSkillsAt(t *testing.T) {
	w := newWorld(t)
	w.repository(w.shop)
	w.skill(".claude/skills", "commit", "Writes.")
	w.skill("shop/.claude/skills", "deploy", "Puts it online.")
	w.skill("shop/.claude/skills", "old", "Is old.")
	first := w.commit(w.shop, began.Add(-48*time.Hour))
	w.skill("shop/.claude/skills", "deploy", "Puts it off.")
	w.skill("shop/.claude/skills", "new", "Is new.")
	if err := os.RemoveAll(filepath.Join(w.shop, ".claude", "skills", "old")); err != nil {
		t.Fatal(err)
	}
	second := w.commit(w.shop, began.Add(48*time.Hour))
	w.skill("shop/.claude/skills", "deploy", "Puts it nowhere.")

	name := w.log(session(w.shop, "commit: Writes.", "deploy: Puts it online.", "old: Is old."))
	now, then := "\nrevision = home/.claude/skills (as it is now: it lies in no git work tree)", "\nrevision = home/shop/.claude/skills ("
	for _, c := range []struct{ at, entries, want string }{
		{"", "commit deploy", "skill files = home/.claude/skills, home/shop/.claude/skills (3 skills, descriptions of 1 changed since (digests): deploy, 1 not in the log)"},
		{AtSession, "commit deploy old", "skill files = home/.claude/skills, home/shop/.claude/skills (3 skills, descriptions unchanged since (digests))" + now + then + first[:7] + " of 2026-11-26)"},
		{first[:12], "commit deploy old", "skill files = home/.claude/skills, home/shop/.claude/skills (3 skills, descriptions unchanged since (digests))" + now + then + first[:7] + " of 2026-11-26)"},
		{"main~1", "commit deploy old", "skill files = home/.claude/skills, home/shop/.claude/skills (3 skills, descriptions unchanged since (digests))" + now + then + first[:7] + " of 2026-11-26)"},
		{"HEAD", "commit deploy new old", "skill files = home/.claude/skills, home/shop/.claude/skills (3 skills, descriptions of 1 changed since (digests): deploy, 1 not in the log)" + now + then + second[:7] + " of 2026-11-30)"},
	} {
		o := w.options()
		o.SkillsAt = c.at
		s, f := find(t, name, o)
		equal(t, c.at, withRevisions(w, f), c.want)
		got := strings.Split(strings.Join(predicted(s, f), "\n"), "\n")[0]
		if got != c.entries && c.at != "" {
			t.Errorf("%s: entries %q, want %q", c.at, got, c.entries)
		}
		if c.at == AtSession && !strings.HasPrefix(verdicts(s, f), "listing match") {
			t.Errorf("verdicts %s", verdicts(s, f))
		}
	}
	for at, want := range map[string]string{
		"v9":                         `--skills-at v9: ` + slashed(w.shop) + `: no revision "v9" there`,
		"HEAD:.claude":               `no revision "HEAD:.claude" there`,
		"--upload-pack=touch /tmp/x": "is no revision",
		"-x":                         "is no revision",
		"main\nHEAD":                 "is no revision",
		"main\x00":                   "is no revision",
		"../../etc":                  "no revision",
	} {
		o := w.options()
		o.SkillsAt = at
		_, err := NewFinder(o).Find(observe(t, name))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", at, err)
		}
	}
}

// Folders given by hand, the top of a repository, links, and what is not tracked.
func TestSkillsAtPlaces(t *testing.T) {
	w := newWorld(t)
	repo := filepath.Join(w.root, "repo")
	w.skill(repo, "commit", "Writes.")
	w.skill(filepath.Join(repo, "more"), "linked", "Is linked.")
	w.write(filepath.Join(w.root, "secret", "SKILL.md"), "---\ndescription: Secret.\n---\n")
	w.write(filepath.Join(repo, ".gitignore"), "loose\n")
	for link, target := range map[string]string{"linked": "more/linked", "up": "../secret", "abs": filepath.Join(w.root, "secret"), "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(repo, link)); err != nil {
			t.Skip(err)
		}
	}
	w.repository(repo)
	w.commit(repo, began.Add(-time.Hour))
	w.skill(filepath.Join(repo, "loose"), "loose", "Is loose.")
	if err := os.RemoveAll(filepath.Join(repo, "commit")); err != nil {
		t.Fatal(err)
	}
	name := w.log(session("/nowhere", "commit: Writes."), filepath.Join(w.root, "a.jsonl"))
	for _, c := range []struct{ dir, want string }{
		{repo, "commit linked"},
		{filepath.Join(repo, "more"), "linked"},
		{filepath.Join(repo, "loose"), ""},
	} {
		o := w.options()
		o.Skills, o.SkillsAt = []string{c.dir}, AtSession
		_, f := find(t, name, o)
		var names []string
		for _, k := range f.Skills {
			names = append(names, k.Name)
		}
		if c.want == "" {
			if got := withRevisions(w, f); !strings.Contains(got, "as it is now: git does not track it") || len(f.Problems) != 1 {
				t.Errorf("%s: %s, %q", c.dir, got, f.Problems)
			}
			o.SkillsAt = "HEAD"
			if _, err := NewFinder(o).Find(observe(t, name)); err == nil || err.Error() != "--skills-at HEAD: no skill folder of this session is tracked by git" {
				t.Errorf("%s: %v", c.dir, err)
			}
			continue
		}
		equal(t, c.dir, strings.Join(names, " "), c.want)
	}
}

// A history that does not go back far enough says so, and how to get the rest.
func TestSkillsAtShallow(t *testing.T) {
	w := newWorld(t)
	w.repository(w.shop)
	w.skill("shop/.claude/skills", "deploy", "Puts it online.")
	w.commit(w.shop, began.Add(-time.Hour))
	w.commit(w.shop, began.Add(48*time.Hour))
	clone := filepath.Join(w.home, "clone")
	w.git(w.home, began, "clone", "-q", "--depth", "1", "file://"+slashed(w.shop), clone)
	o := w.options()
	o.SkillsAt = AtSession
	_, f := find(t, w.log(session(clone, "deploy: Puts it online.")), o)
	if len(f.Problems) != 1 || !strings.HasSuffix(f.Problems[0], "clone: no commit from before 2026-11-28T09:01:00Z: its history is shallow; git fetch --unshallow brings the rest; read as it is now") {
		t.Errorf("problems %q", f.Problems)
	}
	o.SkillsAt = AtSession
	young := filepath.Join(w.home, "young")
	w.skill("young/.claude/skills", "deploy", "Puts it online.")
	w.repository(young)
	w.commit(young, began.Add(48*time.Hour))
	_, f = find(t, w.log(session(young, "deploy: Puts it online.")), o)
	if len(f.Problems) != 1 || !strings.Contains(f.Problems[0], "its history begins after that") {
		t.Errorf("problems %q", f.Problems)
	}
}

// Neither a repository nor the environment makes git run a program.
func TestSkillsAtHostile(t *testing.T) {
	w := newWorld(t)
	w.repository(w.shop)
	w.skill("shop/.claude/skills", "deploy", "Puts it online.")
	mark := filepath.Join(w.root, "ran")
	script := w.write("run.sh", "#!/bin/sh\ntouch '"+mark+"'\ncat\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("shop/.gitattributes", "*.md filter=x diff=x text\n")
	w.commit(w.shop, began.Add(-time.Hour))
	for _, key := range []string{"core.fsmonitor", "core.pager", "core.sshCommand", "filter.x.smudge", "filter.x.clean", "diff.x.textconv", "diff.external", "alias.ls-tree"} {
		w.git(w.shop, began, "config", key, script)
	}
	for _, v := range []string{"GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND"} {
		t.Setenv(v, script)
	}
	t.Setenv("GIT_DIR", filepath.Join(w.root, "elsewhere"))
	t.Setenv("GIT_TRACE", mark)
	o := w.options()
	o.SkillsAt = AtSession
	_, f := find(t, w.log(session(w.shop, "deploy: Puts it online.")), o)
	if got := withRevisions(w, f); !strings.Contains(got, " of 2026-11-28)") {
		t.Errorf("%s\n%q", got, f.Problems)
	}
	if exists(mark) {
		t.Error("git ran a program of the repository, or wrote a file")
	}
}

// What a partial clone lacks is not fetched: its configuration names the program
// that would do it.
func TestSkillsAtPartialClone(t *testing.T) {
	w := newWorld(t)
	w.repository(w.shop)
	w.skill("shop/.claude/skills", "deploy", "Puts it online.")
	w.commit(w.shop, began.Add(-time.Hour))
	mark := filepath.Join(w.root, "ran")
	script := w.write("run.sh", "#!/bin/sh\ntouch '"+mark+"'\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	blob := strings.TrimSpace(w.git(w.shop, began, "rev-parse", "HEAD:.claude/skills/deploy/SKILL.md"))
	if err := os.Remove(filepath.Join(w.shop, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"remote.origin.url", "ext::" + script}, {"remote.origin.promisor", "true"}, {"remote.origin.uploadpack", script}, {"protocol.ext.allow", "always"}, {"core.repositoryformatversion", "1"}, {"extensions.partialClone", "origin"}} {
		w.git(w.shop, began, "config", c[0], c[1])
	}
	o := w.options()
	o.SkillsAt = AtSession
	_, f := find(t, w.log(session(w.shop, "deploy: Puts it online.")), o)
	if len(f.Skills) != 0 || len(f.Problems) != 1 || !strings.Contains(f.Problems[0], "skills/deploy/SKILL.md: this clone does not hold it") {
		t.Errorf("%+v, %q", f.Skills, f.Problems)
	}
	if exists(mark) {
		t.Error("git fetched")
	}
}

func FuzzGitAnswers(f *testing.F) {
	hash := strings.Repeat("0123456789", 4)
	for _, seed := range []string{"", "100644 blob " + hash + "       5\ta/SKILL.md\x00040000 tree " + hash + "       -\ta\x00120000 blob " + hash + " 3\tl\tink\n\x00160000 commit " + hash + " -\tsub\x00",
		hash + " blob 3\nabc\n" + hash + " missing\n", hash + " blob -1\n", hash + " blob 9999999999\nabc", "\x00\t\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		if entries, err := parseTree(answer); err == nil && len(entries) > len(answer) {
			t.Errorf("%d entries", len(entries))
		}
		texts, err := parseObjects([]byte(answer))
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("not one line: %v", err)
		}
		for hash, text := range texts {
			if !strings.Contains(answer, hash) || !strings.Contains(answer, string(text)) {
				t.Errorf("%q: %q", hash, text)
			}
		}
	})
}
