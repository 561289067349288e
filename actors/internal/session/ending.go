package session

import (
	"fmt"
	"slices"

	"agentd/messages"
)

func (s *State) onFinish(m Finish) {
	t := s.active
	if t == nil || t.record.ID != m.Turn || t.phase != phaseRunning {
		s.reply(m.Ticket, nil, ErrTurnEnded)
		return
	}
	if len(m.Result) > MaxResultBytes {
		s.reply(m.Ticket, nil, fmt.Errorf("result of %d bytes, the limit is %d: %w", len(m.Result), MaxResultBytes, messages.ErrTooLarge))
		return
	}
	items, err := s.admit(t, m.Items)
	if err != nil {
		s.reply(m.Ticket, nil, err)
		return
	}
	t.final, t.finishing = items, m.Ticket
	t.outcome = outcome{status: messages.TurnCompleted, result: valid(m.Result)}
	s.end(t)
}

func (s *State) onFail(m Fail) {
	t := s.active
	if t == nil || t.record.ID != m.Turn || t.phase != phaseRunning {
		s.reply(m.Ticket, nil, ErrTurnEnded)
		return
	}
	if m.Error == "" {
		m.Error = "failed without saying why"
	}
	t.finishing = m.Ticket
	t.outcome = outcome{status: messages.TurnFailed, err: m.Error}
	s.end(t)
}

// end stages the ending of the active turn.
func (s *State) end(t *turn) {
	t.phase = phaseEnding
	s.staged = split(s.staged, s.ending(t), then{what: followEnded, turn: t})
}

// ending makes what ends a turn: final items, drafts closed, approvals closed, calls closed, the error, the terminal record. It becomes one group,
// and so one append, unless it is too large for that: then the terminal record is in the last one.
func (s *State) ending(t *turn) []messages.Change {
	changes := slices.Grow(t.ends[:0], 1+len(t.final)+len(t.drafts)+2*len(t.calls))
	for i := range t.final {
		changes = append(changes, s.put(t, &t.final[i]))
	}
	changes = append(changes, s.closeDrafts(t)...)
	changes = append(changes, s.closeRequests(t)...)
	for _, c := range t.calls {
		changes = append(changes, s.closeCall(t, c)...)
	}
	t.outcome.err = explain(t.outcome.err)
	if t.outcome.err != "" {
		if t.errorItem == "" {
			t.errorItem = s.freshID("itm-error-", string(t.record.ID))
		}
		changes = append(changes, s.putWhole(t, &messages.Item{ID: t.errorItem, Type: messages.ItemError, Error: t.outcome.err}))
	}
	t.last = t.terminal(s.now)
	return append(changes, messages.TurnEnded{Turn: t.last})
}

// split appends changes, cut into groups that fit a commit each. What follows waits for the last one.
func split(groups []group, changes []messages.Change, last then) []group {
	size, from := 0, 0
	for i, change := range changes {
		n := messages.BodySize(change)
		if i > from && (size+n > MaxBatchBytes || i-from >= maxCommitChanges) {
			groups = append(groups, group{changes: changes[from:i]})
			size, from = 0, i
		}
		size += n
	}
	return append(groups, group{changes: changes[from:], then: last})
}

// ended follows when the terminal record is durable.
func (s *State) ended(t *turn) {
	s.active = nil
	s.emit(Settle{Turn: s.doc.Head.Turn, Told: t.finishing != nil})
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
		record:  s.doc.Head.Turn,
		outcome: outcome{status: messages.TurnInterrupted, err: messages.ErrorInterrupted},
	}
	s.readOpen(t)
	s.active = t
	s.end(t)
}
