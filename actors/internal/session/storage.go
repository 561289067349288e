package session

import (
	"fmt"
	"slices"

	"agentd/messages"
)

// maxCommitChanges is the most changes that one commit holds, unless a single group has more.
const maxCommitChanges = 2 * MaxBatchItems

// group is a run of changes that stand or fall together, and what follows when they are durable.
type group struct {
	changes []messages.Change
	then    then
	// owner is the turn that misses something if the group is not stored, nil if none does.
	owner *turn
}

// then says what an acknowledged group leads to.
type then struct {
	what   follow
	ticket Ticket
	item   messages.ItemID
	turn   *turn
}

type follow int

const (
	followNothing follow = iota
	followReply
	followItem
	followHead
	followStarted
	followEnded
	followOwed
	followDeleted
)

// stage puts a group behind what is on its way.
func (s *State) stage(g group) { s.staged = append(s.staged, g) }

// pump commits what is staged, unless a commit is under way.
func (s *State) pump() {
	if len(s.flight) > 0 || len(s.staged) == 0 {
		return
	}
	if n := s.portion(); n == len(s.staged) {
		s.flight, s.staged = s.staged, s.flight[:0]
	} else {
		s.flight = append(s.flight[:0], s.staged[:n]...)
		s.staged = slices.Delete(s.staged, 0, n)
	}
	s.commitID++
	s.flightAt = s.now
	s.commit(false)
}

// portion is how many of the staged groups one commit can hold.
func (s *State) portion() int {
	size, count := 0, 0
	for i := range s.staged {
		for _, change := range s.staged[i].changes {
			size += messages.BodySize(change)
		}
		count += len(s.staged[i].changes)
		if i > 0 && (size > MaxBatchBytes || count > maxCommitChanges) {
			return i
		}
	}
	return len(s.staged)
}

// commit has what is in flight stored.
func (s *State) commit(repeat bool) {
	c := s.commitEffect()
	*c = Commit{ID: s.commitID, After: s.doc.Head.LastSeq, At: s.flightAt, Changes: s.inFlight(), Repeat: repeat}
	s.emit(c)
}

// inFlight are the changes of the commit under way, in order.
func (s *State) inFlight() []messages.Change {
	if s.claim == nil && len(s.flight) == 1 {
		return s.flight[0].changes
	}
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
	return changes
}

func (s *State) onCommitted(m Committed) {
	if len(s.flight) == 0 || m.ID != s.commitID {
		return // An answer to an older writer.
	}
	switch {
	case m.Err == nil:
		s.doubt = false
		s.acknowledge()
	case m.Dead:
		s.lose(m.Err)
	case m.Unknown:
		s.doubt = true
		s.commit(true)
	case s.doubt:
		// This try was not stored, but an earlier one may be. Only the next writer can tell, by reading.
		s.lose(fmt.Errorf("a commit ended in doubt: %w", m.Err))
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
	clear(flight)
	s.flight = flight[:0]
}

// apply adds one durable change to the document and tells the subscribers.
func (s *State) apply(change messages.Change) {
	seq := s.doc.Head.LastSeq + 1
	switch c := change.(type) {
	case messages.ItemAppended:
		s.pending.settle(c.Item.ID)
	case messages.ItemUpdated:
		s.pending.settle(c.Item.ID)
		if i, found := s.doc.Find(c.Item.ID); found && i < s.shared {
			s.doc.Items, s.shared = slices.Clone(s.doc.Items), 0
		}
	case messages.Created, messages.Opened, messages.DataSet, messages.TurnStarted, messages.TurnEnded, messages.Deleted:
	}
	if err := s.doc.Apply(seq, s.flightAt, change); err != nil {
		// The staging rules make this impossible. The actor restarts from what is stored.
		panic(fmt.Errorf("applying a stored change: %w", err))
	}
	if !s.watched {
		return
	}
	if event, ok := s.event(seq, change); ok {
		s.emit(Publish{Event: event})
		s.republish(event.Item)
	}
}

// follow does what an acknowledged group leads to.
func (s *State) follow(t then) {
	switch t.what {
	case followNothing:
	case followReply:
		s.reply(t.ticket, nil, nil)
	case followItem:
		s.reply(t.ticket, s.copyOf(t.item), nil)
	case followHead:
		s.reply(t.ticket, s.Head(), nil)
	case followStarted:
		s.started(t.turn)
	case followEnded:
		s.ended(t.turn)
	case followOwed:
		s.owed, s.repaying = nil, false
	case followDeleted:
		s.deleted = true
		s.leave(Leave{Deleted: true}, ErrDeleted)
	}
}

// copyOf returns a stored item.
func (s *State) copyOf(id messages.ItemID) messages.Item {
	i, _ := s.doc.Find(id)
	return *s.doc.Items[i]
}
