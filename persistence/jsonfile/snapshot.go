package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile/diskfs"
)

// snapshot is an open snapshot file whose head has been read. It stays what it is while a newer one takes
// its name.
type snapshot struct {
	path string
	file diskfs.File
	size int64
	head messages.Head
	// body is where the head line ends: the line end itself is the first byte.
	body int64
}

// openSnapshot opens the snapshot of a session and reads its head. Errors: ErrNotFound, ErrSchema, a CorruptError, or ErrUnavailable.
func (s *Store) openSnapshot(id messages.SessionID) (*snapshot, error) {
	snap := &snapshot{path: s.paths.snapshot(id)}
	file, err := s.fsys.OpenFile(snap.path, os.O_RDONLY, 0)
	if missing(err) {
		return nil, persistence.ErrNotFound
	}
	if err != nil {
		return nil, unavailable("opening a snapshot", err)
	}
	snap.file = file
	if err := snap.readHead(id); err != nil {
		snap.close()
		return nil, err
	}
	if snap.head.ID == id {
		return snap, nil
	}
	snap.close()
	if s.paths.foldsCase && s.paths.key(snap.head.ID) == s.paths.key(id) {
		return nil, fmt.Errorf("%w: the file belongs to %q", persistence.ErrNotFound, snap.head.ID)
	}
	return nil, &persistence.CorruptError{
		Session: id, File: snap.path, Line: 1,
		Reason: fmt.Sprintf("the file belongs to session %q: give it back its name", snap.head.ID),
	}
}

func (n *snapshot) readHead(id messages.SessionID) error {
	info, err := n.file.Stat()
	if err != nil {
		return unavailable("reading a snapshot", err)
	}
	if !info.Mode().IsRegular() {
		return &persistence.CorruptError{Session: id, File: n.path, Reason: "it is not a regular file"}
	}
	if n.size = info.Size(); n.size == 0 {
		return &persistence.CorruptError{Session: id, File: n.path, Reason: "the file is empty; stop agentd and run: agentd repair"}
	}
	start, end, err := readStart(n.file, n.size)
	if err != nil && !errors.Is(err, errUnended) {
		return unavailable("reading a snapshot", err)
	}
	if err == nil {
		n.head, err = decodeHead(start[:end])
	}
	if errors.Is(err, persistence.ErrSchema) {
		return fmt.Errorf("%s: %w", n.path, err)
	}
	if err != nil {
		return n.damage(id, 1, err.Error())
	}
	n.body = int64(end)
	return n.checkEnd(id, start)
}

func (n *snapshot) damage(id messages.SessionID, line int, reason string) error {
	return &persistence.CorruptError{Session: id, File: n.path, Line: line, Reason: reason + "; stop agentd and run: agentd repair"}
}

// close closes a file that was only read: there is nothing to lose.
func (n *snapshot) close() { _ = n.file.Close() }

// checkEnd makes sure that the file is whole. The start of the file, up to its end or the head's, was read already.
func (n *snapshot) checkEnd(id messages.SessionID, start []byte) error {
	if n.size-n.body < int64(len(closing)) {
		return n.damage(id, 0, "the file ends too early")
	}
	var end []byte
	if int64(len(start)) == n.size {
		end = start[n.end():]
	} else {
		end = make([]byte, len(closing))
		if _, err := n.file.ReadAt(end, n.end()); err != nil {
			return unavailable("reading a snapshot", err)
		}
	}
	if string(end) != closing {
		return n.damage(id, 0, "the file ends too early")
	}
	return nil
}

// end is where the items end: the line end behind the last one.
func (n *snapshot) end() int64 { return n.size - int64(len(closing)) }

// lines calls visit for every item line, without its comma.
func (n *snapshot) lines(visit func(line []byte) error) error {
	reader := newLineReader(n.file, n.body, n.end()+1)
	if _, err := reader.next(); err != nil {
		return n.lineFault(reader, err)
	}
	for count := 0; ; count++ {
		line, err := reader.next()
		if errors.Is(err, errEnd) {
			if count != n.head.ItemCount {
				return n.damage(n.head.ID, 0, fmt.Sprintf("the file has %d items, its head says %d", count, n.head.ItemCount))
			}
			return nil
		}
		if err != nil {
			return n.lineFault(reader, err)
		}
		if err := visit(bytes.TrimSuffix(line, []byte(","))); err != nil {
			return err
		}
	}
}

func (n *snapshot) lineFault(reader *lineReader, err error) error {
	if errors.Is(err, errUnended) || errors.Is(err, errEnd) {
		return n.damage(n.head.ID, reader.line, errUnended.Error())
	}
	return unavailable("reading a snapshot", err)
}

// document reads the whole snapshot.
func (n *snapshot) document() (*messages.Document, error) {
	doc := messages.NewDocument(n.head.ID)
	doc.Head = n.head
	doc.Items = make([]*messages.Item, 0, min(n.head.ItemCount, int(n.size/16)))
	err := n.lines(func(line []byte) error {
		item, err := n.decodeItem(line, len(doc.Items)+2)
		doc.Items = append(doc.Items, &item)
		return err
	})
	if err != nil {
		return nil, err
	}
	return doc, nil
}

func (n *snapshot) decodeItem(line []byte, number int) (messages.Item, error) {
	var item messages.Item
	if err := json.Unmarshal(line, &item); err != nil {
		return item, n.damage(n.head.ID, number, err.Error())
	}
	if item.ID == "" {
		return item, n.damage(n.head.ID, number, "the item has no id")
	}
	return item, nil
}
