package rules

import (
	"slices"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	order := []string{
		"0.0.1", "1.9.9", "2.0.20", "2.0.30", "2.1.9", "2.1.10", "2.1.140-alpha", "2.1.140-alpha.1", "2.1.140-alpha.2", "2.1.140-alpha.10",
		"2.1.140-beta", "2.1.140", "2.1.141", "2.2.0", "10.0.0",
	}
	var vs []Version
	for _, s := range order {
		v, err := ParseVersion(s)
		if err != nil {
			t.Fatal(err)
		}
		vs = append(vs, v)
	}
	for i := range vs {
		for j := range vs {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := vs[i].Compare(vs[j]); got != want {
				t.Errorf("%s against %s: %d, want %d", order[i], order[j], got, want)
			}
		}
	}
}

func TestSplit(t *testing.T) {
	for in, want := range map[string][2]string{
		"claude-code@2.1.140": {"claude-code", "2.1.140"}, "claude-code": {"claude-code", ""}, "": {"", ""}, "a@b@c": {"a", "b@c"},
	} {
		if n, v := Split(in); n != want[0] || v != want[1] {
			t.Errorf("%s: %q %q", in, n, v)
		}
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"2.1.140", "v2.1.140", " 2.1.140 (Claude Code)", "2.1.140-beta.1+5", "2.1", "", "2.1.140-", "999999999.0.0", "2..1", "0002.01.1"} {
		f.Add(s, "2.1.105")
	}
	f.Add("2.1.1-a.b-c", "2.1.1-0")
	f.Fuzz(func(t *testing.T, a, b string) {
		v, err := ParseVersion(a)
		if err != nil {
			if _, e := table(t).At(a); e == nil {
				t.Errorf("%q has rules and is no version", a)
			}
			return
		}
		if again, err := ParseVersion(v.String()); err != nil || again != v {
			t.Errorf("%q: %v reads back as %v, %v", a, v, again, err)
		}
		if r, err := table(t).At(a); err == nil && r.Version != v.String() {
			t.Errorf("%q: version %q", a, r.Version)
		}
		w, err := ParseVersion(b)
		if err != nil {
			return
		}
		if v.Compare(w) != -w.Compare(v) {
			t.Errorf("%v against %v is not the reverse", v, w)
		}
		if v.Compare(w) == 0 && v != w {
			t.Errorf("%v and %v are equal", v, w)
		}
		vs := []Version{v, w, {2, 1, 140, ""}}
		slices.SortFunc(vs, Version.Compare)
		if vs[0].Compare(vs[2]) > 0 {
			t.Errorf("the order is not transitive: %v", vs)
		}
	})
}

func TestVersionErrorBounded(t *testing.T) {
	_, err := ParseVersion(strings.Repeat("x", 1<<20))
	if err == nil || len(err.Error()) > 500 {
		t.Errorf("the error is %d bytes long", len(err.Error()))
	}
}
