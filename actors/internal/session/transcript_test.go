package session

import (
	"fmt"
	"strings"
	"testing"

	"agentd/messages"
)

// perform prints the effects.
func (s *scenario) perform(t *testing.T, effects []Effect) {
	t.Helper()
	for _, effect := range effects {
		switch e := effect.(type) {
		case *Commit:
			s.commit(*e)
		case Reply:
			s.print("reply to %s: %s", e.Ticket, replyText(e))
		case *StartTurn:
			s.print("start %s for %s: run=%v input=%q", e.Turn.ID, e.Ticket, e.Run, e.Input)
		case AttachTurn:
			s.print("attach %s to %s%s", turnText(e.Turn), e.Ticket, errText(e.Err))
		case StopTurn:
			s.print("stop %s: %s", e.Turn, e.Reason)
		case Settle:
			s.print("settle %s%s", turnText(*e.Turn), errText(e.Err))
		case Publish:
			s.print("publish %s", eventText(e.Event))
		case Wake:
			s.print("wake retry=%v", e.Retry)
		case Leave:
			s.print("leave deleted=%v%s", e.Deleted, errText(e.Err))
		default:
			t.Fatalf("unknown effect %T", effect)
		}
	}
}

func (s *scenario) print(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

func (s *scenario) commit(c Commit) {
	again := " again"
	if !c.Repeat {
		again, s.kept = "", false
	}
	s.under = c
	s.print("commit %d after %d%s", c.ID, c.After, again)
	for _, change := range c.Changes {
		s.print("  %s", changeText(change))
	}
}

func changeText(change messages.Change) string {
	switch c := change.(type) {
	case messages.Created:
		return fmt.Sprintf("created for %s, epoch %d", c.AgentID, c.Epoch)
	case messages.Opened:
		return fmt.Sprintf("opened, epoch %d", c.Epoch)
	case messages.ItemAppended:
		return "add " + itemText(c.Item)
	case messages.ItemUpdated:
		return "update " + itemText(c.Item)
	case messages.DataSet:
		return fmt.Sprintf("set %s=%s", c.Key, c.Value)
	case messages.TurnStarted:
		return "turn started: " + turnText(*c.Turn)
	case messages.TurnEnded:
		return "turn ended: " + turnText(*c.Turn)
	case messages.Deleted:
		return "deleted"
	}
	return fmt.Sprintf("%T", change)
}

func itemText(item *messages.Item) string {
	parts := []string{string(item.ID), string(item.Type)}
	add := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "false" && text != "[]" {
			parts = append(parts, name+"="+text)
		}
	}
	add("role", item.Role)
	if item.Content != "" {
		parts = append(parts, fmt.Sprintf("%q", item.Content))
	}
	add("call", item.CallID)
	add("status", item.Status)
	add("failed", item.IsError)
	if item.Output != "" {
		parts = append(parts, fmt.Sprintf("output=%q", item.Output))
	}
	if item.Error != "" {
		parts = append(parts, fmt.Sprintf("error=%q", item.Error))
	}
	add("event", item.EventType)
	add("data", string(item.Data))
	add("stream", item.StreamStatus)
	return strings.Join(parts, " ")
}

func turnText(turn messages.Turn) string {
	text := fmt.Sprintf("%s %s", turn.ID, turn.Status)
	if turn.Result != "" {
		text += fmt.Sprintf(" result=%q", turn.Result)
	}
	if turn.Error != "" {
		text += fmt.Sprintf(" error=%q", turn.Error)
	}
	return text
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return "; " + strings.ReplaceAll(err.Error(), "\n", ": ")
}

func replyText(r Reply) string {
	if r.Err != nil {
		return "error: " + strings.ReplaceAll(r.Err.Error(), "\n", ": ")
	}
	switch v := r.Value.(type) {
	case messages.Item:
		return fmt.Sprintf("%s #%d", itemText(&v), v.Seq)
	case messages.Head:
		return fmt.Sprintf("head of %s at %d", v.ID, v.LastSeq)
	}
	return "done"
}

func eventText(e messages.Event) string {
	text := fmt.Sprintf("#%d %s", e.Seq, e.Kind)
	if e.Item != nil {
		text += " " + itemText(e.Item)
	}
	if e.Turn != nil {
		text += " " + turnText(*e.Turn)
	}
	if e.Key != "" {
		text += " " + e.Key
	}
	return text
}

// line prints the state in one line: what is stored, what is active, what is on its way, and what waits.
func (s *scenario) line() {
	state := s.state
	parts := []string{fmt.Sprintf("stored %d, %s", state.doc.Head.LastSeq, state.doc.Head.Status)}
	if t := state.active; t != nil {
		phase := map[phase]string{phaseStarting: "starting", phaseRunning: "running", phaseStopping: "stopping", phaseEnding: "ending"}[t.phase]
		parts = append(parts, fmt.Sprintf("%s %s", t.record.ID, phase))
	}
	if state.owed != nil {
		parts = append(parts, "owed "+string(state.owed.record.ID))
	}
	if len(state.flight)+len(state.staged) > 0 {
		parts = append(parts, fmt.Sprintf("%d groups in flight, %d staged", len(state.flight), len(state.staged)))
	}
	if len(state.queue) > 0 {
		var waiting []string
		for _, p := range state.queue {
			waiting = append(waiting, string(p.Turn))
		}
		parts = append(parts, "waiting "+strings.Join(waiting, " "))
	}
	for _, flag := range []struct {
		on   bool
		name string
	}{{state.deleting != nil, "deleting"}, {state.draining != nil, "draining"}, {state.gone, "gone"}} {
		if flag.on {
			parts = append(parts, flag.name)
		}
	}
	s.print("= %s", strings.Join(parts, "; "))
}
