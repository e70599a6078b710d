package spec

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Words splits a command line into the program and its arguments, at blanks, with the
// quotes and backslashes of a shell. Nothing is expanded: ~, *, and braces stand for
// themselves, and what would have a shell run or look up something is an error.
func Words(line string) ([]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		var e syntax.ParseError
		if errors.As(err, &e) {
			return nil, fmt.Errorf("the command is no shell words: %s", e.Text)
		}
		return nil, fmt.Errorf("the command is no shell words: %w", err)
	}
	if len(file.Stmts) == 0 {
		return nil, errors.New("the command is empty")
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(file.Stmts) > 1 || s.Negated || s.Background || s.Coprocess || s.Semicolon.IsValid() ||
		len(s.Redirs) > 0 || len(call.Assigns) > 0 {
		return nil, errors.New("the command is to be one program with its arguments: no shell runs it; put pipes, variables and the like in a script")
	}
	var words []string
	for _, w := range call.Args {
		var b strings.Builder
		for _, part := range w.Parts {
			if err := literal(&b, part); err != nil {
				return nil, err
			}
		}
		words = append(words, b.String())
	}
	if words[0] == "" {
		return nil, errors.New("the command's program has no name")
	}
	return words, nil
}

// literal appends the text of a part of a word.
func literal(b *strings.Builder, part syntax.WordPart) error {
	switch part := part.(type) {
	case *syntax.Lit:
		unescape(b, part.Value, "")
		return nil
	case *syntax.SglQuoted:
		if !part.Dollar {
			b.WriteString(part.Value)
			return nil
		}
	case *syntax.DblQuoted:
		if part.Dollar {
			break
		}
		for _, inner := range part.Parts {
			lit, ok := inner.(*syntax.Lit)
			if !ok {
				return errExpansion
			}
			unescape(b, lit.Value, "$`\"\\")
		}
		return nil
	}
	return errExpansion
}

var errExpansion = errors.New("the command has a $ or ` that a shell would expand, and no shell runs it; put it in single quotes if it is meant as it stands")

// unescape appends s without the backslashes that quote: before any character, or, in
// double quotes, only before some. A backslash and a newline are nothing.
func unescape(b *strings.Builder, s, only string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch next := s[i+1]; {
			case next == '\n':
				i++
				continue
			case only == "" || strings.IndexByte(only, next) >= 0:
				i++
			}
		}
		b.WriteByte(s[i])
	}
}
