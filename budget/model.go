package budget

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// EnvCharBudget is the environment variable that sets the listing budget.
const EnvCharBudget = "SLASH_COMMAND_TOOL_CHAR_BUDGET"

// BudgetInputs is what the listing budget depends on besides the client version.
type BudgetInputs struct {
	// Model is the resolved name of the model, not an alias.
	Model string
	// Window is the context window in tokens where it is known or was given by
	// the user; 0 to go by the model.
	Window int
	// Env is the value of EnvCharBudget; empty if not set.
	Env string
	// Fraction is the setting skillListingBudgetFraction; 0 if not set.
	Fraction float64
}

// charsPerToken is what the client assumes for all models but the new ones.
const charsPerToken = 4

// maxBudget bounds what a setting can ask for, in characters.
const maxBudget = 1 << 40

// ListingBudget is the listing budget in the unit of Size.Unit, and in words
// where it comes from. The environment beats everything (recorded: both_env), then
// the fixed budget of the oldest clients, then the share of the context window.
// A negative number of the environment is honoured (recorded: boundary at 2.1.20).
// 0 and what is no whole number count as not set, likewise a fraction that is not
// above 0: not recorded.
func ListingBudget(s Size, in BudgetInputs) (budget int, how string) {
	if n, err := strconv.Atoi(strings.TrimSpace(in.Env)); err == nil && n != 0 {
		return max(min(n, maxBudget), -maxBudget), EnvCharBudget
	}
	if s.Fixed > 0 {
		return s.Fixed, "fixed"
	}
	fraction, source := float64(s.Percent)/10_000, ""
	if s.FractionSetting && in.Fraction > 0 {
		fraction, source = in.Fraction, "skillListingBudgetFraction: "
	}
	window, assumed := in.Window, ""
	if window <= 0 {
		window, assumed = s.WindowOf(in.Model), ", window assumed"
	}
	chars := s.CharsPerToken(in.Model)
	// The order of the products is the client's, so that the double that is
	// rounded down is the same (recorded at 0.01 and 0.02; others were compared
	// with JavaScript).
	n := math.Floor(float64(window) * float64(chars) * fraction)
	how = fmt.Sprintf("%s%s %% of %s tokens%s", source, strconv.FormatFloat(fraction*100, 'g', 6, 64), Grouped(window), assumed)
	if chars != charsPerToken {
		how += fmt.Sprintf(", %d characters per token", chars)
	}
	return int(min(n, maxBudget)), how
}

// FractionFor is the skillListingBudgetFraction that gives a listing the room that it
// wants, where another gives it some: in ten-thousandths, rounded up, as the budget is
// rounded down. A fraction of 0 stands for the client's own, Size.Percent.
func FractionFor(s Size, fraction float64, budget, want int) float64 {
	if fraction <= 0 {
		fraction = float64(s.Percent) / 10_000
	}
	return math.Ceil(fraction*float64(want)/float64(budget)*10_000-1e-9) / 10_000
}

// Grouped is a number with a comma before each three digits.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Characters is a number of characters in words.
func Characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return Grouped(n) + " characters"
}

// CharsPerToken is the number of characters that the client counts for one token
// of the model.
func (s Size) CharsPerToken(model string) int {
	if s.NewModelChars > 0 && NewModel(model) {
		return s.NewModelChars
	}
	return charsPerToken
}

// The two windows that the client assumes, in tokens.
const (
	windowSmall   = 200_000
	windowMillion = 1_000_000
)

// anyUnknown stands in Size.MillionModels for every model that is not known.
const anyUnknown = "unknown"

// WindowOf is the context window that the client assumes for a resolved model
// name, in tokens.
func (s Size) WindowOf(model string) int {
	if hasMillionSuffix(model) {
		return windowMillion
	}
	id := modelID(model)
	for _, m := range s.MillionModels {
		if m == anyUnknown && !knownModel(id) || m != anyUnknown && hasModelPrefix(id, modelID(m)) {
			return windowMillion
		}
	}
	return windowSmall
}

func hasMillionSuffix(model string) bool {
	return strings.Contains(strings.ToLower(model), "[1m]")
}

// lastOldMinor is the last minor version of generation 4 that is not new.
var lastOldMinor = []struct {
	prefix string
	minor  int
}{
	{"claude-opus-4", 6}, {"claude-sonnet-4", 6}, {"claude-haiku-4", 5},
}

// NewModel reports whether the client counts the model among the new ones: newer
// than opus-4-6, sonnet-4-6 and haiku-4-5, or unknown to it (recorded: listing
// models, models_new).
func NewModel(model string) bool {
	id := modelID(model)
	for _, old := range []string{"claude-2", "claude-3", "claude-instant"} {
		if strings.HasPrefix(id, old) {
			return false
		}
	}
	for _, old := range lastOldMinor {
		if hasModelPrefix(id, old.prefix) {
			minor, ok := minorVersion(id[len(old.prefix):])
			return ok && minor > old.minor
		}
	}
	return true
}

// minorVersion is the number after the dash that rest begins with. A date is none.
func minorVersion(rest string) (n int, ok bool) {
	digits, found := strings.CutPrefix(rest, "-")
	end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		digits = digits[:end]
	}
	if !found || len(digits) == 0 || len(digits) > 2 {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

// knownModel reports whether the id names a model of a family and generation that
// clients up to 2.1.332 know by name.
func knownModel(id string) bool {
	for _, known := range []string{
		"claude-2", "claude-3", "claude-instant", "claude-opus-4", "claude-opus-5",
		"claude-sonnet-4", "claude-sonnet-5", "claude-haiku-4", "claude-haiku-5",
		"claude-fable-5", "claude-mythos-5",
	} {
		if hasModelPrefix(id, known) {
			return true
		}
	}
	return false
}

// modelID is the model's own name in lower case: without the provider and region
// that may stand before it, as in "us.anthropic.claude-…" or "anthropic/claude-…".
func modelID(model string) string {
	id := strings.ToLower(strings.TrimSpace(model))
	if i := strings.LastIndexAny(id, "/"); i >= 0 {
		id = id[i+1:]
	}
	if i := strings.Index(id, "claude-"); i > 0 && strings.ContainsRune(".:/", rune(id[i-1])) {
		id = id[i:]
	}
	return id
}

// hasModelPrefix reports whether id is the model prefix or a variant of it: what
// follows begins with "-", "[" or "@".
func hasModelPrefix(id, prefix string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	return ok && (rest == "" || strings.ContainsRune("-[@", rune(rest[0])))
}
