package actors

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/cenkalti/backoff/v4"
)

// The budgets of supervision (design section 4).
const (
	sessionRestarts      = 3
	sessionRestartWindow = time.Minute
	persistencePause     = 10 * time.Millisecond
	persistencePauseCap  = 5 * time.Second
)

// restartWithin restarts a failing child at once, up to a number of times in a window, and then stops it. It
// is the strategy for sessions: their state is in the store.
type restartWithin struct {
	limit  int
	window time.Duration
	logger *slog.Logger
}

// HandleFailure implements actor.SupervisorStrategy. It never escalates.
func (s *restartWithin) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, stats *actor.RestartStatistics, _, _ any) {
	stats.Fail()
	if stats.NumberOfFailures(s.window) > s.limit {
		s.logger.Error("actor stopped after too many panics", slog.String("actor", child.Id), slog.Int("limit", s.limit))
		sup.StopChildren(child)
		return
	}
	sup.RestartChildren(child)
}

// restartPaced restarts a failing child for ever, after a pause that doubles up to a cap, with jitter. It
// is the strategy for the persistence actors and the runtime's other services: they must come back.
type restartPaced struct {
	logger *slog.Logger
}

// HandleFailure implements actor.SupervisorStrategy. It never escalates. The pause is a timer's: the supervisor is not held up.
func (s *restartPaced) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, stats *actor.RestartStatistics, _, _ any) {
	stats.Fail()
	pause := pauseAfter(stats.NumberOfFailures(time.Minute))
	s.logger.Error("actor restarts after a panic", slog.String("actor", child.Id), slog.Duration("pause", pause))
	time.AfterFunc(pause, func() { sup.RestartChildren(child) })
}

// pauseAfter returns the jittered pause before the restart that follows the nth failure in a row.
func pauseAfter(failures int) time.Duration {
	paces := newPace()
	pause := paces.NextBackOff()
	for range min(failures, 32) - 1 {
		pause = paces.NextBackOff()
	}
	return pause
}

// newPace returns the backoff that paces every retry of this package: exponential, capped, jittered, without an end.
func newPace() *backoff.ExponentialBackOff {
	return backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(persistencePause),
		backoff.WithMultiplier(2),
		backoff.WithMaxInterval(persistencePauseCap),
		backoff.WithMaxElapsedTime(0),
	)
}
