package skills

import (
	"slices"
	"strings"
	"unicode"
)

// Duplicate is a group of entries of one listing that stand for the same thing.
type Duplicate struct {
	Kind DuplicateKind
	// Entries are indexes into the lines, ascending; all but the first are
	// redundant.
	Entries []int
	// SameText: all texts are equal.
	SameText bool
}

// DuplicateKind is how the entries of a group repeat each other.
type DuplicateKind string

// The kinds.
const (
	DuplicateExact    DuplicateKind = "exact"             // one name, one text
	DuplicateAlias    DuplicateKind = "alias"             // plugin:name and name with one text
	DuplicatePrefixes DuplicateKind = "two-prefixes"      // a:name and b:name with one text
	DuplicateCommand  DuplicateKind = "command-and-skill" // one name with a prefix, different texts
	DuplicateName     DuplicateKind = "same-name"         // one name without a prefix, different texts
)

// Duplicates finds the entries of a listing that repeat others. A name
// that occurs several times is one group; its first entry may also stand in a
// group with the same name under prefixes and the same text. Entries with
// different last names are never grouped, whatever their texts say.
func Duplicates(lines []ListedLine) []Duplicate {
	var out []Duplicate
	add := func(kind DuplicateKind, entries []int) {
		same := true
		for _, i := range entries {
			same = same && lines[i].Text == lines[entries[0]].Text
		}
		out = append(out, Duplicate{Kind: kind, Entries: entries, SameText: same})
	}
	byName := map[string][]int{}
	byLast := map[string][]int{}
	for i, l := range lines {
		if l.Name != "" {
			byName[l.Name] = append(byName[l.Name], i)
		}
	}
	first := func(i int) bool { return lines[i].Name != "" && byName[lines[i].Name][0] == i }
	for i, l := range lines {
		if !first(i) {
			continue
		}
		last := l.Name[strings.LastIndexByte(l.Name, ':')+1:]
		byLast[last] = append(byLast[last], i)
		group := byName[l.Name]
		if len(group) < 2 {
			continue
		}
		kind := DuplicateExact
		if slices.ContainsFunc(group, func(j int) bool { return lines[j].Text != l.Text }) {
			kind = DuplicateName
			if strings.Contains(l.Name, ":") {
				kind = DuplicateCommand
			}
		}
		add(kind, group)
	}
	for i, l := range lines {
		last := l.Name[strings.LastIndexByte(l.Name, ':')+1:]
		if group := byLast[last]; len(group) < 2 || group[0] != i {
			continue
		}
		group := byLast[last]
		if at := slices.IndexFunc(group, func(j int) bool { return lines[j].Name == last }); at >= 0 {
			// One whose text differs tells of something else.
			text := lines[group[at]].Text
			var aliases, others []int
			for _, j := range group {
				if lines[j].Text == text {
					aliases = append(aliases, j)
				} else {
					others = append(others, j)
				}
			}
			if len(aliases) > 1 {
				add(DuplicateAlias, aliases)
			}
			group = others
		}
		// Only those with a text in common; a bare name says nothing, nor does a text
		// that nobody can read.
		byText := map[string][]int{}
		for _, j := range group {
			if !lines[j].Bare && !Masked(lines[j].Text) {
				byText[lines[j].Text] = append(byText[lines[j].Text], j)
			}
		}
		for _, j := range group {
			if same := byText[lines[j].Text]; len(same) > 1 && same[0] == j {
				add(DuplicatePrefixes, same)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Duplicate) int { return a.Entries[0] - b.Entries[0] })
	return out
}

// Redundant is the number of entries that say nothing new.
func Redundant(groups []Duplicate) int {
	n := 0
	for _, g := range groups {
		n += len(g.Entries) - 1
	}
	return n
}

// Masked reports whether a text was made unreadable before the log was shared: x
// stands for each of its letters and digits.
func Masked(text string) bool {
	found := false
	for _, r := range text {
		switch {
		case r == 'x':
			found = true
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return false
		}
	}
	return found
}
