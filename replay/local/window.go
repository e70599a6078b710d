package local

import (
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/skills"
)

// millionWindow is the window, in tokens, that a log proves which holds more than
// the usual one.
const millionWindow = 1_000_000

// window finds the context window and the listing budget that follows from it. The
// log names the model without the suffix that widens its window; what it holds may
// show that the window was wider.
func (f *finding) window() {
	f.ListingSize = f.listed.size(f.r.Size.Unit)
	usual := 0
	if f.Model != "" {
		usual = f.r.Size.WindowOf(f.Model)
	}
	switch {
	case f.o.Window > 0:
		f.Window = f.o.Window
		f.p.Window = f.Window
		f.use("window", "as given", "")
	case f.Model == "":
		f.lacks("window", "the log names no model; --window N gives it")
	case usual < millionWindow && f.longestPrompt() > int64(usual):
		f.Window = millionWindow
		f.p.Window = f.Window
		f.use("window", "by the log", "its prompts are longer than the model's usual window")
	case usual < millionWindow && f.tooLong(usual) && !f.tooLong(millionWindow):
		f.Window = millionWindow
		f.p.Window = f.Window
		f.use("window", "by the log", "its listing is longer than the model's usual window allows")
	default:
		f.Window = int64(usual)
		f.use("window", "by the model's name", "")
	}
	if f.Window > 0 && f.tooLong(int(f.Window)) {
		f.assume("the listing is longer than the rules allow for this window: a setting that is not known may be at work")
		return
	}
	window := int(f.Window)
	if f.p.Window == 0 {
		window = 0 // assumed, as by the client
	}
	limit, how := f.budget(window)
	f.Budget, f.BudgetSource = int64(limit), how
}

// budget is the listing budget in the client's unit, and where it comes from; 0 if
// unknown. A window of 0 is to be assumed.
func (f *finding) budget(window int) (limit int, how string) {
	env := f.p.Env[budget.EnvCharBudget]
	if f.Model == "" && env == "" && f.r.Size.Fixed == 0 {
		return 0, ""
	}
	n, how := budget.ListingBudget(f.r.Size, budget.BudgetInputs{Model: f.Model, Window: window, Env: env, Fraction: f.p.Settings.Fraction})
	return max(n, 0), how
}

// size is what the first whole listing takes of the budget: its entries, and the
// newlines between them.
func (l *listings) size(u budget.Unit) int {
	if l.whole == nil {
		return 0
	}
	n := len(l.whole) - 1
	for _, line := range l.whole {
		n += budget.Width(u, line.Raw)
	}
	return n
}

// longestPrompt is the size of the largest prompt of the main loop, in tokens.
func (f *finding) longestPrompt() int64 {
	var most int64
	if main := f.s.Main(); main != nil {
		for i := range main.Calls {
			c := &main.Calls[i]
			if !c.HasUsage || c.Model != f.Model {
				continue
			}
			most = max(most, c.Usage.Prompt())
		}
	}
	return most
}

// tooLong reports whether the first whole listing is longer than a window allows:
// over its budget, and yet with the text of an entry that over budget would have
// lost it. The client's own skills keep theirs in any case, and they have no colon
// in their names; those of plugins have.
func (f *finding) tooLong(window int) bool {
	limit, _ := f.budget(window)
	if limit <= 0 || f.ListingSize <= limit {
		return false
	}
	for _, l := range f.listed.whole {
		if l.Name != "" && !l.Bare && f.mayLoseText(l) {
			return true
		}
	}
	return false
}

func (f *finding) mayLoseText(l skills.ListedLine) bool {
	if !f.r.Size.ExemptBundled {
		return true
	}
	return strings.Contains(l.Name, ":") || f.yields(l.Name)
}

// yields reports whether a skill file at hand has the name.
func (f *finding) yields(name string) bool {
	if f.Inputs.Files == nil {
		return false
	}
	for _, g := range f.Inputs.Given {
		if g.Name == name {
			return g.Place == skills.PlaceBuiltin
		}
	}
	return true
}
