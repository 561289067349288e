package jsonfile

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"agentd/messages"
)

// keepBodies is how much journal a survey keeps in memory; what is longer is read a second time.
const keepBodies = 4 << 20

// place is where the newest state of an item stands in the journal.
type place struct {
	sp  *span
	seq uint64
	// body is the item, unless the survey was too large to keep it.
	body []byte
}

// survey is what the records that a snapshot lacks make of it, without their bodies if these are many.
type survey struct {
	head messages.Head
	// added are the new items in order.
	added []place
	// updated are the newest states of items of the snapshot.
	updated map[messages.ItemID]place
	// index finds an added item. It is made when one is updated: most never are.
	index map[messages.ItemID]int
}

// survey goes through the records of a reading once. The bodies lie in the buffer, unless they are too many for that.
func (s *Store) survey(r *reading, buf *[]byte) (*survey, error) {
	news := &survey{head: r.head()}
	var kept []byte
	if size := r.size(); size <= keepBodies {
		*buf = slices.Grow((*buf)[:0], int(size))
		kept = *buf
	}
	walk := headWalk{head: &news.head}
	err := s.records(r, kept, func(sp *span, f frame) error {
		at := place{sp: sp, seq: f.seq}
		if kept != nil {
			at.body = f.body
		}
		switch kindOf(f.kind) {
		case messages.KindItem:
			news.add(f.body, at)
		case messages.KindItemUpdated:
			news.update(f.body, at)
		default: // Its effect is on the head.
		}
		return walk.add(f)
	})
	if err == nil {
		err = walk.finish()
	}
	return news, err
}

func (n *survey) add(body []byte, at place) {
	if n.index != nil || at.body == nil { // Without bodies it could not be made later.
		n.enter(body, len(n.added))
	}
	n.added = append(n.added, at)
}

// enter tells the index where an added item is.
func (n *survey) enter(body []byte, i int) {
	if n.index == nil {
		n.index = make(map[messages.ItemID]int)
	}
	n.index[itemID(body)] = i
}

func (n *survey) update(body []byte, at place) {
	if n.index == nil {
		for i := range n.added {
			n.enter(n.added[i].body, i)
		}
	}
	id := itemID(body)
	if i, isNew := n.index[id]; isNew {
		n.added[i] = at
		return
	}
	if n.updated == nil {
		n.updated = make(map[messages.ItemID]place)
	}
	n.updated[id] = at
}

// bodyAt returns the body of a place.
func (s *Store) bodyAt(at place) ([]byte, error) {
	if at.body != nil {
		return at.body, nil
	}
	var body []byte
	_, err := at.sp.read(nil, s.table, func(f frame) error {
		if f.seq == at.seq {
			body = f.body
		}
		return nil
	})
	return body, err
}

// itemID reads the id of an encoded item, which is its first field unless somebody else wrote it.
func itemID(body []byte) messages.ItemID {
	c := cursor{rest: body}
	if c.skip(`{"id":"`) {
		if id := c.until('"'); !c.failed && bytes.IndexByte(id, '\\') < 0 {
			return messages.ItemID(id)
		}
	}
	return messages.ItemID(gjson.GetBytes(body, "id").String())
}

// appendItem appends the line of an item whose last change has a number, without a line end.
func appendItem(dst, body []byte, seq uint64) ([]byte, error) {
	if bytes.Contains(body, []byte(`"seq":`)) {
		if has := gjson.GetBytes(body, "seq"); has.Exists() && has.Uint() != seq {
			return appendNumbered(dst, body, seq)
		} else if has.Exists() {
			return append(dst, body...), nil
		}
	}
	dst = append(dst, body[:len(body)-1]...)
	if len(body) > 2 {
		dst = append(dst, ',')
	}
	dst = append(dst, `"seq":`...)
	dst = strconv.AppendUint(dst, seq, 10)
	return append(dst, '}'), nil
}

// appendNumbered is appendItem for a body that carries another number.
func appendNumbered(dst, body []byte, seq uint64) ([]byte, error) {
	var item messages.Item
	if err := json.Unmarshal(body, &item); err != nil {
		return dst, err
	}
	item.Seq = seq
	text, err := json.Marshal(&item)
	return append(dst, text...), err
}
