package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay"
)

// parents lists the events with the line of the event before each on its branch.
func parents(a *replay.Agent) string {
	var out []string
	for i := range a.Events {
		e := &a.Events[i]
		before := "-"
		if e.Parent >= 0 {
			before = fmt.Sprint(a.Events[e.Parent].Where.Line)
		}
		out = append(out, word(e)+"<"+before)
	}
	return strings.Join(out, " ")
}

func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		rows                   []string
		want                   string
		dangling, replay, late int
	}{
		{"a chain",
			[]string{user("a", "", "one"), assistant("b", "a", "m1", text("x")), user("c", "b", "two")},
			"prompt@1<- turn@2<1 prompt@3<2", 0, 0, 0},
		{"a parent later in the file",
			[]string{assistant("b", "a", "m1", text("x")), user("a", "", "one"), user("c", "b", "two")},
			"prompt@2<- turn@1<2 prompt@3<1", 0, 0, 1},
		{"a whole turn before its prompt",
			[]string{attachment("b", "a", `"type":"date"`), assistant("c", "b", "m1", text("x")), assistant("d", "c", "m2", text("y")), user("a", "", "one"), user("e", "d", "two")},
			"prompt@4<- turn@2<4 turn@3<2 prompt@5<3", 0, 0, 1},
		{"without any parent",
			[]string{`{"type":"user","uuid":"a","message":{"content":"one"}}`, `{"type":"assistant","uuid":"b","message":{"id":"m1","content":"x"}}`, `{"type":"user","uuid":"c","message":{"content":"two"}}`},
			"prompt@1<- turn@2<1 prompt@3<2", 0, 0, 0},
		{"without uuids",
			[]string{`{"type":"user","message":{"content":"one"}}`, `{"type":"assistant","message":{"id":"m1","content":"x"}}`, `{"type":"user","message":{"content":"two"}}`},
			"prompt@1<- turn@2<1 prompt@3<2", 0, 0, 0},
		{"a parent that does not exist",
			[]string{user("a", "", "one"), assistant("b", "gone", "m1", text("x")), user("c", "b", "two")},
			"prompt@1<- turn@2<1 prompt@3<2", 1, 0, 0},
		{"repeated records",
			[]string{user("a", "", "one"), assistant("b", "a", "m1", text("x")), user("a", "", "one"), assistant("b", "a", "m1", text("x")), user("c", "b", "two")},
			"prompt@1<- turn@2<1 prompt@5<2", 0, 2, 0},
		{"a record that is its own parent",
			[]string{user("a", "a", "one"), assistant("b", "a", "m1", text("x"))},
			"prompt@1<- turn@2<1", 0, 0, 0},
		{"two records that are each other's parent",
			[]string{user("a", "b", "one"), assistant("b", "a", "m1", text("x")), user("c", "b", "two")},
			"prompt@1<- turn@2<1 prompt@3<2", 0, 0, 1},
		{"a longer cycle",
			[]string{user("a", "c", "one"), assistant("b", "a", "m1", text("x")), user("c", "b", "two"), assistant("d", "c", "m2", text("x"))},
			"prompt@1<- turn@2<1 prompt@3<2 turn@4<3", 0, 0, 1},
		{"a cycle at a boundary whose logical parent hangs behind it",
			[]string{user("a", "", "one"), boundary("b", "d"), user("c", "b", "two"), assistant("d", "c", "m1", text("x"))},
			"prompt@1<- compaction@2<1 prompt@3<2 turn@4<3", 0, 0, 0},
		{"a boundary",
			[]string{user("a", "", "one"), assistant("b", "a", "m1", text("x")), boundary("c", "b"), summary("d", "c"), user("e", "d", "two")},
			"prompt@1<- turn@2<1 compaction@3<2 prompt@5<3", 0, 0, 0},
		{"a boundary whose logical parent is gone",
			[]string{user("a", "", "one"), assistant("b", "a", "m1", text("x")), boundary("c", "gone"), summary("d", "c"), user("e", "d", "two")},
			"prompt@1<- turn@2<1 compaction@3<2 prompt@5<3", 0, 0, 0},
		{"results of parallel tools",
			[]string{user("a", "", "one"), assistant("b", "a", "m1", use("t1", "Read", `{"file_path":"/x"}`)+","+use("t2", "Read", `{"file_path":"/y"}`)),
				result("c", "b", "t1", "x"), result("d", "b", "t2", "y"), assistant("e", "d", "m2", text("x"))},
			"prompt@1<- turn@2<1 touch@3<2 touch@4<3 turn@5<4", 0, 0, 0},
		{"blocks of one message that share a parent",
			[]string{user("a", "", "one"), assistant("b", "a", "m1", text("x")), assistant("c", "a", "m1", skillUse("t1", "k")), launched("d", "c", "t1", "k")},
			"prompt@1<- turn@2<1 skill_call(k)@3<2 launched(k)@4<3", 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := observe(t, tt.rows...)
			equal(t, "events", parents(s.Main()), tt.want)
			equal(t, "dangling", s.Dangling, tt.dangling)
			equal(t, "replayed", s.Replayed, tt.replay)
			equal(t, "late", s.OutOfOrder, tt.late)
		})
	}
}

func TestRewind(t *testing.T) {
	for _, tt := range []struct {
		name string
		rows []string
		want string
	}{
		{"to a prompt",
			[]string{user("a", "", "zero"), assistant("b", "a", "m1", text("x")),
				user("c", "b", "one"), assistant("d", "c", "m2", skillUse("t1", "k")), launched("e", "d", "t1", "k"), body("f", "e", "t1", bodyText("k", "Do.")),
				user("g", "b", "one changed"), assistant("h", "g", "m3", text("y"))},
			"prompt@1<- turn@2<1 prompt@3!<2 turn@4!<3 skill_call(k)@4!<4 launched(k)@5!<4 body(k)@6!<5 prompt@7<2 turn@8<7"},
		{"over two prompts",
			[]string{user("a", "", "zero"), assistant("b", "a", "m1", text("x")), user("c", "b", "one"), assistant("d", "c", "m2", text("x")), user("e", "d", "two"), assistant("f", "e", "m3", text("x")),
				user("g", "b", "again"), assistant("h", "g", "m4", text("y"))},
			"prompt@1<- turn@2<1 prompt@3!<2 turn@4!<3 prompt@5!<4 turn@6!<5 prompt@7<2 turn@8<7"},
		{"before the first prompt",
			[]string{user("a", "", "one"), listing("b", "a", true, "- k: K."), user("c", "", "one changed"), listing("d", "c", true, "- k: K."), assistant("e", "d", "m1", text("x"))},
			"prompt@1!<- noticed@2!<1 listing@2!<2 prompt@3<- noticed@4<3 listing@4<4 turn@5<4"},
		{"twice to the same place",
			[]string{user("a", "", "zero"), user("c", "a", "one"), user("d", "a", "two"), user("e", "a", "three"), assistant("f", "e", "m1", text("x"))},
			"prompt@1<- prompt@2!<1 prompt@3!<1 prompt@4<1 turn@5<4"},
		{"within a branch that was left",
			[]string{user("a", "", "zero"), user("b", "a", "one"), user("c", "b", "two"), user("d", "b", "three"), user("e", "a", "four")},
			"prompt@1<- prompt@2!<1 prompt@3!<2 prompt@4!<2 prompt@5<1"},
		{"a reply that was cut short",
			[]string{user("a", "", "zero"), assistant("b", "a", "m1", text("x")), user("c", "a", "one"), assistant("d", "c", "m2", text("y"))},
			"prompt@1<- turn@2!<1 prompt@3<1 turn@4<3"},
		{"the last leaf decides, not the last line",
			[]string{user("a", "", "zero"), user("c", "a", "one"), user("d", "a", "two"), assistant("e", "d", "m1", text("x")), `{"type":"mode","mode":"normal","sessionId":"s1"}`},
			"prompt@1<- prompt@2!<1 prompt@3<1 turn@4<3"},
		{"a typed compaction that its boundary replaced",
			[]string{user("a", "", "zero"), assistant("b", "a", "m1", text("x")), user("c", "b", "/compact keep the list"), boundary("d", "b"), summary("e", "d"),
				user("f", "e", "caveat", `"isMeta":true`), user("g", "f", "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args>keep the list</command-args>"),
				user("h", "g", "<local-command-stdout>Compacted</local-command-stdout>"), user("i", "h", "one")},
			"prompt@1<- turn@2<1 compaction@4<2 slash(compact)@7<4 prompt@9<7"},
		{"kept messages beside a boundary are of the conversation",
			[]string{user("a", "", "zero"), assistant("b", "a", "m1", text("x")), user("c", "b", "one"), assistant("d", "c", "m2", text("y")),
				boundary("e", "b", `"preservedMessages":{"anchorUuid":"f","uuids":["c","d"]}`), summary("f", "e", `"summarizeMetadata":{"messagesSummarized":2,"direction":"up_to"}`), user("g", "f", "two")},
			"prompt@1<- turn@2<1 prompt@3<2 turn@4<3 compaction@5<4 prompt@7<5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			equal(t, "events", parents(observe(t, tt.rows...).Main()), tt.want)
		})
	}
}

func TestRewindState(t *testing.T) {
	s := observe(t, user("a", "", "zero"), listing("l", "a", true, "- k: K."), assistant("b", "l", "m1", text("x")),
		user("c", "b", "one"), listing("d", "c", false, "- n: N."), assistant("e", "d", "m2", text("x")),
		user("f", "b", "one changed"), assistant("g", "f", "m3", text("y")))
	r := replay.Run(s, inputs(t, "2.1.332", nil), replay.Comparison{})
	var got []string
	for _, v := range r.Agents[0].Visibility {
		got = append(got, fmt.Sprintf("%d %v %v", v.Prompt, v.Abandoned, v.Skills))
	}
	equal(t, "seen", strings.Join(got, "; "), "1 false map[k:full n:absent]; 2 true map[k:full n:full]; 3 false map[k:full n:absent]")
	for _, c := range r.Agents[0].Changes {
		if c.Skill == "n" {
			t.Errorf("n %s at line %d: that branch was left", c.Shown, c.Where.Line)
		}
	}
}

func TestPartialCompaction(t *testing.T) {
	meta := func(direction string) string {
		return `"summarizeMetadata":{"messagesSummarized":2,"direction":"` + direction + `"}`
	}
	list := func(e *replay.CompactionEvent) string {
		var kept []string
		for _, u := range []string{"a", "l", "b", "c", "d"} {
			if e.Kept[u] {
				kept = append(kept, u)
			}
		}
		return strings.TrimSpace(e.Partial + " " + strings.Join(kept, ""))
	}
	start := []string{user("a", "", "zero"), listing("l", "a", true, "- k: K."), assistant("b", "l", "m1", text("x")), user("c", "b", "one"), assistant("d", "c", "m2", text("y"))}
	for _, tt := range []struct {
		name string
		rows []string
		kept string
		seen string
	}{
		{"whole", []string{boundary("e", "d"), summary("f", "e"), user("g", "f", "two"), assistant("h", "g", "m3", text("z"))}, "", "absent"},
		{"up to here, by uuids", []string{boundary("e", "b", `"preservedMessages":{"anchorUuid":"f","uuids":["c","d"]}`), summary("f", "e", meta("up_to")), user("g", "f", "two"), assistant("h", "g", "m3", text("z"))}, "up_to cd", "absent"},
		{"up to here, by segment", []string{boundary("e", "b", `"preservedSegment":{"headUuid":"c","anchorUuid":"f","tailUuid":"d"}`), summary("f", "e", meta("up_to")), user("g", "f", "two"), assistant("h", "g", "m3", text("z"))}, "up_to cd", "absent"},
		{"a tail with the listing", []string{boundary("e", "d", `"preservedSegment":{"headUuid":"l","anchorUuid":"f","tailUuid":"d"}`), summary("f", "e"), user("g", "f", "two"), assistant("h", "g", "m3", text("z"))}, "lbcd", "full"},
		{"from here", []string{boundary("e", "d", `"preservedSegment":{"headUuid":"a","anchorUuid":"e","tailUuid":"b"}`), summary("f", "e", meta("from")), user("g", "f", "two"), assistant("h", "g", "m3", text("z"))}, "from alb", "full"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := observe(t, append(append([]string{}, start...), tt.rows...)...)
			var found *replay.CompactionEvent
			for _, e := range s.Main().Events {
				if e.Kind == replay.Compaction {
					found = e.Compaction
				}
			}
			if found == nil {
				t.Fatal("no compaction")
			}
			equal(t, "kept", list(found), tt.kept)
			v := replay.Run(s, inputs(t, "2.1.260", nil), replay.Comparison{}).Agents[0].Visibility
			equal(t, "seen behind it", string(v[len(v)-1].Skills.Of("k")), tt.seen)
		})
	}
	t.Run("twice in a row", func(t *testing.T) {
		s := observe(t, append(append([]string{}, start...), boundary("e", "d"), summary("f", "e"), boundary("g", "f"), summary("h", "g"), user("i", "h", "two"), assistant("j", "i", "m3", text("z")), boundary("k", "j"))...)
		var direct []bool
		for _, e := range s.Main().Events {
			if e.Kind == replay.Compaction {
				direct = append(direct, e.Compaction.Direct)
			}
		}
		equal(t, "directly behind another", fmt.Sprint(direct), "[false true false]")
	})
}

// TestHostileGraphs reads graphs that cost too much, or never end, for a reader
// that follows them step by step.
func TestHostileGraphs(t *testing.T) {
	n := 100_000
	short := func(typ, uuid, parent, rest string) string {
		return `{"type":"` + typ + `","uuid":"` + uuid + `","parentUuid":` + parent + rest + `}`
	}
	prompt := `,"message":{"content":"x"}`
	id := func(i int) string { return fmt.Sprintf("u%d", i) }
	ref := func(i int) string { return `"` + id(i) + `"` }
	for _, tt := range []struct {
		name string
		row  func(i int) string
		want func(s *replay.Session) bool
	}{
		{"a deep chain", func(i int) string { return short("user", id(i), ref(i-1), prompt) },
			func(s *replay.Session) bool { return s.Main().Prompts == n && s.Dangling == 1 }},
		{"a deep chain upside down", func(i int) string { return short("user", id(i), ref(i+1), prompt) },
			func(s *replay.Session) bool { return s.Main().Prompts == n && s.OutOfOrder == n-1 }},
		{"each its own parent", func(i int) string { return short("user", id(i), ref(i), prompt) },
			func(s *replay.Session) bool { return s.Main().Prompts == n }},
		{"pairs in a circle", func(i int) string { return short("user", id(i), ref(i^1), prompt) },
			func(s *replay.Session) bool { return s.Main().Prompts == n }},
		{"one great circle", func(i int) string { return short("user", id(i), ref((i+1)%n), prompt) },
			func(s *replay.Session) bool { return s.Main().Prompts == n }},
		{"many roots", func(i int) string {
			if i == 1 {
				return short("user", id(i), ref(0), prompt)
			}
			return short("user", id(i), "null", prompt)
		}, func(s *replay.Session) bool { return s.Main().Prompts == n }},
		{"one parent for all", func(i int) string { return short("user", id(i), ref(0), prompt) },
			func(s *replay.Session) bool { return s.Main().Events[1].Abandoned && !s.Main().Events[n-1].Abandoned }},
		{"a long dead branch with many leaves", func(i int) string {
			switch {
			case i < n/2:
				return short("attachment", id(i), ref(i-1), `,"attachment":{"type":"date"}`)
			case i < n-1:
				return short("user", id(i), ref(n/2-1), prompt)
			}
			return short("user", id(i), ref(0), prompt)
		}, func(s *replay.Session) bool { return s.Main().Prompts == n/2 }},
		{"as many boundaries that keep all", func(i int) string {
			if i%2 == 0 {
				return short("user", id(i), ref(i-1), prompt)
			}
			return short("system", id(i), "null", `,"logicalParentUuid":`+ref(i-1)+`,"subtype":"compact_boundary","compactMetadata":{"preservedSegment":{"headUuid":"u0","tailUuid":`+ref(i-1)+`}}`)
		}, func(s *replay.Session) bool { return s.Main().Prompts == n/2 }},
		{"a subagent a row", func(i int) string {
			return short("user", id(i), "null", `,"isSidechain":true,"agentId":`+ref(i)+prompt)
		}, func(s *replay.Session) bool { return len(s.Agents) == n+1 }},
		{"a version and a model a row", func(i int) string {
			return short("assistant", id(i), ref(i-1), `,"version":`+ref(i)+`,"message":{"id":"m","model":`+ref(i)+`,"content":"x"}`)
		}, func(s *replay.Session) bool { return len(s.Versions) == n && len(s.Main().Calls) == 1 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n = 40_000
			if strings.HasPrefix(tt.name, "a deep chain") {
				n = 100_000
			}
			var b strings.Builder
			for i := range n {
				b.WriteString(tt.row(i))
				b.WriteByte('\n')
			}
			s, err := replay.Observe(source("log.jsonl", b.String()))
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "records", s.Records, n)
			if !tt.want(s) {
				t.Errorf("%d events, %d prompts, %d dangling, %d late, %d agents, %d versions", len(s.Main().Events), s.Main().Prompts, s.Dangling, s.OutOfOrder, len(s.Agents), len(s.Versions))
			}
			replay.Summarize(s.Main())
		})
	}
}
