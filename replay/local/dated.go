package local

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/skills"
)

// Dated is what the date of a file tells beside the time of the session. A date is no
// proof that a file came late: git, cp and editors set new ones. That it is older than
// the session shows that nobody wrote the file since.
type Dated string

// The values. The empty one is that of a file whose date, or a session whose time, is
// not known.
const (
	DatedBefore Dated = "before"    // written last before the session began
	DatedDuring Dated = "during"    // while it ran
	DatedAfter  Dated = "after"     // after it ended
	Given       Dated = "given"     // given by hand as the session saw it, whatever its date is now
	Committed   Dated = "committed" // read as it was at a revision, whatever its date is now
)

// dated is what the date of a path tells. Of a copy a late date tells nothing, and who
// gives a folder by hand says that the session saw it so.
func (f *finding) dated(tree skills.Tree, path string, given bool) Dated {
	if t, ok := tree.(*revised); ok {
		if m, _ := t.mount(path); m != nil {
			return Committed
		}
	}
	info, err := tree.Stat(path)
	if err != nil || f.s.Start.IsZero() || info.ModTime().IsZero() {
		return ""
	}
	switch at := info.ModTime(); {
	case at.Before(f.s.Start):
		return DatedBefore
	case given:
		return Given
	case f.place != own:
		return ""
	case at.After(f.s.End):
		return DatedAfter
	}
	return DatedDuring
}

// dates notes what the dates of all skill files tell, and those of what looks like one.
func (f *finding) dates(tree skills.Tree, found skills.Found) {
	f.Dates = map[string]Dated{}
	for _, k := range found.Skills {
		f.Dates[k.Path] = f.dated(tree, k.Path, len(f.o.Skills) > 0 && k.Source == skills.Project)
	}
	for _, p := range found.Problems {
		if _, ok := f.Dates[p.Path]; !ok {
			f.Dates[p.Path] = f.dated(tree, p.Path, f.givenByHand(p.Path))
		}
	}
}

// givenByHand reports whether a path lies in a folder that was given.
func (f *finding) givenByHand(name string) bool {
	return slices.ContainsFunc(f.o.Skills, func(dir string) bool {
		abs, err := filepath.Abs(dir)
		return err == nil && (name == slashed(abs) || strings.HasPrefix(name, slashed(abs)+"/"))
	})
}

// TextOf is what is known of a whole skill file: FileSame where its date or a revision
// shows that nobody wrote it since, FileEdited where the log shows another text. What
// the log shows of a file that agrees is a part of it, and says nothing of the rest.
func (f *Found) TextOf(k *SkillFile) FileState {
	switch d := f.Dates[k.Path]; {
	case k.State() == FileEdited:
		return FileEdited
	case d == DatedBefore || d == Committed:
		return FileSame
	}
	return FileUnknown
}

// DescriptionOf is what is known of the description of a skill file, and of the name:
// what TextOf says, or else what the log shows of both.
func (f *Found) DescriptionOf(k *SkillFile) FileState {
	state := f.TextOf(k)
	for _, c := range k.Compared {
		if state == FileUnknown && c.State == FileSame && !c.Part && c.By != ByBody {
			return FileSame
		}
	}
	return state
}
