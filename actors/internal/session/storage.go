package session

import (
	"errors"
	"fmt"
	"slices"

	"agentd/messages"
)

// stage puts a group behind what is on its way.
func (s *State) stage(g group) { s.staged = append(s.staged, g) }

// pump commits what is staged, unless a commit is under way.
func (s *State) pump() {
	if len(s.flight) > 0 || len(s.staged) == 0 {
		return
	}
	s.flight, s.staged = s.staged, s.flight[:0]
	s.commitID++
	s.flightAt = s.now
	s.emit(s.commit(false))
}

// commit makes the effect that stores what is in flight.
func (s *State) commit(repeat bool) Commit {
	total := 1
	for i := range s.flight {
		total += len(s.flight[i].changes)
	}
	changes := make([]messages.Change, 0, total)
	if s.claim != nil {
		changes = append(changes, s.claim)
	}
	for i := range s.flight {
		changes = append(changes, s.flight[i].changes...)
	}
	return Commit{ID: s.commitID, After: s.doc.Head.LastSeq, At: s.flightAt, Changes: changes, Repeat: repeat}
}

func (s *State) onCommitted(m Committed) {
	if len(s.flight) == 0 || m.ID != s.commitID {
		return // An answer to an older writer.
	}
	switch {
	case m.Err == nil:
		s.acknowledge()
	case m.Dead:
		s.lose(m.Err)
	case m.Unknown:
		s.emit(s.commit(true))
	default:
		s.drop(m.Err)
	}
}

// acknowledge applies what became durable, publishes it, and then lets follow what waits for it.
func (s *State) acknowledge() {
	flight := s.flight
	s.flight = nil
	if s.claim != nil {
		s.apply(s.claim)
		s.claim = nil
	}
	for i := range flight {
		for _, change := range flight[i].changes {
			s.apply(change)
		}
	}
	for i := range flight {
		s.follow(flight[i].then)
	}
	if s.flight == nil {
		clear(flight)
		s.flight = flight[:0]
	}
}

// apply adds one durable change to the document and tells the subscribers.
func (s *State) apply(change messages.Change) {
	seq := s.doc.Head.LastSeq + 1
	if updated, ok := change.(messages.ItemUpdated); ok {
		if i, found := s.doc.Find(updated.Item.ID); found && i < s.shared {
			s.doc.Items, s.shared = slices.Clone(s.doc.Items), 0
		}
	}
	if err := s.doc.Apply(seq, s.flightAt, change); err != nil {
		// The staging rules make this impossible. The actor restarts from what is stored.
		panic(fmt.Errorf("applying a stored change: %w", err))
	}
	s.settleItems(change)
	if !s.watched {
		return
	}
	if event, ok := s.event(seq, change); ok {
		s.emit(Publish{Event: event})
	}
}

// settleItems counts a change of an item as acknowledged.
func (s *State) settleItems(change messages.Change) {
	switch c := change.(type) {
	case messages.ItemAppended:
		s.settleItem(c.Item.ID)
	case messages.ItemUpdated:
		s.settleItem(c.Item.ID)
	case messages.Created, messages.Opened, messages.DataSet, messages.TurnStarted, messages.TurnEnded, messages.Deleted:
	}
}

func (s *State) event(seq uint64, change messages.Change) (messages.Event, bool) {
	event := messages.Event{Session: s.doc.Head.ID, Seq: seq}
	switch c := change.(type) {
	case messages.ItemAppended:
		event.Kind, event.Item = messages.EventItem, s.copyOf(c.Item.ID)
	case messages.ItemUpdated:
		event.Kind, event.Item = messages.EventItemUpdated, s.copyOf(c.Item.ID)
	case messages.DataSet:
		event.Kind, event.Key = messages.EventData, c.Key
	case messages.TurnStarted:
		event.Kind, event.Turn = messages.EventTurnStarted, s.turnCopy()
	case messages.TurnEnded:
		event.Kind, event.Turn = messages.EventTurnEnded, s.turnCopy()
	case messages.Deleted:
		event.Kind = messages.EventDeleted
	case messages.Created, messages.Opened:
		return event, false
	}
	return event, true
}

// settleItem counts one change of an item as acknowledged.
func (s *State) settleItem(id messages.ItemID) {
	if p := s.pending[id]; p.changes > 1 {
		p.changes--
		s.pending[id] = p
	} else {
		delete(s.pending, id)
	}
}

func (s *State) copyOf(id messages.ItemID) *messages.Item {
	i, _ := s.doc.Find(id)
	item := s.doc.Items[i]
	return &item
}

func (s *State) turnCopy() *messages.Turn {
	turn := *s.doc.Head.Turn
	return &turn
}

// follow does what an acknowledged group leads to.
func (s *State) follow(t then) {
	switch t.what {
	case followNothing:
	case followReply:
		s.reply(t.ticket, nil, nil)
	case followItem:
		s.reply(t.ticket, *s.copyOf(t.item), nil)
	case followHead:
		s.reply(t.ticket, s.Head(), nil)
	case followStarted:
		s.started(t.turn)
	case followEnded:
		s.ended(t.turn)
	case followOwed:
		s.owed = nil
	case followDeleted:
		for _, ticket := range s.deleting {
			s.reply(ticket, nil, nil)
		}
		s.leave(Leave{Deleted: true}, ErrDeleted)
	}
}

// advance starts what can start now: the next prompt, the deletion, the departure; and commits what is staged.
func (s *State) advance() {
	if s.gone {
		return
	}
	if s.active == nil {
		s.startNext()
	}
	if !s.gone {
		s.pump()
	}
}

func (s *State) startNext() {
	quiet := len(s.flight) == 0 && len(s.staged) == 0
	switch {
	case s.deleting != nil:
		if quiet {
			s.stage(group{changes: []messages.Change{messages.Deleted{}}, then: then{what: followDeleted}})
		}
	case s.draining != nil:
		if quiet {
			s.reply(s.draining.Ticket, nil, nil)
			s.leave(Leave{}, ErrClosing)
		}
	case len(s.queue) > 0 && (quiet || s.owed == nil):
		s.repay() // What is owed goes in front of the new turn, in the same commit.
		prompt := s.queue[0]
		s.queue = slices.Delete(s.queue, 0, 1)
		s.begin(prompt)
	}
}

// drop gives up what a failed commit held, and everything that was staged upon it. The document is
// as it was; those who wait are told.
func (s *State) drop(err error) {
	lost := slices.Concat(s.flight, s.staged)
	s.flight, s.staged, s.pending = nil, nil, nil
	for i := range lost {
		s.giveUp(lost[i].then, err)
	}
	if t := s.active; t != nil && t.accepts() {
		s.reopen(t)
		s.stop(outcome{status: messages.TurnFailed, err: fmt.Sprintf("storing the turn: %v", err)})
	}
}

// giveUp tells what waited for a group that was not stored.
func (s *State) giveUp(t then, err error) {
	err = fmt.Errorf("storing: %w", err)
	switch t.what {
	case followNothing:
	case followReply, followItem:
		s.reply(t.ticket, nil, err)
	case followHead:
		s.reply(t.ticket, nil, err)
		s.leave(Leave{Err: err}, err)
	case followStarted:
		s.active = nil
		s.reply(t.turn.ticket, nil, err)
		s.release(t.turn, nil)
	case followEnded:
		s.owe(t.turn, err)
	case followOwed:
		s.wake(true)
	case followDeleted:
		for _, ticket := range s.deleting {
			s.reply(ticket, nil, err)
		}
		s.deleting = nil
	}
}

// owe settles a turn whose ending could not be stored. The handle tells both; the record follows
// with the next commit.
func (s *State) owe(t *turn, err error) {
	s.active, s.owed = nil, t
	turn := t.record
	s.emit(Settle{Turn: turn, Err: err})
	s.release(t, err)
	if s.draining == nil && s.deleting == nil {
		s.wake(true)
		return
	}
	s.owed = nil // Nobody comes back to it: the next writer finds the turn running and interrupts it.
}

// repay stages the ending that is owed, if there is one and nothing is on its way.
func (s *State) repay() {
	if s.owed == nil || len(s.flight) > 0 || len(s.staged) > 0 {
		return
	}
	t := s.owed
	t.drafts, t.calls = nil, nil
	s.readOpen(t)
	s.stage(group{changes: s.ending(t), then: then{what: followOwed, turn: t}})
}

// reopen rebuilds what the turn has open from what is stored, and keeps the drafts' newest text.
func (s *State) reopen(t *turn) {
	drafts := t.drafts
	t.drafts, t.calls = nil, nil
	s.readOpen(t)
	for _, d := range drafts {
		if known := t.draft(d.item.ID); known != nil {
			known.item, known.dirty = d.item, true
		} else {
			t.drafts = append(t.drafts, &draft{item: d.item, dirty: true})
		}
	}
}

// lose ends everything at once: another writer owns the session.
func (s *State) lose(err error) {
	lost := slices.Concat(s.flight, s.staged)
	s.flight, s.staged, s.pending, s.owed = nil, nil, nil, nil
	for i := range lost {
		s.fail(lost[i].then, err)
	}
	if t := s.active; t != nil {
		s.active = nil
		if t.phase == phaseRunning {
			s.emit(StopTurn{Turn: t.record.ID, Reason: "the session was lost to another writer"})
		}
		turn := t.record
		turn.Status, turn.Error = messages.TurnFailed, err.Error()
		s.emit(Settle{Turn: turn, Err: err})
		s.release(t, err)
	}
	s.rejectQueue(err)
	for _, ticket := range s.deleting {
		s.reply(ticket, nil, err)
	}
	if s.draining != nil {
		s.reply(s.draining.Ticket, nil, nil)
	}
	s.leave(Leave{Err: err}, errors.Join(ErrClosing, err))
}

// fail tells those who wait for a group that the session was lost.
func (s *State) fail(t then, err error) {
	switch t.what {
	case followReply, followItem, followHead:
		s.reply(t.ticket, nil, err)
	case followStarted:
		s.reply(t.turn.ticket, nil, err)
		s.active = nil
		s.release(t.turn, err)
	case followNothing, followEnded, followOwed, followDeleted:
	}
}
