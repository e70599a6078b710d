package ledger

import (
	"math"
	"slices"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
)

// account sizes the texts of one agent, call by call.
//
// A size is first estimated from the characters of its text, in parts that are each
// scaled by what the agent's own differences teach. Better is known of some: a reply
// was billed as output, and what is not thinking comes back in the prompts that
// follow; a body that is put back after a compaction was sized when it was loaded;
// a text that is sent again has the size that it had. Then what the texts of a call
// must sum to is divided so that each moves as far as its estimate is loose.
type account struct {
	*prompts
	agent    *replay.Agent
	models   map[string]*lessons
	*lessons                 // of the model of the call in hand
	unseen   map[int32]int64 // by the first segment of a prompt: tokens that no segment shows
	basis    []Basis         // of each known segment

	// front is how many tokens stand before all messages: system prompt and tools.
	// -1 where nothing shows it.
	front int64
	model string // for which it holds

	fresh    []int // segments that the call in hand is the first to send
	before   int   // the last segment before these, -1 if there is none
	rest     int64 // what no segment of the prompt in hand shows
	restOnce int64 // of rest, what no prompt before had: all of it with the first one
	restSent int64 // the largest rest so far
	anew     bool  // the prompt in hand could not be explained
	guess    []guess
	shares   []float64
	groups   []group
	member   []int // of groups
}

// lessons are what a session teaches of a model, in whatever agent.
type lessons struct {
	calibration
	// sized are the tokens of texts that a recorded difference has sized, and bodies
	// the tokens for one of the estimate, by skill.
	sized  map[string]guess
	bodies map[string]guess
	front  int64 // of the main loop, -1 if not known
}

// accounts prepares the accounts of a session's agents, with what all of them teach.
func accounts(s *replay.Session) []*account {
	out := make([]*account, len(s.Agents))
	lists := map[string][]equation{}
	for i, a := range s.Agents {
		out[i] = newAccount(a)
		equations(lists, out[i].prompts, a.Calls)
	}
	models := map[string]*lessons{}
	for i, a := range s.Agents {
		out[i].models = models
		for j := range a.Calls {
			if m := a.Calls[j].Model; models[m] == nil {
				models[m] = &lessons{calibration: calibrate(lists[m]), sized: map[string]guess{}, bodies: map[string]guess{}, front: -1}
			}
		}
	}
	return out
}

// group holds the fresh texts of a kind, and how far they may be off together.
type group struct {
	kind kind
	off  float64
}

// guess is what is thought of the size of a text.
type guess struct {
	tokens float64
	loose  float64 // how far it may be off, as a share of it
}

// How loose estimates are: of what was billed or sized before, of what was sized at
// the front of a prompt, of a text by its characters, of a text that is not in the
// log.
const (
	looseKnown  = 0.02
	looseFirst  = 0.05
	looseText   = 0.10
	looseUnread = 0.35
)

// contextTokens is the estimate of what the client puts before the first prompt and
// no log shows: on clients that record no environment, a reminder of 306 characters
// with the date (lifecycle/compact 2.1.112). Prose of that length would be 69; tags,
// signs and figures make more.
const contextTokens = 78

// minSized is from what length on the size of a text is remembered, in bytes.
const minSized = 40

func newAccount(a *replay.Agent) *account {
	acc := &account{prompts: newPrompts(a.Segments), agent: a, unseen: map[int32]int64{}, basis: make([]Basis, len(a.Segments)), front: -1}
	acc.findFront()
	return acc
}

// findFront looks for a request that began a prompt anew and still read from the
// cache: what it read are the system prompt and the tools, which stand before all
// messages and stay as they are.
func (acc *account) findFront() {
	first := true
	last := int32(-1)
	for i := range acc.agent.Calls {
		c := &acc.agent.Calls[i]
		if !c.HasUsage || c.Tail < 0 {
			continue
		}
		head := acc.first[c.Tail]
		if head == last {
			continue
		}
		last = head
		// The first request of all may read what another session left; it is taken
		// where nothing better is known. Messages that stay after a compaction can
		// have been read too.
		kept := acc.segments[head].Kept > 0
		if c.Usage.CacheRead > 0 && !kept && (acc.front < 0 || !first) {
			acc.front, acc.model = c.Usage.CacheRead, c.Model
			if !first {
				return
			}
		}
		first = false
	}
}

// size makes the texts of a call's prompt known.
func (acc *account) size(c *replay.APICall) {
	p := acc.prompts
	acc.lessons = acc.models[c.Model]
	// The longest part of the prompt whose sizes are known, and what came behind it.
	acc.fresh, acc.before = p.fresh(c.Tail, acc.fresh[:0])
	total := c.Usage.Prompt()
	head := int32(-1)
	if c.Tail >= 0 {
		head = p.first[c.Tail]
	}
	expected := acc.guesses()
	rest, known := acc.unseen[head]
	room := total - p.total(acc.before) - rest
	acc.anew = false
	switch {
	case !known:
		rest, room = acc.begin(c, total, expected)
		if room < 0 {
			acc.estimate(Estimated)
			p.fit(c.Tail, total)
			rest = max(total-p.total(c.Tail), 0)
		} else {
			acc.divide(room, Anchored)
			acc.learn(looseFirst)
		}
		acc.unseen[head] = rest
		if acc.front < 0 {
			// The next prompt begins with the same.
			acc.front, acc.model = rest, c.Model
		}
		if acc.agent.ID == "main" && acc.lessons.front < 0 && acc.model == c.Model {
			acc.lessons.front = acc.front
		}
	case room >= 0 && len(acc.fresh) > 0 && float64(room) >= expected/4-50:
		basis := Anchored
		if len(acc.fresh) == 1 {
			basis = Exact
		}
		acc.divide(room, basis)
		acc.learn(looseKnown)
	case room == 0 && len(acc.fresh) == 0:
	default:
		// Something fell out of the prompt, or came into it, that no record shows.
		acc.anew = true
		acc.estimate(Estimated)
		if over := p.total(c.Tail) + rest - total; over > 0 && !p.shrink(c.Tail, over) {
			p.fit(c.Tail, total)
		}
		rest = max(total-p.total(c.Tail), 0)
		acc.unseen[head] = rest
	}
	acc.rest = rest
	acc.restOnce = max(rest-acc.restSent, 0)
	acc.restSent = max(acc.restSent, rest)
}

// begin decides what stands before the messages of a prompt that begins anew, and
// what is left for its texts: less than nothing where that is not known.
func (acc *account) begin(c *replay.APICall, total int64, expected float64) (rest, room int64) {
	fronts := [2]int64{-1, -1}
	if acc.model == c.Model {
		fronts[0] = acc.front
	}
	if acc.agent.Inherits {
		fronts[1] = acc.lessons.front
	}
	for _, rest := range fronts {
		if rest < 0 || expected == 0 {
			continue
		}
		if !acc.agent.Environment {
			rest += int64(math.Round(contextTokens * acc.factors[0]))
		}
		// What else the prompt holds, as the user's instructions, is in no log: where
		// the texts do not nearly fill the room, they are not stretched to.
		room := total - rest
		if d := float64(room) - expected; d >= -0.25*expected-60 && d <= 0.15*expected+40 {
			return rest, room
		}
	}
	return 0, -1
}

// guesses estimates the fresh texts, and returns their sum.
func (acc *account) guesses() (sum float64) {
	acc.guess = acc.guess[:0]
	for k := 0; k < len(acc.fresh); k++ {
		g := &acc.segments[acc.fresh[k]]
		e := guess{acc.estimated(acc.fresh[k]), looseText}
		if old := g.Kept - 1; old >= 0 && acc.known[old] {
			e = guess{float64(acc.tokens[old]), looseKnown}
		} else if t, ok := acc.sized[g.Text]; ok && g.Text != "" {
			e = t
		} else if ratio, ok := acc.bodies[g.Skill]; ok && g.Part == replay.PartReattachment {
			e = guess{replay.EstimateTokens(g.Size) * ratio.tokens, ratio.loose}
		} else if g.Rough {
			e.loose = looseUnread
		}
		acc.guess = append(acc.guess, e)
	}
	// Replies, whose segments stand together.
	for k := 0; k < len(acc.fresh); {
		reply := acc.segments[acc.fresh[k]].Reply
		n, text := k, 0.0
		for n < len(acc.fresh) && acc.segments[acc.fresh[n]].Reply == reply {
			text += acc.guess[n].tokens
			n++
		}
		if reply > 0 {
			if t, ok := resent(&acc.agent.Calls[reply-1], text); ok {
				for ; k < n; k++ {
					acc.guess[k] = guess{acc.guess[k].tokens * t / text, looseKnown}
				}
			}
		}
		k = n
	}
	for _, e := range acc.guess {
		sum += e.tokens
	}
	return sum
}

// resent is how many tokens of a reply come back in the next prompt: what it was
// billed for, without the thinking. text is the estimate of them; where the two do
// not go together, as in replies whose final usage is missing, nothing is known.
func resent(c *replay.APICall, text float64) (float64, bool) {
	if !c.Final || !c.HasUsage || text == 0 {
		return 0, false
	}
	t := float64(c.Usage.Output - c.Usage.Thinking)
	if c.Usage.Thinking == 0 && c.Thinking != (jsonl.Size{}) {
		return 0, false
	}
	return t, t > 0.5*text-5 && t < 2.5*text+30
}

// estimate takes the guesses for the sizes.
func (acc *account) estimate(basis Basis) {
	for k, i := range acc.fresh {
		acc.set(i, int64(math.Round(acc.guess[k].tokens)))
		acc.basis[i] = basis
	}
}

// divide gives the fresh texts what they must sum to. What the guesses lack, or have
// too much, is shared out by their size and how loose they are.
func (acc *account) divide(room int64, basis Basis) {
	sum, give := 0.0, 0.0
	sink := -1
	for k := range acc.guess {
		e := &acc.guess[k]
		sum += e.tokens
		g := &acc.segments[acc.fresh[k]]
		if g.Reply == 0 && (g.Layer == replay.LayerOther || g.Layer == replay.LayerCall) && (sink < 0 || e.tokens*e.loose > acc.guess[sink].tokens*acc.guess[sink].loose) {
			sink = k
		}
	}
	// Far more than all texts explain is something that the log does not show, as a
	// picture or what a hook said; it is no text of a skill.
	if float64(room) > farMore(sum) && sink >= 0 && len(acc.guess) > 1 {
		acc.guess[sink] = guess{acc.guess[sink].tokens + float64(room) - sum, 1}
		sum = float64(room)
	}
	// Texts of a kind err together, those of different kinds each for itself.
	acc.groups = acc.groups[:0]
	for k, e := range acc.guess {
		g := &acc.segments[acc.fresh[k]]
		of := kindOf(g)
		if g.Reply > 0 {
			of = kind{part: replay.PartUse}
		}
		n := slices.IndexFunc(acc.groups, func(x group) bool { return x.kind == of })
		switch {
		case n >= 0:
		case len(acc.groups) == maxKinds:
			n = maxKinds - 1 // so many kinds at once are in no real log
		default:
			n = len(acc.groups)
			acc.groups = append(acc.groups, group{kind: of})
		}
		acc.groups[n].off += e.tokens * e.loose
		acc.member = append(acc.member[:k], n)
	}
	for _, x := range acc.groups {
		give += x.off * x.off
	}
	acc.shares = acc.shares[:0]
	for k, e := range acc.guess {
		t := e.tokens
		if give > 0 {
			// Of what is off a group takes off²/give, of that a text its share.
			t += (float64(room) - sum) * acc.groups[acc.member[k]].off / give * e.tokens * e.loose
		}
		acc.shares = append(acc.shares, max(t, e.tokens/10))
	}
	for k, t := range budget.Apportion(room, acc.shares) {
		acc.set(acc.fresh[k], t)
		acc.basis[acc.fresh[k]] = basis
	}
}

// learn remembers the sizes of the fresh texts, which are as loose as given where a
// text made up all that was new, and looser where it was a part of it.
func (acc *account) learn(loose float64) {
	var all int64
	for _, i := range acc.fresh {
		if acc.segments[i].Reply == 0 {
			all += acc.tokens[i]
		}
	}
	for _, i := range acc.fresh {
		g := &acc.segments[i]
		t := acc.tokens[i]
		if len(g.Text) < minSized || t == 0 {
			continue
		}
		e := guess{float64(t), loose + (looseText-loose)/2*float64(all-t)/float64(all)}
		if g.Part == replay.PartLine {
			e.loose = loose // the lines of a listing lie together
		}
		switch g.Part {
		case replay.PartBody, replay.PartReattachment:
			if x := replay.EstimateTokens(g.Size); x > 0 {
				remember(acc.bodies, g.Skill, guess{e.tokens / x, e.loose})
			}
			remember(acc.sized, g.Text, e)
		case replay.PartLine:
			remember(acc.sized, g.Text, e)
		}
	}
}

// remember keeps the less loose of what is known.
func remember(known map[string]guess, key string, e guess) {
	if old, ok := known[key]; !ok || e.loose <= old.loose {
		known[key] = e
	}
}

// estimated is the estimate of a segment, scaled.
func (acc *account) estimated(i int) float64 {
	g := &acc.segments[i]
	return acc.scaled(kindOf(g), estimateOf(g))
}

// The parts of an estimate that are scaled each for itself.
const estimateParts = 3

// estimateOf is the estimate of a segment, by part.
func estimateOf(g *replay.Segment) [estimateParts]float64 {
	p := replay.Profile(g.Size)
	return [estimateParts]float64{p.Plain(), p.Marks(), p.Wide()}
}
