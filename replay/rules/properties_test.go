package rules_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills/body"
)

// eachRules runs a test under the rules of every version at which a client changed.
func eachRules(t *testing.T, test func(t *testing.T, r *rules.Rules, dice *rand.Rand)) {
	t.Helper()
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	versions := []string{table.Base, table.Latest}
	for _, c := range table.Changes() {
		versions = append(versions, c.Since)
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	if len(versions) < 40 {
		t.Fatalf("only %d versions", len(versions))
	}
	methods := map[budget.Overflow]bool{}
	for _, v := range versions {
		r, err := table.At(v)
		if err != nil {
			t.Fatal(err)
		}
		methods[r.Size.Overflow] = true
		t.Run(v, func(t *testing.T) { test(t, &r, rand.New(rand.NewPCG(3, 4))) })
	}
	for _, m := range []budget.Overflow{budget.OverflowCut, budget.OverflowUniform, budget.OverflowGreedy} {
		if !methods[m] {
			t.Errorf("no version trims by the method %s", m)
		}
	}
}

// words are texts of one, two and no cells, in and outside of the first plane.
var words = []string{"a", "bcd ", "倉庫", "😀", "e\u0301", "…", "\u200d", " ", "\xed\xa0\xbd"}

func phrase(dice *rand.Rand, most int) string {
	var b strings.Builder
	for range dice.IntN(most + 1) {
		b.WriteString(words[dice.IntN(len(words))])
	}
	return b.String()
}

// TestTrimmedListings: under every version's rules a listing takes no more than its
// budget unless its names alone do, and what is shown keeps its order.
func TestTrimmedListings(t *testing.T) {
	eachRules(t, func(t *testing.T, r *rules.Rules, dice *rand.Rand) {
		for range 300 {
			lines := make([]budget.Line, dice.IntN(12))
			for i := range lines {
				l := budget.Line{Label: fmt.Sprintf("k%d-%s", i, strings.TrimSpace(phrase(dice, 2))), Text: strings.TrimSpace(phrase(dice, 40)), Exempt: dice.IntN(5) == 0, Score: float64(dice.IntN(4))}
				l.Bare = "- " + l.Label
				l.Full = l.Bare
				if l.Text != "" {
					l.Full += ": " + l.Text
				}
				lines[i] = l
			}
			checkListing(t, lines, dice.IntN(700)-20, r.Size)
		}
	})
}

func checkListing(t *testing.T, lines []budget.Line, limit int, size budget.Size) {
	t.Helper()
	got := budget.Trim(lines, limit, size)
	if len(got.Lines) != len(lines) {
		t.Fatalf("%d lines became %d", len(lines), len(got.Lines))
	}
	stays := func(l budget.Line) bool { return l.Exempt && size.ExemptBundled }
	names, shown := max(len(lines)-1, 0), 0
	var texts []string
	for i, l := range lines {
		if stays(l) {
			names += budget.Width(size.Unit, l.Full)
		} else {
			names += budget.Width(size.Unit, l.Bare)
		}
		k := got.Lines[i]
		if k.Shown == budget.ShownAbsent {
			continue
		}
		texts = append(texts, k.Text)
		shown += budget.Width(size.Unit, k.Text) + 1
		if !strings.HasPrefix(k.Text, l.Bare) {
			t.Fatalf("%q stands in place of %q", k.Text, l.Full)
		}
		if stays(l) && size.Overflow != budget.OverflowCut && k.Text != l.Full {
			t.Fatalf("%q was trimmed to %q", l.Full, k.Text)
		}
	}
	if size.Overflow == budget.OverflowCut {
		// The remark that entries are left out comes on top; each entry counts the
		// newline behind it.
		if shown > max(limit, 0) {
			t.Fatalf("%d shown for a budget of %d", shown, limit)
		}
		first := slices.IndexFunc(got.Lines, func(k budget.TrimmedLine) bool { return k.Shown == budget.ShownAbsent })
		for i, k := range got.Lines {
			if first >= 0 && (k.Shown == budget.ShownAbsent) != (i >= first) {
				t.Fatalf("line %d is %s, and the first left out is %d", i, k.Shown, first)
			}
		}
		if first >= 0 {
			texts = append(texts, fmt.Sprintf("<!-- Showing %d of %d skills due to token limits -->", first, len(lines)))
		}
	} else {
		if len(texts) != len(lines) {
			t.Fatalf("%d of %d entries", len(texts), len(lines))
		}
		if got.Used != max(shown-1, 0) {
			t.Fatalf("%d used, %d shown", got.Used, shown)
		}
		if got.Used > limit && got.Used > names {
			t.Fatalf("%s: %d used for a budget of %d, names alone take %d", size.Overflow, got.Used, limit, names)
		}
	}
	if want := strings.Join(texts, "\n"); got.Text != want {
		t.Fatalf("the listing is %q, its entries are %q", got.Text, want)
	}
	if size.Overflow == budget.OverflowGreedy && got.Over() {
		checkRanks(t, lines, limit, size, got)
	}
}

// checkRanks: the best ranks keep their texts up to the first that does not fit beside
// the names of all others.
func checkRanks(t *testing.T, lines []budget.Line, limit int, size budget.Size, got budget.Trimmed) {
	t.Helper()
	byRank := map[int]int{}
	used := len(lines) - 1
	for i, k := range got.Lines {
		if k.Rank > 0 {
			byRank[k.Rank] = i
			used += k.BareSize
		} else {
			used += k.Size
		}
	}
	for rank := 1; rank <= len(byRank); rank++ {
		i := byRank[rank]
		k := got.Lines[i]
		if rank > 1 && lines[byRank[rank-1]].Score < lines[i].Score {
			t.Fatalf("rank %d has a better score than the one before", rank)
		}
		if k.Shown == budget.ShownFull {
			used += k.Size - k.BareSize
			continue
		}
		if used+k.Size-k.BareSize <= limit {
			t.Fatalf("rank %d of budget %d would have fitted", rank, limit)
		}
	}
	if used != got.Used {
		t.Fatalf("used %d, counted %d", got.Used, used)
	}
}

// TestReattachedBodies: under every version's rules that limit it, no body that comes
// back takes more than 5,000 tokens and all together no more than 25,000; their order
// is kept, and the latest always comes back.
func TestReattachedBodies(t *testing.T) {
	limited := false
	eachRules(t, func(t *testing.T, r *rules.Rules, dice *rand.Rand) {
		limited = limited || r.Reattachment.Limited
		for range 20 {
			contents := make([]string, 1+dice.IntN(14))
			for i := range contents {
				contents[i] = strings.Repeat(words[dice.IntN(len(words))]+"x", dice.IntN(14_000))
			}
			total, last := 0, -1
			for i, k := range budget.Reattach(contents, r.Reattachment) {
				if k.Index <= last {
					t.Fatalf("body %d behind body %d", k.Index, last)
				}
				last = k.Index
				switch {
				case !r.Reattachment.Limited:
					if !k.Kept || k.Content != contents[k.Index] {
						t.Fatalf("body %d is cut or left out", k.Index)
					}
				case k.Kept:
					tokens := (budget.Len16(k.Content) + 2) / 4
					if total += tokens; tokens > 5_000 {
						t.Fatalf("body %d takes %d tokens", k.Index, tokens)
					}
				case i == 0:
					t.Fatal("the latest body is left out")
				}
			}
			if total > 25_000 {
				t.Fatalf("%d tokens come back", total)
			}
		}
	})
	if !limited {
		t.Error("no version limits what comes back")
	}
}

// TestRenderedBodies: under every version's rules a text in which nothing is left to
// replace is rendered as it is, however often.
func TestRenderedBodies(t *testing.T) {
	parts := []string{"Do it.", "\n", " ", "$ARGUMENTS", "$0", "$1", "$ARGUMENTS[1]", "$name", "${CLAUDE_SESSION_ID}", "${CLAUDE_SKILL_DIR}", "!`id`", "```!\nid\n```", "\\$0", "\\\\", "`code`", "倉庫", "# Title\n", "100 %", "\r\n", "\\! "}
	plain := 0
	eachRules(t, func(t *testing.T, r *rules.Rules, dice *rand.Rand) {
		for range 200 {
			var text strings.Builder
			for range dice.IntN(8) {
				text.WriteString(parts[dice.IntN(len(parts))])
			}
			args := []string{"", "one", "one 'two three'", "$0 $ARGUMENTS"}[dice.IntN(4)]
			vars := body.Vars{SessionID: "S-1", Effort: "high", ProjectDir: "/p", SkillDir: "/s"}
			first := body.Render(body.Source{Text: text.String(), Names: []string{"name"}}, body.Call{Args: args, Typed: dice.IntN(2) == 0}, vars, r.Body)
			once, err := first.Fill(make([]string, first.Holes()))
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(once, "$!") {
				continue // something may be left to replace
			}
			plain++
			again, ok := body.Render(body.Source{Text: once, Names: []string{"name"}}, body.Call{}, vars, r.Body).Text()
			if !ok || again != once {
				t.Fatalf("%q with %q gives %q, and that %q", text.String(), args, once, again)
			}
		}
	})
	if plain < 1000 {
		t.Errorf("only %d texts without a placeholder", plain)
	}
}
