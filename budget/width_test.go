package budget

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/rivo/uniseg"
)

// TestBunWidth compares with what Bun itself said. $BUNWIDTH names a further file.
func TestBunWidth(t *testing.T) {
	files := []string{"testdata/bunwidth.txt"}
	if more := os.Getenv("BUNWIDTH"); more != "" {
		files = append(files, more)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		bad, n := 0, 0
		for sc := bufio.NewScanner(f); sc.Scan(); {
			line := sc.Text()
			if strings.HasPrefix(line, "#") {
				continue
			}
			n++
			want, hex, _ := strings.Cut(line, " ")
			s := fromUnits(t, hex)
			if got := strconv.Itoa(Width(UnitBun, s)); got != want {
				if bad++; bad <= 10 {
					t.Errorf("%s: Width(bun, %+q) = %s, want %s", name, s, got, want)
				}
			}
			if Len16(s) != len(hex)/4 {
				t.Errorf("Len16(%+q) = %d, want %d", s, Len16(s), len(hex)/4)
			}
		}
		if bad > 0 || n == 0 {
			t.Errorf("%s: %d of %d differ", name, bad, n)
		}
	}
}

// fromUnits is the WTF-8 text of UTF-16 code units in hex.
func fromUnits(t *testing.T, hex string) string {
	t.Helper()
	var u []uint16
	for i := 0; i+4 <= len(hex); i += 4 {
		x, err := strconv.ParseUint(hex[i:i+4], 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		u = append(u, uint16(x))
	}
	return wtf8(u)
}

// wtf8 encodes code units one by one, the way a reader of logs does.
func wtf8(u []uint16) string {
	var b strings.Builder
	for i := 0; i < len(u); i++ {
		r := rune(u[i])
		switch {
		case i+1 < len(u) && utf16.IsSurrogate(r) && utf16.DecodeRune(r, rune(u[i+1])) != 0xFFFD:
			b.WriteRune(utf16.DecodeRune(r, rune(u[i+1])))
			i++
		case utf16.IsSurrogate(r):
			b.Write([]byte{0xED, 0x80 | byte(r>>6)&0x3F, 0x80 | byte(r)&0x3F})
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func TestWidth(t *testing.T) {
	for _, c := range []struct {
		s                    string
		units, grapheme, bun int
	}{
		{"", 0, 0, 0},
		{"plain text", 10, 10, 10},
		{"a\tb\nc", 5, 3, 3},
		{"倉庫", 2, 4, 4},
		{"e\u0301", 2, 1, 1},
		{"📦", 2, 2, 2},
		{"👨‍👩‍👧", 8, 2, 2},
		{"🏳️‍🌈", 6, 2, 2},
		{"🇩🇪", 4, 2, 2},
		{"🇩", 2, 2, 1},
		{"1️⃣", 3, 2, 2},
		{"👍🏽", 4, 2, 2},
		{"\u200e", 1, 1, 0},
		{"\u200f", 1, 1, 0},
		{"a\u200db", 3, 2, 2},
		{"\u00ad", 1, 0, 0},
		{"❤", 1, 1, 1},
		{"❤️", 2, 2, 2},
		{"§±°", 3, 3, 3},
		{"מחסן", 4, 4, 4},
		{"ｱＡ", 2, 3, 3},
		{"가", 1, 2, 2},
		{"\xed\xa0\xbd", 1, 0, 0},
		{"x\xed\xa0\xbd…", 3, 2, 2},
		{"a\xffb", 3, 3, 3},
		{"\x1b[31mred\x1b[0m", 12, 10, 3},
	} {
		for _, u := range []struct {
			unit Unit
			want int
		}{{UnitUTF16, c.units}, {UnitGrapheme, c.grapheme}, {UnitBun, c.bun}} {
			if got := Width(u.unit, c.s); got != u.want {
				t.Errorf("Width(%s, %+q) = %d, want %d", u.unit, c.s, got, u.want)
			}
		}
	}
}

func TestCutWidth(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		s    string
		n    int
		want string
	}{
		{UnitUTF16, "abc", 2, "ab"},
		{UnitUTF16, "a📦b", 2, "a\xed\xa0\xbd"},
		{UnitUTF16, "a📦b", 3, "a📦"},
		{UnitUTF16, "abc", -1, ""},
		{UnitGrapheme, "倉庫管理", 3, "倉"},
		{UnitGrapheme, "倉庫管理", 4, "倉庫"},
		{UnitGrapheme, "e\u0301a\u0300", 1, "e\u0301"},
		{UnitGrapheme, "x👨‍👩‍👧y", 2, "x"},
		{UnitGrapheme, "x👨‍👩‍👧y", 3, "x👨‍👩‍👧"},
		{UnitGrapheme, "abc", 0, ""},
		{UnitGrapheme, "abc", -5, ""},
		{UnitBun, "x🇩🇪y", 2, "x"},
		{UnitBun, "x🇩🇪y", 9, "x🇩🇪y"},
		{"", "a📦b", 2, "a\xed\xa0\xbd"},
	} {
		if got := CutWidth(c.unit, c.s, c.n); got != c.want {
			t.Errorf("CutWidth(%s, %q, %d) = %+q, want %+q", c.unit, c.s, c.n, got, c.want)
		}
	}
}

// TestClusters compares the borders with another implementation, on text without
// Indic conjuncts, which that one does not know.
func TestClusters(t *testing.T) {
	parts := []string{"a", "é", "e\u0301", "倉", "👨", "👩", "\u200d", "\uFE0F", "❤", "🏽", "👍", "🇩", "🇪", "1", "\u20e3", "\u1100", "\u1161", "\u11a8", "가", "각", "\u0903", "\u0600", " ", "\n"}
	r := &dice{1}
	for range 20000 {
		var b strings.Builder
		for range 6 {
			b.WriteString(parts[r.n(len(parts))])
		}
		s := b.String()
		var want, got []string
		for rest, st := s, -1; rest != ""; {
			var c string
			c, rest, _, st = uniseg.FirstGraphemeClusterInString(rest, st)
			want = append(want, c)
		}
		for rest := s; rest != ""; {
			n := nextCluster(rest)
			got, rest = append(got, rest[:n]), rest[n:]
		}
		if fmt.Sprintf("%+q", got) != fmt.Sprintf("%+q", want) {
			t.Fatalf("clusters of %+q: %+q, want %+q", s, got, want)
		}
	}
}

func FuzzCutWidth(f *testing.F) {
	for _, s := range []string{"abc", "a📦b", "👨‍👩‍👧", "\xed\xa0\xbd…", "\xff\xfe", "e\u0301", "\x1b[3", "🇩🇪🇫"} {
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		for _, u := range []Unit{UnitUTF16, UnitGrapheme, UnitBun} {
			cut := CutWidth(u, s, n)
			if u != UnitUTF16 && !strings.HasPrefix(s, cut) {
				t.Fatalf("%s: %q is no prefix of %q", u, cut, s)
			}
			if u != UnitBun && Width(u, cut) > max(n, 0) {
				t.Fatalf("%s: %q is wider than %d", u, cut, n)
			}
			if again := CutWidth(u, cut, n); again != cut {
				t.Fatalf("%s: cut again: %q, before %q", u, again, cut)
			}
			if Width(u, s) < 0 || len(s) < Width(u, s)/2 {
				t.Fatalf("%s: width %d of %d bytes", u, Width(u, s), len(s))
			}
		}
	})
}

func BenchmarkWidth(b *testing.B) {
	for _, c := range []struct{ name, s string }{
		{"ascii", strings.Repeat("Checks the deposit ledger and writes a report. ", 40)},
		{"cjk", strings.Repeat("倉庫管理在庫確認出荷手順点検", 40)},
		{"emoji", strings.Repeat("📦 a 👨‍👩‍👧 ", 40)},
	} {
		for _, u := range []Unit{UnitUTF16, UnitGrapheme, UnitBun} {
			b.Run(c.name+"/"+string(u), func(b *testing.B) {
				b.SetBytes(int64(len(c.s)))
				b.ReportAllocs()
				for b.Loop() {
					Width(u, c.s)
				}
			})
		}
	}
}
