package budget

import (
	"math"
	"testing"
)

var size332 = Size{
	Percent: 100, FractionSetting: true, NewModelChars: 3,
	MillionModels: []string{"claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable-5", "claude-haiku-5", "unknown"},
}

func TestListingBudget(t *testing.T) {
	size260 := Size{Percent: 100, FractionSetting: true, NewModelChars: 3}
	size112 := Size{Percent: 100, FractionSetting: true}
	size50 := Size{Percent: 200}
	size20 := Size{Fixed: 15000}
	for _, c := range []struct {
		name string
		size Size
		in   BudgetInputs
		want int
		how  string
	}{
		{"200k", size332, BudgetInputs{Model: "claude-sonnet-4-5"}, 8000, "1 % of 200,000 tokens, window assumed"},
		{"[1m]", size332, BudgetInputs{Model: "claude-sonnet-4-5[1m]"}, 40000, "1 % of 1,000,000 tokens, window assumed"},
		{"new", size332, BudgetInputs{Model: "claude-opus-5-5"}, 30000, "1 % of 1,000,000 tokens, window assumed, 3 characters per token"},
		{"unknown", size332, BudgetInputs{Model: "claude-mystery-9"}, 30000, "1 % of 1,000,000 tokens, window assumed, 3 characters per token"},
		{"new, before its million", size260, BudgetInputs{Model: "claude-opus-4-8"}, 6000, "1 % of 200,000 tokens, window assumed, 3 characters per token"},
		{"new, before its characters", size112, BudgetInputs{Model: "claude-opus-4-8"}, 8000, "1 % of 200,000 tokens, window assumed"},
		{"window given", size332, BudgetInputs{Model: "claude-opus-5", Window: 200_000}, 6000, "1 % of 200,000 tokens, 3 characters per token"},
		{"2 %", size50, BudgetInputs{Model: "claude-sonnet-4-5", Fraction: 0.5}, 16000, "2 % of 200,000 tokens, window assumed"},
		{"fixed", size20, BudgetInputs{Model: "claude-sonnet-4-5[1m]"}, 15000, "fixed"},
		{"env beats fixed", size20, BudgetInputs{Env: "2000"}, 2000, EnvCharBudget},
		{"env beats the setting", size332, BudgetInputs{Env: " 20000 ", Fraction: 0.5}, 20000, EnvCharBudget},
		{"env below 0", size20, BudgetInputs{Env: "-55"}, -55, EnvCharBudget},
		{"env without sense", size20, BudgetInputs{Env: "many"}, 15000, "fixed"},
		{"env 0", size20, BudgetInputs{Env: "0"}, 15000, "fixed"},
		{"fraction below 0", size112, BudgetInputs{Model: "claude-sonnet-4-5", Fraction: -1}, 8000, "1 % of 200,000 tokens, window assumed"},
		{"fraction without end", size112, BudgetInputs{Model: "claude-sonnet-4-5", Fraction: math.Inf(1)}, 1 << 40, "skillListingBudgetFraction: +Inf % of 200,000 tokens, window assumed"},
		// Demand 146,298: over by 138,298, 106,298, 0 and 86,298.
		{"demand .01/200k", size112, BudgetInputs{Model: "claude-sonnet-4-5", Fraction: .01}, 8000, "skillListingBudgetFraction: 1 % of 200,000 tokens, window assumed"},
		{"demand .05/200k", size112, BudgetInputs{Model: "claude-sonnet-4-5", Fraction: .05}, 40000, "skillListingBudgetFraction: 5 % of 200,000 tokens, window assumed"},
		{"demand .05/1M", size112, BudgetInputs{Model: "claude-sonnet-4-5[1m]", Fraction: .05}, 200000, "skillListingBudgetFraction: 5 % of 1,000,000 tokens, window assumed"},
		{"demand env", size112, BudgetInputs{Model: "claude-sonnet-4-5[1m]", Fraction: .05, Env: "60000"}, 60000, EnvCharBudget},
	} {
		got, how := ListingBudget(c.size, c.in)
		if got != c.want || how != c.how {
			t.Errorf("%s: %d, %q; want %d, %q", c.name, got, how, c.want, c.how)
		}
	}
}

// TestFractions: the figures are JavaScript's.
func TestFractions(t *testing.T) {
	for _, c := range []struct {
		window, chars int
		fraction      float64
		want          int
	}{
		{200000, 4, 0.0123, 9840}, {200000, 3, 0.0123, 7380}, {200000, 4, 0.013, 10400},
		{200000, 3, 0.013, 7800}, {200000, 4, 0.03, 24000}, {200000, 3, 0.03, 18000},
		{1000000, 3, 0.013, 39000}, {1000000, 4, 0.0123, 49200}, {200000, 4, 0.002, 1600},
		{200000, 4, 0.005, 4000}, {1000000, 3, 0.029, 87000}, {200000, 4, 0.0579, 46320},
		{200000, 3, 0.0011, 660}, {200000, 4, 0.30000000000000004, 240000},
		{1000000, 4, 0.0000029, 11}, {1000000, 3, 0.0019, 5700}, {200000, 3, 0.057, 34200},
		{123457, 4, 0.0123, 6074}, {200000, 3, 0.0000033334, 2}, {200000, 3, 0.0000016, 0},
	} {
		model := "claude-sonnet-4-5"
		if c.chars == 3 {
			model = "claude-opus-5"
		}
		got, _ := ListingBudget(size332, BudgetInputs{Model: model, Window: c.window, Fraction: c.fraction})
		if got != c.want {
			t.Errorf("%d × %d × %v = %d, want %d", c.window, c.chars, c.fraction, got, c.want)
		}
	}
}

func TestModels(t *testing.T) {
	for _, c := range []struct {
		model  string
		isNew  bool
		window int // at 2.1.332
	}{
		{"claude-sonnet-4-5", false, 200_000},
		{"claude-sonnet-4-5-20250929", false, 200_000},
		{"claude-sonnet-4-20250514", false, 200_000},
		{"claude-sonnet-4-6[1m]", false, 1_000_000},
		{"claude-sonnet-4-7", true, 200_000},
		{"claude-opus-4", false, 200_000},
		{"claude-opus-4-20250514", false, 200_000},
		{"claude-opus-4@20250514", false, 200_000},
		{"claude-opus-4-1-20250805", false, 200_000},
		{"claude-opus-4-6", false, 200_000},
		{"claude-opus-4-6[1M]", false, 1_000_000},
		{"claude-opus-4-7", true, 1_000_000},
		{"claude-opus-4-7[1m]", true, 1_000_000},
		{"claude-opus-4-8@default", true, 1_000_000},
		{"claude-opus-4-10", true, 200_000},
		{"claude-opus-5-5", true, 1_000_000},
		{"claude-haiku-4-5-20251001", false, 200_000},
		{"claude-haiku-5", true, 1_000_000},
		{"claude-haiku-5-5", true, 1_000_000},
		{"claude-sonnet-5", true, 1_000_000},
		{"claude-fable-5-2", true, 1_000_000},
		{"claude-3-7-sonnet-20250219", false, 200_000},
		{"claude-mystery-9", true, 1_000_000},
		{"claude-opus-6", true, 1_000_000},
		{"us.anthropic.claude-opus-4-6-v1:0", false, 200_000},
		{"anthropic/claude-opus-5", true, 1_000_000},
		{"arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0", false, 200_000},
		{"gpt-5", true, 1_000_000},
		{"", true, 1_000_000},
	} {
		if got := NewModel(c.model); got != c.isNew {
			t.Errorf("NewModel(%s) = %t", c.model, got)
		}
		if got := size332.WindowOf(c.model); got != c.window {
			t.Errorf("WindowOf(%s) = %d, want %d", c.model, got, c.window)
		}
	}
}
