package session

import (
	"errors"
	"fmt"
	"slices"

	"agentd/messages"
)

// drop gives up what a failed commit held, and everything that was staged upon it. The document is
// as it was; those who wait are told; a turn that lost something is stopped.
func (s *State) drop(err error) {
	lost := slices.Concat(s.flight, s.staged)
	for _, t := range []*turn{s.active, s.owed} {
		if t != nil {
			s.revive(t)
		}
	}
	s.flight, s.staged, s.pending = nil, nil, pendingItems{}
	told := storing(err)
	for i := range lost {
		s.giveUp(lost[i].then, told)
	}
	if s.doc.Head.LastSeq == 0 {
		s.leave(Leave{Err: told}, told) // The session was never made.
		return
	}
	// An active turn accepts items: one that starts or ends was given up above.
	if t := s.active; t != nil && slices.ContainsFunc(lost, func(g group) bool { return g.owner == t }) {
		s.reopen(t)
		for _, d := range t.drafts {
			s.publishDraft(d) // It may be what was to be its final version.
		}
		s.stop(outcome{status: messages.TurnFailed, err: fmt.Sprintf("storing the turn: %v", err)})
	}
}

// giveUp tells what waited for a group that was not stored.
func (s *State) giveUp(t then, err error) {
	switch t.what {
	case followNothing:
	case followReply, followItem, followHead:
		s.reply(t.ticket, nil, err)
	case followStarted:
		s.active = nil
		s.reply(t.turn.ticket, nil, err)
		s.release(t.turn, nil)
	case followEnded:
		s.owe(t.turn, err)
	case followOwed:
		s.repaying = false
		if s.draining != nil && s.deleting == nil {
			s.owed = nil // Nobody comes back to it: the next writer finds the turn running and interrupts it.
			return
		}
		s.wake(true)
	case followDeleted:
		for _, ticket := range s.deleting.all() {
			s.reply(ticket, nil, err)
		}
		s.deleting = nil
	}
}

// lose ends everything at once: another writer owns the session, or what is stored cannot be told. Those who wait may ask
// again, since the next state is made of what is stored and a repeat is harmless.
func (s *State) lose(err error) {
	refusal := err
	if !errors.Is(err, ErrClosing) {
		refusal = errors.Join(ErrClosing, err)
	}
	lost := slices.Concat(s.flight, s.staged)
	s.flight, s.staged, s.pending, s.doubt = nil, nil, pendingItems{}, false
	for i := range lost {
		s.fail(lost[i].then, refusal)
	}
	if t := s.active; t != nil {
		s.active = nil
		if t.phase == phaseRunning {
			s.emit(StopTurn{Turn: t.record.ID, Reason: explain("the session is lost: " + err.Error())})
		}
		if t.phase != phaseEnding {
			t.outcome = outcome{status: messages.TurnFailed, err: explain(err.Error())}
			t.last = t.terminal(s.now)
		}
		s.emit(Settle{Turn: t.last, Err: err})
		s.release(t, refusal)
	}
	s.leave(Leave{Err: err}, refusal)
}

// fail tells those who wait for a group that the session was lost.
func (s *State) fail(t then, err error) {
	switch t.what {
	case followReply, followItem, followHead:
		s.reply(t.ticket, nil, err)
	case followStarted:
		s.active = nil
		s.reply(t.turn.ticket, nil, err)
		s.release(t.turn, err)
	case followNothing, followEnded, followOwed, followDeleted:
	}
}
