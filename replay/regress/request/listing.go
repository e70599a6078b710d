package request

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// Listing is a list of skills that stands in a request.
type Listing struct {
	Where   replay.Where
	Text    string // as the log's attachment holds it, without the header
	Initial bool   // the whole catalogue, not only what was new
}

// ReplaceListing puts another list of skills in the place of one that stands in the
// request, and reports how many times it stood there: in a message, behind the result of
// a tool, in a message of the role system or in the definition of a tool. Both are whole
// listings as the log's attachments hold them. With an empty one the client's note goes
// altogether. A text that only contains the old one, such as a longer listing, is left
// alone.
func (r *Request) ReplaceListing(old, text string) (n int) {
	if old == "" {
		return 0
	}
	old, text = budget.ReplaceLone(old), budget.ReplaceLone(text)
	for i, m := range r.Messages {
		v := jsonl.Value(m)
		if v.Get("role").Text() == "assistant" {
			continue
		}
		content, k := rewritten(v.Get("content"), 0, func(s string) (string, int) { return swapped(s, old, text, false) })
		if k > 0 {
			r.Messages[i] = json.RawMessage(message(v.Get("role").Text(), withoutEmpty(content), v.Get("output_config")))
			n += k
		}
	}
	for _, part := range []*json.RawMessage{&r.System, &r.Tools} {
		v, k := rewritten(jsonl.Value(*part), 0, func(s string) (string, int) { return swapped(s, old, text, true) })
		if k > 0 {
			*part, n = json.RawMessage(v), n+k
		}
	}
	if n > 0 {
		r.Messages = slices.DeleteFunc(r.Messages, func(m json.RawMessage) bool { return isEmpty(jsonl.Value(m)) })
		r.Exact = false
		for i := range r.Listings {
			if budget.ReplaceLone(r.Listings[i].Text) == old {
				r.Listings[i].Text = text
			}
		}
		r.Listings = slices.DeleteFunc(r.Listings, func(l Listing) bool { return l.Text == "" })
	}
	return n
}

// AddListing puts one more list of skills into the request, as the client tells of new
// ones: before the last prompt, behind the last result, or in the last message of the
// role system; of clients that have the catalogue in the Skill tool, into its
// description; where no listing stands yet, before the first prompt.
func (r *Request) AddListing(text string) {
	if text == "" {
		return
	}
	text = budget.ReplaceLone(text)
	r.Exact = false
	first := len(r.Listings) == 0
	r.Listings = append(r.Listings, Listing{Text: text, Initial: first})
	if r.inTool {
		r.addToTool(text)
		return
	}
	at := -1
	for i, m := range r.Messages {
		if jsonl.Value(m).Get("role").Text() == "user" && (at < 0 || !first) {
			at = i
		}
	}
	note := listingNote(text)
	if r.system {
		told := quote(note)
		if !r.tagged {
			told = quote(untagged(note))
		}
		if next := at + 1; next < len(r.Messages) && jsonl.Value(r.Messages[next]).Get("role").Text() == "system" {
			v := jsonl.Value(r.Messages[next])
			var parts []jsonl.Value
			for block := range blocks(v.Get("content")) {
				parts = append(parts, block.Get("text"))
			}
			content := array([]jsonl.Value{textBlock(joined("\n\n", append(parts, told)...))})
			r.Messages[next] = json.RawMessage(message("system", content, v.Get("output_config")))
			return
		}
		m := json.RawMessage(message("system", array([]jsonl.Value{textBlock(told)}), nil))
		r.Messages = slices.Insert(r.Messages, at+1, m)
		return
	}
	block := quote(note)
	if at < 0 {
		r.Messages = slices.Insert(r.Messages, 0, json.RawMessage(message("user", array([]jsonl.Value{textBlock(block)}), nil)))
		return
	}
	v := jsonl.Value(r.Messages[at])
	var all []jsonl.Value
	results := 0
	for b := range blocks(v.Get("content")) {
		if b.Get("type").Text() == "tool_result" {
			results++
		}
		all = append(all, b)
	}
	folded := false
	if results > 0 {
		if with, ok := intoResult(all[results-1], block, true); ok {
			all[results-1], folded = with, true
		}
	}
	if !folded {
		all = slices.Insert(all, results, textBlock(block))
	}
	r.Messages[at] = json.RawMessage(message("user", array(all), nil))
}

// listingNote is a list of skills as a note of the client.
func listingNote(text string) string {
	return reminderOpen + rules.ListingHeader + "\n\n" + text + reminderClose
}

// addToTool puts a list into the description of the Skill tool.
func (r *Request) addToTool(text string) {
	var out []jsonl.Value
	for t := range jsonl.Value(r.Tools).Items() {
		if t.Get("name").Text() == "Skill" {
			with := jsonl.Value{'{'}
			for name, v := range t.Members() {
				if len(with) > 1 {
					with = append(with, ',')
				}
				if name == "description" {
					v = joined("\n\n", v, quote(text))
				}
				with = append(append(append(append(with, '"'), name...), '"', ':'), v...)
			}
			t = append(with, '}')
		}
		out = append(out, t)
	}
	r.Tools = json.RawMessage(array(out))
}

// swapped puts another listing in the place of one wherever it stands whole: behind the
// header, up to the end of the note or a blank line. In the definition of a tool, or a
// system prompt, it stands on lines of its own.
func swapped(s, old, text string, anywhere bool) (string, int) {
	if !strings.Contains(s, old) {
		return s, 0
	}
	var out strings.Builder
	n, from := 0, 0
	for {
		i := strings.Index(s[from:], old)
		if i < 0 {
			break
		}
		start := from + i
		end := start + len(old)
		before, after := s[:start], s[end:]
		whole := strings.HasSuffix(before, rules.ListingHeader+"\n\n") && (after == "" || strings.HasPrefix(after, reminderClose) || strings.HasPrefix(after, "\n\n"))
		if anywhere {
			whole = (before == "" || strings.HasSuffix(before, "\n")) && (after == "" || strings.HasPrefix(after, "\n")) && !strings.HasPrefix(after, "\n- ")
		}
		if !whole {
			out.WriteString(s[from : start+1])
			from = start + 1
			continue
		}
		n++
		head := s[from:start]
		if text == "" && !anywhere {
			head = strings.TrimSuffix(head, rules.ListingHeader+"\n\n")
			if opened, ok := strings.CutSuffix(head, reminderOpen); ok && strings.HasPrefix(after, reminderClose) {
				head = strings.TrimSuffix(opened, "\n\n")
				end += len(reminderClose)
				if s[end:] == "\n" {
					end++
				}
			} else if strings.HasPrefix(after, "\n\n") {
				end += 2
			} else {
				head = strings.TrimSuffix(head, "\n\n")
			}
		}
		out.WriteString(head)
		out.WriteString(text)
		from = end
	}
	if n == 0 {
		return s, 0
	}
	out.WriteString(s[from:])
	return out.String(), n
}

// rewritten is a value whose strings, names of members apart, were given to edit, and
// how often that found something. Only what changed is written anew.
func rewritten(v jsonl.Value, depth int, edit func(string) (string, int)) (jsonl.Value, int) {
	if depth > maxDepth {
		return v, 0
	}
	total := 0
	switch v.Kind() {
	case jsonl.ValueString:
		s, n := edit(v.Text())
		if n == 0 {
			return v, 0
		}
		return accepted(quote(s)), n
	case jsonl.ValueArray:
		var items []jsonl.Value
		for item := range v.Items() {
			with, n := rewritten(item, depth+1, edit)
			items = append(items, with)
			total += n
		}
		if total > 0 {
			return array(items), total
		}
	case jsonl.ValueObject:
		out := jsonl.Value{'{'}
		for name, member := range v.Members() {
			with, n := rewritten(member, depth+1, edit)
			total += n
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(append(out, '"'), name...), '"', ':'), with...)
		}
		if total > 0 {
			return append(out, '}'), total
		}
	}
	return v, 0
}

// withoutEmpty is a content without text blocks that have no text, which the API
// refuses.
func withoutEmpty(content jsonl.Value) jsonl.Value {
	if content.Kind() != jsonl.ValueArray {
		return content
	}
	var out []jsonl.Value
	for b := range content.Items() {
		if b.Get("type").Text() != "text" || b.Get("text").Text() != "" {
			out = append(out, b)
		}
	}
	return array(out)
}

// isEmpty reports whether a message says nothing, not even how hard to think.
func isEmpty(m jsonl.Value) bool {
	if m.Get("output_config") != nil {
		return false
	}
	switch c := m.Get("content"); c.Kind() {
	case jsonl.ValueString:
		return c.Text() == ""
	case jsonl.ValueArray:
		for range c.Items() {
			return false
		}
	}
	return true
}
