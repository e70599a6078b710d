package budget

// RoughTokens is the client's own estimate of the tokens of s: a quarter of its
// UTF-16 code units, rounded half up (recorded: 20,001 units stay whole under a
// limit of 5,000 tokens, 20,002 do not).
func RoughTokens(s string) int {
	return (Len16(s) + 2) / roughCharsPerToken
}

const roughCharsPerToken = 4

// ReattachMarker ends a body that was cut for a compaction, word for word as the
// client writes it.
const ReattachMarker = "\n\n[... skill content truncated for compaction; use Read on the skill path if you need the full text]"

// Reattached is what becomes of one body at a compaction.
type Reattached struct {
	// Index is the body's place in the contents given.
	Index int
	// Content is the body as it comes back: whole, or cut and with the marker.
	// It is filled in also where the body is dropped, as the text that did not fit.
	Content string
	// Cut: the body was too long and lost its end.
	Cut bool
	// Kept: the body comes back; otherwise the total was used up.
	Kept bool
	// Tokens are the rough tokens of Content.
	Tokens int
	// Over is by how many rough tokens it exceeded what was left; 0 if kept.
	Over int
}

// Reattach decides which bodies come back after a compaction, in the order
// given, most recent first: each is cut to r.SkillTokens and comes back if it
// still fits into r.TotalTokens; one that does not is skipped, and a later,
// smaller one may still fit (recorded: from 2.1.84; before, all come back whole),
// unless r.Stop says otherwise.
// A cut may split a surrogate pair.
func Reattach(contents []string, r Reattachment) []Reattached {
	out := make([]Reattached, len(contents))
	used, full := 0, false
	for i, c := range contents {
		e := Reattached{Index: i, Content: c, Kept: true, Tokens: RoughTokens(c)}
		if r.Limited {
			if cut, long := r.cut(c, e.Tokens); long {
				e.Cut, e.Content, e.Tokens = true, cut, RoughTokens(cut)
			}
			if over := used + e.Tokens - r.TotalTokens; over > 0 && (r.TotalTokens > 0 || r.SkillChars == 0) {
				e.Kept, e.Over = false, over
				full = true
			} else if full && r.Stop {
				e.Kept = false
			}
		}
		if e.Kept {
			used += e.Tokens
		}
		out[i] = e
	}
	return out
}

// cut is a body under the limit for one, and whether it was longer.
func (r Reattachment) cut(content string, tokens int) (string, bool) {
	limit := r.SkillTokens * roughCharsPerToken
	switch {
	case r.SkillChars > 0:
		limit = r.SkillChars
		if Len16(content) <= limit {
			return content, false
		}
	case tokens <= r.SkillTokens:
		return content, false
	}
	if r.BareCut {
		return Cut16(content, limit), true
	}
	return Cut16(content, limit-Len16(ReattachMarker)) + ReattachMarker, true
}
