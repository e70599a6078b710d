package fileops

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is a shell word: its value where it is literal, and its source.
type word struct {
	text  string
	known bool
	src   string
}

// word evaluates a word as bash does, without any expansion but that of ~ and
// $HOME where the home is known. A word with another expansion, an unquoted
// pattern or braces is not known.
func (s *shell) word(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	out := word{src: s.slice(w), known: true}
	var b strings.Builder
	for i, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if ok && i == 0 && strings.HasPrefix(lit.Value, "~") {
			rest := lit.Value[1:]
			if s.place.Home == "" || !(rest == "" && len(w.Parts) == 1 || strings.HasPrefix(rest, "/")) {
				out.known = false
				return out
			}
			b.WriteString(s.place.Home)
			lit = &syntax.Lit{Value: rest}
			part = lit
		}
		if !s.part(&b, part, false) {
			out.known = false
			return out
		}
	}
	out.text = b.String()
	return out
}

func (s *shell) part(b *strings.Builder, part syntax.WordPart, quoted bool) bool {
	switch part := part.(type) {
	case *syntax.Lit:
		if quoted {
			unescape(b, part.Value, "$`\"\\")
			return true
		}
		return bare(b, part.Value)
	case *syntax.SglQuoted:
		if part.Dollar {
			text, _, ok := escapes(part.Value, ansiC)
			b.WriteString(text)
			return ok
		}
		b.WriteString(part.Value)
		return true
	case *syntax.DblQuoted:
		for _, p := range part.Parts {
			if !s.part(b, p, true) {
				return false
			}
		}
		return true
	case *syntax.ParamExp:
		// Plain $HOME and ${HOME}; unquoted, a blank in it would split the word.
		home := s.place.Home
		if home == "" || s.slice(part) != "$HOME" && s.slice(part) != "${HOME}" || !quoted && strings.ContainsAny(home, " \t\n*?[") {
			return false
		}
		b.WriteString(home)
		return true
	}
	return false
}

// bare adds unquoted text; false if it holds a pattern or braces.
func bare(b *strings.Builder, s string) bool {
	// [ is a command, and a bracket alone is no pattern.
	brackets := strings.Contains(s, "]") && s != "[" && s != "]"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case c == '*' || c == '?' || c == '[' && brackets:
			return false
		case c == '{' && strings.ContainsAny(s[i:], ",.") && strings.Contains(s[i:], "}"):
			return false
		default:
			b.WriteByte(c)
		}
	}
	return true
}

// unescape adds s without the backslashes that stand before one of the given
// characters, and without escaped line ends.
func unescape(b *strings.Builder, s, special string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if s[i+1] == '\n' {
				i++
				continue
			}
			if strings.IndexByte(special, s[i+1]) >= 0 {
				i++
			}
		}
		b.WriteByte(s[i])
	}
}

// document is the text of a here-document; false if it has expansions.
func (s *shell) document(r *syntax.Redirect) (string, bool) {
	if r.Hdoc == nil {
		return "", true
	}
	var raw strings.Builder
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", false
		}
		raw.WriteString(lit.Value)
	}
	text := raw.String()
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			lines[i] = strings.TrimLeft(l, "\t")
		}
		text = strings.Join(lines, "\n")
	}
	for _, part := range r.Word.Parts {
		if lit, ok := part.(*syntax.Lit); !ok || strings.Contains(lit.Value, `\`) {
			return text, true // a quoted delimiter: taken as it is
		}
	}
	var b strings.Builder
	unescape(&b, text, "$`\\")
	return b.String(), true
}

// slice is the source text of a node.
func (s *shell) slice(n syntax.Node) string {
	from, to := n.Pos().Offset(), n.End().Offset()
	if from > to || to > uint(len(s.src)) {
		return ""
	}
	return s.src[from:to]
}
