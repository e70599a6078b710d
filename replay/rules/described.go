package rules

import "fmt"

// Description says on what the rules of a client rest that was never recorded: a
// document that describes it. It is the definition: a log in the client's shape that
// departs from it is divergent. Of what the document leaves open the rules of a
// recorded client are assumed, and every such value says so.
type Description struct {
	// Source is the document, in words.
	Source string
	// About is the version that it is about, "" if the client has none.
	About string
	// Like is the version of [DefaultClient] whose rules stand where it is silent.
	Like string
}

// DefaultClient is the client that was recorded.
const DefaultClient = "claude-code"

// described is a value that the document states, in its words.
func described(key string, value any, words string) Change {
	return Change{Key: key, Value: value, Summary: words, Confidence: Documented}
}

// open is a value that the document leaves open and the recorded client does not
// lend: why says which was taken.
func open(key string, value any, why string) Change {
	return Change{Key: key, Value: value, Evidence: "not described: " + why, Confidence: Assumed}
}

// newDescribed is the table of a client that is only described. It has one version.
func newDescribed(client string, d Description, changes []Change) (*Table, error) {
	recorded, err := claudeCode()
	if err != nil {
		return nil, err
	}
	rules, err := recorded.Effective(d.Like)
	if err != nil {
		return nil, err
	}
	own := map[string]Change{}
	for _, c := range changes {
		if _, twice := own[c.Key]; twice {
			return nil, fmt.Errorf("%s: %s stands twice", client, c.Key)
		}
		if c.Confidence == Documented {
			c.Evidence = d.Source
		}
		own[c.Key] = c
	}
	var all []Change
	for _, r := range rules {
		c, ok := own[r.Key]
		if !ok {
			c = Change{Key: r.Key, Value: r.Value, Evidence: "not described: as in " + DefaultClient + " " + d.Like, Confidence: Assumed}
		}
		delete(own, r.Key)
		c.Since = firstVersion
		all = append(all, c)
	}
	for key := range own {
		return nil, fmt.Errorf("%s: %s: no such rule", client, key)
	}
	t, err := newTable(client, firstVersion, firstVersion, firstVersion, all)
	if err != nil {
		return nil, err
	}
	t.Described = &d
	return t, nil
}

// firstVersion stands for the one version of a client that is only described. A
// user's own changes hold from any version on.
const firstVersion = "0.0.0"

// only returns the rules of a client that is only described. It takes no version or
// the one that the description is about.
func (t *Table) only(version string) (*step, string, error) {
	d := t.Described
	if version != "" && (d.About == "" || !sameVersion(version, d.About)) {
		return nil, "", &DescribedError{Client: t.Client, Version: version, About: d.About}
	}
	return &t.folded[len(t.folded)-1], d.About, nil
}

func sameVersion(a, b string) bool {
	v, err := ParseVersion(a)
	w, err2 := ParseVersion(b)
	return err == nil && err2 == nil && v.Compare(w) == 0
}

// DescribedError reports a version of a client that has none, or another than the one
// that is described.
type DescribedError struct{ Client, Version, About string }

func (e *DescribedError) Error() string {
	if e.About == "" {
		return fmt.Sprintf("%s has no versions, it is described once: want %s, not %s@%s", e.Client, e.Client, e.Client, e.Version)
	}
	return fmt.Sprintf("%s is described for about %s and no other version: want %s or %s@%s, not %s@%s", e.Client, e.About, e.Client, e.Client, e.About, e.Client, e.Version)
}
