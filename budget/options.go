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

// The methods, oldest first; the last is that of a client which is only described.
const (
	OverflowCut     Overflow = "cut"     // whole entries while they fit, then a comment
	OverflowUniform Overflow = "uniform" // every text cut to one width
	OverflowGreedy  Overflow = "greedy"  // whole texts by rank while they fit, else the bare name
	OverflowStrip   Overflow = "strip"   // bare names from the least used upward until it fits
)

// Rank is what a skill's use weighs where the listing is over its budget.
type Rank string

// The ways.
const (
	RankDecay Rank = "decay" // the count of uses, halved every week, see Score
	RankCount Rank = "count" // the count of uses
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
	// LineBreaks: every line counts one more for its line break; otherwise only the
	// breaks between lines count.
	LineBreaks bool `rule:"listing.line_breaks"`
	// Rank weighs the use of skills, where Overflow goes by it.
	Rank Rank `rule:"listing.rank"`
	// UsageFile is the file in the client's home that holds the counts.
	UsageFile string `rule:"listing.usage_file"`
	// ExemptBundled: bundled entries are shown as they are.
	ExemptBundled bool `rule:"listing.exempt_bundled"`
}

// Reattachment says how bodies come back after a compaction.
type Reattachment struct {
	// Limited: the two limits below hold; before, everything came back whole.
	Limited bool `rule:"reattach.limited"`
	// SkillChars is the most that one body takes, in UTF-16 code units, where the
	// limit is not in tokens; 0 otherwise.
	SkillChars int `rule:"reattach.skill_chars"`
	// BareCut: a body that is cut ends where it was cut; otherwise with a marker.
	BareCut bool `rule:"reattach.bare_cut"`
	// Stop: behind the first body that does not fit none comes back; otherwise it is
	// skipped, and a later, smaller one may still fit.
	Stop bool `rule:"reattach.stop"`
	// SkillTokens is the most that one body takes, in rough tokens.
	SkillTokens int `rule:"reattach.skill_tokens"`
	// TotalTokens is the most that all take together, in rough tokens; 0 for no limit.
	TotalTokens int `rule:"reattach.total_tokens"`
}
