package jsonfile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"agentd/messages"
	"agentd/persistence"
)

// Page implements [persistence.Store]. It reads the snapshot backwards from its end in blocks, and the records that it
// lacks.
func (s *Store) Page(ctx context.Context, id messages.SessionID, query persistence.PageQuery) (persistence.Page, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return persistence.Page{}, err
	}
	defer leave()
	page, err := s.page(id, query)
	if err != nil {
		return persistence.Page{}, about("reading a page of", id, err)
	}
	return page, nil
}

func (s *Store) page(id messages.SessionID, query persistence.PageQuery) (persistence.Page, error) {
	r, err := s.openReading(id)
	if err != nil {
		return persistence.Page{}, err
	}
	defer s.done(r)
	news, err := s.survey(r, new([]byte))
	if err != nil {
		return persistence.Page{}, err
	}
	stored := r.head().ItemCount
	start, end := query.Bounds(news.head.ItemCount)
	page := persistence.Page{Head: news.head, Start: start, Items: make([]messages.Item, 0, end-start)}
	if start < stored {
		lines, err := r.snap.linesBetween(start, min(end, stored))
		if err != nil {
			return page, err
		}
		for i, line := range lines {
			item, err := s.newest(news, r.snap, line, start+i+2)
			if err != nil {
				return page, err
			}
			page.Items = append(page.Items, item)
		}
	}
	for i := max(start, stored); i < end; i++ {
		item, err := s.itemAt(news, news.added[i-stored])
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, item)
	}
	return page, nil
}

// newest gives the item of a snapshot line, or what a record has made of it since.
func (s *Store) newest(news *survey, snap *snapshot, line []byte, number int) (messages.Item, error) {
	if len(news.updated) > 0 {
		if at, ok := news.updated[itemID(line)]; ok {
			return s.itemAt(news, at)
		}
	}
	return snap.decodeItem(line, number)
}

// itemAt decodes the item of a record.
func (s *Store) itemAt(news *survey, at place) (messages.Item, error) {
	var item messages.Item
	body, err := s.bodyAt(at)
	if err == nil {
		err = json.Unmarshal(body, &item)
	}
	if err != nil {
		return item, unreadable(news.head.ID, err)
	}
	item.Seq = at.seq
	return item, nil
}

// tailBlock is how much is read at a time, backwards.
const tailBlock = 64 << 10

// linesBetween returns the item lines from one position up to another, without their commas. It reads backwards from the
// end, and keeps no more than the lines and a block.
func (n *snapshot) linesBetween(start, end int) ([][]byte, error) {
	t := tailReader{snap: n, from: n.end()}
	// The lines behind the page are counted, not kept.
	if err := t.skip(n.head.ItemCount - end); err != nil {
		return nil, err
	}
	lines := make([][]byte, end-start)
	for i := len(lines) - 1; i >= 0; i-- {
		line, err := t.previous()
		if err != nil {
			return nil, err
		}
		lines[i] = bytes.TrimSuffix(line, []byte(","))
	}
	if start == 0 && t.at() != n.body {
		return nil, n.damage(n.head.ID, 0, fmt.Sprintf("the file has more items than the %d that its head says", n.head.ItemCount))
	}
	return lines, nil
}

// tailReader reads the lines of a snapshot backwards. The text between the head's line end and the closing
// is a row of items, each with a line end before it.
type tailReader struct {
	snap *snapshot
	// buf holds the file from offset from up to the end of what was not returned yet.
	buf  []byte
	from int64
}

// at is where what was not returned yet ends.
func (t *tailReader) at() int64 { return t.from + int64(len(t.buf)) }

// grow reads the block before the buffer. It reports false at the head. The lines that were returned lie in older buffers.
func (t *tailReader) grow() (bool, error) {
	size := min(max(tailBlock, int64(len(t.buf))), t.from-t.snap.body)
	if size <= 0 {
		return false, nil
	}
	if size+int64(len(t.buf)) > 2*maxFrameBytes {
		return false, t.snap.damage(t.snap.head.ID, 0, "a line is longer than any that is written")
	}
	buf := make([]byte, size+int64(len(t.buf)))
	if _, err := t.snap.file.ReadAt(buf[:size], t.from-size); err != nil {
		return false, unavailable("reading a snapshot", err)
	}
	copy(buf[size:], t.buf)
	t.buf, t.from = buf, t.from-size
	return true, nil
}

// previous returns the line before those that were returned.
func (t *tailReader) previous() ([]byte, error) {
	for seen := 0; ; {
		if i := bytes.LastIndexByte(t.buf[:len(t.buf)-seen], '\n'); i >= 0 {
			line := t.buf[i+1:]
			t.buf = t.buf[:i]
			return line, nil
		}
		seen = len(t.buf)
		more, err := t.grow()
		if err != nil {
			return nil, err
		}
		if !more {
			return nil, t.snap.damage(t.snap.head.ID, 0, fmt.Sprintf("the file lacks some of the %d items that its head says", t.snap.head.ItemCount))
		}
	}
}

// skip passes over lines.
func (t *tailReader) skip(count int) error {
	for range count {
		if _, err := t.previous(); err != nil {
			return err
		}
	}
	return nil
}
