package body

import (
	"strings"

	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

// Names are the argument names of an arguments: field: the words of a text, or
// the texts of a list. A text in brackets is taken for a list as well, which is
// what requoting makes of one (fuzz f064, f068). Mere numbers are no names.
func Names(field frontmatter.Value) []string {
	var candidates []string
	switch field.Kind {
	case frontmatter.List:
		for _, item := range field.Items {
			if item.Kind == frontmatter.String {
				candidates = append(candidates, item.Text)
			}
		}
	case frontmatter.Null, frontmatter.Map:
	default:
		text := strings.TrimFunc(field.Text, isBlank)
		if strings.HasPrefix(text, "[") {
			candidates = strings.Split(strings.Trim(text, "[]"), ",")
		} else {
			candidates = strings.FieldsFunc(text, isBlank)
		}
	}
	var names []string
	for _, name := range candidates {
		name = strings.TrimFunc(name, isBlank)
		if name != "" && digits(name) < len(name) {
			names = append(names, name)
		}
	}
	return names
}
