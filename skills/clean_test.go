package skills

import (
	"strings"
	"testing"
)

// The emoji cases are those of the recordings' probes; all were also compared
// with \p{RGI_Emoji} of node on 100,000 random sequences.
func TestClean(t *testing.T) {
	const england = "🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F"
	for in, want := range map[string]string{
		"plain & text":               "plain & text",
		"a\nb\r\n\tc":                "a b c",
		"a\u200b\u200d\ufe0fb":       "a b",
		"\u0085\u2028\u2029\u00ad x": "  x",
		"a\u00a0b\u3000c  d":         "a\u00a0b\u3000c  d",
		"<a & b>":                    "&lt;a & b&gt;",
		"\x1b[31mred\x1b[0m":         "red",
		"\x1bMx\x1b[;yz\x1b":         "xz ", // whole sequences, and a lone ESC
		"\x1b[é\x1b":                 " [é ",
		"👨\u200d👩\u200d👧 👩\u200d💻 🏴\u200d☠\ufe0f ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈": "👨\u200d👩\u200d👧 👩\u200d💻 🏴\u200d☠\ufe0f ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈",
		"👨\u200d👩":                      "👨 👩",
		"📦\u200d🚚":                      "📦 🚚",
		"🏳\u200d🌈":                      "🏳 🌈",
		"👩\u200d❤\u200d👨":               "👩 ❤ 👨",
		"1\ufe0f\u20e3 1\ufe0f a\ufe0f": "1\ufe0f\u20e3 1  a ",
		"☎\ufe0e ☎\ufe0f":               "☎  ☎\ufe0f",
		"👩🏻\u200d🤝\u200d👩🏽":             "👩🏻\u200d🤝\u200d👩🏽",
		"👩🏻\u200d🤝\u200d👩🏻":             "👩🏻 🤝 👩🏻",
		england:                         england,
		"🏴\U000E0067\U000E007F":         "🏴 ",
		"half \xED\xA0\xBD pair\n":      "half \xED\xA0\xBD pair ",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%+q:\n got %+q\nwant %+q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\nb", "👨\u200d👩\u200d👧", "\x1b[31m<", "1\ufe0f\u20e3", "\xED\xA0\xBD"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := Clean(s); strings.ContainsAny(got, "<>\x1b\n") {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	s := strings.Repeat("Prüft die 倉庫 und 📦 packt 👩\u200d💻 sie.\n", 30)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		Clean(s)
	}
}
