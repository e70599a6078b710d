package replay

import (
	"math"

	"github.com/skilltrace/skilltrace/jsonl"
)

// Shape is what stands before the messages of a request, as a record of it shows.
type Shape struct {
	System    jsonl.Size // the system prompt, without a listing that stands in it
	Tools     jsonl.Size // the definitions of the tools but Skill
	SkillTool jsonl.Size // that of the tool Skill, without a listing that stands in it
}

// sent is what the records of requests show of them (2.1.290 on).
type sent struct {
	shapes   map[string]*Shape
	messages map[string]sentMessage
	requests map[string]sentRequest
}

// sentMessage is a message of a request.
type sentMessage struct {
	role    string // user, assistant, system
	size    jsonl.Size
	clipped bool // size is of a part of it
}

// sentRequest names the messages of a request: the first ones of another, and more.
type sentRequest struct {
	shape, base string
	keep        int64
	tail        []string
}

func (q *sentRequest) messages() int64 { return q.keep + int64(len(q.tail)) }

func newSent() sent {
	return sent{map[string]*Shape{}, map[string]sentMessage{}, map[string]sentRequest{}}
}

// note takes a record of a request.
func (s *sent) note(r *jsonl.Record) {
	switch {
	case r.Kind == jsonl.KindAPIRequest && r.Request != nil && r.Request.ID != "":
		q := r.Request
		s.requests[q.ID] = sentRequest{r.Hash, q.Base, max(q.Keep, 0), q.Tail}
	case r.Kind == jsonl.KindAPIRequestShape && r.Shape != nil && r.Hash != "":
		s.shapes[r.Hash] = newShape(r.Shape.System, r.Shape.Missing, r.Shape.Tools, r.Missing)
	case r.Kind == jsonl.KindAPIRequestBlob && r.Message != nil && r.Hash != "":
		m := sentMessage{role: r.Message.Role, clipped: r.Missing > 0}
		for i := range r.Message.Blocks {
			m.size.Add(r.Message.Blocks[i].Size)
		}
		s.messages[r.Hash] = m
	}
}

// newShape measures a shape. What a recording lacks is told for each text, or for the
// whole: then each is taken to lack its part.
func newShape(system jsonl.Size, lacks int64, tools []jsonl.ToolDef, missing int64) *Shape {
	s := &Shape{System: grown(system, lacks)}
	for i := range tools {
		t := &tools[i]
		lacks += t.Missing
		switch {
		case t.Deferred:
		case t.Name == "Skill":
			s.SkillTool.Add(grown(t.Size, t.Missing))
		default:
			s.Tools.Add(grown(t.Size, t.Missing))
		}
	}
	if all := s.System.Len16() + s.Tools.Len16() + s.SkillTool.Len16(); lacks == 0 && missing > 0 && all > 0 {
		for _, z := range []*jsonl.Size{&s.System, &s.Tools, &s.SkillTool} {
			*z = grown(*z, int64(float64(missing)*float64(z.Len16())/float64(all)))
		}
	}
	return s
}

// snapshotShape is the shape that a record of the prompt shows; nil if it shows none.
func snapshotShape(r *jsonl.Record, shows *snapshot) *Shape {
	a := r.Attachment
	if len(a.SystemPrompt) == 0 && len(a.Tools) == 0 {
		return nil
	}
	s := newShape(a.SystemPrompt.Size(), 0, a.Tools, r.Missing)
	if shows != nil {
		s.System.Sub(jsonl.Measure(shows.section + shows.body))
		s.SkillTool.Sub(jsonl.Measure(shows.tool))
	}
	return s
}

// or is the shape with the parts of another where it has none: the first record of a
// prompt does not show the tools.
func (s *Shape) or(o *Shape) *Shape {
	switch {
	case s == nil:
		return o
	case o == nil || s.Tools != (jsonl.Size{}):
		return s
	}
	both := *s
	both.Tools, both.SkillTool = o.Tools, o.SkillTool
	return &both
}

// Whole reports whether a shape shows the system prompt and the tools.
func (s *Shape) Whole() bool {
	return s != nil && s.System != (jsonl.Size{}) && s.Tools != (jsonl.Size{})
}

// grown is the size of a text of which n characters more are known to be there: such
// as those that are.
func grown(z jsonl.Size, n int64) jsonl.Size {
	have := z.Len16()
	if n <= 0 || have == 0 {
		return z
	}
	by := 1 + min(float64(n), math.MaxInt32)/float64(have)
	for _, p := range []*int{&z.Letters, &z.Digits, &z.Blanks, &z.Punct, &z.CJK, &z.Other, &z.Words} {
		*p = int(float64(*p)*by + 0.5)
	}
	return z
}

// shapeOf is the shape of a request, by the record that its reply names. Only the
// records of the prompt tell listings in it from the rest.
func (w *walker) shapeOf(ref string) *Shape {
	if q, ok := w.observer.sent.requests[ref]; ok && w.lastSection == "" && w.lastTool == "" && w.lastBody == "" {
		if s := w.observer.sent.shapes[q.shape]; s.Whole() {
			return s
		}
	}
	return w.shape
}

// shapeBefore gives the first calls the shape of those behind them, where it is not
// recorded: a record of the prompt shows the tools only from the second on.
func (w *walker) shapeBefore() {
	var next *Shape
	for i := len(w.agent.Calls) - 1; i >= 0; i-- {
		c := &w.agent.Calls[i]
		if c.Shape.Whole() {
			next = c.Shape
		} else {
			c.Shape = next
		}
	}
}

// minUnrecorded is from what length on a text counts that only the record of a request
// shows, in characters: the client joins texts with line feeds, which no other record
// has (at most 12 in the recordings).
const minUnrecorded = 64

// maxSentWalked bounds how many segments are looked at for requests, for each segment
// of an agent: in real logs each is looked at once.
const maxSentWalked = 16

// compareSent sets what the request of the record in hand sent to the model beside the
// texts that other records show. What it sent more, such as instructions of a project,
// is added. Models that take messages of a role of their own for the client's words get
// these apart from results, and some of them without tags (listing/models 2.1.332).
func (w *walker) compareSent(ref string) {
	sent := &w.observer.sent
	q, ok := sent.requests[ref]
	if !ok {
		return
	}
	defer func() { w.ends[ref] = w.promptTail() }()
	fresh, ok := w.freshFor(&q)
	if !ok {
		return
	}
	var size jsonl.Size
	others := 0 // messages that the model wrote, or whose text is not known
	apart, clipped := false, false
	for _, hash := range q.tail {
		m, ok := sent.messages[hash]
		if !ok || m.role == "assistant" {
			others++
			continue
		}
		apart = apart || m.role == "system"
		clipped = clipped || m.clipped
		size.Add(m.size)
	}
	var known jsonl.Size
	reply, tagged := 0, 0
	for _, i := range fresh {
		g := &w.agent.Segments[i]
		if apart && g.apart {
			tagged++
			if g.Layer == LayerCall || g.Layer == LayerReference {
				g.Layer, g.Skill, g.Part = LayerOther, "", PartMessages
			}
		}
		switch {
		case g.Reply == 0:
			known.Add(g.Size)
		case g.Reply != reply: // each is one message
			reply = g.Reply
			others--
		}
	}
	if others != 0 || clipped {
		return
	}
	tags := jsonl.Measure(reminderTags)
	if over := known.Len16() - size.Len16(); tagged > 0 && 2*over > tagged*tags.Len16() {
		for _, i := range fresh {
			if g := &w.agent.Segments[i]; g.apart {
				g.Size.Sub(tags)
			}
		}
		return
	}
	if size.Len16()-known.Len16() < minUnrecorded {
		return
	}
	size.Sub(known)
	w.add(Segment{Layer: LayerOther, Part: PartMessages, Size: size})
}

// freshFor are the segments that a request is the first to send, from its end; false
// where that cannot be told.
func (w *walker) freshFor(q *sentRequest) (fresh []int, ok bool) {
	from := -1
	if q.base != "" {
		base := w.observer.sent.requests[q.base]
		if from, ok = w.ends[q.base]; !ok || q.keep != base.messages() {
			return nil, false
		}
	}
	for i := w.promptTail(); i != from; i = w.agent.Segments[i].Prev {
		if w.walked++; i < 0 || w.walked > maxSentWalked*(len(w.agent.Segments)+1) {
			return nil, false
		}
		fresh = append(fresh, i)
	}
	return fresh, true
}
