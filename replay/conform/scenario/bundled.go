package scenario

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/skills"
)

// full are the recordings in which every entry fits into the listing, with the
// run to look at.
var full = []struct {
	scenario string
	run      int
}{{"listing/budget60k", 0}, {"listing/probe", 1}}

// builtins are the client's built-in prompts, which stand last and are trimmed
// like anybody's entries.
var builtins = map[string]bool{
	"init": true, "review": true, "security-review": true, "insights": true, "team-onboarding": true, "statusline": true, "pr-comments": true,
}

// firstBundled is the first version with an entry of its own (recorded: none in
// listing/probe at 2.1.51, one at 2.1.63).
const firstBundled = "2.1.63"

// bundledOf remembers the entries by the folder that they were taken from.
var bundledOf sync.Map // string -> []skills.Given

// Bundled are the client's own entries, which are in no folder of files/: name,
// text and place, as a recording of the same version lists them in which
// everything fits, else as this session's own first listing does (texts that are
// cut there are taken from other recordings of the version). It is nil where no
// listing is recorded, and empty, not nil, where there are none. The caller must
// not change it.
func (c *Case) Bundled() ([]skills.Given, error) {
	root := filepath.Join(c.Dir, "..", "..", "..")
	for _, f := range full {
		dir := filepath.Join(root, filepath.FromSlash(f.scenario), c.Version)
		if _, err := os.Stat(filepath.Join(dir, caseFile)); err != nil {
			continue
		}
		if given, ok := bundledOf.Load(dir); ok {
			return given.([]skills.Given), nil
		}
		from, err := Load(dir)
		if err != nil {
			return nil, err
		}
		given, err := from.given(f.run)
		if err != nil {
			return nil, err
		}
		if given != nil {
			bundledOf.Store(dir, given)
			return given, nil
		}
	}
	if given, ok := bundledOf.Load(c.Dir); ok {
		return given.([]skills.Given), nil
	}
	given, err := c.given(-1)
	if err != nil {
		return nil, err
	}
	if given == nil {
		if CompareVersions(c.Version, firstBundled) < 0 {
			return []skills.Given{}, nil
		}
		return nil, nil
	}
	shown, others, err := c.others(root)
	if err != nil {
		return nil, err
	}
	if others > 1 {
		// Without names in the log, a line of a description can look like an entry.
		given = slices.DeleteFunc(given, func(g skills.Given) bool { return shown[g.Name] == nil })
	}
	for i := range given {
		g := &given[i]
		whole := mostShown(shown[g.Name])
		if strings.HasPrefix(whole, strings.TrimSuffix(g.Text, "…")) || strings.HasPrefix(g.Text, whole+"\n- ") {
			g.Text = whole
		}
	}
	bundledOf.Store(c.Dir, given)
	return given, nil
}

// others counts how often the other recordings of the version show each text of
// the client's own entries; texts that were cut are left out. It gives the number
// of those recordings too.
func (c *Case) others(root string) (map[string]map[string]int, int, error) {
	files, err := filepath.Glob(filepath.Join(escape(root), "*", "*", escape(c.Version), caseFile))
	if err != nil {
		return nil, 0, err
	}
	shown := map[string]map[string]int{}
	n := 0
	for _, f := range files {
		o, err := Load(filepath.Dir(f))
		if err != nil {
			return nil, 0, err
		}
		if o.Family == c.Family && o.Scenario == c.Scenario || o.Family == "billing" {
			continue // billing has filler of another kind
		}
		given, err := o.given(-1)
		if err != nil {
			return nil, 0, err
		}
		if len(given) > 0 {
			n++
		}
		for _, g := range given {
			if shown[g.Name] == nil {
				shown[g.Name] = map[string]int{}
			}
			if g.Text != "" && !strings.HasSuffix(g.Text, "…") {
				shown[g.Name][g.Text]++
			}
		}
	}
	return shown, n, nil
}

// mostShown is the text that was seen most often, of equals the longest.
func mostShown(texts map[string]int) string {
	best := ""
	for _, t := range slices.Sorted(maps.Keys(texts)) {
		if n, m := texts[t], texts[best]; n > m || n == m && len(t) > len(best) {
			best = t
		}
	}
	return best
}

// given are the entries of the first listing of a run that no file of this
// scenario yields; of the first run that has a listing if run is negative. It is
// nil if there is no listing.
func (c *Case) given(run int) ([]skills.Given, error) {
	lines, err := c.firstListing(run)
	if err != nil || lines == nil {
		return nil, err
	}
	own, err := c.ownNames()
	if err != nil {
		return nil, err
	}
	isOwn := func(l skills.ListedLine) bool { return strings.Contains(l.Name, ":") || own[l.Name] }
	first := slices.IndexFunc(lines, isOwn)
	plugin := slices.IndexFunc(lines, func(l skills.ListedLine) bool { return strings.Contains(l.Name, ":") })
	out := []skills.Given{}
	for i, l := range lines {
		if l.Name == "" || isOwn(l) || l.Source != "" {
			continue
		}
		g := skills.Given{Name: l.Name, Text: l.Text, Place: skills.PlaceBundled}
		switch {
		case builtins[l.Name]:
			g.Place = skills.PlaceBuiltin
		case i < first:
			g.Place = skills.PlaceFirst
		case i < plugin || l.Name == "deep-research":
			g.Place = skills.PlaceWorkflow
		}
		out = append(out, g)
	}
	return out, nil
}

// firstListing is the first listing of a run, or of the case if run is negative:
// from the log where the version writes it there (2.1.94 on), else from what was
// sent.
func (c *Case) firstListing(run int) ([]skills.ListedLine, error) {
	for _, l := range c.logs {
		if run >= 0 && l.Runs[0] != run {
			continue // it begins with another run's listing
		}
		var lines []skills.ListedLine
		err := records(l.Path, func(r jsonl.Value) bool {
			a := r.Get("attachment")
			if a.Get("type").Text() != "skill_listing" {
				return true
			}
			var names []string
			for n := range a.Get("names").Items() {
				names = append(names, n.Text())
			}
			lines = skills.ParseListing(a.Get("content").Text(), names)
			return false
		})
		if err != nil || lines != nil {
			return lines, err
		}
	}
	for r, err := range c.EachRequest() {
		if err != nil {
			return nil, err
		}
		if r.Kind != RequestMain || run >= 0 && r.Run != run {
			continue
		}
		if text, ok := r.Listing(); ok {
			return skills.ParseListing(text, nil), nil
		}
	}
	return nil, nil
}

// ownNames are the names without a colon that any file of the scenario yields,
// those that come in later included. Names with a colon (commands in folders,
// plugins, nested folders) are never the client's own.
func (c *Case) ownNames() (map[string]bool, error) {
	tree, err := c.Tree()
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	add := func(name string) {
		dir, base := path.Split(name)
		dir = path.Clean(dir)
		switch {
		case path.Base(dir) == "skills":
			own[base] = true
		case path.Base(dir) == "commands" && strings.HasSuffix(base, ".md"):
			own[strings.TrimSuffix(base, ".md")] = true
		case path.Base(dir) == "commands":
			own[base] = true // a skill folder among the commands
		}
	}
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		entries, err := tree.ReadDir(dir)
		if err != nil || depth > maxTreeDepth {
			return
		}
		for _, e := range entries {
			add(path.Join(dir, e.Name()))
			if e.IsDir() {
				walk(path.Join(dir, e.Name()), depth+1)
			}
		}
	}
	walk("/", 0)
	for _, r := range c.Runs {
		changes := r.BeforeRun
		for _, s := range r.Prompts {
			if s.Change != nil {
				changes = append(changes[:len(changes):len(changes)], *s.Change)
			}
		}
		for _, ch := range changes {
			for _, f := range ch.Write {
				for p := f.Path; p != "/" && p != "."; p = path.Dir(p) {
					add(p)
				}
			}
		}
	}
	return own, nil
}
