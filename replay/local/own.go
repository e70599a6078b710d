package local

import (
	"strings"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// OwnEntries are the client's own entries in the first whole listing of a session: those
// by names that clients have listed as their own, unless a skill file of the session
// yields them. Others are the names that neither explains. It reports false where the log
// holds no whole listing.
func OwnEntries(s *replay.Session, yields map[string]bool, d skills.Discovery) (own []skills.Given, others []string, ok bool) {
	lines := listingsOf(s, "").whole
	own = []skills.Given{}
	for _, l := range lines {
		switch {
		case l.Name == "" || yields[l.Name]:
		case strings.Contains(l.Name, ":") || !skills.OwnName(l.Name):
			others = append(others, l.Name)
		default:
			own = append(own, skills.Given{Name: l.Name, Text: l.Text, Place: skills.PlaceOf(l.Name, d)})
		}
	}
	return own, others, lines != nil
}
