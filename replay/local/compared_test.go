package local

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay"
)

// compared writes what was found out of each skill file, one a line.
func compared(s *replay.Session, f *Found) string {
	r := replay.Run(s, &f.Inputs, replay.Comparison{Exact: f.Inputs.Exact, RulesExact: f.RulesExact, History: f.Inputs.History})
	f.CompareBodies(r)
	var lines []string
	for i := range f.Skills {
		k := &f.Skills[i]
		line := k.Name + " " + string(k.State())
		for _, c := range k.Compared {
			line += fmt.Sprintf(", %s %s", c.By, c.State)
			if c.Part {
				line += " in part"
			}
			if c.Seen != c.Now {
				line += fmt.Sprintf(" %q now %q", c.Seen, c.Now)
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestCompareListings(t *testing.T) {
	w := newWorld(t)
	w.skill(".claude/skills", "commit", "Writes a commit with care.")
	for _, c := range []struct {
		name, version string
		digests       bool
		entries       []string
		want          string
	}{
		{"digest", "2.1.332", true, []string{"commit: Writes a commit with care."}, "commit same, digest same"},
		{"another digest", "2.1.332", true, []string{"commit: Writes."}, `commit edited, digest edited "Writes." now "Writes a commit with care."`},
		{"a bare name and its digest", "2.1.332", true, []string{"commit"}, "commit edited, digest edited"},
		{"text", "2.1.200", false, []string{"commit: Writes a commit with care."}, "commit same, listing text same"},
		{"another text", "2.1.200", false, []string{"commit: Writes one."}, `commit edited, listing text edited "Writes one." now "Writes a commit with care."`},
		{"the start of a text", "2.1.200", false, []string{"commit: Writes a com…"}, "commit same, listing text same in part"},
		{"the start of another", "2.1.200", false, []string{"commit: Writes the com…"}, `commit edited, listing text edited in part "Writes the com…" now "Writes a commi…"`},
		{"a masked text", "2.1.200", false, []string{"commit: Xxxxxx x xxxxxx xxxx xxxx."}, `commit edited, listing text edited "Xxxxxx x xxxxxx xxxx xxxx." now "Writes a commit with care."`},
		{"a text masked whole", "2.1.200", false, []string{"commit: xxxxxx x xxxxxx xxxx xxxx."}, "commit unknown"},
		{"a bare name", "2.1.200", false, []string{"commit"}, "commit unknown"},
		{"no entry", "2.1.200", false, []string{"init: The client's own."}, "commit unknown"},
		{"a newer client that agrees", "2.9.0", true, []string{"commit: Writes a commit with care."}, "commit same, digest same"},
		{"a newer client", "2.9.0", true, []string{"commit: Writes."}, `commit unknown, digest unknown "Writes." now "Writes a commit with care."`},
	} {
		r := session(w.shop, c.entries...)
		r.lines, r.last, r.version = nil, "", c.version
		r.prompt("hello")
		r.listing(true, c.digests, c.entries...)
		r.turn(100)
		s, f := find(t, w.log(r), w.options())
		equal(t, c.name, compared(s, f), c.want)
		if got := verdicts(s, f); strings.Contains(got, "divergent") {
			t.Errorf("%s: verdicts %s", c.name, got)
		}
	}
	// The text that was seen last counts, and the bare name that a digest stands for.
	r := session(w.shop, "commit: Writes.")
	r.listing(false, true, "commit: Writes a commit with care.")
	r.turn(100)
	s, f := find(t, w.log(r), w.options())
	equal(t, "listed again", compared(s, f), "commit same, digest same")
	text := strings.Replace(strings.Join(r.lines, "\n"), "- commit: Writes a commit with care.", "- commit", 1)
	s, f = find(t, w.write(".claude/projects/p/a.jsonl", text), w.options())
	equal(t, "a bare name", compared(s, f), "commit same, digest same")
}

func TestCompareBodies(t *testing.T) {
	w := newWorld(t)
	dir := slashed(filepath.Dir(w.skill(".claude/skills", "commit", "Writes.")))
	head := "Base directory for this skill: " + dir + "\n\n"
	for _, c := range []struct{ name, body, want string }{
		{"same", head + "Do commit.\n", "commit same, digest same, body same"},
		{"edited", head + "Did commit.\n", fmt.Sprintf("commit edited, digest same, body edited %q now %q", head+"Did commit.\n", head+"Do commit.\n")},
	} {
		r := session(w.shop, "commit: Writes.")
		r.call("commit", c.body)
		r.turn(20)
		s, f := find(t, w.log(r), w.options())
		equal(t, c.name, compared(s, f), c.want)
		if got := verdicts(s, f); strings.Contains(got, "divergent") {
			t.Errorf("%s: verdicts %s", c.name, got)
		}
	}
	// Two files with one name: nobody knows whose body it is.
	w.skill("shop/.claude/skills", "other", "Writes.\nname: commit")
	r := session(w.shop, "commit: Writes.", "other: Writes.")
	r.call("commit", head+"Did commit.\n")
	r.turn(20)
	s, f := find(t, w.log(r), w.options())
	if got := compared(s, f); strings.Contains(got, "body") {
		t.Errorf("two of a name: %s", got)
	}
}

func TestMayRender(t *testing.T) {
	for _, c := range []struct {
		body, seen string
		want       bool
	}{
		{"Do it.\n", "Do it.\n", true},
		{"Do it.\n", "Base directory for this skill: /a\n\nDo it.\n", true},
		{"Do it.\n", "Do it.\n\n\nARGUMENTS: now", true},
		{"Do it.\n", "Do it twice.\n", false},
		{"Do it.\n", "Did it.\n", false},
		{"Do $ARGUMENTS in ${CLAUDE_PLUGIN_ROOT}.\n", "Do all\nof it in /a.\n", true},
		{"Do $ARGUMENTS in ${CLAUDE_PLUGIN_ROOT}.\n", "Do all of it at /a.\n", false},
		{"Do $1.\n", "Do a.\n b.\n", true},
		{"Run !`date` and\n```!\nls\n```\n", "Run Monday and\na b\n", true},
		{"\\$5 is $0[1]", "$5 is five", true},
		{"", "", true},
		{"", "x", false},
	} {
		if got := mayRender(c.body, c.seen); got != c.want {
			t.Errorf("%q, %q: %v", c.body, c.seen, got)
		}
	}
}
