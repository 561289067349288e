package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"

	"agentd/messages"
	"agentd/persistence"
)

// rewrite makes the snapshot of a session anew: from its snapshot or what can be read of it, and the records that follow.
func (r *repair) rewrite(sess *salvage) error {
	out := RepairedSession{ID: sess.id}
	doc, err := r.base(sess, &out)
	if err != nil {
		return err
	}
	deleted, err := r.replay(sess, doc, &out)
	if err != nil {
		return err
	}
	out.Items, out.LastSeq = len(doc.Items), doc.Head.LastSeq
	if len(out.Notes) > 0 {
		r.report.Sessions = append(r.report.Sessions, out)
	}
	switch {
	case deleted:
		return r.putTombstone(sess.id)
	case doc.Head.LastSeq == 0:
		return r.setAside(sess)
	}
	temp := filepath.Join(r.paths.temp, filepath.Base(r.paths.snapshot(sess.id)))
	if err := r.writeDocument(temp, doc); err != nil {
		return err
	}
	if err := r.setAside(sess); err != nil {
		return err
	}
	if err := r.fsys.Rename(temp, r.paths.snapshot(sess.id)); err != nil {
		return err
	}
	return r.fsys.SyncDir(r.paths.sessions)
}

// base reads the snapshot, or what is good in it.
func (r *repair) base(sess *salvage, out *RepairedSession) (*messages.Document, error) {
	if sess.snapshotFault != nil {
		out.Notes = append(out.Notes, sess.snapshotFault.Error())
		return r.pieceTogether(sess, out)
	}
	snap, err := r.openSnapshot(sess.id)
	switch {
	case err == nil:
		defer snap.close()
		return snap.document()
	case errors.Is(err, persistence.ErrSchema):
		// It stays as it is, and so must the records that follow it.
		return nil, err
	case !isNotFound(err):
		return nil, err
	}
	return messages.NewDocument(sess.id), nil
}

// pieceTogether makes a document of the head fields and item lines that can be read.
func (r *repair) pieceTogether(sess *salvage, out *RepairedSession) (*messages.Document, error) {
	doc := messages.NewDocument(sess.id)
	text, err := r.readAll(r.paths.snapshot(sess.id))
	if err != nil {
		return nil, err
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	fields := gjson.ParseBytes(first)
	if id := fields.Get("id").String(); id != "" && id != string(sess.id) {
		out.Notes = append(out.Notes, fmt.Sprintf("the file belonged to session %q: it was moved aside whole", id))
		return doc, nil
	}
	head, err := decodeHead(first)
	if err != nil {
		head = messages.NewDocument(sess.id).Head
		head.AgentID = messages.AgentID(fields.Get("agent-id").String())
		head.CreatedAt, head.UpdatedAt = fields.Get("created-at").Int(), fields.Get("updated-at").Int()
		head.TurnCount = int(fields.Get("turn-count").Int())
		head.LastSeq, head.Epoch = fields.Get("last-seq").Uint(), fields.Get("epoch").Uint()
		out.Notes = append(out.Notes, fmt.Sprintf("the head was made anew: agent %q, last record %d; the agent's data and the last turn are lost", head.AgentID, head.LastSeq))
	}
	doc.Head = head
	bad := r.takeItems(doc, rest)
	if bad > 0 || len(doc.Items) != head.ItemCount {
		out.Notes = append(out.Notes, fmt.Sprintf("%d items were saved, %d lines could not be read, the head said %d items", len(doc.Items), bad, head.ItemCount))
	}
	doc.Head.ItemCount = len(doc.Items)
	r.settleNumbers(sess, doc, out)
	return doc, nil
}

// takeItems adds the items of all lines that hold one, and returns how many lines do not.
func (r *repair) takeItems(doc *messages.Document, text []byte) (bad int) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, ",\n\x00")
		if len(line) == 0 || string(line) == "]}" {
			continue
		}
		var item messages.Item
		if err := json.Unmarshal(line, &item); err != nil || item.ID == "" {
			bad++
			continue
		}
		if _, double := doc.Find(item.ID); double {
			bad++
			continue
		}
		doc.Items = append(doc.Items, &item)
	}
	return bad
}

// settleNumbers gives a head that was made anew a last record and an epoch.
func (r *repair) settleNumbers(sess *salvage, doc *messages.Document, out *RepairedSession) {
	var highest uint64
	for i := range doc.Items {
		highest = max(highest, doc.Items[i].Seq)
	}
	before := doc.Head.LastSeq
	if before == 0 && len(sess.spans) > 0 {
		doc.Head.LastSeq = sess.spans[0].first - 1
	}
	if doc.Head.LastSeq < highest {
		doc.Head.LastSeq = highest
	}
	if doc.Head.LastSeq > 0 && doc.Head.Epoch == 0 {
		doc.Head.Epoch = 1
	}
	if doc.Head.LastSeq != before {
		out.Notes = append(out.Notes, fmt.Sprintf("the last record before those of the journal is taken to be %d", doc.Head.LastSeq))
	}
}

// replay applies the records that follow, up to the first gap.
func (r *repair) replay(sess *salvage, doc *messages.Document, out *RepairedSession) (deleted bool, err error) {
	gap := false
	for i := range sess.spans {
		sp := &sess.spans[i]
		if sp.last() <= doc.Head.LastSeq {
			continue
		}
		if gap = gap || sp.first > doc.Head.LastSeq+1; gap {
			if out.Lost == 0 {
				out.Notes = append(out.Notes, fmt.Sprintf("record %d is missing: the session ends at %d", doc.Head.LastSeq+1, doc.Head.LastSeq))
			}
			out.Lost += int(sp.count)
			continue
		}
		_, err := sp.read(nil, r.table, func(f frame) error {
			if f.seq <= doc.Head.LastSeq {
				return nil
			}
			deleted = kindOf(f.kind) == messages.KindDeleted
			return r.applyRecord(doc, f, out)
		})
		if err != nil {
			return false, err
		}
	}
	return deleted, nil
}

// applyRecord applies one record. An update of an item that was lost brings the item back, at the end.
func (r *repair) applyRecord(doc *messages.Document, f frame, out *RepairedSession) error {
	change, err := messages.DecodeRecord(f.record())
	if err != nil {
		return err
	}
	switch c := change.(type) {
	case messages.ItemUpdated:
		if _, found := doc.Find(c.Item.ID); !found {
			out.Notes = append(out.Notes, fmt.Sprintf("item %q was brought back from an update, at the end", c.Item.ID))
			change = messages.ItemAppended(c)
		}
	case messages.ItemAppended:
		if _, found := doc.Find(c.Item.ID); found {
			out.Notes = append(out.Notes, fmt.Sprintf("item %q was there already", c.Item.ID))
			change = messages.ItemUpdated(c)
		}
	default:
	}
	return doc.Apply(f.seq, f.at, change)
}

func (r *repair) readAll(path string) ([]byte, error) {
	file, err := r.fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	return text, errors.Join(err, file.Close())
}

// writeDocument writes a snapshot of a whole document.
func (r *repair) writeDocument(path string, doc *messages.Document) error {
	file, err := r.fsys.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	w := &fileWriter{file: file}
	w.buf, err = appendHead(w.buf, &doc.Head)
	separator := "\n"
	for i := range doc.Items {
		line, itemErr := json.Marshal(doc.Items[i])
		err = errors.Join(err, itemErr)
		w.writeString(separator)
		w.write(line)
		separator = ",\n"
	}
	w.writeString(closing)
	return errors.Join(err, w.finish())
}
