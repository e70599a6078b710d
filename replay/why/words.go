package why

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/lexical"
	"github.com/skilltrace/skilltrace/skills"
)

// asked are the facts about what a prompt said. It decides nothing.
func (q *query) asked(n int, out *Question) Step {
	s := Step{Gate: Asked, State: Info, Where: out.Where}
	out.Words.Mode = q.mode[n]
	for _, i := range q.moved[n] {
		c := &q.agent.Agent.Modes[i]
		if c.Mode == "" {
			s.Notes = append(s.Notes, fmt.Sprintf("plan mode was left in the course of the turn (%s, line %d)", c.By, c.Where.Line))
		} else {
			s.Notes = append(s.Notes, fmt.Sprintf("%s mode from line %d on, in the course of the turn (%s)", c.Mode, c.Where.Line, c.By))
		}
	}
	return s
}

// Explain adds to a question what takes longer to find out: how the words of its prompt
// compare with those of the skill and of all others that were listed, and which entries
// of the listing repeat the skill's.
func (s *Session) Explain(sub *Subject, q *Question) {
	s.compare(sub, q)
	s.otherwise(sub, q)
	a := q.agent
	at, ok := a.spans[q.span].Skills.From(sub.Name)
	if !ok || a.Agent.Events[at].Kind != replay.Listing {
		return
	}
	step := q.Step(Announced)
	step.Notes = append(step.Notes, a.repeats(at, sub.Name)...)
}

// otherwise says what can be done where the skill was visible and not chosen.
func (s *Session) otherwise(sub *Subject, q *Question) {
	if !q.NotChosen() {
		return
	}
	step := q.Step(Called)
	if len(q.Words.Lacking) > 0 && !q.Words.Named {
		step.Advice = append(step.Advice, "write words of such prompts into its description, where they tell of the skill: asked names those that it lacks")
	}
	if m, ok := q.agent.course.At(q.agent.spans[q.span].Event); ok && m.Missing() == "" {
		for _, st := range s.statuses(&m, sub.Name) {
			if !st.Skill.Front.Flag("user-invocable", m.Options().Dialect) {
				return
			}
		}
	}
	step.Advice = append(step.Advice, "type /"+sub.Name+", which needs no choice of the model")
}

func (s *Session) compare(sub *Subject, q *Question) {
	a := q.agent
	sp := &a.spans[q.span]
	w := &q.Words
	w.Typed = typedIn(q.Text, sub.called())
	w.Named = w.Typed || namedIn(q.Text, sub.called())
	w.Language = lexical.Language(q.Text)
	w.Listed = sp.Skills.Len()
	texts := s.texts(a, q.span)
	text := texts(sub.Name)
	c := s.corpus(a)
	at, listed := c.at[entryKey(sub.Name, text)]
	if _, stands := sp.Skills.From(sub.Name); !stands || !listed {
		if text = s.describe(a, q.span, sub.Name); text == "" {
			return
		}
		w.Shared = lexical.New([]string{sub.Name + " " + text}).Shared(q.Text, 0)
	} else {
		w.Shared = c.index.Shared(q.Text, at)
		scores := c.index.Scores(q.Text)
		if w.Score = scores[at]; w.Score > 0 {
			w.Rank = 1
			for i, score := range scores {
				if score < w.Score || i == at {
					continue
				}
				name := c.entries[i].name
				if _, stands := sp.Skills.From(name); !stands || texts(name) != c.entries[i].text {
					continue
				}
				if score > w.Score {
					w.Rank++
				} else {
					w.Tied++
				}
			}
		} else if len(w.Shared) > 0 {
			step := q.Step(Asked)
			step.Notes = append(step.Notes, "what it shares stands in all entries, and does not tell skills apart")
		}
	}
	w.SkillLanguage = lexical.Language(text)
	w.Foreign = lexical.Foreign(w.Language, w.SkillLanguage)
	if q.NotChosen() && !w.Foreign {
		w.Lacking = lacking(q.Text, sub.Name+" "+text)
	}
}

// lacking are words of a prompt that a text does not have. Of scripts that are written
// without blanks there are none: pairs of characters are no words.
func lacking(prompt, text string) []string {
	const most = 12
	has := map[string]bool{}
	for _, word := range lexical.Words(text) {
		has[word] = true
	}
	var out []string
	for _, word := range lexical.Words(prompt) {
		if has[word] || lexical.Common(word) || len([]rune(word)) < 3 || strings.IndexFunc(word, wordLetter) < 0 {
			continue
		}
		has[word] = true
		if out = append(out, word); len(out) == most {
			break
		}
	}
	return out
}

// wordLetter reports whether a character is a letter of a script that parts words.
func wordLetter(r rune) bool {
	return unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// corpus are all entries that an agent was ever sent, with each description that they
// had: the whole one where files tell it, else what the model saw. How rare a word is
// is counted in all of them; ranks are among those that stood there at a prompt.
func (s *Session) corpus(a *agent) *corpus {
	if a.corpus != nil {
		return a.corpus
	}
	c := &corpus{at: map[string]int{}}
	var docs []string
	add := func(name, text string) {
		key := entryKey(name, text)
		if _, ok := c.at[key]; ok {
			return
		}
		c.at[key] = len(docs)
		c.entries = append(c.entries, worded{name, text})
		docs = append(docs, name+" "+text)
	}
	var last []skills.Entry
	for n := range a.spans {
		if list := a.entries(n); !sameEntries(list, last) {
			for i := range list {
				add(list[i].Name, list[i].Full)
			}
			last = list
		}
	}
	for _, i := range a.listings {
		l := a.Agent.Events[i].Listing
		for _, line := range skills.ParseListing(l.Content, l.Names, a.blank...) {
			if line.Name != "" {
				add(line.Name, line.Text)
			}
		}
	}
	c.index = lexical.New(docs)
	a.corpus = c
	return c
}

// entryKey tells entries apart by name and text.
func entryKey(name, text string) string { return name + "\xff" + text }

// entries are those of a whole listing at a prompt, nil where no file tells them.
func (a *agent) entries(n int) []skills.Entry {
	if m, ok := a.course.At(a.spans[n].Event); ok && m.Missing() == "" {
		return m.Entries()
	}
	return nil
}

// sameEntries reports whether two lists are one.
func sameEntries(a, b []skills.Entry) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// describe is the description of a skill at a prompt, "" if it is not known.
func (s *Session) describe(a *agent, n int, name string) string {
	if t := s.texts(a, n)(name); t != "" {
		return t
	}
	m, ok := a.course.At(a.spans[n].Event)
	if !ok || m.Missing() != "" {
		return ""
	}
	for _, st := range s.statuses(&m, name) {
		if d, ok := st.Skill.Front.Description(m.Options().Dialect); ok {
			return d
		}
	}
	return ""
}

// texts gives the description of each name at a prompt.
func (s *Session) texts(a *agent, n int) func(string) string {
	full := s.fullTexts(a.entries(n))
	sp := &a.spans[n]
	return func(name string) string {
		if t := full[name]; t != "" {
			return t
		}
		if at, ok := sp.Skills.From(name); ok && a.Agent.Events[at].Kind == replay.Listing {
			return a.lines(at)[name].Text
		}
		return ""
	}
}

// fullTexts are the whole texts of entries, by name.
func (s *Session) fullTexts(list []skills.Entry) map[string]string {
	if len(list) == 0 {
		return nil
	}
	m := s.full[&list[0]]
	if m == nil {
		m = make(map[string]string, len(list))
		for i := range list {
			m[list[i].Name] = list[i].Full
		}
		s.full[&list[0]] = m
	}
	return m
}

// namedIn reports whether a text holds a name, in any case, with no letter or digit
// beside it.
func namedIn(text string, names []string) bool {
	text = strings.ToLower(text)
	for _, name := range names {
		name = strings.ToLower(name)
		if name == "" {
			continue
		}
		for from := 0; ; {
			i := strings.Index(text[from:], name)
			if i < 0 {
				break
			}
			i += from
			if edge(text, i-1) && edge(text, i+len(name)) {
				return true
			}
			from = i + 1
		}
	}
	return false
}

// typedIn reports whether a text begins with /NAME, alone or in a stack.
func typedIn(text string, names []string) bool {
	for word := range strings.FieldsSeq(text) {
		name, ok := strings.CutPrefix(word, "/")
		if !ok {
			return false
		}
		for _, n := range names {
			if n == name {
				return true
			}
		}
	}
	return false
}

// edge reports whether no word goes on at a byte of a text.
func edge(text string, i int) bool {
	if i < 0 || i >= len(text) {
		return true
	}
	c := text[i]
	return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-')
}
