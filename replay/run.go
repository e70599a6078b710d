package replay

// Run replays a session: for each of its agents it gathers the evidence, predicts
// the effects and compares them. RulesExact says that the rules are known to hold
// for the client's version.
func Run(s *Session, in *Inputs, cmp Comparison) *Result {
	r, _ := RunCourses(s, in, cmp)
	return r
}

// RunCourses is Run that also tells what the prediction knew on its way, for each
// agent.
func RunCourses(s *Session, in *Inputs, cmp Comparison) (*Result, []Course) {
	r := &Result{Session: s, RulesExact: cmp.RulesExact, Exact: cmp.Exact}
	cmp.Gaps = cmp.Gaps || gaps(s) || len(cmp.History) > 0
	var courses []Course
	for i, p := range predictSession(in, s) {
		a := s.Agents[i]
		out := AgentResult{Agent: a, Checks: Compare(a, p.effects, p.ev, cmp), Predicted: p.effects}
		out.Visibility, out.Changes = visible(a, p.effects, in.Rules)
		r.Agents = append(r.Agents, out)
		courses = append(courses, Course{p})
	}
	return r, courses
}

// gaps reports whether a log shows that records of it are lost: some are damaged, or
// are named by others and not there, or a call has no result, or a result no call.
func gaps(s *Session) bool {
	if s.Dangling > 0 || s.Cut > 0 || len(s.Defects) > 0 {
		return true
	}
	for _, a := range s.Agents {
		open := map[string]bool{} // calls; true: without a result so far
		waiting := 0
		for i := range a.Events {
			switch e := &a.Events[i]; e.Kind {
			case SkillCall:
				if _, again := open[e.ToolUse]; !again {
					waiting++
				}
				open[e.ToolUse] = true
			case Launched, Refusal, Body, Note:
				waits, called := open[e.ToolUse]
				switch {
				case e.ToolUse == "":
				case !called:
					return true
				case waits:
					waiting--
					open[e.ToolUse] = false
				}
			case Turn:
				if waiting > 0 {
					return true
				}
			}
		}
	}
	return false
}
