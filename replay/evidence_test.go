package replay

import (
	"testing"

	"github.com/skilltrace/skilltrace/skills"
)

// TestDirOf: skills of one folder name are told apart by where they lie.
func TestDirOf(t *testing.T) {
	ev := &evidenceOfAll{cwd: "/home/dev/shop", dirs: map[string][]string{}}
	for _, dir := range []string{"/home/dev/shop/.claude/skills/dup", "/home/dev/shop/pkg/one/.claude/skills/dup", "/home/dev/.claude/skills/own", "/home/dev/shop/pkg/two/.claude/skills/deep"} {
		ev.sawDir(baseDirectory + dir + "\n\nText.")
		ev.sawDir(baseDirectory + dir + "\n\nText.")
	}
	for _, tt := range []struct {
		dir    string
		source skills.Source
		scope  string
		want   string
	}{
		{"/copy/shop/.claude/skills/dup", skills.Project, "", "/home/dev/shop/.claude/skills/dup"},
		{"/copy/shop/pkg/one/.claude/skills/dup", skills.Nested, "pkg/one", "/home/dev/shop/pkg/one/.claude/skills/dup"},
		{"/copy/shop/pkg/two/.claude/skills/dup", skills.Nested, "pkg/two", ""},
		{"/home/dev/shop/pkg/one/.claude/skills/dup", skills.Project, "", "/home/dev/shop/pkg/one/.claude/skills/dup"},
		{"/copy/.claude/skills/own", skills.User, "", "/home/dev/.claude/skills/own"},
		{"/copy/shop/.claude/skills/deep", skills.Project, "", ""},
		{"/copy/.claude/skills/unseen", skills.User, "", ""},
	} {
		if got := ev.dirOf(&skills.Skill{Dir: tt.dir, Source: tt.source, Scope: tt.scope}); got != tt.want {
			t.Errorf("%s of %s: got %q, want %q", tt.dir, tt.source, got, tt.want)
		}
	}
	if n := len(ev.dirs["dup"]); n != 2 {
		t.Errorf("%d folders, want 2", n)
	}
	ev.cwd = ""
	if got := ev.dirOf(&skills.Skill{Dir: "/copy/.claude/skills/own"}); got != "/home/dev/.claude/skills/own" {
		t.Errorf("without a working directory: %q", got)
	}
}
