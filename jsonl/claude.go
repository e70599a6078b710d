package jsonl

import (
	"strconv"
	"time"
)

// kinds names the records that other packages act on.
var kinds = map[string]Kind{
	"user":              KindUser,
	"assistant":         KindAssistant,
	"system":            KindSystem,
	"attachment":        KindAttachment,
	"summary":           KindSummary,
	"queue-operation":   KindQueue,
	"last-prompt":       KindLastPrompt,
	"cost-state":        KindCostState,
	"result":            KindResult,
	"api-request":       KindAPIRequest,
	"api-request-shape": KindAPIRequestShape,
	"api-request-blob":  KindAPIRequestBlob,
	"progress":          KindProgress,
}

// knownTypes are the other records, of which only the common members are read:
// those of the recordings of 2.0.30 to 2.1.332 and of public logs, and those of
// stream-json output. A type outside is passed through and counted.
var knownTypes = set(
	"agent-name", "ai-title", "atis-latch", "bridge-session", "custom-title",
	"file-history-delta", "file-history-snapshot", "frame-link", "mode",
	"permission-mode", "pr-link", "relocated", "result", "started", "tools-used",
	"worktree-state",
	"auth_status", "control_request", "control_response", "keep_alive",
	"prompt_suggestion", "rate_limit_event", "stream_event", "tool_progress",
	"tool_use_summary",
)

// knownFields are the members that the recordings have and nothing here reads.
var knownFields = set(
	"apiBlockIndex", "apiRefusalCategory",
	"apiRefusalExplanation", "atis", "attributionAgent", "attributionPlugin",
	"backup", "bridgeSessionId", "cacheControl", "cause", "classifierMetaLines",
	"commandOutcome", "commandUuid", "contextUsage", "deliveryId", "direction",
	"durationMs", "echoWireToolInputs", "errorDetails", "fallbackModel",
	"frameUrl", "hasOutput", "hookAdditionalContext", "hookCount",
	"hookErrors", "hookInfos", "imagePasteIds",
	"interruptedByShutdown", "isAbortedMidStream", "key",
	"lastSequenceNum", "madeBy", "mcpMeta", "messageCount",
	"originalModel", "ownerAccountUuid", "ownerOrganizationUuid", "path",
	"pendingBackgroundAgentCount", "permissionDecision",
	"planContent", "prNumber", "prRepository", "prUrl", "preventedContinuation",
	"project", "queueSkipAttachments", "reason", "refusedUserMessageUuid",
	"relocatedCwd", "renderedInHumanTurn",
	"requestDigest", "requestSessionId", "retractedMessageUuids",
	"retryInMs", "sandboxed", "scope", "sessionKind", "snapshotMessageId",
	"source", "stopReason", "summarizedTurnPromptUuids",
	"supersedesUuids", "teamName", "thinkingMetadata", "thread", "title", "todos",
	"toolDenialBeforeRun", "toolEndsTurn", "toolInputStreamMs",
	"toolResultTypedCommand", "totalLinesAdded",
	"totalLinesRemoved", "trackingPath", "trigger",
	"turnCompanion", "url", "worktreeSession",
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

// claudeField takes the value of a member that session logs have, and reports
// whether it is one.
func (d *decoder) claudeField(key []byte) bool {
	r := d.rec
	switch string(key) {
	case "type":
		d.same("type", &r.Type, &d.last.typ)
		d.place = d.types != nil && !d.types[r.Type]
	case "subtype", "operation":
		d.name("subtype", &r.Subtype)
	case "uuid":
		d.parent("uuid", &r.UUID)
	case "parentUuid":
		d.parent("parentUuid", &r.Parent)
	case "logicalParentUuid":
		d.parent("logicalParentUuid", &r.LogicalParent)
	case "leafUuid":
		d.parent("leafUuid", &r.LeafUUID)
	case "sourceToolAssistantUUID":
		d.parent("sourceToolAssistantUUID", &r.SourceAssistant)
	case "sessionId":
		d.same("sessionId", &r.Session, &d.last.session)
	case "agentId":
		d.same("agentId", &r.Agent, &d.last.agent)
	case "isSidechain":
		d.flag("isSidechain", &r.Sidechain)
	case "timestamp":
		d.time("timestamp", &r.Time)
	case "version":
		d.same("version", &r.Version, &d.last.version)
	case "cwd":
		d.same("cwd", &r.CWD, &d.last.cwd)
	case "gitBranch":
		d.same("gitBranch", &r.Branch, &d.last.branch)
	case "entrypoint":
		d.same("entrypoint", &r.Entrypoint, &d.last.entrypoint)
	case "promptId":
		d.same("promptId", &r.PromptID, &d.last.prompt)
	case "promptSource":
		d.name("promptSource", &r.PromptSource)
	case "turnOrigin":
		d.name("turnOrigin", &r.TurnOrigin)
	case "origin":
		for more := d.object("origin"); more; more = d.s.next('}') {
			if string(d.s.key()) == "kind" {
				d.name("origin.kind", &r.Origin)
			} else {
				d.s.skip()
			}
		}
	case "permissionMode", "mode":
		d.name("permissionMode", &r.Mode)
	case "isMeta":
		d.flag("isMeta", &r.Meta)
	case "isCompactSummary":
		d.flag("isCompactSummary", &r.CompactSummary)
	case "isVisibleInTranscriptOnly":
		d.flag("isVisibleInTranscriptOnly", &r.TranscriptOnly)
	case "sourceToolUseID":
		d.text("sourceToolUseID", &r.SourceToolUse)
	case "stackedOriginalInput":
		d.text("stackedOriginalInput", &r.StackedInput)
	case "stackedExpansion":
		d.flag("stackedExpansion", &r.Stacked)
	case "interruptedMessageId":
		d.text("interruptedMessageId", &r.Interrupted)
	case "toolDenialKind":
		d.name("toolDenialKind", &r.Denial)
	case "forkedFrom":
		d.forkedFrom()
	case "requestId", "request_id":
		d.again("requestId", &r.RequestID, &d.last.request)
	case "requestRef":
		d.text("requestRef", &r.RequestRef)
	case "requestedModel":
		d.name("requestedModel", &r.RequestedModel)
	case "promptCacheRequested":
		d.name("promptCacheRequested", &r.CacheRequested)
	case "attributionSkill":
		d.name("attributionSkill", &r.AttributionSkill)
	case "isApiErrorMessage":
		d.flag("isApiErrorMessage", &r.APIError)
	case "error":
		d.errorText()
	case "apiErrorStatus":
		d.status(d.s.value())
	case "retryAttempt":
		d.count("retryAttempt", &r.Retry)
	case "maxRetries":
		d.count("maxRetries", &r.MaxRetries)
	case "content", "summary", "lastPrompt", "aiTitle", "customTitle", "agentName":
		d.recordText()
	case "explicit":
		d.flag("explicit", &r.Explicit)
	case "commandRun":
		for more := d.object("commandRun"); more; more = d.s.next('}') {
			switch string(d.s.key()) {
			case "command":
				d.name("commandRun.command", &r.Command)
			case "args":
				d.text("commandRun.args", &r.CommandArgs)
			default:
				d.s.skip()
			}
		}
	case "scrubbedChars":
		d.integer("scrubbedChars", &r.Missing)
	case "userType", "slug", "data", "snapshot", "rowSource", "sentAtMs", "effort", "level",
		"turnPosition", "toolUseID", "parentToolUseID", "messageId", "isSnapshotUpdate":
		d.s.skip() // known fields that are common

	case "message":
		d.message()
	case "toolUseResult":
		d.toolResult("toolUseResult")
	case "attachment":
		d.attachment = d.s.value()
		if k := d.attachment.Kind(); k != ValueObject && k != ValueNull {
			d.odd("attachment")
		}
	case "rendered":
		d.rendered = d.s.value()
	case "renderedRole":
		d.name("renderedRole", &d.attached().Role)
	case "renderedBesideToolResult":
		d.flag("renderedBesideToolResult", &r.BesideResult)
	case "perTurnEffort":
		d.name("perTurnEffort", &r.TurnEffort)
	case "isDisplayOnly":
		d.flag("isDisplayOnly", &r.DisplayOnly)
	case "renderedCutChars":
		d.count("renderedCutChars", &d.attached().RenderedCut)
	case "compactMetadata", "microcompactMetadata":
		d.compact(string(key))
	case "summarizeMetadata":
		d.partial()
	case "totalCostUSD":
		d.dollars("totalCostUSD", &d.cost().TotalUSD)
	case "modelUsage":
		d.modelUsage()
	case "startTime":
		if ms, ok := d.milliseconds(); ok && ms > 0 {
			d.cost().Started = time.UnixMilli(ms).UTC()
		}
	case "totalDuration":
		d.duration(&d.cost().Ran)
	case "totalAPIDuration":
		d.duration(&d.cost().API)
	case "totalAPIDurationWithoutRetries":
		d.duration(&d.cost().APIOnce)
	case "totalToolDuration":
		d.duration(&d.cost().Tools)
	case "hasUnknownModelCost":
		d.flag("hasUnknownModelCost", &d.cost().UnknownModel)

	case "id":
		d.text("id", &d.request().ID)
	case "params":
		d.params()
	case "querySource":
		d.name("querySource", &d.request().Source)
	case "base":
		d.text("base", &d.request().Base)
	case "keep":
		d.integer("keep", &d.request().Keep)
	case "tail":
		d.list("tail", &d.request().Tail)
	case "hash", "shapeHash":
		d.name("hash", &r.Hash)
	case "shape":
		d.shape = d.s.value()
	default:
		return false
	}
	return true
}

func (d *decoder) attached() *Attachment {
	if d.rec.Attachment == nil {
		d.rec.Attachment = &Attachment{}
	}
	return d.rec.Attachment
}

func (d *decoder) cost() *CostState {
	if d.rec.Cost == nil {
		d.rec.Cost = &CostState{}
	}
	return d.rec.Cost
}

func (d *decoder) request() *APIRequest {
	if d.rec.Request == nil {
		d.rec.Request = &APIRequest{}
	}
	return d.rec.Request
}

// recordText takes the text of a record without a message: a string, or as in
// messages a list of parts.
func (d *decoder) recordText() {
	v := d.s.value()
	if d.s.failed {
		return
	}
	text, _, ok := d.joined(v)
	if !ok {
		d.odd("content")
	}
	d.rec.Text = text
}

// errorText takes an error: a word, or an object with a message and a status. Some
// clients leave the message where the server put it, and a type may be all there is.
func (d *decoder) errorText() {
	v := d.s.value()
	if v.Kind() == ValueObject {
		d.status(v.Get("status"))
		object := v
		v = object.Get("message")
		if v.Kind() != ValueString {
			v = object.Get("error").Get("error").Get("message")
		}
		if v.Kind() != ValueString {
			v = object.Get("type")
		}
	}
	if v.Kind() == ValueString {
		d.rec.Error = d.unquote(v[1 : len(v)-1])
	}
}

// status takes the HTTP status of a failed call; anything else is passed over.
func (d *decoder) status(v Value) {
	if n, ok := v.Int(); ok && n > 0 && n < 1000 {
		d.rec.Status = int(n)
	}
}

func (d *decoder) forkedFrom() {
	if d.s.space() == '"' {
		d.name("forkedFrom", &d.rec.ForkedFrom)
		return
	}
	for more := d.object("forkedFrom"); more; more = d.s.next('}') {
		if string(d.s.key()) == "sessionId" {
			d.name("forkedFrom.sessionId", &d.rec.ForkedFrom)
		} else {
			d.s.skip()
		}
	}
}

// compact takes the metadata of a boundary, in the spelling of either format.
func (d *decoder) compact(name string) {
	c := &Compact{}
	d.rec.Compact = c
	for more := d.object(name); more; more = d.s.next('}') {
		switch string(d.s.key()) {
		case "trigger":
			d.name("trigger", &c.Trigger)
		case "preTokens", "pre_tokens":
			d.integer("preTokens", &c.PreTokens)
		case "postTokens", "post_tokens":
			d.integer("postTokens", &c.PostTokens)
		case "messagesSummarized", "messages_summarized":
			d.count("messagesSummarized", &c.MessagesSummarized)
		case "tokensSaved":
			d.integer("tokensSaved", &c.TokensSaved)
		case "compactedToolIds":
			d.list("compactedToolIds", &c.ClearedTools)
		case "preservedSegment", "preserved_segment":
			for more := d.object("preservedSegment"); more; more = d.s.next('}') {
				switch string(d.s.key()) {
				case "headUuid", "head_uuid":
					d.text("headUuid", &c.Head)
				case "anchorUuid", "anchor_uuid":
					d.text("anchorUuid", &c.Anchor)
				case "tailUuid", "tail_uuid":
					d.text("tailUuid", &c.Tail)
				default:
					d.s.skip()
				}
			}
		case "preservedMessages", "preserved_messages":
			for more := d.object("preservedMessages"); more; more = d.s.next('}') {
				switch string(d.s.key()) {
				case "anchorUuid", "anchor_uuid":
					d.text("anchorUuid", &c.Anchor)
				case "uuids":
					d.list("uuids", &c.Preserved)
				case "allUuids", "all_uuids":
					d.list("allUuids", &c.PreservedAll)
				default:
					d.s.skip()
				}
			}
		default:
			d.s.skip()
		}
	}
}

func (d *decoder) partial() {
	p := &Partial{}
	d.rec.Partial = p
	for more := d.object("summarizeMetadata"); more; more = d.s.next('}') {
		switch string(d.s.key()) {
		case "direction":
			d.name("direction", &p.Direction)
		case "messagesSummarized":
			d.count("messagesSummarized", &p.Messages)
		default:
			d.s.skip()
		}
	}
}

// modelUsage takes the totals of each model, in the order of the log.
func (d *decoder) modelUsage() {
	c := d.cost()
	c.Models = nil
	for more := d.object("modelUsage"); more; more = d.s.next('}') {
		m := ModelUsage{Model: d.intern(d.s.key())}
		u := &m.Usage
		for more := d.object("modelUsage"); more; more = d.s.next('}') {
			switch string(d.s.key()) {
			case "inputTokens":
				d.amount("inputTokens", &u.Input)
			case "outputTokens":
				d.amount("outputTokens", &u.Output)
			case "thinkingTokens":
				d.amount("thinkingTokens", &u.Thinking)
			case "cacheReadInputTokens":
				d.amount("cacheReadInputTokens", &u.CacheRead)
			case "cacheCreationInputTokens":
				d.amount("cacheCreationInputTokens", &u.CacheWrite)
			case "cacheCreationEphemeral5mInputTokens":
				u.HasSplit = d.amount("cacheCreationEphemeral5mInputTokens", &u.CacheWrite5m) || u.HasSplit
			case "cacheCreationEphemeral1hInputTokens":
				u.HasSplit = d.amount("cacheCreationEphemeral1hInputTokens", &u.CacheWrite1h) || u.HasSplit
			case "webSearchRequests":
				d.amount("webSearchRequests", &u.WebSearches)
			case "costUSD":
				d.dollars("costUSD", &m.CostUSD)
			case "contextWindow":
				d.amount("contextWindow", &m.Window)
			default:
				d.s.skip()
			}
		}
		c.Models = append(c.Models, m)
	}
}

// milliseconds takes a number of them, up to some ten thousand years. Anything else
// is passed over: other records have such members too.
func (d *decoder) milliseconds() (int64, bool) {
	if c := d.s.space(); c < '0' || c > '9' {
		d.s.skip()
		return 0, false
	}
	f, err := strconv.ParseFloat(string(d.s.number()), 64)
	return int64(f), err == nil && f < 1e15
}

func (d *decoder) duration(p *time.Duration) {
	if ms, ok := d.milliseconds(); ok && ms < 1e12 {
		*p = time.Duration(ms) * time.Millisecond
	}
}

func (d *decoder) params() {
	q := d.request()
	for more := d.object("params"); more; more = d.s.next('}') {
		switch string(d.s.key()) {
		case "model":
			d.name("params.model", &q.Model)
		case "betas":
			d.list("params.betas", &q.Betas)
		case "max_tokens":
			d.integer("params.max_tokens", &q.MaxTokens)
		default:
			d.s.skip()
		}
	}
}

// finishShape reads a shape, and drops what looks like a request in records that
// are none: "id" is no rare name.
func (d *decoder) finishShape() {
	r := d.rec
	if r.Kind != KindAPIRequest {
		r.Request = nil
	}
	if d.shape.Kind() != ValueObject {
		return
	}
	system := d.shape.Get("system")
	tools := d.shape.Get("tools")
	r.Shape = &Shape{System: system.Size(), Tools: d.tools(tools), SystemJSON: d.kept(system), ToolsJSON: d.kept(tools)}
	for block := range system.Items() {
		if missing, ok := block.Get("scrubbedChars").Int(); ok {
			r.Shape.Missing += missing
		}
	}
}

// tools reads tool definitions. Where one holds its schema as sent, that is the
// definition, and the rest repeats it.
func (d *decoder) tools(v Value) (defs []ToolDef) {
	for t := range v.Items() {
		def := ToolDef{Name: t.Get("name").Text(), Deferred: t.Get("defer_loading").Bool()}
		if missing, ok := t.Get("scrubbedChars").Int(); ok {
			def.Missing = missing
		}
		sent := t
		if schema := t.Get("schema"); schema.Kind() == ValueObject {
			sent = schema
			def.Deferred = def.Deferred || schema.Get("defer_loading").Bool()
		}
		def.Size = measure(sent)
		defs = append(defs, def)
	}
	return defs
}
