package jsonfile

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"agentd/messages"
)

// quarantineDir makes the folder of this repair when it is first needed.
func (r *repair) quarantineDir() (string, error) {
	if r.report.Quarantine != "" {
		return r.report.Quarantine, nil
	}
	for n := 1; ; n++ {
		dir := filepath.Join(r.paths.quarantine, fmt.Sprintf("%04d", n))
		if _, err := r.fsys.Stat(dir); err == nil {
			continue
		} else if !missing(err) {
			return "", err
		}
		if err := r.fsys.MkdirAll(dir, dirMode); err != nil {
			return "", err
		}
		for _, parent := range []string{r.paths.quarantine, r.paths.sessions} {
			if err := r.fsys.SyncDir(parent); err != nil {
				return "", err
			}
		}
		r.report.Quarantine = dir
		return dir, nil
	}
}

// setAside moves the snapshot of a session to the quarantine, if it is bad.
func (r *repair) setAside(sess *salvage) error {
	if sess.snapshotFault == nil {
		return nil
	}
	return r.quarantineFile(r.paths.snapshot(sess.id))
}

func (r *repair) quarantineFile(path string) error {
	dir, err := r.quarantineDir()
	if err != nil {
		return err
	}
	if err := r.fsys.Rename(path, filepath.Join(dir, filepath.Base(path))); err != nil && !missing(err) {
		return err
	}
	return r.fsys.SyncDir(dir)
}

// retireJournal moves the segments to the quarantine: what is good in them is in the snapshots now.
func (r *repair) retireJournal() error {
	for _, seg := range r.segments {
		// Closed first: some systems do not rename an open file.
		if err := seg.file.Close(); err != nil {
			return err
		}
		seg.file = nil
		if err := r.quarantineFile(seg.path); err != nil {
			return err
		}
	}
	return r.fsys.SyncDir(r.paths.journal)
}

func (r *repair) putTombstone(id messages.SessionID) error {
	if err := writeTemp(r.fsys, r.paths.tombstone(id), tombstone(id)); err != nil {
		return err
	}
	if err := r.fsys.SyncDir(r.paths.tombstones); err != nil {
		return err
	}
	if err := removeTemp(r.fsys, r.paths.snapshot(id)); err != nil {
		return err
	}
	return r.fsys.SyncDir(r.paths.sessions)
}

// writeReport leaves the bad lines and the report in the quarantine, if there is one.
func (r *repair) writeReport() error {
	if r.report.Quarantine == "" {
		return nil
	}
	if len(r.pieces) > 0 {
		if err := writeTemp(r.fsys, filepath.Join(r.report.Quarantine, "bad-lines.txt"), r.pieces); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(&r.report, "", "  ")
	if err != nil {
		return err
	}
	if err := writeTemp(r.fsys, filepath.Join(r.report.Quarantine, "report.json"), append(text, '\n')); err != nil {
		return err
	}
	return r.fsys.SyncDir(r.report.Quarantine)
}
