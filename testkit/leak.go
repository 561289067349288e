package testkit

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agentd/actors"
)

const (
	// pollPause is how long a condition is left alone at first. The pause doubles up to maxPollPause.
	pollPause    = time.Millisecond
	maxPollPause = 256 * time.Millisecond
	// settling is how long the actor engine may keep a goroutine for messages that came too late. In a bubble it has to be
	// gone before the test ends.
	settling = 5 * time.Millisecond
)

// VerifyStopped fails the test if the runtime, which was stopped, still has a session, an actor or a goroutine. Goroutines that
// are just ending are given time.
func (r *Runtime) VerifyStopped() {
	r.tb.Helper()
	Eventually(r.tb, "the runtime has no session, actor or goroutine", func() error {
		if live := r.Live(); live != (actors.Live{}) {
			return fmt.Errorf("left are %+v", live)
		}
		return nil
	})
	<-time.After(settling)
}

// Eventually waits until a condition gives no error, and ends the test with its last one if it still does after [Patience].
func Eventually(tb testing.TB, what string, condition func() error) {
	tb.Helper()
	deadline := time.NewTimer(Patience)
	defer deadline.Stop()
	for pause := pollPause; ; pause = min(2*pause, maxPollPause) {
		err := condition()
		if err == nil {
			return
		}
		select {
		case <-time.After(pause):
		case <-deadline.C:
			tb.Fatalf("it did not become true that %s: %v", what, err)
		}
	}
}

// Main runs the tests of a package and then looks for goroutines that they left, every runtime's and those of the actor engine
// included. It is for TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
//
// The result is for os.Exit.
func Main(m *testing.M) int {
	code := m.Run()
	if code != 0 {
		return code
	}
	if err := findLeaks(3 * time.Second); err != nil {
		fmt.Fprintf(os.Stderr, "goroutines are left after the tests: %v\n", err)
		return 1
	}
	return 0
}

func findLeaks(patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		err := goleak.Find(goleak.IgnoreTopFunction("testing.(*M).startAlarm"))
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
