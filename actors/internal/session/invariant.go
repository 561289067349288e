package session

import (
	"errors"
	"fmt"

	"agentd/messages"
)

// Check reports the invariants that the state breaks between two steps, or nil. It reads the whole history: tests call it after each
// step, and an actor that hunts a fault may.
func (s *State) Check() error {
	if s.gone {
		return s.checkGone()
	}
	return errors.Join(
		s.checkQueue(), s.checkTurn(), s.checkOwed(), s.checkStorage(), s.checkPending(), s.checkOpen(),
		CheckHistory(s.doc, s.open()),
	)
}

// open is the turn that the document says is running.
func (s *State) open() messages.TurnID {
	if turn := s.doc.Head.Turn; turn != nil && s.doc.Head.Status == messages.SessionRunning {
		return turn.ID
	}
	return ""
}

// checkGone: a state that left holds nothing and owes nothing.
func (s *State) checkGone() error {
	if s.active != nil || s.owed != nil || len(s.flight)+len(s.staged)+len(s.queue)+s.pending.len()+len(s.deleting.all())+len(s.draining.all()) > 0 {
		return errors.New("the session has left and still holds something")
	}
	if s.goneWith == nil {
		return errors.New("the session has left and does not know why")
	}
	return nil
}

// checkQueue: the queue is bounded, holds a turn once, is empty when the session is going, and is never left waiting for nothing.
func (s *State) checkQueue() error {
	if len(s.queue) > s.limits.Queue {
		return fmt.Errorf("the queue holds %d prompts, the limit is %d", len(s.queue), s.limits.Queue)
	}
	if len(s.queue) > 0 && (s.deleting != nil || s.draining != nil) {
		return errors.New("prompts wait in a session that is going")
	}
	if len(s.queue) > 0 && s.active == nil {
		return errors.New("prompts wait for no turn")
	}
	content := false
	for i, p := range s.queue {
		for _, q := range s.queue[:i] {
			if p.Turn == q.Turn || p.Item == q.Item {
				return fmt.Errorf("turn %q waits twice", p.Turn)
			}
		}
		if cancels(p) && content {
			return fmt.Errorf("turn %q cancels, and waits behind one that is content to wait", p.Turn)
		}
		content = content || !cancels(p)
		if cancels(p) && (s.active.phase == phaseRunning || s.active.outcome.status == "") {
			return fmt.Errorf("turn %q wants to cancel, and the active turn goes on", p.Turn)
		}
	}
	return nil
}

// checkTurn: the active turn's phase agrees with the document and with what is on its way.
func (s *State) checkTurn() error {
	starting, ending := s.count(followStarted), s.count(followEnded)
	t := s.active
	if t == nil {
		if starting+ending > 0 {
			return errors.New("a turn starts or ends, and none is active")
		}
		if s.open() != "" && s.owed == nil {
			return fmt.Errorf("turn %q runs in the document, and nobody ends it", s.open())
		}
		return nil
	}
	if t.record.Status != messages.TurnRunning {
		return fmt.Errorf("the active turn %q is %s", t.record.ID, t.record.Status)
	}
	wantStarting, wantEnding, decided := 0, 0, t.outcome.status != ""
	switch t.phase {
	case phaseStarting:
		wantStarting = 1
		if s.open() != "" && s.owed == nil {
			return fmt.Errorf("turn %q starts while %q runs", t.record.ID, s.open())
		}
	case phaseEnding:
		wantEnding = 1
		fallthrough
	case phaseStopping:
		if !decided {
			return fmt.Errorf("turn %q stops or ends without an outcome", t.record.ID)
		}
	case phaseRunning:
		if decided {
			return fmt.Errorf("turn %q runs with the outcome %s", t.record.ID, t.outcome.status)
		}
		if s.deleting != nil || s.draining != nil {
			return fmt.Errorf("turn %q runs in a session that is going", t.record.ID)
		}
	}
	if t.phase != phaseStarting && s.open() != t.record.ID {
		return fmt.Errorf("turn %q is active, and %q runs in the document", t.record.ID, s.open())
	}
	if starting != wantStarting || ending != wantEnding {
		return fmt.Errorf("turn %q has %d starts and %d endings on their way, want %d and %d", t.record.ID, starting, ending, wantStarting, wantEnding)
	}
	return nil
}

// checkOwed: an ending that is owed is the document's running turn, and is on its way or will be tried again.
func (s *State) checkOwed() error {
	switch {
	case s.owed == nil:
		if s.repaying {
			return errors.New("nothing is owed and it is repaid")
		}
	case s.open() != s.owed.record.ID:
		return fmt.Errorf("the ending of %q is owed, and %q runs in the document", s.owed.record.ID, s.open())
	case s.repaying != (s.count(followOwed) == 1):
		return fmt.Errorf("the ending of %q is repaid %d times", s.owed.record.ID, s.count(followOwed))
	case !s.repaying && len(s.flight) > 0:
		return fmt.Errorf("the ending of %q is owed, and a commit went ahead of it", s.owed.record.ID)
	case !s.repaying && !s.woken:
		return fmt.Errorf("the ending of %q is owed and forgotten", s.owed.record.ID)
	}
	return nil
}

// checkStorage: nothing is staged without a commit under way, and the claim stands until the first one is stored.
func (s *State) checkStorage() error {
	if len(s.flight) == 0 && len(s.staged) > 0 {
		return errors.New("changes are staged and no commit is under way")
	}
	if len(s.flight) == 0 && s.doubt {
		return errors.New("no commit is under way and it is in doubt")
	}
	if s.claim == nil && s.doc.Head.LastSeq == 0 {
		return errors.New("the claim is gone and nothing is stored")
	}
	if s.deleting != nil && s.active == nil && len(s.flight) == 0 {
		return errors.New("the deletion waits for nothing")
	}
	if s.draining != nil && s.active == nil && len(s.flight) == 0 {
		return errors.New("the drain waits for nothing")
	}
	return nil
}

// checkPending: the overlay of unstored items is exactly what flight and staged hold, so it is empty when the session is idle.
func (s *State) checkPending() error {
	count := make(map[messages.ItemID]int, s.pending.len())
	for _, groups := range [][]group{s.flight, s.staged} {
		for i := range groups {
			for _, change := range groups[i].changes {
				switch c := change.(type) {
				case messages.ItemAppended:
					if _, stored := s.doc.Find(c.Item.ID); stored || count[c.Item.ID] > 0 {
						return fmt.Errorf("item %q is added twice", c.Item.ID)
					}
					count[c.Item.ID]++
				case messages.ItemUpdated:
					if _, stored := s.doc.Find(c.Item.ID); !stored && count[c.Item.ID] == 0 {
						return fmt.Errorf("item %q is updated before it is added", c.Item.ID)
					}
					count[c.Item.ID]++
				case messages.Created, messages.Opened, messages.DataSet, messages.TurnStarted, messages.TurnEnded, messages.Deleted:
				}
			}
		}
	}
	for p := range s.pending.all() {
		id := p.item.ID
		if p.changes != count[id] {
			return fmt.Errorf("item %q has %d changes on their way, and %d are counted", id, count[id], p.changes)
		}
	}
	if len(count) != s.pending.len() {
		return fmt.Errorf("%d items are on their way, and %d are known", len(count), s.pending.len())
	}
	return nil
}

// checkOpen: what the active turn has open agrees with the newest items.
func (s *State) checkOpen() error {
	t := s.active
	if t == nil || !t.accepts() {
		return nil
	}
	for _, d := range t.drafts {
		if !d.item.IsDraft() || d.item.TurnID != t.record.ID && d.item.TurnID != "" {
			return fmt.Errorf("item %q is no draft of turn %q", d.item.ID, t.record.ID)
		}
		if d.dirty && !s.woken && t.phase == phaseRunning {
			return fmt.Errorf("draft %q has text that nothing will store", d.item.ID)
		}
	}
	if len(t.calls) != len(t.byCall) {
		return fmt.Errorf("turn %q has %d calls under %d ids", t.record.ID, len(t.calls), len(t.byCall))
	}
	for _, c := range t.calls {
		item := s.newest(c.item)
		if item == nil || item.CallID != c.id || item.Type != messages.ItemToolCall {
			return fmt.Errorf("call %q has no item", c.id)
		}
	}
	return nil
}

// count is how many groups on their way lead to something.
func (s *State) count(what follow) int {
	n := 0
	for _, groups := range [][]group{s.flight, s.staged} {
		for i := range groups {
			if groups[i].then.what == what {
				n++
			}
		}
	}
	return n
}
