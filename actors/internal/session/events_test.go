package session

import (
	"encoding/json"
	"fmt"
	"slices"

	"agentd/messages"
)

// event is something that may happen to a session at any moment.
type event struct {
	name string
	do   func(w *world) error
	// often is how much likelier than others it is in a random run.
	often int
	// races marks the events that the triples are made of.
	races bool
}

func (e event) on(w *world) error {
	w.log = append(w.log, e.name)
	return e.do(w)
}

// turn is the active turn, or the last one that was started: late events name it.
func (w *world) turn() messages.TurnID {
	if active, ok := activeTurn(w.state); ok {
		return active.ID
	}
	if n := len(w.order); n > 0 {
		return w.order[n-1]
	}
	return "t-none"
}

// old is a turn before that one, if there is any.
func (w *world) old() messages.TurnID {
	if n := len(w.order); n > 1 {
		return w.order[n-2]
	}
	return w.turn()
}

func (w *world) prompt(mode messages.OnBusy) error {
	w.turns++
	w.items++
	return w.send(Prompt{
		Ticket: w.ticket(fmt.Sprintf("prompt t%d (%s)", w.turns, mode)), OnBusy: mode, Input: fmt.Sprintf("do %d", w.turns),
		Turn: messages.TurnID(fmt.Sprintf("t%d", w.turns)), Item: messages.ItemID(fmt.Sprintf("u%d", w.turns)),
	})
}

func (w *world) repeat(n int) error {
	if n < 1 {
		return nil
	}
	return w.send(Prompt{
		Ticket: w.ticket(fmt.Sprintf("repeat of t%d", n)), Input: fmt.Sprintf("do %d", n),
		Turn: messages.TurnID(fmt.Sprintf("t%d", n)), Item: messages.ItemID(fmt.Sprintf("u%d", n)),
	})
}

// item makes an item with a fresh id, or with one that a turn always uses.
func (w *world) item(typ messages.ItemType, id string) messages.Item {
	if id == "" {
		w.items++
		id = fmt.Sprintf("i%d", w.items)
	}
	return messages.Item{ID: messages.ItemID(id), Type: typ, Content: fmt.Sprintf("text %d", w.now), Provider: "p"}
}

// named is the id of the item of that name in the present turn.
func (w *world) named(name string) string { return name + "-" + string(w.turn()) }

func (w *world) append(item messages.Item) error {
	t := w.ticket("append " + string(item.ID))
	t.durable = item.ID
	return w.send(Append{Ticket: t, Turn: w.turn(), Item: item})
}

func (w *world) upsert(item messages.Item, must bool) error {
	t := w.ticket("upsert " + string(item.ID))
	if !item.IsDraft() {
		t.durable = item.ID
	}
	return w.send(Upsert{Ticket: t, Turn: w.turn(), Item: item, MustExist: must})
}

func (w *world) draft(name string, typ messages.ItemType) messages.Item {
	item := w.item(typ, w.named(name))
	item.StreamStatus = messages.StreamStreaming
	return item
}

func (w *world) call(name string, status messages.CallStatus) messages.Item {
	item := w.item(messages.ItemToolCall, w.named("call-"+name))
	// Call ids are used again in each turn, as some providers do.
	item.CallID, item.Name, item.Status = messages.CallID("c-"+name), "tool", status
	return item
}

func (w *world) result(name string, failed bool) messages.Item {
	// The obvious id is the one that the session would take itself, in every turn.
	item := w.item(messages.ItemToolResult, w.named("itm-tool-result-c-"+name))
	item.CallID, item.IsError, item.Output = messages.CallID("c-"+name), failed, "out"
	return item
}

func (w *world) request(kind, id, call string) messages.Item {
	item := w.item(messages.ItemEvent, "")
	item.EventType = kind
	item.Data, _ = json.Marshal(map[string]string{"request-id": id, "call-id": call})
	return item
}

func (w *world) stopped(m TurnStopped) error {
	m.Turn = w.turn()
	r := w.run(m.Turn)
	if r.asked {
		r.told = true
	}
	return w.send(m)
}

func (w *world) finish(id messages.TurnID, items ...messages.Item) error {
	return w.send(Finish{Ticket: w.ticket("finish " + string(id)), Turn: id, Result: "done", Items: items})
}

func (w *world) tick() error {
	w.woken = false
	return w.send(Tick{})
}

// look takes the items as a reader does, and remembers them.
func (w *world) look() error {
	w.view = w.state.Items()
	w.viewCopy = (&messages.Document{Items: w.view}).Clone().Items
	return nil
}

func promptEvents() []event {
	return []event{
		{name: "prompt-cancel", often: 4, races: true, do: func(w *world) error { return w.prompt(messages.OnBusyCancel) }},
		{name: "prompt-queue", often: 4, races: true, do: func(w *world) error { return w.prompt(messages.OnBusyQueue) }},
		{name: "prompt-reject", often: 2, races: true, do: func(w *world) error { return w.prompt(messages.OnBusyReject) }},
		{name: "prompt-again", often: 2, do: func(w *world) error { return w.repeat(w.turns) }},
		{name: "prompt-of-before", often: 1, do: func(w *world) error { return w.repeat(w.turns - 1) }},
		{name: "prompt-of-long-ago", often: 1, do: func(w *world) error { return w.repeat(1) }},
		{name: "withdraw", often: 1, do: func(w *world) error { return w.send(Withdraw{Turn: messages.TurnID(fmt.Sprintf("t%d", w.turns))}) }},
		{name: "cancel", often: 3, races: true, do: func(w *world) error { return w.send(Cancel{Ticket: w.ticket("cancel"), Reason: "enough"}) }},
		{name: "cancel-last", often: 1, do: func(w *world) error {
			return w.send(Cancel{Ticket: w.ticket("cancel last"), Turn: messages.TurnID(fmt.Sprintf("t%d", w.turns))})
		}},
		{name: "cancel-old", often: 1, do: func(w *world) error { return w.send(Cancel{Ticket: w.ticket("cancel old"), Turn: w.old()}) }},
	}
}

func itemEvents() []event {
	return []event{
		{name: "append", often: 3, races: true, do: func(w *world) error { return w.append(w.item(messages.ItemMessage, "")) }},
		{name: "append-twice", often: 1, do: func(w *world) error { return w.append(w.item(messages.ItemMessage, w.named("same"))) }},
		{name: "append-takes-next-input", often: 1, do: func(w *world) error {
			return w.append(w.item(messages.ItemMessage, fmt.Sprintf("u%d", w.turns+1)))
		}},
		{name: "append-takes-queued-input", often: 1, do: func(w *world) error {
			return w.append(w.item(messages.ItemMessage, fmt.Sprintf("u%d", w.turns)))
		}},
		{name: "append-takes-error-id", often: 1, do: func(w *world) error {
			return w.append(w.item(messages.ItemMessage, "itm-error-"+string(w.turn())))
		}},
		{name: "append-takes-result-id", often: 1, do: func(w *world) error {
			return w.append(w.item(messages.ItemMessage, "itm-tool-result-c-a"))
		}},
		{name: "append-late", often: 1, do: func(w *world) error {
			item := w.item(messages.ItemMessage, "")
			return w.send(Append{Ticket: w.ticket("late append"), Turn: w.old(), Item: item})
		}},
		{name: "append-no-type", often: 1, do: func(w *world) error { return w.append(w.item("", "")) }},
		{name: "append-foreign-turn", often: 1, do: func(w *world) error {
			item := w.call("f", messages.CallRunning)
			item.TurnID, item.Seq = "t-other", 99
			return w.append(item)
		}},
		{name: "upsert", often: 1, do: func(w *world) error { return w.upsert(w.item(messages.ItemMessage, w.named("same")), false) }},
		{name: "update", often: 1, do: func(w *world) error { return w.upsert(w.item("", w.named("same")), true) }},
		{name: "update-old-item", often: 1, do: func(w *world) error { return w.upsert(w.item("", "same-"+string(w.old())), true) }},
		{name: "draft", often: 4, races: true, do: func(w *world) error { return w.upsert(w.draft("d", messages.ItemMessage), false) }},
		{name: "draft-2", often: 2, do: func(w *world) error { return w.upsert(w.draft("e", messages.ItemReasoning), false) }},
		{name: "draft-foreign-turn", often: 1, do: func(w *world) error {
			item := w.draft("d", messages.ItemMessage)
			item.TurnID, item.Seq, item.UpdatedAt = "t-other", 99, 1
			return w.upsert(item, false)
		}},
		{name: "draft-append", often: 1, do: func(w *world) error { return w.append(w.draft("f", messages.ItemMessage)) }},
		{name: "draft-over-final", often: 1, do: func(w *world) error { return w.upsert(w.draft("same", messages.ItemMessage), false) }},
		{name: "draft-late", often: 1, do: func(w *world) error {
			return w.send(Upsert{Ticket: w.ticket("late draft"), Turn: w.old(), Item: w.draft("d", messages.ItemMessage)})
		}},
		{name: "final", often: 2, races: true, do: func(w *world) error { return w.upsert(w.item(messages.ItemMessage, w.named("d")), false) }},
	}
}

func callEvents() []event {
	return []event{
		{name: "call", often: 3, races: true, do: func(w *world) error { return w.append(w.call("a", messages.CallRunning)) }},
		{name: "call-pending", often: 2, do: func(w *world) error { return w.append(w.call("b", messages.CallPending)) }},
		{name: "call-draft", often: 1, do: func(w *world) error {
			item := w.call("d", "")
			item.StreamStatus = messages.StreamStreaming
			return w.upsert(item, false)
		}},
		{name: "call-twice", often: 1, do: func(w *world) error {
			item := w.call("a", messages.CallRunning)
			item.ID += "-2"
			return w.append(item)
		}},
		{name: "call-moves", often: 1, do: func(w *world) error {
			item := w.call("a", "")
			item.CallID = "c-b"
			return w.upsert(item, true)
		}},
		{name: "call-done", often: 1, do: func(w *world) error { return w.upsert(w.call("a", messages.CallCompleted), true) }},
		{name: "call-denied", often: 1, do: func(w *world) error { return w.upsert(w.call("b", messages.CallDenied), true) }},
		{name: "result", often: 2, races: true, do: func(w *world) error { return w.append(w.result("a", false)) }},
		{name: "result-fails", often: 1, do: func(w *world) error { return w.upsert(w.result("b", true), false) }},
		{name: "result-draft", often: 1, do: func(w *world) error {
			item := w.result("a", false)
			item.StreamStatus = messages.StreamStreaming
			return w.upsert(item, false)
		}},
		{name: "result-twice", often: 1, do: func(w *world) error {
			item := w.result("a", false)
			item.ID += "-2"
			return w.append(item)
		}},
		{name: "result-of-nothing", often: 1, do: func(w *world) error { return w.append(w.result("x", false)) }},
		{name: "record", often: 2, do: func(w *world) error {
			return w.send(Record{Ticket: w.ticket("record"), Turn: w.turn(), Fresh: true, Items: []messages.Item{
				w.call("r", messages.CallCompleted), w.result("r", false),
			}})
		}},
		{name: "record-waits", often: 2, do: func(w *world) error {
			return w.send(Record{Ticket: w.ticket("record"), Turn: w.turn(), Items: []messages.Item{
				w.call("q", messages.CallPending), w.request(EventApprovalRequested, "approval-1", "c-q"),
			}})
		}},
		{name: "record-denied", often: 1, do: func(w *world) error {
			return w.send(Record{Ticket: w.ticket("record"), Turn: w.turn(), Items: []messages.Item{
				w.call("q", messages.CallDenied), w.request(EventApprovalDecided, "approval-1", "c-q"), w.result("q", true),
			}})
		}},
		{name: "record-misfit", often: 1, do: func(w *world) error {
			return w.send(Record{Ticket: w.ticket("record"), Turn: w.turn(), Items: []messages.Item{
				w.item(messages.ItemMessage, ""), w.result("r", false), w.call("r", messages.CallRunning),
			}})
		}},
	}
}

func endEvents() []event {
	return []event{
		{name: "finish", often: 3, races: true, do: func(w *world) error { return w.finish(w.turn()) }},
		{name: "finish-with", often: 2, races: true, do: func(w *world) error {
			return w.finish(w.turn(), w.item(messages.ItemMessage, w.named("d")), w.call("z", messages.CallCompleted), w.result("z", false))
		}},
		{name: "finish-misfit", often: 1, do: func(w *world) error { return w.finish(w.turn(), w.result("y", false)) }},
		{name: "finish-late", often: 1, do: func(w *world) error { return w.finish(w.old()) }},
		{name: "fail", often: 2, races: true, do: func(w *world) error {
			return w.send(Fail{Ticket: w.ticket("fail"), Turn: w.turn(), Error: "panic: boom"})
		}},
		{name: "fail-mute", often: 1, do: func(w *world) error { return w.send(Fail{Ticket: w.ticket("fail"), Turn: w.turn()}) }},
		{name: "stopped", often: 4, races: true, do: func(w *world) error { return w.stopped(TurnStopped{}) }},
		{name: "stopped-hook", often: 2, do: func(w *world) error { return w.stopped(TurnStopped{HookError: "no route"}) }},
		{name: "stopped-left", often: 1, do: func(w *world) error { return w.stopped(TurnStopped{Abandoned: true}) }},
		{name: "stopped-late", often: 1, do: func(w *world) error { return w.send(TurnStopped{Turn: w.old()}) }},
		{name: "tick", often: 4, races: true, do: (*world).tick},
		{name: "data", often: 1, do: func(w *world) error {
			return w.send(SetData{Ticket: w.ticket("data"), Turn: w.turn(), Key: "k", Value: json.RawMessage(fmt.Sprint(w.now))})
		}},
		{name: "data-host", often: 2, races: true, do: func(w *world) error {
			return w.send(SetData{Ticket: w.ticket("host data"), Key: "h", Value: json.RawMessage(`"v"`)})
		}},
		{name: "data-none", often: 1, do: func(w *world) error {
			return w.send(SetData{Ticket: w.ticket("no data"), Key: "h", Value: json.RawMessage{}})
		}},
		{name: "data-bad", often: 1, do: func(w *world) error {
			return w.send(SetData{Ticket: w.ticket("bad data"), Key: "h", Value: json.RawMessage("{")})
		}},
		{name: "delete", often: 1, races: true, do: func(w *world) error { return w.send(Delete{Ticket: w.ticket("delete")}) }},
		{name: "drain", often: 1, do: func(w *world) error { return w.send(Drain{Ticket: w.ticket("drain")}) }},
		{name: "drain-force", often: 1, races: true, do: func(w *world) error { return w.send(Drain{Ticket: w.ticket("forced drain"), Force: true}) }},
		{name: "look", often: 1, do: (*world).look},
	}
}

func storeEvents() []event {
	return []event{
		{name: "stored", often: 25, races: true, do: (*world).ack},
		{name: "store-fails", often: 2, races: true, do: (*world).refuse},
		{name: "store-unsure", often: 1, races: true, do: func(w *world) error { return w.unsure(false) }},
		{name: "store-unsure-stored", often: 1, do: func(w *world) error { return w.unsure(true) }},
		{name: "store-fenced", often: 1, do: (*world).fence},
		{name: "crash", often: 1, do: (*world).crash},
		{name: "restart", often: 1, do: (*world).restart},
		{name: "watch", often: 1, do: (*world).watch},
	}
}

func allEvents() []event {
	return slices.Concat(promptEvents(), itemEvents(), callEvents(), endEvents(), storeEvents())
}
