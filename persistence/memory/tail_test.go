package memory

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentd/messages"
)

func TestTailKeepsRecordsInOrder(t *testing.T) {
	t.Parallel()
	var queue tail
	var want []messages.Record
	for i := range 500 {
		body := []byte(`{"text":"` + strings.Repeat("x", (i*i*37)%5000) + `"}`)
		if i == 300 {
			body = []byte(`{"text":"` + strings.Repeat("y", 3*lastBlock) + `"}`)
		}
		rec := messages.Record{Seq: uint64(i) + 1, Kind: messages.KindItem, At: int64(i) - 5, Body: body}
		queue.push(&rec)
		rec.Body = append([]byte(nil), body...)
		want = append(want, rec)
		clear(body) // The writer uses its memory again.
		if i%7 == 0 {
			checkFirst(t, &queue, want[0])
			want = want[1:]
		}
	}
	for _, rec := range want {
		checkFirst(t, &queue, rec)
	}
	if _, _, ok := queue.first(); ok || queue.blocks != nil {
		t.Errorf("an empty tail has %d blocks, want none", len(queue.blocks))
	}
}

func checkFirst(t *testing.T, queue *tail, want messages.Record) {
	t.Helper()
	got, size, ok := queue.first()
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Fatalf("first() = %v, want the oldest (-want +got):\n%s", ok, diff)
	}
	queue.drop(size)
}
