package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/skills"
)

// recordings is the folder of all families, beside the checkout.
func recordings(t testing.TB) string {
	root := os.Getenv("SKILLTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared")
	}
	root = filepath.Join(root, "conformance")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no recordings: %v (set SKILLTRACE_SHARED)", err)
	}
	return root
}

func loadAll(t testing.TB) []*Case {
	dirs, err := Find(recordings(t))
	if err != nil {
		t.Fatal(err)
	}
	cases := make([]*Case, len(dirs))
	for i, d := range dirs {
		if cases[i], err = Load(d); err != nil {
			t.Fatal(err)
		}
	}
	return cases
}

func (c *Case) id() string { return path.Join(c.Family, c.Scenario, c.Version) }

// TestRuns: every run has a log or ended too early to leave one, and every log
// has a run, or is an empty by-product or the warm-up of one.
func TestRuns(t *testing.T) {
	type count struct{ cases, runs, logs, agents, spare, without int }
	totals := map[string]*count{}
	for _, c := range loadAll(t) {
		n := totals[c.Family]
		if n == nil {
			n = new(count)
			totals[c.Family] = n
		}
		n.cases++
		n.runs += len(c.Runs)
		n.logs += len(c.Sessions())
		n.spare += len(c.Spare())
		n.without += len(c.WithoutLog())
		if filepath.Base(c.Dir) != c.Version {
			t.Errorf("%s: client_version is %s", c.Dir, c.Version)
		}
		given := make([][]Span, len(c.Runs))
		for _, l := range c.Sessions() {
			n.agents += len(l.Subagents)
			for _, s := range l.Spans {
				given[s.Run] = append(given[s.Run], s)
			}
			for _, k := range l.Runs {
				if s := c.Runs[k].Session; s != "" && s != l.ID {
					t.Errorf("%s run %d: log %s, want %s", c.id(), k, l.ID, s)
				}
			}
		}
		for i, r := range c.Runs {
			if r.Index != i {
				t.Errorf("%s: run %d stands at %d", c.id(), r.Index, i)
			}
			if !path.IsAbs(r.CWD) || r.Model == "" {
				t.Errorf("%s run %d: cwd %q, model %q", c.id(), i, r.CWD, r.Model)
			}
			if slices.Contains(c.WithoutLog(), i) {
				if r.ExitCode == 0 {
					t.Errorf("%s run %d: ended well and left no log", c.id(), i)
				}
				continue
			}
			// The spans of a run are all of its steps.
			slices.SortFunc(given[i], func(a, b Span) int { return a.From - b.From })
			at := 0
			for _, s := range given[i] {
				if s.From != at {
					t.Errorf("%s run %d: spans %v", c.id(), i, given[i])
				}
				at = s.To
			}
			if at != len(r.Prompts) {
				t.Errorf("%s run %d: %d steps, spans %v", c.id(), i, len(r.Prompts), given[i])
			}
		}
		for _, s := range c.Spare() {
			info, err := os.Stat(s)
			if err != nil {
				t.Error(err)
			} else if info.Size() > 0 && !strings.HasPrefix(filepath.Base(s), "agent-") {
				t.Errorf("%s: %s belongs to nothing", c.id(), s)
			}
		}
	}
	for _, family := range []string{"billing", "fuzz", "interactive", "lifecycle", "listing"} {
		if n := totals[family]; n != nil {
			t.Logf("%s: %d cases, %d runs, %d logs, %d subagents, %d spare logs, %d runs without a log", family, n.cases, n.runs, n.logs, n.agents, n.spare, n.without)
		}
	}
}

// TestTrees: the tree holds what readdir saw, in its order: after all changes in
// listing, before them in fuzz. All links lead somewhere.
func TestTrees(t *testing.T) {
	folders, links := 0, 0
	for _, c := range loadAll(t) {
		m, err := c.Tree()
		if err != nil {
			t.Error(err)
			continue
		}
		linked, _ := c.Links()
		for _, l := range linked {
			links++
			if real, err := m.Resolve(l.Path); err != nil || !strings.HasPrefix(real, c.Home) {
				t.Errorf("%s: link %s: %s, %v", c.id(), l.Path, real, err)
			}
		}
		for _, g := range c.Git {
			if _, err := m.Stat(path.Join(g, ".git")); err != nil {
				t.Errorf("%s: %v", c.id(), err)
			}
		}
		first := m.Clone()
		for _, r := range c.Runs {
			for _, ch := range r.BeforeRun {
				if err := c.Apply(m, ch); err != nil {
					t.Error(err)
				}
			}
			for _, s := range r.Prompts {
				if s.Change != nil {
					if err := c.Apply(m, *s.Change); err != nil {
						t.Error(err)
					}
				}
			}
		}
		for dir, want := range c.Readdir {
			folders++
			before, after := list(first, dir), list(m, dir)
			if !slices.Equal(after, want) && (c.Family != "fuzz" || !slices.Equal(before, want)) {
				t.Errorf("%s: %s holds %q, then %q, recorded %q", c.id(), dir, before, after, want)
			}
		}
	}
	t.Logf("%d folders with a recorded order, %d links", folders, links)
}

func list(m *skills.Memory, dir string) (names []string) {
	entries, _ := m.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return
}

// TestRecordedRequests: all requests are read, each once, and a recorded text
// without filler has the recorded hash.
func TestRecordedRequests(t *testing.T) {
	requests, blocks, texts, exact := 0, 0, 0, 0
	seen := map[string]bool{}
	for _, c := range loadAll(t) {
		numbers := map[[2]int]bool{}
		for r, err := range c.EachRequest() {
			if err != nil {
				t.Fatal(err)
			}
			requests++
			// Requests sent side by side may stand out of order.
			if at := [2]int{r.Run, r.N}; numbers[at] || r.N < 1 || r.Run < 0 || r.Run >= len(c.Runs) {
				t.Errorf("%s:%d: request %v", c.id(), r.Line, at)
			} else {
				numbers[at] = true
			}
			if r.Total > 0 && r.Total != r.Same+len(r.Blocks) || r.Model == "" || r.Kind == "" {
				t.Errorf("%s:%d: %d blocks and %d before, %d in all; model %q, kind %q", c.id(), r.Line, len(r.Blocks), r.Same, r.Total, r.Model, r.Kind)
			}
			for _, b := range r.Blocks {
				blocks++
				if !b.HasText || seen[b.SHA256] {
					continue
				}
				seen[b.SHA256] = true
				texts++
				if sum := sha256.Sum256([]byte(b.Text)); hex.EncodeToString(sum[:]) == b.SHA256 {
					exact++
				}
				if got := budget.Len16(b.Text); got != b.Chars {
					t.Errorf("%s:%d: a text of %d characters, recorded as %d", c.id(), r.Line, got, b.Chars)
				}
			}
			for _, k := range r.Catalogue {
				if got := budget.Len16(k.Text); got != k.Chars {
					t.Errorf("%s:%d: a catalogue of %d characters, recorded as %d", c.id(), r.Line, got, k.Chars)
				}
			}
		}
	}
	t.Logf("%d requests, %d blocks, %d different texts, %d of them with the recorded hash", requests, blocks, texts, exact)
}

// TestRecordedBundled: what is taken for the client's own entries is what each
// session lists beside the entries of its files.
func TestRecordedBundled(t *testing.T) {
	sessions, entries, cut, other := 0, 0, 0, 0
	for _, c := range loadAll(t) {
		given, err := c.Bundled()
		if err != nil {
			t.Fatal(err)
		}
		if given == nil {
			t.Errorf("%s: no bundled entries", c.id())
		}
		own, err := c.given(-1)
		if err != nil {
			t.Fatal(err)
		}
		if own == nil {
			continue
		}
		sessions++
		hidden := func(name string) bool {
			o := c.Settings.Overrides[name]
			return CompareVersions(c.Version, "2.1.129") >= 0 && (o == "off" || o == "user-invocable-only")
		}
		for _, g := range given {
			if hidden(g.Name) {
				continue
			}
			entries++
			// What is no entry of theirs looks like one: filler for an own one, or a
			// line of a description. A bare name may be filler as well.
			masked := func(o skills.Given) bool { return len(o.Name) == len(g.Name) && o.Text == "" && filled(g.Name, o.Name) }
			for len(own) > 0 && !masked(own[0]) && !slices.ContainsFunc(given, func(x skills.Given) bool { return x.Name == own[0].Name }) {
				other++
				own = own[1:]
			}
			if len(own) == 0 || own[0].Name != g.Name && !masked(own[0]) {
				t.Errorf("%s: %s is not listed, but %v", c.id(), g.Name, names(own))
				break
			}
			o := own[0]
			own = own[1:]
			whole := Same("- a: "+g.Text, "- a: "+o.Text, c.Filler())
			short := strings.TrimSuffix(o.Text, "…")
			switch {
			case whole:
			case o.Text == "", short != o.Text && Same("- a: "+budget.Cut16(g.Text, budget.Len16(short))+"…", "- a: "+o.Text, c.Filler()):
				cut++
			case strings.HasPrefix(o.Text, g.Text+"\n- "):
				other++
			default:
				t.Errorf("%s: %s is\n%q, not\n%q", c.id(), g.Name, o.Text, g.Text)
			}
			if o.Place != g.Place && o.Place != skills.PlaceBundled {
				t.Errorf("%s: %s at %s, not %s", c.id(), g.Name, o.Place, g.Place)
			}
		}
	}
	t.Logf("%d first listings with %d bundled entries, %d of them cut; %d that only look like one", sessions, entries, cut, other)
}

func names(given []skills.Given) (out []string) {
	for _, g := range given {
		out = append(out, g.Name)
	}
	return out
}
