package jsonfile_test

import (
	"context"
	"fmt"
	"os"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile"
)

// Example stores a session, closes the store, and reads the session from its snapshot.
func Example() {
	if err := storeAndRead(); err != nil {
		fmt.Println(err)
	}
	// Output: "hello" by user, last record 2
}

func storeAndRead() error {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "agentd-example-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := jsonfile.Open(dir, nil)
	if err != nil {
		return err
	}
	handle, err := store.Create(ctx, "agt-ses-1")
	if err != nil {
		return err
	}
	var records []messages.Record
	for i, change := range []messages.Change{
		messages.Created{AgentID: "local", Epoch: handle.Epoch},
		messages.ItemAppended{Item: &messages.Item{ID: "itm-1", Type: messages.ItemMessage, Role: messages.RoleUser, Content: "hello"}},
	} {
		rec, err := messages.EncodeChange(uint64(i+1), 1_700_000_000, change)
		if err != nil {
			return err
		}
		records = append(records, rec)
	}
	if err := store.Commit(ctx, []persistence.Append{{Handle: handle, ID: 1, Records: records}})[0]; err != nil {
		return err
	}
	if err := store.Close(ctx); err != nil {
		return err
	}
	if store, err = jsonfile.Open(dir, nil); err != nil {
		return err
	}
	doc, err := store.Read(ctx, "agt-ses-1")
	if err != nil {
		return err
	}
	fmt.Printf("%q by %s, last record %d\n", doc.Items[0].Content, doc.Items[0].Role, doc.Head.LastSeq)
	return store.Close(ctx)
}
