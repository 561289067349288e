package actors_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/presets"
	"agentd/testkit"
)

// lateError finds out what it says when it is asked.
type lateError func() string

func (e lateError) Error() string { return e() }

// What an error says is the code of whoever made it, and may do anything: wait for the very session that it is about, panic, end its
// goroutine. It holds up nobody else.
func TestErrorsOfOthersHoldUpNobody(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"agent", "hook", "syncer"} {
		for _, does := range []string{"asks the session", "panics", "ends its goroutine"} {
			t.Run(from+" "+does, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { foreignError(t, from, does) })
			})
		}
	}
}

func foreignError(t *testing.T, from, does string) {
	var rt *testkit.Runtime
	var id messages.SessionID
	err := lateError(func() string {
		switch does {
		case "asks the session":
			view, err := rt.Session(context.Background(), id)
			return fmt.Sprint("asked: ", view.Head.ID, err)
		case "panics":
			panic("an error that panics")
		default:
			runtime.Goexit()
			return ""
		}
	})
	agent := actors.AgentFunc(func(ctx context.Context, turn *actors.TurnContext) error {
		switch {
		case turn.Input != "break" || from == "syncer":
			return nil
		case from == "agent":
			return err
		}
		if fault := turn.Turn.SetCancel(func() error { return err }); fault != nil {
			return fault
		}
		<-ctx.Done()
		return nil
	})
	rt = start(t, agent, &testkit.Options{Actors: actors.Options{Logger: slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil))}})
	id = rt.Create("a", "")
	others := make([]messages.SessionID, 16)
	for i := range others {
		others[i] = rt.Create("a", "")
	}
	if from == "syncer" {
		t.Cleanup(rt.SyncTools(failingSyncer{err}))
		<-time.After(time.Second)
		if all, fault := rt.ToolSyncs(t.Context()); fault != nil || all[0].Syncs != 1 || all[0].Running {
			t.Errorf("ToolSyncs() = %+v, %v, want one call that has ended", all, fault)
		}
	}
	handle := rt.Run(id, "break", actors.RunOptions{})
	synctest.Wait()
	if from == "hook" {
		if err := handle.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]messages.TurnStatus{"agent": messages.TurnFailed, "hook": messages.TurnCancelled, "syncer": messages.TurnCompleted}[from]
	if turn := rt.Wait(handle); turn.Status != want {
		t.Errorf("the turn is %s, %q, want %s", turn.Status, turn.Error, want)
	}
	for _, other := range others {
		rt.Complete(other, "ok")
	}
}

type failingSyncer struct{ err error }

func (s failingSyncer) Sync(context.Context, presets.Change) error { return s.err }
