package budget

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// shared is the folder of the recordings, beside the checkout.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SKILLTRACE_SHARED")
	if dir == "" {
		dir = "../../shared"
	}
	if _, err := os.Stat(filepath.Join(dir, "conformance")); err != nil {
		t.Skip("no recordings: set SKILLTRACE_SHARED")
	}
	return filepath.Join(dir, "conformance")
}

type recordedCase struct {
	Version  string `yaml:"client_version"`
	Settings struct {
		Fraction float64 `yaml:"skillListingBudgetFraction"`
		MaxDesc  int     `yaml:"skillListingMaxDescChars"`
	} `yaml:"settings"`
	Usage map[string]struct {
		Count    int   `yaml:"usageCount"`
		LastUsed int64 `yaml:"lastUsedAt"`
	} `yaml:"skill_usage"`
	Runs []struct {
		Run    int               `yaml:"run"`
		Model  string            `yaml:"model"`
		Window int               `yaml:"context_window"`
		Env    map[string]string `yaml:"env"`
		Ended  int64             `yaml:"ended_at_ms"`
		Resume bool              `yaml:"resume"`
	} `yaml:"runs"`
}

// patch is the last number of a version 2.x.y, with the middle one as thousands.
func patch(t *testing.T, v string) int {
	t.Helper()
	var major, minor, p int
	if _, err := fmt.Sscanf(v, "%d.%d.%d", &major, &minor, &p); err != nil {
		t.Fatal(v, err)
	}
	return minor*1000 + p
}

// sizeAt is the part of the rules that these recordings need.
func sizeAt(t *testing.T, v string) (s Size, textCap int) {
	p := patch(t, v)
	s = Size{Unit: UnitUTF16, Overflow: OverflowCut, Percent: 200}
	switch {
	case p < 1032:
		s.Fixed = 15000
	case p >= 1086:
		s.Percent = 100
	}
	s.FractionSetting = p >= 1105
	if p >= 1130 {
		s.NewModelChars = 3
	}
	switch {
	case p >= 1332:
		s.MillionModels = []string{"claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable-5", "claude-haiku-5", "unknown"}
	case p >= 1140 && p < 1178:
		s.MillionModels = []string{"claude-opus-4-7"}
	}
	switch {
	case p >= 1113:
		s.Unit = UnitBun
	case p >= 1088:
		s.Unit = UnitGrapheme
	}
	switch {
	case p >= 1129:
		s.Overflow = OverflowGreedy
	case p >= 1019:
		s.Overflow = OverflowUniform
	}
	s.ExemptBundled = p >= 1063
	switch {
	case p >= 1105:
		textCap = 1536
	case p >= 1086:
		textCap = 250
	}
	return s, textCap
}

type catalogue struct{ where, model, text string }

// catalogues reads the first catalogue of each run.
func catalogues(t *testing.T, file string) map[int]catalogue {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[int]catalogue{}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var r struct {
			Run       int    `json:"run"`
			Kind      string `json:"kind"`
			Model     string `json:"model"`
			Catalogue []struct{ Where, Text string }
		}
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(file, err)
		}
		if _, ok := out[r.Run]; ok || r.Kind != "main" {
			continue
		}
		for _, c := range r.Catalogue {
			if !strings.HasPrefix(c.Where, "tool:SlashCommand") {
				out[r.Run] = catalogue{c.Where, r.Model, c.Text}
				break
			}
		}
	}
	return out
}

// entriesOf is the catalogue without header and wrapper, and its entries by name
// in order.
func entriesOf(text string) (body string, names []string, texts map[string]string) {
	if i := strings.Index("\n"+text, "\n- "); i >= 0 {
		body = text[i:]
	}
	body, _, _ = strings.Cut(body, "\n</system-reminder>")
	body = strings.TrimRight(body, "\n")
	texts = map[string]string{}
	for _, line := range strings.Split(body, "\n") {
		if m := entryLine.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
			texts[m[1]] = m[2]
		} else if len(names) > 0 {
			texts[names[len(names)-1]] += "\n" + line
		}
	}
	return body, names, texts
}

var (
	entryLine = regexp.MustCompile(`^- ([^\s:]+(?::[^\s:]+)*)(?:: (.*))?$`)
	frontLine = regexp.MustCompile(`(?m)^(description|when_to_use): (.*)$`)
	builtIns  = map[string]bool{"init": true, "review": true, "security-review": true, "statusline": true, "pr-comments": true, "insights": true, "team-onboarding": true}
)

// ownTexts reads the plain front matter of a scenario's user skills.
func ownTexts(t *testing.T, scenario string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(scenario, "files/dev/.claude/skills/*/SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var parts [2]string
		for _, m := range frontLine.FindAllStringSubmatch(string(b), -1) {
			if m[1] == "description" {
				parts[0] = m[2]
			} else {
				parts[1] = " - " + m[2]
			}
		}
		out[filepath.Base(filepath.Dir(f))] = parts[0] + parts[1]
	}
	return out
}

// TestRecordedListings trims what the recordings say existed, with the budget of
// the recorded environment, settings and model, and compares with what was sent.
// The order of the entries is taken from the recording, and the client's own
// entries from a run in which everything fitted.
func TestRecordedListings(t *testing.T) {
	root := shared(t)
	runs := 0
	for _, scenario := range []string{"150", "400", "boundary", "both_env", "env2000", "env4000", "env60000", "fraction", "models", "models_new", "overflow", "overflow_nousage", "unicode_budget", "usage"} {
		dirs, _ := filepath.Glob(filepath.Join(root, "listing", scenario, "2.*"))
		own := ownTexts(t, filepath.Join(root, "listing", scenario))
		for _, dir := range dirs {
			b, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			var c recordedCase
			if err := yaml.Unmarshal(b, &c); err != nil {
				t.Fatal(dir, err)
			}
			s, textCap := sizeAt(t, c.Version)
			if patch(t, c.Version) < 77 {
				continue // XML, see TestRecordedXML
			}
			if textCap == 1536 && c.Settings.MaxDesc > 0 {
				textCap = c.Settings.MaxDesc
			}
			bundled := bundledTexts(t, root, c.Version)
			cats := catalogues(t, filepath.Join(dir, "requests.jsonl"))
			for _, run := range c.Runs {
				cat, ok := cats[run.Run]
				if !ok || run.Resume {
					continue
				}
				want, names, _ := entriesOf(cat.text)
				model := cat.model
				if hasMillionSuffix(run.Model) {
					model += "[1m]"
				}
				budget, how := ListingBudget(s, BudgetInputs{Model: model, Env: run.Env[EnvCharBudget], Fraction: c.Settings.Fraction})
				if w := s.WindowOf(model); w != run.Window {
					t.Errorf("%s run %d: WindowOf(%s) = %d, recorded %d", dir, run.Run, model, w, run.Window)
				}
				var lines []Line
				for _, n := range names {
					text, mine := own[n]
					if !mine {
						text, ok = bundled[n]
						if !ok {
							t.Fatalf("%s: %s is in no source", dir, n)
						}
					}
					if textCap > 0 && Len16(text) > textCap {
						text = Cut16(text, textCap-1) + "…"
					}
					l := Line{Bare: "- " + n, Full: "- " + n, Label: n, Text: text, Exempt: !mine && !builtIns[n]}
					if text != "" {
						l.Full += ": " + text
					}
					if u, ok := c.Usage[n]; ok {
						l.Score = Score(u.Count, u.LastUsed, run.Ended)
					}
					lines = append(lines, l)
				}
				got := Trim(lines, budget, s)
				runs++
				if ReplaceLone(got.Text) != want {
					t.Errorf("%s run %d: budget %d (%s), total %d:\n%s", dir, run.Run, budget, how, got.Total, firstDiff(ReplaceLone(got.Text), want))
				}
			}
		}
	}
	if t.Logf("%d listings", runs); runs == 0 {
		t.Error("no listing was compared")
	}
}

var bundledCache = map[string]map[string]string{}

func bundledTexts(t *testing.T, root, version string) map[string]string {
	if m, ok := bundledCache[version]; ok {
		return m
	}
	cats := catalogues(t, filepath.Join(root, "listing/budget60k", version, "requests.jsonl"))
	_, _, texts := entriesOf(cats[0].text)
	bundledCache[version] = texts
	return texts
}

func firstDiff(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(end)", "(end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n got %.120q (%d)\nwant %.120q (%d)", i+1, a, len(a), b, len(b))
		}
	}
	return "equal"
}

// TestRecordedXML checks the cut of the oldest clients on their own full text.
func TestRecordedXML(t *testing.T) {
	root := shared(t)
	runs := 0
	for _, scenario := range []string{"150", "400", "boundary", "env2000", "env4000", "overflow", "unicode_budget"} {
		full := ownTexts(t, filepath.Join(root, "listing", scenario))
		for _, version := range []string{"2.0.30", "2.0.76"} {
			dir := filepath.Join(root, "listing", scenario, version)
			b, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			var c recordedCase
			if err := yaml.Unmarshal(b, &c); err != nil {
				t.Fatal(err)
			}
			source := "(user)"
			if version == "2.0.30" {
				source = "(project, gitignored)"
			}
			var names []string
			for n := range full {
				names = append(names, n)
			}
			slices.Sort(names)
			var lines []Line
			for _, n := range names { // the location is filler in the recordings
				text, when, both := strings.Cut(full[n], " - When ")
				text += " " + source
				if both {
					text += " - When " + when
				}
				lines = append(lines, Line{Full: "<skill>\n<name>\n" + n + "\n</name>\n<description>\n" + text + "\n</description>\n<location>\nxxxx\n</location>\n</skill>"})
			}
			s, _ := sizeAt(t, version)
			cats := catalogues(t, filepath.Join(dir, "requests.jsonl"))
			for _, run := range c.Runs {
				cat, ok := cats[run.Run]
				if !ok {
					continue
				}
				budget, _ := ListingBudget(s, BudgetInputs{Model: cat.model, Env: run.Env[EnvCharBudget]})
				got := Trim(lines, budget, s)
				runs++
				if want := strings.Trim(cat.text, "\n"); got.Text != want {
					t.Errorf("%s run %d, budget %s: %s", dir, run.Run, strconv.Itoa(budget), firstDiff(got.Text, want))
				}
			}
		}
	}
	if t.Logf("%d listings", runs); runs == 0 {
		t.Error("no listing was compared")
	}
}
