package session

import (
	"fmt"

	"agentd/messages"
)

// CheckHistory reports what keeps a document from being sent back to a model, or what does not add up in it, or nil. Open is
// the turn that still runs and may have calls without a result and drafts; empty if none does.
func CheckHistory(doc *messages.Document, open messages.TurnID) error {
	head := &doc.Head
	running := head.Turn != nil && head.Turn.Status == messages.TurnRunning
	switch {
	case running != (head.Status == messages.SessionRunning):
		return fmt.Errorf("the session is %s and its last turn is %v", head.Status, head.Turn)
	case head.Turn != nil && !running && !head.Turn.Status.Terminal():
		return fmt.Errorf("turn %q is stored as %s", head.Turn.ID, head.Turn.Status)
	case head.ItemCount != len(doc.Items):
		return fmt.Errorf("the head counts %d items of %d", head.ItemCount, len(doc.Items))
	}
	ids := make(map[messages.ItemID]bool, len(doc.Items))
	pairs := make(map[pairKey]*pair, 4)
	for i := range doc.Items {
		item := doc.Items[i]
		if ids[item.ID] {
			return fmt.Errorf("item %q is there twice", item.ID)
		}
		ids[item.ID] = true
		if item.Seq == 0 || item.Seq > head.LastSeq {
			return fmt.Errorf("item %q has number %d, the last is %d", item.ID, item.Seq, head.LastSeq)
		}
		if item.IsDraft() && item.TurnID != open {
			return fmt.Errorf("item %q of turn %q is left streaming", item.ID, item.TurnID)
		}
		if err := addPair(pairs, item); err != nil {
			return err
		}
	}
	return checkPairs(pairs, open)
}

// pairKey names a call. Providers use the ids of calls again in later turns.
type pairKey struct {
	turn messages.TurnID
	call messages.CallID
}

type pair struct {
	status  messages.CallStatus
	results int
}

// addPair takes an item into the pairing of calls and results.
func addPair(pairs map[pairKey]*pair, item *messages.Item) error {
	key := pairKey{item.TurnID, item.CallID}
	switch item.Type {
	case messages.ItemToolCall:
		if pairs[key] != nil {
			return fmt.Errorf("turn %q has call %q twice", key.turn, key.call)
		}
		pairs[key] = &pair{status: item.Status}
	case messages.ItemToolResult:
		p := pairs[key]
		if p == nil {
			return fmt.Errorf("turn %q has a result before its call %q", key.turn, key.call)
		}
		if p.results++; p.results > 1 {
			return fmt.Errorf("call %q of turn %q has two results", key.call, key.turn)
		}
	case messages.ItemMessage, messages.ItemReasoning, messages.ItemEvent, messages.ItemError:
	}
	return nil
}

func checkPairs(pairs map[pairKey]*pair, open messages.TurnID) error {
	for key, p := range pairs {
		if key.turn == open {
			continue
		}
		if p.results != 1 {
			return fmt.Errorf("call %q of the ended turn %q has %d results", key.call, key.turn, p.results)
		}
		if p.status == messages.CallPending || p.status == messages.CallRunning {
			return fmt.Errorf("call %q of the ended turn %q is left %s", key.call, key.turn, p.status)
		}
	}
	return nil
}
