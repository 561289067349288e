package approval

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/messages"
	"agentd/presets"
)

// Checklist 59, and the policy half of 54.
func TestPolicy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		policy  presets.Policy
		risk    messages.Risk
		outcome presets.Outcome // empty: it waits
		via     presets.Via
	}{
		{"normal is approved", nil, messages.RiskNormal, presets.OutcomeApproved, presets.ViaNormal},
		{"normal cannot be denied", presets.Policy{messages.RiskNormal: presets.RuleDeny}, messages.RiskNormal, presets.OutcomeApproved, presets.ViaNormal},
		{"auto approves", presets.Policy{messages.RiskShell: presets.RuleAuto}, messages.RiskShell, presets.OutcomeApproved, presets.ViaPolicy},
		{"deny denies", presets.Policy{messages.RiskShell: presets.RuleDeny}, messages.RiskShell, presets.OutcomeDenied, presets.ViaPolicy},
		{"ask waits", presets.Policy{messages.RiskShell: presets.RuleAsk}, messages.RiskShell, "", ""},
		{"unset asks", presets.Policy{}, messages.RiskFilesystemRead, "", ""},
		{"unknown risk is denied", presets.Policy{}, "nuclear", presets.OutcomeDenied, presets.ViaPolicy},
		{"no risk is denied", nil, "", presets.OutcomeDenied, presets.ViaPolicy},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, Params{Policy: test.policy})
			ask := sample("c1")
			ask.Risk = test.risk
			waiter := b.ask(ask)
			if test.outcome == "" {
				b.wantWaits(waiter)
				return
			}
			b.want(waiter, test.outcome, test.via)
			b.wantPending(0)
		})
	}
}

// Checklist 58: one execution and no spare grant. Checklist 51, by calls that wait: a third call asks again.
func TestApproveOnceCoversOneCall(t *testing.T) {
	t.Parallel()
	b := setup(t, Params{})
	first := b.ask(sample("c1"))
	b.decide(b.wantWaits(first), presets.Answer{Verb: presets.ApproveOnce})
	decision := b.want(first, presets.OutcomeApproved, presets.ViaOnce)
	if !decision.Covers(sample("c1")) || decision.Covers(sample("c2")) {
		t.Errorf("the decision is not bound to its call: %+v", decision)
	}
	b.wantWaits(b.ask(sample("c2")))
	if grants := b.state.Grants(b.now); len(grants) != 0 {
		t.Errorf("Grants() = %+v, want none", grants)
	}
}

// W20: N calls that wait together do not run on one click.
func TestApproveOnceOfJoinedCalls(t *testing.T) {
	t.Parallel()
	b := setup(t, Params{})
	waiters := []WaiterID{b.ask(sample("c1")), b.ask(sample("c2")), b.ask(sample("c3"))}
	b.wantPending(1)
	if got := b.state.Pending()[0].Waiting; got != 3 {
		t.Errorf("Waiting = %d, want 3", got)
	}
	old := b.wantWaits(waiters[2])
	for i, waiter := range waiters {
		request := b.wantWaits(waiter)
		if i > 0 && request == old {
			t.Fatalf("call %d still waits on %q, which is decided", i+1, old)
		}
		b.decide(request, presets.Answer{Verb: presets.ApproveOnce})
		b.want(waiter, presets.OutcomeApproved, presets.ViaOnce)
		for _, other := range waiters[i+1:] {
			b.wantWaits(other)
		}
		if reply := b.decide(request, presets.Answer{Verb: presets.ApproveOnce}); !errors.Is(b.replies[reply], presets.ErrUnknownRequest) {
			t.Errorf("a second click on %q = %v, want ErrUnknownRequest", request, b.replies[reply])
		}
		old = request
	}
	b.wantPending(0)
}

func TestDenyAnswersAllWhoWait(t *testing.T) {
	t.Parallel()
	b := setup(t, Params{})
	one, two := b.ask(sample("c1")), b.ask(sample("c2"))
	b.decide(b.wantWaits(one), presets.Answer{Verb: presets.Deny, Reason: "not today"})
	for waiter, call := range map[WaiterID]messages.CallID{one: "c1", two: "c2"} {
		decision := b.want(waiter, presets.OutcomeDenied, presets.ViaPerson)
		if decision.CallID != call || decision.Who != "ann" || decision.Reason != "not today" || decision.At != b.now || decision.Asked != "because" {
			t.Errorf("decision on %s = %+v", call, decision)
		}
	}
	b.wantWaits(b.ask(sample("c3")))
}

// Checklist 52, the part of it that is not canonical arguments: other arguments, session, agent, tool or risk are another request.
func TestWhatIsIdentical(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*presets.Ask)
		same   bool
	}{
		{"reason", func(a *presets.Ask) { a.Reason = "other words" }, true},
		{"turn", func(a *presets.Ask) { a.TurnID = "t2" }, true},
		{"arguments", func(a *presets.Ask) { a.Fingerprint = "f2" }, false},
		{"session", func(a *presets.Ask) { a.SessionID = "s2" }, false},
		{"agent", func(a *presets.Ask) { a.AgentID = "a2" }, false},
		{"tool", func(a *presets.Ask) { a.ToolID = "shell.other" }, false},
		{"risk", func(a *presets.Ask) { a.Risk = messages.RiskDestructive }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, Params{})
			first := b.ask(sample("c1"))
			other := sample("c2")
			test.change(&other)
			second := b.ask(other)
			if same := b.wantWaits(first) == b.wantWaits(second); same != test.same {
				t.Errorf("one request = %t, want %t", same, test.same)
			}
		})
	}
}

// Checklist 53: an always lasts, is saved first, is listed, and ends when it is revoked.
func TestApproveAlways(t *testing.T) {
	t.Parallel()
	b := setup(t, Params{})
	first, second := b.ask(sample("c1")), b.ask(sample("c2"))
	reply := b.decide(b.wantWaits(first), presets.Answer{Verb: presets.ApproveAlways, Reason: "it only lists"})
	b.wantWaits(first)
	if _, replied := b.replies[reply]; replied {
		t.Fatal("the person was told before the grant was durable")
	}
	b.saved(nil)
	if b.replies[reply] != nil {
		t.Fatalf("Decide = %v, want nil", b.replies[reply])
	}
	b.want(first, presets.OutcomeApproved, presets.ViaAlways)
	b.want(second, presets.OutcomeApproved, presets.ViaAlways)
	b.want(b.ask(sample("c3")), presets.OutcomeApproved, presets.ViaGrant)

	grants := b.state.Grants(b.now)
	if diff := cmp.Diff(b.saves[0].Grants, grants); diff != "" || len(grants) != 1 {
		t.Fatalf("saved grants differ from those that stand (-saved +stand):\n%s", diff)
	}
	restarted := setup(t, Params{Grants: grants})
	restarted.want(restarted.ask(sample("c4")), presets.OutcomeApproved, presets.ViaGrant)

	revoke := ReplyID(b.id())
	b.step(Revoke{Reply: revoke, Grant: grants[0].ID})
	b.wantWaits(b.ask(sample("c5")))
	b.saved(nil)
	if err, replied := b.replies[revoke]; err != nil || !replied {
		t.Errorf("Revoke = %v (replied %t), want nil", err, replied)
	}
	if got := b.saves[1].Grants; len(got) != 0 {
		t.Errorf("saved after revoking = %+v, want none", got)
	}
	again := ReplyID(b.id())
	b.step(Revoke{Reply: again, Grant: grants[0].ID})
	if !errors.Is(b.replies[again], presets.ErrUnknownGrant) {
		t.Errorf("revoking again = %v, want ErrUnknownGrant", b.replies[again])
	}
}

func TestScopeAndExpiryOfGrants(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		scope  presets.Scope
		change func(*presets.Ask)
		covers bool
	}{
		{"everybody", presets.Scope{}, func(a *presets.Ask) { a.SessionID, a.AgentID = "s2", "a2" }, true},
		{"same session", presets.Scope{SessionID: "s"}, func(a *presets.Ask) { a.AgentID = "a2" }, true},
		{"other session", presets.Scope{SessionID: "s"}, func(a *presets.Ask) { a.SessionID = "s2" }, false},
		{"same agent", presets.Scope{AgentID: "a"}, func(a *presets.Ask) { a.SessionID = "s2" }, true},
		{"other agent", presets.Scope{AgentID: "a"}, func(a *presets.Ask) { a.AgentID = "a2" }, false},
		{"other arguments", presets.Scope{}, func(a *presets.Ask) { a.Fingerprint = "f2" }, false},
		{"other risk", presets.Scope{}, func(a *presets.Ask) { a.Risk = messages.RiskDestructive }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, Params{})
			b.decide(b.wantWaits(b.ask(sample("c1"))), presets.Answer{Verb: presets.ApproveAlways, Scope: test.scope, ExpiresAt: b.now + 60})
			b.saved(nil)
			ask := sample("c2")
			test.change(&ask)
			if standing := b.state.Standing(b.now, ask.Caller); standing.Usable(ask.ToolID, messages.RiskShell) != test.scope.Admits(ask.Caller) {
				t.Errorf("Standing(%v).Tools = %v", ask.Caller, standing.Tools)
			}
			waiter := b.ask(ask)
			if !test.covers {
				b.wantWaits(waiter)
				return
			}
			b.want(waiter, presets.OutcomeApproved, presets.ViaGrant)
			b.now += 60
			ask.CallID = "c3"
			b.wantWaits(b.ask(ask))
			if grants := b.state.Grants(b.now); len(grants) != 0 {
				t.Errorf("Grants() after the expiry = %+v, want none", grants)
			}
		})
	}
}

func TestRefusedAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		answer presets.Answer
	}{
		{"no verb", presets.Answer{}},
		{"unknown verb", presets.Answer{Verb: "perhaps"}},
		{"expiry in the past", presets.Answer{Verb: presets.ApproveAlways, ExpiresAt: 999}},
		{"scope without the asker", presets.Answer{Verb: presets.ApproveAlways, Scope: presets.Scope{SessionID: "another"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, Params{})
			waiter := b.ask(sample("c1"))
			reply := b.decide(b.wantWaits(waiter), test.answer)
			if !errors.Is(b.replies[reply], presets.ErrInvalid) {
				t.Errorf("Decide = %v, want ErrInvalid", b.replies[reply])
			}
			b.wantWaits(waiter) // W21: the request is still there.
			b.decide(b.wantWaits(waiter), presets.Answer{Verb: presets.Deny})
			b.want(waiter, presets.OutcomeDenied, presets.ViaPerson)
		})
	}
}

// W21 again: a grant that cannot be stored leaves the request open, and the person is told.
func TestGrantThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	b := setup(t, Params{})
	waiter := b.ask(sample("c1"))
	request := b.wantWaits(waiter)
	reply := b.decide(request, presets.Answer{Verb: presets.ApproveAlways})
	early := b.decide(request, presets.Answer{Verb: presets.Deny})
	if !errors.Is(b.replies[early], presets.ErrUnknownRequest) {
		t.Errorf("a second answer = %v, want ErrUnknownRequest", b.replies[early])
	}
	b.saved(full)
	if !errors.Is(b.replies[reply], full) {
		t.Errorf("Decide = %v, want %v", b.replies[reply], full)
	}
	if got := b.wantWaits(waiter); got != request || len(b.state.Grants(b.now)) != 0 {
		t.Fatalf("the request changed, or a grant stands")
	}
	b.decide(request, presets.Answer{Verb: presets.ApproveOnce})
	b.want(waiter, presets.OutcomeApproved, presets.ViaOnce)
}

func TestRevocationThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	grant := presets.Grant{ID: "g", ToolID: "shell.run", Risk: messages.RiskShell, Fingerprint: "f1"}
	b := setup(t, Params{Grants: []presets.Grant{grant}})
	b.step(Revoke{Reply: 1, Grant: "g"})
	b.saved(full)
	if !errors.Is(b.replies[1], full) {
		t.Errorf("Revoke = %v, want %v", b.replies[1], full)
	}
	b.wantWaits(b.ask(sample("c1"))) // It holds all the same.
	b.step(Revoke{Reply: 2, Grant: "g"})
	b.saved(nil)
	if err, replied := b.replies[2]; err != nil || !replied {
		t.Errorf("Revoke again = %v (replied %t), want nil", err, replied)
	}
}

func TestSavesAreBatched(t *testing.T) {
	t.Parallel()
	b := setup(t, Params{})
	var waiters []WaiterID
	for i := range 5 {
		ask := sample(fmt.Sprint("c", i))
		ask.Fingerprint = fmt.Sprint("f", i)
		waiters = append(waiters, b.ask(ask))
		b.decide(b.wantWaits(waiters[i]), presets.Answer{Verb: presets.ApproveAlways})
	}
	if len(b.saves) != 1 || len(b.saves[0].Grants) != 1 {
		t.Fatalf("saves = %+v, want one of one grant", b.saves)
	}
	b.saved(nil)
	if len(b.saves) != 2 || len(b.saves[1].Grants) != 5 {
		t.Fatalf("saves = %d, the last of %d grants; want 2, the last of 5", len(b.saves), len(b.saves[len(b.saves)-1].Grants))
	}
	b.wantWaits(waiters[4])
	b.step(Saved{ID: 99}) // An answer to no save changes nothing.
	b.wantWaits(waiters[4])
	b.saved(nil)
	b.want(waiters[4], presets.OutcomeApproved, presets.ViaAlways)
}

// Checklist 54: deny beats a grant and an approval ahead, and uses neither up.
func TestDenyBeatsGrants(t *testing.T) {
	t.Parallel()
	grant := presets.Grant{ID: "g", ToolID: "shell.run", Risk: messages.RiskShell, Fingerprint: "f1"}
	b := setup(t, Params{Grants: []presets.Grant{grant}})
	ahead := sample("c0")
	ahead.Ahead, ahead.Mode, ahead.Fingerprint = true, presets.AskLater, "f2"
	b.decide(b.want(b.ask(ahead), presets.OutcomePending, "").RequestID, presets.Answer{Verb: presets.ApproveOnce})

	b.step(SetPolicy{Policy: presets.Policy{messages.RiskShell: presets.RuleDeny}})
	b.want(b.ask(sample("c1")), presets.OutcomeDenied, presets.ViaPolicy)
	other := sample("c2")
	other.Fingerprint = "f2"
	b.want(b.ask(other), presets.OutcomeDenied, presets.ViaPolicy)
	if b.state.Standing(b.now, other.Caller).Usable("shell.run", messages.RiskShell) {
		t.Error("a denied tool is usable")
	}

	b.step(SetPolicy{Policy: presets.DefaultPolicy()})
	b.want(b.ask(sample("c3")), presets.OutcomeApproved, presets.ViaGrant)
	other.CallID = "c4"
	b.want(b.ask(other), presets.OutcomeApproved, presets.ViaOnce)
	other.CallID = "c5"
	b.wantWaits(b.ask(other))
}

func TestPolicyAnswersWhatIsOpen(t *testing.T) {
	t.Parallel()
	for rule, outcome := range map[presets.Rule]presets.Outcome{presets.RuleAuto: presets.OutcomeApproved, presets.RuleDeny: presets.OutcomeDenied} {
		t.Run(string(rule), func(t *testing.T) {
			t.Parallel()
			b := setup(t, Params{})
			waiter := b.ask(sample("c1"))
			b.step(SetPolicy{Policy: presets.Policy{messages.RiskShell: rule}})
			b.want(waiter, outcome, presets.ViaPolicy)
			b.wantPending(0)
		})
	}
}

// Checklist 51 and 55, by asking ahead: the direct call is the same request; approved once, one call runs.
func TestAskingAhead(t *testing.T) {
	t.Parallel()
	ahead := func(call string) presets.Ask {
		ask := sample(call)
		ask.Ahead, ask.Mode = true, presets.AskLater
		return ask
	}
	t.Run("approved before the call", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Params{})
		asked := b.want(b.ask(ahead("c1")), presets.OutcomePending, "")
		if again := b.want(b.ask(ahead("c2")), presets.OutcomePending, ""); again.RequestID != asked.RequestID {
			t.Errorf("asked twice: requests %q and %q, want one", asked.RequestID, again.RequestID)
		}
		b.decide(asked.RequestID, presets.Answer{Verb: presets.ApproveOnce})
		b.want(b.ask(ahead("c3")), presets.OutcomeApproved, presets.ViaOnce) // Asking uses nothing up.
		decision := b.want(b.ask(sample("c4")), presets.OutcomeApproved, presets.ViaOnce)
		if decision.RequestID != asked.RequestID || decision.Who != "ann" || !decision.Covers(sample("c4")) {
			t.Errorf("decision = %+v", decision)
		}
		b.wantWaits(b.ask(sample("c5")))
	})
	t.Run("approved while the call waits", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Params{})
		asked := b.want(b.ask(ahead("c1")), presets.OutcomePending, "")
		call := b.ask(sample("c2"))
		if got := b.wantWaits(call); got != asked.RequestID {
			t.Fatalf("the call waits on %q, want %q", got, asked.RequestID)
		}
		b.decide(asked.RequestID, presets.Answer{Verb: presets.ApproveOnce})
		b.want(call, presets.OutcomeApproved, presets.ViaOnce)
		b.wantWaits(b.ask(sample("c3"))) // Nothing is left behind.
	})
	t.Run("of another session or agent", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Params{})
		b.decide(b.want(b.ask(ahead("c1")), presets.OutcomePending, "").RequestID, presets.Answer{Verb: presets.ApproveOnce})
		other := sample("c2")
		other.SessionID = "s2"
		b.wantWaits(b.ask(other))
		other = sample("c3")
		other.AgentID = "a2"
		b.wantWaits(b.ask(other))
	})
	t.Run("kept for a while only", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Params{KeepFor: 10})
		b.decide(b.want(b.ask(ahead("c1")), presets.OutcomePending, "").RequestID, presets.Answer{Verb: presets.ApproveOnce})
		b.now += 10
		b.wantWaits(b.ask(sample("c2")))
	})
	t.Run("released", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Params{})
		b.decide(b.want(b.ask(ahead("c1")), presets.OutcomePending, "").RequestID, presets.Answer{Verb: presets.ApproveOnce})
		b.step(Release{Caller: presets.Caller{SessionID: "s", TurnID: "another"}})
		if verdict := b.state.Check(b.now, queryOf(sample("c2"))); verdict.State != presets.StateApproved {
			t.Fatalf("releasing another turn took the approval: %+v", verdict)
		}
		b.step(Release{Caller: presets.Caller{SessionID: "s", TurnID: "t1"}})
		b.wantWaits(b.ask(sample("c2")))
	})
	t.Run("waiting to hear", func(t *testing.T) {
		t.Parallel()
		b := setup(t, Params{})
		ask := sample("c1")
		ask.Ahead = true
		waiter := b.ask(ask)
		request := b.wantWaits(waiter)
		b.step(Leave{Waiter: waiter}) // It gave up waiting; what it asked for is still open.
		b.wantPending(1)
		b.decide(request, presets.Answer{Verb: presets.ApproveOnce})
		b.want(b.ask(sample("c2")), presets.OutcomeApproved, presets.ViaOnce)
	})
}

// AskTry bothers nobody.
func TestTry(t *testing.T) {
	t.Parallel()
	b := setup(t, Params{})
	ask := sample("c1")
	ask.Mode = presets.AskTry
	if decision := b.want(b.ask(ask), presets.OutcomePending, ""); decision.RequestID != "" || decision.Covers(ask) {
		t.Errorf("decision = %+v, want one without a request that covers nothing", decision)
	}
	b.wantPending(0)
}

// Checklist 56: a caller who has gone never runs; a request that nobody wants is cancelled.
func TestLeaving(t *testing.T) {
	t.Parallel()
	b := setup(t, Params{})
	one, two := b.ask(sample("c1")), b.ask(sample("c2"))
	b.step(Leave{Waiter: one, Reason: "cancelled"})
	b.wantPending(1)
	if got := b.state.Pending()[0].CallID; got != "c2" {
		t.Errorf("the request is for call %q, want c2", got)
	}
	b.step(Leave{Waiter: two, Reason: "cancelled"})
	b.wantPending(0)
	if len(b.answers) != 0 || len(b.resolved) != 1 || b.resolved[0].Decision.Outcome != presets.OutcomeCancelled {
		t.Errorf("answers %v, resolved %+v; want none, and one cancelled", b.answers, b.resolved)
	}
	b.step(Leave{Waiter: two})
}

// E: a cancel or a new turn clears what is open.
func TestRelease(t *testing.T) {
	t.Parallel()
	b := setup(t, Params{})
	mine := b.ask(sample("c1"))
	later := sample("c2")
	later.TurnID = "t2"
	other := b.ask(later)
	elsewhere := sample("c3")
	elsewhere.SessionID = "s2"
	foreign := b.ask(elsewhere)
	b.step(Release{Caller: presets.Caller{SessionID: "s", TurnID: "t1"}, Reason: "turn ended"})
	if decision := b.want(mine, presets.OutcomeCancelled, presets.ViaSystem); decision.Reason != "turn ended" {
		t.Errorf("reason = %q", decision.Reason)
	}
	b.wantWaits(other)
	b.step(Release{Caller: presets.Caller{SessionID: "s"}})
	b.want(other, presets.OutcomeCancelled, presets.ViaSystem)
	b.wantWaits(foreign)
	b.step(Stop{})
	b.want(foreign, presets.OutcomeCancelled, presets.ViaSystem)
}

func TestRequestsExpire(t *testing.T) {
	t.Parallel()
	b := setup(t, Params{RequestTTL: 30})
	waiter := b.ask(sample("c1"))
	if got := b.state.Deadline(); got != b.now+30 {
		t.Errorf("Deadline() = %d, want %d", got, b.now+30)
	}
	b.now += 29
	b.step(Tick{})
	request := b.wantWaits(waiter)
	b.now++
	reply := b.decide(request, presets.Answer{Verb: presets.ApproveOnce}) // Too late, though nobody has ticked.
	b.want(waiter, presets.OutcomeExpired, presets.ViaSystem)
	if !errors.Is(b.replies[reply], presets.ErrUnknownRequest) {
		t.Errorf("a late answer = %v, want ErrUnknownRequest", b.replies[reply])
	}
}

// A new grant answers what it covers elsewhere.
func TestGrantServesOtherRequests(t *testing.T) {
	t.Parallel()
	b := setup(t, Params{})
	one := b.ask(sample("c1"))
	elsewhere := sample("c2")
	elsewhere.SessionID = "s2"
	two := b.ask(elsewhere)
	different := sample("c3")
	different.Fingerprint = "f2"
	three := b.ask(different)
	b.decide(b.wantWaits(one), presets.Answer{Verb: presets.ApproveAlways})
	b.saved(nil)
	b.want(one, presets.OutcomeApproved, presets.ViaAlways)
	b.want(two, presets.OutcomeApproved, presets.ViaGrant)
	b.wantWaits(three)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	b := setup(t, Params{})
	for i := range MaxOpenPerSession {
		ask := sample(fmt.Sprint("c", i))
		ask.Fingerprint = fmt.Sprint("f", i)
		b.wantWaits(b.ask(ask))
	}
	ask := sample("over")
	ask.Fingerprint = "over"
	b.want(b.ask(ask), presets.OutcomeDenied, presets.ViaSystem)
	ask.SessionID = "s2"
	b.wantWaits(b.ask(ask))
	for i := range MaxWaiters - 1 {
		same := sample(fmt.Sprint("d", i))
		same.Fingerprint = "f0"
		b.wantWaits(b.ask(same))
	}
	same := sample("over")
	same.Fingerprint = "f0"
	b.want(b.ask(same), presets.OutcomeDenied, presets.ViaSystem)
}
