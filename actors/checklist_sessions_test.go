package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentd/actors"
	"agentd/messages"
	"agentd/persistence"
	"agentd/testkit"
)

// The acceptance checklist of sessions. The number in a name is that of the checklist.

func TestChecklist01CreatedSessionIsIdleAndDurable(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Script{}, nil)
	head, err := rt.CreateSession(rt.Context(), "a", actors.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	doc := stored(t, rt.Store, head.ID)
	if diff := cmp.Diff(head, doc.Head); diff != "" {
		t.Errorf("the stored head differs from the one that was returned (-returned +stored):\n%s", diff)
	}
	if head.Status != messages.SessionIdle || len(doc.Items) > 0 || len(head.Data) > 0 || head.CreatedAt == 0 || head.UpdatedAt == 0 ||
		!strings.HasPrefix(string(head.ID), messages.SessionPrefix) || head.AgentID != "a" {
		t.Errorf("CreateSession() = %+v, want an idle, empty session with both times and a fresh id", head)
	}
}

func TestChecklist01CreateOptions(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Script{}, nil)
	data := map[string]json.RawMessage{"k": json.RawMessage(`[1]`)}
	head, err := rt.CreateSession(rt.Context(), "a", actors.CreateOptions{ID: "mine", Data: data})
	if err != nil || head.ID != "mine" || cmp.Diff(data, head.Data) != "" {
		t.Errorf("CreateSession(mine) = %+v, %v, want the id and the data", head, err)
	}
	_, err = rt.CreateSession(rt.Context(), "a", actors.CreateOptions{ID: "mine"})
	wantError(t, "CreateSession(taken)", err, persistence.ErrExists, "mine")
	for name, opts := range map[string]actors.CreateOptions{
		"no JSON":      {Data: map[string]json.RawMessage{"k": json.RawMessage(`{`)}},
		"empty key":    {Data: map[string]json.RawMessage{"": json.RawMessage(`1`)}},
		"slash in id":  {ID: "a/b"},
		"dots":         {ID: ".."},
		"NUL in id":    {ID: "a\x00b"},
		"300 bytes id": {ID: messages.SessionID(strings.Repeat("x", 300))},
	} {
		if _, err := rt.CreateSession(rt.Context(), "a", opts); err == nil {
			t.Errorf("CreateSession(%s) = nil, want an error", name)
		}
	}
	if _, err := rt.CreateSession(rt.Context(), "a b", actors.CreateOptions{}); err == nil {
		t.Error("CreateSession(bad agent id) = nil, want an error")
	}
}

func TestChecklist02PassivatedSessionComesBackEqual(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := start(t, testkit.Script{testkit.Say("hello"), testkit.SetData("k", 1), testkit.Finish("done")}, nil)
		id := rt.Create("a", "")
		rt.Complete(id, "hi")
		before := rt.View(id)
		<-time.After(2 * actors.DefaultIdleTimeout)
		synctest.Wait()
		if live := rt.Live(); live.Sessions != 0 {
			t.Fatalf("Live() = %+v after the idle timeout, want no session", live)
		}
		sub := rt.Watch(id, actors.SubscribeOptions{}) // Wakes it.
		defer sub.Close()
		after := rt.View(id)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("the session changed while it was out of memory (-before +after):\n%s", diff)
		}
	})
}

func TestChecklist03UnknownSession(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Script{}, nil)
	calls := map[string]func() error{
		"Session":   func() error { _, err := rt.Session(rt.Context(), "nope"); return err },
		"Page":      func() error { _, err := rt.Page(rt.Context(), "nope", persistence.PageQuery{}); return err },
		"RunTurn":   func() error { _, err := rt.RunTurn(rt.Context(), "nope", "hi", actors.RunOptions{}); return err },
		"SetData":   func() error { return rt.SetData(rt.Context(), "nope", "k", 1) },
		"Subscribe": func() error { _, err := rt.Subscribe(rt.Context(), "nope", actors.SubscribeOptions{}); return err },
	}
	for name, call := range calls {
		wantError(t, name+"(nope)", call(), persistence.ErrNotFound, "nope")
	}
	if err := rt.CancelTurn(rt.Context(), "nope"); err != nil {
		t.Errorf("CancelTurn(nope) = %v, want nil", err)
	}
	if live := rt.Live(); live.Sessions != 0 {
		testkit.Eventually(t, "no actor of an unknown session stays", func() error {
			if live := rt.Live(); live.Sessions != 0 {
				return fmt.Errorf("%+v", live)
			}
			return nil
		})
	}
}

func TestChecklist03BadIDsAreNamed(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Script{}, nil)
	for _, id := range []messages.SessionID{"", "a/b", "..", "a\x00b", messages.SessionID(strings.Repeat("x", 300))} {
		calls := map[string]func() error{
			"Session":   func() error { _, err := rt.Session(rt.Context(), id); return err },
			"Page":      func() error { _, err := rt.Page(rt.Context(), id, persistence.PageQuery{}); return err },
			"RunTurn":   func() error { _, err := rt.RunTurn(rt.Context(), id, "hi", actors.RunOptions{}); return err },
			"SetData":   func() error { return rt.SetData(rt.Context(), id, "k", 1) },
			"Subscribe": func() error { _, err := rt.Subscribe(rt.Context(), id, actors.SubscribeOptions{}); return err },
			"Delete":    func() error { return rt.DeleteSession(rt.Context(), id) },
		}
		for name, call := range calls {
			var invalid *messages.InvalidIDError
			if err := call(); !errors.As(err, &invalid) {
				t.Errorf("%s(%.20q) = %v, want an InvalidIDError", name, id, err)
			}
		}
	}
}

func TestChecklist04And07CorruptSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rt := start(t, testkit.Script{testkit.Finish("ok")}, &testkit.Options{Dir: dir})
	good, bad := rt.Create("a", "good"), rt.Create("a", "bad")
	rt.Complete(good, "hi")
	rt.Complete(bad, "hi")
	if err := rt.Stop(rt.Context()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "agent-sessions", "bad.json")
	if err := os.WriteFile(path, []byte("{ not JSON"), 0o600); err != nil {
		t.Fatal(err)
	}
	rt = start(t, testkit.Script{testkit.Finish("ok")}, &testkit.Options{Dir: dir})
	_, err := rt.Session(rt.Context(), bad)
	wantError(t, "Session(bad)", err, persistence.ErrCorrupt, "bad")
	_, err = rt.RunTurn(rt.Context(), bad, "hi", actors.RunOptions{})
	wantError(t, "RunTurn(bad)", err, persistence.ErrCorrupt, "bad")
	wantError(t, "DeleteSession(bad)", rt.DeleteSession(rt.Context(), bad), persistence.ErrCorrupt, "bad")
	listing, err := rt.ListSessions(rt.Context())
	if err != nil || len(listing.Sessions) != 1 || listing.Sessions[0].ID != good || len(listing.Bad) != 1 || listing.Bad[0].ID != bad {
		t.Errorf("ListSessions() = %+v, %v, want the good one, and the bad one by name", listing, err)
	}
	rt.Complete(good, "hi again")
	if text, err := os.ReadFile(path); err != nil || string(text) != "{ not JSON" {
		t.Errorf("the corrupt file holds %q, %v, want it untouched", text, err)
	}
}

func TestChecklist05And06Listing(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Script{testkit.Say("x"), testkit.Finish("ok")}, nil)
	if listing, err := rt.ListSessions(rt.Context()); err != nil || len(listing.Sessions)+len(listing.Bad) > 0 {
		t.Errorf("ListSessions() = %+v, %v, want an empty list", listing, err)
	}
	one, two := rt.Create("a", "one"), rt.Create("a", "two")
	rt.Complete(one, "hi")
	listing, err := rt.ListSessions(rt.Context())
	if err != nil || len(listing.Sessions) != 2 {
		t.Fatalf("ListSessions() = %+v, %v, want both", listing, err)
	}
	counts := map[messages.SessionID]int{}
	for _, head := range listing.Sessions {
		counts[head.ID] = head.ItemCount
	}
	if want := map[messages.SessionID]int{one: 2, two: 0}; cmp.Diff(want, counts) != "" {
		t.Errorf("ListSessions() counts items as %v, want %v", counts, want)
	}
}

func TestChecklist08DeletedSessionIsGone(t *testing.T) {
	t.Parallel()
	rt := start(t, testkit.Script{testkit.Finish("ok")}, nil)
	id := rt.Create("a", "")
	sub := rt.Watch(id, actors.SubscribeOptions{})
	rt.Complete(id, "hi")
	for range 2 {
		if err := rt.DeleteSession(rt.Context(), id); err != nil {
			t.Fatalf("DeleteSession() = %v, want nil, also again", err)
		}
	}
	if err := rt.DeleteSession(rt.Context(), "never-there"); err != nil {
		t.Errorf("DeleteSession(unknown) = %v, want nil", err)
	}
	sub.Expect(testkit.Want{Kind: messages.EventDeleted})
	_, err := rt.Session(rt.Context(), id)
	wantError(t, "Session(deleted)", err, persistence.ErrDeleted, string(id))
	_, err = rt.RunTurn(rt.Context(), id, "hi", actors.RunOptions{})
	wantError(t, "RunTurn(deleted)", err, persistence.ErrDeleted, string(id))
	_, err = rt.CreateSession(rt.Context(), "a", actors.CreateOptions{ID: id})
	wantError(t, "CreateSession(deleted)", err, persistence.ErrDeleted, string(id))
}

func TestChecklist09ItemsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	usage := &messages.Usage{InputTokens: 3, OutputTokens: 4}
	script := testkit.Script{
		testkit.Append(messages.Item{Type: messages.ItemReasoning, Content: "hmm", Provider: "p", Model: "m"}),
		testkit.Append(messages.Item{Type: messages.ItemToolCall, CallID: "c1", Name: "space_x", Arguments: `{"a":1}`, Provider: "p", Status: messages.CallCompleted}),
		testkit.Append(messages.Item{Type: messages.ItemToolResult, CallID: "c1", Name: "space_x", Output: "out", IsError: true, ParentID: "x"}),
		testkit.Append(messages.Item{Type: messages.ItemEvent, EventType: "thing", Data: json.RawMessage(`{"b":[1,2]}`)}),
		testkit.Append(messages.Item{Type: messages.ItemError, Error: "a warning"}),
		testkit.Append(messages.Item{Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: "Done é\u2028.", Provider: "p", Model: "m", Usage: usage}),
		testkit.Finish("ok"),
	}
	rt := start(t, script, &testkit.Options{Dir: dir})
	id := rt.Create("a", "")
	rt.Complete(id, "hi")
	before := rt.View(id)
	if err := rt.Stop(rt.Context()); err != nil {
		t.Fatal(err)
	}
	rt = start(t, script, &testkit.Options{Dir: dir})
	if diff := cmp.Diff(before, rt.View(id)); diff != "" {
		t.Errorf("the session differs after a restart (-before +after):\n%s", diff)
	}
	if len(before.Items) != 7 || before.Items[6].Usage == nil || *before.Items[6].Usage != *usage {
		t.Errorf("the session has the items %+v, want seven", before.Items)
	}
}

func TestChecklist10And11And12ItemsThatAreRefused(t *testing.T) {
	t.Parallel()
	errs := make(chan error, 8)
	rt := start(t, testkit.Script{
		testkit.Append(messages.Item{ID: "itm-1", Type: messages.ItemReasoning, Content: "first"}),
		testkit.Told(errs, testkit.Append(messages.Item{Content: "no type"})),
		testkit.Told(errs, testkit.Append(messages.Item{ID: "itm-1", Type: messages.ItemReasoning, Content: "second"})),
		testkit.Told(errs, func(_ context.Context, turn *actors.TurnContext) error {
			_, err := turn.Turn.UpdateItem(messages.Item{ID: "itm-9", Content: "x"})
			return err
		}),
		testkit.Told(errs, testkit.Append(messages.Item{ID: "a\x00b", Type: messages.ItemReasoning})),
		testkit.Told(errs, testkit.Append(messages.Item{Type: messages.ItemReasoning, Content: strings.Repeat("x", messages.MaxItemBytes+1)})),
		testkit.Told(errs, testkit.Append(messages.Item{Type: messages.ItemEvent, Data: json.RawMessage(`{`)})),
		testkit.Told(errs, func(_ context.Context, turn *actors.TurnContext) error { return turn.Turn.SetData("", 1) }),
		testkit.Told(errs, func(_ context.Context, turn *actors.TurnContext) error { return turn.Turn.SetData("k", make(chan int)) }),
		testkit.Finish("ok"),
	}, nil)
	id := rt.Create("a", "")
	rt.Complete(id, "hi")
	for i, names := range []string{"type", "itm-1", "itm-9", "control", "limit", "JSON", "key", "k"} {
		wantError(t, fmt.Sprintf("step %d", i), <-errs, nil, names)
	}
	view := rt.View(id)
	if len(view.Items) != 2 || view.Items[1].Content != "first" || len(view.Head.Data) > 0 {
		t.Errorf("the session has %+v and data %v, want the input and the first item, unchanged", view.Items, view.Head.Data)
	}
}

func TestChecklist12And13Upserts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := testkit.NewGate()
		rt := start(t, testkit.Script{
			testkit.Upsert(messages.Item{ID: "itm-1", Type: messages.ItemMessage, Role: messages.RoleAssistant, Content: "one", Model: "m"}),
			testkit.Say("two"),
			gate.Wait(),
			testkit.Upsert(messages.Item{ID: "itm-1", Content: "changed", Provider: "p"}),
			testkit.Finish("ok"),
		}, nil)
		id := rt.Create("a", "")
		var told []string
		done := make(chan struct{})
		handle := rt.Run(id, "hi", actors.RunOptions{Callbacks: &actors.Callbacks{
			OnItem:     func(item messages.Item) { told = append(told, "item "+item.Content) },
			OnUpdate:   func(item messages.Item) { told = append(told, "update "+item.Content) },
			OnComplete: func(messages.Turn) { close(done) },
		}})
		<-gate.Reached()
		created := rt.View(id).Items[1].CreatedAt
		<-time.After(time.Minute)
		gate.Open()
		rt.Wait(handle)
		<-done
		if want := []string{"item one", "item two", "update changed"}; cmp.Diff(want, told) != "" {
			t.Errorf("the callbacks were told %q, want %q", told, want)
		}
		item := rt.View(id).Items[1]
		if item.ID != "itm-1" || item.Content != "changed" || item.Model != "m" || item.Provider != "p" || item.CreatedAt != created || item.UpdatedAt != created+60 {
			t.Errorf("the updated item is %+v, want it merged, in its place, created at %d", item, created)
		}
	})
}

func TestChecklist15BytesOfAnAppendDoNotGrow(t *testing.T) {
	t.Parallel()
	many := make([]messages.Item, 1000)
	for i := range many {
		many[i] = assistant(strings.Repeat("x", 50))
	}
	rt := start(t, testkit.Scripts{
		"many": {testkit.Finish("ok", many...)},
		"one":  {testkit.Say("just this"), testkit.Finish("ok")},
	}, &testkit.Options{Dir: t.TempDir(), Actors: actors.Options{FoldDelay: time.Hour}})
	id := rt.Create("a", "s")
	cost := func() int64 {
		before := rt.Store.UnfoldedOf(id).JournalBytes
		rt.Wait(rt.Run(id, "one", actors.RunOptions{TurnID: messages.NewTurnID()}))
		return rt.Store.UnfoldedOf(id).JournalBytes - before
	}
	rt.Complete(id, "one")
	short := cost()
	for range 10 {
		rt.Complete(id, "many")
	}
	long := cost()
	if short <= 0 || long > short+64 { // Sequence numbers have more digits.
		t.Errorf("a turn writes %d bytes with 4 items before it, and %d with 10,000", short, long)
	}
}
