package actors

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// These tests hold the guard against the traps of the engine, by their numbers in the study of it.

// fragile is a behaviour that panics where it is told to.
type fragile struct {
	panicIn string
	log     *callLog
	child   *actor.Props
}

// callLog notes what fragile behaviours did.
type callLog struct {
	mu    sync.Mutex
	lines []string
	seen  chan string
}

func newCallLog() *callLog { return &callLog{seen: make(chan string, 1000)} }

func (l *callLog) add(line string) {
	l.mu.Lock()
	l.lines = append(l.lines, line)
	l.mu.Unlock()
	l.seen <- line
}

// wait waits for a line.
func (l *callLog) wait(t *testing.T, line string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case got := <-l.seen:
			if got == line {
				return
			}
		case <-deadline:
			l.mu.Lock()
			defer l.mu.Unlock()
			t.Fatalf("%q did not come; there were %q", line, l.lines)
		}
	}
}

func (f *fragile) did(what string) {
	f.log.add(what)
	if f.panicIn == what {
		panic("secret of " + what)
	}
}

func (f *fragile) started(c actor.Context) {
	if f.child != nil {
		if _, err := c.SpawnNamed(f.child, "child"); err != nil {
			f.log.add(err.Error())
		}
	}
	f.did("started")
}

func (f *fragile) receive(_ actor.Context, msg any) {
	if text, ok := msg.(string); ok {
		f.did(text)
	}
}
func (f *fragile) stopping(actor.Context) { f.did("stopping") }
func (f *fragile) stopped(actor.Context)  { f.did("stopped") }
func (f *fragile) childEnded(actor.Context, *actor.PID) {
	f.did("child ended")
}

func (f *fragile) refuse(msg any, err error) {
	text, _ := msg.(string)
	f.log.add("refused " + text)
	if errors.Is(err, ErrClosing) {
		f.log.add("closing " + text)
	}
}

func quietSystem(t *testing.T) *actor.ActorSystem {
	t.Helper()
	system := actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }),
		actor.WithDeadLetterRequestLogging(false), actor.WithDeadLetterThrottleInterval(time.Millisecond),
	)
	t.Cleanup(system.Shutdown)
	return system
}

func TestGuardTraps2And3PanicsWhileStopping(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"stopping", "stopped"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			system := quietSystem(t)
			logger := slog.New(slog.DiscardHandler)
			parentLog, childLog := newCallLog(), newCallLog()
			child := guard("child", logger, func() behaviour { return &fragile{panicIn: phase, log: childLog} })
			parent := guard("parent", logger, func() behaviour { return &fragile{log: parentLog, child: child} })
			pid, err := system.Root.SpawnNamed(parent, "parent")
			if err != nil {
				t.Fatal(err)
			}
			childLog.wait(t, "started")
			system.Root.Stop(pid)
			childLog.wait(t, "stopped")
			parentLog.wait(t, "child ended")
			parentLog.wait(t, "stopped")
			childLog.mu.Lock()
			defer childLog.mu.Unlock()
			if got := strings.Join(childLog.lines, ","); got != "started,stopping,stopped" {
				t.Errorf("the child did %s, want it ended once, not restarted", got)
			}
		})
	}
}

func TestGuardTraps4And7MessagesWhileStoppingAreAnswered(t *testing.T) {
	t.Parallel()
	system := quietSystem(t)
	logger := slog.New(slog.DiscardHandler)
	parentLog, childLog := newCallLog(), newCallLog()
	hold := make(chan struct{})
	child := guard("child", logger, func() behaviour { return &holding{fragile: fragile{log: childLog}, hold: hold} })
	pid, err := system.Root.SpawnNamed(guard("parent", logger, func() behaviour {
		return &fragile{log: parentLog, child: child}
	}), "parent")
	if err != nil {
		t.Fatal(err)
	}
	childLog.wait(t, "started")
	system.Root.Stop(pid)
	parentLog.wait(t, "stopping")
	system.Root.Send(pid, "late") // The parent waits for its child.
	parentLog.wait(t, "refused late")
	parentLog.wait(t, "closing late")
	close(hold)
	parentLog.wait(t, "stopped")
}

// holding stays in its stopping until it is let go.
type holding struct {
	fragile
	hold chan struct{}
}

func (h *holding) stopping(actor.Context) { <-h.hold }

func TestGuardTrap5PanicIsAnsweredAndTheRestKept(t *testing.T) {
	t.Parallel()
	system := quietSystem(t)
	log := newCallLog()
	logger := slog.New(slog.DiscardHandler)
	child := guard("child", logger, func() behaviour { return &fragile{panicIn: "bad", log: log} })
	parent := guard("parent", logger, func() behaviour { return &fragile{log: newCallLog(), child: child} },
		actor.WithSupervisor(&restartWithin{limit: 3, window: time.Minute, logger: logger}))
	if _, err := system.Root.SpawnNamed(parent, "parent"); err != nil {
		t.Fatal(err)
	}
	log.wait(t, "started")
	pid := actor.NewPID("nonhost", "parent/child")
	for _, text := range []string{"one", "bad", "two"} {
		system.Root.Send(pid, text)
	}
	log.wait(t, "refused bad")
	log.wait(t, "started")
	log.wait(t, "two")
	root := actor.NewPID("nonhost", "parent")
	system.Root.Stop(root)
	log.wait(t, "stopped")
}

func TestGuardTraps17And20BudgetOfRestarts(t *testing.T) {
	t.Parallel()
	system := quietSystem(t)
	log, parentLog := newCallLog(), newCallLog()
	logger := slog.New(slog.DiscardHandler)
	child := guard("child", logger, func() behaviour { return &fragile{panicIn: "started", log: log} })
	parent := guard("parent", logger, func() behaviour { return &fragile{log: parentLog, child: child} },
		actor.WithSupervisor(&restartWithin{limit: 3, window: time.Minute, logger: logger}))
	pid, err := system.Root.SpawnNamed(parent, "parent")
	if err != nil {
		t.Fatal(err)
	}
	parentLog.wait(t, "child ended")
	log.mu.Lock()
	starts := strings.Count(strings.Join(log.lines, ","), "started")
	log.mu.Unlock()
	if starts != 4 {
		t.Errorf("the child started %d times, want once and 3 restarts", starts)
	}
	system.Root.Stop(pid)
	parentLog.wait(t, "stopped")
}

func TestTrap14AnswerIsGivenOnce(t *testing.T) {
	t.Parallel()
	c := newCall[int]()
	c.put(1, nil)
	c.put(2, nil)
	c.fail(errPanicked)
	if got, err := c.wait(t.Context(), nil); got != 1 || err != nil {
		t.Errorf("wait() = %d, %v, want the first answer", got, err)
	}
}

func TestTrap19PausesDoubleUpToACap(t *testing.T) {
	t.Parallel()
	const jitter = 2 // At most half of the pause more or less.
	for failures := 1; failures <= 40; failures++ {
		want := min(persistencePause<<min(failures-1, 30), persistencePauseCap)
		got := pauseAfter(failures)
		if got < want/jitter || got > want+want/jitter {
			t.Errorf("pauseAfter(%d) = %v, want about %v", failures, got, want)
		}
	}
}

func TestTrap23PanicTextStaysOutOfTheLog(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	var mu sync.Mutex
	logger := slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return text.Write(p)
	}), nil))
	system := quietSystem(t)
	log := newCallLog()
	pid, err := system.Root.SpawnNamed(guard("child", logger, func() behaviour { return &fragile{panicIn: "stopping", log: log} }), "child")
	if err != nil {
		t.Fatal(err)
	}
	system.Root.Stop(pid)
	log.wait(t, "stopped")
	mu.Lock()
	defer mu.Unlock()
	if got := text.String(); !strings.Contains(got, "actor panicked") || strings.Contains(got, "secret of") {
		t.Errorf("the log holds %q, want the panic without its text", got)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
