package messages_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/messages"
)

// bodyOf is what AppendBody gives, behind something that stands there already.
func bodyOf(t *testing.T, change messages.Change) string {
	t.Helper()
	body, err := messages.AppendBody([]byte("before"), change)
	if err != nil {
		t.Fatalf("AppendBody(%+v): %v", change, err)
	}
	text, ok := strings.CutPrefix(string(body), "before")
	if !ok {
		t.Fatalf("AppendBody(%+v) = %q, want it behind what was there", change, body)
	}
	return text
}

// checkBody holds a body to what encoding/json makes of the same change.
func checkBody(t *testing.T, change messages.Change) {
	t.Helper()
	want, err := json.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), bodyOf(t, change)); diff != "" {
		t.Errorf("AppendBody(%+v) (-want +got):\n%s", change, diff)
	}
}

var hardTexts = []string{
	"", "plain", `"quoted" and \back`, "line\nfeed\ttab\rreturn\b\f\v\x00\x1f\x7f", "<b>&amp;</b>", "æøå 漢字 😀",
	"\u2028 and \u2029", "\u2027\u202a", "bad \xff\xfe", "cut \xe6\xbc", "\xed\xa0\x80", "\ufffd", "\ufeff", strings.Repeat("x\n", 300),
}

// Every field of an item and of a turn is set alone to each hard text and to each hard number, so that no field can be forgotten: one that
// is added later fails here until it is encoded.
func TestAppendBodyIsWhatJSONGives(t *testing.T) {
	t.Parallel()
	for i := range reflect.TypeFor[messages.Item]().NumField() {
		for _, value := range hardValues(reflect.TypeFor[messages.Item]().Field(i).Type) {
			item := messages.Item{ID: "i", Type: messages.ItemMessage}
			reflect.ValueOf(&item).Elem().Field(i).Set(value)
			checkBody(t, messages.ItemAppended{Item: &item})
			checkBody(t, messages.ItemUpdated{Item: &item})
		}
	}
	for i := range reflect.TypeFor[messages.Turn]().NumField() {
		for _, value := range hardValues(reflect.TypeFor[messages.Turn]().Field(i).Type) {
			turn := messages.Turn{ID: "t", Status: messages.TurnRunning}
			reflect.ValueOf(&turn).Elem().Field(i).Set(value)
			checkBody(t, messages.TurnStarted{Turn: &turn})
			checkBody(t, messages.TurnEnded{Turn: &turn})
		}
	}
	for _, change := range []messages.Change{
		messages.Created{AgentID: "a", Epoch: 1, Data: map[string]json.RawMessage{"k": json.RawMessage(`{"a": 1}`)}},
		messages.Opened{Epoch: 2},
		messages.DataSet{Key: "k", Value: json.RawMessage(` [1, "<"] `)},
		messages.DataSet{Key: "k"},
		messages.Deleted{},
	} {
		checkBody(t, change)
	}
}

// hardValues are values of a type that an encoder may get wrong.
func hardValues(kind reflect.Type) []reflect.Value {
	var values []reflect.Value
	add := func(value any) { values = append(values, reflect.ValueOf(value).Convert(kind)) }
	switch kind {
	case reflect.TypeFor[json.RawMessage]():
		for _, text := range []string{"", "null", `{"b": [1, 2 ], "a":"<x>\u2028"}`, ` "  " `, "1e3"} {
			add(json.RawMessage(text))
		}
		return values
	case reflect.TypeFor[*messages.Usage]():
		add((*messages.Usage)(nil))
		add(&messages.Usage{})
		add(&messages.Usage{InputTokens: 1, OutputTokens: -2, ReasoningTokens: 3, CacheReadTokens: math.MaxInt64})
		return values
	}
	switch kind.Kind() {
	case reflect.String:
		for _, text := range hardTexts {
			add(text)
		}
	case reflect.Bool:
		add(true)
	case reflect.Int64:
		for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
			add(n)
		}
	case reflect.Uint64:
		for _, n := range []uint64{0, 1, math.MaxUint64} {
			add(n)
		}
	default:
		panic("hardValues does not know " + kind.String())
	}
	return values
}

func TestAppendBodyRefusesDataThatIsNotJSON(t *testing.T) {
	t.Parallel()
	item := messages.Item{ID: "itm-7", Type: messages.ItemEvent, Data: json.RawMessage("{")}
	_, err := messages.AppendBody(nil, messages.ItemAppended{Item: &item})
	if err == nil || !strings.Contains(err.Error(), "itm-7") {
		t.Errorf("AppendBody = %v, want an error that names the item", err)
	}
}

// BodySize is what a buffer is made for: nearly always enough for text without escapes, and not much too large.
func TestBodySize(t *testing.T) {
	t.Parallel()
	item := messages.Item{
		ID: messages.NewItemID(), Type: messages.ItemMessage, Role: messages.RoleUser, Content: strings.Repeat("a", 500), TurnID: messages.NewTurnID(), CreatedAt: 1_700_000_000,
	}
	for _, change := range []messages.Change{
		messages.ItemAppended{Item: &item},
		messages.ItemUpdated{Item: &item},
		messages.TurnStarted{Turn: &messages.Turn{ID: item.TurnID, Status: messages.TurnRunning, StartedAt: item.CreatedAt}},
		messages.DataSet{Key: "k", Value: json.RawMessage(`"value"`)},
		messages.Deleted{},
	} {
		body := bodyOf(t, change)
		if size := messages.BodySize(change); size < len(body) || size > len(body)+256 {
			t.Errorf("BodySize(%s) = %d, its body has %d bytes", change.Kind(), size, len(body))
		}
	}
}

func FuzzAppendBody(f *testing.F) {
	for _, text := range hardTexts {
		f.Add(text, "{}", int64(1), uint64(2))
	}
	f.Fuzz(func(t *testing.T, text, data string, number int64, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		some := func() string {
			start := random.IntN(len(text) + 1)
			return text[start : start+random.IntN(len(text)-start+1)]
		}
		item := messages.Item{
			ID: messages.ItemID(some()), Type: messages.ItemType(some()), Role: messages.Role(some()), Content: text, Name: some(), Arguments: some(), Output: some(),
			IsError: random.IntN(2) == 0, CallID: messages.CallID(some()), Status: messages.CallStatus(some()), Error: some(), EventType: some(),
			StreamStatus: messages.StreamStatus(some()), ParentID: messages.ItemID(some()), TurnID: messages.TurnID(some()), Provider: some(), Model: some(),
			Seq: seed, CreatedAt: number, UpdatedAt: -number,
		}
		if json.Valid([]byte(data)) {
			item.Data = json.RawMessage(bytes.Clone([]byte(data)))
		}
		checkBody(t, messages.ItemAppended{Item: &item})
		checkBody(t, messages.TurnEnded{Turn: &messages.Turn{ID: messages.TurnID(some()), Result: text, Error: some(), StartedAt: number, EndedAt: number, Seq: seed}})
	})
}
