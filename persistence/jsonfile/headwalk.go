package jsonfile

import "agentd/messages"

// headWalk brings a head up to date from the records behind it, without decoding any item. Of the turns it decodes the last record alone, since each
// takes the place of the one before: a fold that comes after many turns costs a look at each, and no more.
type headWalk struct {
	head *messages.Head
	// turn is the last record about a turn. Its body is a copy, as frames lie in a buffer that is used again.
	turn messages.Record
	body []byte
}

// add takes the next record.
func (w *headWalk) add(f frame) error {
	kind := kindOf(f.kind)
	switch kind {
	case messages.KindItem:
		w.head.Apply(f.seq, f.at, messages.ItemAppended{})
	case messages.KindItemUpdated:
		w.head.Apply(f.seq, f.at, messages.ItemUpdated{})
	case messages.KindTurnStarted, messages.KindTurnEnded:
		if w.turn.Kind == messages.KindTurnStarted {
			w.head.TurnCount++ // Of the one that is passed over.
		}
		w.body = append(w.body[:0], f.body...)
		w.turn = messages.Record{Seq: f.seq, Kind: kind, At: f.at, Body: w.body}
		w.head.LastSeq, w.head.UpdatedAt = f.seq, f.at
	default:
		return w.apply(f.record())
	}
	return nil
}

// finish applies what add has put off.
func (w *headWalk) finish() error {
	if w.turn.Kind == "" {
		return nil
	}
	seq, at := w.head.LastSeq, w.head.UpdatedAt
	err := w.apply(w.turn)
	w.head.LastSeq, w.head.UpdatedAt, w.turn = seq, at, messages.Record{}
	return err
}

func (w *headWalk) apply(rec messages.Record) error {
	change, err := messages.DecodeRecord(rec)
	if err != nil {
		return unreadable(w.head.ID, err)
	}
	w.head.Apply(rec.Seq, rec.At, change)
	return nil
}
