package listing_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/fixtures"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/listing"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

var at = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

func table(t testing.TB) *rules.Table {
	t.Helper()
	table, err := rules.For(rules.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// inputs are those of a process with the skills of a tree in /set.
func inputs(t testing.TB, tree skills.Tree, env string) *replay.Inputs {
	table := table(t)
	p := replay.Process{SkillDirs: []string{"/set"}, Model: "claude-sonnet-4-5", Env: map[string]string{}}
	if env != "" {
		p.Env[budget.EnvCharBudget] = env
	}
	return &replay.Inputs{Processes: []replay.Process{p}, Files: replay.NewFiles(tree), FolderOrder: true, Rules: func(v string) *rules.Rules {
		r, err := table.At(v)
		if err != nil {
			t.Fatal(err)
		}
		return &r
	}}
}

// set is a tree with a skill for each name=length, the length of its description.
func set(t testing.TB, list string) *skills.Memory {
	t.Helper()
	m := skills.NewMemory()
	for _, item := range strings.Fields(list) {
		name, n, _ := strings.Cut(item, "=")
		length := 0
		if _, err := fmt.Sscan(n, &length); err != nil {
			t.Fatal(err)
		}
		if err := m.Write("/set/"+name+"/SKILL.md", []byte("---\ndescription: "+strings.Repeat("x", length)+"\n---\n# "+name+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func forms(l *listing.Listing) string {
	var out []string
	for _, e := range l.Entries {
		out = append(out, fmt.Sprintf("%s:%s:%d", e.Name, e.Shown, e.CapCut+e.BudgetCut))
	}
	return strings.Join(out, " ")
}

// What a client would be sent now is what the recorded client was sent: the skills, the
// counts and the client's own entries are those of its session.
func TestRecorded(t *testing.T) {
	dir := filepath.Join("..", "..", "fixtures", "overflow")
	logs, err := filepath.Glob(filepath.Join(dir, "projects", "*", "*.jsonl.gz"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	s := fixtures.Session(t, logs[0])
	var want *replay.Event
	for i := range s.Main().Events {
		if e := &s.Main().Events[i]; e.Kind == replay.Listing && want == nil {
			want = e
		}
	}
	tree := skills.NewMemory()
	own := map[string]bool{}
	entries, err := os.ReadDir(filepath.Join(dir, "skills"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, "skills", e.Name(), "SKILL.md"))
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Write("/set/"+e.Name()+"/SKILL.md", data); err != nil {
			t.Fatal(err)
		}
		own[e.Name()] = true
	}
	in := inputs(t, tree, "")
	in.Given = replay.GivenIn(skills.ParseListing(want.Listing.Content, want.Listing.Names), own, in.Rules("2.1.332").Discovery)
	in.Usage = &replay.Usage{Counts: map[string]replay.UsageCount{}}
	counts, err := os.ReadFile(filepath.Join(dir, ".claude.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Uses map[string]struct {
			Count int   `json:"usageCount"`
			Last  int64 `json:"lastUsedAt"`
		} `json:"skillUsage"`
	}
	if err := json.Unmarshal(counts, &file); err != nil {
		t.Fatal(err)
	}
	for name, u := range file.Uses {
		in.Usage.Counts[name] = replay.UsageCount{Count: u.Count, LastUsedMS: u.Last}
	}
	l := listing.Make(replay.NewStarts(in), "2.1.332", want.Where.Time)
	if l.Text != want.Listing.Content {
		t.Errorf("listing of now:\n%s\nrecorded:\n%s", l.Text, want.Listing.Content)
	}
}

func TestForms(t *testing.T) {
	for _, c := range []struct{ version, env, set, want string }{
		{"2.1.332", "", "a=10 b=20", "a:full:0 b:full:0"},
		{"2.1.332", "40", "a=10 b=20", "a:full:0 b:name_only:20"},
		{"2.1.332", "", "a=1600 b=0", "a:shortened:65 b:full:0"}, // the first line of its body stands in
		{"2.1.100", "", "a=300", "a:shortened:51"},
		{"2.1.100", "90", "a=100 b=20", "a:shortened:62 b:full:0"},
		{"2.1.100", "30", "a=100 b=20", "a:name_only:100 b:name_only:20"},
		{"2.1.18", "50", "a=10 b=20 c=10", "a:full:0 b:full:0 c:absent:10"},
		{"2.0.30", "150", "a=10 b=20", "a:full:0 b:absent:20"},
	} {
		l := listing.Make(replay.NewStarts(inputs(t, set(t, c.set), c.env)), c.version, at)
		if got := forms(l); got != c.want {
			t.Errorf("%s, budget %q, %s: %s, want %s", c.version, c.env, c.set, got, c.want)
		}
		if f := l.Fit(); (f.Fewest == 0) != (l.Count(replay.ShownFull) == len(l.Entries)) {
			t.Errorf("%s, budget %q, %s: %d to cut, and %s", c.version, c.env, c.set, f.Fewest, forms(l))
		}
	}
}

func TestFit(t *testing.T) {
	l := listing.Make(replay.NewStarts(inputs(t, set(t, "a=1600 b=100 c=10"), "1000")), "2.1.332", at)
	f := l.Fit()
	words := func(list []listing.Cut) string {
		var out []string
		for _, c := range list {
			out = append(out, fmt.Sprintf("%s:%d>%d", l.Entries[c.Entry].Name, c.Had, c.Now))
		}
		return strings.Join(out, " ")
	}
	// 1,536 + 100 + 10, five for each of a, b, c, and two breaks: 1,663 of 1,000.
	got := fmt.Sprintf("%d: %s; %d: %s or %s; %d", f.Fewest, words(f.Cap), f.Over, words(f.Longest), words(f.Evenly), f.Room)
	if want := "727: a:1600>1536; 663: a:1536>873 or a:1536>917 b:100>60 c:10>6; 1663"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, list := range map[string][]listing.Cut{"longest": f.Longest, "evenly": f.Evenly} {
		sizes := map[string]int{"a": 1536, "b": 100, "c": 10}
		for _, c := range list {
			sizes[l.Entries[c.Entry].Name] = c.Now
		}
		for _, more := range []int{0, 1} {
			tree := set(t, fmt.Sprintf("a=%d b=%d c=%d", sizes["a"]+more, sizes["b"], sizes["c"]))
			cut := listing.Make(replay.NewStarts(inputs(t, tree, "1000")), "2.1.332", at)
			if whole := cut.Count(replay.ShownFull) == 3; whole != (more == 0) {
				t.Errorf("%s, one more %d: %s", name, more, forms(cut))
			}
		}
	}
	short := listing.Make(replay.NewStarts(inputs(t, set(t, "a=10 b=10"), "12")), "2.1.332", at).Fit()
	if short.Short != 1 || short.Longest != nil {
		t.Errorf("too little room for one character each: %+v", short)
	}
	def := listing.Make(replay.NewStarts(inputs(t, set(t, "a=1000 b=1500 c=1500 d=1500 e=1500 f=1500"), "")), "2.1.332", at)
	fit := def.Fit()
	in := inputs(t, set(t, "a=1000 b=1500 c=1500 d=1500 e=1500 f=1500"), "")
	in.Processes[0].Settings.Fraction = fit.Fraction
	if wide := listing.Make(replay.NewStarts(in), "2.1.332", at); fit.Fraction == 0 || wide.Over() != 0 || wide.Budget-fit.Room > 100 {
		t.Errorf("a fraction of %v gives %d of %d", fit.Fraction, wide.Budget, fit.Room)
	}
}

func TestCompare(t *testing.T) {
	make := func(list string) *listing.Listing {
		return listing.Make(replay.NewStarts(inputs(t, set(t, list), "60")), "2.1.332", at)
	}
	var got []string
	for _, c := range listing.Compare(make("a=10 b=20 old=1"), make("a=30 b=20 new=1")) {
		form := func(e *listing.Entry) replay.Shown {
			if e == nil {
				return replay.ShownAbsent
			}
			return e.Shown
		}
		got = append(got, fmt.Sprintf("%s %s>%s %t", c.Name, form(c.Before), form(c.After), c.Own()))
	}
	if want := "a full>full true; b full>name_only false; new absent>full true; old full>absent true"; strings.Join(got, "; ") != want {
		t.Errorf("%s, want %s", strings.Join(got, "; "), want)
	}
}

// A row of the sweep is what that version shows, from the first to the last of its range.
func TestSweep(t *testing.T) {
	tree := set(t, "a=3000 b=3000 c=2500 d=120")
	table := table(t)
	starts := replay.NewStarts(inputs(t, tree, ""))
	now := listing.Make(starts, table.Latest, at)
	spans, err := listing.Sweep(table, starts, at, now)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range spans {
		got = append(got, fmt.Sprintf("%s-%s %d %s", s.Since, s.Until, s.Budget, forms(s.Listing)))
		for _, v := range []string{s.Since, s.Until} {
			if v == "" {
				continue
			}
			l := listing.Make(replay.NewStarts(inputs(t, tree, "")), v, at)
			if forms(l) != forms(s.Listing) || l.Budget != s.Budget {
				t.Errorf("%s: %d %s, its row says %d %s", v, l.Budget, forms(l), s.Budget, forms(s.Listing))
			}
		}
		if full := s.Count(replay.ShownFull); full+len(s.Losses) != len(now.Entries) {
			t.Errorf("%s: %d full, %d lost", s.Since, full, len(s.Losses))
		}
	}
	want := []string{
		"2.0.30-2.0.76 15000 a:full:0 b:full:0 c:full:0 d:full:0",
		"2.0.77-2.1.31 15000 a:full:0 b:full:0 c:full:0 d:full:0",
		"2.1.32-2.1.85 16000 a:full:0 b:full:0 c:full:0 d:full:0",
		"2.1.86-2.1.104 8000 a:shortened:2751 b:shortened:2751 c:shortened:2251 d:full:0",
		"2.1.105- 8000 a:shortened:1465 b:shortened:1465 c:shortened:965 d:full:0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s", strings.Join(got, "\n"))
	}
}

func BenchmarkMake(b *testing.B) {
	var list strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&list, "skill-%05d=%d ", i, 40+i%300)
	}
	in := inputs(b, set(b, list.String()), "")
	b.ReportAllocs()
	for b.Loop() {
		listing.Make(replay.NewStarts(in), "2.1.332", at)
	}
}
