package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/replay"
)

// The states of a skill file beside what the session saw.
const (
	fileSame    = "same"
	fileEdited  = "edited"
	fileUnknown = "unknown"
)

// comparedByNothing stands where the log shows nothing of a skill.
const comparedByNothing = "nothing"

// SkillFile is a skill file as it was read for the prediction, beside what the
// session saw of it. An edited file is no divergence of the client.
type SkillFile struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// State is same, edited or unknown. A file is edited as soon as one comparison says
	// so; ComparedBy is what decided: digest, listing text, body or nothing.
	State      string         `json:"state"`
	ComparedBy string         `json:"compared_by"`
	Compared   []FileCompared `json:"compared"`
	// FrontMatter is what the session's client drops or changes of the front matter, and
	// Listed the text that its log shows of the skill: what it made of it.
	FrontMatter []FrontNote `json:"front_matter,omitempty"`
	Listed      *Text       `json:"listed,omitempty"`
	ListedLine  int         `json:"listed_line,omitempty"`
}

// FrontNote is one thing about a front matter that its author probably did not mean.
type FrontNote struct {
	Line int    `json:"line"` // of the file
	Kind string `json:"kind"`
	Key  string `json:"key,omitempty"`
	Text string `json:"text"`
}

// FileCompared is one comparison of a skill file. Digests and listing texts cover its
// description, bodies all that stands below that.
type FileCompared struct {
	By    string `json:"by"`
	State string `json:"state"`
	File  string `json:"file,omitempty"` // where it is not the session's main log
	Line  int    `json:"line,omitempty"`
	UUID  string `json:"uuid,omitempty"`
	// Part: the log shows only the beginning of the text.
	Part bool `json:"part,omitempty"`
	// Seen and Now are the two texts, where they are known and differ, and Diff shows
	// how one became the other.
	Seen *Text  `json:"seen,omitempty"`
	Now  *Text  `json:"now,omitempty"`
	Diff string `json:"diff,omitempty"`
}

// NewSkillFile makes the block of a skill file of a session whose main log is main.
func NewSkillFile(name, path, state, main string, compared []FileCompared) SkillFile {
	out := SkillFile{Name: name, Path: path, State: state, ComparedBy: comparedByNothing, Compared: append([]FileCompared{}, compared...)}
	for i := range out.Compared {
		c := &out.Compared[i]
		c.File = otherFile(c.File, main)
		if out.ComparedBy == comparedByNothing && c.State == state {
			out.ComparedBy = c.By
		}
	}
	return out
}

// NewFileCompared makes a comparison. The texts may be "", which stands for unknown
// where both are.
func NewFileCompared(by, state string, where replay.Where, part bool, seen, now string) FileCompared {
	c := FileCompared{By: by, State: state, File: where.File, Line: where.Line, UUID: where.UUID, Part: part}
	if seen != now {
		c.Seen, c.Now, c.Diff = new(Text(seen)), new(Text(now)), Diff(seen, now)
	}
	return c
}

// writeSkills says how many skill files are what the session saw, and which are not.
// A verbose style has a line for each.
func (s *ReplaySession) writeSkills(b *strings.Builder, style Style) {
	if len(s.SkillFiles) == 0 {
		return
	}
	var edited []string
	same, unknown := 0, 0
	for i := range s.SkillFiles {
		switch k := &s.SkillFiles[i]; k.State {
		case fileSame:
			same++
		case fileEdited:
			edited = append(edited, escapeAll([]string{k.Name})[0])
		default:
			unknown++
		}
	}
	var parts []string
	if same > 0 {
		parts = append(parts, count(same)+" as the session saw "+pronoun(same)+s.agreeing())
	}
	if len(edited) > 0 {
		parts = append(parts, style.paint(yellow, count(len(edited))+noBreak+"edited"+noBreak+"since")+": "+listAll(edited, style.limit(fewNames)))
	}
	if unknown > 0 {
		parts = append(parts, count(unknown)+" of which the log does not tell")
	}
	style.block(b, "SKILLS", plural(len(s.SkillFiles), "file")+": "+strings.Join(parts, "; "))
	for i := range s.SkillFiles {
		if style.Verbose {
			s.SkillFiles[i].write(b, style)
		}
	}
	s.writeFrontMatter(b, style)
}

// writeFrontMatter says file by file what the client drops or changes of the front
// matter, and what the log shows that it made of it.
func (s *ReplaySession) writeFrontMatter(b *strings.Builder, style Style) {
	all, shown := 0, 0
	for i := range s.SkillFiles {
		k := &s.SkillFiles[i]
		for _, n := range k.FrontMatter {
			all++
			if limit := style.limit(fewLines); limit > 0 && shown == limit {
				continue
			}
			shown++
			style.block(b, "", fmt.Sprintf("%s:%d: %s%s", style.shortPath(k.Path), n.Line, Escape(n.Text), k.listed(&n, style)))
		}
	}
	if all > shown {
		style.block(b, "", "and "+plural(all-shown, "more remark")+" on front matter: --verbose shows all")
	}
}

// aboutText are the kinds of remarks that bear on the listed text.
var aboutText = []string{"bom", "leading", "unclosed", "cut", "invalid", "continued", "crlf", "requoted", "comment", "dropped", "indicator", "ignored", "duplicate"}

// listed is what the log shows that the client made of a description.
func (k *SkillFile) listed(n *FrontNote, style Style) string {
	if !slices.Contains(aboutText, n.Kind) || n.Key != "" && n.Key != "description" && n.Key != "when_to_use" {
		return ""
	}
	const most = 60 // cells
	switch {
	case k.Listed != nil:
		return fmt.Sprintf("; listed as “%s” (line %d)", style.shorten(Escape(string(*k.Listed)), most), k.ListedLine)
	case n.Kind == "requoted":
		return "; what the client made of it is not in the log"
	}
	return ""
}

// agreeing counts by which means the files agree that are as the session saw them.
func (s *ReplaySession) agreeing() string {
	var parts []string
	for _, by := range []string{"digest", "listing text", "body"} {
		n := 0
		for i := range s.SkillFiles {
			k := &s.SkillFiles[i]
			if k.State == fileSame && slices.ContainsFunc(k.Compared, func(c FileCompared) bool { return c.By == by && c.State == fileSame }) {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, count(n)+" by "+by)
		}
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

func (k *SkillFile) write(b *strings.Builder, style Style) {
	var parts []string
	for _, c := range k.Compared {
		parts = append(parts, c.text())
	}
	if len(parts) == 0 {
		parts = []string{fileUnknown}
	}
	style.block(b, "", escapeAll([]string{k.Name})[0]+": "+strings.Join(parts, ", ")+" · "+style.shortPath(k.Path))
	for _, c := range k.Compared {
		if c.Diff != "" {
			style.exact(b, labelWidth+2, Escape(c.Diff))
		}
	}
}

// text is what a comparison says: edited by body (line 8).
func (c *FileCompared) text() string {
	text := Escape(c.State) + " by " + Escape(c.By)
	if c.Part {
		text += ", of which the log shows the beginning"
	}
	if c.Line > 0 {
		text += fmt.Sprintf(" (line %d)", c.Line)
	}
	return text
}
