package replay

// Run replays a session: for each of its agents it gathers the evidence, predicts
// the effects and compares them. RulesExact says that the rules are known to hold
// for the client's version.
func Run(s *Session, in *Inputs, cmp Comparison) *Result {
	r := &Result{Session: s, RulesExact: cmp.RulesExact}
	for _, a := range s.Agents {
		ev := Gather(s, a)
		effects := Predict(in, a, ev)
		r.Agents = append(r.Agents, AgentResult{
			Agent:      a,
			Checks:     Compare(a, effects, ev, cmp),
			Visibility: visible(a, effects, in.Rules),
			Predicted:  effects,
		})
	}
	return r
}
