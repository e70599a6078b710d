package regress

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/conform"
	"github.com/skilltrace/skilltrace/replay/conform/scenario"
	"github.com/skilltrace/skilltrace/replay/relist"
	"github.com/skilltrace/skilltrace/skills"
)

// some: without SKILLTRACE_CORPUS=all one in so many recordings is tried.
const some = 10

// edited is a tree in which one file has another text.
type edited struct {
	skills.Tree
	path, text string
}

func (e edited) ReadFile(name string) ([]byte, error) {
	if path.Clean(name) == e.path {
		return []byte(e.text), nil
	}
	return e.Tree.ReadFile(name)
}

// TestAgainstPrediction edits the description of one skill of each recording, and
// compares the listings that are made anew with those that the whole reference
// implementation predicts from the edited files.
func TestAgainstPrediction(t *testing.T) {
	dirs, err := scenario.Find(filepath.Join(shared(t), "conformance"))
	if err != nil || len(dirs) == 0 {
		t.Skipf("the recordings are not beside the repository: %v", err)
	}
	count := map[string]int{}
	for i, dir := range dirs {
		if os.Getenv("SKILLTRACE_CORPUS") != "all" && i%some != 0 {
			continue
		}
		rnd := rand.New(rand.NewPCG(1, uint64(i)))
		err := conform.Sessions(dir, func(s *replay.Session, in *replay.Inputs, cmp replay.Comparison) {
			if in.Files == nil {
				return
			}
			for range 3 {
				tryEdit(t, dir, s, in, cmp, rnd, count)
			}
		})
		if err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	t.Log(count)
	if count["by files"] == 0 || count["by log"] == 0 {
		t.Error("nothing was compared")
	}
}

func tryEdit(t *testing.T, dir string, s *replay.Session, in *replay.Inputs, cmp replay.Comparison, rnd *rand.Rand, count map[string]int) {
	t.Helper()
	r, courses := replay.RunCourses(s, in, cmp)
	a := &r.Agents[0]
	if len(a.Visibility) == 0 {
		return
	}
	v := &a.Visibility[len(a.Visibility)-1]
	m, ok := courses[0].At(v.Event)
	if !ok || m.Missing() != "" {
		return
	}
	var own []skills.Status
	times := map[string]int{}
	for _, st := range m.Skills() {
		times[st.Skill.Name]++
	}
	for _, st := range m.Skills() {
		if times[st.Skill.Name] > 1 {
			continue // which of them is meant only its text tells
		}
		if _, stands := v.Skills.From(st.Skill.Name); stands && st.Reason == skills.Listed && st.Skill.Source != skills.Plugin && st.Skill.Kind == skills.KindSkill && !st.NameOnly && st.Activated == 0 {
			own = append(own, st)
		}
	}
	if len(own) == 0 {
		return
	}
	k := own[rnd.IntN(len(own))].Skill
	text := "---\nname: " + k.Name + "\ndescription: " + strings.Repeat("x ", rnd.IntN(700)) + "end\n---\nbody\n"
	if n, ok := k.Front.Name(); ok {
		text = strings.Replace(text, "name: "+k.Name, "name: "+n, 1)
	} else {
		text = strings.Replace(text, "name: "+k.Name+"\n", "", 1)
	}
	tree := func(t skills.Tree) skills.Tree { return edited{t, k.Path, text} }
	changed := *in
	changed.Files = in.Files.Map(tree)
	want, _ := replay.RunCourses(s, &changed, cmp)
	alone := skills.NewMemory()
	if err := alone.Write("/c/"+path.Base(k.Dir)+"/SKILL.md", []byte(text)); err != nil {
		return
	}
	set := NewSet("edited", alone, []string{"/c"})
	blind := *in
	blind.Files, blind.Usage = nil, nil
	blindResult, blindCourses := replay.RunCourses(s, &blind, cmp)
	counted := blind
	counted.Usage = in.Usage
	countedResult, countedCourses := replay.RunCourses(s, &counted, cmp)
	byFiles, known := Prepare(r, courses, in, &relist.Known{Complete: true}), &relist.Known{}
	if st, err := (&Point{s: byFiles, seen: v, Event: v.Event}).State(nil, nil); err == nil && len(st.Sheets) > 0 {
		known.Budget = st.Sheets[0].Budget
	}
	for _, by := range []struct {
		how     string
		session *Session
	}{{"by files", byFiles}, {"by log", Prepare(blindResult, blindCourses, &blind, known)}, {"by counts", Prepare(countedResult, countedCourses, &counted, known)}} {
		p := &Point{s: by.session, seen: &by.session.Result.Agents[0].Visibility[len(a.Visibility)-1], Event: v.Event}
		st, err := p.State(set, nil)
		if err != nil {
			count[by.how+", no listing"]++
			continue
		}
		for i := range st.Sheets {
			sheet := &st.Sheets[i]
			if !sheet.From.Whole && sheet.Of(k.Name) != nil {
				count["edited in the session too"]++
				continue
			}
			before, after := effectOf(a, sheet), (*replay.Effect)(nil)
			if before == nil || before.Missing != "" {
				count[by.how+", not predicted"]++
				continue
			}
			for j := range want.Agents[0].Predicted {
				if e := &want.Agents[0].Predicted[j]; e.Kind == replay.Listing && e.Cause == before.Cause && e.Initial == before.Initial {
					after = e
				}
			}
			if after == nil || after.Missing != "" || len(after.Entries) != len(before.Entries) {
				// With other texts the log no longer tells when the client noticed a file.
				count[by.how+", no prediction"]++
				continue
			}
			if by.how == "by log" && (sheet.From.Hidden() > 0 || after.Demand > sheet.Budget || sheet.Over()) {
				count[by.how+", open"]++ // ranks, or what was cut, are not in the log
				continue
			}
			if by.how == "by counts" {
				over := after.Demand > sheet.Budget || sheet.Over()
				byUse := sheet.From.Size.Overflow == budget.OverflowGreedy || sheet.From.Size.Overflow == budget.OverflowStrip
				if sheet.From.Hidden() > 0 || over && !byUse {
					count[by.how+", open"]++ // what was cut is not in the log
					continue
				}
				if over {
					count[by.how+", over"]++
				}
			}
			count[by.how]++
			if sheet.Text != after.Text {
				t.Errorf("%s %s: %s (%s): %s", dir, by.how, k.Name, s.File, firstDifference(sheet.Text, after.Text))
			}
		}
	}
}

// effectOf is the predicted listing that a sheet stands for.
func effectOf(a *replay.AgentResult, s *Sheet) *replay.Effect {
	for i := len(a.Predicted) - 1; i >= 0; i-- {
		e := &a.Predicted[i]
		if e.Kind == replay.Listing && (e.Cause < s.From.Event && e.Text == s.Old || e.Cause == s.From.Event && e.Unlogged) {
			return e
		}
	}
	return nil
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		var x, y string
		if i < len(g) {
			x = g[i]
		}
		if i < len(w) {
			y = w[i]
		}
		if x != y {
			return fmt.Sprintf("line %d of %d and %d:\n  got  %.120q\n  want %.120q", i+1, len(g), len(w), x, y)
		}
	}
	return "equal"
}
