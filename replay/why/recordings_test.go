package why_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/conform"
	"github.com/skilltrace/skilltrace/replay/conform/scenario"
	"github.com/skilltrace/skilltrace/replay/why"
	"github.com/skilltrace/skilltrace/skills"
)

// some: without SKILLTRACE_CORPUS=all one in so many recordings is asked.
const some = 12

// TestRecordings asks every recording for every skill, with all inputs known. What the
// model saw is in the log: the answers must fit it, and hardly any may stay open.
func TestRecordings(t *testing.T) {
	dirs, err := scenario.Find(filepath.Join(shared(), "conformance"))
	if err != nil || len(dirs) == 0 {
		t.Skipf("the recordings are not beside the repository: %v", err)
	}
	open := map[string]int{}
	questions := 0
	for i, dir := range dirs {
		if os.Getenv("SKILLTRACE_CORPUS") != "all" && i%some != 0 {
			continue
		}
		err := conform.Sessions(dir, func(s *replay.Session, in *replay.Inputs, cmp replay.Comparison) {
			r, courses := replay.RunCourses(s, in, cmp)
			session := why.Prepare(r, courses, nil)
			agree := listingsAgree(r)
			for _, name := range session.Names() {
				a := session.Ask(name)
				for j := range a.Questions {
					q := &a.Questions[j]
					questions++
					if why := misfit(q, agree); why != "" {
						t.Errorf("%s %s prompt %d (line %d): %s\n%s", dir, name, q.Prompt, q.Where.Line, why, steps(q))
					}
					if q.Verdict.State == "undetermined" {
						open[string(q.Verdict.Gate)+": "+q.Step(q.Verdict.Gate).Missing+": "+shortReason(q.Verdict.Reason)]++
					}
				}
				checkSurvey(t, dir, session, a)
			}
		})
		if err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	t.Logf("%d questions", questions)
	for _, k := range slices.Sorted(maps.Keys(open)) {
		t.Logf("%d %s", open[k], k)
	}
}

func shortReason(s string) string {
	_, after, _ := strings.Cut(s, "is not known: ")
	return after
}

func steps(q *why.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", q.Verdict.Reason)
	for _, s := range q.Steps {
		fmt.Fprintf(&b, "  %s %s: %s %q\n", s.Gate, s.State, s.Reason, s.Notes)
	}
	return b.String()
}

// misfit says how an answer departs from what the model saw, "" if it fits.
func misfit(q *why.Question, agree bool) string {
	announced, described, present := q.Step(why.Announced), q.Step(why.Described), q.Step(why.Present)
	stands := q.Shown != replay.ShownAbsent
	late := strings.Contains(announced.Reason, "in the middle of the turn")
	v := q.Verdict
	before := slices.Index(why.Gates, v.Gate) < slices.Index(why.Gates, why.Asked)
	switch {
	case stands && announced.State != why.Passed:
		return "it was listed"
	case stands && present.State != why.Passed:
		return "it stood there"
	case stands && (q.Shown == replay.ShownFull) != (described.State == why.Passed) && described.State != why.Info:
		return "it was shown " + string(q.Shown)
	case !stands && !late && present.State == why.Passed:
		return "it did not stand there"
	case !stands && !late && v.State == why.Failed && v.Gate == why.Called && q.Step(why.Called).Reason == "not called":
		return "it was not visible"
	case stands && v.State == why.Failed && before && v.Gate != why.Described && v.Gate != why.Loaded && v.Gate != why.Eligible:
		return "it was visible"
	}
	if !agree {
		return ""
	}
	for _, n := range slices.Concat(described.Notes, []string{described.Reason, announced.Reason}) {
		if strings.Contains(n, "by the inputs read now it would") || strings.Contains(n, "though by the files read now") {
			return n
		}
	}
	return ""
}

// listingsAgree reports whether every listing of a session is the predicted one, and
// none of its names is replaced by filler.
func listingsAgree(r *replay.Result) bool {
	for _, a := range r.Agents {
		for _, v := range a.Visibility {
			for name := range v.Skills.All() {
				if skills.Masked(name) {
					return false
				}
			}
		}
		for _, c := range a.Checks {
			if (c.Kind == replay.CheckListing || c.Kind == replay.CheckRelist) && c.Verdict != replay.Match {
				return false
			}
		}
	}
	return true
}

func checkSurvey(t *testing.T, dir string, s *why.Session, a *why.Answer) {
	t.Helper()
	want := fmt.Sprint(s.Tally(a))
	got, _ := s.Survey(a.Subject.Asked)
	if fmt.Sprint(got) != want {
		t.Errorf("%s %s: survey %v, questions %s", dir, a.Subject.Asked, got, want)
	}
}

// TestRecordedWording asks recordings of what clients made of an awk program, which is
// another thing with each of these versions.
func TestRecordedWording(t *testing.T) {
	fence := "[line 6 of its file, “awk '{print $1, $2}' f.txt”, came as “awk '{print beta gamma, delta eps}' f.txt” line 8 of its file, “and `awk '{print $3}'`”, came as “and `awk '{print z q}'`”]"
	for version, want := range map[string]map[string]string{
		"2.0.30":  {"awk-fence": "[]", "awk-noargs": "[]"},
		"2.1.76":  {"awk-fence": fence, "awk-noargs": "[line 6 of its file, “awk '{print $1, $NF}' f.txt | sed 's/$ARGUMENTS/x/'”, came as “awk '{print , $NF}' f.txt | sed 's//x/'”]", "sh-fence-bash": "[line 6 of its file, “!`echo in fence`”: what came is the output of the command]"},
		"2.1.332": {"awk-fence": fence},
	} {
		dir := filepath.Join(shared(), "conformance", "lifecycle", "subst", version)
		if _, err := os.Stat(dir); err != nil {
			t.Skipf("the recordings are not beside the repository: %v", err)
		}
		found := map[string]bool{}
		err := conform.Sessions(dir, func(s *replay.Session, in *replay.Inputs, cmp replay.Comparison) {
			r, courses := replay.RunCourses(s, in, cmp)
			session := why.Prepare(r, courses, nil)
			for name, want := range want {
				for _, q := range session.Ask(name).Questions {
					if q.Step(why.Called).State != why.Passed || !strings.HasPrefix(q.Step(why.Called).Reason, "by the model") {
						continue
					}
					found[name] = true
					if got := fmt.Sprint(q.Step(why.Delivered).Notes); got != want {
						t.Errorf("%s %s (line %d): %s, want %s", version, name, q.Where.Line, got, want)
					}
				}
			}
		})
		if err != nil || len(found) != len(want) {
			t.Errorf("%s: found %v: %v", version, found, err)
		}
	}
}
