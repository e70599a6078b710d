package frontmatter

import (
	"strings"
	"testing"
)

// parseTests are files and what each dialect makes of them: the description, or
// the fallback text in parentheses.
var parseTests = []struct {
	name, text string
	want       map[string]string // by dialect; "" for those not named
}{
	{"plain", "---\nname: x\ndescription: Pack crates.\n---\n\n# Body\n", map[string]string{"": "Pack crates."}},
	{"quoted colon", "---\ndescription: \"a: b\"\n---\nbody\n", map[string]string{"": "a: b"}},
	{"colon", "---\ndescription: Pack: one\n---\nbody\n", map[string]string{"": "Pack: one"}},
	{"colon at the end", "---\ndescription: Pack:\n---\n# Body head\n", map[string]string{"": "(Body head)", "naive": "Pack:"}},
	{"colon and CRLF", "---\r\ndescription: Pack: one\r\n---\r\nbody\r\n", map[string]string{"": "(body)", "naive": "Pack: one"}},
	{"CRLF", "---\r\ndescription: Pack one\r\n---\r\nbody\r\n", map[string]string{"": "Pack one"}},
	{"folded", "---\ndescription: >-\n  one\n  two\n---\nbody\n", map[string]string{"": "one two", "naive": ">-"}},
	{"indicator", "---\ndescription: |\n  one\n---\nbody\n", map[string]string{"": "one", "naive": "|"}},
	{"hash", "---\ndescription: tags #x\n---\nbody\n", map[string]string{"": "tags", "naive": "tags #x"}},
	{"dashes in a value", "---\ndescription: a --- b\nname: c\n---\nbody\n", map[string]string{"": "a"}},
	{"not closed", "---\ndescription: a\n", map[string]string{"": "(---)"}},
	{"blank line above", "\n---\ndescription: a\n---\nbody\n", map[string]string{"": "(---)"}},
	{"byte order mark", "\uFEFF---\ndescription: a\n---\nbody\n", map[string]string{"": "(---)", "bun-yaml": "a"}},
	{"bad escape", "---\ndescription: \"a \\q\"\n---\nbody\n", map[string]string{"": "(body)", "naive": "a \\q"}},
	{"open list", "---\ndescription: [open list\n---\nbody\n", map[string]string{"": "[open list"}},
	{"star", "---\ndescription: *star* text\n---\nbody\n", map[string]string{"": "*star* text"}},
	{"star in a list", "---\nname: x\nwhen_to_use:\n  - *x\ndescription: a\n---\nbody\n", map[string]string{"": "(body)", "naive": "a"}},
	{"anchor", "---\ndescription: &amp; text\n---\nbody\n", map[string]string{"": "text", "naive": "&amp; text"}},
	{"tag", "---\ndescription: !bang text\n---\nbody\n", map[string]string{"": "text", "naive": "!bang text"}},
	{"dash", "---\ndescription: - dash\n---\nbody\n", map[string]string{"": "(body)", "naive": "- dash"}},
	{"text after quotes", "---\ndescription: \"x\" y\n---\nbody\n", map[string]string{"": "(body)", "naive": "x\" y"}},
	{"question mark", "---\ndescription: ? ask\n---\nbody\n", map[string]string{"": "(body)", "naive": "? ask", "bun-yaml-1.3": "ask"}},
	{"comma", "---\ndescription: , text\n---\nbody\n", map[string]string{"": ", text", "npm-yaml": "(body)"}},
	{"dots", "---\ndescription: wait... what\n---\nbody\n", map[string]string{"": "wait... what", "bun-yaml-1.3": "(body)"}},
	{"number", "---\ndescription: 1.10\n---\nbody\n", map[string]string{"": "1.1", "naive": "1.10"}},
	{"yes", "---\ndescription: yes\n---\nbody\n", map[string]string{"": "yes"}},
	{"list", "---\ndescription: [a, b]\n---\nbody\n", map[string]string{"": "(body)", "naive": "[a, b]"}},
	{"null", "---\ndescription: ~\n---\nbody\n", map[string]string{"": "(body)", "naive": "~"}},
	{"twice", "---\ndescription: a\ndescription: b\n---\nbody\n", map[string]string{"": "b", "npm-yaml": "(body)"}},
	{"pair of escapes", "---\ndescription: \"\\ud83d\\udce6 box\"\n---\nbody\n", map[string]string{"": "📦 box", "naive": "\\ud83d\\udce6 box", "bun-yaml-1.3": "(body)"}},
	{"empty item takes the rest", "---\nwhen_to_use:\n  - a\n  - \ndescription: b\n---\nbody\n", map[string]string{"": "b", "bun-yaml-1.3": "(body)"}},
	{"continued at column 0", "---\ndescription: a\nand more\n---\n# Some Heading\n", map[string]string{"": "(Some Heading)", "naive": "a"}},
}

func TestParse(t *testing.T) {
	for _, c := range parseTests {
		for name, d := range dialects {
			want, ok := c.want[name]
			if !ok {
				want = c.want[""]
			}
			f, body := Parse(c.text, d)
			got, ok := f.Description(d)
			if !ok {
				got = "(" + Fallback(body, "skill") + ")"
			}
			if got != want {
				t.Errorf("%s, %s: %q, want %q (problem: %s)", c.name, name, got, want, f.Problem)
			}
		}
	}
}

func TestBody(t *testing.T) {
	bun, npm := dialects["bun-yaml"], dialects["npm-yaml"]
	for _, c := range []struct {
		text string
		d    Dialect
		want string
	}{
		{"---\na: b\n---\n\n\n  body\n", bun, "body\n"},
		{"---\n---\nbody", bun, "body"},
		{"---\na: \"open\n---\nbody", bun, "body"},
		{"\uFEFF---\na: b\n---\nbody", bun, "body"},
		{"\uFEFF---\na: b\n---\nbody", npm, "\uFEFF---\na: b\n---\nbody"},
		{"\uFEFFbody", bun, "\uFEFFbody"},
		{"--- \t\n a: b\n---- more\n", bun, "- more\n"},
		{"---x\na: b\n---\n", bun, "---x\na: b\n---\n"},
	} {
		if _, body := Parse(c.text, c.d); body != c.want {
			t.Errorf("body of %q is %q, want %q", c.text, body, c.want)
		}
	}
}

func TestLines(t *testing.T) {
	f, _ := Parse("---\n\n# c\nname: x\ndescription: >\n  a\n  b\n\nmodel: y\n---\n", dialects["bun-yaml"])
	var got []int
	for _, x := range f.Fields {
		got = append(got, x.Line)
	}
	if len(got) != 3 || got[0] != 4 || got[1] != 5 || got[2] != 9 {
		t.Errorf("lines %v, want 4, 5, 9", got)
	}
	f, _ = Parse("---\nname: x\n  y: z\n---\n", dialects["bun-yaml"])
	if f.Problem == "" || f.Line != 2 && f.Line != 3 {
		t.Errorf("problem %q on line %d", f.Problem, f.Line)
	}
}

func TestRequote(t *testing.T) {
	for _, c := range []struct {
		rule     Requote
		in, want string
	}{
		{RequoteColon, "a: b: c", `a: "b: c"`},
		{RequoteSpecial, "a: b: c", "a: b: c"},
		{RequoteSpecial, `a: {x} "y" \z`, `a: "{x} \"y\" \\z"`},
		{RequoteColon, `a: "b: c"`, `a: "b: c"`},
		{RequoteColon, `a: 'b: c'`, `a: 'b: c'`},
		{RequoteColon, "a: b: c\r", "a: b: c\r"},
		{RequoteColon, "  a: b: c", "  a: b: c"},
		{RequoteColon, "a1: b: c", "a1: b: c"},
		{RequoteColon, "a: [x, y]\nb: *", "a: \"[x, y]\"\nb: \"*\""},
		{RequoteColon, "a:b: c", "a:b: c"},
		{RequoteNone, "a: *", "a: *"},
		{RequoteNoList, "a: b: c", `a: "b: c"`},
		{RequoteNoList, "a: [x, y]\nb: *", "a: [x, y]\nb: \"*\""},
		{RequoteNoList, "a: [!x/**]", "a: [!x/**]"},
		{RequoteNoList, "a: [x] # [y]", "a: [x] # [y]"},
		{RequoteNoList, "a: [x: y]", "a: [x: y]"},
		{RequoteNoList, "a: [x] # y", `a: "[x] # y"`},
		{RequoteNoList, "a: [x] ", `a: "[x] "`},
		{RequoteNoList, "a: [x] [y]", `a: "[x] [y]"`},
		{RequoteNoList, "a: [*x, y]", `a: "[*x, y]"`},
		{RequoteNoList, "a: [x: y: z]", `a: "[x: y: z]"`},
		{RequoteNoList, "a: {x: y}", `a: "{x: y}"`},
	} {
		got, changed := requote(c.in, Dialect{Parser: BunYAML, Requote: c.rule, DuplicateKeys: DuplicatesLast})
		if got != c.want || changed != (got != c.in) {
			t.Errorf("%s: %q becomes %q, want %q", c.rule, c.in, got, c.want)
		}
	}
}

func TestTyped(t *testing.T) {
	bun, npm := dialects["bun-yaml"], dialects["npm-yaml"]
	old := Dialect{Parser: NpmYAML, Requote: RequoteSpecial, DuplicateKeys: DuplicatesFail}
	join := func(s []string) string { return strings.Join(s, "|") }
	flag := func(key string) func(Front, Dialect) string {
		return func(f Front, d Dialect) string {
			if f.Flag(key, d) {
				return "true"
			}
			return "false"
		}
	}
	text := func(get func(Front) (string, bool)) func(Front, Dialect) string {
		return func(f Front, d Dialect) string {
			s, ok := get(f)
			if !ok {
				return "none"
			}
			return s
		}
	}
	desc := func(f Front, d Dialect) string {
		s, ok := f.Description(d)
		if !ok {
			return "none"
		}
		return s
	}
	when := func(f Front, d Dialect) string {
		s, ok := f.WhenToUse(d)
		if !ok {
			return "none"
		}
		return s
	}
	paths := func(f Front, d Dialect) string { return join(f.Paths(d)) }
	args := func(f Front, d Dialect) string { return join(f.Arguments(d)) }
	list := func(get func(Front) ([]string, bool)) func(Front, Dialect) string {
		return func(f Front, d Dialect) string {
			s, ok := get(f)
			if !ok {
				return "none"
			}
			return join(s)
		}
	}
	dmi, ui := flag("disable-model-invocation"), flag("user-invocable")
	for _, c := range []struct {
		front string
		d     Dialect
		get   func(Front, Dialect) string
		want  string
	}{
		{"description: '  a  '", bun, desc, "a"},
		{"description: '  a  '", old, desc, "  a  "},
		{"description: [a, ~, [b, c]]", old, desc, "a,,b,c"},
		{"description: {a: b}", old, desc, "[object Object]"},
		{"description: ''", bun, desc, "none"},
		{"description: ''", old, desc, ""},
		{"description: true", bun, desc, "true"},
		{"name: x", bun, desc, "none"},
		{"when_to_use: [a, ~, [b, {c: d}], 1.0]", bun, when, "a,,b,[object Object],1"},
		{"when_to_use: ' a '", bun, when, " a "},
		{"when_to_use: []", bun, when, "none"},
		{"when_to_use: []", Dialect{Parser: NpmYAML, EmptyWhen: true}, when, ""},
		{"when_to_use: ''", Dialect{Parser: NpmYAML, EmptyWhen: true}, when, "none"},
		{"when-to-use: a", bun, when, "none"},
		{"arguments: [a b, ' c ', '', '4', [d]]", bun, args, "a b|c"},
		{"arguments: first second 3", bun, args, "first|second"},
		{"arguments: a, b", bun, args, "a,|b"},
		{"arguments: '[a, b]'", bun, args, "a|b"},
		{"arguments: 7", bun, args, ""},
		{"arguments: [1.5]", bun, args, ""},
		{"arguments: {a: b}", bun, args, ""},
		{"disable-model-invocation: true", npm, dmi, "true"},
		{"disable-model-invocation: 'TRUE'", npm, dmi, "true"},
		{"disable-model-invocation: yes", npm, dmi, "false"},
		{"disable-model-invocation: Yes", bun, dmi, "true"},
		{"disable-model-invocation: \"on\"", bun, dmi, "true"},
		{"disable-model-invocation: 1", bun, dmi, "true"},
		{"disable-model-invocation: y", bun, dmi, "false"},
		{"disable-model-invocation: [true]", bun, dmi, "false"},
		{"disable-model-invocation:", bun, dmi, "false"},
		{"name: x", bun, dmi, "false"},
		{"name: x", bun, ui, "true"},
		{"user-invocable: false", bun, ui, "false"},
		{"user-invocable: no", bun, ui, "false"},
		{"user-invocable: true", bun, ui, "true"},
		{"paths: lib/*.go, cmd/**", bun, paths, "lib/*.go|cmd"},
		{"paths: \"web/*.{css,scss}\"", bun, paths, "web/*.css|web/*.scss"},
		{"paths: [a/**, b]", bun, paths, "a|b"},
		{"paths: [a/**, b]", old, paths, ""},
		{"paths: **", bun, paths, ""}, // an alias, so it is quoted and read again
		{"paths: ['**', '**']", bun, paths, ""},
		{"paths: ['**', 'a']", bun, paths, "**|a"},
		{"paths: [!src/**]", bun, paths, ""},
		{"paths: 'x{a,b}{c,d}y'", bun, paths, "xacy|xady|xbcy|xbdy"},
		{"paths: ''", bun, paths, ""},
		{"arguments: who what 2", bun, args, "who|what"},
		{"arguments: [who, 7, my-arg]", bun, args, "who|my-arg"},
		{"arguments: [who, '7', ' x ']", bun, args, "who|x"},
		{"arguments:\n  - a\n  - b", bun, args, "a|b"},
		{"arguments: [a, b]\ndescription: x: y", bun, args, "a|b"},
		{"arguments: true", bun, args, ""},
		{"tools: Read, Bash(git add:*, x), Grep", bun, list(Front.Tools), "Read|Bash(git add:*, x)|Grep"},
		{"tools: [Read, Grep]", bun, list(Front.Tools), "Read|Grep"},
		{"tools:", bun, list(Front.Tools), ""},
		{"name: x", bun, list(Front.Tools), "none"},
		{"allowed-tools: Bash(echo:*), Read", bun, list(Front.AllowedTools), "Bash(echo:*)|Read"},
		{"skills: house-style, door-style", bun, list(Front.Skills), "house-style|door-style"},
		{"name: 1.0", bun, text(Front.Name), "1"},
		{"name: [a]", bun, text(Front.Name), "none"},
		{"context: fork", bun, text(Front.Context), "fork"},
		{"agent: x\nmodel: haiku", bun, text(Front.Agent), "x"},
		{"agent: x\nmodel: haiku", bun, text(Front.Model), "haiku"},
		{"effort: low\nshell: bash", bun, text(Front.Effort), "low"},
		{"effort: low\nshell: bash", bun, text(Front.Shell), "bash"},
		{"name: a\nname: b", bun, text(Front.Name), "b"},
	} {
		f, _ := Parse("---\n"+c.front+"\n---\nbody\n", c.d)
		if got := c.get(f, c.d); got != c.want {
			t.Errorf("%q: %q, want %q (problem: %s)", c.front, got, c.want, f.Problem)
		}
	}
}

func TestFallback(t *testing.T) {
	exact := strings.Repeat("é", 100)
	for _, c := range []struct{ body, kind, want string }{
		{"\n \n  First line  \nsecond", "skill", "First line"},
		{"## Head\n", "skill", "Head"},
		{"#tag\n", "skill", "#tag"},
		{"#\n", "skill", "#"},
		{"", "skill", "Skill"},
		{" \n\t\n", "command", "Custom command"},
		{exact, "skill", exact},
		{exact + "é", "skill", strings.Repeat("é", 97) + "..."},
		{strings.Repeat("a", 96) + "📦📦📦", "skill", strings.Repeat("a", 96) + "\xED\xA0\xBD..."},
		{"\uFEFF---\n", "skill", "---"},
	} {
		if got := Fallback(c.body, c.kind); got != c.want {
			t.Errorf("fallback of %q is %q, want %q", c.body, got, c.want)
		}
	}
}

func TestLint(t *testing.T) {
	for _, c := range []struct {
		text, dialect string
		want          string // line:kind, …
	}{
		{"---\nname: x\ndescription: fine\n---\nbody\n", "bun-yaml", ""},
		{"---\nname: x\ndescription: Fix things when\nthey break\ndisable-model-invocation: true\n---\n# Some Heading\n", "bun-yaml", "4:continued 5:not-in-force"},
		{"---\ndescription: a: b\n---\n", "bun-yaml", "2:requoted"},
		{"---\ndescription: tags #x\n---\n", "bun-yaml", "2:comment"},
		{"---\ndescription: #x\n---\n", "bun-yaml", "2:comment"},
		{"\uFEFF---\ndescription: a\n---\n", "npm-yaml", "1:bom"},
		{"\uFEFF---\ndescription: a\n---\n", "bun-yaml", "1:bom"},
		{"---\r\ndescription: a\r\n---\r\n", "bun-yaml", ""},
		{"---\r\nname: x\r\ndescription: a: b\r\n---\r\n", "bun-yaml", "3:crlf"},
		{"# a comment\n---\ndescription: a\n---\n", "bun-yaml", "2:leading"},
		{"\n---\ndescription: a\n---\n", "bun-yaml", "2:leading"},
		{"# Title\n\ntext\n\n---\n\nmore\n", "bun-yaml", ""},
		{"---\ndescription: a\n", "bun-yaml", "1:unclosed"},
		{"---\ndescription: a --- b\n---\n", "bun-yaml", "2:cut"},
		{"---\ndescription: |\n  one\n---\n", "naive", "2:indicator"},
		{"---\ndescription: &amp; text\n---\n", "bun-yaml", "2:dropped"},
		{"---\ndescription: \"x\" y\n---\n", "bun-yaml", "2:invalid"},
		{"---\ndescription: [a, b]\n---\n", "bun-yaml", "2:ignored"},
		{"---\ndisable-model-invocation: yes\n---\n", "npm-yaml", "2:flag"},
		{"---\ndisable-model-invocation: yes\n---\n", "bun-yaml", ""},
		{"---\ndisable-model-invocation: y\nwhen-to-use: b\n---\n", "bun-yaml", "2:flag 3:unknown-key"},
		{"---\nname: a\nname: b\n---\n", "bun-yaml", "3:duplicate"},
		{"---\nname: a\nname: b\n---\n", "npm-yaml", "3:invalid"},
	} {
		var got []string
		for _, x := range Lint(c.text, dialects[c.dialect]) {
			got = append(got, string(rune('0'+x.Line))+":"+x.Kind)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q, %s: %s, want %s", c.text, c.dialect, s, c.want)
		}
	}
}
