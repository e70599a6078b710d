package ledger

import (
	"iter"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
)

// Key is what a charge is for.
type Key struct {
	Layer replay.Layer
	Skill string // "" where no skill can be named: headings, other, most output
	Part  replay.Part
	// Repeat: the same text of the same skill stood in this prompt already, as the
	// line of a listing that was sent again, or a body that was loaded twice.
	Repeat bool
}

// Charge is what one call took for one key.
type Charge struct {
	Key
	// Tokens are the tokens as billed. Over the charges of a call each kind sums to
	// the recorded usage.
	Tokens Tokens
	// Once counts those of Tokens that are no output and belong to texts which no
	// earlier call of the agent sent. The others were carried.
	Once  int64
	Basis Basis
	// Cost is the exact price of Tokens, none where the call is not priced. Round
	// sums of it together, with [budget.RoundAmounts], so that rows make the total.
	Cost budget.Amount
}

// Carried are the tokens of texts that earlier calls of the agent had sent.
func (c *Charge) Carried() int64 {
	return c.Tokens.Input + c.Tokens.CacheWrite5m + c.Tokens.CacheWrite1h + c.Tokens.CacheRead - c.Once
}

// Call is one model request with its charges. It is valid until the next one is
// asked for.
type Call struct {
	Session *replay.Session
	Agent   *replay.Agent // its ID is "main" for the main loop; OnBehalfOf is the skill that it works for
	// APICall has where and when, the model, and the usage as recorded. Without usage
	// (HasUsage) there are no charges. Where it is not Final the usage is at least that.
	*replay.APICall
	Charges []Charge // by layer, skill and part; none is empty
	// Priced: a price is known for the model.
	Priced bool
	// Cost is the price of the call; Searches the part of it that is for web
	// searches, which is in no charge. The costs of the charges sum to the rest.
	Cost, Searches budget.Amount
	// Reanchored: the prompt was shorter than its known texts say, without a
	// compaction (its client had taken something out), or longer without a new text.
	Reanchored bool
	// UnknownLifetime: cache writes without their lifetime, priced at five minutes.
	UnknownLifetime bool
}

// Calls goes over the model requests of a session, all agents and all branches:
// all were paid. Those of one agent come in the order in which they were made. Only
// those that only admits are shown; a nil only admits all (see [Owners]).
func Calls(s *replay.Session, prices *budget.Book, only func(*replay.APICall) bool) iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		for _, acc := range accounts(s) {
			if !newSplitter(s, acc, prices).each(only, yield) {
				return
			}
		}
	}
}

// Sum adds charges up, for a row of the caller's.
type Sum struct {
	Tokens Tokens
	Once   int64
	Cost   budget.Amount
	Basis  Basis // the weakest; "" of no charge
}

// Add adds a charge.
func (s *Sum) Add(c *Charge) {
	s.Tokens.Add(c.Tokens)
	s.Once += c.Once
	s.Cost = s.Cost.Add(c.Cost)
	if s.Basis == "" {
		s.Basis = c.Basis
	} else {
		s.Basis = weaker(s.Basis, c.Basis)
	}
}

// Carried is what was sent again.
func (s *Sum) Carried() int64 {
	return s.Tokens.Input + s.Tokens.CacheWrite5m + s.Tokens.CacheWrite1h + s.Tokens.CacheRead - s.Once
}
