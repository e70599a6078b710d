package why_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/skilltrace/skilltrace/bench/synth"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/replay/why"
)

// benchSize is the size of the made session, in bytes. That of a whole answer is to stay
// in proportion to it: 100 MB in less than a second.
const benchSize = 20 << 20

type made struct {
	bytes.Buffer
	name string
}

func (m *made) Close() error { return nil }

func madeSession(b *testing.B) []*made {
	b.Helper()
	var files []*made
	err := synth.Session(benchSize, func(name string) (io.WriteCloser, error) {
		files = append(files, &made{name: name})
		return files[len(files)-1], nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

// played replays the made session as the command does.
func played(b *testing.B, files []*made, table *rules.Table) *why.Session {
	source := func(f *made, agent string) replay.Source {
		return replay.Source{Name: f.name, Agent: agent, Records: jsonl.Read(f.name, bytes.NewReader(f.Bytes()), replay.Reading())}
	}
	var subs []replay.Source
	for _, f := range files[1:] {
		subs = append(subs, source(f, f.name))
	}
	s, err := replay.Observe(source(files[0], ""), subs...)
	if err != nil {
		b.Fatal(err)
	}
	found, err := local.NewFinder(local.Options{Table: table}).Find(s)
	if err != nil {
		b.Fatal(err)
	}
	r, courses := replay.RunCourses(s, &found.Inputs, replay.Comparison{RulesExact: found.RulesExact, History: found.Inputs.History})
	return why.Prepare(r, courses, nil)
}

func claude(b *testing.B) *rules.Table {
	table, err := rules.For("claude-code")
	if err != nil {
		b.Fatal(err)
	}
	return table
}

// BenchmarkWhy is the whole way from the log to the answers for one skill.
func BenchmarkWhy(b *testing.B) {
	files, table := madeSession(b), claude(b)
	size := 0
	for _, f := range files {
		size += f.Len()
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		s := played(b, files, table)
		a := s.Ask("skill-15")
		for i := range a.Questions {
			s.Explain(&a.Subject, &a.Questions[i])
		}
		if !a.Subject.Known {
			b.Fatal("the skill is not known")
		}
	}
}

// BenchmarkAsk is one skill, when the session is read, and BenchmarkSurvey all of them.
func BenchmarkAsk(b *testing.B) {
	s := played(b, madeSession(b), claude(b))
	b.ReportAllocs()
	for b.Loop() {
		a := s.Ask("skill-15")
		for i := range a.Questions {
			s.Explain(&a.Subject, &a.Questions[i])
		}
	}
}

func BenchmarkSurvey(b *testing.B) {
	s := played(b, madeSession(b), claude(b))
	b.ReportAllocs()
	b.ReportMetric(float64(len(s.Names())), "skills")
	for b.Loop() {
		var c why.Census
		c.Add(0, s)
		c.Skills()
	}
}
