package jsonl

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// decodeOne decodes a line that holds one record.
func decodeOne(t testing.TB, line string, opt Options) (*Record, Stats) {
	t.Helper()
	var st Stats
	opt.Stats = &st
	var rec *Record
	for r, err := range Read("x.jsonl", strings.NewReader(line), opt) {
		if err != nil || rec != nil || r.Broken {
			t.Fatalf("%v, %+v: want one record of %s", err, r, line)
		}
		rec = r
	}
	return rec, st
}

// common are the members of most records, to put behind others.
const common = `,"uuid":"u","timestamp":"2026-11-30T08:36:26.752+01:00","parentUuid":"p","isSidechain":true,"userType":"external","entrypoint":"cli","cwd":"/home/dev/shop","sessionId":"s","agentId":"ag","version":"2.1.332","gitBranch":"main","slug":"x-y"}`

// TestKinds decodes one record of each kind, in the shapes of the recordings,
// and compares what differs from an empty record with those members.
func TestKinds(t *testing.T) {
	base := Record{Format: FormatClaude, UUID: "u", Parent: "p", Session: "s", Agent: "ag", Sidechain: true,
		Time:    time.Date(2026, 11, 30, 7, 36, 26, 752e6, time.UTC),
		Version: "2.1.332", CWD: "/home/dev/shop", Branch: "main", Entrypoint: "cli"}
	letters := func(n int) Size { return Size{Letters: n, Words: 1} }
	for _, c := range []struct {
		name, line string
		want       func(r *Record)
	}{
		{"prompt", `{"type":"user","promptId":"pid","message":{"role":"user","content":"hello"},"permissionMode":"plan","promptSource":"typed","turnOrigin":"human","origin":{"kind":"human"},"rowSource":"local","turnPosition":{"promptIndex":0}` + common,
			func(r *Record) {
				r.Kind, r.Type = KindUser, "user"
				r.PromptID, r.Mode, r.PromptSource, r.TurnOrigin, r.Origin = "pid", "plan", "typed", "human", "human"
				r.Message = &Message{Role: "user", String: true, Blocks: []Block{{Kind: BlockText, Type: "text", Text: "hello", Size: letters(5), Bytes: 7}}}
			}},
		{"body", `{"type":"user","isMeta":true,"sourceToolUseID":"toolu_1","message":{"role":"user","content":[{"type":"text","text":"ab"}]}` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Meta, r.SourceToolUse = KindUser, "user", true, "toolu_1"
				r.Message = &Message{Role: "user", Blocks: []Block{{Kind: BlockText, Type: "text", Text: "ab", Size: letters(2), Bytes: 27}}}
			}},
		{"stack", `{"type":"user","stackedOriginalInput":"/a /b x","stackedExpansion":true,"interruptedMessageId":"m","forkedFrom":{"sessionId":"old","messageUuid":"x"}` + common,
			func(r *Record) {
				r.Kind, r.Type, r.StackedInput, r.Stacked, r.Interrupted, r.ForkedFrom = KindUser, "user", "/a /b x", true, "m", "old"
			}},
		{"summary of a compaction", `{"type":"user","isCompactSummary":true,"isVisibleInTranscriptOnly":true,"summarizeMetadata":{"messagesSummarized":14,"direction":"up_to"}` + common,
			func(r *Record) {
				r.Kind, r.Type, r.CompactSummary, r.TranscriptOnly = KindUser, "user", true, true
				r.Partial = &Partial{Direction: "up_to", Messages: 14}
			}},
		{"assistant", `{"type":"assistant","requestId":"req","requestedModel":"m","promptCacheRequested":"5m","attributionSkill":"sk","message":{"id":"msg","type":"message","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"abc","signature":"zz"},{"type":"redacted_thinking","data":"q"},{"type":"tool_use","id":"toolu_1","name":"Skill","input":{"skill":"a"},"caller":{"type":"direct"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":7,"cache_read_input_tokens":21954,"output_tokens":8,"output_tokens_details":{"thinking_tokens":2},"server_tool_use":{"web_search_requests":1,"web_fetch_requests":2},"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":4,"ephemeral_5m_input_tokens":3},"inference_geo":"eu","iterations":[],"speed":"fast","fallback_credit":null}}` + common,
			func(r *Record) {
				r.Kind, r.Type, r.RequestID, r.RequestedModel, r.CacheRequested, r.AttributionSkill = KindAssistant, "assistant", "req", "m", "5m", "sk"
				r.Message = &Message{ID: "msg", Role: "assistant", Model: "claude-x", StopReason: "tool_use",
					Blocks: []Block{
						{Kind: BlockThinking, Type: "thinking", Text: "abc", Size: letters(3), Bytes: 53},
						{Kind: BlockThinking, Type: "redacted_thinking", Bytes: 39},
						{Kind: BlockToolUse, Type: "tool_use", ID: "toolu_1", Name: "Skill", Input: []byte(`{"skill":"a"}`), Size: Size{Letters: 6, Punct: 7, Words: 2}, Bytes: 98},
					},
					Usage: &Usage{Input: 3, Output: 8, CacheRead: 21954, CacheWrite: 7, CacheWrite5m: 3, CacheWrite1h: 4, HasSplit: true,
						WebSearches: 1, WebFetches: 2, Thinking: 2, ServiceTier: "standard", Speed: "fast", Geo: "eu"}}
			}},
		{"API error", `{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","message":{"role":"assistant","model":"<synthetic>","content":"gone","usage":{"input_tokens":0,"cache_creation":null,"server_tool_use":null,"service_tier":null}}` + common,
			func(r *Record) {
				r.Kind, r.Type, r.APIError, r.Error = KindAssistant, "assistant", true, "rate_limit"
				r.Message = &Message{Role: "assistant", Model: "<synthetic>", String: true, Usage: &Usage{}, Blocks: []Block{{Kind: BlockText, Type: "text", Text: "gone", Size: letters(4), Bytes: 6}}}
			}},
		{"skill result", `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"Launching"}]},"toolUseResult":{"success":true,"commandName":"a","allowedTools":["Bash(git *)"],"model":"haiku","status":"inline"},"sourceToolAssistantUUID":"p"` + common,
			func(r *Record) {
				r.Kind, r.Type, r.SourceAssistant = KindUser, "user", "p"
				r.Message = &Message{Role: "user", Blocks: []Block{{Kind: BlockToolResult, Type: "tool_result", ID: "toolu_1", Text: "Launching", Size: letters(9), Bytes: 68}}}
				r.Result = &ToolResult{Success: true, Command: "a", AllowedTools: []string{"Bash(git *)"}, Model: "haiku", Status: "inline"}
			}},
		{"refusal", `{"type":"user","toolDenialKind":"user-rejected","message":{"role":"user","content":[{"type":"tool_result","content":"no","is_error":true,"tool_use_id":"toolu_1"}]},"toolUseResult":"Error: no"` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Denial = KindUser, "user", "user-rejected"
				r.Message = &Message{Role: "user", Blocks: []Block{{Kind: BlockToolResult, Type: "tool_result", ID: "toolu_1", Text: "no", IsError: true, Size: letters(2), Bytes: 77}}}
				r.Result = &ToolResult{IsString: true, String: "Error: no"}
			}},
		{"parts and agent result", `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":[{"type":"text","text":"a"},{"type":"image","source":{"data":"AAAA"}},{"type":"tool_reference","tool_name":"x"},{"type":"text","text":"b"}]}]},"toolUseResult":{"isAsync":true,"status":"async_launched","agentId":"a7","agentType":"packer","resolvedModel":"claude-x","totalTokens":12,"usage":{"input_tokens":3},"content":[{"type":"text","text":"packed"}]}` + common,
			func(r *Record) {
				r.Kind, r.Type = KindUser, "user"
				r.Message = &Message{Role: "user", Blocks: []Block{{Kind: BlockToolResult, Type: "tool_result", ID: "toolu_1", Text: "a\nb", Images: 1, Parts: true, Size: Size{Letters: 2, Words: 2}, Bytes: 196}}}
				r.Result = &ToolResult{Background: true, Status: "async_launched", Agent: "a7", AgentType: "packer", Model: "claude-x", Tokens: 12, Usage: &Usage{Input: 3}}
			}},
		{"fork result", `{"type":"user","toolUseResult":{"success":true,"commandName":"f","status":"forked","background":true,"agentId":"a3","result":"done"}` + common,
			func(r *Record) {
				r.Kind, r.Type = KindUser, "user"
				r.Result = &ToolResult{Success: true, Command: "f", Status: "forked", Background: true, Agent: "a3", Result: "done"}
			}},
		{"file result", `{"type":"user","toolUseResult":{"type":"text","file":{"filePath":"/a/SKILL.md","content":"x"},"stdout":"out"}` + common,
			func(r *Record) {
				r.Kind, r.Type = KindUser, "user"
				r.Result = &ToolResult{FilePath: "/a/SKILL.md", Stdout: "out"}
			}},
		{"MCP result", `{"type":"user","toolUseResult":[{"type":"text","text":"x"}],"message":{"content":["plain",{"type":"image","source":{}}]}` + common,
			func(r *Record) {
				r.Kind, r.Type = KindUser, "user"
				r.Message = &Message{Blocks: []Block{{Kind: BlockText, Type: "text", Text: "plain", Size: letters(5), Bytes: 7}, {Kind: BlockImage, Type: "image", Images: 1, Bytes: 28}}}
			}},
		{"boundary", `{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","logicalParentUuid":"l","level":"info","compactMetadata":{"trigger":"manual","preTokens":36970,"postTokens":7188,"messagesSummarized":3,"preservedSegment":{"headUuid":"h","anchorUuid":"a","tailUuid":"t"},"preservedMessages":{"anchorUuid":"a","uuids":["h","t"],"allUuids":["h","m","t"]},"cumulativeDroppedTokens":1}` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Subtype, r.Text, r.LogicalParent = KindSystem, "system", "compact_boundary", "Conversation compacted", "l"
				r.Compact = &Compact{Trigger: "manual", PreTokens: 36970, PostTokens: 7188, MessagesSummarized: 3, Head: "h", Anchor: "a", Tail: "t",
					Preserved: []string{"h", "t"}, PreservedAll: []string{"h", "m", "t"}}
			}},
		{"microcompaction", `{"type":"system","subtype":"microcompact_boundary","microcompactMetadata":{"trigger":"auto","preTokens":5,"tokensSaved":3,"compactedToolIds":["toolu_1"],"clearedAttachmentUUIDs":[]}` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Subtype = KindSystem, "system", "microcompact_boundary"
				r.Compact = &Compact{Trigger: "auto", PreTokens: 5, TokensSaved: 3, ClearedTools: []string{"toolu_1"}}
			}},
		{"local command", `{"type":"system","subtype":"local_command","content":"<local-command-stdout></local-command-stdout>","commandRun":{"command":"compact","args":"x"}` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Subtype, r.Text = KindSystem, "system", "local_command", "<local-command-stdout></local-command-stdout>"
				r.Command, r.CommandArgs = "compact", "x"
			}},
		{"API retry", `{"type":"system","subtype":"api_error","error":{"message":"overloaded","status":529},"content":null,"retryInMs":1,"retryAttempt":1,"maxRetries":10` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Subtype, r.Error, r.Status, r.Retry, r.MaxRetries = KindSystem, "system", "api_error", "overloaded", 529, 1, 10
			}},
		{"API retry, as the server says", `{"type":"system","subtype":"api_error","error":{"status":401,"error":{"type":"error","error":{"type":"authentication_error","message":"no key"}},"type":"authentication_error"}` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Subtype, r.Error, r.Status = KindSystem, "system", "api_error", "no key", 401
			}},
		{"API retry, a type only", `{"type":"system","subtype":"api_error","error":{"status":"x","type":"overloaded_error"},"apiErrorStatus":400` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Subtype, r.Error, r.Status = KindSystem, "system", "api_error", "overloaded_error", 400
			}},
		{"queue", `{"type":"queue-operation","operation":"enqueue","content":"hi","reason":"x","commandUuid":"c"` + common,
			func(r *Record) { r.Kind, r.Type, r.Subtype, r.Text = KindQueue, "queue-operation", "enqueue", "hi" }},
		{"last prompt", `{"type":"last-prompt","lastPrompt":"hi","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Text, r.LeafUUID, r.Explicit = KindLastPrompt, "last-prompt", "hi", "00000000-0000-0000-0000-000000000000", true
			}},
		{"summary", `{"type":"summary","summary":"about","leafUuid":"l"` + common,
			func(r *Record) { r.Kind, r.Type, r.Text, r.LeafUUID = KindSummary, "summary", "about", "l" }},
		{"cost", `{"type":"cost-state","totalCostUSD":0.0067152,"totalAPIDuration":22,"totalAPIDurationWithoutRetries":19.5,"totalToolDuration":7,"totalDuration":801,"startTime":1796027786337,"modelUsage":{"claude-b":{"inputTokens":3,"outputTokens":8,"thinkingTokens":1,"cacheReadInputTokens":9,"cacheCreationInputTokens":5,"cacheCreationEphemeral5mInputTokens":5,"cacheCreationEphemeral1hInputTokens":0,"webSearchRequests":2,"costUSD":0.0067152},"claude-a":{}},"hasUnknownModelCost":true` + common,
			func(r *Record) {
				r.Kind, r.Type = KindCostState, "cost-state"
				r.Cost = &CostState{TotalUSD: "0.0067152", Started: time.UnixMilli(1796027786337).UTC(), Ran: 801 * time.Millisecond, API: 22 * time.Millisecond,
					APIOnce: 19 * time.Millisecond, Tools: 7 * time.Millisecond, UnknownModel: true, Models: []ModelUsage{
						{Model: "claude-b", CostUSD: "0.0067152", Usage: Usage{Input: 3, Output: 8, Thinking: 1, CacheRead: 9, CacheWrite: 5, CacheWrite5m: 5, HasSplit: true, WebSearches: 2}},
						{Model: "claude-a"}}}
			}},
		{"mode", `{"type":"mode","mode":"normal"` + common, func(r *Record) { r.Type, r.Mode = "mode", "normal" }},
		{"progress", `{"type":"progress","data":{"type":"hook_progress","uuid":"no"},"parentToolUseID":"x","toolUseID":"y"` + common,
			func(r *Record) { r.Kind, r.Type = KindProgress, "progress" }},
		{"request", `{"type":"api-request","id":"i","querySource":"sdk","shapeHash":"h","params":{"model":"m","betas":["b"],"max_tokens":32000,"thinking":{}},"base":"b0","keep":2,"tail":["t"],"cacheControl":[],"thread":{"type":"none"},"requestDigest":"d","echoWireToolInputs":false` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Hash = KindAPIRequest, "api-request", "h"
				r.Request = &APIRequest{ID: "i", Model: "m", Source: "sdk", Base: "b0", Keep: 2, Tail: []string{"t"}, Betas: []string{"b"}, MaxTokens: 32000}
			}},
		{"shape", `{"type":"api-request-shape","shapeHash":"h","scrubbedChars":3,"shape":{"system":[{"type":"t","text":"ab"}],"tools":[{"name":"Skill","description":"d"}]}` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Hash, r.Missing = KindAPIRequestShape, "api-request-shape", "h", 3
				r.Shape = &Shape{System: Size{Letters: 3, Words: 2}, Tools: []ToolDef{{Name: "Skill", Size: Size{Letters: 21, Punct: 13, Words: 4}}}}
			}},
		{"blob", `{"type":"api-request-blob","hash":"h","message":{"role":"user","content":[{"type":"text","text":"ab"}],"output_config":{}}` + common,
			func(r *Record) {
				r.Kind, r.Type, r.Hash = KindAPIRequestBlob, "api-request-blob", "h"
				r.Message = &Message{Role: "user", Blocks: []Block{{Kind: BlockText, Type: "text", Text: "ab", Size: letters(2), Bytes: 27}}}
			}},
		{"workflow journal", `{"type":"result","key":"k","result":{"a":1}` + common, func(r *Record) { r.Type = "result" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, st := decodeOne(t, c.line, Options{})
			want := base
			c.want(&want)
			got.Raw, got.Pos = nil, Pos{}
			compare(t, got, &want)
			if len(st.UnknownFields)+len(st.UnknownTypes) > 0 {
				t.Errorf("unknown: %v %v", st.UnknownFields, st.UnknownTypes)
			}
		})
	}
}

// compare reports the fields of two records that differ.
func compare(t *testing.T, got, want *Record) {
	t.Helper()
	g, w := reflect.ValueOf(*got), reflect.ValueOf(*want)
	for i := range g.NumField() {
		if a, b := g.Field(i).Interface(), w.Field(i).Interface(); !reflect.DeepEqual(a, b) {
			t.Errorf("%s:\n got %s\nwant %s", g.Type().Field(i).Name, show(a), show(b))
		}
	}
}

func show(v any) string {
	if m, ok := v.(*Message); ok && m != nil {
		return fmt.Sprintf("%+v usage %+v", *m, m.Usage)
	}
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() {
		return fmt.Sprintf("%+v", p.Elem().Interface())
	}
	return fmt.Sprintf("%+v", v)
}

func TestAttachments(t *testing.T) {
	for _, c := range []struct {
		name, attachment, beside string
		want                     Attachment
	}{
		{"listing", `{"type":"skill_listing","content":"- a: b","skillCount":1,"isInitial":false,"names":["a"],"digests":["d"]}`,
			`,"rendered":[{"content":"<r>"},{"content":"xy"}],"renderedRole":"system","renderedCutChars":9`,
			Attachment{Type: "skill_listing", Content: "- a: b", HasInitial: true, Count: 1, HasCount: true, Names: []string{"a"}, HasNames: true,
				Digests: []string{"d"}, HasDigests: true, Rendered: "<r>", Role: "system", HasRendered: true, RenderedCut: 9,
				Size: Size{Letters: 4, Punct: 2, Blanks: 2, Words: 4}, RenderedSize: Size{Letters: 3, Punct: 2, Words: 2}}},
		{"old listing", `{"type":"skill_listing","content":"","isInitial":true}`, ``, Attachment{Type: "skill_listing", Initial: true, HasInitial: true}},
		{"bodies", `{"type":"invoked_skills","skills":[{"name":"a","path":"userSettings:a","content":"x\ud83d"},"b",{"name":5,"content":"c"}]}`, ``,
			Attachment{Type: "invoked_skills", Skills: []InvokedSkill{{"a", "userSettings:a", "x\xED\xA0\xBD"}, {Name: "b"}, {Content: "c"}}, Size: Size{Letters: 17, Punct: 1, Other: 1, Words: 6}}},
		{"permissions", `{"type":"command_permissions","allowedTools":["Bash"],"model":"haiku"}`, ``,
			Attachment{Type: "command_permissions", AllowedTools: []string{"Bash"}, Model: "haiku", Size: Size{Letters: 9, Words: 2}}},
		{"dynamic", `{"type":"dynamic_skill","skillDir":"/d","skillNames":["x:y"],"displayPath":"d"}`, ``,
			Attachment{Type: "dynamic_skill", SkillDir: "/d", SkillNames: []string{"x:y"}, Size: Size{Letters: 4, Punct: 2, Words: 4}}},
		{"queued", `{"type":"queued_command","prompt":"go on","origin":{"kind":"human"},"commandMode":"prompt"}`, ``,
			Attachment{Type: "queued_command", Prompt: "go on", Origin: "human", Size: Size{Letters: 15, Blanks: 1, Words: 4}}},
		{"queued with image", `{"type":"queued_command","prompt":[{"type":"image","source":{}},{"type":"text","text":"see"}]}`, ``,
			Attachment{Type: "queued_command", Prompt: "see", Images: 1, Size: Size{Letters: 12, Words: 3}}},
		{"environment", `{"type":"environment","snapshot":{"workingDirectory":"/w","isGitRepo":true}}`, ``,
			Attachment{Type: "environment", WorkingDirectory: "/w", GitRepo: true, HasGitRepo: true, Size: Size{Letters: 1, Punct: 1, Words: 1}}},
		{"model", `{"type":"model","identity":{"modelId":"m[1m]"},"text":"t"}`, ``,
			Attachment{Type: "model", Model: "m[1m]", Text: "t", Size: Size{Letters: 3, Digits: 1, Punct: 2, Words: 3}}},
		{"task", `{"type":"task_status","taskId":"i","taskType":"local_agent","status":"completed","description":"d","deltaSummary":null}`, ``,
			Attachment{Type: "task_status", TaskID: "i", TaskType: "local_agent", TaskStatus: "completed", TaskDescription: "d", Size: Size{Letters: 21, Punct: 1, Words: 5}}},
		{"file", `{"type":"file","filename":"/f","content":{"type":"text","file":{"filePath":"/f","content":"body"}}}`, ``,
			Attachment{Type: "file", FilePath: "/f", Text: "body", Size: Size{Letters: 10, Punct: 2, Words: 4}}},
		{"memory", `{"type":"nested_memory","path":"/m","content":{"path":"/m","content":"note"}}`, ``,
			Attachment{Type: "nested_memory", FilePath: "/m", Text: "note", Size: Size{Letters: 6, Punct: 2, Words: 3}}},
		{"hook", `{"type":"hook_additional_context","content":["a","b"],"hookName":"h"}`, ``,
			Attachment{Type: "hook_additional_context", Text: "a\nb", Size: Size{Letters: 3, Words: 3}}},
		{"fallback", `{"type":"unknown_command_fallback","commandName":"x","availableCommandNames":["y"],"availableCommandCount":1}`, ``,
			Attachment{Type: "unknown_command_fallback", Command: "x", Size: Size{Letters: 2, Words: 2}}},
		{"prompt", `{"type":"prompt_snapshot","systemPrompt":["abc",{"scrubbed":"xx","scrubbedChars":40}],"tools":[{"name":"Skill","description":"d","scrubbedChars":7,"schema":{"name":"Skill"}}]}`, ``,
			Attachment{Type: "prompt_snapshot", SystemPrompt: Value(`["abc",{"scrubbed":"xx","scrubbedChars":40}]`), ToolDefs: Value(`[{"name":"Skill","description":"d","scrubbedChars":7,"schema":{"name":"Skill"}}]`), SystemSize: 43, Tools: []ToolDef{{Name: "Skill", Missing: 7, Size: Size{Letters: 9, Punct: 7, Words: 2}}}, Size: Size{Letters: 16, Words: 5}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, st := decodeOne(t, `{"attachment":`+c.attachment+c.beside+`,"type":"attachment"`+common, Options{})
			c.want.Bytes = len(c.attachment)
			if !reflect.DeepEqual(*r.Attachment, c.want) {
				t.Errorf("\n got %+v\nwant %+v", *r.Attachment, c.want)
			}
			if want := strings.Contains(c.attachment, `"name":5`); (len(r.Defects) > 0) != want || len(st.UnknownFields)+len(st.UnknownTypes) > 0 {
				t.Errorf("%+v %+v", r.Defects, st)
			}
		})
	}
}

// TestBadFields gives each member a value of the wrong type: the record stands,
// with a defect that names it.
func TestBadFields(t *testing.T) {
	for _, c := range []struct {
		field string
		lost  bool
	}{
		{`"uuid":5`, true}, {`"parentUuid":{}`, true}, {`"sessionId":[1]`, false}, {`"timestamp":5`, false}, {`"timestamp":"yesterday"`, false},
		{`"isMeta":"yes"`, false}, {`"message":"text"`, true}, {`"message":5`, true}, {`"message":{"content":5}`, true}, {`"message":{"content":[5]}`, true},
		{`"message":{"content":[{"type":"text","text":5}]}`, true}, {`"message":{"content":[{"type":"tool_result","content":5}]}`, true},
		{`"message":{"content":[],"usage":"many"}`, true}, {`"message":{"content":[],"usage":{"input_tokens":"many"}}`, false},
		{`"message":{"content":[],"usage":{"input_tokens":1.5}}`, false}, {`"message":{"content":[],"usage":{"output_tokens":-3}}`, false},
		{`"message":{"content":[],"usage":{"cache_read_input_tokens":4611686018427387904}}`, false}, {`"message":{"content":[],"usage":{"cache_creation":{"ephemeral_5m_input_tokens":-1}}}`, false},
		{`"totalCostUSD":-5`, false}, {`"totalCostUSD":1e300`, false}, {`"totalCostUSD":"12.5"`, false}, {`"modelUsage":{"m":{"costUSD":9e12}}`, false}, {`"modelUsage":{"m":{"inputTokens":-1}}`, false},
		{`"message":{"id":{},"content":"x"}`, false},
		{`"toolUseResult":5`, false}, {`"toolUseResult":{"success":"yes"}`, false}, {`"attachment":"x"`, true},
		{`"attachment":{"type":"skill_listing","content":"x","names":"a"}`, false}, {`"attachment":{"type":"skill_listing","skillCount":"1"}`, false},
		{`"attachment":{"type":"invoked_skills","skills":{}}`, true}, {`"attachment":{"type":"invoked_skills","skills":[5]}`, true},
		{`"compactMetadata":[]`, false}, {`"compactMetadata":{"preservedSegment":5}`, false}, {`"modelUsage":{"m":5}`, false},
		{`"content":5`, true}, {`"origin":5`, false}, {`"params":[]`, false}, {`"forkedFrom":5`, false},
	} {
		r, _ := decodeOne(t, `{"type":"user",`+c.field+`,"version":"2.1.3","cwd":"/w"}`, Options{})
		if len(r.Defects) != 1 || r.Defects[0].Kind != DefectField || r.Defects[0].Lost != c.lost || r.Defects[0].Pos.Line != 1 {
			t.Errorf("%s: %+v", c.field, r.Defects)
		}
		if r.Kind != KindUser || r.CWD != "/w" || r.Version != "2.1.3" {
			t.Errorf("%s: the rest of the record is gone: %+v", c.field, r)
		}
	}
	// Null is absent, wherever it stands.
	r, _ := decodeOne(t, `{"type":"user","uuid":null,"parentUuid":null,"timestamp":null,"message":{"id":null,"content":null,"usage":null,"role":null},"toolUseResult":null,"attachment":null,"isMeta":null,"compactMetadata":null,"content":null,"modelUsage":null,"rendered":null,"error":null,"origin":null}`, Options{})
	if len(r.Defects) > 0 {
		t.Errorf("null: %+v", r.Defects)
	}
	// Defects of one record are limited.
	r, _ = decodeOne(t, `{"type":"user","message":{"content":[`+strings.Repeat("5,", 1000)+`5]}}`, Options{})
	if len(r.Defects) != 8 {
		t.Errorf("%d defects", len(r.Defects))
	}
}

func TestUnknown(t *testing.T) {
	r, st := decodeOne(t, `{"type":"brand-new","alpha":{"x":[1]},"beta":2,"uuid":"u"}`, Options{})
	if r.Kind != KindOther || r.Type != "brand-new" || r.UUID != "u" || r.Unknown != 2 || fmt.Sprint(r.UnknownFields) != "[alpha beta]" {
		t.Errorf("%+v", r)
	}
	if fmt.Sprint(st.UnknownTypes, st.UnknownFields) != "map[brand-new:1] map[alpha:1 beta:1]" {
		t.Errorf("%+v", st)
	}
	_, st = decodeOne(t, `{"type":"attachment","attachment":{"type":"novel"}}`, Options{})
	_, block := decodeOne(t, `{"type":"user","message":{"content":[{"type":"hologram"}]}}`, Options{})
	st.Add(&block)
	if fmt.Sprint(st.UnknownTypes) != "map[attachment novel:1 block hologram:1]" {
		t.Errorf("%+v", st)
	}
	var names strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&names, `,"f%d":0`, i)
	}
	r, st = decodeOne(t, `{"type":"user"`+names.String()+`}`, Options{})
	if r.Unknown != 1000 || len(r.UnknownFields) != 8 || len(st.UnknownFields) != 257 || st.UnknownFields["(more)"] != 744 {
		t.Errorf("%d unknown, %d and %d names, %d more", r.Unknown, len(r.UnknownFields), len(st.UnknownFields), st.UnknownFields["(more)"])
	}
}

func TestRepeatedMembers(t *testing.T) {
	// The last one counts, as in the client's parser.
	r, _ := decodeOne(t, `{"type":"user","message":{"content":"a"},"message":{"content":[{"type":"text","text":"x","text":"b"}]},"uuid":"1","uuid":"2"}`, Options{})
	if r.UUID != "2" || len(r.Message.Blocks) != 1 || r.Message.Blocks[0].Text != "b" || r.Message.Blocks[0].Size.Len16() != 1 {
		t.Errorf("%+v", r.Message)
	}
}

func TestStreamJSON(t *testing.T) {
	log := `{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["Bash","Skill"],"mcp_servers":[],"model":"claude-x","permissionMode":"plan","slash_commands":["compact"],"apiKeySource":"none","claude_code_version":"2.1.332","output_style":"default","agents":["Explore"],"skills":["a","b"],"plugins":[{"name":"kit","path":"/p"}],"uuid":"1"}
{"type":"assistant","message":{"id":"m","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"toolu_1","name":"Skill","input":{"skill":"a"}}],"usage":{"input_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"2"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"body"}]},"parent_tool_use_id":null,"session_id":"s","uuid":"3","isSynthetic":true,"timestamp":"2026-11-30T08:36:26.752Z"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]},"parent_tool_use_id":"toolu_0","session_id":"s","uuid":"4","tool_use_result":{"success":true,"commandName":"a"}}
{"type":"system","subtype":"compact_boundary","session_id":"s","uuid":"5","compact_metadata":{"trigger":"auto","pre_tokens":9}}
{"type":"stream_event","event":{"type":"x"},"session_id":"s","uuid":"6","parent_tool_use_id":null}
{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":2,"result":"done","session_id":"s","total_cost_usd":0.25,"usage":{"input_tokens":7},"modelUsage":{"claude-x":{"inputTokens":7,"costUSD":0.25,"contextWindow":200000}},"permission_denials":[],"uuid":"7"}
`
	var got []*Record
	var st Stats
	for r, err := range Read("x", strings.NewReader(log), Options{Stats: &st}) {
		if err != nil || len(r.Defects) > 0 || r.Format != FormatStream || r.Session != "s" {
			t.Fatalf("%v %+v", err, r)
		}
		got = append(got, r)
	}
	if len(st.UnknownFields)+len(st.UnknownTypes) > 0 {
		t.Errorf("%+v", st)
	}
	kinds := []Kind{KindInit, KindAssistant, KindUser, KindUser, KindSystem, KindOther, KindResult}
	for i, k := range kinds {
		if got[i].Kind != k {
			t.Errorf("record %d: kind %d, want %d", i+1, got[i].Kind, k)
		}
	}
	init := &Init{Model: "claude-x", Skills: []string{"a", "b"}, SlashCommands: []string{"compact"}, Plugins: []string{"kit"}, Tools: []string{"Bash", "Skill"}, PermissionMode: "plan", OutputStyle: "default"}
	if !reflect.DeepEqual(got[0].Init, init) || got[0].Version != "2.1.332" || got[0].CWD != "/w" {
		t.Errorf("init: %+v", got[0].Init)
	}
	if !got[2].Synthetic || got[2].Message.Blocks[0].Text != "body" || got[2].Sidechain {
		t.Errorf("body: %+v", got[2])
	}
	if !got[3].Sidechain || got[3].Agent != "toolu_0" || got[3].Result == nil || got[3].Result.Command != "a" {
		t.Errorf("subagent: %+v", got[3])
	}
	if c := got[4].Compact; c == nil || c.Trigger != "auto" || c.PreTokens != 9 {
		t.Errorf("boundary: %+v", c)
	}
	if r := got[6]; r.Text != "done" || r.Cost == nil || r.Cost.TotalUSD != "0.25" || r.Cost.Usage.Input != 7 || r.Cost.Models[0].Window != 200000 {
		t.Errorf("result: %+v", r)
	}
	// From 2.1.260 on, logs carry session_id too.
	if r, _ := decodeOne(t, `{"type":"user","session_id":"s","sessionId":"s"}`, Options{}); r.Format != FormatClaude {
		t.Errorf("format %s", r.Format)
	}
}

// TestSizes pins what comes in full although only sizes are asked for.
func TestSizes(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	huge := strings.Repeat("x", 10_000)
	log := `{"type":"user","message":{"content":"` + long + `"},"uuid":"prompt"}
{"type":"assistant","message":{"content":[{"type":"text","text":"` + long + `"},{"type":"thinking","thinking":"` + long + `"},{"type":"text","text":"short"}]},"uuid":"answer"}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"sk","name":"Skill","input":{"skill":"a","args":"` + huge + `"}},{"type":"tool_use","id":"w","name":"Write","input":{"file_path":"/f","content":"` + huge + `","mode":1}}]},"uuid":"calls"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"sk","content":"` + long + `"}]},"uuid":"skill result"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"w","content":"` + long + `"}]},"toolUseResult":{"stdout":"` + long + `"},"uuid":"result"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"e","content":"` + long + `","is_error":true}]},"toolUseResult":"` + long + `","uuid":"error"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"f","content":[{"type":"text","text":"` + long + `"}]}]},"toolUseResult":{"commandName":"f","result":"` + long + `"},"uuid":"fork"}
{"type":"attachment","attachment":{"type":"skill_listing","content":"` + long + `"},"rendered":[{"content":"` + long + `"}],"uuid":"listing"}
{"type":"attachment","attachment":{"type":"file","content":{"file":{"content":"` + long + `"}}},"rendered":[{"content":"` + long + `"}],"uuid":"file"}
{"type":"api-request-blob","message":{"role":"user","content":"` + long + `"},"uuid":"blob"}
`
	for _, sizes := range []bool{false, true} {
		got := map[string]string{}
		for r, err := range Read("x", strings.NewReader(log), Options{Sizes: sizes}) {
			if err != nil {
				t.Fatal(err)
			}
			var s []string
			say := func(elided bool, n, size int) {
				if elided {
					s = append(s, fmt.Sprintf("-%d", size))
				} else {
					s = append(s, fmt.Sprint(n))
				}
			}
			if r.Message != nil {
				for _, b := range r.Message.Blocks {
					say(b.Elided, len(b.Text)+len(b.Input), b.Size.Len16())
					if b.Name == "Write" && string(b.Input) != `{"file_path":"/f","mode":1}` && sizes {
						t.Errorf("input: %s", b.Input)
					}
				}
			}
			if r.Result != nil {
				say(r.Result.Elided, len(r.Result.String)+len(r.Result.Stdout)+len(r.Result.Result), 0)
			}
			if a := r.Attachment; a != nil {
				say(a.Elided, len(a.Content)+len(a.Text)+len(a.Rendered), a.Size.Len16()+a.RenderedSize.Len16())
			}
			got[r.UUID] = strings.Join(s, " ")
		}
		want := map[string]string{"prompt": "5000", "answer": "5000 5000 5", "calls": "10023 10040", "skill result": "5000", "result": "5000 5000",
			"error": "5000 5000", "fork": "5000 5000", "listing": "10000", "file": "10000", "blob": "5000"}
		if sizes {
			want["answer"], want["calls"], want["result"], want["file"], want["blob"] = "-5000 -5000 5", "10023 -10040", "-5000 -0", "-10000", "-5000"
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("sizes %v:\n got %v\nwant %v", sizes, got, want)
		}
	}
}
