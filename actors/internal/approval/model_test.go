package approval

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"agentd/messages"
	"agentd/presets"
)

// model is a dumb second account of what may run. It knows what people said and what was stored, and nothing of requests,
// joining or order.
type model struct {
	seed  uint64
	rng   *rand.Rand
	state *State
	now   int64
	ids   uint64
	trace []any // commands, and the effects of each behind it

	policy presets.Policy
	// once counts, for each exact call of a session, the approvals once that were not used yet.
	once map[key]int
	// stored are the grants of the last save that went well; revoked are those that a person has ended since.
	stored  map[presets.GrantID]presets.Grant
	revoked map[presets.GrantID]bool
	saving  *Save
	told    map[messages.RequestID]key // every request that people saw, with the key of its calls
	calls   map[WaiterID]presets.Ask   // those that wait
	replies map[ReplyID]bool           // those that wait
	// standing is what stood after the last step.
	standing map[presets.Caller]presets.Standing
}

func newModel(seed uint64) *model {
	policy := presets.Policy{}
	m := &model{
		seed: seed, rng: rand.New(rand.NewPCG(seed, 7)), now: 1, policy: policy, once: map[key]int{},
		stored: map[presets.GrantID]presets.Grant{}, revoked: map[presets.GrantID]bool{},
		told: map[messages.RequestID]key{}, calls: map[WaiterID]presets.Ask{}, replies: map[ReplyID]bool{},
		standing: map[presets.Caller]presets.Standing{},
	}
	m.state = New(Params{Policy: policy, RequestTTL: int64(m.rng.IntN(3) * 10), KeepFor: 8})
	for _, session := range []messages.SessionID{"s1", "s2"} {
		for _, agent := range []messages.AgentID{"a1", "a2"} {
			caller := presets.Caller{SessionID: session, AgentID: agent}
			m.standing[caller] = m.state.Standing(m.now, caller)
		}
	}
	return m
}

func (m *model) id() uint64 { m.ids++; return m.ids }

// TestModel runs random schedules and holds every answer against the model: no risky call ever runs without a
// decision that covers exactly it.
func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range schedules(t) {
		m := newModel(uint64(seed))
		for range 25 + m.rng.IntN(30) {
			if err := m.step(m.command()); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, m.story())
			}
		}
		if err := m.end(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, m.story())
		}
	}
}

func (m *model) story() string {
	var out strings.Builder
	for _, entry := range m.trace {
		switch e := entry.(type) {
		case int64:
			fmt.Fprintf(&out, "\n@%d", e)
		case Command:
			fmt.Fprintf(&out, " %T%+v\n", e, e)
		default:
			fmt.Fprintf(&out, "  -> %T%+v\n", e, e)
		}
	}
	return out.String()
}

func schedules(t *testing.T) int {
	t.Helper()
	switch {
	case testing.Short():
		return 2_000
	case raceEnabled:
		return 10_000
	default:
		return 100_000
	}
}

func (m *model) command() Command {
	switch m.rng.IntN(16) {
	case 0, 1, 2, 3, 4:
		return Ask{Waiter: WaiterID(m.id()), Ask: m.randomAsk(), FreshID: m.requestID()}
	case 5, 6, 7, 8:
		return Decide{
			Reply: m.replyID(), Request: m.randomRequest(), Answer: m.randomAnswer(),
			FreshID: m.requestID(), GrantID: presets.GrantID(fmt.Sprint("g", m.id())),
		}
	case 9:
		return Leave{Waiter: WaiterID(1 + m.rng.Uint64N(m.ids+1))}
	case 10:
		return Revoke{Reply: m.replyID(), Grant: presets.GrantID(fmt.Sprint("g", m.rng.Uint64N(m.ids+1)))}
	case 11:
		caller := m.randomAsk().Caller
		if m.rng.IntN(2) == 0 {
			caller.TurnID = ""
		}
		return Release{Caller: caller}
	case 12:
		rules := []presets.Rule{presets.RuleAsk, presets.RuleAsk, presets.RuleAuto, presets.RuleDeny}
		return SetPolicy{Policy: presets.Policy{messages.RiskShell: rules[m.rng.IntN(4)], messages.RiskDestructive: rules[m.rng.IntN(4)]}}
	case 13:
		m.now += m.rng.Int64N(6)
		return Tick{}
	default:
		if m.saving == nil {
			return Tick{}
		}
		var err error
		if m.rng.IntN(4) == 0 {
			err = errors.New("disk full")
		}
		return Saved{ID: m.saving.ID, Err: err}
	}
}

func (m *model) requestID() messages.RequestID { return messages.RequestID(fmt.Sprint("r", m.id())) }

func (m *model) replyID() ReplyID { return ReplyID(m.id()) }

func (m *model) randomAsk() presets.Ask {
	pick := func(of ...string) string { return of[m.rng.IntN(len(of))] }
	return presets.Ask{
		Caller: presets.Caller{SessionID: messages.SessionID(pick("s1", "s2")), AgentID: messages.AgentID(pick("a1", "a2")), TurnID: messages.TurnID(pick("t1", "t2"))},
		CallID: messages.CallID(fmt.Sprint("c", m.id())), ToolID: pick("tool1", "tool2"), Name: "space_tool",
		Risk: messages.Risk(pick("shell", "shell", "destructive", "nuclear", "normal")), Fingerprint: pick("f1", "f2"),
		Mode: presets.AskMode(pick("", "", "", "later", "try")), Ahead: m.rng.IntN(4) == 0,
	}
}

func (m *model) randomRequest() messages.RequestID {
	if open := m.state.Pending(); len(open) > 0 && m.rng.IntN(5) > 0 {
		return open[m.rng.IntN(len(open))].ID
	}
	return messages.RequestID(fmt.Sprint("r", m.rng.Uint64N(m.ids+1)))
}

func (m *model) randomAnswer() presets.Answer {
	verbs := []presets.Verb{presets.ApproveOnce, presets.ApproveOnce, presets.ApproveAlways, presets.Deny, "nonsense"}
	answer := presets.Answer{Verb: verbs[m.rng.IntN(len(verbs))], Who: "ann"}
	if m.rng.IntN(2) == 0 {
		answer.Scope = presets.Scope{SessionID: "s1"}
	}
	if m.rng.IntN(2) == 0 {
		answer.ExpiresAt = m.now + m.rng.Int64N(8)
	}
	return answer
}

// step applies a command and checks every effect.
func (m *model) step(command Command) error {
	m.trace = append(m.trace, m.now, command)
	switch c := command.(type) {
	case Ask:
		m.calls[c.Waiter] = c.Ask
	case Decide:
		m.replies[c.Reply] = true
	case Revoke:
		m.replies[c.Reply] = true
		if _, known := m.stored[c.Grant]; known {
			m.revoked[c.Grant] = true
		}
	case Leave:
		delete(m.calls, c.Waiter)
	case SetPolicy:
		m.policy = c.Policy
	case Saved:
		m.onSaved(c)
	case Release, Tick, Stop:
	}
	approvedOnce := map[key]int{}
	if c, is := command.(Decide); is && c.Answer.Verb == presets.ApproveOnce {
		if k, known := m.told[c.Request]; known {
			approvedOnce[k] = 1 // It counts only if it is acknowledged.
		}
	}
	effects := m.state.Step(m.now, command)
	for _, effect := range effects {
		if reply, is := effect.(Reply); is && reply.Err == nil {
			for k, n := range approvedOnce {
				m.once[k] += n
			}
		}
	}
	for _, effect := range effects {
		if err := m.check(effect); err != nil {
			return err
		}
	}
	if err := m.checkChange(effects); err != nil {
		return err
	}
	return m.state.Broken()
}

// checkChange holds what the state says has changed against what people and lists of tools can see.
func (m *model) checkChange(effects []Effect) error {
	change, any := m.state.TakeChange()
	if any != (change.Global || len(change.Sessions) > 0) {
		return fmt.Errorf("the change %+v comes with %v", change, any)
	}
	for _, effect := range effects {
		if e, is := effect.(Resolved); is && !change.Touches(e.Request.SessionID) {
			return fmt.Errorf("request %q was decided, and the change %+v does not tell its session", e.Request.ID, change)
		}
	}
	for _, session := range []messages.SessionID{"s1", "s2"} {
		if m.seed%8 != 0 {
			break // It is slow, and a part of the schedules finds it.
		}
		for _, agent := range []messages.AgentID{"a1", "a2"} {
			caller := presets.Caller{SessionID: session, AgentID: agent}
			now, last := m.state.Standing(m.now, caller), m.standing[caller]
			if same := maps.Equal(now.Policy, last.Policy) && maps.Equal(now.Tools, last.Tools); !same && !change.Touches(session) {
				return fmt.Errorf("what stands for %+v was %+v and is %+v, and the change %+v does not tell", caller, last, now, change)
			}
			m.standing[caller] = now
		}
	}
	if again, any := m.state.TakeChange(); any {
		return fmt.Errorf("the change %+v is told twice", again)
	}
	return nil
}

func (m *model) onSaved(c Saved) {
	if c.Err == nil {
		m.stored = map[presets.GrantID]presets.Grant{}
		for _, grant := range m.saving.Grants {
			m.stored[grant.ID] = grant
		}
	}
	m.saving = nil
}

func (m *model) check(effect Effect) error {
	m.trace = append(m.trace, effect)
	switch e := effect.(type) {
	case Answer:
		ask, waits := m.calls[e.Waiter]
		if !waits {
			return fmt.Errorf("waiter %d was answered though it does not wait", e.Waiter)
		}
		delete(m.calls, e.Waiter)
		return m.checkAnswer(ask, e.Decision)
	case Reply:
		if !m.replies[e.Reply] {
			return fmt.Errorf("reply %d though nobody waits for it", e.Reply)
		}
		delete(m.replies, e.Reply)
	case Save:
		if m.saving != nil {
			return errors.New("two saves at a time")
		}
		m.saving = &e
		for _, grant := range e.Grants {
			if m.revoked[grant.ID] {
				return fmt.Errorf("the revoked grant %q is saved again", grant.ID)
			}
		}
	case Wait:
		if _, waits := m.calls[e.Waiter]; !waits {
			return fmt.Errorf("waiter %d is told to wait though it has gone", e.Waiter)
		}
	case Opened:
		r := e.Request
		m.told[r.ID] = keyOf(r.Caller, r.ToolID, r.Risk, r.Fingerprint)
	case Resolved:
	}
	return nil
}

// checkAnswer is the heart: would the call run, and if so, what lets it?
func (m *model) checkAnswer(ask presets.Ask, decision presets.Decision) error {
	if decision.CallID != ask.CallID || decision.Fingerprint != ask.Fingerprint || decision.SessionID != ask.SessionID || decision.ToolID != ask.ToolID {
		return fmt.Errorf("the decision %+v is about another call than %+v", decision, ask)
	}
	if !decision.Covers(ask) {
		return nil // It does not run.
	}
	rule := m.policy.Rule(ask.Risk)
	switch {
	case rule == presets.RuleDeny:
		return errors.New("a call runs against the policy")
	case rule == presets.RuleAuto:
		return nil
	case decision.Via == presets.ViaOnce:
		if m.once[askKey(ask)]--; m.once[askKey(ask)] < 0 {
			return fmt.Errorf("call %q runs once more than it was approved", ask.CallID)
		}
		return nil
	case decision.Via == presets.ViaGrant || decision.Via == presets.ViaAlways:
		grant, stored := m.stored[decision.GrantID]
		if !stored || m.revoked[grant.ID] || !grant.Covers(queryOf(ask), m.now) {
			return fmt.Errorf("call %q runs on grant %q, which is not stored, is revoked or does not cover it", ask.CallID, decision.GrantID)
		}
		return nil
	default:
		return fmt.Errorf("call %q runs via %q", ask.CallID, decision.Via)
	}
}

// end stops everything: nobody may be left without an answer.
func (m *model) end() error {
	for m.saving != nil {
		if err := m.step(Saved{ID: m.saving.ID}); err != nil {
			return err
		}
	}
	if err := m.step(Stop{}); err != nil {
		return err
	}
	if len(m.calls) > 0 || len(m.replies) > 0 {
		return fmt.Errorf("%d calls and %d people were never answered", len(m.calls), len(m.replies))
	}
	return nil
}
