package crash

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentd/messages"
)

// TestChecksFindWhatTheyLookFor breaks a good session in each way that a check is there for.
func TestChecksFindWhatTheyLookFor(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		damage func(head *messages.Head, items []*messages.Item) []*messages.Item
		want   string
	}{
		"good":          {func(_ *messages.Head, items []*messages.Item) []*messages.Item { return items }, ""},
		"still running": {func(h *messages.Head, items []*messages.Item) []*messages.Item { h.Status = "running"; return items }, "running"},
		"turn runs": {func(h *messages.Head, items []*messages.Item) []*messages.Item {
			h.Turn.Status = "running"
			return items
		}, "last turn"},
		"wrong count":     {func(h *messages.Head, items []*messages.Item) []*messages.Item { h.ItemCount++; return items }, "counts"},
		"numbers go back": {func(h *messages.Head, items []*messages.Item) []*messages.Item { h.LastSeq = 9; return items }, "number"},
		"number twice": {func(_ *messages.Head, items []*messages.Item) []*messages.Item {
			items[3].Seq = items[2].Seq
			return items
		}, "number"},
		"old item changed": {func(_ *messages.Head, items []*messages.Item) []*messages.Item {
			items[0].Content = "other"
			return items
		}, "item 0"},
		"old item lost": {func(_ *messages.Head, items []*messages.Item) []*messages.Item { return items[1:] }, ""},
		"input lost":    {func(_ *messages.Head, items []*messages.Item) []*messages.Item { return slices.Delete(items, 1, 2) }, "input"},
		"turn lost":     {func(_ *messages.Head, items []*messages.Item) []*messages.Item { return items[:1] }, "not there"},
		"item lost":     {func(_ *messages.Head, items []*messages.Item) []*messages.Item { return slices.Delete(items, 2, 3) }, "not there"},
		"item twice": {func(_ *messages.Head, items []*messages.Item) []*messages.Item {
			return slices.Insert(items, 3, items[2])
		}, "twice"},
		"items swapped": {func(_ *messages.Head, items []*messages.Item) []*messages.Item {
			items[2], items[3] = items[3], items[2]
			return items
		}, "order"},
		"text lost": {func(_ *messages.Head, items []*messages.Item) []*messages.Item { items[2].Content = ""; return items }, "acknowledged"},
		"draft open": {func(_ *messages.Head, items []*messages.Item) []*messages.Item {
			items[3].StreamStatus = "streaming"
			return items
		}, "open"},
		"call running": {func(_ *messages.Head, items []*messages.Item) []*messages.Item {
			items[4].Status = "running"
			return items
		}, "running"},
		"result lost": {func(_ *messages.Head, items []*messages.Item) []*messages.Item { return slices.Delete(items, 5, 6) }, "results"},
		"result first": {func(_ *messages.Head, items []*messages.Item) []*messages.Item {
			items[4], items[5] = items[5], items[4]
			return items
		}, "before its call"},
		"error in good turn": {func(_ *messages.Head, items []*messages.Item) []*messages.Item { items[6].Type = "error"; return items }, "error items"},
		"strange turn": {func(_ *messages.Head, items []*messages.Item) []*messages.Item {
			items[6].TurnID = "other"
			return items
		}, "not asked for"},
		"other ending": {func(h *messages.Head, items []*messages.Item) []*messages.Item {
			h.Turn.Status = "failed"
			return items
		}, "acknowledged"},
		"turn count": {func(h *messages.Head, items []*messages.Item) []*messages.Item { h.TurnCount = 7; return items }, "turns"},
		"data lost":  {func(h *messages.Head, items []*messages.Item) []*messages.Item { delete(h.Data, "k"); return items }, "data"},
		"data of another": {func(h *messages.Head, items []*messages.Item) []*messages.Item {
			h.Data["k"] = []byte(`"never"`)
			return items
		}, "data"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, head, items := goodSession()
			items = tt.damage(&head, items)
			if name != "wrong count" {
				head.ItemCount = len(items)
			}
			err := s.check(head, items)
			switch {
			case name == "good" && err != nil:
				t.Errorf("check(good) = %v", err)
			case name != "good" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("check(%s) = %v, want an error with %q", name, err, tt.want)
			}
		})
	}
}

// goodSession is a session with one turn that was seen and one that was acknowledged, and the model that says so.
func goodSession() (*sessionModel, messages.Head, []*messages.Item) {
	items := []*messages.Item{
		{ID: "u0", Type: messages.ItemMessage, Role: messages.RoleUser, Content: "old", TurnID: "t0", Seq: 3},
		{ID: "u1", Type: messages.ItemMessage, Role: messages.RoleUser, Content: "input", TurnID: "t1", Seq: 5},
		{ID: "i1", Type: messages.ItemMessage, Content: "one", TurnID: "t1", Seq: 6},
		{ID: "i2", Type: messages.ItemReasoning, Content: "two", TurnID: "t1", Seq: 7, StreamStatus: messages.StreamComplete},
		{ID: "c1", Type: messages.ItemToolCall, CallID: "call-t1-0", Status: messages.CallCompleted, TurnID: "t1", Seq: 8},
		{ID: "r1", Type: messages.ItemToolResult, CallID: "call-t1-0", TurnID: "t1", Seq: 9},
		{ID: "i3", Type: messages.ItemMessage, Content: "last", TurnID: "t1", Seq: 10},
	}
	head := messages.Head{
		Status: messages.SessionIdle, ItemCount: len(items), LastSeq: 11, TurnCount: 2,
		Turn: &messages.Turn{ID: "t1", Status: messages.TurnCompleted}, Data: map[string]json.RawMessage{"k": json.RawMessage(`"value"`)},
	}
	s := &sessionModel{
		id: "s", created: true, seen: copies(items[:1]), turnsSeen: 1, lastSeq: 10,
		turns: []*turnModel{{
			id: "t1", input: "input", started: true, ended: messages.TurnCompleted,
			items: []itemModel{{id: "i1", text: "one", seq: 6}, {id: "i2", text: "two", seq: 7}},
		}},
		data: map[string]*dataModel{"k": {value: "value"}},
	}
	return s, head, items
}

// TestRunsAreChecked breaks what is told of the runs of a tool.
func TestRunsAreChecked(t *testing.T) {
	t.Parallel()
	const id, other = messages.CallID("call-t1-0"), messages.CallID("call-t2-0")
	call := func(status messages.CallStatus) map[messages.CallID]messages.Item {
		return map[messages.CallID]messages.Item{id: {CallID: id, Status: status}}
	}
	known := map[messages.CallID]messages.CallStatus{id: "", other: ""}
	tests := map[string]struct {
		runs  map[messages.CallID]int
		known map[messages.CallID]messages.CallStatus
		calls map[messages.CallID]messages.Item
		want  string
	}{
		"ran once":               {map[messages.CallID]int{id: 1}, known, call(messages.CallCompleted), ""},
		"ran and was cut off":    {map[messages.CallID]int{id: 1}, known, call(messages.CallInterrupted), ""},
		"never ran":              {nil, known, call(messages.CallCancelled), ""},
		"ran twice":              {map[messages.CallID]int{id: 2}, known, call(messages.CallCompleted), "2 times"},
		"not asked for":          {map[messages.CallID]int{"call-x-0": 1}, known, nil, "nobody asked"},
		"not recorded":           {map[messages.CallID]int{other: 1}, known, call(messages.CallCompleted), "does not say so"},
		"told as completed":      {nil, known, call(messages.CallCompleted), "did not run"},
		"told as not run":        {map[messages.CallID]int{id: 1}, known, call(messages.CallCancelled), "and ran"},
		"acknowledged otherwise": {map[messages.CallID]int{id: 1}, map[messages.CallID]messages.CallStatus{id: messages.CallCompleted}, call(messages.CallInterrupted), "acknowledged"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkRuns(tt.runs, tt.known, tt.calls, func(messages.CallID) bool { return false })
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("checkRuns(%s) = %v, want %q", name, err, tt.want)
			}
		})
	}
}

// TestAcksThatAreCutAreNotTold holds the reader of acks to what a kill leaves in a pipe.
func TestAcksThatAreCutAreNotTold(t *testing.T) {
	t.Parallel()
	m := newModel()
	text := `{"k":"created","s":"one"}` + "\n" + `{"k":"created","s":"two"}` + "\n" + `{"k":"created","s":"thr`
	if err := readAcks(strings.NewReader(text), m.take); err != nil {
		t.Fatal(err)
	}
	if got := m.ids(); !slices.Equal(got, []messages.SessionID{"one", "two"}) {
		t.Errorf("readAcks told of %q, want the two whole lines", got)
	}
	if err := readAcks(strings.NewReader("panic: boom\n"), m.take); err == nil {
		t.Error("readAcks(no JSON) = nil, want an error")
	}
}
