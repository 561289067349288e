package messages

import (
	"fmt"
	"testing"
)

func TestItemIndexTellsCollidingIDsApart(t *testing.T) {
	t.Parallel()
	var x itemIndex
	items := make([]*Item, 50)
	for i := range items {
		items[i] = &Item{ID: ItemID(fmt.Sprintf("i%d", i))}
	}
	x.rebuild(items)
	// What a second id of the same hash does to the map.
	for hash, place := range x.places {
		if place == 7 {
			x.places[hash] = 8
		}
	}
	x.collided = true
	for i := range items {
		if place, found := x.find(items, items[i].ID); !found || place != i {
			t.Errorf("find(%s) = %d, %v, want %d", items[i].ID, place, found, i)
		}
	}
	if place, found := x.find(items, "other"); found {
		t.Errorf("find(other) = %d, want nothing", place)
	}
}
