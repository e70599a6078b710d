package rules

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is a client version: three numbers and, for a build between releases,
// the pre-release part that follows a dash.
type Version struct {
	Major, Minor, Patch int
	Pre                 string
}

// maxVersionLen bounds what is looked at: a version comes from a log, which may
// hold anything.
const maxVersionLen = 100

// ParseVersion reads a version such as "2.1.140". It also takes a leading v,
// blanks around it, a build part after a plus sign, which it drops, and what the
// client's own --version prints behind the number ("2.1.140 (Claude Code)").
func ParseVersion(s string) (Version, error) {
	t := strings.TrimSpace(s)
	if len(t) > maxVersionLen {
		return Version{}, &VersionError{Text: t[:maxVersionLen] + "…"}
	}
	bad := &VersionError{Text: s}
	if i := strings.IndexByte(t, ' '); i >= 0 {
		if rest := strings.TrimSpace(t[i:]); !strings.HasPrefix(rest, "(") || !strings.HasSuffix(rest, ")") {
			return Version{}, bad
		}
		t = t[:i]
	}
	t = strings.TrimPrefix(t, "v")
	t, _, _ = strings.Cut(t, "+")
	t, pre, dashed := strings.Cut(t, "-")
	if dashed && !validPre(pre) {
		return Version{}, bad
	}
	parts := strings.Split(t, ".")
	if len(parts) != 3 {
		return Version{}, bad
	}
	var n [3]int
	for i, p := range parts {
		v, ok := versionNumber(p)
		if !ok {
			return Version{}, bad
		}
		n[i] = v
	}
	return Version{n[0], n[1], n[2], pre}, nil
}

// versionNumber reads at most nine digits.
func versionNumber(p string) (int, bool) {
	if p == "" || len(p) > 9 {
		return 0, false
	}
	for i := 0; i < len(p); i++ {
		if p[i] < '0' || p[i] > '9' {
			return 0, false
		}
	}
	v, err := strconv.Atoi(p)
	return v, err == nil
}

func validPre(pre string) bool {
	for _, id := range strings.Split(pre, ".") {
		if id == "" {
			return false
		}
		for i := 0; i < len(id); i++ {
			c := id[i]
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-') {
				return false
			}
		}
	}
	return true
}

// String is the canonical form, which ParseVersion reads back.
func (v Version) String() string {
	s := fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	if v.Pre != "" {
		s += "-" + v.Pre
	}
	return s
}

// Compare orders versions as semantic versioning does: by number, a
// pre-release before its release. It returns -1, 0 or 1.
func (v Version) Compare(w Version) int {
	if c := cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch)); c != 0 {
		return c
	}
	switch {
	case v.Pre == w.Pre:
		return 0
	case v.Pre == "":
		return 1
	case w.Pre == "":
		return -1
	}
	a, b := strings.Split(v.Pre, "."), strings.Split(w.Pre, ".")
	for i := 0; i < len(a) && i < len(b); i++ {
		if c := comparePre(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// comparePre orders two identifiers: numbers by value and before words.
func comparePre(a, b string) int {
	m, aNum := versionNumber(a)
	n, bNum := versionNumber(b)
	switch {
	case aNum && bNum:
		return cmp.Or(cmp.Compare(m, n), cmp.Compare(a, b))
	case aNum:
		return -1
	case bNum:
		return 1
	}
	return cmp.Compare(a, b)
}

// Split takes a client apart that is written NAME@VERSION; the version is empty
// where there is none.
func Split(client string) (name, version string) {
	name, version, _ = strings.Cut(client, "@")
	return name, version
}

// VersionError reports a text that is not a version.
type VersionError struct{ Text string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("%q is not a version: want three numbers, such as 2.1.140", e.Text)
}

// TooOldError reports a version from before the table.
type TooOldError struct{ Client, Version, Oldest string }

func (e *TooOldError) Error() string {
	return fmt.Sprintf("%s %s is older than its rules, which begin at %s", e.Client, e.Version, e.Oldest)
}

// UnknownClientError reports a client without a table.
type UnknownClientError struct {
	Client string
	Known  []string
}

func (e *UnknownClientError) Error() string {
	text := fmt.Sprintf("no rules for client %q: known are %s", e.Client, strings.Join(e.Known, ", "))
	// A version without the client's name is what is most often meant.
	version := strings.TrimPrefix(e.Client, "v")
	for strings.Count(version, ".") < 2 {
		version += ".0"
	}
	if _, err := ParseVersion(version); err == nil && len(e.Known) > 0 {
		text += fmt.Sprintf("; a version goes with the name, %s@%s", e.Known[0], version)
	}
	return text
}
