package report

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var escapes = []struct{ in, want string }{
	{"", ""},
	{"plain text", "plain text"},
	{"grüße 你好 🙂", "grüße 你好 🙂"},
	{"a\nb\tc\r", `a\nb\tc\r`},
	{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
	{"\x1b]0;title\a", `\x1b]0;title\x07`},
	{"\x00\x7f", `\x00\x7f`},
	{"\u0085\u009b31m", `\u0085\u009b31m`},
	{"a\u202egnp.exe", `a\u202egnp.exe`},
	{"\u2066x\u2069\u200e\u061c", `\u2066x\u2069\u200e\u061c`},
	{"zero\u200bwidth\ufeff\u00ad", `zero\u200bwidth\ufeff\u00ad`},
	{"\u2028\u2029", `\u2028\u2029`},
	{"\xff\xfe", `\xff\xfe`},
	{"half \xed\xa0\xbd pair", `half \ud83d pair`},
	{"cut \xed\xa0", `cut \xed\xa0`},
	{"tag \U000e0041", `tag \U000e0041`},
	{"private \ue0b0", `private \ue0b0`},
	{"👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
	{`back\slash`, `back\slash`},
	{"e" + strings.Repeat("\u0301", 10), "e" + strings.Repeat("\u0301", 8) + `\u0301\u0301`},
}

func TestEscape(t *testing.T) {
	for _, c := range escapes {
		if got := Escape(c.in); got != c.want {
			t.Errorf("Escape(%q) = %s, want %s", c.in, got, c.want)
		}
	}
	if got := escapeExact("a\\n\n"); got != `a\\n\n` {
		t.Errorf("escapeExact = %s", got)
	}
}

func FuzzEscape(f *testing.F) {
	for _, c := range escapes {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := Escape(s)
		if !utf8.ValidString(e) {
			t.Fatalf("not UTF-8: %q", e)
		}
		for _, r := range e {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError && !strings.Contains(s, "\ufffd") {
				t.Fatalf("%q lets %U through", s, r)
			}
		}
		if Escape(e) != e {
			t.Fatalf("not stable: %q, %q", e, Escape(e))
		}
		for _, width := range []int{0, 1, 7, 40} {
			if w := displayWidth(Truncate(e, width)); w > width {
				t.Fatalf("Truncate(%q, %d) takes %d cells", e, width, w)
			}
			if w := displayWidth(truncateStart(e, width)); w > width {
				t.Fatalf("truncateStart(%q, %d) takes %d cells", e, width, w)
			}
		}
	})
}

func FuzzText(f *testing.F) {
	for _, c := range escapes {
		f.Add(c.in)
	}
	f.Add("\xed\xa0\xbd\xed\xb8\x80")
	f.Fuzz(func(t *testing.T, s string) {
		data, err := json.Marshal(Text(s))
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(data) {
			t.Fatalf("%q is not JSON", data)
		}
		var back Text
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		// What is neither UTF-8 nor a lone surrogate is replaced.
		want := wtf8(s)
		if string(back) != want {
			t.Fatalf("%q became %q by %s, want %q", s, back, data, want)
		}
		if !json.Valid(quietJSON(data)) {
			t.Fatalf("%q is not JSON", quietJSON(data))
		}
	})
}

// wtf8 replaces bytes that are no part of WTF-8, and joins halves of pairs.
func wtf8(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if hi, ok := loneSurrogate(s[i:]); ok {
			if lo, ok := loneSurrogate(s[i+3:]); ok && hi < 0xdc00 && lo >= 0xdc00 {
				b.WriteRune(0x10000 + (hi-0xd800)<<10 + lo - 0xdc00)
				i += 6
				continue
			}
			b.WriteString(s[i : i+3])
			i += 3
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		b.WriteRune(r)
		i += size
	}
	return b.String()
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 10, "short"}, {"exactly10!", 10, "exactly10!"}, {"longer than it", 8, "longer …"},
		{"你好世界", 5, "你好…"}, {"你好世界", 4, "你…"}, {"abc", 0, ""}, {"abc", 1, "…"},
	} {
		if got := Truncate(c.in, c.width); got != c.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
	if got := truncateStart("/home/dev/shop", 8); got != "…ev/shop" {
		t.Errorf("truncateStart = %q", got)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1612: "1,612", -1234567: "-1,234,567", 1000000: "1,000,000"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %s", n, got)
		}
	}
	for n, want := range map[int64]string{0: "$0.00", 1: "$0.000001", 21000: "$0.021", 430000: "$0.43", 12_000_000: "$12.00", 1234_500_000: "$1,234.50", -5_100_000: "-$5.10"} {
		if got := FormatUSD(n); got != want {
			t.Errorf("FormatUSD(%d) = %s, want %s", n, got, want)
		}
	}
	if got := plural(2, "body") + plural(1, "body") + plural(1612, "skill") + plural(3, "match"); got != "2 bodies1 body1,612 skills3 matches" {
		t.Error(got)
	}
	if got := offset(7_000) + " " + offset(750_000) + " " + offset(11_110_000) + " " + offset(-61_000) + " " + offset(2*86_400_000+11_110_000); got != "0:07 12:30 3:05:10 -1:01 2d 03:05" {
		t.Error(got)
	}
}

// Rounded amounts add up to the rounded total.
func TestMoneyColumn(t *testing.T) {
	rows, total := moneyColumn([]int64{33_333, 33_333, 33_334}, 100_000)
	if got := strings.Join(rows, " ") + " = " + total; got != "$0.033 $0.033 $0.034 = $0.100" {
		t.Error(got)
	}
	rows, total = moneyColumn([]int64{4_999, 4_999, 4_999}, 14_997)
	if got := strings.Join(rows, " ") + " = " + total; got != "$0.0050 $0.0050 $0.0050 = $0.0150" {
		t.Error(got)
	}
	if _, total = moneyColumn(nil, 12_345_678); total != "$12.35" {
		t.Error(total)
	}
}

func TestDiff(t *testing.T) {
	for _, c := range []struct{ expected, observed, want string }{
		{"same", "same", ""},
		{"and gamma delta.", "and gamma epsilon.", "and gamma [-delta-]{+epsilon+}."},
		{"a\nb", "a\\nb", `a\{+\+}nb`},
		{"half \xed\xa0\xbd", "half \xed\xa0\xbe", `half \ud83[-d-]{+e+}`},
		{"", "new", "{+new+}"},
		{"old", "", "[-old-]"},
	} {
		if got := Diff(c.expected, c.observed); got != c.want {
			t.Errorf("Diff(%q, %q) = %s, want %s", c.expected, c.observed, got, c.want)
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("and gamma delta.", "and gamma epsilon.")
	f.Add(strings.Repeat("ab", 3000), strings.Repeat("ba", 3000))
	f.Fuzz(func(t *testing.T, a, b string) {
		d := Diff(a, b)
		if (d == "") != (a == b) {
			t.Fatalf("Diff(%q, %q) = %q", a, b, d)
		}
		if Escape(d) != d {
			t.Fatalf("not safe: %q", d)
		}
	})
}

func TestSparkline(t *testing.T) {
	for _, c := range []struct {
		values []int64
		breaks []int
		width  int
		want   string
	}{
		{nil, nil, 10, ""},
		{[]int64{0, 1, 2, 3, 4, 5, 6, 7}, nil, 10, "▁▂▃▄▅▆▇█"},
		{[]int64{1, 7, 7, 1}, []int{2}, 10, "▂█│█▂"},
		{[]int64{7, 7}, []int{0, 2}, 10, "│██│"},
		{[]int64{1, 2, 3, 4, 5, 6, 7, 7}, []int{4}, 5, "▃▅│▇█"},
		{[]int64{1 << 62, 0, 5}, nil, 3, "█▁▁"},
	} {
		if got := sparkline(c.values, c.breaks, c.width); got != c.want {
			t.Errorf("sparkline(%v, %v, %d) = %s, want %s", c.values, c.breaks, c.width, got, c.want)
		}
	}
}
