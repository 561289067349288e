package approval

import (
	"fmt"

	"agentd/messages"
	"agentd/presets"
)

// onDecide takes a person's answer.
func (s *State) onDecide(now int64, c Decide) []Effect {
	r := s.open[c.Request]
	if r == nil || r.deciding {
		return []Effect{Reply{Reply: c.Reply, Err: fmt.Errorf("request %.60q: %w: it is decided already or never was", c.Request, presets.ErrUnknownRequest)}}
	}
	switch c.Answer.Verb {
	case presets.ApproveOnce:
		return append([]Effect{Reply{Reply: c.Reply}}, s.approveOnce(now, r, c)...)
	case presets.ApproveAlways:
		return s.approveAlways(now, r, c)
	case presets.Deny:
		return append([]Effect{Reply{Reply: c.Reply}}, s.resolve(r, func(ask presets.Ask) presets.Decision {
			return personDecision(now, ask, presets.OutcomeDenied, c.Answer)
		})...)
	default:
		return []Effect{Reply{Reply: c.Reply, Err: fmt.Errorf("answer %.40q: %w: use %q, %q or %q", string(c.Answer.Verb),
			presets.ErrInvalid, presets.ApproveOnce, presets.ApproveAlways, presets.Deny)}}
	}
}

// approveOnce lets exactly one call run: the oldest that waits, or else the next identical one.
func (s *State) approveOnce(now int64, r *request, c Decide) []Effect {
	approve := func(ask presets.Ask) presets.Decision {
		return personDecision(now, ask, presets.OutcomeApproved, c.Answer)
	}
	if len(r.calls) == 0 {
		s.keep(now, r, c.Answer)
		return s.resolve(r, approve)
	}
	others := r.calls[1:]
	r.calls = r.calls[:1:1]
	out := s.resolve(r, approve)
	if len(others) == 0 {
		return out
	}
	// One decision, one use: the person is asked again for the others.
	next := s.openRequest(now, c.FreshID, others[0].ask)
	next.calls = others
	for _, w := range others {
		w.request = next
		out = append(out, Wait{Waiter: w.id, Request: next.view()})
	}
	return append(out, Opened{Request: next.view()})
}

// keep stores an approval for the next identical call.
func (s *State) keep(now int64, r *request, answer presets.Answer) {
	if len(s.kept) >= MaxKept {
		s.forget(0)
	}
	turn := r.first.TurnID
	if len(r.ahead) > 0 {
		turn = r.ahead[len(r.ahead)-1].TurnID
	}
	expires := now + s.keepFor
	s.note(expires)
	s.stir(r.key.session)
	s.kept = append(s.kept, keptApproval{
		key: r.key, turn: turn, expires: expires, request: r.id, who: answer.Who, reason: answer.Reason,
	})
}

func (s *State) forget(i int) {
	s.stir(s.kept[i].key.session)
	s.kept = append(s.kept[:i:i], s.kept[i+1:]...)
}

// approveAlways asks for the grant to be stored; the answers come after that.
func (s *State) approveAlways(now int64, r *request, c Decide) []Effect {
	grant := presets.Grant{
		ID: c.GrantID, ToolID: r.first.ToolID, Name: r.first.Name, Risk: r.first.Risk, Fingerprint: r.first.Fingerprint,
		Preview: r.first.Preview, Scope: c.Answer.Scope, Who: c.Answer.Who, Reason: c.Answer.Reason,
		CreatedAt: now, ExpiresAt: c.Answer.ExpiresAt,
	}
	if err := s.grantable(now, r, grant); err != nil {
		return []Effect{Reply{Reply: c.Reply, Err: err}}
	}
	r.deciding = true
	return s.enqueue(now, mutation{reply: c.Reply, add: &grant, request: r})
}

func (s *State) grantable(now int64, r *request, grant presets.Grant) error {
	if err := grant.Validate(); err != nil {
		return err
	}
	if !grant.Live(now) {
		return fmt.Errorf("granting %q: %w: ExpiresAt %d is in the past", grant.Name, presets.ErrInvalid, grant.ExpiresAt)
	}
	if !grant.Scope.Admits(r.first.Caller) {
		return fmt.Errorf("granting %q: %w: the scope leaves out the session or agent that asks", grant.Name, presets.ErrInvalid)
	}
	if s.grantsAhead() >= MaxGrants {
		return fmt.Errorf("granting %q: %w: %d is the limit", grant.Name, errTooManyGrants, MaxGrants)
	}
	return nil
}

// serveByGrant answers the request that a new grant was made for, and whatever else it covers.
func (s *State) serveByGrant(now int64, r *request, grant presets.Grant) []Effect {
	var out []Effect
	for _, other := range s.inOrder() {
		if other.deciding || !grant.Covers(queryOf(other.first), now) || s.policy.Rule(other.key.risk) != presets.RuleAsk {
			continue
		}
		via := presets.ViaGrant
		if other == r {
			via = presets.ViaAlways
		}
		out = append(out, s.resolve(other, func(ask presets.Ask) presets.Decision {
			decision := newDecision(now, ask, presets.OutcomeApproved, via)
			decision.RequestID, decision.GrantID = other.id, grant.ID
			decision.Who, decision.Reason = grant.Who, grant.Reason
			return decision
		})...)
	}
	// A grant that expired while it was saved covers nothing any more: its request is as it was before.
	switch {
	case s.open[r.id] != r:
		return out
	case r.wanted():
		return append(out, Opened{Request: r.view()})
	default:
		return append(out, s.cancel(now, r, "the caller has gone")...)
	}
}

// resolve closes a request and answers all its waiters.
func (s *State) resolve(r *request, decide func(presets.Ask) presets.Decision) []Effect {
	view := r.view()
	s.close(r)
	s.stir(r.key.session)
	var out []Effect
	var first *presets.Decision
	for _, w := range r.all() {
		delete(s.waiters, w.id)
		decision := decide(w.ask)
		decision.RequestID = r.id
		if first == nil {
			first = &decision
		}
		out = append(out, Answer{Waiter: w.id, Decision: decision})
	}
	if first == nil {
		decision := decide(r.first)
		decision.RequestID = r.id
		first = &decision
	}
	return append(out, Resolved{Request: view, Decision: *first})
}

// cancel closes a request that nobody wants answered any more.
func (s *State) cancel(now int64, r *request, reason string) []Effect {
	return s.resolve(r, func(ask presets.Ask) presets.Decision {
		return systemDecision(now, ask, presets.OutcomeCancelled, reason)
	})
}

func (s *State) close(r *request) {
	delete(s.open, r.id)
	if s.byKey[r.key] == r {
		delete(s.byKey, r.key)
	}
}

// release answers the waiters of one request whose caller matches, and closes it if nobody else wants it.
func (s *State) release(now int64, r *request, matches func(presets.Caller) bool, reason string) []Effect {
	var out []Effect
	var first presets.Decision
	for _, w := range r.all() {
		if !matches(w.ask.Caller) {
			continue
		}
		r.drop(w)
		delete(s.waiters, w.id)
		first = systemDecision(now, w.ask, presets.OutcomeCancelled, reason)
		first.RequestID = r.id
		out = append(out, Answer{Waiter: w.id, Decision: first})
	}
	left := r.ahead[:0:0]
	for _, caller := range r.ahead {
		if !matches(caller) {
			left = append(left, caller)
		}
	}
	changed := len(out) > 0 || len(left) != len(r.ahead)
	r.ahead = left
	switch {
	case !changed || r.deciding:
		return out
	case !r.wanted():
		return append(out, s.cancel(now, r, reason)...)
	default:
		return append(out, Opened{Request: r.view()})
	}
}

// newDecision is the part of a decision that binds it to the asker's own call.
func newDecision(now int64, ask presets.Ask, outcome presets.Outcome, via presets.Via) presets.Decision {
	return presets.Decision{
		Outcome: outcome, Via: via, Caller: ask.Caller, CallID: ask.CallID, ToolID: ask.ToolID, Name: ask.Name,
		Risk: ask.Risk, Fingerprint: ask.Fingerprint, Asked: ask.Reason, At: now,
	}
}

// personDecision is what a person said of one call.
func personDecision(now int64, ask presets.Ask, outcome presets.Outcome, answer presets.Answer) presets.Decision {
	decision := newDecision(now, ask, outcome, presets.ViaOnce)
	if outcome == presets.OutcomeDenied {
		decision.Via = presets.ViaPerson
	}
	decision.Who, decision.Reason = answer.Who, answer.Reason
	return decision
}

func systemDecision(now int64, ask presets.Ask, outcome presets.Outcome, reason string) presets.Decision {
	decision := newDecision(now, ask, outcome, presets.ViaSystem)
	decision.Who, decision.Reason = "system", reason
	return decision
}

func pending(now int64, ask presets.Ask, id messages.RequestID) presets.Decision {
	decision := newDecision(now, ask, presets.OutcomePending, "")
	decision.RequestID = id
	return decision
}
