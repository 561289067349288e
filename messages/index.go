package messages

import "hash/maphash"

// placeIndex finds the first item that has an id of some kind. It holds hashes, not ids: a map without pointers is nothing to the garbage collector, however long a
// session is, and takes a third of the memory. A place is checked against the items, so that two ids of one hash are told apart.
type placeIndex struct {
	seed   maphash.Seed
	places map[uint64]int32
	// missed is the hash that was looked for last and not found, when there were missedAt items: an id that is new is asked for more than once.
	missed uint64
	// count is how many items are known.
	count, missedAt int32
	// collided says that an id was left out because another one has its hash.
	collided bool
}

// idOf gives the id of an item that an index is about.
type idOf func(*Item) string

func itemID(it *Item) string { return string(it.ID) }

func turnID(it *Item) string { return string(it.TurnID) }

// behind reports whether the index lacks some of the items.
func (x *placeIndex) behind(items []*Item) bool { return x.places == nil || int(x.count) != len(items) }

// rebuild makes the index of the items anew.
func (x *placeIndex) rebuild(items []*Item, of idOf) {
	*x = placeIndex{seed: maphash.MakeSeed(), places: make(map[uint64]int32, len(items)+4)}
	for _, item := range items {
		x.add(items, item, of)
	}
}

// add tells the index of an item that comes next.
func (x *placeIndex) add(items []*Item, item *Item, of idOf) {
	place := x.count
	x.count++
	id := of(item)
	if place > 0 && of(items[place-1]) == id {
		return // Items of one turn stand together.
	}
	hash := maphash.String(x.seed, id)
	if at, taken := x.places[hash]; !taken {
		x.places[hash] = place
	} else if of(items[at]) != id {
		x.collided = true
	}
}

// find returns the place of the first item with an id.
func (x *placeIndex) find(items []*Item, id string, of idOf) (int, bool) {
	hash := maphash.String(x.seed, id)
	if hash == x.missed && x.missedAt == x.count && !x.collided {
		return 0, false
	}
	if place, known := x.places[hash]; known && of(items[place]) == id {
		return int(place), true
	}
	if x.collided {
		for i := range items {
			if of(items[i]) == id {
				return i, true
			}
		}
	}
	x.missed, x.missedAt = hash, x.count
	return 0, false
}
