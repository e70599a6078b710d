// Package glob matches file paths against gitignore patterns, the way a client
// decides whether a touched file activates a skill with paths.
//
// A pattern is a sequence of segments between slashes. A match walks the
// segments of a path once and keeps the set of pattern positions reached, so
// its cost is at most pattern length times path length, whatever the pattern.
package glob

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits for hostile front matter. What is over a limit matches nothing.
const (
	maxPattern = 1024 // bytes of one pattern
	maxPath    = 4096 // bytes of one path, PATH_MAX of Linux
	maxRules   = 1024 // patterns of one list
)

// Matcher is a compiled list of patterns, in the order of a gitignore file: the
// last pattern that matches decides, and what is below a matched folder is
// matched for good. It is safe for concurrent use.
type Matcher struct {
	rules []rule
}

type rule struct {
	negative bool
	dirOnly  bool
	segments []segment
}

// segment is what stands between two slashes: any number of folders, or a
// sequence of tokens.
type segment struct {
	globstar bool
	tokens   []token
}

type token struct {
	kind  kind
	unit  uint16 // literal
	class *class
}

type kind uint8

const (
	literal kind = iota
	any1         // ?
	star         // *
	set          // [...]
)

type class struct {
	negative bool
	ranges   [][2]uint16
}

// Compile compiles patterns. Blank ones, comments (#) and malformed ones are
// dropped, as in a gitignore file. Braces mean nothing here: they are written out
// before.
func Compile(patterns []string) *Matcher {
	m := new(Matcher)
	for _, p := range patterns {
		if len(p) > maxPattern || len(m.rules) == maxRules {
			continue
		}
		if r, ok := compile(p); ok {
			m.rules = append(m.rules, r)
		}
	}
	return m
}

// Match reports whether a file is matched. The path is relative to the folder
// of the patterns; an absolute path, an empty one, and one that leads outside
// are never matched.
func (m *Matcher) Match(file string) bool {
	if file == "" || file[0] == '/' || len(file) > maxPath {
		return false
	}
	var parts [][]uint16
	for part := range strings.SplitSeq(file, "/") {
		if part == "." || part == ".." || part == "" {
			return false
		}
		parts = append(parts, fold(part))
	}
	states := make([][]bool, len(m.rules))
	for i, r := range m.rules {
		states[i] = r.start()
	}
	for n, part := range parts {
		matched := false
		for i, r := range m.rules {
			states[i] = r.step(states[i], part)
			if states[i][len(r.segments)] && (!r.dirOnly || n < len(parts)-1) {
				matched = !r.negative
			}
		}
		if matched {
			return true
		}
	}
	return false
}

// start returns the positions reached before any part of the path.
func (r rule) start() []bool {
	s := make([]bool, len(r.segments)+1)
	s[0] = true
	r.skip(s)
	return s
}

// step returns the positions reached after one more part of the path.
func (r rule) step(from []bool, part []uint16) []bool {
	to := make([]bool, len(from))
	for i, seg := range r.segments {
		switch {
		case !from[i]:
		case seg.globstar:
			to[i] = true
			if i == len(r.segments)-1 {
				to[i+1] = true // a last ** wants something inside
			}
		case matchTokens(seg.tokens, part):
			to[i+1] = true
		}
	}
	r.skip(to)
	return to
}

// skip lets every ** that is not the last segment stand for no folder at all.
func (r rule) skip(s []bool) {
	for i := 0; i < len(r.segments)-1; i++ {
		if s[i] && r.segments[i].globstar {
			s[i+1] = true
		}
	}
}

// matchTokens matches one name, going back to the last * only: a * takes any
// characters, so an earlier one never needs another try.
func matchTokens(tokens []token, name []uint16) bool {
	t, n := 0, 0
	backT, backN := -1, 0
	for n < len(name) {
		if t < len(tokens) {
			if tokens[t].kind == star {
				backT, backN = t+1, n
				t++
				continue
			}
			if tokens[t].matches(name[n]) {
				t++
				n++
				continue
			}
		}
		if backT < 0 {
			return false
		}
		backN++
		t, n = backT, backN
	}
	for t < len(tokens) && tokens[t].kind == star {
		t++
	}
	return t == len(tokens)
}

func (t token) matches(u uint16) bool {
	switch t.kind {
	case literal:
		return t.unit == u
	case any1:
		return true
	case set:
		return t.class.has(u) != t.class.negative
	}
	return false
}

func compile(p string) (rule, bool) {
	var r rule
	p = strings.TrimPrefix(p, "\uFEFF")
	if strings.HasPrefix(p, "#") {
		return r, false
	}
	if strings.HasPrefix(p, "!") {
		r.negative = true
		p = p[1:]
	}
	p = trimEnd(p)
	if strings.HasSuffix(p, "/") {
		r.dirOnly = true
		p = p[:len(p)-1]
	}
	anchored := strings.Contains(p, "/")
	p = strings.TrimPrefix(p, "/")
	if p == "" {
		return r, false
	}
	if !anchored {
		r.segments = append(r.segments, segment{globstar: true})
	}
	for part := range splitSegments(p) {
		if len(part) > 1 && strings.Trim(part, "*") == "" {
			r.segments = append(r.segments, segment{globstar: true})
			continue
		}
		tokens, ok := parse(part)
		if !ok {
			return r, false
		}
		r.segments = append(r.segments, segment{tokens: tokens})
	}
	return r, true
}

// trimEnd drops blanks at the end of a pattern, but not one that a backslash
// protects.
func trimEnd(p string) string {
	t := strings.TrimRight(p, " \t\r\n")
	if len(t) < len(p) && p[len(t)] == ' ' && (len(t)-len(strings.TrimRight(t, `\`)))%2 == 1 {
		t += " "
	}
	return t
}

// splitSegments cuts a pattern at its slashes; one inside brackets is a member.
func splitSegments(p string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(p); i++ {
			switch p[i] {
			case '\\':
				i++
			case '[':
				if end := closing(p[i:]); end > 0 {
					i += end
				}
			case '/':
				if !yield(p[from:i]) {
					return
				}
				from = i + 1
			}
		}
		yield(p[from:])
	}
}

// closing returns the index of the bracket that closes the one at the start of
// s, or 0. A closing bracket right after the opening one is a member.
func closing(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	for first := true; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == ']' && !first:
			return i
		case s[i] == '[' && i+1 < len(s) && s[i+1] == ':':
			if end := strings.Index(s[i+2:], ":]"); end >= 0 {
				i += 2 + end + 1
			}
		}
		first = false
	}
	return 0
}

// parse reads one segment. It fails on what makes a whole pattern invalid: an
// open bracket, an unknown character class, a backslash at the end.
func parse(s string) ([]token, bool) {
	var out []token
	for i := 0; i < len(s); {
		switch s[i] {
		case '*':
			if len(out) == 0 || out[len(out)-1].kind != star {
				out = append(out, token{kind: star})
			}
			i++
		case '?':
			out = append(out, token{kind: any1})
			i++
		case '[':
			end := closing(s[i:])
			if end == 0 {
				return nil, false
			}
			c, ok := parseClass(s[i+1 : i+end])
			if !ok {
				return nil, false
			}
			out = append(out, token{kind: set, class: c})
			i += end + 1
		default:
			if s[i] == '\\' {
				if i++; i == len(s) {
					return nil, false
				}
			}
			_, size := utf8.DecodeRuneInString(s[i:])
			for _, u := range fold(s[i : i+size]) {
				out = append(out, token{kind: literal, unit: u})
			}
			i += size
		}
	}
	return out, true
}

// classes are the POSIX classes of git's wildmatch, ASCII only.
var classes = map[string]string{
	"alnum": "09AZaz", "alpha": "AZaz", "blank": "  \t\t", "cntrl": "\x00\x1f\x7f\x7f",
	"digit": "09", "graph": "!~", "lower": "az", "print": " ~", "punct": "!/:@[`{~",
	"space": "  \t\n\r\r", "upper": "AZ", "xdigit": "09AFaf",
}

// parseClass reads the inside of brackets.
func parseClass(s string) (*class, bool) {
	c := new(class)
	if s != "" && (s[0] == '!' || s[0] == '^') {
		c.negative = true
		s = s[1:]
	}
	next := func() (uint16, bool) {
		if s[0] == '\\' {
			if s = s[1:]; s == "" {
				return 0, false
			}
		}
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		if r > 0xFFFF {
			// One member cannot stand for a pair: its halves are members.
			hi, lo := utf16.EncodeRune(r)
			c.add(uint16(hi), uint16(hi))
			return uint16(lo), true
		}
		return uint16(r), true
	}
	for s != "" {
		if strings.HasPrefix(s, "[:") {
			if end := strings.Index(s, ":]"); end >= 2 {
				ranges, ok := classes[s[2:end]]
				if !ok {
					return nil, false
				}
				for i := 0; i < len(ranges); i += 2 {
					c.add(uint16(ranges[i]), uint16(ranges[i+1]))
				}
				s = s[end+2:]
				continue
			}
		}
		lo, ok := next()
		if !ok {
			return nil, false
		}
		hi := lo
		if len(s) > 1 && s[0] == '-' {
			s = s[1:]
			if hi, ok = next(); !ok {
				return nil, false
			}
			if hi < lo {
				hi = lo // out of order: only the first bound is a member
			}
		}
		c.add(lo, hi)
	}
	return c, true
}

func (c *class) add(lo, hi uint16) {
	c.ranges = append(c.ranges, [2]uint16{lo, hi})
}

// has reports whether a folded unit, in either case, is in one of the ranges.
func (c *class) has(u uint16) bool {
	lower := u
	if r := unicode.ToLower(rune(u)); r <= 0xFFFF && (u < 0x80) == (r < 0x80) {
		lower = uint16(r)
	}
	for _, r := range c.ranges {
		if r[0] <= u && u <= r[1] || r[0] <= lower && lower <= r[1] {
			return true
		}
	}
	return false
}

// fold turns text into the UTF-16 code units in which the client compares
// paths, without regard to case: a character that has one upper-case form, in
// the same plane and not in ASCII for one outside it, stands for both.
func fold(s string) []uint16 {
	out := make([]uint16, 0, len(s))
	for _, r := range s {
		up := unicode.ToUpper(r)
		switch {
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			out = append(out, uint16(hi), uint16(lo))
			continue
		case up > 0xFFFF || r >= 0x80 && up < 0x80:
			up = r
		}
		out = append(out, uint16(up))
	}
	return out
}
