package approval

import (
	"agentd/messages"
	"agentd/presets"
)

// Check says what would come of a call. It changes nothing.
func (s *State) Check(now int64, query presets.Query) presets.Verdict {
	verdict, _ := s.stand(now, query)
	if r := s.byKey[keyOf(query.Caller, query.ToolID, query.Risk, query.Fingerprint)]; r != nil && verdict.State == presets.StateNeedsApproval {
		verdict.RequestID = r.id
	}
	return verdict
}

// stand applies what stands without asking anybody. The place of the kept approval that it rests on is -1 if it rests on none.
func (s *State) stand(now int64, query presets.Query) (verdict presets.Verdict, kept int) {
	switch s.policy.Rule(query.Risk) {
	case presets.RuleAuto:
		via := presets.ViaPolicy
		if query.Risk == messages.RiskNormal {
			via = presets.ViaNormal
		}
		return presets.Verdict{State: presets.StateApproved, Via: via}, -1
	case presets.RuleDeny:
		return presets.Verdict{State: presets.StateDenied, Via: presets.ViaPolicy}, -1
	case presets.RuleAsk:
	}
	if grant, found := s.grants.find(query, now); found {
		return presets.Verdict{State: presets.StateApproved, Via: presets.ViaGrant, GrantID: grant.ID}, -1
	}
	k := keyOf(query.Caller, query.ToolID, query.Risk, query.Fingerprint)
	for i := range s.kept {
		if s.kept[i].key == k && now < s.kept[i].expires {
			return presets.Verdict{State: presets.StateApproved, Via: presets.ViaOnce}, i
		}
	}
	return presets.Verdict{State: presets.StateNeedsApproval}, -1
}

// Standing returns what listing tools for a caller needs.
func (s *State) Standing(now int64, caller presets.Caller) presets.Standing {
	out := presets.Standing{Policy: s.policy.Clone(), Tools: map[string]bool{}}
	for _, grant := range s.grants.byID {
		if grant.Live(now) && grant.Scope.Admits(caller) {
			out.Tools[grant.ToolID] = true
		}
	}
	for _, kept := range s.kept {
		if now < kept.expires && kept.key.session == caller.SessionID && kept.key.agent == caller.AgentID {
			out.Tools[kept.key.toolID] = true
		}
	}
	return out
}

// Pending returns the open requests, the oldest first.
func (s *State) Pending() []presets.Request {
	out := make([]presets.Request, 0, len(s.open))
	for _, r := range s.inOrder() {
		out = append(out, r.view())
	}
	return out
}

// Grants returns the standing grants, the oldest first.
func (s *State) Grants(now int64) []presets.Grant { return s.grants.live(now) }

// Deadline returns the next moment (Unix seconds) at which a [Tick] has something to do, or zero if there is none.
func (s *State) Deadline() int64 {
	var next int64
	earlier := func(at int64) {
		if at != 0 && (next == 0 || at < next) {
			next = at
		}
	}
	for _, r := range s.open {
		if !r.deciding {
			earlier(r.expires)
		}
	}
	for _, kept := range s.kept {
		earlier(kept.expires)
	}
	for _, grant := range s.grants.byID {
		earlier(grant.ExpiresAt)
	}
	return next
}

func queryOf(ask presets.Ask) presets.Query {
	return presets.Query{Caller: ask.Caller, ToolID: ask.ToolID, Risk: ask.Risk, Fingerprint: ask.Fingerprint}
}

func (s *State) verdictDecision(now int64, ask presets.Ask, verdict presets.Verdict) presets.Decision {
	outcome := presets.OutcomeApproved
	if verdict.State == presets.StateDenied {
		outcome = presets.OutcomeDenied
	}
	decision := newDecision(now, ask, outcome, verdict.Via)
	decision.Who = "policy"
	if grant, found := s.grants.byID[verdict.GrantID]; found {
		decision.GrantID, decision.Who, decision.Reason = grant.ID, grant.Who, grant.Reason
	}
	return decision
}
