package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	goruntime "runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/actors/internal/approval"
	"agentd/messages"
	"agentd/persistence"
	"agentd/presets"
)

// deadLetterPause is the shortest time that the engine takes for its throttle of the log of undeliverable messages.
const deadLetterPause = time.Millisecond

// Deps are the services that a runtime stands on.
type Deps struct {
	// Store keeps the sessions. The runtime owns it from [Start] on, and closes it in [Runtime.Stop]. Required.
	Store persistence.Store
	// Agents are the agents that sessions can name. Required; it may be filled later.
	Agents *Agents
	// Presets says which tools are active. Required.
	Presets *presets.Manager
	// Grants keeps standing approvals. Nil keeps them in memory.
	Grants presets.GrantStore
	// App and Providers are handed to agents as they are. May be nil.
	App       any
	Providers any
}

func (d *Deps) validate() error {
	switch {
	case d.Store == nil:
		return &MissingDepError{Name: "Store"}
	case d.Agents == nil:
		return &MissingDepError{Name: "Agents"}
	case d.Presets == nil:
		return &MissingDepError{Name: "Presets"}
	default:
		return nil
	}
}

// Runtime runs sessions. It is the only way to them: nothing outside this package meets an actor. It is safe for concurrent use.
type Runtime struct {
	// Set by Start.
	options Options
	deps    Deps
	store   persistence.Store
	logger  *slog.Logger
	system  *actor.ActorSystem
	// quick runs the services that never block; writer runs the journal and files the snapshot actors, which do. Sessions are run by their strands.
	quick, writer, files *dispatcher
	root                 *actor.PID
	journal              *actor.PID
	snapshots            [snapshotActors]*actor.PID
	registry             *actor.PID
	toolSync             *actor.PID
	live                 *liveSessions
	// requests are the commits that wait to be used again.
	requests commitRequests
	strands  []*strand
	// spread chooses a session's strand, and its snapshot actor.
	spread    spread
	approvals *Approvals
	surface   *presets.Surface

	// stopping is set when Stop begins; stopped is closed when everything has ended.
	stopping atomic.Bool
	stopOnce sync.Once
	stopped  chan struct{}
	stopErr  error

	// workers are the goroutines that this runtime owns: agents, hooks, callbacks, saves.
	workers workers

	approvalHub approvalHub

	// syncers is how many the toolsync actor has; without one it is not told of changes.
	syncers atomic.Int64
	// unlisten ends the subscription to changes of presets. Set by Start.
	unlisten func()
}

// Start starts a runtime and returns at once; sessions that a crash left in mid-turn are recovered in the background, and before
// anybody else can use them. A missing service or a bad option is an error that names it, and grants that cannot be read are one.
func Start(deps Deps, opts *Options) (*Runtime, error) {
	if err := deps.validate(); err != nil {
		return nil, err
	}
	options := opts.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	grants, err := loadGrants(deps.Grants)
	if err != nil {
		return nil, err
	}
	rt := &Runtime{
		options: options, deps: deps, store: deps.Store, logger: options.Logger,
		live: &liveSessions{pids: map[string]*entry{}}, stopped: make(chan struct{}),
	}
	rt.system = actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }),
		actor.WithDeadLetterRequestLogging(false),
		// The engine has a goroutine for so long after a message that came too late. It only counts what is not logged here.
		actor.WithDeadLetterThrottleInterval(deadLetterPause),
	)
	shrinkRegister(rt.system)
	rt.quick = newDispatcher(1)
	rt.writer, rt.files = newDispatcher(1), newDispatcher(snapshotActors)
	rt.spread = newSpread()
	rt.strands = newStrands(rt, max(goruntime.GOMAXPROCS(0), 2))
	if err := rt.spawnTree(grants); err != nil {
		rt.system.Shutdown()
		rt.closeDispatchers()
		return nil, fmt.Errorf("starting the runtime: %w", err)
	}
	rt.unlisten = rt.deps.Presets.OnChange(rt.toolsChanged)
	rt.recover()
	return rt, nil
}

func loadGrants(store presets.GrantStore) ([]presets.Grant, error) {
	if store == nil {
		return nil, nil
	}
	grants, err := store.Load(context.Background())
	if err != nil {
		return nil, fmt.Errorf("starting the runtime: loading grants: %w", err)
	}
	return grants, nil
}

// recover wakes the sessions whose turn was running when the last process ended, which records the turn as interrupted, and folds the others that
// have something in the journal.
func (rt *Runtime) recover() {
	for _, u := range rt.store.Unfolded() {
		if u.Running {
			rt.system.Root.Send(rt.registry, activate{id: u.Session, reply: newCall[*entry]()})
			continue
		}
		rt.system.Root.Send(rt.snapshotFor(u.Session), foldRequest{id: u.Session})
	}
}

// rootActor is the only child of the engine's root: everything is below it, nothing escalates past it.
type rootActor struct {
	runtime *Runtime
	grants  []presets.Grant
	ready   chan error
}

func (r *rootActor) started(c actor.Context) { r.ready <- r.spawn(c) }

// spawn starts the services, in the order of their dependence.
func (r *rootActor) spawn(c actor.Context) error {
	rt := r.runtime
	var err error
	child := func(name string, produce func() behaviour, opts ...actor.PropsOption) *actor.PID {
		if err != nil {
			return nil
		}
		var pid *actor.PID
		pid, err = c.SpawnNamed(guard(name, rt.logger, produce, opts...), name)
		return pid
	}
	desk := &journalDesk{}
	rt.journal = child("journal", func() behaviour { return &journalActor{store: rt.store, desk: desk} }, actor.WithDispatcher(rt.writer))
	for i := range rt.snapshots {
		rt.snapshots[i] = child("snapshot-"+strconv.Itoa(i), func() behaviour {
			return &snapshotActor{store: rt.store, root: rt.system.Root, logger: rt.logger}
		}, actor.WithDispatcher(rt.files))
	}
	approvals := newApprovalsActor(rt, approval.New(approval.Params{
		Policy: rt.options.Policy, Grants: r.grants, RequestTTL: int64((rt.options.ApprovalTTL + time.Second - 1) / time.Second), // Up: less than a second is not "without limit".
	}), rt.deps.Grants)
	pid := child("approvals", func() behaviour { return approvals }, actor.WithDispatcher(rt.quick))
	rt.approvals = &Approvals{root: rt.system.Root, pid: pid, gone: rt.stopped}
	syncs := &toolSyncActor{runtime: rt, logger: rt.logger, syncers: map[uint64]*syncing{}}
	rt.toolSync = child("toolsync", func() behaviour { return syncs }, actor.WithDispatcher(rt.quick))
	rt.registry = child("registry", func() behaviour {
		return &registryActor{runtime: rt, live: rt.live, logger: rt.logger}
	}, actor.WithDispatcher(rt.quick), actor.WithSupervisor(&restartWithin{
		limit: sessionRestarts, window: sessionRestartWindow, logger: rt.logger,
	}))
	return err
}

func (r *rootActor) receive(actor.Context, any) {}

func (r *rootActor) stopping(actor.Context) {}

func (r *rootActor) stopped(actor.Context) { close(r.runtime.stopped) }

func (r *rootActor) refuse(any, error) {}

// spawnTree starts the actors and builds what stands on them.
func (rt *Runtime) spawnTree(grants []presets.Grant) error {
	ready := make(chan error, 1)
	props := guard("runtime", rt.logger, func() behaviour {
		return &rootActor{runtime: rt, grants: grants, ready: ready}
	}, actor.WithDispatcher(rt.quick), actor.WithSupervisor(&restartPaced{logger: rt.logger}))
	pid, err := rt.system.Root.SpawnNamed(props, "runtime")
	if err != nil {
		return err
	}
	rt.root = pid
	if err := <-ready; err != nil {
		return err
	}
	rt.surface, err = presets.NewSurface(rt.deps.Presets, rt.approvals, &presets.SurfaceOptions{
		Exposure: rt.options.Exposure, RequestWait: rt.options.RequestWait, Logger: rt.logger,
	})
	return err
}

// Stop ends the runtime: it refuses what is new, cancels what runs and waits for it, folds the sessions and closes the store. It waits at
// most [Options.StopTimeout], or as long as the context; what did not stop is named in an [*UnstoppedError] and left behind. A call of the store
// that hangs is waited for as long again, and then the store is left open until it returns. Folding has no limit of time: what is not folded is not lost,
// but makes the next start slower. Stop may be called more than once, also at the same time; each call waits for the end.
func (rt *Runtime) Stop(ctx context.Context) error {
	rt.stopOnce.Do(func() {
		rt.stopping.Store(true)
		ctx, cancel := context.WithTimeout(ctx, rt.options.StopTimeout)
		defer cancel()
		rt.stopErr = rt.stop(ctx)
	})
	return rt.stopErr
}

func (rt *Runtime) stop(ctx context.Context) error {
	rt.unlisten()
	rt.system.Root.Send(rt.toolSync, endSyncs{})
	drained := make(chan struct{})
	rt.system.Root.Send(rt.registry, drainAll{done: drained})
	rt.approvals.tell(approval.Stop{})
	unstopped := &UnstoppedError{}
	select {
	case <-drained:
	case <-ctx.Done():
		rt.live.entries.Range(func(key, _ any) bool {
			unstopped.Sessions = append(unstopped.Sessions, key.(messages.SessionID)) //nolint:forcetypeassert // Only ids are keys.
			return true
		})
	}
	unstopped.Goroutines = rt.workers.wait(ctx)
	rt.approvalHub.close()
	rt.system.Root.Poison(rt.root) // The journal and the snapshot actors finish what they have.
	if !rt.ended() {
		unstopped.Store = true
		rt.spawn("the end of the runtime", "", rt.endLate)
		return unstopped
	}
	err := rt.release(context.WithoutCancel(ctx))
	if len(unstopped.Sessions)+len(unstopped.Goroutines) > 0 {
		err = errors.Join(unstopped, err)
	}
	return err
}

// release gives back what the runtime holds, when its actors have ended.
func (rt *Runtime) release(ctx context.Context) error {
	rt.system.Shutdown()
	rt.closeDispatchers()
	rt.workers.close()
	if err := rt.store.Close(ctx); err != nil {
		return fmt.Errorf("stopping the runtime: closing the store: %w", err)
	}
	return nil
}

func (rt *Runtime) closeDispatchers() {
	for _, d := range []*dispatcher{rt.quick, rt.writer, rt.files} {
		d.close()
	}
	for _, s := range rt.strands {
		s.dispatcher.close()
	}
}

// endLate releases what Stop had to leave behind, if the store answers after all.
func (rt *Runtime) endLate() {
	<-rt.stopped
	if err := rt.release(context.Background()); err != nil {
		rt.logger.Error("ending a runtime that could not stop in time", slog.Any("error", err))
	}
}

// ended waits for the end of the actors, which only a call of the store can hold up, and reports whether it came. It has as much time
// again as the agents had.
func (rt *Runtime) ended() bool {
	patience := time.NewTimer(rt.options.StopTimeout)
	defer patience.Stop()
	select {
	case <-rt.stopped:
		return true
	case <-patience.C:
		return false
	}
}

// spawn runs a function on a goroutine that the runtime owns and waits for when it stops. The words are for the error that names what did not stop.
func (rt *Runtime) spawn(what string, id messages.SessionID, f func()) {
	rt.workers.start(&job{what: what, session: id, do: runFunc(f)})
}

// isolate calls somebody else's function and keeps its panic from hurting others.
func (rt *Runtime) isolate(what string, f func()) {
	defer func() {
		if reason := recover(); reason != nil {
			rt.logger.Error("a callback panicked", slog.String("what", what), slog.String("stack", string(debug.Stack())))
		}
	}()
	f()
}

func (rt *Runtime) now() time.Time { return time.Now() }

func (rt *Runtime) unix() int64 { return time.Now().Unix() }

// snapshotFor returns the snapshot actor of a session: always the same one.
func (rt *Runtime) snapshotFor(id messages.SessionID) *actor.PID {
	return rt.snapshots[rt.spread.place(id, snapshotActors)]
}

// forget drops the settings of a deleted session. It does I/O, so it has a goroutine.
func (rt *Runtime) forget(id messages.SessionID) {
	rt.spawn("the forgetting of presets", id, func() {
		if err := rt.deps.Presets.Forget(context.Background(), id); err != nil {
			rt.logger.Error("forgetting a deleted session's presets", slog.String("session", string(id)), slog.Any("error", err))
		}
	})
}

// releaseApprovals cancels what an ended turn still asked for.
func (rt *Runtime) releaseApprovals(e *entry, turn messages.TurnID) {
	caller := presets.Caller{SessionID: e.id, TurnID: turn, AgentID: e.agentID}
	rt.approvals.tell(approval.Release{Caller: caller, Reason: "the turn has ended"})
}
