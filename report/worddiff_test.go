package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sergi/go-diff/diffmatchpatch"
)

func TestWordDiff(t *testing.T) {
	long := strings.Repeat("same words here. ", 40)
	for _, tt := range []struct{ before, after, want, short string }{
		{"same", "same", "", ""},
		{"", "new", "{+new+}", ""},
		{"old", "", "[-old-]", ""},
		{"Deploys the shop to staging.", "Deploys the shop when asked to release.", "Deploys the shop {+when asked +}to [-staging-]{+release+}.", ""},
		{"one two three four", "one five six four", "one [-two three-]{+five six+} four", ""},
		{"deploy", "deploys", "[-deploy-]{+deploys+}", ""},
		{"a\nb", `a\nb`, `a\{+\+}nb`, ""},
		{"a\x1b[31mb", "a\x1b[32mb", `a\x1b[[-31mb-]{+32mb+}`, ""},
		{"部署商店", "发布商店", "[-部署-]{+发布+}商店", ""},
		{long + "end", long + "stop", long + "[-end-]{+stop+}", "… here. same words here. same words here. same words here. [-end-]{+stop+}"},
		{"x", "x " + long, "x{+ " + long + "+}", "x{+ same words here. same words here. same words here. same words here. same words here. same words … 86 words … words here. same words here. same words here. same words here. same words here. same words here. +}"},
	} {
		got := WordDiff(tt.before, tt.after)
		if tt.before != tt.after && tt.want != got {
			t.Errorf("%q, %q:\n got %s\nwant %s", tt.before, tt.after, got, tt.want)
		}
		short := writePieces(shortPieces(wordPieces(tt.before, tt.after)), unpainted)
		if tt.short != "" && short != tt.short {
			t.Errorf("short:\n got %s\nwant %s", short, tt.short)
		}
	}
}

// However long the texts are, a difference behind the compared part shows.
func TestWordDiffLong(t *testing.T) {
	var a, b strings.Builder
	for i := range 3 * maxWords {
		fmt.Fprintf(&a, "a%d ", i)
		fmt.Fprintf(&b, "b%d ", i)
	}
	got := WordDiff("start "+a.String()+"end", "start "+b.String()+"end")
	if !strings.HasPrefix(got, "start [-a0 a1 ") || !strings.HasSuffix(got, "+} … end") || strings.Contains(got, fmt.Sprintf("a%d ", maxWords)) {
		t.Errorf("%.60s … %s", got, got[len(got)-60:])
	}
	if got := WordDiff(a.String()+"one", a.String()+"two"); !strings.HasSuffix(got, "[-one-]{+two+}") {
		t.Errorf("a difference at the end is lost: …%s", got[len(got)-40:])
	}
}

// What is not in brackets, with what is in those of one text, is that text.
func FuzzWordDiff(f *testing.F) {
	f.Add("one two three four", "one five six four")
	f.Add("a\nb \xed\xa0\xbd", "a\\nb 你好")
	f.Add(strings.Repeat("x y ", 300), strings.Repeat("y x ", 300))
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 4000 {
			return
		}
		var before, after strings.Builder
		for _, p := range wordPieces(a, b) {
			if p.op != diffmatchpatch.DiffInsert {
				before.WriteString(p.text)
			}
			if p.op != diffmatchpatch.DiffDelete {
				after.WriteString(p.text)
			}
		}
		if before.String() != escapeExact(a) || after.String() != escapeExact(b) {
			t.Fatalf("%q, %q became %q, %q", a, b, before.String(), after.String())
		}
		d := WordDiff(a, b)
		if (d == "") != (a == b) || Escape(d) != d {
			t.Fatalf("WordDiff(%q, %q) = %q", a, b, d)
		}
		short := writePieces(shortPieces(wordPieces(a, b)), unpainted)
		if Escape(short) != short || len(short) > len(d)+40*wordChanges {
			t.Fatalf("short: %q of %q", short, d)
		}
	})
}

func BenchmarkWordDiff(bm *testing.B) {
	var a, b strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&a, "a%d ", i)
		fmt.Fprintf(&b, "b%d ", i)
	}
	bm.ReportAllocs()
	for bm.Loop() {
		WordDiff(a.String(), b.String())
	}
}
