package session

import (
	"slices"

	"agentd/messages"
)

// pendingItem is the newest version of an item, and how many of its changes are not acknowledged.
type pendingItem struct {
	item    messages.Item
	changes int
}

// pendingItems are the items that are on their way to the store. There are few of them at a time, but for a big batch: so
// it is a list, which is searched, and only a long one has a map beside it.
type pendingItems struct {
	list []*pendingItem
	byID map[messages.ItemID]*pendingItem
}

// pendingListed is how many items are searched one by one.
const pendingListed = 16

func (p *pendingItems) len() int { return len(p.list) }

// get returns the newest version of an item that is on its way.
func (p *pendingItems) get(id messages.ItemID) (*pendingItem, bool) {
	if p.byID != nil {
		entry, found := p.byID[id]
		return entry, found
	}
	for _, entry := range p.list {
		if entry.item.ID == id {
			return entry, true
		}
	}
	return nil, false
}

// put tells of one more change of an item, and its newest version.
func (p *pendingItems) put(item *messages.Item) {
	if entry, found := p.get(item.ID); found {
		entry.item = *item
		entry.changes++
		return
	}
	entry := &pendingItem{item: *item, changes: 1}
	p.list = append(p.list, entry)
	if p.byID != nil {
		p.byID[item.ID] = entry
	} else if len(p.list) > pendingListed {
		p.byID = make(map[messages.ItemID]*pendingItem, 2*pendingListed)
		for _, e := range p.list {
			p.byID[e.item.ID] = e
		}
	}
}

// settle tells that one change of an item is acknowledged. Changes are acknowledged in their order, so that the item is near the front.
func (p *pendingItems) settle(id messages.ItemID) {
	for i, entry := range p.list {
		if entry.item.ID != id {
			continue
		}
		if entry.changes--; entry.changes == 0 {
			p.list = slices.Delete(p.list, i, i+1)
			if len(p.list) == 0 {
				p.byID = nil
			} else if p.byID != nil {
				delete(p.byID, id)
			}
		}
		return
	}
}
