package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
		err  string
	}{
		{"ask", []string{"ask"}, ""},
		{"  ask  --model x\t'a b' \"c \\\" d\" e\\ f ''", []string{"ask", "--model", "x", "a b", `c " d`, "e f", ""}, ""},
		{`"./my dir/ask" --re='^\d$' "\n"`, []string{"./my dir/ask", `--re=^\d$`, `\n`}, ""},
		{"~/ask *.md {a,b} # note", []string{"~/ask", "*.md", "{a,b}"}, ""},
		{"ask \\\n more", []string{"ask", "more"}, ""},
		{"ask '$HOME'", []string{"ask", "$HOME"}, ""},
		{"ask $HOME", nil, "expand"},
		{"ask \"$(rm x)\"", nil, "expand"},
		{"ask `rm x`", nil, "expand"},
		{"ask | tee", nil, "one program"},
		{"ask && rm", nil, "one program"},
		{"ask; rm", nil, "one program"},
		{"ask\nrm", nil, "one program"},
		{"ask &", nil, "one program"},
		{"ask > file", nil, "one program"},
		{"KEY=1 ask", nil, "one program"},
		{"! ask", nil, "one program"},
		{"if true; then ask; fi", nil, "one program"},
		{"ask 'open", nil, "no shell words"},
		{"", nil, "empty"},
		{" # nothing", nil, "empty"},
		{"'' x", nil, "no name"},
	} {
		got, err := Words(c.line)
		if !slices.Equal(got, c.want) || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %q, %v", c.line, got, err)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"ask 'a b' \"c\" d\\ e", "a $x", "a;b", "'", "a <<x\nx\n", "a\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Words(line)
		if err == nil && (len(words) == 0 || words[0] == "") {
			t.Errorf("%q", words)
		}
	})
}
