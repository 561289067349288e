package session

import "agentd/messages"

// call is one tool call of a turn.
type call struct {
	id   messages.CallID
	item messages.ItemID
	// result is the item that answers it, empty while there is none.
	result messages.ItemID
}

// track keeps the turn's calls and open requests when an item is added.
func (t *turn) track(item *messages.Item) {
	switch item.Type {
	case messages.ItemToolCall:
		if t.byCall == nil {
			t.byCall = make(map[messages.CallID]*call, 4)
		}
		c := &call{id: item.CallID, item: item.ID}
		t.calls = append(t.calls, c)
		t.byCall[c.id] = c
	case messages.ItemToolResult:
		if c := t.byCall[item.CallID]; c != nil && c.result == "" {
			c.result = item.ID
		}
	case messages.ItemEvent:
		t.trackRequest(item)
	case messages.ItemMessage, messages.ItemReasoning, messages.ItemError:
	}
}

// fitsCalls reports why an item would spoil the pairing of calls and results, or nil. Old is what the item
// is laid over, if anything; ahead are the items that are added in front of it in the same commit.
func (t *turn) fitsCalls(old, item *messages.Item, ahead []messages.Item) error {
	if item.Type != messages.ItemToolCall && item.Type != messages.ItemToolResult {
		return nil
	}
	misfit := func(reason string) error { return &CallError{Item: item.ID, Call: item.CallID, Reason: reason} }
	if old != nil {
		if old.CallID != item.CallID {
			return misfit("it belongs to another call already")
		}
		return nil
	}
	c := t.byCall[item.CallID]
	made, answered := c != nil, c != nil && c.result != ""
	for i := range ahead {
		if ahead[i].CallID == item.CallID {
			made = made || ahead[i].Type == messages.ItemToolCall
			answered = answered || ahead[i].Type == messages.ItemToolResult
		}
	}
	switch {
	case item.Type == messages.ItemToolCall && made:
		return misfit("the turn has a call of that id already")
	case item.Type == messages.ItemToolResult && !made:
		return misfit("the turn has no such call")
	case item.Type == messages.ItemToolResult && answered:
		return misfit("it has a result already: update that instead")
	}
	return nil
}

// closeCall makes the changes that leave a call with one result and a state that is final.
func (s *State) closeCall(t *turn, c *call) []messages.Change {
	item := *s.newest(c.item)
	if c.result != "" {
		return s.settleCall(t, item, c.result)
	}
	status, why := missingResult(item.Status)
	var changes []messages.Change
	if status != item.Status {
		item.Status = status
		changes = append(changes, s.putWhole(t, &item))
	}
	return append(changes, s.putWhole(t, &messages.Item{
		ID: s.freshID("itm-tool-result-", string(c.id)), Type: messages.ItemToolResult, Name: item.Name,
		CallID: c.id, ParentID: c.item, IsError: true, Output: why,
	}))
}

// missingResult says how a call ends that has no result, and what the model is told in its place.
func missingResult(status messages.CallStatus) (messages.CallStatus, string) {
	switch status {
	case messages.CallPending, messages.CallCancelled:
		return messages.CallCancelled, "not run: the turn ended before the tool was started"
	case messages.CallDenied:
		return messages.CallDenied, "not run: the call was denied"
	case messages.CallCompleted, messages.CallFailed:
		return status, "the tool ran, but the turn ended before its result was recorded"
	case messages.CallRunning, messages.CallInterrupted:
		return messages.CallInterrupted, "interrupted while running: the turn ended before the tool answered, and its effects are unknown"
	default:
		return messages.CallInterrupted, "interrupted: the turn ended before a result was recorded, and the effects of the call are unknown"
	}
}

// settleCall ends the state of a call that has a result but was left as waiting or running.
func (s *State) settleCall(t *turn, item messages.Item, answer messages.ItemID) []messages.Change {
	if item.Status != messages.CallPending && item.Status != messages.CallRunning {
		return nil
	}
	switch result := s.newest(answer); {
	case result.StreamStatus == messages.StreamInterrupted:
		item.Status = messages.CallInterrupted
	case result.IsError:
		item.Status = messages.CallFailed
	default:
		item.Status = messages.CallCompleted
	}
	return []messages.Change{s.putWhole(t, &item)}
}
