package messages

import "hash/maphash"

// placeIndex finds the first item that has an id of some kind. Most of what it is asked is about an id that was just made up, and
// those of [NewItemID] and [NewTurnID] grow with time: an id behind the greatest one that is there needs no look at anything else. For all others there is an open
// hash table of hashes and places, in one piece of memory without pointers: nothing to the garbage collector, and mostly one cold line of memory for a lookup,
// however long a session is. It is filled when it is asked, so that a session of which nobody asks has none. A place in it is checked against the items, so
// that two ids of one hash are told apart. Items are only added, or replaced by ones of the same id.
type placeIndex struct {
	// top is the greatest id of the first seen items, and topAt the place of the first one that has it.
	top         string
	topAt, seen int

	seed maphash.Seed
	// slots are of a power of two. One holds 32 bits of the hash and the place, counted from 1; 0 is free.
	slots []uint64
	// count is how many items the table is about, used how many slots are taken.
	count, used int
}

// firstSlots is the smallest table.
const firstSlots = 8

// idOf gives the id of an item that an index is about.
type idOf func(*Item) string

func itemID(it *Item) string { return string(it.ID) }

func turnID(it *Item) string { return string(it.TurnID) }

// find returns the place of the first item with an id.
func (x *placeIndex) find(items []*Item, id string, of idOf) (int, bool) {
	if x.seen > len(items) {
		*x = placeIndex{} // They are others than it was told of.
	}
	x.see(items, of)
	switch {
	case len(items) == 0 || id > x.top:
		return 0, false
	case id == x.top:
		return x.topAt, true
	}
	x.fill(items, of)
	slot, found := x.look(items, id, of)
	if !found {
		return 0, false
	}
	return place(x.slots[slot]), true
}

// see takes note of the greatest id.
func (x *placeIndex) see(items []*Item, of idOf) {
	for ; x.seen < len(items); x.seen++ {
		if id := of(items[x.seen]); id > x.top || x.seen == 0 {
			x.top, x.topAt = id, x.seen
		}
	}
}

// fill puts what the table lacks into it.
func (x *placeIndex) fill(items []*Item, of idOf) {
	if x.slots == nil {
		x.seed, x.slots = maphash.MakeSeed(), make([]uint64, firstSlots)
	}
	for ; x.count < len(items); x.count++ {
		id := of(items[x.count])
		if x.count > 0 && of(items[x.count-1]) == id {
			continue // Items of one turn stand together.
		}
		slot, found := x.look(items, id, of)
		if found {
			continue // The first one counts.
		}
		x.slots[slot] = uint64(x.hash(id))<<32 | uint64(x.count+1) //nolint:gosec // A session of four thousand million items does not fit a machine.
		if x.used++; x.used*4 > len(x.slots)*3 {
			x.grow()
		}
	}
}

// grow doubles the table.
func (x *placeIndex) grow() {
	old := x.slots
	x.slots = make([]uint64, 2*len(old))
	for _, entry := range old {
		if entry == 0 {
			continue
		}
		at := x.home(uint32(entry >> 32))
		for x.slots[at] != 0 {
			at = x.next(at)
		}
		x.slots[at] = entry
	}
}

// look returns the slot of an id, or the free one where it would be.
func (x *placeIndex) look(items []*Item, id string, of idOf) (slot int, found bool) {
	hash := x.hash(id)
	at := x.home(hash)
	for ; x.slots[at] != 0; at = x.next(at) {
		if uint32(x.slots[at]>>32) == hash && of(items[place(x.slots[at])]) == id {
			return at, true
		}
	}
	return at, false
}

func (x *placeIndex) hash(id string) uint32 { return uint32(maphash.String(x.seed, id)) } //nolint:gosec // The rest of the hash is not needed.

// home is the slot of a hash in an empty table.
func (x *placeIndex) home(hash uint32) int { return int(hash) & (len(x.slots) - 1) }

func (x *placeIndex) next(slot int) int { return (slot + 1) & (len(x.slots) - 1) }

// place is the place that an entry holds.
func place(entry uint64) int { return int(uint32(entry)) - 1 } //nolint:gosec // It was an int.
