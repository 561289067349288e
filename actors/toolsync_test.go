package actors_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/actors"
	"agentd/messages"
	"agentd/presets"
	"agentd/testkit"
)

// syncer notes what it was called with.
type syncer struct {
	mu      sync.Mutex
	changes []presets.Change
	running int
	most    int
	// do is what a call does, if not nil.
	do func(ctx context.Context) error
}

// Sync implements [actors.ToolSyncer].
func (s *syncer) Sync(ctx context.Context, change presets.Change) error {
	s.mu.Lock()
	s.changes = append(s.changes, change)
	s.running++
	s.most = max(s.most, s.running)
	do := s.do
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
	}()
	if do != nil {
		return do(ctx)
	}
	return nil
}

// told returns the changes since it was last asked, when all that is under way has ended.
func (s *syncer) told() []presets.Change {
	<-time.After(100 * time.Millisecond)
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.changes
	s.changes = nil
	return out
}

func (s *syncer) will(do func(ctx context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do = do
}

// newSynced is a fixture with a syncer that has had its first call.
func newSynced(t *testing.T, opts *testkit.Options) (*toolFixture, *syncer) {
	t.Helper()
	f := newToolFixture(t, opts)
	s := &syncer{}
	f.runtime.SyncTools(s)
	wantChanges(t, "SyncTools", s, presets.Change{Global: true})
	return f, s
}

func wantChanges(t *testing.T, after string, s *syncer, want ...presets.Change) {
	t.Helper()
	if diff := cmp.Diff(want, s.told()); diff != "" {
		t.Errorf("after %s the syncer was told (-want +got):\n%s", after, diff)
	}
}

func (f *toolFixture) override(t *testing.T, session messages.SessionID, preset string, value presets.Override) {
	t.Helper()
	if err := f.runtime.Presets().SetOverride(f.runtime.Context(), session, preset, value); err != nil {
		t.Fatal(err)
	}
}

func TestSyncTellsOfPresetsOncePerBurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, s := newSynced(t, nil)
		f.override(t, f.id, plainTool, presets.OverrideOff)
		wantChanges(t, "one change", s, presets.Change{Sessions: []messages.SessionID{f.id}})
		f.override(t, "", plainTool, presets.OverrideOff)
		f.override(t, "", plainTool, presets.OverrideOn)
		f.override(t, "", plainTool, presets.OverrideAuto)
		wantChanges(t, "a burst", s, presets.Change{Global: true})
		f.override(t, "s2", plainTool, presets.OverrideOff)
		f.override(t, "s1", plainTool, presets.OverrideOff)
		f.override(t, "s2", plainTool, presets.OverrideOn)
		wantChanges(t, "a burst about two sessions", s, presets.Change{Sessions: []messages.SessionID{"s1", "s2"}})
		f.runtime.Complete(f.id, "plain")
		f.runtime.Complete(f.id, "next")
		wantChanges(t, "turns that change nothing", s)
	})
}

func TestSyncTellsOfDecisions(t *testing.T) {
	t.Parallel()
	for verb, global := range map[presets.Verb]bool{presets.ApproveOnce: false, presets.ApproveAlways: true, presets.Deny: false} {
		synctest.Test(t, func(t *testing.T) {
			f, s := newSynced(t, nil)
			handle := f.runtime.Run(f.id, "call", actors.RunOptions{})
			f.pending(t)
			wantChanges(t, "an open question", s)
			f.decide(t, verb)
			f.runtime.Wait(handle)
			want := presets.Change{Sessions: []messages.SessionID{f.id}}
			if global {
				want = presets.Change{Global: true}
			}
			wantChanges(t, string(verb), s, want)
		})
	}
}

// TestSyncTellsOfAnApprovalAheadUntilItIsUsed follows a hidden tool: it is asked for, approved once, listed, used and gone.
func TestSyncTellsOfAnApprovalAheadUntilItIsUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, s := newSynced(t, &testkit.Options{Actors: actors.Options{Exposure: presets.Hidden}})
		ctx, mine := f.runtime.Context(), []presets.Change{{Sessions: []messages.SessionID{f.id}}}
		caller := presets.Caller{SessionID: f.id, AgentID: "a"}
		query := presets.Ask{
			Caller: caller, CallID: "c0", ToolID: riskyTool, Name: riskyTool, Risk: messages.RiskShell, Fingerprint: "f", Mode: presets.AskLater, Ahead: true,
		}
		if _, err := f.runtime.Approvals().Request(ctx, query); err != nil {
			t.Fatal(err)
		}
		f.decide(t, presets.ApproveOnce)
		wantChanges(t, "the approval ahead", s, mine...)
		query.CallID, query.Ahead, query.Mode = "c1", false, presets.AskWait
		if d, err := f.runtime.Approvals().Request(ctx, query); err != nil || d.Outcome != presets.OutcomeApproved {
			t.Fatalf("Request() = %+v, %v, want it approved once", d, err)
		}
		wantChanges(t, "its use", s, mine...)

		query.CallID, query.Ahead, query.Mode = "c2", true, presets.AskLater
		if _, err := f.runtime.Approvals().Request(ctx, query); err != nil {
			t.Fatal(err)
		}
		f.decide(t, presets.ApproveOnce)
		wantChanges(t, "the second approval ahead", s, mine...)
		<-time.After(time.Hour)
		wantChanges(t, "its expiry", s, mine...)
	})
}

func TestSyncTellsOfGrantsAndThePolicy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, s := newSynced(t, nil)
		ctx := f.runtime.Context()
		everybody, mine := presets.Change{Global: true}, presets.Change{Sessions: []messages.SessionID{f.id}}
		grant := func(answer presets.Answer) presets.GrantID {
			t.Helper()
			handle := f.runtime.Run(f.id, "call", actors.RunOptions{})
			answer.Verb, answer.Who = presets.ApproveAlways, "me"
			if err := f.runtime.Approvals().Decide(ctx, f.pending(t).ID, answer); err != nil {
				t.Fatal(err)
			}
			f.runtime.Wait(handle)
			grants, err := f.runtime.Approvals().Grants(ctx)
			if err != nil || len(grants) != 1 {
				t.Fatalf("Grants() = %+v, %v, want one", grants, err)
			}
			return grants[0].ID
		}
		id := grant(presets.Answer{})
		wantChanges(t, "a grant", s, everybody)
		if err := f.runtime.Approvals().Revoke(ctx, id); err != nil {
			t.Fatal(err)
		}
		wantChanges(t, "its revocation", s, everybody)
		grant(presets.Answer{Scope: presets.Scope{SessionID: f.id}, ExpiresAt: time.Now().Unix() + 5})
		wantChanges(t, "a grant with a scope", s, mine)
		<-time.After(8 * time.Second)
		wantChanges(t, "its expiry", s, mine)
		if err := f.runtime.Approvals().SetPolicy(ctx, presets.Policy{messages.RiskShell: presets.RuleAuto}); err != nil {
			t.Fatal(err)
		}
		wantChanges(t, "another policy", s, everybody)
	})
}

func TestSyncersOneCallAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, s := newSynced(t, nil)
		s.will(func(context.Context) error {
			<-time.After(time.Second)
			return nil
		})
		f.override(t, "s1", plainTool, presets.OverrideOff)
		<-time.After(100 * time.Millisecond)
		if status := statuses(t, f); !status[0].Running {
			t.Errorf("ToolSyncs() = %+v, want it running", status)
		}
		for _, session := range []messages.SessionID{"s2", "s3", "s4"} {
			f.override(t, session, plainTool, presets.OverrideOff)
			<-time.After(100 * time.Millisecond)
		}
		<-time.After(5 * time.Second)
		want := []presets.Change{{Sessions: []messages.SessionID{"s1"}}, {Sessions: []messages.SessionID{"s2", "s3", "s4"}}}
		wantChanges(t, "changes while it ran", s, want...)
		if s.most != 1 {
			t.Errorf("%d calls ran at once", s.most)
		}
		if status := statuses(t, f); status[0].Syncs != 3 || status[0].Running {
			t.Errorf("ToolSyncs() = %+v, want three calls and none running", status)
		}
	})
}

func statuses(t *testing.T, f *toolFixture) []actors.ToolSyncStatus {
	t.Helper()
	out, err := f.runtime.ToolSyncs(f.runtime.Context())
	if err != nil || len(out) == 0 {
		t.Fatalf("ToolSyncs() = %+v, %v", out, err)
	}
	return out
}

// TestBadSyncersHurtNobody has three that misbehave beside a good one.
func TestBadSyncersHurtNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, good := newSynced(t, nil)
		errBroken := errors.New("broken")
		failing, panicking, hanging := &syncer{}, &syncer{}, &syncer{}
		failing.will(func(context.Context) error { return errBroken })
		panicking.will(func(context.Context) error { panic("planned") })
		hanging.will(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		for _, s := range []*syncer{failing, panicking, hanging} {
			f.runtime.SyncTools(s)
		}
		failing.told()
		for range 3 {
			f.override(t, f.id, plainTool, presets.OverrideOff)
			wantChanges(t, "a change", good, presets.Change{Sessions: []messages.SessionID{f.id}})
			f.override(t, f.id, plainTool, presets.OverrideAuto)
			wantChanges(t, "a change", good, presets.Change{Sessions: []messages.SessionID{f.id}})
			f.runtime.Complete(f.id, "next")
		}
		status := statuses(t, f)
		if !errors.Is(status[1].Err, errBroken) || status[1].Syncs != 7 || status[2].Err == nil || status[2].Syncs != 7 || !status[3].Running {
			t.Errorf("ToolSyncs() = %+v, want the errors told, and one that hangs", status)
		}
		<-time.After(time.Minute)
		if status := statuses(t, f); !errors.Is(status[3].Err, context.DeadlineExceeded) {
			t.Errorf("ToolSyncs() = %+v, want the hanging one given up", status)
		}
		failing.will(nil)
		f.override(t, f.id, plainTool, presets.OverrideOff)
		failing.told()
		if status := statuses(t, f); status[1].Err != nil {
			t.Errorf("ToolSyncs() = %+v, want the error gone after a good call", status)
		}
	})
}

func TestSyncerIsRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newToolFixture(t, nil)
		s := &syncer{}
		cause := make(chan error, 1)
		s.will(func(ctx context.Context) error {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return ctx.Err()
		})
		remove := f.runtime.SyncTools(s)
		s.told()
		remove()
		if err := <-cause; errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the call ended with %v, want the removal as its cause", err)
		}
		f.override(t, f.id, plainTool, presets.OverrideOff)
		wantChanges(t, "removal and a change", s)
		remove()
		if left, err := f.runtime.ToolSyncs(f.runtime.Context()); err != nil || len(left) != 0 {
			t.Errorf("ToolSyncs() = %+v, %v, want none", left, err)
		}
	})
}

func TestStopEndsSyncs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, s := newSynced(t, nil)
		s.will(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		f.override(t, f.id, plainTool, presets.OverrideOff)
		s.told()
		manager := f.runtime.Presets()
		begun := time.Now()
		if err := f.runtime.Stop(f.runtime.Context()); err != nil || time.Since(begun) > time.Second {
			t.Errorf("Stop() = %v after %s", err, time.Since(begun))
		}
		if err := manager.SetOverride(f.runtime.Context(), f.id, plainTool, presets.OverrideOn); err != nil {
			t.Error(err)
		}
		wantChanges(t, "Stop and a change", s)
		f.runtime.SyncTools(s)()
		wantChanges(t, "SyncTools after Stop", s)
		if _, err := f.runtime.ToolSyncs(f.runtime.Context()); !errors.Is(err, actors.ErrStopping) {
			t.Errorf("ToolSyncs() after Stop = %v, want ErrStopping", err)
		}
	})
}

// TestStopNamesASyncThatDoesNotEnd has one that ignores its context.
func TestStopNamesASyncThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newToolFixture(t, nil)
		f.runtime.Abandon()
		s, release := &syncer{}, make(chan struct{})
		s.will(func(context.Context) error {
			<-release
			return nil
		})
		f.runtime.SyncTools(s)
		s.told()
		var unstopped *actors.UnstoppedError
		if err := f.runtime.Stop(f.runtime.Context()); !errors.As(err, &unstopped) || !slices.Contains(unstopped.Goroutines, "a sync of tools") {
			t.Errorf("Stop() = %v, want an error that names the sync", err)
		}
		close(release)
		f.runtime.VerifyStopped()
	})
}

// TestStormOfSyncs adds, removes and changes while the runtime stops.
func TestStormOfSyncs(t *testing.T) {
	t.Parallel()
	for range 10 {
		f := newToolFixture(t, nil)
		manager, ctx := f.runtime.Presets(), f.runtime.Context()
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				for range 20 {
					remove := f.runtime.SyncTools(&syncer{})
					_ = manager.SetOverride(ctx, f.id, plainTool, presets.OverrideOff)
					_ = manager.SetOverride(ctx, f.id, plainTool, presets.OverrideOn)
					remove()
				}
			})
		}
		wait.Go(func() {
			if err := f.runtime.Stop(ctx); err != nil {
				t.Error(err)
			}
		})
		wait.Wait()
	}
}
