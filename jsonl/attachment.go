package jsonl

// knownAttachments are the types seen in the recordings and in public logs. Any
// other is decoded all the same, and counted.
var knownAttachments = set(
	"agent_listing_delta", "async_hook_response", "auto_mode",
	"batching_reminder_sent", "budget_usd", "command_permissions",
	"compact_file_reference", "date", "date_change", "deferred_tools_delta",
	"deferred_tools_record", "diagnostics", "dynamic_skill", "edited_text_file",
	"environment", "file", "hook_additional_context", "hook_blocking_error",
	"hook_non_blocking_error", "hook_success", "hook_system_message",
	"instructions", "invoked_skills", "mcp_instructions_delta", "model",
	"nested_memory", "plan_mode", "plan_mode_exit", "plan_mode_reentry",
	"prompt_snapshot", "queued_command", "read_truncation_notice",
	"remote_session_change", "session_context", "silent_turn_reminder",
	"skill_listing", "task_reminder", "task_status", "todo_reminder",
	"total_tokens_reminder", "ultra_effort_enter", "ultra_effort_exit",
	"unknown_command_fallback",
)

// finishAttachment reads the attachment that decode set aside.
func (d *decoder) finishAttachment() {
	if d.attachment.Kind() != ValueObject {
		if d.rec.Kind != KindAttachment {
			d.rec.Attachment = nil
		}
		return
	}
	a := d.attached()
	a.Bytes = len(d.attachment)
	var content, text Value
	d.inside(d.attachment, func() { content, text = d.attachmentFields(a) })

	// These are read word for word; of others the size is what matters.
	whole := !d.opt.Sizes
	switch a.Type {
	case "skill_listing", "invoked_skills", "dynamic_skill", "command_permissions",
		"queued_command", "unknown_command_fallback", "environment", "model":
		whole = true
	}
	if content.Kind() == ValueString && a.Type == "skill_listing" {
		a.Content = d.unquote(content[1 : len(content)-1])
	} else if text == nil {
		text = content
	}
	if whole || len(text) <= d.short {
		a.Text, _, _ = d.joined(text)
	} else {
		a.Elided = true
	}
	d.readRendered(a, whole)
	if !knownAttachments[a.Type] {
		d.stats.unknown(&d.stats.UnknownTypes, "attachment "+a.Type)
	}
}

// attachmentFields takes the members of an attachment. Their names do not clash
// between types, but for content and text, which it returns.
func (d *decoder) attachmentFields(a *Attachment) (content, text Value) {
	s := &d.s
	for more := s.open('{'); more; more = s.next('}') {
		key := s.key()
		if string(key) == "type" {
			d.name("attachment.type", &a.Type)
			continue
		}
		s.space()
		start := s.i
		s.measureStrings(&a.Size)
		v := Value(s.b[start:s.i])
		// The decoding methods work on the scanner: go back, and take it again.
		again := func(take func()) { s.i = start; take(); s.i = start + len(v) }
		switch string(key) {
		case "content":
			content = v
			if v.Kind() == ValueObject { // a file
				content = v.Get("content")
				if f := v.Get("file"); f.Kind() == ValueObject {
					content = f.Get("content")
				}
			}
		case "text", "snippet", "banner":
			if text == nil || string(key) == "text" {
				text = v
			}
		case "isInitial":
			a.HasInitial = v.Kind() == ValueBool
			again(func() { d.flag("attachment.isInitial", &a.Initial) })
		case "skillCount":
			again(func() { a.HasCount = d.count("attachment.skillCount", &a.Count) })
		case "names":
			again(func() { a.HasNames = d.list("attachment.names", &a.Names) })
		case "digests":
			again(func() { a.HasDigests = d.list("attachment.digests", &a.Digests) })
		case "skills":
			again(func() { d.invokedSkills(a) })
		case "allowedTools":
			again(func() { d.list("attachment.allowedTools", &a.AllowedTools) })
		case "model":
			if v.Kind() == ValueString {
				a.Model = d.intern(v[1 : len(v)-1])
			}
		case "identity":
			a.Model = v.Get("modelId").Text()
		case "skillDir":
			again(func() { d.text("attachment.skillDir", &a.SkillDir) })
		case "skillNames":
			again(func() { d.list("attachment.skillNames", &a.SkillNames) })
		case "prompt":
			var ok bool
			if a.Prompt, a.Images, ok = d.joined(v); !ok {
				d.odd("attachment.prompt")
			}
		case "origin":
			a.Origin = v.Get("kind").Text()
		case "filename", "path":
			if v.Kind() == ValueString {
				a.FilePath = d.unquote(v[1 : len(v)-1])
			}
		case "commandName":
			again(func() { d.text("attachment.commandName", &a.Command) })
		case "snapshot":
			a.WorkingDirectory = v.Get("workingDirectory").Text()
			if repo := v.Get("isGitRepo"); repo.Kind() == ValueBool {
				a.HasGitRepo, a.GitRepo = true, repo.Bool()
			}
		case "bypass":
			a.Bypass = v.Bool()
		case "steerOnly":
			a.SteerOnly = v.Bool()
		case "taskType":
			again(func() { d.name("attachment.taskType", &a.TaskType) })
		case "taskId":
			again(func() { d.name("attachment.taskId", &a.TaskID) })
		case "status":
			again(func() { d.name("attachment.status", &a.TaskStatus) })
		case "description":
			again(func() { d.text("attachment.description", &a.TaskDescription) })
		case "systemPrompt":
			a.SystemSize = systemSize(v)
			a.SystemPrompt = v
		case "systemTurns":
			a.SystemTurns = v.Bool()
		case "tools":
			a.ToolDefs = v
			a.Tools = d.tools(v)
		}
	}
	return content, text
}

// invokedSkills takes the bodies that a compaction put back. A skill that is not
// an object, or a field of it that is not a string, is reported and the rest is
// read.
func (d *decoder) invokedSkills(a *Attachment) {
	s := &d.s
	a.Skills = nil
	if s.space() != '[' {
		d.odd("attachment.skills")
		s.skip()
		return
	}
	for more := s.open('['); more; more = s.next(']') {
		var k InvokedSkill
		switch s.space() {
		case '"': // a bare name
			k.Name = d.unquote(s.str())
		case '{':
			for more := s.open('{'); more; more = s.next('}') {
				switch string(s.key()) {
				case "name":
					d.text("attachment.skills.name", &k.Name)
				case "path":
					d.text("attachment.skills.path", &k.Path)
				case "content":
					d.text("attachment.skills.content", &k.Content)
				default:
					s.skip()
				}
			}
		default:
			d.odd("attachment.skills")
			s.skip()
			continue
		}
		a.Skills = append(a.Skills, k)
	}
}

// systemSize is the length of a system prompt in UTF-16 code units: a list of
// strings, or in some recordings of objects that tell the length of a text that
// was shortened.
func systemSize(v Value) (n int) {
	for part := range v.Items() {
		if whole, ok := part.Get("scrubbedChars").Int(); ok {
			n += int(whole)
			continue
		}
		z := part.Size()
		n += z.Len16()
	}
	return n
}

// readRendered reads the text that was sent for an attachment: of the first part
// word for word, of all parts the size.
func (d *decoder) readRendered(a *Attachment, whole bool) {
	if d.rendered.Kind() != ValueArray {
		return
	}
	first := true
	for part := range d.rendered.Items() {
		content := part
		if part.Kind() == ValueObject {
			content = part.Get("content")
		}
		a.HasRendered = true
		a.RenderedSize.Add(content.Size())
		if d.opt.JSON {
			a.Sent = append(a.Sent, d.kept(content))
		}
		if !first {
			continue
		}
		first = false
		if !d.opt.Sizes || whole && d.short >= 0 || len(content) <= d.short {
			a.Rendered, _, _ = d.joined(content)
		} else {
			a.Elided = true
		}
	}
}
