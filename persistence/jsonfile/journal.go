package jsonfile

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"agentd/persistence"
	"agentd/persistence/jsonfile/diskfs"
)

// restBytes is how long a journal without a live span may be before it is begun anew. It bounds what a start after a crash reads
// when sessions are folded soon after each turn.
const restBytes = 4 << 20

// fillBelow is the largest batch that zeros are written behind. With batches of 0.7 MB they cost a tenth of the
// throughput, with lone appends they save a third of the time.
const fillBelow = 64 << 10

// journal is the segments, and the end that is written to.
type journal struct {
	// Set at construction.
	fsys  diskfs.FS
	paths layout
	table *crc32.Table
	opts  Options
	index *index
	// dropMu is held while segments are removed, so that they go in their order.
	dropMu sync.Mutex
	// unsynced says that a removal may not be durable yet. It is guarded by dropMu.
	unsynced bool

	// replaced says that the names of snapshots may not be durable yet, those of an earlier process too. It is set before the spans that a
	// snapshot holds are forgotten.
	replaced atomic.Bool

	// Owned by the goroutine that commits, and by Open before there is one.

	// active is the last segment, if it can be appended to. Otherwise the next commit begins a fresh one.
	active *segment
	// next is the number of the next segment.
	next uint64
	// doubt says that an append may be stored of which this was not told: until a fresh segment stands, no
	// append is certain not to be, since it may be a repeat of that one.
	doubt bool
	// zeros is what the end is filled with, made when it is first needed.
	zeros []byte
}

// placed says where a batch was put.
type placed struct {
	seg *segment
	off int64
}

// write makes a batch durable at the end of the active segment. The batch may be moved into a fresh segment
// when the disk gives the active one up.
func (j *journal) write(batch []byte) (placed, error) {
	seg := j.active
	if _, err := seg.file.WriteAt(batch, seg.size); err != nil {
		return placed{}, j.cutBack(fmt.Errorf("writing %q: %w", seg.path, err))
	}
	j.fill(seg, seg.size+int64(len(batch)))
	if err := seg.file.Sync(); err != nil {
		return j.moveOn(batch, fmt.Errorf("syncing %q: %w", seg.path, err))
	}
	at := placed{seg: seg, off: seg.size}
	seg.size += int64(len(batch))
	seg.proven = seg.size
	return at, nil
}

// fill writes zeros behind the end, so that the next syncs need not make the file longer. It is an
// economy: a disk that has no room for zeros may have room for records, and a large batch is cheaper without.
func (j *journal) fill(seg *segment, end int64) {
	if end <= seg.filled {
		return
	}
	large := end-seg.size > fillBelow
	seg.filled = end
	if large {
		return
	}
	room := min(j.opts.PreallocateBytes, j.opts.SegmentBytes-end)
	if room <= 0 {
		return
	}
	if int64(len(j.zeros)) < room {
		j.zeros = make([]byte, room)
	}
	if n, err := seg.file.WriteAt(j.zeros[:room], end); err == nil {
		seg.filled += int64(n)
	}
}

// cutBack removes what a failed write may have left behind the end.
func (j *journal) cutBack(cause error) error {
	seg := j.active
	err := seg.file.Truncate(seg.size)
	if err == nil {
		err = seg.file.Sync()
	}
	if err != nil {
		j.active = nil
		return j.refuse(false, fmt.Errorf("%w (and cutting the rest off: %w)", cause, err))
	}
	seg.filled = seg.size
	return j.refuse(true, cause)
}

// moveOn puts a batch into a fresh segment after the active one could not be synced: what the system says
// of that file is worth nothing from now on.
func (j *journal) moveOn(batch []byte, cause error) (placed, error) {
	old := j.active
	j.active = nil
	fresh, uncertain, err := j.begin(batch)
	if err == nil {
		return placed{seg: fresh, off: fresh.size - int64(len(batch))}, nil
	}
	cause = fmt.Errorf("%w (and moving on to a fresh segment: %w)", cause, err)
	// Without a fresh segment a restart would read this one to its end. It must end where it is trusted.
	certain := !uncertain && old.file.Truncate(old.size) == nil && old.file.Sync() == nil
	return placed{}, j.refuse(certain, cause)
}

// refuse makes the error of a batch that was not acknowledged.
func (j *journal) refuse(certain bool, cause error) error {
	if !certain {
		j.doubt = true
	}
	kind := persistence.ErrUnavailable
	if j.doubt {
		kind = persistence.ErrUnknown
	}
	return fmt.Errorf("%w: %w", kind, cause)
}

// begin makes the next segment and puts into it what the one before holds without proof, and then a batch. All of it
// is durable before the segment has its name. After an error it is uncertain, if so reported, whether the segment is there.
func (j *journal) begin(batch []byte) (fresh *segment, uncertain bool, err error) {
	h := header{Segment: j.next}
	content := make([]byte, 0, 256+len(batch))
	prev := j.index.pinLast()
	defer j.index.unpin(prev)
	var carry []byte
	if prev != nil {
		h.Previous, h.Valid = prev.number, prev.proven
		carry = make([]byte, prev.size-prev.proven)
		if _, err := prev.file.ReadAt(carry, prev.proven); err != nil && len(carry) > 0 {
			return nil, false, fmt.Errorf("reading %q: %w", prev.path, err)
		}
	}
	h.Carried = int64(len(carry) + len(batch))
	content = h.appendLine(content, j.table)
	headerSize := int64(len(content))
	content = append(append(content, carry...), batch...)

	seg := &segment{number: j.next, path: j.paths.segment(j.next), size: int64(len(content))}
	seg.filled, seg.proven = seg.size, seg.size
	if uncertain, err := j.place(seg, content); err != nil {
		return nil, uncertain, fmt.Errorf("beginning the journal segment %q: %w", seg.path, err)
	}
	j.next++
	j.index.adopt(seg, prev, headerSize-h.Valid)
	j.active, j.doubt = seg, false
	return seg, false, nil
}

// place writes a new segment under a temporary name, and then gives it its own.
func (j *journal) place(seg *segment, content []byte) (uncertain bool, err error) {
	temp := filepath.Join(j.paths.temp, filepath.Base(seg.path))
	err = writeTemp(j.fsys, temp, content)
	if err == nil {
		err = j.fsys.Rename(temp, seg.path)
	}
	if err != nil {
		return false, errors.Join(err, removeTemp(j.fsys, temp))
	}
	err = j.fsys.SyncDir(j.paths.journal)
	if err == nil {
		seg.file, err = j.fsys.OpenFile(seg.path, os.O_RDWR, fileMode)
	}
	if err == nil {
		return false, nil
	}
	// The segment may outlive this. The next one takes another number and passes it over, and drop removes it in its turn.
	j.next++
	j.index.giveUp(&segment{number: seg.number, path: seg.path, void: true})
	return true, errors.Join(err, removeTemp(j.fsys, seg.path))
}

// writeTemp writes a file that is not in its place yet, and makes its content durable.
func writeTemp(fsys diskfs.FS, path string, content []byte) error {
	file, err := fsys.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(content, 0)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// removeTemp removes a file that is not needed, if it is there.
func removeTemp(fsys diskfs.FS, path string) error {
	if err := fsys.Remove(path); err != nil && !missing(err) {
		return err
	}
	return nil
}

// ready makes sure that there is an active segment with room.
func (j *journal) ready() error {
	if j.active != nil && j.active.size < j.opts.SegmentBytes && !j.index.atRest(restBytes) {
		return nil
	}
	// Nothing of the batch is written yet, whatever becomes of the segment.
	if _, _, err := j.begin(nil); err != nil {
		return j.refuse(true, err)
	}
	return nil
}

// drop removes the oldest segments that nothing needs, one by one: after a power cut the ones that are left
// must follow each other. Everything says that the last one may go too.
func (j *journal) drop(everything bool) error {
	j.dropMu.Lock()
	defer j.dropMu.Unlock()
	for {
		if j.unsynced {
			if err := j.fsys.SyncDir(j.paths.journal); err != nil {
				return unavailable("dropping a journal segment", err)
			}
			j.unsynced = false
		}
		seg := j.index.takeDroppable(everything)
		if seg == nil {
			return nil
		}
		err := j.settleSnapshots()
		if err == nil {
			err = j.remove(seg)
		}
		if err != nil {
			j.index.putBack(seg)
			return unavailable("dropping a journal segment", err)
		}
		j.unsynced = true
	}
}

// settleSnapshots makes the names of the snapshots durable that were put in their places.
func (j *journal) settleSnapshots() error {
	if !j.replaced.Swap(false) {
		return nil
	}
	err := j.fsys.SyncDir(j.paths.sessions)
	if err != nil {
		j.replaced.Store(true)
	}
	return err
}

// remove removes the file of a segment that is in no list. It is closed first: some systems do not remove an open file.
func (j *journal) remove(seg *segment) error {
	if err := seg.close(); err != nil {
		return err
	}
	return removeTemp(j.fsys, seg.path)
}
