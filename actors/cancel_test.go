package actors_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence/memory"
	"agentd/testkit"
)

func TestCancelOfWhatDoesNotStop(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		agentHangs, hookHangs bool
		words                 []string
	}{
		"agent ignores it": {agentHangs: true, words: []string{"left behind"}},
		"hook hangs":       {hookHangs: true, words: []string{"hook", "did not return"}},
		"both":             {agentHangs: true, hookHangs: true, words: []string{"left behind", "hook"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				agent, hook := testkit.NewGate(), testkit.NewGate()
				if !tt.hookHangs {
					hook.Open()
				}
				wait := testkit.UntilCancelled()
				if tt.agentHangs {
					wait = agent.Hang()
				}
				late := make(chan error, 3)
				rt := start(t, testkit.Scripts{
					"hang": {
						testkit.Say("stored"), testkit.Hook(func() error { hook.Pass(); return nil }), wait,
						testkit.Told(late, testkit.Say("late")), testkit.Told(late, testkit.Finish("late")), testkit.Told(late, testkit.SetData("k", 1)),
					},
					"next": {testkit.UntilCancelled()},
				}, nil)
				t.Cleanup(func() { agent.Open(); hook.Open() })
				id := rt.Create("a", "")
				handle := rt.Run(id, "hang", actors.RunOptions{})
				synctest.Wait()
				begun := time.Now()
				next := rt.Run(id, "next", actors.RunOptions{}) // It cancels.
				if took := time.Since(begun); took != actors.DefaultCancelGrace {
					t.Errorf("the next turn started after %v, want the grace, %v", took, actors.DefaultCancelGrace)
				}
				if handle.Status() != messages.TurnCancelled {
					t.Errorf("the turn is %s, want cancelled", handle.Status())
				}
				for _, word := range tt.words {
					if err := handle.Err(); !strings.Contains(err.Error(), word) {
						t.Errorf("the error is %q, want it to tell of %q", err, word)
					}
				}
				if tt.agentHangs {
					before := rt.View(id)
					agent.Open()
					for range 3 {
						wantError(t, "a step of the agent that was left behind", <-late, actors.ErrTurnEnded)
					}
					if after := rt.View(id); len(after.Items) != len(before.Items) || !next.Running() {
						t.Errorf("the agent that was left behind changed the next turn: %+v", after.Items)
					}
				}
			})
		})
	}
}

// lingering is an agent that says how long it may take to stop.
type lingering struct {
	actors.Agent
	grace func() time.Duration
}

func (l lingering) CancelGrace() time.Duration { return l.grace() }

func TestCancelGraceOfAnAgent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ asked, want time.Duration }{
		"longer than the runtime's":  {5 * time.Second, 5 * time.Second},
		"shorter than the runtime's": {time.Second, actors.DefaultCancelGrace},
		"longer than a stop":         {time.Hour, actors.DefaultStopTimeout * 4 / 5},
		"a panic":                    {0, actors.DefaultCancelGrace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gate := testkit.NewGate()
				rt := start(t, lingering{testkit.Scripts{"hang": {gate.Hang()}, "next": {testkit.UntilCancelled()}}, func() time.Duration {
					if tt.asked == 0 {
						panic("it cannot say")
					}
					return tt.asked
				}}, nil)
				t.Cleanup(gate.Open)
				id := rt.Create("a", "")
				handle := rt.Run(id, "hang", actors.RunOptions{})
				synctest.Wait()
				begun := time.Now()
				rt.Run(id, "next", actors.RunOptions{}) // It cancels.
				if took := time.Since(begun); took != tt.want || handle.Status() != messages.TurnCancelled {
					t.Errorf("the next turn started after %v, the one before is %s, want %v and cancelled", took, handle.Status(), tt.want)
				}
			})
		})
	}
}

func TestCancelDoesNotWaitForTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		disk := testkit.NewGate()
		stopped := make(chan time.Duration, 1)
		begun := time.Now()
		rt := start(t, testkit.Script{
			testkit.Hook(func() error { stopped <- time.Since(begun); return nil }),
			parallel(testkit.Say("on its way"), testkit.UntilCancelled()),
		}, &testkit.Options{Store: store})
		t.Cleanup(disk.Open)
		id := rt.Create("a", "")
		store.Fail(testkit.OpCommit, 2, testkit.Fault{Wait: disk})
		handle := rt.Run(id, "hi", actors.RunOptions{})
		<-disk.Reached()
		cancelled := make(chan error, 1)
		go func() { cancelled <- handle.Cancel(rt.Context()) }()
		if after := <-stopped; after != 0 {
			t.Errorf("the hook ran after %v, want at once", after)
		}
		synctest.Wait()
		if handle.Status() != messages.TurnCancelling {
			t.Errorf("the turn is %s while its item is being stored, want cancelling", handle.Status())
		}
		disk.Open()
		if err := <-cancelled; err != nil || handle.Status() != messages.TurnCancelled {
			t.Errorf("Cancel() = %v, and the turn is %s", err, handle.Status())
		}
		if items := rt.View(id).Items; len(items) != 3 || items[1].Content != "on its way" {
			t.Errorf("the items are %+v, want also the one that was on its way", items)
		}
	})
}

func TestCancelWhileTheTurnStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		disk := testkit.NewGate()
		var ran atomic.Bool
		rt := start(t, actors.AgentFunc(func(context.Context, *actors.TurnContext) error { ran.Store(true); return nil }),
			&testkit.Options{Store: store})
		t.Cleanup(disk.Open)
		id := rt.Create("a", "")
		store.Fail(testkit.OpCommit, 1, testkit.Fault{Wait: disk})
		handles := make(chan *actors.TurnHandle, 1)
		go func() { handles <- rt.Run(id, "hi", actors.RunOptions{}) }()
		<-disk.Reached()
		cancelled := make(chan error, 1)
		go func() { cancelled <- rt.CancelTurn(rt.Context(), id) }()
		synctest.Wait()
		disk.Open()
		handle := <-handles
		if err := <-cancelled; err != nil || handle.Status() != messages.TurnCancelled || ran.Load() {
			t.Errorf("CancelTurn() = %v, the turn is %s and its agent ran: %t, want it cancelled before that", err, handle.Status(), ran.Load())
		}
		wantHistory(t, store, id)
	})
}

func TestCancelWhileTheTurnEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testkit.NewFaultyStore(memory.New())
		disk := testkit.NewGate()
		rt := start(t, testkit.Script{testkit.Finish("ok")}, &testkit.Options{Store: store})
		t.Cleanup(disk.Open)
		id := rt.Create("a", "")
		store.Fail(testkit.OpCommit, 2, testkit.Fault{Wait: disk})
		handle := rt.Run(id, "hi", actors.RunOptions{})
		<-disk.Reached()
		cancelled := make(chan error, 1)
		go func() { cancelled <- handle.Cancel(rt.Context()) }()
		synctest.Wait()
		if !handle.Running() {
			t.Errorf("the turn is %s before its end is durable", handle.Status())
		}
		disk.Open()
		if err := <-cancelled; err != nil || handle.Status() != messages.TurnCompleted {
			t.Errorf("Cancel() = %v, and the turn is %s, want it completed: it had ended", err, handle.Status())
		}
	})
}

func TestCancelGoesAheadOfWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		id := rt.Create("a", "")
		handle := rt.Run(id, "hang", actors.RunOptions{})
		var waiting []<-chan error
		for i := range actors.DefaultQueueLimit {
			waiting = append(waiting, prompt(t.Context(), rt, id, fmt.Sprint(i), messages.OnBusyQueue))
		}
		synctest.Wait()
		if err := handle.Cancel(rt.Context()); err != nil || handle.Running() {
			t.Errorf("Cancel() = %v, and the turn is %s", err, handle.Status())
		}
		for _, done := range waiting {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestCancelObeysItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := testkit.NewGate()
		rt := start(t, testkit.Script{gate.Hang()}, nil)
		t.Cleanup(gate.Open)
		id := rt.Create("a", "")
		handle := rt.Run(id, "hi", actors.RunOptions{})
		<-gate.Reached()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		wantError(t, "Cancel(deadline)", handle.Cancel(ctx), context.DeadlineExceeded, string(id))
		if turn := rt.Wait(handle); turn.Status != messages.TurnCancelled {
			t.Errorf("the turn %s, want cancelled although nobody waits", turn.Status)
		}
	})
}

func TestCausesOfATurnsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		contexts := make(chan context.Context, 2)
		rt := start(t, actors.AgentFunc(func(ctx context.Context, turn *actors.TurnContext) error {
			if turn.Turn.Context() != ctx || turn.Turn.Cancelled() {
				t.Error("the controller has another context, or says that the turn is cancelled")
			}
			contexts <- ctx
			if turn.Input == "hang" {
				<-ctx.Done()
			}
			return nil
		}), nil)
		id := rt.Create("a", "")
		rt.Complete(id, "hi")
		handle := rt.Run(id, "hang", actors.RunOptions{})
		synctest.Wait()
		if err := handle.Cancel(rt.Context()); err != nil {
			t.Fatal(err)
		}
		over, cancelled := <-contexts, <-contexts
		if err := context.Cause(over); err == nil || errors.Is(err, actors.ErrCancelled) {
			t.Errorf("the cause after a turn that completed is %v, want that it is over", err)
		}
		if err := context.Cause(cancelled); !errors.Is(err, actors.ErrCancelled) {
			t.Errorf("the cause after a cancel is %v, want ErrCancelled", err)
		}
	})
}

// TestRaceOfEndings lets everything that can end a turn happen at once, often.
func TestRaceOfEndings(t *testing.T) {
	t.Parallel()
	rt := start(t, actors.AgentFunc(func(ctx context.Context, turn *actors.TurnContext) error {
		_ = turn.Turn.SetCancel(func() error { return turn.Turn.Fail(errors.New("from the hook")) })
		var wait sync.WaitGroup
		wait.Go(func() { _ = turn.Turn.Finish("ok") })
		wait.Go(func() { _ = turn.Turn.Fail(errors.New("no")) })
		wait.Go(func() { _, _ = turn.Turn.AppendItem(assistant("x")) })
		wait.Wait()
		return ctx.Err()
	}), nil)
	id := rt.Create("a", "")
	probe := rt.Watch(id, actors.SubscribeOptions{Buffer: 1 << 16})
	const turns = 100
	for range turns {
		var ended atomic.Int32
		done := make(chan struct{})
		handle := rt.Run(id, "hi", actors.RunOptions{Callbacks: &actors.Callbacks{
			OnComplete: func(messages.Turn) { ended.Add(1); close(done) },
			OnError:    func(messages.Turn, error) { ended.Add(1); close(done) },
		}})
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() {
				if err := handle.Cancel(rt.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		<-done
		if ended.Load() != 1 || !handle.Status().Terminal() {
			t.Fatalf("%d final callbacks, and the turn is %s", ended.Load(), handle.Status())
		}
	}
	ends := map[messages.TurnID]int{}
	for range turns {
		event := probe.Expect(testkit.Want{Kind: messages.EventTurnEnded})[0]
		ends[event.Turn.ID]++
	}
	if len(ends) != turns {
		t.Errorf("%d turns ended, want %d", len(ends), turns)
	}
	wantHistory(t, rt.Store, id)
}

// However long an agent asks for, a stop has time to record how its turn ended.
func TestStopOutlastsTheGraceOfAnAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := testkit.NewGate()
		rt := start(t, lingering{testkit.Script{gate.Hang()}, func() time.Duration { return time.Hour }}, nil)
		rt.Abandon()
		handle := rt.Run(rt.Create("a", ""), "hang", actors.RunOptions{})
		synctest.Wait()
		var unstopped *actors.UnstoppedError
		if err := rt.Stop(rt.Context()); !errors.As(err, &unstopped) || len(unstopped.Sessions) != 0 || len(unstopped.Goroutines) != 1 {
			t.Errorf("Stop() = %v, want the agent left behind and no session", err)
		}
		if turn := handle.Turn(); turn.Status != messages.TurnCancelled || handle.Err() == nil {
			t.Errorf("the turn is %s, want cancelled", turn.Status)
		}
		gate.Open()
		rt.VerifyStopped()
	})
}
