package messages

import (
	"fmt"
	"testing"
)

// Ids whose hashes begin at one slot, or are the same, are told apart.
func TestPlaceIndexTellsCollidingIDsApart(t *testing.T) {
	t.Parallel()
	var x placeIndex
	items := make([]*Item, 50)
	for i := range items {
		items[i] = &Item{ID: ItemID(fmt.Sprintf("i%d", i))}
	}
	x.rebuild(items, itemID)
	// What a second id of the same hash does: the one that was first stands in its way.
	slot, _ := x.look(items, "other", itemID)
	other := &Item{ID: "other"}
	x.slots[slot] = uint64(x.hash("other"))<<32 | 8
	x.used++
	x.add(items, other, itemID)
	items = append(items, other)
	for i := range items {
		if place, found := x.find(items, string(items[i].ID), itemID); !found || place != i {
			t.Errorf("find(%s) = %d, %v, want %d", items[i].ID, place, found, i)
		}
	}
	if place, found := x.find(items, "none", itemID); found {
		t.Errorf("find(none) = %d, want nothing", place)
	}
}

// What is not there is found when it has come, however often the table grows.
func TestDocumentFindsWhatCame(t *testing.T) {
	t.Parallel()
	doc := NewDocument("s")
	for seq := uint64(1); seq < 3000; seq++ {
		id, turn := ItemID(fmt.Sprintf("i%d", seq)), TurnID(fmt.Sprintf("t%d", seq/3))
		for range 2 {
			if place, found := doc.Find(id); found {
				t.Fatalf("Find(%s) = %d before it came", id, place)
			}
		}
		if got, want := doc.HasTurn(turn), seq%3 != 0 && seq > 1; got != want {
			t.Fatalf("HasTurn(%s) before item %d = %v, want %v", turn, seq, got, want)
		}
		if err := doc.Apply(seq, 1, ItemAppended{Item: &Item{ID: id, Type: ItemMessage, TurnID: turn}}); err != nil {
			t.Fatal(err)
		}
		if place, found := doc.Find(id); !found || place != int(seq)-1 {
			t.Fatalf("Find(%s) = %d, %v, want %d", id, place, found, seq-1)
		}
		if !doc.HasTurn(turn) {
			t.Fatalf("HasTurn(%s) = false after an item of it", turn)
		}
	}
}
