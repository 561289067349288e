package approval

import (
	"fmt"
	"testing"

	"agentd/messages"
	"agentd/presets"
)

// bundle drives a state by hand and keeps what came out.
type bundle struct {
	t     *testing.T
	state *State
	now   int64
	last  int // of all made-up ids

	answers  map[WaiterID]presets.Decision
	waiting  map[WaiterID]messages.RequestID // the request that the waiter was last told
	replies  map[ReplyID]error
	saves    []Save
	resolved []Resolved
}

func setup(t *testing.T, params Params) *bundle {
	t.Helper()
	return &bundle{
		t: t, state: New(params), now: 1000,
		answers: map[WaiterID]presets.Decision{}, waiting: map[WaiterID]messages.RequestID{}, replies: map[ReplyID]error{},
	}
}

func (b *bundle) step(command Command) {
	b.t.Helper()
	effects := b.state.Step(b.now, command)
	for _, effect := range effects {
		switch e := effect.(type) {
		case Answer:
			if _, twice := b.answers[e.Waiter]; twice {
				b.t.Fatalf("waiter %d was answered twice", e.Waiter)
			}
			b.answers[e.Waiter] = e.Decision
		case Wait:
			b.waiting[e.Waiter] = e.Request.ID
		case Save:
			b.saves = append(b.saves, e)
		case Reply:
			b.replies[e.Reply] = e.Err
		case Resolved:
			b.resolved = append(b.resolved, e)
		case Opened:
		}
	}
	if err := b.state.Broken(); err != nil {
		b.t.Fatalf("after %T: %v", command, err)
	}
}

func (b *bundle) id() int { b.last++; return b.last }

// sample is a call of the shell tool by agent a in session s.
func sample(call string) presets.Ask {
	return presets.Ask{
		Caller: presets.Caller{SessionID: "s", TurnID: "t1", AgentID: "a"}, CallID: messages.CallID(call), ToolID: "shell.run",
		Name: "space_shell_run", Risk: messages.RiskShell, Reason: "because", Fingerprint: "f1", Preview: `{"command":"ls"}`,
	}
}

func (b *bundle) ask(ask presets.Ask) WaiterID {
	b.t.Helper()
	waiter := WaiterID(b.id())
	b.step(Ask{Waiter: waiter, Ask: ask, FreshID: messages.RequestID(fmt.Sprint("r", b.id()))})
	return waiter
}

func (b *bundle) decide(request messages.RequestID, answer presets.Answer) ReplyID {
	b.t.Helper()
	reply := ReplyID(b.id())
	answer.Who = "ann"
	b.step(Decide{
		Reply: reply, Request: request, Answer: answer,
		FreshID: messages.RequestID(fmt.Sprint("r", b.id())), GrantID: presets.GrantID(fmt.Sprint("g", b.id())),
	})
	return reply
}

func (b *bundle) saved(err error) {
	b.t.Helper()
	b.step(Saved{ID: b.saves[len(b.saves)-1].ID, Err: err})
}

// want checks how a waiter stands: an outcome, or "waits".
func (b *bundle) want(waiter WaiterID, outcome presets.Outcome, via presets.Via) presets.Decision {
	b.t.Helper()
	decision, answered := b.answers[waiter]
	if !answered {
		b.t.Fatalf("waiter %d waits, want %s via %s", waiter, outcome, via)
	}
	if decision.Outcome != outcome || decision.Via != via {
		b.t.Fatalf("waiter %d got %s via %s, want %s via %s", waiter, decision.Outcome, decision.Via, outcome, via)
	}
	return decision
}

func (b *bundle) wantWaits(waiter WaiterID) messages.RequestID {
	b.t.Helper()
	if decision, answered := b.answers[waiter]; answered {
		b.t.Fatalf("waiter %d was answered %s, want it to wait", waiter, decision.Outcome)
	}
	return b.waiting[waiter]
}

func (b *bundle) wantPending(count int) {
	b.t.Helper()
	if got := b.state.Pending(); len(got) != count {
		b.t.Fatalf("Pending() = %d requests, want %d: %+v", len(got), count, got)
	}
}
