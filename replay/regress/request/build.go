package request

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skilltrace/skilltrace/budget"
	"github.com/skilltrace/skilltrace/jsonl"
	"github.com/skilltrace/skilltrace/replay/rules"
)

// form is what differs from version to version, and from model to model, in how a client
// puts records into messages. Each field is recorded: see the counts of the tests.
type form struct {
	inTool  bool // the catalogue stands in the Skill tool's description
	parts   bool // reminders go into a result that is a list of parts too
	system  bool // reminders stand in messages of their own, without tags
	tagged  bool // these keep their tags
	earlier bool // bodies put back are said to be of earlier in the session
}

// piece is a part of the conversation on its way into a message.
type piece struct {
	role   string // user, assistant, system
	blocks []jsonl.Value
	text   jsonl.Value // of a message whose content is one string
	result bool        // holds results of tools
	note   bool        // of the client
	typed  bool        // by the user
	beside bool        // not to be put into a result
	more   bool        // more of the same attachment follows
	turn   string      // id of the reply
	effort string
	line   int
	model  string
	own    bool // the log holds the record of the request that it answers, or of none
}

// builder makes the messages of a conversation.
type builder struct {
	form    form
	pieces  []piece
	own     func(ref string) bool
	missing map[string]bool // types of attachments whose text is not in the log
	model   string
	since   int // the line behind which the process sent its first request of this conversation
}

// put adds a record.
func (b *builder) put(it *item) {
	if it.boundary {
		b.since = max(b.since, it.line)
		return
	}
	switch it.kind {
	case jsonl.KindUser:
		b.user(it)
	case jsonl.KindAssistant:
		if it.failed {
			return
		}
		p := piece{role: "assistant", turn: it.turn, effort: it.effort, line: it.line, model: it.model, own: b.own(it.ref)}
		for block := range blocks(it.content) {
			p.blocks = append(p.blocks, block)
		}
		b.pieces = append(b.pieces, p)
	case jsonl.KindAttachment:
		b.attachment(it.note)
	case jsonl.KindSystem:
		if it.subtype == "local_command" && it.text != "" {
			b.pieces = append(b.pieces, piece{role: "user", text: accepted(quote(it.text)), blocks: []jsonl.Value{textBlock(accepted(quote(it.text)))}})
		}
	}
}

// blocks are the blocks of a content; a string is one.
func blocks(content jsonl.Value) func(func(jsonl.Value) bool) {
	return func(yield func(jsonl.Value) bool) {
		switch content.Kind() {
		case jsonl.ValueString:
			yield(textBlock(accepted(content)))
		case jsonl.ValueArray:
			for block := range content.Items() {
				if block.Kind() == jsonl.ValueString {
					block = textBlock(block)
				}
				if !yield(accepted(block)) {
					return
				}
			}
		}
	}
}

func (b *builder) user(it *item) {
	p := piece{role: "user", result: len(it.results) > 0, typed: !it.meta && len(it.results) == 0}
	if it.content.Kind() == jsonl.ValueString {
		p.text = accepted(it.content)
	}
	for block := range blocks(it.content) {
		p.blocks = append(p.blocks, block)
	}
	if len(p.blocks) > 0 {
		if strings.HasPrefix(p.blocks[0].Get("text").Text(), "<task-notification>") {
			b.missing["how a background task ended (its preface)"] = true
		}
		b.pieces = append(b.pieces, p)
	}
}

const (
	reminderOpen  = "<system-reminder>\n"
	reminderClose = "\n</system-reminder>"
)

// attachment adds what the client told the model.
func (b *builder) attachment(n *note) {
	if n == nil {
		return
	}
	add := func(texts ...jsonl.Value) {
		for i, t := range texts {
			p := piece{role: "user", note: true, beside: n.beside, more: i+1 < len(texts)}
			if b.form.system && n.role != "user" {
				p.role = "system"
			}
			p.blocks = []jsonl.Value{textBlock(accepted(t))}
			b.pieces = append(b.pieces, p)
		}
	}
	if n.hasRendered && n.cut == 0 && n.missing == 0 && len(n.sent) > 0 {
		for i, s := range n.sent {
			p := piece{role: "user", note: true, beside: n.beside, more: i+1 < len(n.sent)}
			if s.Kind() == jsonl.ValueString {
				p.text = accepted(s)
				if b.form.system && n.role != "user" {
					p.role = "system"
				}
			}
			for block := range blocks(s) {
				p.blocks = append(p.blocks, block)
			}
			b.pieces = append(b.pieces, p)
		}
		return
	}
	switch n.typ {
	case "skill_listing":
		add(quote(reminderOpen + rules.ListingHeader + "\n\n" + n.content + reminderClose))
	case "total_tokens_reminder":
		add(quote(reminderOpen + n.content + reminderClose))
	case "invoked_skills":
		var s strings.Builder
		s.WriteString(reminderOpen)
		if b.form.earlier {
			s.WriteString(rules.ReminderEarlier + ":\n\n")
			b.missing["how the skills put back are introduced (in part)"] = true
		} else {
			s.WriteString(rules.ReminderInvoked)
		}
		for i, k := range n.skills {
			if i > 0 {
				s.WriteString("\n\n---\n\n")
			}
			s.WriteString("### Skill: " + k.Name + "\nPath: " + k.Path + "\n\n" + k.Content)
		}
		s.WriteString(reminderClose)
		add(quote(s.String()))
	case "queued_command":
		if n.prompt != "" {
			add(quote(reminderOpen + "The user wrote this while you were at work:\n" + n.prompt + reminderClose))
			b.missing["what the user wrote meanwhile (its preface; ours stands in)"] = true
		}
		if n.images > 0 {
			b.missing["images that the user sent meanwhile"] = true
		}
	default:
		if n.hasRendered || spoken[n.typ] {
			b.missing[n.typ] = true
		}
	}
}

// spoken are attachments of clients that do not record what they rendered of them,
// and of which the model is told something. Their texts are the vendor's.
var spoken = map[string]bool{
	"agent_listing_delta": true, "auto_mode": true, "date_change": true, "deferred_tools_delta": true,
	"diagnostics": true, "dynamic_skill": true, "edited_text_file": true, "file": true,
	"hook_additional_context": true, "hook_success": true, "mcp_instructions_delta": true,
	"nested_memory": true, "plan_mode": true, "plan_mode_exit": true, "task_reminder": true,
	"task_status": true, "todo_reminder": true,
}

// messages are the messages that the pieces make.
func (b *builder) messages(effort string) []jsonl.Value {
	pieces := raised(b.paired(gathered(b.pieces)))
	var out []jsonl.Value
	if len(pieces) > 0 && pieces[0].role == "assistant" {
		// The log begins in the middle; the API wants a user's message first.
		b.missing["what was said before the log begins"] = true
		out = append(out, message("user", quote("(What was said before is not known.)"), nil))
	}
	inForce := ""
	for i := 0; i < len(pieces); {
		if pieces[i].role == "assistant" {
			j := i
			var all []jsonl.Value
			for j < len(pieces) && pieces[j].role == "assistant" && pieces[j].turn == pieces[i].turn {
				all = append(all, pieces[j].blocks...)
				j++
			}
			out = append(out, message("assistant", array(all), nil))
			i = j
			continue
		}
		j := i
		for j < len(pieces) && pieces[j].role != "assistant" {
			j++
		}
		next := effort
		if j < len(pieces) {
			next = cmp.Or(pieces[j].effort, effort)
		}
		var config jsonl.Value
		if next != "" && next != inForce {
			config = append(append(jsonl.Value(`{"effort":`), quote(next)...), '}')
			inForce = next
		}
		out = append(out, b.turn(pieces[i:j], config, j == len(pieces) || b.sawEnd(&pieces[j]))...)
		i = j
	}
	return out
}

// gathered puts the parts of a reply together: newer clients write each where its
// results begin.
func gathered(pieces []piece) []piece {
	first := map[string]int{}
	out := make([]piece, 0, len(pieces))
	for _, p := range pieces {
		if p.typed {
			clear(first) // nothing of a reply stands behind the next prompt
		}
		if p.role == "assistant" && p.turn != "" {
			if i, ok := first[p.turn]; ok {
				out[i].blocks = append(out[i].blocks, p.blocks...)
				continue
			}
			first[p.turn] = len(out)
		}
		out = append(out, p)
	}
	return out
}

// sawEnd reports whether the process that makes the request also made the one that
// a reply answers, in the same form.
func (b *builder) sawEnd(reply *piece) bool {
	return reply.line > b.since && reply.own && systemModel(reply.model) == systemModel(b.model)
}

// paired leaves out what the API refuses: calls without a result before the next reply,
// as a process that was killed leaves them, results without such a call, texts of nothing
// but blanks, and replies of nothing but thinking.
func (b *builder) paired(pieces []piece) []piece {
	type place struct {
		piece int
		id    string
	}
	answered := map[place]bool{} // calls and results that belong together
	var calls map[string]int     // those of the replies in hand that wait for a result
	for i := range pieces {
		if pieces[i].role == "assistant" && (i == 0 || pieces[i-1].role != "assistant") {
			calls = map[string]int{}
		}
		for _, block := range pieces[i].blocks {
			switch block.Get("type").Text() {
			case "tool_use":
				if pieces[i].role == "assistant" {
					calls[block.Get("id").Text()] = i
				}
			case "tool_result":
				id := block.Get("tool_use_id").Text()
				if call, ok := calls[id]; ok && pieces[i].role == "user" {
					answered[place{call, id}], answered[place{i, id}] = true, true
					delete(calls, id)
				}
			}
		}
	}
	for i := range pieces {
		kept := pieces[i].blocks[:0:0]
		for _, block := range pieces[i].blocks {
			id := ""
			switch block.Get("type").Text() {
			case "text":
				if strings.TrimSpace(block.Get("text").Text()) == "" {
					continue
				}
				kept = append(kept, block)
				continue
			case "tool_use":
				id = block.Get("id").Text()
			case "tool_result":
				id = block.Get("tool_use_id").Text()
			default:
				if block, ok := b.sendable(block); ok {
					kept = append(kept, block)
				}
				continue
			}
			if at := (place{i, id}); answered[at] {
				delete(answered, at) // each once
				block, _ = b.sendable(block)
				kept = append(kept, block)
			}
		}
		pieces[i].blocks = kept
	}
	return slices.DeleteFunc(pieces, func(p piece) bool { return len(p.blocks) == 0 || p.role == "assistant" && onlyThinking(p.blocks) })
}

// sendable is a block as the API takes it. A log that was cut down for sharing can lack
// what makes one: thinking without its signature is left out, and a text of ours stands
// for an image that is not there.
func (b *builder) sendable(block jsonl.Value) (jsonl.Value, bool) {
	switch block.Get("type").Text() {
	case "thinking":
		return block, block.Get("signature").Kind() == jsonl.ValueString
	case "redacted_thinking":
		return block, block.Get("data").Kind() == jsonl.ValueString
	case "image", "document":
		if block.Get("source").Kind() == jsonl.ValueObject {
			return block, true
		}
		b.missing["images and documents"] = true
		return textBlock(quote("(An image or a document stood here.)")), true
	case "tool_result":
		content := block.Get("content")
		if content.Kind() != jsonl.ValueArray {
			return block, true
		}
		var parts []jsonl.Value
		changed := false
		for part := range content.Items() {
			sent, ok := b.sendable(part)
			changed = changed || !ok || len(sent) != len(part)
			if ok {
				parts = append(parts, sent)
			}
		}
		if !changed {
			return block, true
		}
		out := jsonl.Value{'{'}
		for name, v := range block.Members() {
			if len(out) > 1 {
				out = append(out, ',')
			}
			if name == "content" {
				v = array(parts)
			}
			out = append(append(append(append(out, '"'), name...), '"', ':'), v...)
		}
		return append(out, '}'), true
	}
	return block, true
}

func onlyThinking(blocks []jsonl.Value) bool {
	return !slices.ContainsFunc(blocks, func(b jsonl.Value) bool {
		kind := b.Get("type").Text()
		return kind != "thinking" && kind != "redacted_thinking"
	})
}

// raised puts the client's notes where it sends them: behind the last reply or result
// before them (recorded: all versions that log attachments).
func raised(pieces []piece) []piece {
	out := make([]piece, 0, len(pieces))
	var notes []piece // last first
	for i := len(pieces) - 1; i >= 0; i-- {
		p := pieces[i]
		switch {
		case p.note:
			notes = append(notes, p)
			continue
		case p.role == "assistant" || p.result:
			out = append(out, notes...)
			notes = notes[:0]
		}
		out = append(out, p)
	}
	out = append(out, notes...)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// turn makes the messages between two replies. The last one of a request is a list of
// blocks, and stays one in later requests of the process: ended says that there was one
// that ended here. Elsewhere one text is sent as a string.
func (b *builder) turn(pieces []piece, config jsonl.Value, ended bool) []jsonl.Value {
	var out, results, texts, told []jsonl.Value
	var whole jsonl.Value // the content where it is one string
	count := 0
	prevText := false
	for _, p := range pieces {
		if p.role == "system" {
			for _, block := range p.blocks {
				text := block.Get("text")
				if !b.form.tagged {
					text = quote(untagged(text.Text()))
				}
				told = append(told, text)
			}
			continue
		}
		if count == 0 && p.note && p.more {
			// Where no message stands yet to put them into, the parts of an attachment but
			// the last are messages of their own.
			content := p.text
			if content == nil {
				content = array(p.blocks)
			}
			out = append(out, message("user", content, nil))
			continue
		}
		count++
		whole = p.text
		for k, block := range p.blocks {
			kind := block.Get("type").Text()
			if kind == "tool_result" {
				results = append(results, block)
				continue
			}
			isText := kind == "text"
			if p.note && !p.beside && isText && len(results) > 0 && len(texts) == 0 {
				if folded, ok := intoResult(results[len(results)-1], block.Get("text"), b.form.parts); ok {
					results[len(results)-1] = folded
					continue
				}
			}
			if k == 0 && !p.note && isText && prevText && len(texts) > 0 {
				t := texts[len(texts)-1]
				texts[len(texts)-1] = textBlock(joined("", t.Get("text"), quote("\n")))
			}
			texts = append(texts, block)
			prevText = isText
		}
	}
	if all := append(results, texts...); len(all) > 0 {
		content := array(all)
		if count == 1 && whole != nil && (!ended || len(told) > 0 || config != nil) {
			content = whole
		}
		out = append(out, message("user", content, nil))
	}
	if len(told) > 0 || config != nil {
		content := jsonl.Value("[]")
		if len(told) > 0 {
			content = joined("\n\n", told...)
			if ended {
				content = array([]jsonl.Value{textBlock(content)})
			}
		}
		out = append(out, message("system", content, config))
	}
	return out
}

// untagged is a reminder without its tags.
func untagged(text string) string {
	if rest, ok := strings.CutPrefix(text, reminderOpen); ok {
		if inner, ok := strings.CutSuffix(strings.TrimRight(rest, "\n"), reminderClose); ok {
			return inner
		}
	}
	return text
}

// intoResult puts a reminder behind the text of a tool's result.
func intoResult(result, text jsonl.Value, parts bool) (jsonl.Value, bool) {
	if !strings.HasPrefix(text.Text(), "<system-reminder>") {
		return nil, false
	}
	out := jsonl.Value{'{'}
	ok := false
	for name, v := range result.Members() {
		if len(out) > 1 {
			out = append(out, ',')
		}
		if name == "content" {
			switch v.Kind() {
			case jsonl.ValueString:
				v, ok = joined("\n\n", quote(strings.TrimSpace(v.Text())), text), true
			case jsonl.ValueArray:
				if !parts {
					return nil, false
				}
				var all []jsonl.Value
				for part := range v.Items() {
					all = append(all, part)
				}
				if n := len(all); n > 0 && all[n-1].Get("type").Text() == "text" {
					all[n-1] = textBlock(joined("", all[n-1].Get("text"), quote("\n")))
				}
				v, ok = array(append(all, textBlock(text))), true
			}
		}
		out = append(append(append(append(out, '"'), name...), '"', ':'), v...)
	}
	return append(out, '}'), ok
}

// systemModel reports whether a model takes the client's words in messages of their
// own: newer than opus-4-7, sonnet-4-6 and haiku-4-5, or unknown.
func systemModel(model string) bool {
	return budget.NewModel(model) && !strings.HasPrefix(model, "claude-opus-4-7")
}

// form is how the client of a version speaks to a model.
func (l *Log) form(a *agent, leaf int, version, model string) form {
	var f form
	since := func(known string) bool {
		v, err1 := rules.ParseVersion(version)
		w, err2 := rules.ParseVersion(known)
		return err1 == nil && err2 == nil && v.Compare(w) >= 0
	}
	f.parts = since("2.1.281")
	sonnet5 := strings.HasPrefix(model, "claude-sonnet-5") && !strings.HasPrefix(model, "claude-sonnet-5-5")
	f.tagged = sonnet5 && since("2.1.227")
	if l.table == nil {
		return f
	}
	if r, err := l.table.At(version); err == nil {
		f.inTool, f.earlier = r.Catalogue.Place.InTool(), r.Compaction.Earlier
		f.system = r.Catalogue.SystemMessage && systemModel(model) && (!sonnet5 || f.tagged || !since("2.1.201"))
	}
	if says, known := a.systemTurns(leaf); known && !a.manyModels {
		f.system = says
	}
	return f
}

// systemTurns is what the record of the prompt in force says of how the client speaks:
// the last one before the request, or, where that one shows the system prompt alone, the
// first whole one behind it. It does not name the model.
func (a *agent) systemTurns(leaf int) (says, known bool) {
	for _, i := range a.shots {
		n := a.items[i].note
		whole := len(n.toolsJSON) > 2 || n.systemTurns
		switch {
		case i <= leaf:
			says, known = n.systemTurns, whole
		case whole && !known:
			return n.systemTurns, true
		}
	}
	return says, known
}
