// Package why answers why a skill was not used for a prompt, or why it was.
//
// Between a skill's file and the model's use of it lies a chain of gates: the file must
// be there and be read, its entry must be listed and described, the listing must still
// stand in the conversation, somebody must call it, its text must come and stay. For a
// skill and a prompt the chain is walked from the front; the verdict is the first gate
// that failed.
//
//	replay.Result ── Prepare ──> Session ── Ask ──> Answer: a Question per prompt
//	                                        │            └── gates, verdict, advice
//	                                        └── Tally over many sessions
//
// Nothing here derives a rule: what was found, listed and trimmed, and what the client
// put back, comes from replay, skills and budget. Where an input is missing a gate is
// undetermined and names it. Whether the model should have chosen a skill is not judged.
package why

import (
	"github.com/skilltrace/skilltrace/replay"
)

// Gate is a link of the chain.
type Gate string

// The gates, in the order of the chain.
const (
	Exists    Gate = "exists"    // a file, or a line of the log, names the skill
	Loaded    Gate = "loaded"    // the client reads the file, and its front matter
	Eligible  Gate = "eligible"  // nothing keeps it from the model
	Announced Gate = "announced" // a listing told this agent of it
	Described Gate = "described" // with its whole description
	Present   Gate = "present"   // and the listing still stands in the conversation
	Asked     Gate = "asked"     // what the prompt said: facts only
	Called    Gate = "called"    // by the model or the user
	Delivered Gate = "delivered" // its text came
	InForce   Gate = "in_force"  // and stands in the conversation
)

// Gates lists all gates in order.
var Gates = []Gate{Exists, Loaded, Eligible, Announced, Described, Present, Asked, Called, Delivered, InForce}

// State is what is known of a gate.
type State string

// The states. Info marks what holds and does not decide: facts about the prompt, or a
// gate that failed for the model although the skill was used all the same.
const (
	Passed       State = "passed"
	Failed       State = "failed"
	Undetermined State = "undetermined"
	NotReached   State = "not_reached"
	Info         State = "info"
)

// Step is one gate of a question, with its evidence.
type Step struct {
	Gate   Gate
	State  State
	Reason string // plain words, without the name of the skill
	// Missing names the input that makes the gate undetermined.
	Missing string
	// Where is the evidence: a record of a log, or a line of a skill file, which has no
	// uuid and no time. Text is what stands there, or the part of it that matters.
	Where replay.Where
	Text  string
	// Private are the parts of Reason, Text and Notes that quote what was said, run or
	// printed in the session: no name, and no text of a skill file.
	Private []string
	// Notes are further facts, and advice what would make the gate pass, the most useful
	// first.
	Notes, Advice []string
}

// Verdict is the gate that decides a question. With everything passed up to the call it
// is the call, passed or failed.
type Verdict struct {
	Gate   Gate
	State  State
	Reason string // a sentence
	Where  replay.Where
}

// Question is a skill and a prompt.
type Question struct {
	Agent string
	// Prompt is the number of the prompt, 0 for a typed command, whose name Command is.
	Prompt    int
	Command   string
	Where     replay.Where
	Text      string // of the prompt
	Abandoned bool
	// Version is the client version by whose rules the prompt is judged: the one that it
	// was typed to. "" if it is not known.
	Version string
	// Shown is how the skill's entry stood in the conversation when the prompt was
	// answered; Predicted that this is what the rules say, as the log holds no listing.
	Shown     replay.Shown
	Predicted bool
	Steps     []Step // one for each of Gates
	Verdict   Verdict
	Words     Words

	agent *agent
	span  int
}

// Step is the step of a gate.
func (q *Question) Step(g Gate) *Step {
	for i := range q.Steps {
		if q.Steps[i].Gate == g {
			return &q.Steps[i]
		}
	}
	return nil
}

// Advice is what to do, the most useful first: that of the gate that decides, then that
// of the others which failed.
func (q *Question) Advice() []string {
	var out []string
	add := func(s *Step) {
		for _, a := range s.Advice {
			seen := false
			for _, b := range out {
				seen = seen || a == b
			}
			if !seen {
				out = append(out, a)
			}
		}
	}
	if s := q.Step(q.Verdict.Gate); s != nil {
		add(s)
	}
	for i := range q.Steps {
		if s := &q.Steps[i]; s.Gate != q.Verdict.Gate && s.State == Failed {
			add(s)
		}
	}
	return out
}

// Choice is a prompt for which the model called the skill, with success.
type Choice struct {
	Agent   string
	Prompt  int    // 0 for a typed command, whose name Command is
	Command string // likewise
	Where   replay.Where
}

// Words are the facts about what a prompt said.
type Words struct {
	// Shared are the words that the prompt and the skill's name and description have in
	// common, the rarest among all listed first.
	Shared []string
	// Rank is the place of the skill among all Listed by BM25, from 1; 0 where no word is
	// shared that tells skills apart, or the skill's text is not known.
	Rank, Listed int
	// Tied counts the others that have the same score.
	Tied int
	// Lacking are words of the prompt that the skill's name and description do not have,
	// in the order of the prompt, where it was visible and not chosen; the first of many.
	Lacking []string
	Score   float64
	// Language of the prompt and of the description, a guess by counting: its script, such
	// as "Latin letters", where no more is known, "" if nothing is.
	Language, SkillLanguage string
	// Foreign: the two are different languages.
	Foreign bool
	// Named: the prompt names the skill; Typed: as /name.
	Named, Typed bool
	// Mode is the permission mode of the prompt, "" where the log does not tell.
	Mode string
}
