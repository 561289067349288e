package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"agentd/messages"
	"agentd/persistence"
)

// contents are the promises about what is stored: all of it, and nothing else.
func contents() []promise {
	return []promise{
		{"every kind of change comes back", testKinds},
		{"a page is a window of the items", testPages},
		{"an unknown session is not found", testUnknown},
		{"an invalid id is refused", testInvalidIDs},
		{"a record over the limit is refused", testTooLarge},
		{"a malformed append is refused", testMalformed},
		{"the caller owns what it is given", testOwnership},
		{"an ended context does nothing", testEndedContext},
		{"a closed store refuses everything", testClosed},
	}
}

// everyChange is one of each kind, with every field set somewhere.
func everyChange() []messages.Change {
	turn := &messages.Turn{ID: "turn-1", Status: messages.TurnRunning, StartedAt: startTime}
	ended := &messages.Turn{ID: "turn-1", Status: messages.TurnCompleted, Result: "ok", StartedAt: startTime, EndedAt: startTime + 9}
	changes := []messages.Change{
		messages.TurnStarted{Turn: turn},
		messages.DataSet{Key: "provider-session", Value: json.RawMessage(`{"id":"x","n":[1,2.5,null]}`)},
		messages.DataSet{Key: "gone", Value: json.RawMessage(`1`)},
		messages.DataSet{Key: "gone"},
	}
	for i, kind := range []messages.ItemType{
		messages.ItemMessage, messages.ItemReasoning, messages.ItemToolCall, messages.ItemToolResult, messages.ItemEvent, messages.ItemError, "of-a-later-version",
	} {
		changes = append(changes, messages.ItemAppended{Item: &messages.Item{
			ID: messages.ItemID(fmt.Sprintf("itm-%d", i)), Type: kind, Role: messages.RoleAssistant,
			Content: "line\nbreak \u2028 \"quote\" <tag> \x00 ünï", Name: "space_drawing_insert_shape",
			Arguments: `{"shape":"circle"}`, Output: `{"ok":true}`, IsError: i%2 == 0, CallID: "call-1",
			Status: messages.CallCompleted, Error: "boom", EventType: "e", Data: json.RawMessage(`{"seq":7,"id":"other"}`),
			StreamStatus: messages.StreamComplete, ParentID: "itm-0", TurnID: "turn-1", Provider: "p", Model: "m",
			Usage:     &messages.Usage{InputTokens: 1, OutputTokens: 2, ReasoningTokens: 3, CacheReadTokens: 4},
			CreatedAt: startTime, UpdatedAt: startTime + 1,
		}})
	}
	updated := item(2)
	updated.Content = "updated"
	return append(changes, messages.ItemUpdated{Item: &updated}, messages.TurnEnded{Turn: ended})
}

func testKinds(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	w.must(everyChange()...)
	w.check()
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatalf("Fold = %v", err)
	}
	w.check()
	draft := item(1)
	draft.StreamStatus = messages.StreamStreaming
	w.must(messages.ItemUpdated{Item: &draft}, messages.TurnStarted{Turn: &messages.Turn{ID: "turn-2", Status: messages.TurnRunning}})
	w.check()
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatalf("Fold = %v", err)
	}
	w.check()
}

func testPages(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	w.fill(40)
	if err := store.Fold(t.Context(), "s1"); err != nil {
		t.Fatalf("Fold = %v", err)
	}
	w.fill(20)
	old, young := item(11), item(55)
	old.Content, young.Content = "changed", "changed"
	w.must(messages.ItemUpdated{Item: &old}, messages.ItemUpdated{Item: &young})
	for _, query := range []persistence.PageQuery{
		{},
		{Limit: 1},
		{Limit: 10},
		{Limit: 25},
		{Limit: 1000},
		{Limit: 1 << 40},
		{Limit: -1},
		{Before: -3, Limit: 2},
		{Before: 1, Limit: 5},
		{Before: 12, Limit: 5},
		{Before: 40, Limit: 5},
		{Before: 41, Limit: 5},
		{Before: 45, Limit: 10},
		{Before: 60, Limit: 60},
		{Before: 1000, Limit: 3},
	} {
		page, err := store.Page(t.Context(), "s1", query)
		if err != nil {
			t.Fatalf("Page(%+v) = %v", query, err)
		}
		start, end := query.Bounds(60)
		want := persistence.Page{Head: w.want.Head, Items: values(w.want.Items[start:end]), Start: start}
		if diff := diff(want, page); diff != "" {
			t.Errorf("Page(%+v) differs (-want +got):\n%s", query, diff)
		}
	}
	// Page after page, backwards, is the whole session.
	var all []messages.Item
	for before := 0; ; {
		page, err := store.Page(t.Context(), "s1", persistence.PageQuery{Before: before, Limit: 7})
		if err != nil {
			t.Fatalf("Page = %v", err)
		}
		all = append(append([]messages.Item(nil), page.Items...), all...)
		if before = page.Start; before == 0 {
			break
		}
	}
	if diff := diff(values(w.want.Items), all); diff != "" {
		t.Errorf("pages differ from the session (-want +got):\n%s", diff)
	}
}

func testUnknown(t *trial) {
	store := t.open(t)
	ctx := t.Context()
	_, _, err := store.Open(ctx, "nobody")
	wantError(t, "Open(unknown)", err, persistence.ErrNotFound)
	_, err = store.Read(ctx, "nobody")
	wantError(t, "Read(unknown)", err, persistence.ErrNotFound)
	_, err = store.Head(ctx, "nobody")
	wantError(t, "Head(unknown)", err, persistence.ErrNotFound)
	_, err = store.Page(ctx, "nobody", persistence.PageQuery{})
	wantError(t, "Page(unknown)", err, persistence.ErrNotFound)
	wantError(t, "Fold(unknown)", store.Fold(ctx, "nobody"), persistence.ErrNotFound)
	wantError(t, "Delete(unknown)", store.Delete(ctx, "nobody"), persistence.ErrNotFound)
	if got := store.UnfoldedOf("nobody"); got != (persistence.Unfolded{Session: "nobody"}) {
		t.Errorf("UnfoldedOf(unknown) = %+v, want nothing", got)
	}
	if _, err := store.Create(ctx, "claimed"); err != nil {
		t.Fatalf("Create = %v", err)
	}
	_, err = store.Read(ctx, "claimed")
	wantError(t, "Read(created, nothing stored)", err, persistence.ErrNotFound)
	if err != nil && !strings.Contains(err.Error(), "claimed") {
		t.Errorf("Read = %v, want the session's name in the error", err)
	}
}

func testInvalidIDs(t *trial) {
	store := t.open(t)
	ctx := t.Context()
	for _, id := range []messages.SessionID{
		"", "..", ".", "../x", "a/b", `a\b`, "a\x00b", "/etc/passwd", ".hidden", "-x", "a b", "é", messages.SessionID(strings.Repeat("x", 300)),
	} {
		calls := map[string]error{}
		_, calls["Create"] = store.Create(ctx, id)
		_, _, calls["Open"] = store.Open(ctx, id)
		_, calls["Read"] = store.Read(ctx, id)
		_, calls["Head"] = store.Head(ctx, id)
		_, calls["Page"] = store.Page(ctx, id, persistence.PageQuery{})
		calls["Fold"] = store.Fold(ctx, id)
		calls["Delete"] = store.Delete(ctx, id)
		calls["Commit"] = commit(t, store, persistence.Append{
			Handle: persistence.Handle{Session: id, Epoch: 1}, ID: 1,
			Records: []messages.Record{{Seq: 1, Kind: messages.KindCreated, Body: []byte(`{"agent-id":"a","epoch":1}`)}},
		})
		for call, err := range calls {
			var invalid *messages.InvalidIDError
			if !errors.As(err, &invalid) {
				t.Errorf("%s(%.20q) = %v, want an invalid id", call, id, err)
			}
		}
	}
	listing, err := store.List(ctx)
	if err != nil || len(listing.Sessions)+len(listing.Bad) > 0 {
		t.Errorf("List = %+v, %v, want nothing", listing, err)
	}
}

func testTooLarge(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	a := w.next(messages.ItemAppended{Item: new(item(0))}, messages.ItemAppended{Item: new(item(1))})
	huge := make([]byte, persistence.MaxRecordBytes+1)
	for i := range huge {
		huge[i] = ' '
	}
	huge[0], huge[len(huge)-1] = '{', '}'
	good := a.Records[1].Body
	a.Records[1].Body = huge
	wantError(t, "Commit(too large)", commit(t, store, a), persistence.ErrTooLarge)
	w.check()
	a.Records[1].Body = good
	if err := commit(t, store, a); err != nil {
		t.Errorf("Commit of the same append in a good size = %v, want the handle alive", err)
	}
	w.stored(a)
	longest := item(2)
	longest.Content = strings.Repeat("x", messages.MaxItemBytes)
	w.must(messages.ItemAppended{Item: &longest})
	for range 2 {
		doc, err := store.Read(t.Context(), "s1")
		if err != nil || len(doc.Items) != 3 || doc.Items[2].Content != longest.Content {
			t.Fatalf("Read = %v, want the longest item as it was written", err)
		}
		if err := store.Fold(t.Context(), "s1"); err != nil {
			t.Fatalf("Fold = %v", err)
		}
	}
}

func testMalformed(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	for name, spoil := range map[string]func(*persistence.Append){
		"no records":        func(a *persistence.Append) { a.Records = nil },
		"a line break":      func(a *persistence.Append) { a.Records[0].Body = []byte("{\n}") },
		"not an object":     func(a *persistence.Append) { a.Records[0].Body = []byte("12") },
		"an empty body":     func(a *persistence.Append) { a.Records[0].Body = nil },
		"no kind":           func(a *persistence.Append) { a.Records[0].Kind = "" },
		"a quote in a kind": func(a *persistence.Append) { a.Records[0].Kind = `x"y` },
	} {
		a := w.next(messages.ItemAppended{Item: new(item(0))})
		spoil(&a)
		if err := commit(t, store, a); err == nil || !persistence.IsPermanent(err) {
			t.Errorf("Commit(%s) = %v, want a permanent error", name, err)
		}
	}
	w.must(messages.ItemAppended{Item: new(item(0))})
	w.check()
}

func testOwnership(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	a := w.next(messages.DataSet{Key: "k", Value: json.RawMessage(`1`)}, messages.ItemAppended{Item: new(item(0))}, messages.TurnStarted{Turn: &messages.Turn{ID: "t"}})
	if err := commit(t, store, a); err != nil {
		t.Fatalf("Commit = %v", err)
	}
	w.stored(a)
	for i := range a.Records {
		clear(a.Records[i].Body)
	}
	clear(a.Records)
	for range 2 {
		doc, err := store.Read(t.Context(), "s1")
		if err != nil {
			t.Fatalf("Read = %v", err)
		}
		doc.Items[0].Content = "spoilt"
		doc.Head.Turn.Result = "spoilt"
		doc.Head.Data["k"] = json.RawMessage(`"spoilt"`)
		page, err := store.Page(t.Context(), "s1", persistence.PageQuery{})
		if err != nil {
			t.Fatalf("Page = %v", err)
		}
		page.Items[0].Content = "spoilt"
		page.Head.Data["k"] = json.RawMessage(`"spoilt"`)
		w.check()
		if err := store.Fold(t.Context(), "s1"); err != nil {
			t.Fatalf("Fold = %v", err)
		}
	}
	w.check()
}

func testEndedContext(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	ctx, cancel := contextWithCancel(t)
	cancel()
	a := w.next(messages.ItemAppended{Item: new(item(0))})
	if err := store.Commit(ctx, []persistence.Append{a})[0]; err == nil {
		t.Error("Commit(ended context) = nil, want an error")
	}
	w.check()
	if err := commit(t, store, a); err != nil {
		t.Errorf("Commit afterwards = %v", err)
	}
}

func testClosed(t *trial) {
	store := t.open(t)
	w := create(t, store, "s1")
	ctx := t.Context()
	a := w.next(messages.ItemAppended{Item: new(item(0))})
	if err := store.Close(ctx); err != nil {
		t.Fatalf("Close = %v", err)
	}
	calls := map[string]error{"Commit": commit(t, store, a), "Fold": store.Fold(ctx, "s1"), "Delete": store.Delete(ctx, "s1")}
	_, calls["Create"] = store.Create(ctx, "s2")
	_, _, calls["Open"] = store.Open(ctx, "s1")
	_, calls["Read"] = store.Read(ctx, "s1")
	_, calls["Head"] = store.Head(ctx, "s1")
	_, calls["Page"] = store.Page(ctx, "s1", persistence.PageQuery{})
	_, calls["List"] = store.List(ctx)
	for call, err := range calls {
		wantError(t, call+" after Close", err, persistence.ErrClosed)
	}
	if err := store.Close(ctx); err != nil {
		t.Errorf("Close again = %v, want nil", err)
	}
}

// values are the items as a page has them.
func values(items []*messages.Item) []messages.Item {
	page := make([]messages.Item, 0, len(items))
	for _, item := range items {
		page = append(page, *item)
	}
	return page
}
