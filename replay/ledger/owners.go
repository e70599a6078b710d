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
// and a log may be given twice. A request counts for the session whose log has the
// most of its reply; among those that have as much, for the one that is no copy as far
// as the records say, that began first, that ended first. So the order in which
// sessions are noted does not matter.
//
// First [Owners.Note] each session, then ask for its calls with the function that
// [Owners.Of] returns. The zero value is ready.
type Owners struct {
	seed     maphash.Seed
	sessions []standing
	owner    map[[2]uint64]holder
	shared   map[int]bool // sessions of which another owns a request
}

// standing is what decides between sessions that hold a request.
type standing struct {
	copies     bool // begins with copies
	start, end time.Time
	id, file   string
}

// holder is a session that holds a request, and what it has of it, in tokens.
type holder struct {
	session        int32 // an index into sessions
	output, prompt int64
}

// Note takes the requests of a session, and returns its number for [Owners.Of].
func (o *Owners) Note(s *replay.Session) int {
	if o.owner == nil {
		o.seed, o.owner, o.shared = maphash.MakeSeed(), map[[2]uint64]holder{}, map[int]bool{}
	}
	n := len(o.sessions)
	o.sessions = append(o.sessions, standing{s.ForkOf != "" || s.Copied > 0, s.Start, s.End, s.ID, s.File})
	for _, a := range s.Agents {
		for i := range a.Calls {
			key, ok := o.key(&a.Calls[i])
			if !ok {
				continue
			}
			now := holder{int32(n), a.Calls[i].Usage.Output, a.Calls[i].Usage.Prompt()}
			before, held := o.owner[key]
			switch {
			case !held:
				o.owner[key] = now
			case before.session == now.session: // another request of the same message
				if o.first(now, before) {
					o.owner[key] = now
				}
			case o.first(now, before):
				o.owner[key] = now
				o.shared[int(before.session)] = true
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
		return !ok || o.owner[key].session == int32(n)
	}
}

// OfID is [Owners.Of] for all logs of the session together: a session whose log lies
// in two places is one.
func (o *Owners) OfID(n int) func(*replay.APICall) bool {
	return func(c *replay.APICall) bool {
		key, ok := o.key(c)
		return !ok || o.sessions[o.owner[key].session].id == o.sessions[n].id
	}
}

// key is by what tells a request: its message id, else its request id, else its
// record. A message id is one request's in any log.
func (o *Owners) key(c *replay.APICall) (key [2]uint64, ok bool) {
	text := c.Message
	switch {
	case text != "":
	case c.Request != "":
		text = "\x00" + c.Request
	case c.Where.UUID != "":
		text = "\x01" + c.Where.UUID
	default:
		return key, false
	}
	return [2]uint64{maphash.String(o.seed, text), maphash.String(o.seed, text+"\x00")}, true
}

func (o *Owners) first(x, y holder) bool {
	a, b := &o.sessions[x.session], &o.sessions[y.session]
	return cmp.Or(cmp.Compare(y.output, x.output), cmp.Compare(y.prompt, x.prompt), boolCompare(a.copies, b.copies), a.start.Compare(b.start), a.end.Compare(b.end),
		strings.Compare(a.id, b.id), strings.Compare(a.file, b.file), cmp.Compare(x.session, y.session)) < 0
}

// boolCompare puts false before true.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
