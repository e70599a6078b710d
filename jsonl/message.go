package jsonl

// message takes the API message of a user or assistant record.
func (d *decoder) message() {
	m := renewed(d, &d.reused.message)
	d.rec.Message = nil
	d.content, d.inputs = d.content[:0], d.inputs[:0]
	if d.s.space() == '{' {
		d.rec.Message = m
	}
	for more := d.object("message"); more; more = d.s.next('}') {
		switch string(d.s.key()) {
		case "id":
			d.again("message.id", &m.ID, &d.last.message)
		case "role":
			d.same("message.role", &m.Role, &d.last.role)
		case "model":
			d.same("message.model", &m.Model, &d.last.model)
		case "stop_reason":
			d.same("message.stop_reason", &m.StopReason, &d.last.stop)
		case "content":
			d.s.space()
			start := d.s.i
			d.blocks(m)
			if d.opt.JSON && !d.s.failed {
				m.Content = d.kept(d.s.b[start:d.s.i])
			}
		case "usage":
			m.Usage = d.usage(renewed(d, &d.reused.usage))
		case "output_config":
			m.Extra = d.kept(d.s.value())
		default:
			d.s.skip()
		}
	}
}

// blocks takes a message's content: a string, or a list of blocks.
func (d *decoder) blocks(m *Message) {
	m.Blocks, m.String = nil, false
	if d.opt.Reuse {
		m.Blocks = d.reused.blocks[:0]
		defer func() { d.reused.blocks = m.Blocks }()
	}
	d.content, d.inputs = d.content[:0], d.inputs[:0]
	switch d.s.space() {
	case '"':
		m.String = true
		d.plain(m)
	case '[':
		for more := d.s.open('['); more; more = d.s.next(']') {
			switch d.s.space() {
			case '{':
				d.block(m)
			case '"':
				d.plain(m)
			default:
				d.odd("content")
				d.s.skip()
			}
		}
	case 'n':
		d.s.literal("null")
	default:
		d.odd("content")
		d.s.skip()
	}
}

// plain takes a string as a text block.
func (d *decoder) plain(m *Message) {
	b := Block{Kind: BlockText, Type: "text"}
	start := d.s.i
	d.s.measured(&b.Size)
	b.Bytes = d.s.i - start
	m.Blocks = append(m.Blocks, b)
	d.content = append(d.content, d.s.b[start:d.s.i])
	d.inputs = append(d.inputs, nil)
}

var blockKinds = map[string]BlockKind{
	"text":                   BlockText,
	"thinking":               BlockThinking,
	"redacted_thinking":      BlockThinking,
	"tool_use":               BlockToolUse,
	"server_tool_use":        BlockToolUse,
	"mcp_tool_use":           BlockToolUse,
	"tool_result":            BlockToolResult,
	"mcp_tool_result":        BlockToolResult,
	"web_search_tool_result": BlockToolResult,
	"web_fetch_tool_result":  BlockToolResult,
	"image":                  BlockImage,
	"document":               BlockDocument,
}

// block takes one content block. Its texts are measured now and decoded when the
// record is complete, if they are wanted at all.
func (d *decoder) block(m *Message) {
	var (
		b              Block
		text, input    Value
		content        Value
		textSize, size Size
		id, toolUseID  string
	)
	start := d.s.i
	for more := d.s.open('{'); more; more = d.s.next('}') {
		switch string(d.s.key()) {
		case "type":
			d.name("block.type", &b.Type)
		case "text", "thinking":
			textSize = Size{}
			text = d.measuredText("block.text", &textSize)
		case "content":
			size, b.Images, b.Parts = Size{}, 0, false
			content = d.resultContent(&b, &size)
		case "id":
			d.text("block.id", &id)
		case "tool_use_id":
			d.text("block.tool_use_id", &toolUseID)
		case "name":
			d.name("block.name", &b.Name)
		case "input":
			input = d.s.value()
		case "is_error":
			d.flag("block.is_error", &b.IsError)
		default:
			d.s.skip()
		}
	}
	b.Bytes = d.s.i - start
	b.Kind = blockKinds[b.Type]
	b.ID = id
	switch b.Kind {
	case BlockToolResult:
		b.ID = toolUseID
		text, textSize = content, size
	case BlockToolUse:
		text, textSize = nil, measure(input)
	case BlockImage, BlockDocument:
		text, textSize = nil, Size{}
		b.Images = 1
	case BlockOther:
		if !d.s.failed {
			d.stats.unknown(&d.stats.UnknownTypes, "block "+b.Type)
		}
	}
	b.Size = textSize
	m.Blocks = append(m.Blocks, b)
	d.content = append(d.content, text)
	d.inputs = append(d.inputs, input)
}

// measuredText measures a string and returns it undecoded, with its quotes.
func (d *decoder) measuredText(name string, z *Size) Value {
	switch d.s.space() {
	case '"':
		start := d.s.i
		d.s.measured(z)
		return d.s.b[start:d.s.i]
	case 'n':
		d.s.literal("null")
	default:
		d.odd(name)
		d.s.skip()
	}
	return nil
}

// resultContent takes what a tool returned: a string, or parts.
func (d *decoder) resultContent(b *Block, z *Size) Value {
	first := d.s.space()
	start := d.s.i
	switch first {
	case '"':
		d.s.measured(z)
	case '[':
		b.Parts = true
		for more := d.s.open('['); more; more = d.s.next(']') {
			switch d.s.space() {
			case '"':
				d.s.measured(z)
			case '{':
				d.resultPart(b, z)
			default:
				d.odd("block.content")
				d.s.skip()
			}
		}
	case '{': // an error of a server tool
		d.s.skip()
		return nil
	case 'n':
		d.s.literal("null")
		return nil
	default:
		d.odd("block.content")
		d.s.skip()
		return nil
	}
	return d.s.b[start:d.s.i]
}

func (d *decoder) resultPart(b *Block, z *Size) {
	for more := d.s.open('{'); more; more = d.s.next('}') {
		switch string(d.s.key()) {
		case "text":
			d.measuredText("block.content.text", z)
		case "type":
			var kind string
			if d.name("block.content.type", &kind); kind == "image" || kind == "document" {
				b.Images++
			}
		default:
			d.s.skip()
		}
	}
}

// finishBlocks decodes the texts that are wanted.
func (d *decoder) finishBlocks() {
	m := d.rec.Message
	if m == nil {
		return
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Kind == BlockToolUse {
			d.finishInput(b, d.inputs[i])
		}
		raw := d.content[i]
		if raw == nil {
			continue
		}
		if b.Elided = !d.wanted(b, len(raw)); !b.Elided {
			b.Text, _, _ = d.joined(raw)
		}
	}
}

// wanted reports whether the text of a block is to be decoded, which in full
// mode it always is.
func (d *decoder) wanted(b *Block, size int) bool {
	skill := false
	if b.Kind == BlockToolResult {
		skill = d.skillCalls[b.ID] || d.rec.Result != nil && d.rec.Result.Command != ""
		delete(d.skillCalls, b.ID)
	}
	switch {
	case !d.opt.Sizes || size <= d.short:
		return true
	case b.Kind == BlockToolResult:
		return b.IsError || skill
	}
	return b.Kind == BlockText && d.rec.Kind == KindUser
}

// finishInput keeps a tool's input, in sizes mode without its long members.
func (d *decoder) finishInput(b *Block, raw Value) {
	if b.Name == "Skill" && b.ID != "" && len(d.skillCalls) < 4096 {
		d.skillCalls[b.ID] = true
	}
	if d.s.dirty {
		raw = repair(raw)
	}
	if !d.opt.Sizes || b.Name == "Skill" || len(raw) <= keepInput || raw.Kind() != ValueObject {
		if b.Input = raw; !d.opt.Reuse {
			b.Input = append([]byte(nil), raw...)
		}
		return
	}
	b.Elided = true
	b.Input = raw.Only(func(_ []byte, v Value) bool { return len(v) <= keepInput })
}

// usage takes the usage of an API call into u, and returns u unless there is none.
func (d *decoder) usage(u *Usage) *Usage {
	if d.s.space() != '{' {
		d.object("usage") // null, or reported
		return nil
	}
	defects := len(d.rec.Defects)
	for more := d.object("usage"); more; more = d.s.next('}') {
		switch string(d.s.key()) {
		case "input_tokens":
			d.amount("usage.input_tokens", &u.Input)
		case "output_tokens":
			d.amount("usage.output_tokens", &u.Output)
		case "cache_read_input_tokens":
			d.amount("usage.cache_read_input_tokens", &u.CacheRead)
		case "cache_creation_input_tokens":
			d.amount("usage.cache_creation_input_tokens", &u.CacheWrite)
		case "cache_creation":
			for more := d.object("usage.cache_creation"); more; more = d.s.next('}') {
				switch string(d.s.key()) {
				case "ephemeral_5m_input_tokens":
					u.HasSplit = d.amount("usage.cache_creation", &u.CacheWrite5m) || u.HasSplit
				case "ephemeral_1h_input_tokens":
					u.HasSplit = d.amount("usage.cache_creation", &u.CacheWrite1h) || u.HasSplit
				default:
					d.s.skip()
				}
			}
		case "output_tokens_details":
			for more := d.object("usage.output_tokens_details"); more; more = d.s.next('}') {
				if string(d.s.key()) == "thinking_tokens" {
					d.amount("usage.thinking_tokens", &u.Thinking)
				} else {
					d.s.skip()
				}
			}
		case "server_tool_use":
			for more := d.object("usage.server_tool_use"); more; more = d.s.next('}') {
				switch string(d.s.key()) {
				case "web_search_requests":
					d.amount("usage.web_search_requests", &u.WebSearches)
				case "web_fetch_requests":
					d.amount("usage.web_fetch_requests", &u.WebFetches)
				default:
					d.s.skip()
				}
			}
		case "service_tier":
			d.name("usage.service_tier", &u.ServiceTier)
		case "speed":
			d.name("usage.speed", &u.Speed)
		case "inference_geo":
			d.name("usage.inference_geo", &u.Geo)
		default:
			d.s.skip()
		}
	}
	u.Damaged = len(d.rec.Defects) > defects
	return u
}

// toolResult takes the client's own account of a tool's result: a string where
// it failed, an object, or for tools of MCP servers a list of parts.
func (d *decoder) toolResult(name string) {
	d.rec.Result, d.stdout, d.result = nil, nil, nil
	switch d.s.space() {
	case '"':
		t := renewed(d, &d.reused.result)
		d.rec.Result = t
		t.IsString = true
		d.text(name, &t.String)
		return
	case '{':
	case '[', 't', 'f':
		d.s.skip()
		return
	default:
		d.object(name) // null, or reported
		return
	}
	t := renewed(d, &d.reused.result)
	d.rec.Result = t
	for more := d.s.open('{'); more; more = d.s.next('}') {
		switch string(d.s.key()) {
		case "success":
			d.flag(name+".success", &t.Success)
		case "commandName":
			d.name(name+".commandName", &t.Command)
		case "allowedTools":
			d.list(name+".allowedTools", &t.AllowedTools)
		case "model", "resolvedModel":
			d.name(name+".model", &t.Model)
		case "status":
			// Of Skill and Agent results; other tools put a number or an object here.
			if v := d.s.value(); v.Kind() == ValueString {
				t.Status = d.intern(v[1 : len(v)-1])
			}
		case "agentId":
			d.name(name+".agentId", &t.Agent)
		case "agentType":
			d.name(name+".agentType", &t.AgentType)
		case "background", "isAsync":
			var on bool
			d.flag(name+".background", &on)
			t.Background = t.Background || on
		case "result":
			d.result = d.s.value()
		case "filePath":
			d.text(name+".filePath", &t.FilePath)
		case "file":
			if d.s.space() != '{' { // of a tool that is not the client's
				d.s.skip()
				break
			}
			for more := d.s.open('{'); more; more = d.s.next('}') {
				if string(d.s.key()) == "filePath" {
					d.text(name+".file.filePath", &t.FilePath)
				} else {
					d.s.skip()
				}
			}
		case "stdout":
			d.stdout = d.s.value()
		case "usage":
			if d.s.space() == '{' {
				t.Usage = d.usage(&Usage{})
			} else {
				d.s.skip()
			}
		case "totalTokens":
			d.integer(name+".totalTokens", &t.Tokens)
		default:
			d.s.skip()
		}
	}
}

func (d *decoder) finishToolResult() {
	t := d.rec.Result
	if t == nil {
		return
	}
	take := func(raw Value, skill bool) string {
		if raw.Kind() != ValueString {
			return ""
		}
		if d.opt.Sizes && !skill && len(raw) > d.short {
			t.Elided = true
			return ""
		}
		return d.unquote(raw[1 : len(raw)-1])
	}
	t.Stdout = take(d.stdout, false)
	t.Result = take(d.result, t.Command != "")
}
