package messages

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestChangesRoundTrip(t *testing.T) {
	t.Parallel()
	changes := sampleChanges()
	live, replayed := NewDocument("s1"), NewDocument("s1")
	for i, change := range changes {
		seq, at := uint64(i+1), int64(1000+i)
		if err := live.Apply(seq, at, change); err != nil {
			t.Fatalf("Apply(%d) = %v", seq, err)
		}
		rec, err := EncodeChange(seq, at, change)
		if err != nil {
			t.Fatalf("EncodeChange(%d) = %v", seq, err)
		}
		if strings.ContainsAny(string(rec.Body), "\n\r") {
			t.Errorf("record %d has a line break: %s", seq, rec.Body)
		}
		back, err := DecodeRecord(rec)
		if err != nil {
			t.Fatalf("DecodeRecord(%d) = %v", seq, err)
		}
		if err := replayed.Apply(seq, at, back); err != nil {
			t.Fatalf("Apply(replayed %d) = %v", seq, err)
		}
	}
	if got, want := asJSON(t, replayed), asJSON(t, live); got != want {
		t.Errorf("replayed document = %s, want %s", got, want)
	}
	if live.Head.ItemCount != 2 || live.Head.Status != SessionIdle || live.Head.TurnCount != 1 || live.Head.Epoch != 2 {
		t.Errorf("head = %+v, want two items, one turn, idle, epoch 2", live.Head)
	}
	if live.Items[1].Content != "Done.\nnow" || live.Items[1].Seq != 6 {
		t.Errorf("item = %+v, want the updated one with its last change's number", live.Items[1])
	}
}

func TestDocumentRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	item := Item{ID: "i1", Type: ItemMessage}
	tests := []struct {
		name   string
		seq    uint64
		change Change
	}{
		{"gap", 3, ItemAppended{Item: &Item{ID: "i2", Type: ItemMessage}}},
		{"repeat", 1, ItemAppended{Item: &Item{ID: "i2", Type: ItemMessage}}},
		{"item twice", 2, ItemAppended{Item: &item}},
		{"unknown item", 2, ItemUpdated{Item: &Item{ID: "i2", Type: ItemMessage}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc := NewDocument("s1")
			if err := doc.Apply(1, 1, ItemAppended{Item: &item}); err != nil {
				t.Fatal(err)
			}
			before := asJSON(t, doc)
			if err := doc.Apply(tt.seq, 2, tt.change); err == nil {
				t.Error("Apply = nil, want an error")
			}
			if after := asJSON(t, doc); after != before {
				t.Errorf("document changed to %s, want %s", after, before)
			}
		})
	}
}

func TestDecodeRecordNamesAnUnknownKind(t *testing.T) {
	t.Parallel()
	_, err := DecodeRecord(Record{Seq: 7, Kind: "merged", Body: json.RawMessage("{}")})
	var unknown *UnknownKindError
	if !errors.As(err, &unknown) || unknown.Seq != 7 || unknown.Kind != "merged" {
		t.Errorf("DecodeRecord(unknown) = %v, want an UnknownKindError", err)
	}
}

func TestMergeLaysSetFieldsOver(t *testing.T) {
	t.Parallel()
	old := Item{ID: "i1", Type: ItemMessage, Role: RoleAssistant, Content: "a", CreatedAt: 5, Usage: &Usage{InputTokens: 1}}
	got := old.Merge(Item{ID: "other", Type: ItemError, Content: "b", Model: "m", CreatedAt: 9, UpdatedAt: 8})
	if got.ID != "i1" || got.Type != ItemMessage || got.CreatedAt != 5 {
		t.Errorf("Merge changed what must stay: %+v", got)
	}
	if got.Content != "b" || got.Model != "m" || got.Role != RoleAssistant || got.Usage == nil || got.UpdatedAt != 8 {
		t.Errorf("Merge = %+v, want the new content and model over the old rest", got)
	}
}

func TestItemValidate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		item Item
		want string
	}{
		{"good", Item{ID: "i", Type: ItemMessage}, ""},
		{"no id", Item{Type: ItemMessage}, "empty"},
		{"no type", Item{ID: "i"}, "no type"},
		{"call without id", Item{ID: "i", Type: ItemToolCall}, "call id"},
		{"bad data", Item{ID: "i", Type: ItemEvent, Data: json.RawMessage("{")}, "not JSON"},
		{"too large", Item{ID: "i", Type: ItemMessage, Content: strings.Repeat("x", MaxItemBytes+1)}, "limit"},
		{"too large where nobody looks", Item{ID: "i", Type: ItemMessage, Provider: strings.Repeat("x", MaxItemBytes+1)}, "limit"},
		{"id that JSON cannot carry", Item{ID: "i\xff", Type: ItemMessage}, "UTF-8"},
		{"call id that JSON cannot carry", Item{ID: "i", Type: ItemToolCall, CallID: "c\xff"}, "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.item.Validate()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Validate() = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestStricter(t *testing.T) {
	t.Parallel()
	for _, a := range Risks() {
		for _, b := range Risks() {
			want := a
			if b.Level() > a.Level() {
				want = b
			}
			if got := Stricter(a, b); got != want {
				t.Errorf("Stricter(%s, %s) = %s, want %s", a, b, got, want)
			}
		}
	}
	if got := Stricter(RiskShell, "odd"); got != "odd" {
		t.Errorf("Stricter(shell, odd) = %s, want the unknown one, which is refused", got)
	}
	if Risk("odd").Validate() == nil {
		t.Error("Risk(odd).Validate() = nil, want an error")
	}
}

func sampleChanges() []Change {
	return []Change{
		Created{AgentID: "local", Epoch: 1, Data: map[string]json.RawMessage{"k": json.RawMessage(`1`)}},
		TurnStarted{Turn: &Turn{ID: "t1", Status: TurnRunning, StartedAt: 1001}},
		ItemAppended{Item: &Item{ID: "i1", Type: ItemMessage, Role: RoleUser, Content: "draw\u2028 a <red> circle", CreatedAt: 1001}},
		ItemAppended{Item: &Item{ID: "i2", Type: ItemMessage, Role: RoleAssistant, StreamStatus: StreamStreaming, CreatedAt: 1002}},
		DataSet{Key: "canvas", Value: json.RawMessage(`{"n":1}`)},
		ItemUpdated{Item: &Item{ID: "i2", Type: ItemMessage, Role: RoleAssistant, Content: "Done.\nnow", StreamStatus: StreamComplete, CreatedAt: 1002, Usage: &Usage{OutputTokens: 3}}},
		DataSet{Key: "k"},
		TurnEnded{Turn: &Turn{ID: "t1", Status: TurnCompleted, Result: "Done.", StartedAt: 1001, EndedAt: 1006}},
		Opened{Epoch: 2},
	}
}

func asJSON(t *testing.T, doc *Document) string {
	t.Helper()
	text, err := json.Marshal(struct {
		Head  Head
		Items []*Item
	}{doc.Head, doc.Items})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
