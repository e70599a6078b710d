package replay

import "strconv"

// ListingCause is why the client sent a later listing.
type ListingCause string

// The causes; "" is one that the log does not show.
const (
	CauseStart      ListingCause = "start" // a new process
	CauseResume     ListingCause = "resume"
	CauseCompaction ListingCause = "compaction"
	CauseChange     ListingCause = "change" // of the skills that there are
)

// LedTo looks back, from an event on along its branch, for what made the client send
// a listing. The second result is the event, -1 where only the listing itself tells:
// one of additions (partial) needs no other cause than that files changed.
func LedTo(events []Event, from int, partial bool) (ListingCause, int) {
	for i := from; i >= 0; i = events[i].Parent {
		e := &events[i]
		switch e.Kind {
		case Compaction:
			return CauseCompaction, i
		case Start:
			if e.Start != nil && e.Start.Resume {
				return CauseResume, i
			}
			return CauseStart, i
		case CatalogueChange, Touch, Entered:
			return CauseChange, i
		case Listing:
			if partial {
				return CauseChange, -1
			}
			return "", -1
		}
	}
	return "", -1
}

// unpredicted says of a listing that no rule leads to by the files as far as they are
// known what is missing: mostly the log shows why it came, and only what was due then
// is not known.
func (c *comparer) unpredicted(at int, first, noFiles bool) (missing, reason string) {
	e := &c.agent.Events[at]
	cause, by := LedTo(c.agent.Events, e.Parent, partial(e))
	if first || cause == "" {
		return "what led to it", "nothing in the inputs leads to a listing here"
	}
	missing = filesThen
	if noFiles && cause != CauseChange {
		missing = skillFiles
	}
	line := ""
	if by >= 0 {
		line = lineOf(&c.agent.Events[by])
	}
	switch cause {
	case CauseCompaction:
		reason = "the conversation was compacted" + line + ", and what was due then follows from the skill files"
	case CauseResume:
		reason = "the session was resumed" + line + ", and what was new then follows from the skill files"
	case CauseStart:
		reason = "a new process began" + line + ", and what was new then follows from the skill files"
	default:
		reason = "skills changed, and how follows from the skill files before and after"
		if by >= 0 {
			reason = "files were used" + line + ", and whether that changed or brought in skills follows from the skill files as they were then"
		}
	}
	return missing, reason
}

// skillFiles names the missing input where no skill files are known at all.
const skillFiles = "skill files"

// partial reports whether a listing says of itself that it holds additions only.
func partial(e *Event) bool {
	return e.Listing != nil && e.Listing.HasInitial && !e.Listing.Initial
}

// lineOf says where an event stands, "" where no line tells.
func lineOf(e *Event) string {
	if e.Where.Line == 0 {
		return ""
	}
	return " (line " + strconv.Itoa(e.Where.Line) + ")"
}
