package jsonfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"agentd/messages"
	"agentd/persistence"
	"agentd/persistence/jsonfile/diskfs"
)

// RepairReport is what [Repair] found and did.
type RepairReport struct {
	// Quarantine is the folder that everything was moved to that is not in use any more, with a copy of this report. It is empty
	// when nothing was wrong.
	Quarantine string `json:"quarantine"`
	// Records is how many records of the journal were good.
	Records int `json:"records"`
	// BadLines are the lines of the journal that are not what was written.
	BadLines []BadLine `json:"bad-lines"`
	// Sessions are those that were rewritten or that something is wrong with.
	Sessions []RepairedSession `json:"sessions"`
	// Untouched are the files that are not understood and stay where they are.
	Untouched []string `json:"untouched"`
}

// BadLine is a damaged piece of a segment.
type BadLine struct {
	File string `json:"file"`
	Line int    `json:"line"`
	// Bytes is the size of the piece, which is in the quarantine.
	Bytes  int64  `json:"bytes"`
	Reason string `json:"reason"`
}

// RepairedSession is what became of a session.
type RepairedSession struct {
	ID messages.SessionID `json:"id"`
	// Items is how many items it has now.
	Items int `json:"items"`
	// LastSeq is the number of the last record that it has now.
	LastSeq uint64 `json:"last-seq"`
	// Lost is how many good records could not be used, because one before them is missing.
	Lost int `json:"lost"`
	// Notes say what was wrong, and what was assumed.
	Notes []string `json:"notes"`
}

// Damaged reports whether anything was wrong.
func (r *RepairReport) Damaged() bool { return r.Quarantine != "" || len(r.Untouched) > 0 }

// Repair salvages a data directory that [Open] or a reader found corrupt; "agentd repair" calls it. It reads everything. Bad lines of the
// journal go to a quarantine, sessions end at their last good record, and snapshots that cannot be read are moved aside and made anew
// from what can be. It deletes nothing, and the report says what was lost and what was assumed. It needs the memory of the largest
// damaged session. After an error it may be called again. Errors: [persistence.ErrLocked], [persistence.ErrSchema] when the journal is of another
// version, or what the disk said.
func Repair(dataDir string) (RepairReport, error) { return RepairOn(diskfs.OS{}, dataDir) }

// RepairOn is [Repair] on a given file system.
func RepairOn(fsys diskfs.FS, dataDir string) (RepairReport, error) {
	root, err := filepath.Abs(dataDir)
	if err != nil {
		return RepairReport{}, fmt.Errorf("repairing %q: %w", dataDir, err)
	}
	lock, err := acquire(fsys, root)
	if err != nil {
		return RepairReport{}, err
	}
	opts := Options{FS: fsys}
	r := &repair{Store: newStore(root, opts.withDefaults(), lock), sessions: make(map[messages.SessionID]*salvage)}
	err = r.run()
	if err = errors.Join(err, r.release()); err != nil {
		return r.report, fmt.Errorf("repairing %q: %w", dataDir, err)
	}
	return r.report, nil
}

// repair is one run of Repair.
type repair struct {
	*Store
	report   RepairReport
	sessions map[messages.SessionID]*salvage
	// segments are the files of the journal; damaged says that they cannot stay.
	segments []*segment
	damaged  bool
	// pieces are the bad lines, for the quarantine.
	pieces []byte
}

// salvage is a session that the repair looks at.
type salvage struct {
	id    messages.SessionID
	spans []span
	// snapshotFault says why the snapshot cannot be read.
	snapshotFault error
	// gone says that a tombstone stands for it.
	gone bool
}

func (r *repair) run() error {
	if err := r.paths.make(r.fsys); err != nil {
		return err
	}
	if err := r.readJournal(); err != nil {
		return err
	}
	if err := r.checkSnapshots(); err != nil {
		return err
	}
	r.checkContinuity()
	for _, id := range r.order() {
		sess := r.sessions[id]
		if sess.snapshotFault == nil && !r.damaged || sess.gone {
			continue
		}
		if err := r.rewrite(sess); err != nil {
			return about("repairing", id, err)
		}
	}
	if r.damaged {
		if err := r.retireJournal(); err != nil {
			return err
		}
	}
	return r.writeReport()
}

func (r *repair) order() []messages.SessionID {
	ids := make([]messages.SessionID, 0, len(r.sessions))
	for id := range r.sessions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (r *repair) session(id messages.SessionID) *salvage {
	sess := r.sessions[id]
	if sess == nil {
		sess = &salvage{id: id}
		r.sessions[id] = sess
	}
	return sess
}

// checkSnapshots reads every snapshot to its end.
func (r *repair) checkSnapshots() error {
	ids, strays, err := r.names()
	if err != nil {
		return err
	}
	for _, stray := range strays {
		r.report.Untouched = append(r.report.Untouched, fmt.Sprintf("%s: %v", r.paths.snapshot(stray.ID), stray.Err))
	}
	for _, id := range ids {
		err := r.checkSnapshot(id)
		switch {
		case err == nil:
		case errors.Is(err, persistence.ErrSchema):
			r.report.Untouched = append(r.report.Untouched, err.Error())
		case errors.Is(err, persistence.ErrCorrupt):
			r.session(id).snapshotFault = err
		default:
			return about("checking", id, err)
		}
	}
	return nil
}

func (r *repair) checkSnapshot(id messages.SessionID) error {
	snap, err := r.openSnapshot(id)
	if err != nil {
		return err
	}
	defer snap.close()
	number := 1
	return snap.lines(func(line []byte) error {
		number++
		_, err := snap.decodeItem(line, number)
		return err
	})
}

// checkContinuity looks for sessions whose records do not follow each other or their snapshot.
func (r *repair) checkContinuity() {
	for _, sess := range r.sessions {
		if len(sess.spans) == 0 {
			continue
		}
		if _, err := r.fsys.Stat(r.paths.tombstone(sess.id)); err == nil {
			sess.gone = true
			continue
		}
		if sess.snapshotFault != nil {
			continue
		}
		var last uint64
		if snap, err := r.openSnapshot(sess.id); err == nil {
			last = snap.head.LastSeq
			snap.close()
		}
		for i := range sess.spans {
			if sess.spans[i].first > last+1 {
				r.damaged = true
			}
			last = max(last, sess.spans[i].last())
		}
	}
}
