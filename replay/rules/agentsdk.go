package rules

import "sync"

// agentSDK is the SDK as it is described. It is of the time when the catalogue stood
// in the Skill tool's description: where the description is silent, the recorded
// 2.0.30 stands in.
var agentSDK = sync.OnceValues(func() (*Table, error) {
	const catalogue = "the catalogue stands in the Skill tool's description as <available_skills>, with name and description"
	const fork = "with context: fork a subagent runs the skill: its system prompt is the body, its tools lack Skill, its messages are the parent's and <skill_invocation>"
	const report = "only its final report returns, as the tool's result, and its messages are dropped"
	return newDescribed("agent-sdk", Description{Source: "a description of the SDK", About: "2.0.30", Like: "2.0.30"}, []Change{
		described("catalogue.place", string(PlaceToolXML), catalogue),
		described("catalogue.xml_bare", true, catalogue),
		described("call.input_key", "command", "the key of the tool's input is command"),
		described("call.body_place", string(BodyResult), "in place, the body comes as the tool's result"),
		described("call.running_record", false, "in place, the body comes as the tool's result"),
		described("call.fork_works", true, fork),
		described("call.fork_body", string(ForkBodySystem), fork),
		described("call.fork_context", string(ForkParent), fork),
		described("call.fork_report", true, report),
		described("agents.fork_no_skill", true, fork),
		described("agents.fork_isolated", true, report),
	})
})
