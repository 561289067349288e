package jsonfile_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"agentd/messages"
	"agentd/persistence"
)

// A folded session reads as it did before, whether its records are kept in memory for that or read twice, and whichever of its items were
// updated: some that the snapshot has, some that only the journal has, several times, in any order.
func TestFoldKeepsUpdatedItems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		text int // bytes of each item
	}{{"kept in memory", 10}, {"read twice", 100_000}} {
		for _, updates := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/updates=%v", tc.name, updates), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // The session is to be the same each time.
				store := open(t, t.TempDir(), nil)
				handle := begin(t, store, "s1")
				seq, items := uint64(1), 0
				change := func() messages.Change {
					number, again := items, updates && items > 0 && r.IntN(2) == 0
					if again {
						number = r.IntN(items)
					} else {
						items++
					}
					item := message(number)
					item.Content = fmt.Sprintf("%d ", r.IntN(1000)) + strings.Repeat("x", tc.text)
					if again {
						return messages.ItemUpdated{Item: &item}
					}
					return messages.ItemAppended{Item: &item}
				}
				for round := range 3 {
					for range 80 {
						seq++
						mustCommit(t, store, persistence.Append{Handle: handle, ID: seq, After: seq - 1, Records: []messages.Record{record(t, seq, change())}})
					}
					before, err := store.Read(t.Context(), "s1")
					if err != nil {
						t.Fatal(err)
					}
					if err := store.Fold(t.Context(), "s1"); err != nil {
						t.Fatal(err)
					}
					after, err := store.Read(t.Context(), "s1")
					if err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(after.Head, before.Head) || !reflect.DeepEqual(after.Items, before.Items) || len(after.Items) != items {
						t.Fatalf("round %d: the folded session differs from what it was, %d items and %d", round, len(after.Items), len(before.Items))
					}
				}
			})
		}
	}
}
