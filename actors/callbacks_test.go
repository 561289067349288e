package actors_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/actors"
	"agentd/messages"
	"agentd/testkit"
)

// diary is what callbacks were told, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) add(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.lines...)
}

// callbacks writes everything down.
func (d *diary) callbacks() *actors.Callbacks {
	return &actors.Callbacks{
		OnItem:     func(item messages.Item) { d.add("item %s", item.Content+item.Error) },
		OnUpdate:   func(item messages.Item) { d.add("update %s %s", item.Content, item.StreamStatus) },
		OnStatus:   func(turn messages.Turn) { d.add("status %s", turn.Status) },
		OnComplete: func(turn messages.Turn) { d.add("complete %s", turn.Result) },
		OnError:    func(turn messages.Turn, _ error) { d.add("error %s", turn.Status) },
	}
}

func TestCallbacksComeInOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script testkit.Script
		want   []string
	}{
		{"completed", testkit.Script{testkit.Say("one"), testkit.Say("two"), testkit.Finish("ok", assistant("last"))}, []string{
			"status running", "item one", "item two", "item last", "status completed", "complete ok",
		}},
		{"at once", testkit.Script{testkit.Finish("ok")}, []string{"status running", "status completed", "complete ok"}},
		{"failed", testkit.Script{testkit.Say("one"), testkit.Fail("broken")}, []string{
			"status running", "item one", "item broken", "status failed", "error failed",
		}},
		{"draft", testkit.Script{testkit.Draft("d", "a"), testkit.Say("between"), testkit.Final("d", "ab"), testkit.Finish("ok")}, []string{
			"status running", "update a streaming", "item a", "item between", "update ab complete", "status completed", "complete ok",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var told diary
				rt := start(t, tt.script, nil)
				rt.Wait(rt.Run(rt.Create("a", ""), "hi", actors.RunOptions{Callbacks: told.callbacks()}))
				synctest.Wait()
				if diff := cmp.Diff(tt.want, told.read()); diff != "" {
					t.Errorf("the callbacks were told (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestCallbacksOfACancelledTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told diary
		rt := start(t, testkit.Script{testkit.UntilCancelled(), testkit.Say("last words")}, nil)
		handle := rt.Run(rt.Create("a", ""), "hi", actors.RunOptions{Callbacks: told.callbacks()})
		synctest.Wait()
		if err := handle.Cancel(rt.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want := []string{"status running", "status cancelling", "item last words", "item cancelled", "status cancelled", "error cancelled"}
		if diff := cmp.Diff(want, told.read()); diff != "" {
			t.Errorf("the callbacks were told (-want +got):\n%s", diff)
		}
	})
}

func TestCallbacksAreOfTheirTurnOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told diary
		rt := start(t, testkit.Scripts{"first": {testkit.UntilCancelled()}, "second": {testkit.Say("of the second"), testkit.Finish("ok")}}, nil)
		id := rt.Create("a", "")
		rt.Run(id, "first", actors.RunOptions{Callbacks: told.callbacks()})
		rt.Complete(id, "second")
		synctest.Wait()
		want := []string{"status running", "status cancelling", "item cancelled: a newer prompt took its place", "status cancelled", "error cancelled"}
		if diff := cmp.Diff(want, told.read()); diff != "" {
			t.Errorf("the callbacks of the first turn were told (-want +got):\n%s", diff)
		}
	})
}

func TestChecklist32CallbacksThatPanicHurtNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told diary
		fragile := &actors.Callbacks{
			OnItem:     func(messages.Item) { told.add("item"); panic("item") },
			OnUpdate:   func(messages.Item) { told.add("update"); panic("update") },
			OnStatus:   func(messages.Turn) { told.add("status"); panic("status") },
			OnComplete: func(messages.Turn) { told.add("complete"); panic("complete") },
		}
		rt := start(t, testkit.Script{testkit.Say("one"), testkit.Draft("d", "a"), testkit.Finish("ok")}, nil)
		id := rt.Create("a", "")
		probe := rt.Watch(id, actors.SubscribeOptions{})
		handle := rt.Run(id, "hi", actors.RunOptions{Callbacks: fragile})
		handle.OnComplete(func(messages.Turn) { told.add("registered"); panic("registered") })
		handle.OnComplete(func(messages.Turn) { told.add("second") })
		if turn := rt.Wait(handle); turn.Status != messages.TurnCompleted {
			t.Errorf("the turn %s: %s, want completed", turn.Status, turn.Error)
		}
		probe.Expect(testkit.Want{Kind: messages.EventTurnEnded})
		synctest.Wait()
		count := map[string]int{}
		for _, line := range told.read() {
			count[line]++
		}
		want := map[string]int{"status": 2, "item": 2, "update": 2, "complete": 1, "registered": 1, "second": 1}
		if diff := cmp.Diff(want, count); diff != "" {
			t.Errorf("the callbacks were called (-want +got):\n%s", diff)
		}
		handle.OnComplete(func(messages.Turn) { panic("late") })
		rt.Wait(rt.Run(id, "again", actors.RunOptions{Callbacks: fragile})) // "d" is closed: the turn fails, and goes on to.
	})
}

func TestNextTurnFromACallback(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, testkit.Scripts{"1": {testkit.Finish("ok")}, "2": {testkit.Fail("no")}, "3": {testkit.Finish("ok")}}, nil)
		id := rt.Create("a", "")
		done := make(chan messages.Turn, 1)
		rt.Run(id, "1", actors.RunOptions{Callbacks: &actors.Callbacks{OnComplete: func(messages.Turn) {
			rt.Run(id, "2", actors.RunOptions{OnBusy: messages.OnBusyReject, Callbacks: &actors.Callbacks{OnError: func(messages.Turn, error) {
				third := rt.Run(id, "3", actors.RunOptions{OnBusy: messages.OnBusyReject})
				third.OnComplete(func(turn messages.Turn) { done <- turn })
			}}})
		}}})
		<-done
		want := []string{"1", "2", "3"}
		if got := inputs(rt.View(id).Items); cmp.Diff(want, got) != "" {
			t.Errorf("the inputs are %q, want %q", got, want)
		}
	})
}

func TestSlowCallbacksHoldUpNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const items = 3 * actors.DefaultSubscriberBuffer
		many := make(testkit.Script, 0, items)
		for i := range items {
			many = append(many, testkit.Append(messages.Item{ID: messages.ItemID(fmt.Sprint("itm-", i)), Type: messages.ItemReasoning}))
		}
		many = append(many, testkit.Finish("ok"))
		rt := start(t, many, nil)
		id := rt.Create("a", "")
		begun := time.Now()
		gate := testkit.NewGate()
		var ids []messages.ItemID
		done := make(chan struct{})
		handle := rt.Run(id, "hi", actors.RunOptions{Callbacks: &actors.Callbacks{
			OnStatus:   func(turn messages.Turn) { gate.Pass() },
			OnItem:     func(item messages.Item) { ids = append(ids, item.ID) },
			OnComplete: func(messages.Turn) { close(done) },
		}})
		rt.Wait(handle)
		if took := time.Since(begun); took > 0 {
			t.Errorf("the turn took %v because a callback hangs", took)
		}
		gate.Open()
		<-done
		if len(ids) == 0 || len(ids) > items {
			t.Errorf("OnItem was told of %d items of %d", len(ids), items)
		}
		seen := map[messages.ItemID]bool{}
		for _, id := range ids {
			if seen[id] {
				t.Fatalf("OnItem was told of %q twice", id)
			}
			seen[id] = true
		}
	})
}

func TestCallbackOfAHandleThatHasEnded(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Scripts{"good": {testkit.Finish("ok")}, "bad": {testkit.Fail("no")}}, nil)
	id := rt.Create("a", "")
	var told diary
	for _, input := range []string{"good", "bad"} {
		handle := rt.Run(id, input, actors.RunOptions{})
		rt.Wait(handle)
		handle.OnComplete(func(messages.Turn) { told.add("complete %s", input) })
		handle.OnError(func(_ messages.Turn, err error) { told.add("error %s", input) })
	}
	if diff := cmp.Diff([]string{"complete good", "error bad"}, told.read()); diff != "" {
		t.Errorf("late callbacks were told (-want +got):\n%s", diff)
	}
}

func TestCallbacksThatFellBehindTellAnItemOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := testkit.NewGate()
		script := testkit.Script{testkit.Upsert(messages.Item{ID: "x", Type: messages.ItemReasoning, Content: "first"}), gate.Hang()}
		for i := range 2 * actors.DefaultSubscriberBuffer {
			script = append(script, testkit.Upsert(messages.Item{ID: "x", Content: fmt.Sprint("text ", i)}))
		}
		rt := start(t, append(script, testkit.Say("more"), testkit.Finish("ok")), nil)
		held := testkit.NewGate()
		var told diary
		handle := rt.Run(rt.Create("a", ""), "hi", actors.RunOptions{Callbacks: &actors.Callbacks{
			OnItem:   func(item messages.Item) { told.add("item %s", item.Content); held.Pass() },
			OnUpdate: func(item messages.Item) { told.add("update %s", item.Content) },
		}})
		<-held.Reached()
		gate.Open()
		synctest.Wait() // The callback holds; the turn goes on, and what the callbacks may lag behind is full.
		held.Open()
		rt.Wait(handle)
		synctest.Wait()
		lines := told.read()
		count := map[string]int{}
		for _, line := range lines {
			count[line]++
		}
		last := fmt.Sprint("update text ", 2*actors.DefaultSubscriberBuffer-1)
		if count["item first"] != 1 || count["item more"] != 1 || count[last] != 1 || len(lines) >= 2*actors.DefaultSubscriberBuffer {
			t.Errorf("the callbacks were told %d things, %v and at last %q, want each item once and its last text", len(lines), count["item first"], lines[len(lines)-1])
		}
	})
}
