package fileops

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits on what is parsed: a longer or deeper command is only searched for the
// skill files that it names.
const (
	maxCommand = 128 << 10 // bytes
	maxDepth   = 100       // nested lists, substitutions and shells
	maxOps     = 10_000
)

// shell is the state of a command being followed.
type shell struct {
	place Place
	src   string // of the script being followed
	cwd   string // "" if unknown
	ops   []Op
	depth int
	ended bool // by exit
}

// data is what flows into or out of a command: a text, the content of a file,
// or something unknown.
type data struct {
	text  string
	from  string // a path; Text is then unused
	known bool
}

// join is what two commands print one after the other.
func join(a, b data) data {
	switch {
	case !a.known || !b.known || len(a.text)+len(b.text) > maxOutput:
		return data{}
	case b.from == "" && b.text == "":
		return a
	case a.from == "" && a.text == "":
		return b
	case a.from != "" || b.from != "":
		return data{}
	}
	return data{text: a.text + b.text, known: true}
}

// script follows a whole script. With sure, its last command is known to have
// succeeded, and with it all that && ties to it.
func (s *shell) script(src string, sure bool) {
	outer := s.src
	s.src = src
	defer func() { s.src = outer }()
	if len(src) > maxCommand || s.depth > maxDepth || nests(src) {
		s.lost(src)
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	if err != nil {
		s.lost(src)
		return
	}
	s.list(file.Stmts, data{}, true, sure)
}

// nests reports whether a source opens more brackets than any sane one, whose
// parsing would take a deep stack.
func nests(src string) bool {
	depth := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '(', '{':
			if depth++; depth > 10*maxDepth {
				return true
			}
		case ')', '}':
			depth = max(depth-1, 0)
		}
	}
	return false
}

// list follows statements one after the other and gives what they print. With
// run, they are known to be reached; with succeeded, the last one to succeed.
func (s *shell) list(stmts []*syntax.Stmt, in data, run, succeeded bool) data {
	out := data{known: true}
	for i, st := range stmts {
		o, _ := s.stmt(st, in, run, succeeded && i == len(stmts)-1)
		out = join(out, o)
		if s.ended {
			break
		}
	}
	return out
}

// inside follows something that runs in a shell of its own: what it does to the
// working directory ends with it.
func (s *shell) inside(follow func() data) data {
	cwd, ended := s.cwd, s.ended
	out := follow()
	s.cwd, s.ended = cwd, ended
	return out
}

// stmt follows one statement. It gives what the statement prints and whether it
// is expected to succeed: true for commands that fail only where something is
// wrong (mkdir, printf), false for questions (test, grep) and for what is not
// known.
func (s *shell) stmt(st *syntax.Stmt, in data, run, succeeded bool) (out data, expected bool) {
	if s.depth++; s.depth > maxDepth {
		s.lost(s.slice(st))
		s.depth--
		return data{}, false
	}
	defer func() { s.depth-- }()
	if !run {
		// Whether it runs at all is open: whatever it would do may be done.
		before, cwd, ended := len(s.ops), s.cwd, s.ended
		s.stmt(st, in, true, false)
		s.doubt(before)
		if s.cwd != cwd {
			s.cwd = ""
		}
		s.ended = ended
		return data{}, false
	}
	s.substitutions(st)
	in = s.input(st, in)
	succeeded = succeeded && !st.Negated && !st.Background
	switch cmd := st.Cmd.(type) {
	case nil:
		out, expected = data{known: true}, true
	case *syntax.CallExpr:
		out, expected = s.call(cmd, in)
	case *syntax.BinaryCmd:
		out, expected = s.binary(cmd, in, succeeded)
	case *syntax.Subshell:
		out = s.inside(func() data { return s.list(cmd.Stmts, in, true, succeeded) })
	case *syntax.Block:
		out = s.list(cmd.Stmts, in, true, succeeded)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			out, expected = s.stmt(cmd.Stmt, in, true, succeeded)
		}
	case *syntax.DeclClause:
		out, expected = data{known: true}, true
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		out = data{known: true}
	default:
		// Loops, conditions and functions are not followed.
		s.lost(s.slice(st))
	}
	out = s.output(st, out)
	return out, expected && !st.Negated
}

func (s *shell) binary(cmd *syntax.BinaryCmd, in data, succeeded bool) (data, bool) {
	switch cmd.Op {
	case syntax.AndStmt:
		a, ok := s.stmt(cmd.X, in, true, succeeded)
		if s.ended {
			return a, false
		}
		b, ok2 := s.stmt(cmd.Y, in, ok || succeeded, succeeded)
		return join(a, b), ok && ok2
	case syntax.OrStmt:
		a, ok := s.stmt(cmd.X, in, true, false)
		if s.ended {
			return a, false
		}
		s.stmt(cmd.Y, in, false, false)
		if !ok {
			a = data{}
		}
		return a, ok
	default: // a pipe
		piped := s.inside(func() data { o, _ := s.stmt(cmd.X, in, true, false); return o })
		if cmd.Op != syntax.Pipe {
			piped = data{}
		}
		expected := false
		out := s.inside(func() data {
			var o data
			o, expected = s.stmt(cmd.Y, piped, true, succeeded)
			return o
		})
		return out, expected
	}
}

// substitutions follows the commands inside the words of a statement, which run
// before it.
func (s *shell) substitutions(st *syntax.Stmt) {
	visit := func(n syntax.Node) {
		syntax.Walk(n, func(n syntax.Node) bool {
			var stmts []*syntax.Stmt
			switch n := n.(type) {
			case *syntax.CmdSubst:
				stmts = n.Stmts
			case *syntax.ProcSubst:
				stmts = n.Stmts
			default:
				return true
			}
			s.inside(func() data { return s.list(stmts, data{}, true, false) })
			return false
		})
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr, *syntax.DeclClause, *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		visit(cmd)
	}
	for _, r := range st.Redirs {
		if r.Word != nil {
			visit(r.Word)
		}
		if r.Hdoc != nil {
			visit(r.Hdoc)
		}
	}
}

// input is what a statement reads, given what is piped into it.
func (s *shell) input(st *syntax.Stmt, in data) data {
	for _, r := range st.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			text, ok := s.document(r)
			in = data{text: text, known: ok}
			if !ok && r.Hdoc != nil {
				in.text = s.slice(r.Hdoc)
			}
		case syntax.WordHdoc:
			w := s.word(r.Word)
			in = data{text: w.text + "\n", known: w.known}
		case syntax.RdrIn:
			w := s.word(r.Word)
			in = data{}
			if w.known && w.text == "/dev/null" {
				in.known = true
			} else if p := s.resolve(w.text); w.known && p != "" {
				in = data{from: p, known: true}
			}
		case syntax.DplIn, syntax.RdrInOut:
			in = data{}
		}
	}
	return in
}

// output writes what a statement prints where its redirections send it, and
// gives what is left for a pipe.
func (s *shell) output(st *syntax.Stmt, out data) data {
	last := -1 // the redirection that gets the output
	for i, r := range st.Redirs {
		if writes(r) && fd(r) == "1" {
			last = i
		}
	}
	for i, r := range st.Redirs {
		if r.Op == syntax.RdrInOut {
			s.redirect(r, data{})
			continue
		}
		if !writes(r) {
			if r.Op == syntax.DplOut && fd(r) == "1" {
				out = data{} // to another descriptor, wherever that leads
			}
			continue
		}
		content := data{known: true}
		switch {
		case i == last:
			content = out
		case fd(r) != "1":
			content = data{} // errors
		}
		s.redirect(r, content)
	}
	if last >= 0 {
		return data{known: true}
	}
	return out
}

// writes reports whether a redirection opens a file for writing.
func writes(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.RdrClob, syntax.AppOut, syntax.RdrAll, syntax.AppAll:
		return true
	}
	return false
}

// fd is the descriptor that a redirection changes.
func fd(r *syntax.Redirect) string {
	if r.N == nil {
		return "1"
	}
	return r.N.Value
}

func (s *shell) redirect(r *syntax.Redirect, content data) {
	w := s.word(r.Word)
	kind := Write
	if r.Op == syntax.AppOut || r.Op == syntax.AppAll || r.Op == syntax.RdrInOut {
		kind = Append
	}
	if !w.known {
		s.lost(w.src)
		return
	}
	s.write(kind, w.text, content)
}

// write puts content into a file.
func (s *shell) write(kind Kind, name string, content data) {
	if strings.HasPrefix(name, "/dev/") {
		return
	}
	p := s.resolve(name)
	switch {
	case p == "":
		if concerns(name) {
			s.add(Op{Unknown: true})
		}
	case !content.known:
		s.add(Op{Kind: kind, Path: p, Unknown: true})
	case content.from == "":
		s.add(Op{Kind: kind, Path: p, Text: content.text})
	case content.from == p && kind == Write:
		s.add(Op{Kind: kind, Path: p}) // emptied before it is read
	case kind == Write:
		s.add(Op{Kind: Copy, Path: p, From: content.from})
	default:
		s.add(Op{Kind: kind, Path: p, Unknown: true})
	}
}

// lost notes what cannot be followed: the skill files that a source names.
func (s *shell) lost(src string) {
	for _, p := range s.mentions(src) {
		s.add(Op{Path: p, Unknown: true})
	}
}

// doubt makes all ops from one on Unknown. A doubtful move leaves both ends open.
func (s *shell) doubt(from int) {
	ops := s.ops[from:]
	s.ops = s.ops[:from:from]
	for _, op := range ops {
		if op.Kind == Move && op.From != "" {
			s.add(Op{Kind: Move, Path: op.From, Unknown: true})
		}
		s.add(Op{Kind: op.Kind, Path: op.Path, Unknown: true})
	}
}

// add notes an op. Over the limit nothing is known any more.
func (s *shell) add(op Op) {
	switch n := len(s.ops); {
	case n < maxOps:
		s.ops = append(s.ops, op)
	case n == maxOps:
		s.ops = append(s.ops, Op{Unknown: true})
	}
}

// target is a path given to a command that puts something there.
func (s *shell) target(name string) (p string, folder bool) {
	folder = strings.HasSuffix(name, "/") || name == "." || name == ".." || strings.HasSuffix(name, "/.") || strings.HasSuffix(name, "/..")
	return s.resolve(name), folder
}

// below is where an entry goes that is moved or copied into a folder.
func below(dir, from string) string { return path.Join(dir, path.Base(from)) }
