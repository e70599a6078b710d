package why_test

import (
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/replay/why"
)

// FuzzAsk asks damaged logs for every skill that they name, and for one that they do not.
func FuzzAsk(f *testing.F) {
	for i := range suite {
		b := &book{version: suite[i].version}
		suite[i].build(b)
		f.Add(strings.Join(b.rows, "\n"))
		if n := len(b.rows); n > 2 {
			f.Add(strings.Join(append([]string{b.rows[n-1]}, b.rows[1:n-1]...), "\n")) // out of order, and without a root
		}
	}
	table, err := rules.For("claude-code")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, log string) {
		s, err := replay.Observe(replay.Source{Name: "log", Records: jsonl.Read("log", strings.NewReader(log), replay.Reading())})
		if err != nil {
			t.Fatal(err)
		}
		found, err := local.NewFinder(local.Options{Table: table}).Find(s)
		if err != nil {
			return
		}
		r, courses := replay.RunCourses(s, &found.Inputs, replay.Comparison{RulesExact: found.RulesExact, History: found.Inputs.History})
		session := why.Prepare(r, courses, nil)
		for _, name := range append(session.Names(), "db-migrat") {
			a := session.Ask(name)
			for i := range a.Questions {
				session.Explain(&a.Subject, &a.Questions[i])
				checkShape(t, &a.Questions[i])
			}
			checkSurvey(t, "", session, a)
		}
	})
}
