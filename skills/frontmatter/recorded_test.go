package frontmatter

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// dialectOf is the dialect of a client version, by the boundaries recorded so far.
func dialectOf(version string) Dialect {
	since := func(v string) bool { return compareVersions(version, v) >= 0 }
	d := Dialect{
		Parser: Naive, Requote: RequoteNone, DuplicateKeys: DuplicatesLast,
		BOM: since("2.1.239"), ScalarOnly: since("2.1.51"), FlagWords: since("2.1.218"), PathsList: since("2.1.84"),
	}
	switch {
	case since("2.1.200"):
		d.Parser = BunYAML
	case since("2.1.113"):
		d.Parser = Bun13YAML
	case since("2.0.77"):
		d.Parser, d.DuplicateKeys = NpmYAML, DuplicatesFail
	}
	switch {
	case since("2.1.146"):
		d.Requote = RequoteNoList
	case since("2.1.69"):
		d.Requote = RequoteColon
	case since("2.1.20"):
		d.Requote = RequoteSpecial
	}
	return d
}

func compareVersions(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range x {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m - n
		}
	}
	return 0
}

// TestRecordings predicts the listing text of every own skill and command of the
// recordings and looks for it in what the client listed. Only entries count whose
// text other packages leave alone: below the cap, without < and > and without
// control and format characters, one definition per name, not edited in the
// session, and listed with its text.
func TestRecordings(t *testing.T) {
	shared := os.Getenv("SKILLTRACE_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	cases, _ := filepath.Glob(filepath.Join(shared, "conformance", "*", "*", "[0-9]*", "case.yaml"))
	if len(cases) == 0 {
		t.Skip("no recordings: set SKILLTRACE_SHARED to the folder that holds conformance/")
	}
	same, lost, requoted, different := map[string]int{}, 0, 0, 0
	for _, c := range cases {
		dir := filepath.Dir(c)
		version := filepath.Base(dir)
		d := dialectOf(version)
		listed := listedTexts(t, dir)
		script, _ := os.ReadFile(c)
		for name, file := range ownFiles(t, filepath.Join(filepath.Dir(dir), "files")) {
			texts := listed[name]
			if file == "" || len(texts) == 0 || strings.Contains(string(script), file) {
				continue
			}
			raw, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "files", filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			f, body := Parse(string(raw), d)
			want := listingText(f, body, d, strings.HasSuffix(file, "SKILL.md"))
			if !comparable(want, texts, version) {
				continue
			}
			if slices.Contains(texts, want) {
				same[version]++
				if f.Problem != "" {
					lost++
				}
				if f.Requoted {
					requoted++
				}
				continue
			}
			different++
			t.Errorf("%s %s: %q (problem: %s)\n listed as %q", version, file, want, f.Problem, texts)
		}
	}
	total := 0
	var versions []string
	for v, n := range same {
		total += n
		versions = append(versions, v)
	}
	slices.SortFunc(versions, compareVersions)
	var counts []string
	for _, v := range versions {
		counts = append(counts, fmt.Sprintf("%s %d", v, same[v]))
	}
	t.Logf("%d listing texts equal, %d different; of the equal ones %d with a lost block, %d after requoting; by version: %s",
		total, different, lost, requoted, strings.Join(counts, ", "))
	if total < 1000 {
		t.Errorf("only %d texts compared", total)
	}
}

func listingText(f Front, body string, d Dialect, skill bool) string {
	text, ok := f.Description(d)
	if !ok {
		kind := "command"
		if skill {
			kind = "skill"
		}
		text = Fallback(body, kind)
	}
	if when, _ := f.WhenToUse(d); when != "" {
		text += " - " + when
	}
	return text
}

// comparable reports whether a text reaches the listing unchanged, and was listed
// in full: not cut, and not replaced by filler.
func comparable(want string, texts []string, version string) bool {
	most := 1500 // below the cap of 1,536
	if compareVersions(version, "2.1.86") >= 0 && compareVersions(version, "2.1.105") < 0 {
		most = 240 // below the cap of 250
	}
	if want == "" || len(want) > most || strings.ContainsFunc(want, func(r rune) bool {
		return r == '<' || r == '>' || r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector)
	}) {
		return false
	}
	for _, x := range texts {
		cut := strings.HasSuffix(x, "…") || strings.HasSuffix(x, "...") && !strings.HasSuffix(want, "...")
		if cut || strings.Contains(x, "xx") {
			return false
		}
	}
	return true
}

// ownFiles are the skill and command files below root, relative to it, by name; a
// name with two files has "".
func ownFiles(t *testing.T, root string) map[string]string {
	files := map[string]string{}
	add := func(name, file string) {
		if _, twice := files[name]; twice {
			file = ""
		}
		files[name] = file
	}
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		rel = filepath.ToSlash(rel)
		if strings.HasPrefix(rel, "dev/plug") {
			return nil
		}
		if path.Base(rel) == "SKILL.md" {
			add(path.Base(path.Dir(rel)), rel)
		} else if _, below, ok := strings.Cut(rel, "/.claude/commands/"); ok && strings.HasSuffix(below, ".md") {
			add(strings.ReplaceAll(strings.TrimSuffix(below, ".md"), "/", ":"), rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// listedTexts are the texts that a client listed, by name: from the logs where
// they hold listings, else from the requests.
func listedTexts(t *testing.T, dir string) map[string][]string {
	out := map[string][]string{}
	add := func(listing string) {
		if strings.Contains(listing, "<name>") {
			return // the oldest form, in which all texts are escaped
		}
		name, text := "", ""
		flush := func() {
			text = strings.TrimRight(text, "\n")
			for _, place := range []string{" (project", " (user", " (from ", " (scoped to "} {
				if i := strings.LastIndex(text, place); i > 0 && strings.HasSuffix(text, ")") {
					text = text[:i] // where the entry comes from, which is no part of the file
				}
			}
			if name != "" && !slices.Contains(out[name], text) {
				out[name] = append(out[name], text)
			}
			name = ""
		}
		for l := range strings.SplitSeq(listing, "\n") {
			if item, ok := strings.CutPrefix(l, "- "); ok {
				flush()
				n, x, ok := strings.Cut(item, ": ")
				if alias := strings.Index(n, " ("); alias > 0 && strings.HasSuffix(n, ")") {
					n = n[:alias]
				}
				if ok {
					name, text = strings.TrimPrefix(n, "/"), x
				}
				continue
			}
			if strings.HasPrefix(l, "<") {
				flush()
				continue
			}
			text += "\n" + l
		}
		flush()
	}
	logs, _ := filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
	for _, f := range append(logs, filepath.Join(dir, "requests.jsonl")) {
		eachLine(t, f, func(line []byte) {
			var r struct {
				Attachment struct{ Type, Content string }
				Catalogue  []struct{ Text string }
			}
			if json.Unmarshal(line, &r) != nil {
				return
			}
			if r.Attachment.Type == "skill_listing" {
				add(r.Attachment.Content)
			}
			for _, c := range r.Catalogue {
				add(c.Text)
			}
		})
	}
	return out
}

func eachLine(t *testing.T, path string, do func([]byte)) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		if strings.Contains(sc.Text(), "skill_listing") || strings.Contains(sc.Text(), `"catalogue"`) {
			do(sc.Bytes())
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
}
