package jsonfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
)

// testTime is the time of every record in tests, in Unix seconds.
const testTime = 1_700_000_000

// record encodes a change.
func record(tb testing.TB, seq uint64, change messages.Change) messages.Record {
	tb.Helper()
	rec, err := messages.EncodeChange(seq, testTime, change)
	if err != nil {
		tb.Fatal(err)
	}
	return rec
}

// message returns an item of about the size that a turn's messages have.
func message(number int) messages.Item {
	return messages.Item{
		ID: messages.ItemID(fmt.Sprintf("itm-%032d", number)), Type: messages.ItemMessage, Role: messages.RoleAssistant,
		Content: strings.Repeat("some words ", 20), CreatedAt: testTime,
	}
}

// open opens a store and closes it after the test.
func open(tb testing.TB, dir string, opts *jsonfile.Options) *jsonfile.Store {
	tb.Helper()
	store, err := jsonfile.Open(dir, opts)
	if err != nil {
		tb.Fatalf("Open(%q) = %v", dir, err)
	}
	tb.Cleanup(func() {
		if err := store.Close(tb.Context()); err != nil {
			tb.Logf("Close = %v", err)
		}
	})
	return store
}

// mustCommit commits one append.
func mustCommit(tb testing.TB, store persistence.Store, a persistence.Append) {
	tb.Helper()
	if err := store.Commit(tb.Context(), []persistence.Append{a})[0]; err != nil {
		tb.Fatalf("Commit(%q after %d) = %v", a.Handle.Session, a.After, err)
	}
}

// begin creates a session and commits its first record.
func begin(tb testing.TB, store persistence.Store, id messages.SessionID) persistence.Handle {
	tb.Helper()
	handle, err := store.Create(tb.Context(), id)
	if err != nil {
		tb.Fatalf("Create(%q) = %v", id, err)
	}
	mustCommit(tb, store, persistence.Append{Handle: handle, ID: 1, Records: []messages.Record{
		record(tb, 1, messages.Created{AgentID: "local", Epoch: handle.Epoch}),
	}})
	return handle
}

// writeSnapshot writes a stored session of count items into a data directory.
func writeSnapshot(tb testing.TB, dir string, id messages.SessionID, count int) {
	tb.Helper()
	sessions := filepath.Join(dir, "agent-sessions")
	if err := os.MkdirAll(sessions, 0o700); err != nil {
		tb.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, `{"schema":%q,"id":%q,"agent-id":"local","status":"idle","created-at":%d,"updated-at":%d,`+
		`"item-count":%d,"last-seq":%d,"epoch":1,"data":{},"items":[`, messages.Schema, id, testTime, testTime, count, count+1)
	for i := range count {
		if i > 0 {
			text.WriteByte(',')
		}
		rec := record(tb, uint64(i+2), messages.ItemAppended{Item: new(message(i))})
		text.WriteByte('\n')
		text.Write(rec.Body)
	}
	text.WriteString("\n]}\n")
	if err := os.WriteFile(filepath.Join(sessions, string(id)+".json"), []byte(text.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
}
