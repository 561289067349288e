package memory_test

import (
	"fmt"
	"testing"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/memory"
)

// BenchmarkCommit is the throughput of batches of one append for each of 500 sessions.
func BenchmarkCommit(b *testing.B) {
	store := memory.New()
	batch := make([]persistence.Append, 500)
	for i := range batch {
		handle, err := store.Create(b.Context(), messages.SessionID(fmt.Sprint("s", i)))
		if err != nil {
			b.Fatal(err)
		}
		created, err := messages.EncodeChange(1, 1, messages.Created{AgentID: "a", Epoch: 1})
		if err != nil {
			b.Fatal(err)
		}
		batch[i] = persistence.Append{Handle: handle, ID: 1, Records: []messages.Record{created}}
	}
	store.Commit(b.Context(), batch)
	item, err := messages.EncodeChange(1, 1, messages.ItemAppended{Item: &messages.Item{ID: "i", Type: messages.ItemMessage, Content: "some text"}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := range batch {
			batch[i].ID++
			batch[i].After += uint64(len(batch[i].Records))
			item.Seq = batch[i].After + 1
			batch[i].Records = []messages.Record{item}
		}
		for _, err := range store.Commit(b.Context(), batch) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N*len(batch))/b.Elapsed().Seconds(), "appends/s")
}
