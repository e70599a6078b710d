package body

import (
	"slices"
	"testing"

	"github.com/skilltrace/skilltrace/skills/frontmatter"
)

func TestNames(t *testing.T) {
	text := func(s string) frontmatter.Value { return frontmatter.Value{Kind: frontmatter.String, Text: s} }
	list := func(items ...frontmatter.Value) frontmatter.Value {
		return frontmatter.Value{Kind: frontmatter.List, Items: items}
	}
	for _, test := range []struct {
		field frontmatter.Value
		want  []string
	}{
		{frontmatter.Value{}, nil},
		{text(""), nil},
		{text("first second"), []string{"first", "second"}},
		{text(" first\n second 3"), []string{"first", "second"}},
		{text("[a, b]"), []string{"a", "b"}},
		{text("a, b"), []string{"a,", "b"}},
		{list(text("a b"), text(" c "), text(""), text("4"), list(text("d"))), []string{"a b", "c"}},
		{list(frontmatter.Value{Kind: frontmatter.Number, Text: "1.5"}), nil},
		{frontmatter.Value{Kind: frontmatter.Number, Text: "7"}, nil},
		{frontmatter.Value{Kind: frontmatter.Map}, nil},
	} {
		if got := Names(test.field); !slices.Equal(got, test.want) {
			t.Errorf("%+v: got %q, want %q", test.field, got, test.want)
		}
	}
}
