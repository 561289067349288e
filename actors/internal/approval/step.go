package approval

import (
	"fmt"

	"agentd/messages"
	"agentd/presets"
)

// Step takes one command at the moment now (Unix seconds) and returns what has to be done. What is over by then is
// expired first. It never blocks.
func (s *State) Step(now int64, command Command) []Effect {
	if s.due == 0 || now < s.due {
		return s.step(now, command)
	}
	if _, leaves := command.(Leave); leaves { // It has gone: expiring must not answer it.
		out := s.step(now, command)
		return append(out, s.expire(now)...)
	}
	out := s.expire(now)
	return append(out, s.step(now, command)...)
}

func (s *State) step(now int64, command Command) []Effect {
	switch c := command.(type) {
	case Ask:
		return s.onAsk(now, c)
	case Leave:
		return s.onLeave(now, c)
	case Decide:
		return s.onDecide(now, c)
	case Revoke:
		return s.onRevoke(now, c)
	case Release:
		return s.onRelease(now, c)
	case SetPolicy:
		return s.onSetPolicy(now, c)
	case Saved:
		return s.onSaved(now, c)
	case Tick:
		return nil // Step has done it.
	case Stop:
		return s.onStop(now)
	default:
		panic(fmt.Sprintf("approval: unknown command %T", command))
	}
}

// onAsk answers at once if it can, and else opens or joins a request.
func (s *State) onAsk(now int64, c Ask) []Effect {
	ask := c.Ask
	ask.OnPending = nil // It belongs to the asker's goroutine.
	if verdict, kept := s.stand(now, queryOf(ask)); verdict.State != presets.StateNeedsApproval {
		decision := s.verdictDecision(now, ask, verdict)
		if kept >= 0 {
			decision.RequestID, decision.Who, decision.Reason = s.kept[kept].request, s.kept[kept].who, s.kept[kept].reason
			if !ask.Ahead {
				s.forget(kept)
			}
		}
		return []Effect{Answer{Waiter: c.Waiter, Decision: decision}}
	}
	if ask.Mode == presets.AskTry {
		return []Effect{Answer{Waiter: c.Waiter, Decision: pending(now, ask, "")}}
	}
	r := s.byKey[askKey(ask)]
	if r == nil {
		if refusal, full := s.full(now, ask); full {
			return []Effect{Answer{Waiter: c.Waiter, Decision: refusal}}
		}
		r = s.openRequest(now, c.FreshID, ask)
	} else if len(r.calls)+len(r.aheadWaiters) >= MaxWaiters {
		return []Effect{Answer{Waiter: c.Waiter, Decision: systemDecision(now, ask, presets.OutcomeDenied, "too many identical calls wait")}}
	}
	return s.join(now, c.Waiter, ask, r)
}

// join adds the asker to a request.
func (s *State) join(now int64, id WaiterID, ask presets.Ask, r *request) []Effect {
	if ask.Ahead || ask.Mode == presets.AskLater {
		r.ahead = append(r.ahead, ask.Caller)
		if len(r.ahead) > MaxWaiters { // All of them are of one session; the oldest says nothing more than the others.
			r.ahead = r.ahead[1:]
		}
	}
	if ask.Mode == presets.AskLater {
		return []Effect{Answer{Waiter: id, Decision: pending(now, ask, r.id)}, Opened{Request: r.view()}}
	}
	w := &waiter{id: id, ask: ask, request: r}
	s.waiters[id] = w
	if ask.Ahead {
		r.aheadWaiters = append(r.aheadWaiters, w)
	} else {
		r.calls = append(r.calls, w)
	}
	return []Effect{Wait{Waiter: id, Request: r.view()}, Opened{Request: r.view()}}
}

func (s *State) openRequest(now int64, id messages.RequestID, ask presets.Ask) *request {
	s.sequence++
	r := &request{id: id, sequence: s.sequence, key: askKey(ask), first: ask, created: now}
	if s.requestTTL > 0 {
		r.expires = now + s.requestTTL
		s.note(r.expires)
	}
	s.open[id], s.byKey[r.key] = r, r
	return r
}

// full refuses what would go over the limits on open requests.
func (s *State) full(now int64, ask presets.Ask) (presets.Decision, bool) {
	if len(s.open) >= MaxOpen {
		return systemDecision(now, ask, presets.OutcomeDenied, "too many requests are open"), true
	}
	count := 0
	for _, r := range s.open {
		if r.key.session == ask.SessionID {
			count++
		}
	}
	if count >= MaxOpenPerSession {
		return systemDecision(now, ask, presets.OutcomeDenied, "too many requests of this session are open"), true
	}
	return presets.Decision{}, false
}

// onLeave forgets a waiter. One that was answered already is not there any more.
func (s *State) onLeave(now int64, c Leave) []Effect {
	w := s.waiters[c.Waiter]
	if w == nil {
		return nil
	}
	delete(s.waiters, c.Waiter)
	w.request.drop(w)
	if w.request.deciding {
		return nil
	}
	if !w.request.wanted() {
		return s.cancel(now, w.request, c.Reason)
	}
	return []Effect{Opened{Request: w.request.view()}}
}

// onRelease cancels what was asked for a caller.
func (s *State) onRelease(now int64, c Release) []Effect {
	matches := func(caller presets.Caller) bool {
		return caller.SessionID == c.Caller.SessionID && (c.Caller.TurnID == "" || caller.TurnID == c.Caller.TurnID)
	}
	for i := len(s.kept) - 1; i >= 0; i-- {
		if matches(presets.Caller{SessionID: s.kept[i].key.session, TurnID: s.kept[i].turn}) {
			s.forget(i)
		}
	}
	var out []Effect
	for _, r := range s.inOrder() {
		if r.key.session == c.Caller.SessionID {
			out = append(out, s.release(now, r, matches, c.Reason)...)
		}
	}
	return out
}

// expire ends what is over.
func (s *State) expire(now int64) []Effect {
	for _, grant := range s.grants.expire(now) {
		s.stir(grant.Scope.SessionID)
	}
	for i := len(s.kept) - 1; i >= 0; i-- {
		if now >= s.kept[i].expires {
			s.forget(i)
		}
	}
	var out []Effect
	for _, r := range s.inOrder() {
		if r.expires != 0 && now >= r.expires && !r.deciding {
			out = append(out, s.resolve(r, func(ask presets.Ask) presets.Decision {
				return systemDecision(now, ask, presets.OutcomeExpired, "nobody decided in time")
			})...)
		}
	}
	s.due = s.Deadline()
	return out
}

// onStop cancels everything that is open.
func (s *State) onStop(now int64) []Effect {
	var out []Effect
	for _, r := range s.inOrder() {
		out = append(out, s.resolve(r, func(ask presets.Ask) presets.Decision {
			return systemDecision(now, ask, presets.OutcomeCancelled, "approvals are stopping")
		})...)
	}
	s.kept = nil
	s.stir("")
	return out
}

// onSetPolicy lets the new rules answer what is open.
func (s *State) onSetPolicy(now int64, c SetPolicy) []Effect {
	s.policy = c.Policy.Clone()
	s.stir("")
	var out []Effect
	for _, r := range s.inOrder() {
		if s.policy.Rule(r.key.risk) == presets.RuleAsk {
			continue
		}
		out = append(out, s.resolve(r, func(ask presets.Ask) presets.Decision {
			verdict, _ := s.stand(now, queryOf(ask))
			return s.verdictDecision(now, ask, verdict)
		})...)
	}
	return out
}
