package report

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func listingDocument() *ListingDocument {
	sizes := ListingSizes{Budget: 8000, BudgetSource: "1 % of 200,000 tokens, window assumed", Demand: 9_412, Over: 1_412, Used: 7_950, Tokens: 1_812, Forms: ListingForm{Full: 2, Shortened: 1, NameOnly: 1}}
	return &ListingDocument{
		Client: "claude-code@2.1.332", RulesExact: true, Model: "claude-sonnet-4-5", Project: "/home/dev/shop", ListingSizes: sizes,
		Own: ListingOwn{Known: true, Entries: 1, Session: "5274deb5-0000-4000-8000-000000000001"},
		Inputs: []Input{{Name: "skill files", Found: true, Source: "/home/dev/.claude/skills, /home/dev/shop/.claude/skills", Note: "as they are now"},
			{Name: "usage counts", Note: "/home/dev/.claude.json does not exist; --usage FILE gives them"}},
		Assumptions: []string{"usage counts are not known: all skills rank as never used, in the order of the listing"},
		Entries: []ListingEntry{
			{Name: "commit", Form: "full", Size: 26, WholeSize: 26, Tokens: 7, Rank: 1, Uses: 1_205, Source: "user", File: "/home/dev/.claude/skills/commit/SKILL.md", Description: "Writes a commit.", Line: "- commit: Writes a commit."},
			{Name: "deploy", Label: "deploy (Ship\x1b[31m)", Form: "shortened", Cause: "cap", Size: 1_546, WholeSize: 1_546, Tokens: 359, CutByLimit: 264, Rank: 2, Source: "project", File: "/home/dev/shop/.claude/skills/deploy/SKILL.md", Description: "Puts the shop online.", Line: "- deploy"},
			{Name: "db-migrate", Form: "name_only", Cause: "budget", Size: 12, WholeSize: 1_424, Tokens: 4, CutByBudget: 1_410, Rank: 3, Source: "project", File: "/home/dev/shop/.claude/skills/db-migrate/SKILL.md", Description: "Migrates |\u202e the database.", Line: "- db-migrate"},
			{Name: "code-review", Form: "full", Size: 40, WholeSize: 40, Tokens: 9, Own: true, Description: "Reviews code.", Line: "- code-review: Reviews code."},
		},
		NotListed: []ListingOff{{Name: "tidy", File: "/home/dev/.claude/skills/tidy/SKILL.md", Kind: "disabled", Reason: "disable-model-invocation: only the user may call it"},
			{File: "/home/dev/shop/skills", Kind: "wrong-folder", Reason: "no client looks for skills in this folder"}},
		Duplicates: []ListingDuplicate{{Kind: "alias", Entries: []string{"plug:y", "y"}, SameText: true}}, Redundant: 1,
		Sent: "- commit: Writes a commit.\n- deploy\n- db-migrate\n- code-review: Reviews code.", Again: "--model claude-sonnet-4-5",
	}
}

// parts adds all that can be asked for beside the listing.
func listingParts() *ListingDocument {
	d := listingDocument()
	before := d.ListingSizes
	before.Demand, before.Over, before.Used, before.Forms = 7_900, 0, 7_900, ListingForm{Full: 4}
	d.Against = &ListingAgainst{Name: "main", Before: before, Changes: []ListingChange{
		{Skill: "deploy", Before: "full", After: "shortened", Own: true, SizeBefore: 300, SizeAfter: 1_546, TokensBefore: 70, TokensAfter: 359, TextBefore: "Puts the shop online.", TextAfter: "Puts the shop online, with all\x07 its pages."},
		{Skill: "db-migrate", Before: "full", After: "name_only", SizeBefore: 1_424, SizeAfter: 12, TokensBefore: 330, TokensAfter: 4, TextBefore: "Migrates.", TextAfter: "Migrates."},
		{Skill: "old", Before: "full", After: "absent", Own: true, SizeBefore: 20, TokensBefore: 5, TextBefore: "Is old.", Reason: "it is not found any more"},
	}}
	d.Fit = &ListingFit{Fewest: 1_676, OverLimit: []ListingCut{{Skill: "deploy", File: "/home/dev/shop/.claude/skills/deploy/SKILL.md", Had: 1_800, Cut: 264, Leave: 1_536}}, OverBudget: 1_412,
		Longest: []ListingCut{{Skill: "deploy", File: "/home/dev/shop/.claude/skills/deploy/SKILL.md", Had: 1_536, Cut: 769, Leave: 767}, {Skill: "db-migrate", File: "/home/dev/shop/.claude/skills/db-migrate/SKILL.md", Had: 1_410, Cut: 643, Leave: 767}},
		Evenly: []ListingCut{{Skill: "commit", File: "/home/dev/.claude/skills/commit/SKILL.md", Had: 16, Cut: 8, Leave: 8}, {Skill: "deploy", File: "/home/dev/shop/.claude/skills/deploy/SKILL.md", Had: 1_536, Cut: 730, Leave: 806},
			{Skill: "db-migrate", File: "/home/dev/shop/.claude/skills/db-migrate/SKILL.md", Had: 1_410, Cut: 674, Leave: 736}},
		Room: 9_412, Fraction: "0.0118"}
	d.Sweep = []ListingSpan{
		{Since: "2.0.30", Until: "2.1.31", Before: "2.1.32", ListingSizes: ListingSizes{Budget: 15_000, BudgetSource: "fixed", Demand: 9_676, Used: 9_676, Tokens: 2_000, Forms: ListingForm{Full: 3}}, Losses: []ListingLoss{{Skill: "code-review", Form: "absent", Reason: "this version does not find it"}}},
		{Since: "2.1.32", Before: "2.1.129", ListingSizes: before, Losses: []ListingLoss{}},
		{Since: "2.1.129", ListingSizes: d.ListingSizes, Losses: []ListingLoss{{Skill: "deploy", Form: "shortened", Cut: 264}, {Skill: "db-migrate", Form: "name_only", Cut: 1_410}}},
	}
	return d
}

func TestListingDocument(t *testing.T) {
	for name, d := range map[string]*ListingDocument{"listing": listingDocument(), "listing-parts": listingParts()} {
		d.Settle()
		goldenTables(t, name, d)
		goldenJSON(t, name, d)
		var b bytes.Buffer
		if err := d.WriteMarkdown(&b, Style{}); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".md", b.Bytes())
		var back ListingDocument
		readBack(t, d, &back)
		back.Again = d.Again
		if !reflect.DeepEqual(&back, d) {
			t.Errorf("%s read back: %+v", name, back)
		}
	}
	var b bytes.Buffer
	if err := Write(&b, listingDocument(), FormatCSV, Style{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "listing.csv", b.Bytes())
	b.Reset()
	if err := Write(&b, listingDocument(), FormatNDJSON, Style{}); err != nil || strings.Count(b.String(), "\n") != 4 {
		t.Errorf("%v: %s", err, b.String())
	}
	short := listingDocument()
	short.Fit = &ListingFit{Fewest: 20, OverLimit: []ListingCut{}, OverBudget: 20, Longest: []ListingCut{}, Evenly: []ListingCut{}, Short: 3, Room: 8_020}
	b.Reset()
	if err := short.WriteTable(&b, Style{Width: 120}); err != nil || !strings.Contains(b.String(), "Cutting alone is not enough") || strings.Contains(b.String(), "no fewer") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// The text is what the model is sent; a terminal gets nothing that acts on it.
func TestListingText(t *testing.T) {
	d := &ListingDocument{Sent: "- a: one\n- b: \x1b[31mred \xed\xa0\xbd"}
	for _, c := range []struct {
		terminal bool
		want     string
	}{{false, "- a: one\n- b: \x1b[31mred \ufffd\n"}, {true, "- a: one\n- b: \\x1b[31mred \ufffd\n"}} {
		var b bytes.Buffer
		if err := d.WriteText(&b, c.terminal); err != nil || b.String() != c.want {
			t.Errorf("%v: %q, want %q", err, b.String(), c.want)
		}
	}
}
