package why

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skilltrace/skilltrace/replay/rules"
	"github.com/skilltrace/skilltrace/skills"
)

// What a client makes of a text depends on its version: the same lines are told of with
// one and pass with another. That of $1 is recorded (lifecycle/subst at 2.0.30, 2.1.76
// and 2.1.332).
func TestOddities(t *testing.T) {
	table, err := rules.For("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ version, text, want string }{
		{"2.1.76", "Count:\n\n```bash\nawk '{print $1, $NF}' f.txt\n```\n", "7 the client takes $ and a number for a word of the arguments: without any it sends “awk '{print , $NF}' f.txt”"},
		{"2.1.332", "awk '{print $1}' f.txt", "4 the client takes $ and a number for a word of the arguments, and replaces it where there are enough of them; write \\$ for a plain $"},
		{"2.1.332", "awk '{print \\$1}' f.txt", ""},
		{"2.1.76", "awk '{print \\$1}' f.txt", "4 the client takes $ and a number for a word of the arguments: without any it sends “awk '{print \\}' f.txt”"},
		{"2.0.30", "awk '{print $1}' f.txt", ""},
		{"2.1.332", "perl -ne 'print $1 if /(x)/' f", "4 the client takes"},
		{"2.1.332", "up() { echo \"$1\"; }", "4 the client takes"},
		{"2.1.332", "git commit -m \"$1\"", ""}, // may be meant
		{"2.1.332", "awk '{print $NF}' f | sed 's/$ARGUMENTS/x/'", ""},
		{"2.1.332", "State:\n!`git status`\n", ""},
		{"2.1.332", "Do not:\n```\n!`git push`\n```\n", "6 it stands in a code block or in quotes, and the client runs it all the same"},
		{"2.1.332", "Do not: `` !`git push` ``", "4 it stands in a code block or in quotes"},
		{"2.1.332", "Run !`git status here.\n\nThen `done`.\n", "4 it is not closed in its line: the client runs all up to the next backtick, in line 6"},
		{"2.1.332", "Run !`git status here.\n", "4 it is not closed: the client runs nothing, and sends it as it stands"},
		{"2.1.332", "Now \"!`git status`\"", "4 the client does not run it: this version wants white space before it"},
		{"2.1.20", "Now \"!`git status`\"", "4 it stands in a code block or in quotes"},
		{"2.1.332", "```!\ngit status\n```", ""},
	} {
		r, err := table.At(tt.version)
		if err != nil {
			t.Fatal(err)
		}
		k := &skills.Skill{Text: "---\ndescription: x\n---\n" + tt.text, Body: tt.text}
		var got []string
		for _, o := range oddities(k, &r, true) {
			got = append(got, fmt.Sprint(o.line, " ", o.what))
		}
		if all := strings.Join(got, "; "); all != tt.want && (tt.want == "" || !strings.HasPrefix(all, tt.want) || len(got) != 1) {
			t.Errorf("%s %q: %q, want %q", tt.version, tt.text, all, tt.want)
		}
	}
}

func FuzzOddities(f *testing.F) {
	for _, text := range []string{"awk '{print $1}' f", "Do not: `` !`git push` ``\n!`a\nb` \"!`c`\" !`", "```!\nls\n```\n```\n!`x`", "\xff!`\x00`$1 sed '$9'"} {
		f.Add(text, "2.1.332")
		f.Add(text, "2.1.20")
	}
	table, err := rules.For("claude-code")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, version string) {
		r, err := table.At(version)
		if err != nil {
			return
		}
		for _, o := range oddities(&skills.Skill{Text: text, Body: text}, &r, true) {
			if o.line < 1 || o.line > 1+strings.Count(text, "\n") || o.text == "" || o.what == "" {
				t.Errorf("%+v", o)
			}
		}
		shellLines(text, 0)
		rare(text)
		ownFile(text, version)
	})
}
