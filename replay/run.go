package replay

// Run replays a session: for each of its agents it gathers the evidence, predicts
// the effects and compares them. RulesExact says that the rules are known to hold
// for the client's version.
func Run(s *Session, in *Inputs, cmp Comparison) *Result {
	r := &Result{Session: s, RulesExact: cmp.RulesExact}
	cmp.Gaps = cmp.Gaps || s.Dangling > 0 || len(s.Defects) > 0 || !cmp.Exact && len(cmp.History) > 0
	effects, evidence := PredictSession(in, s)
	for i, a := range s.Agents {
		out := AgentResult{Agent: a, Checks: Compare(a, effects[i], evidence[i], cmp), Predicted: effects[i]}
		out.Visibility, out.Changes = visible(a, effects[i], in.Rules)
		r.Agents = append(r.Agents, out)
	}
	return r
}
