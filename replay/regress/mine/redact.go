package mine

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/lexical"
	"github.com/skilltrace/skilltrace/skills"
)

// Redactor replaces what a shared fixture should not hold: secrets by the forms that
// they usually have, e-mail addresses, names of users and hosts, and the folders that a
// session worked in. What was equal stays equal. It knows forms, not meanings: a secret
// that looks like a word stays, so that what it leaves has to be read before it is
// published.
//
// It is for one session, and used by one goroutine.
type Redactor struct {
	folders []folder          // the working folders, the longest first
	users   map[string]string // names, in lower case, to what stands for them
	word    *regexp.Regexp    // any of these names; nil if there is none
	tokens  map[string]string // by class and original: what stands for it
	counts  map[string]int    // originals, by class
	issued  map[string]bool   // what stands for something
	fixed   bool              // replacements have the length of what they replace
}

// folder is a working folder and what stands for it.
type folder struct{ path, to string }

// NewRedactor makes a Redactor for a session, whose paths tell the names of its users.
func NewRedactor(s *replay.Session) *Redactor {
	x := &Redactor{users: map[string]string{}, tokens: map[string]string{}, counts: map[string]int{}, issued: map[string]bool{}}
	x.works(s.CWD)
	if main := s.Main(); main != nil {
		for i := range main.Events {
			switch e := &main.Events[i]; e.Kind {
			case replay.Entered:
				x.works(e.Path)
			case replay.Prompt, replay.Slash, replay.Body, replay.Listing:
				x.names(e.Text)
			}
		}
	}
	slices.SortStableFunc(x.folders, func(a, b folder) int { return len(b.path) - len(a.path) })
	var words []string
	for name := range x.users {
		// A short name, or one that is a common word, is looked for in paths only.
		if len(name) >= 3 && !lexical.Common(name) {
			words = append(words, regexp.QuoteMeta(name))
		}
	}
	if len(words) > 0 {
		slices.SortFunc(words, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
		x.word = regexp.MustCompile(`(?i)(?:` + strings.Join(words, "|") + `)`)
	}
	return x
}

// works notes a working folder. A home folder is none, and of one below another the
// other is enough.
func (x *Redactor) works(path string) {
	x.names(path)
	path = strings.TrimRight(path, `/\`)
	if !absolute.MatchString(path) || home.FindString(path) == path {
		return
	}
	for _, f := range x.folders {
		if path == f.path || strings.HasPrefix(path, f.path+"/") || strings.HasPrefix(path, f.path+`\`) {
			return
		}
	}
	to := "/project"
	if n := len(x.folders); n > 0 {
		to = fmt.Sprintf("/project%d", n+1)
	}
	x.folders = append(x.folders, folder{path, to})
}

// absolute is a path of two folders or more: one, such as /workspace, tells of nobody.
var absolute = regexp.MustCompile(`^(?:[A-Za-z]:|/|\\)?[/\\]*[^/\\]+[/\\]+[^/\\]`)

// home is the home folder of a user, on any system.
var home = regexp.MustCompile(`((?i:/home|/users|/documents and settings|\\users|\\\\users)(?:/|\\\\|\\))([^/\\\s"'` + "`" + `:;,<>|*?()\[\]{}]+)`)

// anyone are names of users that tell of nobody.
var anyone = map[string]bool{"user": true, "dev": true, "root": true, "ubuntu": true, "runner": true, "node": true, "admin": true, "vscode": true,
	"codespace": true, "ec2-user": true, "app": true, "home": true, "me": true, "shared": true, "public": true, "default": true, "docker": true, "git": true,
	"agent": true, "you": true, "username": true, "name": true, "...": true, "…": true, "$user": true, "%username%": true}

// mostUsers is how many names are looked for outside of paths: a hostile log could hold
// any number.
const mostUsers = 64

// names notes the users whose home folders a text names.
func (x *Redactor) names(text string) {
	for _, m := range home.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(strings.TrimRight(m[2], "."))
		if anyone[name] || x.users[name] != "" || name == "" || !utf8.ValidString(name) || len(x.users) == mostUsers {
			continue
		}
		token := "user"
		if n := len(x.users); n > 0 {
			token = fmt.Sprintf("user%d", n+1)
		}
		x.users[name] = fit(token, budget.Len16(name))
	}
}

// rule replaces what a pattern finds; part is the group that is replaced, 0 for all.
type rule struct {
	class   string
	pattern *regexp.Regexp
	part    int
	wanted  func(string) bool // nil: any
}

const secret = "secret"

var first = []rule{
	{secret, regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`), 0, nil},
	{secret, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`), 0, nil},
	{secret, regexp.MustCompile(`\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}`), 0, hasDigit},
	{secret, regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|gl[a-z]{2,6}-[A-Za-z0-9_-]{16,}|xox[a-z]-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}|npm_[A-Za-z0-9]{16,}|hf_[A-Za-z0-9]{16,}|pypi-[A-Za-z0-9_-]{16,}|dckr_pat_[A-Za-z0-9_-]{12,}|dop_v1_[a-f0-9]{16,}|shp[a-z]{2}_[A-Fa-f0-9]{16,}|whsec_[A-Za-z0-9+/=]{16,}|AIza[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}|AGE-SECRET-KEY-[A-Z0-9]{16,}|lin_api_[A-Za-z0-9]{16,}|ATATT[A-Za-z0-9_=-]{16,})`), 0, nil},
	{secret, regexp.MustCompile(`\b(?:AKIA|ASIA|AIDA|AROA)[A-Z0-9]{16}\b`), 0, nil},
	{secret, regexp.MustCompile(`(?i)\bhttps://(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/([A-Za-z0-9/_-]+)`), 1, nil},
	{secret, regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://([^/\s:@"']*:[^/\s@"']+)@`), 1, nil},
	{secret, regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{8,})`), 1, hasDigit},
	{secret, regexp.MustCompile(`(?i)(?:pass(?:word|wd|phrase|code)|pwd|[_-]pass)["']?\s*[:=]\s*(?:"([^"\n]{2,})"|'([^'\n]{2,})'|([^\s"',;]{3,}))`), -1, noCode},
	{secret, regexp.MustCompile(`(?i)(?:secret|token|credentials?|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|session[_-]?id)(?:[_-][A-Za-z0-9_-]*)?["']?\s*[:=]\s*(?:"([^"\n]{4,})"|'([^'\n]{4,})'|([^\s"',;]{4,}))`), -1, value},
	{secret, regexp.MustCompile(`(?i)[?&](?:sig|signature|key|code|auth|pass)=([^&\s"']{4,})`), 1, nil},
	{"email", regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`), 0, notGit},
	{"remote", regexp.MustCompile(`\b(?:git@|ssh://(?:git@)?)([A-Za-z0-9.-]+(?::\d+)?[:/][A-Za-z0-9._~/-]+)`), 1, nil},
	{"remote", regexp.MustCompile(`\b(?:https?|git)://((?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|dev\.azure\.com)/[A-Za-z0-9._~-]+(?:/[A-Za-z0-9._~-]+)?)`), 1, nil},
	{"host", regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]*://([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)`), 1, foreignHost},
	{"host", regexp.MustCompile(`(?i)\b[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*\.(?:internal|corp|intranet|intra|lan|private)\b`), 0, nil},
	{"address", regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`), 0, foreignAddress},
}

// last are looked for when paths have been replaced.
var last = []rule{
	{secret, regexp.MustCompile(`[A-Za-z0-9/+]{40}`), 0, func(s string) bool { return strings.ContainsAny(s, "/+") && random(s, 3.8) && digits(s) >= 2 }},
	{secret, regexp.MustCompile(`\b[0-9a-fA-F]{32,}\b`), 0, hasDigit},
	{secret, regexp.MustCompile(`[A-Za-z0-9_+=-]{20,}`), 0, func(s string) bool { return !uuid.MatchString(s) && random(s, 3.5) && digits(s) >= 2 && mixed(s) }},
}

var uuid = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func hasDigit(s string) bool { return digits(s) > 0 }

func digits(s string) (n int) {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// value reports whether what is assigned to a name looks like a secret rather than like
// a word or a place in a program.
func value(s string) bool {
	return (hasDigit(s) || len(s) >= 20 || strings.ContainsAny(s, "!@#%^&*+/=")) && noCode(s)
}

func noCode(s string) bool { return !strings.ContainsAny(s, "(){}<>$") }

func notGit(s string) bool {
	return !strings.HasPrefix(s, "git@") && !strings.HasPrefix(s, "REDACTED-") && !strings.HasSuffix(strings.ToLower(s), "@example.com")
}

func foreignHost(s string) bool {
	s = strings.ToLower(s)
	return s != "localhost" && s != "127.0.0.1" && !strings.HasSuffix(s, "example.com") && !strings.HasSuffix(s, ".example")
}

func foreignAddress(s string) bool {
	return s != "127.0.0.1" && s != "0.0.0.0" && !strings.HasPrefix(s, "192.0.2.")
}

// mixed reports whether letters of both cases stand in s in more than one place: names
// in programs begin their words with capitals, random letters do not.
func mixed(s string) bool {
	turns := 0
	for i := 1; i < len(s); i++ {
		if class(s[i-1]) != class(s[i]) {
			turns++
		}
	}
	return turns*20 >= 9*len(s)
}

func class(c byte) int {
	switch {
	case c >= 'a' && c <= 'z':
		return 1
	case c >= 'A' && c <= 'Z':
		return 2
	case c >= '0' && c <= '9':
		return 3
	}
	return 4
}

// random reports whether letters of both cases and digits stand in s as evenly as in
// random text: bits is the least entropy of a character.
func random(s string, bits float64) bool {
	var n [256]int
	var seen [5]bool
	for i := range len(s) {
		n[s[i]]++
		seen[class(s[i])] = true
	}
	sum := 0.0
	for _, k := range n {
		if k > 0 {
			p := float64(k) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum >= bits && seen[1] && seen[2] && seen[3]
}

// Text is a text without what is to be redacted.
func (x *Redactor) Text(s string) string {
	for i := range first {
		s = x.apply(&first[i], s)
	}
	for _, f := range x.folders {
		s = x.place(s, f)
	}
	s = x.named(s)
	for i := range last {
		s = x.apply(&last[i], s)
	}
	return s
}

// apply replaces what a rule finds.
func (x *Redactor) apply(r *rule, s string) string {
	var out strings.Builder
	end := 0
	for _, m := range r.pattern.FindAllStringSubmatchIndex(s, -1) {
		from, to := -1, -1
		if r.part >= 0 {
			from, to = m[2*r.part], m[2*r.part+1]
		} else { // the one group that matched
			for g := 2; g+1 < len(m); g += 2 {
				if m[g] >= 0 {
					from, to = m[g], m[g+1]
				}
			}
		}
		if from < end || x.issued[s[from:to]] || r.wanted != nil && !r.wanted(s[from:to]) {
			continue
		}
		out.WriteString(s[end:from])
		out.WriteString(x.token(r.class, s[from:to]))
		end = to
	}
	if end == 0 {
		return s
	}
	out.WriteString(s[end:])
	return out.String()
}

// token is what stands for an original.
func (x *Redactor) token(class, original string) string {
	key := class + "\xff" + original
	t, ok := x.tokens[key]
	if !ok {
		x.counts[class]++
		n := x.counts[class]
		switch class {
		case "email":
			t = fmt.Sprintf("user%d@example.com", n)
		case "remote":
			t = fmt.Sprintf("example.com/owner%d/repo", n)
			if strings.Contains(original, ":") && !strings.Contains(original, "//") {
				t = fmt.Sprintf("example.com:owner%d/repo.git", n)
			}
		case "host":
			t = fmt.Sprintf("host%d.example", n)
		case "address":
			t = fmt.Sprintf("192.0.2.%d", (n-1)%254+1)
		default:
			t = fmt.Sprintf("REDACTED-%d", n)
		}
		x.tokens[key] = t
	}
	if x.fixed {
		t = fit(t, budget.Len16(original))
	}
	x.issued[t] = true
	return t
}

// fit makes a text n characters long.
func fit(s string, n int) string {
	if len(s) >= n {
		return s[:n]
	}
	return s + strings.Repeat("x", n-len(s))
}

// place replaces a working folder, as it stands, in URLs and in strings of programs.
func (x *Redactor) place(s string, f folder) string {
	for _, form := range []string{f.path, strings.ReplaceAll(f.path, " ", "%20"), strings.ReplaceAll(f.path, `\`, `\\`)} {
		to := f.to
		if x.fixed {
			to = fit(to, budget.Len16(form))
		}
		var out strings.Builder
		done := 0
		for from := 0; ; {
			i := strings.Index(s[from:], form)
			if i < 0 {
				break
			}
			at, end := from+i, from+i+len(form)
			from = end
			if end < len(s) && (letter(s[end]) || s[end] == '-' || s[end] == '_') || at > 0 && letter(s[at-1]) {
				continue // of another folder, whose path holds this one
			}
			out.WriteString(s[done:at])
			out.WriteString(to)
			done = end
		}
		if done > 0 {
			out.WriteString(s[done:])
			s = out.String()
		}
	}
	return s
}

// named replaces the names of users, in paths and alone.
func (x *Redactor) named(s string) string {
	var out strings.Builder
	end := 0
	for _, m := range home.FindAllStringSubmatchIndex(s, -1) {
		name := strings.TrimRight(s[m[4]:m[5]], ".")
		if low := strings.ToLower(name); anyone[low] || x.issued[name] {
			continue
		}
		out.WriteString(s[end:m[4]])
		out.WriteString(x.user(name))
		end = m[4] + len(name)
	}
	s, end = out.String()+s[end:], 0
	if x.word == nil {
		return s
	}
	out.Reset()
	for _, m := range x.word.FindAllStringIndex(s, -1) {
		if m[0] > 0 && letter(s[m[0]-1]) || m[1] < len(s) && letter(s[m[1]]) {
			continue
		}
		out.WriteString(s[end:m[0]])
		out.WriteString(x.user(s[m[0]:m[1]]))
		end = m[1]
	}
	return out.String() + s[end:]
}

// user is what stands for the name of a user: always of its length, so that a word
// which a prompt shares with a listing stays shared.
func (x *Redactor) user(name string) string {
	token := cmp.Or(x.users[strings.ToLower(name)], fit("user", budget.Len16(name)))
	x.issued[token] = true
	return token
}

// letter reports whether a byte is part of a word of ASCII or of any other letters.
func letter(c byte) bool { return class(c) < 4 || c >= 0x80 }

// listing redacts the texts of a listing. Their lengths stay, and so do names: the same
// is shown of the same skills.
func (x *Redactor) listing(a *jsonl.Attachment) {
	x.fixed = true
	defer func() { x.fixed = false }()
	lines := skills.ParseListing(a.Content, a.Names)
	var digests []string
	for i := range lines {
		l := &lines[i]
		if l.Name == "" {
			l.Raw = x.Text(l.Raw)
			continue
		}
		at := strings.LastIndex(l.Raw, l.Text)
		text := x.Text(l.Text)
		if at < 0 || l.Text == "" || text == l.Text {
			continue
		}
		if i < len(a.Digests) && len(a.Digests) == len(a.Names) && a.Digests[i] == skills.Digest(cmp.Or(l.Alias, l.Name), l.Text) {
			if digests == nil {
				digests = slices.Clone(a.Digests)
			}
			digests[i] = skills.Digest(cmp.Or(l.Alias, l.Name), text)
		}
		l.Raw = l.Raw[:at] + text + l.Raw[at+len(l.Text):]
	}
	if digests != nil {
		a.Digests = digests
	}
	a.Content = skills.JoinListing(lines)
}

// plain is a text on one line, without what a terminal would obey.
func plain(s string) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool { return r == ' ' || !unicode.IsGraphic(r) })
	return strings.Join(words, " ")
}
