package budget

// Unit is how the size of a listing line is counted.
type Unit string

// The units.
const (
	UnitUTF16    Unit = "utf16"    // UTF-16 code units
	UnitGrapheme Unit = "grapheme" // display width per grapheme, ambiguous 1
	UnitBun      Unit = "bun"      // display width as Bun.stringWidth
)

// Overflow is what happens to a listing over its budget.
type Overflow string

// The three methods, oldest first.
const (
	OverflowCut     Overflow = "cut"     // whole entries while they fit, then a comment
	OverflowUniform Overflow = "uniform" // every text cut to one width
	OverflowGreedy  Overflow = "greedy"  // whole texts by rank while they fit, else the bare name
)

// Size says how large a listing may be. The rule tags are the keys of the rule tables.
type Size struct {
	// Fixed is the budget in characters where it does not depend on the window; 0 otherwise.
	Fixed int `rule:"budget.fixed"`
	// Percent of the context window, in hundredths of a percent (100 = 1 %).
	Percent int `rule:"budget.percent"`
	// FractionSetting: skillListingBudgetFraction is honoured.
	FractionSetting bool `rule:"budget.fraction_setting"`
	// NewModelChars is the characters per token assumed for models newer than
	// opus-4-6, sonnet-4-6 and haiku-4-5 and for unknown ones; 4 for the others.
	NewModelChars int `rule:"budget.new_model_chars"`
	// MillionModels lists the models, by prefix, with a window of a million tokens
	// without [1m]; "unknown" stands for every id that is not known.
	MillionModels []string `rule:"budget.million_models"`

	Unit     Unit     `rule:"listing.unit"`
	Overflow Overflow `rule:"listing.overflow"`
	// ExemptBundled: bundled entries are shown as they are.
	ExemptBundled bool `rule:"listing.exempt_bundled"`
}

// Reattachment says how bodies come back after a compaction.
type Reattachment struct {
	// Limited: the two limits below hold; before, everything came back whole.
	Limited bool `rule:"reattach.limited"`
	// SkillTokens is the most that one body takes, in rough tokens.
	SkillTokens int `rule:"reattach.skill_tokens"`
	// TotalTokens is the most that all take together, in rough tokens.
	TotalTokens int `rule:"reattach.total_tokens"`
}
