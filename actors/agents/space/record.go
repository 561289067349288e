package space

import (
	"cmp"

	"github.com/tidwall/gjson"

	"agentd/messages"
	"agentd/providers/opencode"
)

// noticed takes in a tool part as it stands now and returns the items that it adds: none for a call that is recorded by the tool surface.
// Over says that the turn is over, so that a call which is not done will never be.
func (t *turn) noticed(p opencode.Part, s *step, over bool) []messages.Item {
	if p.State.Status == opencode.ToolPending && !over {
		return nil // Its arguments are still coming.
	}
	name, arguments := t.named(p)
	known := t.ledger.tell(p, name, arguments)
	_, ours := t.link.LocalName(p.Tool)
	done := p.State.Done() || over
	// A tool of ours is recorded when it runs. One that is done and did not run here was stopped on the way.
	if (ours && !done) || t.ledger.reached(known) {
		return nil
	}
	var items []messages.Item
	status, result := outcome(p, known)
	if !done {
		status = messages.CallRunning
	}
	if known.stored < callStored && t.ledger.store(known, callStored) {
		call := t.callItem(p, known, s, arguments)
		call.Status = status
		items = append(items, call)
	} else if done && known.stored == callStored {
		items = append(items, messages.Item{ID: callItemID(p.ID), Type: messages.ItemToolCall, CallID: known.call, Status: status})
	}
	if done && known.stored == callStored && t.ledger.store(known, resultStored) {
		items = append(items, result)
	}
	return items
}

// invalidTool is OpenCode's name for a tool that is not there.
const invalidTool = "invalid"

// named returns our name of the tool that the model wanted, and the arguments. OpenCode makes of a call that it cannot place one of a tool
// "invalid", which tells the name. That name is the model's: what looks like OpenCode's prefix may be the beginning of a name of ours.
func (t *turn) named(p opencode.Part) (name, arguments string) {
	name, arguments = p.Tool, cmp.Or(p.State.Input, "{}")
	invalid := p.Tool == invalidTool
	if invalid {
		name = cmp.Or(gjson.Get(arguments, "tool").String(), name)
	}
	if local, prefixed := t.link.LocalName(name); prefixed && (!invalid || t.link.Knows(local)) {
		name = local
	}
	return cutTo(cmp.Or(name, "unknown"), maxName), arguments
}

// maxName bounds the name of a tool that a model made up.
const maxName = 256

func (t *turn) callItem(p opencode.Part, known *toolPart, s *step, arguments string) messages.Item {
	item := messages.Item{
		ID: callItemID(p.ID), Type: messages.ItemToolCall, CallID: known.call, Name: known.name,
		Arguments: arguments, ParentID: t.parent,
	}
	if len(arguments) > messages.MaxArgumentBytes {
		item.Arguments = cutTo(arguments, messages.MaxArgumentBytes)
	}
	if s != nil {
		item.Provider, item.Model = s.provider, s.model
	}
	return item
}

// outcome is how a call stands, and its result if it is done or never will be.
func outcome(p opencode.Part, known *toolPart) (messages.CallStatus, messages.Item) {
	result := messages.Item{
		ID: resultItemID(p.ID), Type: messages.ItemToolResult, CallID: known.call, Name: known.name, ParentID: callItemID(p.ID),
	}
	switch {
	case !p.State.Done():
		result.IsError, result.Output = true, "interrupted: the turn ended before OpenCode told of a result"
		return messages.CallInterrupted, result
	case p.State.Status == opencode.ToolError || p.Tool == invalidTool:
		result.IsError, result.Output = true, cut(cmp.Or(p.State.Error, p.State.Output, "failed without a reason"))
		return messages.CallFailed, result
	default:
		result.Output = cut(p.State.Output)
		return messages.CallCompleted, result
	}
}
