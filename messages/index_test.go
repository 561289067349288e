package messages

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Ids whose hashes begin at one slot, or are the same, are told apart.
func TestPlaceIndexTellsCollidingIDsApart(t *testing.T) {
	t.Parallel()
	var x placeIndex
	items := make([]*Item, 50, 51)
	for i := range items {
		items[i] = &Item{ID: ItemID(fmt.Sprintf("i%d", i))}
	}
	x.fill(items, itemID)
	// What a second id of the same hash does: the one that was first stands in its way.
	slot, _ := x.look(items, "a", itemID)
	x.slots[slot] = uint64(x.hash("a"))<<32 | 8
	x.used++
	items = append(items, &Item{ID: "a"})
	for i := range items {
		if place, found := x.find(items, string(items[i].ID), itemID); !found || place != i {
			t.Errorf("find(%s) = %d, %v, want %d", items[i].ID, place, found, i)
		}
	}
	if place, found := x.find(items, "b", itemID); found {
		t.Errorf("find(b) = %d, want nothing", place)
	}
}

// A session whose ids grow, as fresh ones do, has no table.
func TestPlaceIndexNeedsNoTableForFreshIDs(t *testing.T) {
	t.Parallel()
	doc := NewDocument("s")
	for seq := uint64(1); seq < 1000; seq++ {
		id, turn := ItemID(fmt.Sprintf("i%03d", seq)), TurnID(fmt.Sprintf("t%03d", seq))
		if doc.HasTurn(turn) {
			t.Fatalf("HasTurn(%s) = true before it came", turn)
		}
		if err := doc.Apply(seq, 1, ItemAppended{Item: &Item{ID: id, Type: ItemMessage, TurnID: turn}}); err != nil {
			t.Fatal(err)
		}
		if at, found := doc.Find(id); !found || at != int(seq)-1 {
			t.Fatalf("Find(%s) = %d, %v, want %d", id, at, found, seq-1)
		}
	}
	if doc.index.slots != nil || doc.turns.slots != nil {
		t.Errorf("tables of %d and %d slots, want none", len(doc.index.slots), len(doc.turns.slots))
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

// Whatever becomes of a document, it finds what a look at each item finds.
func TestDocumentFindsAsASearchDoes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // The documents are to be the same each time.
		doc := NewDocument("s")
		ids, turns := 1+r.IntN(60), 1+r.IntN(20)
		item := func() *Item {
			return &Item{ID: ItemID(fmt.Sprint(r.IntN(ids))), TurnID: TurnID(fmt.Sprint(r.IntN(turns)))}
		}
		for range 200 {
			switch r.IntN(8) {
			case 0, 1, 2:
				_ = doc.Apply(doc.Head.LastSeq+1, 1, ItemAppended{Item: item()}) // One that is there already changes nothing.
			case 3:
				_ = doc.Apply(doc.Head.LastSeq+1, 1, ItemUpdated{Item: item()}) // Nor does one that is not.
			case 4:
				doc.Items = append(doc.Items, item())
			case 5:
				doc = doc.Clone()
			default:
				wanted := item()
				place, found := doc.Find(wanted.ID)
				want := slices.IndexFunc(doc.Items, func(it *Item) bool { return it.ID == wanted.ID })
				if found != (want >= 0) || found && place != want {
					t.Fatalf("seed %d: Find(%s) = %d, %v, want %d", seed, wanted.ID, place, found, want)
				}
				has := slices.ContainsFunc(doc.Items, func(it *Item) bool { return it.TurnID == wanted.TurnID })
				if got := doc.HasTurn(wanted.TurnID); got != has {
					t.Fatalf("seed %d: HasTurn(%s) = %v, want %v", seed, wanted.TurnID, got, has)
				}
			}
		}
	}
}
