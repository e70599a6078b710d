package body

import (
	"fmt"
	"strings"
	"testing"
)

// Commands tells where the commands stand that Render makes holes of.
func TestCommands(t *testing.T) {
	for _, tt := range []struct {
		text  string
		after bool
		want  string
	}{
		{"a !`pwd` b", true, "[!`pwd`]"},
		{"a \"!`pwd`\" b", true, "[]"},
		{"a \"!`pwd`\" b", false, "[!`pwd`]"},
		{"a !`pwd\nb `c` d", true, "[!`pwd\nb `]"},
		{"```!\nls\n```\n!`pwd` !`", true, "[```!\nls\n``` !`pwd`]"},
		{"!`pwd", true, "[]"},
	} {
		var got []string
		for _, c := range Commands(tt.text, Options{ShellAfterBlank: tt.after}) {
			if got = append(got, tt.text[c.Start:c.End]); c.Fence != strings.HasPrefix(got[len(got)-1], "```") {
				t.Errorf("%q: fence %v", tt.text, c.Fence)
			}
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
		if holes := Render(Source{Text: tt.text}, Call{}, Vars{}, Options{ShellAfterBlank: tt.after}).Holes(); holes != len(got) {
			t.Errorf("%q: %d holes", tt.text, holes)
		}
	}
}

// Replace is what Render makes of the arguments, with nothing appended.
func TestReplace(t *testing.T) {
	opt := Options{ToolArgs: true, EmptyArgs: true, Positional: true, MissingKept: true, Escape: true, OnePass: true}
	for _, tt := range []struct{ text, args, want string }{
		{"awk '{print $1}'", "", "awk '{print $1}'"},
		{"awk '{print $1}'", "a b", "awk '{print b}'"},
		{`awk '{print \$1}'`, "a b", "awk '{print $1}'"},
		{"no placeholder", "a b", "no placeholder"},
	} {
		if got := Replace(tt.text, nil, Call{Args: tt.args}, opt); got != tt.want {
			t.Errorf("%q with %q: %q, want %q", tt.text, tt.args, got, tt.want)
		}
	}
	opt.MissingKept = false
	if got := Replace("$1.", nil, Call{}, opt); got != "." {
		t.Errorf("a missing word: %q", got)
	}
	opt.EmptyArgs = false
	if got := Replace("$1.", nil, Call{}, opt); got != "$1." {
		t.Errorf("no arguments: %q", got)
	}
	opt.ToolArgs = false
	if got := Replace("$0.", nil, Call{Args: "a"}, opt); got != "$0." {
		t.Errorf("arguments of a call of the model: %q", got)
	}
	if got := Replace("$0.", nil, Call{Args: "a", Typed: true}, opt); got != "a." {
		t.Errorf("typed arguments: %q", got)
	}
}
