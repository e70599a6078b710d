package budget

import (
	"math"
	"strings"
	"sync"
	"testing"
)

func TestCount(t *testing.T) {
	var e Estimator
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"hello world", 2},
		{"Hello, world!", 4},
		{"<|endoftext|>", 7}, // plain text, no special token
		{"倉庫管理", 4},
		{strings.Repeat(" ", 64) + "x", 2},
	} {
		for range 2 { // counted, then remembered
			if got := e.Count(c.text); got != c.want {
				t.Errorf("Count(%q) = %d, want %d", c.text, got, c.want)
			}
		}
	}
}

var samples = map[string]string{
	"prose": strings.Repeat("Checks the migration scripts of a database before they are deployed, and writes a short report. Use it when the user asks about pending migrations, schema changes or a failed deployment; don't use it without a backup.\n", 60),
	"code":  strings.Repeat("func (b *Book) Lookup(model string, at time.Time) (Price, bool) {\n\tfor i := range b.rows {\n\t\tif b.rows[i].matches(model) {\n\t\t\treturn b.rows[i], true\n\t\t}\n\t}\n\treturn Price{}, false\n}\n\n", 60),
	"json":  strings.Repeat(`{"type":"assistant","uuid":"6f1c9a52-93d4-4c1e-8f7d-0b6f2f3a1c77","message":{"role":"assistant","usage":{"input_tokens":3,"cache_read_input_tokens":21954,"output_tokens":8}}}`+"\n", 60),
	"cjk":   strings.Repeat("这个技能用于检查数据库迁移脚本，并在部署之前生成一份报告。当用户提到迁移或者部署时使用它。\n", 60),
}

// TestPieces: cutting a text into pieces changes no count where no run is long.
func TestPieces(t *testing.T) {
	for name, s := range samples {
		if got, want := countTokens(s), len(encoder().EncodeOrdinary(s)); got != want {
			t.Errorf("%s: %d tokens in pieces, %d whole", name, got, want)
		}
	}
}

// TestRough pins how far the rough estimate lies from the count.
func TestRough(t *testing.T) {
	for name, s := range samples {
		got, want := ProfileOf(s).Tokens(), float64(countTokens(s))
		if r := got / want; r < 0.75 || r > 1.3 {
			t.Errorf("%s: estimate %.0f of %.0f: %.2f", name, got, want, r)
		}
	}
}

func TestProfile(t *testing.T) {
	s := "ab 12\n{}倉庫é📦\xff"
	want := Profile{Letters: 3, Digits: 2, Blanks: 2, Punct: 2, CJK: 2, Other: 2, Words: 2}
	if got := ProfileOf(s); got != want {
		t.Errorf("ProfileOf(%q) = %+v, want %+v", s, got, want)
	}
	if got := ProfileOf("ab 12\n{}").Add(ProfileOf("倉庫é📦\xff")); got != want {
		t.Errorf("sum %+v, want %+v", got, want)
	}
	if (Profile{}).Tokens() != 0 {
		t.Error("an empty text has tokens")
	}
}

// TestHostileText: long runs of one kind are counted in bounded time and near the
// truth, and what is no UTF-8 counts too.
func TestHostileText(t *testing.T) {
	var e Estimator
	for _, s := range []string{
		strings.Repeat(" ", 200_000), strings.Repeat("a", 200_000), strings.Repeat("=", 200_000),
		strings.Repeat("倉", 100_000), strings.Repeat("\n", 100_000), strings.Repeat("A", 100_000),
		strings.Repeat("\xff", 10_000), strings.Repeat("\xed\xa0\xbd", 10_000), strings.Repeat("\u0301", 50_000),
	} {
		if n := e.Count(s); n <= 0 || n > len(s) {
			t.Errorf("Count of %d times %q: %d", len(s), s[:3], n)
		}
	}
}

func TestCountConcurrently(t *testing.T) {
	var e Estimator
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, s := range samples {
				if n := e.Count(s); n != countTokens(s) {
					t.Errorf("count %d", n)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzCount(f *testing.F) {
	for _, s := range samples {
		f.Add(s[:100])
	}
	f.Add("\xff\xed\xa0\xbd  \r\n\t'll")
	f.Fuzz(func(t *testing.T, s string) {
		if n := countTokens(s); n < 0 || s != "" && n == 0 || n > 3*len(s) {
			t.Fatalf("%d tokens in %d bytes", n, len(s))
		}
		if p := ProfileOf(s).Tokens(); p < 0 || math.IsNaN(p) {
			t.Fatalf("estimate %v", p)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	encoder() // which takes a third of a second
	for _, name := range []string{"prose", "code", "json", "cjk"} {
		b.Run(name, func(b *testing.B) {
			s := samples[name]
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				countTokens(s)
			}
		})
	}
}

func BenchmarkProfile(b *testing.B) {
	for _, name := range []string{"prose", "code", "json", "cjk"} {
		b.Run(name, func(b *testing.B) {
			s := samples[name]
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				ProfileOf(s)
			}
		})
	}
}
