package session

import (
	"iter"
	"slices"

	"agentd/messages"
)

// pendingItem is the newest version of an item, and how many of its changes are not acknowledged. The version is the one
// that is being stored, and so is not changed any more.
type pendingItem struct {
	item    *messages.Item
	changes int
}

// pendingItems are the items that are on their way to the store. There are few of them at a time, which are a list that is searched, but for a
// big batch, which is a map until all of it is acknowledged.
type pendingItems struct {
	few  []pendingItem
	many map[messages.ItemID]*pendingItem
}

// pendingListed is how many items are searched one by one.
const pendingListed = 16

func (p *pendingItems) len() int { return len(p.few) + len(p.many) }

// all are the entries, in no order.
func (p *pendingItems) all() iter.Seq[pendingItem] {
	return func(yield func(pendingItem) bool) {
		for _, entry := range p.few {
			if !yield(entry) {
				return
			}
		}
		for _, entry := range p.many {
			if !yield(*entry) {
				return
			}
		}
	}
}

// find returns the entry of an item, or nil. It is good until the next change.
func (p *pendingItems) find(id messages.ItemID) *pendingItem {
	if p.many != nil {
		return p.many[id]
	}
	for i := range p.few {
		if p.few[i].item.ID == id {
			return &p.few[i]
		}
	}
	return nil
}

// get returns the newest version of an item that is on its way.
func (p *pendingItems) get(id messages.ItemID) (*messages.Item, bool) {
	if entry := p.find(id); entry != nil {
		return entry.item, true
	}
	return nil, false
}

// put tells of one more change of an item, and its newest version.
func (p *pendingItems) put(item *messages.Item) {
	if entry := p.find(item.ID); entry != nil {
		entry.item = item
		entry.changes++
		return
	}
	if p.many == nil && len(p.few) < pendingListed {
		p.few = append(p.few, pendingItem{item: item, changes: 1})
		return
	}
	if p.many == nil {
		p.many = make(map[messages.ItemID]*pendingItem, 2*pendingListed)
		for i := range p.few {
			p.many[p.few[i].item.ID] = &p.few[i]
		}
		p.few = nil
	}
	p.many[item.ID] = &pendingItem{item: item, changes: 1}
}

// settle tells that one change of an item is acknowledged. Changes are acknowledged in their order, so that the item is near the front.
func (p *pendingItems) settle(id messages.ItemID) {
	entry := p.find(id)
	if entry == nil {
		return
	}
	if entry.changes--; entry.changes > 0 {
		return
	}
	if p.many == nil {
		p.few = slices.DeleteFunc(p.few, func(e pendingItem) bool { return e.item.ID == id })
		return
	}
	if delete(p.many, id); len(p.many) == 0 {
		p.many = nil
	}
}
