package testkit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/memory"
	"agentd/testkit"
)

// example stands for the *testing.T of a test, so that the examples run and print. In a test, use its t.
type example struct {
	testing.TB
	cleanups []func()
}

func (e *example) Helper()                  {}
func (e *example) Context() context.Context { return context.Background() }
func (e *example) Cleanup(f func())         { e.cleanups = append(e.cleanups, f) }
func (e *example) Fatal(args ...any)        { panic(fmt.Sprint(args...)) }
func (e *example) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}
func (e *example) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// end does what the end of a test does.
func (e *example) end() {
	for i := len(e.cleanups) - 1; i >= 0; i-- {
		e.cleanups[i]()
	}
}

func greeter(script testkit.Script) *testkit.Options {
	return &testkit.Options{Agents: map[messages.AgentID]actors.Agent{"greeter": script}}
}

func ExampleNewRuntime() {
	t := &example{}
	defer t.end()
	rt := testkit.NewRuntime(t, greeter(testkit.Script{testkit.Say("Hello."), testkit.Finish("greeted")}))
	id := rt.Create("greeter", "")
	turn := rt.Complete(id, "hi")
	fmt.Println(turn.Status, turn.Result)
	for _, item := range rt.View(id).Items {
		fmt.Println(item.Role, item.Content)
	}
	// Output:
	// completed greeted
	// user hi
	// assistant Hello.
}

func ExampleRuntime_Watch() {
	t := &example{}
	defer t.end()
	rt := testkit.NewRuntime(t, greeter(testkit.Script{testkit.Say("Hello."), testkit.Say("How are you?"), testkit.Finish("ok")}))
	id := rt.Create("greeter", "")
	probe := rt.Watch(id, actors.SubscribeOptions{})
	rt.Complete(id, "hi")
	probe.ExpectExactly(testkit.Want{Kind: messages.EventTurnStarted}, testkit.Want{Text: "hi"})
	probe.Expect(testkit.Want{Text: "How are"}, testkit.Want{Turn: messages.TurnCompleted}) // What lies between does not matter.
	fmt.Println("the last event has the number", probe.Last())
	// Output: the last event has the number 6
}

func ExampleScripts() {
	t := &example{}
	defer t.end()
	opts := &testkit.Options{Agents: map[messages.AgentID]actors.Agent{"a": testkit.Scripts{
		"draw": {testkit.Draft("d", "Dra"), testkit.Final("d", "Drawn."), testkit.Finish("ok")},
		"":     {testkit.Return("I can only draw")},
	}}}
	rt := testkit.NewRuntime(t, opts)
	id := rt.Create("a", "")
	fmt.Println(rt.Wait(rt.Run(id, "draw", actors.RunOptions{})).Status)
	turn := rt.Wait(rt.Run(id, "sing", actors.RunOptions{}))
	fmt.Println(turn.Status, turn.Error)
	// Output:
	// completed
	// failed I can only draw
}

func ExampleGate() {
	t := &example{}
	defer t.end()
	gate := testkit.NewGate()
	rt := testkit.NewRuntime(t, greeter(testkit.Script{gate.Wait(), testkit.Finish("ok")}))
	handle := rt.Run(rt.Create("greeter", ""), "hi", actors.RunOptions{})
	<-gate.Reached()
	fmt.Println(handle.Status())
	gate.Open()
	fmt.Println(rt.Wait(handle).Status)
	// Output:
	// running
	// completed
}

func ExampleFaultyStore() {
	t := &example{}
	defer t.end()
	store := testkit.NewFaultyStore(memory.New())
	opts := greeter(testkit.Script{testkit.Finish("ok")})
	opts.Store = store
	rt := testkit.NewRuntime(t, opts)
	id := rt.Create("greeter", "s1")
	store.Fail(testkit.OpCommit, 1, testkit.Fault{Err: persistence.ErrUnavailable})
	_, err := rt.RunTurn(rt.Context(), id, "hi", actors.RunOptions{})
	fmt.Println(errors.Is(err, persistence.ErrUnavailable), errors.Is(err, testkit.ErrInjected))
	fmt.Println(rt.Complete(id, "again").Status)
	// Output:
	// true true
	// completed
}

func ExampleCrashStore() {
	t := &example{}
	defer t.end()
	disk := memory.New()
	gate := testkit.NewGate()
	opts := greeter(testkit.Script{testkit.Say("stored"), gate.Hang()})
	life := testkit.NewCrashStore(disk)
	opts.Store = life
	first := testkit.NewRuntime(t, opts)
	t.Cleanup(func() { life.Bury(); gate.Open() }) // So that what was killed can end.
	id := first.Create("greeter", "s1")
	first.Run(id, "hi", actors.RunOptions{})
	<-gate.Reached()
	life.Kill()

	second := greeter(testkit.Script{testkit.Finish("ok")})
	second.Store = testkit.NewCrashStore(disk)
	rt := testkit.NewRuntime(t, second)
	rt.Complete(id, "again")
	for _, item := range rt.View(id).Items {
		fmt.Println(item.Type, item.Content+item.Error)
	}
	// Output:
	// message hi
	// message stored
	// error interrupted: the process ended during the turn
	// message again
}

func ExampleEventually() {
	t := &example{}
	defer t.end()
	gate := testkit.NewGate()
	go gate.Open()
	testkit.Eventually(t, "the gate is open", func() error {
		gate.Pass()
		return nil
	})
	fmt.Println("open")
	// Output: open
}

func ExampleGolden() {
	t := &example{}
	dir, err := os.MkdirTemp("", "golden")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "greeting.txt")
	if err := os.WriteFile(path, []byte("Hello.\n"), 0o600); err != nil {
		panic(err)
	}
	testkit.Golden(t, path, []byte("Hello.\n"))
	fmt.Println("as expected")
	// Output: as expected
}

// A test that plays the files of a folder is one line.
func ExampleRunScenarios() {
	_ = func(t *testing.T) {
		t.Helper()
		testkit.RunScenarios(t, "testdata/scenarios")
	}
	fmt.Println("see testdata/scenarios")
	// Output: see testdata/scenarios
}

// A package that starts goroutines has this TestMain.
func ExampleMain() {
	_ = func(m *testing.M) { os.Exit(testkit.Main(m)) }
	// Output:
}
