package report

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// displayWidth is the number of terminal cells that s takes. Our own colour
// sequences count nothing, characters of ambiguous width count one.
func displayWidth(s string) int {
	return twwidth.WidthWithOptions(s, twwidth.Options{})
}

// Truncate cuts s, which must be free of colour, to at most width cells and ends
// it with "…" where something was cut.
func Truncate(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(s) <= width || displayWidth(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		w := displayWidth(string(r))
		if used+w > width-1 {
			return s[:i] + "…"
		}
		used += w
	}
	return s
}

// truncateStart cuts s from the front: what counts in a path is its end.
func truncateStart(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if displayWidth(s) <= width {
		return s
	}
	runes := []rune(s)
	used, i := 0, len(runes)
	for i > 0 {
		w := displayWidth(string(runes[i-1]))
		if used+w > width-1 {
			break
		}
		used += w
		i--
	}
	return "…" + string(runes[i:])
}

// truncateMiddle cuts s in its middle: names that begin alike differ at their ends.
func truncateMiddle(s string, width int) string {
	if width < 5 || displayWidth(s) <= width {
		return Truncate(s, width)
	}
	tail := truncateStart(s, width/2+1)
	return strings.TrimSuffix(Truncate(s, width-displayWidth(tail)+1), "…") + tail
}

// count writes n with thousands separators: 1,612.
func count[T ~int | ~int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// plural writes "1 skill", "2 skills", "3 bodies", "1,612 reaches".
func plural[T ~int | ~int64](n T, word string) string {
	if n == 1 {
		return "1 " + word
	}
	switch {
	case strings.HasSuffix(word, "y") && !strings.HasSuffix(word, "ey") && !strings.HasSuffix(word, "ay"):
		word = strings.TrimSuffix(word, "y") + "ies"
	case strings.HasSuffix(word, "ch"), strings.HasSuffix(word, "s"):
		word += "es"
	default:
		word += "s"
	}
	return count(n) + " " + word
}

// times writes "once", "twice", "3 times".
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return count(n) + " times"
}

// listAll joins parts with commas, and says how many were left out beyond limit.
// A limit of 0 means all.
func listAll(parts []string, limit int) string { return joinFew(parts, ", ", limit) }

func joinFew(parts []string, separator string, limit int) string {
	if limit > 0 && len(parts) > limit {
		return strings.Join(parts[:limit], separator) + " and " + count(len(parts)-limit) + " more"
	}
	return strings.Join(parts, separator)
}

// shortID is the part of a session or agent id that people type. Ids are random;
// what is none of these is a name, whose beginning tells little.
func shortID(id string) string {
	const short, long = 8, 24
	if len(id) > short && strings.Trim(id[:short], "0123456789abcdefABCDEF") == "" {
		return id[:short]
	}
	return Truncate(Escape(id), long)
}

// shortPath writes a path for people: "~" for the home directory.
func (s Style) shortPath(path string) string {
	if s.Home != "" && s.Home != "/" {
		if path == s.Home {
			return "~"
		}
		if rest, ok := strings.CutPrefix(path, s.Home+string(filepath.Separator)); ok {
			path = "~" + string(filepath.Separator) + rest
		}
	}
	return Escape(path)
}

// shortPaths is shortPath for a list joined by commas.
func (s Style) shortPaths(list string) string {
	paths := strings.Split(list, ", ")
	for i := range paths {
		paths[i] = s.shortPath(paths[i])
	}
	return strings.Join(paths, ", ")
}

// day writes a time in the zone of the style; "" if there is none.
func (s Style) day(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return s.local(*t).Format("2006-01-02 15:04")
}

// date is day without the time of day.
func (s Style) date(t *time.Time) string {
	day, _, _ := strings.Cut(s.day(t), " ")
	return day
}

func (s Style) local(t time.Time) time.Time {
	if s.Location == nil {
		return t.UTC()
	}
	return t.In(s.Location)
}

// offset writes the time since the start of something: 0:07, 12:30, 3:05:10, 2d 03:05.
func offset(ms int64) string {
	sign := ""
	if ms < 0 {
		sign, ms = "-", -ms
	}
	sec := ms / 1000
	if sec >= 86_400 {
		return fmt.Sprintf("%s%dd %02d:%02d", sign, sec/86_400, sec/3600%24, sec/60%60)
	}
	if sec >= 3600 {
		return fmt.Sprintf("%s%d:%02d:%02d", sign, sec/3600, sec/60%60, sec%60)
	}
	return fmt.Sprintf("%s%d:%02d", sign, sec/60, sec%60)
}

// timeOf is a time as documents hold it: in UTC, absent where unknown.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}
