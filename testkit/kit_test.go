package testkit_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/memory"
	"agentd/testkit"
)

// recorder is a testing.TB that notes failures in place of failing, so that it can be tested that checks fail.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return context.Background() }
func (r *recorder) Cleanup(f func())         { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// try runs a check, with its cleanups, and returns how it failed.
func try(check func(r *recorder)) string {
	r := &recorder{}
	var wait sync.WaitGroup
	wait.Go(func() { check(r) })
	wait.Wait()
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		wait.Go(r.cleanups[i])
		wait.Wait()
	}
	return strings.Join(r.failures, "\n")
}

func agents(agent actors.Agent) map[messages.AgentID]actors.Agent {
	return map[messages.AgentID]actors.Agent{"a": agent}
}

func TestChecksFail(t *testing.T) {
	t.Parallel()
	talk := testkit.Script{testkit.Say("one"), testkit.Say("two"), testkit.Finish("ok")}
	watched := func(check func(p *testkit.Probe)) func(r *recorder) {
		return func(r *recorder) {
			rt := testkit.NewRuntime(r, &testkit.Options{Agents: agents(talk)})
			id := rt.Create("a", "")
			probe := rt.Watch(id, actors.SubscribeOptions{})
			rt.Complete(id, "hi")
			check(probe)
		}
	}
	tests := map[string]struct {
		check func(r *recorder)
		want  string
	}{
		"good": {watched(func(p *testkit.Probe) {
			p.Expect(testkit.Want{Text: "one"}, testkit.Want{Turn: messages.TurnCompleted})
			p.ExpectNothing()
		}), ""},
		"expect something else": {watched(func(p *testkit.Probe) { p.Expect(testkit.Want{Text: "three"}) }), "three"},
		"expect out of order":   {watched(func(p *testkit.Probe) { p.Expect(testkit.Want{Text: "two"}, testkit.Want{Text: "one"}) }), "one"},
		"exactly with another between": {watched(func(p *testkit.Probe) {
			p.Expect(testkit.Want{Text: "hi"})
			p.ExpectExactly(testkit.Want{Text: "two"})
		}), "number 1"},
		"nothing where something is": {watched(func(p *testkit.Probe) { p.ExpectNothing() }), "want no event"},
		"end that does not come":     {watched(func(p *testkit.Probe) { p.ExpectEnd() }), "does not end"},
		"turn that fails": {func(r *recorder) {
			rt := testkit.NewRuntime(r, &testkit.Options{Agents: agents(testkit.Script{testkit.Return("broken")})})
			rt.Complete(rt.Create("a", ""), "hi")
		}, "broken"},
		"agent that is left": {func(r *recorder) {
			gate := testkit.NewGate()
			time.AfterFunc(3*testkit.Patience, gate.Open) // So that the bubble can end.
			rt := testkit.NewRuntime(r, &testkit.Options{Agents: agents(testkit.Script{gate.Hang()})})
			rt.Run(rt.Create("a", "left"), "hi", actors.RunOptions{})
		}, `agent of session "left"`},
		"runtime that leaks": {func(r *recorder) {
			gate := testkit.NewGate()
			time.AfterFunc(3*testkit.Patience, gate.Open)
			rt := testkit.NewRuntime(r, &testkit.Options{Agents: agents(testkit.Script{gate.Hang()})})
			rt.Abandon()
			rt.Run(rt.Create("a", ""), "hi", actors.RunOptions{})
			_ = rt.Stop(context.Background())
			rt.VerifyStopped()
		}, "left are"},
		"what never becomes true": {func(r *recorder) {
			testkit.Eventually(r, "pigs fly", func() error { return fmt.Errorf("they walk") })
		}, "pigs fly: they walk"},
		"golden that differs": {func(r *recorder) { testkit.Golden(r, "testdata/scenarios/turn.txt", []byte("x")) }, "differs"},
		"golden that is not":  {func(r *recorder) { testkit.Golden(r, "testdata/none.txt", []byte("x")) }, "UPDATE_GOLDEN"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testkit.Updating() && strings.HasPrefix(name, "golden") {
				t.Skip("golden files are being written")
			}
			synctest.Test(t, func(t *testing.T) {
				got := try(tt.check)
				if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
					t.Errorf("the check said %q, want %q", got, tt.want)
				}
				<-time.After(4 * testkit.Patience)
				synctest.Wait()
			})
		})
	}
}

func TestFaultyStoreCountsAppends(t *testing.T) {
	t.Parallel()
	store := testkit.NewFaultyStore(memory.New())
	var batch []persistence.Append
	for i := range 3 {
		id := messages.SessionID(fmt.Sprint("s", i))
		handle, err := store.Create(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		record, err := messages.EncodeChange(1, 1, messages.Created{AgentID: "a", Epoch: 1})
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, persistence.Append{Handle: handle, ID: 1, Records: []messages.Record{record}})
	}
	store.Fail(testkit.OpCommit, 2, testkit.Fault{Err: persistence.ErrUnknown, Stored: true})
	store.Fail(testkit.OpCommit, 3, testkit.Fault{Err: persistence.ErrUnavailable})
	errs := store.Commit(t.Context(), batch)
	if errs[0] != nil || errs[1] == nil || errs[2] == nil || store.Calls(testkit.OpCommit) != 3 {
		t.Errorf("Commit() = %v after %d appends, want the second and the third to fail", errs, store.Calls(testkit.OpCommit))
	}
	listing, err := store.List(t.Context())
	if err != nil || len(listing.Sessions) != 2 {
		t.Errorf("List() = %+v, %v, want the first and the one that was stored in doubt", listing, err)
	}
	if errs := store.Commit(t.Context(), batch[2:]); errs[0] != nil {
		t.Errorf("Commit() again = %v, want nil: no fault is sticky", errs[0])
	}
}

func TestScenarioFilesThatAreWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"session s1\n":           "----",
		"session s1\nitems s1\n": "----",
	} {
		if err := testkit.CheckScenario(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CheckScenario(%q) = %v, want an error with %q", text, err, want)
		}
	}
}
