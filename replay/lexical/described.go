package lexical

import "strings"

// Described is the document of a skill: its name and description, in which what says
// when to use it counts more. Listings hold both in one text, so the sentences are told
// apart by how they begin.
func Described(name, description string) Document {
	d := Document{Text: name}
	for _, sentence := range sentences(description) {
		if saysWhen(sentence) {
			d.Emphasis += " " + sentence
		} else {
			d.Text += " " + sentence
		}
	}
	return d
}

// sentences are the parts of a text, by full stops, line breaks and the dash that
// clients put between a description and when to use it.
func sentences(text string) []string {
	var out []string
	for _, sep := range []string{" - ", ". ", "! ", "? ", "; ", "。", "；"} {
		text = strings.ReplaceAll(text, sep, "\n")
	}
	for s := range strings.SplitSeq(text, "\n") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// whenOpenings begin sentences that say when a skill is to be used.
var whenOpenings = []string{"use ", "used ", "when ", "whenever ", "trigger", "invoke ", "call this", "should be used", "this skill should", "applies when", "activate",
	"使用", "用于", "当", "在用户", "适用", "使う", "사용"}

func saysWhen(sentence string) bool {
	s := strings.ToLower(strings.TrimLeft(sentence, "*_`\"' "))
	for _, opening := range whenOpenings {
		if strings.HasPrefix(s, opening) {
			return true
		}
	}
	return strings.Contains(s, "use when") || strings.Contains(s, "use this skill")
}
