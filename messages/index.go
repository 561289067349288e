package messages

import "hash/maphash"

// itemIndex finds the place of an item by its id. It holds hashes, not ids: a map without pointers is nothing to the garbage collector, however long a
// session is, and takes a third of the memory. A place is checked against the items, so that two ids of one hash are told apart.
type itemIndex struct {
	seed   maphash.Seed
	places map[uint64]int32
	// count is how many items are known.
	count int32
	// collided says that an id was left out because another one has its hash.
	collided bool
}

// rebuild makes the index of the items anew.
func (x *itemIndex) rebuild(items []*Item) {
	x.seed = maphash.MakeSeed()
	x.places = make(map[uint64]int32, len(items)+4)
	x.count, x.collided = 0, false
	for i := range items {
		x.add(items[i].ID, i)
	}
}

// add tells the index of an item that is new.
func (x *itemIndex) add(id ItemID, place int) {
	hash := maphash.String(x.seed, string(id))
	if _, taken := x.places[hash]; taken {
		x.collided = true
	} else {
		x.places[hash] = int32(place)
	}
	x.count++
}

// find returns the place of an item.
func (x *itemIndex) find(items []*Item, id ItemID) (int, bool) {
	if place, known := x.places[maphash.String(x.seed, string(id))]; known && items[place].ID == id {
		return int(place), true
	}
	if x.collided {
		for i := range items {
			if items[i].ID == id {
				return i, true
			}
		}
	}
	return 0, false
}
