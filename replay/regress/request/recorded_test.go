package request

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/conform/scenario"
)

// likeness is how far a rebuilt message agrees with the log's record of it.
type likeness int

const (
	sameDigest likeness = iota // its digest is the one that the record gives
	sameBytes                  // it is the copy in the log, byte for byte
	sameLength                 // texts that the recording cut begin alike and are as long together
	filled                     // the log has no copy, and the recording's filler gives it another digest
	unlike
)

// compareRecorded compares a rebuilt message with the one that the log names.
func compareRecorded(l *Log, hash string, m jsonl.Value) likeness {
	if o := otherForm(m); digest(m) == hash || o != nil && digest(o) == hash {
		return sameDigest
	}
	b := l.blobs[hash]
	if b == nil {
		if strings.Contains(string(m), "xxx") || strings.Contains(string(m), `xx `) {
			return filled
		}
		return unlike
	}
	got, want := string(canonical(m)), string(canonical(b.message))
	if o := otherForm(m); got == want || o != nil && string(canonical(o)) == want {
		return sameBytes
	}
	if strings.Contains(got, `\u0000`) { // cut where it was rendered
		return sameLength
	}
	var missing int64
	if !cutFrom(b.message, m, &missing) || missing != b.missing {
		return unlike
	}
	return sameLength
}

// cutFrom reports whether cut is whole but for the ends of texts, and how much of these
// is missing.
func cutFrom(cut, whole jsonl.Value, missing *int64) bool {
	if cut.Kind() != whole.Kind() {
		return false
	}
	switch cut.Kind() {
	case jsonl.ValueString:
		a, b := cut.Text(), whole.Text()
		if !strings.HasPrefix(b, a) {
			// The recording's filler is not the same everywhere.
			if budget.Len16(a) > budget.Len16(b) {
				return false
			}
		}
		*missing += int64(len([]rune(b)) - len([]rune(a)))
		return true
	case jsonl.ValueArray:
		var items []jsonl.Value
		for item := range whole.Items() {
			items = append(items, item)
		}
		n := 0
		for item := range cut.Items() {
			if n >= len(items) || !cutFrom(item, items[n], missing) {
				return false
			}
			n++
		}
		return n == len(items)
	case jsonl.ValueObject:
		n := 0
		for name, m := range cut.Members() {
			if !cutFrom(m, whole.Get(name), missing) {
				return false
			}
			n++
		}
		for range whole.Members() {
			n--
		}
		return n == 0
	}
	return string(cut) == string(whole)
}

// TestRecorded compares rebuilt messages with those that the log's own records of
// requests name: by digest, byte for byte, or, where the recording cut texts, in length.
func TestRecorded(t *testing.T) {
	found := map[string]*agreement{}
	count := func(what string, agreed bool) {
		n := found[what]
		if n == nil {
			n = &agreement{}
			found[what] = n
		}
		n.asked++
		if agreed {
			n.agreed++
		}
	}
	var messages [unlike + 1]int
	eachLog(t, "2.1.281", func(version, path string, l *Log) {
		whole(l)
		show := t.Logf
		for _, a := range l.agents {
			seen := map[string]bool{}
			for i := range a.items {
				it := &a.items[i]
				if it.kind != jsonl.KindAssistant || it.ref == "" || seen[it.ref] || it.failed {
					continue
				}
				seen[it.ref] = true
				list, ok := l.hashes(it.ref)
				if !ok {
					continue
				}
				rebuilt, _ := l.rebuilt(a, it.parent, it.version, it.model, it.effort)
				good := len(rebuilt) == len(list)
				for k, hash := range list {
					like := unlike
					if k < len(rebuilt) {
						like = compareRecorded(l, hash, rebuilt[k])
					}
					messages[like]++
					if like == unlike && good {
						good = false
						if strings.HasPrefix(version, cmp.Or(os.Getenv("REQUEST_SHOW"), "none")) {
							show("%s:%d: message %d of %d (%d rebuilt)", path, it.line, k, len(list), len(rebuilt))
							if b := l.blobs[hash]; b != nil {
								show("  want %d %.600s", b.missing, canonical(b.message))
							}
							if k < len(rebuilt) {
								show("   got %.600s", canonical(rebuilt[k]))
							}
							show = func(string, ...any) {}
						}
					}
				}
				count(version+" all", good)
				if a.begins(it) {
					count(version+" first", good)
				}
			}
		}
	})
	t.Logf("messages: %d by digest, %d byte for byte, %d in length, %d not named and filled, %d unlike",
		messages[sameDigest], messages[sameBytes], messages[sameLength], messages[filled], messages[unlike])
	holds(t, "recorded.txt", found)
}

// begins reports whether a reply is the first one to what was typed.
func (a *agent) begins(reply *item) bool {
	for i := reply.parent; i >= 0; i = a.items[i].parent {
		it := &a.items[i]
		if it.kind == jsonl.KindAssistant || len(it.results) > 0 {
			return false
		}
		if it.kind == jsonl.KindUser && !it.meta {
			return true
		}
	}
	return false
}

// eachLog opens the sessions of all recordings from a version on.
func eachLog(t *testing.T, since string, visit func(version, path string, l *Log)) {
	root := recordings(t)
	for _, family := range []string{"lifecycle", "fuzz", "interactive", "listing", "billing"} {
		dirs, err := scenario.Find(filepath.Join(root, family))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			version := filepath.Base(dir)
			if scenario.CompareVersions(version, since) < 0 {
				continue
			}
			logs, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range logs {
				if strings.HasPrefix(filepath.Base(path), "agent-") {
					continue
				}
				subs, err := filepath.Glob(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-*.jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				l := open(t, path, subs)
				visit(version, path, l)
			}
		}
	}
}
