package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
)

// verdicts lists checks: kind, line, verdict, and for what is undetermined the
// missing input.
func verdicts(checks []replay.Check) string {
	var out []string
	for _, c := range checks {
		w := fmt.Sprintf("%s@%d %s", c.Kind, c.Where.Line, c.Verdict)
		if c.Missing != "" {
			w += " (" + c.Missing + ")"
		}
		if c.After > 0 {
			w += fmt.Sprintf(" after %d", c.After)
		}
		if c.Unconfirmed {
			w += " unconfirmed"
		}
		out = append(out, w)
	}
	return strings.Join(out, "; ")
}

// log is a conversation with a listing, a call, a note, a refusal, a typed skill
// and a compaction. Events: 0 prompt, 1 noticed, 2 listing, 3 turn, 4 call, 5
// launched, 6 body, 7 turn, 8 call, 9 launched, 10 note, 11 turn, 12 call, 13
// refusal, 14 slash, 15 body, 16 turn, 17 compaction, 18 reattachment, 19 prompt,
// 20 turn.
func compared(t *testing.T) (*replay.Session, *replay.Evidence) {
	s := observe(t,
		user("a", "", "one"), listing("b", "a", true, "- k: K."),
		assistant("c", "b", "m1", skillUse("t1", "k")), launched("d", "c", "t1", "k"), body("e", "d", "t1", "Body of k."),
		assistant("f", "e", "m2", skillUse("t2", "k")), launched("g", "f", "t2", "k"), note("h", "g", "t2", "Note on k."),
		assistant("i", "h", "m3", skillUse("t3", "x")), failed("j", "i", "t3", "No x."),
		user("k", "j", command("n", "")), body("l", "k", "", "Body of n."), assistant("m", "l", "m4", text("x")),
		boundary("n", "m"), summary("o", "n"), reattached("p", "o", "k", "Body of k."), user("q", "p", "two"), assistant("r", "q", "m5", text("y")))
	equal(t, "events", len(s.Main().Events), 21)
	return s, replay.Gather(s, s.Main())
}

// right are the effects that the log shows.
func right() []replay.Effect {
	return []replay.Effect{
		{Kind: replay.Listing, Cause: 0, Initial: true, Text: "- k: K.", Entries: []replay.ListedEntry{{Name: "k", Label: "k", Text: "K.", Shown: replay.ShownFull, Own: true}}},
		{Kind: replay.Body, Cause: 4, Skill: "k", ToolUse: "t1", Text: "Body of k."},
		{Kind: replay.Note, Cause: 8, Skill: "k", ToolUse: "t2", Text: "Note on k."},
		{Kind: replay.Refusal, Cause: 12, Skill: "x", ToolUse: "t3", Text: "No x."},
		{Kind: replay.Body, Cause: 14, Skill: "n", Text: "Body of n."},
		{Kind: replay.Reattachment, Cause: 17, Skills: []replay.ReattachedSkill{{Name: "k", Path: "userSettings:k", Content: "Body of k."}}},
	}
}

func TestCompare(t *testing.T) {
	const (
		listing = 0
		body    = 1
		note    = 2
		refusal = 3
		typed   = 4
		put     = 5
	)
	all := []string{"listing@2 match", "invariant@2 match", "body@5 match", "note@8 match", "refusal@10 match", "body@12 match", "reattachment@16 match"}
	exact := replay.Comparison{Exact: true, RulesExact: true}
	read := replay.Comparison{RulesExact: true} // files read later
	guess := replay.Comparison{Exact: true}     // rules of another version
	lower := replay.Comparison{Exact: true, RulesExact: true, Same: strings.EqualFold}
	for _, tt := range []struct {
		name   string
		change func(e []replay.Effect) []replay.Effect
		cmp    replay.Comparison
		want   map[int]string // what replaces lines of all
	}{
		{"as recorded", nil, exact, nil},
		{"as recorded, files read later", nil, read, nil},
		{"as recorded, rules of another version", nil, guess, nil},
		{"another body", func(e []replay.Effect) []replay.Effect { e[typed].Text = "Else."; return e }, exact,
			map[int]string{5: "body@12 divergent"}},
		{"another body, files read later", func(e []replay.Effect) []replay.Effect { e[typed].Text = "Else."; return e }, read,
			map[int]string{5: "body@12 undetermined (the skill files as they were)"}},
		{"another body, rules of another version", func(e []replay.Effect) []replay.Effect { e[typed].Text = "Else."; return e }, guess,
			map[int]string{5: "body@12 divergent unconfirmed"}},
		{"another body by its case", func(e []replay.Effect) []replay.Effect { e[typed].Text = "BODY OF N."; return e }, lower, nil},
		{"what follows from another body", func(e []replay.Effect) []replay.Effect { e[body].Text = "Else."; e[note].Text = "Else."; return e }, exact,
			map[int]string{2: "body@5 divergent", 3: "note@8 undetermined (an earlier divergence) after 5"}},
		{"another note", func(e []replay.Effect) []replay.Effect { e[note].Text = "Else."; return e }, read,
			map[int]string{3: "note@8 divergent"}},
		{"another refusal", func(e []replay.Effect) []replay.Effect { e[refusal].Text = "Else."; return e }, read,
			map[int]string{4: "refusal@10 divergent"}},
		{"a body in place of a note", func(e []replay.Effect) []replay.Effect { e[note].Kind = replay.Body; return e }, exact,
			map[int]string{3: "body@6 divergent; note@8 undetermined (an earlier divergence) after 6"}},
		{"a call that should have worked", func(e []replay.Effect) []replay.Effect { e[refusal].Kind = replay.Body; return e }, exact,
			map[int]string{4: "body@9 divergent; refusal@10 undetermined (an earlier divergence) after 9"}},
		{"no prediction for a body", func(e []replay.Effect) []replay.Effect { return append(e[:typed:typed], e[put]) }, exact,
			map[int]string{5: "body@12 divergent"}},
		{"no prediction for a body, files read later", func(e []replay.Effect) []replay.Effect { return append(e[:typed:typed], e[put]) }, read,
			map[int]string{5: "body@12 undetermined (what led to it)"}},
		{"a body that no input tells", func(e []replay.Effect) []replay.Effect {
			e[typed].Missing, e[typed].Reason = "skill files", "none"
			return e
		}, exact,
			map[int]string{5: "body@12 undetermined (skill files)"}},
		{"a body of the client's own", func(e []replay.Effect) []replay.Effect { e[typed].Given = true; return e }, exact,
			map[int]string{5: ""}},
		{"another body put back", func(e []replay.Effect) []replay.Effect {
			e[put].Skills = []replay.ReattachedSkill{{Name: "z", Content: "z"}}
			return e
		}, exact,
			map[int]string{6: "reattachment@16 divergent"}},
		{"the same without its path", func(e []replay.Effect) []replay.Effect {
			e[put].Skills = []replay.ReattachedSkill{{Name: "k", Content: "Body of k."}}
			return e
		}, exact, nil},
		{"nothing to put back", func(e []replay.Effect) []replay.Effect { return e[:put] }, exact,
			map[int]string{6: "reattachment@16 divergent"}},
		{"what is put back rests on a file", func(e []replay.Effect) []replay.Effect {
			e[put].Skills, e[put].Soft = nil, "skill files"
			return e
		}, exact,
			map[int]string{6: "reattachment@16 undetermined (skill files)"}},
		{"another listing", func(e []replay.Effect) []replay.Effect { e[listing].Text = "- k: Other."; return e }, exact,
			map[int]string{0: "listing@2 divergent"}},
		{"another listing, files read later", func(e []replay.Effect) []replay.Effect { e[listing].Text = "- k: Other."; return e }, read,
			map[int]string{0: "listing@2 undetermined (the skill files as they were)"}},
		{"an addition in place of the whole", func(e []replay.Effect) []replay.Effect { e[listing].Initial = false; return e }, exact,
			map[int]string{0: "listing@2 divergent"}},
		{"other names", func(e []replay.Effect) []replay.Effect {
			e[listing].Text = "- z: Z."
			e[listing].Entries[0].Name = "z"
			return e
		}, exact,
			map[int]string{0: "listing@2 divergent", 1: "invariant@2 divergent"}},
		{"a listing that no input tells", func(e []replay.Effect) []replay.Effect { e[listing].Missing = "model"; return e }, exact,
			map[int]string{0: "listing@2 undetermined (model)"}},
		{"no listing expected", func(e []replay.Effect) []replay.Effect { return e[1:] }, exact,
			map[int]string{0: "listing@2 divergent"}},
		{"no listing expected, files read later", func(e []replay.Effect) []replay.Effect { return e[1:] }, read,
			map[int]string{0: "listing@2 undetermined (what led to it)"}},
		{"a second listing", func(e []replay.Effect) []replay.Effect {
			again := e[listing]
			again.Cause = 19
			return append(e, again)
		}, exact,
			map[int]string{6: "reattachment@16 match; relist@17 divergent"}},
		{"a second listing that the log does not hold at this version", func(e []replay.Effect) []replay.Effect {
			again := e[listing]
			again.Cause, again.Unlogged = 19, true
			return append(e, again)
		}, exact, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, ev := compared(t)
			effects := right()
			if tt.change != nil {
				effects = tt.change(effects)
			}
			var want []string
			for i, line := range all {
				if w, ok := tt.want[i]; ok {
					line = w
				}
				if line != "" {
					want = append(want, line)
				}
			}
			checks := replay.Compare(s.Main(), effects, ev, tt.cmp)
			equal(t, "checks", verdicts(checks), strings.Join(want, "; "))
			for _, c := range checks {
				if c.Agent != "main" || c.Where.File != "log.jsonl" || c.Where.UUID == "" {
					t.Errorf("%s has no evidence: %+v", c.Kind, c.Where)
				}
				if c.Verdict == replay.Undetermined && c.Missing == "" || c.Verdict != replay.Match && c.Reason == "" && c.Missing == "" {
					t.Errorf("%s at line %d gives no reason", c.Kind, c.Where.Line)
				}
			}
		})
	}
}

func TestCompareAbsent(t *testing.T) {
	rows := []string{user("a", "", "one"), assistant("b", "a", "m1", skillUse("t1", "k")), launched("c", "b", "t1", "k")}
	want := []replay.Effect{{Kind: replay.Body, Cause: 2, Skill: "k", ToolUse: "t1", Text: "Body."}}
	cut := observe(t, rows...)
	equal(t, "where the log ends", verdicts(replay.Compare(cut.Main(), want, replay.Gather(cut, cut.Main()), replay.Comparison{Exact: true, RulesExact: true})), "")
	on := observe(t, append(rows, assistant("d", "c", "m2", text("x")))...)
	equal(t, "where it goes on", verdicts(replay.Compare(on.Main(), want, replay.Gather(on, on.Main()), replay.Comparison{Exact: true, RulesExact: true})), "body@2 divergent")
	equal(t, "with files read later", verdicts(replay.Compare(on.Main(), want, replay.Gather(on, on.Main()), replay.Comparison{RulesExact: true})), "body@2 undetermined (the skill files as they were)")
}

func TestCompareHistory(t *testing.T) {
	s, ev := compared(t)
	history := map[string]bool{}
	for _, e := range s.Main().Events {
		history[e.Where.UUID] = true
	}
	equal(t, "a copied history", verdicts(replay.Compare(s.Main(), nil, ev, replay.Comparison{Exact: true, RulesExact: true, History: history})), "")
}

func TestCompareInvariant(t *testing.T) {
	digest := skills.Digest("k", "K.")
	for _, tt := range []struct{ name, members, want string }{
		{"all fits", `"skillCount":1,"names":["k"],"digests":["` + digest + `"]`, "match"},
		{"another count", `"skillCount":2,"names":["k"]`, "divergent"},
		{"other names", `"skillCount":1,"names":["z"]`, "divergent"},
		{"another digest", `"skillCount":1,"names":["k"],"digests":["0000000000000000"]`, "divergent"},
		{"too many digests", `"skillCount":1,"names":["k"],"digests":["` + digest + `","` + digest + `"]`, "divergent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := observe(t, user("a", "", "one"), attachment("b", "a", `"type":"skill_listing","content":"- k: K.","isInitial":true,`+tt.members), assistant("c", "b", "m1", text("x")))
			effects := right()[:1]
			effects[0].Entries[0].Digest = digest
			checks := replay.Compare(s.Main(), effects, replay.Gather(s, s.Main()), replay.Comparison{Exact: true, RulesExact: true})
			var got replay.Verdict
			for _, c := range checks {
				if c.Kind == replay.CheckInvariant {
					got = c.Verdict
				}
			}
			equal(t, "invariant", string(got), tt.want)
		})
	}
	t.Run("without a prediction an attachment is checked against itself", func(t *testing.T) {
		s := observe(t, user("a", "", "one"), attachment("b", "a", `"type":"skill_listing","content":"- k: K.","isInitial":true,"skillCount":3,"names":["k"]`))
		equal(t, "checks", verdicts(replay.Compare(s.Main(), nil, replay.Gather(s, s.Main()), replay.Comparison{RulesExact: true})), "listing@2 undetermined (what led to it); invariant@2 divergent")
	})
}

func TestCompareOrderOfReattachments(t *testing.T) {
	s := observe(t, user("a", "", "one"), boundary("b", "a"), summary("c", "b"),
		attachment("d", "c", `"type":"invoked_skills","skills":[{"name":"k","path":"p","content":"K"},{"name":"n","path":"p","content":"N"}]`))
	want := []replay.Effect{{Kind: replay.Reattachment, Cause: 1, OrderUnknown: true, Skills: []replay.ReattachedSkill{{Name: "n", Path: "p", Content: "N"}, {Name: "k", Path: "p", Content: "K"}}}}
	ev := replay.Gather(s, s.Main())
	equal(t, "another order", verdicts(replay.Compare(s.Main(), want, ev, replay.Comparison{Exact: true, RulesExact: true})), "reattachment@4 undetermined (the order after a resume)")
	want[0].Skills[0].Content = "Else"
	equal(t, "another text", verdicts(replay.Compare(s.Main(), want, ev, replay.Comparison{Exact: true, RulesExact: true})), "reattachment@4 divergent")
}

func TestCount(t *testing.T) {
	r := replay.Result{Agents: []replay.AgentResult{
		{Checks: []replay.Check{{Verdict: replay.Match}, {Verdict: replay.Divergent}, {Verdict: replay.Divergent, Unconfirmed: true}}},
		{Checks: []replay.Check{{Verdict: replay.Undetermined}, {Verdict: replay.Match}}}}}
	match, divergent, undetermined, unconfirmed := r.Count()
	equal(t, "counts", fmt.Sprint(match, divergent, undetermined, unconfirmed), "2 1 1 1")
}

// TestNoFiles checks that nothing is called divergent where no skill file is known.
func TestNoFiles(t *testing.T) {
	refused := []string{user("a", "", "one"), assistant("b", "a", "m1", skillUse("t1", "k")),
		failed("c", "b", "t1", "<tool_use_error>Skill k cannot be used with Skill tool due to disable-model-invocation</tool_use_error>"), assistant("d", "c", "m2", text("x"))}
	for i, version := range []string{"2.0.30", "2.0.76", "2.1.20", "2.1.92", "2.1.140", "2.1.260", "2.1.304", "2.1.332"} {
		noNotes := i < 5
		for _, log := range [][]string{everything(), refused} {
			var rows []string
			for _, r := range log {
				if noNotes && strings.Contains(r, "already loaded") {
					r = user("h", "g", "", `"isMeta":true`)
				}
				r = strings.ReplaceAll(r, `"2.1.332"`, `"`+version+`"`)
				if version == "2.0.30" {
					r = strings.ReplaceAll(r, `"skill":`, `"command":`)
				}
				rows = append(rows, r)
			}
			s := observe(t, rows...)
			started(s)
			in := inputs(t, version, nil)
			in.Exact = false
			for _, c := range replay.Run(s, in, replay.Comparison{RulesExact: true}).Agents[0].Checks {
				if c.Verdict == replay.Divergent {
					t.Errorf("%s: %s of %s at line %d is divergent: %s\nexpected %q\nobserved %q", version, c.Kind, c.Skill, c.Where.Line, c.Reason, c.Expected, c.Observed)
				}
			}
		}
	}
}

// TestBodiesFromTheLog: without skill files, an earlier body of the log says what a
// later one must be, as far as it does.
func TestBodiesFromTheLog(t *testing.T) {
	called := func(id, args string) string {
		return use(id, "Skill", `{"skill":"k","args":`+quote(args)+`}`)
	}
	const plain, placed = "Do it.\n\nARGUMENTS: ", "Do it with "
	for _, tt := range []struct {
		name, args1, body1, args2, body2, want string
	}{
		{"the same call", "x", placed + "x", "x", placed + "x", "body match"},
		{"an edited file", "x", placed + "x", "x", placed + "x!", "body undetermined (skill files)"},
		{"other arguments, appended", "x", plain + "x", "y z", plain + "y z", "body match"},
		{"none after some", "x", plain + "x", "", "Do it.", "body match"},
		{"other arguments, appended to an edited file", "x", plain + "x", "y", "New.\n\nARGUMENTS: y", "body undetermined (skill files)"},
		{"other arguments, placed", "x", placed + "x", "y", placed + "y", "body undetermined (skill files)"},
		{"some after none", "", "Do it.", "y", plain + "y", "body undetermined (skill files)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := []string{user("a", "", "one"), assistant("b", "a", "m1", called("t1", tt.args1)), launched("c", "b", "t1", "k"), body("d", "c", "t1", bodyText("k", tt.body1)),
				assistant("e", "d", "m2", called("t2", tt.args2)), launched("f", "e", "t2", "k"), body("g", "f", "t2", bodyText("k", tt.body2)), assistant("h", "g", "m3", text("x"))}
			for i := range rows {
				rows[i] = strings.ReplaceAll(rows[i], `"2.1.332"`, `"2.1.140"`) // which has no notes
			}
			s := observe(t, rows...)
			started(s)
			in := inputs(t, "2.1.140", nil)
			in.Exact = false
			checks := replay.Run(s, in, replay.Comparison{RulesExact: true}).Agents[0].Checks
			if len(checks) != 2 {
				t.Fatalf("got %s", verdicts(checks))
			}
			equal(t, "the first", verdicts(checks[:1]), "body@4 undetermined (skill files)")
			equal(t, "the second", strings.Replace(verdicts(checks[1:]), "@7", "", 1), tt.want)
		})
	}
}

func TestVisibilityWords(t *testing.T) {
	capped := strings.Repeat("x", 1535) + "…"
	for _, tt := range []struct {
		version, entry string
		want           replay.Shown
	}{
		{"2.1.332", "- k: All of it.", replay.ShownFull},
		{"2.1.332", "- k", replay.ShownNameOnly},
		{"2.1.332", "- k: " + capped, replay.ShownShortened},
		{"2.1.140", "- k: cut to a wid…", replay.ShownShortened},
	} {
		s := observe(t, user("a", "", "one", `"version":"`+tt.version+`"`), strings.Replace(listing("b", "a", true, tt.entry), "2.1.332", tt.version, 1), assistant("c", "b", "m1", text("x")))
		s.Main().Events[2].Listing.Names = nil
		s.Main().Events[2].Listing.HasNames = false
		v := replay.Run(s, inputs(t, tt.version, nil), replay.Comparison{}).Agents[0].Visibility
		equal(t, fmt.Sprintf("%s %.20s", tt.version, tt.entry), v[0].Skills.Of("k"), tt.want)
	}
}

func TestVisibilityOfCommands(t *testing.T) {
	s := observe(t, user("a", "", command("k", "")), listing("l", "a", true, "- k: K."), body("b", "l", "", "K."), assistant("c", "b", "m1", text("x")),
		user("d", "c", "<command-name>/compact</command-name>\n<command-message>compact</command-message>"), user("e", "d", "one"), listing("f", "e", false, "- n: N."), assistant("g", "f", "m2", text("x")))
	var got []string
	for _, v := range replay.Run(s, inputs(t, "2.1.332", nil), replay.Comparison{}).Agents[0].Visibility {
		got = append(got, fmt.Sprintf("%d %q %v", v.Prompt, v.Command, v.Skills))
	}
	equal(t, "rows", strings.Join(got, "; "), `0 "k" map[k:full n:absent]; 1 "" map[k:full n:full]`)
}

// TestVisibilityPredicted: where a client writes no listing to the log, the
// predicted one stands in.
func TestVisibilityPredicted(t *testing.T) {
	rows := []string{user("a", "", "one"), assistant("b", "a", "m1", text("x"))}
	for i := range rows {
		rows[i] = strings.ReplaceAll(rows[i], "2.1.332", "2.1.88")
	}
	s := observe(t, rows...)
	started(s)
	r := replay.Run(s, inputs(t, "2.1.88", tree(t, ".claude/skills/k/SKILL.md", "---\ndescription: K.\n---\nDo.\n")), replay.Comparison{Exact: true, RulesExact: true}).Agents[0]
	equal(t, "seen", fmt.Sprint(r.Visibility[0].Predicted, r.Visibility[0].Skills), "true map[k:full]")
	equal(t, "checks", verdicts(r.Checks), "")
	equal(t, "changes", len(r.Changes), 1)
}

// TestReplies: a reply under the id of an earlier message stands behind its prompt.
func TestReplies(t *testing.T) {
	s := observe(t, user("a", "", "one", at(1)), assistant("b", "a", "m1", text("x"), at(2)), user("c", "b", "two", at(3)), assistant("d", "c", "m1", text("y"), at(4)), assistant("e", "d", "m1", text("z"), at(5)))
	a := s.Main()
	equal(t, "events", parents(a), "prompt@1<- turn@2<1 prompt@3<2")
	equal(t, "replies", fmt.Sprint(a.Replies), "[2]")
	a.Insert([]replay.Insertion{{Before: 0, Event: replay.Event{Kind: replay.Start, Start: &replay.StartEvent{}}}})
	equal(t, "replies behind an insertion", fmt.Sprint(a.Replies), "[3]")
}

// TestInterrupts: the user's stop stands behind what was going on, and ends the turn.
func TestInterrupts(t *testing.T) {
	stop := func(id, parent, text string) string { return user(id, parent, text, at(3)) }
	ls := use("t1", "Bash", `{"command":"ls"}`)
	for _, tt := range []struct {
		name, interrupts string
		unfinished       int
		rows             []string
	}{
		{"before any answer", "[{2 0}]", 0, []string{user("a", "", "one", at(1)), stop("b", "a", "[Request interrupted by user]")}},
		{"while a tool ran", "[{3 1}]", 0, []string{user("a", "", "one", at(1)), assistant("b", "a", "m1", ls, at(2)), stop("c", "b", "[Request interrupted by user for tool use]")}},
		{"a tool that did not answer", "[]", 2, []string{user("a", "", "one", at(1)), assistant("b", "a", "m1", ls, at(2))}},
		{"an answer of a tool", "[]", 3, []string{user("a", "", "one", at(1)), assistant("b", "a", "m1", ls, at(2)), result("c", "b", "t1", "x", at(3))}},
		{"an answer of a tool, and a prompt", "[]", 0, []string{user("a", "", "one", at(1)), assistant("b", "a", "m1", ls, at(2)), result("c", "b", "t1", "x", at(3)), user("d", "c", "two", at(4))}},
		{"an answer", "[]", 0, []string{user("a", "", "one", at(1)), assistant("b", "a", "m1", text("done"), at(2))}},
	} {
		a := observe(t, tt.rows...).Main()
		got := []string{}
		for _, in := range a.Interrupts {
			got = append(got, fmt.Sprintf("{%d %d}", in.Where.Line, in.Event))
		}
		equal(t, tt.name, fmt.Sprint(got), tt.interrupts)
		equal(t, tt.name, a.Unfinished.Line, tt.unfinished)
	}
}

func TestInsert(t *testing.T) {
	s := observe(t, user("a", "", "one", at(1)), assistant("b", "a", "m1", text("x"), at(2)), user("c", "b", "two", at(3)), user("d", "b", "two changed", at(4)), assistant("e", "d", "m2", text("y"), at(5)))
	a := s.Main()
	equal(t, "before", parents(a), "prompt@1<- turn@2<1 prompt@3!<2 prompt@4<2 turn@5<4")
	mark := func(k replay.EventKind) replay.Event { return replay.Event{Kind: k, Start: &replay.StartEvent{}} }
	a.Insert([]replay.Insertion{{Before: 0, Event: mark(replay.Start)}, {Before: 3, Event: mark(replay.Start)}, {Before: 3, Event: mark(replay.CatalogueChange)}, {Before: 5, Event: mark(replay.Restored)}})
	var got []string
	for i := range a.Events {
		e := &a.Events[i]
		got = append(got, fmt.Sprintf("%d %s parent %d second %d", i, word(e), e.Parent, e.Where.Time.Second()))
	}
	equal(t, "after", strings.Join(got, "\n"), `0 start@1 parent -1 second 0
1 prompt@1 parent 0 second 1
2 turn@2 parent 1 second 2
3 prompt@3! parent 2 second 3
4 start@4 parent 2 second 3
5 catalogue_change@4 parent 4 second 3
6 prompt@4 parent 5 second 4
7 turn@5 parent 6 second 5
8 restored@0 parent 7 second 5`)
	var calls []int
	for _, c := range a.Calls {
		calls = append(calls, c.Event)
	}
	equal(t, "events before the calls", fmt.Sprint(calls), "[2 7]")
	equal(t, "version", a.Events[4].Version, "2.1.332")
	a.Insert(nil)
	equal(t, "nothing to insert", len(a.Events), 9)
}

func TestRunWithoutEvents(t *testing.T) {
	s := observe(t)
	r := replay.Run(s, inputs(t, "2.1.332", tree(t)), replay.Comparison{Exact: true, RulesExact: true})
	equal(t, "checks", len(r.Agents[0].Checks), 0)
	if replay.Summarize(s.Main()).Attempts != nil {
		t.Error("attempts out of nothing")
	}
	var none replay.Session
	if none.Main() != nil {
		t.Error("a session without agents has a main loop")
	}
}
