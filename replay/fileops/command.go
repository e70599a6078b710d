package fileops

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// readers change no file, whatever they are given. Most answer a question or
// fail easily; what they print is not known.
var readers = map[string]bool{
	"[": true, "awk": true, "base64": true, "basename": true, "bat": true, "cksum": true, "cmp": true, "column": true, "comm": true,
	"cut": true, "date": true, "df": true, "diff": true, "dirname": true, "du": true, "env": true, "expr": true, "false": true,
	"fgrep": true, "egrep": true, "file": true, "fold": true, "grep": true, "head": true, "hexdump": true, "jq": true, "less": true,
	"ls": true, "md5sum": true, "more": true, "nl": true, "od": true, "paste": true, "printenv": true, "readlink": true,
	"realpath": true, "rev": true, "rg": true, "rmdir": true, "seq": true, "sha1sum": true, "sha256sum": true, "stat": true,
	"strings": true, "tac": true, "tail": true, "test": true, "tr": true, "tree": true, "type": true, "uniq": true, "wc": true,
	"which": true, "whoami": true, "xxd": true, "yq": true,
}

// quiet change no file and are expected to succeed; they print nothing.
var quiet = map[string]bool{
	"true": true, ":": true, "sleep": true, "wait": true, "export": true, "unset": true, "set": true, "shopt": true, "chmod": true,
	"chown": true, "sync": true, "clear": true, "umask": true, "trap": true, "alias": true, "hash": true, "readonly": true, "declare": true,
}

// gitReaders are the git commands that leave the working tree alone.
var gitReaders = map[string]bool{
	"add": true, "blame": true, "branch": true, "cat-file": true, "check-ignore": true, "commit": true, "config": true, "describe": true,
	"diff": true, "fetch": true, "grep": true, "log": true, "ls-files": true, "ls-tree": true, "push": true, "remote": true,
	"rev-parse": true, "shortlog": true, "show": true, "status": true, "tag": true,
}

// interpreters run the script that is their first operand. What a script does
// cannot be told, but to name it is to read it.
var interpreters = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "dash": true, "source": true, ".": true, "python": true, "python3": true, "node": true,
	"bun": true, "deno": true, "perl": true, "ruby": true, "php": true, "tsx": true,
}

// call follows a simple command.
func (s *shell) call(cmd *syntax.CallExpr, in data) (out data, expected bool) {
	if len(cmd.Args) == 0 {
		return data{known: true}, true // assignments
	}
	args := make([]word, len(cmd.Args))
	known := true
	for i, a := range cmd.Args {
		args[i] = s.word(a)
		known = known && args[i].known
	}
	name := args[0]
	if !name.known {
		return s.unfollowed(cmd, args, in)
	}
	base := name.text[strings.LastIndexByte(name.text, '/')+1:]
	if name.text != base && !strings.HasPrefix(name.text, "/bin/") && !strings.HasPrefix(name.text, "/usr/bin/") {
		return s.unfollowed(cmd, args, in)
	}
	rest := args[1:]
	switch {
	case quiet[base]:
		return data{known: true}, true
	case readers[base]:
		if base == "awk" && mentionsInPlace(rest) {
			return s.unfollowed(cmd, args, in)
		}
		return data{}, false
	case base == "git" && len(rest) > 0 && rest[0].known && gitReaders[rest[0].text]:
		return data{}, true
	case base == "find" && !slices.ContainsFunc(rest, func(w word) bool {
		return !w.known && strings.HasPrefix(w.src, "-") || strings.HasPrefix(w.text, "-exec") || strings.HasPrefix(w.text, "-ok") || strings.HasPrefix(w.text, "-fprint") || strings.HasPrefix(w.text, "-fls") || w.text == "-delete"
	}):
		return data{}, true
	case base == "sort" && !slices.ContainsFunc(rest, func(w word) bool { return strings.HasPrefix(w.src, "-") && strings.Contains(w.src, "o") }):
		return data{}, true
	}
	var texts []string
	for _, w := range rest {
		texts = append(texts, w.text)
	}
	switch base {
	case "echo", "printf":
		if !known {
			return data{}, true
		}
		print := echo
		if base == "printf" {
			print = printf
		}
		text, ok := print(texts)
		return data{text: text, known: ok}, true
	case "exit":
		s.ended = true
		return data{known: true}, false
	case "cd":
		return s.cd(rest), true
	case "pushd", "popd":
		s.cwd = ""
		return data{}, true
	case "pwd":
		return data{text: s.cwd + "\n", known: s.cwd != "" && len(rest) == 0}, true
	case "cat":
		return s.cat(rest, in), true
	case "tee":
		return s.tee(cmd, rest, in)
	case "sh", "bash":
		if known && len(rest) == 2 && rest[0].text == "-c" {
			return s.inside(func() data {
				s.depth++
				s.script(rest[1].text, false)
				s.depth--
				return data{}
			}), false
		}
	case "sed":
		return s.sed(cmd, args, in)
	case "rm", "mkdir", "touch", "mv", "cp":
		if s.files(base, rest) {
			return data{known: true}, true
		}
	}
	return s.unfollowed(cmd, args, in)
}

// unfollowed handles a command that is not known: the skill files that its
// words and its input name may have been changed, the script that it runs not.
func (s *shell) unfollowed(cmd *syntax.CallExpr, args []word, in data) (data, bool) {
	skip := 0
	switch {
	case !args[0].known:
	case strings.Contains(args[0].text, "/"):
		skip = 1
	case interpreters[args[0].text]:
		for skip = 1; skip < len(args) && strings.HasPrefix(args[skip].src, "-"); skip++ {
			if c := args[skip].src; c == "-c" || c == "-e" || c == "-p" || c == "-m" || c == "-i" {
				break
			}
		}
		if skip < len(args) && !strings.HasPrefix(args[skip].src, "-") && !strings.ContainsAny(args[skip].src, " \n;()") {
			skip++
		}
	}
	for _, a := range cmd.Assigns {
		s.lost(s.slice(a))
	}
	for _, w := range args[min(skip, len(args)):] {
		src := w.src
		if w.known {
			src = w.text
			if !strings.ContainsAny(src, " \t\n'\"`;|&<>()=:,$*?[{~\\") {
				// A plain path.
				if concerns(src) || concerns(s.resolve(src)) {
					s.add(Op{Path: s.resolve(src), Unknown: true})
				}
				continue
			}
		}
		s.lost(src)
	}
	if in.from == "" {
		s.lost(in.text)
	}
	return data{}, false
}

// mentionsInPlace reports whether awk is told to edit in place.
func mentionsInPlace(args []word) bool {
	return slices.ContainsFunc(args, func(w word) bool { return strings.Contains(w.src, "inplace") || strings.Contains(w.src, ">") })
}

func (s *shell) cd(args []word) data {
	for len(args) > 0 && args[0].known && (args[0].text == "--" || args[0].text == "-P" || args[0].text == "-L") {
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		s.cwd = clean(s.place.Home)
	case len(args) > 1 || !args[0].known || args[0].text == "-" || args[0].text == "":
		s.cwd = ""
	default:
		s.cwd = s.resolve(args[0].text)
	}
	return data{known: true}
}

func (s *shell) cat(args []word, in data) data {
	switch len(args) {
	case 0:
		return in
	case 1:
		w := args[0]
		if w.known && w.text == "-" {
			return in
		}
		if p := s.resolve(w.text); w.known && p != "" && !strings.HasPrefix(w.text, "-") && !strings.HasPrefix(p, "/dev/") {
			return data{from: p, known: true}
		}
	}
	return data{}
}

func (s *shell) tee(cmd *syntax.CallExpr, args []word, in data) (data, bool) {
	kind := Write
	for _, w := range args {
		switch {
		case !w.known:
			s.lost(w.src)
		case w.text == "-a" || w.text == "--append":
			kind = Append
		case strings.HasPrefix(w.text, "-") && w.text != "--":
			s.lost(s.slice(cmd))
			return data{}, true
		case w.text != "--":
			s.write(kind, w.text, in)
		}
	}
	return in, true
}

// sed -i leaves files of unknown content; otherwise it only reads, but for the
// w command, which is looked for in its script.
func (s *shell) sed(cmd *syntax.CallExpr, args []word, in data) (data, bool) {
	var operands []word
	inPlace, script := false, false
	for i := 1; i < len(args); i++ {
		w := args[i]
		switch {
		case strings.HasPrefix(w.src, "--in-place"):
			inPlace = true
		case strings.HasPrefix(w.src, "--expression") || strings.HasPrefix(w.src, "--file"):
			script = true
		case strings.HasPrefix(w.src, "--"):
		case strings.HasPrefix(w.src, "-") && len(w.src) > 1:
			flags := w.src[1:]
			if j := strings.IndexByte(flags, 'i'); j >= 0 {
				inPlace = true
				flags = flags[:j]
			}
			if strings.HasSuffix(flags, "e") || strings.HasSuffix(flags, "f") {
				script = true
				i++ // its script
			}
		default:
			operands = append(operands, w)
		}
	}
	if !script && len(operands) > 0 {
		operands = operands[1:]
	}
	if !inPlace {
		return data{}, true
	}
	for _, w := range operands {
		if !w.known {
			s.lost(w.src)
			continue
		}
		if p := s.resolve(w.text); p != "" {
			s.add(Op{Kind: Write, Path: p, Unknown: true})
		} else if concerns(w.text) {
			s.add(Op{Unknown: true})
		}
	}
	return data{known: true}, true
}

// flags lists the options that are followed, by command; with any other one the
// command is not. An option that takes an argument has a ":" behind it.
var flags = map[string][]string{
	"rm":    {"-r", "-R", "-f", "-v", "-d", "--recursive", "--force", "--verbose"},
	"mkdir": {"-p", "-v", "-m:", "--parents", "--verbose"},
	"touch": {"-a", "-m", "-f", "-d:", "-t:", "-r:"},
	"mv":    {"-f", "-v", "-T", "-t:", "--force", "--verbose"},
	"cp":    {"-r", "-R", "-a", "-p", "-f", "-v", "-L", "-P", "-d", "-T", "-t:", "--recursive", "--archive", "--force", "--verbose"},
}

// files follows a command that makes, removes or moves files; false, and
// nothing done, if it cannot.
func (s *shell) files(name string, args []word) bool {
	var paths []string
	options := true
	whole, into := false, ""
	for i := 0; i < len(args); i++ {
		w := args[i]
		if !w.known {
			return false
		}
		text := w.text
		switch {
		case options && text == "--":
			options = false
			continue
		case !options || len(text) < 2 || text[0] != '-':
			if s.resolve(text) == "" || text == "" {
				return false
			}
			paths = append(paths, text)
			continue
		}
		given := []string{text}
		if text[1] != '-' {
			given = nil
			for _, c := range text[1:] {
				given = append(given, "-"+string(c))
			}
		}
		for j, f := range given {
			switch {
			case slices.Contains(flags[name], f):
				whole = whole || f == "-T"
			case slices.Contains(flags[name], f+":") && j == len(given)-1 && i+1 < len(args) && args[i+1].known:
				i++
				if f == "-t" && name != "touch" {
					into = args[i].text
				}
			default:
				return false
			}
		}
	}
	switch name {
	case "rm", "mkdir", "touch":
		kind := map[string]Kind{"rm": Remove, "mkdir": Mkdir, "touch": Append}[name]
		for _, p := range paths {
			s.add(Op{Kind: kind, Path: s.resolve(p)})
		}
		return true
	}
	kind := Move
	if name == "cp" {
		kind = Copy
	}
	if into == "" {
		if len(paths) < 2 {
			return false
		}
		into, paths = paths[len(paths)-1], paths[:len(paths)-1]
	} else if whole || len(paths) == 0 || s.resolve(into) == "" {
		return false
	} else {
		into += "/"
	}
	target, folder := s.target(into)
	folder = (folder || len(paths) > 1) && !whole
	for _, p := range paths {
		op := Op{Kind: kind, From: s.resolve(p), Path: target}
		switch {
		case strings.HasSuffix(p, "/.") && kind == Copy:
			// The content of a folder, which is merged into the target.
		case strings.HasSuffix(p, "/..") || p == "." || p == "..":
			return false
		case folder:
			op.Path = below(target, op.From)
		default:
			op.Into = !whole
		}
		s.add(op)
	}
	return true
}
