package session

import (
	"encoding/json"

	"agentd/messages"
)

// Types of the event items that tell of approvals. A request without a decision is closed when its turn ends.
const (
	EventApprovalRequested = "approval-requested"
	EventApprovalDecided   = "approval-decided"
)

func (s *State) onFinish(m Finish) {
	t := s.active
	if t == nil || t.record.ID != m.Turn || t.phase != phaseRunning {
		s.reply(m.Ticket, nil, ErrTurnEnded)
		return
	}
	for i := range m.Items {
		if err := s.merged(m.Items[i]).Validate(); err != nil {
			s.reply(m.Ticket, nil, err)
			return
		}
	}
	t.final, t.finishing = m.Items, m.Ticket
	t.outcome = outcome{status: messages.TurnCompleted, result: m.Result}
	s.end(t)
}

func (s *State) onFail(m Fail) {
	t := s.active
	if t == nil || t.record.ID != m.Turn || t.phase != phaseRunning {
		s.reply(m.Ticket, nil, ErrTurnEnded)
		return
	}
	t.finishing = m.Ticket
	t.outcome = outcome{status: messages.TurnFailed, err: m.Error}
	s.end(t)
}

// end stages the ending of the active turn: everything in one append.
func (s *State) end(t *turn) {
	t.phase = phaseEnding
	s.stage(group{changes: s.ending(t), then: then{what: followEnded, turn: t}})
}

// ending makes the changes that end a turn: final items, drafts closed, calls closed, the error, the terminal record.
func (s *State) ending(t *turn) []messages.Change {
	changes := make([]messages.Change, 0, 2+len(t.final)+len(t.drafts)+2*len(t.calls))
	for _, item := range t.final {
		changes = append(changes, s.put(t, item))
	}
	closed := messages.StreamInterrupted
	if t.outcome.status == messages.TurnCompleted {
		closed = messages.StreamComplete
	}
	for _, d := range t.drafts {
		d.item.StreamStatus, d.dirty = closed, false
		changes = append(changes, s.putWhole(t, d.item))
	}
	for _, id := range append([]messages.ItemID(nil), t.calls...) {
		changes = append(changes, s.closeCall(t, id)...)
	}
	if t.outcome.err != "" {
		changes = append(changes, s.putWhole(t, messages.Item{
			ID: "itm-error-" + messages.ItemID(t.record.ID), Type: messages.ItemError, Error: t.outcome.err,
		}))
	}
	t.record.Status, t.record.EndedAt = t.outcome.status, s.now
	t.record.Result, t.record.Error = t.outcome.result, t.outcome.err
	return append(changes, messages.TurnEnded{Turn: t.record})
}

// closeCall gives an open tool call the result that says why it has none.
func (s *State) closeCall(t *turn, id messages.ItemID) []messages.Change {
	call, _ := s.newest(id)
	var why string
	switch call.Status {
	case messages.CallPending:
		call.Status = messages.CallCancelled
		why = "not run: the turn ended before the tool was started"
	case messages.CallDenied:
		why = "not run: the call was denied"
	case messages.CallCompleted, messages.CallFailed:
		why = "the tool ran, but the turn ended before its result was recorded"
	case messages.CallRunning, messages.CallCancelled, messages.CallInterrupted:
		call.Status = messages.CallInterrupted
		why = "interrupted while running: the turn ended before the tool answered, and its effects are unknown"
	default:
		call.Status = messages.CallInterrupted
		why = "interrupted: the turn ended before a result was recorded, and the effects of the call are unknown"
	}
	update := s.putWhole(t, call)
	result := s.putWhole(t, messages.Item{
		ID: "itm-tool-result-" + messages.ItemID(call.CallID), Type: messages.ItemToolResult, Name: call.Name,
		CallID: call.CallID, ParentID: call.ID, IsError: true, Output: why,
	})
	return []messages.Change{update, result}
}

// ended follows when the terminal record is durable.
func (s *State) ended(t *turn) {
	s.active = nil
	s.emit(Settle{Turn: *s.doc.Head.Turn})
	s.release(t, nil)
}

// release tells those who wait for the end of a turn.
func (s *State) release(t *turn, err error) {
	s.reply(t.finishing, nil, err)
	for _, ticket := range t.waiters {
		s.reply(ticket, nil, err)
	}
	t.finishing, t.waiters = nil, nil
}

// interrupt ends the turn that the last writer left running.
func (s *State) interrupt() {
	t := &turn{
		record:  *s.doc.Head.Turn,
		outcome: outcome{status: messages.TurnInterrupted, err: "interrupted: the process ended during the turn"},
	}
	t.record.Seq = 0
	s.readOpen(t)
	s.active = t
	expired := s.expireApprovals(t)
	t.phase = phaseEnding
	s.stage(group{changes: append(expired, s.ending(t)...), then: then{what: followEnded, turn: t}})
}

// readOpen finds the turn's drafts and open calls in the stored items.
func (s *State) readOpen(t *turn) {
	answered := map[messages.CallID]bool{}
	for i := range s.doc.Items {
		item := &s.doc.Items[i]
		if item.Type == messages.ItemToolResult {
			answered[item.CallID] = true
		}
	}
	for i := range s.doc.Items {
		item := &s.doc.Items[i]
		if item.TurnID == t.record.ID && item.IsDraft() {
			t.drafts = append(t.drafts, &draft{item: *item})
		}
		if item.TurnID == t.record.ID && item.Type == messages.ItemToolCall && !answered[item.CallID] {
			t.calls = append(t.calls, item.ID)
		}
	}
}

// expireApprovals decides what nobody can decide any more: requests of a turn whose process is gone.
func (s *State) expireApprovals(t *turn) []messages.Change {
	type decision struct {
		Request  messages.RequestID `json:"request-id"`
		Decision string             `json:"decision,omitempty"`
		Reason   string             `json:"reason,omitempty"`
	}
	var open []decision
	for i := range s.doc.Items {
		item := &s.doc.Items[i]
		if item.TurnID != t.record.ID || item.Type != messages.ItemEvent {
			continue
		}
		var d decision
		if json.Unmarshal(item.Data, &d) != nil || d.Request == "" {
			continue
		}
		switch item.EventType {
		case EventApprovalRequested:
			open = append(open, d)
		case EventApprovalDecided:
			for j := range open {
				if open[j].Request == d.Request {
					open = append(open[:j], open[j+1:]...)
					break
				}
			}
		}
	}
	changes := make([]messages.Change, 0, len(open))
	for _, d := range open {
		data, err := json.Marshal(decision{Request: d.Request, Decision: "expired", Reason: "the process ended before a decision"})
		if err != nil {
			continue // Three strings always encode.
		}
		changes = append(changes, s.putWhole(t, messages.Item{
			ID: "itm-decision-" + messages.ItemID(d.Request), Type: messages.ItemEvent,
			EventType: EventApprovalDecided, Data: data,
		}))
	}
	return changes
}
