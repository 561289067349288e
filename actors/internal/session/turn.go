package session

import (
	"slices"

	"agentd/messages"
)

// turn is the active turn. Its phases only go forward.
type turn struct {
	// record is the turn as it was started, and not to be changed: the document has it.
	record *messages.Turn
	input  string
	ticket Ticket
	phase  phase
	// outcome is how the turn will end. It is decided once, when the turn leaves phaseRunning, or is stopped before it.
	outcome outcome
	// stopped says that the outcome came from outside: the turn is cancelling until it has ended.
	stopped bool
	// last is the terminal record, from phaseEnding on. The document gets it.
	last *messages.Turn
	// fault is what kept the ending from being stored, while it is owed.
	fault error
	// waiters are told when the turn has ended.
	waiters []Ticket
	// drafts are items that still grow, in the order in which they began.
	drafts []*draft
	// closing are drafts whose final version was staged, and perhaps stored since.
	closing []messages.ItemID
	// calls are the turn's tool calls, in their order; byCall finds one by its id.
	calls  []*call
	byCall map[messages.CallID]*call
	// requests are approval requests without a decision, in their order.
	requests []request
	// errorItem is the item that tells of the error, once there is one.
	errorItem messages.ItemID
	// final holds items that came with the ending.
	final []messages.Item
	// finishing is who called Finish or Fail.
	finishing Ticket
	// first and ends are where the changes lie with which most turns begin and end.
	first, ends [2]messages.Change
}

type phase int

const (
	// phaseStarting: the first record is on its way to the store.
	phaseStarting phase = iota
	// phaseRunning: the agent works.
	phaseRunning
	// phaseStopping: the agent was told to stop; the outcome is decided.
	phaseStopping
	// phaseEnding: the terminal record is on its way to the store.
	phaseEnding
)

type outcome struct {
	status messages.TurnStatus
	result string
	err    string
}

type draft struct {
	item messages.Item
	// dirty says that the newest text is not stored and not on its way.
	dirty bool
}

// accepts reports whether the turn still takes items: it runs, or it is being stopped and
// tells what became of what it did.
func (t *turn) accepts() bool { return t.phase == phaseRunning || t.phase == phaseStopping }

// present is the turn's record as it stands now. It is not terminal before the ending is stored.
func (t *turn) present() messages.Turn {
	record := *t.record
	if t.stopped {
		record.Status = messages.TurnCancelling
	}
	return record
}

// terminal is the turn's record as it ends by its outcome.
func (t *turn) terminal(now int64) *messages.Turn {
	return &messages.Turn{
		ID: t.record.ID, Status: t.outcome.status, Result: t.outcome.result, Error: t.outcome.err,
		StartedAt: t.record.StartedAt, EndedAt: now,
	}
}

func (t *turn) draft(id messages.ItemID) *draft {
	for _, d := range t.drafts {
		if d.item.ID == id {
			return d
		}
	}
	return nil
}

// finishDraft takes an item off the drafts, if it is one: its final version is staged.
func (t *turn) finishDraft(id messages.ItemID) {
	if t.draft(id) != nil {
		t.drafts = slices.DeleteFunc(t.drafts, func(d *draft) bool { return d.item.ID == id })
		t.closing = append(t.closing, id)
	}
}

// turnFor returns the active turn if it is the one named and still takes items.
func (s *State) turnFor(id messages.TurnID) *turn {
	if t := s.active; t != nil && t.record.ID == id && t.accepts() {
		return t
	}
	return nil
}
