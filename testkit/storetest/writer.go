package storetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"agentd/messages"
	"agentd/persistence"
)

// startTime is the time of the first record, in Unix seconds. Each record is a second later.
const startTime = 1_700_000_000

// writer writes one session, and knows what it must hold.
type writer struct {
	tb     testing.TB
	store  persistence.Store
	handle persistence.Handle
	want   *messages.Document
	lastID uint64
}

// create makes a session and stores its first record.
func create(tb testing.TB, store persistence.Store, id messages.SessionID) *writer {
	tb.Helper()
	handle, err := store.Create(tb.Context(), id)
	if err != nil {
		tb.Fatalf("Create(%q) = %v", id, err)
	}
	w := &writer{tb: tb, store: store, handle: handle, want: messages.NewDocument(id)}
	w.must(messages.Created{AgentID: "local", Epoch: handle.Epoch})
	return w
}

// take opens a stored session and claims it.
func take(tb testing.TB, store persistence.Store, id messages.SessionID) *writer {
	tb.Helper()
	handle, doc, err := store.Open(tb.Context(), id)
	if err != nil {
		tb.Fatalf("Open(%q) = %v", id, err)
	}
	w := &writer{tb: tb, store: store, handle: handle, want: doc}
	w.must(messages.Opened{Epoch: handle.Epoch})
	return w
}

// next makes the append that follows.
func (w *writer) next(changes ...messages.Change) persistence.Append {
	w.tb.Helper()
	w.lastID++
	after := w.want.Head.LastSeq
	a := persistence.Append{Handle: w.handle, ID: w.lastID, After: after}
	for i, change := range changes {
		seq := after + 1 + uint64(i)
		rec, err := messages.EncodeChange(seq, startTime+int64(seq), change)
		if err != nil {
			w.tb.Fatal(err)
		}
		a.Records = append(a.Records, rec)
	}
	return a
}

// stored notes that an append is stored.
func (w *writer) stored(a persistence.Append) {
	w.tb.Helper()
	apply(w.tb, w.want, a)
}

func apply(tb testing.TB, doc *messages.Document, a persistence.Append) {
	tb.Helper()
	for _, rec := range a.Records {
		change, err := messages.DecodeRecord(rec)
		if err == nil {
			err = doc.Apply(rec.Seq, rec.At, change)
		}
		if err != nil {
			tb.Fatalf("the test's own document: %v", err)
		}
	}
}

// try commits changes as one append.
func (w *writer) try(changes ...messages.Change) error {
	w.tb.Helper()
	a := w.next(changes...)
	err := commit(w.tb, w.store, a)
	if err == nil {
		w.stored(a)
	}
	return err
}

func (w *writer) must(changes ...messages.Change) {
	w.tb.Helper()
	if err := w.try(changes...); err != nil {
		w.tb.Fatalf("Commit(%q) = %v", w.handle.Session, err)
	}
}

// fill appends items, several in each append.
func (w *writer) fill(count int) {
	w.tb.Helper()
	const each = 7
	for have := len(w.want.Items); count > 0; {
		var changes []messages.Change
		for range min(each, count) {
			changes = append(changes, messages.ItemAppended{Item: new(item(have))})
			have++
			count--
		}
		w.must(changes...)
	}
}

// item is a message whose id and text tell its number.
func item(number int) messages.Item {
	return messages.Item{
		ID: messages.ItemID(fmt.Sprintf("itm-%d", number)), Type: messages.ItemMessage, Role: messages.RoleAssistant,
		Content: fmt.Sprintf("text \"%d\"\n%s", number, strings.Repeat("é", number%50)), CreatedAt: startTime,
	}
}

// commit commits one append.
func commit(tb testing.TB, store persistence.Store, a persistence.Append) error {
	tb.Helper()
	errs := store.Commit(tb.Context(), []persistence.Append{a})
	if len(errs) != 1 {
		tb.Fatalf("Commit returned %d errors for one append", len(errs))
	}
	return errs[0]
}

// check compares what the store has with what the writer wrote.
func (w *writer) check() {
	w.tb.Helper()
	expect(w.tb, w.store, w.want)
}

// expect compares every way of reading a session with a document.
func expect(tb testing.TB, store persistence.Store, want *messages.Document) {
	tb.Helper()
	id := want.Head.ID
	got, err := store.Read(tb.Context(), id)
	if err != nil {
		tb.Fatalf("Read(%q) = %v", id, err)
	}
	if diff := diff(want, got); diff != "" {
		tb.Fatalf("Read(%q) differs (-want +got):\n%s", id, diff)
	}
	head, err := store.Head(tb.Context(), id)
	if diff := diff(want.Head, head); err != nil || diff != "" {
		tb.Fatalf("Head(%q) = %v, differs (-want +got):\n%s", id, err, diff)
	}
	page, err := store.Page(tb.Context(), id, persistence.PageQuery{Limit: 5})
	start := max(0, len(want.Items)-5)
	wantPage := persistence.Page{Head: want.Head, Items: values(want.Items[start:]), Start: start}
	if diff := diff(wantPage, page); err != nil || diff != "" {
		tb.Fatalf("Page(%q) = %v, differs (-want +got):\n%s", id, err, diff)
	}
}

// diff tells how two values differ, or nothing. Values with the same JSON are the same, which is much faster to find out.
func diff(want, got any) string {
	wantText, wantErr := json.Marshal(want)
	gotText, gotErr := json.Marshal(got)
	if wantErr == nil && gotErr == nil && bytes.Equal(wantText, gotText) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(messages.Document{}))
}

// wantError checks the kind of an error.
func wantError(tb testing.TB, call string, err, want error) {
	tb.Helper()
	if !errors.Is(err, want) {
		tb.Errorf("%s = %v, want %v", call, err, want)
	}
}
