package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skilltrace/skilltrace/bench/synth"
	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// manySkills are inputs with n skills whose front matter is of the usual kinds, and the
// usage counts of each third.
func manySkills(b *testing.B, n int) *Inputs {
	b.Helper()
	table, err := rules.For("claude-code")
	if err != nil {
		b.Fatal(err)
	}
	r, err := table.At(synth.Client)
	if err != nil {
		b.Fatal(err)
	}
	m := skills.NewMemory()
	usage := &Usage{Counts: map[string]UsageCount{}}
	for i := range n {
		// Folders in another order than that of the listing.
		name := fmt.Sprintf("%s-%s-%05d", []string{"deploy", "Check", "review", "écrire", "pack"}[i%5], []string{"orders", "invoices", "the-shop"}[i%3], i*7919%n)
		text := fmt.Sprintf("Checks part %d of the ledger against the invoices. Use when the user asks for a balance, a report or %s.", i, strings.Repeat("an audit, ", i%20))
		front := "description: " + text
		switch i % 4 {
		case 1:
			front = "description: >-\n  " + strings.ReplaceAll(text, ". ", ".\n  ") + "\nallowed-tools: Read, Grep, Bash(go test:*)"
		case 2:
			front = `description: "` + text + `"` + "\nargument-hint: '[part]'"
		case 3:
			front = "description: Ledger: " + text + "\nwhen_to_use: at the end of a month" // read at the second try
		}
		file := "---\nname: " + name + "\n" + front + "\n---\n\n# Part\n\n" + strings.Repeat("Read the ledger, line by line, and note what does not add up.\n", 30)
		if err := m.Write("/home/dev/.claude/skills/"+name+"/SKILL.md", []byte(file)); err != nil {
			b.Fatal(err)
		}
		if i%3 == 0 {
			usage.Counts[name] = UsageCount{Count: i % 50, LastUsedMS: 1_790_000_000_000 + int64(i)*1_000_000}
		}
	}
	return &Inputs{Version: synth.Client, Exact: true, Files: NewFiles(m), Given: []skills.Given{}, Usage: usage, Rules: func(string) *rules.Rules { return &r },
		Processes: []Process{{Home: "/home/dev", ConfigDir: "/home/dev/.claude", CWD: "/home/dev/shop", Model: "claude-sonnet-4-5", Env: map[string]string{budget.EnvCharBudget: "1200000"}}}}
}

// BenchmarkListing predicts the first listing of a session with 10,000 skills under the
// newest rules. The part "listing" begins with the skills as they were found: which of
// them are listed, their texts, order and digests, and, at half of what they ask for,
// what is trimmed by usage. The part "files" is what comes before, from files in memory:
// finding the folders, decoding the files and reading their front matter. "whole" is
// both. Nothing is kept from one round to the next but what the part begins with.
func BenchmarkListing(b *testing.B) {
	const n = 10_000
	in := manySkills(b, n)
	a := &Agent{ID: "main", Events: []Event{
		{Kind: Start, Parent: -1, Start: &StartEvent{}, Where: Where{Time: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)}},
		{Kind: Prompt, Parent: 0, Text: "one", PromptN: 1}, {Kind: Turn, Parent: 1},
	}}
	s := &Session{Agents: []*Agent{a}}
	ev := Gather(s, a)
	listing := func(in *Inputs) {
		p := &predictor{in: in, agent: a, ev: ev, catalogues: map[catalogueKey]*catalogue{}}
		l := &p.run()[0]
		if len(l.Entries) != n || l.Demand < 2_000_000 || len(l.Text) < 1_100_000 || budget.Len16(l.Text) > 1_200_000 {
			b.Fatalf("%d entries, demand %d, %d bytes", len(l.Entries), l.Demand, len(l.Text))
		}
	}
	found := *in
	found.found = map[foundKey]skills.Found{}
	listing(&found)
	proc, r := in.Processes[0], in.Rules("")
	for _, part := range []struct {
		name string
		run  func()
	}{
		{"listing", func() { listing(&found) }},
		{"files", func() {
			skills.Discover(in.Files.states[0].tree, skills.Inputs{Home: proc.Home, ConfigDir: proc.ConfigDir, CWD: proc.CWD}, r.Discovery, r.Front)
		}},
		{"whole", func() { listing(in) }},
	} {
		b.Run(part.name, func(b *testing.B) {
			b.ReportAllocs()
			start := cpuTime()
			for b.Loop() {
				part.run()
			}
			if cpu := cpuTime() - start; cpu > 0 {
				b.ReportMetric(cpu.Seconds()*1000/float64(b.N), "CPU-ms/op")
			}
		})
	}
}
