package fileops

import (
	"path"
	"strings"
)

// concerns reports whether a path can matter to the catalogue of skills: a
// SKILL.md, anything below .claude/skills or .claude/commands, or a .claude
// folder itself.
func concerns(p string) bool {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		if part != ".claude" {
			continue
		}
		if i == len(parts)-1 || parts[i+1] == "" || parts[i+1] == "skills" || parts[i+1] == "commands" {
			return true
		}
	}
	return parts[len(parts)-1] == "SKILL.md"
}

// mentions finds the skill paths that a piece of source text names, in order of
// appearance and each once. "" stands for one whose place cannot be told: it
// holds an expansion or a pattern, or is relative to an unknown folder.
func (s *shell) mentions(src string) []string {
	if !strings.Contains(src, ".claude") && !strings.Contains(src, "SKILL.md") {
		return nil
	}
	var found []string
	seen := map[string]bool{}
	for token := range strings.FieldsFuncSeq(src, func(r rune) bool {
		return strings.ContainsRune(" \t\r\n'\"`;|&<>()=:,", r)
	}) {
		p, ok := s.named(token)
		if ok && !seen[p] {
			seen[p] = true
			found = append(found, p)
		}
	}
	return found
}

// named is the skill path that a token of source text names.
func (s *shell) named(token string) (string, bool) {
	if !concerns(token) && !concerns(strings.TrimRight(token, "/.")) {
		return "", false
	}
	if rest, ok := strings.CutPrefix(token, "~/"); ok && s.place.Home != "" {
		token = s.place.Home + "/" + rest
	}
	for _, v := range []string{"$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(token, v); ok && s.place.Home != "" {
			token = s.place.Home + "/" + rest
		}
	}
	// Only the folders before the first expansion or pattern are certain.
	if i := strings.IndexAny(token, "$*?[{~\\"); i >= 0 {
		token = token[:i]
		token = token[:strings.LastIndexByte(token, '/')+1]
	}
	p := s.resolve(token)
	if token == "" || !concerns(p) {
		return "", true
	}
	return p, true
}

// resolve makes a path absolute; "" where the working directory is unknown.
func (s *shell) resolve(p string) string {
	switch {
	case strings.HasPrefix(p, "/"):
		return path.Clean(p)
	case s.cwd == "":
		return ""
	}
	return path.Join(s.cwd, p)
}
