package frontmatter

import "strings"

// Kind is the type of a value.
type Kind uint8

// The kinds of YAML values.
const (
	Null Kind = iota
	String
	Bool
	Number
	List
	Map
)

// Value is a value of the block. Text holds a string as it is, and any other
// scalar the way JavaScript prints it ("1.1", "true", "" for null).
type Value struct {
	Kind  Kind
	Text  string
	Items []Value // List
	Keys  []string
	Vals  []Value // Map, parallel to Keys
}

// maxJS bounds the text of one value, in bytes: aliases can make a short block
// stand for a very long text.
const maxJS = 1 << 24

// JS is the value as JavaScript's String() prints it: lists joined by commas,
// null as nothing, a map as "[object Object]".
func (v Value) JS() string {
	switch v.Kind {
	case Null:
		return ""
	case Map:
		return "[object Object]"
	case List:
		var b strings.Builder
		v.join(&b, 0)
		return b.String()
	}
	return v.Text
}

func (v Value) join(b *strings.Builder, depth int) {
	if depth > maxDepth {
		return
	}
	for i, item := range v.Items {
		if b.Len() > maxJS {
			return
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if item.Kind == List {
			item.join(b, depth+1)
		} else {
			b.WriteString(item.JS())
		}
	}
}

// Field is one key of the block with its line in the file (from 1).
type Field struct {
	Key   string
	Value Value
	Line  int
}

// Front is a block as read. Present says that a block was found, Requoted that
// the second try was needed, Problem why the block was lost (then Fields is empty).
type Front struct {
	Present  bool
	Requoted bool
	Problem  string
	Line     int // of the problem, in the file, from 1; 0 if unknown
	Fields   []Field
}
