package mine

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/fixtures"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

var update = flag.Bool("update", false, "write the golden files")

// replayed replays a log as that of a stranger, of whom no file is known.
func replayed(t testing.TB, name string, data []byte) *replay.Result {
	t.Helper()
	s, err := replay.Observe(replay.Source{Name: name, Records: jsonl.Read(name, bytes.NewReader(data), replay.Reading())})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := run(t, s, "claude-code")
	if r == nil {
		return nil
	}
	return r.Result
}

// prepared is a replayed session and what regress needs of it.
type prepared struct {
	*replay.Result
	courses []replay.Course
	in      *replay.Inputs
}

// run replays a session by the rules of a client, with the skill files of some folders;
// the error says that there are no rules for its version.
func run(t testing.TB, s *replay.Session, client string, folders ...string) (*prepared, error) {
	t.Helper()
	table, err := rules.For(client)
	if err != nil {
		t.Fatal(err)
	}
	found, err := local.NewFinder(local.Options{Table: table, Skills: folders}).Find(s)
	if err != nil {
		return nil, err
	}
	r, courses := replay.RunCourses(s, &found.Inputs, replay.Comparison{RulesExact: found.RulesExact})
	r.Client, r.Model, r.Window = found.Client, found.Model, found.Window
	return &prepared{r, courses, &found.Inputs}, nil
}

// shared is the folder of recordings and public logs beside the checkout.
func shared(t testing.TB, folder string) string {
	t.Helper()
	dir := os.Getenv("SKILLTRACE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	dir = filepath.Join(dir, folder)
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no recordings: set SKILLTRACE_SHARED or put them in ../shared")
	}
	return dir
}

// logs are the main logs in a folder.
func logs(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "subagents":
			return filepath.SkipDir
		case strings.HasSuffix(path, ".jsonl") && e.Name() != "requests.jsonl" && e.Name() != "truth.jsonl" && !strings.HasPrefix(e.Name(), "agent-"):
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// some: without SKILLTRACE_CORPUS=all one in so many recordings is tried.
const some = 5

// TestFixturesAgree cuts a fixture of every public log and recording, with each of its
// prompts as a case, and compares what it shows with the whole log. Where the log holds
// a listing, one of its skills is then given a long description: the listing that would
// have been sent must be the same by fixture and by log.
func TestFixturesAgree(t *testing.T) {
	for _, family := range []string{"corpus", "conformance"} {
		t.Run(family, func(t *testing.T) {
			dir := shared(t, family)
			var sum tally
			for i, path := range logs(t, dir) {
				if os.Getenv("SKILLTRACE_CORPUS") != "all" && family == "conformance" && i%some != 0 {
					continue
				}
				rel, err := filepath.Rel(dir, path)
				if err != nil {
					t.Fatal(err)
				}
				whole, err := run(t, fixtures.Session(t, path), "claude-code")
				if err != nil {
					continue // no rules for such a client
				}
				sum.compare(t, rel, path, whole, "claude-code")
			}
			sum.check(t)
		})
	}
}

// TestPredicted cuts fixtures of clients that write no listing to their logs: what the
// model saw follows from skill files, by fixture and by log the same.
func TestPredicted(t *testing.T) {
	dir := shared(t, "conformance")
	var sum tally
	for i, path := range logs(t, dir) {
		scenario, _, ok := strings.Cut(filepath.ToSlash(path), "/sessions/")
		skills := filepath.Join(filepath.Dir(scenario), "files", "dev", ".claude", "skills")
		if _, err := os.Stat(skills); err != nil || !ok || os.Getenv("SKILLTRACE_CORPUS") != "all" && i%some != 0 {
			continue
		}
		whole, err := run(t, fixtures.Session(t, path), "claude-code", skills)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		if v := whole.Agents[0].Visibility; len(v) > 0 && v[0].Predicted {
			sum.compare(t, rel, path, whole, "claude-code", skills)
		}
	}
	sum.check(t)
}

// TestDialects cuts fixtures of clients that are only described, whose prompts show the
// listing.
func TestDialects(t *testing.T) {
	for _, client := range []string{"article", "mini-cc", "agent-sdk"} {
		t.Run(client, func(t *testing.T) {
			var sum tally
			for _, path := range logs(t, filepath.Join("..", "..", "..", "fixtures", "dialects", client)) {
				whole, err := run(t, fixtures.Session(t, path), client)
				if err != nil {
					t.Fatal(err)
				}
				sum.compare(t, filepath.Base(path), path, whole, client)
			}
			sum.check(t)
		})
	}
}

type tally struct {
	logs, prompts, listings, agree, tried, edited, redacted, specs, skipped, asked int
	whole, cut                                                                     int64
}

// check logs what was compared, and fails the test unless all agreed.
func (n *tally) check(t *testing.T) {
	t.Helper()
	t.Logf("%d logs, %d prompts, %d of them with a listing: %d agree, %d with another description, %d redacted, %d in specs (%d skipped), %d askable; %d bytes cut to %d",
		n.logs, n.prompts, n.listings, n.agree, n.edited, n.redacted, n.specs, n.skipped, n.asked, n.whole, n.cut)
	if n.agree != n.prompts || n.redacted != n.prompts || n.edited != n.tried || n.asked != n.prompts || n.listings == 0 {
		t.Error("not all agree")
	}
}

// compare cuts the fixture of a log for all its prompts, and compares it with the log.
func (n *tally) compare(t *testing.T, rel, path string, whole *prepared, client string, folders ...string) {
	t.Helper()
	cases := From(whole.Result, Options{all: true})
	if len(cases) == 0 {
		return
	}
	n.logs++
	n.prompts += len(cases)
	for i := range cases {
		if cases[i].Listed > 0 {
			n.listings++
		}
	}
	cut := func(x *Redactor) (*prepared, *Fixture, []Case) {
		f, err := Cut(whole.Result, cases, jsonl.ReadFile(path, jsonl.Options{}), x)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			return nil, nil, nil
		}
		s, err := replay.Observe(replay.Source{Name: path, Records: jsonl.Read(path, bytes.NewReader(f.Text), replay.Reading())})
		if err != nil {
			t.Fatal(err)
		}
		again, err := run(t, s, client, folders...)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			return nil, nil, nil
		}
		got, err := Agree(whole.Result, again.Result, f, x != nil)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
		}
		return again, f, got
	}
	again, f, got := cut(nil)
	if again == nil {
		return
	}
	if again.Client != whole.Client || again.Model != whole.Model || again.Window != whole.Window || again.Session.CWD != whole.Session.CWD || again.Session.ID != whole.Session.ID {
		t.Errorf("%s: the fixture shows %s %s %d %s, the log %s %s %d %s", rel, again.Client, again.Model, again.Window, again.Session.CWD, whole.Client, whole.Model, whole.Window, whole.Session.CWD)
	}
	n.agree += len(got)
	if info, err := os.Stat(path); err == nil {
		n.whole += info.Size()
	}
	n.cut += int64(len(f.Text))
	old, now := regress.Prepare(whole.Result, whole.courses, whole.in, nil), regress.Prepare(again.Result, again.courses, again.in, nil)
	here, there := Settle(now, nil, got), Settle(old, nil, cases)
	for i := range here {
		if !whole.left() && !slices.Equal(here[i].Skills, there[i].Skills) {
			t.Errorf("%s: prompt %d: %+v, want %+v", rel, got[i].Prompt, here[i].Skills, there[i].Skills)
		}
	}
	for i := range got {
		if got[i].Listed > 0 && !got[i].Predicted {
			n.tried++
			if a, b := withLonger(t, old, cases[i]), withLonger(t, now, got[i]); a != b {
				t.Errorf("%s: prompt %d: with a longer description the log would have\n%s\nthe fixture\n%s", rel, got[i].Prompt, a, b)
			} else {
				n.edited++
			}
		}
	}
	n.passes(t, rel, now, here)
	n.askable(t, rel, f, got)
	if again, _, got := cut(NewRedactor(whole.Session)); got != nil {
		n.redacted += len(got)
		s := regress.Prepare(again.Result, again.courses, again.in, nil)
		n.passes(t, rel+", redacted", s, Settle(s, nil, got))
	}
}

// passes writes a spec of the cases and runs it on their fixture.
func (n *tally) passes(t *testing.T, rel string, fixture *regress.Session, cases []Case) {
	t.Helper()
	if len(cases) == 0 {
		return
	}
	var b bytes.Buffer
	if err := WriteSpec(&b, nil, []Group{{rel, cases}}); err != nil {
		t.Fatal(err)
	}
	s, err := spec.Read(spec.DefaultName, b.Bytes())
	if err != nil {
		t.Errorf("%s: %v\n%s", rel, err, b.String())
		return
	}
	passes(t, rel, s, fixture, nil)
	n.specs += len(s.Cases)
	for i := range s.Cases {
		if s.Cases[i].Skip != "" {
			n.skipped++
		}
	}
}

// left reports whether a rewind left prompts: those of a fixture then have other numbers.
func (p *prepared) left() bool {
	return slices.ContainsFunc(p.Session.Main().Events, func(e replay.Event) bool { return e.Kind == replay.Prompt && e.Abandoned })
}

// withLonger is what the model would have seen at a case's prompt if one of the skills
// that stood there had a long description.
func withLonger(t *testing.T, s *regress.Session, c Case) string {
	t.Helper()
	p, err := s.Find(&spec.At{UUID: c.Where.UUID})
	if err != nil {
		p, err = s.Find(&spec.At{Prompt: c.Prompt})
	}
	if err != nil {
		t.Fatal(err)
	}
	name := ""
	for n, shown := range p.Seen().Skills.All() {
		if shown != replay.ShownAbsent && !strings.ContainsAny(n, ":/") {
			name = n
			break
		}
	}
	m := skills.NewMemory()
	if name != "" {
		if err := m.Write("/skills/"+name+"/SKILL.md", []byte("---\nname: "+name+"\ndescription: "+strings.Repeat("Deploys what was built. ", 60)+"\n---\nbody\n")); err != nil {
			return err.Error()
		}
	}
	b, err := p.Compare(regress.NewSet("longer", m, []string{"/skills"}), nil)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for i := range b.After.Entries {
		e := &b.After.Entries[i]
		fmt.Fprintf(&out, "%s %s %s\n", e.Name, e.Shown, e.Text)
	}
	return out.String()
}
