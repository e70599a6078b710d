package why

import (
	"fmt"
	"sort"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// A log can be written by several versions of the client, as when it was updated and
// the conversation taken up again. Each prompt is judged by the one that it was typed to.

// momentAt is the moment of a prompt, or else that of the last one before it.
func (a *agent) momentAt(n int) (replay.Moment, bool) {
	for ; n >= 0; n-- {
		if m, ok := a.course.At(a.spans[n].Event); ok {
			return m, true
		}
	}
	return replay.Moment{}, false
}

// version is the client version whose rules hold at a prompt, "" if it is not known.
func (a *agent) version(n int) string {
	if m, ok := a.momentAt(n); ok && m.Rules() != nil {
		return m.Rules().Version
	}
	return ""
}

// logs reports whether the client that a prompt was typed to writes listings to the
// log: by its rules, or as one of that version stands there.
func (a *agent) logs(n int) bool {
	m, ok := a.momentAt(n)
	if !ok || m.Rules() == nil {
		return len(a.listings) > 0
	}
	return m.Rules().Catalogue.Place == rules.PlaceAttachment || a.logging[m.Rules().Version]
}

// findUnheard notes for each prompt the last one up to it at which a client listed
// skills without writing it to the log, if no whole listing stands in the log since.
// There is something to note only where some of the clients write listings.
func (a *agent) findUnheard() {
	a.logging = map[string]bool{}
	for _, i := range a.listings {
		// The client that wrote it is that of the prompt before, or of the first one.
		n := sort.Search(len(a.spans), func(n int) bool { return a.spans[n].Event > i }) - 1
		if v := a.version(max(n, 0)); v != "" && len(a.spans) > 0 && a.Agent.Events[i].Version == a.Agent.Events[a.spans[max(n, 0)].Event].Version {
			a.logging[v] = true
		}
	}
	some, all := false, true
	for n := range a.spans {
		if a.logs(n) {
			some = true
		} else {
			all = false
		}
	}
	if all || !some && len(a.listings) == 0 {
		return
	}
	a.unheard = make([]int, len(a.spans))
	last, k := -1, 0
	for n := range a.spans {
		sp := &a.spans[n]
		for ; k < len(a.listings) && a.listings[k] < sp.Answer; k++ {
			e := &a.Agent.Events[a.listings[k]]
			if !e.Abandoned && (e.Listing.Initial || !e.Listing.HasInitial) {
				last = -1
			}
		}
		if a.unheard[n] = last; !a.logs(n) {
			a.unheard[n] = n
			if !sp.Abandoned {
				last = n
			}
		}
	}
}

// untold says which client may have listed skills without writing it to the log, "" if
// none has since an event, or since the last whole listing.
func (c *chain) untold(since int) string {
	if c.unheard == nil || c.unheard[c.n] < 0 {
		return ""
	}
	n := c.unheard[c.n]
	if c.spans[n].end <= since {
		return ""
	}
	if n == c.n {
		return fmt.Sprintf("the client at this prompt, %s, writes no listing to the log", c.version(n))
	}
	return fmt.Sprintf("the client at line %d, %s, wrote no listing to the log", c.spans[n].Where.Line, c.version(n))
}
