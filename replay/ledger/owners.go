package ledger

import (
	"cmp"
	"hash/maphash"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/replay"
)

// Owners settles for which session a model request counts when the logs of several
// hold it: a resumed or forked session begins with copies of what it goes on from,
// and a log may be given twice. A request counts for the session that made it, as
// far as the records say, else for the one that began first; so the order in which
// sessions are noted does not matter.
//
// First [Owners.Note] each session, then ask for its calls with the function that
// [Owners.Of] returns. The zero value is ready.
type Owners struct {
	seed     maphash.Seed
	sessions []standing
	owner    map[[2]uint64]int32 // of a request, an index into sessions
	shared   map[int]bool        // sessions of which another owns a request
}

// standing is what decides between sessions that hold a request.
type standing struct {
	start    time.Time
	id, file string
}

// Note takes the requests of a session, and returns its number for [Owners.Of].
func (o *Owners) Note(s *replay.Session) int {
	if o.owner == nil {
		o.seed, o.owner, o.shared = maphash.MakeSeed(), map[[2]uint64]int32{}, map[int]bool{}
	}
	n := len(o.sessions)
	o.sessions = append(o.sessions, standing{s.Start, s.ID, s.File})
	for _, a := range s.Agents {
		for i := range a.Calls {
			key, ok := o.key(&a.Calls[i])
			if !ok {
				continue
			}
			before, held := o.owner[key]
			switch {
			case !held:
				o.owner[key] = int32(n)
			case o.first(n, int(before)):
				o.owner[key] = int32(n)
				o.shared[int(before)] = true
			default:
				o.shared[n] = true
			}
		}
	}
	return n
}

// Shared reports whether requests of a session count for another one. Where it
// does, what was summed of all its calls is too much.
func (o *Owners) Shared(n int) bool { return o.shared[n] }

// Of tells which requests of a session count for it.
func (o *Owners) Of(n int) func(*replay.APICall) bool {
	return func(c *replay.APICall) bool {
		key, ok := o.key(c)
		return !ok || o.owner[key] == int32(n)
	}
}

func (o *Owners) key(c *replay.APICall) (key [2]uint64, ok bool) {
	if c.Message == "" && c.Where.UUID == "" {
		return key, false
	}
	text := c.Message + "\x00" + c.Request
	if c.Message == "" {
		text = "\x00" + c.Where.UUID
	}
	return [2]uint64{maphash.String(o.seed, text), maphash.String(o.seed, text+"\x00")}, true
}

func (o *Owners) first(i, j int) bool {
	a, b := &o.sessions[i], &o.sessions[j]
	return cmp.Or(a.start.Compare(b.start), strings.Compare(a.id, b.id), strings.Compare(a.file, b.file), cmp.Compare(i, j)) < 0
}
