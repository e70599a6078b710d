package jsonl

// streamField takes the value of a member that only stream-json output has, and
// reports whether it is one. Its messages are those of the logs; the names
// around them are written in another style.
func (d *decoder) streamField(key []byte) bool {
	r := d.rec
	switch string(key) {
	case "session_id":
		d.name("session_id", &d.sessionID)
	case "parent_tool_use_id":
		d.name("parent_tool_use_id", &d.toolUse)
	case "isSynthetic":
		d.flag("isSynthetic", &r.Synthetic)
	case "tool_use_result":
		d.toolResult("tool_use_result")
	case "compact_metadata":
		d.compact("compact_metadata")
	case "claude_code_version":
		d.name("claude_code_version", &r.Version)
	case "is_error":
		d.flag("is_error", &r.APIError)
	case "result":
		// The final text of a session; in a workflow's journal an object.
		if v := d.s.value(); v.Kind() == ValueString {
			r.Text = d.unquote(v[1 : len(v)-1])
		}
	case "total_cost_usd":
		d.dollars("total_cost_usd", &d.cost().TotalUSD)
	case "duration_ms":
		d.duration(&d.cost().Ran)
	case "duration_api_ms":
		d.duration(&d.cost().API)
	case "usage":
		d.cost().Usage = d.usage(&Usage{})
	case "model":
		d.name("model", &d.init().Model)
	case "skills":
		d.list("skills", &d.init().Skills)
	case "slash_commands":
		d.list("slash_commands", &d.init().SlashCommands)
	case "plugins":
		d.list("plugins", &d.init().Plugins)
	case "tools":
		d.list("tools", &d.init().Tools)
	case "output_style":
		d.name("output_style", &d.init().OutputStyle)
	case "agents", "apiKeySource", "apiProvider",
		"errors", "event", "exit_code", "fast_mode_state", "hook_event", "hook_id",
		"hook_name", "isReplay", "mcp_servers", "memory_paths", "num_turns",
		"outcome", "output", "permission_denials", "rate_limit_info", "status",
		"stderr", "stdout", "stop_reason", "structured_output", "terminal_reason",
		"tool_name", "tool_use_id":
		d.s.skip()
	default:
		return false
	}
	return true
}

func (d *decoder) init() *Init {
	if d.rec.Init == nil {
		d.rec.Init = &Init{}
	}
	return d.rec.Init
}

// finishStream gives a stream-json record the kinds and fields of a log's.
func (d *decoder) finishStream() {
	r := d.rec
	r.Session = d.sessionID
	if d.toolUse != "" {
		// A subagent has no id here but that of the call that started it.
		r.Sidechain = true
		if r.Agent == "" {
			r.Agent = d.toolUse
		}
	}
	switch {
	case r.Kind == KindSystem && r.Subtype == "init":
		r.Kind = KindInit
		d.init().PermissionMode = r.Mode
	default:
		r.Init = nil
	}
	if r.Kind != KindResult && r.Kind != KindCostState {
		r.Cost = nil
	}
}
