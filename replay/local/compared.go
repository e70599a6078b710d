package local

import (
	"regexp"
	"strings"
	"time"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/skills"
	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// Means is by what a skill file is compared with what the session saw.
type Means string

// The means. A digest stands for the name and the whole description, also where the
// listing shows only the name (clients from 2.1.304 on). None of the three says
// anything of what the others cover.
const (
	ByDigest  Means = "digest"
	ByListing Means = "listing text"
	ByBody    Means = "body"
)

// FileState is what a comparison says of a file.
type FileState string

// The states.
const (
	FileSame    FileState = "same"
	FileEdited  FileState = "edited"
	FileUnknown FileState = "unknown"
)

// SkillFile is a skill file as it was read, beside what the session saw of it.
type SkillFile struct {
	Name, Path string
	Compared   []Compared // at most one by each means; empty where nothing can be compared
	// Front are what the session's client drops or changes of the front matter, by line.
	Front []frontmatter.Finding
	// Listed is the text that the last listing with the skill shows, and ListedAt its
	// record: what the client made of the front matter. ListedAt.Line is 0 where no
	// listing tells.
	Listed   string
	ListedAt replay.Where

	front   string // the name in the front matter
	body    string
	written bool // by the session itself
}

// Compared is one comparison.
type Compared struct {
	By    Means
	State FileState
	Where replay.Where // of what the session saw
	// Part: the log shows only the beginning of the text.
	Part bool
	// Seen and Now are the two texts where they are known and differ; else both are "".
	Seen, Now string
}

// State is that of the whole file as far as it can be told: edited as soon as one
// comparison says so.
func (k *SkillFile) State() FileState {
	state := FileUnknown
	for _, c := range k.Compared {
		switch c.State {
		case FileEdited:
			return FileEdited
		case FileSame:
			state = FileSame
		}
	}
	return state
}

// listed is an entry of a recorded listing.
type listed struct {
	line   skills.ListedLine
	digest string
	where  replay.Where
}

// compareListings sets the skill files beside the entries that the session's
// listings show of them.
func (f *finding) compareListings(found skills.Found) {
	statuses := f.eligible(found)
	entries := map[*skills.Skill]skills.Entry{}
	for _, e := range skills.Entries(statuses, nil, f.skillSettings(), f.options(f.r)) {
		entries[e.Skill] = e
	}
	written := map[string]bool{}
	for _, c := range f.writes() {
		written[c.path] = true
	}
	f.Skills = nil
	for _, st := range statuses {
		k := st.Skill
		if st.Reason == skills.SameFile {
			continue
		}
		front, _ := k.Front.Name()
		file := SkillFile{Name: k.Name, Path: k.Path, front: front, body: k.Body, written: written[k.Path], Front: frontmatter.Lint(k.Text, f.r.Front)}
		if e, ok := entries[k]; ok {
			seen := f.listed.last(e.Name)
			if len(seen) == 1 && !seen[0].line.Bare && !skills.Masked(seen[0].line.Text) {
				file.Listed, file.ListedAt = seen[0].line.Text, seen[0].where
			}
			c, ok := compareEntry(e, seen)
			switch {
			case ok:
				file.Compared = []Compared{c}
			case len(seen) > 0:
				f.bare++
			default:
				f.unseen++
			}
		}
		f.Skills = append(f.Skills, file)
	}
	f.doubt(ByDigest)
	f.doubt(ByListing)
}

// doubt takes back what a means says where the rules are not known to hold: a client
// that makes its digests or texts otherwise would make every file look edited. One
// that agrees shows that it does not.
func (f *Found) doubt(by Means) {
	if f.RulesExact {
		return
	}
	for i := range f.Skills {
		for _, c := range f.Skills[i].Compared {
			if c.By == by && c.State == FileSame {
				return
			}
		}
	}
	for i := range f.Skills {
		for j := range f.Skills[i].Compared {
			if c := &f.Skills[i].Compared[j]; c.By == by {
				c.State = FileUnknown
			}
		}
	}
}

// last is what the latest listing with a name shows of it: several entries where
// several skills have the name.
func (l *listings) last(name string) []listed {
	var out []listed
	var at time.Time
	for _, e := range l.entries[name] {
		switch {
		case len(out) > 0 && e.where.File == out[0].where.File && e.where.Line == out[0].where.Line:
			out = append(out, e)
		case len(out) == 0 || !e.where.Time.Before(at):
			out, at = []listed{e}, e.where.Time
		}
	}
	return out
}

// compareEntry compares the entry that a file yields with those that were listed
// under its name. With several, the one that agrees is its own. It reports false
// where they show nothing but the name.
func compareEntry(e skills.Entry, seen []listed) (Compared, bool) {
	var out Compared
	any := false
	for _, l := range seen {
		c, ok := compareLine(e, l)
		if ok && (!any || c.State == FileSame) {
			out, any = c, true
		}
		if ok && c.State == FileSame {
			break
		}
	}
	return out, any
}

func compareLine(e skills.Entry, l listed) (Compared, bool) {
	c := Compared{By: ByListing, State: FileSame, Where: l.where}
	same, part := sameText(e, l.line)
	switch {
	case l.digest != "":
		c.By = ByDigest
		if l.digest == e.Digest() {
			return c, true
		}
	case l.line.Bare || skills.Masked(l.line.Text):
		return c, false
	case same:
		c.Part = part
		return c, true
	}
	c.State = FileEdited
	if !l.line.Bare && !same && !skills.Masked(l.line.Text) {
		c.Seen, c.Now = l.line.Text, e.Full
		if cut, ok := strings.CutSuffix(c.Seen, "…"); ok && budget.Len16(e.Full) > budget.Len16(cut) {
			c.Part, c.Now = true, budget.Cut16(e.Full, budget.Len16(cut))+"…"
		}
	}
	return c, true
}

// sameText reports whether the log shows the text of an entry as the file has it, and
// whether that is only its beginning.
func sameText(e skills.Entry, l skills.ListedLine) (same, part bool) {
	if l.Bare {
		return false, false
	}
	if l.Text == e.Full {
		return true, false
	}
	if cut, ok := strings.CutSuffix(l.Text, "…"); ok && strings.HasPrefix(e.Full, cut) {
		return true, true
	}
	return l.Text == e.Text, true
}

// CompareBodies sets the skill files beside the bodies that the session was given.
// The checks of its replay have rendered the one for the other. A file that the
// session itself wrote is left out: its bodies show the texts of before and after.
func (f *Found) CompareBodies(r *replay.Result) {
	last := map[int]Compared{}
	for _, a := range r.Agents {
		for _, ch := range a.Checks {
			c := Compared{By: ByBody, State: FileSame, Where: ch.Where}
			switch {
			case ch.Kind != replay.CheckBody:
				continue
			case ch.Verdict == replay.Match:
			case ch.Expected == "" || ch.Observed == "":
				continue
			default:
				c.State, c.Seen, c.Now = FileEdited, ch.Observed, ch.Expected
			}
			i := f.fileOf(ch.Skill)
			if i < 0 || f.Skills[i].written {
				continue
			}
			if c.State == FileEdited && mayRender(f.Skills[i].body, c.Seen) {
				c.State = FileUnknown
			}
			if old, ok := last[i]; !ok || !c.Where.Time.Before(old.Where.Time) {
				last[i] = c
			}
		}
	}
	for i := range f.Skills {
		if c, ok := last[i]; ok {
			f.Skills[i].Compared = append(f.Skills[i].Compared, c)
		}
	}
	f.doubt(ByBody)
}

// fileOf is the one skill file that a name given by a caller can mean, by index; -1
// where there is none or more than one.
func (f *Found) fileOf(name string) int {
	at := -1
	for i := range f.Skills {
		k := &f.Skills[i]
		if k.Name != name && k.front != name {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// placeholder is what a client replaces in a body.
var placeholder = regexp.MustCompile("(?s)\\\\?\\$\\{[A-Za-z_]+\\}|\\\\?\\$[A-Za-z_0-9]+(?:\\[[0-9]+\\])?|!`[^`]*`|```!.*?```")

// baseLine is what stands before the body of a skill that has a folder.
var baseLine = regexp.MustCompile("^Base directory for this skill: [^\n]*\n\n")

// mayRender reports whether a body could have given a text under other arguments,
// folders and outputs of commands than those that the log tells: then a text that
// differs does not show that the file was edited.
func mayRender(body, seen string) bool {
	fixed := placeholder.Split(body, -1)
	rest, ok := strings.CutPrefix(baseLine.ReplaceAllLiteralString(seen, ""), fixed[0])
	if !ok {
		return false
	}
	const appended = "\n\nARGUMENTS: "
	for i, part := range fixed[1:] {
		if i == len(fixed)-2 && strings.HasSuffix(rest, part) {
			return true
		}
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			return false
		}
		rest = after
	}
	return rest == "" || strings.HasPrefix(rest, appended)
}
