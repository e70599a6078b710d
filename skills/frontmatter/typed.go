package frontmatter

import "strings"

// Get is the value of a key; of several, the last.
func (f Front) Get(key string) (Value, bool) {
	for i := len(f.Fields) - 1; i >= 0; i-- {
		if f.Fields[i].Key == key {
			return f.Fields[i].Value, true
		}
	}
	return Value{}, false
}

// Description is the description. Without one (ok false) the client takes the
// first line of the body, see [Fallback]. With ScalarOnly (recorded from 2.1.51) a
// list or a map counts as none, and so does white space alone; before, an empty
// text is a description, with ok true, although it is not shown.
func (f Front) Description(d Dialect) (text string, ok bool) {
	v, _ := f.Get("description")
	if v.Kind == Null {
		return "", false
	}
	if !d.ScalarOnly {
		return v.JS(), true
	}
	if v.Kind == List || v.Kind == Map {
		return "", false
	}
	text = trim(v.JS())
	return text, text != ""
}

// WhenToUse is when_to_use, not trimmed; a list is joined by commas (recorded from
// 2.0.77; fuzz 016, 035). ok says that it is shown: that there is a text or, with
// EmptyWhen, a list that may give none.
func (f Front) WhenToUse(d Dialect) (text string, ok bool) {
	v, _ := f.Get("when_to_use")
	text = v.JS()
	return text, text != "" || d.EmptyWhen && v.Kind == List
}

// Name is the name that the file gives itself, as it stands there.
func (f Front) Name() (string, bool) { return f.text("name") }

// Context, Agent, Model, Effort and Shell are the text of these keys; ok is false
// where there is none, or no single value.
func (f Front) Context() (string, bool) { return f.text("context") }

// Agent is the agent that a fork runs as.
func (f Front) Agent() (string, bool) { return f.text("agent") }

// Model is the model asked for.
func (f Front) Model() (string, bool) { return f.text("model") }

// Effort is the effort asked for.
func (f Front) Effort() (string, bool) { return f.text("effort") }

// Shell is the shell of inline commands.
func (f Front) Shell() (string, bool) { return f.text("shell") }

func (f Front) text(key string) (string, bool) {
	v, _ := f.Get(key)
	if v.Kind == Null || v.Kind == List || v.Kind == Map {
		return "", false
	}
	return v.Text, true
}

// Flag is the value of a yes-or-no key. A missing key is false, except
// user-invocable, which is true. True are the boolean and the text true in any
// case; with FlagWords (recorded (2.1.216,2.1.260]) also yes, on and 1, but never y.
func (f Front) Flag(key string, d Dialect) bool {
	v, ok := f.Get(key)
	if !ok {
		return key == "user-invocable"
	}
	return v.flag(d)
}

func (v Value) flag(d Dialect) bool {
	if v.Kind == List || v.Kind == Map {
		return false
	}
	switch strings.ToLower(trim(v.Text)) {
	case "true":
		return true
	case "yes", "on", "1":
		return d.FlagWords
	}
	return false
}

// Arguments are the names of the arguments: field: the texts of a list, or the
// words of a text, which is split at commas if it starts with "[" (a list that was
// quoted for the second try; fuzz 064, 068). Names of digits only are dropped.
func (f Front) Arguments(Dialect) (names []string) {
	v, _ := f.Get("arguments")
	var all []string
	switch v.Kind {
	case List:
		for _, item := range v.Items {
			if item.Kind == String {
				all = append(all, item.Text)
			}
		}
	case String:
		if t := trim(v.Text); strings.HasPrefix(t, "[") {
			all = strings.Split(strings.Trim(t, "[]"), ",")
		} else {
			all = strings.FieldsFunc(t, isSpace)
		}
	}
	for _, n := range all {
		if n = trim(n); strings.Trim(n, "0123456789") != "" {
			names = append(names, n)
		}
	}
	return names
}

// Tools, AllowedTools and Skills are lists of names, written as a list or as a
// text with commas; a comma in parentheses does not count. ok says that the key is
// there: an agent with an empty tools: has no tools, one without it has all.
func (f Front) Tools() (names []string, ok bool) { return f.names("tools") }

// AllowedTools are the permissions that a skill brings.
func (f Front) AllowedTools() (names []string, ok bool) { return f.names("allowed-tools") }

// Skills are the skills that an agent starts with.
func (f Front) Skills() (names []string, ok bool) { return f.names("skills") }

func (f Front) names(key string) (names []string, ok bool) {
	v, ok := f.Get(key)
	from := []Value{v}
	if v.Kind == List {
		from = v.Items
	}
	for _, item := range from {
		if item.Kind != String && item.Kind != Number && item.Kind != Bool {
			continue
		}
		for _, n := range split(item.Text, '(', ')') {
			if n = trim(n); n != "" {
				names = append(names, n)
			}
		}
	}
	return names, ok
}

// split cuts a text at the commas outside a pair of brackets.
func split(s string, open, shut byte) (parts []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == open:
			depth++
		case s[i] == shut:
			depth = max(depth-1, 0)
		case s[i] == ',' && depth == 0:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// maxPatterns bounds what braces can stand for, maxPattern the length in bytes of
// a pattern whose braces are written out.
const (
	maxPatterns = 1000
	maxPattern  = 4096
)

// Paths are the gitignore patterns that hold a skill back until a matching file is
// touched; nil if it is not held back: no paths, a form that the client does not
// read, or nothing but "**". A text is split at commas outside braces; {a,b} is
// written out; a "/**" at the end is dropped, since a folder matches what is in it.
func (f Front) Paths(d Dialect) (patterns []string) {
	v, _ := f.Get("paths")
	from := []Value{v}
	if v.Kind == List {
		if !d.PathsList {
			return nil
		}
		from = v.Items
	}
	some := false
	for _, item := range from {
		if item.Kind != String {
			continue
		}
		for _, p := range split(item.Text, '{', '}') {
			if len(patterns) >= maxPatterns {
				break
			}
			for _, q := range braces(trim(p)) {
				if q = strings.TrimSuffix(q, "/**"); q != "" && len(patterns) < maxPatterns {
					patterns = append(patterns, q)
					some = some || q != "**"
				}
			}
		}
	}
	if !some {
		return nil
	}
	return patterns
}

// braces writes out the alternatives of {a,b} groups, at most maxPatterns of them.
func braces(p string) []string {
	if len(p) > maxPattern {
		return []string{p}
	}
	done := []string{""}
	for p != "" {
		open := strings.IndexByte(p, '{')
		shut := -1
		if open >= 0 {
			shut = strings.IndexByte(p[open:], '}')
		}
		if shut < 0 {
			break
		}
		var next []string
		for _, head := range done {
			for _, alt := range strings.Split(p[open+1:open+shut], ",") {
				if len(next) < maxPatterns {
					next = append(next, head+p[:open]+trim(alt))
				}
			}
		}
		done, p = next, p[open+shut+1:]
	}
	for i := range done {
		done[i] += p
	}
	return done
}
