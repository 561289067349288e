package actors_test

import (
	"context"
	"errors"
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

// patient is an agent that waits to be cancelled on "hang", and finishes at once otherwise.
func patient() testkit.Scripts {
	return testkit.Scripts{"hang": {testkit.UntilCancelled()}, "": {testkit.Finish("ok")}}
}

// prompt runs a turn on a goroutine and hands out what came of it.
func prompt(ctx context.Context, rt *testkit.Runtime, id messages.SessionID, input string, busy messages.OnBusy) <-chan error {
	done := make(chan error, 1)
	go func() {
		handle, err := rt.RunTurn(ctx, id, input, actors.RunOptions{OnBusy: busy})
		if err == nil {
			_, err = handle.Wait(ctx)
		}
		done <- err
	}()
	return done
}

func TestQueuedPromptsRunInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		id := rt.Create("a", "")
		first := rt.Run(id, "hang", actors.RunOptions{})
		var done []<-chan error
		for i := range 5 {
			done = append(done, prompt(t.Context(), rt, id, fmt.Sprintf("q%d", i), messages.OnBusyQueue))
			synctest.Wait()
		}
		if !first.Running() {
			t.Fatalf("the running turn is %s, want it undisturbed by prompts that wait", first.Status())
		}
		if err := first.Cancel(rt.Context()); err != nil {
			t.Fatal(err)
		}
		for _, ended := range done {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		want := []string{"hang", "q0", "q1", "q2", "q3", "q4"}
		if got := inputs(rt.View(id).Items); cmp.Diff(want, got) != "" {
			t.Errorf("the inputs are %q, want %q", got, want)
		}
	})
}

func TestFullQueueRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), &testkit.Options{Actors: actors.Options{QueueLimit: 2}})
		id := rt.Create("a", "")
		first := rt.Run(id, "hang", actors.RunOptions{})
		waiting := []<-chan error{
			prompt(t.Context(), rt, id, "q0", messages.OnBusyQueue), prompt(t.Context(), rt, id, "q1", messages.OnBusyQueue),
		}
		synctest.Wait()
		_, err := rt.RunTurn(rt.Context(), id, "q2", actors.RunOptions{OnBusy: messages.OnBusyQueue})
		wantError(t, "RunTurn(full queue)", err, actors.ErrQueueFull, string(id))
		if !first.Running() {
			t.Error("a prompt that the queue refused ended the running turn")
		}
		if err := first.Cancel(rt.Context()); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(<-waiting[0], <-waiting[1]); err != nil {
			t.Error(err)
		}
	})
}

func TestPromptThatCancelsGoesAheadOfThoseThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		id := rt.Create("a", "")
		first := rt.Run(id, "hang", actors.RunOptions{})
		waiting := prompt(t.Context(), rt, id, "queued", messages.OnBusyQueue)
		synctest.Wait()
		rt.Wait(rt.Run(id, "urgent", actors.RunOptions{}))
		if err := <-waiting; err != nil || first.Status() != messages.TurnCancelled {
			t.Errorf("the queued prompt came to %v and the first turn is %s", err, first.Status())
		}
		want := []string{"hang", "urgent", "queued"}
		if got := inputs(rt.View(id).Items); cmp.Diff(want, got) != "" {
			t.Errorf("the inputs are %q, want %q: nothing that was queued is lost", got, want)
		}
	})
}

func TestCancellingPromptsSupersedeOneAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		id := rt.Create("a", "")
		const count = 5
		var wait sync.WaitGroup
		handles := make([]*actors.TurnHandle, count)
		for i := range handles {
			wait.Go(func() { handles[i] = rt.Run(id, "hang", actors.RunOptions{}) })
		}
		wait.Wait()
		running := 0
		for _, handle := range handles {
			if handle.Running() {
				running++
			} else if handle.Status() != messages.TurnCancelled {
				t.Errorf("a superseded turn is %s, want cancelled", handle.Status())
			}
		}
		if running != 1 {
			t.Errorf("%d turns run, want the last one", running)
		}
		if got := inputs(rt.View(id).Items); len(got) != count {
			t.Errorf("the inputs are %q, want all %d: none is lost silently", got, count)
		}
	})
}

func TestContextTakesBackAPromptThatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		id := rt.Create("a", "")
		first := rt.Run(id, "hang", actors.RunOptions{})
		cause := errors.New("the person left")
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := prompt(ctx, rt, id, "withdrawn", messages.OnBusyQueue)
		stays := prompt(t.Context(), rt, id, "stays", messages.OnBusyQueue)
		synctest.Wait()
		cancel(cause)
		wantError(t, "RunTurn(context that ends)", <-gone, cause, string(id))
		if err := first.Cancel(rt.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-stays; err != nil {
			t.Error(err)
		}
		want := []string{"hang", "stays"}
		if got := inputs(rt.View(id).Items); cmp.Diff(want, got) != "" {
			t.Errorf("the inputs are %q, want %q", got, want)
		}
	})
}

func TestContextTakesBackAPromptThatWaitsForAStubbornTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := testkit.NewGate()
		rt := start(t, testkit.Scripts{"hang": {gate.Hang()}, "": {testkit.Finish("ok")}}, nil)
		t.Cleanup(gate.Open)
		id := rt.Create("a", "")
		rt.Run(id, "hang", actors.RunOptions{})
		<-gate.Reached()
		ctx, cancel := context.WithTimeout(t.Context(), actors.DefaultCancelGrace/2)
		defer cancel()
		_, err := rt.RunTurn(ctx, id, "too late", actors.RunOptions{})
		wantError(t, "RunTurn(deadline before the grace)", err, context.DeadlineExceeded)
		<-time.After(actors.DefaultCancelGrace)
		synctest.Wait()
		if got := inputs(rt.View(id).Items); len(got) != 1 {
			t.Errorf("the inputs are %q, want the first alone", got)
		}
		rt.Complete(id, "next")
		gate.Open()
	})
}

func TestRepeatedPromptGetsTheTurnThatItMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, patient(), nil)
		id := rt.Create("a", "")
		opts := actors.RunOptions{TurnID: "turn-1"}
		first := rt.Run(id, "hang", opts)
		again := rt.Run(id, "hang", opts)
		if first != again || !first.Running() {
			t.Errorf("the repeat gave another handle, or ended the turn: it is %s", first.Status())
		}
		if err := first.Cancel(rt.Context()); err != nil {
			t.Fatal(err)
		}
		late := rt.Run(id, "hang", opts)
		if turn := rt.Wait(late); turn.ID != "turn-1" || turn.Status != messages.TurnCancelled {
			t.Errorf("the late repeat gave %+v, want the turn as it ended", turn)
		}
		rt.Complete(id, "other")
		if _, err := rt.RunTurn(rt.Context(), id, "hang", opts); err == nil {
			t.Error("RunTurn(turn before the last) = nil, want an error: it is not run again")
		}
		if got := inputs(rt.View(id).Items); len(got) != 2 {
			t.Errorf("the inputs are %q, want no input twice", got)
		}
	})
}

func TestRejectTakesAnIdleSession(t *testing.T) {
	t.Parallel()
	rt := start(t, patient(), nil)
	id := rt.Create("a", "")
	for range 3 {
		handle, err := rt.RunTurn(rt.Context(), id, "go", actors.RunOptions{OnBusy: messages.OnBusyReject})
		if err != nil {
			t.Fatalf("RunTurn(reject, idle) = %v, want a turn", err)
		}
		rt.Wait(handle)
	}
}
