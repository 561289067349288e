package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"agentd/messages"
)

// check compares a session with what was acknowledged, and takes over what it finds as what has to stay.
func (s *sessionModel) check(head messages.Head, items []*messages.Item) error {
	if err := errors.Join(s.checkHead(head, items), s.checkSeen(items), checkHistory(head, items)); err != nil {
		return err
	}
	if err := errors.Join(s.checkTurns(head, items[len(s.seen):]), s.checkData(head)); err != nil {
		return err
	}
	s.created, s.deleting = true, false
	s.seen, s.turnsSeen, s.lastSeq, s.turns = copies(items), head.TurnCount, head.LastSeq, nil
	return nil
}

// checkHead: the session is idle, its counts are right, and its numbers go on.
func (s *sessionModel) checkHead(head messages.Head, items []*messages.Item) error {
	switch {
	case head.Status != messages.SessionIdle:
		return fmt.Errorf("it is %s", head.Status)
	case head.Turn != nil && !head.Turn.Status.Terminal():
		return fmt.Errorf("its last turn is %s", head.Turn.Status)
	case head.ItemCount != len(items):
		return fmt.Errorf("its head counts %d items of %d", head.ItemCount, len(items))
	case head.LastSeq < s.lastSeq:
		return fmt.Errorf("its last number is %d, and was %d", head.LastSeq, s.lastSeq)
	}
	seqs := map[uint64]bool{}
	for i := range items {
		if seq := items[i].Seq; seq == 0 || seq > head.LastSeq || seqs[seq] {
			return fmt.Errorf("item %q has the number %d, the last is %d, or two have it", items[i].ID, seq, head.LastSeq)
		}
		seqs[items[i].Seq] = true
	}
	return nil
}

// checkSeen: history that was read before has not changed.
func (s *sessionModel) checkSeen(items []*messages.Item) error {
	if len(items) < len(s.seen) {
		return fmt.Errorf("it has %d items, and had %d", len(items), len(s.seen))
	}
	for i := range s.seen {
		if !reflect.DeepEqual(s.seen[i], items[i]) {
			return fmt.Errorf("item %d was %+v and is %+v", i, s.seen[i], items[i])
		}
	}
	return nil
}

// checkHistory: drafts are closed, ids are there once, and every tool call has one result, behind it.
func checkHistory(head messages.Head, items []*messages.Item) error {
	ids := map[messages.ItemID]bool{}
	calls := map[messages.CallID]int{}
	for i := range items {
		item := items[i]
		switch {
		case ids[item.ID]:
			return fmt.Errorf("item %q is there twice", item.ID)
		case item.IsDraft():
			return fmt.Errorf("draft %q is open", item.ID)
		case item.Type == messages.ItemToolCall && (item.Status == messages.CallPending || item.Status == messages.CallRunning):
			return fmt.Errorf("call %q is %s", item.CallID, item.Status)
		case item.Type == messages.ItemToolCall:
			if _, twice := calls[item.CallID]; twice {
				return fmt.Errorf("call %q is there twice", item.CallID)
			}
			calls[item.CallID] = 0
		case item.Type == messages.ItemToolResult:
			if _, made := calls[item.CallID]; !made {
				return fmt.Errorf("the result of %q comes before its call", item.CallID)
			}
			calls[item.CallID]++
		}
		ids[item.ID] = true
	}
	for id, results := range calls {
		if results != 1 {
			return fmt.Errorf("call %q has %d results", id, results)
		}
	}
	return nil
}

// checkTurns: the new items are those of the turns that were asked for, in order, with everything that was acknowledged.
func (s *sessionModel) checkTurns(head messages.Head, items []*messages.Item) error {
	found := 0
	for _, t := range s.turns {
		n := 0
		for n < len(items) && items[n].TurnID == t.id {
			n++
		}
		if n > 0 {
			found++
		}
		if err := t.check(items[:n]); err != nil {
			return fmt.Errorf("turn %q: %w", t.id, err)
		}
		if n > 0 && len(items) == n { // It is the last one.
			if err := t.checkEnding(head.Turn); err != nil {
				return fmt.Errorf("turn %q: %w", t.id, err)
			}
		}
		items = items[n:]
	}
	if len(items) > 0 {
		return fmt.Errorf("item %q of turn %q was not asked for, or is out of order", items[0].ID, items[0].TurnID)
	}
	if head.TurnCount != s.turnsSeen+found {
		return fmt.Errorf("its head counts %d turns, and it had %d and has %d more", head.TurnCount, s.turnsSeen, found)
	}
	return nil
}

// check compares the items of a turn with what was acknowledged.
func (t *turnModel) check(items []*messages.Item) error {
	if len(items) == 0 {
		if t.started || len(t.items) > 0 || t.ended != "" {
			return errors.New("it was acknowledged and is not there")
		}
		return nil
	}
	if items[0].Role != messages.RoleUser || items[0].Content != t.input {
		return fmt.Errorf("it begins with %+v, want the input", items[0])
	}
	at, failures := 0, 0
	for i := range items {
		if items[i].Role == messages.RoleUser && i > 0 {
			return errors.New("its input is there twice")
		}
		if items[i].Type == messages.ItemError {
			failures++
		}
		if at < len(t.items) && t.items[at].id == items[i].ID {
			if short(items[i].Content) != t.items[at].text || items[i].Seq < t.items[at].seq {
				return fmt.Errorf("item %q is %+v, and %+v was acknowledged", items[i].ID, items[i], t.items[at])
			}
			at++
		}
	}
	return t.checkCounts(at, failures)
}

func (t *turnModel) checkCounts(acknowledged, failures int) error {
	switch {
	case acknowledged < len(t.items):
		return fmt.Errorf("item %q was acknowledged and is not there, or is out of order", t.items[acknowledged].id)
	case failures > 1, t.ended == messages.TurnCompleted && failures > 0:
		return fmt.Errorf("it ended as %q and has %d error items", t.ended, failures)
	case t.ended != "" && t.ended != messages.TurnCompleted && failures != 1:
		return fmt.Errorf("it ended as %s and has %d error items", t.ended, failures)
	}
	return nil
}

// checkEnding compares the record of the last turn.
func (t *turnModel) checkEnding(turn *messages.Turn) error {
	if turn == nil || turn.ID != t.id {
		return fmt.Errorf("the head tells of the turn %+v", turn)
	}
	if t.ended != "" && turn.Status != t.ended {
		return fmt.Errorf("it %s, and that it %s was acknowledged", turn.Status, t.ended)
	}
	return nil
}

// checkData: each key has its last acknowledged value, or one that was asked for since. That is taken over.
func (s *sessionModel) checkData(head messages.Head) error {
	for key, d := range s.data {
		var value string
		if raw, there := head.Data[key]; there {
			if err := json.Unmarshal(raw, &value); err != nil {
				return fmt.Errorf("data %q is %q: %w", key, raw, err)
			}
		}
		if value != d.value && !slices.Contains(d.asked, value) {
			return fmt.Errorf("data %q is %q, want %q or one of %q", key, value, d.value, d.asked)
		}
		d.value, d.asked = value, nil
	}
	return nil
}

// checkRuns: no call ran twice; one that ran has its item; one that is told as completed ran, one that is told as not run did not.
func checkRuns(runs map[messages.CallID]int, known map[messages.CallID]messages.CallStatus, calls map[messages.CallID]messages.Item, gone func(messages.CallID) bool) error {
	for id, n := range runs {
		if n != 1 {
			return fmt.Errorf("call %q ran %d times", id, n)
		}
		if _, asked := known[id]; !asked {
			return fmt.Errorf("call %q ran, and nobody asked for it", id)
		}
		if _, there := calls[id]; !there && !gone(id) {
			return fmt.Errorf("call %q ran, and its session does not say so", id)
		}
	}
	for id, item := range calls {
		ran := runs[id] == 1
		switch {
		case item.Status == messages.CallCompleted && !ran:
			return fmt.Errorf("call %q is told as completed and did not run", id)
		case (item.Status == messages.CallCancelled || item.Status == messages.CallDenied) && ran:
			return fmt.Errorf("call %q is told as %s and ran", id, item.Status)
		case known[id] == messages.CallCompleted && item.Status != messages.CallCompleted:
			return fmt.Errorf("call %q is told as %s, and that it completed was acknowledged", id, item.Status)
		}
	}
	return nil
}

// turnOf is the turn that made a call, by the name of the call.
func turnOf(id messages.CallID) messages.TurnID {
	name := strings.TrimPrefix(string(id), "call-")
	return messages.TurnID(name[:strings.LastIndexByte(name, '-')])
}

// copies are items of their own, which nobody else changes.
func copies(items []*messages.Item) []*messages.Item {
	return (&messages.Document{Items: items}).Clone().Items
}
