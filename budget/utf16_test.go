package budget

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestCut16(t *testing.T) {
	const high = "\xed\xa0\xbd"
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 0, ""},
		{"abc", -1, ""},
		{"abc", 2, "ab"},
		{"abc", 3, "abc"},
		{"éä", 1, "é"},
		{"倉庫", 1, "倉"},
		{"😀", 1, high},
		{"😀", 2, "😀"},
		{"a😀b", 2, "a" + high},
		{"a😀b", 3, "a😀"},
		{high + "b", 1, high},
		{"\U0010FFFF", 1, "\xed\xaf\xbf"},
		{"\U00010000", 1, "\xed\xa0\x80"},
		{"a\xf0\x9f", 2, "a\xf0"}, // a cut-off sequence: a unit for each byte
		{"a\xf0\x9f", 3, "a\xf0\x9f"},
		{"\x80\x80b", 2, "\x80\x80"},
		{"\xc3", 1, "\xc3"},
	} {
		if got := Cut16(c.s, c.n); got != c.want {
			t.Errorf("Cut16(%+q, %d) = %+q, want %+q", c.s, c.n, got, c.want)
		}
	}
}

func TestReplaceLone(t *testing.T) {
	for _, c := range []struct{ s, want string }{
		{"", ""},
		{"plain é 倉 😀 힣", "plain é 倉 😀 힣"}, // U+D7A3 begins with ED too
		{"a\xed\xa0\xbdb", "a\uFFFDb"},
		{"\xed\xbf\xbf\xed\xa0\x80", "\uFFFD\uFFFD"},
		{"cut \xed\xa0", "cut \xed\xa0"},
		{"\xed\xa0x", "\xed\xa0x"},
	} {
		if got := ReplaceLone(c.s); got != c.want {
			t.Errorf("ReplaceLone(%+q) = %+q, want %+q", c.s, got, c.want)
		}
		if HasLone(c.s) != (c.s != c.want) {
			t.Errorf("HasLone(%+q) = %t", c.s, HasLone(c.s))
		}
	}
}

// FuzzCut16 compares with the same cut on code units.
func FuzzCut16(f *testing.F) {
	for _, s := range []string{"abc", "a😀b", "\xed\xa0\xbd…", "\xff\xc3", "힣\xed"} {
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		u := codeUnits(s)
		if Len16(s) != len(u) {
			t.Fatalf("Len16(%+q) = %d, want %d", s, Len16(s), len(u))
		}
		cut := Cut16(s, n)
		if want := max(min(n, len(u)), 0); Len16(cut) != want {
			t.Fatalf("Cut16(%+q, %d) has %d units, want %d", s, n, Len16(cut), want)
		}
		if got, want := wtf8(codeUnits(cut)), wtf8(u[:Len16(cut)]); got != want {
			t.Fatalf("Cut16(%+q, %d) = %+q, want %+q", s, n, got, want)
		}
		if r := ReplaceLone(s); HasLone(r) || Len16(r) != len(u) {
			t.Fatalf("ReplaceLone(%+q) = %+q", s, r)
		}
		if utf8.ValidString(s) && ReplaceLone(s) != s {
			t.Fatalf("ReplaceLone changed %+q", s)
		}
	})
}

// codeUnits are the UTF-16 code units of s.
func codeUnits(s string) []uint16 {
	var out []uint16
	for len(s) > 0 {
		switch r, size := utf8.DecodeRuneInString(s); {
		case r == utf8.RuneError && size == 1 && strings.HasPrefix(s, "\xed") && len(s) > 2 && s[1] >= 0xA0 && s[1] < 0xC0 && s[2]>>6 == 2:
			out = append(out, 0xD000|uint16(s[1]&0x3F)<<6|uint16(s[2]&0x3F))
			s = s[3:]
		default:
			out = utf16.AppendRune(out, r)
			s = s[size:]
		}
	}
	return out
}
