package skills

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestActivations compares the skills with paths and of nested folders that
// later listings of a recording bring in with those that the files touched by
// Read, Write and Edit activate.
func TestActivations(t *testing.T) {
	root := shared(t)
	dirs, _ := filepath.Glob(filepath.Join(root, "*", "*", "2.1.*"))
	logCount, activated, dynamic, entries := 0, 0, 0, 0
	for _, dir := range dirs {
		family, scenario, version := filepath.Base(filepath.Dir(filepath.Dir(dir))), filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
		if family != "listing" && family != "fuzz" || !atLeast(version, "2.1.94") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var rec recording
		if err := yaml.Unmarshal(text, &rec); err != nil {
			t.Fatal(err)
		}
		tree := loadTree(t, filepath.Join(filepath.Dir(dir), "files"), &rec)
		o := optionsAt(version)
		for _, file := range logs(t, dir) {
			touched, deltas, folders, cwd := touches(t, file)
			in := run{}.inputs(&rec)
			if cwd != "" {
				in.CWD = cwd
			}
			found := Discover(tree, in, o.Discovery, o.Dialect)
			for _, sk := range found.Skills {
				patterns := Patterns(sk, o.Discovery, o.Dialect)
				if len(patterns) == 0 || sk.Front.Flag("disable-model-invocation", o.Dialect) {
					continue
				}
				want := slices.ContainsFunc(deltas, func(l deltaLine) bool { return l.Name == sk.Name })
				by := ""
				for _, f := range touched {
					if Activates(patterns, f, cwd) {
						by = f
					}
				}
				if want {
					activated++
				}
				if want != (by != "") && unexplained[family+"/"+scenario+"/"+version] == "" {
					t.Errorf("%s/%s/%s %s: %s with %q: listed %v, touched %q", family, scenario, version, filepath.Base(file)[:8], sk.Name, patterns, want, by)
				}
			}
			for _, d := range folders {
				var have []string
				nested, _ := DiscoverNested(tree, cwd, d.SkillDir[:len(d.SkillDir)-len(".claude/skills")]+"x", o.Discovery, o.Dialect)
				for _, st := range Eligible(found, nested, nil, Settings{}, o) {
					if st.Skill.Source == Nested {
						have = append(have, st.Skill.Name)
					}
				}
				if o.Discovery.SortNested {
					// Here the attachment is sorted by the names as listed.
					sortBy(have, SortCollate, func(s string) string { return s })
				}
				dynamic++
				for _, e := range Entries(Eligible(found, nested, nil, Settings{}, o), nil, Settings{}, o) {
					at := slices.IndexFunc(deltas, func(l deltaLine) bool { return l.Name == e.Name })
					if at < 0 || e.Skill.Source != Nested {
						continue
					}
					entries++
					if l := deltas[at]; l.Raw != e.Line() || l.digest != "" && l.digest != e.Digest() {
						t.Errorf("%s/%s/%s: %q digest %s, want %q %s", family, scenario, version, e.Line(), e.Digest(), l.Raw, l.digest)
					}
				}
				if !slices.Equal(have, d.SkillNames) {
					t.Errorf("%s/%s/%s: dynamic_skill %q, want %q", family, scenario, version, have, d.SkillNames)
				}
			}
			logCount++
		}
	}
	t.Logf("%d logs, %d activations, %d nested folders, %d nested entries", logCount, activated, dynamic, entries)
}

type dynamicSkill struct {
	SkillDir   string   `json:"skillDir"`
	SkillNames []string `json:"skillNames"`
}

// deltaLine is an entry of a later listing with its digest, if there is one.
type deltaLine struct {
	ListedLine
	digest string
}

// touches returns the files that a log's Read, Write and Edit calls touched, the
// entries of its later listings, its nested folders and its working directory.
func touches(t *testing.T, file string) (touched []string, deltas []deltaLine, folders []dynamicSkill, cwd string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r struct {
			Type    string `json:"type"`
			CWD     string `json:"cwd"`
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
			Attachment struct {
				Type      string `json:"type"`
				IsInitial bool   `json:"isInitial"`
				attachment
				dynamicSkill
			} `json:"attachment"`
		}
		if json.Unmarshal([]byte(line), &r) != nil {
			continue
		}
		if cwd == "" {
			cwd = r.CWD
		}
		switch r.Attachment.Type {
		case "skill_listing":
			if !r.Attachment.IsInitial {
				lines := ParseListing(r.Attachment.Content, r.Attachment.Names)
				for i, l := range lines {
					d := deltaLine{ListedLine: l}
					if len(r.Attachment.Digests) == len(lines) {
						d.digest = r.Attachment.Digests[i]
					}
					deltas = append(deltas, d)
				}
			}
		case "dynamic_skill":
			folders = append(folders, r.Attachment.dynamicSkill)
		}
		var blocks []struct {
			Type  string `json:"type"`
			Name  string `json:"name"`
			Input struct {
				File string `json:"file_path"`
			} `json:"input"`
		}
		if r.Type != "assistant" || json.Unmarshal(r.Message.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_use" && (b.Name == "Read" || b.Name == "Write" || b.Name == "Edit") {
				touched = append(touched, b.Input.File)
			}
		}
	}
	return touched, deltas, folders, cwd
}
