package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"agentd/messages"
	"agentd/presets"
)

// How lists of tools are kept up to date.
const (
	// toolSyncPause is how long a change waits for others that come with it, so that a burst is one sync.
	toolSyncPause = 2 * time.Millisecond
	// toolSyncTimeout bounds one sync.
	toolSyncTimeout = 30 * time.Second
	// maxSyncedSessions is how many sessions a merged change tells apart. Beyond it the change concerns all.
	maxSyncedSessions = 1024
)

// errSyncRemoved is the cause with which the sync of a syncer ends that was removed.
var errSyncRemoved = errors.New("the syncer was removed")

// ToolSyncer keeps a list of tools equal to what is active and approved. The bridges of providers and mcp.HTTPServer are some.
type ToolSyncer interface {
	// Sync makes the list right for the sessions that the change touches. It is called on a goroutine of the runtime, once at a time, and
	// may block, as long as it keeps to its context. What it makes of an error or a panic is its own affair: the next change calls it again.
	Sync(ctx context.Context, change presets.Change) error
}

// ToolSyncStatus is how a [ToolSyncer] stands.
type ToolSyncStatus struct {
	// Syncs is how many calls have ended, Running whether one runs.
	Syncs   int
	Running bool
	// Err is why the last call failed, or nil.
	Err error
}

type (
	addSyncer struct {
		syncer ToolSyncer
		id     *call[uint64]
	}

	removeSyncer struct {
		id   uint64
		done *plainCall
	}

	// toolsChanged tells that lists of tools may be others now.
	toolsChanged struct{ change presets.Change }

	// syncDue is the timer: whatever belonged to a burst is there.
	syncDue struct{ id uint64 }

	// syncEnded tells how a sync went.
	syncEnded struct {
		id  uint64
		err error
	}

	syncStatuses struct{ reply *call[[]ToolSyncStatus] }

	// endSyncs ends what runs, and lets nothing more begin.
	endSyncs struct{}
)

// toolSyncActor keeps lists of tools equal to the tool surface. It never syncs itself: approvals are asked then, and may
// take their time.
type toolSyncActor struct {
	runtime *Runtime
	logger  *slog.Logger

	// Owned by the actor; they outlive an incarnation.
	syncers map[uint64]*syncing
	last    uint64
	ended   bool
}

// syncing is one syncer and what is to be told to it.
type syncing struct {
	syncer  ToolSyncer
	pending presets.Change
	waits   bool // something is pending, and its timer runs
	cancel  context.CancelCauseFunc
	status  ToolSyncStatus
}

func (a *toolSyncActor) started(actor.Context) {}

func (a *toolSyncActor) receive(c actor.Context, msg any) {
	switch m := msg.(type) {
	case addSyncer:
		m.id.put(a.add(c, m.syncer), nil)
	case removeSyncer:
		a.remove(m.id)
		m.done.put(struct{}{}, nil)
	case toolsChanged:
		for id, s := range a.syncers {
			s.pending = mergeChanges(s.pending, m.change)
			a.arm(c, id, s)
		}
	case syncDue:
		a.run(c, m.id)
	case syncEnded:
		a.finish(c, m)
	case syncStatuses:
		m.reply.put(a.statuses(), nil)
	case endSyncs:
		a.ended = true
		for id := range a.syncers {
			a.remove(id)
		}
	}
}

// add takes a syncer in. What it has may be out of date already.
func (a *toolSyncActor) add(c actor.Context, syncer ToolSyncer) uint64 {
	if a.ended {
		return 0
	}
	a.last++
	s := &syncing{syncer: syncer, pending: presets.Change{Global: true}}
	a.syncers[a.last] = s
	a.runtime.syncers.Store(int64(len(a.syncers)))
	a.arm(c, a.last, s)
	return a.last
}

func (a *toolSyncActor) remove(id uint64) {
	s, known := a.syncers[id]
	if !known {
		return
	}
	if s.cancel != nil {
		s.cancel(errSyncRemoved)
	}
	delete(a.syncers, id)
	a.runtime.syncers.Store(int64(len(a.syncers)))
}

// arm lets the pending change wait for the rest of its burst. While a sync runs, its end does that.
func (a *toolSyncActor) arm(c actor.Context, id uint64, s *syncing) {
	if s.waits || s.status.Running {
		return
	}
	s.waits = true
	root, self := c.ActorSystem().Root, c.Self()
	time.AfterFunc(toolSyncPause, func() { root.Send(self, syncDue{id: id}) })
}

// run calls a syncer with what is pending, on a goroutine of the runtime.
func (a *toolSyncActor) run(c actor.Context, id uint64) {
	s, known := a.syncers[id]
	if !known || s.status.Running {
		return
	}
	s.waits, s.status.Running = false, true
	ctx, cancel := context.WithCancelCause(context.Background())
	s.cancel = cancel
	syncer, change := s.syncer, s.pending
	s.pending = presets.Change{}
	root, self := c.ActorSystem().Root, c.Self()
	a.runtime.spawn("a sync of tools", "", func() {
		defer cancel(nil)
		ctx, stop := context.WithTimeout(ctx, toolSyncTimeout)
		defer stop()
		err := errPanicked
		defer func() { root.Send(self, syncEnded{id: id, err: err}) }()
		a.runtime.isolate("a sync of tools", func() {
			if err = syncer.Sync(ctx, change); err != nil && !errors.Is(context.Cause(ctx), errSyncRemoved) {
				a.logger.Warn("a list of tools is not up to date", slog.Any("error", err)) // Here, since an error is the syncer's code, too.
			}
		})
	})
}

// finish notes how a sync went, and sees to what came meanwhile.
func (a *toolSyncActor) finish(c actor.Context, m syncEnded) {
	s, known := a.syncers[m.id]
	if !known {
		return
	}
	s.cancel = nil
	s.status = ToolSyncStatus{Syncs: s.status.Syncs + 1, Err: m.err}
	if s.pending.Global || len(s.pending.Sessions) > 0 {
		a.arm(c, m.id, s)
	}
}

func (a *toolSyncActor) statuses() []ToolSyncStatus {
	out := make([]ToolSyncStatus, 0, len(a.syncers))
	for _, id := range slices.Sorted(maps.Keys(a.syncers)) {
		out = append(out, a.syncers[id].status)
	}
	return out
}

func (a *toolSyncActor) stopping(actor.Context) {}

func (a *toolSyncActor) refuse(msg any, err error) {
	switch m := msg.(type) {
	case addSyncer:
		m.id.fail(err)
	case removeSyncer:
		m.done.fail(err)
	case syncStatuses:
		m.reply.fail(err)
	}
}

// mergeChanges returns a change that touches whatever one of the two does.
func mergeChanges(a, b presets.Change) presets.Change {
	if a.Global || b.Global || len(a.Sessions)+len(b.Sessions) > maxSyncedSessions {
		return presets.Change{Global: true}
	}
	sessions := slices.Concat(a.Sessions, b.Sessions)
	slices.Sort(sessions)
	return presets.Change{Sessions: slices.Compact[[]messages.SessionID](sessions)}
}

// SyncTools calls the syncer whenever what a list of tools holds may have changed: presets and their overrides, decisions, grants, their
// revocation and expiry, approvals once that are given and used up, the policy. It is called once soon after this, and then once for each
// burst of changes, one call at a time; what comes while it runs is merged into the next call. One that hangs, fails or panics holds up nobody
// but itself. The returned function ends that, and the context of a call that runs; so does [Runtime.Stop]. It may be called more than once.
func (rt *Runtime) SyncTools(syncer ToolSyncer) (remove func()) {
	id := newCall[uint64]()
	rt.system.Root.Send(rt.toolSync, addSyncer{syncer: syncer, id: id})
	number, err := id.wait(context.Background(), rt.stopped)
	if err != nil || number == 0 {
		return func() {} // The runtime has stopped.
	}
	return func() {
		done := newCall[struct{}]()
		rt.system.Root.Send(rt.toolSync, removeSyncer{id: number, done: done})
		_, _ = done.wait(context.Background(), rt.stopped) // A runtime that stops has removed it.
	}
}

// ToolSyncs returns how the syncers stand, in the order in which they came.
func (rt *Runtime) ToolSyncs(ctx context.Context) ([]ToolSyncStatus, error) {
	reply := newCall[[]ToolSyncStatus]()
	rt.system.Root.Send(rt.toolSync, syncStatuses{reply: reply})
	statuses, err := reply.wait(ctx, rt.stopped)
	if err != nil {
		return nil, fmt.Errorf("reading the state of the tool syncs: %w", rt.named(err))
	}
	return statuses, nil
}

// toolsChanged tells the toolsync actor of a change, if there is anybody to tell. It never blocks.
func (rt *Runtime) toolsChanged(change presets.Change) {
	if rt.syncers.Load() > 0 {
		rt.system.Root.Send(rt.toolSync, toolsChanged{change: change})
	}
}
