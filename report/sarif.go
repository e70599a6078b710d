package report

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// homepage is where the documentation of rules is read.
const homepage = "https://github.com/skilltrace/skilltrace"

// finding is something to look at, at a line of a file.
type finding struct {
	rule    sarifRule
	level   string // error, warning or note
	text    string
	file    string // as [Style.inWorkspace] writes it
	line    int    // 0 for the whole file
	partial string // what tells the finding apart when lines move
}

// The parts of SARIF 2.1.0 that are written.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string    `json:"id"`
	Short   sarifText `json:"shortDescription"`
	HelpURI string    `json:"helpUri"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints,omitempty"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI    string `json:"uri"`
	BaseID string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

// writeSARIF writes findings in the Static Analysis Results Interchange Format, version
// 2.1.0. Their texts are of logs: they are escaped as for a terminal.
func writeSARIF(w io.Writer, findings []finding) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "skilltrace", InformationURI: homepage, Rules: []sarifRule{}}}, ColumnKind: "utf16CodeUnits", Results: []sarifResult{}}
	at := map[string]int{}
	for i := range findings {
		f := &findings[i]
		index, ok := at[f.rule.ID]
		if !ok {
			index = len(run.Tool.Driver.Rules)
			at[f.rule.ID] = index
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, f.rule)
		}
		r := sarifResult{RuleID: f.rule.ID, RuleIndex: index, Level: f.level, Message: sarifText{Escape(f.text)}}
		if f.file != "" {
			// Readers that mark code want a line also where the whole file is meant.
			r.Locations = []sarifLocation{{sarifPhysical{sarifURI(f.file), sarifRegion{max(f.line, 1)}}}}
		}
		if f.partial != "" {
			r.Fingerprints = map[string]string{"skilltrace/v1": Escape(f.partial)}
		}
		run.Results = append(run.Results, r)
	}
	return WriteJSON(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// sarifURI names a file: one in the workspace relative to it.
func sarifURI(file string) sarifArtifact {
	switch {
	case path.IsAbs(file):
		return sarifArtifact{URI: "file://" + uriPath(file)}
	case len(file) > 2 && file[1:3] == ":/": // a drive of Windows
		return sarifArtifact{URI: "file:///" + uriPath(file)}
	}
	uri := uriPath(file)
	if first, _, _ := strings.Cut(uri, "/"); strings.Contains(first, ":") {
		uri = "./" + uri // else the name would be a scheme
	}
	return sarifArtifact{URI: uri, BaseID: "%SRCROOT%"}
}

// uriPath writes a path as that of a URI: what has no place in one as its bytes in hex.
func uriPath(file string) string {
	var b strings.Builder
	for i := range len(file) {
		switch c := file[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/:@!$&'()*+,;=", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// ruleOf describes a rule of a client by its key, with its chapter of the reference.
func ruleOf(key string) sarifRule {
	group, _, _ := strings.Cut(key, ".")
	r := sarifRule{ID: Escape(key), Short: sarifText{Escape(key)}, HelpURI: homepage + "/blob/main/docs/rules.md"}
	if k, ok := rules.KeyNamed(key); ok {
		r.Short.Text = k.Meaning
	}
	for _, g := range rules.Groups() {
		if g.Name == group {
			r.HelpURI += "#" + Anchor(g.Title)
		}
	}
	return r
}

// Anchor is the fragment by which a heading of a page on GitHub is linked.
func Anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// findings are the divergences, those under rules that are not known to hold as
// warnings, and the defects of the logs as notes: what is undetermined is none.
func (d *ReplayDocument) findings(style Style) []finding {
	var out []finding
	for c := range d.eachCheck() {
		if c.Verdict != string(replay.Divergent) {
			continue
		}
		f := finding{rule: sarifRule{ID: "check." + Escape(c.Kind), Short: sarifText{"what the client told the model differs from its rules: " + Escape(c.Kind)}, HelpURI: homepage + "/blob/main/docs/verdicts.md"},
			level: "error", text: c.name() + ": " + c.words(), file: style.inWorkspace(c.File), line: c.Line, partial: strings.Join([]string{c.Session, c.Agent, c.Kind, c.Skill, c.Rule, c.UUID}, " ")}
		if c.Rule != "" {
			f.rule = ruleOf(c.Rule)
		}
		if c.Unconfirmed {
			f.level = "warning"
			f.text += "; unconfirmed, as the rules are not known to hold for this version"
		}
		out = append(out, f)
	}
	for i := range d.Sessions {
		s := &d.Sessions[i]
		for _, x := range s.Defects {
			file := s.File
			if x.File != "" {
				file = x.File
			}
			text := x.Reason
			if x.Lost {
				text += "; the line is lost"
			}
			out = append(out, finding{rule: sarifRule{ID: "log." + Escape(x.Kind), Short: sarifText{"a damaged line of a log: " + Escape(x.Kind)}, HelpURI: homepage + "/blob/main/docs/verdicts.md"},
				level: "note", text: text, file: style.inWorkspace(file), line: x.Line, partial: fmt.Sprintf("%s %s %d", s.ID, x.Kind, x.Line)})
		}
	}
	return out
}

// listingRules are what a listing may do to a skill, by the form of its entry.
var listingRules = map[string]struct{ level, text, group string }{
	"shortened":  {"warning", "the description of a skill is not shown whole", "entry."},
	"name_only":  {"warning", "a skill is listed by its name only", "budget."},
	"absent":     {"error", "a skill has no room in the listing", "budget."},
	"not_listed": {"note", "a file holds no skill that is listed", "discovery."},
}

// findings are the skills of files that the model does not see whole.
func (d *ListingDocument) findings(style Style) []finding {
	var out []finding
	add := func(form, name, file, text string) {
		k := listingRules[form]
		r := ruleOf(k.group)
		r.ID, r.Short.Text = "listing/"+form, k.text
		out = append(out, finding{rule: r, level: k.level, text: strings.TrimPrefix(name+": "+text, ": "), file: style.inWorkspace(file), partial: form + " " + name})
	}
	for i := range d.Entries {
		e := &d.Entries[i]
		if e.Own || !slices.Contains([]string{"shortened", "name_only", "absent"}, e.Form) {
			continue
		}
		text := formWords(e.Form)
		if n := e.cut(); n > 0 {
			text += ", " + plural(n, "character") + " cut"
		}
		if why := causeWords(e); why != "" {
			text += " (" + why + ")"
		}
		add(e.Form, e.Name, e.File, text)
	}
	for i := range d.NotListed {
		o := &d.NotListed[i]
		add("not_listed", o.Name, o.File, o.Reason)
	}
	return out
}
