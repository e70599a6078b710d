package glob

import (
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		patterns string // separated by blanks
		file     string
		want     bool
	}{
		{"src/**", "src/a.ts", true},
		{"src/**", "src/a/b.ts", true},
		{"src/**", "src", false},
		{"src/**", "apps/src/a.ts", false},
		{"src", "src/a.ts", true},
		{"src", "apps/src/a.ts", true},
		{"src", "apps/srcs/a.ts", false},
		{"SRC/**", "src/a.ts", true},
		{"src/**", "Src/A.ts", true},
		{"docs/*.md", "docs/x.md", true},
		{"docs/*.md", "docs/a/x.md", false},
		{"docs/*.md", "a/docs/x.md", false},
		{"*.txt", "readme.txt", true},
		{"*.txt", "pkg/one/p.txt", true},
		{"*.txt", "pkg/one/p.txt.bak", false},
		{"**/*.ts", "b.ts", true},
		{"**/*.ts", "src/a/b.ts", true},
		{"/src/**", "src/a", true},
		{"/src", "apps/src/a", false},
		{"/home/dev/shop/src/**", "src/a", false},
		{"pkg/", "pkg/one/p.txt", true},
		{"pkg/", "a/pkg/p", true},
		{"pkg/", "pkg", false},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a/**/b", "a/x/y/c", false},
		{"a/**/b/**/c", "a/b/b/x/c", true},
		{"a**b", "axxb", true},
		{"a**b", "ax/xb", false},
		{"***/foo", "x/foo", true},
		{"**", "a/b", true},
		{"*", "a", true},
		{"a?c", "abc", true},
		{"a?c", "a/c", false},
		{"a?c", "a😀c", false}, // a pair is two units
		{"a??c", "a😀c", true},
		{"[a-c].go", "b.go", true},
		{"[a-c].go", "B.go", true},
		{"[A-C].go", "b.go", true},
		{"[!a-c].go", "b.go", false},
		{"[^a-c].go", "d.go", true},
		{"[]x].go", "].go", true},
		{"[[:digit:]].go", "7.go", true},
		{"[[:nope:]].go", "7.go", false},
		{"[c-a].go", "c.go", true},
		{"[c-a].go", "b.go", false},
		{"[ab.go", "a.go", false},
		{`\*.go`, "*.go", true},
		{`\*.go`, "a.go", false},
		{`\!a`, "!a", true},
		{`\#a`, "#a", true},
		{"#a", "#a", false},
		{`a\`, "a", false},
		{"!src/**", "src/a", false},
		{"*.ts !b.ts", "b.ts", false},
		{"*.ts !b.ts", "a.ts", true},
		{"src !src/b.ts", "src/b.ts", true}, // below a matched folder
		{"!b.ts *.ts", "b.ts", true},
		{"a{b,c}", "a{b,c}", true},
		{"a{b,c}", "ab", false},
		{"ÉCLAIR", "éclair", true},
		{"straße", "STRASSE", false},
		{"src/**", "../src/a", false},
		{"src/**", "/src/a", false},
		{"src/**", "", false},
		{"src/**", "./src/a", false},
	} {
		if got := Compile(strings.Fields(c.patterns)).Match(c.file); got != c.want {
			t.Errorf("%s matches %s: %v, want %v", c.patterns, c.file, got, c.want)
		}
	}
}

func TestTrailingBlanks(t *testing.T) {
	if !Compile([]string{"a  "}).Match("a") || !Compile([]string{`a\ `}).Match("a ") || Compile([]string{`a\ `}).Match("a") {
		t.Error("blanks at the end count only after a backslash")
	}
}

// Hostile patterns cost time in proportion to their length, so this test ends.
func TestHostile(t *testing.T) {
	path := strings.TrimSuffix(strings.Repeat("a/", 2000), "/")
	name := strings.Repeat("a", 4000)
	m := Compile([]string{strings.Repeat("**/a/", 200) + "b", strings.Repeat("*a", 400) + "b"})
	start := time.Now()
	m.Match(path)
	m.Match(name)
	t.Log(time.Since(start))
}

func FuzzMatch(f *testing.F) {
	for _, s := range []string{"src/**,!b", "*.a", "[[:alpha:]-z]", `\`, "a/**/b", "!x", "[!]]"} {
		f.Add(s, "src/a.ts")
	}
	f.Fuzz(func(t *testing.T, pattern, file string) {
		m := Compile(strings.Split(pattern, ","))
		once := m.Match(file)
		if m.Match(file) != once {
			t.Fatal("two answers")
		}
		if once && (file == "" || file[0] == '/' || strings.HasPrefix(file, "../")) {
			t.Fatal("matched a file outside")
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	m := Compile([]string{"src/**/*.ts", "web/*.css", "docs"})
	b.ReportAllocs()
	for b.Loop() {
		m.Match("apps/web/src/components/button/index.ts")
	}
}
