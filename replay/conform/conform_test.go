package conform

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/conform/scenario"
)

// recordings is the folder with the recordings; the test is skipped where there
// is none.
func recordings(t *testing.T) string {
	root := os.Getenv("SKILLTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	root = filepath.Join(root, "conformance")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no recordings")
	}
	return root
}

// Every recording agrees with the rules, or what is missing to know is named.
func TestRecordings(t *testing.T) {
	dirs, err := scenario.Find(recordings(t))
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		dirs = slices.DeleteFunc(dirs, func(d string) bool { return !strings.HasSuffix(d, "/2.1.260") })
	}
	var mu sync.Mutex
	var sum Count
	var next sync.WaitGroup
	work := make(chan string)
	for range 2 {
		next.Go(func() {
			for d := range work {
				a := Run(d)
				mu.Lock()
				if a.Err != nil {
					t.Errorf("%s: %v", a.Case, a.Err)
				}
				n := 0
				for k, c := range a.Counts {
					if k != replay.CheckInvariant {
						n += c.Match
					}
					sum.Match += c.Match
					sum.Divergent += c.Divergent
					sum.Undetermined += c.Undetermined
				}
				// Nothing is listed where the Skill tool is denied.
				if n == 0 && len(a.Checks) == 0 && !strings.Contains(a.Case, "/denyall/") {
					t.Errorf("%s: nothing to check", a.Case)
				}
				for _, c := range a.Checks {
					switch {
					case c.Verdict == replay.Divergent:
						t.Errorf("%s: %s L%d %s: %s %s\n want %q\n have %q", a.Case, c.Kind, c.Where.Line, c.Skill, c.Rule, c.Reason, c.Expected, c.Observed)
					case c.Missing == "":
						t.Errorf("%s: %s L%d: undetermined, but nothing is missing", a.Case, c.Kind, c.Where.Line)
					}
				}
				mu.Unlock()
			}
		})
	}
	for _, d := range dirs {
		work <- d
	}
	close(work)
	next.Wait()
	t.Logf("%d recordings: %+v", len(dirs), sum)
	if sum.Undetermined*100 > sum.Match {
		t.Errorf("%d of %d checks are undetermined", sum.Undetermined, sum.Match+sum.Undetermined)
	}
}

// A recording that does not hold together is told: the checks can fail, each kind
// of them, and name the place.
func TestTampered(t *testing.T) {
	root := recordings(t)
	for _, tt := range []struct {
		name, dir, file string // file: a suffix of the paths of the files to change
		old, new        string
		kind            replay.CheckKind
	}{
		{"an entry of a listing", "lifecycle/plugin/2.1.332", ".jsonl", "- home-only:", "- home-only2:", replay.CheckListing},
		{"a description on disk", "lifecycle/plugin/2.1.332", "SKILL.md", "description: ", "description: Not ", replay.CheckListing},
		{"a text on disk", "lifecycle/forms/2.1.260", "SKILL.md", "\n---\n", "\n---\nSomething else.\n", replay.CheckBody},
		{"the file of old clients", "lifecycle/forms/2.0.30", "SKILL.md", "\n---\n", "\n---\nSomething else.\n", replay.CheckBody},
		{"a refusal", "lifecycle/forms/2.1.260", ".jsonl", "Unknown skill: ", "Unknown skills: ", replay.CheckRefusal},
		{"a note", "lifecycle/probe/2.1.332", ".jsonl", "instructions unchanged.", "instructions changed.", replay.CheckNote},
		{"a reattachment", "lifecycle/compact/2.1.332", ".jsonl", `"type":"invoked_skills","skills":[{"name":"`, `"type":"invoked_skills","skills":[{"name":"x`, replay.CheckReattachment},
		{"the true split of a request", "billing/shop/2.1.332", "truth.jsonl", `"reattachment": {"read": `, `"reattachment": {"read": 1`, CheckTokens},
		{"a listing's own count", "lifecycle/plugin/2.1.332", ".jsonl", `"skillCount":`, `"skillCount":1`, replay.CheckInvariant},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			changed := 0
			scene := filepath.Dir(tt.dir)
			for _, part := range []string{tt.dir, scene + "/files"} {
				from := filepath.Join(root, part)
				err := filepath.WalkDir(from, func(p string, d os.DirEntry, err error) error {
					if err != nil {
						return err
					}
					rel, err := filepath.Rel(root, p)
					if err != nil {
						return err
					}
					to := filepath.Join(dir, rel)
					if d.IsDir() {
						return os.MkdirAll(to, 0o755)
					}
					if d.Type()&os.ModeSymlink != 0 {
						target, err := os.Readlink(p)
						if err != nil {
							return err
						}
						return os.Symlink(target, to)
					}
					b, err := os.ReadFile(p)
					if err != nil {
						return err
					}
					text := string(b)
					if strings.HasSuffix(p, tt.file) && !strings.HasSuffix(p, "requests.jsonl") {
						changed += strings.Count(text, tt.old)
						text = strings.ReplaceAll(text, tt.old, tt.new)
					}
					return os.WriteFile(to, []byte(text), 0o644)
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if changed == 0 {
				t.Fatalf("%q is nowhere in %s", tt.old, tt.dir)
			}
			a := Run(filepath.Join(dir, tt.dir))
			if a.Err != nil {
				t.Fatal(a.Err)
			}
			if a.Counts[tt.kind].Divergent == 0 {
				t.Errorf("no divergent %s: %+v", tt.kind, a.Counts)
			}
			for _, c := range a.Checks {
				if c.Verdict == replay.Divergent && (c.Where.Line == 0 || c.Where.File == "") {
					t.Errorf("no place: %+v", c)
				}
			}
		})
	}
}

// The same recording gives the same checks.
func TestDeterministic(t *testing.T) {
	root := recordings(t)
	for _, d := range []string{"lifecycle/compact/2.1.332", "lifecycle/edit/2.1.140", "lifecycle/sub/2.0.76"} {
		one, two := Run(filepath.Join(root, d)), Run(filepath.Join(root, d))
		if one.Err != nil || two.Err != nil {
			t.Fatal(one.Err, two.Err)
		}
		for k, c := range one.Counts {
			if two.Counts[k] != c {
				t.Errorf("%s: %s %+v, then %+v", d, k, c, two.Counts[k])
			}
		}
		if !slices.EqualFunc(one.Checks, two.Checks, func(a, b replay.Check) bool {
			return a.Where == b.Where && a.Reason == b.Reason && a.Expected == b.Expected && a.Observed == b.Observed
		}) {
			t.Errorf("%s: different checks", d)
		}
	}
}
