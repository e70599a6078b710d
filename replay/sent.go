package replay

import "fmt"

// sentEntries are the entries that a client takes for announced, by name: a value, as
// a table is. Those that are gone stand in the conversation no more, and only the
// process remembers them. No name is in both tables.
type sentEntries struct {
	standing, gone table[SentEntry]
}

func (s sentEntries) get(name string) (SentEntry, bool) {
	if e, ok := s.standing.get(name); ok {
		return e, true
	}
	return s.gone.get(name)
}

func (s sentEntries) has(name string) bool { return s.standing.has(name) || s.gone.has(name) }

func (s sentEntries) len() int { return s.standing.size + s.gone.size }

func (s sentEntries) with(name string, e SentEntry) sentEntries {
	s.gone = s.gone.without(name)
	s.standing = s.standing.with(name, e)
	return s
}

func (s sentEntries) without(name string) sentEntries {
	s.gone, s.standing = s.gone.without(name), s.standing.without(name)
	return s
}

// remaining are those that stand in the conversation: all that another process knows.
func (s sentEntries) remaining() sentEntries { return sentEntries{standing: s.standing} }

// behind are the entries behind a compaction: what stands in the messages that stay is
// still announced; a summary from a message on leaves the listing before it. The
// others are gone, and forgotten if the client lists anew.
func (s sentEntries) behind(c *CompactionEvent, forget bool) sentEntries {
	if c.Partial == "from" {
		return s
	}
	next := sentEntries{gone: s.gone}
	if forget {
		next.gone = table[SentEntry]{}
		s.gone.oldestFirst(func(name string, e SentEntry) {
			if c.Kept[e.UUID] {
				next.gone = next.gone.with(name, e)
			}
		})
	}
	s.standing.oldestFirst(func(name string, e SentEntry) {
		switch {
		case c.Kept[e.UUID]:
			next.standing = next.standing.with(name, e)
		case !forget:
			next.gone = next.gone.with(name, e)
		}
	})
	return next
}

// String lists the entries, whatever the tables hold beside them.
func (s sentEntries) String() string { return fmt.Sprintf("%v gone %v", s.standing, s.gone) }
