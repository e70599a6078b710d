package jsonl

import (
	"strconv"
	"time"
)

// AppendRecord appends the line of a session log, without a newline, that reads back
// as r: what the decoders know of a record, in the names of Claude Code logs, and
// nothing else. What no decoder names is left out by that, and so are images, the
// records of requests with what they show of the prompt, and the first record of
// stream-json output. Of the texts that a record holds twice, as an attachment and its
// rendered form, both are written.
//
// It is meant for records that were read in full: an elided text is written as an
// empty one.
func AppendRecord(dst []byte, r *Record) []byte {
	w := writer{b: append(dst, '{')}
	w.str("type", r.Type)
	w.str("subtype", r.Subtype)
	w.str("uuid", r.UUID)
	w.str("parentUuid", r.Parent)
	w.str("logicalParentUuid", r.LogicalParent)
	w.str("sessionId", r.Session)
	w.str("agentId", r.Agent)
	w.flag("isSidechain", r.Sidechain)
	if !r.Time.IsZero() {
		w.str("timestamp", r.Time.Format(time.RFC3339Nano))
	}
	w.str("version", r.Version)
	w.str("cwd", r.CWD)
	w.str("gitBranch", r.Branch)
	w.str("entrypoint", r.Entrypoint)
	w.str("promptId", r.PromptID)
	w.str("promptSource", r.PromptSource)
	w.str("turnOrigin", r.TurnOrigin)
	w.kind("origin", r.Origin)
	w.str("permissionMode", r.Mode)
	w.flag("isMeta", r.Meta)
	w.flag("isSynthetic", r.Synthetic)
	w.flag("isCompactSummary", r.CompactSummary)
	w.flag("isVisibleInTranscriptOnly", r.TranscriptOnly)
	w.str("sourceToolUseID", r.SourceToolUse)
	w.str("stackedOriginalInput", r.StackedInput)
	w.flag("stackedExpansion", r.Stacked)
	w.str("interruptedMessageId", r.Interrupted)
	w.str("forkedFrom", r.ForkedFrom)
	w.str("requestId", r.RequestID)
	w.flag("isApiErrorMessage", r.APIError)
	w.str("error", r.Error)
	w.count("apiErrorStatus", int64(r.Status))
	w.count("retryAttempt", int64(r.Retry))
	w.count("maxRetries", int64(r.MaxRetries))
	w.str("requestedModel", r.RequestedModel)
	w.str("requestRef", r.RequestRef)
	w.str("promptCacheRequested", r.CacheRequested)
	w.str("attributionSkill", r.AttributionSkill)
	w.str("sourceToolAssistantUUID", r.SourceAssistant)
	w.flag("renderedBesideToolResult", r.BesideResult)
	w.flag("isDisplayOnly", r.DisplayOnly)
	w.str("perTurnEffort", r.TurnEffort)
	w.str("toolDenialKind", r.Denial)
	w.count("scrubbedChars", r.Missing)
	if r.Command != "" || r.CommandArgs != "" {
		w.object("commandRun", func() {
			w.str("command", r.Command)
			w.str("args", r.CommandArgs)
		})
	}
	w.str("content", r.Text)
	w.str("leafUuid", r.LeafUUID)
	w.flag("explicit", r.Explicit)
	if r.Message != nil {
		w.object("message", func() { w.message(r.Message) })
	}
	if r.Result != nil {
		w.result(r.Result)
	}
	if r.Attachment != nil {
		w.attachment(r.Attachment)
	}
	if r.Compact != nil {
		w.object("compactMetadata", func() { w.compact(r.Compact) })
	}
	if r.Partial != nil {
		w.object("summarizeMetadata", func() {
			w.str("direction", r.Partial.Direction)
			w.count("messagesSummarized", int64(r.Partial.Messages))
		})
	}
	if r.Cost != nil && r.Kind == KindCostState {
		w.cost(r.Cost)
	}
	return append(w.b, '}')
}

// writer appends the members of an object. Empty ones are not written: they read back
// as what they are.
type writer struct{ b []byte }

// name begins a member.
func (w *writer) name(name string) {
	if c := w.b[len(w.b)-1]; c != '{' && c != '[' {
		w.b = append(w.b, ',')
	}
	if name != item {
		w.b = append(appendQuoted(w.b, name), ':')
	}
}

// item stands for the name of an item of a list, which has none. No member has this
// name: it is no text.
const item = "\xFF"

func (w *writer) str(name, s string) {
	if s != "" {
		w.whole(name, s)
	}
}

// whole writes a string even if it is empty.
func (w *writer) whole(name, s string) {
	w.name(name)
	w.b = appendQuoted(w.b, s)
}

func (w *writer) flag(name string, on bool) {
	if on {
		w.boolean(name, on)
	}
}

func (w *writer) boolean(name string, on bool) {
	w.name(name)
	w.b = strconv.AppendBool(w.b, on)
}

func (w *writer) count(name string, n int64) {
	if n != 0 {
		w.number(name, n)
	}
}

func (w *writer) number(name string, n int64) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *writer) object(name string, members func()) {
	w.name(name)
	w.b = append(w.b, '{')
	members()
	w.b = append(w.b, '}')
}

func (w *writer) array(name string, items func()) {
	w.name(name)
	w.b = append(w.b, '[')
	items()
	w.b = append(w.b, ']')
}

// kind is an object that holds a kind.
func (w *writer) kind(name, kind string) {
	if kind != "" {
		w.object(name, func() { w.str("kind", kind) })
	}
}

func (w *writer) strings(name string, list []string) {
	w.array(name, func() {
		for _, s := range list {
			w.whole(item, s)
		}
	})
}

// some writes a list unless it is empty.
func (w *writer) some(name string, list []string) {
	if len(list) > 0 {
		w.strings(name, list)
	}
}

// value writes JSON anew: what stands in a log may hold control characters in its
// strings, which the decoder lets pass.
func (w *writer) value(name string, v Value) {
	switch v.Kind() {
	case ValueObject:
		w.object(name, func() {
			s := scanner{b: v}
			s.space()
			for more := s.open('{'); more; more = s.next('}') {
				s.space()
				key := v[s.i:]
				s.key()
				if m := s.value(); !s.failed {
					w.value(key.Text(), m)
				}
			}
		})
	case ValueArray:
		w.array(name, func() {
			for one := range v.Items() {
				w.value(item, one)
			}
		})
	case ValueString:
		w.whole(name, v.Text())
	case ValueNumber:
		w.name(name)
		w.b = append(w.b, v.Number()...)
	case ValueBool:
		w.boolean(name, v.Bool())
	default:
		w.name(name)
		w.b = append(w.b, "null"...)
	}
}

func (w *writer) message(m *Message) {
	w.str("id", m.ID)
	w.str("role", m.Role)
	w.str("model", m.Model)
	w.str("stop_reason", m.StopReason)
	if m.String && len(m.Blocks) == 1 {
		w.whole("content", m.Blocks[0].Text)
	} else {
		w.array("content", func() {
			for i := range m.Blocks {
				w.object(item, func() { w.block(&m.Blocks[i]) })
			}
		})
	}
	if m.Usage != nil {
		w.object("usage", func() { w.usage(m.Usage) })
	}
}

func (w *writer) block(b *Block) {
	w.str("type", b.Type)
	switch b.Kind {
	case BlockToolUse:
		w.str("id", b.ID)
		w.str("name", b.Name)
		if b.Input != nil {
			w.value("input", b.Input)
		}
	case BlockToolResult:
		w.str("tool_use_id", b.ID)
		w.texts("content", b.Text, b.Images, b.Parts)
		w.flag("is_error", b.IsError)
	case BlockThinking:
		w.str("thinking", b.Text)
		w.str("id", b.ID)
	default:
		w.str("text", b.Text)
		w.str("id", b.ID)
		w.str("name", b.Name)
	}
}

// texts writes a text with the places of its images: as a string where there is
// nothing else and parts does not ask for a list.
func (w *writer) texts(name, text string, images int, parts bool) {
	if images == 0 && !parts {
		w.str(name, text)
		return
	}
	w.array(name, func() {
		if text != "" {
			w.object(item, func() { w.str("type", "text"); w.str("text", text) })
		}
		for range images {
			w.object(item, func() { w.str("type", "image") })
		}
	})
}

func (w *writer) usage(u *Usage) {
	w.number("input_tokens", u.Input)
	w.number("output_tokens", u.Output)
	w.number("cache_read_input_tokens", u.CacheRead)
	w.number("cache_creation_input_tokens", u.CacheWrite)
	if u.HasSplit {
		w.object("cache_creation", func() {
			w.number("ephemeral_5m_input_tokens", u.CacheWrite5m)
			w.number("ephemeral_1h_input_tokens", u.CacheWrite1h)
		})
	}
	if u.Thinking != 0 {
		w.object("output_tokens_details", func() { w.number("thinking_tokens", u.Thinking) })
	}
	if u.WebSearches != 0 || u.WebFetches != 0 {
		w.object("server_tool_use", func() {
			w.number("web_search_requests", u.WebSearches)
			w.number("web_fetch_requests", u.WebFetches)
		})
	}
	w.str("service_tier", u.ServiceTier)
	w.str("speed", u.Speed)
	w.str("inference_geo", u.Geo)
}

func (w *writer) result(t *ToolResult) {
	if t.IsString {
		w.whole("toolUseResult", t.String)
		return
	}
	w.object("toolUseResult", func() {
		w.flag("success", t.Success)
		w.str("commandName", t.Command)
		w.some("allowedTools", t.AllowedTools)
		w.str("model", t.Model)
		w.str("status", t.Status)
		w.str("agentId", t.Agent)
		w.str("agentType", t.AgentType)
		w.flag("background", t.Background)
		w.str("result", t.Result)
		w.str("filePath", t.FilePath)
		w.str("stdout", t.Stdout)
		if t.Usage != nil {
			w.object("usage", func() { w.usage(t.Usage) })
		}
		w.count("totalTokens", t.Tokens)
	})
}

func (w *writer) attachment(a *Attachment) {
	w.object("attachment", func() {
		w.str("type", a.Type)
		if a.Type == "skill_listing" {
			w.whole("content", a.Content)
		}
		if a.HasInitial {
			w.boolean("isInitial", a.Initial)
		}
		if a.HasCount {
			w.number("skillCount", int64(a.Count))
		}
		if a.HasNames {
			w.strings("names", a.Names)
		}
		if a.HasDigests {
			w.strings("digests", a.Digests)
		}
		if len(a.Skills) > 0 {
			w.array("skills", func() {
				for _, k := range a.Skills {
					w.object(item, func() {
						w.str("name", k.Name)
						w.str("path", k.Path)
						w.str("content", k.Content)
					})
				}
			})
		}
		w.some("allowedTools", a.AllowedTools)
		w.str("model", a.Model)
		w.str("skillDir", a.SkillDir)
		w.some("skillNames", a.SkillNames)
		w.texts("prompt", a.Prompt, a.Images, false)
		w.str("text", a.Text)
		if a.WorkingDirectory != "" || a.HasGitRepo {
			w.object("snapshot", func() {
				w.str("workingDirectory", a.WorkingDirectory)
				if a.HasGitRepo {
					w.boolean("isGitRepo", a.GitRepo)
				}
			})
		}
		w.str("taskType", a.TaskType)
		w.str("taskId", a.TaskID)
		w.str("status", a.TaskStatus)
		w.str("description", a.TaskDescription)
		w.str("filename", a.FilePath)
		w.kind("origin", a.Origin)
		w.str("commandName", a.Command)
		if a.SystemPrompt != nil {
			w.value("systemPrompt", a.SystemPrompt)
			w.flag("systemTurns", a.SystemTurns)
		}
		if a.ToolDefs != nil {
			w.value("tools", a.ToolDefs)
		}
	})
	if a.HasRendered {
		w.array("rendered", func() {
			w.object(item, func() { w.whole("content", a.Rendered) })
		})
	}
	w.str("renderedRole", a.Role)
	w.count("renderedCutChars", int64(a.RenderedCut))
}

func (w *writer) compact(c *Compact) {
	w.str("trigger", c.Trigger)
	w.count("preTokens", c.PreTokens)
	w.count("postTokens", c.PostTokens)
	w.count("messagesSummarized", int64(c.MessagesSummarized))
	w.count("tokensSaved", c.TokensSaved)
	w.some("compactedToolIds", c.ClearedTools)
	if c.Head != "" || c.Tail != "" {
		w.object("preservedSegment", func() {
			w.str("headUuid", c.Head)
			w.str("anchorUuid", c.Anchor)
			w.str("tailUuid", c.Tail)
		})
	}
	if len(c.Preserved)+len(c.PreservedAll) > 0 || c.Anchor != "" && c.Head == "" && c.Tail == "" {
		w.object("preservedMessages", func() {
			w.str("anchorUuid", c.Anchor)
			w.some("uuids", c.Preserved)
			w.some("allUuids", c.PreservedAll)
		})
	}
}

func (w *writer) cost(c *CostState) {
	if c.TotalUSD != "" {
		w.name("totalCostUSD")
		w.b = append(w.b, c.TotalUSD...)
	}
	if !c.Started.IsZero() {
		w.number("startTime", c.Started.UnixMilli())
	}
	w.count("totalDuration", c.Ran.Milliseconds())
	w.count("totalAPIDuration", c.API.Milliseconds())
	w.count("totalAPIDurationWithoutRetries", c.APIOnce.Milliseconds())
	w.count("totalToolDuration", c.Tools.Milliseconds())
	w.flag("hasUnknownModelCost", c.UnknownModel)
	if len(c.Models) == 0 {
		return
	}
	w.object("modelUsage", func() {
		for i := range c.Models {
			w.object(c.Models[i].Model, func() { w.modelUsage(&c.Models[i]) })
		}
	})
}

func (w *writer) modelUsage(m *ModelUsage) {
	u := &m.Usage
	w.number("inputTokens", u.Input)
	w.number("outputTokens", u.Output)
	w.count("thinkingTokens", u.Thinking)
	w.number("cacheReadInputTokens", u.CacheRead)
	w.number("cacheCreationInputTokens", u.CacheWrite)
	if u.HasSplit {
		w.number("cacheCreationEphemeral5mInputTokens", u.CacheWrite5m)
		w.number("cacheCreationEphemeral1hInputTokens", u.CacheWrite1h)
	}
	w.count("webSearchRequests", u.WebSearches)
	if m.CostUSD != "" {
		w.name("costUSD")
		w.b = append(w.b, m.CostUSD...)
	}
	w.count("contextWindow", m.Window)
}

// appendQuoted appends a text in WTF-8 as a JSON string. A lone surrogate is escaped,
// as it is no UTF-8.
func appendQuoted(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		case c == 0xED && i+2 < len(s) && s[i+1] >= 0xA0:
			dst = append(dst, '\\', 'u', 'd', digits[s[i+1]>>2&15], digits[s[i+1]&3<<2|s[i+2]>>4&3], digits[s[i+2]&15])
			i += 2
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
