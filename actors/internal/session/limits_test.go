package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"agentd/messages"
)

// running returns a state with a running turn, t1.
func running(tb testing.TB) *State {
	tb.Helper()
	s, _ := Create("s1", messages.Created{AgentID: "a1", Epoch: 1}, nil, 1, Limits{})
	store(s)
	s.Step(2, Prompt{Turn: "t1", Item: "u1", Input: "go"})
	store(s)
	if turn, ok := activeTurn(s); !ok || turn.ID != "t1" {
		tb.Fatalf("Turn() = %v, %v, want t1", turn, ok)
	}
	return s
}

// store acknowledges until nothing is on its way, and returns what happened meanwhile.
func store(s *State) []Effect {
	var all []Effect
	for len(s.flight) > 0 {
		all = append(all, s.Step(3, Committed{ID: s.commitID})...)
	}
	return all
}

// errOf is the error of the only reply among the effects.
func errOf(tb testing.TB, effects []Effect) error {
	tb.Helper()
	for _, e := range effects {
		if reply, ok := e.(Reply); ok {
			return reply.Err
		}
	}
	tb.Fatalf("no reply among %v", effects)
	return nil
}

func TestWhatIsOverALimitIsRefused(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", messages.MaxItemBytes-100)
	many := make([]messages.Item, MaxBatchItems+1)
	for i := range many {
		many[i] = messages.Item{ID: messages.ItemID(fmt.Sprintf("i%d", i)), Type: messages.ItemMessage}
	}
	huge := make([]messages.Item, 5)
	for i := range huge {
		huge[i] = messages.Item{ID: messages.ItemID(fmt.Sprintf("i%d", i)), Type: messages.ItemMessage, Content: big}
	}
	tests := []struct {
		name string
		msg  Message
	}{
		{"item", Append{Item: messages.Item{ID: "i", Type: messages.ItemMessage, Content: big + big}}},
		{"provider", Append{Item: messages.Item{ID: "i", Type: messages.ItemMessage, Provider: big + big}}},
		{"record of many", Record{Items: many}},
		{"record of much", Record{Items: huge}},
		{"finish of many", Finish{Items: many}},
		{"finish of much", Finish{Items: huge}},
		{"result", Finish{Result: strings.Repeat("x", MaxResultBytes+1)}},
		{"data", SetData{Key: "k", Value: json.RawMessage(`"` + strings.Repeat("x", MaxDataBytes) + `"`)}},
		{"input", Prompt{Turn: "t2", Item: "u2", Input: strings.Repeat("x", messages.MaxInputBytes+1)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := running(t)
			before := s.doc.Head.LastSeq
			if err := errOf(t, s.Step(4, forTurn(tt.msg))); !errors.Is(err, messages.ErrTooLarge) {
				t.Errorf("Step(%T) = %v, want ErrTooLarge", tt.msg, err)
			}
			if turn, ok := activeTurn(s); len(s.flight) > 0 || s.doc.Head.LastSeq != before || !ok || turn.Status != messages.TurnRunning {
				t.Errorf("a refused %T changed the session", tt.msg)
			}
		})
	}
}

// forTurn makes a message come from turn t1, with somebody who waits.
func forTurn(msg Message) Message {
	switch m := msg.(type) {
	case Append:
		m.Turn, m.Ticket = "t1", "x"
		return m
	case Record:
		m.Turn, m.Ticket = "t1", "x"
		return m
	case Finish:
		m.Turn, m.Ticket = "t1", "x"
		return m
	case SetData:
		m.Turn, m.Ticket = "t1", "x"
		return m
	case Prompt:
		m.Ticket = "x"
		return m
	default:
		return msg
	}
}

func TestDataIsBoundedInAll(t *testing.T) {
	t.Parallel()
	s := running(t)
	value := json.RawMessage(`"` + strings.Repeat("x", MaxDataBytes-2) + `"`)
	set := func(key string, value json.RawMessage) error {
		s.Step(4, SetData{Ticket: "x", Key: key, Value: value})
		if len(s.flight) == 0 {
			return errOf(t, s.Step(4, SetData{Ticket: "x", Key: key, Value: value}))
		}
		return errOf(t, store(s))
	}
	for i := range MaxDataTotalBytes/MaxDataBytes - 1 {
		if err := set(fmt.Sprint("k", i), value); err != nil {
			t.Fatalf("set(%d) = %v", i, err)
		}
	}
	if err := set("one more", value); !errors.Is(err, messages.ErrTooLarge) {
		t.Errorf("set(one more) = %v, want ErrTooLarge", err)
	}
	if err := set("k0", nil); err != nil {
		t.Errorf("removing a key = %v", err)
	}
	if err := set("one more", value); err != nil {
		t.Errorf("set(one more) after removing = %v", err)
	}
}

func TestErrorsAreCutAndNeverRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", MaxErrorBytes)
	endings := map[string][]Message{
		"failure": {Fail{Turn: "t1", Error: long}},
		"cancel":  {Cancel{Reason: long}, TurnStopped{Turn: "t1"}},
		"hook":    {Cancel{Reason: long}, TurnStopped{Turn: "t1", HookError: long, Abandoned: true}},
		"bytes":   {Fail{Turn: "t1", Error: "\xff\xfe" + long}},
	}
	for name, msgs := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := running(t)
			for _, msg := range msgs {
				s.Step(4, msg)
			}
			store(s)
			turn := s.Head().Turn
			if !turn.Status.Terminal() || turn.Error == "" || len(turn.Error) > MaxErrorBytes || !json.Valid([]byte(`"`+turn.Error+`"`)) {
				t.Errorf("turn = %s with an error of %d bytes, want a cut one", turn.Status, len(turn.Error))
			}
			items := s.Items()
			if last := items[len(items)-1]; last.Error != turn.Error {
				t.Errorf("the error item has %d bytes, the turn %d", len(last.Error), len(turn.Error))
			}
		})
	}
}

// TestCommitsFitTheStore floods a turn, and ends it with a heap of open drafts: no commit may be too large, and nothing is lost.
func TestCommitsFitTheStore(t *testing.T) {
	t.Parallel()
	s := running(t)
	const drafts = 14
	text := strings.Repeat("x", messages.MaxItemBytes-200)
	s.Step(4, SetData{Key: "k", Value: json.RawMessage(`1`)}) // Everything else is staged behind this.
	for i := range drafts {
		s.Step(4, Upsert{Turn: "t1", Item: messages.Item{
			ID: messages.ItemID(fmt.Sprint("d", i)), Type: messages.ItemMessage, Content: text, StreamStatus: messages.StreamStreaming,
		}})
	}
	s.Step(4, Fail{Turn: "t1", Error: "boom"})
	commits := 0
	for len(s.flight) > 0 {
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		commits++
		size := 0
		for _, change := range s.inFlight() {
			size += messages.BodySize(change)
		}
		if size > MaxBatchBytes {
			t.Errorf("commit %d has %d bytes, want at most %d", commits, size, MaxBatchBytes)
		}
		s.Step(5, Committed{ID: s.commitID})
	}
	if head := s.Head(); head.ItemCount != 1+drafts+1 || head.Turn.Status != messages.TurnFailed {
		t.Errorf("head = %d items, turn %s; want %d items of a failed turn", head.ItemCount, head.Turn.Status, drafts+2)
	}
	if commits < 6 {
		t.Errorf("it took %d commits, want the flood in several", commits)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

// TestALargeEndingFailsInTheMiddle: what of it is stored stays, the rest is owed, and nothing comes twice.
func TestALargeEndingFailsInTheMiddle(t *testing.T) {
	t.Parallel()
	s := running(t)
	text := strings.Repeat("x", messages.MaxItemBytes-200)
	for i := range 9 {
		s.Step(4, Upsert{Turn: "t1", Item: messages.Item{
			ID: messages.ItemID(fmt.Sprint("d", i)), Type: messages.ItemMessage, Content: text, StreamStatus: messages.StreamStreaming,
		}})
		s.Step(4, Append{Turn: "t1", Item: messages.Item{
			ID: messages.ItemID(fmt.Sprint("c", i)), Type: messages.ItemToolCall, CallID: messages.CallID(fmt.Sprint("c", i)), Status: messages.CallRunning,
		}})
		store(s)
	}
	s.Step(5, Fail{Turn: "t1", Error: "boom"})
	s.Step(6, Committed{ID: s.commitID})
	if _, active := activeTurn(s); !active || len(s.flight) == 0 {
		t.Fatal("the ending was one commit, want several")
	}
	s.Step(7, Committed{ID: s.commitID, Err: errStore})
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	s.Step(8, Tick{})
	store(s)
	if err := errors.Join(s.Check(), CheckHistory(s.doc, "")); err != nil {
		t.Error(err)
	}
	if head := s.Head(); head.Status != messages.SessionIdle || head.ItemCount != 1+9*3+1 {
		t.Errorf("head = %s with %d items, want idle with %d", head.Status, head.ItemCount, 1+9*3+1)
	}
}

// TestWhatIsStoredIsWhatIsHeld sends what JSON cannot carry: the live document must be the replayed one all the same.
func TestWhatIsStoredIsWhatIsHeld(t *testing.T) {
	t.Parallel()
	odd := "a\xffb\xc3"
	s := running(t)
	s.Step(4, Append{Turn: "t1", Item: messages.Item{
		ID: "i1", Type: messages.ItemType("message" + odd), Content: odd, Provider: odd, Model: odd, EventType: odd, Name: odd, Error: odd,
		Role: messages.Role(odd), ParentID: messages.ItemID(odd), Output: odd, Arguments: odd, Data: json.RawMessage{},
	}})
	s.Step(4, SetData{Turn: "t1", Key: "k", Value: json.RawMessage{}})
	s.Step(4, Finish{Turn: "t1", Result: odd})
	store(s)
	if err := errOf(t, s.Step(5, SetData{Ticket: "x", Key: odd, Value: json.RawMessage(`1`)})); err == nil {
		t.Error("SetData with an odd key = nil, want an error")
	}
	if err := errOf(t, s.Step(5, Prompt{Ticket: "x", Turn: "t2", Item: messages.ItemID(odd), Input: odd})); err == nil {
		t.Error("Prompt with an odd item id = nil, want an error")
	}
	s.Step(5, Prompt{Turn: "t2", Item: "u2", Input: odd})
	store(s)
	text, err := json.Marshal(s.doc)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `\ufffd`) {
		return // It was made valid when it came.
	}
	back := &messages.Document{}
	if err := json.Unmarshal(text, back); err != nil {
		t.Fatal(err)
	}
	for i := range s.doc.Items {
		if !sameItem(s.doc.Items[i], back.Items[i]) || back.Items[i].Provider != s.doc.Items[i].Provider {
			t.Errorf("item = %+v, stored %+v", s.doc.Items[i], back.Items[i])
		}
	}
	if back.Head.Turn.ID != "t2" || len(s.doc.Head.Data) != 0 {
		t.Errorf("head = %+v, want turn t2 and no data", back.Head)
	}
}

// TestOwnItemsHaveGoodIDs: what the session adds must pass its own rules, whatever ids it is made of.
func TestOwnItemsHaveGoodIDs(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("é", messages.MaxIDBytes/2)
	s, _ := Create("s1", messages.Created{AgentID: "a1", Epoch: 1}, nil, 1, Limits{})
	store(s)
	turn := messages.TurnID(strings.Repeat("t", messages.MaxIDBytes))
	s.Step(2, Prompt{Turn: turn, Item: "u1", Input: "go"})
	store(s)
	s.Step(3, Record{Turn: turn, Items: []messages.Item{
		{ID: messages.ItemID(longest), Type: messages.ItemToolCall, CallID: messages.CallID(longest), Status: messages.CallPending},
		{ID: messages.ItemID("q" + longest[2:]), Type: messages.ItemToolCall, CallID: messages.CallID("q" + longest[2:])},
	}})
	s.Step(3, Record{Turn: turn, Items: []messages.Item{{
		ID: messages.ItemID("r" + longest[2:]), Type: messages.ItemEvent, EventType: EventApprovalRequested,
		Data: json.RawMessage(`{"request-id":"approval-1","call-id":"` + longest + `","name":"` + strings.Repeat("<", 1<<20) + `"}`),
	}}})
	s.Step(3, Fail{Turn: turn, Error: "boom"})
	store(s)
	if got, want := len(s.doc.Items), 1+2+1+1+2+1; got != want {
		t.Errorf("%d items, want %d", got, want)
	}
	for i := range s.doc.Items {
		if err := s.doc.Items[i].Validate(); err != nil {
			t.Errorf("item %d: %v", i, err)
		}
	}
	if err := CheckHistory(s.doc, ""); err != nil {
		t.Error(err)
	}
}
