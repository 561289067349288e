package actors

import "agentd/actors/internal/session"

// ticketOf returns who waits for the answer to a message, or nil.
func ticketOf(msg session.Message) ticket {
	var t session.Ticket
	switch m := msg.(type) {
	case session.Prompt:
		t = m.Ticket
	case session.Cancel:
		t = m.Ticket
	case session.Append:
		t = m.Ticket
	case session.Upsert:
		t = m.Ticket
	case session.Record:
		t = m.Ticket
	case session.SetData:
		t = m.Ticket
	case session.Note:
		t = m.Ticket
	case session.Finish:
		t = m.Ticket
	case session.Fail:
		t = m.Ticket
	case session.Delete:
		t = m.Ticket
	case session.Drain:
		t = m.Ticket
	case session.Withdraw, session.TurnStopped, session.Committed, session.Tick:
	}
	known, _ := t.(ticket)
	return known
}
