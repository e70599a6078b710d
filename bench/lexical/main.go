// Command lexical measures what the lexical score is worth: over recorded sessions, where
// the skill ranks that the model called first, by the words that the prompt shares with
// all listed texts.
//
//	lexical DIR…
//
// Each folder has its own rows. A question is a prompt of a main loop for which the model
// called a skill, and the first skill it called was listed then. Questions with the same
// prompt, skill and texts count once: recordings repeat a scenario for many versions.
// Two ways to weigh are set beside each other, as well as what would come of chance.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/lexical"
	"github.com/skilltrace/skilltrace/replay/local"
	"github.com/skilltrace/skilltrace/replay/regress"
	"github.com/skilltrace/skilltrace/replay/regress/mine"
	"github.com/skilltrace/skilltrace/replay/regress/spec"
	"github.com/skilltrace/skilltrace/replay/rules"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: lexical DIR…")
		os.Exit(2)
	}
	if err := table(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "lexical:", err)
		os.Exit(1)
	}
}

// header begins the table.
const header = `| sessions | prompts | weighing | first | within three | mean reciprocal rank | no shared word |
|---|--:|---|--:|--:|--:|--:|
`

// table writes the rows of all folders.
func table(w io.Writer, dirs []string) error {
	var b strings.Builder
	b.WriteString(header)
	for _, dir := range dirs {
		list, err := questions(dir)
		if err != nil {
			return err
		}
		rows(&b, filepath.Base(dir), list)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// question is a prompt, the texts that were listed, and the one of them that was called.
type question struct {
	prompt string
	names  []string
	texts  []string
	called int
}

// questions are those of all logs in a folder, each once, in the order of the logs.
func questions(dir string) ([]question, error) {
	found, err := jsonl.Scope{}.Resolve(dir)
	if err != nil {
		return nil, err
	}
	table, err := rules.For("claude-code")
	if err != nil {
		return nil, err
	}
	finder := local.NewFinder(local.Options{Table: table})
	var out []question
	seen := map[string]bool{}
	for i := range found.Sessions {
		path := found.Sessions[i].Path
		if path == "" || found.Sessions[i].Empty {
			continue
		}
		s, err := replay.Observe(replay.Source{Name: path, Records: jsonl.ReadFile(path, replay.Reading())})
		if err != nil {
			return nil, err
		}
		in, err := finder.Find(s)
		if err != nil {
			continue // older than all rules
		}
		// Nothing of this machine is an input: only what the log holds counts.
		in.Inputs.Files, in.Inputs.Usage = nil, nil
		r, courses := replay.RunCourses(s, &in.Inputs, replay.Comparison{RulesExact: in.RulesExact})
		session := regress.Prepare(r, courses, &in.Inputs, nil)
		for _, c := range mine.From(r, mine.Options{}) {
			if q, ok := ask(session, &c); ok && !seen[q.key()] {
				seen[q.key()] = true
				out = append(out, q)
			}
		}
	}
	return out, nil
}

// ask is the question of a case, if it is one.
func ask(s *regress.Session, c *mine.Case) (question, bool) {
	if c.Kind != mine.Positive {
		return question{}, false
	}
	p, err := s.Find(&spec.At{Prompt: c.Prompt})
	if err != nil {
		return question{}, false
	}
	st, err := p.State(nil, nil)
	if err != nil {
		return question{}, false
	}
	q := question{prompt: p.Text, called: -1}
	for i := range st.Entries {
		e := &st.Entries[i]
		if e.Shown == replay.ShownAbsent {
			continue
		}
		if e.Name == c.Skills[0].Name {
			q.called = len(q.texts)
		}
		q.names, q.texts = append(q.names, e.Name), append(q.texts, e.Description)
	}
	return q, q.called >= 0
}

func (q *question) key() string {
	return strings.Join(append(slices.Concat(q.names, q.texts), q.names[q.called], q.prompt), "\x00")
}

// sums are what comes of many questions.
type sums struct{ first, three, reciprocal, none float64 }

func (s *sums) add(rank int) {
	switch {
	case rank == 0:
		s.none++
		return
	case rank == 1:
		s.first++
		fallthrough
	case rank <= 3:
		s.three++
	}
	s.reciprocal += 1 / float64(rank)
}

func rows(b *strings.Builder, name string, list []question) {
	var emphasised, plain, chance sums
	for i := range list {
		q := &list[i]
		weighted, flat := make([]lexical.Document, len(q.texts)), make([]lexical.Document, len(q.texts))
		for j := range q.texts {
			weighted[j] = lexical.Described(q.names[j], q.texts[j])
			flat[j] = lexical.Document{Text: q.names[j] + " " + q.texts[j]}
		}
		rank, _ := lexical.NewWeighted(weighted).Rank(q.prompt, q.called)
		emphasised.add(rank)
		rank, _ = lexical.NewWeighted(flat).Rank(q.prompt, q.called)
		plain.add(rank)
		n := float64(len(q.texts))
		chance.first += 1 / n
		chance.three += min(3/n, 1)
		for j := 1; j <= len(q.texts); j++ {
			chance.reciprocal += 1 / float64(j) / n
		}
	}
	n := float64(max(len(list), 1))
	part := func(x float64) string { return fmt.Sprintf("%.0f %%", 100*x/n) }
	for _, row := range []struct {
		how string
		s   *sums
	}{{"when-to-use words count twice", &emphasised}, {"all words count once", &plain}} {
		of := func(x float64) string { return fmt.Sprintf("%.0f (%s)", x, part(x)) }
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %.2f | %s |\n", name, len(list), row.how, of(row.s.first), of(row.s.three), row.s.reciprocal/n, of(row.s.none))
	}
	fmt.Fprintf(b, "| %s | %d | by chance | %s | %s | %.2f | |\n", name, len(list), part(chance.first), part(chance.three), chance.reciprocal/n)
}
