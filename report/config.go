package report

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// ConfigSchema names the form of a ConfigDocument.
const ConfigSchema = "skilltrace/config@1"

// ConfigDocument is the answer of the command config: the values that options have where
// none is given, and where each comes from.
type ConfigDocument struct {
	Schema      string           `json:"schema"`
	Files       []ConfigFile     `json:"files"`
	Options     []ConfigOption   `json:"options"`
	Environment []ConfigVariable `json:"environment"`
}

// ConfigFile is a file with defaults of options.
type ConfigFile struct {
	Kind string `json:"kind"` // project or user
	// Path is where it is; for a user without one, where it would be.
	Path  string `json:"path,omitempty"`
	Found bool   `json:"found"`
}

// The kinds of files, and the other sources of a value.
const (
	FromProject     = "project"
	FromUser        = "user"
	FromEnvironment = "environment"
	FromProgram     = "built_in"
)

// ConfigOption is an option with a value. It stands there once for each value that it
// has in some command.
type ConfigOption struct {
	Option string `json:"option"`
	// Value is a text, a number, a boolean or a list of texts; nil where the option is
	// not set.
	Value any    `json:"value,omitempty"`
	From  string `json:"from"`
	File  string `json:"file,omitempty"` // with its line
	Line  int    `json:"line,omitempty"`
	// Variable is the one of the environment that sets it.
	Variable string `json:"variable,omitempty"`
	// Commands are those for which the value holds; All that these are all which have
	// the option.
	Commands []string `json:"commands"`
	All      bool     `json:"all"`
	// ProjectMaySet says that a project's file can set the option, not only the user's.
	ProjectMaySet bool `json:"project_may_set"`
}

// ConfigVariable is a variable of the environment that the program looks at.
type ConfigVariable struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"` // not that of a secret
	Secret bool   `json:"secret,omitempty"`
	What   string `json:"what"` // what it does
}

// text is a value as it is typed; of paths, short ones.
func (o *ConfigOption) text(style Style) string {
	var words []string
	switch v := o.Value.(type) {
	case nil:
		return "-"
	case []string:
		words = slices.Clone(v)
	case []any:
		for _, word := range v {
			words = append(words, fmt.Sprint(word))
		}
	case float64: // a number of a document that was read
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		words = []string{fmt.Sprint(v)}
	}
	for i := range words {
		words[i] = style.shortPath(words[i])
	}
	return strings.Join(words, ", ")
}

// from says where a value comes from.
func (o *ConfigOption) from(style Style) string {
	switch o.From {
	case FromProject, FromUser:
		return style.shortPath(o.File) + ":" + strconv.Itoa(o.Line)
	case FromEnvironment:
		return "$" + Escape(o.Variable)
	}
	return "built in"
}

// parts are the options.
func (d *ConfigDocument) parts() ([]string, iter.Seq[part]) {
	return []string{"option", "value", "from", "file", "line", "variable", "commands", "project_may_set"}, partsOf(d.Options, func(o *ConfigOption) part {
		value := ""
		if o.Value != nil {
			value = o.text(Style{})
		}
		return part{o, []any{o.Option, value, o.From, o.File, known(o.Line), o.Variable, o.Commands, o.ProjectMaySet}}
	})
}

// WriteTable writes the files, a row for each value, and the variables that are set.
func (d *ConfigDocument) WriteTable(w io.Writer, style Style) error {
	var b strings.Builder
	g := grid{columns: []column{{title: "file"}, {title: "", shrink: 1, least: 20, tail: true}, {title: "", shrink: 2, least: 5}}}
	for i := range d.Files {
		f := &d.Files[i]
		whose := "the project's"
		if f.Kind == FromUser {
			whose = "yours"
		}
		set := map[int]bool{} // lines, of which one may set an option to the same in several rows
		for k := range d.Options {
			if d.Options[k].From == f.Kind {
				set[d.Options[k].Line] = true
			}
		}
		path, what := style.shortPath(f.Path), "there is none"
		if f.Found {
			what = "sets nothing that is not overruled"
			if len(set) > 0 {
				what = "sets " + plural(len(set), "value")
			}
		}
		if path == "" {
			path = "-"
		}
		g.add(whose, path, what)
	}
	if err := g.write(&b, style); err != nil {
		return err
	}
	b.WriteString("\n")
	g = grid{columns: []column{{title: "option"}, {title: "value", shrink: 2, least: 12, middle: true}, {title: "from", shrink: 1, least: 12, tail: true}, {title: "commands", shrink: 3, least: 8, drop: 1}}}
	single := len(d.Options) > 0 && !slices.ContainsFunc(d.Options, func(o ConfigOption) bool { return !slices.Equal(o.Commands, d.Options[0].Commands) })
	for i := range d.Options {
		o := &d.Options[i]
		commands := Escape(strings.Join(o.Commands, ", "))
		if o.All {
			commands = "all"
		}
		if single { // the command that was asked for
			commands = ""
		}
		g.add(Escape(o.Option), o.text(style), o.from(style), commands)
	}
	if err := g.write(&b, style); err != nil {
		return err
	}
	if len(d.Environment) > 0 {
		b.WriteString("\n")
		g = grid{columns: []column{{title: "variable"}, {title: "value", shrink: 2, least: 8, middle: true}, {title: "what it does", shrink: 1, least: 20}}}
		for _, v := range d.Environment {
			value := style.shortPath(v.Value)
			if v.Secret {
				value = "(set)"
			}
			g.add(Escape(v.Name), value, Escape(v.What))
		}
		if err := g.write(&b, style); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
