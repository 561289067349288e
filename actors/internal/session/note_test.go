package session

import (
	"encoding/json"
	"testing"

	"agentd/messages"
)

// TestNote holds the rule that an event may be stored outside of a turn, and nothing else may.
func TestNote(t *testing.T) {
	t.Parallel()
	s, effects := Create("s1", messages.Created{AgentID: "a", Epoch: 1}, "create", 1, Limits{})
	commit := *effects[len(effects)-1].(*Commit)
	s.Step(1, Committed{ID: commit.ID})
	event := messages.Item{ID: "e1", Type: messages.ItemEvent, EventType: "x", Data: json.RawMessage(`{"a":1}`)}

	commit = *s.Step(2, Note{Ticket: "note", Item: event})[0].(*Commit)
	if len(commit.Changes) != 1 || commit.After != 1 {
		t.Fatalf("Step(Note) = %+v, want one change behind the first", commit)
	}
	reply := s.Step(2, Committed{ID: commit.ID})[0].(Reply)
	stored, ok := reply.Value.(messages.Item)
	if !ok || reply.Err != nil || stored.Seq != 2 || stored.TurnID != "" || stored.CreatedAt != 2 {
		t.Errorf("reply = %+v, want the stored event of no turn", reply)
	}
	if !s.Idle() {
		t.Error("Idle() = false after the note was stored")
	}
	for name, item := range map[string]messages.Item{
		"a second time": event,
		"a message":     {ID: "m1", Type: messages.ItemMessage, Content: "x"},
		"a draft":       {ID: "e2", Type: messages.ItemEvent, StreamStatus: messages.StreamStreaming},
		"bad data":      {ID: "e3", Type: messages.ItemEvent, Data: json.RawMessage("{")},
	} {
		effects := s.Step(3, Note{Ticket: "note", Item: item})
		if reply, ok := effects[0].(Reply); !ok || len(effects) != 1 || reply.Err == nil {
			t.Errorf("Step(Note %s) = %+v, want one refusal", name, effects)
		}
	}
}
