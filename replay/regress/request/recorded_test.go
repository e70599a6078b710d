package request

import (
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

func TestRecorded(t *testing.T) {
	root := recordings(t)
	show := os.Getenv("REQUEST_SHOW")
	shown, shownIn := 0, ""
	counts := map[string]map[string]int{}
	for _, family := range []string{"lifecycle", "fuzz", "interactive", "listing", "billing"} {
		dirs, err := scenario.Find(filepath.Join(root, family))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			version := filepath.Base(dir)
			if scenario.CompareVersions(version, "2.1.281") < 0 {
				continue
			}
			logs, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range logs {
				subs, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-*.jsonl"))
				l := open(t, path, subs)
				whole(l)
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
						n := counts[version]
						if n == nil {
							n = map[string]int{}
							counts[version] = n
						}
						messages, _ := l.rebuilt(a, it.parent, it.version, it.model, it.effort)
						n["requests"]++
						good := len(messages) == len(list)
						for k, hash := range list {
							like := unlike
							if k < len(messages) {
								like = compareRecorded(l, hash, messages[k])
							}
							n[[]string{"digest", "bytes", "length", "filled", "unlike"}[like]]++
							if like == unlike {
								if good && show != "" && shown < 14 && shownIn != path && strings.HasPrefix(version, show) {
									shown++
									shownIn = path
									t.Logf("%s line %d message %d of %d (%d rebuilt), copy %v", path, it.line, k, len(list), len(messages), l.blobs[hash] != nil)
									if b := l.blobs[hash]; b != nil {
										t.Logf("  want %d %.600s", b.missing, canonical(b.message))
									}
									if k < len(messages) {
										t.Logf("   got %.600s", canonical(messages[k]))
									}
								}
								good = false
							}
						}
						if good {
							n["good"]++
						}
						if held, guessed, ok := l.exact(it.ref, messages); ok && guessed == 0 && len(held) == len(list) {
							n["exact"]++
						}
					}
				}
			}
		}
	}
	for v, n := range counts {
		t.Log(v, n)
	}
}
