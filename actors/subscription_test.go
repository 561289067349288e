package actors_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence/memory"
	"agentd/testkit"
)

func TestSubscriptionTellsATurnInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, testkit.Script{
			testkit.Say("one"), testkit.SetData("k", 1), testkit.OpenCall("c", "space_x"), testkit.Finish("ok", assistant("two")),
		}, nil)
		id := rt.Create("a", "")
		probe := rt.Watch(id, actors.SubscribeOptions{})
		rt.Complete(id, "hi")
		probe.ExpectExactly(
			testkit.Want{Kind: messages.EventTurnStarted, Turn: messages.TurnRunning},
			testkit.Want{Kind: messages.EventItem, Text: "hi"},
			testkit.Want{Kind: messages.EventItem, Text: "one"},
			testkit.Want{Kind: messages.EventData, Key: "k"},
			testkit.Want{Kind: messages.EventItem, Type: messages.ItemToolCall},
			testkit.Want{Kind: messages.EventItem, Text: "two"},
			testkit.Want{Kind: messages.EventItemUpdated, Type: messages.ItemToolCall},
			testkit.Want{Kind: messages.EventItem, Type: messages.ItemToolResult},
			testkit.Want{Kind: messages.EventTurnEnded, Turn: messages.TurnCompleted},
		)
		synctest.Wait()
		probe.ExpectNothing()
	})
}

func TestResumeFromEveryNumber(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, testkit.Scripts{
			"1": {testkit.Say("a"), testkit.Upsert(messages.Item{ID: "x", Type: messages.ItemReasoning, Content: "old"}), testkit.Upsert(messages.Item{ID: "x", Content: "new"}), testkit.Finish("ok")},
			"2": {testkit.Draft("d", "half"), testkit.Say("b"), testkit.Final("d", "whole"), testkit.Fail("no")},
			"3": {testkit.Say("c"), testkit.Finish("ok")},
		}, nil)
		id := rt.Create("a", "")
		rt.Complete(id, "1")
		rt.Wait(rt.Run(id, "2", actors.RunOptions{}))
		view := rt.View(id)
		for after := range view.Head.LastSeq + 1 {
			probe := rt.Watch(id, actors.SubscribeOptions{After: after})
			want := map[messages.ItemID]uint64{}
			for _, item := range view.Items {
				if item.Seq > after {
					want[item.ID] = item.Seq
				}
			}
			turn := view.Head.Turn.Seq > after
			for range len(want) {
				event := probe.Expect(testkit.Want{Kind: messages.EventItem})[0]
				if want[event.Item.ID] != event.Seq {
					t.Fatalf("after %d: item %q has the number %d, want %d", after, event.Item.ID, event.Seq, want[event.Item.ID])
				}
				delete(want, event.Item.ID)
			}
			if turn {
				probe.Expect(testkit.Want{Kind: messages.EventTurnEnded, Turn: messages.TurnFailed})
			}
			if probe.Last() > 0 && turn && probe.Last() != view.Head.LastSeq {
				t.Errorf("after %d: the backlog ends at %d, want %d", after, probe.Last(), view.Head.LastSeq)
			}
			probe.ExpectNothing()
			probe.Close()
		}
		probe := rt.Watch(id, actors.SubscribeOptions{After: view.Head.LastSeq})
		rt.Complete(id, "3")
		probe.ExpectExactly(
			testkit.Want{Kind: messages.EventTurnStarted}, testkit.Want{Text: "3"}, testkit.Want{Text: "c"}, testkit.Want{Kind: messages.EventTurnEnded},
		)
		_, err := rt.Subscribe(rt.Context(), id, actors.SubscribeOptions{After: 1000})
		wantError(t, "Subscribe(future)", err, actors.ErrFuture, string(id), "1000")
	})
}

// replica is what a subscriber knows of a session, if it applies what it is told.
type replica struct {
	last  uint64
	items map[messages.ItemID]messages.Item
}

func (r *replica) apply(event messages.Event) error {
	if event.Seq == 0 {
		return nil
	}
	if event.Seq <= r.last {
		return fmt.Errorf("event %d came after %d", event.Seq, r.last)
	}
	r.last = event.Seq
	if event.Item != nil {
		r.items[event.Item.ID] = *event.Item
	}
	return nil
}

// TestSubscribersThatComeAndGoLoseNothing lets subscribers of every speed follow a busy session, be cut off and resume, and compares
// what they know at the end.
func TestSubscribersThatComeAndGoLoseNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const turns = 30
		script := func(ctx context.Context, turn *actors.TurnContext) error {
			id := messages.ItemID("itm-" + turn.Turn.ID())
			for i := range 10 {
				item := messages.Item{ID: messages.ItemID(fmt.Sprint(id, "-", i%4)), Type: messages.ItemReasoning, Content: fmt.Sprint(i)}
				if i%3 == 0 {
					item.StreamStatus = messages.StreamStreaming
				}
				if _, err := turn.Turn.UpsertItem(item); err != nil {
					return err
				}
				<-time.After(time.Millisecond)
			}
			return nil
		}
		rt := start(t, actors.AgentFunc(script), &testkit.Options{Actors: actors.Options{DraftInterval: 2 * time.Millisecond}})
		id := rt.Create("a", "")
		done := make(chan struct{})
		replicas := make([]replica, 6)
		var wait sync.WaitGroup
		resyncs := make([]int, len(replicas))
		for i := range replicas {
			replicas[i].items = map[messages.ItemID]messages.Item{}
			wait.Go(func() { resyncs[i] = follow(t, rt, id, &replicas[i], time.Duration(i*i)*time.Millisecond, done) })
		}
		for i := range turns {
			rt.Complete(id, fmt.Sprint(i))
		}
		<-time.After(time.Second)
		close(done)
		wait.Wait()
		want := map[messages.ItemID]messages.Item{}
		for _, item := range rt.View(id).Items {
			want[item.ID] = *item
		}
		for i := range replicas {
			if diff := cmp.Diff(want, replicas[i].items); diff != "" {
				t.Errorf("subscriber %d, after %d resyncs, knows something else (-session +subscriber):\n%s", i, resyncs[i], diff)
			}
		}
		if resyncs[0] > 0 || resyncs[len(resyncs)-1] == 0 {
			t.Errorf("the resyncs are %v, want none for the fast subscriber and some for the slow one", resyncs)
		}
	})
}

// follow applies what a subscription tells until done, slowly, and subscribes again when it fell behind.
func follow(t *testing.T, rt *testkit.Runtime, id messages.SessionID, r *replica, pause time.Duration, done <-chan struct{}) (resyncs int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-done
		<-time.After(time.Minute) // Time enough to read what is left.
		cancel()
	}()
	for {
		sub, err := rt.Subscribe(ctx, id, actors.SubscribeOptions{After: r.last, Buffer: 8})
		if err != nil {
			t.Errorf("Subscribe(after %d) = %v", r.last, err)
			return resyncs
		}
		for event, err := range sub.Events(ctx) {
			var resync *actors.ResyncError
			if errors.As(err, &resync) {
				if resync.After != r.last {
					t.Errorf("the ResyncError says %d, and %d was the last", resync.After, r.last)
				}
				resyncs++
				break
			}
			if err != nil {
				sub.Close()
				return resyncs
			}
			if err := r.apply(event); err != nil {
				t.Error(err)
			}
			<-time.After(pause)
		}
		sub.Close()
	}
}

func TestDraftsAreShownAtOnceAndStoredCoalesced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		gate := testkit.NewGate()
		steps := testkit.Script{testkit.Draft("d", "0")}
		for i := range 100 {
			steps = append(steps, testkit.Draft("d", fmt.Sprint("text ", i)))
		}
		steps = append(steps, gate.Wait(), testkit.Finish("ok"))
		rt := start(t, steps, &testkit.Options{Store: store})
		id := rt.Create("a", "")
		probe := rt.Watch(id, actors.SubscribeOptions{Live: true})
		handle := rt.Run(id, "hi", actors.RunOptions{})
		<-gate.Reached()
		synctest.Wait()
		before := store.Calls(testkit.OpCommit)
		late := rt.Watch(id, actors.SubscribeOptions{})
		if events := late.Expect(testkit.Want{Kind: messages.EventDraft}); events[0].Item.Content != "text 99" {
			t.Errorf("a late subscriber is shown %q, want the newest text of the draft", events[0].Item.Content)
		}
		<-time.After(actors.DefaultDraftInterval)
		synctest.Wait()
		if commits := store.Calls(testkit.OpCommit) - before; commits != 1 {
			t.Errorf("a hundred changes of a draft made %d appends, want one", commits)
		}
		if items := stored(t, store, id).Items; items[1].Content != "text 99" || !items[1].IsDraft() {
			t.Errorf("the stored draft is %+v, want its newest text", items[1])
		}
		gate.Open()
		rt.Wait(handle)
		events := probe.Expect(testkit.Want{Kind: messages.EventTurnStarted}, testkit.Want{Kind: messages.EventDraft}, testkit.Want{Kind: messages.EventTurnEnded})
		if got := events[1].Item.Content; got != "text 99" {
			t.Errorf("a subscriber that reads late is shown the draft %q, want only the newest", got)
		}
		if items := stored(t, store, id).Items; items[1].Content != "text 99" || items[1].StreamStatus != messages.StreamComplete {
			t.Errorf("the final version is %+v, want it stored as complete", items[1])
		}
	})
}

func TestDurableEventsPushDraftsOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var steps testkit.Script
		for i := range 4 {
			steps = append(steps, testkit.Draft(messages.ItemID(fmt.Sprint("d", i)), "x"))
		}
		rt := start(t, append(steps, testkit.Finish("ok")), nil)
		id := rt.Create("a", "")
		probe := rt.Watch(id, actors.SubscribeOptions{Live: true, Buffer: 11})
		rt.Complete(id, "hi")
		// Started, input, four drafts added, four closed, ended: eleven durable events fill the buffer.
		for range 11 {
			if event := probe.Next(); event.Seq == 0 {
				t.Errorf("there is still the droppable event %+v", event)
			}
		}
		synctest.Wait()
		probe.ExpectNothing()
	})
}

func TestSlowSubscriberHurtsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, testkit.Script{testkit.Say("x"), testkit.Finish("ok")}, nil)
		id := rt.Create("a", "")
		slow := rt.Watch(id, actors.SubscribeOptions{Buffer: 4})
		fast := rt.Watch(id, actors.SubscribeOptions{})
		begun := time.Now()
		for range 20 {
			rt.Complete(id, "hi")
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("the turns took %v because somebody does not read", took)
		}
		for range 20 {
			fast.Expect(testkit.Want{Kind: messages.EventTurnEnded})
		}
		var resync *actors.ResyncError
		if err := slow.ExpectEnd(); !errors.As(err, &resync) || resync.Session != id || resync.After != slow.Last() || slow.Last() == 0 {
			t.Fatalf("the slow subscription ended with %v after event %d, want a ResyncError that says so", err, slow.Last())
		}
		again := rt.Watch(id, actors.SubscribeOptions{After: resync.After})
		again.Expect(testkit.Want{Kind: messages.EventTurnEnded})
		if last := rt.View(id).Head.LastSeq; again.Last() != last {
			t.Errorf("the resumed subscription is at %d, want %d", again.Last(), last)
		}
	})
}

func TestLiveSubscriptionSkipsTheStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, testkit.Script{testkit.Finish("ok")}, nil)
		id := rt.Create("a", "")
		rt.Complete(id, "old")
		probe := rt.Watch(id, actors.SubscribeOptions{Live: true, After: 999})
		synctest.Wait()
		probe.ExpectNothing()
		rt.Complete(id, "new")
		probe.ExpectExactly(testkit.Want{Kind: messages.EventTurnStarted}, testkit.Want{Text: "new"}, testkit.Want{Kind: messages.EventTurnEnded})
	})
}

func TestEndsOfSubscriptions(t *testing.T) {
	t.Parallel()
	ends := map[string]func(rt *testkit.Runtime, id messages.SessionID, probe *testkit.Probe) error{
		"close": func(_ *testkit.Runtime, _ messages.SessionID, probe *testkit.Probe) error {
			probe.Close()
			probe.Close()
			return nil
		},
		"delete": func(rt *testkit.Runtime, id messages.SessionID, _ *testkit.Probe) error {
			return rt.DeleteSession(rt.Context(), id)
		},
		"stop": func(rt *testkit.Runtime, _ messages.SessionID, _ *testkit.Probe) error { return rt.Stop(rt.Context()) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rt := start(t, patient(), nil)
				id := rt.Create("a", "")
				probe := rt.Watch(id, actors.SubscribeOptions{})
				rt.Run(id, "hang", actors.RunOptions{})
				waiting := make(chan error, 1)
				idle := rt.Watch(id, actors.SubscribeOptions{Live: true})
				go func() { waiting <- idle.ExpectEnd() }()
				synctest.Wait()
				if name == "close" {
					idle.Close()
				}
				if err := end(rt, id, probe); err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(probe.ExpectEnd(), <-waiting); !errors.Is(err, io.EOF) {
					t.Errorf("the subscriptions ended with %v, want io.EOF", err)
				}
			})
		})
	}
}

func TestNextObeysItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, testkit.Script{testkit.Finish("ok")}, nil)
		id := rt.Create("a", "")
		sub, err := rt.Subscribe(rt.Context(), id, actors.SubscribeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		cause := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		if _, err := sub.Next(ctx); !errors.Is(err, cause) {
			t.Errorf("Next() = %v, want the cause of the context", err)
		}
		rt.Complete(id, "hi")
		if event, err := sub.Next(rt.Context()); err != nil || event.Kind != messages.EventTurnStarted {
			t.Errorf("Next() after that = %+v, %v, want the first event", event, err)
		}
	})
}
