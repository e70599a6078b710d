package replay

// Run replays a session: for each of its agents it gathers the evidence, predicts
// the effects and compares them. RulesExact says that the rules are known to hold
// for the client's version.
func Run(s *Session, in *Inputs, cmp Comparison) *Result {
	r := &Result{Session: s, RulesExact: cmp.RulesExact}
	effects, evidence := PredictSession(in, s)
	for i, a := range s.Agents {
		r.Agents = append(r.Agents, AgentResult{
			Agent:      a,
			Checks:     Compare(a, effects[i], evidence[i], cmp),
			Visibility: visible(a, effects[i], in.Rules),
			Predicted:  effects[i],
		})
	}
	return r
}
